"""What drives the response, row by row, as pages and terminals show it: factors, and those that stand in for them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._utils.text import list_names, printable
from ..results.drivers import is_weak
from ..results.explanations import explain_factor
from ..results.formats import format_importance, format_interval, format_p
from ..results.indices import Indices
from ..results.sharing import Cluster, Driver, Tree
from ..results.wording import intervals

if TYPE_CHECKING:
    from ..results.stability import Stability


@dataclass(frozen=True)
class Row:
    """A factor, or several that stand in for each other, with what is known about it."""

    factors: tuple[int, ...]
    """Positions in the table, the representative first."""
    name: str
    kind: str
    """What a factor is; nothing for several."""
    lost: float
    """What is lost without, from 0 to 1."""
    selected: bool
    """Whether it, or one of several, was selected."""
    interval: tuple[float, float] | None = None
    """Of what is lost, where it is known."""
    alone: float | None = None
    """What it explains by itself, or the best of several does, from 0 to 1; None where it is not known."""
    p: str = ""
    frequency: float | None = None
    """How often it was selected on halves of the rows, where that was looked at."""
    weak: bool = False
    forced: bool = False
    kept: float | None = None
    """For one of several, the share of what they tell together that it keeps."""
    any_will_do: bool = True
    """Whether any one of several factors can stand in for all of them."""
    members: tuple["Row", ...] = ()
    branches: tuple["Branch", ...] = ()
    """What is drawn of the tree beside it."""

    @property
    def short_name(self) -> str:
        """The name; of several factors, the representative's and how many others there are."""
        others = len(self.members) - 1
        return self.name if others < 0 else f"{self._first} {self.joined} {others:,} other{'' if others == 1 else 's'}"

    @property
    def joined(self) -> str:
        """The word between several factors: any one of them will do, or several are needed."""
        return "or" if self.any_will_do else "and"

    @property
    def shortest_name(self) -> str:
        """The same, shorter."""
        return f"{self._first}+{len(self.members) - 1:,}" if self.members else self.name

    @property
    def _first(self) -> str:
        """The name of the representative."""
        return next(member.name for member in self.members if member.factors[0] == self.factors[0])

    @property
    def lost_text(self) -> str:
        """What is lost as text; of a factor that is not in, nothing can be lost."""
        return format_importance(self.lost) if self.selected else "–"

    @property
    def interval_text(self) -> str:
        """Both ends of the interval as text."""
        return "" if self.interval is None else format_interval(self.interval)

    @property
    def alone_text(self) -> str:
        """What it explains by itself as text."""
        return "" if self.alone is None else format_importance(self.alone)

    @property
    def frequency_text(self) -> str:
        """How often it was selected as text."""
        return "" if self.frequency is None else f"{self.frequency:.2f}"

    @property
    def least_kept(self) -> float:
        """The share of what several factors tell together that any one of them keeps."""
        return min((member.kept or 0.0 for member in self.members), default=0.0)

    @property
    def marks(self) -> list[str]:
        """What else there is to say, each in a few words."""
        kept = [] if self.kept is None else [f"keeps {100 * self.kept:.0f} %"]
        return [*kept, *["always in"] * self.forced, *["weak evidence"] * self.weak]


@dataclass(frozen=True)
class Branch:
    """A line of the tree within one row: from left to right and from the top of the row to its bottom, 0 to 1."""

    x1: float
    y1: float
    x2: float
    y2: float


def driver_rows(indices: Indices, stability: "Stability | None" = None) -> list[Row]:
    """A row for each driver, the most important first; those of several factors have a row for each within."""
    reader = _Reader(indices, stability)
    return [
        reader.factor(driver.factors[0]) if driver.cluster is None else reader.cluster(driver, driver.cluster)
        for driver in indices.drivers
    ]


def other_factors(indices: Indices) -> tuple[list[int], list[int]]:
    """The factors in no row: those that could take the place of a selected one, and those that add nothing."""
    shown = {i for driver in indices.drivers for i in driver.factors}
    others = [i for i in indices.left_out.tolist() if i not in shown]
    close = [i for i in others if explain_factor(indices, i)[0] == "stands in"]
    return close, [i for i in others if i not in set(close)]


def explain(indices: Indices, factor: int) -> str:
    """A sentence on why a factor was selected or left out."""
    return explain_factor(indices, factor)[1]


