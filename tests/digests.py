"""Digests of the numeric results of several hundred calls, to show that a change of the code changes no result.

python tests/digests.py write FILE    # before the change, and again after it
python tests/digests.py compare BEFORE AFTER

A file has a line of JSON for each number or array of each call: its digest, and the numbers themselves, so that a
comparison can tell rounding from another answer. Calls cover all options, both rules, all functions, kinds of tables,
file formats, reading out of core, and a Dask cluster.
"""

import argparse
import gzip
import hashlib
import json
import tempfile
import warnings
from collections.abc import Mapping
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import reading
import sample_tables

import firstfactor
from firstfactor import FIRST, rank

ROWS = 150
# Entries of the JSON of `rank` that are not numeric results.
NO_RESULTS = ("settings", "findings", "versions", "seconds", "why_no_p_values", "remarks", "reason", "files", "source")


def tables():
    """Return tables by name, each with a response."""
    rng = np.random.default_rng(0)
    numeric, y = sample_tables.friedman(ROWS, 10)
    mixed, y_mixed = sample_tables.mixed(ROWS)
    gaps = mixed.astype(object).mask(rng.uniform(size=mixed.shape) < 0.1, None)
    grid = rng.integers(0, 4, size=(ROWS, 5)).astype(float)
    x = rng.normal(size=ROWS)
    related = np.column_stack([x, x + 0.1 * rng.normal(size=ROWS), rng.normal(size=(ROWS, 3))])
    wide = rng.normal(size=(60, 90))
    steps = sample_tables.discrete_and_continuous(ROWS)
    long = rng.uniform(size=(3000, 5))
    one_base = np.column_stack([np.arange(ROWS) / ROWS, rng.normal(size=(ROWS, 3))])
    repeated = rng.integers(0, 40, size=ROWS)
    return {
        "numeric": (numeric, y),
        "mixed": (mixed, y_mixed),
        "gaps": (gaps, y_mixed),
        "grid": (grid, grid[:, 0] * grid[:, 1] + rng.normal(size=ROWS)),
        "related": (related, related[:, 0] + related[:, 1] + related[:, 2] ** 2 + 0.3 * rng.normal(size=ROWS)),
        "wide": (wide, wide[:, 0] + 2 * wide[:, 5] + 0.5 * rng.normal(size=60)),
        "steps": steps,
        "long": (long, np.sin(6 * long[:, 0]) + long[:, 1] * long[:, 2] + 0.2 * rng.normal(size=3000)),
        "one base": (one_base, np.sin(20 * one_base[:, 0]) + 0.1 * one_base[:, 1]),
        "repeated": (numeric[repeated], y[repeated]),
        "noise": (numeric, rng.normal(size=ROWS)),
        "classes": (mixed, np.array(["low", "middle", "high"])[np.digitize(y_mixed, [1, 3])]),
        "two classes": (numeric, y > np.median(y)),
        "outputs": (numeric, np.column_stack([y, numeric[:, 0] ** 2, rng.normal(size=ROWS)])),
    }


SELECTIONS = [
    {},
    {"forward": "fast"},
    {"forward": 2},
    {"elimination": "single"},
    {"n_neighbors": 5},
    {"n_outer": 40},
    {"n_outer": 0.5, "random_state": 1},
    {"scale": False},
    {"split": True, "random_state": 3},
    {"forced": [1], "max_factors": 2},
    {"compact": True},
    {"compact": 0.05, "importance": "shapley"},
    {"variance_estimator": "extrapolated"},
    {"variance_estimator": "adaptive"},
    {"rule": "calibrated"},
    {"rule": "calibrated", "control": "fdr", "alpha": 0.3},
    {"rule": "calibrated", "goal": "predict"},
    {"rule": "calibrated", "split": True},
    {"rule": "calibrated", "compact": True, "n_jobs": 2},
    {"rule": "calibrated", "variance_estimator": "nearest", "forced": [0]},
]
FEW = [{}, {"rule": "calibrated"}]
WHOLE = ("numeric", "mixed", "gaps", "grid", "related", "classes", "outputs")  # all options are tried on these


