"""Smooth fit to one response in a set of factors, and its projections on subsets of them.

Functions of single factors and products of two and three are fitted to all rows in two stages: the second has more
functions where the first finds something. The residual f − E[f | X_u] of the fit given a set u is found by projection:
each product of functions is a part in u, which stays, times a part outside u, from which its regression on u is
subtracted.
"""

import heapq
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations, product
from math import comb, prod
from typing import NamedTuple

import numpy as np
from numpy.polynomial import legendre
from scipy.stats import rankdata

from ..neighbors.strategy import Floats, Positions
from .basis import Functions
from .local_linear import intraclass_correlation
from .random_effects import Block, shrink

# Number of functions of a fit: FUNCTIONS_PER_LINE for each line, contrast of levels or missing-value indicator, within
# these bounds; at most FUNCTIONS_PER_ROW for each row, but FEWEST_FUNCTIONS in any table.
FUNCTIONS_PER_LINE, ENOUGH_FUNCTIONS, MOST_FUNCTIONS = 50, 350, 700
FUNCTIONS_PER_ROW, FEWEST_FUNCTIONS = 1.5, 20

# Functions of a single factor in the first stage, and of each in the second. Where something was found there are more:
# one for every ROWS_PER_ORDER rows, between LEAST_ORDERS and MOST_ORDERS. Largest sum of orders in a product.
FIRST_ORDERS, SECOND_ORDERS = 10, 6
ROWS_PER_ORDER, LEAST_ORDERS, MOST_ORDERS, MOST_IN_PRODUCT = 15, 20, 40, 16

# Maximum number of products with the same factors and sum of orders.
MOST_IN_BLOCK = 60

# Number of rows that estimate mean products of functions well enough where these only determine the size of an error.
ENOUGH_ROWS = 2000

# Maximum number of rounds of variance estimation in each stage.
ROUNDS = (12, 25)

# A block with more than this share of the explained variance receives more functions.
LEAST_SHARE = 0.003

# Maximum leverage of a row or a group, and maximum intraclass correlation.
MOST_LEVERAGE, MOST_ALIKE = 0.95, 0.95

# Functions of the factors that others are regressed on: PROJECTED in all, but LEAST_EACH of each factor while these are
# no more than MOST_PROJECTED in all; if there are more, those most correlated with the regressed functions. Products of
# two are included if they are no more than MOST_PRODUCTS and this share of the rows.
PROJECTED, LEAST_EACH, MOST_PROJECTED, MOST_PRODUCTS, MOST_PRODUCT_SHARE = 60, 5, 300, 200, 0.5

# Polynomials of the rank of the fit that y may follow, and standard deviations above chance that their effect must
# reach.
BENDS, LEAST_BEND = 5, 4.0

# Ridge penalties, as shares of the rows, from which these regressions choose.
RIDGES = np.array([*np.logspace(-4, 3, 22), 1e9])

# Standard deviations above chance that a regression must explain to be used. Where factors are independent, the best of
# many penalties follows chance, and importances come out too small.
LEAST_RELATED = 3.0

# A bend is regressed on the part of the fit known from a set of factors, if that is more than this share of the fit.
LEAST_KNOWN = 0.01

# Principal axes with a smaller share of the largest variance are rounding error. Maximum degrees of freedom of a
# regression as a share of the rows, and maximum leverage of a row.
SMALLEST_AXIS, MOST_FREEDOM, MOST_OF_VALUE = 1e-9, 0.6, 0.8
TINY = 1e-30

Product = tuple[tuple[int, int], ...]
"""Factors of a product, each with the index of its function."""


class Projection(NamedTuple):
    """Residual f − E[f | X_u] of a fit given some factors."""

    left: Floats
    """Leave-one-out value at each row, (rows,)."""
    error: float
    """Mean squared error of ``left``, as estimated by the fit."""
    posterior: float
    """Posterior mean square of the residual, given all rows."""
    quadratic: float
    """Variance of that mean square from the error of the fit alone."""
    bend: float
    """Part of that mean square that comes from a bend of the fit."""


NOTHING_LEFT = Projection(np.zeros(1), 0.0, 0.0, 0.0, 0.0)


