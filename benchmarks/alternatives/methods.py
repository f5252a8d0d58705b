"""The methods that are compared: each takes a table and a seed, and says what is important and what it would select.

Packages are imported where they are used, so that one that is not installed stops nobody else. All run on one thread,
with the defaults of their packages where nothing else is said.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

TREES = 100
LEVEL = 0.1
"""Of tests after Holm's procedure, and the share of false discoveries where that is what a method bounds."""
DISTILLED = 30
"""So many factors the dCRT looks at, those that a lasso likes best: its default where there are 300."""
RESAMPLES = 10
"""Of Borgonovo's index, which correct its bias and give an interval; SALib's default, 100, is ten times as slow."""


@dataclass(frozen=True)
class Answer:
    """What a method says."""

    importances: np.ndarray | None
    """One for each factor, larger is more important; None if the method only selects."""
    selected: tuple[int, ...] | None
    """Positions of the selected factors; None if the method only ranks."""


@dataclass(frozen=True)
class Method:
    """A method, and how it is run."""

    name: str
    answer: Callable
    """From factors, response and seed to an `Answer`."""
    package: str
    """What has to be installed."""
    repetitions: int
    """On how many tables of each kind it runs."""
    has_shares: bool = True
    """Whether its importances, divided by their sum, are meant to be read as shares."""
    takes: Callable = lambda _table: True
    """Whether it can take tables of a kind, and is meant for them."""

    @property
    def is_installed(self):
        """Whether it can run here."""
        return find_spec(self.package) is not None


def up_to(most_factors):
    """Take tables with so many factors at most."""
    return lambda table: table.n_factors <= most_factors


def is_tall(table):
    """Take tables with more rows than factors."""
    return table.n_rows > table.n_factors


def is_wide(table):
    """Take tables with more factors than rows."""
    return not is_tall(table)


def _positions(mask):
    return tuple(np.flatnonzero(mask).tolist())


def _firstfactor(**options):
    def answer(X, y, seed):
        from firstfactor import FIRST

        importances = FIRST(random_state=seed, **options).fit(X, y).importances_
        return Answer(importances, _positions(importances))

    return answer


def _pyfirst(X, y, seed):
    import pandas as pd
    from pyfirst import FIRST

    n_knn = 3 if np.unique(y).size == 2 else 2  # as its documentation recommends
    importances = FIRST(pd.DataFrame(X), y, n_knn=n_knn, return_option="total", random_state=seed)
    return Answer(importances, _positions(importances))


def _of_study(name):
    """Return one of the study's own methods; `selected` is None where it only ranks."""

    def answer(X, y, seed):
        from study.methods.registry import method

        found = method(name)(X, y, seed)
        return Answer(found.importances, found.selected)

    return answer


def _linear(X, y, seed):
    """Least squares; of two classes, logistic regression. Only what is selected has an importance."""
    return _of_study("LOGISTIC-HOLM" if np.unique(y).size == 2 else "OLS-HOLM")(X, y, seed)


def _dcrt(X, y, seed):
    """With the lasso on both sides."""
    from hidimstat import D0CRT
    from sklearn.linear_model import LassoCV

    from study.methods.competitors.blocks import holm

    screened = min(100.0, 100 * DISTILLED / X.shape[1])
    test = D0CRT(LassoCV(alphas=10), screening_threshold=screened, fit_y=False, random_state=seed)
    test.fit_importance(X, y - y.mean())  # which it takes to be 0
    return Answer(test.importances_**2, _positions(holm(test.pvalues_) <= LEVEL))


def _boosting(seed):
    from sklearn.ensemble import GradientBoostingRegressor

    return GradientBoostingRegressor(n_estimators=TREES, random_state=seed)


def _permutation(X, y, seed):
    """On rows that the model has not seen. Selected, as in scikit-learn's user guide: means beyond two deviations."""
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import train_test_split

    fitted, held_out, y_fitted, y_held_out = train_test_split(X, y, random_state=seed)
    model = _boosting(seed).fit(fitted, y_fitted)
    found = permutation_importance(model, held_out, y_held_out, n_repeats=10, random_state=seed)
    return Answer(found.importances_mean, _positions(found.importances_mean > 2 * found.importances_std))


def _shap(X, y, seed):
    """The mean absolute Shapley value over all rows."""
    from shap import TreeExplainer

    values = TreeExplainer(_boosting(seed).fit(X, y)).shap_values(X)
    return Answer(np.abs(values).mean(axis=0), None)


def _boruta(X, y, seed):
    """With trees of depth five, as its documentation recommends; it ends when 20 rounds have changed nothing."""
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(max_depth=5)
    found = BorutaPy(forest, n_estimators=TREES, early_stopping=True, random_state=seed).fit(X, y)
    return Answer(None, _positions(found.support_))


