"""TODO docstring."""

from dataclasses import dataclass, field

from hudi_conformance.explorer.crash_points import CrashingStorage
from hudi_reference.locks import lock_of
from hudi_reference.storage import ObjectInfo

START = 1_767_225_600_000


@dataclass
class Watched(CrashingStorage):
    """A storage that notes of each request who held the lock of the table: (request, owner or None)."""

    requests: list[tuple[str, str | None]] = field(default_factory=list)

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Noted."""
        self._note(f"get {path}")
        return super().get(path, start, length)

    def list(self, prefix: str = "", *, skip: str | None = None) -> list[ObjectInfo]:
        """Noted."""
        self._note(f"list {prefix}")
        return super().list(prefix, skip=skip)

    def names(self, folder: str) -> tuple[str, ...]:
        """Noted."""
        self._note(f"names {folder}")
        return super().names(folder)

    def _change(self, request: str) -> None:
        self._note(request)
        super()._change(request)

    def _note(self, request: str) -> None:
        self.requests.append((request, lock_of(self)._owner))
