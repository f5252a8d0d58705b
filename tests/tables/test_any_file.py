"""Any file ends in an answer that does not contradict itself or in one line in our own words: see `tests/test_fuzz.py`.

Text in many dialects, typed formats, and damage of every kind.
"""

import contextlib
import gzip
import io
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.endings import rank_file
from tests.strategies import COLUMNS, HOSTILE, ODD, ODD_NAMES, ORDINARY, chance, fuzzing, of, pick, rngs, weighted

MISSING = ("", "NA", "NaN", "null", "?", "-", ".", "n/a", "None", "#N/A", "-999", " ")
STRAY = (
    "x", "1,5", "1.234,5", "$12.30", "12%", "1,234", "1e400", "-1e400", "inf", "-Infinity", "0x1F", "1_000", "٣", "½",
    "99999999999999999999", '"', '""', "'", "a\nb", "a\rb", "a,b;c\td|e", "é", "名", "🦆", "\x1b[2J", "\0", "=1+1",
    "1.2.3", "x" * 5000, "2024-01-01", "12:30", "true", "+5", "−5", "5 ", "\ufeff", "\u200b",
    "1e5", ".5", "5.", "--", "\\", "#",
)  # fmt: skip
CELLS = {
    "numbers": lambda rng, n: [f"{value:.6g}" for value in rng.normal(size=n) * pick(rng, 1, 1, 100, 1e-5, 1e200)],
    "grid": lambda rng, n: [str(i) for i in rng.integers(0, 4, size=n)],
    "words": lambda rng, n: [pick(rng, "ash", "elm", "oak", "name, with comma", "é") for _ in range(n)],
    "row number": lambda _, n: [str(i) for i in range(n)],
    "unique words": lambda _, n: [f"row {i}" for i in range(n)],
    "constant": lambda _, n: ["7"] * n,
    "dates": lambda _, n: [f"2024-01-{1 + i % 28:02d}" for i in range(n)],
    "truths": lambda rng, n: [str(pick(rng, True, False)) for _ in range(n)],
    "large": lambda rng, n: [str(2**60 + i) for i in rng.integers(0, 4, size=n)],
    "money": lambda rng, n: [f"${i}.50" for i in rng.integers(0, 4, size=n)],
    "percent": lambda rng, n: [f"{i}%" for i in rng.integers(0, 4, size=n)],
    "thousands": lambda rng, n: [f"{1000 * k + i:,}" for i, k in enumerate(rng.integers(0, 4, size=n))],
    "empty": lambda _, n: [""] * n,
    "stray": lambda rng, n: [pick(rng, *STRAY) for _ in range(n)],
}
TARGETS = {
    "numbers": CELLS["numbers"],
    "classes": lambda rng, n: (pick(rng, ["0", "1"], ["no", "yes"], ["True", "False"]) * n)[:n],
}
CSV_SUFFIXES = (*[".csv"] * 10, ".txt", ".tsv", ".CSV", "", ".dat", ".xlsx")
TAB_SUFFIXES = (*[".tsv"] * 4, ".tab", ".csv", ".txt")
RUBBISH = (b"", b"\n", b"\0" * 99, b"PAR1", b"ARROW1\0\0", b"\x1f\x8b", b"y", b'"', b",", b"\xef\xbb\xbf")
INSERTED = (
    b"\xff", b"\xe9", b'"', b"\n", b"\r", b",,,,", b"\xef\xbb\xbf", b"\x1a", b"\n\n\n", b"'", b"\x80" * 9,
)  # fmt: skip


@dataclass
class File:
    """The content of a file, and what is known about it."""

    content: bytes
    suffix: str
    names: list


@st.composite
def files(draw):
    """A file: mostly readable, often odd, at times damaged."""
    make = draw(weighted({texts: 12, json_lines: 2, typed_files: 4, rubbish: 1}))
    file = draw(make())
    if draw(chance(12)):
        file.content = draw(damaged_bytes(file.content))
    if draw(chance(8)):
        file.content = gzip.compress(file.content, mtime=0)
        file.suffix += draw(of([".gz", ".gz", ""]))
        if draw(chance(30)):
            file.content = draw(damaged_bytes(file.content))
    return file


