"""Threads: the only file that knows there is more than one core."""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache, cached_property
from types import TracebackType
from typing import Any, Self, TypeVar

from . import checks

# What a thread that works for others looks at between two items: whether anybody still waits for the result.
_given_up = threading.local()

Item = TypeVar("Item")
Result = TypeVar("Result")


class _OneBlasThread:
    """Keeps linear algebra from starting threads of its own as long as anybody is in it, in whatever thread."""

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
"""A context in which linear algebra starts no threads of its own.

Workers cut the work themselves. Threads of BLAS beside them would wait for each other, and round differently for
another number of them.
"""


@cache
def _linear_algebra() -> Any:
    """Return what limits the threads of the libraries for linear algebra, those of numpy and of scipy.

    It looks at all libraries that are loaded, which takes some milliseconds.
    """
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class Workers:
    """Threads that map pure functions over items and return the results in the order of the items.

    Since the results come back in order whatever thread made them, what is computed from them has the same
    bits for any number of workers. ``n_jobs`` means what it means in joblib: None is 1 unless a joblib
    context says otherwise, -1 is all cores.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        if n_jobs is not None and (not checks.is_integer(n_jobs) or n_jobs == 0):
            raise ValueError(f"n_jobs must be None or a whole number other than 0 (-1: all cores); got {n_jobs!r}.")
        self._n_jobs = n_jobs
        self._here = threading.local()
        self._stopped = threading.Event()
        self._one_caller = threading.RLock()

    def __reduce__(self) -> tuple[type["Workers"], tuple[int | None]]:
        """What another process makes its own threads from."""
        return Workers, (self._n_jobs,)

    @cached_property
    def count(self) -> int:
        """How many threads there are, the calling one included."""
        if self._n_jobs == 1:
            return 1
        # Only now: for a small table, that would take longer than all of its work.
        from joblib import cpu_count, effective_n_jobs
        from joblib.parallel import get_active_backend

        count: int = effective_n_jobs(self._n_jobs)
        is_cluster = hasattr(get_active_backend()[0], "client")  # whose workers are no threads of this machine
        return min(count, cpu_count()) if is_cluster else count

    @cached_property
    def _pool(self) -> ThreadPoolExecutor | None:
        """The other threads."""
        return ThreadPoolExecutor(self.count - 1) if self.count > 1 else None

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Return ``[function(item) for item in items]``; within a task, without further threads.

        The calling thread takes items as well: short work is over before others have woken up.
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
                deque(left, maxlen=0)  # after an error or an interrupt nobody needs the rest

        helpers = [self._pool.submit(work) for _ in range(min(self.count, len(items)) - 1)]
        work()
        for helper in helpers:
            if not helper.cancel():  # one that has not woken up yet would find nothing to do
                helper.result()
        return results

    def call(self, function: Callable[[], Result]) -> Result:
        """Return what a function that maps with these threads returns; one caller at a time, also after their end."""
        with self._one_caller, self:
            return function()

    def __enter__(self) -> Self:
        self._stopped = threading.Event()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._stopped.set()
        if pool := vars(self).pop("_pool", None):  # nothing to end where nothing was started
            pool.shutdown(wait=False, cancel_futures=True)
        if isinstance(error, SystemError) and _comes_from_interrupt(error):
            raise KeyboardInterrupt from error


def _until_given_up(items: Sequence[Item]) -> Iterator[Item]:
    """Yield items; end with an error once whoever gave this thread its work has gone.

    An interrupt reaches the main thread only. Others would go on with a long task, and keep the process from ending.
    """
    stopped = getattr(_given_up, "by", None)
    for item in items:
        if stopped is not None and stopped.is_set():
            raise InterruptedError("nobody waits for this any more")
        yield item


def _comes_from_interrupt(error: BaseException | None) -> bool:
    """Tell whether Ctrl-C is behind an error: a kernel that is just handing over its result makes it a SystemError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None
