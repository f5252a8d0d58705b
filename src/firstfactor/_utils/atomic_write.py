"""Files written whole or not at all, and temporary files that go away even if a process is killed."""

import contextlib
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import IO

if sys.platform != "win32":
    import fcntl

# Whose temporary files they are, for those who find one.
_TEMPORARY = ".firstfactor-*.part"

# Permissions of a new file; the system takes away from them what the user's mask says.
PRIVATE, PUBLIC = 0o600, 0o666


def write_whole(path: str | os.PathLike[str], write: Callable[[IO[bytes]], object]) -> None:
    """Let ``write`` fill a file that takes its place only when complete.

    It is made next to where it goes, so that the last move is one step; an error or an interrupt leaves what was
    there before. Of a link, the file that it leads to is written.
    """
    target = Path(os.path.realpath(path))
    with errors_naming(path), temporary_file(target.parent, PUBLIC) as file:
        write(file)
        file.flush()
        if target.exists():
            os.chmod(file.name, target.stat().st_mode & 0o777)
        os.replace(file.name, target)


@contextlib.contextmanager
def errors_naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let errors of the system that name no file, or a temporary one, name this file."""
    try:
        yield
    except OSError as error:
        named = error.filename is not None and not fnmatch(os.path.basename(str(error.filename)), _TEMPORARY)
        if named or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


@contextlib.contextmanager
def temporary_file(folder: str | os.PathLike[str], permissions: int = PRIVATE) -> Iterator[IO[bytes]]:
    """Make a file for as long as the context lasts, and remove those that killed processes left in the folder."""
    _remove_leftovers(Path(folder))
    with _make(Path(folder), permissions) as file:
        try:
            yield file
        finally:
            with contextlib.suppress(FileNotFoundError):  # moved to where it belongs
                os.unlink(file.name)


def _make(folder: Path, permissions: int) -> IO[bytes]:
    """Make a file that is locked as long as it is open."""
    while True:
        path = folder / _TEMPORARY.replace("*", secrets.token_hex(6))
        file = open(path, "xb", opener=lambda name, flags: os.open(name, flags, permissions))  # noqa: SIM115
        with contextlib.suppress(OSError):  # without locks, leftovers stay
            _lock(file, wait=True)
        if path.exists():
            return file
        file.close()  # another process took it for a leftover before it was locked


def _remove_leftovers(folder: Path) -> None:
    """Remove temporary files of processes that are gone: those that are not have locked theirs."""
    for path in folder.glob(_TEMPORARY):
        with contextlib.suppress(OSError), path.open("rb") as file:
            _lock(file, wait=False)
            path.unlink()


def _lock(file: IO[bytes], wait: bool) -> None:
    """Lock a file until it is closed; where there are no locks, files that are open cannot be removed anyway."""
    if sys.platform != "win32":
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
