"""A table larger than the memory that is allowed: peak memory and time, against reading its columns once per step.

    python -m benchmarks.out_of_core [--rows 1000000] [--factors 750] [--memory 2GB] [--folder FOLDER]

The table is made in pieces and written as one Parquet file, which is left in the folder if one is given. The command
runs in a process of its own, whose largest resident memory is what the system says it was.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from firstfactor._utils.memory import parse_size

# Rows of a row group, made at a time.
PIECE = 50_000

# Rows to average over.
N_OUTER = 2000

WAYS = (
    ("--rule", "paper", "--n-outer", str(N_OUTER)),
    ("--method", "first-fast", "--n-outer", str(N_OUTER)),
    (),
)


def main():
    """Make the table, run the command in several ways, and read all columns for comparison."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.out_of_core", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--factors", type=int, default=750)
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as temporary:
        path = (arguments.folder or Path(temporary)) / f"{arguments.rows}x{arguments.factors}.parquet"
        if not path.exists():
            make_table(path, arguments.rows, arguments.factors)
        print(f"N = {arguments.rows:,}, p = {arguments.factors}: {path.stat().st_size / 1e9:.2f} GB of Parquet")
        reading = read_columns(path)
        print(f"reading all columns once, eight at a time: {reading:.1f} s")
        for way in WAYS:
            report(path, arguments.memory, way, reading)


def make_table(path, n_rows, n_factors):
    """Write a table whose response depends on five of the factors."""
    rng, writer = np.random.default_rng(0), None
    for start in range(0, n_rows, PIECE):
        X = rng.uniform(size=(min(PIECE, n_rows - start), n_factors))
        y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, -1]
        columns = {f"x{j}": X[:, j] for j in range(n_factors)} | {"y": y + rng.normal(size=len(X))}
        piece = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, piece.schema, compression="none", use_dictionary=False)
        writer.write_table(piece)
    writer.close()


def read_columns(path):
    """Seconds to read all columns once, a few at a time."""
    names = pl.scan_parquet(path).collect_schema().names()
    start = time.perf_counter()
    for at in range(0, len(names), 8):
        pl.scan_parquet(path).select(names[at : at + 8]).collect(engine="streaming")
    return time.perf_counter() - start


def report(path, memory, way, reading):
    """Run the command, and print what it took."""
    typed = ["firstfactor", "rank", str(path), "-t", "y", "--memory", memory, *way]
    code = f"import sys; sys.argv = {typed!r}; from firstfactor.cli.main import main; main()"
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    taken, peak = time.perf_counter() - start, usage.ru_maxrss * 1024
    limit = parse_size("memory", memory)
    answer = next((line for line in printed.splitlines() if " by " in line or "selected" in line), f"exit {status}")
    print(f"{' '.join(way) or 'default'}: {taken:.0f} s, {taken / reading:.1f} × reading all columns once")
    print(f"  peak {peak / 1e9:.2f} GB (below {memory}: {'yes' if peak < limit else 'NO'}); {answer}")


if __name__ == "__main__":
    main()
