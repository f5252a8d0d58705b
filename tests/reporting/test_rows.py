"""Rows of drivers, the lines of the tree beside them, and what JSON and CSV files hold of both."""

import csv
import io
import json

import numpy as np
import polars as pl
import pytest

from firstfactor.ranking import rank
from firstfactor.reporting.rows import Branch, draw_branches, driver_rows, other_factors
from firstfactor.results.explanations import why_left_out
from firstfactor.results.sharing import Node, Tree


@pytest.fixture(scope="module")
def ranking():
    """Two factors of which either will do, one more that matters, noise and a constant."""
    rng = np.random.default_rng(0)
    X = pl.DataFrame(rng.normal(size=(400, 5)), schema=["size", "other size", "speed", "noise", "flat"])
    X = X.with_columns(pl.lit(1.0).alias("flat"), (pl.col("size") + 0.05 * pl.col("other size")).alias("other size"))
    return rank(X.with_columns(y=2 * X["size"] + X["speed"] + 0.1 * rng.normal(size=400)), "y")


def test_each_factor_has_one_place(ranking):
    indices = ranking.indices
    rows = driver_rows(indices)
    assert {rows[0].name, rows[1].name} & {"speed"} and len(rows) == 2
    several = next(row for row in rows if row.members)
    assert {member.name for member in several.members} == {"size", "other size"}
    assert several.name in ("size or other size", "other size or size")
    assert several.short_name == f"{several.name.split(' or ')[0]} or 1 other"
    assert several.alone == max(member.alone for member in several.members)
    assert several.least_kept == min(member.kept for member in several.members) > 0.9
    close, others = other_factors(indices)
    assert close == [] and [indices.names[i] for i in others] == ["noise", "flat"]
    assert why_left_out(indices, others[1]) == "constant"
    left_out = next(member for member in several.members if not member.selected)
    assert left_out.lost_text == "–" and left_out.interval is None
    assert why_left_out(indices, left_out.factors[0]).startswith("stands in for ")


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
        "any_will_do": found.any_will_do,
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


def test_lines_join_those_first_that_share_most():
    nodes = (Node((2, 0), (5, 1), 0.9, 0.5, 0.1), Node((3, 1), (5, 1, 3), 0.5, 0.6, 0.1))
    tree = Tree(tuple("abcdef"), (1, 3, 5), nodes, np.eye(3))
    order, lines = draw_branches(tree, (1, 3, 5))
    assert order == [5, 1, 3]
    inner, outer = 0.15 + 0.7 * 0.4 / 0.5, 0.15
    assert Branch(inner, 0.5, 1.0, 0.5) in lines[5] and Branch(inner, 0.5, inner, 1.0) in lines[5]
    assert Branch(inner, 0.0, inner, 0.5) in lines[1] and Branch(outer, 0.0, inner, 0.0) in lines[1]
    assert Branch(outer, 0.5, 1.0, 0.5) in lines[3] and Branch(outer, 0.0, outer, 0.5) in lines[3]


def test_without_a_node_of_its_own_a_cluster_has_one_line():
    order, lines = draw_branches(None, (4, 2))
    assert order == [4, 2]
    assert lines == {
        4: (Branch(0.4, 0.5, 1.0, 0.5), Branch(0.4, 0.5, 0.4, 1.0)),
        2: (Branch(0.4, 0.5, 1.0, 0.5), Branch(0.4, 0.0, 0.4, 0.5)),
    }
