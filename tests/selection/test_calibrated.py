"""The calibrated rule: nothing from noise, no less from what is there, and the evidence for it."""

import numpy as np
import pandas as pd
import pytest
from designs import read_design
from sample_tables import friedman, mixed
from scipy.stats import norm
from scripts import run_script
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

from firstfactor import FIRST, problems
from firstfactor.evidence.candidates import CandidateTest
from firstfactor.evidence.scores import Residuals
from firstfactor.results.drivers import say_drivers
from firstfactor.selection import calibrated as rule

FRIEDMAN = [0, 6, 7, 8, 9]


def calibrated(**parameters):
    return FIRST(rule="calibrated", random_state=0, **parameters)


def selection_of(X, y, **parameters):
    """The selection that the rule itself makes: it tells the evidence for factors left out."""
    found, select = [], rule.CalibratedRule.select
    rows = {name: parameters.pop(name) for name in ("sample_weight", "groups") if name in parameters}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rule.CalibratedRule, "select", lambda *given: found.append(select(*given)) or found[-1])
        calibrated(**parameters).fit(X, y, **rows)
    return found[0]


def selected(selector):
    return sorted(selector.selected_.tolist())


def forward_steps(selector):
    return [step for step in selector.path_.steps if step.phase == "forward"]


def count_selections(tables, **parameters):
    return np.sum([calibrated(**parameters).fit(*table).support_.any() for table in tables])


# --- noise ----------------------------------------------------------------------------------------------


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
        case "outputs":
            y = rng.normal(size=(rows, 3)).cumsum(axis=1)
        case "scales":
            y = y * np.exp(3 * X[:, 0])
    return X, y


@pytest.mark.parametrize("kind", ["numbers", "mixed", "heavy-tailed", "two classes", "counts", "outputs", "scales"])
def test_nothing_is_selected_from_noise_but_rarely(kind):
    """Of noise whose scale depends on a factor neither: nothing is in the mean."""
    assert count_selections(noise(kind, seed) for seed in range(60)) <= 13  # 14 of 60 have a chance of 0.002


def test_the_rule_of_the_paper_selects_from_noise():
    assert np.mean([FIRST().fit(*noise("numbers", seed)).support_.any() for seed in range(5)]) > 0.5


def test_alpha_is_how_often_noise_is_selected():
    strict, lax = (count_selections([noise("numbers", s) for s in range(40)], alpha=alpha) for alpha in (0.02, 0.5))
    assert strict <= 4
    assert 10 <= lax <= 30


def test_noise_of_groups_is_selected_no_more_often():
    def panel(seed):
        rng = np.random.default_rng([seed, 12])
        groups = np.repeat(np.arange(30), 8)
        X = np.column_stack([rng.normal(size=(30, 3))[groups], rng.normal(size=240)])
        return X, 2 * rng.normal(size=30)[groups] + rng.normal(size=240), groups

    tables = [panel(seed) for seed in range(40)]
    with_groups = [calibrated().fit(X, y, groups=groups).support_.any() for X, y, groups in tables]
    without = [calibrated().fit(X, y).support_.any() for X, y, _ in tables]
    assert np.sum(with_groups) <= 10 < 30 < np.sum(without)


def test_noise_with_weights_is_selected_no_more_often():
    def weighted(seed):
        X, y = noise("numbers", seed)
        weights = np.random.default_rng([seed, 13]).exponential(size=len(y)) ** 2
        return X, y / np.sqrt(weights + 0.01), weights

    found = [calibrated().fit(X, y, sample_weight=w).support_.any() for X, y, w in map(weighted, range(40))]
    assert np.sum(found) <= 10


@pytest.mark.slow
def test_beside_what_is_there_noise_is_selected_rarely():
    sizes = [calibrated().fit(*friedman(rows=300, seed=seed)).support_[1:6].sum() for seed in range(30)]
    assert np.sum(np.array(sizes) > 0) <= 8


@pytest.mark.parametrize("rows", [3, 4, 8])
def test_tiny_tables_select_nothing(rows):
    rng = np.random.default_rng(0)
    assert not calibrated(alpha=0.05).fit(rng.normal(size=(rows, 3)), rng.normal(size=rows)).support_.any()


# --- what is there --------------------------------------------------------------------------------------


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
    assert selected(selector) == sorted(problem.true_factors)
    assert selector.p_values_[selector.support_].max() < 0.02
    assert not selector.indices_.weak.any()


def test_categories_are_found():
    found = [set(calibrated().fit(*mixed(rows=500, seed=seed)).get_feature_names_out()) for seed in range(5)]
    assert all(each >= {"size", "load", "make"} for each in found)
    assert sum(each == {"size", "load", "make"} for each in found) >= 4


def test_a_missing_value_that_matters_is_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[rng.uniform(size=(300, 4)) < 0.3] = np.nan
    assert selected(calibrated().fit(X, np.isnan(X[:, 2]) + rng.normal(size=300))) == [2]


def test_exclusive_or_is_found_by_a_pair():
    X = np.random.default_rng(0).uniform(-1, 1, size=(400, 8))
    selector = calibrated().fit(X, X[:, 2] * X[:, 5] > 0)
    assert selected(selector) == [2, 5]
    assert selector.path_.steps[0].chosen == (2, 5)


def test_a_product_of_three_is_found_by_a_three():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 6))
    selector = calibrated().fit(X, X[:, 0] * X[:, 2] * X[:, 5] + 0.5 * rng.normal(size=500))
    assert selected(selector) == [0, 2, 5]
    assert selector.path_.steps[0].chosen == (0, 2, 5)


