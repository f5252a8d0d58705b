"""The page: what was gathered, filled into one template."""

import base64
import hashlib
import html
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from .._utils.optional import require
from ..results.formats import percent, unbroken
from .page_figures import COLOURS


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
        "percent": lambda share: unbroken(percent(share)),
        "unbroken": unbroken,
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
