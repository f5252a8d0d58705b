"""Write constants.md from the files with constants that decide answers: `python docs/reference/constants.py`.

A test compares the page with what this makes, so it cannot go stale.
"""

import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "firstfactor"
PAGE = Path(__file__).with_suffix(".md")

INTRODUCTION = """\
<!-- Written by `python docs/reference/constants.py`. Do not edit. -->

# Constants that decide answers

Numbers that change what is selected, estimated or said, each with its reason, by stage of the package. Values without
a citation were chosen by simulation, on other tables than those of the results, or are conventions of what to say.
Those of the findings were revised after a first run on the tables of [their page](../results/sense.md). None depends on
the table at hand. Numbers that only decide speed, looks, or what is rounding error stand where they are used.
"""

SECTION = re.compile(r"^# --- (?P<title>.*) ---$")
ASSIGNMENT = re.compile(
    r"^(?P<names>[A-Z][A-Z0-9_]*(?:, [A-Z][A-Z0-9_]*)*)(?:: [^=]+)? = (?P<values>.*(?:\n[ )].*)*)$", re.MULTILINE
)


def write_page() -> str:
    """Return the whole page."""
    return "\n".join([INTRODUCTION, *map(_describe_stage, sorted(PACKAGE.glob("*/constants.py")))])


def _describe_stage(path: Path) -> str:
    """Return the constants of one stage as tables, one for each of its sections."""
    _, docstring, rest = path.read_text(encoding="utf-8").split('"""', 2)
    parts = [f"## {path.parent.name}\n", docstring.splitlines()[0]]
    for block in re.split(r"\n{2,}", rest.strip()):
        if title := SECTION.match(block):
            parts.append(f"\n**{title['title'].capitalize()}**\n\n| constant | value | |\n| --- | --- | --- |")
        elif assigned := list(ASSIGNMENT.finditer(block)):
            names = "<br>".join(f"`{name}`" for each in assigned for name in each["names"].split(", "))
            values = "; ".join(re.sub(r"(?<=\()\n +|,\n(?=\))", "", each["values"]) for each in assigned)
            values = re.sub(r"\n +", " ", values)
            reason = " ".join(line.removeprefix("# ") for line in block.splitlines() if line.startswith("#"))
            parts.append(f"| {names} | {values} | {reason} |")
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(write_page(), encoding="utf-8")
