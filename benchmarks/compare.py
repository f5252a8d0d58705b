"""Speed side by side with pyfirst, scipy's k-d tree and old releases of firstfactor, in one run on one machine.

    python -m benchmarks.compare --data FOLDER --flights FILE.csv [--only NAME ...]
    python -m benchmarks.compare --quick
    python -m benchmarks.compare --write

The first prints every case of `benchmarks.cases` with its bound, stores the figures in benchmarks/results/compare.json
with the commit that they were measured on, and writes them into README.md and docs/. The second takes two minutes and
only prints. The third only writes what is stored.
"""

import argparse
import contextlib
import subprocess
import tempfile
from pathlib import Path

from . import speeds
from .cases import CASES, Run, SkippedError, find
from .measure import ROOT
from .stamp import stamp
from .stored import store

RELEASES = {"first": "85a68c7", "before": "a56acb7"}
"""The last commits of the first release and of 0.2.0."""


def parse():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="leave out slow cases, take fewer turns, store nothing")
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", help="only these cases or groups of cases; others stay as stored"
    )
    parser.add_argument("--seconds", type=float, default=20.0, help="how long sides take turns, at least")
    parser.add_argument("--list", action="store_true", help="print the names of all cases")
    parser.add_argument("--write", action="store_true", help="measure nothing; write the pages from what is stored")
    parser.add_argument("--first", type=Path, metavar="FOLDER", help="sources of the first release, instead of git's")
    parser.add_argument("--before", type=Path, metavar="FOLDER", help="sources of 0.2.0, instead of git's")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="folder with diamonds.csv, of ggplot2")
    parser.add_argument("--flights", type=Path, metavar="FILE", help="the table flights of nycflights13 as CSV")
    return parser.parse_args()


def main():
    """Measure, print, store and write."""
    options = parse()
    chosen = find(options.only) if options.only else CASES
    if options.list:
        print(*(case.name for case in chosen), sep="\n")
        return
    rows = speeds.read()
    if not options.write:
        with old_releases(options) as releases:
            tables = {"diamonds": options.data and options.data / "diamonds.csv", "flights": options.flights}
            run = Run(
                releases,
                {name: path for name, path in tables.items() if path},
                3.0 if options.quick else options.seconds,
            )
            for row in measure([case for case in chosen if not (options.quick and case.is_slow)], run):
                if not options.quick:
                    rows[row["name"]] = row
                    store(speeds.STORED, [rows[case.name] for case in CASES if case.name in rows])
    if not options.quick:
        speeds.write()


def measure(cases, run):
    """Measure cases one after the other; print and yield the row of each."""
    for case in cases:
        try:
            row = {"name": case.name, "bound": case.bound, **case.measure(case, run), "measured": stamp()}
        except SkippedError as reason:
            print(f"{case.name:26} skipped: {reason}", flush=True)
        else:
            said = f"{speeds.figure(case, row):>9}  {case.bound:>9}  {speeds.verdict(case, row)}"
            print(f"{case.name:26} {said}", flush=True)
            yield row


@contextlib.contextmanager
def old_releases(options):
    """Yield folders with the sources of old releases: those given, or else those in the history of this repository."""
    with tempfile.TemporaryDirectory() as folder:
        found = {name: path for name in RELEASES if (path := getattr(options, name)) is not None}
        for name in RELEASES.keys() - found.keys():
            archive = subprocess.run(
                ["git", "-C", ROOT, "archive", RELEASES[name], "src"], capture_output=True, check=False
            )
            if archive.returncode == 0:
                place = Path(folder) / name
                place.mkdir()
                subprocess.run(["tar", "-x", "-C", place], input=archive.stdout, check=True)
                found[name] = place / "src"
        yield found


if __name__ == "__main__":
    main()
