"""Mutants of the order of versions: ordering values, ties, deletes, and the order of files."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.layout import merge_config
from hudi_reference.query import table
from hudi_reference.records import merge, ordering
from hudi_reference.records.merge_tables import Cell, Kind, Order, Result
from hudi_reference.records.mergers.merger import Merging
from hudi_reference.records.merging import partial_merge
from hudi_reference.records.merging.fast import merge_columns
from hudi_reference.services.compaction.compaction import Compactor
from hudi_reference.write import rows
from hudi_reference.write.writer import Writer


@mutant(breaks=("MRG-010", "MRG-021", "MRG-025"))
def stored_merge_mode_ignored(patch: Patch) -> None:
    """Ignores the stored merge mode and infers it from the ordering fields."""
    patch.edit(
        merge_config.infer,
        "by_strategy = MODE_OF_STRATEGY",
        "mode = strategy = payload = None\n    by_strategy = MODE_OF_STRATEGY",
    )


@mutant(breaks="MRG-011")
def batch_deduplicated_by_arrival(patch: Patch) -> None:
    """Keeps the last of several records of a key in one input although the mode is event time."""
    patch.edit(rows.combine, "changes, merging)", 'changes, Merging("COMMIT_TIME_ORDERING", merging.ordering))')


@mutant(breaks=("MRG-011", "MRG-026"))
def first_record_of_batch_wins(patch: Patch) -> None:
    """Keeps the first of several records of a key in one input."""
    patch.edit(rows.combine, "Changes([plain], plain.schema)", "Changes([plain.take(positions[::-1])], plain.schema)")


@mutant(breaks=("MRG-012", "MRG-029"))
def copy_on_write_always_overwrites(patch: Patch) -> None:
    """Replaces the stored row of a copy-on-write table by a late one."""
    patch.edit(Writer.rewrite_base_file, "reader.merging", 'type(reader.merging)("COMMIT_TIME_ORDERING")')


@mutant(breaks="MRG-015")
def ordering_column_not_read(patch: Patch) -> None:
    """Reads the ordering column only if it is in the projection, and merges without it otherwise."""
    patch.edit(Merging.columns, 'path.partition(".")[0] for path in self.ordering', "name for name in ()")


@mutant(breaks="MRG-015")
def base_rows_filtered_before_merge(patch: Patch) -> None:
    """Returns the base row of a key whose newer version does not match the filter."""
    patch.edit(
        table.SliceQuery.__call__,
        ".select(self.columns)",
        ".select(self.columns) or self.reader.read(file_slice, self.columns, logs=False)",
    )


@mutant(breaks="MRG-025")
def many_rows_commit_time_uses_ordering(patch: Patch) -> None:
    """Uses ordering values in commit-time mode, among many changes: the base row stays."""
    patch.edit(
        merge_columns._replaces_base,
        "    if by_ordering:\n",
        "    if not by_ordering:\n        wins[:] = False\n    if by_ordering:\n",
    )


@mutant(breaks="MRG-025")
def commit_time_uses_ordering_field(patch: Patch) -> None:
    """Uses the ordering field in commit-time mode too."""
    patch.item(merge.DECISIONS, "COMMIT_TIME_ORDERING", merge.DECISIONS["EVENT_TIME_ORDERING"])


@mutant(breaks="MRG-027")
def compaction_merges_newest_first(patch: Patch) -> None:
    """Merges the log files of a slice from the newest on in a compaction, and from the oldest on in queries."""
    patch.edit(
        Compactor.merge,
        "reader.read(file_slice, ",
        "reader.read(type(file_slice)(**vars(file_slice) | {'log_files': file_slice.log_files[::-1]}), ",
    )


@mutant(breaks="MRG-028")
def late_partial_updates_win(patch: Patch) -> None:
    """Puts the columns of a late partial update over the stored ones."""
    patch.edit(partial_merge._fold, "if merge(older.version, entry) is older.version:", "if False:")


@mutant(breaks="MRG-028")
def ordering_texts_compared_by_utf_16(patch: Patch) -> None:
    """Compares texts by UTF-16 units, in which surrogates sort before some lower code points."""
    patch.edit(ordering._sort_key, "value.encode()", 'value.encode("utf-16-be")')


@mutant(breaks="MRG-028")
def nan_ordering_value_as_zero(patch: Patch) -> None:
    """Takes NaN for the number 0."""
    patch.edit(ordering._sort_key, "nan = math.isnan(value)", "nan, value = False, 0.0 if math.isnan(value) else value")


@mutant(breaks="MRG-028")
def many_rows_older_version_wins_ties(patch: Patch) -> None:
    """Keeps the base row where a change has an equal ordering value, among many."""
    patch.edit(merge_columns._replaces_base, "rank[winner[found]] >= base_rank[rows]", "rank[winner[found]] > base_rank[rows]")


@mutant(breaks="MRG-028")
def many_rows_first_of_ties_wins(patch: Patch) -> None:
    """Takes the first of changes with equal ordering values, among many."""
    patch.edit(merge_columns._greatest, 'np.argsort(rank[entries], kind="stable")', "np.lexsort((-entries, rank[entries]))")


def _decide(patch: Patch, cell: Cell) -> None:
    """Replace a cell of the decision table of event-time merging."""
    patch.item(merge.DECISIONS["EVENT_TIME_ORDERING"][cell.older, cell.newer], cell.order, cell)


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


@mutant(breaks="MRG-029")
def many_rows_merged_by_arrival(patch: Patch) -> None:
    """Lets the last of many changes win, whatever the ordering values."""
    patch.edit(merge_columns._greatest, 'np.argsort(rank[entries], kind="stable")', "np.arange(len(entries))")


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
    """Lets a late row come back after a delete with a higher ordering value."""
    _late_one_stays(patch, Kind.DELETE, Kind.ROW)
