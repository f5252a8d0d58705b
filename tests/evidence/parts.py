"""What tests of the evidence are made from: functions of a table, a base, and what it leaves of y."""

import numpy as np
from designs import read_design

from firstfactor._utils.threads import Workers
from firstfactor.evidence.functions import FactorFunctions
from firstfactor.evidence.regression import regress
from firstfactor.evidence.scores import Draws, Residuals

WORKERS = Workers(1)


def functions_of(X, **options):
    return FactorFunctions(read_design(X, **options), WORKERS)


def outputs_of(y, weights=None):
    """The outputs, (outputs, rows), with mean 0."""
    y = np.reshape(y, (len(y), -1)).T
    return y - np.average(y, axis=1, weights=weights)[:, None]


def regression_on(functions, base=(), weights=None, groups=None, y=None, candidates=(), whole=False):
    """The regression on a base that y, (rows,) or (rows, outputs), and candidates ask for; all of it without y."""
    roots = None if weights is None else np.sqrt(weights)
    n_units = functions.n_rows if groups is None else int(groups.max()) + 1
    outputs = np.zeros((1, functions.n_rows)) if y is None else outputs_of(y, weights)
    return regress(functions, base, roots, n_units, outputs, candidates, whole or y is None)


def residuals_of(functions, y, base=(), weights=None, groups=None, seed=0, candidates=(), whole=False):
    """What a base leaves of y, (rows,) or (rows, outputs)."""
    regression = regression_on(functions, base, weights, groups, y, candidates, whole)
    draws = Draws.make(np.random.default_rng(seed), functions.n_rows, groups, weighted=weights is not None)
    return Residuals(regression, outputs_of(y, weights), draws, is_exchangeable=not base)


def least_squares(terms, y, weights=None):
    """What weighted least squares on terms, (terms, rows), leaves of y, (outputs, rows), times the root weights."""
    roots = np.ones(y.shape[1]) if weights is None else np.sqrt(weights)
    A, b = (terms * roots).T, (y * roots).T
    return (b - A @ np.linalg.lstsq(A, b, rcond=1e-7)[0]).T


def weighed_left(residuals, values):
    """What the base of some residuals leaves of functions."""
    return residuals.regression.remains(residuals.regression.weigh(values))
