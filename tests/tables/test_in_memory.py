"""Tables in memory, and the response, weights and groups beside them: `rank(X, y)` is `rank(table, "y")`."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from firstfactor import ColumnsWarning, DataQualityWarning, RowsWarning, rank

rng = np.random.default_rng(0)
VALUES = rng.uniform(size=(80, 3))
ANSWER = VALUES[:, 0] + 0.2 * rng.normal(size=80)
GROUPS, WEIGHTS = np.arange(80) // 4, rng.uniform(0.5, 1.5, 80)
X = pd.DataFrame(VALUES, columns=["a", "b", "c"])
TABLE = X.assign(y=ANSWER)
ONE = rank(TABLE, "y")


def values(ranking):
    return ranking.indices.values.tolist()


@pytest.mark.parametrize(
    ("data", "target"),
    [
        (X, pd.Series(ANSWER)),
        (X, ANSWER),
        (X, ANSWER.tolist()),
        (X, ANSWER[:, None]),
        (X, pd.Series(ANSWER, index=np.arange(80) + 1000)),
        (X, pl.Series(ANSWER)),
        (X, pa.chunked_array([ANSWER])),
        (VALUES, ANSWER),
        (VALUES.tolist(), tuple(ANSWER)),
        (pl.DataFrame(VALUES, schema=["a", "b", "c"]), ANSWER),
        (pl.LazyFrame(VALUES, schema=["a", "b", "c"]), pl.Series("y", ANSWER)),
        (pa.table(dict(zip("abc", VALUES.T, strict=True))), ANSWER),
        (pl.from_pandas(TABLE).lazy(), "y"),
        (TABLE, TABLE["y"]),
        (TABLE, TABLE[["y"]]),
        (TABLE, TABLE.columns[-1:]),
        (pd.DataFrame(np.c_[VALUES, ANSWER]), 3),
        (pd.DataFrame(np.c_[VALUES, ANSWER]), "3"),
        (np.c_[VALUES, ANSWER], "x3"),
        (TABLE.set_axis(pd.MultiIndex.from_tuples([("y" * (name == "y"), name) for name in TABLE]), axis=1), "y_y"),
        (X.astype(object), ANSWER),
        (X.astype({"a": pd.SparseDtype(float)}), ANSWER),
        (X, np.ma.masked_array(ANSWER)),
    ],
)
def test_a_response_beside_the_table(data, target):
    assert values(rank(data, target)) == values(ONE)


def test_the_response_has_the_name_of_the_series():
    assert rank(X, pd.Series(ANSWER, name="price")).dataset.target_names == ("price",)
    assert rank(X, ANSWER).dataset.target_names == ("y",)
    assert rank(TABLE, ANSWER).dataset.target_names == ("y (target)",)
    assert rank(VALUES, ANSWER).indices.names == ("x0", "x1", "x2")
    assert rank(X, np.c_[ANSWER, VALUES[:, 1]]).dataset.target_names == ("y0", "y1")
    several = pd.DataFrame({"u": ANSWER, "v": VALUES[:, 1]})
    assert rank(X, several).dataset.target_names == ("u", "v")


def test_the_response_inside_the_table_under_another_name_is_a_leak():
    with pytest.warns(DataQualityWarning, match=r"y is .* Without it: drop=\[\"y\"\]"):
        rank(TABLE.rename(columns={"y": "z"}).assign(y=ANSWER), "z")


@pytest.mark.parametrize("labels", [np.array(["hi", "lo"])[(ANSWER > 0.5).astype(int)], ANSWER > 0.5])
def test_classes_beside_the_table(labels):
    assert rank(X, labels).classes == rank(X.assign(y=labels), "y").classes != []


@pytest.mark.parametrize("make", [np.asarray, list, pl.Series, lambda some: pd.Series(some, name="who")])
@pytest.mark.parametrize("name", ["weight", "groups", "sample_weight"])
def test_weights_and_groups_beside_the_table(make, name):
    given = GROUPS if name == "groups" else WEIGHTS
    expected = rank(TABLE.assign(w=given), "y", **{name: "w"})
    assert values(rank(TABLE, "y", **{name: make(given)})) == values(expected)
    assert values(rank(TABLE.assign(w=given), "y", **{name: TABLE.assign(w=given)["w"]})) == values(expected)


def test_settings_name_what_was_given():
    settings = rank(TABLE, "y", weight=WEIGHTS, groups=pd.Series(GROUPS, name="who")).settings
    assert (settings["weight"], settings["groups"]) == ("weight", "who")


def test_names_may_be_numbers():
    table = pd.DataFrame(np.c_[VALUES, ANSWER])
    found = rank(table, 3, drop=[1], forced=2, scale={0: 2.0}, period={2: 1}, factor_groups={})
    assert found.indices.names == ("0", "2")
    assert found.indices.forced == (1,)
    assert rank(table, 3, factor_groups={"both": [0, 1]}).indices.names == ("both", "2")
    assert rank(table.round(0), 3, na=-999, categorical=[0]).indices.kinds[0] == "category"


@pytest.mark.parametrize(
    ("data", "target", "options", "message"),
    [
        (X, ANSWER[:9], {}, "target must have one value for each of the 80 rows of the table, or name a column; got 9"),
        (X, 1.5, {}, "target must be the name of a column, or one value for each row; got 1.5."),
        (X, [[1, 2], [3]], {}, "target must be the name of a column, or one value for each row; got list."),
        (X, 7, {}, "target: the table has no column '7'. The columns are: 'a', 'b' and 'c'."),
        (X, ["hi"] * 80, {}, "If these are the classes of the rows, pass them as an array: numpy.array(labels)."),
        (TABLE, pd.Series(-ANSWER, name="y"), {}, "target: the table has a column 'y' with other values. Rename one"),
        (TABLE, pd.Series(WEIGHTS, name="a"), {}, "target: the table has a column 'a' with other values. Rename one"),
        (X, pd.Series(ANSWER)[::-1], {}, "target: its rows are in another order than those of the table, to judge by"),
        (TABLE, "y", {"groups": GROUPS[:3]}, "groups must have one value for each of the 80 rows of the table"),
        (TABLE, "y", {"groups": X}, "groups must be the name of a column, or one value for each row; got DataFrame."),
        (TABLE, "y", {"weight": 1.5}, "weight must be the name of a column, or one value for each row; got 1.5."),
        (TABLE, "y", {"weight": -WEIGHTS}, "weight: column 'weight' of the table must hold numbers of at least 0"),
        (TABLE, "y", {"drop": [1.5]}, "drop must hold names of columns; got 1.5."),
        (TABLE, "y", {"categorical": [True, False, False]}, "categorical must hold names of columns; got True."),
        (TABLE, "y", {"format": "csv"}, "format= is for files; this table is in memory already. Leave out format=."),
    ],
)  # fmt: skip
def test_errors_say_what_is_wrong_beside_the_table(data, target, options, message):
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        rank(data, target, **options)


@pytest.mark.parametrize("option", ["target", "weight", "groups"])
def test_values_do_not_go_with_files(option, tmp_path):
    TABLE.to_csv(tmp_path / "t.csv")
    given = {"target": "y"} | {option: ANSWER}
    with pytest.raises(TypeError, match=f"{option} must name a column, because the table is in a file; got ndarray"):
        rank(tmp_path / "t.csv", **given)


def test_numbers_with_a_mark_among_them_are_told():
    mixed = TABLE.assign(a=X["a"].astype(object).where(X.index > 30, "n/a"))
    for table in (mixed, mixed.assign(a=mixed["a"].astype(str)), pl.DataFrame(mixed.astype({"a": str}))):
        with pytest.raises(
            ValueError, match=r"column 'a' of the table holds numbers, but for 'n/a' on row 1 and 30 more"
        ):
            rank(table, "y")
        found = rank(table, "y", na="n/a")
        assert found.indices.kinds == ("number", "number", "number") and found.indices.missing == (31, 0, 0)


def test_nothing_vanishes_silently():
    table = TABLE.assign(k=1, name=[f"p{i}" for i in range(80)], y=TABLE["y"].where(X.index > 2))
    with pytest.warns(
        ColumnsWarning, match=r"Left out: name \(text, all different\)\. Name text in categorical= to keep"
    ):
        rank(table, "y")
    with pytest.warns(ColumnsWarning, match=r"^k is constant: it has the same value in every row\.$"):
        rank(table, "y")
    with pytest.warns(RowsWarning, match=r"^3 rows without a value of y were left out\.$"):
        found = rank(table, "y")
    shown = " ".join(repr(found).split())
    assert "77 rows (3 without y dropped)" in shown and "Left out: name (text, all different)." in shown


def test_pandas_without_pyarrow(monkeypatch):
    days = pd.date_range("2020", periods=80, tz="Europe/Berlin")
    table = TABLE.assign(
        name=np.array(["u", "v", None], dtype=object)[np.arange(80) % 3],
        kind=pd.Categorical(np.array(["1", "2"])[np.arange(80) % 2]),
        size=pd.Categorical(np.array(["s", "m", "l"])[np.arange(80) % 3], ["s", "m", "l"], ordered=True),
        count=pd.array([1, None] * 40, dtype="Int64"),
        flag=pd.array([True, False, None, True] * 20, dtype="boolean"),
        day=days,
        gap=pd.Series(days).where(X.index > 2),
    )
    expected = rank(table, "y").indices

    def fail(*_, **__):
        raise ModuleNotFoundError("pyarrow is required")

    monkeypatch.setattr("narwhals.DataFrame.to_polars", fail)
    monkeypatch.setattr("narwhals.Series.to_polars", fail)
    found = rank(table, "y").indices
    assert (found.kinds, found.missing) == (expected.kinds, expected.missing)
    assert found.values.tolist() == expected.values.tolist()
