"""The command: every format, option and error; and, installed, in processes of its own, in pipes and on a terminal."""

import csv
import fcntl
import gzip
import hashlib
import json
import logging
import os
import pty
import re
import resource
import select
import shlex
import signal
import struct
import subprocess
import sys
import termios
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import xlsxwriter
from command import CLEAN, COMMAND, PATIENCE, run, run_here

import firstfactor
from firstfactor import FIRST, backward_elimination, problems, stability, total_indices
from firstfactor.cli.options import OUTPUTS, PANELS, flag
from firstfactor.settings import RANK


def text(finished):
    assert (finished.returncode, finished.stderr) == (0, b"")
    return finished.stdout.decode()


def complaint(finished):
    """The one line that a failed run leaves."""
    assert finished.returncode == 2 and finished.stdout == b""
    line = finished.stderr.decode()
    assert line.startswith("error: ") and line.count("\n") == 1 and line.endswith("\n")
    return line[len("error: ") : -1]


@pytest.fixture(scope="module")
def table():
    """Two numbers and a text that matter, and columns that do not or cannot."""
    rng = np.random.default_rng(0)
    rows = 300
    X = pl.DataFrame(
        {
            "id": [f"u{i:04}" for i in range(rows)],
            "day": [f"2024-{i % 12 + 1:02}-{i % 31 + 1:02}" for i in range(rows)],  # some are none
            "size": rng.normal(size=rows),
            "load": rng.uniform(size=rows) * 1000,
            "make": np.array(["ash", "elm", "oak"])[rng.integers(0, 3, size=rows)],
            "code": rng.integers(0, 4, size=rows),
            "a name so long that it does not fit next to anything else": rng.normal(size=rows),
            "flat": [3] * rows,
        }
    )
    y = X["size"] + X["load"] / 300 + 2.0 * (X["make"] == "elm").cast(pl.Float64) + 0.1 * rng.normal(size=rows)
    return X.with_columns(y=y, sick=np.where(y > y.mean(), "yes", "no"))


FACTORS = ["size", "load", "make", "code", "a name so long that it does not fit next to anything else", "flat"]


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    """The table in every format, and others."""
    folder = tmp_path_factory.mktemp("cli")
    table.write_csv(folder / "t.csv")
    table.write_csv(folder / "t.tsv", separator="\t")
    table.write_parquet(folder / "t.parquet")
    table.write_ipc(folder / "t.arrow")
    table.write_ipc(folder / "t.feather")
    table.write_ndjson(folder / "t.jsonl")
    for path in list(folder.iterdir()):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    gaps = table.with_columns(size=pl.when(pl.int_range(pl.len()) % 10 == 3).then(None).otherwise("size"))
    gaps.write_csv(folder / "gaps.csv")
    patterns = table.select("size", "load", "sick").rename({"size": "*", "load": "^.*$", "sick": "^y$"})
    patterns.write_csv(folder / "patterns.csv")
    counter = pl.DataFrame({"n": [2**53 + 1 + i * 7 % 60 for i in range(60)]})
    counter.with_columns(y=(counter["n"] - 2**53).cast(pl.Float64).sqrt()).write_parquet(folder / "counter.parquet")
    with xlsxwriter.Workbook(folder / "book.xlsx") as book:
        table.head(50).write_excel(book, "a")
        table.write_excel(book, "b")
    rng = np.random.default_rng(1)
    many = pl.DataFrame(rng.uniform(size=(200, 300)), schema=[f"gene {j}" for j in range(300)])
    many.with_columns(y=many["gene 7"]).write_csv(folder / "many.csv")
    noise = pl.DataFrame(np.random.default_rng(3).normal(size=(120, 13)), schema=["y", *(f"x{j}" for j in range(12))])
    noise.write_csv(folder / "noise.csv")
    return folder


BASE = ("rank", "t.csv", "--target", "y", "--drop", "sick")
FORMATS = [f"t.{kind}{zipped}" for kind in ("csv", "tsv", "parquet", "arrow", "jsonl") for zipped in ("", ".gz")]

# One run serves several tests.
RUNS = {
    **{name: ("rank", name, "--target", "y", "--drop", "sick") for name in FORMATS},
    "all outputs": (*BASE, "--html", "r.html", "--json", "r.json", "--csv", "r.csv", "--plot", "r.png", "--seed", "5"),
    "quiet": (*BASE, "--plot", "r.svg", "--method", "first-fast", "--json", "fast.json", "--quiet"),
    "backward": (*BASE, "--method", "backward", "--json", "backward.json", "--jobs", "1", "--plot", "r.pdf"),
    "total": (*BASE, "--method", "total", "--json", "total.json", "--n-neighbors", "3", "--no-scale",
              "--n-outer", "150", "--seed", "3"),
    "outer": (*BASE, "--n-outer", "0.5", "--seed", "3", "--json", "outer.json"),
    "chosen": ("rank", "t.csv", "-t", "code", "--task", "regression", "--factors", "s*,load", "--factors", "m*",
               "--drop", "sick", "--categorical", "lo*", "--sample", "100", "--json", "chosen.json"),
    "classes": ("rank", "t.csv", "-t", "sick", "--drop", "y", "--json", "classes.json"),
    "gaps": ("rank", "gaps.csv", "-t", "y", "--missing", "drop", "--drop", "sick", "--json", "gaps.json"),
    "level": ("rank", "gaps.csv", "-t", "y", "--drop", "sick", "--json", "level.json"),
    "patterns": ("rank", "patterns.csv", "-t", "^y$", "--html", "p.html", "--plot", "p.png", "--json", "p.json",
                 "--stability", "2"),
    "counter": ("rank", "counter.parquet", "-t", "y", "--json", "counter.json"),
    "workbook": ("rank", "book.xlsx", "-t", "y", "--drop", "sick", "--table", "b", "--na", "ash", "--na", "-1",
                 "--missing", "drop", "--decimal", ".", "-q", "-q", "--json", "book.json"),
    "many": ("rank", "many.csv", "-t", "y"),
    "many totals": ("rank", "many.csv", "-t", "y", "--method", "total", "--json", "many.json"),
    "calibrated": (*BASE, "--alpha", "0.05", "--stability", "2", "--split", "--json",
                   "calibrated.json", "--csv", "calibrated.csv", "--html", "calibrated.html"),
    "paper": (*BASE, "--rule", "paper", "--json", "paper.json", "--csv", "paper.csv"),
    "paper split": (*BASE, "--rule", "paper", "--split"),
    "noise": ("rank", "noise.csv", "-t", "y", "--rule", "paper", "--stability", "2"),
    "calibrated noise": ("rank", "noise.csv", "-t", "y"),
    "paper demo": ("demo", "--rule", "paper"),
    "demo": ("demo",),
    "ishigami": ("demo", "ishigami"),
    "heavy-tailed": ("demo", "heavy-tailed"),
    "breast-cancer": ("demo", "breast-cancer"),
}  # fmt: skip
SURROUNDINGS = {
    "backward": {"PYTHONIOENCODING": "ascii"},
    "outer": {"PYTHONIOENCODING": "ascii"},
    "total": {"COLUMNS": "140"},
    "noise": {"COLUMNS": "60"},
    "classes": {"NO_COLOR": "1", "FORCE_COLOR": "1"},
}


# Runs of the installed command; every process takes a second or two to start, so the others are in this one.
INSTALLED = ("t.csv", "all outputs", "backward", "classes", "demo")


@pytest.fixture(scope="module")
def runs(folder):
    """All runs that succeed, those of the installed command two at a time."""

    def one(name, run):
        return run(*RUNS[name], folder=folder, **SURROUNDINGS.get(name, {}))

    here = {name: one(name, run_here) for name in RUNS if name not in INSTALLED}  # the first compiles if nobody has
    with ThreadPoolExecutor(2) as pool:
        return here | dict(zip(INSTALLED, pool.map(lambda name: one(name, run), INSTALLED), strict=True))


