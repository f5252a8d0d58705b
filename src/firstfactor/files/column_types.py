"""What one column of a file holds: whether it can be a factor, and why not."""

from dataclasses import dataclass
from typing import Literal

import polars as pl

from . import dates
from .source import Source

# What stands for a value that is missing, in files that do not make sure what a column holds.
MISSING = ("", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL")

# Text with more different values than this, and than half of its rows, names rows instead of sorting them.
MOST_LEVELS = 20

Holds = Literal["numbers", "text", "dates", "other"]


@dataclass(frozen=True)
class Column:
    """What one column holds."""

    name: str
    holds: Holds
    n_rows: int
    missing: int = 0
    first_missing: int | None = None
    """The row of the first missing value."""
    levels: int = 0
    """How many different values a text, or a column of whole numbers without a name, has."""
    counts_rows: bool = False
    """Whether the values are those of the row number, from any start."""
    unnamed: bool = False
    """Whether the file has no name for it."""
    large: bool = False
    """Whether these are whole numbers that float64 cannot tell from their neighbours."""
    removed: tuple[str, ...] | None = None
    """What is done to read a text as numbers; None if it is not read so."""
    writing: dates.Writing | None = None
    """How dates that are text are written; None if these are not, or not all in one way."""
    unreadable: str = ""
    """Why dates that are text cannot be read."""
    number_like: str = ""
    """The first value that is no number, of labels most of which are."""
    trimmed: bool = False
    """Whether blanks around labels are left out."""
    differ_in_blanks: bool = False
    """Whether blanks around labels are kept, because some labels differ in nothing else."""
    gaps_count: bool = True
    """Whether a missing value is a value like others, and no reason to leave out rows."""

    @property
    def present(self) -> int:
        """How many values are not missing."""
        return self.n_rows - self.missing

    @property
    def why_left_out(self) -> str | None:
        """Say in a few words why this cannot be a factor, if so."""
        present = self.present
        if present == 0:
            return "no values"
        if self.unreadable:
            return self.unreadable
        if self.holds == "other":
            return "neither numbers nor text"
        if self.holds == "text" and self.names_rows:
            every = "" if self.levels < present else "text, all different"
            return every or f"text, {self.levels:,} different values in {present:,} rows"
        if self.unnamed and self.counts_rows:  # what data frames write as their index
            return "counts the rows"
        if self.unnamed and self.levels == present > 2:  # the same after rows were taken out
            return "no name, all different"
        return None

    @property
    def names_rows(self) -> bool:
        """Whether so many values are different that they tell rows apart instead of sorting them."""
        counted = self.n_rows if self.gaps_count else self.present
        if self.levels == self.present > 2 and self.present > counted / 2:
            return True
        return self.levels > max(MOST_LEVELS, counted / 2)

    @property
    def can_be_number(self) -> bool:
        """Whether its values can be a factor as numbers, if that is asked for."""
        return self.holds in ("numbers", "dates") and self.present > 0 and not self.unreadable

    @property
    def can_be_category(self) -> bool:
        """Whether its values can be a factor as labels, if that is asked for."""
        return self.holds != "other" and self.present > 0


def is_missing(name: str, source: Source) -> pl.Expr:
    """Tell which values of a column are missing."""
    column = source.column(name)
    if source.dtypes[name] == pl.String and source.loose:
        return column.is_null() | column.str.strip_chars().is_in(MISSING)
    if source.dtypes[name].is_float():
        return column.is_null() | column.is_nan()
    return column.is_null()
