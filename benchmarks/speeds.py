"""Speeds on pages, written between markers from what `benchmarks.compare` and `benchmarks.growth` stored."""

import json

from . import growth
from .cases import find
from .markers import fill, table
from .measure import ROOT
from .stamp import describe

STORED = ROOT / "benchmarks" / "results" / "compare.json"
README, DOCS = ROOT / "README.md", ROOT / "docs"

# Groups of cases in docs/performance.md, under these words.
TABLES = {
    "first": "against the first release (85a68c7), times as long",
    "pyfirst": "the procedure of pyfirst 1.0.2, two threads, times as fast (in brackets: one thread)",
    "million": "a million rows",
    "rank": "`rank`, two threads, wall time, times as long",
    "calibrated": "a fit by the calibrated rule, against 0.2.0, times as long",
    "start": "starting",
    "threads": "threads, wall time",
}
# Rows of README.md: cases under these words, and what they are compared with.
SHORT = {
    "pyfirst-50000x10": ("50,000 rows, 10 factors, the same procedure", "pyfirst 1.0.2"),
    "pyfirst-1000x1000": ("1,000 rows, 1,000 factors, the same procedure", "pyfirst 1.0.2"),
    "million-tree": ("a million rows, 20 factors", "one search by scipy's cKDTree"),
}


def read():
    """Return the stored rows by name."""
    rows = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else []
    return {row["name"]: row for row in rows}


def figure(case, row):
    """Return a figure with its unit, and in brackets that of one thread if there are two."""
    return f"{_number(row)} {case.unit}"


def verdict(case, row):
    """Say whether a figure, as it is shown, keeps its bound, and how far answers differ."""
    said = [] if not case.bound else ["reached" if case.is_reached(_rounded(row["value"])) else "not reached"]
    if "difference" in row:
        said.append(f"answers differ by {row['difference']:.0e}")
    return ", ".join(said)


def _rounded(value):
    """Return a figure with three digits, and without decimals from 100 on."""
    return float(f"{value:.3g}" if value < 100 else f"{value:.0f}")


def _number(row):
    one_thread = f" ({_rounded(row['one_thread']):g})" if "one_thread" in row else ""
    return f"{_rounded(row['value']):g}{one_thread}"


def full_table(rows, groups):
    """Return all cases of some groups, one in a row."""
    lines = []
    for group, words in groups.items():
        lines += [(f"**{words}**", "", "", "")] if words else []
        for case in find([group]):
            row = rows.get(case.name)
            measured = (figure(case, row), verdict(case, row)) if row else ("–", "not measured")
            lines.append((case.words, case.bound, *measured))
    return table(("rows × factors", "wanted", "measured", ""), lines)


def short_table(rows):
    """Return a few cases in plain words, and when they were measured."""
    lines, when = [], describe([rows[name]["measured"] for name in SHORT if name in rows])
    for name, (words, against) in SHORT.items():
        (case,), row = find([name]), rows.get(name)
        how = "as long" if case.at_least is None else "as fast"
        lines.append((words, f"{_rounded(row['value']):g} × {how}" if row else "not measured", against))
    return f"{table(('speed', '', 'against'), lines)}\n\n{when} [All speeds](docs/performance.md)."


def pages(rows, grown):
    """Return the text of each page as it should be."""
    when = describe([row["measured"] for row in rows.values()])
    parts = {
        README: {"speeds": short_table(rows)},
        DOCS / "performance.md": {
            "speeds": f"{when}\n\n{full_table(rows, TABLES)}",
            "everyday": full_table(rows, {"everyday": ""}),
            "growth": growth.describe_growth(grown),
        },
        DOCS / "guide" / "sharing.md": {"speeds": f"{when}\n\n{full_table(rows, {'sharing': ''})}"},
    }
    return {page: fill(page.read_text(encoding="utf-8"), each) for page, each in parts.items()}


def write():
    """Write all pages."""
    for page, text in pages(read(), growth.read()).items():
        page.write_text(text, encoding="utf-8")
