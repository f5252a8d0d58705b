"""How much longer everyday data take than a plain table of the same size, in one run on one machine.

    python -m benchmarks.everyday [ROWS]

Processor time of one thread, the least of several fits; all cases take turns, since a machine is not equally fast all
the time.
"""

import sys
import time
import warnings

import numpy as np

from benchmarks import data
from firstfactor import FIRST

warnings.simplefilter("ignore")

ROWS, FACTORS, ROUNDS = 10_000, 10, 5

# case, and how much longer it may take; classes have three neighbours instead of two, with or without classes
LIMITS = {
    "plain, 3 neighbours": np.inf,
    "3 classes": 1.5,
    "10 classes": 3.0,
    "3 outputs": 1.5,
    "weights": 1.2,
    "10 % missing": 2.0,
    "groups of 20 rows": 2.0,
    "two columns grouped": 2.0,
}


def cases(n_rows):
    """A call for each case."""
    X, y = data.friedman(n_rows, FACTORS)
    rng = np.random.default_rng(0)
    gaps = np.where(rng.uniform(size=X.shape) < 0.1, np.nan, X)
    outputs = np.column_stack([y, X[:, 8], rng.normal(size=n_rows)])

    def fit(X=X, y=y, more=None, **options):
        return lambda: FIRST(n_jobs=1, **options).fit(X, y, **(more or {}))

    def classes(count):
        return np.searchsorted(np.quantile(y, np.linspace(0, 1, count + 1)[1:-1]), y)

    return {
        "plain": fit(),
        "plain, 3 neighbours": fit(n_neighbors=3),
        "3 classes": fit(y=classes(3), task="classification"),
        "10 classes": fit(y=classes(10), task="classification"),
        "3 outputs": fit(y=outputs),
        "weights": fit(more={"sample_weight": 1 + X[:, 1]}),
        "10 % missing": fit(X=gaps),
        "groups of 20 rows": fit(more={"groups": np.arange(n_rows) // 20}),
        "two columns grouped": fit(factor_groups={"pair": [1, 2]}),
    }


def main():
    """Time all cases in turn and print how much longer than the plain one each took."""
    calls = cases(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS)
    times = {name: [] for name in calls}
    for call in calls.values():
        call()  # compiles
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.process_time()
            call()
            times[name].append(time.process_time() - start)
    plain = min(times["plain"])
    print(f"{'plain':20} {1000 * plain:7.0f} ms")
    for name, limit in LIMITS.items():
        least = min(times[name])
        verdict = f"  (at most {limit}: {'yes' if least <= limit * plain else 'NO'})" if np.isfinite(limit) else ""
        print(f"{name:20} {1000 * least:7.0f} ms  {least / plain:.2f} ×{verdict}")


if __name__ == "__main__":
    main()
