"""Terms of polynomials equal those of numpy, and are orthonormal but for what others explain."""

import numpy as np
import pytest
from numpy.polynomial.legendre import legvander

from firstfactor.neighbors.kernels.polynomials import ROWS, evaluate_terms, orthonormalise


def test_terms_are_products_of_legendre_polynomials():
    columns = np.random.default_rng(0).uniform(-1, 1, size=(7, 3))
    terms = [(0, 0, 0, 0), (1, 6, 1, 0), (0, 2, 2, 3)]
    powers = legvander(columns, 6)
    expected = [powers[:, i, a] * powers[:, j, b] for i, a, j, b in terms]
    values = evaluate_terms(columns, np.array(terms))
    np.testing.assert_allclose(values[:, :3].T, expected)
    assert values.shape == (7, 8) and not values[:, 3:].any()


@pytest.mark.parametrize("n", [20, 4 * ROWS + 3])
@pytest.mark.parametrize("every", [1, 2])
def test_columns_become_orthonormal_one_after_the_other(n, every):
    values, rows = np.random.default_rng(0).normal(size=(n, 8)), np.arange(0, n, every)
    found = orthonormalise(values, rows, 1e-10)
    np.testing.assert_allclose(found[rows].T @ found[rows], np.eye(8), atol=1e-12)
    triangle = np.linalg.lstsq(values, found, rcond=None)[0]
    np.testing.assert_allclose(values @ triangle, found, atol=1e-12)
    np.testing.assert_allclose(np.tril(triangle, -1), 0, atol=1e-12)


def test_columns_that_others_explain_become_zeros_and_change_no_other():
    values = np.random.default_rng(0).normal(size=(50, 16))
    without = orthonormalise(np.ascontiguousarray(values[:, np.r_[:3, 4:9, 10:16, 14, 15]]), np.arange(50), 1e-10)
    values[:, 3], values[:, 9] = values[:, 0] - 2 * values[:, 2], 0.0
    found = orthonormalise(values, np.arange(50), 1e-10)
    assert not found[:, [3, 9]].any()
    np.testing.assert_allclose(np.delete(found, [3, 9], axis=1), without[:, :14], atol=1e-10)
