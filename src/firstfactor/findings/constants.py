"""Constants that decide what is noticed about a table.

`python docs/reference/constants.py` writes them, with these comments, to a page. Numbers that only decide speed, looks
or rounding stand where they are used.
"""

import math

# --- columns ---

# Rows on which relations are looked for; those that are found are confirmed on all rows.
SCREENED = 1_000

# Columns with at most this many distinct values may be levels of a category.
MOST_LEVELS = 60

# Correlation of the ranks of consecutive rows from which a column follows the order of the table.
TRENDING = 0.9

# --- copies of rows ---

# Minimum number of copies, as a share of the rows and in absolute terms: fewer change little, or may be chance.
LEAST_COPIES, FEWEST_COPIES = 0.05, 5

# Maximum number of pairs of rows that agree in all columns but one, as a share of those that agree in all.
MOST_NEARLY_EQUAL = 0.1

# A table in which at least this many distinct rows all occur a multiple of 2, 3, … times was repeated as a whole.
FEWEST_MULTIPLES = 10

# --- identifiers ---

# Columns with fewer values are levels, not identifiers.
FEWEST_VALUES = 20

# Maximum probability that measured values repeat as rarely by chance.
CHANCE_OF_REPEATS = 0.001

# Maximum share of repeated values for integers to count as nearly unique.
MOST_REPEATS = 0.1

# --- units ---

# Units that a panel needs, and rows of each on average.
FEWEST_UNITS, ROWS_PER_UNIT = 5, 1.1

# Likeness of the rows of a unit (intraclass correlation) that does harm, and in standard errors, to exclude chance.
LEAST_LIKENESS, ERRORS_OF_LIKENESS = 0.05, 3.0

# Rows and columns from which the likeness is estimated.
MOST_ROWS_OF_UNITS, MOST_FITTED = 5_000, 40

# Units that are more do not stand for a category of which other columns are coarser forms.
MOST_LEVELS_OF_UNITS = 20

# --- indicators of the levels of one factor ---

# Expected rows in which two independent columns would both be 1, from which it is no chance that none has.
FEWEST_EXPECTED = 8.0

# Share of rows with a 1 from which columns with different names are taken for levels.
LEAST_COVERAGE = 0.3

# --- columns that are functions of others ---

# Correlation of ranks from which two quantities are the same one in another form, if they do not just grow together.
SAME_RANKS = 0.999

# The same for two factors: neighbouring wavelengths of a spectrum are alike, and yet no functions of each other.
SAME_FACTORS = 0.9999

# Share of the variance of the changes of one series that a curve in another may leave if they are the same.
MOST_OF_CHANGES = 0.02

# Rows that two columns must share for a relation between them.
FEWEST_SHARED_ROWS = 12

# Log probability by chance of a value that is determined by another column's.
LOG_CHANCE = math.log(1e-6)

# Rows of each level, on average, that determine anything.
ROWS_PER_LEVEL = 1.5

# --- sums, products and ratios ---

# Share of the variance that a sum, product or ratio may leave: rounding of printed values.
MOST_LEFT = 1e-4

# A sum or ratio must leave at most this share of what either part by itself leaves: near copies do not make one.
SYNERGY = 0.02

# The same for sums of factors: of a smooth curve, the middle of three points is nearly the mean of the others.
SYNERGY_OF_FACTORS = 5e-4

# Share of the variance that it leaves if it holds in all rows but this share, which have errors; only for the response.
WITH_ERRORS, IN_MOST_ROWS = 0.02, 0.9

# Error of such a row, as a share of the interquartile range: rounding.
EXACT_IN_MOST = 0.005

# Quantities among which sums and ratios of two are looked for: the time grows with the third power.
MOST_IN_PAIRS = 40

# Rows of the sample on which sums and ratios are tried.
MOST_ROWS_OF_PAIRS = 400

# Indicators that are tried as switches of quantities.
MOST_SWITCHES = 40

# Patterns of missing rows that are looked at one by one.
MOST_PATTERNS = 8

# Difference of the weights of a sum, as a share of the largest, up to which they are equal.
SAME_WEIGHT = 0.01

# Members of a sum that is found among many columns.
MOST_MEMBERS = 12

# --- columns that decide the response ---

# Rows that a value may decide wrongly, as a share of those of the rarer class or of the zeros.
MOST_WRONG = 0.02

# Rows that the rarer class or the zeros need, and the rows of each level on average.
FEWEST_OF_A_CLASS, ROWS_PER_DECIDING_LEVEL = 5, 5

# Rows that the rarer class needs if it is what lies beyond a limit: of few rows, a strong driver decides all.
FEWEST_BEYOND_A_LIMIT = 15

# Rows of each level on average that decide a quantity.
ROWS_TO_DECIDE = 3

# Values of a ratio or difference that are few: a price and a real price differ by one number for each year.
FEW_CONSTANTS, ROWS_PER_CONSTANT = 20, 10

# Quantities that are compared with each other.
MOST_COMPARED = 60

# Quantities that are looked at together with the response.
MOST_WITH_TARGET = 120

# Share of the variance of the ranks of y from which a single quantity is taken for y itself.
PRACTICALLY_ALL = 0.9985

# Rows needed to tell this.
FEWEST_FOR_ALL = 50

# A factor without which this share of what is explained is lost, where nearly everything is explained, may be known
# only afterwards.
EXPLAINS_ALL, OF_ALL = 0.9, 0.75

# --- the response ---

# Share of the variance that one row, or a few, hold: then results are about these.
OF_ONE, OF_A_FEW = 0.2, 0.5

# Square of the largest of many normal values, in variances.
LARGEST_OF_MANY = 12

# Rows that are a few: at most this share of all.
FEW_ROWS = 0.01

# A positive response with at least this skewness (an exponential distribution has 2) is also analysed by its normal
# scores. With more than this many rows, the values themselves show as much.
SKEWED, ENOUGH_TO_SEE = 1.0, 10_000

# What is explained of the ranks is estimated from at most this many rows.
ENOUGH_FOR_RANKS = 1_000
