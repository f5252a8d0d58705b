"""How good standard errors, intervals and p-values are: the repetitions of a cell held against the truth."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from ..data.arrays import Floats
from ..data.setting import SOURCES
from ..methods.ours import ALPHA
from ..methods.outcome import LEVEL
from .estimates import Estimate, estimate
from .results import Cell
from .truths import true_ceiling, truth

SMALL = 0.05
"""p-values up to here are taken for evidence."""


@dataclass(frozen=True)
class Quality:
    """Estimates of one quantity with their standard errors, held against the truth."""

    name: str
    truth: float
    bias: Estimate
    mean_error: float
    """Mean of the standard errors that came with the estimates."""
    mean_width: float
    """Mean width of the intervals."""
    covered: Estimate
    """How often the interval holds the truth."""

    @property
    def deviation(self) -> float:
        """Standard deviation over repetitions, which standard errors should be like."""
        return self.bias.deviation


def qualities(cell: Cell) -> list[Quality]:
    """Return how good the indices of the factors of a model are, and last the R² ceiling."""
    setting = cell.setting
    errors, lower, upper = (listed(cell, field) for field in ("standard_errors", "lower", "upper"))
    indices = [
        quality(f"X{place + 1}", truth(setting)[j], cell.importances[:, j], errors[:, j], lower[:, j], upper[:, j])
        for j, place in enumerate(SOURCES[setting.source].true_factors)
    ]
    of_ceiling = (_certainty(cell, "ceiling_error"), *listed(cell, "ceiling_interval", 2).T)
    return [*indices, quality("ceiling", true_ceiling(setting), ceilings(cell), *of_ceiling)]


def quality(name: str, true: float, values: Floats, errors: Floats, lower: Floats, upper: Floats) -> Quality:
    """Return how good estimates are; where no interval is stored, it is the one of the standard error."""
    margins = norm.ppf((1 + LEVEL) / 2) * errors
    low = np.where(np.isnan(lower), values - margins, lower)
    high = np.where(np.isnan(upper), values + margins, upper)
    covered = ((low <= true) & (true <= high)).astype(float)
    return Quality(
        name,
        true,
        estimate(values - true),
        float(errors.mean()),
        float((high - low).mean()),
        estimate(covered, share=True),
    )


def next_p_values(cell: Cell) -> Floats:
    """Return the p-value of the first step beyond the factors given, in each repetition."""
    return cell.rows["p_value"].to_numpy().astype(float)


def alarms_of_next_step(cell: Cell) -> Estimate:
    """Return how often the first step beyond the factors given lets one in."""
    return estimate((next_p_values(cell) <= ALPHA).astype(float), share=True)


def small_p_values(cell: Cell) -> Estimate:
    """Return how often a factor that adds nothing has a small p-value; those of one table are not independent."""
    nulls = [j for j in range(cell.setting.n_factors) if j not in cell.setting.true_factors]
    shares = (listed(cell, "p_values")[:, nulls] <= SMALL).mean(axis=1)
    return estimate(shares, share=not np.ptp(shares))  # the same in all runs is not certain to be so in the next one


def distance_share(cell: Cell) -> float:
    """Return how far neighbours are, on average."""
    return float(_certainty(cell, "distance_share").mean())


def ceilings(cell: Cell) -> Floats:
    """Return the R² ceiling in each repetition."""
    return cell.rows["ceiling"].to_numpy().astype(float)


def mean_ceiling(cell: Cell) -> Estimate | None:
    """Return the mean R² ceiling over repetitions that have one, if any has."""
    values = ceilings(cell)
    known = values[~np.isnan(values)]
    return estimate(known) if known.size else None


def ceiling_error(cell: Cell) -> Estimate:
    """Return how far the R² ceiling is from the truth."""
    return estimate(ceilings(cell) - true_ceiling(cell.setting))


def all_found(cell: Cell) -> NDArray[np.bool_]:
    """Return in which repetitions all true factors are selected, so that the true indices are relative to the same."""
    return np.asarray(_chosen(cell)[:, list(cell.setting.true_factors)].all(axis=1))


def overestimation(cell: Cell) -> Estimate:
    """Return by how much the indices of true factors are too large on average, where all of them were found."""
    true = list(cell.setting.true_factors)
    excess = cell.importances[:, true] - truth(cell.setting)[true]
    return estimate(excess[all_found(cell)].mean(axis=1))


def given_to_others(cell: Cell) -> Estimate:
    """Return the sum of the importances of factors that do nothing."""
    others = np.delete(cell.importances, list(cell.setting.true_factors), axis=1)
    return estimate(others.sum(axis=1))


def pooled(cells: list[Cell], metric: str) -> Estimate:
    """Return the share over all repetitions of several cells."""
    return estimate(np.concatenate([cell.values(metric) for cell in cells]), share=True)


def paired_difference(cell: Cell, other: Cell, metric: str) -> Estimate:
    """Return the mean difference over tables that both cells have.

    Its spread is taken after adding one table on which the first is right alone and one for the second, so that a
    hundred tables without a difference are not taken for certainty.
    """
    ours, theirs = same_repetitions(cell, other)
    differences = cell.values(metric)[ours] - other.values(metric)[theirs]
    return Estimate(float(differences.mean()), float(np.append(differences, [1.0, -1.0]).std(ddof=1)), len(differences))


def importance_difference(cell: Cell, other: Cell) -> Estimate:
    """Return how far importances are from those of another cell in the same repetition: the mean over all factors."""
    ours, theirs = same_repetitions(cell, other)
    return estimate(np.abs(cell.importances[ours] - other.importances[theirs]).mean(axis=1))


def same_repetitions(cell: Cell, other: Cell) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where the repetitions that both cells have are in each."""
    _, ours, theirs = np.intersect1d(
        cell.rows["repetition"].to_numpy(), other.rows["repetition"].to_numpy(), return_indices=True
    )
    return ours, theirs


def _chosen(cell: Cell) -> NDArray[np.bool_]:
    """Return which factors were selected: all, where none were to be selected."""
    if cell.rows["selected"].null_count():
        return np.ones(cell.importances.shape, dtype=bool)
    return cell.selected


def _certainty(cell: Cell, field: str) -> Floats:
    return cell.rows["certainty"].struct.field(field).to_numpy().astype(float)


def listed(cell: Cell, field: str, length: int | None = None) -> Floats:
    """Return a value for every factor, or so many, one row per repetition; not a number where none are stored."""
    length = cell.setting.n_factors if length is None else length
    lists = cell.rows["certainty"].struct.field(field).to_list()
    known = [[np.nan] * length if one is None else one for one in lists]
    return np.array(known, dtype=float).reshape(cell.n, length)