def untimed(output):
    return re.sub(r"\d+\.\d\d", "#", output.rpartition("\nTime: ")[0])


def words(output):
    """The same without line breaks."""
    return " ".join(output.split())


def facts(folder, name):
    return json.loads((folder / name).read_text(encoding="utf-8"))


def test_a_run_in_this_process_leaves_it_as_it_was(folder):
    def state():
        levels = [logging.getLogger(name).level for name in ("firstfactor", "matplotlib")]
        streams = (sys.stdin, sys.stdout, sys.stderr, *(os.fstat(number).st_ino for number in range(3)))
        handlers = (signal.getsignal(signal.SIGTERM), warnings.showwarning, *logging.root.handlers)
        return os.getcwd(), dict(os.environ), sys.argv, *warnings.filters, *levels, *streams, *handlers

    before = state()
    assert text(run_here(*BASE, "--quiet", "--plot", "left.png", folder=folder, COLUMNS="60")) == ""
    assert run_here("rank", "nothing.csv", folder=folder).returncode == 2
    assert state() == before


# --- results --------------------------------------------------------------------------------------------


def test_what_is_printed(runs):
    lines = text(runs["t.csv"]).splitlines()
    assert lines[:2] == [
        "t.csv: 300 rows, 6 factors (4 numbers, 1 category, 1 constant); y is numeric.",
        "Left out: id (text, all different) and day (dates, but '2024-02-31' is none).",
    ]
    ceiling = r"From the 3 selected factors, models can explain about (9\d\.?\d*) % \(95 % interval "
    ceiling += r"(9\d\.?\d*)–9\d\.?\d* %\) of the variance of y\."
    assert lines[3] == "y depends most on size, make and load, which these rows cannot order."
    about, low = map(float, re.fullmatch(ceiling, f"{lines[4]} {lines[5]}").groups())
    assert low < about
    assert re.fullmatch(r"rank  factor +kind +lost without \(95 %\) +alone +p", lines[7])
    cells = r"(0\.\d{3}) \(0\.\d{3}–0\.\d{3}\)   0\.\d{3}  <0\.001  ([█▏▎▍▌▋▊▉]+)"
    ranked = [re.fullmatch(rf" +(\d)  (\w+) +(\w+) +{cells}", line).groups() for line in lines[8:11]]
    assert [(rank, name, kind) for rank, name, kind, _, _ in ranked] == [
        ("1", "size", "number"),
        ("2", "make", "category"),
        ("3", "load", "number"),
    ]
    bars = [len(bar) for *_, bar in ranked]
    assert bars == sorted(bars, reverse=True)
    left_out = [re.fullmatch(r" +–  (.+?)  +(\w+)  +(\S.*)", line).groups() for line in lines[11:14]]
    assert {name for name, _, _ in left_out} == {"code", "a name …g else", "flat"}
    assert left_out[-1] == ("flat", "constant", "constant")
    assert all(re.fullmatch(r"not enough evidence \(p = [01]\.\d{3}\)", reason) for _, _, reason in left_out[:2])
    assert lines[15] == "Of what is explained: lost without the factor (█), explained by it alone (░)."
    assert lines[16].startswith("95 % intervals (chance and bias); p: probability of such an effect if the factor")
    assert "weak" not in "".join(lines)
    parts = r"reading \d+\.\d\d, loading \d+\.\d\d, searching \d+\.\d\d, writing \d+\.\d\d"
    assert re.fullmatch(rf"Time: \d+\.\d\d s \({parts}\)", lines[-1])


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_answer(runs, name):
    expected = untimed(text(runs["t.csv"])).replace("t.csv: ", "")
    assert words(untimed(text(runs[name])).replace(f"{name}: ", "")) == words(expected)


def test_results_equal_those_of_the_library(runs, folder, table):
    X, y = table.select(FACTORS), table["y"]
    text(runs["all outputs"])
    expected = FIRST(rule="calibrated", random_state=5).fit(X, y).indices_
    found = {row["factor"]: row["importance"] for row in facts(folder, "r.json")["factors"]}
    assert found == dict(zip(expected.names, expected.values.tolist(), strict=True))
    for name, expected in {
        "fast": FIRST(forward="fast").fit(X, y).indices_,
        "backward": backward_elimination(X, y, uncertainty=True),
        "total": total_indices(X, y, uncertainty=True, n_neighbors=3, scale=False, n_outer=150, random_state=3),
        "paper": FIRST().fit(X, y).indices_,
        "outer": FIRST(rule="calibrated", n_outer=0.5, random_state=3).fit(X, y).indices_,
    }.items():
        written = facts(folder, f"{name}.json")
        found = {row["factor"]: row["importance"] for row in written["factors"]}
        assert found == dict(zip(expected.names, expected.values.tolist(), strict=True)), name
        assert written["r2_ceiling"] == expected.r2_ceiling
        assert written["r2_standard_error"] == expected.uncertainty.r2
        assert written["method"] == expected.method


def test_chosen_factors_and_categories(runs, folder):
    output = text(runs["chosen"])
    kinds = {row["factor"]: row["kind"] for row in facts(folder, "chosen.json")["factors"]}
    assert kinds == {"size": "number", "load": "category", "make": "category"}
    assert "100 rows drawn from 300, 3 factors (1 number, 2 categories); code is numeric." in words(output)
    assert facts(folder, "chosen.json")["data"]["rows_drawn"] == 100


def test_two_classes(runs, folder):
    output = words(re.sub(r"\x1b\[\d*m", "", text(runs["classes"])))
    assert "sick has two classes." in output
    assert re.search(r"(–\d+ %| to all)\) of the variance of sick \(yes = 1, no = 0; a Brier score of 0\.\d+\)", output)
    data = facts(folder, "classes.json")["data"]
    assert data["task"] == "classification" and data["classes"] == ["no", "yes"]


def test_rows_dropped_are_counted(runs, folder):
    assert "270 rows (30 with missing values dropped: size 30), 6 factors" in words(text(runs["gaps"]))
    data = facts(folder, "gaps.json")["data"]
    assert (data["rows_dropped"], data["missing_values_dropped"]) == (30, {"size": 30})


def test_missing_values_are_counted(runs, folder):
    output = words(text(runs["level"]))
    assert "300 rows, 6 factors" in output and "Missing values: size 30 (a level of its own)." in output
    counts = {row["factor"]: row["missing"] for row in facts(folder, "level.json")["factors"]}
    assert counts["size"] == 30 and sum(counts.values()) == 30


def test_names_that_look_like_patterns(runs, folder):
    text(runs["patterns"])
    assert {row["factor"] for row in facts(folder, "p.json")["factors"]} == {"*", "^.*$"}
    assert facts(folder, "p.json")["data"]["classes"] == ["no", "yes"]


def test_a_counter_beyond_float64_is_no_constant(runs, folder):
    text(runs["counter"])
    (row,) = facts(folder, "counter.json")["factors"]
    assert row["kind"] == "number" and row["selected"] and facts(folder, "counter.json")["r2_ceiling"] > 0.99


def test_how_a_file_was_read_is_written(runs, folder, table):
    assert text(runs["workbook"]) == ""
    written = facts(folder, "book.json")
    expected = {"format": "excel", "table": "b", "na": ["ash", "-1"], "decimal": "."}
    assert written["settings"] | expected == written["settings"]
    assert written["data"]["rows_used"] == (table["make"] != "ash").sum()
    text(runs["all outputs"])
    assert facts(folder, "r.json")["settings"]["format"] == "csv"


def test_hundreds_of_factors_are_summed_up(runs):
    output = text(runs["many"])
    assert len(output.splitlines()) < 30
    assert re.search(r"… and 29\d others were left out \(--csv lists them\)\n", output)


# --- how sure -------------------------------------------------------------------------------------------


