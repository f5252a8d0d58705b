"""Tables written to files of every format, and read as `rank` reads them."""

import contextlib
import gzip
import sqlite3

import duckdb
import xlsxwriter

from firstfactor.settings import RankSettings
from firstfactor.tables.dataset import read_dataset
from firstfactor.tables.formats import open_source
from firstfactor.tables.roles import Request


def write(frame, path):
    kind = path.name.split(".")[1]
    {
        "csv": frame.write_csv,
        "txt": frame.write_csv,
        "tsv": lambda target: frame.write_csv(target, separator="\t"),
        "parquet": frame.write_parquet,
        "arrow": frame.write_ipc,
        "feather": frame.write_ipc,
        "ipc": frame.write_ipc,
        "jsonl": frame.write_ndjson,
        "ndjson": frame.write_ndjson,
    }[kind](path.with_name(f"t.{kind}"))
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))
    return path


def read(path, target="y", kind=None, table=None, na=(), decimal=None, **wanted):
    missing = "drop" if wanted.pop("drop_missing", False) else "error"
    settings = RankSettings(format=kind, table=table, na=na, decimal=decimal, **{"missing": missing} | wanted)
    with open_source(str(path), settings) as source:
        return read_dataset(source, Request(target, settings))


def read_text(tmp_path, text, target="y", name="table.csv", **wanted):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(path, target, **wanted)


def write_tables(path, **tables):
    """Write tables by name into one file."""
    if path.suffix == ".xlsx":
        with xlsxwriter.Workbook(path) as book:
            for name, frame in tables.items():
                frame.write_excel(book, name)
            book.add_worksheet("Empty")
    elif path.suffix == ".duckdb":
        with duckdb.connect(str(path)) as connection:
            for name, frame in tables.items():
                connection.register("given", frame)
                connection.execute(f'create table "{name}" as select * from given')
    else:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            for name, frame in tables.items():
                frame.to_pandas().to_sql(name, connection, index=False)
    return path
