"""The scripts of the gallery: the documentation runs all of them, and here are checks that take no time."""

import ast
import re
import runpy
import warnings
from itertools import pairwise
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
if not EXAMPLES.is_dir():
    pytest.skip("the examples are not in an installed package", allow_module_level=True)

SCRIPTS = sorted(EXAMPLES.glob("*.py"))
CELL = re.compile(r"^# %%$", re.MULTILINE)


@pytest.fixture(params=SCRIPTS, ids=lambda script: script.stem)
def script(request):
    return request.param


def test_there_are_at_least_eleven_scripts_with_numbers_in_a_row():
    numbers = [int(script.name[:2]) for script in SCRIPTS]
    assert numbers == list(range(1, len(SCRIPTS) + 1))
    assert len(SCRIPTS) >= 11


def test_the_gallery_runs_it(script):
    assert re.fullmatch(r"\d\d_[a-z_]+\.py", script.name)  # docs/conf.py runs what begins with two digits


def test_it_begins_with_a_title_and_what_it_is_about(script):
    blank, title, line, blank_after, *text = ast.get_docstring(parse(script), clean=False).split("\n")
    assert (blank, blank_after) == ("", "")
    assert line == "=" * len(title)
    assert len(" ".join(text).split()) >= 20


def test_it_has_text_between_cells_and_a_picture(script):
    source = script.read_text(encoding="utf-8")
    assert len(CELL.findall(source)) >= 3
    assert source.count("plt.show()") >= 1


def test_underlines_of_headings_are_as_long_as_the_headings(script):
    lines = script.read_text(encoding="utf-8").splitlines()
    underlined = [(above, line) for above, line in pairwise(lines) if re.fullmatch("# -{3,}", line)]
    assert [len(above) for above, _ in underlined] == [len(line) for _, line in underlined]


def test_it_imports_only_public_names(script):
    """Modules that a user may import, and names that these say are public."""
    public = {"firstfactor", "firstfactor.plots", "firstfactor.problems"}
    for node in ast.walk(parse(script)):
        if isinstance(node, ast.Import):
            assert not any(alias.name.startswith("firstfactor.") for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "firstfactor":
            assert node.module in public
            assert not any(alias.name.startswith("_") for alias in node.names)


@pytest.mark.parametrize(("name", "printed"), [("01_first_look", "lost without"), ("10_simulator", "importance")])
def test_quick_ones_run_without_a_warning_and_draw(name, printed, capsys, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    pytest.importorskip("pandas")
    from matplotlib import pyplot as plt

    drawn = []
    monkeypatch.setattr(plt, "show", lambda: drawn.extend(plt.get_fignums()))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # also those on the table, which other tests ignore
            runpy.run_path(str(EXAMPLES / f"{name}.py"))
    finally:
        plt.close("all")
    assert drawn
    assert printed in capsys.readouterr().out


def parse(script):
    return ast.parse(script.read_text(encoding="utf-8"))