@st.composite
def damaged_bytes(draw, content):
    """The bytes with some of them changed, lost or put in."""
    place = draw(st.integers(0, len(content)))
    damage = draw(of(["truncated", "flipped", "zeros", "inserted", "doubled"]))
    if damage == "flipped" and content:
        flipped = bytearray(content)
        for _ in range(draw(st.integers(1, 4))):
            flipped[draw(st.integers(0, len(flipped) - 1))] ^= 1 << draw(st.integers(0, 7))
        return bytes(flipped)
    if damage == "zeros":
        return content[:place] + bytes(draw(st.integers(1, 20))) + content[place + 20 :]
    if damage == "inserted":
        return content[:place] + draw(of(INSERTED)) + content[place:]
    return content + content if damage == "doubled" else content[:place]


@st.composite
def shapes(draw):
    """A number of rows, and the names of the columns: one is y."""
    n_rows = draw(st.integers(4, 60)) if draw(chance(90)) else draw(of([0, 1, 2, 3, 200]))
    names = [draw(of(ODD_NAMES)) if draw(chance(5)) else f"f{j}" for j in range(draw(st.integers(1, 6)))]
    names.insert(draw(st.integers(0, len(names))), "y")
    return n_rows, names if draw(chance(97)) else ["y"]


@st.composite
def texts(draw):
    """Text with separators, quotes, line ends and encodings of all kinds."""
    (n_rows, names), rng = draw(shapes()), draw(rngs)
    separator = draw(weighted({",": 20, ";": 6, "\t": 4, "|": 2, " ": 1, ":": 1}))
    end = draw(weighted({"\n": 20, "\r\n": 6, "\r": 1, "mixed": 1}))
    kinds = [draw(of(["numbers", "numbers", "grid", "words", *CELLS])) for _ in names]
    columns = [CELLS[kind](rng, n_rows) for kind in kinds]
    if draw(chance(85)):
        columns[names.index("y")] = TARGETS[draw(of([*TARGETS]))](rng, n_rows)
    if separator != "," and draw(chance(30)):
        columns = [[cell.replace(".", ",") for cell in column] for column in columns]
    rows = [list(row) for row in zip(*columns, strict=True)]
    if rows and draw(chance(35)):
        draw(disturbances(rows))
    lines = [[f" {name}" if draw(chance(2)) else name for name in names], *rows] if draw(chance(97)) else rows
    quoting = draw(weighted({"minimal": 8, "all": 2, "none": 1, "single": 1}))
    ends = ["\n", "\r\n", "\r"] if end == "mixed" else [end]
    parts = []
    for line in lines:
        parts += [separator.join(_quoted(cell, separator, quoting) for cell in line), pick(rng, *ends)]
    if parts and draw(chance(10)):
        parts.pop()  # no line break at the end
    encodings = ("utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252", "utf-32")
    encoding = draw(of(encodings)) if draw(chance(12)) else "utf-8"
    suffix = draw(of(TAB_SUFFIXES if separator == "\t" else CSV_SUFFIXES))
    return File("".join(parts).encode(encoding, errors="replace"), suffix, names)


@st.composite
def disturbances(draw, rows):
    """Put in what one finds in real files: gaps, stray values, short and long lines, blank ones."""
    for _ in range(draw(st.integers(1, 4))):
        i = draw(st.integers(0, len(rows) - 1))
        kind, row = draw(of(["gap", "stray", "ragged", "blank"])), rows[i]
        if kind == "blank":
            rows.insert(i, draw(of([[], [" "], [""]])))
        elif kind == "ragged":
            rows[i] = draw(of([row[:-1], [*row, "1"], row * 2]))
        elif row:
            row[draw(st.integers(0, len(row) - 1))] = draw(of(MISSING if kind == "gap" else STRAY))


def _quoted(cell, separator, quoting):
    if quoting in ("none", "single"):
        return cell if quoting == "none" else f"'{cell}'"
    needed = quoting == "all" or any(mark in cell for mark in (separator, '"', "\n", "\r"))
    return '"' + cell.replace('"', '""') + '"' if needed else cell


