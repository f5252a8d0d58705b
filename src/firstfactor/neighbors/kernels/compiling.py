"""How kernels are compiled.

A kernel (`jit`) is called from Python: it allocates arrays, and its machine code is kept on disk. Functions that
kernels call are compiled into them and kept with them: `part` as a function of its own, `inlined` at every call.
"""

from typing import Any, TypeVar

import numpy as np
from numba import config, njit

from .kernel_cache import KernelCache
from .numba_internals import WITHOUT_REFERENCE_COUNTING, set_cache

Kernel = TypeVar("Kernel")

# Kernels are serial and run without the GIL: threads call them on parts of the data. Coordinates and responses are
# finite, so NaN need not be considered, nor the sign of zero. Sums are never reordered, as that would change results.
_KERNEL: Any = {
    "nogil": True,
    "error_model": "numpy",  # no check for a division by 0
    "fastmath": {"nnan", "nsz", "contract"},
    "no_cfunc_wrapper": True,  # no kernel is called from C
}

_PART: Any = {**_KERNEL, **WITHOUT_REFERENCE_COUNTING, "no_cpython_wrapper": True}

# Numba has a type for each literal integer, and would compile a function that is called with one once more.
ZERO: Any = np.intp(0)
ONE: Any = np.intp(1)


def jit(function: Kernel) -> Kernel:
    """Compile a kernel at its first call, and keep it for later processes."""
    compiled: Any = njit(**_KERNEL)(function)
    if not config.DISABLE_JIT:  # type: ignore[attr-defined]
        set_cache(compiled, KernelCache(function))
    return compiled


def part(function: Kernel) -> Kernel:
    """Compile a function for kernels, without reference counting: it must not make, keep or return arrays."""
    compiled: Any = njit(**_PART)(function)
    return compiled


def inlined(function: Kernel) -> Kernel:
    """Compile a `part` into its callers: for short functions, as handing over arrays takes longer than they do."""
    compiled: Any = njit(**_PART, forceinline=True)(function)
    return compiled
