"""Tables to measure on, and a search in them: what workers are given, without a cluster."""

import numpy as np

from firstfactor.cluster.tasks import Placed, Space
from firstfactor.data.design import read_design
from firstfactor.neighbors.search import Columns

NEIGHBORS = 3


def draw(n_rows, n_factors, seed=0):
    """Independent uniform factors, and y, which nothing depends on but the answer: (rows, factors), (rows, 1)."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, n_factors))
    return X, 10 * np.sin(np.pi * X[:, :1]) + rng.normal(size=(n_rows, 1))


def choose_outer(n_rows, n_outer):
    """The rows that are averaged over, increasing: all if ``n_outer`` is None."""
    if n_outer is None:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(1).choice(n_rows, n_outer, replace=False))


def place(n_rows, n_base, n_candidates, n_outer=None):
    """A block with candidates, base factors one by one, what a search needs to know, and what is known of columns."""
    X, y = draw(n_rows, n_base + n_candidates)
    design, p = read_design(X), n_base + n_candidates
    candidates = tuple(range(n_base, p))
    block = Placed(design.on_factors(candidates), candidates)
    base = [Placed(design.on_factors([i]), (i,)) for i in range(n_base)]
    space = Space(y, choose_outer(n_rows, n_outer), NEIGHBORS, None, None)
    known = Columns(np.ones(p), np.full(p, float(n_rows)), np.full(p, np.inf), {})
    return block, base, space, known
