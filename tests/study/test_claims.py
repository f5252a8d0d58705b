"""Statements of the paper, judged by stored rows."""

import pytest

from study.paper import claims
from study.paper.verdicts import Verdict
from study.runs.experiments import BY_NAME
from study.scores.results import Results, at
from tests.study.rows import results_of, selections

ONLY_SHOWN = {"after-selection", "too-few-rows", "missing-values", "time-order"}


class TestClaims:
    def judged(self, results: Results, says: str) -> claims.Judged:
        (claim,) = [one for one in claims.ALL if says in one.says]
        return claims.judge(claim, results)

    @pytest.mark.parametrize(("n_exact", "verdict"), [(30, Verdict.DIFFERS), (90, Verdict.AGREES)])
    def test_heavy_tailed_at_least_85_percent(self, n_exact: int, verdict: Verdict) -> None:
        settings = [at("heavy-tailed", tenth / 10) for tenth in range(10)]
        results = results_of([one for setting in settings for one in selections("FIRST", setting, n_exact, 100)])
        judged = self.judged(results, "at least 85 %")
        assert judged.verdict == verdict
        assert f"{n_exact / 100:.2f}" in judged.measured

    @pytest.mark.parametrize(("n_exact", "verdict"), [(55, Verdict.AGREES), (95, Verdict.DIFFERS)])
    def test_friedman_in_about_half_of_the_runs(self, n_exact: int, verdict: Verdict) -> None:
        results = results_of(selections("FIRST", at("friedman", 0.9), n_exact, 100))
        assert self.judged(results, "about half of the runs").verdict == verdict

    def test_without_rows_nothing_is_judged(self, nothing: Results) -> None:
        assert {claims.judge(claim, nothing).verdict for claim in claims.ALL} == {Verdict.NOT_RUN}

    @pytest.mark.slow
    def test_with_all_rows_everything_is_judged(self, everything: Results) -> None:
        assert Verdict.NOT_RUN not in {claims.judge(claim, everything).verdict for claim in claims.ALL}

    def test_every_claim_is_about_an_experiment(self) -> None:
        assert {claim.experiment for claim in claims.ALL} <= set(BY_NAME)

    def test_every_experiment_has_a_claim_but_those_that_only_show(self) -> None:
        assert {claim.experiment for claim in claims.ALL} == set(BY_NAME) - {"originals", *ONLY_SHOWN}