@st.composite
def json_lines(draw):
    """Lines of JSON, at times with values and lines that do not belong there."""
    (n_rows, names), rng, strange = draw(shapes()), draw(rngs), draw(chance(25))
    odd = (None, True, "text", [1, 2], {"a": 1}, 2**70, -0.0, 1e300, "", "5")
    kinds = [draw(of(["normal", "grid", "sizes"])) for _ in names]
    columns = [COLUMNS[kind](rng, n_rows).tolist() for kind in kinds]
    lines = []
    for row in zip(*columns, strict=True):
        cells = [pick(rng, *odd) if strange and rng.random() < 0.05 else cell for cell in row]
        pairs = {name: cell for name, cell in zip(names, cells, strict=True) if not strange or rng.random() < 0.98}
        lines.append(json.dumps(pairs, ensure_ascii="\ud800" in names or draw(chance(30))))
    if strange and draw(chance(40)):
        line = draw(of(["", "[1]", "{", "null", '{"y": NaN}', "{}", "3", '{"y":1,"y":2}']))
        lines.insert(draw(st.integers(0, len(lines))), line)
    text = draw(of(["\n", "\r\n"])).join(lines)
    return File(text.encode(errors="replace"), draw(of([".jsonl", ".ndjson"])), names)


RARE_TYPES = (
    pa.decimal128(38, 3), pa.float16(), pa.float32(), pa.string(), pa.large_string(), pa.date32(), pa.binary(),
    pa.uint8(), pa.bool_(),
)  # fmt: skip


@st.composite
def typed_files(draw):
    """A Parquet or Arrow file of many types."""
    (n_rows, names), rng = draw(shapes()), draw(rngs)
    kinds = draw(of([[*ORDINARY], [*ORDINARY, *ODD], [*ORDINARY, *ODD, *HOSTILE]]))
    arrays = [draw(_arrays(COLUMNS[draw(of([*ORDINARY] if name == "y" else kinds))](rng, n_rows))) for name in names]
    table = pa.table(arrays, names=[name.encode(errors="replace").decode() for name in names])
    sink, suffix = io.BytesIO(), draw(of([".parquet", ".pq", ".arrow", ".feather", ".ipc"]))
    try:
        if suffix in (".parquet", ".pq"):
            pyarrow.parquet.write_table(table, sink, compression=draw(of(["snappy", "none", "zstd", "gzip"])))
        else:
            with (pyarrow.ipc.new_stream if draw(chance(10)) else pyarrow.ipc.new_file)(sink, table.schema) as writer:
                writer.write_table(table)
    except pa.ArrowException:  # the format has no such type
        return File(b"", suffix, names)
    return File(sink.getvalue(), suffix, table.column_names)


@st.composite
def _arrays(draw, column):
    """The column as Arrow has it, at times of a rarer type; text where Arrow has no such thing."""
    try:
        array = pa.array(column.tolist() if column.dtype.kind == "O" else column)
    except Exception:
        array = pa.array([repr(value)[:9] for value in column])
    if draw(chance(15)):
        with contextlib.suppress(pa.ArrowException):  # no value, or no type, of that kind
            dtype = draw(of([None, *RARE_TYPES]))
            return array.cast(dtype, safe=False) if dtype else array.dictionary_encode()
    return array


@st.composite
def rubbish(draw):
    """Bytes that are no table."""
    suffix = draw(of([".csv", ".parquet", ".arrow", ".jsonl", ".txt", ".json", ".xlsx", ".db"]))
    return File(draw(st.one_of(of(RUBBISH), st.binary(max_size=300))), suffix, ["y"])


# --- options of the command ---------------------------------------------------------------------------

# For each option in how many of a hundred commands it is given, and with what; None is for those without a value.
OPTIONS = {
    "--task": (15, ["auto", "regression", "classification"]),
    "--missing": (40, ["drop", "error"]),
    "--sample": (10, ["2", "3", "5", "10", "1000000"]),
    "--method": (40, ["first", "first-fast", "backward", "total"]),
    "--rule": (15, ["paper", "calibrated", "calibrated"]),
    "--alpha": (30, ["0.05", "0.5", "0.99", "1e-3"]),
    "--control": (5, ["fwer", "fdr"]),
    "--goal": (30, ["explain", "predict"]),
    "--variance-estimator": (20, ["nearest", "extrapolated", "adaptive"]),
    "--split": (12, None),
    "--stability": (6, ["1", "2", "3"]),
    "--n-neighbors": (30, ["2", "3", "5", "10", "20", "50"]),
    "--n-outer": (20, ["1", "2", "4", "10", "0.05", "0.3", "0.9", "1.0"]),
    "--seed": (50, ["0", "7", "2147483647"]),
    "--jobs": (90, ["1", "1", "1", "2", "-1"]),
    "--no-scale": (10, None),
    "--format": (3, ["csv", "tsv", "parquet", "arrow", "jsonl"]),
    "-q": (5, None),
    "--debug": (30, None),
}
WRONG_NUMBERS = ("0", "-1", "x", "", "nan", "inf", "1e9", "2.5", "99999999999999999999")
WRONG = (
    *([option, "nonsense"] for option in ("--method", "--rule", "--control", "--goal", "--task", "--missing")),
    *([option, "nonsense"] for option in ("--variance-estimator", "--format")),
    *([option, names] for option in ("--factors", "--drop", "--categorical") for names in ("", ",", "[", "x*", "**")),
    *([word] for word in ("--nonsense", "-x", "--n-neighbours=3", "extra", "--html", "--target")),
    *(["--plot", path] for path in ("picture.xyz", "", "/no/such/folder/a.png", ".")),
    ["-t", "f0"],
)
WRITTEN = {"json": "out.json", "csv": "out.csv", "html": "out.html", "plot": "out.svg"}
HOW_OFTEN = {"json": 60, "csv": 15, "html": 1, "plot": 1}  # pages and pictures take long
STEMS = (*["data"] * 40, "da ta", "名", "\x1b[31m", "-t", "a'b\"c")


