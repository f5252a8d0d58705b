"""Every parameter once: its default, its check, its help text and how it is typed in the command line.

`FIRST`, the functions, `rank` and the command line take all of it from here. A parameter is a field of `Options`,
`Procedure` or `RankParameters`; where `rank` has another default than `FIRST`, `RankParameters` has the same field with
that default. Rules that depend on the table, such as "at most the number of rows", are checked where the table is
known.
"""

import os
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Self, TypedDict, TypeVar

from ._utils import checks

if TYPE_CHECKING:
    from .data.table import Factors

Documented = TypeVar("Documented")
Check = Callable[[str, Any], object]

# A smaller alpha would take tens of thousands of bootstrap draws to resolve.
LEAST_ALPHA = 0.001


def parameter(
    default: Any,
    kind: str,
    help: str,  # noqa: A002 (as in typer)
    check: Check | None = None,
    *,
    typed: Any = str,
    metavar: str | None = None,
    choices: Sequence[str] = (),
    option: str | None = None,
) -> Any:
    """A dataclass field that knows all about a parameter.

    Parameters
    ----------
    default
        The default.
    kind
        The type as a docstring has it.
    help
        Sentences for the docstring and for ``--help``.
    check
        Gets the name and the value, and raises a ValueError that names both; ``choices`` bring their own.
    typed, metavar
        In the command line: the type of the value, and what stands for it in the help.
    choices
        All values that are allowed.
    option
        Its name in the command line, if that is another.
    """
    if choices:
        check = one_of(*choices) if default is not None else optional(one_of(*choices))
    metadata = {"kind": kind, "help": help, "check": check, "typed": typed, "metavar": metavar, "option": option}
    return field(default=default, metadata=metadata | {"choices": tuple(choices)})


def with_default(group: type, name: str, default: Any, sentence: str) -> Any:
    """The field of another group with another default, which a sentence in the help explains."""
    same = next(each for each in fields(group) if each.name == name).metadata
    check = same["check"] if default is not None else optional(same["check"])
    kind = same["kind"] if default is not None else f"{same['kind']}, optional"
    changed = {"kind": kind, "help": f"{same['help']} {sentence}", "check": check}
    return field(default=default, metadata={**same, **changed})


def one_of(*choices: str) -> Check:
    """A check that the value is one of the choices."""
    return lambda name, value: checks.one_of(name, value, choices)


def optional(check: Check) -> Check:
    """A check that lets None pass as well."""
    return lambda name, value: None if value is None else check(name, value)


def _is_level(name: str, value: Any) -> None:
    if checks.number(name, value, LEAST_ALPHA, 1.0) == 1.0:
        raise ValueError(f"{name} must be a number below 1; got {value!r}.")


