"""Which columns of a table are what: targets, factors, weights and groups of rows, and what is said about factors."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from ..parameters import Options, RankParameters
from .column_names import in_quotes, match_names, quote_names, split_names, tidy_name, unknown_column
from .inventory import ColumnInfo
from .source import Source


class Request(NamedTuple):
    """Which part of a table is wanted, and what is said about its columns."""

    target: str | Sequence[str] | None
    parameters: RankParameters = RankParameters()
    options: Options = Options()
    forced: Sequence[str] = ()

    @property
    def categorical(self) -> list[str]:
        """Names and globs of the columns to take as categories."""
        return as_list(self.options.categorical)

    @property
    def asked(self) -> dict[str, list[str]]:
        """Names and globs that stand for columns, by the parameter that has them; no column named is left out."""
        scale = self.options.scale
        return {
            "categorical": self.categorical,
            "factors": as_list(self.parameters.factors),
            "factor_groups": [name for names in (self.options.factor_groups or {}).values() for name in as_list(names)],
            "period": list(self.options.period or ()),
            "scale": [] if isinstance(scale, bool) else list(scale),
            "forced": as_list(self.forced),
        }


@dataclass(frozen=True)
class Roles:
    """What the columns of a table are, by name."""

    targets: tuple[str, ...]
    weight: str | None
    groups: str | None
    factors: tuple[str, ...]
    categorical: frozenset[str]

    @property
    def others(self) -> dict[str, str]:
        """What the columns are that are no factors, in words."""
        rows = {self.weight: "the weight of rows", self.groups: "the column of groups"}
        return dict.fromkeys(self.targets, "the target") | {name: what for name, what in rows.items() if name}


def as_list(names: Any) -> list[str]:
    """Names as a list, where one may stand for itself, and none for nothing."""
    return [names] if isinstance(names, str) else list(() if names is None else names)


def find_roles(source: Source, request: Request) -> Roles:
    """What the columns are: an error names the parameter that does not fit the table."""
    parameters = request.parameters
    targets = _find_targets(source, request.target)
    others: dict[str, str] = dict.fromkeys(targets, "target")
    found: dict[str, str | None] = {}
    for option, name in (("weight", parameters.weight), ("groups", parameters.groups)):
        found[option] = None if name is None else _find_other(source, option, name, others)
    factors = _find_factors(source, request, targets, others)
    return Roles(
        tuple(targets),
        found["weight"],
        found["groups"],
        tuple(factors),
        _find_categorical(source, request, targets, factors),
    )


def _find_targets(source: Source, target: str | Sequence[str] | None) -> list[str]:
    wanted = as_list(target)
    if not wanted:
        raise ValueError(
            f"target= is needed: the column to explain. The columns of {source.shown} are {quote_names(source.names)}."
        )
    found: list[str] = []
    for pattern in split_names(wanted, source.names):  # one by one: weights of outputs are in the order given
        found += match_names("target", [pattern], source.names, source.shown)
    twice = next((name for name in found if found.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"target: column {twice!r} is named twice. Leave out one of them.")
    return found


def _find_other(source: Source, option: str, name: str, taken: dict[str, str]) -> str:
    """The column that says something about rows, which no other parameter has; it is noted in ``taken``."""
    name = name if name in source.names else tidy_name(name)
    if name not in source.names:
        raise ValueError(unknown_column(option, name, source.names, source.shown))
    if name in taken:
        raise ValueError(f"{option}: column {name!r} is also named in {taken[name]}=. Leave it out of one of them.")
    taken[name] = option
    return name


def _find_factors(source: Source, request: Request, targets: Sequence[str], taken: Mapping[str, str]) -> list[str]:
    names, shown = source.names, source.shown
    asked = as_list(request.parameters.factors)
    wanted = match_names("factors", asked, names, shown) if asked else names
    dropped = set(match_names("drop", as_list(request.parameters.drop), names, shown))
    for name in split_names(asked, names):
        if name in dropped:
            raise ValueError(f"drop: column {name!r} is also named in factors=. Leave it out of one of them.")
        if name in taken and name not in targets:
            raise ValueError(f"factors: column {name!r} is also named in {taken[name]}=. Leave it out of one of them.")
    factors = [name for name in wanted if name not in taken and name not in dropped]
    if len(names) == 1:
        raise ValueError(
            f"{shown} has only one column, {names[0]!r}. Columns of text files must be separated by commas, "
            "semicolons, tabs or |."
        )
    if not factors:
        raise ValueError(
            f"no factors are left in {shown} besides the target {quote_names(targets)}: see factors= and drop=."
        )
    return factors


def _find_categorical(
    source: Source, request: Request, targets: Sequence[str], factors: Sequence[str]
) -> frozenset[str]:
    """The factors to take as categories; a glob may stand for more, a name must be a factor's."""
    matches = match_names("categorical", request.categorical, source.names, source.shown)
    for name in split_names(request.categorical, source.names):
        if name in targets:
            raise ValueError(
                f'categorical: column {name!r} is the target. Use task="classification" if it has classes.'
            )
        if name in source.names and name not in factors:
            raise ValueError(_no_factor("categorical", name, request))
    return frozenset(matches).intersection(factors)


