"""A result as one page to send to a colleague: gathered once, drawn, then filled into one template."""

import html
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from . import _svg
from ._axes import BLUE, GREY, VERMILLION
from ._checks import is_integer
from ._extras import require, versions
from ._output import write_whole
from .effects_plot import Effect, draw_effect
from .importance_plot import ceiling_of, draw_importance, format_importance
from .indices import Indices
from .observed import Column, Target, count_rows, indices_of, printable, read_columns, read_target
from .path_plot import draw_path, stops
from .shorten import shorten
from .standins import StandIn, strongest

# What a reader can take in; the page says how many more there are.
MOST_SELECTED, MOST_LEFT_OUT, MOST_EFFECTS, MOST_STAND_INS, MOST_SUMMARIES = 100, 30, 12, 15, 40
MOST_IN_NOTEBOOK = 20

# Associations weaker than this are no reason to think that one factor stands in for another.
LEAST_ASSOCIATION = 0.3

# Rows that associations are measured on.
MOST_ROWS_ASSOCIATED = 5000

FIGURE_WIDTH, PANEL_SIZE = 4.2, (2.9, 2.2)  # inches: on a phone, text in the figure is as large as next to it
COLOURS = {BLUE: "var(--strong)", VERMILLION: "var(--warm)", GREY: "var(--points)"}


