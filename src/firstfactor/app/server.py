"""The local server of ``firstfactor app``: who may ask, and what is answered. All work is done in other processes.

Every request needs the token that is printed at the start, a Host that is this machine, and an Origin that is the page
itself. No path comes from the browser: a file is uploaded, or it is the one that was named on the command line.
"""

import asyncio
import base64
import contextlib
import errno
import glob
import hashlib
import hmac
import ipaddress
import json
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import unicodedata
import webbrowser
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .. import __version__
from .._utils.atomic_write import private_folder
from .._utils.packages import require
from .._utils.text import printable
from ..problems.demo_tables import DEMOS
from ..tables.find_files import find_files
from ..tables.formats import FORMATS
from .worker import Reply, Seat, Worker

if TYPE_CHECKING:
    import uvicorn

# Names by which this machine calls itself.
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

# Seconds after which progress is shown.
PATIENCE = 0.5

# Seconds before the next process is started ahead of time: the first ranking needs all cores.
PAUSE = 4.0

# Bytes that settings may have.
MOST_JSON = 1 << 20

MB = 10**6


@dataclass(frozen=True)
class Limits:
    """Bounds of what a browser may ask for."""

    upload: int = 500 * MB
    """Bytes of a file."""
    unpacked: int = 2_000 * MB
    """Bytes of a compressed file when it is unpacked, and of the values of a table."""
    sessions: int = 8
    """Sessions at a time; the one that was not used for longest ends."""
    uploads: int = 3
    """Files that are received at a time."""


