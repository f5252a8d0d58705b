"""Experiments are stored row by row, go on where they stopped, and give the same rows again."""

import contextlib
import fcntl
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import spearmanr
from scripts import run_script
from typer.testing import CliRunner

from firstfactor import problems
from study.__main__ import app
from study.data.setting import Setting, subset
from study.methods import ours
from study.methods.outcome import Certainty
from study.methods.registry import NAMES, method
from study.runs.experiments import ALL, BY_NAME
from study.runs.runner import missing, perform, run
from study.runs.store import RESULTS, Row, Store, Task

ROOT = Path(__file__).parents[1]
TABLES = Path(os.environ.get("FIRSTFACTOR_DATA", ROOT.parent / "shared" / "data"))
SMALL = Setting("ishigami", 60, 3)
ESTIMATING = {"NEAREST", "NEAREST-SUBSAMPLE", "EXTRAPOLATED", "EXTRAPOLATED-SUBSAMPLE"}
ONLY_RANKING = {"FILTER", "RF", "RF-SHAP", *ESTIMATING}


def row_of(repetition, method="FIRST"):
    return Row(Task(SMALL, method, repetition), [0, 2], [0.25, 0.5], [0, 2], None, None, 0.1)


def fill(store, repetitions):
    with store.appending() as appender:
        for repetition in repetitions:
            appender.append(row_of(repetition))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "VIMP-ACC"])
def test_every_method_finds_the_one_factor_that_matters(name):
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(150, 3))
    y = 3 * X[:, 1] + 0.1 * rng.normal(size=150)
    if name == "FIRST-INTEGERS":
        X = pytest.importorskip("pandas").DataFrame(X, columns=["a", "b", "c"])
    outcome = method(name)(X, y, 0)
    assert outcome.importances.shape == (3,) and (outcome.importances >= 0).all()
    assert outcome.importances.argmax() == 1
    assert (outcome.selected is None) == (name in ONLY_RANKING)
    assert outcome.selected is None or 1 in outcome.selected
    again = method(name)(X, y, 0)
    assert np.array_equal(again.importances, outcome.importances) and again.selected == outcome.selected


@pytest.mark.parametrize(
    "name", ["FIRST", "FIRST-FAST", "CALIBRATED", "NANNE-BE", "LASSO", "RF-VS", "COSSO", "VIMP-ACC", "KFOCI"]
)
def test_every_method_for_classes_finds_the_one_factor_that_matters(name):
    rng = np.random.default_rng(2)
    X = rng.uniform(size=(300, 3))
    outcome = method(name)(X, X[:, 1] + 0.1 * rng.normal(size=300) > 0.5, 0)
    assert outcome.importances.argmax() == 1 and 1 in outcome.selected


def test_rows_come_back_as_they_were_stored(tmp_path):
    store = Store("FIRST", tmp_path)
    fill(store, range(3))
    assert store.done() == {Task(SMALL, "FIRST", k) for k in range(3)}
    assert store.read()["importances"].to_list() == [[0.25, 0.5]] * 3
    assert store.read()["error"].to_list() == [None] * 3


def test_how_sure_an_estimate_is_comes_back_as_it_was_stored(tmp_path):
    store, certainty = Store("NEAREST", tmp_path), Certainty([0.5, 0.25], [0.125, 1.0], 0.0625, 0.75)
    of_selection = row_of(0, "NEAREST")
    of_estimate = Row(Task(SMALL, "NEAREST", 1), [1], [0.5], None, None, None, 0.1, 0.75, certainty)
    with store.appending() as appender:
        appender.append(of_estimate)
        appender.append(of_selection)
    assert store.read()["ceiling"].to_list() == [None, 0.75]
    assert store.read()["certainty"].to_list() == [None, vars(certainty)]


@pytest.mark.parametrize("bytes_lost", [13, 40, 300, 1400])
def test_a_row_cut_off_in_the_middle_is_forgotten_and_all_others_are_kept(tmp_path, bytes_lost):
    store = Store("FIRST", tmp_path)
    fill(store, range(2))
    with pytest.raises(pa.ArrowException):
        fill(store, [2, 3, "not a number"])
    os.truncate(store.path, store.path.stat().st_size - bytes_lost)
    assert {task.repetition for task in store.done()} == {0, 1, 2}
    fill(store, [3, 4])
    assert sorted(task.repetition for task in store.done()) == [0, 1, 2, 3, 4] and len(store.read()) == 5


