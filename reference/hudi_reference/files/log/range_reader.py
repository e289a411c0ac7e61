"""Reading a file range by range, so that only the ranges that are read are in memory.

On local storage a range is a view of the mapped file. On object stores a range is a request, so nearby ranges are fetched
together.
"""

import io
from dataclasses import dataclass

import pyarrow as pa

from hudi_reference.errors import MalformedLogFile, missing_data_file

#: The least number of bytes that one request fetches. Most log files are smaller, so one request fetches them.
WINDOW = 1 << 20


class Ranges:
    """Ranges of an open file. `size` in bytes."""

    def __init__(self, file: pa.NativeFile, path: str) -> None:
        self._file, self._path = file, path
        self.size: int = file.size()
        #: Whether a range is a view of a mapped file or of bytes, which needs no request.
        self.is_in_memory = isinstance(file, pa.MemoryMappedFile | pa.BufferReader)
        #: The last two windows with their offsets: usually one at the beginning of a block and one at its end.
        self._windows: list[tuple[int, memoryview]] = []

    def read(self, start: int, length: int) -> memoryview:
        """`length` bytes from byte `start` on, or fewer at the end of the file; a view of the fetched window."""
        length = max(0, min(length, self.size - start))
        if length > WINDOW:
            return self.fetch(start, length)
        for first, window in self._windows:
            if first <= start and start + length <= first + len(window):
                return window[start - first : start - first + length]
        window = self.fetch(start, min(WINDOW, self.size - start))
        self._windows = [(start, window), *self._windows[:1]]
        return window[:length]

    def fetch(self, start: int, length: int) -> memoryview:
        """Exactly these bytes. Raises MissingDataFile, and MalformedLogFile if the file became shorter."""
        try:
            self._file.seek(start)
            found = memoryview(self._file.read_buffer(length)).cast("B")
        except FileNotFoundError as error:
            raise missing_data_file(self._path) from error
        if len(found) != length:
            raise MalformedLogFile(
                "the file became shorter while it was read", rule="S3-004", path=self._path, offset=start,
                expected=f"{length} bytes", found=f"{len(found)} bytes",
            )  # fmt: skip
        return found


@dataclass(frozen=True)
class Extent:
    """A range of a file that is fetched on demand."""

    ranges: Ranges
    start: int
    length: int

    def read(self) -> memoryview:
        """The bytes; fetched again unless they are in one of the last windows."""
        return self.ranges.read(self.start, self.length)

    def open(self) -> pa.NativeFile:
        """The range as a file."""
        if self.ranges.is_in_memory or self.length <= WINDOW:
            return pa.BufferReader(pa.py_buffer(self.read()))
        return pa.PythonFile(_ExtentFile(self), mode="r")


class _ExtentFile(io.RawIOBase):
    """A range of a file as a Python file object."""

    def __init__(self, extent: Extent) -> None:
        self._extent, self._place = extent, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._place = offset + (0, self._place, self._extent.length)[whence]
        return self._place

    def read(self, size: int = -1) -> bytes:
        left = max(0, self._extent.length - self._place)
        length = left if size < 0 else min(size, left)
        start = self._extent.start + self._place
        self._place += length
        return bytes(self._extent.ranges.fetch(start, length)) if length else b""
