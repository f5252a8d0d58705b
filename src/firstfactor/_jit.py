"""What every kernel uses: how it is compiled, and minima and maxima that vectorise."""

from typing import Any, TypeVar

from llvmlite import ir
from numba import config, njit, types
from numba.extending import intrinsic

Kernel = TypeVar("Kernel")

# Serial and without the GIL: threads call kernels on parts of the data. No NaN ever gets there, and the sign of
# zero does not matter; saying so lets minima vectorise.
_OPTIONS: Any = {"nogil": True, "cache": True, "error_model": "numpy", "fastmath": {"nnan", "nsz", "contract"}}

# Nobody calls it but kernels, which keep their own copy of it.
_NEVER_ALONE: Any = {"forceinline": True, "cache": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def jit(function: Kernel) -> Kernel:
    """Compile a kernel when it is first called, and keep it for later processes."""
    compiled: Any = njit(**_OPTIONS)(function)
    return compiled  # type: ignore[no-any-return]


def inlined(function: Kernel) -> Kernel:
    """Compile a part of a kernel that runs often and briefly: a call with arrays takes longer than it does."""
    compiled: Any = njit(**_OPTIONS | _NEVER_ALONE)(function)
    return compiled  # type: ignore[no-any-return]


def _extremum(name: str) -> Any:
    """Return minimum or maximum as one instruction: plain Python ones become branches that do not vectorise."""

    @intrinsic
    def choose(_: Any, a: Any, b: Any) -> Any:
        def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
            double = ir.DoubleType()
            function = builder.module.declare_intrinsic(name, [double], ir.FunctionType(double, [double, double]))
            return builder.call(function, arguments, fastmath=("nnan", "nsz"))

        return types.float64(a, b), generate

    return choose


_PLAIN = config.DISABLE_JIT  # type: ignore[attr-defined]

smaller: Any = min if _PLAIN else _extremum("llvm.minnum")
larger: Any = max if _PLAIN else _extremum("llvm.maxnum")
