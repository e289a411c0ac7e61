"""Compaction: the logs of file slices are merged into new base files, spec "Table Management > Compaction".

    compaction.requested    the plan: base file and log files of each slice. From here on what completes joins a new slice
    compaction.inflight
    base files are stored   with the plan's requested time in their names: nobody reads them yet
    commit                  the completion: readers go to the new slices; the old ones stay until they are cleaned

The rows are those that a query of the slice gives, by the same merge, with the commit times that they had. Wherever the process
dies, the rows of the table are the same, and whoever comes next carries the plan out again: to the same files.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference.errors import MalformedTable, Misuse, UnsupportedFeature, WriteConflict
from hudi_reference.files.base_file import encode_base_file
from hudi_reference.layout.names import BaseFileName, join_path
from hudi_reference.layout.partitions import mark_partition
from hudi_reference.layout.properties import TableProperties
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.query.table import Table, View
from hudi_reference.records.changes import KEY
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import with_meta_columns
from hudi_reference.services.compaction.trigger import COMMITS_KEY, check_settings, is_due
from hudi_reference.services.planning.compaction_plan import (
    Operation,
    chosen,
    completed_record,
    eligible,
    operations_in,
    plan_record,
    present,
    remove_strays,
    store,
)
from hudi_reference.services.planning.maintained_indexes import check_indexes_maintained
from hudi_reference.services.planning.plan_execution import Plan, carry_out, groups_in_plans, pending_of, planning
from hudi_reference.services.planning.rollback_validation import brings_back
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents.metadata import WriteStat
from hudi_reference.write.commit import transitions_of
from hudi_reference.write.rows import in_file
from hudi_reference.write.write_context import check_writable

Options = Mapping[str, str]


@implements("CMP-001", "SVC-006", "SVC-015")
def compact(table: Table, options: Options | None = None) -> str | None:
    """Carry out the compactions that are planned, then plan and carry out one more; the requested time of the last one.

    `options` are settings by Hudi's names: `hoodie.compact.inline.max.delta.commits`, `hoodie.compaction.strategy` and their
    kin. None: no slice has logs to merge, or it is not time yet, and there is no new instant.
    """
    done = [execute_compaction(table, pending.requested) for pending in pending_of(table.timeline, "compaction")]
    requested = schedule_compaction(table, options)
    if requested is not None:
        done.append(execute_compaction(table, requested))
    return done[-1] if done else None


@implements("SVC-004", "TL-044", "NBC-003")
def schedule_compaction(table: Table, options: Options | None = None) -> str | None:
    """Publish a plan; its requested time. None if there is nothing to compact, or old slices come back; writers go on."""
    with planning(table) as publish:
        operations = [] if brings_back(table, table.timeline) else plan_compaction(table, options)
        return publish("compaction", plan_record(operations)) if operations else None


@implements("CMP-003", "CMP-004", "SVC-010", "NBC-003")
def plan_compaction(table: Table, options: Options | None = None) -> list[Operation]:
    """What a compaction would merge now. Changes nothing.

    File groups in a pending plan of a compaction or clustering are left out. Raises Misuse, UnsupportedTableFeature.
    """
    if not table.properties.is_merge_on_read:
        raise Misuse("a copy-on-write table has no logs to compact", rule="CMP-001", expected="MERGE_ON_READ")
    check_writable(table)
    check_indexes_maintained(table)
    settings = {**table.options, **(options or {})}
    view, zone = table.view(), transitions_of(table).times.zone
    if not is_due(view.timeline, settings, table.clock.now(), zone):
        return []
    taken = groups_in_plans(table, view.timeline, ("compaction", "clustering"))
    return chosen(eligible(table, view, taken), settings)


@implements("CMP-001", "CMP-005", "SVC-005", "SVC-011", "TL-015", "TL-044")
def execute_compaction(table: Table, requested: str) -> str:
    """Carry out the plan that was requested then, from the beginning or from where somebody else stopped."""
    stats: list[WriteStat] = []

    def work(plan: Plan) -> Plan:
        view, operations = table.view(), operations_in(plan)
        compactor = Compactor(table, view, view.reader(table), requested)
        stats.extend(compactor.merge(number, operation) for number, operation in enumerate(operations))
        remove_strays(table, requested, stats)
        return completed_record("COMPACT", zip(stats, operations, strict=True), view.schema)

    check_writable(table)
    return carry_out(table, "compaction", requested, work, check=lambda _: check_stored(table, stats))


def check_stored(table: Table, stats: Iterable[WriteStat]) -> None:
    """Raises WriteConflict if a file is gone that is about to be committed: somebody took this attempt back."""
    for stat in stats:
        if table.storage.head(stat.path) is None:
            raise WriteConflict(
                "somebody else took this attempt at the plan back", rule="TL-050", path=stat.path,
                expected="the file that was stored", remedy="carry the plan out again, if it is still there",
            )  # fmt: skip


@dataclass(frozen=True)
class Compactor:
    """What stores the new base files of one compaction."""

    table: Table
    view: View
    reader: SliceReader
    requested: str

    @implements("CMP-001", "CMP-002", "CMP-004", "CMP-006", "MRG-008", "MRG-013", "META-004", "BF-009", "OCC-003")
    def merge(self, number: int, operation: Operation) -> WriteStat:
        """The next slice of a file group: what a query gives of the planned one. Rows keep commit time and number."""
        found, reader = present(self.table, operation), self.reader
        extension = self.table.properties.base_file_extension
        name = BaseFileName(found.file_id, f"{number}-0-0", self.requested, extension)
        merged = reader.read(found, reader.schema.names)
        path = join_path(found.partition, str(name))
        rows, schema = in_file(merged, str(name)), with_meta_columns(self.view.schema)
        data = encode_base_file(rows, schema, extension, settings=self.table.options)
        mark_partition(self.table.storage, found.partition, self.requested)
        return WriteStat(
            found.file_id, found.partition, path, previous_instant=found.base_file_instant or "null",
            previous_base_file=found.base_file, writes=merged.num_rows, size=store(self.table, path, data),
            **_counts(reader.base_keys(found), reader.keyed(merged), found.base_file),
        )  # fmt: skip


def _counts(before: pa.ChunkedArray, merged: pa.Table, base_file: str | None) -> dict[str, Any]:
    """How many rows of the base file, with the keys `before`, were updated and deleted, and how many are new."""
    stayed = pc.fill_null(pc.equal(merged.column("_hoodie_file_name"), base_file or ""), False)
    changed = merged.filter(pc.invert(stayed)).column(KEY)
    updates = len(changed.filter(pc.is_in(changed, value_set=before)))
    stays = merged.num_rows - len(changed)
    return {"updates": updates, "inserts": len(changed) - updates, "deletes": len(before) - stays - updates}


#: Whether writers compact by themselves; deployed writers do not unless they are told to.
INLINE_KEY = "hoodie.compact.inline"
_INLINE_DEFAULTS = {COMMITS_KEY: "5"}


@implements("SVC-013", "SVC-014")
def check_inline_compaction(properties: TableProperties, options: Options) -> None:
    """Raises Misuse and UnsupportedTableFeature for settings of inline compaction that cannot be."""
    if options.get(INLINE_KEY) == "true":
        check_settings(options)
        chosen((), options)


@implements("OCC-024", "SVC-007", "SVC-013", "SVC-014")
def inline_compaction(table: Table, _: Timeline) -> None:
    """What follows each write where `hoodie.compact.inline` is true: the plans that are there, and one more when it is due.

    A table that cannot be compacted was written all the same: what is wrong, `compact` says.
    """
    if table.options.get(INLINE_KEY) == "true" and table.properties.is_merge_on_read:
        with suppress(MalformedTable, UnsupportedFeature, WriteConflict):
            compact(table, {**_INLINE_DEFAULTS, **table.options})
