"""The tables of docs/scale.md, written between markers from what was measured and what the program computes."""

import json
from pathlib import Path

from .. import markers
from ..markers import table
from .model import Machines, Model, memory, predict_run, summarise, validate

ROOT = Path(__file__).parents[2]
PAGE, ENGINES = ROOT / "docs" / "scale.md", ROOT / "benchmarks" / "results" / "engines.json"
LARGE, FACTORS, SELECTED = Machines(100, 32, network=10e9 / 8), 10**4, 10
PREDICTED = [(10**7, None), (10**7, 10**6), (10**8, None), (10**8, 10**6), (10**9, None), (10**9, 10**6)]


def duration(seconds):
    """Seconds as a person says them."""
    for unit, size in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.2g} {unit}" if seconds < 100 * size else f"{seconds / size:,.0f} {unit}"
    return f"{seconds:.2g} s"


def size(count):
    """Bytes as a person says them."""
    for unit, one in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if count >= one:
            return f"{float(f'{count / one:.3g}'):,g} {unit}"
    return f"{count / 1e3:.3g} kB"


def milliseconds(seconds):
    """Thousandths of a second, with two digits or all."""
    return f"{1e3 * seconds:.2g} ms" if seconds < 0.1 else f"{1e3 * seconds:,.0f} ms"


def span(low, high):
    """Two durations, or one if they look the same."""
    low, high = duration(min(low, high)), duration(max(low, high))
    return low if low == high else f"{low} to {high}"


def count(n_rows):
    """A number of rows, as a power of ten if it is one."""
    exponent = len(str(n_rows)) - 1
    return (
        f"10{str(exponent).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
        if n_rows == 10**exponent
        else f"{n_rows:,}"
    )


def measured(stored):
    """What clusters of one to eight workers took."""
    rows = []
    for run in stored["clusters"]["runs"]:
        w, moved = run["workers"], run["moved"][1:]
        seconds = duration(sum(run["steps"])) if w <= 2 else "—"
        column = 8 * run["N"] * (w - 1)
        sizes = map(size, (min(moved), max(moved), column, run["held"], run["believed"], run["peak"]))
        rows.append((w, f"{run['N']:,}", run["p"], len(run["steps"]), seconds, duration(run["processor"]), *sizes))
    head = "workers|rows|factors|steps|wall time|processor time|moved in a step, least|most"
    head += "|N × 8 × (workers − 1)|held by a worker|as Dask counts it|peak beyond that"
    costs = stored["clusters"]["costs"]
    return table(head.split("|"), rows) + (
        f"\n\nA task that does nothing takes {costs['task'] * 1e3:.2g} ms in all. A column of 1.6 MB is with both "
        f"workers after {costs['column'] * 1e3:.2g} ms, 102 MB after {costs['block'] * 1e3:.3g} ms."
    )


def fitted(stored):
    """The laws of the model, and how far off they are."""
    model = Model(stored["kernels"])
    laws = [
        ("sort columns, seconds", f"{model.columns.coefficients[0]:.2g} c", model.columns),
        *(
            (f"prepare ({way}), seconds", "{:.2g} + {:.2g} d + {:.2g} c".format(*law.coefficients), law)
            for way, law in model.prepare.items()
        ),
        *(
            (f"search {d} in the base, {kind}, µs a row", "{:.2g} + {:.2g} c".format(*_micro(law)), law)
            for (kind, d), law in sorted(model.row.items(), key=lambda item: (item[0][1], item[0][0]))
            if (kind, d) != ("dense", 1)
        ),
        ("build the tree of a set, seconds", "{:.2g} + {:.2g} d".format(*model.build.coefficients), model.build),
        *(
            (f"search a set of {d}, {kind}, µs a row", f"{_micro(law)[0]:.2g}", law)
            for (kind, d), law in sorted(model.set_row.items(), key=lambda item: (item[0][1], item[0][0]))
        ),
    ]
    first = table(("task", "coefficients", "γ"), [(name, text, law.exponent) for name, text, law in laws])
    errors = [
        (kind, "held out" if is_held_out else "fitted", n, f"{middle:.2f} ×", f"{most:.2f} ×")
        for (kind, is_held_out), (n, middle, most) in summarise(model, stored["kernels"]).items()
    ]
    return first + "\n\n" + table(("task", "tables", "how many", "off, median", "off, at most"), errors)


