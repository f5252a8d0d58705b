"""The tables of each experiment, in a file named as in `python -m study show NAME`."""
