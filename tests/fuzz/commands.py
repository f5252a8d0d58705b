"""Cases of kinds "files" and "hostile": the command ``firstfactor rank`` on a file, called in this process."""

import contextlib
import csv
import io
import json
import re
import sys
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from firstfactor._utils.text import printable
from firstfactor.cli import main as cli

from . import invariants
from .classify import PACKAGE, judge_text
from .draw import Draw
from .files import make_file
from .hostile import KINDS, SECRET, check_answer, check_cells

FOLDERS = ("data", "da ta", "名", "\x1b[31m", "-t", "a'b\"c")
WRONG_NUMBERS = ("0", "-1", "x", "", "nan", "inf", "1e9", "2.5", "99999999999999999999")

# What the terminal must not get from a file: control characters, other than line breaks.
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")

# A damaged binary file has no lines to name; what is wrong with text can be said better than polars does.
POLARS_ON_TEXT = re.compile(r"\.(csv|tsv|txt|tab|jsonl|ndjson)(\.gz)? cannot be read(?! as (arrow|parquet))")


@dataclass
class FileCase:
    """A command, made from a seed."""

    allowed_warnings = ()
    error = None
    """The line on standard error, once it has ended with one."""

    seed: int
    data: object = field(init=False)
    arguments: list = field(init=False)

    def __post_init__(self):
        self._draw = Draw("files", self.seed)
        self.data = make_file(self._draw)
        self.from_stdin = self._draw.chance(0.05)
        stem = self._draw.choice(FOLDERS) if self._draw.chance(0.1) else "data"
        self.file = f"{stem}{self.data.suffix}"
        self.outputs = _outputs(self._draw)
        self.arguments = _options(self._draw, self.data.names)

    def __str__(self):
        source = "-" if self.from_stdin else self.file
        outputs = [part for name, file in self.outputs.items() for part in (f"--{name}", file)]
        command = ["firstfactor", "rank", source, *self.arguments, *outputs]
        return f"{command}\n{self.data.story}\n{len(self.data.content):,} bytes: {self.data.content[:3000]!r}"

    def run(self):
        """Run the command in a folder of its own and yield what is wrong with how it ended and what it wrote."""
        with tempfile.TemporaryDirectory(prefix="firstfactor-fuzz-") as name:
            folder = Path(name)
            (folder / self.file).write_bytes(self.data.content)
            outputs = {option: folder / file for option, file in self.outputs.items()}
            source = "-" if self.from_stdin else str(folder / self.file)
            before = _list(folder)
            code, out, err = self._execute(source, outputs)
            yield from self._judge(code, out, err, _list(folder) - before, outputs)

    def _execute(self, source, outputs):
        written = [part for option, path in outputs.items() for part in (f"--{option}", str(path))]
        stdin = io.TextIOWrapper(io.BytesIO(self.data.content if self.from_stdin else b""))
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
        with (
            mock.patch.object(sys, "argv", ["firstfactor", "rank", source, *self.arguments, *written]),
            mock.patch.object(sys, "stdin", stdin),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                cli.main()
            except SystemExit as end:
                code = end.code
        texts = []
        for stream in (out, err):
            stream.flush()
            texts.append(stream.buffer.getvalue().decode())
        return code, *texts

    def _judge(self, code, out, err, written, outputs):
        if code not in (0, 2):
            yield f"exit code {code}: {err[-2000:]}"
            return
        shown = err.splitlines()[-1:] if "--debug" in self.arguments else err.splitlines()  # code may hold anything
        for stream, text in (("standard output", out), ("standard error", "\n".join(shown))):
            if control := CONTROL.search(text):
                yield f"{stream} has the control character {control[0]!r}"
        left = written - {*self.outputs.values()}
        if left:
            yield f"files left behind: {sorted(left)}"
        yield from self._refused(err) if code == 2 else self._answered(out, err, outputs)

    def _refused(self, err):
        """An error is one line in our words; with --debug, after a traceback that ends in the package."""
        *before, last = err.splitlines() or [""]
        self.error = last.replace(self.file, "FILE")
        if not last.startswith("error: "):
            yield f"the last line is not an error: {err[-500:]!r}"
        elif wrong := judge_text(
            last.removeprefix("error: "), self.file, printable(self.file), "standard input", "the target"
        ):
            yield f"{wrong}: {self.error}"
        elif POLARS_ON_TEXT.search(last):
            yield f"raw words of polars: {self.error}"
        places = [line.split('"')[1] for line in before if line.startswith('  File "')]
        if before and "--debug" not in self.arguments:
            yield f"more than one line on standard error: {err[-1500:]}"
        elif places and not places[-1].startswith(PACKAGE):
            yield f"not ours: {last} ({'/'.join(Path(places[-1]).parts[-2:])})\n{err[-3000:]}"

    def _answered(self, out, err, outputs):
        if err:
            yield f"standard error although all went well: {err[-1500:]}"
        if "-q" in self.arguments and out:
            yield f"output in spite of -q: {out[:200]!r}"
        yield from invariants.of_text(out)
        for option, path in outputs.items():
            if not path.exists() or not path.stat().st_size:
                yield f"--{option} wrote nothing"
            elif option == "json":
                yield from invariants.of_facts(json.loads(path.read_bytes(), parse_constant=_refuse_constant))
            elif option == "csv":
                yield from invariants.of_rows(_read_csv(path))


@dataclass
class HostileCase(FileCase):
    """A command on what somebody made on purpose."""

    def __post_init__(self):
        self._draw = Draw("hostile", self.seed)
        self.kind = self._draw.choice(KINDS)
        self.outputs = {"json": "out.json", "csv": "out.csv"} | ({"html": "out.html"} if self._draw.chance(0.1) else {})

    def __str__(self):
        return f"{self.kind.__name__}: {self.kind.__doc__}"

    def run(self):
        """Run the command on files in a folder of its own and yield what is wrong with what came of it."""
        with tempfile.TemporaryDirectory(prefix="firstfactor-fuzz-") as name:
            folder = Path(name)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scene = self.kind(self._draw, folder)
            self.file = Path(scene.source).name
            self.from_stdin, self.arguments = False, ["-t", scene.target, "--jobs", "1", *scene.arguments]
            outputs = {option: folder / file for option, file in self.outputs.items()}
            before = _list(folder)
            code, out, err = self._execute(scene.source, outputs)
            yield from self._judge(code, out, err, _list(folder) - before, outputs)
            texts = [out, err, *(path.read_text() for path in outputs.values() if path.exists())]
            if any(SECRET in text for text in texts):
                yield "a file was read that nobody named"
            if code == 0:
                yield from check_answer(scene, json.loads(texts[2]))
                yield from check_cells(outputs["csv"].read_bytes().decode())


def _list(folder):
    """The files below a folder, by their paths from there."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def _refuse_constant(name):
    raise AssertionError(f"{name} is not JSON")


def _read_csv(path):
    """The rows of a file of factors, numbers as numbers."""
    numbers = ("importance", "standard_error", "p_value", "low", "high", "frequency")
    with path.open(encoding="utf-8", newline="") as file:
        return [
            row | {name: float(row[name]) if row[name] else None for name in numbers if name in row}
            for row in csv.DictReader(file)
        ]


# --- options ------------------------------------------------------------------------------------------


def _outputs(draw):
    """Files to write; pictures and pages take long."""
    chances = {"json": 0.6, "csv": 0.15, "html": 0.01, "plot": 0.01}
    files = {
        "json": "out.json",
        "csv": "out.csv",
        "html": "out.html",
        "plot": draw.choice(["out.png", "out.svg", "out.pdf"]),
    }
    return {option: files[option] for option, chance in chances.items() if draw.chance(chance)}


def _options(draw, names):
    """Arguments after the file; at times one that makes no sense."""
    arguments = []
    for option, (chance, values) in ALLOWED.items():
        if draw.chance(chance) and (_goes_with(option, arguments) or draw.chance(0.02)):
            value = values(draw, names)
            arguments += [option] if value is None else [option, value]
    target = draw.weighted({"y": 30, draw.choice(names or ["y"]): 1, "Y": 0.2, "no such column": 0.2, "": 0.1})
    arguments += [draw.choice(["-t", "--target"]), target] if draw.chance(0.98) else []
    if draw.chance(0.06):
        arguments += draw.choice(WRONG)(draw)
    return arguments


def _goes_with(option, arguments):
    """Tell whether an option makes sense after others."""
    if option in ("--split", "--stability", "--rule"):
        return not {"first-fast", "backward", "total"} & set(arguments)
    return option not in ("--alpha", "--goal") or "calibrated" in arguments


def _some_names(draw, names):
    chosen = draw.some(names, 3) or ["f0"]
    return draw.weighted({",".join(chosen): 3, chosen[0]: 3, "f*": 1, "f[0-2]": 1, "*": 0.2})


ALLOWED = {
    "--factors": (0.08, _some_names),
    "--drop": (0.08, lambda draw, names: draw.choice([_some_names(draw, names), "f0", "f0", "f1", "f1"])),
    "--categorical": (0.12, _some_names),
    "--task": (0.15, lambda draw, names: draw.choice(["auto", "regression", "classification"])),
    "--missing": (0.4, lambda draw, names: draw.choice(["drop", "drop", "error"])),
    "--sample": (0.1, lambda draw, names: str(draw.choice([2, 3, 5, 10, 10**6]))),
    "--method": (0.4, lambda draw, names: draw.choice(["first", "first-fast", "backward", "total"])),
    "--rule": (0.15, lambda draw, names: draw.choice(["paper", "calibrated", "calibrated"])),
    "--alpha": (0.3, lambda draw, names: draw.choice(["0.05", "0.5", "0.99", "1e-3"])),
    "--control": (0.05, lambda draw, names: draw.choice(["fwer", "fdr"])),
    "--goal": (0.3, lambda draw, names: draw.choice(["explain", "predict"])),
    "--estimator": (0.2, lambda draw, names: draw.choice(["nearest", "extrapolated", "adaptive"])),
    "--split": (0.12, lambda draw, names: None),
    "--stability": (0.06, lambda draw, names: str(draw.integer(1, 3))),
    "--n-neighbors": (0.3, lambda draw, names: str(draw.weighted({2: 4, 3: 4, 5: 2, 10: 1, 20: 0.5, 50: 0.2}))),
    "--n-outer": (0.2, lambda draw, names: str(draw.choice([1, 2, 4, 10, 0.05, 0.3, 0.9, 1.0]))),
    "--seed": (0.5, lambda draw, names: str(draw.integer(0, 2**31))),
    "--jobs": (0.9, lambda draw, names: draw.choice(["1", "1", "1", "1", "2", "-1"])),
    "--no-scale": (0.1, lambda draw, names: None),
    "--format": (0.03, lambda draw, names: draw.choice(["csv", "tsv", "parquet", "arrow", "jsonl"])),
    "-q": (0.05, lambda draw, names: None),
    "--debug": (0.3, lambda draw, names: None),
}
COUNTS = ("--n-neighbors", "--n-outer", "--alpha", "--sample", "--stability")
CHOICES = ("--method", "--rule", "--control", "--goal", "--task", "--missing", "--estimator", "--format")
COLUMNS = ("--factors", "--drop", "--categorical")
WRONG = (
    lambda draw: [draw.choice(COUNTS), draw.choice(WRONG_NUMBERS)],
    lambda draw: [draw.choice(["--seed", "--jobs"]), draw.choice(WRONG_NUMBERS)],
    lambda draw: [draw.choice(CHOICES), "nonsense"],
    lambda draw: [draw.choice(COLUMNS), draw.choice(["", ",", "[", "nothing*", "^f", "**"])],
    lambda draw: [draw.choice(["--nonsense", "-x", "--n-neighbours=3", "extra", "--html", "--target"])],
    lambda draw: ["--plot", draw.choice(["picture.xyz", "", "/no/such/folder/a.png", "."])],
    lambda draw: ["-t", "f0"],
)
