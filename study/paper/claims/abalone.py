"""Statements about Abalone."""

import numpy as np
from scipy.stats import kendalltau

from ...data.arrays import Floats
from ...runs.experiments import BY_NAME
from ...scores.results import Results
from ..printed_numbers import ABALONE as ABALONE_FACTORS
from .claim import Claim

ABALONE, ABALONE_SUBSETS = (plan.settings[0] for plan in BY_NAME["abalone"].plans)

ALL_EIGHT = 255
SEEDS = (
    "The errors of the best subsets are no farther apart than those of forests on the same factors with other seeds."
)


def subset_errors(results: Results) -> Floats:
    """Return the out-of-bag error of a forest on each subset of the Abalone factors, by its number; 0 has none."""
    cell = results.need("RF", ABALONE_SUBSETS, at_least=ALL_EIGHT)
    errors = np.full(ALL_EIGHT + 1, np.inf)
    errors[cell.rows["repetition"].to_numpy()] = cell.rows["error"].to_numpy()
    return errors


def abalone_selection(results: Results) -> list[int]:
    """Return the factors that FIRST selects."""
    selected: list[int] = results.need("FIRST", ABALONE, at_least=1).rows["selected"][0].to_list()
    return selected


def selection_number(selected: list[int]) -> int:
    """Return the number of a subset: its positions as ones in binary."""
    return sum(1 << j for j in selected)


def increments(results: Results) -> Floats:
    """Return how much the error of the forest on FIRST's factors grows without each of them; 0 for the others."""
    errors, selected = subset_errors(results), abalone_selection(results)
    base = selection_number(selected)
    grown = np.zeros(ABALONE.n_factors)
    grown[selected] = [errors[base ^ (1 << j)] - errors[base] for j in selected]
    return grown


def _leaves_out_height(results: Results) -> tuple[bool, str]:
    left_out = [name for j, name in enumerate(ABALONE_FACTORS) if j not in abalone_selection(results)]
    return left_out == ["height"], f"left out: {', '.join(left_out) or 'none'}"


def _better_than_all(results: Results) -> tuple[bool, str]:
    errors = subset_errors(results)
    ours = errors[selection_number(abalone_selection(results))]
    return bool(ours < errors[ALL_EIGHT]), f"{ours:.3f} against {errors[ALL_EIGHT]:.3f}"


def _best_subset(results: Results) -> tuple[bool, str]:
    errors = subset_errors(results)
    ours = errors[selection_number(abalone_selection(results))]
    better = int((errors < ours).sum())
    return better == 0, f"number {better + 1} of 255 with {ours:.3f}; the best has {errors.min():.3f}"


def _importances_go_with_errors(results: Results) -> tuple[bool, str]:
    importances = results.need("FIRST", ABALONE, at_least=1).importances[0]
    tau = float(kendalltau(importances, increments(results)).statistic)
    return tau >= 0.6, f"τ = {tau:.2f}"


def _printed_tau() -> float:
    importances, grown = zip(*((a.value, b.value) for a, b in ABALONE_FACTORS.values()), strict=True)
    return float(kendalltau(importances, grown).statistic)


CLAIMS = (
    Claim("abalone", "FIRST leaves out height, and nothing else.", "the same selection", _leaves_out_height),
    Claim(
        "abalone",
        "A forest on the seven factors errs less than on all eight.",
        "smaller out-of-bag error",
        _better_than_all,
        SEEDS,
    ),
    Claim(
        "abalone",
        "No other subset of the factors gives a better forest.",
        "smallest out-of-bag error of all subsets",
        _best_subset,
        SEEDS,
    ),
    Claim(
        "abalone",
        "The order of the importances goes with what a forest loses without the factor.",
        f"τ between the two at least 0.6 (from the paper's printed numbers: {_printed_tau():.2f})",
        _importances_go_with_errors,
    ),
)
