"""Mutants of delete blocks."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files.log import content, kryo_deletes
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.records import changes, merge, merge_tables
from hudi_reference.records.merge_tables import Kind, decisions_of
from hudi_reference.records.merging.fast import merge_columns
from hudi_reference.write import locate
from hudi_reference.write.writer import Writer


@mutant(breaks=("BLK-006", "BLK-009"))
def delete_blocks_skipped(patch: Patch) -> None:
    """Skips delete blocks."""
    patch.edit(SliceReader._batches, "yield decode_deletes(block)", "yield []")


@mutant(breaks="BLK-007")
def delete_block_length_before_version(patch: Patch) -> None:
    """Reads the length of a delete block's content before its version."""
    patch.edit(content.stored_deletes, "version, length = _two_ints(block)", "length, version = _two_ints(block)")


@mutant(breaks="BLK-008")
def delete_block_length_not_compared(patch: Patch) -> None:
    """Takes all bytes after the length of the deletes for deletes, whatever the length is."""
    patch.edit(content.stored_deletes, "length != len(body)", "False")


@mutant(breaks=("BLK-009", "BLK-012"))
def delete_ordering_value_ignored(patch: Patch) -> None:
    """Takes every delete for one without ordering value."""
    patch.edit(changes.version_of, "if delete.ordering is None else", "if True else")


@mutant(breaks=("BLK-009", "MRG-029"))
def many_rows_delete_after_delete_by_key_applies(patch: Patch) -> None:
    """Lets a flagged delete after a delete by key suppress later rows, among many changes."""
    patch.edit(
        merge_columns.select_by_columns,
        "is_candidate &= ~_deletes_without_row(code, positions >= 0, is_candidate & ~key_deletes, erased)",
        "pass",
    )


@mutant(breaks="BLK-010")
def old_delete_blocks_read_as_avro(patch: Patch) -> None:
    """Decodes the deletes of the old content versions as Avro."""
    patch.item(content._DELETE_FORMS, 1, content._avro_deletes)
    patch.item(content._DELETE_FORMS, 2, content._avro_deletes)


@mutant(breaks="BLK-010")
def kryo_references_resolved_wrongly(patch: Patch) -> None:
    """Resolves every reference to an earlier object as a reference to the previous object."""
    patch.edit(kryo_deletes._Input.object, "return self.objects[marker - 2]", "return self.objects[marker - 3]")


@mutant(breaks="BLK-011")
def delete_block_written_first(patch: Patch) -> None:
    """Writes the delete block of a batch before its data blocks."""
    patch.edit(Writer.append_log_file, "file_slice.base_file_instant, places))", "file_slice.base_file_instant, places))[::-1]")


@mutant(breaks=("BLK-012", "BLK-009"))
def many_rows_delete_by_key_forgotten(patch: Patch) -> None:
    """Drops the effect of a delete by key on earlier versions, among many changes."""
    patch.edit(merge_columns._after_last_key_delete, "return np.arange(len(code)) >= last[code], last >= 0",
             "return np.arange(len(code)) >= last[code], last >= len(code)")  # fmt: skip


@mutant(breaks="BLK-012")
def many_rows_zero_ordering_is_delete_by_key(patch: Patch) -> None:
    """Takes a delete with the ordering value 0 for a delete by key, among many changes."""
    patch.edit(merge_columns._key_deletes, "delete.ordering is None", "not delete.ordering")


@mutant(breaks=("BLK-012", "MRG-014"))
def delete_by_key_ordering_compared(patch: Patch) -> None:
    """Compares the ordering value of a delete that has none as 0."""
    by_ordering = decisions_of(merge_tables.by_ordering(Kind.ROW, Kind.KEY_DELETE))
    patch.item(merge.DECISIONS["EVENT_TIME_ORDERING"], (Kind.ROW, Kind.KEY_DELETE), by_ordering[Kind.ROW, Kind.KEY_DELETE])


@mutant(breaks=("BLK-013", "LAY-021"))
def keys_unique_across_partitions(patch: Patch) -> None:
    """Sends the change of a key to the file groups of all partitions that contain the key."""
    patch.edit(locate.locate, "slices.get(partition, ()):", "view.groups.latest_slices:")
