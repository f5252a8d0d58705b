"""Cost model for the choice of a search method, and division of work into tasks.

Costs are approximate nanoseconds on one machine. They are estimated from counts and never from the clock, so that the
same data are searched in the same way on every machine, with bit-for-bit identical results.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]

# Search through a k-d tree for one row: fixed, and growing with each dimension until all points are visited.
SEARCH, SEARCH_MORE, SEARCH_FACTOR = 150.0, 65.0, 1.62
# Construction of the tree, for one row: fixed, and per dimension.
BUILD, BUILD_DIMENSION = 90.0, 15.0
# Scan of all points for one row: fixed, per point, and per dimension of a point.
SCAN, SCAN_POINT, SCAN_DIMENSION = 2500.0, 1.5, 0.13
# Scan for every subset: per point, and per point and subset.
SUBSETS_POINT, SUBSETS_CELL = 6.0, 0.035
# Detection of equal rows, per row.
COLLAPSE = 100.0
# Windows of a sorted column, for one row and candidate: fixed, and per block of points.
LINE, LINE_BLOCK = 50.0, 15.0
# Comparison of a point with all candidates: fixed, per candidate, and again for ties.
COMPARE, COMPARE_CANDIDATE, COMPARE_AGAIN = 1.0, 0.6, 1.0
# Candidate search in a small table: per row, and per row and candidate.
CANDIDATE_ROW, CANDIDATE_CELL = 400.0, 15.0

# Windows of a sorted column are faster than a tree for few candidates, and for many rows, but never for few rows.
FEW_CANDIDATES, MANY_ROWS, FEW_ROWS = 8, 60_000, 3000

# Columns with fewer distinct values than this share of the rows are worth collapsing.
DISCRETE = 0.5

# Maximum number of tasks for a few rows, minimum and maximum nanoseconds of a task, and maximum number of rows.
MAX_TASKS, MIN_TASK, MAX_TASK, MAX_TASK_ROWS = 8, 5e5, 5e7, 4096


def cost_of_search(n_factors: int, n_rows: int) -> float:
    """Return the nanoseconds to find the neighbours of one row in a tree of all rows."""
    return SEARCH + min(SEARCH_MORE * SEARCH_FACTOR**n_factors, cost_of_visiting_all(n_factors, n_rows))


def cost_of_visiting_all(n_factors: int, n_rows: int) -> float:
    """Return the nanoseconds to measure the distances of one row to all rows."""
    return (SCAN_POINT + SCAN_DIMENSION * n_factors) * n_rows


def cost_of_building(n_factors: int) -> float:
    """Return the nanoseconds per row to build a k-d tree."""
    return BUILD + BUILD_DIMENSION * n_factors


def cost_of_scan(n_factors: int, n_rows: int) -> float:
    """Return the nanoseconds for one row of a scan that leaves out each factor in turn."""
    return SCAN + cost_of_visiting_all(n_factors, n_rows)


def cost_of_subsets(n_factors: int, n_rows: int) -> float:
    """Return the nanoseconds for one row of a scan over every subset of some factors."""
    return (SUBSETS_POINT + SUBSETS_CELL * 2.0**n_factors) * n_rows


def cost_alone(n_points: Floats | float, n_factors: int, n_rows: int) -> Floats:
    """Return the nanoseconds per row to search sets with ``n_points`` unique points separately.

    A row that shares its point with another has its neighbour there. If rows fall evenly on the points, a share
    exp(−rows / points) of them is alone and has to search.
    """
    lonely = np.exp(-n_rows / np.asarray(n_points))
    return np.where(np.isinf(n_points), 0.0, COLLAPSE) + cost_of_search(n_factors, n_rows) * lonely


def least_cost_shared(n_points: float, n_base: int, n_candidates: int, n_rows: int) -> float:
    """Return the nanoseconds per row and candidate of a shared search within the same point of the base only."""
    if n_candidates == 1 and n_base > 1:
        return np.inf  # nothing is shared, and the base alone prunes less
    return float((COMPARE / n_candidates + COMPARE_CANDIDATE) * n_rows / n_points)


def spans(size: int, step: int) -> list[slice]:
    """Return slices of ``step`` entries that cover a range of ``size``."""
    return [slice(start, start + step) for start in range(0, size, step)]


def blocks(centres: Positions, nanoseconds: float) -> list[Positions]:
    """Cut rows that take ``nanoseconds`` each into tasks, independently of the number of threads.

    Tasks are long enough to be worth a thread, and short enough for interruption between them.
    """
    count = min(max(int(centres.size * nanoseconds / MIN_TASK), 1), MAX_TASKS)
    longest = max(1, min(int(MAX_TASK / nanoseconds), MAX_TASK_ROWS))
    return [centres[span] for span in spans(centres.size, min(longest, max(1, -(-centres.size // count))))]
