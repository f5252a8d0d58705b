import datetime
import pickle
import re
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sample_tables import friedman, mixed
from scripts import run_script
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from firstfactor import FIRST, backward_elimination, explained_variance, stability, total_indices
from firstfactor.first import DEPRECATED
from firstfactor.results.drivers import say_drivers

EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": "a weight of 2 is not a row that occurs twice, which would be its "
    "own neighbour without noise"
}


@pytest.mark.filterwarnings("ignore:.*different whole numbers and is taken for a quantity")
@pytest.mark.filterwarnings("error::firstfactor.DataQualityWarning")
@pytest.mark.filterwarnings("ignore:No features were selected")  # from noise that a check makes
@parametrize_with_checks(
    [
        FIRST(),
        FIRST(rule="calibrated", random_state=0),
        FIRST(variance_estimator="extrapolated"),
        FIRST(split=True, random_state=0),
    ],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "parameters", [{}, {"rule": "calibrated"}, {"split": True}, {"forward": "fast", "n_outer": 50}]
)
def test_choosing_is_what_fitting_selects(parameters):
    X, y = friedman(200)
    selector = FIRST(random_state=0, **parameters)
    np.testing.assert_array_equal(selector.choose(X, y), selector.fit(X, y).support_)


@pytest.fixture(scope="module")
def fitted():
    X, y = friedman(600)
    return FIRST().fit(X, y), X, y


def test_finds_the_true_factors(fitted):
    selector, X, y = fitted
    assert sorted(selector.selected_.tolist()) == [0, 6, 7, 8, 9]
    assert selector.support_.tolist() == (selector.importances_ > 0).tolist()
    assert (np.diff(selector.importances_[selector.selected_]) <= 0).all()
    assert selector.ranking_[selector.selected_].tolist() == [1, 2, 3, 4, 5]
    assert set(selector.ranking_[~selector.support_]) == {6}
    assert selector.noise_variance_ + selector.explained_variance_ == pytest.approx(np.var(y, ddof=1))
    assert selector.r2_ceiling_ == pytest.approx(1 - selector.noise_variance_ / np.var(y, ddof=1))
    assert 0.5 < selector.r2_ceiling_ < 1
    assert selector.transform(X).shape == (600, 5)


def test_path_tells_what_happened(fitted):
    selector, X, y = fitted
    path = selector.path_
    frame = path.to_frame()
    assert list(frame) == ["step", "phase", "factor", "explained_variance", "gain", "chosen"]
    assert len(frame) == sum(len(step.candidates) for step in path.steps)
    first = frame[frame["step"] == 1]
    for name, explained in zip(first["factor"], first["explained_variance"], strict=True):
        assert explained == pytest.approx(explained_variance(X, y, [int(name[1:])]))
    entered = frame[frame["chosen"] & (frame["phase"] == "forward")]
    assert entered["explained_variance"].is_monotonic_increasing
    text = str(path).splitlines()
    assert len(text) == 1 + len(path.steps)
    assert text[0].split() == ["phase", "factors", "R²", "candidates", "best", "R²", "with", "it", "change"]
    assert text[1].startswith("forward") and "+ x" in text[1]
    assert text[-1].startswith("elimination") and text[-1].endswith("end")
    assert repr(path) == str(path)
    assert isinstance(path.to_frame("polars"), pl.DataFrame)


def test_importances_are_total_indices_of_the_selected(fitted):
    selector, X, y = fitted
    totals = total_indices(X[:, selector.support_], y)
    np.testing.assert_allclose(selector.importances_[selector.support_], totals.values, rtol=1e-9)
    assert selector.noise_variance_ == pytest.approx(totals.noise_variance)


def test_nothing_selected():
    X, y = np.arange(30.0)[:, None], np.tile([0.0, 1.0, 0.5], 10)  # neighbours differ more than rows at large
    selector = FIRST().fit(X, y)
    assert selector.selected_.size == 0
    assert selector.r2_ceiling_ == 0
    assert selector.ranking_.tolist() == [1]
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(X).shape == (30, 0)
    assert backward_elimination(X, y).values.tolist() == [0]


