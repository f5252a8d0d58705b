"""Tables of the experiments on everyday data."""

import dataclasses

import numpy as np
import pytest

from study.data.everyday import REMOVALS
from study.data.setting import Setting
from study.pages.layout import NOTHING
from study.pages.tables.everyday_noise import tabulate_everyday_noise
from study.pages.tables.missing_values import tabulate_missing_values
from study.pages.tables.panel_ceiling import tabulate_panel_ceiling
from study.runs.experiments import EVERYDAY_NOISE, MISSING, NOISE_PANELS, PANEL, WAYS
from study.runs.store import Row
from study.scores import truths
from study.scores.certainty import ceilings
from study.scores.results import Results, at
from tests.study.rows import estimate, needs_stored_rows, results_of, selection

COMPLETE = at("friedman", 0.0)


def cells(table):
    return {name: list(rest) for name, *rest in table.rows}


class TestEverydayNoise:
    def test_alarms_with_and_without_groups_stand_side_by_side(self) -> None:
        setting, one = NOISE_PANELS[0], np.eye(10)[5]
        rows = [selection(setting, "CALIBRATED", k, one * (k < 2), 0.1 * (k < 2)) for k in range(20)]
        rows += [selection(setting, "CALIBRATED-UNGROUPED", k, one + np.eye(10)[6], 0.5) for k in range(20)]
        alarms, panels = tabulate_everyday_noise(results_of(rows))
        assert cells(alarms)["Panel of noise, 30 × 20 rows, p = 10"][:3] == ["0.100 ± 0.076", "0.234", "20"]
        of_panels = cells(panels)
        assert of_panels["30 × 20 rows, groups"][:2] == ["0.100 ± 0.076", "0.1 ± 0.1"]
        assert of_panels["30 × 20 rows, no groups"] == ["1.000 ± 0.056", "2.0 ± 0.0", "0.500 ± 0.000", "0.500", "20"]
        assert of_panels["50 × 20 rows, groups"] == [*[NOTHING] * 4, "0"]

    def test_every_setting_has_a_row(self, nothing: Results) -> None:
        alarms, panels = tabulate_everyday_noise(nothing)
        assert len(cells(alarms)) == len(EVERYDAY_NOISE) and len(cells(panels)) == 3 * len(NOISE_PANELS)


class TestPanelCeiling:
    def rows(self, method: str, ceiling: float) -> list[Row]:
        made = [estimate(PANEL, k, truths.truth(PANEL), 0.02, np.ones(4), method) for k in range(10)]
        return [dataclasses.replace(one, ceiling=ceiling + 0.01 * (-1) ** k) for k, one in enumerate(made)]

    def test_the_ceiling_stands_beside_the_truth(self) -> None:
        rows = [*self.rows("EXTRAPOLATED", 0.61), *self.rows("EXTRAPOLATED-UNGROUPED", 0.8)]
        ceiling, grouped, ungrouped = tabulate_panel_ceiling(results_of(rows))
        found = cells(ceiling)
        assert found["extrapolated, groups"] == [
            *("0.6000", "0.6100 ± 0.0033", "0.0105", "0.0200", "1.00 ± 0.09", "10"),
        ]
        assert found["extrapolated, no groups"][1] == "0.8000 ± 0.0033"
        assert found["extrapolated, no groups"][4].startswith("0.00")
        assert found["nearest, groups"] == [*[NOTHING] * 5, "0"]
        assert list(cells(grouped)) == list(cells(ungrouped)) == ["X1", "X2", "X3"]


class TestMissingValues:
    def results(self) -> Results:
        """At 5 % all is found by the level, and one factor less with the mean; no table has rows to be dropped."""
        setting, true = MISSING[0], truths.truth(COMPLETE)
        fewer = np.where(np.arange(10) == 7, 0.0, true)
        more = np.where(np.arange(10) == 2, 0.1, true)
        rows = [selection(COMPLETE, "FIRST", k, true, 0.9) for k in range(10)]
        rows += [selection(setting, "FIRST", k, more, 0.8) for k in range(10)]
        rows += [selection(setting, "FIRST-COMPLETE", k, np.zeros(10), 0.5 if k else None) for k in range(10)]
        rows += [selection(setting, "FIRST-IMPUTED", k, fewer, 0.7) for k in range(10)]
        return results_of(rows)

    def test_what_is_found_and_what_it_costs(self) -> None:
        paper, calibrated = tabulate_missing_values(self.results())
        found = cells(paper)
        assert found["complete"] == [
            *("5.00 ± 0.00", "0.00 ± 0.00", "0.000 ± 0.000", "0.900 ± 0.000", "0.948", "1,000", "10"),
        ]
        assert found["5 % at random: level"] == [
            *("5.00 ± 0.00", "1.00 ± 0.00", "0.010 ± 0.000", "0.800 ± 0.000", "0.889", "1,000", "10"),
        ]
        assert found["5 % at random: mean"][0] == "4.00 ± 0.00"
        dropped = found["5 % at random: dropped"]
        assert dropped[:2] == ["0.00 ± 0.00", "0.00 ± 0.00"] and dropped[3:] == ["0.500 ± 0.000", "", "599", "10"]
        assert found["40 % by value: dropped"] == [*[NOTHING] * 4, "", "6", "0"]
        assert list(cells(calibrated)) == list(found)

    @needs_stored_rows
    def test_what_the_note_says_holds_of_the_stored_rows(self) -> None:
        results = Results.load()
        for rule in ("FIRST", "CALIBRATED"):
            for setting in MISSING:
                level, dropped, mean = (results.find(rule + way, setting) for way in WAYS)
                found = [one.mean("n true").value for one in (level, dropped, mean)]
                share = REMOVALS[setting.part].share
                at_20_percent = 4 if rule == "FIRST" else 5
                assert found[1] == pytest.approx({0.05: 5, 0.2: at_20_percent, 0.4: 0.5}[share], abs=0.5)
                assert found[2] >= found[0] > (3.9 if share == 0.4 else 4.5)
                if rule == "FIRST" and share > 0.1:
                    assert mean.mean("n false").value > level.mean("n false").value
                if rule == "CALIBRATED":
                    assert found[0] == found[2] == 5
                    errors = [abs(ceilings(one).mean() - truths.known_ceiling(setting)) for one in (level, mean)]
                    assert max(errors) < 0.03

    def test_the_best_ceiling_falls_with_what_is_missing(self) -> None:
        at_random, by_value = ([truths.known_ceiling(one) for one in ones] for ones in (MISSING[:3], MISSING[3:]))
        whole = truths.true_ceiling(Setting("friedman", 1000, 10))
        assert whole > at_random[0] > at_random[1] > at_random[2]
        assert all(informed > blind for informed, blind in zip(by_value, at_random, strict=True))
