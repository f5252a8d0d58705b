"""Tables that stay in their files: the same answer to the last bit, in little memory, or a clear error."""

import contextlib
import datetime
import errno
import gc
import gzip
import json
import os
import re
import subprocess
import sys
import textwrap
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from firstfactor import rank
from firstfactor._utils import memory
from firstfactor._utils.memory import parse_size, say_bytes
from firstfactor.ranking import _load
from firstfactor.settings import RankSettings
from firstfactor.tables import out_of_core
from firstfactor.tables.inventory import ColumnInfo
from firstfactor.tables.out_of_core import Plan, StoredFrame

ROWS = 400
SLOW = pytest.mark.slow
NO_FACTORS = ["z", "kind", "weight", "person"]


@pytest.fixture(scope="module")
def frame():
    """A table with columns of all kinds."""
    rng = np.random.default_rng(0)
    X = {f"x{j}": rng.uniform(size=ROWS) for j in range(12)}
    y = 10 * np.sin(np.pi * X["x0"] * X["x1"]) + 10 * X["x2"] + rng.normal(size=ROWS)
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=int(k)) for k in rng.integers(0, 700, ROWS)]
    return pl.DataFrame(X).with_columns(
        pl.Series("text", rng.choice(["ash", " elm", "oak"], ROWS)),
        pl.Series("labels", rng.choice(["u", "v", "w"], ROWS)).cast(pl.Categorical),
        pl.Series("count", rng.integers(0, 5, ROWS)),
        pl.Series("whole", rng.integers(0, 4, ROWS).astype(float)),
        pl.Series("large", (2**60 + rng.integers(0, 50, ROWS)).tolist()),
        pl.Series("day", days),
        pl.Series("gaps", [None if u < 0.1 else u for u in rng.uniform(size=ROWS)]),
        pl.Series("weight", rng.uniform(0.5, 2, ROWS)),
        pl.Series("person", rng.integers(0, 60, ROWS)),
        pl.Series("y", [None if k % 97 == 0 else value for k, value in enumerate(y)]),
        pl.Series("z", y + rng.normal(size=ROWS)),
        pl.Series("kind", np.where(y > 10, "high", "low")),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory, frame):
    """The table in several formats."""
    folder = tmp_path_factory.mktemp("stored")
    frame.write_parquet(folder / "t.parquet", row_group_size=150)
    frame.write_ipc(folder / "t.arrow")
    frame.write_csv(folder / "t.csv")
    frame.write_ndjson(folder / "t.jsonl")
    (folder / "t.csv.gz").write_bytes(gzip.compress((folder / "t.csv").read_bytes()))
    (folder / "many").mkdir()
    for k, start in enumerate((0, 100, 250)):
        frame[start : (100, 250, ROWS)[k]].write_parquet(folder / "many" / f"{k}.parquet")
    return folder


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder for temporary files, which has none at the end."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    yield folder
    if any(folder.iterdir()):  # a table in a cycle; collecting them all takes longer than most of these tests
        gc.collect()
    assert not any(folder.iterdir())


def read(data, target="y", **options):
    """The table that `rank` would analyse."""
    files = (str(data),) if data.is_file() else tuple(map(str, sorted(data.iterdir())))
    return _load(str(data), files, target, RankSettings.parse(options), lambda _: None)[0]


def rank_small(monkeypatch, *arguments, **options):
    """Rank with no room for any column that is not in use."""
    monkeypatch.setattr(out_of_core.Budget, "plan", lambda *_: Plan(at_a_time=1, room=0, jobs=2))
    return rank(*arguments, memory="4GB", **options)


def assert_same(stored, in_memory):
    ours, theirs = stored.indices, in_memory.indices
    assert np.array_equal(ours.values, theirs.values) and ours.kept == theirs.kept
    assert ours.noise_variance == theirs.noise_variance and ours.findings == theirs.findings
    assert np.array_equal(ours.standard_errors, theirs.standard_errors, equal_nan=True)
    for a, b in zip(ours.path.steps, theirs.path.steps, strict=True) if theirs.path else ():
        assert a.candidates == b.candidates and np.array_equal(a.explained, b.explained)
    assert stored.notes() == in_memory.notes() and stored.to_csv() == in_memory.to_csv()
    assert stored.dataset.column_options == in_memory.dataset.column_options