def test_more_factors_than_rows():
    X, y = friedman(20, factors=60)
    selector = FIRST().fit(X, y)
    assert 0 < selector.selected_.size < 20


def test_two_rows():
    for task in ("auto", "regression"):  # two values are two classes, which have three neighbours where they can
        assert FIRST(task=task).fit([[0.0], [1.0]], [0.0, 1.0]).selected_.size == 0


MAKERS = {"pandas": lambda X: X, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}


@pytest.mark.parametrize("output", ["pandas", "polars"])
@pytest.mark.parametrize("given", MAKERS)
def test_set_output_keeps_names_and_types(given, output):
    X, y = mixed()
    table = MAKERS[given](X)
    selector = FIRST().set_output(transform=output).fit(table, y)
    chosen = selector.transform(table)
    ref = MAKERS[output](X)
    assert type(chosen) is type(ref)
    assert list(chosen.columns) == list(selector.get_feature_names_out()) == ["size", "load", "make"]
    assert chosen["size"].dtype == ref["size"].dtype
    assert chosen["make"].to_list() == X["make"].to_list()


def test_text_columns_without_set_output():
    X, y = mixed()
    selector = FIRST().fit(X, y)
    assert selector.feature_names_in_.tolist() == list(X.columns)
    chosen = selector.transform(X)
    assert chosen.shape == (len(X), selector.support_.sum())
    assert set(chosen[:, list(selector.get_feature_names_out()).index("make")]) == {"ash", "elm", "oak"}


def test_pipeline_on_a_table_with_text():
    X, y = mixed()
    encode = make_column_transformer((OneHotEncoder(), ["make"]), remainder="passthrough")
    model = make_pipeline(FIRST().set_output(transform="pandas"), encode, LinearRegression()).fit(X, y)
    assert model.score(X, y) > 0.99


def test_grid_search_clone_and_pickle():
    X, y = friedman(200)
    pipeline = make_pipeline(FIRST(), RandomForestRegressor(20, random_state=0))
    search = GridSearchCV(pipeline, {"first__n_neighbors": [2, 3], "first__forward": ["full", "fast"]}, cv=3).fit(X, y)
    selector = search.best_estimator_[0]
    copy = clone(selector)
    assert not hasattr(copy, "support_")
    assert copy.get_params() == selector.get_params()
    again = pickle.loads(pickle.dumps(selector))
    np.testing.assert_array_equal(again.transform(X), selector.transform(X))
    assert str(again.path_) == str(selector.path_)


def test_classes():
    X, y = friedman(800)
    selector = FIRST().fit(X, np.where(y > 0, "high", "low"))
    assert selector.task_ == "classification"
    assert selector.classes_.tolist() == ["high", "low"]
    assert {0, 6} <= set(selector.selected_.tolist())
    assert not hasattr(selector.fit(X, y), "classes_")
    selector = FIRST().fit(X, np.where(y > 0, "high", "low"))
    three = FIRST(n_neighbors=3).fit(X, y > 0)
    assert three.importances_.tolist() == selector.importances_.tolist()


def test_twinning_draws_outer_rows():
    pytest.importorskip("twinning", reason="drawing twins needs the extra twinning")
    X, y = mixed(120)
    fits = [FIRST(n_outer=40, subsample="twinning", random_state=1).fit(X, y).importances_ for _ in range(2)]
    assert fits[0].tolist() == fits[1].tolist()
    assert fits[0].tolist() != FIRST(n_outer=40, random_state=1).fit(X, y).importances_.tolist()


def test_twinning_needs_no_factor_that_varies():
    pytest.importorskip("twinning", reason="drawing twins needs the extra twinning")
    X, y = np.ones((50, 2)), np.arange(50.0)
    assert not FIRST(n_outer=10, subsample="twinning", random_state=0).fit(X, y).support_.any()


