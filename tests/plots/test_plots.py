import re
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import font_manager
from matplotlib.figure import Figure
from sample_tables import friedman, mixed

from firstfactor import FIRST, Indices, backward_elimination, stability, total_indices
from firstfactor._utils.text import shorten, shorten_all
from firstfactor.plots import plot_effects, plot_importance, plot_path, plot_stability
from firstfactor.plots.axes import fonts_for
from firstfactor.plots.effects import make_bins
from firstfactor.plots.original_data import OriginalColumn
from firstfactor.plots.path import stops
from firstfactor.results.path import Path, Step
from firstfactor.variance.partial_effects import plain_levels

LONG = "average daily temperature of sensor number {} in the northern hall during the night"


@pytest.fixture(autouse=True)
def without_pyplot(monkeypatch):
    """Let figures be plain, whatever other tests have imported."""
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)


@pytest.fixture(scope="module")
def fitted():
    X, y = friedman(400)
    return FIRST().fit(X, y), X, y


@pytest.fixture(scope="module")
def long_names():
    X, y = friedman(300, factors=60)
    X = pd.DataFrame(X, columns=[LONG.format(j) for j in range(60)])
    return FIRST().fit(X, y), X, y


@pytest.fixture
def nothing():
    X, y = np.arange(30.0)[:, None], np.tile([0.0, 1.0, 0.5], 10)  # neighbours differ more than rows at large
    return FIRST().fit(X, y), X, y


