"""Nothing that is shown contradicts itself: shares, intervals, p-values, ceilings and what is said about them."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from firstfactor import FIRST, problems, total_indices
from firstfactor.cli.commands import app
from firstfactor.results.formats import percent
from firstfactor.results.wording import (
    say_bias,
    say_ceiling,
    say_disagreement,
    say_no_evidence,
    say_no_p_values,
    say_no_shares,
    say_rows_judged,
)

OPTIONS = [{}, {"split": True}, {"rule": "calibrated"}, {"variance_estimator": "extrapolated"}, {"n_outer": 0.4}]


def heavy(seed, rows=40):
    """A few rows with a response of which a few values are most of the variance."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    return X, np.exp(2 * rng.normal(size=rows)) * np.where(X[:, 0] * X[:, 1] > 0, 1.0, 3.0)


@pytest.mark.parametrize("options", OPTIONS)
def test_what_is_shown_is_possible(options):
    raw, unexplained = [], []
    for seed in range(60):
        found = FIRST(random_state=seed, **options).fit(*heavy(seed)).indices_
        raw.append(found.values.max())
        unexplained.append(found.r2_ceiling == 0)
        assert ((found.shares >= 0) & (found.shares <= 1)).all()
        assert 0 <= found.r2_ceiling <= 1
        assert found.explained_variance >= 0
        assert found.explained_variance <= found.response_variance
        for level in (0.5, 0.95):
            low, high = found.interval(level)[found.support].T
            assert ((low >= 0) & (high <= 1)).all()
            assert ((low <= found.shares[found.support]) & (found.shares[found.support] <= high)).all()
            least, most = found.r2_interval(level)
            assert 0 <= least <= found.r2_ceiling <= most <= 1
    if "rule" not in options:
        assert max(raw) > 1.01, "the seeds no longer show the case"
    assert any(unexplained), "the seeds no longer show the case"


def test_a_ceiling_that_may_be_nothing_has_no_known_shares():
    found = next(f for s in range(60) if (f := FIRST().fit(*heavy(s)).indices_).r2_interval()[0] == 0)
    assert not found.has_shares
    assert found.interval()[found.support].tolist() == [[0.0, 1.0]] * found.selected.size
    assert say_no_shares(found).startswith("The ceiling may be 0.")
    sure = FIRST().fit(*problems.friedman.sample(500, seed=0)).indices_
    assert sure.has_shares and say_no_shares(sure) == ""


def test_formula_and_display_differ_only_where_the_formula_leaves_the_possible():
    found = next(f for s in range(60) if (f := FIRST().fit(*heavy(s))).importances_.max() > 1.5)
    assert found.indices_.shares.max() == 1
    assert float(found.indices_.to_frame()["importance"].max()) == 1
    assert f"{found.importances_.max():.4f}" not in str(found.indices_)
    plain = FIRST().fit(*problems.friedman.sample(500, seed=0))
    np.testing.assert_array_equal(plain.importances_, plain.indices_.shares)


# --- the ceiling ------------------------------------------------------------------------------------------------------


def made_up(ceiling=0.87, error=0.02, estimator="extrapolated", **others):
    """All ten factors of a table, with a ceiling that is made up."""
    found = total_indices(*problems.friedman.sample(60, seed=0), uncertainty=True)
    sure = None if error is None else replace(found.uncertainty, r2=error, r2_bias=0.0)
    made = {"uncertainty": sure, "estimator": estimator, "response_variance": 4.0, "noise_variance": 4 * (1 - ceiling)}
    return replace(found, **made, **others)


def test_a_ceiling_has_both_ends_of_its_interval_in_the_sentence():
    assert say_ceiling(made_up(), "cost") == (
        "From all 10 factors together, models can explain about 87 % (95 % interval 83–91 %) of the variance of cost."
    )


@pytest.mark.parametrize(
    ("ceiling", "error", "ends"),
    [
        (0.95, 0.05, " (95 % interval 85 % to all)"),
        (0.05, 0.05, " (95 % interval 0–15 %)"),
        (0.5, 0.0, ""),
        (0.5, np.nan, ""),
        (0.5, None, ""),
    ],
)
def test_ends_that_say_nothing_or_are_not_known_are_not_claimed(ceiling, error, ends):
    sentence = say_ceiling(made_up(ceiling, error), "y")
    shown = f"{percent(ceiling)}{ends}"
    assert sentence == f"From all 10 factors together, models can explain about {shown} of the variance of y."