def test_a_pair_is_found_beside_single_factors():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 8))
    y = X[:, 1] + X[:, 3] * X[:, 6] + 0.5 * rng.normal(size=500)
    assert selected(calibrated().fit(X, y)) == [1, 3, 6]


def test_a_pair_enters_where_it_shows_more_than_a_single_factor():
    """Though the best single one would do: here by chance, and the pair is there."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 5))
    selector = calibrated().fit(X, X[:, 1] * X[:, 3] + 0.3 * rng.normal(size=300))
    assert selector.path_.steps[0].chosen == (1, 3)


def test_a_small_effect_in_many_rows_is_found():
    X, y = friedman(rows=5000)
    effect = np.sqrt(12 * 0.003 * y.var()) * (X[:, 1] - 0.5)
    assert effect.var() == pytest.approx(0.003 * y.var(), rel=0.02)
    assert selected(calibrated().fit(X, y + effect)) == [0, 1, 6, 7, 8, 9]
    assert selected(calibrated().fit(X, y)) == FRIEDMAN


def test_more_factors_than_rows_are_fine():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 200))
    assert selected(calibrated().fit(X, X[:, 17] + 0.2 * rng.normal(size=60))) == [17]


def test_a_small_alpha_still_finds_one_of_many():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 100))
    assert selected(calibrated(alpha=0.01).fit(X, X[:, 17] + 0.2 * rng.normal(size=150))) == [17]


def test_several_outputs_select_what_any_needs():
    X, y = friedman(rows=400)
    other = X[:, 1] + 0.3 * np.random.default_rng(0).normal(size=400)
    assert selected(calibrated().fit(X, np.column_stack([y, other]))) == [0, 1, 6, 7, 8, 9]
    assert selected(calibrated(output_weights=[0, 1]).fit(X, np.column_stack([y, other]))) == [1]


def test_rows_of_no_weight_say_nothing():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 4))
    heavy = np.arange(400) % 2 == 0
    y = np.where(heavy, 3 * X[:, 1], 9 * X[:, 2]) + rng.normal(size=400)
    assert selected(calibrated().fit(X, y, sample_weight=np.where(heavy, 1.0, 1e-9))) == [1]
    assert selected(calibrated().fit(X, y)) == [1, 2]


def test_a_factor_without_measurable_importance_stays_selected():
    found = [
        calibrated(variance_estimator="nearest").fit(*problems.friedman.sample(400, 10, 0.9, seed=s)) for s in range(6)
    ]
    without = [f for f in found if (f.importances_[f.support_] == 0).any()]
    assert without, "the seeds no longer show the case"
    for selector in without:
        assert selector.transform(np.zeros((2, 10))).shape[1] == selector.selected_.size == selector.support_.sum()


# --- what is there exactly ------------------------------------------------------------------------------


def test_a_response_that_is_foretold_exactly_leaves_nothing_to_draw():
    group = np.arange(120) % 3
    X = pd.DataFrame({"group": np.array(list("abc"))[group], "x": np.random.default_rng(0).normal(size=120)})
    selector = calibrated().fit(X, group**2)
    assert selected(selector) == [0]
    assert len(forward_steps(selector)) == 1


def test_a_factor_adds_nothing_to_others_that_foretell_the_response_exactly(monkeypatch):
    """One that is right in most rows comes first, and is not even tested beside the two that are always right."""
    a, b = np.arange(256) % 2, np.arange(256) // 2 % 2
    nearly = (a ^ b) ^ (np.random.default_rng(0).uniform(size=256) < 0.15)
    tested, test_member = [], rule.Candidates.test_member
    monkeypatch.setattr(rule.Candidates, "test_member", lambda *given: tested.append(given[1]) or test_member(*given))
    selector = calibrated().fit(np.column_stack([nearly, a, b]), (a ^ b).astype(float))
    assert selector.path_.steps[0].chosen == (0,)
    assert selected(selector) == [1, 2]
    assert set(tested) == {1, 2}


# --- the same answer ------------------------------------------------------------------------------------


def test_the_same_bits_for_any_number_of_threads():
    for X, y in (friedman(rows=300), friedman(rows=300, factors=120), mixed(rows=300)):
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


@pytest.mark.parametrize("unit", [1e-120, 1e120])
def test_units_of_y_may_be_huge_or_tiny(unit):
    X, y = friedman(rows=300)
    plain, other = (calibrated().fit(X, values) for values in (y, unit * y))
    np.testing.assert_array_equal(other.support_, plain.support_)
    np.testing.assert_allclose(other.p_values_, plain.p_values_, rtol=1e-3)


def test_shifting_scaling_and_reversing_factors_changes_nothing():
    X, y = friedman(rows=300)
    X = X**3  # skewed, so that values far out are drawn in
    plain = calibrated().fit(X, y)
    for other in (70 * X - 3, -X):
        found = calibrated().fit(other, y)
        np.testing.assert_array_equal(found.support_, plain.support_)
        np.testing.assert_allclose(found.p_values_, plain.p_values_, rtol=1e-2, atol=1e-9)


def test_a_unit_of_weights_changes_nothing():
    X, y = friedman(rows=300)
    weights = np.random.default_rng(0).uniform(0.2, 3, size=300)
    plain, other = (calibrated().fit(X, y, sample_weight=w) for w in (weights, 70 * weights))
    np.testing.assert_array_equal(other.support_, plain.support_)
    np.testing.assert_allclose(other.p_values_, plain.p_values_, rtol=1e-3)


def test_names_of_classes_change_nothing():
    X, y = problems.ishigami.sample(300, 4, classes=True, seed=0)
    plain, other = (calibrated().fit(X, values) for values in (y, np.where(y, "no", "yes")))
    np.testing.assert_array_equal(other.support_, plain.support_)


# --- rows that judge ------------------------------------------------------------------------------------


def test_large_tables_are_judged_by_some_of_their_rows(monkeypatch):
    monkeypatch.setattr(rule, "MAX_ROWS", 1500)
    X, y = friedman(rows=6000)
    selector = calibrated().fit(X, y)
    assert selected(selector) == FRIEDMAN
    assert selector.indices_.n_rows == 6000
    assert selector.path_.n_rows == 1500


def test_rare_classes_of_large_tables_are_not_overlooked(monkeypatch):
    monkeypatch.setattr(rule, "MAX_ROWS", 1500)
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(20_000, 4))
    y = rng.uniform(size=20_000) < 0.02 * X[:, 1] ** 4
    assert y.sum() < 100
    selector = calibrated().fit(X, y)
    assert selector.selected_[0] == 1
    assert selector.path_.n_rows == 1500
    assert rule._share_out([np.arange(n) for n in (900, 90, 4000)], 1500) == [705, 90, 705]


def test_all_rows_are_asked_whether_a_factor_stays_only_where_fewer_leave_doubt(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    y = X[:, 0] + X[:, 1] + 0.15 * X[:, 2] + 2 * rng.normal(size=3000)
    whole = calibrated().fit(X, y)
    monkeypatch.setattr(rule, "FEWER_ROWS", 600)
    asked, test_member = [], rule.CalibratedRule._test_member

    def note(self, kept, member):
        asked.append((self._design.n_rows, member))
        return test_member(self, kept, member)

    monkeypatch.setattr(rule.CalibratedRule, "_test_member", note)
    selector = calibrated().fit(X, y)
    assert selected(selector) == selected(whole) == [0, 1, 2]
    assert asked == [(600, 0), (600, 1), (600, 2), (3000, 2)]
    assert selector.indices_.p_values[2] == whole.indices_.p_values[2]
    assert selector.indices_.p_values[:2].max() < 1e-3


def test_more_outer_rows_than_it_takes_to_judge_cost_nothing(monkeypatch):
    monkeypatch.setattr(rule, "MAX_ROWS", 1500)
    X, y = friedman(rows=2000)
    for n_outer in (0.9, 2000, None):
        assert calibrated(n_outer=n_outer).fit(X, y).path_.n_rows == 1500


def test_outer_rows_are_the_rows_that_judge():
    X, y = friedman(rows=1000)
    few = calibrated(n_outer=60).fit(X, y)
    assert few.path_.n_rows == 60
    assert few.support_.sum() < calibrated().fit(X, y).support_.sum()


def test_a_single_outer_row_leaves_it_to_all():
    X, y = friedman(rows=200)
    assert calibrated(n_outer=1).fit(X, y).path_.n_rows == 200


def test_rows_that_judge_may_vary_less_than_all():
    X = np.zeros((40, 9))
    X[0], y = 1.0, np.r_[5.0, np.zeros(39)]
    for table in (X, np.column_stack([X, np.arange(40)])):
        for seed in range(3):
            selector = FIRST(rule="calibrated", n_outer=4, random_state=seed).fit(table, y)
            assert not selector.support_.any()
            assert str(selector.path_)


def test_forced_factors_may_be_constant_in_the_rows_that_judge():
    X, y = friedman(rows=200)
    X[:, 3] = 0.0
    X[0, 3] = 1.0
    for seed in range(3):
        selector = FIRST(rule="calibrated", n_outer=50, forced=[3], random_state=seed).fit(X, y)
        assert selector.support_[3]


def test_fewer_rows_than_neighbours_are_no_crash():
    """In a process of its own, as a crash would end the tests; what ran last was printed last."""
    done = run_script("""
        import numpy as np
        from firstfactor import FIRST, stability
        from firstfactor.selection import calibrated

        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(200, 12)), rng.normal(size=200)
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


