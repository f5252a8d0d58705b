"""The comparison with other methods: its tables, its scores, and that the page shows what is stored."""

import json

import numpy as np
import pytest

from benchmarks import markers
from benchmarks.alternatives import page, run, scores
from benchmarks.alternatives.__main__ import RESULTS
from benchmarks.alternatives.methods import METHODS, OURS, Answer, Method, is_wide, saltelli
from benchmarks.alternatives.tables import (
    ADDITIVE,
    CLASSES,
    FIVE,
    NOISE,
    ORDINARY,
    PROBLEMS,
    PRODUCT,
    REAL,
    TABLES,
    TWENTY,
    Drawn,
    Table,
)
from benchmarks.stamp import fingerprint
from study.data.additive import MODELS
from study.runs.experiments import ALL

STORED = json.loads(RESULTS.read_text(encoding="utf-8"))
METHOD = {method.name: method for method in METHODS}


# The page


def test_the_page_shows_what_is_stored():
    text = page.PAGE.read_text(encoding="utf-8")
    assert markers.fill(text, page.parts(STORED)) == text


def test_nothing_is_missing_in_what_is_stored():
    stored = {(draw["table"], each["method"], draw["repetition"]) for draw in STORED["draws"] for each in draw["runs"]}
    wanted = {
        (table.name, method.name, k)
        for table in TABLES.values()
        for method in METHODS
        if method.takes(table)
        for k in range(run.repetitions(method, table))
    }
    assert stored == wanted


def test_contents_are_put_between_their_markers():
    text = "a\n<!-- x -->\nold\n<!-- /x -->\nb\n<!-- y -->\n<!-- /y -->\n"
    assert markers.fill(text, {"x": "new"}) == text.replace("old", "new")
    assert markers.fill(text, {"y": "1\n2"}).endswith("<!-- y -->\n1\n2\n<!-- /y -->\n")


@pytest.mark.parametrize("text", ["", "<!-- x -->\n", "<!-- /x -->", "<!-- x --> <!-- /x -->"])
def test_a_marker_that_is_missing_is_an_error(text):
    with pytest.raises(ValueError, match="<!-- x -->"):
        markers.fill(text, {"x": "new"})


# Tables whose answer is known


@pytest.mark.parametrize("table", [*PROBLEMS, *ORDINARY, NOISE, FIVE, TWENTY], ids=lambda table: table.name)
def test_draws_have_their_size_and_differ_by_seed(table):
    X, y, *_ = table.draw(50, 0)
    assert X.shape == (50, table.n_factors) and y.shape == (50,)
    assert np.array_equal(X, table.draw(50, 0)[0]) and not np.array_equal(X, table.draw(50, 1)[0])


@pytest.mark.parametrize("table", [*PROBLEMS, *ADDITIVE, PRODUCT], ids=lambda table: table.name)
def test_the_true_factors_are_those_with_an_index(table):
    drawn = table.draw(table.n_rows, run.SEED)
    assert len(drawn.indices) == table.n_factors and drawn.true == tuple(np.flatnonzero(drawn.indices))


@pytest.mark.parametrize("draw", STORED["draws"][::25], ids=lambda draw: draw["table"])
def test_what_is_stored_was_drawn_with_these_seeds(draw):
    table = TABLES[draw["table"]]
    true = table.draw(table.n_rows, run.SEED + draw["repetition"]).true
    assert draw["true"] == (None if true is None else list(true))


def test_the_study_draws_with_smaller_seeds():
    plans = [plan for experiment in ALL for plan in experiment.plans]
    assert plans and max(max(plan.repetitions) for plan in plans) < run.SEED


@pytest.mark.parametrize("table", [each for each in PROBLEMS if each.function], ids=lambda table: table.name)
def test_the_function_is_the_response_without_its_noise(table):
    X, y, true, _ = table.draw(20_000, 0)
    noise = y - table.function(X)
    assert noise.mean() == pytest.approx(0, abs=0.03)
    assert np.corrcoef(noise, table.function(X))[0, 1] == pytest.approx(0, abs=0.03)
    others = [j for j in range(table.n_factors) if j not in true]
    moved = X.copy()
    moved[:, others] = 0.5
    assert np.array_equal(table.function(X), table.function(moved))


def test_each_of_the_two_factors_of_xor_says_nothing_alone():
    X, y, *_ = TABLES["XOR"].draw(50_000, 0)
    assert np.abs(np.corrcoef(np.column_stack([X, y]).T)[-1, :-1]).max() < 0.02
    same_side = (X[:, 0] > 0.5) == (X[:, 1] > 0.5)
    assert y[same_side].mean() == pytest.approx(1, abs=0.02) and y[~same_side].mean() == pytest.approx(-1, abs=0.02)