def calls(folder):
    """Yield the name of a call and a function that makes it."""
    known = tables()
    rng = np.random.default_rng(5)
    weights, groups = rng.uniform(0.5, 2, ROWS), np.arange(ROWS) // 3

    def fit(X, y, settings, **more):
        return lambda: FIRST(**{"random_state": 0} | settings).fit(X, y, **more).indices_

    for name, (X, y) in known.items():
        for settings in SELECTIONS if name in WHOLE else FEW + SELECTIONS[12:14]:
            yield f"FIRST {name} {settings}", fit(X, y, settings)
    for name in WHOLE:
        X, y = known[name]
        for settings in [*FEW, {"variance_estimator": "extrapolated"}, {"split": True, "random_state": 1}]:
            yield f"FIRST {name} {settings} weights", fit(X, y, settings, sample_weight=weights)
            yield f"FIRST {name} {settings} groups", fit(X, y, settings, groups=groups)
    X, y = known["mixed"]
    for settings in FEW:
        more = {"period": {"load": 250}, "categorical": ["count"], "factor_groups": {"both": ["size", "wet"]}}
        for key in more:
            yield f"FIRST mixed {settings} {key}", fit(X, y, settings | {key: more[key]})
        yield f"FIRST mixed {settings} scale by name", fit(X, y, settings | {"scale": {"size": 2.0, "load": 10.0}})
        for response in ("ranks", "normal-scores"):
            yield f"FIRST mixed {settings} {response}", fit(X, y, settings, response_scale=response)
        yield f"FIRST gaps {settings} drop", fit(*known["gaps"], settings | {"missing": "drop"})
        yield f"FIRST outputs {settings} weighted", fit(*known["outputs"], settings, output_weights=[3, 1, 0.5])
        numbers = {"task": "classification"}
        yield f"FIRST numbers as classes {settings}", fit(X, known["grid"][0][:, 0], settings | numbers)
    yield from functions(known, weights, groups)
    yield from rankings(known, folder)
    yield from on_a_cluster(known, folder)


def functions(known, weights, groups):
    """Yield calls of the functions."""
    plain = (
        "total_indices",
        "closed_indices",
        "shapley_effects",
        "interactions",
        "cumulative_ranking",
        "backward_elimination",
    )
    for name in WHOLE:
        X, y = known[name]
        for function in plain:
            for options in ({}, {"variance_estimator": "nearest"}, {"n_outer": 50, "random_state": 2}):
                yield (
                    f"{function} {name} {options}",
                    lambda f=function, X=X, y=y, o=options: getattr(firstfactor, f)(X, y, **o),
                )
    X, y = known["mixed"]
    for function in ("total_indices", "shapley_effects", "backward_elimination"):
        call = getattr(firstfactor, function)
        yield f"{function} uncertainty", lambda call=call: call(X, y, uncertainty=True, variance_estimator="adaptive")
        yield f"{function} weights", lambda call=call: call(X, y, uncertainty=True, sample_weight=weights)
        yield f"{function} groups", lambda call=call: call(X, y, uncertainty=True, groups=groups)
    for more in ({"subset": [0, 1]}, {"noise": False}, {"uncertainty": True, "method": "subsample", "random_state": 0}):
        yield f"total_indices {more}", lambda more=more: firstfactor.total_indices(X, y, **more)
    twins = {"subsample": "twinning", "n_outer": 50, "random_state": 0}
    yield "total_indices twinning", lambda: firstfactor.total_indices(*known["numeric"], **twins)
    yield "explained_variance", lambda: firstfactor.explained_variance(X, y, [0, 1])
    for settings in FEW:
        selector = FIRST(**settings)
        yield (
            f"stability {settings}",
            lambda s=selector: firstfactor.stability(X, y, selector=s, n_pairs=4, random_state=0, n_jobs=1),
        )


