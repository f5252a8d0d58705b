"""Shared information of the factors of a result: shares alone, the dependence tree, clusters and exchanges.

Clusters are cut from the tree. By default a node is a cluster if any one of its factors can replace all of them: with
this one in their place, the selected factors keep at least `LEAST_KEPT` of the joint loss without all of them. Where no
node is, the selected factors below a node are a cluster if removing any one costs far less than its share: its total
index is below `FAR_BELOW` times the joint index divided by their number. Then several of them are needed, but none in
particular.

A given cut takes every node whose factors explain at least this share of each other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..inference.estimates import estimate
from ..inference.targets import FactorSet, closed_target, total_target
from ..results.constants import LEAST_DEPENDENCE, LEAST_KEPT, LEVEL, WEAK
from ..results.estimates import Estimates, margin
from ..results.indices import Indices
from ..results.sharing import Cluster, Exchange, Node, Sharing, Tree
from ..results.uncertainty import SampleSize, Uncertainty
from ..variance.conditional import ROUNDING, Variances
from .constants import FAR_BELOW, MOST_ALONE, TIE_DIGITS
from .tree import compare_factors, grow_tree


def find_sharing(variances: Variances, kept: FactorSet, size: SampleSize, cut: float | str) -> Sharing:
    """Analyse the information that the selected factors share with each other and with factors related to them.

    ``cut`` is the share of each other that the factors of a cluster explain, or "auto".
    """
    kept = tuple(sorted(i for i in kept if not variances.design.constant[i]))  # if selected on other rows
    leaves, matrix = compare_factors(variances, kept, [i for i in variances.design.varying if i not in kept])
    grown = grow_tree(variances, kept, leaves, matrix, size)  # first, while the sets that it needs are still cached
    alone = explain_alone(variances, kept, leaves, size)
    if grown is None:
        return Sharing(alone)
    cutter = Cutter(variances, kept, *grown, None if isinstance(cut, str) else cut)
    return Sharing(alone, cutter.clusters(), grown[0], cutter.exchanges(size))


def add_sharing(variances: Variances, indices: Indices, cut: float | str | None) -> Indices:
    """Add shared information to a result on all factors, if it has standard errors and ``cut`` is not None."""
    if cut is None or indices.uncertainty is None:
        return indices
    sharing = find_sharing(variances, variances.design.varying, indices.sample_size, cut)
    return replace(indices, sharing=sharing)


def explain_alone(variances: Variances, kept: FactorSet, leaves: FactorSet, size: SampleSize) -> Estimates:
    """Estimate the share of the variance explained by the selected factors that each factor explains by itself.

    Factors that explain little and are not in the tree have no standard error. Their shares are estimated from nearest
    rows, which are close in a single factor.
    """
    design, variance = variances.design, variances.response.variance
    values, unknown = np.zeros(design.n_factors), np.full(design.n_factors, np.nan)
    explained = variance - variances.of(kept)
    if explained <= variances.tolerance:  # shares of nothing are undefined
        return Estimates(unknown, unknown, unknown, unknown)
    varying = list(design.varying)
    values[varying] = (variance - variances.search.plus_each((), varying)) / explained
    most = np.argsort(-values, kind="stable")[:MOST_ALONE].tolist()
    looked_at = [i for i in varying if i in {*leaves, *most}]
    found = estimate(variances, closed_target(kept, [(i,) for i in looked_at]), size)
    values[looked_at] = found.values
    return found.expand(design.n_factors, looked_at, np.clip(values, 0.0, 1.0))


# --- clusters and exchanges -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cutter:
    """Cut of a dependence tree, some of whose factors are selected, into clusters."""

    variances: Variances
    selected: FactorSet
    tree: Tree
    sure: Uncertainty
    """Uncertainty of the joint index of each node, then of the total index of each selected factor."""
    cut: float | None
    """Share of each other that the factors of a cluster must explain; None for the criteria of this module."""

    def clusters(self) -> tuple[Cluster, ...]:
        """Return the largest clusters, in order of decreasing joint index."""
        found = self._cut(self._any_will_do, frozenset())
        if self.cut is None:
            found += self._cut(self._are_missed_little, frozenset(i for each in found for i in each.positions))
        return tuple(sorted(found, key=lambda cluster: -cluster.joint))

    def _cut(self, look: Callable[[int], dict[int, float]], taken: frozenset[int]) -> list[Cluster]:
        """Return the largest nodes without ``taken`` factors for which ``look`` returns the shares that are kept."""
        found, leaves = [], len(self.tree.leaves)
        waiting = [len(self.tree.nodes) - 1] if self.tree.nodes else []
        while waiting:
            number = waiting.pop()
            node = self.tree.nodes[number]
            kept = look(number) if taken.isdisjoint(node.positions) and self._may_be_cluster(number) else {}
            if kept:
                found.append(self._make(number, kept))
            else:
                waiting += [child - leaves for child in node.children if child >= leaves]
        return found

    def _may_be_cluster(self, number: int) -> bool:
        """Return True if a node has a selected factor, and is significant or reaches the given cut."""
        node = self.tree.nodes[number]
        if self.cut is not None:
            return node.dependence >= self.cut and not set(node.positions).isdisjoint(self.selected)
        return bool(self.sure.p_values[number] <= WEAK) and not set(node.positions).isdisjoint(self.selected)

    def _any_will_do(self, number: int) -> dict[int, float]:
        """Return the share that each factor of a node keeps in place of all, if each keeps enough; otherwise empty."""
        node = self.tree.nodes[number]
        if self.cut is not None:
            return self._keep(node, 0.0)
        return self._keep(node, LEAST_KEPT) if node.dependence >= LEAST_DEPENDENCE else {}

    def _keep(self, node: Node, least: float) -> dict[int, float]:
        """Return the share that each factor of a node keeps in place of all; empty if any is below ``least``."""
        kept: dict[int, float] = {}
        order, at_a_time = self._weakest_first(node), self.variances.search.workers.count
        for k, i in enumerate(order):
            if k % at_a_time == 0:
                self._look_at(node.positions, order[k : k + at_a_time])
            kept[i] = self.keeps(node.positions, i)
            if kept[i] < least:
                return {}
        return kept

    def _look_at(self, members: FactorSet, factors: Sequence[int]) -> None:
        """Find what `keeps` needs for several factors at once, with all threads."""
        rest = [i for i in self.selected if i not in members]
        self.variances.search.workers.map(self.variances.of, [[*rest, i] for i in factors])

    def _are_missed_little(self, number: int) -> dict[int, float]:
        """Return the share that each selected factor of a node keeps, if each total index is far below its share.

        All selected factors together are not a cluster, because they are all there is.
        """
        node = self.tree.nodes[number]
        some = tuple(i for i in node.positions if i in self.selected)
        if len(some) < 2 or len(some) == len(self.selected):
            return {}
        least = self.variances.of(self.selected)
        explained = max(self.variances.response.variance - least, self.variances.tolerance)
        totals = dict(zip(self.selected, (self.variances.minus_each(self.selected) - least) / explained, strict=True))
        if any(totals[i] >= FAR_BELOW * node.joint / len(some) for i in some):
            return {}
        self._look_at(some, some)
        return {i: self.keeps(some, i) for i in some}

    def _make(self, number: int, kept: dict[int, float]) -> Cluster:
        node = self.tree.nodes[number]
        order = sorted(kept, key=lambda i: (-round(kept[i], TIE_DIGITS), i not in self.selected, i))
        return Cluster(
            factors=tuple(self.tree.names[i] for i in order),
            joint=node.joint,
            standard_error=node.standard_error,
            bias=float(self.sure.bias[number]),
            kept=tuple(kept[i] for i in order),
            dependence=node.dependence,
            positions=tuple(order),
        )

    def _weakest_first(self, node: Node) -> list[int]:
        """Sort the factors of a node, those that explain the others least first: they fail first."""
        rows = {i: row for row, i in enumerate(self.tree.leaves)}
        members = [rows[i] for i in node.positions]
        explains = self.tree.dependence[np.ix_(members, members)].mean(axis=0)
        return [node.positions[m] for m in np.argsort(explains, kind="stable").tolist()]

    def keeps(self, members: FactorSet, factor: int) -> float:
        """Return the share of the joint loss without all members that one factor keeps, from 0 to 1."""
        rest = [i for i in self.selected if i not in members]
        least, most = self.variances.of(self.selected), self.variances.of(rest)
        instead = self.variances.of([*rest, factor])
        if min(most, instead) - least <= self.variances.tolerance:
            return 1.0
        return float(np.clip((most - instead) / (most - least), 0.0, 1.0))

    def exchanges(self, size: SampleSize) -> dict[int, Exchange]:
        """Return the exchange of each factor left out with the selected factor that it comes closest to replacing."""
        columns = [column for column, i in enumerate(self.tree.leaves) if i in self.selected]
        mutual = ((self.tree.dependence + self.tree.dependence.T) / 2)[:, columns]
        rows = [row for row, i in enumerate(self.tree.leaves) if i not in self.selected]
        others = [self.tree.leaves[row] for row in rows]
        replaced = [self.tree.leaves[columns[int(np.argmax(mutual[row]))]] for row in rows]
        return {
            other: Exchange(selected, cost, self.keeps((selected,), other), dependence, self._adds_something(selected))
            for other, selected, cost, dependence in zip(
                others, replaced, self._costs(others, replaced, size), mutual[rows].max(axis=1).tolist(), strict=True
            )
        }

    def _costs(self, others: list[int], replaced: list[int], size: SampleSize) -> list[float]:
        """Return an upper limit of the share that is lost if each of the others replaces a selected factor."""
        pairs = zip(others, replaced, strict=True)
        insteads = [(*(i for i in self.selected if i != selected), other) for other, selected in pairs]
        lost = estimate(self.variances, total_target(self.selected, insteads), size)
        costs = lost.values + margin(LEVEL, lost.standard_errors, 0.0)  # similar sets have about the same bias
        return [min(cost, 1.0) if cost > ROUNDING else 0.0 for cost in costs.tolist()]

    def _adds_something(self, selected: int) -> bool:
        """Return True if a selected factor significantly adds something."""
        return bool(self.sure.p_values[len(self.tree.nodes) + self.selected.index(selected)] <= WEAK)
