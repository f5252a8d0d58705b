"""Sizes of memory: parsing, formatting, and what this process uses; and the time since it started."""

import os
import re
import sys
import time
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


# --- this process -------------------------------------------------------------------------------------

_IMPORTED = time.perf_counter()

# Assumed memory of a process on systems that do not report it.
UNKNOWN = 300 * 10**6


def since_start() -> float:
    """Return the seconds since the process started or, if unknown, since this module was imported."""
    try:
        with open("/proc/self/stat", encoding="ascii", errors="replace") as file:
            ticks = int(file.read().rpartition(")")[2].split()[19])  # since the system started
        return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (AttributeError, OSError, ValueError, IndexError):
        return time.perf_counter() - _IMPORTED


def memory_used() -> int:
    """Return the bytes of memory in use or, if unknown, the maximum so far."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError, IndexError):
        pass
    try:
        import resource
    except ImportError:  # on Windows
        return UNKNOWN
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
