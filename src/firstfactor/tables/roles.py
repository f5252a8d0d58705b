"""The roles of columns: targets, factors, weights and groups of rows; and options about factors by name."""

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, NamedTuple

from .._utils.checks import InputError, Mention, Message
from .._utils.text import in_quotes, quote_names
from ..settings import RankSettings
from .inventory import ColumnInfo
from .source import Source, tidy_name

# Maximum number of columns that an error names.
MOST_NAMED = 9


class Request(NamedTuple):
    """Requested part of a table, and options about its columns."""

    target: str | Sequence[str] | None
    settings: RankSettings = RankSettings()

    @property
    def categorical(self) -> list[str]:
        """Names and globs of the columns to take as categories."""
        return as_list(self.settings.categorical)

    @property
    def asked(self) -> dict[str, list[str]]:
        """Names and globs that stand for columns, by the parameter that has them; no column named is left out."""
        settings, scale = self.settings, self.settings.scale
        return {
            "categorical": self.categorical,
            "factors": as_list(settings.factors),
            "factor_groups": [name for names in (settings.factor_groups or {}).values() for name in as_list(names)],
            "period": list(settings.period or ()),
            "scale": [] if isinstance(scale, bool) else list(scale),
            "forced": as_list(settings.forced),
        }


@dataclass(frozen=True)
class Roles:
    """The roles of the columns of a table, by name."""

    targets: tuple[str, ...]
    weight: str | None
    groups: str | None
    factors: tuple[str, ...]
    categorical: frozenset[str]

    @property
    def others(self) -> dict[str, str]:
        """The roles of columns that are not factors, in words."""
        rows = {self.weight: "the weight of rows", self.groups: "the column of groups"}
        return dict.fromkeys(self.targets, "the target") | {name: what for name, what in rows.items() if name}


def as_list(names: Any) -> list[str]:
    """Return names as a list, given one, several or None."""
    return [names] if isinstance(names, str) else list(() if names is None else names)


def match_names(option: str, wanted: Iterable[str], names: Sequence[str], shown: str) -> list[str]:
    """Return the columns that names and globs stand for, in the order of the table; commas separate several."""
    found: set[str] = set()
    for pattern in split_names(wanted, names):
        matches = [pattern] if pattern in names else [name for name in names if fnmatchcase(name, pattern)]
        if not matches:
            raise _unknown_column(option, pattern, names, shown)
        found.update(matches)
    return [name for name in names if name in found]


def split_names(wanted: Iterable[str], names: Sequence[str]) -> list[str]:
    """Return names and globs one by one, where several share a comma that is not part of a name."""
    return [
        part if part in names else tidy_name(part)
        for entry in wanted
        for part in ([entry] if entry in names else entry.split(","))
    ]


def _unknown_column(option: str, name: str, names: Sequence[str], shown: str) -> InputError:
    """Return the error that a column does not exist, with the nearest ones that do."""
    by_folded = {candidate.casefold(): candidate for candidate in reversed(names)}
    near = [by_folded[match] for match in difflib.get_close_matches(name.casefold(), by_folded, n=3)]
    way_out = f"Did you mean {quote_names(near, 'or')}?" if near else f"The columns are: {quote_names(names)}."
    return InputError(
        "{option}: {shown} has no column {name!r}. {way_out}",
        option=Mention(option),
        shown=shown,
        name=name,
        way_out=way_out,
    )


def find_column(source: Source, option: str, name: str) -> str:
    """Return the name of a column that a parameter names; it is no pattern."""
    name = name if name in source.names else tidy_name(name)
    if name not in source.names:
        raise _unknown_column(option, name, source.names, source.shown)
    return name


def find_roles(source: Source, request: Request) -> Roles:
    """Return the roles of the columns; an error names the parameter that does not fit the table."""
    settings = request.settings
    targets = _find_targets(source, request.target)
    others: dict[str, str] = dict.fromkeys(targets, "target")
    found: dict[str, str | None] = {}
    for option, name in (("weight", settings.weight), ("groups", settings.groups)):
        found[option] = None if name is None else _find_other(source, option, name, others)
    factors = _find_factors(source, request, targets, others)
    return Roles(
        tuple(targets),
        found["weight"],
        found["groups"],
        tuple(factors),
        _find_categorical(source, request, targets, factors),
    )


def _first_and_last(names: Sequence[str]) -> str:
    """Return the names of columns; of many, the first and the last, which the target often is one of."""
    if len(names) <= MOST_NAMED:
        return quote_names(names)
    first, last = (", ".join(map(repr, some)) for some in (names[:5], names[-3:]))
    return f"{first}, {len(names) - 8:,} more, and {last}"


def _find_targets(source: Source, target: str | Sequence[str] | None) -> list[str]:
    wanted = as_list(target)
    if not wanted:
        raise InputError(
            "{target=} is needed: the column to explain. The columns of {shown} are {names}.",
            shown=source.shown,
            names=_first_and_last(source.names),
        )
    found: list[str] = []
    for pattern in split_names(wanted, source.names):  # one by one: weights of outputs are in the order given
        found += match_names("target", [pattern], source.names, source.shown)
    twice = next((name for name in found if found.count(name) > 1), None)
    if twice is not None:
        raise InputError("{target}: column {twice!r} is named twice. Leave out one of them.", twice=twice)
    return found


