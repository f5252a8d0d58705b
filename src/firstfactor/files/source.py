"""`Source`: a table that has not been read yet, whatever it comes from, and questions on its columns."""

import dataclasses
import functools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from .._utils.text import first_line
from . import csv_errors
from .json_file import json_lines_fault
from .plain_file import say_unsteady
from .written import in_english

# Formats that do not make sure that the values of a column are of one kind: text may stand for numbers or for nothing.
_LOOSE = ("csv", "tsv", "jsonl", "json", "excel", "sqlite")

# Columns looked at in one pass through a file: polars takes longer and more memory than in proportion for many.
AT_ONCE = 400

# The column that numbers the rows of the file from 0; no file can have one of this name.
ROW = "\0row"

# Types that few libraries know.
WIDE = (pl.Int128, pl.UInt128)


@dataclasses.dataclass(frozen=True)
class Source:
    """A table that has not been read yet."""

    path: Path
    """The file to read: not compressed, and a copy if it came through standard input."""
    shown: str
    """What to call it in messages."""
    kind: str
    """A format, one of `file_format.FORMATS`, or "frame"."""
    frame: pl.LazyFrame
    """All columns, by numbers, and `ROW`. Those of CSV files are text."""
    dtypes: dict[str, pl.DataType]
    """The names of the columns, in the order of the frame, and their types."""
    separator: str = ""
    unnamed: frozenset[str] = frozenset()
    """Columns that have no name in the file and were given one."""
    decimal: str = "."
    """The decimal mark of numbers that are text."""
    reading: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """How the file is read: parameters of `rank`, with what was guessed."""
    header: int = 1
    """The line of the header."""
    at_once: int = AT_ONCE
    """How many columns are looked at in one pass through the file."""

    @property
    def files(self) -> dict[Path, str]:
        """The files that are read, and what to call each in messages."""
        return {self.path: self.shown}

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.dtypes)

    @functools.cached_property
    def _numbers(self) -> dict[str, str]:
        return {name: numbered(number) for number, name in enumerate(self.dtypes)}

    def column(self, name: str) -> pl.Expr:
        """The values of a column; polars would take a name such as * or ^x$ for a pattern."""
        return pl.col(self._numbers[name])

    def numeral(self, name: str) -> pl.Expr:
        """The values of a column of text as they would be written in English if they are numbers."""
        return in_english(self.column(name), self.decimal)

    @property
    def untyped(self) -> bool:
        """Whether every column is text, whatever it stands for."""
        return self.kind in ("csv", "tsv")

    @property
    def loose(self) -> bool:
        """Whether a column of text may be meant otherwise."""
        return self.kind in _LOOSE

    def place(self, row: int) -> str:
        """Say where a row is, in words a person can act on."""
        if self.untyped:
            return f"line {csv_errors.csv_line(self.path, self.separator, row):,}"
        if self.kind == "excel":
            return f"row {row + 1:,} below the header"
        return f"{'line' if self.kind == 'jsonl' else 'row'} {row + 1:,}"

    def collect(self, frame: pl.LazyFrame) -> pl.DataFrame:
        """Run a query on the file in small pieces; what is wrong with the file is said by line."""
        try:
            return frame.collect(engine="streaming")
        except pl.exceptions.NoDataError as error:  # polars before 2.0; later ones return no rows
            raise ValueError(f"{self.shown} has no rows below its header.") from error
        except pl.exceptions.PolarsError as error:
            fault = self.fault() or (self.untyped and csv_errors.quote_fault(self.path, self.shown, self.separator))
            if not fault and self.kind in ("parquet", "arrow"):
                fault = f"{self.shown} is damaged: it cannot be read as {self.kind}."
            raise ValueError(fault or f"{self.shown} cannot be read: {first_line(error)}") from error
        except FileNotFoundError as error:
            raise ValueError(say_unsteady(self.shown)) from error
        except OSError as error:
            raise ValueError(f"{self.shown} cannot be read as {self.kind}: {first_line(error)}") from error
        except pl.exceptions.PanicException as error:  # what polars does not expect of a file
            raise ValueError(f"{self.shown} is damaged: it cannot be read as {self.kind}.") from error

    def fault(self) -> str | None:
        """Look for what makes the file unreadable."""
        if self.untyped:
            return csv_errors.encoding_fault(self.path, self.shown) or csv_errors.shape_fault(
                self.path, self.shown, self.separator, len(self.names), self.header
            )
        return json_lines_fault(self.path, self.shown) if self.kind == "jsonl" else None


def name_columns(header: Sequence[str], shown: str, loose: bool = True) -> tuple[list[str], frozenset[str]]:
    """Return a name for each column, and which of the names are made up.

    With ``loose``, needless blanks are removed from names, unless two of them would become one.
    """
    tidy = [tidy_name(name) for name in header]
    differ_in_blanks = len({*tidy, ""}) < len({name for name in header if name.strip()} | {""})
    if differ_in_blanks or not loose:
        tidy = [name if name.strip() else "" for name in header]
    names = [name or f"column {number}" for number, name in enumerate(tidy, start=1)]
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if twice is not None:
        raise ValueError(f"two columns of {shown} have the name {twice!r}. Rename one.")
    return names, frozenset(name for name, given in zip(names, tidy, strict=True) if not given)


def tidy_name(name: str) -> str:
    """Return a name with one blank where it has several or a line break, and none around it."""
    return " ".join(name.split())


def numbered(number: int) -> str:
    """What a column is called in the frame, given its number."""
    return f"\0{number}"


def typed_source(path: Path, shown: str, kind: str, frame: pl.LazyFrame, decimal: str | None = None) -> Source:
    """A source whose columns have types of their own; ``frame`` has them by name, and `ROW`."""
    schema = frame.collect_schema()
    header = [name for name in schema.names() if name != ROW]
    if not header:
        raise ValueError(f"{shown} has no columns.")
    names, unnamed = name_columns(header, shown, loose=kind in _LOOSE)
    frame = frame.rename({name: numbered(number) for number, name in enumerate(header)})
    dtypes = dict(zip(names, (schema[name] for name in header), strict=True))
    return Source(path, shown, kind, frame, dtypes, unnamed=unnamed, decimal=decimal or ".")


def frame_source(frame: pl.DataFrame, shown: str) -> Source:
    """Return a data frame as a source; its types are taken as they are."""
    return typed_source(Path(), shown, "frame", frame.lazy().with_row_index(ROW))


def ask_by_column(
    source: Source,
    names: Sequence[str],
    questions: Callable[[str], dict[str, pl.Expr]],
    prepare: Callable[[Sequence[str]], pl.LazyFrame] | None = None,
) -> tuple[int, dict[str, dict[str, Any]]]:
    """Return how many rows there are, and answers to questions on every column.

    ``prepare`` makes the frame that is asked about some columns; the default is that of the source.
    """
    n_rows, found = 0, dict[str, dict[str, Any]]()
    for start in range(0, len(names), source.at_once):
        some = names[start : start + source.at_once]
        frame = source.frame if prepare is None else prepare(some)
        asked = {name: questions(name) for name in some}
        numbered = (expression.alias(str(i)) for i, expression in enumerate(chain(*map(dict.values, asked.values()))))
        n_rows, *answers = source.collect(frame.select(pl.len().alias("n_rows"), *numbered)).row(0)
        given = iter(answers)
        found |= {name: dict(zip(keys, given, strict=False)) for name, keys in asked.items()}
    return n_rows, found
