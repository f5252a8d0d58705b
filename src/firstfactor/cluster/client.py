"""Dask cluster in use: opened for one run or taken as it is; named tasks, shared data, and recovery from losses.

Dask itself repeats the work of a lost worker, as long as it knows how. It does not know data that were sent from here:
they are sent again.
"""

import contextlib
import gc
import itertools
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from .._utils.checks import InputError, Message
from .._utils.packages import require
from .tasks import align, size_of, tell_dask

Result = TypeVar("Result")

# Maximum number of times that lost data are sent again: each time a worker that had them was lost.
MOST_ATTEMPTS = 20

# Seconds between two checks of a busy cluster, also to begin sending a value; bytes sent in a second on a slow network.
PATIENCE, SLOWEST = 10, 5e6

# Maximum number of seconds without workers: others may be starting.
LONGEST_WITHOUT_WORKERS = 60

_numbers = itertools.count()


class ClusterError(Message, ConnectionError):
    """Error that the cluster cannot continue; the message gives a remedy."""


class Handle:
    """Value sent to the cluster, or a result that stays there; it is created again if lost."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._future: Any = None

    def release(self) -> None:
        """Release the value on the cluster."""
        self._future = None

    @property
    def future(self) -> Any:
        """Future of the value."""
        if self._future is None or self._future.status in ("cancelled", "lost", "error"):
            self._future = self._make()
        return self._future


class DaskCluster:
    """Dask client, as far as it is used here."""

    def __init__(self, client: Any) -> None:
        tell_dask()
        self.client = client
        self._handles: list[Handle] = []
        self._drops_copies = False

    def keep(self, make: Callable[[], Any]) -> Handle:
        """Return a handle of an object that stays on the cluster until everything is released."""
        self._handles.append(Handle(make))
        return self._handles[-1]

    def release(self) -> None:
        """Release everything kept on the cluster."""
        for handle in self._handles:
            handle.release()
        self._handles.clear()
        if self._drops_copies and self._is_connected:
            with contextlib.suppress(ClusterError):  # nothing is left to restore
                self._ask(self.client.amm.start)
            self._drops_copies = False

    def keep_copies(self) -> None:
        """Let workers keep the data they received until everything is released.

        By default Dask drops copies after two seconds: the response and the base would be sent again in every step.
        """
        if not self._drops_copies and self._ask(self.client.amm.running):
            self._ask(self.client.amm.stop)
            self._drops_copies = True

    @property
    def workers(self) -> list[str]:
        """Addresses of the workers, in order."""
        return sorted(self._workers)

    @property
    def n_threads(self) -> int:
        """Number of tasks that run at a time."""
        return max(int(sum(worker["nthreads"] for worker in self._workers.values())), 1)

    @property
    def _workers(self) -> dict[str, Any]:
        found: dict[str, Any] = self._ask(lambda: self.client.scheduler_info(n_workers=-1)).get("workers", {})
        return {address: worker for address, worker in found.items() if worker["status"] == "running"}

    def share(self, value: Any, owner: Callable[[], str | None] = lambda: None) -> Handle:
        """Send a value to a worker, from which others fetch it when they need it; return its handle."""

        def send() -> Any:
            worker, patience = owner(), PATIENCE + size_of(value) / SLOWEST
            return self.client.sync(
                self.client._scatter,
                [value],
                workers=None if worker is None else [worker],
                hash=False,
                timeout=patience,
                callback_timeout=patience,  # if the worker dies now, no answer would ever come
            )[0]

        return self.keep(send)

    def submit(self, name: str, function: Callable[..., Any], *arguments: Any, worker: str | None = None) -> Any:
        """Return the future of a task; its name is shown in Dask's dashboard."""
        return self.client.submit(
            run,
            function,
            *arguments,
            key=f"{name}-{next(_numbers):x}-{os.getpid():x}",
            workers=None if worker is None else [worker],
            allow_other_workers=worker is not None,
            pure=False,
        )

    def compute(self, submit: Callable[[], Any]) -> Any:
        """Return the results of tasks, in the lists that ``submit`` returns; lost data are sent and computed again."""
        from distributed import CancelledError
        from distributed.comm.core import CommClosedError
        from distributed.scheduler import KilledWorker

        for _ in range(MOST_ATTEMPTS):
            try:
                return align(self._gather(submit()))
            except KilledWorker as error:
                raise ClusterError(
                    "workers of the cluster were lost again and again while they did {task!r}. Most likely they ran "
                    "out of memory: use workers with more of it, or more workers.",
                    task=error.task,
                ) from error
            except (CancelledError, OSError) as error:
                lost = error
                if not self._is_connected:
                    break
                if not isinstance(error, (CancelledError, CommClosedError, TimeoutError)):
                    raise  # an error of the task itself
        raise self._lost() from lost

    def _ask(self, ask: Callable[[], Result]) -> Result:
        """Return the answer of the scheduler; if there is none, raise an error with a remedy."""
        from distributed import CancelledError

        try:
            return ask()
        except (OSError, CancelledError) as error:
            raise self._lost() from error
        except Exception as error:
            if self._is_connected:
                raise
            raise self._lost() from error

    def _lost(self) -> ClusterError:
        return ClusterError(
            "the cluster at {address} was lost. Start it again and repeat the call; with {checkpoint=}, it goes on "
            "from its last finished step.",
            address=self._address,
        )

    def _gather(self, futures: Any) -> Any:
        """Return the results of futures; raise an error if there are no workers to compute them."""
        from distributed import wait

        every, seen = list(_flatten(futures)), time.monotonic()
        while every:
            try:
                wait(every, timeout=PATIENCE)  # type: ignore[no-untyped-call]
                break
            except TimeoutError:
                if not self._is_connected:
                    raise
                seen = time.monotonic() if self.workers else seen
                if time.monotonic() - seen > LONGEST_WITHOUT_WORKERS:
                    raise ClusterError(
                        "the cluster at {address} has had no workers for {seconds} seconds. Start some and repeat the "
                        "call; with {checkpoint=}, it goes on from its last finished step.",
                        address=self._address,
                        seconds=LONGEST_WITHOUT_WORKERS,
                    ) from None
        return self.client.gather(futures)

    @property
    def _is_connected(self) -> bool:
        stream = self.client.scheduler_comm
        return self.client.status == "running" and stream is not None and not stream.comm.closed()

    @property
    def _address(self) -> str:
        return str(self.client.scheduler.address)


