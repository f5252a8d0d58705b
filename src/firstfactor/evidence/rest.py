"""What factors that were left out could add together, though none of them can be named.

Many weak factors can explain much. Ridge regression on their lines, fitted to some rows, tells on others how much at
least. What it explains there is compared row by row with what is left without it, so that the noise cancels.
"""

import numpy as np
from scipy.stats import norm

from ..neighbors.strategy import Floats, Positions
from .lines import Lines

# Rows and lines that are looked at, at most.
MOST_ROWS, MOST_LINES = 5000, 200

# Penalties that are tried, in units of the number of rows.
PENALTIES = np.logspace(-3, 3, 13)

# The bound holds with this probability.
LEVEL = 0.95


def explained_by_rest(lines: Lines, outputs: Floats, folds: Positions, groups: Positions | None) -> float:
    """Return a lower bound for the variance of what is left of y, (outputs, rows), that the lines explain together."""
    X, y = lines.left.T, outputs.T
    gains = np.empty(len(X))
    for fold in range(int(folds.max()) + 1):
        inside = folds != fold
        predicted = X[~inside] @ _ridge(X[inside], y[inside])
        gains[~inside] = (y[~inside] ** 2 - (y[~inside] - predicted) ** 2).sum(axis=1)
    if groups is not None:
        gains = np.bincount(groups, gains) * (groups.max() + 1) / groups.size
    error = gains.std(ddof=1) / np.sqrt(gains.size)
    return float(gains.mean() - norm.isf(1 - LEVEL) * error)


def _ridge(X: Floats, y: Floats) -> Floats:
    """Slopes of each output, (lines, outputs), with the penalty of the least generalised cross-validation error."""
    left, sizes, right = np.linalg.svd(X, full_matrices=False)
    along = left.T @ y
    outside = (y**2).sum() - (along**2).sum()
    errors = []
    for penalty in PENALTIES * len(X):
        shrunk = sizes**2 / (sizes**2 + penalty)
        error = outside + (((1 - shrunk)[:, None] * along) ** 2).sum()
        errors.append(error / (len(X) - shrunk.sum()) ** 2)
    penalty = PENALTIES[int(np.argmin(errors))] * len(X)
    slopes: Floats = right.T @ ((sizes / (sizes**2 + penalty))[:, None] * along)
    return slopes
