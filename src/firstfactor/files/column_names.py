"""Names of columns: read from headers, found by what was asked for, and listed in messages."""

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase


def name_columns(header: Sequence[str], shown: str, loose: bool = True) -> tuple[list[str], frozenset[str]]:
    """Return a name for each column, and which of the names are made up.

    Names are without needless blanks where ``loose``, unless two of them would become one.
    """
    tidy = [tidy_name(name) for name in header]
    differ_in_blanks = len({*tidy, ""}) < len({name for name in header if name.strip()} | {""})
    if differ_in_blanks or not loose:
        tidy = [name if name.strip() else "" for name in header]
    names = [name or f"column {number}" for number, name in enumerate(tidy, start=1)]
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if twice is not None:
        raise ValueError(f"two columns of {shown} have the name {twice!r}. Rename one.")
    return names, frozenset(name for name, given in zip(names, tidy, strict=True) if not given)


def tidy_name(name: str) -> str:
    """A name with one blank where it has several or a line break, and none around it."""
    return " ".join(name.split())


def match_names(option: str, wanted: Iterable[str], names: Sequence[str], shown: str) -> list[str]:
    """The columns that names and globs stand for, in the order of the table; several may share a comma."""
    found: set[str] = set()
    for pattern in split_names(wanted, names):
        matches = [pattern] if pattern in names else [name for name in names if fnmatchcase(name, pattern)]
        if not matches:
            raise ValueError(unknown_column(option, pattern, names, shown))
        found.update(matches)
    return [name for name in names if name in found]


def split_names(wanted: Iterable[str], names: Sequence[str]) -> list[str]:
    """Names and globs one by one, where several share a comma that is not part of a name."""
    return [
        part if part in names else tidy_name(part)
        for entry in wanted
        for part in ([entry] if entry in names else entry.split(","))
    ]


def unknown_column(option: str, name: str, names: Sequence[str], shown: str) -> str:
    """Word the error for a column that does not exist, with the nearest ones that do."""
    by_folded = {candidate.casefold(): candidate for candidate in reversed(names)}
    near = [by_folded[match] for match in difflib.get_close_matches(name.casefold(), by_folded, n=3)]
    way_out = f"Did you mean {quote_names(near, 'or')}?" if near else f"The columns are: {quote_names(names)}."
    return f"{option}: {shown} has no column {name!r}. {way_out}"


def quote_names(names: Sequence[str], last: str = "and", most: int = 8) -> str:
    """Names in quotes as a list in words."""
    shown = [repr(name) for name in names[:most]]
    if len(names) > most:
        shown.append(f"{len(names) - most} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {last} {shown[-1]}"


def in_quotes(value: str) -> str:
    """A value as it is typed in a shell, always in quotes."""
    return "'" + value.replace("'", "'\"'\"'") + "'"
