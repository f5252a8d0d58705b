"""What we require on real tables: that models lose little, and that differences from other tests are explained."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ...methods.ours import ALPHA
from ...runs.experiments import CLASSIC_TABLES, CLEANED_TABLES
from ...scores.estimates import Estimate
from ...scores.ordinary import loss
from ..verdicts import Verdict
from .claim import Judged, Requirement
from .ordinary import OURS, PREDICT

MEAN_LOSS, LARGE_LOSS, MOST_LOSERS = 0.010, 0.02, 4

Explained = dict[tuple[str, str], str]
"""Why answers differ, by table and factor."""


def selectors(factor: dict[str, Any]) -> list[bool]:
    """Return whether the linear model, splines and the calibrated rule select a factor."""
    return [factor["linear"] <= ALPHA, factor["splines"] <= ALPHA, factor["selected"]]


def differences(tables: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the factors of all tables that some select and others do not."""
    return [
        (title, name)
        for title, table in tables.items()
        for name, factor in table["factors"].items()
        if len(set(selectors(factor))) > 1
    ]


def is_large(one: Estimate) -> bool:
    """Tell whether a loss is more than 0.02, and more than two standard errors of the mean over folds."""
    return one.value > LARGE_LOSS and one.value > 2 * one.standard_error


def judge_classic(tables: dict[str, Any], explained: Explained) -> list[Judged]:
    """Hold what is said of classic tables against what is required."""

    def check() -> tuple[bool, str]:
        found = differences(tables)
        count = sum(one in explained for one in found)
        return count == len(found), f"{count} of {len(found)} differences"

    return [
        _judge(
            CLASSIC_TABLES.name,
            "Every difference from OLS or logistic regression + Holm and from splines + Holm is explained.",
            "a reason for each factor that one of the three selects and another does not",
            check if tables else None,
        )
    ]


def judge_cleaned(tables: dict[str, Any]) -> list[Judged]:
    """Hold what models lose against what is required."""
    found = []
    for method, which in ((OURS, "selected factors"), (PREDICT, 'factors that `goal="predict"` selects')):
        losses = {title: loss(table, method) for title, table in tables.items()}
        found += [
            _judge(
                CLEANED_TABLES.name,
                f"The best model on the {which} is on average nearly as good as the best on all.",
                f"R² or AUC lower by at most {MEAN_LOSS:.3f}, mean over tables",
                partial(_small_mean, losses) if tables else None,
            ),
            _judge(
                CLEANED_TABLES.name,
                f"On few tables the best model on the {which} loses much.",
                f"by over {LARGE_LOSS} and over two standard errors over folds on at most {MOST_LOSERS} tables",
                partial(_few_losers, losses) if tables else None,
            ),
        ]
    return found


def _small_mean(losses: dict[str, Estimate]) -> tuple[bool, str]:
    mean = round(sum(one.value for one in losses.values()) / len(losses), 9)
    return mean <= MEAN_LOSS, f"{mean:+.4f} on {len(losses)} tables".replace("-", "−")


def _few_losers(losses: dict[str, Estimate]) -> tuple[bool, str]:
    large = [title for title, one in losses.items() if is_large(one)]
    return len(large) <= MOST_LOSERS, f"{len(large)} of {len(losses)}{': ' if large else ''}{', '.join(large)}"


def _judge(experiment: str, says: str, means: str, check: Callable[[], tuple[bool, str]] | None) -> Judged:
    """Return a verdict on what is stored, if anything is."""
    holds, measured = check() if check else (False, "")
    requirement = Requirement(experiment, says, means, lambda _: (holds, measured))
    if check is None:
        return Judged(requirement, Verdict.NOT_RUN, "")
    return Judged(requirement, requirement.verdicts[0] if holds else requirement.verdicts[1], measured)
