"""Tasks of the workers, functions of data stored there, and the objects that go over the network to them.

Arrays arrive at any address. Numpy multiplies matrices differently where numbers are not at multiples of their size,
with other last bits, and numba would compile every kernel again: arrays are aligned when they arrive. Dask chooses the
worker of a task by the sizes of objects, and knows only those of its own types: it is told the others.
"""

import socket
from collections.abc import Sequence
from functools import cache, partial
from types import MethodType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._utils.checks import InputTypeError
from .._utils.threads import Workers
from ..data.design import Design, join_designs
from ..data.encoding import Encoded
from ..data.observations import EncodingOptions
from ..data.stored_columns import Floats, OfBlock, OfColumn
from ..data.stored_table import AT_A_TIME, ColumnTable, design_part, encode_part
from ..neighbors.candidate_search import BlockStep, PartialStep
from ..neighbors.search import Search, SingleFactors


def align(value: Any) -> Any:
    """Return a value in which all arrays are aligned; objects are changed in place."""
    return _align(value, set())


def _align(value: Any, seen: set[int]) -> Any:
    if isinstance(value, np.ndarray):
        return value if value.flags.aligned else value.copy(order="K")
    if isinstance(value, tuple):
        parts = [_align(each, seen) for each in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, list):
        return [_align(each, seen) for each in value]
    if isinstance(value, dict):
        return {key: _align(each, seen) for key, each in value.items()}
    for inner in objects_in(value):
        if id(inner) not in seen:
            seen.add(id(inner))
            vars(inner).update({name: _align(each, seen) for name, each in vars(inner).items()})
    return value


def objects_in(value: Any) -> list[Any]:
    """Return the objects of this package that a value is, or that it is a method or a partial call of."""
    if isinstance(value, partial):
        return objects_in(value.func)
    if isinstance(value, MethodType):
        return objects_in(value.__self__)
    is_own = type(value).__module__.partition(".")[0] == __package__.partition(".")[0]
    return [value] if is_own and hasattr(value, "__dict__") else []


def size_of(value: Any) -> int:
    """Return the bytes of all arrays in a value, at any depth; each is counted once."""
    return _size(value, set())


def _size(value: Any, seen: set[int]) -> int:
    if id(value) in seen:
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, (tuple, list)):
        return sum(_size(each, seen) for each in value)
    if isinstance(value, dict):
        return sum(_size(each, seen) for each in value.values())
    return sum(_size(vars(inner), seen) for inner in objects_in(value))


@cache
def tell_dask() -> None:
    """Register the sizes of objects that stay on workers with Dask."""
    from dask.sizeof import sizeof

    for kind in (Encoded, Made, Placed, Prepared, SearchData):
        sizeof.register(kind, size_of)  # type: ignore[no-untyped-call]


# --- tasks, with a small result each or one that stays ------------------------------------------------

Rows = NDArray[np.intp]


class Placed(NamedTuple):
    """Block of factors on a worker, and their positions in the table."""

    design: Design
    factors: tuple[int, ...]
    """Position of each factor in the table."""


class SearchData(NamedTuple):
    """Data of a search, besides the factors, that every worker has."""

    y: Floats
    """Response, (rows, outputs)."""
    outer: Rows
    n_neighbors: int
    weights: Floats | None
    groups: Rows | None

    def search(self, design: Design, known: SingleFactors | None = None) -> Search:
        """Return a search in some factors, without threads: a worker has its own."""
        y, outer, n_neighbors, weights, groups = self
        return Search(design, y, outer, n_neighbors, Workers(1), weights, groups, known)


# --- from partitions to blocks --------------------------------------------------------------------------


def take_columns(partition: Any, columns: Sequence[int]) -> Any:
    """Return some columns of a partition, by position."""
    return partition.iloc[:, list(columns)] if hasattr(partition, "iloc") else partition[:, list(columns)]


