"""Statements about the other real tables."""

import numpy as np

from ...data.setting import Setting
from ...runs.experiments import CLASS_TABLES, REGRESSION_TABLES
from ...scores.results import Results
from ..printed_numbers import REAL_TABLES
from .claim import Claim


def _ratios(results: Results, sizes: dict[str, tuple[int, int]], classes: bool) -> dict[str, float]:
    cells = {name: Setting(name, *size, classes=classes, part="train") for name, size in sizes.items()}
    return {
        name: float(np.median(results.need("FIRST", setting).values("error ratio"))) for name, setting in cells.items()
    }


def _listed(values: dict[str, float]) -> str:
    return ", ".join(f"{REAL_TABLES[name][0]} {value:.2f}" for name, value in values.items())


def _around_one(results: Results) -> tuple[bool, str]:
    ratios = _ratios(results, REGRESSION_TABLES, classes=False)
    return all(0.85 <= ratio <= 1.15 for ratio in ratios.values()), _listed(ratios)


def _spectra(results: Results) -> tuple[bool, str]:
    cell = results.need("FIRST", Setting("tecator", *REGRESSION_TABLES["tecator"], part="train"))
    count, ratio = (float(np.median(cell.values(metric))) for metric in ("n selected", "error ratio"))
    return 3 <= count <= 5 and ratio <= 1.1, f"{count:.0f} factors, error × {ratio:.2f}"


def _half_of_the_factors(results: Results) -> tuple[bool, str]:
    shares, ratios = {}, _ratios(results, CLASS_TABLES, classes=True)
    for name, (n_rows, n_factors) in CLASS_TABLES.items():
        cell = results.need("FIRST", Setting(name, n_rows, n_factors, classes=True, part="train"))
        shares[name] = float(np.median(cell.values("n selected"))) / n_factors
    mean = float(np.mean(list(shares.values())))
    holds = 0.35 <= mean <= 0.65 and min(ratios.values()) >= 0.95
    return holds, f"{mean:.0%} of the factors; accuracy × {min(ratios.values()):.2f} at least"


CLAIMS = (
    Claim(
        "regression-tables",
        "The error is about the same as with all factors.",
        "median ratio from 0.85 to 1.15 on every table",
        _around_one,
    ),
    Claim(
        "regression-tables",
        "Of the 100 channels of the meat spectra, about 4 predict as well as all.",
        "median number from 3 to 5, median ratio of errors at most 1.1",
        _spectra,
    ),
    Claim(
        "class-tables",
        "About half of the factors predict as well as all.",
        "35 to 65 % of the factors on average, median ratio of accuracies at least 0.95 on every table",
        _half_of_the_factors,
    ),
)
