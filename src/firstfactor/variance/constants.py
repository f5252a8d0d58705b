"""Constants that decide the estimates of variances.

`python docs/reference/constants.py` writes them, with these comments, to a page. Numbers that only decide speed or
guard against rounding stand where they are used.
"""

import numpy as np

# --- functions of a factor ---

# Values beyond two percentiles by more than this multiple of the distance between them are clipped, for curves and for
# lines: otherwise one outlying row would determine every curve. Straight lines may extend further.
BENT, STRAIGHT = (5, 95, 0.25), (25, 75, 4.0)

# The rarest levels of a category beyond this number are pooled.
MOST_LEVELS = 100

# Order of the lines in all values and in ranks. They are included if they differ from smoother functions by this share
# of their variance.
ORDER_OF_OTHERS, LEAST_OF_OTHERS = 1.5, 0.05

# A function of which less than this share is left after projection on smoother ones adds nothing.
LEAST_NEW_FUNCTION = 1e-6

# --- the smooth fit ---

# Number of functions of a fit: FUNCTIONS_PER_LINE for each line, contrast of levels or missing-value indicator, within
# these bounds; at most FUNCTIONS_PER_ROW for each row, but FEWEST_FUNCTIONS in any table.
FUNCTIONS_PER_LINE, ENOUGH_FUNCTIONS, MOST_FUNCTIONS = 50, 350, 700
FUNCTIONS_PER_ROW, FEWEST_FUNCTIONS = 1.5, 20

# Functions of a single factor in the first stage, and of each in the second. Where something was found there are more:
# one for every ROWS_PER_ORDER rows, between LEAST_ORDERS and MOST_ORDERS. Largest sum of orders in a product.
FIRST_ORDERS, SECOND_ORDERS = 10, 6
ROWS_PER_ORDER, LEAST_ORDERS, MOST_ORDERS, MOST_IN_PRODUCT = 15, 20, 40, 16

# Maximum number of products with the same factors and sum of orders.
MOST_IN_BLOCK = 60

# A block with more than this share of the explained variance receives more functions.
LEAST_OF_BLOCK = 0.003

# Maximum number of rounds of variance estimation in each stage.
ROUNDS = (12, 25)

# Number of rows that estimate mean products of functions well enough where these only determine the size of an error.
ENOUGH_ROWS = 2000

# Maximum leverage of a row or a group, and maximum intraclass correlation.
MAX_LEVERAGE_OF_FIT, MOST_ALIKE = 0.95, 0.95

# Polynomials of the rank of the fit that y may follow, and standard deviations above chance that their effect must
# reach.
BENDS, LEAST_BEND = 5, 4.0

# A bend is regressed on the part of the fit known from a set of factors, if that is more than this share of the fit.
LEAST_KNOWN = 0.01

# --- variance components of the smooth fit ---

# The prior variance of a function of order k is k to the power of minus one of these: for smooth and for rough effects.
SMOOTH, ROUGH = 4.0, 1.0

# Blocks with no more functions than this have the smooth variance component only.
FEW_IN_BLOCK = 3

# Degrees of freedom charged for a variance component: of a line, of a smooth block, of a rough block.
COST_OF_LINE, COST_OF_SMOOTH, COST_OF_ROUGH = 0.25, 0.5, 1.0

# Prior variances below this share of the variance of the error of a coefficient are set to 0: in the first rounds, in
# which all blocks begin with small ones, and later. Functions dropped late would be shrunk by three quarters or more;
# without them errors are smaller and all that follows is faster.
SMALLEST_PRIOR, SMALL_PRIOR = 0.03, 0.3

# Minimum noise variance as a share of Var(y).
LEAST_NOISE = 1e-8

# The correction for choosing a variance decreases where the functions use less than this, squared, of their degrees of
# freedom.
LEAST_USED = 0.01

# --- regressions of functions on those of other factors ---

# Functions of the factors that others are regressed on: PROJECTED in all, but LEAST_EACH of each factor while these are
# no more than MOST_PROJECTED in all. Products of two are included if they are no more than MOST_PRODUCTS and this share
# of the rows.
PROJECTED, LEAST_EACH, MOST_PRODUCTS, MOST_PRODUCT_SHARE = 60, 5, 200, 0.5