def encode_block(
    pieces: Sequence[Any], names: tuple[str, ...], columns: Sequence[int], reading: EncodingOptions
) -> Encoded:
    """Return a block of columns as numbers, from the pieces of all partitions in order."""
    if isinstance(pieces[0], np.ndarray):
        frame: Any = np.concatenate(pieces)
    else:
        import pandas as pd

        _refuse_other_types(pieces)
        frame = pd.concat(pieces, ignore_index=True)
    return encode_part(frame, names, columns, reading)


def read_block(table: ColumnTable, columns: Sequence[int], reading: EncodingOptions) -> Encoded:
    """Return a block of columns as numbers, read from files a few at a time."""
    in_turn = [columns[start : start + AT_A_TIME] for start in range(0, len(columns), AT_A_TIME)]
    parts = [encode_part(_read_here(table, some), table.names, some, reading) for some in in_turn]
    return Encoded(
        tuple(name for part in parts for name in part.names),
        np.concatenate([part.values for part in parts]),
        tuple(kind for part in parts for kind in part.kinds),
        np.concatenate([part.as_given for part in parts]),
        np.concatenate([part.n_missing for part in parts]),
    )


def _read_here(table: ColumnTable, columns: Sequence[int]) -> Any:
    """Return a data frame of some columns, read on this worker."""
    try:
        return table.read(columns)
    except (OSError, ValueError) as error:
        raise OSError(
            f"a worker on {socket.gethostname()} cannot read the table: {error} Files must be where every worker can "
            "read them, under the same path."
        ) from error


def _refuse_other_types(pieces: Sequence[Any]) -> None:
    """Refuse a column whose type changes between partitions; different types of numbers are allowed."""
    first = pieces[0].dtypes
    for number, piece in enumerate(pieces):
        for name, one, other in zip(first.index, first, piece.dtypes, strict=True):
            if one.kind != other.kind and not {one.kind, other.kind} <= set("iuf"):
                raise InputTypeError(
                    "column {name!r}{ of X} changes its type: it is {one} in partition 0 and {other} in partition "
                    "{number}. Convert it to one type, or leave it out.",
                    name=name,
                    one=one,
                    other=other,
                    number=number,
                )


def find_gaps(encoded: Encoded, rows: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], Rows]:
    """Return missing values of a block; see `Encoded.find_gaps`."""
    return encoded.find_gaps(rows)


def place_block(
    encoded: Encoded,
    rows: Rows | None,
    names: tuple[str, ...],
    columns: Sequence[int],
    factors: tuple[int, ...],
    reading: EncodingOptions,
) -> Placed:
    """Return a scaled block of factors."""
    encoded = encoded if rows is None else encoded.on_rows(rows)
    return Placed(design_part(encoded, names, columns, reading), factors)


def place_on_rows(block: Placed, rows: Rows) -> Placed:
    """Return a block on some rows."""
    return Placed(block.design.on_rows(rows), block.factors)


def facts_of(block: Placed) -> Design:
    """Return the design of a block without its values."""
    return block.design.without_values()


# --- columns --------------------------------------------------------------------------------------------


def take(block: Placed, columns: Sequence[int], rows: Rows | None) -> Floats:
    """Return the values of some columns of a block, (rows, columns)."""
    return block.design.take(columns, slice(None) if rows is None else rows)


def take_factor(block: Placed, factor: int) -> Placed:
    """Return one factor of a block, given its position in the table."""
    return Placed(block.design.on_factors([block.factors.index(factor)]), (factor,))


def ask_columns(block: Placed, ask: OfColumn, columns: Sequence[int], first: int) -> list[Any]:
    """Return a function of each of some columns of a block; ``first`` is the index of its first column in the table."""
    return block.design.stored.map(lambda values, j: ask(values, first + j), columns)


class Made(NamedTuple):
    """Object made from a block, and the positions of its factors in the table."""

    value: Any
    factors: tuple[int, ...]


