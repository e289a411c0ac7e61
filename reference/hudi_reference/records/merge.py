"""Which of several versions of a record is right, spec "Record Merging", as decision tables.

All versions of a key in one file slice (the base row first, then the log entries in merge order) are folded from the oldest on.
Queries, writes and services use this one function, so they agree.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum

from hudi_reference.files.log.deletes import Ordering
from hudi_reference.layout.merging import MergeMode
from hudi_reference.records.ordering import is_lower
from hudi_reference.requirement import implements


class Kind(Enum):
    """What a version of a record is."""

    ROW = "row"
    #: A delete with an ordering value (`_hoodie_is_deleted`, or decided by a payload).
    DELETE = "delete"
    #: A delete without one (the delete operation): it wins over everything before it and leaves no memory of it.
    KEY_DELETE = "delete by key"


class Decision(Enum):
    """Which of two versions stays."""

    OLDER = "the older"
    NEWER = "the newer"
    BY_ORDERING = "the greater ordering value, the newer of equals"


@dataclass(frozen=True)
class Version:
    """One version of a record. `position` says where its row is, for whoever made the version."""

    kind: Kind
    ordering: Ordering | None
    position: int


#: (older, newer) -> who stays. In commit-time mode it is always the newer.
EVENT_TIME: dict[tuple[Kind, Kind], Decision] = {
    (Kind.ROW, Kind.ROW): Decision.BY_ORDERING,
    (Kind.ROW, Kind.DELETE): Decision.BY_ORDERING,
    (Kind.ROW, Kind.KEY_DELETE): Decision.NEWER,
    (Kind.DELETE, Kind.ROW): Decision.BY_ORDERING,
    (Kind.DELETE, Kind.DELETE): Decision.BY_ORDERING,
    (Kind.DELETE, Kind.KEY_DELETE): Decision.NEWER,
    (Kind.KEY_DELETE, Kind.ROW): Decision.NEWER,
    (Kind.KEY_DELETE, Kind.DELETE): Decision.OLDER,  # nothing is left that it could delete, so it leaves no trace
    (Kind.KEY_DELETE, Kind.KEY_DELETE): Decision.NEWER,
}
COMMIT_TIME: dict[tuple[Kind, Kind], Decision] = dict.fromkeys(EVENT_TIME, Decision.NEWER)

DECISIONS: dict[MergeMode, dict[tuple[Kind, Kind], Decision]] = {
    "COMMIT_TIME_ORDERING": COMMIT_TIME,
    "EVENT_TIME_ORDERING": EVENT_TIME,
}

Merge = Callable[[Version, Version], Version]


@implements("MRG-001", "MRG-008", "MRG-025", "MRG-028", "MRG-029", "BLK-012")
def merger_of(mode: MergeMode) -> Merge:
    """The function that says which of an older and a newer version stays."""
    decisions = DECISIONS[mode]

    def merge(older: Version, newer: Version) -> Version:
        decision = decisions[older.kind, newer.kind]
        if decision is Decision.BY_ORDERING:
            decision = Decision.OLDER if is_lower(newer.ordering, older.ordering) else Decision.NEWER
        return newer if decision is Decision.NEWER else older

    return merge


@implements("MRG-003", "RDR-014")
def fold(versions: Iterable[Version], merge: Merge) -> Version | None:
    """The version that stays of all, oldest first; None for no versions."""
    winner: Version | None = None
    for version in versions:
        winner = version if winner is None else merge(winner, version)
    return winner
