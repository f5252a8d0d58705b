"""Every way to search equals the plain loops, on data made to be difficult."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache

import joblib
import naive
import numpy as np
import pandas as pd
import pytest
from designs import read_design
from hypothesis import given
from hypothesis import strategies as st
from sample_tables import as_lists, friedman, tables
from scripts import run_script, seconds_to_stop

from firstfactor import FIRST
from firstfactor._utils.threads import Workers
from firstfactor.data import stored_columns
from firstfactor.neighbors import search as search_module
from firstfactor.neighbors.candidate_search import in_blocks
from firstfactor.neighbors.kernels.kd_tree import build_kd_tree
from firstfactor.neighbors.kernels.leave_one_out import round_plain, sum_minus_each
from firstfactor.neighbors.kernels.single_column import single_column_variances
from firstfactor.neighbors.search import Search
from firstfactor.variance.local_linear import LocalLinear


def search(X, y, n_neighbors, outer=None, n_jobs=1, weights=None, groups=None, **reading):
    design = read_design(X, **reading)
    y = np.asarray(y, dtype=float).reshape(len(y), -1)
    outer = np.arange(len(y)) if outer is None else np.asarray(outer)
    return Search(design, y - y.mean(axis=0), outer, n_neighbors, Workers(n_jobs), weights, groups)


@pytest.fixture(params=["cheapest", "shared", "line", "alone"])
def way(request, monkeypatch):
    """Have the plans choose by cost, always share a search, along a line where there is one, or never."""
    if request.param in ("shared", "line"):
        monkeypatch.setattr(search_module, "cost_alone", lambda points, *_: np.full_like(points, np.inf))
    if request.param == "line":
        monkeypatch.setattr(search_module, "FEW_ROWS", 0)
    if request.param == "alone":
        monkeypatch.setattr(search_module, "cost_alone", lambda points, *_: np.full_like(points, -1.0))
    return request.param


RNG = np.random.default_rng(0)
GRID = np.array(np.meshgrid(*[range(4)] * 3)).reshape(3, -1).T.astype(float)
COLUMN = RNG.normal(size=50)
RARE = [f"u{i}" for i in RNG.integers(0, 40, size=120)]
DIFFICULT = {
    "two distinct rows": np.repeat([[0.0, 1.0, 2.0], [1.0, 1.5, 0.0]], [7, 13], axis=0),
    "grid": GRID,
    "one column repeated": np.column_stack([COLUMN] * 4),
    "columns that differ by 1e-12": np.column_stack([COLUMN, COLUMN + 1e-12, COLUMN - 1e-12, RNG.normal(size=50)]),
    "huge offsets": RNG.normal(size=(50, 3)) + np.array([1e9, -1e12, 0]),
    "one far outlier": np.vstack([RNG.normal(size=(40, 3)), [[1e6, -1e6, 1e6]]]),
    "clusters": np.repeat(RNG.normal(size=(5, 3)), 12, axis=0) + 1e-7 * RNG.normal(size=(60, 3)),
    "few rows": RNG.normal(size=(5, 3)),
    "more rows than a block": RNG.normal(size=(600, 3)),
    "many dimensions": RNG.normal(size=(40, 13)),
    "categories": pd.DataFrame({c: list("abcabdaabc" * 6)[i:50 + i] for i, c in enumerate("uvw")}),
    "rare levels": pd.DataFrame({"a": RNG.integers(0, 3, 60), "b": RARE[:60], "c": RARE[60:]}),
    "mixed": pd.DataFrame({"a": list("xyzxy" * 12), "b": RNG.integers(0, 3, 60), "c": RNG.normal(size=60)}),
}  # fmt: skip


@cache
def difficult(name):
    """The table, a response, the rows whose balls are looked at, and the table as plain loops want it."""
    X = pd.DataFrame(DIFFICULT[name])
    y = np.random.default_rng(1).normal(size=len(X)) + np.arange(len(X)) % 3
    outer = np.arange(len(X)) if len(X) <= 100 else np.arange(0, len(X), 40)
    return X, y, outer, naive.standardise(as_lists(X))


@cache
def plain_loops(name, k, factors):
    """What plain loops find, once for all ways to search."""
    _, y, outer, columns = difficult(name)
    return np.mean(naive.ball_variances(columns, y.tolist(), list(factors), k, outer))


@pytest.mark.parametrize("k", [2, 3, 5, "all"])
@pytest.mark.parametrize("name", DIFFICULT)
def test_plans_on_difficult_data(name, k, way):
    X, y, outer, _ = difficult(name)
    if len(X) > 100 and (k == "all" or way not in ("shared", "line")):
        pytest.skip("the plain loops would take too long; smaller tables cover it")
    k = len(X) if k == "all" else k
    p = X.shape[1]
    plans = search(X, y, k, outer)

    def ref(factors):
        return plain_loops(name, k, tuple(factors))

    for base in ([0], [1, 0], list(range(p - 1))):
        candidates = [i for i in range(p) if i not in base]
        comp = plans.plus_each(base, candidates)
        np.testing.assert_allclose(comp, [ref([*base, i]) for i in candidates], rtol=1e-9)
    everything = list(range(p))
    comp = plans.minus_each(everything, [*everything, None])
    rests = [[j for j in everything if j != i] for i in everything]
    np.testing.assert_allclose(comp, [ref(rest) for rest in [*rests, everything]], rtol=1e-9)
    assert plans.one(everything) == pytest.approx(ref(everything), rel=1e-9)


@pytest.mark.parametrize("way", ["shared", "line", "alone"], indirect=True)
@pytest.mark.usefixtures("way")
class TestOneWayOnly:
    @given(tables(most_factors=5), st.sampled_from([2, 3, 5]), st.data())
    def test_plus_each(self, table, k, data):
        X, y = table
        varying = list(read_design(X).varying)
        base = data.draw(st.lists(st.sampled_from(varying), unique=True)) if varying else []
        candidates = [i for i in varying if i not in base]
        columns = naive.standardise(as_lists(X))
        ref = [naive.conditional_variance(columns, y.tolist(), [*base, i], k) for i in candidates]
        if candidates:
            np.testing.assert_allclose(search(X, y, k).plus_each(base, candidates), ref, rtol=1e-9, atol=1e-12)

    @given(tables(most_factors=6), st.sampled_from([2, 3, 5]))
    def test_minus_each(self, table, k):
        X, y = table
        base = list(read_design(X).varying)
        columns = naive.standardise(as_lists(X))
        ref = [naive.conditional_variance(columns, y.tolist(), [j for j in base if j != i], k) for i in base]
        if base:
            np.testing.assert_allclose(search(X, y, k).minus_each(base, base), ref, rtol=1e-9, atol=1e-12)


def test_more_candidates_than_a_block(monkeypatch):
    X, y = friedman(60, factors=23)
    ref = search(X, y, 3).plus_each([6, 0], list(range(7, 23)))
    monkeypatch.setattr(stored_columns, "MOST_IN_BLOCK", 5)
    np.testing.assert_allclose(search(X, y, 3).plus_each([6, 0], list(range(7, 23))), ref, rtol=1e-12)


@pytest.mark.parametrize("decimals", [15, 1])  # without ties and with them
@pytest.mark.parametrize("k", [2, 4])
def test_blocks_that_are_searched_together_have_the_same_bits(monkeypatch, decimals, k):
    X, y = friedman(200, factors=150)
    X, candidates = X.round(decimals), list(range(2, 150))
    together = search(X, y, k).plus_each([0, 1], candidates)
    monkeypatch.setattr("firstfactor.neighbors.search.BLOCKS_TOGETHER", 1)
    np.testing.assert_array_equal(search(X, y, k).plus_each([0, 1], candidates), together)


@pytest.mark.parametrize("n", [1, 15, 16, 17, 33, 129, 1000, 5000])
def test_every_point_is_in_the_box_of_every_node_above_it(n):
    coordinates = np.random.default_rng(n).normal(size=(3, n))
    tree = build_kd_tree(coordinates, np.full(3, np.inf), Workers(2))
    assert sorted(tree.order) == list(range(n))
    np.testing.assert_array_equal(tree.points, coordinates[:, tree.order].T)
    sizes = np.diff(tree.start)
    assert sizes.sum() == n
    assert 1 <= sizes.min() <= sizes.max() <= 16
    inner = len(tree.low)
    reached = set()
    stack = [(0, np.full(3, -np.inf), np.full(3, np.inf))]
    while stack:
        node, low, high = stack.pop()
        if node >= inner:
            leaf = slice(tree.start[node - inner], tree.start[node - inner + 1])
            assert (low <= tree.points[leaf]).all() and (tree.points[leaf] <= high).all()
            reached.update(range(leaf.start, leaf.stop))
            continue
        first, count = (1, tree.fan) if node == 0 else (8 * node + tree.fan - 7, 8)
        stack += [(first + i, tree.low[node, :, i], tree.high[node, :, i]) for i in range(count)]
    assert reached == set(range(n))


def test_eight_fits_at_once_in_threads():
    X, y = friedman(300)
    ref = FIRST().fit(X, y).importances_.tobytes()
    with ThreadPoolExecutor(8) as pool:
        fits = list(pool.map(lambda jobs: FIRST(n_jobs=jobs).fit(X, y).importances_.tobytes(), [1, 2] * 4))
    assert set(fits) == {ref}


@pytest.mark.slow
def test_inside_processes_of_joblib():
    printed = run_script(
        """
        import joblib
        from firstfactor.problems import friedman
        from scripts import fit_bytes
        X, y = friedman.sample(200, 10)
        fits = joblib.Parallel(n_jobs=2)(joblib.delayed(fit_bytes)(X, y) for _ in range(3))
        print(set(fits) == {fit_bytes(X, y)})
        """
    )
    assert printed == "True\n"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_after_fork():
    printed = run_script(
        """
        import os
        from firstfactor.problems import friedman
        from scripts import fit_bytes
        X, y = friedman.sample(200, 10)
        ref = fit_bytes(X, y)
        child = os.fork()
        if child == 0:
            os._exit(0 if fit_bytes(X, y) == ref else 1)
        print(os.waitpid(child, 0)[1])
        """
    )
    assert printed == "0\n"


def test_a_joblib_context_sets_the_number_of_threads():
    assert Workers(None).count == 1
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert Workers(None).count == 2


@pytest.mark.slow
def test_kernels_without_compiling():
    printed = run_script(
        """
        import numpy as np
        import naive
        from firstfactor import FIRST, total_indices
        from firstfactor.neighbors import search
        from firstfactor.variance.local_linear import LocalLinear
        from firstfactor.settings import Options
        from firstfactor.variance.conditional import open_variances
        rng = np.random.default_rng(0)
        X = np.column_stack([rng.normal(size=(40, 3)), rng.integers(0, 3, size=(40, 2))])
        y = X[:, 0] + X[:, 3] + 0.1 * rng.normal(size=40)
        columns = naive.standardise(X.T.tolist())
        for k in (2, 3):
            for cost, few in ((np.inf, 3000), (np.inf, 0), (-1.0, 0)):  # always share a search, along a line, or never
                search.cost_alone = lambda points, *_: np.full_like(points, cost)
                search.FEW_ROWS = few
                ours = FIRST(k).fit(X, y).importances_, total_indices(X, y, n_neighbors=k).values
                refs = naive.first(columns, y.tolist(), k), naive.total_indices(columns, y.tolist(), k)
                np.testing.assert_allclose(ours, refs, rtol=1e-9, atol=1e-12)
        with open_variances(X, y, Options()) as variances:
            local = LocalLinear(variances.search, [0, 3, 4], (4, 9))
            errors = local.errors(variances.response.values, np.arange(40)).values[:, :, 0]
        refs = [[naive.local_error(columns, y.tolist(), [0, 3, 4], m, band) for m in range(40)] for band in (4, 9)]
        np.testing.assert_allclose(errors, refs, rtol=1e-7, atol=1e-9)
        print("equal")
        """,
        NUMBA_DISABLE_JIT="1",
    )
    assert printed == "equal\n"


@pytest.mark.slow
def test_kernels_without_compiling_on_gaps_groups_weights_and_outputs():
    printed = run_script(
        """
        import numpy as np
        import pandas as pd
        import naive
        from firstfactor._utils.threads import Workers
        from designs import read_design
        from firstfactor.neighbors import search
        from firstfactor.variance.local_linear import LocalLinear
        from sample_tables import as_lists_with_gaps
        rng = np.random.default_rng(0)
        n = 36
        X = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
        X["c"], X["d"] = rng.integers(0, 3, size=n), np.array(list("uvw"))[rng.integers(0, 3, size=n)]
        gaps = np.zeros(X.shape, bool)
        X.loc[0, "d"] = "rare"
        gaps[::5, 0] = gaps[7, 2] = gaps[1::9, 3] = True  # many, one that has no equal, a level
        X = X.astype(object).mask(gaps, None)
        columns, Y = naive.standardise(as_lists_with_gaps(X)), rng.normal(size=(n, 3)) + X["b"].to_numpy(float)[:, None]
        Y[:, 1:] *= 2
        y, weights = list(map(tuple, Y.tolist())), rng.uniform(0.5, 2, size=n)
        design = read_design(X, factor_groups={"ef": ["e", "f"]})
        factors = [0, 1, 2, 3, (4, 5)]
        for groups in (None, rng.integers(0, 12, size=n)):
            for k, cost, few in ((2, np.inf, 3000), (3, np.inf, 0), (3, np.inf, 3000), (3, -1.0, 0)):
                search.cost_alone = lambda points, *_: np.full_like(points, cost)
                search.FEW_ROWS = few
                found = search.Search(design, Y - Y.mean(axis=0), np.arange(n), k, Workers(1), weights, groups)
                def ref(some):
                    return naive.conditional_variance(columns, y, [factors[i] for i in some], k, weights, groups)
                for base in ([], [1], [2], [2, 3], [0, 1]):
                    others = [i for i in range(5) if i not in base]
                    refs = [ref([*base, i]) for i in others]
                    np.testing.assert_allclose(found.plus_each(base, others), refs, rtol=1e-9)
                refs = [ref([j for j in range(5) if j != i]) for i in (0, 1, 2, 3, 4, None)]
                np.testing.assert_allclose(found.minus_each(range(5), [0, 1, 2, 3, 4, None]), refs, rtol=1e-9)
            local = LocalLinear(found, [0, 1, 3], (4, 9))
            errors = local.errors(Y, np.arange(n)).values
            refs = np.array([
                [[naive.local_error(columns, Y[:, q].tolist(), [0, 1, 3], m, band, groups) for q in range(3)]
                 for m in range(n)] for band in (4, 9)
            ])
            np.testing.assert_allclose(errors, refs, rtol=1e-7, atol=1e-9)
        print("equal")
        """,
        NUMBA_DISABLE_JIT="1",
    )
    assert printed == "equal\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "call", ["FIRST(n_jobs=1).fit", "FIRST(n_jobs=2).fit", "FIRST(rule='calibrated').fit", "total_indices"]
)
def test_ctrl_c_stops_within_a_second(call):
    before = f"""
        from firstfactor import FIRST, total_indices
        from firstfactor.problems import friedman
        {call}(*friedman.sample(10_000, 40))  # compiles all that is needed: numba gets interrupts wrong
        X, y = friedman.sample(200_000, 40)
    """
    assert seconds_to_stop(f"{call}(X, y)", before) < 5  # a second on a quiet machine


# --- parts of a search ---------------------------------------------------------------------------------


def test_few_outer_rows_are_seldom_neighbours_of_each_other():
    X, y = friedman(400)
    all_rows, few = (search(X, y, 2, range(0, 400, step)).contributions([0, 6], 1).overlap for step in (1, 4))
    assert few / all_rows == pytest.approx(0.25, rel=0.3)


def test_some_rows_have_as_many_neighbours_as_all():
    X, y = friedman(60)
    rows = np.arange(0, 60, 2)
    whole = search(X, y, 5, range(0, 60, 3))
    part = whole.on_rows(rows, y[rows, None])
    assert part.n_neighbors == 5
    assert part.outer.tolist() == list(range(0, 30, 3))  # rows 0, 6, 12, ...
    assert whole.on_rows(rows[:4], y[rows[:4], None]).n_neighbors == 4
    assert whole.on_rows(np.array([1, 2, 4]), y[[1, 2, 4], None]).outer.tolist() == [0, 1, 2]  # none is an outer row


@pytest.mark.parametrize("case", ["mixed", "categories", "grid", "clusters"])
def test_some_balls_are_the_same_from_memory(case):
    X = DIFFICULT[case]
    y = np.random.default_rng(1).normal(size=len(X))
    fresh, asked_before = search(X, y, 3), search(X, y, 3)
    asked_before.balls([0, 1])
    expected, found = fresh.contributions([0, 1], 4), asked_before.contributions([0, 1], 4)
    assert len(found.rows) == -(-len(X) // 4)
    np.testing.assert_array_equal(found.rows, expected.rows)
    assert found.overlap == expected.overlap


@pytest.mark.parametrize("way", ["shared"], indirect=True)
@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("case", ["mixed", "categories", "grid"])
def test_what_rows_contribute_is_the_same_after_a_scan(case):
    X = DIFFICULT[case]
    y = np.random.default_rng(1).normal(size=len(X))
    fresh, scanned = search(X, y, 3), search(X, y, 3)
    scanned.minus_each([0, 1, 2], [0, 1, 2, None])
    np.testing.assert_allclose(
        scanned.contributions([0, 1, 2], 1).rows, fresh.contributions([0, 1, 2], 1).rows, atol=1e-12
    )


def test_outputs_are_as_alike_as_their_covariance_says():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 2)), rng.normal(size=(4000, 3))
    assert search(X, y, 2).output_concentration == pytest.approx(1 / 3, abs=0.01)
    assert search(X, y * [3, 1, 0], 2).output_concentration == pytest.approx((81 + 1) / 100, abs=0.01)
    assert search(X, y[:, :1] * np.array([1.0, -2, 5]), 2).output_concentration == pytest.approx(1)
    assert search(X, y[:, 0], 2).output_concentration == 1


def test_rows_contribute_the_whole_variance_without_factors():
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(50, 2)), rng.normal(size=(50, 2)), rng.uniform(0.1, 3, size=50)
    for counted in (None, weights):
        y -= np.average(y, axis=0, weights=counted)
        found = search(X, y, 2)
        found = replace(found, y=y, weights=counted)
        assert found.mean_over_outer(found.contributions((), 1).rows) == pytest.approx(1)


def test_nothing_is_known_without_factors():
    X, y = friedman(60)
    assert search(X, y, 2).one([]) == pytest.approx(np.var(y, ddof=1))


# --- what kernels trust --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_neighbors": 31}, "n_neighbors must be a whole number from 2 to 30"),
        ({"n_neighbors": 1}, "n_neighbors must be a whole number from 2 to 30"),
        ({"outer": np.array([], dtype=np.intp)}, "outer must hold rows from 0 to 29"),
        ({"outer": np.array([3, 30])}, "outer must hold rows from 0 to 29"),
        ({"outer": np.array([-1, 3])}, "outer must hold rows from 0 to 29"),
        ({"outer": np.array([3, 3])}, "in increasing order"),
        ({"y": np.zeros((29, 1))}, "y must be 30 rows of contiguous float64; got float64 of \\(29, 1\\)"),
        ({"y": np.zeros(30)}, "y must be 30 rows of contiguous float64; got float64 of \\(30,\\)"),
        ({"y": np.zeros((60, 1))[::2]}, "y must be 30 rows of contiguous float64"),
        ({"y": np.zeros((30, 1), np.float32)}, "got float32"),
        ({"weights": np.ones(29)}, "weights must be 30 contiguous float64"),
        ({"groups": np.arange(30, dtype=np.int32)}, "groups must be 30 contiguous int64; got int32"),
        (
            {"groups": np.repeat([0, 1], [29, 1]), "n_neighbors": 3},
            "from 2 to 2 .the rows outside of the largest group",
        ),
    ],
)
def test_a_search_that_kernels_could_not_trust_is_refused(change, message):
    sound = search(RNG.normal(size=(30, 2)), RNG.normal(size=30), 2)
    with pytest.raises((TypeError, ValueError), match=message):
        replace(sound, **change)


@pytest.mark.usefixtures("way")
def test_a_row_is_among_its_neighbours_and_others_of_its_group_are_not():
    X, y = friedman(12)
    groups = np.array([0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5])
    assert search(X, y, 10, groups=groups).one([0]) > 0
    with pytest.raises(ValueError, match=r"n_neighbors must be .* to 10 \(the rows outside of the largest group"):
        search(X, y, 11, groups=groups)


def test_a_thousand_discrete_factors_are_fine():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(40, 1100)).astype(float)
    y = X[:, 0] + rng.normal(size=40)
    sought = search(X, y, 2)
    everything = tuple(range(1100))
    found = sought.minus_each(everything, [0, 1099, None])
    expected = [sought.one([i for i in everything if i != out]) for out in (0, 1099, None)]
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(sought.plus_each(everything[:-1], [1099]), expected[-1:])


@pytest.mark.parametrize("case", ["mixed", "categories", "grid", "clusters"])
def test_a_set_gives_the_same_bits_in_any_order(case):
    """Sets are remembered whatever their order, by several threads: it must not matter who asked first."""
    X = DIFFICULT[case]
    y = np.random.default_rng(1).normal(size=len(X))
    orders = [(0, 1, 2), (2, 0, 1), (1, 2, 0)]
    found = [search(X, y, 3).balls(order).variance for order in orders]
    errors = [
        LocalLinear(search(X, y, 3), order, (4, 9)).errors(y[:, None], np.arange(len(y))).values for order in orders
    ]
    for same in (found, errors):
        np.testing.assert_array_equal(same[1], same[0])
        np.testing.assert_array_equal(same[2], same[0])


@pytest.mark.parametrize("far", [1.0, 1e9, 1e40])
def test_blocks_are_measured_in_float32_only_to_skip_them(far):
    """With no plain factor nothing is skipped; values far away are rounded most."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(200, 6))
    points[7, 2], points[100] = far, points[101]
    blocks = np.ascontiguousarray(in_blocks(points, 0.0).swapaxes(1, 2))
    y, weight, centres = rng.normal(size=(200, 1)), rng.uniform(size=200), np.arange(200)
    found, expected = (
        sum_minus_each(
            blocks,
            round_plain(blocks, n_plain),
            points,
            np.full(6, np.inf),
            np.arange(7),
            y,
            weight,
            centres,
            n_neighbors=3,
        )
        for n_plain in (6, 0)
    )
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("near", [0.0, 1e-12])
def test_ties_along_a_column_are_in_its_balls(near):
    """Of 0, 1 and 1 + near, the last two tie as neighbours of the first."""
    values, y = np.array([[0.0, 1.0, 1.0 + near, 5.0]]), np.array([[0.0], [3.0], [6.0], [1.0]])
    sums, _, _ = single_column_variances(
        values, np.argsort(values, axis=1), np.array([np.inf]), y, np.array([1.0, 0.0, 0.0, 0.0]), 2
    )
    assert sums[0] == pytest.approx(np.var([0.0, 3.0, 6.0], ddof=1))