@pytest.mark.parametrize("bytes_lost", [1, 4, 5, 12])
def test_no_row_is_lost_with_the_end_of_a_file(tmp_path, bytes_lost):
    store = Store("FIRST", tmp_path)
    with pytest.raises(pa.ArrowException):
        fill(store, [0, 1, "not a number"])
    os.truncate(store.path, store.path.stat().st_size - bytes_lost)
    fill(store, [2])
    assert sorted(task.repetition for task in store.done()) == [0, 1, 2]


FLIP_BYTES = """
    from pathlib import Path
    from study.store import Store

    store = Store("FIRST", Path({folder!r}))
    whole, rows = store.path.read_bytes(), store.read()
    for position in range(0, len(whole), {step}):
        flipped = bytearray(whole)
        flipped[position] ^= 0xFF
        store.path.write_bytes(flipped)
        try:
            outcome = "same" if store.read().equals(rows) else "other" if len(store.read()) == len(rows) else "fewer"
        except ValueError as error:
            outcome = "refused" if "FIRST.arrows is damaged" in str(error) else str(error)
        print(outcome)
"""


@pytest.mark.parametrize(
    ("state", "allowed"),
    [
        ("appended", {"refused"}),
        ("packed", {"refused"}),
        ("without checksum", {"refused", "same", "other"}),  # which was not stored always
    ],
)
def test_a_flipped_byte_never_loses_rows_and_never_ends_the_process(tmp_path, state, allowed):
    store = Store("FIRST", tmp_path)
    with contextlib.suppress(pa.ArrowException):
        fill(store, [0, 1, 2, "not a number"] if state == "appended" else range(100))
    if state == "without checksum":
        os.truncate(store.path, store.path.stat().st_size - 4)
        assert len(store.read()) == 100
    outcomes = run_script(FLIP_BYTES.format(folder=str(tmp_path), step=1 if state != "appended" else 3))
    assert {"refused"} <= set(outcomes.split()) <= allowed


def flip_a_byte(data):
    return data[:2000] + bytes([data[2000] ^ 1]) + data[2001:]


@pytest.mark.parametrize(
    "damage",
    [
        flip_a_byte,
        lambda _: b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 233512\n",
        lambda data: data[:1800],  # packed rows are put in place as a whole: no run that was killed leaves this
        lambda data: data[:-300],
        lambda data: data + b"more",
        lambda data: data[600:],
    ],
)
def test_a_damaged_file_is_refused_and_left_as_it_is(tmp_path, damage):
    store = Store("FIRST", tmp_path)
    fill(store, range(100))
    damaged = damage(store.path.read_bytes())
    store.path.write_bytes(damaged)
    message = rf"{re.escape(str(store.path))} is damaged, or holds no results: .+ Restore it, or move it away"
    with pytest.raises(ValueError, match=message):
        store.done()
    with pytest.raises(ValueError, match=message):
        fill(store, [100])
    assert store.path.read_bytes() == damaged


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that cannot be read")
def test_a_file_that_cannot_be_read_is_not_empty(tmp_path):
    store = Store("FIRST", tmp_path)
    store.path.symlink_to("/proc/self/mem")
    with pytest.raises(ValueError, match=r"FIRST\.arrows is damaged, or holds no results: .*Input/output error"):
        store.done()


def test_stored_files_are_valid():
    assert all(len(Store(path.stem).read()) for path in sorted(RESULTS.glob("*.arrows")))


def test_two_runs_that_meet_between_opening_and_locking_lose_no_rows(tmp_path, monkeypatch):
    store, flock = Store("FIRST", tmp_path), fcntl.flock
    fill(store, [0])

    def let_another_run_end_first(file, how):
        monkeypatch.undo()
        fill(store, [1, 2])
        flock(file, how)

    monkeypatch.setattr(fcntl, "flock", let_another_run_end_first)
    fill(store, [3])
    assert sorted(task.repetition for task in store.done()) == [0, 1, 2, 3]


