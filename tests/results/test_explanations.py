"""Why each factor was selected or left out, in plain sentences that are true."""

import numpy as np
import pytest

from firstfactor import FIRST


def decreasing(rows=300):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 5))
    return X, X @ [3, 2, 1, 0.8, 0] + 0.3 * rng.normal(size=rows)


@pytest.mark.parametrize("rule", ["paper", "calibrated"])
def test_a_limit_is_no_evidence_against_a_factor(rule):
    found = FIRST(rule=rule, max_factors=1, random_state=0).fit(*decreasing())
    assert found.explanations_.reasons[:2] == ("selected", "no room")
    assert "x1 was left out because no more factors were wanted" in found.explain("x1")
    assert not any("never raised" in each and "by +" in each for each in found.explanations_.sentences)
    if rule == "paper":
        last = next(step for step in found.path_.steps if step.phase == "forward")
        added = (last.explained[1] - last.base_explained) / found.path_.response_variance
        assert f"it would add {added:.3f} to R²" in found.explain("x1")
        assert found.explain("x4").startswith("x4 never raised what is explained: with it, R² would change by −0.0")
    unlimited = FIRST(rule=rule, max_factors=5, random_state=0).fit(*decreasing())
    assert "no room" not in unlimited.explanations_.reasons


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        ([], r"factor must be one name or position; got \[\]. explanations_ has all sentences."),
        ([0, 1], r"factor must be one name or position; got \[0, 1\]"),
        ("x9", "factor must name columns of X; there is no column 'x9'. The columns are: 'x0', 'x1'"),
        (5, "factor must hold column names or positions from 0 to 4; got 5"),
        (-1, "factor must hold column names or positions from 0 to 4; got -1"),
        (None, "factor must hold column names or positions from 0 to 4; got None"),
    ],
)
def test_a_factor_that_is_not_one_is_refused(factor, message):
    found = FIRST().fit(*decreasing(rows=60))
    with pytest.raises(ValueError, match=message):
        found.explain(factor)


def test_a_factor_that_varies_only_in_the_half_that_selects_is_selected():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(60) == 30, rng.normal(size=60)]).astype(float)
    y = 100 * X[:, 0] + 0.01 * rng.normal(size=60)
    for seed in range(10):
        found = FIRST(split=True, random_state=seed).fit(X, y)
        for i, reason in enumerate(found.explanations_.reasons):
            assert (reason == "selected") == found.support_[i]
            assert not (reason == "constant" and found.support_[i])
