"""What can be typed: choices and options of the command, shared by its subcommands. Imports nothing that takes long."""

from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from .job import MOST_WITH_UNCERTAINTY


class EachOnce(TyperCommand):
    """A command that refuses an option with one value if it is given twice, instead of taking the last."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Look for repeated options, then parse as usual."""
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for option, times in Counter(given).items():
            if times > 1 and not getattr(option, "multiple", True) and not getattr(option, "is_flag", True):
                more = (
                    " Several targets are not supported yet: run it once for each." if option.name == "target" else ""
                )
                ctx.fail(f"{option.opts[0]} is given {times} times; it takes one value.{more}")
        return super().parse_args(ctx, args)


class Method(StrEnum):
    """Ways to rank factors."""

    first = "first"
    first_fast = "first-fast"
    backward = "backward"
    total = "total"


class Rule(StrEnum):
    """When a factor enters and stays."""

    paper = "paper"
    calibrated = "calibrated"


class Estimator(StrEnum):
    """Ways to estimate variances."""

    nearest = "nearest"
    extrapolated = "extrapolated"


class Task(StrEnum):
    """Kinds of response."""

    auto = "auto"
    regression = "regression"
    classification = "classification"


class Missing(StrEnum):
    """What to do about missing values."""

    error = "error"
    drop = "drop"


class Format(StrEnum):
    """Formats of a file."""

    csv = "csv"
    tsv = "tsv"
    parquet = "parquet"
    arrow = "arrow"
    jsonl = "jsonl"
    json = "json"
    excel = "excel"
    sqlite = "sqlite"
    duckdb = "duckdb"
    stata = "stata"


class Decimal(StrEnum):
    """Decimal marks."""

    point = "."
    comma = ","


class Demo(StrEnum):
    """Tables to try."""

    friedman = "friedman"
    ishigami = "ishigami"
    heavy_tailed = "heavy-tailed"
    diabetes = "diabetes"
    breast_cancer = "breast-cancer"


def number_or_fraction(text: str) -> int | float:
    """Return a number of rows or a fraction of them."""
    try:
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a number of rows nor a fraction of them.") from None


MethodOption = Annotated[
    Method,
    typer.Option(
        help="first: forward selection, then elimination; first-fast: drops factors early; backward: elimination "
        "from all; total: the total index of every factor, no selection. The last two tell how sure they are for up to "
        f"{MOST_WITH_UNCERTAINTY} factors."
    ),
]
RuleOption = Annotated[
    Rule,
    typer.Option(
        help="When a factor is selected. paper: if it raises what seems to be explained, which some factors do even in "
        "pure noise; calibrated: only if by more than chance would. For --method first."
    ),
]
AlphaOption = Annotated[
    float | None,
    typer.Option(
        "--alpha",
        metavar="SHARE",
        help="How often --rule calibrated may select something from pure noise. Default: 0.1.",
        show_default=False,
    ),
]
EstimatorOption = Annotated[
    Estimator | None,
    typer.Option(
        help="nearest: variances among nearest rows, as in the paper; extrapolated: from local fits to several rows, "
        "slower and less off where neighbours are far. Default: nearest; for --rule calibrated, extrapolated."
    ),
]
SplitOption = Annotated[
    bool,
    typer.Option(
        "--split",
        help="Select on a random half of the rows and estimate on the other, so that importances are not too large.",
    ),
]
StabilityOption = Annotated[
    int | None,
    typer.Option(
        "--stability",
        metavar="N",
        min=1,
        help="Select again on N random pairs of halves of the rows, and tell how often each factor is selected.",
    ),
]
NeighborsOption = Annotated[
    int | None,
    typer.Option("--n-neighbors", metavar="N", help="Rows in a neighbourhood. Default: 2, for two classes 3."),
]
OuterOption = Annotated[
    Any,
    typer.Option(
        "--n-outer",
        metavar="N",
        parser=number_or_fraction,
        help="Average over N rows, or over a fraction of them such as 0.2. Default: all. Saves time.",
    ),
]
FormatOption = Annotated[Format | None, typer.Option("--format", help="Format of DATA. Default: as it looks.")]
TableOption = Annotated[
    str | None, typer.Option("--table", metavar="NAME", help="The sheet or table, where a file has several.")
]
NaOption = Annotated[
    list[str] | None,
    typer.Option(
        "--na", metavar="VALUE", help="A value that stands for a missing one, such as '?' or -999; repeatable."
    ),
]
DecimalOption = Annotated[
    Decimal | None, typer.Option(help="The decimal mark of numbers in text files. Default: as the first lines tell.")
]
SeedOption = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed for all that is drawn at random.")]
JobsOption = Annotated[int, typer.Option("--jobs", metavar="N", help="Threads; -1 is all cores.")]
ScaleOption = Annotated[
    bool, typer.Option("--no-scale", help="Keep the units of numbers, instead of dividing by standard deviations.")
]
HtmlOption = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Write a report, one page that needs no network.")
]
JsonOption = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write all there is to know.")]
CsvOption = Annotated[
    Path | None,
    typer.Option(
        "--csv",
        metavar="FILE",
        help="Write the table of factors; names that spreadsheets would run as formulas get an apostrophe in front.",
    ),
]
PlotOption = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Draw the importances: .png, .svg or .pdf.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show where in the program an error comes from.")]
