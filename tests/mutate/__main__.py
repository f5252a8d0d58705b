"""Make single changes to the source and tell which of them no test sees."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .change import PACKAGE, ROOT
from .changes import CHANGES

# Seconds for the tests of one change; some changes make a loop endless.
LIMIT = 600

# How pytest ends: all passed; a test failed, or a file could not even be imported.
PASSED, FAILED = (0,), (1, 2)


def main():
    arguments = parse()
    changes = [change for change in CHANGES if arguments.only.casefold() in f"{change.name} {change.old}".casefold()]
    if not changes:
        return f"no change has {arguments.only!r} in its name or text; see --list."
    for change in changes:
        change.apply((PACKAGE / change.file).read_text())  # all before the first, which takes long
    if arguments.list:
        print("\n".join(change.name + equivalent_note(change) for change in changes))
        return 0
    with tempfile.TemporaryDirectory(prefix="firstfactor-mutate-") as folder:
        copy = Copy(Path(folder))
        wanted = sorted({test for change in changes for test in change.tests.split()})
        ended, output = copy.run_tests(wanted)
        if ended not in PASSED:
            return f"{output}\nthe tests fail without any change."
        killed = [try_one(copy, change) for change in changes]
    return summarise(changes, killed)


def parse():
    parser = argparse.ArgumentParser(prog="python -m tests.mutate", description=__doc__)
    parser.add_argument("--only", default="", metavar="SUBSTRING", help="changes with this in their name or text")
    parser.add_argument("--list", action="store_true", help="show the changes and end")
    return parser.parse_args()


class Copy:
    """The package once more, to be changed: the work tree stays as it is."""

    def __init__(self, folder):
        self._folder = folder
        self.package = folder / "src" / PACKAGE.name
        shutil.copytree(PACKAGE, self.package)  # compiled kernels come along, and hold for the copy

    def run_tests(self, tests, own_kernels=False):
        """Run some tests on the copy; return how pytest ended, None if it did not, and what it printed."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.package.parent),
            "PYTHONDONTWRITEBYTECODE": "1",  # Python tells files by second and size, which a change may leave alike
        }
        if own_kernels:  # what is compiled from a change must not take the place of the others
            environment["NUMBA_CACHE_DIR"] = str(self._folder / "kernels")
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-n0",
            "-p",
            "no:cacheprovider",
            "--hypothesis-profile=mutate",
        ]
        paths = [str(ROOT / "tests" / test) for test in tests]
        try:
            done = subprocess.run(
                command + paths, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT
            )
        except subprocess.TimeoutExpired:
            return None, ""
        return done.returncode, done.stdout + done.stderr

    def forget_bytecode(self, file):
        for compiled in ((self.package / file).parent / "__pycache__").glob(f"{Path(file).stem}.*.pyc"):
            compiled.unlink()


def try_one(copy, change):
    """Make a change in the copy, run its tests and undo it; return whether a test saw it."""
    path, started = copy.package / change.file, time.monotonic()
    text = path.read_text()
    copy.forget_bytecode(change.file)
    path.write_text(change.apply(text))
    ended, output = copy.run_tests(change.tests.split(), own_kernels="kernels" in change.file)
    path.write_text(text)
    if ended not in (None, *PASSED, *FAILED):
        raise RuntimeError(f"{change.name}: pytest could not run {change.tests} (exit code {ended}).\n{output}")
    killed = ended not in PASSED
    seconds = time.monotonic() - started
    print(
        f"{'killed  ' if killed else 'survived'} {seconds:4.0f} s  {change.name}{equivalent_note(change)}", flush=True
    )
    return killed


def equivalent_note(change):
    return f" (equivalent: {change.equivalent})" if change.equivalent else ""


def summarise(changes, killed):
    """Print what came of it; return the exit code."""
    equivalent = [change.name for change, dead in zip(changes, killed, strict=True) if change.equivalent and not dead]
    surprising = [change.name for change, dead in zip(changes, killed, strict=True) if change.equivalent and dead]
    survivors = [change.name for change, dead in zip(changes, killed, strict=True) if not (change.equivalent or dead)]
    print(f"\n{sum(killed)} of {len(changes)} killed, {len(equivalent)} equivalent")
    for name in survivors:
        print(f"no test sees {name}")
    for name in surprising:
        print(f"killed, though said to be equivalent: {name}")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
