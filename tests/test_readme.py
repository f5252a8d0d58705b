"""What the README shows is what happens."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_prints_what_is_shown():
    code, shown = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL).groups()
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, encoding="utf-8")
    assert run.stdout == shown


def test_the_example_script_needs_no_more_than_the_package():
    script = ROOT / "examples" / "diabetes.py"
    code = f"import runpy, sys; sys.modules.update(pandas=None, polars=None); runpy.run_path({str(script)!r})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, encoding="utf-8")
    assert "No model can explain more than" in run.stdout
    assert run.stderr == ""


def test_ci_runs_the_test_command_of_the_readme():
    command = re.search(r"pass the tests:\n\n    (.*)\n", README).group(1)
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
