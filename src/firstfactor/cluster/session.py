"""Cluster for one run: an existing one, or workers started on this machine."""

import contextlib
import logging
from collections.abc import Iterator

from .._utils.checks import InputError
from .._utils.optional import require
from .client import Cluster

# Seconds to wait for a scheduler to answer, and for the first worker.
PATIENCE = 15


@contextlib.contextmanager
def open_cluster(address: str | None, n_workers: int | None) -> Iterator[Cluster]:
    """Open the cluster at an address, or one of ``n_workers`` processes here, for the duration of the context."""
    require("distributed", "a cluster", "dask")
    from distributed import Client, LocalCluster

    with contextlib.ExitStack() as stack:
        stack.enter_context(_quiet())
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
            client = stack.enter_context(Client(address, timeout=PATIENCE))  # type: ignore[no-untyped-call]
            client.wait_for_workers(1, timeout=PATIENCE)
        except (OSError, TimeoutError, ValueError) as error:
            raise InputError(
                "{cluster}: there is no Dask scheduler with workers at {address!r}. Give the address that it prints "
                "when it starts, such as tcp://127.0.0.1:8786, or use {workers=} to start some here.",
                address=address,
            ) from error
        yield Cluster(client)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask from logging the state of a connection to standard error: an exception reports it."""
    loggers = [
        logging.getLogger(name) for name in ("distributed", "distributed.client")
    ]  # the second has its own level
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
