"""The rules by which a measured number agrees with a printed one, and by which a requirement is reached."""

import math
from dataclasses import dataclass
from enum import StrEnum

from ..scores.estimates import Estimate, Quantiles, share_error

PAPER_RUNS = 100
"""How many repetitions stand behind every mean in the paper."""

NUMBER_RULE = (
    "A measured mean agrees with a printed number if they are at most two standard errors of their difference apart, "
    "plus half a unit of the last printed digit. The paper's mean of 100 runs has the same spread as ours. Of shares "
    "of runs, standard errors are taken after adding two successes and two failures, so that 100 of 100 is not taken "
    "for certainty; the same is done for a mean where all runs gave one value."
)

QUANTILE_RULE = (
    "A median with its 20 % and 80 % quantiles agrees if each median lies between the other's quantiles, give or take "
    "half a unit of the last printed digit."
)

STATEMENT_RULE = (
    "A statement in words is given a meaning in numbers, shown next to it. Where it says that one method does better "
    "than another, the means decide; where it says that a method is at the top, it differs only if another is better "
    "by more than two standard errors of the difference."
)


class Verdict(StrEnum):
    """What comes of comparing with the paper, or with what we require."""

    AGREES = "agrees"
    DIFFERS = "differs"
    REACHED = "reached"
    MISSED = "not reached"
    NOT_RUN = "not run"

    @property
    def falls_short(self) -> bool:
        """Whether it wants a reason."""
        return self in (Verdict.DIFFERS, Verdict.MISSED)


ON_THE_PAPER = (Verdict.AGREES, Verdict.DIFFERS, Verdict.NOT_RUN)
ON_REQUIREMENTS = (Verdict.REACHED, Verdict.MISSED, Verdict.NOT_RUN)
REQUIREMENT_RULE = (
    "A required share or rate is held against the measured one as it is; where chance is allowed for, the requirement "
    "says how. A level that is allowed (of false alarms, of small p-values) may be exceeded by two standard errors. "
    "Standard errors are of the Monte Carlo kind; of shares of runs, after adding two successes and two failures."
)


@dataclass(frozen=True)
class Printed:
    """A number as the paper prints it."""

    text: str

    @property
    def value(self) -> float:
        """The number."""
        return float(self.text)

    @property
    def decimals(self) -> int:
        """How many digits stand behind the point."""
        return len(self.text.partition(".")[2])

    @property
    def half_unit(self) -> float:
        """Half a unit of the last digit."""
        return 0.5 * 10.0**-self.decimals


@dataclass(frozen=True)
class Compared:
    """A printed number next to ours."""

    label: str
    measured: str
    printed: str
    verdict: Verdict
    reason: str = ""


def verdict_of(agree: bool) -> Verdict:
    """Return the verdict on something that was run."""
    return Verdict.AGREES if agree else Verdict.DIFFERS


def agrees(measured: Estimate, printed: Printed) -> bool:
    """Tell whether a mean agrees with the paper's."""
    if measured.share or measured.deviation == 0:
        ours = share_error(measured.value, measured.n)
        theirs = share_error(printed.value, PAPER_RUNS)
    else:
        ours, theirs = measured.standard_error, measured.deviation / math.sqrt(PAPER_RUNS)
    return within(measured.value - printed.value, 2 * math.hypot(ours, theirs) + printed.half_unit)


def within(difference: float, allowance: float) -> bool:
    """Tell whether a difference is allowed, rounding aside."""
    return abs(difference) <= allowance + 1e-9


def beats(better: Estimate, worse: Estimate) -> bool:
    """Tell whether a mean is higher by more than two standard errors of the difference."""
    return better.value - worse.value > 2 * math.hypot(better.standard_error, worse.standard_error)


def quantiles_agree(measured: Quantiles, printed: Quantiles, half_unit: float) -> bool:
    """Tell whether each median lies between the other's quantiles."""
    return all(
        ours.low - half_unit <= theirs.median <= ours.high + half_unit
        for ours, theirs in ((measured, printed), (printed, measured))
    )
