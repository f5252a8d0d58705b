"""From a rule to indices: which estimator, which rows, and what is told on the way."""

import re

import numpy as np
from sample_tables import friedman

from firstfactor import FIRST


def test_rows_set_apart_are_counted():
    X, y = friedman(101)
    path = FIRST(split=True, random_state=0).fit(X, y).path_
    assert (path.n_selection_rows, path.n_rows) == (51, 51)
    assert FIRST().fit(X, y).path_.n_selection_rows == 0


def test_the_calibrated_rule_adapts_if_nobody_says_otherwise():
    X, y = friedman(150)
    given, adaptive, nearest = (
        FIRST(rule="calibrated", random_state=0, variance_estimator=name).fit(X, y).importances_
        for name in (None, "adaptive", "nearest")
    )
    np.testing.assert_array_equal(given, adaptive)
    assert not np.array_equal(given, nearest)


def test_what_is_told_during_the_search_is_what_the_path_says(capsys):
    X, y = friedman(300)
    for rule in ("paper", "calibrated"):
        path = FIRST(rule=rule, n_outer=150, random_state=0, verbose=1).fit(X, 100 * y).path_
        told = re.findall(r"R² (\S+),", capsys.readouterr().err)
        assert told == [path.describe(step)[2] for step in path.steps]
        assert len(told) > 3
