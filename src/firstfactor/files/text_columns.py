"""What columns of text hold, and CSV files have no others: numbers, dates, labels, or numbers with something wrong."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from ..data.columns import EXACT_INTEGERS
from . import dates
from .column_names import in_quotes
from .column_types import Column, is_missing
from .numerals import as_number, decorations, removed, undecorated
from .source import ROW, Source, ask_by_column, count_whole, first_row, say_infinite

# Text in which this share of the values are numbers is taken for numbers with something wrong.
MOSTLY = 0.9

# Text in which this share of the values are numbers, and all others one mark without letters, has marks for gaps.
OFTEN = 0.5
_MARK = r"^[^\p{L}\p{N}]+$"

# What every number has in it.
_NUMBER_LIKE = "[0-9]|[iI][nN][fF]|[nN][aA][nN]"

# Text with so few different values, some of which are numbers, has labels instead of numbers with something wrong.
FEW_LEVELS = 10


def look_at_text(source: Source, names: Sequence[str], as_text: set[str]) -> dict[str, Column]:
    """First count the numbers; only columns with other values get a closer look, since that takes longer."""
    if not names:
        return {}

    def numbers(some: Sequence[str]) -> pl.LazyFrame:
        # Converted in a step of its own, once: within the questions, each would convert anew.
        return source.frame.select(
            pl.col(ROW).cast(pl.Float64), *(as_number(source.numeral(name)).name.keep() for name in some)
        )

    def questions(name: str) -> dict[str, pl.Expr]:
        # Rows are numbered as in the file, blank lines included, so a gap there hides that a column counts them.
        number, offset = source.column(name), source.column(name) - pl.col(ROW)
        return {
            "finite": number.is_finite().sum(),
            "low": offset.min(),
            "high": offset.max(),
            "largest": number.abs().max(),
            **({"levels": count_whole(number)} if name in source.unnamed else {}),
        }

    n_rows, found = ask_by_column(source, names, questions, numbers)
    clean = {
        name: Column(
            name,
            "numbers",
            n_rows,
            levels=found[name].get("levels", 0),
            counts_rows=found[name]["low"] == found[name]["high"] and n_rows > 1,
            unnamed=name in source.unnamed,
            removed=(),
        )
        for name in names
        if found[name]["finite"] == n_rows > 0 and (source.loose or name not in as_text)
    }
    columns = clean | _look_closer(source, [name for name in names if name not in clean], as_text)
    large = [name for name in names if columns[name].removed == () and (found[name]["largest"] or 0) > EXACT_INTEGERS]
    return columns | _look_at_large(source, [columns[name] for name in large])


def _look_at_large(source: Source, columns: Sequence[Column]) -> dict[str, Column]:
    """Find out which of these columns of large numbers hold whole ones, and whether those count the rows."""
    if not columns:
        return {}

    def questions(name: str) -> dict[str, pl.Expr]:
        integer = source.numeral(name).cast(pl.Int128, strict=False)
        offset = integer - pl.col(ROW).cast(pl.Int128)
        whole = integer.is_not_null() | is_missing(name, source)
        return {"whole": whole.all(), "counts": offset.min() == offset.max()}

    n_rows, found = ask_by_column(source, [column.name for column in columns], questions)
    return {
        column.name: replace(
            column, large=True, counts_rows=found[column.name]["counts"] and not column.missing and n_rows > 1
        )
        for column in columns
        if found[column.name]["whole"]
    }


def _look_closer(source: Source, names: Sequence[str], as_text: set[str]) -> dict[str, Column]:
    """Tell numbers with gaps, dates and text apart; only text with digits gets the questions that take longest."""
    missing = {name: is_missing(name, source) for name in names}

    def questions(name: str) -> dict[str, pl.Expr]:
        number = as_number(source.numeral(name))
        return {
            "missing": missing[name].sum(),
            "first_missing": first_row(missing[name]),
            "numbers": (number.is_not_null() & ~missing[name]).sum(),
            "first_infinite": first_row(number.is_infinite() & ~missing[name]),
            "dates": (source.column(name).str.strip_chars().str.contains(dates.DATE) & ~missing[name]).sum(),
        }

    def questions_on_text(name: str) -> dict[str, pl.Expr]:
        text = source.column(name).filter(~missing[name])
        return {
            "levels": text.n_unique(),
            "levels_trimmed": text.str.strip_chars().n_unique(),
            "number_like": text.str.contains(_NUMBER_LIKE).any(),
        }

    def questions_on_numerals(name: str) -> dict[str, pl.Expr]:
        value, numeral = source.column(name).str.strip_chars(), source.numeral(name)
        odd = as_number(undecorated(numeral)).is_null() & ~missing[name]
        return {
            "odd": odd.sum(),
            "first_odd": first_row(odd),
            "odd_levels": value.filter(odd).n_unique(),
            "marks": value.filter(odd).str.contains(_MARK).all(),
            **{key: (which & ~missing[name]).sum() for key, which in decorations(numeral).items()},
        }

    n_rows, found = ask_by_column(source, names, questions)
    columns = {name: _judge_numbers(source, name, n_rows, found[name]) for name in names}
    columns |= _look_at_dates(source, [column for column in columns.values() if column.holds == "dates"])
    filled = [name for name in names if columns[name].present]
    texts = [name for name in filled if columns[name].holds == "text" or name in as_text]
    _, labels = ask_by_column(source, texts, questions_on_text)
    columns |= {name: _judge_labels(source, columns[name], labels[name]) for name in texts}
    numerals = [name for name in texts if labels[name]["number_like"] and name not in as_text]
    _, more = ask_by_column(source, numerals, questions_on_numerals)
    return columns | {name: _judge_numerals(source, columns[name], more[name]) for name in numerals}


def _look_at_dates(source: Source, columns: Sequence[Column]) -> dict[str, Column]:
    """Find out how dates are written, and whether all can be read so."""
    names = [column.name for column in columns]
    texts = {name: pl.when(~is_missing(name, source)).then(source.column(name).str.strip_chars()) for name in names}
    _, found = ask_by_column(source, names, lambda name: dates.questions(texts[name]))
    written = {column.name: dates.find_writing(found[column.name], column.present) for column in columns}
    some = {name: writing for name, writing in written.items() if writing is not None}
    odd = {name: _first_odd(texts[name], writing.read(texts[name])) for name, writing in some.items()}
    _, faults = ask_by_column(source, [*some], lambda name: {"odd": odd[name]})
    unreadable = {name: f"dates, but {fault['odd']!r} is none" for name, fault in faults.items() if fault["odd"]}
    mixed = "dates that are not all written in one way"
    return {
        column.name: replace(
            column,
            writing=written[column.name],
            unreadable=unreadable.get(column.name, "") if column.name in some else mixed,
        )
        for column in columns
    }


def _first_odd(text: pl.Expr, read: pl.Expr) -> pl.Expr:
    """The first text that could not be read, or null."""
    return text.filter(text.is_not_null() & read.is_null()).first()


def _judge_numbers(source: Source, name: str, n_rows: int, found: dict[str, Any]) -> Column:
    column = Column(name, "text", n_rows, found["missing"], found["first_missing"])
    if column.present and found["dates"] == column.present:
        return replace(column, holds="dates")
    if column.present and found["numbers"] == column.present:
        if found["first_infinite"] is not None:
            raise ValueError(say_infinite(source, name, found["first_infinite"]))
        return replace(column, holds="numbers", removed=())
    return column


def _judge_labels(source: Source, column: Column, found: dict[str, Any]) -> Column:
    differ_in_blanks = source.loose and found["levels_trimmed"] < found["levels"]
    return replace(
        column,
        holds="text",
        levels=found["levels"],
        removed=None,
        trimmed=source.loose and not differ_in_blanks,
        differ_in_blanks=differ_in_blanks,
    )


def _judge_numerals(source: Source, text: Column, found: dict[str, Any]) -> Column:
    """Tell whether labels, some of which are numbers, are numbers that are written with something else."""
    numbers = text.present - found["odd"]
    taken_away = removed(found, numbers)
    if not numbers or taken_away is None:
        return text
    if numbers == text.present:
        return replace(text, holds="numbers", removed=taken_away)
    enough = OFTEN if found["odd_levels"] == 1 and found["marks"] else MOSTLY
    if not source.loose or numbers < enough * text.present:
        return text
    row = pl.col(ROW) == found["first_odd"]
    value = source.collect(source.frame.filter(row).select(source.column(text.name))).item().strip()
    if text.levels <= min(FEW_LEVELS, text.present / FEW_LEVELS) and not found["marks"]:
        return replace(text, number_like=value)
    raise ValueError(_stray_text(source, text, value, found))


def _stray_text(source: Source, column: Column, value: str, found: dict[str, Any]) -> str:
    count, row = found["odd"], found["first_odd"]
    others = "" if count == 1 else f" and {count - 1:,} more"
    is_mark = found["odd_levels"] == 1 and (count > 1 or found["marks"])
    way_out = f"Use na={in_quotes(value)} if it stands for missing values, correct" if is_mark else "Correct"
    return (
        f"column {column.name!r} of {source.shown} holds numbers, but for {value!r} on {source.place(row)}{others}, of "
        f"{column.present:,} values. {way_out} the file, leave the column out (drop=), or take all as labels "
        "(categorical=)."
    )
