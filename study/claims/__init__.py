"""What the paper says in words about its results, in our own words, each with a test in numbers."""

from ..results import Results
from ..verdicts import NotRunError, Verdict
from . import classes, dimension, estimation, real, selection
from .claim import Claim, Judged

ALL = (*estimation.CLAIMS, *selection.CLAIMS, *dimension.CLAIMS, *classes.CLAIMS, *real.CLAIMS)


def judge(claim: Claim, results: Results) -> Judged:
    """Hold a statement against what is stored."""
    try:
        holds, measured = claim.check(results)
    except NotRunError:
        return Judged(claim, Verdict.NOT_RUN, "")
    return Judged(claim, Verdict.AGREES if holds else Verdict.DIFFERS, measured)


def judge_all(experiment: str, results: Results) -> list[Judged]:
    """Hold all statements about an experiment against what is stored."""
    return [judge(claim, results) for claim in ALL if claim.experiment == experiment]