def _knockoffs(X, y, seed):
    from knockpy.knockoff_filter import KnockoffFilter

    np.random.seed(seed)  # noqa: NPY002 (knockpy draws from numpy's global generator)
    knockoffs = KnockoffFilter(ksampler="gaussian", fstat="lasso")
    rejected = knockoffs.forward(X, y, fdr=LEVEL)
    return Answer(knockoffs.W, _positions(rejected))


def _salib_problem(X):
    names = [f"x{j + 1}" for j in range(X.shape[1])]
    return {"num_vars": len(names), "names": names, "bounds": np.column_stack([X.min(axis=0), X.max(axis=0)]).tolist()}


def _delta(X, y, seed):
    from SALib.analyze import delta

    found = delta.analyze(_salib_problem(X), X, y, num_resamples=RESAMPLES, method="delta", seed=seed + 1)
    return Answer(found["delta_raw"], None)


def _rbd_fast(X, y, seed):
    from SALib.analyze import rbd_fast

    return Answer(np.asarray(rbd_fast.analyze(_salib_problem(X), X, y, seed=seed + 1)["S1"]), None)


def _hdmr(X, y, seed):
    """The total index from a model of single factors and pairs, fitted once to all rows."""
    from SALib.analyze import enhanced_hdmr

    found = enhanced_hdmr.analyze(_salib_problem(X), X, y, bootstrap=1, seed=seed + 1)
    return Answer(np.asarray(found["ST"][: X.shape[1]]), None)


def _kfoci(X, y, seed):
    """The project's own implementation, which the study compares with the R package KPC."""
    return _of_study("KFOCI")(X / X.std(axis=0), y, seed)


def _mutual_information(X, y, seed):
    from sklearn.feature_selection import mutual_info_regression

    return Answer(mutual_info_regression(X, y, random_state=seed), None)


def _lasso(X, y, _seed):
    """Squared coefficients of standardised factors: shares of the variance, if the model is linear."""
    from sklearn.linear_model import LassoCV

    coefficients = LassoCV().fit((X - X.mean(axis=0)) / X.std(axis=0), y).coef_
    return Answer(coefficients**2, _positions(coefficients))


def saltelli(function, n_factors, n_base, seed):
    """Total indices by Saltelli's design, which calls the function, and how often it was called."""
    from SALib.analyze import sobol
    from SALib.sample import sobol as design

    problem = _salib_problem(np.array([[0.0] * n_factors, [1.0] * n_factors]))
    X = design.sample(problem, n_base, calc_second_order=False, seed=seed + 1)
    y = function(X)
    found = sobol.analyze(problem, y, calc_second_order=False, num_resamples=2, seed=seed + 1)
    return np.asarray(found["ST"]), len(X)


OURS = "firstfactor, calibrated"
OURS_WIDE = 'firstfactor, calibrated, `control="fdr"`'
METHODS = (
    Method(OURS, _firstfactor(rule="calibrated"), "firstfactor", 20),
    Method(OURS_WIDE, _firstfactor(rule="calibrated", control="fdr"), "firstfactor", 20, takes=is_wide),
    Method("firstfactor, the paper's rule", _firstfactor(rule="paper"), "firstfactor", 20),
    Method("pyfirst", _pyfirst, "pyfirst", 20),
    Method("OLS or logistic + Holm", _linear, "statsmodels", 20, has_shares=False, takes=is_tall),
    Method("splines + Holm", _of_study("SPLINE-HOLM"), "study", 20, has_shares=False, takes=is_tall),
    Method("splines without each factor", _of_study("SPLINE-DROP"), "study", 20, takes=up_to(100)),
    Method("dCRT + Holm", _dcrt, "hidimstat", 20, has_shares=False),
    Method("knockoffs, lasso", _knockoffs, "knockpy", 20, has_shares=False),
    Method("lasso", _lasso, "sklearn", 20),
    Method("boosting, permutation", _permutation, "sklearn", 20),
    Method("boosting, SHAP", _shap, "shap", 20),
    Method("Boruta", _boruta, "boruta", 2),
    Method("KFOCI", _kfoci, "study", 20, has_shares=False),
    Method("SALib, delta", _delta, "SALib", 10, takes=up_to(50)),
    Method("SALib, RBD-FAST", _rbd_fast, "SALib", 10, takes=up_to(50)),
    Method("SALib, HDMR", _hdmr, "SALib", 10, takes=up_to(20)),
    Method("mutual information", _mutual_information, "sklearn", 20),
)
