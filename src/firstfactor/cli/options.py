"""Options of the commands: those made from the parameters of `rank`, and those for output."""

import csv
import inspect
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from .._utils.checks import Message
from ..settings import RANK, RENAMED, find
from .errors import as_typed, dashed

# Parameters that do not apply to a table that comes with the package.
_ONLY_FOR_FILES = ("memory", "scheduler", "workers", "format", "table", "na", "decimal")

# The panels of the help in their order, with the parameters in each; those that are in none are for experts.
PANELS = {
    "Most used": ("target", "factors", "drop", "categorical", "groups", "missing", "alpha", "html", "csv", "json"),
    "Data": (
        *("leaks", "factor_groups", "regroup", "period", "date_parts", "task", "response_scale", "output_weights"),
        *("weight", "unique", "where", "sample", "format", "table", "na", "decimal"),
    ),
    "Selection": (
        *("method", "rule", "control", "goal", "forced", "max_factors", "compact", "importance", "split", "stability"),
    ),
    "Output": ("plot", "model_score", "sensitive", "notes", "quiet", "debug", "help"),
    "Large tables": ("memory", "jobs", "scheduler", "workers", "checkpoint"),
}
FOR_EXPERTS = "For experts"

# Beginning of the help text of a parameter that is True or False.
WHETHER = "Whether to "

# Signs of a pattern in the name of a file.
GLOB = re.compile(r"[*?\[]")

DEMO = tuple(name for name in RANK if name not in _ONLY_FOR_FILES)


