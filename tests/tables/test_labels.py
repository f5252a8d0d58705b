"""Blanks around labels and names: they count where values have types, and nowhere do two labels become one."""

import numpy as np
import polars as pl
import pytest

from firstfactor import rank

WRITERS = {
    "csv": pl.DataFrame.write_csv,
    "jsonl": pl.DataFrame.write_ndjson,
    "parquet": pl.DataFrame.write_parquet,
    "arrow": pl.DataFrame.write_ipc,
}


def table(labels, n=120):
    """Return a table whose response depends on which of the labels a row has, and on nothing else."""
    rng = np.random.default_rng(0)
    which = rng.integers(len(labels), size=n)
    y = which + 0.05 * rng.normal(size=n)
    return pl.DataFrame({"g": [labels[i] for i in which], "z": rng.normal(size=n), "y": y})


def ranked(frame, tmp_path, suffix, target="y", **options):
    if suffix is None:
        return rank(frame, target, **options)
    path = tmp_path / f"t.{suffix}"
    WRITERS[suffix](frame, path)
    return rank(str(path), target, **options)


@pytest.mark.parametrize("suffix", [None, *WRITERS])
def test_labels_that_differ_only_in_blanks_are_kept_apart(tmp_path, suffix):
    ranking = ranked(table(["a", "a "]), tmp_path, suffix)
    assert [ranking.indices.names[i] for i in ranking.indices.selected] == ["g"]
    assert ranking.indices.r2_ceiling > 0.9
    note = "Labels of column 'g' that differ only in blanks around them were kept apart."
    assert (note in ranking.notes()) == (suffix in ("csv", "jsonl"))


@pytest.mark.parametrize("suffix", [None, *WRITERS])
def test_blanks_around_labels_are_left_out_only_of_text(tmp_path, suffix):
    ranking = ranked(table([" a", "b "]), tmp_path, suffix)
    trimmed = suffix in ("csv", "jsonl")
    assert set(ranking.dataset.X["g"]) == ({"a", "b"} if trimmed else {" a", "b "})
    assert ranking.notes() == []


@pytest.mark.parametrize("suffix", [None, *WRITERS])
def test_classes_that_differ_only_in_blanks_are_kept_apart(tmp_path, suffix):
    frame = table(["a", "b"]).select(
        "z", "y", c=pl.when(pl.col("g") == "a").then(pl.lit("yes")).otherwise(pl.lit("yes "))
    )
    ranking = ranked(frame, tmp_path, suffix, "c")
    assert ranking.classes == ["yes", "yes "]
    assert [ranking.indices.names[i] for i in ranking.indices.selected] == ["y"]


@pytest.mark.parametrize("suffix", [None, "parquet"])
@pytest.mark.parametrize("labels", [["1", "01"], ["1", "1 "]])
def test_numerals_that_are_asked_for_as_labels_are_kept_apart(tmp_path, suffix, labels):
    ranking = ranked(table(labels), tmp_path, suffix, categorical="g")
    assert set(ranking.dataset.X["g"]) == set(labels)


def test_groups_that_differ_only_in_blanks_are_kept_apart():
    frame = table(["a", "b"]).with_columns(who=pl.Series([f"{i // 4}{' ' * (i % 2)}" for i in range(120)]))
    assert rank(frame, "y", groups="who").dataset.groups.n_unique() == 60


@pytest.mark.parametrize("suffix", [None, "parquet", "arrow"])
def test_names_of_typed_columns_are_kept_as_they_are(tmp_path, suffix):
    frame = table(["a", "b"]).rename({"g": " g ", "z": "z  z"})
    assert ranked(frame, tmp_path, suffix).dataset.X.columns == [" g ", "z  z"]


def test_a_value_that_stands_for_a_missing_one_is_meant_as_it_is_written_in_typed_columns(tmp_path):
    ranking = ranked(table(["a", "a ", "b"]), tmp_path, "parquet", na=["a"])
    assert set(ranking.dataset.X["g"]) == {None, "a ", "b"}
