"""How long a person waits in the app from a click to new bars, measured in the browser.

    python -m benchmarks.app [--quick | --write]

Each change is another one, so that no answer is known beforehand: a factor is left out, controlled for, or rows are
chosen by a range of it. Between two changes the first state is taken back to, which is known: the page shows it from
memory. Times are from the click to the frame in which the new bars are painted. Figures are stored in
benchmarks/results/app.json and written into docs/guide/app.md; ``--quick`` measures a few changes of the smaller table
and stores nothing, ``--write`` only writes what is stored.
"""

import argparse
import json
import os
import tempfile
from pathlib import Path

import numpy as np

from firstfactor import problems
from tests.in_browser import App, open_browser, serve

from . import markers
from .measure import ROOT
from .stamp import describe, stamp
from .stored import store

PAGE = ROOT / "docs" / "guide" / "app.md"
STORED = ROOT / "benchmarks" / "results" / "app.json"
CASES = ((10_000, 20, 50), (100_000, 50, 9))  # rows, factors, changes
QUICK = ((10_000, 20, 9),)

# Click on an element; return the milliseconds until new bars are painted, and until progress is shown, if it is.
CLICK = """element => new Promise((resolve, reject) => {
  const chart = document.getElementById("chart"), dock = document.getElementById("dock");
  let start, progress = null;
  const watch = new MutationObserver(changes => {
    if (dock.querySelector(".error")) reject(new Error(dock.textContent));
    if (progress === null && document.getElementById("cancel")) progress = performance.now() - start;
    if (!changes.some(change => change.target === chart && change.attributeName === "data-result")) return;
    watch.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => resolve([performance.now() - start, progress])));
  });
  watch.observe(chart, { attributes: true, attributeFilter: ["data-result"] });
  watch.observe(dock, { childList: true, subtree: true });
  start = performance.now();
  element.click();
})"""


def changes(app, names):
    """Yield elements to click, each for a change that was not made before."""
    for i, name in enumerate(names):
        for what in ("leave out", "control for"):
            yield app.row(name).locator(".acts button", has_text=what).first
        app.page.select_option("#filter-column", name)
        app.page.get_by_label("from", exact=True).fill(f"{0.02 + 0.001 * i:.3f}")
        yield app.page.get_by_role("button", name="Show these rows")


def measure(browser, address, folder, rows, factors, most):
    """Return the seconds of each change of one table, and of each way back."""
    X, y = problems.friedman.sample(rows, factors, seed=1, frame="polars")
    path = folder / f"friedman-{rows}-{factors}.parquet"
    X.with_columns(y).write_parquet(path)
    app = App(browser.new_context(viewport={"width": 1280, "height": 900}), address)
    app.page.set_default_timeout(300_000)
    app.open_file(path).explain("y")
    new, known, progress = [], [], []
    for element, _ in zip(changes(app, [f"x{j + 1}" for j in range(factors)]), range(most), strict=False):
        spent, first = element.evaluate(CLICK)
        new.append(spent / 1000)
        if first is not None:
            progress.append(first / 1000)
        known.append(app.page.locator("#undo").evaluate(CLICK)[0] / 1000)
    assert app.faults == []
    found = {"rows": rows, "factors": factors, "changes": len(new), "median": float(np.median(new))}
    found |= {
        "load": os.getloadavg()[0],
        "p95": float(np.quantile(new, 0.95)),
        "most": max(new),
        "back": float(np.median(known)),
    }
    return found | {"with_progress": len(progress), "progress": float(np.median(progress)) if progress else None}


def show(found):
    """Return the figures as a table."""
    head = ("table", "changes", "median", "95 %", "longest", "back to what is known", "first progress", "load")
    lines = [
        (
            f"{each['rows']:,} × {each['factors']}",
            each["changes"],
            *(f"{each[name]:.2f} s" for name in ("median", "p95", "most", "back")),
            "–" if each["progress"] is None else f"{each['progress']:.2f} s",
            f"{each['load']:.1f}",
        )
        for each in found["cases"]
    ]
    load = "The load is that of the machine when it was measured, by whatever runs; above its cores, times are longer."
    return f"{describe([found['measured']])} {load}\n\n" + markers.table(head, lines)


def write():
    """Write what is stored into the guide."""
    markers.write(PAGE, {"app": show(json.loads(STORED.read_text(encoding="utf-8")))})


def main():
    """Measure, print and store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few changes of the smaller table; store nothing")
    parser.add_argument("--write", action="store_true", help="measure nothing; write what is stored into the guide")
    options = parser.parse_args()
    if options.write:
        write()
        return
    with tempfile.TemporaryDirectory() as folder, serve() as address, open_browser() as browser:
        cases = [measure(browser, address, Path(folder), *case) for case in (QUICK if options.quick else CASES)]
    found = {"measured": stamp(), "cases": cases}
    print(show(found))
    if not options.quick:
        store(STORED, found)
        write()


if __name__ == "__main__":
    main()
