"""A file's bytes, fetched range by range: what a reader does not look at is never in memory.

On local storage a range is a view of the mapped file. Elsewhere it is a request: what lies close together is fetched at once.
"""

from dataclasses import dataclass

import pyarrow as pa

from hudi_reference.errors import MalformedLogFile
from hudi_reference.files.missing import missing

#: Bytes that are fetched where fewer are asked for. Most log files are smaller, so that one request fetches them.
WINDOW = 1 << 20


class Ranges:
    """Ranges of an open file. `size` in bytes."""

    def __init__(self, file: pa.NativeFile, path: str) -> None:
        self._file, self._path = file, path
        self.size: int = file.size()
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
            raise missing(self._path) from error
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
