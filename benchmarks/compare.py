"""Speed side by side with pyfirst, scipy's k-d tree and firstfactor itself, in one run on one machine.

    python -m benchmarks.compare [--quick] [--json FILE]

Ratios compare work done in the same run with the same number of threads. pyfirst drops candidates early, in two
passes, and eliminates one factor at a time; "same rule" is firstfactor doing just that (forward=2,
elimination="single"), and the answers must then agree where data have no ties. "default" is Algorithm 3 of the
paper, which tries every factor in every step.
"""

import argparse
import json
import os
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

from benchmarks import data
from benchmarks.measure import THREADS, command_seconds, in_child, seconds
from firstfactor import FIRST, TooFewRowsWarning, total_indices

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from pyfirst.pyfirst import FIRST as PEER_FIRST
    from pyfirst.pyfirst import TotalSobolKNN

warnings.simplefilter("ignore", TooFewRowsWarning)  # 50 factors are too many on purpose

SAME_RULE = {"forward": 2, "elimination": "single", "cluster_cut": None}

# name, table, neighbours, ratio to reach, whether the answers must agree (no ties)
AGAINST_PEER = [
    ("Friedman, N = 1,000, p = 10, ρ = 0.8", lambda: data.friedman(1_000, 10, 0.8), 2, 30, True),
    ("Friedman, N = 1,000, p = 1,000, ρ = 0.9", lambda: data.friedman(1_000, 1_000, 0.9), 2, 60, True),
    ("Friedman, N = 10,000, p = 10", lambda: data.friedman(10_000, 10), 2, 60, True),
    ("Friedman, N = 50,000, p = 10", lambda: data.friedman(50_000, 10), 2, 200, True),
    ("mixed, N = 10,000, p = 20", lambda: data.mixed(10_000), 2, 40, False),
    ("discrete, N = 10,000, p = 12", lambda: data.discrete(10_000), 2, 100, False),
    ("two classes, N = 20,000, p = 20", lambda: data.two_classes(20_000, 20), 3, 60, True),
]
SLOW = {"Friedman, N = 50,000, p = 10"}


def fit(X, y, n_jobs=THREADS, **options):
    """Return our importances."""
    return FIRST(n_jobs=n_jobs, **options).fit(X, y).importances_


def against_peer(name, make, n_neighbors, target, must_agree):
    """Time one table with pyfirst, and with ours by both rules."""
    X, y = make()
    fit(X, y)  # compile
    same, ours = seconds(lambda: fit(X, y, **SAME_RULE))
    default, _ = seconds(lambda: fit(X, y))
    peer, theirs = seconds(
        lambda: PEER_FIRST(pd.DataFrame(X), y, n_knn=n_neighbors, n_jobs=THREADS, return_option="total", random_state=0)
    )
    row = {"case": name, "target": target, "same rule": peer / same, "default": peer / default}
    row |= {"seconds": {"same rule": same, "default": default, "pyfirst": peer}}
    if must_agree:
        row["largest difference"] = float(np.abs(ours - theirs).max())
    return row


def total_indices_against_peer():
    """Time NANNE on N = 5,000 rows and p = 50 factors."""
    X, y = data.friedman(5_000, 50)
    total_indices(X, y, n_jobs=THREADS)
    own, ours = seconds(lambda: total_indices(X, y, n_jobs=THREADS).values)
    peer, theirs = seconds(lambda: TotalSobolKNN(pd.DataFrame(X), y, noise=True, n_jobs=THREADS))
    return {
        "case": "total indices, N = 5,000, p = 50",
        "target": 15,
        "same rule": peer / own,
        "seconds": {"same rule": own, "pyfirst": peer},
        "largest difference": float(np.abs(ours - theirs).max()),
    }


def calibrated():
    """Time the calibrated rule against the paper's and against pyfirst, which has nothing like it."""
    X, y = data.friedman(10_000, 20)
    rules = {rule: (lambda rule=rule: fit(X, y, rule=rule, random_state=0)) for rule in ("paper", "calibrated")}
    for run in rules.values():
        run()  # compile
    times = {rule: seconds(run)[0] for rule, run in rules.items()}
    peer, _ = seconds(lambda: PEER_FIRST(pd.DataFrame(X), y, n_jobs=THREADS, random_state=0), repeats=1)
    case = "calibrated rule, N = 10,000, p = 20"
    return [
        {"case": f"{case}: × the paper's rule", "at most": 8, "ratio": times["calibrated"] / times["paper"]},
        {"case": f"{case}: pyfirst's FIRST ×", "at least": 1, "ratio": peer / times["calibrated"]},
    ]


