"""What is noticed about real tables, and what the ranking says before and after.

``python -m study.runs.sense_tables`` writes the file anew, in some minutes; names of tables after it only these.
Warnings of numpy are errors.
"""

import json
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import pandas as pd

from firstfactor import rank
from firstfactor.findings.notice import notice
from firstfactor.results.drivers import say_drivers

from ..data.sense_tables import SENSE_TABLES, SenseTable
from .store import RESULTS

STORED = RESULTS / "sense_tables.json"
MAX_ROWS = 400
"""Rows that the two rankings are of; findings are of all rows."""


def look_at(table: SenseTable) -> dict[str, Any]:
    """Return what is noticed about a table."""
    frame = _load(table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = notice(frame.drop(columns=table.target), frame[table.target])
    findings = [one.as_dict() for one in found]
    return {"n_rows": len(frame), "n_factors": frame.shape[1] - 1, "findings": findings}


def rank_both(table: SenseTable) -> dict[str, str]:
    """Return the headline of some rows as they are, and without leaks and with dummies as groups."""
    frame, answers = _load(table), {}
    for when, options in (("before", {}), ("after", {"leaks": "drop", "regroup": True})):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            try:
                ranking = rank(frame, table.target, sample=MAX_ROWS, seed=0, jobs=1, **options)  # type: ignore[arg-type]
                answers[when] = say_drivers(ranking.indices, table.target)
            except ValueError as error:
                answers[when] = f"({str(error).split('.')[0]}.)"
    return answers


def _load(table: SenseTable) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the packages that read
        return table.load()


def read_sense_tables() -> dict[str, dict[str, Any]]:
    """Return what is stored."""
    stored: dict[str, dict[str, Any]] = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    return stored


def key(table: SenseTable) -> str:
    """Return the name of a table among all packages."""
    return f"{table.package}/{table.title}"


def write_sense_tables(names: Sequence[str] = ()) -> None:
    """Look at tables anew and store what comes of it."""
    stored = read_sense_tables()
    wanted = [table for table in SENSE_TABLES if not names or table.name in names]
    for what in (look_at, rank_both):  # headlines take longer
        for table in wanted:
            stored[key(table)] = {**stored.get(key(table), {}), **what(table)}
            STORED.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            print(key(table), "is done", flush=True)


if __name__ == "__main__":
    write_sense_tables(sys.argv[1:])