def make_of_block(block: Placed, make: OfBlock) -> Made:
    """Return the object that a function makes from a block."""
    return Made(make(block.design), block.factors)


def ask_block(made: Made, ask: OfBlock, factors: Sequence[int], shared: Sequence[Any]) -> Any:
    """Return a function of the object made from a block, given positions of some of its factors in the table."""
    return ask(made.value, [made.factors.index(i) for i in factors], *shared)


def sum_columns(block: Placed, ask: OfColumn, columns: Sequence[int], first: int) -> NDArray[Any]:
    """Return the sum of a function over some columns of a block."""
    return block.design.stored.sum(lambda values, j: ask(values, first + j), columns)


def add(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the sum of arrays."""
    total: NDArray[Any] = np.sum(arrays, axis=0, dtype=arrays[0].dtype)
    return total


# --- searches -------------------------------------------------------------------------------------------


def describe(block: Placed, space: SearchData) -> SingleFactors:
    """Return the results for each factor of a block alone."""
    return space.search(block.design).columns(range(block.design.n_factors))._replace(codes={})


def search_alone(block: Placed, space: SearchData, known: SingleFactors, factors: Sequence[int]) -> Floats:
    """Return the mean variance given each of some factors of a block alone."""
    places = [block.factors.index(i) for i in factors]
    return space.search(block.design, known).plus_each((), places)


def search_set(factors: Sequence[Placed], space: SearchData, known: SingleFactors) -> float:
    """Return the mean variance given some factors, which are one block each."""
    search, _ = _join(factors, space, known)
    return search.one(range(len(factors)))


def _join(parts: Sequence[Placed], space: SearchData, known: SingleFactors) -> tuple[Search, tuple[int, ...]]:
    """Return a search in all factors of some blocks, and their positions in the table, increasing."""
    parts = sorted(parts, key=lambda part: part.factors)
    factors = tuple(i for part in parts for i in part.factors)
    return space.search(join_designs([part.design for part in parts]), known.of(factors)), factors


def search_each(
    block: Placed, base: Sequence[Placed], space: SearchData, known: SingleFactors, ask: Any, candidates: Sequence[int]
) -> Floats:
    """Return a function of a search and a base for some candidates of a block."""
    search, factors = _join(_with_base(block, base), space, known)
    place = {i: k for k, i in enumerate(factors)}
    found: Floats = ask(search, tuple(place[one.factors[0]] for one in base), [place[i] for i in candidates])
    return found


def _with_base(block: Placed, base: Sequence[Placed]) -> list[Placed]:
    """Return a block, and the factors of a base that are not in it."""
    return [block, *(one for one in base if one.factors[0] not in block.factors)]


class Prepared(NamedTuple):
    """Step for one block, ready to run in parts."""

    step: BlockStep
    factors: tuple[int, ...]
    """Position in the table of each factor that the step numbers."""

    def run(self, part: int, parts: int) -> PartialStep:
        """Run part number ``part`` of ``parts``, with candidates numbered as in the table."""
        found = self.step.run(part, parts)
        alone = {self.factors[i]: mean for i, mean in found.alone.items()}
        return found._replace(alone=alone, shared=tuple(self.factors[i] for i in found.shared))


def prepare(
    block: Placed, base: Sequence[Placed], space: SearchData, known: SingleFactors, candidates: Sequence[int]
) -> Prepared:
    """Prepare the search for some candidates of a block in a base, given the results for all factors alone."""
    search, factors = _join(_with_base(block, base), space, known)
    place = {i: k for k, i in enumerate(factors)}
    step = search.prepare([place[one.factors[0]] for one in base], [place[i] for i in candidates])
    return Prepared(step, factors)


def run_part(prepared: Prepared, part: int, parts: int) -> PartialStep:
    """Run part number ``part`` of ``parts`` of a step."""
    return prepared.run(part, parts)
