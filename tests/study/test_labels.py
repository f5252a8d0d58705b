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
            (Setting("noise-3-classes", 1000, 10), "Noise, 3 classes, N = 1,000, p = 10"),
            (Setting("noise", 1000, 10, part="20 % missing at random"), "Noise, N = 1,000, p = 10, 20 % missing"),
            (
                Setting("friedman", 1000, 10, part="5 % missing by value"),
                "Friedman, p = 10, ρ = 0.0, 5 % missing by value",
            ),
            (Setting("noise-panel", 600, 10), "Panel of noise, 30 × 20 rows, p = 10"),
            (Setting("noise", 1000, 10, 0.95), "Noise, N = 1,000, p = 10, ρ = 0.95"),
            (Setting("small-effect", 20_000, 20), "0.3 % effect, N = 20,000, p = 20"),
            (Setting("sines", 500, 20, 0.5), "Five sines, N = 500, p = 20, ρ = 0.5"),
            (Setting("friedman", 1000, 20, 0.5, part="given"), "Friedman, p = 20, ρ = 0.5"),
            (Setting("concrete", 1030, 8, part="shuffled"), "Concrete Compressive Strength"),
            (Setting("panel", 1000, 4), "Panel, 50 × 20 rows, p = 3 + 1"),
        ],
    )
    def test_a_label_says_what_is_not_the_same_everywhere(self, setting: Setting, text: str) -> None:
        assert label(setting) == text

    def test_estimates_can_show_their_sign_and_more_digits(self) -> None:
        assert Estimate(-0.01234, 0.1, 100).text(3, sign=True) == "−0.012 ± 0.010"
        assert Estimate(0.01234, 0.1, 100).text(4, sign=True) == "+0.0123 ± 0.0100"
