"""A closer look at a factor: its effect as a picture by itself, its partners, and the rows that matter most."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .._utils.packages import require
from .._utils.text import list_names, printable
from ..inference.estimates import find_interactions
from ..inference.sample_size import diagnose_sample_size
from ..plots.effects import Effect, draw_effect, hold_others_fixed, read_effects
from ..plots.original_data import AnalysedTable
from ..plots.pair import draw_pair, read_pair
from ..results.formats import percent
from ..results.indices import find_exchange
from .data_summary import brief, representatives
from .figures import figure_to_svg, page_style

# Inches of a picture, and of each panel if it has several.
WIDTH, HEIGHT, PAIR_HEIGHT = 4.6, 2.9, 3.4

# Columns of a factor to draw, factors to try as partners, and rows to name.
MOST_PANELS, MOST_PARTNERS, MOST_ROWS = 6, 5, 5

# Colours of a picture by itself, in the two themes of a browser: those of the page of a report.
_THEME = (
    "svg{color:#1b1e22;--strong:#0072b2;--warm:#c04a00;--points:#8c8c8c}"
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif}"
    "@media(prefers-color-scheme:dark){svg{color:#e9eaec;--strong:#3d9fdb;--warm:#f0884a;--points:#9a9a9a}}"
)


class Partner(NamedTuple):
    """Factor that works together with another, or shares information with it."""

    name: str
    sentence: str
    strength: float
    """Share of what is explained, from 0 to 1."""


class ImportantRow(NamedTuple):
    """Row that a factor is important for."""

    position: int
    """Position among the rows of the table."""
    share: float
    """Share of what is lost without the factor that comes from this row."""


def draw_factor(table: AnalysedTable, factor: int) -> tuple[str | None, str | None]:
    """Return pictures of the effect of a factor: with the other factors held fixed, and as it looks.

    The first is None if no other factor is held fixed.
    """
    plain = read_effects(table, [factor])[:MOST_PANELS]
    if not plain:
        return None, None
    held = hold_others_fixed(plain, table)
    is_held = any(effect.fixed is not None and effect.others for effect in held)
    name = f"{table.target.label} against {printable(table.indices.names[factor])}"
    adjusted = _draw_panels(table, held, "held", f"{name}, other factors held fixed") if is_held else None
    return adjusted, _draw_panels(table, [replace(one, fixed=None) for one in held], "plain", name)


def _draw_panels(table: AnalysedTable, effects: Sequence[Effect], name: str, description: str) -> str:
    """Return a picture with a panel for each column of a factor."""
    with page_style(WIDTH):
        figure = require("matplotlib.figure", "a picture").Figure(
            figsize=(WIDTH, HEIGHT * len(effects)), layout="constrained"
        )
        for number, effect in enumerate(effects, start=1):
            ax = figure.add_subplot(len(effects), 1, number)
            draw_effect(ax, effect, table.target)
            ax.set_xlabel(brief(printable(effect.name), 60), parse_math=False)
        return standing_alone(figure_to_svg(figure, name, description))


def draw_two(table: AnalysedTable, first: int, second: int) -> tuple[str, str]:
    """Return a picture of the response over two factors, and a sentence on whether they work together."""
    names = [printable(table.indices.names[i]) for i in (first, second)]
    with page_style(WIDTH):
        figure = require("matplotlib.figure", "a picture").Figure(figsize=(WIDTH, PAIR_HEIGHT), layout="constrained")
        pair = read_pair(table, first, second)
        draw_pair(figure.add_subplot(), pair)
        picture = standing_alone(figure_to_svg(figure, "pair", f"{pair.label} over {list_names(names)}"))
    partner = next(iter(_interactions(table, first, [second])), None)
    return picture, f"No interaction of {list_names(names)} is certain." if partner is None else partner.sentence


def standing_alone(picture: str) -> str:
    """Return a picture of a page as a file of its own, in the colours of the reader's theme."""
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', picture)
    assert box is not None
    size = f'xmlns="http://www.w3.org/2000/svg" width="{4 * float(box[1]) / 3:g}" height="{4 * float(box[2]) / 3:g}" '
    start = picture.index(">") + 1
    return picture[:start].replace("<svg ", f"<svg {size}", 1) + f"<style>{_THEME}</style>{picture[start:]}"


def find_partners(table: AnalysedTable, factor: int) -> list[Partner]:
    """Return the factors that share information with a factor or work together with it, the strongest first."""
    indices = table.indices
    found = list[Partner]()
    cluster = None if indices.sharing is None else indices.sharing.cluster_of(factor)
    name = printable(indices.names[factor])
    if cluster is not None:
        for i in cluster.positions:
            if i != factor:
                other = printable(indices.names[i])
                joint = min(cluster.joint, 1.0)
                sentence = f"{other} shares information with {name}: without both, {percent(joint)} is lost."
                found.append(Partner(indices.names[i], sentence, joint))
    exchange = find_exchange(indices, factor)
    if exchange is not None:
        other = printable(indices.names[exchange.selected])
        found.append(Partner(indices.names[exchange.selected], f"{name} stands in for {other}.", exchange.kept))
    known = {one.name for one in found}
    among = [i for i in representatives(indices)[:MOST_PARTNERS] if i != factor and indices.names[i] not in known]
    found += _interactions(table, factor, among)
    return sorted(found, key=lambda one: -one.strength)


def _interactions(table: AnalysedTable, factor: int, others: Sequence[int]) -> list[Partner]:
    """Return the certain interactions of a factor with others."""
    indices = table.indices
    among = tuple(sorted({factor, *others, *indices.selected.tolist()[:MOST_PARTNERS]}))
    if not others or table.options is None:
        return []
    found = list[Partner]()
    with table.variances(among, "adaptive") as variances:
        around = variances.around(among)
        size = diagnose_sample_size(around, among, around.of(among))
        if around.of(among) >= around.response.variance:
            return []
        for other in others:
            one = find_interactions(around, among, tuple(sorted((factor, other))), size)
            value = float(one.values[0])
            names = list_names([printable(indices.names[i]) for i in (factor, other)])
            if one.strongest(together=True) is not None:
                sentence = f"{names} work together: {percent(min(-value, 1.0))} of what is explained takes both."
            elif one.strongest(together=False) is not None:
                sentence = f"{names} overlap: {percent(min(value, 1.0))} of what is explained either of them tells."
            else:
                continue
            found.append(Partner(indices.names[other], sentence, min(abs(value), 1.0)))
    return found


def find_important_rows(table: AnalysedTable, factor: int) -> list[ImportantRow]:
    """Return the rows that most of what is lost without a selected factor comes from, the most important first."""
    indices = table.indices
    kept = tuple(sorted(indices.selected.tolist()))
    if factor not in kept or table.options is None:
        return []
    with table.variances(kept, indices.estimator) as variances:
        around = variances.around(kept)
        whole = around.contributions(kept, 1).rows
        lost = around.contributions(tuple(i for i in kept if i != factor), 1).rows - whole
        total = float(lost.sum())
        if total <= 0:
            return []
        first = np.argsort(-lost, kind="stable")[:MOST_ROWS]
        rows = np.arange(len(table.rows))[around.outer][first]
        return [
            ImportantRow(int(row), float(lost[k]) / total) for row, k in zip(rows, first, strict=True) if lost[k] > 0
        ]
