"""Dependence tree of the factors: those that explain each other best are merged first.

Factors are compared by the share of each that another one explains, 1 − E[Var(X_i | X_j)] / Var(X_i), for numbers and
categories alike. A factor is encoded as columns whose variances add up to 1: the ranks of a number, so that outliers
count no more than other rows; an indicator for each level of a category, and for missing values. One neighbour search
in a factor serves all other factors.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from ..data.design import Design
from ..data.encoding import is_missing
from ..inference.estimates import index_values
from ..inference.standard_errors import plug_in
from ..inference.targets import FactorSet, total_target
from ..neighbors.search import Search
from ..neighbors.strategy import Floats, spans
from ..results.sharing import Node, Tree
from ..results.uncertainty import SampleSize, Uncertainty
from ..variance.conditional import Variances
from ..variance.local_linear import LocalLinear
from ..variance.sampling import draw_fixed
from .constants import FEW_ROWS, LEAST_RELATED, MAX_LEAVES, MAX_LEVELS, MAX_ROWS, NEIGHBORS, ROUGHLY_RELATED, VERY_MANY

# Number of factors whose columns are in memory at a time.
FACTORS_AT_A_TIME = 256


class Dependence:
    """Shares of each other that the factors of one table explain."""

    def __init__(self, variances: Variances, most_rows: int = MAX_ROWS) -> None:
        search = variances.search
        rows = draw_fixed(search.design.n_rows, most_rows)
        # The response may be constant on these rows: factors explain factors.
        is_here = rows.size == search.design.n_rows and search.design.is_in_memory
        part = search if is_here else search.on_rows(rows, search.y[rows])
        self._search = Search(
            part.design,
            part.y,
            np.arange(part.design.n_rows),
            part.n_neighbors,
            part.workers,
            part.weights,
            part.groups,
        )

    def explained_by_each(self, factors: Sequence[int], others: Sequence[int]) -> Floats:
        """Return the share of each factor (row) that each of the others (column) explains, from 0 to 1."""
        parts = [self._explained(factors[span], others) for span in spans(len(factors), FACTORS_AT_A_TIME)]
        return np.vstack([np.zeros((0, len(others))), *parts])

    def _explained(self, factors: Sequence[int], others: Sequence[int]) -> Floats:
        """Compute the same for few factors, whose columns fit into memory."""
        columns = [_columns(self._search.design, i, self._search.weights) for i in factors]
        owner = np.repeat(np.arange(len(factors)), [block.shape[1] for block in columns])
        responses = np.hstack(columns)

        def explained_by(j: int) -> Floats:
            left = self._left(j, responses)
            return 1.0 - np.bincount(owner, left, minlength=len(factors)).astype(float)

        found = self._search.workers.map(explained_by, others)
        return np.clip(np.reshape(found, (len(others), len(factors))).T, 0.0, 1.0)

    def _left(self, factor: int, responses: Floats) -> Floats:
        """Return the residual variance of each response given a factor, of shape (responses,)."""
        if self._search.design.constant[factor]:  # on these rows
            return _variance(responses, self._search.weights)
        local = LocalLinear(self._search, (factor,), (NEIGHBORS,))
        squares = local.errors(responses, self._search.outer).values[0] ** 2
        left: Floats = np.average(squares, axis=0, weights=self._search.weights)
        return left


def _columns(design: Design, factor: int, weights: Floats | None) -> Floats:
    """Encode a factor as columns whose variances add up to 1, of shape (rows, columns); zeros if it is constant."""
    blocks = []
    for j in design.columns[factor]:
        column = design.column(j)
        if design.categorical[j]:
            blocks += _indicators(column)
            continue
        missing = is_missing(column)
        ranks = np.full(column.size, 0.5)
        ranks[~missing] = _ranks(column[~missing])
        blocks.append(ranks)
        if missing.any():
            blocks.append(missing.astype(float))
    columns = np.column_stack(blocks)
    variance = float(_variance(columns, weights).sum())
    return columns / np.sqrt(variance) if variance > 0 else np.zeros_like(columns)


def _variance(columns: Floats, weights: Floats | None) -> Floats:
    """Return the variance of each column, of shape (columns,)."""
    centred = columns - np.average(columns, axis=0, weights=weights)
    variance: Floats = np.average(centred**2, axis=0, weights=weights)
    return variance


def _ranks(values: Floats) -> Floats:
    """Return ranks from 0 to 1, of shape (rows,); equal values have the same rank."""
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    return ((np.cumsum(counts) - counts / 2) / values.size)[codes]


def _indicators(levels: Floats) -> list[Floats]:
    """Return an indicator of each level; the levels beyond the most frequent ones share one."""
    values, codes, counts = np.unique(levels, return_inverse=True, return_counts=True)
    if values.size > MAX_LEVELS:
        rank = np.argsort(np.argsort(-counts, kind="stable"))
        codes = np.minimum(rank, MAX_LEVELS - 1)[codes]
    return [(codes == code).astype(float) for code in range(min(values.size, MAX_LEVELS))]


def compare_factors(variances: Variances, kept: FactorSet, others: Sequence[int]) -> tuple[FactorSet, Floats]:
    """Return the selected factors and those related to them, and the share of each (row) that each (column) explains.

    Factors are sorted positions in the table. If very many factors were left out, a first comparison on few rows
    excludes most of them.
    """
    if not kept:
        return (), np.zeros((0, 0))
    if len(others) > VERY_MANY:
        rough = Dependence(variances, FEW_ROWS).explained_by_each(others, kept).max(axis=1)
        others = [i for i, related in zip(others, rough.tolist(), strict=True) if related >= ROUGHLY_RELATED]
    dependence = Dependence(variances)
    by_selected = dependence.explained_by_each([*kept, *others], kept)
    related = by_selected[len(kept) :].max(axis=1, initial=0.0)
    order = np.argsort(-related, kind="stable")[: max(MAX_LEAVES - len(kept), 0)].tolist()
    added = [k for k in order if related[k] >= LEAST_RELATED]
    leaves = [*kept, *(others[k] for k in added)]
    rows = [*range(len(kept)), *(len(kept) + k for k in added)]
    matrix = np.hstack([by_selected[rows], dependence.explained_by_each(leaves, leaves[len(kept) :])])
    sorting = np.argsort(leaves)
    return tuple(sorted(leaves)), matrix[np.ix_(sorting, sorting)]


def merge(leaves: FactorSet, matrix: Floats) -> Iterator[tuple[tuple[int, int], FactorSet, float]]:
    """Yield the children, the factors and the dependence of each node of the tree.

    The dependence of two factors is the mean of both directions, that of two sets the mean over all pairs (average
    linkage; scipy has it too, but takes longer to import than a small fit).
    """
    alike = (matrix + matrix.T) / 2
    np.fill_diagonal(alike, -np.inf)
    below: list[FactorSet] = [(i,) for i in leaves]
    number = list(range(len(leaves)))  # number of the node that each row of the matrix represents
    for _ in leaves[1:]:
        a, b = sorted(divmod(int(np.argmax(alike)), len(leaves)))
        children, height = (number[a], number[b]), float(alike[a, b])
        sizes = np.array([len(below[child]) for child in children], dtype=float)
        alike[a] = alike[:, a] = sizes @ alike[[a, b]] / sizes.sum()
        alike[a, a], alike[b], alike[:, b] = -np.inf, -np.inf, -np.inf
        below.append((*below[children[0]], *below[children[1]]))
        number[a] = len(below) - 1
        yield children, below[-1], height


def grow_tree(
    variances: Variances, kept: FactorSet, leaves: FactorSet, matrix: Floats, size: SampleSize
) -> tuple[Tree, Uncertainty] | None:
    """Return the dependence tree with the joint total index of each node, and its uncertainty; None without a node.

    The uncertainty is that of the joint indices, followed by that of the total index of each selected factor. The loss
    without all factors below a node is that without the selected ones among them: the others add nothing to these.
    """
    merged = list(merge(leaves, matrix))
    if not merged:
        return None
    rests = [tuple(i for i in kept if i not in below) for _, below, _ in merged]
    target = total_target(kept, [*rests, *(tuple(j for j in kept if j != i) for i in kept)])
    sure = plug_in(variances, target, size)
    joints = np.maximum(index_values(variances, target), 0.0)
    nodes = tuple(
        Node(children, below, height, joint, error)
        for (children, below, height), joint, error in zip(
            merged, joints.tolist(), sure.standard_errors.tolist(), strict=False
        )
    )
    return Tree(variances.design.names, leaves, nodes, matrix), sure
