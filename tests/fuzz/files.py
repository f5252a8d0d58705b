"""Files as bytes: text in many dialects, typed formats, and damage of every kind."""

import gzip
import io
import json
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from .columns import HOSTILE, ODD, ORDINARY, make_column
from .tables import ODD_NAMES

MISSING = ("", "NA", "NaN", "null", "?", "-", ".", "n/a", "None", "#N/A", "-999", " ")
STRAY = (
    "x", "1,5", "1.234,5", "$12.30", "12%", "1,234", "1e400", "-1e400", "inf", "-Infinity", "0x1F", "1_000", "٣", "½",
    "99999999999999999999", '"', '""', "'", "a\nb", "a\rb", "a,b;c\td|e", "é", "名", "🦆", "\x1b[2J", "\0", "=1+1",
    "1.2.3", "x" * 5000, "2024-01-01", "12:30", "true", "+5", "−5", "5 ", "\ufeff", "\u200b",
    "1e5", ".5", "5.", "--", "\\", "#",
)  # fmt: skip
CSV_SUFFIXES = {".csv": 20, ".txt": 2, ".tsv": 0.2, ".CSV": 0.3, "": 0.2, ".dat": 0.2, ".xlsx": 0.1}
TAB_SUFFIXES = {".tsv": 10, ".tab": 2, ".csv": 2, ".txt": 1}


@dataclass
class Data:
    """The content of a file, and what is known about it."""

    content: bytes
    suffix: str
    names: list
    story: str


def make_file(draw):
    """A file: mostly readable, often odd, at times damaged."""
    kind = draw.weighted({"text": 12, "json lines": 2, "parquet": 2, "arrow": 1.5, "rubbish": 0.3})
    data = {"text": _text, "json lines": _json_lines, "parquet": _parquet, "arrow": _arrow, "rubbish": _rubbish}[kind](
        draw
    )
    damage = draw.weighted({"none": 25, "truncated": 1, "flipped": 1, "zeros": 0.4, "inserted": 0.4, "doubled": 0.2})
    content = _damaged(draw, data.content, damage)
    if draw.chance(0.08):
        content = gzip.compress(content, mtime=0)
        data.suffix += draw.choice([".gz", ".gz", ""])
        if draw.chance(0.3):
            content = _damaged(draw, content, draw.choice(["truncated", "flipped", "inserted"]))
    story = f"{kind}: {data.story}; damage: {damage}"
    return Data(content, data.suffix, data.names, story)


def _damaged(draw, content, damage):
    place = draw.integer(0, len(content))
    if damage == "truncated":
        return content[:place]
    if damage == "flipped":
        flipped = bytearray(content)
        for _ in range(draw.integer(1, 4)):
            if flipped:
                flipped[draw.integer(0, len(flipped) - 1)] ^= 1 << draw.integer(0, 7)
        return bytes(flipped)
    if damage == "zeros":
        return content[:place] + bytes(draw.integer(1, 20)) + content[place + 20 :]
    if damage == "inserted":
        rubbish = [
            b"\xff",
            b"\xe9",
            b'"',
            b"\n",
            b"\r",
            b",,,,",
            b"\xef\xbb\xbf",
            b"\x1a",
            b"\n\n\n",
            b"'",
            b"\x80" * 9,
        ]
        return content[:place] + draw.choice(rubbish) + content[place:]
    return content + content if damage == "doubled" else content


def _shape(draw):
    rows = draw.weighted({(0, 0): 0.3, (1, 3): 1, (4, 12): 3, (13, 60): 10, (61, 200): 1})
    return draw.integer(*rows), draw.integer(2, 7) if draw.chance(0.97) else 1


def _names(draw, n_columns):
    names = [f"f{j}" for j in range(n_columns - 1)]
    for j in range(n_columns - 1):
        if draw.chance(0.05):
            names[j] = draw.choice(ODD_NAMES)
    names.insert(draw.integer(0, n_columns), "y")
    return names


# --- text ---------------------------------------------------------------------------------------------


