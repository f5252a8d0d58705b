"""Two factors together, as colours."""

import sys

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sample_tables import mixed

from firstfactor import FIRST, total_indices
from firstfactor.plots import plot_pair
from firstfactor.plots.original_data import AnalysedTable
from firstfactor.plots.pair import _write_numbers, read_pair


@pytest.fixture(autouse=True)
def without_pyplot(monkeypatch):
    """Let figures be plain, whatever other tests have imported."""
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)


def product(rows=2000):
    X = pd.DataFrame(np.random.default_rng(0).uniform(-1, 1, size=(rows, 3)), columns=["left", "right", "idle"])
    return X, (X["left"] * X["right"]).to_numpy()


def texts(labels):
    return [label.get_text() for label in labels]


def test_cells_hold_the_mean_of_their_rows():
    X, y = product()
    pair = read_pair(AnalysedTable(X, y, total_indices(X, y)), 0, 1)
    assert pair.means.shape == (8, 8)
    assert pair.counts.sum() == 2000 and pair.counts.min() > 10
    edges = [np.quantile(X[name], np.linspace(0, 1, 9)) for name in ("left", "right")]
    rows = (X["left"] < edges[0][1]) & (X["right"] >= edges[1][-2])
    assert pair.means[-1, 0] == pytest.approx(y[rows].mean())
    corners = pair.means[[0, 0, -1, -1], [0, -1, 0, -1]]
    assert (np.sign(corners) == [1, -1, -1, 1]).all() and (np.abs(corners) > 0.5).all()


def test_axes_have_names_and_values_in_units_of_the_table():
    X, y = product()
    ax = plot_pair(X * 1000, y, FIRST().fit(X * 1000, y), "left", "right")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("left", "right")
    shown = [float(text.replace("−", "-").replace(",", "")) for text in texts(ax.get_xticklabels())]
    assert len(shown) == 9 and shown == sorted(shown)
    assert shown[0] == pytest.approx(-1000, abs=5) and shown[-1] == pytest.approx(1000, abs=5)
    scale = ax.figure.axes[1]
    assert scale.get_ylabel() == "y"
    ax.figure.draw_without_rendering()
    sizes = {text.get_fontsize() for text in (*ax.get_xticklabels(), *scale.get_yticklabels(), ax.xaxis.label)}
    assert sizes == {ax.yaxis.label.get_fontsize(), scale.yaxis.label.get_fontsize()}


def test_categories_have_levels_and_empty_cells_stay_blank():
    X, y = mixed(600)
    X["size"] = np.round(X["size"])
    X.loc[X["make"] == "elm", "wet"] = True
    ax = plot_pair(X, y, total_indices(X, y), "make", "wet")
    assert texts(ax.get_xticklabels()) == ["ash", "elm", "oak"]
    assert texts(ax.get_yticklabels()) == ["False", "True"]
    drawn = ax.collections[0].get_array()
    assert drawn.mask.tolist() == [[False, True, False], [False, False, False]]
    counts = plot_pair(X, y, total_indices(X, y), "count", "load")
    assert texts(counts.get_xticklabels()) == list("012345")  # single values stand in the middle of their cells
    assert counts.get_xticks().tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]


def test_missing_numbers_are_a_row_of_their_own():
    X, y = product(900)
    X.loc[::5, "right"] = np.nan
    pair = read_pair(AnalysedTable(X, y, total_indices(X, y)), 0, 1)
    assert pair.counts[-1].sum() == 180
    ax = plot_pair(X, y, total_indices(X, y), 0, 1)
    assert texts(ax.get_yticklabels())[-1] == "(missing)"


def test_classes_and_outputs():
    X, y = product()
    two = pd.Series(np.where(y > 0, "yes", "no"), name="sold")
    assert plot_pair(X, two, total_indices(X, two), 0, 1).figure.axes[1].get_ylabel() == "share of sold = yes"
    rng = np.random.default_rng(0)
    three = np.where(y > 0, "a", np.where(rng.uniform(size=y.size) < 0.5, "b", "c"))
    assert read_pair(AnalysedTable(X, three, total_indices(X, three)), 0, 1).label == "share of y = a"
    several = pd.DataFrame({"noise": rng.normal(size=y.size), "signal": y})
    assert read_pair(AnalysedTable(X, several, total_indices(X, several)), 0, 1).label == "signal, standardised"


@pytest.mark.parametrize("layout", [None, "constrained"])
def test_long_names_stay_on_the_canvas(layout):
    X, y = mixed()
    X["make"] = X["make"] + " from the northern forest behind the lake"
    names = {name: f"{name} as measured by the second sensor in the hall" for name in X}
    X = X.rename(columns=names)
    for first, second in ((0, 2), (2, 0)):
        figure = Figure(figsize=(5, 4), layout=layout)
        if layout is None:
            figure.subplots_adjust(left=0.3, bottom=0.3)
        ax = figure.add_subplot()
        assert plot_pair(X, y, total_indices(X, y), first, second, ax) is ax
        figure.draw_without_rendering()
        box = figure.get_tightbbox()
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= 5.01 and box.y1 <= 4.01


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([0.00022, 0.5, 1.0], ["0.00", "0.50", "1.00"]),
        ([-1.25, 0.0, 40.0], ["−1", "0", "40"]),
        ([1000.0, 18823.0], ["1,000", "18,823"]),
        ([1e-9, 2e-9], ["1e−09", "2e−09"]),
        ([3.0], ["3"]),
        ([0.0], ["0"]),
        ([100.25, 100.5], ["100.25", "100.50"]),
    ],
)
def test_numbers_are_short(values, texts):
    assert _write_numbers(np.array(values)) == texts


def test_factors_that_are_not_there():
    X, y = product(100)
    with pytest.raises(ValueError, match="factors must be names, such as 'left', or positions from 0 to 2; got 'up'"):
        plot_pair(X, y, total_indices(X, y), "up", "left")
