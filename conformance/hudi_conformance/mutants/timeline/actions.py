"""Mutants of actions and of the metadata and plans in their files."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.services.clean import clean
from hudi_reference.services.clustering import clustering
from hudi_reference.services.clustering.order import sort_rows
from hudi_reference.timeline.contents import metadata
from hudi_reference.timeline.instants import instant, states
from hudi_reference.timeline.instants.states import ACTIONS, Content, State


@mutant(breaks=("TL-007", "TL-009"))
def commit_metadata_as_replace_metadata(patch: Patch) -> None:
    """Stores every completion as replace metadata."""
    patch.set(metadata, "COMMIT_METADATA_SCHEMA", {**metadata.COMMIT_METADATA_SCHEMA, "name": "HoodieReplaceCommitMetadata"})


def without_nulls(rows: pa.Table, columns: Sequence[str], layout: str) -> pa.Table:
    """The rows that have a value in each column, sorted."""
    for column in columns:
        rows = rows.filter(pc.is_valid(rows.column(column)))
    return sort_rows(rows, columns, layout)


@mutant(breaks="TL-011")
def clustering_drops_null_sort_values(patch: Patch) -> None:
    """An executor drops rows that have a null in a sort column."""
    patch.set(clustering, "sort_rows", without_nulls)


def holds(patch: Patch, action: str, state: State, content: Content) -> None:
    """Change the expected content of the file of an action in one state."""
    known = ACTIONS[action]
    patch.item(states.ACTIONS, action, replace(known, contents={**known.contents, state: content}))


@mutant(breaks="TL-012")
def replacecommit_with_commit_metadata(patch: Patch) -> None:
    """Reads a replacecommit as a commit, whose metadata names no replaced groups."""
    holds(patch, "replacecommit", State.COMPLETED, Content("HoodieCommitMetadata"))


@mutant(breaks="TL-012")
def replacecommit_requested_with_commit_metadata(patch: Patch) -> None:
    """Reads the metadata that a replacement writes as its plan."""
    holds(patch, "replacecommit", State.REQUESTED, Content("HoodieCommitMetadata", may_be_empty=True))


@mutant(breaks="TL-014")
def clean_planned_when_executed(patch: Patch) -> None:
    """A clean makes its plan when it is executed, so that the requested file lists nothing."""
    patch.edit(
        clean.schedule_clean,
        'publish("clean", plan)',
        'publish("clean", {**plan, "filePathsToBeDeletedPerPartition": {}})',
    )
    patch.edit(
        clean.CleanExecution.delete_all,
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
    """Reads a log compaction as a compaction, which writes a base file."""
    stands_for(patch, "logcompaction.requested", "compaction")


@mutant(breaks="TL-017")
def empty_log_compaction_plan_accepted(patch: Patch) -> None:
    """Accepts an empty requested file of a log compaction, whose inputs can be found again."""
    holds(patch, "logcompaction", State.REQUESTED, Content("HoodieCompactionPlan", may_be_empty=True))


@mutant(breaks="TL-018")
def empty_index_metadata_accepted(patch: Patch) -> None:
    """Accepts an empty completed file of an index."""
    holds(patch, "indexing", State.COMPLETED, Content("HoodieIndexCommitMetadata", may_be_empty=True))