# --- the evidence ---------------------------------------------------------------------------------------


def test_the_path_tells_the_evidence():
    X, y = friedman(rows=500, factors=30)
    selector = calibrated().fit(X, y)
    steps = forward_steps(selector)
    assert all(step.chosen for step in steps[:-1]) and not steps[-1].chosen
    assert [len(step.candidates) for step in steps[:2]] == [30, 29]
    assert selector.path_.to_frame()["p_value"].notna().all()
    assert "p_value" not in FIRST().fit(X, y).path_.to_frame()


def test_steps_start_from_nothing_explained_and_tell_what_candidates_explain():
    X, y = friedman(rows=400)
    selector = calibrated().fit(X, y)
    first, second = forward_steps(selector)[:2]
    assert first.base_explained == pytest.approx(0, abs=1e-12)
    assert selector.path_.response_variance == pytest.approx(y.var(ddof=1))
    assert first.chosen[0] == first.candidates[int(np.argmax(first.explained))]
    assert second.base_explained == pytest.approx(first.explained.max(), abs=0.02 * y.var())
    last = forward_steps(selector)[-1]
    assert not last.chosen
    np.testing.assert_allclose(last.explained, last.base_explained, rtol=0.05)


def test_factors_enter_and_stay_at_alpha():
    sizes, refused = [], []
    for seed in range(20):
        selector = calibrated(alpha=0.6).fit(*noise("numbers", seed, rows=60))
        sizes.append(selector.support_.sum())
        assert (selector.p_values_[selector.support_] <= 0.6).all()
        for step in selector.path_.steps:
            if step.phase == "forward":
                assert (step.p_value <= 0.6) == bool(step.chosen)
                refused += [step.p_value] if not step.chosen else []
            elif step.phase == "elimination":
                assert (step.p_value > 0.6) == bool(step.chosen)
    assert max(sizes) > 1 and min(sizes) == 0 and refused


