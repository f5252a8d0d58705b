"""Results on disk: one row per method, setting and repetition, appended to one Arrow stream per method.

A stream only grows while a study runs, so a run that is killed loses at most the row that it was writing. What there is
of that row is cut off when the file is next opened for more; a file that is damaged otherwise is refused and left as it
is. Rows written one by one take space, so all are packed when a run ends. Seven digits of a result are kept.
"""

import fcntl
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO, Any

import polars as pl
import pyarrow as pa

from firstfactor._utils.atomic_write import write_whole

from ..data.setting import Setting
from ..methods.outcome import Certainty
from .stream import ending, pack, unpack, widen

RESULTS = Path(__file__).parents[1] / "results"
SMALLEST = 19
"""The level of compression beyond which little is gained."""

SCHEMA = pa.schema(
    {
        "source": pa.string(),
        "n_rows": pa.int32(),
        "n_factors": pa.int32(),
        "correlation": pa.float64(),
        "classes": pa.bool_(),
        "part": pa.string(),
        "method": pa.string(),
        "repetition": pa.int32(),
        "factors": pa.list_(pa.int16()),
        "importances": pa.list_(pa.float32()),
        "selected": pa.list_(pa.int16()),
        "error": pa.float64(),
        "error_of_all": pa.float64(),
        "seconds": pa.float32(),
        "ceiling": pa.float32(),
        "certainty": pa.struct(
            {
                "standard_errors": pa.list_(pa.float32()),
                "p_values": pa.list_(pa.float32()),
                "ceiling_error": pa.float32(),
                "distance_share": pa.float32(),
                "lower": pa.list_(pa.float32()),
                "upper": pa.list_(pa.float32()),
                "ceiling_interval": pa.list_(pa.float32()),
            }
        ),
        "p_value": pa.float64(),
    }
)
BEFORE_INTERVALS = pa.schema(
    [
        pa.field("certainty", pa.struct(list(field.type)[:4])) if field.name == "certainty" else field
        for field in SCHEMA
        if field.name != "p_value"
    ]
)
"""The columns of files from before intervals and the p-values of single steps were stored."""


@dataclass(frozen=True, order=True)
class Task:
    """What one row holds the result of."""

    setting: Setting
    method: str
    repetition: int


@dataclass(frozen=True)
class Row:
    """The result of one task."""

    task: Task
    factors: list[int]
    """Positions of the factors whose importance is not 0."""
    importances: list[float]
    """Theirs, in the same order."""
    selected: list[int] | None
    error: float | None
    """Of a random forest on the selected factors, for rows that were not used to select them; of RF, its own."""
    error_of_all: float | None
    """The same of a random forest on all factors."""
    seconds: float
    ceiling: float | None = None
    """The best R² that any model can reach, as far as the method tells; not known of rows from before it was stored."""
    certainty: Certainty | None = None
    p_value: float | None = None
    """Of the first step beyond the factors given, where some were."""


class Store:
    """The rows of one method."""

    def __init__(self, method: str, folder: Path = RESULTS) -> None:
        self.path = folder / f"{method}.arrows"

    def read(self) -> pl.DataFrame:
        """Return all complete rows."""
        try:
            with self.path.open("rb") as file:
                table = self._load(file)[0]
        except FileNotFoundError:
            table = SCHEMA.empty_table()
        frame = pl.from_arrow(widen(table, SCHEMA))
        assert isinstance(frame, pl.DataFrame)
        return frame

    def done(self) -> set[Task]:
        """Return the tasks that need not be done again."""
        keys = [field.name for field in fields(Setting)]
        columns = self.read().select(*keys, "method", "repetition")
        return {Task(Setting(*values[:-2]), *values[-2:]) for values in columns.iter_rows()}

    @contextmanager
    def appending(self) -> Iterator["Appender"]:
        """Open the file for more rows, cutting off a row that was never finished, and pack it in the end."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._locked() as file:
            if self._load(file)[0].schema.names != SCHEMA.names:
                self._compact()  # into the columns of today
        with self._locked() as file:
            messages = self._load(file)[1]
            file.truncate(len(messages))
            appender = Appender(file, messages)
            appender.write(b"" if messages else SCHEMA.serialize().to_pybytes())
            yield appender
            self._compact()

    def _locked(self) -> IO[bytes]:
        """Open the file, made if there is none, for this run alone."""
        while True:
            file = os.fdopen(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666), "r+b")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(file.fileno()), os.stat(self.path)):
                    return file
            except BlockingIOError:
                file.close()
                raise RuntimeError(f"{self.path.name} is being written by another run; wait for it to end.") from None
            file.close()  # another run has ended after this file was opened, and put a packed one in its place

    def _load(self, file: IO[bytes]) -> tuple[pa.Table, bytes]:
        """Return the complete rows, and their bytes."""
        try:
            data = file.read()
            table, length = unpack(data, SCHEMA, BEFORE_INTERVALS)
        except (OSError, ValueError) as error:
            raise ValueError(
                f"{self.path} is damaged, or holds no results: {error}. It was left as it is. Restore it, or move it "
                "away to compute its rows again."
            ) from error
        return table, data[:length]

    def _compact(self) -> None:
        """Write all rows as one compressed batch in the order of their tasks."""
        keys = [*(field.name for field in fields(Setting)), "repetition"]
        packed = pack(self.read().sort(keys).to_arrow().cast(SCHEMA), pa.Codec("zstd", compression_level=SMALLEST))
        write_whole(self.path, lambda file: file.write(packed))


class Appender:
    """A results file that is open for more rows."""

    def __init__(self, file: IO[bytes], messages: bytes) -> None:
        self._file, self._length, self._checksum = file, len(messages), zlib.crc32(messages)

    def append(self, row: Row) -> None:
        """Write one row to the disk."""
        values: dict[str, Any] = asdict(row)
        task = values.pop("task")
        values |= task.pop("setting") | task
        self.write(pa.RecordBatch.from_pylist([values], schema=SCHEMA).serialize().to_pybytes())

    def write(self, message: bytes) -> None:
        """Write a message over the end of the stream, and a new end."""
        self._checksum = zlib.crc32(message, self._checksum)
        self._file.seek(self._length)
        self._file.write(message + ending(self._checksum))
        self._file.flush()
        self._length += len(message)


def read_results(methods: list[str], folder: Path = RESULTS) -> pl.DataFrame:
    """Return the rows of several methods."""
    return pl.concat([Store(method, folder).read() for method in methods])
