"""The figure of each experiment that has one, in a file named as in `python -m study show NAME`."""