@pytest.mark.parametrize(
    ("of_single", "of_pair", "expected"),
    [(0.01, 0.01, 1 / 75), (0.3, 0.01, 0.04), (0.3, 0.2, 0.4), (0.9, 0.5, 1.0)],
)
def test_single_factors_have_three_quarters_of_alpha_and_sets_the_rest(monkeypatch, of_single, of_pair, expected):
    def fixed(_, candidates):
        deviates = np.full(len(candidates), norm.isf(of_single / len(candidates)))
        return CandidateTest(150, deviates, np.zeros(len(candidates)), np.zeros(0))

    monkeypatch.setattr(rule.Candidates, "test_each", fixed)

    def fixed_pair(_, __, candidates, *___):
        return rule.JointTest(tuple(candidates[:2]), of_pair)

    monkeypatch.setattr(rule, "joint_test", fixed_pair)
    found = calibrated(max_factors=2).fit(*noise("numbers", 0))
    assert found.path_.steps[0].p_value == pytest.approx(expected)


def test_of_many_factors_three_fifths_of_that_are_for_lines_beside_all_others(monkeypatch):
    """Lines of 20 factors fit into 60 rows; of 21, a lasso tells."""
    X, y = np.random.default_rng(0).normal(size=(60, 30)), noise("numbers", 0, rows=60)[1]

    def first_step(alpha, of_single, n_factors):
        def fixed(_, candidates):
            deviates = np.full(len(candidates), norm.isf(of_single / len(candidates)))
            return CandidateTest(60, deviates, np.zeros(len(candidates)), np.zeros(0))

        monkeypatch.setattr(rule.Candidates, "test_each", fixed)
        return calibrated(alpha=alpha, max_factors=2).fit(X[:, :n_factors], y).path_.steps[0]

    monkeypatch.setattr(rule, "joint_test", lambda *_: rule.JointTest((), 1.0))
    monkeypatch.setattr(rule, "distil", lambda *_: {3: 0.001, 7: 0.3, 9: 0.0005})
    assert first_step(0.022, 0.016, 20).chosen == (0,)
    assert first_step(0.022, 0.016, 21).chosen == ()
    assert first_step(0.054, 0.016, 30).chosen == (0,)
    single = first_step(0.049, 0.016, 30)
    assert single.p_value == pytest.approx(0.0005 * 30 / 0.45)
    assert single.chosen == (9,)
    assert first_step(0.065, 0.5, 30).chosen == (9, 3)  # 0.001 times 29, as the other is in
    assert first_step(0.06, 0.5, 30).chosen == (9,)
    assert first_step(0.03, 0.5, 30).chosen == ()


def test_beside_a_base_y_is_not_permuted(monkeypatch):
    seen = []

    def note(regression, *arguments, is_exchangeable):
        seen.append((regression.n_coefficients == 1, is_exchangeable))
        return Residuals(regression, *arguments, is_exchangeable)

    monkeypatch.setattr(rule, "Residuals", note)
    calibrated().fit(*friedman(rows=200))
    assert set(seen) == {(True, True), (False, False)}


def test_p_values_are_those_of_entering_or_of_staying_whichever_are_larger():
    larger = {"entry": 0, "staying": 0}
    for seed in range(4):
        selector = calibrated().fit(*friedman(rows=150, seed=seed))
        last = selector.path_.steps[-1]
        entry = {i: step.p_value for step in forward_steps(selector) for i in step.chosen}
        found = selector.p_values_
        assert all(found[i] >= entry[i] for i in selected(selector))
        worst_that_stays = max(found[i] for i in selected(selector))
        assert worst_that_stays >= last.p_value
        larger["entry"] += sum(found[i] == entry[i] for i in selected(selector))
        larger["staying"] += sum(found[i] > entry[i] for i in selected(selector))
    assert min(larger.values()) > 0