@dataclass(frozen=True)
class Place:
    """Where the server listens, and what opens it."""

    host: str
    port: int
    token: str

    @property
    def address(self) -> str:
        """Address to open in a browser."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::", "") else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        """Name of the cookie that holds the token."""
        return f"firstfactor_{self.port}"

    def is_ours(self, host: str) -> bool:
        """Return whether the Host of a request is a name of this machine with the port."""
        name, colon, port = host.rpartition(":")
        if not colon or port != str(self.port):
            return False
        if name in LOOPBACK or name == self.host or name == f"[{self.host}]":
            return True
        if self.host not in ("0.0.0.0", "::"):
            return False
        try:  # an address cannot be rebound to another machine, a name can
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return name == socket.gethostname()
        return True


class RefusedError(Exception):
    """Request that is not answered, and why."""

    def __init__(self, status: int, sentence: str, **more: Any) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.more = status, sentence, more


def _refuse(status: int, sentence: str, **more: Any) -> JSONResponse:
    headers = {"Connection": "close"} if status == 413 else {}
    return JSONResponse({"error": sentence, **more}, status, headers)


class Guard:
    """Application that lets only the page itself pass, and adds headers that keep others out."""

    def __init__(self, app: ASGIApp, place: Place) -> None:
        self.app, self.place = app, place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_GUARDING]
            await send(message)

        response = self._judge(Request(scope))
        await (self.app if response is None else response)(scope, receive, send_guarded)

    def _judge(self, request: Request) -> Response | None:
        """Return the response to a request that must not pass; None for others."""
        place, headers = self.place, request.headers
        host = headers.get("host", "")
        if len(headers.getlist("host")) != 1 or not place.is_ours(host):
            return _refuse(421, "This address is not the one that firstfactor printed.")
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return _refuse(403, "Requests from other pages are refused.")
        is_entry = request.url.path == "/" and request.method == "GET"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not is_entry:
            return _refuse(403, "Requests from other pages are refused.")
        if is_entry and "token" in request.query_params:
            if not self._is_token(request.query_params["token"]):
                return _refuse(403, "The token is wrong. Open the address that firstfactor printed.")
            entered = RedirectResponse("/", 303)
            entered.set_cookie(place.cookie, place.token, httponly=True, samesite="strict", path="/")
            return entered
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        given = bearer if scheme.lower() == "bearer" else request.cookies.get(place.cookie, "")
        if not self._is_token(given):
            return _refuse(403, "The token is missing or wrong. Open the address that firstfactor printed.")
        return None

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.place.token.encode())


_GUARDING = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]


class App:
    """Sessions, and answers to requests.

    Parameters
    ----------
    folder : path
        Private folder for uploaded files.
    given : str, optional
        File that was named on the command line.
    limits : Limits, optional
        Bounds.
    """

    def __init__(self, folder: Path, given: str | None = None, limits: Limits | None = None) -> None:
        self.folder, self.given, self.limits = folder, given, limits or Limits()
        self.seats: OrderedDict[str, Seat] = OrderedDict()
        self._uploads = 0
        self._spares: list[Worker] = []
        self._page, self._policy = _make_page()

    # --- processes ------------------------------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Start a process ahead of time; at the end, end all processes."""
        self._prepare(0)
        self._loop = asyncio.get_running_loop()
        try:
            yield
        finally:
            self._preparing.cancel()
            for seat in self.seats.values():
                seat.close()
            for worker in self._spares:
                worker.kill()

    def cancel_all(self) -> None:
        """Cancel whatever any session does; for handlers of signals."""

        def cancel() -> None:
            for seat in self.seats.values():
                seat.cancel()

        self._loop.call_soon_threadsafe(cancel)

    def _prepare(self, after: float) -> None:
        """Start a process after some seconds, once nobody waits, unless there is one that is not needed yet."""

        async def start() -> None:
            await asyncio.sleep(after)
            while any(seat.is_busy for seat in self.seats.values()):
                await asyncio.sleep(1)
            if not self._spares:
                self._spares.append(await self._start())

        self._preparing = asyncio.create_task(start())

    async def _start(self) -> Worker:
        return await asyncio.to_thread(Worker, str(self.folder), asyncio.get_running_loop())

    async def _take_worker(self) -> Worker:
        """Return a process, one that was started ahead of time if possible."""
        ready = [worker for worker in self._spares if worker.is_alive]
        self._spares.clear()
        worker = ready[0] if ready else await self._start()
        self._preparing.cancel()
        self._prepare(PAUSE)
        return worker

    def _take_back(self, worker: Worker) -> None:
        """Keep a process for the next table, unless there is one already."""
        if self._spares or not worker.is_alive:
            worker.kill()
        else:
            self._preparing.cancel()
            self._spares.append(worker)

    # --- the page -------------------------------------------------------------------------------------------------

    async def page(self, _: Request) -> Response:
        """Return the page."""
        return Response(self._page, media_type="text/html", headers={"Content-Security-Policy": self._policy})

    async def start(self, _: Request) -> Response:
        """Return what can be opened."""
        suffixes = [suffix for each in FORMATS.values() for suffix in each.suffixes]
        return JSONResponse(
            {
                "version": __version__,
                "given": None
                if self.given is None
                else {"name": printable(os.path.basename(os.path.normpath(self.given)))},
                "demos": [{"name": name, "title": demo.title} for name, demo in DEMOS.items()],
                "formats": [*suffixes, *(f"{suffix}.gz" for suffix in suffixes)],
                "max_bytes": self.limits.upload,
            }
        )

    # --- sessions -------------------------------------------------------------------------------------------------

    async def open(self, request: Request) -> Response:
        """Open a table: an uploaded file, a demo, or the file of the command line."""
        table = request.query_params.get("table")
        more = {} if table is None else {"table": table}
        if "name" in request.query_params:
            folder = Path(await asyncio.to_thread(tempfile.mkdtemp, dir=self.folder))
            try:
                name = safe_name(request.query_params["name"])
                await self._receive(request, folder / name)
                return await self._open({"path": name, "unpacked": self.limits.unpacked, **more}, folder)
            except BaseException:
                await asyncio.to_thread(shutil.rmtree, folder, True)
                raise
        wanted = await _read_json(request)
        if wanted == {"given": True} and self.given is not None:
            return await self._open({"path": self.given, **more})
        if isinstance(wanted, dict) and set(wanted) == {"demo"} and wanted["demo"] in [*DEMOS]:
            return await self._open({"demo": wanted["demo"]})
        raise RefusedError(400, "There is no such table.")

    async def _open(self, given: Mapping[str, Any], folder: Path | None = None) -> Response:
        seat = Seat(given, None if folder is None else str(folder), self._take_worker, self._take_back)
        name = secrets.token_urlsafe(12)
        self.seats[name] = seat
        while len(self.seats) > self.limits.sessions:
            oldest = next(iter(self.seats))
            await self._close(oldest)
        try:
            reply = await _last(seat.ask({"do": "open"}))
        except BaseException:
            await self._close(name)
            raise
        if reply.kind != "answer":
            await self._close(name)
        return _describe(name, reply)

    async def describe(self, request: Request) -> Response:
        """Return an open table once more, for a page that is loaded again."""
        return _describe(request.path_params["session"], await _last(self._seat(request).ask({"do": "describe"})))

    async def _receive(self, request: Request, path: Path) -> None:
        """Write the body of a request to a file, as long as it is not too large."""
        most = self.limits.upload
        too_large = RefusedError(413, f"The file is larger than {_in_mb(most)}. Use firstfactor rank in a terminal.")
        declared = request.headers.get("content-length", "0")
        if not declared.isdigit() or int(declared) > most:
            raise too_large
        if self._uploads >= self.limits.uploads:
            raise RefusedError(429, "Other files are being received. Try again when they have arrived.")
        self._uploads += 1
        size, pieces = 0, list[bytes]()
        try:
            with await asyncio.to_thread(path.open, "xb") as file:
                async for piece in request.stream():
                    size += len(piece)
                    if size > most:
                        raise too_large
                    pieces.append(piece)
                    if sum(map(len, pieces)) > MB:
                        await asyncio.to_thread(file.write, b"".join(pieces))
                        pieces.clear()
                await asyncio.to_thread(file.write, b"".join(pieces))
        finally:
            self._uploads -= 1
        if not size:
            raise RefusedError(400, "The file is empty.")

    def _seat(self, request: Request) -> Seat:
        """Return the session of a request, which is then the one that was used last."""
        name = request.path_params["session"]
        if name not in self.seats:
            raise RefusedError(404, "This table is no longer open. Open it again.")
        self.seats.move_to_end(name)
        return self.seats[name]

    async def _close(self, name: str) -> None:
        seat = self.seats.pop(name, None)
        if seat is not None:
            seat.close()
            if seat.folder is not None:
                await asyncio.to_thread(shutil.rmtree, seat.folder, True)

    async def close(self, request: Request) -> Response:
        """End a session."""
        self._seat(request)
        await self._close(request.path_params["session"])
        return Response(status_code=204)

    async def cancel(self, request: Request) -> Response:
        """Cancel whatever a session does."""
        self._seat(request).cancel()
        return Response(status_code=204)

    async def rank(self, request: Request) -> Response:
        """Rank, and stream progress and the result."""
        seat = self._seat(request)
        settings = await _read_json(request)
        if not isinstance(settings, dict):
            raise RefusedError(400, "The settings must be an object.")
        return StreamingResponse(
            _stream(seat.ask({"do": "rank", "settings": settings})), media_type="application/x-ndjson"
        )

    async def factor(self, request: Request) -> Response:
        """Return what there is to see of a factor."""
        key, name = _need(request, "key", "name")
        return _say(await _last(self._seat(request).ask({"do": "factor", "key": key, "name": name})))

    async def pair(self, request: Request) -> Response:
        """Return the picture of two factors."""
        key, a, b = _need(request, "key", "a", "b")
        return _say(await _last(self._seat(request).ask({"do": "pair", "key": key, "a": a, "b": b})))

    async def file(self, request: Request) -> Response:
        """Return a file to take away."""
        key, kind = _need(request, "key", "kind")
        return _say(await _last(self._seat(request).ask({"do": "file", "key": key, "kind": kind})))


