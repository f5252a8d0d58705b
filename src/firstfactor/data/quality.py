"""What in a table makes results misleading, in words.

Columns that only say which row it is (`identifiers`) and rows that occur several times (`copies`) are found elsewhere.
Rows that were left out are counted here, and a response of a few whole numbers, which may be classes. Whether rows
follow each other is found out where fits are (`inference.row_order`); what is said about it stands here.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .._utils.warn import warn_user
from .copies import count_copies
from .design import Design
from .identifiers import Identifiers
from .observations import Dropped, list_gaps
from .response import Response

# So many columns that cost rows are named.
MOST_NAMED = 5

MEANINGFUL = "its values mean something"
LONG_ENOUGH = "so long that one shares little with the next"

Kind = Literal["identifier", "groups", "copies", "rows", "classes", "order", "skewed"]


class DataQualityWarning(UserWarning):
    """The table has something that makes results misleading.

    Identifiers, copies of rows, rows that were left out or that follow each other.

    See Also
    --------
    Indices : Has what was found as ``findings``.

    Examples
    --------
    To be quiet about it:

    >>> import warnings
    >>> from firstfactor import DataQualityWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", DataQualityWarning)
    """


@dataclass(frozen=True)
class Finding:
    """Something in the table that makes results misleading."""

    kind: Kind
    """What it is."""
    count: int
    """Different values of the identifier or of the response, rows, or factors that another scale shows."""
    sentence: str
    """What was found, in words."""
    column: str | None = None
    """The identifier."""

    @property
    def advice(self) -> str:
        """The sentence, and what to do about it in Python."""
        ways_out = {
            "identifier": f"Drop the column unless {MEANINGFUL}.",
            "groups": f"Drop the column, or use it as groups=, unless {MEANINGFUL}.",
            "copies": "Drop the duplicates first.",
            "order": f"Use blocks of rows, such as one for each month, {LONG_ENOUGH}, as groups=.",
            "classes": 'Use task="classification" if they are classes.',
            "skewed": 'Use response="normal-scores" to rank by these.',
        }
        return " ".join(filter(None, [self.sentence, ways_out.get(self.kind)]))

    @property
    def command_advice(self) -> str:
        """The sentence, and what to do about it in the command."""
        column = shlex.quote(self.column or "")
        ways_out = {
            "identifier": f"Use --drop {column} unless {MEANINGFUL}.",
            "groups": f"Use --groups {column} to keep such rows from being each other's neighbours, or --drop {column} "
            f"unless {MEANINGFUL}.",
            "copies": "Use --unique to keep each row once.",
            "order": f"Use --groups with a column that numbers blocks of rows, such as months, {LONG_ENOUGH}.",
            "classes": "Use --task classification if they are classes.",
            "skewed": "Use --response normal-scores to rank by these.",
        }
        return " ".join(filter(None, [self.sentence, ways_out.get(self.kind)]))


def examine(
    design: Design,
    response: Response,
    dropped: Dropped,
    codes: Mapping[int, NDArray[np.intp]],
    factors: Sequence[int],
    grouped: bool = False,
) -> tuple[Finding, ...]:
    """Return what makes results on some factors misleading.

    ``codes`` has the level of each row, for the factors whose levels are known already. If rows are ``grouped``, no
    other column needs to tell their groups.
    """
    found: list[Finding | None] = [*_count_dropped(dropped), _look_at_response(response)]
    if design.varying:
        # A factor that is alone in its table takes no place from others.
        columns = [j for j in factors if design.single[j]] if len(design.varying) > 1 else []
        found += [*_look_at_columns(design, codes, columns), _look_at_rows(design, response.values)]
    return tuple(one for one in found if one is not None and not (grouped and one.kind == "groups"))


def _count_dropped(dropped: Dropped) -> list[Finding]:
    """Count the rows that were left out, for each reason."""
    costs = f" ({list_gaps(dropped.costs, MOST_NAMED)})" if dropped.costs else ""
    reasons = {
        "without a response": dropped.no_target,
        "with a weight of 0": dropped.no_weight,
        f"with missing values{costs}": dropped.incomplete,
    }
    return [
        Finding(
            "rows", count, f"{count:,} row{'s' if count > 1 else ''} {why} {'were' if count > 1 else 'was'} left out."
        )
        for why, count in reasons.items()
        if count
    ]


def _look_at_response(response: Response) -> Finding | None:
    """Return a finding if the response has so few integer values that they may be classes."""
    if not response.n_values:
        return None
    name, count = response.names[0], response.n_values
    return Finding("classes", count, f"{name!r} has {count} different whole numbers and is taken for a quantity.")


def _look_at_columns(
    design: Design, codes: Mapping[int, NDArray[np.intp]], factors: Sequence[int]
) -> Iterator[Finding]:
    """Yield a finding for each factor that may number rows or groups of them."""
    identifiers = Identifiers(design, codes)
    for factor in factors:
        numbered = identifiers.what_is_numbered(factor)
        if numbered is not None:
            yield _say_numbered(numbered, design.names[factor], design.n_rows, identifiers.counts(factor))


def _say_numbered(what: Literal["rows", "groups"], name: str, n: int, counts: NDArray[np.intp]) -> Finding:
    """Return the finding that a column may just number the ``n`` rows or groups of them, from counts of its values."""
    if what == "rows":
        rows = "every row" if counts.size == n else f"nearly every row ({counts.size:,} values in {n:,} rows)"
        sentence = f"{name!r} has a different value in {rows}: it may just number the rows."
        return Finding("identifier", counts.size, sentence, name)
    size = f"{counts[0]:,} rows each" if np.ptp(counts) == 0 else f"{n / counts.size:.1f} rows each on average"
    sentence = f"{name!r} may just number groups of rows: it has {counts.size:,} values with {size}."
    return Finding("groups", counts.size, sentence, name)


def _look_at_rows(design: Design, y: NDArray[np.float64]) -> Finding | None:
    """Return a finding if too many rows are copies of others."""
    copies = count_copies(design, y)
    if not copies:
        return None
    sentence = (
        f"{copies:,} of {design.n_rows:,} rows are copies of others, the response included. Copies make the noise look "
        "smaller than it is."
    )
    return Finding("copies", copies, sentence)


def rows_follow(n_rows: int, correlation: float) -> Finding:
    """Return the finding that consecutive rows are correlated beyond what the factors explain."""
    sentence = (
        f"Rows that follow each other in the table are alike beyond what the factors explain (correlation "
        f"{correlation:.2f}), as in a series in time. They are no independent rows: what they share can look like an "
        "effect, and the figures look surer than they are."
    )
    return Finding("order", n_rows, sentence)


def warn_of_findings(findings: Sequence[Finding]) -> None:
    """Warn of what was found, if anything."""
    if findings:
        warn_user(" ".join(one.advice for one in findings), DataQualityWarning)
