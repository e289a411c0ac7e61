"""A lock file in the folder of the table's metadata: creating the file acquires the lock, deleting it releases the lock.

Apache Hudi's provider deletes the file twice without checking its owner, and deletes an expired file before it creates its own,
so that two processes can obtain the lock. Here only the owner deletes its file, and an expired file is replaced only if it has
not changed since it was read. Both need a file system that creates files exclusively.
"""

import json

from hudi_reference.clock import Clock
from hudi_reference.errors import LockLost, OutcomeUnknown
from hudi_reference.locks.storage_based import LeaseRecord, StoredLease
from hudi_reference.requirement import implements
from hudi_reference.storage import ObjectExists, Storage

#: The file's name, in the folder that the settings name or in `.hoodie`.
FILE_NAME = "lock"


class FileLease:
    """A lock file that never expires. If its owner crashes, a person has to delete the file.

    `holder` is the unique name of this process, and the content of the file. No other process deletes the file of this holder,
    so that `give_back` may check the content first and delete the file afterwards.
    """

    def __init__(self, storage: Storage, holder: str, *, path: str) -> None:
        self.name = path
        self._storage, self._holder = storage, holder

    @implements("LOCK-001", "LOCK-002")
    def take(self) -> bool:
        """Create the file."""
        try:
            self._storage.create(self.name, json.dumps({"owner": self._holder}).encode())
        except (ObjectExists, OutcomeUnknown):
            return self._stored_owner() == self._holder
        return True

    @implements("LOCK-001")
    def renew(self) -> None:
        """Check that the file exists and names this holder."""
        if (found := self._stored_owner()) != self._holder:
            raise LockLost(
                "the lock file was deleted or replaced", rule="LOCK-001", path=self.name, expected=f"owner {self._holder}",
                found=found,
            )  # fmt: skip

    def give_back(self) -> None:
        """Delete the file if it names this holder."""
        self.renew()
        self._storage.delete(self.name)

    def _stored_owner(self) -> str:
        """The owner that the file names. Files of other writers may be empty."""
        try:
            match json.loads(self._storage.get(self.name)):
                case {"owner": str(owner)}:
                    return owner
        except FileNotFoundError:
            return "no such file"
        except ValueError:
            pass
        return "a file that does not name its owner"


class ExpiringFileLease(StoredLease):
    """A lock file that other processes may replace if it was not renewed for `validity` milliseconds.

    Files of other writers do not contain an expiry time; for them the modification time counts.
    """

    def __init__(self, storage: Storage, clock: Clock, holder: str, *, path: str, validity: int) -> None:
        super().__init__(storage, clock, holder, path=path, validity=validity)

    def _load(self, data: bytes, modified: int) -> LeaseRecord:
        if b'"validUntil"' in data:
            return LeaseRecord.from_json(data, self.name)
        return LeaseRecord(expired=False, valid_until=modified + self._validity, owner="")
