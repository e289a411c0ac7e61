"""Mutants in the ways that are taken for many rows: merging and decoding by columns."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files.log.fast import decode_columns as blocks
from hudi_reference.records.merging.fast import merge_columns


@mutant(breaks="MRG-028")
def many_rows_older_version_wins_ties(patch: Patch) -> None:
    """Keeps the base row where a change has an equal ordering value, among many."""
    patch.edit(merge_columns._beats, "rank[winner[found]] >= base_rank[rows]", "rank[winner[found]] > base_rank[rows]")


@mutant(breaks="MRG-029")
def many_rows_by_arrival(patch: Patch) -> None:
    """Lets the last of many changes win, whatever the ordering values."""
    patch.edit(merge_columns._greatest, 'np.argsort(rank[entries], kind="stable")', "np.arange(len(entries))")


@mutant(breaks="MRG-028")
def many_rows_first_of_equals(patch: Patch) -> None:
    """Takes the first of changes with equal ordering values, among many."""
    patch.edit(merge_columns._greatest, 'np.argsort(rank[entries], kind="stable")', "np.lexsort((-entries, rank[entries]))")


@mutant(breaks=("BLK-012", "BLK-009"))
def many_rows_deletes_erase_nothing(patch: Patch) -> None:
    """Forgets that a delete by key erases what came before, among many changes."""
    patch.edit(merge_columns._after_last_key_delete, "return np.arange(len(code)) >= last[code], last >= 0",
             "return np.arange(len(code)) >= last[code], last >= len(code)")  # fmt: skip


@mutant(breaks=("BLK-009", "MRG-029"))
def many_rows_deletes_find_something(patch: Patch) -> None:
    """Lets a flagged delete behind a delete by key keep later rows away, among many changes."""
    patch.edit(
        merge_columns.select_by_columns, "alive &= ~_finds_nothing(code, positions >= 0, alive & ~key_deletes, erased)", "pass"
    )


@mutant(breaks="MRG-025")
def many_rows_commit_time_by_ordering(patch: Patch) -> None:
    """Goes by ordering values in commit-time mode, among many changes: the base row stays."""
    patch.edit(
        merge_columns._beats, "    if by_ordering:\n", "    if not by_ordering:\n        wins[:] = False\n    if by_ordering:\n"
    )


@mutant(breaks="BLK-020")
def many_rows_decoded_in_part(patch: Patch) -> None:
    """Leaves out the last record of a long block."""
    patch.edit(blocks.decode_avro_columns, "return rows", "return rows.slice(0, count - 1)")


@mutant(breaks="BLK-012")
def many_rows_zero_is_no_ordering_value(patch: Patch) -> None:
    """Takes a delete with the ordering value 0 for a delete by key, among many changes."""
    patch.edit(merge_columns._key_deletes, "delete.ordering is None", "not delete.ordering")


@mutant(breaks="MRG-019")
def many_rows_null_below_negative_fractions(patch: Patch) -> None:
    """Ranks fractions as it ranks texts, among many changes: a null comes before all of them."""
    patch.edit(merge_columns._ranks, "pt.is_integer(kind) or pt.is_string(kind))", "not pt.is_decimal(kind))")
