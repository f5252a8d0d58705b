"""Results as tables: a data frame of the user's choice, or aligned text."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import narwhals as nw
from numpy.typing import NDArray

from . import checks
from .text import without_controls

Backend = Literal["pandas", "polars", "pyarrow"]


def library_of(table: Any) -> Backend:
    """Return the library of a table; polars for anything that is of none of them, such as an array."""
    frame = nw.from_native(table, pass_through=True)
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
        return "polars"
    name = frame.implementation.value
    return name if name in get_args(Backend) else "pandas" if frame.implementation.is_pandas_like() else "polars"


def make_frame(columns: Mapping[str, Sequence[Any] | NDArray[Any]], backend: Backend) -> Any:
    """Return a native data frame."""
    checks.one_of("backend", backend, get_args(Backend))
    encodable = {name: [_encodable(value) for value in values] for name, values in columns.items()}
    try:
        return nw.from_dict(encodable, backend=backend).to_native()
    except ModuleNotFoundError as error:
        others = " or ".join(repr(each) for each in get_args(Backend) if each != backend)
        raise ModuleNotFoundError(
            f"a data frame of {backend} needs {backend}: pip install {backend}, or use backend={others}."
        ) from error


class Tabular(ABC):
    """Result that can be returned as a data frame."""

    @abstractmethod
    def _columns(self) -> Mapping[str, Sequence[Any] | NDArray[Any]]:
        """Return the columns of the data frame by name."""

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return the result as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default "pandas"
            Library of the data frame.

        Returns
        -------
        data frame
            A data frame of that library.
        """
        return make_frame(self._columns(), backend)


def _encodable(value: Any) -> Any:
    """Return a value unchanged, but text without lone surrogates, which no data frame can hold."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def make_text(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows of text under a header, with the first column aligned left and the others right."""
    rows = [[without_controls(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = (
        "  ".join(
            cell.ljust(width) if j == 0 else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in (header, *rows)
    )
    return "\n".join(line.rstrip() for line in lines)
