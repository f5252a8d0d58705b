"""A result as one page to send to a colleague: gathered once, drawn, then filled into one template."""

import base64
import hashlib
import html
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sized
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.atomic_write import write_whole
from .._utils.checks import is_integer
from .._utils.optional import require, versions
from .._utils.text import list_names, printable
from ..parameters import Options
from ..plots.axes import BLUE, GREY, VERMILLION
from ..plots.effects import draw_effect
from ..plots.pair import Pair, draw_pair
from ..plots.path import draw_path, stops
from ..plots.stability import draw_stability
from ..results.formats import format_importance, format_number, percent
from ..results.indices import Indices, indices_of
from ..results.wording import (
    LEVEL,
    headline,
    is_calibrated,
    is_untested,
    measure,
    r2_range,
    say_bias,
    say_ceiling,
    say_disagreement,
    say_drivers,
    say_kinds,
    say_missing,
    say_no_evidence,
    say_no_p_values,
    say_no_shares,
    say_rows_judged,
    say_weak,
    share_name,
)
from . import figures
from .data_summary import Data, brief, describe_data, read_data
from .rows import Row, driver_rows, explain, other_factors
from .source import today

if TYPE_CHECKING:
    from ..results.stability import Stability

# What a reader can take in; the page says how many more there are.
MOST_SHOWN, MOST_FOLDED, MOST_LEFT_OUT, MOST_MEMBERS, MOST_OFTEN, MOST_IN_NOTEBOOK = 25, 75, 100, 60, 30, 20

# Inches; figures are shown as large as they are drawn, so that text in all of them has one size, and a phone has room.
FIGURE_WIDTH, PANEL_SIZE, PAIR_SIZE = 3.6, (2.9, 2.3), (3.6, 2.9)
STEP_WIDTH, WIDEST = 0.3, 9.0
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
    stability: "Stability | None" = None,
    source: Mapping[str, str] | None = None,
    options: Options | None = None,
    sample_weight: Any = None,
    groups: Any = None,
) -> None:
    """Write a result as one HTML page that needs nothing else: no network, and no script to read it.

    With scripts, which a browser may allow or not, rows can be sorted. The page is written whole or not at all, and
    the same input gives the same bytes on the same day.

    Parameters
    ----------
    result : FIRST or Indices
        A fitted `FIRST`, or what `total_indices` or `backward_elimination` return.
    path : path
        Where to write.
    X, y : the data that were analysed, optional
        For the sections on effects and the data; without them, the page says how to get these.
    title : str, optional
        Default: the question.
    call : str, optional
        The command or call that repeats the analysis. Default: that of the `FIRST` given.
    notes : iterable of str
        What happened to the data before, such as rows dropped.
    settings : mapping, optional
        Parameters and their values. Default: those of the `FIRST` given.
    stability : Stability, optional
        What `firstfactor.stability` returned for the same table, to be shown as well.
    source : mapping of str to str, optional
        Where the table comes from, as `describe_file` and `describe_table` give it: ``name``, ``size`` and ``sha256``,
        and ``date`` if it is not today's.
    options : Options, optional
        How the table was read and variances were estimated, to show effects with the other factors held fixed. Default:
        those of the `FIRST` given.
    sample_weight, groups
        What was given to `fit`, for the same.
    """
    page = gather(
        result,
        X,
        y,
        title=title,
        call=call,
        notes=notes,
        settings=settings,
        stability=stability,
        source={} if source is None else source,
        options=options,
        sample_weight=sample_weight,
        groups=groups,
    )
    text = render(page)
    write_whole(path, lambda file: file.write(text.encode("utf-8", errors="replace")))


# --- gather -------------------------------------------------------------------------------------------------------


