"""The pending actions of a table: how old they are, whether their writer is at work, and what waits for them."""

from dataclasses import dataclass
from typing import Literal

from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS
from hudi_reference.write.concurrency.heartbeats import FOLDER as HEARTBEATS

#: A heartbeat that is older, in milliseconds, is expired with every setting in use; a write that began later may be at work.
EXPIRED = 3_600_000

#: What waits until the action completes or is rolled back, by action.
_BLOCKS = {
    "compaction": ("archiving of later actions", "clustering of its file groups"),
    "logcompaction": ("archiving of later actions",),
    "clustering": ("archiving of later actions", "compaction of its file groups", "updates of its file groups"),
    "clean": ("the next clean",),
    "rollback": ("the next rollback of the same write", "every write, if the same write has completed"),
    "restore": ("every write",),
    "indexing": ("the use of its indexes",),
}
_BLOCKED_BY_WRITES = (
    "archiving of later actions",
    "cleaning of the state at its begin",
    "once a later write has completed, every single writer of Apache Hudi",
)


@dataclass(frozen=True)
class PendingAction:
    """A pending action.

    Attributes:
        requested: its requested time.
        action: its action.
        state: `requested` or `inflight`.
        path: its file.
        age: milliseconds since the file was stored.
        heartbeat: whether its writer sends heartbeats: recently, no more, or never; services send none.
        blocks: what waits for it.
    """

    requested: str
    action: str
    state: str
    path: str
    age: int
    heartbeat: Literal["active", "expired", "none"]
    blocks: tuple[str, ...]


def pending_actions(table: StoredTable) -> tuple[PendingAction, ...]:
    """The pending actions by requested time."""
    stored = {file.instant: file for file in table.state_files}
    return tuple(_described(table, instant, stored[instant].modified) for instant in table.timeline.pending)


def _described(table: StoredTable, instant: Instant, modified: int) -> PendingAction:
    is_write = ACTIONS[instant.action].can_be_rolled_back and not ACTIONS[instant.action].planned
    return PendingAction(
        instant.requested,
        instant.action,
        instant.state.name.lower(),
        table.path_of(instant),
        table.now - modified,
        heartbeat_of(table, instant.requested),
        _BLOCKED_BY_WRITES if is_write else _BLOCKS.get(instant.action, ()),
    )


def heartbeat_of(table: StoredTable, requested: str) -> Literal["active", "expired", "none"]:
    """Whether the writer of an action sent a heartbeat within the last hour."""
    info = table.listing.files.get(f"{HEARTBEATS}/{requested}")
    if info is None:
        return "none"
    return "active" if table.now - info.modified <= EXPIRED else "expired"
