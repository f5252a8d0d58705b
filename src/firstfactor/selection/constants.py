"""Constants that decide what is selected, besides those of the evidence.

`python docs/reference/constants.py` writes them, with these comments, to a page. Numbers that only decide speed or
guard against rounding stand where they are used.
"""

# --- the calibrated rule ---

# Maximum number of rows, and of values of lines, for a lasso.
MOST_DISTILLED_ROWS, MOST_DISTILLED = 4000, 2 * 10**7

# --- compact selection ---

# Exchanges are tried only if there are at most this many, because each takes a neighbour search.
MAX_EXCHANGES = 200
