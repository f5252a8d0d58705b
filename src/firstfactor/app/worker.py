"""Processes that rank: each holds one session, can be cancelled or killed at any time, and may crash alone.

The two sides exchange messages over a pipe: a line of JSON, and the bytes of an answer after it. Requests of a session
are processed one after the other. A cancelled request ends at once for whoever waits; the process is interrupted and,
if it does not stop soon, killed. The table is then read again, by a new process, at the next request.
"""

import asyncio
import contextlib
import json
import multiprocessing
import os
import queue
import signal
import tempfile
import threading
import traceback
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any, NamedTuple

from .._utils.threads import interrupt_main_thread

# Seconds in which an interrupted process must stop before it is killed.
GRACE = 1.0

# Results of which the settings are kept, to make them again.
MOST_KEYS = 200

# Kinds of replies after which there is no other.
LAST = ("answer", "error", "cancelled")

CRASHED = (
    "The process that ranks has ended unexpectedly, perhaps for lack of memory. The table is still open: try again, "
    "with fewer columns or rows if it happens again."
)


class Reply(NamedTuple):
    """Reply of a process to a request."""

    kind: str
    """"progress", or one of `LAST`."""
    head: dict[str, Any]
    body: bytes = b""


# --- in the process ------------------------------------------------------------------------------------------------


class _Interrupted:
    """The request that is processed, and the one that is to be interrupted; signals at any other time are ignored."""

    def __init__(self) -> None:
        self.current: int | None = None
        self.cancelled: int | None = None

    def hear(self, _: int, frame: FrameType | None) -> None:
        """Handle the signal, in the main thread; wait for imports, since a module that is half there stays broken."""
        if self.current is None or self.current != self.cancelled:
            return
        while frame is not None:
            if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
                threading.Timer(0.02, interrupt_main_thread).start()
                return
            frame = frame.f_back
        self.cancelled = None
        raise KeyboardInterrupt

    def cancel(self, number: int) -> None:
        """Interrupt a request if it is still processed."""
        self.cancelled = number
        if self.current == number:
            interrupt_main_thread()


def serve(connection: Connection, folder: str) -> None:
    """Process requests until the connection is closed; temporary files are in a folder that the server removes."""
    interrupted = _Interrupted()
    signal.signal(signal.SIGINT, interrupted.hear)  # Ctrl-C in a terminal reaches all processes; the server ends them
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    tempfile.tempdir = folder
    requests = queue.SimpleQueue[dict[str, Any]]()
    threading.Thread(target=_listen, args=(connection, requests, interrupted), daemon=True).start()
    from .session import Session, find_setting, say_error  # takes a second, before the first request if possible

    _load(lambda: not requests.empty())
    session: Session | None = None
    start = os.getcwd()
    while True:
        request = requests.get()
        number = request["number"]

        def send(kind: str, body: bytes = b"", **head: Any) -> None:
            connection.send_bytes(json.dumps({"number": number, "kind": kind, **head}).encode() + b"\n" + body)  # noqa: B023

        try:
            interrupted.current = number
            if interrupted.cancelled == number:
                raise KeyboardInterrupt
            if request["do"] == "open":
                os.chdir(request.get("folder", start))
                session = Session(request["given"])
            assert session is not None
            answer = _process(session, request, lambda text: send("progress", text=text))
            interrupted.current = None
        except KeyboardInterrupt:
            interrupted.current = None
            send("cancelled")
        except (ValueError, TypeError, OSError, ImportError) as error:
            interrupted.current = None
            sentence = say_error(error).replace(folder + os.sep, "").replace(folder, "")
            send("error", sentence=_as_sentence(sentence), field=find_setting(error), expected=True)
        except MemoryError:
            interrupted.current = None
            send("error", sentence="There is not enough memory. Use fewer columns or rows.", field=None, expected=True)
        except Exception as error:
            interrupted.current = None
            traceback.print_exc()
            what = f"This should not happen: {type(error).__name__}. The terminal says more."
            send("error", sentence=what, field=None, expected=False)
        else:
            send("answer", answer.body, media_type=answer.media_type, name=answer.name, key=answer.key)


