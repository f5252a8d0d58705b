"""How long this process has been running."""

import os
import time

_IMPORTED = time.perf_counter()


def since_start() -> float:
    """Seconds since the process started; where the system does not tell, since this module was imported."""
    try:
        with open("/proc/self/stat", encoding="ascii", errors="replace") as file:
            ticks = int(file.read().rpartition(")")[2].split()[19])  # since the system started
        return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (AttributeError, OSError, ValueError, IndexError):
        return time.perf_counter() - _IMPORTED
