"""Figures and sentences on a result and its uncertainty, shared by the terminal, plots and pages."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from .._utils.text import list_names, printable
from .constants import LEAST_BIAS, LEAST_REST, LEVEL, WEAK
from .formats import percents
from .indices import Indices

# A ceiling that is above this share for certain is not told more exactly.
NEARLY_ALL = 0.999

# Kinds of factors in words: singular and plural.
KINDS = {
    "number": "numbers",
    "category": "categories",
    "ordered": "ordered",
    "date": "dates",
    "periodic": "periodic",
    "group": "groups",
    "constant": "constant",
}


def r2_range(indices: Indices) -> tuple[float, float] | None:
    """Return the interval of the ceiling; None without a standard error or a selected factor."""
    sure = indices.uncertainty
    if sure is None or not sure.r2 > 0 or not indices.selected.size:
        return None
    return indices.r2_interval(LEVEL)


def name_response(name: str, how: str) -> str:
    """Return the name of the response that is explained: its values, ranks or normal scores."""
    return name if how == "values" else f"the {how.replace('-', ' ')} of {name}"


def measure(indices: Indices) -> str:
    """Return the name of the measure that is explained: variance, or Gini impurity for more than two classes."""
    return "Gini impurity" if len(indices.classes) > 2 else "variance"


def say_kinds(indices: Indices) -> str:
    """Return the number of factors of each kind, in words."""
    kinds: Counter[str] = Counter(indices.kinds)
    return ", ".join(f"{n:,} {many if n > 1 else kind}" for kind, many in KINDS.items() if (n := kinds[kind]))


def say_missing(indices: Indices, most: int = 8) -> str:
    """Return the sentence on the number of missing values of each factor; empty if there are none."""
    worst = sorted((i for i, count in enumerate(indices.missing) if count), key=lambda i: -indices.missing[i])
    if not worst:
        return ""
    named = list_names([f"{printable(indices.names[i])} {indices.missing[i]:,}" for i in worst], most=most)
    return f"Missing values: {named}. A missing value counts as a level of its own; no row was left out for it."


def is_calibrated(indices: Indices) -> bool:
    """Return True if factors were selected by the calibrated rule."""
    return indices.procedure is not None and indices.procedure.rule == "calibrated"


def is_untested(indices: Indices) -> bool:
    """Return True if the same rows selected factors by the paper's rule, which also selects from pure noise."""
    procedure = indices.procedure
    return procedure is not None and procedure.rule == "paper" and not procedure.split and indices.selected.size > 0


@dataclass(frozen=True)
class ImportanceWords:
    """Words for a measure of importance."""

    name: str
    """Name of the importances, in two words."""
    of_factor: str
    """Importance of one factor, in a legend."""
    below_bars: str
    """Meaning of the bars of a chart."""
    axis: str
    """Label of an axis."""
    sentence: str
    """Sentence on a selected factor, with ``{}`` for its importance."""
    meaning: str
    """Explanation of the importances, for the page."""


# A new measure needs an entry here, a choice of ``importance`` in `settings`, and its estimate in `selection.fitting`.
IMPORTANCE_WORDS = {
    "total": ImportanceWords(
        "lost without",
        "lost without the factor",
        "lost without it",
        "importance",
        "without it, {} of what is explained is lost",
        "The share of what can be explained that no model could reach without the factor: its total Sobol’ index, also "
        "called its importance. These shares need not sum to 1. Where factors act together, each of them is needed and "
        "the sum can be above 1. Where they carry the same information, the others make up for one that is left out, "
        "and the sum can be far below 1.",
    ),
    "shapley": ImportanceWords(
        "fair share",
        "the factor's fair share",
        "fair share",
        "fair share",
        "its fair share of what is explained is {}",
        "What is explained, divided among the factors: what each adds, on average over all orders in which they could "
        "enter (its Shapley effect). Fair shares add up to 1, and factors that carry the same information divide it "
        "among them.",
    ),
}


def importance_words(indices: Indices) -> ImportanceWords:
    """Return the words for the importances of a result."""
    chosen = "total" if indices.procedure is None else indices.procedure.importance
    return IMPORTANCE_WORDS["shapley" if indices.is_shapley else chosen]


