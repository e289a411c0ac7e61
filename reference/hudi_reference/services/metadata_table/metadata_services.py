"""The metadata table's own services, spec "Metadata": nobody asks for them, and the data table does not notice.

Before an action adds to it, a metadata table is compacted if enough deltacommits have gathered, cleaned of slices that no
reader needs any more, and archived as far as its data table is.
"""

from collections.abc import Collection
from functools import partial

from hudi_reference.layout.names import BaseFileName, join_path
from hudi_reference.metadata.schema import SCHEMA
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.metadata.writer import base_file
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import without_meta_columns
from hudi_reference.services.archive.archive import archive
from hudi_reference.services.archive.bounds import Bound
from hudi_reference.services.clean.clean import clean
from hudi_reference.services.compaction.trigger import COMMITS_KEY, is_due
from hudi_reference.services.planning.compaction_plan import (
    Operation,
    completed_record,
    eligible,
    operations_in,
    plan_record,
    store,
)
from hudi_reference.services.planning.plan_execution import Plan, carry_out, pending_of, planning
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents.metadata import WriteStat

#: Deltacommits between two compactions.
LIMIT_KEY, LIMIT = "hoodie.metadata.compact.max.delta.commits", "10"
#: A reader that began before the last compaction still finds its slices.
_CLEANING = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "2"}


@implements("MDT-004")
def maintain(metadata: MetadataTable, data: Table, building: Collection[str]) -> None:
    """Compact and clean, if it is time. Partitions that are being built, of which the base files are to come, are left alone.

    Nothing is merged while an action of the data table is pending that has its entries here: they may have to go.
    """
    table, waiting = metadata.as_table, {instant.requested for instant in data.timeline.pending}
    timeline = table.timeline
    limit = {COMMITS_KEY: data.options.get(LIMIT_KEY, LIMIT)}
    if waiting & {done.requested for done in timeline.commits} or not is_due(timeline, limit, table.clock.now(), None):
        return
    for pending in pending_of(timeline, "compaction"):  # somebody died over it
        _execute(metadata, pending.requested)
    with planning(table) as publish:
        operations = [one for one in eligible(table, table.view(), ()) if one.found.partition not in building]
        requested = publish("compaction", plan_record(operations)) if operations else None
    if requested is not None:
        _execute(metadata, requested)
        clean(table, _CLEANING)
        archive(table, needed=_needed(data.timeline))


def _needed(data: Timeline) -> Bound:
    """What has to stay on the timeline: what the data table has on its own, and builds of indexes have begun."""
    times = (data.start or "", *(found.requested for found in pending_of(data, "indexing")))
    return Bound(min(times), "the data table has an action of that time, or a later one")


def _execute(metadata: MetadataTable, requested: str) -> None:
    carry_out(metadata.as_table, "compaction", requested, partial(_compacted, metadata, requested))


@implements("MDT-002", "MDT-004")
def _compacted(metadata: MetadataTable, requested: str, plan: Plan) -> Plan:
    """Store the new base file of each slice in the plan; what the completed compaction says."""
    operations = operations_in(plan)
    stats = [_compact(metadata, requested, operation) for operation in operations]
    return completed_record("COMPACT", zip(stats, operations, strict=True), without_meta_columns(SCHEMA))


def _compact(metadata: MetadataTable, requested: str, operation: Operation) -> WriteStat:
    found, records = operation.found, metadata.merged(operation.found)
    name = BaseFileName(found.file_id, "0-0-0", requested, "hfile")
    path = join_path(found.partition, str(name))
    size = store(metadata.as_table, path, base_file(records.values()))
    return WriteStat(found.file_id, found.partition, path, found.base_instant, found.base_file, len(records), size=size)
