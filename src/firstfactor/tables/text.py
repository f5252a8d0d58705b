"""CSV and TSV files: separator, header and lines above it, blank lines, decimal mark; and the line of each fault.

All columns are text. Faults are looked for only once reading has failed or a line looks odd.
"""

import contextlib
import csv
import dataclasses
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import IO, NamedTuple

import polars as pl

from .._utils.checks import InputError
from ..settings import RankSettings
from .source import ROW, Format, Source, encoding_fault, name_columns, numbered, temporary_copy
from .written import guess_decimal

# The first line of files that Excel is told the separator of.
_TELLS_SEPARATOR = re.compile(r"sep=([,;\t|])\s*", re.IGNORECASE)

# Number of lines that show what a file is like.
_FIRST_LINES = 200

# Fields may be longer than the 128 KiB that the standard library expects.
_LONGEST_FIELD = 2**31 - 1


class Csv(Format):
    """Text whose columns are separated by commas, semicolons, tabs or |."""

    name = "csv"
    suffixes = (".csv", ".txt")
    loose = True
    untyped = True
    is_lazy = True

    def prepare(self, path: Path, stack: contextlib.ExitStack) -> Path:
        """Copy a file with old Mac line ends, which polars does not know."""
        if _has_bare_returns(path):
            path = temporary_copy(_Newlines(stack.enter_context(path.open(encoding="latin-1"))), stack)
        return super().prepare(path, stack)

    def scan(self, path: Path, shown: str, reading: RankSettings) -> Source:
        """Open a file, every column as text."""
        separator = self.separator(path)
        start = _read_start(path, shown, separator)
        header = _complete(start.header, start.rows[0] if start.rows else start.header, shown)
        names, unnamed = name_columns(header, shown)
        decimal = reading.decimal or guess_decimal(chain.from_iterable(start.rows), separator)
        if decimal is None:
            raise ambiguous_decimals(shown)
        frame = pl.scan_csv(
            path,
            has_header=False,  # names are those above, also where the file has none
            skip_lines=start.n_lines,
            separator=separator,
            schema={numbered(number): pl.String for number in range(len(names))},
            row_index_name=ROW,
            row_index_offset=start.n_records,
            glob=False,
        )
        dtypes: dict[str, pl.DataType] = dict.fromkeys(names, pl.String())
        source = Source(path, shown, self, frame, dtypes, separator, unnamed, decimal, header=start.line)
        ragged, has_blank_lines = _examine_lines(source)
        if ragged and (fault := source.fault()):
            raise ValueError(fault)
        if not has_blank_lines:
            return source
        filled = pl.any_horizontal(pl.exclude(ROW).str.strip_chars() != "")
        return dataclasses.replace(source, frame=frame.filter(filled))

    def separator(self, path: Path) -> str:
        """Return the mark that the header has most of, outside quotes."""
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            lines = [re.sub('"[^"]*"', "", line) for line in islice(file, _FIRST_LINES)]
        said = _TELLS_SEPARATOR.fullmatch(lines[0])
        uncommented = next((line for line in lines if not line.startswith("#")), lines[0])
        return said[1] if said else max(",;\t|", key=uncommented.count)

    def place(self, source: Source, row: int) -> str:
        """Return the line on which a row starts."""
        return f"line {csv_line(source.path, source.separator, row):,}"

    def fault(self, source: Source) -> str | None:
        """Return which line is not UTF-8, or has too few or too many fields."""
        return encoding_fault(source.path, source.shown) or _shape_fault(source)

    def last_fault(self, source: Source) -> str | None:
        """Return which line has a double quote within a field that does not start with one."""
        mark = re.escape(source.separator)
        quoted = re.compile(rf'(?:^|(?<={mark}))"(?:[^"]|"")*"(?={mark}|$)')
        with source.path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                if '"' in quoted.sub("", line.rstrip()):
                    return (
                        f"line {number:,} of {source.shown} has a double quote in the middle of a field: put the field "
                        "in double quotes and write the quote twice."
                    )
        return None


class Tsv(Csv):
    """Text whose columns are separated by tabs."""

    name = "tsv"
    suffixes = (".tsv", ".tab")

    def separator(self, path: Path) -> str:  # noqa: ARG002
        """Return a tab."""
        return "\t"


def ambiguous_decimals(shown: str) -> InputError:
    """Return the error that the decimal mark of a file is not clear."""
    return InputError(
        "commas in the numbers of {shown} may be decimal commas or thousands separators: all have three digits after "
        'them. Use {decimal=","} or {decimal="."} to say which mark decimals have.',
        shown=shown,
    )


def first_fields(source: Source) -> list[str]:
    """Return the fields of the first rows of a file."""
    return [*chain.from_iterable(_read_start(source.path, source.shown, source.separator).rows)]


# --- the first lines ------------------------------------------------------------------------------------


class _Start(NamedTuple):
    """The header, what is above it, and the first rows."""

    header: list[str]
    line: int
    """The line of the header."""
    n_lines: int
    """Number of lines before the first row that is not blank."""
    n_records: int
    """Number of records before it, not counting the header."""
    rows: list[list[str]]


