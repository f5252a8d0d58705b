"""What every kernel uses: how it is compiled, and minima and maxima that vectorise."""

from typing import Any

from llvmlite import ir
from numba import config, njit, types
from numba.extending import intrinsic

# Serial and without the GIL: threads call kernels on parts of the data. No NaN ever gets there, and the sign
# of zero does not matter; saying so lets minima vectorise.
_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy", "fastmath": {"nnan", "nsz", "contract"}}

jit = njit(**_OPTIONS)

# For parts of a kernel that run often and briefly: calling a function with arrays takes longer than they do.
inlined = njit(**_OPTIONS, forceinline=True)


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


smaller = min if config.DISABLE_JIT else _extremum("llvm.minnum")
larger = max if config.DISABLE_JIT else _extremum("llvm.maxnum")
