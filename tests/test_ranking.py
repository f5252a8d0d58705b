"""`rank` is the command as a function: the same table gives the same answer, from a file or a data frame."""

import csv
import json
import re
from xml.etree import ElementTree

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure
from scipy.sparse import csr_matrix

from firstfactor import (
    FIRST,
    DataQualityWarning,
    Ranking,
    TooFewRowsWarning,
    backward_elimination,
    rank,
    stability,
    total_indices,
)
from firstfactor.problems import friedman
from tests.command import run_here


@pytest.fixture(scope="module")
def frame():
    X, y = friedman.sample(200, seed=0, frame="polars")
    kinds = np.array(["ash", "elm"])[np.random.default_rng(0).integers(0, 2, 200)]
    return X.with_columns(y, kind=pl.Series(kinds), name=pl.Series([f"row {i}" for i in range(200)]))


@pytest.fixture(scope="module")
def ranking(frame):
    return rank(frame, "y")


def same(one, other):
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.standard_errors, other.standard_errors)
    assert one.names == other.names


def factors(frame):
    return frame.drop("y", "name"), frame["y"]


def test_it_is_first_without_scikit_learn(frame, ranking):
    same(ranking.indices, FIRST(rule="calibrated", n_jobs=-1, random_state=0).fit(*factors(frame)).indices_)


@pytest.mark.parametrize(
    ("options", "used"),
    [
        ({}, ("calibrated", "adaptive", 0.1)),
        ({"rule": None}, ("calibrated", "adaptive", 0.1)),
        ({"alpha": 0.2}, ("calibrated", "adaptive", 0.2)),
        ({"variance_estimator": "nearest"}, ("calibrated", "nearest", 0.1)),
        ({"rule": "paper"}, ("paper", "nearest", None)),
        ({"method": "first-fast"}, ("paper", "nearest", None)),
        ({"method": "backward"}, ("paper", "nearest", None)),
        ({"method": "total"}, ("paper", "nearest", None)),
        ({"method": "total", "rule": "paper"}, ("paper", "nearest", None)),
    ],
)
def test_evidence_decides_unless_something_else_is_asked_for(frame, options, used):
    settings = rank(frame[:60], "y", **options).settings
    assert (settings["rule"], settings["variance_estimator"], settings["alpha"]) == used


def test_nothing_is_found_in_noise_unless_the_paper_s_rule_is_asked_for():
    noise = pl.DataFrame(np.random.default_rng(0).normal(size=(100, 9)), schema=[*"abcdefgh", "y"])
    assert rank(noise, "y").indices.selected.size == 0
    assert rank(noise, "y", rule="paper").indices.selected.size > 0


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"method": "total"}, lambda X, y: total_indices(X, y, uncertainty=True)),
        ({"method": "backward"}, lambda X, y: backward_elimination(X, y, uncertainty=True)),
        ({"method": "first-fast"}, lambda X, y: FIRST(forward="fast").fit(X, y).indices_),
        ({"rule": "paper"}, lambda X, y: FIRST().fit(X, y).indices_),
        ({"alpha": 0.05}, lambda X, y: FIRST(rule="calibrated", alpha=0.05, random_state=0).fit(X, y).indices_),
        ({"split": True, "seed": 3},
         lambda X, y: FIRST(rule="calibrated", split=True, random_state=3).fit(X, y).indices_),
        ({"rule": "paper", "n_neighbors": 4, "n_outer": 0.5, "seed": 1, "scale": False,
          "variance_estimator": "extrapolated"},
         lambda X, y: FIRST(4, 0.5, random_state=1, scale=False, variance_estimator="extrapolated").fit(X, y).indices_),
    ],
)  # fmt: skip
def test_parameters_are_passed_on(frame, options, expected):
    same(rank(frame, "y", **options).indices, expected(*factors(frame)))


