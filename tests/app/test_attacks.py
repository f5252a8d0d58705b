"""What a hostile page, file or network may try against the app, and processes that are ended in any way."""

import contextlib
import gzip
import http.client
import io
import signal
import socket
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
import polars as pl
import pytest
from command import run_here

from app.serving import TOKEN, children, command, is_running, serve, slow_table, until
from firstfactor.app.server import Place, safe_name

SCRIPT = "<script>alert(1)</script>"
ROUTES = [
    ("GET", "/"),
    ("GET", "/api/start"),
    ("POST", "/api/sessions"),
    ("DELETE", "/api/sessions/x"),
    ("POST", "/api/sessions/x/rank"),
    ("POST", "/api/sessions/x/cancel"),
    ("GET", "/api/sessions/x/factor"),
    ("GET", "/api/sessions/x/pair"),
    ("GET", "/api/sessions/x/file"),
    ("GET", "/nothing"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("attacked")


@pytest.fixture(scope="module")
def served(folder):
    with serve(folder, upload=1_500_000, unpacked=20_000_000) as served:
        yield served


def ask(served, method, path, token=TOKEN, **headers):
    host = headers.pop("host", served.address.removeprefix("http://"))
    given = {"Host": host, **({"Authorization": f"Bearer {token}"} if token else {}), **headers}
    connection = http.client.HTTPConnection(served.address.removeprefix("http://"), timeout=10)
    try:
        connection.request(method, path, headers=given)
        response = connection.getresponse()
        response.read()
        return response
    finally:
        connection.close()


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_nothing_is_answered_without_the_token(served, method, path):
    for token in ("", "wrong", TOKEN[:-1], TOKEN + "x", "\u00e9"):
        response = ask(served, method, path, token=token)
        assert response.status == 403, (method, path, token)


def test_the_token_opens_a_cookie_and_the_address_forgets_it(served):
    with httpx.Client(base_url=served.address, trust_env=False) as client:
        assert client.get("/?token=wrong").status_code == 403
        response = client.get(f"/?token={TOKEN}")
        assert response.status_code == 303 and response.headers["location"] == "/"
        cookie = response.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=strict" in cookie
        assert client.get("/api/start").status_code == 200
        client.cookies = {next(iter(client.cookies)): "wrong"}
        assert client.get("/api/start").status_code == 403


HOSTS = [
    "evil.example",
    "evil.example:{port}",
    "127.0.0.1",
    "127.0.0.1:1",
    "127.0.0.1.evil.example:{port}",
    "",
    "[::1]",
]


@pytest.mark.parametrize("host", HOSTS)
def test_another_host_is_refused(served, host):
    host = host.format(port=served.address.rpartition(":")[2])
    assert ask(served, "GET", "/api/start", host=host).status in (400, 421)
    assert ask(served, "GET", f"/?token={TOKEN}", host=host).status in (400, 421)


def test_names_of_this_machine_are_its_hosts(served):
    port = served.address.rpartition(":")[2]
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"):
        assert ask(served, "GET", "/api/start", host=host).status == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://{host}", "http://{host}.evil.example"]
)
def test_another_origin_is_refused(served, origin):
    origin = origin.format(host=served.address.removeprefix("http://"))
    for method, path in ROUTES:
        assert ask(served, method, path, Origin=origin).status == 403
    assert ask(served, "GET", "/api/start", Origin=served.address).status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_other_pages_embed_is_refused(served, site):
    assert ask(served, "GET", "/api/start", **{"Sec-Fetch-Site": site}).status == 403
    assert ask(served, "GET", "/api/start", **{"Sec-Fetch-Site": "same-origin"}).status == 200


def test_state_is_not_changed_by_a_get(served):
    for path in ("/api/sessions", "/api/sessions/x/rank", "/api/sessions/x/cancel"):
        assert ask(served, "GET", path).status in (404, 405)


def test_answers_are_not_kept_sniffed_or_framed(served):
    headers = served.client.get("/").headers
    assert headers["cache-control"] == "no-store" and headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY" and "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer" and "server" not in headers
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5"])
def test_other_machines_are_let_in_only_on_request_and_by_address(host):
    place = Place(host, 80, "t")
    assert place.is_ours("192.168.1.5:80") and place.is_ours("127.0.0.1:80")
    assert not place.is_ours("evil.example:80") and not place.is_ours("192.168.1.5:81")
    assert not Place("127.0.0.1", 80, "t").is_ours("192.168.1.5:80")


# --- names and paths -----------------------------------------------------------------------------------------------

TRAVERSALS = [
    *("../../../../../../tmp/firstfactor-evil.csv", "/tmp/firstfactor-evil.csv", "a/../../firstfactor-evil.csv"),
    *("..\\..\\firstfactor-evil.csv", "\0/firstfactor-evil.csv", "~/firstfactor-evil.csv"),
    *("$HOME/firstfactor-evil.csv", "file:///etc/firstfactor-evil.csv"),
]
SMALL = b"x,y\n" + b"".join(b"%d,%d\n" % (i % 5, i % 3) for i in range(40))


@pytest.mark.parametrize("name", TRAVERSALS)
def test_names_with_paths_are_names(name):
    assert safe_name(name) == "firstfactor-evil.csv"


@pytest.mark.parametrize("name", TRAVERSALS[:2])
def test_paths_in_names_lead_nowhere(served, folder, name):
    response = served.upload(name, SMALL)
    assert response.status_code == 200, response.text
    assert response.json()["name"] == "firstfactor-evil.csv"
    written = list(Path("/tmp").rglob("firstfactor-evil.csv"))
    assert written and all(path.is_relative_to(folder) for path in written)
    assert all(path.parent.stat().st_mode & 0o777 == 0o700 for path in written)
    assert str(folder) not in response.text
    served.client.delete(f"/api/sessions/{response.json()['session']}")


def test_no_file_but_the_given_one_can_be_named(served):
    paths = [{"path": "/etc/passwd"}, {"given": "/etc/passwd"}, {"demo": "/etc/passwd"}, {"demo": ["x"]}]
    for wanted in (*paths, {"given": True}, {}, 1, {"demo": "friedman", "path": "/etc/passwd"}):
        assert served.client.post("/api/sessions", json=wanted).status_code == 400
    for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/api/sessions/..%2f..%2fetc/file?key=a&kind=csv"):
        assert ask(served, "GET", path).status == 404


def test_paths_of_this_machine_are_not_shown(served, folder):
    session = served.upload("table.csv", SMALL).json()["session"]
    result = served.result(session, target="y", rule="paper")
    files = [f"/api/sessions/{session}/file?key={result['key']}&kind={kind}" for kind in ("json", "html", "csv")]
    texts = [str(result), *(served.client.get(file).text for file in files)]
    assert not any(str(folder) in text or "/tmp/" in text for text in texts)
    served.client.delete(f"/api/sessions/{session}")


def test_a_script_in_every_name_is_only_text(served):
    rng = np.random.default_rng(0)
    names = [f"{SCRIPT}{i}" for i in range(3)] + ['x"><img src=x onerror=alert(1)>', "{{7*7}}", "'; DROP TABLE x; --"]
    frame = pl.DataFrame(rng.normal(size=(200, 6)).round(3), schema=names)
    frame = frame.with_columns(
        pl.Series("</script>", rng.choice([SCRIPT, "b"], 200)), (pl.nth(0) + pl.nth(1)).alias("<b>y</b>")
    )
    response = served.upload(f"{SCRIPT}.csv", frame.write_csv().encode())
    assert response.status_code == 200 and response.headers["content-type"] == "application/json"
    session = response.json()["session"]
    result = served.result(session, target="<b>y</b>", factor_groups={SCRIPT: [names[2], names[3]]})
    key, first = result["key"], result["lines"][0]["id"]
    looked = served.client.get(f"/api/sessions/{session}/factor", params={"key": key, "name": first}).json()
    pair = served.client.get(
        f"/api/sessions/{session}/pair", params={"key": key, "a": names[0], "b": "</script>"}
    ).json()
    for picture in (looked["alone"], pair["svg"]):
        assert "<script" not in picture and "<img" not in picture
    page = served.client.get(f"/api/sessions/{session}/file", params={"key": key, "kind": "html"})
    assert SCRIPT not in page.text and page.headers["content-disposition"].startswith("attachment")
    for kind in ("svg", "csv"):
        file = served.client.get(f"/api/sessions/{session}/file", params={"key": key, "kind": kind})
        assert "\n" not in file.headers["content-disposition"] and "<" not in file.headers["content-disposition"]
        assert kind == "csv" or "<script" not in file.text
    assert ask(served, "GET", "/").status == 200
    served.client.delete(f"/api/sessions/{session}")


# --- too much ------------------------------------------------------------------------------------------------------


def test_a_file_that_says_it_is_too_large_is_refused_at_once(served, folder):
    before = set(folder.iterdir())
    with socket.create_connection(served.address.removeprefix("http://").split(":"), timeout=10) as connection:
        connection.sendall(
            f"POST /api/sessions?name=a.csv HTTP/1.1\r\nHost: {served.address.removeprefix('http://')}\r\n"
            f"Authorization: Bearer {TOKEN}\r\nContent-Length: 2000000000\r\n\r\n".encode()
        )
        assert b" 413 " in connection.recv(4096)
    assert until(lambda: set(folder.iterdir()) == before)


def test_two_gigabytes_in_pieces_are_cut_off_early(served, folder):
    before, sent = set(folder.iterdir()), 0
    host = served.address.removeprefix("http://")
    with socket.create_connection(host.split(":"), timeout=10) as connection:
        connection.sendall(
            f"POST /api/sessions?name=a.csv HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\n"
            "Transfer-Encoding: chunked\r\n\r\n".encode()
        )
        piece = b"10000\r\n" + b"1,2\n" * 16384 + b"\r\n"
        try:
            while sent < 2_000_000_000:
                connection.sendall(piece)
                sent += 65536
        except OSError:
            pass
    assert sent < 50_000_000  # what the buffers of both sides hold
    assert until(lambda: set(folder.iterdir()) == before)
    assert served.client.get("/api/start").status_code == 200


def test_an_upload_that_stops_half_way_leaves_nothing(served, folder):
    before = set(folder.iterdir())
    host = served.address.removeprefix("http://")
    with socket.create_connection(host.split(":"), timeout=10) as connection:
        connection.sendall(
            f"POST /api/sessions?name=a.csv HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\n"
            "Content-Length: 1000\r\n\r\nx,y\n1,2\n".encode()
        )
        assert until(lambda: set(folder.iterdir()) != before)
    assert until(lambda: set(folder.iterdir()) == before)


def test_long_settings_are_refused(served):
    session = served.open(demo="ishigami")["session"]
    long = b'{"target": "' + b"x" * 2_000_000 + b'"}'
    with contextlib.suppress(httpx.ReadError, httpx.WriteError):  # the server does not wait for the end
        assert served.client.post(f"/api/sessions/{session}/rank", content=long).status_code == 413
    nested = b"[" * 100_000 + b"]" * 100_000
    assert served.client.post(f"/api/sessions/{session}/rank", content=nested).status_code == 400
    served.client.delete(f"/api/sessions/{session}")


def bomb(kind):
    """A small file that becomes a large one."""
    packed = io.BytesIO()
    if kind == "csv.gz":
        with gzip.open(packed, "wb", compresslevel=9) as file:
            file.write(b"x,y\n")
            for _ in range(100):
                file.write(b"1,2\n" * 250_000)
    elif kind == "xlsx":
        zipped = zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        with zipped as file, file.open("xl/worksheets/sheet1.xml", "w") as sheet:
            for _ in range(200):
                sheet.write(b" " * 1_000_000)
    else:
        n = 300_000
        pl.DataFrame({"x": pl.zeros(n, eager=True), "y": pl.zeros(n, eager=True)}).with_columns(
            pl.col("x").alias(f"c{i}") for i in range(100)
        ).write_parquet(packed, compression="zstd", row_group_size=n)
    return packed.getvalue()


@pytest.mark.parametrize("kind", ["csv.gz", "xlsx", "parquet"])
def test_bombs_do_not_go_off(served, folder, kind):
    content = bomb(kind)
    assert len(content) < 1_300_000
    start = time.monotonic()
    response = served.upload(f"bomb.{kind}", content)
    assert response.status_code == 422, response.text
    assert "at most" in response.json()["error"] and time.monotonic() - start < 20
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 2_000_000
    assert served.client.get("/api/start").status_code == 200


@pytest.mark.slow
def test_a_hundred_requests_at_a_time(served):
    session = served.open(demo="ishigami")["session"]
    key = served.result(session, target="y")["key"]
    wanted = [
        "/api/start", "/", f"/api/sessions/{session}/file?key={key}&kind=csv", "/api/sessions/none/file?key=a&kind=csv"
    ]  # fmt: skip

    def one(number):
        if number % 5 == 4:
            return served.rank(session, target="y", alpha=0.05 + number / 1000)[-1][0].keys() & {"result", "cancelled"}
        return served.client.get(wanted[number % 5]).status_code

    with ThreadPoolExecutor(100) as pool:
        found = list(pool.map(one, range(100)))
    assert {code for number, code in enumerate(found) if number % 5 in (0, 1)} == {200}
    assert {code for number, code in enumerate(found) if number % 5 == 3} == {404}
    assert {code for number, code in enumerate(found) if number % 5 == 2} <= {200, 409}
    assert all(found[number] for number in range(4, 100, 5)) and {"result"} in found
    assert served.client.get("/api/start").status_code == 200
    served.client.delete(f"/api/sessions/{session}")


# --- processes that end --------------------------------------------------------------------------------------------


def private_folders(parent):
    return [path for path in Path(parent).iterdir() if path.name.startswith("firstfactor-app-")]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_when_it_is_ended_nothing_runs_and_nothing_is_left(tmp_path, how):
    with command(TMPDIR=tmp_path) as (process, served):
        assert served.upload("mine.csv", SMALL).status_code == 200
        (private,) = private_folders(tmp_path)
        assert private.stat().st_mode & 0o777 == 0o700 and list(private.rglob("mine.csv"))
        started = children(process.pid)
        session = served.upload("slow.csv", slow_table()).json()["session"]
        lines = []
        thread = threading.Thread(target=lambda: lines.extend(served.rank(session, target="y")))
        thread.start()
        time.sleep(1)
        process.send_signal(how)
        assert process.wait(15) == (0 if how == signal.SIGINT else 143)
        told = process.stdout.read()
        assert "Traceback" not in told and "ERROR" not in told
        thread.join()
        assert lines[-1][0] == {"cancelled": True}
        assert until(lambda: not any(map(is_running, started)))
        assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_after_a_kill_the_next_start_removes_what_was_left(tmp_path):
    with command(TMPDIR=tmp_path) as (process, served):
        session = served.upload("mine.csv", SMALL).json()["session"]
        started = children(process.pid)
        threading.Thread(target=lambda: _rank_in_vain(served, session), daemon=True).start()
        time.sleep(0.3)
        process.kill()
        process.wait()
        assert until(lambda: not any(map(is_running, started)))  # nothing runs
        (left,) = private_folders(tmp_path)
        assert left.stat().st_mode & 0o777 == 0o700
    with command(TMPDIR=tmp_path) as (process, served):
        assert left not in private_folders(tmp_path) and len(private_folders(tmp_path)) == 1
        assert served.client.post(f"/api/sessions/{session}/cancel").status_code == 404  # nothing is read
        with command(TMPDIR=tmp_path):  # which leaves the folder of a living process alone
            assert len(private_folders(tmp_path)) == 2
        process.send_signal(signal.SIGTERM)
        process.wait(15)
    assert not [path for path in private_folders(tmp_path) if path != left and (path / "lock").exists()][1:]


def _rank_in_vain(served, session):
    with contextlib.suppress(httpx.HTTPError):
        served.rank(session, target="y")


def test_the_command_says_where_it_is_and_what_is_wrong(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run_here("app", "--port", str(port), "--no-browser")
        assert done.returncode == 2 and f"error: --port: {port} is in use." in done.stderr.decode()
    done = run_here("app", tmp_path / "none.csv", "--no-browser")
    assert done.returncode == 2 and "there is no file" in done.stderr.decode()
    assert run_here("app", "--help").returncode == 0
    with command("--host", "0.0.0.0", TMPDIR=tmp_path) as (process, served):
        assert served.address.startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        assert process.wait(15) == 0


def test_without_the_extra_the_command_says_what_it_needs(monkeypatch):
    from importlib import import_module

    monkeypatch.setattr(
        "firstfactor._utils.packages.importlib.import_module",
        lambda name: (_ for _ in ()).throw(ImportError(name)) if name == "starlette" else import_module(name),
    )
    done = run_here("app", "--no-browser")
    assert done.returncode == 2 and "pip install 'firstfactor[app]'" in done.stderr.decode()