def test_what_others_replace_is_removed():
    """A factor that foretells a little of several others comes first, and goes when they are in."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    mixture = X.sum(axis=1) + 0.5 * rng.normal(size=400)
    selector = calibrated().fit(np.column_stack([X, mixture]), X.sum(axis=1) + 0.5 * rng.normal(size=400))
    assert selector.path_.steps[0].chosen == (3,)
    assert selected(selector) == [0, 1, 2]
    removing = [step for step in selector.path_.steps if step.phase == "elimination"]
    assert [step.chosen for step in removing] == [(3,), ()]


def test_factors_left_out_claim_no_gain():
    """What one would have added to fewer factors is no gain beyond those selected."""
    X, y = friedman(rows=500, factors=30)
    found = calibrated().fit(X, y).indices_
    assert found.path.steps[0].explained.max() > 0.2
    assert all(found.why_left_out(i).startswith("not enough evidence (p = ") for i in found.left_out.tolist())


# --- how many -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_one_factor_at_most_is_no_pair(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 5))
    y = X[:, 1] * X[:, 3] + 0.3 * rng.normal(size=300)
    assert all(len(step.chosen) < 2 for step in calibrated(max_factors=1).fit(X, y).path_.steps)
    assert selected(calibrated(max_factors=2).fit(X, y)) == [1, 3]


def test_no_more_than_the_most_enter_by_a_pair():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(500, 8))
    y = X[:, 1] + X[:, 3] * X[:, 6] + 0.5 * rng.normal(size=500)
    assert selected(calibrated(max_factors=2).fit(X, y)) == [1]
    assert selected(calibrated(max_factors=3).fit(X, y)) == [1, 3, 6]


def test_no_more_than_the_most_enter_by_a_lasso(monkeypatch):
    X, y = np.random.default_rng(0).normal(size=(60, 30)), noise("numbers", 0, rows=60)[1]
    monkeypatch.setattr(rule, "distil", lambda *_: dict.fromkeys(range(5, 12), 1e-6))
    steps = calibrated(max_factors=3).fit(X, y).path_.steps
    assert steps[0].chosen == (5, 6, 7)
    assert next(step for step in steps if step.phase == "elimination").base == (5, 6, 7)


def test_two_factors_at_most_are_a_pair_and_no_three():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 6))
    y = 2 * X[:, 0] * X[:, 1] * X[:, 2] + X[:, 3] * X[:, 4] + 0.5 * rng.normal(size=500)
    assert selected(calibrated(max_factors=2).fit(X, y)) == [3, 4]
    assert selected(calibrated().fit(X, y)) == [0, 1, 2, 3, 4]


def test_forced_factors_are_in_from_the_beginning_and_are_not_judged():
    X, y = friedman(rows=400)
    selector = calibrated(forced=[2, 7], max_factors=3).fit(X, y)
    assert forward_steps(selector)[0].base == (2, 7)
    assert all(2 not in step.candidates and 7 not in step.candidates for step in selector.path_.steps)
    assert {2, 7} < set(selected(selector)) and selector.support_.sum() == 5
    assert np.isnan(selector.p_values_[[2, 7]]).all()
    assert selected(calibrated(forced=[2]).fit(X, np.random.default_rng(1).normal(size=400))) == [2]


def test_forced_factors_that_are_constant_in_the_rows_that_judge_are_no_discoveries():
    X, y = friedman(rows=200)
    X[:, 3] = 0.0
    X[0, 3] = 1.0
    for seed in range(3):
        selector = FIRST(rule="calibrated", control="fdr", n_outer=80, forced=[3], random_state=seed).fit(X, y)
        assert selector.support_[3]
        assert selector.support_.sum() < 8


# --- beside all others ----------------------------------------------------------------------------------


def test_of_the_diabetes_patients_four_factors_are_named():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    assert set(calibrated().fit(X, y).get_feature_names_out()) == {"sex", "bmi", "bp", "s5"}


def proxy_table(seed=0, rows=300):
    """Three factors, one without effect, and one that goes with the sum of the three."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    proxy = X[:, :3].sum(axis=1) + 0.8 * rng.normal(size=rows)
    return np.column_stack([X, proxy]), X[:, :3].sum(axis=1) + rng.normal(size=rows)


def test_after_a_removal_the_search_goes_on():
    """One that stood for others takes the place of one of them, until it goes."""
    selector = calibrated(max_factors=3).fit(*proxy_table())
    phases = [(step.phase, step.chosen) for step in selector.path_.steps]
    assert phases[0] == ("forward", (4,))
    removal = phases.index(("elimination", (4,)))
    assert any(phase == "forward" and chosen for phase, chosen in phases[removal:])
    assert selected(selector) == [0, 1, 2]


def test_one_that_was_removed_is_accounted_for(monkeypatch):
    """Else another could enter that only stands for it."""
    given, test_each = [], rule.CalibratedRule._test_each

    def note(self, residuals, base, candidates):
        given.append((set(base), set(candidates)))
        return test_each(self, residuals, base, candidates)

    monkeypatch.setattr(rule.CalibratedRule, "_test_each", note)
    found = selection_of(*proxy_table(), max_factors=3)
    assert found.kept == (0, 1, 2)
    last_step, left_out = given[-2:]
    assert 4 in last_step[0] and len(last_step[0]) == 3 and not last_step[0] & last_step[1]  # the fifth was removed
    assert left_out[0] == {0, 1, 2, 4} and left_out[1] == {3}


def rule_of(X, y, **parameters):
    """The rule on a table, before it selects."""
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rule.CalibratedRule, "_search", lambda self, *_: seen.append(self) or ((), np.zeros(0), {}))
        calibrated(**parameters).fit(X, y)
    return seen[0]


def test_the_more_related_ones_were_left_out_the_surer_a_factor_must_be(monkeypatch):
    rng = np.random.default_rng(0)
    common = rng.normal(size=300)
    related = common + 0.7 * rng.normal(size=(4, 300))
    copy, others = related[0] + 0.1 * rng.normal(size=300), rng.normal(size=(2, 300))
    ours = rule_of(np.column_stack([*related, copy, *others]), rng.normal(size=300))
    monkeypatch.setattr(rule.Candidates, "test_member", lambda *_: 0.02)
    assert ours._test_beside_left_out(ours._residuals((), (0,)), (), 0) == pytest.approx(0.02 * np.sqrt(1 + 3))
    assert ours._test_beside_left_out(ours._residuals((), (5,)), (), 5) == pytest.approx(0.02)


def test_a_factor_that_only_stands_for_those_left_out_does_not_stay(monkeypatch):
    """Where only one may enter, it is the one that goes with all three; it adds nothing beside them."""
    X, y = proxy_table()
    first = calibrated(max_factors=1).fit(X, y).path_.steps
    assert first[0].chosen == (4,)
    removal = next(step for step in first if step.phase == "elimination")
    assert removal.chosen == (4,) and removal.p_value > 0.1
    monkeypatch.setattr(rule.CalibratedRule, "_test_beside_left_out", lambda *_: 0.0)
    assert selected(calibrated(max_factors=1).fit(X, y)) == [4]


