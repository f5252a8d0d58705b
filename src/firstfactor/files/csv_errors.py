"""What is wrong with a text file, and on which line: looked for only once reading it has failed or looks odd."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

# Fields of CSV files may be longer than the 128 KiB that the standard library expects.
_LONGEST_FIELD = 2**31 - 1

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def encoding_fault(path: Path, shown: str) -> str | None:
    """Say which line is not UTF-8."""
    with path.open("rb") as file:
        if file.read(2) in _UTF16_MARKS:
            return f"{shown} is UTF-16, not UTF-8. Convert it: iconv -f utf-16 -t utf-8 FILE > NEW_FILE."
        file.seek(0)
        for number, line in enumerate(file, start=1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                return (
                    f"line {number:,} of {shown} is not UTF-8 (byte 0x{line[error.start]:02x} at column "
                    f"{error.start + 1}). Convert the file: iconv -f latin1 -t utf-8 FILE > NEW_FILE."
                )
    return None


def shape_fault(path: Path, shown: str, separator: str, width: int, header: int = 1) -> str | None:
    """Say which line below that of the header has not ``width`` fields, or opens a quote that never closes."""
    line = 1
    try:
        for line, after, fields in records(path, separator, strict=True):
            if line > header and len(fields) != width and "".join(fields).strip():
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


def quote_fault(path: Path, shown: str, separator: str) -> str | None:
    """Say which line has a double quote within a field that does not start with one."""
    mark = re.escape(separator)
    quoted = re.compile(rf'(?:^|(?<={mark}))"(?:[^"]|"")*"(?={mark}|$)')
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if '"' in quoted.sub("", line.rstrip()):
                return (
                    f"line {number:,} of {shown} has a double quote in the middle of a field: put the field in double "
                    "quotes and write the quote twice."
                )
    return None


def csv_line(path: Path, separator: str, row: int) -> int:
    """The line on which a data row starts; they differ where quoted fields hold line breaks."""
    return next(line for i, (line, _, _) in enumerate(records(path, separator)) if i == row + 1)


def records(path: Path, separator: str, strict: bool = False) -> Iterator[tuple[int, int, list[str]]]:
    """Return for every record its first line, the line after it, and its fields; a blank line has none."""
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
