"""Numba kernels for local linear fits: the nearest places of a place, what they weigh, and what is left over.

A place is a point that stands for ``count`` equal rows. A row is never in its own fit: of its own place the fit takes
the other rows. All distances are squared; places are in tree order.
"""

from typing import Any, NamedTuple

import numpy as np

from .compiling import inlined, jit
from .kd_tree import FAR, TIES, Tree
from .leaf_search import BEFORE, Near, next_leaf, nothing_near, start_at
from .simd import WIDTH, broadcast8, first_bit, load8, store

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


class Space(NamedTuple):
    """The places of a table in the space of some factors."""

    points: Any
    """Coordinates of each place, (places, dimensions)."""
    caps: Any
    """The most that a dimension adds to a squared distance, (dimensions,)."""
    n_slopes: int
    """Fits are linear in so many dimensions, the first ones."""
    count: Any
    """How many rows are at each place, (places,)."""


class Weights(NamedTuple):
    """What places weigh in the fit at each centre, for each number of neighbours: the bands."""

    places: Any
    """The places near each centre, itself first: int32 (centres, most)."""
    values: Any
    """What each of them weighs, (centres, bands, most)."""
    used: Any
    """How many of them count, (centres, bands)."""
    reach: Any
    """Squared distance of the last of them, (centres, bands)."""
    tied: Any
    """How many rows are that near if all neighbours are equally far, else 0: (centres, bands).

    There can be more than are listed. The fit is the mean of them all, so that none is preferred; ``values`` are 0.
    """


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
def local_weights(space: Space, places: Any, distances: Any, length: Any, bands: Any) -> Weights:
    """Return what each place weighs in the fit at each centre, for each number of neighbours in ``bands``.

    The fit is linear in the first dimensions. Neighbours weigh the less the farther they are, and nothing at the
    distance of the last one: ties there do not matter.
    """
    n, most = places.shape
    weights, used = np.zeros((n, bands.size, most)), np.zeros((n, bands.size), np.intp)
    reach, tied = np.empty((n, bands.size)), np.zeros((n, bands.size))
    p = space.n_slopes + 1
    width = (p + WIDTH - 1) // WIDTH * WIDTH
    gram, terms, solution = np.empty((p, width)), np.zeros((most, width)), np.empty(p)
    for m in range(n):
        centre = places[m, 0]
        for k in range(length[m]):
            terms[k, 0] = 1.0
            for c in range(space.n_slopes):
                terms[k, c + 1] = space.points[places[m, k], c] - space.points[centre, c]
        for band in range(bands.size):
            rows, size = space.count[centre] - 1.0, ONE
            while rows < bands[band] and size < length[m]:
                rows += space.count[places[m, size]]
                size += 1
            used[m, band], reach[m, band] = size, distances[m, size - 1]
            total = _weigh(weights, m, band, space.count, places, distances, size)
            if total < EQUALLY_FAR:
                tied[m, band] = _count_tied(space, centre, reach[m, band])
                weights[m, band, :] = 0.0
                continue
            _fill_gram(gram, terms, weights, m, band, size)
            _solve_first(gram, solution)
            for k in range(size):
                value = 0.0
                for c in range(p):
                    value += solution[c] * terms[k, c]
                weights[m, band, k] *= value
    return Weights(places, weights, used, reach, tied)


@inlined
def _weigh(weights: Any, m: int, band: int, count: Any, places: Any, distances: Any, size: int) -> float:
    """Give every row a weight that falls to 0 at the distance of the last place; return their sum."""
    reach = distances[m, size - 1] + TINY
    total = 0.0
    for k in range(size):
        rows = count[places[m, k]] - (1.0 if k == 0 else 0.0)
        weights[m, band, k] = rows * max(1.0 - distances[m, k] / reach, 0.0)
        total += weights[m, band, k]
    return total


@inlined
def _count_tied(space: Space, centre: int, reach: float) -> float:
    """How many rows, those at the centre aside, are not farther than the reach."""
    rows = 0.0
    for place in range(space.count.size):
        if _is_within(space, centre, place, reach):
            rows += space.count[place]
    return rows


