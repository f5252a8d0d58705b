"""Factors that are functions of others."""

import numpy as np
import pandas as pd
import pytest
from designs import read_design

from firstfactor.evidence.known import known_from, nearly_known
from tests.evidence.parts import functions_of, regression_on

ROWS = 240


def table():
    rng = np.random.default_rng(0)
    country = rng.integers(0, 12, size=ROWS)
    x, z = rng.normal(size=(2, ROWS))
    grid = rng.integers(0, 8, size=ROWS)
    wrong = country // 4 == 0
    wrong[np.flatnonzero(wrong)[0]] = False
    return pd.DataFrame(
        {
            "country": [f"country {c}" for c in country],
            "continent": [f"continent {c // 4}" for c in country],
            "wealth": (country * 7 % 12) / 3,
            "nearly": wrong,
            "x": x,
            "z": z,
            "square": 3 * (x - 0.3) ** 2,
            "sum": 2 * x - 5 * z + 7,
            "both": x**2 + z,
            "product": x * z,
            "rising": np.exp(x),
            "falling": -(x**3),
            "grid": grid,
            "even": grid % 2 == 0,
            "step": np.floor(x),
            "x with gaps": np.where(np.arange(ROWS) % 9 == 0, np.nan, x),
        }
    )


NAMES = list(table())


def known(name, others, X=None):
    design = read_design(table() if X is None else X)
    found = known_from(design, NAMES.index(name), [NAMES.index(other) for other in others])
    return [NAMES[i] for i in found]


@pytest.mark.parametrize(
    ("name", "others", "expected"),
    [
        ("continent", ["country"], ["country"]),
        ("continent", ["x", "country", "z"], ["country"]),
        ("country", ["continent"], []),
        ("wealth", ["country"], ["country"]),
        ("nearly", ["country"], []),
        ("country", ["wealth"], ["wealth"]),  # one level for each number
        ("even", ["grid"], ["grid"]),
        ("grid", ["even"], []),
        ("x", [], []),
        ("x", ["z"], []),
        ("square", ["x"], ["x"]),
        ("square", ["z"], []),
        ("x", ["square"], []),
        ("sum", ["x", "z"], ["x", "z"]),
        ("sum", ["country", "z", "grid", "x"], ["x", "z"]),
        ("x", ["sum", "z"], ["sum", "z"]),
        ("sum", ["x"], []),
        ("both", ["x", "z"], ["x", "z"]),
        ("product", ["x", "z"], []),
        ("rising", ["x"], ["x"]),
        ("x", ["rising"], ["rising"]),
        ("falling", ["z", "x"], ["x"]),
        ("falling", ["rising"], ["rising"]),
        ("step", ["x"], []),  # one value of it for several of the other: it is not found
        ("x with gaps", ["x"], []),
        ("x", ["x with gaps"], []),
    ],
)
def test_a_function_of_others_is_known_from_them(name, others, expected):
    assert sorted(known(name, others)) == expected


def test_copies_are_known_from_each_other():
    X = table()
    assert known("z", ["x"], X.assign(z=X["x"])) == ["x"]
    assert known("continent", ["country"], X.assign(continent=X["country"].str.upper())) == ["country"]


def test_levels_of_single_rows_decide_nothing():
    """Else a number without ties would decide everything."""
    X = pd.DataFrame({"id": [f"row {i // 2}" for i in range(20)], "flag": [i // 2 % 2 == 0 for i in range(20)]})
    assert known_from(read_design(X), 1, (0,)) == (0,)
    more = pd.DataFrame({"id": [*X["id"].iloc[:19], "another"], "flag": X["flag"]})
    assert known_from(read_design(more), 1, (0,)) == ()


@pytest.mark.parametrize(("days", "expected"), [(50, (0,)), (51, ())])
def test_a_number_of_many_values_decides_nothing(days, expected):
    """The day tells whether one works, but no curve of it does; a day that is a category still decides."""
    day = np.arange(ROWS) % days
    X = pd.DataFrame({"day": day, "workday": day % 7 < 5})
    assert known_from(read_design(X), 1, (0,)) == expected
    assert known_from(read_design(X.astype({"day": "category"})), 1, (0,)) == (0,)


def test_what_is_nearly_a_sum_is_none():
    X = table()
    for share, expected in ((1e-3, []), (1e-7, ["x", "z"])):
        nearly = X["sum"] + share * X["sum"].std() * np.random.default_rng(1).normal(size=ROWS)
        assert known("sum", ["x", "z"], X.assign(sum=nearly)) == expected


def test_few_rows_are_no_combination():
    X = np.random.default_rng(0).normal(size=(10, 4))
    wide, narrow = X.copy(), X[:, [0, 1, 3]]
    wide[:, 3], narrow[:, 2] = wide[:, :3].sum(axis=1), narrow[:, :2].sum(axis=1)
    assert known_from(read_design(wide), 3, (0, 1, 2)) == ()  # seven coefficients for ten rows
    assert known_from(read_design(narrow), 2, (0, 1)) == (0, 1)


def test_factors_of_several_columns_decide_together():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, size=(2, 90))
    X = pd.DataFrame({"a": a, "b": b, "which": [f"level {i}" for i in (a + b) % 2]})
    together = read_design(X, factor_groups={"both": ["a", "b"]})
    assert known_from(together, together.names.index("which"), (together.names.index("both"),))
    assert known_from(read_design(X), 2, (0, 1)) == ()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", [1e-200, 1e-8, 1e8, 1e200])
def test_units_and_distance_from_zero_do_not_matter(unit):
    X = table()[["x", "z", "square", "sum", "product"]]
    for scaled in (X * unit, X + 1e5):
        design = read_design(scaled)
        assert [known_from(design, i, (0, 1)) for i in (2, 3, 4)] == [(0,), (0, 1), ()]


@pytest.mark.parametrize("weights", [None, np.random.default_rng(1).uniform(0.5, 2, size=ROWS)])
def test_only_those_of_which_a_regression_leaves_hardly_anything_can_be_functions(weights):
    functions = functions_of(table())
    base = [NAMES.index(name) for name in ("country", "x", "z")]
    whole = regression_on(functions, base, weights)
    others = [i for i in range(len(NAMES)) if i not in base]
    found = {NAMES[i] for i in nearly_known(functions, whole, others)}
    assert {"continent", "wealth", "square", "sum", "both", "rising", "falling"} <= found
    assert not found & {"grid", "even", "x with gaps"}
    assert nearly_known(functions, whole, []) == []


@pytest.mark.parametrize(
    ("name", "others"), [("continent", ["country"]), ("rising", ["x"]), ("sum", ["x", "z"]), ("both", ["x", "z"])]
)
@pytest.mark.parametrize("row", [100, 101])
def test_one_row_contradicts_a_relation_wherever_it_is(name, others, row):
    X = table()
    assert known(name, others, X)
    X.loc[row, name] = "elsewhere" if name == "continent" else X[name].mean()
    assert not known(name, others, X)
