"""Figures of the page as SVG text, and the lines of the dependence tree in its chart."""

import html
import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from .._utils.packages import require
from .._utils.text import printable
from ..plots.axes import BLUE, GREY, VERMILION, Label, are_turned, column_width
from ..plots.bars import draw_stability
from ..plots.effects import Effect, draw_effect
from ..plots.pair import Pair, draw_pair
from ..plots.path import draw_path, stops
from ..results.indices import Indices
from ..results.sharing import Tree
from .data_summary import Data, brief

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..results.stability import Stability

# Inches. Figures are shown in the size in which they are drawn, so that all their text has the same size; the narrow
# ones fit on a phone.
FIGURE_WIDTH, PAIR_SIZE = 3.6, (3.6, 2.9)
PANEL_WIDTH, PANEL_HEIGHT, PANEL_TOP, PANEL_LEFT = 3.0, 1.75, 0.08, 0.19
STEP_WIDTH, WIDEST = 0.3, 9.0

# Numbers may take this share more room in the fonts of a browser.
WIDER = 0.3

# Points: 0.8 of the size of the text around figures.
FONT_SIZE = 9.6

# A browser has 96 pixels to the inch, and 16 to a line of text.
REM_PER_INCH = 6

# Colour that stands for that of the text of the page, which depends on its theme, and other colours of the theme.
INK = "#010203"
COLOURS = {BLUE: "var(--strong)", VERMILION: "var(--warm)", GREY: "var(--points)"}
OF_THEME = {INK: "currentColor"} | {colour.lower(): variable for colour, variable in COLOURS.items()}


def draw_figures(indices: Indices, data: Data | None, stability: "Stability | None") -> dict[str, Any]:
    """Return the figures as SVG text, with None if there is nothing to draw; ``effects`` come with names."""
    figure = require("matplotlib.figure", "a report").Figure
    with page_style(FIGURE_WIDTH):
        walked = [] if indices.path is None else stops(indices.path, indices.r2_ceiling)
        path = _draw_path(indices, len(walked), figure) if len(walked) > 1 else None
        halves = draw_stability(stability, None, figure) if stability else None
        return {
            "path": path and figure_to_svg(path.figure, "path", "R² after each step"),
            "stability": halves and figure_to_svg(halves.figure, "halves", "Selection frequency of each factor"),
            "effects": [] if data is None else list(_draw_effects(data, figure)),
            "pair": None if data is None or data.pair is None else _draw_pair(data.pair, figure),
        }


def _draw_path(indices: Indices, steps: int, figure: Any) -> Any:
    """Draw the path; with many steps, it is so wide that names stay apart, and a phone has to scroll."""
    with page_style(min(max(FIGURE_WIDTH, STEP_WIDTH * steps), WIDEST)):
        return draw_path(indices, None, figure)


def _draw_effects(data: Data, figure: Any) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each factor, the name shortened for a caption, and the panel."""
    for number, effect in enumerate(data.effects):
        ax = _panel(effect, figure)
        draw_effect(ax, effect, data.target, legend=False, least_rows=data.least_rows)
        ax.set_ylabel("")  # it is the same in all panels, and the text names it
        _make_room(ax)
        name = printable(effect.name)
        yield name, brief(name, 60), figure_to_svg(ax.figure, f"effect{number}", f"{data.target.label} against {name}")


def _panel(effect: Effect, figure: Any) -> "Axes":
    """Return axes that are as large as those of other panels, above more space if the names of levels need it."""
    for below in (0.45, 0.95):
        height = PANEL_TOP + PANEL_HEIGHT + below
        frame = (PANEL_LEFT, below / height, 0.93 - PANEL_LEFT, PANEL_HEIGHT / height)
        ax: Axes = figure(figsize=(PANEL_WIDTH, height)).add_axes(frame)
        names = [Label(label) for label in effect.bins.labels]
        if not (effect.column.levels and are_turned(names, column_width(ax, len(names)), ax.yaxis.label)):
            break
    return ax


def _make_room(ax: "Axes") -> None:
    """Move the left side of axes so that long numbers beside it are not cut off."""
    box, frame = ax.yaxis.get_tightbbox(), ax.get_position()
    start = 0.0 if box is None else box.x0 - WIDER * box.width
    if start < 0:
        left = frame.x0 - start / ax.figure.bbox.width
        ax.set_position((left, frame.y0, frame.x1 - left, frame.height))


def _draw_pair(pair: Pair, figure: Any) -> str:
    """Return the figure of two factors that work together."""
    ax = figure(figsize=PAIR_SIZE, layout="constrained").add_subplot()
    draw_pair(ax, pair)
    description = f"{pair.label} over {printable(pair.across.name)} and {printable(pair.up.name)}"
    return figure_to_svg(ax.figure, "pair", description)


@contextmanager
def page_style(width: float) -> Iterator[None]:
    """Draw figures in the style of the page, ``width`` inches wide, whatever style the user has set."""
    inks = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    settings = dict.fromkeys(inks, INK) | {
        "figure.figsize": (width, width),
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize", "legend.fontsize"), FONT_SIZE),
        **dict.fromkeys(("xtick.labelsize", "ytick.labelsize"), FONT_SIZE),
        "svg.fonttype": "none",
    }
    with require("matplotlib.style", "a report").context(["default", settings]):
        yield


def figure_to_svg(figure: Any, name: str, description: str) -> str:
    """Return a figure as an ``<svg>`` element in the colours and the font of the page.

    The same figure gives the same text. Identifiers depend on ``name``, which no other figure of the page has.
    """
    file, unnamed = io.StringIO(), dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with require("matplotlib", "a report").rc_context({"svg.hashsalt": name}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # the browser has other fonts
        figure.savefig(file, format="svg", metadata=unnamed)
    text = file.getvalue()
    content = re.sub("<[^>]+>", _page_tag, re.sub(r">\s+<", "><", text[text.index("<g ") :]))
    content = re.sub("<g([^>]*)>((?:<use [^>]*>)+)(?=</g>)", _share_style, content)
    width, height = figure.get_size_inches()
    return (
        f'<svg viewBox="0 0 {72 * width:g} {72 * height:g}" style="width: {REM_PER_INCH * width:.2f}rem" role="img" '
        f'aria-label="{html.escape(description)}">{content}'
    )


def save_figure(figure: Any, file: IO[bytes], kind: str) -> None:
    """Save a figure as "png", "svg" or "pdf"; the same figure gives the same bytes."""
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with require("matplotlib", "a picture").rc_context({"svg.hashsalt": "firstfactor"}), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # characters without a font
        figure.savefig(file, format=kind, dpi=150, bbox_inches="tight", metadata=undated)


def _page_tag(found: "re.Match[str]") -> str:
    """Return a tag of matplotlib's without its fonts and without identifiers that all figures share."""
    tag = re.sub(r"\s+", " ", found[0]).replace("xlink:href", "href")
    tag = re.sub('(?<=<g) id="[^"]*"|font-family: [^;"]+;? ?', "", tag)
    tag = re.sub("#[0-9a-f]{6}", lambda colour: OF_THEME.get(colour[0], colour[0]), tag)
    return re.sub(r"(\d\.\d\d)\d+", r"\1", tag)


