"""Constants that decide how far levels are apart, and what is said of classes.

`python docs/reference/constants.py` writes them, with these comments, to a page. Numbers that only decide speed or
guard against rounding stand where they are used.
"""

# --- distances ---

# Squared distance of two different levels, in standard deviations: the same as with one-hot columns.
MISMATCH = 2.0

# --- classes ---

# Maximum number of distinct integers that may well be classes.
MOST_CLASSES = 10

# More classes than this, and than half of the rows, carry no information; and each of very many would be a column.
MOST_RARE_CLASSES, LARGEST_CLASSES = 20, 1000