def _read_start(path: Path, shown: str, separator: str) -> _Start:
    try:
        first = list(islice(_records(path, separator), _FIRST_LINES))
    except UnicodeDecodeError as error:
        raise ValueError(encoding_fault(path, shown)) from error
    if any("\0" in field for _, _, fields in first for field in fields):
        raise ValueError(
            f"{shown} is not UTF-8 text: it holds NUL bytes. If it is UTF-16, convert it: "
            "iconv -f utf-16le -t utf-8 FILE > NEW_FILE."
        )
    above = _count_above_header(first, separator)
    if above == len(first):
        raise ValueError(f"{shown} has no header and no rows.")
    line, below, header = first[above]
    header = [name.strip().strip('"') for name in header]  # also "a", "b"
    blank = sum(1 for _ in takewhile(lambda record: not "".join(record[2]).strip(), first[above + 1 :]))
    rows = [fields for _, _, fields in first[above + 1 + blank :]]
    return _Start(header, line, below - 1 + blank, above + blank, rows)


def _count_above_header(records: Sequence[tuple[int, int, list[str]]], separator: str) -> int:
    """Return the number of records before the header: comments, and the line that tells Excel the separator."""
    starts = [fields[0] if fields else "" for _, _, fields in records]
    if _TELLS_SEPARATOR.fullmatch(separator.join(records[0][2])):
        return 1
    comments = sum(1 for _ in takewhile(lambda start: start.startswith("#"), starts))
    if comments == 0 or comments == len(records):
        return 0
    is_header = len(records[comments - 1][2]) == len(records[comments][2])  # such as #id,name
    return comments - is_header


def _complete(header: list[str], first: list[str], shown: str) -> list[str]:
    """Return the names in the header, with a blank one where rows have one field more."""
    if not any(name.strip() for name in header):
        raise ValueError(f"the first line of {shown} is blank; it must hold the names of the columns.")
    if len(header) == len(first) == 1 and len(header[0].split()) == len(first[0].split()) > 1:
        raise ValueError(
            f"the columns of {shown} seem to be separated by blanks; it must be commas, semicolons, tabs or |. "
            "Convert it: sed -E 's/^ +//; s/ +/,/g' FILE > NEW_FILE."
        )
    if len(first) != len(header) + 1:
        return header
    return ["", *header] if first[-1].strip() else [*header, ""]  # the names of rows; a separator at the end


# --- all lines ------------------------------------------------------------------------------------------


def _has_bare_returns(path: Path) -> bool:
    """Return whether lines end as on old Macs, some of them at least."""
    with path.open("rb") as file:
        while block := file.read(2**20):
            if block.endswith(b"\r"):
                block += file.read(1)
            if block.count(b"\r") > block.count(b"\r\n"):
                return True
    return False


class _Newlines:
    """The bytes of a file that is open as text of one byte a character, which makes all line ends alike."""

    def __init__(self, text: IO[str]) -> None:
        self._text = text

    def read(self, size: int) -> bytes:
        """Return the next bytes."""
        return self._text.read(size).encode("latin-1")


def _examine_lines(source: Source) -> tuple[bool, bool]:
    """Return whether some line seems to have too few or too many fields, and whether some line is blank.

    polars fills short lines up, and never looks at fields beyond the last column that it is asked for. A line break
    in quotes makes lines look odd as well.
    """
    lines = pl.scan_csv(
        source.path,
        has_header=False,
        separator=_unused_control(source),
        quote_char=None,
        schema={"line": pl.String},
        glob=False,
    )
    line = pl.col("line").fill_null("")
    quoted = line.str.contains('"', literal=True)
    unquoted = pl.when(quoted).then(line.str.replace_all('"[^"]*"', "")).otherwise(line)
    separators = unquoted.str.count_matches(source.separator, literal=True)
    blank = line.str.strip_chars(f" \t\r{source.separator}") == ""
    odd = (separators != len(source.names) - 1) & ~blank
    ragged, some_blank = source.collect(lines.select(odd.any(), blank=blank.any())).row(0)
    return bool(ragged), bool(some_blank)


def _unused_control(source: Source) -> str:
    """Return a control character that a file does not have."""
    for character in map(chr, (*range(1, 9), *range(14, 32))):
        with source.path.open("rb") as file:
            if not any(character.encode() in block for block in iter(lambda: file.read(2**20), b"")):
                return character
    raise ValueError(f"{source.shown} is not text: it holds control characters of every kind. Remove them.")


def _shape_fault(source: Source) -> str | None:
    """Return which line has not as many fields as the header, or opens a quote that never closes."""
    line, width, shown = 1, len(source.names), source.shown
    try:
        for line, after, fields in _records(source.path, source.separator, strict=True):
            if line > source.header and len(fields) != width and "".join(fields).strip():
                count = f"{len(fields)} field{'s' if len(fields) != 1 else ''}"
                return (
                    f"line {line:,} of {shown} has {count}, but the header has {width}. Correct the line; "
                    "a field that contains the separator must be in double quotes, and the first line must hold the "
                    "names of the columns."
                )
            line = after
    except csv.Error as error:
        if "end of data" in str(error):
            return f"the double quote opened on line {line:,} of {shown} is never closed."
        return f"line {line:,} of {shown} has a double quote in the middle of a field: write it twice."
    return None


def csv_line(path: Path, separator: str, row: int) -> int:
    """Return the line on which a row starts; they differ where quoted fields hold line breaks."""
    return next(line for i, (line, _, _) in enumerate(_records(path, separator)) if i == row + 1)


def _records(path: Path, separator: str, strict: bool = False) -> Iterator[tuple[int, int, list[str]]]:
    """Yield for every record its first line, the line after it, and its fields; a blank line has none."""
    before = csv.field_size_limit(_LONGEST_FIELD)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=separator, strict=strict)
            line = 1
            for fields in reader:
                yield line, reader.line_num + 1, fields
                line = reader.line_num + 1
    finally:
        csv.field_size_limit(before)
