"""`RankingLine`: one line of the ranking, made once for the terminal, the page, the picture, CSV and JSON."""

from dataclasses import dataclass

from .._utils.checks import warn_user
from .._utils.text import list_names
from .formats import format_importance, format_interval, format_p
from .sharing import Cluster

# An importance below this is shown as 0.000 or <0.001; an effect is shown if its p-value is below this.
LEAST_SHOWN, SHOWN = 0.0005, 0.01

SMALL = "shown, but small or shared"


@dataclass(frozen=True, kw_only=True)
class RankingLine:
    """One line of the ranking: a factor, or a cluster of factors that share information, with all that is shown of it.

    See Also
    --------
    Indices.drivers : Lines of the drivers of the response.
    """

    factors: tuple[int, ...]
    """Positions of the factors in the table, the representative first."""
    names: tuple[str, ...]
    """Printable name of each factor; a factor that stands for the one it is a function of, such as the square of age,
    is ``age (by agesq)``."""
    name: str
    """Name of the factor, and which others are functions of it; the names of a cluster are joined by "or", or by "and"
    if several of them are needed."""
    kind: str
    """Kind of the factor; empty for a cluster."""
    rank: int | None
    """Rank among the drivers, from 1; None for members of a cluster and for factors that are left out."""
    selected: bool
    """True if the factor, or one of the cluster, is selected."""
    importance: float
    """Importance, from 0 to 1: the total index or fair share; for a cluster, the joint index or sum of fair shares."""
    standard_error: float | None = None
    """Standard error of the importance; None if unknown."""
    interval: tuple[float, float] | None = None
    """Confidence interval of the importance; None if unknown."""
    alone: float | None = None
    """Share explained alone, from 0 to 1, or that of the best factor of a cluster; None if unknown."""
    p_value: float | None = None
    """Probability of such an effect if the factor adds nothing to the others; None if unknown."""
    frequency: float | None = None
    """Selection frequency on random half-samples; None if unknown."""
    weak: bool = False
    """True if the evidence is weak."""
    forced: bool = False
    """True if the factor is always selected."""
    reason: str = ""
    """Reason why the factor is left out, in a few words; empty for selected factors and clusters."""
    is_substitute: bool = False
    """True for a factor that is left out and could replace a selected one at little cost."""
    kept: float | None = None
    """For a member of a cluster, the share of the joint index that it keeps if it replaces all of them."""
    cluster: Cluster | None = None
    """The cluster; None for a single factor."""
    members: tuple["RankingLine", ...] = ()
    """Lines of the factors of a cluster, the representative first."""
    same: tuple["RankingLine", ...] = ()
    """Lines of factors that are left out and are the same factor in another form."""

    @property
    def is_cluster(self) -> bool:
        """True for a cluster of several factors."""
        return self.cluster is not None

    @property
    def interchangeable(self) -> bool:
        """True if any one of the factors can replace all of them."""
        return self.cluster is None or self.cluster.interchangeable

    @property
    def lost(self) -> float:
        """Deprecated name of `importance`."""
        warn_user("lost is deprecated; use importance.", FutureWarning)
        return self.importance

    @property
    def shown_interval(self) -> tuple[float, float] | None:
        """Interval to show; None if the factor is not selected, its importance is 1 by definition, or it is 0 wide."""
        known = self.selected and (self.is_cluster or bool(self.standard_error))
        return self.interval if known and self.interval is not None and self.interval[0] < self.interval[1] else None

    @property
    def is_small(self) -> bool:
        """True if an effect is shown, but nothing to speak of is lost without the factor: it is small or shared."""
        return self.selected and self.importance < LEAST_SHOWN and self.p_value is not None and self.p_value < SHOWN

    @property
    def short_name(self) -> str:
        """Name with functions of the factor in brackets; for a cluster, the representative and the number of others."""
        others = len(self.factors) - 1
        if not others:
            is_plain = self.same and self.name != self.names[0]
            return f"{self.names[0]} (and {list_names([one.names[0] for one in self.same])})" if is_plain else self.name
        joined = "or" if self.interchangeable else "and"
        return f"{self.names[0]} {joined} {others:,} other{'' if others == 1 else 's'}"

    @property
    def shortest_name(self) -> str:
        """Name; for a cluster, that of the representative and a plus sign with the number of others."""
        return f"{self.names[0]}+{len(self.factors) - 1:,}" if len(self.factors) > 1 else self.name

    @property
    def importance_text(self) -> str:
        """Importance as text; a dash for a factor that is not selected."""
        return format_importance(self.importance) if self.selected else "–"

    @property
    def interval_text(self) -> str:
        """Interval as text; empty if there is none to show."""
        return "" if self.shown_interval is None else format_interval(self.shown_interval)

    @property
    def alone_text(self) -> str:
        """Share explained alone as text; empty if unknown."""
        return "" if self.alone is None else format_importance(self.alone)

    @property
    def p_text(self) -> str:
        """p-value as text; empty if unknown."""
        return "" if self.p_value is None else format_p(self.p_value)

    @property
    def frequency_text(self) -> str:
        """Selection frequency as text; empty if unknown."""
        return "" if self.frequency is None else f"{self.frequency:.2f}"

    @property
    def marks(self) -> list[str]:
        """Remarks, each in a few words."""
        kept = [] if self.kept is None else [f"keeps {100 * self.kept:.0f} %"]
        return [*kept, *["always in"] * self.forced, *["weak evidence"] * self.weak, *[SMALL] * self.is_small]
