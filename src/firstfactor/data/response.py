"""Target in, Response out: numbers centred, two classes as 0 and 1."""

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from .._utils import checks
from .columns import Values, as_array, exact_floats, is_numeric, level_codes, read_column

Task = Literal["regression", "classification"]

# Variances outside of this range cannot be told from 0 or infinity in what is computed from them.
SMALLEST_VARIANCE, LARGEST_VARIANCE = 1e-290, 1e290


@dataclass(frozen=True)
class Response:
    """The target of one table."""

    values: NDArray[np.float64]
    """One per row, minus their mean."""
    variance: float
    """Sample variance (ddof = 1)."""
    task: Task
    classes: tuple[Any, ...]
    """The two class labels in order, the second counted as 1; empty for regression."""

    def on_rows(self, rows: NDArray[np.intp]) -> "Response":
        """The target of some rows."""
        if np.ptp(self.values[rows]) == 0:
            raise ValueError(
                f"y does not vary in {rows.size} rows drawn from {self.values.size}: too few to look at parts of them."
            )
        return _response(self.values[rows], self.task, self.classes)

    @property
    def default_neighbors(self) -> int:
        """N_I as the paper recommends: 2 for regression, 3 for two classes."""
        return 2 if self.task == "regression" else 3


def read_response(y: Any, n_rows: int, task: str = "auto") -> Response:
    """Check and encode a target of ``n_rows`` values.

    With ``task="auto"`` it is classification when y is boolean, text or categorical, or has exactly two
    distinct values.
    """
    checks.one_of("task", task, ("auto", "regression", "classification"))
    values = read_values(y)
    if len(values) != n_rows:
        raise ValueError(f"y must have one value per row of X ({n_rows}); got {len(values)}.")
    if task == "regression" and not is_numeric(values):
        raise ValueError(
            f'y must hold numbers for task="regression"; got labels such as {values[0]!r}. '
            'Use task="classification", or convert y.'
        )
    if task == "classification" or not is_numeric(values) or _few_values(np.asarray(values)):
        codes, levels = level_codes(values)
        if len(levels) == 1:
            raise ValueError(f"y must vary, but all {n_rows} values are {levels[0]!r}: only 1 class or value.")
        if task != "regression":
            return _two_classes(codes, levels)
    return _response(exact_floats(np.asarray(values)), "regression", ())


def _few_values(values: NDArray[Any]) -> bool:
    """Tell whether there are at most two distinct numbers, without sorting them."""
    return bool(((values == values.min()) | (values == values.max())).all())


def _two_classes(codes: NDArray[np.intp], levels: list[Any]) -> Response:
    if len(levels) > 2:
        raise ValueError(
            f"y has {len(levels)} classes; more than two are not supported yet. Compare one class with the "
            "rest (y == label), or convert y to numbers if it is a quantity."
        )
    classes = tuple(sorted(levels))  # scikit-learn's order
    return _response((codes == levels.index(classes[1])).astype(np.float64), "classification", classes)


def _response(numbers: NDArray[np.float64], task: Task, classes: tuple[Any, ...]) -> Response:
    with np.errstate(over="ignore", invalid="ignore"):
        centred = numbers - numbers[0]  # exact next to a large offset, unlike subtracting the mean at once
        centred -= centred.mean()
        variance = float(centred.var(ddof=1))
    if not SMALLEST_VARIANCE < variance < LARGEST_VARIANCE:
        raise ValueError(
            f"y must have a variance that float64 can hold; its values reach {np.abs(numbers).max():.3g} and "
            f"its variance comes out as {variance:.3g}. Change its units."
        )
    return Response(centred, variance, task, classes)


def read_values(y: Any) -> Values:
    """The values of a target given as a series, an array, a list or a table of one column."""
    if y is None:
        raise ValueError("FIRST requires y to be passed, but the target y is None.")
    target = y if isinstance(y, np.ndarray) else nw.from_native(y, pass_through=True, allow_series=True)
    if isinstance(target, nw.Series):
        return read_column(target, "y")
    array = target.to_numpy() if isinstance(target, nw.DataFrame) else as_array(target)
    if array.ndim == 2 and array.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning  # all of scikit-learn: only when needed

        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. It was flattened; use y.ravel().",
            DataConversionWarning,
            stacklevel=2,
        )
        array = array.ravel()
    if array.ndim != 1:
        raise ValueError(
            f"y should be a 1d array, one value per row; got shape {array.shape}. Several outputs are not "
            "supported yet: use one at a time."
        )
    return read_column(array, "y")