def test_everything_about_evidence_is_written(runs, folder, table):
    output = words(text(runs["calibrated"]))
    X, y = table.select(FACTORS), table["y"]
    selector = FIRST(rule="calibrated", alpha=0.05, split=True, random_state=0).fit(X, y)
    expected = selector.indices_
    written = facts(folder, "calibrated.json")
    assert written["settings"] | {"rule": "calibrated", "alpha": 0.05, "split": True} == written["settings"]
    assert written["settings"]["variance_estimator"] == "adaptive" and written["settings"]["stability"] == 2
    assert written["method"] == "FIRST (calibrated, alpha = 0.05)"
    assert (written["data"]["rows_used"], written["data"]["rows_estimated_on"]) == (300, 150)
    assert "300 rows (one half to select on, 150 to estimate on), 6 factors" in output
    assert written["r2_interval"] == list(expected.r2_interval()) and written["interval_level"] == 0.95
    assert written["r2_standard_error"] == expected.uncertainty.r2
    assert written["noise_standard_error"] == expected.uncertainty.noise
    assert written["sample_size"]["distance_share"] == expected.sample_size.distance_share
    assert written["path"][0]["p_value"] == expected.path.steps[0].p_value
    assert 0 < written["path"][-1]["r2"] < 1
    rows = {row["factor"]: row for row in written["factors"]}
    for i in expected.selected:
        row = rows[expected.names[i]]
        assert [row["low"], row["high"]] == expected.interval()[i].tolist()
        assert (row["standard_error"], row["p_value"]) == (expected.standard_errors[i], expected.p_values[i])
    assert rows["flat"]["p_value"] is None and not rows["flat"]["weak"]


def test_stability_is_that_of_the_same_rule(runs, folder, table):
    output = text(runs["calibrated"])
    selector = FIRST(rule="calibrated", alpha=0.05)
    expected = stability(table.select(FACTORS), table["y"], n_pairs=2, selector=selector, random_state=0)
    written = facts(folder, "calibrated.json")
    frequencies = dict(zip(expected.names, expected.frequencies.tolist(), strict=True))
    assert {row["factor"]: row["frequency"] for row in written["factors"]} == frequencies
    assert written["stability"]["expected_false"] == expected.expected_false
    assert written["stability"]["selected"] == [expected.names[i] for i in expected.selected]
    assert "frequency" in pl.read_csv(folder / "calibrated.csv").columns
    assert re.search(r"rank  factor +kind +halves +lost without \(95 %\) +alone +p\n", output)
    assert re.search(r" 1  size +number +1\.00 +0\.\d{3} \(0\.\d{3}–0\.\d{3}\)   0\.\d{3}  <0\.001  █", output)
    assert "halves: selection frequency on 4 random half-samples; " in words(output)
    assert 'id="stability"' in (folder / "calibrated.html").read_text(encoding="utf-8")
    assert ", stability " in words(output.rpartition("Time: ")[2])


def test_weak_factors_are_marked_and_60_columns_are_enough(runs):
    output = text(runs["noise"])
    assert max(map(len, output.splitlines())) <= 60
    assert re.search(r" 1  x\d+ .* 0\.\d{3} \(0\.000–1\.000\)   0\.\d{3} \?", output)
    assert "? weak: the interval reaches 0.\n" in output
    assert not any(word in output for word in ("0e-", "nan", "Warning"))


def test_nothing_more_than_chance_is_an_answer(runs):
    output = text(runs["calibrated noise"])
    assert "there is not enough evidence that y depends on any factor (alpha = 0.1)." in words(output)
    assert "not enough evidence (p = " in words(output)
    assert "95 %" not in output


def test_too_few_rows_are_said_in_a_line_of_its_own(runs, folder):
    output = words(text(runs["many totals"]))
    found = facts(folder, "many.json")["sample_size"]
    assert "Note: 200 rows are too few for 300 factors at once: " in output
    assert f"The rows are enough for about {found['supported_factors']}. Use --method first, fewer factors or" in output
    assert "they take too long for more than 30 factors." in output and "(95 %)" not in output
    assert facts(folder, "many.json")["r2_interval"] is None


def test_the_paper_s_rule_shows_no_p_values_and_says_what_it_is_worth(runs, folder):
    output = words(text(runs["paper"]))
    assert "paper's rule can select factors even from pure noise, so a selection by it is no evidence." in output
    assert "No p-values: on the rows that also selected the factors, they would be too small." in output
    assert re.search(r"lost without \(95 %\) +alone\n", text(runs["paper"]))
    assert "were selected to explain y." in output
    written = facts(folder, "paper.json")
    assert written["why_no_p_values"].startswith("No p-values: ")
    assert {row["p_value"] for row in written["factors"]} == {None}
    assert pl.read_csv(folder / "paper.csv")["p_value"].null_count() == len(FACTORS)
    assert facts(folder, "r.json")["why_no_p_values"] is None
    assert re.search(r"lost without \(95 %\) +alone +p\n", text(runs["paper split"]))
    assert "no evidence; p-values from the other half of the rows are." in words(text(runs["paper split"]))
    assert "no evidence" not in words(text(runs["t.csv"]) + text(runs["total"]) + text(runs["backward"]))


def test_a_ceiling_that_comes_out_low_is_no_bound_and_has_a_way_out(runs):
    output = words(text(runs["paper demo"]))
    assert "about 87 % of the variance of y; the estimate is too low for true factors, and too high for" in output
    assert "If these factors matter, the true ceiling is higher, by 4 points or more: " in output
    assert "of y, or more: the estimate from nearest neighbours is too low." in words(text(runs["total"]))
    assert "Try --variance-estimator adaptive." in output
    assert "at most" not in output
    assert "95 % (95 % interval 94–96 %) of the variance of y." in words(text(runs["demo"]))
    assert "is too low" not in text(runs["demo"])


def test_standard_input(folder):
    zipped = run("rank", "-", "--target", "y", stdin=(folder / "t.parquet.gz").read_bytes())
    assert text(zipped).startswith("standard input: 300 rows, 7 factors")
    tabs = run_here("rank", "-", "--target", "y", "--format", "tsv", stdin=(folder / "t.tsv").read_bytes())
    assert text(tabs).startswith("standard input: 300 rows, 7 factors")


def test_files_may_go_to_standard_output_and_nothing_else_does(runs, folder):
    text(runs["all outputs"])
    found = json.loads(text(run_here(*BASE, "--seed", "5", "--json", "-", "--csv", "c.csv", folder=folder)))
    assert found["factors"] == facts(folder, "r.json")["factors"]
    table = text(run(*BASE, "--seed", "5", "--csv", "-", folder=folder))
    assert table == (folder / "r.csv").read_text(encoding="utf-8") == (folder / "c.csv").read_text(encoding="utf-8")
    closed = in_shell("rank t.csv -t y --drop sick --json - | head -c 9; exit ${PIPESTATUS[0]}", folder)
    assert closed.stdout == b'{\n  "comm' and closed.stderr == b""


def test_compact_may_have_a_share(folder):
    def selected(*options):
        written = json.loads(text(run_here(*options, "--json", "-", folder=folder)))
        return written["settings"]["compact"], sum(row["selected"] for row in written["factors"])

    assert selected(*BASE) == (False, 3)
    assert selected(*BASE, "--compact", "0.5") == (0.5, 2)
    assert selected("rank", "--compact", *BASE[1:]) == (True, 3)


def test_the_score_of_a_model_is_compared_with_the_ceiling(folder):
    output = words(text(run_here(*BASE, "--model-score", "0.5", "--json", "m.json", "--html", "m.html", folder=folder)))
    model = facts(folder, "m.json")["model"]
    assert (model["score"], model["verdict"]) == (0.5, "below") and model["interval"] is not None
    assert model["sentence"].startswith("Your model: an R² of 0.50 is 5") and model["sentence"] in output
    assert model["sentence"].replace(" %", "\u00a0%") in (folder / "m.html").read_text(encoding="utf-8")


