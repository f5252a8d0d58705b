"""Time and peak memory against the number of rows and of factors, each fit in a process of its own.

python -m benchmarks.growth FILE.png [--rows 1000 10000 100000] [--factors 10 30 100 300]
"""

import argparse
import os
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from benchmarks import data
from benchmarks.measure import THREADS, in_child


def measure(rows, factors):
    """Return seconds, and memory beyond the table in multiples of the table."""
    X, y = data.friedman(rows, factors)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table.npz")
        np.savez(path, X=X, y=y)
        child = in_child(path)
    print(f"N = {rows:,}, p = {factors:,}: {child['seconds']:.3f} s, {child['more'] / 1e6:.0f} MB beyond X", flush=True)
    return child["seconds"], child["more"] / 1e6


def draw(axis, sizes, values, label, unit):
    """Plot one curve on double logarithmic axes."""
    axis.loglog(sizes, np.maximum(values, 1e-3), "o-", color="#0072b2")
    axis.set_xlabel(label)
    axis.set_ylabel(unit)
    axis.grid(alpha=0.3, which="both")


def main():
    """Measure along both axes and draw the four curves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--factors", type=int, nargs="+", default=[10, 30, 100, 300])
    options = parser.parse_args()
    by_rows = np.array([measure(n, 20) for n in options.rows])
    by_factors = np.array([measure(10_000, p) for p in options.factors])
    figure, axes = plt.subplots(2, 2, figsize=(9, 7), layout="constrained")
    for axis, column, unit in zip(axes.T.ravel(), (0, 1, 0, 1), ("seconds", "MB beyond X") * 2, strict=True):
        rows_side = axis in axes[:, 0]
        sizes, values = (options.rows, by_rows) if rows_side else (options.factors, by_factors)
        draw(axis, sizes, values[:, column], "rows (p = 20)" if rows_side else "factors (N = 10,000)", unit)
    figure.suptitle(f"FIRST on the Friedman function, {THREADS} threads")
    figure.savefig(options.file, dpi=120)


if __name__ == "__main__":
    main()
