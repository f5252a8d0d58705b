"""What the terminal shows of factors that share information, in any width and encoding."""

import io
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from rich.cells import cell_len

from firstfactor.cli.terminal import Screen, print_result
from firstfactor.ranking import rank
from firstfactor.results.estimates import Estimates
from firstfactor.results.sharing import Cluster, Exchange, Sharing


@pytest.fixture(scope="module")
def ranking():
    """A result that is made up: two factors of which either will do, another one, and some that were left out."""
    rng = np.random.default_rng(0)
    X = pl.DataFrame(rng.normal(size=(200, 12)), schema=["carat", "length", "clarity", *(f"x{j}" for j in range(9))])
    found = rank(X.with_columns(price=X["carat"] + X["clarity"]), "price", forced=["x0"], leaks="keep")
    n = len(found.indices.names)
    known = np.full(n, 0.01)
    values, alone, p_values = np.zeros(n), np.zeros(n), np.full(n, np.nan)
    values[[0, 2, 3]], alone[:4], p_values[[0, 2]] = (0.7, 0.3, 0.002), (0.7, 0.68, 0.3, 0.1), (0.001, 0.2)
    clusters = (Cluster(("carat", "length"), 0.72, 0.01, 0.0, (1.0, 0.95), 0.9, (0, 1)),)
    sharing = Sharing(Estimates(alone, known, known, known), clusters, None, {4: Exchange(2, 0.01, 0.9, 0.8, True)})
    sure = replace(found.indices.uncertainty, standard_errors=known, bias=0 * known, p_values=p_values)
    made_up = {"values": values, "kept": (0, 2, 3), "uncertainty": sure, "sharing": sharing}
    return replace(found, indices=replace(found.indices, **made_up))


def show(ranking, monkeypatch, width=80, encoding="utf-8"):
    """The lines that a terminal shows."""
    monkeypatch.setenv("COLUMNS", str(width))
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    print_result(Screen(file), ranking)
    file.flush()
    return file.buffer.getvalue().decode(encoding).splitlines()


def table_of(lines):
    start = next(i for i, line in enumerate(lines) if line.startswith("rank"))
    return lines[start : lines.index("", start)]


def test_the_answer_comes_first(ranking, monkeypatch):
    lines = show(ranking, monkeypatch)
    assert lines[2].startswith("price depends most on carat (or length: either will do), then clarity; one more")
    assert lines[4].startswith("From the 3 selected factors, models can explain")


def test_stand_ins_are_below_the_row_of_all(ranking, monkeypatch):
    header, several, carat, length, clarity, forced, left_out, *others = table_of(show(ranking, monkeypatch))
    assert header == "rank  factor    kind      lost without (95 %)    alone       p"
    assert several.startswith("   1  carat or length      0.720 (0.700–0.740)   0.700   0.001    ██")
    assert re.match(r"        carat   number  +0\.700 \(0\.680–0\.720\)   0\.700   0\.001    █+▋?$", carat)
    assert re.match(r"        length  number  +– +0\.680 +░+$", length)
    assert re.match(r"   2  clarity +number +0\.300 \(.*\)   0\.300   0\.200 \?  █", clarity)
    assert re.match(r"   3  x0\* +number +0\.002 .* +▏░", forced)
    assert re.match(r"   –  x1 +number +stands in for clarity$", left_out)
    assert [line.split()[1] for line in others[:3]] == ["x2", "x3", "x4"] or len(others) == 4
    assert others[-1] == "      … and 4 others were left out (--csv lists them)"


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_every_width_and_encoding_is_enough(ranking, monkeypatch, width, encoding):
    lines = show(ranking, monkeypatch, width, encoding)
    assert max(map(cell_len, lines)) <= width
    table = table_of(lines)
    assert ("(95 %)" in table[0]) == (width >= 60) and ("kind" in table[0]) == (width >= 80)
    if width >= 60:
        assert any("carat" in line and ("#" if encoding == "ascii" else "█") in line for line in table)


def test_names_that_are_too_long_can_be_told_apart(ranking, monkeypatch):
    names = tuple(f"a name of which only the number {i} differs from others" for i in range(12))
    sharing = replace(ranking.indices.sharing, clusters=())
    renamed = replace(ranking, indices=replace(ranking.indices, names=names, sharing=sharing))
    for width in (60, 80):
        shown = [line[6:].split("  ")[0] for line in table_of(show(renamed, monkeypatch, width))[1:-1]]
        assert len(set(shown)) == len(shown) > 3


def test_long_names_can_be_read_in_a_narrow_terminal(ranking, monkeypatch):
    names = tuple(f"{i} {name} of the nucleus" for i, name in enumerate(("mean area", "worst radius", *"abcdefghij")))
    sharing = replace(ranking.indices.sharing, clusters=())
    renamed = replace(ranking, indices=replace(ranking.indices, names=names, sharing=sharing))
    lines = show(renamed, monkeypatch, 60)
    assert table_of(lines)[1].startswith("   1  0 mean are…e nucleus   0.700 (0.680–0.720) ")
    assert "Of what is explained: lost without the factor, explained by" in lines  # no bars, so none are explained


def test_no_percent_sign_begins_a_line(ranking, monkeypatch):
    for width in range(50, 90):
        assert not any(line.startswith("%") for line in show(ranking, monkeypatch, width))
