"""What the README shows is what happens."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from command import run_here

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("code", "shown"),
    re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL),
    ids=["fit", "sure", "truth"],
)
def test_the_examples_print_what_is_shown(code, shown, capsys):
    exec(code, {"__name__": "__main__"})
    assert capsys.readouterr().out == shown


def test_the_example_needs_no_more_than_the_package():
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1)
    optional = ("jinja2", "matplotlib", "pandas", "polars", "rich", "typer")
    hidden = f"import sys; sys.modules.update(dict.fromkeys({optional}))\n"
    run = subprocess.run([sys.executable, "-c", hidden + code], capture_output=True, check=True, encoding="utf-8")
    assert run.stderr == ""


def test_the_demo_prints_what_is_shown_and_draws_the_figure(tmp_path):
    command, shown = re.search(r"```text\n\$ firstfactor (demo.*?)\n(.*?)```", README, re.DOTALL).groups()
    figure = re.search(r"--plot (\S+)", command).group(1)
    assert f"]({figure})" in README
    (tmp_path / figure).parent.mkdir()
    run = run_here(*command.split(), folder=tmp_path)
    assert run.returncode == 0
    assert untimed(run.stdout.decode()) == untimed(shown)
    labels = re.compile(r"<!-- (.*?) -->")
    drawn, kept = ((folder / figure).read_text(encoding="utf-8") for folder in (tmp_path, ROOT))
    assert labels.findall(drawn) == labels.findall(
        kept
    )  # what is written in it; shapes differ with matplotlib's version


def untimed(output):
    time = re.compile(r"^Time: .*\)$", re.MULTILINE)
    assert len(time.findall(output)) == 1
    return time.sub(lambda line: re.sub(r"\d+\.\d+", "#", line.group()), output)


def test_the_first_command_installs_what_the_demo_needs():
    assert "    pip install '.[cli]' && firstfactor demo\n" in README


def test_ci_runs_the_test_command_of_the_readme():
    command = re.search(r"pass the tests:\n\n    (.*)\n", README).group(1)
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
