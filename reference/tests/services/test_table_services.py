"""Table services of the reference: conflicts and refusals."""

import pytest
from reference_samples import TABLE_TYPES, contents, data_files, new_table, timeline_files, trip, trips
from service_tables import DAY, RETAIN_ONE, failed_writer, opened, rows, table_of

from hudi_reference import archive, clean, open_table, restore, rollback, savepoint
from hudi_reference.clock import ManualClock
from hudi_reference.errors import (
    CannotProtect,
    CannotUndo,
    HudiError,
    InvalidQuery,
    Misuse,
    UnsupportedTableFeature,
    WriteConflict,
)
from hudi_reference.ids import SeededIds
from hudi_reference.layout.metadata_settings import INFLIGHT, USABLE
from hudi_reference.layout.properties_writer import update_properties
from hudi_reference.services.clean.clean import execute_clean, plan_clean, schedule_clean
from hudi_reference.services.clustering.clustering import cluster
from hudi_reference.services.clustering.plan import plan_clustering
from hudi_reference.services.compaction.compaction import compact, plan_compaction, schedule_compaction
from hudi_reference.services.compaction.log_compaction import log_compact, plan_log_compaction
from hudi_reference.services.indexing.indexing import index
from hudi_reference.services.planning.clean_plan import CleanPolicy
from hudi_reference.services.planning.plan_execution import pending_of
from hudi_reference.services.rollback.restore import execute_restore, plan_restore, schedule_restore
from hudi_reference.services.rollback.rollback import execute_rollback, plan_rollback, schedule_rollback
from hudi_reference.timeline.instants.times import milliseconds_of
from hudi_reference.write.commit import begin, transitions_of
from hudi_reference.write.concurrency.config import Concurrency, Policy


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
    """The slices of a group were written by archived writes, superseded and cleaned. A read as of a time in between raises an
    error and does not return the rows of other groups; a savepoint of that time and a restore to it are refused.
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


def test_settings_of_cleans_have_former_names():
    """Names of earlier releases are settings too; where both are given, the present name counts."""
    former = {
        "hoodie.cleaner.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.cleaner.fileversions.retained": "2",
        "hoodie.cleaner.commits.retained": "4", "hoodie.cleaner.hours.retained": "5",
    }  # fmt: skip
    assert CleanPolicy.from_options(former) == CleanPolicy("KEEP_LATEST_FILE_VERSIONS", 4, 2, 5)
    assert CleanPolicy.from_options(former | {"hoodie.clean.commits.retained": "7"}).commits == 7
    assert Concurrency.from_options({"hoodie.cleaner.policy.failed.writes": "LAZY"}).policy is Policy.LAZY


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
    lists = {USABLE: "files", INFLIGHT: ""} | ({USABLE: "other_index,files"} if listed == USABLE else {listed: "other_index"})
    update_properties(table.storage, transitions_of(table).times.lock, lists, comment="by another engine")
    stored = {path: table.storage.get(path) for path in contents(table.storage)}
    with pytest.raises(UnsupportedTableFeature, match="other_index") as refused:
        CHANGES_OF_FILES[service](opened(table.storage) if is_known else before)
    assert refused.value.rule == "PROP-001"
    assert {path: table.storage.get(path) for path in contents(table.storage)} == stored


def without_timeline(storage):
    """All objects except those of the timeline and its history."""
    return {path: storage.get(path) for path in contents(storage) if not path.startswith(".hoodie/timeline/")}


def test_savepoints_and_archiving_need_no_index():
    """PROP-001, TL-021, ARC-001: they change neither data files nor the metadata table, so no index gets out of date."""
    table, times, _ = table_of("COPY_ON_WRITE", 5)
    lists = {USABLE: "other_index,files", INFLIGHT: ""}
    update_properties(table.storage, transitions_of(table).times.lock, lists, comment="by another engine")
    before = without_timeline(table.storage)
    assert savepoint(opened(table.storage), times[-1]) == times[-1]
    archive(opened(table.storage), {"hoodie.keep.max.commits": "3", "hoodie.keep.min.commits": "2"})
    assert without_timeline(table.storage) == before


def test_compaction_is_not_reverted_with_unmaintained_indexes():
    """PROP-001, TL-050: the files of an execution are kept if indexes that are not maintained would have to follow."""
    table, _, _ = table_of("MERGE_ON_READ")
    planned = schedule_compaction(table, {"hoodie.compact.inline.max.delta.commits": "1"})
    pending = pending_of(table.timeline, "compaction")[0]
    transitions_of(table).start(pending)
    lists = {USABLE: "other_index,files", INFLIGHT: ""}
    update_properties(table.storage, transitions_of(table).times.lock, lists, comment="by another engine")
    stored = contents(table.storage)
    with pytest.raises(UnsupportedTableFeature, match="other_index"):
        rollback(opened(table.storage), planned)
    assert contents(table.storage) == stored
