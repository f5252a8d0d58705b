"""A result as a small table in a notebook."""

import html

from .._utils.text import printable
from ..results.indices import Indices
from ..results.wording import LEVEL, headline, say_no_evidence, say_no_shares, say_weak, share_name
from .rows import Row, driver_rows

# Rows that a reader can take in; the table says how many more there are.
MOST_SHOWN = 20


def compact_table(indices: Indices) -> str:
    """What drives the response and the ceiling as a small HTML table, for notebooks."""
    rows = driver_rows(indices)
    shown = rows[:MOST_SHOWN]
    known = indices.sharing is not None
    left, right = 'style="text-align:left"', 'style="text-align:right"'
    cells = "".join(
        f"<tr><td {right}>{rank}</td><td {left}>{html.escape(row.name)}</td>"
        f"<td {left}>{row.kind or 'any of them'}</td><td {right}>{row.lost_text}</td>"
        f"<td {left}>{row.interval_text}{' ?' if row.weak else ''}</td>"
        + (f"<td {right}>{row.alone_text}</td>" if known else "")
        + f'<td style="text-align:left;width:8em">{_bar(row)}</td></tr>'
        for rank, row in enumerate(shown, start=1)
    )
    return (
        f'<div class="firstfactor"><table><thead><tr><th></th><th {left}>factor</th><th {left}>kind</th>'
        f"<th>{share_name(indices)}</th><th></th>{'<th>alone</th>' if known else ''}<th></th>"
        f"</tr></thead><tbody>{cells}</tbody></table><p>{_summary(indices, shown, len(rows) - len(shown))}</p></div>"
    )


def _bar(row: Row) -> str:
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
