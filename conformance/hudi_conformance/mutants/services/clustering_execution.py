"""Mutants of the execution of clustering plans."""

from collections.abc import Sequence
from typing import NoReturn

import pyarrow as pa

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.errors import Misuse
from hudi_reference.services.clustering import clustering
from hudi_reference.services.clustering.clustering import Rewriting, completed_record
from hudi_reference.services.clustering.order import ordered
from hudi_reference.services.clustering.plan_record import InputGroup
from hudi_reference.services.planning import plan_execution
from hudi_reference.timeline.contents import metadata

_HERE = f"__import__({__name__!r}, fromlist=['here'])"


@mutant(breaks="CLU-001")
def clustering_keeps_file_ids(patch: Patch) -> None:
    """A clustering writes its base files into one of the file groups that it replaces."""
    patch.edit(Rewriting._output, 'f"{uuid5(NAMESPACE_OID, named)}-{count}"', "group.members[0][1]")


def mixed(rewriting: Rewriting, group: InputGroup) -> pa.Table:
    """The rows of the partition whose number, modulo the number of groups, is that of the group."""
    groups = [found for found in rewriting.plan.groups if found.partition == group.partition]
    reader = rewriting.view.reader(rewriting.table)
    slices = [rewriting.view.groups.groups[identity].latest for found in groups for identity in found.members]
    rows = pa.concat_tables([reader.read(found, reader.schema.names) for found in slices if found is not None])
    return rows.take(pa.array(range(groups.index(group), rows.num_rows, len(groups))))


@mutant(breaks="CLU-007")
def clustering_mixes_groups(patch: Patch) -> None:
    """An executor distributes the rows of a partition over all clustering groups in it."""
    patch.edit(Rewriting.rewrite, "pa.concat_tables(parts)", f"{_HERE}.mixed(self, group)")


def in_chunks(rows: pa.Table, columns: Sequence[str], layout: str) -> pa.Table:
    """The rows, sorted within chunks of three."""
    return pa.concat_tables([ordered(rows.slice(start, 3), columns, layout) for start in range(0, max(1, rows.num_rows), 3)])


@mutant(breaks="CLU-008")
def clustering_sorts_in_chunks(patch: Patch) -> None:
    """An executor sorts three rows at a time."""
    patch.set(clustering, "ordered", in_chunks)


@mutant(breaks="CLU-009")
def clustering_ignores_target_file_size(patch: Patch) -> None:
    """An executor writes one output for each group, whatever its size."""
    patch.edit(Rewriting.rewrite, "if step >= rows.num_rows:", "if True:")


@mutant(breaks="CLU-035")
def clustering_inflight_after_its_files(patch: Patch) -> None:
    """An executor of a plan stores its files, and publishes the inflight state afterwards."""
    patch.edit(
        plan_execution.carry_out,
        "inflight = transitions.start(found, repeated)\n    record = execution.work(plan)",
        "record = execution.work(plan)\n    inflight = transitions.start(found, repeated)",
    )


@mutant(breaks="CLU-036")
def clustering_groups_run_sequentially(patch: Patch) -> None:
    """An executor handles the groups of a plan one after the other."""
    patch.edit(Rewriting.outputs, "self.table.parallelism > 1", "False")


def refused() -> NoReturn:
    """Raise the error of a plan without sort columns."""
    raise Misuse("nothing to sort by", rule="CLU-037")


@mutant(breaks="CLU-037")
def clustering_requires_sort_columns(patch: Patch) -> None:
    """An executor refuses a plan without sort columns."""
    patch.edit(
        Rewriting.rewrite,
        "self.view.reader(self.table)",
        f"self.view.reader(self.table) if self.plan.sort_columns else {_HERE}.refused()",
    )


@mutant(breaks="CLU-038")
def clustering_sorts_files_separately(patch: Patch) -> None:
    """An executor sorts the rows of each input file, and concatenates the results."""
    patch.edit(
        Rewriting.rewrite,
        'ordered(pa.concat_tables(parts), self.plan.sort_columns, self.plan.parameters.get(LAYOUT_KEY, "LINEAR"))',
        "pa.concat_tables([ordered(part, self.plan.sort_columns) for part in parts])",
    )


@mutant(breaks="CLU-039")
def clustering_records_no_replaced_groups(patch: Patch) -> None:
    """A completed clustering records its new files like a plain commit, and no replaced groups: the old groups are read."""
    patch.edit(completed_record, "schema, replaced)", "schema, {})")


@mutant(breaks="CLU-040")
def clustering_with_overwrite_operation(patch: Patch) -> None:
    """A completed clustering has the operation of an overwrite."""
    patch.edit(completed_record, '"CLUSTER"', '"INSERT_OVERWRITE"')


@mutant(breaks="CLU-041")
def clustering_metadata_extensions_rejected(patch: Patch) -> None:
    """A reader rejects clustering metadata with further entries."""
    patch.edit(
        metadata.commit_metadata_of,
        'if "partitionToWriteStats" not in record:',
        'if "partitionToWriteStats" not in record or "ts.min" in (record.get("extraMetadata") or {}):',
    )
