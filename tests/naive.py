"""The method in plain loops: slow, obvious, and importing nothing from the package.

A table is a list of columns, a column a list: of numbers, or of text for a category; None is missing. A factor is the
position of a column, or a tuple of several. A response is a list of numbers, or of tuples: a number for each output.
"""

from itertools import combinations, permutations
from math import sqrt
from statistics import mean, stdev
from statistics import variance as variance_of_numbers

TIE = 1e-9
ROUNDING = 1e-12


def is_category(column):
    return any(isinstance(value, str) for value in column)


def standardise(table):
    return [standardise_column(column) for column in table]


def standardise_column(column):
    known = [x for x in column if x is not None]
    if is_category(column) or len(set(known)) < 2:
        return column
    return [None if x is None else (x - mean(known)) / stdev(known) for x in column]


def columns_of(factors):
    return [j for factor in factors for j in (factor if isinstance(factor, tuple) else (factor,))]


def distance(table, factors, m, n):
    total = 0.0
    for i in columns_of(factors):
        a, b = table[i][m], table[i][n]
        if a is None or b is None or is_category(table[i]):
            total += 2.0 * (a != b)
        else:
            total += (a - b) ** 2
    return sqrt(total)


def variance(y, weights=None):
    """Summed over the outputs; with weights, Σw(y − ȳ)² / (Σw − Σw²/Σw)."""
    if isinstance(y[0], tuple):
        return sum(variance([row[k] for row in y], weights) for k in range(len(y[0])))
    if weights is None:
        return variance_of_numbers(y)
    total = sum(weights)
    centre = sum(w * v for w, v in zip(weights, y, strict=True)) / total
    squares = sum(w * (v - centre) ** 2 for w, v in zip(weights, y, strict=True))
    return squares / (total - sum(w * w for w in weights) / total)


def ball(table, factors, m, n_neighbors, groups=None):
    others = [n for n in range(len(table[0])) if n == m or groups is None or groups[n] != groups[m]]
    distances = {n: distance(table, factors, m, n) for n in others}
    reach = sorted(distances.values())[n_neighbors - 1] * (1 + TIE)
    return [n for n, d in distances.items() if d <= reach]


def ball_variances(table, y, factors, n_neighbors, outer=None, groups=None):
    rows = range(len(y)) if outer is None else outer
    return [ball_variance(y, ball(table, factors, m, n_neighbors, groups), groups) for m in rows]


def ball_variance(y, rows, groups=None):
    """The sample variance; of rows in groups, half of the mean squared difference of two that are not of one group."""
    if groups is None:
        return variance([y[n] for n in rows])
    pairs = [(y[a], y[b]) for a in rows for b in rows if groups[a] != groups[b]]
    return mean(sum((p - q) ** 2 for p, q in zip(*map(as_outputs, pair), strict=True)) / 2 for pair in pairs)


def as_outputs(value):
    return value if isinstance(value, tuple) else (value,)


def conditional_variance(table, y, factors, n_neighbors, weights=None, groups=None):
    if not factors:
        return variance(y, weights)
    variances = ball_variances(table, y, factors, n_neighbors, None, groups)
    if weights is None:
        return mean(variances)
    return sum(w * v for w, v in zip(weights, variances, strict=True)) / sum(weights)


def explained_variance(table, y, factors, n_neighbors, weights=None, groups=None):
    return variance(y, weights) - conditional_variance(table, y, factors, n_neighbors, weights, groups)


def total_index(table, y, factors, group, n_neighbors, noise=True, weights=None, groups=None):
    least = conditional_variance(table, y, factors, n_neighbors, weights, groups) if noise else 0.0
    rest = [i for i in factors if i not in group]
    effect = conditional_variance(table, y, rest, n_neighbors, weights, groups) - least
    explained = variance(y, weights) - least
    rounding = ROUNDING * variance(y, weights)
    if explained <= rounding or effect <= rounding:
        return 0.0
    return effect / explained


def total_indices(table, y, n_neighbors, noise=True, factors=None, weights=None, groups=None):
    factors = varying(table) if factors is None else factors
    values = [0.0] * len(table)
    for i in factors:
        values[columns_of([i])[0]] = total_index(table, y, factors, [i], n_neighbors, noise, weights, groups)
    return values


def varying(table):
    return [i for i, column in enumerate(table) if len(set(column)) > 1]


def backward_elimination(table, y, n_neighbors, factors=None, elimination="batch"):
    kept = varying(table) if factors is None else sorted(factors)
    while kept:
        values = total_indices(table, y, n_neighbors, factors=kept)
        if min(values[i] for i in kept) > 0:
            return values
        if elimination == "batch":
            kept = [i for i in kept if values[i] > 0]
        else:
            without = {i: explained_variance(table, y, [j for j in kept if j != i], n_neighbors) for i in kept}
            least = first_largest(without, ROUNDING * variance(y))
            kept.remove(least)
    return [0.0] * len(table)