@inlined
def _is_within(space: Space, centre: int, place: int, reach: float) -> bool:
    """Whether a place is another one than the centre, and not farther than the reach but for rounding."""
    total = 0.0
    for k in range(space.caps.size):
        step = space.points[place, k] - space.points[centre, k]
        total += min(step * step, space.caps[k])
    return place != centre and total <= reach * TIES


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
                store(gram, at, load8(gram, at) + broadcast8(weights[m, band, k] * terms[k, r]) * some)
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
def fitted_values(space: Space, mean: Any, weights: Weights, centre_of: Any, y: Any) -> Any:
    """Return the fit at each row, (bands, rows), and the sum of its squared weights.

    ``mean``, (places, 1), is that of y, ``centre_of`` the number of the centre where a row is.
    """
    n_bands = weights.used.shape[1]
    squares = _sum_squares(space, weights)
    at_others = np.zeros((weights.used.shape[0], n_bands))
    for m in range(weights.used.shape[0]):
        for band in range(n_bands):
            at_others[m, band] = _others_of_own(space, weights, m, band) * mean[weights.places[m, 0], 0]
            for k in range(1, weights.used[m, band]):
                at_others[m, band] += weights.values[m, band, k] * mean[weights.places[m, k], 0]
            if weights.tied[m, band] > 0:
                for place in range(space.count.size):
                    if _is_within(space, weights.places[m, 0], place, weights.reach[m, band]):
                        at_others[m, band] += space.count[place] / weights.tied[m, band] * mean[place, 0]
    fits, spread = np.empty((n_bands, y.size)), np.empty((n_bands, y.size))
    for row in range(y.size):
        m = centre_of[row]
        rows = space.count[weights.places[m, 0]]
        for band in range(n_bands):
            fits[band, row] = at_others[m, band] - _others_of_own(space, weights, m, band) / rows * y[row]
            spread[band, row] = squares[m, band]
    return fits, spread


@inlined
def _others_of_own(space: Space, weights: Weights, m: int, band: int) -> Any:
    """What the mean of a centre weighs if each of its rows weighs as much as the others of one of them do."""
    rows = space.count[weights.places[m, 0]]
    return weights.values[m, band, 0] * rows / max(rows - 1.0, 1.0)


@jit
def _sum_squares(space: Space, weights: Weights) -> Any:
    """Sum of the squared weights of single rows, for each centre and band."""
    n, n_bands = weights.used.shape
    squares = np.zeros((n, n_bands))
    for m in range(n):
        for band in range(n_bands):
            if weights.tied[m, band] > 0:
                squares[m, band] = 1.0 / weights.tied[m, band]
                continue
            for k in range(weights.used[m, band]):
                rows = space.count[weights.places[m, k]] - (1.0 if k == 0 else 0.0)
                squares[m, band] += weights.values[m, band, k] ** 2 / max(rows, 1.0)
    return squares


@jit
def sum_errors(space: Space, place_draws: Any, draws: Any, weights: Weights, centre_of: Any) -> Any:
    """Sum the normalised squared errors of all rows, for each band and draw: (bands, draws).

    ``draws``, (rows, draws), stand in for y; ``place_draws`` are their means at each place.
    """
    n, n_bands = weights.used.shape
    n_draws = draws.shape[1]
    squares = _sum_squares(space, weights)
    at_others, squared = np.empty((n, n_draws), np.float32), np.empty(n_draws, np.float32)
    total = np.empty((n_bands, n_draws))
    for band in range(n_bands):
        at_others[:] = 0.0
        for m in range(n):
            if weights.tied[m, band] > 0:
                _add_tied(at_others, space, weights, m, band, place_draws)
                continue
            for k in range(weights.used[m, band]):
                weight = np.float32(weights.values[m, band, k] if k > 0 else _others_of_own(space, weights, m, band))
                place = weights.places[m, k]
                for b in range(n_draws):
                    at_others[m, b] += weight * place_draws[place, b]
        squared[:] = 0.0
        for row in range(centre_of.size):
            m = centre_of[row]
            rows = space.count[weights.places[m, 0]]
            own = np.float32(1.0 + _others_of_own(space, weights, m, band) / rows)
            scale = np.float32(1.0 / (1.0 + squares[m, band]))
            for b in range(n_draws):
                error = own * draws[row, b] - at_others[m, b]
                squared[b] += scale * error * error
        for b in range(n_draws):
            total[band, b] = squared[b]
    return total


@inlined
def _add_tied(at_others: Any, space: Space, weights: Weights, m: int, band: int, place_draws: Any) -> None:
    """Add the mean of the rows that are equally far to what is fitted at a centre, for each draw."""
    for place in range(space.count.size):
        if _is_within(space, weights.places[m, 0], place, weights.reach[m, band]):
            weight = np.float32(space.count[place] / weights.tied[m, band])
            for b in range(at_others.shape[1]):
                at_others[m, b] += weight * place_draws[place, b]
