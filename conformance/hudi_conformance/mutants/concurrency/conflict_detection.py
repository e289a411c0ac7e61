"""Mutants of the snapshot of a writer, the set of concurrent actions, and the conflict check."""

from collections.abc import Callable
from typing import Any

import pyarrow.compute as pc

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.records.changes import KEY
from hudi_reference.write import write
from hudi_reference.write.concurrency import conflict_resolution
from hudi_reference.write.concurrency.conflict_resolution import MATRIX, Cell, Verdict, WriteKind
from hudi_reference.write.placement.locate import Located

_BOTH = Cell(Verdict.BOTH, "no conflict")


@mutant(breaks="OCC-008")
def key_lookup_reads_pending_writes(patch: Patch) -> None:
    """A writer also looks keys up in the files of pending writes, and appends its changes to them."""

    def locate(incoming: Any, view: Any, reader: Any, **how: Any) -> Any:
        found = located(incoming, view, reader, **how)
        for pending in view.timeline.pending:
            for info in reader.storage.list():
                if info.path.endswith(f"_{pending.requested}.parquet"):
                    partition, _, name = info.path.rpartition("/")
                    slice_ = FileSlice(partition, name.partition("_")[0], pending.requested, name)
                    keys = reader.base_keys(slice_)
                    moved = [(slice_, rows.filter(pc.is_in(rows.column(KEY), value_set=keys))) for _, rows in found.known]
                    kept = [(s, r.filter(pc.invert(pc.is_in(r.column(KEY), value_set=keys)))) for s, r in found.known]
                    found = Located([(s, rows) for s, rows in (*kept, *moved) if rows.num_rows], found.new)
        return found

    located: Callable[..., Any] = write.locate  # type: ignore[attr-defined]
    patch.set(write, "locate", locate)


@mutant(breaks="OCC-012")
def conflict_check_ignores_archived_actions(patch: Patch) -> None:
    """A writer checks for conflicts on the active timeline only."""
    everything = "now.completed if now.start == base.start else now.completed_between(snapshot)"
    patch.edit(conflict_resolution.completed_since, everything, "now.completed")


@mutant(breaks="OCC-013")
def concurrent_base_files_of_group_allowed(patch: Patch) -> None:
    """Lets two writers complete that have both rewritten a file group."""
    patch.item(MATRIX, (WriteKind.REWRITES, WriteKind.REWRITES), _BOTH)  # type: ignore[arg-type]


@mutant(breaks="OCC-013")
def concurrent_logs_always_allowed(patch: Patch) -> None:
    """Lets two writers complete that have both appended to a file group, whatever their concurrency mode."""
    patch.item(MATRIX, (WriteKind.APPENDS, WriteKind.APPENDS), _BOTH)  # type: ignore[arg-type]


@mutant(breaks="OCC-016")
def writes_to_clustered_groups_complete(patch: Patch) -> None:
    """Lets a writer complete in a file group that a clustering has replaced in the meantime."""
    patch.item(MATRIX, (WriteKind.REWRITES, WriteKind.CLUSTERS), _BOTH)  # type: ignore[arg-type]


@mutant(breaks="OCC-016")
def logs_appended_to_clustered_groups(patch: Patch) -> None:
    """A writer adds its log files to file groups that a clustering has replaced since."""
    beside = Cell(Verdict.BOTH, "log files do not conflict")
    patch.item(conflict_resolution.MATRIX, (WriteKind.APPENDS, WriteKind.CLUSTERS), beside)  # type: ignore[arg-type]


@mutant(breaks=("OCC-016", "SVC-009"))
def clustering_of_overwritten_groups_completes(patch: Patch) -> None:
    """A clustering completes although its file groups were overwritten in the meantime; replaced rows reappear."""
    patch.item(MATRIX, (WriteKind.CLUSTERS, WriteKind.REPLACES), _BOTH)  # type: ignore[arg-type]


@mutant(breaks="OCC-013")
def both_overwrites_of_a_partition_complete(patch: Patch) -> None:
    """Lets two overwrites of one partition complete, although the second one has not seen the rows of the first."""
    patch.item(MATRIX, (WriteKind.REPLACES, WriteKind.REPLACES), _BOTH)  # type: ignore[arg-type]


@mutant(breaks="OCC-016")
def overwrites_of_clustered_groups_complete(patch: Patch) -> None:
    """Lets an overwrite complete whose file groups a clustering has replaced meanwhile."""
    patch.item(MATRIX, (WriteKind.REPLACES, WriteKind.CLUSTERS), _BOTH)  # type: ignore[arg-type]
