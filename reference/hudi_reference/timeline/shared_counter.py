"""Instant times from a counter that all writers share, spec "Timeline > Time", "TrueTime".

One service hands out every time: there are no clocks to differ, so nobody waits and nothing is locked to draw a time. A table's
writers share it by a setting, `open_table(uri, options={"hoodie.time.generator.counter": "file:///srv/counter"})`. The
service may die at any moment. What it has given out it must not give out again, so the counter lies in storage.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, tzinfo

from hudi_reference.errors import MalformedInstantTime
from hudi_reference.locks import Lock, held, new_owner
from hudi_reference.requirement import implements
from hudi_reference.storage import ObjectChanged, ObjectExists, Storage

#: Below lie the reserved times, among them those at which partitions of the metadata table are made.
FIRST = 10**16
_LARGEST = 10**17 - 1


@dataclass
class SharedCounter:
    """Times of 17 digits, each one more than that before; a service that starts again goes on where it was.

    `storage` is the service's own; `lock` is that of the table.
    """

    storage: Storage
    lock: Lock
    path: str = "counter"
    #: Its times are no dates: settings that go by hours find every action to be as old or as new as the timeline began.
    zone: tzinfo | None = UTC

    @implements("TT-001", "TT-005", "TT-006", "TT-003")
    def requested(self, known: str = "") -> str:
        """A new time, later than `known` and than every time given out. Raises MalformedInstantTime at the last one."""
        while True:
            stored = self.storage.head(self.path)
            time = max(FIRST - 1 if stored is None else int(self.storage.get(self.path)), int(known or 0)) + 1
            if time > _LARGEST:
                raise MalformedInstantTime("no time of 17 digits is later", rule="TT-001", found=known)
            try:
                if stored is None:
                    self.storage.create(self.path, str(time).encode())
                else:
                    self.storage.replace(self.path, str(time).encode(), stored.version)
            except (ObjectExists, ObjectChanged):
                continue  # the service was asked twice at once
            return str(time)

    @contextmanager
    def drawn(self, known: str = "", owner: str | None = None) -> Iterator[str]:
        """A new time, and the lock of the table for as long as the block lasts."""
        with held(self.lock, owner or new_owner("times")):
            yield self.requested(known)
