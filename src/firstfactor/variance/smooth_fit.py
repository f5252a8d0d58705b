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
from functools import partial
from itertools import combinations, product
from math import comb, prod
from typing import NamedTuple

import numpy as np
from numpy.polynomial import legendre
from scipy.stats import rankdata

from .._utils.threads import Workers
from ..data.encoding import TINY_IN_SINGLE
from ..neighbors.strategy import Floats, Positions
from .basis import Functions
from .constants import (
    BENDS,
    ENOUGH_FUNCTIONS,
    ENOUGH_ROWS,
    FEWEST_FUNCTIONS,
    FIRST_ORDERS,
    FUNCTIONS_PER_LINE,
    FUNCTIONS_PER_ROW,
    LEAST_BEND,
    LEAST_EACH,
    LEAST_KNOWN,
    LEAST_OF_BLOCK,
    LEAST_ORDERS,
    MAX_LEVERAGE_OF_FIT,
    MOST_ALIKE,
    MOST_FUNCTIONS,
    MOST_IN_BLOCK,
    MOST_IN_PRODUCT,
    MOST_PRODUCT_SHARE,
    MOST_PRODUCTS,
    MOST_PROJECTED,
    PROJECTED,
    ROUNDS,
    SECOND_ORDERS,
)
from .local_linear import intraclass_correlation
from .random_effects import Block, shrink
from .ridge import SMALLEST_AXIS, Ridge, Rows

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


ALL = slice(None)

NOTHING_LEFT = Projection(np.zeros(1), 0.0, 0.0, 0.0, 0.0)


class _Terms(NamedTuple):
    """Products of functions, those of few functions first."""

    values: Floats
    """Values of the functions, (functions, rows)."""
    size: int
    factors: list[tuple[int, Positions]]
    """For the first, second and third function of a product: the first product with so many, and the functions."""

    def multiply(self, columns: Floats | None, rows: slice) -> Floats:
        """Return the products at some rows, or columns, (products, rows), multiplied in place by them."""
        for start, functions in self.factors:
            if columns is None:
                columns = self.values[functions, rows]
            else:
                columns[start:] *= self.values[functions, rows]
        return np.ones((self.size, self.values[:0, rows].shape[1])) if columns is None else columns


class _Stack:
    """Values of all functions in some products, in one matrix."""

    def __init__(self, products: Sequence[Product], functions: dict[int, Functions]) -> None:
        used = sorted({each for some in products for each in some})
        n_rows = next(iter(functions.values())).values.shape[1] if functions else 0
        self._values = np.array([functions[i].values[a] for i, a in used]).reshape(len(used), n_rows)
        self._number = {each: k for k, each in enumerate(used)}

    def index(self, products: Sequence[Product]) -> _Terms:
        """Return products that are sorted by their number of functions, to be evaluated at any rows."""
        factors, lengths = [], [len(each) for each in products]
        for k in range(max(lengths, default=0)):
            start = bisect_right(lengths, k)
            factors.append((start, np.array([self._number[each[k]] for each in products[start:]])))
        return _Terms(self._values, len(products), factors)


