"""What every result has to satisfy: numbers that do not contradict each other. All of it is said here, once.

Each function yields a sentence for everything that is wrong.
"""

import math
import re
import unicodedata

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

# Rounding in what is compared.
CLOSE = 1e-9


def of_selector(selector, level):
    """A fitted FIRST."""
    indices = selector.indices_
    yield from of_indices(indices, level)
    n, n_columns = len(indices.names), selector.n_features_in_
    if not np.array_equal(selector.importances_, indices.values):
        yield "importances_ differ from indices_.values"
    if selector.importances_.shape != (n,) or selector.ranking_.shape != (n,) or len(selector.factor_names_) != n:
        yield "importances_ or ranking_ do not fit the number of factors"
    if selector.support_.shape != (n_columns,) or selector.feature_importances_.shape != (n_columns,):
        yield "support_ or feature_importances_ do not fit the number of columns"
    elif sorted(j for members in indices.inputs for j in members) != list(range(n_columns)):
        yield f"the factors are not made of all {n_columns} columns: {indices.inputs}"
    else:
        yield from _of_columns(selector)
    chosen = np.isin(np.arange(n), selector.selected_)
    if np.any(selector.importances_[~chosen]):
        yield "a factor that is not selected has an importance"
    constant = np.array([kind == "constant" for kind in indices.kinds])
    apart = (
        indices.path.n_selection_rows
    )  # a factor that is constant where importances come from may vary where it is chosen
    if np.any(constant & chosen) and not apart:
        yield "a constant factor is selected"
    if not {*indices.forced} <= {*selector.selected_.tolist()}:
        yield "a forced factor is not selected"
    if selector.max_factors is not None and selector.selected_.size > selector.max_factors + len(indices.forced):
        yield f"{selector.selected_.size} factors are selected, {selector.max_factors} at most besides {indices.forced}"
    yield from _of_explanations(selector)
    if (indices.sharing is None) != (selector.get_params().get("cluster_cut", "auto") is None):
        yield "sharing is not there, or there though nobody asked"


def _of_columns(selector):
    """What is said of columns is what is said of the factors that they belong to."""
    for i, members in enumerate(selector.indices_.inputs):
        members = list(members)
        if np.any(selector.support_[members] != (i in selector.selected_)):
            yield "support_ and selected_ differ"
        if np.any(selector.feature_importances_[members] != selector.importances_[i]):
            yield "feature_importances_ and importances_ differ"


def of_rows_used(indices, table, given, options):
    """The rows that were analysed, and how many values of each factor are missing, against what was passed."""
    expected = _expected_rows(table, given, options.get("missing", "level"))
    if expected is None:
        return
    gaps, rows = expected
    used = np.arange(table.n_rows) if indices.rows is None else indices.rows
    if not np.array_equal(used, rows):
        yield f"the rows used are {used}, not {rows}"
        return
    apart = indices.path.n_selection_rows if indices.path is not None else 0
    if indices.n_rows + apart != rows.size:
        yield f"n_rows is {indices.n_rows} of {rows.size} rows, {apart} of them apart"
    missing = tuple(int(gaps[rows][:, list(members)].any(axis=1).sum()) for members in indices.inputs)
    if missing != indices.missing:
        yield f"so many values are missing: {missing}, not {indices.missing}"


def _expected_rows(table, given, missing):
    """Which values of X are missing, and the rows that have to be analysed; None where that is not simply told."""
    gaps, no_response = gaps_in(table.X), gaps_in(table.y)
    if gaps is None or no_response is None or gaps.ndim != 2:
        return None
    kept = ~no_response.any(axis=1)
    if "sample_weight" in given:
        weights = numbers_in(given["sample_weight"])
        kept &= weights > 1e-100 * weights.max()
    if missing == "drop":
        kept &= ~gaps.any(axis=1)
    return gaps, np.flatnonzero(kept)


