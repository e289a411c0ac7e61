"""Table services of the reference: a crash at every point, conflicts, and refusals."""

import pytest
from reference_samples import TABLE_TYPES, contents, data_files, new_table, timeline_files, trip, trips

from hudi_conformance.explorer.crash_points import crashes
from hudi_reference import archive, clean, delete_savepoint, open_table, restore, rollback, savepoint
from hudi_reference.clock import ManualClock
from hudi_reference.errors import (
    CannotProtect,
    CannotUndo,
    HudiError,
    InvalidQuery,
    Misuse,
    UnsafePlan,
    UnsupportedTableFeature,
    WriteConflict,
)
from hudi_reference.ids import SeededIds
from hudi_reference.layout.properties_update import update_properties
from hudi_reference.metadata.availability import INFLIGHT, USABLE
from hudi_reference.services.clean.clean import execute_clean, files_of_clean, plan_clean, schedule_clean
from hudi_reference.services.clustering.clustering import cluster
from hudi_reference.services.clustering.plan import plan_clustering
from hudi_reference.services.compaction.compaction import compact, plan_compaction, schedule_compaction
from hudi_reference.services.compaction.log_compaction import log_compact, plan_log_compaction
from hudi_reference.services.indexing.indexing import index
from hudi_reference.services.planning.plan_execution import pending_of, planning
from hudi_reference.services.rollback.restore import execute_restore, plan_restore, schedule_restore
from hudi_reference.services.rollback.rollback import execute_rollback, plan_rollback, schedule_rollback
from hudi_reference.timeline.instants.times import milliseconds_of
from hudi_reference.write.commit import begin, transitions_of

DAY = 86_400_000
RETAIN_ONE = {"hoodie.clean.commits.retained": "1"}


def rows(table):
    return sorted((row["id"], row["name"]) for row in table.snapshot(["id", "name"]).to_pylist())


def opened(storage, day=1):
    """The table as opened by a process that starts so many days after its creation."""
    return open_table("memory:///unused", storage=storage, clock=ManualClock(1_767_225_600_000 + day * DAY), ids=SeededIds(day))


def table_of(kind, writes=4):
    """A table, the requested times of its writes, and the rows after each."""
    table = new_table(table_type=kind)
    times, states = [], []
    for number in range(writes):
        times.append(table.upsert(trips(trip("a", f"a{number}"), trip("b", f"b{number}"))))
        states.append(rows(table))
    return table, times, states


def failed_writer(table):
    """A write that stored its files and never completed; its instant. It also left markers and a heartbeat."""
    found = begin(table, "UPSERT")
    for path in [path for path in data_files(table) if table.timeline.commits[-1].requested in path]:
        copy = path.replace(table.timeline.commits[-1].requested, found.requested)
        table.storage.put(copy, table.storage.get(path))
        table.storage.put(f".hoodie/.temp/{found.requested}/{copy}.marker.CREATE", b"")
    table.storage.put(f".hoodie/.heartbeat/{found.requested}", b"")
    return found.requested


def end_state(storage):
    """The visible state of a table: rows, data files, names of the timeline without the times of services."""
    table = opened(storage, 9)
    kinds = sorted(name.partition(".")[2] for name in timeline_files(table))
    rest = [path for path in contents(storage) if path.startswith((".hoodie/.temp", ".hoodie/.heartbeat"))]
    return rows(table), sorted(data_files(table)), kinds, rest


def check_crashes(storage, service, allowed):
    """After a crash of `service` at any point the rows are among `allowed`; after another run the table is as after one run."""
    points = list(crashes(storage, lambda store: service(opened(store))))
    assert points[-1].ended and len(points) > 5
    expected = end_state(points[-1].storage)
    for point in points:
        assert rows(opened(point.storage, 2)) in allowed, point
        if not point.ended:
            again = list(crashes(point.storage, lambda store: service(opened(store, 3))))
            assert end_state(again[-1].storage) == expected, point
            for second in again:
                assert rows(opened(second.storage, 4)) in allowed, f"{point}, then {second}"


