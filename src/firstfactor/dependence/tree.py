"""Dependence tree of the factors: those that explain each other best are merged first."""

from collections.abc import Iterator, Sequence

import numpy as np

from ..inference.estimates import index_values
from ..inference.standard_errors import plug_in
from ..inference.targets import FactorSet, total_target
from ..neighbors.strategy import Floats
from ..results.sharing import Node, Tree
from ..results.uncertainty import SampleSize, Uncertainty
from ..variance.conditional import Variances
from .constants import FEW_ROWS, LEAST_RELATED, MAX_LEAVES, ROUGHLY_RELATED, VERY_MANY
from .matrix import Dependence


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
