"""Tables as people have them: gaps, classes, dates, weights, persons, several outputs. All are made up.

Each has the shape of a table that was once refused at first try, or lost most of its rows. Each goes through `rank` and
through the command, and the main statement of its answer is checked: what drives the response, and what is said about
the table.
"""

import datetime
import json
import re

import numpy as np
import polars as pl
import pytest
from command import run_here

from firstfactor import DataQualityWarning, rank, total_indices


def gaps(rng, values, share):
    """The values, some of which are missing at random."""
    lost = rng.uniform(size=len(values)) < share
    return [None if gone else value for value, gone in zip(np.asarray(values).tolist(), lost, strict=True)]


def passengers():
    """Ages that nobody wrote down, cabins that few had; a name and a ticket for each row."""
    rng = np.random.default_rng(1)
    n = 600
    sex, ticket_class = rng.choice(["female", "male"], n), rng.integers(1, 4, n)
    survived = rng.uniform(size=n) < np.where(sex == "female", 0.95, 0.1)
    cabin = [f"C{rng.integers(0, 150)}" if rng.uniform() < 0.25 else None for _ in range(n)]
    return pl.DataFrame(
        {
            "name": [f"passenger {i}" for i in rng.permutation(n)],
            "class": ticket_class,
            "sex": sex,
            "age": gaps(rng, rng.integers(1, 80, n), 0.2),
            "fare": (rng.exponential(20, n) / ticket_class).round(2),
            "cabin": cabin,
            "survived": survived.astype(int),
        }
    )


def birds():
    """Three species as text, and measurements that some birds lack."""
    rng = np.random.default_rng(2)
    n = 300
    species = rng.choice(["anna", "bert", "carl"], n, p=[0.45, 0.2, 0.35])
    which = np.unique(species, return_inverse=True)[1]
    return pl.DataFrame(
        {
            "species": species,
            "island": rng.choice(["north", "south"], n),
            "bill": gaps(rng, (40 + 9 * (which > 0) + rng.normal(size=n)).round(1), 0.02),
            "flipper": gaps(rng, (190 + 25 * (which == 2) + 3 * rng.normal(size=n)).round(), 0.02),
            "sex": gaps(rng, rng.choice(["f", "m"], n), 0.05),
        }
    )


def films():
    """A table of which 97 % of the rows are incomplete."""
    rng = np.random.default_rng(3)
    n = 1000
    budget, length = rng.uniform(1, 200, n).round(1), rng.normal(100, 15, n).round()
    frame = pl.DataFrame(
        {
            "budget": gaps(rng, budget, 0.1),
            "length": gaps(rng, length, 0.1),
            "sales": gaps(rng, rng.uniform(0, 9, n).round(2), 0.9),
            "director": gaps(rng, rng.choice([f"d{i}" for i in range(30)], n), 0.65),
            "gross": (3 * budget + rng.normal(0, 20, n)).round(2),
        }
    )
    assert frame.drop_nulls().height < 0.04 * n
    return frame


def wines():
    """Three classes that are written as whole numbers."""
    rng = np.random.default_rng(4)
    kind = rng.integers(0, 3, 240)
    return pl.DataFrame(
        {
            "alcohol": np.array([13.7, 12.3, 13.2])[kind] + 0.2 * rng.normal(size=240),
            "ash": rng.normal(2.4, 0.3, 240),
            "colour": np.array([5.5, 3.1, 7.4])[kind] + 0.4 * rng.normal(size=240),
            "class": kind,
        }
    )


def digits():
    """Ten classes that are written as whole numbers, from bright pixels and dark ones."""
    rng = np.random.default_rng(5)
    digit = rng.integers(0, 10, 600)
    bits = {f"pixel {b}": np.clip(8 * ((digit >> b) & 1) + rng.integers(0, 4, 600), 0, 16) for b in range(4)}
    return pl.DataFrame({**bits, "corner": rng.integers(0, 3, 600), "digit": digit})


def panel():
    """Fifty people with twenty rows each, and an effect of the person that no factor explains."""
    rng = np.random.default_rng(6)
    person = np.repeat(np.arange(50), 20)
    dose, age = rng.uniform(size=1000), rng.integers(20, 70, 50)[person]
    return pl.DataFrame(
        {
            "person": person,
            "age": age,
            "dose": dose,
            "y": 3 * dose + rng.normal(size=50)[person] + 0.3 * rng.normal(size=1000),
        }
    )


