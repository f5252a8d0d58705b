"""What users can rely on, name by name: `tests/public_api.txt`. `python -m tests.test_public_api` writes it anew."""

import dataclasses
import inspect
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from firstfactor import FIRST
from firstfactor.problems import friedman
from firstfactor.settings import Options

FILE = Path(__file__).with_name("public_api.txt")
MODULES = ("firstfactor", "firstfactor.plots", "firstfactor.problems")
BUILT_BY_USERS = ("FIRST", "CopulaInputs", "Problem")  # other objects are what functions return
POLICY = """
{vanished}
is gone from the public API, or has another default, and somebody's program may need it. Keep the old way working with
a FutureWarning for as long as docs/releasing.md says. If that time is over: python -m tests.test_public_api, and an
entry under "Removed" or "Changed" in CHANGELOG.md."""
NEW = """
{added}
is new in the public API. If it is meant to be: python -m tests.test_public_api, and an entry under "Added" in
CHANGELOG.md."""


def public_names(module: ModuleType) -> list[str]:
    """The names a module offers: those it lists, or the functions it defines itself."""
    defined = [name for name, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__]
    return sorted(getattr(module, "__all__", [name for name in defined if not name.startswith("_")]))


def signature(name: str, function: object) -> list[str]:
    """A line for the arguments that every call needs, and one for each of the others with its default."""
    needed, others = [], []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            others.append(f"**{parameter.name}")
        elif parameter.default is not parameter.empty:
            others.append(f"{parameter.name}={parameter.default!r}")
        elif parameter.name != "self":
            needed.append(parameter.name)
    return [f"{name}({', '.join(needed)})", *(f"{name}({other})" for other in sorted(others))]


def shared_options() -> list[str]:
    """What functions take as ``**options``."""
    return [f"**options({field.name}={field.default!r})" for field in dataclasses.fields(Options)]


def members(name: str, cls: type) -> list[str]:
    """The attributes and methods of a class that are its own, not those of scikit-learn or of Python."""
    own = {
        key: thing
        for base in reversed(cls.__mro__)
        if base.__module__.startswith("firstfactor")
        for key, thing in vars(base).items()
        if not key.startswith("_") and not key.endswith("_request")  # scikit-learn's metadata routing
    }
    fields = [field.name for field in dataclasses.fields(cls)] if dataclasses.is_dataclass(cls) else []
    lines = [f"{name}.{field}" for field in fields if not field.startswith("_")]
    for key, thing in own.items():
        thing = thing.__func__ if isinstance(thing, classmethod | staticmethod) else thing
        lines += signature(f"{name}.{key}", thing) if inspect.isfunction(thing) else [f"{name}.{key}"]
    return lines


def describe(name: str, thing: object) -> list[str]:
    """The lines of one public name."""
    if not inspect.isclass(thing):
        return signature(name, thing) if callable(thing) else [name]
    if issubclass(thing, Warning):
        return [name]
    built = signature(name, thing) if thing.__name__ in BUILT_BY_USERS else [name]
    return built + members(name, thing)


def fitted_attributes() -> list[str]:
    """What `fit` sets: with named columns, and with classes."""
    X, y = friedman.sample(60, classes=True, seed=0, frame="polars")
    return [f"firstfactor.FIRST.{name}" for name in vars(FIRST().fit(X, y)) if name.endswith("_")]


def commands() -> list[str]:
    """The commands, with all that can be typed after them."""
    typer = pytest.importorskip("typer")
    from firstfactor.cli.commands import app

    root = typer.main.get_command(app)
    lines = [f"$ firstfactor {option}" for parameter in root.params for option in parameter.opts]
    for name, command in root.commands.items():
        options = [option for each in command.params for option in (*each.opts, *each.secondary_opts)]
        typed = [option if option.startswith("-") else option.upper() for option in options]
        lines += [f"$ firstfactor {name}", *(f"$ firstfactor {name} {option}" for option in typed)]
    return lines


def public_api() -> list[str]:
    """All lines, sorted."""
    modules = {name: import_module(name) for name in MODULES}
    lines = [
        line
        for path, module in modules.items()
        for name in public_names(module)
        for line in describe(f"{path}.{name}", getattr(module, name))
    ]
    return sorted({*lines, *shared_options(), *fitted_attributes(), *commands()})


def test_no_name_vanishes_and_none_is_added_by_accident():
    now, before = set(public_api()), set(FILE.read_text(encoding="utf-8").splitlines())
    if vanished := sorted(before - now):
        pytest.fail(POLICY.format(vanished="\n".join(vanished)))
    if added := sorted(now - before):
        pytest.fail(NEW.format(added="\n".join(added)))


def test_documented_attributes_are_set_by_fit():
    documented = inspect.getdoc(FIRST).partition("Attributes\n----------\n")[2].partition("\n\n")[0]
    names = {line.partition(" : ")[0] for line in documented.splitlines() if not line.startswith(" ")}
    assert "importances_" in names
    assert {f"firstfactor.FIRST.{name}" for name in names} <= set(FILE.read_text(encoding="utf-8").splitlines())


if __name__ == "__main__":
    FILE.write_text("\n".join(public_api()) + "\n", encoding="utf-8")
