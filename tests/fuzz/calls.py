"""One case of kind "tables" or "sharing": a call of the package on a table, and what is looked at afterwards."""

import contextlib
import io
import os
import tempfile
import warnings
from dataclasses import dataclass, field
from unittest import mock

import numpy as np

import firstfactor
from firstfactor import plots
from firstfactor.dependence import shapley
from firstfactor.variance import conditional

from . import invariants
from .classify import OUR_WARNINGS
from .draw import Draw
from .parameters import OF_FUNCTION, OF_SHARING, is_repeatable, make_options, realised
from .relations import vary
from .row_values import make_row_values
from .tables import make_table

FUNCTIONS = {
    "fit": 11, "total_indices": 4, "backward_elimination": 2, "explained_variance": 1.5, "choose": 1, "stability": 0.8,
}  # fmt: skip
SHARING_FUNCTIONS = {
    "fit": 6, "shapley_effects": 2, "closed_indices": 2, "interactions": 2, "cumulative_ranking": 2, "choose": 0.5,
    "backward_elimination": 0.5,
}  # fmt: skip
LEVELS = {
    0.95: 10, 0.5: 3, 0.9: 3, 0.999999: 1, 0.0: 0.3, 1.0: 0.1, 2: 0.05, float("nan"): 0.05, None: 0.05, "0.95": 0.05,
}  # fmt: skip


@dataclass
class TableCase:
    """A call, made from a seed."""

    allowed_warnings = OUR_WARNINGS
    error = None
    kind = "tables"
    functions = FUNCTIONS
    of_function = OF_FUNCTION

    seed: int
    table: object = field(init=False)
    function: str = field(init=False)
    options: dict = field(init=False)
    rows: dict = field(init=False)
    """Weights and groups."""

    def __post_init__(self):
        self._draw = Draw(self.kind, self.seed)
        self.table = make_table(self._draw)
        self.function = self._draw.weighted(self.functions)
        self.options = make_options(self._draw, self.table, self.function, self.of_function)
        self.rows, self._rows_story = make_row_values(self._draw, self.table.n_rows)

    def __str__(self):
        shown = {name: value for name, value in self.options.items() if name != "selector"}
        selector = self.options.get("selector")
        if isinstance(selector, dict):
            shown["selector"] = f"FIRST(**{selector})"
        return (
            f"{self.function}(X, y, **{shown})\n{self.table.story}\n"
            f"X = {_shown(self.table.X)}\ny = {_shown(self.table.y)}\n{self._rows_story}"
            + "".join(f"\n{name} = {_shown(values)}" for name, values in self.rows.items())
        )

    def run(self):
        """Call the function, look at the result from all sides and return what is wrong with it."""
        draw = self._draw
        result = self._call(self.table.X, self.table.y, self.rows)
        faults = [*self._check(result, draw.weighted(LEVELS))]
        if draw.chance(0.04) and is_repeatable(self.options):
            faults += self._other_threads(result)
        if draw.chance(0.35) and is_repeatable(self.options):
            faults += self._in_other_words(result)
        if not faults:  # which an error on the way would hide
            _read(draw, result, self.table)
        return faults

    def _call(self, X, y, rows, **changed):
        options = self.options | changed
        if isinstance(options.get("selector"), dict):
            options["selector"] = options["selector"] | {k: v for k, v in changed.items() if k != "n_jobs"}
        options = realised(options)
        if self.function == "fit":
            with contextlib.redirect_stderr(io.StringIO()):  # verbose
                return firstfactor.FIRST(**options).fit(X, y, **rows)
        if self.function == "choose":
            return firstfactor.FIRST(**options).choose(X, y, **rows)
        return getattr(firstfactor, self.function)(X, y, **options, **rows)

    def _check(self, result, level):
        if self.function == "choose":
            return invariants.of_choice(result, self.table.n_factors, self.options.get("factor_groups"))
        if self.function == "explained_variance":
            return invariants.of_explained(result)
        if self.function == "stability":
            return invariants.of_stability(result, level)
        if self.function in ("interactions", "cumulative_ranking"):
            of_result = invariants.of_pairs if self.function == "interactions" else invariants.of_ranking
            return of_result(result, level)
        of_result = invariants.of_selector if self.function == "fit" else invariants.of_indices
        indices = result.indices_ if self.function == "fit" else result
        return [*of_result(result, level), *invariants.of_rows_used(indices, self.table, self.rows, self.options)]

    def _other_threads(self, result):
        """Compare with another number of threads; tables so small have one only, unless told otherwise."""
        jobs = 2 if self.options.get("n_jobs") in (None, 1) else 1
        with mock.patch.object(conditional, "SMALL", 0):
            try:
                other = self._call(self.table.X, self.table.y, self.rows, n_jobs=jobs)
            except (ValueError, TypeError) as error:
                return [f"refused with n_jobs={jobs} only: {error}"]
        return invariants.same_bits(result, other, "with another number of threads")

    def _in_other_words(self, result):
        """Compare with another call that has to give the same."""
        variation = vary(self, result, self._draw)
        if variation is None or (self.function == "stability" and variation.options):
            return ()
        try:
            other = self._call(variation.X, variation.y, variation.rows, **variation.options)
        except (ValueError, TypeError) as error:
            return [f"refused {variation.what} only: {error}"]
        same = invariants.same_bits if variation.to_the_bit else invariants.same_importances
        return same(result, other, variation.what)

    def ignores_order(self):
        """Tell whether the result has to be the same for any order of rows."""
        given = self.options
        plain = given.get("estimator") in (None, "nearest") and given.get("rule", "paper") == "paper"
        whole = given.get("n_outer") is None and not given.get("split") and given.get("method") != "subsample"
        sure = given.get("compact") is not True  # within a standard error, of every so many-th row
        return plain and whole and sure and self.function in ("fit", "total_indices", "backward_elimination")


