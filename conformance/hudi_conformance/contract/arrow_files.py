"""Rows between suite and engine: Arrow IPC files (the random-access format, not the stream)."""

from pathlib import Path

import pyarrow as pa


def write_rows(rows: pa.Table, path: Path | str) -> None:
    """Write `rows` as one Arrow IPC file."""
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, rows.schema) as writer:
        writer.write_table(rows)


def read_rows(path: Path | str) -> pa.Table:
    """The rows of an Arrow IPC file, mapped into memory and checked.

    The check is complete, because the file is untrusted and Arrow does not check offsets and lengths itself. Raises OSError or
    pyarrow.ArrowInvalid.
    """
    with pa.memory_map(str(path)) as source:
        rows = pa.ipc.open_file(source).read_all()
    rows.validate(full=True)
    return rows
