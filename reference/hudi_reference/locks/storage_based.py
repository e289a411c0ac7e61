"""A lease in one object of the table's own storage, taken, renewed and given back by conditional writes.

The object has the path and the fields of Apache Hudi's storage-based lock, so that its writers and ours exclude each other:
`{"expired": false, "validUntil": 1767225600000, "owner": "…"}`. It is never deleted: who gives the lease back writes
`"expired": true`. Two who find it free both write on the version that they read, and one of them is refused.
"""

import json
from dataclasses import dataclass

from hudi_reference.clock import Clock
from hudi_reference.errors import LockLost, MalformedLock, OutcomeUnknown
from hudi_reference.requirement import implements
from hudi_reference.storage import ObjectChanged, ObjectExists, Storage

#: Where Apache Hudi has it.
LOCK_PATH = ".hoodie/.locks/table_lock.json"
#: By how much the clocks of those who share a lease may differ, in milliseconds: so much later others take it away.
DRIFT = 500


@dataclass(frozen=True)
class Tenure:
    """What the object says: who has the lease, until when (milliseconds since the epoch), and whether he gave it back."""

    expired: bool
    valid_until: int
    owner: str

    def dump(self) -> bytes:
        """As Apache Hudi stores it."""
        return json.dumps({"expired": self.expired, "validUntil": self.valid_until, "owner": self.owner}).encode()

    @classmethod
    def load(cls, data: bytes, path: str) -> "Tenure":
        """Fields that are not known are passed over. Raises MalformedLock."""
        try:
            match json.loads(data):
                case {"expired": bool(expired), "validUntil": int(until), "owner": str(owner)}:
                    return cls(expired, until, owner)
        except ValueError:
            pass
        raise MalformedLock(
            "no lock can be read here", rule="LOCK-001", path=path, found=repr(data[:80]),
            expected="a JSON object with expired, validUntil and owner", remedy="if no writer is at work, delete the file",
        )  # fmt: skip


class StoredLease:
    """A lease of `validity` milliseconds in the object at `path`. `holder` is a name that no other process has."""

    def __init__(self, storage: Storage, clock: Clock, holder: str, *, path: str = LOCK_PATH, validity: int = 300_000) -> None:
        self.name = path
        self._storage, self._clock, self._holder, self._validity = storage, clock, holder, validity

    @implements("LOCK-001", "LOCK-002")
    def take(self) -> bool:
        """Write on what was read, if it is free; also where an earlier try of ours was written and we were not told."""
        version, found = self._read()
        if found is not None and found.owner != self._holder and not self._is_over(found):
            return False
        try:
            self._write(version, expired=False)
        except (ObjectExists, ObjectChanged, OutcomeUnknown):
            return False
        return True

    @implements("LOCK-001")
    def renew(self) -> None:
        """Also where the time is over and nobody else came: then nobody else was inside."""
        self._write_mine(expired=False)

    def give_back(self) -> None:
        """The object stays, and says that the lease is free."""
        self._write_mine(expired=True)

    def _is_over(self, tenure: Tenure) -> bool:
        return tenure.expired or self._clock.now() > tenure.valid_until + DRIFT

    def _write_mine(self, *, expired: bool) -> None:
        version, found = self._read()
        if found is None or found.owner != self._holder or found.expired:
            raise self._lost("no such object" if found is None else f"{found}")
        try:
            self._write(version, expired=expired)
        except (ObjectExists, ObjectChanged) as error:
            raise self._lost("somebody else wrote at the same time") from error

    def _read(self) -> tuple[str | None, Tenure | None]:
        """The version, then what is there: a write in between makes ours fail."""
        info = self._storage.head(self.name)
        if info is None:
            return None, None
        try:
            return info.version, self._load(self._storage.get(self.name), info.modified)
        except FileNotFoundError:
            return info.version, None

    def _load(self, data: bytes, modified: int) -> Tenure:
        """`modified` is when the object was written."""
        return Tenure.load(data, self.name)

    def _write(self, version: str | None, *, expired: bool) -> None:
        data = Tenure(expired, self._clock.now() + self._validity, self._holder).dump()
        if version is None:
            self._storage.create(self.name, data)
        else:
            self._storage.replace(self.name, data, version)

    def _lost(self, found: str) -> LockLost:
        return LockLost(
            "the lease of the lock was lost", rule="LOCK-001", path=self.name, expected=f"owner {self._holder}", found=found,
            remedy="look at the timeline, then begin the action again",
        )  # fmt: skip
