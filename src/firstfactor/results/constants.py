"""Constants that decide what is said of a result.

`python docs/reference/constants.py` writes them, with these comments, to a page. Numbers that only decide speed, looks
or rounding stand where they are used.
"""

# --- chance ---

# Confidence level of the intervals that are shown, of the upper limit of the cost of an exchange, and of the lower
# bound on the joint contribution of the factors left out.
LEVEL = 0.95

# Factors with a p-value above this are marked as weak. Only factors and clusters with at most this p-value can replace
# others or be replaced: if they may add nothing, the share that is kept may be anything.
WEAK = 0.05

# Largest standard error of a value between 0 and 1.
MAX_STANDARD_ERROR = 0.5

# --- factors that replace others ---

# Share of the contribution of other factors that a factor must keep to replace them.
LEAST_KEPT = 0.75

# Factors that explain less than this share of each other do not replace each other, whatever they keep.
LEAST_DEPENDENCE = 0.3

# A factor stands in for another only if the exchange costs at most this share, and it adds nothing to the other.
CHEAP = 0.15

# --- the sentence on the drivers ---

# A driver is named if at least this share of the explained variance is lost without it; at most this many are named.
LEAST_LOST, MOST_DRIVERS = 0.01, 5

# The interval of a driver that adds little does not exceed this share.
LITTLE = 0.1

# Shares of the explained variance that count as nearly all of it, and as something.
NEARLY_ALL, SOMETHING = 0.9, 0.1

# Factors that can replace a named one are named as well if there are at most this many.
MOST_STAND_INS = 4

# Any of several factors will do if each keeps at least this share of what all of them explain together.
WILL_DO = 0.9

# --- explanations and remarks ---

# A cost below this share of the explained variance is called next to nothing.
NEXT_TO_NOTHING = 0.001

# A factor that explains less than this share of the explained variance alone is said to explain next to nothing.
LITTLE_ALONE = 0.01

# The share of Var(Y) that factors left out explain together is reported from this size.
LEAST_REST = 0.01

# A ceiling that is too low by at most this share of Var(Y) is not reported.
LEAST_BIAS = 0.01
