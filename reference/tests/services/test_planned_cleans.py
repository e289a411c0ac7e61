"""Clean plans of other engines: a plan that deletes what is needed is refused."""

import pytest
from reference_samples import TABLE_TYPES, contents, data_files, trip, trips
from service_tables import RETAIN_ONE, failed_writer, rows, table_of

from hudi_reference import clean, savepoint
from hudi_reference.errors import (
    UnsafePlan,
)
from hudi_reference.services.clean.clean import execute_clean, files_of_clean
from hudi_reference.services.compaction.compaction import schedule_compaction
from hudi_reference.services.planning.plan_execution import hold_for_planning, pending_of


def foreign_clean(table, files, earliest=None):
    """A pending clean plan of another engine; `files` are its paths by partition."""
    record = {
        "earliestInstantToRetain": None
        if earliest is None
        else {"timestamp": earliest, "action": "commit", "state": "COMPLETED"},
        "lastCompletedCommitTimestamp": table.timeline.commits[-1].requested,
        "policy": "KEEP_LATEST_COMMITS",
        "filesToBeDeletedPerPartition": {},
        "version": 2,
        "filePathsToBeDeletedPerPartition": {
            partition: [{"filePath": name, "isBootstrapBaseFile": False} for name in names]
            for partition, names in files.items()
        },
        "partitionsToBeDeleted": [],
        "extraMetadata": {},
    }
    with hold_for_planning(table) as publish:
        return publish("clean", record)


def check_refused(table, planned, path):
    """The plan is refused, by the preview too, with an error that names the plan and the file, and nothing changes."""
    stored = contents(table.storage)
    for act in (lambda: execute_clean(table, planned), lambda: clean(table), lambda: files_of_clean(table)):
        with pytest.raises(UnsafePlan) as refused:
            act()
        assert refused.value.path == f".hoodie/timeline/{planned}.clean.requested"
        assert refused.value.found is not None and path in refused.value.found
        assert contents(table.storage) == stored


def test_the_preview_of_a_clean_shows_what_a_pending_plan_deletes():
    """CLN-004: the preview lists the files of a pending plan once, before those of a new plan."""
    table, _, _ = table_of("COPY_ON_WRITE", 5)
    oldest, *_ = old = sorted(data_files(table))
    planned_clean = foreign_clean(table, {"": [oldest]})
    shown = files_of_clean(table, RETAIN_ONE)
    assert shown[0] == oldest and len(shown) == len(set(shown))
    assert files_of_clean(table) == (oldest,)
    assert planned_clean == pending_of(table.timeline, "clean")[0].requested
    assert sorted(data_files(table)) == old, "a preview deletes nothing"
    clean(table, RETAIN_ONE)
    assert sorted({*old} - {*data_files(table)}) == sorted(shown)


@pytest.mark.parametrize(
    ("partition", "name"),
    [
        (".hoodie", "hoodie.properties"),
        (".hoodie/timeline", "history"),
        (".hoodie/metadata/files", "files-0000-0_0-0-0_00000000000000000.hfile"),
        ("", "notes.txt"),
        ("", ".hoodie_partition_metadata"),
        ("elsewhere", "a-0_0-0-0_20260101000000000.parquet"),
    ],
)
def test_a_planned_clean_deletes_nothing_but_data_files(partition, name):
    """CLN-001: a plan that names other files than base and log files in the table's partitions is refused."""
    table, _, _ = table_of("COPY_ON_WRITE")
    path = f"{partition}/{name}".lstrip("/")
    if path != ".hoodie/hoodie.properties":
        table.storage.put(path, b"precious")
    check_refused(table, foreign_clean(table, {partition: [name]}), path)


@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_a_planned_clean_deletes_no_file_that_a_snapshot_reads(kind):
    """CLN-002: every file of a latest slice is kept, whatever a plan says, also for the slice of a pending compaction."""
    table, _, _ = table_of(kind)
    if kind == "MERGE_ON_READ":
        schedule_compaction(table, {"hoodie.compact.inline.max.delta.commits": "1"})
        table.upsert(trips(trip("a", "on top")))
    (found,) = table.file_groups().latest_slices
    for name in (found.base_file, *found.log_files):
        planned = foreign_clean(table, {"": [name]})
        check_refused(table, planned, name)
        table.storage.delete(f".hoodie/timeline/{planned}.clean.requested")


def test_a_planned_clean_deletes_no_savepointed_file():
    """TL-021: a plan that names a file of a savepoint is refused."""
    table, times, _ = table_of("COPY_ON_WRITE")
    savepoint(table, times[0])
    name = next(path for path in data_files(table) if times[0] in path)
    check_refused(table, foreign_clean(table, {"": [name]}), name)


def test_a_planned_clean_deletes_no_file_that_it_retains():
    """CLN-003: a plan is refused if it deletes files of reads from the earliest instant that it says to retain."""
    table, times, _ = table_of("COPY_ON_WRITE")
    needed = next(path for path in data_files(table) if times[1] in path)
    gone = next(path for path in data_files(table) if times[0] in path)
    planned = foreign_clean(table, {"": [needed, gone]}, earliest=times[2])
    check_refused(table, planned, needed)
    table.storage.delete(f".hoodie/timeline/{planned}.clean.requested")
    execute_clean(table, foreign_clean(table, {"": [gone]}, earliest=times[2]))
    assert gone not in data_files(table)


def test_a_planned_clean_deletes_no_file_of_a_pending_write():
    """CLN-002: files of a pending write are kept: they become visible when it completes."""
    table, _, _ = table_of("COPY_ON_WRITE")
    failed = failed_writer(table)
    name = next(path for path in data_files(table) if failed in path)
    check_refused(table, foreign_clean(table, {"": [name]}), name)


def test_a_planned_clean_deletes_files_of_replaced_groups():
    """CLN-001: files of replaced groups are deleted, and a missing file is no reason to refuse a plan."""
    table, _, _ = table_of("COPY_ON_WRITE", 1)
    (old,) = data_files(table)
    table.insert_overwrite(trips(trip("c", "c")))
    execute_clean(table, foreign_clean(table, {"": [old, "gone-0_0-0-0_20250101000000000.parquet"]}))
    assert old not in data_files(table) and rows(table) == [("c", "c")]
