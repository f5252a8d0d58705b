"""Shared information: the share that each factor explains alone, and factors that can replace each other."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .._utils import frames
from .._utils.checks import warn_user
from .constants import LEAST_DEPENDENCE, LEAST_KEPT
from .estimates import Estimates, margin


@dataclass(frozen=True)
class Cluster:
    """Factors that share information, so that removing any one costs less than its share of what all of them add.

    See Also
    --------
    FIRST : Selector that has these objects as ``clusters_``.
    Tree : Dependence tree from which clusters are cut.

    Examples
    --------
    >>> import numpy as np
    >>> from firstfactor import FIRST
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 3))
    >>> X[:, 2] = X[:, 1] + 0.1 * X[:, 2]  # nearly the same as the one before
    >>> y = X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=1000)
    >>> cluster = FIRST(rule="calibrated", random_state=0).fit(X, y).clusters_[0]
    >>> cluster.factors, round(cluster.joint, 1)
    (('x1', 'x2'), 0.5)
    """

    factors: tuple[str, ...]
    """Names of the factors: the representative first, then the others, the best replacement first."""
    joint: float
    """Joint total index: the share of the explained variance that is lost without all of them."""
    standard_error: float
    """Standard error of the joint index."""
    bias: float
    """Possible bias of the joint index because neighbours are at a distance."""
    kept: tuple[float, ...]
    """Share of the joint index that each factor keeps if it replaces all of them, from 0 to 1."""
    dependence: float
    """Share of each other that the factors explain, from 0 to 1: the height of their node in the tree."""
    positions: tuple[int, ...]
    """Positions of the factors in the table."""

    @property
    def interchangeable(self) -> bool:
        """True if any one of the factors can replace all of them; otherwise several are needed."""
        return min(self.kept) >= LEAST_KEPT

    @property
    def any_will_do(self) -> bool:
        """Deprecated name of `interchangeable`."""
        warn_user("any_will_do is deprecated; use interchangeable.", FutureWarning)
        return self.interchangeable

    @property
    def representative(self) -> str:
        """Name of the factor that keeps most."""
        return self.factors[0]

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the confidence interval of the joint index.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level, between 0 and 1.

        Returns
        -------
        tuple of float
            Lower and upper limits, between 0 and 1.
        """
        half = margin(level, self.standard_error, self.bias)
        low, high = np.clip([self.joint - half, self.joint + half], 0.0, 1.0)
        return float(low), float(high)


@dataclass(frozen=True)
class Node:
    """Node of the dependence tree, which merges the two children that share most."""

    children: tuple[int, int]
    """Numbers of the two children, as in scipy: leaves first, then nodes in the order in which they were merged."""
    positions: tuple[int, ...]
    """Positions in the table of the factors below the node."""
    dependence: float
    """Average share of each other that the factors of the two children explain, from 0 to 1, over all pairs."""
    joint: float
    """Joint total index of all factors below the node."""
    standard_error: float
    """Standard error of the joint index."""


@dataclass(frozen=True)
class Tree:
    """Dependence tree of the factors: those that share most information are merged first.

    See Also
    --------
    FIRST : Selector that has this object as ``tree_``.
    Cluster : Factors of a branch that is cut from the tree.

    Examples
    --------
    >>> import numpy as np
    >>> from firstfactor import FIRST
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> X[:, 2] = X[:, 1] + 0.1 * X[:, 2]  # nearly the same as the one before
    >>> FIRST(rule="calibrated", random_state=0).fit(X, X[:, 0] + X[:, 1]).tree_.linkage[:, :2].astype(int)
    array([[1, 2],
           [0, 3]])
    """

    names: tuple[str, ...]
    """Names of all factors of the table."""
    leaves: tuple[int, ...]
    """Positions in the table of the factors in the tree."""
    nodes: tuple[Node, ...]
    """Nodes, from those that share most to the root."""
    dependence: NDArray[np.float64] = field(compare=False)
    """Share of each leaf (row) that each other leaf (column) explains, from 0 to 1; of shape (leaves, leaves)."""

    @property
    def linkage(self) -> NDArray[np.float64]:
        """Linkage matrix for ``scipy.cluster.hierarchy.dendrogram``; heights are 1 − dependence."""
        rows = [(*node.children, 1 - node.dependence, len(node.positions)) for node in self.nodes]
        return np.array(rows, dtype=float).reshape(-1, 4)

    @property
    def order(self) -> tuple[int, ...]:
        """Positions in the table of the leaves, ordered so that factors that share information are adjacent."""
        return self.nodes[-1].positions if self.nodes else self.leaves

    def __str__(self) -> str:
        header = ("factors", "share", "joint", "standard error")
        rows = [
            (
                " + ".join(self.names[i] for i in node.positions),
                f"{node.dependence:.3f}",
                f"{node.joint:.3f}",
                f"{node.standard_error:.3f}",
            )
            for node in self.nodes
        ]
        return frames.make_text(header, rows)

    __repr__ = __str__


@dataclass(frozen=True)
class Exchange:
    """Effect of replacing a selected factor by one that was left out."""

    selected: int
    """Position of the selected factor."""
    cost: float
    """Upper limit of the 95 % interval of the loss, as a share of the explained variance, from 0 to 1."""
    kept: float
    """Share of the contribution of the selected factor that the other factor keeps in its place, from 0 to 1."""
    dependence: float
    """Share of each other that the two factors explain, from 0 to 1."""
    is_sure: bool
    """True if the selected factor clearly adds something; otherwise ``kept`` may be anything."""

    @property
    def stands_in(self) -> bool:
        """True if the factor can replace the selected one: they explain much of each other, and little is lost."""
        return self.is_sure and self.kept >= LEAST_KEPT and self.dependence >= LEAST_DEPENDENCE


@dataclass(frozen=True, eq=False)
class Sharing:
    """Information that the factors of one result share."""

    alone: Estimates
    """Share of the variance explained by the selected factors that each factor explains by itself; (factors,)."""
    clusters: tuple[Cluster, ...] = ()
    """Clusters of factors that share information, in order of decreasing joint index."""
    tree: Tree | None = None
    """Dependence tree; None if there are fewer than two factors to compare."""
    exchanges: Mapping[int, Exchange] = field(default_factory=dict)
    """For factors that were left out, the exchange with the selected factor that they come closest to replacing."""

    def cluster_of(self, factor: int) -> Cluster | None:
        """Return the cluster that a factor belongs to; None if it belongs to none."""
        return next((cluster for cluster in self.clusters if factor in cluster.positions), None)
