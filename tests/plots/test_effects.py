"""Effects as they look and with others held fixed: what is computed, and what is drawn of it."""

import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sample_tables import mixed

from firstfactor import FIRST, backward_elimination, stability, total_indices
from firstfactor.plots import plot_effects, plot_importance, plot_pair, plot_path, plot_stability
from firstfactor.plots.effects import (
    HELD_FIXED,
    UNADJUSTED,
    draw_effect,
    factors_held_fixed,
    hold_others_fixed,
    make_bins,
    read_effects,
)
from firstfactor.plots.original_data import AnalysedTable, OriginalColumn
from firstfactor.results.estimates import Estimates
from firstfactor.results.sharing import Cluster, Sharing
from firstfactor.settings import Options


@pytest.fixture(autouse=True)
def without_pyplot(monkeypatch):
    """Let figures be plain, whatever other tests have imported."""
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)


def stones(rows=1500, seed=0):
    """Large stones are less clear and cost more; clear ones cost more, too."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=rows)
    clarity = np.clip(np.round(1.5 - size + 0.7 * rng.normal(size=rows)), 0, 3).astype(int)
    X = pd.DataFrame({"size": size, "clarity": pd.Categorical.from_codes(clarity, list("abcd"), ordered=True)})
    return X, pd.Series(3 * size + clarity + 0.3 * rng.normal(size=rows), name="price")


def legend_of(container):
    return [text.get_text() for legend in container.legends for text in legend.get_texts()]


def test_a_category_that_goes_along_with_a_number_is_seen_for_what_it_is():
    X, y = stones()
    table = AnalysedTable(X, y, total_indices(X, y), Options())
    (plain,) = read_effects(table, [1])
    (clarity,) = hold_others_fixed([plain], table)
    assert clarity.others == (0,)
    assert (np.diff(clarity.plain.means[:, 0]) < 0).all()
    np.testing.assert_allclose(np.diff(clarity.fixed.means[:, 0]), 1, atol=0.15)
    assert plain.fixed is None and plain.others == ()


def test_both_lines_are_drawn_and_explained_once():
    X, y = stones()
    size, clarity = plot_effects(X, y, FIRST(random_state=0).fit(X, y))
    assert legend_of(size.figure) == [HELD_FIXED, UNADJUSTED]
    assert size.get_legend() is None and clarity.get_legend() is None
    _, dashed, thick = size.get_lines()
    assert thick.get_linewidth() > dashed.get_linewidth() and dashed.get_linestyle() == "--"
    assert np.polyfit(thick.get_xdata(), thick.get_ydata(), 1)[0] == pytest.approx(3, abs=0.2)
    assert np.polyfit(dashed.get_xdata(), dashed.get_ydata(), 1)[0] == pytest.approx(2.3, abs=0.2)
    assert len(size.collections) == 1  # the band
    given = Figure(figsize=(8, 3)).subplots(1, 2)
    plot_effects(X, y, FIRST(random_state=0).fit(X, y), given)
    assert len(given[0].get_legend().get_texts()) == 2 and given[1].get_legend() is None


def test_without_others_there_is_one_line_with_its_band():
    X, y = stones()
    (ax,) = plot_effects(X[["size"]], y, FIRST().fit(X[["size"]], y))
    assert len(ax.get_lines()) == 2 and len(ax.collections) == 1
    assert legend_of(ax.figure) == []


def result_with(values, clusters=()):
    X = np.random.default_rng(0).normal(size=(50, len(values)))
    found = total_indices(X, X[:, 0])
    sharing = Sharing(Estimates(*np.zeros((4, len(values)))), tuple(clusters))
    return replace(found, values=np.array(values), sharing=sharing)


def cluster_of(positions, joint):
    names = tuple(f"x{i}" for i in positions)
    return Cluster(names, joint, 0.01, 0.0, (1.0,) * len(names), 0.9, tuple(positions))


def test_what_is_held_fixed():
    shares = [0.05, 0.04, 0.001, 0.002, 0.0, 0.03]
    assert factors_held_fixed(replace(result_with(shares), sharing=None), 0) == (1, 5, 3, 2)
    sizes = cluster_of([2, 3, 4], 0.9)  # one of which was not selected
    found = result_with(shares, [sizes])
    assert factors_held_fixed(found, 0) == (2, 1, 5, 3)  # together they are the most important
    assert factors_held_fixed(found, 2) == factors_held_fixed(found, 3) == factors_held_fixed(found, 4) == (0, 1, 5)
    many = factors_held_fixed(result_with(np.linspace(0.2, 0.1, 12).tolist()), 3)
    assert many == (0, 1, 2, 4, 5, 6, 7, 8)


def test_missing_numbers_are_drawn_apart():
    X, y = stones()
    X["clarity"] = X["clarity"].cat.codes.astype(float)
    X.loc[::4, "size"] = np.nan
    ax = plot_effects(X, y, FIRST(random_state=0).fit(X, y))[0]
    assert ax.get_xticklabels()[-1].get_text() == "(missing)"
    diamonds = [line for line in ax.get_lines() if line.get_marker() == "D"]
    assert diamonds[0].get_ydata()[0] == pytest.approx(y[::4].mean())
    known = X["size"].notna()
    assert all(line.get_xdata()[0] > X.loc[known, "size"].max() for line in diamonds)
    ax.figure.draw_without_rendering()
    names = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert all(left.x1 < right.x0 for left, right in pairwise(names)) and len(names) > 2


def test_bins_of_a_column():
    bins = make_bins(OriginalColumn(np.array([3.0, np.nan, 1.0, 3.0, 2.0]), ()))
    assert bins.of_row.tolist() == [2, 3, 0, 2, 1]
    assert bins.centres[:3].tolist() == [1, 2, 3] and bins.has_missing and bins.numbers == 3
    assert bins.edges.tolist() == [1, 2, 3, 3]
    levels = make_bins(OriginalColumn(np.array([0.0, 2.0, 2.0, 3.0, 3.0]), ("a", "b", "c", "d")))
    assert levels.labels == ("a", "c", "d") and levels.of_row.tolist() == [0, 1, 1, 2, 2]  # nobody has b
    pooled = make_bins(OriginalColumn(np.array([0.0, 1.0, 2.0, 2.0, 3.0, 3.0]), ("a", "b", "c", "d")), most_levels=3)
    assert pooled.labels == ("c", "d", "2 others") and pooled.of_row.tolist() == [2, 2, 0, 0, 1, 1]


def test_two_and_three_classes():
    X, y = stones()
    two = pd.Series(np.where(y > 1, "dear", "cheap"), name="price")
    table = AnalysedTable(X, two, total_indices(X, two), Options())
    effects, target = hold_others_fixed(read_effects(table, [1]), table), table.target
    assert target.label == "share of price = dear" and effects[0].fixed.means.shape == (4, 1)
    assert (np.diff(effects[0].fixed.means[:, 0]) > 0).all()
    three = np.array(["a", "b", "c"])[np.digitize(y, [-1, 2])]
    selector = FIRST(random_state=0).fit(X, three)
    table = AnalysedTable(X, three, selector.indices_, selector._validated_params())
    effects, target = hold_others_fixed(read_effects(table, [0, 1]), table), table.target
    np.testing.assert_allclose(effects[1].fixed.means.sum(axis=1), 1)
    axes = plot_effects(X, three, selector)
    assert legend_of(axes[0].figure) == ["a", "b", "c", HELD_FIXED, UNADJUSTED]
    ends = np.concatenate([path.vertices[:, 1] for band in axes[0].collections for path in band.get_paths()])
    assert ends.min() >= 0 and ends.max() <= 1
    ax = Figure(figsize=(3, 2.4), layout="constrained").add_subplot()
    draw_effect(ax, effects[0], target)
    assert len(ax.get_legend().get_texts()) == 5


def test_several_outputs_have_a_line_each():
    X, y = stones()
    Y = pd.DataFrame({"price": y, "weight": X["size"] + 0.1 * np.random.default_rng(0).normal(size=len(X))})
    selector = FIRST(random_state=0).fit(X, Y)
    axes = plot_effects(X, Y, selector)
    assert legend_of(axes[0].figure) == ["price", "weight", HELD_FIXED, UNADJUSTED]
    assert axes[0].get_ylabel() == "outputs, standardised"


def test_rows_weights_and_groups_are_those_of_the_fit():
    X, y = stones(600)
    y[::7] = np.nan
    weights, groups = np.arange(600) % 3, np.arange(600) // 3
    selector = FIRST(random_state=0).fit(X, y, sample_weight=weights, groups=groups)
    axes = plot_effects(X, y, selector, sample_weight=weights, groups=groups)
    kept = (weights > 0) & y.notna()
    assert selector.indices_.rows.tolist() == np.flatnonzero(kept).tolist()
    dashed = axes[selector.selected_.tolist().index(1)].collections[0].get_segments()
    first = kept & (X["clarity"] == "a")
    assert dashed[0][0, 1] == pytest.approx(np.average(y[first], weights=weights[first]))
    assert len(plot_effects(X, y, selector)) == len(axes)  # rows of the fit, all alike
    with pytest.raises(ValueError, match="sample_weight must be that of the analysis"):
        plot_effects(X, y, selector, sample_weight=weights == 0)


def test_rows_that_were_dropped_stay_out():
    X, y = stones(400)
    X.loc[::5, "size"] = np.nan
    selector = FIRST(missing="drop", n_outer=50, random_state=np.random.default_rng(0)).fit(X, y)
    state = selector.random_state.bit_generator.state
    plot_effects(X, y, selector)
    assert selector.random_state.bit_generator.state == state  # nothing is drawn from the generator of the user


def test_grouped_columns_have_a_panel_each():
    X, y = mixed(400)
    selector = FIRST(factor_groups={"both": ["size", "load"]}, random_state=0).fit(X, y)
    titles = [ax.get_title(loc="left").split(" (")[0] for ax in plot_effects(X, y, selector)]
    assert titles[:2] == ["both: size", "both: load"]


def test_all_text_has_one_size():
    X, y = mixed()
    three = np.array(["a", "b", "c"])[np.digitize(y, [0, 3])]
    selector, classes = FIRST(random_state=0).fit(X, y), FIRST(random_state=0).fit(X, three)
    drawn = [
        plot_importance(selector),
        plot_path(selector),
        plot_path(backward_elimination(X, y)),
        plot_path(FIRST(rule="calibrated", random_state=0).fit(X, y)),
        plot_stability(stability(X, y, n_pairs=2, random_state=0)),
        plot_effects(X, y, selector)[0],
        plot_effects(X, three, classes)[0],
        plot_pair(X, y, selector, "size", "make"),
    ]
    for ax in drawn:
        ax.figure.draw_without_rendering()
        texts = [item for item in ax.figure.findobj(lambda item: hasattr(item, "get_fontsize")) if item.get_text()]
        assert {item.get_fontsize() for item in texts} == {10.0}


def test_a_hundred_factors_with_long_names():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        rng.normal(size=(300, 100)), columns=[f"expression of gene {i:03d} in the liver" for i in range(100)]
    )
    y = X.iloc[:, :3].sum(axis=1) + 0.1 * rng.normal(size=300)
    selector = FIRST(random_state=0).fit(X, y)
    for ax in (plot_importance(selector), plot_path(selector), plot_effects(X, y, selector)[0]):
        ax.figure.draw_without_rendering()
        box, (across, up) = ax.figure.get_tightbbox(), ax.figure.get_size_inches()
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= across and box.y1 <= up
