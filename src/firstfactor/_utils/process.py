"""Time and memory that this process has used."""

import os
import sys
import time

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
