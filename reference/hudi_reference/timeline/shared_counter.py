"""Instant times from a counter that all writers share, spec "Timeline > Time", "TrueTime".

One counter returns every time. There are no clocks that could differ, so that no writer waits and no lock is needed. The
writers of a table share it by a setting, `open_table(uri, options={"hoodie.time.generator.counter": "file:///srv/counter"})`.
The counter is in storage, so that a process that restarts after a crash never returns a time twice.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, tzinfo

from hudi_reference.errors import MalformedInstantTime
from hudi_reference.locks import Lock, hold_lock, new_owner
from hudi_reference.requirement import implements
from hudi_reference.storage import ObjectChanged, ObjectExists, Storage

#: Smaller numbers are reserved times, for example those of the initial commits of the metadata table.
FIRST = 10**16
_LARGEST = 10**17 - 1


@dataclass
class SharedCounter:
    """Times of 17 digits; each is one more than the previous one, also after a restart.

    `storage` is the folder of the counter; `lock` is the lock of the table.
    """

    storage: Storage
    lock: Lock
    path: str = "counter"
    #: Its times are not dates. Settings in hours treat every action as equally old.
    zone: tzinfo | None = UTC

    @implements("TT-001", "TT-005", "TT-006", "TT-003")
    def requested(self, known: str = "") -> str:
        """A new time, later than `known` and than every time returned before.

        Raises MalformedInstantTime after the last one.
        """
        while True:
            stored = self.storage.head(self.path)
            time = max(FIRST - 1 if stored is None else int(self.storage.get(self.path)), int(known or 0)) + 1
            if time > _LARGEST:
                raise MalformedInstantTime("there is no later time of 17 digits", rule="TT-001", found=known)
            try:
                if stored is None:
                    self.storage.create(self.path, str(time).encode())
                else:
                    self.storage.replace(self.path, str(time).encode(), stored.version)
            except (ObjectExists, ObjectChanged):
                continue  # another process incremented the counter at the same time
            return str(time)

    @contextmanager
    def drawn(self, known: str = "", owner: str | None = None) -> Iterator[str]:
        """A new time; the lock of the table is held during the block."""
        with hold_lock(self.lock, owner or new_owner("times")):
            yield self.requested(known)