@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_rollback_crash_at_every_point(kind):
    """Of a failed write: the rows are always those before it, and a second run has the result of one run."""
    table, _, states = table_of(kind, 2)
    failed = failed_writer(table)
    check_crashes(table.storage, lambda found: rollback_unless_done(found, failed), [states[-1]])


@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_rollback_of_completed_commit_crash_at_every_point(kind):
    """Of the newest commit: the rows are those after it or those before it."""
    table, times, states = table_of(kind, 3)
    check_crashes(table.storage, lambda found: rollback_unless_done(found, times[-1]), states[-2:])


def rollback_unless_done(table, instant):
    """A run after its completion raises CannotUndo: there is no such write."""
    known = any(found.requested == instant for found in table.timeline.writes)
    if known or any(found.action == "rollback" for found in table.timeline.pending):
        rollback(table, instant)


@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_restore_crash_at_every_point(kind):
    """The rows are those after one of the removed commits, newest first; rollbacks after the target are removed."""
    table, times, states = table_of(kind, 4)
    rollback(table, table.upsert(trips(trip("c", "rolled back"))))
    failed_writer(table)
    savepoint(table, times[1])
    check_crashes(table.storage, lambda found: restore(found, times[1]), states[1:])


def test_clean_crash_at_every_point():
    """The rows are always the same, and the same files are deleted."""
    table, _, states = table_of("COPY_ON_WRITE", 4)
    check_crashes(table.storage, lambda found: clean(found, RETAIN_ONE), [states[-1]])


def test_savepoint_crash_at_every_point():
    """An inflight savepoint protects nothing and does not block another attempt; the same holds for a deletion."""
    table, times, states = table_of("COPY_ON_WRITE", 2)

    def protect(found):
        if not any(i.action == "savepoint" for i in found.timeline.completed):
            savepoint(found, times[0])

    points = list(crashes(table.storage, lambda store: protect(opened(store))))
    for point in points:
        protect(opened(point.storage, 2))
        assert "savepoint.savepoint" not in str(end_state(point.storage))
        assert end_state(point.storage) == end_state(points[-1].storage)
        for deletion in crashes(point.storage, lambda store: delete_savepoint(opened(store, 3), times[0])):
            if any(i.action == "savepoint" for i in opened(deletion.storage).timeline.instants):
                delete_savepoint(opened(deletion.storage, 4), times[0])
            assert end_state(deletion.storage) == end_state(table.storage)
    assert rows(table) == states[-1]


def test_a_dry_run_changes_nothing():
    """Making a plan without publishing it leaves every object unchanged."""
    from hudi_reference.services.rollback.restore import plan_restore
    from hudi_reference.services.rollback.rollback import plan_rollback
    from hudi_reference.services.rollback.savepoint import savepoint_files

    table, times, _ = table_of("COPY_ON_WRITE", 4)
    before = contents(table.storage)
    assert plan_clean(table, RETAIN_ONE) is not None
    assert plan_rollback(table, times[-1]).files
    assert [time for time, _ in plan_restore(table, times[1]).writes] == times[:1:-1]
    assert savepoint_files(table, times[1])
    assert contents(table.storage) == before


def test_refused_rollbacks():
    """Unknown, savepointed and older writes are not rolled back, nor a write with an active writer."""
    table, times, _ = table_of("COPY_ON_WRITE", 3)
    before = contents(table.storage)
    for instant in ("20990101000000000", times[0]):
        with pytest.raises(CannotUndo):
            rollback(table, instant)
    assert contents(table.storage) == before
    savepoint(table, times[-1])
    with pytest.raises(CannotUndo, match="savepoint"):
        rollback(table, times[-1])