def _micro(law):
    return [1e6 * each for each in law.coefficients]


def validated(stored):
    """Predicted and measured runs."""
    rows = []
    for run, wall, predicted, processor, busy in validate(Model(stored["kernels"]), stored["clusters"]):
        of_wall = duration(wall), duration(predicted), f"{wall / predicted:.2f}"
        of_processor = duration(processor), duration(busy), f"{processor / busy:.2f}"
        rows.append((run["workers"], f"{run['N']:,}", run["p"], *of_wall, *of_processor))
    head = "workers|rows|factors|wall, measured|wall, predicted|ratio|processor, measured|processor, predicted|ratio"
    return table(head.split("|"), rows)


def predicted(stored):
    """Large tables on large clusters: by theory beyond what was measured, and by what was fitted."""
    models = [Model(stored["kernels"], by_theory) for by_theory in (True, False)]
    parts = ("read", "sort", "send a column", "prepare", "search", "eliminate")
    rows = []
    for n_rows, n_outer in PREDICTED:
        runs = [predict_run(model, LARGE, n_rows, FACTORS, SELECTED, n_outer) for model in models]
        totals = [sum(spent.values()) for spent, _ in runs]
        used = [100 * runs[k][1] / (totals[k] * LARGE.count * LARGE.threads) for k in range(2)]
        shares = (f"{100 * runs[0][0][part] / totals[0]:.0f} %" for part in parts)
        outer = "all" if n_outer is None else count(n_outer)
        rows.append((count(n_rows), outer, span(*totals), *shares, f"{min(used):.0f}–{max(used):.0f} %"))
    return table(("rows", "n_outer", "all of it", *parts, "threads busy"), rows)


def needed(stored):
    """Memory of the machine with most."""
    model, rows = Model(stored["kernels"]), []
    for n_rows, n_outer in PREDICTED:
        parts = memory(model, LARGE, n_rows, FACTORS, SELECTED, n_outer)
        outer = "all" if n_outer is None else count(n_outer)
        rows.append((count(n_rows), outer, *(size(each) if each else "—" for each in parts.values())))
    return table(("rows", "n_outer", *parts), rows)


def engines(_):
    """Dask, Ray and Spark, side by side."""
    found = json.loads(ENGINES.read_text())
    lines = [
        ("version", lambda e: e["version"]),
        ("installed, with what it needs", lambda e: size(e["packages"])),
        ("start, two workers", lambda e: f"{e['start']:.1f} s"),
        ("memory of all its processes, idle", lambda e: size(e["memory"])),
        ("a task that does nothing", lambda e: milliseconds(e["task"])),
        ("a column of 1.6 MB to both workers", lambda e: milliseconds(e["broadcast"])),
        ("a block of 102 MB put on a worker", lambda e: milliseconds(e["place"])),
        ("a task that uses that block", lambda e: milliseconds(e["use"])),
        ("two tasks after a worker was killed", lambda e: milliseconds(e["recovery"])),
    ]
    return table(
        ("", "Dask", "Ray", "Spark"),
        [(name, *(say(found[e]) for e in ("dask", "ray", "spark"))) for name, say in lines],
    )


SECTIONS = {
    "measured": measured,
    "model": fitted,
    "validated": validated,
    "predicted": predicted,
    "memory": needed,
    "engines": engines,
}


def write(stored):
    """Write all tables anew."""
    markers.write(PAGE, {name: make(stored) for name, make in SECTIONS.items()})