def labels_of(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def columns_of(ax):
    return [label.get_text() for label in ax.get_xticklabels()]


def texts_of(ax):
    return [text.get_text() for text in ax.texts]


def stays_inside(figure):
    """Whether everything drawn lies on the canvas."""
    figure.draw_without_rendering()
    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    return box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height


def test_importance_has_a_bar_for_each_factor_and_says_why_others_are_left_out(fitted):
    selector, _, _ = fitted
    ax = plot_importance(selector)
    selected = selector.selected_
    assert labels_of(ax)[: len(selected)] == [f"x{i}" for i in selected]
    assert set(labels_of(ax)) == {f"x{i}" for i in range(10)}
    alone, widths = np.reshape([bar.get_width() for bar in ax.patches], (2, 10))
    np.testing.assert_allclose(widths[: len(selected)], selector.importances_[selected])
    np.testing.assert_allclose(alone[: len(selected)], selector.alone_[selected])
    assert not widths[len(selected) :].any() and not alone[len(selected) :].any()
    assert texts_of(ax)[0] == f"{selector.importances_[selected[0]]:.3f}"
    assert texts_of(ax)[-1] == selector.indices_.why_left_out(int(labels_of(ax)[-1][1:]))
    assert ax.get_title(loc="left") == f"R² ceiling: about {selector.r2_ceiling_:.2f}"
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first row is at the top


def test_lines_are_intervals_and_weak_factors_are_pale_and_say_so(doubtful):
    indices = doubtful.indices_
    assert indices.weak.any() and not indices.weak.all()
    ax = plot_importance(doubtful)
    (lines,) = ax.collections
    drawn = np.array([segment[:, 0] for segment in lines.get_segments()])
    np.testing.assert_allclose(drawn, indices.interval(0.95)[indices.selected])
    for bar, note, i in zip(ax.patches[len(ax.texts) :], texts_of(ax), indices.selected, strict=False):
        assert (bar.get_facecolor()[3] < 0.5) == indices.weak[i]
        assert note.endswith(" (weak)") == indices.weak[i]
    ends = [note.xy[0] for note in ax.texts[: indices.selected.size]]
    alone = doubtful.alone_[indices.selected]
    assert ends == np.maximum(drawn[:, 1], alone).tolist()  # notes do not lie on the lines
    assert stays_inside(ax.figure)


@pytest.fixture(scope="module")
def doubtful():
    """Two factors that matter, and one from noise."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 8))
    return FIRST().fit(X, X[:, 0] + 0.8 * X[:, 1] + 0.8 * rng.normal(size=150))


def test_without_uncertainty_there_are_bars_only():
    ax = plot_importance(_indices(np.array([0.6, 0.3])))
    assert not ax.collections
    assert ax.get_xlabel() == "importance"
    assert ax.get_title(loc="left") == "R² ceiling: 0.75 or more"


def test_a_ceiling_with_little_bias_has_its_interval_and_weak_factors_their_p_value():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 4))
    found = total_indices(
        X, X[:, 0] + 0.8 * X[:, 1] + 0.5 * rng.normal(size=150), variance_estimator="extrapolated", uncertainty=True
    )
    assert found.weak.any()
    ax = plot_importance(found)
    low, high = found.r2_interval()
    assert ax.get_title(loc="left") == f"R² ceiling: {found.r2_ceiling:.2f} ({low:.2f}–{high:.2f})"
    assert sum("(weak, p 0." in note for note in texts_of(ax)) == found.weak.sum()


def test_a_factor_that_stands_alone_has_no_interval():
    X = np.random.default_rng(0).normal(size=(200, 1))
    ax = plot_importance(FIRST().fit(X, X[:, 0]))
    assert not ax.collections and texts_of(ax) == ["1.000"]
    assert max(ax.get_xticks()) == 1  # though the note takes more room


def test_many_factors_left_out_are_counted(long_names):
    selector, _, _ = long_names
    ax = plot_importance(selector)
    assert len(labels_of(ax)) == len(selector.selected_) + 1
    assert labels_of(ax)[-1] == f"{60 - len(selector.selected_)} left out"


def test_many_selected_factors_are_summed_up_and_the_figure_grows():
    values = np.linspace(0.1, 0.001, 100)
    few, many = (_indices(values[:n]) for n in (5, 100))
    ax = plot_importance(many)
    assert len(ax.patches) == 60
    assert labels_of(ax)[-1] == "41 more"
    assert texts_of(ax)[-1] == "at most 0.041 each"
    assert ax.figure.get_figheight() > 3 * plot_importance(few).figure.get_figheight()
    assert stays_inside(ax.figure)


def _indices(values, names=None):
    names = names or tuple(f"x{j}" for j in range(len(values)))
    return Indices(
        values=values,
        names=names,
        kinds=("number",) * len(values),
        noise_variance=0.5,
        response_variance=2.0,
        n_rows=100,
        task="regression",
        method="NANNE",
    )


def test_given_axes_are_used_and_returned(fitted):
    selector, X, y = fitted
    axes = Figure(figsize=(8, 3)).subplots(1, 2)
    assert plot_importance(selector, axes[0]) is axes[0]
    assert plot_path(selector, ax=axes[1]) is axes[1]
    assert selector.plot(Figure().add_subplot()).get_xlabel() == "importance with 95 % interval; pale: alone"
    panels = Figure().subplots(2, len(selector.selected_))[1]
    assert all(given is returned for given, returned in zip(panels, plot_effects(X, y, selector, panels), strict=True))
    with pytest.raises(ValueError, match=rf"one Axes per selected factor \({len(selector.selected_)}\); got 2"):
        plot_effects(X, y, selector, axes)


@pytest.mark.parametrize("draw", [plot_importance, plot_path])
@pytest.mark.parametrize("layout", [None, "constrained", "tight"])
def test_long_names_stay_on_the_canvas_in_given_axes(long_names, draw, layout):
    selector, _, _ = long_names
    figure = Figure(figsize=(9, 4), layout=layout)
    axes = figure.subplots(1, 2)
    draw(selector, axes[0])
    draw(selector, axes[1])
    assert stays_inside(figure)
    left, right = (ax.get_tightbbox() for ax in axes)
    assert left.x1 <= right.x0 + 10  # names of one do not run into the other


def test_long_names_stay_on_the_canvas_of_own_figures(long_names):
    selector, X, y = long_names
    assert stays_inside(plot_importance(selector).figure)
    assert stays_inside(plot_path(selector).figure)
    assert stays_inside(plot_effects(X, y, selector)[0].figure)
    assert stays_inside(plot_path(backward_elimination(X, y)).figure)


def test_names_keep_what_tells_them_apart(long_names):
    selector, X, y = long_names
    shown = labels_of(plot_importance(selector))[:-1]
    assert len(set(shown)) == len(shown)
    for label, i in zip(shown, selector.selected_, strict=True):
        assert f"_number_{i}_in_" in label.replace(" ", "_")
    titles = [ax.get_title(loc="left") for ax in plot_effects(X, y, selector)]
    assert len({title.split(" (")[0] for title in titles}) == len(titles)


def test_shortening_is_in_the_middle():
    assert shorten("temperature", lambda text: len(text) <= 7) == "tem…ure"
    assert shorten("short", lambda text: len(text) <= 7) == "short"
    assert shorten("temperature", lambda _: False) == "t…e"
    assert shorten_all(["hot_1_cold", "hot_2_cold"], lambda _, text: len(text) <= 7) == ["…t_1_c…", "…t_2_c…"]
    assert shorten_all(["hothothot", "hothothothot"], lambda _, text: len(text) <= 7) != ["hot…hot"] * 2


@pytest.mark.parametrize("name", ["a$b$", "100 % _{x}", "two\nlines", "", "\x00\x1b[0m", "日本語", r"\frac{1}{2}"])
def test_names_are_text_and_nothing_else(name):
    X, y = mixed()
    selector = FIRST().fit(X.rename(columns={"size": name}), y)
    ax = plot_importance(selector)
    assert sum(label.isprintable() and len(label) > 0 for label in labels_of(ax)) == len(labels_of(ax))
    if "日" not in name:  # the font has no such characters, and says so
        assert stays_inside(ax.figure)


def test_path_shows_each_step_and_the_ceiling(fitted):
    selector, _, _ = fitted
    ax = plot_path(selector)
    entered = [step.chosen[0] for step in selector.path_.steps if step.chosen]
    assert columns_of(ax) == [f"+ x{i}" for i in entered]
    ceiling, line, *_ = ax.get_lines()
    assert list(ceiling.get_ydata()) == [selector.r2_ceiling_] * 2
    r2 = line.get_ydata()
    assert line.get_xdata().tolist() == list(range(len(entered)))
    assert sorted(texts_of(ax)) == sorted(f"{value:.2f}" for value in r2)
    assert ax.get_yticks().tolist() == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])
    assert (np.diff(r2) > 0).all()
    assert r2[-1] == pytest.approx(selector.r2_ceiling_)
    assert ax.get_legend().get_texts()[0].get_text() == f"ceiling {selector.r2_ceiling_:.2f}"
    assert len(ax.get_legend().get_texts()) == 1  # nothing was removed


def test_path_marks_factors_that_elimination_takes_out():
    rng = np.random.default_rng(41)  # x8 comes first and turns out to be useless
    X = rng.normal(size=(40, 12))
    selector = FIRST().fit(X, X[:, 0] * X[:, 1] + rng.normal(size=40))
    assert selector.path_.removed
    found = stops(selector.path_, selector.r2_ceiling_)
    for i in selector.path_.removed:
        (entry,) = [stop for stop in found if (stop.label.before, stop.label.name) == ("+ ", f"x{i}")]
        assert not entry.stays
    ax = plot_path(selector)
    assert ax.get_legend().get_texts()[1].get_text() == "removed"
    crosses = ax.get_lines()[3]
    assert len(crosses.get_xdata()) == sum(not stop.stays for stop in found)


def test_the_path_of_the_calibrated_rule_has_p_values_and_no_ceiling(fitted):
    _, X, y = fitted
    selector = FIRST(rule="calibrated", random_state=0).fit(X, y)
    figure = Figure(figsize=(12, 4))
    ax = plot_path(selector, figure.subplots(1, 2)[0])
    assert [label.partition("\np ")[0] for label in columns_of(ax)] == [
        f"+ x{step.chosen[0]}" for step in selector.path_.steps if step.phase == "forward" and step.chosen
    ]
    entered = [step for step in selector.path_.steps if step.phase == "forward" and step.chosen]
    for step, label in zip(entered, columns_of(ax), strict=True):
        assert bool(re.search(r"\np 0\.0\d\d$", label)) == (step.p_value >= 0.0005)
    assert ax.get_legend() is None and len(ax.get_lines()) == 2
    assert ax.get_ylabel() == "R² so far (sums of functions)"
    assert ax.get_title(loc="left") == f"{len(columns_of(ax))} steps"
    assert stays_inside(figure)
    narrow = plot_path(selector, Figure(figsize=(3, 4), layout="constrained").add_subplot())
    assert not any("p " in label for label in columns_of(narrow)) or narrow.get_xticklabels()[0].get_rotation() == 90
    selector.fit(X[:, :2], X[:, 0] * X[:, 1] - X[:, 0] / 2 - X[:, 1] / 2)
    assert columns_of(plot_path(selector)) == ["+ x0, x1"]
    selector.fit(X[:, :3], np.random.default_rng(1).normal(size=400))
    assert plot_path(selector).get_title(loc="left") == "Not enough evidence for any factor"


def test_the_path_of_a_split_is_that_of_the_rows_selected_on(fitted):
    _, X, y = fitted
    selector = FIRST(split=True, random_state=0).fit(X, y)
    ax = plot_path(selector)
    assert ax.get_ylabel() == "R² so far (rows selected on)"
    assert ax.get_legend() is None
    last = selector.path_.steps[-1].base_explained / selector.path_.response_variance
    assert ax.get_lines()[0].get_ydata()[-1] == pytest.approx(last)


def test_path_of_backward_elimination_starts_with_all(fitted):
    _, X, y = fitted
    result = backward_elimination(X, y)
    ax = plot_path(result)
    assert columns_of(ax)[0] == "all 10"
    assert all(label.startswith("− x") for label in columns_of(ax)[1:])
    assert ax.get_lines()[1].get_ydata()[-1] == pytest.approx(result.r2_ceiling)


def walked(n_steps, name="x{}"):
    """A result with a path of so many steps: at the end, one factor is eliminated and six leave for a compact set."""
    names = tuple(name.format(i) for i in range(n_steps + 4))
    r2 = 0.9 * (1 - np.exp(-np.arange(n_steps + 1) / 8))
    steps = [
        Step("forward", tuple(range(k)), r2[k], (k,), r2[k + 1 : k + 2], (k,) if k else (0, n_steps, n_steps + 1))
        for k in range(n_steps - 2)
    ]
    steps.append(Step("elimination", tuple(range(n_steps)), r2[-3], (1,), r2[-3:-2], (1,)))
    steps.append(Step("compact", tuple(range(n_steps)), r2[-3], (2,), r2[-4:-3], (2, 3, 4, 5, 6, 7)))
    found = _indices(np.full(len(names), 0.1), names)
    return replace(found, path=Path(names, 1.0, tuple(steps)), noise_variance=2 * (1 - r2[-4]))


@pytest.mark.parametrize("n_steps", [12, 60, 150])
@pytest.mark.parametrize("name", ["x{}", "expression of gene {:03d} in liver tissue", "第{}个传感器的平均温度"])
def test_names_of_many_steps_do_not_overlap(n_steps, name, font_with):
    font_with("第个传感器的平均温度")
    with fonts_for([name]):
        ax = plot_path(walked(n_steps, name))
        assert stays_inside(ax.figure)
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert all(left.x1 <= right.x0 + 1 for left, right in pairwise(boxes))
    assert len(ax.get_lines()[1].get_xdata()) == n_steps
    values = sorted((text.get_window_extent() for text in ax.texts), key=lambda box: box.x0)
    assert all(not left.overlaps(right) for left, right in pairwise(values))
    assert texts_of(ax)[0] == f"{ax.get_lines()[1].get_ydata()[-1]:.2f}"  # the last one always


def test_factors_that_enter_or_leave_together_are_named_while_they_are_few():
    found = stops(walked(12).path, 0.5)
    labels = [stop.label.with_name(stop.label.name) for stop in found]
    assert labels[0] == "+ x0, x12, x13"
    assert labels[-2:] == ["− x1", "− x2, 5 more"]
    assert [stop.stays for stop in found] == [True] + [False] * 7 + [True] * 2 + [False] * 2
    long = stops(walked(12, "average temperature {}").path, 0.5)
    assert long[0].label.with_name(long[0].label.name) == "+ average temperature 0, 2 more"


def test_names_hang_in_the_axes_where_there_is_no_room_below():
    ax = plot_path(walked(9, "expression of gene {:03d} in liver tissue"), Figure(figsize=(6, 3)).add_subplot())
    assert stays_inside(ax.figure)
    assert ax.get_ylim()[0] < -0.5 and min(ax.get_yticks()) == 0
    names, legend = ax.get_xticklabels()[-1].get_window_extent(), ax.get_legend().get_window_extent()
    assert names.y1 < legend.y0 + 5


def test_no_path_is_said_with_a_way_out(fitted):
    _, X, y = fitted
    with pytest.raises(ValueError, match=r"NANNE has no path. Use FIRST or backward_elimination"):
        plot_path(total_indices(X, y))


TABLES = {
    "pandas": lambda X: X,
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
    "numpy": pd.DataFrame.to_numpy,
}


@pytest.mark.parametrize("given", TABLES)
def test_effects_of_any_table(given):
    X, y = mixed()
    table = TABLES[given](X)
    selector = FIRST().fit(table, y)
    axes = plot_effects(table, y, selector)
    assert len(axes) == len(selector.selected_) == 3
    assert [ax.get_ylabel() for ax in axes] == ["y", "", ""]
    names = ["size", "make", "load"] if given != "numpy" else ["x0", "x2", "x1"]
    assert [ax.get_title(loc="left").split(" (")[0] for ax in axes] == names
    levels = axes[1]
    by_effect = sorted(("ash", "elm", "oak"), key=lambda level: -y[X["make"] == level].mean())
    assert [label.get_text() for label in levels.get_xticklabels()] == by_effect != ["ash", "elm", "oak"]
    plain, fixed, intervals = levels.collections
    for level, segment in zip(by_effect, plain.get_segments(), strict=True):
        assert segment[0, 1] == pytest.approx(y[X["make"] == level].mean())
    means = dict(zip(by_effect, (segment[0, 1] for segment in fixed.get_segments()), strict=True))
    assert means["elm"] - means["ash"] == pytest.approx(2, abs=0.1)
    assert means["oak"] - means["ash"] == pytest.approx(0, abs=0.1)
    for segment, level in zip(intervals.get_segments(), by_effect, strict=True):
        assert segment[:, 1].mean() == pytest.approx(means[level]) and 0 < np.ptp(segment[:, 1]) < 0.3


def local_means(x, y):
    bins = make_bins(OriginalColumn(x, ()))
    return bins.centres, plain_levels(bins.of_row, y[:, None]).means[:, 0]


def test_effects_draw_the_local_mean(fitted):
    selector, X, y = fitted
    ax = plot_effects(X, y, selector.indices_)[0]
    points, line = ax.get_lines()
    assert len(points.get_xdata()) == 400
    centres, means = local_means(X[:, selector.selected_[0]], y)
    assert line.get_xdata().tolist() == centres.tolist()
    assert line.get_ydata().tolist() == means.tolist()
    assert not ax.collections and not ax.figure.legends  # nothing to explain


def test_local_means_share_rows_evenly_and_keep_equal_values_together():
    x = np.arange(400.0)
    centres, means = local_means(x, 2 * x)
    assert len(centres) == 10
    np.testing.assert_allclose(means, 2 * centres)
    x = np.repeat([1.0, 2.0, 5.0], [300, 50, 50])
    centres, means = local_means(x, x**2)
    assert centres.tolist() == [1, 2, 5]
    np.testing.assert_allclose(means, [1, 4, 25])


def test_effects_of_two_classes_are_shares():
    X, y = mixed()
    labels = pd.Series(np.where(y > np.median(y), "yes", "no"), name="sold")
    selector = FIRST().fit(X, labels)
    ax = plot_effects(X, labels, selector)[0]
    assert ax.get_ylabel() == "share of sold = yes"
    assert ax.get_ylim() == pytest.approx((-0.06, 1.06))
    means = ax.get_lines()[1].get_ydata()
    assert 0 <= means.min() < means.max() <= 1


def test_many_rows_are_thinned_and_many_levels_pooled():
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 30, size=3000)
    X = pd.DataFrame({"town": [f"town {level}" for level in levels]})
    selector = FIRST().fit(X, levels + 0.1 * rng.normal(size=3000))
    (ax,) = plot_effects(X, levels, selector)
    assert len(ax.get_lines()[0].get_xdata()) == 500
    shown = [label.get_text() for label in ax.get_xticklabels()]
    assert len(shown) == 8
    assert shown[-1] == "23 others"
    assert stays_inside(ax.figure)


def test_values_far_out_do_not_squeeze_the_others():
    x = np.linspace(0, 1, 400)
    y = x.copy()
    y[7] = 1e6
    (ax,) = plot_effects(x[:, None], y, _indices(np.array([1.0])))
    assert ax.get_ylim()[1] < 2


def test_effects_need_the_table_that_was_analysed(fitted):
    selector, X, y = fitted
    with pytest.raises(ValueError, match=r"X must be the table that was analysed, with the columns 'x0', .* 2 more"):
        plot_effects(X[:, :3], y, selector)
    X, y = mixed()
    with pytest.raises(ValueError, match=r"X must be the table that was analysed.*got 'mass', 'load'"):
        plot_effects(X.rename(columns={"size": "mass"}), y, FIRST().fit(X, y))


def test_nothing_selected(nothing):
    selector, X, y = nothing
    ax = plot_importance(selector)
    assert labels_of(ax) == ["x0"]
    assert texts_of(ax) == [selector.indices_.why_left_out(0)]
    assert ax.get_title(loc="left") == "No factor explains anything of y"
    ax = plot_path(selector)
    assert columns_of(ax) == []
    assert ax.get_title(loc="left") == "No factor explains anything of y"
    assert stays_inside(ax.figure)
    assert plot_effects(X, y, selector).shape == (0,)


def test_what_is_no_result_is_refused(fitted):
    _, X, y = fitted
    with pytest.raises(TypeError, match=r"result must be a fitted FIRST.*got FIRST. Call fit\(X, y\) first"):
        plot_importance(FIRST())
    with pytest.raises(ValueError, match=r"joint index of the set 'x0 \+ x1'. Call total_indices without subset"):
        plot_importance(total_indices(X, y, subset=[0, 1]))


@pytest.mark.slow
def test_figures_belong_to_pyplot_only_where_it_is_in_use():
    code = """
import builtins, sys
import numpy as np
import matplotlib
from firstfactor import Indices
from firstfactor.plots import plot_importance

def settings():
    return {name: matplotlib.rcParams[name] for name in matplotlib.rcParams if name != "backend"}

result = Indices(
    values=np.array([0.7, 0.4]),
    names=("a", "b"),
    kinds=("number",) * 2,
    noise_variance=0.1,
    response_variance=1.0,
    n_rows=9,
    task="regression",
    method="NANNE",
)
before = settings()
plot_importance(result).figure.savefig("/dev/null", format="svg")
assert "matplotlib.pyplot" not in sys.modules
assert settings() == before

matplotlib.use("agg")
builtins.__IPYTHON__ = True  # a notebook
shown = plot_importance(result).figure
import matplotlib.pyplot as plt
assert shown is plt.gcf()

del builtins.__IPYTHON__  # a script that has imported pyplot
assert plot_importance(result).figure is plt.gcf() is not shown
plt.close("all")
plot_importance(result, matplotlib.figure.Figure().add_subplot())
assert plt.get_fignums() == []
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_matplotlib_missing_is_said(monkeypatch, fitted):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"a plot needs matplotlib: pip install 'firstfactor\[cli\]'"):
        plot_importance(fitted[0])


