"""Results on disk: one row per method, setting and repetition, appended to one Arrow stream per method.

A stream only grows while a study runs, so a run that is killed loses at most the row that it was writing. The broken
end is cut off when the file is next opened. Rows written one by one take space, so all are packed when a run ends.
Seven digits of a result are kept.
"""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO, Any

import polars as pl
import pyarrow as pa

from firstfactor._output import write_whole

from .outcome import Certainty
from .setting import Setting

RESULTS = Path(__file__).parent / "results"
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
            }
        ),
    }
)


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


class Store:
    """The rows of one method."""

    def __init__(self, method: str, folder: Path = RESULTS) -> None:
        self.path = folder / f"{method}.arrows"

    def read(self) -> pl.DataFrame:
        """Return all complete rows."""
        batches = [batch for batch, _ in self._batches()]
        table = pa.Table.from_batches(batches, schema=SCHEMA)
        frame = pl.from_arrow(table)
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
        with self.path.open("a+b") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RuntimeError(f"{self.path.name} is being written by another run; wait for it to end.") from None
            file.truncate(max((end for _, end in self._batches()), default=0))
            if self.path.stat().st_size == 0:
                file.write(SCHEMA.serialize())
            yield Appender(file)
            file.flush()
            self._compact()

    def _batches(self) -> Iterator[tuple[pa.RecordBatch, int]]:
        """Yield complete batches of rows, each with the position where it ends."""
        if not self.path.exists() or self.path.stat().st_size == 0:
            return
        with self.path.open("rb") as file:
            try:
                stream = pa.ipc.open_stream(file)
                while True:
                    yield stream.read_next_batch(), file.tell()
            except (StopIteration, pa.ArrowInvalid, OSError):  # the end, or a row cut off by a kill
                return

    def _compact(self) -> None:
        """Write all rows as one compressed batch in the order of their tasks."""
        keys = [*(field.name for field in fields(Setting)), "repetition"]
        table = self.read().sort(keys).to_arrow().cast(SCHEMA).combine_chunks()

        def write(file: IO[bytes]) -> None:
            options = pa.ipc.IpcWriteOptions(compression=pa.Codec("zstd", compression_level=SMALLEST))
            with pa.ipc.new_stream(file, SCHEMA, options=options) as stream:
                stream.write_table(table)

        write_whole(self.path, write)


class Appender:
    """A results file that is open for more rows."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    def append(self, row: Row) -> None:
        """Write one row to the disk."""
        values: dict[str, Any] = asdict(row)
        task = values.pop("task")
        values |= task.pop("setting") | task
        batch = pa.RecordBatch.from_pylist([values], schema=SCHEMA)
        self.file.write(batch.serialize())
        self.file.flush()


def read_results(methods: list[str], folder: Path = RESULTS) -> pl.DataFrame:
    """Return the rows of several methods."""
    return pl.concat([Store(method, folder).read() for method in methods])
