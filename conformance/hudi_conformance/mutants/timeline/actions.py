"""Mutants of actions and of the metadata and plans in their files."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.query import file_groups
from hudi_reference.services.clean import clean
from hudi_reference.services.clustering import clustering
from hudi_reference.services.clustering.order import ordered
from hudi_reference.timeline.contents import metadata
from hudi_reference.timeline.contents.metadata import WriteStat
from hudi_reference.timeline.instants import instant, states
from hudi_reference.timeline.instants.states import ACTIONS, Content, State
from hudi_reference.timeline.transitions import Transitions
from hudi_reference.write import commit
from hudi_reference.write.commit import Commit


@mutant(breaks="TL-001")
def clean_without_instant(patch: Patch) -> None:
    """A clean deletes files without an instant on the timeline."""
    patch.edit(
        clean.clean,
        "requested = schedule_clean(table, options)",
        "requested = [table.storage.delete(path) for path in planned_files(plan_clean(table, options) or"
        " {'filePathsToBeDeletedPerPartition': {}})] and None",
    )


@mutant(breaks="TL-002")
def commit_metadata_as_json(patch: Patch) -> None:
    """Stores completion metadata as JSON text, as before version 8."""
    patch.edit(
        metadata.write_commit_metadata,
        "return write_record(COMMIT_METADATA_SCHEMA if replaced is None else REPLACE_METADATA_SCHEMA, record, sync_marker)",
        "return json.dumps(record).encode()",
    )


@mutant(breaks="TL-003")
def state_file_written_in_place(patch: Patch) -> None:
    """Opens the file of a state under its final name and writes the content into it."""
    patch.edit(
        Transitions._create,
        "self.storage.create(path, content)",
        "self.storage.create(path, content[: len(content) // 2]), self.storage.put(path, content)",
    )


@mutant(breaks=("TL-004", "TL-032"))
def completion_time_is_begin_time(patch: Patch) -> None:
    """Completes an action at the time at which it was requested."""
    patch.edit(
        Transitions.complete,
        "State.COMPLETED, time)",
        "State.COMPLETED, str(int(instant.requested) + 1))",
    )


@mutant(breaks=("TL-005", "TL-007"))
def metadata_of_first_file_only(patch: Patch) -> None:
    """Records only the first file in the completion metadata."""
    patch.edit(Commit.complete, "self.operation, self.stats, schema", "self.operation, self.stats[:1], schema")


@mutant(breaks="TL-005")
def file_sizes_missing_in_metadata(patch: Patch) -> None:
    """Writes 0 as the size of every file."""
    patch.edit(WriteStat.to_record, '"fileSizeInBytes": self.size', '"fileSizeInBytes": 0')


@mutant(breaks=("TL-006", "TL-038"))
def copy_on_write_writes_deltacommits(patch: Patch) -> None:
    """Records a write to a copy-on-write table as a deltacommit."""
    patch.edit(commit._action_of, '"deltacommit" if table.properties.is_merge_on_read else "commit"', '"deltacommit"')


@mutant(breaks=("TL-007", "TL-009"))
def commit_metadata_as_replace_metadata(patch: Patch) -> None:
    """Stores every completion as replace metadata."""
    patch.set(metadata, "COMMIT_METADATA_SCHEMA", {**metadata.COMMIT_METADATA_SCHEMA, "name": "HoodieReplaceCommitMetadata"})


@mutant(breaks="TL-008")
def merge_on_read_writes_commits(patch: Patch) -> None:
    """Records writes to a merge-on-read table as commits."""
    patch.edit(commit._action_of, '"deltacommit" if table.properties.is_merge_on_read else "commit"', '"commit"')


def without_nulls(rows: pa.Table, columns: Sequence[str], layout: str) -> pa.Table:
    """The rows that have a value in each column, sorted."""
    for column in columns:
        rows = rows.filter(pc.is_valid(rows.column(column)))
    return ordered(rows, columns, layout)


@mutant(breaks="TL-011")
def clustering_drops_null_sort_values(patch: Patch) -> None:
    """An executor drops rows that have a null in a sort column."""
    patch.set(clustering, "ordered", without_nulls)


@mutant(breaks="TL-011")
def first_replaced_group_of_partition_ignored(patch: Patch) -> None:
    """Ignores the first replaced file group of a partition, so that a clustering doubles its rows."""
    patch.edit(file_groups._replaced_groups, "for file_id in file_ids", "for file_id in file_ids[1:]")


def holds(patch: Patch, action: str, state: State, content: Content) -> None:
    """Change the expected content of the file of an action in one state."""
    known = ACTIONS[action]
    patch.item(states.ACTIONS, action, replace(known, contents={**known.contents, state: content}))


@mutant(breaks="TL-012")
def replacecommit_with_commit_metadata(patch: Patch) -> None:
    """Takes a replacecommit for a commit, whose metadata names no replaced groups."""
    holds(patch, "replacecommit", State.COMPLETED, Content("HoodieCommitMetadata"))


@mutant(breaks="TL-012")
def replacecommit_requested_with_commit_metadata(patch: Patch) -> None:
    """Takes the metadata that a replacement writes for its plan."""
    holds(patch, "replacecommit", State.REQUESTED, Content("HoodieCommitMetadata", may_be_empty=True))


@mutant(breaks="TL-012")
def overwrite_request_empty(patch: Patch) -> None:
    """Leaves the requested file of an overwrite empty."""
    patch.edit(commit._action_of, "write_no_plan(table.ids.sync_marker())", 'b""')


@mutant(breaks="TL-013")
def clean_deletes_nothing(patch: Patch) -> None:
    """A clean reports its files as deleted and leaves them where they are."""
    patch.edit(clean.CleanExecution.work, "table.storage.delete(path)", "pass")


@mutant(breaks="TL-013")
def clean_report_incomplete(patch: Patch) -> None:
    """A clean reports one file less than it deletes."""
    patch.edit(clean.CleanExecution.work, "_record(self.requested, plan, files, ", "_record(self.requested, plan, files[1:], ")


@mutant(breaks="TL-014")
def clean_planned_when_executed(patch: Patch) -> None:
    """A clean makes its plan when it is executed, so that the requested file lists nothing."""
    patch.edit(
        clean.schedule_clean,
        'publish("clean", plan)',
        'publish("clean", {**plan, "filePathsToBeDeletedPerPartition": {}})',
    )
    patch.edit(
        clean.CleanExecution.work,
        "planned_files(plan)",
        'planned_files(plan_clean(table, {"hoodie.clean.commits.retained": "1"}) or plan)',
    )


@mutant(breaks="TL-015")
def compaction_plan_of_one_operation(patch: Patch) -> None:
    """Expects the plan of a compaction as one HoodieCompactionOperation."""
    holds(patch, "compaction", State.REQUESTED, Content("HoodieCompactionOperation"))


def stands_for(patch: Patch, extension: str, action: str) -> None:
    """Assign the extension of a file to another action."""
    known: Mapping[str, tuple[str, State]] = states.EXTENSIONS
    patch.set(instant, "EXTENSIONS", {**known, extension: (action, known[extension][1])})


@mutant(breaks="TL-016")
def log_compaction_read_as_compaction(patch: Patch) -> None:
    """Takes a log compaction for a compaction, which writes a base file."""
    stands_for(patch, "logcompaction.requested", "compaction")


@mutant(breaks="TL-017")
def empty_log_compaction_plan_accepted(patch: Patch) -> None:
    """Accepts an empty requested file of a log compaction, whose inputs can be found again."""
    holds(patch, "logcompaction", State.REQUESTED, Content("HoodieCompactionPlan", may_be_empty=True))


@mutant(breaks="TL-018")
def empty_index_metadata_accepted(patch: Patch) -> None:
    """Accepts an empty completed file of an index."""
    holds(patch, "indexing", State.COMPLETED, Content("HoodieIndexCommitMetadata", may_be_empty=True))