def _text(draw):
    n_rows, n_columns = _shape(draw)
    names = _names(draw, n_columns)
    separator = draw.weighted({",": 10, ";": 3, "\t": 2, "|": 1, " ": 0.1, ":": 0.1})
    end = draw.weighted({"\n": 10, "\r\n": 3, "\r": 0.5, "mixed": 0.3})
    comma = separator != "," and draw.chance(0.3)
    columns = [_cells(draw, n_rows, comma) for _ in names]
    if draw.chance(0.85):
        columns[names.index("y")] = _target(draw, n_rows, comma)
    rows = [list(row) for row in zip(*columns, strict=True)] if columns else []
    _disturb(draw, rows)
    header = [f" {name}" if draw.chance(0.02) else name for name in names]
    lines = [header, *rows] if draw.chance(0.97) else rows
    quoting = draw.weighted({"minimal": 8, "all": 2, "none": 1, "single": 0.3})
    text = _joined(draw, lines, separator, end, quoting)
    encoding = draw.weighted(
        {"utf-8": 30, "utf-8-sig": 2, "utf-16": 0.5, "utf-16-le": 0.3, "latin-1": 1, "cp1252": 0.5, "utf-32": 0.1}
    )
    suffix = draw.weighted(TAB_SUFFIXES if separator == "\t" else CSV_SUFFIXES)
    story = f"{n_rows} rows, separator {separator!r}, line end {end!r}, quoting {quoting}, {encoding}"
    return Data(text.encode(encoding, errors="replace"), suffix, names, story)


