"""The real tables: read, fetched, prepared, and refused when they are not those of the paper."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.utils import Bunch

from study.data import real_tables
from study.data.real_tables import TABLES, as_numbers, load, split

SHARED = Path(__file__).parents[3] / "shared" / "data"
with_real_tables = pytest.mark.skipif(not SHARED.is_dir(), reason="the real tables are not beside the repository")


@pytest.fixture(autouse=True)
def no_folder(monkeypatch):
    monkeypatch.delenv(real_tables.FOLDER_VARIABLE, raising=False)


def listed(values):
    """A column whose values OpenML lists, which come as categories of text."""
    return pd.Series([str(value) for value in values], dtype="category")


def numbers(rows, names):
    rng = np.random.default_rng(0)
    return pd.DataFrame({name: rng.uniform(1, 2, rows) for name in names})


def with_mean(mean, rows, spread):
    noise = np.random.default_rng(1).normal(scale=spread, size=rows)
    return pd.Series(mean + noise - noise.mean())


def on_openml(data_id):
    """Data and target in the shape of the table on OpenML, as far as it is known."""
    match data_id:
        case 183:
            data = numbers(4177, ["Length", "Diameter", "Height", "W1", "W2", "W3", "W4"])
            data.insert(0, "Sex", listed(["M", "F", "I"] * 1392 + ["M"]))
            return data, listed([9] * 277 + [10] * 3900)
        case 196:
            data = numbers(398, ["displacement", "horsepower", "weight", "acceleration"])
            data.insert(0, "cylinders", listed([8, 4] * 199))
            data["model"], data["origin"] = listed([70, 71] * 199), listed([1, 3] * 199)
            data.loc[[10, 20, 30, 40, 50, 60], "horsepower"] = np.nan
            mpg = with_mean(23.4459, 392, 7)
            return data, pd.Series(np.insert(mpg, [10, 19, 28, 37, 46, 55], 99.0))
        case 531:
            data = numbers(506, [f"x{j}" for j in range(11)])
            data["CHAS"], data["RAD"] = listed([0, 1] * 253), listed([1, 24] * 253)
            return data, with_mean(22.5328, 506, 9)
        case 44959:
            return numbers(1030, [f"x{j}" for j in range(8)]), with_mean(35.8182, 1030, 16)
        case 505:
            absorbances = [f"absorbance_{j}" for j in range(1, 101)]
            components = [f"principal_component_{j}" for j in range(1, 23)]
            fat = pd.concat([with_mean(18.1423, 215, 12), pd.Series(np.full(25, 60.0))], ignore_index=True)
            return numbers(240, [*absorbances, *components, "moisture", "protein"]), fat
        case 6:
            return numbers(1737, [f"x{j}" for j in range(16)]), listed("A" * 789 + "S" * 748 + "BZ" * 100)
        case 40981:
            data = numbers(690, ["A2", "A3", "A7", "A10", "A13", "A14"])
            for name in ("A1", "A4", "A5", "A6", "A8", "A9", "A11", "A12"):
                data[name] = listed([0, 1, 2] * 230)
            return data, listed([1] * 307 + [0] * 383)
        case 15:
            data = numbers(699, [f"x{j}" for j in range(9)])
            data.loc[:15, "x5"] = np.nan
            return data, listed(["benign"] * 14 + ["malignant"] * 2 + ["malignant"] * 239 + ["benign"] * 444)
        case 37:
            data = numbers(768, ["preg", "plas", "pres", "skin", "insu", "mass", "pedi", "age"])
            data.loc[:375, "insu"] = 0
            data.loc[:10, "preg"] = 0
            data.loc[400:, "preg"] = 0
            return data, listed(["tested_negative"] * 638 + ["tested_positive"] * 130)
    raise AssertionError(f"nothing is known of {data_id}")


@pytest.fixture
def openml(monkeypatch):
    def fetch(*, data_id, as_frame):
        assert as_frame
        data, target = on_openml(data_id)
        return Bunch(data=data, target=target, frame=data.assign(any_name=target))

    monkeypatch.setattr(real_tables, "fetch_openml", fetch)


@pytest.mark.parametrize("name", [name for name, table in TABLES.items() if table.openml])
@pytest.mark.usefixtures("openml")
def test_a_fetched_table_is_prepared_as_in_the_paper(name):
    table = TABLES[name]
    X, y = load(name)
    assert X.shape == (table.n_rows, table.n_factors) and y.shape == (table.n_rows,)
    assert y.dtype == (bool if table.n_true else float)
    kinds = {column: str(kind) for column, kind in X.dtypes.items()}
    assert kinds == {column: "category" if column in table.openml.categories else "float64" for column in X}
    assert X.index.equals(pd.RangeIndex(table.n_rows)) and not X.isna().to_numpy().any()


@pytest.mark.usefixtures("openml")
def test_listed_numbers_keep_their_values():
    X, y = load("auto_mpg")
    assert set(X["cylinders"]) == {4.0, 8.0} and set(X["model"]) == {70.0, 71.0}
    assert set(X["origin"].cat.categories) == {"1", "3"}
    assert y.max() < 99  # the rows that went were those with a missing cell


def test_a_fetched_table_that_differs_is_refused(monkeypatch):
    def one_row_less(*, data_id, as_frame):  # noqa: ARG001
        data, target = on_openml(data_id)
        return Bunch(data=data[1:], target=target[1:])

    monkeypatch.setattr(real_tables, "fetch_openml", one_row_less)
    expected = r"not the table australian_credit .* 689 complete rows instead of 690, 306 rows of the class that counts"
    with pytest.raises(ValueError, match=expected):
        load("australian_credit")


def test_categories_that_are_not_there_are_not_taken_for_numbers(monkeypatch):
    def renamed(*, data_id, as_frame):  # noqa: ARG001
        data, target = on_openml(data_id)
        return Bunch(data=data.rename(columns={"A4": "a4"}), target=target)

    monkeypatch.setattr(real_tables, "fetch_openml", renamed)
    with pytest.raises(KeyError, match="A4"):
        load("australian_credit")


def test_without_a_network_the_error_says_what_to_do(monkeypatch):
    def unreachable(**_):
        raise OSError("no route to host")

    monkeypatch.setattr(real_tables, "fetch_openml", unreachable)
    with pytest.raises(FileNotFoundError, match=r"no route to host.*folder with concrete\.csv, by --data or FIRSTFAC"):
        load("concrete")


def test_a_table_that_openml_lacks_needs_a_folder():
    with pytest.raises(FileNotFoundError, match=r"Titanic is not on openml\.org.*folder with titanic\.csv"):
        load("titanic")


def titanic_like(rows=714, survivors=290):
    frame = numbers(rows, ["Pclass", "Age", "SibSp", "Parch", "Fare"])
    frame["Sex"], frame["Embarked"] = np.where(frame["Age"] > 1.5, "male", "female"), "S"
    return frame.assign(target=np.arange(rows) < survivors).astype({"target": int})


def test_a_file_is_read_from_the_folder_or_from_that_of_the_environment(tmp_path, monkeypatch):
    frame = titanic_like()
    frame.to_csv(tmp_path / "titanic.csv", index=False)
    X, y = load("titanic", tmp_path)
    assert y.dtype == bool and np.array_equal(y, frame["target"] == 1)
    assert [column for column in X if X[column].dtype == "category"] == ["Sex", "Embarked"]
    assert np.array_equal(X["Fare"], frame["Fare"]) and list(X["Sex"]) == list(frame["Sex"])
    monkeypatch.setenv(real_tables.FOLDER_VARIABLE, str(tmp_path))
    again, _ = load("titanic")
    pd.testing.assert_frame_equal(again, X)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (titanic_like(rows=712), "it has 712 complete rows instead of 714"),
        (titanic_like(survivors=291), "it has 291 rows of the class that counts as True instead of 290"),
        (titanic_like().drop(columns="Fare"), "it has 6 factors instead of 7"),
        (titanic_like().mask(lambda frame: frame == frame.loc[0, "Age"]), "it has 713 complete rows"),
        (titanic_like().rename(columns={"target": "Survived"}), "must be named 'target'; got 'Survived'"),
    ],
)
def test_a_file_with_another_table_is_refused(tmp_path, frame, message):
    frame.to_csv(tmp_path / "titanic.csv", index=False)
    with pytest.raises(ValueError, match=message):
        load("titanic", tmp_path)


def test_a_target_with_another_mean_is_refused(tmp_path):
    numbers(1030, [*"abcdefgh", "target"]).to_csv(tmp_path / "concrete.csv", index=False)
    with pytest.raises(ValueError, match=r"it has a target with mean 1\.\d+ instead of 35\.8180\."):
        load("concrete", tmp_path)


def test_wrong_names_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"name must be one of abalone, auto_mpg, .*titanic; got 'iris'\."):
        load("iris")
    with pytest.raises(FileNotFoundError, match="folder must be a directory"):
        load("titanic", tmp_path / "nowhere")


@with_real_tables
@pytest.mark.parametrize("name", TABLES)
def test_the_real_tables_are_those_of_the_paper(name):
    X, y = load(name, SHARED)
    raw = pd.read_csv(SHARED / f"{name}.csv")
    for column in X:
        assert list(X[column]) == list(raw[column])
    assert np.array_equal(y, raw["target"].astype(str) == TABLES[name].true_class if y.dtype == bool else raw["target"])


def test_four_rows_of_five_are_to_train_on():
    train, test = split(714, np.random.default_rng(3))
    assert train.size == 571 and np.array_equal(np.sort(np.concatenate([train, test])), np.arange(714))
    assert np.array_equal(split(714, np.random.default_rng(3))[0], train)
    assert not np.array_equal(split(714, np.random.default_rng(4))[0], train)


def test_forests_get_categories_by_their_place_in_the_alphabet():
    X = pd.DataFrame({"size": [2.5, 1.0, 3.0], "sex": pd.Categorical(["m", "f", "i"])})
    assert np.array_equal(as_numbers(X), [[2.5, 2.0], [1.0, 0.0], [3.0, 1.0]])
