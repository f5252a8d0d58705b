"""The method in plain loops: slow, obvious, and importing nothing from the package.

A table is a list of columns, a column a list: of numbers, or of text for a category. Factors are positions.
"""

from math import sqrt
from statistics import mean, stdev, variance

TIE = 1e-9
ROUNDING = 1e-12


def is_category(column):
    return isinstance(column[0], str)


def standardise(table):
    return [
        column if is_category(column) or len(set(column)) == 1 else [(x - mean(column)) / stdev(column) for x in column]
        for column in table
    ]


def distance(table, factors, m, n):
    total = 0.0
    for i in factors:
        a, b = table[i][m], table[i][n]
        total += 2.0 * (a != b) if is_category(table[i]) else (a - b) ** 2
    return sqrt(total)


def ball(table, factors, m, n_neighbors):
    distances = [distance(table, factors, m, n) for n in range(len(table[0]))]
    reach = sorted(distances)[n_neighbors - 1] * (1 + TIE)
    return [n for n, d in enumerate(distances) if d <= reach]


def ball_variances(table, y, factors, n_neighbors, outer=None):
    rows = range(len(y)) if outer is None else outer
    return [variance([y[n] for n in ball(table, factors, m, n_neighbors)]) for m in rows]


def conditional_variance(table, y, factors, n_neighbors):
    if not factors:
        return variance(y)
    return mean(ball_variances(table, y, factors, n_neighbors))


def explained_variance(table, y, factors, n_neighbors):
    return variance(y) - conditional_variance(table, y, factors, n_neighbors)


def total_index(table, y, factors, group, n_neighbors, noise=True):
    least = conditional_variance(table, y, factors, n_neighbors) if noise else 0.0
    rest = [i for i in factors if i not in group]
    effect = conditional_variance(table, y, rest, n_neighbors) - least
    explained = variance(y) - least
    rounding = ROUNDING * variance(y)
    if explained <= rounding or effect <= rounding:
        return 0.0
    return effect / explained


def total_indices(table, y, n_neighbors, noise=True, factors=None):
    factors = varying(table) if factors is None else factors
    values = [0.0] * len(table)
    for i in factors:
        values[i] = total_index(table, y, factors, [i], n_neighbors, noise)
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