def _flatten(futures: Any) -> Iterator[Any]:
    if isinstance(futures, list):
        for each in futures:
            yield from _flatten(each)
    else:
        yield futures


def run(function: Callable[..., Result], *arguments: Any) -> Result:
    """Return the result of a task."""
    tell_dask()
    return function(*align(arguments))


def is_dask(table: Any) -> bool:
    """Return True for a Dask collection."""
    return "dask" in sys.modules and hasattr(table, "__dask_graph__")


def current_cluster() -> DaskCluster:
    """Return the cluster of the current Dask client."""
    from distributed import get_client

    try:
        return DaskCluster(get_client())
    except ValueError as error:
        raise ValueError(
            "X is a Dask collection, and there is no Dask client to compute it with. Start one: from dask.distributed "
            "import Client; client = Client()."
        ) from error


def joblib_cluster() -> DaskCluster | None:
    """Return the cluster of the active joblib context if it is one of Dask, else None."""
    if "distributed" not in sys.modules:
        return None
    from joblib.parallel import get_active_backend

    client = getattr(get_active_backend()[0], "client", None)
    return None if client is None else DaskCluster(client)


# --- a cluster for one run ----------------------------------------------------------------------------

# Seconds to wait for a scheduler to answer, and for the first worker.
PATIENCE_AT_START = 15


@contextlib.contextmanager
def open_cluster(address: str | None, n_workers: int | None) -> Iterator[DaskCluster]:
    """Open the cluster at an address, or one of ``n_workers`` processes here, for the duration of the context."""
    require("distributed", "a cluster", "dask")
    from distributed import Client, LocalCluster

    with contextlib.ExitStack() as stack:
        stack.enter_context(quiet())
        if address is None:
            local = LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=n_workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            )
            address = stack.enter_context(local).scheduler_address
        try:
            client = stack.enter_context(Client(address, timeout=PATIENCE_AT_START))  # type: ignore[no-untyped-call]
            client.wait_for_workers(1, timeout=PATIENCE_AT_START)
        except (OSError, TimeoutError, ValueError) as error:
            raise InputError(
                "{scheduler}: there is no Dask scheduler with workers at {address!r}. Give the address that it prints "
                "when it starts, such as tcp://127.0.0.1:8786, or use {workers=} to start some here.",
                address=address,
            ) from error
        yield DaskCluster(client)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep Dask from logging the state of a connection to standard error: an exception reports it.

    A closed connection leaves timeouts that nobody waits for, and asyncio reports them when they are garbage
    collected. They are collected here, where this is not shown.
    """
    # The second has a level of its own.
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client", "asyncio")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        gc.collect()
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
