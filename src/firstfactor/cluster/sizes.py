"""Sizes of objects, by which Dask chooses the worker of a task: it knows only those of its own types."""

from functools import cache
from typing import Any

import numpy as np

from .alignment import objects_in


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
