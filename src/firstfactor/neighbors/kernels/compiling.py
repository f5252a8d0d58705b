"""Compilation of kernels.

A kernel (`jit`) is called from Python, and its machine code is kept on disk. Functions that kernels call are compiled
into them and kept with them: `part` as a function of its own, `inlined` and `merged` at every call.

None of them creates an array: Python allocates those that a kernel fills or needs as scratch. References then need not
be counted, and numpy's functions need not be compiled: `np.empty` alone takes longer to compile than most functions
here.
"""

from types import FunctionType
from typing import Any, TypeVar

import numpy as np
from numba import njit

from .kernel_cache import compile_and_keep

Kernel = TypeVar("Kernel")

# All kernels of the imported modules.
KERNELS: list[Any] = []

# None of these functions creates, keeps or returns an array. They need not count references to their arguments: an
# atomic operation, often longer than the work itself, on memory that all threads share. Numba has no public option to
# switch it off; this is the one private name of numba on which the package relies.
WITHOUT_REFERENCE_COUNTING: dict[str, Any] = {"_nrt": False}

# Kernels are serial and run without the GIL: threads call them on parts of the data. Coordinates and responses are
# finite, so NaN need not be considered, nor the sign of zero. Sums are never reordered, as that would change results.
_KERNEL: Any = {
    "nogil": True,
    "error_model": "numpy",  # no check for a division by 0
    "fastmath": {"nnan", "nsz", "contract"},
    "no_cfunc_wrapper": True,  # no kernel is called from C
    **WITHOUT_REFERENCE_COUNTING,
}

_PART: Any = {**_KERNEL, "no_cpython_wrapper": True}

# Numba has a type for each literal integer, and would compile a function called with one a second time.
ZERO: Any = np.intp(0)
ONE: Any = np.intp(1)


def jit(function: Kernel) -> Kernel:
    """Compile a kernel at its first call, and keep it for later processes.

    It must not create, keep or return arrays, and all its calls must have the same types.
    """
    kernel = compile_and_keep(function, _KERNEL)
    KERNELS.append(kernel)
    return kernel


def jit_again(kernel: Kernel, name: str) -> Kernel:
    """Compile a kernel once more under another name, for arguments of other types."""
    function: Any = getattr(kernel, "py_func", kernel)  # itself if nothing is compiled
    copy: Any = FunctionType(function.__code__, function.__globals__, name)
    copy.__qualname__ = name
    return jit(copy)


def part(function: Kernel) -> Kernel:
    """Compile a function for kernels, under the same rules."""
    compiled: Any = njit(**_PART)(function)
    return compiled


def inlined(function: Kernel) -> Kernel:
    """Copy a function into its callers, which are then compiled as if it were written there.

    This suits most functions: passing arrays takes longer than a short function does, and compiling every function by
    itself and again in its callers takes longer than compiling it there only.
    """
    compiled: Any = njit(**_PART, inline="always")(function)
    return compiled


def merged(function: Kernel) -> Kernel:
    """Compile a `part`, and then merge it into its callers.

    This suits long functions, whose copies take long to compile, and functions measured to be faster this way: searches
    for one set of factors took a tenth longer with copies.
    """
    compiled: Any = njit(**_PART, forceinline=True)(function)
    return compiled
