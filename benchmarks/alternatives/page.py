"""The tables of docs/alternatives.md, written between markers from what is stored."""

from collections import defaultdict
from pathlib import Path
from statistics import mean, median

import numpy as np

from .. import markers
from ..markers import table
from .methods import METHODS, OURS
from .scores import distance, false_share, found_share, is_exact, shares
from .tables import NOISE, PROBLEMS, REAL, WIDE

PAGE = Path(__file__).parents[2] / "docs" / "alternatives.md"
NOTHING = "–"
DETAILED = "Friedman, ρ = 0.8"
TIMED = ("Friedman, ρ = 0.8", WIDE[1].name, *(each.name for each in REAL))


class Found:
    """Stored records by table and method."""

    def __init__(self, stored):
        self.truth = stored["truth"]
        self.calls = stored["calls"]
        self.versions = stored["versions"]
        self._records = defaultdict(list)
        for record in stored["records"]:
            self._records[record["table"], record["method"]].append(record)

    def of(self, table_name, method_name, field):
        """What runs of a method have in a field; runs that have none are left out."""
        return [each[field] for each in self._records[table_name, method_name] if field in each]

    def failed(self, table_name, method_name):
        """Whether a method ended with an error on all of these tables."""
        records = self._records[table_name, method_name]
        return bool(records) and all("error" in each for each in records)

    def ratios(self, table_name, method_name):
        """Seconds of a method as multiples of ours on the same draws."""
        ours = {each["repetition"]: each["seconds"] for each in self._records[table_name, OURS]}
        records = self._records[table_name, method_name]
        return [each["seconds"] / ours[each["repetition"]] for each in records if "seconds" in each]


def exact(found):
    """How often each method that selects finds exactly the true factors, and something in noise."""
    rows = []
    for method in METHODS:
        per_table = [found.of(each.name, method.name, "selected") for each in PROBLEMS]
        in_noise = found.of(NOISE.name, method.name, "selected")
        if not in_noise:
            continue
        hits = [
            share_of(is_exact(selected, each.true_factors) for selected in some)
            for each, some in zip(PROBLEMS, per_table, strict=True)
        ]
        rows.append((method.name, *hits, share_of(map(bool, in_noise)), len(in_noise)))
    return table(("", *(each.name for each in PROBLEMS), "something found in noise", "tables of each kind"), rows)


def on_top(found):
    """How often the true factors have the largest importances."""
    rows = []
    for method in METHODS:
        hits = [found.of(each.name, method.name, "on_top") for each in PROBLEMS]
        if any(hits):
            rows.append((method.name, *map(share_of, hits)))
    return table(("", *(each.name for each in PROBLEMS)), rows)


def share_of(hits):
    """A share of tables, with as many digits as twenty tables give."""
    hits = list(hits)
    return f"{mean(map(float, hits)):.2f}" if hits else NOTHING


def wide(found):
    """What is found in a wide linear table, and how much of what is selected is false."""
    rows = []
    for method in METHODS:
        selections = found.of(WIDE.name, method.name, "selected")
        if selections:
            hits = WIDE_TRUE * mean(found_share(each, WIDE.true_factors) for each in selections)
            wrong = mean(false_share(each, WIDE.true_factors) for each in selections)
            size = mean(map(len, selections))
            rows.append((method.name, f"{hits:.1f}", f"{size:.1f}", f"{wrong:.2f}", len(selections)))
    return table(("", f"true ones found, of {WIDE_TRUE}", "selected", "false among them", "tables"), rows)


def importance(found):
    """Mean shares of the sum of importances in one problem, next to the true ones."""
    true_factors = next(each.true_factors for each in PROBLEMS if each.name == DETAILED)
    rows = [("**truth**", *_shares_of([found.truth[DETAILED]], true_factors))]
    for method in METHODS:
        importances = found.of(DETAILED, method.name, "importances")
        if method.has_shares and importances:
            rows.append((method.name, *_shares_of(importances, true_factors)))
    return table(("", *(f"x{j + 1}" for j in true_factors), "all others"), rows)


def _shares_of(importances, true_factors):
    means = sum(map(shares, importances)) / len(importances)
    named = [means[j] for j in true_factors]
    return [f"{share:.2f}" for share in (*named, np.delete(means, true_factors).sum())]


def distances(found):
    """How far shares are from the true ones, on average over tables."""
    rows = []
    for method in METHODS:
        per_table = [
            [distance(each, found.truth[kind.name]) for each in found.of(kind.name, method.name, "importances")]
            for kind in PROBLEMS
        ]
        if method.has_shares and any(per_table):
            rows.append((method.name, *(f"{mean(some):.2f}" if some else NOTHING for some in per_table)))
    rows += [_called(found, n_base) for n_base in sorted({each["n_base"] for each in found.calls})]
    return table(("", *(each.name for each in PROBLEMS)), rows)


def _called(found, n_base):
    """The distances of Saltelli's design, and how often it calls the function."""
    per_table = defaultdict(list)
    for each in found.calls:
        if each["n_base"] == n_base:
            per_table[each["table"]].append(distance(each["importances"], found.truth[each["table"]]))
    calls = [each["calls"] for each in found.calls if each["n_base"] == n_base]
    name = f"SALib, Saltelli's design, {min(calls):,}–{max(calls):,} calls of the function"
    cells = (per_table[each.name] for each in PROBLEMS)
    return (name, *(f"{mean(some):.2f}" if some else NOTHING for some in cells))


def times(found):
    """Seconds of our calibrated rule, and of others as multiples of it."""
    rows = []
    for method in METHODS:
        ratios = [found.ratios(name, method.name) for name in TIMED]
        if method.name == OURS:
            rows.append((OURS, *(f"{median(found.of(name, OURS, 'seconds')):.2g} s" for name in TIMED)))
        elif any(ratios):
            cells = zip(TIMED, ratios, strict=True)
            rows.append((method.name, *(_ratio(found, name, method.name, some) for name, some in cells)))
    return table(("", *TIMED), rows)


def _ratio(found, table_name, method_name, ratios):
    if not ratios:
        return "error" if found.failed(table_name, method_name) else NOTHING
    middle = median(ratios)
    return f"{middle:.0f} ×" if middle >= 10 else f"{middle:.2g} ×"


def real(found):
    """How many factors are selected in real tables."""
    rows = []
    for method in METHODS:
        sizes = [list(map(len, found.of(each.name, method.name, "selected"))) for each in REAL]
        if any(sizes):
            rows.append((method.name, *map(_range, sizes)))
    return table(("", *(each.name for each in REAL)), rows)


def _range(sizes):
    if not sizes:
        return NOTHING
    low, high = min(sizes), max(sizes)
    return f"{low}" if low == high else f"{low}–{high}"


def versions(found):
    """Which packages were compared."""
    return "Versions: " + ", ".join(f"{name} {number}" for name, number in found.versions.items()) + "."


SECTIONS = {
    "exact": exact,
    "on-top": on_top,
    "wide": wide,
    "importance": importance,
    "distances": distances,
    "times": times,
    "real": real,
    "versions": versions,
}


def parts(stored):
    """The contents of all markers."""
    found = Found(stored)
    return {name: make(found) for name, make in SECTIONS.items()}


def write(stored):
    """Write all tables anew."""
    markers.write(PAGE, parts(stored))
