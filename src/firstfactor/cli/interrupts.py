"""Handling of Ctrl-C, which ends the command without a traceback even if other packages intercept it."""

import signal
import sys
from threading import Timer
from types import TracebackType
from typing import Any

from .._utils.threads import interrupt_main_thread

INTERRUPTED = 130


class Interrupts:
    """Context that Ctrl-C ends with `KeyboardInterrupt`.

    Some packages turn it into an error of their own. If it arrives while C calls Python, or an object is deleted, it
    would only be printed and the work would continue, so it is sent once more.
    """

    def __init__(self) -> None:
        self.heard = False
        self._again: Timer | None = None

    def __enter__(self) -> None:
        self.heard, self._before = False, signal.getsignal(signal.SIGINT)
        self._hooks = sys.unraisablehook, sys.excepthook
        if self._before != signal.SIG_IGN:
            signal.signal(signal.SIGINT, self._hear)
            sys.unraisablehook, sys.excepthook = self._find_lost, self._find_printed

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._before)
        sys.unraisablehook, sys.excepthook = self._hooks
        if self._again is not None:
            self._again.cancel()
            self._again.join()  # if it is too late: what it sends must not arrive when Python ends
        if self.heard and error is not None:
            raise KeyboardInterrupt from error

    def _hear(self, *_: object) -> None:
        self.heard = True
        raise KeyboardInterrupt

    def _find_lost(self, lost: Any) -> None:
        """Replace the hook that prints an error that cannot be raised."""
        if lost.exc_type is KeyboardInterrupt:
            self._send_again()
        else:
            self._hooks[0](lost)

    def _find_printed(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """Replace the hook that prints an error that C does not raise."""
        if kind is KeyboardInterrupt:
            self._send_again()
        else:
            self._hooks[1](kind, error, trace)

    def _send_again(self) -> None:
        self._again = Timer(0.01, interrupt_main_thread)
        self._again.start()


INTERRUPTS = Interrupts()
