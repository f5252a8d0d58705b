"""Rows of a table as an Arrow stream with a checksum: what is read is what was written, or an error.

After its messages a stream has Arrow's end mark and a CRC-32 of all messages. A row that is added overwrites both and
brings new ones. Streams without a checksum, or without an end, can be read too: only their structure is checked, and a
changed value may go unnoticed there.
"""

import contextlib
import struct
import zlib

import pyarrow as pa

# Every message begins with the mark and the length of its head; no head is the end of a stream.
_MARK = b"\xff\xff\xff\xff"
_END = _MARK + bytes(4)
_CHECKSUM = struct.Struct("<I")

LARGEST_ROW = 2**20
"""No message of one row takes more bytes."""


def ending(checksum: int) -> bytes:
    """Return what follows the messages that have a checksum."""
    return _END + _CHECKSUM.pack(checksum)


def pack(table: pa.Table, compression: pa.Codec) -> bytes:
    """Return a whole stream with all rows in one compressed message."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as stream:
        stream.write_table(table.combine_chunks())
    messages: bytes = sink.getvalue().to_pybytes().removesuffix(_END)
    return messages + ending(zlib.crc32(messages))


def unpack(data: bytes, schema: pa.Schema, *older: pa.Schema) -> tuple[pa.Table, int]:
    """Return the rows of a stream, and how many bytes their messages take; it may have been written by an older schema.

    A row at the end that is not complete is left out. Whatever else is not as it was written is a `ValueError`.
    """
    try:
        return _unpack(data, schema)
    except ValueError:
        for one in older:
            with contextlib.suppress(ValueError):
                return _unpack(data, one)
        raise


def widen(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return rows with the columns, and the fields of structs, that a schema has and they have not; these are null."""
    if table.schema.names == schema.names:
        return table
    whole = table.combine_chunks()
    columns = [
        _widen_column(whole[field.name], field.type)
        if field.name in table.schema.names
        else pa.nulls(len(table), field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def _widen_column(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if column.type == kind or not pa.types.is_struct(kind):
        return column
    known = [field.name for field in column.type]
    chunks = [
        pa.StructArray.from_arrays(
            [chunk.field(field.name) if field.name in known else pa.nulls(len(chunk), field.type) for field in kind],
            fields=list(kind),
            mask=chunk.is_null(),
        )
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, kind)


def _unpack(data: bytes, schema: pa.Schema) -> tuple[pa.Table, int]:
    if schema.serialize().to_pybytes().startswith(data):  # killed while the file was begun
        return schema.empty_table(), 0
    messages, length = _split(data)
    rest, expected = data[length:], ending(zlib.crc32(data[:length]))
    if not expected.startswith(rest) and not _is_torn_row(rest, schema):
        raise ValueError(f"its checksum does not match, or what begins at byte {length:,} is not a row")
    return _decode(data[:length], messages, schema), length


def _split(data: bytes) -> tuple[int, int]:
    """Return how many complete messages there are, and where they end.

    Lengths that messages claim to have are compared with what there is before anything is read by them.
    """
    reader, count, end = pa.BufferReader(data), 0, 0
    try:
        while True:
            pa.ipc.read_message(reader)
            count, end = count + 1, reader.tell()
    except (pa.ArrowException, OSError, EOFError):  # what remains is looked at by itself
        return count, end


def _is_torn_row(rest: bytes, schema: pa.Schema) -> bool:
    """Tell whether bytes are the first part of a message of one row, and nothing else."""
    start = _row_start(schema)
    if not start.startswith(rest[: len(start)]) or _MARK in rest[len(_MARK) :]:  # a wrong length hides what follows
        return False
    head = len(start) + int.from_bytes(start[4:], "little")
    if len(rest) < head:
        return True
    reader = pa.BufferReader(rest + bytes(LARGEST_ROW))
    try:
        pa.ipc.read_message(reader)
    except (pa.ArrowException, OSError):
        return False
    return bool(reader.tell() > len(rest))


def _row_start(schema: pa.Schema) -> bytes:
    """Return the bytes that every message of one row begins with: a mark, and how long its head is."""
    row = pa.RecordBatch.from_pylist([{}], schema=schema)
    return bytes(row.serialize().to_pybytes()[:8])


def _decode(stream: bytes, messages: int, schema: pa.Schema) -> pa.Table:
    """Return the rows of complete messages, the first of which is the schema."""
    try:
        reader = pa.ipc.open_stream(stream + _END)
        if str(reader.schema) != str(schema):  # `equals` does not compare the names of what lists hold
            raise ValueError("its columns are others than those of results")
        batches = list(reader)
        for batch in batches:
            batch.validate(full=True)
    except (pa.ArrowException, OSError, MemoryError) as error:
        raise ValueError(f"it cannot be read ({str(error).splitlines()[0]})") from error
    if len(batches) != messages - 1:
        raise ValueError("it does not end where its rows end")
    return pa.Table.from_batches(batches, schema=schema)