def write_report(
    result: Any,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    title: str | None = None,
    call: str | None = None,
    notes: Iterable[str] = (),
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Write a result as one HTML page that needs nothing else: no network, no scripts.

    The page is written whole or not at all, and the same input gives the same bytes.

    Parameters
    ----------
    result : FIRST or Indices
        A fitted `FIRST`, or what `total_indices` or `backward_elimination` return.
    path : path
        Where to write.
    X, y : the data that were analysed, optional
        For the sections on effects, stand-ins and the data; without them, the page says how to get these.
    title : str, optional
        Default: the question.
    call : str, optional
        The command or call that repeats the analysis. Default: that of the `FIRST` given.
    notes : iterable of str
        What happened to the data before, such as rows dropped.
    settings : mapping, optional
        Parameters and their values. Default: those of the `FIRST` given.
    """
    page = gather(result, X, y, title=title, call=call, notes=notes, settings=settings)
    text = render(page)
    write_whole(path, lambda file: file.write(text.encode("utf-8", errors="replace")))


# --- gather -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Data:
    """What the page tells about the table itself."""

    target: Target
    effects: list[Effect]
    summaries: dict[int, str]
    stand_ins: list[StandIn]
    rows_associated: int


def gather(
    result: Any,
    X: Any,
    y: Any,
    *,
    title: str | None,
    call: str | None,
    notes: Iterable[str],
    settings: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return everything that the page shows, as plain values by name."""
    indices = indices_of(result)
    if (X is None) != (y is None):
        raise ValueError("X and y must be given together; got only one of them. Use report(path, X, y).")
    data = None if X is None else _read_data(X, y, indices)
    if result is not indices:  # a FIRST, which knows how it was called
        settings = result.get_params() if settings is None else settings
        call = _without_addresses(f"{result.__repr__(N_CHAR_MAX=10_000)}.fit(X, y)") if call is None else call
    response = "y" if data is None else data.target.name
    return {
        "title": title or f"What drives {response}?",
        "response": response,
        "indices": indices,
        "ceiling": ceiling_of(indices),
        "selected": _selected_rows(indices),
        "more_selected": max(len(indices.selected) - MOST_SELECTED, 0),
        "left_out": _left_out_rows(indices),
        "more_left_out": max(len(indices.left_out) - MOST_LEFT_OUT, 0),
        "kinds": Counter(indices.kinds),
        "data": None if data is None else _describe_data(data, indices),
        "figures": _draw(indices, data),
        "notes": [printable(note) for note in notes],
        "call": call,
        "settings": {printable(name): _describe_setting(value) for name, value in (settings or {}).items()},
        "repeatable": _says_whether_repeatable(settings),
        "versions": versions(),
    }


def _read_data(X: Any, y: Any, indices: Indices) -> Data:
    """Go through the table once."""
    n_rows = count_rows(X)
    if n_rows != indices.n_rows:
        raise ValueError(f"X must have the rows that were analysed ({indices.n_rows}); got {n_rows}.")
    target = read_target(y, n_rows, indices.task)
    selected, others = indices.selected.tolist(), indices.left_out.tolist()
    rows = np.arange(n_rows)
    if n_rows > MOST_ROWS_ASSOCIATED:
        rows = np.sort(np.random.default_rng(0).choice(n_rows, MOST_ROWS_ASSOCIATED, replace=False))
    chosen = dict(read_columns(X, indices, set(selected)))
    effects = [Effect(indices.names[i], float(indices.values[i]), chosen[i]) for i in selected[:MOST_EFFECTS]]
    summaries = {i: summarise(chosen[i]) for i in selected[:MOST_SUMMARIES]}
    some = {i: chosen[i].take(rows) for i in selected}
    found = []
    for i, column in read_columns(X, indices, set(others)):
        if len(summaries) < MOST_SUMMARIES:
            summaries[i] = summarise(column)
        if some and indices.kinds[i] != "constant":
            found.append(strongest(i, column.take(rows), some))
    close = [one for one in found if abs(one.association.strength) >= LEAST_ASSOCIATION]
    close.sort(key=lambda one: -abs(one.association.strength))
    return Data(target, effects, summaries, close, len(rows))


def summarise(column: Column) -> str:
    """Return the range of numbers or the most frequent levels in a few words."""
    if not column.levels:
        low, middle, high = (f"{value:.4g}".replace("-", "−") for value in np.quantile(column.values, [0, 0.5, 1]))
        return f"{low} to {high}, median {middle}" if low != high else f"about {low}"
    most = np.argsort(-column.counts, kind="stable")[:3]
    shown = ", ".join(f"{_brief(column.levels[i])} ({column.counts[i]:,})" for i in most)
    return f"{len(column.levels):,} levels: {shown}" + (", …" if len(column.levels) > 3 else "")


def _brief(text: str, most: int = 40) -> str:
    """Return a text shortened in the middle to some characters."""
    return shorten(text, lambda shorter: len(shorter) <= most)


def _describe_data(data: Data, indices: Indices) -> dict[str, Any]:
    """Return what the page says about the data, with names in place of positions."""
    names = [printable(name) for name in indices.names]
    target = data.target
    if target.classes:
        second = int(target.values.sum())
        counts = (len(target.values) - second, second)
        summary = ", ".join(f"{_brief(label)} ({count:,})" for label, count in zip(target.classes, counts, strict=True))
    else:
        summary = summarise(Column(target.values, ()))
    return {
        "response_summary": summary,
        "classes": target.classes,
        "summaries": [(names[i], indices.kinds[i], text) for i, text in data.summaries.items()],
        "more_summaries": len(names) - len(data.summaries),
        "stand_ins": [
            (names[one.left_out], names[one.selected], one.association) for one in data.stand_ins[:MOST_STAND_INS]
        ],
        "more_stand_ins": max(len(data.stand_ins) - MOST_STAND_INS, 0),
        "rows_associated": data.rows_associated,
        "more_effects": len(indices.selected) - len(data.effects),
    }


def _selected_rows(indices: Indices) -> list[dict[str, Any]]:
    """Return the rows of the table for the selected factors; ``share`` is the length of the bar."""
    shown = indices.selected.tolist()[:MOST_SELECTED]
    largest = float(indices.values.max())
    return [
        {
            "rank": rank,
            "name": printable(indices.names[i]),
            "kind": indices.kinds[i],
            "importance": format_importance(float(indices.values[i])),
            "share": round(100 * float(indices.values[i]) / largest, 1),
        }
        for rank, i in enumerate(shown, start=1)
    ]


def _left_out_rows(indices: Indices) -> list[dict[str, str]]:
    """Return the rows of the table for factors that were left out."""
    return [
        {"name": printable(indices.names[i]), "kind": indices.kinds[i], "reason": indices.why_left_out(i)}
        for i in indices.left_out.tolist()[:MOST_LEFT_OUT]
    ]


def _describe_setting(value: Any) -> str:
    """Return a value as text that is the same in every run: no addresses, no endless arrays."""
    text = repr(value.tolist() if isinstance(value, np.ndarray) else value)
    return _brief(printable(_without_addresses(text)), 200)


def _without_addresses(text: str) -> str:
    """Return what `repr` gave without what differs from run to run."""
    return re.sub(r" at 0x[0-9A-Fa-f]+", "", text)


def _says_whether_repeatable(settings: Mapping[str, Any] | None) -> str:
    """Return a sentence on what a repeat will give."""
    if settings is None:
        return ""
    if all(settings.get(name) is None for name in ("n_outer", "sample")):
        return "Nothing was drawn at random: the same data give the same result."
    seed = settings.get("random_state", settings.get("seed"))
    if seed is None:
        return "Rows were drawn at random and no seed was set: a repeat will differ a little."
    if not is_integer(seed):
        return "Rows were drawn at random: a repeat needs the same generator in the same state."
    return f"Rows were drawn at random with the seed {seed}: a repeat with it gives the same result."


# --- draw ---------------------------------------------------------------------------------------------------------


def _draw(indices: Indices, data: Data | None) -> dict[str, Any]:
    """Return figures as SVG text: ``importance``, ``path`` (None without a step) and ``effects``, with names."""
    figure = require("matplotlib.figure", "a report").Figure
    with _svg.page_style(FIGURE_WIDTH):
        importance = draw_importance(indices, None, figure)
        importance.set_title("", loc="left")  # the page says it
        walked = indices.path is not None and stops(indices.path, indices.r2_ceiling)
        path = draw_path(indices, None, figure) if walked else None
        return {
            "importance": _svg.figure_to_svg(importance.figure, "importance", "Importance of each factor", COLOURS),
            "path": path and _svg.figure_to_svg(path.figure, "path", "R² after each step", COLOURS),
            "effects": [] if data is None else list(_draw_effects(data, figure)),
        }


def _draw_effects(data: Data, figure: Any) -> Iterator[tuple[str, str, str]]:
    """Yield for each factor its name, as much of it as makes a caption, and the panel."""
    for number, effect in enumerate(data.effects):
        ax = figure(figsize=PANEL_SIZE, layout="constrained").add_subplot()
        draw_effect(ax, effect, data.target)
        name = printable(effect.name)
        description = f"{data.target.label} against {name}"
        yield name, _brief(name, 60), _svg.figure_to_svg(ax.figure, f"effect{number}", description, COLOURS)


# --- render -------------------------------------------------------------------------------------------------------


def render(page: Mapping[str, Any]) -> str:
    """Return the page as text. All that comes from the data is escaped; only our own figures are markup."""
    jinja2 = require("jinja2", "a report")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["percent"] = percent
    template = files(__package__).joinpath("report.html.jinja").read_text(encoding="utf-8")
    return str(environment.from_string(template).render(page))


def percent(share: float) -> str:
    """Return a share in percent, with a decimal where rounding would claim all or nothing."""
    rounded = f"{100 * share:.0f}"
    if (rounded == "100" and share < 1) or (rounded == "0" and share > 0):
        rounded = f"{100 * share:.1f}"
        if rounded in ("100.0", "0.0"):
            return "more than 99.9\u00a0%" if share > 0.5 else "less than 0.1\u00a0%"
    return f"{rounded}\u00a0%"


# --- in a notebook ------------------------------------------------------------------------------------------------


def compact_table(indices: Indices) -> str:
    """Return the selected factors and the ceiling as a small HTML table, for notebooks."""
    rows = _selected_rows(indices)[:MOST_IN_NOTEBOOK]
    cells = "".join(
        f'<tr><td style="text-align:right">{row["rank"]}</td><td style="text-align:left">{html.escape(row["name"])}'
        f'</td><td style="text-align:left">{row["kind"]}</td><td style="text-align:right">{row["importance"]}</td>'
        '<td style="text-align:left;width:8em"><div style="height:0.8em;min-width:1px;background:#0072b2;'
        f'width:{row["share"]}%"></div></td></tr>'
        for row in rows
    )
    return (
        '<div class="firstfactor"><table><thead><tr><th></th><th style="text-align:left">factor</th>'
        '<th style="text-align:left">kind</th><th>importance</th><th></th></tr></thead>'
        f"<tbody>{cells}</tbody></table><p>{_summary(indices, len(rows))}</p></div>"
    )


def _summary(indices: Indices, shown: int) -> str:
    """Return what the table in a notebook does not show, and the ceiling."""
    more = len(indices.selected) - shown
    counts = f"{more} more selected; " if more else ""
    others = len(indices.left_out)
    return f"{counts}{others} of {len(indices.names)} left out. R² of any model: at most {ceiling_of(indices):.2f}."
