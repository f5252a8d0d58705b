"""`Session`: one open table with its results. A thin layer over `rank` that reads the table once and keeps results.

It runs in a process of its own (see `worker`). Values come from the browser: names are those of columns, filters are
structured, and nothing is evaluated.
"""

import contextlib
import gzip
import hashlib
import io
import json
import math
import os
import re
import shlex
import tempfile
import time
import warnings
import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import IO, Any, NamedTuple, TypeVar

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from .._utils.checks import Mention, Message
from .._utils.text import list_names, printable
from ..findings.finding import Finding
from ..plots.original_data import AnalysedTable, OriginalColumn, read_original
from ..problems.demo_tables import DEMOS, load_demo
from ..ranking import Progress, Ranking, make_ranking, open_table
from ..reporting.closer_look import ImportantRow, draw_factor, draw_two, find_important_rows, find_partners
from ..reporting.data_summary import brief, count_numbers
from ..reporting.export import as_csv, as_json
from ..reporting.figures import save_figure
from ..reporting.report import PIECE, say_size
from ..reporting.summary import summarise
from ..results.explanations import explain_factor
from ..results.formats import format_importance, format_number, percent
from ..results.indices import Indices, ranking_lines
from ..results.ranking_line import RankingLine
from ..results.wording import r2_range
from ..settings import RankSettings, find
from ..tables.dataset import read_columns, remark_on, rows_of
from ..tables.find_files import find_files
from ..tables.inventory import ColumnInfo, take_inventory
from ..tables.source import ROW, Source, frame_source

# Results that are kept: with their tables, and as they are shown.
MOST_RANKINGS, MOST_TABLES, MOST_ANSWERS = 4, 2, 100

# Bytes of the values of a table, if nothing else is said, and of each value at least.
MOST_BYTES, VALUE = 4_000_000_000, 8

# Levels of a column to list, bars of levels to draw, and values of a row to show.
MOST_LEVELS, MOST_BARS, MOST_VALUES = 50, 12, 6

# Changes to name, and the least change of a share.
MOST_CHANGES, LEAST_CHANGE = 4, 0.005


Key = TypeVar("Key")
Value = TypeVar("Value")


class Kind(NamedTuple):
    """Shape of a setting as it comes from the browser."""

    check: Callable[[Any], bool]
    rule: str


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _are_groups(value: Any) -> bool:
    return isinstance(value, dict) and all(_are_names(names) for names in value.values())


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _are_filters(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(one, dict)
        and (
            (set(one) == {"levels"} and _are_names(one["levels"]) and bool(one["levels"]))
            or (
                bool(one)
                and set(one) <= {"low", "high"}
                and all(end is None or isinstance(end, str) or _is_number(end) for end in one.values())
                and any(end is not None for end in one.values())
            )
        )
        for one in value.values()
    )


NAMES = Kind(_are_names, "a list of names of columns")
NAME = Kind(lambda value: value is None or isinstance(value, str), "the name of a column, or null")
TEXT = Kind(lambda value: isinstance(value, str), "a text")
NUMBER = Kind(_is_number, "a number")
SWITCH = Kind(lambda value: isinstance(value, bool), "true or false")

# The settings of the page. Each is a parameter of `rank`, with its default.
OFFERED: dict[str, Kind] = {
    "drop": NAMES,
    "forced": NAMES,
    "factor_groups": Kind(_are_groups, "groups of names of columns"),
    "categorical": NAMES,
    "groups": NAME,
    "weight": NAME,
    "response_scale": TEXT,
    "rule": TEXT,
    "alpha": NUMBER,
    "control": TEXT,
    "goal": TEXT,
    "where": Kind(_are_filters, 'ranges {"low", "high"} or {"levels"} by column'),
    "leaks": TEXT,
    "regroup": SWITCH,
}
_EMPTY: dict[str, Any] = {"drop": [], "forced": [], "factor_groups": {}, "categorical": [], "where": {}}
DEFAULTS: dict[str, Any] = {
    name: _EMPTY.get(name, "calibrated" if name == "rule" else find(name).default) for name in OFFERED
}


