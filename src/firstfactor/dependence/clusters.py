"""Clusters: factors that stand in for each other, cut from the tree.

By default a node is a cluster if any one of its factors can stand in for all of them: with this one in their place, the
selected factors keep at least `LEAST_KEPT` of what all of them lose together. The total index of each is then far below
its share of the joint one. A given cut takes every node whose factors explain each other at least as well as that.
"""

from dataclasses import dataclass

import numpy as np

from ..inference.targets import FactorSet
from ..results.sharing import Cluster, Exchange, Node, Tree
from ..results.uncertainty import Uncertainty
from ..variance.conditional import Variances

# What any factor of a cluster keeps in place of all of them.
LEAST_KEPT = 0.75

# Factors that explain less of each other are no cluster, whatever they keep.
LEAST_DEPENDENCE = 0.3

# How sure it must be that a cluster adds something: what is kept of nothing can be anything.
MAX_P_VALUE = 0.05


@dataclass(frozen=True)
class Cutter:
    """Cuts a tree of factors, some of which are selected, into clusters."""

    variances: Variances
    kept: FactorSet
    tree: Tree
    sure: Uncertainty
    """Of the joint index of each node."""
    cut: float | None
    """How well the factors of a cluster must explain each other; None looks at what they keep."""

    def clusters(self) -> tuple[Cluster, ...]:
        """The largest clusters, those whose joint index is largest first."""
        found, number = [], len(self.tree.nodes) - 1
        waiting = [number] if self.tree.nodes else []
        while waiting:
            number = waiting.pop()
            cluster = self._as_cluster(number)
            if cluster is not None:
                found.append(cluster)
                continue
            leaves = len(self.tree.leaves)
            waiting += [child - leaves for child in self.tree.nodes[number].children if child >= leaves]
        return tuple(sorted(found, key=lambda cluster: -cluster.joint))

    def _as_cluster(self, number: int) -> Cluster | None:
        node = self.tree.nodes[number]
        if not set(node.positions) & set(self.kept):
            return None
        least = 0.0 if self.cut is not None else LEAST_KEPT
        if node.dependence < (LEAST_DEPENDENCE if self.cut is None else self.cut):
            return None
        if self.cut is None and not self.sure.p_values[number] <= MAX_P_VALUE:
            return None
        kept = {}
        for i in self._weakest_first(node):
            kept[i] = self.keeps(node.positions, i)
            if kept[i] < least:
                return None
        order = sorted(kept, key=lambda i: (-kept[i], i not in self.kept, i))
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
        """The factors of a node, first those that explain the others least: they are the first to fail."""
        rows = {i: row for row, i in enumerate(self.tree.leaves)}
        members = [rows[i] for i in node.positions]
        explains = self.tree.dependence[np.ix_(members, members)].mean(axis=0)
        return [node.positions[m] for m in np.argsort(explains, kind="stable").tolist()]

    def keeps(self, members: FactorSet, factor: int) -> float:
        """The share of what is lost without all members that one of them keeps, from 0 to 1."""
        rest = [i for i in self.kept if i not in members]
        least, most = self.variances.of(self.kept), self.variances.of(rest)
        if most - least <= self.variances.tolerance:
            return 1.0
        return float(np.clip((most - self.variances.of([*rest, factor])) / (most - least), 0.0, 1.0))

    def exchanges(self) -> dict[int, Exchange]:
        """For each factor of the tree that was left out, which selected one it comes closest to replacing."""
        columns = [column for column, i in enumerate(self.tree.leaves) if i in self.kept]
        mutual = (self.tree.dependence + self.tree.dependence.T) / 2
        found = {}
        for row, i in enumerate(self.tree.leaves):
            if i not in self.kept:
                found[i] = self._exchange(self.tree.leaves[columns[int(np.argmax(mutual[row, columns]))]], i)
        return found

    def _exchange(self, selected: int, other: int) -> Exchange:
        """What happens if a factor takes the place of a selected one."""
        explained = max(self.variances.response.variance - self.variances.of(self.kept), self.variances.tolerance)
        instead = [*(i for i in self.kept if i != selected), other]
        cost = (self.variances.of(instead) - self.variances.of(self.kept)) / explained
        return Exchange(selected, float(np.clip(cost, 0.0, 1.0)), self.keeps((selected,), other))
