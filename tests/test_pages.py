"""What the README and the documentation show is what happens."""

import re
import subprocess
import sys

import pytest

from tests import pages
from tests.command import run_here

ROOT = pages.ROOT
README = pages.README.read_text(encoding="utf-8")
TEXT_OF_FIGURE = re.compile(r"<!-- (.*?) -->")


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.slow] * (page.parent.name == "guide")) for page in pages.PAGES],
    ids=lambda page: page.stem,
)
def test_examples_print_what_is_shown(page, tmp_path):
    for example in pages.run_examples(page.read_text(encoding="utf-8"), tmp_path, run_here):
        if example.shown is not None:
            assert untimed(example.now) == untimed(example.shown)
        if example.figure:  # what is written in it; shapes differ with matplotlib's version
            drawn = (tmp_path / example.figure.rpartition("/")[2]).read_text(encoding="utf-8")
            kept = (page.parent / example.figure).read_text(encoding="utf-8")
            assert TEXT_OF_FIGURE.findall(drawn) == TEXT_OF_FIGURE.findall(kept)


def untimed(output):
    return re.sub(r"^Time: .*\)$", lambda line: re.sub(r"\d+\.\d+", "#", line.group()), output, flags=re.MULTILINE)


def test_what_is_shown_is_compared_and_written_anew(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 1\n```\n\nThen:\n\n```python\nprint(x + 1)\n```\n\n```text\nwrong\n```\n")
    first, second = pages.run_examples(page.read_text(), tmp_path)
    assert (first.shown, second.shown, second.now) == (None, "wrong\n", "2\n")
    pages.write_anew(page)
    assert page.read_text().endswith("```text\n2\n```\n")


def test_the_example_needs_no_more_than_the_package():
    code = pages.CODE.search(README)["source"]
    optional = ("jinja2", "matplotlib", "pandas", "polars", "rich", "typer")
    hidden = f"import sys; sys.modules.update(dict.fromkeys({optional}))\n"
    run = subprocess.run([sys.executable, "-c", hidden + code], capture_output=True, check=True, encoding="utf-8")
    assert run.stderr == ""


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 120


def test_the_readme_says_what_the_paper_s_rule_is_worth():
    words = " ".join(README.split())
    assert "can select factors even from pure noise, so a selection by it is no evidence" in words


def test_the_first_command_installs_what_the_demo_needs():
    assert "    pip install '.[cli]' && firstfactor demo\n" in README


def test_ci_runs_the_test_command_of_the_readme():
    command = re.search(r"pass the tests:\n\n    (.*)\n", README).group(1)
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
