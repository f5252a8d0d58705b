"""Tables on how sure answers are: the calibrated rule, standard errors, intervals and p-values."""

from collections.abc import Iterable
from dataclasses import replace

from firstfactor.inference.sample_size import MAX_DISTANCE_SHARE

from ..data.labels import label
from ..data.setting import Setting
from ..paper.claims.requirements import EXACT, allowed_alarms
from ..runs.experiments import (
    CALIBRATED,
    CHOOSING,
    CHOSEN,
    COVERAGE,
    COVERAGE_LARGE,
    CROWDED,
    ESTIMATORS,
    FEW,
    NOT_CHOSEN,
    NULL_FACTORS,
    PURE_NOISE,
)
from ..scores import certainty
from ..scores.certainty import Quality, paired_difference, qualities, small_p_values
from ..scores.estimates import estimate
from ..scores.results import Cell, Results
from ..scores.truths import true_ceiling
from .layout import NOTHING, Table


def tabulate_noise(results: Results) -> list[Table]:
    """How often something is selected where there is nothing."""
    rows = []
    for setting in PURE_NOISE:
        ours, theirs = (results.find(name, setting) for name in ("CALIBRATED", "FIRST"))
        rows.append(
            (
                label(setting),
                _mean(ours, "any selected", 3),
                f"{allowed_alarms(ours.n):.3f}" if ours.n else NOTHING,
                str(ours.n),
                _mean(theirs, "any selected"),
                _mean(theirs, "n selected", 1),
                str(theirs.n),
            )
        )
    header = ("", "calibrated", "allowed", "runs", "paper's rule", "factors", "runs")
    note = "Factors: how many the paper's rule selects on average."
    return [Table("Share of runs in which something is selected ± standard error", header, rows, note)]


def tabulate_calibrated(results: Results) -> list[Table]:
    """Exact selection, true and false positives by the calibrated rule and by the paper's."""
    exact, rates = [], []
    for setting in CALIBRATED:
        ours, theirs = (results.find(name, setting) for name in ("CALIBRATED", "FIRST"))
        difference = paired_difference(ours, theirs, "exact").text(2, sign=True) if ours.n and theirs.n else NOTHING
        required = f"{EXACT[setting]:.2f}" if setting in EXACT else ""
        exact.append(
            (label(setting), _mean(ours, "exact"), required, _mean(theirs, "exact"), difference, _runs(ours, theirs))
        )
        shown = [
            _mean(cell, metric, decimals)
            for cell in (ours, theirs)
            for metric, decimals in (("true positives", 2), ("false positives", 3))
        ]
        rates.append((label(setting), *shown, _runs(ours, theirs)))
    return [
        Table(
            "Share of exact selections ± standard error",
            ("", "calibrated", "required", "paper's rule", "difference", "runs"),
            exact,
            "Both rules see the same tables, and the difference has the standard error of pairs.",
        ),
        Table(
            "Rates of true and false positives ± standard error: the calibrated rule, and the paper's",
            ("", "TPR", "FPR", "paper: TPR", "FPR", "runs"),
            rates,
        ),
    ]


def tabulate_coverage(results: Results) -> list[Table]:
    """Bias, spread and coverage of both estimators, and standard errors from subsamples."""
    header = ("", "truth", "bias", "deviation", "standard error", "covered", "runs")
    tables = [
        Table(f"{label(sizes[0])}: {name.lower()}", header, _coverage_rows(results, name, sizes))
        for sizes in zip(COVERAGE, COVERAGE_LARGE, strict=True)
        for name in reversed(ESTIMATORS)
    ]
    note = (
        "Deviation: standard deviation over runs, which the mean standard error should be like. Covered: share of "
        "intervals of 95 % that hold the truth."
    )
    return [*tables[:-1], replace(tables[-1], note=note), _subsamples(results)]


