"""Numba kernels: arrays in, arrays out. Serial, without the GIL, cached; no options, no checks.

Each sums, over rows called centres, the variance of y in their balls. Points are stored in tree order, so
that what is near in space is near in memory; `_tree` says how. All distances are squared.
"""

from typing import Any

import numpy as np

from ._jit import inlined, jit, larger, smaller
from ._tree import LEAF, STACK, Tree, block_distances, open_node

# Distances within this factor differ by rounding only; both squared in all but the first kernel.
TIES = (1 + 1e-9) ** 2

# Points are compared with all candidates in batches of this many.
BATCH = 4


# --- one column ----------------------------------------------------------------------------------------


@jit
def survey_columns(values: Any, order: Any, caps: Any, y: Any, weight: Any, n_neighbors: int) -> Any:
    """Weighted sum of the variances in each row of ``values`` alone, its number of levels, and each value's level."""
    columns, n = values.shape
    total, levels = np.empty(columns), np.empty(columns)
    numbers = np.empty((columns, n), np.intp)
    level, count, mean, squares, group_weight = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for j in range(columns):
        g = -1
        for i in range(n):
            row = order[j, i]
            if i == 0 or values[j, row] != level[g]:
                g += 1
                level[g], count[g], mean[g], squares[g], group_weight[g] = values[j, row], 0.0, 0.0, 0.0, 0.0
            count[g] += 1
            step = y[row] - mean[g]
            mean[g] += step / count[g]
            squares[g] += step * (y[row] - mean[g])
            group_weight[g] += weight[row]
            numbers[j, row] = g
        levels[j] = g + 1
        total[j] = _sum_along(level[: g + 1], count, mean, squares, group_weight, np.sqrt(caps[j]), n_neighbors)
    return total, levels, numbers


@jit
def _sum_along(value: Any, count: Any, mean: Any, squares: Any, weight: Any, cap: float, n_neighbors: int) -> float:
    """Neighbours in one sorted column are found by going outwards on both sides."""
    groups = value.size
    total = 0.0
    for g in range(groups):
        if weight[g] == 0:
            continue
        left, right, inside, reach = g, g, count[g], 0.0
        while inside < n_neighbors:
            before = min(value[g] - value[left - 1], cap) if left > 0 else np.inf
            after = min(value[right + 1] - value[g], cap) if right + 1 < groups else np.inf
            if before < after:
                left -= 1
                inside += count[left]
                reach = before
            else:
                right += 1
                inside += count[right]
                reach = after
        reach *= np.sqrt(TIES)
        while left > 0 and min(value[g] - value[left - 1], cap) <= reach:
            left -= 1
        while right + 1 < groups and min(value[right + 1] - value[g], cap) <= reach:
            right += 1
        inside, first, second = 0.0, 0.0, 0.0
        for h in range(left, right + 1):
            step = mean[h] - mean[g]
            inside += count[h]
            first += count[h] * step
            second += squares[h] + count[h] * step * step
        total += weight[g] * max(second - first * first / inside, 0.0) / (inside - 1)
    return total


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
    """Variance of y in the ball of each centre; a point stands for ``count`` equal rows."""
    d, n = caps.size, count.size
    inner = tree.low.shape[0]
    query, leaf_distance, child_distance = np.empty(d), np.empty(LEAF), np.empty(8)
    seen, seen_distance = np.empty(n, np.int32), np.empty(n)
    stack, bound = np.empty(STACK, np.intp), np.empty(STACK)
    nearest, rows = np.empty(n_neighbors), np.empty(n_neighbors)
    variances = np.empty(centres.size)
    for m in range(centres.size):
        centre = centres[m]
        if count[centre] >= n_neighbors:  # the ball has radius 0
            variances[m] = squares[centre] / (count[centre] - 1)
            continue
        limit = np.inf
        n_seen = n_nearest = 0
        for k in range(d):
            query[k] = tree.points[centre, k]
        stack[0], bound[0], top = 0, 0.0, 1
        while top > 0:
            top -= 1
            if bound[top] > limit:
                continue
            node = stack[top]
            if node < inner:
                top = open_node(tree, node, query, caps, limit, stack, bound, top, child_distance)
                continue
            if block_distances(tree.leaves, node - inner, query, caps, leaf_distance) > limit:
                continue
            a, b = tree.start[node - inner], tree.start[node - inner + 1]
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
        variances[m] = max(second - first * first / inside, 0.0) / (inside - 1)
    return variances


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
    inner = tree.low.shape[0]
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
        limit = np.inf
        n_seen = done = np.intp(0)
        for k in range(d):
            query[k] = tree.points[centre, k]
        for j in range(c):
            own[j] = candidates[centre, j]
        stack[0], bound[0], top = 0, 0.0, 1
        while top > 0 or n_seen > done:
            if top > 0:
                top -= 1
                if bound[top] > limit:
                    continue
                node = stack[top]
                if node < inner:
                    top = open_node(tree, node, query, caps, limit, stack, bound, top, child_distance)
                    continue
                if block_distances(tree.leaves, node - inner, query, caps, leaf_distance) > limit:
                    continue
                a, b = tree.start[node - inner], tree.start[node - inner + 1]
                for i in range(b - a):
                    if leaf_distance[i] <= limit and a + i != centre:
                        seen[n_seen], seen_distance[n_seen] = a + i, leaf_distance[i]
                        n_seen += 1
            while n_seen - done >= BATCH or (top == 0 and n_seen > done):
                for i in range(n_seen, done + BATCH):  # a point that comes twice does not change a minimum
                    seen[i], seen_distance[i] = seen[done], seen_distance[done]
                limit = TIES * _compare(
                    nearest, batches, candidates, seen, seen_distance, done, own, candidate_caps, lowest, entering
                )
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


