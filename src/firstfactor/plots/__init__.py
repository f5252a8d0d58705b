"""Pictures of a result: importances, the path of the selection, stability, effects, two factors together.

Colours are such that everybody tells them apart. Each function draws into the axes it is given and returns them. Given
none, it makes a figure that is as high as its contents need and as wide as matplotlib's setting ``figure.figsize``
says. The figure belongs to pyplot where pyplot is in use (it has been imported, or this is a notebook), so that it
shows up as with other packages; otherwise nothing global is touched. Nothing is ever shown or saved from here.
Characters that the fonts in use lack are taken from other fonts that are installed.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..results.formats import format_importance
from ..results.indices import Indices, indices_of
from .axes import PAIR_SIZE, Label, add_title, figure_maker, fitting, panel_columns, panels, width
from .effect_levels import Effect, hold_others_fixed, read_effects
from .effects import draw_effect, legend_entries
from .fonts import fonts_for
from .importance import draw_importance
from .legend import add_figure_legend, add_legend
from .original_data import AnalysedTable, OriginalTarget
from .pair import draw_pair, read_pair
from .path import draw_path
from .stability import draw_stability

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..results.stability import Stability


def plot_importance(result: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw the importance of each factor as a bar with its 95 % interval, the most important first.

    Bars of factors whose evidence is weak (p above 0.05) are pale and say so. Factors that were left out are listed
    with the reason, or counted if there are many of them.

    Parameters
    ----------
    result : FIRST or Indices
        A fitted `FIRST`, or what `total_indices` or `backward_elimination` return.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure, high enough for all rows.

    Returns
    -------
    matplotlib Axes
        With the picture.

    See Also
    --------
    plot_effects : How the response changes with each factor.

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
    """Draw the share of the variance explained (R²) after each step of the selection, from left to right.

    Factors enter (+) one at a time; those that are taken out again (−) are marked where they enter and where they
    leave. The dashed line is the ceiling: what the factors selected explain in the end. It is not drawn where the path
    does not lead there: the calibrated rule looks at R² of sums of functions, and writes its p-values next to the
    factors where there is room; with ``split`` the ceiling is that of other rows. Of many steps some are named.

    Parameters
    ----------
    result : FIRST or Indices
        A fitted `FIRST`, or what `backward_elimination` returns.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure, high enough for the names.

    Returns
    -------
    matplotlib Axes
        With the picture.

    See Also
    --------
    Path : What it shows.

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
    """Draw in what share of the halves each factor was selected, the most frequent first.

    Bars of factors that reach the threshold are coloured, others are grey. Factors that were never selected are
    counted if there are many of them.

    Parameters
    ----------
    result : Stability
        What `stability` returns.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure, high enough for all rows.

    Returns
    -------
    matplotlib Axes
        With the picture.

    See Also
    --------
    stability : Makes what it shows.

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
            f"result must be what stability returns; got {type(result).__name__}. Call stability(X, y) first."
        )
    with fonts_for(result.names):
        return draw_stability(result, ax, figure_maker())


def plot_effects(
    X: Any, y: Any, result: Any, ax: Any = None, *, sample_weight: Any = None, groups: Any = None
) -> NDArray[Any]:
    """Draw y against each selected factor: as it looks, and with the other selected factors held fixed.

    A factor often goes along with others: large diamonds are less clear, so that clear ones look cheap. The dashed line
    is what is seen: the mean of y in bins of about as many rows each, or in each level of a category. The thick line
    has the other selected factors held fixed, without those that stand in for the factor itself, and at most the
    8 most important ones; its band is a 95 % interval. Where others change what a factor does, it is the mean of its
    effects. Without a fitted `FIRST`, and where there are no others, there is one line: what is seen. With two classes,
    y is 1 for the second and 0 for the first, and its mean is a share. Of many rows some are drawn.

    Parameters
    ----------
    X : array-like or table of shape (rows, factors)
        The factors that were analysed.
    y : array-like of shape (rows,)
        The response.
    result : FIRST or Indices
        As in `plot_importance`.
    ax : Axes or array of them, optional
        Where to draw, one for each selected factor. Default: a new figure.
    sample_weight, groups : array-like of shape (rows,), optional
        As they were given to ``fit``.

    Returns
    -------
    array of Axes
        One for each selected factor, the most important first; empty if none was selected.

    See Also
    --------
    plot_pair : Two factors at once.

    References
    ----------
    Held fixed by the method of Robinson, P. M. (1988). Root-N-consistent semiparametric regression. Econometrica 56,
    931-954. https://doi.org/10.2307/1912705

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
    options = result.parameters()[0] if hasattr(result, "parameters") else None
    table = AnalysedTable(X, y, indices, options, sample_weight, groups)
    effects, target = hold_others_fixed(read_effects(table, indices.selected.tolist()), table), table.target
    levels = (level for effect in effects for level in effect.column.levels)
    with fonts_for([target.label, *target.series, *indices.names, *levels]):
        return _draw_effects(effects, target, ax)


def plot_pair(X: Any, y: Any, result: Any, first: str | int, second: str | int, ax: "Axes | None" = None) -> "Axes":
    """Draw the mean of y over two factors at once, as colours.

    Where the effect of one factor depends on the other, columns of colours differ in more than brightness: with y =
    x₁ x₂, neither factor has an effect of its own, and the picture shows two bright and two dark corners. Numbers are
    in bins of about as many rows each, marked by their edges, and categories in levels; cells without rows stay blank.
    With two classes the mean is the share of the second; of more classes, or of several outputs, the one is drawn that
    differs most from cell to cell.

    Parameters
    ----------
    X : array-like or table of shape (rows, factors)
        The factors that were analysed.
    y : array-like of shape (rows,)
        The response.
    result : FIRST or Indices
        As in `plot_importance`.
    first, second : str or int
        Names or positions of the factors from left to right and from bottom to top.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    matplotlib Axes
        With the picture.

    See Also
    --------
    interactions : Which pairs work together.

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
    """The position of a factor given by name or position."""
    names = indices.names
    if isinstance(factor, str) and factor in names:
        return names.index(factor)
    if isinstance(factor, int | np.integer) and -len(names) <= factor < len(names):
        return int(factor) % len(names)
    raise ValueError(
        f"factors must be names, such as {names[0]!r}, or positions from 0 to {len(names) - 1}; got {factor!r}."
    )


def _draw_effects(effects: list[Effect], target: OriginalTarget, ax: Any) -> NDArray[Any]:
    """Draw a panel for each factor, and say once what lines mean."""
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
