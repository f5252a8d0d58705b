"""How a case ended: with a result, with an error in our own words, or with a failure."""

import contextlib
import re
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import firstfactor

PACKAGE = str(Path(firstfactor.__file__).parent)

# Whose errors may reach a user as they are: those that scikit-learn's own checks raise at our request.
PASSED_ON = ("/sklearn/utils/validation.py", "/sklearn/feature_selection/_base.py")

# Warnings that are ours, and those of scikit-learn that a selector is expected to give: how they start.
OUR_WARNINGS = (
    "firstfactor.",
    "sklearn.exceptions.DataConversionWarning: A column-vector y was passed",
    "builtins.UserWarning: No features were selected",
)

# An error has to name what was given.
NAMES_SOMETHING = re.compile(
    r"\b(X|y|columns?|rows?|table|factors?|file|line|n_\w+|random_state|subsample|forward|elimination|scale|categorical"
    r"|task|estimator|rule|alpha|control|goal|split|subset|noise|uncertainty|method|threshold|selector|level|backend|option"
    r"|feature names?|np\.matrix|sample_weight|groups|factor_groups|period|response|output_weights|forced|max_factors"
    r"|missing|compact|importance|cluster_cut)\b"
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


@dataclass
class Outcome:
    """How one case ended."""

    kind: str
    """"result", "refused", or "failure"."""
    what: str
    """The error, or what is wrong."""
    where: str = ""
    """The last places in the package, for grouping."""
    details: str = ""
    """A traceback."""

    @property
    def template(self):
        """The message without what differs from case to case."""
        text = re.sub(r"('[^']*'|\"[^\"]*\")(, ('[^']*'|\"[^\"]*\"))*", "'…'", self.what.partition("\n")[0])
        text = re.sub(r"[-+]?(\d[\d,]*\.?\d*(e[-+]?\d+)?|\binf\b|\bnan\b)%?", "N", text)
        text = re.sub(r"\[[^\]]*\]?|\([^)]*\)", "(…)", text)
        return f"{text[:150]} {self.where}".strip()


def run_case(case):
    """Run a case and say how it ended."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            faults = list(case.run())
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # polars has exceptions that are no Exception
            outcome = judge_error(error)
        else:
            refused = Outcome("refused", case.error) if case.error else Outcome("result", "")
            outcome = Outcome("failure", "\n".join(dict.fromkeys(faults))) if faults else refused
    return judge_warnings(caught, case.allowed_warnings) or outcome


def judge_error(error):
    """An error is fine if it is a ValueError or TypeError of ours that says what was wrong."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith(PACKAGE)]
    where = " < ".join(f"{Path(frame.filename).name}:{frame.name}" for frame in reversed(ours[-2:]))
    text, details = str(error), "".join(traceback.format_exception(error))
    raised_by = frames[-1].filename
    name = f"{type(error).__name__}: {text}"
    if not isinstance(error, (ValueError, TypeError)):
        return Outcome("failure", name, where, details)
    if not raised_by.startswith(PACKAGE) and not raised_by.endswith(PASSED_ON):
        return Outcome("failure", f"not ours: {name}", f"{where} < {'/'.join(Path(raised_by).parts[-2:])}", details)
    wrong = judge_text(text)
    if wrong:
        return Outcome("failure", f"{wrong}: {name}", where, details)
    return Outcome("refused", text, details=details)


def judge_text(text, *given):
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


def judge_warnings(caught, allowed):
    """Return the failure that a warning is, unless its category is allowed."""
    for warning in caught:
        category = warning.category
        text = f"{category.__name__}: {warning.message}"
        if f"{category.__module__}.{text}".startswith(allowed):
            continue
        place = "/".join(Path(warning.filename).parts[-2:])
        return Outcome("failure", text, f"{place}:{warning.lineno}")
    return None


def tabulate(outcomes):
    """Return a line for each kind of outcome and for each message, the most frequent first."""
    lines = []
    for kind in ("result", "refused", "failure"):
        templates = Counter(outcome.template for outcome in outcomes if outcome.kind == kind)
        lines.append(f"{sum(templates.values()):8,}  {kind}")
        if kind != "result":
            lines += [f"{count:8,}      {template}" for template, count in templates.most_common()]
    return lines


@contextlib.contextmanager
def quiet():
    """Warnings of what only makes cases are of no interest."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
