"""The examples in the README and what they print; `python -m tests.readme` writes all of it anew, with its figure."""

import contextlib
import io
import re
from pathlib import Path

from tests.command import run

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"

CODE = re.compile(r"(?P<code>```python\n(?P<source>.*?)```\n\n```text\n)(?P<shown>.*?)(?P<end>```)", re.DOTALL)
DEMO = re.compile(r"(?P<code>```text\n\$ firstfactor (?P<source>demo.*?)\n)(?P<shown>.*?)(?P<end>```)", re.DOTALL)


def run_code(source):
    """What Python code prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(source, {"__name__": "__main__"})
    return printed.getvalue()


def run_demo(arguments, folder=ROOT, run=run):
    """What the command prints; its files go to a folder. In a process of its own, its time is what a person waits."""
    finished = run(*arguments.split(), folder=folder, COLUMNS="80")
    if finished.returncode:
        raise RuntimeError(finished.stderr.decode())
    return finished.stdout.decode()


def write_anew():
    """Put what the examples print now in place of what the README shows."""
    text = README.read_text(encoding="utf-8")
    for pattern, say in ((CODE, run_code), (DEMO, run_demo)):
        for found in [*pattern.finditer(text)]:
            text = text.replace(found[0], found["code"] + say(found["source"]) + found["end"])
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_anew()
