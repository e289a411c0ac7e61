"""Mutants of the order of versions: ordering values, ties, deletes, and the order of files."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.records import merge
from hudi_reference.records.merge_tables import Cell, Kind, Order, Result


@mutant(breaks="MRG-025")
def commit_time_uses_ordering_field(patch: Patch) -> None:
    """Uses the ordering field in commit-time mode too."""
    patch.item(merge.DECISIONS, "COMMIT_TIME_ORDERING", merge.DECISIONS["EVENT_TIME_ORDERING"])


def _decide(patch: Patch, cell: Cell) -> None:
    """Replace a cell of the decision table of event-time merging."""
    patch.item(merge.DECISIONS["EVENT_TIME_ORDERING"][cell.older, cell.newer], cell.order, cell)


@mutant(breaks="MRG-028")
def older_version_wins_ties(patch: Patch) -> None:
    """Keeps the older of two versions with equal ordering values."""
    for older, newer in ((Kind.ROW, Kind.ROW), (Kind.ROW, Kind.DELETE), (Kind.DELETE, Kind.ROW)):
        for order in (Order.EQUAL, Order.BOTH_NULL):
            _decide(patch, Cell(older, newer, order, Result.OLDER))


def _late_one_stays(patch: Patch, older: Kind, newer: Kind) -> None:
    _decide(patch, Cell(older, newer, Order.LOWER, Result.NEWER))


@mutant(breaks=("MRG-029", "NBC-001"))
def late_records_win(patch: Patch) -> None:
    """Takes the later version of a record whatever its ordering value."""
    _late_one_stays(patch, Kind.ROW, Kind.ROW)


@mutant(breaks=("MRG-029", "BLK-012"))
def late_deletes_win(patch: Patch) -> None:
    """Lets a delete with a lower ordering value remove a newer row."""
    _late_one_stays(patch, Kind.ROW, Kind.DELETE)


@mutant(breaks=("MRG-029", "BLK-009"))
def tombstone_ordering_value_lost(patch: Patch) -> None:
    """Lets a late row win over a delete with a higher ordering value."""
    _late_one_stays(patch, Kind.DELETE, Kind.ROW)
