"""What a result says and how sure it is, in figures and sentences that the terminal, pictures and pages share."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from .._utils.text import printable
from .formats import percents
from .indices import WEAK, Indices

# How often the intervals that are shown hold the truth.
LEVEL = 0.95

# What factors left out explain together is said if it is at least this share of Var(Y).
LEAST_REST = 0.01

# A ceiling that is too low by less than this share of Var(Y) is not worth a word.
LEAST_BIAS = 0.01

# What factors are, in words: one, and several.
KINDS = {
    "number": "numbers",
    "category": "categories",
    "ordered": "ordered",
    "date": "dates",
    "periodic": "periodic",
    "group": "groups",
    "constant": "constant",
}


def intervals(indices: Indices) -> NDArray[np.float64]:
    """The interval of each importance, (factors, 2); not a number where there is none.

    The importance of a factor that stands alone is 1 by definition: that has no interval either.
    """
    if indices.uncertainty is None:
        return np.full((indices.values.size, 2), np.nan)
    return np.where(indices.standard_errors[:, None] > 0, indices.interval(LEVEL), np.nan)


def r2_range(indices: Indices) -> tuple[float, float] | None:
    """The interval of the ceiling, or None where there is none to speak of."""
    sure = indices.uncertainty
    if sure is None or not sure.r2 > 0 or not indices.selected.size:
        return None
    return indices.r2_interval(LEVEL)


def name_response(name: str, how: str) -> str:
    """What of a response is explained, in words: its values, ranks or normal scores."""
    return name if how == "values" else f"the {how.replace('-', ' ')} of {name}"


def measure(indices: Indices) -> str:
    """What of the response is explained: the variance of numbers, or what plays its part for several classes."""
    return "Gini impurity" if len(indices.classes) > 2 else "variance"


def say_kinds(indices: Indices) -> str:
    """How many factors there are of each kind."""
    kinds: Counter[str] = Counter(indices.kinds)
    return ", ".join(f"{n:,} {many if n > 1 else kind}" for kind, many in KINDS.items() if (n := kinds[kind]))


def say_missing(indices: Indices, most: int = 8) -> str:
    """The sentence on how many values are missing in which factor; nothing if none are."""
    worst = sorted((i for i, count in enumerate(indices.missing) if count), key=lambda i: -indices.missing[i])
    if not worst:
        return ""
    named = ", ".join(f"{printable(indices.names[i])} {indices.missing[i]:,}" for i in worst[:most])
    more = f" and {len(worst) - most:,} more factors" if len(worst) > most else ""
    return f"Missing values: {named}{more}. A missing value counts as a level of its own; no row was left out for it."


def is_calibrated(indices: Indices) -> bool:
    """Tell whether factors were selected by evidence."""
    return indices.procedure is not None and indices.procedure.rule == "calibrated"


def is_untested(indices: Indices) -> bool:
    """Tell whether the same rows selected the factors by the paper's rule, which selects from noise as well."""
    procedure = indices.procedure
    return procedure is not None and procedure.rule == "paper" and not procedure.split and indices.selected.size > 0


def share_name(indices: Indices) -> str:
    """What the numbers of a result are called, in two words."""
    return "fair share" if indices.is_shapley else "lost without"


def say_ceiling(indices: Indices, response: str) -> str:
    """The sentence on how much of the response models can explain, or that nothing was found.

    It is about the selected factors, or about all of them if none were selected. A bound is claimed only where the rows
    give one: nearest rows are never at the same point, so that a ceiling from them comes out low; and of factors that
    chance selected it comes out high.
    """
    ceiling, what = indices.r2_ceiling, f"of the {measure(indices)} of {response}"
    if not indices.selected.size:
        return say_nothing_selected(indices, response)
    if ceiling <= 0:
        return f"In {indices.n_rows:,} rows, nothing {what} seems to be explained by {_factors(indices)}."
    low, high = _bounds(indices)
    about, least, most = percents(ceiling, low, high)
    share = "all" if ceiling == 1 else f"about {about}"
    ends = [f"at least {least}"] * (low > 0) + [f"at most {most}"] * (high < 1)
    how_sure = f": {' and '.join(ends)}, as far as these rows can tell" if ends else _say_low(indices)
    return f"From {_factors(indices)}, models can explain {share} {what}{_say_coding(indices)}{how_sure}."


def say_nothing_selected(indices: Indices, response: str) -> str:
    """The sentence that no factor was selected."""
    if is_calibrated(indices) and indices.procedure is not None:
        if say_rest(indices):
            return f"No single factor can be named that {response} depends on (alpha = {indices.procedure.alpha:g})."
        return (
            f"In {indices.n_rows:,} rows, there is not enough evidence that {response} depends on any factor "
            f"(alpha = {indices.procedure.alpha:g})."
        )
    return f"In {indices.n_rows:,} rows, no factor explains anything of the {measure(indices)} of {response}."


def _factors(indices: Indices) -> str:
    """The factors that a ceiling is of, in words."""
    if indices.path is None:
        return "the only factor" if len(indices.names) == 1 else f"all {len(indices.names):,} factors together"
    return "the selected factor" if indices.selected.size == 1 else f"the {indices.selected.size:,} selected factors"


def _say_low(indices: Indices) -> str:
    """In which direction a ceiling from nearest rows is off; nothing for other ceilings."""
    if indices.estimator != "nearest":
        return ""
    if is_untested(indices):
        return ", by an estimate that comes out low for true factors and high for those that chance selected"
    return "" if indices.r2_ceiling == 1 else ", or more: the estimate from nearest rows comes out low"


