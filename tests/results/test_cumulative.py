"""A cumulative ranking: its order, its shares, what each factor adds, and how it prints."""

import numpy as np
import pandas as pd
import pytest

from firstfactor import cumulative_ranking


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 3)), columns=["weak", "strong", "nothing"]).assign(same=1.0)
    return cumulative_ranking(X, 2 * X["strong"] + X["weak"] + 0.3 * rng.normal(size=400))


def test_factors_come_in_the_order_of_what_they_add_and_constant_ones_not_at_all(found):
    assert found.ranking == ("strong", "weak", "nothing")
    assert found.order == (1, 0, 2)
    assert found.names == ("weak", "strong", "nothing", "same")


def test_gains_add_up_to_the_shares(found):
    np.testing.assert_allclose(np.cumsum(found.gains), found.values)
    assert found.values == pytest.approx([0.8, 1.0, 1.0], abs=0.05)
    low, high = found.cumulative.interval().T
    assert (low <= found.values).all() and (found.values <= high).all()


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_have_a_row_for_each_factor(found, backend):
    frame = found.to_frame(backend)
    columns = frame.column_names if backend == "pyarrow" else list(frame.columns)
    assert columns == ["factor", "cumulative", "standard_error", "gain"] and len(frame) == 3


def test_it_prints_in_order_with_signs(found):
    lines = str(found).splitlines()
    assert lines[0].split() == ["factor", "cumulative", "standard", "error", "gain"]
    assert [line.split()[0] for line in lines[1:]] == list(found.ranking)
    assert lines[1].split()[-1].startswith("+0.") and "-" not in str(found)


def test_noise_is_ranked_to_the_end_though_less_and_less_seems_to_be_explained():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    found = cumulative_ranking(X, X[:, 4] + 0.5 * rng.normal(size=60), variance_estimator="nearest")
    assert found.order[0] == 4 and len(found.order) == 6
    assert found.gains[1:].min() < 0
    assert found.values[-1] == pytest.approx(1)
