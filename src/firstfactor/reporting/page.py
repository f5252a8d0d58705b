"""The page of a report, which is one template."""

import base64
import hashlib
import html
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from .._utils.packages import require
from ..results.formats import percent, unbroken
from .figures import COLOURS


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
