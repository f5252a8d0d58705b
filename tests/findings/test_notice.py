"""What a colleague would notice about ordinary tables, and near misses that must not be noticed."""

import numpy as np
import pandas as pd
import pytest

from firstfactor.findings.finding import CATEGORIES, DataQualityWarning, Finding, in_order
from firstfactor.findings.notice import notice
from firstfactor.problems import friedman, heavy_tailed, ishigami

N = 600


def people(seed=0, n=N):
    """Wages of people, with factors that explain half of them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "educ": rng.integers(8, 20, n),
            "exper": rng.integers(0, 40, n),
            "size": rng.lognormal(3, 1, n).round(2),
            "hours": rng.integers(10, 60, n),
            "female": rng.integers(0, 2, n),
            "region": rng.choice(["north", "south", "west"], n),
        }
    )
    frame["wage"] = np.exp(0.08 * frame.educ + 0.01 * frame.exper + 0.5 * rng.normal(size=n)).round(2)
    return frame


def noticed(frame, target="wage", **options):
    return notice(frame.drop(columns=target), frame[target], **options)


def leaks(frame, target="wage"):
    return {tuple(sorted(one.columns)) for one in noticed(frame, target) if one.kind == "leak"}


def functions(frame):
    return {(one.columns, one.sources) for one in noticed(frame) if one.kind == "function"}


def test_nothing_is_noticed_about_an_ordinary_table():
    assert [one.kind for one in noticed(people())] == []


# --- the target in disguise -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (lambda d: {"lwage": np.log(d.wage)}, {("lwage",)}),
        (lambda d: {"rank": -d.wage.rank()}, {("rank",)}),
        (lambda d: {"cents": (100 * d.wage).round() + np.arange(len(d)) % 2}, {("cents",)}),
        (lambda d: {"is_high": (d.wage > d.wage.median()).astype(int)}, {("is_high",)}),
        (lambda d: {"band": pd.cut(d.wage, [0, 2, 3, 5, 99]).astype(str)}, {("band",)}),
        (lambda d: {"total": d.wage * d.hours}, {("hours", "total")}),
        (lambda d: {"bonus": d["size"] - d.wage}, {("bonus", "size")}),
        (lambda d: {"gap": d["size"] / d.wage}, {("gap", "size")}),
        (lambda d: {"real": d.wage / (1 + np.arange(len(d)) // 100)}, {("real",)}),
        (lambda d: {"year": 1990 + np.arange(len(d)) // 100, "deflator": 1.0}, set()),
    ],
)
def test_columns_that_contain_a_quantity_are_leaks(columns, expected):
    frame = people()
    assert leaks(frame.assign(**columns(frame))) == expected


def test_a_count_is_the_sum_of_its_parts():
    rng = np.random.default_rng(1)
    parts = pd.DataFrame(rng.poisson(20, (300, 4)), columns=list("abcd")) * [1, 2, 3, 5]
    frame = parts.assign(other=rng.normal(size=300), wage=parts.sum(axis=1))
    assert leaks(frame) == {("a", "b", "c", "d")}
    assert leaks(frame[["a", "b", "other"]].assign(wage=frame.a + frame.b)) == {("a", "b")}
    assert leaks(frame.assign(wage=frame.wage + rng.normal(size=300))) == set()


def test_a_share_is_computed_from_two_counts():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"won": rng.integers(1, 40, 200), "lost": rng.integers(1, 40, 200), "x": rng.normal(size=200)})
    assert leaks(frame.assign(wage=frame.won / (frame.won + frame.lost))) == {("lost", "won")}


def test_relations_with_errors_in_a_few_rows_are_still_noticed():
    frame = people()
    frame["total"] = (frame.wage * frame.hours).round(2)
    frame.loc[[3, 77], "total"] *= 1.5
    assert leaks(frame) == {("hours", "total")}


def test_what_decides_the_zeros_is_a_leak():
    rng = np.random.default_rng(3)
    frame = people()
    works = rng.random(N) < 0.6
    frame["wage"] = np.where(works, frame.wage, 0)
    job = pd.Series(np.where(works, rng.choice(["clerk", "cook"], N), None))
    frame = frame.assign(inlf=works.astype(int), tenure=np.where(works, rng.integers(0, 9, N), np.nan), job=job)
    assert leaks(frame) == {("inlf",), ("tenure",), ("job",)}
    half = np.where(works | (rng.random(N) < 0.5), 1, 0)
    assert leaks(frame.drop(columns=["inlf", "tenure", "job"]).assign(half=half)) == set()


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (lambda d: {"code": d.died * 3 + 1}, {("code",)}),
        (lambda d: {"cause": np.where(d.died == 1, np.where(d.educ > 12, "heart", "lung"), "none")}, {("cause",)}),
        (lambda d: {"month": np.where(d.died == 1, d.exper % 12, np.nan)}, {("month",)}),
        (lambda d: {"score": d.died * 5 + d.wage / d.wage.max()}, {("score",)}),
        (lambda d: {"mine": d["size"] + np.where(d.died == 1, 1, -1) * d.wage}, {("mine", "size")}),
    ],
)
def test_columns_that_decide_a_class_are_leaks(columns, expected):
    frame = people().assign(died=np.random.default_rng(4).integers(0, 2, N))
    assert leaks(frame.assign(**columns(frame)), "died") == expected


def test_a_coarser_form_of_several_classes_is_a_leak():
    frame = people().assign(happy=np.random.default_rng(5).choice(["very", "so so", "not"], N))
    frame["very_happy"] = (frame.happy == "very").astype(int)
    assert leaks(frame, "happy") == {("very_happy",)}


@pytest.mark.parametrize("n", [100, 400, 3_000])
@pytest.mark.parametrize("seed", range(5))
def test_a_strong_driver_is_no_leak(seed, n):
    rng = np.random.default_rng(seed)
    driver, other = rng.normal(size=(2, n))
    wage = 7 * driver + rng.normal(size=n)  # an R² of 0.98
    frame = pd.DataFrame({"driver": driver, "other": other, "level": pd.cut(driver, 4).astype(str), "wage": wage})
    frame["rival"] = 0.95 * driver + 0.3 * rng.normal(size=n)  # a correlated pair
    assert noticed(frame) == () or {one.columns for one in noticed(frame)} == {("level",)}
    assert leaks(frame.assign(wage=wage > 1)) == set()


@pytest.mark.parametrize("seed", range(4))
def test_series_that_grow_together_are_no_leaks(seed):
    rng = np.random.default_rng(seed)
    years = np.arange(60)
    frame = pd.DataFrame(
        {"year": 1950 + years, "gdp": 3 * years + rng.normal(size=60).cumsum(), "pop": 100 + years**1.1}
    )
    frame["law"] = (years > 30).astype(int)
    frame["wage"] = 2 * years + rng.normal(size=60).cumsum()
    assert leaks(frame) == set()
    assert leaks(frame.assign(lwage=np.log(frame.wage + 50))) == {("lwage",)}


@pytest.mark.parametrize("problem", [friedman, ishigami, heavy_tailed], ids=lambda problem: problem.name)
def test_problems_with_known_answers_have_no_leaks(problem):
    X, y = problem.sample(500, seed=0, frame="pandas")
    assert [one for one in notice(X, y) if one.kind == "leak"] == []


def test_levels_of_a_category_with_25_are_no_finding():
    rng = np.random.default_rng(6)
    species = rng.integers(0, 25, N)
    frame = people().assign(species=[f"s{one}" for one in species], wage=species + rng.normal(size=N))
    assert noticed(frame) == ()


# --- functions of other factors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (lambda d: {"expersq": d.exper**2}, (("expersq",), ("exper",))),
        (lambda d: {"lsize": np.log(d["size"])}, (("lsize",), ("size",))),
        (lambda d: {"old": (d.exper > 20).astype(int)}, (("old",), ("exper",))),
        (lambda d: {"coast": d.region.map({"north": "n", "south": "s", "west": "n"})}, (("coast",), ("region",))),
        (lambda d: {"his": 1 - d.female}, (("his",), ("female",))),
        (lambda d: {"total": d.educ + d.exper + d.hours}, (("total",), ("educ", "exper", "hours"))),
        (lambda d: {"per_hour": d["size"] / d.hours}, (("per_hour",), ("size", "hours"))),
        (lambda d: {"age": d.educ + d.exper + 6}, (("age",), ("educ", "exper"))),
        (lambda d: {"fem_exper": d.female * d.exper}, (("fem_exper",), ("exper", "female"))),
        (lambda d: {"z": d["size"] - 30, "zsq": (d["size"] - 30) ** 2}, (("zsq",), ("z",))),
    ],
)
def test_functions_of_other_factors_are_found(columns, expected):
    frame = people()
    assert expected in functions(frame.assign(**columns(frame)))


def test_correlated_factors_are_no_functions_of_each_other():
    rng, frame = np.random.default_rng(7), people()
    frame["tenure"] = (frame.exper * rng.random(N)).round()
    frame["sizes"] = frame["size"] * np.exp(0.1 * rng.normal(size=N))
    frame["often"] = (frame.exper + rng.normal(0, 3, N) > 20).astype(int)
    frame["sum"] = frame.educ + frame.exper + rng.normal(size=N)
    assert noticed(frame) == ()


def test_neighbouring_points_of_a_spectrum_are_no_functions_of_each_other():
    rng = np.random.default_rng(8)
    curves = rng.normal(size=(200, 5)) @ np.sin(np.outer(np.arange(1, 6), np.linspace(0, 1.5, 40)))
    frame = pd.DataFrame(curves + 0.002 * rng.normal(size=curves.shape)).add_prefix("w")
    assert notice(frame, rng.normal(size=200)) == ()


# --- dummies ----------------------------------------------------------------------------------------------------------


def spread(levels, names):
    return {name: (levels == k).astype(int) for k, name in enumerate(names)}


def test_dummies_of_one_category_are_proposed_as_a_group():
    quarter = np.random.default_rng(9).integers(0, 4, N)
    frame = people().drop(columns="region")
    (complete,) = noticed(frame.assign(**spread(quarter, ["spring", "summer", "fall", "winter"])))
    assert complete.kind == "dummies" and complete.columns == ("spring", "summer", "fall", "winter")
    assert complete.command == "--factor-groups spring_summer=spring,summer,fall,winter"
    (partial,) = noticed(frame.assign(**spread(quarter, ["northcen", "south", "west"])))
    assert partial.columns == ("northcen", "south", "west") and "level of its own where all are 0" in partial.sentence
    (numbered,) = noticed(frame.assign(**spread(quarter, ["q1", "q2", "q3"])))
    assert numbered.python == 'factor_groups={"q1_q2": ["q1", "q2", "q3"]}'


def test_dummies_of_a_column_that_is_there_repeat_it():
    frame = people()
    frame = frame.assign(year=np.random.default_rng(10).integers(1990, 1994, N))
    (found,) = noticed(frame.assign(**spread(frame.year - 1991, ["y91", "y92", "y93"])))
    assert found.columns == ("y91", "y92", "y93") and found.sources == ("year",)
    assert found.remedy == {"drop": ["y91", "y92", "y93"]}


def test_indicators_that_only_happen_to_exclude_each_other_are_no_category():
    rng = np.random.default_rng(11)
    frame = people().drop(columns="region")
    independent = {"married": rng.random(N) < 0.6, "union": rng.random(N) < 0.3}
    assert noticed(frame.assign(**independent)) == ()
    time = np.arange(N)
    belts = {"sbprim": (time > 550).astype(int), "d80": (time < 40).astype(int), "flood": (time % 97 == 50).astype(int)}
    assert [one for one in noticed(frame.assign(**belts)) if one.kind == "dummies"] == []
    rare = {f"drug_{k}": (time % 200 == 3 * k).astype(int) for k in (1, 5, 9)}
    shuffled = pd.DataFrame(rare)[[*rare]].assign(gap1=rng.normal(size=N), gap2=rng.normal(size=N), gap3=1.0 * time)
    order = ["drug_1", "gap1", "gap2", "gap3", "drug_5", "drug_9"]
    assert [one for one in noticed(frame.assign(**shuffled[order])) if one.kind == "dummies"] == []


# --- units, few rows --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [True, False])
def test_units_whose_rows_are_alike_are_proposed_as_groups(text):
    rng = np.random.default_rng(12)
    unit = np.repeat(np.arange(60), 10)
    frame = people(n=N).assign(year=np.tile(np.arange(2000, 2010), 60))
    frame["state"] = [f"state {one}" for one in unit] if text else 100 + unit * 7 % 61
    frame["wage"] = rng.normal(size=60)[unit] + 0.1 * frame.educ + rng.normal(size=N)
    (found,) = [one for one in noticed(frame) if one.kind == "units"]
    assert found.columns == ("state",) and found.command == "--groups state" and found.python == 'groups="state"'
    assert [one for one in noticed(frame, is_grouped=True) if one.kind == "units"] == []
    shuffled = frame.assign(wage=rng.permutation(frame.wage))
    assert [one for one in noticed(shuffled) if one.kind == "units"] == []


def test_rows_that_hold_the_variance_are_named():
    rng = np.random.default_rng(13)
    frame = people()
    frame.loc[41, "wage"] = 900.0
    (found,) = noticed(frame)
    assert (
        found.kind == "few rows"
        and found.sentence.startswith("Row 42 holds ")
        and found.remedy == {"response_scale": "ranks"}
    )
    frame.loc[[5, 99], "wage"] = [700.0, 800.0]
    (found,) = noticed(frame)
    assert "rows 6, 42 and 100" in found.sentence or "rows 42 and 100" in found.sentence
    assert noticed(people().assign(wage=rng.normal(size=N))) == ()


# --- findings ---------------------------------------------------------------------------------------------------------


def test_every_kind_has_a_category_and_the_gravest_come_first():
    findings = [Finding(kind, kind) for kind in reversed(CATEGORIES)]
    assert [one.kind for one in in_order(findings)] == list(CATEGORIES)
    assert all(issubclass(category, DataQualityWarning) for category in CATEGORIES.values())


def test_remedies_can_be_pasted():
    finding = Finding("leak", "a b is y.", ("a b", "it's"), remedy={"drop": ["a b", "it's"]})
    assert finding.command_advice == "a b is y. Without them: --drop 'a b,it'\"'\"'s'."
    assert finding.advice == 'a b is y. Without them: drop=["a b", "it\'s"].'
    assert finding.as_dict()["remedy"] == {"drop": ["a b", "it's"]}


def test_a_sample_of_the_rows_does_not_decide():
    frame = people(n=5_000)
    frame["almost"] = np.log(frame.wage)
    frame["code"] = frame.educ // 3
    assert leaks(frame) == {("almost",)} and (("code",), ("educ",)) in functions(frame)
    frame.loc[::50, "almost"] = frame["size"][::50]
    frame.loc[::700, "code"] = 99
    assert leaks(frame) == set() and functions(frame) == set()


def test_missing_values_and_several_outputs_do_no_harm():
    frame = people()
    frame["lwage"] = np.log(frame.wage)
    frame.loc[::7, "lwage"] = np.nan
    frame.loc[::5, "exper"] = np.nan
    frame["none"] = np.nan
    assert leaks(frame) == {("lwage",)}
    outputs = frame[["wage", "educ"]]
    found = notice(frame.drop(columns=["wage", "educ"]), outputs)
    assert {one.columns for one in found if one.kind == "leak"} == {("lwage",)}