def _coverage_rows(results: Results, method: str, sizes: Iterable[Setting]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for setting in sizes:
        cell, size = results.find(method, setting), f"N = {setting.n_rows:,}"
        if not cell.n:
            rows.append((size, *[NOTHING] * 5, "0"))
            continue
        rows += [(f"{size}: {one.name}", *_quality_cells(one), str(cell.n)) for one in qualities(cell)]
    return rows


def _quality_cells(one: Quality) -> tuple[str, ...]:
    numbers = (f"{one.deviation:.4f}", f"{one.mean_error:.4f}", one.covered.text(2))
    return (f"{one.truth:.4f}", one.bias.text(4, sign=True), *numbers)


def _subsamples(results: Results) -> Table:
    rows = []
    for name in reversed(ESTIMATORS):
        for setting in COVERAGE:
            plug_in, subsample = (results.find(method, setting) for method in (name, f"{name}-SUBSAMPLE"))
            title = f"{label(setting)}: {name.lower()}"
            if not plug_in.n or not subsample.n:
                rows.append((title, *[NOTHING] * 4, "0"))
                continue
            ratios = [
                function(value / one.deviation for value, one in zip(values, qualities(plug_in), strict=True))
                for values in ([one.mean_error for one in qualities(cell)] for cell in (plug_in, subsample))
                for function in (min, max)
            ]
            rows.append((title, *(f"{ratio:.2f}" for ratio in ratios), str(subsample.n)))
    header = ("", "plug-in: lowest", "highest", "subsample: lowest", "highest", "runs")
    return Table(
        "Mean standard errors over the standard deviation over runs, lowest and highest of all indices and the ceiling",
        header,
        rows,
    )


def tabulate_p_values(results: Results) -> list[Table]:
    """How often a factor that adds nothing has a small p-value."""
    rows = []
    for setting in NULL_FACTORS:
        cells = [results.find(name, setting) for name in ESTIMATORS]
        shares = [small_p_values(cell).text(3) if cell.n else NOTHING for cell in cells]
        rows.append((label(setting), *shares, _runs(*cells)))
    header = ("", *(name.lower() for name in ESTIMATORS), "runs")
    note = (
        "Shares below 0.05 are on the safe side: beside factors that matter, one that adds nothing moves neighbours "
        "apart, so that it seems to do harm rather than good."
    )
    return [Table("Share of p-values up to 0.05 ± standard error, of factors that add nothing", header, rows, note)]


def tabulate_after_selection(results: Results) -> list[Table]:
    """How much too large importances and the ceiling are after a selection, with and without a split."""
    header = ("", "all found", "true factors", "false factors", "ceiling", "runs")
    note = (
        "All found: share of runs in which all factors of the model are selected. True factors: in these, estimated "
        "minus true index, mean over the factors. False factors: sum of their importances. Ceiling: estimated minus "
        "true. Given: nothing but the factors of the model, and nothing to choose."
    )
    tables = []
    for setting in (one for one in CHOSEN if one.true_factors):
        rows = [_after_selection(results.find(name, setting), name) for name in CHOOSING]
        rows += [
            _after_selection(results.find(name, given), f"given, N = {given.n_rows:,}: {name}")
            for name in ESTIMATORS
            for given in NOT_CHOSEN
            if given.n_rows in (setting.n_rows, setting.n_rows // 2)
        ]
        tables.append(Table(f"Friedman, {_size(setting)}, ρ = 0.8: mean ± standard error", header, rows))
    noise = [
        _from_noise(results.find(name, setting), f"p = {setting.n_factors}: {name}")
        for setting in CHOSEN
        if not setting.true_factors
        for name in CHOOSING
    ]
    return [
        *tables[:-1],
        replace(tables[-1], note=note),
        Table("Pure noise, N = 1,000: mean ± standard error", ("", "factors", "R² ceiling", "highest", "runs"), noise),
    ]


def _after_selection(cell: Cell, title: str) -> tuple[str, ...]:
    if not cell.n:
        return (title, *[NOTHING] * 4, "0")
    found = certainty.all_found(cell)
    too_large = certainty.overestimation(cell).text(3, sign=True) if found.sum() >= FEW else NOTHING
    others, ceiling = certainty.given_to_others(cell).text(3), certainty.ceiling_error(cell).text(3, sign=True)
    return (title, str(estimate(found.astype(float), share=True)), too_large, others, ceiling, str(cell.n))


def _from_noise(cell: Cell, title: str) -> tuple[str, ...]:
    if not cell.n:
        return (title, *[NOTHING] * 3, "0")
    ceiling, highest = certainty.ceiling_error(cell), certainty.ceilings(cell).max()
    return (title, _mean(cell, "n selected", 1), ceiling.text(3, sign=True), f"{highest:.3f}", str(cell.n))


def tabulate_too_few_rows(results: Results) -> list[Table]:
    """The R² ceiling next to how far neighbours are."""
    rows = []
    for setting in CROWDED:
        cells = [results.find(name, setting) for name in ESTIMATORS]
        if not all(cell.n for cell in cells):
            rows.append((_size(setting), *[NOTHING] * 4, "0"))
            continue
        share = certainty.distance_share(cells[0])
        errors = [certainty.ceiling_error(cell).text(3, sign=True) for cell in cells]
        rows.append(
            (_size(setting), f"{share:.3f}", "yes" if share > MAX_DISTANCE_SHARE else "no", *errors, _runs(*cells))
        )
    header = ("", "distance share", "warns", *(name.lower() for name in ESTIMATORS), "runs")
    title = f"R² ceiling, estimated minus true ({true_ceiling(CROWDED[0]):.3f}): mean ± standard error"
    return [Table(title, header, rows)]


def _size(setting: Setting) -> str:
    return f"N = {setting.n_rows:,}, p = {setting.n_factors}"


def _mean(cell: Cell, metric: str, decimals: int = 2) -> str:
    return cell.mean(metric).text(decimals) if cell.n else NOTHING


def _runs(*cells: Cell) -> str:
    return str(min(cell.n for cell in cells))