@pytest.mark.parametrize("age", [0, 120_000, 120_001])
def test_writer_with_active_heartbeat_is_not_rolled_back(tmp_path, age):
    """TL-030: a write with an active heartbeat is not rolled back until two heartbeats are missing."""
    from hudi_reference.storage import LocalStorage

    table = new_table(LocalStorage(tmp_path / "t"))
    table.upsert(trips(trip("a", "x")))
    failed = failed_writer(table)
    beat = table.storage.head(f".hoodie/.heartbeat/{failed}")
    waiting = open_table("", storage=table.storage, clock=ManualClock(beat.modified + age, step=0), ids=SeededIds(3))
    from hudi_reference.services.rollback.rollback import plan_rollback

    if age > 120_000:
        assert plan_rollback(waiting, failed).files
    else:
        with pytest.raises(CannotUndo, match="is active"):
            plan_rollback(waiting, failed)


def test_write_that_completes_is_not_rolled_back():
    """A rollback that was planned while its target was pending is dropped when the target turns out to have completed."""
    table, _, _ = table_of("COPY_ON_WRITE", 1)
    slow = begin(table, "UPSERT")
    planned = schedule_rollback(table, slow.requested)
    folder = table.properties.timeline_folder
    done = table.timeline.commits[-1]
    table.storage.put(f"{folder}/{slow.requested}_{int(planned) + 500}.commit", table.storage.get(f"{folder}/{done.file_name}"))
    with pytest.raises(CannotUndo, match="completed"):
        rollback(table, slow.requested)
    assert not table.timeline.pending


def test_a_writer_that_is_being_rolled_back_cannot_complete():
    """Once the rollback of a pending write is planned, its completion raises WriteConflict."""
    table, _, states = table_of("COPY_ON_WRITE", 1)
    slow = begin(table, "UPSERT")
    schedule_rollback(table, slow.requested)
    with pytest.raises(WriteConflict):
        slow.complete(table.view().schema)
    rollback(table, slow.requested)
    assert rows(table) == states[-1]


def test_no_write_begins_during_restore():
    """A new write would be based on commits that the restore removes."""
    table, times, states = table_of("COPY_ON_WRITE", 3)
    schedule_restore(table, times[0])
    with pytest.raises(WriteConflict):
        table.upsert(trips(trip("a", "too early")))
    with pytest.raises(CannotUndo):
        restore(table, times[1])
    restore(table, times[0])
    assert rows(table) == states[0]


def test_restore_to_cleaned_instant_is_refused():
    """Without a savepoint a clean has deleted files of old instants."""
    table, times, states = table_of("COPY_ON_WRITE", 4)
    clean(table, RETAIN_ONE)
    with pytest.raises(CannotUndo):
        restore(table, times[0])
    assert rows(table) == states[-1]
    assert restore(table, times[-1]) is None, "nothing is later than the newest"


VERSIONS = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"}


@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_a_clean_by_versions_leaves_no_partial_states(kind):
    """A group whose slices were written by archived writes only, until they were superseded and cleaned: as of a time between there is an
    error, not the rows of the other groups; no savepoint of that time, and no way back to it.
    """
    options = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"}
    table = new_table(table_type=kind, partition=("p",), options=options)
    table.upsert(trips(trip("q", "old", p="quiet")))
    for number in range(6):
        table.upsert(trips(trip("a", f"a{number}", p="busy")))
    limits = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.automatic": "false"}
    assert archive(table, {**limits, **options, "hoodie.clean.commits.retained": "1"})
    between = table.timeline.commits[-1].requested
    assert rows(table) == sorted((r["id"], r["name"]) for r in table.as_of(between, ["id", "name"]).to_pylist())
    table.upsert(trips(trip("q", "new", p="quiet")))
    assert clean(table, VERSIONS)
    after, present = table.timeline.commits[-1].requested, rows(table)
    with pytest.raises(InvalidQuery, match="cleaned") as caught:
        table.as_of(between)
    assert caught.value.path.startswith("quiet/")
    with pytest.raises(CannotProtect):
        savepoint(table, between)
    with pytest.raises(CannotUndo):
        restore(table, between)
    assert rows(table) == present == sorted((r["id"], r["name"]) for r in table.as_of(after, ["id", "name"]).to_pylist())


