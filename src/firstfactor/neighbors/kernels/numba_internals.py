"""Everything private in numba that the package relies on.

Numba's public API has no way to keep compiled code elsewhere than in its own cache, nor to switch reference counting
off for one function. No other file of the package imports from numba what is not public. Where a new version of numba
changes something here, ``tests/test_kernels_numba.py`` says what, and only this file has to be adapted.
"""

import pickle
from pathlib import Path
from typing import Any

import numba

try:
    from numba.core.caching import NullCache
    from numba.core.compiler import CompileResult
    from numba.core.serialize import dumps
    from numba.misc.appdirs import user_cache_dir
except ImportError as error:
    raise ImportError(
        f"firstfactor does not work with numba {numba.__version__} yet ({error}). Install an earlier version of numba."
    ) from error

# Options of ``njit`` for functions that neither make, keep nor return arrays. Such a function need not count the
# references to the arrays it is given, which would be an atomic operation, often longer than the work itself, on memory
# that all threads share.
WITHOUT_REFERENCE_COUNTING: dict[str, Any] = {"_nrt": False}

# What a dispatcher expects of the object it asks for compiled code: a cache that is always empty, to be derived from.
EmptyCache = NullCache


def set_cache(dispatcher: Any, cache: Any) -> None:
    """Let a compiled function ask this cache before it compiles, and hand over to it what it has compiled."""
    dispatcher._cache = cache


def to_bytes(compiled: Any) -> bytes:
    """A compiled function as bytes, for `from_bytes` in another process."""
    return dumps(compiled._reduce())


def from_bytes(content: bytes, target_context: Any) -> Any:
    """The compiled function that `to_bytes` was given. Bytes are unpickled: they must come from a trusted place."""
    return CompileResult._rebuild(target_context, *pickle.loads(content))


def is_movable(compiled: Any) -> bool:
    """Whether a compiled function makes sense in another process: it holds no addresses of this one."""
    return not compiled.library.has_dynamic_globals


def describe_target(codegen: Any) -> tuple[Any, ...]:
    """What machine code is generated for: platform, processor and its features."""
    return codegen.magic_tuple()


def user_cache_folder(application: str) -> Path:
    """The folder for caches of an application in the user's home, wherever the platform has it."""
    return Path(user_cache_dir(application, appauthor=False))
