"""Where the score of a model lies between nothing and the ceiling."""

from dataclasses import replace

import numpy as np
import pytest

from firstfactor import rank
from firstfactor.problems import friedman
from firstfactor.results.comparison import compare


@pytest.fixture(scope="module")
def ranking():
    X, y = friedman.sample(400, seed=0, frame="polars")
    return rank(X.with_columns(y=y.to_numpy() + np.random.default_rng(0).normal(scale=4, size=400)), "y")


def test_the_place_of_a_score(ranking):
    low, high = ranking.indices.r2_interval()
    assert 0 < low < high < 1
    found = {score: ranking.compare(score) for score in (-0.5, low / 2, (low + high) / 2, (1 + high) / 2)}
    assert [one.verdict for one in found.values()] == ["nothing", "below", "within", "above"]
    assert {one.interval for one in found.values()} == {(low, high)}
    texts = [str(one) for one in found.values()]
    assert texts[0] == "Your model: an R² of −0.50 is no better than predicting the mean."
    assert f"models of these factors can gain about {low / 2:.2f} to {high - low / 2:.2f} more." in texts[1]
    assert f"{low:.2f}–{high:.2f}: these factors leave at most about {(high - low) / 2:.2f} to gain." in texts[2]
    assert (
        "has overfitted (check it on new rows), or uses information that the selected factors do not have." in texts[3]
    )


def test_a_ceiling_without_a_bound_claims_none(ranking):
    nearest = replace(ranking.indices, estimator="nearest")
    one = compare(nearest, 0.99, "values")
    assert (one.verdict, one.interval) == ("above", None)
    assert str(one).endswith("or the ceiling, which has no upper bound here, is estimated too low.")
    assert "interval" not in str(compare(nearest, 0.1, "values"))


def test_the_score_is_named(ranking):
    assert "an R² of the normal scores of 0.30" in str(compare(ranking.indices, 0.3, "normal-scores"))
    classes = replace(ranking.indices, classes=("no", "yes"))
    assert "an R² of probabilities (Brier skill score) of 0.30" in str(compare(classes, 0.3, "values"))
    assert "predicting the share of each class" in str(compare(classes, 0.0, "values"))


def test_nothing_to_compare_with(ranking):
    empty = compare(replace(ranking.indices, kept=()), 0.3, "values")
    assert (empty.verdict, empty.interval) == ("no ceiling", None)
    assert str(empty) == "There is no ceiling to compare with: nothing was found. Your model has an R² of 0.30."


@pytest.mark.parametrize("score", [45, float("nan"), "0.4", True])
def test_what_is_no_r2_is_refused(ranking, score):
    with pytest.raises(ValueError, match=r"model_score must be an R² of at most 1, such as 0.45 for 45 %; got "):
        ranking.compare(score)


def test_a_notebook_shows_the_sentence():
    X, y = friedman.sample(300, seed=0, frame="polars")
    compared = rank(X.with_columns(y), "y").compare(0.4)
    assert repr(compared) == str(compared) == compared.sentence
