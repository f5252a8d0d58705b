"""Explanations of why each factor was selected or left out, in one sentence each."""

from functools import cached_property
from typing import Any

import numpy as np

from .._utils import frames
from .._utils.text import list_names, printable
from ..data.table import locate
from .formats import format_p, percent
from .indices import WEAK, Indices
from .path import Path
from .sharing import Cluster

# A cost below this share of the explained variance is called next to nothing.
NEXT_TO_NOTHING = 0.001

# A factor stands in for another only if the exchange costs at most this share, and it adds nothing to the other.
CHEAP = 0.15

# A factor that explains less than this share of the explained variance alone is said to explain next to nothing.
LITTLE = 0.01


class Explanations:
    """Sentences on why each factor was selected or left out; written on first access."""

    def __init__(self, indices: Indices) -> None:
        self.names = indices.names
        """Name of each factor."""
        self._indices = indices

    @property
    def reasons(self) -> tuple[str, ...]:
        """Reason for each factor.

        One of ``selected``, ``prediction``, ``constant``, ``function``, ``stands in``, ``adds little``, ``removed``,
        ``no room``, ``lacks evidence`` or ``adds nothing``.
        """
        return tuple(reason for reason, _ in self._said)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentence on each factor."""
        return tuple(sentence for _, sentence in self._said)

    @cached_property
    def _said(self) -> list[tuple[str, str]]:
        """Reason and sentence for each factor."""
        return [explain_factor(self._indices, i) for i in range(len(self.names))]

    def __getitem__(self, name: str) -> str:
        if name not in self.names:
            raise KeyError(f"there is no factor {name!r}; the factors are {', '.join(self.names[:10])}.")
        return explain_factor(self._indices, self.names.index(name))[1]

    def __len__(self) -> int:
        return len(self.names)

    def to_frame(self, backend: frames.Backend = "pandas") -> Any:
        """Return a data frame with a row for each factor.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default "pandas"
            Library of the data frame.

        Returns
        -------
        data frame
            A data frame of that library.
        """
        columns = {"factor": self.names, "reason": self.reasons, "sentence": self.sentences}
        return frames.make_frame({name: list(values) for name, values in columns.items()}, backend)

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
    name = printable(indices.names[factor])
    if factor in indices.for_prediction:
        return "prediction", f"{name} helps to predict, but there is {_say_lack(indices, factor)}."
    if indices.support[factor]:  # first: a factor selected on other rows may be constant on these
        return "selected", _say_selected(indices, factor, name)
    if indices.kinds[factor] == "constant":
        return "constant", f"{name} is constant: it has the same value in every row."
    evidence, path = indices.evidence, indices.path
    if evidence is not None and factor in evidence.functions_of:
        known = list_names([printable(indices.names[i]) for i in evidence.functions_of[factor]])
        return "function", f"{name} is a function of {known}: it can add nothing to what is selected."
    replaced = _replaces(indices, factor)
    if replaced:
        return "stands in", f"{name} stands in for {replaced}."
    if path is not None and factor in path.spared:
        return (
            "adds little",
            f"{name} was left out to keep the set small: the others explain nearly as much without it.",
        )
    if path is not None and factor in path.removed and evidence is None:
        return (
            "removed",
            f"{name} entered and was removed: the others explain as much without it{_alone(indices, factor)}.",
        )
    if path is not None and _had_no_room(indices, path, factor):
        return "no room", f"{name} {_say_no_room(path, factor)}{_alone(indices, factor)}."
    reason = "adds nothing" if evidence is None else "lacks evidence"
    return reason, f"{name} {_say_no_gain(indices, factor)}{_alone(indices, factor)}."


def why_left_out(indices: Indices, factor: int) -> str:
    """Return the reason why a factor was left out, in a few words."""
    if indices.sharing is not None and explain_factor(indices, factor)[0] == "stands in":
        return f"stands in for {printable(indices.names[indices.sharing.exchanges[factor].selected])}"
    return indices.why_left_out(factor)


def _say_selected(indices: Indices, factor: int, name: str) -> str:
    cluster, alone = _cluster_of(indices, factor), _share_alone(indices, factor)
    by_itself = "" if alone is None else f" Alone it explains {percent(min(alone, 1.0))}."
    if factor in indices.forced:
        return f"{name} is always in.{by_itself}"
    if cluster is not None:
        others = list_names([printable(indices.names[i]) for i in cluster.positions if i != factor], "or")
        joint = percent(min(cluster.joint, 1.0))
        if cluster.any_will_do:
            how = f"{name} is selected, and {others} would do as well: without all of them"
        else:
            how = f"{name} is selected, and shares what it knows with others: without it, {others}"
        return f"{how}, {joint} of what is explained is lost.{by_itself}"
    lost = percent(float(np.clip(indices.values[factor], 0.0, 1.0)))
    if indices.is_shapley:
        return f"{name} is selected: its fair share of what is explained is {lost}.{by_itself}"
    return f"{name} is selected: without it, {lost} of what is explained is lost.{by_itself}"


def _replaces(indices: Indices, factor: int) -> str:
    """Return the selected factor that a factor stands in for, and the cost of the exchange; empty if there is none."""
    if indices.sharing is None:
        return ""
    exchange, cluster = indices.sharing.exchanges.get(factor), _cluster_of(indices, factor)
    if exchange is None or (cluster is None and not exchange.stands_in):
        return ""
    if exchange.cost > CHEAP or _adds(indices, factor):
        return ""
    selected = printable(indices.names[exchange.selected])
    cost = f"at most {percent(exchange.cost)} of what is explained"
    if exchange.cost < NEXT_TO_NOTHING:
        cost = "next to nothing"
    return f"{selected}: exchanging the two costs {cost}"


def _adds(indices: Indices, factor: int) -> bool:
    """Return True if there is some evidence that a factor that was left out adds to the selected factors."""
    single = {} if indices.evidence is None else indices.evidence.single_p_values
    return single.get(factor, 1.0) <= WEAK


def _cluster_of(indices: Indices, factor: int) -> Cluster | None:
    clusters = () if indices.sharing is None else indices.sharing.clusters
    return next((cluster for cluster in clusters if factor in cluster.positions), None)


def _share_alone(indices: Indices, factor: int) -> float | None:
    """Return the share that a factor explains alone; None if unknown."""
    alone = np.nan if indices.sharing is None else float(indices.sharing.alone.values[factor])
    return None if np.isnan(alone) else alone


def _had_no_room(indices: Indices, path: Path, factor: int) -> bool:
    """Return True if ``max_factors`` was reached in a step in which this factor would help, or was not tested."""
    if indices.procedure is None or indices.procedure.max_factors is None:
        return False
    last = [step for step in path.steps if step.phase == "forward"][-1:]
    if not last or not last[0].chosen or factor in last[0].chosen or factor not in last[0].candidates:
        return False
    return path.is_calibrated or path.last_gains[factor] > 0


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
    selected = [printable(indices.names[i]) for i in indices.selected.tolist() if i not in indices.for_prediction]
    beside = f" beside {list_names(selected, most=3)}" if selected else ""
    shown = format_p(p_value)
    shown = shown if shown.startswith("<") else f"= {shown}"
    return f"not enough evidence{beside} (p {shown}, needed {indices.procedure.alpha:g})"


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
    if alone < LITTLE:
        return ", and alone it explains next to nothing"
    return f"; alone it explains {percent(min(alone, 1.0))} of that"
