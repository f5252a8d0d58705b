"""The command ``warm-up``: compile every kernel once, so that later calls compile nothing.

Kernels are compiled by small calls of the library, not for types that are listed somewhere: what these calls compile
is what other calls use. Kernels differ by how the table is searched, not by its values or by most parameters.
"""

import sys
import time
import warnings
from collections.abc import Callable
from threading import Thread
from typing import Any

import numpy as np
from llvmlite import binding
from numba import config

from ..first import FIRST
from ..functions import explained_variance, shapley_effects, total_indices
from ..neighbors.kernels.compiling import KERNELS
from ..neighbors.kernels.kd_tree import LEAF
from ..neighbors.kernels.kernel_cache import FOLDER, OBSTACLE
from ..neighbors.strategy import FEW_ROWS
from ..ranking import Progress
from .errors import exit_on_error
from .run import progress
from .terminal import Screen

# Rows that are enough for a search along a sorted column; in full blocks, so that it copies whole columns.
SORTED_ROWS = -(-FEW_ROWS // LEAF) * LEAF


def warm_up() -> None:
    """Compile the functions that are not compiled yet, and print a summary."""
    with exit_on_error(debug=False):
        if config.DISABLE_JIT:  # type: ignore[attr-defined]
            raise ValueError("NUMBA_DISABLE_JIT is set, so that nothing is compiled. Unset it.")
        if OBSTACLE:
            raise OSError(f"compiled functions cannot be kept: {OBSTACLE}. Set NUMBA_CACHE_DIR to a writable folder.")
        start = time.perf_counter()
        with progress(True) as show:
            _do_in_thread(lambda: _compile(show))
        Screen(sys.stdout).print(_say_what_was_done(time.perf_counter() - start))


def _do_in_thread(work: Callable[[], None]) -> None:
    """Run a function in another thread, so that the main thread handles Ctrl-C, which compilation would lose."""
    errors: list[Exception] = []

    def run() -> None:
        try:
            work()
        except Exception as error:
            errors.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.1)  # Windows interrupts no longer waits
    if errors:
        raise errors[0]


def _compile(show: Progress) -> None:
    """Make each call."""
    for number, (what, call) in enumerate(STEPS.items(), 1):
        show(f"compiling {what} ({number} of {len(STEPS)})")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call()


def _say_what_was_done(seconds: float) -> str:
    processor = f"the processor {config.CPU_NAME or binding.get_host_cpu_name()}"  # type: ignore[attr-defined]
    n_compiled = sum(sum(kernel.stats.cache_misses.values()) for kernel in KERNELS)
    if not n_compiled:
        return f"Nothing to do: all functions for {processor} are in {FOLDER}"
    return f"Compiled {n_compiled} functions for {processor} in {seconds:.1f} s. They are in {FOLDER}"


def _table(n_rows: int, n_numbers: int, n_classes: int) -> tuple[Any, Any]:
    """Return some numeric factors, some factors with three levels, and a response."""
    rng = np.random.default_rng(0)
    X = np.hstack([rng.normal(size=(n_rows, n_numbers)), rng.integers(0, 3, size=(n_rows, n_classes))])
    return X, X[:, 0] * X[:, 1] + X[:, -1] + 0.1 * rng.normal(size=n_rows)


# Nine factors: after one of them, the others are a full vector of candidates. What is not full is copied otherwise.
SMALL, LARGE = _table(200, 7, 2), _table(SORTED_ROWS, 4, 0)
PAIRS = np.arange(200) // 2

STEPS: dict[str, Callable[[], object]] = {
    "single factors": lambda: explained_variance(*SMALL, [0]),
    "factors with few levels": lambda: explained_variance(*SMALL, [7, 8]),
    "sets of factors": lambda: explained_variance(*SMALL, [0, 1]),
    "sets of factors for groups of rows": lambda: explained_variance(*SMALL, [0, 1], groups=PAIRS),
    "forward selection": lambda: FIRST().fit(*SMALL),
    "forward selection for groups of rows": lambda: FIRST().fit(*SMALL, groups=PAIRS),
    "forward selection in long tables": lambda: FIRST().fit(*LARGE),
    "total indices": lambda: total_indices(*SMALL),
    "the calibrated rule": lambda: FIRST(rule="calibrated").fit(*SMALL),
    "the calibrated rule for groups of rows": lambda: FIRST(rule="calibrated").fit(*SMALL, groups=PAIRS),
    "fair shares": lambda: shapley_effects(SMALL[0][:, :6], SMALL[1]),
}