def _load(is_needed: Callable[[], bool]) -> None:
    """Load what the first ranking needs: packages, and compiled functions as long as nobody waits."""
    from ..selection import calibrated  # noqa: F401
    from ..variance import conditional  # noqa: F401
    from .session import Session

    class Needed(Exception):  # noqa: N818
        pass

    def stop_if_needed(_: str) -> None:
        if is_needed():
            raise Needed

    with contextlib.suppress(Exception):
        stop_if_needed("")
        Session({"demo": "ishigami"}).rank({"target": "y"}, stop_if_needed)


def _listen(connection: Connection, requests: "queue.SimpleQueue[dict[str, Any]]", interrupted: _Interrupted) -> None:
    """Receive requests; end the process if the server is gone, whatever it is doing."""
    while True:
        try:
            request = json.loads(connection.recv_bytes())
        except (EOFError, OSError):
            os._exit(0)
        if request["do"] == "cancel":
            interrupted.cancel(request["number"])
        else:
            requests.put(request)


def _process(session: Any, request: Mapping[str, Any], show: Callable[[str], None]) -> Any:
    """Return the answer to a request."""
    from .session import Answer

    if request.get("settings_of_key") is not None:
        session.remember(request["key"], request["settings_of_key"])
    key = None
    match request["do"]:
        case "open" | "describe":
            found = session.describe()
        case "rank":
            found = session.rank(request["settings"], show)
            key = found["key"]
        case "factor":
            found = session.factor(request["key"], request["name"], show)
        case "pair":
            found = session.pair(request["key"], request["a"], request["b"], show)
        case "file":
            return session.file(request["key"], request["kind"], show)
    return Answer(json.dumps(found, ensure_ascii=False, allow_nan=False).encode(errors="replace"), key=key)


def _as_sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


# --- in the server -------------------------------------------------------------------------------------------------


