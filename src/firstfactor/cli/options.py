"""What can be typed: options made from the parameters of `rank`, and those of the command itself."""

import inspect
import re
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from ..parameters import RANK, find
from .errors import as_typed

# Parameters that have no meaning for a table that comes with the package.
_ONLY_FOR_FILES = (
    "factors",
    "drop",
    "categorical",
    "task",
    "missing",
    "unique",
    "sample",
    "format",
    "table",
    "na",
    "decimal",
)
DEMO = tuple(name for name in RANK if name not in _ONLY_FOR_FILES)


class EachOnce(TyperCommand):
    """A command that refuses an option with one value if it is given twice, instead of taking the last."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Look for repeated options, then parse as usual."""
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for option, times in Counter(given).items():
            if times > 1 and not getattr(option, "multiple", True) and not getattr(option, "is_flag", True):
                more = (
                    " Several targets are not supported yet: run it once for each." if option.name == "target" else ""
                )
                ctx.fail(f"{option.opts[0]} is given {times} times; it takes one value.{more}")
        return super().parse_args(ctx, args)


class Demo(StrEnum):
    """Tables to try."""

    friedman = "friedman"
    ishigami = "ishigami"
    heavy_tailed = "heavy-tailed"
    diabetes = "diabetes"
    breast_cancer = "breast-cancer"


def flag(name: str) -> str:
    """The option of a parameter: a switch for what is on unless it is switched off."""
    dashed = name.replace("_", "-")
    return f"--no-{dashed}" if find(name).default is True else f"--{dashed}"


def number_or_fraction(text: str) -> int | float:
    """A number of rows, or a fraction of them."""
    try:
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a number of rows nor a fraction of them.") from None


def takes_parameters(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the options of these parameters, and those for output, to a command; it gets them as keyword arguments.

    Parameters that were not given are left out, so that defaults are those of `rank`.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = [each for each in inspect.signature(command).parameters.values() if each.kind is not each.VAR_KEYWORD]
        options = [_option(name) for name in names] + [*OUTPUTS]

        def run(**given: Any) -> None:
            parameters = {name: _plain(name, given[name]) for name in names if given[name] is not None}
            command(**{name: value for name, value in given.items() if name not in names}, **parameters)

        run.__signature__ = inspect.Signature([*own, *options])  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in (*own, *options)}
        run.__name__, run.__doc__ = command.__name__, command.__doc__
        return run

    return decorate


def _plain(name: str, value: Any) -> Any:
    """The value of a parameter, from what its option gave."""
    if find(name).default is True:  # a switch that turns it off
        return not value
    return value.value if isinstance(value, StrEnum) else value


def _option(name: str) -> inspect.Parameter:
    """The option of one parameter; its value is None if it is not given."""
    details = find(name).metadata
    kind, parser = details["typed"], None
    if details["choices"]:
        kind = _choice(name, details["choices"])
    elif kind is list:
        kind = list[str]
    elif kind == "number or fraction":
        kind, parser = int, number_or_fraction
    option: Any = typer.Option(
        flag(name), metavar=details["metavar"], help=_help(name), show_default=False, parser=parser
    )
    return _keyword(name, Annotated[kind | None, option])


def _choice(name: str, choices: tuple[str, ...]) -> Any:
    """An enumeration of the choices, which typer lists in the help."""
    return StrEnum(name, {choice: choice for choice in choices})


def _help(name: str) -> str:
    """The help text of a parameter in the words of the command line, with its default."""
    details = find(name).metadata
    text = as_typed(re.sub(r'``|"(?=\w)|(?<=\w)"', "", details["help"]))
    text = re.sub(r"^Whether to (\w)", lambda start: start[1].upper(), text)
    if find(name).default is True:
        return f"Do not {text[0].lower()}{text[1:].partition('. False')[0]}."
    default = find(name).default
    shown = "Default:" not in text and default not in (None, (), False)
    return f"{text} Default: {default}." if shown else text


def _keyword(name: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _file(name: str, help_text: str) -> inspect.Parameter:
    return _keyword(name, Annotated[Path | None, typer.Option(f"--{name}", metavar="FILE", help=help_text)])


OUTPUTS = (
    _file("html", "Write a report, one page that needs no network."),
    _file("json", "Write everything that is known."),
    _file(
        "csv",
        "Write the table of factors; names that spreadsheets would run as formulas get an apostrophe in front.",
    ),
    _file("plot", "Draw the importances: .png, .svg or .pdf."),
    _keyword("quiet", Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")], False),
    _keyword(
        "debug", Annotated[bool, typer.Option("--debug", help="Show where in the program an error arises.")], False
    ),
)
