"""Nothing that is shown contradicts itself: shares, intervals, p-values, ceilings and what is said about them."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from firstfactor import FIRST, problems, total_indices
from firstfactor.cli.commands import app
from firstfactor.results.wording import intervals, say_disagreement, say_no_shares, say_rows_judged

OPTIONS = [{}, {"split": True}, {"rule": "calibrated"}, {"estimator": "extrapolated"}, {"n_outer": 0.4}]


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


def test_a_small_p_beside_an_interval_that_reaches_0_is_explained():
    found = []
    for seed in range(40):
        X, y = problems.friedman.sample(120, seed=seed)
        result = FIRST(rule="calibrated", random_state=0).fit(X, y).indices_
        low = intervals(result)[:, 0]
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
    for options in ({"rule": "calibrated"}, {"n_outer": 100}, {"rule": "calibrated", "split": True}):
        assert say_rows_judged(FIRST(random_state=0, **options).fit(X, y).indices_) == ""
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
