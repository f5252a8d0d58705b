"""One scan of all rows for every subset of some factors."""

from collections.abc import Sequence

import numpy as np

from .kernels.subset_scan import BLOCK, subset_variances
from .space import SearchSpace, inverse
from .strategy import MAX_TASKS, Floats, Positions, spans

# Number of variances, of rows and subsets, that one task returns.
SUBSET_BLOCK = 2**20


def sum_over_subsets(space: SearchSpace, factors: Sequence[int], variances: Floats | None) -> Floats:
    """Return the weighted sum of the variances in the balls of the outer rows in every subset, (subsets,).

    A subset is a bit mask of its factors. If an array ``variances`` is given, the variances themselves are written to
    it, (outer rows, subsets).
    """
    design, order = space.design, space.kd_tree(factors).tree.order
    columns = design.columns_of(factors)
    starts = np.cumsum([0, *(len(design.columns[i]) for i in factors)])
    points = np.zeros((len(columns), -(-order.size // BLOCK) * BLOCK))
    for k, column in enumerate(columns):
        points[k, : order.size] = design.column(column)[order]
    y, position, caps = space.y[order], inverse(order), design.caps[columns]

    def scan(some: Positions) -> Floats:
        rows = space.outer[some]
        found = subset_variances(points, caps, starts, y, position[rows], space.n_neighbors)
        if variances is not None:
            variances[some] = found
        sums: Floats = np.einsum("n,nu->u", space.row_weights[rows], found)
        return sums

    n_rows = space.outer.size
    size = max(1, min(SUBSET_BLOCK >> len(factors), -(-n_rows // MAX_TASKS)))
    tasks = [np.arange(n_rows)[span] for span in spans(n_rows, size)]
    sums: Floats = np.sum(space.workers.map(scan, tasks), axis=0)
    return sums
