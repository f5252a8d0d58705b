"""A figure as SVG text that can stand in a page next to others, in light and in dark."""

import io
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .._utils.optional import require

# Stands for the colour of text and axes while a figure is drawn; nothing else has it.
INK = "#010203"

# Points: 0.8 of the text around figures, which are shown as large as they are drawn.
FONT_SIZE = 9.6

# A browser has 96 pixels to the inch, and 16 to a line of text.
REM_PER_INCH = 6

XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
REFERENCE = re.compile(r"(?<=url\(#)[^)]+")
LONG_NUMBER = re.compile(r"(\d\.\d\d)\d+")
COLOUR = re.compile(r"#[0-9a-f]{6}")
FONT_FAMILY = re.compile(r"font-family: [^;]+;? ?")


@contextmanager
def page_style(width: float) -> Iterator[None]:
    """Let figures be drawn as a page wants them, ``width`` inches wide, whatever style the user has set."""
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


def figure_to_svg(figure: Any, name: str, description: str, colours: Mapping[str, str]) -> str:
    """A figure as the text of an ``<svg>`` element.

    The same figure gives the same text. What its parts refer to has an id that begins with ``name``; other ids, style
    sheets, fonts and metadata are left to the page. ``colours`` says what to write for a colour, such as a variable
    of the page.
    """
    buffer = io.BytesIO()
    with require("matplotlib", "a report").rc_context({"svg.hashsalt": name}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # the browser has other fonts
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    root = ET.fromstring(buffer.getvalue())
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith(("}metadata", "}style")):
                parent.remove(child)
    _rename_ids(root, name)
    replaced = {colour.lower(): replacement for colour, replacement in {INK: "currentColor", **colours}.items()}
    for element in root.iter():
        _simplify(element, replaced)
    for element in root.iter():
        _share_styles(element)
    root.attrib = {
        "viewBox": root.get("viewBox", ""),
        "style": f"width: {figure.get_figwidth() * REM_PER_INCH:.2f}rem",
        "role": "img",
        "aria-label": description,
    }
    return ET.tostring(root, encoding="unicode")


def _rename_ids(root: ET.Element, name: str) -> None:
    """Give what is referred to ids that no other figure has; drop the others."""
    used = set()
    for element in root.iter():
        if XLINK_HREF in element.attrib:
            target = element.attrib.pop(XLINK_HREF)[1:]
            used.add(target)
            element.set("href", f"#{name}-{target}")
        for attribute, value in element.attrib.items():
            used.update(REFERENCE.findall(value))
            element.set(attribute, REFERENCE.sub(rf"{name}-\g<0>", value))
    for element in root.iter():
        identifier = element.attrib.pop("id", None)
        if identifier in used:
            element.set("id", f"{name}-{identifier}")


def _share_styles(parent: ET.Element) -> None:
    """Say once, at their group, how points look that all look the same."""
    first = parent[0].get("style") if len(parent) > 1 else None
    if first and all(child.tag == "use" and child.get("style") == first for child in parent):
        parent.set("style", first)
        for child in parent:
            del child.attrib["style"]


def _simplify(element: ET.Element, colours: Mapping[str, str]) -> None:
    """Shorten numbers, drop white space, and take out what the page decides."""
    element.tag = element.tag.rpartition("}")[2]
    element.text = element.text if element.tag == "text" else None
    element.tail = None
    for attribute in ("d", "x", "y", "transform"):
        if attribute in element.attrib:
            element.set(attribute, LONG_NUMBER.sub(r"\1", " ".join(element.get(attribute, "").split())))
    if "style" in element.attrib:
        style = FONT_FAMILY.sub("", element.get("style", ""))
        element.set("style", COLOUR.sub(lambda found: colours.get(found[0], found[0]), style))