def of_indices(indices, level):
    """Indices, with or without standard errors. ``values`` are what the formula gives, ``shares`` what is shown."""
    values = indices.values
    if not np.all(np.isfinite(values)) or (np.any(values < 0) and not indices.is_shapley):
        yield f"an importance is negative or not finite: {values}"
    if indices.is_shapley and indices.kept and indices.explained_variance > CLOSE * indices.response_variance:
        yield from _add_up(values)
    yield from _shares("shares", indices.shares)
    for name in ("noise_variance", "response_variance", "explained_variance"):
        if not math.isfinite(getattr(indices, name)):
            yield f"{name} is {getattr(indices, name)}"
    if not indices.response_variance > 0 or indices.noise_variance < 0:
        yield f"a variance is negative: {indices.response_variance}, {indices.noise_variance}"
    yield from _shares("r2_ceiling", [indices.r2_ceiling])
    sample_size = indices.sample_size
    if not (math.isfinite(sample_size.distance_share) and 0 <= sample_size.distance_bias <= 1):
        yield f"sample_size is {sample_size}"
    if indices.uncertainty is not None:
        yield from _of_uncertainty(indices, level)
    if indices.sharing is not None:
        yield from _of_sharing(indices, level)


def _add_up(values):
    """Fair shares add up to 1; they can be large where little is explained."""
    if not math.isclose(values.sum(), 1.0, abs_tol=1e-6 * max(np.abs(values).max(), 1.0)):
        yield f"fair shares add up to {values.sum()}: {values}"


def _of_sharing(indices, level):
    """What factors explain alone, the tree, clusters and exchanges."""
    sharing, n, kept = indices.sharing, len(indices.names), set(indices.selected.tolist())
    yield from _of_estimates("what is explained alone", sharing.alone, level)
    yield from _shares("what is explained alone", sharing.alone.values)
    if sharing.alone.values.shape != (n,):
        yield f"{sharing.alone.values.shape} shares of {n} factors"
    seen = set()
    for cluster in sharing.clusters:
        if len(cluster.factors) < 2 or not kept & set(cluster.positions) or seen & set(cluster.positions):
            yield f"no cluster: {cluster}"
        seen |= set(cluster.positions)
        if tuple(indices.names[i] for i in cluster.positions) != cluster.factors:
            yield f"names and positions differ: {cluster}"
        if cluster.representative not in cluster.factors or max(cluster.kept) > cluster.kept[0] + 0.011:
            yield f"the representative does not keep most: {cluster}"
        if not (math.isfinite(cluster.joint) and cluster.joint >= 0):
            yield f"a joint index of {cluster.joint}"
        yield from _shares("what a cluster keeps", cluster.kept)
        yield from _errors("the standard error of a cluster", [cluster.standard_error, cluster.bias])
        low, high = cluster.interval(level)
        yield from _shares("the interval of a cluster", [low, high])
        yield from _holds("the interval of a cluster", low, min(cluster.joint, 1.0), high)
    yield from _of_tree(sharing)
    for i, exchange in sharing.exchanges.items():
        if i in kept or exchange.selected not in kept:
            yield f"factor {i} cannot be exchanged: {exchange}"
        yield from _shares("an exchange", [exchange.cost, exchange.kept, exchange.dependence])
    drivers = [i for driver in indices.drivers for i in driver.factors]
    if len(set(drivers)) != len(drivers) or not kept <= set(drivers):
        yield f"drivers {drivers} of {kept}"
    for driver in indices.drivers:
        yield from _shares("what is lost without a driver", [driver.importance])
        if driver.interval is not None:
            yield from _holds("the interval of a driver", driver.interval[0], driver.importance, driver.interval[1])


