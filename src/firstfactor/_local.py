"""Numba kernels for local linear fits: the nearest places of a place, what they weigh, and what is left over.

A place is a point that stands for ``count`` equal rows. A row is never in its own fit: of its own place the fit takes
the other rows. All distances are squared; places are in tree order.
"""

from typing import Any

import numpy as np

from ._jit import inlined, jit
from ._near import BEFORE, Near, next_leaf, nothing_near, start_at
from ._simd import WIDTH, first_bit, load8, spread8, store
from ._tree import FAR, Tree

# The slopes of a fit are shrunk by this share of the mean square of what they multiply: few neighbours, or neighbours
# on a line, do not make them wild.
RIDGE = 0.02

# Neighbours that weigh less than this, together, are all as far as the last one but for rounding.
EQUALLY_FAR = 1e-9

# Stands for 0 where something is divided by it.
TINY = 1e-300

# How much farther than those of centres nearby the places of a centre are expected to be at most (squared).
MARGIN = 1.3

# Numba takes a literal for a type of its own.
ONE: Any = np.intp(1)


@jit
def nearest_places(tree: Tree, caps: Any, count: Any, centres: Any, wanted: int) -> Any:
    """Return the nearest places of each centre, itself first, with their distances, and how many there are.

    They are at most ``wanted`` besides the centre, and none if the centre's own rows are enough.
    """
    places, distances = np.empty((centres.size, wanted + 1), np.int32), np.empty((centres.size, wanted + 1))
    length = np.ones(centres.size, np.intp)
    _fill_places(tree, caps, count, centres, nothing_near(tree, caps), places, distances, length)
    return places, distances, length


@inlined
def _fill_places(
    tree: Tree, caps: Any, count: Any, centres: Any, near: Near, places: Any, distances: Any, length: Any
) -> None:
    """Do the work with the arrays that the kernel has made."""
    most = places.shape[1]
    wanted = most - 1
    for m in range(centres.size):
        centre = centres[m]
        places[m, 0], distances[m, 0] = centre, 0.0
        if count[centre] > wanted:
            continue
        found = _collect(tree, caps, near, centres, m, True, places, distances)
        if found < most:
            found = _collect(tree, caps, near, centres, m, False, places, distances)
        length[m] = found


@inlined
def _collect(tree: Tree, caps: Any, near: Near, centres: Any, m: int, guess: bool, places: Any, distances: Any) -> Any:
    """Fill in the places near a centre, in order; return how many there are.

    Guessing that they are not farther than those of centres nearby, few are entered that do not stay.
    """
    wanted = places.shape[1] - 1
    start_at(tree, caps, near, centres, m)
    limit, found = near.reach[BEFORE] * MARGIN if guess else FAR, ONE
    while True:
        hits, leaf = next_leaf(tree, caps, near, limit)
        if hits == 0:
            return found
        while hits != 0:
            i = first_bit(hits)
            hits &= hits - 1
            place, distance = tree.start[leaf] + i, near.distance[i]
            if distance < limit and place != centres[m]:
                found = _insert(places, distances, m, found, place, distance)
                if found > wanted:
                    limit = distances[m, wanted]


@inlined
def _insert(places: Any, distances: Any, m: int, found: int, place: int, distance: float) -> Any:
    """Enter a place into the sorted list of centre m, behind the centre itself; return how many are in it."""
    most = places.shape[1]
    at = min(found, most - 1)
    while at > 1 and distances[m, at - 1] > distance:
        places[m, at], distances[m, at] = places[m, at - 1], distances[m, at - 1]
        at -= 1
    places[m, at], distances[m, at] = place, distance
    return min(found + 1, most)


@jit
def local_weights(points: Any, n_slopes: int, count: Any, places: Any, distances: Any, length: Any, bands: Any) -> Any:
    """Return what each place weighs in the fit at each centre, for each number of neighbours in ``bands``.

    The fit is linear in the first ``n_slopes`` coordinates. Neighbours weigh the less the farther they are, and nothing
    at the distance of the last one: ties there do not matter. Also returns how many places each fit uses.
    """
    n, most = places.shape
    weights, used = np.zeros((n, bands.size, most)), np.zeros((n, bands.size), np.intp)
    p = n_slopes + 1
    width = (p + WIDTH - 1) // WIDTH * WIDTH
    gram, terms, solution = np.empty((p, width)), np.zeros((most, width)), np.empty(p)
    for m in range(n):
        centre = places[m, 0]
        for k in range(length[m]):
            terms[k, 0] = 1.0
            for c in range(n_slopes):
                terms[k, c + 1] = points[places[m, k], c] - points[centre, c]
        for band in range(bands.size):
            rows, size = count[centre] - 1.0, ONE
            while rows < bands[band] and size < length[m]:
                rows += count[places[m, size]]
                size += 1
            used[m, band] = size
            _weigh(weights, m, band, count, places, distances, size)
            _fill_gram(gram, terms, weights, m, band, size)
            _solve_first(gram, solution)
            for k in range(size):
                value = 0.0
                for c in range(p):
                    value += solution[c] * terms[k, c]
                weights[m, band, k] *= value
    return weights, used


@inlined
def _weigh(weights: Any, m: int, band: int, count: Any, places: Any, distances: Any, size: int) -> None:
    """Give every row a weight that falls to 0 at the distance of the last place; all the same if all are there."""
    reach = distances[m, size - 1] + TINY
    total = 0.0
    for k in range(size):
        rows = count[places[m, k]] - (1.0 if k == 0 else 0.0)
        weights[m, band, k] = rows * max(1.0 - distances[m, k] / reach, 0.0)
        total += weights[m, band, k]
    if total < EQUALLY_FAR:
        for k in range(1, size):
            weights[m, band, k] = count[places[m, k]]


