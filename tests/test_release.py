"""The version, the requirements and the links of a release agree wherever they are written."""

import re
import tomllib
from pathlib import Path

import pytest

import firstfactor
from benchmarks import growth, speeds
from benchmarks.stamp import is_stale

ROOT = Path(__file__).parents[1]
OF_CONDA = {"matplotlib": "matplotlib-base"}  # what a package is called there, if otherwise


def read(name):
    """The text of a file of the repository; not all of them are in the sdist."""
    path = ROOT / name
    if not path.exists():
        pytest.skip(f"{name} is only in the repository")
    return path.read_text(encoding="utf-8")


def project():
    return tomllib.loads(read("pyproject.toml"))["project"]


def requirements(names):
    """Requirements of pyproject.toml as conda writes them."""
    parts = [re.fullmatch(r"([\w-]+)(.*)", name).groups() for name in names]
    return [f"{OF_CONDA.get(name, name)} {bounds}" for name, bounds in parts]


def test_the_changelog_begins_with_this_version_and_its_date():
    first = next(line for line in re.findall(r"^## .*$", read("CHANGELOG.md"), re.MULTILINE) if line != "## Unreleased")
    assert re.fullmatch(rf"## {re.escape(firstfactor.__version__)} - \d{{4}}-\d\d-\d\d", first)


def test_a_release_has_speeds_of_its_own_code():
    if "\n## Unreleased\n" in read("CHANGELOG.md"):
        pytest.skip("between releases, pages say which code was measured")
    measured = [row["measured"] for row in speeds.read().values()] + [growth.read()["measured"]]
    assert not is_stale(measured), "measure again: python -m benchmarks.compare; python -m benchmarks.growth"


def test_the_citation_has_this_version_and_its_date():
    date = re.search(r"^## .* - (.*)$", read("CHANGELOG.md"), re.MULTILINE)[1]
    citation = read("CITATION.cff").splitlines()
    assert f"version: {firstfactor.__version__}" in citation and f'date-released: "{date}"' in citation


def test_the_conda_recipe_requires_what_the_package_and_its_command_require():
    recipe = read("conda/recipe.yaml")
    run = re.findall(r"^    - (.*)$", recipe.partition("  run:\n")[2].partition("\n\n")[0], re.MULTILINE)
    extras = project()["optional-dependencies"]
    assert run == ["python >=${{ python_min }}", *requirements(project()["dependencies"]), *requirements(extras["cli"])]


def test_the_conda_recipe_has_the_version_and_the_command():
    recipe = read("conda/recipe.yaml")
    assert f'  version: "{firstfactor.__version__}"\n' in recipe
    assert f'  python_min: "{project()["requires-python"].removeprefix(">=")}"\n' in recipe
    (command,) = project()["scripts"].items()
    assert f"      - {' = '.join(command)}\n" in recipe


def test_python_versions_of_the_classifiers_are_those_tested():
    tested = re.search(r"^ +python: (\[.*\])$", read(".github/workflows/tests.yml"), re.MULTILINE)[1]
    found = re.findall(r"Python :: (3\.\d+)", " ".join(project()["classifiers"]))
    assert re.findall(r"3\.\d+", tested) == found and found[0] == project()["requires-python"].removeprefix(">=")


def test_the_paper_cites_what_its_bibliography_has():
    cited = set(re.findall(r"@(\w+)", read("paper/paper.md").partition("---\n\n")[2]))
    entries = re.findall(r"^@\w+\{(\w+),$", read("paper/paper.bib"), re.MULTILINE)
    assert cited == set(entries) and len(entries) == len(cited)