def sales():
    """Sales by the hour: a trend, a season, weekends and the time of day."""
    rng = np.random.default_rng(7)
    start = datetime.datetime(2021, 1, 1)
    hours = np.sort(rng.choice(3 * 365 * 24, 1500, replace=False))
    when = [start + datetime.timedelta(hours=int(hour)) for hour in hours]
    of_day = np.array([moment.hour for moment in when])
    weekend = np.array([moment.weekday() >= 5 for moment in when])
    sold = 10 * np.sin(2 * np.pi * of_day / 24) + 12 * weekend + rng.normal(size=1500)
    return pl.DataFrame({"when": when, "price": rng.uniform(1, 2, 1500).round(2), "sold": sold.round(2)})


def survey():
    """Answers with a weight; those with a small one say something else."""
    rng = np.random.default_rng(8)
    income, age = rng.normal(size=500), rng.normal(size=500)
    heavy = rng.uniform(size=500) < 0.7
    return pl.DataFrame(
        {
            "income": income,
            "age": age,
            "weight": np.where(heavy, rng.uniform(1, 2, 500), 0.01),
            "happy": np.where(heavy, income, age) + 0.1 * rng.normal(size=500),
        }
    )


def machine():
    """Two outputs with a driver each, and one-hot columns of the material."""
    rng = np.random.default_rng(9)
    n = 500
    material = rng.integers(0, 4, n)
    speed, load, width = rng.uniform(size=(3, n))
    one_hot = {
        f"material_{name}": (material == k).astype(int) for k, name in enumerate(["iron", "steel", "tin", "zinc"])
    }
    return pl.DataFrame(
        {
            "speed": speed,
            "load": load,
            "width": width,
            **one_hot,
            "heat": 100 * speed + 5 * rng.normal(size=n),
            "wear": load + np.array([0.0, 1.0, 3.0, 0.5])[material] + 0.05 * rng.normal(size=n),
        }
    )


@pytest.fixture
def ask(tmp_path):
    """Ask the command about a table in a CSV file, and get what is printed and what is known."""

    def ask(frame, *options):
        frame.write_csv(tmp_path / "t.csv", null_value="NA")
        outputs = ("--json", "t.json", "--html", "t.html", "--csv", "t2.csv", "--plot", "t.svg")
        finished = run_here("rank", "t.csv", *options, *outputs, folder=tmp_path, COLUMNS="200")
        assert (finished.returncode, finished.stderr.decode()) == (0, "")
        assert "<html" in (tmp_path / "t.html").read_text(encoding="utf-8")
        return " ".join(finished.stdout.decode().split()), json.loads((tmp_path / "t.json").read_text())

    return ask


def selected(ranking):
    return [ranking.indices.names[i] for i in ranking.indices.selected]


def first_of(written):
    return written["factors"][0]["factor"]


# --- missing values -------------------------------------------------------------------------------------


def test_passengers_with_unknown_ages_and_cabins(ask):
    frame = passengers()
    found = rank(frame, "survived")
    unknown = {name: frame[name].null_count() for name in ("age", "cabin")}
    assert selected(found)[0] == "sex" and len(found.dataset.X) == 600
    assert dict(zip(found.indices.names, found.indices.missing, strict=True)) == {
        "class": 0, "sex": 0, "age": unknown["age"], "fare": 0, "cabin": unknown["cabin"]
    }  # fmt: skip
    printed, written = ask(frame, "-t", "survived")
    assert "t.csv: 600 rows, 5 factors (3 numbers, 2 categories); survived has two classes. Left out: name" in printed
    assert f"Missing values: cabin {unknown['cabin']} and age {unknown['age']} (each a level of its own)." in printed
    assert first_of(written) == "sex" and written["data"]["classes"] == [0, 1]
    assert {row["factor"]: row["missing"] for row in written["factors"]}["cabin"] == unknown["cabin"]


def test_films_of_which_few_are_complete(ask):
    frame = films()
    found = rank(frame, "gross")
    assert selected(found)[0] == "budget" and found.indices.n_rows == 1000
    assert found.indices.r2_ceiling > 0.85
    printed, written = ask(frame, "-t", "gross")
    assert "1,000 rows, 4 factors" in printed and re.search(r"Missing values: sales \d+, director \d+, ", printed)
    assert first_of(written) == "budget"


def test_dropping_says_what_each_column_costs(ask):
    frame = films()
    left, lost = frame.drop_nulls().height, frame["sales"].null_count()
    found = rank(frame, "gross", missing="drop")
    (note,) = [note for note in found.notes() if "missing" in note]
    assert note.startswith(f"{1000 - left} rows with missing values were left out ('sales' {lost}, 'director' ")
    assert note.endswith(f"{left} of 1,000 are left.")
    printed, _ = ask(frame, "-t", "gross", "--missing", "drop")
    assert f"{left} rows ({1000 - left} with missing values dropped: sales {lost}, director" in printed
    with pytest.raises(ValueError, match=r"4 columns of the table have missing values: 'sales' \d+ \(first on row"):
        rank(frame, "gross", missing="error")