def _target(draw, n, comma):
    if draw.chance(0.3):
        return draw.choice([["0", "1"], ["no", "yes"], ["True", "False"]]) * (n // 2) + ["1"] * (n % 2)
    return _numbers(draw, n, comma)


def _numbers(draw, n, comma):
    scale = draw.weighted({1: 8, 100: 2, 1e-5: 2, 1e200: 0.3})
    cells = [f"{value:.6g}" for value in draw.rng.normal(size=n) * scale]
    return [cell.replace(".", ",") for cell in cells] if comma else cells


def _cells(draw, n, comma):
    kind = draw.weighted({
        "numbers": 8, "grid": 4, "words": 3, "row number": 0.5, "unique words": 0.3, "constant": 0.3, "dates": 0.3,
        "truths": 0.5, "large": 0.3, "money": 0.2, "empty": 0.2, "percent": 0.2, "thousands": 0.2, "stray": 0.2,
    })  # fmt: skip
    rng = draw.rng
    if kind == "numbers":
        return _numbers(draw, n, comma)
    if kind == "words":
        return [("ash", "elm", "oak", "name, with comma", "é")[i] for i in rng.integers(0, draw.integer(2, 5), size=n)]
    if kind == "stray":
        return [draw.choice(STRAY) for _ in range(n)]
    wholes = rng.integers(0, 4, size=n).tolist()
    forms = {
        "grid": "{whole}", "row number": "{row}", "unique words": "row {row}", "constant": "7", "empty": "",
        "dates": "2024-01-{day:02d}", "large": "{large}", "money": "${whole}.50", "percent": "{whole}%",
        "thousands": "{thousand:,}", "truths": "{truth}",
    }  # fmt: skip
    return [
        forms[kind].format(
            row=row, whole=whole, day=1 + row % 28, large=2**60 + whole, thousand=1000 * whole + row, truth=whole > 1
        )
        for row, whole in enumerate(wholes)
    ]


def _disturb(draw, rows):
    """Put in what one finds in real files: gaps, stray values, short and long lines, blank ones."""
    if not rows:
        return
    kinds = draw.weighted(
        {(): 12, ("gap",): 2, ("stray",): 1, ("ragged",): 0.4, ("blank",): 1, ("gap", "stray", "blank"): 0.5}
    )
    for kind in kinds:
        mark = draw.choice(MISSING)
        for _ in range(draw.integer(1, 3)):
            row = draw.integer(0, len(rows) - 1)
            column = draw.integer(0, max(len(rows[row]) - 1, 0))
            if kind == "blank":
                rows.insert(row, draw.choice([[], [" "], [""]]))
            elif kind == "ragged":
                rows[row] = draw.choice([rows[row][:-1], [*rows[row], "1"], rows[row] * 2])
            elif rows[row]:
                rows[row][column] = mark if kind == "gap" else draw.choice(STRAY)


def _joined(draw, lines, separator, end, quoting):
    ends = ["\n", "\r\n", "\r"] if end == "mixed" else [end]
    parts = []
    for line in lines:
        parts += [separator.join(_quoted(cell, separator, quoting) for cell in line), draw.choice(ends)]
    if parts and draw.chance(0.1):
        parts.pop()  # no line break at the end
    return "".join(parts)


def _quoted(cell, separator, quoting):
    cell = str(cell)
    if quoting == "none":
        return cell
    if quoting == "single":
        return f"'{cell}'"
    needed = quoting == "all" or any(mark in cell for mark in (separator, '"', "\n", "\r"))
    return '"' + cell.replace('"', '""') + '"' if needed else cell


def _rubbish(draw):
    content = draw.choice(
        [
            b"",
            b"\n",
            b"\0" * 99,
            draw.rng.bytes(300),
            b"PAR1",
            b"ARROW1\0\0",
            b"\x1f\x8b",
            b"y",
            b'"',
            b",",
            b"\xef\xbb\xbf",
        ]
    )
    return Data(
        content,
        draw.choice([".csv", ".parquet", ".arrow", ".jsonl", ".txt", ".json", ".xlsx", ".db"]),
        ["y"],
        "rubbish",
    )


# --- typed formats ------------------------------------------------------------------------------------


def _json_lines(draw):
    n_rows, n_columns = _shape(draw)
    names = _names(draw, n_columns)
    odd = [None, True, "text", [1, 2], {"a": 1}, 2**70, -0.0, 1e300, "", "5"]
    lines = []
    columns = [
        draw.choice([draw.rng.normal(size=n_rows), draw.rng.integers(0, 4, size=n_rows)]).tolist() for _ in names
    ]
    words = draw.some(range(n_columns), 2)
    strange = draw.chance(0.25)
    for row in zip(*columns, strict=True):
        cells = [("ash", "elm", "oak")[int(value) % 3] if j in words else value for j, value in enumerate(row)]
        pairs = {
            name: draw.choice(odd) if strange and draw.chance(0.05) else cell
            for name, cell in zip(names, cells, strict=True)
            if not strange or draw.chance(0.98)
        }
        lines.append(json.dumps(pairs, ensure_ascii=draw.chance(0.3) or "\ud800" in names))
    if strange and draw.chance(0.4):
        lines.insert(
            draw.integer(0, len(lines)), draw.choice(["", "[1]", "{", "null", '{"y": NaN}', "{}", "3", '{"y":1,"y":2}'])
        )
    text = draw.choice(["\n", "\n", "\r\n"]).join(lines)
    return Data(text.encode(errors="replace"), draw.choice([".jsonl", ".ndjson"]), names, f"{n_rows} rows")


def _typed(draw):
    """An Arrow table of many types."""
    n_rows, n_columns = _shape(draw)
    names = _names(draw, n_columns)
    kinds = draw.choice([[ORDINARY], [ORDINARY, ODD], [ORDINARY, ODD, HOSTILE]])
    columns = []
    for name in names:
        column, _ = make_column(draw, n_rows, columns, [ORDINARY] if name == "y" else kinds)
        columns.append(column)
    return pa.table([_arrow_array(draw, column) for column in columns], names=[_encodable(name) for name in names])


def _arrow_array(draw, column):
    """The column as Arrow has it, at times of a rarer type; text where Arrow has no such thing."""
    try:
        array = pa.array(column.tolist() if column.dtype.kind == "O" else column)
    except Exception:
        array = pa.array([repr(value)[:9] for value in column])
    if draw.chance(0.15):
        rare = [
            pa.decimal128(38, 3),
            pa.float16(),
            pa.float32(),
            pa.string(),
            pa.large_string(),
            pa.date32(),
            pa.binary(),
            pa.uint8(),
            pa.bool_(),
        ]
        try:
            array = draw.choice([array.dictionary_encode, lambda: array.cast(draw.choice(rare), safe=False)])()
        except pa.ArrowException:  # no value, or no type, of that kind
            return array
    return array


def _encodable(name):
    return name.encode(errors="replace").decode()


def _parquet(draw):
    table, sink = _typed(draw), io.BytesIO()
    compression = draw.choice(["snappy", "none", "zstd", "gzip"])
    try:
        pyarrow.parquet.write_table(table, sink, compression=compression)
    except pa.ArrowException:  # Parquet has no such type
        sink = io.BytesIO()
        pl.DataFrame({"y": np.arange(5.0), "f0": np.arange(5.0) % 2}).write_parquet(sink)
    return Data(sink.getvalue(), draw.choice([".parquet", ".pq"]), table.column_names, f"{table.schema} {compression}")


def _arrow(draw):
    table, sink = _typed(draw), io.BytesIO()
    make = pyarrow.ipc.new_file if draw.chance(0.9) else pyarrow.ipc.new_stream
    with make(sink, table.schema) as writer:
        writer.write_table(table)
    return Data(sink.getvalue(), draw.choice([".arrow", ".feather", ".ipc"]), table.column_names, str(table.schema))
