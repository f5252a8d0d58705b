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
def _predict_outside(ranks: Any, outside: Any, nodes: Any, cuts: Any, own: Any, sums: Any, counts: Any) -> None:
    """Predict the rows outside a tree's sample into `own`, and add these up by row."""
    factor, _, left, value, _ = nodes
    for i in range(outside.size):
        own[i] = value[_leaf(ranks, outside[i], 0, factor, cuts, left)]
        sums[outside[i]] += own[i]
        counts[outside[i]] += 1


@jit
def _find_first_nodes(ranks: Any, outside: Any, nodes: Any, cuts: Any, first: Any) -> None:
    """Find where rows outside meet each factor first on their way down a tree: `first[j, i]`, −1 if never."""
    factor, _, left, _, _ = nodes
    first[:] = -1
    for i in range(outside.size):
        node = 0
        while factor[node] >= 0:
            j = factor[node]
            if first[j, i] < 0:
                first[j, i] = node
            node = left[node] + (ranks[j, outside[i]] > cuts[node])


@jit
def _permute(
    ranks: Any,
    y: Any,
    outside: Any,
    own: Any,
    nodes: Any,
    cuts: Any,
    state: Any,
    first: Any,
    shuffled: Any,
    importances: Any,
) -> None:
    """Add one tree's increase of the mean squared error by shuffling each factor's values among rows outside.

    Only rows that meet a split at the factor can change their leaf, and only from there, which is what `first` is for.
    `own` are the tree's predictions.
    """
    factor, _, left, value, _ = nodes
    _find_first_nodes(ranks, outside, nodes, cuts, first)
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
def _make_nodes(n_nodes: Any) -> Any:
    """Memory for nodes: factor, threshold, left child, value and size of each.

    What is never written to is never used; most trees are much smaller than they could be.
    """
    factor, threshold, left = np.empty(n_nodes, dtype=np.int32), np.empty(n_nodes), np.empty(n_nodes, dtype=np.int32)
    return factor, threshold, left, np.empty(n_nodes), np.empty(n_nodes, dtype=np.int32)


@jit
def _nodes_from(nodes: Any, start: Any) -> Any:
    """The nodes of one tree, as views: those from its first one on."""
    factor, threshold, left, value, size = nodes
    return factor[start:], threshold[start:], left[start:], value[start:], size[start:]


@jit
def _copy_nodes(nodes: Any, n: Any) -> Any:
    """The first nodes, without the memory that was not needed."""
    factor, threshold, left, value, size = nodes
    return factor[:n].copy(), threshold[:n].copy(), left[:n].copy(), value[:n].copy(), size[:n].copy()


@jit
def _make_scratch(n_rows: Any) -> Any:
    """What `grow_tree` looks for splits with: reciprocals of counts, sums by rank, ranks met, and their bitmap."""
    reciprocal = np.full(n_rows + 1, np.nan)
    for count in range(1, n_rows + 1):
        reciprocal[count] = 1.0 / count
    tally, met = np.zeros(n_rows, dtype=np.int64), np.empty(n_rows + 4, dtype=np.uint32)
    return reciprocal, tally, met, np.zeros((n_rows + 63) // 64, dtype=np.uint64)


@jit
def _pack(fixed: Any, weight: Any, rows: Any, packed: Any) -> None:
    """Put the sum of the responses and the number of times of each row in a sample into one integer."""
    for row in rows:
        packed[row] = weight[row] * (fixed[row] << COUNT_BITS) + weight[row]


@jit
def _rescale(value: Any, centre: Any, scale: Any, votes: Any) -> None:
    """Turn the values of nodes into units of the response, or into votes for one of two classes."""
    for node in range(value.size):
        value[node] = value[node] / scale + centre
        if votes:
            value[node] = value[node] > 0.5


@jit
def grow_forest(
    values: Any, ranks: Any, n_ranks: Any, y: Any, fixed: Any, centre: Any, scale: Any, settings: Any
) -> Any:
    """Grow all trees; return the parts of a `Forest`."""
    n_trees, mtry, min_node, votes, seed, permute = settings
    n_factors, n_rows = ranks.shape
    room = 2 * n_rows  # no tree has more nodes
    starts, nodes = np.zeros(n_trees + 1, dtype=np.int64), _make_nodes(n_trees * room)
    impurity, permutation = np.zeros(n_factors), np.zeros(n_factors)
    oob_sum, oob_count = np.zeros(n_rows), np.zeros(n_rows)
    # What follows is used by one tree after the other.
    state, weight = np.empty(1, dtype=np.uint64), np.zeros(n_rows, dtype=np.int64)
    rows, outside = np.empty(n_rows, dtype=np.uint16), np.empty(n_rows, dtype=np.uint16)
    packed, scratch = np.empty(n_rows, dtype=np.int64), _make_scratch(n_rows)
    deck, ends, cuts = np.arange(n_factors), np.empty((room, 2), dtype=np.int64), np.empty(room, dtype=np.int64)
    first, own, shuffled = np.empty((n_factors, n_rows), dtype=np.int32), np.empty(n_rows), np.empty_like(outside)
    for tree in range(n_trees):
        _start(state, seed, tree)
        n_inside, n_outside = _bootstrap(weight, rows, outside, state)
        inside, others = rows[:n_inside], outside[:n_outside]
        _pack(fixed, weight, inside, packed)
        start = starts[tree]
        new = _nodes_from(nodes, start)
        n_nodes = grow_tree(
            values, ranks, n_ranks, packed, inside, mtry, min_node, state, deck, scratch, ends, new, cuts, impurity
        )
        starts[tree + 1] = start + n_nodes
        _rescale(new[3][:n_nodes], centre, scale, votes)
        _predict_outside(ranks, others, new, cuts, own, oob_sum, oob_count)
        if permute:
            _permute(ranks, y, others, own, new, cuts, state, first[:, :n_outside], shuffled, permutation)
    factor, threshold, left, value, size = _copy_nodes(nodes, starts[n_trees])
    impurity, permutation = impurity / scale**2 / n_trees, permutation / n_trees
    return starts, factor, threshold, left, value, size, impurity, permutation, oob_sum / oob_count


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
