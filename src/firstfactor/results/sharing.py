"""What factors share: how much each explains alone, and which of them stand in for each other."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .._utils import frames
from .estimates import Estimates, margin

# What any factor must keep to stand in for others, as a share of what these add.
ANY_WILL_DO = 0.75

# Factors that explain less of each other do not stand in for each other, whatever they keep.
LEAST_DEPENDENCE = 0.3


@dataclass(frozen=True)
class Cluster:
    """Factors that share information, so that each is missed less than its share of what all of them add.

    See Also
    --------
    FIRST : Has them as ``clusters_``.
    Tree : What they are cut from.

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
    """The representative first, then the others, the best stand-in first."""
    joint: float
    """The total index of all of them: the share of what is explained that is lost without any of them."""
    standard_error: float
    """Of the joint index."""
    bias: float
    """How much the joint index may be wrong because neighbours are at a distance."""
    kept: tuple[float, ...]
    """For each factor, the share of the joint index that it keeps if it stands in for all of them, from 0 to 1."""
    dependence: float
    """How well the factors explain each other, from 0 to 1: the height of their node in the tree."""
    positions: tuple[int, ...]
    """Where the factors are in the table."""

    @property
    def any_will_do(self) -> bool:
        """Whether any one of the factors can stand in for all of them; otherwise several are needed."""
        return min(self.kept) >= ANY_WILL_DO

    @property
    def representative(self) -> str:
        """The factor that keeps most."""
        return self.factors[0]

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The confidence interval of the joint index.

        Parameters
        ----------
        level : float, default 0.95
            How often such intervals hold the truth, between 0 and 1.

        Returns
        -------
        tuple of float
            Both ends, between 0 and 1.
        """
        half = margin(level, self.standard_error, self.bias)
        low, high = np.clip([self.joint - half, self.joint + half], 0.0, 1.0)
        return float(low), float(high)


@dataclass(frozen=True)
class Node:
    """A node of the tree: two smaller ones that share more with each other than with the rest."""

    children: tuple[int, int]
    """Numbers of both: below the number of leaves, a leaf; beyond, the node that was made at that place."""
    positions: tuple[int, ...]
    """The factors below it, as positions in the table."""
    dependence: float
    """How well the factors of one child explain those of the other, from 0 to 1, on average over all pairs."""
    joint: float
    """The total index of all factors below it."""
    standard_error: float
    """Of the joint index."""


@dataclass(frozen=True)
class Tree:
    """Which factors share information: those that share most are put together first.

    See Also
    --------
    FIRST : Has one as ``tree_``.
    Cluster : Factors that are cut from it.

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
    """Of all factors of the table."""
    leaves: tuple[int, ...]
    """The factors in the tree, as positions in the table."""
    nodes: tuple[Node, ...]
    """From the ones that share most to the root."""
    dependence: NDArray[np.float64] = field(compare=False)
    """How well each leaf (row) is explained by each other one (column), from 0 to 1: (leaves, leaves)."""

    @property
    def linkage(self) -> NDArray[np.float64]:
        """The tree as scipy has it, for ``scipy.cluster.hierarchy.dendrogram``; heights are 1 − dependence."""
        rows = [(*node.children, 1 - node.dependence, len(node.positions)) for node in self.nodes]
        return np.array(rows, dtype=float).reshape(-1, 4)

    @property
    def order(self) -> tuple[int, ...]:
        """The leaves as positions in the table, so that those which share information stand side by side."""
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
    """What happens if a factor that was left out takes the place of a selected one."""

    selected: int
    """The position of the selected factor."""
    cost: float
    """How much less is explained at most, as a share of what is, from 0 to 1: the end of a 95 % interval."""
    kept: float
    """The share of what the selected factor adds that the other one adds in its place, from 0 to 1."""
    dependence: float
    """How well the two explain each other, from 0 to 1."""
    is_sure: bool
    """Whether the selected factor adds something for sure: what is kept of nothing can be anything."""

    @property
    def stands_in(self) -> bool:
        """Whether the factor stands in for the selected one: they know much of each other, and little is lost."""
        return self.is_sure and self.kept >= ANY_WILL_DO and self.dependence >= LEAST_DEPENDENCE


@dataclass(frozen=True, eq=False)
class Sharing:
    """What the factors of one result share."""

    alone: Estimates
    """What each factor explains by itself, as a share of what the selected ones explain: (factors,)."""
    clusters: tuple[Cluster, ...] = ()
    """Factors that stand in for each other, those whose joint index is largest first."""
    tree: Tree | None = None
    """Which factors share information; None where there are not two to look at."""
    exchanges: Mapping[int, Exchange] = field(default_factory=dict)
    """For factors that were left out, which selected one they come closest to replacing."""


@dataclass(frozen=True)
class Driver:
    """One thing that drives the response: a factor, or several that stand in for each other."""

    factors: tuple[int, ...]
    """Positions in the table, the representative first."""
    lost: float
    """The total index of all of them, at most 1: what is lost without."""
    interval: tuple[float, float] | None
    """Of what is lost, if that is known."""
    cluster: Cluster | None = None
    """The cluster, if it is several factors."""

    @property
    def is_cluster(self) -> bool:
        """Whether it is several factors."""
        return self.cluster is not None
