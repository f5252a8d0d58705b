"""Columns that were fetched from workers."""

import numpy as np

from firstfactor.cluster.table import KeptColumns


def test_columns_that_were_not_wanted_for_longest_go_first():
    kept = KeptColumns(2)
    for j in range(2):
        kept.put(j, np.full(3, float(j)))
    assert kept.get(0)[0] == 0
    kept.put(2, np.full(3, 2.0))
    assert kept.get(1) is None
    assert kept.get(0) is not None
    assert kept.get(2) is not None
