"""Mutants: carrying out a clustering, and what writers do about pending ones."""

from collections.abc import Sequence
from typing import NoReturn

import pyarrow as pa
import pyarrow.compute as pc

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.errors import Misuse
from hudi_reference.services.clustering import clustering
from hudi_reference.services.clustering.clustering import Attempt, Rewriting, completed_record
from hudi_reference.services.clustering.order import ordered
from hudi_reference.services.clustering.plan_record import InputGroup
from hudi_reference.services.planning import plan_execution
from hudi_reference.timeline.contents import metadata
from hudi_reference.write.concurrency import conflict_resolution, update_strategy
from hudi_reference.write.concurrency.conflict_resolution import Cell, Verdict, WriteKind

_HERE = f"__import__({__name__!r}, fromlist=['here'])"


@mutant(breaks="CLU-001")
def clusterings_keep_the_ids_of_groups(patch: Patch) -> None:
    """A clustering writes its base files within one of the groups that it replaces."""
    patch.edit(Rewriting._output, 'f"{uuid5(NAMESPACE_OID, named)}-{count}"', "group.members[0][1]")


@mutant(breaks="CLU-007")
def clustering_groups_are_mixed(patch: Patch) -> None:
    """An executor deals the rows of a partition out to all clustering groups in it."""
    patch.edit(Rewriting.rewrite, "pa.concat_tables(parts)", f"{_HERE}.mixed(self, group)")


def mixed(rewriting: Rewriting, group: InputGroup) -> pa.Table:
    """Every second, third, ... row of the partition, for the second, third, ... of its groups."""
    groups = [found for found in rewriting.plan.groups if found.partition == group.partition]
    reader = rewriting.view.reader(rewriting.table)
    slices = [rewriting.view.groups.groups[identity].latest for found in groups for identity in found.members]
    rows = pa.concat_tables([reader.read(found, reader.schema.names) for found in slices if found is not None])
    return rows.take(pa.array(range(groups.index(group), rows.num_rows, len(groups))))


@mutant(breaks="CLU-008")
def clusterings_sort_in_small_chunks(patch: Patch) -> None:
    """An executor sorts three rows at a time."""
    patch.set(clustering, "ordered", in_chunks)


def in_chunks(rows: pa.Table, columns: Sequence[str], layout: str) -> pa.Table:
    """The rows, sorted within chunks of three."""
    return pa.concat_tables([ordered(rows.slice(start, 3), columns, layout) for start in range(0, max(1, rows.num_rows), 3)])


@mutant(breaks="CLU-009")
def clustering_groups_become_one_file(patch: Patch) -> None:
    """An executor writes one output for each group, whatever its size."""
    patch.edit(Rewriting.rewrite, "if step >= rows.num_rows:", "if True:")


@mutant(breaks="CLU-035")
def clusterings_are_inflight_when_they_are_done(patch: Patch) -> None:
    """An executor of a plan stores its files, and only then says that it is at work."""
    patch.edit(
        plan_execution.carry_out,
        "inflight = transitions.start(found, content)\n    record = work(plan)",
        "record = work(plan)\n    inflight = transitions.start(found, content)",
    )


@mutant(breaks="CLU-036")
def clustering_groups_wait_for_one_another(patch: Patch) -> None:
    """An executor handles the groups of a plan one after the other."""
    patch.edit(Rewriting.outputs, "self.table.parallelism > 1", "False")


@mutant(breaks="CLU-037")
def clusterings_need_sort_columns(patch: Patch) -> None:
    """An executor refuses a plan without sort columns."""
    patch.edit(
        Rewriting.rewrite,
        "self.view.reader(self.table)",
        f"self.view.reader(self.table) if self.plan.sort_columns else {_HERE}.refused()",
    )


def refused() -> NoReturn:
    """No sort columns."""
    raise Misuse("nothing to sort by", rule="CLU-037")


@mutant(breaks="CLU-038")
def clusterings_sort_each_file_by_itself(patch: Patch) -> None:
    """An executor sorts the rows of each input file, and puts one behind the other."""
    patch.edit(
        Rewriting.rewrite,
        'ordered(pa.concat_tables(parts), self.plan.sort_columns, self.plan.parameters.get(LAYOUT_KEY, "LINEAR"))',
        "pa.concat_tables([ordered(part, self.plan.sort_columns) for part in parts])",
    )


@mutant(breaks="CLU-039")
def clusterings_replace_nothing(patch: Patch) -> None:
    """A completed clustering says what is new, as a plain commit would, and not what it replaces: the old groups are read."""
    patch.edit(completed_record, "schema, replaced)", "schema, {})")


@mutant(breaks="CLU-040")
def clusterings_call_themselves_overwrites(patch: Patch) -> None:
    """A completed clustering has the operation of an overwrite."""
    patch.edit(completed_record, '"CLUSTER"', '"INSERT_OVERWRITE"')


@mutant(breaks="CLU-041")
def readers_know_every_entry_of_a_clustering(patch: Patch) -> None:
    """A reader takes metadata with further entries for damaged."""
    patch.edit(
        metadata.commit_metadata_of,
        'if "partitionToWriteStats" not in record:',
        'if "partitionToWriteStats" not in record or "ts.min" in (record.get("extraMetadata") or {}):',
    )


@mutant(breaks="TL-011")
def clusterings_drop_rows_without_a_sort_value(patch: Patch) -> None:
    """An executor leaves rows out that have a null in a sort column."""
    patch.set(clustering, "ordered", without_nulls)


def without_nulls(rows: pa.Table, columns: Sequence[str], layout: str) -> pa.Table:
    """The rows that have a value in each column, sorted."""
    for column in columns:
        rows = rows.filter(pc.is_valid(rows.column(column)))
    return ordered(rows, columns, layout)


@mutant(breaks="SVC-009")
def clusterings_hide_updates(patch: Patch) -> None:
    """A clustering completes whatever has become of its groups since it read them."""
    patch.edit(Attempt.check, "standing.check(mine, other)", "None")


@mutant(breaks="SVC-009")
def clusterings_overlook_updates_before_they_begin(patch: Patch) -> None:
    """A clustering takes its groups as they are, whatever the plan says of their files."""
    patch.set(clustering, "check_unchanged", lambda *_: None)


@mutant(breaks="SVC-009")
def writers_overlook_planned_clusterings(patch: Patch) -> None:
    """A writer goes on where a clustering is planned, without being told to."""
    patch.edit(update_strategy.apply_update_strategy, "if planned_for and name == REJECT:", "if False:")


@mutant(breaks="OCC-016")
def logs_go_to_groups_that_were_clustered(patch: Patch) -> None:
    """A writer adds its log files to file groups that a clustering has replaced since."""
    beside = Cell(Verdict.BOTH, "log files are in nobody's way")
    patch.item(conflict_resolution.MATRIX, (WriteKind.APPENDS, WriteKind.CLUSTERS), beside)  # type: ignore[arg-type]


@mutant(breaks="SVC-014")
def writers_cluster_unless_told_not_to(patch: Patch) -> None:
    """A writer clusters by itself after every fourth commit, unless a setting forbids it."""
    patch.edit(
        clustering.inline_clustering,
        "settings = ClusteringSettings.of(table.options)",
        'settings = ClusteringSettings.of({"hoodie.clustering.inline": "true", **table.options})',
    )
