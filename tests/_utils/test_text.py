"""Text from tables, files and arguments: nothing that a terminal or a spreadsheet would obey gets through."""

import csv
import io
import json
import re
import sys
import unicodedata

import numpy as np
import polars as pl
import pytest

from firstfactor import FIRST, backward_elimination, explained_variance, stability, total_indices
from firstfactor._utils.text import printable, without_controls
from firstfactor.cli import main as cli
from firstfactor.cli.run import progress

# Titles, clearing the screen, colours in one byte, going back, reordering, line breaks of all kinds.
HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\x08\u202eab\u2066\u2028\x85\x7f"
NAMES = [f"{HOSTILE}{letter}" for letter in "abc"]


def assert_harmless(text):
    obeyed = {c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    assert text and not obeyed


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    levels = np.array([f"{HOSTILE}{level}" for level in "pq"])[rng.integers(0, 2, size=80)]
    y = X[:, 0] + (levels == levels[0]) + 0.1 * rng.normal(size=80)
    return pl.DataFrame(X, schema=NAMES[:2]).with_columns(
        pl.Series(NAMES[2], levels),
        pl.Series(f"{HOSTILE}y", y),
        pl.Series(f"{HOSTILE}class", np.where(y > 0, f"{HOSTILE}yes", f"{HOSTILE}no")),
        pl.Series(f"{HOSTILE}day", ["2024-01-01"] * 80).str.to_date(),
        pl.Series(f"{HOSTILE}name", [f"{HOSTILE}{row}" for row in range(80)]),  # differs in every row: left out
    )


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp(HOSTILE)
    table.write_parquet(folder / f"{HOSTILE}.parquet")
    (folder / f"{HOSTILE}.csv").write_text("x,y\n1,2\n3\n")
    (folder / HOSTILE).write_text("x,y\n1,2\n3,4\n")
    return folder


@pytest.fixture
def command(monkeypatch, capsys, folder):
    """The command in this process; returns its exit code and what it wrote."""
    monkeypatch.chdir(folder)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["firstfactor", *map(str, arguments)])
        return cli._main(), *capsys.readouterr()

    return run


def test_characters_are_kept_removed_or_replaced():
    assert without_controls("a  b – Ω 漢") == "a  b – Ω 漢"
    assert without_controls("a\x1b[2J\u202eb\n") == "a�[2Jb�"
    assert printable("\n a \t b ") == "a b" and printable("\u202e") == "(no name)"
    assert_harmless(without_controls(HOSTILE))


@pytest.mark.parametrize("target", ["y", "class"])
def test_results_in_a_terminal(command, folder, target):
    page, wrote = folder / f"{HOSTILE}.json", f"{HOSTILE}.json"
    other = f"{HOSTILE}{'class' if target == 'y' else 'y'}"
    code, out, err = command(
        "rank", f"{HOSTILE}.parquet", "-t", f"{HOSTILE}{target}", "--drop", other, "--json", wrote, "--stability", "2"
    )
    assert (code, err) == (0, "")
    assert_harmless(out)
    printed = " ".join(out.split())
    assert "Wrote " in printed and "Left out: " in printed
    names = {factor["factor"] for factor in json.loads(page.read_text())["factors"]}
    assert names == {*NAMES, f"{HOSTILE}day"}


@pytest.mark.parametrize(
    "arguments",
    [
        (HOSTILE,),
        ("rank", f"--{HOSTILE}"),
        ("rank", "x.csv", "--method", HOSTILE),
        ("rank", "x.csv", "--n-outer", HOSTILE),
        ("rank", f"{HOSTILE}.tsv", "-t", "y"),
        ("rank", f"{HOSTILE}.parquet"),
        ("rank", f"{HOSTILE}.parquet", "-t", HOSTILE),
        ("rank", f"{HOSTILE}.parquet", "-t", f"{HOSTILE}day", "--debug"),
        ("rank", f"{HOSTILE}.parquet", "-t", f"{HOSTILE}y", "--drop", HOSTILE),
        ("rank", f"{HOSTILE}.csv", "-t", "y"),
        ("rank", f"{HOSTILE}.csv", "-t", "y", "--debug"),
        ("rank", HOSTILE, "-t", "y"),
        ("rank", HOSTILE, "-t", "y", "--format", "parquet"),
        ("rank", f"{HOSTILE}.csv", "-t", "y", "--plot", HOSTILE),
        ("rank", f"{HOSTILE}.csv", "-t", "y", "--html", f"{HOSTILE}/page.html"),
        ("rank", f"{HOSTILE}.csv", "-t", "y", "--csv", f"{HOSTILE}.csv"),
    ],
)
def test_errors_in_a_terminal(command, arguments):
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert_harmless(err)
    assert "error: " in err


def test_progress_in_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress(True) as show:
        show(f"searching: {HOSTILE}")
    shown = sys.stderr.getvalue()
    assert "owned" in shown
    assert not any(sequence in shown for sequence in ("\x1b]0;", "\x07", "\x1b[2J", "\x9b", "\u202e", "\u2066"))


def test_results_that_python_prints(table, capsys):
    X, y = table.select(NAMES), table[f"{HOSTILE}y"]
    selector = FIRST(verbose=1, categorical=[NAMES[2]]).fit(X, y)
    assert_harmless(capsys.readouterr().err)
    for result in (
        selector,
        selector.path_,
        selector.indices_,
        total_indices(X, y),
        total_indices(X, y, subset=NAMES[:2]),
        backward_elimination(X, y).path,
        stability(X, y, n_pairs=2, random_state=0),
    ):
        assert_harmless(f"{result}{result!r}")


def test_errors_that_python_prints(table):
    X, y = table.select(NAMES), table[f"{HOSTILE}y"]
    gap = X.with_columns(pl.Series(NAMES[0], [None, *range(79)]))
    for refused in (
        lambda: FIRST(missing="error").fit(gap, y),
        lambda: FIRST(categorical=[HOSTILE]).fit(X, y),
        lambda: explained_variance(X, y, [HOSTILE]),
        lambda: FIRST().fit(X, table.select(f"{HOSTILE}day", f"{HOSTILE}y")),
    ):
        with pytest.raises((ValueError, TypeError)) as refusal:
            refused()
        assert_harmless(str(refusal.value))


def test_a_spreadsheet_finds_no_formulas(command, folder):
    names = [
        "=cmd|' /C calc'!A0",
        "+1",
        "-1",
        "@SUM(1)",
        "\t=1",
        "\r=1",
        "harmless",
        "'quoted",
        "a;=1+1;b",
        "\uff1d1+1",
    ]
    rng = np.random.default_rng(0)
    X = pl.DataFrame(rng.normal(size=(60, len(names))), schema=names)
    X.with_columns(y=X["+1"] + X["harmless"]).write_parquet(folder / "formulas.parquet")
    assert command("rank", "formulas.parquet", "-t", "y", "--csv", "f.csv", "--json", "f.json", "--quiet")[0] == 0
    with (folder / "f.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = {row["factor"] for row in rows}
    assert found == {
        "'=cmd|' /C calc'!A0", "'+1", "'-1", "'@SUM(1)", "'\t=1", "'\r'=1", "harmless", "'quoted", "a;'=1+1;b",
        "'\uff1d1+1",
    }  # fmt: skip
    outside_quotes = re.sub('"[^"]*"', "", (folder / "f.csv").read_bytes().decode())
    assert re.fullmatch(r"(?:true|false|[\d.e,\n+-])*", outside_quotes)
    assert all(float(row["importance"]) >= 0 for row in rows)
    assert {row["factor"] for row in json.loads((folder / "f.json").read_text())["factors"]} == set(names)
