"""The lock among the threads of one process. It suffices if all writers of a table are threads of this process."""

from threading import Condition
from weakref import WeakValueDictionary

from hudi_reference.errors import LockNotHeld, LockNotObtained
from hudi_reference.storage import LocalStorage, ObjectStorage, Storage


class InProcessLock:
    """A lock among the threads of this process. `timeout` is the longest wait, in seconds."""

    in_process = True

    def __init__(self, timeout: float = 60) -> None:
        self._timeout = timeout
        self._changed = Condition()
        self._owner: str | None = None
        self._depth = 0

    def acquire(self, owner: str) -> None:
        """Wait until no other owner holds the lock. Raises LockNotObtained."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._owner in (None, owner), self._timeout):
                raise LockNotObtained(
                    "another owner holds the lock of the table", rule="TT-007", expected=f"the lock for {owner}",
                    found=f"{self._owner} held it for {self._timeout:g} seconds", remedy="try again later",
                )  # fmt: skip
            self._owner, self._depth = owner, self._depth + 1

    def release(self, owner: str) -> None:
        """Release the lock once; after the last release, a waiting owner obtains it. Raises LockNotHeld."""
        with self._changed:
            self.check(owner)
            self._depth -= 1
            if self._depth == 0:
                self._owner = None
                self._changed.notify()

    def times_held(self, owner: str) -> int:
        """How often `owner` has acquired the lock without releasing it."""
        return self._depth if self._owner == owner else 0

    def check(self, owner: str) -> None:
        """Raises LockNotHeld unless `owner` holds the lock. This lock cannot be lost."""
        if self._owner != owner:
            raise LockNotHeld("the lock is not held by this owner", rule="LOCK-001", expected=owner, found=str(self._owner))


_locks: WeakValueDictionary[str, InProcessLock] = WeakValueDictionary()


def lock_of(storage: Storage) -> InProcessLock:
    """The lock of the table in this storage. In one process, the same folder or bucket prefix always has the same lock."""
    match storage:
        case LocalStorage():
            key = f"folder {storage.root.absolute()}"
        case ObjectStorage(name=name) if name:
            key = f"prefix {name}"
        case _:
            key = f"object {id(storage)}"
    return _locks.setdefault(key, InProcessLock())
