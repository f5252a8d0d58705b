"""What `fit` leaves for later, and that it is the same then."""

import gc
import pickle
import threading
import weakref
from copy import deepcopy

import numpy as np
import pytest
from joblib import Parallel, delayed
from sample_tables import friedman
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline

from firstfactor import FIRST, DataQualityWarning
from firstfactor.inference import row_order
from firstfactor.selection import fitting
from firstfactor.variance.conditional import open_variances

LATER = ("standard_errors_", "p_values_", "q_values_", "alone_", "clusters_", "tree_", "explanations_")


@pytest.fixture
def table():
    X, y = friedman(300)
    X[:, 5] = X[:, 0] + 0.05 * X[:, 6]
    return X, y


@pytest.fixture
def nothing_found(monkeypatch):
    """Fail if anything is found that is left for later."""
    for module, name in (
        (fitting, "find_sharing"),
        (fitting, "plug_in"),
        (fitting, "add_order"),
        (row_order, "fit_other_blocks"),
    ):
        monkeypatch.setattr(module, name, lambda *_, name=name, **__: pytest.fail(f"{name} was called"))


def say(selector):
    """All that is found later, as text with every digit."""
    with np.printoptions(floatmode="unique", threshold=10_000):
        said = [repr(getattr(selector, name)) for name in LATER]
    sharing = selector.indices_.sharing
    return [*said, repr(sharing.tree.dependence.tolist()), repr(sharing.alone), repr(selector.indices_.findings)]


@pytest.mark.usefixtures("nothing_found")
@pytest.mark.parametrize("parameters", [{}, {"rule": "calibrated"}, {"split": True}, {"n_jobs": 2}])
def test_a_fit_finds_no_more_than_the_selection(table, parameters):
    X, y = table
    selector = FIRST(random_state=0, **parameters).fit(X, y, groups=np.arange(300) // 3)
    assert selector.selected_.size
    assert selector.transform(X).shape == (300, selector.support_.sum())


@pytest.mark.usefixtures("nothing_found")
def test_pipelines_and_searches_find_no_more(table):
    X, y = table
    search = GridSearchCV(make_pipeline(FIRST(), LinearRegression()), {"first__max_factors": [1, 3]}, cv=2).fit(X, y)
    assert clone(search.best_estimator_[0]).get_params() == search.best_estimator_[0].get_params()


@pytest.mark.parametrize(
    "parameters", [{}, {"rule": "calibrated"}, {"n_jobs": 2, "variance_estimator": "extrapolated"}]
)
def test_the_order_of_looking_is_no_matter(table, parameters):
    X, y = table
    one, other = (FIRST(random_state=0, **parameters).fit(X, y) for _ in range(2))
    for name in LATER[::-1]:
        getattr(other, name)
    assert say(one) == say(other)


def test_it_is_of_the_table_that_was_fitted(table):
    X, y = table
    weights, groups = np.random.default_rng(0).uniform(1, 2, size=300), np.arange(300) // 3
    for scale in (True, False):
        expected = say(FIRST(scale=scale).fit(X.copy(), y.copy(), weights.copy(), groups.copy()))
        given = X.copy(order="F"), y.copy(), weights.copy(), groups.copy()
        selector = FIRST(scale=scale).fit(*given)
        for array in given:
            array[:] = array[::-1].copy()
            array[:50] = 0
        assert say(selector) == expected


def test_a_pickle_has_everything_but_the_table(table):
    X, y = table
    expected = say(FIRST().fit(X, y))
    wide = np.hstack([X, np.random.default_rng(0).normal(size=(300, 200))])
    for copied in (pickle.loads(pickle.dumps(FIRST().fit(X, y))), deepcopy(FIRST().fit(X, y))):
        assert say(copied) == expected
    pickled = pickle.dumps(FIRST(max_factors=2).fit(wide, y))
    assert len(pickled) < wide.nbytes / 4


@pytest.mark.slow
def test_estimators_from_other_processes_know_as_much(table):
    X, y = table
    here, there = (
        cross_validate(FIRST(), X, y, cv=2, scoring=lambda *_: 0.0, return_estimator=True, n_jobs=n_jobs)["estimator"]
        for n_jobs in (1, 2)
    )
    assert [say(one) for one in here] == [say(one) for one in there]


def test_the_table_is_let_go_of_once_all_was_looked_at(table, monkeypatch):
    designs = []

    def open_and_watch(*arguments, **options):
        variances = open_variances(*arguments, **options)
        designs.append(weakref.ref(variances.design))
        return variances

    monkeypatch.setattr("firstfactor.first.open_variances", open_and_watch)
    selector = FIRST().fit(*table)
    assert designs[0]() is not None
    say(selector)
    gc.collect()
    assert designs[0]() is None


@pytest.mark.slow
def test_several_threads_may_look(table):
    X, y = table
    expected = say(FIRST(n_jobs=2, variance_estimator="extrapolated").fit(X, y))
    selector, seen = FIRST(n_jobs=2, variance_estimator="extrapolated").fit(X, y), []
    threads = [threading.Thread(target=lambda: seen.append(say(selector))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [expected] * 4
    assert Parallel(n_jobs=2)([delayed(say)(selector)]) == [expected]


def test_there_is_nothing_before_a_fit(table):
    for name in LATER:
        assert not hasattr(FIRST(), name)
    with pytest.raises(NotFittedError):
        _ = FIRST().alone_
    selector = FIRST().fit(*table)
    before = say(selector)
    assert say(selector.fit(table[0][:, ::-1], table[1])) != before  # nothing of an earlier fit is left


def test_rows_that_follow_each_other_are_told_if_that_is_clear_or_looked_for(monkeypatch):
    rng = np.random.default_rng(0)
    X, noise = rng.uniform(size=(400, 3)), np.zeros(400)
    for i in range(1, 400):
        noise[i] = 0.8 * noise[i - 1] + rng.normal()
    y = 3 * X[:, 0] + noise
    monkeypatch.setattr(row_order, "CLEAR", np.inf)
    selector = FIRST().fit(X, y)
    assert [one.kind for one in selector.indices_.findings] == ["order"]
    monkeypatch.setattr(row_order, "CLEAR", 1.0)
    with pytest.warns(DataQualityWarning, match="alike beyond what the factors explain"):
        FIRST().fit(X, y)
