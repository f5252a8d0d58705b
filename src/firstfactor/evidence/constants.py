"""Constants that decide what the calibrated rule selects, and how a selection is made compact.

`python docs/reference/constants.py` writes them, with these comments, to a page. Numbers that only decide speed or
guard against rounding stand where they are used.
"""

# --- shares of alpha ---

# Shares of alpha for single factors, and for pairs and triples that matter only together.
SINGLE, TOGETHER = 0.75, 0.25

# Shares of the type I error of a candidate: its plain form, all curves, and all products with factors of the base. A
# line is the most frequent effect, and a test that spends less on it loses to a t-test.
PLAIN, CURVED, MULTIPLIED_WITH_BASE = 0.35, 0.15, 0.10

# Number of first functions of a factor that are tested beside those of all other candidates, with their share: lines,
# and curves. The five shares of a candidate add up to 1.
BESIDE = ((1, 0.30), (4, 0.10))

# Shares for sets that are tested together: products of two lines, of lines and parabolas, and of three lines.
TWO_LINES, TWO_CURVES, THREE_LINES = 0.40, 0.10, 0.50

# Share of the alpha for single factors that is for their lines given those of all others, if there are so many factors
# that this takes a lasso.
DISTILLED = 0.6

# --- functions of a factor ---

# Maximum number of functions of a numeric column, in tables with few and with many factors, and the number of factors
# that are many.
MOST_OF_FEW, MOST_OF_MANY, MANY_FACTORS = 10, 6, 100

# Numbers of functions of a candidate that are summed, smoothest first; finally all.
NESTED = (1, 2, 4, 10**9)

# Approximate maximum number of functions of a factor with several columns.
MOST_FUNCTIONS = 24

# Values beyond the quartiles by more than this multiple of the interquartile range are clipped before they form a line.
FAR_OUT = 3.0

# Number of functions of a factor that are multiplied with those of others, a line and a parabola of its rank; the
# number in tables with many factors.
MULTIPLIED, MULTIPLIED_OF_MANY = 2, 1

# Maximum number of plain functions that count as the line of a factor: all levels of most categories.
MOST_LEVELS_IN_LINE = 8

# --- the base ---

# Rows, or groups of rows, for each coefficient of the base, and its maximum number of coefficients.
ROWS_PER_COEFFICIENT, MOST_COEFFICIENTS = 3, 200

# Pairs of functions of two factors of the base that are multiplied, those of lines first; curves of a factor in blocks,
# as slices of its functions beyond the plain ones. Each block is included only if y or a candidate asks for it.
PRODUCTS_OF_BASE = (((0, 0),), ((0, 1), (1, 0), (1, 1)))
CURVES_OF_BASE = ((0, 1), (1, 3), (3, None))

# Thresholds for including an optional direction: its squared score with y exceeds Y_ASKS times log(rows), or its
# squared score with the line of a candidate exceeds LINE_ASKS plus twice the logarithm of the number of candidates. The
# second keeps the level if factors are proxies of a curve (double selection: Belloni, Chernozhukov and Hansen 2014).
Y_ASKS, LINE_ASKS = 0.7, 5.0

# Maximum number of plain functions of a candidate that ask: a line, or the most frequent levels.
MOST_ASKING = 4

# Maximum leverage of a row or a group: residuals are divided by the root of what is left.
LARGEST_LEVERAGE = 0.9

# --- lines beside all others ---

# Rows for each coefficient of lines and base together, and maximum number of lines for least squares.
ROWS_PER_LINE_BESIDE, MOST_LINES_BESIDE = 2, 300

# Lines of which the base leaves less than this share are dropped.
SMALLEST_LINE_LEFT = 1e-3

# Number of rows for each line below which a lasso replaces least squares, and number of folds of its fits.
ROWS_PER_LINE, N_FOLDS = 3, 10

# The lasso chooses among the lines with the largest products with y: as many as have MOST_VALUES_OF_LINES values
# together, within these bounds.
MOST_VALUES_OF_LINES, FEWEST_LINES_OF_LASSO, MOST_LINES_OF_LASSO = 400_000, 200, 1000

# Number of penalties to try, and the smallest as a share of the largest.
N_PENALTIES, SMALLEST_PENALTY = 30, 0.02

# Lines that the lasso selects are related to a line if their correlation exceeds this many times that of chance.
RELATED_TO_LINE = 4.0

# --- chance ---

# Number of draws, and maximum number of rows in them: draws only estimate the correlation of the scores.
DRAWS, DRAWN_ROWS = 199, 4000

# Maximum number of draws above y for which their distribution is extrapolated, and the number of rows below which the
# draws exhaust all possibilities.
FEW_ABOVE, ROWS_FOR_TAILS = 10, 20

# Evidence with this probability, even if all tests were independent, needs no draws, given this number of rows.
SURE, ROWS_TO_BE_SURE = 1e-6, 100

# Maximum number of rows to test on; larger tables are sampled. Whether a factor stays is first tested on fewer rows,
# which decide if the p-value is at most BEYOND_DOUBT: alpha may be exceeded by this amount.
MAX_ROWS, FEWER_ROWS, BEYOND_DOUBT = 50_000, 10_000, 1e-3

# Rows with the same values form a group if the number of distinct rows is at most this share of the rows, and at least
# this multiple of the number of columns.
MOST_KINDS, KINDS_PER_COLUMN = 0.5, 20

# --- sets that are tested together ---

# Maximum numbers of pairs and of triples that are all tested. Of more pairs, only the BEST_PAIRS with the largest
# scores for products of lines are.
MOST_PAIRS, MOST_THREES, BEST_PAIRS = 20_000, 20_000, 200

# --- staying, and copies ---

# A factor whose line has a larger correlation with that of another is a near copy: only one of the two can be
# significant given the other.
COPY = 0.85

# A factor with a larger correlation is related: the more related factors were left out, the stronger the evidence for a
# factor given them must be, because it was the best of that many.
RELATED = 0.5

# If the factors left out leave a smaller share of the line of a factor, they are jointly a copy of it, and it cannot be
# significant given them.
LEFT_TO_SHOW = 0.05

# With fewer rows, or groups, a factor cannot be distinguished from those left out.
ROWS_TO_TELL_APART = 50

# Number of leading functions by which near copies are compared, and other factors predict.
COMPARED = 4

# Maximum number of rounds of entering and leaving; two are usual.
MOST_ROUNDS = 5

# --- functions of other factors ---

# Minimum average number of rows of a level for it to determine anything.
ROWS_PER_LEVEL = 2

# A number with more distinct values determines nothing: that the day of the year determines the weekday helps no model.
MOST_DETERMINING = 50

# Maximum share of a factor's line left by least squares on others for it to be a function of them.
MOST_LEFT = 0.05

# --- those left out, together ---

# With fewer rows, or groups, with more rows, or with more lines, the joint contribution of the factors left out is not
# estimated.
MIN_ROWS, MOST_ROWS_OF_REST, MOST_LINES_OF_REST = 40, 5000, 200

# --- the lasso, for many factors ---

# Maximum number of rows, and of values of lines, for a lasso.
MOST_DISTILLED_ROWS, MOST_DISTILLED = 4000, 2 * 10**7

# --- compact selection ---

# Exchanges are tried only if there are at most this many, because each takes a neighbour search.
MAX_EXCHANGES = 200
