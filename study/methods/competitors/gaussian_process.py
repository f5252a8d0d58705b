"""Importances from Gaussian processes that are fitted again without each factor."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from ...data.arrays import Floats
from ..outcome import Outcome
from .dropped import drop
from .linear_tests import as_numbers

LENGTHS = (0.1, 1e3)
"""Between which length scales are sought, in standard deviations of a factor."""


def gp_drop(X: Floats, y: Any, seed: int) -> Outcome:
    """Gaussian processes with a length scale for each factor and white noise, of most likelihood on all rows."""
    Z, response = (X - X.mean(axis=0)) / X.std(axis=0), as_numbers(y)
    kernels: dict[tuple[int, ...], Any] = {}

    def predict(factors: list[int], fitted: Any, predicted: Any) -> Floats:
        columns, centre, scale = Z[:, factors], response[fitted].mean(), response.std()
        if tuple(factors) not in kernels:
            kernels[tuple(factors)] = _kernel(columns, (response - response.mean()) / scale)
        fit = GaussianProcessRegressor(kernels[tuple(factors)], optimizer=None)
        fit.fit(columns[fitted], (response[fitted] - centre) / scale)
        return np.asarray(centre + scale * fit.predict(columns[predicted]))

    return drop(predict, response, X.shape[1], seed)


def _kernel(columns: Floats, response: Floats) -> Any:
    start = ConstantKernel(1.0) * RBF(np.full(columns.shape[1], 2.0), LENGTHS) + WhiteKernel(0.3, (1e-4, 10.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return GaussianProcessRegressor(start).fit(columns, response).kernel_