def _is_scale(name: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        checks.boolean(name, value)


def _is_mapping(name: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a mapping, such as {{'name': …}}; got {value!r}.")


def _is_forward(name: str, value: Any) -> None:
    if checks.is_integer(value) and int(value) >= 1:
        return
    if checks.is_integer(value):
        raise ValueError(f"{name} must be at least 1 pass; got {value!r}.")
    if value not in ("full", "fast"):
        raise ValueError(
            f'{name} must be "full" (Algorithm 3), "fast" (FIRST-FAST) or a number of passes; got {value!r}.'
        )


def _is_compact(name: str, value: Any) -> None:
    if not checks.is_boolean(value) and not checks.is_share(value):
        raise ValueError(f"{name} must be True, False or a number from 0 to 1, such as 0.01; got {value!r}.")


def _is_cluster_cut(name: str, value: Any) -> None:
    is_auto = isinstance(value, str) and value == "auto"
    if value is not None and not is_auto and not checks.is_share(value):
        raise ValueError(f'{name} must be "auto", a number from 0 to 1 or None; got {value!r}.')


class _Parameters:
    """What both sets of parameters have in common."""

    def __post_init__(self) -> None:
        """Check every value by itself."""
        for each in fields(self):  # type: ignore[arg-type]
            check = each.metadata["check"]
            if check is not None:
                check(each.name, getattr(self, each.name))

    @classmethod
    def pick(cls, source: object) -> Self:
        """The parameters that another object has as attributes."""
        return cls(**{each.name: getattr(source, each.name) for each in fields(cls)})  # type: ignore[arg-type]

    @classmethod
    def parse(cls, given: Mapping[str, Any]) -> Self:
        """The parameters given by keyword; a name that does not exist is an error with the nearest that does."""
        known = [each.name for each in fields(cls)]  # type: ignore[arg-type]
        for name in given:
            if name not in known:
                raise checks.unknown_option(name, known)
        return cls(**given)


@dataclass(frozen=True)
class Options(_Parameters):
    """How variances are estimated."""

    n_neighbors: int | None = parameter(
        None,
        "int, optional",
        "Rows in a neighbourhood, the row itself included (N_I). Default: 2 for regression, 3 for classes.",
        typed=int,
        metavar="N",
    )
    n_outer: int | float | None = parameter(
        None,
        "int or float, optional",
        "Rows to average over (N_O): a number, or a fraction of the rows such as 0.2. Default: all rows, and at most "
        '10,000 with ``estimator="extrapolated"``. Fewer rows save time. ``estimator="adaptive"`` always takes all '
        "rows, or 10,000 of them. Neighbours always come from all rows. The calibrated rule selects on these rows "
        "alone, and on 50,000 of them if there are more.",
        typed="number or fraction",
        metavar="N",
    )
    subsample: str = parameter(
        "random",
        '{"random", "twinning"}',
        'How the outer rows are drawn if not all are used. "twinning" makes them resemble the whole table; it needs '
        "the extra ``twinning`` and ``n_outer`` of at most half of the rows.",
        choices=("random", "twinning"),
    )
    scale: "bool | Mapping[Any, float]" = parameter(
        True,
        "bool or mapping",
        "Whether to divide numeric factors by their standard deviation. False keeps their units. A mapping such as "
        "{'x': 2.0} says what some columns are divided by instead.",
        _is_scale,
        typed="numbers",
        metavar="NAME=NUMBER",
    )
    categorical: "Factors | None" = parameter(
        None,
        "names, positions or mask, optional",
        "Factors to treat as categories whatever their type. Text, boolean and categorical columns are categories "
        "anyway: two rows with different levels are √2 apart, whatever the levels.",
        typed=list,
        metavar="NAMES",
    )
    factor_groups: "Mapping[str, Factors] | None" = parameter(
        None,
        "mapping, optional",
        "Columns that enter, leave and are ranked together, such as {'size': ['length', 'width']}; names may be globs. "
        "One-hot columns that are grouped become the category that they encode.",
        optional(_is_mapping),
        typed="groups",
        metavar="NAME=COLUMNS",
        option="group",
    )
    period: "Mapping[Any, float] | None" = parameter(
        None,
        "mapping, optional",
        "Factors that repeat, and after how much, such as {'hour': 24}: 23 is as near to 0 as 1 is.",
        optional(_is_mapping),
        typed="numbers",
        metavar="NAME=NUMBER",
    )
    missing: str = parameter(
        "level",
        '{"level", "error", "drop"}',
        'What a missing value of a factor means. "level": it is a value of its own, as far from every known one as '
        'another category is, and no row is lost. "error": it is refused. "drop": its row is left out. Rows without a '
        "response are always left out.",
        choices=("level", "error", "drop"),
    )
    task: str = parameter(
        "auto",
        '{"auto", "regression", "classification"}',
        'What the response is. "auto" means classification if it is boolean, text or categorical, or has exactly two '
        "distinct values.",
        choices=("auto", "regression", "classification"),
    )
    response: str = parameter(
        "values",
        '{"values", "ranks", "normal-scores"}',
        "What of a quantity is explained: its values, or, less sensitive to outliers, its ranks or their normal "
        "scores.",
        choices=("values", "ranks", "normal-scores"),
    )
    output_weights: Sequence[float] | None = parameter(
        None,
        "sequence of float, optional",
        "How much each of several outputs counts. Outputs are standardised first. Default: all the same.",
        typed="list of numbers",
        metavar="NUMBERS",
    )
    n_jobs: int | None = parameter(
        None,
        "int, optional",
        "Threads, as in joblib: None is 1 unless in a joblib context, -1 is all cores. Results are the same to the "
        "last bit for any number.",
    )
    random_state: Any = parameter(
        None,
        "int, Generator or None",
        "Seed for everything that is drawn at random: outer rows, halves of the rows, and the bootstrap of the "
        "calibrated rule.",
    )
    estimator: str | None = parameter(
        None,
        '{"nearest", "extrapolated", "adaptive"}, optional',
        '"nearest" takes variances among nearest rows, as in the paper. "extrapolated" fits local lines to several '
        "rows; it takes longer and has much less bias where neighbours are far away. "
        '"adaptive" fits smooth functions to all rows, and local lines to what these miss; it is the most precise '
        "where there is noise. Default: nearest with the paper's rule, adaptive with the calibrated one.",
        choices=("nearest", "extrapolated", "adaptive"),
    )

    checkpoint: "str | os.PathLike[str] | None" = parameter(
        None,
        "path, optional",
        "A file that what was found is written to after each step. A run that was stopped goes on from there if it is "
        "started again on the same table, with the same parameters.",
        metavar="FILE",
    )

    def with_default_of(self, procedure: "Procedure") -> "Options":
        """The same options with the estimator that goes with a procedure, unless one is given."""
        return replace(self, estimator=self.estimator or procedure.estimator)


@dataclass(frozen=True)
class Procedure(_Parameters):
    """How factors are selected."""

    forward: str | int = parameter(
        "full",
        '{"full", "fast"} or int',
        'Forward selection: "full" tries every factor in every step (Algorithm 3); "fast" drops factors for good once '
        "they lower what is explained (FIRST-FAST, Algorithm S1); an integer n drops factors that do not raise it, and "
        "starts over with all factors up to n times.",
        _is_forward,
    )
    elimination: str = parameter(
        "batch",
        '{"batch", "single"}',
        "Backward elimination: remove all factors with a total index of 0 at a time (Algorithm 2), or only the least "
        "useful one.",
        choices=("batch", "single"),
    )
    rule: str = parameter(
        "paper",
        '{"paper", "calibrated"}',
        'When a factor is selected. "paper": if it raises what seems to be explained (Algorithm 3), which some factor '
        'does even in pure noise, so a selection by this rule is no evidence. "calibrated": only if it raises it by '
        "more than the best of all candidates would by chance.",
        choices=("paper", "calibrated"),
    )
    alpha: float = parameter(
        0.1,
        "float",
        "How often the calibrated rule may select something from pure noise: at least 0.001, below 1.",
        _is_level,
        typed=float,
        metavar="SHARE",
    )
    control: str = parameter(
        "fwer",
        '{"fwer", "fdr"}',
        'What alpha limits under the calibrated rule. "fwer": the probability that any factor is selected that adds '
        'nothing. "fdr": the share of such factors among those selected, on average; more are found where many '
        "factors have an effect.",
        choices=("fwer", "fdr"),
    )
    goal: str = parameter(
        "explain",
        '{"explain", "predict"}',
        'What the calibrated rule selects for. "explain": only factors for which there is evidence. "predict": others '
        "as well that help a cross-validated fit, for a model that is to use the selection.",
        choices=("explain", "predict"),
    )
    split: bool = parameter(
        False,
        "bool",
        "Whether to select on a random half of the rows and estimate on the other half. Importances of factors that "
        "the same rows have selected are somewhat too large.",
        checks.boolean,
        typed=bool,
    )

    forced: "Factors | None" = parameter(
        None,
        "names, positions or mask, optional",
        "Factors that are always in, such as controls. Whether others enter, and their importance, is judged given "
        "these.",
        typed=list,
        metavar="NAMES",
    )
    max_factors: int | None = parameter(
        None,
        "int, optional",
        "Select at most so many factors, besides those that are forced.",
        optional(lambda name, value: checks.at_least(name, value, 1)),
        typed=int,
        metavar="N",
    )

    compact: bool | float = parameter(
        False,
        "bool or float",
        "Whether to keep only as few factors as explain nearly as much: within one standard error (chance and bias) of "
        "R², or within the share of the variance of y that is given, such as 0.01.",
        _is_compact,
        typed=bool,
    )
    importance: str = parameter(
        "total",
        '{"total", "shapley"}',
        'What an importance is. "total": the share of what is explained that is lost without the factor. "shapley": '
        "its fair share, what it adds on average over all orders of the selected factors; these add up to 1.",
        choices=("total", "shapley"),
    )
    cluster_cut: float | str | None = parameter(
        "auto",
        '"auto", float or None',
        'Which factors are clusters, that share information. "auto": any one of them keeps three quarters of what all '
        "of them add, or each is missed far less than its share. A number from 0 to 1: they explain so much of each "
        "other. None: do not look, which saves time.",
        _is_cluster_cut,
        typed=float,
        metavar="SHARE",
    )

    def __post_init__(self) -> None:
        """Check every value by itself, then what does not go together."""
        super().__post_init__()
        if self.rule == "calibrated" and (self.forward, self.elimination) != ("full", "batch"):
            raise ValueError(
                f"forward must be 'full' and elimination 'batch' with rule='calibrated', which has its own steps; got "
                f"{self.forward!r} and {self.elimination!r}."
            )
        if self.goal == "predict" and self.rule != "calibrated":
            raise ValueError(f"goal='predict' goes with rule='calibrated'; got rule={self.rule!r}.")

    @property
    def estimator(self) -> str:
        """The estimator of importances unless one is given: the calibrated rule sees more than nearest rows show."""
        return "nearest" if self.rule == "paper" else "adaptive"


def _is_count(name: str, value: Any) -> None:
    checks.at_least(name, value, 1)


def _is_size(name: str, value: Any) -> None:
    from ._utils.sizes import parse_size  # only if it is asked for

    parse_size(name, value)


@dataclass(frozen=True)
class RankParameters(_Parameters):
    """More parameters of `rank`: which part of a table, how a file is read, the method."""

    factors: Sequence[str] = parameter(
        (),
        "names or globs",
        "Use only these columns: names or globs such as 'x*'. Default: all but the target.",
        typed=list,
        metavar="NAMES",
    )
    drop: Sequence[str] = parameter(
        (), "names or globs", "Do not use these columns: names or globs.", typed=list, metavar="NAMES"
    )
    weight: str | None = parameter(
        None,
        "str, optional",
        "The column that says how much each row counts. It is no factor.",
        typed=str,
        metavar="COLUMN",
    )
    groups: str | None = parameter(
        None,
        "str, optional",
        "The column that says which rows belong together, such as those of one person or month: they are never each "
        "other's neighbours. It is no factor.",
        typed=str,
        metavar="COLUMN",
    )
    date_parts: bool = parameter(
        False,
        "bool",
        "Whether to add season, weekday and hour of each date as factors of their own. A date itself is a number of "
        "days.",
        checks.boolean,
        typed=bool,
    )
    unique: bool = parameter(
        False, "bool", "Keep only one of rows that are equal in all columns used.", checks.boolean, typed=bool
    )
    sample: int | None = parameter(
        None,
        "int, optional",
        "Use this many rows, drawn at random.",
        optional(lambda name, value: checks.at_least(name, value, 3)),
        typed=int,
        metavar="N",
    )
    method: str = parameter(
        "first",
        '{"first", "first-fast", "backward", "total"}',
        '"first": forward selection, then elimination. "first-fast": drops factors early. "backward": elimination from '
        'all factors. "total": the total index of every factor, without a selection. The last two give intervals for '
        "up to 30 factors. All but the first belong to the paper's rule.",
        choices=("first", "first-fast", "backward", "total"),
    )
    rule: str | None = with_default(
        Procedure,
        "rule",
        None,
        "Default: calibrated with the method first, paper with the others.",
    )
    stability: int | None = parameter(
        None,
        "int, optional",
        "Select again on this many random pairs of halves of the rows, and show how often each factor is selected.",
        optional(_is_count),
        typed=int,
        metavar="N",
    )
    seed: int = parameter(
        0,
        "int",
        "Seed for everything that is drawn at random.",
        lambda name, value: checks.at_least(name, value, 0),
        typed=int,
        metavar="N",
    )
    jobs: int = parameter(-1, "int", "Threads; -1 is all cores.", typed=int, metavar="N")
    memory: str | int | None = parameter(
        None,
        "str or int, optional",
        "Use at most so much memory, such as 4GB or 500MB: a table that is larger stays in its file, and a few columns "
        "at a time are read. Results are the same to the last bit. Files other than Parquet and Arrow are converted to "
        "Parquet first, in the folder for temporary files. Default: the table is read into memory.",
        optional(_is_size),
        typed=str,
        metavar="SIZE",
    )
    cluster: str | None = parameter(
        None,
        "str, optional",
        "The address of a Dask scheduler, such as tcp://10.0.0.1:8786. Its workers search, and read the files "
        "themselves. Results are the same to the last bit.",
        typed=str,
        metavar="ADDRESS",
    )
    workers: int | None = parameter(
        None,
        "int, optional",
        "Search with this many processes on this machine, a local Dask cluster. Threads (``jobs``) are faster if the "
        "table fits into memory.",
        optional(lambda name, value: checks.at_least(name, value, 1)),
        typed=int,
        metavar="N",
    )
    format: str | None = parameter(
        None,
        "str, optional",
        "Format of the file. Default: what its first bytes and its name show.",
        choices=("csv", "tsv", "parquet", "arrow", "jsonl", "json", "excel", "sqlite", "duckdb", "stata"),
    )
    table: str | None = parameter(
        None, "str, optional", "The sheet or table, where a file has several.", typed=str, metavar="NAME"
    )
    na: Sequence[str] = parameter(
        (),
        "sequence of str",
        "Values that stand for a missing one, such as '?' or -999.",
        typed=list,
        metavar="VALUE",
    )
    decimal: str | None = parameter(
        None,
        '{".", ","}, optional',
        "The decimal mark of numbers in text files. Default: what the first lines show.",
        choices=(".", ","),
    )

    @property
    def selects(self) -> bool:
        """Whether the method is a FIRST, which selects factors."""
        return self.method in ("first", "first-fast")

    @property
    def on_cluster(self) -> bool:
        """Whether workers of a cluster search."""
        return self.cluster is not None or self.workers is not None

    @property
    def rule_used(self) -> str:
        """The rule, where none is given the one that asks for evidence if the method has it."""
        return self.rule or ("calibrated" if self.method == "first" else "paper")


# Where the parameters of `FIRST` are, and those of `rank`, which has defaults of its own.
SELECTOR = (Options, Procedure)
RANKING = (RankParameters, *SELECTOR)

# The parameters of `rank` and of the command, in the order of the help.
RANK = (
    "factors", "drop", "categorical", "factor_groups", "period", "date_parts", "task", "response", "output_weights",
    "missing", "weight", "groups", "unique", "sample", "method", "rule", "alpha", "control", "goal", "forced",
    "max_factors", "compact", "importance", "cluster_cut", "estimator", "split", "stability",
    "n_neighbors", "n_outer", "seed", "jobs", "memory", "cluster", "workers", "checkpoint",
    "scale", "format", "table", "na", "decimal",
)  # fmt: skip


class OptionsDict(TypedDict, total=False):
    """The fields of `Options` as keyword arguments, for type checkers."""

    n_neighbors: int | None
    n_outer: int | float | None
    subsample: str
    scale: "bool | Mapping[Any, float]"
    categorical: "Factors | None"
    factor_groups: "Mapping[str, Factors] | None"
    period: "Mapping[Any, float] | None"
    missing: str
    task: str
    response: str
    output_weights: Sequence[float] | None
    n_jobs: int | None
    random_state: Any
    estimator: str | None
    checkpoint: "str | os.PathLike[str] | None"


class RankDict(TypedDict, total=False):
    """The parameters of `rank` as keyword arguments, for type checkers."""

    factors: Sequence[str]
    drop: Sequence[str]
    categorical: Sequence[str]
    factor_groups: Mapping[str, Sequence[str]]
    period: Mapping[str, float]
    date_parts: bool
    task: str
    response: str
    output_weights: Sequence[float]
    missing: str
    weight: str | None
    groups: str | None
    unique: bool
    sample: int | None
    method: str
    rule: str | None
    alpha: float
    control: str
    goal: str
    forced: Sequence[str]
    max_factors: int | None
    compact: bool | float
    importance: str
    cluster_cut: float | str | None
    estimator: str | None
    split: bool
    stability: int | None
    n_neighbors: int | None
    n_outer: int | float | None
    seed: int
    jobs: int
    memory: str | int | None
    cluster: str | None
    workers: int | None
    checkpoint: "str | os.PathLike[str] | None"
    scale: bool | Mapping[str, float]
    format: str | None
    table: str | None
    na: Sequence[str]
    decimal: str | None


def find(name: str, groups: Sequence[type] = RANKING) -> Field[Any]:
    """The parameter of this name, in the first of the groups that has it."""
    return next(each for group in groups for each in fields(group) if each.name == name)


def document(item: Documented, groups: Sequence[type] = SELECTOR) -> Documented:
    """Fill in the parameters that a docstring names as ``{name}`` on a line of its own; a decorator."""
    item.__doc__ = re.sub(
        r"^( *)\{(\w+)\}$", lambda line: _describe(line, groups), item.__doc__ or "", flags=re.MULTILINE
    )
    return item


def _describe(line: re.Match[str], groups: Sequence[type]) -> str:
    """A parameter as numpydoc has it, indented like the line that names it."""
    each = find(line[2], groups)
    body = textwrap.fill(each.metadata["help"], 110 - len(line[1]), break_long_words=False, break_on_hyphens=False)
    return textwrap.indent(f"{each.name} : {each.metadata['kind']}\n{textwrap.indent(body, '    ')}", line[1])
