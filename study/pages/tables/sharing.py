"""What factors share, where that is known: one table of coverage for all models, and one of values for each."""

from dataclasses import replace

from ...data.labels import label
from ...data.setting import Setting
from ...methods.sharing import KINDS
from ...runs.experiments import LINEAR, LINEAR_LARGE, SHARING_ISHIGAMI
from ...scores.results import Results
from ...scores.sharing import mean_coverage, qualities_by_kind
from ..layout import NOTHING, Table
from .coverage import quality_cells

SETTINGS = (*LINEAR, *LINEAR_LARGE, SHARING_ISHIGAMI)


def tabulate_sharing(results: Results) -> list[Table]:
    """How often intervals hold the truth by model and kind, and all values."""
    sizes = [*zip(LINEAR, LINEAR_LARGE, strict=True), (SHARING_ISHIGAMI,)]
    details = [_values(results, settings) for settings in sizes]
    note = (
        "Deviation: standard deviation over runs, which the mean standard error should be like. Covered: share of "
        "intervals of 95 % that hold the truth."
    )
    return [_coverage(results), *details[:-1], replace(details[-1], note=note)]


def _coverage(results: Results) -> Table:
    rows: list[tuple[str, ...]] = []
    for setting in SETTINGS:
        cell = results.find("SHARING", setting)
        if not cell.n:
            rows.append((_title(setting), *[NOTHING] * len(KINDS), "0"))
            continue
        means = [f"{mean_coverage(found):.3f}" for found in qualities_by_kind(cell).values()]
        rows.append((_title(setting), *means, str(cell.n)))
    return Table("How often intervals of 95 % hold the truth: means over all of one kind", ("", *KINDS, "runs"), rows)


def _values(results: Results, settings: tuple[Setting, ...]) -> Table:
    rows: list[tuple[str, ...]] = []
    for setting in settings:
        cell, size = results.find("SHARING", setting), f"{setting.n_rows:,}"
        if not cell.n:
            rows.append((size, *[NOTHING] * 5, "0"))
            continue
        rows += [
            (f"{size}: {kind} of {one.name}", *quality_cells(one), str(cell.n))
            for kind, found in qualities_by_kind(cell).items()
            for one in found
        ]
    header = ("", "truth", "bias", "deviation", "standard error", "covered", "runs")
    return Table(f"{label(settings[0])}, by number of rows: mean ± standard error", header, rows)


def _title(setting: Setting) -> str:
    return f"{label(setting).split(',')[0]}, N = {setting.n_rows:,}"
