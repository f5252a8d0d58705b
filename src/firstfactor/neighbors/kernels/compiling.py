"""How kernels are compiled."""

from typing import Any, TypeVar

from numba import config, njit

from .kernel_cache import KernelCache

Kernel = TypeVar("Kernel")

# Serial and without the GIL: threads call kernels on parts of the data. No NaN ever gets there, and the sign of
# zero does not matter.
_OPTIONS: Any = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"nnan", "nsz", "contract"},
    "no_cfunc_wrapper": True,  # nobody calls them from C
}

# Nobody calls it but kernels, which keep their own copy of it. It works on the arrays of the kernel and makes none: so
# it need not count who uses them, which takes longer than the work, and makes threads wait for each other.
_PART: Any = {"_nrt": False, "no_cpython_wrapper": True}


def jit(function: Kernel) -> Kernel:
    """Compile a kernel when it is first called, and keep it for later processes."""
    compiled: Any = njit(**_OPTIONS)(function)
    if not config.DISABLE_JIT:  # type: ignore[attr-defined]
        compiled._cache = KernelCache(function)
    return compiled


def part(function: Kernel) -> Kernel:
    """Compile a part of a kernel that makes no arrays."""
    compiled: Any = njit(**_OPTIONS | _PART)(function)
    return compiled


def inlined(function: Kernel) -> Kernel:
    """Compile a part of a kernel that runs often and briefly: a call with arrays takes longer than it does."""
    compiled: Any = njit(**_OPTIONS | _PART, forceinline=True)(function)
    return compiled
