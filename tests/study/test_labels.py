"""What settings are called."""

import pytest

from study.data.labels import label
from study.data.setting import Setting
from study.scores.estimates import Estimate
from study.scores.results import at


class TestLabels:
    @pytest.mark.parametrize(
        ("setting", "text"),
        [
            (at("friedman", 0.9, 100), "Friedman, p = 100, ρ = 0.9"),
            (Setting("friedman", 10_000, 5, 0.8, part="model"), "Friedman, N = 10,000, p = 5, ρ = 0.8"),
            (Setting("ishigami", 1000, 5, 0.0, True, "model"), "Ishigami, p = 3 + 2, ρ = 0.0, two classes"),
            (Setting("noise", 200, 10), "Noise, N = 200, p = 10"),
            (Setting("mixed", 1000, 6), "Mixed factors, p = 3 + 3"),
        ],
    )
    def test_a_label_says_what_is_not_the_same_everywhere(self, setting: Setting, text: str) -> None:
        assert label(setting) == text

    def test_estimates_can_show_their_sign_and_more_digits(self) -> None:
        assert Estimate(-0.01234, 0.1, 100).text(3, sign=True) == "−0.012 ± 0.010"
        assert Estimate(0.01234, 0.1, 100).text(4, sign=True) == "+0.0123 ± 0.0100"