def test_twinning_missing_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "twinning", None)
    X, y = friedman(50)
    with pytest.raises(ImportError, match=r"pip install \"firstfactor\[twinning\]\""):
        FIRST(n_outer=10, subsample="twinning").fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"n_neighbors": 1},
            r"n_neighbors must be a whole number from 2 to 50 \(the number of rows\); got 1",
        ),
        ({"n_neighbors": 51}, "n_neighbors must be a whole number from 2 to 50.*got 51"),
        ({"n_neighbors": 2.0}, "n_neighbors must be a whole number.*got 2.0"),
        ({"n_outer": 0}, "n_outer must be None, a whole number from 1 to 50.*got 0"),
        ({"n_outer": 51}, "n_outer must be.*got 51"),
        ({"n_outer": 1.5}, "n_outer must be.*fraction above 0.0 and up to 1.0; got 1.5"),
        ({"n_outer": True}, "n_outer must be.*got True"),
        (
            {"n_outer": 30, "subsample": "twinning"},
            "n_outer must be at least 2 and at most half of the rows.*here 25.*got 30",
        ),
        ({"n_outer": 1, "subsample": "twinning"}, "n_outer must be at least 2 .*got 1"),
        ({"subsample": "every"}, "subsample must be one of 'random', 'twinning'; got 'every'"),
        ({"forward": "quick"}, "forward must be \"full\".*got 'quick'"),
        ({"forward": 0}, "forward must be at least 1 pass; got 0"),
        ({"elimination": "none"}, "elimination must be one of 'batch', 'single'; got 'none'"),
        ({"task": "ranking"}, "task must be one of 'auto', 'regression', 'classification'; got 'ranking'"),
        ({"n_jobs": 0}, "n_jobs must be None or a whole number other than 0.*got 0"),
        (
            {"random_state": -1},
            "random_state must be None, a non-negative integer or a numpy Generator; got -1",
        ),
        ({"random_state": "a"}, "random_state must be"),
    ],
)
def test_bad_parameters(options, message):
    if options.get("subsample") == "twinning":
        pytest.importorskip("twinning", reason="drawing twins needs the extra twinning")
    X, y = friedman(50)
    with pytest.raises(ValueError, match=message):
        FIRST(**options).fit(X, y)


def test_a_misspelt_option_is_named_with_the_nearest():
    X, y = friedman(50)
    with pytest.raises(TypeError, match=r"there is no option 'n_neighbours'\. Did you mean 'n_neighbors'\?"):
        total_indices(X, y, n_neighbours=3)


def test_weights_and_groups_are_routed_through_pipelines():
    X, y = friedman(200)
    weights, groups = np.linspace(0.1, 2, 200), np.arange(200) // 4
    ref = FIRST().fit(X, y, sample_weight=weights, groups=groups).importances_
    with sklearn.config_context(enable_metadata_routing=True):
        selector = FIRST().set_fit_request(sample_weight=True, groups=True)
        pipeline = make_pipeline(StandardScaler(), selector, LinearRegression())
        pipeline[0].set_fit_request(sample_weight=False)
        pipeline[-1].set_fit_request(sample_weight=False)
        pipeline.fit(X, y, sample_weight=weights, groups=groups)
    np.testing.assert_allclose(pipeline[1].importances_, ref)
    assert not np.allclose(ref, FIRST().fit(X, y).importances_)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sample_weight": np.ones(49)}, r"sample_weight must have one value per row of X \(50\); got 49"),
        ({"sample_weight": np.r_[-1.0, np.ones(49)]}, "sample_weight must hold numbers of at least 0; got -1"),
        ({"sample_weight": np.r_[np.nan, np.ones(49)]}, r"sample_weight contains NaN \(row 0\)"),
        ({"sample_weight": ["a"] * 50}, "sample_weight must hold numbers; got 'a'"),
        ({"sample_weight": np.full(50, "2024-01-01", "M8[D]")}, "sample_weight must hold numbers; got dates or times"),
        ({"sample_weight": np.zeros(50)}, "sample_weight must not be zero for all rows"),
        (
            {"sample_weight": np.r_[1.0, np.zeros(49)]},
            r"at least 2 rows are needed, but 1 of 50 are left \(49 with a weight",
        ),
        ({"groups": np.zeros(50)}, "groups must tell at least two groups apart; all rows have the same one"),
        ({"groups": np.arange(51)}, r"groups must have one value per row of X \(50\); got 51"),
        ({"groups": [None] + ["a"] * 49}, r"groups contains NaN \(row 0\)"),
    ],
)
def test_bad_weights_and_groups_are_refused(given, message):
    X, y = friedman(50)
    with pytest.raises(ValueError, match=message):
        FIRST().fit(X, y, **given)


