"""Options of the commands: those made from the parameters of `rank`, and those for output."""

import inspect
import re
import sys
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from .._utils.checks import Message
from ..settings import RANK, RENAMED, find
from .errors import as_typed, dashed

# Parameters that do not apply to a table that comes with the package.
_ONLY_FOR_FILES = (
    "factors",
    "drop",
    "leaks",
    "categorical",
    "factor_groups",
    "regroup",
    "period",
    "date_parts",
    "task",
    "output_weights",
    "missing",
    "weight",
    "groups",
    "unique",
    "sample",
    "memory",
    "scheduler",
    "workers",
    "format",
    "table",
    "na",
    "decimal",
)
# Beginning of the help text of a parameter that is True or False.
WHETHER = "Whether to "

DEMO = tuple(name for name in RANK if name not in _ONLY_FOR_FILES)


class EachOnce(TyperCommand):
    """Command that raises an error if an option with one value is given twice, instead of using the last."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Check for repeated options, then parse as usual."""
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for option, times in Counter(given).items():
            if times > 1 and not getattr(option, "multiple", True) and not getattr(option, "is_flag", True):
                ctx.fail(f"{option.opts[0]} is given {times} times; it takes one value.")
        return super().parse_args(ctx, args)


class Demo(StrEnum):
    """Tables of the demo."""

    friedman = "friedman"
    ishigami = "ishigami"
    heavy_tailed = "heavy-tailed"
    diabetes = "diabetes"
    breast_cancer = "breast-cancer"


def flag(name: str) -> str:
    """Return the option of a parameter; if its default is True, the switch that turns it off."""
    return f"--no-{dashed(name)}" if find(name).default is True else f"--{dashed(name)}"


def number_or_fraction(text: str) -> int | float:
    """Parse a number of rows, or a fraction of them."""
    try:
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a number of rows nor a fraction of them.") from None


def _split(name: str, text: str) -> tuple[str, str]:
    """Split a text at its equals sign; before a number at the last one, because names may contain others."""
    left, equals, right = text.rpartition("=") if find(name).metadata["cli_type"] == "numbers" else text.partition("=")
    if not (left.strip() and equals and right.strip()):
        wanted = find(name).metadata["metavar"]
        raise typer.BadParameter(f"{text!r} is not {wanted}.", param_hint=f"--{dashed(name)}")
    return left.strip(), right.strip()


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number.", param_hint=f"--{dashed(name)}") from None


def _read_groups(name: str, texts: list[str]) -> dict[str, list[str]]:
    """Parse groups of columns from texts such as size=length,width."""
    groups: dict[str, list[str]] = {}
    for group, columns in (_split(name, text) for text in texts):
        groups.setdefault(group, []).append(columns)
    return groups


def _read_numbers(name: str, texts: list[str]) -> dict[str, float]:
    """Parse numbers of columns from texts such as hour=24, or several separated by commas."""
    several = re.compile(r"[^,=]+=[^,=]+(,[^,=]+=[^,=]+)*")
    parts = [part for text in texts for part in (text.split(",") if several.fullmatch(text) else [text])]
    return {column: _number(name, number) for column, number in (_split(name, part) for part in parts)}


def _read_list(name: str, texts: list[str]) -> list[float]:
    """Parse numbers that are separated by commas or given one by one."""
    return [_number(name, part.strip()) for text in texts for part in text.split(",")]


_READ: dict[Any, Callable[[str, list[str]], Any]] = {
    "groups": _read_groups,
    "numbers": _read_numbers,
    "list of numbers": _read_list,
}


def takes_parameters(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the options of these parameters, and those for output, to a command, which gets them as keyword arguments.

    Parameters that were not given are omitted, so that the defaults of `rank` apply.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = [each for each in inspect.signature(command).parameters.values() if each.kind is not each.VAR_KEYWORD]
        renamed = {old: now for old, now in RENAMED.items() if now in names}
        options = [option for name in names for option in _options(name)] + [*OUTPUTS]
        options += [option for old, now in renamed.items() for option in _options(now, old)]

        def run(**given: Any) -> None:
            for old, now in renamed.items():
                _take_renamed(old, now, given)
            parameters = {name: value for name in names if (value := _take(name, given)) is not None}
            command(**given, **parameters)

        run.__signature__ = inspect.Signature([*own, *options])  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in (*own, *options)}
        run.__name__, run.__doc__ = command.__name__, command.__doc__
        return run

    return decorate


