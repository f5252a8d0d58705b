"""Threads: the only module that knows of more than one core."""

import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache, cached_property
from types import TracebackType
from typing import Any, Self, TypeVar

from . import checks

# Event that a helper thread checks between two items: set once its result is no longer needed.
_given_up = threading.local()

Item = TypeVar("Item")
Result = TypeVar("Result")


class _OneBlasThread:
    """Context manager that keeps linear algebra from starting threads while any thread is inside."""

    def __init__(self) -> None:
        self._lock, self._limit, self._n_inside = threading.Lock(), ExitStack(), 0

    def __enter__(self) -> None:
        with self._lock:
            if self._n_inside == 0:
                self._limit.enter_context(_linear_algebra().limit(limits=1, user_api="blas"))
            self._n_inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                self._limit.close()


ONE_BLAS_THREAD = _OneBlasThread()
"""Context in which linear algebra starts no threads of its own.

Workers divide the work themselves. BLAS threads beside them would wait for each other, and round differently for
another number of threads.
"""


@cache
def _linear_algebra() -> Any:
    """Return the controller of the threads of linear algebra libraries, those of numpy and of scipy.

    It inspects all loaded libraries, which takes some milliseconds.
    """
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class Workers:
    """Threads that map pure functions over items and return the results in the order of the items.

    Because the results come back in order whichever thread computed them, anything computed from them is bit-for-bit
    identical for any number of workers. ``n_jobs`` is as in joblib: None is 1 unless a joblib context sets another
    number, -1 is all cores. Linear algebra starts no threads of its own inside the context.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self._n_jobs = checks.job_count("n_jobs", n_jobs)
        self._here = threading.local()
        self._stopped = threading.Event()
        self._one_caller = threading.RLock()

    def __reduce__(self) -> tuple[type["Workers"], tuple[int | None]]:
        """Return the arguments with which another process creates its own threads."""
        return Workers, (self._n_jobs,)

    @cached_property
    def count(self) -> int:
        """Number of threads, including the calling one."""
        if self._n_jobs == 1:
            return 1
        # Imported late: for a small table, this would take longer than all of its work.
        from joblib import cpu_count, effective_n_jobs
        from joblib.parallel import get_active_backend

        count: int = effective_n_jobs(self._n_jobs)
        is_cluster = hasattr(get_active_backend()[0], "client")  # its workers are not threads of this machine
        return min(count, cpu_count()) if is_cluster else count

    @cached_property
    def _pool(self) -> ThreadPoolExecutor | None:
        """Pool of the other threads."""
        return ThreadPoolExecutor(self.count - 1) if self.count > 1 else None

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Return ``[function(item) for item in items]``; within a task, without further threads.

        The calling thread takes items as well: short work is done before other threads have started.
        """
        if len(items) < 2 or self._pool is None or getattr(self._here, "in_task", False):
            return [function(item) for item in _until_given_up(items)]
        results: list[Any] = [None] * len(items)
        left = iter(range(len(items)))  # taking the next one is atomic

        def work() -> None:
            before = getattr(_given_up, "by", None)
            self._here.in_task, _given_up.by = True, self._stopped
            try:
                for i in left:
                    results[i] = function(items[i])
            finally:
                self._here.in_task, _given_up.by = False, before
                deque(left, maxlen=0)  # after an error or an interrupt the rest is not needed

        helpers = [self._pool.submit(work) for _ in range(min(self.count, len(items)) - 1)]
        work()
        for helper in helpers:
            if not helper.cancel():  # one that has not started yet would find nothing to do
                helper.result()
        return results

    def call(self, function: Callable[[], Result]) -> Result:
        """Return the result of a function that maps with these threads; one caller at a time, also after their end."""
        with self._one_caller, self:
            return function()

    def __enter__(self) -> Self:
        self._stopped = threading.Event()
        ONE_BLAS_THREAD.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._stopped.set()
        if pool := vars(self).pop("_pool", None):  # nothing to end if nothing was started
            pool.shutdown(wait=False, cancel_futures=True)
        ONE_BLAS_THREAD.__exit__()
        if isinstance(error, SystemError) and _comes_from_interrupt(error):
            raise KeyboardInterrupt from error


def _until_given_up(items: Sequence[Item]) -> Iterator[Item]:
    """Yield items; raise an error once the result is no longer needed.

    An interrupt reaches the main thread only. Others would continue a long task, and keep the process from ending.
    """
    stopped = getattr(_given_up, "by", None)
    for item in items:
        if stopped is not None and stopped.is_set():
            raise InterruptedError("cancelled")
        yield item


def interrupt_main_thread() -> None:
    """Send Ctrl-C to the main thread, which may be waiting."""
    if sys.platform == "win32":
        signal.raise_signal(signal.SIGINT)
    else:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def _comes_from_interrupt(error: BaseException | None) -> bool:
    """Return True if Ctrl-C caused an error: a kernel that is just returning turns it into a SystemError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None
