"""Encoding of the response: numbers centred, classes as indicators, several outputs side by side.

A response has one or more columns, whose variances add up.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from .._utils import checks
from .._utils.checks import InputError, InputTypeError, Mention, Message
from .columns import Column, Label, as_array, exact_floats, is_numeric, level_codes, read_column
from .constants import LARGEST_CLASSES, MOST_CLASSES, MOST_RARE_CLASSES

Task = Literal["regression", "classification"]
Floats = NDArray[np.float64]

# Variances outside this range underflow or overflow in later computations.
SMALLEST_VARIANCE, LARGEST_VARIANCE = 1e-290, 1e290

# Minimum share of the weight outside a single row: less is lost in rounding.
LEAST_OTHERS = 1e-9


@dataclass(frozen=True)
class Response:
    """Response of one table: one or more columns."""

    values: Floats
    """Centred values, (rows, columns)."""
    variance: float
    """Sum of the sample variances (ddof = 1) of all columns."""
    task: Task
    classes: tuple[Any, ...] = ()
    """Class labels in order; empty for regression and for several outputs. Two classes are one column, 1 for the second
    before centring; more are one column each, whose summed variance is the Gini impurity."""
    names: tuple[str, ...] = ("y",)
    """Name of each output."""
    n_values: int = 0
    """Number of distinct values of an integer response if they are as few as classes; otherwise 0."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    @property
    def codes(self) -> NDArray[np.intp]:
        """Index of each row's class, (rows,); all 0 without classes."""
        if not self.classes:
            return np.zeros(self.n_rows, np.intp)
        if len(self.classes) == 2:
            return (self.values[:, 0] > 0).astype(np.intp)
        codes: NDArray[np.intp] = np.argmax(self.values, axis=1)
        return codes

    def on_rows(self, rows: NDArray[np.intp], weights: Floats | None = None) -> "Response":
        """Return the response of some rows."""
        if not np.ptp(self.values[rows], axis=0).any():
            raise InputError(
                "{y} does not vary in {few} rows drawn from {n_rows}: too few to look at parts of them.",
                few=rows.size,
                n_rows=self.n_rows,
            )
        values, variance = centre_columns(self.values[rows], weights)
        return replace(self, values=values, variance=variance)

    @property
    def default_neighbors(self) -> int:
        """Default number of neighbours N_I of the paper: 2 for regression, 3 for classification."""
        return 2 if self.task == "regression" else 3


