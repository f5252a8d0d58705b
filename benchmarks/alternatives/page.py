"""The tables of docs/alternatives.md, written between markers from what is stored."""

from collections import defaultdict
from pathlib import Path
from statistics import mean, median

from .. import markers
from ..markers import table
from ..stamp import describe
from .methods import METHODS, OURS
from .scores import false_share, found_share, has_false, is_exact
from .tables import ADDITIVE, NOISE, ORDINARY, PROBLEMS, PRODUCT, REAL, WIDE

PAGE = Path(__file__).parents[2] / "docs" / "alternatives.md"
NOTHING = "–"
SHARED = (*ADDITIVE, PRODUCT, *PROBLEMS)
DETAILED = PROBLEMS[1]
TIMED = (ORDINARY[0].name, WIDE[1].name, *(each.name for each in REAL))


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


def short(values):
    """A mean."""
    return f"{mean(map(float, values)):.2f}" if values else NOTHING


def compared(head, cells, more=()):
    """One row for each method that has any cell, and more after them; `cells` gives those of a method."""
    rows = [(method.name, *cells(method.name)) for method in METHODS]
    return table(("", *head), [*(row for row in rows if set(row[1:]) != {NOTHING}), *more])


def names(tables):
    """What stands above the columns of tables."""
    return [each.name for each in tables]


def ordinary(found):
    """What is found in ordinary tables, how often a false factor is among it, and how often it is right."""
    scores = (found_share, has_false, is_exact)

    def cell(table_name, method):
        values = [found.scores(table_name, method, score) for score in scores]
        return " / ".join(map(short, values)) if values[0] else NOTHING

    head = [f"{each.name}: found / any false / exact" for each in ORDINARY[:1]] + names(ORDINARY[1:]) + ["tables"]
    return compared(
        head,
        lambda method: [
            *(cell(each.name, method) for each in ORDINARY),
            len(found.of(ORDINARY[0].name, method, "selected")) or NOTHING,
        ],
    )


def exact(found):
    """How often each method finds exactly the true factors, and something in noise."""

    def cells(method):
        in_noise = found.of(NOISE.name, method, "selected")
        return (
            *(short(found.scores(each.name, method, is_exact)) for each in PROBLEMS),
            short([bool(selected) for selected in in_noise]),
            len(in_noise) or NOTHING,
        )

    return compared((*names(PROBLEMS), "something found in noise", "tables of each kind"), cells)


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


def distances(found):
    """How far shares are from the true ones, how often the order is right, and how long that takes.

    Also of Saltelli's design, which makes its own tables.
    """

    def cells(method):
        far = [short(found.of(each.name, method, "distance")) for each in SHARED]
        if set(far) == {NOTHING}:
            return far
        top = [hit for each in PROBLEMS for hit in found.of(each.name, method, "on_top")]
        return (*far, short(top), _time(found, DETAILED.name, method))

    called = [_called(found, n_base) for n_base in sorted({each["n_base"] for each in found.calls})]
    return compared((*names(SHARED), "true ones on top", f"{DETAILED.name}: time"), cells, called)


def _called(found, n_base):
    """The distances of Saltelli's design, and how often it calls the function."""
    some = [each for each in found.calls if each["n_base"] == n_base]
    calls = [each["calls"] for each in some]
    far = [short([each["distance"] for each in some if each["table"] == kind.name]) for kind in SHARED]
    return (f"SALib, Saltelli's design, {min(calls):,}–{max(calls):,} calls", *far, NOTHING, NOTHING)


def real(found):
    """How many factors are selected in real tables, and how long that takes there and elsewhere."""
    head = [f"{each.name}: selected" for each in REAL] + [f"{name}: time" for name in TIMED]

    def cells(method):
        sizes = [_range(list(map(len, found.of(each.name, method, "selected")))) for each in REAL]
        selects = found.of(WIDE[1].name, method, "selected") or set(sizes) != {NOTHING}
        return (*sizes, *(_time(found, name, method) for name in TIMED)) if selects else sizes

    return compared(head, cells)


def _range(sizes):
    if not sizes:
        return NOTHING
    low, high = min(sizes), max(sizes)
    return f"{low}" if low == high else f"{low}–{high}"


def _time(found, table_name, method_name):
    """Seconds of our calibrated rule; of others, multiples of it."""
    if method_name == OURS:
        return f"{median(found.of(table_name, OURS, 'seconds')):.2g} s"
    ratios = found.ratios(table_name, method_name)
    if not ratios:
        return "error" if found.failed(table_name, method_name) else NOTHING
    middle = median(ratios)
    return f"{middle:.0f} ×" if middle >= 10 else f"{middle:.2g} ×"


def versions(found):
    """When this was measured, and which packages were compared."""
    packages = ", ".join(f"{name} {number}" for name, number in found.versions.items())
    return f"{describe(found.measured)} Versions: {packages}."


SECTIONS = {
    "ordinary": ordinary,
    "wide": wide,
    "exact": exact,
    "distances": distances,
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
