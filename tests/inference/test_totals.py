"""What factors explain alone."""

import numpy as np

from firstfactor import closed_indices, explained_variance


def test_what_explains_less_than_nothing_has_an_index_of_0_and_the_docstring_says_so():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 3))
    y = X[:, 0] + rng.normal(size=200) / 10
    explained = np.array([explained_variance(X, y, [i]) for i in range(3)])
    assert explained[0] > 0 > explained.min()
    np.testing.assert_array_equal(closed_indices(X, y, variance_estimator="nearest").values > 0, explained > 0)
    words = " ".join(closed_indices.__doc__.split())
    assert "A negative estimate of V(u), which occurs by chance if u explains nothing, is set to 0." in words