def test_rows_without_a_target_are_left_out_and_counted(ask):
    rng = np.random.default_rng(0)
    frame = films().with_columns(gross=pl.Series(gaps(rng, films()["gross"], 0.2)))
    n_lost = frame["gross"].null_count()
    found = rank(frame, "gross")
    assert f"{n_lost} rows without a value of gross were left out." in found.notes()
    printed, written = ask(frame, "-t", "gross")
    assert f"{1000 - n_lost} rows ({n_lost} without gross dropped), 4 factors" in printed
    assert written["data"]["rows_without_target"] == n_lost and first_of(written) == "budget"


# --- classes --------------------------------------------------------------------------------------------


def test_birds_by_species(ask):
    frame = birds()
    found = rank(frame, "species")
    assert set(selected(found)[:2]) == {"bill", "flipper"} and found.classes == ["anna", "bert", "carl"]
    assert found.indices.r2_ceiling > 0.9
    printed, written = ask(frame, "-t", "species", "--stability", "2", "--split")
    assert "species has 3 classes." in printed and "of the Gini impurity of species (a Brier score of " in printed
    assert written["data"]["classes"] == ["anna", "bert", "carl"]
    assert {row["factor"] for row in written["factors"][:2]} == {"bill", "flipper"}


def test_whole_numbers_may_be_classes(ask):
    frame = wines()
    with pytest.warns(DataQualityWarning, match="'class' has 3 different whole numbers and is taken for a quantity"):
        assert rank(frame, "class").indices.task == "regression"
    found = rank(frame, "class", task="classification")
    assert found.classes == [0, 1, 2] and set(selected(found)) == {"alcohol", "colour"}
    printed, _ = ask(frame, "-t", "class")
    assert "class is numeric." in printed
    assert "'class' has 3 different whole numbers and is taken for a quantity. Use --task classification if" in printed
    printed, written = ask(frame, "-t", "class", "--task", "classification")
    assert "class has 3 classes." in printed and written["data"]["classes"] == [0, 1, 2]


@pytest.mark.slow
def test_ten_digits(ask):
    frame = digits()
    pixels = {f"pixel {b}" for b in range(4)}
    found = rank(frame, "digit", task="classification", rule="paper")
    assert set(selected(found)) == pixels and found.classes == list(range(10))
    assert set(selected(rank(frame, "digit", task="classification"))) >= pixels
    printed, written = ask(frame, "-t", "digit", "--task", "classification", "--max-factors", "2")
    assert "digit has 10 classes." in printed and sum(row["selected"] for row in written["factors"]) == 2


# --- rows -----------------------------------------------------------------------------------------------


def test_people_with_many_rows(ask):
    frame = panel()
    with pytest.warns(DataQualityWarning, match="Rows with the same person are alike"):
        naive = rank(frame, "y")
    found = rank(frame, "y", groups="person")
    assert "person" in selected(naive) and "person" not in found.indices.names
    explained = frame.select((3 * pl.col("dose")).var() / pl.col("y").var()).item()
    assert naive.indices.r2_ceiling > explained + 0.15
    assert selected(found)[0] == "dose" and abs(found.indices.r2_ceiling - explained) < 0.15
    printed, _ = ask(frame, "-t", "y")
    assert "Use --groups person to keep such rows from being each other's neighbours" in printed
    printed, written = ask(frame, "-t", "y", "--groups", "person", "--stability", "2")
    assert "1,000 rows in 50 groups by person, 2 factors" in printed and "may just number" not in printed
    assert first_of(written) == "dose" and written["settings"]["groups"] == "person"


def test_answers_with_a_weight(ask):
    frame = survey()
    unweighted = rank(frame, "happy", drop=["weight"])
    found = rank(frame, "happy", weight="weight")
    assert set(selected(unweighted)) == {"income", "age"}
    assert selected(found)[0] == "income" and found.indices.r2_ceiling > unweighted.indices.r2_ceiling
    printed, written = ask(frame, "-t", "happy", "--weight", "weight")
    assert "500 rows weighted by weight, 2 factors" in printed and first_of(written) == "income"


