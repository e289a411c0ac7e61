"""Heartbeats: a writer that may be slow shows that it is alive, so that nobody takes its pending action for a failed one.

    .hoodie/.heartbeat/<requested time>     an empty file, stored anew with each beat

The first beat comes before the action can be seen: whoever sees a pending action without a fresh one may roll it back (ER-120).
"""

from dataclasses import dataclass

from hudi_reference.clock import Clock
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage
from hudi_reference.write.concurrency.config import Concurrency

FOLDER = f"{META_FOLDER}/.heartbeat"


@dataclass(frozen=True)
class Heartbeats:
    """The heartbeats of the writers of one table; `interval` in milliseconds."""

    storage: Storage
    clock: Clock
    interval: int = 60_000
    misses: int = 2

    @classmethod
    def of(cls, storage: Storage, clock: Clock, settings: Concurrency) -> "Heartbeats":
        """As a writer's settings have it."""
        return cls(storage, clock, settings.interval, settings.misses)

    @property
    def tolerance(self) -> int:
        """The age in milliseconds from which on a heartbeat proves nothing."""
        return self.interval * self.misses

    def send(self, instant: str) -> int:
        """Show that the writer of this action is alive; the time of the beat."""
        time = self.clock.now()
        self.storage.put(heartbeat_path(instant), b"")
        return time

    def delete(self, instant: str) -> None:
        """The writer has nothing more to do with the action."""
        self.storage.delete(heartbeat_path(instant))

    @implements("TL-030")
    def is_active(self, instant: str) -> bool:
        """Whether the writer has beaten not long ago, by the age of the file. Without one it is dead."""
        found = self.storage.head(heartbeat_path(instant))
        return found is not None and self.clock.now() - found.modified <= self.tolerance


def heartbeat_path(instant: str) -> str:
    """Where the heart of the writer of that action beats."""
    return f"{FOLDER}/{instant}"
