"""A storage in memory that records its requests and the holder of the lock at each of them."""

from dataclasses import dataclass, field

from hudi_conformance.explorer.crash_points import CrashingStorage
from hudi_reference.locks import lock_of
from hudi_reference.storage import ObjectInfo

#: The time at which clocks of tests begin, in milliseconds since the epoch.
START = 1_767_225_600_000


@dataclass
class RecordingStorage(CrashingStorage):
    """A storage that records each request and the holder of the table's lock: (request, owner or None)."""

    requests: list[tuple[str, str | None]] = field(default_factory=list)

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Record the request."""
        self._record(f"get {path}")
        return super().get(path, start, length)

    def list(self, prefix: str = "", *, skip: str | None = None) -> list[ObjectInfo]:
        """Record the request."""
        self._record(f"list {prefix}")
        return super().list(prefix, skip=skip)

    def names(self, folder: str) -> tuple[str, ...]:
        """Record the request."""
        self._record(f"names {folder}")
        return super().names(folder)

    def _change(self, request: str) -> None:
        self._record(request)
        super()._change(request)

    def _record(self, request: str) -> None:
        self.requests.append((request, lock_of(self)._owner))
