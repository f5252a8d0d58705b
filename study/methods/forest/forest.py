"""A random forest that is fast on small tables: the study grows hundreds of thousands of trees.

Regression trees by squared error on bootstrap samples, exact splits, as in Breiman (2001) and the R packages
randomForest and ranger, whose defaults are the constants below. Two classes are responses 0 and 1: Gini impurity then
is twice the squared error, so the trees are the same, and a leaf votes for its majority or holds its share of ones.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.arrays import Floats
from .forest_kernels import grow_forest, predict
from .tree_kernels import COUNT_BITS

Ints = NDArray[np.int64]

N_TREES = 500
"""Trees of a forest: the default of ranger and randomForest."""
MIN_NODE_REGRESSION = 5
"""Nodes with at most so many rows, repeated ones counted as often as drawn, are leaves: both packages' default."""
MIN_NODE_VOTES = 1
"""The same for two classes where leaves vote."""


def root_of(n_factors: int) -> int:
    """Return ranger's number of candidates in a node: the square root of the number of factors, rounded down."""
    return int(np.sqrt(n_factors))


def third_of(n_factors: int) -> int:
    """Return randomForest's number of candidates in a node for regression: a third of the factors, at least one."""
    return max(n_factors // 3, 1)


@dataclass(frozen=True)
class Forest:
    """Trees as flat arrays of nodes, and what became known while they grew."""

    starts: Ints
    """Position of each tree's root, and the number of nodes behind the last."""
    factor: NDArray[np.int32]
    """Factor a node splits at; −1 in leaves."""
    threshold: Floats
    """Rows with values up to it go to the left child; halfway between two values met in the node."""
    left: NDArray[np.int32]
    """Position of the left child, counted from the tree's root; the right child is the next node."""
    value: Floats
    """Mean response of a node; in forests for two classes that vote, 0 or 1 for the majority."""
    size: NDArray[np.int32]
    """Rows of the bootstrap sample in a node, repeated ones counted."""
    impurity_importances: Floats
    """Decrease of the sum of squared errors by splits at each factor, mean over trees (for classes half of Gini's)."""
    permutation_importances: Floats | None
    """Increase of a tree's error when a factor's out-of-bag values are shuffled, mean over trees, if asked for."""
    oob_predictions: Floats
    """Mean over the trees that did not see the row; NaN where every tree did."""
    y: Floats
    """The response the forest was grown on."""
    votes: bool
    """Whether leaves vote for one of two classes."""

    def predict(self, X: Floats) -> Floats:
        """Return the mean of the trees' values for each row: a response, or the share of votes or ones."""
        columns = np.ascontiguousarray(np.transpose(X), dtype=np.float64)
        predictions: Floats = predict(columns, self.starts, self.factor, self.threshold, self.left, self.value)
        return predictions

    def oob_error(self) -> float:
        """Return the out-of-bag mean squared error, or the share of misclassified rows where leaves vote."""
        seen = ~np.isnan(self.oob_predictions)
        predictions = self.oob_predictions[seen]
        return float(np.mean((self.y[seen] - (predictions > 0.5 if self.votes else predictions)) ** 2))


def grow(
    X: Floats,
    y: NDArray[Any],
    n_trees: int = N_TREES,
    mtry: int | None = None,
    min_node: int | None = None,
    seed: int = 0,
    permute: bool = False,
) -> Forest:
    """Grow a forest; the same arguments give the same bits.

    Parameters
    ----------
    X : array of shape (rows, factors)
        Finite numbers; categories as codes.
    y : array of shape (rows,)
        Numbers, or booleans for two classes whose leaves vote. Two classes as numbers 0 and 1 give shares of ones.
    n_trees, mtry, min_node : int
        Trees; candidate factors in a node; largest leaf. Default: as in ranger.
    seed : int
        Decides bootstrap samples, candidates and permutations.
    permute : bool
        Whether to measure permutation importances.
    """
    votes = y.dtype == bool
    if mtry is None:
        mtry = root_of(X.shape[1])
    if min_node is None:
        min_node = MIN_NODE_VOTES if votes else MIN_NODE_REGRESSION
    response = np.asarray(y, dtype=np.float64)
    values, ranks = _dense_ranks(X)
    fixed, centre, scale = _fixed_point(response)
    settings = (n_trees, mtry, min_node, votes, np.uint64(seed), permute)
    *parts, oob = grow_forest(
        values, ranks, ranks.max(axis=1).astype(np.int64) + 1, response, fixed, centre, scale, settings
    )
    starts, factor, threshold, left, value, size, impurity, permutation = parts
    importances = permutation if permute else None
    return Forest(starts, factor, threshold, left, value, size, impurity, importances, oob, response, votes)


def _dense_ranks(X: Floats) -> tuple[Floats, NDArray[np.uint16]]:
    """Return the distinct values of each factor in ascending order, and the rank of each row among them; by factor."""
    n_rows, n_factors = X.shape
    if n_rows > 2**16:
        raise ValueError(f"X must have at most {2**16:,} rows; got {n_rows:,}.")
    values = np.zeros((n_factors, n_rows))
    ranks = np.empty((n_factors, n_rows), dtype=np.uint16)
    for j in range(n_factors):
        distinct, ranks[j] = np.unique(X[:, j], return_inverse=True)
        values[j, : len(distinct)] = distinct
    return values, ranks


def _fixed_point(y: Floats) -> tuple[Ints, float, float]:
    """Return responses as integers around the middle of their range, with room for a packed sum; middle and scale."""
    centre = (y.min() + y.max()) / 2
    largest = y.max() - centre or 1.0
    scale = 2.0 ** np.floor(np.log2(2.0 ** (62 - COUNT_BITS) / largest / y.size))
    return np.rint((y - centre) * scale).astype(np.int64), float(centre), float(scale)
