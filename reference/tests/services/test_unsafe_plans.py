"""Plans of rollbacks and restores that are found in a table: one that removes what must stay is refused, and can be withdrawn."""

import pytest
from reference_samples import contents, data_files, trip, trips
from service_tables import RETAIN_ONE, failed_writer, rows, table_of

from hudi_reference import clean, cluster, compact, restore, rollback, savepoint
from hudi_reference.errors import (
    CannotUndo,
    ConcurrentChange,
    MalformedMetadata,
    UnsafePlan,
    UnsupportedTableFeature,
    WriteConflict,
)
from hudi_reference.services.archive.archive import archive
from hudi_reference.services.compaction.compaction import schedule_compaction
from hudi_reference.services.indexing.indexing import execute_indexing
from hudi_reference.services.planning.plan_execution import hold_for_planning, pending_of
from hudi_reference.services.rollback.failed_writes import plans_before_clean, roll_back_failed
from hudi_reference.services.rollback.restore import execute_restore, files_of_restore, plan_restore
from hudi_reference.services.rollback.rollback import execute_rollback, plan_rollback
from hudi_reference.services.withdrawal import withdraw_plan

ARCHIVE_ALL = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}
LAZY = {"hoodie.clean.failed.writes.policy": "LAZY", "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL"}


def foreign_rollback(table, target, files):
    """A pending rollback of another engine that deletes these paths."""
    requests = [
        {
            "partitionPath": path.rpartition("/")[0],
            "fileId": "",
            "latestBaseInstant": "",
            "filesToBeDeleted": [path],
            "logBlocksToBeDeleted": {},
        }
        for path in files
    ]
    record = {"instantToRollback": {"commitTime": target, "action": "commit"}, "RollbackRequests": requests, "version": 1}
    with hold_for_planning(table) as publish:
        return publish("rollback", record)


def foreign_restore(table, target, times):
    """A pending restore of another engine."""
    writes = [{"commitTime": time, "action": "commit"} for time in times]
    with hold_for_planning(table) as publish:
        return publish("restore", {"instantsToRollback": writes, "version": 2, "savepointToRestoreTimestamp": target})


def check_refused(table, action, planned, acts, found):
    """Each act is refused with an error that names the plan and what must stay; nothing changes. The plan can be withdrawn."""
    stored = contents(table.storage)
    for act in acts:
        with pytest.raises(UnsafePlan, match=f"withdraw --instant {planned}") as refused:
            act()
        assert refused.value.path == f".hoodie/timeline/{planned}.{action}.requested"
        assert found in (refused.value.found or "")
        assert contents(table.storage) == stored
    assert withdraw_plan(table, planned) == planned
    assert pending_of(table.timeline, action) == ()
    assert rows(table) == [("a", "a3"), ("b", "b3")]


def rollbacks(table, planned, target):
    return (
        lambda: execute_rollback(table, planned),
        lambda: plan_rollback(table, target),
        lambda: rollback(table, target),
        lambda: roll_back_failed(table),
    )


@pytest.mark.parametrize("name", [".hoodie/hoodie.properties", "notes.txt", "{live}", ".hoodie/metadata/files/{own}", ""])
def test_a_planned_rollback_deletes_no_file_but_those_of_its_write(name):
    """TL-019: a plan that names files of other writes, metadata or other files is refused."""
    table, times, _ = table_of("COPY_ON_WRITE")
    failed = failed_writer(table)
    table.storage.put("notes.txt", b"precious")
    live, own = (next(path for path in data_files(table) if time in path) for time in (times[-1], failed))
    path = name.format(live=live, own=own)
    planned = foreign_rollback(table, failed, [path])
    check_refused(table, "rollback", planned, rollbacks(table, planned, failed), path)


def test_a_planned_rollback_of_an_earlier_write_is_refused():
    """TL-019: later writes are based on the one that the plan removes."""
    table, times, _ = table_of("COPY_ON_WRITE")
    planned = foreign_rollback(table, times[1], [path for path in data_files(table) if times[1] in path])
    check_refused(table, "rollback", planned, rollbacks(table, planned, times[1])[:3], times[2])


