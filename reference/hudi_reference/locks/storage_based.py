"""A lease in one object of the table's storage; conditional writes acquire, renew and release it.

The object has the path and the fields of Apache Hudi's storage-based lock, so that its writers and ours exclude each other:
`{"expired": false, "validUntil": 1767225600000, "owner": "…"}`. It is never deleted: a release writes `"expired": true`. If two
processes find the lease free, both write conditionally on the version that they read, and one of the writes fails.
"""

import json
from dataclasses import dataclass

from hudi_reference.clock import Clock
from hudi_reference.errors import LockLost, MalformedLock, OutcomeUnknown
from hudi_reference.requirement import implements
from hudi_reference.storage import ObjectChanged, ObjectExists, Storage

#: The path of the object in Apache Hudi.
LOCK_PATH = ".hoodie/.locks/table_lock.json"
#: The largest difference between the clocks of the processes, in milliseconds: for other processes a lease expires this much
#: later.
DRIFT = 500


@dataclass(frozen=True)
class LeaseRecord:
    """The content of the object: the owner, the end of its lease (milliseconds since the epoch), and whether it was
    released.
    """

    expired: bool
    valid_until: int
    owner: str

    def dump(self) -> bytes:
        """The JSON of Apache Hudi."""
        # ER-136: the deployed field; the design calls it expiration.
        return json.dumps({"expired": self.expired, "validUntil": self.valid_until, "owner": self.owner}).encode()

    @classmethod
    def from_json(cls, data: bytes, path: str) -> "LeaseRecord":
        """Parse the object; unknown fields are ignored. Raises MalformedLock."""
        try:
            match json.loads(data):
                case {"expired": bool(expired), "validUntil": int(until), "owner": str(owner)}:
                    return cls(expired, until, owner)
        except ValueError:
            pass
        raise MalformedLock(
            "the lock object cannot be parsed", rule="LOCK-001", path=path, found=repr(data[:80]),
            expected="a JSON object with expired, validUntil and owner", remedy="delete the object while no writer is active",
        )  # fmt: skip


class StoredLease:
    """A lease of `validity` milliseconds in the object at `path`. `holder` is the unique name of this process."""

    def __init__(self, storage: Storage, clock: Clock, holder: str, *, path: str = LOCK_PATH, validity: int = 300_000) -> None:
        self.name = path
        self._storage, self._clock, self._holder, self._validity = storage, clock, holder, validity

    @implements("LOCK-001", "LOCK-002")
    def take(self) -> bool:
        """Write conditionally on the version that was read, if the lease is free or this holder has it already."""
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
        """Write a new end. An expired lease is renewed too if no other process took it over meanwhile."""
        self._write_mine(expired=False)

    def give_back(self) -> None:
        """Mark the lease as free; the object is not deleted."""
        self._write_mine(expired=True)

    def _is_over(self, record: LeaseRecord) -> bool:
        return record.expired or self._clock.now() > record.valid_until + DRIFT

    def _write_mine(self, *, expired: bool) -> None:
        version, found = self._read()
        if found is None or found.owner != self._holder or found.expired:
            raise self._lease_lost("no such object" if found is None else f"{found}")
        try:
            self._write(version, expired=expired)
        except (ObjectExists, ObjectChanged) as error:
            raise self._lease_lost("another process wrote at the same time") from error

    def _read(self) -> tuple[str | None, LeaseRecord | None]:
        """Read the version first, then the content, so that a write in between makes the conditional write fail."""
        info = self._storage.head(self.name)
        if info is None:
            return None, None
        try:
            return info.version, self._load(self._storage.get(self.name), info.modified)
        except FileNotFoundError:
            return info.version, None

    def _load(self, data: bytes, modified: int) -> LeaseRecord:
        """Parse the content. `modified` is the modification time of the object."""
        return LeaseRecord.from_json(data, self.name)

    def _write(self, version: str | None, *, expired: bool) -> None:
        data = LeaseRecord(expired, self._clock.now() + self._validity, self._holder).dump()
        if version is None:
            self._storage.create(self.name, data)
        else:
            self._storage.replace(self.name, data, version)

    def _lease_lost(self, found: str) -> LockLost:
        return LockLost(
            "the lease of the lock was lost", rule="LOCK-001", path=self.name, expected=f"owner {self._holder}", found=found,
        )  # fmt: skip
