"""Write command-line.md from the commands themselves: `python docs/reference/command_line.py`.

A test compares the page with what this makes, so it cannot go stale.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from firstfactor.cli.commands import app
from firstfactor.cli.options import OUTPUTS, Demo, full_help
from firstfactor.settings import RANK, find

PAGE = Path(__file__).with_name("command-line.md")

INTRODUCTION = """\
<!-- Written by `python docs/reference/command_line.py`. Do not edit. -->

# Command line

`pip install 'firstfactor[cli]'` brings the command. `firstfactor COMMAND --help` shows the options in the terminal,
with the first sentence of each description.
The options of `rank` are the parameters of {py:func}`firstfactor.rank`.

`--version`
: Print the version and stop.

`-h`, `--help`
: Show the help of a command and stop.
"""


def write_page() -> str:
    """Return the whole page."""
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    seen: set[str] = set()
    parts = [INTRODUCTION]
    for name, command in commands.items():
        parts += _describe_command(name, command, seen)
        seen |= {parameter.name for parameter in command.params}
    return "\n".join(parts)


def _describe_command(name: str, command: Any, seen: set[str]) -> Iterator[str]:
    """Describe a command, with examples and its options; those of another command are only named."""
    text, *examples = re.split(r"^(Examples?.*:)$", command.help.replace("\b", ""), flags=re.MULTILINE)
    yield f"## firstfactor {name}\n\n{_escape(text.strip())}\n"
    if examples:
        yield f"{examples[0]}\n\n```text\n{_dedent(examples[1])}\n```\n"
    outputs = [each.name for each in OUTPUTS]
    shown = [each for each in command.params if not getattr(each, "hidden", False)]
    own = [each for each in shown if each.name not in seen]
    for title, some in (
        ("Arguments and options", [each for each in own if each.name not in outputs]),
        ("Output", [each for each in own if each.name in outputs]),
    ):
        if some:
            yield f"### {title} of {name}\n" if title != "Output" else f"### {title}\n"
            yield from map(_describe_parameter, some)
    shared = [each for each in shown if each.name in seen]
    if shared:
        names = ", ".join(f"`{each.opts[0]}`" for each in shared)
        yield f"It also takes these options, with the same meaning as above: {names}.\n"


def _describe_parameter(parameter: Any) -> str:
    """Return an argument or an option as an entry of a definition list."""
    is_option = parameter.opts[0].startswith("-")
    names = ", ".join(f"`{each}`" for each in parameter.opts) if is_option else f"`{parameter.opts[0].upper()}`"
    value = f" {_escape(_value(parameter))}" if is_option and not parameter.is_flag else ""
    several = " It can be given several times." if is_option and parameter.multiple else ""
    several = " There can be several." if not is_option and parameter.nargs == -1 else several
    choices = "" if is_option else _say_choices(parameter.name)
    text = full_help(parameter.name) if parameter.name in RANK else parameter.help
    return f"{names}{value}\n: {_escape(text)}{several}{choices}\n"


def _value(parameter: Any) -> str:
    """Return the placeholder for the value of an option: its choices, or a word."""
    choices = find(parameter.name).metadata["choices"] if parameter.name in RANK else ()
    return " | ".join(choices) or parameter.metavar


def _say_choices(name: str) -> str:
    """Return the choices of an argument as a sentence."""
    return f" One of {', '.join(each.value for each in Demo)}; default {Demo.friedman.value}." if name == "name" else ""


def _escape(text: str) -> str:
    """Text whose signs mean nothing in Markdown."""
    return re.sub(r"([*$<\[_|])", r"\\\1", text)


def _dedent(text: str) -> str:
    return re.sub(r"^  ", "", text.strip("\n"), flags=re.MULTILINE).strip()


if __name__ == "__main__":
    PAGE.write_text(write_page(), encoding="utf-8")