# --- several files --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def parts(table, tmp_path_factory):
    """The table in parts: in one folder, and in folders that name a column of it."""
    folder = tmp_path_factory.mktemp("parts")
    (folder / "plain").mkdir()
    for number, start in enumerate((0, 40, 180)):
        table[start : (40, 180, 300)[number]].write_parquet(folder / "plain" / f"part-{number}.parquet")
    for (make,), rows in table.group_by("make"):
        (folder / "hive" / f"make={make}").mkdir(parents=True)
        rows.drop("make").write_csv(folder / "hive" / f"make={make}" / "part-0.csv")
    return folder


def test_several_files_are_one_table(runs, parts):
    whole = text(runs["t.parquet"])
    for data in (("plain",), ("plain/*.parquet",), [f"plain/part-{number}.parquet" for number in range(3)]):
        shown = text(run_here("rank", *data, "--target", "y", "--drop", "sick", folder=parts))
        assert shown.startswith("part-0.parquet … part-2.parquet (3 files): 300 rows, 6 factors")
        assert words(untimed(shown)).split("numeric.")[1] == words(untimed(whole)).split("numeric.")[1]


def test_a_folder_needs_no_other_options(parts):
    assert text(run("rank", "plain", "--target", "y", folder=parts)).startswith("part-0.parquet … part-2.parquet (3 ")


def test_folders_that_name_a_column(parts):
    shown = text(run_here("rank", "hive", "-t", "y", "--drop", "sick", "--json", "h.json", folder=parts))
    assert shown.startswith("hive (3 files): 300 rows, 6 factors (4 numbers, 1 category, 1 constant)")
    assert "y depends most on size, make and load, which these rows cannot order." in shown
    data = facts(parts, "h.json")["data"]
    assert data["source"] == "hive (3 files)"
    assert data["files"] == [f"hive/make={make}/part-0.csv" for make in ("ash", "elm", "oak")]
    assert facts(parts, "h.json")["command"] == "firstfactor rank hive -t y --drop sick --json h.json"


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "-"])
def test_a_limit_of_memory_changes_nothing(runs, folder, tmp_path, name):
    stdin = (folder / "t.csv").read_bytes() if name == "-" else None
    outputs = [part for kind in ("html", "json", "csv") for part in (f"--{kind}", tmp_path / f"x.{kind}")]
    limited = run_here("rank", name, *BASE[2:], "--memory", "4GB", *outputs, folder=folder, stdin=stdin)
    assert limited.returncode == 0 and not limited.stderr
    plain = text(runs["t.csv" if name == "-" else name]).replace(
        "t.csv:", "standard input:" if name == "-" else "t.csv:"
    )
    assert words(untimed(text(limited))).startswith(words(untimed(plain)).partition(" Time:")[0])
    assert all((tmp_path / f"x.{kind}").stat().st_size > 300 for kind in ("html", "json", "csv"))


def test_the_page_has_the_size_and_digest_of_all_files(parts):
    run_here("rank", "plain", "-t", "y", "--html", "p.html", "-q", folder=parts)
    page = (parts / "p.html").read_text(encoding="utf-8")
    whole = b"".join(path.read_bytes() for path in sorted((parts / "plain").iterdir()))
    assert hashlib.sha256(whole).hexdigest()[:16] in page and "part-0.parquet … part-2.parquet (3 files)" in page


# --- demos ----------------------------------------------------------------------------------------------


def test_the_demo_finds_the_true_factors(runs):
    assert "The true factors are x1, x7, x8, x9 and x10: all found, and no others." in text(runs["demo"])
    assert text(runs["demo"]).startswith("friedman: 1,000 rows, 10 factors (10 numbers); y is numeric.\n")
    assert "The true factors are x1, x2 and x3: all found, and no others." in text(runs["ishigami"])
    assert "The true factors are x1, x2, x3 and x6: all found, and no others." in text(runs["heavy-tailed"])


def test_a_demo_of_real_data(runs):
    output = text(runs["breast-cancer"])
    assert "569 rows, 30 factors (30 numbers); diagnosis has two classes." in output
    assert "truly" not in output


# --- files ----------------------------------------------------------------------------------------------


def test_the_table_of_factors_as_csv(runs, folder):
    text(runs["all outputs"])
    with (folder / "r.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    evidence, alone = ["standard_error", "p_value", "q_value", "low", "high"], ["alone", "alone_standard_error"]
    says = ["selected", "weak", "reason", "explanation", "missing", "forced"]
    assert list(rows[0]) == ["rank", "factor", "kind", "importance", *evidence, *alone, *says]
    assert [0 < float(row["alone"]) < 1 for row in rows[:3]] == [True] * 3
    assert [row["low"] < row["importance"] < row["high"] for row in rows] == [True] * 3 + [False] * 3
    assert [rows[-1][name] for name in evidence] == [""] * 5
    assert all(0 <= float(row[name]) <= 1 for row in rows[:5] for name in ("p_value", "q_value"))
    assert [row["factor"] for row in rows[:3]] == ["size", "make", "load"]
    assert [row["rank"] for row in rows] == ["1", "2", "3", "4", "4", "4"]
    assert pl.read_csv(folder / "r.csv")["importance"].to_list()[0] == float(rows[0]["importance"])
    assert pl.read_csv(folder / "r.csv")["selected"].to_list() == [True] * 3 + [False] * 3


def test_json_holds_everything(runs, folder):
    text(runs["all outputs"])
    written = facts(folder, "r.json")
    assert shlex.split(written["command"]) == ["firstfactor", *RUNS["all outputs"]]
    assert written["data"]["left_out"] == {"id": "text, all different", "day": "dates, but '2024-02-31' is none"}
    assert written["data"]["rows_used"] == 300 and written["data"]["task"] == "regression"
    assert written["settings"]["seed"] == 5 and written["settings"]["method"] == "first"
    assert written["versions"]["firstfactor"] == firstfactor.__version__
    assert set(written["seconds"]) == {"reading", "loading", "searching"}
    first = written["path"][0]
    assert first["phase"] == "forward" and first["factors"] == [] and len(first["candidates"]) == 5
    assert written["path"][-1]["phase"] == "elimination"
    assert {row["reason"] for row in written["factors"][:3]} == {""}


def test_pictures_and_the_page(runs, folder):
    output = text(runs["all outputs"])
    assert (folder / "r.png").read_bytes().startswith(b"\x89PNG")
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "<html" in page and "--html r.html" in page
    assert "Column &#39;day&#39; was left out: dates, but &#39;2024-02-31&#39; is none." in page
    for name in ("r.html", "r.json", "r.csv", "r.png"):
        assert f"Wrote {name}\n" in output
    assert text(runs["quiet"]) == ""
    assert b"<svg" in (folder / "r.svg").read_bytes()
    text(runs["backward"])
    assert (folder / "r.pdf").read_bytes().startswith(b"%PDF")
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


# --- terminals and pipes --------------------------------------------------------------------------------


def test_a_pipe_gets_plain_text_that_fits_80_columns(runs):
    for name in (*FORMATS, "many", "demo", "breast-cancer", "gaps"):
        output = text(runs[name])
        assert "\x1b" not in output
        assert max(map(len, output.splitlines())) <= 80
        assert not any(line.endswith(" ") for line in output.splitlines())


def test_wide_terminals_show_long_names(runs):
    assert "a name so long that it does not fit next to anything else" in text(runs["total"])


def test_an_encoding_without_bars(runs):
    for name in ("backward", "outer"):
        assert text(runs[name]).isascii()
    output = text(runs["outer"])
    assert "####" in output and "\n   -  code" in output and "a name ~g else" in output
    assert re.search(r"\(0\.\d{3}-0\.\d{3}\)", output)


def test_no_color_is_respected(runs):
    assert not re.search(r"\x1b\[3\dm", text(runs["classes"]))


class Terminal:
    """A session: the command on a terminal of its own, which it can be interrupted from."""

    LAUNCH = (
        "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(2, termios.TIOCSCTTY, 0); "
        "os.execv(sys.argv[1], sys.argv[1:])"
    )

    def __init__(self, *arguments, folder, stdout=None, **environment):
        self.keyboard, screen = pty.openpty()
        fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-c", self.LAUNCH, COMMAND, *arguments],
            stdin=screen,
            stdout=stdout or screen,
            stderr=screen,
            cwd=folder,
            env=CLEAN | {"TERM": "xterm"} | environment,
        )
        os.close(screen)
        self.shown = b""

    def watch(self, until=None):
        """Read what is shown until some text appears, or to the end."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and (until is None or until not in self.shown):
            if not select.select([self.keyboard], [], [], 1)[0]:
                continue
            try:
                new = os.read(self.keyboard, 65536)
            except OSError:  # Linux: the other side was closed
                break
            if not new:
                break
            self.shown += new
        return self.shown

    def end(self):
        code = self.process.wait(PATIENCE)
        os.close(self.keyboard)
        return code


def test_progress_is_on_standard_error_and_only_on_a_terminal(folder, runs):
    with (folder / "piped.txt").open("wb") as piped:
        session = Terminal(*BASE, folder=folder, stdout=piped)
        shown = session.watch()
    assert session.end() == 0
    for stage in (b"reading", b"loading", b"searching"):
        assert stage in shown
    assert untimed((folder / "piped.txt").read_text(encoding="utf-8")) == untimed(text(runs["t.csv"]))


def test_a_terminal_gets_colours_and_the_same_words(folder, runs):
    session = Terminal("demo", folder=folder)
    shown = session.watch().decode().replace("\r\n", "\n")
    assert session.end() == 0
    assert "\x1b[34m" in shown
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    assert untimed(text(runs["demo"])) in untimed(plain)


@pytest.fixture(scope="module")
def slow(folder):
    """A table that takes long to search."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(20_000, 60)).astype(np.float32)
    pl.DataFrame(X, schema=[f"x{j}" for j in range(60)]).with_columns(y=X.sum(axis=1)).write_parquet(
        folder / "slow.parquet"
    )
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("stage", [b"looking", b"searching", b"halves of the rows"])
def test_ctrl_c_ends_a_run_at_once_and_leaves_nothing(slow, stage):
    before = set(slow.iterdir())
    work = ("slow.parquet",) if b"halves" not in stage else ("noise.csv", "--stability", "100000")
    session = Terminal("rank", *work, "-t", "y", "--html", "x.html", "--csv", "x.csv", folder=slow)
    session.watch(until=stage)
    time.sleep(0.2)
    pressed = time.monotonic()
    os.write(session.keyboard, b"\x03")
    shown = session.watch()
    assert session.end() == 130
    assert time.monotonic() - pressed < 4
    assert shown.endswith(b"interrupted\r\n") and b"Traceback" not in shown
    assert b"\x1b[?25h" in shown  # the cursor is back
    assert set(slow.iterdir()) == before


