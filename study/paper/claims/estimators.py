"""Statements about the accuracy of the estimators."""

from collections.abc import Iterable

import numpy as np

from ...data.setting import Setting
from ...scores.results import Results
from ..printed_numbers import ISHIGAMI
from .claim import Claim

ESTIMATORS = Setting("ishigami", 10_000, 3)


def _listed(values: Iterable[float], digits: int = 3) -> str:
    return ", ".join(f"{value:.{digits}f}" for value in values)


def _nn_overestimates(results: Results) -> tuple[bool, str]:
    above = (results.need("NN", ESTIMATORS).importances > ISHIGAMI).mean(axis=0)
    return bool((above >= 0.95).all()), f"share of runs above: {_listed(above, 2)}"


def _nanne_is_accurate(results: Results) -> tuple[bool, str]:
    means = {name: results.need(name, ESTIMATORS).importances.mean(axis=0) for name in ("NANNE", "NN")}
    errors = {name: np.abs(mean - ISHIGAMI) for name, mean in means.items()}
    holds = bool((errors["NANNE"] <= 0.02).all() and (errors["NANNE"] < errors["NN"]).all())
    return holds, f"errors of the mean: NANNE {_listed(errors['NANNE'])}; NN {_listed(errors['NN'])}"


def _two_neighbours_are_better(results: Results) -> tuple[bool, str]:
    two, three = (
        float(np.sqrt(((results.need(name, ESTIMATORS).importances - ISHIGAMI) ** 2).mean()))
        for name in ("NANNE", "NANNE-3")
    )
    return two < three, f"two neighbours {two:.3f}; three {three:.3f}"


CLAIMS = (
    Claim(
        "estimators",
        "With noise, NN overestimates the total indices consistently.",
        "NN is above the analytic value in at least 95 % of the runs, for every factor",
        _nn_overestimates,
    ),
    Claim(
        "estimators",
        "NANNE does away with the overestimation and is accurate.",
        "the mean is within 0.02 of the analytic value and nearer than that of NN, for every factor",
        _nanne_is_accurate,
    ),
    Claim(
        "estimators",
        "Two neighbours make NANNE more robust than three.",
        "smaller root mean squared error over the three factors",
        _two_neighbours_are_better,
    ),
)
