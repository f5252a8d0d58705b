"""Compare firstfactor with other methods on the same tables, and write the tables of docs/alternatives.md.

pip install -e ".[study]" pyfirst Boruta hidimstat knockpy SALib
python -m benchmarks.alternatives run     # what is missing in benchmarks/results/alternatives.json
python -m benchmarks.alternatives write   # the tables of docs/alternatives.md, from what is stored
"""

import argparse
import json
from functools import partial
from pathlib import Path

from ..stored import store
from . import page

RESULTS = Path(__file__).parents[1] / "results" / "alternatives.json"


def main():
    """Run one of the commands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "write"])
    parser.add_argument("--jobs", type=int, default=1, help="processes; each uses one thread")
    options = parser.parse_args()
    stored = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    if options.command == "run":
        from . import run

        run.measure(stored, partial(store, RESULTS), options.jobs)
    else:
        page.write(stored)


if __name__ == "__main__":
    main()