def test_a_write_names_the_rollback_that_stands_against_it():
    """TL-019: a rollback that cannot be executed stays pending, so writing again would be refused again. Its withdrawal helps."""
    table, times, _ = table_of("COPY_ON_WRITE")
    planned = foreign_rollback(table, times[1], [])
    with pytest.raises(WriteConflict, match=f"withdraw --instant {planned}") as refused:
        table.upsert(trips(trip("a", "a4", 9)))
    assert refused.value.path == f"{planned}.rollback.requested"
    withdraw_plan(table, planned)
    table.upsert(trips(trip("a", "a4", 9)))
    assert rows(table) == [("a", "a4"), ("b", "b3")]


def test_a_planned_rollback_of_a_savepointed_write_is_refused():
    """TL-021: a savepoint protects the write, whatever a plan says."""
    table, times, _ = table_of("COPY_ON_WRITE")
    savepoint(table, times[-1])
    planned = foreign_rollback(table, times[-1], [])
    check_refused(table, "rollback", planned, rollbacks(table, planned, times[-1])[:3], times[-1])


@pytest.mark.parametrize("target", ["../../x", "", "2026x"])
def test_a_planned_rollback_of_no_instant_is_refused(target):
    """TL-027: the time of the target becomes a part of paths: of markers and of the heartbeat."""
    table, _, _ = table_of("COPY_ON_WRITE")
    planned = foreign_rollback(table, target, [])
    check_refused(table, "rollback", planned, [lambda: execute_rollback(table, planned)], repr(target))


@pytest.mark.parametrize(
    ("target", "removed", "found"),
    [
        (1, (3, 2, 1, 0), (0, 1)),  # the target and an earlier write
        (1, (3,), (2,)),  # not all later ones
        (None, (2,), (3,)),  # a release that stores no target
    ],
)
def test_a_planned_restore_removes_the_later_writes_and_no_other(target, removed, found):
    """TL-023: a plan that removes the target or earlier writes, or leaves later ones out, is refused."""
    table, times, _ = table_of("COPY_ON_WRITE")
    to = None if target is None else times[target]
    planned = foreign_restore(table, to, [times[number] for number in removed])
    acts = [lambda: execute_restore(table, planned), lambda: files_of_restore(table, plan_restore(table, to or ""))]
    stored = contents(table.storage)
    for act in acts:
        with pytest.raises(UnsafePlan) as refused:
            act()
        assert any(times[number] in (refused.value.found or "") for number in found)
        assert contents(table.storage) == stored
    withdraw_plan(table, planned)
    assert rows(table) == [("a", "a3"), ("b", "b3")]


def test_a_planned_restore_keeps_savepointed_writes():
    """TL-021: a plan that removes a write with a savepoint is refused."""
    table, times, _ = table_of("COPY_ON_WRITE")
    savepoint(table, times[2])
    planned = foreign_restore(table, times[1], times[:1:-1])
    check_refused(table, "restore", planned, [lambda: execute_restore(table, planned)], times[2])


def test_a_planned_rollback_of_an_archived_write_is_refused():
    """TL-019: an archived write had completed. A plan that deletes its files is refused, and none of its rows is lost."""
    table, _, _ = table_of("COPY_ON_WRITE", 2)
    table.upsert(trips(*(trip(f"k{number}", "later", 9) for number in range(3))))
    for number in range(4):
        table.upsert(trips(trip(f"m{number}", "latest", 9)))
    archive(table, ARCHIVE_ALL)
    before = rows(table)
    own = {found.base_instant: found.paths for found in table.file_groups().latest_slices}
    target = min(own)
    assert table.timeline.start > target
    planned = foreign_rollback(table, target, own[target])
    for act in rollbacks(table, planned, target):
        with pytest.raises(UnsafePlan, match="archived"):
            act()
    assert withdraw_plan(table, planned) == planned
    assert rows(table) == before