def first(table, y, n_neighbors, forward="full", elimination="batch"):
    rounding = ROUNDING * variance(y)

    def helps(gain):
        return gain >= -rounding if forward == "fast" else gain > rounding

    entered, explained = [], 0.0
    for _ in range(forward if isinstance(forward, int) else 1):
        before = list(entered)
        candidates = [i for i in varying(table) if i not in entered]
        while candidates:
            with_each = {i: explained_variance(table, y, [*entered, i], n_neighbors) for i in candidates}
            best = first_largest(with_each, rounding)
            if not helps(with_each[best] - explained):
                break
            if forward != "full":
                candidates = [i for i in candidates if helps(with_each[i] - explained)]
            candidates.remove(best)
            entered.append(best)
            explained = with_each[best]
        if entered == before:
            break
    return backward_elimination(table, y, n_neighbors, entered, elimination)


def first_largest(values, rounding):
    top = max(values.values())
    return min(i for i, value in values.items() if value >= top - rounding)


# --- local linear fits ---------------------------------------------------------------------------------


def local_weights(table, factors, m, band, ridge=0.02, groups=None):
    """What each row weighs in the fit at row m, which is not in it, nor are others of its group."""
    others = [n for n in range(len(table[0])) if n != m and (groups is None or groups[n] != groups[m])]
    squared = {n: distance(table, factors, m, n) ** 2 for n in others}
    reach = sorted(squared.values())[min(band, len(others)) - 1]
    near = {n: 1.0 if reach == 0 else 1 - d / reach for n, d in squared.items() if d * (1 + TIE) < reach or d == 0}
    if not near:  # all neighbours are equally far: none is better than another
        tied = [n for n, d in squared.items() if d <= reach * (1 + TIE) ** 2]
        return dict.fromkeys(tied, 1 / len(tied))
    slopes = [i for i in columns_of(factors) if not is_category(table[i])]
    terms = {n: [1.0] + [slope_term(table[i], n, m) for i in slopes] for n in near}
    size = len(slopes) + 1
    gram = [[sum(near[n] * terms[n][r] * terms[n][c] for n in near) for c in range(size)] for r in range(size)]
    mean_square = sum(gram[r][r] for r in range(1, size)) / max(size - 1, 1)
    for r in range(1, size):
        gram[r][r] += ridge * mean_square if mean_square > 0 else 1.0
    solution = solve(gram, [1.0] + [0.0] * (size - 1))
    return {n: near[n] * sum(s * t for s, t in zip(solution, terms[n], strict=True)) for n in near}


def slope_term(column, n, m):
    return 0.0 if column[n] is None or column[m] is None else column[n] - column[m]


