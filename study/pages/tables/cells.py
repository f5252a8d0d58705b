"""What stands in the cells of tables."""

from ...data.setting import Setting
from ...scores.certainty import mean_ceiling
from ...scores.results import Cell
from ..layout import NOTHING


def ratio_text(ratio: float) -> str:
    """Return a ratio of times with two digits that count."""
    return f"{ratio:,.0f}" if ratio >= 9.95 else f"{ratio:.1f}"


def mean_text(cell: Cell, metric: str, decimals: int = 2) -> str:
    """Return a mean with its standard error."""
    return cell.mean(metric).text(decimals) if cell.n else NOTHING


def ceiling_text(cell: Cell, decimals: int = 3) -> str:
    """Return the mean R² ceiling with its standard error, of repetitions that have one."""
    mean = mean_ceiling(cell) if cell.n else None
    return NOTHING if mean is None else mean.text(decimals)


def runs_text(*cells: Cell) -> str:
    """Return the smallest number of repetitions."""
    return str(min(cell.n for cell in cells))


def size_text(setting: Setting) -> str:
    """Return how many rows and factors there are."""
    return f"N = {setting.n_rows:,}, p = {setting.n_factors}"


def seconds_text(cell: Cell) -> str:
    """Return the mean time in seconds."""
    return f"{cell.mean('seconds').value:.2f}" if cell.n else NOTHING
