"""Results of a long run in a file, so that it can go on where it was stopped."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .atomic_write import write_whole

# What the file says it is.
FORMAT = "firstfactor checkpoint 1"


class Checkpoint:
    """What has been found so far. The file is written anew after each step, whole or not at all."""

    def __init__(self, path: str | os.PathLike[str], fingerprint: str) -> None:
        self._path, self._fingerprint = path, fingerprint
        self._found: dict[str, list[float]] = _read(path, fingerprint)
        self._write()  # if that is not possible, it is better known now

    def find(self, key: str, compute: Callable[[], NDArray[np.float64]]) -> NDArray[np.float64]:
        """The numbers that were found before, or those that ``compute`` finds, which are then in the file."""
        if key not in self._found:
            self._found[key] = compute().tolist()
            self._write()
        return np.array(self._found[key])

    def _write(self) -> None:
        content = {"format": FORMAT, "fingerprint": self._fingerprint, "found": self._found}
        write_whole(self._path, lambda file: file.write(json.dumps(content).encode()))


def _read(path: str | os.PathLike[str], fingerprint: str) -> dict[str, list[float]]:
    """What a file holds; nothing if there is none."""
    if not Path(path).exists():
        return {}
    try:
        content = json.loads(Path(path).read_bytes())
        is_ours = content["format"] == FORMAT
    except (ValueError, KeyError, TypeError):
        is_ours = False
    if not is_ours:
        raise ValueError(f"checkpoint: {os.fspath(path)} is a file of something else. Name another file.")
    if content["fingerprint"] != fingerprint:
        raise ValueError(
            f"checkpoint: {os.fspath(path)} was written for another table or with other parameters. Remove it to start "
            "anew, or name another file."
        )
    found: dict[str, list[float]] = content["found"]
    return found


def digest(parts: Iterable[Any]) -> str:
    """A short text that is the same only for the same arrays and texts in the same order."""
    found = hashlib.sha256()
    for part in parts:
        is_array = isinstance(part, np.ndarray)
        head = f"{part.dtype.str} {part.shape}" if is_array else type(part).__name__
        body = np.ascontiguousarray(part).tobytes() if is_array else repr(part).encode()
        found.update(f"{head} {len(body)} ".encode())
        found.update(body)
    return found.hexdigest()[:32]
