"""Pairs of factors: their numbers, their order, and what is said of the strongest."""

import numpy as np
import pandas as pd
import pytest

from firstfactor import interactions


def product_and_copies(rows=500):
    """a and b work together, c and d carry the same information, e means nothing."""
    rng = np.random.default_rng(0)
    a, b, c, e, noise = rng.normal(size=(5, rows))
    X = pd.DataFrame({"a": a, "b": b, "c": c, "d": c + 0.05 * noise, "e": e})
    return X, a * b + c + 0.1 * rng.normal(size=rows)


@pytest.fixture(scope="module")
def found():
    return interactions(*product_and_copies())


def test_the_sign_tells_what_two_factors_do(found):
    assert len(found.pairs) == 10
    values = dict(zip(found.pairs, found.values, strict=True))
    assert values[0, 1] == pytest.approx(-0.5, abs=0.1)
    assert values[2, 3] == pytest.approx(0.5, abs=0.1)
    assert all(abs(value) < 0.15 for pair, value in values.items() if pair not in ((0, 1), (2, 3)))
    p_values = dict(zip(found.pairs, found.p_values, strict=True))
    assert max(p_values[0, 1], p_values[2, 3]) < 1e-6
    assert min(p for pair, p in p_values.items() if pair not in ((0, 1), (2, 3))) > 0.001


def test_the_strongest_are_named_and_come_first(found):
    assert found.pairs[found.strongest(together=True)] == (0, 1)
    assert found.pairs[found.strongest(together=False)] == (2, 3)
    assert {found.pairs[k] for k in found.order[:2]} == {(0, 1), (2, 3)}
    assert found.sentence().startswith("a and b work together most (0.")
    assert " c and d share most (0." in found.sentence()
    frame = found.to_frame()
    assert list(frame.columns) == ["first", "second", "interaction", "standard_error", "p_value"]
    assert frame["interaction"].abs().is_monotonic_decreasing
    assert str(found).splitlines()[0] == found.sentence()
    assert "a × b" in str(found) and "−0." in str(found)


def test_where_nothing_is_sure_nothing_is_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    nothing = interactions(X, X.sum(axis=1) + 0.5 * rng.normal(size=200))
    assert nothing.strongest(together=True) is None
    assert nothing.strongest(together=False) is None
    assert nothing.sentence() == "No two factors work together or stand in for each other for sure."


def test_pairs_of_some_factors_are_those_of_all(found):
    some = interactions(*product_and_copies(), factors=["a", "b", "e"])
    assert some.pairs == ((0, 1), (0, 4), (1, 4))
    among_all = [found.pairs.index(pair) for pair in some.pairs]
    np.testing.assert_allclose(some.values, found.values[among_all], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(some.standard_errors, found.standard_errors[among_all], rtol=1e-9)


@pytest.mark.parametrize("factors", [["a"], [], ["a", "a"], [False] * 5])
def test_fewer_than_two_factors_have_no_pair(factors):
    none = interactions(*product_and_copies(60), factors=factors)
    assert none.pairs == () and none.values.shape == (0,)
    assert len(none.to_frame()) == 0
    assert "No two factors" in str(none)


def test_names_cannot_command_a_terminal():
    X, y = product_and_copies(300)
    said = str(interactions(X.rename(columns={"a": "a\x1b[31m\n", "c": ""}), y))
    assert "\x1b" not in said
    assert "a\N{REPLACEMENT CHARACTER}[31m and b work together most" in said
    assert "(no name) and d share most" in said