def against_tree(rows):
    """Time a fit against one k-d tree search in the five true factors, and its memory in a process of its own."""
    X, y = data.friedman(rows, 20)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table.npz")
        np.savez(path, X=X, y=y)
        child = in_child(path)
    points = np.ascontiguousarray(X[:, [0, 6, 7, 8, 9]])
    tree, _ = seconds(lambda: cKDTree(points).query(points, k=2, workers=THREADS), repeats=1)
    memory = (child["table"] + child["more"]) / child["table"]
    return [
        {
            "case": f"N = {rows:,}, p = 20: × one cKDTree search",
            "at most": 12,
            "ratio": child["seconds"] / tree,
        },
        {"case": f"N = {rows:,}, p = 20: peak memory × X", "at most": 5, "ratio": memory},
    ]


def growth(sizes):
    """Exponents of the time in N and in p, and what is discrete at ten times the rows."""
    in_rows = [seconds(lambda n=n: fit(*data.friedman(n, 20)), 1)[0] for n in sizes]
    exponents = np.diff(np.log(in_rows)) / np.diff(np.log(sizes))
    factors = [10, 20, 40, 80, 160]
    in_factors = [seconds(lambda p=p: fit(*data.friedman(10_000, p)))[0] for p in factors]
    slope = np.polyfit(np.log(factors), np.log(in_factors), 1)[0]
    small, large = (seconds(lambda n=n: fit(*data.discrete(n)))[0] for n in (10_000, 100_000))
    steps = " → ".join(f"{n:,}" for n in sizes)
    return [
        {"case": f"exponent in N, {steps}", "at most": 1.25, "ratio": float(exponents.max())},
        {"case": "exponent in p, N = 10,000, p = 10 … 160", "at most": 1.0, "ratio": float(slope)},
        {"case": "discrete, N = 100,000 × N = 10,000", "at most": 15, "ratio": large / small},
    ]


def threads():
    """How much a second thread brings."""
    X, y = data.friedman(50_000, 10)
    fit(X, y)
    one, two = (seconds(lambda n=n: fit(X, y, n_jobs=n))[0] for n in (1, 2))
    return [{"case": "two threads × one, N = 50,000", "at least": 1.7, "ratio": one / two}]


def starting():
    """Seconds to start from nothing and from a warm cache."""
    use = (
        "import numpy as np; from firstfactor import FIRST; rng = np.random.default_rng(0);"
        "X = rng.uniform(size=(1000, 10)); FIRST().fit(X, X[:, 0] + X[:, 1] ** 2 + rng.normal(size=1000))"
    )
    with tempfile.TemporaryDirectory() as cache:
        cold = command_seconds(use, {**os.environ, "NUMBA_CACHE_DIR": cache}, repeats=1)
        warm = command_seconds(use, {**os.environ, "NUMBA_CACHE_DIR": cache}, repeats=5)
    plain = command_seconds("import sklearn.feature_selection", repeats=5)
    return [
        {"case": "first call on a fresh cache, seconds", "at most": 15, "ratio": cold},
        {"case": "warm start beyond importing scikit-learn, seconds", "at most": 1, "ratio": warm - plain},
    ]


def show(row):
    """Print one row with its verdict."""
    if "same rule" in row:
        default = f", default {row['default']:6.1f} ×" if "default" in row else ""
        difference = f", differ by {row['largest difference']:.0e}" if "largest difference" in row else ""
        verdict = "reached" if row["same rule"] >= row["target"] else "NOT reached"
        figure = f"same rule {row['same rule']:6.1f} ×{default} (≥ {row['target']}: {verdict}){difference}"
    else:
        below = "at most" in row
        bound = row["at most"] if below else row["at least"]
        reached = row["ratio"] <= bound if below else row["ratio"] >= bound
        figure = f"{row['ratio']:8.2f} ({'≤' if below else '≥'} {bound}: {'reached' if reached else 'NOT reached'})"
    print(f"{row['case']:52} {figure}", flush=True)


def main():
    """Run everything and print it row by row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="leave out what takes minutes")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    rows = []

    def report(more):
        for row in more:
            show(row)
            rows.append(row)

    for case in AGAINST_PEER:
        if not (options.quick and case[0] in SLOW):
            report([against_peer(*case)])
    report([total_indices_against_peer()])
    report(calibrated())
    report(threads())
    report(starting())
    sizes = (10_000, 100_000) if options.quick else (10_000, 100_000, 1_000_000)
    report(growth(sizes))
    report(against_tree(sizes[-1]))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
