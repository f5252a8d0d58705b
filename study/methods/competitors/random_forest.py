"""RF and RF-SHAP: importances of a random forest with the defaults of the R package ranger."""

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.arrays import Floats
from ..forest.forest import Forest, grow
from ..outcome import Outcome

BATCHES, EXPLAINED, BACKGROUND = 10, 10, 15
"""RF-SHAP explains some rows in batches, and in each, other rows replace the values of factors that are left out."""


def random_forest(X: Floats, y: NDArray[Any], seed: int) -> Outcome:
    """RF: mean decrease of the impurity; ranks only.

    The forest is the study's own because scikit-learn's takes about eight times as long, and because leaves are as
    large as in ranger, which counts repeated rows of a bootstrap sample where scikit-learn counts distinct ones.
    """
    forest = grow(X, y, seed=seed)
    return Outcome(forest.impurity_importances, None, forest.oob_error())


def random_forest_shap(X: Floats, y: NDArray[Any], seed: int) -> Outcome:
    """RF-SHAP: mean absolute SHAP value of the same forest's predictions; ranks only.

    Shapley values with factors that are left out drawn from other rows whatever the rest is ("interventional"), which
    is what the R package fastshap estimates by sampling; trees allow `shap` to compute them exactly for given rows.
    A hundred rows stand for all; were they compared with the same few others, a chance of those would move all of
    them, so every batch has its own. From seed to seed, importances vary by a tenth on Friedman's function.
    """
    rng = np.random.default_rng(seed)
    forest = grow(X, y, seed=seed)
    values = []
    for _ in range(BATCHES):
        rows = rng.choice(len(X), EXPLAINED + BACKGROUND, replace=False)
        values.append(_shap_values(forest, X[rows[:EXPLAINED]], X[rows[EXPLAINED:]]))
    return Outcome(np.abs(np.concatenate(values)).mean(axis=0), None)


def _shap_values(forest: Forest, explained: Floats, background: Floats) -> Floats:
    """Return what each factor adds to the prediction of each explained row, compared with the background."""
    with warnings.catch_warnings():
        # Importing it takes seconds, and touches what matplotlib is going to deprecate.
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        import shap
    explainer = shap.TreeExplainer(_for_shap(forest), data=background)
    values: Floats = explainer.shap_values(explained, check_additivity=False)
    return values


def _for_shap(forest: Forest) -> dict[str, list[dict[str, NDArray[Any]]]]:
    """Return a forest in the form that `shap` takes from any source: predictions are sums over trees."""
    leaf = forest.factor < 0
    left, right = np.where(leaf, -1, forest.left), np.where(leaf, -1, forest.left + 1)
    nodes = {
        "children_left": left,
        "children_right": right,
        "children_default": left,
        "features": forest.factor,
        "thresholds": forest.threshold,
        "values": forest.value[:, None] / (len(forest.starts) - 1),
        "node_sample_weight": forest.size.astype(np.float64),
    }
    trees = pairwise(forest.starts.tolist())
    return {"trees": [{name: part[start:end] for name, part in nodes.items()} for start, end in trees]}