# --- the same table, the same answer ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["t.parquet", "t.csv", *(pytest.param(n, marks=SLOW) for n in ("t.arrow", "t.jsonl", "t.csv.gz", "many"))]
)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"missing": "drop"},
        {"sample": 200, "seed": 3},
        {"categorical": ["count", "whole", "day", "large"]},
        {"date_parts": True, "drop": ["x1"]},
        {"na": ["ash"], "missing": "drop"},
    ],
    ids=lambda options: ",".join(options) or "all",
)
@pytest.mark.usefixtures("temporary")
def test_columns_are_those_of_the_table_in_memory(folder, name, options):
    ref, comp = read(folder / name, **options), read(folder / name, memory="4GB", **options)
    assert isinstance(comp.X, StoredFrame) and len(comp.X) == len(ref.X) == len(comp.y)
    assert comp.X.columns == ref.X.columns and comp.dropped == ref.dropped and comp.remarks == ref.remarks
    assert_frame_equal(comp.X.read(range(len(ref.X.columns))), ref.X)
    for j in (3, len(ref.X.columns) - 1):
        assert_frame_equal(comp.X.read([j, 0]), ref.X[:, [j, 0]])
    assert comp.y.equals(ref.y) and comp.date_parts == ref.date_parts and comp.left_out == ref.left_out
    comp.close()


@pytest.mark.parametrize(
    "options",
    [
        {"drop": NO_FACTORS},
        {"drop": NO_FACTORS, "method": "first-fast", "n_outer": 100},
        {"drop": NO_FACTORS, "missing": "drop", "split": True},
        {"drop": ["z", "kind"], "weight": "weight", "groups": "person"},
        {"drop": [*NO_FACTORS[1:]], "target": ["y", "z"]},
        {"drop": ["y", "z", "weight", "person"], "target": "kind"},
        {"drop": NO_FACTORS, "factor_groups": {"pair": ["x1", "x9"]}, "period": {"x2": 1.0}, "date_parts": True},
        {"factors": ["x0", "x1", "x2", "text", "gaps"], "method": "backward"},
        {"factors": ["x0", "x1", "x2", "text", "gaps"], "method": "total"},
    ],
    ids=lambda options: ",".join(options),
)
@pytest.mark.parametrize("name", ["t.parquet", pytest.param("t.csv", marks=SLOW)])
@pytest.mark.usefixtures("temporary")
def test_results_have_the_same_bits(folder, monkeypatch, name, options):
    options = dict(options)
    target = options.pop("target", "y")
    in_memory = rank(folder / name, target, **options)
    assert_same(rank(folder / name, target, memory="4GB", **options), in_memory)
    assert_same(rank_small(monkeypatch, folder / name, target, **options), in_memory)


@pytest.mark.slow
def test_so_many_pairs_that_only_the_best_are_tried(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(400, 210))
    y = (X[:, 3] - 0.5) * (X[:, 80] - 0.5) + 0.01 * rng.normal(size=400)
    pl.DataFrame(X, schema=[f"x{j}" for j in range(210)]).with_columns(y=y).write_parquet(tmp_path / "t.parquet")
    in_memory = rank(tmp_path / "t.parquet", "y")
    assert {"x3", "x80"} <= {in_memory.indices.names[i] for i in in_memory.indices.kept}
    assert_same(rank_small(monkeypatch, tmp_path / "t.parquet", "y"), in_memory)


