"""Plain files that can be read more than once: standard input and gzip are copied, and changes are noticed."""

import codecs
import contextlib
import difflib
import errno
import gzip
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .._utils.atomic_write import temporary_file
from .._utils.text import first_line

_GZIP = b"\x1f\x8b"


@contextlib.contextmanager
def on_disk(data: str, shown: str) -> Iterator[Path]:
    """Make a file that can be read more than once: standard input and gzip go through a temporary one."""
    with contextlib.ExitStack() as stack:
        if data == "-" and sys.stdin is None:
            raise ValueError("standard input is closed. Name a file, or send a table through a pipe.")
        path = temporary_copy(sys.stdin.buffer, stack) if data == "-" else _existing(data)
        with path.open("rb") as file:
            compressed = file.read(2) == _GZIP
        if compressed:
            try:
                with gzip.open(path) as unpacked:
                    path = temporary_copy(unpacked, stack)
            except (gzip.BadGzipFile, EOFError, zlib.error) as error:
                raise ValueError(f"{shown} is damaged: {first_line(error)}") from error
        yield path


def _existing(data: str) -> Path:
    path = Path(data)
    if not path.exists():
        near = difflib.get_close_matches(path.name, os.listdir(path.parent) if path.parent.is_dir() else ())
        meant = f" Did you mean {str(path.parent / near[0])!r}?" if near else ""
        raise ValueError(f"there is no file {data!r}.{meant}")
    if not path.is_file():
        raise ValueError(f"{data!r} is not a file.")
    return path


def temporary_copy(data: Any, stack: contextlib.ExitStack) -> Path:
    """Copy a file, given by its path or open, to a temporary one that lasts as long as the stack."""
    folder = tempfile.gettempdir()
    try:
        stream = stack.enter_context(data.open("rb")) if isinstance(data, Path) else data
        file = stack.enter_context(temporary_file(folder))
        shutil.copyfileobj(stream, file, 2**20)
        file.flush()
    except OSError as error:
        if error.errno is None:  # a fault of compressed data
            raise
        too_many = error.errno == errno.EMFILE
        way_out = "Unpack the files first." if too_many else "Set TMPDIR to a folder with more room."
        raise OSError(f"a temporary copy in {folder!r} cannot be made: {error.strerror}. {way_out}") from error
    return Path(file.name)


def is_empty(path: Path) -> bool:
    """Return whether a file has no bytes, or a byte order mark alone."""
    with path.open("rb") as file:
        return not file.read(len(codecs.BOM_UTF8) + 1).removeprefix(codecs.BOM_UTF8)


class FileWatch:
    """Files that must not change: they are read several times, which must all see the same.

    Parameters
    ----------
    files : dict
        Paths, and what to call each in messages.
    """

    def __init__(self, files: Mapping[Path, str]) -> None:
        self._files = {path: (shown, _file_state(path)) for path, shown in files.items()}

    def check(self) -> None:
        """Refuse files that have changed or are gone."""
        for path, (shown, before) in self._files.items():
            now = _file_state(path)
            if now != before:
                raise ValueError(say_unsteady(shown, "changed" if now else "removed"))


def _file_state(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def say_unsteady(shown: str, happened: str = "removed") -> str:
    """Return the message that a file has changed."""
    return f"{shown} was {happened} while it was read. Run again once it is complete, or on a copy."
