"""What workers of a cluster do: functions of data that are there, each with a small result or one that stays."""

import socket
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._utils.threads import Workers
from ..data.design import Design, join_designs
from ..data.encoding import Encoded
from ..data.observations import Reading
from ..data.stored_columns import Floats, OfBlock, OfColumn
from ..data.stored_table import AT_A_TIME, ColumnTable, design_part, encode_part
from ..neighbors.block_step import BlockStep, PartialStep
from ..neighbors.search import Columns, Search

Rows = NDArray[np.intp]


class Placed(NamedTuple):
    """A block of factors on a worker, and where they are in the table."""

    design: Design
    factors: tuple[int, ...]
    """The position of each factor in the table."""


class Space(NamedTuple):
    """What every worker knows of a search besides the factors."""

    y: Floats
    """(rows, outputs)."""
    outer: Rows
    n_neighbors: int
    weights: Floats | None
    groups: Rows | None

    def search(self, design: Design, known: Columns | None = None) -> Search:
        """A search in some factors, without threads: a worker has its own."""
        y, outer, n_neighbors, weights, groups = self
        return Search(design, y, outer, n_neighbors, Workers(1), weights, groups, known)


# --- from partitions to blocks --------------------------------------------------------------------------


def take_columns(partition: Any, columns: Sequence[int]) -> Any:
    """Some columns of a partition, by position."""
    return partition.iloc[:, list(columns)] if hasattr(partition, "iloc") else partition[:, list(columns)]


def encode_block(pieces: Sequence[Any], names: tuple[str, ...], columns: Sequence[int], reading: Reading) -> Encoded:
    """A block of columns as numbers, from the pieces of all partitions in order."""
    if isinstance(pieces[0], np.ndarray):
        frame: Any = np.concatenate(pieces)
    else:
        import pandas as pd

        _refuse_other_types(pieces)
        frame = pd.concat(pieces, ignore_index=True)
    return encode_part(frame, names, columns, reading)


def read_block(table: ColumnTable, columns: Sequence[int], reading: Reading) -> Encoded:
    """A block of columns as numbers, read from files a few at a time."""
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
    """A data frame of some columns, read on this worker."""
    try:
        return table.read(columns)
    except (OSError, ValueError) as error:
        raise OSError(
            f"a worker on {socket.gethostname()} cannot read the table: {error} Files must be where every worker can "
            "read them, under the same path."
        ) from error


def _refuse_other_types(pieces: Sequence[Any]) -> None:
    """Refuse a column that is of another type in another partition; what numbers have in common is a type."""
    first = pieces[0].dtypes
    for number, piece in enumerate(pieces):
        for name, one, other in zip(first.index, first, piece.dtypes, strict=True):
            if one.kind != other.kind and not {one.kind, other.kind} <= set("iuf"):
                raise TypeError(
                    f"column {name!r} of X changes its type: it is {one} in partition 0 and {other} in partition "
                    f"{number}. Convert it to one type, or leave it out."
                )


def find_gaps(encoded: Encoded, rows: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], Rows]:
    """See `Encoded.find_gaps`."""
    return encoded.find_gaps(rows)


def place_block(
    encoded: Encoded,
    rows: Rows | None,
    names: tuple[str, ...],
    columns: Sequence[int],
    factors: tuple[int, ...],
    reading: Reading,
) -> Placed:
    """A block of factors, scaled."""
    encoded = encoded if rows is None else encoded.on_rows(rows)
    return Placed(design_part(encoded, names, columns, reading), factors)


def place_on_rows(block: Placed, rows: Rows) -> Placed:
    """A block on some rows."""
    return Placed(block.design.on_rows(rows), block.factors)


def facts_of(block: Placed) -> Design:
    """All that is known of a block but its values."""
    return block.design.without_values()


# --- columns --------------------------------------------------------------------------------------------


def take(block: Placed, columns: Sequence[int], rows: Rows | None) -> Floats:
    """The values of some columns of a block, (rows, columns)."""
    return block.design.take(columns, slice(None) if rows is None else rows)


def take_factor(block: Placed, factor: int) -> Placed:
    """One factor of a block, given its position in the table."""
    return Placed(block.design.on_factors([block.factors.index(factor)]), (factor,))


