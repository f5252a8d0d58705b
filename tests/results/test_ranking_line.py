"""Lines of the ranking, and what JSON and CSV files hold of them."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from firstfactor.findings.finding import Finding
from firstfactor.ranking import rank
from firstfactor.results.indices import ranking_lines


@pytest.fixture(scope="module")
def ranking():
    """Two factors of which either will do, one more that matters, noise and a constant."""
    rng = np.random.default_rng(0)
    X = pl.DataFrame(rng.normal(size=(400, 5)), schema=["size", "other size", "speed", "noise", "flat"])
    X = X.with_columns(pl.lit(1.0).alias("flat"), (pl.col("size") + 0.05 * pl.col("other size")).alias("other size"))
    return rank(X.with_columns(y=2 * X["size"] + X["speed"] + 0.1 * rng.normal(size=400)), "y")


def test_each_factor_has_one_place(ranking):
    indices = ranking.indices
    lines = ranking_lines(indices)
    assert [line.rank for line in lines] == [1, 2, None, None]
    assert sorted(i for line in lines for i in line.factors) == [0, 1, 2, 3, 4]
    assert {line.name for line in lines[:2]} & {"speed"}
    several = next(line for line in lines if line.is_cluster)
    assert {member.name for member in several.members} == {"size", "other size"}
    assert several.name in ("size or other size", "other size or size")
    assert several.short_name == f"{several.name.split(' or ')[0]} or 1 other"
    assert several.alone == max(member.alone for member in several.members)
    assert tuple(member.kept for member in several.members) == several.cluster.kept
    assert min(several.cluster.kept) > 0.9
    assert [line.name for line in lines[2:]] == ["noise", "flat"] and lines[3].reason == "constant"
    left_out = next(member for member in several.members if not member.selected)
    assert left_out.importance_text == "–" and left_out.shown_interval is None
    assert left_out.reason.startswith("stands in for ") and left_out.is_substitute
    assert left_out.reason == indices.why_left_out(left_out.factors[0])


def test_a_line_has_the_estimates_of_its_factor(ranking):
    indices = ranking.indices
    speed = next(line for line in indices.drivers if line.name == "speed")
    (i,) = speed.factors
    assert (speed.importance, speed.standard_error) == (indices.shares[i], indices.standard_errors[i])
    assert (speed.p_value, speed.interval) == (indices.p_values[i], tuple(indices.interval()[i]))
    assert speed.interval_text == f"({speed.interval[0]:.3f}–{speed.interval[1]:.3f})"
    with pytest.warns(FutureWarning, match="use importance"):
        assert speed.lost == speed.importance


def test_the_order_is_the_same_in_files_and_in_the_terminal(ranking):
    lines = [each for line in ranking_lines(ranking.indices) for each in line.members or (line,)]
    left_out = [line.name for line in lines if not line.selected]
    rows = json.loads(ranking.to_json())["factors"]
    assert [row["factor"] for row in rows if not row["selected"]] == left_out
    assert [row["rank"] for row in rows] == sorted(row["rank"] for row in rows)


def test_files_hold_what_factors_share(ranking):
    indices, written = ranking.indices, json.loads(ranking.to_json())
    (cluster,) = written["clusters"]
    (found,) = indices.sharing.clusters
    low, high = found.interval()
    assert cluster == {
        "factors": list(found.factors),
        "joint": found.joint,
        "standard_error": found.standard_error,
        "low": low,
        "high": high,
        "representative": found.factors[0],
        "kept": list(found.kept),
        "dependence": found.dependence,
        "any_will_do": found.interchangeable,
    }
    assert written["tree"]["leaves"] == [indices.names[i] for i in indices.sharing.tree.leaves]
    assert written["tree"]["nodes"][-1]["factors"] == [indices.names[i] for i in indices.sharing.tree.order]
    for row in written["factors"]:
        i = indices.names.index(row["factor"])
        assert row["alone"] == indices.sharing.alone.values[i]
        assert row["explanation"].startswith(row["factor"])
    rows = list(csv.DictReader(io.StringIO(ranking.to_csv())))
    assert {row["factor"]: float(row["alone"]) for row in rows} == {
        row["factor"]: row["alone"] for row in written["factors"]
    }
    assert {row["alone_standard_error"] for row in rows if row["factor"] == "flat"} == {""}


def related(selected, *findings):
    """The lines of a ranking of four factors, with the names of those selected and findings on functions."""
    rng = np.random.default_rng(0)
    X = pl.DataFrame(rng.normal(size=(100, 4)), schema=["agesq", "age", "agelog", "height"])
    found = rank(X.with_columns(y=pl.Series(rng.normal(size=100))), "y", method="total", leaks="keep")
    kept = tuple(found.indices.names.index(name) for name in selected)
    values = np.where(np.isin(range(4), kept), [0.4, 0.3, 0.2, 0.1], 0.0)
    indices = replace(found.indices, kept=kept, values=values, sharing=None, findings=findings)
    return replace(found, indices=indices)


SQUARE = Finding("function", "agesq and agelog are functions of age.", ("agesq", "agelog"), sources=("age",))


@pytest.mark.parametrize(
    ("selected", "names", "named"),
    [
        (["age", "height"], ["age (agesq and agelog are functions of it)", "height"], "age"),
        (["agesq", "height"], ["age (by agesq)", "height"], "age (by agesq)"),
        (["age", "agesq"], ["agesq (a function of age)", "age (agelog is a function of it)", "height"], "agesq"),
        (["height"], ["height", "age (by agesq)"], "height"),
    ],
    ids=["plain", "derived", "both", "neither"],
)
def test_functions_of_a_factor_are_named_with_it_once(selected, names, named):
    ranking = related(selected, SQUARE)
    lines = ranking_lines(ranking.indices)
    assert [line.name for line in lines] == names and lines[0].names == (named,)
    assert [line.name for line in ranking_lines(related(selected).indices) if line.selected] == [
        ranking.indices.names[i] for i in ranking.indices.selected
    ]
    rows = json.loads(ranking.to_json())["factors"]
    assert sorted(row["factor"] for row in rows) == ["age", "agelog", "agesq", "height"]  # none is lost in files
    assert [row["importance"] for row in rows if row["selected"]] == [
        line.importance for line in lines if line.selected
    ]


def test_a_total_of_several_factors_keeps_its_line():
    total = Finding("function", "height is a function of age and agesq.", ("height",), sources=("age", "agesq"))
    assert len(ranking_lines(related(["age"], total).indices)) == 4


def test_a_short_name_has_functions_in_brackets():
    first, *_ = ranking_lines(related(["age", "height"], SQUARE).indices)
    assert first.short_name == "age (and agesq and agelog)"
    assert [(one.name, one.reason) for one in first.same] == [
        ("agesq", "is a function of age"),
        ("agelog", "is a function of age"),
    ]


def test_what_is_shown_but_small_says_so():
    line = related(["age"]).indices.drivers[0]
    small = replace(line, importance=0.0, p_value=0.001, weak=False)
    assert small.marks == ["shown, but small or shared"]
    for near_miss in ({"importance": 0.001}, {"p_value": 0.02}, {"p_value": None}, {"selected": False}):
        assert not replace(small, **near_miss).marks


def test_an_interval_of_no_width_is_not_shown(ranking):
    line = ranking.indices.drivers[0]
    assert line.shown_interval == line.interval
    assert replace(line, interval=(0.5, 0.5)).shown_interval is None


def test_the_evidence_for_a_cluster_is_as_weak_as_that_for_its_factors(ranking):
    indices = ranking.indices
    (found,) = indices.sharing.clusters
    unsure = replace(found, standard_error=0.5)
    sharing = replace(indices.sharing, clusters=(unsure,))
    (line,) = [line for line in ranking_lines(replace(indices, sharing=sharing)) if line.is_cluster]
    assert line.interval[0] <= 0 and not line.weak
    p_values = np.full(5, 0.3)
    doubted = replace(indices, sharing=sharing, uncertainty=replace(indices.uncertainty, p_values=p_values))
    (line,) = [line for line in ranking_lines(doubted) if line.is_cluster]
    assert line.weak
