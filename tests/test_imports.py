"""Imports go one way through the package: those for type checkers and those within functions included."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import firstfactor

PACKAGE = Path(firstfactor.__file__).parent

# Folders and files of the top level, in the order of the data's way: each may import from those before it.
LAYERS = (
    "_utils",
    "data",
    "findings",
    "settings",
    "results",
    "neighbors",
    "cluster",
    "variance",
    "inference",
    "evidence",
    "dependence",
    "selection",
    "problems",
    "tables",
    "plots",
    "reporting",
    "first",
    "functions",
    "ranking",
    "app",
    "cli",
)


def imports_of(file):
    """Yield the top-level folder or file of every import from the package, wherever it stands in the file."""
    inside = file.relative_to(PACKAGE).parts
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("firstfactor."))
        if not isinstance(node, ast.ImportFrom):
            continue
        if node.level == 0:
            parts = (node.module or "").split(".")
            if parts[0] == "firstfactor":
                yield parts[1] if len(parts) > 1 else "__init__"
            continue
        target = [*inside[: len(inside) - node.level], *(node.module or "").split(".")]
        target = [part for part in target if part]
        yield from [target[0]] if target else (alias.name for alias in node.names)


FILES = sorted(file for file in PACKAGE.rglob("*.py") if file.parent != PACKAGE or file.stem != "__init__")


@pytest.mark.parametrize("file", FILES, ids=[str(file.relative_to(PACKAGE)) for file in FILES])
def test_a_file_imports_from_its_own_stage_and_from_those_before(file):
    own = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
    allowed = LAYERS[: LAYERS.index(own) + 1]
    for layer in imports_of(file):
        assert layer in (*allowed, "__version__"), f"{own} must not import from {layer}: it comes later"


def test_every_stage_has_a_place_in_the_order():
    stages = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert stages - {"__init__"} == set(LAYERS)


def test_within_a_stage_there_are_no_circles():
    graph = {}
    for file in FILES:
        names = set()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                folder = file.parents[node.level - 1]
                module = folder.joinpath(*(node.module or "").split("."))
                names |= {str(module)} | {str(module / alias.name) for alias in node.names}
        graph[str(file.with_suffix(""))] = names
    graph = {name: {other for other in names if other in graph} for name, names in graph.items()}
    while graph:
        leaves = [name for name, names in graph.items() if not names & graph.keys()]
        assert leaves, f"a circle among {sorted(graph)}"
        for leaf in leaves:
            del graph[leaf]


def test_a_ranking_needs_no_scikit_learn():
    code = (
        "import sys, polars, firstfactor, numpy\n"
        "x = numpy.random.default_rng(0).normal(size=(60, 3))\n"
        "frame = polars.DataFrame(x, schema=['a', 'b', 'y'])\n"
        "firstfactor.rank(frame, 'y', stability=1)\n"
        "assert 'sklearn' not in sys.modules and 'matplotlib' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_selector_needs_no_pictures_pages_or_dask_to_be_fitted():
    code = (
        "import sys, firstfactor, numpy\n"
        "x = numpy.random.default_rng(0).normal(size=(60, 3))\n"
        "firstfactor.FIRST().fit(x[:, :2], x[:, 2])\n"
        "unused = ('firstfactor.plots', 'firstfactor.reporting', 'matplotlib', 'dask', 'polars')\n"
        "assert not [name for name in sys.modules if name.startswith(unused)]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_small_table_needs_no_joblib_for_the_paper_s_rule():
    code = (
        "import sys, polars, firstfactor, numpy\n"
        "x = numpy.random.default_rng(0).normal(size=(60, 3))\n"
        "firstfactor.rank(polars.DataFrame(x, schema=['a', 'b', 'y']), 'y', rule='paper')\n"
        "assert 'joblib' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_everything_public_is_where_it_is_said_to_be():
    assert sorted(firstfactor.__all__) == sorted(firstfactor._HOMES)
    for name in firstfactor.__all__:
        assert getattr(firstfactor, name).__name__ == name
        assert name in dir(firstfactor)