class Worker:
    """One process, from the side of the server; its methods are called in the event loop, which is ``loop``."""

    def __init__(self, folder: str, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(target=serve, args=(other, folder), daemon=True)
        self._process.start()
        other.close()
        self.is_alive = True
        self._replies: asyncio.Queue[Reply] | None = None
        self.number = 0
        """Number of the last request."""
        threading.Thread(target=self._receive, daemon=True).start()

    @property
    def pid(self) -> int | None:
        """Number of the process."""
        return self._process.pid

    def _receive(self) -> None:
        """Pass replies on to the event loop, in a thread."""
        while True:
            try:
                head, _, body = self._connection.recv_bytes().partition(b"\n")
            except (EOFError, OSError):
                break
            self._call(self._take, json.loads(head), body)
        self._process.join()
        self._call(self._end)

    def _call(self, function: Callable[..., None], *arguments: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(function, *arguments)

    def _take(self, head: dict[str, Any], body: bytes) -> None:
        if self._replies is not None and head.pop("number") == self.number:
            self._replies.put_nowait(Reply(head.pop("kind"), head, body))

    def _end(self) -> None:
        self.is_alive = False
        if self._replies is not None:
            self._replies.put_nowait(Reply("error", {"sentence": CRASHED, "field": None, "expected": False}))

    async def ask(self, request: Mapping[str, Any]) -> AsyncIterator[Reply]:
        """Yield the replies to one request; the next one must wait until the last reply."""
        self.number += 1
        self._replies = replies = asyncio.Queue[Reply]()
        if not self.is_alive:
            self._end()
        else:
            await asyncio.to_thread(self._send, {**request, "number": self.number})
        while True:
            reply = await replies.get()
            if reply.kind in LAST:
                self._replies = None
            yield reply
            if reply.kind in LAST:
                return

    def _send(self, request: Mapping[str, Any]) -> None:
        with contextlib.suppress(OSError):  # it has ended, which `_receive` notices
            self._connection.send_bytes(json.dumps(request).encode())

    async def interrupt(self, number: int) -> None:
        """Interrupt a request if it is still processed; kill the process if that takes too long."""
        await asyncio.to_thread(self._send, {"do": "cancel", "number": number})
        for _ in range(20):
            await asyncio.sleep(GRACE / 20)
            if self._replies is None or self.number != number or not self.is_alive:
                return
        self.kill()

    def kill(self) -> None:
        """End the process at once."""
        self.is_alive = False
        with contextlib.suppress(ValueError, OSError):
            self._process.kill()


class _Job:
    """Request of a client, and the replies that it waits for."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self.request = request
        self.replies: asyncio.Queue[Reply] = asyncio.Queue()
        self.is_over = False

    def put(self, reply: Reply) -> None:
        """Pass a reply on, unless the client has had its last one."""
        if not self.is_over:
            self.replies.put_nowait(reply)
            self.is_over = reply.kind in LAST


class Seat:
    """A session as the server sees it: a process for it whenever one is needed, and its requests in turn.

    Parameters
    ----------
    given : dict
        The table: what `Session` takes.
    folder : str or None
        Folder of an uploaded file.
    start : callable
        Returns a process.
    give_back : callable
        Takes a process that could not read the table, and can read another.
    """

    def __init__(
        self,
        given: Mapping[str, Any],
        folder: str | None,
        start: Callable[[], Awaitable[Worker]],
        give_back: Callable[[Worker], None],
    ) -> None:
        self.folder = folder
        self._open = {"do": "open", "given": given, **({} if folder is None else {"folder": folder})}
        self._start, self._give_back = start, give_back
        self._worker: Worker | None = None
        self._turn = asyncio.Lock()
        self._jobs: list[_Job] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._settings: OrderedDict[str, Any] = OrderedDict()
        self.is_closed = False

    async def ask(self, request: Mapping[str, Any]) -> AsyncGenerator[Reply, None]:
        """Yield the replies to a request; a ranking cancels what is running or waiting."""
        if request["do"] == "rank":
            self.cancel()
        if "key" in request:  # a new process must know it as well
            request = {**request, "settings_of_key": self._settings.get(request["key"])}
        job = _Job(request)
        self._jobs.append(job)
        self._spawn(self._run(job))
        try:
            while True:
                reply = await job.replies.get()
                yield reply
                if reply.kind in LAST:
                    return
        finally:
            self._cancel(job)  # whoever asked may be gone

    @property
    def is_busy(self) -> bool:
        """True while a request is processed."""
        return bool(self._jobs)

    def cancel(self) -> None:
        """Cancel all requests."""
        for job in [*self._jobs]:
            self._cancel(job)

    def _cancel(self, job: _Job) -> None:
        if job.is_over:
            return
        job.put(Reply("cancelled", {}))
        if self._jobs[0] is job and self._worker is not None:
            self._spawn(self._worker.interrupt(self._worker.number))

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, job: _Job) -> None:
        """Process a job when its turn has come."""
        try:
            async with self._turn:
                if self._is_vain(job):
                    return
                if self._worker is None or not self._worker.is_alive:
                    self._worker = await self._start()
                    if not await self._read(job) or job.request["do"] == "open":
                        return
                if self._is_vain(job):
                    return
                async for reply in self._worker.ask(job.request):
                    if reply.kind == "answer" and reply.head["key"] is not None:
                        self._settings[reply.head["key"]] = job.request["settings"]
                        while len(self._settings) > MOST_KEYS:
                            self._settings.popitem(last=False)
                    job.put(reply)
                    if reply.kind == "error" and not reply.head["expected"]:
                        self._worker.kill()  # who knows what state it is in
        finally:
            self._jobs.remove(job)
            job.put(Reply("error", {"sentence": "The table is no longer open.", "field": None, "expected": True}))

    def _is_vain(self, job: _Job) -> bool:
        """Return whether nobody waits for a job any more."""
        if self.is_closed and self._worker is not None:
            self._worker.kill()
        return job.is_over or self.is_closed

    async def _read(self, job: _Job) -> bool:
        """Let a new process read the table; return whether it could."""
        if self._worker is None or self._is_vain(job):
            return False
        is_first = job.request["do"] == "open"
        job.put(Reply("progress", {"text": "reading the table" if is_first else "reading the table again"}))
        last = Reply("cancelled", {})
        async for reply in self._worker.ask(self._open):
            last = reply
        if last.kind == "answer" and not is_first:
            return True
        job.put(last)
        if last.kind != "answer":
            worker, self._worker = self._worker, None
            if last.head.get("expected"):
                self._give_back(worker)
            else:
                worker.kill()
        return last.kind == "answer"

    def close(self) -> None:
        """End the process."""
        self.is_closed = True
        self.cancel()
        if self._worker is not None:
            self._worker.kill()
