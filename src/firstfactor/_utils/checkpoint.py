"""Results of a long run in a file, so that it can go on where it was stopped."""

import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .atomic_write import write_whole

_log = logging.getLogger(__name__)

# What the file says it is.
FORMAT = "firstfactor checkpoint 2"

Found = dict[str, list[float]]


class Checkpoint:
    """Results so far. The file is written anew after each step, whole or not at all.

    The fingerprint tells the table and the parameters that the results belong to from all others. The file holds a
    digest of its own content, so that a damaged one is not believed.
    """

    def __init__(self, path: str | os.PathLike[str], fingerprint: str) -> None:
        self._path, self._fingerprint = path, fingerprint
        self._found = _read(path, fingerprint)
        self._write()  # if that is not possible, it is better known now

    def find(self, key: str, compute: Callable[[], NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the numbers that were found before, or those that ``compute`` finds, which are then in the file."""
        if key not in self._found:
            self._found[key] = compute().tolist()
            try:
                self._write()
            except OSError as error:  # such as a full disk: results must not be lost to it
                why = error.strerror or error
                _log.warning("firstfactor: checkpoint %s cannot be written: %s.", os.fspath(self._path), why)
        return np.array(self._found[key])

    def _write(self) -> None:
        content = {
            "format": FORMAT,
            "fingerprint": self._fingerprint,
            "digest": _digest_content(self._fingerprint, self._found),
            "found": self._found,
        }
        write_whole(self._path, lambda file: file.write(json.dumps(content).encode()))


def _read(path: str | os.PathLike[str], fingerprint: str) -> Found:
    """Return what a file holds; nothing if there is none."""
    if not Path(path).exists():
        return {}
    if not Path(path).is_file():
        raise ValueError(f"checkpoint: {os.fspath(path)} is not a file. Name another one.")
    try:
        content = json.loads(Path(path).read_bytes())
        written_for, found = content["fingerprint"], content["found"]
        is_whole = content["format"] == FORMAT and content["digest"] == _digest_content(written_for, found)
    except (ValueError, KeyError, TypeError, RecursionError):
        is_whole = False
    if not is_whole:
        raise ValueError(
            f"checkpoint: {os.fspath(path)} is damaged, of another version, or a file of something else. Name another "
            "file, or remove this one to start anew."
        )
    if written_for != fingerprint:
        raise ValueError(
            f"checkpoint: {os.fspath(path)} was written for another table, with other parameters or by another version "
            "of firstfactor. Remove it to start anew, or name another file."
        )
    return dict(found)


def _digest_content(fingerprint: str, found: Found) -> str:
    """Return a digest of all that a file holds."""
    return hashlib.sha256(json.dumps([fingerprint, found]).encode()).hexdigest()


def digest(parts: Iterable[Any]) -> str:
    """Return a short text that is the same only for the same arrays and values in the same order."""
    found = hashlib.sha256()
    for part in parts:
        part = part.item() if isinstance(part, np.generic) else part
        is_array = isinstance(part, np.ndarray)
        head = f"{part.dtype.str} {part.shape}" if is_array else type(part).__name__
        body = np.ascontiguousarray(part).tobytes() if is_array else repr(part).encode()
        found.update(f"{head} {len(body)} ".encode())
        found.update(body)
    return found.hexdigest()[:32]


def digest_column(values: NDArray[np.float64], _: int) -> bytes:
    """Return a digest of the values of a column, (rows,), wherever that is."""
    return hashlib.sha256(np.ascontiguousarray(values).data).digest()
