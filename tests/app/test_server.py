"""The server of the app: tables are opened, ranked, cancelled and closed, and one session does not disturb another."""

import gzip
import os
import signal
import sys
import threading
import time

import numpy as np
import polars as pl
import pytest

from app.serving import is_running, serve, slow_table, until
from firstfactor.app.server import safe_name
from firstfactor.app.worker import _Interrupted


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(rng.normal(size=(300, 3)), schema=list("abc")).with_columns(y=pl.col("a") + pl.col("b"))
    path = tmp_path_factory.mktemp("mine") / "my table.csv"
    frame.write_csv(path)
    return path


@pytest.fixture(scope="module")
def served(folder, given):
    with serve(folder, str(given), sessions=4) as served:
        yield served


def test_the_start_names_what_can_be_opened(served):
    found = served.client.get("/api/start").json()
    assert found["given"] == {"name": "my table.csv"}
    assert {"friedman", "diabetes"} <= {one["name"] for one in found["demos"]}
    assert {".csv", ".parquet", ".xlsx", ".csv.gz"} <= set(found["formats"]) and found["max_bytes"] > 10**8


def test_the_page_has_a_policy_that_allows_only_its_own_script(served):
    response = served.client.get("/")
    policy = response.headers["content-security-policy"]
    assert response.status_code == 200 and "<html" in response.text
    assert "default-src 'none'" in policy and "unsafe" not in policy and "connect-src 'self'" in policy
    assert response.text.count("<script") == 1


def test_the_given_file_is_opened_and_ranked(served, given):
    session = served.open(given=True)
    assert session["name"] == "my table.csv" and session["n_rows"] == 300 and session["target"] == "y"
    result = served.result(session["session"], target="y")
    assert [line["id"] for line in result["lines"] if line["selected"]] != []
    assert str(given) in result["command"]  # as it was named on the command line


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "csv.gz", "xlsx"])
def test_uploads_of_every_kind(served, tmp_path, kind):
    frame = pl.DataFrame({"x": np.arange(50) % 7, "z": np.arange(50) % 3, "y": (np.arange(50) % 7) ** 2})
    path = tmp_path / f"data.{kind}"
    match kind:
        case "csv":
            frame.write_csv(path)
        case "parquet":
            frame.write_parquet(path)
        case "jsonl":
            frame.write_ndjson(path)
        case "csv.gz":
            path.write_bytes(gzip.compress(frame.write_csv().encode()))
        case "xlsx":
            frame.write_excel(path)
    response = served.upload(f"data.{kind}", path.read_bytes())
    assert response.status_code == 200, response.text
    found = response.json()
    assert (found["name"], found["n_rows"], len(found["columns"])) == (f"data.{kind}", 50, 3)
    result = served.result(found["session"], target="y")
    assert result["command"] == f"firstfactor rank data.{kind} --target y"
    served.client.delete(f"/api/sessions/{found['session']}")


def test_a_file_that_cannot_be_read_is_an_error_in_words(served, folder):
    before = set(folder.iterdir())
    response = served.upload("data.csv", b"a,b\n1,2,3\n4,5,6,7\n8,9,1,2,3\n")
    assert response.status_code == 422 and "data.csv" in response.json()["error"]
    assert str(folder) not in response.text
    assert served.upload("data.parquet", b"PAR1\x15 and no more").status_code == 422
    assert served.upload("data.what", b"a b").status_code == 422
    assert served.upload("data.csv", b"").status_code == 400
    assert until(lambda: set(folder.iterdir()) == before)


def test_sheets_are_named_and_chosen(served, tmp_path):
    import xlsxwriter

    path = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(path) as book:
        for name in ("first", "second"):
            sheet = book.add_worksheet(name)
            for row in range(40):
                sheet.write_row(row, 0, ["x", "y"] if row == 0 else [row % 5, (row % 5) ** 2])
    response = served.upload("book.xlsx", path.read_bytes())
    assert response.status_code == 422 and response.json()["field"] == "table"
    assert "'first', 'second'" in response.json()["error"]
    url = "/api/sessions?name=book.xlsx&table=second"
    found = served.client.post(url, content=path.read_bytes()).json()
    result = served.result(found["session"], target="y")
    assert result["command"] == "firstfactor rank book.xlsx --target y --table second"
    served.client.delete(f"/api/sessions/{found['session']}")


def test_errors_name_the_setting(served):
    session = served.open(demo="ishigami")["session"]
    (line, _), *others = served.rank(session, target="y", alpha=3)
    assert not others and line["field"] == "alpha" and "Alpha must be" in line["error"]
    assert served.rank(session, target="y", sudo=True)[-1][0]["field"] == "sudo"
    assert served.client.post(f"/api/sessions/{session}/rank", content=b"no json").status_code == 400
    assert served.client.post(f"/api/sessions/{session}/rank", json=[1]).status_code == 400
    assert served.client.get(f"/api/sessions/{session}/factor").status_code == 400
    assert served.client.get(f"/api/sessions/{session}/factor?key=0&name=x1").status_code == 422
    assert served.client.get("/api/sessions/unknown/factor?key=0&name=x1").status_code == 404
    assert served.client.get("/nothing").json() == {"error": "There is nothing here."}


def test_progress_comes_from_half_a_second_on_and_cancel_is_immediate(served):
    session = served.upload("slow.csv", slow_table()).json()["session"]
    ended = []

    def cancel():
        time.sleep(1.2)
        start = time.monotonic()
        assert served.client.post(f"/api/sessions/{session}/cancel").status_code == 204
        ended.append(time.monotonic() - start)

    thread = threading.Thread(target=cancel)
    thread.start()
    lines = served.rank(session, target="y")
    thread.join()
    assert lines[-1][0] == {"cancelled": True} and ended
    assert "progress" in lines[0][0] and lines[0][1] > 0.4
    # Whatever state the process is in, the next ranking works.
    result = served.result(session, target="y", drop=[f"x{i}" for i in range(3, 40)], rule="paper")
    assert len(result["lines"]) == 3
    served.client.delete(f"/api/sessions/{session}")