def _take_renamed(old: str, now: str, given: dict[str, Any]) -> None:
    """Move the value of an option that was given by its old name, and say so; both names are an error."""
    value = given.pop(old)
    if not value:
        return
    if given[now]:
        raise typer.BadParameter(f"it is the same as --{dashed(now)}.", param_hint=f"--{dashed(old)}")
    print(f"warning: --{dashed(old)} is now called --{dashed(now)}; the old name works until 0.5.", file=sys.stderr)
    given[now] = value


def _take(name: str, given: dict[str, Any]) -> Any:
    """Remove the options of a parameter from ``given`` and return its value; None if it was not given."""
    value, switched_off = given.pop(name), given.pop(f"no_{name}", None)
    if switched_off and value:
        raise typer.BadParameter(f"it does not go with --{dashed(name)}.", param_hint=flag(name))
    if switched_off:
        return False
    read = _READ.get(find(name).metadata["cli_type"])
    if read is not None:
        return read(name, value) if value else None
    return value.value if isinstance(value, StrEnum) else value


def _options(name: str, old: str | None = None) -> list[inspect.Parameter]:
    """Return the options of one parameter, or the hidden one of its old name; their value is None if not given."""
    details = find(name).metadata
    kind, parser = details["cli_type"], None
    if details["choices"]:
        kind = _choice(name, details["choices"])
    elif kind is list or kind in _READ:
        kind = list[str]
    elif kind == "number or fraction":
        kind, parser = int, number_or_fraction
    option: Any = typer.Option(
        f"--{dashed(old or name)}",
        metavar=details["metavar"],
        help=_help(name),
        show_default=False,
        parser=parser,
        hidden=old is not None,
    )
    options = [_keyword(old or name, Annotated[kind | None, option])]
    if find(name).default is True:
        switch: Any = typer.Option(flag(name), help=_help_off(name), show_default=False)
        options.insert(0, _keyword(f"no_{name}", Annotated[bool | None, switch]))
    return options


def _choice(name: str, choices: tuple[str, ...]) -> Any:
    """Return an enumeration of the choices, which typer lists in the help."""
    return StrEnum(name, {choice: choice for choice in choices})


def _help(name: str) -> str:
    """Return the help text of a parameter, with its default."""
    details, default = find(name).metadata, find(name).default
    example = ", ".join(f"{key}={_comma_separated(value)}" for key, value in (details["example"] or {}).items())
    text = Message(details["cli_help"], example=example).render(as_typed).replace("``", "").replace('"', "")
    if text.startswith(WHETHER):
        text = text[len(WHETHER)].upper() + text[len(WHETHER) + 1 :]
    shown = "Default:" not in text and default not in (None, (), False, True)
    return f"{text} Default: {default}." if shown else text


def _comma_separated(value: Any) -> str:
    return ",".join(value) if isinstance(value, list) else str(value)


def _help_off(name: str) -> str:
    """Return the help text of the switch that turns a parameter off."""
    return f"Do not {find(name).metadata['help'].removeprefix(WHETHER).partition('. ')[0]}."


def _keyword(name: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _file(name: str, help_text: str) -> inspect.Parameter:
    return _keyword(name, Annotated[Path | None, typer.Option(f"--{name}", metavar="FILE", help=help_text)])


OUTPUTS = (
    _file("html", "Write a report: one self-contained page."),
    _file("json", "Write all results as JSON."),
    _file(
        "csv",
        "Write the table of factors as CSV; names that spreadsheets would run as formulas get a leading apostrophe.",
    ),
    _file("plot", "Plot the importances: .png, .svg or .pdf."),
    _keyword("notes", Annotated[bool, typer.Option("--notes", help="Print all remarks about the table.")], False),
    _keyword("quiet", Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")], False),
    _keyword(
        "debug", Annotated[bool, typer.Option("--debug", help="Show where in the program an error arises.")], False
    ),
)