def test_halves_need_four_groups():
    X, y = friedman(60)
    with pytest.raises(ValueError, match="groups must be at least 4 to be halved, 2 for each half; got 3"):
        FIRST(split=True).fit(X, y, groups=np.arange(60) % 3)
    with pytest.raises(ValueError, match=r"n_neighbors must be a whole number from 2 to 2 \(the rows outside of the"):
        FIRST(3).fit(X, y, groups=np.r_[0, np.ones(59)])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("make", [np.asarray, lambda X: pd.DataFrame(X).add_prefix("x"), lambda X: pl.DataFrame(X)])
def test_transform_looks_at_selected_columns_only(make, bad):
    X, y = friedman(200)
    selector = FIRST().fit(make(X), y)
    assert selector.support_.tolist()[:2] == [True, False]
    gap = X.copy()
    gap[3, 1] = bad
    np.testing.assert_array_equal(selector.transform(make(gap)), X[:, selector.support_])
    gap[3, 0] = bad
    if np.isnan(bad):  # a value of its own
        np.testing.assert_array_equal(selector.transform(make(gap)), gap[:, selector.support_])
        assert FIRST().fit(make(gap), y).indices_.missing[:3] == (1, 1, 0)
        return
    with pytest.raises(ValueError, match="infinity"):
        selector.transform(make(gap))
    with pytest.raises(ValueError, match="infinity"):
        FIRST().fit(make(gap), y)


@pytest.mark.parametrize("rule", ["paper", "calibrated"])
def test_forced_factors_are_always_in(rule):
    X, y = friedman(400)
    free, forced = (FIRST(rule=rule, forced=names, random_state=0).fit(X, y) for names in (None, [1, 0]))
    assert not free.support_[1]
    assert forced.support_[[0, 1]].all()
    assert forced.indices_.forced == (0, 1)
    assert forced.path_.steps[0].base == (0, 1)
    assert all(1 not in step.candidates for step in forced.path_.steps if step.phase == "forward")
    assert all(1 not in step.chosen for step in forced.path_.steps)
    if rule == "calibrated":
        assert np.isnan(forced.p_values_[[0, 1]]).all() and np.isfinite(forced.p_values_[6])
    with pytest.raises(ValueError, match="forced must name columns of X; there is no column 'age'"):
        FIRST(rule=rule, forced=["age"]).fit(X, y)
    constant = FIRST(rule=rule, forced=[0]).fit(np.column_stack([np.ones(400), X]), y)
    assert not constant.support_[0]
    copies = FIRST(rule=rule, forced=[0, 1]).fit(X[:, [0, 0]], y)  # each adds nothing to the other
    assert copies.support_.all() and (rule == "calibrated" or not copies.importances_.any())


@pytest.mark.parametrize("rule", ["paper", "calibrated"])
@pytest.mark.parametrize("most", [1, 2, 99])
def test_at_most_so_many_factors_are_selected(rule, most):
    X, y = friedman(400)
    free, limited = (FIRST(rule=rule, max_factors=m, random_state=0).fit(X, y) for m in (None, most))
    assert limited.selected_.size == min(most, free.selected_.size)
    assert FIRST(rule=rule, max_factors=most, forced=[2], random_state=0).fit(X, y).support_.sum() <= most + 1
    forced = FIRST(rule=rule, max_factors=min(most, 2), forced=[0], random_state=0).fit(X, y)
    assert sum(len(step.chosen) for step in forced.path_.steps if step.phase == "forward") == min(most, 2)
    with pytest.raises(ValueError, match="max_factors must be a whole number of at least 1; got 0"):
        FIRST(max_factors=0).fit(X, y)


