"""Folders for compiled kernels: next to the package, in the user's home, or for temporary files."""

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from numba import config

from .numba_internals import user_cache_folder

# Where files can be opened relative to an open folder: a folder that was looked at cannot be exchanged for another.
_HAS_OPEN_FOLDERS = os.open in os.supports_dir_fd
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FILE = _NO_LINK | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

# Bits of permissions: to write, for others than the owner.
_WRITABLE = 0o022


class Folder(NamedTuple):
    """A folder that may hold compiled kernels; it need not exist, or be writable.

    What is read here will be run. A file is trusted if its owner could change the source as well, and if nobody can
    write to it who cannot write to the source. Files and folders are looked at after they were opened.
    """

    path: Path
    source: Path
    """The file whose compiled kernels it holds."""
    guarded: Path | None = None
    """This folder or one above, if other users could have made it: only the user may own it and write to it."""
    lasting: bool = True
    """Whether files stay there when the machine restarts."""

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        with self._open() as folder:
            number = os.open(self._at(folder, name), os.O_RDONLY | _FILE, dir_fd=folder)
            with open(number, "rb") as file:
                _refuse_untrusted(os.fstat(number), self.source)
                return file.read()

    def write(self, name: str, content: bytes) -> None:
        """Write a file as a whole or not at all, and make the folder for it.

        It is readable by who can read the source, whatever the user's mask allows, and writable by its owner.
        """
        if self.guarded is not None:
            _make_folders(self.guarded.parent)
            self.guarded.mkdir(mode=0o700, exist_ok=True)
        else:
            _make_folders(self.path)
        permissions = 0o600 | (self.source.stat().st_mode & 0o044)
        with self._open(make=True) as folder:
            new, final = (self._at(folder, each) for each in (f"{name}.{uuid.uuid4().hex}.tmp", name))
            number = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE, permissions, dir_fd=folder)
            try:
                with open(number, "wb") as file:
                    file.write(content)
                os.replace(new, final, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(new, dir_fd=folder)
                raise

    def _at(self, folder: int | None, name: str) -> str:
        """Return the name of a file relative to the open folder; if there are no open folders, its path."""
        return name if folder is not None else str(self.path / name)

    @contextlib.contextmanager
    def _open(self, make: bool = False) -> Iterator[int | None]:
        """Open the folder, and refuse one in which another user could have put a file."""
        if not _HAS_OPEN_FOLDERS:  # on Windows, where each user has a temporary folder
            if make:
                self.path.mkdir(exist_ok=True)
            yield None
            return
        with contextlib.ExitStack() as stack:

            def open_folder(path: Path, flags: int, within: int | None = None) -> int:
                number = os.open(path, flags, dir_fd=within)
                stack.callback(os.close, number)
                return number

            if self.guarded is None:
                yield open_folder(self.path, _FOLDER)
                return
            guarded = open_folder(self.guarded, _FOLDER | _NO_LINK)  # the target of a link can belong to anyone
            status = os.fstat(guarded)
            if status.st_uid != os.geteuid() or status.st_mode & _WRITABLE:
                raise PermissionError(f"{self.guarded} is not a folder that only this user can write to")
            inner = self.path.relative_to(self.guarded)
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(inner, 0o755, dir_fd=guarded)
            yield open_folder(inner, _FOLDER | _NO_LINK, guarded)


def _refuse_untrusted(status: os.stat_result, source: Path) -> None:
    """Refuse an open file that somebody could have written who cannot write the source."""
    if sys.platform == "win32":
        return
    origin = source.stat()
    is_wider = status.st_mode & _WRITABLE & ~origin.st_mode
    if not stat.S_ISREG(status.st_mode) or is_wider or status.st_uid not in (os.geteuid(), origin.st_uid, 0):
        raise PermissionError("it is not a file that only those can write to who can change the package")


def _make_folders(path: Path) -> None:
    """Make a folder and those above it, to which only their owner can write whatever the user's mask allows."""
    if not path.is_dir():
        _make_folders(path.parent)
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o755)


def find_folders(source: Path) -> Iterator[Folder]:
    """Yield the folders for the compiled kernels of a source file, the preferred ones first."""
    installation = hashlib.sha256(os.fsencode(source.parent)).hexdigest()[:16]
    subfolder = f"{source.parent.name}-{installation}"
    chosen: str = config.CACHE_DIR  # type: ignore[attr-defined]
    if chosen:  # and no other permanent one: kernels are where the user wants them, or a line is logged
        yield Folder(Path(chosen, subfolder), source)
    else:
        yield Folder(source.parent / "__pycache__", source)
        if home := _home():
            yield Folder(home / subfolder, source, home)
    if temporary := _temporary():
        yield Folder(temporary / subfolder, source, temporary, lasting=False)


def _home() -> Path | None:
    path = user_cache_folder("firstfactor")
    return path if path.is_absolute() else None  # "~" is not replaced where a user has no home


def _temporary() -> Path | None:
    user = "" if sys.platform == "win32" else f"-{os.geteuid()}"
    try:
        return Path(tempfile.gettempdir(), f"firstfactor{user}")
    except FileNotFoundError:  # no folder for temporary files is writable
        return None