def test_two_runs_cannot_write_the_same_file(tmp_path):
    store = Store("FIRST", tmp_path)
    message = r"FIRST\.arrows is being written by another run; wait for it to end\."
    with store.appending(), pytest.raises(RuntimeError, match=message), store.appending():
        pass


def test_a_finished_row_is_never_computed_again(tmp_path, monkeypatch):
    tasks = [Task(SMALL, "FIRST", k) for k in range(4)]
    assert run(tasks[:2], 1, tmp_path) == 2
    calls = []
    monkeypatch.setitem(ours.OURS, "FIRST", lambda X, y, seed: calls.append(seed) or ours.first(X, y, seed))
    assert run(tasks, 1, tmp_path) == 2
    assert sorted(calls) == [2, 3]
    assert missing(tasks, tmp_path) == [] and run(tasks, 1, tmp_path) == 0


def test_rows_do_not_depend_on_the_number_of_processes(tmp_path):
    tasks = [Task(SMALL, name, k) for name in ("FIRST", "NANNE") for k in range(2)]
    run(tasks, 1, tmp_path / "one")
    run(tasks, 2, tmp_path / "two")
    for name in ("FIRST", "NANNE"):
        one, two = (Store(name, tmp_path / folder).read().drop("seconds") for folder in ("one", "two"))
        assert one.equals(two)


