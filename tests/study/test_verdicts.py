"""When a measured number agrees with a printed one."""

import numpy as np
import pytest

from study.paper.verdicts import Printed, agrees, beats, quantiles_agree
from study.scores.estimates import Estimate, Quantiles, estimate
from study.scores.results import NotRunError, at
from tests.study.rows import results_of, selections


class TestVerdicts:
    @pytest.mark.parametrize(
        ("share", "printed", "expected"),
        [(1.0, "1.00", True), (1.0, "0.99", True), (0.0, "0.01", True), (1.0, "0.90", False), (0.2, "0.85", False)],
    )
    def test_shares_of_a_hundred_runs(self, share: float, printed: str, expected: bool) -> None:
        assert (
            agrees(
                estimate(np.repeat([1.0, 0.0], [round(100 * share), round(100 - 100 * share)]), True), Printed(printed)
            )
            == expected
        )

    @pytest.mark.parametrize(("beyond", "expected"), [(-1e-6, True), (1e-6, False)])
    @pytest.mark.parametrize("sign", [-1, 1])
    def test_a_mean_may_be_two_standard_errors_and_half_a_digit_off(
        self, beyond: float, expected: bool, sign: int
    ) -> None:
        deviation, n = 0.05, 25
        allowed = 2 * deviation * np.sqrt(1 / n + 1 / 100) + 0.005
        assert agrees(Estimate(0.5 + sign * (allowed + beyond), deviation, n), Printed("0.50")) == expected

    def test_a_mean_without_spread_is_not_taken_for_certain(self) -> None:
        assert agrees(estimate(np.ones(100)), Printed("0.99"))
        assert not agrees(estimate(np.ones(100)), Printed("0.90"))

    @pytest.mark.parametrize(("text", "half"), [("0.99", 0.005), ("0.016", 0.0005), ("6", 0.5)])
    def test_half_a_unit_of_the_last_digit(self, text: str, half: float) -> None:
        assert Printed(text).half_unit == pytest.approx(half)

    def test_better_means_by_more_than_two_standard_errors(self) -> None:
        worse = Estimate(0.5, 0.3, 100)
        assert beats(Estimate(0.5 + 0.0849, 0.3, 100), worse)
        assert not beats(Estimate(0.5 + 0.0848, 0.3, 100), worse)

    @pytest.mark.parametrize(
        ("measured", "expected"),
        [
            (Quantiles(4, 4, 4), True),
            (Quantiles(5, 4, 6), True),
            (Quantiles(6, 6, 6), False),
            (Quantiles(5, 5, 6), False),
        ],
    )
    def test_medians_must_lie_between_the_others_quantiles(self, measured: Quantiles, expected: bool) -> None:
        assert quantiles_agree(measured, Quantiles(4, 4, 5), 0.49) == expected

    def test_fewer_than_ten_rows_are_not_judged(self) -> None:
        setting = at("ishigami", 0.0)
        results = results_of(selections("FIRST", setting, 9, 9))
        with pytest.raises(NotRunError):
            results.mean("FIRST", setting, "exact")