def say_ceiling(indices: Indices, response: str) -> str:
    """Return the sentence on how much of the response models can explain, or that nothing was found.

    It is about the selected factors, or about all factors without a selection. A bound is claimed only if the rows
    support one: nearest rows are never at the same point, so the ceiling estimated from them is too low; and for
    factors that were selected by chance it is too high.
    """
    ceiling, what = indices.r2_ceiling, f"of the {measure(indices)} of {response}"
    if not indices.selected.size:
        return say_nothing_selected(indices, response)
    if ceiling <= 0:
        return f"In {indices.n_rows:,} rows, nothing {what} seems to be explained by {_factors(indices)}."
    if indices.estimator != "nearest" and r2_range(indices) == (0.0, 1.0):
        return f"From {_factors(indices)}, these rows cannot tell how much {what} models can explain."
    low, high = _bounds(indices)
    about, least, most = percents(ceiling, low, high)
    share = "all" if ceiling == 1 else f"about {about}"
    if low >= NEARLY_ALL:
        share = f"more than {percents(NEARLY_ALL)[0]}"
    elif (low, high) != (0.0, 1.0):
        interval = f"{100 * LEVEL:g} % interval {f'{least} to all' if high == 1 else f'{least[:-2]}–{most}'}"
        share += f" (at most {most})" if is_untested(indices) else f" ({interval})"
    low_remark = _say_low(indices) if (low, high) == (0.0, 1.0) else ""
    return f"From {_factors(indices)}, models can explain {share} {what}{_say_coding(indices)}{low_remark}."


def say_nothing_selected(indices: Indices, response: str) -> str:
    """Return the sentence that no factor was selected."""
    if is_calibrated(indices) and indices.procedure is not None:
        if say_rest(indices):
            return f"No single factor can be named that {response} depends on (alpha = {indices.procedure.alpha:g})."
        return (
            f"In {indices.n_rows:,} rows, there is not enough evidence that {response} depends on any factor "
            f"(alpha = {indices.procedure.alpha:g})."
        )
    return f"In {indices.n_rows:,} rows, no factor explains anything of the {measure(indices)} of {response}."


def _factors(indices: Indices) -> str:
    """Return the words for the factors that a ceiling refers to."""
    if indices.path is None:
        return "the only factor" if len(indices.names) == 1 else f"all {len(indices.names):,} factors together"
    return "the selected factor" if indices.selected.size == 1 else f"the {indices.selected.size:,} selected factors"


def _say_low(indices: Indices) -> str:
    """Return the words on the direction of the bias of a ceiling from nearest rows; empty for other estimators."""
    if indices.estimator != "nearest":
        return ""
    if is_untested(indices):
        return "; the estimate is too low for true factors, and too high for factors selected by chance"
    return "" if indices.r2_ceiling == 1 else ", or more: the estimate from nearest neighbours is too low"


def _bounds(indices: Indices) -> tuple[float, float]:
    """Return the limits of the interval of the ceiling; 0 or 1 where the rows support no bound."""
    if indices.estimator == "nearest":
        return 0.0, 1.0
    low, high = r2_range(indices) or (0.0, 1.0)
    return 0.0 if is_untested(indices) else low, high  # selection by chance raises it


def _say_coding(indices: Indices) -> str:
    """Return the Brier score that corresponds to the ceiling, and the coding of two classes unless they are 0 and 1."""
    if not indices.classes:
        return ""
    labels = [without_point(printable(label)) for label in indices.classes]
    coding = "" if len(labels) > 2 or labels == ["0", "1"] else f"{labels[1]} = 1, {labels[0]} = 0; "
    return f" ({coding}a Brier score of {indices.response_variance - indices.explained_variance:.3g})"


def without_point(label: str) -> str:
    """Remove the decimals from a label that is a whole number, such as one that missing values turned into a float."""
    return label.removesuffix(".0") if label.removeprefix("-").removesuffix(".0").isdigit() else label


def format_ceiling(indices: Indices) -> str:
    """Format the ceiling with two decimals and its interval; an estimate from nearest rows is too low and has none."""
    if is_untested(indices):
        return f"about {indices.r2_ceiling:.2f}"
    if indices.estimator == "nearest":
        return f"{indices.r2_ceiling:.2f}" + (" or more" if indices.r2_ceiling < 1 else "")
    ends = r2_range(indices)
    if ends is None:
        return f"{indices.r2_ceiling:.2f}"
    decimals = 2 if f"{ends[0]:.2f}" != f"{ends[1]:.2f}" else 4
    if f"{ends[0]:.4f}" == f"{ends[1]:.4f}":
        return f"{indices.r2_ceiling:.4f}"
    return f"{indices.r2_ceiling:.{decimals}f} ({ends[0]:.{decimals}f}–{ends[1]:.{decimals}f})"


