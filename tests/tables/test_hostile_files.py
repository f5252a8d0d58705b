"""Files that somebody made on purpose, and what a right answer to them is.

Each kind writes files into a folder. What comes of them is the answer that the table has, or an error; some may only be
refused. Nothing else may be read, and nothing may be left behind.
"""

import contextlib
import csv
import gzip
import io
import json
import os
import re
import shutil
import sqlite3
import tempfile
import warnings
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
import xlsxwriter
from hypothesis import given

from firstfactor import rank
from tests.endings import rank_file
from tests.strategies import fuzzing, of, pick, rngs

SECRET = "TOP SECRET"
ROWS = 60


@dataclass
class Scene:
    """What is read, and what may come of it."""

    source: str
    """The file or folder."""
    driver: str | None = None
    """The factor that the response depends on, and must be found; None if the table is not known."""
    refused: bool = False
    """Whether there is no right answer."""
    arguments: list = field(default_factory=list)


def _table(rng, names=("x", "z", "y")):
    """Return a table whose last column is twice its first."""
    x, z = rng.normal(size=(2, ROWS)).round(4)
    return pl.DataFrame({names[0]: x, names[1]: z, names[2]: 2 * x})


def _write(frame, folder, suffix):
    """Write a table in one of the formats."""
    path = folder / f"t.{suffix}"
    if suffix == "xlsx":
        _write_sheet(path, [frame.columns, *frame.rows()])
    elif suffix == "json":
        path.write_text(json.dumps(frame.to_dicts()))
    elif suffix == "sqlite":
        with contextlib.closing(sqlite3.connect(path)) as connection:
            frame.to_pandas().to_sql("t", connection, index=False)
    elif suffix == "duckdb":
        with duckdb.connect(str(path)) as connection:
            connection.register("given", frame.to_arrow())
            connection.execute("create table t as from given")
    elif suffix == "dta":
        frame.to_pandas().to_stata(path, write_index=False)
    else:
        writers = {"csv": "write_csv", "parquet": "write_parquet", "arrow": "write_ipc", "jsonl": "write_ndjson"}
        getattr(frame, writers[suffix])(path)
    return path


FORMATS = ("csv", "parquet", "arrow", "jsonl", "json", "xlsx", "sqlite", "duckdb", "dta")


def _write_sheet(path, rows):
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, row)


# --- what values mean ---------------------------------------------------------------------------------


def labels(rng, folder):
    """Labels that differ in blanks, in factors or in classes."""
    levels = pick(rng, ["a", "a "], ["a", " a", "a "], [" a", "a"], ["a\t", "a"], ["a", "b", "b "])
    which = rng.integers(len(levels), size=ROWS)
    words = pl.Series([levels[i] for i in which])
    frame = _table(rng).drop("x", "y").with_columns(g=words, y=which + 0.01 * rng.normal(size=ROWS))
    if rng.random() < 0.3:
        frame, names = frame.rename({"g": "y", "y": "g"}), "g"
    else:
        names = "g"
    return Scene(str(_write(frame, folder, pick(rng, *FORMATS))), names)


def keyed_rows(rng, folder):
    """Columns of JSON whose rows have keys, in any order, at times not the same ones."""
    table = _table(rng).to_dict(as_series=False)
    shift = rng.random() < 0.4
    columns = {}
    for name, values in table.items():
        pairs = [(str(i + (shift and name == "y")), value) for i, value in enumerate(values)]
        order = rng.permutation(ROWS)
        columns[name] = dict(pairs[i] for i in order)
    path = folder / "t.json"
    path.write_text(json.dumps(columns))
    return Scene(str(path), "x", refused=shift)


def mixed_kinds(rng, folder):
    """A column of numbers with something else in a few rows."""
    rows, suffix = _table(rng).to_dicts(), pick(rng, "json", "jsonl", "xlsx")
    huge = "1" + "0" * pick(rng, 400, 5000)
    odd = pick(rng, True, False) if suffix == "xlsx" else pick(rng, True, False, [1], {"a": 1}, "HUGE")
    for row in rng.choice(np.arange(1, ROWS), rng.integers(1, 4), replace=False):
        rows[row]["x"] = odd
    path = folder / f"t.{suffix}"
    if suffix == "xlsx":
        _write_sheet(path, [[*rows[0]], *([*row.values()] for row in rows)])
    else:
        text = json.dumps(rows) if suffix == "json" else "\n".join(map(json.dumps, rows))
        path.write_text(text.replace('"HUGE"', huge))
    return Scene(str(path), refused=True)


