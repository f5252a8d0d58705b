"""How long a person waits for a small answer, against the time that Python takes to import what it needs.

python -m benchmarks.startup
python -m benchmarks.startup --cold [--against FOLDER]

With --cold: how long the first call of all compiles, and each kernel; next to another version of the package, whose
source is in a folder, if one is given.
"""

import argparse
import ast
import os
import re
import resource
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

import firstfactor
from firstfactor.problems import friedman

IMPORTS = "import numba, polars, scipy"
ROWS, ROUNDS, LIMIT = 60, 7, 1.3
COLD_ROUNDS, COLD_LIMIT = 3, 0.5

# Runs the command ``demo``, and prints the seconds that each kernel takes to compile, with all that it calls.
DEMO = """
import atexit, time
from numba.core import event
from firstfactor.cli.main import main

class Kernels(event.Listener):
    depth, seconds = 0, {}
    def on_start(self, _):
        self.depth += 1
        if self.depth == 1:
            self.start = time.process_time()
    def on_end(self, ended):
        self.depth -= 1
        if self.depth == 0:
            name = ended.data["dispatcher"].py_func.__qualname__
            self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - self.start

kernels = Kernels()
event.register("numba:compile", kernels)
atexit.register(lambda: print(kernels.seconds))
main()
"""


def main():
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cold", action="store_true", help="how long the first call of all compiles")
    parser.add_argument("--against", metavar="FOLDER", help="the source of another version, with --cold")
    options = parser.parse_args()
    if options.cold:
        compare_cold(options.against)
    else:
        compare_warm()


def compare_warm():
    """Time both in turn, since a machine is not equally fast all the time, and print the ratio of medians."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "friedman.csv"
        _write_table(table)
        rank = [Path(sysconfig.get_path("scripts")) / "firstfactor", "rank", table, "--target", "y"]
        commands = {"imports": [sys.executable, "-c", IMPORTS], "rank": rank}
        for command in commands.values():
            _run(command)  # fills caches
        runs = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, command in commands.items():
                runs[name].append(_run(command))
    times = {name: [seconds for seconds, _ in some] for name, some in runs.items()}
    times["printed"] = [_printed_seconds(output) for _, output in runs["rank"]]
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, values in times.items():
        print(f"{name:8} {medians[name]:.2f} s (median of {ROUNDS}; {min(values):.2f} to {max(values):.2f})")
    ratio = medians["rank"] / medians["imports"]
    print(f"ratio    {ratio:.2f} (at most {LIMIT}: {'yes' if ratio <= LIMIT else 'NO'})")


def compare_cold(other):
    """Run ``demo`` in turn on an empty and on a full cache, and print what compiling takes: the difference."""
    sources = {"here": str(Path(firstfactor.__file__).parents[1])} | ({"other": other} if other else {})
    compiling = {name: [] for name in sources}
    for _ in range(COLD_ROUNDS):
        for name, source in sources.items():
            with tempfile.TemporaryDirectory() as cache:
                (cold, wall, kernels), (warm, _, _) = (_run_demo(source, cache) for _ in range(2))
            compiling[name].append(cold - warm)
            print(f"{name:6} {cold:5.2f} s of processor time cold, {warm:5.2f} warm; {wall:5.2f} s on the clock cold")
            if len(compiling[name]) == COLD_ROUNDS:
                for kernel, seconds in sorted(kernels.items(), key=lambda each: -each[1]):
                    print(f"       {seconds:5.2f} {kernel}")
    medians = {name: statistics.median(values) for name, values in compiling.items()}
    for name, median in medians.items():
        print(f"{name:6} compiles for {median:.2f} s (median of {COLD_ROUNDS})")
    if other:
        ratio = medians["here"] / medians["other"]
        print(f"ratio  {ratio:.2f} (at most {COLD_LIMIT}: {'yes' if ratio <= COLD_LIMIT else 'NO'})")


def _run_demo(source, cache):
    """The processor and clock seconds of a process that runs ``demo``, and what each kernel takes to compile."""
    environment = os.environ | {"PYTHONPATH": source, "NUMBA_CACHE_DIR": cache}
    before = _processor_seconds()
    wall, output = _run([sys.executable, "-c", DEMO, "demo"], env=environment)
    return _processor_seconds() - before, wall, ast.literal_eval(output.splitlines()[-1])


def _processor_seconds():
    """The processor time of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _write_table(path):
    X, y = friedman.sample(ROWS, seed=0)
    rows = [",".join([*(f"x{j + 1}" for j in range(X.shape[1])), "y"])]
    rows += [",".join(map(repr, [*x.tolist(), float(response)])) for x, response in zip(X, y, strict=True)]
    path.write_text("\n".join(rows) + "\n")


def _run(command, **options):
    """The seconds that a process takes, from its start until it is gone, and what it prints."""
    start = time.perf_counter()
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout
    return time.perf_counter() - start, output


def _printed_seconds(output):
    """The seconds that the command says it took."""
    return float(re.search(r"^Time: ([\d.]+) s", output, re.MULTILINE)[1])


if __name__ == "__main__":
    main()
