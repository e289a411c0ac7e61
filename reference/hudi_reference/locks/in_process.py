"""The lock among the threads of one process: enough where all writers of a table are in it."""

from threading import Condition
from weakref import WeakValueDictionary

from hudi_reference.errors import LockNotHeld, LockNotObtained
from hudi_reference.storage import LocalStorage, ObjectStorage, Storage


class InProcessLock:
    """A lock among the threads of this process. `patience` in seconds."""

    in_process = True

    def __init__(self, patience: float = 60) -> None:
        self._patience = patience
        self._changed = Condition()
        self._owner: str | None = None
        self._depth = 0

    def acquire(self, owner: str) -> None:
        """Wait for the owner before."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._owner in (None, owner), self._patience):
                raise LockNotObtained(
                    "somebody else holds the lock of the table", rule="TT-007", expected=f"the lock for {owner}",
                    found=f"{self._owner} held it for {self._patience:g} seconds", remedy="try again later",
                )  # fmt: skip
            self._owner, self._depth = owner, self._depth + 1

    def release(self, owner: str) -> None:
        """Let the next one in."""
        with self._changed:
            self.check(owner)
            self._depth -= 1
            if self._depth == 0:
                self._owner = None
                self._changed.notify()

    def times_held(self, owner: str) -> int:
        """How often `owner` took it and has not given it up."""
        return self._depth if self._owner == owner else 0

    def check(self, owner: str) -> None:
        """Nobody can take this lock away; only its holder may use it."""
        if self._owner != owner:
            raise LockNotHeld("the lock is not this owner's", rule="LOCK-001", expected=owner, found=str(self._owner))


_locks: WeakValueDictionary[str, InProcessLock] = WeakValueDictionary()


def lock_of(storage: Storage) -> InProcessLock:
    """The lock of the table in this storage: for one folder or prefix of a bucket the same one all over this process."""
    match storage:
        case LocalStorage():
            key = f"folder {storage.root.absolute()}"
        case ObjectStorage(name=name) if name:
            key = f"prefix {name}"
        case _:
            key = f"object {id(storage)}"
    return _locks.setdefault(key, InProcessLock())
