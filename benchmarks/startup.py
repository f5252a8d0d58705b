"""How long a person waits for a small answer, against the time that Python takes to import what it needs.

python -m benchmarks.startup
"""

import re
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from firstfactor.problems import friedman

IMPORTS = "import numba, polars, scipy"
ROWS, ROUNDS, LIMIT = 60, 7, 1.3


def main():
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


def _write_table(path):
    X, y = friedman.sample(ROWS, seed=0)
    rows = [",".join([*(f"x{j + 1}" for j in range(X.shape[1])), "y"])]
    rows += [",".join(map(repr, [*x.tolist(), float(response)])) for x, response in zip(X, y, strict=True)]
    path.write_text("\n".join(rows) + "\n")


def _run(command):
    """The seconds that a process takes, from its start until it is gone, and what it prints."""
    start = time.perf_counter()
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return time.perf_counter() - start, output


def _printed_seconds(output):
    """The seconds that the command says it took."""
    return float(re.search(r"^Time: ([\d.]+) s", output, re.MULTILINE)[1])


if __name__ == "__main__":
    main()
