"""Folder in which numba keeps compiled kernels for later processes.

To check that compiled code is up to date, numba compares the file of the kernel, but kernels contain functions and
constants of other files: after an upgrade it would run old code. The folder is therefore named by a digest of all files
here, and of everything else that determines what is compiled. Its contents will be executed: only its owner may enter
it.

Without such a folder, kernels are compiled in every process. Numba would fall back to other folders.
"""

import contextlib
import hashlib
import logging
import os
import shutil
import stat
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding
from numba import njit

_config: Any = numba.config

# Everything that is compiled into a kernel is in this folder, which tests ensure.
_SOURCES = Path(__file__).parent

# Number of bytes, more than a compiled kernel takes: numba would end the run if the disk were full.
_SIZE = 2**20

# Seconds after which the folder of an unused version is removed: a month.
_UNUSED = 30 * 24 * 3600


def compile_and_keep(function: Any, options: dict[str, Any]) -> Any:
    """Compile a kernel with these options of numba at its first call, and keep it for later processes.

    A kernel must have one signature. If two processes save two of them at the same time, numba may load the code of one
    for the other.
    """
    if FOLDER is not None:
        before, _config.CACHE_DIR = _config.CACHE_DIR, str(FOLDER)
        try:
            kernel = njit(cache=True, **options)(function)
        finally:
            _config.CACHE_DIR = before
        if FOLDER in Path(kernel.stats.cache_path).parents:
            return kernel
    return njit(**options)(function)


def is_compiled() -> bool:
    """Return True if kernels of this version have been compiled, by this or an earlier process."""
    return FOLDER is not None and any(FOLDER.rglob("*.nbc"))


def _make_folder() -> Path:
    """Return the folder for kernels of this version; raise `OSError` if it is not private and writable."""
    above = Path(_config.CACHE_DIR).absolute() if _config.CACHE_DIR else _find_user_cache()
    folder = above / f"firstfactor-{_digest()}"
    is_new = not folder.exists()
    for path in (*reversed(folder.parents), folder):
        if not path.is_dir():
            path.mkdir(mode=0o700, exist_ok=True)  # another process may be faster
    if sys.platform != "win32":  # where each user has a folder
        status = folder.lstat()  # the target of a link can belong to anyone
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
            raise PermissionError(0, "other users can write there", str(folder))
        folder.chmod(0o700)
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(_SIZE))
    os.utime(folder)
    if is_new:
        _remove_unused(above)
    return folder


def _find_user_cache() -> Path:
    """Return the folder for caches of this package in the user's home."""
    match sys.platform:
        case "win32":
            place = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
        case "darwin":
            place = "~/Library/Caches"
        case _:
            place = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    path = Path(os.path.expanduser(place), "firstfactor")
    if not path.is_absolute():  # "~" is not replaced where a user has no home
        raise FileNotFoundError(0, "not an absolute path", str(path))
    return path


def _digest() -> str:
    """Return a digest of everything that determines how kernels are compiled.

    The processor is part of numba's check, but machines that share a home and compile at the same time must not write
    to the same files.
    """
    files = sorted(_SOURCES.glob("*.py"))
    if not files:
        raise FileNotFoundError(0, "no sources of kernels", str(_SOURCES))
    name, features = _config.CPU_NAME, _config.CPU_FEATURES
    settings = (
        numba.__version__,
        _config.BOUNDSCHECK,
        _config.OPT,
        binding.get_host_cpu_name() if name is None else name,
        binding.get_host_cpu_features().flatten() if features is None else features,
    )
    contents = [repr(settings).encode(), *(part for file in files for part in (file.name.encode(), file.read_bytes()))]
    return hashlib.sha256(b"".join(b"%d:%b" % (len(part), part) for part in contents)).hexdigest()[:16]


def _remove_unused(above: Path) -> None:
    """Remove folders of versions not used for a long time, and nothing with another kind of name."""
    for folder in above.glob("firstfactor-" + 16 * "[0-9a-f]"):
        with contextlib.suppress(OSError):  # another process may be faster
            if folder.lstat().st_mtime < time.time() - _UNUSED:
                shutil.rmtree(folder)


FOLDER: Path | None = None
OBSTACLE = ""
"""Reason why there is no folder; empty if there is one, or nothing is compiled."""

if not _config.DISABLE_JIT:
    try:
        FOLDER = _make_folder()
    except OSError as error:
        OBSTACLE = f"{error.strerror}: {error.filename}" if error.filename else f"{error.strerror}"
        logging.getLogger(__name__).warning(
            "firstfactor cannot save its compiled code and compiles again in every process (%s). To start faster, set"
            " NUMBA_CACHE_DIR to a writable folder.",
            OBSTACLE,
        )
