"""A data frame of any library as a source."""

from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from .._utils.text import first_line
from .source import ROW, Source, typed_source


def frame_source(frame: pl.DataFrame, shown: str) -> Source:
    """A data frame as a source; its types are taken as they are."""
    return typed_source(Path(), shown, "frame", frame.lazy().with_row_index(ROW))


def to_polars(data: Any) -> pl.DataFrame:
    """A data frame of any library as one of polars."""
    frame = nw.from_native(data, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise TypeError(
            f"data must be a path, a list of paths, or a pandas, polars or pyarrow table; got {type(data).__name__}. "
            "For arrays, use FIRST().fit(X, y)."
        )
    # The order of categories, which pandas does not pass on.
    ordered = {name: dtype.categories for name, dtype in frame.schema.items() if isinstance(dtype, nw.Enum)}
    enums = {name: pl.Enum(levels) for name, levels in ordered.items() if all(isinstance(one, str) for one in levels)}
    try:
        return frame.to_polars().cast(enums)  # type: ignore[arg-type]
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"data: a column has a type that polars cannot read: {first_line(error)}") from error