RANKINGS = [
    {},
    {"method": "first-fast"},
    {"method": "backward"},
    {"method": "total"},
    {"rule": "paper"},
    {"control": "fdr"},
    {"goal": "predict"},
    {"compact": True},
    {"importance": "shapley"},
    {"cluster_cut": 0.5},
    {"stability": 4},
    {"split": True},
    {"sample": 100},
    {"seed": 3, "n_outer": 60},
    {"unique": True},
    {"factors": ["[0-4]", "l*", "m*"]},
    {"response_scale": "ranks"},
    {"variance_estimator": "extrapolated"},
    {"date_parts": True},
]


def rankings(known, folder):
    """Yield calls of `rank`: of data frames, and of files of each format."""
    for name in ("numeric", "mixed", "gaps", "related", "classes"):
        X, y = known[name]
        frame = pd.DataFrame(X).rename(columns=str).assign(y=y)
        for settings in RANKINGS:
            yield f"rank {name} {settings}", lambda f=frame, s=settings: rank(f, "y", jobs=1, **s)
    frame = sample_tables.frame_of_all_kinds(ROWS)
    y = pl.Series(np.random.default_rng(9).normal(size=ROWS) * 0.2)
    frame = frame.with_columns(y=frame["size"] + (frame["make"] == "elm") * 1.5 + y)
    paths = [reading.write(frame, folder / f"t.{kind}") for kind in ("csv", "tsv", "parquet", "arrow", "jsonl")]
    paths += [reading.write_tables(folder / f"t.{kind}", only=frame) for kind in ("xlsx", "sqlite", "duckdb")]
    paths.append(folder / "t.json")
    paths[-1].write_text(json.dumps(frame.with_columns(pl.col("when").cast(str)).to_dicts()))
    paths.append(folder / "t.dta")
    frame.drop("when").to_pandas().to_stata(paths[-1], write_index=False)
    paths.append(folder / "t.csv.gz")
    paths[-1].write_bytes(gzip.compress((folder / "t.csv").read_bytes()))
    parts = folder / "parts"
    for part in range(3):
        (parts / f"part={part}").mkdir(parents=True)
        frame[part * 50 : part * 50 + 50].write_parquet(parts / f"part={part}" / "rows.parquet")
    paths.append(parts)
    for path in paths:
        for settings in ({}, {"memory": "8GB"}, {"rule": "paper", "factors": ["size", "c*", "make"]}, {"sample": 90}):
            yield f"rank {path.name} {settings}", lambda p=path, s=settings: rank(p, "y", jobs=1, **s)
    text = folder / "quirks.csv"
    rows = [
        f"{i / 7:.3f};{'?' if i % 9 == 0 else i % 5};{'ab'[i % 2]};2024-01-{i % 28 + 1:02};{i % 4}" for i in range(ROWS)
    ]
    text.write_text("\n".join(["a;b;c;d;y", *[row.replace(".", ",") for row in rows]]))
    for settings in ({"na": ["?"]}, {"na": ["?"], "decimal": ",", "groups": "d"}, {"na": ["?"], "weight": "a"}):
        yield f"rank quirks.csv {settings}", lambda s=settings: rank(text, "y", jobs=1, **s)


def on_a_cluster(known, folder):
    """Yield calls whose table is on a Dask cluster of threads."""
    import dask.array as da
    import dask.dataframe as dd
    from distributed import get_client

    for name in ("mixed", "gaps", "numeric"):
        X, y = known[name]
        frame = pd.DataFrame(X).rename(columns=str)
        if name == "gaps":
            frame = frame.astype({"size": float, "load": float, "count": float, "make": "string", "wet": "boolean"})
        lazy = dd.from_pandas(frame.assign(y=y), npartitions=3)
        for settings in (
            {},
            {"rule": "calibrated"},
            {"n_outer": 40},
            {"variance_estimator": "extrapolated"},
            {"missing": "drop"},
        ):
            yield (
                f"Dask {name} {settings}",
                lambda f=frame, z=lazy, s=settings: FIRST(random_state=0, **s).fit(z[list(f)], z["y"]).indices_,
            )
    X, y = known["numeric"]
    lazy_X, lazy_y = da.from_array(X, chunks=(50, 3)), da.from_array(y, chunks=50)
    for function in ("total_indices", "shapley_effects", "cumulative_ranking"):
        yield f"Dask array {function}", lambda f=function: getattr(firstfactor, f)(lazy_X, lazy_y)
    for settings in ({}, {"rule": "paper"}):
        path = str(folder / "t.parquet")
        yield (
            f"Dask file {settings}",
            lambda s=settings, p=path: rank(p, "y", cluster=get_client().scheduler.address, **s),
        )