@pytest.mark.slow
def test_a_run_that_is_told_to_end_leaves_nothing(tmp_path):
    command = [COMMAND, "rank", "-", "-t", "y"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, env=CLEAN | {"TMPDIR": str(tmp_path)})
    process.stdin.write(b"x,y\n")
    process.stdin.flush()
    deadline = time.monotonic() + PATIENCE
    while not any(tmp_path.rglob("*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert any(tmp_path.rglob("*"))  # standard input goes to a file
    process.terminate()
    assert process.wait(PATIENCE) == 143
    process.stdin.close()
    assert not any(tmp_path.rglob("*"))


def in_shell(arguments, folder):
    """Run the command with what a shell does to its streams."""
    line = f"{shlex.quote(COMMAND)} {arguments}"
    return subprocess.run(["bash", "-c", line], capture_output=True, timeout=PATIENCE, env=CLEAN, cwd=folder)


@pytest.mark.slow
def test_a_reader_that_stops_early_is_no_error_and_gets_all_files(folder):
    finished = in_shell("demo ishigami --csv early.csv | head -1; exit ${PIPESTATUS[0]}", folder)
    assert finished.stdout.startswith(b"ishigami: ") and finished.stderr == b"" and finished.returncode == 141
    assert (folder / "early.csv").read_text().startswith('"rank","factor",')
    finished = in_shell("demo ishigami --csv none.csv --html none.html | true; exit ${PIPESTATUS[0]}", folder)
    assert (finished.stdout, finished.stderr, finished.returncode) == (b"", b"", 141)
    assert (folder / "none.csv").exists() and (folder / "none.html").exists()


def test_the_help_may_be_read_in_part(folder):
    finished = in_shell("rank --help | true; exit ${PIPESTATUS[0]}", folder)
    assert (finished.returncode, finished.stderr) == (141, b"")


@pytest.mark.slow
def test_who_closes_an_output_sees_nothing(folder):
    finished = in_shell("demo ishigami --csv closed.csv >&-", folder)
    assert (finished.returncode, finished.stderr) == (0, b"") and (folder / "closed.csv").exists()
    assert in_shell("rank nothing.csv -t y 2>&-", folder).returncode == 2


def test_a_closed_input_is_told(folder):
    finished = in_shell("rank - -t y <&-", folder)
    assert complaint(finished) == "standard input is closed. Name a file, or send a table through a pipe."


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_an_output_that_is_full_is_told(folder):
    assert complaint(in_shell("--help >/dev/full", folder)) == "standard output: No space left on device."
    assert complaint(in_shell("demo ishigami >/dev/full", folder)) == "standard output: No space left on device."


@pytest.mark.slow
def test_a_full_disk_is_told_with_the_file_and_its_option_below_the_result(tmp_path):
    def no_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50))

    finished = subprocess.run(
        [COMMAND, "demo", "ishigami", "--csv", "x.csv"],
        capture_output=True,
        cwd=tmp_path,
        env=CLEAN,
        preexec_fn=no_room,
    )
    assert finished.returncode == 2 and finished.stdout.startswith(b"ishigami: ") and b"Wrote" not in finished.stdout
    assert finished.stderr.endswith(b"error: --csv: 'x.csv' could not be written: File too large.\n")
    assert not any(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_files_are_written_where_the_output_is_full(tmp_path):
    finished = in_shell("demo ishigami --csv x.csv --plot nothing.gif/x.png >/dev/full", tmp_path)
    assert complaint(finished).startswith("--plot: there is no folder 'nothing.gif'")
    finished = in_shell("demo ishigami --csv x.csv >/dev/full", tmp_path)
    assert complaint(finished) == "standard output: No space left on device."
    assert (tmp_path / "x.csv").read_text().startswith('"rank","factor",')


LATE_FAILURES = {
    MemoryError(): (2, "--html: 'x.html' could not be written: there is not enough memory."),
    ValueError("the page is odd."): (2, "--html: 'x.html' could not be written: the page is odd."),
    KeyError("odd"): (1, "RuntimeError: --html: 'x.html' could not be written: KeyError: 'odd'. (--debug shows where)"),
}


@pytest.mark.parametrize("error", LATE_FAILURES, ids=repr)
def test_nothing_that_fails_later_keeps_the_result_from_being_printed(tmp_path, monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("firstfactor.reporting.report.write_report", fail)
    finished = run_here("demo", "ishigami", "--html", "x.html", "--csv", "x.csv", folder=tmp_path)
    code, said = LATE_FAILURES[error]
    assert (finished.returncode, finished.stderr.decode()) == (code, f"error: {said}\n")
    assert finished.stdout.startswith(b"ishigami: ") and b"Wrote x.csv\n" in finished.stdout
    assert b"x.html" not in finished.stdout and (tmp_path / "x.csv").exists()


def test_the_result_is_printed_before_files_are_written(tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("firstfactor.reporting.report.write_report", interrupt)
    finished = run_here("demo", "ishigami", "--html", "x.html", folder=tmp_path)
    assert finished.returncode == 130 and b"depends most on" in finished.stdout


def test_a_checkpoint_goes_with_files(folder):
    options = ("--checkpoint", "run.json", "--html", "run.html", "--plot", "run.svg")
    once, again = (untimed(text(run_here(*BASE, *options, folder=folder))) for _ in range(2))
    assert once == again and "Wrote run.html" in once and (folder / "run.html").exists()


@pytest.mark.parametrize("columns", ["0", "00", "²", "-1", "9" * 30])
def test_a_terminal_without_a_width_is_as_wide_as_usual(folder, runs, columns):
    assert untimed(text(run_here(*BASE, folder=folder, COLUMNS=columns))) == untimed(text(runs["t.csv"]))


@pytest.mark.parametrize("epoch", ["99999999999999", "-99999999999999", "9" * 400, "tomorrow", "²"])
def test_a_date_that_is_none_is_told_before_any_work(folder, epoch):
    for option in ("--html", "--plot"):
        finished = run_here(*BASE, option, "dated.svg", folder=folder, SOURCE_DATE_EPOCH=epoch)
        assert complaint(finished).startswith("SOURCE_DATE_EPOCH must be the number of seconds from 1970 to a date")
    assert run_here(*BASE, folder=folder, SOURCE_DATE_EPOCH=epoch).returncode == 0


# --- help -----------------------------------------------------------------------------------------------


def test_version_and_help():
    assert text(run("--version")) == f"firstfactor {firstfactor.__version__}\n"
    for arguments, word in [
        (("--help",), "Commands:"),
        (("rank", "-h"), "--n-neighbors"),
        (("demo", "--help"), "ishigami"),
    ]:
        output = text(run_here(*arguments))
        assert word in output and max(map(len, output.splitlines())) <= 80
    nothing = run()
    assert nothing.returncode == 2 and b"Usage: firstfactor" in nothing.stderr


def test_the_help_has_panels_and_the_options_that_matter_come_first():
    output = text(run_here("rank", "--help"))
    panels = re.findall(r"^(\w.*):$", output, re.MULTILINE)
    assert panels == ["Arguments", "Most used", "Data", "Selection", "Output", "Large tables", "For experts"]
    most_used = output.partition("Most used:")[2].partition("\n\n")[0]
    assert len(re.findall(r"^  -", most_used, re.MULTILINE)) == 10 and most_used.startswith("\n  -t, --target COLUMN ")
    assert len(output.splitlines()) <= 151
    listed = re.findall(r"^  (?:-\w, )?(--[\w-]+)", output, re.MULTILINE)
    assert len(listed) == len(set(listed)) and {flag(name) for name in RANK} <= {*listed}
    known = {*RANK, *(option.name for option in OUTPUTS), "target", "help"}
    assert known.issuperset(name for names in PANELS.values() for name in names)


def test_completion_knows_options_and_choices():
    def complete(words, last):
        finished = run(_FIRSTFACTOR_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(last))
        return finished.stdout.decode().split()

    assert complete("firstfactor rank --me", 2) == ["--method", "--memory"]
    assert complete("firstfactor rank --method f", 3) == ["first", "first-fast"]


def test_help_does_not_wait_for_compilers():
    code = (
        "import sys; from firstfactor.cli import main as cli; "
        "sys.argv = ['firstfactor', 'rank', '--help']; cli._main(); "
        "print([name for name in ('numba', 'sklearn', 'polars', 'matplotlib', 'numpy') if name in sys.modules])"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=CLEAN)
    assert finished.stdout.decode().splitlines()[-1] == "[]"


def test_what_looks_like_an_option_is_no_file_and_no_target(folder):
    refused = run_here("rank", "--tables", "-t", "y", folder=folder).stderr
    assert re.match(rb"error: No such option:? '?--tables", refused)  # typer and click word it in two ways
    assert run_here("rank", "-", "-t", "y", stdin=b"x,y\n1,2\n", folder=folder).returncode == 2


@pytest.mark.slow
def test_examples_in_the_help_run(table, tmp_path):
    renamed = table.rename({"size": "x1", "load": "x2", "code": "x3", "make": "x4"}).drop("sick")
    pl.concat([renamed, renamed]).write_parquet(tmp_path / "data.parquet")
    (tmp_path / "data").mkdir()
    renamed[:200].write_parquet(tmp_path / "data" / "1.parquet")
    renamed[200:].write_parquet(tmp_path / "data" / "2.parquet")
    renamed.with_columns(hour=pl.int_range(pl.len()) % 24).write_csv(tmp_path / "data.csv")
    panel = renamed.with_columns(y1="y", y2="x2", person=pl.int_range(pl.len()) // 5, w=pl.lit(1.0)).drop("y", "x2")
    panel.write_csv(tmp_path / "panel.csv")
    helps = text(run_here("rank", "--help")) + text(run_here("demo", "--help"))
    examples = re.findall(r"^    ((?:cat data\.csv \| )?firstfactor .*)$", helps, re.MULTILINE)
    assert len(examples) == 8
    examples.remove("firstfactor demo")  # in RUNS
    path = f"{Path(COMMAND).parent}{os.pathsep}{CLEAN['PATH']}"

    def one(example):
        if "|" not in example:
            return run_here(*shlex.split(example)[1:], folder=tmp_path)
        return subprocess.run(
            ["bash", "-c", example], capture_output=True, timeout=PATIENCE, cwd=tmp_path, env=CLEAN | {"PATH": path}
        )

    outputs = [words(text(one(example))) for example in examples]
    assert "442 rows, 10 factors (9 numbers, 1 category); progression is numeric." in outputs[-1]
    for name in ("report.html", "importance.png", "diabetes.html"):
        assert (tmp_path / name).stat().st_size > 1000


# --- errors ---------------------------------------------------------------------------------------------

ERRORS = {
    ("rnk",): "No such command 'rnk'. Did you mean 'rank'? See: firstfactor --help",
    ("rank",): "Missing argument 'DATA'. See: firstfactor rank --help",
    ("rank", "t.csv", "--metod", "first"): "No such option",
    ("rank", "t.csv", "--method", "best"): "'best' is not one of 'first', 'first-fast', 'backward', 'total'",
    ("rank", "t.csv", "--n-outer", "many"): "'many' is neither a number of rows nor a fraction of them.",
    ("rank", "t.csv", "--sample", "1"): "--sample must be a whole number of at least 3; got 1.",
    ("rank", "t.csv"): "--target is needed: the column to explain. The columns of t.csv are 'id', 'day', ",
    ("rank", "many.csv"): "'gene 3', 'gene 4', 293 more, and 'gene 298', 'gene 299', 'y'.",
    ("rank", "t.csv", "-t", "y", "--factors", "size", "load"): "there is no file 'load'. Separate several columns by a "
    "comma: --factors size,load. See: firstfactor rank --help",
    ("rank", "t.csv", "-t", "y", "--compact", "2"): "--compact must be True, False or a number from 0 to 1, such as 0.",
    ("rank", "t.csv", "-t", "y", "--model-score", "45"): "--model-score must be an R² of at most 1, such as 0.45 for",
    ("rank", "t.csv", "-t", "y", "--csv", "-", "--json", "-"): "--csv: '-' would overwrite what --json writes.",
    ("rank", "t.csv", "-t", "Y"): "--target: t.csv has no column 'Y'. Did you mean 'y'?",
    ("rank", "t.csv", "-t", "id"): "--target: column 'id' of t.csv holds 300 different texts in 300 rows; a class "
    "needs several rows.",
    ("rank", "t.csv", "-t", "day"): "--target: column 'day' of t.csv holds dates or times; a response is numbers or",
    ("rank", "t.csv", "-t", "y", "--factors", "sise"): "--factors: t.csv has no column 'sise'. Did you mean 'size'?",
    ("rank", "t.csv", "-t", "y", "--drop", "q*"): "--drop: t.csv has no column 'q*'. The columns are: 'id', ",
    ("rank", "t.csv", "-t", "y", "--categorical", "mke"): "t.csv has no column 'mke'. Did you mean 'make'?",
    ("rank", "tt.csv", "-t", "y"): "there is no file 'tt.csv'. Did you mean 't.csv'?",
    ("rank", "t.csv", "-t", "y", "--format", "parquet"): "t.csv cannot be read as parquet",
    ("rank", "latin.csv", "-t", "y"): "line 3 of latin.csv is not UTF-8 (byte 0xf6 at column 2).",
    ("rank", "ragged.csv", "-t", "y"): "line 4 of ragged.csv has 1 field, but the header has 2.",
    ("rank", "gaps.csv", "-t", "y", "--missing", "error"): "column 'size' of gaps.csv has 30 missing values (first on "
    "line 5). Use --missing level to take \"not known\" for a value of its own, --missing drop to leave out",
    ("rank", "t.csv", "-t", "y", "-t", "y"): "--target: column 'y' is named twice. Leave out one of them.",
    ("rank", "t.csv", "-t", "y", "--weight", "w"): "--weight: t.csv has no column 'w'.",
    ("rank", "t.csv", "-t", "y", "--weight", "make"): "--weight: column 'make' of t.csv must hold numbers.",
    ("rank", "t.csv", "-t", "y", "--weight", "size"): "--weight: column 'size' of t.csv must hold numbers of at least "
    "0, some above it; got -",
    ("rank", "t.csv", "-t", "y", "--weight", "y"): "--weight: column 'y' is also named in --target. Leave it out of",
    ("rank", "gaps.csv", "-t", "y", "--groups", "size"): "--groups: column 'size' of gaps.csv has 30 missing values "
    "(first on line 5). Every row needs one: fill it in, or leave out the row.",
    ("rank", "t.csv", "-t", "y", "--groups", "flat"): "--groups must tell at least two groups apart; all rows have the",
    ("rank", "t.csv", "-t", "y", "--groups", "code", "--factors", "code"): "--factors: column 'code' is also named in "
    "--groups.",
    ("rank", "t.csv", "-t", "y", "--factor-groups", "size"): "Invalid value for --factor-groups: 'size' is not NAME=",
    ("rank", "t.csv", "-t", "y", "--factor-groups", "s=sise"): "--factor-groups: t.csv has no column 'sise'. Did you "
    "mean 'size'?",
    ("rank", "t.csv", "-t", "y", "--factor-groups", "s=size,y"): "--factor-groups: column 'y' is the target, which is "
    "no factor.",
    ("rank", "t.csv", "-t", "y", "--factor-groups", "s=size,id"): "--factor-groups: column 'id' of t.csv cannot be a "
    "factor: text, all",
    ("rank", "t.csv", "-t", "y", "--factor-groups", "s=size,code", "--factor-groups", "t=code,load"): "--factor-"
    "groups: column 'code' is in 's' and in 't'; a column belongs to one factor.",
    ("rank", "t.csv", "-t", "y", "--group", "s=size", "--factor-groups", "t=load"): "Invalid value for --group: it is "
    "the same as --factor-groups.",
    ("rank", "t.csv", "-t", "y", "--period", "size=day"): "Invalid value for --period: 'day' is not a number.",
    ("rank", "t.csv", "-t", "y", "--period", "size=0"): "--period of 'size' must be above 0; got 0.0.",
    ("rank", "t.csv", "-t", "y", "--period", "make=3"): "--period is for numbers, but column 'make' holds categories.",
    ("rank", "t.csv", "-t", "y", "--scale", "sise=2"): "--scale: t.csv has no column 'sise'. Did you mean 'size'?",
    ("rank", "t.csv", "-t", "y", "--scale", "size=2", "--no-scale"): "Invalid value for --no-scale: it does not go "
    "with --scale.",
    ("rank", "t.csv", "-t", "y", "--forced", "size", "--drop", "size"): "--forced: column 'size' is not a factor here, "
    "because of --factors or --drop.",
    ("rank", "t.csv", "-t", "y", "--forced", "size", "--factor-groups", "s=size,load"): "--forced: column 'size' is in "
    "the group 's'. Name that.",
    ("rank", "t.csv", "-t", "y", "--forced", "size", "--method", "total"): "--forced is for methods that select",
    ("rank", "t.csv", "-t", "y", "--max-factors", "0"): "--max-factors must be a whole number of at least 1; got 0.",
    ("rank", "t.csv", "-t", "y", "--max-factors", "1", "--method", "backward"): "--max-factors goes with --method",
    ("rank", "t.csv", "-t", "y", "-t", "size", "--output-weights", "1"): "--output-weights must hold a number for each "
    "output (2), at least one above 0; got [1.0].",
    ("rank", "t.csv", "-t", "y", "-t", "size", "--output-weights", "1,x"): "Invalid value for --output-weights: 'x' is",
    ("rank", "t.csv", "-t", "sick", "--response-scale", "ranks"): "--response-scale ranks is for quantities; the "
    "target has",
    ("demo", "--seed", "1", "--seed", "2"): "--seed is given 2 times; it takes one value. See: firstfactor demo --help",
    ("rank", "t.csv", "-t", "y", "--factors", "size,day"): "--factors: column 'day' of t.csv cannot be a factor: "
    "dates, but '2024-02-31' is none. Use --categorical 'day' to take its values as labels, or leave it out.",
    ("rank", "two.csv", "-t", "y"): "two.csv has 2 rows; at least 3 are needed.",
    ("rank", "t.csv", "-t", "y", "--memory", "lots"): "--memory must be a size above 0 such as '4GB', '500MB' or",
    ("rank", "t.parquet", "-t", "y", "--memory", "1MB"): "--memory must be at least",
    ("rank", "t.csv", "-t", "y", "--memory", "4GB", "--unique"): "--unique does not go with --memory: it takes all",
    ("rank", "t.csv", "-t", "y", "--table", "one"): "--table is for excel, sqlite, duckdb files; t.csv is read as csv.",
    ("rank", "t.csv", "-t", "y", "--decimal", "x"): "'x' is not one of '.', ','",
    ("rank", "marks.csv", "-t", "y"): "holds numbers, but for 'y' on line 2 and 1 more, of 40 values. Use --na 'y'",
    ("rank", "t.csv", "-t", "y", "--plot", "x.gif"): "--plot must end in one of .png, .svg, .pdf; got 'x.gif'.",
    ("rank", "t.csv", "-t", "y", "--html", "no/x.html"): "--html: there is no folder 'no'. Make it first.",
    ("rank", "t.csv", "-t", "y", "--csv", "t.csv"): "--csv: 't.csv' would overwrite the data.",
    ("rank", "t.csv", "two.csv", "-t", "y", "--csv", "two.csv"): "--csv: 'two.csv' would overwrite the data.",
    ("rank", "parts", "-t", "y", "--csv", "parts/b.csv"): "--csv: 'parts/b.csv' would overwrite the data.",
    ("rank", "parts/*", "-t", "y", "--csv", "parts/a.csv"): "--csv: 'parts/a.csv' would overwrite the data.",
    ("rank", "x*.csv", "-t", "y"): "data: no file matches the pattern 'x*.csv'. Correct it, or name the files.",
    ("rank", "none", "-t", "y", "--csv", "o"): "data: the folder 'none' holds no files; names that begin with . or _",
    ("rank", "t.csv", "-", "-t", "y"): "data: standard input (-) cannot be read together with files.",
    ("rank", "t.csv", "t.csv", "-t", "y"): "data: 't.csv' is named twice. Leave out one.",
    ("rank", "t.csv", "t.parquet", "-t", "y"): "data: t.csv is read as csv, but t.parquet as parquet.",
    ("rank", "t.csv", "two.csv", "-t", "y"): "data: column 'id' of t.csv is not in two.csv. All files must have the "
    "same columns: add it, rename it, or leave the column out (--drop).",
    ("rank", "parts", "-t", "y", "--factors", "z"): "--factors: a.csv … b.csv (2 files) has no column 'z'.",
    ("rank", "t.csv", "-t", "y", "--csv", "o", "--json", "o"): "--csv: 'o' would overwrite what --json writes.",
    ("rank", "t.csv", "-t", "y", "--json", "/dev/null"): "--json: '/dev/null' is not a file.",
    ("rank", "t.csv", "-t", "y", "--n-neighbors", "1"): "--n-neighbors must be a whole number from 2 to 300",
    ("rank", "t.csv", "-t", "y", "--n-outer", "400"): "--n-outer must be a whole number from 1 to 300",
    ("rank", "t.csv", "-t", "y", "--task", "classification"): "--target: column 'y' of t.csv holds 300 "
    "different values in 300 rows; a class needs several rows. Leave out --task, or add a column",
    ("rank", "t.csv", "-t", "sick", "--task", "regression"): "the target must hold numbers for --task regression; got "
    "labels such as 'yes'. Use --task classification, or convert the target.",
    ("rank", "t.csv", "-t", "flat"): "the target must vary, but all 300 values are 3: only 1 class or value.",
    ("demo", "--rule", "calibrated", "--method", "first-fast"): "--rule calibrated goes with --method first only; got",
    ("demo", "--alpha", "0.05", "--rule", "paper"): "--alpha is for --rule calibrated; leave out --alpha or --rule",
    ("demo", "--alpha", "0.05", "--method", "total"): "--alpha is for --rule calibrated; leave out --alpha or --method",
    ("demo", "--alpha", "1.5"): "--alpha must be a number from 0.001 to 1; got 1.5.",
    ("demo", "--split", "--method", "total"): "--split goes with --method first or --method first-fast; got --method",
    ("demo", "--stability", "9", "--method", "backward"): "--stability goes with --method first or --method first",
    ("demo", "--stability", "9", "--n-outer", "501"): "--n-outer must be at most 500, half of the rows, with",
    ("demo", "--stability", "0"): "--stability must be a whole number of at least 1; got 0.",
    ("demo", "nothing"): "'nothing' is not one of 'friedman', 'ishigami'",
}  # fmt: skip


def test_an_error_is_one_line_that_says_what_to_do(folder):
    (folder / "latin.csv").write_bytes("x,y\n1,2\nKöln,3\n".encode("latin1"))
    (folder / "ragged.csv").write_text("x,y\n1,2\n3,4\n5\n")
    (folder / "two.csv").write_text("x,y\n1,2\n3,4\n")
    (folder / "none").mkdir()
    (folder / "parts").mkdir()
    for name in "ab":
        (folder / "parts" / f"{name}.csv").write_text("x,y\n1,2\n3,4\n")
    (folder / "marks.csv").write_text("x,y\n" + "".join(f"{i if i % 20 else 'y'},{i % 7}\n" for i in range(40)))
    for arguments, message in ERRORS.items():
        assert message in complaint(run_here(*arguments, folder=folder)), arguments


@pytest.mark.parametrize("package", ["typer", "rich", "polars"])
def test_a_missing_package_is_told_with_the_extra_that_brings_it(package):
    code = (
        f"import sys; sys.modules['{package}'] = None; sys.argv = ['firstfactor', 'demo']; "
        "from firstfactor.cli import main as cli; cli.main()"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, env=CLEAN)
    assert finished.returncode != 0 and finished.stdout == b""
    message = f"error: the command firstfactor needs {package}: pip install 'firstfactor[cli]'\n"
    assert finished.stderr.decode() == message


def test_debug_shows_where_an_error_comes_from(folder):
    finished = run("rank", "t.csv", "-t", "nothing", "--debug", folder=folder)
    assert finished.returncode == 2
    assert b"Traceback" in finished.stderr and b"dataset.py" in finished.stderr
    assert finished.stderr.splitlines()[-1].startswith(b"error: --target: t.csv has no column 'nothing'")


def test_a_failure_leaves_the_file_that_was_there(folder):
    (folder / "kept.html").write_text("before")
    complaint(run_here("rank", "t.csv", "-t", "nothing", "--html", "kept.html", folder=folder))
    assert (folder / "kept.html").read_text() == "before"


def test_characters_without_a_font_are_told_in_a_line(tmp_path):
    frame = pl.DataFrame({"\U0010fffd": np.arange(40.0) % 7, "b": np.arange(40.0) ** 2 % 11})
    frame.with_columns(y=pl.col("\U0010fffd") * 2).write_csv(tmp_path / "t.csv")
    for ending in ("png", "svg", "pdf"):
        printed = text(
            run_here("rank", "t.csv", "-t", "y", "--plot", f"t.{ending}", "--html", "t.html", folder=tmp_path)
        )
        assert "Note: No installed font has \U0010fffd; the picture shows boxes instead." in printed


def test_identifiers_and_copies_are_told_with_the_option_that_helps(tmp_path):
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(60), 5)
    y = rng.normal(size=60)[person] + 0.1 * rng.normal(size=300)
    frame = pl.DataFrame({"person nr": person, "hours": rng.normal(size=300), "y": y})
    pl.concat([frame, frame]).write_csv(tmp_path / "t.csv")
    outputs = ("--json", "t.json", "--html", "t.html")
    for method in ("first", "total"):
        printed = words(text(run_here("rank", "t.csv", "-t", "y", "--method", method, *outputs, folder=tmp_path)))
        assert "Note: 300 of 600 rows are copies of others, the response included." in printed
        assert "Use --unique to keep each row once." in printed
    found = json.loads((tmp_path / "t.json").read_text())["findings"]
    assert ("copies", 300, []) in [(one["kind"], one["count"], one["columns"]) for one in found]
    assert "300 of 600 rows are copies" in (tmp_path / "t.html").read_text()
    printed = words(text(run_here("rank", "t.csv", "-t", "y", "--unique", *outputs, folder=tmp_path)))
    assert printed.startswith("t.csv: 300 rows (300 copies of others dropped), 2 factors")
    assert "Note: Rows with the same person nr are alike beyond what the other factors explain" in printed
    assert "Use --groups 'person nr' to keep such rows from being each other's neighbours." in printed
    facts = json.loads((tmp_path / "t.json").read_text())
    assert [(one["kind"], one["columns"]) for one in facts["findings"]] == [("units", ["person nr"])]
    assert (facts["data"]["rows_used"], facts["data"]["copies_dropped"]) == (300, 300)
    assert "300 copies of rows were left out." in (tmp_path / "t.html").read_text()


@pytest.mark.parametrize(
    ("old", "now"),
    [
        (("--estimator", "nearest"), ("--variance-estimator", "nearest")),
        (("--response", "ranks"), ("--response-scale", "ranks")),
        (("--group", "both=x1,x2"), ("--factor-groups", "both=x1,x2")),
    ],
)
def test_options_work_by_their_old_names_and_say_so(tmp_path, old, now):
    X, y = problems.friedman.sample(60, seed=0, frame="polars")
    X.with_columns(y).write_csv(tmp_path / "t.csv")
    start = ["rank", tmp_path / "t.csv", "-t", "y", "--method", "total", "--csv"]
    there, here = (run_here(*start, tmp_path / f"{name}.csv", *given) for name, given in (("old", old), ("now", now)))
    assert f"warning: {old[0]} is now called {now[0]}" in there.stderr.decode() and not here.stderr
    assert (tmp_path / "old.csv").read_text() == (tmp_path / "now.csv").read_text()
