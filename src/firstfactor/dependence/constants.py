"""Constants that decide which factors share information, how much, and what replaces what.

`python docs/reference/constants.py` writes them, with these comments, to a page. Numbers that only decide speed or
guard against rounding stand where they are used.
"""

# --- dependence of two factors ---

# Maximum number of rows to compare factors on; the error of a dependence is then about 0.03.
MAX_ROWS = 2000

# Number of neighbours of the local fits in one factor.
NEIGHBORS = 12

# Maximum number of indicators of a category; the rarest levels share one.
MAX_LEVELS = 20

# --- the tree ---

# Maximum number of factors in a tree: the selected ones, and others that share most with them.
MAX_LEAVES = 100

# If more than VERY_MANY factors were left out, FEW_ROWS rows decide which are related to selected ones: those of which
# a selected factor explains at least the share ROUGHLY_RELATED.
VERY_MANY, FEW_ROWS, ROUGHLY_RELATED = 200, 500, 0.2

# A factor that was left out is in the tree if a selected one explains at least this share of it: less may be chance.
LEAST_RELATED = 0.1

# --- clusters and exchanges ---

# A total index is far below its share of a joint index if it is less than this fraction of the share.
FAR_BELOW = 0.25

# Factors whose kept shares agree to this many digits are tied: selected ones come first, then by position.
TIE_DIGITS = 2

# Number of factors that explain most alone, whose share has a standard error even if they are not in the tree.
MOST_ALONE = 10

# --- Shapley effects ---

# Maximum number of factors for which all subsets are evaluated; for more, orders are sampled at random.
MAX_EXACT = 15

# Orders are sampled until the Monte Carlo error of every share is at most this, or until there are this many.
PRECISION, MAX_ORDERS = 0.01, 1000

# Number of orders sampled at a time, each with its reverse.
ORDERS_AT_A_TIME = 10
