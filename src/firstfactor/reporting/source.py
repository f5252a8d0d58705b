"""Where a table comes from, so that a reader can tell it from others: its name, size, digest, and the date."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from itertools import chain
from pathlib import Path
from typing import Any

# Characters of a digest that are shown: enough to tell any two files apart that people have.
DIGEST_LENGTH = 16

# A file is read in pieces of this many bytes.
PIECE = 1 << 20

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def describe_file(path: str | os.PathLike[str]) -> dict[str, str]:
    """The name, size and digest of a file, for `write_report`."""
    path = Path(path)
    return {"name": path.name, "size": say_size(path.stat().st_size), "sha256": _digest(_pieces(path))}


def describe_files(paths: Sequence[str], name: str) -> dict[str, str]:
    """The same of several files that are one table, with what they are called together; the digest is that of all."""
    if len(paths) == 1:
        return describe_file(paths[0])
    files = [Path(path) for path in paths]
    size = sum(path.stat().st_size for path in files)
    return {"name": name, "size": say_size(size), "sha256": _digest(chain.from_iterable(map(_pieces, files)))}


def describe_table(X: Any, y: Any, name: str = "") -> dict[str, str]:
    """The name and digest of a polars table with its response, for `write_report`.

    The digest is that of the table as a CSV file with the response as its last column or columns.
    """
    table = X.hstack([y] if len(y.shape) == 1 else y.get_columns())
    return {**({"name": name} if name else {}), "sha256": _digest([table.write_csv().encode()])}


def today() -> str:
    """The date in words: today's, or that of the variable SOURCE_DATE_EPOCH, with which builds are repeated."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    try:
        day = datetime.fromtimestamp(int(epoch), UTC).date() if epoch else date.today()
    except (ValueError, OverflowError, OSError) as error:
        raise ValueError(
            "SOURCE_DATE_EPOCH must be the number of seconds from 1970 to a date before the year 10,000; got "
            f"{epoch[:40]!r}. Unset it for today's date."
        ) from error
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def say_size(size: float) -> str:
    """A number of bytes in words."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 999.5 or unit == "GB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "bytes" or size >= 99.5 else f"{size:.2g} {unit}"


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


def _digest(pieces: Any) -> str:
    """The first characters of the SHA-256 of some bytes."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()[:DIGEST_LENGTH]
