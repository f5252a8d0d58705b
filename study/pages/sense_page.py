"""The page on what is noticed about real tables, docs/results/sense.md: made from what is stored, never by hand."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from firstfactor._utils.atomic_write import write_whole

from ..data.sense_tables import SENSE_TABLES, SenseTable
from ..runs.sense_tables import MAX_ROWS, key, read_sense_tables
from ..scores.sense import Judgement, judge, total
from .layout import Table
from .study_page import PAGE

SENSE_PAGE = PAGE.with_name("sense.md")

TARGETS = {"leaks": 0.9, "derived": 0.9, "dummies": 0.9}
"""Shares that are to be noticed."""
MOST_FALSE = 0.05
"""Share of tables with a false alarm that is allowed, of each kind."""
FIRST_RUN = {
    "leaks": (61, 71),
    "tables with leaks": (45, 49),
    "derived": (283, 328),
    "dummies": (23, 27),
    "units": (13, 25),
    "false_leaks": (0, 133),
    "false_functions": (2, 133),
    "false_dummies": (6, 133),
    "false_units": (1, 133),
}
"""What the first run on these tables gave; mechanisms were mended afterwards."""

WORDS = {
    "leaks": "columns that contain the target, alone or together: noticed",
    "tables with leaks": "tables with such columns: at least one noticed",
    "derived": "columns that are functions of others: noticed",
    "dummies": "categories spread over columns: noticed",
    "units": "columns of units: proposed as groups of rows",
    "false_leaks": "tables with a false alarm about the target",
    "false_functions": "tables with a column that is wrongly said to be a function of others",
    "false_dummies": "tables with columns that are wrongly said to be one category",
    "false_units": "tables with wrong units",
}

INTRODUCTION = """\
# What is noticed about real tables

**In short:** in the first run on these tables, `rank` noticed about six of seven columns that contain the target or are
functions of others; since faults were mended, more than nine of ten. False alarms are rare.

What `rank` notices about {tables} real tables and targets, beside what a careful colleague would notice.
The truth was written from the description of each table and the names and units of its columns, before anything that
notices such columns was run on them (`study/data/sense_tables.py`). The page is written by `python -m study show all`
from `study/results/sense_tables.json`; `python -m study.runs.sense_tables` looks anew, with numpy's warnings as errors.

The first run is the fair test: the rules had been designed on other tables. What it missed was then examined, and
the rules were mended: shares of a sum, quantities that differ by a few constants, which of two columns is larger,
indicators decided by two others, products with indicators, squares of signed quantities, relations with errors in a few
rows, levels of a category that stand apart. The last column is therefore optimistic. Units are proposed only if their
rows are alike in what the other factors do not explain: in a panel where they are not, there is nothing to say."""


def write_sense_page(page: Path = SENSE_PAGE) -> None:
    """Write the page."""
    text = make_sense_page(read_sense_tables())
    write_whole(page, lambda file: file.write(text.encode()))


def make_sense_page(stored: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the page in Markdown."""
    there = [table for table in SENSE_TABLES if key(table) in stored]
    judged = {key(table): judge(table, stored[key(table)]["findings"]) for table in there}
    parts = [INTRODUCTION.format(tables=len(there)), _totals(list(judged.values())).markdown().strip(), "## Each table"]
    parts.append(
        f"Headlines are of at most {MAX_ROWS:,} rows; findings are of all. After: with `--leaks drop --regroup`."
    )
    parts += [_describe(table, stored[key(table)], judged[key(table)]) for table in there]
    return "\n\n".join(parts) + "\n"


def _totals(judged: list[Judgement]) -> Table:
    rows = []
    for name, (count, of) in total(judged).items():
        first, all_first = FIRST_RUN[name]
        target = (
            f"at least {TARGETS[name]:.0%}"
            if name in TARGETS
            else f"at most {MOST_FALSE:.0%}"
            if name.startswith("false")
            else "–"
        )
        rows.append([WORDS[name], target, _share(first, all_first), _share(count, of)])
    return Table("", ("", "target", "first run", "now"), rows)


def _share(count: int, of: int) -> str:
    return f"{count} of {of} ({count / max(of, 1):.0%})"


def _describe(table: SenseTable, stored: Mapping[str, Any], found: Judgement) -> str:
    """Return what is said of a table, and what of it is right, wrong or missed."""
    lines = [
        f"**{table.title}** ({table.package}, {stored['n_rows']:,} rows, {stored['n_factors']} factors; {table.note})",
        "",
    ]
    if "before" in stored:
        lines.append(f"- Before: {_escape(stored['before'])} After: {_escape(stored['after'])}")
    wrong = {
        sentence.split(": ", 1)[-1] if name == "false_functions" else sentence
        for name in ("false_leaks", "false_functions", "false_dummies", "false_units")
        for sentence in getattr(found, name)
    }
    debatable = {*table.debatable.replace(" ", "").split(",")}
    for one in stored["findings"]:
        verdict = "false alarm" if one["sentence"] in wrong else "as it is"
        if one["kind"] != "few rows" and verdict != "false alarm":
            verdict = "debatable" if debatable.issuperset(name.replace(" ", "") for name in one["columns"]) else "right"
        way_out = f" `{one['command']}`" if one["command"] else ""
        lines.append(f"- {one['kind']}: {_escape(one['sentence'])}{way_out} – {verdict}.")
    missed = [
        name
        for kind in ("leaks", "derived", "dummies", "units")
        for name, is_noticed in getattr(found, kind).items()
        if not is_noticed
    ]
    if missed:
        lines.append(f"- Missed: {_escape('; '.join(missed))}.")
    if not stored["findings"]:
        lines.append("- Nothing is noticed.")
    return "\n".join(lines)


def _escape(text: str) -> str:
    """Return text in which Markdown sees no emphasis."""
    return text.replace("_", "\\_").replace("*", "\\*").replace("<", "&lt;")
