"""How long the calibrated rule takes, with all that a fit has, against the paper's rule in the same run.

    python -m benchmarks.evidence

Both take turns on two threads; the time is the median of their fits. Growth is the time for 100,000 rows over that for
20,000, which is 5 where time grows with the number of rows.
"""

import warnings
from statistics import median

from benchmarks import data
from benchmarks.measure import THREADS, seconds
from firstfactor import FIRST

warnings.simplefilter("ignore")

# rows and factors, seconds that the calibrated rule may take, fits of each
TABLES = (
    (1000, 10, 0.15, 9),
    (1000, 1000, 1.5, 3),
    (20_000, 20, None, 3),
    (100_000, 20, 5.0, 3),
    (2000, 5000, 8.0, 3),
)
GROWTH = 5.0
TRUE = [0, 6, 7, 8, 9]


def main():
    """Print the seconds of both rules, whether the true factors were found, and how time grows."""
    _time_both(300, 10, 1)  # loads all kernels
    taken = {}
    for rows, factors, limit, rounds in TABLES:
        ours, paper, exact = _time_both(rows, factors, rounds)
        taken[rows, factors] = ours
        verdict = "" if limit is None else f" (at most {limit:g}: {'yes' if ours <= limit else 'NO'})"
        found = "exact" if exact else "NOT EXACT"
        print(f"N = {rows:,}, p = {factors:,}: {ours:.3g} s{verdict}, the paper's rule {paper:.3g} s; {found}")
    growth = taken[100_000, 20] / taken[20_000, 20]
    print(f"100,000 / 20,000 rows: {growth:.2g} (at most {GROWTH:g}: {'yes' if growth <= GROWTH else 'NO'})")


def _time_both(rows, factors, rounds):
    """Median seconds of the calibrated and of the paper's rule, and whether the first found just the true factors."""
    X, y = data.friedman(rows, factors)
    times = {"calibrated": [], "paper": []}
    for _ in range(rounds):
        for rule, some in times.items():
            selector = FIRST(rule=rule, n_jobs=THREADS, random_state=0)
            some.append(seconds(lambda fit=selector.fit: fit(X, y), repeats=1)[0])
            if rule == "calibrated":
                exact = sorted(selector.selected_.tolist()) == TRUE
    return median(times["calibrated"]), median(times["paper"]), exact


if __name__ == "__main__":
    main()
