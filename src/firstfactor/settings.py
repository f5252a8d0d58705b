"""Definition of every parameter: default, check, help text and command-line type.

A parameter is a field of the first of these classes that needs it: `Options` of the functions, `Settings` of `FIRST`,
which adds the selection, or `RankSettings` of `rank` and of the command line, which adds columns, rows and files. A
call makes one object, whose values are checked then, and passes it on. Constraints that depend on the table, such as
"at most the number of rows", are checked where the table is known.
"""

import inspect
import numbers
import os
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Self, TypedDict, TypeVar, get_args

from ._utils import checks

if TYPE_CHECKING:
    from .data.table import Factors

Documented = TypeVar("Documented")
Check = Callable[[str, Any], object]

# Columns by name; a name may be a number.
Names = str | int | Sequence[str] | Sequence[int]

# Choices, for checks and for type checkers.
Subsample = Literal["random", "twinning"]
Missing = Literal["level", "error", "drop"]
Task = Literal["auto", "regression", "classification"]
ResponseScale = Literal["values", "ranks", "normal-scores"]
VarianceEstimator = Literal["nearest", "extrapolated", "adaptive"]
Forward = Literal["full", "fast"] | int
Elimination = Literal["batch", "single"]
Rule = Literal["paper", "calibrated"]
Control = Literal["fwer", "fdr"]
Goal = Literal["explain", "predict"]
Importance = Literal["total", "shapley"]
Leaks = Literal["warn", "drop", "keep"]
Method = Literal["first", "first-fast", "backward", "total"]
FileFormat = Literal["csv", "tsv", "parquet", "arrow", "jsonl", "json", "excel", "sqlite", "duckdb", "stata"]
Decimal = Literal[".", ","]

# Resolving a smaller alpha would take tens of thousands of bootstrap draws.
LEAST_ALPHA = 0.001


def parameter(
    default: Any,
    kind: str,
    help: str,  # noqa: A002 (as in typer)
    check: Check | None = None,
    *,
    cli_type: Any = str,
    metavar: str | None = None,
    choices: Sequence[str] = (),
    example: Mapping[str, Any] | None = None,
    cli_help: str | None = None,
) -> Any:
    """Return a dataclass field that holds the full definition of a parameter.

    Parameters
    ----------
    default
        Default value.
    kind
        Type, as shown in the docstring.
    help
        Description for the docstring and for ``--help``: the template of a `Message`.
    check
        Function of the name and the value that raises an error naming both; ``choices`` imply one.
    cli_type, metavar
        Type of the value on the command line, and its placeholder in the help.
    choices
        All allowed values.
    cli_help
        Description on the command line, if it differs.
    example
        Example of a mapping, ``{example}`` in the description.
    """
    if choices:
        check = one_of(*choices) if default is not None else optional(one_of(*choices))
    cli = {"cli_type": cli_type, "metavar": metavar, "cli_help": cli_help or help}
    described = {"kind": kind, "help": help, "check": check, "choices": tuple(choices), "example": example}
    return field(default=default, metadata=described | cli)


def with_default(settings: type, name: str, default: Any, sentence: str) -> Any:
    """Return a field of another class with a new default, which ``sentence`` explains in the help."""
    same = next(each for each in fields(settings) if each.name == name).metadata
    check = same["check"] if default is not None else optional(same["check"])
    kind = same["kind"] if default is not None else f"{same['kind']}, optional"
    text = f"{same['help']} {sentence}"
    changed = {"kind": kind, "help": text, "cli_help": text, "check": check}
    return field(default=default, metadata={**same, **changed})


def one_of(*choices: str) -> Check:
    """Return a check that the value is one of the choices."""
    return lambda name, value: checks.one_of(name, value, choices)


def optional(check: Check) -> Check:
    """Return a check that also accepts None."""
    return lambda name, value: None if value is None else check(name, value)


def _is_level(name: str, value: Any) -> None:
    if checks.number(name, value, LEAST_ALPHA, 1.0) == 1.0:
        raise checks.wrong(name, "a number below 1", value)


