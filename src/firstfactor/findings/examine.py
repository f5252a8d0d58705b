"""Findings of a design and its response: dropped rows, identifiers, copies, and classes taken for a quantity.

Dependence between consecutive rows is detected from fits in `inference.row_order`; its message is here.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..data.design import Design
from ..data.observations import Dropped, list_gaps
from ..data.response import Response
from .copies import count_copies
from .finding import Finding
from .identifiers import Identifiers

# Maximum number of columns with missing values to name.
MOST_NAMED = 5


def examine(
    design: Design,
    response: Response,
    dropped: Dropped,
    codes: Mapping[int, NDArray[np.intp]],
    factors: Sequence[int],
    grouped: bool = False,
) -> tuple[Finding, ...]:
    """Return the findings that make results on some factors misleading.

    ``codes`` holds the level of each row for the factors whose levels are already known. If rows are ``grouped``, no
    column needs to identify their groups.
    """
    found: list[Finding | None] = [*_count_dropped(dropped), _look_at_response(response)]
    if design.varying:
        # A single factor displaces no others.
        columns = [j for j in factors if design.single[j]] if len(design.varying) > 1 else []
        found += [*_look_at_columns(design, codes, columns), _look_at_rows(design, response.values)]
    return tuple(one for one in found if one is not None and not (grouped and one.kind == "groups"))


def _count_dropped(dropped: Dropped) -> list[Finding]:
    """Return the numbers of dropped rows, one finding for each reason."""
    costs = f" ({list_gaps(dropped.costs, MOST_NAMED)})" if dropped.costs else ""
    reasons = {
        "without a response": dropped.no_target,
        "with a weight of 0": dropped.no_weight,
        f"with missing values{costs}": dropped.incomplete,
    }
    return [
        Finding(
            "rows",
            f"{count:,} row{'s' if count > 1 else ''} {why} {'were' if count > 1 else 'was'} left out.",
            count=count,
        )
        for why, count in reasons.items()
        if count
    ]


def _look_at_response(response: Response) -> Finding | None:
    """Return a finding if the response has so few integer values that they may be classes."""
    if not response.n_values:
        return None
    name, count = response.names[0], response.n_values
    sentence = f"{name!r} has {count} different whole numbers and is taken for a quantity."
    return Finding("classes", sentence, count=count)


def _look_at_columns(
    design: Design, codes: Mapping[int, NDArray[np.intp]], factors: Sequence[int]
) -> Iterator[Finding]:
    """Yield a finding for each factor that may number rows or groups of rows."""
    identifiers = Identifiers(design, codes)
    for factor in factors:
        numbered = identifiers.what_is_numbered(factor)
        if numbered is not None:
            yield _say_numbered(numbered, design.names[factor], design.n_rows, identifiers.counts(factor))


def _say_numbered(what: Literal["rows", "groups"], name: str, n: int, counts: NDArray[np.intp]) -> Finding:
    """Return the finding that a column may merely number the ``n`` rows or groups, from counts of its values."""
    if what == "rows":
        rows = "every row" if counts.size == n else f"nearly every row ({counts.size:,} values in {n:,} rows)"
        sentence = f"{name!r} has a different value in {rows}: it may just number the rows."
        return Finding("identifier", sentence, (name,), counts.size, {"drop": [name]})
    size = f"{counts[0]:,} rows each" if np.ptp(counts) == 0 else f"{n / counts.size:.1f} rows each on average"
    sentence = f"{name!r} may just number groups of rows: it has {counts.size:,} values with {size}."
    return Finding("groups", sentence, (name,), counts.size, {"groups": name})


def _look_at_rows(design: Design, y: NDArray[np.float64]) -> Finding | None:
    """Return a finding if too many rows are copies of others."""
    copies = count_copies(design, y)
    if not copies:
        return None
    sentence = (
        f"{copies:,} of {design.n_rows:,} rows are copies of others, the response included. Copies make the noise look "
        "smaller than it is."
    )
    return Finding("copies", sentence, count=copies)


def rows_follow(n_rows: int, correlation: float) -> Finding:
    """Return the finding that consecutive rows are correlated beyond what the factors explain."""
    sentence = (
        f"Rows that follow each other in the table are alike beyond what the factors explain (correlation "
        f"{correlation:.2f}), as in a series in time. The rows are not independent: what they share can look like an "
        "effect, and the intervals are too narrow."
    )
    return Finding("order", sentence, count=n_rows)