def _describe(session: str, reply: Reply) -> Response:
    """Return what a table holds, with the name of its session."""
    if reply.kind != "answer":
        return _say(reply)
    return Response(
        b'{"session":' + json.dumps(session).encode() + b"," + reply.body[1:], media_type="application/json"
    )


def _need(request: Request, *names: str) -> list[str]:
    """Return parameters of a request that must be there."""
    missing = [name for name in names if name not in request.query_params]
    if missing:
        raise RefusedError(400, f"{missing[0]} is missing.")
    return [request.query_params[name] for name in names]


async def _read_json(request: Request) -> Any:
    """Return the body of a request, which must be short."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_JSON:
            raise RefusedError(413, "The request is too long.")
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RefusedError(400, "The request is not JSON.") from error


async def _last(replies: AsyncIterator[Reply]) -> Reply:
    """Return the last reply."""
    last = Reply("cancelled", {})
    async for reply in replies:
        last = reply
    return last


def _say(reply: Reply) -> Response:
    """Return the last reply of a process as a response."""
    if reply.kind == "cancelled":
        return _refuse(409, "Cancelled.")
    if reply.kind == "error":
        return _refuse(422 if reply.head["expected"] else 500, reply.head["sentence"], field=reply.head["field"])
    name = reply.head["name"]
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"} if name else {}
    return Response(reply.body, media_type=reply.head["media_type"], headers=headers)


async def _stream(replies: AsyncGenerator[Reply, None]) -> AsyncIterator[bytes]:
    """Yield the lines of a ranking; progress only once it takes long."""
    start, text, waiting = time.monotonic(), "starting", None
    try:
        while True:
            waiting = waiting or asyncio.ensure_future(anext(replies))
            left = PATIENCE - (time.monotonic() - start)
            if left > 0 and not (await asyncio.wait([waiting], timeout=left))[0]:
                yield _json_line({"progress": text})
                continue
            reply, waiting = await waiting, None
            match reply.kind:
                case "answer":
                    yield b'{"result":' + reply.body + b"}\n"
                case "error":
                    yield _json_line({"error": reply.head["sentence"], "field": reply.head["field"]})
                case "cancelled":
                    yield _json_line({"cancelled": True})
                case _:
                    text = reply.head["text"]
                    if time.monotonic() - start >= PATIENCE:
                        yield _json_line({"progress": text})
                    continue
            return
    finally:
        if waiting is not None:
            waiting.cancel()
            with contextlib.suppress(BaseException):
                await waiting
        await replies.aclose()


def _json_line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode(errors="replace") + b"\n"


def _in_mb(size: int) -> str:
    return f"{size / MB:,.0f} MB" if size >= MB else f"{size:,} bytes"


def safe_name(name: str) -> str:
    """Return the last part of a path as the name of a file that no system takes for anything else."""
    last = name.replace("\\", "/").rpartition("/")[2]
    plain = "".join(one for one in unicodedata.normalize("NFC", last) if one.isprintable() and one not in '<>:"|?*')
    stem, dot, suffixes = plain.rstrip(" .").partition(".")
    stem, suffixes = stem.strip(" -")[:60] or "table", suffixes[-40:].strip(" .")
    return f"{stem}.{suffixes}" if dot and suffixes else stem


# --- the page ------------------------------------------------------------------------------------------------------


def _make_page() -> tuple[bytes, str]:
    """Return the page, and the policy by which only its own style and script run and only this server is reached."""
    jinja2 = require("jinja2", "the app")
    style, script, template = (_read(name) for name in ("app.css", "app.js", "page.html.jinja"))
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    page = environment.from_string(template).render(style=style, script=script, version=__version__)
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "connect-src 'self'; img-src 'self' blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return page.encode(), policy


def _read(name: str) -> str:
    """Return the text of a file in this folder."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """Return the digest by which a policy allows a style or a script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def make_app(place: Place, folder: Path, given: str | None = None, limits: Limits | None = None) -> Starlette:
    """Return the application."""
    app = App(folder, given, limits)
    session = "/api/sessions/{session}"

    def route(path: str, method: str, endpoint: Callable[[Request], Awaitable[Response]]) -> Route:
        return Route(path, endpoint, methods=[method])

    made = Starlette(
        routes=[
            route("/", "GET", app.page),
            route("/api/start", "GET", app.start),
            route("/api/sessions", "POST", app.open),
            route(session, "GET", app.describe),
            route(session, "DELETE", app.close),
            route(f"{session}/rank", "POST", app.rank),
            route(f"{session}/cancel", "POST", app.cancel),
            route(f"{session}/factor", "GET", app.factor),
            route(f"{session}/pair", "GET", app.pair),
            route(f"{session}/file", "GET", app.file),
        ],
        lifespan=app.lifespan,
        exception_handlers={
            RefusedError: lambda _, error: _refuse(error.status, error.sentence, **error.more),
            HTTPException: lambda _, error: _refuse(error.status_code, "There is nothing here."),
            ClientDisconnect: lambda *_: Response(status_code=400),
            Exception: lambda *_: _refuse(500, "This should not happen. The terminal says more."),
        },
    )
    made.state.app = app
    made.add_middleware(Guard, place=place)
    return made