def _is_scale(name: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        checks.boolean(name, value)


def _is_mapping(name: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        raise checks.InputTypeError(
            "{name} must be a mapping, such as {{'name': …}}; got {value!r}.", name=checks.mention(name), value=value
        )


def _is_where(name: str, value: Any) -> None:
    _is_mapping(name, value)
    for column, wanted in value.items():
        is_range = isinstance(wanted, tuple) and len(wanted) == 2 and any(end is not None for end in wanted)
        is_list = isinstance(wanted, str) or (
            isinstance(wanted, Collection) and not isinstance(wanted, tuple | Mapping)
        )
        if not is_range and not (is_list and len(wanted)):
            raise checks.InputError(
                "{name} must have a range (low, high) or a list of values for each column; got {wanted!r} for "
                "{column!r}.",
                name=checks.mention(name),
                wanted=wanted,
                column=column,
            )


def _is_forward(name: str, value: Any) -> None:
    if checks.is_integer(value) and int(value) >= 1:
        return
    if checks.is_integer(value):
        raise checks.wrong(name, "at least 1 pass", value)
    if value not in ("full", "fast"):
        raise checks.wrong(name, '"full" (Algorithm 3), "fast" (FIRST-FAST) or a number of passes', value)


def _is_compact(name: str, value: Any) -> None:
    if not checks.is_boolean(value) and not checks.is_share(value):
        raise checks.wrong(name, "True, False or a number from 0 to 1, such as 0.01", value)


def _is_cluster_cut(name: str, value: Any) -> None:
    is_auto = isinstance(value, str) and value == "auto"
    if value is not None and not is_auto and not checks.is_share(value):
        raise checks.wrong(name, '"auto", a number from 0 to 1 or None', value)


@dataclass(frozen=True)
class Options:
    """Parameters of the functions: how the table is encoded, and how variances are estimated."""

    n_neighbors: int | None = parameter(
        None,
        "int, optional",
        "Number of rows in a neighbourhood, including the row itself (N_I). Default: 2 for regression, 3 for "
        "classification.",
        cli_type=int,
        metavar="N",
    )
    n_outer: int | float | None = parameter(
        None,
        "int or float, optional",
        "Number of rows to average over (N_O), or a fraction of the rows such as 0.2. Default: all rows, and at most "
        '10,000 with {variance_estimator="extrapolated"}. Fewer rows save time. {variance_estimator="adaptive"} always '
        "uses all rows, and at most 10,000. Neighbours always come from all rows. The calibrated rule selects on these "
        "rows only, and on at most 50,000 of them.",
        cli_type="number or fraction",
        metavar="N",
    )
    subsample: Subsample = parameter(
        "random",
        '{"random", "twinning"}',
        'Method to draw the rows to average over if not all are used. "twinning" draws rows that resemble the whole '
        "table; it requires the extra ``twinning`` and {n_outer} of at most half of the rows.",
        choices=get_args(Subsample),
    )
    scale: "bool | Mapping[Any, float]" = parameter(
        True,
        "bool or mapping",
        "Whether to divide numeric factors by their standard deviation. False keeps their units. A mapping such as "
        "{example} says what some columns are divided by instead.",
        _is_scale,
        cli_type="numbers",
        metavar="NAME=NUMBER",
        example={"x": 2.0},
        cli_help="What some columns are divided by instead, such as {example}.",
    )
    categorical: "Factors | None" = parameter(
        None,
        "names, positions or mask, optional",
        "Factors to treat as categories regardless of their type. Text, boolean and categorical columns always are "
        "categories. Any two different levels are at a distance of √2.",
        cli_type=list,
        metavar="NAMES",
    )
    factor_groups: "Mapping[str, Factors] | None" = parameter(
        None,
        "mapping, optional",
        "Columns that are selected and ranked together as one factor, such as {example}; names may "
        "be globs. Grouped one-hot columns become the category that they encode.",
        optional(_is_mapping),
        cli_type="groups",
        metavar="NAME=COLUMNS",
        example={"size": ["length", "width"]},
    )
    period: "Mapping[Any, float] | None" = parameter(
        None,
        "mapping, optional",
        "Period of each cyclic factor, such as {example}: 23 is as close to 0 as 1 is.",
        optional(_is_mapping),
        cli_type="numbers",
        metavar="NAME=NUMBER",
        example={"hour": 24},
    )
    missing: Missing = parameter(
        "level",
        '{"level", "error", "drop"}',
        'Treatment of missing values of factors. "level": a missing value is a level of its own, as far from every '
        'known value as two categories are from each other, and no row is lost. "error": raise an error. "drop": leave '
        "out the row. Rows with a missing response are always left out.",
        choices=get_args(Missing),
    )
    task: Task = parameter(
        "auto",
        '{"auto", "regression", "classification"}',
        'Kind of response. "auto" means classification if it is boolean, text or categorical, or has exactly two '
        "distinct values.",
        choices=get_args(Task),
    )
    response_scale: ResponseScale = parameter(
        "values",
        '{"values", "ranks", "normal-scores"}',
        "Scale on which a numeric response is explained: its values, their ranks, or normal scores of the ranks. Ranks "
        "and normal scores are less sensitive to outliers.",
        choices=get_args(ResponseScale),
    )
    output_weights: Sequence[float] | None = parameter(
        None,
        "sequence of float, optional",
        "Weight of each output, if there are several. Outputs are standardised first. Default: equal weights.",
        cli_type="list of numbers",
        metavar="NUMBERS",
    )
    n_jobs: int | None = parameter(
        None,
        "int, optional",
        "Number of threads, as in joblib: None means 1 unless in a joblib context, -1 means all cores. Results are "
        "bit-for-bit identical for any number.",
    )
    random_state: Any = parameter(
        None,
        "int, Generator or None",
        "Seed for all random draws: rows to average over, half-samples, and the bootstrap of the calibrated rule.",
    )
    variance_estimator: VarianceEstimator | None = parameter(
        None,
        '{"nearest", "extrapolated", "adaptive"}, optional',
        'Estimator of conditional variances. "nearest" takes variances among nearest rows, as in the paper. '
        '"extrapolated" fits local linear functions to several rows; it takes longer and has much less bias if '
        'neighbours are far away. "adaptive" fits smooth functions to all rows, and local linear functions to their '
        "residuals; it is the most precise if there is noise. Default: nearest with the paper's rule, adaptive with "
        "the calibrated rule.",
        choices=get_args(VarianceEstimator),
    )

    checkpoint: "str | os.PathLike[str] | None" = parameter(
        None,
        "path, optional",
        "File in which each finished step is saved. A run that was stopped resumes from this file if it is started "
        "again on the same table with the same parameters.",
        metavar="FILE",
    )

    def __post_init__(self) -> None:
        """Check each value on its own, then combinations."""
        for each in fields(self):
            check = each.metadata["check"]
            if check is not None:
                check(each.name, getattr(self, each.name))
        self._check_combinations()

    def _check_combinations(self) -> None:
        """Raise an error for values that cannot be combined."""

    @classmethod
    def parse(cls, given: Mapping[str, Any]) -> Self:
        """Take the settings from keyword arguments; raise an error with the closest known name for an unknown one."""
        return cls(**present_names(given, [each.name for each in fields(cls)]))

    def selection(self) -> dict[str, Any]:
        """Return the settings of the selection by name, if there is one."""
        return {}


@dataclass(frozen=True)
class Settings(Options):
    """Parameters of `FIRST`: those of the functions, and those of the selection."""

    forward: Forward = parameter(
        "full",
        '{"full", "fast"} or int',
        'Forward selection. "full": try every factor in every step (Algorithm 3). "fast": drop a factor for good once '
        "it lowers the explained variance (FIRST-FAST, Algorithm S1). An integer n: drop factors that do not raise it, "
        "and make up to n passes that start with all factors that are not selected yet.",
        _is_forward,
    )
    elimination: Elimination = parameter(
        "batch",
        '{"batch", "single"}',
        'Backward elimination. "batch": in each step, remove all factors with a total index of 0 (Algorithm 2). '
        '"single": remove only the least useful of them.',
        choices=get_args(Elimination),
    )
    rule: Rule = parameter(
        "paper",
        '{"paper", "calibrated"}',
        'Criterion to select a factor. "paper": it raises the estimated explained variance (Algorithm 3); some factor '
        'does so even in pure noise, so a selection by this rule is no evidence. "calibrated": it raises it by more '
        "than the best of all candidates would by chance.",
        choices=get_args(Rule),
    )
    alpha: float = parameter(
        0.1,
        "float",
        "Significance level of the calibrated rule: the probability of selecting any factor from pure noise. At least "
        "0.001 and below 1.",
        _is_level,
        cli_type=float,
        metavar="SHARE",
    )
    control: Control = parameter(
        "fwer",
        '{"fwer", "fdr"}',
        'Error rate that alpha limits under the calibrated rule. "fwer": the probability of selecting any factor that '
        'adds nothing. "fdr": the expected share of such factors among those selected; it finds more if many factors '
        "have an effect.",
        choices=get_args(Control),
    )
    goal: Goal = parameter(
        "explain",
        '{"explain", "predict"}',
        'Purpose of a selection by the calibrated rule. "explain": select only factors for which there is evidence. '
        '"predict": select other factors as well if they improve a cross-validated fit, for use in a predictive model.',
        choices=get_args(Goal),
    )
    split: bool = parameter(
        False,
        "bool",
        "Whether to select on a random half of the rows and estimate on the other half. Importances that are estimated "
        "on the rows used for selection are somewhat too large.",
        checks.boolean,
        cli_type=bool,
    )

    verbose: int = parameter(0, "int", "If positive, print each step to standard error.")

    forced: "Factors | None" = parameter(
        None,
        "names, positions or mask, optional",
        "Factors that are always selected, such as control variables. The selection and the importance of other "
        "factors are conditional on them.",
        cli_type=list,
        metavar="NAMES",
    )
    max_factors: int | None = parameter(
        None,
        "int, optional",
        "Maximum number of factors to select, not counting {forced}.",
        optional(lambda name, value: checks.at_least(name, value, 1)),
        cli_type=int,
        metavar="N",
    )
    min_factors: int = parameter(
        0,
        "int",
        "Minimum number of factors to select, not counting {forced}. If the rule selects fewer, those are added that "
        "explain most beside the selected ones. There is no evidence for them; they keep a pipeline from ending "
        "without columns.",
        lambda name, value: checks.at_least(name, value, 0),
    )

    compact: bool | float = parameter(
        False,
        "bool or float",
        "Whether to keep only a small set of factors that explains nearly as much as all selected ones: within one "
        "standard error (chance and bias) of R², or within the given share of the variance of y, such as 0.01.",
        _is_compact,
        cli_type="switch or share",
        metavar="[SHARE]",
    )
    importance: Importance = parameter(
        "total",
        '{"total", "shapley"}',
        'Measure of importance. "total": the share of the explained variance that is lost without the factor. '
        '"shapley": its fair share, the contribution averaged over all orders of the selected factors; fair shares add '
        "up to 1.",
        choices=get_args(Importance),
    )
    cluster_cut: float | Literal["auto"] | None = parameter(
        "auto",
        '"auto", float or None',
        'Where to cut the dependence tree into clusters of factors that share information. "auto": any one of them '
        "keeps three quarters of what all of them add, or removing any one costs far less than its share. A number "
        "from 0 to 1: they explain at least this share of each other. None: do not analyse shared information, which "
        "saves time.",
        _is_cluster_cut,
        cli_type=float,
        metavar="SHARE",
    )

    def _check_combinations(self) -> None:
        for name, default in (("alpha", Settings.alpha), ("control", Settings.control)):
            if self.rule != "calibrated" and getattr(self, name) != default:
                self._refuse_ignored(name)
        if self.max_factors is not None and self.min_factors > self.max_factors:
            raise checks.InputError(
                "{min_factors} must be at most {max_factors} ({most}); got {least}.",
                most=self.max_factors,
                least=self.min_factors,
            )
        if self.rule == "calibrated" and (self.forward, self.elimination) != ("full", "batch"):
            raise checks.InputError(
                "{forward} must be 'full' and {elimination} 'batch' with {rule='calibrated'}, which has its own steps; "
                "got {first!r} and {second!r}.",
                first=self.forward,
                second=self.elimination,
            )
        if self.goal == "predict" and self.rule != "calibrated":
            raise checks.InputError(
                "{goal='predict'} goes with {rule='calibrated'}; got {given}.",
                given=checks.Mention("rule", repr(self.rule)),
            )

    def _refuse_ignored(self, name: str) -> None:
        """Raise an error for a parameter of the calibrated rule, which the paper's rule would ignore."""
        raise checks.InputError(
            '{one} is for {rule="calibrated"}; {way_out}.', one=checks.Mention(name, ""), way_out=self._way_to(name)
        )

    def _way_to(self, name: str) -> checks.Message:
        return checks.Message("add that, or leave out {one}", one=checks.Mention(name, ""))

    def selection(self) -> dict[str, Any]:
        """Return the settings of the selection by name."""
        others = {each.name for each in fields(Options)} | {"verbose"}
        return {each.name: getattr(self, each.name) for each in fields(Settings) if each.name not in others}

    def resolve_estimator(self) -> Self:
        """Return the settings with an estimator: by default one that shows the effects which the rule finds."""
        return replace(
            self, variance_estimator=self.variance_estimator or ("nearest" if self.rule == "paper" else "adaptive")
        )


def _is_count(name: str, value: Any) -> None:
    checks.at_least(name, value, 1)


def _is_size(name: str, value: Any) -> None:
    from ._utils.memory import parse_size  # only if it is needed

    parse_size(name, value)


@dataclass(frozen=True)
class RankSettings(Settings):
    """Parameters of `rank`: those of `FIRST`, and columns and rows to use, the method, and the reading of files."""

    factors: Sequence[str] = parameter(
        (),
        "names or globs",
        "Columns to use as factors: names or globs such as 'x*'. Default: all but the target.",
        cli_type=list,
        metavar="NAMES",
    )
    drop: Sequence[str] = parameter(
        (), "names or globs", "Columns to leave out: names or globs.", cli_type=list, metavar="NAMES"
    )
    leaks: Leaks = parameter(
        "warn",
        '{"warn", "drop", "keep"}',
        'Columns that contain the target, such as its logarithm or its parts. "warn": they are ranked, and named '
        'first. "drop": they are left out, and listed with the other columns that are. "keep": they are not looked '
        "for.",
        choices=get_args(Leaks),
    )
    regroup: bool = parameter(
        False,
        "bool",
        "Whether to take dummies of one category, which are proposed as a group otherwise, as one factor.",
        checks.boolean,
        cli_type=bool,
    )
    weight: Any = parameter(
        None,
        "str or array-like, optional",
        "Column with the weight of each row, which is then not used as a factor, or the weights themselves.",
        cli_type=str,
        metavar="COLUMN",
        cli_help="Column with the weight of each row. It is not used as a factor.",
    )
    groups: Any = parameter(
        None,
        "str or array-like, optional",
        "Column with the group of each row, such as a person or a month, which is then not used as a factor, or the "
        "groups themselves. Rows of the same group are never neighbours.",
        cli_type=str,
        metavar="COLUMN",
        cli_help="Column with the group of each row, such as a person or a month: rows of the same group are never "
        "neighbours. It is not used as a factor.",
    )
    date_parts: bool = parameter(
        False,
        "bool",
        "Whether to add the season, weekday and hour of each date as separate factors. A date itself is a number of "
        "days.",
        checks.boolean,
        cli_type=bool,
    )
    unique: bool = parameter(
        False,
        "bool",
        "Whether to keep only one of the rows that are equal in all columns used.",
        checks.boolean,
        cli_type=bool,
    )
    where: Mapping[str, Any] | None = parameter(
        None,
        "mapping, optional",
        "Rows to use, by the values of columns, such as {example}: a range as a pair, whose ends belong to it and of "
        "which one may be None, or a list of values. Rows must meet all conditions; those without a value do not.",
        optional(_is_where),
        cli_type="filters",
        metavar="NAME=VALUES",
        example={"age": (18, 65), "region": ["north", "south"]},
        cli_help="Rows to use: age=18..65 or region=north,south. Ends belong to a range, and one may be left out. Rows "
        "must meet all conditions. Names and values with commas or signs are put in double quotes.",
    )
    sample: int | None = parameter(
        None,
        "int, optional",
        "Number of rows to draw at random.",
        optional(lambda name, value: checks.at_least(name, value, 3)),
        cli_type=int,
        metavar="N",
    )
    method: Method = parameter(
        "first",
        '{"first", "first-fast", "backward", "total"}',
        'Kind of search. "first": forward selection, then backward elimination. "first-fast": the same, but factors '
        'are dropped early. "backward": elimination from all factors. "total": the total index of every factor, '
        "without a selection. The last two give intervals for up to 30 factors. All but the first use the paper's "
        "rule.",
        choices=get_args(Method),
    )
    rule: Rule | None = with_default(  # type: ignore[assignment]
        Settings,
        "rule",
        None,
        'Default: calibrated with {method="first"}, paper with the other methods.',
    )
    stability: int | None = parameter(
        None,
        "int, optional",
        "Number of random pairs of half-samples on which to repeat the selection, to show how often each factor is "
        "selected.",
        optional(_is_count),
        cli_type=int,
        metavar="N",
    )
    seed: int = parameter(
        0,
        "int",
        "Seed for all random draws.",
        lambda name, value: checks.at_least(name, value, 0),
        cli_type=int,
        metavar="N",
    )
    jobs: int = parameter(
        -1, "int", "Number of threads; -1 means all cores.", checks.job_count, cli_type=int, metavar="N"
    )
    memory: str | int | None = parameter(
        None,
        "str or int, optional",
        "Maximum memory, such as 4GB or 500MB: a larger table stays in its file and is read a few columns at a time. "
        "Results are bit-for-bit identical. Files other than Parquet and Arrow are first converted to Parquet, in the "
        "folder for temporary files. Default: read the table into memory.",
        optional(_is_size),
        cli_type=str,
        metavar="SIZE",
    )
    scheduler: str | None = parameter(
        None,
        "str, optional",
        "Address of a Dask scheduler, such as tcp://10.0.0.1:8786. Its workers do the search and read the files "
        "themselves. Results are bit-for-bit identical.",
        cli_type=str,
        metavar="ADDRESS",
    )
    workers: int | None = parameter(
        None,
        "int, optional",
        "Number of processes of a local Dask cluster that does the search. Threads ({jobs}) are faster if the table "
        "fits into memory.",
        optional(lambda name, value: checks.at_least(name, value, 1)),
        cli_type=int,
        metavar="N",
    )
    format: FileFormat | None = parameter(
        None,
        "str, optional",
        "Format of the file. Default: detected from its first bytes and its name.",
        choices=get_args(FileFormat),
    )
    table: str | None = parameter(
        None, "str, optional", "Sheet or table to read, if a file has several.", cli_type=str, metavar="NAME"
    )
    na: Sequence[str] = parameter(
        (),
        "sequence of str",
        "Values that stand for a missing value, such as '?' or -999.",
        cli_type=list,
        metavar="VALUE",
    )
    decimal: Decimal | None = parameter(
        None,
        '{".", ","}, optional',
        "Decimal mark of numbers in text files. Default: detected from the first lines.",
        choices=get_args(Decimal),
    )

    @property
    def selects(self) -> bool:
        """True if the method is a variant of FIRST, which selects factors."""
        return self.method in ("first", "first-fast")

    @property
    def on_cluster(self) -> bool:
        """True if the workers of a cluster do the search."""
        return self.scheduler is not None or self.workers is not None

    @classmethod
    def parse(cls, given: Mapping[str, Any]) -> Self:
        """Take the settings from keyword arguments, and settings that others decide from these."""
        given = present_names(given, RANK, SAME)
        given |= {name: _as_names(name, given[name]) for name in _NAMING if given.get(name) is not None}
        for name in ("period", "scale"):
            if isinstance(given.get(name), Mapping):
                given[name] = {_as_name(name, column): number for column, number in given[name].items()}
        if isinstance(given.get("factor_groups"), Mapping):
            groups = given["factor_groups"]
            given["factor_groups"] = {str(key): _as_names("factor_groups", some) for key, some in groups.items()}
        method = given.get("method", cls.method)
        decided = {
            "n_jobs": given.get("jobs", cls.jobs),
            "random_state": given.get("seed", cls.seed),
            "rule": given.get("rule") or ("calibrated" if method == "first" else "paper"),
            "forward": "fast" if method == "first-fast" else cls.forward,
        }
        settings = cls(**{**given, **decided})
        for name in ("alpha", "control"):
            if name in given and settings.rule != "calibrated":
                settings._refuse_ignored(name)
        return settings

    def _way_to(self, name: str) -> checks.Message:
        rule = checks.Mention("rule", '"paper"')
        return checks.Message(
            "leave out {one} or {other}",
            one=checks.Mention(name, ""),
            other=rule if self.method == "first" else self._given_method,
        )

    @property
    def _given_method(self) -> checks.Mention:
        return checks.Mention("method", f'"{self.method}"')

    def _check_combinations(self) -> None:
        if self.rule == "calibrated" and self.method != "first":
            raise checks.InputError(
                '{rule="calibrated"} goes with {method="first"} only; got {given}.', given=self._given_method
            )
        for name in ("split", "stability", "max_factors", "compact"):
            if getattr(self, name) and not self.selects:
                raise checks.InputError(
                    '{parameter} goes with {method="first"} or {method="first-fast"}; got {given}.',
                    parameter=checks.Mention(name, ""),
                    given=self._given_method,
                )
        elsewhere = [name for name in ("memory", "scheduler", "workers") if getattr(self, name) is not None]
        if len(elsewhere) > 1:
            one, other = (checks.Mention(name, "") for name in elsewhere[:2])
            raise checks.InputError("{one} does not go with {other}. Leave out one of them.", one=one, other=other)
        for name in ("unique", "stability"):
            if elsewhere and getattr(self, name):
                raise checks.InputError(
                    "{one} does not go with {other}: it takes all columns of many rows at a time. Leave out one of "
                    "them.",
                    one=checks.Mention(name, ""),
                    other=checks.Mention(elsewhere[0], ""),
                )
        if elsewhere and self.where:
            raise checks.InputError(
                "{where=} does not go with {other}. Leave out one of them, or write these rows to a file of their own.",
                other=checks.Mention(elsewhere[0], ""),
            )
        if self.forced and self.method == "total":
            raise checks.InputError(
                '{forced=} is for methods that select factors; got {method="total"}, which has all of them.'
            )
        super()._check_combinations()


class OptionsDict(TypedDict, total=False):
    """The fields of `Options` as keyword arguments, for type checkers."""

    n_neighbors: int | None
    n_outer: int | float | None
    subsample: Subsample
    scale: "bool | Mapping[Any, float]"
    categorical: "Factors | None"
    factor_groups: "Mapping[str, Factors] | None"
    period: "Mapping[Any, float] | None"
    missing: Missing
    task: Task
    response_scale: ResponseScale
    output_weights: Sequence[float] | None
    n_jobs: int | None
    random_state: Any
    variance_estimator: VarianceEstimator | None
    checkpoint: "str | os.PathLike[str] | None"


class RankDict(TypedDict, total=False):
    """The parameters of `rank` as keyword arguments, for type checkers, in the order of the help."""

    factors: Names
    drop: Names
    leaks: Leaks
    categorical: Names
    factor_groups: Mapping[str, Names]
    regroup: bool
    period: Mapping[Any, float]
    date_parts: bool
    task: Task
    response_scale: ResponseScale
    output_weights: Sequence[float]
    missing: Missing
    weight: Any
    groups: Any
    unique: bool
    where: Mapping[str, Any] | None
    sample: int | None
    method: Method
    rule: Rule | None
    alpha: float
    control: Control
    goal: Goal
    forced: Names
    max_factors: int | None
    compact: bool | float
    importance: Importance
    cluster_cut: float | Literal["auto"] | None
    variance_estimator: VarianceEstimator | None
    split: bool
    stability: int | None
    n_neighbors: int | None
    n_outer: int | float | None
    seed: int
    jobs: int
    memory: str | int | None
    scheduler: str | None
    workers: int | None
    checkpoint: "str | os.PathLike[str] | None"
    scale: bool | Mapping[Any, float]
    format: FileFormat | None
    table: str | None
    na: Names
    decimal: Decimal | None


class RankKeywords(RankDict, total=False):
    """Keyword arguments of `rank`: its parameters, and names of scikit-learn that it takes beside its own."""

    n_jobs: int
    random_state: int
    sample_weight: Any


# Parameters of `rank` that name columns, and values that stand for missing ones.
_NAMING = ("factors", "drop", "categorical", "forced", "na")


def _as_names(parameter: str, names: Any) -> list[str]:
    """Return names as text: columns of data frames may be called by numbers."""
    try:
        several = [names] if isinstance(names, str) or not isinstance(names, Iterable) else list(names)
    except TypeError as error:  # an array without dimensions
        raise checks.wrong(parameter, "a list of names", names) from error
    return [_as_name(parameter, name) for name in several]


def _as_name(parameter: str, name: Any) -> str:
    kinds = (str, numbers.Real) if parameter == "na" else (str, numbers.Integral)  # -999.0 may stand for missing
    if not isinstance(name, kinds) or checks.is_boolean(name):
        raise checks.InputTypeError(
            "{parameter} must hold names of columns; got {name!r}.", parameter=checks.mention(parameter), name=name
        )
    return str(name)


# The parameters of `rank` and of the command, in the order of the help.
RANK = tuple(RankDict.__annotations__)


# Names that parameters had before 0.3, in Python and on the command line. They work until 0.5, with a FutureWarning.
RENAMED = {
    "cluster": "scheduler",
    "estimator": "variance_estimator",
    "group": "factor_groups",
    "response": "response_scale",
}

# Names of scikit-learn that `rank` takes beside its own.
SAME = {"n_jobs": "jobs", "random_state": "seed", "sample_weight": "weight"}


def present_names(
    given: Mapping[str, Any], known: Collection[str], same: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """Return keyword arguments by the names that parameters have now, and those of ``same`` by the names they mean.

    An old name gives a FutureWarning, an unknown one an error with the closest known name.
    """
    named = dict[str, Any]()
    for name, value in given.items():
        old = name not in known and RENAMED.get(name) in known
        now = RENAMED[name] if old else same.get(name, name)
        if now not in known:
            raise checks.unknown_option(name, {*known, *same})
        if now in named or (now != name and now in given):
            raise checks.InputTypeError(
                "{one} and {other} are the same parameter. Leave out one of them.",
                one=checks.Mention(name, ""),
                other=checks.Mention(now, ""),
            )
        if old:
            checks.warn_user(f"{name} is now called {now}; the old name works until 0.5. Use {now}=.", FutureWarning)
        named[now] = value
    return named


def find(name: str, settings: type[Options] = RankSettings) -> Field[Any]:
    """Return the definition of a parameter."""
    return next(each for each in fields(settings) if each.name == name)


def document(item: Documented, settings: type[Options] = Settings) -> Documented:
    """Describe the parameters of a function or class in the line ``{parameters}`` of its docstring; a decorator."""
    known = {each.name for each in fields(settings)}
    parameters = inspect.signature(item).parameters.values()  # type: ignore[arg-type]
    names = [each.name for each in parameters if each.name in known]
    described = [_describe(name, settings) for name in names]
    item.__doc__ = (item.__doc__ or "").replace("{parameters}", "\n".join(described).strip())
    return item


def help_text(name: str, settings: type[Options] = RankSettings) -> str:
    """Return the description of a parameter for a docstring."""
    details = find(name, settings).metadata
    return checks.Message(details["help"], example=details["example"]).render(lambda other: f"``{other}``")


def _describe(name: str, settings: type[Options]) -> str:
    """Format a parameter for numpydoc, indented as in a docstring."""
    kind, text = find(name, settings).metadata["kind"], help_text(name, settings)
    body = textwrap.fill(text, 106, break_long_words=False, break_on_hyphens=False)
    return textwrap.indent(f"{name} : {kind}\n{textwrap.indent(body, '    ')}", "    ")
