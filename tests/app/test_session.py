"""The session of the app: what it shows, and that each result is that of the command and of the call that it names."""

import json
import shlex
import time

import numpy as np
import polars as pl
import pytest
from command import run_here

import firstfactor
from firstfactor.app.session import DEFAULTS, OFFERED, Session, find_setting, say_error, write_filter
from firstfactor.cli.options import _read_filters
from firstfactor.problems.demo_tables import DEMOS

NASTY = {
    "a": "income, in <b>€</b>",
    "b": "-x=1",
    "c": 'say "hello" twice',
    "d": "居民家庭年度可支配收入与消费支出结构调查指标体系综合评价得分平均值统计汇总表第一",
    "e": "<script>alert(1)</script>",
}
LEVELS = ["north", "south, west", '5..10 "x"', "<img src=x onerror=alert(1)>"]


def quiet(_):
    """Show no progress."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 400
    frame = pl.DataFrame(rng.normal(size=(n, 5)), schema=list("abcde"))
    region = pl.Series("region", rng.choice(LEVELS, n))
    y = frame["a"] + frame["b"] * frame["c"] + 0.3 * rng.normal(size=n) + (region == "north")
    known = rng.random(n) > 0.1
    frame = frame.with_columns(
        region,
        pl.Series("when", np.datetime64("2020-01-01") + rng.integers(0, 700, n)),
        pl.Series("person", np.arange(n) // 4),
        pl.Series("w", rng.uniform(1, 2, n)),
        pl.when(pl.Series(known)).then(pl.col("d")).alias("d"),
        y=y,
    )
    folder = tmp_path_factory.mktemp("app")
    frame.rename(NASTY).write_csv(folder / "table.csv")
    return folder


@pytest.fixture(scope="module")
def session(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield Session({"path": "table.csv"})


def test_columns_are_described(session):
    found = session.describe()
    columns = {one["name"]: one for one in found["columns"]}
    assert found["name"] == "table.csv" and found["n_rows"] == 400 and found["target"] == "y"
    assert [one["kind"] for one in columns.values()] == [*["number"] * 5, "category", "date", *["number"] * 3]
    assert columns[NASTY["d"]]["missing"] > 20
    assert sum(columns[NASTY["a"]]["histogram"]["counts"]) == 400
    assert len(columns["w"]["histogram"]["edges"]) == len(columns["w"]["histogram"]["counts"]) + 1
    assert sorted(columns["region"]["levels"]) == sorted(LEVELS) and columns["region"]["n_values"] == 4
    assert columns["when"]["low"].startswith("2020-01-0") and columns["when"]["high"].startswith("2021-1")
    assert json.dumps(found, allow_nan=False)


STEPS = {
    "all": {},
    "drop": {"drop": [NASTY["a"], NASTY["b"]]},
    "forced": {"forced": [NASTY["c"], NASTY["e"]]},
    "groups of columns": {"factor_groups": {"both": [NASTY["a"], NASTY["b"]]}, "forced": ["both"]},
    "category and units": {"categorical": ["w"], "groups": "person"},
    "weight": {"weight": "w", "alpha": 0.05, "control": "fdr"},
    "ranks": {"response_scale": "ranks", "goal": "predict"},
    "the paper's rule": {"rule": "paper"},
    "levels": {"where": {"region": {"levels": LEVELS[1:3]}}},
    "a range": {
        "where": {NASTY["b"]: {"low": -0.5, "high": None}, "when": {"low": "2020-02-01", "high": "2021-06-30"}}
    },
    "other response": {"target": NASTY["b"], "drop": ["y"], "leaks": "keep", "regroup": True},
}


@pytest.mark.parametrize("name", STEPS)
def test_the_command_and_the_call_repeat_a_result_exactly(session, folder, name):
    result = session.rank({"target": "y", **STEPS[name]}, quiet)
    shown = {one["names"][0]: one["importance"] for line in result["lines"] for one in [line, *line["members"]]}

    told = run_here(*shlex.split(result["command"])[1:], "--json", "-", folder=folder)
    assert told.returncode == 0, told.stderr
    repeated = json.loads(told.stdout)
    assert repeated["r2_ceiling"] == result["ceiling"]["value"]
    assert all(shown.get(one["factor"], one["importance"]) == one["importance"] for one in repeated["factors"])

    values = {}
    exec(result["python"], values)  # the text is made for this
    assert values["ranking"].ceiling == result["ceiling"]["value"]
    assert values["ranking"].selected == tuple(one["factor"] for one in repeated["factors"] if one["selected"])


@pytest.mark.parametrize("demo", DEMOS)
def test_a_demo_is_repeated_as_well(demo):
    session = Session({"demo": demo})
    target = session.describe()["target"]
    dropped = next(one["name"] for one in session.describe()["columns"] if one["name"] != target)
    result = session.rank({"target": target, "drop": [dropped], "rule": "paper"}, quiet)
    told = json.loads(run_here(*shlex.split(result["command"])[1:], "--json", "-").stdout)
    assert told["r2_ceiling"] == result["ceiling"]["value"] and told["settings"]["drop"] == [dropped]
    values = {}
    exec(result["python"], values)
    assert values["ranking"].ceiling == result["ceiling"]["value"]


def test_every_setting_is_an_option_of_the_command_and_of_the_call():
    told = run_here("rank", "--help").stdout.decode()
    for name in OFFERED:
        assert f"--{name.replace('_', '-')}" in told
        assert name in firstfactor.rank.__doc__


def test_a_result_is_shown_with_all_its_parts(session):
    result = session.rank({"target": "y"}, quiet)
    first = result["lines"][0]
    assert first["selected"] and first["rank"] == 1 and 0 < first["importance"] <= 1
    assert first["low"] < first["importance"] < first["high"] and first["p"] < 0.1
    named = {name for line in result["lines"] for one in [line, *line["same"]] for name in one["names"]}
    assert named == {*NASTY.values(), "region", "when", "person", "w"}
    assert result["headline"].startswith("y depends") and "models can explain" in result["ceiling"]["sentence"]
    assert result["settings"] == {"target": "y", **DEFAULTS}
    assert json.dumps(result, allow_nan=False)


def test_a_result_that_is_known_comes_at_once(session):
    first = session.rank({"target": "y", "drop": ["w"]}, quiet)
    start = time.perf_counter()
    again = session.rank({"target": "y", "drop": ["w"], "alpha": 0.1}, quiet)
    assert time.perf_counter() - start < 0.05
    assert again["cached"] and again["key"] == first["key"] and again["lines"] == first["lines"]


def test_changes_are_said(session):
    first = session.rank({"target": "y"}, quiet)
    then = session.rank({"target": "y", "drop": [NASTY["c"]], "since": first["key"]}, quiet)
    assert then["changes"][0].startswith('Without say "hello" twice, ')
    assert any("falls from" in one or "no longer selected" in one for one in then["changes"])
    back = session.rank({"target": "y", "since": then["key"]}, quiet)
    assert back["changes"][0].startswith('With say "hello" twice, ')


def test_results_are_those_of_rank_and_columns_are_examined_once(session, folder, monkeypatch):
    from firstfactor.tables import inventory

    session.rank({"target": "y"}, quiet)
    monkeypatch.setattr(inventory, "_examine_text", lambda *_: pytest.fail("columns are examined again"))
    found = session.rank({"target": "y", "drop": [NASTY["d"]]}, quiet)
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    ranking = firstfactor.rank("table.csv", "y", drop=[NASTY["d"]])
    assert found["ceiling"]["value"] == ranking.ceiling
    assert found["n_rows"] == len(ranking.dataset.y)


def test_a_closer_look(session):
    result = session.rank({"target": "y"}, quiet)
    name = next(one["id"] for one in result["lines"] if one["selected"])
    found = session.factor(result["key"], name, quiet)
    for picture in (found["effect"], found["alone"]):
        assert picture.startswith("<svg xmlns") and "<script" not in picture and "<img" not in picture
    assert found["explanation"].endswith(".") and found["rows"]
    table = pl.read_csv("table.csv")
    for row in found["rows"]:
        assert float(row["values"]["y"].replace("−", "-")) == pytest.approx(table["y"][row["row"] - 1], rel=1e-3)
    pair = session.pair(result["key"], NASTY["b"], NASTY["c"], quiet)
    assert pair["svg"].startswith("<svg xmlns") and "work together" in pair["sentence"]
    assert session.factor(result["key"], NASTY["e"], quiet)["alone"] is not None  # left out


@pytest.mark.parametrize("kind", ["html", "csv", "json", "svg", "png"])
def test_files_are_those_of_the_package(session, kind):
    result = session.rank({"target": "y"}, quiet)
    file = session.file(result["key"], kind, quiet)
    assert file.name == f"table-y.{kind}"
    if kind == "json":
        told = json.loads(file.body)
        assert told["data"]["files"] == ["table.csv"] and told["command"] == result["command"]
    elif kind == "html":
        page = file.body.decode()
        assert "table.csv" in page and "<script>alert(1)" not in page
    else:
        assert len(file.body) > 300


def test_rows_of_a_filter_have_the_numbers_of_the_file(session):
    result = session.rank({"target": "y", "where": {"region": {"levels": ["north"]}}}, quiet)
    assert any("of 400 rows were used" in one for one in result["notes"])
    name = next(one["id"] for one in result["lines"] if one["selected"])
    table = pl.read_csv("table.csv")
    for row in session.factor(result["key"], name, quiet)["rows"]:
        assert table["region"][row["row"] - 1] == "north"
        assert float(row["values"]["y"].replace("−", "-")) == pytest.approx(table["y"][row["row"] - 1], rel=1e-3)


WRONG = [
    ({"target": "nothing"}, "target"),
    ({}, "target"),
    ({"target": "y", "eval": "1"}, "eval"),
    ({"target": "y", "drop": "w"}, "drop"),
    ({"target": "y", "drop": [1]}, "drop"),
    ({"target": "y", "drop": ["*"]}, "drop"),
    ({"target": "y", "drop": ["y"]}, None),
    ({"target": "y", "where": {"w": "> 1"}}, "where"),
    ({"target": "y", "where": {"w": {"low": "1; drop"}}}, "where"),
    ({"target": "y", "where": {"w": {"low": 5.0}}}, "where"),
    ({"target": "y", "where": {"region": {"low": 5.0}}}, "where"),
    ({"target": "y", "where": {"region": {"levels": ["nirth"]}}}, "where"),
    ({"target": "y", "where": {"region": {"levels": []}}}, "where"),
    ({"target": "y", "alpha": 2}, "alpha"),
    ({"target": "y", "alpha": float("nan")}, "alpha"),
    ({"target": "y", "rule": "mine"}, "rule"),
    ({"target": "y", "factor_groups": {"g": ["nothing"]}}, "factor_groups"),
    ({"target": "y", "groups": "y"}, "groups"),
    ({"target": "y", "goal": "predict", "rule": "paper"}, "goal"),
]


@pytest.mark.parametrize(("settings", "field"), WRONG)
def test_wrong_settings_are_refused_in_words(session, settings, field):
    if settings == {"target": "y", "drop": ["y"]}:
        assert session.rank(settings, quiet)["target"] == "y"  # the target is no factor anyway
        return
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        session.rank(settings, quiet)
    assert find_setting(caught.value) == field
    assert say_error(caught.value).endswith((".", "?"))


@pytest.mark.parametrize("column", ["age", "a=b", 'q"q', " blank ", "x,y"])
@pytest.mark.parametrize("levels", [["a"], ["a", "b, c"], ["5..10", "-1..2"], ['"', ","], ["=", "a=b"], [" a "]])
def test_filters_are_read_as_they_are_written(column, levels):
    text = write_filter(column, {"levels": levels})
    assert _read_filters("where", [text]) == {column: levels}


@pytest.mark.parametrize(("low", "high"), [(1, 2), (-1.5, None), (None, 1e-7), ("2020-01-01", "2021-02-03")])
def test_ranges_are_read_as_they_are_written(low, high):
    assert _read_filters("where", [write_filter("age", {"low": low, "high": high})]) == {"age": (low, high)}


@pytest.mark.slow
def test_memory_is_bounded_over_many_rankings():
    rng = np.random.default_rng(0)
    session = Session({"demo": "ishigami"})
    names = [name for name in session.source.names if name != "y"]
    for alpha in rng.uniform(0.01, 0.5, 120):
        session.rank({"target": "y", "alpha": float(alpha), "rule": "calibrated", "drop": names[3:]}, quiet)
    assert len(session._rankings) <= 4 and len(session._answers) <= 100 and len(session._settings) <= 100
