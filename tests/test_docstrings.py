"""Every public name is documented in full, and the reference, the theory and the page on the commands are current."""

import ast
import importlib
import importlib.util
import inspect
import re
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import pytest

import firstfactor
from firstfactor import plots, problems
from firstfactor.findings.finding import Finding
from firstfactor.results.estimates import Estimates
from firstfactor.results.path import Step
from firstfactor.results.ranking_line import RankingLine
from firstfactor.results.sharing import Exchange, Node, Sharing
from firstfactor.results.uncertainty import SampleSize, Uncertainty

PACKAGE = Path(firstfactor.__file__).parent
DOCS = Path(__file__).parents[1] / "docs"
REFERENCE = DOCS / "reference"

PUBLIC = (
    *(f"firstfactor.{name}" for name in firstfactor.__all__),
    *(f"firstfactor.problems.{name}" for name in problems.__all__),
    *(f"firstfactor.plots.{name}" for name in vars(plots) if name.startswith("plot_")),
)
PARTS_OF_RESULTS = (Uncertainty, SampleSize, Estimates, Step, Node, Sharing, Exchange, RankingLine, Finding)

# What numpydoc checks: sections and their order, summaries, parameters with types and descriptions, returned values.
CHECKS = {f"GL{number:02d}" for number in (2, 3, 5, 6, 7, 8, 9, 10)} | {"YD01"}
CHECKS |= {f"SS{number:02d}" for number in (1, 2, 3, 4, 6)}
CHECKS |= {f"PR{number:02d}" for number in range(1, 11)} | {f"RT{number:02d}" for number in range(1, 6)}
CHECKS |= {"SA02", "SA03", "SA04"}

# Examples, and what to see as well: asked of functions and classes, not of each method.
OF_NAMES = {"EX01", "SA01"}


def find(name):
    """The object that a dotted name stands for."""
    module, attribute = name.rsplit(".", 1)
    return getattr(importlib.import_module(module), attribute)


def members(name):
    """Yield the public methods and properties that a class defines itself."""
    for member, value in vars(find(name)).items():
        is_described = inspect.isfunction(value) or isinstance(value, property | cached_property)
        if is_described and not member.startswith("_"):
            yield f"{name}.{member}"


CLASSES = tuple(name for name in PUBLIC if inspect.isclass(find(name)))
RESULTS = tuple(name for name in CLASSES if hasattr(find(name), "__dataclass_fields__"))
# Their parameters are fields, which are described where they are; another test asks for that.
WITH_FIELDS = tuple(name for name in RESULTS if "Parameters\n" not in find(name).__doc__)
NAMES = tuple(name for name in PUBLIC if callable(find(name)))
MEMBERS = tuple(member for name in CLASSES for member in members(name))


def complaints(name, checks):
    """What numpydoc finds wrong with a docstring."""
    validate = pytest.importorskip("numpydoc.validate")
    return [f"{code}: {what}" for code, what in validate.validate(name)["errors"] if code in checks]


@pytest.mark.parametrize("name", NAMES)
def test_public_names_have_full_docstrings(name):
    asked = CHECKS | OF_NAMES
    assert complaints(name, asked - {"PR01"} if name in WITH_FIELDS else asked) == []


@pytest.mark.parametrize("name", MEMBERS)
def test_public_methods_and_properties_have_full_docstrings(name):
    assert complaints(name, CHECKS) == []


@pytest.mark.parametrize("item", [*map(find, RESULTS), *PARTS_OF_RESULTS], ids=lambda item: item.__name__)
def test_every_field_of_a_result_is_described(item):
    body = ast.parse(inspect.getsource(item)).body[0].body
    described = {
        field.target.id
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
    }
    assert {name for name in item.__dataclass_fields__ if not name.startswith("_")} == described


# --- reference ----------------------------------------------------------------------------------------


def test_every_public_name_is_on_a_page_of_the_reference():
    found = set()
    for page in REFERENCE.glob("*.rst"):
        module = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            directive = re.fullmatch(r"\.\. (\w+):: ([\w.]+)(?:\(\))?", line)
            if directive and directive[1] == "currentmodule":
                module = directive[2]
            elif directive and directive[1] in ("autoclass", "autofunction", "autoexception"):
                found.add(directive[2] if directive[2].startswith("firstfactor.") else f"{module}.{directive[2]}")
    assert set(NAMES) <= found
    parts = {f"{item.__module__}.{item.__qualname__}" for item in PARTS_OF_RESULTS}
    assert found - set(NAMES) == parts | {"firstfactor.results.explanations.Explanations"}


def test_instances_and_summaries_are_there_as_well():
    page = (REFERENCE / "problems.rst").read_text(encoding="utf-8")
    assert all(f"``{name}``" in page for name in set(PUBLIC) - set(NAMES))
    summary = (REFERENCE / "index.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^   (\w+)$", summary, re.MULTILINE))
    assert listed == {name.rsplit(".", 1)[1] for name in NAMES}


@pytest.mark.parametrize("name", ["command_line", "constants"])
def test_pages_that_are_written_from_the_code_are_current(name):
    pytest.importorskip("typer")
    spec = importlib.util.spec_from_file_location(name, REFERENCE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = module.PAGE.read_text(encoding="utf-8")
    assert page == module.write_page(), f"run python docs/reference/{name}.py"


# --- theory -------------------------------------------------------------------------------------------

THEORY = (DOCS / "theory.md").read_text(encoding="utf-8")
COMPUTED_BY = sorted(set(re.findall(r"`([\w/]+\.py): ([\w.]+)`", THEORY)))


def defined_in(file):
    """The functions and classes of a file, and methods as Class.method."""
    names = set()
    for item in ast.parse((PACKAGE / file).read_text(encoding="utf-8")).body:
        if isinstance(item, ast.FunctionDef | ast.ClassDef):
            names.add(item.name)
        if isinstance(item, ast.ClassDef):
            names |= {f"{item.name}.{method.name}" for method in item.body if isinstance(method, ast.FunctionDef)}
    return names


@pytest.mark.parametrize(("file", "name"), COMPUTED_BY)
def test_functions_named_in_the_theory_exist(file, name):
    assert name in defined_in(file)


def test_every_section_of_the_theory_names_the_function():
    sections = re.split(r"^#{2,3} (.*)$", THEORY, flags=re.MULTILINE)[1:]
    with_equations = {title: text for title, text in zip(sections[::2], sections[1::2], strict=True) if "$$" in text}
    assert len(with_equations) > 40
    assert [title for title, text in with_equations.items() if "Computed by `" not in text] == []


def test_links_of_the_theory_to_the_reference_are_public():
    for name in set(re.findall(r"\{py:\w+\}`~?([\w.]+)`", THEORY)):
        assert name in PUBLIC or name in MEMBERS, name
