"""The numbers that the paper prints."""

import numpy as np

from study.paper.printed_numbers import ABALONE, DIMENSION, FAST, ISHIGAMI, REAL_TABLES


class TestPaper:
    def test_both_tables_have_the_same_numbers_of_first(self) -> None:
        for (method, p, rho), cell in FAST.items():
            if method == "FIRST":
                tau, _, seconds = DIMENSION["friedman", p, rho]
                assert (cell[0], cell[-1]) == (tau, seconds)

    def test_the_tables_are_complete(self) -> None:
        assert len(DIMENSION) == len(FAST) == 30 and len(REAL_TABLES) == 9 and len(ABALONE) == 8

    def test_the_closed_form_of_ishigami(self) -> None:
        np.testing.assert_allclose(ISHIGAMI, (0.558, 0.442, 0.244), atol=5e-4)