# Maximum number of functions to regress on; if there are more, those most correlated with the regressed functions.
MOST_PROJECTED = 300

# Ridge penalties, as shares of the rows, from which these regressions choose.
RIDGES = np.array([*np.logspace(-4, 3, 22), 1e9])

# Standard deviations above chance that a regression must explain to be used. Where factors are independent, the best of
# many penalties follows chance, and importances come out too small.
LEAST_RELATED = 3.0

# Maximum degrees of freedom of a regression as a share of the rows, and maximum leverage of a row.
MOST_FREEDOM, MAX_LEVERAGE_OF_REGRESSION = 0.6, 0.8

# --- local fits beside the smooth fit ---

# z-value below which the improvement of local fits over the smooth fit is attributed to chance.
LEAST_FOUND = 3.0

# Rows for each factor that local fits to y itself need.
ROWS_PER_FACTOR = 500

# Number of factors beyond which rows are too far apart for local fits to find anything.
MOST_FOR_LOCAL = 20

# Local fits, and a bend of the fit, miss about this share of what they find beyond the smooth fit.
UNSEEN = 0.6

# --- errors of the smooth fit ---

# Multipliers in the variance of an effect: of the variance of its linear part, of the variance of its quadratic part,
# of the squared difference between two estimates of it, of the squared noise variance divided by the number of rows (an
# effect of this size may be hidden), and of the squared error of the fit. With few rows the variance of the linear part
# is itself uncertain: LINEAR_OF_FEW divided by the number of rows is added to its multiplier.
LINEAR, QUADRATIC, DIFFERENCE, HIDDEN, MISSED = 1.05, 2.0, 0.5, 5.0, 0.1
LINEAR_OF_FEW = 20

# The same for the noise variance: multiplier of its linear part, and the addition to it for few rows.
LINEAR_OF_NOISE, NOISE_OF_FEW = 1.2, 25

# --- extrapolated local fits ---

# Neighbours of the narrow fit: minimum, maximum, and number for each slope and the constant. The wide fit has WIDER
# times as many.
LEAST_NEIGHBORS, MOST_NEIGHBORS, NEIGHBORS_PER_SLOPE, WIDER = 12, 24, 2, 3

# Smallest ratio of squared distances to extrapolate from: with many factors the neighbours of both fits are about
# equally far, and subtracting a large multiple of the difference would only add noise. The difference may still be
# bias.
LEAST_RATIO, LEAST_RATIO_OF_BIAS = 1.5, 1.1

# Smallest share of a row in its own contribution: extrapolation gives its neighbours weights above 1.
LEAST_OWN = 0.01

# Number of rows to average over if all are outer rows: their errors estimate the variance well enough.
MAX_OUTER = 10_000

# --- the trend under local fits ---

# Maximum number of terms of a trend, also as a share of the rows or groups, and maximum cells of the matrix of terms.
MAX_TERMS, MAX_TERMS_PER_ROW, MAX_CELLS = 200, 0.5, 5e6

# Maximum number of rows that a trend is fitted to.
MAX_TREND_ROWS = 20_000

# Powers of single columns, and total degrees of products, in the order in which they are tried.
POWERS_AND_DEGREES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((1,), ()),
    ((2, 3), ()),
    ((), (2,)),
    ((4, 5, 6), ()),
    ((), (3,)),
    ((), (4,)),
    ((), (5,)),
)

# Maximum leverage of a row or a group, in trends and in partial effects: beyond it, a term could not be estimated
# without the row, and the residual carries little information about the noise.
MAX_LEVERAGE = 0.999

# --- partial effects ---

# Maximum number of fitted rows, and of rows to search for neighbours: more would not be visible in a plot.
MAX_FITTED, MAX_SEARCHED = 5000, 100_000

# Minimum number of fitted rows in a bin with a level of its own.
LEAST_ROWS_OF_BIN = 3

# If other factors explain all but this share of the variance of a difference of bins, its effect is not identifiable.
LEAST_LEFT = 1e-4
