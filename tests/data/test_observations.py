"""Which rows can be analysed, what they count, and to which group they belong."""

import numpy as np
import pandas as pd
import pytest
from designs import read_observations

from firstfactor import total_indices
from firstfactor.data.observations import Dropped, EncodingOptions

X = pd.DataFrame({"a": [1.0, 2, 4, None, 3, 6], "b": list("uvwuvw")})
Y = [1.0, 2, None, 4, 5, 7]


def test_a_row_is_dropped_for_the_first_reason_that_it_has():
    weights = [1, 0, 0, 2, 1, 1]  # the third has no response either
    observed = read_observations(X, Y, EncodingOptions(missing="drop"), weights)
    assert observed.dropped == Dropped(no_target=1, incomplete=1, no_weight=1, costs=(("a", 1),))
    assert observed.rows.tolist() == [0, 4, 5]
    assert read_observations(X, Y, EncodingOptions(), weights).rows.tolist() == [0, 3, 4, 5]


def test_weights_are_1_on_average_and_absent_if_all_are_equal():
    observed = read_observations(X, Y, EncodingOptions(), [2.0, 0, 9, 4, 4, 6])
    np.testing.assert_allclose(observed.weights, [0.5, 1, 1, 1.5])
    assert (
        read_observations(X, Y, EncodingOptions(), [3.0, 3, 1, 3, 3, 3]).weights is None
    )  # the third row is not there


def test_groups_are_numbered_without_gaps():
    observed = read_observations(X, Y, EncodingOptions(), groups=list("aabbcc"))
    assert observed.groups.tolist() == [0, 0, 1, 2, 2]
    alone = read_observations(X, Y, EncodingOptions(), groups=["a", "a", "lost", "b", "c", "c"])
    assert alone.groups.tolist() == [0, 0, 1, 2, 2]
    with pytest.raises(ValueError, match="groups must tell at least two groups apart"):
        read_observations(X, Y, EncodingOptions(), groups=["a", "a", "lost", "a", "a", "a"])


@pytest.mark.parametrize("how", ["weight", "response", "gap"])
def test_a_column_that_is_constant_in_the_rows_left_does_not_spoil_its_group(how):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": [3.0, 3.0, 3.0, 1.0, 2.0] * 8, "b": rng.normal(size=40), "c": rng.normal(size=40)})
    y, kept, given = rng.normal(size=40), (X["a"] == 3).to_numpy(), {}
    alone = total_indices(X[kept][["b", "c"]], y[kept])
    if how == "weight":
        given["sample_weight"] = kept.astype(float)
    elif how == "response":
        y = np.where(kept, y, np.nan)
    else:
        X["c"] = X["c"].where(kept)
    found = total_indices(X, y, factor_groups={"g": ["a", "b"]}, missing="drop", **given)
    np.testing.assert_allclose(found.values, alone.values)
    np.testing.assert_allclose(found.noise_variance, alone.noise_variance)
