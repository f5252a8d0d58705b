"""A run that was stopped goes on from its last finished step, with the same bits."""

import errno
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sample_tables import friedman

from firstfactor import FIRST, rank
from firstfactor._utils import checkpoint as checkpoint_file
from firstfactor._utils.checkpoint import Checkpoint
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
        path.unlink()
        checkpoint = Checkpoint(path, content["fingerprint"])
        for key in keys[:count]:
            checkpoint.find(key, partial(np.array, content["found"][key]))
        assert_same(whole, FIRST(random_state=0, checkpoint=path, **settings).fit(X, y).indices_)
        assert list(json.loads(path.read_text())["found"]) == keys


def test_what_was_found_is_not_searched_again(tmp_path, monkeypatch):
    X, y = table()
    path = tmp_path / "run.json"
    selector = FIRST(random_state=0, checkpoint=path).fit(X, y)
    monkeypatch.setattr(conditional.Search, "prepare", None)  # of every forward step but the first
    assert_same(selector.indices_, FIRST(random_state=0, checkpoint=path).fit(X, y).indices_)


def moved(X, **changes):
    """A table with some cells changed so little that in each column all rows keep their neighbours."""
    X = X.copy()
    for row, column in changes.values():
        values = np.sort(X[:, column])
        above = values[values > X[row, column]].min()
        X[row, column] += 1e-6 * (above - X[row, column])
    return X


GROUPS, WEIGHTS = np.arange(300) // 2, 1.0 + np.arange(300) % 3
OTHERS = {
    "neighbours": lambda X, y: (X, y, {"n_neighbors": 3}),
    "seed": lambda X, y: (X, y, {"random_state": 1}),
    "unit": lambda X, y: (X, y, {"scale": {0: 3.0}}),
    "procedure": lambda X, y: (X, y, {"max_factors": 2}),
    "forced": lambda X, y: (X, y, {"forced": [3]}),
    "response": lambda X, y: (X, y + X[:, 0], {}),
    "cell": lambda X, y: (moved(X, cell=(7, 5)), y, {}),
    "column": lambda X, y: (X * np.where(np.arange(X.shape[1]) == 0, 10, 1), y, {"scale": False}),
    "order": lambda X, y: (X[::-1], y[::-1], {}),
}


@pytest.mark.parametrize("rule", ["paper", "calibrated"])
@pytest.mark.parametrize("other", OTHERS)
def test_a_checkpoint_of_another_table_or_run_is_refused(tmp_path, other, rule):
    X, y = table()
    other_X, other_y, settings = OTHERS[other](X, y)
    path, settings = tmp_path / "run.json", {"random_state": 0, "rule": rule} | settings
    first = settings if other == "column" else {"random_state": 0, "rule": rule}  # only its units differ
    FIRST(checkpoint=path, **first).fit(X, y)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"run.json was written for another table, .* Remove it to start anew"):
        FIRST(checkpoint=path, **settings).fit(other_X, other_y)
    assert path.read_bytes() == before


@pytest.mark.parametrize("what", ["sample_weight", "groups"])
def test_weights_and_groups_belong_to_the_table(tmp_path, what):
    X, y = table()
    given, path = {"sample_weight": WEIGHTS, "groups": GROUPS}[what], tmp_path / "run.json"
    other = np.where(np.arange(300) == 9, given[20], given)
    whole = FIRST(random_state=0, checkpoint=path).fit(X, y, **{what: given}).indices_
    with pytest.raises(ValueError, match="was written for another table"):
        FIRST(random_state=0, checkpoint=path).fit(X, y, **{what: other})
    assert_same(whole, FIRST(random_state=0, checkpoint=path).fit(X, y, **{what: given}).indices_)


def test_another_version_starts_anew(tmp_path, monkeypatch):
    X, y = table()
    FIRST(random_state=0, checkpoint=tmp_path / "run.json").fit(X, y)
    monkeypatch.setattr(conditional, "__version__", "99.0")
    with pytest.raises(ValueError, match="by another version of firstfactor"):
        FIRST(random_state=0, checkpoint=tmp_path / "run.json").fit(X, y)