@pytest.mark.parametrize("noise_of_sum", [0.0, 0.01])
def test_a_sum_of_factors_left_out_stays(noise_of_sum):
    """They leave nothing of it to show, so that nothing would be left to select."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 4))
        total = X[:, 0] + X[:, 1]
        X = np.column_stack([X, total + noise_of_sum * rng.normal(size=200)])
        found = set(selected(calibrated().fit(X, total + rng.normal(size=200))))
        assert 4 in found or {0, 1} <= found


@pytest.mark.parametrize("seed", [0, 2])
def test_a_near_copy_that_explains_more_takes_the_place_of_a_factor(seed):
    rng = np.random.default_rng(seed)
    x, z, extra, other = rng.normal(size=(4, 150))
    copy = z + 0.5 * x + 0.15 * extra
    assert np.corrcoef(copy, z)[0, 1] > 0.85
    found = selection_of(np.column_stack([x, z, copy, other]), x + z + rng.normal(size=150))
    assert found.steps[0].chosen == (2,)  # alone it explains most
    (exchange,) = [step for step in found.steps if step.phase == "exchange" and step.chosen]
    assert exchange.chosen == (2, 1)
    assert exchange.base == (0, 2) and exchange.candidates == (1,)
    assert exchange.explained[0] > exchange.base_explained
    assert found.kept == (0, 1)
    entry = next(step.p_value for step in found.steps if 2 in step.chosen)
    assert found.p_values[1] >= entry  # it entered by its copy


def test_one_copy_takes_one_place_only(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=200)
    monkeypatch.setattr(rule.CalibratedRule, "_copies", lambda *given: (2,) if 2 in given[2].owner else ())
    monkeypatch.setattr(rule.CalibratedRule, "_gain", lambda *given: float(given[2] == 2))
    found = selection_of(X, y)
    exchanges = [step for step in found.steps if step.phase == "exchange"]
    assert exchanges[0].chosen == (0, 2)
    assert all(step.chosen != (1, 2) for step in exchanges)


def test_suppressors_show_beside_each_other():
    found = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        common = rng.normal(size=200)
        X = np.column_stack([common, common, *rng.normal(size=(3, 200))]) + 0.5 * rng.normal(size=(200, 5))
        y = X[:, 0] - X[:, 1] + 2 * rng.normal(size=200)
        found += {0, 1} <= set(selected(calibrated().fit(X, y)))
    assert found >= 3


# --- functions of others --------------------------------------------------------------------------------


def test_a_category_that_another_decides_is_never_selected():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        country, effects = rng.integers(0, 12, size=400), rng.normal(size=12)
        names = {"country": [f"country {c}" for c in country], "continent": [f"continent {c // 4}" for c in country]}
        X = pd.DataFrame({**names, "x": rng.normal(size=400)})
        y = country // 4 + effects[country] + X["x"] + rng.normal(size=400)
        for columns in (["country", "continent", "x"], ["continent", "x", "country"]):
            found = selection_of(X[columns], y)
            country_at, continent_at = columns.index("country"), columns.index("continent")
            assert country_at in found.kept and continent_at not in found.kept
            assert found.evidence.functions_of == {continent_at: (country_at,)}
            assert continent_at not in found.evidence.p_values


def test_a_category_that_a_number_decides_is_named_though_no_curve_shows_it():
    rng = np.random.default_rng(0)
    code = rng.integers(0, 30, size=400)
    of_code = rng.integers(0, 2, size=30)[code]
    X = pd.DataFrame({"code": code, "kind": np.array(list("ab"))[of_code], "other": rng.normal(size=400)})
    found = selection_of(X, code / 10 + 3 * of_code + 0.5 * rng.normal(size=400), forced=["code"])
    assert found.kept == (0,)
    assert found.evidence.functions_of == {1: (0,)}
    assert set(found.evidence.p_values) == {2}


def test_a_square_a_sum_and_a_monotone_function_are_named():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x, z, other = rng.normal(size=(3, 400))
        X = pd.DataFrame({"x": x, "z": z, "square": x**2, "sum": x - 2 * z, "exp": np.exp(-x), "other": other})
        found = selection_of(X, x + z + 0.5 * x**2 + rng.normal(size=400), forced=["x", "z"])
        assert found.kept == (0, 1)
        assert found.evidence.functions_of == {2: (0,), 3: (0, 1), 4: (0,)}
        assert set(found.evidence.p_values) == {5}


def test_a_copy_is_no_news():
    X, y = friedman(rows=300)
    found = selection_of(np.column_stack([X, X[:, 0], -2 * X[:, 7]]), y)
    assert set(found.kept) >= {6, 8, 9}
    assert len({0, 10} & set(found.kept)) == len({7, 11} & set(found.kept)) == 1
    assert set(found.evidence.functions_of) == {0, 7, 10, 11} - set(found.kept)


# --- more factors than rows, and false discoveries ------------------------------------------------------


def many_factors(rows, factors, true, r2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, factors))
    effect = X[:, :true].sum(axis=1)
    return X, effect + effect.std() * np.sqrt(1 / r2 - 1) * rng.normal(size=rows)


@pytest.mark.parametrize("control", ["fwer", "fdr"])
def test_five_factors_of_300_are_found_in_100_rows(control):
    assert selected(calibrated(control=control).fit(*many_factors(100, 300, 5, 0.85))) == [0, 1, 2, 3, 4]


@pytest.mark.slow
def test_what_may_be_false_does_not_let_in_more_and_more():
    """A share of those found is allowed to be false, but not the same share again in every round."""
    for seed in range(4):
        found = selected(calibrated(control="fdr").fit(*many_factors(200, 300, 20, 0.95, seed)))
        assert set(found) >= set(range(20)) and len(found) <= 24


def test_where_some_may_be_false_more_are_found():
    X, y = many_factors(200, 300, 20, 0.7)
    strict, lax = (calibrated(control=control).fit(X, y).support_ for control in ("fwer", "fdr"))
    assert strict[:20].sum() + 5 <= lax[:20].sum()
    assert lax[20:].sum() <= 3


def test_twenty_effects_are_found_by_a_lasso(monkeypatch):
    X, y = many_factors(200, 300, 20, 0.95)
    assert selected(calibrated().fit(X, y)) == list(range(20))
    monkeypatch.setattr(rule, "distil", lambda *_: {})
    assert len(selected(calibrated().fit(X, y))) < 15


@pytest.mark.parametrize("control", ["fwer", "fdr"])
def test_noise_of_many_factors_gives_nothing(control):
    tables = [many_factors(60, 150, 0, 1.0, seed) for seed in range(10)]
    noisy = [(X, np.random.default_rng([1, seed]).normal(size=60)) for seed, (X, _) in enumerate(tables)]
    assert count_selections(noisy, control=control) <= 3


@pytest.mark.filterwarnings("error", "ignore::firstfactor.TooFewRowsWarning", "ignore::firstfactor.DataQualityWarning")
def test_many_copies_of_one_factor_are_no_crash():
    rng = np.random.default_rng(0)
    x = rng.normal(size=30)
    assert calibrated().fit(np.column_stack([x] * 12), x + 0.3 * rng.normal(size=30)).support_.sum() == 1


def test_false_discoveries_are_a_share_of_those_that_are_in():
    """With k in, a candidate may be the less sure: its p-value counts (k + candidates) / (k + 1) times."""
    X, y = friedman(rows=150, factors=12)
    test = CandidateTest(150, np.array([1.0, 3.0, 2.0]), np.zeros(3), np.zeros(0))
    fdr, fwer = (rule_of(X, y, control=control) for control in ("fdr", "fwer"))
    assert fdr._adjust(test, 0) == pytest.approx(3 * norm.sf(3))
    assert fdr._adjust(test, 4) == pytest.approx(7 / 5 * norm.sf(3))
    assert fwer._adjust(test, 4) == test.p_value == pytest.approx(3 * norm.sf(3))


# --- evidence for those left out ------------------------------------------------------------------------


def small_table(seed):
    rng = np.random.default_rng([seed, 21])
    X = rng.normal(size=(80, 6))
    return X, X @ [0.6, 0.4, 0.3, 0.0, 0.0, 0.0] + rng.normal(size=80)


@pytest.mark.parametrize("seed", range(10))
def test_every_factor_left_out_has_a_p_value_and_a_larger_alpha_never_selects_fewer(seed):
    X, y = small_table(seed)
    sizes = []
    for alpha in (0.01, 0.1, 0.3, 0.6):
        found = selection_of(X, y, alpha=alpha)
        sizes.append(len(found.kept))
        assert set(found.evidence.p_values) == set(range(6)) - set(found.kept)
        assert set(found.evidence.single_p_values) == set(found.evidence.p_values)
        removed = {i for step in found.steps if step.phase != "forward" for i in step.chosen}
        for i, p in found.evidence.p_values.items():
            assert found.evidence.single_p_values[i] >= 0 and p <= 1
            assert p > alpha or i in removed
    assert sizes == sorted(sizes)


def test_also_of_many_factors_none_is_left_out_with_a_p_value_that_would_do():
    for seed in range(6):
        X, y = many_factors(60, 40, 3, 0.5, seed)
        found = selection_of(X, y)
        removed = {i for step in found.steps if step.phase != "forward" for i in step.chosen}
        assert all(p > 0.1 or i in removed for i, p in found.evidence.p_values.items())


def test_p_values_of_those_left_out_are_given_those_that_are_kept():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[:, 1] = X[:, 0] + 0.7 * X[:, 1]
    found = selection_of(X, X[:, 0] + 0.5 * rng.normal(size=300))
    assert found.kept == (0,)
    assert found.evidence.p_values[1] > 0.1  # alone it would be beyond doubt
    assert selection_of(X[:, 1:], X[:, 0] + 0.5 * rng.normal(size=300)).kept == (0,)


def test_constant_factors_have_no_p_value():
    X, y = small_table(0)
    found = selection_of(np.column_stack([X, np.ones(80)]), y)
    assert 6 not in found.evidence.p_values


def test_nothing_is_left_to_test_where_y_is_foretold_exactly():
    group = np.arange(120) % 3
    X = pd.DataFrame({"group": np.array(list("abc"))[group], "x": np.random.default_rng(0).normal(size=120)})
    found = selection_of(X, group**2)
    assert found.kept == (0,) and found.evidence.p_values == {}


@pytest.mark.parametrize("kind", ["weights", "groups", "outputs", "classes", "missing"])
@pytest.mark.parametrize("factors", [6, 120], ids=["few", "many"])
def test_a_clear_effect_is_found_in_tables_of_any_kind(kind, factors):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, factors))
    y, more = 1.5 * X[:, 2] + 0.5 * rng.normal(size=150), {}
    match kind:
        case "weights":
            more["sample_weight"] = rng.uniform(0.5, 2, size=150)
        case "groups":
            more["groups"] = np.arange(150) // 2
        case "outputs":
            y = np.column_stack([y, rng.normal(size=150)])
        case "classes":
            y = np.array(list("abc"))[np.digitize(y, [-1, 1])]
        case "missing":
            X[rng.uniform(size=X.shape) < 0.1] = np.nan
    found = selection_of(X, y, **more)
    assert 2 in found.kept and len(found.kept) <= 3
    assert len(found.evidence.p_values) + len(found.kept) + len(found.evidence.functions_of) == factors


def test_small_alphas_can_be_reached():
    """The tail of the draws is told also where the best of few candidates is compared."""
    X, y = small_table(1)
    selector = calibrated(alpha=0.001).fit(X, y + 0.5 * X[:, 0])
    assert selected(selector) == [0]
    assert selector.p_values_[0] < 0.0005


@pytest.mark.parametrize(("rows", "factors"), [(3, 8), (6, 40), (30, 60)])
def test_a_handful_of_rows_with_many_factors_has_an_answer(rows, factors):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(rows, factors)), rng.normal(size=rows)
    assert np.isin(calibrated().choose(X, y), [True, False]).all()
    assert np.isfinite(calibrated().fit(X, y).indices_.evidence.rest)


# --- for prediction --------------------------------------------------------------------------------------


def weak_factors(rows=300, factors=30, seed=0):
    """Two clear factors, and twenty weak ones that are much together."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, factors))
    return X, 2 * X[:, 0] - 2 * X[:, 1] + 0.15 * X[:, 2:22].sum(axis=1) + rng.normal(size=rows)


