"""CSV and TSV files as sources: the separator, the header and what is above it, blank lines, the decimal mark."""

import dataclasses
import re
from collections.abc import Sequence
from itertools import chain, islice, takewhile
from pathlib import Path

import polars as pl

from . import csv_errors
from .plain_file import unused_control
from .source import ROW, Source, name_columns, numbered
from .written import guess_decimal

# The first line of files that Excel is told the separator of.
_TELLS_SEPARATOR = re.compile(r"sep=([,;\t|])\s*", re.IGNORECASE)

# How many lines tell what a file is like.
_FIRST_LINES = 200


@dataclasses.dataclass(frozen=True)
class _Start:
    """The header, what is above it, and the first rows."""

    header: list[str]
    line: int
    """The line of the header."""
    n_lines: int
    """How many lines come before the first row that is not blank."""
    n_records: int
    """How many records come before it, the header not counted."""
    rows: list[list[str]]


def scan_csv(path: Path, shown: str, kind: str, decimal: str | None) -> Source:
    """A CSV or TSV file as a source, every column as text."""
    separator = "\t" if kind == "tsv" else _separator(path)
    start = _read_start(path, shown, separator)
    names, unnamed = name_columns(_complete(start.header, start.rows[0] if start.rows else start.header, shown), shown)
    decimal = decimal or guess_decimal(chain.from_iterable(start.rows), separator)
    if decimal is None:
        raise ValueError(say_ambiguous(shown))
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
    source = Source(path, shown, kind, frame, dtypes, separator, unnamed, decimal, header=start.line)
    return _without_blank_lines(source)


def say_ambiguous(shown: str) -> str:
    """The message that a file does not tell its decimal mark."""
    return (
        f"commas in the numbers of {shown} may be decimal commas or thousands separators: all have three digits "
        'after them. Use decimal="," or decimal="." to say which mark decimals have.'
    )


def first_fields(source: Source) -> list[str]:
    """The fields of the first rows of a file, which tell what it is like."""
    return [*chain.from_iterable(_read_start(source.path, source.shown, source.separator).rows)]


def _read_start(path: Path, shown: str, separator: str) -> _Start:
    """What the first lines of a file tell."""
    try:
        first = list(islice(csv_errors.records(path, separator), _FIRST_LINES))
    except UnicodeDecodeError as error:
        raise ValueError(csv_errors.encoding_fault(path, shown)) from error
    if any("\0" in field for _, _, fields in first for field in fields):
        raise ValueError(
            f"{shown} is not UTF-8 text: it holds NUL bytes. If it is UTF-16, convert it: "
            "iconv -f utf-16le -t utf-8 FILE > NEW_FILE."
        )
    above = _lines_above_header(first, separator)
    if above == len(first):
        raise ValueError(f"{shown} has no header and no rows.")
    line, below, header = first[above]
    header = [name.strip().strip('"') for name in header]  # also "a", "b"
    blank = sum(1 for _ in takewhile(lambda record: not "".join(record[2]).strip(), first[above + 1 :]))
    rows = [fields for _, _, fields in first[above + 1 + blank :]]
    return _Start(header, line, below - 1 + blank, above + blank, rows)


def _without_blank_lines(source: Source) -> Source:
    """The same file without its blank lines; lines with too few or too many fields are refused."""
    ragged, blank_lines = _look_at_lines(source)
    if ragged and (fault := source.fault()):
        raise ValueError(fault)
    if not blank_lines:
        return source
    filled = pl.any_horizontal(pl.exclude(ROW).str.strip_chars() != "")
    return dataclasses.replace(source, frame=source.frame.filter(filled))


def _separator(path: Path) -> str:
    """What separates columns: the mark that the header has most of, outside quotes."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        lines = [re.sub('"[^"]*"', "", line) for line in islice(file, _FIRST_LINES)]
    said = _TELLS_SEPARATOR.fullmatch(lines[0])
    uncommented = next((line for line in lines if not line.startswith("#")), lines[0])
    return said[1] if said else max(",;\t|", key=uncommented.count)


def _lines_above_header(records: Sequence[tuple[int, int, list[str]]], separator: str) -> int:
    """How many records come before the header: comments, and the line that tells Excel the separator."""
    starts = [fields[0] if fields else "" for _, _, fields in records]
    if _TELLS_SEPARATOR.fullmatch(separator.join(records[0][2])):
        return 1
    comments = sum(1 for _ in takewhile(lambda start: start.startswith("#"), starts))
    if comments == 0 or comments == len(records):
        return 0
    is_header = len(records[comments - 1][2]) == len(records[comments][2])  # such as #id,name
    return comments - is_header


def _complete(header: list[str], first: list[str], shown: str) -> list[str]:
    """The names in the header, with blank ones where rows have one field more than it."""
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


def _look_at_lines(source: Source) -> tuple[bool, bool]:
    """Tell whether some line seems to have too few or too many fields, and whether some line is blank.

    polars fills short lines up, and never looks at fields beyond the last column that it is asked for. A line break
    in quotes makes lines look odd as well.
    """
    none = unused_control(source.path, source.shown)
    lines = pl.scan_csv(
        source.path, has_header=False, separator=none, quote_char=None, schema={"line": pl.String}, glob=False
    )
    line = pl.col("line").fill_null("")
    quoted = line.str.contains('"', literal=True)
    unquoted = pl.when(quoted).then(line.str.replace_all('"[^"]*"', "")).otherwise(line)
    separators = unquoted.str.count_matches(source.separator, literal=True)
    blank = line.str.strip_chars(f" \t\r{source.separator}") == ""
    odd = (separators != len(source.names) - 1) & ~blank
    ragged, some_blank = source.collect(lines.select(odd.any(), blank=blank.any())).row(0)
    return bool(ragged), bool(some_blank)