class SharingCase(TableCase):
    """A call that looks at what factors share."""

    kind = "sharing"
    functions = SHARING_FUNCTIONS
    of_function = OF_SHARING

    def _call(self, X, y, rows, **changed):
        with mock.patch.object(shapley, "MAX_ORDERS", 60):  # all of them take a minute where little is explained
            return super()._call(X, y, rows, **changed)


def _shown(data):
    """A table or a response as text, short enough to look at."""
    with np.printoptions(threshold=400, linewidth=160):
        text = repr(data)
    dtypes = getattr(data, "dtypes", getattr(data, "dtype", getattr(data, "schema", "")))
    return f"{type(data).__module__}.{type(data).__name__}\n{text[:4000]}\n{str(dtypes)[:1500]}"


# --- looking at results -------------------------------------------------------------------------------


def _read(draw, result, table):
    """Use what results offer; most of it seldom, since it takes long."""
    str(result), repr(result)
    if hasattr(result, "path_"):
        str(result.path_), str(result.tree_), repr(result.explanations_)
    if draw.chance(0.05):
        _frames(draw, result)
    if draw.chance(0.05) and hasattr(result, "transform"):
        result.transform(table.X)
        result.get_feature_names_out()
        result._repr_html_()
    if draw.chance(0.005):
        _pictures(result, table)
    if draw.chance(0.003) and hasattr(result, "report"):
        _report(result, table)


def _frames(draw, result):
    for name in ("", "path_", "indices_", "explanations_"):
        table = getattr(result, name, None) if name else result
        if hasattr(table, "to_frame"):
            table.to_frame(draw.weighted({"pandas": 5, "polars": 5, "pyarrow": 5, "excel": 0.3, None: 0.3}))


def _pictures(result, table):
    """Draw, and render: some faults are seen only then."""
    drawn = []
    if isinstance(result, firstfactor.Stability):
        drawn.append(plots.plot_stability(result))
    if isinstance(result, firstfactor.FIRST):
        drawn += [result.plot(), plots.plot_path(result), *plots.plot_effects(table.X, table.y, result)[:1]]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # matplotlib's, where no font has a character
        for axes in drawn:
            axes.figure.savefig(io.BytesIO(), format="svg")


def _report(result, table):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.html")
        result.report(path, table.X, table.y)
        with open(path, encoding="utf-8") as page:
            assert "<html" in page.read(1000)
