"""How well factors explain each other: numbers, categories, gaps, some rows of many."""

import numpy as np
import pandas as pd
import pytest

from firstfactor import FIRST
from firstfactor.dependence import matrix
from firstfactor.dependence.matrix import Dependence
from firstfactor.parameters import Options
from firstfactor.variance.conditional import open_variances


def explained(X, y=None, sample_weight=None, groups=None, **options):
    """How well each factor (rows) is explained by each (columns)."""
    y = np.random.default_rng(9).normal(size=len(X)) if y is None else y
    with open_variances(X, y, Options.parse(options), sample_weight, groups) as variances:
        everything = variances.design.varying
        return Dependence(variances).explained_by_each(everything, everything)


def normal_pair(correlation, rows=2000, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, rows))
    return np.column_stack([a, correlation * a + np.sqrt(1 - correlation**2) * b])


def test_a_response_that_hardly_ever_varies_is_no_matter():
    X, y = np.random.default_rng(0).normal(size=(5000, 3)), np.zeros(5000)
    y[7] = 1.0
    assert FIRST(task="regression").fit(X, y).explanations_.names == ("x0", "x1", "x2")
