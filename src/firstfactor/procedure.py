"""FIRST from beginning to end: select by a rule, on all rows or half of them, and appraise what is left."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from . import _checks
from .calibrated import CalibratedRule
from .indices import Indices
from .selection import Report, Selection, appraise, select
from .variance import Variances, halves

# A smaller alpha would take tens of thousands of draws to see.
LEAST_ALPHA = 0.001

Narrator = Callable[[tuple[str, ...], float], Report]
"""Gets the names of the factors and the variance that is explained, and returns what is told each step."""


@dataclass(frozen=True)
class Procedure:
    """How to select; see `FIRST` for what each means."""

    forward: str | int = "full"
    elimination: str = "batch"
    rule: str = "paper"
    alpha: float = 0.1
    split: bool = False

    def __post_init__(self) -> None:
        """Refuse what is not possible, or not together."""
        _checks.one_of("rule", self.rule, ("paper", "calibrated"))
        _checks.boolean("split", self.split)
        if _checks.number("alpha", self.alpha, LEAST_ALPHA, 1.0) == 1.0:
            raise ValueError(f"alpha must be a number below 1; got {self.alpha!r}.")
        if self.rule == "calibrated" and (self.forward, self.elimination) != ("full", "batch"):
            raise ValueError(
                f"forward must be 'full' and elimination 'batch' with rule='calibrated', which goes its own way; got "
                f"{self.forward!r} and {self.elimination!r}."
            )

    @property
    def estimator(self) -> str:
        """What importances are estimated with if nobody says: the calibrated rule sees more than nearest rows do."""
        return "nearest" if self.rule == "paper" else "extrapolated"

    def run(self, variances: Variances, narrate: Narrator) -> Indices:
        """Select factors and estimate their importance."""
        choosing, estimating = halves(variances) if self.split else (variances, variances)
        method = "FIRST-FAST" if self.forward == "fast" else "FIRST"
        if self.rule == "calibrated":
            method += f" (calibrated, alpha = {self.alpha:g})"
        selection = self._select(choosing, narrate)
        if self.split:
            # The p-values of the rows that chose are too small.
            selection = replace(selection, p_values=None, rows_apart=choosing.design.n_rows)
        return appraise(estimating, selection, method)

    def choose(self, variances: Variances) -> tuple[int, ...]:
        """Return the factors that `run` selects, without estimating anything."""
        choosing = halves(variances)[0] if self.split else variances
        return self._select(choosing, silent).kept

    def _select(self, variances: Variances, narrate: Narrator) -> Selection:
        names = variances.design.names
        if self.rule == "paper":
            return select(variances, self.forward, self.elimination, narrate(names, variances.response.variance))
        rule = CalibratedRule(variances, self.alpha)
        return rule.select(narrate(names, rule.total))


def silent(*_: object) -> Report:
    """Narrate nothing."""
    return lambda _: None