# --- dates ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "written_as", ["%Y-%m-%d %H:%M:%S", "%d.%m.%Y %H:%M", "%m/%d/%y %I:%M %p", "%Y-%m-%dT%H:%M:%SZ"]
)
def test_sales_by_the_hour(ask, written_as):
    frame = sales()
    found = rank(frame, "sold", date_parts=True)
    assert set(selected(found)) >= {"when (hour)", "when (weekday)"} and selected(found)[0] == "when (hour)"
    assert dict(zip(found.indices.names, found.indices.kinds, strict=True)) == {
        "when": "date", "when (season)": "periodic", "when (weekday)": "category", "when (hour)": "periodic",
        "price": "number",
    }  # fmt: skip
    written_out = frame.with_columns(when=pl.col("when").dt.strftime(written_as))
    printed, written = ask(written_out, "-t", "sold", "--date-parts")
    assert "5 factors (1 number, 1 category, 1 date, 2 periodic)" in printed
    assert {row["factor"]: row["importance"] for row in written["factors"]} == pytest.approx(
        dict(zip(found.indices.names, found.indices.shares.tolist(), strict=True))
    )


def test_a_date_is_a_number_of_days(ask):
    frame = sales().with_columns(pl.col("when").dt.date(), sold=pl.int_range(1500) / 7)
    found = rank(frame, "sold")
    assert selected(found)[0] == "when" and found.indices.kinds[0] == "date"
    ambiguous = frame.filter(pl.col("when").dt.day() <= 12).with_columns(pl.col("when").dt.strftime("%d/%m/%Y"))
    printed, _ = ask(ambiguous, "-t", "sold")
    assert "Note: Dates in column 'when' were read as month/day/year. Write them as year-month-day if they" in printed


# --- several columns ------------------------------------------------------------------------------------


def test_two_outputs(ask):
    frame = machine()
    targets = ["heat", "wear"]
    found = rank(frame, targets, factor_groups={"material": ["material_*"]})
    assert set(selected(found)) == {"speed", "material", "load"} and found.dataset.y.columns == targets
    alone = rank(frame, targets, output_weights=[1, 0], drop=["material_*"])
    assert selected(alone)[0] == "speed"
    printed, written = ask(frame, "-t", "heat", "-t", "wear", "--factor-groups", "material=material_*", "--split")
    assert "heat and wear are explained together." in printed
    assert "of the variance of heat and wear (standardised, summed)" in printed
    assert written["data"]["target"] == targets
    assert written["settings"]["factor_groups"]["material"][0] == "material_iron"


def test_one_hot_columns_are_one_category_again(ask):
    frame = machine().drop("heat")
    found = rank(frame, "wear", factor_groups={"material": "material_*"})
    kinds = dict(zip(found.indices.names, found.indices.kinds, strict=True))
    assert selected(found)[0] == "material" and kinds["material"] == "category"
    options = ("-t", "wear", "--factor-groups", "material=material_iron,material_[stz]*", "--forced", "width")
    printed, written = ask(frame, *options)
    assert "4 factors (3 numbers, 1 category)" in printed and "always in" in printed
    assert first_of(written) == "material"
    assert [row["factor"] for row in written["factors"] if row["forced"]] == ["width"]
    printed, written = ask(frame, *options, "--rule", "calibrated")
    (width,) = (row for row in written["factors"] if row["forced"])
    assert "always in" in printed and width["p_value"] is None and not width["weak"]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["first", "first-fast", "backward", "total"])
@pytest.mark.parametrize(
    "options", [("-t", "species"), ("-t", "bill", "-t", "flipper"), ("-t", "bill", "--groups", "id")]
)
def test_every_method_takes_every_table(ask, method, options):
    frame = birds().with_columns(id=pl.int_range(300) // 3).drop_nulls(["bill", "flipper"])
    _, written = ask(frame, *options, "--method", method)
    assert written["data"]["rows_used"] == len(frame) and written["r2_ceiling"] > 0.3


@pytest.mark.parametrize(
    "option", [{"response_scale": "ranks"}, {"period": {"length": 40}}, {"scale": {"budget": 50.0}}]
)
def test_what_is_said_of_columns_reaches_the_search(ask, option):
    frame = films()
    plain, found = (rank(frame, "gross", method="total", **more).indices for more in ({}, option))
    expected = total_indices(frame.drop("gross"), frame["gross"], **option)
    assert found.values.tolist() == expected.values.tolist() != plain.values.tolist()
    ((name, value),) = option.items()
    typed = value if isinstance(value, str) else ",".join(f"{column}={number}" for column, number in value.items())
    printed, written = ask(frame, "-t", "gross", "--method", "total", f"--{name.replace('_', '-')}", typed)
    assert written["settings"][name] == value
    assert ("of the variance of the ranks of gross" in printed) == (typed == "ranks")
