"""Compiled kernels on disk, for later processes.

Numba's own cache checks one file, that of the kernel, to see whether compiled code is up to date. But kernels contain
functions and constants from other files, and installers leave compiled code behind: an upgrade would run old code. And
where no folder is writable, numba raises an error. Here compiled code belongs to the contents of all files in this
folder, and where no folder is writable kernels are compiled in every process.

A file holds one kernel for one signature, preceded by a digest of what it depends on and of itself, and is renamed into
place when it is complete: several processes may write it at once, and a file that is damaged or outdated is not used.
"""

import contextlib
import hashlib
import logging
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, cast

import numba
from numba import config

from .cache_folders import Folder, find_folders
from .numba_internals import EmptyCache, describe_target, from_bytes, is_movable, to_bytes

_log = logging.getLogger(__name__)

# Everything that is compiled into a kernel of the package is in this folder, which tests ensure.
_KERNELS = Path(__file__).parent

_PYTHON = f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"


def _digest(*parts: bytes) -> str:
    """SHA-256 of some bytes; lengths are included, so that moving a border between parts changes it."""
    return hashlib.sha256(b"".join(b"%d:%b" % (len(part), part) for part in parts)).hexdigest()


def _digest_sources() -> str:
    """A digest of numba's version and of the names and contents of all files in this folder."""
    sources = (os.fsencode(file.name) + file.read_bytes() for file in sorted(_KERNELS.glob("*.py")))
    return _digest(numba.__version__.encode(), *sources)[:16]


# Computed when kernels are imported: files may be edited while the process runs.
_SOURCES = _digest_sources()


@dataclass
class Record:
    """What this process found in the cache, and put there."""

    found: set[Folder] = field(default_factory=set)
    """The folders in which compiled kernels were found."""
    saved: list[Path] = field(default_factory=list)
    """The files of kernels that this process compiled."""
    obstacle: str = ""
    """Why a kernel that was compiled could not be saved where it stays; empty if all could."""


RECORD = Record()


class KernelCache(EmptyCache):
    """The cache of one kernel: numba asks it for compiled code before it compiles, and hands over what it compiled."""

    _advised: ClassVar[bool] = False

    def __init__(self, kernel: Any) -> None:
        if kernel.__closure__:
            # their values are part of the compiled code, but of no file
            raise TypeError(f"the kernel {kernel.__qualname__} must not use variables of a function around it")
        self._kernel = kernel
        self._file = Path(kernel.__code__.co_filename)
        self._own_source = _digest_file(self._file)  # a kernel may be outside of this folder

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel for arguments of these types, or None."""
        name, key = self._identify(sig, target_context.codegen())
        for folder in find_folders(self._file):
            with contextlib.suppress(OSError):
                seal, _, code = folder.read(name).partition(b"\n")
                if seal == _digest(key, code).encode():
                    RECORD.found.add(folder)
                    return from_bytes(code, target_context)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a compiled kernel in the first writable folder; log advice unless that folder is permanent."""
        if not is_movable(data) or self._source_has_changed():
            return
        name, key = self._identify(sig, data.codegen)
        code = to_bytes(data)
        content = _digest(key, code).encode() + b"\n" + code
        obstacle = ""
        for folder in find_folders(self._file):
            try:
                folder.write(name, content)
            except OSError as error:
                obstacle = obstacle or f"{error.strerror or error}: {folder.path}"
            else:
                _remove_outdated(folder.path)
                RECORD.saved.append(folder.path / name)
                if not folder.lasting:
                    RECORD.obstacle = obstacle
                    self._advise(f"keeps its compiled code in a temporary folder, {folder.guarded} ({obstacle})")
                return
        RECORD.obstacle = obstacle
        self._advise(f"cannot save its compiled code and compiles again in every process ({obstacle})")

    def _identify(self, sig: Any, codegen: Any) -> tuple[str, bytes]:
        """The name of the file of compiled code, and everything that this code depends on."""
        kernel, options = self._kernel, cast(Any, config)
        variant = repr((
            kernel.__module__, kernel.__qualname__, kernel.__code__.co_firstlineno,
            sig, describe_target(codegen), options.BOUNDSCHECK, options.OPT,
        )).encode()  # fmt: skip
        name = f"{self._file.stem}.{kernel.__name__}-{_digest(variant)[:16]}.{_PYTHON}-{_SOURCES}.kernel"
        return name, b"\n".join((variant, _SOURCES.encode(), self._own_source))

    def _source_has_changed(self) -> bool:
        """Whether files were edited since they were imported, or are missing: what was compiled is unknown then."""
        return not self._own_source or (_SOURCES, self._own_source) != (_digest_sources(), _digest_file(self._file))

    def _advise(self, problem: str) -> None:
        """Log one line in a process. A warning could be an error, and this must not end a run."""
        if not KernelCache._advised:
            KernelCache._advised = True
            _log.warning("firstfactor %s. To start faster, set NUMBA_CACHE_DIR to a writable folder.", problem)


def is_compiled() -> bool:
    """Tell whether kernels of this version were compiled before, by this or an earlier process."""
    folders = (folder.path for folder in find_folders(_KERNELS / "any.py"))
    return any(any(path.glob(f"*.{_PYTHON}-{_SOURCES}.kernel")) for path in folders)


def _digest_file(file: Path) -> bytes:
    """The digest of a file, empty if it cannot be read."""
    try:
        return _digest(file.read_bytes()).encode()
    except OSError:
        return b""


def _remove_outdated(folder: Path) -> None:
    """Remove kernels compiled by other versions of the package with the same version of Python."""
    for file in folder.glob(f"*.{_PYTHON}-*.kernel*"):
        if f"-{_SOURCES}.kernel" not in file.name:
            with contextlib.suppress(OSError):  # another process was faster
                file.unlink()
