"""Designs and observations made in one step, as tests of later stages want them."""

from firstfactor.data.design import build_design
from firstfactor.data.encoding import encode_table, refuse_missing
from firstfactor.data.observations import read_table


def read_design(X, categorical=None, *, missing="level", **more):
    encoded = encode_table(X, categorical)
    if missing == "error":
        refuse_missing(encoded)
    return build_design(encoded, **more)


def read_observations(*table, **more):
    return read_table(*table, **more).observe()