def gather(
    result: Any,
    X: Any,
    y: Any,
    *,
    title: str | None,
    call: str | None,
    notes: Iterable[str],
    settings: Mapping[str, Any] | None,
    stability: "Stability | None",
    source: Mapping[str, str],
    options: Options | None,
    sample_weight: Any,
    groups: Any,
) -> dict[str, Any]:
    """Everything that the page shows, as plain values by name."""
    indices = indices_of(result)
    if (X is None) != (y is None):
        raise ValueError("X and y must be given together; got only one of them. Use report(path, X, y).")
    if stability is not None and stability.names != indices.names:
        raise ValueError("stability must be of the same factors as the result; got others. Use the same X for both.")
    if result is not indices:  # a FIRST, which knows how it was called
        settings = result.get_params() if settings is None else settings
        options = result.parameters()[0] if options is None else options
        call = _without_addresses(f"{result.__repr__(N_CHAR_MAX=10_000)}.fit(X, y)") if call is None else call
    data = None if X is None else read_data(X, y, indices, options, sample_weight, groups)
    names = list_names([printable(name) for name in indices.outputs])
    how = (settings or {}).get("response", "values")
    response = names if how == "values" else f"the {how.replace('-', ' ')} of {names}"
    n_rows = len(data.target.values) if data else indices.n_rows
    return {
        "title": title or f"What drives {names}?",
        "answer": _unbroken(say_drivers(indices, response, several=response != names)),
        "response": names,
        "measure": measure(indices),
        "response_kind": _describe_response(indices),
        "response_variance": format_number(indices.response_variance),
        "missing": say_missing(indices),
        "forced": list_names([printable(indices.names[i]) for i in indices.forced]),
        "indices": indices,
        "ceiling": indices.r2_ceiling,
        "ceiling_sentence": _unbroken(say_ceiling(indices, response)),
        "n_rows": n_rows,
        "n_columns": sum(map(len, indices.members)) + len(indices.outputs),
        "source": {
            **{"name": "", "size": "", "sha256": "", "date": today()},
            **{key: printable(value) for key, value in source.items()},
        },
        "split": indices.path is not None and indices.path.rows_apart > 0,
        **_evidence(indices),
        **_chart(indices, stability),
        "stability": stability and describe_stability(stability),
        "kinds": say_kinds(indices),
        "data": None if data is None else describe_data(data, indices),
        "figures": _draw(indices, data, stability),
        "notes": [printable(note) for note in notes],
        "call": call,
        "settings": _describe_settings(settings or {}),
        "repeatable": _says_whether_repeatable(settings),
        "versions": versions(),
    }


def _describe_response(indices: Indices) -> str:
    """What kind of response it is, in words."""
    if len(indices.outputs) > 1:
        return f"{len(indices.outputs)} outputs, standardised and explained together"
    if indices.classes:
        return f"one of {'two' if len(indices.classes) == 2 else f'{len(indices.classes):,}'} classes"
    return "a quantity"


def _chart(indices: Indices, stability: "Stability | None") -> dict[str, Any]:
    """The rows of the chart, those that are folded away, and what is said about factors in no row."""
    rows = driver_rows(indices, stability)
    shown = rows[:MOST_SHOWN] if len(rows) > MOST_SHOWN + 5 else rows  # for a few more, nobody wants to unfold
    folded = rows[len(shown) : len(shown) + MOST_FOLDED]
    close, others = other_factors(indices)
    return {
        "rows": shown,
        "folded": folded,
        "more_rows": len(rows) - len(shown) - len(folded),
        "folded_most": format_importance(folded[0].lost) if folded else "",
        "most_members": MOST_MEMBERS,
        "share_name": share_name(indices),
        "has_alone": indices.sharing is not None and bool(rows),
        "has_intervals": any(each.interval_text for row in rows for each in (row, *row.members)),
        "has_clusters": any(row.members for row in rows),
        "has_dashes": any(not member.selected for row in rows for member in row.members),
        "close": [explain(indices, i) for i in close[:MOST_LEFT_OUT]],
        "more_close": max(len(close) - MOST_LEFT_OUT, 0),
        "others": [explain(indices, i) for i in others[:MOST_LEFT_OUT]],
        "more_others": max(len(others) - MOST_LEFT_OUT, 0),
    }


def _evidence(indices: Indices) -> dict[str, Any]:
    """How sure the result is, and what makes it doubtful."""
    return {
        "sure": indices.uncertainty is not None and indices.selected.size > 0,
        "level": f"{100 * LEVEL:g}",
        "has_p": indices.has_p_values,
        "weak": say_weak(indices),
        "n_weak": int(indices.weak.sum()),
        "ceiling_interval": None if indices.estimator == "nearest" else r2_range(indices),
        "calibrated": is_calibrated(indices),
        "untested": is_untested(indices),
        "no_evidence": say_no_evidence(indices),
        "no_p_values": say_no_p_values(indices),
        "findings": [printable(finding.advice) for finding in indices.findings],
        "too_few_rows": indices.sample_size.sentence,
        "bias": say_bias(indices, "The estimator “extrapolated” has less bias."),
        "no_shares": say_no_shares(indices),
        "disagreement": say_disagreement(indices),
        "rows_judged": say_rows_judged(indices),
    }


