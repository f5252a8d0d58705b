"""A random forest that is fast on small tables: the study grows hundreds of thousands of trees.

Regression trees by squared error on bootstrap samples, exact splits, as in Breiman (2001) and the R packages
randomForest and ranger, whose defaults are the constants below. Two classes are responses 0 and 1: Gini impurity then
is twice the squared error, so the trees are the same, and a leaf votes for its majority or holds its share of ones.

No node sorts anything. Every factor is replaced by the dense ranks of its values once; a node adds the responses of its
rows up by rank, marks the ranks met in a bitmap, and reads the marked ranks in ascending order. Equal values have equal
ranks, hence no split ever falls between them.
"""
# mypy: disable-error-code="assignment"
# (numba decides on types in kernels)

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from study.outcome import Floats

Ints = NDArray[np.int64]

N_TREES = 500
"""Trees of a forest: the default of ranger and randomForest."""
MIN_NODE_REGRESSION = 5
"""Nodes with at most so many rows, repeated ones counted as often as drawn, are leaves: both packages' default."""
MIN_NODE_VOTES = 1
"""The same for two classes where leaves vote."""

FEW = 16
"""Below so many rows, insertion lists the ranks faster than a bitmap (measured for 1,000 rows)."""

COUNT_BITS = 17
COUNT = 2**COUNT_BITS - 1
"""Sums of responses are integers with the number of rows in their lowest bits: one addition does both, exactly."""

Kernel = TypeVar("Kernel")


def jit(function: Kernel) -> Kernel:
    """Compile a kernel when it is first called, and keep it for later processes. It is serial and holds no lock."""
    compiled: Any = njit(cache=True, nogil=True, error_model="numpy")(function)
    return compiled  # type: ignore[no-any-return]


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
        predictions: Floats = _predict(columns, self.starts, self.factor, self.threshold, self.left, self.value)
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
    *parts, oob = _grow(values, ranks, ranks.max(axis=1).astype(np.int64) + 1, response, fixed, centre, scale, settings)
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


def _bit_instruction(name: str, *flags: Any) -> Any:
    """Return one instruction on 64-bit words as a function."""

    @intrinsic
    def count(_: Any, word: Any) -> Any:  # noqa: ARG001
        def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
            return getattr(builder, name)(arguments[0], *flags)

        return types.uint64(types.uint64), generate

    return count


_zeros_below: Any = _bit_instruction("cttz", ir.Constant(ir.IntType(1), 0))
_ones: Any = _bit_instruction("ctpop")


