"""A file's bytes, fetched range by range: what a reader does not look at is never in memory.

On local storage a range is a view of the mapped file. Elsewhere it is a request: what lies close together is fetched at once.
"""

import io
from dataclasses import dataclass

import pyarrow as pa

from hudi_reference.errors import MalformedLogFile, missing_data_file

#: Bytes that are fetched where fewer are asked for. Most log files are smaller, so that one request fetches them.
WINDOW = 1 << 20


class Ranges:
    """Ranges of an open file. `size` in bytes."""

    def __init__(self, file: pa.NativeFile, path: str) -> None:
        self._file, self._path = file, path
        self.size: int = file.size()
        #: Whether a range costs nothing: it is a view of a mapped file or of bytes.
        self.is_in_memory = isinstance(file, pa.MemoryMappedFile | pa.BufferReader)
        #: The windows fetched last, with their places: one at the beginning of a block and one at its end.
        self._windows: list[tuple[int, memoryview]] = []

    def read(self, start: int, length: int) -> memoryview:
        """`length` bytes from byte `start` on, fewer where the file ends before; a view of what was fetched with them."""
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
        """Exactly these bytes. Raises MissingDataFile and MalformedLogFile where they are no longer there."""
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
    """A range of a file that is fetched when it is asked for."""

    ranges: Ranges
    start: int
    length: int

    def read(self) -> memoryview:
        """The bytes, fetched anew each time unless they lie in what was fetched last."""
        return self.ranges.read(self.start, self.length)

    def open(self) -> pa.NativeFile:
        """The bytes as a file of their own."""
        if self.ranges.is_in_memory or self.length <= WINDOW:
            return pa.BufferReader(pa.py_buffer(self.read()))
        return pa.PythonFile(_ExtentFile(self), mode="r")


class _ExtentFile(io.RawIOBase):
    """A range of a file as a file of Python."""

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
