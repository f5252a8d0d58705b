"""Objects that go over the network: their arrays are aligned when they arrive, and Dask is told their sizes.

Arrays arrive at any address. Numpy multiplies matrices differently where numbers are not at multiples of their size,
with other last bits, and numba would compile every kernel again. Dask chooses the worker of a task by the sizes of
objects, and knows only those of its own types.
"""

from functools import cache, partial
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


def size_of(value: Any) -> int:
    """Return the bytes of all arrays in a value, at any depth; each is counted once."""
    return _size(value, set())


def _size(value: Any, seen: set[int]) -> int:
    if id(value) in seen:
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, (tuple, list)):
        return sum(_size(each, seen) for each in value)
    if isinstance(value, dict):
        return sum(_size(each, seen) for each in value.values())
    return sum(_size(vars(inner), seen) for inner in objects_in(value))


@cache
def tell_dask() -> None:
    """Register the sizes of objects that stay on workers with Dask."""
    from dask.sizeof import sizeof

    from ..data.encoding import Encoded
    from .tasks import Made, Placed, Prepared, Space

    for kind in (Encoded, Made, Placed, Prepared, Space):
        sizeof.register(kind, size_of)  # type: ignore[no-untyped-call]