class SmoothFit:
    """Smooth fit to one response, (rows,); rows of a group are left out together.

    Weights are scaled to sum to the effective number of rows: the more they differ, the fewer rows they are worth.
    Effects that rows of a group share beyond the fit are partly removed, as in generalised least squares with a random
    effect for each group.
    """

    def __init__(
        self,
        functions: dict[int, Functions],
        y: Floats,
        weights: Floats | None,
        groups: Positions | None,
        workers: Workers,
    ) -> None:
        self._functions, self._workers = functions, workers
        scaled = np.ones(y.size) if weights is None else weights * (weights.sum() / (weights @ weights))
        size = float(scaled.sum())
        units = size if groups is None else min(size, np.unique(groups).size)
        self._rows = Rows(scaled, weights is not None, size, units)
        self._step = -(-y.size // ENOUGH_ROWS)
        self._groups, self._alike = groups, 0.0
        self._y = y - self._mean(y)
        n_lines = sum(int((each.orders <= 1).sum()) for each in functions.values())
        wanted = np.clip(FUNCTIONS_PER_LINE * n_lines, ENOUGH_FUNCTIONS, MOST_FUNCTIONS)
        budget = int(min(wanted, max(FUNCTIONS_PER_ROW * units, FEWEST_FUNCTIONS)))
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
        chosen = 1 + 2 * float(self._effects.adaptivity.sum()) / size
        self.squares: Floats = (residuals - self._bend) * self.without * chosen
        """Squared error of each row; its mean is the noise variance, also under heteroscedasticity."""
        self._fitted = self._y - residuals
        self._spread = self._roughly(self._means) @ self._effects.covariance
        self.error = float(np.trace(self._spread))
        """Mean squared error of the fit, as estimated by the fit."""

    def _fit(self, products: list[Product], rounds: int) -> None:
        products.sort(key=len)
        self._stack = _Stack(products, self._functions)
        means, gram, moments, square = self._add_up(products)
        found = shrink(gram, moments, square, self._rows.size, _blocks(products, self._functions), rounds)
        self._products, self._means = [products[k] for k in found.active], means[found.active]
        self._effects = found

    def _add_up(self, products: Sequence[Product]) -> tuple[Floats, Floats, Floats, float]:
        """Return the means of products of functions, and their sums of products with each other, with y, and of y.

        Errors in these sums are uncorrelated and have equal variances.
        """
        if self._groups is not None:
            columns = self._columns(products)
            means = self._mean(columns)
            columns -= means[:, None]
            columns, y = self._decorrelate(columns), self._decorrelate(self._y)
            return means, columns @ columns.T, columns @ y, float(y @ y)
        some, terms = slice(None, None, self._step), self._stack.index(products)
        thinned = terms.multiply(None, some)
        near = thinned @ self._rows.weights[some] / self._rows.weights[some].sum()
        blocks = self._rows.blocks(len(products) // 4)

        def add(rows: slice) -> tuple[Floats, Floats, Floats]:
            columns = terms.multiply(None, rows) if thinned.shape[1] < self._y.size or len(blocks) > 1 else thinned
            columns -= near[:, None]
            sums, y = columns @ self._rows.weights[rows], self._y[rows] * self._rows.weights[rows]
            moments = columns @ y
            if self._rows.is_weighted:
                columns *= np.sqrt(self._rows.weights[rows])
            return sums, columns @ columns.T, moments

        parts = self._workers.map(add, blocks)
        sums, gram, moments = (sum(each[1:], start=each[0]) for each in zip(*parts, strict=True))
        gram -= np.outer(sums, sums / self._rows.size)  # as if centred by the means of all rows
        return near + sums / self._rows.size, gram, moments, float(self._y**2 @ self._rows.weights)

    def _columns(self, products: Sequence[Product], rows: slice = ALL) -> Floats:
        """Return products of functions at some rows, (products, rows)."""
        return self._stack.index(products).multiply(None, rows)

    def _mean(self, rows: Floats) -> Floats:
        """Return the weighted mean over rows, the last axis."""
        return self._rows.mean(rows)

    def _roughly(self, centre: Floats | float = 0.0) -> Floats:
        """Return the mean products of the functions of the fit, minus a centre, over a subset of the rows."""
        some = slice(None, None, self._step)
        columns = self._columns(self._products, some)
        columns -= np.reshape(centre, (-1, 1))
        return self._mean_products(columns)

    def _mean_products(self, columns: Floats) -> Floats:
        """Return the mean products of columns, given at every ``step``-th row, with each other."""
        weights = self._rows.weights[:: self._step]
        if self._rows.is_weighted:
            columns = columns * np.sqrt(weights)
        gram: Floats = columns @ columns.T / weights.sum()
        return gram

    def _decorrelate(self, columns: Floats) -> Floats:
        """Return columns, (…, rows), transformed so that errors are uncorrelated and have equal variances."""
        if self._groups is not None and self._alike > 0:
            sizes = np.bincount(self._groups)
            share = 1 - np.sqrt((1 - self._alike) / (1 - self._alike + sizes * self._alike))
            columns = columns - self._sum_in_groups(columns) * (share / np.maximum(sizes, 1))[self._groups]
        decorrelated: Floats = columns * np.sqrt(self._rows.weights)
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
        gram, sizes = self._roughly(), {}
        second = np.outer(found.coefficients, found.coefficients) + found.covariance
        for factors, some in members.items():
            own = np.ix_(some, some)
            sizes[factors] = float(np.sum(gram[own] * second[own]))
        explained = max(float(self._mean(self._y**2)) - found.noise, 0.0)
        return [factors for factors, size in sizes.items() if size > LEAST_OF_BLOCK * explained]

    def _leave_out(self) -> tuple[Floats, Floats, Floats]:
        """Return residuals, leave-one-out residuals, and the change of the coefficients due to each row or group.

        The change, (functions and the constant, rows), is the fit minus the fit without the row or group.
        """
        if self._groups is not None:
            return self._leave_groups_out(self._groups)
        found, n, terms = self._effects, self._y.size, self._stack.index(self._products)
        inverse, change = found.covariance / found.noise, np.empty((len(self._products) + 1, n))
        residuals, without = np.empty(n), np.empty(n)

        def leave_out(rows: slice) -> None:
            columns, weights = terms.multiply(None, rows), self._rows.weights[rows]
            columns -= self._means[:, None]
            residuals[rows] = self._y[rows] - found.coefficients @ columns
            changed, constant = np.matmul(inverse, columns, out=change[:-1, rows]), 1 / self._rows.size
            leverage = weights * (np.einsum("ij,ij->j", columns, changed) + constant)
            times = weights * residuals[rows] / (1 - np.minimum(leverage, MAX_LEVERAGE_OF_FIT))
            changed *= times
            change[-1, rows] = constant * times
            without[rows] = residuals[rows] + np.einsum("ij,ij->j", columns, changed) + change[-1, rows]

        self._workers.map(leave_out, self._rows.blocks(len(change)))
        return residuals, without, change

    def _leave_groups_out(self, groups: Positions) -> tuple[Floats, Floats, Floats]:
        """Return the same if rows of a group are left out together."""
        found, columns = self._effects, self._columns(self._products)
        columns -= self._means[:, None]
        residuals = self._y - found.coefficients @ columns
        columns = np.concatenate([columns, np.ones((1, residuals.size))])
        decorrelated, without = self._decorrelate(columns), self._decorrelate(residuals)
        covariance = np.zeros((len(columns), len(columns)))
        covariance[:-1, :-1] = found.covariance / found.noise
        covariance[-1, -1] = 1 / (decorrelated[-1] @ decorrelated[-1])
        terms = np.linalg.cholesky(covariance).T @ decorrelated
        without = _residuals_without_groups(terms, without, groups)
        change = covariance @ self._sum_in_groups(decorrelated * without)
        return residuals, residuals + np.einsum("ij,ij->j", columns, change), change

    def _find_bend(self, without: Floats) -> Floats:
        """Return the bend: the regression of y on polynomials of the leave-one-out fit, (rows,); 0 if it may be chance.

        Class probabilities are a steep function of a sum, and steps a function of a product: no sum of few products has
        these shapes.
        """
        basis = _polynomials(self._y - without)
        basis -= self._mean(basis)[:, None]
        sizes, axes = np.linalg.eigh(self._rows.gram(basis))
        some = sizes > SMALLEST_AXIS * max(float(sizes[-1]), TINY_IN_SINGLE)
        basis = axes[:, some].T @ basis / np.sqrt(sizes[some])[:, None]
        slopes, n = self._mean(basis * without), int(some.sum())
        chance = float(self._mean(without**2)) / self._rows.units
        found = float(slopes @ slopes)
        if found <= (n + LEAST_BEND * np.sqrt(2 * n)) * chance:
            return np.zeros_like(without)
        bend: Floats = (1 - n * chance / found) * slopes @ basis
        return bend

    def project(self, factors: dict[int, Functions]) -> Projection:
        """Return the residual of the fit given some factors."""
        if factors and self._functions.keys().isdisjoint(factors):
            return self._project_on_others(factors)
        parts: list[tuple[Product, Product, int]] = []
        for k, functions in enumerate(self._products):
            outside = tuple(each for each in functions if each[0] not in factors)
            if outside:
                parts.append((tuple(each for each in functions if each[0] in factors), outside, k))
        if not parts:
            return NOTHING_LEFT
        parts.sort(key=lambda part: len(part[0]))
        where = [k for _, _, k in parts]
        rests = sorted(dict.fromkeys(outside for _, outside, _ in parts), key=len)
        number = {rest: k for k, rest in enumerate(rests)}
        of_rest = np.array([number[outside] for _, outside, _ in parts])
        inside = self._stack.index([each for each, _, _ in parts])
        basis = self._predictors(factors)
        gram = self._rows.gram(basis) if len(basis) <= MOST_PROJECTED else None
        regression = Ridge(self._rows, partial(self._stack.index(rests).multiply, None), len(rests), basis, gram)
        covariance, coefficients = self._effects.covariance[np.ix_(where, where)], self._effects.coefficients[where]
        left, without = np.empty((2, self._y.size))
        some = np.empty((len(parts), -(-self._y.size // self._step)))
        for rows in self._rows.blocks(len(parts), self._step):
            columns = inside.multiply(regression.left(rows)[of_rest], rows)
            left[rows] = coefficients @ columns
            without[rows] = left[rows] - np.einsum("ij,ij->j", columns, self._change[where, rows])
            first = rows.start // self._step
            thinned = columns[:, :: self._step]
            some[:, first : first + thinned.shape[1]] = thinned
        spread = self._mean_products(some) @ covariance
        error = float(np.trace(spread))
        error -= 2 * self._effects.noise * float(self._effects.adaptivity[where].sum()) / self._rows.size
        bend = self._bend
        if self.bend > 0 and factors:
            # Without the constant, which would distinguish the left-out row from the others where little is known.
            known = self._y - self.without - self._bend + self._change[-1] - without
            if self._mean(known**2) > LEAST_KNOWN * self._mean(self._fitted**2):
                more = _polynomials(known)
                more -= self._mean(more)[:, None]
                basis = np.concatenate([basis, more])
                gram = self._extend(gram, basis, more)
            bend = self._regress(bend[None], basis, gram)[0]
        square = float(self._mean((left + bend) ** 2))
        quadratic = 2 * float(np.sum(spread * spread.T))
        return Projection(without + bend, error, square + error, quadratic, float(self._mean(bend**2)))

    def _project_on_others(self, factors: dict[int, Functions]) -> Projection:
        """Return the residual of the fit given factors that are not in it: its parts need not be separated."""
        fits = np.stack([self._fitted + self._bend, self._y - self.without])
        left, without = self._regress(fits, self._predictors(factors))
        error = self.error - 2 * self._effects.noise * float(self._effects.adaptivity.sum()) / self._rows.size
        quadratic = 2 * float(np.sum(self._spread * self._spread.T))
        return Projection(without, error, float(self._mean(left**2)) + error, quadratic, self.bend)

    def _predictors(self, factors: dict[int, Functions]) -> Floats:
        """Return the functions that others are regressed on, with means 0."""
        basis = _predictors(factors, self._y.size)
        basis -= self._mean(basis)[:, None]
        return basis

    def _extend(self, gram: Floats | None, basis: Floats, more: Floats) -> Floats | None:
        """Return the mean products of a basis that ends with ``more``, given those of the others, if known."""
        if gram is None:
            return None
        new = basis @ (more * self._rows.weights).T / self._rows.size
        return np.block([[gram, new[: len(gram)]], [new.T]])

    def _regress(self, values: Floats, basis: Floats, gram: Floats | None = None) -> Floats:
        """Return leave-one-out residuals of ridge regressions of ``values`` on ``basis``, both (functions, rows)."""
        return Ridge(self._rows, lambda rows: values[:, rows].copy(), len(values), basis, gram).left_everywhere()


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
        more = 1 / (1 - np.minimum(lengths**2, MAX_LEVERAGE_OF_FIT)) - 1
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