def test_the_same_table_and_parameters_are_known_however_they_are_given(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = table()
    path, names = tmp_path / "run.json", [f"x{j}" for j in range(X.shape[1])]
    whole = FIRST(random_state=0, checkpoint=path, forced=[1, 3]).fit(X, y).indices_
    before = path.read_bytes()
    frame = pandas.DataFrame(X, columns=names)
    for forced in (["x1", "x3"], np.array(["x3", "x1"], dtype=object), np.isin(np.arange(X.shape[1]), [1, 3])):
        again = FIRST(random_state=np.int64(0), checkpoint=path, forced=forced, n_jobs=1).fit(frame, y).indices_
        np.testing.assert_array_equal(whole.values, again.values)
    assert path.read_bytes() == before


def edit(change):
    """What changes the content of a checkpoint and writes it as JSON."""

    def apply(text):
        content = json.loads(text)
        change(content)
        return json.dumps(content)

    return apply


def set_found(value):
    return edit(lambda content: content["found"].update(dict.fromkeys(content["found"], value)))


DAMAGES = {
    **{f"no {key}": edit(lambda content, key=key: content.pop(key)) for key in ("format", "fingerprint", "found")},
    "no digest": edit(lambda content: content.pop("digest")),
    "an entry lost": edit(lambda content: content["found"].popitem()),
    "edited numbers": edit(lambda content: [each.reverse() for each in content["found"].values()]),
    "not numbers": set_found(["a", None]),
    "no lists": set_found(1.0),
    "not a number": set_found([float("nan")]),
    "nothing found": edit(lambda content: content.update(found=None)),
    "a list": lambda text: f"[{text}]",
    "nested": lambda text: text.replace('"found": {', '"found": {"a": ' + "[" * 100_000 + "]" * 100_000 + ", "),
    "half": lambda text: text[: len(text) // 2],
    "empty": lambda _: "",
    "not json": lambda _: "not json",
    "not text": lambda text: text.replace("plus", "\udcff"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_is_told_with_its_name_and_the_way_out(tmp_path, damage):
    X, y = table()
    path = tmp_path / "run.json"
    FIRST(random_state=0, checkpoint=path).fit(X, y)
    path.write_text(DAMAGES[damage](path.read_text()), errors="surrogateescape")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"run.json is damaged, .* Name another file, or remove this one to start"):
        FIRST(random_state=0, checkpoint=path).fit(X, y)
    assert path.read_bytes() == before


def test_folders_and_what_is_no_file_are_told(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(ValueError, match=f"checkpoint: {path} is not a file"):
            FIRST(random_state=0, checkpoint=path).fit(*table())
    with pytest.raises(OSError, match="nowhere"):
        FIRST(random_state=0, checkpoint=tmp_path / "nowhere" / "run.json").fit(*table())


def test_a_disk_that_fills_up_costs_the_checkpoint_and_not_the_result(tmp_path, monkeypatch, caplog):
    X, y = table()
    path, begun = tmp_path / "run.json", []

    def write(path, _):
        begun.append(path)
        if len(begun) > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(checkpoint_file, "write_whole", write)
    found = FIRST(random_state=0, checkpoint=path).fit(X, y).indices_
    assert_same(FIRST(random_state=0).fit(X, y).indices_, found)
    assert f"checkpoint {path} cannot be written: No space left on device." in caplog.text


def test_a_report_can_be_written_of_a_run_with_a_checkpoint(tmp_path):
    X, y = table()
    path = tmp_path / "run.json"
    selector = FIRST(random_state=0, checkpoint=path).fit(X, y)
    before = path.read_bytes()
    selector.report(tmp_path / "page.html", X, y)
    assert "depend on?" in (tmp_path / "page.html").read_text(encoding="utf-8") and path.read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("place", [{"memory": "8GB"}, {"workers": 1}], ids=["out of core", "cluster"])
def test_a_table_elsewhere_is_known_again(tmp_path, place):
    import polars as pl

    if "workers" in place:
        pytest.importorskip("distributed")
    X, y = table()
    names = [f"x{j}" for j in range(X.shape[1])]
    pl.DataFrame(X, schema=names).with_columns(y=pl.Series(y)).write_parquet(tmp_path / "t.parquet")
    pl.DataFrame(moved(X, cell=(7, 5)), schema=names).with_columns(y=pl.Series(y)).write_parquet(tmp_path / "u.parquet")
    path = tmp_path / "run.json"
    here = rank(tmp_path / "t.parquet", "y", checkpoint=path).indices
    before = path.read_bytes()
    assert_same(here, rank(tmp_path / "t.parquet", "y", checkpoint=path, **place).indices)
    assert path.read_bytes() == before
    with pytest.raises(ValueError, match="was written for another table"):
        rank(tmp_path / "u.parquet", "y", checkpoint=path, **place)


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


@pytest.mark.slow
def test_a_killed_process_goes_on(tmp_path):
    path, script = tmp_path / "run.json", tmp_path / "run.py"
    script.write_text(
        textwrap.dedent(f"""
        import sys, warnings
        sys.path[:0] = {[str(Path(__file__).parents[1])]!r}
        import numpy as np
        from sample_tables import friedman
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
