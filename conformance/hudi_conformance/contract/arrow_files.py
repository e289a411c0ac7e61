"""Rows between suite and engine: Arrow IPC files (the random-access format, not the stream)."""

from pathlib import Path

import pyarrow as pa


def write_rows(rows: pa.Table, path: Path | str) -> None:
    """Write `rows` as one Arrow IPC file."""
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, rows.schema) as writer:
        writer.write_table(rows)


MAGIC = b"ARROW1"

#: The first bytes of files that are mistaken for Arrow IPC files: what they are, and the remedy.
_OTHERS = {
    b"\xff\xff\xff\xff": (
        "it is an Arrow IPC stream",
        "write the file format: RecordBatchFileWriter or tableToIPC(table, 'file') in JavaScript, ipc.NewFileWriter in Go, "
        "FileWriter in Rust, ArrowFileWriter in Java, MakeFileWriter in C++",
    ),
    b"PAR1": ("it is a Parquet file", "write the rows as an Arrow IPC file"),
    b"{": ("it is JSON", "write the rows as an Arrow IPC file"),
}


class NotAnArrowFile(ValueError):
    """The file does not hold rows; `remedy` is the likely correction."""

    def __init__(self, path: Path, why: str, remedy: str) -> None:
        super().__init__(f"{path} is not an Arrow IPC file: {why}")
        self.remedy = remedy


def check_arrow_file(path: Path) -> None:
    """Raise NotAnArrowFile, with the likely slip, for a path that is not a complete Arrow IPC file."""
    if not path.is_absolute():
        raise NotAnArrowFile(path, "the path is relative", "answer with an absolute path, such as `into` of the message")
    if not path.exists():
        raise NotAnArrowFile(
            path, "there is no such file", "write the file before the answer, at the path that the answer names"
        )
    if not path.is_file():
        raise NotAnArrowFile(
            path, "it is a directory" if path.is_dir() else "it is no regular file", "write the rows to a file"
        )
    with path.open("rb") as file:
        first = file.read(8)
        file.seek(0, 2)
        file.seek(max(0, file.tell() - len(MAGIC)))
        last = file.read()
    if not first:
        raise NotAnArrowFile(path, "it is empty", "write the rows, and close the file before the answer")
    for start, (why, remedy) in _OTHERS.items():
        if first.startswith(start):
            raise NotAnArrowFile(path, why, remedy)
    if first.startswith(MAGIC) and last != MAGIC:
        raise NotAnArrowFile(path, "its end is missing", "close the writer before the answer")


def read_rows(path: Path | str) -> pa.Table:
    """The rows of an Arrow IPC file, mapped into memory and checked.

    The check is complete, because the file is untrusted and Arrow does not check offsets and lengths itself. Raises OSError or
    pyarrow.ArrowException.
    """
    with pa.memory_map(str(path)) as source:
        rows = pa.ipc.open_file(source).read_all()
    rows.validate(full=True)
    return rows