def headline(indices: Indices) -> str:
    """Return the answer in a few words: the ceiling, or that nothing was found."""
    if indices.method == "NN":
        return "y taken to be free of noise"
    if not indices.selected.size:
        return name_nothing(indices)
    return f"R² ceiling: {format_ceiling(indices)}"


def name_nothing(indices: Indices) -> str:
    """Return a few words that nothing was selected."""
    return "Not enough evidence for any factor" if is_calibrated(indices) else "No factor explains anything of y"


def say_no_evidence(indices: Indices) -> str:
    """Return the sentence that a selection by the paper's rule is no evidence; empty for other results."""
    if indices.procedure is None or is_calibrated(indices) or not indices.selected.size:
        return ""
    p_values = "; p-values from the other half of the rows are" if indices.procedure.split else ""
    return f"The paper's rule can select factors even from pure noise, so a selection by it is no evidence{p_values}."


def say_no_p_values(indices: Indices) -> str:
    """Return the sentence on why there are intervals but no p-values; empty if that is not the case."""
    if indices.uncertainty is None or not is_untested(indices):
        return ""
    return "No p-values: on the rows that also selected the factors, they would be too small."


def say_weak(indices: Indices) -> str:
    """Return the criterion of a weak factor, in a few words."""
    return f"p > {WEAK:g}" if indices.has_p_values else "the interval reaches 0"


def say_no_shares(indices: Indices) -> str:
    """Return the sentence that too little is explained for meaningful shares; empty if there is enough."""
    if indices.has_shares or indices.uncertainty is None or not indices.selected.size:
        return ""
    return (
        "The ceiling may be 0. Importances are shares of what is explained, so their size is unknown; only their order "
        "is an estimate."
    )


def say_disagreement(indices: Indices) -> str:
    """Return the sentence on why an interval and a p-value disagree about an effect of 0; empty if none do."""
    if not indices.has_p_values or not indices.has_shares:
        return ""
    low = indices.interval(LEVEL)[:, 0]
    small = indices.p_values <= WEAK
    if not (indices.support & ~np.isnan(low) & ((low > 0) != small)).any():
        return ""
    return (
        "p tests whether a factor adds anything; the interval estimates how much, less certainly: the two can disagree."
    )


def say_rest(indices: Indices) -> str:
    """Return the sentence on the share that the factors left out explain together; empty if it is small."""
    evidence = indices.evidence
    n_left_out = 0 if evidence is None else len(evidence.p_values)
    if evidence is None or evidence.rest < LEAST_REST or n_left_out < 2:
        return ""
    more = "another " if indices.selected.size else ""
    return (
        f"Together the {n_left_out:,} left out explain at least {more}{percents(evidence.rest)[0]} of the "
        f"{measure(indices)}, but no single one can be named: many weak factors, or a few that overlap."
    )


def say_rows_judged(indices: Indices) -> str:
    """Return the sentences on the number of rows used, if it is smaller than that of the table; else empty."""
    path, sentences = indices.path, []
    if path is not None and path.n_rows < (path.n_selection_rows or indices.n_rows):
        sentences.append(f"Factors were selected on {path.n_rows:,} rows, drawn at random.")
    if indices.n_averaged is not None:
        sentences.append(f"Importances and the ceiling come from {indices.n_averaged:,} rows, drawn at random.")
    return " ".join(sentences)


def say_bias(indices: Indices, way_out: str) -> str:
    """Return the sentence that far neighbours lower the ceiling; empty if by little, or if a warning covers it."""
    bias = min(indices.sample_size.distance_bias, 1 - indices.r2_ceiling)  # it cannot exceed the apparent noise
    if bias <= LEAST_BIAS or indices.sample_size.supported is not None:
        return ""
    points = f"{100 * bias:.0f} point{'' if round(100 * bias) == 1 else 's'}"
    where = "If these factors matter, the true ceiling is" if is_untested(indices) else "The true ceiling is probably"
    return f"{where} higher, by {points} or more: neighbours are too far apart. {way_out}"
