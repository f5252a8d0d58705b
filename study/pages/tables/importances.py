"""Errors of importances beside the bound and the peers, and how often intervals hold the truth."""

from itertools import product

import numpy as np

from ...data.additive import CEILINGS
from ...data.importances import ADDITIVE, CORRELATIONS, DIMENSIONS, HARDER, REMOVALS, SIZES
from ...data.labels import NAMES, label
from ...data.setting import Setting
from ...methods.sharing import KINDS
from ...paper.claims.importances import GROUPS, OURS, highest_ratio, kind_coverage
from ...runs.experiments import BY_NAME, LINEAR
from ...scores.estimates import Estimate
from ...scores.importances import WIDTH_OF_BOUND, bound_error, covered, pooled, share_error, widths
from ...scores.results import Cell, NotRunError, Results
from ..layout import NOTHING, Table

WORDS = {
    "ADAPTIVE": "adaptive",
    "EXTRAPOLATED": "extrapolated",
    "NEAREST": "nearest",
    "SPLINE-DROP": "splines",
    "PRODUCTS-DROP": "products",
    "GP-DROP": "GP",
}
SHAPES = ("Lines", "Curves")
WHAT = ("shares", "nulls", "ceiling")
COVERED_NOTE = "Covered: share of intervals of 95 % that hold the truth; shares below 0.01 stand with the nulls."


def tabulate_additive(results: Results) -> list[Table]:
    """Errors of all methods over the bound, ours over the better of bound and peer in each cell, and intervals."""
    every_cell = (_every_cell(results, shape) for shape in SHAPES)
    return [_beside_the_bound(results), *every_cell, _intervals(results)]


def _beside_the_bound(results: Results) -> Table:
    methods = BY_NAME["additive"].methods
    rows = []
    for shape, n in product(SHAPES, SIZES):
        settings = [one for one in ADDITIVE if one.source.startswith(shape.lower()) and one.n_rows == n]
        rows.append([f"{shape}, N = {n:,}", *(_median_ratio(results, name, settings) for name in methods)])
    header = ("", *(WORDS[name] for name in methods))
    return Table("Error over the bound: median of 27 cells, and the highest", header, rows)


def _median_ratio(results: Results, method: str, settings: list[Setting]) -> str:
    cells = [cell for one in settings if (cell := results.find(method, one)).n]
    ratios = [share_error(cell) / bound_error(cell.setting) for cell in cells]
    return f"{np.median(ratios):.2f} ({max(ratios):.2f})" if ratios else NOTHING


def _every_cell(results: Results, shape: str) -> Table:
    columns = list(product(CEILINGS, CORRELATIONS))
    rows = []
    for n, p in product(SIZES, DIMENSIONS):
        settings = [Setting(f"{shape.lower()}-{100 * r2:.0f}", n, p, rho) for r2, rho in columns]
        rows.append([f"N = {n:,}, p = {p}", *(_ratio(results, one) for one in settings)])
    header = ("", *(f"{r2}/{rho}" for r2, rho in columns))
    return Table(f"{shape}: our error over the better of the bound and splines, by R²/ρ", header, rows)


def _ratio(results: Results, setting: Setting) -> str:
    """Return our error over the smallest one of others, once all were run."""
    try:
        return f"{highest_ratio(results, setting, 1):.2f}"
    except NotRunError:
        return NOTHING


def _intervals(results: Results) -> Table:
    rows = []
    for name, settings in GROUPS.items():
        cells = [cell for one in settings if (cell := results.find(OURS, one)).n]
        shares = [_text(pooled([one for cell in cells if (one := covered(cell, what)) is not None])) for what in WHAT]
        wide = f"{np.median(np.concatenate([widths(cell) for cell in cells])):.2f}" if cells else NOTHING
        rows.append([name, *shares, wide, str(sum(cell.n for cell in cells))])
    note = f"{COVERED_NOTE} Width: median over that of the bound, {WIDTH_OF_BOUND:.2f} times the bound."
    return Table("Intervals: covered shares, nulls and ceiling", ("", *WHAT, "width", "tables"), rows, note)


def tabulate_harder(results: Results) -> list[Table]:
    """Errors of all methods in each cell, and intervals."""
    methods = BY_NAME["harder-importances"].methods
    errors, intervals = [], []
    for setting in HARDER:
        cells = {name: results.find(name, setting) for name in methods}
        title, ours = _title(setting), cells[OURS]
        errors.append([title, *map(_error, cells.values()), _ratio(results, setting)])
        shares = [_text(covered(ours, what)) if ours.n else NOTHING for what in WHAT]
        intervals.append([title, *shares, str(ours.n)])
    header = ("", *(WORDS[name] for name in methods), "ratio")
    note = "Ratio: ours over the smallest one of the others, each on tables that both have seen."
    return [
        Table("Error of shares, by number of rows", header, errors, note),
        Table(
            "Intervals, by number of rows: covered shares, nulls and ceiling",
            ("", *WHAT, "tables"),
            intervals,
            COVERED_NOTE,
        ),
    ]


def tabulate_alone_and_joint(results: Results) -> list[Table]:
    """How often intervals of each kind hold the truth."""
    rows = []
    for setting in LINEAR:
        cell = results.find("SHARING-ADAPTIVE", setting)
        shares = [kind_coverage(cell, kind).text(2) if cell.n else NOTHING for kind in KINDS]
        rows.append([label(setting), *shares, str(cell.n)])
    note = "Of indices of at least 0.01."
    return [Table("How often intervals of 95 % hold the truth", ("", *KINDS, "tables"), rows, note)]


def _title(setting: Setting) -> str:
    """Return what the setting is called, without what is the same in all of a kind, and its number of rows."""
    parts = [NAMES[setting.source]]
    parts += ["two classes"] if setting.classes else []
    parts += [setting.part.partition(" % ")[2]] if setting.part in REMOVALS else []
    return f"{', '.join(parts)}, {setting.n_rows:,}"


def _error(cell: Cell) -> str:
    return f"{share_error(cell):.3f}" if cell.n else NOTHING


def _text(share: Estimate | None) -> str:
    return NOTHING if share is None else share.text(3)