def test_a_path_without_steps_can_be_drawn():
    X, y = np.ones((20, 2)), np.arange(20.0)
    assert plot_path(FIRST().fit(X, y)).get_title(loc="left") == "No factor explains anything of y"


@pytest.fixture
def font_with(tmp_path, monkeypatch):
    """Install a font that has some characters and no others."""

    def install(characters):
        pen = TTGlyphPen(None)
        for move, point in zip([pen.moveTo, pen.lineTo, pen.lineTo], [(0, 0), (0, 500), (500, 0)], strict=True):
            move(point)
        pen.closePath()
        names = [".notdef", *(f"uni{ord(character):04X}" for character in characters)]
        font = FontBuilder(1000, isTTF=True)
        font.setupGlyphOrder(names)
        font.setupCharacterMap({ord(character): name for character, name in zip(characters, names[1:], strict=True)})
        font.setupGlyf(dict.fromkeys(names, pen.glyph()))
        font.setupHorizontalMetrics(dict.fromkeys(names, (600, 0)))
        font.setupHorizontalHeader(ascent=800, descent=-200)
        font.setupNameTable({"familyName": "Some Script", "styleName": "Regular"})
        font.setupOS2()
        font.setupPost()
        path = tmp_path / "some-script.ttf"
        font.save(path)
        monkeypatch.setattr(font_manager.fontManager, "ttflist", list(font_manager.fontManager.ttflist))
        font_manager.fontManager.addfont(path)

    return install