def _of_tree(sharing):
    tree = sharing.tree
    if tree is None:
        if sharing.clusters or sharing.exchanges:
            yield "clusters or exchanges without a tree"
        return
    if len(tree.nodes) != len(tree.leaves) - 1 or sorted(tree.order) != sorted(tree.leaves):
        yield f"{len(tree.nodes)} nodes of {len(tree.leaves)} leaves"
    yield from _shares("dependence", tree.dependence)
    yield from _shares("dependence of a node", [node.dependence for node in tree.nodes])
    yield from _errors("joint indices", [value for node in tree.nodes for value in (node.joint, node.standard_error)])
    if tree.linkage.shape != (len(tree.nodes), 4):
        yield f"a linkage of shape {tree.linkage.shape}"


def _of_explanations(selector):
    """A sentence for each factor, on one line, that says what the selection says."""
    explanations, chosen = selector.explanations_, set(selector.selected_.tolist())
    if explanations.names != selector.indices_.names or len(explanations.sentences) != len(explanations.names):
        yield "the explanations are not those of the factors"
    for i, (reason, sentence) in enumerate(zip(explanations.reasons, explanations.sentences, strict=True)):
        if (reason in ("selected", "prediction")) != (i in chosen):
            yield f"factor {i} is explained as {reason}"
        if not sentence.endswith(".") or any(unicodedata.category(c) in ("Cc", "Cf") for c in sentence):
            yield f"no plain sentence: {sentence!r}"
        if "never raised" in sentence and re.search(r"by \+0\.\d*[1-9]", sentence):
            yield f"a sentence contradicts itself: {sentence}"


def of_pairs(found, level):
    """Interactions of pairs."""
    yield from _of_estimates("interactions", found.estimates, level)
    yield from _shares("p-values of interactions", found.p_values)
    if not np.all(np.isfinite(found.values)) or found.values.shape != (len(found.pairs),):
        yield f"interactions of {len(found.pairs)} pairs: {found.values}"
    if len(set(map(frozenset, found.pairs))) != len(found.pairs) or any(i == j for i, j in found.pairs):
        yield f"pairs come twice: {found.pairs}"


def of_ranking(found, level):
    """A cumulative ranking: shares of what all explain."""
    yield from _of_estimates("cumulative shares", found.cumulative, level)
    if not np.all(np.isfinite(found.values)) or found.values.shape != (len(found.order),):
        yield f"cumulative shares of {len(found.order)} factors: {found.values}"
    if len(set(found.ranking)) != len(found.order):
        yield f"factors come twice: {found.ranking}"
    if found.order and found.r2_ceiling > CLOSE and not math.isclose(found.values[-1], 1.0, abs_tol=1e-6):
        yield f"all factors explain {found.values[-1]} of what all explain"
    yield from _shares("r2_ceiling", [found.r2_ceiling])


def _of_estimates(what, estimates, level):
    """Values with standard errors of at most 0.5 and intervals around them."""
    yield from _errors(f"standard errors and bias of {what}", [*estimates.standard_errors, *estimates.bias])
    yield from _shares(f"standard errors of {what}", 2 * estimates.standard_errors)
    for value, (low, high) in zip(estimates.values, estimates.interval(level), strict=True):
        yield from _holds(f"the interval of {what}", low, value, high)


def _of_uncertainty(indices, level):
    yield from _errors("standard errors", indices.standard_errors)
    yield from _errors("the standard errors of noise and ceiling", [indices.uncertainty.noise, indices.uncertainty.r2])
    yield from _shares("p-values", indices.p_values)
    for each in (level, 0.95):
        intervals = np.asarray(indices.interval(each))
        yield from _shares("intervals", intervals)
        for value, (low, high) in zip(indices.shares, intervals, strict=True):
            yield from _holds(f"the interval at {each:g}", low, value, high)
        low, high = indices.r2_interval(each)
        yield from _shares("the interval of the ceiling", [low, high])
        yield from _holds(f"the interval of the ceiling at {each:g}", low, indices.r2_ceiling, high)


def of_choice(chosen, n_columns, factor_groups):
    """What `FIRST.choose` returns: an entry for each factor."""
    if chosen.dtype != bool or chosen.size > n_columns or (not factor_groups and chosen.shape != (n_columns,)):
        yield f"choose returned {chosen!r}"