class SmoothFit:
    """Smooth fit to one response, (rows,); rows of a group are left out together.

    Weights are scaled to sum to the effective number of rows: the more they differ, the fewer rows they are worth.
    Effects that rows of a group share beyond the fit are partly removed, as in generalised least squares with a random
    effect for each group.
    """

    def __init__(
        self, functions: dict[int, Functions], y: Floats, weights: Floats | None, groups: Positions | None
    ) -> None:
        self._functions = functions
        self._weights = np.ones(y.size) if weights is None else weights * (weights.sum() / (weights @ weights))
        self._size = float(self._weights.sum())
        """Effective number of rows."""
        self._groups, self._alike = groups, 0.0
        self._y = y - self._mean(y)
        self._units = self._size if groups is None else min(self._size, np.unique(groups).size)
        """Effective number of independent rows or groups."""
        n_lines = sum(int((each.orders <= 1).sum()) for each in functions.values())
        wanted = np.clip(FUNCTIONS_PER_LINE * n_lines, ENOUGH_FUNCTIONS, MOST_FUNCTIONS)
        budget = int(min(wanted, max(FUNCTIONS_PER_ROW * self._units, FEWEST_FUNCTIONS)))
        self._fit(_first_products(functions, budget), ROUNDS[0])
        if groups is not None:
            self._alike = min(intraclass_correlation(self._leave_out()[1][:, None], groups), MOST_ALIKE)
        self._fit(_second_products(functions, self._worth_more(), budget), ROUNDS[1])
        residuals, without, self._change = self._leave_out()
        self._bend = self._find_bend(without)
        self.bend = float(self._mean(self._bend**2))
        """Mean square of the bend: the variance that polynomials of the fit explain beyond it."""
        self.without: Floats = without - self._bend
        """Residual of each row from the fit to the rows of other groups, (rows,)."""
        chosen = 1 + 2 * float(self._effects.adaptivity.sum()) / self._size
        self.squares: Floats = (residuals - self._bend) * self.without * chosen
        """Squared error of each row; its mean is the noise variance, also under heteroscedasticity."""
        self._fitted = self._y - residuals
        self._spread = self._roughly(self._centred(self._products)) @ self._effects.covariance
        self.error = float(np.trace(self._spread))
        """Mean squared error of the fit, as estimated by the fit."""

    def _fit(self, products: list[Product], rounds: int) -> None:
        columns, y = self._decorrelate(self._centred(products)), self._decorrelate(self._y)
        blocks = _blocks(products, self._functions)
        found = shrink(columns @ columns.T, columns @ y, float(y @ y), self._size, blocks, rounds)
        self._products = [products[k] for k in found.active]
        self._effects = found

    def _columns(self, products: Sequence[Product]) -> Floats:
        """Return products of functions, (products, rows)."""
        return self._multiply(np.ones((len(products), self._y.size)), products)

    def _multiply(self, columns: Floats, products: Sequence[Product]) -> Floats:
        """Multiply columns, (products, rows), in place by products of functions, and return them."""
        for column, functions in zip(columns, products, strict=True):
            for i, a in functions:
                column *= self._functions[i].values[a]
        return columns

    def _centred(self, products: Sequence[Product]) -> Floats:
        columns = self._columns(products)
        columns -= self._mean(columns)[:, None]
        return columns

    def _mean(self, rows: Floats) -> Floats:
        """Return the weighted mean over rows, the last axis."""
        mean: Floats = rows @ self._weights / self._size
        return mean

    def _gram(self, columns: Floats) -> Floats:
        """Return the weighted mean products of columns, (columns, rows), with each other."""
        scaled = columns * np.sqrt(self._weights)
        gram: Floats = scaled @ scaled.T / self._size  # a matrix times its own transpose takes half of the time
        return gram

    def _roughly(self, columns: Floats) -> Floats:
        """Return the mean products of columns with each other over a subset of the rows."""
        step = -(-columns.shape[1] // ENOUGH_ROWS)
        weights = self._weights[::step]
        scaled = columns[:, ::step] * np.sqrt(weights)
        gram: Floats = scaled @ scaled.T / weights.sum()
        return gram

    def _decorrelate(self, columns: Floats) -> Floats:
        """Return columns, (…, rows), transformed so that errors are uncorrelated and have equal variances."""
        if self._groups is not None and self._alike > 0:
            sizes = np.bincount(self._groups)
            share = 1 - np.sqrt((1 - self._alike) / (1 - self._alike + sizes * self._alike))
            columns = columns - self._sum_in_groups(columns) * (share / np.maximum(sizes, 1))[self._groups]
        decorrelated: Floats = columns * np.sqrt(self._weights)
        return decorrelated

    def _sum_in_groups(self, columns: Floats) -> Floats:
        """Return the sums of columns, (…, rows), over the group of each row; without groups, the columns."""
        if self._groups is None:
            return columns
        sums = np.zeros((int(self._groups.max()) + 1, *columns.shape[:-1]))
        np.add.at(sums, self._groups, np.moveaxis(columns, -1, 0))
        in_groups: Floats = np.moveaxis(sums[self._groups], 0, -1)
        return in_groups

    def _worth_more(self) -> list[tuple[int, ...]]:
        """Return the sets of factors whose share of the explained variance justifies more functions."""
        members, found = defaultdict(list), self._effects
        for k, functions in enumerate(self._products):
            members[tuple(i for i, _ in functions)].append(k)
        gram, sizes = self._roughly(self._columns(self._products)), {}
        second = np.outer(found.coefficients, found.coefficients) + found.covariance
        for factors, some in members.items():
            own = np.ix_(some, some)
            sizes[factors] = float(np.sum(gram[own] * second[own]))
        explained = max(float(self._mean(self._y**2)) - found.noise, 0.0)
        return [factors for factors, size in sizes.items() if size > LEAST_SHARE * explained]

    def _leave_out(self) -> tuple[Floats, Floats, Floats]:
        """Return residuals, leave-one-out residuals, and the change of the coefficients due to each row or group.

        The change, (functions and the constant, rows), is the fit minus the fit without the row or group.
        """
        found, columns = self._effects, self._centred(self._products)
        residuals = self._y - found.coefficients @ columns
        columns = np.concatenate([columns, np.ones((1, residuals.size))])
        decorrelated, without = self._decorrelate(columns), self._decorrelate(residuals)
        covariance = np.zeros((len(columns), len(columns)))
        covariance[:-1, :-1] = found.covariance / found.noise
        covariance[-1, -1] = 1 / (decorrelated[-1] @ decorrelated[-1])
        if self._groups is None:
            change = covariance @ decorrelated
            change *= without / (1 - np.minimum(np.einsum("ij,ij->j", decorrelated, change), MOST_LEVERAGE))
        else:
            terms = np.linalg.cholesky(covariance).T @ decorrelated
            without = _residuals_without_groups(terms, without, self._groups)
            change = covariance @ self._sum_in_groups(decorrelated * without)
        return residuals, residuals + np.einsum("ij,ij->j", columns, change), change

    def _find_bend(self, without: Floats) -> Floats:
        """Return the bend: the regression of y on polynomials of the leave-one-out fit, (rows,); 0 if it may be chance.

        Class probabilities are a steep function of a sum, and steps a function of a product: no sum of few products has
        these shapes.
        """
        basis = _polynomials(self._y - without)
        basis -= self._mean(basis)[:, None]
        sizes, axes = np.linalg.eigh(self._gram(basis))
        some = sizes > SMALLEST_AXIS * max(float(sizes[-1]), TINY)
        basis = axes[:, some].T @ basis / np.sqrt(sizes[some])[:, None]
        slopes, n = self._mean(basis * without), int(some.sum())
        chance = float(self._mean(without**2)) / self._units
        found = float(slopes @ slopes)
        if found <= (n + LEAST_BEND * np.sqrt(2 * n)) * chance:
            return np.zeros_like(without)
        bend: Floats = (1 - n * chance / found) * slopes @ basis
        return bend

    def project(self, factors: dict[int, Functions]) -> Projection:
        """Return the residual of the fit given some factors."""
        if factors and self._functions.keys().isdisjoint(factors):
            return self._project_on_others(factors)
        parts: list[tuple[int, Product, int]] = []
        outside: dict[Product, int] = {}
        for k, functions in enumerate(self._products):
            rest = tuple(each for each in functions if each[0] not in factors)
            if rest:
                inside = tuple(each for each in functions if each[0] in factors)
                parts.append((k, inside, outside.setdefault(rest, len(outside))))
        if not parts:
            return NOTHING_LEFT
        basis = _predictors(factors, self._y.size)
        rests = self._regress(self._centred(list(outside)), basis)
        where = [k for k, _, _ in parts]
        columns = self._multiply(rests[[rest for _, _, rest in parts]], [inside for _, inside, _ in parts])
        covariance, coefficients = self._effects.covariance[np.ix_(where, where)], self._effects.coefficients[where]
        left = coefficients @ columns
        without = left - np.einsum("ij,ij->j", columns, self._change[where])
        spread = self._roughly(columns) @ covariance
        error = float(np.trace(spread))
        error -= 2 * self._effects.noise * float(self._effects.adaptivity[where].sum()) / self._size
        bend = self._bend
        if self.bend > 0 and factors:
            # Without the constant, which would distinguish the left-out row from the others where little is known.
            known = self._y - self.without - self._bend + self._change[-1] - without
            if self._mean(known**2) > LEAST_KNOWN * self._mean(self._fitted**2):
                basis = np.concatenate([basis, _polynomials(known)])
            bend = self._regress(bend[None], basis)[0]
        square = float(self._mean((left + bend) ** 2))
        quadratic = 2 * float(np.sum(spread * spread.T))
        return Projection(without + bend, error, square + error, quadratic, float(self._mean(bend**2)))

    def _project_on_others(self, factors: dict[int, Functions]) -> Projection:
        """Return the residual of the fit given factors that are not in it: its parts need not be separated."""
        fits = np.stack([self._fitted + self._bend, self._y - self.without])
        left, without = self._regress(fits - self._mean(fits)[:, None], _predictors(factors, self._y.size))
        error = self.error - 2 * self._effects.noise * float(self._effects.adaptivity.sum()) / self._size
        quadratic = 2 * float(np.sum(self._spread * self._spread.T))
        return Projection(without, error, float(self._mean(left**2)) + error, quadratic, self.bend)

    def _regress(self, values: Floats, basis: Floats) -> Floats:
        """Return leave-one-out residuals of ridge regressions of ``values`` on ``basis``, both (functions, rows).

        The penalty minimises generalised cross-validation; where even that explains no more than chance may, nothing is
        subtracted.
        """
        if len(basis) == 0:
            return values
        basis = basis - self._mean(basis)[:, None]
        if len(basis) > MOST_PROJECTED:
            related = np.abs(basis * self._weights @ values.T).max(axis=1)
            basis = basis[np.sort(np.argsort(-related, kind="stable")[:MOST_PROJECTED])]
        sizes, axes = np.linalg.eigh(self._gram(basis))
        some = sizes > SMALLEST_AXIS * max(float(sizes[-1]), 1.0)
        basis, sizes = axes[:, some].T @ basis, sizes[some]
        moments = values @ (basis * self._weights).T / self._size
        kept = sizes / (sizes + RIDGES[:, None])
        freedom = kept.sum(axis=1)
        total, counted = self._mean(values**2)[:, None], 1 - (1 - kept) ** 2
        found = moments**2 / sizes @ counted.T
        squares = (total - found) / np.maximum(1 - freedom / self._units, 0.05) ** 2
        squares[:, freedom > MOST_FREEDOM * self._units] = np.inf
        chance = counted.sum(axis=1) + LEAST_RELATED * np.sqrt(2 * (counted**2).sum(axis=1))
        best = np.argmin(squares, axis=1)
        best[(found * self._units <= total * chance)[np.arange(len(best)), best]] = len(RIDGES) - 1
        ridges, which = np.unique(best, return_inverse=True)
        times = kept[ridges] / sizes
        leverage = times @ basis**2 * (self._weights / self._units)
        own = np.sqrt(np.maximum(1 - leverage, 1 - MOST_OF_VALUE))[which]
        left: Floats = (values - times[which] * moments @ basis) / own
        return left


def _residuals_without_groups(terms: Floats, residuals: Floats, groups: Positions) -> Floats:
    """Return residuals, (rows,), from the fit without the group of each row.

    The fit is ``terms.T @ terms`` times y, with terms of shape (terms, rows). The leverage of a direction in which the
    fit follows a group almost exactly is capped: the other groups carry no information about it.
    """
    without = np.empty_like(residuals)
    order, sizes = np.argsort(groups, kind="stable"), np.bincount(groups)
    first = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes > 0]):  # groups of one size at a time, as one stack of matrices
        members = order[first[sizes == size][:, None] + np.arange(size)]
        axes, lengths, _ = np.linalg.svd(terms.T[members], full_matrices=False)
        own = residuals[members][:, :, None]
        more = 1 / (1 - np.minimum(lengths**2, MOST_LEVERAGE)) - 1
        without[members] = (own + axes @ (more[:, :, None] * (axes.swapaxes(1, 2) @ own)))[:, :, 0]
    return without