def in_chinese():
    X = pd.DataFrame(np.random.default_rng(0).uniform(size=(200, 3)), columns=["品", "b", "温 2"])
    X["质"] = np.where(X["b"] > 0.5, "好", "no")
    return X, X["品"] + (X["b"] > 0.5)


def test_names_in_other_scripts_are_drawn_if_a_font_has_them(font_with):
    X, y = in_chinese()
    font_with("".join(X.columns) + "好")
    selector = FIRST().fit(X, y)
    for ax in (plot_importance(selector), plot_path(selector), plot_effects(X, y, selector)[0]):
        ax.figure.draw_without_rendering()  # a warning would be an error
    assert plot_stability(stability(X, y, n_pairs=2, random_state=0)).figure.draw_without_rendering() is None


def test_names_that_no_font_has_are_drawn_with_a_warning_of_matplotlib():
    X, y = in_chinese()
    X = X.rename(columns={"品": "\U0010fffd"})
    with pytest.warns(UserWarning, match="Glyph .* missing from font"):
        plot_importance(FIRST().fit(X, y)).figure.draw_without_rendering()


def test_factors_that_share_what_they_tell_have_one_bar():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    X[:, 2] = X[:, 1] + 0.05 * X[:, 2]
    selector = FIRST(rule="calibrated", random_state=0).fit(X, X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=400))
    assert {*selector.clusters_[0].factors} == {"x1", "x2"}
    ax = plot_importance(selector)
    assert " or ".join(selector.clusters_[0].factors) in labels_of(ax)
    assert len(labels_of(ax)) == 2


def test_r2_never_falls_as_a_factor_enters():
    explained = [0.0, 0.5, 0.48, 0.6, 0.55]
    chosen = [(0,), (1,), (2,), (0,), ()]
    bases = [(), (0,), (0, 1), (0, 1, 2), (1, 2)]
    phases = ["forward"] * 3 + ["elimination"] * 2
    steps = [
        Step(phase, base, value, entering or (0,), np.array([value]), entering)
        for phase, base, value, entering in zip(phases, bases, explained, chosen, strict=True)
    ]
    found = stops(Path(("a", "b", "c"), 1.0, tuple(steps)), 0.5)
    assert [stop.r2 for stop in found] == [0.5, 0.5, 0.6, 0.55]  # it falls only as one leaves
