"""Mutants in what log blocks mean inside a file slice: partial updates, positions, attempts, names, meta columns."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files.log import content, positions, task_attempts
from hudi_reference.files.log.writer import BlockWriter
from hudi_reference.layout.names import BaseFileName
from hudi_reference.query import file_groups, slice_reader
from hudi_reference.query.log_scanner import LogScanner
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.records.merging import partial_merge
from hudi_reference.write import locate, orphan_files
from hudi_reference.write.writer import Writer


@mutant(breaks="LF-046")
def columns_that_did_not_change_become_null(patch: Patch) -> None:
    """Takes the rows of a partial block for whole ones, and what they lack for null."""
    patch.edit(SliceReader._changes, "is not None}", "is not None and False}")


@mutant(breaks=("LF-045", "LF-046"))
def any_flag_makes_a_block_partial(patch: Patch) -> None:
    """Looks whether the header of partial blocks is there and not what it says."""
    patch.edit(slice_reader.partial_columns, '.lower() != "true"', ' == ""')


@mutant(breaks="LF-046")
def partial_updates_are_never_late(patch: Patch) -> None:
    """Applies a partial update in event-time mode whatever its ordering value."""
    patch.edit(partial_merge.merge_partial_blocks, "merging.standard_mode", '"COMMIT_TIME_ORDERING"')


@mutant(breaks="LF-046")
def a_partial_update_brings_back_what_was_deleted(patch: Patch) -> None:
    """Keeps the columns of a deleted row for the next partial update of its key."""
    patch.edit(partial_merge._fold, "if entry.kind is Kind.ROW else {}", "if entry.kind is Kind.ROW else older.rows")


@mutant(breaks="LF-043")
def positions_of_another_base_file_are_used(patch: Patch) -> None:
    """Uses positions without a look at the base file that they are of."""
    patch.edit(positions.usable_positions, "!= base_instant:", "is None:")


@mutant(breaks="LF-043")
def positions_without_their_base_file_are_used(patch: Patch) -> None:
    """Uses positions that do not say of which base file they are."""
    patch.edit(positions.usable_positions, "!= base_instant:", "not in (None, base_instant):")


@mutant(breaks="LF-043")
def positions_are_not_counted(patch: Patch) -> None:
    """Uses positions though there are more or fewer of them than records: each record gets the next one, as far as they go."""
    patch.edit(
        positions.usable_positions,
        "    if len(positions) != records or (records and positions.max() >= base_rows):\n        return None\n",
        "    return ([place for place in positions if place < base_rows] + [0] * records)[:records]\n",
    )


@mutant(breaks="LF-042")
def positions_are_counted_from_one(patch: Patch) -> None:
    """Writes the number of a row as people count, and not from 0."""
    patch.edit(positions.position_headers, "encode_positions(positions)", "encode_positions(place + 1 for place in positions)")


@mutant(breaks="LF-041")
def positions_as_a_list_of_numbers(patch: Patch) -> None:
    """Writes positions as a text of numbers with commas."""
    patch.edit(positions.position_headers, "encode_positions(positions)", '",".join(map(str, positions))')


@mutant(breaks="LF-044")
def every_attempt_is_applied(patch: Patch) -> None:
    """Applies the blocks of every attempt of a task."""
    patch.edit(LogScanner.blocks, "of_one_attempt(queue)", "queue")


@mutant(breaks="LF-044")
def the_newest_attempt_counts(patch: Patch) -> None:
    """Takes the newest attempt also where it was cut short."""
    patch.edit(task_attempts.of_one_attempt, "(found[attempt], attempt)", "attempt")


@mutant(breaks=("LF-006", "TL-005"))
def logs_of_lost_attempts_are_read(patch: Patch) -> None:
    """Reads the further log files of an attempt that lost, if only their version is their own."""
    patch.edit(LogScanner._is_applied, " or self._is_of_failed_attempt(block)", "")


@mutant(breaks=("BF-005", "BF-006", "LF-006"))
def one_token_for_all_attempts(patch: Patch) -> None:
    """Gives the files of each attempt of a task the same name."""
    patch.edit(Writer.token, "{self.number}-{self.attempt}", "{self.number}-0-0")


@mutant(breaks="BF-007")
def the_greatest_token_is_kept(patch: Patch) -> None:
    """Removes the committed file where an attempt that lost has a greater token."""
    patch.edit(
        orphan_files.leftover_files,
        "files_left_behind(storage, lost(groups.written_files))",
        "tuple(sorted(min(groups.written_files[parse_data_file_name(split_path(path)[1]).instant], default=path)"
        " if '_99999-' in path else path for path in files_left_behind(storage, lost(groups.written_files))))",
    )


@mutant(breaks="LF-007")
def tokens_of_different_actions_are_compared(patch: Patch) -> None:
    """Takes log files of earlier actions for left over, because a later one of the group has another token."""
    patch.edit(
        orphan_files.lost,
        "path not in named[instant]",
        "(path not in named[instant] or ('.log.' in path and instant != max(named)))",
    )


@mutant(breaks="LF-002")
def names_with_a_dot_are_hidden(patch: Patch) -> None:
    """Passes over files whose names begin with a dot, as those of log files do."""
    patch.edit(file_groups.load_file_groups, "if parsed is None or (", 'if parsed is None or name.startswith(".") or (')


@mutant(breaks="LF-035")
def blocks_name_their_base_file_s_instant(patch: Patch) -> None:
    """Writes the instant of the base file into blocks that change it."""
    patch.edit(Writer._blocks, "BlockWriter(self.commit.requested,", "BlockWriter(base_instant,")


@mutant(breaks=("LF-039", "BLK-003"))
def every_command_is_a_rollback(patch: Patch) -> None:
    """Rolls back whatever the command says."""
    patch.edit(content.rollback_target, 'if command != "0":', "if False:")


@mutant(breaks="BLK-011")
def deletes_stand_before_rows(patch: Patch) -> None:
    """Writes the delete block of a batch before its data blocks."""
    patch.edit(Writer.append_log_file, "file_slice.base_file_instant, places))", "file_slice.base_file_instant, places))[::-1]")


@mutant(breaks=("BLK-013", "LAY-021"))
def keys_mean_the_same_record_in_every_partition(patch: Patch) -> None:
    """Sends the change of a key to the file groups of all partitions that hold the key."""
    patch.edit(locate.locate, "slices.get(partition, ()):", "view.groups.latest_slices:")


@mutant(breaks=("BF-001", "LAY-020"))
def groups_are_only_in_the_metadata(patch: Patch) -> None:
    """Gives a base file a name of its own and tells its file group only in the metadata."""
    patch.edit(
        Writer._add_base_file, "name.file_id, partition, join_path", "self.commit.table.ids.file_id(), partition, join_path"
    )


@mutant(breaks="BF-003")
def base_file_names_end_in_their_token(patch: Patch) -> None:
    """Writes the parts of a base file's name in another order."""
    patch.edit(
        BaseFileName.__str__,
        "{self.file_id}_{self.write_token}_{self.instant}",
        "{self.file_id}_{self.instant}_{self.write_token}",
    )