@dataclass(frozen=True)
class RawResponse:
    """Outputs as given, before encoding."""

    columns: tuple[Column, ...]
    names: tuple[str, ...]

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Mask of the rows that lack an output, (rows,)."""
        lacking = np.zeros(len(self.columns[0]), dtype=bool)
        for column in self.columns:
            if column.missing is not None:
                lacking |= column.missing
        return lacking

    def on_rows(self, rows: NDArray[np.intp]) -> "RawResponse":
        """Return some rows, none of which lacks an output."""
        return replace(self, columns=tuple(_take(column, rows) for column in self.columns))

    def encode(
        self,
        task: str = "auto",
        response_scale: str = "values",
        output_weights: Sequence[float] | None = None,
        weights: Floats | None = None,
    ) -> Response:
        """Encode the response; with ``task="auto"``, text, booleans, categories and two values are classes."""
        checks.one_of("task", task, ("auto", "regression", "classification"))
        outputs = [_read_output(column.values, task, response_scale, weights) for column in self.columns]
        shares = _output_shares(output_weights, len(outputs))
        if len(outputs) == 1:
            return replace(outputs[0], names=self.names)
        scaled = [
            output.values * np.sqrt(share / output.variance) for output, share in zip(outputs, shares, strict=True)
        ]
        is_quantity = any(output.task == "regression" for output in outputs)
        return Response(
            np.ascontiguousarray(np.hstack(scaled)),
            float(shares.sum()),
            "regression" if is_quantity else "classification",
            names=self.names,
        )


def read_target(y: Any, n_rows: int) -> RawResponse:
    """Read outputs given as a series, an array, a list or a table with one entry per row."""
    target = _open_target(y)
    if len(target.columns[0]) != n_rows:
        raise InputError(
            "{y} must have one value per row{ of X} ({n_rows}); got {found}.",
            n_rows=n_rows,
            found=len(target.columns[0]),
        )
    return target


def _open_target(y: Any) -> RawResponse:
    if y is None:
        raise ValueError("FIRST requires y to be passed, but the target y is None.")
    if isinstance(y, str):
        raise InputTypeError(
            "{y} must hold one value for each row; got the text {name!r}. Only rank takes the name of a column: "
            "rank(table, {name!r}).",
            name=y,
        )
    target = y if isinstance(y, np.ndarray) else nw.from_native(y, pass_through=True, allow_series=True)
    if isinstance(target, nw.Series):
        return RawResponse(
            (_read(target, Mention("y")),), (str(target.name) if target.name not in (None, "") else "y",)
        )
    if isinstance(target, nw.DataFrame) and target.shape[1] > 1:
        names = tuple(str(name) for name in target.columns)
        columns = zip(names, target.iter_columns(), strict=True)
        return RawResponse(tuple(_read(column, _label(name)) for name, column in columns), names)
    array = target.to_numpy() if isinstance(target, nw.DataFrame) else as_array(target)
    names = (str(target.columns[0]),) if isinstance(target, nw.DataFrame) and target.shape[1] else ("y",)
    if array.ndim == 2 and array.shape[1] == 1:
        _warn_of_column_vector()
        array = array.ravel()
    if array.ndim == 1:
        return RawResponse((_read(array, Mention("y")),), names)
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(
            f"y should be a 1d array, one value per row, or have a column for each output; got shape {array.shape}."
        )
    columns_of_array = [_read(column, _label(k)) for k, column in enumerate(array.T)]
    return RawResponse(tuple(columns_of_array), tuple(f"y{k}" for k in range(array.shape[1])))


def _warn_of_column_vector() -> None:
    from sklearn.exceptions import DataConversionWarning  # imports all of scikit-learn: only when needed

    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. It was flattened; use y.ravel().",
        DataConversionWarning,
        stacklevel=2,
    )


def _label(column: str | int) -> Message:
    """Return what to call an output, given its name or its position."""
    return Message("column {column!r} of {y}", column=column)


def _read(column: Any, label: Label) -> Column:
    read = read_column(column, label)
    if read.temporal:
        raise InputTypeError(
            "{label} holds dates or times. Turn it into numbers, such as days since a start.", label=label
        )
    return read


def _take(column: Column, rows: NDArray[np.intp]) -> Column:
    """Return some rows of a column, all of which have a value."""
    position = rows if column.missing is None else (np.cumsum(~column.missing) - 1)[rows]
    values = column.values
    taken = values[position] if isinstance(values, np.ndarray) else replace(values, codes=values.codes[position])
    return Column(taken)


def _read_output(values: Any, task: str, response_scale: str, weights: Floats | None) -> Response:
    """Return one output as a response of its own."""
    if task == "regression" and not is_numeric(values):
        raise InputError(
            '{y} must hold numbers for {task="regression"}; got labels such as {value!r}. Use '
            '{task="classification"}, or convert {y}.',
            value=values[0],
        )
    if task == "classification" or not is_numeric(values) or _has_two_values(values):
        codes, levels = level_codes(values)
        present = np.unique(codes)
        if present.size == 1:
            raise InputError(
                "{y} must vary, but all {number} values are {value!r}: only 1 class or value.",
                number=len(values),
                value=levels[present[0]],
            )
        if task != "regression":
            return _encode_classes(codes, levels, present, response_scale, weights)
    numbers = exact_floats(values)
    scores = _transform(numbers, response_scale)
    encoded = _quantity(scores[:, None], weights)
    return replace(encoded, n_values=_count_few_values(numbers))


def _has_two_values(values: Any) -> bool:
    """Return True if there are at most two distinct numbers, without sorting them."""
    numbers = values.codes if not isinstance(values, np.ndarray) else values
    return bool(((numbers == numbers.min()) | (numbers == numbers.max())).all())


def _count_few_values(numbers: Floats) -> int:
    """Return the number of distinct integers if they are few, otherwise 0."""
    if numbers.size and np.ptp(numbers) < 100 and (numbers == np.floor(numbers)).all():
        count = np.unique(numbers).size
        if 2 < count <= MOST_CLASSES and count < numbers.size / 5:
            return int(count)
    return 0


def _encode_classes(
    codes: NDArray[np.intp], levels: list[Any], present: NDArray[np.intp], response_scale: str, weights: Floats | None
) -> Response:
    if present.size > max(MOST_RARE_CLASSES, codes.size / 2) or present.size > LARGEST_CLASSES:
        raise InputError(
            "{y} has {n_classes:,} classes in {n_rows:,} rows: too many to tell apart. Pool the rare ones, or convert "
            "{y} to numbers if it is a quantity.",
            n_classes=present.size,
            n_rows=codes.size,
        )
    if response_scale != "values":
        raise InputError(
            "{setting} is for quantities; {y} has classes. Leave it out, or convert {y}.",
            setting=Mention("response_scale", f'"{response_scale}"'),
        )
    kinds = sorted({type(levels[code]).__name__ for code in present})
    try:
        order = sorted(present.tolist(), key=lambda code: levels[code])  # scikit-learn's order
    except TypeError as error:
        raise InputTypeError(
            "{y} must have labels of one kind, all numbers or all text; got {kinds}.", kinds=", ".join(kinds)
        ) from error
    rank = np.zeros(len(levels), np.intp)
    rank[order] = np.arange(len(order))
    number = rank[codes]
    wanted = [1] if len(order) == 2 else range(len(order))
    indicators = np.column_stack([number == k for k in wanted]).astype(np.float64)
    values, variance = centre_columns(indicators, weights)
    return Response(values, variance, "classification", tuple(levels[code] for code in order))


def _transform(numbers: Floats, response_scale: str) -> Floats:
    """Return a numeric response unchanged, as ranks or as normal scores, (rows,)."""
    if response_scale == "values":
        return numbers
    return mid_ranks(numbers) if response_scale == "ranks" else normal_scores(numbers)


def mid_ranks(y: Floats) -> Floats:
    """Return the rank of each value, starting at 0.5, with mean ranks for ties: (rows,)."""
    _, value, times = np.unique(y, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(times) - times / 2)[value]
    return ranks


def normal_scores(y: Floats) -> Floats:
    """Return normal scores of y, (rows,): normal quantiles at its ranks, so that outliers do not dominate."""
    from scipy.special import ndtri  # slow to import, and rarely needed

    scores: Floats = ndtri(mid_ranks(y) / y.size)
    scores -= scores.mean()
    return scores


def _quantity(numbers: Floats, weights: Floats | None) -> Response:
    values, variance = centre_columns(numbers, weights)
    if not SMALLEST_VARIANCE < variance < LARGEST_VARIANCE:
        raise InputError(
            "{y} must have a variance that float64 can hold; its values reach {largest:.3g} and its variance comes out "
            "as {variance:.3g}. Change its units.",
            largest=np.abs(numbers).max(),
            variance=variance,
        )
    return Response(values, variance, "regression")


def centre_columns(numbers: Floats, weights: Floats | None) -> tuple[Floats, float]:
    """Centre columns, (rows, columns); return them and the sum of their variances.

    With weights the variance is Σw(y − ȳ)² / (Σw − Σw²/Σw), which equals the sample variance if all weights are equal.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        # Exact next to a large offset, unlike subtracting the mean. Sums along contiguous columns lose the fewest
        # digits.
        centred = np.ascontiguousarray((numbers - numbers[0]).T)
        if weights is None:
            centred -= centred.mean(axis=1, keepdims=True)
            variance = centred.var(axis=1, ddof=1).sum()
        else:
            total = weights.sum()
            others = total - weights @ weights / total
            if others < LEAST_OTHERS * total:
                raise InputError(
                    "{sample_weight} must be shared by several rows; one of {n_rows:,} has nearly all of it.",
                    n_rows=weights.size,
                )
            centred -= (centred @ weights)[:, None] / total
            variance = (centred**2 @ weights).sum() / others
    return np.ascontiguousarray(centred.T), float(variance)


def _output_shares(output_weights: Sequence[float] | None, n_outputs: int) -> Floats:
    """Return the share of each output, (outputs,); they sum to 1."""
    if output_weights is None:
        return np.full(n_outputs, 1 / n_outputs)
    try:
        given = list(output_weights)
    except TypeError as error:
        raise InputTypeError(
            "{output_weights} must be a list of numbers; got {given!r}.", given=output_weights
        ) from error
    shares: Floats = np.array([checks.number("output_weights", weight, 0.0) for weight in given])
    if shares.size != n_outputs or not shares.any():
        raise InputError(
            "{output_weights} must hold a number for each output ({n_outputs}), at least one above 0; got {given!r}.",
            n_outputs=n_outputs,
            given=given,
        )
    shares /= shares.max()  # the sum of huge weights would overflow
    shares /= shares.sum()
    return shares
