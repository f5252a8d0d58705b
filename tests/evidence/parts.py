"""What tests of the evidence are made from: functions of a table, a base, and what it leaves of y."""

import numpy as np

from firstfactor._utils.threads import Workers
from firstfactor.data.design import read_design
from firstfactor.evidence.functions import FactorFunctions
from firstfactor.evidence.regression import Regression
from firstfactor.evidence.scores import Draws, Residuals

WORKERS = Workers(1)


def functions_of(X, **options):
    return FactorFunctions(read_design(X, **options), WORKERS)


def residuals_of(functions, y, base=(), weights=None, groups=None, seed=0):
    """What a base leaves of y, (rows,) or (rows, outputs)."""
    y = np.reshape(y, (functions.n_rows, -1)).T
    y = y - np.average(y, axis=1, weights=weights)[:, None]
    roots = None if weights is None else np.sqrt(weights)
    n_units = functions.n_rows if groups is None else int(groups.max()) + 1
    draws = Draws.make(np.random.default_rng(seed), functions.n_rows, groups, weighted=weights is not None)
    return Residuals(Regression(functions, base, roots, n_units), y, draws, is_exchangeable=not base)


def least_squares(terms, y, weights=None):
    """What weighted least squares on terms, (terms, rows), leaves of y, (outputs, rows), times the root weights."""
    roots = np.ones(y.shape[1]) if weights is None else np.sqrt(weights)
    A, b = (terms * roots).T, (y * roots).T
    return (b - A @ np.linalg.lstsq(A, b, rcond=1e-7)[0]).T
