"""How long a person waits for a small answer, against the time that Python takes to import what it needs.

python -m benchmarks.startup
"""

import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from firstfactor.problems import friedman

IMPORTS = "import sklearn.feature_selection, polars, numba"
ROUNDS, LIMIT = 7, 2.5


def main():
    """Time both in turn, since a machine is not equally fast all the time, and print the ratio of medians."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "friedman.csv"
        _write_table(table)
        rank = [Path(sysconfig.get_path("scripts")) / "firstfactor", "rank", table, "--target", "y"]
        commands = {"imports": [sys.executable, "-c", IMPORTS], "rank": rank}
        for command in commands.values():
            _seconds(command)  # fills caches
        times = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, command in commands.items():
                times[name].append(_seconds(command))
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, values in times.items():
        print(f"{name:8} {medians[name]:.2f} s (median of {ROUNDS}; {min(values):.2f} to {max(values):.2f})")
    ratio = medians["rank"] / medians["imports"]
    print(f"ratio    {ratio:.2f} (at most {LIMIT}: {'yes' if ratio <= LIMIT else 'NO'})")


def _write_table(path):
    X, y = friedman.sample(1000, seed=0)
    rows = [",".join([*(f"x{j + 1}" for j in range(X.shape[1])), "y"])]
    rows += [",".join(map(repr, [*x.tolist(), float(response)])) for x, response in zip(X, y, strict=True)]
    path.write_text("\n".join(rows) + "\n")


def _seconds(command):
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