def clean_to_one_version(table):
    """Delete all slices but the latest, also those that older commits need."""
    return clean(table, {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"})


def test_a_planned_rollback_of_the_only_files_is_refused():
    """CLN-003: a clean has deleted the slices before a compaction. Its files are the only ones that have the rows."""
    table, _, _ = table_of("MERGE_ON_READ")
    merged = compact(table)
    assert clean_to_one_version(table)
    planned = foreign_rollback(table, merged, [path for path in data_files(table) if merged in path])
    check_refused(table, "rollback", planned, rollbacks(table, planned, merged)[:3], "a clean has deleted it")


def test_a_planned_restore_to_a_cleaned_state_is_refused():
    """CLN-003: the files of the target are gone, and the plan removes those that have the rows now."""
    table, times, _ = table_of("MERGE_ON_READ")
    merged = compact(table)
    assert clean_to_one_version(table)
    planned = foreign_restore(table, times[1], [merged, times[3], times[2]])
    acts = [lambda: execute_restore(table, planned), lambda: files_of_restore(table, plan_restore(table, times[1]))]
    check_refused(table, "restore", planned, acts, "a clean has deleted it")


@pytest.mark.parametrize("action", ["rollback", "restore"])
def test_a_plan_that_was_left_before_later_writes_is_refused(action):
    """TL-019, TL-023: writes that began after the removed one had completed have read it, also if the plan is older."""
    table, times, _ = table_of("COPY_ON_WRITE", 2)
    if action == "rollback":
        planned = foreign_rollback(table, times[1], [path for path in data_files(table) if times[1] in path])
    else:
        planned = foreign_restore(table, times[0], [times[1]])
    path = f".hoodie/timeline/{planned}.{action}.requested"
    stored = table.storage.get(path)
    table.storage.delete(path)  # no writer of the reference writes beside such a plan
    later = table.upsert(trips(trip("a", "a3"), trip("b", "b3")))
    table.storage.put(path, stored)
    execute = execute_rollback if action == "rollback" else execute_restore
    check_refused(table, action, planned, [lambda: execute(table, planned)], later)


def test_a_planned_rollback_deletes_all_files_of_its_write():
    """TL-019: a file that the plan leaves out would count as committed when the active timeline begins after the write."""
    table, times, states = table_of("COPY_ON_WRITE")
    own = {path for path in data_files(table) if times[-1] in path}
    planned = foreign_rollback(table, times[-1], [])
    assert set(plan_rollback(table, times[-1]).files) == own and own
    execute_rollback(table, planned)
    assert not own & set(data_files(table))
    assert rows(table) == states[-2]


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_the_preview_of_a_restore_shows_the_files_that_it_deletes(kind):
    """TL-023: what the preview lists is what the restore deletes."""
    table, times, states = table_of(kind)
    before = set(data_files(table))
    shown = files_of_restore(table, plan_restore(table, times[1]))
    assert set(data_files(table)) == before
    restore(table, times[1])
    assert before - set(data_files(table)) == set(shown) and shown
    assert rows(table) == states[1]


def test_the_preview_of_a_lazy_clean_shows_the_writes_that_it_rolls_back():
    """CLN-004: with policy LAZY a clean rolls failed writes back first; the preview lists them with their files."""
    table, _, _ = table_of("COPY_ON_WRITE")
    failed = failed_writer(table)
    table.storage.delete(f".hoodie/.heartbeat/{failed}")
    own = {path for path in data_files(table) if failed in path}
    (plan,) = plans_before_clean(table, LAZY)
    assert (plan.target, set(plan.files)) == (failed, own)
    assert plans_before_clean(table, {}) == ()
    clean(table, {**LAZY, **RETAIN_ONE})
    assert not own & set(data_files(table))


def test_a_compaction_plan_can_be_withdrawn():
    """TL-050: without its plan the log files belong to the slice before it; no row changes, and a new plan can be made."""
    table, _, _ = table_of("MERGE_ON_READ")
    often = {"hoodie.compact.inline.max.delta.commits": "1"}
    planned = schedule_compaction(table, often)
    table.upsert(trips(trip("a", "on top", 9)))
    expected = rows(table)
    withdraw_plan(table, planned)
    assert rows(table) == expected
    assert compact(table, often) is not None
    assert rows(table) == expected


def test_only_pending_plans_can_be_withdrawn():
    """TL-047: a write, a completed action and a time without an action have no plan to withdraw."""
    table, times, _ = table_of("COPY_ON_WRITE")
    for time in (times[0], failed_writer(table), "20990101000000000"):
        with pytest.raises(CannotUndo, match="no such plan"):
            withdraw_plan(table, time)


@pytest.mark.parametrize("name", ["unknown_index", "", "../../x", None])
def test_a_planned_index_that_cannot_be_built_is_refused_before_it_begins(name):
    """INX-006: the plan of an index that is not known here is refused, nothing changes, and it can be withdrawn."""
    table, _, _ = table_of("COPY_ON_WRITE")
    info = {"version": 1, "metadataPartitionPath": name, "indexUptoInstant": "1", "extraMetadata": {}}
    with hold_for_planning(table) as publish:
        planned = publish("indexing", {"version": 1, "indexPartitionInfos": [info]})
    stored = contents(table.storage)
    with pytest.raises((MalformedMetadata, UnsupportedTableFeature)):
        execute_indexing(table, planned)
    assert contents(table.storage) == stored
    assert withdraw_plan(table, planned) == planned
    assert pending_of(table.timeline, "indexing") == ()
    assert rows(table) == [("a", "a3"), ("b", "b3")]


@pytest.mark.parametrize("partitions", [[], ["files"]])
def test_a_planned_index_without_a_metadata_table_is_removed(partitions):
    """INX-012: nothing maintains the index that the plan names, or the plan names none."""
    table, _, _ = table_of("COPY_ON_WRITE")
    infos = [{"version": 1, "metadataPartitionPath": name, "indexUptoInstant": "1", "extraMetadata": {}} for name in partitions]
    with hold_for_planning(table) as publish:
        planned = publish("indexing", {"version": 1, "indexPartitionInfos": infos})
    with pytest.raises(ConcurrentChange):
        execute_indexing(table, planned)
    assert pending_of(table.timeline, "indexing") == ()
    assert rows(table) == [("a", "a3"), ("b", "b3")]


def test_a_clustering_executes_no_rollback_of_a_completed_write():
    """SVC-009: a rollback whose plan says that its target is a clustering names a completed write; a clustering leaves both."""
    table, times, _ = table_of("COPY_ON_WRITE")
    record = {"instantToRollback": {"commitTime": times[-1], "action": "clustering"}, "RollbackRequests": [], "version": 1}
    with hold_for_planning(table) as publish:
        planned = publish("rollback", record)
    cluster(table, {"hoodie.clustering.inline.max.commits": "99"})
    assert [found.requested for found in pending_of(table.timeline, "rollback")] == [planned]
    assert rows(table) == [("a", "a3"), ("b", "b3")]


def test_a_clustering_executes_no_rollback_of_a_pending_write():
    """SVC-009: a rollback whose plan says that its target is a clustering names a write that is under way."""
    table, _, _ = table_of("COPY_ON_WRITE")
    target = failed_writer(table)
    record = {"instantToRollback": {"commitTime": target, "action": "clustering"}, "RollbackRequests": [], "version": 1}
    with hold_for_planning(table) as publish:
        planned = publish("rollback", record)
    cluster(table, {"hoodie.clustering.inline.max.commits": "99"})
    assert [found.requested for found in pending_of(table.timeline, "rollback")] == [planned]
    assert [path for path in data_files(table) if target in path]


def test_a_number_of_thousands_of_digits_is_no_limit(monkeypatch):
    """A limit that no number can have is ignored, as any other text is."""
    monkeypatch.setenv("HUDI_REFERENCE_LIMIT_INSTANTS", "9" * 5000)
    assert table_of("COPY_ON_WRITE")[0].timeline.commits
