"""Heartbeats: a writer shows that it is active, so that its pending action is not rolled back as a failed write.

    .hoodie/.heartbeat/<requested time>     an empty file, stored again with each heartbeat

The first heartbeat is sent before the action is visible, because a pending action without a recent one may be rolled back
(ER-120).
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
    def from_settings(cls, storage: Storage, clock: Clock, settings: Concurrency) -> "Heartbeats":
        """With the interval and tolerance of a writer's settings."""
        return cls(storage, clock, settings.interval, settings.misses)

    @property
    def tolerance(self) -> int:
        """The age in milliseconds at which a heartbeat expires."""
        return self.interval * self.misses

    def send(self, instant: str) -> int:
        """Send a heartbeat for the writer of this action; its time."""
        time = self.clock.now()
        self.storage.put(heartbeat_path(instant), b"")
        return time

    def delete(self, instant: str) -> None:
        """Delete the heartbeat: the writer has completed or aborted the action."""
        self.storage.delete(heartbeat_path(instant))

    @implements("TL-030")
    def is_active(self, instant: str) -> bool:
        """Whether the last heartbeat has not expired, by the age of the file. A writer without a file is not active."""
        found = self.storage.head(heartbeat_path(instant))
        return found is not None and self.clock.now() - found.modified <= self.tolerance


def heartbeat_path(instant: str) -> str:
    """The path of the heartbeat of that action's writer."""
    return f"{FOLDER}/{instant}"