def test_a_ceiling_that_the_rows_cannot_tell_is_no_number():
    sentence = "From all 10 factors together, these rows cannot tell how much of the variance of y models can explain."
    assert say_ceiling(made_up(0.69, 0.5), "y") == sentence
    assert "%" in say_ceiling(made_up(0.69, 0.2), "y")


def test_a_ceiling_near_1_is_told_by_one_bound():
    sentence = "From all 10 factors together, models can explain more than 99.9 % of the variance of y."
    assert say_ceiling(made_up(0.99999, 1e-6), "y") == sentence
    assert "interval 99.8" in say_ceiling(made_up(0.999, 0.0004), "y")


def test_the_ceiling_from_nearest_rows_is_no_bound():
    for error in (0.02, None):
        assert say_ceiling(made_up(error=error, estimator="nearest"), "y") == (
            "From all 10 factors together, models can explain about 87 % of the variance of y, or more: the estimate "
            "from nearest neighbours is too low."
        )


def test_all_and_nothing():
    assert (
        say_ceiling(made_up(1.0, None), "y")
        == "From all 10 factors together, models can explain all of the variance of y."
    )
    assert "about 99.7 % of" in say_ceiling(made_up(0.997, None), "y")
    nothing = "In 60 rows, nothing of the variance of y seems to be explained by all 10 factors together."
    assert say_ceiling(made_up(-0.1, None), "y") == nothing


def test_the_ceiling_is_that_of_the_selected_factors():
    X, y = problems.friedman.sample(300, seed=0)
    found = FIRST(rule="calibrated", random_state=0).fit(X, y).indices_
    low, high = found.r2_interval()
    assert say_ceiling(found, "y").startswith(
        f"From the {found.selected.size} selected factors, models can explain about "
    )
    interval = f" (95 % interval {percent(low).removesuffix(' %')}–{percent(high)}) of the variance of y."
    assert say_ceiling(found, "y").endswith(interval)
    nearest = FIRST(split=True, random_state=0).fit(X, y).indices_
    assert say_ceiling(nearest, "y").endswith("of y, or more: the estimate from nearest neighbours is too low.")
    one = FIRST(max_factors=1).fit(X, y).indices_
    assert say_ceiling(one, "y").startswith("From the selected factor, models")


def test_the_ceiling_of_factors_that_chance_may_have_selected_is_no_bound_on_either_side():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 12)), rng.normal(size=120)
    sentence = say_ceiling(FIRST().fit(X, y).indices_, "y")
    assert sentence.endswith("; the estimate is too low for true factors, and too high for factors selected by chance.")
    assert "or more" not in sentence
    found = FIRST(variance_estimator="extrapolated").fit(*problems.friedman.sample(300, seed=0)).indices_
    assert f" (at most {percent(found.r2_interval()[1])}) of" in say_ceiling(found, "y")


def test_far_neighbours_lower_a_ceiling_if_the_factors_matter():
    X, y = problems.friedman.sample(500, seed=0)
    start = "If these factors matter, the true ceiling is higher, by "
    assert say_bias(FIRST().fit(X, y).indices_, "Go on.").startswith(start)
    found = say_bias(total_indices(X[:, [0, 6, 7, 8, 9]], y), "Go on.")
    assert found.startswith("The true ceiling is probably higher, by ") and found.endswith("too far apart. Go on.")


def test_nothing_selected_is_said_plainly():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(100, 3)), rng.normal(size=100)
    found = FIRST(rule="calibrated", alpha=0.05, random_state=0).fit(X, y).indices_
    assert (
        say_ceiling(found, "y")
        == "In 100 rows, there is not enough evidence that y depends on any factor (alpha = 0.05)."
    )
    found = FIRST().fit(np.arange(30.0)[:, None], np.tile([0.0, 1.0, 0.5], 10)).indices_
    assert say_ceiling(found, "y") == "In 30 rows, no factor explains anything of the variance of y."
    assert say_no_evidence(found) == say_no_p_values(found) == ""


def test_classes_have_a_brier_score():
    X, y = problems.friedman.sample(200, seed=0, classes=True)
    found = total_indices(X, np.where(y == 1, "yes", "no"))
    left = found.response_variance - found.explained_variance
    assert f" of sold (yes = 1, no = 0; a Brier score of {left:.3g}), or more" in say_ceiling(found, "sold")
    assert f" of sold (a Brier score of {left:.3g}), or more" in say_ceiling(total_indices(X, y.astype(int)), "sold")


