"""A run that was stopped goes on from its last finished step, with the same bits."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from tables import friedman

from firstfactor import FIRST, rank
from firstfactor.variance import conditional


def table(n_rows=300):
    X, y = friedman(n_rows, factors=20)
    return np.asarray(X), np.asarray(y)


def assert_same(one, other):
    assert one.kept == other.kept
    for name in ("values", "standard_errors", "p_values"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert repr(one) == repr(other)


SETTINGS = [{}, {"rule": "calibrated"}, {"split": True}, {"rule": "calibrated", "split": True}, {"n_outer": 0.5}]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_run_goes_on_after_any_step(tmp_path, settings):
    X, y = table()
    path = tmp_path / "run.json"
    whole = FIRST(random_state=0, **settings).fit(X, y).indices_
    assert_same(whole, FIRST(random_state=0, checkpoint=path, **settings).fit(X, y).indices_)
    content = json.loads(path.read_text())
    keys = list(content["found"])
    assert len(keys) >= len(whole.path.steps) - 1
    for count in range(len(keys)):
        path.write_text(json.dumps(content | {"found": {key: content["found"][key] for key in keys[:count]}}))
        assert_same(whole, FIRST(random_state=0, checkpoint=path, **settings).fit(X, y).indices_)
        assert list(json.loads(path.read_text())["found"]) == keys


def test_what_was_found_is_not_searched_again(tmp_path, monkeypatch):
    X, y = table()
    path = tmp_path / "run.json"
    selector = FIRST(random_state=0, checkpoint=path).fit(X, y)
    monkeypatch.setattr(conditional.Search, "prepare", None)  # of every forward step but the first
    assert_same(selector.indices_, FIRST(random_state=0, checkpoint=path).fit(X, y).indices_)


def test_a_checkpoint_of_something_else_is_refused(tmp_path):
    X, y = table()
    path = tmp_path / "run.json"
    FIRST(random_state=0, checkpoint=path, n_outer=100).fit(X, y)
    before = path.read_bytes()
    others = [
        (X, y, {"n_neighbors": 3, "n_outer": 100}),
        (X, y, {"random_state": 1, "n_outer": 100}),
        (X, y, {"scale": {0: 3.0}, "n_outer": 100}),
        (X, y + X[:, 0], {"n_outer": 100}),
        (np.where(X[5, 5] == X, 0.5, X), y, {"n_outer": 100}),
    ]
    for other_X, other_y, settings in others:
        with pytest.raises(ValueError, match=r"run.json was written for another table .* Remove it to start anew"):
            FIRST(checkpoint=path, **{"random_state": 0} | settings).fit(other_X, other_y)
    assert path.read_bytes() == before


def test_other_files_and_folders_are_refused(tmp_path):
    X, y = table()
    for text in ("not json", "[1]", "{}"):
        (tmp_path / "other").write_text(text)
        with pytest.raises(ValueError, match="is a file of something else"):
            FIRST(random_state=0, checkpoint=tmp_path / "other").fit(X, y)
    with pytest.raises(OSError, match="nowhere"):
        FIRST(random_state=0, checkpoint=tmp_path / "nowhere" / "run.json").fit(X, y)


@pytest.mark.parametrize("seed", [None, np.random.default_rng(0)], ids=["None", "Generator"])
def test_a_seed_is_needed(tmp_path, seed):
    with pytest.raises(ValueError, match="needs a whole number as random_state="):
        FIRST(random_state=seed, checkpoint=tmp_path / "run.json").fit(*table())


def test_rank_has_checkpoints_and_halves_have_none(tmp_path):
    import polars as pl

    X, y = table()
    data = pl.DataFrame(X, schema=[f"x{j}" for j in range(X.shape[1])]).with_columns(y=pl.Series(y))
    whole = rank(data, "y", stability=2)
    for _ in range(2):
        again = rank(data, "y", stability=2, checkpoint=tmp_path / "run.json")
        assert_same(whole.indices, again.indices)
        np.testing.assert_array_equal(whole.stability.frequencies, again.stability.frequencies)


def test_a_killed_process_goes_on(tmp_path):
    path, script = tmp_path / "run.json", tmp_path / "run.py"
    script.write_text(
        textwrap.dedent(f"""
        import sys, warnings
        sys.path[:0] = {[str(Path(__file__).parents[1])]!r}
        import numpy as np
        from tables import friedman
        from firstfactor import FIRST
        warnings.simplefilter("ignore")
        X, y = friedman(4000, factors=100)
        print(FIRST(random_state=0, checkpoint={str(path)!r}).fit(X, y).importances_.tobytes().hex())
        """)
    )
    for _ in range(3):
        known = _count(path)
        with subprocess.Popen([sys.executable, script], stdout=subprocess.DEVNULL) as process:
            while _count(path) <= known and process.poll() is None:
                time.sleep(0.005)
            os.kill(process.pid, signal.SIGKILL)
    assert list(tmp_path.iterdir()) and _count(path) >= 1
    printed = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True).stdout
    X, y = friedman(4000, factors=100)
    assert printed.strip() == FIRST(random_state=0).fit(X, y).importances_.tobytes().hex()


def _count(path):
    return len(json.loads(path.read_text())["found"]) if path.exists() else 0
