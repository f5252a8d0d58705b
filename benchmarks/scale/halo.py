"""How many rows of others a cell of rows needs, if rows are cut by space: an experiment for what is not built yet.

Rows are cut at medians of the base until cells are small enough, as a k-d tree does. The ball of a row, with one more
factor, may reach out of the box of its cell. A cell then needs a halo: the rows of others that are not farther from its
box than some reach. It is chosen so that the balls of 99 % of the rows of the cell are inside; the others are known, by
their radius, and searched again elsewhere. So results would be exact.
"""

import numpy as np
from scipy.spatial import cKDTree

from .tables import NEIGHBORS

N_ROWS, CELLS, BASES, INSIDE = 100_000, (2_000, 20_000), (1, 2, 3, 4, 6), 0.99
MOST_CELLS = 8  # that are looked at


def draw_tables(n_factors, n_rows=N_ROWS):
    """Tables by name: independent uniform factors, and normal ones that depend on each other and are skewed."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=(n_rows, 1))
    dependent = np.sqrt(0.8) * common + np.sqrt(0.2) * rng.normal(size=(n_rows, n_factors))
    dependent[:, ::2] = np.exp(dependent[:, ::2])
    return {"uniform": rng.random((n_rows, n_factors)), "dependent, skewed": dependent / dependent.std(axis=0)}


def cut(points, size):
    """Rows of each cell, cut at the median of the widest factor until there are no more than so many."""
    cells, left = [], [np.arange(len(points))]
    while left:
        rows = left.pop()
        if rows.size <= size:
            cells.append(rows)
            continue
        widest = np.ptp(points[rows], axis=0).argmax()
        order = rows[points[rows, widest].argsort()]
        left += [order[: rows.size // 2], order[rows.size // 2 :]]
    return cells


def look_at(base, radius, rows):
    """For one cell: which share of its balls reaches out of its box, and how large a halo is, in cells."""
    low, high = base[rows].min(axis=0), base[rows].max(axis=0)
    # at the edge of the table there is nothing to reach for
    to_low = np.where(low > base.min(axis=0), base[rows] - low, np.inf)
    to_high = np.where(high < base.max(axis=0), high - base[rows], np.inf)
    beyond = radius[rows] - np.minimum(to_low, to_high).min(axis=1)
    reach = max(float(np.quantile(beyond, INSIDE)), 0.0)
    gaps = np.maximum(np.maximum(low - base, base - high), 0.0)
    is_near = (gaps**2).sum(axis=1) <= reach**2
    return float(np.mean(beyond > 0)), float((is_near.sum() - rows.size) / rows.size)


def read_table(path, n_factors):
    """The first numeric columns of a file, each scaled to variance 1."""
    import pandas as pd

    values = pd.read_csv(path).select_dtypes("number").dropna().to_numpy(float)[:, :n_factors]
    return values / values.std(axis=0)


def measure(say, path=None):
    """A record for each table, base and size of cells."""
    records = []
    for d in BASES:
        tables = draw_tables(d + 1)
        if path is not None and (given := read_table(path, d + 1)).shape[1] == d + 1:
            tables[path.stem] = given
        for name, table in tables.items():
            radius = cKDTree(table).query(table, k=[NEIGHBORS])[0][:, 0]
            for size in CELLS:
                cells = cut(table[:, :d], size)
                found = [look_at(table[:, :d], radius, rows) for rows in cells[:: max(1, len(cells) // MOST_CELLS)]]
                out, halo = np.mean(found, axis=0).tolist()
                n = int(np.mean([rows.size for rows in cells]))
                records.append({"table": name, "d": d, "cell": n, "out": out, "halo": halo})
                say(records[-1])
    return records
