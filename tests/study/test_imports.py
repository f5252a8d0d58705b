"""The folders of the study import each other one way only."""

import ast
from pathlib import Path

import pytest

import study

STUDY = Path(study.__file__).parent
ORDER = ("data", "methods", "runs", "scores", "paper", "pages", "__main__")
FILES = sorted(STUDY.rglob("*.py"))


def folder_of(module):
    """Position in the order of the folder that a module of the study is in."""
    return ORDER.index(module.split(".")[1])


def imported(path):
    """Names of what a file imports from the study."""
    package = ["study", *path.relative_to(STUDY).parent.parts]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            module = ".".join([*base, *filter(None, [node.module])])
            if module == "study":
                yield from (f"study.{alias.name}" for alias in node.names)
            elif module.startswith("study."):
                yield module


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(STUDY)) for path in FILES])
def test_no_file_imports_from_a_later_folder(path):
    own = path.relative_to(STUDY).with_suffix("").parts[0]
    found = list(imported(path))
    assert own in ORDER or not found
    assert [module for module in found if folder_of(module) > ORDER.index(own)] == []


def test_the_package_says_the_order():
    assert " ─► ".join(ORDER) in study.__doc__
