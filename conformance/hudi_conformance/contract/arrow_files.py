"""Rows between suite and engine: Arrow IPC files (the random-access format, not the stream)."""

import errno
import os
import stat
import struct
from pathlib import Path

import pyarrow as pa

from hudi_conformance.contract.arrow_sizes import measure_file, measure_rows
from hudi_reference.limits import Limit

ANSWER_ROWS = Limit("ANSWER_ROWS", "rows in an answer of an adapter", 2_000_000)
#: Before and after decompression, and of all values, where each that repeats counts as often as rows name it.
ANSWER_BYTES = Limit("ANSWER_BYTES", "bytes of the values in an answer of an adapter", 1 << 30)
_TOO_LARGE = f"answer with the rows of the query, or raise {ANSWER_ROWS.variable} and {ANSWER_BYTES.variable}"


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


def read_answer(path: Path, folder: Path, opened: int) -> pa.Table:
    """The rows of an answer: an Arrow IPC file inside `folder`, which an adapter wrote and may still change.

    `opened` is a descriptor of the folder from before the adapter began: it may have put a link in the place of the folder, or
    of a folder above. The file is opened without following links, and copied into memory before anything in it is believed. Its
    decompressed size is computed from its headers before anything is decompressed, and that of its values before any is taken
    out.

    Raises:
        NotAnArrowFile: with the likely cause.
        pyarrow.ArrowException: the content is damaged.
    """
    data = _read_inside(path, folder, opened)
    _check_kind(path, data)
    try:
        found = measure_file(data)
    except (struct.error, IndexError, UnicodeDecodeError, OverflowError) as error:
        raise NotAnArrowFile(path, f"its headers cannot be read: {error}", "write the file with a library of Arrow") from None
    if found.rows > ANSWER_ROWS.value or found.decoded > ANSWER_BYTES.value:
        size = f"{found.rows:,} rows, {found.decoded:,} bytes of values"
        limits = f"{ANSWER_ROWS.value:,} and {ANSWER_BYTES.value:,}"
        raise NotAnArrowFile(path, f"it has {size}; the limits are {limits}", _TOO_LARGE)
    rows = pa.ipc.open_file(pa.BufferReader(data)).read_all()
    rows.validate()
    if (expanded := measure_rows(rows)) > ANSWER_BYTES.value:  # before the full check, which follows each view
        raise NotAnArrowFile(path, f"its values have up to {expanded:,} bytes; the limit is {ANSWER_BYTES.value:,}", _TOO_LARGE)
    rows.validate(full=True)
    return rows


def _read_inside(path: Path, folder: Path, opened: int) -> bytes:
    """The bytes of a regular file below `folder`, of at most `ANSWER_BYTES` bytes; each step down refuses a link."""
    if not path.is_absolute():
        raise NotAnArrowFile(path, "the path is relative", "answer with an absolute path, such as `into` of the message")
    if not path.is_relative_to(folder) or path == folder or ".." in path.parts:
        raise NotAnArrowFile(path, f"it is not inside {folder}", "write the rows to the path `into` of the message")
    *folders, name = path.relative_to(folder).parts
    fd = os.dup(opened)
    try:
        for step, flags in [*((one, os.O_DIRECTORY) for one in folders), (name, os.O_NONBLOCK)]:
            outer = fd
            try:
                fd = os.open(step, os.O_RDONLY | os.O_NOFOLLOW | flags, dir_fd=outer)
            except FileNotFoundError:
                remedy = "write the file before the answer, at the path that the answer names"
                raise NotAnArrowFile(path, "there is no such file", remedy) from None
            except OSError as error:
                why = "it is a symbolic link" if error.errno == errno.ELOOP else f"it cannot be opened: {error.strerror}"
                raise NotAnArrowFile(path, why, "write the rows to the path `into` of the message") from None
            os.close(outer)
        return _read_regular(path, fd)
    finally:
        os.close(fd)


def _read_regular(path: Path, fd: int) -> bytes:
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        why = "it is a directory" if stat.S_ISDIR(found.st_mode) else "it is no regular file"
        raise NotAnArrowFile(path, why, "write the rows to a file")
    if found.st_size > ANSWER_BYTES.value:
        raise NotAnArrowFile(path, f"it has {found.st_size:,} bytes; the limit is {ANSWER_BYTES.value:,}", _TOO_LARGE)
    with os.fdopen(os.dup(fd), "rb") as file:
        return file.read(found.st_size)


def _check_kind(path: Path, data: bytes) -> None:
    """Raise NotAnArrowFile for what is often mistaken for an Arrow IPC file."""
    if not data:
        raise NotAnArrowFile(path, "it is empty", "write the rows, and close the file before the answer")
    for start, (why, remedy) in _OTHERS.items():
        if data.startswith(start):
            raise NotAnArrowFile(path, why, remedy)
    if not data.startswith(MAGIC):
        raise NotAnArrowFile(path, "it does not begin with ARROW1", "write the rows as an Arrow IPC file")
    if not data.endswith(MAGIC):
        raise NotAnArrowFile(path, "its end is missing", "close the writer before the answer")


def read_rows(path: Path | str) -> pa.Table:
    """The rows of an Arrow IPC file of the suite, mapped into memory and checked. Raises OSError or pyarrow.ArrowException."""
    with pa.memory_map(str(path)) as source:
        rows = pa.ipc.open_file(source).read_all()
    rows.validate(full=True)
    return rows
