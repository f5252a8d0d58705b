"""`Comparison`: where the score of a model lies between nothing and the ceiling."""

import math
import numbers
from dataclasses import dataclass
from typing import Any, Literal

from .._utils.checks import is_boolean, wrong
from .constants import LEVEL
from .formats import percent
from .indices import Indices
from .wording import is_untested, r2_range


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison:
    """Score of a model beside the ceiling; it prints as a sentence.

    See Also
    --------
    Ranking.compare : Return this object.
    """

    score: float
    """R² of the model; for classes, that of its probabilities (the Brier skill score)."""
    ceiling: float
    """Estimate of the ceiling."""
    interval: tuple[float, float] | None
    """95 % interval of the ceiling; None if the rows support none."""
    verdict: Literal["no ceiling", "nothing", "below", "within", "above"]
    """Position of the score: "nothing" is no better than the mean, "within" is within the interval of the ceiling."""
    sentence: str
    """The comparison in words."""

    def __repr__(self) -> str:
        return self.sentence


def check_score(score: Any) -> float:
    """Return the score of a model if it can be an R²."""
    is_number = isinstance(score, numbers.Real) and not is_boolean(score)
    if not is_number or not math.isfinite(score) or score > 1:
        raise wrong("model_score", "an R² of at most 1, such as 0.45 for 45 %", score)
    return float(score)


def compare(indices: Indices, score: Any, response: str) -> Comparison:
    """Return where the R² of a model lies between nothing and the ceiling of a ``response`` that may be transformed."""
    score, ceiling = check_score(score), float(indices.r2_ceiling)
    interval = None if indices.estimator == "nearest" or is_untested(indices) else r2_range(indices)
    what = f"{_name_score(indices, response)} of {score:.2f}".replace("-", "−")
    if not indices.selected.size or ceiling <= 0:
        sentence = f"There is no ceiling to compare with: nothing was found. Your model has {what}."
        return Comparison(score=score, ceiling=ceiling, interval=None, verdict="no ceiling", sentence=sentence)
    low, high = interval or (ceiling, ceiling)
    bounds = f"{low:.2f}–{high:.2f}"
    if score <= 0:
        nothing = "the share of each class" if indices.classes else "the mean"
        verdict, words = "nothing", f"is no better than predicting {nothing}"
    elif score < low:
        of_ceiling = f"is {percent(score / ceiling)} of the ceiling of {ceiling:.2f}"
        room = f"{high - score:.2f}" if interval is None else f"{low - score:.2f} to {high - score:.2f}"
        known = "" if interval is None else f" ({100 * LEVEL:g} % interval {bounds})"
        verdict, words = "below", f"{of_ceiling}{known}: models of these factors can gain about {room} more"
    elif score <= high and interval is not None:
        verdict, words = (
            "within",
            (
                f"is within the {100 * LEVEL:g} % interval of the ceiling, {bounds}: these factors leave at most about "
                f"{high - score:.2f} to gain"
            ),
        )
    else:
        above = (
            f"the {100 * LEVEL:g} % interval of the ceiling, {bounds}" if interval else f"the ceiling of {ceiling:.2f}"
        )
        doubt = "" if interval else ", or the ceiling, which has no upper bound here, is estimated too low"
        verdict, words = (
            "above",
            (
                f"is above {above}: the model has overfitted (check it on new rows), or uses information that "
                f"{'the selected factors' if indices.path else 'the factors'} do not have{doubt}"
            ),
        )
    return Comparison(
        score=score,
        ceiling=ceiling,
        interval=interval,
        verdict=verdict,  # type: ignore[arg-type]
        sentence=f"Your model: {what} {words}.",
    )


def _name_score(indices: Indices, response: str) -> str:
    """Return the name of the score that the ceiling is one of; never accuracy."""
    if indices.classes:
        return "an R² of probabilities (Brier skill score)"
    return "an R²" if response == "values" else f"an R² of the {response.replace('-', ' ')}"
