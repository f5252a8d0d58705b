"""How long fair shares take against pyfirst, and what the tree and clusters add to a fit.

    python -m benchmarks.sharing

Both sides of a comparison take turns; the time is the median of their calls, and ratios are within one run.
"""

import os
import time
import warnings
from functools import partial
from statistics import median

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import data
from benchmarks.measure import THREADS, seconds
from firstfactor import FIRST, shapley_effects

warnings.simplefilter("ignore")

CORES = os.cpu_count() or 1
SHAPLEY_ROWS, SHAPLEY_FACTORS, FASTER = 2000, 10, 40.0
TREE_ROWS, TREE_FACTORS, LONGER = 10_000, 10, 3.0
WIDE_ROWS, WIDE_FACTORS, WIDE_SECONDS = 1000, 100, 5.0


def main():
    """Print seconds, ratios and whether they are what is wanted."""
    X, y = data.friedman(300, 10, 0.8)
    for rule in ("paper", "calibrated"):  # loads all kernels
        FIRST(rule=rule, n_jobs=THREADS).fit(X, y)
    shapley_effects(X, y, uncertainty=False)
    _compare_shapley()
    _compare_tree()
    _fit_wide()


def take_turns(calls, rounds):
    """The median seconds and the last result of each of several calls, which take turns."""
    times, results = {name: [] for name in calls}, {}
    for _ in range(rounds):
        for name, call in calls.items():
            taken, results[name] = seconds(call, repeats=1)
            times[name].append(taken)
    return {name: median(some) for name, some in times.items()}, results


def processor_seconds(call):
    """The processor time of a call, which other work on the machine hardly changes."""
    start = time.process_time()
    call()
    return time.process_time() - start


def _compare_shapley(rounds=3):
    X, y = data.friedman(SHAPLEY_ROWS, SHAPLEY_FACTORS, 0.8)
    try:
        from pyfirst import ShapleySobolKNN
    except ImportError:
        print("pyfirst is not installed: pip install -e '.[bench]'")
        return
    # name, jobs, and threads that libraries may start on their own: Faiss, which pyfirst searches with, uses all cores
    for name, jobs, limit in (("1 job", 1, None), ("1 thread", 1, 1), (f"{CORES} threads", -1, 1)):
        calls = {
            "ours": lambda jobs=jobs: shapley_effects(X, y, uncertainty=False, n_jobs=jobs).values,
            "pyfirst": lambda jobs=jobs: ShapleySobolKNN(X, y, noise=True, n_jobs=jobs, random_state=0),
        }
        with threadpool_limits(limit):
            taken, shares = take_turns(calls, rounds)
            busy = {side: processor_seconds(call) for side, call in calls.items()}
        ratio = taken["pyfirst"] / taken["ours"]
        wanted = f"at least {FASTER:g}: {_verdict(ratio >= FASTER)}" if limit else f"{CORES} threads of Faiss against 1"
        print(
            f"Fair shares, N = {SHAPLEY_ROWS:,}, p = {SHAPLEY_FACTORS}, {name}: "
            f"{taken['ours']:.3g} s, pyfirst {taken['pyfirst']:.3g} s: {ratio:.0f} times as fast "
            f"({wanted}); processor time {busy['ours']:.3g} s "
            f"and {busy['pyfirst']:.3g} s, {busy['pyfirst'] / busy['ours']:.0f} times; "
            f"largest difference of a share {np.abs(shares['ours'] - shares['pyfirst']).max():.1e}"
        )


def _compare_tree(rounds=5):
    for case, fit in _cases(TREE_ROWS, TREE_FACTORS):
        taken, _ = take_turns({cut: fit(cluster_cut=cut) for cut in ("auto", None)}, rounds)
        ratio = taken["auto"] / taken[None]
        print(
            f"{case}: {taken['auto']:.3g} s, without {taken[None]:.3g} s: {ratio:.2f} times as long "
            f"(at most {LONGER:g}: {_verdict(ratio <= LONGER)})"
        )


def _fit_wide(rounds=3):
    for case, fit in _cases(WIDE_ROWS, WIDE_FACTORS):
        taken, _ = take_turns({"fit": fit()}, rounds)
        print(f"{case}: {taken['fit']:.3g} s (at most {WIDE_SECONDS:g}: {_verdict(taken['fit'] <= WIDE_SECONDS)})")


def _cases(n_rows, n_factors):
    """What is fitted, in words, and what makes a call that fits it."""
    for correlation in (0.0, 0.8):
        X, y = data.friedman(n_rows, n_factors, correlation)
        for rule in ("paper", "calibrated"):
            case = f"Tree and clusters, N = {n_rows:,}, p = {n_factors}, ρ = {correlation}, rule {rule}"
            yield case, partial(_fit, X, y, rule=rule)


def _fit(X, y, **options):
    return lambda: FIRST(n_jobs=THREADS, **options).fit(X, y)


def _verdict(reached):
    return "yes" if reached else "NO"


if __name__ == "__main__":
    main()
