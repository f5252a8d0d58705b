"""How numbers are written, everywhere in the same way."""

import ast
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from firstfactor.results.formats import percent

SOURCE = Path(str(files("firstfactor")))

# A number and a sign without a space between; what ends at the sign is CSS or an attribute.
CLOSED_UP = re.compile(r'(?:\d|\}\})%(?![;"{])')


def texts(code: str) -> Iterator[str]:
    """All strings of a module; values that are formatted into one are a 0, with the sign if the format has it."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            values = [each for each in node.values if isinstance(each, ast.FormattedValue)]
            signed = [each for each in values if each.format_spec and ast.unparse(each.format_spec)[-2] == "%"]
            yield "".join("0%" if each in signed else "0" if each in values else each.value for each in node.values)


@pytest.mark.parametrize("code", ['f"{share:.0%} of y"', 'f"{100 * share:.0f}% of y"', '"a 95% interval"'])
def test_a_sign_without_a_space_is_found(code):
    assert any(map(CLOSED_UP.search, texts(code)))


def test_per_cent_is_written_in_one_way():
    found = [text for path in SOURCE.rglob("*.py") for text in texts(path.read_text()) if CLOSED_UP.search(text)]
    assert found == []
    assert [path for path in SOURCE.rglob("*.jinja") if CLOSED_UP.search(path.read_text())] == []


def test_shares_in_percent():
    assert [percent(share) for share in (0, 0.004, 0.5, 0.9999, 1)] == ["0 %", "0.4 %", "50 %", "99.99 %", "100 %"]