@pytest.mark.slow
def test_a_second_ranking_cancels_the_first_and_sessions_do_not_mix(served):
    one = served.upload("slow.csv", slow_table()).json()["session"]
    other = served.open(demo="friedman")["session"]
    first, again = [], []
    threads = [
        threading.Thread(target=lambda: first.extend(served.rank(one, target="y"))),
        threading.Thread(target=lambda: again.extend(served.rank(one, target="x1", drop=["y"], rule="paper"))),
    ]
    threads[0].start()
    time.sleep(0.8)
    threads[1].start()
    beside = served.result(other, target="y")
    threads[0].join()
    assert first[-1][0] == {"cancelled": True}
    assert beside["target"] == "y" and {line["id"] for line in beside["lines"]} <= {f"x{i}" for i in range(1, 11)}
    served.client.post(f"/api/sessions/{one}/cancel")
    threads[1].join()
    assert again[-1][0] == {"cancelled": True} or again[-1][0]["result"]["target"] == "x1", again
    for session in (one, other):
        served.client.delete(f"/api/sessions/{session}")


def test_a_client_that_leaves_cancels_its_ranking(served):
    session = served.upload("slow.csv", slow_table()).json()["session"]
    seat = served.app.seats[session]
    with served.client.stream("POST", f"/api/sessions/{session}/rank", json={"target": "y"}) as response:
        next(response.iter_lines())
        assert seat._jobs
    assert until(lambda: not seat._jobs, 5)
    served.client.delete(f"/api/sessions/{session}")


def test_a_crash_leaves_the_app_alive_with_a_message(served):
    session = served.open(demo="ishigami")["session"]
    first = served.result(session, target="y")
    worker = served.app.seats[session]._worker
    os.kill(worker.pid, signal.SIGSEGV)
    assert until(lambda: not worker.is_alive)
    again = served.result(session, target="y", drop=["x1"])  # by a new process, which reads the table again
    assert again["key"] != first["key"]
    lines = []
    thread = threading.Thread(target=lambda: lines.extend(served.rank(session, target="y", alpha=0.2, drop=["x2"])))
    os.kill(served.app.seats[session]._worker.pid, signal.SIGSTOP)
    thread.start()
    time.sleep(0.3)
    os.kill(served.app.seats[session]._worker.pid, signal.SIGKILL)
    thread.join()
    assert "ended unexpectedly" in lines[-1][0]["error"]
    assert served.result(session, target="y", alpha=0.2, drop=["x2"])
    # What was looked at before the crash can be looked at again.
    response = served.client.get(f"/api/sessions/{session}/factor", params={"key": first["key"], "name": "x1"})
    assert response.status_code == 200, response.text


@pytest.mark.slow
def test_sessions_are_bounded_and_their_processes_and_files_end(served):
    seats = served.app.seats
    content = b"x,y\n" + b"".join(b"%d,%d\n" % (i % 5, i % 3) for i in range(40))
    first = served.upload("small.csv", content).json()["session"]
    pid, kept = seats[first]._worker.pid, seats[first].folder
    assert os.path.isdir(kept)
    others = [served.open(demo="ishigami")["session"] for _ in range(4)]
    assert len(seats) == 4 and first not in seats
    assert until(lambda: not is_running(pid)) and until(lambda: not os.path.exists(kept))
    for session in others:
        served.client.delete(f"/api/sessions/{session}")
    assert not seats


def test_files_to_take_away(served):
    session = served.open(demo="ishigami")["session"]
    key = served.result(session, target="y")["key"]
    for kind in ("html", "csv", "json", "svg", "png"):
        response = served.client.get(f"/api/sessions/{session}/file", params={"key": key, "kind": kind})
        assert response.headers["content-disposition"] == f"attachment; filename*=UTF-8''ishigami-y.{kind}"
        assert len(response.content) > 100
    assert served.client.get(f"/api/sessions/{session}/file?key={key}&kind=exe").status_code == 422
    pair = served.client.get(f"/api/sessions/{session}/pair", params={"key": key, "a": "x1", "b": "x3"}).json()
    assert pair["svg"].startswith("<svg") and "x1 and x3 work together" in pair["sentence"]
    served.client.delete(f"/api/sessions/{session}")


def test_an_interrupt_waits_for_imports(tmp_path, monkeypatch):
    (tmp_path / "half_imported.py").write_text("import signal\nsignal.raise_signal(signal.SIGINT)\nwhole = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    interrupted = _Interrupted()
    interrupted.current = interrupted.cancelled = 1
    before = signal.signal(signal.SIGINT, interrupted.hear)
    try:
        with pytest.raises(KeyboardInterrupt):  # noqa: PT012
            import half_imported  # noqa: F401

            time.sleep(10)
        signal.raise_signal(signal.SIGINT)  # no longer meant for what is done
    finally:
        signal.signal(signal.SIGINT, before)
    assert sys.modules.pop("half_imported").whole


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("data.csv", "data.csv"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\data 1.csv.gz", "data 1.csv.gz"),
        ("/", "table"),
        ("..", "table"),
        (".csv", "table.csv"),
        ("-rf .csv", "rf.csv"),
        ("a\0b\n.csv", "ab.csv"),
        ("données 年.parquet", "données 年.parquet"),
        ("x" * 300 + ".csv", "x" * 60 + ".csv"),
    ],
)
def test_names_of_files_are_made_safe(given, name):
    assert safe_name(given) == name
