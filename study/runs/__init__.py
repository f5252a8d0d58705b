"""Which experiments there are; what is missing is run, and stored row by row."""
