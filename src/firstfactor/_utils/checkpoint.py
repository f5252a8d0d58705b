"""Results of a long run in a file, so that a stopped run can resume."""

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
from .checks import InputError

_log = logging.getLogger(__name__)

# Format tag in the file.
FORMAT = "firstfactor checkpoint 2"

Found = dict[str, list[float]]


class Checkpoint:
    """Results so far. The file is rewritten atomically after each step.

    The fingerprint identifies the table and the parameters that the results belong to. The file contains a digest of
    its content, so that a damaged file is rejected.
    """

    def __init__(self, path: str | os.PathLike[str], fingerprint: str) -> None:
        self._path, self._fingerprint = path, fingerprint
        self._found = _read(path, fingerprint)
        self._write()  # fail now if the file cannot be written

    def find(self, key: str, compute: Callable[[], NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the numbers found before, or compute them with ``compute`` and save them in the file."""
        if key not in self._found:
            self._found[key] = compute().tolist()
            try:
                self._write()
            except OSError as error:  # such as a full disk: results must not be lost because of it
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
    """Return the results in a file, or an empty dict if there is no file."""
    if not Path(path).exists():
        return {}
    if not Path(path).is_file():
        raise InputError("{checkpoint}: {path} is not a file. Name another one.", path=os.fspath(path))
    try:
        content = json.loads(Path(path).read_bytes())
        written_for, found = content["fingerprint"], content["found"]
        is_whole = content["format"] == FORMAT and content["digest"] == _digest_content(written_for, found)
    except (ValueError, KeyError, TypeError, RecursionError):
        is_whole = False
    if not is_whole:
        raise InputError(
            "{checkpoint}: {path} is damaged, of another version, or a file of something else. Name another file, or "
            "remove this one to start anew.",
            path=os.fspath(path),
        )
    if written_for != fingerprint:
        raise InputError(
            "{checkpoint}: {path} was written for another table, with other parameters or by another version of "
            "firstfactor. Remove it to start anew, or name another file.",
            path=os.fspath(path),
        )
    return dict(found)


def _digest_content(fingerprint: str, found: Found) -> str:
    """Return a digest of the content of a file."""
    return hashlib.sha256(json.dumps([fingerprint, found]).encode()).hexdigest()


def digest(parts: Iterable[Any]) -> str:
    """Return a digest that identifies arrays and values in this order."""
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
    """Return a digest of the values of a column, (rows,)."""
    return hashlib.sha256(np.ascontiguousarray(values).data).digest()
