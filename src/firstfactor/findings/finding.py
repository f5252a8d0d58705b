"""One finding about a table: a sentence, the columns it is about, and what mends it."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from .._utils.checks import warn_user

Kind = Literal[
    "leak",
    "few rows",
    "units",
    "groups",
    "order",
    "identifier",
    "copies",
    "known",
    "dummies",
    "function",
    "classes",
    "skewed",
    "rows",
]

MEANINGFUL = "its values mean something"
LONG_ENOUGH = "so long that one shares little with the next"


class DataQualityWarning(UserWarning):
    """Warning that something in the table makes results misleading.

    It reports what a colleague would notice: columns that contain the target, functions of other factors, identifiers,
    units of a panel, copies of rows, dropped rows and dependence between consecutive rows. Each kind has a category of
    its own.

    See Also
    --------
    LeakWarning : The target in disguise.
    Indices : Stores the findings as ``findings``.

    Examples
    --------
    To silence the warning:

    >>> import warnings
    >>> from firstfactor import DataQualityWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", DataQualityWarning)
    """


class LeakWarning(DataQualityWarning):
    """Warning that a column may contain the target.

    See Also
    --------
    DataQualityWarning : Warnings about all findings.

    Examples
    --------
    To stop at a leak:

    >>> import warnings
    >>> from firstfactor import LeakWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", LeakWarning)
    """


class ColumnsWarning(DataQualityWarning):
    """Warning that columns are no factors: they were left out, or are constant.

    See Also
    --------
    DataQualityWarning : Warnings about all findings.

    Examples
    --------
    To stop if a column is left out:

    >>> import warnings
    >>> from firstfactor import ColumnsWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", ColumnsWarning)
    """


class RowsWarning(DataQualityWarning):
    """Warning that rows are copies, were left out, follow each other, or that few of them hold the variance.

    See Also
    --------
    DataQualityWarning : Warnings about all findings.

    Examples
    --------
    To silence the warning:

    >>> import warnings
    >>> from firstfactor import RowsWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", RowsWarning)
    """


class UnitsWarning(DataQualityWarning):
    """Warning that a column numbers rows, or units whose rows are alike.

    See Also
    --------
    DataQualityWarning : Warnings about all findings.

    Examples
    --------
    To silence the warning:

    >>> import warnings
    >>> from firstfactor import UnitsWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", UnitsWarning)
    """


class RelatedFactorsWarning(DataQualityWarning):
    """Warning that several columns are one factor: functions of others, and dummies of one category.

    See Also
    --------
    DataQualityWarning : Warnings about all findings.

    Examples
    --------
    To silence the warning:

    >>> import warnings
    >>> from firstfactor import RelatedFactorsWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", RelatedFactorsWarning)
    """


class ResponseWarning(DataQualityWarning):
    """Warning that another treatment of the response may suit it better.

    See Also
    --------
    DataQualityWarning : Warnings about all findings.

    Examples
    --------
    To silence the warning:

    >>> import warnings
    >>> from firstfactor import ResponseWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", ResponseWarning)
    """


# Category of the warning about each kind, the gravest kind first.
CATEGORIES: Mapping[Kind, type[DataQualityWarning]] = MappingProxyType(
    {
        "leak": LeakWarning,
        "few rows": RowsWarning,
        "units": UnitsWarning,
        "groups": UnitsWarning,
        "order": RowsWarning,
        "identifier": UnitsWarning,
        "copies": RowsWarning,
        "known": LeakWarning,
        "dummies": RelatedFactorsWarning,
        "function": RelatedFactorsWarning,
        "classes": ResponseWarning,
        "skewed": ResponseWarning,
        "rows": RowsWarning,
    }
)
_GRAVITY = {kind: place for place, kind in enumerate(CATEGORIES)}

# What mends each kind, in Python and on the command line; ``remedy`` is filled in.
_WAYS_OUT: Mapping[Kind, tuple[str, str]] = MappingProxyType(
    {
        "leak": ("Without it: {remedy}.", "Without it: {remedy}."),
        "few rows": ("To rank without their weight: {remedy}.", "To rank without their weight: {remedy}."),
        "units": (
            "Use {remedy} to keep such rows from being each other's neighbours.",
            "Use {remedy} to keep such rows from being each other's neighbours.",
        ),
        "groups": (
            f"Drop the column, or use it as groups=, unless {MEANINGFUL}.",
            "Use {remedy} to keep such rows from being each other's neighbours, or --drop {column} "
            f"unless {MEANINGFUL}.",
        ),
        "order": (
            f"Use blocks of rows, such as one for each month, {LONG_ENOUGH}, as groups=.",
            f"Use --groups with a column that numbers blocks of rows, such as months, {LONG_ENOUGH}.",
        ),
        "identifier": (f"Drop the column unless {MEANINGFUL}.", f"Use {{remedy}} unless {MEANINGFUL}."),
        "copies": ("Drop the duplicates first.", "Use --unique to keep each row once."),
        "known": ("If it is known only afterwards: {remedy}.", "If it is known only afterwards: {remedy}."),
        "dummies": ("As one factor: {remedy}.", "As one factor: {remedy}."),
        "function": ("To keep one of them: {remedy}.", "To keep one of them: {remedy}."),
        "classes": (
            'Use task="classification" if they are classes.',
            "Use --task classification if they are classes.",
        ),
        "skewed": (
            'Use response_scale="normal-scores" to rank by these.',
            "Use --response-scale normal-scores to rank by these.",
        ),
    }
)


@dataclass(frozen=True)
class Finding:
    """Property of the table that makes results misleading."""

    kind: Kind
    """Kind of the finding."""
    sentence: str
    """Description of the finding."""
    columns: tuple[str, ...] = ()
    """Names of the columns it is about."""
    count: int = 0
    """Number of distinct values of the identifier or response, of rows, or of factors found on another scale."""
    remedy: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """Parameters of `rank` that mend it; empty if none does."""
    sources: tuple[str, ...] = ()
    """Columns that those of the finding are functions of."""

    @property
    def column(self) -> str | None:
        """Name of the first column; None if it is about none."""
        return self.columns[0] if self.columns else None

    @property
    def gravity(self) -> int:
        """Place among the kinds, 0 for the gravest."""
        return _GRAVITY[self.kind]

    @property
    def advice(self) -> str:
        """Description, and what to do about it in Python."""
        return self._advise(0, self.python)

    @property
    def command_advice(self) -> str:
        """Description, and what to do about it on the command line."""
        return self._advise(1, self.command)

    @property
    def python(self) -> str:
        """Remedy as keyword arguments of `rank`."""
        return ", ".join(f"{name}={_as_python(value)}" for name, value in self.remedy.items())

    @property
    def command(self) -> str:
        """Remedy as options of the command."""
        return " ".join(f"--{name.replace('_', '-')} {_as_option(value)}" for name, value in self.remedy.items())

    def as_dict(self) -> dict[str, Any]:
        """Return the finding for JSON."""
        return {
            "kind": self.kind,
            "columns": list(self.columns),
            "sources": list(self.sources),
            "sentence": self.sentence,
            "count": self.count,
            "remedy": dict(self.remedy),
            "python": self.python,
            "command": self.command,
        }

    def _advise(self, which: Literal[0, 1], remedy: str) -> str:
        column = shlex.quote(self.columns[0]) if self.columns else ""
        way_out = _WAYS_OUT[self.kind][which] if self.kind in _WAYS_OUT else ""
        if len(self.columns) > 1:
            way_out = way_out.replace("Without it", "Without them")
        if self.kind == "dummies" and "drop" in self.remedy:
            way_out = way_out.replace("As one factor", "To keep one of them")
        return " ".join(filter(None, [self.sentence, way_out.format(remedy=remedy, column=column)]))


def _as_python(value: Any) -> str:
    """Return a value as Python code with double quotes."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_as_python(key)}: {_as_python(each)}" for key, each in value.items()) + "}"
    if isinstance(value, str):
        return f'"{value}"' if '"' not in value and "\\" not in value else repr(value)
    return f"[{', '.join(map(_as_python, value))}]"


def _as_option(value: Any) -> str:
    """Return a value as it is typed after an option."""
    if isinstance(value, Mapping):
        return " ".join(shlex.quote(f"{name}={','.join(columns)}") for name, columns in value.items())
    return shlex.quote(value if isinstance(value, str) else ",".join(value))


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings with the gravest first."""
    return tuple(sorted(findings, key=lambda one: one.gravity))


def warn_of_findings(findings: Sequence[Finding]) -> None:
    """Issue a warning about each finding, the gravest first."""
    for one in in_order(findings):
        warn_user(one.advice, CATEGORIES[one.kind])
