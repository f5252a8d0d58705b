"""What this process has used so far: time and memory."""

import os
import sys
import time

_IMPORTED = time.perf_counter()

# What is taken for the memory of a process where the system does not tell.
UNKNOWN = 300 * 10**6


def since_start() -> float:
    """Seconds since the process started; where the system does not tell, since this module was imported."""
    try:
        with open("/proc/self/stat", encoding="ascii", errors="replace") as file:
            ticks = int(file.read().rpartition(")")[2].split()[19])  # since the system started
        return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (AttributeError, OSError, ValueError, IndexError):
        return time.perf_counter() - _IMPORTED


def memory_used() -> int:
    """Bytes of memory that the process has; where the system does not tell, the most that it had so far."""
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