def _bounds(indices: Indices) -> tuple[float, float]:
    """Both ends of the interval of the ceiling; 0 and 1 where they say nothing."""
    if indices.estimator == "nearest":
        return 0.0, 1.0
    low, high = r2_range(indices) or (0.0, 1.0)
    return 0.0 if is_untested(indices) else low, high  # chance that selected raises it


def _say_coding(indices: Indices) -> str:
    """The Brier score that goes with a ceiling, and which of two classes counts as 1 where that is not plain."""
    if not indices.classes:
        return ""
    labels = [without_point(printable(label)) for label in indices.classes]
    coding = "" if len(labels) > 2 or labels == ["0", "1"] else f"{labels[1]} = 1, {labels[0]} = 0; "
    return f" ({coding}a Brier score of {indices.response_variance - indices.explained_variance:.3g})"


def without_point(label: str) -> str:
    """A class as it was written: whole numbers that a missing value made decimal ones have no decimals."""
    return label.removesuffix(".0") if label.removeprefix("-").removesuffix(".0").isdigit() else label


def format_ceiling(indices: Indices) -> str:
    """The ceiling with two decimals and its interval; one that comes out low is no bound and has none."""
    if is_untested(indices):
        return f"about {indices.r2_ceiling:.2f}"
    if indices.estimator == "nearest":
        return f"{indices.r2_ceiling:.2f}" + (" or more" if indices.r2_ceiling < 1 else "")
    ends = r2_range(indices)
    if ends is None:
        return f"{indices.r2_ceiling:.2f}"
    decimals = 2 if f"{ends[0]:.2f}" != f"{ends[1]:.2f}" else 4
    return f"{indices.r2_ceiling:.{decimals}f} ({ends[0]:.{decimals}f}–{ends[1]:.{decimals}f})"


def headline(indices: Indices) -> str:
    """The answer in a few words: the ceiling, or that nothing was found."""
    if indices.method == "NN":
        return "y taken to be free of noise"
    if not indices.selected.size:
        return name_nothing(indices)
    return f"R² ceiling: {format_ceiling(indices)}"


def name_nothing(indices: Indices) -> str:
    """That nothing was selected, in a few words."""
    return "Not enough evidence for any factor" if is_calibrated(indices) else "No factor explains anything of y"


def say_no_evidence(indices: Indices) -> str:
    """The sentence on what a selection by the paper's rule is worth; nothing for other results."""
    if indices.procedure is None or is_calibrated(indices) or not indices.selected.size:
        return ""
    p_values = "; p-values from the other half of the rows are" if indices.procedure.split else ""
    return (
        "By the paper's rule, some factor raises what seems to be explained even in pure noise, so a selection by it "
        f"is no evidence{p_values}."
    )


def say_no_p_values(indices: Indices) -> str:
    """The sentence on why there are intervals but no p-values; nothing where there are."""
    if indices.uncertainty is None or not is_untested(indices):
        return ""
    return "No p-values: from the rows that also selected the factors they would be too small."


def say_weak(indices: Indices) -> str:
    """What makes a factor weak, in a few words."""
    return f"p > {WEAK:g}" if indices.has_p_values else "the interval reaches 0"


def say_no_shares(indices: Indices) -> str:
    """The sentence that too little is explained to have shares of; nothing if there is enough."""
    if indices.has_shares or indices.uncertainty is None or not indices.selected.size:
        return ""
    return (
        "The ceiling may be 0. Importances are shares of what is explained, so their size is unknown; only their order "
        "is an estimate."
    )


def say_disagreement(indices: Indices) -> str:
    """The sentence on why an interval reaches 0 though p is small, or does not though p is large; or nothing."""
    if not indices.has_p_values or not indices.has_shares:
        return ""
    low = indices.interval(LEVEL)[:, 0]
    small = indices.p_values <= WEAK
    if not (indices.support & ~np.isnan(low) & ((low > 0) != small)).any():
        return ""
    return "p says whether a factor adds anything, the interval how much, which is less certain: the two can disagree."


def say_rest(indices: Indices) -> str:
    """The sentence on what the factors left out explain together, though none can be named; nothing if little."""
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
    """The sentences on how many rows were looked at, if fewer than there were; or nothing."""
    path, said = indices.path, []
    if path is not None and path.n_rows < (path.rows_apart or indices.n_rows):
        said.append(f"Factors were selected on {path.n_rows:,} rows, drawn at random.")
    if indices.n_averaged is not None:
        said.append(f"Importances and the ceiling come from {indices.n_averaged:,} rows, drawn at random.")
    return " ".join(said)


def say_bias(indices: Indices, way_out: str) -> str:
    """The sentence that far neighbours lower the ceiling; nothing if by little, or too few rows explain it."""
    bias = min(indices.sample_size.distance_bias, 1 - indices.r2_ceiling)  # it cannot be more than seems to be noise
    if bias <= LEAST_BIAS or indices.sample_size.supported is not None:
        return ""
    points = f"{100 * bias:.0f} point{'' if round(100 * bias) == 1 else 's'}"
    where = "If these factors matter, the true ceiling is" if is_untested(indices) else "The true ceiling is probably"
    return f"{where} higher, by {points} or more: neighbours are too far apart. {way_out}"