@pytest.mark.parametrize("make", [lambda frame: frame, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_tables_of_every_library(frame, ranking, make):
    same(rank(make(frame), "y").indices, ranking.indices)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files(frame, ranking, kind, tmp_path):
    path = tmp_path / f"t.{kind}"
    getattr(frame, f"write_{kind}")(path)
    found = rank(path, "y")
    assert found.dataset.shown == f"t.{kind}" and found.settings["format"] == kind
    np.testing.assert_allclose(found.indices.values, ranking.indices.values, rtol=1e-12)


def test_what_was_left_out_is_noted(ranking):
    assert ranking.notes() == ["Column 'name' was left out: text, all different."]


def test_rows_that_are_left_out_are_noted(frame):
    gaps = frame.with_columns(x1=pl.when(pl.int_range(200) < 20).then(None).otherwise("x1"))
    found = rank(pl.concat([gaps, gaps[:10]]), "y", missing="drop", unique=True, sample=190, drop=["name"])
    data = found.dataset
    n, left = data.n_dropped, 190 - data.n_dropped
    assert f"{n} rows with missing values were left out ('x1' {n}); {left} of 190 are left." in found.notes()
    assert "190 of 210 rows were drawn at random." in found.notes()
    assert len(data.y) + data.n_dropped + data.n_copies == 190


def test_stability_is_that_of_the_function(frame):
    found = rank(frame, "y", stability=3, seed=5).stability
    expected = stability(*factors(frame), n_pairs=3, random_state=5, selector=FIRST(rule="calibrated"))
    np.testing.assert_array_equal(found.frequencies, expected.frequencies)


def test_settings_are_complete(ranking):
    assert ranking.settings["alpha"] == 0.1 and ranking.settings["variance_estimator"] == "adaptive"
    assert set(ranking.settings) == set(rank.__signature__.parameters) - {"data", "target", "progress"}
    assert list(ranking.seconds) == ["reading", "loading", "searching"]


def test_results_as_text_pictures_and_pages(ranking, tmp_path):
    written = json.loads(ranking.to_json(author="me"))
    assert written["author"] == "me" and written["r2_ceiling"] == ranking.indices.r2_ceiling
    assert ranking.to_csv().splitlines()[0].startswith('"rank","factor","kind","importance"')
    assert ranking.to_csv(tmp_path / "t.csv") is None and ranking.to_json(tmp_path / "t.json") is None
    assert (tmp_path / "t.csv").read_text(encoding="utf-8") == ranking.to_csv()
    assert json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))["r2_ceiling"] == ranking.ceiling
    ax = Figure().add_subplot()
    assert ranking.plot(ax) is ax
    ranking.report(tmp_path / "page.html", title="Trees")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<h1>Trees</h1>" in page and "Column &#39;name&#39; was left out" in page


def test_it_shows_what_the_command_shows(frame, ranking, tmp_path):
    frame.write_csv(tmp_path / "t.csv")
    printed = run_here("rank", tmp_path / "t.csv", "-t", "y", COLUMNS="120").stdout.decode()
    shown = repr(rank(tmp_path / "t.csv", "y")).replace("to_frame() lists them", "--csv lists them")

    def words(text):
        return " ".join(re.sub("[█░▏▎▍▌▋▊▉]+", "", text).partition("Time:")[0].split())

    assert words(printed.replace("lost without (95 %) ", "lost without  (95 %)")) == words(shown)
    for part in ("Left out: name (text, all different).", "not enough evidence (p = ", "(95 % interval ", "alone"):
        assert part in words(repr(ranking))


def test_the_summary_has_every_factor(frame):
    noise = pl.DataFrame(np.random.default_rng(1).normal(size=(200, 9)), schema=[f"n{j}" for j in range(9)])
    found = rank(frame.hstack(noise), "y")
    assert "others were left out (to_frame() lists them)" in repr(found)
    assert all(f"n{j} " in found.summary() for j in range(9)) and "were left out (" not in found.summary()


def test_attributes_name_what_was_found(ranking):
    assert ranking.selected == tuple(ranking.indices.names[i] for i in ranking.indices.selected)
    assert ranking.ceiling == ranking.indices.r2_ceiling


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_comes_back_in_the_library_it_came_in(frame, ranking, library):
    given = {"pandas": frame.to_pandas, "polars": lambda: frame, "pyarrow": frame.to_arrow}[library]()
    found = rank(given, "y").to_frame()
    assert type(found) is type(given)
    rows = [*csv.DictReader(ranking.to_csv().splitlines())]
    expected = {name: [row[name] for row in rows] for name in rows[0]}
    assert [*nw.from_native(found).columns] == [*expected]
    assert nw.from_native(found)["factor"].to_list() == expected["factor"]
    assert [*map(str, nw.from_native(found)["rank"].to_list())] == expected["rank"]
    assert isinstance(rank(given, "y").to_frame("polars"), pl.DataFrame)


def test_a_notebook_shows_the_same_without_scripts(ranking):
    shown = ranking._repr_html_()
    root = ElementTree.fromstring(f"<body>{shown.replace('&emsp;', ' ')}</body>")
    text = " ".join(" ".join(root.itertext()).replace("\u00a0", " ").split())
    for part in (
        "Left out: name",
        "y depends most on",
        "95 % interval",
        "not enough evidence",
        "explained by it alone",
    ):
        assert part in text
    assert "<script" not in shown and "http" not in shown
    assert len([*root.iter("tr")]) == 1 + len(ranking.selected) + 4 + 1  # the header, and the number of others


def test_progress_is_told_in_words(frame):
    told = []
    rank(frame, "y", stability=1, progress=told.append)
    assert told[:2] == ["reading", "loading"] and told[-1] == "selecting on halves of the rows: 2 of 2"
    assert any(re.match(r"searching: \+ x\d+, 1 factor explains \d+ %; trying \d+ more", line) for line in told)


