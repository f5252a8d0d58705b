"""Result as HTML: the page, which is one template, and the table for notebooks."""

import base64
import hashlib
import html
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from .._utils.packages import require
from .._utils.text import printable
from ..findings.finding import in_order
from ..results.constants import LEVEL
from ..results.formats import percent, unbroken
from ..results.indices import Indices
from ..results.ranking_line import RankingLine
from ..results.wording import headline, say_no_evidence, say_no_shares, say_weak, share_name
from .figures import COLOURS

# Maximum number of rows in a notebook; the table says how many more there are.
MOST_SHOWN = 20


def render(page: Mapping[str, Any]) -> str:
    """Return the page as text, with everything that comes from the data escaped.

    Only the figures, the style and the script, which are made here, are markup.
    """
    jinja2, markup = require("jinja2", "a report"), require("markupsafe", "a report").Markup
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_read),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": lambda share: unbroken(percent(share)),
        "unbroken": unbroken,
        "colour": lambda colour: COLOURS.get(colour, colour),
        "breakable": lambda text: markup(re.sub(r"(?<=[_/])(?=\w)", "<wbr>", html.escape(text))),
    }
    script = _read("sort.js")
    assets = {"style": _read("page.css"), "script": script, "script_digest": _script_digest(script)}
    chart, without = environment.get_template("chart.html.jinja"), page["without"]
    charts = {
        "whole": markup(chart.render(page, chart="chart")),
        "without": markup(chart.render({**page, **without}, chart="chart-without")) if without else "",
    }
    return str(environment.get_template("report.html.jinja").render(page, charts=charts, **assets))


def _read(name: str) -> str:
    """Return the text of a file in this folder."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _script_digest(script: str) -> str:
    """Return the digest by which the security policy of the page allows its script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


# --- notebooks ------------------------------------------------------------------------------------------------------


def compact_table(indices: Indices) -> str:
    """Return the drivers of the response and the ceiling as a small HTML table."""
    rows = indices.drivers
    shown = rows[:MOST_SHOWN]
    known = indices.sharing is not None
    left, right = 'style="text-align:left"', 'style="text-align:right"'
    cells = "".join(
        f"<tr><td {right}>{rank}</td><td {left}>{html.escape(row.name)}</td>"
        f"<td {left}>{row.kind or 'any of them'}</td><td {right}>{row.importance_text}</td>"
        f"<td {left}>{row.interval_text}{' ?' if row.weak else ''}</td>"
        + (f"<td {right}>{row.alone_text}</td>" if known else "")
        + f'<td style="text-align:left;width:8em">{_bar(row)}</td></tr>'
        for rank, row in enumerate(shown, start=1)
    )
    leaks = "".join(
        f"<p><b>{html.escape(printable(one.advice))}</b></p>" for one in indices.findings if one.kind == "leak"
    )
    return (
        f'<div class="firstfactor">{leaks}<table><thead><tr><th></th><th {left}>factor</th><th {left}>kind</th>'
        f"<th>{share_name(indices)}</th><th></th>{'<th>alone</th>' if known else ''}<th></th>"
        f"</tr></thead><tbody>{cells}</tbody></table><p>{_summary(indices, shown, len(rows) - len(shown))}</p></div>"
    )


def _bar(row: RankingLine) -> str:
    """Return a solid bar for the importance, in front of a pale one for the share explained alone."""
    solid, pale = (round(100 * share, 1) for share in (row.importance, row.alone or 0.0))
    return (
        '<div style="height:0.8em;position:relative"><div style="position:absolute;height:100%;background:#0072b2;'
        f'opacity:0.25;width:{pale}%"></div><div style="position:absolute;height:100%;min-width:1px;'
        f'background:#0072b2;width:{solid}%"></div></div>'
    )


def _summary(indices: Indices, shown: Sequence[RankingLine], more: int) -> str:
    """Return the sentences below the table: its marks, the factors that it does not show, and the ceiling."""
    counts = f"{more} more selected; " if more else ""
    findings = in_order(indices.findings)
    sentences = [
        f"{counts}{len(indices.left_out)} of {len(indices.names)} left out.",
        f"{headline(indices)}.",
    ]
    if any(row.interval_text for row in shown):
        sentences.append(f"{100 * LEVEL:g} % intervals.")
    if any(row.weak for row in shown):
        sentences.append(f"? weak: {html.escape(say_weak(indices))}.")
    sentences += [html.escape(printable(one.advice)) for one in findings if one.kind != "leak"]
    doubts = (say_no_evidence(indices), say_no_shares(indices), indices.sample_size.sentence)
    return " ".join(filter(None, [*sentences, *doubts]))
