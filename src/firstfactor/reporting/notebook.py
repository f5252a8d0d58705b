"""Result in a notebook: a small table with bars, and what is said of it, readable on light and on dark pages."""

import html
from collections.abc import Iterable, Sequence

from .._utils.text import printable
from ..findings.finding import in_order
from ..results.constants import LEVEL
from ..results.formats import unbroken
from ..results.indices import Indices
from ..results.ranking_line import RankingLine
from ..results.wording import headline, importance_words, say_no_evidence, say_no_shares, say_weak
from .export import Exported
from .summary import choose_lines, has_numbers, summarise

# Maximum number of rows of a fitted selector; the table says how many more there are.
MOST_SHOWN = 20

# Colours come from the page, so that a dark one needs no others; only bars have one of their own, which both can show.
STYLE = """<style>
.firstfactor {line-height: 1.4; max-width: 60em; color: inherit}
.firstfactor p {margin: 0.3em 0}
.firstfactor .quiet {opacity: 0.72}
.firstfactor p.quiet {font-size: 0.92em}
.firstfactor .answer {font-weight: 600}
.firstfactor table {border-collapse: collapse; margin: 0.6em 0; border: 0; color: inherit}
.firstfactor th, .firstfactor td {padding: 0.15em 0.7em 0.15em 0; border: 0; background: none; color: inherit}
.firstfactor th {font-weight: 600; border-bottom: 1px solid rgba(128, 128, 128, 0.5); white-space: nowrap}
.firstfactor td {font-variant-numeric: tabular-nums}
.firstfactor tr, .firstfactor tr:hover {background: none !important}
</style>"""
BAR = "#3b8bc4"

LEFT, RIGHT = 'style="text-align:left"', 'style="text-align:right"'


def as_html(result: Exported) -> str:
    """Return a ranking as HTML: the data, the answer, the table and its legend."""
    said, indices = summarise(result), result.indices
    notes = [*said.remarks, *said.doubts]
    where = "<code>to_frame()</code> lists them"
    chosen = [*choose_lines(indices, result.stability, "\0")]
    return _box(
        [
            *_paragraphs("quiet", [" ".join(filter(None, [said.data, said.left_out, said.missing]))]),
            *(f"<p><b>Leak:</b> {_escape(leak)}</p>" for leak in said.leaks),
            *_paragraphs("answer", [said.answer]),
            *_paragraphs("", [said.ceiling]),
            *_paragraphs("", [f"Note: {note}" for note in notes]),
            _table(indices, chosen, result.stability is not None).replace("\0", where),
            *_paragraphs("quiet", [" ".join(said.legend).replace("(█)", "(bar)").replace("(░)", "(faint bar)")]),
        ]
    )


def compact_table(indices: Indices) -> str:
    """Return the drivers of the response and the ceiling as HTML, for a fitted selector."""
    rows = indices.drivers
    shown = rows[:MOST_SHOWN]
    leaks = [printable(one.advice) for one in indices.findings if one.kind == "leak"]
    lines = [(line, False) for line in shown]
    return _box(
        [
            *(f"<p><b>{_escape(leak)}</b></p>" for leak in leaks),
            _table(indices, lines, False),
            *_paragraphs("quiet", [_say_rest(indices, shown, len(rows) - len(shown))]),
        ]
    )


def _box(parts: Iterable[str]) -> str:
    return f'{STYLE}<div class="firstfactor">{"".join(parts)}</div>'


def _escape(text: str) -> str:
    return html.escape(unbroken(text))


def _paragraphs(look: str, texts: Iterable[str]) -> list[str]:
    """Return the paragraphs that are not empty."""
    name = f' class="{look}"' if look else ""
    return [f"<p{name}>{_escape(text)}</p>" for text in texts if text]


def _table(indices: Indices, chosen: Sequence[tuple[RankingLine, bool] | str], with_halves: bool) -> str:
    """Return the table: numbers and bars of drivers, and reasons of factors that were left out."""
    with_alone = indices.sharing is not None
    header = [("", RIGHT), ("factor", LEFT), ("kind", LEFT)] + [("halves", RIGHT)] * with_halves
    header += [(importance_words(indices).name, RIGHT), (f"({100 * LEVEL:g} %)", LEFT)]
    header += [("alone", RIGHT)] * with_alone + [("p", RIGHT)] * indices.has_p_values + [("", LEFT)]
    rows = []
    for each in chosen:
        if isinstance(each, str):
            rows.append(f'<tr class="quiet"><td></td><td colspan="{len(header) - 1}" {LEFT}>{_escape(each)}</td></tr>')
            continue
        line, member = each
        name = f"{'&emsp;' * member}{html.escape(line.name)}{'*' * line.forced}"
        rank = (line.rank or "") if has_numbers(line) else "–"
        start = f"<td {RIGHT}>{rank}</td><td {LEFT}>{name}</td>"
        start += f"<td {LEFT}>{line.kind or ('any of them' if line.interchangeable else 'together')}</td>"
        if not has_numbers(line):
            halves = f"<td {RIGHT}>{line.frequency_text}</td>" * with_halves
            reason = f'<td colspan="{len(header) - 3 - with_halves}" {LEFT}>{_escape(line.reason)}</td>'
            rows.append(f'<tr class="quiet">{start}{halves}{reason}</tr>')
            continue
        cells = [(line.frequency_text, RIGHT)] * with_halves + [(line.importance_text, RIGHT)]
        cells += [(line.interval_text + " ?" * line.weak, LEFT)] + [(line.alone_text, RIGHT)] * with_alone
        cells += [(line.p_text, RIGHT)] * indices.has_p_values
        numbers = "".join(f"<td {side}>{html.escape(text)}</td>" for text, side in cells)
        rows.append(f'<tr>{start}{numbers}<td style="text-align:left;width:8em">{_bar(line)}</td></tr>')
    titles = "".join(f"<th {side}>{_escape(title)}</th>" for title, side in header)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _bar(line: RankingLine) -> str:
    """Return a solid bar for the importance, in front of a pale one for the share explained alone."""
    solid, pale = (round(100 * share, 1) for share in (line.importance * line.selected, line.alone or 0.0))
    bar = f"position:absolute;height:100%;background:{BAR}"
    return (
        f'<div style="height:0.8em;position:relative"><div style="{bar};opacity:0.35;width:{pale}%"></div>'
        f'<div style="{bar};min-width:{1 if line.selected else 0}px;width:{solid}%"></div></div>'
    )


def _say_rest(indices: Indices, shown: Sequence[RankingLine], more: int) -> str:
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
        sentences.append(f"? weak: {say_weak(indices)}.")
    sentences += [printable(one.advice) for one in findings if one.kind != "leak"]
    doubts = (say_no_evidence(indices), say_no_shares(indices), indices.sample_size.sentence)
    return " ".join(filter(None, [*sentences, *doubts]))
