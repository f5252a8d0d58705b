"""What factors that were left out could add together, though none of them can be named.

Many weak factors can explain much. Ridge regression on their lines, fitted to some rows, tells on others how much at
least. What it explains there is compared row by row with what is left without it, so that the noise cancels.
"""

import numpy as np
from scipy.stats import norm

from ..neighbors.strategy import Floats, Positions
from .lines import Lines

# Rows and lines that are looked at, at most.
MOST_ROWS, MOST_LINES = 5000, 1000

# Penalties that are tried, in units of the number of rows.
PENALTIES = np.logspace(-3, 3, 13)

# The bound holds with this probability.
LEVEL = 0.95


def explained_by_rest(lines: Lines, outputs: Floats, folds: Positions, groups: Positions | None) -> float:
    """Return a lower bound for the variance of what is left of y, (outputs, rows), that the lines explain together."""
    from sklearn.linear_model import RidgeCV  # only if it is asked for

    X, y = lines.left.T, outputs.T
    gains = np.empty(len(X))
    for fold in range(int(folds.max()) + 1):
        inside = folds != fold
        ridge = RidgeCV(PENALTIES * inside.sum(), fit_intercept=False).fit(X[inside], y[inside])
        predicted = ridge.predict(X[~inside]).reshape(-1, y.shape[1])
        gains[~inside] = (y[~inside] ** 2 - (y[~inside] - predicted) ** 2).sum(axis=1)
    if groups is not None:
        gains = np.bincount(groups, gains) * (groups.max() + 1) / groups.size
    error = gains.std(ddof=1) / np.sqrt(gains.size)
    return float(gains.mean() - norm.isf(1 - LEVEL) * error)