def of_explained(explained):
    """What `explained_variance` returns."""
    if not isinstance(explained, float) or not math.isfinite(explained):
        yield f"explained_variance returned {explained!r}"


def of_stability(found):
    """A Stability."""
    n = len(found.names)
    yield from _shares("frequencies", found.frequencies)
    yield from _shares("simultaneous", found.simultaneous)
    if np.any(found.simultaneous > found.frequencies + CLOSE):
        yield "a factor is selected in both halves more often than in one"
    for bound in (found.expected_false, found.expected_false_unimodal):
        if not 0 <= bound <= n + CLOSE:
            yield f"at most {bound} false selections of {n} factors"
    if np.any(found.frequencies[found.selected] < found.threshold):
        yield "a factor below the threshold is selected"


def same_bits(result, other, what):
    """Two results of calls whose numbers must be the same to the last bit."""
    for name, ours in _numbers(result).items():
        theirs = _numbers(other)[name]
        if not np.array_equal(ours, theirs, equal_nan=True):
            yield f"{name} differ {what}: {ours} and {theirs}"


def same_importances(result, other, what):
    """Two results whose importances must be the same but for rounding."""
    ours, theirs = _numbers(result)["importances"], _numbers(other)["importances"]
    if not np.allclose(ours, theirs, rtol=CLOSE, atol=CLOSE):
        yield f"importances differ {what}: {ours} and {theirs}"


def _numbers(result):
    """What has to be the same for any number of threads."""
    if hasattr(result, "frequencies"):
        return {"frequencies": result.frequencies, "simultaneous": result.simultaneous}
    if not hasattr(result, "indices_") and not hasattr(result, "values"):
        return {"result": result}
    if hasattr(result, "estimates"):
        return {"importances": result.values, "standard errors": result.standard_errors}
    if hasattr(result, "cumulative"):
        return {
            "importances": result.values,
            "standard errors": result.cumulative.standard_errors,
            "order": result.order,
        }
    indices = getattr(result, "indices_", result)
    numbers = {"importances": indices.values, "noise variance": indices.noise_variance}
    if indices.uncertainty is not None:
        numbers |= {"standard errors": indices.standard_errors, "p-values": indices.p_values}
    if indices.path is not None:
        numbers["path"] = np.concatenate([[0.0], *(step.explained for step in indices.path.steps)])
    return numbers


# --- files that the command writes --------------------------------------------------------------------


def of_facts(facts):
    """What ``--json`` holds: here shares are shares, or there is none."""
    yield from _shares("r2_ceiling", [facts["r2_ceiling"]])
    yield from _errors("r2_standard_error", [facts["r2_standard_error"], facts["noise_standard_error"]])
    interval = facts["r2_interval"]
    if interval is not None:
        yield from _shares("r2_interval", interval)
        yield from _holds("r2_interval", interval[0], facts["r2_ceiling"], interval[1])
    yield from of_rows(facts["factors"])
    found = facts["stability"]
    if found is not None:
        for name in ("expected_false", "expected_false_unimodal"):
            if found[name] is not None and not 0 <= found[name] <= facts["data"]["factors"] + CLOSE:
                yield f"{name} is {found[name]} of {facts['data']['factors']} factors"


def of_rows(rows):
    """The rows of factors in ``--json`` and ``--csv``."""
    if not rows:
        yield "no rows of factors"
    for row in rows:
        yield from _shares("importance", [row["importance"]])
        yield from _shares("p_value", [row["p_value"]])
        yield from _shares("frequency", [row.get("frequency")])
        yield from _errors("standard_error", [row["standard_error"]])
        if row["low"] is not None:
            yield from _shares("interval", [row["low"], row["high"]])
            yield from _holds("interval", row["low"], row["importance"], row["high"])


