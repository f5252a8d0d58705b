"""How well a random forest predicts with the selected factors of a real table, and with all."""

from collections.abc import Sequence

import numpy as np

from .forest import grow
from .setting import Setting
from .tables import as_numbers, load


def test_errors(setting: Setting, repetition: int, selected: Sequence[int]) -> tuple[float, float]:
    """Return the error on the rows for testing: of a forest on the selected factors, and of one on all."""
    X, y = load(setting.source)
    codes, (train, test) = as_numbers(X), setting.rows(repetition)

    def error(columns: Sequence[int]) -> float:
        columns = list(columns)
        forest = grow(codes[train][:, columns], y[train], seed=repetition)
        return float(np.mean((forest.predict(codes[test][:, columns]) - y[test]) ** 2))

    return error(selected), error(range(setting.n_factors))
