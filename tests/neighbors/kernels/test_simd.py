"""Vectors in registers do what numpy does."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numba import njit

from firstfactor.neighbors.kernels.simd import (
    at_most,
    broadcast8,
    broadcast16,
    count_bits,
    first_bit,
    greatest,
    larger,
    least,
    load8,
    load16,
    smaller,
    store,
    where_less,
)

NUMBERS = arrays(float, 16, elements=st.floats(-1e6, 1e6))


@njit
def sixteen(a, b, x, out):
    v, w = load16(a, 0), load16(b, 0)
    store(out, 0, v + w)
    store(out, 16, v - w)
    store(out, 32, v * w)
    store(out, 48, v / (w * w + broadcast16(1.0)))
    store(out, 64, smaller(v, w))
    store(out, 80, larger(v, broadcast16(x)))
    store(out, 96, where_less(v, w, broadcast16(x), w))
    return at_most(v, w), least(v), greatest(v)


@given(NUMBERS, NUMBERS, st.floats(-1e6, 1e6))
def test_sixteen_numbers(a, b, x):
    out = np.empty((7, 16))
    bits, low, high = sixteen(a, b, x, out)
    ref = [
        a + b,
        a - b,
        a * b,
        a / (b * b + 1),
        np.minimum(a, b),
        np.maximum(a, x),
        np.where(a < b, x, b),
    ]
    np.testing.assert_allclose(out, ref, rtol=1e-12)
    assert bits == sum(1 << i for i in range(16) if a[i] <= b[i])
    assert (low, high) == (a.min(), a.max())


@njit
def eight(a, at, x):
    v = load8(a, at)
    bits, found = at_most(v, broadcast8(x)), 0.0
    n_found = count_bits(bits)
    while bits != 0:
        found += 2.0 ** first_bit(bits)
        bits &= bits - 1
    return n_found, found, smaller(x, a[0]), larger(x, a[0])


@given(NUMBERS, st.integers(0, 8), st.floats(-1e6, 1e6))
def test_eight_numbers_from_anywhere_and_one_bit_after_the_other(a, at, x):
    n_found, found, low, high = eight(a, at, x)
    assert n_found == np.sum(a[at : at + 8] <= x)
    assert found == sum(1 << i for i in range(8) if a[at + i] <= x)
    assert (low, high) == (min(x, a[0]), max(x, a[0]))
