"""Sizes of memory: parsing and formatting."""

import re
from typing import Any

from . import checks

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([kmgt]?)(i?)(b|bytes?)?\s*", re.IGNORECASE)


def parse_size(parameter: str, value: Any) -> int:
    """Return the number of bytes of a size such as "4GB", "500 MB", "2GiB" or a number of bytes."""
    if checks.is_integer(value) and value > 0:
        return int(value)
    found = _SIZE.fullmatch(value) if isinstance(value, str) else None
    unit = found[2].lower() if found else ""
    if found is None or (found[3] and not unit):
        raise _wrong_size(parameter, value)
    power = 1024 ** "kmgt".find(unit) * 1024 if found[3] else _UNITS[unit]
    size = int(float(found[1]) * power)
    if size < 1:
        raise _wrong_size(parameter, value)
    return size


def _wrong_size(parameter: str, value: Any) -> checks.InputError:
    return checks.wrong(parameter, "a size above 0 such as '4GB', '500MB' or '2GiB', or a number of bytes", value)


def say_bytes(size: float) -> str:
    """Format a number of bytes, rounded up so that the stated size is sufficient."""
    unit = "GB" if size >= 10**9 else "MB"
    step = 10**8 if unit == "GB" else 10**6
    return f"{-(-int(size) // step) * step / _UNITS[unit[0].lower()]:g} {unit}"
