"""Experiments go on where they stopped, and give the same rows again."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from study.__main__ import app
from study.data.labels import label
from study.data.setting import Setting
from study.methods import ours
from study.methods.registry import NAMES
from study.runs import runner
from study.runs.experiments import EVERYDAY_NOISE, MISSING, PANEL, SLOW
from study.runs.runner import missing, perform, run
from study.runs.store import Store, Task
from tests.study.rows import SMALL, fill, needs_stored_rows

ROOT = Path(__file__).parents[2]
TABLES = Path(os.environ.get("FIRSTFACTOR_DATA", ROOT.parent / "shared" / "data"))


def test_a_finished_row_is_never_computed_again(tmp_path, monkeypatch):
    tasks = [Task(SMALL, "FIRST", k) for k in range(4)]
    assert run(tasks[:2], 1, tmp_path) == 2
    calls = []
    monkeypatch.setitem(ours.OURS, "FIRST", lambda X, y, seed: calls.append(seed) or ours.first(X, y, seed))
    assert run(tasks, 1, tmp_path) == 2
    assert sorted(calls) == [2, 3]
    assert missing(tasks, tmp_path) == [] and run(tasks, 1, tmp_path) == 0


def test_rows_that_another_run_finished_meanwhile_are_not_repeated(tmp_path, monkeypatch):
    tasks = [Task(SMALL, "FIRST", k) for k in range(3)]
    appending = Store.appending

    def after_another_run(store):
        monkeypatch.undo()
        fill(store, [0, 1])
        return appending(store)

    monkeypatch.setattr(Store, "appending", after_another_run)
    assert run(tasks, 1, tmp_path) == 1
    assert sorted(Store("FIRST", tmp_path).read()["repetition"]) == [0, 1, 2]


@pytest.mark.slow
def test_rows_do_not_depend_on_the_number_of_processes(tmp_path):
    tasks = [Task(SMALL, name, k) for name in ("FIRST", "NANNE") for k in range(2)]
    run(tasks, 1, tmp_path / "one")
    run(tasks, 2, tmp_path / "two")
    for name in ("FIRST", "NANNE"):
        one, two = (Store(name, tmp_path / folder).read().drop("seconds") for folder in ("one", "two"))
        assert one.equals(two)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="kills a process by a signal")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_goes_on_where_it_stopped(tmp_path, how):
    arguments = ["run", "estimators", "--methods", "NANNE", "--jobs", "1", "--results", str(tmp_path)]
    command = [sys.executable, "-m", "study", *arguments, "--reps", "100"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    store = Store("NANNE", tmp_path)
    deadline = time.monotonic() + 120
    while len(store.done()) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(how)
    assert process.wait(timeout=60) == (130 if how == signal.SIGINT else -how)
    before = store.read().drop("seconds")
    assert len(before) >= 3
    reps = before["repetition"].max() + 2
    assert CliRunner().invoke(app, [*arguments, "--reps", str(reps)]).exit_code == 0
    after = store.read().drop("seconds")
    assert sorted(after["repetition"]) == list(range(reps))
    assert after.filter(after["repetition"].is_in(before["repetition"])).equals(before.sort("repetition"))


def test_a_table_with_too_few_rows_is_no_reason_to_warn():
    row = perform(Task(Setting("friedman", 60, 10, part="model"), "NEAREST", 0))
    assert row.certainty.distance_share > 0.1 and len(row.certainty.p_values) == 10


@pytest.fixture
def no_warm_up(monkeypatch):
    """Without the run that comes before the first one, which only the measured time needs."""
    monkeypatch.setattr(runner, "_warm_up_once", lambda _: None)


def assert_comes_out_again(row):
    setting = Setting(*(row[key] for key in ("source", "n_rows", "n_factors", "correlation", "classes", "part")))
    again = perform(Task(setting, row["method"], row["repetition"]))
    assert again.factors == row["factors"] and again.selected == row["selected"]
    assert again.importances == pytest.approx(row["importances"], rel=1e-6)
    assert row["ceiling"] is None or again.ceiling == pytest.approx(row["ceiling"], rel=1e-6)
    if row["certainty"] is not None:
        stored = {field: value for field, value in row["certainty"].items() if value is not None}  # not all always were
        for field, value in stored.items():
            assert getattr(again.certainty, field) == pytest.approx(value, rel=1e-5, abs=1e-6, nan_ok=True)
    assert again.p_value == pytest.approx(row["p_value"])
    assert again.error == pytest.approx(row["error"]) and again.error_of_all == pytest.approx(row["error_of_all"])


@pytest.mark.slow
@needs_stored_rows
@pytest.mark.usefixtures("no_warm_up")
@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("FIRST-INTEGERS", "CALIBRATED-NEXT")])
def test_stored_rows_come_out_again_from_their_seeds(name):
    for method, package in (("PYFIRST-RANK", "pyfirst"), ("KNOCKOFFS", "hidimstat")):
        if name == method:
            pytest.importorskip(package)
    if not Store(name).path.exists():
        pytest.skip("the method has not been run yet")
    stored = Store(name).read()
    simulated = ~stored["part"].is_in(["original", "whole", "train", "subset", "shuffled", "fold"])
    most = 300 if name in ("KNOCKOFFS", "CALIBRATED-FDR") else 10
    rows = stored.filter(simulated, stored["n_factors"] <= most).sort("repetition", "correlation")
    if name in SLOW:
        rows = rows.sort("seconds").head(1)
    assert_comes_out_again(rows.row(len(rows) // 2, named=True))


@pytest.mark.skipif(not Store("CALIBRATED-NEXT").path.exists(), reason="the experiment has not been run yet")
@pytest.mark.usefixtures("no_warm_up")
def test_stored_p_values_of_the_next_step_come_out_again():
    rows = Store("CALIBRATED-NEXT").read()
    assert_comes_out_again(rows.row(len(rows) // 2, named=True))


@needs_stored_rows
@pytest.mark.usefixtures("no_warm_up")
@pytest.mark.parametrize("setting", [*EVERYDAY_NOISE, PANEL, *MISSING], ids=label)
def test_stored_rows_of_everyday_data_come_out_again(setting):
    stored = Store("EXTRAPOLATED" if setting == PANEL else "FIRST").read()
    rows = stored.filter(stored["source"] == setting.source, stored["part"] == setting.part)
    rows = rows.filter(rows["n_rows"] == setting.n_rows, rows["n_factors"] == setting.n_factors)
    assert_comes_out_again(rows.row(len(rows) // 2, named=True))


@needs_stored_rows
@pytest.mark.skipif(not TABLES.is_dir(), reason="the real tables are in a folder that is not part of the project")
@pytest.mark.parametrize(("name", "table"), [("FIRST", "titanic"), ("FIRST-INTEGERS", "auto_mpg")])
def test_stored_rows_of_real_tables_come_out_again(name, table, monkeypatch):
    monkeypatch.setenv("FIRSTFACTOR_DATA", str(TABLES))
    stored = Store(name).read()
    rows = stored.filter(stored["source"] == table, stored["part"] == "train")
    assert_comes_out_again(rows.row(len(rows) // 2, named=True))
