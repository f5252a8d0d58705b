"""Gaussian knockoffs with the lasso's coefficients, of the package hidimstat, which control false discoveries."""

import warnings

import numpy as np

from ...data.arrays import Floats
from ..ours import ALPHA
from ..outcome import Outcome, outcome_of


def knockoffs(X: Floats, y: Floats, seed: int) -> Outcome:
    """Return the factors that beat their knockoffs by so much that a tenth of them at most should be false."""
    from hidimstat import ModelXKnockoff

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the lasso, that it has not come to its end
        fitted = ModelXKnockoff(random_state=seed)
        fitted.fit_importance(X, y)
        chosen = np.asarray(fitted.fdr_selection(fdr=ALPHA))
    return outcome_of((chosen > 0).astype(np.float64))
