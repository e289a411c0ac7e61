"""Mutants of the execution of clustering plans."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

import pyarrow as pa

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.errors import Misuse
from hudi_reference.services.clustering import clustering
from hudi_reference.services.clustering.clustering import Rewriting
from hudi_reference.services.clustering.order import sort_rows
from hudi_reference.services.clustering.plan_record import InputGroup

_HERE = f"__import__({__name__!r}, fromlist=['here'])"


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
    return pa.concat_tables([sort_rows(rows.slice(start, 3), columns, layout) for start in range(0, max(1, rows.num_rows), 3)])


@mutant(breaks="CLU-008")
def clustering_sorts_in_chunks(patch: Patch) -> None:
    """An executor sorts three rows at a time."""
    patch.set(clustering, "sort_rows", in_chunks)


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


def in_base_path(rewriting: Rewriting, group: InputGroup) -> InputGroup:
    """The group, in the base path if no row has the path of its partition."""
    if rewriting.table.properties.populates_meta_fields:
        return group
    return replace(group, slices=tuple(replace(one, partition="") for one in group.slices))


@mutant(breaks=("CLU-001", "LAY-018"))
def clustering_without_meta_columns_in_the_base_path(patch: Patch) -> None:
    """An executor takes the folder of a file from a meta column of its rows, which is empty in tables without meta columns."""
    patch.edit(Rewriting._output, "part = rows.slice", f"group = {_HERE}.in_base_path(self, group); part = rows.slice")