def test_grouped_columns_are_selected_together():
    X, y = friedman(500)
    groups = {"pair": ["x0", "x6"], "noise": "x[1-5]"}
    selector = FIRST(factor_groups=groups).set_output(transform="pandas").fit(pd.DataFrame(X).add_prefix("x"), y)
    assert selector.factor_names_.tolist() == ["pair", "noise", "x7", "x8", "x9"]
    assert selector.importances_.shape == (5,)
    assert selector.support_.tolist() == [True, *[False] * 5, *[True] * 4]
    assert selector.feature_importances_[0] == selector.feature_importances_[6] == selector.importances_[0]
    assert list(selector.transform(pd.DataFrame(X).add_prefix("x"))) == ["x0", "x6", "x7", "x8", "x9"]
    assert selector.importances_[0] == selector.importances_.max()
    assert selector.indices_.kinds[:2] == ("group", "group")


def test_one_hot_columns_of_a_column_transformer_are_grouped_back():
    X, y = mixed(300)
    encode = make_column_transformer((OneHotEncoder(sparse_output=False), ["make"]), remainder="passthrough")
    encoded = encode.set_output(transform="pandas").fit_transform(X)
    grouped = FIRST(factor_groups={"make": "onehotencoder__make_*"}).fit(encoded, y)
    plain = FIRST().fit(X[["make", "size", "load", "wet", "count"]], y)
    np.testing.assert_allclose(grouped.importances_, plain.importances_)
    assert grouped.indices_.kinds[0] == "category"


def test_several_classes_and_outputs_have_attributes_that_fit():
    X, y = friedman(300)
    classes = FIRST().fit(X, np.array(list("cab"))[np.digitize(y, np.quantile(y, [0.3, 0.6]))])
    assert (classes.task_, classes.classes_.tolist()) == ("classification", ["a", "b", "c"])
    assert 0 < classes.noise_variance_ < 2 / 3 and set(classes.selected_) <= {0, 6, 7, 8, 9}
    outputs = FIRST(output_weights=[1, 0]).fit(X, np.column_stack([y, X[:, 2]]))
    np.testing.assert_allclose(outputs.importances_, FIRST().fit(X, y).importances_)
    both = FIRST().fit(X, pd.DataFrame({"a": y, "b": X[:, 2]}))
    assert both.support_[2] and both.indices_.outputs == ("a", "b")


def test_ranks_of_the_response_are_robust():
    X, y = friedman(400)
    y[:3] = 1e6, -1e6, 1e7
    assert set(FIRST(response_scale="ranks").fit(X, y).selected_[:2]) <= {0, 6, 9}
    assert FIRST(response_scale="ranks").fit(X, y).r2_ceiling_ > 0.6
    assert FIRST(response_scale="normal-scores").fit(X, y).r2_ceiling_ > 0.6
    assert FIRST().fit(X, y).r2_ceiling_ < 0.5


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_transform_keeps_dates_next_to_numbers(make):
    days = np.datetime64("2024-01-01", "us") + np.arange(80).astype("m8[D]")
    X = make({"when": days, "x": np.arange(80.0) % 7})
    chosen = FIRST(forced=[0, 1]).fit(X, np.arange(80.0)).transform(X)
    assert chosen.shape == (80, 2) and chosen[8, 1] == 1.0
    assert chosen[2, 0] == datetime.datetime(2024, 1, 3)


def test_transform_of_a_table_with_gaps_keeps_types():
    X, y = mixed()
    selector = FIRST().set_output(transform="pandas").fit(X, y)
    chosen = selector.transform(X.assign(count=np.nan))
    pd.testing.assert_frame_equal(chosen, X[["size", "load", "make"]])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("strange", [pd.array(["a"] * 300, "string[pyarrow]"), pd.arrays.SparseArray([0.0] * 300)])
def test_transform_of_types_that_scikit_learn_does_not_know(strange):
    X, y = friedman(300)
    table = pd.DataFrame(X).rename(columns=str).assign(strange=strange)
    selector = FIRST().fit(table, y)
    np.testing.assert_array_equal(selector.transform(table), X[:, selector.support_[:-1]])


def test_transform_keeps_the_rows_where_nothing_is_selected():
    X = pd.DataFrame({"a": ["x"] * 20})
    selector = FIRST().fit(X, np.arange(20.0))
    with pytest.warns(UserWarning, match=r"No features were selected, .* FIRST\(min_factors=1\) keeps one\."):
        assert selector.transform(X).shape == (20, 0)