@inlined
def _fill_gram(gram: Any, terms: Any, weights: Any, m: int, band: int, size: int) -> None:
    """Weighted sums of products of the terms, with the ridge."""
    p, width = gram.shape
    gram[:] = 0.0
    for k in range(size):
        for chunk in range(0, width, WIDTH):
            some = load8(terms, k * width + chunk)
            for r in range(p):
                at = r * width + chunk
                store(gram, at, load8(gram, at) + spread8(weights[m, band, k] * terms[k, r]) * some)
    trace = 0.0
    for r in range(1, p):
        trace += gram[r, r]
    gram[0, 0] += TINY
    for r in range(1, p):
        gram[r, r] += RIDGE * trace / (p - 1) + TINY


@inlined
def _solve_first(gram: Any, solution: Any) -> None:
    """Solve gram · solution = (1, 0, …, 0) by Cholesky's decomposition, in place."""
    p = solution.size
    for r in range(p):
        for c in range(r + 1):
            value = gram[r, c]
            for t in range(c):
                value -= gram[r, t] * gram[c, t]
            gram[r, c] = np.sqrt(max(value, TINY)) if r == c else value / gram[c, c]
    for r in range(p):
        value = 1.0 if r == 0 else 0.0
        for t in range(r):
            value -= gram[r, t] * solution[t]
        solution[r] = value / gram[r, r]
    for r in range(p - 1, -1, -1):
        value = solution[r]
        for t in range(r + 1, p):
            value -= gram[t, r] * solution[t]
        solution[r] = value / gram[r, r]


@jit
def place_means(place_of: Any, count: Any, draws: Any) -> Any:
    """Return the mean at each place of values given for each row, (rows, draws)."""
    means = np.zeros((count.size, draws.shape[1]), draws.dtype)
    for row in range(place_of.size):
        for b in range(draws.shape[1]):
            means[place_of[row], b] += draws[row, b]
    for place in range(count.size):
        for b in range(draws.shape[1]):
            means[place, b] /= count[place]
    return means


@jit
def fitted_values(count: Any, mean: Any, places: Any, weights: Any, used: Any, centre_of: Any, y: Any) -> Any:
    """Return the fit at each row, (bands, rows), and the sum of its squared weights.

    ``mean``, (places, 1), is that of y, ``centre_of`` the number of the centre where a row is.
    """
    n_bands = used.shape[1]
    squares = _sum_squares(count, places, weights, used)
    at_others = np.zeros((used.shape[0], n_bands))
    for m in range(used.shape[0]):
        for band in range(n_bands):
            at_others[m, band] = _others_of_own(count, places, weights, m, band) * mean[places[m, 0], 0]
            for k in range(1, used[m, band]):
                at_others[m, band] += weights[m, band, k] * mean[places[m, k], 0]
    fits, spread = np.empty((n_bands, y.size)), np.empty((n_bands, y.size))
    for row in range(y.size):
        m = centre_of[row]
        rows = count[places[m, 0]]
        for band in range(n_bands):
            fits[band, row] = at_others[m, band] - _others_of_own(count, places, weights, m, band) / rows * y[row]
            spread[band, row] = squares[m, band]
    return fits, spread


@inlined
def _others_of_own(count: Any, places: Any, weights: Any, m: int, band: int) -> Any:
    """What the mean of a centre weighs if each of its rows weighs as much as the others of one of them do."""
    rows = count[places[m, 0]]
    return weights[m, band, 0] * rows / max(rows - 1.0, 1.0)


@jit
def _sum_squares(count: Any, places: Any, weights: Any, used: Any) -> Any:
    """Sum of the squared weights of single rows, for each centre and band."""
    n, n_bands = used.shape
    squares = np.zeros((n, n_bands))
    for m in range(n):
        for band in range(n_bands):
            for k in range(used[m, band]):
                rows = count[places[m, k]] - (1.0 if k == 0 else 0.0)
                squares[m, band] += weights[m, band, k] ** 2 / max(rows, 1.0)
    return squares


@jit
def sum_errors(count: Any, place_draws: Any, draws: Any, places: Any, weights: Any, used: Any, centre_of: Any) -> Any:
    """Sum the normalised squared errors of all rows, for each band and draw: (bands, draws).

    ``draws``, (rows, draws), stand in for y; ``place_draws`` are their means at each place.
    """
    n, n_bands = used.shape
    n_draws = draws.shape[1]
    squares = _sum_squares(count, places, weights, used)
    at_others, squared = np.empty((n, n_draws), np.float32), np.empty(n_draws, np.float32)
    total = np.empty((n_bands, n_draws))
    for band in range(n_bands):
        at_others[:] = 0.0
        for m in range(n):
            for k in range(used[m, band]):
                weight = np.float32(weights[m, band, k] if k > 0 else _others_of_own(count, places, weights, m, band))
                place = places[m, k]
                for b in range(n_draws):
                    at_others[m, b] += weight * place_draws[place, b]
        squared[:] = 0.0
        for row in range(centre_of.size):
            m = centre_of[row]
            own = np.float32(1.0 + _others_of_own(count, places, weights, m, band) / count[places[m, 0]])
            scale = np.float32(1.0 / (1.0 + squares[m, band]))
            for b in range(n_draws):
                error = own * draws[row, b] - at_others[m, b]
                squared[b] += scale * error * error
        for b in range(n_draws):
            total[band, b] = squared[b]
    return total
