"""How a call may end: with a result, or with an error in our own words that names what was given."""

import csv
import json
import re
import traceback
import warnings
from contextlib import contextmanager
from pathlib import Path

import pytest

import firstfactor
from firstfactor._utils.text import printable
from firstfactor.first import DEPRECATED
from tests import invariants
from tests.command import run_here

PACKAGE = str(Path(firstfactor.__file__).parent)

# Whose errors may reach a user as they are: those that scikit-learn's own checks raise at our request.
PASSED_ON = ("/sklearn/utils/validation.py", "/sklearn/feature_selection/_base.py")

# Warnings that are ours, and those of scikit-learn that a selector is expected to give: how they start.
OUR_WARNINGS = (
    "firstfactor.",
    "sklearn.exceptions.DataConversionWarning: A column-vector y was passed",
    "builtins.UserWarning: No features were selected",
    *(f"builtins.FutureWarning: {name} of FIRST is deprecated" for name in DEPRECATED),
)

# An error has to name what was given.
NAMES_SOMETHING = re.compile(
    r"\b(X|y|columns?|rows?|table|factors?|file|line|n_\w+|random_state|subsample|forward|elimination|scale|categorical"
    r"|task|variance_estimator|rule|alpha|control|goal|split|subset|noise|uncertainty|method|threshold|selector|level|backend"
    r"|option|feature names?|np\.matrix|sample_weight|groups|factor_groups|period|response_scale|output_weights|forced"
    r"|max_factors|missing|compact|importance|cluster_cut)\b"
    r"|--\w+"
)

# What numpy, pandas, polars, narwhals, numba and Python itself say when nobody has checked before.
RAW = re.compile(
    r"Traceback|dtype\(|<class '|could not convert|unsupported operand|object is not|has no attribute|truth value"
    r"|invalid literal for|cannot cast|not supported between|takes \d+ positional|unexpected keyword|out of bounds"
    r"|broadcast|zero-size array|zip\(\)|narwhals|numba|\bnw\.|ArrowInvalid|ArrowNotImplemented|ColumnNotFound"
    r"|ShapeError|SchemaError|ComputeError|InvalidOperation|<object object|\barray\(|this error|github\.com"
    r"|RuntimeError|panicked"
)


class Refused(Exception):  # noqa: N818
    """The call was refused as it should be."""


@contextmanager
def refusing():
    """Turn an error that is allowed into `Refused`; any other error, and a warning of others, is a failure."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except (ValueError, TypeError) as error:
            if wrong := fault_of_error(error):
                pytest.fail(f"{wrong}: {type(error).__name__}: {error}\n{''.join(traceback.format_exception(error))}")
            raise Refused(str(error)) from None
        finally:
            warned = [f"{each.category.__module__}.{each.category.__name__}: {each.message}" for each in caught]
            assert not [text for text in warned if not text.startswith(OUR_WARNINGS)]


def fault_of_error(error):
    """Say what is wrong with an error, if anything is."""
    raised_by = traceback.extract_tb(error.__traceback__)[-1].filename
    if not raised_by.startswith(PACKAGE) and not raised_by.endswith(PASSED_ON):
        return f"not ours, but of {raised_by}"
    return fault_of_text(str(error))


def fault_of_text(text, *given):
    """Say what is wrong with the text of an error, if anything is; it has to name what was given."""
    if not text.strip():
        return "says nothing"
    if raw := RAW.search(_without_quotes(text)) or re.search("got Unknown", text):
        return f"raw words ({raw[0]})"
    named = NAMES_SOMETHING.search(text) or any(name in text for name in given)
    return None if named else "names nothing that was given"


def _without_quotes(text):
    """What was given may hold anything, and stands in quotes or after "got"."""
    return re.sub(r"'[^']*'|\"[^\"]*\"|; got .*", "", text, flags=re.DOTALL)


# --- the command --------------------------------------------------------------------------------------

# What the terminal must not get from a file: control characters, other than line breaks.
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")

# A damaged binary file has no lines to name; what is wrong with text can be said better than polars does.
POLARS_ON_TEXT = re.compile(r"\.(csv|tsv|txt|tab|jsonl|ndjson)(\.gz)? cannot be read(?! as (arrow|parquet))")


def _files_in(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def rank_file(folder, source, arguments, outputs, stdin=None):
    """Rank a file of a folder, and return the finished run and what is wrong with it.

    The outputs are names of files by option, such as {"json": "out.json"}; they are written to the folder.
    """
    before = _files_in(folder)
    paths = {option: folder / name for option, name in outputs.items()}
    written = [part for option, path in paths.items() for part in (f"--{option}", path)]
    run = run_here("rank", source, *arguments, *written, stdin=stdin)
    left = _files_in(folder) - before - {*outputs.values()}
    faults = [f"files left behind: {sorted(left)}"] if left else []
    return run, [*faults, *_faults_of_run(run, Path(source).name, arguments, paths)]


def _faults_of_run(run, name, arguments, paths):
    out, err = run.stdout.decode(), run.stderr.decode()
    if run.returncode not in (0, 2):
        yield f"exit code {run.returncode}: {err[-2000:]}"
        return
    shown = err.splitlines()[-1:] if "--debug" in arguments else err.splitlines()  # code may hold anything
    for stream, text in (("standard output", out), ("standard error", "\n".join(shown))):
        if control := CONTROL.search(text):
            yield f"{stream} has the control character {control[0]!r}"
    if run.returncode == 2:
        yield from _faults_of_refusal(err, name, "--debug" in arguments)
    else:
        yield from _faults_of_answer(out, err, paths, "-q" in arguments)


def _faults_of_refusal(err, name, debug):
    """An error is one line in our words; with --debug, after a traceback that ends in the package."""
    *before, last = err.splitlines() or [""]
    if not last.startswith("error: "):
        yield f"the last line is not an error: {err[-500:]!r}"
    elif wrong := fault_of_text(last.removeprefix("error: "), name, printable(name), "standard input", "the target"):
        yield f"{wrong}: {last}"
    elif POLARS_ON_TEXT.search(last):
        yield f"raw words of polars: {last}"
    places = [line.split('"')[1] for line in before if line.startswith('  File "')]
    if before and not debug and "panicked at" not in err:  # which polars itself writes of what it does not expect
        yield f"more than one line on standard error: {err[-1500:]}"
    elif places and not places[-1].startswith(PACKAGE):
        yield f"not ours: {last}\n{err[-3000:]}"


def _faults_of_answer(out, err, paths, quiet):
    if err:
        yield f"standard error although all went well: {err[-1500:]}"
    if quiet and out:
        yield f"output in spite of -q: {out[:200]!r}"
    yield from invariants.of_text(out)
    for option, path in paths.items():
        if not path.exists() or not path.stat().st_size:
            yield f"--{option} wrote nothing"
        elif option == "json":
            yield from invariants.of_facts(json.loads(path.read_bytes(), parse_constant=_refuse_constant))
        elif option == "csv":
            yield from invariants.of_rows(_read_csv(path))


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
