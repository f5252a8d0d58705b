"""SQLite and DuckDB files: they read nothing but themselves, and nothing is left beside them."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys

import duckdb
import numpy as np
import pytest

from firstfactor import rank
from firstfactor.tables.named_tables import Sqlite

X = np.random.default_rng(0).normal(size=60).round(3).tolist()
ROWS = [(x, 2 * x) for x in X]


def in_duckdb(path, *statements):
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table base (x double, y double)")
        connection.executemany("insert into base values (?, ?)", ROWS)
        for statement in statements:
            connection.execute(statement)
    return str(path)


@pytest.mark.parametrize(
    "reading",
    [
        "read_text('{secret}')",
        "read_blob('{secret}')",
        "read_csv('{secret}', header = false, columns = {{'content': 'varchar'}})",
        "(select file as content from glob('{secret}'))",
        "'{secret}'",
    ],
)
def test_a_view_of_duckdb_reads_no_other_file(tmp_path, reading):
    secret = tmp_path / "secret.csv"
    secret.write_text("content\nTOP SECRET\n")
    view = f"select x, y, (select first(content) from {reading.format(secret=secret)}) as s from base"
    path = in_duckdb(tmp_path / "t.duckdb", f"create view v as {view}")
    with pytest.raises(ValueError, match=r"^t\.duckdb cannot be read as duckdb: the table reads another file or"):
        rank(path, "y", table="v")
    assert rank(path, "y", table="base").indices.names == ("x",)


def test_a_view_of_duckdb_does_not_see_variables_of_this_program(tmp_path):
    path = in_duckdb(tmp_path / "t.duckdb", "create table secret (x double)", "create view v as from secret")
    with duckdb.connect(path) as connection:
        connection.execute("drop table secret")
    secret = rank(path, "y", table="base").to_frame()
    assert len(secret)
    with pytest.raises(ValueError, match=r"^t\.duckdb cannot be read as duckdb: Catalog Error: .*secret"):
        rank(path, "x", table="v")


def test_tables_in_other_schemas_of_duckdb(tmp_path):
    path = in_duckdb(
        tmp_path / "t.duckdb", "create schema s", "create table s.t as select * from base", "drop table base"
    )
    assert rank(path, "y").dataset.X["x"].to_list() == X
    assert rank(path, "y", table="s.t").indices.names == ("x",)
    with duckdb.connect(path) as connection:
        connection.execute("create table base (x double)")
    with pytest.raises(ValueError, match=r"t\.duckdb has 2 tables: name one with table=\. They are: 'base', 's\.t'\."):
        rank(path, "y")


def in_sqlite(path, name="t", *statements):
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
        connection.execute(f'create table "{name}" (x real, y real)')
        connection.executemany(f'insert into "{name}" values (?, ?)', ROWS)
    return path


def test_a_table_of_sqlite_may_begin_like_its_own(tmp_path):
    path = in_sqlite(tmp_path / "t.sqlite", "sqliteXdata", "create table a (id integer primary key autoincrement)")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("drop table a")
    assert rank(str(path), "y").dataset.X["x"].to_list() == X


def test_a_closed_database_with_a_log_is_left_alone(tmp_path):
    path = in_sqlite(tmp_path / "t.sqlite", "t", "pragma journal_mode = wal")
    before = path.read_bytes()
    assert rank(str(path), "y").dataset.X["x"].to_list() == X
    assert os.listdir(tmp_path) == ["t.sqlite"] and path.read_bytes() == before
    path.with_name("t.sqlite-wal").touch()  # empty: nothing but the database counts
    assert rank(str(path), "y").dataset.X["x"].to_list() == X
    assert sorted(os.listdir(tmp_path)) == ["t.sqlite", "t.sqlite-wal"]


def test_rows_in_the_log_of_a_database_are_read(tmp_path):
    folder = tmp_path / "crashed"
    folder.mkdir()
    path = in_sqlite(tmp_path / "t.sqlite", "t", "pragma journal_mode = wal")
    with contextlib.closing(sqlite3.connect(path)) as writer:
        writer.execute("insert into t values (9, 9)")
        writer.commit()
        assert rank(str(path), "y").dataset.X["x"].to_list() == [*X, 9]  # while it is open elsewhere
        for suffix in ("", "-wal"):
            shutil.copy(f"{path}{suffix}", folder)
    assert rank(str(folder / "t.sqlite"), "y").dataset.X["x"].to_list() == [*X, 9]
    assert sorted(os.listdir(folder)) == ["t.sqlite", "t.sqlite-wal"]


def test_a_log_of_duckdb_is_read_and_left_alone(tmp_path):
    crash = (
        "import duckdb, os; c = duckdb.connect('t.duckdb'); c.execute('create table t as select i as x, i * i as y "
        "from range(9) r(i)'); c.execute('checkpoint'); c.execute('insert into t values (9, 81)'); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", crash], cwd=tmp_path, check=True)
    assert rank(str(tmp_path / "t.duckdb"), "y").dataset.X["x"].to_list() == [*range(10)]
    assert sorted(os.listdir(tmp_path)) == ["t.duckdb", "t.duckdb.wal"]


@pytest.mark.parametrize(
    "view", ["select load_extension('x') as x, y from t", "select x, writefile('out', 'x') as y from t"]
)
def test_a_view_of_sqlite_loads_and_writes_nothing(tmp_path, view):
    path = in_sqlite(tmp_path / "t.sqlite")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"create view v as {view}")
    with pytest.raises(ValueError, match=r"^v cannot be read as sqlite: "):
        Sqlite().read(path, "v", "v")
    assert os.listdir(tmp_path) == ["t.sqlite"]
