"""What is noticed about real tables is judged, and docs/results/sense.md shows it."""

import pytest

from study.data.sense_tables import SENSE_TABLES, SenseTable
from study.pages.sense_page import MOST_FALSE, SENSE_PAGE, TARGETS, make_sense_page
from study.runs.sense_tables import key, look_at, read_sense_tables
from study.scores.sense import judge, total


def finding(kind, *columns, sources=()):
    return {"kind": kind, "columns": list(columns), "sources": list(sources), "sentence": kind}


class TestJudgements:
    TABLE = SenseTable(
        "ISLP",
        "made up",
        "y",
        leaks=("ly", "a, b"),
        derived={"xsq": "x"},
        dummies=("d1, d2, d3",),
        units="state",
        debatable="z",
    )

    def test_all_that_is_there_is_noticed(self):
        said = [
            finding("leak", "ly"),
            finding("leak", "a", "b"),
            finding("function", "xsq", sources=["x"]),
            finding("dummies", "d1", "d2", "d3"),
            finding("units", "state"),
        ]
        found = judge(self.TABLE, said)
        for kind in ("leaks", "derived", "dummies", "units"):
            assert all(getattr(found, kind).values()) and getattr(found, kind)
        assert not (found.false_leaks or found.false_functions or found.false_dummies or found.false_units)

    def test_what_is_not_there_is_a_false_alarm(self):
        said = [finding("leak", "x"), finding("function", "w"), finding("dummies", "e", "f"), finding("units", "k")]
        found = judge(self.TABLE, said)
        assert found.leaks == {"ly": False, "a, b": False} and found.derived == {"xsq": False}
        assert found.false_leaks and found.false_functions and found.false_dummies and found.false_units

    def test_what_is_debatable_is_neither(self):
        assert not judge(self.TABLE, [finding("leak", "z")]).false_leaks


class TestPage:
    def test_the_page_is_made_from_what_is_stored(self):
        assert SENSE_PAGE.read_text(encoding="utf-8") == make_sense_page(read_sense_tables())

    def test_the_targets_are_reached(self):
        stored = read_sense_tables()
        tables = [table for table in SENSE_TABLES if key(table) in stored]
        assert len({(table.package, table.name) for table in tables}) >= 60
        reached = total(judge(table, stored[key(table)]["findings"]) for table in tables)
        for name, least in TARGETS.items():
            assert reached[name][0] >= least * reached[name][1]
        for name in ("false_leaks", "false_functions", "false_dummies", "false_units"):
            assert reached[name][0] <= MOST_FALSE * len(tables)

    @pytest.mark.parametrize("name", ["wage1", "Auto", "grunfeld"])
    def test_what_is_stored_is_what_is_noticed(self, name):
        table = next(table for table in SENSE_TABLES if table.name == name)
        if not table.is_there():
            pytest.skip(f"{table.package} is not installed")
        stored = read_sense_tables()[key(table)]
        assert [one["sentence"] for one in look_at(table)["findings"]] == [
            one["sentence"] for one in stored["findings"]
        ]
