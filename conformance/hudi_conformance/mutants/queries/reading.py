"""Mutants in reading: history, groups, partitions, names, schemas and meta columns."""

from dataclasses import replace

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files.log import content
from hudi_reference.layout.names import LogFileName
from hudi_reference.query import file_groups, table
from hudi_reference.query.log_scanner import LogScanner
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.query.table import Table
from hudi_reference.timeline import active
from hudi_reference.timeline.history import history, manifest
from hudi_reference.timeline.instants import instant, states


@mutant(breaks="RDR-009")
def archived_writes_completed_when_they_began(patch: Patch) -> None:
    """Takes the requested time of an archived write for its completion time."""
    patch.edit(
        active.Timeline._completion_of,
        "return self.archived.completion_of(requested, everywhere=True) or requested",
        "return requested",
    )


@mutant(breaks="LSM-018")
def history_without_completion_times(patch: Patch) -> None:
    """Leaves the completion times of the history out."""
    patch.edit(history.instants_of, "_COMPLETED, c)", "_COMPLETED, None)")


@mutant(breaks="LSM-017")
def history_takes_completion_times_for_begin_times(patch: Patch) -> None:
    """Takes the completion time of an archived action for its requested time."""
    patch.edit(history.instants_of, "Instant(r, a", "Instant(c, a")


@mutant(breaks="LSM-019")
def history_of_commits_only(patch: Patch) -> None:
    """Takes every archived action for a commit."""
    patch.edit(history.instants_of, "Instant(r, a", 'Instant(r, "commit"')


@mutant(breaks="LSM-005")
def the_greatest_manifest_counts(patch: Patch) -> None:
    """Reads the manifest with the greatest number, whatever the version file says."""
    patch.edit(manifest.current_version, "storage.get(path)", "storage.get(path + 'none')")


@mutant(breaks="LSM-005")
def manifest_numbers_compared_as_text(patch: Patch) -> None:
    """Takes manifest 9 for later than manifest 10 where there is no version file."""
    patch.edit(manifest._greatest_manifest, "default=0)", "default=0, key=str)")


@mutant(breaks="LSM-007")
def the_version_is_one_digit(patch: Patch) -> None:
    """Reads only the first digit of the version file."""
    patch.edit(manifest.current_version, "return int(text)", "return int(text[0])")


@mutant(breaks="LSM-010")
def only_the_first_file_of_a_manifest(patch: Patch) -> None:
    """Reads the first of the files that a manifest lists."""
    patch.edit(manifest.read_manifest, "for entry in listed)", "for entry in listed[:1])")


@mutant(breaks="LSM-001")
def the_history_of_older_layouts(patch: Patch) -> None:
    """Looks for the history in .hoodie/archived."""
    patch.edit(active.load_timeline, "properties.history_folder", "'.hoodie/archived'")


@mutant(breaks="LAY-009")
def partitions_of_one_depth(patch: Patch) -> None:
    """Expects one folder for each partition field and skips deeper ones."""
    patch.edit(
        file_groups.load_file_groups,
        "if won(path):",
        "if won(path) and len(partition.split('/')) <= max(1, len(properties.partition_fields)):",
    )


@mutant(breaks="LAY-020")
def groups_by_instant(patch: Patch) -> None:
    """Groups data files by the instant in their names."""
    patch.edit(file_groups.load_file_groups, "(partition, parsed.file_id), []", "(partition, parsed.instant), []")


@mutant(breaks="LAY-020")
def one_group_for_each_partition(patch: Patch) -> None:
    """Takes all files of a partition for one group."""
    patch.edit(file_groups.load_file_groups, "(partition, parsed.file_id), []", '(partition, ""), []')


@mutant(breaks="LAY-023")
def oldest_slice_first(patch: Patch) -> None:
    """Takes the oldest slice of a group for the newest."""
    patch.edit(file_groups._slices, "sorted(slices, reverse=True)", "sorted(slices)")


@mutant(breaks=("TL-039", "TL-010"))
def only_the_first_replaced_group(patch: Patch) -> None:
    """Hides only one of the groups of a partition that a replacecommit names."""
    patch.edit(file_groups._replaced_groups, "for file_id in file_ids\n", "for file_id in file_ids[:1]\n")


@mutant(breaks="RDR-010")
def only_replaced_when_nothing_else_is_written(patch: Patch) -> None:
    """Hides replaced groups only if the replacement is the newest action."""
    patch.edit(
        file_groups._replaced_groups,
        "for instant, commit in commits.items()",
        "for instant, commit in list(commits.items())[-1:]",
    )


