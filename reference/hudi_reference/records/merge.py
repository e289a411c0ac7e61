"""Which of several versions of a record wins, spec "Record Merging", by the tables in `merge_tables`.

The versions of a key in a file slice are merged from the oldest on: first the base row, then the log entries in merge order.
Queries, writes and table services all use this function, so that they agree.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hudi_reference.files.log.deletes import Ordering
from hudi_reference.layout.merge_config import MergeMode
from hudi_reference.records.merge_tables import COMMIT_TIME, EVENT_TIME, Cell, Decisions, Kind, Result, decisions_of
from hudi_reference.records.ordering import compared, incomparable, order_of
from hudi_reference.requirement import implements


@dataclass(frozen=True)
class Version:
    """One version of a record. `position` identifies its row for the caller."""

    kind: Kind
    ordering: Ordering | None
    position: int


#: The decision tables of the modes without a merger.
DECISIONS: dict[MergeMode, Decisions] = {
    "COMMIT_TIME_ORDERING": decisions_of(COMMIT_TIME.stored),
    "EVENT_TIME_ORDERING": decisions_of(EVENT_TIME.stored),
}

Merge = Callable[[Version, Version], Version]


@implements("MRG-001", "MRG-008", "MRG-025", "MRG-028", "MRG-029", "MRG-030", "BLK-012")
def merger_of(mode: MergeMode) -> Merge:
    """The function that returns which of an older and a newer version wins."""
    decisions = DECISIONS[mode]

    def merge(older: Version, newer: Version) -> Version:
        cell = cell_of(decisions, older, newer)
        return newer if cell.result is Result.NEWER else older

    return merge


@implements("MRG-028")
def cell_of(decisions: Decisions, older: Version, newer: Version) -> Cell:
    """The decision for two versions. Raises IncomparableOrdering if the tables refuse the two."""
    cells = decisions[older.kind, newer.kind]
    cell = cells.get(None) or cells[order_of(newer.ordering, older.ordering)]
    if cell.result is Result.BY_DEFAULT:
        cell = cells[compared(newer.ordering, older.ordering)]
    if cell.result is Result.REFUSED:
        raise incomparable(older.ordering, newer.ordering)
    return cell


@implements("MRG-003", "MRG-027", "RDR-014")
def fold(versions: Iterable[Version], merge: Merge) -> Version | None:
    """The version that wins of all, given oldest first; None for no versions."""
    winner: Version | None = None
    for version in versions:
        winner = version if winner is None else merge(winner, version)
    return winner
