"""Measure a search on small clusters, fit a model to it, and predict large ones.

python -m benchmarks.scale measure    # five minutes; writes benchmarks/results/scale.json
python -m benchmarks.scale model      # coefficients, and predicted against measured
python -m benchmarks.scale write      # the tables of docs/scale.md
"""

import argparse
import json
from pathlib import Path

from ..stored import shorten, store
from . import page

RESULTS = Path(__file__).parents[1] / "results" / "scale.json"


def main():
    """Run one of the commands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["measure", "model", "write"])
    parser.add_argument("--only", choices=["kernels", "clusters"], help="measure only these")
    options = parser.parse_args()
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if options.command == "measure":
        measure(stored, options.only)
    elif options.command == "model":
        print(page.fitted(stored), page.validated(stored), sep="\n\n")
    else:
        page.write(stored)


def measure(stored, only):
    """Measure, and store what was found."""
    from .measure import measure_clusters, measure_kernels

    for name, part in (("kernels", measure_kernels), ("clusters", measure_clusters)):
        if only in (None, name):
            stored[name] = part(say)
            store(RESULTS, stored)


def say(record):
    """Print a record."""
    print(json.dumps(shorten(record)), flush=True)


if __name__ == "__main__":
    main()