def _find_other(source: Source, option: str, name: str, taken: dict[str, str]) -> str:
    """Return the column of weights or groups, which no other parameter may have, and add it to ``taken``."""
    name = find_column(source, option, name)
    if name in taken:
        raise _named_twice(option, name, taken[name])
    taken[name] = option
    return name


def _named_twice(option: str, name: str, other: str) -> InputError:
    """Return the error that a column is named in two parameters."""
    return InputError(
        "{option}: column {name!r} is also named in {other}. Leave it out of one of them.",
        option=Mention(option),
        name=name,
        other=Mention(other, ""),
    )


def _find_factors(source: Source, request: Request, targets: Sequence[str], taken: Mapping[str, str]) -> list[str]:
    names, shown = source.names, source.shown
    asked = as_list(request.settings.factors)
    wanted = match_names("factors", asked, names, shown) if asked else names
    dropped = set(match_names("drop", as_list(request.settings.drop), names, shown))
    for name in split_names(asked, names):
        if name in dropped:
            raise _named_twice("drop", name, "factors")
        if name in taken and name not in targets:
            raise _named_twice("factors", name, taken[name])
    factors = [name for name in wanted if name not in taken and name not in dropped]
    if len(names) == 1:
        raise ValueError(
            f"{shown} has only one column, {names[0]!r}. Columns of text files must be separated by commas, "
            "semicolons, tabs or |."
        )
    if not factors:
        raise InputError(
            "no factors are left in {shown} besides the target {names}: see {factors=} and {drop=}.",
            shown=shown,
            names=quote_names(targets),
        )
    return factors


def _find_categorical(
    source: Source, request: Request, targets: Sequence[str], factors: Sequence[str]
) -> frozenset[str]:
    """Return the factors to take as categories; a glob may match other columns, a name must be a factor's."""
    matches = match_names("categorical", request.categorical, source.names, source.shown)
    for name in split_names(request.categorical, source.names):
        if name in targets:
            raise InputError(
                '{categorical}: column {name!r} is the target. Use {task="classification"} if it has classes.',
                name=name,
            )
        if name in source.names and name not in factors:
            raise _no_factor("categorical", name, request)
    return frozenset(matches).intersection(factors)


def _no_factor(option: str, name: str, request: Request) -> InputError:
    """Return the error that a column is named in one parameter and left out by another."""
    rows = {request.settings.weight: "{weight=}", request.settings.groups: "{groups=}"}
    return InputError(
        "{option}: column {name!r} is not a factor here, because of {why}. Leave it out of one of them.",
        option=Mention(option),
        name=name,
        why=Message(rows.get(name, "{factors=} or {drop=}")),
    )


def sort_out(
    source: Source, request: Request, columns: Sequence[ColumnInfo], categorical: Collection[str]
) -> tuple[list[ColumnInfo], dict[str, str]]:
    """Return the columns that are factors, and why others are not; refuse to leave out a column named by the user."""
    used, left_out = [], {}
    asked = {option: split_names(names, source.names) for option, names in request.asked.items()}
    for column in columns:
        name, why = column.name, column.why_left_out
        option = next((option for option, names in asked.items() if name in names), None)
        if why is None or (name in categorical and column.can_be_category) or (option and column.can_be_number):
            used.append(column)
        elif option is None:
            left_out[name] = why
        else:
            setting = Mention("categorical", in_quotes(name))
            as_labels = Message("Use {setting} to take its values as labels, or leave it out.", setting=setting)
            raise InputError(
                "{option}: column {name!r} of {shown} cannot be a factor: {why}. {way_out}",
                option=Mention(option),
                name=name,
                shown=source.shown,
                why=why,
                way_out=as_labels if column.can_be_category else "Leave it out.",
            )
    return used, left_out


def resolve_names(
    source: Source, request: Request, roles: Roles, columns: Sequence[str], periods: Mapping[str, float]
) -> dict[str, Any]:
    """Return options about columns with names in full; patterns match columns of X."""
    settings, forced = request.settings, as_list(request.settings.forced)
    find = partial(_match_factors, source, request, roles)
    groups = {
        group: find("factor_groups", as_list(names), columns) for group, names in (settings.factor_groups or {}).items()
    }
    given = {name: value for key, value in (settings.period or {}).items() for name in find("period", [key], columns)}
    scale: Any = settings.scale
    if not isinstance(scale, bool):
        scale = {name: value for key, value in scale.items() for name in find("scale", [key], columns)}
    grouped = {name: group for group, names in groups.items() for name in names}
    factors = list(dict.fromkeys(grouped.get(name, name) for name in columns))
    for name in split_names(forced, factors):
        if name in grouped and name not in factors:
            raise InputError(
                "{forced}: column {name!r} is in the group {group!r}. Name that.", name=name, group=grouped[name]
            )
    return {
        "categorical": [name for name in columns if name in roles.categorical],
        "factor_groups": groups or None,
        "period": {**periods, **given} or None,
        "scale": scale,
        "forced": find("forced", forced, factors) or None,
    }


def _match_factors(
    source: Source, request: Request, roles: Roles, option: str, wanted: Sequence[str], names: Sequence[str]
) -> list[str]:
    """Return the factors that names and globs stand for."""
    for name in split_names(wanted, [*source.names, *names]):
        if name in names:
            continue
        if name in roles.targets:
            raise InputError(
                "{option}: column {name!r} is the target, which is no factor. Leave it out.",
                option=Mention(option),
                name=name,
            )
        if name in source.names:
            raise _no_factor(option, name, request)
    return match_names(option, wanted, names, source.shown)