def test_copies_add_nothing_to_what_they_are_copies_of():
    X, y, *_ = TABLES["copies"].draw(50_000, 0)
    assert np.corrcoef(X[:, 1:4].T)[0, 1:] == pytest.approx([0.9, 0.9], abs=0.01)
    assert np.corrcoef(X[:, 2], y)[0, 1] == pytest.approx(0.9 / np.sqrt(2.25), abs=0.01)
    coefficients, *_ = np.linalg.lstsq(X, y, rcond=None)
    assert coefficients == pytest.approx([1, 1, 0, 0, 0, 0, 0, 0], abs=0.03)


def test_noise_has_nothing_to_find():
    X, y, true, _ = NOISE.draw(50_000, 0)
    assert true == () and np.abs(np.corrcoef(X.T, y)[-1, :-1]).max() < 0.02


def test_the_wide_table_is_a_line_in_its_first_factors():
    X, y, *_ = TWENTY.draw(5000, 0)
    coefficients, *_ = np.linalg.lstsq(X, y, rcond=None)
    assert np.abs(coefficients[:20]) == pytest.approx(np.ones(20), abs=0.1)
    assert np.abs(coefficients[20:]).max() < 0.1


@pytest.mark.parametrize("table", ADDITIVE, ids=lambda table: table.name)
def test_half_of_the_variance_of_a_weak_sum_is_noise(table):
    X, y, *_ = table.draw(100_000, 0)
    terms = MODELS["curves-50" if "curves" in table.name else "lines-50"].terms(X)
    assert terms.sum(axis=1).var() / y.var() == pytest.approx(0.5, abs=0.01)


def test_classes_are_cut_from_the_same_lines():
    X, y, true, indices = CLASSES.draw(100_000, 0)
    assert np.unique(y).tolist() == [0, 1] and y.mean() == pytest.approx(0.3, abs=0.001) and indices is None
    slopes = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0]
    assert set(np.flatnonzero(np.abs(slopes) > 0.01)) == set(true)


def test_each_factor_of_the_product_says_nothing_alone():
    X, y, true, _ = PRODUCT.draw(50_000, 0)
    assert np.abs(np.corrcoef(X.T, y)[-1, :-1]).max() < 0.03
    assert np.corrcoef(X[:, true].prod(axis=1), y)[0, 1] ** 2 == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize("table", REAL, ids=lambda table: table.name)
def test_real_tables_have_factors_that_vary(table):
    X, y, true, _ = table.draw(table.n_rows, 0)
    assert true is None and X.shape == (table.n_rows, table.n_factors) and (X.std(axis=0) > 0).all() and y.std() > 0


# Scores


def test_selections_are_exact_or_not():
    assert scores.is_exact([2, 0], (0, 2))
    assert not scores.is_exact([0], (0, 2)) and not scores.is_exact([0, 1, 2], (0, 2))


def test_true_factors_are_on_top_only_if_no_other_is_as_important():
    assert scores.is_on_top([0.1, 0.0, 0.2], (0, 2))
    assert not scores.is_on_top([0.1, 0.1, 0.2], (0, 2)) and not scores.is_on_top([0.0, 0.1, 0.2], (0, 2))


def test_found_and_false_are_shares_of_different_sets():
    assert scores.found_share([0, 1, 5, 6], (0, 1, 2, 3, 4)) == pytest.approx(2 / 5)
    assert scores.false_share([0, 1, 5, 6], (0, 1, 2, 3, 4)) == pytest.approx(2 / 4)
    assert scores.false_share([], (0, 1)) == 0
    assert scores.has_false([0, 5], (0, 1)) and not scores.has_false([0], (0, 1)) and not scores.has_false([], (0, 1))


def test_distances_go_from_0_to_1():
    assert scores.distance([2.0, 2.0, 0.0], [0.7, 0.7, 0.0]) == 0
    assert scores.distance([0.0, 0.0, 3.0], [0.5, 0.5, 0.0]) == 1
    assert scores.distance([3.0, 1.0, -5.0], [0.5, 0.5, 0.0]) == pytest.approx(0.25)
    assert scores.distance([0.0, 0.0], [0.5, 0.5]) == 0.5


# Running


