"""A dictionary as storage."""

from threading import Lock

import pyarrow as pa

from hudi_reference.storage.protocol import ObjectChanged, ObjectExists, ObjectInfo, is_below, require_inside_table


class MemoryStorage:
    """Objects in a dictionary; the storage of tests and of simulated processes that share one table."""

    def __init__(self) -> None:
        self._objects: dict[str, tuple[bytes, int]] = {}
        self._lock = Lock()
        self._writes = 0

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Slice the object."""
        return self._body(path)[start : None if length is None else start + length]

    def open(self, path: str) -> pa.NativeFile:
        """Wrap the bytes."""
        return pa.BufferReader(self._body(path))

    def head(self, path: str) -> ObjectInfo | None:
        """The object in the dictionary."""
        found = self._objects.get(require_inside_table(path))
        return None if found is None else ObjectInfo(path, len(found[0]), found[1], str(found[1]))

    def list(self, prefix: str = "", *, skip: str | None = None) -> list[ObjectInfo]:
        """Filter the names."""
        folder = require_inside_table(prefix)
        return [
            ObjectInfo(path, len(body), written, str(written))
            for path, (body, written) in sorted(self._objects.items())
            if is_below(path, folder) and not (skip is not None and is_below(path, skip))
        ]

    def names(self, folder: str) -> tuple[str, ...]:
        """The paths, truncated after the next `/`."""
        start = len(prefix := f"{require_inside_table(folder)}/".lstrip("/"))
        rest = (path[start:].partition("/") for path in tuple(self._objects) if path.startswith(prefix))
        return tuple(sorted({name + slash for name, slash, _ in rest}))

    def put(self, path: str, data: bytes) -> None:
        """Store."""
        with self._lock:
            self._store(path, data)

    def create(self, path: str, data: bytes) -> None:
        """Store unless the object exists."""
        with self._lock:
            if require_inside_table(path) in self._objects:
                raise ObjectExists(path)
            self._store(path, data)

    def replace(self, path: str, data: bytes, version: str) -> None:
        """Store if the version is the one given."""
        with self._lock:
            info = self.head(path)
            if info is None or info.version != version:
                raise ObjectChanged(path)
            self._store(path, data)

    def delete(self, path: str) -> None:
        """Remove the object."""
        with self._lock:
            self._objects.pop(require_inside_table(path), None)

    def _body(self, path: str) -> bytes:
        try:
            return self._objects[require_inside_table(path)][0]
        except KeyError:
            raise FileNotFoundError(path) from None

    def _store(self, path: str, data: bytes) -> None:
        self._writes += 1
        self._objects[require_inside_table(path)] = (bytes(data), self._writes)
