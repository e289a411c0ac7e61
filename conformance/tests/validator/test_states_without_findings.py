"""States that correct writers and services leave, and in which a simpler comparison would find a fault."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import deep_damage_samples as d
import pytest
import validated_tables_samples as t

from hudi_conformance.validator.all_checks import ALL, CHEAP
from hudi_reference import cluster, compact, log_compact, open_table, savepoint
from hudi_reference.clock import ManualClock
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.metadata_settings import INFLIGHT
from hudi_reference.layout.names import split_path
from hudi_reference.metadata.availability import METADATA_FOLDER
from hudi_reference.metadata.records import MetadataRecord, PartitionStats
from hudi_reference.services.compaction.compaction import schedule_compaction
from hudi_reference.services.indexing.indexing import schedule_indexing
from hudi_reference.services.rollback.rollback import rollback, schedule_rollback
from hudi_reference.storage.protocol import Storage
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

CAPTURED = {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": ""}


@pytest.mark.parametrize("mode", ["OP_KEY_ONLY", "DATA_BEFORE", "DATA_BEFORE_AFTER"])
def test_a_row_that_is_written_again_unchanged_has_no_change(mode: str):
    """TYP-012: a row with the values from before is no change, although it has the time of the write; another row is one."""
    storage = t.changed("COPY_ON_WRITE", **{**CAPTURED, "hoodie.table.cdc.supplemental.logging.mode": mode})
    t.reopened(storage).upsert(t.rows(1, 2, 3, 4, fare=2))
    assert t.validated(storage, ALL).findings == ()


def begin_rollback(storage: Storage) -> None:
    """Roll the newest write back, up to the removal of its entries: its files and its instant are gone."""
    table = t.reopened(storage)
    newest = table.timeline.commits[-1]
    requested = schedule_rollback(table, newest.requested)
    folder = table.properties.timeline_folder
    storage.put(f"{folder}/{Instant(requested, 'rollback', State.INFLIGHT).file_name}", b"")
    for info in storage.list():
        own = newest.requested in info.path.rpartition("/")[2]
        if own and "metadata/" not in info.path:
            storage.delete(info.path)


def test_entries_of_a_write_that_is_being_rolled_back_are_not_read():
    """MDT-010: while a rollback is pending no reader uses the metadata table, whose entries it removes last."""
    storage = t.copy_on_write(**{
        "hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "true",
        "hoodie.metadata.record.index.enable": "true",
    })  # fmt: skip
    t.reopened(storage).upsert(t.rows(9, fare=9))
    begin_rollback(storage)
    assert t.validated(storage, ALL).findings == ()


def test_statistics_of_a_partition_beside_a_pending_write_are_not_tight():
    """MDT-014: an action that completes while an earlier write is pending stores statistics that are merged with those before
    them: they count rows twice, and say that they are not tight.
    """
    settings = {
        "hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "true",
        "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL", "hoodie.clean.failed.writes.policy": "LAZY",
    }  # fmt: skip
    storage = t.merge_on_read(**settings)
    table = open_table("memory:///sample", storage=storage, clock=ManualClock(t.LATER), options=settings)
    requested = f"{int(table.timeline.commits[-1].requested) + 1}"
    for state in (State.REQUESTED, State.INFLIGHT):
        storage.put(f"{t.TIMELINE}/{Instant(requested, 'deltacommit', state).file_name}", b"")
    table.upsert(t.rows(1, 2, 3, 4, fare=9))
    assert [one for one in t.validated(storage, ALL).findings if one.rule == "MDT-014"] == []


def test_files_of_an_index_that_is_being_built_are_no_lost_space():
    """PROP-013: Apache Hudi 1.2.0 lists an index that a statement creates after it has stored the files of it. Until then the
    pending build names the index, and no process may delete its files.
    """
    settings = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "false"}
    storage = t.copy_on_write(**settings)
    added = {**settings, "hoodie.metadata.index.bloom.filter.enable": "true"}
    table = open_table("memory:///sample", storage=storage, clock=ManualClock(t.LATER), options=added)
    assert schedule_indexing(table, added) is not None
    t.change_properties(storage, {INFLIGHT: None})
    storage.put(f"{METADATA_FOLDER}/bloom_filters/bloom-filters-0000-0_0-0-0_00000000000000000.hfile", b"x")
    assert [one.rule for one in t.validated(storage, ALL).findings if one.rule == "PROP-013"] == []


def test_a_compaction_does_not_count_the_inputs_of_a_log_compaction():
    """TL-005: Apache Hudi 1.2.0 counts the contents of the blocks that it reads, here those of the log compaction."""
    storage = t.merge_on_read()
    due = {"hoodie.log.compaction.blocks.threshold": "1", "hoodie.compact.inline.max.delta.commits": "1"}
    instant = log_compact(t.reopened(storage), due)
    assert instant
    assert compact(t.reopened(storage), due)

    def count(record: Any) -> None:
        for stat in t.stats_of(record):
            (path,) = (one for one in t.paths(storage, f"{instant}.log") if stat["fileId"] in one)
            stat["totalLogSizeCompacted"] = sum(block.content_length for block in read_log_file(storage, path))

    t.change_record(storage, t.completed(storage, "commit"), count)
    assert t.validated(storage, ALL).findings == ()


def test_an_older_slice_that_a_savepoint_keeps_is_not_that_of_a_clustering():
    """TL-011: a clean deleted the slices that a clustering read, and their writes are archived. A savepoint keeps older slices,
    which had other rows.
    """
    storage = t.copy_on_write()
    table = t.reopened(storage)
    first, *later = [one.requested for one in table.timeline.commits]
    savepoint(table, first)
    assert cluster(table, {"hoodie.clustering.inline.max.commits": "1"})
    for info in storage.list():
        name = info.path.rpartition("/")[2]
        if name.startswith(tuple(later)) or name.endswith(tuple(f"{one}.parquet" for one in later)):
            storage.delete(info.path)
    assert "TL-011" not in t.rules_of(t.validated(storage, ALL).findings)


@pytest.mark.parametrize("sample", [t.copy_on_write, t.merge_on_read])
def test_an_emptied_partition_of_a_bucket_index_has_no_keys_to_place(sample: Callable[..., Storage]):
    """LAY-021: the file groups of a bucket index stay when all rows of their partition are deleted."""
    storage = sample(**{"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"})
    t.reopened(storage).delete(t.rows(2, 4).select(["id", "city"]))
    result = t.validated(storage, ALL)
    assert (result.broken, result.findings) == ((), ())


def _partition_counts_rows(storage: Storage, more: int) -> None:
    """The statistics of the partitions count more values of a column than their files have."""
    for record in d.entries_of(storage, "partition_stats").values():
        payload = record.payload
        if isinstance(payload, PartitionStats) and payload.column == "fare":
            changed = replace(payload, value_count=(payload.value_count or 0) + more)
            d.change_index(storage, "partition_stats", [MetadataRecord(record.key, changed)])


@pytest.mark.parametrize(
    ("is_beside", "more", "count"), [(True, 0, 0), (True, 2, 0), (True, -5, 0), (True, 90, 2), (False, 2, 2), (False, -1, 2)]
)
def test_statistics_of_a_partition_with_a_write_beside_a_compaction(is_beside: bool, more: int, count: int):
    """MDT-014: a write that completes before a pending compaction makes the statistics of its partition from the files before the
    compaction, and Apache Hudi 1.2.0 does not make them again. They have no value that none of the files has.
    """
    settings = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "true"}
    storage = t.merge_on_read(**settings)
    table = open_table("memory:///sample", storage=storage, clock=ManualClock(t.LATER), options=settings)
    after = {"hoodie.compact.inline.max.delta.commits": "2"}
    assert schedule_compaction(table, after)
    if is_beside:
        table.upsert(t.rows(1, 2, 3, 4, fare=9))
    assert compact(open_table("memory:///sample", storage=storage, clock=ManualClock(t.LATER + 9_000), options=settings), after)
    _partition_counts_rows(storage, more)
    found = [one for one in t.validated(storage, ALL).findings if one.rule == "MDT-014"]
    assert len(found) == count, found


def test_an_index_that_a_pending_action_builds():
    """PROP-012: a list of indexes that are being built is right while an action builds them, also one of the metadata table."""
    storage = t.copy_on_write(**{"hoodie.metadata.enable": "true"})
    t.change_properties(storage, {INFLIGHT: "column_stats"})
    assert ("PROP-012", "cosmetic") in {(one.rule, one.severity) for one in t.validated(storage, ALL).findings}
    pending = f"{METADATA_FOLDER}/{t.TIMELINE}/20991231000000000.deltacommit"
    storage.put(f"{pending}.requested", b"")
    assert "PROP-012" not in {one.rule for one in t.validated(storage, ALL).findings}


def test_a_compaction_whose_plan_names_files_of_captured_changes():
    """TL-005: Apache Hudi 1.2.0 names them in the plan, too, and does not read them: nothing is said about the counts."""
    storage = t.merge_on_read()
    assert compact(t.reopened(storage), {"hoodie.compact.inline.max.delta.commits": "1"})
    completed = t.completed(storage, "commit")
    t.change_record(storage, completed, lambda record: t.stats_of(record)[0].update(totalLogFilesCompacted=7))
    assert "TL-005" in {one.rule for one in t.validated(storage, CHEAP).findings}

    def change(record: Any) -> None:
        for operation in record["operations"]:
            (*_, last) = operation["deltaFilePaths"]
            operation["deltaFilePaths"] = [*operation["deltaFilePaths"], f"{last}.cdc"]

    t.change_record(storage, t.paths(storage, ".compaction.requested")[0], change)
    assert "TL-005" not in {one.rule for one in t.validated(storage, CHEAP).findings}


def _rollback_of(storage: Storage, instant: str, action: str, deleted: str) -> None:
    """Store a completed rollback of an action, which says that it deleted this file; before all other completions."""
    source = t.copy_on_write()
    table = t.reopened(source)
    rollback(table, table.timeline.completed[-1].requested)
    path = t.completed(source, "rollback")

    def change(record: Any) -> None:
        partition, name = split_path(deleted)
        (entry, *_) = record["partitionMetadata"].values()
        entry |= {"partitionPath": partition, "successDeleteFiles": [name] if name else []}
        record |= {
            "partitionMetadata": {partition: entry}, "commitsRollback": [instant], "totalFilesDeleted": 1 if name else 0,
            "instantsRollback": [{"commitTime": instant, "action": action}],
        }  # fmt: skip

    t.change_record(source, path, change)
    time = f"{int(instant) + 1:017}"
    storage.put(f"{t.TIMELINE}/{time}_{int(time) + 1:017}.rollback", source.get(path))


def test_a_compaction_that_is_executed_again_after_a_rollback():
    """TL-019: the second execution stores a file with the name of the one that the rollback deleted."""
    storage = t.compacted()
    instant, *_ = split_path(t.completed(storage, "commit"))[1].split("_")
    (*_, file) = (path for path in t.base_files(storage) if instant in path)
    _rollback_of(storage, instant, "compaction", file)
    assert "TL-019" not in {one.rule for one in t.validated(storage, CHEAP).findings}


def test_the_plan_of_a_service_that_was_rolled_back_stays():
    """TL-019: a rollback of an execution of a service leaves its plan pending."""
    storage = t.with_plan("compaction")
    instant = split_path(t.paths(storage, ".compaction.requested")[0])[1].partition(".")[0]
    _rollback_of(storage, instant, "compaction", "")
    assert "TL-019" not in {one.rule for one in t.validated(storage, CHEAP).findings}
    storage.put(f"{t.TIMELINE}/{instant}.deltacommit.requested", b"")
    assert "TL-019" in {one.rule for one in t.validated(storage, CHEAP).findings}