@mutant(breaks=("BF-010", "BF-011"))
def every_base_file_is_parquet(patch: Patch) -> None:
    """Reads base files in the table's format, whatever they are called."""
    from hudi_reference.files import base_file

    patch.item(base_file._READ, "orc", base_file._READ["parquet"])


@mutant(breaks="META-001")
def logged_rows_without_commit_time_column(patch: Patch) -> None:
    """Leaves the meta column of the commit time out of the schema of log blocks."""
    patch.edit(
        BlockWriter._header,
        'json.dumps(self.schema, separators=(",", ":"))',
        'json.dumps(self.schema, separators=(",", ":")).replace("_hoodie_commit_time", "commit_time")',
    )


@mutant(breaks="META-002")
def file_names_are_made_up_when_read(patch: Patch) -> None:
    """Returns the name of the file that a row was found in, and not the one that is stored."""
    patch.edit(
        SliceReader._batches,
        "yield self.keyed(conform(rows, fields, block.path))",
        "rows = self.keyed(conform(rows, fields, block.path))\n            "
        "yield rows if '_hoodie_file_name' not in fields.names else rows.set_column("
        "fields.names.index('_hoodie_file_name'), fields.field('_hoodie_file_name'), pa.array([block.path] * len(rows)))",
    )


@mutant(breaks="META-006")
def carried_rows_get_new_sequence_numbers(patch: Patch) -> None:
    """Numbers the rows of a rewritten base file again."""
    patch.edit(
        Writer.rewrite_base_file,
        "rows = in_file(merged, str(name))",
        "rows = in_file(merged, str(name))\n    "
        "numbers = pa.array([f'{self.commit.requested}_0_{number}' for number in range(len(rows))])\n    "
        "rows = rows.set_column(1, rows.schema.field(1), numbers)",
    )


@mutant(breaks="META-008")
def keys_are_made_from_the_columns(patch: Patch) -> None:
    """Makes the keys of stored rows again from their key column."""
    patch.edit(
        SliceReader.keyed,
        "if not self.key_fields:\n        return rows\n",
        'if not self.key_fields and "id" not in rows.column_names:\n        return rows\n'
        '    if not self.key_fields:\n        return rows.set_column(rows.column_names.index(KEY), KEY, rows.column("id"))\n',
    )


@mutant(breaks="BLK-004")
def a_rollback_leaves_deletes(patch: Patch) -> None:
    """Undoes the rows of a failed action, and not what it deleted."""
    patch.edit(LogScanner.blocks, "queued.instant != target]", "queued.instant != target or queued.kind is BlockType.DELETE]")


@mutant(breaks="BLK-004")
def a_rollback_undoes_what_comes_after(patch: Patch) -> None:
    """Leaves out all blocks of an instant that some command names, also those behind the command."""
    patch.edit(
        LogScanner.blocks,
        "elif self._is_applied(block):",
        "elif self._is_applied(block) and block.instant not in {rollback_target(b) for n in file_slice.log_files\n"
        "                    for b in self._file_blocks(file_slice.path(n)) if b.kind is BlockType.COMMAND}:",
    )


@mutant(breaks="BLK-004")
def a_rollback_leaves_its_own_file(patch: Patch) -> None:
    """Undoes blocks of earlier files only."""
    patch.edit(LogScanner.blocks, "queued.instant != target]", "queued.instant != target or queued.path == block.path]")
