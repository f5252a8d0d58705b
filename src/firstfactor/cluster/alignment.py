"""Alignment in memory of arrays received over the network, as kernels and BLAS expect it.

They arrive at any address. Numpy multiplies matrices differently where numbers are not at multiples of their size, with
other last bits, and numba would compile every kernel again.
"""

from functools import partial
from types import MethodType
from typing import Any

import numpy as np


def align(value: Any) -> Any:
    """Return a value in which all arrays are aligned; objects are changed in place."""
    return _align(value, set())


def _align(value: Any, seen: set[int]) -> Any:
    if isinstance(value, np.ndarray):
        return value if value.flags.aligned else value.copy(order="K")
    if isinstance(value, tuple):
        parts = [_align(each, seen) for each in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, list):
        return [_align(each, seen) for each in value]
    if isinstance(value, dict):
        return {key: _align(each, seen) for key, each in value.items()}
    for inner in objects_in(value):
        if id(inner) not in seen:
            seen.add(id(inner))
            vars(inner).update({name: _align(each, seen) for name, each in vars(inner).items()})
    return value


def objects_in(value: Any) -> list[Any]:
    """Return the objects of this package that a value is, or that it is a method or a partial call of."""
    if isinstance(value, partial):
        return objects_in(value.func)
    if isinstance(value, MethodType):
        return objects_in(value.__self__)
    is_own = type(value).__module__.partition(".")[0] == __package__.partition(".")[0]
    return [value] if is_own and hasattr(value, "__dict__") else []
