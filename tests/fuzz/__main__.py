"""The command: many cases, or one of them again."""

import argparse
import itertools
import sys
import tempfile
import threading
import time
from pathlib import Path

from .driver import CHECKED, LIMIT, Child, Run

# With --minutes: so many tables for each file. Always: so many files for each that somebody made on purpose.
TABLES_PER_FILE, FILES_PER_HOSTILE = 10, 5


def main():
    arguments = parse()
    environment = CHECKED if arguments.boundscheck else None
    if arguments.replay:
        return replay(arguments.replay, Child(arguments.limit, environment=environment))
    started = time.monotonic()
    run = Run(arguments.workers, arguments.limit, environment=environment)
    run.run(names(arguments), 60 * arguments.minutes, Progress())
    seconds = time.monotonic() - started
    print(f"\n{len(run.outcomes):,} cases in {seconds:.0f} s, {len(run.outcomes) / seconds:.1f} a second\n")
    print(run.summary())
    if not run.failures:
        return 0
    folder = Path(arguments.out or tempfile.mkdtemp(prefix="firstfactor-fuzz-"))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "failures.txt"
    path.write_text("".join(f"{name}\t{outcome.template}\n" for name, outcome in sorted(run.failures.items())))
    print(f"\n{len(run.failures):,} failures are listed in {path}")
    return 1


def parse():
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many minutes")
    parser.add_argument("--tables", type=int, help="how many tables; none if only --files is given")
    parser.add_argument("--sharing", type=int, help="how many tables to look for what factors share in")
    parser.add_argument(
        "--files", type=int, help="how many files, and a fifth as many hostile inputs; none if only --tables is given"
    )
    parser.add_argument("--workers", type=int, default=1, help="child processes")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for one case")
    parser.add_argument("--boundscheck", action="store_true", help="let kernels check every index")
    parser.add_argument("--out", help="folder for the list of failures; default: a temporary one")
    parser.add_argument("--replay", metavar="KIND:SEED", help="run one case and show it")
    arguments = parser.parse_args()
    if arguments.minutes == float("inf") and not is_counted(arguments) and not arguments.replay:
        parser.error("one of --minutes, --tables, --sharing, --files and --replay is needed")
    return arguments


def names(arguments):
    """Return the names of the cases: as many as asked for, or of all kinds in turn for as long as there is time."""
    first = arguments.seed
    if not is_counted(arguments):
        for i in itertools.count():
            yield f"tables:{first + i}"
            yield f"sharing:{first + i}"
            if i % TABLES_PER_FILE == 0:
                yield f"files:{first + i // TABLES_PER_FILE}"
            if i % (TABLES_PER_FILE * FILES_PER_HOSTILE) == 0:
                yield f"hostile:{first + i // TABLES_PER_FILE // FILES_PER_HOSTILE}"
    yield from (f"tables:{seed}" for seed in range(first, first + (arguments.tables or 0)))
    yield from (f"sharing:{seed}" for seed in range(first, first + (arguments.sharing or 0)))
    yield from (f"files:{seed}" for seed in range(first, first + (arguments.files or 0)))
    yield from (f"hostile:{seed}" for seed in range(first, first + (arguments.files or 0) // FILES_PER_HOSTILE))


def is_counted(arguments):
    """Whether the number of cases of some kind is given."""
    return any(number is not None for number in (arguments.tables, arguments.sharing, arguments.files))


def replay(name, child):
    """Show what a case is, then run it in a child process."""
    from .cases import make_case
    from .classify import quiet

    with quiet():
        print(f"{make_case(name)}\n")
    sys.stdout.flush()
    try:
        outcome = child.run(name)
    finally:
        child.close()
    print(f"{outcome.details}\n{outcome.kind}: {outcome.what}")
    return int(outcome.kind == "failure")


class Progress:
    """Prints a line every few seconds."""

    def __init__(self, every=10):
        self._every, self._last, self._lock = every, time.monotonic(), threading.Lock()

    def __call__(self, run):
        with self._lock:
            if time.monotonic() < self._last + self._every:
                return
            self._last = time.monotonic()
        print(f"{len(run.outcomes):,} cases, {len(run.failures):,} failures", flush=True)


if __name__ == "__main__":
    sys.exit(main())