def _no_factor(option: str, name: str, request: Request) -> str:
    """Word the error for a column that is named in one parameter and left out by another."""
    rows = {request.parameters.weight: "weight=", request.parameters.groups: "groups="}
    why = rows.get(name, "factors= or drop=")
    return f"{option}: column {name!r} is not a factor here, because of {why}. Leave it out of one of them."


def sort_out(
    source: Source, request: Request, columns: Sequence[ColumnInfo], categorical: Collection[str]
) -> tuple[list[ColumnInfo], dict[str, str]]:
    """The columns that are factors, and why others are not; refuse to leave out what was asked for by name."""
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
            labels = f"Use categorical={in_quotes(name)} to take its values as labels, or leave it out."
            raise ValueError(
                f"{option}: column {name!r} of {source.shown} cannot be a factor: {why}. "
                f"{labels if column.can_be_category else 'Leave it out.'}"
            )
    return used, left_out


def resolve_names(
    source: Source, request: Request, roles: Roles, columns: Sequence[str], periods: Mapping[str, float]
) -> dict[str, Any]:
    """What is said about columns, with names in full: patterns are those of the columns of X."""
    options = request.options
    find = partial(_match_factors, source, request, roles)
    groups = {
        group: find("factor_groups", as_list(names), columns) for group, names in (options.factor_groups or {}).items()
    }
    given = {name: value for key, value in (options.period or {}).items() for name in find("period", [key], columns)}
    scale: Any = options.scale
    if not isinstance(scale, bool):
        scale = {name: value for key, value in scale.items() for name in find("scale", [key], columns)}
    grouped = {name: group for group, names in groups.items() for name in names}
    factors = list(dict.fromkeys(grouped.get(name, name) for name in columns))
    for name in split_names(request.forced, factors):
        if name in grouped and name not in factors:
            raise ValueError(f"forced: column {name!r} is in the group {grouped[name]!r}. Name that.")
    return {
        "categorical": [name for name in columns if name in roles.categorical],
        "factor_groups": groups or None,
        "period": {**periods, **given} or None,
        "scale": scale,
        "forced": find("forced", as_list(request.forced), factors) or None,
    }


def _match_factors(
    source: Source, request: Request, roles: Roles, option: str, wanted: Sequence[str], names: Sequence[str]
) -> list[str]:
    """The factors that names and globs stand for."""
    for name in split_names(wanted, [*source.names, *names]):
        if name in names:
            continue
        if name in roles.targets:
            raise ValueError(f"{option}: column {name!r} is the target, which is no factor. Leave it out.")
        if name in source.names:
            raise ValueError(_no_factor(option, name, request))
    return match_names(option, wanted, names, source.shown)