def describe_stability(found: "Stability") -> dict[str, Any]:
    """What the page says about halves of the rows."""
    return {
        "halves": 2 * found.n_pairs,
        "often": _were([printable(found.names[i]) for i in found.selected]),
        "threshold": f"{100 * found.threshold:g}",
        "average_size": f"{found.average_size:.2g}",
        "expected_false": f"{found.expected_false:.2g}" if found.expected_false < found.selected.size else "",
    }


def _were(names: list[str]) -> str:
    """Some names and a verb, the beginning of a sentence; nothing for none."""
    named = names[:MOST_OFTEN] if len(names) > MOST_OFTEN else names[:-1]
    last = f"{len(names) - len(named):,} more" if len(names) > MOST_OFTEN else names[-1] if names else ""
    listed = f"{', '.join(named)} and {last}" if named else last
    return listed and f"{listed} {'was' if len(names) == 1 else 'were'}"


def _describe_settings(settings: Mapping[str, Any]) -> dict[str, str]:
    """Names and values of what is set; most parameters are not, and would only hide the others."""
    return {
        printable(name): _describe_setting(value)
        for name, value in settings.items()
        if value is not None and not (isinstance(value, Sized) and len(value) == 0)
    }


def _describe_setting(value: Any) -> str:
    """A value in plain words that are the same in every run: no addresses, no endless arrays."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value in (".", ","):
        return "a point" if value == "." else "a comma"
    if isinstance(value, Mapping):
        return brief("; ".join(f"{printable(key)}: {_describe_setting(each)}" for key, each in value.items()), 200)
    if isinstance(value, list | tuple | set | frozenset):
        return brief(", ".join(map(_describe_setting, value)), 200)
    return brief(printable(_without_addresses(f"{value:,}" if isinstance(value, int) else str(value))), 200)


def _without_addresses(text: str) -> str:
    """What `repr` gave without what differs from run to run."""
    return re.sub(r" at 0x[0-9A-Fa-f]+", "", text)


def _says_whether_repeatable(settings: Mapping[str, Any] | None) -> str:
    """A sentence on what a repeat will give."""
    if settings is None:
        return ""
    if settings.get("split") or not all(settings.get(name) is None for name in ("n_outer", "sample")):
        drawn = "Rows were"
    elif settings.get("rule") == "calibrated":
        drawn = "What chance would show was"
    else:
        return "Nothing was drawn at random: the same data give the same result."
    seed = settings.get("random_state", settings.get("seed"))
    if seed is None:
        return f"{drawn} drawn at random and no seed was set: a repeat will differ a little."
    if not is_integer(seed):
        return f"{drawn} drawn at random: a repeat needs the same generator in the same state."
    return f"{drawn} drawn at random with the seed {seed}: a repeat with it gives the same result."


# --- draw ---------------------------------------------------------------------------------------------------------


def _draw(indices: Indices, data: Data | None, stability: "Stability | None") -> dict[str, Any]:
    """Figures as SVG text, None where there is nothing to draw; ``effects`` come with names."""
    figure = require("matplotlib.figure", "a report").Figure
    with figures.page_style(FIGURE_WIDTH):
        walked = [] if indices.path is None else stops(indices.path, indices.r2_ceiling)
        path = _draw_path(indices, len(walked), figure) if len(walked) > 1 else None
        halves = draw_stability(stability, None, figure) if stability else None
        return {
            "path": path and figures.figure_to_svg(path.figure, "path", "R² after each step", COLOURS),
            "stability": halves
            and figures.figure_to_svg(halves.figure, "halves", "How often each is selected", COLOURS),
            "effects": [] if data is None else list(_draw_effects(data, figure)),
            "pair": None if data is None or data.pair is None else _draw_pair(data.pair, figure),
        }


def _draw_path(indices: Indices, steps: int, figure: Any) -> Any:
    """The axes of the path; of many steps, so wide that names stand apart, though a phone must scroll."""
    with figures.page_style(min(max(FIGURE_WIDTH, STEP_WIDTH * steps), WIDEST)):
        return draw_path(indices, None, figure)


def _draw_effects(data: Data, figure: Any) -> Iterator[tuple[str, str, str]]:
    """Yield for each factor its name, as much of it as makes a caption, and the panel."""
    for number, effect in enumerate(data.effects):
        ax = figure(figsize=PANEL_SIZE, layout="constrained").add_subplot()
        draw_effect(ax, effect, data.target, legend=False)
        name = printable(effect.name)
        description = f"{data.target.label} against {name}"
        yield name, brief(name, 60), figures.figure_to_svg(ax.figure, f"effect{number}", description, COLOURS)


def _draw_pair(pair: Pair, figure: Any) -> str:
    """Two factors that work together, as SVG text."""
    ax = figure(figsize=PAIR_SIZE, layout="constrained").add_subplot()
    draw_pair(ax, pair)
    description = f"{pair.label} over {printable(pair.across.name)} and {printable(pair.up.name)}"
    return figures.figure_to_svg(ax.figure, "pair", description, COLOURS)


# --- render -------------------------------------------------------------------------------------------------------


def render(page: Mapping[str, Any]) -> str:
    """The page as text. All that comes from the data is escaped; only our own figures, style and script are markup."""
    jinja2, markup = require("jinja2", "a report"), require("markupsafe", "a report").Markup
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_read),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": lambda share: _unbroken(percent(share)),
        "unbroken": _unbroken,
        "colour": lambda colour: COLOURS.get(colour, colour),
        "breakable": lambda text: markup(re.sub(r"(?<=[_/])(?=\w)", "<wbr>", html.escape(text))),
    }
    script = _read("sort.js")
    assets = {"style": _read("page.css"), "script": script, "script_digest": _script_digest(script)}
    return str(environment.get_template("report.html.jinja").render(page, **assets))


def _read(name: str) -> str:
    """The text of a file beside this one."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _script_digest(script: str) -> str:
    """What the page's policy calls the one script that may run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _unbroken(text: str) -> str:
    """Text in which no line ends before a percent sign."""
    return text.replace(" %", "\u00a0%")


# --- in a notebook ------------------------------------------------------------------------------------------------


def compact_table(indices: Indices) -> str:
    """What drives the response and the ceiling as a small HTML table, for notebooks."""
    rows = driver_rows(indices)
    shown = rows[:MOST_IN_NOTEBOOK]
    known = indices.sharing is not None
    left, right = 'style="text-align:left"', 'style="text-align:right"'
    cells = "".join(
        f"<tr><td {right}>{rank}</td><td {left}>{html.escape(row.name)}</td>"
        f"<td {left}>{row.kind or 'any of them'}</td><td {right}>{row.lost_text}</td>"
        f"<td {left}>{row.interval_text}{' ?' if row.weak else ''}</td>"
        + (f"<td {right}>{row.alone_text}</td>" if known else "")
        + f'<td style="text-align:left;width:8em">{_notebook_bar(row)}</td></tr>'
        for rank, row in enumerate(shown, start=1)
    )
    return (
        f'<div class="firstfactor"><table><thead><tr><th></th><th {left}>factor</th><th {left}>kind</th>'
        f"<th>{share_name(indices)}</th><th></th>{'<th>alone</th>' if known else ''}<th></th>"
        f"</tr></thead><tbody>{cells}</tbody></table><p>{_summary(indices, shown, len(rows) - len(shown))}</p></div>"
    )


def _notebook_bar(row: Row) -> str:
    """A solid bar for what is lost without, in front of a pale one for what is explained alone."""
    solid, pale = (round(100 * share, 1) for share in (row.lost, row.alone or 0.0))
    return (
        '<div style="height:0.8em;position:relative"><div style="position:absolute;height:100%;background:#0072b2;'
        f'opacity:0.25;width:{pale}%"></div><div style="position:absolute;height:100%;min-width:1px;'
        f'background:#0072b2;width:{solid}%"></div></div>'
    )


def _summary(indices: Indices, shown: list[Row], more: int) -> str:
    """What the table in a notebook does not show, what its marks are, and the ceiling."""
    counts = f"{more} more selected; " if more else ""
    sentences = [
        f"{counts}{len(indices.left_out)} of {len(indices.names)} left out.",
        f"{headline(indices)}.",
    ]
    if any(row.interval_text for row in shown):
        sentences.append(f"{100 * LEVEL:g} % intervals.")
    if any(row.weak for row in shown):
        sentences.append(f"? weak: {html.escape(say_weak(indices))}.")
    sentences += [html.escape(printable(finding.advice)) for finding in indices.findings]
    doubts = (say_no_evidence(indices), say_no_shares(indices), indices.sample_size.sentence)
    return " ".join(filter(None, [*sentences, *doubts]))
