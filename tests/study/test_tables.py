"""Tables as text and Markdown; ours next to the paper and to the R packages."""

import dataclasses

import numpy as np

from study.data import originals
from study.data.setting import Setting
from study.pages.layout import NOTHING, Table
from study.pages.tables.originals import tabulate_originals
from study.pages.tables.real_tables import compare_tables
from study.paper.verdicts import Verdict
from study.runs.store import Row, Task
from tests.study.rows import results_of, row


class TestTables:
    table = Table("Title", ("", "a"), [("x", "1.00"), ("long", "2")], "Note.", frozenset([0]))

    def test_text_is_aligned(self) -> None:
        assert self.table.text() == "Title\n         a\nx     1.00\nlong     2\nNote."

    def test_markdown_has_the_same_cells(self) -> None:
        assert self.table.markdown() == (
            "Title\n\n|  | a |\n| --- | ---: |\n| **x** | **1.00** |\n| long | 2 |\n\nNote."
        )

    def test_integers_unscaled_get_a_row_but_no_say(self) -> None:
        setting = Setting("concrete", 1030, 8, part="train")
        four, six = (np.arange(8) < n for n in (4, 6))
        rows = [row(Task(setting, "FIRST", k), four.astype(float), 0.93) for k in range(10)]
        rows += [row(Task(setting, "FIRST-INTEGERS", k), six.astype(float), 0.93) for k in range(10)]
        (table,), numbers = compare_tables(results_of(rows), {"concrete": (1030, 8)}, classes=False)
        assert [list(cells[:4]) for cells in table.rows] == [
            ["Concrete", "4 (4–4)", "6 (6–7)", "differs"],
            ["unscaled integers", "6 (6–6)", "6 (6–7)", "agrees"],
        ]
        assert [number.verdict for number in numbers] == [Verdict.DIFFERS, Verdict.AGREES]
        assert "unscaled" in numbers[0].reason


class TestLikeness:
    def rows(self, method: str, factor: float) -> list[Row]:
        """What the original says, its importances multiplied."""
        known = {one["table"]: one for one in originals.answers().iter_rows(named=True) if one["method"] == method}
        return [
            row(
                Task(Setting(name, 1000, p, 0.8, part="original"), method, 0),
                factor * np.array(known[name]["importances"]),
            )
            for name, p in originals.TABLES
        ]

    def test_the_original_is_like_itself(self) -> None:
        results = results_of([*self.rows("KFOCI", 1.0), *self.rows("FILTER", 1.1)])
        for table in tabulate_originals(results):
            cells = {name: rest for name, *rest in table.rows}
            assert cells["KFOCI"][:3] == ["1.00", "5 of 5", ""]
            assert cells["FILTER"][:3] == ["1.00", "", "1.10–1.10"]
            assert cells["LASSO"] == [NOTHING] * 5

    def test_another_selection_is_not_the_same(self) -> None:
        rows = self.rows("KFOCI", 1.0)
        rows[0] = dataclasses.replace(rows[0], selected=[0])
        (friedman, *_) = tabulate_originals(results_of(rows))
        assert {name: rest for name, *rest in friedman.rows}["KFOCI"][1] == "4 of 5"