class Command(TyperCommand):
    """Command whose help has panels, and which refuses an option with one value that is given twice."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the panels of the help in their order, as lists that are as wide as the terminal."""
        panels = {title: list[tuple[str, str]]() for title in ("Arguments", *PANELS, FOR_EXPERTS)}
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is not None:
                default = panel(parameter.name) if parameter.param_type_name == "option" else "Arguments"
                panels[default].append(record)
        for title, records in panels.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records, col_max=26)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Check for repeated options and for columns in place of files, then parse as usual."""
        args = [f"{arg}={ON}" if _lacks_share(arg, after) else arg for arg, after in pairwise([*args, ""])]
        parsed, _, given = self.make_parser(ctx).parse_args(args=list(args))
        self._look_for_columns(ctx, args, parsed.get("data") or [])
        for option, times in Counter(given).items():
            if times > 1 and not getattr(option, "multiple", True) and not getattr(option, "is_flag", True):
                ctx.fail(f"{option.opts[0]} is given {times} times; it takes one value.")
        return super().parse_args(ctx, args)

    def _look_for_columns(self, ctx: Any, args: list[str], data: Sequence[str]) -> None:
        """Hint at the comma if a word after the value of an option is no file, but another one is given."""
        several = {name for each in self.params if each.multiple for name in each.opts}
        for option, first, word in zip(args, args[1:], args[2:], strict=False):
            if option in several and word in data and len(data) > 1 and not (GLOB.search(word) or Path(word).exists()):
                ctx.fail(f"there is no file {word!r}. Separate several columns by a comma: {option} {first},{word}.")


def _lacks_share(option: str, after: str) -> bool:
    """Return True for an option that may have a share, if no number follows."""
    names = (name for name in RANK if find(name).metadata["cli_type"] == "switch or share")
    return option in map(flag, names) and not re.fullmatch(r"-?[\d.]+(e-?\d+)?", after)


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


def switch_or_share(text: str) -> bool | float:
    """Parse a share; an option without one is switched on."""
    try:
        return True if text == ON else float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a share, such as 0.01.") from None


# Parsers by the type of a parameter, and the value of an option that may be given without one.
_PARSERS: dict[Any, Callable[[str], Any]] = {
    "number or fraction": number_or_fraction,
    "switch or share": switch_or_share,
}
ON = "on"


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


_FILTER = re.compile(r'(?:"((?:[^"]|"")+)"|([^="]+))=(.+)', re.DOTALL)
_RANGE = re.compile(r"(-?[\d.eE+:T-]*[\d.])?\.\.(-?[\d.][\d.eE+:T-]*)?")


def _read_filters(name: str, texts: list[str]) -> dict[str, Any]:
    """Parse filters of rows from texts such as age=18..65 or region=north,south.

    Names and values with signs that mean something else are put in double quotes, as in CSV.
    """
    found: dict[str, Any] = {}
    for text in texts:
        parts = _FILTER.fullmatch(text)
        if parts is None:
            raise typer.BadParameter(
                f"{text!r} is neither a range, such as age=18..65, nor values, such as region=north,south.",
                param_hint=f"--{dashed(name)}",
            )
        column, values = parts[1].replace('""', '"') if parts[1] else parts[2].strip(), parts[3].strip()
        if _RANGE.fullmatch(values) and values != "..":
            low, high = map(_end, values.split("..", 1))
            new: Any = (low, high)
        else:
            new = next(csv.reader([values], skipinitialspace=True))
        if column in found and isinstance(new, list) and isinstance(found[column], list):
            new = [*found[column], *new]
        elif column in found:
            raise typer.BadParameter(f"{column!r} is given twice.", param_hint=f"--{dashed(name)}")
        found[column] = new
    return found


def _end(text: str) -> float | str | None:
    """Parse an end of a range: a number, a date, or none."""
    try:
        return float(text) if text else None
    except ValueError:
        return text


def _read_list(name: str, texts: list[str]) -> list[float]:
    """Parse numbers that are separated by commas or given one by one."""
    return [_number(name, part.strip()) for text in texts for part in text.split(",")]


_READ: dict[Any, Callable[[str, list[str]], Any]] = {
    "filters": _read_filters,
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
    elif kind in _PARSERS:
        kind, parser = int, _PARSERS[kind]
    option: Any = typer.Option(
        f"--{dashed(old or name)}",
        metavar=details["metavar"],
        help=_brief(full_help(name)),
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


def panel(name: str) -> str:
    """Return the panel of the help that an option is in."""
    return next((title for title, names in PANELS.items() if name in names), FOR_EXPERTS)


def _brief(text: str) -> str:
    """Return the first sentence of a help text, which has all of it in the reference, and the default."""
    first = text.partition(". ")[0].rstrip(".") + "."
    default = re.search(r"Default: .*?[.](?= [A-Z]|$)", text)
    return f"{first} {default[0]}" if default and default[0] not in first else first


def full_help(name: str) -> str:
    """Return the help text of a parameter, with its default."""
    details, default = find(name).metadata, find(name).default
    example = ", ".join(f"{key}={_comma_separated(value)}" for key, value in (details["example"] or {}).items())
    text = Message(details["cli_help"], example=example).render(as_typed).replace("``", "").replace('"', "")
    if text.startswith(WHETHER):
        text = text[len(WHETHER)].upper() + text[len(WHETHER) + 1 :]
    shown = "Default:" not in text and default not in (None, (), False, True)
    return f"{text} Default: {default}." if shown else text


def _comma_separated(value: Any) -> str:
    if isinstance(value, tuple):
        return "..".join(map(str, value))
    return ",".join(value) if isinstance(value, list) else str(value)


def _help_off(name: str) -> str:
    """Return the help text of the switch that turns a parameter off."""
    return f"Do not {find(name).metadata['help'].removeprefix(WHETHER).partition('. ')[0]}."


def _keyword(name: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _output(name: str, help_text: str, kind: Any = bool, metavar: str | None = None, *short: str) -> inspect.Parameter:
    option: Any = typer.Option(f"--{name}", *short, metavar=metavar, help=help_text)
    return _keyword(name.replace("-", "_"), Annotated[kind, option], False if kind is bool else None)


OUTPUTS = (
    _output("html", "Write a report: one self-contained page.", Path | None, "FILE"),
    _output("csv", "Write the table of factors, safe for spreadsheets; - is standard output.", Path | None, "FILE"),
    _output("json", "Write all results as JSON; - is standard output.", Path | None, "FILE"),
    _output("plot", "Plot the importances: .png, .svg or .pdf.", Path | None, "FILE"),
    _output("model-score", "R² of your model on new rows, to compare with the ceiling.", float | None, "R2"),
    _output("sensitive", "Show nothing of single rows in the report: bins instead of dots, no rare levels."),
    _output("notes", "Print all remarks about the table."),
    _output("quiet", "Print nothing but errors.", bool, None, "-q"),
    _output("debug", "Show where in the program an error arises."),
)
