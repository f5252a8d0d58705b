"""Numba kernels for all trees of a random forest: bootstrap samples, out-of-bag errors, permutations, predictions."""
# mypy: disable-error-code="assignment"
# (numba decides on types in kernels)

from typing import Any

import numpy as np

from .tree_kernels import COUNT_BITS, draw, grow_tree, jit


@jit
def _start(state: Any, seed: Any, tree: Any) -> None:
    """Start the generator of one tree of one seed, far from all others."""
    state[0] = (seed * np.uint64(0xD1342543DE82EF95)) ^ (np.uint64(tree + 1) * np.uint64(0xDA942042E4DD58B5))


@jit
def _bootstrap(weight: Any, rows: Any, outside: Any, state: Any) -> Any:
    """Draw a sample: how often each row is in it, the rows in it and the rows outside; return their numbers."""
    weight[:] = 0
    for _ in range(weight.size):
        weight[draw(state, weight.size)] += 1
    n_inside = n_outside = 0
    for row in range(weight.size):
        if weight[row]:
            rows[n_inside] = row
            n_inside += 1
        else:
            outside[n_outside] = row
            n_outside += 1
    return n_inside, n_outside


@jit
def _leaf(ranks: Any, row: Any, node: Any, factor: Any, cuts: Any, left: Any) -> Any:
    """The leaf that a row of the table reaches from a node."""
    while factor[node] >= 0:
        node = left[node] + (ranks[factor[node], row] > cuts[node])
    return node


@jit
def _permute(
    ranks: Any,
    y: Any,
    outside: Any,
    own: Any,
    factor: Any,
    cuts: Any,
    left: Any,
    value: Any,
    state: Any,
    first: Any,
    shuffled: Any,
    importances: Any,
) -> None:
    """Add one tree's increase of the mean squared error by shuffling each factor's values among rows outside.

    Only rows that meet a split at the factor can change their leaf, and only from there: `first[j, i]` is where row i
    meets factor j first. `own` are the tree's predictions.
    """
    first[:] = -1
    for i in range(outside.size):
        node = 0
        while factor[node] >= 0:
            j = factor[node]
            if first[j, i] < 0:
                first[j, i] = node
            node = left[node] + (ranks[j, outside[i]] > cuts[node])
    for j in range(len(ranks)):
        for i in range(outside.size):
            shuffled[i] = outside[i]
        increase = 0.0
        for i in range(outside.size):
            pick = i + draw(state, outside.size - i)
            shuffled[i], shuffled[pick] = shuffled[pick], shuffled[i]
            node = first[j, i]
            if node >= 0:
                while factor[node] >= 0:
                    k = factor[node]
                    row = shuffled[i] if k == j else outside[i]
                    node = left[node] + (ranks[k, row] > cuts[node])
                target = y[outside[i]]
                increase += (target - value[node]) ** 2 - (target - own[i]) ** 2
        importances[j] += increase / outside.size


@jit
def grow_forest(
    values: Any, ranks: Any, n_ranks: Any, y: Any, fixed: Any, centre: Any, scale: Any, settings: Any
) -> Any:
    """Grow all trees; return the parts of a `Forest`."""
    n_trees, mtry, min_node, votes, seed, permute = settings
    n_factors, n_rows = ranks.shape
    room = 2 * n_rows
    starts = np.zeros(n_trees + 1, dtype=np.int64)
    # Memory that is never written to is never used; most trees are much smaller.
    factor = np.empty(n_trees * room, dtype=np.int32)
    threshold, value = np.empty(n_trees * room), np.empty(n_trees * room)
    left, size = np.empty(n_trees * room, dtype=np.int32), np.empty(n_trees * room, dtype=np.int32)
    impurity, permutation = np.zeros(n_factors), np.zeros(n_factors)
    oob_sum, oob_count = np.zeros(n_rows), np.zeros(n_rows)

    weight = np.zeros(n_rows, dtype=np.int64)
    rows, outside = np.empty(n_rows, dtype=np.uint16), np.empty(n_rows, dtype=np.uint16)
    reciprocal = np.full(n_rows + 1, np.nan)
    for count in range(1, n_rows + 1):
        reciprocal[count] = 1.0 / count
    met, marks = np.empty(n_rows + 4, dtype=np.uint32), np.zeros((n_rows + 63) // 64, dtype=np.uint64)
    scratch = (reciprocal, np.zeros(n_rows, dtype=np.int64), met, marks)
    packed = np.empty(n_rows, dtype=np.int64)
    deck, ends, cuts = np.arange(n_factors), np.empty((room, 2), dtype=np.int64), np.empty(room, dtype=np.int64)
    first, own, shuffled = np.empty((n_factors, n_rows), dtype=np.int32), np.empty(n_rows), np.empty_like(outside)
    state = np.empty(1, dtype=np.uint64)
    for tree in range(n_trees):
        _start(state, seed, tree)
        n_inside, n_outside = _bootstrap(weight, rows, outside, state)
        for row in rows[:n_inside]:
            packed[row] = weight[row] * (fixed[row] << COUNT_BITS) + weight[row]
        at = starts[tree]
        nodes = (factor[at:], threshold[at:], left[at:], value[at:], size[at:])
        n_nodes = grow_tree(
            values,
            ranks,
            n_ranks,
            packed,
            rows[:n_inside],
            mtry,
            min_node,
            state,
            deck,
            scratch,
            ends,
            nodes,
            cuts,
            impurity,
        )
        starts[tree + 1] = at + n_nodes
        for node in range(at, at + n_nodes):
            value[node] = value[node] / scale + centre
            if votes:
                value[node] = value[node] > 0.5
        for i in range(n_outside):
            own[i] = nodes[3][_leaf(ranks, outside[i], 0, nodes[0], cuts, nodes[2])]
            oob_sum[outside[i]] += own[i]
            oob_count[outside[i]] += 1
        if permute:
            _permute(
                ranks,
                y,
                outside[:n_outside],
                own,
                nodes[0],
                cuts,
                nodes[2],
                nodes[3],
                state,
                first[:, :n_outside],
                shuffled,
                permutation,
            )
    end = starts[n_trees]
    return (
        starts,
        factor[:end].copy(),
        threshold[:end].copy(),
        left[:end].copy(),
        value[:end].copy(),
        size[:end].copy(),
        impurity / scale**2 / n_trees,
        permutation / n_trees,
        oob_sum / oob_count,
    )


@jit
def predict(columns: Any, starts: Any, factor: Any, threshold: Any, left: Any, value: Any) -> Any:
    """The mean over trees of the values of the leaves that rows reach."""
    sums = np.zeros(columns.shape[1])
    for tree in range(len(starts) - 1):
        root = starts[tree]
        for row in range(columns.shape[1]):
            node = root
            while factor[node] >= 0:
                node = root + left[node] + (columns[factor[node], row] > threshold[node])
            sums[row] += value[node]
    return sums / (len(starts) - 1)