@jit
def _draw(state: Any, n: Any) -> Any:
    """A random number below n, n below 2³²: splitmix64 (Steele, Lea and Flood, 2014), scaled."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.int64(((z >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@jit
def _best_split(
    ranks: Any,
    n_ranks: Any,
    candidates: Any,
    rows: Any,
    packed: Any,
    total: Any,
    reciprocal: Any,
    tally: Any,
    met: Any,
    marks: Any,
) -> Any:
    """The best split of a node: sum of squares explained, factor, last rank on the left; −1 if no candidate has any.

    `tally` and `marks` are all zero before and after. One function, because a call with arrays takes longer than a
    small node does.
    """
    best, chosen, cut = -1.0, np.int64(-1), np.uint32(0)
    for j in candidates:
        # Rows are added up by rank, and the ranks met are listed in ascending order.
        n_met = np.uint64(0)
        listed = n_ranks[j] > 2 * rows.size
        if not listed:  # most ranks were met: all are looked at
            n_met = np.uint64(n_ranks[j])
            for row in rows:
                tally[ranks[j, row]] += packed[row]
        elif rows.size < FEW:
            for row in rows:
                k = ranks[j, row]
                if tally[k] == 0:
                    place = n_met
                    while place > 0 and met[place - np.uint64(1)] > k:
                        met[place] = met[place - np.uint64(1)]
                        place -= np.uint64(1)
                    met[place] = k
                    n_met += np.uint64(1)
                tally[k] += packed[row]
        else:
            for row in rows:
                k = ranks[j, row]
                tally[k] += packed[row]
                marks[k >> np.uint64(6)] |= np.uint64(1) << (np.uint64(k) & np.uint64(63))
            for place in range(marks.size):
                word = marks[place]
                marks[place] = 0
                at = n_met
                n_met += _ones(word)
                # A loop that ends with the bits of a word ends unforeseeably, which takes longer than three steps in
                # vain. What is listed too much is overwritten.
                while True:
                    for step in range(4):
                        met[at + np.uint64(step)] = np.uint64(place << 6) + _zeros_below(word)
                        word &= word - np.uint64(1)
                    at += np.uint64(4)
                    if at >= n_met:
                        break
        # A side without rows explains NaN, which is never better.
        left = 0
        for i in range(n_met):
            k = met[i] if listed else np.uint32(i)
            left += tally[k]
            tally[k] = 0
            rest = total - left
            here, there = np.float64(left >> COUNT_BITS), np.float64(rest >> COUNT_BITS)
            explained = here * here * reciprocal[np.uint64(left & COUNT)]
            explained += there * there * reciprocal[np.uint64(rest & COUNT)]
            if explained > best:
                best, chosen, cut = explained, j, k
    return best, chosen, cut


@jit
def _halfway(value: Any, rank: Any, cut: Any, rows: Any) -> Any:
    """The middle of the two values of some rows next to a cut, and the last rank up to it."""
    below, above = 0, value.size - 1
    for row in rows:
        k = np.int64(rank[row])
        below = max(below, k) if k <= cut else below
        above = min(above, k) if k > cut else above
    middle = (value[below] + value[above]) / 2
    if middle == value[above]:  # rounded up between neighbouring numbers
        middle = value[below]
    while below + 1 < above and value[below + 1] <= middle:
        below += 1
    return middle, below


@jit
def _partition(rank: Any, cut: Any, rows: Any) -> Any:
    """Put the rows with ranks up to the cut first, and return how many they are."""
    n_left = 0
    for i in range(rows.size):
        row = rows[i]
        rows[i] = rows[n_left]
        rows[n_left] = row
        n_left += rank[row] <= cut  # no branch: nobody can foresee it
    return n_left


@jit
def _grow_tree(
    values: Any,
    ranks: Any,
    n_ranks: Any,
    packed: Any,
    rows: Any,
    mtry: Any,
    min_node: Any,
    state: Any,
    deck: Any,
    scratch: Any,
    ends: Any,
    nodes: Any,
    cuts: Any,
    importances: Any,
) -> Any:
    """Grow one tree on the rows of a bootstrap sample; return the number of nodes.

    Nodes are split in the order they were made; the rows of a node are neighbours in `rows`, from `ends[i, 0]` to
    `ends[i, 1]`. `deck` holds all factors in any order.
    """
    factor, threshold, left, value, size = nodes
    reciprocal, tally, met, marks = scratch
    ends[0, 0], ends[0, 1] = 0, rows.size
    n_nodes, node = 1, 0
    while node < n_nodes:
        mine = rows[ends[node, 0] : ends[node, 1]]
        total = 0
        for row in mine:
            total += packed[row]
        count, response = total & COUNT, np.float64(total >> COUNT_BITS)
        factor[node], threshold[node], left[node], value[node], size[node] = -1, 0.0, 0, response / count, count
        if count > min_node and not _pure(mine, packed):
            for i in range(mtry):
                pick = i + _draw(state, deck.size - i)
                deck[i], deck[pick] = deck[pick], deck[i]
            best, chosen, cut = _best_split(
                ranks, n_ranks, deck[:mtry], mine, packed, total, reciprocal, tally, met, marks
            )
            if chosen >= 0:
                importances[chosen] += max(best - response * response / count, 0.0)
                factor[node], left[node] = chosen, n_nodes
                threshold[node], cuts[node] = _halfway(values[chosen], ranks[chosen], cut, mine)
                middle = ends[node, 0] + _partition(ranks[chosen], cut, mine)
                ends[n_nodes, 0], ends[n_nodes, 1] = ends[node, 0], middle
                ends[n_nodes + 1, 0], ends[n_nodes + 1, 1] = middle, ends[node, 1]
                n_nodes += 2
        node += 1
    return n_nodes


@jit
def _pure(rows: Any, packed: Any) -> Any:
    """Whether all rows have the same response."""
    one = packed[rows[0]]
    for row in rows:
        other = packed[row]
        if (one >> COUNT_BITS) * (other & COUNT) != (other >> COUNT_BITS) * (one & COUNT):
            return False
    return True


@jit
def _start(state: Any, seed: Any, tree: Any) -> None:
    """Start the generator of one tree of one seed, far from all others."""
    state[0] = (seed * np.uint64(0xD1342543DE82EF95)) ^ (np.uint64(tree + 1) * np.uint64(0xDA942042E4DD58B5))


@jit
def _bootstrap(weight: Any, rows: Any, outside: Any, state: Any) -> Any:
    """Draw a sample: how often each row is in it, the rows in it and the rows outside; return their numbers."""
    weight[:] = 0
    for _ in range(weight.size):
        weight[_draw(state, weight.size)] += 1
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
            pick = i + _draw(state, outside.size - i)
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
def _grow(values: Any, ranks: Any, n_ranks: Any, y: Any, fixed: Any, centre: Any, scale: Any, settings: Any) -> Any:
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
        n_nodes = _grow_tree(
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
def _predict(columns: Any, starts: Any, factor: Any, threshold: Any, left: Any, value: Any) -> Any:
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
