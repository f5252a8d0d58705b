"""What is found of ordinary tables, how often with a false factor, and how often exactly: ours beside the peers."""

from collections.abc import Callable, Sequence

from ...data.labels import NAMES, label
from ...data.ordinary_settings import CORRELATIONS, DIMENSIONS, MANY_COLUMNS, SIZES
from ...data.setting import Setting
from ...paper.claims.ordinary import OURS, WORDS, of_size
from ...runs.experiments import BY_NAME
from ...scores.ordinary import pooled_mean
from ...scores.results import Cell, Results
from ..layout import NOTHING, Table
from .cells import mean_text

TITLES = {
    "found": "Mean share of the true factors that is found, ± standard error",
    "any false": "Share of the tables with a false factor, ± standard error",
    "exact": "Share of the tables with all true factors and no other, ± standard error",
    "false discoveries": "Mean share of false factors among those selected, ± standard error",
    "seconds": "Mean time in seconds",
}
METRICS = ("found", "any false", "exact")


def by_size(experiment: str, settings: tuple[Setting, ...]) -> Callable[[Results], list[Table]]:
    """Return what makes tables by number of rows, and one of false factors in each cell."""

    def tabulate(results: Results) -> list[Table]:
        methods = BY_NAME[experiment].methods
        groups = {f"N = {n:,}": of_size(settings, n) for n in SIZES}
        return [*(_table(results, metric, groups, methods) for metric in METRICS), _false_in_cells(results, settings)]

    return tabulate


def by_setting(
    experiment: str, settings: tuple[Setting, ...], name: Callable[[Setting], str] = label
) -> Callable[[Results], list[Table]]:
    """Return what makes tables with a row for each setting."""

    def tabulate(results: Results) -> list[Table]:
        groups = {name(setting): [setting] for setting in settings}
        return [_table(results, metric, groups, BY_NAME[experiment].methods) for metric in METRICS]

    return tabulate


def response_label(setting: Setting) -> str:
    """Return the kind of response and the number of rows; all else is the same."""
    return f"{NAMES[setting.source]}, N = {setting.n_rows:,}"


def tabulate_many_columns(results: Results) -> list[Table]:
    """Return what is found with more columns than rows, at what error, in what time."""
    groups = {label(setting): [setting] for setting in MANY_COLUMNS}
    methods = BY_NAME["many-columns"].methods
    return [
        _table(results, metric, groups, methods) for metric in ("found", "any false", "false discoveries", "seconds")
    ]


def _table(results: Results, metric: str, groups: dict[str, list[Setting]], methods: Sequence[str]) -> Table:
    """Return one metric, a column for each method; models of different responses share a column."""
    words = tuple(dict.fromkeys(WORDS[name] for name in methods))
    rows = []
    for name, settings in groups.items():
        cells = [_cells(results, settings, [one for one in methods if WORDS[one] == word]) for word in words]
        ours = _cells(results, settings, [OURS])
        rows.append([name, *(_text(some, metric) for some in cells), str(sum(cell.n for cell in ours))])
    return Table(TITLES[metric], ("", *words, "tables"), rows)


def _cells(results: Results, settings: list[Setting], methods: list[str]) -> list[Cell]:
    """Return the cells of settings that have rows, of one of several methods."""
    found = [results.find(method, setting) for setting in settings for method in methods]
    return [cell for cell in found if cell.n]


def _text(cells: list[Cell], metric: str) -> str:
    if not cells:
        return NOTHING
    mean = pooled_mean(cells, metric)
    return f"{mean.value:.2f}" if metric == "seconds" else str(mean)


def _false_in_cells(results: Results, settings: tuple[Setting, ...]) -> Table:
    source = settings[0].source
    rows = []
    for n in SIZES:
        for p in DIMENSIONS:
            cells = [results.find(OURS, Setting(source, n, p, rho)) for rho in CORRELATIONS]
            rows.append([f"N = {n:,}, p = {p}", *(mean_text(cell, "any false") for cell in cells), str(cells[0].n)])
    header = ("", *(f"ρ = {rho}" for rho in CORRELATIONS), "tables each")
    return Table("The calibrated rule: share of the tables with a false factor, by cell", header, rows)
