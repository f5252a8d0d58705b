"""Few rows that hold most of the variance of the response."""

import numpy as np

from .._utils.text import list_names
from ..data.encoding import TINY
from .columns import SensedTable
from .constants import FEW_ROWS, LARGEST_OF_MANY, OF_A_FEW, OF_ONE
from .finding import Finding

# Maximum number of rows to name.
MOST_NAMED = 5


def find_few_rows(table: SensedTable) -> Finding | None:
    """Return a finding that names the rows that hold most of the variance of the response."""
    if table.has_classes or table.n_rows < 30:
        return None
    y = table.target.values
    centred = np.square((y - y.mean()) / max(float(np.abs(y).max()), TINY))
    total = float(centred.sum())
    most = max(1, min(int(FEW_ROWS * y.size), 100))
    largest = np.argsort(-centred, kind="stable")[:most]
    held = np.cumsum(centred[largest]) / total if total else np.zeros(most)
    if not total or (held[0] < max(OF_ONE, LARGEST_OF_MANY / y.size) and held[-1] < OF_A_FEW):
        return None
    count = 1 if held[0] >= OF_A_FEW else int(np.searchsorted(held, min(OF_A_FEW, held[-1]))) + 1
    count = 1 if held[-1] < OF_A_FEW else min(count, most)
    rows = list_names([f"{row:,}" for row in sorted((largest[:count] + 1).tolist())], most=MOST_NAMED)
    which = f"Row {rows} holds" if count == 1 else f"{count} of {y.size:,} rows hold"
    named = "" if count == 1 else f" (rows {rows})"
    held_by = f"{which} {100 * held[count - 1]:.0f} % of the variance of {table.target.name}{named}"
    sentence = f"{held_by}: results are about {'it' if count == 1 else 'them'}."
    return Finding("few rows", sentence, (table.target.name,), count, {"response_scale": "ranks"})
