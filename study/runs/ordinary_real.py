"""What the calibrated rule and its peers say of real tables, and how well models predict with the selected factors.

``python -m study.runs.ordinary_real`` writes the file anew, in some five minutes; names of tables after it only
these, and ``--results FOLDER`` puts it elsewhere. Tables of packages that are not installed are passed over.
"""

import argparse
import json
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from firstfactor import FIRST

from ..data.arrays import Floats
from ..data.ordinary_tables import CLASSIC, CLEANED, OrdinaryTable
from ..methods.ours import ALPHA
from ..methods.registry import method
from .store import RESULTS

FILE = "ordinary_real.json"
N_FOLDS, N_DIVISIONS = 5, 2
MAX_ROWS = 2000
"""Of a cleaned table: more are drawn at random."""
SEED = 0
HOLM = "HOLM"
"""Least squares, or logistic regression of two classes, with Holm's procedure."""
SETS = ("CALIBRATED-CHOICE", "CALIBRATED-PREDICT", "LASSO-SET", HOLM)
"""Methods whose sets models are fitted on, beside all factors."""
MODELS = ("boosting", "linear")


def compare(table: OrdinaryTable) -> dict[str, Any]:
    """Return the adjusted p-value of each factor by the peers and by the calibrated rule, and what each selects."""
    from ..methods.competitors.blocks import block_p_values, dummies, holm, splines
    from ..methods.competitors.glm_tests import logistic_p_values

    X, y = table.load()
    classes = y.dtype == bool
    numbers = np.asarray(y, dtype=float)
    linear = logistic_p_values(X, numbers) if classes else block_p_values(dummies(X), numbers)
    ours, selected = _ours(X, y)
    adjusted = (holm(linear), holm(block_p_values(splines(X), numbers)), ours)
    columns = zip(X.columns, *adjusted, selected, strict=True)
    return {
        "n_rows": len(X),
        "n_factors": X.shape[1],
        "model": "logistic" if classes else "OLS",
        "factors": {
            name: {"linear": _digits(a), "splines": _digits(b), "calibrated": _digits(c), "selected": bool(chosen)}
            for name, a, b, c, chosen in columns
        },
    }


def _ours(X: pd.DataFrame, y: Any) -> tuple[Floats, Any]:
    """Return the p-value of each factor, NaN of those that are functions of others, and what is selected."""
    selector = FIRST(rule="calibrated", alpha=ALPHA, random_state=SEED, n_jobs=1).fit(X, y)
    return selector.p_values_, np.isin(np.arange(X.shape[1]), selector.indices_.selected)


def _digits(p_value: float) -> float | None:
    """Return a p-value with three digits that count; None where there is none."""
    return None if np.isnan(p_value) else float(f"{p_value:.2e}")


def predict(table: OrdinaryTable) -> dict[str, Any]:
    """Return the score of models on rows not seen, with all factors and with those selected on the other rows."""
    X, y = table.load()
    if len(X) > MAX_ROWS:
        rows = np.sort(np.random.default_rng(SEED).choice(len(X), MAX_ROWS, replace=False))
        X, y = X.iloc[rows].reset_index(drop=True), y[rows]
    sets, linear_test = ("all", *SETS), "LOGISTIC-HOLM" if y.dtype == bool else "OLS-HOLM"
    scores: dict[str, dict[str, list[float]]] = {model: {one: [] for one in sets} for model in MODELS}
    sizes: dict[str, list[int]] = {one: [] for one in SETS}
    for number, (train, test) in enumerate(folds(y)):
        chosen = {"all": tuple(range(X.shape[1]))}
        for name in SETS:
            select = method(linear_test if name == HOLM else name)
            chosen[name] = select(X.iloc[train].reset_index(drop=True), y[train], number).selected or ()
            sizes[name].append(len(chosen[name]))
        for model in MODELS:
            known: dict[tuple[int, ...], float] = {}
            for name in sets:
                factors = chosen[name]
                if factors not in known:
                    known[factors] = score(model, X.iloc[:, list(factors)], y, train, test)
                scores[model][name].append(round(known[factors], 4))
    shape = {"n_rows": len(X), "n_factors": X.shape[1], "classes": bool(y.dtype == bool)}
    return {**shape, "sizes": sizes, "scores": scores}


def folds(y: Any) -> Iterable[tuple[Any, Any]]:
    """Yield rows to fit and rows to predict: some divisions into five folds, with the same share of classes in each."""
    for division in range(N_DIVISIONS):
        splitter = StratifiedKFold if y.dtype == bool else KFold
        yield from splitter(N_FOLDS, shuffle=True, random_state=division).split(np.zeros((len(y), 1)), y)


def score(model: str, X: pd.DataFrame, y: Any, train: Any, test: Any) -> float:
    """Return R², or of two classes the AUC, of a model on rows that it was not fitted on."""
    classes = y.dtype == bool
    if X.shape[1] == 0:
        return 0.5 if classes else float(r2_score(y[test], np.full(len(test), y[train].mean())))
    columns = pd.get_dummies(X, drop_first=model == "linear").to_numpy(dtype=float)
    fitted = _model(model, classes).fit(columns[train], y[train])
    if classes:
        return float(roc_auc_score(y[test], fitted.predict_proba(columns[test])[:, 1]))
    return float(r2_score(y[test], fitted.predict(columns[test])))


def _model(model: str, classes: bool) -> Any:
    if model == "linear":
        return make_pipeline(
            StandardScaler(), LogisticRegression(C=100.0, max_iter=1000) if classes else LinearRegression()
        )
    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    return kind(max_iter=100, early_stopping=False, random_state=SEED)


def read_ordinary_real(folder: Path = RESULTS) -> dict[str, dict[str, Any]]:
    """Return what is stored: of classic tables what is said, of cleaned ones how well models predict."""
    path = folder / FILE
    stored: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {"classic": {}, "cleaned": {}, **stored}


def write_ordinary_real(names: Iterable[str] = (), folder: Path = RESULTS) -> None:
    """Look at tables anew, all unless some are named, and store what comes of it."""
    wanted, stored = set(names), read_ordinary_real(folder)
    for part, tables, look in (("classic", CLASSIC, compare), ("cleaned", CLEANED, predict)):
        for table in tables:
            if wanted and table.short_name not in wanted:
                continue
            if not table.is_there():
                print(f"{table.title} is passed over: {table.package} is not installed", flush=True)
                continue
            with warnings.catch_warnings(), threadpool_limits(1):
                warnings.simplefilter("ignore")
                stored[part][table.title] = look(table)
            folder.mkdir(parents=True, exist_ok=True)
            text = json.dumps(stored, indent=1, ensure_ascii=False) + "\n"
            (folder / FILE).write_text(text, encoding="utf-8")
            print(table.title, "is done", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", help="Only these tables, such as wage1.")
    parser.add_argument("--results", type=Path, default=RESULTS, help="Folder of the file.")
    arguments = parser.parse_args()
    write_ordinary_real(arguments.names, arguments.results)
