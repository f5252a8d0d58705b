"""KFOCI: forward selection by kernel partial correlation on a nearest-neighbour graph (Huang, Deb and Sen, 2022)."""

import math
from typing import Any

import numpy as np
from numba import njit
from scipy.spatial.distance import pdist

from ...data.arrays import Floats
from ..outcome import Outcome, outcome_of

SHARE_OF_ROWS = 1 / 20  # as many neighbours, but not more than the most: the defaults of the R package KPC
MOST_NEIGHBORS = 20


def kfoci(X: Floats, y: Floats, seed: int) -> Outcome:
    """Return the selected factors; the importance counts down the order of selection.

    The next factor is the one with which rows and their neighbours have the most similar responses. The selection ends
    when similarity does not grow. Factors are taken as they come, not scaled.
    """
    shuffled = np.random.default_rng(seed).permutation(y.size)  # so that chance decides between tied neighbours
    order = _select(X[shuffled], _similarities(y[shuffled]), _n_neighbors(y.size))
    importances = np.zeros(X.shape[1])
    importances[order] = np.arange(len(order), 0, -1)
    return outcome_of(importances)


def _n_neighbors(n_rows: int) -> int:
    """Return how many neighbours of a row are asked."""
    return min(math.ceil(n_rows * SHARE_OF_ROWS), MOST_NEIGHBORS)


def _similarities(y: Floats) -> Floats:
    """Return the Gaussian kernel between all responses, as wide as the median distance between two of them.

    Between two classes every width orders the factors alike; one is the median where the classes are equally frequent,
    and zero, which R takes from classes that are not, is no width.
    """
    width = 1.0 if y.dtype == bool else float(np.median(pdist(y[:, None])))
    distances = np.subtract.outer(y.astype(float), y.astype(float))
    kernel: Floats = np.exp(-((distances / width) ** 2) / 2)
    return kernel


def _select(X: Floats, similarities: Floats, n_neighbors: int) -> list[int]:
    """Return the factors in the order in which they were selected."""
    columns = np.ascontiguousarray(X.T)
    left, selected = list(range(len(columns))), list[int]()
    squares, reached = np.zeros_like(similarities), -np.inf
    while left:
        nearest_first = np.argsort(squares, axis=1, kind="stable")
        means = _means_with_each(columns[left], squares, nearest_first, similarities, n_neighbors)
        if means.max() <= reached:
            break
        reached = means.max()
        selected.append(left.pop(int(means.argmax())))
        squares += np.subtract.outer(columns[selected[-1]], columns[selected[-1]]) ** 2
    return selected


@njit(cache=True, nogil=True)
def _means_with_each(candidates: Any, squares: Any, nearest_first: Any, similarities: Any, n_neighbors: int) -> Any:
    """Mean similarity of a row and its neighbours by what is selected plus each candidate.

    `squares` are the squared distances by what is selected. Rows are met by these, nearest first, until they alone are
    farther than the neighbours found.
    """
    n_rows = similarities.shape[0]
    nearest, neighbors = np.empty(n_neighbors), np.empty(n_neighbors, np.intp)
    means = np.zeros(candidates.shape[0])
    for row in range(n_rows):
        for j in range(means.size):
            x, own = candidates[j], candidates[j, row]
            nearest[:] = np.inf
            for other in nearest_first[row]:
                if squares[row, other] >= nearest[-1]:
                    break
                distance = squares[row, other] + (x[other] - own) ** 2
                if distance < nearest[-1] and other != row:
                    place = n_neighbors - 1
                    while place > 0 and nearest[place - 1] > distance:
                        nearest[place], neighbors[place] = nearest[place - 1], neighbors[place - 1]
                        place -= 1
                    nearest[place], neighbors[place] = distance, other
            # Summed by distance, so that a factor that changes no neighbour changes no bit.
            for neighbor in neighbors:
                means[j] += similarities[row, neighbor]
    return means / (n_rows * n_neighbors)
