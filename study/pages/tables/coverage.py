"""Bias, standard errors and intervals of both estimators."""

from collections.abc import Iterable
from dataclasses import replace

from ...data.labels import label
from ...data.setting import Setting
from ...runs.experiments import (
    COVERAGE,
    COVERAGE_LARGE,
    ESTIMATORS,
)
from ...scores.certainty import Quality, qualities
from ...scores.results import Results
from ..layout import NOTHING, Table


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
        rows += [(f"{size}: {one.name}", *quality_cells(one), str(cell.n)) for one in qualities(cell)]
    return rows


def quality_cells(one: Quality) -> tuple[str, ...]:
    """Return the truth about a quantity, and how good its estimates are."""
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
