"""Numba kernels that grow one tree of a random forest on ranks: no node sorts anything.

Every factor is replaced by the dense ranks of its values once; a node adds the responses of its rows up by rank, marks
the ranks met in a bitmap, and reads the marked ranks in ascending order. Equal values have equal ranks, hence no split
ever falls between them.
"""
# mypy: disable-error-code="assignment"
# (numba decides on types in kernels)

from typing import Any, TypeVar

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

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
def draw(state: Any, n: Any) -> Any:
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
def grow_tree(
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
                pick = i + draw(state, deck.size - i)
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