class Answer(NamedTuple):
    """Reply to a request: a file, or JSON."""

    body: bytes
    media_type: str = "application/json"
    name: str = ""
    """Name of a file."""
    key: str | None = None
    """Key of a result."""


class Shown(NamedTuple):
    """Result as it is shown, and the indices by factor, to compare another with."""

    result: dict[str, Any]
    shares: dict[str, tuple[bool, float]]


class Session:
    """One open table.

    Parameters
    ----------
    given : dict
        ``path`` of a file, or name of a ``demo``; and ``table``, its sheet, if it has several.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.demo: str | None = given.get("demo")
        self.path: str | None = given.get("path")
        self.table: str | None = given.get("table")
        self._stack = contextlib.ExitStack()
        self._rankings: OrderedDict[str, Ranking] = OrderedDict()
        self._answers: OrderedDict[str, Shown] = OrderedDict()
        self._settings: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._tables: OrderedDict[str, AnalysedTable] = OrderedDict()
        self._details: OrderedDict[tuple[str, str], dict[str, Any]] = OrderedDict()
        self.target: str | None = None
        self.categorical: list[str] = []
        self.files: tuple[str, ...] = ()
        if self.demo is not None:
            demo = load_demo(self.demo)
            self.target, self.categorical = demo.target, list(demo.categorical)
            self.true_factors = demo.true_factors
            self.source = frame_source(demo.frame, self.demo).in_memory()
        else:
            assert self.path is not None
            self.true_factors = ()
            self.files = find_files(self.path)
            reading, most = RankSettings(table=self.table), int(given.get("unpacked", MOST_BYTES))
            if "unpacked" in given:
                _refuse_bomb(self.path, most)
            source = self._stack.enter_context(open_table(self.path, self.files, reading))
            _refuse_many_values(source, most)
            self.source = source.in_memory()

    # --- the table ------------------------------------------------------------------------------------------------

    def describe(self) -> dict[str, Any]:
        """Return the columns of the table, with what they hold."""
        source = self.source
        known = self._look()
        infos = [info for info, _ in known.values() if info is not None]
        readable = [info for info in infos if info.present and info.why_left_out in (None, *_NUMBERED)]
        values = dict(zip([info.name for info in readable], read_columns(source, readable), strict=True))
        columns = []
        for name, (info, fault) in known.items():
            columns.append(_describe(name, info, fault, values.get(name), name in self.categorical))
        target = self.target or next(
            (one["name"] for one in reversed(columns) if one["kind"] in ("number", "category") and not one["left_out"]),
            None,
        )
        return {
            "name": printable(source.shown),
            "n_rows": infos[0].n_rows if infos else 0,
            "columns": columns,
            "remarks": [printable(one) for one in remark_on(source, infos, ())],
            "target": target,
        }

    def _look(self) -> dict[str, tuple[ColumnInfo | None, str]]:
        """Return what each column holds, or what is wrong with it."""
        names = self.source.names
        try:
            return {info.name: (info, "") for info in take_inventory(self.source, names, self.categorical)}
        except ValueError:  # a column has a value that cannot be read, such as an infinite one
            found = dict[str, tuple[ColumnInfo | None, str]]()
            for name in names:
                try:
                    found[name] = (take_inventory(self.source, [name], self.categorical)[0], "")
                except ValueError as error:
                    found[name] = (None, str(error))
            return found

    # --- rankings -------------------------------------------------------------------------------------------------

    def rank(self, given: Mapping[str, Any], show: Progress) -> dict[str, Any]:
        """Return the result for some settings as it is shown, from an earlier time if it is known."""
        start = time.perf_counter()
        since = given.get("since")
        settings = self._complete(given)
        key = _key_of(settings)
        known = self._answers.get(key)
        if known is None:
            has_compiled = bool(self._answers)  # what is said of compiling is then no longer true
            say = (lambda text: show(text.partition(" (the first run")[0])) if has_compiled else show
            ranking = self._ranking(key, settings, say)
            known = _keep(self._answers, key, self._show(key, settings, ranking), MOST_ANSWERS)
            cached = False
        else:
            self._answers.move_to_end(key)
            cached = True
        before = self._answers.get(since) if isinstance(since, str) and since != key else None
        return {
            **known.result,
            "changes": [] if before is None else _say_changes(before, known),
            "seconds": round(time.perf_counter() - start, 3),
            "cached": cached,
        }

    def _ranking(self, key: str, settings: dict[str, Any], show: Progress) -> Ranking:
        """Return the ranking of some settings, which is kept for a while with its table."""
        known = self._rankings.get(key)
        if known is not None:
            self._rankings.move_to_end(key)
            return known
        with _quietly():
            ranking = make_ranking(self.source, settings["target"], show, _as_options(settings))
        dataset = replace(ranking.dataset, true_factors=self.true_factors)
        ranking = replace(ranking, dataset=dataset, path=self.path, files=self.files)
        _keep(self._settings, key, settings, MOST_ANSWERS)
        return _keep(self._rankings, key, ranking, MOST_RANKINGS)

    def _complete(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return all settings, with defaults for those that are missing; refuse what is none or has another shape."""
        unknown = [name for name in given if name not in OFFERED and name not in ("target", "since")]
        if unknown:
            raise SettingError(f"there is no setting {printable(unknown[0])!r}.", unknown[0])
        target = given.get("target")
        if not isinstance(target, str) or target not in self.source.names:
            raise SettingError("choose the column to explain: one of the table.", "target")
        settings = {"target": target, **DEFAULTS}
        for name, kind in OFFERED.items():
            if name in given:
                if not kind.check(given[name]):
                    raise SettingError(f"{name.replace('_', ' ')} must be {kind.rule}.", name)
                settings[name] = given[name]
        settings["categorical"] = [*dict.fromkeys([*self.categorical, *settings["categorical"]])]
        settings["categorical"] = [name for name in settings["categorical"] if self._is_factor(name, settings)]
        if settings["rule"] == "paper":
            settings["alpha"] = DEFAULTS["alpha"]
        groups = settings["factor_groups"]
        for name, names in [
            *((name, settings[name]) for name in ("drop", "forced", "categorical", "where")),
            *(("factor_groups", names) for names in groups.values()),
            *((name, [settings[name]]) for name in ("groups", "weight") if settings[name] is not None),
        ]:
            for column in names:
                if column not in self.source.names and not (name == "forced" and column in groups):
                    raise SettingError(f"{name.replace('_', ' ')}: there is no column {printable(column)!r}.", name)
        return settings

    def _is_factor(self, name: str, settings: Mapping[str, Any]) -> bool:
        """Return True for names that can be factors; a demo's category may be left out."""
        others = (settings["target"], settings["groups"], settings["weight"], *settings["drop"])
        return name not in self.categorical or name not in others

    def _show(self, key: str, settings: dict[str, Any], ranking: Ranking) -> Shown:
        """Return a ranking as it is shown."""
        indices, said = ranking.indices, summarise(ranking, all_notes=True)
        n_told = sum(one.kind != "leak" for one in ranking.findings)
        ends = r2_range(indices)
        result = {
            "key": key,
            "settings": settings,
            "headline": said.answer,
            "ceiling": {
                "value": _number(indices.r2_ceiling),
                "low": None if ends is None else _number(ends[0]),
                "high": None if ends is None else _number(ends[1]),
                "sentence": said.ceiling,
            },
            "n_rows": len(ranking.dataset.y),
            "target": settings["target"],
            "response_kind": "number" if not indices.classes else f"{len(indices.classes)} classes",
            "lines": [_line(indices, line) for line in ranking_lines(indices)],
            "findings": [_finding(one) for one in ranking.findings],
            "notes": [*map(printable, ranking.notes()), *said.doubts[n_told:], *said.legend[1:]],
            "command": self._command(settings),
            "python": self._python(settings),
        }
        shares = {
            name: (selected, share)
            for name, selected, share in zip(
                indices.names, indices.support.tolist(), indices.shares.tolist(), strict=True
            )
        }
        return Shown(result, shares)

    # --- the command and the call that repeat a result ----------------------------------------------------------------

    def _command(self, settings: Mapping[str, Any]) -> str:
        """Return the command that repeats a result exactly."""
        parts = ["firstfactor", "demo", self.demo] if self.demo else ["firstfactor", "rank", _as_path(self.path or "")]
        if not self.demo or settings["target"] != self.target:
            parts += _option("target", settings["target"])
        if self.table is not None:
            parts += _option("table", self.table)
        for name, value in self._changed(settings).items():
            parts += _options(name, value)
        return shlex.join(parts)

    def _python(self, settings: Mapping[str, Any]) -> str:
        """Return the call that repeats a result exactly."""
        data = "table" if self.demo else repr(self.path)
        table = {} if self.table is None else {"table": self.table}
        options = {**table, **self._changed(settings), **_as_options({"where": settings["where"]})}
        arguments = [data, repr(settings["target"]), *(f"{name}={value!r}" for name, value in options.items())]
        made = f"{DEMOS[self.demo].python}\n" if self.demo else ""
        return f"from firstfactor import rank\n{made}ranking = rank({', '.join(arguments)})"

    def _changed(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings that differ from the defaults."""
        defaults = {**DEFAULTS, "categorical": self.categorical if self.demo else []}
        return {
            name: settings[name]
            for name in OFFERED
            if settings[name] != defaults[name] or (name == "categorical" and settings[name])
        }

    # --- a closer look --------------------------------------------------------------------------------------------

    def factor(self, key: str, name: str, show: Progress) -> dict[str, Any]:
        """Return what there is to see of one factor."""
        found: dict[str, Any] | None = self._details.get((key, name))
        if found is not None:
            return found
        ranking = self._known(key, show)
        i = _locate(ranking.indices, name)
        show("drawing")
        table = self._analysed(key, ranking)
        with _quietly():
            adjusted, plain = draw_factor(table, i)
            show("looking for partners")
            partners = find_partners(table, i)
            rows = find_important_rows(table, i)
        ((_, column), *_) = table.columns([i])[i]
        found = {
            "name": printable(name),
            "explanation": explain_factor(ranking.indices, i)[1],
            "effect": adjusted,
            "alone": plain,
            "partners": [
                {"name": one.name, "sentence": one.sentence, "strength": round(one.strength, 4)} for one in partners
            ],
            "rows": self._show_rows(ranking, name, rows),
            "histogram": (_describe_levels(column) if column.levels else _describe_numbers(column, None))["histogram"],
        }
        return _keep(self._details, (key, name), found, MOST_ANSWERS)

    def _show_rows(self, ranking: Ranking, name: str, rows: Sequence[ImportantRow]) -> list[dict[str, Any]]:
        """Return rows with their values in the most important columns."""
        data, indices = ranking.dataset, ranking.indices
        assert isinstance(data.X, pl.DataFrame)
        analysed = np.arange(len(data.y)) if indices.rows is None else indices.rows
        outputs = [data.y] if isinstance(data.y, pl.Series) else data.y.get_columns()
        first = dict.fromkeys([name, *(indices.names[i] for i in indices.selected.tolist())])
        factors = [column for one in first for column in data.X if column.name == one][:MOST_VALUES]
        numbers = self._row_numbers(ranking)
        return [
            {
                "row": int(numbers[analysed[one.position]]),
                "values": {column.name: _shown(column[int(analysed[one.position])]) for column in (*outputs, *factors)},
                "share_text": percent(one.share),
                "sentence": f"{percent(one.share)} of what is lost without {printable(name)} comes from this row.",
            }
            for one in rows
        ]

    def _row_numbers(self, ranking: Ranking) -> NDArray[np.intp]:
        """Return the number in the file of each row that was read, from 1."""
        data = ranking.dataset
        source = rows_of(self.source, RankSettings(where=ranking.settings["where"]))
        numbers: NDArray[np.intp] = source.collect(source.frame.select(ROW)).to_series().to_numpy().astype(np.intp)
        known = np.ones(numbers.size, bool)
        for column in take_inventory(source, data.target_names, ()):
            known &= read_columns(source, [column])[0].is_not_null().to_numpy()
        numbers = numbers[known] + 1
        return numbers if numbers.size == len(data.y) else np.arange(1, len(data.y) + 1)

    def pair(self, key: str, a: str, b: str, show: Progress) -> dict[str, Any]:
        """Return the picture of two factors."""
        ranking = self._known(key, show)
        first, second = (_locate(ranking.indices, name) for name in (a, b))
        if first == second:
            raise SettingError("choose two different factors.", None)
        show("drawing")
        with _quietly():
            picture, sentence = draw_two(self._analysed(key, ranking), first, second)
        return {"svg": picture, "sentence": sentence}

    def _analysed(self, key: str, ranking: Ranking) -> AnalysedTable:
        """Return the table of a ranking, encoded once for all that is looked at."""
        known: AnalysedTable | None = self._tables.get(key)
        if known is None:
            data = ranking.dataset
            known = AnalysedTable(data.X, data.y, ranking.indices, ranking.options, data.weights, data.groups)
        return _keep(self._tables, key, known, MOST_TABLES)

    def file(self, key: str, kind: str, show: Progress) -> Answer:
        """Return a file to take away."""
        if kind not in _MEDIA_TYPES:
            raise SettingError(f"kind must be one of {', '.join(_MEDIA_TYPES)}.", None)
        ranking = self._known(key, show)
        show("writing")
        command = self._command(self._settings[key])
        with _quietly():
            if kind == "html":
                with tempfile.TemporaryDirectory() as folder:
                    path = os.path.join(folder, "report.html")
                    ranking.report(path, call=command)
                    with open(path, "rb") as written:
                        body = written.read()
            elif kind in ("csv", "json"):
                body = (as_csv(ranking) if kind == "csv" else as_json(ranking, {"command": command})).encode()
            else:
                picture = io.BytesIO()
                save_figure(ranking.plot().figure, picture, kind)
                body = picture.getvalue()
        stem = re.sub(r"[^\w.-]+", "-", f"{self.source.shown.partition('.')[0]}-{self._settings[key]['target']}")[:60]
        return Answer(body, _MEDIA_TYPES[kind], f"{stem.strip('.-') or 'ranking'}.{kind}")

    def remember(self, key: str, given: Mapping[str, Any]) -> None:
        """Take the settings of a result that another process made."""
        if key not in self._settings:
            settings = self._complete(given)
            if _key_of(settings) == key:
                _keep(self._settings, key, settings, MOST_ANSWERS)

    def _known(self, key: str, show: Progress) -> Ranking:
        """Return the ranking with a key, made again if it is no longer kept."""
        if key not in self._settings:
            raise SettingError("this result is no longer known. Rank again.", None)
        return self._ranking(key, self._settings[key], show)


_MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "png": "image/png",
}


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Work without warnings: the page has a line for each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _shown(value: Any) -> str:
    """Return a value of the table in a few characters."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "missing"
    text = format_number(value) if isinstance(value, float) else str(value)
    return brief(printable(text), 60)


class SettingError(ValueError):
    """Value that a request must not have; ``setting`` is the name of the setting, if it is of one."""

    def __init__(self, message: str, setting: str | None) -> None:
        super().__init__(message)
        self.setting = setting


def find_setting(error: BaseException) -> str | None:
    """Return the setting that an error is about, if it is about one."""
    if isinstance(error, SettingError):
        return error.setting
    if not isinstance(error, Message):
        return None
    mentioned = list[str]()
    error.render(lambda one: mentioned.append(one.name) or "")  # type: ignore[func-returns-value]
    return next((name for name in mentioned if name in (*OFFERED, "target", "table")), None)


def say_error(error: BaseException) -> str:
    """Return an error in words of the page: settings are named, without signs of a programming language."""
    return error.render(_as_shown) if isinstance(error, Message) else str(error)


def _as_shown(parameter: Mention) -> str:
    name, value = parameter
    return " ".join(filter(None, [name.replace("_", " "), (value or "").strip('"')]))


def _key_of(settings: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]


def _keep(kept: OrderedDict[Key, Value], key: Key, value: Value, most: int) -> Value:
    """Add a value to those that are kept, and drop the oldest."""
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > most:
        kept.popitem(last=False)
    return value


def _as_options(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as parameters of `rank`, without those that have their defaults."""
    changed = {name: value for name, value in settings.items() if name in OFFERED and value != DEFAULTS[name]}
    if "where" in changed:
        changed["where"] = {
            name: one["levels"] if "levels" in one else (one.get("low"), one.get("high"))
            for name, one in changed["where"].items()
        }
    return changed


def _refuse_many_values(source: Source, most: int) -> None:
    """Refuse a table that would take too much memory, before it is read: a small file can hold billions of values."""
    n_rows = int(source.collect(source.frame.select(pl.len())).item())
    if n_rows * len(source.names) * VALUE > most:
        raise ValueError(
            f"{source.shown} has {n_rows:,} rows and {len(source.names):,} columns; the app takes at most "
            f"{most // VALUE:,} values. Use fewer rows, or firstfactor rank with --memory."
        )


def _refuse_bomb(path: str, most: int) -> None:
    """Refuse a file that unpacks to more than it may, whatever it says; leave other faults to the reader."""
    with contextlib.suppress(OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError), open(path, "rb") as file:
        start = file.read(4)
        file.seek(0)
        size = 0
        for piece in _unpacked(file, start):
            size += len(piece)
            if size > most:
                raise ValueError(
                    f"{path} unpacks to more than {say_size(most)}; the app takes at most that. Unpack it, and use "
                    "firstfactor rank."
                )


def _unpacked(file: IO[bytes], start: bytes) -> Iterator[bytes]:
    """Yield the contents of a compressed file in pieces; nothing of other files."""
    if start.startswith(b"\x1f\x8b"):
        with gzip.open(file) as unpacked:
            yield from iter(lambda: unpacked.read(PIECE), b"")
    elif start == b"PK\3\4":
        with zipfile.ZipFile(file) as archive:
            for entry in archive.infolist():
                entry.file_size, entry.CRC = 2**62, None  # type: ignore[assignment]  # as it may lie about both
                with archive.open(entry) as unpacked:
                    yield from iter(lambda: unpacked.read(PIECE), b"")


# --- columns -------------------------------------------------------------------------------------------------------

# Reasons to leave out a column whose values can be shown.
_NUMBERED = ("counts the rows", "no name, all different")
_KINDS = {"numbers": "number", "text": "category", "dates": "date", "other": "other"}


def _describe(
    name: str, info: ColumnInfo | None, fault: str, values: pl.Series | None, as_category: bool
) -> dict[str, Any]:
    """Return what is shown of a column."""
    shown: dict[str, Any] = {
        "name": name,
        "label": printable(name),
        "kind": "other" if info is None else "category" if as_category else _KINDS[info.holds],
        "missing": 0 if info is None else info.missing,
        "n_values": 0,
        "left_out": printable(fault) if info is None else info.why_left_out,
        "histogram": None,
        "low": None,
        "high": None,
        "levels": [],
    }
    if values is None or info is None:
        return shown
    shown["n_values"] = values.drop_nulls().n_unique()
    column = read_original(nw.from_native(values.alias("x"), series_only=True), "x", as_category)
    return {**shown, **(_describe_levels(column) if column.levels else _describe_numbers(column, values.dtype))}


def _describe_levels(column: OriginalColumn) -> dict[str, Any]:
    """Return the most frequent levels of a category."""
    levels = np.argsort(-column.counts, kind="stable")[: len(column.levels)]
    n_known = len(column.levels)
    names, counts = [column.levels[i] for i in levels], column.counts[levels].tolist()
    return {
        "histogram": {
            "levels": names[:MOST_BARS],
            "counts": counts[:MOST_BARS],
            "others": int(sum(counts[MOST_BARS:])),
        },
        "levels": names[:MOST_LEVELS],
        "n_values": n_known,
    }


def _describe_numbers(column: OriginalColumn, dtype: pl.DataType | None) -> dict[str, Any]:
    """Return the range and a histogram of numbers or dates."""
    known = column.values[column.known]
    if not known.size:
        return {"histogram": None}
    counts, edges = count_numbers(column)
    write: Callable[[float], Any] = _write_date if dtype in (pl.Date, pl.Datetime) else _number
    return {
        "histogram": {"edges": [write(edge) for edge in edges.tolist()], "counts": counts.tolist()},
        "low": write(float(known.min())),
        "high": write(float(known.max())),
    }


def _write_date(days: float) -> str:
    return str(np.datetime64("1970-01-01") + np.timedelta64(math.floor(days), "D"))


# --- results -------------------------------------------------------------------------------------------------------


def _number(value: float | None) -> float | None:
    """Return a number for JSON, which has no NaN."""
    return None if value is None or not math.isfinite(value) else float(value)


def _line(indices: Indices, line: RankingLine) -> dict[str, Any]:
    """Return a line of the ranking as it is shown."""
    low, high = line.shown_interval or (None, None)
    names = [indices.names[i] for i in line.factors]
    first = line.factors[0]
    return {
        "id": names[0],
        "names": names,
        "name": line.short_name,
        "kind": line.kind,
        "rank": line.rank,
        "selected": line.selected,
        "importance": _number(line.importance),
        "low": low,
        "high": high,
        "alone": line.alone,
        "p": line.p_value,
        "p_text": line.p_text,
        "importance_text": line.importance_text,
        "interval_text": line.interval_text,
        "reason": line.reason,
        "marks": line.marks,
        "explanation": explain_factor(indices, first)[1],
        "missing": indices.missing[first] if indices.missing else 0,
        "members": [_line(indices, member) for member in line.members],
        "same": [_line(indices, one) for one in line.same],
    }


def _finding(one: Finding) -> dict[str, Any]:
    """Return a finding as it is shown; its remedy has the names of settings."""
    remedy = {name: value for name, value in one.remedy.items() if name in OFFERED}
    return {
        "kind": one.kind,
        "sentence": printable(one.sentence),
        "columns": list(one.columns),
        "remedy": json.loads(json.dumps(remedy, default=list)),
    }


def _locate(indices: Indices, name: str) -> int:
    if name not in indices.names:
        raise SettingError(f"{printable(name)!r} is not a factor of this result.", None)
    return indices.names.index(name)


def _say_changes(before: Shown, now: Shown) -> list[str]:
    """Return sentences on what changed since another result, the largest changes first."""
    start = _say_step(before.result["settings"], now.result["settings"])
    told = list[tuple[float, str]]()
    for name, (selected, share) in now.shares.items():
        was_selected, was = before.shares.get(name, (None, 0.0))
        if was_selected is None or not (selected or was_selected):
            continue
        shown = printable(name)
        if selected and not was_selected:
            told.append((share, f"{shown} is selected, with {format_importance(share)}"))
        elif was_selected and not selected:
            told.append((was, f"{shown} is no longer selected; it had {format_importance(was)}"))
        elif abs(share - was) >= LEAST_CHANGE and format_importance(share) != format_importance(was):
            verb = "rises" if share > was else "falls"
            told.append(
                (abs(share - was), f"{shown} {verb} from {format_importance(was)} to {format_importance(share)}")
            )
    told.sort(key=lambda one: -one[0])
    sentences = [text for _, text in told[:MOST_CHANGES]]
    old, new = before.result["ceiling"]["value"], now.result["ceiling"]["value"]
    if old is not None and new is not None and f"{old:.2f}" != f"{new:.2f}":
        sentences.append(f"the ceiling {'rises' if new > old else 'falls'} from {old:.2f} to {new:.2f}")
    if not sentences:
        sentences = ["nothing of note changes"]
    return [f"{start}{sentence}." for sentence in sentences[:1]] + [
        f"{sentence[0].upper()}{sentence[1:]}." if sentence.startswith("the ") else f"{sentence}."
        for sentence in sentences[1:]
    ]


def _say_step(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Return the beginning of a sentence on what was done; empty if several things were."""
    changed = [name for name in ("target", *OFFERED) if before[name] != now[name]]
    if len(changed) != 1:
        return ""
    (name,) = changed
    if name in ("drop", "forced"):
        new = [printable(one) for one in now[name] if one not in before[name]]
        gone = [printable(one) for one in before[name] if one not in now[name]]
        if new and not gone:
            return f"{'Without' if name == 'drop' else 'Controlling for'} {list_names(new)}, "
        if gone and not new:
            return f"{'With' if name == 'drop' else 'No longer controlling for'} {list_names(gone)}, "
    if name == "where":
        return "With these rows, " if now[name] else "With all rows, "
    if name == "factor_groups":
        new = [printable(one) for one in now[name] if one not in before[name]]
        return f"With {list_names(new)} as one factor, " if new else ""
    return ""


# --- commands ------------------------------------------------------------------------------------------------------


def _as_path(path: str) -> str:
    return f"./{path}" if path.startswith("-") else path


def _option(name: str, value: str) -> list[str]:
    """Return an option with its value as arguments; a value that looks like an option is joined to it."""
    flag = f"--{name.replace('_', '-')}"
    return [f"{flag}={value}"] if value.startswith("-") else [flag, value]


def _options(name: str, value: Any) -> list[str]:
    """Return the arguments that set a parameter."""
    if isinstance(value, bool):
        return [f"--{name.replace('_', '-')}"]
    if name == "where":
        return [part for column, one in value.items() for part in _option(name, write_filter(column, one))]
    if isinstance(value, dict):
        pairs = [(group, names) for group, names in value.items()]
        return [part for group, names in pairs for part in _named_group(name, group, names)]
    if isinstance(value, list):
        whole = ",".join(value)
        texts = [whole] if not any("," in one for one in value) else value
        return [part for text in texts for part in _option(name, text)]
    return _option(name, f"{value:g}" if isinstance(value, float) else str(value))


def _named_group(name: str, group: str, names: Sequence[str]) -> list[str]:
    texts = [",".join(names)] if not any("," in one for one in names) else names
    return [part for text in texts for part in _option(name, f"{group}={text}")]


def write_filter(column: str, one: Mapping[str, Any]) -> str:
    """Return a filter of rows as it is typed: in double quotes what would mean something else."""
    if re.search(r'[="]', column) or column != column.strip():
        column = _quote(column)
    if "levels" in one:
        return f"{column}={','.join(map(_quote, one['levels']))}"
    low, high = ("" if end is None else str(end) for end in (one.get("low"), one.get("high")))
    return f"{column}={low}..{high}"


def _quote(text: str) -> str:
    is_plain = re.fullmatch(r"\w[\w .-]*", text) and text == text.strip() and ".." not in text
    return text if is_plain else '"' + text.replace('"', '""') + '"'
