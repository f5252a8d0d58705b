"""Explanations of why each factor was selected or left out, in one sentence each."""

from functools import cached_property
from typing import Any

import numpy as np

from .._utils import frames
from .._utils.text import list_names, printable, quote_names
from ..data.table import locate
from .constants import LITTLE_ALONE, NEXT_TO_NOTHING
from .formats import percent, say_p
from .indices import Indices, Reason, find_exchange, find_reason
from .path import Path
from .wording import importance_words


class Explanations(frames.Tabular):
    """Sentences on why each factor was selected or left out; written on first access."""

    def __init__(self, indices: Indices) -> None:
        self.names = indices.names
        """Name of each factor."""
        self._indices = indices

    @property
    def reasons(self) -> tuple[str, ...]:
        """Reason for each factor.

        One of ``selected``, ``prediction``, ``minimum``, ``constant``, ``function``, ``stands in``, ``adds little``,
        ``removed``, ``no room``, ``lacks evidence`` or ``adds nothing``.
        """
        return tuple(reason for reason, _ in self._found)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentence on each factor."""
        return tuple(sentence for _, sentence in self._found)

    @cached_property
    def _found(self) -> list[tuple[str, str]]:
        """Reason and sentence for each factor."""
        return [explain_factor(self._indices, i) for i in range(len(self.names))]

    def __getitem__(self, name: str) -> str:
        if name not in self.names:
            raise KeyError(f"there is no factor {name!r}; the factors are {quote_names(self.names)}.")
        return explain_factor(self._indices, self.names.index(name))[1]

    def __len__(self) -> int:
        return len(self.names)

    def _columns(self) -> dict[str, Any]:
        return {"factor": list(self.names), "reason": list(self.reasons), "sentence": list(self.sentences)}

    def __repr__(self) -> str:
        return "\n".join(self.sentences)


def explain(indices: Indices, factor: str | int) -> str:
    """Explain in one sentence why a factor, given by name or position, was selected or left out."""
    found = locate("factor", factor, indices.names)
    if len(found) != 1:
        raise ValueError(f"factor must be one name or position; got {factor!r}. explanations_ has all sentences.")
    return explain_factor(indices, found[0])[1]


def explain_factor(indices: Indices, factor: int) -> tuple[str, str]:
    """Return the reason why a factor was selected or left out, in a word or two, and the sentence on it."""
    reason = find_reason(indices, factor)
    return reason, f"{printable(indices.names[factor])} {_say_reason(indices, factor, reason)}."


def _say_reason(indices: Indices, factor: int, reason: Reason) -> str:
    """Return the sentence on a factor without its name and the point at its end."""
    evidence, path, exchange = indices.evidence, indices.path, find_exchange(indices, factor)
    alone = _alone(indices, factor)
    match reason:
        case "minimum":
            return f"was added to reach min_factors: {_say_lack(indices, factor)}"
        case "prediction":
            return f"helps to predict, but there is {_say_lack(indices, factor)}"
        case "selected":
            return _say_selected(indices, factor)
        case "constant":
            return "is constant: it has the same value in every row"
        case "function" if evidence is not None:
            known = list_names([printable(indices.names[i]) for i in evidence.functions_of[factor]])
            return f"is a function of {known}: it can add nothing to what is selected"
        case "stands in" if exchange is not None:
            cost = f"at most {percent(exchange.cost)} of what is explained"
            cost = "next to nothing" if exchange.cost < NEXT_TO_NOTHING else cost
            return f"stands in for {printable(indices.names[exchange.selected])}: exchanging the two costs {cost}"
        case "adds little":
            return "was left out to keep the set small: the others explain nearly as much without it"
        case "removed":
            return f"entered and was removed: the others explain as much without it{alone}"
        case "no room" if path is not None:
            return f"{_say_no_room(path, factor)}{alone}"
    return f"{_say_no_gain(indices, factor)}{alone}"


def _say_selected(indices: Indices, factor: int) -> str:
    """Return the words on the effect of a selected factor, and on what it explains alone."""
    cluster = None if indices.sharing is None else indices.sharing.cluster_of(factor)
    alone = _share_alone(indices, factor)
    by_itself = "" if alone is None else f". Alone it explains {percent(min(alone, 1.0))}"
    if factor in indices.forced:
        return f"is always in{by_itself}"
    lost = percent(float(np.clip(indices.values[factor], 0.0, 1.0)))
    if cluster is not None:
        others = list_names([printable(indices.names[i]) for i in cluster.positions if i != factor], "or")
        joint = percent(min(cluster.joint, 1.0))
        if cluster.interchangeable:
            how = f"is selected, and {others} would do as well: without all of them"
        else:
            how = f"is selected, and its information overlaps with that of others: without it, {others}"
        return f"{how}, {joint} of what is explained is lost{by_itself}"
    return f"is selected: {importance_words(indices).sentence.format(lost)}{by_itself}"


def _share_alone(indices: Indices, factor: int) -> float | None:
    """Return the share that a factor explains alone; None if unknown."""
    alone = np.nan if indices.sharing is None else float(indices.sharing.alone.values[factor])
    return None if np.isnan(alone) else alone


def _say_no_room(path: Path, factor: int) -> str:
    """Return the words that ``max_factors`` was reached, with the gain of this factor if known."""
    why = "was left out because no more factors were wanted"
    if path.is_calibrated:
        return why
    return f"{why}: in place of the last one, it would add {path.last_gains[factor]:.3f} to R²"


def _say_lack(indices: Indices, factor: int) -> str:
    """Return the words that there is not enough evidence for a factor, with its p-value and alpha."""
    p_value = np.nan if indices.uncertainty is None else float(indices.p_values[factor])
    if np.isnan(p_value) or indices.procedure is None:
        return "the others explain everything"
    selected = [printable(indices.names[i]) for i in indices.selected.tolist() if i not in indices.without_evidence]
    beside = f" beside {list_names(selected, most=3)}" if selected else ""
    return f"not enough evidence{beside} ({say_p(p_value)}, needed {indices.procedure.alpha:g})"


def _say_no_gain(indices: Indices, factor: int) -> str:
    """Return the words that a factor does not help, and how that was found."""
    if indices.path is None:
        return "adds nothing to the others"
    if indices.evidence is not None:
        return f"is left out: {_say_lack(indices, factor)}"
    gain = indices.path.last_gains.get(factor)
    if gain is None:
        return "did not help when it was last tried"
    change = f"{gain:+.3f}".replace("-", "−")
    return f"never raised what is explained: with it, R² would change by {change}"


def _alone(indices: Indices, factor: int) -> str:
    """Return the end of a sentence with the share that a factor explains alone; empty without a standard error."""
    alone = _share_alone(indices, factor)
    if alone is None or indices.sharing is None or np.isnan(indices.sharing.alone.standard_errors[factor]):
        return ""
    if alone < LITTLE_ALONE:
        return ", and alone it explains next to nothing"
    return f"; alone it explains {percent(min(alone, 1.0))} of that"
