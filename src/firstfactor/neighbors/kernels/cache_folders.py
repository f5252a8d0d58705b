"""Folders for compiled kernels: next to the package, in the user's home, or for temporary files."""

import hashlib
import os
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from numba import config

from .numba_internals import user_cache_folder


class Folder(NamedTuple):
    """A folder that may hold compiled kernels; it need not exist, or be writable."""

    path: Path
    guarded: Path | None = None
    """This folder or one above, if other users could have made it: only the user may own it and write to it."""
    lasting: bool = True
    """Whether files stay there when the machine restarts."""

    def read(self, name: str) -> bytes:
        """The content of a file."""
        self._check_owner()
        return (self.path / name).read_bytes()

    def write(self, name: str, content: bytes) -> None:
        """Write a file as a whole or not at all, and make the folder for it."""
        if self.guarded is not None:
            self.guarded.parent.mkdir(parents=True, exist_ok=True)
            self.guarded.mkdir(mode=0o700, exist_ok=True)
        self._check_owner()
        self.path.mkdir(parents=True, exist_ok=True)
        new = self.path / f"{name}.{uuid.uuid4().hex}.tmp"
        try:
            new.write_bytes(content)
            new.replace(self.path / name)
        except BaseException:
            new.unlink(missing_ok=True)
            raise

    def _check_owner(self) -> None:
        """Refuse a folder in which another user could have put a file: what is read here will be run."""
        if self.guarded is None or sys.platform == "win32":  # where each user has a temporary folder
            return
        status = self.guarded.lstat()  # of a link itself: its target can belong to anyone
        if status.st_uid != os.geteuid() or status.st_mode & 0o022:
            raise PermissionError(f"{self.guarded} is not a folder that only this user can write to")


def find_folders(source: Path) -> Iterator[Folder]:
    """Yield the folders for the compiled kernels of a source file, the preferred ones first."""
    installation = hashlib.sha256(os.fsencode(source.parent)).hexdigest()[:16]
    subfolder = f"{source.parent.name}-{installation}"
    chosen: str = config.CACHE_DIR  # type: ignore[attr-defined]
    if chosen:  # and no other permanent one: kernels are where the user wants them, or a line is logged
        yield Folder(Path(chosen, subfolder))
    else:
        yield Folder(source.parent / "__pycache__")
        if home := _home():
            yield Folder(home / subfolder, home)
    if temporary := _temporary():
        yield Folder(temporary / subfolder, temporary, lasting=False)


def _home() -> Path | None:
    path = user_cache_folder("firstfactor")
    return path if path.is_absolute() else None  # "~" is not replaced where a user has no home


def _temporary() -> Path | None:
    user = "" if sys.platform == "win32" else f"-{os.geteuid()}"
    try:
        return Path(tempfile.gettempdir(), f"firstfactor{user}")
    except FileNotFoundError:  # no folder for temporary files is writable
        return None
