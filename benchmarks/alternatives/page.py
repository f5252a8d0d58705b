"""The tables of docs/alternatives.md, written between markers from what is stored."""

from collections import defaultdict
from functools import partial
from pathlib import Path
from statistics import mean, median, stdev

from .. import markers
from ..markers import table
from ..stamp import describe
from .methods import METHODS, OURS
from .scores import false_share, found_share, has_false, is_exact
from .tables import ADDITIVE, NOISE, ORDINARY, PROBLEMS, PRODUCT, REAL, WIDE

PAGE = Path(__file__).parents[2] / "docs" / "alternatives.md"
NOTHING = "–"
TIMED = (ORDINARY[0].name, PROBLEMS[1].name, WIDE[1].name, *(each.name for each in REAL))


class Found:
    """Stored runs by table and method, each with the truth and the number of its draw."""

    def __init__(self, stored):
        self.calls = stored["calls"]
        self.versions = stored["versions"]
        self.measured = [draw["measured"] for draw in stored["draws"]]
        self._runs = defaultdict(list)
        for draw in stored["draws"]:
            for each in draw["runs"]:
                known = {"true": draw["true"], "repetition": draw["repetition"]}
                self._runs[draw["table"], each["method"]].append(each | known)

    def of(self, table_name, method_name, field):
        """What runs of a method have in a field; runs that have none are left out."""
        return [each[field] for each in self._runs[table_name, method_name] if field in each]

    def scores(self, table_name, method_name, score):
        """What selections of a method are worth, from those and the true factors."""
        runs = self._runs[table_name, method_name]
        return [float(score(each["selected"], each["true"])) for each in runs if "selected" in each]

    def failed(self, table_name, method_name):
        """Whether a method ended with an error on all of these tables."""
        runs = self._runs[table_name, method_name]
        return bool(runs) and all("error" in each for each in runs)

    def ratios(self, table_name, method_name):
        """Seconds of a method as multiples of ours on the same draws."""
        ours = {each["repetition"]: each["seconds"] for each in self._runs[table_name, OURS]}
        runs = self._runs[table_name, method_name]
        return [each["seconds"] / ours[each["repetition"]] for each in runs if "seconds" in each]


def average(values):
    """A mean and its standard error."""
    return f"{mean(values):.2f} ± {stdev(values) / len(values) ** 0.5:.2f}" if values else NOTHING


def share(hits):
    """A share of tables and its standard error, after adding two successes and two failures."""
    if not hits:
        return NOTHING
    among = len(hits) + 4
    around = (sum(hits) + 2) / among
    return f"{mean(hits):.2f} ± {(around * (1 - around) / among) ** 0.5:.2f}"


def short(values):
    """A mean, where its error is said beside the table."""
    return f"{mean(map(float, values)):.2f}" if values else NOTHING


def compared(head, cells, more=()):
    """One row for each method that has any cell, and more after them; `cells` gives those of a method."""
    rows = [(method.name, *cells(method.name)) for method in METHODS]
    return table(("", *head), [*(row for row in rows if set(row[1:]) != {NOTHING}), *more])


def names(tables):
    """What stands above the columns of tables."""
    return [each.name for each in tables]


def ordinary(found, score, shown):
    """A score of selections in ordinary tables."""
    return compared(
        names(ORDINARY),
        lambda method: [shown(found.scores(each.name, method, score)) for each in ORDINARY],
    )


def exact(found):
    """How often each method finds exactly the true factors, or something in noise, and how often it ranks right."""
    head = (*names(PROBLEMS), "something found in noise", "true ones on top", "tables of each kind")

    def cells(method):
        top = [hit for each in PROBLEMS for hit in found.of(each.name, method, "on_top")]
        return (
            *(short(found.scores(each.name, method, is_exact)) for each in PROBLEMS),
            short([bool(selected) for selected in found.of(NOISE.name, method, "selected")]),
            short(top),
            len(found.of(PROBLEMS[0].name, method, "seconds")) or NOTHING,
        )

    return compared(head, cells)


def wide(found):
    """What is found where there are more columns than rows, and how much of what is selected is false."""
    scores = {"found": found_share, "false among selected": false_share, "any false": has_false}
    return compared(
        [f"{each.name}: {words}" for each in WIDE for words in scores] + ["tables"],
        lambda method: [
            *(short(found.scores(each.name, method, score)) for each in WIDE for score in scores.values()),
            len(found.of(WIDE[0].name, method, "selected")) or NOTHING,
        ],
    )


def distances(found, tables, more=lambda _found: ()):
    """How far shares are from the true ones, on average over tables."""

    def cells(method):
        return [short(found.of(each.name, method, "distance")) for each in tables]

    return compared(names(tables), cells, more(found))


def by_calls(found):
    """The same of Saltelli's design, which calls the function."""
    return [_called(found, n_base) for n_base in sorted({each["n_base"] for each in found.calls})]


def _called(found, n_base):
    """The distances of Saltelli's design, and how often it calls the function."""
    some = [each for each in found.calls if each["n_base"] == n_base]
    calls = [each["calls"] for each in some]
    name = f"SALib, Saltelli's design, {min(calls):,}–{max(calls):,} calls"
    return (name, *(short([each["distance"] for each in some if each["table"] == kind.name]) for kind in PROBLEMS))


def times(found):
    """Seconds of our calibrated rule, and of others as multiples of it."""

    def cells(method):
        if method == OURS:
            return [f"{median(found.of(name, OURS, 'seconds')):.2g} s" for name in TIMED]
        return [_ratio(found, name, method) for name in TIMED]

    return compared(TIMED, cells)


def _ratio(found, table_name, method_name):
    ratios = found.ratios(table_name, method_name)
    if not ratios:
        return "error" if found.failed(table_name, method_name) else NOTHING
    middle = median(ratios)
    return f"{middle:.0f} ×" if middle >= 10 else f"{middle:.2g} ×"


def real(found):
    """How many factors are selected in real tables."""
    return compared(
        names(REAL), lambda method: [_range(list(map(len, found.of(each.name, method, "selected")))) for each in REAL]
    )


def _range(sizes):
    if not sizes:
        return NOTHING
    low, high = min(sizes), max(sizes)
    return f"{low}" if low == high else f"{low}–{high}"


def versions(found):
    """When this was measured, and which packages were compared."""
    packages = ", ".join(f"{name} {number}" for name, number in found.versions.items())
    return f"{describe(found.measured)} Versions: {packages}."


SECTIONS = {
    "found": partial(ordinary, score=found_share, shown=average),
    "false": partial(ordinary, score=has_false, shown=share),
    "right": partial(ordinary, score=is_exact, shown=share),
    "shares": partial(distances, tables=(*ADDITIVE, PRODUCT)),
    "wide": wide,
    "exact": exact,
    "distances": partial(distances, tables=PROBLEMS, more=by_calls),
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