# --- evidence ---------------------------------------------------------------------------------------------------------


def test_what_the_paper_s_rule_selects_is_no_evidence():
    X, y = problems.friedman.sample(200, seed=0)
    plain, split, calibrated = (
        FIRST(random_state=0, **options).fit(X, y).indices_ for options in ({}, {"split": True}, {"rule": "calibrated"})
    )
    assert say_no_evidence(plain).endswith("even from pure noise, so a selection by it is no evidence.")
    assert say_no_evidence(split).endswith("is no evidence; p-values from the other half of the rows are.")
    assert say_no_p_values(plain).startswith("No p-values: ")
    assert say_no_p_values(split) == say_no_p_values(calibrated) == say_no_evidence(calibrated) == ""
    assert say_no_evidence(total_indices(X, y, uncertainty=True)) == ""
    assert "so a selection by this rule is no evidence" in " ".join(FIRST.__doc__.split())


def test_a_small_p_beside_an_interval_that_reaches_0_is_explained():
    found = []
    for seed in range(15):
        X, y = problems.friedman.sample(120, seed=seed)
        result = FIRST(rule="calibrated", random_state=0).fit(X, y).indices_
        low = np.where(result.standard_errors > 0, result.interval()[:, 0], np.nan)
        disagrees = result.has_shares and ((low > 0) != (result.p_values <= 0.05))[result.support & (low >= 0)].any()
        assert bool(say_disagreement(result)) == disagrees
        found.append(disagrees)
    assert any(found), "the seeds no longer show the case"
    assert not all(found), "the seeds no longer show the other case"


def test_factors_dropped_early_claim_no_gain_from_then():
    X, y = problems.friedman.sample(300, seed=0)
    found = FIRST(forward="fast").fit(X, y).indices_
    last = [step for step in found.path.steps if step.phase == "forward"][-1]
    early = [i for i in found.left_out.tolist() if i not in last.candidates and i not in found.path.removed]
    assert early, "the seed no longer shows the case"
    assert {found.why_left_out(i) for i in early} == {"did not help when last tried"}
    assert all(gain <= 0 for i, gain in found.path.last_gains.items() if i not in last.chosen)


def test_fewer_rows_to_select_on_are_said():
    X, y = problems.friedman.sample(300, seed=0)
    few = FIRST(rule="calibrated", n_outer=100, random_state=0).fit(X, y).indices_
    assert say_rows_judged(few) == "Factors were selected on 100 rows, drawn at random."
    for options in ({"rule": "calibrated"}, {}, {"rule": "calibrated", "split": True}):
        assert say_rows_judged(FIRST(random_state=0, **options).fit(X, y).indices_) == ""
    averaged = "Importances and the ceiling come from 100 rows, drawn at random."
    assert say_rows_judged(FIRST(random_state=0, n_outer=100).fit(X, y).indices_) == averaged
    assert say_rows_judged(total_indices(X, y)) == ""


@pytest.mark.parametrize("level", [0, 1, 1.0, -0.1, 1.5, "high"])
def test_levels_of_intervals_lie_between_0_and_1(level):
    found = FIRST().fit(*problems.friedman.sample(50, seed=0))
    with pytest.raises(ValueError, match="level must be a number"):
        found.interval(level)


@pytest.mark.parametrize("options", [(), ("--split",), ("--rule", "calibrated"), ("--n-outer", "1")])
def test_files_hold_what_is_possible(tmp_path, options):
    seed = next(s for s in range(60) if FIRST().fit(*heavy(s)).importances_.max() > 1.5)
    X, y = heavy(seed)
    rows = "\n".join(",".join(map(repr, map(float, row))) for row in np.column_stack([X, y]))
    (tmp_path / "heavy.csv").write_text(f"a,b,c,d,y\n{rows}\n")
    command = ["rank", str(tmp_path / "heavy.csv"), "-t", "y", "--json", str(tmp_path / "out.json"), *options]
    run = CliRunner().invoke(app, command)
    assert run.exit_code == 0, run.output
    written = json.loads((tmp_path / "out.json").read_text())
    assert 0 <= written["r2_ceiling"] <= 1
    for row in written["factors"]:
        assert 0 <= row["importance"] <= 1
        if row["low"] is not None:
            assert 0 <= row["low"] <= row["importance"] <= row["high"] <= 1
