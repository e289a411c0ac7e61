"""Compaction and log compaction of the reference: a crash at every point, concurrent actions, triggers, refusals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_samples import contents, data_files, new_table, timeline_files, trip, trips

from hudi_conformance.explorer.crash_points import crash_states
from hudi_reference import clean, compact, log_compact, open_table
from hudi_reference.clock import ManualClock
from hudi_reference.errors import MissingDataFile, Misuse, UnsupportedTableFeature, WriteConflict
from hudi_reference.ids import SeededIds
from hudi_reference.layout.merge_config import MergeMode
from hudi_reference.records.merge import Version, fold
from hudi_reference.records.merge_tables import Kind
from hudi_reference.records.merging.log_block_merge import shortest_history
from hudi_reference.services.compaction.compaction import execute_compaction, plan_compaction, schedule_compaction
from hudi_reference.services.compaction.log_compaction import execute_log_compaction, schedule_log_compaction
from hudi_reference.services.planning.plan_execution import read_plan
from hudi_reference.services.rollback.rollback import rollback
from hudi_reference.storage import MemoryStorage
from hudi_reference.timeline.contents.avro_container import read_record, write_record
from hudi_reference.timeline.instants.states import State
from hudi_reference.write.commit import transitions_of

DAY = 86_400_000


def rows(table):
    return sorted((row["id"], row["name"], row["_hoodie_commit_time"]) for row in table.snapshot().to_pylist())


def opened(storage, day=1, **options):
    """The table as opened by a process that starts so many days after its creation."""
    clock = ManualClock(1_767_225_600_000 + day * DAY)
    return open_table("memory:///unused", storage=storage, clock=clock, ids=SeededIds(day), **options)


def with_logs(writes=3):
    """A merge-on-read table with a base file and so many logs less one; of three keys one is deleted."""
    table = new_table(table_type="MERGE_ON_READ")
    table.upsert(trips(trip("a", "a0"), trip("b", "b0"), trip("c", "c0")))
    for number in range(1, writes):
        table.upsert(trips(trip("a", f"a{number}"), trip("b", f"b{number}")))
    table.delete(trips(trip("c", "c")))
    return table


def end_state(storage):
    """The visible state of a table: rows, data files, names of the timeline without the times of services."""
    table = opened(storage, 9)
    kinds = sorted(name.partition(".")[2] for name in timeline_files(table))
    return rows(table), sorted(path.partition("_")[0] for path in data_files(table)), kinds


@pytest.mark.parametrize("service", [compact, log_compact])
def test_crash_at_every_point(service):
    """After a crash at any point the rows are those before it; another run has the result of one run."""
    table = with_logs()
    expected = rows(table)
    points = list(crash_states(table.storage, lambda store: service(opened(store))))
    assert points[-1].ended and len(points) > 4
    end = end_state(points[-1].storage)
    for point in points:
        assert rows(opened(point.storage, 2)) == expected, point
        again = list(crash_states(point.storage, lambda store: service(opened(store, 3))))
        assert end_state(again[-1].storage) == end, point
        for second in again:
            assert rows(opened(second.storage, 4)) == expected, f"{point}, then {second}"


@pytest.mark.parametrize("service", [compact, log_compact])
def test_writes_after_a_crash_at_every_point(service):
    """After a crash at any point a later write is visible, before and after the service is run again."""
    table = with_logs()
    for point in crash_states(table.storage, lambda store: service(opened(store))):
        opened(point.storage, 2).upsert(trips(trip("a", "later"), trip("d", "new")))
        after = rows(opened(point.storage, 3))
        assert [row[:2] for row in after] == [("a", "later"), ("b", "b2"), ("d", "new")], point
        service(opened(point.storage, 4))
        assert rows(opened(point.storage, 5)) == after, point


def test_reversion_crash_at_every_point():
    """After a crash at any point of the reversion the rows are the same, and the plan can be executed."""
    table = with_logs()
    expected = rows(table)
    halfway = [point for point in crash_states(table.storage, lambda store: compact(opened(store))) if not point.ended][-1]
    (found,) = opened(halfway.storage).timeline.pending
    assert (found.action, found.state) == ("compaction", State.INFLIGHT)
    for point in crash_states(halfway.storage, lambda store: rollback(opened(store, 2), found.requested)):
        assert rows(opened(point.storage, 3)) == expected, point
        assert execute_compaction(opened(point.storage, 4), found.requested) == found.requested
        assert rows(opened(point.storage, 5)) == expected, point


class Meddling(MemoryStorage):
    """Storage that calls another process as soon as the first base file of a compaction is stored."""

    def __init__(self, storage, act):
        super().__init__()
        for info in storage.list():
            self.put(info.path, storage.get(info.path))
        self.act = act

    def create(self, path, data):
        super().create(path, data)
        if path.endswith(".parquet") and self.act:
            act, self.act = self.act, None
            act(self)


def test_two_executions_of_one_plan_make_one_commit():
    """The second execution finds the files of the first one, and one of them completes; its files exist."""
    table = with_logs()
    requested, expected = schedule_compaction(table), rows(table)
    storage = Meddling(table.storage, lambda found: execute_compaction(opened(found, 2), requested))
    with pytest.raises(WriteConflict):
        execute_compaction(opened(storage), requested)
    assert rows(opened(storage, 3)) == expected
    assert [name for name in timeline_files(opened(storage)) if name.startswith(f"{requested}_")] != []
    assert not opened(storage).file_groups().latest_slices[0].missing


def test_reverted_execution_does_not_complete():
    """An execution that was reverted and started again does not complete with deleted files."""

    def meddle(storage):
        rollback(opened(storage, 2), requested)
        other = opened(storage, 3)
        transitions_of(other).start(next(iter(other.timeline.pending)))

    table = with_logs()
    requested, expected = schedule_compaction(table), rows(table)
    storage = Meddling(table.storage, meddle)
    with pytest.raises(WriteConflict, match="was reverted"):
        execute_compaction(opened(storage), requested)
    assert rows(opened(storage, 4)) == expected
    compact(opened(storage, 5))
    assert rows(opened(storage, 6)) == expected


def test_all_rows_deleted_make_an_empty_base_file():
    """The next slice exists without rows, and no row of the slice before reappears when that is cleaned."""
    table = new_table(table_type="MERGE_ON_READ")
    table.upsert(trips(trip("a", "a"), trip("b", "b")))
    table.delete(trips(trip("a", ""), trip("b", "")))
    compact(table)
    assert table.snapshot().num_rows == table.read_optimized().num_rows == 0
    clean(table, {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"})
    assert table.snapshot().num_rows == 0


def test_counts_of_a_compaction():
    """The stat has the numbers of updated, new and deleted rows, and of merged logs."""
    table = with_logs()
    requested = compact(table)
    commit = table.view().groups.commits[next(c for c in table.timeline.commits if c.requested == requested)]
    (stat,) = commit.stats
    assert (stat.writes, stat.updates, stat.inserts, stat.deletes) == (2, 2, 0, 1)
    (record,) = commit.record["partitionToWriteStats"][stat.partition]
    assert record["totalLogFilesCompacted"] == 3
    assert record["totalLogSizeCompacted"] == sum(
        len(table.storage.get(path)) for path in contents(table.storage) if ".log." in path
    )


TRIGGERS = "hoodie.compact.inline.trigger.strategy"
COMMITS = "hoodie.compact.inline.max.delta.commits"
SECONDS = "hoodie.compact.inline.max.delta.seconds"


@pytest.mark.parametrize(
    ("options", "due"),
    [
        ({}, True),
        ({COMMITS: "4"}, True),
        ({COMMITS: "5"}, False),
        ({TRIGGERS: "TIME_ELAPSED", SECONDS: "80000"}, True),
        ({TRIGGERS: "TIME_ELAPSED", SECONDS: "90000"}, False),
        ({TRIGGERS: "NUM_AND_TIME", COMMITS: "4", SECONDS: "90000"}, False),
        ({TRIGGERS: "NUM_OR_TIME", COMMITS: "5", SECONDS: "80000"}, True),
        ({TRIGGERS: "NUM_COMMITS_AFTER_LAST_REQUEST", COMMITS: "4"}, True),
    ],
)
def test_when_a_compaction_is_due(options, due):
    """By the number of delta commits and the time since the last compaction, a day after four of them."""
    table = opened(with_logs().storage)
    assert bool(plan_compaction(table, options)) is due


def test_delta_commits_count_from_the_last_compaction_on():
    """Those before a compaction do not count; those before a plan that is pending count unless the trigger says otherwise."""
    table = with_logs()
    compact(table)
    table.upsert(trips(trip("a", "more")))
    assert not plan_compaction(table, {COMMITS: "2"})
    schedule_compaction(table, {COMMITS: "1"})
    table.insert(trips(trip("z", "another group")), new_keys_in_logs=True)
    assert plan_compaction(table, {COMMITS: "2"})
    assert not plan_compaction(table, {COMMITS: "2", TRIGGERS: "NUM_COMMITS_AFTER_LAST_REQUEST"})


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({COMMITS: "0"}, Misuse),
        ({SECONDS: "soon"}, Misuse),
        ({TRIGGERS: "AT_NOON"}, UnsupportedTableFeature),
        ({"hoodie.compaction.strategy": "com.example.Mine"}, UnsupportedTableFeature),
        ({"hoodie.compaction.target.io": "-1"}, Misuse),
    ],
)
def test_invalid_settings(options, error):
    """The error names the setting, for the service and for inline compaction, before anything is written."""
    table = with_logs()
    before = contents(table.storage)
    with pytest.raises(error):
        compact(table, options)
    inline = opened(table.storage, options={"hoodie.compact.inline": "true", **options})
    with pytest.raises(error):
        inline.upsert(trips(trip("a", "x")))
    assert contents(table.storage) == before


def test_strategies_choose_among_slices():
    """The largest logs come first, up to the budget, including the one that exceeds it."""
    table = new_table(table_type="MERGE_ON_READ")
    for number, name in enumerate(("small", "of medium length, say", "long" * 100)):
        table.insert(trips(trip(f"k{number}", name)), new_keys_in_logs=True)
    package = "org.apache.hudi.table.action.compact.strategy."

    def sizes(**options):
        named = {f"hoodie.compaction.{key.replace('_', '.')}": value for key, value in options.items()}
        return [plan.metrics["TOTAL_LOG_FILES_SIZE"] for plan in plan_compaction(table, named)]

    every = sizes()
    assert every == sorted(every, reverse=True) and len(every) == 3
    assert sizes(target_io="1") == every[:1]
    assert sizes(target_io="121") == every[:2]
    assert sizes(logfile_size_threshold=str(int(every[1]))) == every[:2]
    assert len(sizes(strategy=f"{package}BoundedIOCompactionStrategy", target_io="1")) == 1
    assert len(sizes(strategy="UnBoundedCompactionStrategy", target_io="1")) == 3
    assert sizes(strategy="LogFileNumBasedCompactionStrategy", logfile_num_threshold="2") == []


def test_refused_compactions():
    """A copy-on-write table has no logs; a slice with a missing file cannot be merged; a plan must exist."""
    with pytest.raises(Misuse):
        compact(new_table())
    with pytest.raises(Misuse):
        log_compact(new_table())
    table = with_logs()
    with pytest.raises(Misuse):
        execute_compaction(table, "20250101000000000")
    requested = schedule_compaction(table)
    log = next(path for path in contents(table.storage) if ".log." in path)
    table.storage.delete(log)
    with pytest.raises(MissingDataFile):
        execute_compaction(table, requested)
    assert [found.state for found in table.timeline.pending] == [State.INFLIGHT]


def test_log_compaction_after_compaction_is_dropped():
    """Its plan is dropped, with the files of a crashed execution; the rows are unchanged."""
    for execute in (log_compact, None):
        table = with_logs()
        halfway = [p for p in crash_states(table.storage, lambda store: log_compact(opened(store))) if not p.ended][-1]
        other = opened(halfway.storage, 2)
        (found,) = other.timeline.pending
        assert compact(other) is not None
        expected = rows(other)
        if execute:
            assert execute(opened(halfway.storage, 3)) is None
        else:
            with pytest.raises(WriteConflict, match="planned later"):
                execute_log_compaction(opened(halfway.storage, 3), found.requested)
        left = opened(halfway.storage, 4)
        assert left.timeline.pending == () and rows(left) == expected
        assert not [path for path in data_files(left) if found.requested in path]


def test_log_compaction_stops_at_pending_write():
    """If a pending write was requested between two logs, the later log and those after it are not compacted."""
    table = with_logs(2)
    transitions_of(table).request("deltacommit")
    table.upsert(trips(trip("a", "after the pending one")))
    requested = schedule_log_compaction(table)
    (operation,) = read_plan(table, "logcompaction", requested)["operations"]
    assert len(operation["deltaFilePaths"]) == 2
    assert log_compact(table) == requested
    assert [row[:2] for row in rows(table)] == [("a", "after the pending one"), ("b", "b1")]


VERSIONS = st.lists(
    st.tuples(st.sampled_from([Kind.ROW, Kind.ROW, Kind.DELETE, Kind.KEY_DELETE]), st.integers(1, 3)), min_size=1, max_size=6
)


@given(VERSIONS, VERSIONS, st.integers(0, 3))
def test_compacted_log_is_equivalent_to_original_logs(joined, later, stored):
    """Over any stored row or none, and under any later versions, the compacted log has the result of the original logs."""
    mode: MergeMode = "EVENT_TIME_ORDERING"

    def made(kinds, start):
        return [Version(kind, None if kind is Kind.KEY_DELETE else value, start + n) for n, (kind, value) in enumerate(kinds)]

    before = [Version(Kind.ROW, stored, 0)] if stored else []
    every, after = made(joined, 1), made(later, 100)
    short = shortest_history(every, mode)

    def result(history):
        winner = fold(history, mode)
        return winner.position if winner is not None and winner.kind is Kind.ROW else None

    assert len(short) <= 3
    assert result([*before, *short]) == result([*before, *every])
    assert result([*before, *short, *after]) == result([*before, *every, *after])


def test_change_capture_files_in_a_plan_are_no_log_files():
    """CMP-003, TYP-012: release 1.2.0 names them in its plans. They are not merged, and are not missing from the slice."""
    table = with_logs()
    before, times = rows(table), [instant.requested for instant in table.timeline.commits]
    path = f".hoodie/timeline/{schedule_compaction(table)}.compaction.requested"
    planned = read_record(table.storage.get(path), path)
    (operation,) = planned["operations"]
    log = operation["deltaFilePaths"][0]
    operation["deltaFilePaths"].insert(0, f"{log}.cdc")
    table.storage.put(f"{log}.cdc", b"changes, not rows")
    table.storage.put(path, write_record(planned.schema, planned, bytes(16)))
    compact(opened(table.storage, 2))
    assert [row[:2] for row in rows(opened(table.storage, 3))] == [row[:2] for row in before]
    assert opened(table.storage).as_of(times[0]).num_rows == 3