def test_a_savepoint_and_a_planned_clean_exclude_each_other():
    """A savepoint of files in a published clean plan is refused; a plan made after a savepoint excludes its files."""
    table, times, _ = table_of("COPY_ON_WRITE", 4)
    planned = schedule_clean(table, RETAIN_ONE)
    with pytest.raises(CannotProtect):
        savepoint(table, times[0])
    assert "savepoint" not in str(timeline_files(table))
    execute_clean(table, planned)
    with pytest.raises(CannotProtect):
        savepoint(table, times[0])
    savepoint(table, times[2])
    for number in range(3):
        table.upsert(trips(trip("a", f"later {number}")))
    clean(table, RETAIN_ONE)
    assert [path for path in data_files(table) if times[2] in path]


def test_hours_are_counted_back_from_now():
    """A clean by hours keeps slices requested within these hours, and the slice before."""
    table, times, _ = table_of("COPY_ON_WRITE", 5)
    later = milliseconds_of(times[3]) + 3_600_000
    now = open_table("memory:///unused", storage=table.storage, clock=ManualClock(later, step=0), ids=SeededIds(3))
    plan = plan_clean(now, {"hoodie.clean.policy": "KEEP_LATEST_BY_HOURS", "hoodie.clean.hours.retained": "1"})
    assert plan["earliestInstantToRetain"]["timestamp"] == times[3]
    deleted = str(plan["filePathsToBeDeletedPerPartition"])
    assert [time in deleted for time in times] == [True, True, False, False, False]


def test_clean_keeps_base_of_pending_write():
    """The state at the begin of a pending write is kept, however few commits are retained."""
    table, times, _ = table_of("COPY_ON_WRITE", 3)
    begin(table, "UPSERT")
    for number in range(3):
        table.upsert(trips(trip("a", f"later {number}")))
    plan = plan_clean(table, RETAIN_ONE)
    assert plan["earliestInstantToRetain"]["timestamp"] == times[-1]


@pytest.mark.parametrize(
    "options",
    [
        {"hoodie.clean.commits.retained": "0"},
        {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "0"},
        {"hoodie.clean.policy": "KEEP_ALL"},
        {"hoodie.clean.commits.retained": "ten"},
    ],
)
def test_invalid_settings_are_refused(options):
    """A clean that keeps nothing would delete the table, so that such settings are refused."""
    table, _, _ = table_of("COPY_ON_WRITE", 2)
    with pytest.raises(Misuse):
        clean(table, options)


@pytest.mark.parametrize("act", [execute_clean, execute_rollback, execute_restore])
def test_missing_plan_is_misuse(act):
    """The requested time of another action, or of none, is Misuse; nothing changes."""
    table, times, _ = table_of("COPY_ON_WRITE", 1)
    before = contents(table.storage)
    for instant in (times[0], "20990101000000000"):
        with pytest.raises(HudiError):
            act(table, instant)
    assert contents(table.storage) == before


@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_plan_is_executed_once(kind):
    """An execution of a completed plan changes nothing."""
    table, times, _ = table_of(kind, 3)
    planned = schedule_rollback(table, times[-1])
    execute_rollback(table, planned)
    before = contents(table.storage)
    assert execute_rollback(table, planned) == planned
    assert contents(table.storage) == before


class Watched(ManualClock):
    """A clock that records the durations of sleeps."""

    def __init__(self, time: int) -> None:
        super().__init__(time)
        self.slept: list[int] = []

    def sleep(self, milliseconds: int) -> None:
        self.slept.append(milliseconds)
        super().sleep(milliseconds)


