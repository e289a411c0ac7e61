"""Mutants of properties that every merge has: same key, same result, any order of merges."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.query import file_groups
from hudi_reference.records import deletes, merge
from hudi_reference.records.changes import Changes
from hudi_reference.records.mergers import merger, sample_mergers
from hudi_reference.records.merging import merge_slice
from hudi_reference.write import write
from hudi_reference.write.locate import BucketLookup


@mutant(breaks="MRG-001")
def merge_mode_ignored(patch: Patch) -> None:
    """Ignores the merge mode of the table, and keeps the last version of each record."""
    patch.edit(merge.merger_of, "DECISIONS[mode]", 'DECISIONS["COMMIT_TIME_ORDERING"]')


@mutant(breaks="MRG-001")
def delete_marker_field_ignored(patch: Patch) -> None:
    """Returns rows that the delete marker of the table marks as deleted."""
    patch.edit(deletes._flags, "marker is not None and", "marker is None and")


@mutant(breaks="MRG-001")
def operation_field_ignored(patch: Patch) -> None:
    """Returns rows whose operation is a delete."""
    patch.edit(deletes._flags, "if OPERATION in names:", "if not names:")


@mutant(breaks="MRG-002")
def second_input_always_wins(patch: Patch) -> None:
    """Prefers the second input for lower ordering values too."""
    patch.edit(merger.RecordContext.is_late, "is_lower(newer.ordering, older.ordering)", "False")


@mutant(breaks=("MRG-003", "MRG-030"))
def merge_result_without_ordering_value(patch: Patch) -> None:
    """Drops the ordering value of the version that is kept, so that the next merge has nothing to compare."""
    patch.edit(
        merge.merger_of,
        "return newer if cell.result is Result.NEWER else older",
        "return Version(newer.kind, None, newer.position) if cell.result is Result.NEWER else older",
    )


@mutant(breaks=("MRG-003", "MRG-008", "MRG-014"))
def logs_merged_before_base_row(patch: Patch) -> None:
    """Merges all logs before the base row: a base row that was deleted in between reappears, as with Apache Hudi 1.2."""
    patch.edit(
        merge_slice.select,
        "fold([stored, *versions[key]], merge)",
        "merge(stored, fold(versions[key], merge) or stored)",
    )


@mutant(breaks="MRG-004")
def merge_not_idempotent(patch: Patch) -> None:
    """Adds numbers up with each merge."""
    patch.edit(sample_mergers._greatest, "and mine < theirs:\n            cells[name] = cell",
             "and isinstance(mine, int):\n            cells[name] = mine + theirs")  # fmt: skip


@mutant(breaks="MRG-005")
def small_inputs_inserted_without_lookup(patch: Patch) -> None:
    """Appends inputs of a few rows without looking for stored records of their keys."""
    patch.edit(
        write._locate,
        "operation in _WITHOUT_LOOKUP",
        'operation != "DELETE" and incoming.rows.num_rows < 3',
    )


@mutant(breaks="MRG-005")
def keys_compared_without_case(patch: Patch) -> None:
    """Takes keys that differ in case only for one record."""
    patch.edit(Changes.identities, "batch.column(KEY).to_pylist()", "[key.lower() for key in batch.column(KEY).to_pylist()]")


@mutant(breaks="MRG-006")
def new_rows_written_twice(patch: Patch) -> None:
    """Also sends a new key to a second group."""
    patch.edit(
        write._write_once,
        "writer.add(partition, new, in_logs=new_keys_in_logs)",
        "[writer.add(partition, new) for _ in (0, 1)]",
    )


@mutant(breaks="MRG-007")
def bucket_depends_on_input_size(patch: Patch) -> None:
    """Computes the bucket of a key from its hash and the number of rows of the input."""
    patch.edit(BucketLookup.locate, "for key in keys]", "for key in [f'{key}{len(keys)}' for key in keys]]")


@mutant(breaks="MRG-009")
def log_files_merged_newest_first(patch: Patch) -> None:
    """Merges the newest log file of a slice first in every mode, since event times do not depend on the order."""
    patch.edit(
        file_groups._slices, "sorted(logs, key=lambda log: log[0])", "sorted(logs, key=lambda log: log[0], reverse=True)"
    )
