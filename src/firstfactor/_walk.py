"""Numba kernels that walk a tree: for one set of factors, and for a base plus each candidate.

Points are stored in tree order, so that what is near in space is near in memory. All distances are squared.
"""

from typing import Any

import numpy as np

from ._jit import inlined, jit, larger, smaller
from ._tree import FAR, LEAF, STACK, TIES, Tree, next_leaf, start_at

# Points are compared with all candidates in batches of this many.
BATCH = 4

# Numba takes a literal for a type of its own, and compiles what is called with it once more.
ZERO, ONE = np.intp(0), np.intp(1)


# --- one set of factors --------------------------------------------------------------------------------


@jit
def ball_variances(
    tree: Tree,
    caps: Any,
    count: Any,
    mean: Any,
    squares: Any,
    centres: Any,
    n_neighbors: int,
) -> Any:
    """Variance of y in the ball of each centre, and its squared radius; a point stands for ``count`` equal rows."""
    d, n = caps.size, count.size
    query, leaf_distance, child_distance = np.empty(d), np.empty(LEAF), np.empty(8)
    seen, seen_distance = np.empty(n, np.int32), np.empty(n)
    stack, bound = np.empty(STACK, np.intp), np.empty(STACK)
    nearest, rows = np.empty(n_neighbors), np.empty(n_neighbors)
    variances, reach = np.empty(centres.size), np.zeros(centres.size)
    for m in range(centres.size):
        centre = centres[m]
        if count[centre] >= n_neighbors:  # the ball has radius 0
            variances[m] = squares[centre] / (count[centre] - 1)
            continue
        limit = FAR
        n_seen = n_nearest = ZERO
        climbed, top = start_at(tree, centre, query, stack, bound), ONE
        while True:
            leaf, top, climbed = next_leaf(
                tree, query, caps, limit, stack, bound, top, climbed, child_distance, leaf_distance
            )
            if leaf < 0:
                break
            a, b = tree.start[leaf], tree.start[leaf + 1]
            for i in range(b - a):
                if leaf_distance[i] <= limit:
                    seen[n_seen], seen_distance[n_seen] = a + i, leaf_distance[i]
                    n_seen += 1
                    if leaf_distance[i] * TIES < limit:
                        n_nearest = _enter(nearest, rows, n_nearest, leaf_distance[i], count[a + i], n_neighbors)
                        if n_nearest < 0:
                            n_nearest = -n_nearest
                            limit = nearest[n_nearest - 1] * TIES
        inside, first, second = 0.0, 0.0, 0.0
        for i in range(n_seen):
            if seen_distance[i] <= limit:
                step = mean[seen[i]] - mean[centre]
                inside += count[seen[i]]
                first += count[seen[i]] * step
                second += squares[seen[i]] + count[seen[i]] * step * step
        variances[m], reach[m] = max(second - first * first / inside, 0.0) / (inside - 1), limit / TIES
    return variances, reach


@inlined
def _enter(nearest: Any, rows: Any, n_nearest: int, distance: float, count: float, n_neighbors: int) -> int:
    """Enter a point into the sorted nearest ones; return how many are kept, negative if they are enough."""
    at = min(n_nearest, n_neighbors - 1)
    while at > 0 and nearest[at - 1] > distance:
        nearest[at], rows[at] = nearest[at - 1], rows[at - 1]
        at -= 1
    nearest[at], rows[at] = distance, count
    within = 0.0
    for i in range(min(n_nearest + 1, n_neighbors)):
        within += rows[i]
        if within >= n_neighbors:
            return -(i + 1)
    return n_nearest + 1


# --- base plus each candidate --------------------------------------------------------------------------


@jit
def sum_plus_each(
    tree: Tree,
    caps: Any,
    candidates: Any,
    candidate_caps: Any,
    n_candidates: int,
    y: Any,
    centres: Any,
    n_neighbors: int,
) -> Any:
    """Sum of the variances in the base plus each candidate, and what it took.

    That is how many points were compared with all candidates, and how many with one because of ties.

    One walk through the tree of the base serves all candidates: a point at distance d in the base is at
    d + δ² with the candidate. It ends where the base alone is farther than the worst candidate needs.
    Points are compared in batches, and of each candidate only the batches with the nearest points are
    looked at again: the ball lies in them, unless one more batch is as near, which means ties.
    """
    d, (n, c) = caps.size, candidates.shape
    nearest, batches = np.empty((n_neighbors, c)), np.zeros((n_neighbors - 1, c))
    lowest, entering, query, own = np.empty(c), np.empty(c), np.empty(d), np.empty(c)
    leaf_distance, child_distance = np.empty(LEAF), np.empty(8)
    seen, seen_distance, seen_step = np.empty(n + BATCH, np.int32), np.empty(n + BATCH), np.empty(n)
    stack, bound = np.empty(STACK, np.intp), np.empty(STACK)
    ranked = np.empty(n_neighbors - 1)
    total = np.zeros(n_candidates)
    compared = again = 0
    for centre in centres:
        nearest[:] = np.inf
        limit = FAR
        n_seen = done = ZERO
        for j in range(c):
            own[j] = candidates[centre, j]
        climbed, top = start_at(tree, centre, query, stack, bound), ONE
        leaf = 0
        while leaf >= 0:
            leaf, top, climbed = next_leaf(
                tree, query, caps, limit, stack, bound, top, climbed, child_distance, leaf_distance
            )
            if leaf >= 0:
                a, b = tree.start[leaf], tree.start[leaf + 1]
                for i in range(b - a):
                    if leaf_distance[i] <= limit and a + i != centre:
                        seen[n_seen], seen_distance[n_seen] = a + i, leaf_distance[i]
                        n_seen += 1
            while n_seen - done >= BATCH or (leaf < 0 and n_seen > done):
                for i in range(n_seen, done + BATCH):  # a point that comes twice does not change a minimum
                    seen[i], seen_distance[i] = seen[done], seen_distance[done]
                worst = _compare(
                    nearest, batches, candidates, seen, seen_distance, done, own, candidate_caps, lowest, entering
                )
                limit = smaller(worst * TIES, FAR)
                done += BATCH
        compared += n_seen
        for i in range(n_seen):
            seen_step[i] = y[seen[i]] - y[centre]
        again += n_seen * _add_variances(
            nearest, batches, candidates, seen, seen_distance, seen_step, n_seen, own, candidate_caps, ranked, total
        )
    return total, compared, again