def other_json(rng, folder):
    """JSON that is no table, or one that looks like another."""
    table = _table(rng, pick(rng, ("x", "z", "y"), ("data", "z", "y"), ("data", "columns", "y"), ("1", "2", "y")))
    columns, deep = table.to_dict(as_series=False), 10 ** int(rng.integers(3, 7))
    tables = [
        columns,
        {"columns": [int(name) if name.isdigit() else name for name in columns], "data": table.rows()},
        {"columns": [*columns], "index": [*range(ROWS)], "data": table.rows()},
        {"meta": {}, "data": table.to_dicts()},
    ]
    nothing = [
        "[{}]", "[]", "{}", "3", '"x"', "null", "[[1, 2]]", '{"data": []}', '{"x": [1, 2], "y": [1]}', "[1, {}]",
        "[" * deep, "[" * deep + "]" * deep, '{"x":' * deep + "1" + "}" * deep, '[{"x": ' + "[" * deep,
    ]  # fmt: skip
    refused, suffix = rng.random() < 0.6, "json"
    if refused:
        text, suffix = pick(rng, *nothing), pick(rng, "json", "json", "jsonl")
    else:
        text = json.dumps(pick(rng, *tables))
    path = folder / f"t.{suffix}"
    path.write_text(text)
    return Scene(str(path), None if refused else table.columns[0], refused)


# --- what is read and left behind ---------------------------------------------------------------------


def views(rng, folder):
    """A view that reads another file, or tries to do something else."""
    outside = folder / "outside"
    outside.mkdir()
    secret = outside / "secret.csv"
    secret.write_text(f"content\n{SECRET}\n")
    if rng.random() < 0.2:
        path = _write(_table(rng), folder, "sqlite")
        call = pick(rng, "readfile('{0}')", "load_extension('{0}')", "writefile('{0}', 'x')", "edit('{0}')")
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute(f"create view v as select x, y, {call.format(secret)} as s from t")
    else:
        path = _write(_table(rng), folder, "duckdb")
        reading = pick(rng,
            "read_text('{0}')", "read_blob('{0}')", "read_csv('{0}', all_varchar = true)", "'{0}'",
            "(select file as content from glob('{0}'))", "(select prompt as content from sniff_csv('{0}'))",
        )  # fmt: skip
        with duckdb.connect(str(path)) as connection:
            content = f"(select first(content)::varchar from {reading.format(secret)})"
            connection.execute(f"create view v as select x, y, case when x > 0 then 'a' else {content} end s from t")
    return Scene(str(path), refused=True, arguments=["--table", "v"])


def databases(rng, folder):
    """Databases whose tables have names and places that are not usual, open and closed ones."""
    kind = pick(rng, "name", "schema", "closed log", "log", "empty log")
    if kind == "schema":
        path = _write(_table(rng), folder, "duckdb")
        with duckdb.connect(str(path)) as connection:
            connection.execute('create schema "o t h"; create table "o t h".t2 as from t; drop table t')
        return Scene(str(path), "x")
    path = _write(_table(rng), folder, "sqlite")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        if kind == "name":
            connection.execute(f'alter table t rename to "sqlite{pick(rng, *"Xx.- ")}data"')
        else:
            connection.execute("pragma journal_mode = wal")
        if kind == "log":
            connection.execute("pragma wal_autocheckpoint = 0")
            connection.execute("update t set y = z where rowid > 0")
            connection.commit()
            crashed = folder / "crashed"
            crashed.mkdir()
            for suffix in ("", "-wal"):
                shutil.copy(f"{path}{suffix}", crashed)
            return Scene(str(crashed / path.name), "z")
    if kind == "empty log":
        path.with_name(f"{path.name}-wal").touch()
    return Scene(str(path), "x")


