"""JSON files: every way to write a table, rows that are named, and values that cannot be meant."""

import json
import re

import numpy as np
import pytest

from firstfactor import rank

N = 60
X = np.random.default_rng(0).normal(size=N).tolist()
Y = [2 * x for x in X]


def ranked(tmp_path, content, target="y", name="t.json", **options):
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return rank(str(path), target, **options)


@pytest.mark.parametrize("order", [range(N), range(N - 1, -1, -1)])
def test_columns_of_named_rows_are_aligned_by_key(tmp_path, order):
    content = {"x": {str(i): X[i] for i in range(N)}, "y": {str(i): Y[i] for i in order}}
    ranking = ranked(tmp_path, content)
    assert ranking.dataset.X["x"].to_list() == X and ranking.dataset.y.to_list() == Y


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            {"x": {str(i): X[i] for i in range(N)}, "y": {str(i + 1): Y[i] for i in range(N)}},
            r"column 'x' of t\.json has a value for the row '0', but 'y' has none\. .* write null",
        ),
        ({"x": X, "y": Y[1:]}, r"column 'y' of t\.json has 59 values, but 'x' has 60\. Every column must"),
        ({"x": X, "y": dict(enumerate(Y))}, r"t\.json must hold a list of rows such as"),
        ({"columns": ["x", "y"], "data": [[1, 2], [3]]}, r"row 2 of t\.json has 1 values for 2 columns"),
        ({"columns": [1, "1"], "data": [[1, 2], [3, 4]]}, r"two columns of t\.json have the name '1'"),
        ({"columns": [["x"], ["y"]], "data": [[1, 2], [3, 4]]}, r'"columns" of t\.json must hold the names'),
        ([{}], r"t\.json must hold a list of rows such as"),
        ([], r"t\.json must hold a list of rows such as"),
        ({}, r"t\.json must hold a list of rows such as"),
        ({"data": [[1, 2], [3, 4]]}, r"t\.json must hold a list of rows such as"),
        ("[" * 100_000 + "]" * 100_000, r"t\.json is nested too deeply to be a table"),
        ('[{"x": ' + "[" * 100_000 + "]" * 100_000 + ', "y": 1}]', r"t\.json is nested too deeply to be a table"),
    ],
)
def test_what_is_no_table_is_told(tmp_path, content, message):
    with pytest.raises(ValueError, match=message):
        ranked(tmp_path, content)


@pytest.mark.parametrize(
    ("content", "target", "names"),
    [
        ({"data": X, "y": Y}, "y", ["data"]),
        ({"data": X, "columns": X[::-1], "y": Y}, "y", ["data", "columns"]),
        ({"columns": [1, 2], "index": list(range(N)), "data": list(zip(X, Y, strict=True))}, "2", ["1"]),
        ({"meta": {"page": 1}, "data": [{"x": x, "y": y} for x, y in zip(X, Y, strict=True)]}, "y", ["x"]),
        ({"schema": {}, "data": [{"x": x, "y": y} for x, y in zip(X, Y, strict=True)]}, "y", ["x"]),
        ([{"x": x, "y": y} | ({"more": [1]} if x > 0 else {}) for x, y in zip(X, Y, strict=True)], "y", ["x"]),
    ],
)
def test_tables_that_look_like_others_are_read(tmp_path, content, target, names):
    table = ranked(tmp_path, content, target).dataset
    assert table.X.columns == names and table.X[names[0]].to_list() == X and table.y.to_list() == Y


def rows(**odd):
    """Return rows in which the column b has another value in row 6."""
    table = [{"x": x, "b": round(100 * x), "y": y} for x, y in zip(X, Y, strict=True)]
    table[5] |= odd
    return table


@pytest.mark.parametrize("value", [True, [1], {"a": 1}])
def test_values_of_different_kinds_are_refused_in_json_and_in_json_lines(tmp_path, value):
    kind = {bool: "true or false", list: "a list", dict: "an object"}[type(value)]
    said = (
        "'b' is a number or text on {0} 1 of {1} and " + kind + " on {0} 6: the values of a column must be of one kind."
    )
    with pytest.raises(ValueError, match=re.escape(said.format("row", "t.json"))):
        ranked(tmp_path, rows(b=value))
    with pytest.raises(ValueError, match=re.escape(said.format("line", "t.jsonl"))):
        ranked(tmp_path, "\n".join(map(json.dumps, rows(b=value))), name="t.jsonl")
    with pytest.raises(ValueError, match=re.escape(said.format("line", "t.json"))):
        ranked(tmp_path, "\n".join(map(json.dumps, rows(b=value))))


@pytest.mark.parametrize("written", ["1" + "0" * 400, "-1" + "0" * 400, "1e400", "1" + "0" * 5000])
def test_numbers_that_are_too_large_are_never_missing_values(tmp_path, written):
    text = json.dumps(rows(b="HUGE")).replace('"HUGE"', written)
    with pytest.raises(ValueError, match=r"^column 'b' of t\.json has an infinite value on row 6\."):
        ranked(tmp_path, text)
    lines = "\n".join(map(json.dumps, rows(b="HUGE"))).replace('"HUGE"', written)
    with pytest.raises(
        ValueError, match=r"^'b' is too large a number on line 6 of t\.jsonl\. Correct it, or write null"
    ):
        ranked(tmp_path, lines, name="t.jsonl")


def test_whole_numbers_keep_their_digits(tmp_path):
    table = rows()
    for i, row in enumerate(table):
        row["b"] = 2**60 + i % 7
    assert ranked(tmp_path, table).dataset.X["b"].to_list() == [2**60 + i % 7 for i in range(N)]
    table[5]["b"] = 10**50
    assert ranked(tmp_path, table).dataset.X["b"].to_list()[5] == 1e50


def test_a_line_that_is_nested_too_deeply_is_told(tmp_path):
    deep = '{"y": 1, "x": ' + "[" * 100_000 + "]" * 100_000 + "}"
    with pytest.raises(ValueError, match=r"^line 2 of t\.jsonl is nested too deeply to be a row of a table\.$"):
        ranked(tmp_path, '{"y": 1, "x": [1]}\n' + deep, name="t.jsonl")