@inlined
def _compare(
    nearest: Any,
    batches: Any,
    candidates: Any,
    seen: Any,
    seen_distance: Any,
    done: int,
    own: Any,
    caps: Any,
    lowest: Any,
    entering: Any,
) -> float:
    """Enter a batch of points into the nearest batches of every candidate; return the worst of their limits."""
    c = own.size
    s, t, u, v = seen[done], seen[done + 1], seen[done + 2], seen[done + 3]
    to_s, to_t, to_u, to_v = (
        seen_distance[done],
        seen_distance[done + 1],
        seen_distance[done + 2],
        seen_distance[done + 3],
    )
    for j in range(c):
        e, f = candidates[s, j] - own[j], candidates[t, j] - own[j]
        g, h = candidates[u, j] - own[j], candidates[v, j] - own[j]
        e, f = to_s + smaller(e * e, caps[j]), to_t + smaller(f * f, caps[j])
        g, h = to_u + smaller(g * g, caps[j]), to_v + smaller(h * h, caps[j])
        lowest[j] = smaller(smaller(e, f), smaller(g, h))
    for j in range(c):
        entering[j] = done
    last = nearest.shape[0] - 1
    for row in range(last - 1):
        for j in range(c):
            _pass_on(nearest, batches, lowest, entering, row, j)
    worst = 0.0
    for j in range(c):
        _pass_on(nearest, batches, lowest, entering, last - 1, j)
        worst = larger(worst, nearest[last - 1, j])
        nearest[last, j] = smaller(nearest[last, j], lowest[j])
    return worst


@inlined
def _pass_on(nearest: Any, batches: Any, lowest: Any, entering: Any, row: int, j: int) -> None:
    """Keep the nearer of a known batch and the one that enters; pass on the other."""
    old, new = nearest[row, j], lowest[j]
    nearest[row, j] = smaller(old, new)
    lowest[j] = larger(old, new)
    moves = 1.0 if new < old else 0.0  # arithmetic instead of a choice, which would not vectorise
    change = moves * (entering[j] - batches[row, j])
    batches[row, j] += change
    entering[j] -= change


@inlined
def _add_variances(
    nearest: Any,
    batches: Any,
    candidates: Any,
    seen: Any,
    seen_distance: Any,
    seen_step: Any,
    n_seen: int,
    own: Any,
    caps: Any,
    ranked: Any,
    total: Any,
) -> int:
    """Add the variance of y in the ball of the centre, in the base plus each candidate; return how many have ties."""
    wanted, tied = batches.shape[0], 0
    for j in range(total.size):
        reach = nearest[0, j] * TIES
        if wanted > 1:
            reach = TIES * _rank(nearest, batches, candidates, seen, seen_distance, n_seen, own, caps, j, ranked)
        parts, size = wanted, BATCH
        if nearest[wanted, j] <= reach:
            tied, parts, size = tied + 1, 1, n_seen
        inside, first, second = 1.0, 0.0, 0.0
        for part in range(parts):
            if nearest[part, j] > reach:
                break
            start = int(batches[part, j]) if size == BATCH else 0
            for i in range(start, min(start + size, n_seen)):
                gap = candidates[seen[i], j] - own[j]
                weight = 1.0 if seen_distance[i] + min(gap * gap, caps[j]) <= reach else 0.0
                inside += weight
                first += weight * seen_step[i]
                second += weight * seen_step[i] * seen_step[i]
        total[j] += max(second - first * first / inside, 0.0) / (inside - 1)
    return tied


@jit
def _rank(
    nearest: Any,
    batches: Any,
    candidates: Any,
    seen: Any,
    seen_distance: Any,
    n_seen: int,
    own: Any,
    caps: Any,
    j: int,
    ranked: Any,
) -> float:
    """Distance of the last neighbour wanted, with candidate j, from the batches that hold the nearest points."""
    last = ranked.size - 1
    ranked[:] = np.inf
    for row in range(ranked.size):
        if nearest[row, j] == np.inf:
            break
        start = int(batches[row, j])
        for i in range(start, min(start + BATCH, n_seen)):
            gap = candidates[seen[i], j] - own[j]
            distance = seen_distance[i] + min(gap * gap, caps[j])
            if distance < ranked[last]:
                at = last
                while at > 0 and ranked[at - 1] > distance:
                    ranked[at] = ranked[at - 1]
                    at -= 1
                ranked[at] = distance
    return ranked[last]