@pytest.mark.skipif(os.name == "nt", reason="kills a process by a signal")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_goes_on_where_it_stopped(tmp_path, how):
    command = [sys.executable, "-m", "study", "run", "estimators", "--jobs", "1", "--results", str(tmp_path)]
    process = subprocess.Popen([*command, "--reps", "100"], cwd=ROOT, stdout=subprocess.DEVNULL)
    store = Store("NANNE", tmp_path)
    deadline = time.monotonic() + 120
    while len(store.done()) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(how)
    assert process.wait(timeout=60) == (130 if how == signal.SIGINT else -how)
    before = store.read().drop("seconds")
    assert len(before) >= 3
    reps = before["repetition"].max() + 2
    subprocess.run([*command, "--reps", str(reps)], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    after = store.read().drop("seconds")
    assert sorted(after["repetition"]) == list(range(reps))
    assert after.filter(after["repetition"].is_in(before["repetition"])).equals(before.sort("repetition"))


def test_the_subsets_of_a_table_are_numbered_in_binary():
    assert [subset(number) for number in (1, 2, 5)] == [[0], [1], [0, 2]]


def test_every_repetition_and_setting_has_data_of_its_own():
    drawn = [Setting("friedman", 20, 10, rho).draw(k)[0] for rho in (0.0, 0.5) for k in (0, 1)]
    assert len({X.tobytes() for X in drawn}) == 4
    assert np.array_equal(drawn[0], Setting("friedman", 20, 10, 0.0).draw(0)[0])


@pytest.mark.parametrize(("n_factors", "columns"), [(5, [0, 6, 7, 8, 9]), (7, [0, 6, 7, 8, 9, 1, 2])])
def test_the_factors_of_a_model_come_first_and_others_after_them(n_factors, columns):
    setting = Setting("friedman", 20, n_factors, 0.8, part="model")
    X, y = setting.draw(3)
    whole, same_y = problems.friedman.sample(20, 10, 0.8, seed=setting.rng(3))
    assert np.array_equal(X, whole[:, columns]) and np.array_equal(y, same_y)
    assert setting.true_factors == (0, 1, 2, 3, 4)


def test_mixed_factors_are_numbers_whole_numbers_and_categories():
    X, y = Setting("noise-mixed", 500, 20).draw(0)
    assert X.shape == (500, 20) and y.dtype == float
    assert all(X.iloc[:, j].dtype == float for j in range(10))
    assert all(set(X.iloc[:, j]) == set(range(10)) for j in range(10, 15))
    assert [X.iloc[:, j].nunique() for j in range(15, 20)] == [2, 3, 4, 5, 6]
    assert all(X.iloc[:, j].dtype == "category" for j in range(15, 20))


@pytest.mark.parametrize("source", ["noise", "noise-cauchy", "noise-mixed"])
def test_noise_does_not_depend_on_any_factor(source):
    setting = Setting(source, 2000, 8)
    X, y = setting.draw(0)
    columns = X.T if isinstance(X, np.ndarray) else [X[name].factorize()[0] for name in X]
    assert setting.true_factors == ()
    assert min(spearmanr(column, y).pvalue for column in columns) > 0.001


def test_a_mixed_response_depends_on_its_true_factors_alone():
    setting = Setting("mixed", 2000, 6)
    X, y = setting.draw(0)
    small = [j for j in range(6) if spearmanr(X.iloc[:, j].factorize(sort=True)[0], y).pvalue < 1e-6]
    assert tuple(small) == setting.true_factors


def test_two_classes_of_noise_are_about_as_frequent():
    _, y = Setting("noise", 1000, 10, classes=True).draw(0)
    assert y.dtype == bool and 0.45 < y.mean() < 0.55


def test_a_table_with_too_few_rows_is_no_reason_to_warn():
    row = perform(Task(Setting("friedman", 60, 10, part="model"), "NEAREST", 0))
    assert row.certainty.distance_share > 0.1 and len(row.certainty.p_values) == 10


def test_what_cannot_be_run_is_refused_with_what_can():
    for arguments, message in (
        (["run", "nothing"], "there is no experiment 'nothing'; there are estimators, importance,"),
        (["run", "estimators", "--methods", "NANNE,SVM"], "there is no method 'SVM'; there are FIRST, FIRST-FAST,"),
    ):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 2
        assert message in " ".join(result.output.replace("│", " ").split())


def test_a_table_that_is_missing_is_told_in_one_line(tmp_path):
    nowhere = tmp_path / "nowhere"
    arguments = ["run", "regression-tables", "--reps", "1", "--jobs", "1", "--results", str(tmp_path)]
    result = CliRunner(env={"FIRSTFACTOR_DATA": None}).invoke(app, [*arguments, "--data", str(nowhere)])
    assert result.exit_code == 1
    assert result.output.startswith("regression-tables: error: folder must be a directory with the tables of the study")
    assert "Traceback" not in result.output


def test_the_list_names_every_experiment(tmp_path):
    result = CliRunner().invoke(app, ["list", "--results", str(tmp_path)])
    assert [line.split()[0] for line in result.output.splitlines()] == [experiment.name for experiment in ALL]


def test_experiments_that_show_the_same_runs_share_them():
    ranking, selection = (set(BY_NAME[name].tasks(methods=["FIRST"])) for name in ("ranking", "selection"))
    assert ranking == selection


def assert_comes_out_again(row):
    setting = Setting(*(row[key] for key in ("source", "n_rows", "n_factors", "correlation", "classes", "part")))
    again = perform(Task(setting, row["method"], row["repetition"]))
    assert again.factors == row["factors"] and again.selected == row["selected"]
    assert again.importances == pytest.approx(row["importances"], rel=1e-6)
    assert row["ceiling"] is None or again.ceiling == pytest.approx(row["ceiling"], rel=1e-6)
    if row["certainty"] is not None:
        for field, value in row["certainty"].items():
            assert getattr(again.certainty, field) == pytest.approx(value, rel=1e-5, abs=1e-6)
    assert again.error == pytest.approx(row["error"]) and again.error_of_all == pytest.approx(row["error_of_all"])


@pytest.mark.parametrize("name", [name for name in NAMES if name != "FIRST-INTEGERS"])
def test_stored_rows_come_out_again_from_their_seeds(name):
    stored = Store(name).read()
    simulated = stored["part"].is_in(["drawn", "model"])
    rows = stored.filter(simulated, stored["n_factors"] <= 10).sort("repetition", "correlation")
    assert_comes_out_again(rows.row(len(rows) // 2, named=True))


@pytest.mark.skipif(not TABLES.is_dir(), reason="the real tables are in a folder that is not part of the project")
@pytest.mark.parametrize(("name", "table"), [("FIRST", "titanic"), ("FIRST-INTEGERS", "auto_mpg")])
def test_stored_rows_of_real_tables_come_out_again(name, table, monkeypatch):
    monkeypatch.setenv("FIRSTFACTOR_DATA", str(TABLES))
    stored = Store(name).read()
    rows = stored.filter(stored["source"] == table, stored["part"] == "train")
    assert_comes_out_again(rows.row(len(rows) // 2, named=True))


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