def numbers(result):
    """Return all numeric results by name."""
    if isinstance(result, firstfactor.Ranking):
        found = {}
        flatten(json.loads(result.to_json()), "", found)
        return found
    if isinstance(result, float):
        return {"value": [result]}
    if not isinstance(result, firstfactor.Indices):
        frame = result.to_frame("polars")
        return {name: frame[name].to_list() for name in frame.columns if frame[name].dtype.is_numeric()}
    found = {
        "values": result.values,
        "noise": [result.noise_variance, result.response_variance, result.r2_ceiling],
        "counts": [result.n_rows, *result.selected],
        "bias": [result.sample_size.distance_bias, result.sample_size.distance_share],
    }
    if result.uncertainty is not None:
        found |= {"errors": result.standard_errors, "p": result.p_values, "interval": result.interval()}
    if result.sharing is not None:
        found["alone"] = result.sharing.alone.values
        found["clusters"] = [x for c in result.sharing.clusters for x in (c.joint, c.standard_error, *c.kept)]
        if result.sharing.tree is not None:
            found["tree"] = result.sharing.tree.linkage
    if result.path is not None:
        for i, step in enumerate(result.path.steps):
            found[f"step {i}"] = [step.base_explained, *step.chosen, *step.explained]
    return {name: np.ravel(values).tolist() for name, values in found.items()}


def flatten(value, name, found):
    """Collect the numbers of nested lists and mappings by their path."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in NO_RESULTS:
                flatten(inner, f"{name}/{key}", found)
    elif isinstance(value, list):
        for inner in value:
            flatten(inner, name, found)
    elif isinstance(value, (int, float)):
        found.setdefault(name, []).append(value)


def write(target):
    """Make all calls, and write their results."""
    from distributed import Client

    options = {"processes": False, "n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    n_calls = count()
    with tempfile.TemporaryDirectory() as folder, Client(**options), open(target, "w") as lines:
        warnings.simplefilter("ignore")
        for name, call in calls(Path(folder)):
            next(n_calls)
            try:
                found = numbers(call())
            except (ValueError, TypeError, OSError) as error:
                found = {f"error {type(error).__name__}": []}
            for key, values in found.items():
                digest = hashlib.sha256(np.array(values, dtype=np.float64).tobytes()).hexdigest()
                lines.write(json.dumps([name, key, digest, values]) + "\n")
    print(f"{next(n_calls)} calls")


def compare(before, after):
    """Print which results differ, and by how much relative to the largest number of each; return whether any does."""
    one, other = (
        {
            (name, key): (digest, values)
            for name, key, digest, values in map(json.loads, Path(path).read_text().splitlines())
        }
        for path in (before, after)
    )
    differing = 0
    for key in one.keys() | other.keys():
        if key not in one or key not in other:
            print(*key, "only", "before" if key in one else "after")
        elif one[key][0] != other[key][0]:
            old, new = (np.array(each[key][1], dtype=np.float64) for each in (one, other))
            if old.shape != new.shape:
                size = "other numbers"
            else:
                size = f"{np.nanmax(np.abs(old - new)) / max(np.nanmax(np.abs(old)), 1e-300):.1e}"
            print(*key, size)
        else:
            continue
        differing += 1
    print(f"{differing} of {len(one.keys() | other.keys())} results of {len({name for name, _ in one})} calls differ")
    return differing > 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ways = parser.add_subparsers(required=True, dest="way")
    ways.add_parser("write").add_argument("file")
    between = ways.add_parser("compare")
    between.add_argument("before")
    between.add_argument("after")
    given = parser.parse_args()
    if given.way == "write":
        write(given.file)
    else:
        raise SystemExit(compare(given.before, given.after))