def test_transform_refuses_another_table():
    X, y = mixed()
    with pytest.raises(ValueError, match="feature names should match"):
        FIRST().fit(X, y).transform(X.rename(columns={"size": "mass"}))


@pytest.mark.parametrize("columns", [[("a", "x"), ("a", ""), ("b", 1)], [("a", "x"), ("b", "x"), ("b", "y")]])
def test_levels_of_column_names_are_joined(columns):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(100, 3)), columns=pd.MultiIndex.from_tuples(columns))
    names = ["_".join(str(level) for level in levels if level != "") for levels in columns]
    selector = FIRST().set_output(transform="pandas").fit(X, X.iloc[:, 0])
    assert list(selector.indices_.names) == selector.feature_names_in_.tolist() == names
    assert list(selector.transform(X).columns) == selector.get_feature_names_out().tolist() == names[:1]
    assert X.columns.nlevels == 2
    assert total_indices(X, X.iloc[:, 0], subset=names[:1]).values > 0.9
    assert selector.plot().get_yticklabels()[0].get_text() == names[0]


def test_an_arrow_record_batch_keeps_its_names():
    X, y = mixed()
    batch = pa.RecordBatch.from_pandas(X)
    selector = FIRST().fit(batch, y)
    assert list(selector.indices_.names) == selector.feature_names_in_.tolist() == list(X.columns)
    assert selector.transform(batch).shape == (len(X), 3)
    assert FIRST().set_output(transform="polars").fit(batch, y).transform(batch).columns == ["size", "load", "make"]
    reader = pa.RecordBatchReader.from_batches(batch.schema, [batch])
    with pytest.raises(TypeError, match=r"X must be a table in memory; got a RecordBatchReader. Call .read_all\(\)"):
        FIRST().fit(reader, y)


def test_scikit_learn_finds_importances_by_its_own_name():
    X, y = friedman()
    assert not hasattr(FIRST(), "feature_importances_")
    model = make_pipeline(SelectFromModel(FIRST(), threshold=1e-9), LinearRegression()).fit(X, y)
    importances = model[0].estimator_.feature_importances_
    assert importances.tolist() == FIRST().fit(X, y).importances_.tolist()
    assert model[0].get_support().tolist() == (importances > 0).tolist()
    assert 0 < model[0].get_support().sum() < X.shape[1]


def test_verbose_goes_to_standard_error(capsys):
    X, y = friedman(100)
    FIRST(verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("[FIRST] forward: R² 0.0000, 10 candidates → + x")
    assert "[FIRST] elimination" in err


def test_indices_are_pleasant_to_look_at():
    X, y = mixed()
    indices = total_indices(X, y)
    lines = repr(indices).splitlines()
    assert lines[0].startswith("NANNE: Var(Y) = ") and "noise" in lines[0]
    assert lines[1].split() == ["factor", "importance"]
    assert len(lines) == 2 + X.shape[1]
    frame = indices.to_frame()
    assert frame["factor"].tolist() == list(X.columns)
    assert frame["importance"].tolist() == indices.values.tolist()
    with pytest.raises(AttributeError):
        indices.values = None
    with pytest.raises(ValueError, match="backend must be one of 'pandas', 'polars', 'pyarrow'; got 'excel'"):
        indices.to_frame("excel")


def test_sets_by_name_and_by_position():
    X, y = mixed()
    by_name = total_indices(X, y, subset=["size", "make"])
    assert by_name.names == ("size + make",)
    assert by_name.values.tolist() == total_indices(X, y, subset=[0, 2]).values.tolist()
    assert by_name.values[0] > max(total_indices(X, y).values[[0, 2]])
    assert total_indices(X, y, subset=list(X.columns)).values[0] == 1
    assert explained_variance(X, y, []) == 0
    with pytest.raises(ValueError, match="subset must name columns of X; there is no column 'colour'"):
        explained_variance(X, y, ["colour"])


def test_public_names_need_no_optional_package():
    printed = run_script(
        """
        from missing import hide
        hide("pandas", "polars", "pyarrow", "twinning")
        import firstfactor, numpy
        X = numpy.random.default_rng(0).normal(size=(50, 2))
        print(firstfactor.FIRST().fit(X, X[:, 0]).selected_.tolist())
        """
    )
    assert printed == "[0]\n"


def test_all_rows_equal():
    X = pd.DataFrame({"a": [1.0] * 5, "b": ["u"] * 5})
    selector = FIRST(task="regression").fit(X, [1.0, 2, 3, 4, 6])
    assert selector.selected_.size == 0
    assert selector.path_.steps == ()
    assert str(selector.path_).startswith("phase")


def test_indices_say_why_a_factor_was_left_out():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(size=(300, 3)), np.ones(300)])
    y = X[:, 0] + X[:, 1]
    chosen = FIRST().fit(X, y).indices_
    assert chosen.left_out.tolist() == [2, 3]
    assert re.fullmatch(r"R² −0\.\d{3} if added", chosen.why_left_out(2))
    assert chosen.why_left_out(3) == "constant"
    eliminated = backward_elimination(X, y)
    assert eliminated.path.removed == (2,)
    assert eliminated.why_left_out(2) == "adds nothing to the others"
    twins = FIRST().fit(np.column_stack([np.arange(300.0)] * 2), np.arange(300.0)).indices_
    assert twins.why_left_out(1) == "stands in for x0"
    twins = replace(twins, sharing=None)
    assert twins.why_left_out(1) == "R² unchanged if added"