def ask_columns(block: Placed, ask: OfColumn, columns: Sequence[int], first: int) -> list[Any]:
    """What is asked of each of some columns of a block, the first column of which has this number in the table."""
    return block.design.stored.map(lambda values, j: ask(values, first + j), columns)


class Made(NamedTuple):
    """What was made of a block, and where its factors are in the table."""

    value: Any
    factors: tuple[int, ...]


def make_of_block(block: Placed, make: OfBlock) -> Made:
    """What a function makes of a block."""
    return Made(make(block.design), block.factors)


def ask_block(made: Made, ask: OfBlock, factors: Sequence[int], shared: Sequence[Any]) -> Any:
    """What is asked of what was made of a block, given the positions of some of its factors in the table."""
    return ask(made.value, [made.factors.index(i) for i in factors], *shared)


def sum_columns(block: Placed, ask: OfColumn, columns: Sequence[int], first: int) -> NDArray[Any]:
    """The sum of what is asked of each."""
    return block.design.stored.sum(lambda values, j: ask(values, first + j), columns)


def add(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The sum of arrays."""
    total: NDArray[Any] = np.sum(arrays, axis=0, dtype=arrays[0].dtype)
    return total


# --- searches -------------------------------------------------------------------------------------------


def describe(block: Placed, space: Space) -> Columns:
    """What the factors of a block tell by themselves."""
    return space.search(block.design).columns._replace(codes={})


def search_alone(block: Placed, space: Space, known: Columns, factors: Sequence[int]) -> Floats:
    """The mean variance given each of some factors of a block alone."""
    places = [block.factors.index(i) for i in factors]
    return space.search(block.design, known).plus_each((), places)


def search_set(factors: Sequence[Placed], space: Space, known: Columns) -> float:
    """The mean variance given some factors, which are one block each."""
    search, _ = _join(factors, space, known)
    return search.one(range(len(factors)))


def _join(parts: Sequence[Placed], space: Space, known: Columns) -> tuple[Search, tuple[int, ...]]:
    """A search in all factors of some blocks, and their positions in the table, increasing."""
    parts = sorted(parts, key=lambda part: part.factors)
    factors = tuple(i for part in parts for i in part.factors)
    return space.search(join_designs([part.design for part in parts]), known.of(factors)), factors


def search_each(
    block: Placed, base: Sequence[Placed], space: Space, known: Columns, ask: Any, candidates: Sequence[int]
) -> Floats:
    """What a function of a search, a base and candidates finds of some candidates of a block."""
    search, factors = _join(_with_base(block, base), space, known)
    place = {i: k for k, i in enumerate(factors)}
    found: Floats = ask(search, tuple(place[one.factors[0]] for one in base), [place[i] for i in candidates])
    return found


def _with_base(block: Placed, base: Sequence[Placed]) -> list[Placed]:
    """A block, and the factors of a base that are not in it."""
    return [block, *(one for one in base if one.factors[0] not in block.factors)]


class Prepared(NamedTuple):
    """A step for one block, ready to be done in parts."""

    step: BlockStep
    factors: tuple[int, ...]
    """The position in the table of each factor that the step numbers."""

    def run(self, part: int, parts: int) -> PartialStep:
        """One of so many parts, with candidates numbered as in the table."""
        found = self.step.run(part, parts)
        alone = {self.factors[i]: mean for i, mean in found.alone.items()}
        return found._replace(alone=alone, shared=tuple(self.factors[i] for i in found.shared))


def prepare(block: Placed, base: Sequence[Placed], space: Space, known: Columns, candidates: Sequence[int]) -> Prepared:
    """Get ready to search some candidates of a block in a base, given what is known of all factors."""
    search, factors = _join(_with_base(block, base), space, known)
    place = {i: k for k, i in enumerate(factors)}
    step = search.prepare([place[one.factors[0]] for one in base], [place[i] for i in candidates])
    return Prepared(step, factors)


def run_part(prepared: Prepared, part: int, parts: int) -> PartialStep:
    """One of so many parts of a step."""
    return prepared.run(part, parts)
