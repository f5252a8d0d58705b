"""Processor time and peak memory of a fit against the number of rows and of factors, by both rules.

    python -m benchmarks.growth [--most-rows 1000000] [--most-factors 10000] [--draw]

Each fit is one of the Friedman function, on one thread, in a process of its own. Figures are stored in
benchmarks/results/growth.json, and the table and the picture in docs/performance.md are made from them; ``--draw`` only
does that.
"""

import argparse
import json

import numpy as np

from . import data
from .markers import table as markdown
from .measure import ROOT, Side, stored_table, take_turns
from .stamp import describe, stamp
from .stored import store

STORED = ROOT / "benchmarks" / "results" / "growth.json"
PICTURE = ROOT / "docs" / "growth.svg"
RULES = {"paper": "#0072b2", "calibrated": "#d55e00"}
LABELS = {"paper": "paper's", "calibrated": "calibrated"}
ROWS, FACTORS = (1_000, 10_000, 100_000, 1_000_000), (10, 100, 1_000, 10_000)
FEW_ROWS, FEW_FACTORS = 1_000, 20  # while the other number grows


def measure(rule, n_rows, n_factors):
    """Return the least processor time of a few fits, and the memory that one needs beyond its table."""
    table, options = (
        dict(zip(("X", "y"), data.friedman(n_rows, n_factors), strict=True)),
        {"rule": rule, "random_state": 0},
    )
    with stored_table(table) as path, Side("fit", path, options=options, warm_up="head") as side:
        (fits,) = take_turns([side], least=2.0, most=10.0)
    row = {"rule": rule, "rows": n_rows, "factors": n_factors}
    row |= {"seconds": min(fit["processor"] for fit in fits), "memory": fits[0].get("memory", 0)}
    print(f"{rule:10} {n_rows:9,} × {n_factors:<6,} {row['seconds']:8.3f} s {row['memory'] / 1e6:8.0f} MB", flush=True)
    return row


def read():
    """Return the stored figures."""
    return json.loads(STORED.read_text(encoding="utf-8"))


def curve(grown, rule, axis):
    """Return the sizes and the rows of one curve; the axis is that which grows."""
    few, other = (FEW_FACTORS, "factors") if axis == "rows" else (FEW_ROWS, "rows")
    rows = sorted(
        (row for row in grown["fits"] if row["rule"] == rule and row[other] == few), key=lambda row: row[axis]
    )
    return np.array([row[axis] for row in rows], dtype=float), rows


def guide(axis, sizes):
    """Return the growth that is wanted: N log N in rows, linear in factors."""
    return sizes * np.log(sizes) if axis == "rows" else sizes


def exponent(sizes, values):
    """Return the slope of a line through logarithms."""
    return np.polyfit(np.log(sizes), np.log(values), 1)[0]


def describe_growth(grown):
    """Return what pages say: the fitted exponents beside those that are wanted."""
    lines = []
    for axis, words in (("rows", f"rows, {FEW_FACTORS} factors"), ("factors", f"factors, {FEW_ROWS:,} rows")):
        for rule in RULES:
            sizes, rows = curve(grown, rule, axis)
            seconds = [row["seconds"] for row in rows]
            found, wanted = exponent(sizes, seconds), exponent(sizes, guide(axis, sizes))
            steepest = (np.diff(np.log(seconds)) / np.diff(np.log(sizes))).max()
            verdict = "reached" if round(found, 2) <= round(wanted, 2) else "not reached"
            span = f"{sizes[0]:,.0f} to {sizes[-1]:,.0f} {words}"
            slow = f"{seconds[-1]:.2g} s, {rows[-1]['memory'] / 1e6:,.0f} MB"
            lines.append((span, rule, f"{found:.2f}", f"{steepest:.2f}", f"≤ {wanted:.2f}", verdict, slow))
    head = ("size", "rule", "exponent", "steepest step", "wanted", "", "largest table: time, memory beyond it")
    return describe([grown["measured"]]) + "\n\n" + markdown(head, lines)


def draw(grown):
    """Draw time and memory against rows and factors, with the growth that is wanted as dashed lines."""
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": "growth", "font.size": 9, "backend": "svg"}):
        _draw(grown)


def _draw(grown):
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 2, figsize=(8, 6), layout="constrained", sharex="col", sharey="row")
    for column, (axis, label) in enumerate((("rows", "rows (20 factors)"), ("factors", "factors (1,000 rows)"))):
        wanted = "N log N" if axis == "rows" else "linear in p"
        for rule, color in RULES.items():
            sizes, rows = curve(grown, rule, axis)
            time, memory = panels[:, column]
            seconds = np.array([row["seconds"] for row in rows])
            time.loglog(sizes, seconds, "o-", color=color, label=f"{LABELS[rule]} rule")
            line = guide(axis, sizes)
            time.loglog(sizes, seconds[0] * line / line[0], "--", color=color, alpha=0.5, label=wanted)
            needed = np.array([row["memory"] / 1e6 for row in rows])
            memory.loglog(sizes, np.where(needed < 5, np.nan, needed), "o-", color=color)  # less is spare memory
        memory.set_xlabel(label)
        time.legend(frameon=False)
    panels[0, 0].set_ylabel("seconds of one thread")
    panels[1, 0].set_ylabel("MB beyond the table")
    for panel in panels.flat:
        panel.grid(alpha=0.3)
    figure.savefig(PICTURE, metadata={"Date": None})
    plt.close(figure)


def main():
    """Measure along both axes, store and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most-rows", type=int, default=ROWS[-1])
    parser.add_argument("--most-factors", type=int, default=FACTORS[-1])
    parser.add_argument("--draw", action="store_true", help="measure nothing; draw what is stored")
    options = parser.parse_args()
    if not options.draw:
        sizes = [(n, FEW_FACTORS) for n in ROWS if n <= options.most_rows]
        sizes += [(FEW_ROWS, p) for p in FACTORS if p <= options.most_factors]
        fits = [measure(rule, *size) for rule in RULES for size in sizes]
        store(STORED, {"measured": stamp(), "fits": fits})
    draw(read())
    from . import speeds  # which imports this

    speeds.write()


if __name__ == "__main__":
    main()
