"""A file beside the table's metadata is the lock: who creates it has the lock, who deletes it gives it up.

Apache Hudi's provider deletes the file twice, without looking whose it is, and deletes an expired one before it creates its
own: so two get in. Here only the owner deletes his file, and an expired one is not deleted but replaced, in the version that
was found. Both need a file system that creates files exclusively.
"""

import json

from hudi_reference.clock import Clock
from hudi_reference.errors import LockLost, OutcomeUnknown
from hudi_reference.locks.storage_based import StoredLease, Tenure
from hudi_reference.requirement import implements
from hudi_reference.storage import ObjectExists, Storage

#: The file's name, in the folder that the settings name or in `.hoodie`.
FILE_NAME = "lock"


class FileLease:
    """A lock file that never expires. After the death of its owner somebody has to delete it by hand.

    `holder` is a name that no other process has; it is what the file holds. As long as the file is ours nobody else deletes it,
    so that one may look first and delete then.
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
            return self._found() == self._holder
        return True

    @implements("LOCK-001")
    def renew(self) -> None:
        """See that the file is still there, and ours."""
        if (found := self._found()) != self._holder:
            raise LockLost(
                "the lock file was taken away", rule="LOCK-001", path=self.name, expected=f"owner {self._holder}",
                found=found, remedy="look at the timeline, then begin the action again",
            )  # fmt: skip

    def give_back(self) -> None:
        """Delete the file if it is ours."""
        self.renew()
        self._storage.delete(self.name)

    def _found(self) -> str:
        """Whose the file is, as far as it says so: other writers leave it empty."""
        try:
            match json.loads(self._storage.get(self.name)):
                case {"owner": str(owner)}:
                    return owner
        except FileNotFoundError:
            return "no such file"
        except ValueError:
            pass
        return "somebody who does not say who he is"


class ExpiringFileLease(StoredLease):
    """A lock file that others take over when it was not renewed for `validity` milliseconds.

    Files of other writers do not say until when they hold: those are as old as storage says.
    """

    def __init__(self, storage: Storage, clock: Clock, holder: str, *, path: str, validity: int) -> None:
        super().__init__(storage, clock, holder, path=path, validity=validity)

    def _load(self, data: bytes, modified: int) -> Tenure:
        if b'"validUntil"' in data:
            return Tenure.load(data, self.name)
        return Tenure(expired=False, valid_until=modified + self._validity, owner="")
