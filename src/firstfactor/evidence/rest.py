"""Lower bound for the joint effect of the factors that were left out, none of which can be named.

Many weak factors can explain much. A ridge regression on their lines, fitted to some rows, gives on other rows a lower
bound for how much. Its squared errors are compared row by row with those without it, so that the noise cancels.
"""

import numpy as np
from scipy.stats import norm

from ..neighbors.strategy import Floats, Positions
from ..results.constants import LEVEL
from .lines import Lines

# Penalties to try, in units of the number of rows.
PENALTIES = np.logspace(-3, 3, 13)


def explained_by_rest(lines: Lines, outputs: Floats, folds: Positions, groups: Positions | None) -> float:
    """Return a lower bound for the variance in the residuals of y, (outputs, rows), that the lines explain together."""
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
    """Return the slopes of each output, (lines, outputs), with the penalty of least generalised cross-validation."""
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
