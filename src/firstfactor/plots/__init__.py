"""Plots of a result: importances, the path of the selection, stability, effects, and two factors together.

Colours can be told apart with any kind of colour vision. Each function draws into the given axes and returns them.
Without axes, it makes a figure that is as wide as ``figure.figsize`` of matplotlib and as high as its contents need.
The figure belongs to pyplot if pyplot has been imported or this is a notebook; otherwise no global state changes. No
function shows or saves a figure. Characters that the fonts in use lack are taken from other installed fonts.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..results.formats import format_importance
from ..results.indices import Indices, indices_of
from .axes import PAIR_SIZE, Label, add_title, figure_maker, fitting, fonts_for, panel_columns, panels, width
from .bars import draw_importance, draw_stability
from .effects import (
    Effect,
    add_figure_legend,
    add_legend,
    draw_effect,
    hold_others_fixed,
    legend_entries,
    read_effects,
)
from .original_data import AnalysedTable, OriginalTarget
from .pair import draw_pair, read_pair
from .path import draw_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..results.stability import Stability


def plot_importance(result: Any, ax: "Axes | None" = None) -> "Axes":
    """Plot the importance of each factor as a bar with its 95 % interval, the most important first.

    Factors with weak evidence (p above 0.05) have a pale bar and a note. Factors that were left out are listed with the
    reason, or counted if there are many of them.

    Parameters
    ----------
    result : FIRST or Indices
        A fitted `FIRST`, or the result of `total_indices` or `backward_elimination`.
    ax : matplotlib Axes, optional
        Axes to draw into. Default: a new figure, high enough for all rows.

    Returns
    -------
    matplotlib Axes
        Axes with the plot.

    See Also
    --------
    plot_effects : Plot the response against each factor.

    Examples
    --------
    >>> from firstfactor import FIRST
    >>> from firstfactor.plots import plot_importance
    >>> from firstfactor.problems import friedman
    >>> selector = FIRST(rule="calibrated", random_state=0).fit(*friedman.sample(500, seed=0))
    >>> plot_importance(selector).figure.savefig("importance.png")  # doctest: +SKIP
    """
    indices = indices_of(result)
    with fonts_for(indices.names):
        return draw_importance(indices, ax, figure_maker())


def plot_path(result: Any, ax: "Axes | None" = None) -> "Axes":
    """Plot the share of the variance explained (R²) after each step of the selection, from left to right.

    Factors enter (+) one at a time; those that are removed again (−) are marked where they enter and where they leave.
    The dashed line is the ceiling, the R² of the selected factors. It is not drawn if the path cannot end there: the
    calibrated rule measures R² of sums of functions, and with ``split`` the ceiling is estimated on other rows. The
    p-values of the calibrated rule are shown if there is enough space; of many steps, only some are labelled.

    Parameters
    ----------
    result : FIRST or Indices
        A fitted `FIRST`, or the result of `backward_elimination`.
    ax : matplotlib Axes, optional
        Axes to draw into. Default: a new figure, high enough for the names.

    Returns
    -------
    matplotlib Axes
        Axes with the plot.

    See Also
    --------
    Path : Class of the path.

    Examples
    --------
    >>> from firstfactor import FIRST
    >>> from firstfactor.plots import plot_path
    >>> from firstfactor.problems import friedman
    >>> selector = FIRST().fit(*friedman.sample(500, seed=0))
    >>> plot_path(selector).figure.savefig("path.png")  # doctest: +SKIP
    """
    indices = indices_of(result)
    with fonts_for(indices.names):
        return draw_path(indices, ax, figure_maker())


def plot_stability(result: "Stability", ax: "Axes | None" = None) -> "Axes":
    """Plot the selection frequency of each factor on random half-samples, the most frequent first.

    Bars of factors that reach the threshold are coloured, others are grey. Factors that were never selected are
    counted if there are many of them.

    Parameters
    ----------
    result : Stability
        Result of `stability`.
    ax : matplotlib Axes, optional
        Axes to draw into. Default: a new figure, high enough for all rows.

    Returns
    -------
    matplotlib Axes
        Axes with the plot.

    See Also
    --------
    stability : Estimate the frequencies.

    Examples
    --------
    >>> from firstfactor import stability
    >>> from firstfactor.plots import plot_stability
    >>> from firstfactor.problems import friedman
    >>> found = stability(*friedman.sample(500, seed=0), n_pairs=5, random_state=0)
    >>> plot_stability(found).figure.savefig("stability.png")  # doctest: +SKIP
    """
    if not hasattr(result, "frequencies"):
        raise TypeError(
            f"result must be the result of stability; got {type(result).__name__}. Call stability(X, y) first."
        )
    with fonts_for(result.names):
        return draw_stability(result, ax, figure_maker())


def plot_effects(
    X: Any, y: Any, result: Any, ax: Any = None, *, sample_weight: Any = None, groups: Any = None
) -> NDArray[Any]:
    """Plot y against each selected factor, unadjusted and with the other selected factors held fixed.

    Factors are often correlated: large diamonds are less clear, so that clear ones look cheap. The dashed line is the
    unadjusted mean of y, in bins with about the same number of rows or in each level of a category. The solid line has
    the other selected factors held fixed, except those that stand in for the factor itself, and at most the 8 most
    important ones; its band is a 95 % interval. If the effect depends on other factors, the line is its mean. Without a
    fitted `FIRST`, or without other factors, only the unadjusted mean is drawn. With two classes, y is 1 for the second
    and 0 for the first, and its mean is a share. Of many rows, a random sample is drawn.

    Parameters
    ----------
    X : array-like or table of shape (rows, factors)
        Factors that were analysed.
    y : array-like of shape (rows,)
        Response.
    result : FIRST or Indices
        As in `plot_importance`.
    ax : Axes or array of them, optional
        Axes to draw into, one for each selected factor. Default: a new figure.
    sample_weight, groups : array-like of shape (rows,), optional
        As passed to ``fit``.

    Returns
    -------
    array of Axes
        Axes of each selected factor, the most important first; empty if none was selected.

    See Also
    --------
    plot_pair : Plot the mean of y over two factors.

    References
    ----------
    Other factors are held fixed by the method of Robinson, P. M. (1988). Root-N-consistent semiparametric regression.
    Econometrica 56, 931-954. https://doi.org/10.2307/1912705

    Examples
    --------
    >>> from firstfactor import FIRST
    >>> from firstfactor.plots import plot_effects
    >>> from firstfactor.problems import friedman
    >>> X, y = friedman.sample(500, seed=0)
    >>> selector = FIRST(rule="calibrated", random_state=0).fit(X, y)
    >>> len(plot_effects(X, y, selector))
    5
    """
    indices = indices_of(result)
    options = indices.procedure if hasattr(result, "indices_") else None
    table = AnalysedTable(X, y, indices, options, sample_weight, groups)
    effects, target = hold_others_fixed(read_effects(table, indices.selected.tolist()), table), table.target
    levels = (level for effect in effects for level in effect.column.levels)
    with fonts_for([target.label, *target.series, *indices.names, *levels]):
        return _draw_effects(effects, target, ax)


def plot_pair(X: Any, y: Any, result: Any, first: str | int, second: str | int, ax: "Axes | None" = None) -> "Axes":
    """Plot the mean of y over two factors, as colours.

    If the effect of one factor depends on the other, the pattern along one factor changes with the other: with y = x₁
    x₂, neither factor has an effect of its own, and the plot has two bright and two dark corners. Numbers are in bins
    with about the same number of rows, marked by their edges, and categories in levels; cells without rows are blank.
    With two classes, the mean is the share of the second; of more classes or several outputs, the one whose mean varies
    most between cells is drawn.

    Parameters
    ----------
    X : array-like or table of shape (rows, factors)
        Factors that were analysed.
    y : array-like of shape (rows,)
        Response.
    result : FIRST or Indices
        As in `plot_importance`.
    first, second : str or int
        Names or positions of the factors on the horizontal and the vertical axis.
    ax : matplotlib Axes, optional
        Axes to draw into. Default: a new figure.

    Returns
    -------
    matplotlib Axes
        Axes with the plot.

    See Also
    --------
    interactions : Estimate the interaction of each pair of factors.

    Examples
    --------
    >>> from firstfactor import FIRST
    >>> from firstfactor.plots import plot_pair
    >>> from firstfactor.problems import friedman
    >>> X, y = friedman.sample(500, seed=0)
    >>> selector = FIRST(rule="calibrated", random_state=0).fit(X, y)
    >>> plot_pair(X, y, selector, "x8", "x9").get_xlabel()
    'x8'
    """
    indices = indices_of(result)
    pair = read_pair(AnalysedTable(X, y, indices), *(_locate(indices, factor) for factor in (first, second)))
    with fonts_for([pair.label, pair.across.name, pair.up.name, *pair.across.labels, *pair.up.labels]):
        if ax is None:
            ax = figure_maker()(figsize=PAIR_SIZE, layout="constrained").add_subplot()
        draw_pair(ax, pair)
        return ax


def _locate(indices: Indices, factor: str | int) -> int:
    """Return the position of a factor given by name or position."""
    names = indices.names
    if isinstance(factor, str) and factor in names:
        return names.index(factor)
    if isinstance(factor, int | np.integer) and -len(names) <= factor < len(names):
        return int(factor) % len(names)
    raise ValueError(
        f"factors must be names, such as {names[0]!r}, or positions from 0 to {len(names) - 1}; got {factor!r}."
    )


def _draw_effects(effects: list[Effect], target: OriginalTarget, ax: Any) -> NDArray[Any]:
    """Draw a panel for each factor, and one legend."""
    axes = panels(len(effects), figure_maker()) if ax is None else np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
    if len(axes) != len(effects):
        raise ValueError(f"ax must have one Axes per selected factor ({len(effects)}); got {len(axes)}.")
    if not effects:
        return axes
    labels = [Label(effect.name, after=f" ({format_importance(effect.importance)})") for effect in effects]
    titles = fitting(labels, min(map(width, axes)), axes[0].yaxis.label)
    entries = legend_entries(effects, target)
    for number, (panel, effect) in enumerate(zip(axes, effects, strict=True)):
        draw_effect(panel, effect, target, legend=False)
        add_title(panel, titles[number])
        if ax is None and number % panel_columns(len(effects)):
            panel.set_ylabel("")
    if ax is None:
        add_figure_legend(axes[0], entries)
    else:
        add_legend(axes[0], entries)
    return axes
