"""FILTER: how well a loess smoother of one factor alone describes the response."""

import numpy as np
from skmisc.loess import loess

from ...data.arrays import Floats
from ..outcome import Outcome

SPAN = 0.75  # R's defaults of loess, which caret leaves as they are
DEGREE = 2


def loess_filter(X: Floats, y: Floats, seed: int) -> Outcome:  # noqa: ARG001, nothing is random here
    """Return the R² of a smoother per factor, as caret's `filterVarImp(nonpara = TRUE)` for numeric factors.

    caret takes a straight line instead of a smoother for factors with few distinct values; the study has none.
    """
    return Outcome(np.array([_explained(x, y) for x in X.T]), None)


def _explained(x: Floats, y: Floats) -> float:
    """Return the share of the variance that the smoother explains, nothing if it does worse than the mean."""
    smoother = loess(x, y, span=SPAN, degree=DEGREE)
    smoother.fit()
    left = np.sum(smoother.outputs.fitted_residuals**2)
    return max(0.0, 1 - float(left / np.sum((y - y.mean()) ** 2)))
