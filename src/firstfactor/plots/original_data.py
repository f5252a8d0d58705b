"""The analysed table: its columns and response in their original units, and its encoded rows."""

import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils.text import printable, quote_names
from ..data.columns import Labels, exact_floats, level_codes, read_column
from ..data.observations import Observations, Table, read_table
from ..data.response import read_target
from ..data.stored_table import ColumnTable
from ..data.table import open_table
from ..results.indices import Indices
from ..settings import Options, VarianceEstimator
from ..variance.conditional import Variances, encoding_options, make_variances

Floats = NDArray[np.float64]

# Label of missing values of a category.
MISSING = "(missing)"

# Minimum and maximum number of bins of a numeric column, and number of rows in each.
LEAST_BINS, MOST_BINS, ROWS_IN_BIN = 5, 12, 40

# Maximum number of levels of a category; the rarest are pooled.
MOST_LEVELS = 8

# Fewest rows that anything shown of a sensitive table comes from.
FEWEST_ROWS = 10


@dataclass(frozen=True)
class OriginalColumn:
    """Column of a factor in its original units."""

    values: Floats
    """Numbers, with NaN for missing ones; or the position of the level of each row."""
    levels: tuple[str, ...]
    """Labels of the levels in order, the last one for missing values if there are any; empty for numbers."""

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """Position of the level of each row."""
        return self.values.astype(np.intp)

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        """Number of rows of each level."""
        return np.bincount(self.codes, minlength=len(self.levels))

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Mask of the rows with a value, of shape (rows,)."""
        return ~np.isnan(self.values)

    @cached_property
    def ranks(self) -> Floats:
        """Rank of each number, averaged over ties; missing numbers have the mean rank."""
        from scipy.stats import rankdata  # takes half a second, and most results are never reported

        ranks = np.full(self.values.size, np.nan)
        ranks[self.known] = rankdata(self.values[self.known])
        return np.where(self.known, ranks, np.mean(ranks[self.known]) if self.known.any() else 0.0)

    def take(self, rows: NDArray[np.intp]) -> "OriginalColumn":
        """Return the column on some rows."""
        return OriginalColumn(self.values[rows], self.levels)


@dataclass(frozen=True)
class OriginalTarget:
    """Response in its original units."""

    name: str
    values: Floats
    """Values of shape (rows, series): numbers, indicators of each class (the second of two), or several outputs."""
    series: tuple[str, ...]
    """Name of each series: the class or the output."""
    classes: tuple[str, ...] = ()
    """Class labels; empty for a numeric response."""

    @property
    def label(self) -> str:
        """Label of an axis with these values."""
        if len(self.classes) == 2:
            return f"share of {self.name} = {self.classes[1]}"
        if self.classes:
            return f"share of each {self.name}"
        return self.name if len(self.series) == 1 else "outputs, standardised"


@dataclass(frozen=True)
class Bins:
    """One column in bins, none of which is empty."""

    of_row: NDArray[np.intp]
    """Bin of each row, of shape (rows,)."""
    centres: NDArray[np.float64]
    """Median of the numbers in each bin, or position of the level, of shape (bins,); NaN for a last bin of missing
    numbers."""
    labels: tuple[str, ...]
    """Label of each level; for numbers, only that of missing ones."""
    edges: NDArray[np.float64]
    """Smallest number of each bin and largest of all, of shape (bins + 1,); empty for categories."""
    named: tuple[str, ...] = ()
    """Labels that are levels, not several that are pooled."""

    @property
    def has_missing(self) -> bool:
        """True if the last bin is that of missing numbers."""
        return bool(np.isnan(self.centres[-1]))

    @property
    def numbers(self) -> int:
        """Number of bins without that of missing numbers."""
        return len(self.centres) - self.has_missing

    @property
    def is_ranges(self) -> bool:
        """True if bins are ranges of numbers, not single values."""
        return bool(self.edges.size) and not np.array_equal(self.centres[: self.numbers], self.edges[:-1])


class AnalysedTable:
    """Table that was analysed; only what the analysis does not hand over is read again.

    Parameters
    ----------
    X, y : table and response
        As passed to the analysis.
    indices : Indices
        Result of the analysis.
    options : Options, optional
        Parameters of the analysis, needed by `variances`.
    sample_weight, groups : array-like of shape (rows,), optional
        As passed to the analysis.
    observed : Observations, optional
        Encoded rows of the analysis. Default: X is encoded again at the first call of `variances`.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        indices: Indices,
        options: Options | None = None,
        sample_weight: Any = None,
        groups: Any = None,
        observed: Observations | None = None,
    ) -> None:
        self.X, self.indices, self.options = X, indices, options
        self._y, self._sample_weight, self._groups, self._observed = y, sample_weight, groups, observed
        self._columns: dict[int, list[tuple[str, OriginalColumn]]] = {}

    @cached_property
    def n_rows(self) -> int:
        """Number of rows of X, including those that were not analysed."""
        return self.X.n_rows if isinstance(self.X, ColumnTable) else open_table(self.X)[2]

    @property
    def rows(self) -> NDArray[np.intp]:
        """Positions of the rows that were analysed."""
        return np.arange(self.n_rows) if self.indices.rows is None else self.indices.rows

    def columns(self, factors: Collection[int]) -> dict[int, list[tuple[str, OriginalColumn]]]:
        """Return names and values of the columns of each factor, in the order of ``factors``, and keep them."""
        new = {i: list[tuple[str, OriginalColumn]]() for i in factors if i not in self._columns}
        if new:
            for i, name, column in self.each_column(new.keys()):
                new[i].append((name, column))
            self._columns |= new
        return {i: self._columns[i] for i in factors}

    def each_column(self, factors: Collection[int]) -> Iterator[tuple[int, str, OriginalColumn]]:
        """Yield factor, name and values of each column of some factors, in the order of the table, and keep none."""
        indices, rows = self.indices, self.rows
        factor_of = {j: i for i, members in enumerate(indices.members) for j in members}
        names, columns = self._open([j for j, i in factor_of.items() if i in factors])
        _check_table(names, indices, isinstance(columns, np.ndarray))
        for j, column in enumerate(columns.T if isinstance(columns, np.ndarray) else columns):
            i = factor_of[j]
            if i in factors:
                name = indices.names[i]
                if len(indices.members[i]) > 1:
                    name = f"{name}: {names[j]}"
                yield i, name, read_original(column, names[j], indices.kinds[i] == "category").take(rows)

    def _open(self, wanted: Collection[int]) -> tuple[tuple[str, ...], NDArray[Any] | Iterator[Any]]:
        """Return the names of all columns, and the columns; those of a table in files are None if not wanted."""
        X = self.X
        if not isinstance(X, ColumnTable):
            return open_table(X)[:2]
        return X.names, (next(iter(open_table(X.read([j]))[1])) if j in wanted else None for j in range(len(X.names)))

    @cached_property
    def target(self) -> OriginalTarget:
        """Response in its original units."""
        outputs = read_target(self._y, self.n_rows).on_rows(self.rows)
        names = tuple(map(printable, outputs.names))
        if len(names) > 1:
            values = outputs.encode().values
            if values.shape[1] != len(names):
                return OriginalTarget("outputs", values, tuple(f"{k + 1}" for k in range(values.shape[1])))
            return OriginalTarget("outputs", values / np.maximum(values.std(axis=0), 1e-300), names)
        if self.indices.task == "classification":
            encoded = outputs.encode("classification")
            classes = tuple(map(printable, encoded.classes))
            shown = [1] if len(classes) == 2 else range(len(classes))
            values = np.column_stack([encoded.codes == k for k in shown]).astype(np.float64)
            return OriginalTarget(names[0], values, tuple(classes[k] for k in shown), classes)
        return OriginalTarget(names[0], exact_floats(outputs.columns[0].values)[:, None], names)

    def variances(self, factors: Collection[int], estimator: VarianceEstimator = "nearest") -> Variances:
        """Return conditional variances given some factors, on all rows that were analysed."""
        assert self.options is not None
        plain = replace(
            self.options, n_neighbors=None, n_outer=None, missing="level", variance_estimator=estimator, random_state=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the analysis has already warned
            return make_variances(self._observe(factors, plain), plain)

    def _observe(self, factors: Collection[int], options: Options) -> Observations:
        """Return the encoded rows; for a table in files, only of some factors, and without keeping them."""
        if self._observed is not None:
            return self._observed
        X, is_stored = self.X, isinstance(self.X, ColumnTable)
        if is_stored:
            X = X.only([j for i in factors for j in self.indices.members[i]])
        table = read_table(X, self._y, encoding_options(options), self._sample_weight, self._groups)
        observed = self._on_analysed_rows(table).observe()
        if not is_stored:
            self._observed = observed
        return observed

    def _on_analysed_rows(self, table: Table) -> Table:
        """Remove rows that were not analysed: those with a weight of 0, or with missing values."""
        wanted = self.rows
        given = np.arange(self.n_rows) if table.rows is None else table.rows
        if not np.isin(wanted, given).all():
            raise ValueError("sample_weight must be that of the analysis; it is 0 for rows that were analysed.")
        return table if wanted.size == given.size else table.on_rows(np.searchsorted(given, wanted))


def _check_table(names: tuple[str, ...], indices: Indices, unnamed: bool) -> None:
    """Raise an error if the table is not the one that was analysed; names may be missing on one side."""
    n_columns = sum(map(len, indices.members))
    grouped = n_columns != len(indices.names)
    positions = tuple(f"x{j}" for j in range(n_columns))
    if len(names) == n_columns and (unnamed or grouped or names == indices.names or indices.names == positions):
        return
    raise ValueError(
        f"X must be the table that was analysed, with the columns {quote_names(indices.names)}; "
        f"got {quote_names(names)}."
    )


def read_original(column: Any, name: str, category: bool) -> OriginalColumn:
    """Return one column of the table as numbers or as levels in order."""
    read = read_column(column, f"column {name!r} of X")
    values = read.values
    if isinstance(values, np.ndarray) and values.dtype != bool and not category:
        return OriginalColumn(read.spread(exact_floats(values)), ())
    codes, levels = level_codes(values)
    if isinstance(values, Labels) and not values.ordered:
        order = sorted(range(len(levels)), key=lambda i: str(levels[i]))
        rank = np.empty(len(levels))
        rank[order] = np.arange(len(levels))
        codes, levels = rank[codes].astype(np.intp), [levels[i] for i in order]
    labels = tuple(map(printable, levels))
    if not read.n_missing:
        return OriginalColumn(codes.astype(np.float64), labels)
    return OriginalColumn(np.nan_to_num(read.spread(codes), nan=len(labels)), (*labels, MISSING))


# --- bins -----------------------------------------------------------------------------------------------------------


def make_bins(
    column: OriginalColumn, most_bins: int | None = None, most_levels: int = MOST_LEVELS, least_rows: int = 1
) -> Bins:
    """Return the bins of a column; the default of ``most_bins`` depends on the number of rows.

    Levels with fewer than ``least_rows`` rows are pooled.
    """
    if column.levels:
        return _bin_levels(column, most_levels, least_rows)
    if most_bins is None:
        most_bins = int(np.clip(column.known.sum() // max(ROWS_IN_BIN, least_rows), LEAST_BINS, MOST_BINS))
    return _bin_numbers(column, most_bins, least_rows)


def _bin_numbers(column: OriginalColumn, most: int, least_rows: int) -> Bins:
    """Return bins with about the same number of rows; ties share a bin, and missing numbers have their own."""
    x = column.values[column.known]
    starts = np.unique(x)
    if len(starts) > most:
        starts = np.unique(np.quantile(x, np.linspace(0, 1, most + 1)[:-1]))
    if least_rows > 1:
        starts = _join_small_bins(starts, x, least_rows)
    of_row = np.full(column.values.size, len(starts))
    of_row[column.known] = np.searchsorted(starts, x, side="right") - 1
    filled, of_row = np.unique(of_row, return_inverse=True)
    centres = [np.median(column.values[of_row == b]) for b in range(len(filled))]
    lowest = [column.values[of_row == b].min() for b in range(len(filled)) if not np.isnan(centres[b])]
    edges = np.array([*lowest, *([x.max()] if x.size else [])])
    return Bins(of_row, np.array(centres), () if column.known.all() else (MISSING,), edges)


def _join_small_bins(starts: Floats, x: Floats, least_rows: int) -> Floats:
    """Return the starts of bins that have at least ``least_rows`` rows each, or of a single one."""
    kept, n_rows = list[float](), 0
    for start, count in zip(starts, np.bincount(np.searchsorted(starts, x, side="right") - 1), strict=False):
        if n_rows == 0:
            kept.append(start)
        n_rows += count
        if n_rows >= least_rows:
            n_rows = 0
    return np.array(kept[:-1] if n_rows and len(kept) > 1 else kept)


def _bin_levels(column: OriginalColumn, most: int, least_rows: int) -> Bins:
    """Return the levels that occur; the rarest are pooled in the last bin."""
    present = np.flatnonzero(column.counts)
    by_count = present[np.argsort(-column.counts[present], kind="stable")]
    n_kept = int((column.counts[by_count] >= least_rows).sum())
    if len(present) > most:
        n_kept = min(n_kept, most - 1)
    kept = np.sort(by_count[:n_kept])
    named, n_rare = tuple(column.levels[i] for i in kept), len(present) - n_kept
    pooled = f"{n_rare} other{'s' if n_rare > 1 else ''}" if n_kept else f"all {n_rare} levels"
    labels = (*named, pooled) if n_rare else named
    new = np.full(len(column.levels), n_kept)
    new[kept] = np.arange(n_kept)
    return Bins(new[column.codes], np.arange(len(labels), dtype=np.float64), labels, np.empty(0), named)
