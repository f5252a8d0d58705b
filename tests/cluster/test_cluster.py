"""Searches on a cluster of processes: the same bits as in memory, whatever is lost on the way."""

import threading
import time

import joblib
import numpy as np
import pandas as pd
import pytest

from firstfactor import FIRST, total_indices
from firstfactor.cluster import client as client_module
from firstfactor.cluster.client import ClusterError, DaskCluster, quiet
from firstfactor.results.indices import Indices
from firstfactor.selection import calibrated

distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")
da = pytest.importorskip("dask.array")

from cluster.processes import Processes  # noqa: E402

N_ROWS, N_FACTORS = 400, 70  # two blocks


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    cluster = Processes(tmp_path_factory.mktemp("cluster"))
    yield cluster
    cluster.close()


@pytest.fixture
def client(processes):
    with quiet(), distributed.Client(processes.address) as client:
        client.wait_for_workers(2, timeout=60)
        yield client
        assert client.amm.running()  # Dask is left as it was, after errors and lost workers too


@pytest.fixture(scope="module")
def table():
    """Numbers, text, whole numbers and gaps; the response depends on the first five factors."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(N_ROWS, N_FACTORS)), columns=[f"x{j}" for j in range(N_FACTORS)])
    y = 10 * np.sin(np.pi * X.x0 * X.x1) + 20 * (X.x2 - 0.5) ** 2 + 10 * X.x3 + 5 * X.x66 + rng.normal(size=N_ROWS)
    X["x5"], X["x6"] = rng.choice(list("abc"), N_ROWS), rng.integers(0, 5, N_ROWS)
    X["x7"] = X.x7.mask(rng.uniform(size=N_ROWS) < 0.1)
    return X.assign(y=y)


def split(table):
    X = table.drop(columns="y")
    frame = dd.from_pandas(table, npartitions=3)
    return X, table.y, frame[list(X.columns)], frame["y"]


def assert_same(one: Indices, other: Indices):
    """Every number has the same bits."""
    assert one.kept == other.kept
    assert one.noise_variance == other.noise_variance
    for name in ("values", "standard_errors", "p_values"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for a, b in zip(one.path.steps, other.path.steps, strict=True):
        assert (a.base, a.candidates, a.chosen, a.p_value) == (b.base, b.candidates, b.chosen, b.p_value)
        np.testing.assert_array_equal(a.explained, b.explained)
    assert repr(one) == repr(other)
    assert one.findings == other.findings


SETTINGS = [
    {},
    {"rule": "calibrated"},
    {"scale": False, "n_outer": 50},
    {"factor_groups": {"both": ["x1", "x66"]}, "period": {"x3": 1.0}, "categorical": ["x6"]},
    {"missing": "drop", "forward": "fast"},
    {"rule": "calibrated", "split": True, "max_factors": 3},
    {"rule": "calibrated", "control": "fdr", "alpha": 0.3},
    {"variance_estimator": "extrapolated", "max_factors": 2},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_collections_give_the_same_bits_as_tables_in_memory(client, table, settings):
    X, y, lazy_X, lazy_y = split(table)
    here = FIRST(random_state=0, **settings).fit(X, y)
    there = FIRST(random_state=0, **settings).fit(lazy_X, lazy_y)
    assert_same(here.indices_, there.indices_)
    np.testing.assert_array_equal(here.feature_names_in_, there.feature_names_in_)
    deadline = time.monotonic() + 10
    while left := client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks)):
        assert time.monotonic() < deadline, left  # what is released goes away soon


@pytest.fixture
def evidence(monkeypatch):
    """What calibrated rules say of the factors left out, one after the other."""
    found, select = [], calibrated.CalibratedRule.select

    def note(*given):
        selection = select(*given)
        found.append(selection.evidence)
        return selection

    monkeypatch.setattr(calibrated.CalibratedRule, "select", note)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("control", ["fwer", "fdr"])
@pytest.mark.parametrize("n_rows", [N_ROWS, 120], ids=["enough rows", "a lasso"])
def test_functions_of_others_copies_and_many_factors(client, table, evidence, control, n_rows):  # noqa: ARG001
    """What is in another block than what it is a function of is found as well."""
    some = table.iloc[:n_rows]
    copy = some.x66 + 0.1 * np.random.default_rng(1).normal(size=n_rows)
    X, y, lazy_X, lazy_y = split(some.assign(x67=some.x3**2, x68=np.exp(some.x0), x9=copy))
    here, there = (
        FIRST(rule="calibrated", control=control, random_state=0).fit(*each) for each in ((X, y), (lazy_X, lazy_y))
    )
    assert_same(here.indices_, there.indices_)
    assert evidence[0] == evidence[1]
    assert evidence[0].functions_of and len(evidence[0].p_values) > 50


@pytest.mark.parametrize("settings", [{}, {"rule": "calibrated"}], ids=str)
def test_tables_in_memory_are_sent_to_a_cluster(client, table, settings):  # noqa: ARG001
    X, y, *_ = split(table)
    here = FIRST(random_state=0, **settings).fit(X, y)
    with joblib.parallel_config(backend="dask"):
        there = FIRST(random_state=0, **settings).fit(X, y)
    assert_same(here.indices_, there.indices_)


def test_classes_groups_and_weights(client, table):  # noqa: ARG001
    X, y, lazy_X, _ = split(table)
    classes = pd.Series(np.where(y > y.median(), "high", "low"))
    weights, groups = np.linspace(0, 2, N_ROWS), np.arange(N_ROWS) // 3
    here = FIRST(random_state=0).fit(X, classes, weights, groups)
    there = FIRST(random_state=0).fit(
        lazy_X, dd.from_pandas(classes, npartitions=3), da.from_array(weights), dd.from_pandas(pd.Series(groups))
    )
    assert_same(here.indices_, there.indices_)


def test_arrays_and_total_indices(client, table):  # noqa: ARG001
    X, y = table[["x0", "x1", "x2", "x3"]].to_numpy(), table.y.to_numpy()
    lazy_X, lazy_y = da.from_array(X, chunks=(150, 3)), da.from_array(y, chunks=150)
    np.testing.assert_array_equal(total_indices(X, y).values, total_indices(lazy_X, lazy_y).values)
    selector = FIRST().fit(lazy_X, lazy_y)
    np.testing.assert_array_equal(selector.transform(lazy_X).compute(), FIRST().fit(X, y).transform(X))


@pytest.mark.slow
def test_only_selected_columns_come_to_the_client(client, table, monkeypatch):  # noqa: ARG001
    _, _, lazy_X, lazy_y = split(pd.concat([table] * 20, ignore_index=True))
    sizes, gather = [], DaskCluster.compute

    def watch(self, submit):
        found = gather(self, submit)
        sizes.append(_size(found))
        return found

    monkeypatch.setattr(DaskCluster, "compute", watch)
    selector = FIRST(cluster_cut=None).fit(lazy_X, lazy_y)
    column = 8 * 20 * N_ROWS
    assert max(sizes) < 2 * column
    assert sum(sizes) < (len(selector.selected_) + 5) * column


def _size(found):
    if isinstance(found, np.ndarray):
        return found.nbytes
    if isinstance(found, (list, tuple)):
        return sum(map(_size, found))
    if isinstance(found, dict):
        return sum(map(_size, found.values()))
    return sum(map(_size, vars(found).values())) if hasattr(found, "__dict__") else 0


@pytest.fixture
def submitted(monkeypatch):
    """The names of all tasks; a function in ``then`` is called when one begins with its key."""
    names, then, submit = [], {}, DaskCluster.submit

    def watch(self, name, *arguments, **more):
        names.append(name)
        future = submit(self, name, *arguments, **more)
        for start in [start for start in then if name.startswith(start)]:
            then.pop(start)()
        return future

    monkeypatch.setattr(DaskCluster, "submit", watch)
    return names, then


def test_names_of_tasks_say_which_step_and_block(client, table, submitted):  # noqa: ARG001
    _, _, lazy_X, lazy_y = split(table)
    FIRST().fit(lazy_X, lazy_y)
    names, _ = submitted
    assert {"read block 1", "step 2 prepare block 0", "step 3 search block 1", "take x66"} <= set(names)


PHASES = ["count rows", "read block 1", "scale block", "sort columns", "step 2 prepare", "step 3 search", "search 4"]


@pytest.mark.slow
@pytest.mark.parametrize("phase", PHASES)
def test_a_worker_is_killed(client, processes, table, submitted, phase):
    X, y, lazy_X, lazy_y = split(table)
    submitted[1][phase] = lambda: processes.kill_worker(PHASES.index(phase))
    assert_same(FIRST().fit(X, y).indices_, FIRST().fit(lazy_X, lazy_y).indices_)
    assert not submitted[1]
    client.wait_for_workers(2, timeout=60)


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["take some rows", "make functions", "step 2 test", "describe block"])
def test_a_worker_with_data_that_were_sent_is_killed(client, processes, table, submitted, phase):
    X, y, *_ = split(table)
    submitted[1][phase] = lambda: processes.kill_worker(0)
    with joblib.parallel_config(backend="dask"):
        there = FIRST(rule="calibrated", random_state=0).fit(X, y)
    assert_same(FIRST(rule="calibrated", random_state=0).fit(X, y).indices_, there.indices_)
    assert not submitted[1]
    client.wait_for_workers(2, timeout=60)


@pytest.mark.slow
def test_the_scheduler_is_lost(tmp_path, table, submitted):
    own = Processes(tmp_path, n_workers=1)
    _, _, lazy_X, lazy_y = split(table)
    with quiet(), distributed.Client(own.address) as client:
        client.wait_for_workers(1, timeout=60)
        submitted[1]["step 2 search"] = own.close
        with pytest.raises(ClusterError, match=r"the cluster at tcp://127.* was lost.*checkpoint="):
            FIRST().fit(lazy_X, lazy_y)


@pytest.mark.slow
def test_no_workers_are_left(tmp_path, table, monkeypatch):
    monkeypatch.setattr(client_module, "PATIENCE", 0.2)
    monkeypatch.setattr(client_module, "LONGEST_WITHOUT_WORKERS", 1)
    own = Processes(tmp_path, n_workers=0)
    _, _, lazy_X, lazy_y = split(table)
    with (
        quiet(),
        distributed.Client(own.address),
        pytest.raises(ClusterError, match="has had no workers for 1 seconds"),
    ):
        FIRST().fit(lazy_X, lazy_y.compute(scheduler="sync"))
    own.close()


def test_there_is_no_client(table):
    _, _, lazy_X, _ = split(table)
    with pytest.raises(ValueError, match=r"no Dask client.*client = Client\(\)"):
        FIRST().fit(lazy_X, table.y)


def test_a_column_changes_its_type_between_partitions(client, table):  # noqa: ARG001
    dask = pytest.importorskip("dask")
    X = table.drop(columns="y")
    parts = [dask.delayed(X[:200]), dask.delayed(X[200:].assign(x9="text"))]
    lazy_X = dd.from_delayed(parts, meta=X, verify_meta=False)
    with pytest.raises(TypeError, match=r"'x9' of X changes its type: .* in partition 0 and .* in partition 1"):
        FIRST().fit(lazy_X, table.y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"categorical": ["zz"]}, "there is no column 'zz'"),
        ({"missing": "error"}, "column 'x7' of X contains NaN"),
        ({"n_neighbors": 10**6}, "n_neighbors must be"),
        ({"task": "classification"}, "400 classes in 400 rows"),
        ({"subsample": "twinning", "n_outer": 50}, "not in memory here"),
    ],
)
def test_errors_are_those_of_tables_in_memory(client, table, settings, message):  # noqa: ARG001
    _, _, lazy_X, lazy_y = split(table)
    if "subsample" in settings:
        pytest.importorskip("twinning")
    with pytest.raises(ValueError, match=message):
        FIRST(**settings).fit(lazy_X, lazy_y)


def test_repeated_names_and_shapes_are_refused(client, table):  # noqa: ARG001
    X = table[["x0", "x1"]].set_axis(["a", "a"], axis=1)
    with pytest.raises(ValueError, match="distinct column names; repeated: 'a'"):
        FIRST().fit(dd.from_pandas(X, npartitions=2), table.y)
    with pytest.raises(ValueError, match="2-dimensional"):
        FIRST().fit(da.zeros(10), table.y[:10])


@pytest.mark.slow
def test_killed_at_a_random_moment(client, processes, table):
    X, y, lazy_X, lazy_y = split(table)
    here, rng = FIRST().fit(X, y).indices_, np.random.default_rng(0)
    for _ in range(2):
        killer = threading.Timer(rng.uniform(0, 1), processes.kill_worker, [0])
        killer.start()
        assert_same(here, FIRST().fit(lazy_X, lazy_y).indices_)
        killer.join()
        client.wait_for_workers(2, timeout=60)