# --- the command ---------------------------------------------------------------------------------------------------


def run(given: str | None, host: str, port: int, open_browser: bool) -> None:
    """Serve the page until Ctrl-C."""
    if given is not None:
        find_files(given)
        if not glob.has_magic(given) and not os.path.exists(given):
            raise ValueError(f"there is no file {given!r}.")
    with contextlib.ExitStack() as stack:
        listening = stack.enter_context(_listen(host, port))
        place = Place(host, listening.getsockname()[1], secrets.token_urlsafe(24))
        app = make_app(place, stack.enter_context(private_folder()), given)
        if not _is_loopback(host):
            print(
                f"warning: --host {host} lets other machines reach this page. Whoever has the address below can read "
                "the table, and the connection is not encrypted.",
                file=sys.stderr,
            )
        print(f"firstfactor is at {place.address}\nCtrl-C ends it.", flush=True)
        if open_browser:
            threading.Thread(target=webbrowser.open, args=(place.address,), daemon=True).start()
        if hasattr(signal, "SIGHUP"):  # the terminal is closed
            before = signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
            stack.callback(signal.signal, signal.SIGHUP, before)
        with contextlib.suppress(KeyboardInterrupt):
            make_server(app).run(sockets=[listening])
    print("\nfirstfactor has ended; uploaded files are removed.")


def make_server(app: Starlette) -> "uvicorn.Server":
    """Return the server of an application, which ends quickly."""
    import uvicorn

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: Any) -> None:
            super().handle_exit(sig, frame)
            app.state.app.cancel_all()  # else the server waits for what is ranked

    return Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
            ws="none",
        )
    )


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; a port that is in use is an error with a way out."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    try:
        if sys.platform != "win32":  # there, it would share the port with others
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen()  # a browser may come before the server has started
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise ValueError(f"--port: {port} is in use. Leave out --port to take a free one.") from error
        why = error.strerror or str(error)
        raise ValueError(f"--host, --port: {host}:{port} cannot be used: {why}.") from error
    return listening


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
