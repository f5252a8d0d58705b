"""How well a random forest predicts with the selected factors of a real table, and with all."""

from collections.abc import Sequence

import numpy as np

from ..data.real_tables import as_numbers, load
from ..data.setting import Setting
from ..methods.forest.forest import grow


def test_errors(setting: Setting, repetition: int, selected: Sequence[int]) -> tuple[float, float]:
    """Return the error on the rows for testing: of a forest on the selected factors, and of one on all.

    It is the mean squared error, or the share of rows put into the wrong class. With folds, squared errors are divided
    by the variance of the response: that is 1 − R².
    """
    X, y = load(setting.source)
    unit = float(y.var()) if setting.part == "fold" and not setting.classes else 1.0
    codes, (train, test) = as_numbers(X), setting.rows(repetition)

    def error(columns: Sequence[int]) -> float:
        columns = list(columns)
        if not columns:  # the best guess without any factor
            predicted = np.full(len(test), y[train].mean())
        else:
            predicted = grow(codes[train][:, columns], y[train], seed=repetition).predict(codes[test][:, columns])
        if setting.classes:
            predicted = predicted > 0.5
        return float(np.mean(np.square(predicted.astype(float) - y[test]))) / unit

    return error(selected), error(range(setting.n_factors))
