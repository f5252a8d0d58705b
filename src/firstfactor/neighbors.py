"""Search plans: how much y varies among the nearest rows, for one factor set or for many at once.

The ball of a row holds every row, itself included, that is not farther away than its ``n_neighbors``-th
nearest; all ties are in, and distances that differ only by rounding are ties.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from ._tasks import Workers
from .design import Design

# Relative difference below which two distances are equal but for rounding.
TIE = 1e-9

# From this many dimensions on, a tree visits nearly every row anyway.
BRUTE_FORCE_DIMENSIONS = 16

# Rows searched at a time: bounds the memory that neighbour lists or distance blocks take.
BLOCK = 512


@dataclass(frozen=True)
class Search:
    """Where to look for neighbours: the table, the outer rows, how many, and who does the work."""

    design: Design
    y: NDArray[np.float64]
    outer: NDArray[np.intp]
    n_neighbors: int
    workers: Workers

    def one(self, factors: Sequence[int]) -> NDArray[np.float64]:
        """Return the sample variance of y in the ball of every outer row, in the factors given."""
        points = _collapse(coordinates(self.design, factors), self.y)
        centres, position = np.unique(points.of_row[self.outer], return_inverse=True)
        search = _search_all if points.where.shape[1] >= BRUTE_FORCE_DIMENSIONS else _search_tree
        return search(points, centres, self.n_neighbors)[position]

    def plus_each(self, base: Sequence[int], candidates: Sequence[int]) -> NDArray[np.float64]:
        """Return the mean ball variance in ``base`` plus each candidate."""
        return self._means([(*base, candidate) for candidate in candidates])

    def minus_each(self, base: Sequence[int], members: Sequence[int]) -> NDArray[np.float64]:
        """Return the mean ball variance in ``base`` minus each of the members given."""
        return self._means([tuple(i for i in base if i != member) for member in members])

    def _means(self, sets: list[tuple[int, ...]]) -> NDArray[np.float64]:
        return np.array(self.workers.map(lambda factors: self.one(factors).mean(), sets))


@dataclass(frozen=True)
class _Points:
    """Distinct rows, each with the count, mean and sum of squared deviations of y among its copies."""

    where: NDArray[np.float64]
    of_row: NDArray[np.intp]
    count: NDArray[np.float64]
    mean: NDArray[np.float64]
    squares: NDArray[np.float64]


def coordinates(design: Design, factors: Sequence[int]) -> NDArray[np.float64]:
    """Return points whose squared Euclidean distances are those of the design."""
    numeric = [j for j in factors if not design.categorical[j]]
    blocks = [design.values[:, numeric]]
    for j in factors:
        if design.categorical[j]:
            levels = np.arange(design.values[:, j].max() + 1)
            blocks.append((design.values[:, [j]] == levels) * np.sqrt(design.mismatch / 2))
    return np.hstack(blocks)


def _collapse(where: NDArray[np.float64], y: NDArray[np.float64]) -> _Points:
    where, of_row, count = np.unique(where, axis=0, return_inverse=True, return_counts=True)
    mean = np.bincount(of_row, weights=y) / count
    squares: NDArray[np.float64] = np.bincount(of_row, weights=np.square(y - mean[of_row]))  # type: ignore[assignment]
    return _Points(where, of_row, count.astype(np.float64), mean, squares)


def _search_tree(points: _Points, centres: NDArray[np.intp], n_neighbors: int) -> NDArray[np.float64]:
    tree = cKDTree(points.where)
    variances = []
    for block in _blocks(centres):
        distance, nearest = tree.query(points.where[block], k=range(1, min(n_neighbors, tree.n) + 1))
        reach = _reach(distance, points.count[nearest], n_neighbors)
        balls = tree.query_ball_point(points.where[block], reach, return_sorted=True)
        row = np.repeat(np.arange(block.size), [len(ball) for ball in balls])
        variances.append(_ball_variances(points, block, row, np.concatenate(balls).astype(np.intp)))
    return np.concatenate(variances)


def _search_all(points: _Points, centres: NDArray[np.intp], n_neighbors: int) -> NDArray[np.float64]:
    variances = []
    for block in _blocks(centres):
        distance = cdist(points.where[block], points.where)
        last = min(n_neighbors, points.count.size)
        nearest = np.argpartition(distance, last - 1, axis=1)[:, :last]
        ahead = np.take_along_axis(distance, nearest, axis=1)
        order = np.argsort(ahead, axis=1)
        nearest = np.take_along_axis(nearest, order, axis=1)
        reach = _reach(np.take_along_axis(ahead, order, axis=1), points.count[nearest], n_neighbors)
        row, member = np.nonzero(distance <= reach[:, None])
        variances.append(_ball_variances(points, block, row, member))
    return np.concatenate(variances)


def _blocks(centres: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    return [centres[start : start + BLOCK] for start in range(0, centres.size, BLOCK)]


def _reach(
    distance: NDArray[np.float64], count: NDArray[np.float64], n_neighbors: int
) -> NDArray[np.float64]:
    """Return the distance at which each centre has seen ``n_neighbors`` rows, ties by rounding included."""
    last = (count.cumsum(axis=1) < n_neighbors).sum(axis=1)
    reach: NDArray[np.float64] = distance[np.arange(len(distance)), last] * (1 + TIE)
    return reach


def _ball_variances(
    points: _Points, centres: NDArray[np.intp], row: NDArray[np.intp], member: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the sample variance (ddof = 1) of y in each ball, from (row, member) pairs.

    Deviations are taken from the mean at the centre, which keeps digits where y varies little in the ball.
    """
    count = points.count[member]
    deviation = points.mean[member] - points.mean[centres[row]]
    total = np.bincount(row, weights=count)
    first = np.bincount(row, weights=count * deviation)
    second = np.bincount(row, weights=points.squares[member] + count * deviation**2)
    return np.maximum(second - first**2 / total, 0.0) / (total - 1)