def test_for_prediction_what_helps_a_fit_is_kept_as_well():
    X, y = weak_factors(600)
    train, test = np.arange(600) < 300, np.arange(600) >= 300
    sets = {goal: calibrated(goal=goal).fit(X[train], y[train]) for goal in ("explain", "predict")}
    assert set(selected(sets["explain"])) < set(selected(sets["predict"]))
    errors = {}
    for goal, selector in sets.items():
        fitted = LinearRegression().fit(X[train][:, selector.support_], y[train])
        errors[goal] = np.mean((y[test] - fitted.predict(X[test][:, selector.support_])) ** 2)
    assert errors["predict"] < 0.9 * errors["explain"]
    (step,) = [step for step in sets["predict"].path_.steps if step.phase == "prediction"]
    assert set(step.chosen) == set(selected(sets["predict"])) - set(selected(sets["explain"]))
    assert (sets["predict"].p_values_[list(step.chosen)] > 0.1).all()


def test_what_only_helps_to_predict_is_not_named_as_a_driver():
    X, y = weak_factors()
    selector = calibrated(goal="predict").fit(X, y)
    only = selector.indices_.for_prediction
    assert only and not set(only) & {0, 1}
    said = say_drivers(selector.indices_, "y")
    assert (
        said.startswith(("y depends most on x0 and x1", "y depends most on x1 and x0")) and "For prediction, " in said
    )
    assert "helps to predict, but there is not enough evidence beside " in selector.explain(only[0])
    assert selector.explanations_.reasons[only[0]] == "prediction"
    assert calibrated().fit(X, y).indices_.for_prediction == ()


