"""Statements about importances on the Friedman function."""

from collections.abc import Iterable

import numpy as np

from ...runs.experiments import RANKING
from ...scores.metrics import normalised_truth
from ...scores.results import Results, at
from ..printed_numbers import TIMES_OF_FIRST
from .claim import Check, Claim, best_other, named, time_ratio, times

FRIEDMAN = at("friedman", 0.8)
MISLED = ("FILTER", "RF", "RF-SHAP")
LAST_FOUR = [6, 7, 8, 9]
EIGHTH = 7  # enters by a square alone
FASTER = "FIRST is much faster here, as the times with many factors show, and the competitors are other software."


def _distances(results: Results, methods: Iterable[str]) -> dict[str, float]:
    return {name: results.mean(name, FRIEDMAN, "distance").value for name in methods}


def _first_is_nearest(results: Results) -> tuple[bool, str]:
    distances = _distances(results, ("FIRST", *RANKING))
    return min(distances, key=distances.__getitem__) == "FIRST", named(distances)


def _misled_by_correlation(results: Results) -> tuple[bool, str]:
    distances = _distances(results, ("FIRST", *MISLED))
    return all(distances[name] >= 2 * distances["FIRST"] for name in MISLED), named(distances)


def _lasso_overlooks_the_square(results: Results) -> tuple[bool, str]:
    median = float(np.median(results.need("LASSO", FRIEDMAN).normalised[:, EIGHTH]))
    true = float(normalised_truth(FRIEDMAN)[EIGHTH])
    return median < 0.1 * true, f"LASSO {median:.3f}, truth {true:.3f}"


def _cosso_and_rfvs_are_reasonable(results: Results) -> tuple[bool, str]:
    distances = _distances(results, ("COSSO", "RF-VS", *MISLED, "LASSO"))
    return max(list(distances.values())[:2]) < min(list(distances.values())[2:]), named(distances)


def _time(method: str) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        ratio = time_ratio(results, method, (FRIEDMAN,))
        return 0.5 <= ratio / TIMES_OF_FIRST[method] <= 2, times(ratio)

    return check


def _vimp_is_expensive(results: Results) -> tuple[bool, str]:
    ratio = time_ratio(results, "VIMP-R2", (FRIEDMAN,))
    return ratio >= 10, times(ratio)


def _vimp_keeps_the_unimportant(results: Results) -> tuple[bool, str]:
    noise = [j for j in range(FRIEDMAN.n_factors) if j not in FRIEDMAN.true_factors]
    kept = (results.need("VIMP-R2", FRIEDMAN).importances[:, noise] > 0).mean()
    return bool(kept >= 0.2), f"{kept:.0%}"


def _vimp_is_good_at_the_last_four(results: Results) -> tuple[bool, str]:
    errors = {}
    for name in ("VIMP-R2", *MISLED, "LASSO"):
        misses = results.need(name, FRIEDMAN).normalised[:, LAST_FOUR] - normalised_truth(FRIEDMAN)[LAST_FOUR]
        errors[name] = float(np.abs(misses).mean())
    return min(errors, key=errors.__getitem__) == "VIMP-R2", named(errors)


def _clear_winner(results: Results) -> tuple[bool, str]:
    ours = results.mean("FIRST", FRIEDMAN, "tau")
    name, theirs = best_other(results, RANKING, FRIEDMAN)
    return ours.value > theirs.value, f"FIRST {ours}, {name} {theirs}"


CLAIMS = (
    Claim(
        "importance",
        "FIRST comes nearest to the true importances.",
        "smallest mean distance of all methods (half the sum of absolute differences of normalised importances)",
        _first_is_nearest,
    ),
    Claim(
        "importance",
        "FILTER, RF and RF-SHAP struggle with the correlation.",
        "at least twice as far from the truth as FIRST",
        _misled_by_correlation,
    ),
    Claim(
        "importance",
        "LASSO overlooks what is not linear.",
        "median importance of X8, which enters by its square, below a tenth of the truth",
        _lasso_overlooks_the_square,
    ),
    Claim(
        "importance",
        "COSSO and RF-VS give reasonable estimates.",
        "nearer to the truth than FILTER, RF, RF-SHAP and LASSO",
        _cosso_and_rfvs_are_reasonable,
    ),
    *(
        Claim(
            "importance",
            f"{name} takes about {ratio} times as long as FIRST.",
            "ratio of median times within a factor of 2",
            _time(name),
            FASTER,
        )
        for name, ratio in TIMES_OF_FIRST.items()
    ),
    Claim("importance", "VIMP-R2 is much more expensive.", "at least 10 times the time of FIRST", _vimp_is_expensive),
    Claim(
        "importance",
        "VIMP-R2 has difficulty filtering out factors that do not matter.",
        "it gives at least 20 % of them a positive importance",
        _vimp_keeps_the_unimportant,
    ),
    Claim(
        "importance",
        "VIMP-R2 is good at the importances of X7 to X10.",
        "mean absolute error there below that of FILTER, RF, RF-SHAP and LASSO",
        _vimp_is_good_at_the_last_four,
    ),
    Claim("importance", "FIRST is the clear winner in τ.", "highest mean", _clear_winner),
)