def _polynomials(values: Floats) -> Floats:
    """Return values and Legendre polynomials of their ranks, (polynomials, rows)."""
    ranks = 2 * (rankdata(values) - 0.5) / values.size - 1
    return np.concatenate([values[None], legendre.legvander(ranks, BENDS)[:, 1:].T])


def _predictors(factors: dict[int, Functions], n_rows: int) -> Floats:
    """Return functions of some factors and products of two, rough ones scaled down: (functions, rows)."""
    number = max(len(factors), 1)
    each = int(np.clip(max(PROJECTED // number, min(LEAST_EACH, MOST_PROJECTED // number)), 1, LEAST_ORDERS))
    some = [functions.first(each) for functions in factors.values()]
    scaled = [functions.values / functions.orders[:, None] for functions in some]
    products = [np.zeros((0, n_rows))]
    if 3 * comb(len(factors), 2) <= min(MOST_PRODUCTS, MOST_PRODUCT_SHARE * n_rows):
        for one, other in combinations(scaled, 2):
            products += [one[:1] * other[:2], one[1:2] * other[:1]]
    return np.concatenate([*scaled, *products])


def _blocks(products: Sequence[Product], functions: dict[int, Functions]) -> list[Block]:
    """Return the functions grouped by their factors; lines and contrasts of a single factor form their own block."""
    orders = [prod(functions[i].orders[a] for i, a in each) for each in products]
    members = defaultdict(list)
    for k, each in enumerate(products):
        members[len(each) == 1 and orders[k] <= 1, tuple(i for i, _ in each)].append(k)
    at = np.array(orders)
    return [Block(np.array(some), at[some], len(factors)) for (_, factors), some in members.items()]


def _first_products(functions: dict[int, Functions], budget: int) -> list[Product]:
    """Return functions of each factor, then products of two and three by sum of orders, within the budget."""
    sizes = {i: each.orders.size for i, each in functions.items()}
    most = int(np.clip(budget // (2 * max(len(sizes), 1)), 1, FIRST_ORDERS))
    found: list[Product] = [((i, a),) for i, each in functions.items() for a in range(each.first(most).orders.size)]
    for total in range(2, MOST_IN_PRODUCT):
        for n_factors in (2, 3):
            own = total - (n_factors - 2)  # products of three start one order later
            if own < n_factors or comb(len(sizes), n_factors) > budget:
                continue
            new = [each for some in combinations(sizes, n_factors) for each in _products(some, functions, own)]
            if new and len(found) + len(new) > budget:
                if total > 3:
                    return found
                continue
            found += new
    return found


def _second_products(
    functions: dict[int, Functions], worth_more: Sequence[tuple[int, ...]], budget: int
) -> list[Product]:
    """Return a few functions of every factor, and more of the sets worth it, smallest sums of orders first."""
    sizes = {i: each.orders.size for i, each in functions.items()}
    most = int(np.clip(budget // (2 * max(len(sizes), 1)), 1, SECOND_ORDERS))
    firsts = {i: each.first(most).orders.size for i, each in functions.items()}
    found: list[Product] = [((i, a),) for i, size in firsts.items() for a in range(size)]
    reached: dict[tuple[int, ...], int] = {(i,): size for i, size in firsts.items()}
    if comb(len(sizes), 2) <= budget // 2:
        for pair in combinations(sizes, 2):
            found += _products(pair, functions, 2)
            reached[pair] = 2
    waiting: list[tuple[float, tuple[int, ...], list[Product]]] = []

    def wait(factors: tuple[int, ...]) -> None:
        total = reached[factors] + 1
        limit = sizes[factors[0]] if len(factors) == 1 else MOST_IN_PRODUCT
        if total <= limit:
            heapq.heappush(
                waiting, (total / (2 if len(factors) == 1 else 1), factors, _products(factors, functions, total))
            )

    for factors in worth_more:
        reached.setdefault(factors, len(factors) - 1)
        wait(factors)
    while waiting:
        _, factors, new = heapq.heappop(waiting)
        if len(found) + len(new) <= budget:
            found += new
            reached[factors] += 1
            wait(factors)
    return found


def _products(factors: tuple[int, ...], functions: dict[int, Functions], total: int) -> list[Product]:
    """Return function number ``total``, from 1, of one factor, or products of several whose orders sum to ``total``.

    Of the many products of large categories, those of frequent levels are used.
    """
    if len(factors) == 1:
        return [((factors[0], total - 1),)] if total <= functions[factors[0]].orders.size else []
    *orders, last = (np.ceil(functions[i].orders).tolist() for i in factors)
    found = []
    for some in product(*(range(bisect_right(each, total - len(orders))) for each in orders)):
        rest = total - sum(each[a] for each, a in zip(orders, some, strict=True))
        found += [(*some, a) for a in range(bisect_left(last, rest), bisect_right(last, rest))]
    return [tuple(zip(factors, some, strict=True)) for some in sorted(found, key=sum)[:MOST_IN_BLOCK]]