def alone(indices: Indices, factor: int) -> float | None:
    """What a factor explains by itself, from 0 to 1; None where it is not known."""
    value = np.nan if indices.sharing is None else indices.sharing.alone.values[factor]
    return None if np.isnan(value) else float(np.clip(value, 0.0, 1.0))


class _Reader:
    """Makes rows of one result."""

    def __init__(self, indices: Indices, stability: "Stability | None") -> None:
        self._indices, self._stability = indices, stability
        self._intervals, self._weak, self._support = intervals(indices), indices.weak, indices.support

    def factor(self, i: int, kept: float | None = None, branches: tuple[Branch, ...] = ()) -> Row:
        """The row of one factor."""
        indices, ends = self._indices, self._intervals[i]
        return Row(
            factors=(i,),
            name=printable(indices.names[i]),
            kind=indices.kinds[i],
            lost=float(indices.shares[i]),
            selected=bool(self._support[i]),
            interval=None if np.isnan(ends).any() or not self._support[i] else (float(ends[0]), float(ends[1])),
            alone=alone(indices, i),
            p=format_p(float(indices.p_values[i])) if indices.has_p_values else "",
            frequency=None if self._stability is None else float(self._stability.frequencies[i]),
            weak=bool(self._weak[i]),
            forced=i in indices.forced,
            kept=kept,
            branches=branches,
        )

    def cluster(self, driver: Driver, cluster: Cluster) -> Row:
        """The row of several factors, those that share most side by side within."""
        indices, kept = self._indices, dict(zip(cluster.positions, cluster.kept, strict=True))
        order, branches = draw_branches(None if indices.sharing is None else indices.sharing.tree, cluster.positions)
        best = [value for i in cluster.positions if (value := alone(indices, i)) is not None]
        return Row(
            factors=cluster.positions,
            name=list_names([printable(name) for name in cluster.factors], "or" if cluster.any_will_do else "and"),
            any_will_do=cluster.any_will_do,
            kind="",
            lost=driver.lost,
            selected=True,
            interval=driver.interval,
            alone=max(best, default=None),
            weak=is_weak(indices, driver),
            members=tuple(self.factor(i, kept[i], branches[i]) for i in order),
        )


# --- the tree beside the rows -----------------------------------------------------------------------------------------


def draw_branches(tree: Tree | None, factors: Sequence[int]) -> tuple[list[int], dict[int, tuple[Branch, ...]]]:
    """Factors in an order in which no branches cross, and the lines of the tree in the row of each.

    Lines that join near the right, where names are, join factors that share most. Without a node of exactly these
    factors, one line joins all of them.
    """
    members = set(factors)
    nodes = [node for node in tree.nodes if members.issuperset(node.positions)] if tree is not None else []
    if tree is None or not nodes or len(nodes[-1].positions) < len(members):
        rows = range(len(factors))
        return [*factors], _in_rows(factors, [(0.4, 1.0, row) for row in rows], [(0.4, 0.0, rows[-1])])
    order, least = nodes[-1].positions, nodes[-1].dependence
    row_of = {factor: row for row, factor in enumerate(order)}
    numbers = {id(node): len(tree.leaves) + number for number, node in enumerate(tree.nodes)}
    places = {leaf: (1.0, float(row_of[i])) for leaf, i in enumerate(tree.leaves) if i in members}
    across, down = [], []
    for node in nodes:  # children come before their parents
        x = 0.15 + 0.7 * (node.dependence - least) / max(1 - least, 1e-9)
        ends = [places[child] for child in node.children]
        across += [(x, end, row) for end, row in ends]
        down.append((x, min(row for _, row in ends), max(row for _, row in ends)))
        places[numbers[id(node)]] = x, sum(row for _, row in ends) / 2
    return [*order], _in_rows(order, across, down)


def _in_rows(
    order: Sequence[int],
    across: Sequence[tuple[float, float, float]],
    down: Sequence[tuple[float, float, float]],
) -> dict[int, tuple[Branch, ...]]:
    """Lines across (from x to x at a height) and down (an x from a height to another), cut where a row ends."""

    def within(row: int) -> Iterator[Branch]:
        for x1, x2, y in across:
            if row - 0.5 <= y < row + 0.5:
                yield Branch(x1, y - row + 0.5, x2, y - row + 0.5)
        for x, top, bottom in down:
            low, high = max(top, row - 0.5), min(bottom, row + 0.5)
            if low < high:
                yield Branch(x, low - row + 0.5, x, high - row + 0.5)

    return {factor: tuple(within(row)) for row, factor in enumerate(order)}