def links(rng, folder):
    """A folder with links to itself, and at times out of it."""
    data, outside = folder / "data", folder / "outside"
    for each in (data, outside, data / "more"):
        each.mkdir()
    frame = _table(rng)
    frame.head(ROWS // 2).write_csv(data / "a.csv")
    frame.tail(ROWS - ROWS // 2).write_csv(data / "more" / "b.csv")
    (outside / "c.csv").write_text(f"x,z,y\n{SECRET},1,1\n")
    for number in range(rng.integers(1, 5)):
        (data / pick(rng, "", "more") / f"l{number}").symlink_to(pick(rng, data, data / "more", "."))
    out = rng.random() < 0.4
    if out:
        (data / "out.csv").symlink_to(pick(rng, outside, outside / "c.csv", folder))
    pattern = rng.random() < 0.3 and not out
    return Scene(str(data / "**" / "*.csv") if pattern else str(data), "x", refused=out)


def damaged(rng, folder):
    """A file of any format with some of its bytes changed or lost."""
    path = _write(_table(rng), folder, pick(rng, *FORMATS))
    content = bytearray(path.read_bytes())
    for _ in range(rng.integers(6)):
        content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
    if rng.random() < 0.3:
        content = content[: rng.integers(1, len(content) + 1)]
    if rng.random() < 0.1:
        content = gzip.compress(content)
    path.write_bytes(content)
    return Scene(str(path))


# --- what takes more than there is --------------------------------------------------------------------


def far_cells(rng, folder):
    """A workbook with a cell far from its table."""
    path = _write(_table(rng), folder, "xlsx")
    far = (("XFD", 1048576), ("ZZZZZZ", 10**6), ("C", 4 * 10**9), ("AZ", 20_000), ("XFD", 61), ("ZZZZZZ", 61), ("", 61))
    letters, digits = pick(rng, *far)
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    sheet = contents["xl/worksheets/sheet1.xml"]
    contents["xl/worksheets/sheet1.xml"] = sheet.replace(b'r="C61"', f'r="{letters}{digits}"'.encode())
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return Scene(str(path))


def packed(rng, folder):
    """A small file that unpacks to a large one, with little memory allowed."""
    block = _table(rng).write_csv().encode()
    header, _, rows = block.partition(b"\n")
    path = folder / "t.csv.gz"
    path.write_bytes(gzip.compress(header + b"\n" + rows * pick(rng, 1000, 20000), compresslevel=1))
    return Scene(str(path), refused=True, arguments=["--memory", pick(rng, "100MB", "400MB")])


# --- files that are only odd --------------------------------------------------------------------------


def odd_text(rng, folder):
    """CSV files with a line for Excel, control characters, or paths that are not UTF-8."""
    frame = _table(rng).with_columns(k=pl.lit("a") + pick(rng, "\x01", "\x01\x02", "\x1f", "=1", ""))
    text, mark = frame.write_csv(), pick(rng, ",", ";", "|", "\t")
    start = pick(rng, "", f"sep={mark}\n", "sep=;\n" * (mark == ";"))
    content = (start + text.replace(",", mark)).encode()
    alone = rng.random() < 0.1
    path = os.path.join(os.fsencode(folder), pick(rng, b"t", b"\xff\xfe", "é".encode(), b"\x1b[2J") + b".csv")
    with open(path, "wb") as file:
        file.write(f"sep={mark}".encode() if alone else content)
    return Scene(os.fsdecode(path), None if alone else "x", alone)


def odd_columns(rng, folder):
    """Typed files without columns, or with types that are not known."""
    kind = pick(rng, "none", "lists", "names", "union")
    frame = _table(rng).to_arrow()
    if kind == "union":
        numbers, words = pa.array(range(ROWS)), pa.array([str(i) for i in range(ROWS)])
        both = pa.UnionArray.from_sparse(pa.array([i % 2 for i in range(ROWS)], pa.int8()), [numbers, words])
        with pa.ipc.new_file(folder / "t.arrow", (frame := frame.append_column("u", both)).schema) as file:
            file.write_table(frame)
        return Scene(str(folder / "t.arrow"), refused=True)
    if kind == "none":
        frame = frame.select([])
    elif kind == "lists":
        frame = frame.append_column("l", pa.array([[1]] * ROWS)).append_column("m", pa.array([{"a": 1}] * ROWS))
    else:
        frame = frame.rename_columns([pick(rng, *FORMULAS), " z ", "y"])
    pyarrow.parquet.write_table(frame, folder / "t.parquet")
    return Scene(str(folder / "t.parquet"), frame.column_names[0] if kind != "none" else None, kind == "none")


FORMULAS = ("=1+1", "a;=1+1;b", "\uff1d1+1", "\uff20SUM(1)", "+1", "-1", "@x", "\t=1", '"=1', "a\n=1", "; =1", "\r=1")


# --- what an earlier run left -------------------------------------------------------------------------


def checkpoints(rng, folder):
    """A checkpoint of another table, a damaged one, or a file of something else."""
    frame, path = _table(rng), folder / "run.json"
    if rng.random() < 0.5:
        other = frame.with_columns(y=frame["z"]) if rng.random() < 0.5 else frame.with_columns(z=frame["z"] * 2)
        rank(other, "y", checkpoint=str(path))
    else:
        rank(frame, "y", checkpoint=str(path))
        content = bytearray(path.read_bytes())
        for _ in range(rng.integers(1, 4)):
            content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        path.write_bytes(pick(rng, content, content[: len(content) // 2], b"{}", b"[" * 10**5, b"\0" * 99))
    return Scene(str(_write(frame, folder, "parquet")), "x", arguments=["--checkpoint", str(path)])


def pipes(rng, folder):
    """A pipe that nobody writes to: named like a file of ours that was left, or the table itself."""
    path = _write(_table(rng), folder, "csv")
    os.mkfifo(folder / ".firstfactor-left.part")
    if rng.random() < 0.5:
        return Scene(str(path), "x", arguments=["--csv", str(folder / "out.csv")])
    os.mkfifo(folder / "pipes.csv")
    return Scene(str(folder), refused=True)


KINDS = (
    labels, keyed_rows, mixed_kinds, other_json, views, databases, links, damaged, far_cells, packed, odd_text,
    odd_columns, checkpoints, pipes,
)  # fmt: skip


def check_answer(scene, facts):
    """Yield what is wrong with an answer."""
    if scene.refused:
        yield "an answer to what has none"
    elif scene.driver is not None:
        found = {row["factor"]: row for row in facts["factors"]}
        if scene.driver not in found:
            yield f"the factor {scene.driver!r} is not in the answer"
        elif not found[scene.driver]["selected"] or facts["r2_ceiling"] < 0.5:
            yield f"the factor {scene.driver!r} was not found: R² is {facts['r2_ceiling']}"


def check_cells(text):
    """Yield cells of a CSV file that a spreadsheet would run, also one to which commas and quotes mean nothing."""
    cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    cells += [piece for line in re.split("[\r\n]+", text) for piece in line.split(";")]
    for cell in cells:
        if cell.lstrip(" ").startswith(tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")) and not _is_number(cell):
            yield f"a spreadsheet would run {cell!r}"


def _is_number(cell):
    try:
        return np.isfinite(float(cell))
    except ValueError:
        return False


def check(kind, rng):
    """Rank what a kind of file holds, and compare with what is known of it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scene = kind(rng, folder)
        outputs = {"json": "out.json", "csv": "out.csv"} | ({"html": "out.html"} if rng.random() < 0.1 else {})
        arguments = ["-t", "y", "--jobs", "1", *scene.arguments]
        run, faults = rank_file(folder, scene.source, arguments, outputs)
        assert not faults
        written = {each: (folder / each).read_bytes() for each in outputs.values() if (folder / each).exists()}
        assert not any(SECRET.encode() in content for content in (run.stdout, run.stderr, *written.values()))
        if run.returncode == 0:
            assert not [*check_answer(scene, json.loads(written["out.json"]))]
            assert not [*check_cells(written["out.csv"].decode())]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_kind_of_file(kind):
    for seed in range(3):
        check(kind, np.random.default_rng(seed))


@fuzzing
@given(of(KINDS), rngs)
def test_files_made_on_purpose(kind, rng):
    check(kind, rng)