@st.composite
def arguments(draw, names):
    """Arguments after the file; at times one that makes no sense."""
    given = []
    for option in ("--factors", "--drop", "--categorical"):
        if draw(chance(8)):
            given += [option, draw(of(["f0", "f1", "f*", "f[0-2]", "*", *names, ",".join(names[:3])]))]
    for option, (percent, values) in OPTIONS.items():
        if draw(chance(percent)) and (_goes_with(option, given) or draw(chance(2))):
            given += [option] if values is None else [option, draw(of(values))]
    if draw(chance(98)):
        target = "y" if draw(chance(93)) else draw(of([*names, "Y", "no such column", ""]))
        given += [draw(of(["-t", "--target"])), target]
    if draw(chance(6)):
        counts = ["--n-neighbors", "--n-outer", "--alpha", "--sample", "--stability", "--seed", "--jobs"]
        given += draw(st.one_of(of(WRONG), st.tuples(of(counts), of(WRONG_NUMBERS))))
    return given


def _goes_with(option, arguments):
    """Tell whether an option makes sense after others."""
    if option in ("--split", "--stability", "--rule"):
        return not {"first-fast", "backward", "total"} & set(arguments)
    return option not in ("--alpha", "--goal") or "calibrated" in arguments


@fuzzing
@given(st.data())
def test_any_file(data):
    file = data.draw(files(), "file")
    given, from_stdin = data.draw(arguments(file.names), "arguments"), data.draw(chance(5), "from standard input")
    outputs = {option: name for option, name in WRITTEN.items() if data.draw(chance(HOW_OFTEN[option]), option)}
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / f"{data.draw(of(STEMS), 'name')}{file.suffix}"
        path.write_bytes(file.content)
        source, stdin = ("-", file.content) if from_stdin else (path, None)
        assert not rank_file(Path(name), source, given, outputs, stdin)[1]


NUMBERS = b"x,y\n" + b"".join(b"%d,%d\n" % (i, i * i % 7) for i in range(20))


FAILED_ONCE = {
    "a byte order mark alone": (b"\xef\xbb\xbf", ".csv"),
    "a gzip file of two bytes": (b"\x1f\x8b", ".csv.gz"),
    "a gzip file that is cut off": (gzip.compress(NUMBERS, mtime=0)[:-9], ".csv.gz"),
    "a long line": (NUMBERS + b"1,2,3\n", ".csv"),
    "a name twice": (NUMBERS.replace(b"x,y", b"y,y"), ".csv"),
    "control characters in a name": (NUMBERS.replace(b"x,y", b"\x1b[31m,y"), ".csv"),
    "the header again": (NUMBERS * 2, ".csv"),
    "NaN in JSON": (b'{"x": 1, "y": NaN}\n', ".jsonl"),
    "a list among numbers": (b'{"x": 1, "y": 1}\n{"x": [1], "y": 2}\n', ".jsonl"),
    "a line that is no row": (b'{"x": 1}\n[1]\n', ".jsonl"),
}


@pytest.mark.parametrize("kind", FAILED_ONCE)
def test_files_that_failed_once(kind, tmp_path):
    content, suffix = FAILED_ONCE[kind]
    path = tmp_path / f"data{suffix}"
    path.write_bytes(content)
    assert not rank_file(tmp_path, path, ["-t", "y"], {"json": "out.json"})[1]
