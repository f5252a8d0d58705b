import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from sample_tables import friedman, mixed
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from firstfactor import FIRST, DataQualityWarning, backward_elimination, total_indices
from firstfactor.problems import friedman as friedman_problem

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _same_numbers(monkeypatch):
    """Draw the same numbers in each test, whichever ran before."""
    monkeypatch.setitem(globals(), "RNG", np.random.default_rng(1))


def findings(X, y, **options):
    """What is found wrong with a table, whichever factors would be selected."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {(one.kind, one.column): one for one in total_indices(X, y, **options).findings}


def table(rows=200, **columns):
    """A table with two measured factors and others."""
    X = pd.DataFrame({"size": RNG.normal(size=rows), "sex": RNG.integers(0, 2, size=rows)})
    return X.assign(**columns), RNG.normal(size=rows)


def panel(persons=60, waves=5, unequal=False):
    """Workers seen several times: a level of each, what stays the same, and what changes."""
    times = RNG.integers(2, 2 * waves, size=persons) if unequal else np.full(persons, waves)
    number = np.repeat(np.arange(persons), times)
    X = pd.DataFrame(
        {
            "nr": 100 + number,
            "female": RNG.integers(0, 2, size=persons)[number],
            "hours": RNG.normal(40, 5, size=number.size).round(1),
        }
    )
    return X, RNG.normal(size=persons)[number] + 0.2 * RNG.normal(size=number.size)


# --- identifiers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("x", np.arange(200)),
        ("x", np.arange(200)[::-1] + 1000),
        ("x", np.arange(200.0)),
        ("x", np.sort(RNG.permutation(300)[:200])),
        ("x", np.r_[0, 1999, 2 + RNG.permutation(1990)[:198]]),
        ("x", RNG.permutation(200)),
        ("x", np.r_[0:195, 190:195]),
        ("PassengerId", RNG.integers(10**8, size=200)),
        ("person no", RNG.integers(10**8, size=200)),
        ("who", [f"u{i}" for i in range(200)]),
        ("who", [f"u{i % 120}" for i in range(200)]),
    ],
)
def test_what_says_which_row_it_is_is_found(name, values):
    X, y = table(**{name: values})
    found = findings(X, y)
    assert list(found) == [("identifier", name)]
    assert found["identifier", name].count == len(set(values))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("grams", RNG.normal(3000, 500, size=200).round()),
        ("income", np.exp(RNG.normal(10, 1, size=200)).round()),
        ("grams", np.sort(RNG.normal(3000, 500, size=200).round())),
        ("age", RNG.integers(18, 90, size=200)),
        ("age", np.sort(RNG.integers(18, 90, size=200))),
        ("x", np.arange(200) / 7),
        ("x", RNG.permutation(200) * 1000),
        ("x", np.r_[0, 3999, 2 + RNG.permutation(3990)[:198]]),
        ("year", np.arange(1800, 2000)),
        ("time_s", np.arange(200)),
        ("number of rooms", RNG.integers(1, 30, size=200)),
        ("covid", RNG.integers(10**6, size=200)),
        ("town", [f"u{i % 60}" for i in range(200)]),
        ("dose", np.repeat(np.arange(10), 20)),
        ("plot", np.repeat(np.arange(8), 25)),
    ],
)
def test_what_is_measured_is_no_identifier(name, values):
    assert not findings(*table(**{name: values}))


@pytest.mark.parametrize("unequal", [False, True])
@pytest.mark.parametrize("order", ["sorted", "shuffled"])
def test_numbers_of_persons_in_a_panel_are_found(unequal, order):
    X, y = panel(unequal=unequal)
    if order == "shuffled":  # the persons, not their rows
        X["nr"] = RNG.permutation(np.unique(X["nr"]))[X["nr"] - 100]
    found = findings(X.rename(columns={"nr": "z"}), y)
    assert list(found) == [("groups", "z")] and found["groups", "z"].count == 60
    assert list(findings(X.rename(columns={"nr": "id"}).sample(frac=1, random_state=0), y)) == [("groups", "id")]


def test_few_values_are_levels_and_many_rows_are_no_group():
    assert not findings(*table(rows=15, x=np.arange(15)))
    assert not findings(*table(rows=500, x=np.repeat(np.arange(20), 25)))


def test_a_panel_with_measurements_that_never_repeat_is_no_designed_experiment():
    X, y = panel()
    X["hours"] += 0.01 * RNG.uniform(size=len(X))
    assert list(findings(X[["nr", "hours"]], y)) == [("groups", "nr")]


def test_a_measured_column_that_the_table_is_sorted_by_numbers_no_groups():
    X, y = table(rows=400, age=np.sort(RNG.integers(18, 90, size=400)))
    X["class"] = X["age"] // 10  # stays the same in each run, but does not come back
    assert not findings(X, y)


def test_designed_experiments_have_no_identifiers():
    grid = pd.DataFrame(itertools.product(range(30), range(20)), columns=["a", "b"])
    assert not findings(grid, RNG.normal(size=600))
    hypercube = pd.DataFrame({name: RNG.permutation(100) for name in "abc"})
    assert not findings(hypercube, RNG.normal(size=100))


def test_a_single_factor_takes_no_place_from_others():
    assert not findings(np.arange(50.0)[:, None], RNG.normal(size=50))


# --- copies of rows ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [2, 5])
@pytest.mark.parametrize("make", [lambda: friedman(60), mixed, lambda: pair_of_classes(mixed), lambda: discrete(200)])
@pytest.mark.parametrize("shuffled", [False, True])
def test_a_table_put_together_from_itself_is_found(make, times, shuffled):
    X, y = make()
    X, y = pd.concat([pd.DataFrame(X)] * times, ignore_index=True), np.tile(y, times)
    order = RNG.permutation(len(X)) if shuffled else np.arange(len(X))
    distinct = len(X.assign(y=y).drop_duplicates())
    assert findings(X.iloc[order], y[order])["copies", None].count == len(X) - distinct


def pair_of_classes(make):
    X, y = make()
    return X, (y > np.median(y)).astype(float)


def discrete(rows):
    X = pd.DataFrame({"a": RNG.integers(0, 4, size=rows), "b": RNG.choice(list("uvw"), size=rows)})
    return X, X["a"].to_numpy() + RNG.integers(0, 3, size=rows)


def test_some_rows_entered_twice_are_found():
    X, y = mixed()
    again = np.r_[0:200, 0:20]
    assert findings(X.iloc[again], y[again])["copies", None].count == 20
    again = np.r_[0:200, 0:5]
    assert not findings(X.iloc[again], y[again])  # too few to matter
    for copies, found in ((4, []), (5, [("copies", None)])):  # of few rows, a few may be chance
        again = np.r_[0:40, 0:copies]
        assert list(findings(X.iloc[again], y[again])) == found


def test_minus_zero_is_zero():
    X, y = RNG.integers(0, 3, size=(60, 3)).astype(float), RNG.normal(size=60)
    assert findings(np.r_[X, np.where(X == 0, -0.0, X)], np.r_[y, y])["copies", None].count == 60


def test_the_same_values_in_other_factors_make_no_copy():
    X, y = RNG.integers(0, 1000, size=(60, 2)), RNG.normal(size=60)
    assert not findings(np.r_[X, X[:, ::-1]], np.r_[y, y], scale=False)


def test_rows_that_agree_by_chance_are_no_copies():
    assert [kind for kind, _ in findings(*discrete(500))] == ["classes"]  # a response of six whole numbers
    rounded = pd.DataFrame(RNG.normal(size=(500, 2)).round(1), columns=["a", "b"])
    assert not findings(rounded, (rounded["a"] + RNG.normal(size=500)).round(1).to_numpy())
    wages = np.exp(RNG.normal(2.5, 0.5, size=3000)).round(1)
    years = RNG.integers(0, 2, size=3000)
    assert not findings(pd.DataFrame({"wage": wages, "year": years}), RNG.integers(0, 2, size=3000))


def test_rows_are_no_copies_where_many_agree_in_all_columns_but_one():
    X = pd.DataFrame({"a": RNG.integers(0, 80, size=100) / 7, "b": RNG.integers(0, 2, size=100)})
    y = RNG.integers(0, 2, size=100)
    assert X.assign(y=y).duplicated().sum() > 5
    assert not findings(X, y)


def test_equal_rows_of_a_discrete_function_are_no_copies():
    X = pd.DataFrame(RNG.integers(0, 5, size=(1000, 3)), columns=list("abc"))
    assert not findings(X, (X["a"] * X["b"] + X["c"]).to_numpy())


@pytest.mark.parametrize("load", [load_diabetes, load_iris, load_wine, load_breast_cancer])
def test_tables_without_fault(load):
    X, y = load(return_X_y=True, as_frame=True)
    assert not findings(X, (y == y.iloc[-1]) if y.nunique() == 3 else y)
    assert not findings(*friedman_problem.sample(300, seed=0))


# --- where it is told -------------------------------------------------------------------------------------------------


def test_only_factors_with_an_index_are_warned_of():
    X, y = panel()
    with pytest.warns(DataQualityWarning, match=r"'nr' may just number groups of rows: it has 60 values with 5 rows"):
        selector = FIRST().fit(X, y)
    assert selector.indices_.names[selector.selected_[0]] == "nr"
    assert [one.column for one in selector.indices_.findings] == ["nr"]
    way_out = r"Drop the column, or use it as groups=, unless its values mean something\.$"
    with pytest.warns(DataQualityWarning, match=way_out) as told:
        backward_elimination(X, y)
    assert len(told) == 1 and told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataQualityWarning)
        assert FIRST().fit(X, X["hours"]).indices_.findings == ()  # the number is not selected


def test_a_column_that_tells_groups_says_more_than_the_order_of_rows():
    X, y = panel()
    assert list(findings(X, y)) == [("groups", "nr")]
    assert list(findings(X.drop(columns="nr"), y)) == [("order", None)]


def test_a_split_looks_at_all_rows():
    X, y = panel()
    with pytest.warns(DataQualityWarning, match="'nr' may just number.*5 rows each"):
        FIRST(split=True, random_state=0).fit(X, y)
    X, y = friedman(200)
    with pytest.warns(DataQualityWarning, match="200 of 400 rows are copies of others.*Drop the duplicates first"):
        FIRST(split=True, random_state=0).fit(np.tile(X, (2, 1)), np.tile(y, 2))


def test_notebooks_and_pages_show_it(tmp_path):
    X, y = panel()
    with pytest.warns(DataQualityWarning):
        selector = FIRST().fit(X.rename(columns={"nr": "<nr>"}), y)
    assert "&#x27;&lt;nr&gt;&#x27; may just number" in selector._repr_html_()
    selector.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    header = page[page.index("<header>") : page.index("</header>")]
    assert "&#39;&lt;nr&gt;&#39; may just number groups of rows" in header


# --- rows and responses -----------------------------------------------------------------------------------------------


def test_rows_that_were_left_out_are_counted():
    X = pd.DataFrame({"a": RNG.normal(size=50), "b": RNG.normal(size=50)})
    X.loc[:9, "b"] = np.nan
    X.loc[5:7, "a"] = np.nan
    y, weights = X["a"].fillna(0) + RNG.normal(size=50), np.ones(50)
    y[20:22], weights[30] = np.nan, 0
    with pytest.warns(DataQualityWarning) as told:
        fitted = FIRST(missing="drop").fit(X, y, sample_weight=weights)
    assert [str(one.message) for one in told if one.category is not FutureWarning] == [
        "2 rows without a response were left out.",
        "1 row with a weight of 0 was left out.",
        "10 rows with missing values ('b' 10, 'a' 3) were left out.",
    ]
    assert fitted.indices_.n_rows == 37
    expected = [i for i in range(10, 50) if i not in (20, 21, 30)]
    assert fitted.indices_.rows.tolist() == expected
    same = FIRST().fit(X.iloc[expected], y[expected])
    np.testing.assert_array_equal(fitted.importances_, same.importances_)


def test_a_response_of_few_whole_numbers_may_be_classes():
    X, y = load_wine(return_X_y=True)
    with pytest.warns(
        DataQualityWarning, match="'y' has 3 different whole numbers and is taken for a quantity. Use task="
    ):
        FIRST().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataQualityWarning)
        assert FIRST(task="classification").fit(X, y).classes_.tolist() == [0, 1, 2]


def test_groups_that_are_given_need_not_be_found():
    X, y = panel()
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataQualityWarning)
        FIRST().fit(X, y, groups=X["nr"])
