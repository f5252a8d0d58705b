"""Which format a file has: told from its first bytes, then from its name. And which of its tables is meant."""

import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

from ..parameters import find

SUFFIXES = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".xlsx": "excel",
    ".xls": "excel",
    ".xlsb": "excel",
    ".ods": "excel",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".duckdb": "duckdb",
    ".dta": "stata",
}
FORMATS: tuple[str, ...] = find("format").metadata["choices"]

# The first bytes of files that tell their format, whatever they are called.
_MARKS = {
    rb"PAR1\x15": "parquet",
    rb"ARROW1\0\0": "arrow",
    rb"PK\x03\x04|\xd0\xcf\x11\xe0": "excel",
    rb"SQLite format 3\0": "sqlite",
    rb"(?s:.{8})DUCK(?s:.{1,3})\0": "duckdb",
}


def guess_format(data: str, path: Path, shown: str) -> str:
    """Tell the format from the first bytes, then from the name; standard input is CSV if they do not tell."""
    with path.open("rb") as file:
        start = file.read(16)
    named = named_format(data)
    marked = next((kind for mark, kind in _MARKS.items() if re.match(mark, start)), None)
    if marked == "excel" and zipfile.is_zipfile(path) and not _is_workbook(path):
        raise ValueError(f"{shown} is a zip archive: unpack it first.")
    if marked or named:
        return marked or named or ""
    if data == "-":
        return "csv"
    raise ValueError(
        f"the name {shown!r} does not tell the format. Name it with format= ({', '.join(FORMATS)}), or let it end in "
        f"one of {', '.join(SUFFIXES)}, with or without .gz."
    )


def named_format(data: str) -> str | None:
    """The format that a name tells, if it tells any."""
    suffixes = [suffix.lower() for suffix in Path(data).suffixes if suffix.lower() != ".gz"]
    return SUFFIXES.get(suffixes[-1]) if suffixes else None


def _is_workbook(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.startswith("xl/") or name == "content.xml" for name in archive.namelist())
    except (zipfile.BadZipFile, NotImplementedError, OSError):
        return True  # what is wrong with it is told when it is read


def choose_table(shown: str, what: str, tables: Sequence[str], wanted: str | None) -> str:
    """Return the table that was asked for, or the only one there is."""
    listed = ", ".join(map(repr, tables))
    if wanted is not None and wanted not in tables:
        raise ValueError(f"table: {shown} has no {what} {wanted!r}. It has: {listed or 'none'}.")
    if not tables:
        raise ValueError(f"{shown} has no {what} with data.")
    if wanted is None and len(tables) > 1:
        raise ValueError(f"{shown} has {len(tables)} {what}s: name one with table=. They are: {listed}.")
    return wanted or tables[0]