def test_a_forced_factor_may_be_constant_in_the_half_that_importances_come_from():
    X, n_kept = np.random.default_rng(0).random((60, 15)), 0
    for row in range(10):  # which is in one half or in the other
        X[:, 14] = np.arange(60) == row
        found = FIRST(split=True, forced=list(range(15)), random_state=0).fit(X, X[:, 0]).indices_
        assert found.values[14] == 0
        n_kept += 14 in found.kept
    assert 0 < n_kept < 10


def test_labels_of_a_category_may_be_infinite_numbers():
    X = pd.DataFrame({"c": pd.Categorical([1.0, np.inf] * 30)})
    selector = FIRST(forced=["c"], random_state=0).fit(X, np.arange(60) % 2 + np.arange(60) / 100)
    assert selector.transform(X).shape == (60, 1)


DEPRECATED_VALUES = {
    "subsample": "random",
    "response_scale": "ranks",
    "output_weights": [1, 3],
    "cluster_cut": 0.8,
    "checkpoint": "run.json",
    "missing": "drop",
    "verbose": 1,
    "importance": "shapley",
    "period": {0: 0.5},
}


@pytest.mark.filterwarnings("error:.*is deprecated:FutureWarning")
@pytest.mark.parametrize("name", DEPRECATED)
def test_a_deprecated_parameter_still_works_and_warns(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    X, y = friedman(100)
    given = {name: DEPRECATED_VALUES[name]}
    selector = FIRST(random_state=0).set_params(**given)
    assert clone(selector).get_params()[name] == given[name] and f"{name}=" in repr(selector)
    message = rf"^{name} of FIRST is deprecated since 0\.3 and will be removed in 0\.5\. .*{name}|Leave it out"
    for call in (selector.fit, selector.choose):
        with pytest.warns(FutureWarning, match=message) as caught:
            call(X, np.column_stack([y, X[:, 2]]))
        assert [each.filename for each in caught if each.category is FutureWarning] == [__file__]
    assert getattr(selector.indices_.procedure, name) == given[name]
    with pytest.warns(FutureWarning, match=message):
        stability(X, y if name != "output_weights" else np.column_stack([y, y]), selector=selector, n_pairs=1, n_jobs=1)
    make_pipeline(StandardScaler(), FIRST(random_state=0)).fit(X, y)  # no warning unless it is given


@pytest.mark.filterwarnings("error:.*is deprecated:FutureWarning")
def test_fit_takes_what_the_constructor_took(tmp_path):
    X, y = friedman(200)
    Y = np.column_stack([y, X[:, 2]])
    with pytest.warns(FutureWarning):
        before = FIRST(response_scale="ranks", output_weights=[1, 3]).fit(X, Y)
    after = FIRST().fit(X, Y, response_scale="ranks", output_weights=[1, 3], checkpoint=None)
    np.testing.assert_array_equal(after.importances_, before.importances_)
    assert not np.array_equal(after.importances_, FIRST().fit(X, Y).importances_)
    np.testing.assert_array_equal(FIRST().choose(X, Y, response_scale="ranks", output_weights=[1, 3]), after.support_)
    assert after._call() == "FIRST().fit(X, y, response_scale='ranks', output_weights=[1, 3])"
    assert before._call() == "FIRST(output_weights=[1, 3], response_scale='ranks').fit(X, y)"
    assert after._params_used()["response_scale"] == "ranks" and after._params_used()["subsample"] == "random"
    path = tmp_path / "run.json"
    saved = FIRST(random_state=0).fit(X, y, checkpoint=path)
    assert path.exists() and np.array_equal(saved.importances_, FIRST(random_state=0).fit(X, y).importances_)
    counts = [
        stability(X, Y, n_pairs=2, random_state=0, output_weights=weights).frequencies for weights in ([1, 0], [0, 1])
    ]
    assert not np.array_equal(*counts)


def test_details_of_y_are_routed_through_pipelines():
    X, y = friedman(200)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(FIRST().set_fit_request(response_scale=True)).fit(X, y, response_scale="ranks")
    np.testing.assert_array_equal(pipeline[0].importances_, FIRST().fit(X, y, response_scale="ranks").importances_)


@pytest.mark.parametrize("options", [{}, {"split": True}, {"compact": True}])
def test_a_minimum_of_factors(options):
    X, y = np.random.default_rng(0).normal(size=(120, 4)), np.random.default_rng(1).normal(size=120)
    none = FIRST(rule="calibrated", random_state=0, alpha=0.01, **options).fit(X, y)
    assert none.selected_.size == 0
    selector = FIRST(rule="calibrated", random_state=0, alpha=0.01, min_factors=2, **options).fit(X, y)
    assert selector.transform(X).shape == (120, 2)
    assert selector.choose(X, y).tolist() == selector.support_.tolist()
    indices = selector.indices_
    assert indices.without_evidence == indices.path.added_to_minimum and indices.for_prediction == ()
    assert [step.phase for step in indices.path.steps][-2:] == ["minimum"] * 2
    for i in selector.selected_:
        assert selector.explanations_.reasons[i] == "minimum"
        assert "was added to reach min_factors: " in selector.explain(int(i))
        if not options:
            assert selector.p_values_[i] == none.p_values_[i] > 0.01
    assert "added to reach min_factors, without enough evidence." in say_drivers(indices, "y")
    assert np.isnan(selector.importances_).sum() == 0


def test_the_minimum_is_no_limit():
    X, y = friedman(300)
    ours = {"rule": "calibrated", "random_state": 0}
    np.testing.assert_array_equal(
        FIRST(**ours, min_factors=3).fit(X, y).importances_, FIRST(**ours).fit(X, y).importances_
    )
    noise = np.random.default_rng(1).normal(size=(90, 4))
    assert FIRST(**ours, min_factors=1, forced=[0]).fit(noise[:, 1:], noise[:, 0]).selected_.size == 2
    with pytest.raises(ValueError, match=r"min_factors must be at most max_factors \(1\); got 2\."):
        FIRST(min_factors=2, max_factors=1).fit(X, y)


@pytest.mark.parametrize("name", ["alpha", "control"])
def test_what_the_paper_s_rule_would_ignore_is_refused(name):
    X, y = friedman(60)
    value = {"alpha": 0.01, "control": "fdr"}[name]
    with pytest.raises(ValueError, match=f'{name}= is for rule="calibrated"; add that, or leave out {name}='):
        FIRST(**{name: value}).fit(X, y)


def test_it_is_not_fitted_is_said_before_names_are_compared():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        FIRST().transform(pd.DataFrame({"a": [1.0, 2.0]}))


def test_a_column_by_name_is_for_rank():
    with pytest.raises(TypeError, match=r"y must hold one value for each row; got the text 'y'\. Only rank takes"):
        FIRST().fit(pd.DataFrame({"a": [1.0, 2.0], "y": [1.0, 2.0]}), "y")
