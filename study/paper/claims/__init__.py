"""What the paper says about its results, in our own words, and what we require; each with a test in numbers."""

from ...scores.results import NotRunError, Results
from ..verdicts import Verdict
from . import (
    abalone,
    classes,
    dimension,
    estimators,
    evidence,
    fast,
    hundred,
    importance,
    importances,
    ordinary,
    ranking,
    real_tables,
    requirements,
    selection,
    sharing,
)
from .claim import Claim, Judged

_FILES = (
    estimators,
    importance,
    ranking,
    selection,
    hundred,
    dimension,
    fast,
    classes,
    abalone,
    real_tables,
    requirements,
    evidence,
    sharing,
    ordinary,
    importances,
)
ALL: tuple[Claim, ...] = tuple(claim for file in _FILES for claim in file.CLAIMS)


def judge(claim: Claim, results: Results) -> Judged:
    """Hold a statement against what is stored."""
    try:
        holds, measured = claim.check(results)
    except NotRunError:
        return Judged(claim, Verdict.NOT_RUN, "")
    if_it_holds, if_not = claim.verdicts
    return Judged(claim, if_it_holds if holds else if_not, measured)


def judge_all(experiment: str, results: Results) -> list[Judged]:
    """Hold all statements about an experiment against what is stored."""
    return [judge(claim, results) for claim in ALL if claim.experiment == experiment]
