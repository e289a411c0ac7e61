"""The services of the metadata table, spec "Metadata": they run without a request and do not affect the data table.

Before an action adds to it, a metadata table with enough deltacommits is compacted, then cleaned of slices that no reader needs
any more, and archived as far as its data table is.
"""

from collections.abc import Collection
from dataclasses import dataclass

from hudi_reference.layout.names import BaseFileName, join_path
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.metadata.writer import encode_base_records
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import without_meta_columns
from hudi_reference.services.archive.archive import archive
from hudi_reference.services.archive.bounds import Bound
from hudi_reference.services.clean.clean import clean
from hudi_reference.services.compaction.compaction import COMMITS_KEY, is_due
from hudi_reference.services.planning.compaction_plan import (
    Operation,
    completed_record,
    eligible_operations,
    operations_in,
    plan_record,
    store_planned_file,
)
from hudi_reference.services.planning.plan_execution import Plan, PlanExecution, carry_out, hold_for_planning, pending_of
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents.metadata import WriteStat

#: Deltacommits between two compactions.
LIMIT_KEY, LIMIT = "hoodie.metadata.compact.max.delta.commits", "10"
#: A reader that began before the last compaction still finds its slices.
_CLEANING = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "2"}


@implements("MDT-004")
def maintain(metadata: MetadataTable, data: Table, usable: Collection[str]) -> None:
    """Compact, clean and archive, if it is due.

    Only usable partitions are compacted: those that are being built have no base files yet, and files of dropped ones may be
    missing.

    Nothing is compacted while a pending action of the data table has entries here: its rollback would have to remove them.
    """
    table = metadata.as_table
    timeline, waiting = table.timeline, data.timeline.pending_times
    limit = {COMMITS_KEY: data.options.get(LIMIT_KEY, LIMIT)}
    if waiting & {done.requested for done in timeline.commits} or not is_due(timeline, limit, table.clock.now(), None):
        return
    for pending in pending_of(timeline, "compaction"):  # an execution that did not complete
        _execute(metadata, pending.requested, usable)
    with hold_for_planning(table) as publish:
        operations = eligible_operations(table, table.view(), (), usable)
        requested = publish("compaction", plan_record(operations)) if operations else None
    if requested is not None:
        _execute(metadata, requested, usable)
        clean(table, _CLEANING)
        archive(table, needed=_archive_bound(data.timeline))


def _archive_bound(data: Timeline) -> Bound:
    """The bound of archiving: the start of the data table's timeline, and the pending builds of indexes."""
    times = (data.start or "", *(found.requested for found in pending_of(data, "indexing")))
    return Bound(min(times), "the data table has an action of that time, or a later one")


def _execute(metadata: MetadataTable, requested: str, usable: Collection[str]) -> None:
    carry_out(MetadataCompactionExecution(metadata.as_table, requested, metadata, usable))


@dataclass
class MetadataCompactionExecution(PlanExecution):
    """One execution of a compaction plan of a metadata table, without the slices of partitions that were dropped since."""

    action = "compaction"
    metadata: MetadataTable
    usable: Collection[str]

    @implements("MDT-002", "MDT-004")
    def work(self, plan: Plan) -> Plan:
        """Store the new base file of each slice in the plan."""
        operations = [one for one in operations_in(plan) if one.file_slice.partition in self.usable]
        stats = [_compact(self.metadata, self.requested, operation) for operation in operations]
        return completed_record("COMPACT", zip(stats, operations, strict=True), without_meta_columns(self.metadata.schema))


def _compact(metadata: MetadataTable, requested: str, operation: Operation) -> WriteStat:
    file_slice, records = operation.file_slice, metadata.records_of_slice(operation.file_slice)
    name = BaseFileName(file_slice.file_id, "0-0-0", requested, "hfile")
    path = join_path(file_slice.partition, str(name))
    size = store_planned_file(metadata.as_table, path, encode_base_records(records.values(), metadata.schema))
    return WriteStat(
        file_slice.file_id, file_slice.partition, path, file_slice.base_file_instant or "null", file_slice.base_file,
        len(records), size=size,
    )  # fmt: skip
