"""How numbers are written in text: decimal commas, thousands separators, currency and percent signs, parentheses."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

UNITS = ("$", "€", "£", "¥", "₹", "%")

_CURRENCY = "[$€£¥₹]"
_SPACES = " \u00a0\u2009\u202f"
_GROUPS = {"comma": ",", "apostrophe": "['’]", "space": f"[{_SPACES}]"}
_GROUPED = {kind: rf"^[-+]?[1-9]\d{{0,2}}(?:{mark}\d{{3}})+(?:\.\d+)?$" for kind, mark in _GROUPS.items()}
_ANY_GROUPED = "|".join(_GROUPED.values())

_AROUND = f"{_SPACES}\t\r\n()%$€£¥₹"

# A comma or a point that can only be a decimal one, and one that may as well separate thousands: 1,234.
_EXPONENT = r"(?:[eE][-+]?\d+)?"
_THOUSANDS = {mark: re.compile(rf"[-+]?[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+") for mark in ".,"}
_DECIMAL = {
    mark: re.compile(rf"[-+]?(?:\d*|[1-9]\d{{0,2}}(?:{re.escape(other)}\d{{3}})+){re.escape(mark)}\d+{_EXPONENT}")
    for mark, other in (".,", ",.")
}


def guess_decimal(fields: Iterable[str], separator: str) -> str | None:
    """The decimal mark of a file, from some of its fields; None where commas may be either.

    A file has one mark. A comma that cannot separate thousands is a decimal one, unless a point is as well. Where
    every comma has three digits after it, it separates thousands in files whose columns commas separate, or whose
    decimals have points; other files do not tell.
    """
    fields = list(fields)
    sure = sure_decimal(fields)
    if sure is not None or not _decimals(fields, ","):
        return sure or "."
    return "." if separator == "," else None


def sure_decimal(fields: Sequence[str]) -> str | None:
    """The mark of numbers in which it can be nothing but a decimal one; the point if both are such, None if none is."""
    sure = (mark for mark in ".," if not all(map(_THOUSANDS[mark].fullmatch, _decimals(fields, mark))))
    return next(sure, None)


def _decimals(fields: Iterable[str], mark: str) -> list[str]:
    """The fields that are numbers if this is the decimal mark, and have it."""
    return [number for field in fields if _DECIMAL[mark].fullmatch(number := field.strip(_AROUND))]


def in_english(value: pl.Expr, decimal: str) -> pl.Expr:
    """Text without blanks around it, and with a point where a number has its decimal mark."""
    value = value.str.strip_chars()
    return value if decimal == "." else value.str.replace_many([".", ","], [",", "."])


def as_number(value: pl.Expr) -> pl.Expr:
    """The number that a text is, null where it is none."""
    return value.cast(pl.Float64, strict=False)


def undecorated(value: pl.Expr) -> pl.Expr:
    """Text in English without units and thousands separators; parentheses become minus signs."""
    value = value.str.replace(r"^\(([^-+()]+)\)$", "-${1}")
    value = value.str.replace(rf"^([-+]?){_CURRENCY}\s?", "${1}").str.replace(rf"\s?(?:{_CURRENCY}|%)$", "")
    grouped = value.str.contains(_ANY_GROUPED)
    return pl.when(grouped).then(value.str.replace_all(rf"[,'’{_SPACES}]", "")).otherwise(value)


def decorations(value: pl.Expr) -> dict[str, pl.Expr]:
    """Which of the values, in English, have which unit, kind of thousands separator, or parentheses."""
    bare = value.str.replace_all(rf"[()+-]|{_CURRENCY}|%", "").str.strip_chars()
    return {
        **{unit: value.str.contains(unit, literal=True) for unit in UNITS},
        **{kind: bare.str.contains(pattern) for kind, pattern in _GROUPED.items()},
        "parentheses": value.str.starts_with("("),
    }


def removed(found: Mapping[str, Any], present: int) -> tuple[str, ...] | None:
    """Say what is done to read ``present`` values as numbers; None if they are not written in one way.

    ``found`` has how many values have each of the `decorations`.
    """
    units = [unit for unit in UNITS if found[unit]]
    groups = [kind for kind in _GROUPS if found[kind]]
    if len(units) > 1 or len(groups) > 1 or any(found[unit] < present for unit in units):
        return None
    marks = units + (["thousands separators"] if groups else [])
    done = (f"{' and '.join(marks)} removed",) if marks else ()
    return (*done, "parentheses taken for minus signs") if found["parentheses"] else done
