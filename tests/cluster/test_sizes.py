"""What Dask is told about sizes."""

import numpy as np
import pytest

from firstfactor.cluster.sizes import size_of, tell_dask
from firstfactor.cluster.tasks import Placed
from firstfactor.data.design import read_design


def test_all_arrays_are_counted_once():
    array = np.zeros(1000)
    assert size_of({"a": [array, (array, "text")], "b": np.zeros(10)}) == 8080


def test_dask_knows_how_large_a_block_is():
    dask = pytest.importorskip("dask.sizeof")
    tell_dask()
    block = Placed(read_design(np.random.default_rng(0).uniform(size=(1000, 5))), (0, 1, 2, 3, 4))
    assert 40_000 <= dask.sizeof(block) <= 41_000
