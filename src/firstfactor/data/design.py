"""Design matrix of a table: the factors checked, encoded and scaled for the computation of distances.

A factor has one or more columns, whose squared distances add up: a number, a category, a time of day on its circle, or
several columns of the table that belong together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._utils import checks
from .._utils.checks import InputError, InputTypeError, Message, mention, wrong
from .encoding import FAR, Columns, Encoded, is_missing, rescale
from .stored_columns import JoinedColumns, RemoteColumns, StoredColumns, cut_factors
from .table import Factors, locate

Kind = Literal["number", "category", "ordered", "date", "periodic", "group", "constant"]


@dataclass(frozen=True)
class Design:
    """Factors of one table.

    The squared distance of two rows is a sum over columns. A column adds the squared difference of its ``values``, or
    its cap where they are not comparable: two levels of a category, or a number and a missing value. Such values are at
    least `FAR` from each other.
    """

    names: tuple[str, ...]
    values: NDArray[np.float64] | StoredColumns
    """Values, (rows, columns), C-ordered, or the storage they are read from."""
    caps: NDArray[np.float64]
    """Squared distance of values that are not comparable, (columns,); infinity for numbers without missing values."""
    categorical: NDArray[np.bool_]
    """Mask of the columns that hold levels of a category, (columns,)."""
    columns: tuple[tuple[int, ...], ...]
    """Columns of each factor."""
    inputs: tuple[tuple[int, ...], ...]
    """Columns of the table that each factor was made from."""
    constant: NDArray[np.bool_]
    """Mask of the constant factors, (factors,)."""
    roles: tuple[Kind, ...]
    """Kind of each factor, whether constant or not."""
    spans: NDArray[np.float64]
    """Range of each factor of integers before scaling; NaN for other factors."""
    n_missing: NDArray[np.intp]
    """Number of rows with a missing value in each factor, (factors,)."""

    @property
    def n_rows(self) -> int:
        """Number of rows of the table."""
        return int(self.values.shape[0])

    @property
    def n_factors(self) -> int:
        """Number of factors of the table, including constant ones."""
        return len(self.names)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Kind of each factor."""
        return tuple("constant" if constant else role for constant, role in zip(self.constant, self.roles, strict=True))

    @cached_property
    def varying(self) -> tuple[int, ...]:
        """Factors that are not constant: the only ones worth searching."""
        return tuple(np.flatnonzero(~self.constant).tolist())

    @cached_property
    def single(self) -> NDArray[np.bool_]:
        """Mask of the factors with a single column, (factors,)."""
        return np.array([len(columns) == 1 for columns in self.columns])

    @cached_property
    def first_columns(self) -> NDArray[np.intp]:
        """First column of each factor, (factors,)."""
        return np.array([columns[0] for columns in self.columns])

    @cached_property
    def blocks(self) -> list[range]:
        """Factors in blocks that are searched together."""
        return cut_factors(self.n_factors)

    def in_blocks(self, factors: Sequence[int]) -> list[list[int]]:
        """Return factors by block, without blocks that have none."""
        numbers = np.searchsorted([block.stop for block in self.blocks], factors, side="right")
        order = np.argsort(numbers, kind="stable")
        cut = np.split(np.asarray(factors, dtype=np.intp)[order], np.flatnonzero(np.diff(numbers[order])) + 1)
        return [block.tolist() for block in cut if block.size]

    @property
    def elsewhere(self) -> RemoteColumns | None:
        """Values, if they are not in memory; otherwise None."""
        return self.values if isinstance(self.values, RemoteColumns) else None

    @property
    def is_in_memory(self) -> bool:
        """True if all values are in memory."""
        return self.elsewhere is None

    @property
    def columns_at_a_time(self) -> int:
        """Number of columns that are read together: all of a block if they are in memory."""
        return self.values.at_a_time if isinstance(self.values, StoredColumns) else self.values.shape[1]

    def view(self, columns: Sequence[int]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return an array, (rows, …), that contains the given columns, and their positions in it."""
        if isinstance(self.values, StoredColumns):
            return self.values.view(columns)
        return self.values, np.asarray(columns, dtype=np.intp)

    def take(self, columns: Sequence[int], rows: NDArray[np.intp] | slice = slice(None)) -> NDArray[np.float64]:
        """Return the values of some columns, (rows, columns), C-ordered."""
        values, where = self.view(columns)
        return np.ascontiguousarray(values[rows][:, where])

    def column(self, j: int) -> NDArray[np.float64]:
        """Return the values of a column, (rows,)."""
        values, where = self.view([j])
        return values[:, where[0]]

    @property
    def stored(self) -> StoredColumns:
        """Values as stored columns, in memory or not."""
        return self.values if isinstance(self.values, StoredColumns) else JoinedColumns([self.values])

    def columns_of(self, factors: Sequence[int]) -> list[int]:
        """Return the columns of some factors."""
        return [j for i in factors for j in self.columns[i]]

    def numeric_columns(self, factors: Sequence[int]) -> list[int]:
        """Return the columns of some factors that hold numbers, not levels."""
        return [j for j in self.columns_of(factors) if not self.categorical[j]]

    def is_plain(self, factor: int) -> bool:
        """Return True if a factor is one numeric column without missing values."""
        return bool(self.single[factor]) and bool(np.isinf(self.caps[self.columns[factor][0]]))

    def euclidean(self) -> NDArray[np.float64]:
        """Return points whose squared Euclidean distances are those of the varying factors: one-hot levels.

        For numbers with missing values this is an approximation: these are set to the mean, with a level of their own.
        """
        blocks = [np.empty((self.n_rows, 0))]
        for j in self.columns_of(self.varying):
            column, missing = self.take([j]), is_missing(self.take([j]))
            level = column if self.categorical[j] else missing.astype(float)
            if np.isfinite(self.caps[j]):
                blocks.append((level == np.unique(level)) * np.sqrt(self.caps[j] / 2))
            if not self.categorical[j]:
                blocks.append(np.where(missing, column[~missing].mean(), column))
        return np.hstack(blocks)

    def on_rows(self, rows: NDArray[np.intp], many_functions: bool = False) -> "Design":
        """Return some rows, scaled as before; ``many_functions`` reserves memory for basis functions of all factors."""
        if not isinstance(self.values, StoredColumns):
            values = np.ascontiguousarray(self.values[rows])
            return replace(self, values=values, constant=_constant(values.T, self.columns))
        some = replace(self, values=self.values.on_rows(rows, many_functions))
        is_constant, looked_at = np.ones(some.values.shape[1], dtype=bool), self.columns_of(self.varying)
        is_constant[looked_at] = some.stored.map(_is_constant, looked_at)
        return replace(some, constant=np.array([is_constant[list(own)].all() for own in self.columns]))

    def on_factors(self, factors: Sequence[int]) -> "Design":
        """Return some factors, in increasing order, with their values in memory."""
        columns = self.columns_of(factors)
        return replace(self._facts_of(factors), values=self.take(columns))

    def without_values(self) -> "Design":
        """Return the design without its values."""
        return replace(self, values=np.empty((self.n_rows, 0)))

    def _facts_of(self, factors: Sequence[int]) -> "Design":
        columns, some = self.columns_of(factors), list(factors)
        return Design(
            names=tuple(self.names[i] for i in factors),
            values=self.values,
            caps=self.caps[columns],
            categorical=self.categorical[columns],
            columns=_number_columns([len(self.columns[i]) for i in factors]),
            inputs=tuple(self.inputs[i] for i in factors),
            constant=self.constant[some],
            roles=tuple(self.roles[i] for i in factors),
            spans=self.spans[some],
            n_missing=self.n_missing[some],
        )

    def locate(self, parameter: str, factors: Factors) -> tuple[int, ...]:
        """Return the positions of factors given by name, by position or as a mask."""
        return locate(parameter, factors, self.names)


def join_designs(parts: Sequence[Design]) -> Design:
    """Concatenate the factors of several designs, which are in memory and have the same rows."""
    return Design(
        names=tuple(name for part in parts for name in part.names),
        values=JoinedColumns([np.asarray(part.values) for part in parts]),
        caps=np.concatenate([part.caps for part in parts]),
        categorical=np.concatenate([part.categorical for part in parts]),
        columns=_number_columns([len(columns) for part in parts for columns in part.columns]),
        inputs=tuple(inputs for part in parts for inputs in part.inputs),
        constant=np.concatenate([part.constant for part in parts]),
        roles=tuple(role for part in parts for role in part.roles),
        spans=np.concatenate([part.spans for part in parts]),
        n_missing=np.concatenate([part.n_missing for part in parts]),
    )


def _number_columns(sizes: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return consecutive column indices of factors with the given numbers of columns."""
    ends = np.cumsum([0, *sizes]).tolist()
    return tuple(tuple(range(a, b)) for a, b in pairwise(ends))


class _Part(NamedTuple):
    """One or two columns of a design, made from one or more columns of the table."""

    values: NDArray[np.float64]
    """Values, (columns, rows), NaN where missing."""
    kind: Kind
    unit: float | None = None


class _Layout(NamedTuple):
    """Columns of a design, before scaling."""

    values: NDArray[np.float64]
    """Values, (columns, rows), NaN where missing."""
    kinds: Sequence[Kind]
    """Kind of each column."""
    columns: tuple[tuple[int, ...], ...]
    """Columns of each factor."""
    roles: tuple[Kind, ...]
    """Kind of each factor."""
    circles: Sequence[tuple[int, int]]
    """Pairs of columns that are points on a circle."""
    units: Mapping[int, float]
    """Divisors of some columns, in place of their standard deviations."""


def build_design(
    encoded: Encoded,
    scale: bool | Mapping[Any, float] = True,
    factor_groups: Mapping[str, Factors] | None = None,
    period: Mapping[Any, float] | None = None,
    is_part: bool = False,
) -> Design:
    """Return the scaled factors of an encoded table.

    Parameters
    ----------
    encoded : Encoded
        Columns in their own units.
    scale : bool or mapping
        Whether to divide numeric columns by their standard deviation (ddof = 1), or a mapping with the divisors of some
        columns.
    factor_groups : mapping, optional
        Names of factors with several columns, and their columns.
    period : mapping, optional
        Periodic columns and their periods.
    is_part : bool
        True if other columns of the table are scaled separately, in the same way.
    """
    units = _by_position("scale", scale if isinstance(scale, Mapping) else {}, encoded)
    periods = _by_position("period", period or {}, encoded)
    inputs, names = group_columns(encoded.names, factor_groups or {})
    layout = _lay_out(encoded, inputs, periods, units)
    values, columns = layout.values, layout.columns
    spans = _whole_spans(values, np.array([kind == "number" for kind in layout.kinds]))
    is_category = np.array([kind == "category" for kind in layout.kinds])
    owners = [name for name, some in zip(names, columns, strict=True) for _ in some]
    caps = _scale_columns(layout, is_category, owners, isinstance(scale, Mapping) or bool(scale), is_part)
    return Design(
        names=names,
        values=np.ascontiguousarray(values.T),
        caps=caps,
        categorical=is_category,
        columns=columns,
        inputs=inputs,
        constant=_constant(values, columns),
        roles=layout.roles,
        spans=np.array([spans[some[0]] if len(some) == 1 else np.nan for some in columns]),
        n_missing=np.array([_count_missing(encoded, members) for members in inputs]),
    )


def _lay_out(
    encoded: Encoded, inputs: tuple[tuple[int, ...], ...], periods: Mapping[int, float], units: Mapping[int, float]
) -> _Layout:
    """Return the columns of a design: those of the table unchanged, if each is a factor without a period."""
    is_unknown = bool((encoded.n_missing == encoded.n_rows).any())
    if len(inputs) == len(encoded.names) and not periods and not is_unknown:
        values = encoded.values if encoded.values.base is None else encoded.values.copy("C")  # a view of some rows
        return _Layout(values, encoded.kinds, inputs, encoded.kinds, (), units)
    parts = [_make_parts(encoded, members, periods, units) for members in inputs]
    flat = [part for some in parts for part in some]
    starts = np.cumsum([0, *(len(part.values) for part in flat[:-1])]).tolist()
    placed = list(zip(starts, flat, strict=True))
    return _Layout(
        np.concatenate([part.values for part in flat]),
        [part.kind for part in flat for _ in part.values],
        _number_columns([sum(len(part.values) for part in some) for some in parts]),
        tuple("group" if len(some) > 1 else some[0].kind for some in parts),
        [(start, start + 1) for start, part in placed if part.kind == "periodic"],
        {start + k: part.unit for start, part in placed if part.unit for k in range(len(part.values))},
    )


def _scale_columns(
    layout: _Layout, is_category: NDArray[np.bool_], names: Sequence[str], scale: bool, is_part: bool
) -> NDArray[np.float64]:
    """Scale values in place, set levels and missing values `FAR` from others, and return the caps."""
    values, circles = layout.values, layout.circles
    complete = ~np.isnan(values.min(axis=1))
    mismatch = rescale(Columns(values, ~is_category, complete, names, circles, layout.units), scale, is_part)
    caps = np.where(is_category | ~complete, mismatch, np.inf)
    caps[[j for pair in circles for j in pair]] /= 2  # the two columns of a circle are missing together
    if is_category.any():
        values[is_category] *= FAR
    for j in np.flatnonzero(~complete):
        gaps = np.isnan(values[j])
        values[j, gaps] = FAR + (np.nanmax(values[j]) if is_category[j] else 0.0)
    return caps


def _by_position(parameter: str, given: Mapping[Any, float], encoded: Encoded) -> dict[int, float]:
    """Return numbers for some columns by position; each must be above 0, and its column numeric."""
    if not isinstance(given, Mapping):
        raise InputTypeError(
            "{parameter} must map columns to numbers, such as {{'hour': 24}}; got {given!r}.",
            parameter=mention(parameter),
            given=given,
        )
    found: dict[int, float] = {}
    for column, value in given.items():
        for position in locate(parameter, column, encoded.names, globs=True):
            name = encoded.names[position]
            number_of = Message("{parameter} of {name!r}", parameter=mention(parameter), name=name)
            if checks.number(number_of, value, 0.0) == 0:
                raise wrong(number_of, "above 0", value)
            if encoded.kinds[position] == "category":
                raise InputError(
                    "{parameter} is for numbers, but column {name!r}{ of X} holds categories.",
                    parameter=mention(parameter),
                    name=name,
                )
            found[position] = float(value)
    return found


def group_columns(
    names: tuple[str, ...], groups: Mapping[str, Factors]
) -> tuple[tuple[tuple[int, ...], ...], tuple[str, ...]]:
    """Return the columns of each factor, and the names of the factors, in the order of their first columns."""
    if not isinstance(groups, Mapping):
        raise InputTypeError(
            "{factor_groups} must map names of factors to columns, such as {{'size': ['length', 'width']}}; got "
            "{groups!r}.",
            groups=groups,
        )
    if not groups:
        return tuple((j,) for j in range(len(names))), names
    group_of: dict[int, str] = {}
    for group, columns in groups.items():
        members = locate("factor_groups", columns, names, globs=True)
        if not isinstance(group, str) or not members:
            raise InputError(
                "{factor_groups} must have a name and at least one column for each; got {group!r}.", group=group
            )
        if group in names and names.index(group) not in members:
            raise InputError(
                "{factor_groups}: {group!r} is also a column{ of X} that is not in it. Use another name.", group=group
            )
        for position in members:
            if position in group_of:
                raise InputError(
                    "{factor_groups}: column {name!r} is in {first!r} and in {second!r}; a column belongs to one "
                    "factor.",
                    name=names[position],
                    first=group_of[position],
                    second=group,
                )
            group_of[position] = group
    members_of: dict[str, list[int]] = {}
    for position, name in enumerate(names):
        members_of.setdefault(group_of.get(position, name), []).append(position)
    return tuple(map(tuple, members_of.values())), tuple(members_of)


def _make_parts(
    encoded: Encoded, members: tuple[int, ...], periods: Mapping[int, float], units: Mapping[int, float]
) -> list[_Part]:
    """Return the parts of a factor made from some columns."""
    if len(members) > 1 and not any(j in periods or j in units for j in members):
        codes = _one_hot_codes(encoded, members)
        if codes is not None:
            return [_Part(codes[None], "category")]
    return [_make_part(encoded, j, periods.get(j), units.get(j)) for j in members]


def _make_part(encoded: Encoded, j: int, period: float | None, unit: float | None) -> _Part:
    values, kind = encoded.values[j : j + 1], encoded.kinds[j]
    if encoded.n_missing[j] == values.size:  # all missing: a constant
        return _Part(np.zeros_like(values), kind)
    if period is None:
        return _Part(values, kind, unit)
    angles = np.mod(values[0], period) / period * (2 * np.pi)  # in this order: 1 / period may overflow
    radius = period / (2 * np.pi)  # keeps the length of small steps
    return _Part(radius * np.stack([np.cos(angles), np.sin(angles)]), "periodic", unit)


def _one_hot_codes(encoded: Encoded, members: tuple[int, ...]) -> NDArray[np.float64] | None:
    """Return the category, (rows,), encoded by columns of zeros and ones, or None if they do not encode one.

    No row may have more than one 1. A row without any has the level that the encoder dropped.
    """
    own = list(members)
    if encoded.n_missing[own].any() or not encoded.as_given[own].all():  # label codes may be 1 as well
        return None
    values = encoded.values[own]
    is_one = values == 1
    if not (is_one | (values == 0)).all() or (is_one.sum(axis=0) > 1).any():
        return None
    codes: NDArray[np.float64] = (is_one * np.arange(1.0, len(members) + 1)[:, None]).sum(axis=0)
    return codes


def _constant(values: NDArray[np.float64], columns: Sequence[tuple[int, ...]]) -> NDArray[np.bool_]:
    """Return a mask of the constant factors, (factors,), from values of shape (columns, rows)."""
    constant: NDArray[np.bool_] = (values == values[:, :1]).all(axis=1)
    if len(columns) == len(values):
        return constant
    return np.array([constant[list(some)].all() for some in columns])


def _is_constant(values: NDArray[np.float64], _: int) -> bool:
    return bool((values == values[0]).all())


def _count_missing(encoded: Encoded, members: tuple[int, ...]) -> int:
    """Return the number of rows with a missing value in some columns."""
    if len(members) == 1:
        return int(encoded.n_missing[members[0]])
    return int(np.isnan(encoded.values[list(members)]).any(axis=0).sum())


def _whole_spans(values: NDArray[np.float64], numeric: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the range of each column, (columns, rows), of integers; NaN for other columns."""
    start = values[:, :50]  # enough to exclude most other columns
    whole = numeric & ((start == np.floor(start)) | (start != start)).all(axis=1)
    spans = np.full(len(values), np.nan)
    for j in np.flatnonzero(whole):
        known = values[j][~np.isnan(values[j])]
        if known.size and (known == np.floor(known)).all():
            with np.errstate(over="ignore"):  # all large numbers are integers
                spans[j] = np.ptp(known)
    return spans
