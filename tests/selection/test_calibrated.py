"""The calibrated rule: nothing from noise, no less from what is there, and the evidence for it."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import gamma, norm
from scripts import run_script
from tables import friedman, mixed

from firstfactor import FIRST, problems
from firstfactor.parameters import Options
from firstfactor.selection.calibrated import chance_above, normal_scores
from firstfactor.variance.conditional import open_variances
from firstfactor.variance.local_linear import BANDS, Fits, LocalLinear


def calibrated(**parameters):
    return FIRST(rule="calibrated", random_state=0, **parameters)


def noise(kind, seed, rows=150):
    rng = np.random.default_rng([seed, 11])
    X, y = rng.uniform(size=(rows, 5)), rng.normal(size=rows)
    match kind:
        case "mixed":
            levels = np.array(list("abcd"))
            X = pd.DataFrame({"a": levels[rng.integers(0, 3, rows)], "b": X[:, 0], "c": rng.integers(0, 5, rows)})
        case "heavy-tailed":
            y = rng.standard_cauchy(size=rows)
        case "two classes":
            y = y > 0.5
        case "counts":
            y = rng.poisson(1.0, size=rows)
    return X, y


@pytest.mark.parametrize("kind", ["numbers", "mixed", "heavy-tailed", "two classes", "counts"])
def test_nothing_is_selected_from_noise_but_rarely(kind):
    found = [calibrated().fit(*noise(kind, seed)).support_.any() for seed in range(40)]
    assert np.sum(found) <= 9  # of 40 with a chance of 0.1 each; 10 or more have a chance of 0.005
    assert np.mean([FIRST().fit(*noise(kind, seed)).support_.any() for seed in range(5)]) > 0.5


def test_alpha_is_how_often_noise_is_selected():
    strict, lax = (
        np.sum([calibrated(alpha=alpha).fit(*noise("numbers", s)).support_.any() for s in range(30)])
        for alpha in (0.02, 0.5)
    )
    assert strict <= 3
    assert 7 <= lax <= 23


@pytest.mark.parametrize(
    ("problem", "factors", "rho", "classes"),
    [
        (problems.friedman, 10, 0.9, False),
        (problems.heavy_tailed, 8, 0.0, False),
        (problems.ishigami, 6, 0.0, True),
        (problems.ishigami, 40, 0.0, False),
    ],
)
def test_what_is_there_is_found(problem, factors, rho, classes):
    X, y = problem.sample(1000, factors, rho, seed=3, classes=classes)
    selector = calibrated().fit(X, y)
    assert sorted(selector.selected_.tolist()) == sorted(problem.true_factors)
    assert selector.p_values_[selector.support_].max() < 0.02
    assert not selector.indices_.weak.any()


def test_categories_are_found():
    X, y = mixed(rows=500)
    assert set(calibrated().fit(X, y).get_feature_names_out()) == {"size", "load", "make"}


def test_the_same_bits_for_any_number_of_threads():
    X, y = friedman(rows=300)
    one, two = (calibrated(n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.importances_, two.importances_)
    np.testing.assert_array_equal(one.p_values_, two.p_values_)
    assert str(one.path_) == str(two.path_)


def test_order_of_columns_units_and_a_constant_change_nothing():
    X, y = friedman(rows=300)
    plain = calibrated().fit(X, y)
    turned = calibrated().fit(X[:, ::-1], y)
    np.testing.assert_array_equal(turned.support_[::-1], plain.support_)
    np.testing.assert_allclose(turned.p_values_[::-1], plain.p_values_, rtol=1e-2, atol=1e-9)
    other = calibrated().fit(np.column_stack([X * 7 - 2, np.ones(300)]), 1e5 - 30 * y)
    np.testing.assert_array_equal(other.support_, [*plain.support_, False])


def test_any_increasing_transformation_of_the_response_selects_the_same():
    X, y = friedman(rows=300)
    plain, other = (calibrated().fit(X, values) for values in (y, np.exp(y / 4)))
    np.testing.assert_array_equal(other.support_, plain.support_)
    np.testing.assert_array_equal(other.p_values_, plain.p_values_)


def test_names_of_classes_change_nothing():
    X, y = problems.ishigami.sample(300, 4, classes=True, seed=0)
    plain, other = (calibrated().fit(X, values) for values in (y, np.where(y, "no", "yes")))
    np.testing.assert_array_equal(other.support_, plain.support_)


def test_large_tables_are_judged_by_some_of_their_rows():
    X, y = friedman(rows=6000)
    selector = calibrated().fit(X, y)
    assert sorted(selector.selected_.tolist()) == [0, 6, 7, 8, 9]
    assert selector.indices_.n_rows == 6000


def test_rare_classes_of_large_tables_are_not_overlooked():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(20_000, 4))
    y = rng.uniform(size=20_000) < 0.02 * X[:, 1] ** 4
    assert y.sum() < 100
    selector = calibrated().fit(X, y)
    assert selector.selected_[0] == 1
    assert selector.path_.n_rows == 1500


def test_outer_rows_are_the_rows_that_judge():
    X, y = friedman(rows=1000)
    few = calibrated(n_outer=60).fit(X, y)
    assert few.path_.n_rows == 60
    assert few.support_.sum() < calibrated().fit(X, y).support_.sum()


def test_the_path_tells_the_evidence():
    X, y = friedman(rows=500, factors=30)
    path = calibrated().fit(X, y).path_
    forward = [step for step in path.steps if step.phase == "forward"]
    assert all(step.p_value <= 0.1 for step in forward[:-1])
    assert forward[-1].p_value > 0.1
    assert max(len(step.candidates) for step in forward) == 8
    frame = path.to_frame()
    assert frame["p_value"].notna().all()
    assert "p_value" not in FIRST().fit(X, y).path_.to_frame()


def test_many_candidates_are_looked_at_by_their_tenth_and_in_the_order_of_the_table():
    X, y = friedman(rows=150, factors=120)
    for step in calibrated().fit(X, y).path_.steps:
        if step.phase == "forward":
            assert len(step.candidates) == 12
            assert list(step.candidates) == sorted(step.candidates)


def test_steps_start_from_nothing_explained_and_no_chance_is_0():
    X, y = friedman(rows=150)
    steps = calibrated().fit(X, y).path_.steps
    assert steps[0].base_explained == pytest.approx(0, abs=1e-12)
    assert all(step.p_value >= 1 / 200 for step in steps if step.phase == "forward")


def test_a_small_alpha_still_finds_one_of_many():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 100))
    selector = calibrated(alpha=0.01).fit(X, X[:, 17] + 0.2 * rng.normal(size=150))
    assert selector.selected_.tolist() == [17]


def test_the_best_of_many_factors_is_compared_with_the_best_of_as_many():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 80))
    steps = calibrated().fit(X, X[:, 17]).path_.steps
    assert len(steps[0].candidates) == 8
    assert steps[0].p_value == pytest.approx(1 - (1 - 1 / 200) ** 10)  # above all of 199 draws of a tenth of them


def test_noise_is_above_few_draws_no_more_often_than_by_chance(monkeypatch):
    monkeypatch.setattr("firstfactor.selection.calibrated.DRAWS", 3)
    chances = [calibrated(alpha=0.6).fit(*noise("numbers", seed, rows=60)).path_.steps[0].p_value for seed in range(40)]
    assert min(chances) == 0.25
    assert np.mean(np.array(chances) == 0.25) < 0.5  # above all three: 0.25 of them


def test_a_response_that_is_foretold_exactly_leaves_nothing_to_draw():
    group = np.arange(120) % 3
    X = pd.DataFrame({"group": np.array(list("abc"))[group], "x": np.random.default_rng(0).normal(size=120)})
    assert calibrated().fit(X, group**2).selected_.tolist() == [0]


def test_those_that_stay_share_alpha():
    sizes = []
    for seed in range(20):
        X, y = noise("numbers", seed, rows=60)
        selector = calibrated(alpha=0.6).fit(X, y)
        sizes.append(selector.support_.sum())
        assert (selector.p_values_[selector.support_] <= 0.6 / max(sizes[-1], 1)).all()
    assert max(sizes) > 1


def test_factors_left_out_claim_no_gain():
    """What one would have added to fewer factors, or to ranks, is no gain beyond those selected."""
    X, y = friedman(rows=500, factors=30)
    found = calibrated().fit(X, y).indices_
    assert found.path.steps[0].explained.max() > 0.2
    assert {found.why_left_out(i) for i in found.left_out.tolist()} == {"adds no more than chance would"}


def test_a_factor_without_measurable_importance_stays_selected():
    found = [calibrated(estimator="nearest").fit(*problems.friedman.sample(400, 10, 0.9, seed=s)) for s in range(6)]
    without = [f for f in found if (f.importances_[f.support_] == 0).any()]
    assert without, "the seeds no longer show the case"
    for selector in without:
        assert selector.transform(np.zeros((2, 10))).shape[1] == selector.selected_.size == selector.support_.sum()


def test_normal_scores_keep_ties_and_order():
    scores = normal_scores(np.array([5.0, 1.0, 5.0, 1e9]))
    assert scores[0] == scores[2]
    assert scores[1] < scores[0] < scores[3] < 2
    assert abs(scores.mean()) < 1e-12
    assert abs(normal_scores(np.array([1.0, 1.0, 1.0, 5.0])).mean()) < 1e-12
    np.testing.assert_allclose(normal_scores(np.array([7.0, 3.0, 7.0, 3.0])), norm.ppf([0.75, 0.25] * 2))


@pytest.mark.parametrize("shape", [0.7, 5.0, 1e7])
def test_chances_beyond_the_draws_are_those_of_their_distribution(shape):
    draws = np.random.default_rng(0).gamma(shape, size=200_000)
    for value in gamma.isf([0.9, 0.3, 0.01], shape):
        assert chance_above(value, draws) == pytest.approx(gamma.sf(value, shape), rel=0.1)
    assert chance_above(-10 * shape, draws) == 1


def test_gains_of_draws_equal_those_in_plain_algebra():
    X, y = friedman(rows=200)
    with open_variances(X, y, Options()) as variances:
        local = LocalLinear(variances.search, [0, 6])
        fits = local.fit(np.arange(200))
        units = np.eye(200)[:, :, None]
        unit_errors = np.array(
            [local.errors(unit, np.arange(200)).values[:, :, 0] for unit in units]
        )  # (unit, band, row)
    draws = np.random.default_rng(0).normal(size=(200, 4)).astype(np.float32)
    squares = fits.mean_squares(draws[:, None], np.ones(200))
    for band in range(len(BANDS)):
        residuals = unit_errors[:, band].T @ draws.astype(float)
        np.testing.assert_allclose(squares[band], np.mean(residuals**2, axis=0), rtol=1e-5)


def test_all_outputs_of_a_row_and_all_rows_of_a_group_have_the_same_sign(monkeypatch):
    seen = []
    mean_squares = Fits.mean_squares
    monkeypatch.setattr(Fits, "mean_squares", lambda self, draws, w: seen.append(draws) or mean_squares(self, draws, w))
    X, y = friedman(rows=120)
    y = np.column_stack([y, X[:, 1] + np.random.default_rng(0).normal(size=120)])
    for groups in (None, np.arange(120) % 30):
        seen.clear()
        calibrated().fit(X, y, groups=groups)
        same = seen[0][:, :, 2:] == seen[0][:, :, 1:2]  # the fit plus or minus the residual
        assert (same[:, 0] == same[:, 1]).all()
        assert 0.4 < same.mean() < 0.6
        assert (same[:30] == same[30:60]).all() == (groups is not None)
        assert len({row.tobytes() for row in same}) == (120 if groups is None else 30)


def test_outputs_keep_their_shares_of_the_variance_as_normal_scores():
    X, y = friedman(rows=200)
    y = np.column_stack([np.exp(y), X[:, 1]])
    assert calibrated(output_weights=[0, 1]).fit(X, y).selected_.tolist() == [1]
    assert calibrated(output_weights=[3, 1]).fit(X, y).path_.response_variance == pytest.approx(1, rel=0.01)


@pytest.mark.parametrize("rows", [3, 4, 8])
def test_tiny_tables_select_nothing(rows):
    rng = np.random.default_rng(0)
    assert not calibrated(alpha=0.05).fit(rng.normal(size=(rows, 3)), rng.normal(size=rows)).support_.any()


def test_more_factors_than_rows_are_fine():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 200))
    selector = calibrated().fit(X, X[:, 17] + 0.2 * rng.normal(size=60))
    assert selector.selected_.tolist() == [17]


def test_fewer_rows_than_neighbours_are_no_crash():
    """In a process of its own, as a crash would end the tests; what ran last was printed last."""
    done = run_script("""
        import numpy as np
        from firstfactor import FIRST, stability
        from firstfactor.selection import calibrated

        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(200, 12)), rng.normal(size=200)  # more candidates than are looked at closely
        for n_rows, options in [
            (200, {"n_neighbors": 100, "n_outer": 99}),
            (32, {"n_neighbors": 10, "n_outer": 5}),
            (60, {"split": True, "n_outer": 4}),
            (60, {"split": True, "n_outer": 1}),
        ]:
            print(options, flush=True)
            FIRST(rule="calibrated", **options).fit(X[:n_rows], y[:n_rows])
        print("halves", flush=True)
        half = FIRST(rule="calibrated", n_outer=0.05)
        stability(X[:60], y[:60] > 0, selector=half, n_pairs=2, random_state=0)
        print("fewer rows than neighbours to judge by", flush=True)
        calibrated.MAX_ROWS = 100
        FIRST(rule="calibrated", n_neighbors=150).fit(X, y)
    """)
    assert done.endswith("to judge by\n")


def test_more_outer_rows_than_it_takes_to_judge_cost_nothing():
    X, y = friedman(rows=4000)
    for n_outer in (0.9, 4000, None):
        assert calibrated(n_outer=n_outer).fit(X, y).path_.n_rows == 1500


def test_rows_that_judge_may_vary_less_than_all():
    X = np.zeros((40, 9))
    X[0], y = 1.0, np.r_[5.0, np.zeros(39)]
    for table in (X, np.column_stack([X, np.arange(40)])):
        for seed in range(3):
            selector = FIRST(rule="calibrated", n_outer=4, random_state=seed).fit(table, y)
            assert not selector.support_.any()
            assert str(selector.path_)


@pytest.mark.filterwarnings("error")
def test_draws_that_do_not_differ_say_nothing_but_above_or_not():
    assert chance_above(1.0, np.zeros(20)) == 0.0
    assert chance_above(0.0, np.zeros(20)) == 1.0