@pytest.mark.parametrize("act", [lambda table: table.upsert(trips(trip("a", "late"))), lambda table: clean(table, RETAIN_ONE)])
def test_writers_and_services_wait_as_long_as_their_settings_say(act):
    """TT-008, TT-010: requested and completion times are drawn with the bound of the caller, not with the default."""
    table, _, _ = table_of("COPY_ON_WRITE")
    clock = Watched(1_767_225_600_000 + DAY)
    options = {"hoodie.time.generator.max_expected_clock_skew_ms": "700"}
    act(open_table("memory:///unused", storage=table.storage, clock=clock, ids=SeededIds(5), options=options))
    assert len(clock.slept) == 2
    assert min(clock.slept) > 700


def first_commit(table):
    return table.timeline.commits[0].requested


def pending_write(table):
    return next(found.requested for found in table.timeline.pending if found.action in ("commit", "deltacommit"))


#: Every service that changes data files, with its run and its preview.
CHANGES_OF_FILES = {
    "clean": lambda table: clean(table, RETAIN_ONE),
    "clean, failed writes": lambda table: clean(table, {"hoodie.clean.failed.writes.policy": "LAZY"}),
    "clean, preview": lambda table: plan_clean(table, RETAIN_ONE),
    "compaction": compact,
    "compaction, preview": plan_compaction,
    "log compaction": log_compact,
    "log compaction, preview": plan_log_compaction,
    "clustering": cluster,
    "clustering, preview": plan_clustering,
    "indexing": lambda table: index(table, {"hoodie.metadata.record.index.enable": "true"}),
    "rollback": lambda table: rollback(table, pending_write(table)),
    "rollback, preview": lambda table: plan_rollback(table, pending_write(table)),
    "restore": lambda table: restore(table, first_commit(table)),
    "restore, preview": lambda table: plan_restore(table, first_commit(table)),
    "write": lambda table: table.upsert(trips(trip("a", "later"))),
    "delete": lambda table: table.delete(trips(trip("a", "later")).select(["id"])),
}


@pytest.mark.parametrize("listed", [USABLE, INFLIGHT])
@pytest.mark.parametrize(
    ("service", "is_known"),
    [
        (service, is_known)
        for service in CHANGES_OF_FILES
        for is_known in (True, False)
        if is_known or service not in ("write", "delete")  # these only add files before the completion refuses them
    ],
)
def test_unmaintained_indexes_are_refused_before_any_change(service, is_known, listed):
    """OCC-020, PROP-001: a service that would leave an index of another engine out of date is refused before it has written
    or deleted anything; so is its preview, and a write with all services that come before it."""
    table, _, _ = table_of("MERGE_ON_READ")
    failed_writer(table)
    before = opened(table.storage)
    lists = {USABLE: "files", INFLIGHT: ""} | ({USABLE: "column_stats,files"} if listed == USABLE else {listed: "column_stats"})
    update_properties(table.storage, transitions_of(table).times.lock, lists, comment="by another engine")
    stored = {path: table.storage.get(path) for path in contents(table.storage)}
    with pytest.raises(UnsupportedTableFeature, match="column_stats") as refused:
        CHANGES_OF_FILES[service](opened(table.storage) if is_known else before)
    assert refused.value.rule == "PROP-001"
    assert {path: table.storage.get(path) for path in contents(table.storage)} == stored


def test_compaction_is_not_reverted_with_unmaintained_indexes():
    """PROP-001, TL-050: the files of an execution are kept if indexes that are not maintained would have to follow."""
    table, _, _ = table_of("MERGE_ON_READ")
    planned = schedule_compaction(table, {"hoodie.compact.inline.max.delta.commits": "1"})
    pending = pending_of(table.timeline, "compaction")[0]
    transitions_of(table).start(pending)
    lists = {USABLE: "column_stats,files", INFLIGHT: ""}
    update_properties(table.storage, transitions_of(table).times.lock, lists, comment="by another engine")
    stored = contents(table.storage)
    with pytest.raises(UnsupportedTableFeature, match="column_stats"):
        rollback(opened(table.storage), planned)
    assert contents(table.storage) == stored


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
    with planning(table) as publish:
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


def test_a_planned_clean_deletes_nothing_that_it_says_to_retain():
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
