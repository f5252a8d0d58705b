"""Constants that decide standard errors, and what is said of the sample size and of the order of the rows.

`python docs/reference/constants.py` writes them, with these comments, to a page. Numbers that only decide speed or
guard against rounding stand where they are used.
"""

# --- standard errors ---

# Maximum number of outer rows that standard errors are estimated from; the estimate itself uses all.
MAX_ERROR_ROWS = 1000

# Number of subsamples, and their size as a share of the rows.
SUBSAMPLES, SUBSAMPLE_SHARE = 50, 0.5

# Assumed correlation between the overlaps of any two sets; for p-values a lower one, to be conservative.
COMMON, COMMON_AT_LEAST = 0.8, 0.5

# --- the sample size ---

# Maximum squared distance of neighbours as a share of that of any two rows.
MAX_DISTANCE_SHARE = 0.1

# Bias that greater distances may hide from fits to several neighbours, as a share of the variance they leave.
UNSEEN = 2.0

# Numbers of outer rows sampled: to measure the distance of neighbours, and to count the supported factors.
DIAGNOSIS_ROWS, COUNTING_ROWS = 500, 100

# --- the order of the rows ---

# Maximum number of consecutive rows examined, maximum fitted, and minimum: more would not change the answer, fewer
# cannot give one.
MOST_IN_ORDER, MOST_FITTED, FEWEST_IN_ORDER = 20_000, 2_000, 50

# Rows in a block, minimum number of blocks, and minimum size: rows of a series have little in common with those of
# another block, and rows of a table sorted by a factor still have neighbours in it.
ROWS_IN_BLOCK, FEWEST_BLOCKS, SMALLEST_BLOCK = 20, 25, 4

# Neighbours of a fit, and maximum number of factors in it, the most important first.
NEIGHBORS, MOST_FACTORS = 12, 8

# Minimum correlation of consecutive rows: in standard errors, to exclude chance; in absolute terms, to do harm. Minimum
# share of Var(Y) in their covariance, so that slight misfit is not enough.
ERRORS_OF_CORRELATION, LEAST_CORRELATION, LEAST_COVARIANCE = 4.0, 0.1, 0.02

# In a table sorted by one of the factors, fits have the same bias in consecutive rows: there, a larger correlation in
# more rows is required.
LEAST_IF_SORTED, FEWEST_IF_SORTED = 0.4, 300

# A column counts as sorted if this share of its steps goes in one direction: the table may be sorted by another column
# first.
SORTED = 0.95

# Maximum number of blocks of rows with and without one value of y, and the least share of each, in a table that is
# partly sorted by y.
MOST_BLOCKS, LEAST_IN_BLOCK = 4, 0.05

# Correlation of y itself, in standard errors, below which nothing is fitted.
FIRST_LOOK = 1.0