def solve(matrix, right):
    """Gauss's elimination for a matrix that is positive definite."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for r in range(size):
        for below in range(size):
            if below != r:
                factor = rows[below][r] / rows[r][r]
                rows[below] = [a - factor * b for a, b in zip(rows[below], rows[r], strict=True)]
    return [rows[r][size] / rows[r][r] for r in range(size)]


def local_fit(table, y, factors, m, band, groups=None):
    return sum(w * y[n] for n, w in local_weights(table, factors, m, band, groups=groups).items())


def squared_group_weights(table, _, factors, m, band, groups=None, together=True):
    """Σ (Σ w)² over groups, or Σ w² over rows."""
    sums = {}
    for n, weight in local_weights(table, factors, m, band, groups=groups).items():
        group = groups[n] if groups is not None and together else n
        sums[group] = sums.get(group, 0.0) + weight
    return sum(weight**2 for weight in sums.values())


def intraclass_correlation(errors, groups):
    rows = range(len(errors))
    products = [errors[a] * errors[b] for a in rows for b in rows if a != b and groups[a] == groups[b]]
    square = mean(error**2 for error in errors)
    return min(max(mean(products) / square, 0.0), 1.0) if products and square > 0 else 0.0


def local_error(table, y, factors, m, band, groups=None):
    """What is left of y at row m after the fit without it, as a deviation of one row."""
    weights = local_weights(table, factors, m, band, groups=groups)
    fit = sum(w * y[n] for n, w in weights.items())
    return (y[m] - fit) / sqrt(1 + sum(w * w for w in weights.values()))


# --- a trend, and fits around it -----------------------------------------------------------------------

LEVELS = (((1,), ()), ((2, 3), ()), ((), (2,)), ((4, 5, 6), ()), ((), (3,)), ((), (4,)), ((), (5,)))


def between_minus_1_and_1(column, low, high, beyond):
    """Values outside of two quantiles by more than ``beyond`` times their distance are pulled in; missing are 0."""
    known = sorted(x for x in column if x is not None)
    bottom, top = quantile(known, low), quantile(known, high)
    reach = beyond * (top - bottom) if top > bottom else float("inf")
    pulled = [None if x is None else min(max(x, bottom - reach), top + reach) for x in column]
    least, most = (choose(x for x in pulled if x is not None) for choose in (min, max))
    return [0.0 if x is None or most == least else 2 * (x - least) / (most - least) - 1 for x in pulled]


def quantile(ordered, share):
    at = share * (len(ordered) - 1)
    below = int(at)
    return ordered[below] + (at - below) * (ordered[min(below + 1, len(ordered) - 1)] - ordered[below])


def legendre(x, degree):
    before, value = 0.0, 1.0
    for k in range(degree):
        before, value = value, ((2 * k + 1) * x * value - k * before) / (k + 1)
    return value


def trend_levels(table, factors, most):
    """The terms of each trend that is tried, as columns; the first has only the constant."""
    numeric = [table[i] for i in columns_of(factors) if not is_category(table[i])]
    straight = [between_minus_1_and_1(column, 0.25, 0.75, 4.0) for column in numeric]
    columns = [between_minus_1_and_1(column, 0.05, 0.95, 0.25) for column in numeric]
    pairs = [(a, b) for j, b in enumerate(columns) for a in columns[:j]]
    trends = [[[1.0] * len(table[0])]]
    for degrees, sums in LEVELS:
        used = straight if degrees == (1,) else columns
        new = [[legendre(x, degree) for x in column] for column in used for degree in degrees]
        for a, b, k, rest in [(a, b, k, both - k) for both in sums for a, b in pairs for k in range(1, both)]:
            new += [[legendre(x, k) * legendre(z, rest) for x, z in zip(a, b, strict=True)]]
        if len(trends[-1]) + len(new) > most:
            break
        if new:
            trends.append(trends[-1] + new)
    return trends


def weights_around_trend(terms, m, weights, groups=None):
    """What each row weighs in the prediction of row m: local weights of what the trend without row m leaves."""
    others = [n for n in range(len(terms[0])) if n != m and (groups is None or groups[n] != groups[m])]
    gram = [[sum(a[n] * b[n] for n in others) for b in terms] for a in terms]
    left = [term[m] - sum(w * term[n] for n, w in weights.items()) for term in terms]
    solution = solve(gram, left)
    trend = {n: sum(s * term[n] for s, term in zip(solution, terms, strict=True)) for n in others}
    return {n: trend[n] + weights.get(n, 0.0) for n in others}


def best_trend(table, y, factors, most, groups=None):
    """The terms of the trend with the least sum of squared errors of rows that are left out."""
    errors = []
    for terms in trend_levels(table, factors, most):
        fits = [weights_around_trend(terms, m, {}, groups) for m in range(len(y))]
        errors.append((sum((y[m] - sum(w * y[n] for n, w in fit.items())) ** 2 for m, fit in enumerate(fits)), terms))
    return min(errors, key=lambda each: each[0])[1]


def error_around_trend(table, y, factors, terms, m, band):
    """What is left of y at row m after the trend and the local fit without it, as a deviation of one row."""
    weights = weights_around_trend(terms, m, local_weights(table, factors, m, band))
    fit = sum(w * y[n] for n, w in weights.items())
    return (y[m] - fit) / sqrt(1 + sum(w * w for w in weights.values()))


# --- how sure ------------------------------------------------------------------------------------------


def contributions(table, y, factors, n_neighbors):
    """What each row contributes to the conditional variance, what overlap adds to the variance of that, and what it has
    in common with the squared deviations of neighbours."""
    n, unit, average = len(y), variance(y), mean(y)
    if not factors:
        return [(value - average) ** 2 * n / (n - 1) / unit for value in y], 0.0, 0.0
    rows, overlap, shared = [], [], []
    for m in range(n):
        within = ball(table, factors, m, n_neighbors)
        spread = variance([y[k] for k in within])
        at_place = [k for k in range(n) if distance(table, factors, m, k) == 0]
        size = n_neighbors
        if len(at_place) >= n_neighbors and collapses(table, factors):
            size = len(at_place)
            spread_of_row = (y[m] - mean(y[k] for k in at_place)) ** 2 * size / (size - 1)
            times, own = 1 / (size - 1), 1 - 1 / size
        else:
            spread_of_row, times, own = spread, 1.0, 1 / size
        rows.append(spread_of_row / unit)
        fourth = (spread / unit) ** 2 * (size - 1) / (size + 1)
        overlap.append(2 * fourth * times)
        shared.append(2 * fourth * (1 - own))
    return rows, mean(overlap), mean(shared)


def collapses(table, factors):
    """Whether rows can be counted by place: every factor takes each of its values twice on average."""
    return all(len(set(table[i])) <= len(table[i]) / 2 for i in factors)


def standard_error(table, y, factors, i, n_neighbors):
    """Of the total index of factor i."""
    rest = [j for j in factors if j != i]
    least = conditional_variance(table, y, factors, n_neighbors) / variance(y)
    effect = conditional_variance(table, y, rest, n_neighbors) / variance(y) - least
    index = effect / (1 - least)
    total = contributions(table, y, [], n_neighbors)[0]
    (a, overlap_a, shared_a), (b, overlap_b, shared_b) = (
        contributions(table, y, u, n_neighbors) for u in (rest, factors)
    )
    slopes = [(p - q - index * (t - q)) / (1 - least) for p, q, t in zip(a, b, total, strict=True)]
    alike = 0.8 + 0.2 * correlation(a, b)
    if len(set(a)) == 1 or len(set(b)) == 1:  # one of them has no part that could differ
        alike = 1.0 if len(set(a)) == len(set(b)) else 0.8
    overlap = overlap_a + (1 - index) ** 2 * overlap_b - 2 * (1 - index) * alike * sqrt(overlap_a * overlap_b)
    overlap -= 2 * index * (shared_a - (1 - index) * shared_b)
    return min(sqrt(max(variance(slopes) + overlap / (1 - least) ** 2, 0.0) / len(y)), 0.5)


def correlation(a, b):
    if len(set(a)) == 1 or len(set(b)) == 1:
        return 0.0
    products = mean((p - mean(a)) * (q - mean(b)) for p, q in zip(a, b, strict=True))
    return products * len(a) / (len(a) - 1) / (stdev(a) * stdev(b))


# --- factors that share information --------------------------------------------------------------------


def index(sums, table, y, factors, n_neighbors):
    """Σ times · ev(u) over (times, u), as a share of what all factors explain; 0 where they explain nothing."""
    whole = conditional_variance(table, y, factors, n_neighbors)
    explained = variance(y) - whole
    if explained <= ROUNDING * variance(y):
        return 0.0
    return sum(times * conditional_variance(table, y, u, n_neighbors) for times, u in sums) / explained


def closed_index(table, y, factors, group, n_neighbors):
    """What a set explains alone, as a share of what all factors explain."""
    return index([(1, []), (-1, [i for i in group if i in factors])], table, y, factors, n_neighbors)


def interaction(table, y, factors, i, j, n_neighbors):
    """The joint total index of two factors minus the total index of each."""
    without_both, without_i, without_j = ([k for k in factors if k not in some] for some in ((i, j), (i,), (j,)))
    return index([(1, without_both), (-1, without_i), (-1, without_j), (1, factors)], table, y, factors, n_neighbors)


def shapley_effects(table, y, factors, n_neighbors):
    """For each factor what it adds to those before it, on average over all orders."""
    orders = list(permutations(factors))
    added = {i: [] for i in factors}
    for order in orders:
        for k, i in enumerate(order):
            before, after = sorted(order[:k]), sorted(order[: k + 1])
            added[i].append(index([(1, before), (-1, after)], table, y, factors, n_neighbors))
    return {i: mean(gains) for i, gains in added.items()}


def cumulative_ranking(table, y, n_neighbors):
    """The varying factors, always the one next that explains most with those before it; and what they then explain."""
    order, shares, factors = [], [], varying(table)
    while len(order) < len(factors):
        explained = {i: explained_variance(table, y, [*order, i], n_neighbors) for i in factors if i not in order}
        order.append(first_largest(explained, ROUNDING * variance(y)))
        shares.append(closed_index(table, y, factors, order, n_neighbors))
    return order, shares


def compact_set(table, y, factors, tolerance, n_neighbors, forced=()):
    """Factors leave, the one whose loss is least first, while the rest explains nearly as much as the best set did.

    Where none can leave, two do for one that left before.
    """

    def explained(some):
        return explained_variance(table, y, sorted(some), n_neighbors)

    kept, best = set(factors), explained(factors)
    while len(kept) > 1:
        without = {i: explained(kept - {i}) for i in sorted(kept - {*forced})}
        best = max([best, 0.0, *without.values()])
        exchanged = {}
        if not without or best - max(without.values()) > tolerance * variance(y):
            for i, j in combinations(sorted(kept - {*forced}), 2):
                for back in sorted({*factors} - kept):
                    exchanged[i, j, back] = explained(kept - {i, j} | {back})
            if not exchanged or best - max(exchanged.values()) > tolerance * variance(y):
                return sorted(kept)
            i, j, back = max(exchanged, key=exchanged.get)
            kept = kept - {i, j} | {back}
        else:
            kept = kept - {max(without, key=without.get)}
    return sorted(kept)
