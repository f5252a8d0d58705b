"""Rows are stored one by one; no damage to a file goes unnoticed, and none loses rows."""

import contextlib
import fcntl
import os
import re
from pathlib import Path

import pyarrow as pa
import pytest
from scripts import run_script

from study.methods.outcome import Certainty
from study.runs.store import BEFORE_INTERVALS, RESULTS, SCHEMA, Row, Store, Task
from study.runs.stream import pack
from tests.study.rows import SMALL, as_table, fill, needs_stored_rows, row_of


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


def test_intervals_and_p_values_come_back_as_they_were_stored(tmp_path):
    certainty = Certainty([0.5], [0.125], 0.0625, 0.75, [0.25], [0.75], [0.5, 1.0])
    store = Store("EXTRAPOLATED", tmp_path)
    with store.appending() as appender:
        appender.append(Row(Task(SMALL, "EXTRAPOLATED", 0), [], [], None, None, None, 0.1, 0.75, certainty, 0.1))
    assert store.read()["certainty"].to_list() == [vars(certainty)] and store.read()["p_value"].to_list() == [0.1]


class TestOlderFiles:
    """Files from before intervals were stored."""

    @pytest.fixture
    def store(self, tmp_path):
        certainty = Certainty([0.5], [0.125], 0.0625, 0.75)
        rows = [
            Row(Task(SMALL, "NEAREST", 0), [1], [0.5], None, None, None, 0.1, 0.75, certainty),
            row_of(1, "NEAREST"),
        ]
        store = Store("NEAREST", tmp_path)
        store.path.write_bytes(pack(self.as_before(as_table(rows)), pa.Codec("zstd")))
        return store

    def as_before(self, table):
        return pa.Table.from_pylist(table.to_pylist(), schema=BEFORE_INTERVALS)

    def test_their_rows_have_no_intervals(self, store):
        rows = store.read()
        assert rows.columns == SCHEMA.names and rows["p_value"].to_list() == [None, None]
        assert rows["certainty"].to_list() == [vars(Certainty([0.5], [0.125], 0.0625, 0.75)), None]

    def test_more_rows_can_be_added(self, store):
        before = store.read()
        with store.appending() as appender:
            appender.append(row_of(2, "NEAREST"))
        assert store.read()[:2].equals(before) and store.read()["repetition"].to_list() == [0, 1, 2]

    @pytest.mark.parametrize("bytes_lost", [1, 40, 300])
    def test_a_row_that_was_cut_off_is_forgotten(self, store, bytes_lost):
        whole = store.path.read_bytes()
        (batch,) = self.as_before(as_table([row_of(2, "NEAREST")])).to_batches()
        torn = whole[:-12] + batch.serialize().to_pybytes()[:-bytes_lost]
        store.path.write_bytes(torn)
        assert len(store.read()) == 2
        with store.appending() as appender:
            appender.append(row_of(3, "NEAREST"))
        assert sorted(store.read()["repetition"]) == [0, 1, 3]

    def test_damage_is_not_taken_for_age(self, store):
        data = store.path.read_bytes()
        store.path.write_bytes(data[:900] + bytes([data[900] ^ 1]) + data[901:])
        with pytest.raises(ValueError, match=r"NEAREST\.arrows is damaged"):
            store.read()


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
    import os
    from pathlib import Path
    from study.runs.store import Store

    def outcome(store, rows):
        try:
            read = store.read()
        except ValueError as error:
            return "refused" if "FIRST.arrows is damaged" in str(error) else str(error)
        return "same" if read.equals(rows) else "other" if len(read) == len(rows) else "fewer"

    for folder, step in {folders!r}.items():
        store, outcomes = Store("FIRST", Path(folder)), set()
        whole, rows = store.path.read_bytes(), store.read()
        file = os.open(store.path, os.O_RDWR)  # bytes are changed in place: to write the file anew takes far longer
        for position in range(0, len(whole), step):
            os.pwrite(file, bytes([whole[position] ^ 0xFF]), position)
            outcomes.add(outcome(store, rows))
            os.pwrite(file, whole[position : position + 1], position)
        print(*outcomes, sep=",")
"""


@pytest.fixture(scope="module")
def outcomes_of_flips(tmp_path_factory):
    """What comes of a file in which one byte is another, for every byte and state of the file."""
    folders = {state: tmp_path_factory.mktemp("flipped") for state in ("appended", "packed", "without checksum")}
    for state, folder in folders.items():
        store = Store("FIRST", folder)
        with contextlib.suppress(pa.ArrowException):
            fill(store, [0, 1, 2, "not a number"] if state == "appended" else range(100))
        if state == "without checksum":
            os.truncate(store.path, store.path.stat().st_size - 4)
            assert len(store.read()) == 100
    steps = {str(folder): 3 if state == "appended" else 1 for state, folder in folders.items()}
    lines = run_script(FLIP_BYTES.format(folders=steps)).splitlines()
    return {state: set(line.split(",")) for state, line in zip(folders, lines, strict=True)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("state", "allowed"),
    [
        ("appended", {"refused"}),
        ("packed", {"refused"}),
        ("without checksum", {"refused", "same", "other"}),  # which was not stored always
    ],
)
def test_a_flipped_byte_never_loses_rows_and_never_ends_the_process(outcomes_of_flips, state, allowed):
    assert {"refused"} <= outcomes_of_flips[state] <= allowed


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


@needs_stored_rows
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