# --- base minus each member ----------------------------------------------------------------------------


@jit
def sum_minus_each(blocks: Any, points: Any, caps: Any, y: Any, centres: Any, n_neighbors: int) -> Any:
    """Sum of the variances in all dimensions but one, for each of them, and last in all.

    ``blocks`` holds the same as ``points``, 16 points at a time. One scan serves all: a point at distance d in all
    dimensions is at d − δ² without one. Where even leaving out the largest δ² does not bring a point near enough,
    it is passed over.
    """
    n, d = points.shape
    nearest = np.empty((n_neighbors - 1, d + 1))
    own, without = np.empty(d), np.empty(d + 1)
    whole, largest = np.empty(LEAF), np.empty(LEAF)
    seen = np.empty(n, np.int32)
    inside, first, second = np.empty(d + 1), np.empty(d + 1), np.empty(d + 1)
    total = np.zeros(d + 1)
    for centre in centres:
        nearest[:] = np.inf
        limit = np.inf
        n_seen = 0
        for k in range(d):
            own[k] = points[centre, k]
        for turn in range(blocks.shape[0]):
            block = (centre // LEAF + turn) % blocks.shape[0]
            if not _scan(blocks, block, own, caps, limit, whole, largest):
                continue
            for i in range(min(LEAF, n - block * LEAF)):
                if whole[i] - largest[i] <= limit + 1e-12 * whole[i] and block * LEAF + i != centre:
                    seen[n_seen] = block * LEAF + i
                    _leave_each_out(points, seen[n_seen], own, caps, without)
                    limit = TIES * _insert(nearest, without)
                    n_seen += 1
        for k in range(d + 1):
            inside[k], first[k], second[k] = 1.0, 0.0, 0.0
        for i in range(n_seen):
            _leave_each_out(points, seen[i], own, caps, without)
            step = y[seen[i]] - y[centre]
            for k in range(d + 1):
                if without[k] <= nearest[n_neighbors - 2, k] * TIES:
                    inside[k], first[k], second[k] = inside[k] + 1, first[k] + step, second[k] + step * step
        for k in range(d + 1):
            total[k] += max(second[k] - first[k] * first[k] / inside[k], 0.0) / (inside[k] - 1)
    return total


@inlined
def _scan(blocks: Any, block: int, own: Any, caps: Any, limit: float, whole: Any, largest: Any) -> bool:
    """Squared distances of a block and their largest terms; False once all are out of reach."""
    width = blocks.shape[2]
    for i in range(width):
        whole[i] = largest[i] = 0.0
    fours = caps.size // 4 * 4
    for k in range(0, fours, 4):
        q, r, s, t = own[k], own[k + 1], own[k + 2], own[k + 3]
        w, x, y, z = caps[k], caps[k + 1], caps[k + 2], caps[k + 3]
        for i in range(width):
            e, f = blocks[block, k, i] - q, blocks[block, k + 1, i] - r
            g, h = blocks[block, k + 2, i] - s, blocks[block, k + 3, i] - t
            e, f = smaller(e * e, w), smaller(f * f, x)
            g, h = smaller(g * g, y), smaller(h * h, z)
            whole[i] += (e + f) + (g + h)
            largest[i] = larger(largest[i], larger(larger(e, f), larger(g, h)))
        if k % 16 == 12 and _closest(whole, largest) > limit:
            return False
    for k in range(fours, caps.size):
        value, cap = own[k], caps[k]
        for i in range(width):
            step = blocks[block, k, i] - value
            step = smaller(step * step, cap)
            whole[i] += step
            largest[i] = larger(largest[i], step)
    return _closest(whole, largest) <= limit


@inlined
def _closest(whole: Any, largest: Any) -> float:
    """The least that leaving out a dimension can make of the distances, less what rounding can add."""
    closest = np.inf
    for i in range(whole.size):
        closest = smaller(closest, whole[i] - largest[i] - 1e-12 * whole[i])
    return closest


@inlined
def _leave_each_out(points: Any, i: int, own: Any, caps: Any, without: Any) -> None:
    """Squared distances to point i without each dimension, and with all; by adding, as subtracting would cancel."""
    d = own.size
    before = 0.0
    for k in range(d):
        step = points[i, k] - own[k]
        without[k] = before
        before += min(step * step, caps[k])
    without[d] = before
    behind = 0.0
    for k in range(d - 1, -1, -1):
        step = points[i, k] - own[k]
        without[k] += behind
        behind += min(step * step, caps[k])


@inlined
def _insert(nearest: Any, distance: Any) -> float:
    """Insert a point into each column of sorted distances; return the largest of the last ones."""
    last = nearest.shape[0] - 1
    worst = 0.0
    for k in range(distance.size):
        if distance[k] < nearest[last, k]:
            at = last
            while at > 0 and nearest[at - 1, k] > distance[k]:
                nearest[at, k] = nearest[at - 1, k]
                at -= 1
            nearest[at, k] = distance[k]
        worst = larger(worst, nearest[last, k])
    return worst


# --- moving data into place ----------------------------------------------------------------------------


@jit
def gather(values: Any, rows: Any, columns: Any, out: Any) -> None:
    """out[i, j] = values[rows[i], columns[j]]."""
    for i in range(rows.size):
        for j in range(columns.size):
            out[i, j] = values[rows[i], columns[j]]


@jit
def group_rows(cell: Any, n_cells: int, y: Any) -> Any:
    """Count, mean and sum of squared deviations of y in every cell, and a row that lies in it."""
    count, mean, squares = np.zeros(n_cells), np.zeros(n_cells), np.zeros(n_cells)
    example = np.zeros(n_cells, np.intp)
    for i in range(cell.size):
        g = cell[i]
        count[g] += 1
        step = y[i] - mean[g]
        mean[g] += step / count[g]
        squares[g] += step * (y[i] - mean[g])
        example[g] = i
    return count, mean, squares, example
