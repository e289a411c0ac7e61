"""Mutants in merging: which of several versions of a record is right."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.records import merge, merge_tables, ordering
from hudi_reference.records.merge_tables import Cell, Kind, Order, Result, decisions_of
from hudi_reference.records.merging import merge_rows
from hudi_reference.write import rows
from hudi_reference.write.writer import Writer


def _decide(patch: Patch, cell: Cell) -> None:
    """Replaces a cell of event-time merging."""
    patch.item(merge.DECISIONS["EVENT_TIME_ORDERING"][cell.older, cell.newer], cell.order, cell)


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
def tombstones_forget_their_ordering(patch: Patch) -> None:
    """Lets a late row come back after a delete with a higher ordering value."""
    _late_one_stays(patch, Kind.DELETE, Kind.ROW)


@mutant(breaks=("BLK-012", "MRG-014"))
def deletes_by_key_are_compared(patch: Patch) -> None:
    """Compares the ordering value of a delete that has none, as if it were 0."""
    by_ordering = decisions_of(merge_tables.by_ordering(Kind.ROW, Kind.KEY_DELETE))
    patch.item(merge.DECISIONS["EVENT_TIME_ORDERING"], (Kind.ROW, Kind.KEY_DELETE), by_ordering[Kind.ROW, Kind.KEY_DELETE])


@mutant(breaks="MRG-028")
def older_version_wins_ties(patch: Patch) -> None:
    """Keeps the older of two versions with equal ordering values."""
    for older, newer in ((Kind.ROW, Kind.ROW), (Kind.ROW, Kind.DELETE), (Kind.DELETE, Kind.ROW)):
        for order in (Order.EQUAL, Order.BOTH_NULL):
            _decide(patch, Cell(older, newer, order, Result.OLDER))


@mutant(breaks="MRG-028")
def ordering_values_compared_as_text(patch: Patch) -> None:
    """Compares numbers as text, 9 after 10."""
    patch.edit(ordering._sort_key, '("number", False, value, 1.0)', '("text", str(value).encode())')


@mutant(breaks="MRG-025")
def commit_time_honours_the_ordering_field(patch: Patch) -> None:
    """Goes by the ordering field in commit-time mode too."""
    patch.item(merge.DECISIONS, "COMMIT_TIME_ORDERING", merge.DECISIONS["EVENT_TIME_ORDERING"])


@mutant(breaks=("MRG-003", "MRG-008", "MRG-014"))
def logs_are_folded_before_they_meet_the_base_row(patch: Patch) -> None:
    """Folds all logs first: a base row that was deleted in between comes back, as with Apache Hudi 1.2."""
    patch.edit(
        merge_rows.select,
        "fold([stored, *versions[key]], merge)",
        "merge(stored, fold(versions[key], merge) or stored)",
    )


@mutant(breaks=("RDR-014", "MRG-027"))
def logs_applied_newest_first(patch: Patch) -> None:
    """Folds the versions of a record from the newest on."""
    patch.edit(merge.fold, "for version in versions:", "for version in reversed(list(versions)):")


@mutant(breaks="MRG-011")
def batch_combined_by_arrival(patch: Patch) -> None:
    """Keeps the last of several records of a key in one input although the mode is event time."""
    patch.edit(rows.combine, "changes, merging)", 'changes, Merging("COMMIT_TIME_ORDERING", merging.ordering))')


@mutant(breaks=("MRG-011", "MRG-026"))
def first_of_a_batch_wins(patch: Patch) -> None:
    """Keeps the first of several records of a key in one input."""
    patch.edit(rows.combine, "Changes([plain], plain.schema)", "Changes([plain.take(positions[::-1])], plain.schema)")


@mutant(breaks=("MRG-012", "MRG-029"))
def copy_on_write_always_overwrites(patch: Patch) -> None:
    """Replaces the stored row of a copy-on-write table by a late one."""
    patch.edit(Writer.rewrite_base_file, "reader.merging", 'type(reader.merging)("COMMIT_TIME_ORDERING")')
