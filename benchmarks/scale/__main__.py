"""Measure a search on small clusters, fit a model to it, and simulate large ones.

python -m benchmarks.scale measure    # five minutes; writes benchmarks/results/scale.json
python -m benchmarks.scale model      # coefficients, and predicted against measured
python -m benchmarks.scale simulate   # the recorded tasks on small and on large clusters
python -m benchmarks.scale halo       # how many rows a cell of rows needs of others
python -m benchmarks.scale write      # the tables of docs/scale.md
"""

import argparse
import json
from pathlib import Path

from ..stored import shorten, store

RESULTS = Path(__file__).parents[1] / "results" / "scale.json"


def main():
    """Run one of the commands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["measure", "model", "simulate", "halo", "write"])
    parser.add_argument("--only", choices=["kernels", "clusters"], help="measure only these")
    parser.add_argument("--table", type=Path, help="for halo: a CSV file, whose numeric columns are looked at as well")
    options = parser.parse_args()
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if options.command == "measure":
        measure(stored, options.only)
    elif options.command == "halo":
        from . import halo

        store(RESULTS, stored | {"halo": halo.measure(say, options.table)})
    else:
        from . import page

        if options.command == "model":
            print(page.fitted(stored))
        elif options.command == "simulate":
            for make in (page.validated, page.predicted, page.troubled, page.changed, page.needed):
                print(make(stored), end="\n\n")
        else:
            page.write(stored)


def measure(stored, only):
    """Measure, and store what was found."""
    from . import clusters, kernels

    for name, part in (("kernels", kernels), ("clusters", clusters)):
        if only in (None, name):
            stored[name] = part.measure(say)
            store(RESULTS, stored)


def say(record):
    """Print a record."""
    print(json.dumps(shorten(record)), flush=True)


if __name__ == "__main__":
    main()
