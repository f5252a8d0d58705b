"""What the README shows is what happens."""

import re
import subprocess
import sys

import pytest

from tests import readme
from tests.command import run_here

ROOT = readme.ROOT
README = readme.README.read_text(encoding="utf-8")


@pytest.mark.parametrize("example", [*readme.CODE.finditer(README)], ids=["fit", "sure", "sharing", "truth"])
def test_the_examples_print_what_is_shown(example):
    assert readme.run_code(example["source"]) == example["shown"]


def test_the_example_needs_no_more_than_the_package():
    code = readme.CODE.search(README)["source"]
    optional = ("jinja2", "matplotlib", "pandas", "polars", "rich", "typer")
    hidden = f"import sys; sys.modules.update(dict.fromkeys({optional}))\n"
    run = subprocess.run([sys.executable, "-c", hidden + code], capture_output=True, check=True, encoding="utf-8")
    assert run.stderr == ""


def test_the_demo_prints_what_is_shown_and_draws_the_figure(tmp_path):
    command, shown = readme.DEMO.search(README).group("source", "shown")
    figure = re.search(r"--plot (\S+)", command).group(1)
    assert f"]({figure})" in README
    (tmp_path / figure).parent.mkdir()
    assert untimed(readme.run_demo(command, tmp_path, run_here)) == untimed(shown)
    labels = re.compile(r"<!-- (.*?) -->")
    drawn, kept = ((folder / figure).read_text(encoding="utf-8") for folder in (tmp_path, ROOT))
    assert labels.findall(drawn) == labels.findall(
        kept
    )  # what is written in it; shapes differ with matplotlib's version


def untimed(output):
    time = re.compile(r"^Time: .*\)$", re.MULTILINE)
    assert len(time.findall(output)) == 1
    return time.sub(lambda line: re.sub(r"\d+\.\d+", "#", line.group()), output)


def test_it_says_what_the_paper_s_rule_is_worth():
    words = " ".join(README.split())
    assert (
        "some factor raises what seems to be explained even in pure noise, so a selection by it is no evidence" in words
    )


def test_the_first_command_installs_what_the_demo_needs():
    assert "    pip install '.[cli]' && firstfactor demo\n" in README


def test_ci_runs_the_test_command_of_the_readme():
    command = re.search(r"pass the tests:\n\n    (.*)\n", README).group(1)
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