def test_warnings_point_at_the_caller():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 30))).rename(columns=str)
    with pytest.warns(TooFewRowsWarning) as told:
        rank(frame.assign(y=frame.sum(axis=1)), "y", method="total")
    assert told[0].filename == __file__
    with pytest.warns(DataQualityWarning, match="copies"):
        rank(pd.concat([frame.assign(y=frame["0"])] * 2), "y")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": "total"}, "there is no option 'methods'. Did you mean 'method'?"),
        ({"method": "best"}, "method must be one of 'first', 'first-fast', 'backward', 'total'; got 'best'."),
        ({"alpha": 0.1, "rule": "paper"}, 'alpha= is for rule="calibrated"; leave out alpha= or rule="paper".'),
        ({"alpha": 0.1, "method": "total"}, 'alpha= is for rule="calibrated"; leave out alpha= or method="total".'),
        ({"rule": "calibrated", "method": "total"},
         'rule="calibrated" goes with method="first" only; got method="total".'),
        ({"rule": "calibrated", "method": "first-fast"},
         'rule="calibrated" goes with method="first" only; got method="first-fast".'),
        ({"split": True, "method": "total"}, "split= goes with"),
        ({"sample": 2}, "sample must be a whole number of at least 3; got 2."),
        ({"stability": 2, "n_outer": 150}, "n_outer must be at most 100, half of the rows, with stability=; got 150."),
        ({"factors": ["x99"]}, "factors: the table has no column 'x99'. Did you mean 'x9'"),
    ],
)  # fmt: skip
def test_errors_name_the_parameter_and_a_way_out(frame, options, message):
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        rank(frame, "y", **options)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "data must be a path, a list of paths, a pandas, polars or pyarrow table, or an array; got NoneType."),
        ({"x": [1], "y": [2]}, "got dict. Make a table of it, such as polars.DataFrame(data)."),
        ({"data": [[1]], "target": [2]}, "Use rank(data.data, data.target)."),
        (pd.Series([1, 2]), "got Series. The table comes first: rank(X, y)."),
        (np.arange(3), "data must have 2 dimensions, rows by factors; got an array of shape (3,)."),
        (csr_matrix(np.eye(3)), "Use data.toarray() if it fits in memory."),
        (np.eye(3), "target: the table has no column 'y'. The columns are: 'x0', 'x1' and 'x2'."),
        (pd.DataFrame(np.eye(3), columns=["a", "a", "y"]), "two columns of the table have the name 'a'."),
        (pd.DataFrame({"a": [1j, 2], "y": [1, 2]}), "column 'a' of the table holds values of type complex"),
    ],
)
def test_other_data_are_refused(data, message):
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        rank(data, "y")


def test_a_target_is_needed(frame):
    with pytest.raises(ValueError, match=r"target: the table has no column 'z'\. Did you mean|The columns are"):
        rank(frame, "z")
    with pytest.raises(ValueError, match="target= is needed: the column to explain"):
        rank(frame, None)


def test_it_is_public(ranking):
    assert isinstance(ranking, Ranking)


def costs():
    """Costs that are lognormal: values of a few rows hide what four factors do."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 8))
    y = np.exp(X[:, :4] @ [0.5, 0.35, -0.3, 0.25] + 1.2 * rng.normal(size=300))
    return pl.DataFrame(X, schema=[f"x{j}" for j in range(8)]).with_columns(cost=pl.Series(y))


def test_a_skewed_response_is_looked_at_by_normal_scores():
    with pytest.warns(DataQualityWarning, match=r"more factors show: x1 and x2\. Use response_scale=\"normal-scores\""):
        found = rank(costs(), "cost").indices
    (finding,) = [one for one in found.findings if one.kind == "skewed"]
    assert finding.count == 2
    assert {found.names[i] for i in found.selected} == {"x0", "x3"}
    by_scores = rank(costs(), "cost", response_scale="normal-scores").indices
    assert {by_scores.names[i] for i in by_scores.selected} == {"x0", "x1", "x2", "x3"}
    assert "skewed" not in {one.kind for one in by_scores.findings}


@pytest.mark.parametrize(
    ("change", "options"),
    [(pl.col("cost").log(), {}), (pl.col("cost") - 1, {}), (pl.col("cost"), {"rule": "paper"})],
    ids=["even", "negative", "paper"],
)
def test_other_responses_are_not(change, options):
    found = rank(costs().with_columns(change.alias("cost")), "cost", **options).findings
    assert "skewed" not in {one.kind for one in found}


def test_what_fails_on_halves_of_the_rows_does_not_lose_the_importances(monkeypatch):
    def fail(*_):
        raise MemoryError

    monkeypatch.setattr("firstfactor.selection.stability.choose", fail)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.random((60, 2)), columns=["a", "b"]).assign(y=lambda t: t.a)
    with pytest.warns(UserWarning, match="without it"):
        found = rank(table, "y", stability=2)
    assert found.indices.kept == (0,)
    assert found.stability is None
