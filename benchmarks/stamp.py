"""When and on what code a figure was measured, so that a page can say so."""

import ast
import datetime
import hashlib
import io
import os
import platform
import subprocess
import tokenize
from functools import cache

from .measure import ROOT, SOURCE

DECISIVE = ("neighbors", "variance", "selection", "evidence")
"""Folders of the package that decide its speed."""


def stamp():
    """Return the commit, the date, the machine and the fingerprint of the code, to be stored with a figure."""
    # Stored results and pages change while they are written: they are not looked at.
    changes = git("status", "--porcelain", "--", "src", "benchmarks", ":!benchmarks/results")
    return {
        "commit": git("rev-parse", "--short", "HEAD") or "unknown",
        "clean": changes == "",
        "date": datetime.date.today().isoformat(),
        "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}",
        "code": fingerprint(),
    }


def git(*arguments):
    """Return what git says of this repository, or None if it cannot."""
    run = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=False)
    return run.stdout.strip() if run.returncode == 0 else None


@cache
def fingerprint():
    """Return a digest of the code that decides speed; words about it do not count."""
    files = sorted(path for folder in DECISIVE for path in (SOURCE / "firstfactor" / folder).rglob("*.py"))
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.relative_to(SOURCE).as_posix().encode())
        digest.update(without_words(path.read_text(encoding="utf-8")).encode())
    return digest.hexdigest()[:12]


def without_words(source):
    """Return source code without comments, docstrings and blank lines.

    Lines are cut from the text: a syntax tree is written differently by every version of Python.
    """
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)
    return "\n".join(line.rstrip() for line in lines if line.strip())


def describe(stamps):
    """Say when, on which commit and on what machine figures were measured, and whether the code has changed since."""
    texts = sorted({_describe_one(each) for each in stamps})
    said = "Measured on " + "; other rows on ".join(texts) + "."
    if is_stale(stamps):
        said += " **Code that decides speed has changed since then, and not all was measured again.**"
    return said


def is_stale(stamps):
    """Return whether the code that decides speed has changed since a figure was measured."""
    return any(each["code"] != fingerprint() for each in stamps)


def _describe_one(one):
    date = datetime.date.fromisoformat(one["date"])
    changed = "" if one["clean"] else " with changes"
    return f"{date.day} {date:%B %Y}, commit {one['commit']}{changed} ({one['machine']})"
