"""Without the packages that only the study needs, this folder is skipped and says why."""

from pathlib import Path

import pytest
from scripts import run_script

FOLDER = Path(__file__).parent
COLLECT = """
    import sys

    sys.modules["shap"] = sys.modules["skmisc"] = None  # as if they were not installed
    import pytest

    options = ["--collect-only", "-q", "-rs", "-p", "no:cacheprovider"]
    arguments = ["--rootdir", {root!r}, "-c", {root!r} + "/pyproject.toml", {folder!r}]
    print("exit code", int(pytest.main([*arguments, *options])))
"""


@pytest.mark.slow
def test_files_are_skipped_with_a_reason():
    printed = run_script(COLLECT.format(root=str(FOLDER.parents[1]), folder=str(FOLDER)))
    (line,) = [line for line in printed.splitlines() if line.startswith("SKIPPED")]
    assert line.startswith(f"SKIPPED [{len(list(FOLDER.glob('test_*.py')))}]")
    assert line.endswith("the study needs shap, skmisc: pip install -e '.[study]'")
    assert f"exit code {pytest.ExitCode.NO_TESTS_COLLECTED:d}" in printed and "error" not in printed