@mutant(breaks="TT-001")
def instants_are_calendar_times(patch: Patch) -> None:
    """Ignores instants that are no times of the calendar."""
    patch.edit(
        instant.instant_name_parts,
        "    action, state = known\n",
        "    if requested[12:14] > '59' or requested[10:12] > '59':\n        return None\n    action, state = known\n",
    )


@mutant(breaks="TYP-008")
def time_travel_passes_pending_writes(patch: Patch) -> None:
    """Answers time travel past a write that is still pending."""
    patch.edit(table._as_of, 'instant.action in ("commit", "deltacommit", "replacecommit")', "False")


@mutant(breaks="TYP-008")
def time_travel_needs_a_table_at_rest(patch: Patch) -> None:
    """Refuses time travel whenever some write is pending, also a later one."""
    patch.edit(table._as_of, "for instant in before.pending:", "for instant in timeline.pending:")


@mutant(breaks="TYP-008")
def time_travel_sees_later_blocks(patch: Patch) -> None:
    """Counts the later blocks of a log file that was there at the time asked for."""
    patch.edit(
        LogScanner._is_applied,
        "block.instant > self.timeline.read_time or ",
        "",
    )


@mutant(breaks="TL-052")
def the_last_completion_counts(patch: Patch) -> None:
    """Takes the last of several completed files of one action."""
    patch.edit(active.build_timeline, "known[2] <= parts[2]", "known[2] < parts[2]")


@mutant(breaks="TL-037")
def foreign_names_are_an_error(patch: Patch) -> None:
    """Fails on a file of the timeline folder that is no instant."""
    patch.edit(active.build_timeline, "        if parts is None:\n            continue", "        parts[0]")


@mutant(breaks="TL-043")
def clusterings_complete_under_their_own_name(patch: Patch) -> None:
    """Expects a finished clustering under the word clustering."""
    patch.set(active, "PENDING", {})
    patch.item(states.ACTIONS, "clustering", replace(states.ACTIONS["clustering"], completes_as="clustering"))


@mutant(breaks="TL-044")
def compactions_complete_under_their_own_name(patch: Patch) -> None:
    """Expects a finished compaction under the word compaction."""
    patch.set(active, "PENDING", {})
    patch.item(states.ACTIONS, "compaction", replace(states.ACTIONS["compaction"], completes_as="compaction"))


@mutant(breaks="TL-036")
def missing_files_are_passed_over(patch: Patch) -> None:
    """Leaves out what a completed action wrote if it is not in storage."""
    patch.edit(file_groups.load_file_groups, "sorted(listed | committed)", "sorted(listed)")


@mutant(breaks="RDR-009")
def only_files_that_the_active_timeline_names(patch: Patch) -> None:
    """Reads the files that commits of the active timeline name, and no others."""
    patch.edit(file_groups.load_file_groups, "sorted(listed | committed)", "sorted(committed)")


@mutant(breaks="LF-038")
def blocks_decoded_with_the_newest_schema(patch: Patch) -> None:
    """Decodes every block of a slice with the schema of the last one."""
    patch.edit(
        SliceReader._batches,
        "decode_rows(block, self._stored_names(fields, block.instant))",
        "decode_rows(type(block)(block.kind, [b for b in blocks if b.kind == block.kind][-1].header,"
        " block.content, block.path, block.offset, block.size))",
    )


@mutant(breaks="BLK-020")
def the_last_record_of_a_block_is_lost(patch: Patch) -> None:
    """Stops before the last record of an Avro block."""
    patch.edit(
        content._framed,
        "yield data[position : position + length]",
        "yield from [data[position : position + length]] * (_ + 1 < max(count, 2))",
    )


@mutant(breaks="LF-005")
def versions_before_instants(patch: Patch) -> None:
    """Orders log files by version first and by instant second."""
    patch.edit(LogFileName.merge_order, "(self.instant, self.version, ", "(self.version, self.instant, ")


@mutant(breaks="RDR-013")
def the_newest_commit_is_missed(patch: Patch) -> None:
    """Leaves the newest instant of the timeline out."""
    patch.edit(
        file_groups._slices,
        "if parsed.instant > last:",
        "if parsed.instant > last or parsed.instant >= timeline.commits[-1].requested:",
    )


@mutant(breaks="RDR-016")
def only_the_last_log_counts(patch: Patch) -> None:
    """Merges only the newest log file of a slice."""
    patch.edit(LogScanner.blocks, "for name in file_slice.log_files:", "for name in file_slice.log_files[-1:]:")


@mutant(breaks="TYP-007")
def one_partition_twice(patch: Patch) -> None:
    """Reads the first slice twice."""
    patch.edit(
        Table._read,
        "self._in_parallel(plan.read, plan.slices)",
        "self._in_parallel(plan.read, [*plan.slices, *plan.slices[:1]])",
    )
