"""What `rank` and the command do with findings."""

import json
import warnings

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from firstfactor import FIRST, DataQualityWarning, LeakWarning, RelatedFactorsWarning, rank
from firstfactor.cli.commands import app

N = 300


@pytest.fixture
def wages():
    """A table with a leak, a square and dummies."""
    rng = np.random.default_rng(0)
    educ, exper, region = rng.integers(8, 20, N), rng.integers(0, 40, N), rng.integers(0, 4, N)
    wage = np.exp(0.1 * educ + 0.02 * exper + 0.2 * rng.normal(size=N))
    levels = {name: (region == k).astype(int) for k, name in enumerate(["northcen", "south", "west"])}
    return pl.DataFrame(
        {"wage": wage, "lwage": np.log(wage), "educ": educ, "exper": exper, "expersq": exper**2, **levels}
    )


def test_findings_are_data_and_warnings_with_a_category_each(wages):
    with pytest.warns(LeakWarning, match=r'^lwage is wage in another form .*\. Without it: drop=\["lwage"\]\.$'):
        ranking = rank(wages, "wage", seed=0)
    assert [one.kind for one in ranking.findings][:3] == ["leak", "dummies", "function"]
    with pytest.warns(RelatedFactorsWarning):
        rank(wages, "wage", seed=0)
    found = json.loads(ranking.to_json())["findings"]
    assert found[0]["columns"] == ["lwage"] and found[0]["command"] == "--drop lwage"


def test_leaks_are_dropped_on_request_and_listed(wages):
    ranking = rank(wages, "wage", leaks="drop", seed=0)
    assert "lwage" not in ranking.indices.names and "another form" in ranking.dataset.left_out["lwage"]
    assert any("'lwage' was left out" in note for note in ranking.notes())
    assert [one.kind for one in ranking.findings][:2] == ["dummies", "function"]
    same = rank(wages.drop("lwage"), "wage", seed=0)
    np.testing.assert_array_equal(ranking.indices.values, same.indices.values)


def test_leaks_are_kept_without_a_word_on_request(wages):
    ranking = rank(wages, "wage", leaks="keep", seed=0)
    assert "lwage" in ranking.indices.names and not {"leak", "known"} & {one.kind for one in ranking.findings}


def test_a_leak_that_is_forced_is_not_dropped(wages):
    ranking = rank(wages, "wage", leaks="drop", forced=["lwage"], seed=0)
    assert "lwage" in ranking.indices.names and ranking.findings[0].kind == "leak"


def test_a_table_of_leaks_only_is_refused(wages):
    with pytest.raises(ValueError, match='leaks="drop" would leave no factor: each contains the target'):
        rank(wages.select("wage", "lwage"), "wage", leaks="drop")


def test_proposed_groups_are_taken_on_request(wages):
    ranking = rank(wages, "wage", regroup=True, seed=0)
    assert "northcen_south" in ranking.indices.names and "south" not in ranking.indices.names
    assert "dummies" not in {one.kind for one in ranking.findings}
    grouped = rank(wages, "wage", factor_groups={"place": ["northcen", "south", "west"]}, regroup=True, seed=0)
    assert "place" in grouped.indices.names and "northcen_south" not in grouped.indices.names


def test_a_factor_that_explains_far_more_than_all_others_is_asked_about():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(400, 3))
    frame = pl.DataFrame(x, schema=["departure", "b", "c"]).with_columns(
        pl.Series("arrival", 5 * x[:, 0] + x[:, 1] + 0.5 * rng.normal(size=400))
    )
    (found,) = rank(frame, "arrival", seed=0).findings
    assert found.kind == "known" and "Is departure known before arrival?" in found.sentence
    even = frame.with_columns(arrival=pl.col("departure") + pl.col("b") + pl.col("c"))
    assert "known" not in {one.kind for one in rank(even, "arrival", seed=0).findings}


def test_ranks_are_compared_where_few_rows_hold_the_variance():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(300, 2))
    y = np.exp(3 * x[:, 0] + 0.3 * rng.normal(size=300))
    frame = pl.DataFrame(x, schema=["a", "b"]).with_columns(pl.Series("pay", y))
    found = next(one for one in rank(frame, "pay", forced=["a"], seed=0).findings if one.kind == "few rows")
    assert "of the ranks" in found.sentence and found.remedy == {"response_scale": "ranks"}


def test_a_plain_fit_does_not_look_at_columns(wages, monkeypatch):
    monkeypatch.setattr("firstfactor.findings.notice.notice", lambda *_: pytest.fail("looked"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataQualityWarning)
        FIRST(random_state=0).fit(wages.drop("wage"), wages["wage"])


def test_the_command_names_leaks_first_and_at_most_five_remarks(wages, tmp_path):
    path = tmp_path / "wages.csv"
    more = {f"{name}{k}": wages[name] * 2 + k for name in ("educ", "exper") for k in (1, 2)}
    draws = np.random.default_rng(3).normal(size=(5, N))
    squares = {f"a_{k}": pl.Series(values) for k, values in enumerate(draws)}
    extra = {f"log_{name}": values.exp() for name, values in squares.items()}
    wages.with_columns(**more, **squares, **extra).write_csv(path)
    shown = CliRunner().invoke(app, ["rank", str(path), "--target", "wage"], terminal_width=200).output
    shown = " ".join(shown.split())
    assert shown.index("Leak: lwage is wage in another form") < shown.index("wage depends most on")
    assert "--drop lwage" in shown and "more remarks about the table: --notes" in shown
    everything = CliRunner().invoke(app, ["rank", str(path), "--target", "wage", "--notes"]).output
    assert "--notes" not in everything and everything.count("Note: ") > shown.count("Note: ")
    dropped = CliRunner().invoke(app, ["rank", str(path), "--target", "wage", "--leaks", "drop", "--regroup"]).output
    assert "Leak: " not in dropped and "1 category" in dropped
