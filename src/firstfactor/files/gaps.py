"""Missing values: counted, refused, or their rows left out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_

import polars as pl

from .inventory import ColumnInfo, is_missing
from .roles import Roles
from .source import ROW, Source

# Neighbourhoods have two rows, or three for classes.
FEWEST_ROWS = 3

# So many columns with missing values are named.
MOST_NAMED = 10


@dataclass(frozen=True)
class Dropped:
    """Rows that were left out for missing values."""

    no_target: int = 0
    incomplete: int = 0
    """Rows with a missing value in a factor, where these are dropped."""
    costs: tuple[tuple[str, int], ...] = ()
    """The columns that cost rows, and how many values each lacks, the worst first."""

    def sentences(self, response: str, n_left: int) -> list[str]:
        """What was left out and why, and what is left of the table."""
        told = []
        if self.no_target:
            told.append(
                f"{_count_rows(self.no_target)} without a value of {response} {_were(self.no_target)} left out."
            )
        if self.incomplete:
            before = n_left + self.incomplete
            told.append(
                f"{_count_rows(self.incomplete)} with missing values {_were(self.incomplete)} left out "
                f"({say_missing(self.costs)}); {n_left:,} of {before:,} are left."
            )
        return told


def _count_rows(count: int) -> str:
    return f"{count:,} row{'s' if count > 1 else ''}"


def _were(count: int) -> str:
    return "were" if count > 1 else "was"


def refuse_missing(source: Source, columns: Sequence[ColumnInfo], targets: Sequence[str]) -> None:
    """Refuse columns with missing values, unless all are in rows without a target."""
    gaps = _most_missing_first(columns)
    if not gaps:
        return
    n_rows, _ = find_gaps(source, [column.name for column in gaps], targets)
    if not n_rows:  # all in rows without a target, which are left out anyway
        return
    worst = gaps[0]
    where = f" ({'first ' if worst.missing > 1 else ''}on {source.place(worst.first_missing or 0)})"
    if len(gaps) == 1:
        what = f"column {worst.name!r} of {source.shown} has {count_missing(worst.missing)}{where}"
    else:
        counts = [(column.name, column.missing) for column in gaps]
        what = f"{len(gaps):,} columns of {source.shown} have missing values: {say_missing(counts, where)}"
    raise ValueError(
        f'{what}. Use missing="level" to take "not known" for a value of its own, missing="drop" to leave out the '
        f"{n_rows:,} of {worst.n_rows:,} rows with missing values, or drop= to leave out columns."
    )


def find_gaps(source: Source, names: Sequence[str], targets: Sequence[str]) -> tuple[int, int]:
    """How many rows that have a target lack a value in some columns, and the first of them."""
    known = ~pl.any_horizontal([is_missing(name, source) for name in targets])
    if len(names) > source.at_once:
        return _find_in_turn(source, names, known)
    gap = known & pl.any_horizontal([is_missing(name, source) for name in names])
    asked = source.frame.select(gap.sum().alias("count"), pl.when(gap).then(pl.col(ROW)).min().alias("row"))
    count, row = source.collect(asked).row(0)
    return count, row or 0


def _find_in_turn(source: Source, names: Sequence[str], known: pl.Expr) -> tuple[int, int]:
    """The same, of so many columns that all at once may not fit into memory."""
    found = source.collect(source.frame.select(pl.col(ROW), known.alias("known")))
    gap = pl.Series([False]).new_from_index(0, len(found))
    for start in range(0, len(names), source.at_once):
        some = pl.any_horizontal([is_missing(name, source) for name in names[start : start + source.at_once]])
        gap |= source.collect(source.frame.select(some.alias("gap"))).to_series()
    rows = found.get_column(ROW).filter(gap & found.get_column("known"))
    return len(rows), int(rows[0]) if len(rows) else 0


def count_missing(missing: int) -> str:
    """A number of missing values in words."""
    return f"{missing:,} missing value{'s' if missing > 1 else ''}"


def _most_missing_first(columns: Iterable[ColumnInfo]) -> list[ColumnInfo]:
    return sorted((column for column in columns if column.missing), key=lambda column: -column.missing)


def say_missing(gaps: Sequence[tuple[str, int]], where: str = "", most: int = MOST_NAMED) -> str:
    """Say how many values are missing in which column, and for the first one where."""
    counts = [f"{name!r} {missing:,}" for name, missing in gaps[:most]]
    more = [f"and {len(gaps) - most:,} columns more"] if len(gaps) > most else []
    return ", ".join([counts[0] + where, *counts[1:], *more])


def drop_rows(frame: pl.DataFrame, roles: Roles, drop_incomplete: bool) -> tuple[pl.DataFrame, Dropped]:
    """The rows with a target, and if wanted without any missing value; and how many others there were."""
    known = _complete(frame, roles.targets)
    no_target = len(frame) - len(known)
    if not drop_incomplete:
        return known, Dropped(no_target)
    factors = [name for name in frame.columns if name not in roles.others]
    costs = count_costs([(name, known.get_column(name).null_count()) for name in factors])
    complete = _complete(known, factors)
    return complete, Dropped(no_target, len(known) - len(complete), costs)


def count_costs(gaps: Sequence[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """The columns that lack values, and how many each, the worst first."""
    return tuple(sorted(((name, count) for name, count in gaps if count), key=lambda gap: -gap[1]))


def _complete(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """The rows that lack no value in some columns."""
    # Methods of polars take a name such as ^x$ for a pattern.
    columns = [frame.get_column(name).alias("") for name in names]
    known = [column.is_not_null() for column in columns if column.null_count()]
    return frame.filter(reduce(and_, known)) if known else frame


def refuse_few_rows(source: Source, n_rows: int, n_left: int, dropped: Dropped) -> None:
    """Refuse what is left of a table if that is too little, and say where its rows went."""
    if n_left >= FEWEST_ROWS:
        return
    if n_left == n_rows:
        raise ValueError(
            f"{source.shown} has {n_left} row{'s' if n_left > 1 else ''}; at least {FEWEST_ROWS} are needed."
        )
    why = ""
    if dropped.no_target:
        why += f" {dropped.no_target:,} have no value of the target."
    if dropped.costs:
        why += f' Missing values: {say_missing(dropped.costs)}. Use missing="level" to keep these rows.'
    raise ValueError(f"{n_left} of {n_rows:,} rows of {source.shown} are left; at least {FEWEST_ROWS} are needed.{why}")
