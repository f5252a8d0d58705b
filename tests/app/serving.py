"""The app on a real port, in this process or as the installed command."""

import json
import os
import re
import subprocess
import threading
import time
from contextlib import contextmanager
from functools import cache

import httpx
import numpy as np
import polars as pl
from command import CLEAN, COMMAND

from firstfactor.app.server import Limits, Place, _listen, make_app, make_server

TOKEN = "a-token-for-tests"
PATIENCE = 60  # the first ranking on a machine compiles


@cache
def slow_table():
    """A table as CSV that takes some seconds to rank."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 40))
    y = X[:, :12].sum(axis=1) + np.sin(3 * X[:, 0]) * X[:, 1] + rng.normal(size=len(X))
    return pl.DataFrame(X.round(4), schema=[f"x{i}" for i in range(40)]).with_columns(y=y).write_csv().encode()


class Served:
    """A server, and requests to it that have the token."""

    def __init__(self, address, token, app=None):
        self.address, self.token, self.app = address, token, app
        self.client = httpx.Client(
            base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE, trust_env=False
        )

    def open(self, **given):
        response = self.client.post("/api/sessions", json=given)
        assert response.status_code == 200, response.text
        return response.json()

    def upload(self, name, content):
        return self.client.post("/api/sessions", params={"name": name}, content=content)

    def rank(self, session, **settings):
        """The lines of a ranking with the seconds at which they came."""
        start = time.monotonic()
        with self.client.stream("POST", f"/api/sessions/{session}/rank", json=settings) as response:
            return [(json.loads(line), time.monotonic() - start) for line in response.iter_lines()]

    def result(self, session, **settings):
        last = self.rank(session, **settings)[-1][0]
        assert "result" in last, last
        return last["result"]


@contextmanager
def serve(folder, given=None, limits=None, **more):
    """The app in a thread of this process."""
    listening = _listen("127.0.0.1", 0)
    place = Place("127.0.0.1", listening.getsockname()[1], TOKEN)
    app = make_app(place, folder, given, limits or Limits(**more))
    server = make_server(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    served = Served(f"http://127.0.0.1:{place.port}", TOKEN, app.state.app)
    try:
        for _ in range(200):
            if server.started:
                break
            time.sleep(0.02)
        yield served
    finally:
        served.client.close()
        server.should_exit = True
        thread.join(20)
        listening.close()


@contextmanager
def command(*arguments, **environment):
    """The installed command in a process of its own; yields the process and its server."""
    process = subprocess.Popen(
        [COMMAND, "app", "--no-browser", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        env=CLEAN | environment,
    )
    lines, served = [], None
    try:
        while not (found := re.search(r"(http://\S+)/\?token=(\S+)", "".join(lines))):
            line = process.stdout.readline()
            assert line, "".join(lines)
            lines.append(line)
        served = Served(found[1], found[2])
        for _ in range(200):
            try:
                served.client.get("/api/start")
                break
            except httpx.TransportError:
                time.sleep(0.05)
        yield process, served
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
        if lines and served is not None:
            served.client.close()


def children(pid):
    """The processes that a process has started, and those below them."""
    found = []
    for number in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/stat") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            found += [int(number), *children(int(number))]
    return found


def is_running(pid):
    """Whether a process exists and is no zombie."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(condition, seconds=15):
    """Wait until something is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False