@pytest.mark.slow
@pytest.mark.usefixtures("temporary")
def test_a_page_is_the_same(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    for options in ({}, {"missing": "drop"}, {"weight": "weight", "date_parts": True}):
        drop = [name for name in NO_FACTORS if name not in options.values()]
        pages = []
        for most in (None, "4GB"):
            ranking = rank(folder / "t.csv", "y", drop=drop, memory=most, **options)
            ranking.report(tmp_path / "page.html")
            pages.append((tmp_path / "page.html").read_text())
            settings = json.loads(ranking.to_json())["settings"]
            assert settings["memory"] == most
        without = re.sub(r"[^\n]*memory[^\n]*4GB[^\n]*\n", "", pages[1])
        assert without == pages[0] and pages[1] != pages[0]
        del ranking


def test_only_what_a_page_shows_is_read(folder, tmp_path, monkeypatch):
    ranking = rank(folder / "t.parquet", "y", drop=NO_FACTORS, memory="4GB")
    read = []
    plain = StoredFrame._files_read
    monkeypatch.setattr(
        StoredFrame,
        "_files_read",
        lambda self, columns: read.append([column.name for column in columns]) or plain(self, columns),
    )
    monkeypatch.setattr("firstfactor.reporting.data_summary.MOST_SUMMARIES", 0)
    ranking.report(tmp_path / "page.html")
    drawn = {ranking.indices.names[i] for i in ranking.indices.selected}
    assert {name for names in read for name in names} == drawn and max(map(len, read)) <= len(drawn)


# --- temporary files -------------------------------------------------------------------------------------


def test_a_converted_file_lasts_as_long_as_the_result(folder, temporary):
    said = []
    ranking = rank(folder / "t.csv", "y", memory="4GB", method="first-fast", progress=said.append)
    assert f"converting t.csv to Parquet in {temporary}" in said
    assert len(list(temporary.iterdir())) == 1
    ranking.dataset.close()
    assert not any(temporary.iterdir())
    again = rank(folder / "t.csv.gz", "y", memory="4GB", method="first-fast")
    assert len(list(temporary.iterdir())) == 1  # the unpacked copy is gone
    del again


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_what_ends_a_run_removes_it(folder, temporary, monkeypatch, error):
    def stop(*_):
        assert any(temporary.iterdir())
        raise error

    monkeypatch.setattr("firstfactor.ranking._estimate", stop)
    with pytest.raises(error):
        rank(folder / "t.csv", "y", memory="4GB")
    assert not any(temporary.iterdir())


def test_an_interrupt_while_converting_leaves_nothing(folder, temporary, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(pl.LazyFrame, "sink_parquet", stop)
    with pytest.raises(KeyboardInterrupt):
        rank(folder / "t.csv", "y", memory="4GB")
    assert not any(temporary.iterdir()) and "POLARS_CSV_CHUNK_SIZE" not in os.environ


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_is_told_with_the_folder(folder, temporary, monkeypatch):
    sink = pl.LazyFrame.sink_parquet
    monkeypatch.setattr(pl.LazyFrame, "sink_parquet", lambda self, _, **how: sink(self, "/dev/full", **how))
    with pytest.raises(OSError, match=re.escape(f"in {str(temporary)!r}: no space is left. Set TMPDIR to a folder")):
        rank(folder / "t.csv", "y", memory="4GB")


def test_a_folder_that_cannot_be_written_to_is_told(folder, monkeypatch):
    def refuse(_):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(out_of_core, "temporary_file", refuse)
    with pytest.raises(OSError, match=r"cannot be converted to Parquet in '.*': Permission denied\. Set TMPDIR"):
        rank(folder / "t.csv", "y", memory="4GB")


@pytest.mark.usefixtures("temporary")
def test_a_fault_that_shows_late_is_told_by_line(tmp_path):
    (tmp_path / "bad.csv").write_text("x,y\n" + "1,2\n3,5\n" * 20 + "inf,1\n")
    with pytest.raises(ValueError, match=r"column 'x' of bad\.csv has an infinite value on line 42"):
        rank(tmp_path / "bad.csv", "y", memory="4GB")


# --- files that change -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("change", "happened"), [("append", "changed"), ("remove", "removed"), ("damage", "changed")])
@pytest.mark.parametrize("name", ["t.parquet", "many"])
def test_a_file_that_changes_in_the_middle_is_told(folder, tmp_path, name, change, happened):
    source = folder / name if name != "many" else folder / "many" / "1.parquet"
    data = tmp_path / "data"
    data.mkdir()
    for part in [source] if name != "many" else (folder / "many").iterdir():
        (data / part.name).write_bytes(part.read_bytes())
    file = data / source.name
    dataset = read(data if name == "many" else file, memory="4GB")
    dataset.X.read([0, 1])
    if change == "remove":
        file.unlink()
    else:
        content = file.read_bytes()
        file.write_bytes(content + b" " if change == "append" else b"\0" * len(content))
        os.utime(file, (0, 0))
    with pytest.raises(ValueError, match=f"^{file.name} was {happened} while it was read. Run again"):
        dataset.X.read([2, 3])


# --- limits ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "size"),
    [("4GB", 4e9), ("500 mb", 5e8), ("2GiB", 2**31), ("1.5g", 1.5e9), ("8 KiB", 8192), ("2TB", 2e12), (10**9, 1e9),
     ("1000000000", 1e9), (" 3 MB ", 3e6), ("7 bytes", 7)],
)  # fmt: skip
def test_sizes_as_people_write_them(said, size):
    assert parse_size("memory", said) == int(size)


@pytest.mark.parametrize("wrong", ["", "much", "4 GBs", "-1GB", "0GB", 0, -5, 2.5, "4iB", True, "1e9", "nan"])
def test_what_is_no_size_is_refused(wrong):
    with pytest.raises(ValueError, match="memory must be a size above 0 such as '4GB', '500MB' or '2GiB', or a number"):
        rank("t.parquet", "y", memory=wrong)


def test_sizes_are_rounded_up():
    assert [say_bytes(size) for size in (1, 999_000_001, 10**9, 1_010_000_000, 2.5e9)] == [
        "1 MB", "1000 MB", "1 GB", "1.1 GB", "2.5 GB",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["t.parquet", "t.csv"])
@pytest.mark.usefixtures("temporary")
def test_too_little_memory_is_told_with_how_much_is_needed(folder, name):
    with pytest.raises(ValueError, match="memory must be at least") as told:
        rank(folder / name, "y", memory="50MB")
    found = re.fullmatch(
        r"memory must be at least (\d+ MB|[\d.]+ GB) for this table; got '50MB'. Allow for more, or use fewer rows "
        r"\(sample=\) or columns \(factors=\)\.",
        str(told.value),
    )
    needed = parse_size("memory", found[1])
    assert memory.memory_used() < needed < memory.memory_used() + 10**9


def test_what_is_needed_is_enough(folder):
    with pytest.raises(ValueError, match="memory must be at least") as told:
        rank(folder / "t.parquet", "y", memory="50MB", sample=300)
    needed = re.search(r"least (\S+ \S+) for", str(told.value))[1]
    with contextlib.suppress(ValueError):  # of pieces, which are looked at first
        rank(folder / "t.parquet", "y", memory=needed, sample=300)
    assert len(rank(folder / "t.parquet", "y", memory=int(1.2 * parse_size("memory", needed)), sample=300).dataset.y)


def plan(n_rows, n_factors, memory="4GB", left=None, classes=0, forced=(), **options):
    """How memory would be used for a table of numbers."""
    columns = [ColumnInfo(f"x{j}", "numbers", n_rows) for j in range(n_factors + 1)]
    columns[0] = replace(columns[0], holds="text" if classes else "numbers", levels=classes)
    settings = RankSettings.parse({"memory": memory, "jobs": 2, **options})
    request = SimpleNamespace(settings=settings, forced=forced)
    wanted = SimpleNamespace(
        n_rows=n_rows,
        drawn=None,
        used=columns[1:],
        others=columns[:1],
        roles=SimpleNamespace(others={"x0": "the target"}, targets=("x0",)),
        source=SimpleNamespace(dtypes=dict.fromkeys([column.name for column in columns], pl.Float64())),
    )
    found = out_of_core.Budget(request)
    if left is not None:
        found._process = (1 - out_of_core.SPARE) * found._limit - left
    return found.plan(wanted)


def test_more_memory_is_used_for_threads_and_for_columns_that_are_kept():
    plenty = plan(10**6, 100, memory="20GB", left=10**10)
    assert plenty.jobs == 2 and plenty.at_a_time == 8 and plenty.room > 5 * 10**9
    little = plan(10**6, 100, left=1_400_000_000, rule="paper")
    assert little.jobs == 2 and little.at_a_time == 2
    assert plan(10**6, 100, left=1_050_000_000, rule="paper").jobs == 1
    with pytest.raises(ValueError, match="memory must be at least"):
        plan(10**6, 100, left=900_000_000, rule="paper")
    # The block of candidates is all that more factors add; a selection from all factors takes all of them.
    assert plan(10**6, 10_000, left=1_500_000_000, rule="paper").jobs == 2
    with pytest.raises(ValueError, match="memory must be at least"):
        plan(10**6, 100, left=2 * 10**9, method="total")
    assert plan(10**6, 100, left=1_900_000_000).jobs == 2
    assert plan(10**6, 2000, left=3 * 10**9, n_outer=2000).room > plan(10**6, 2000, left=3 * 10**9).room + 5 * 10**8
    assert (
        plan(10**6, 100, left=10**10).room - plan(10**6, 100, left=10**10, factor_groups={"all": "x*"}).room > 3 * 10**9
    )


@pytest.mark.parametrize(("options", "what"), [({"unique": True}, "unique="), ({"stability": 2}, "stability=")])
def test_what_takes_all_columns_at_a_time_is_refused(folder, options, what):
    with pytest.raises(ValueError, match=f"{what} does not go with memory=.* Leave out one of them."):
        rank(folder / "t.parquet", "y", memory="4GB", **options)


def test_a_table_in_memory_is_there_already(frame):
    with pytest.raises(ValueError, match=r"memory= is for files; this table is in memory already\. Leave out"):
        rank(frame, "y", memory="4GB")


def test_gaps_of_many_columns_are_found_a_few_at_a_time(folder, monkeypatch):
    told = []
    for pieces in (400, 1):
        monkeypatch.setattr(out_of_core, "AT_ONCE", pieces)
        with pytest.raises(ValueError, match="missing value") as error:
            rank(folder / "t.parquet", "z", drop=["kind", "weight", "person"], memory="4GB", missing="error")
        told.append(str(error.value))
    assert told[0] == told[1]


def test_memory_of_a_process_is_known_wherever_it_runs(monkeypatch):
    here = memory.memory_used()
    assert 10**7 < here < 10**11
    monkeypatch.setattr("builtins.open", lambda *_, **__: (_ for _ in ()).throw(OSError))
    assert 10**7 < memory.memory_used() < 10**11
    monkeypatch.setitem(sys.modules, "resource", None)
    assert memory.memory_used() == memory.UNKNOWN


# --- the peak --------------------------------------------------------------------------------------------

PEAK = """
    import re, sys
    from firstfactor import rank
    memory = sys.argv[2] or None
    options = dict(method="first-fast", n_outer=200, max_factors=1, cluster_cut=None, jobs=2)
    found = rank(sys.argv[1], "y", memory=memory, **options).indices
    peak = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]
    print(1024 * int(peak), found.values.tobytes().hex())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs the peak of a process, without that of its parent")
def test_the_peak_of_a_process_stays_below_the_limit(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(100_000, 150))
    path = tmp_path / "t.parquet"
    pl.DataFrame(X, schema=[f"x{j}" for j in range(150)]).with_columns(y=X[:, 0]).write_parquet(path)
    del X

    def run(memory):
        command = [sys.executable, "-c", textwrap.dedent(PEAK), str(path), memory]
        peak, values = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()
        return int(peak), values

    (stored, ours), (in_memory, theirs) = run("480MB"), run("")
    assert stored < 480_000_000 < in_memory and ours == theirs
