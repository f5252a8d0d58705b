"""Kernels without compiling, against plain loops: what they would do if Python ran them line by line.

With this, and two tests of ``test_search.py``, coverage sees the lines of kernels: see ``scripts.run_script``.
"""

import pytest
from scripts import run_script

pytestmark = pytest.mark.slow


def test_one_scan_for_every_subset():
    """Numbers, levels, gaps, ties and a pair of columns; also more rows than are looked at in one block."""
    printed = run_script(
        """
        import numpy as np
        import pandas as pd
        import naive
        from firstfactor._utils.threads import Workers
        from designs import read_design
        from firstfactor.neighbors import search
        from sample_tables import as_lists_with_gaps
        search.cost_of_subsets = lambda *_: -1.0  # always one scan
        rng = np.random.default_rng(0)
        np.seterr(over="ignore")  # infinite distances of points that are none
        for n, outer, k in ((24, np.arange(24), 2), (24, np.arange(24), 3), (150, np.arange(0, 150, 60), 2)):
            X = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
            X["b"], X["d"] = rng.integers(0, 3, size=n), np.array(list("uvw"))[rng.integers(0, 3, size=n)]
            gaps = np.zeros(X.shape, bool)
            gaps[::5, 0] = True
            X = X.astype(object).mask(gaps, None)
            Y = rng.normal(size=(n, 2))
            found = search.Search(
                read_design(X, factor_groups={"ef": ["e", "f"]}), Y - Y.mean(axis=0), outer, k, Workers(1)
            )
            columns, y = naive.standardise(as_lists_with_gaps(X)), list(map(tuple, Y.tolist()))
            factors = [0, 1, 2, 3, (4, 5)]
            means = found.every_subset(range(5), 1)
            assert len(means) == 31
            for subset, mean in means.items():
                ref = naive.ball_variances(columns, y, [factors[i] for i in subset], k, outer.tolist())
                np.testing.assert_allclose(mean, np.mean(ref), rtol=1e-9)
        print("equal")
        """,
        NUMBA_DISABLE_JIT="1",
    )
    assert printed == "equal\n"


def test_terms_of_a_trend():
    printed = run_script(
        """
        import numpy as np
        from numpy.polynomial.legendre import legvander
        from firstfactor.neighbors.kernels.polynomials import ROWS, evaluate_terms, orthonormalise
        columns = np.random.default_rng(0).uniform(-1, 1, size=(2 * ROWS + 3, 3))
        terms = [(0, 0, 0, 0), (1, 6, 1, 0), (0, 2, 2, 3), (0, 1, 0, 0), (0, 1, 0, 0)]
        terms += [(i, 1, j, 1) for i in (0, 1) for j in (1, 2)]
        values, powers = evaluate_terms(columns, np.array(terms)), legvander(columns, 6)
        expected = np.column_stack([powers[:, i, a] * powers[:, j, b] for i, a, j, b in terms])
        np.testing.assert_allclose(values[:, :9], expected, atol=1e-12)
        rows = np.arange(0, len(values), 2)
        found = orthonormalise(values, rows, 1e-10)[:, :9]
        assert not found[:, 4].any()  # equal to the one before it
        kept = np.delete(found, 4, axis=1)
        np.testing.assert_allclose(kept[rows].T @ kept[rows], np.eye(8), atol=1e-9)
        np.testing.assert_allclose(expected @ np.linalg.lstsq(expected, kept, rcond=None)[0], kept, atol=1e-9)
        print("equal")
        """,
        NUMBA_DISABLE_JIT="1",
    )
    assert printed == "equal\n"


def test_local_fits_where_rows_are_equal_and_in_groups():
    """All rows of a point are as near: a fit takes them all, but none of the row's own group."""
    printed = run_script(
        """
        import numpy as np
        import naive
        from firstfactor._utils.threads import Workers
        from designs import read_design
        from firstfactor.neighbors.search import Search
        from firstfactor.variance.local_linear import LocalLinear
        rng = np.random.default_rng(0)
        n = 30
        X = np.column_stack([rng.integers(0, 2, size=n), np.repeat([0, 1, 5], 10), rng.normal(size=n)]).astype(float)
        y, columns = rng.normal(size=(n, 1)), naive.standardise(X.T.tolist())
        for groups in (None, np.arange(n) % 4):
            search = Search(read_design(X), y, np.arange(n), 2, Workers(1), None, groups)
            for factors in ([0, 1], [0], [2, 0]):
                fits = LocalLinear(search, factors, (3, 8)).errors(y, np.arange(n)).fits
                refs = [
                    [naive.local_fit(columns, y[:, 0].tolist(), factors, m, band, groups) for m in range(n)]
                    for band in (3, 8)
                ]
                np.testing.assert_allclose(fits[:, :, 0], refs, rtol=1e-7, atol=1e-9)
        print("equal")
        """,
        NUMBA_DISABLE_JIT="1",
    )
    assert printed == "equal\n"
