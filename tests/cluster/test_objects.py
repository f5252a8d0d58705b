"""Objects that go over the network."""

import pickle
from functools import partial

import numpy as np
import pytest
from designs import read_design

from firstfactor.cluster.tasks import Placed, align, size_of, tell_dask
from firstfactor.neighbors.candidate_search import PartialStep
from firstfactor.results.path import Path, Step


def unaligned(values):
    """The same numbers at an address that is no multiple of their size."""
    values = np.asarray(values, dtype=float)
    buffer = bytearray(values.nbytes + 1)
    array = np.frombuffer(buffer, dtype=float, offset=1, count=values.size).reshape(values.shape)
    array[...] = values
    assert not array.flags.aligned
    return array


def test_arrays_are_aligned_wherever_they_are():
    array = unaligned([1.0, 2.0])
    found = align({"a": [array, (array, "text")], "b": PartialStep({}, (1,), [array], 2.0)})
    assert found["b"].weight == 2.0
    for each in (found["a"][0], found["a"][1][0], found["b"].sums[0]):
        assert each.flags.aligned
        np.testing.assert_array_equal(each, [1.0, 2.0])


def test_aligned_arrays_are_not_copied():
    array = np.ones(3)
    assert align([array])[0] is array


def test_objects_and_what_calls_them_are_changed_in_place():
    step = Step("forward", (), 0.0, (0, 1), unaligned([1.0, 2.0]), ())
    call = partial(Path(("a", "b"), 1.0, (step,)).describe, step)
    assert align(call) is call
    assert step.explained.flags.aligned


def test_workers_can_be_sent():
    from firstfactor._utils.threads import Workers

    assert pickle.loads(pickle.dumps(Workers(2))).count == 2


def test_all_arrays_are_counted_once():
    array = np.zeros(1000)
    assert size_of({"a": [array, (array, "text")], "b": np.zeros(10)}) == 8080


def test_dask_knows_how_large_a_block_is():
    dask = pytest.importorskip("dask.sizeof")
    tell_dask()
    block = Placed(read_design(np.random.default_rng(0).uniform(size=(1000, 5))), (0, 1, 2, 3, 4))
    assert 40_000 <= dask.sizeof(block) <= 41_000
