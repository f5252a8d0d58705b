"""All methods of the study by name. The competitors are imported when first used."""

import importlib

import numpy as np

from .ours import OURS, Method

COMPETITORS = {
    "LASSO": "lasso:lasso",
    "FILTER": "loess_filter:loess_filter",
    "COSSO": "cosso:cosso",
    "KFOCI": "kfoci:kfoci",
    "RF": "random_forest:random_forest",
    "RF-SHAP": "random_forest:random_forest_shap",
    "RF-VS": "rfvs:rfvs",
    "VIMP-R2": "vimp:vimp_r2",
    "VIMP-ACC": "vimp:vimp_accuracy",
    "PYFIRST-RANK": "pyfirst_rank:pyfirst_rank",
    "OLS-HOLM": "linear_tests:ols_holm",
    "SPLINE-HOLM": "linear_tests:spline_holm",
    "PRODUCTS-HOLM": "linear_tests:products_of_two",
    "TRIPLES-HOLM": "linear_tests:products_of_three",
    "BEST-THREE": "linear_tests:best_three",
    "LASSO-SET": "linear_tests:lasso_set",
    "KNOCKOFFS": "knockoffs:knockoffs",
    "LOGISTIC-HOLM": "glm_tests:logistic_holm",
    "POISSON-HOLM": "glm_tests:poisson_holm",
    "ORDERED-HOLM": "glm_tests:ordered_holm",
    "SPLINE-DROP": "dropped:spline_drop",
    "PRODUCTS-DROP": "dropped:products_drop",
    "GP-DROP": "gaussian_process:gp_drop",
}

NAMES = (*OURS, *COMPETITORS)


def method(name: str) -> Method:
    """Return the method of this name."""
    if name in OURS:
        return OURS[name]
    module, function = COMPETITORS[name].split(":")
    found: Method = getattr(importlib.import_module(f"study.methods.competitors.{module}"), function)
    return found


def warm_up(name: str) -> None:
    """Run a method once on a small table, so that the first time that is taken holds no compiling."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(150, 4))
    noisy = X[:, 0] + 0.2 * rng.normal(size=150)
    y = noisy > noisy.mean() if name == "VIMP-ACC" else noisy
    if name == "FIRST-INTEGERS":
        import pandas as pd

        X = pd.DataFrame(X, columns=list("abcd"))
    method(name)(X, y, 0)