def of_text(text):
    """What the command prints: the ceiling and its interval, in percent."""
    said = " ".join(text.split())
    if found := re.search(r"models can explain about (-?[\d.]+) %", said):
        ceiling = float(found[1]) / 100
        yield from _shares("the ceiling printed", [ceiling])
        ends = re.match(r" \((?:95 % interval (-?[\d.]+)–|at most )(-?[\d.]+) %\)", said[found.end() :])
        least, most = (float(ends[1] or 0) / 100, float(ends[2]) / 100) if ends else (0.0, 1.0)
        yield from _holds("the interval printed", least, ceiling, most)
    if found := re.search(r"R² \+([\d.]+) if added", text):
        yield from _shares("R² if added", [float(found[1])])


# --- words --------------------------------------------------------------------------------------------


def _shares(what, values):
    """All in [0, 1], or not a number."""
    values = np.array([math.nan if value is None else value for value in np.ravel(values)], dtype=float)
    if np.any(values < 0) or np.any(values > 1 + CLOSE):
        yield f"{what} outside of [0, 1]: {values}"


def _errors(what, values):
    """All finite and not below 0, or not a number."""
    values = np.array([math.nan if value is None else value for value in values], dtype=float)
    if np.any(values < 0) or np.any(np.isinf(values)):
        yield f"{what} negative or infinite: {values}"


def _holds(what, low, value, high):
    """An interval in order, around its estimate."""
    if None in (low, value, high) or math.isnan(low) or math.isnan(high):
        return
    if not low <= high:
        yield f"{what} is not in order: {low}, {high}"
    if not low - CLOSE <= value <= high + CLOSE:
        yield f"{what} does not hold its estimate: {value} and [{low}, {high}]"


# --- what was passed, read by ways that are not the package's own -------------------------------------


def take(values, rows):
    """Some rows of what a user may pass; None where that is not simply done."""
    if isinstance(values, (pd.DataFrame, pd.Series)):
        return values.iloc[rows]
    if type(values) is np.ndarray and values.ndim in (1, 2):
        return values[rows]
    if isinstance(values, (pl.DataFrame, pl.Series)):
        return values[list(rows)]
    return [values[row] for row in rows] if isinstance(values, list) else None


def gaps_in(values):
    """Which values of a table or a series are missing, (rows, columns); None where that is not simply told."""
    columns = _as_lists(values)
    if columns is None:
        return None
    gaps = [[_is_gap(value) for value in column] for column in columns]
    return np.array(gaps, dtype=bool).T


def _as_lists(values):
    """The columns of a table or a series as lists."""
    if isinstance(values, np.ndarray) and values.ndim in (1, 2):
        values = np.asarray(values) if isinstance(values, np.matrix) else values
        return [column.tolist() for column in (values.T if values.ndim == 2 else [values])]
    if isinstance(values, pd.DataFrame):
        return [values.iloc[:, j].tolist() for j in range(values.shape[1])]
    if isinstance(values, (pd.Series, pl.Series)):
        return [values.to_list()]
    if isinstance(values, pl.DataFrame):
        return [(one.cast(pl.Int64) if one.dtype.is_temporal() else one).to_list() for one in values]  # or it may panic
    if isinstance(values, (pa.Table, pa.RecordBatch)):
        return [column.to_pylist() for column in values.columns]
    if isinstance(values, (pa.ChunkedArray, pa.Array)):
        return [values.to_pylist()]
    if isinstance(values, (list, tuple)) and values:
        is_table = isinstance(values[0], (list, tuple))
        return list(zip(*values, strict=True)) if is_table else [values]
    return None


def _is_gap(value):
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    different = value != value
    return isinstance(different, (bool, np.bool_)) and bool(different)


def numbers_in(values):
    """A series of numbers as an array, whatever holds it."""
    series = nw.from_native(values, pass_through=True, allow_series=True)
    return np.asarray(series.to_list() if isinstance(series, nw.Series) else values, dtype=float).ravel()
