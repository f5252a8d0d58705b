"""Numba kernel for one numeric column plus each candidate: neighbours lie in a window of the sorted column."""

from typing import Any

import numpy as np

from .compiling import inlined, jit
from .kd_tree import FAR, LEAF, TIES
from .simd import at_most, broadcast16, first_bit, least, load16, smaller, store


@jit
def sum_along_each(base: Any, candidates: Any, caps: Any, y: Any, centres: Any, n_neighbors: int) -> Any:
    """Sum of the variances in the sorted base plus each candidate, and how many blocks that took.

    ``base`` comes in blocks of 16 and ``candidates`` as (candidates, blocks, 16), filled up with infinity. From its
    own block a centre goes outwards on both sides, until the base alone is farther than the neighbours found. Of the
    blocks on the way only those with the nearest points are looked at again, unless one more is as near, which means
    ties.
    """
    nearest, blocks = np.empty(n_neighbors), np.empty(n_neighbors, np.intp)
    distance, ranked = np.empty(LEAF), np.empty(n_neighbors - 1)
    total = np.zeros(caps.size)
    looked = _add_variances(base, candidates, caps, y, centres, nearest, blocks, distance, ranked, total)
    return total, looked


@inlined
def _add_variances(
    base: Any,
    candidates: Any,
    caps: Any,
    y: Any,
    centres: Any,
    nearest: Any,
    blocks: Any,
    distance: Any,
    ranked: Any,
    total: Any,
) -> int:
    """Do the work with the arrays that the kernel has made."""
    wanted = ranked.size
    looked = 0
    for j in range(caps.size):
        for centre in centres:
            block, place = centre // LEAF, centre % LEAF
            x, own, cap = base[block, place], candidates[j, block, place], caps[j]
            nearest[:] = FAR
            store(distance, 0, _measure(base, candidates, j, block, x, own, cap))
            distance[place] = FAR
            nearest[0], blocks[0] = least(load16(distance, 0)), block
            first, last = block, block
            limit = nearest[0] * TIES if wanted == 1 else FAR
            before, behind = _gap_before(base, first, x), _gap_behind(base, last, x)
            while before <= limit or behind <= limit:
                if before <= limit:
                    first -= 1
                    before = _gap_before(base, first, x)
                    _enter(nearest, blocks, least(_measure(base, candidates, j, first, x, own, cap)), first)
                if behind <= limit:
                    last += 1
                    behind = _gap_behind(base, last, x)
                    _enter(nearest, blocks, least(_measure(base, candidates, j, last, x, own, cap)), last)
                limit = nearest[wanted - 1] * TIES
            looked += last + 1 - first
            reach = nearest[0] * TIES
            if wanted > 1:
                reach = _rank(base, candidates, j, block, place, nearest, blocks, cap, distance, ranked) * TIES
            tied = nearest[wanted] <= reach
            inside, sum_first, sum_second = 1.0, 0.0, 0.0
            for part in range(last + 1 - first if tied else wanted):
                if not tied and nearest[part] > reach:
                    break
                at = first + part if tied else blocks[part]
                bits = at_most(_measure(base, candidates, j, at, x, own, cap), broadcast16(reach))
                if at == block:
                    bits &= ~(1 << place)
                while bits != 0:
                    step = y[at * LEAF + first_bit(bits)] - y[centre]
                    bits &= bits - 1
                    inside, sum_first, sum_second = inside + 1, sum_first + step, sum_second + step * step
            total[j] += max(sum_second - sum_first * sum_first / inside, 0.0) / (inside - 1)
    return looked


@inlined
def _measure(base: Any, candidates: Any, j: int, block: int, x: float, own: float, cap: float) -> Any:
    """Squared distances of a block."""
    along = load16(base, LEAF * block) - broadcast16(x)
    across = load16(candidates, LEAF * (j * base.shape[0] + block)) - broadcast16(own)
    return along * along + smaller(across * across, broadcast16(cap))


@inlined
def _gap_before(base: Any, first: int, x: float) -> float:
    """Squared distance along the base to what comes before a block, infinite at the end."""
    if first == 0:
        return np.inf
    gap = x - base[first - 1, base.shape[1] - 1]
    return gap * gap


@inlined
def _gap_behind(base: Any, last: int, x: float) -> float:
    """Squared distance along the base to what comes behind a block, infinite at the end."""
    if last + 1 == base.shape[0]:
        return np.inf
    gap = base[last + 1, 0] - x
    return gap * gap


@inlined
def _enter(nearest: Any, blocks: Any, distance: float, block: int) -> None:
    """Enter a block among those with the nearest points, if it is one of them."""
    at = nearest.size - 1
    if distance >= nearest[at]:
        return
    while at > 0 and nearest[at - 1] > distance:
        nearest[at], blocks[at] = nearest[at - 1], blocks[at - 1]
        at -= 1
    nearest[at], blocks[at] = distance, block


@inlined
def _rank(
    base: Any,
    candidates: Any,
    j: int,
    block: int,
    place: int,
    nearest: Any,
    blocks: Any,
    cap: float,
    distance: Any,
    ranked: Any,
) -> float:
    """Distance of the last neighbour wanted, from the blocks with the nearest points."""
    ranked[:] = FAR
    wanted = ranked.size
    for part in range(wanted):
        if nearest[part] == FAR:
            break
        at = blocks[part]
        x, own = base[block, place], candidates[j, block, place]
        store(distance, 0, _measure(base, candidates, j, at, x, own, cap))
        if at == block:
            distance[place] = FAR
        for i in range(distance.size):
            if distance[i] < ranked[wanted - 1]:
                rank = wanted - 1
                while rank > 0 and ranked[rank - 1] > distance[i]:
                    ranked[rank] = ranked[rank - 1]
                    rank -= 1
                ranked[rank] = distance[i]
    return ranked[wanted - 1]