def test_for_prediction_no_more_are_kept_than_wanted_and_forced_ones_stay():
    X, y = weak_factors()
    selector = calibrated(goal="predict", max_factors=4, forced=[29]).fit(X, y)
    assert {0, 1, 29} <= set(selected(selector)) and selector.support_.sum() == 5
    assert 29 not in selector.indices_.for_prediction


@pytest.mark.parametrize("rows", [{}, {"sample_weight": "weights"}, {"groups": "groups"}], ids=str)
def test_for_prediction_weights_and_groups_count(rows):
    X, y = weak_factors()
    values = {"weights": np.random.default_rng(5).uniform(0.5, 2, size=300), "groups": np.arange(300) // 3}
    selector = calibrated(goal="predict").fit(X, y, **{name: values[which] for name, which in rows.items()})
    assert {0, 1} <= set(selected(selector)) and selector.support_.sum() > 5


@pytest.mark.parametrize("case", ["few rows", "nothing left of y", "no others", "functions of others"])
def test_for_prediction_nothing_is_kept_where_nothing_can_help(case):
    X, y = weak_factors(30 if case == "few rows" else 300, 22)
    if case == "nothing left of y":
        y = 2 * X[:, 0]
    if case == "no others":
        X = X[:, :2]
    if case == "functions of others":
        X = np.column_stack([X[:, :2], np.exp(X[:, 0]), X[:, 0] - 3 * X[:, 1]])
    explain, predict = (selected(calibrated(goal=goal).fit(X, y)) for goal in ("explain", "predict"))
    assert explain == predict


def test_to_predict_goes_with_the_calibrated_rule():
    with pytest.raises(ValueError, match=r"goal='predict' goes with rule='calibrated'; got rule='paper'"):
        FIRST(goal="predict").fit(*noise("numbers", 0))


def test_rows_with_the_same_values_are_judged_together():
    false, found = 0, 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = np.repeat(rng.normal(size=(400, 10)), 5, axis=0)
        y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=2000)
        chosen = set(np.flatnonzero(calibrated().choose(X, y)).tolist())
        false, found = false + bool(chosen - {0, 1, 2}), found + (chosen >= {0, 1, 2})
    assert false <= 2 and found == 8  # of unmodelled products, one row would look like five


def test_few_possible_rows_are_no_groups():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(0, 3, 600), "b": rng.integers(0, 2, 600)}).astype(str)
    assert rule._equal_rows(read_design(X, ["a", "b"])) is None
    distinct = rng.normal(size=(300, 2))
    assert rule._equal_rows(read_design(distinct)) is None
    twice = rule._equal_rows(read_design(np.repeat(distinct, 2, axis=0)))
    assert np.unique(twice).size == 300 and (twice[::2] == twice[1::2]).all()