def test_a_run_is_recorded():
    method = Method("best", lambda X, y, seed: Answer(np.array([*X, y, seed]), (0, 1)), "numpy", 1)
    record = run.run_one(method, Drawn([3.0], 1.0, (0, 1), np.array([0.8, 0.2, 0.0])), 0)
    assert record.pop("seconds") >= 0
    assert record == {"method": "best", "selected": [0, 1], "on_top": True, "distance": pytest.approx(0.05)}


def test_an_error_is_a_result():
    def fail(X, y, seed):  # noqa: ARG001
        raise ArithmeticError("too many")

    record = run.run_one(Method("fails", fail, "numpy", 1), Drawn(None, None, None), 2)
    assert record["error"] == "ArithmeticError: too many" and "seconds" not in record


def test_only_draws_that_are_not_complete_or_that_other_code_made_are_run(monkeypatch):
    methods = tuple(Method(name, None, "numpy", n) for name, n in (("often", 3), ("seldom", 1)))
    never = Method("never", None, "no_such_package", 3)
    wide = Method("wide", None, "numpy", 3, takes=is_wide)
    monkeypatch.setattr(run, "METHODS", (*methods, never, wide))
    monkeypatch.setattr(run, "TABLES", {"t": Table("t", None)})

    def draw(k, code):
        return {"table": "t", "repetition": k, "runs": [{"method": "often"}], "measured": {"code": code}}

    now = {("t", k): draw(k, fingerprint()) for k in (0, 2)}
    assert run.missing({}) == [("t", 0), ("t", 1), ("t", 2)]
    assert run.missing(now) == [("t", 0), ("t", 1)]
    assert run.missing(now | {("t", 2): draw(2, "other")}) == [("t", 0), ("t", 1), ("t", 2)]


def found_in(*runs):
    """What is stored of draws of one table, each with the true factors and runs by method."""
    draws = [
        {
            "table": "t",
            "repetition": k,
            "true": true,
            "measured": {},
            "runs": [{"method": m} | r for m, r in some.items()],
        }
        for k, (true, some) in enumerate(runs)
    ]
    return page.Found({"calls": [], "versions": {}, "draws": draws})


def test_times_are_compared_on_the_same_draw():
    found = found_in(([0], {OURS: {"seconds": 1.0}}), ([0], {OURS: {"seconds": 4.0}, "lasso": {"seconds": 2.0}}))
    assert found.ratios("t", "lasso") == [0.5] and not found.failed("t", "lasso")


def test_selections_are_held_against_the_truth_of_their_own_draw():
    found = found_in(([0], {OURS: {"selected": [0]}}), ([1, 2], {OURS: {"selected": [0, 1]}}), ([1], {OURS: {}}))
    assert found.scores("t", OURS, scores.found_share) == [1, 0.5]
    assert found.scores("t", OURS, scores.has_false) == [0, 1]


def test_methods_without_an_answer_have_no_row():
    rows = page.compared(("a", "b"), lambda name: ["1", page.NOTHING] if name == "lasso" else [page.NOTHING] * 2)
    assert rows.splitlines()[2:] == ["| lasso | 1 | – |"]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_methods_answer_for_every_factor(method):
    """One strong factor of four: who ranks puts it on top, and who selects and can find a single factor selects it."""
    pytest.importorskip(method.package, reason=f"{method.package} is not installed")
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 4))  # fewer rows are not enough for HDMR
    y = 5 * X[:, 1] + 0.1 * rng.normal(size=300)
    found = run.answer(method, X, y, 0)
    if found.importances is not None:
        assert np.shape(found.importances) == (4,) and np.argmax(found.importances) == 1
    if found.selected is not None and "knockoffs" not in method.name:  # which find ten or none at this level
        assert 1 in found.selected


def test_the_dcrt_does_not_depend_on_the_mean_of_the_response():
    pytest.importorskip("hidimstat", reason="hidimstat is not installed")
    X, y, true, _ = FIVE.draw(FIVE.n_rows, 0)
    X = X[:, list(true)]
    near, far = (run.answer(METHOD["dCRT + Holm"], X, y + mean, 0) for mean in (0, 1000))
    assert near.selected == far.selected and len(near.selected) >= 4


def test_saltellis_design_calls_the_function():
    pytest.importorskip("SALib", reason="SALib is not installed")
    found, calls = saltelli(lambda X: X[:, 0] + 2 * X[:, 1], 3, 64, 0)
    assert found == pytest.approx([0.2, 0.8, 0.0], abs=0.05) and calls == 64 * (3 + 2)