def _share_style(found: "re.Match[str]") -> str:
    """Return a group of points with the style that all of them have, which is half of the size of a page."""
    attributes, points = found.groups()
    styles = set(re.findall(' style="[^"]*"', points))
    style = styles.pop() if len(styles) == 1 else ""
    return f"<g{attributes}{style}>{points.replace(style, '') if style else points}"


# --- the tree beside the rows of the chart ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Branch:
    """Line of the tree within one row, from left to right and from top to bottom, in coordinates from 0 to 1."""

    x1: float
    y1: float
    x2: float
    y2: float


def draw_branches(tree: Tree | None, factors: Sequence[int]) -> tuple[list[int], dict[int, tuple[Branch, ...]]]:
    """Return the factors in an order in which no branches cross, and the branches in the row of each.

    The farther to the right branches join, the more information the factors share. If the tree has no node of exactly
    these factors, one line joins all of them.
    """
    members = set(factors)
    nodes = [node for node in tree.nodes if members.issuperset(node.positions)] if tree is not None else []
    if tree is None or not nodes or len(nodes[-1].positions) < len(members):
        rows = range(len(factors))
        return [*factors], _in_rows(factors, [(0.4, 1.0, row) for row in rows], [(0.4, 0.0, rows[-1])])
    order, least = nodes[-1].positions, nodes[-1].dependence
    row_of = {factor: row for row, factor in enumerate(order)}
    numbers = {id(node): len(tree.leaves) + number for number, node in enumerate(tree.nodes)}
    places = {leaf: (1.0, float(row_of[i])) for leaf, i in enumerate(tree.leaves) if i in members}
    across, down = [], []
    for node in nodes:  # children come before their parents
        x = 0.15 + 0.7 * (node.dependence - least) / max(1 - least, 1e-9)
        ends = [places[child] for child in node.children]
        across += [(x, end, row) for end, row in ends]
        down.append((x, min(row for _, row in ends), max(row for _, row in ends)))
        places[numbers[id(node)]] = x, sum(row for _, row in ends) / 2
    return [*order], _in_rows(order, across, down)


def _in_rows(
    order: Sequence[int],
    across: Sequence[tuple[float, float, float]],
    down: Sequence[tuple[float, float, float]],
) -> dict[int, tuple[Branch, ...]]:
    """Return horizontal lines (x1, x2, y) and vertical lines (x, y1, y2) in pieces, one for each row."""

    def within(row: int) -> Iterator[Branch]:
        for x1, x2, y in across:
            if row - 0.5 <= y < row + 0.5:
                yield Branch(x1, y - row + 0.5, x2, y - row + 0.5)
        for x, top, bottom in down:
            low, high = max(top, row - 0.5), min(bottom, row + 0.5)
            if low < high:
                yield Branch(x, low - row + 0.5, x, high - row + 0.5)

    return {factor: tuple(within(row)) for row, factor in enumerate(order)}
