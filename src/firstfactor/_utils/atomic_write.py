"""Atomic writing of files, and temporary files that are removed even if a process is killed."""

import contextlib
import errno
import os
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import IO

if sys.platform != "win32":
    import fcntl

# Names of temporary files, for users who find one.
_TEMPORARY = ".firstfactor-*.part"

# Beginning of the names of private folders, and the file that is locked in them.
_FOLDER, _LOCK = "firstfactor-app-", "lock"

# Maximum number of links followed in succession, as in the system.
MOST_LINKS = 40

# Permissions of a new file, before the system applies the user's mask.
PRIVATE, PUBLIC = 0o600, 0o666


def write_whole(path: str | os.PathLike[str], write: Callable[[IO[bytes]], object]) -> None:
    """Let ``write`` fill a file that replaces the target only when complete.

    It is created next to the target, so that the last move is atomic; an error or an interrupt leaves the previous
    file. If the path is a link, the file that it points to is written.
    """
    target = follow_links(path)
    with errors_naming(path), temporary_file(target.parent, PUBLIC) as file:
        write(file)
        file.flush()
        if target.exists():
            before, new = target.stat(), os.stat(file.name)
            kept = before.st_mode if before.st_uid == new.st_uid else before.st_mode & new.st_mode
            os.chmod(file.name, kept & 0o777)
        os.replace(file.name, target)


def follow_links(path: str | os.PathLike[str]) -> Path:
    """Resolve links; refuse those that another user made in a folder where anybody can create files."""
    here, *rest = Path(path).absolute().parts
    found, n_links = Path(here), 0
    while rest:
        found = found.parent if rest[0] == ".." else found / rest[0]
        del rest[0]
        if not found.is_symlink():
            continue
        n_links += 1
        if n_links > MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(path))
        _refuse_planted(found)
        # An absolute link starts again at the root: joining to it drops the folder.
        target = found.parent / found.readlink()
        here, *ahead = target.parts
        found, rest = Path(here), [*ahead, *rest]
    return found


def _refuse_planted(link: Path) -> None:
    """Refuse a link in a sticky folder, such as /tmp, that belongs neither to this user nor to the folder's owner."""
    folder, owner = link.parent.stat(), link.lstat().st_uid
    if folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH and owner not in (_user(), folder.st_uid):
        raise PermissionError(
            f"{link} is a link that another user made in a folder where anybody can. Nothing is written through it. "
            "Remove it, or name another file."
        )


def _user() -> int:
    """Return the id of this user; on systems without ids, that of all files."""
    return 0 if sys.platform == "win32" else os.geteuid()


@contextlib.contextmanager
def errors_naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Make system errors that name no file, or a temporary one, name this file."""
    try:
        yield
    except OSError as error:
        named = error.filename is not None and not fnmatch(os.path.basename(str(error.filename)), _TEMPORARY)
        if named or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


@contextlib.contextmanager
def temporary_file(folder: str | os.PathLike[str], permissions: int = PRIVATE) -> Iterator[IO[bytes]]:
    """Create a file for the duration of the context, and remove those that killed processes left in the folder."""
    _remove_leftovers(Path(folder))
    with _make(Path(folder), permissions) as file:
        try:
            yield file
        finally:
            with contextlib.suppress(FileNotFoundError):  # moved to its target
                os.unlink(file.name)


@contextlib.contextmanager
def private_folder() -> Iterator[Path]:
    """Create a folder that only this user can open, for the duration of the context.

    It is among the system's temporary ones; those that killed processes left there are removed. A living process holds
    the lock of its folder.
    """
    for left in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*"):
        with contextlib.suppress(OSError):
            _remove_left_folder(left)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_FOLDER))
        try:
            lock = open(folder / _LOCK, "xb")  # noqa: SIM115
        except FileNotFoundError:  # another process took it for a leftover
            continue
        break
    with lock:
        with contextlib.suppress(OSError):  # without locks, leftovers stay
            _lock(lock.fileno())
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _remove_left_folder(folder: Path) -> None:
    """Remove a private folder of this user that no process has locked."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != _user():
        return
    if (folder / _LOCK).exists():
        _remove_leftover(folder / _LOCK)
        shutil.rmtree(folder)
    else:
        folder.rmdir()


def _make(folder: Path, permissions: int) -> IO[bytes]:
    """Create a file that is locked while it is open."""
    while True:
        path = folder / _TEMPORARY.replace("*", secrets.token_hex(6))
        file = open(path, "xb", opener=lambda name, flags: os.open(name, flags, permissions))  # noqa: SIM115
        try:
            _lock(file.fileno())
        except BlockingIOError:  # another process took it for a leftover
            path.unlink(missing_ok=True)
        except OSError:  # without locks, leftovers stay
            pass
        if path.exists():
            return file
        file.close()


def _remove_leftovers(folder: Path) -> None:
    """Remove temporary files of dead processes: living ones hold a lock."""
    for path in folder.glob(_TEMPORARY):
        with contextlib.suppress(OSError):
            _remove_leftover(path)


def _remove_leftover(path: Path) -> None:
    """Remove a file that no process has locked.

    Anybody may have put something with such a name here: only regular files of this user are opened, links are not
    followed, and nothing blocks.
    """
    if not _is_own_file(path.lstat()):
        return
    without_waiting = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    number = os.open(path, os.O_RDONLY | without_waiting)
    try:
        if not _is_own_file(os.fstat(number)):  # it was replaced
            return
        _lock(number)
        path.unlink()
    finally:
        os.close(number)


def _is_own_file(status: os.stat_result) -> bool:
    """Return True for a regular file that belongs to this user."""
    return stat.S_ISREG(status.st_mode) and status.st_uid == _user()


def _lock(number: int) -> None:
    """Lock an open file until it is closed; systems without locks do not allow the removal of open files anyway."""
    if sys.platform != "win32":
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
