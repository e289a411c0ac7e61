"""The exact number of storage requests of reads, markers and archiving, as formulas of the size of the table.

| question | requests |
|---|---|
| opening a table                          | 1 get, of the properties |
| its timeline, of any number of instants  | 1 listing of names |
| ... where the timeline is empty          | and 1 head: is the folder a file? |
| a view: the file groups                  | the timeline, 1 listing of the data files, 1 get for each completed write on it and for each pending compaction |
| a view, given an earlier one             | the same, without the writes that the earlier one knew |
| a snapshot                               | a view, and the files of its latest slices |
| the history for the first time           | 2 gets: version file and manifest |
| ... without a version file               | 1 get that fails, 1 listing of names, 1 get of the manifest |
| ... where there is none                  | 1 get that fails, 1 listing of names, 1 head |
| a range of requested times in the history | 1 open for each file whose name touches it and that was not read before |
| a range of completion times              | 1 open more for each older file: its footer says whether it must be read |
| the completion time of one archived write | 1 open for each file whose name covers its requested time |
| the markers of a write of n data files   | n creates, 1 listing, n deletes |
| what archiving removes beside instants   | 1 listing of the data files, 1 get for each write that goes, 1 listing for the markers of each action |
"""

from collections.abc import Callable

import pytest
from history_samples import FOLDER, Archived, Counting, level_file, name_of, put_history
from reference_samples import TABLE_TYPES, new_table, reopened, trip, trips

from hudi_reference import archive, open_table
from hudi_reference.layout.properties import TableProperties
from hudi_reference.storage import MemoryStorage
from hudi_reference.timeline.active import Timeline, load_timeline
from hudi_reference.timeline.history.history import History

PROPERTIES = TableProperties({})


def at(number: int) -> str:
    """An instant time."""
    return f"2025{number:013}"


def rows(first: int, last: int, *, late: int = 0) -> tuple[Archived, ...]:
    """Archived commits requested at every tenth time, each completed five later, the last one `late` later still."""
    times = range(first, last + 1, 10)
    return tuple((at(t), at(t + 5 + (late if t == times[-1] else 0)), "commit") for t in times)


@pytest.fixture
def old() -> Counting:
    """A history of four files with ten actions each: requested at 0 to 90, 100 to 190, ... to 390."""
    storage = MemoryStorage()
    levels = [rows(start, start + 90) for start in (0, 100, 200, 300)]
    put_history(storage, {name_of(level, int(place == 0)): level_file(*level) for place, level in enumerate(levels)})
    return Counting(storage)


def writes(count: int) -> Counting:
    """The storage of a copy-on-write table that was written so often."""
    table = new_table()
    for number in range(count):
        table.insert(trips(trip(str(number), "x")))
    return Counting(table.storage)


def test_opening_a_table_reads_its_properties_alone() -> None:
    """However many commits there are: neither their names nor their metadata are needed to open a table."""
    storage = writes(5)
    open_table("x:", storage=storage)
    assert storage.taken() == {"get": 1}


@pytest.mark.parametrize("instants", [1, 7, 500])
def test_a_timeline_costs_one_listing(instants: int) -> None:
    """LAY-017: of any number of instants, whatever their states."""
    storage = Counting(MemoryStorage())
    for number in range(instants):
        storage.inner.put(f".hoodie/timeline/{at(number)}_{at(number + 1)}.commit", b"")
        storage.inner.put(f".hoodie/timeline/{at(number)}.inflight", b"")
    assert len(load_timeline(storage, PROPERTIES).instants) == instants
    assert storage.taken() == {"names": 1}


def test_an_empty_timeline_costs_one_more_request() -> None:
    """It checks for a file in place of the folder, because a listing does not distinguish this damage from an empty timeline."""
    storage = Counting(MemoryStorage())
    assert load_timeline(storage, PROPERTIES).instants == ()
    assert storage.taken() == {"names": 1, "head": 1}


@pytest.mark.parametrize("commits", [1, 4])
def test_a_view_reads_the_metadata_of_each_write_once(commits: int) -> None:
    """Properties are not read again; one listing of the timeline, one of the data, one metadata file for each write."""
    storage = writes(commits)
    table = open_table("x:", storage=storage)
    storage.taken()
    view = table.view()
    assert storage.taken() == {"names": 1, "list": 1, "get": commits}
    assert len(view.groups.commits) == commits


def test_a_view_after_one_more_commit_reads_that_commit() -> None:
    """Given the view before: both listings and the new metadata, and not again what was known."""
    storage = writes(4)
    table = open_table("x:", storage=storage)
    before = table.view()
    reopened(table).insert(trips(trip("9", "x")))
    storage.taken()
    after = table.view(known=before)
    assert storage.taken() == {"names": 1, "list": 1, "get": 1}
    assert len(after.groups.commits) == 5
    assert after.groups.commits == table.view().groups.commits
    storage.taken()
    table.view(known=after)
    assert storage.taken() == {"names": 1, "list": 1}


@pytest.mark.parametrize(("step", "groups"), [(0, 1), (2, 3)])
def test_time_travel_opens_the_files_of_that_time(step: int, groups: int) -> None:
    """TYP-008: of each group of that time one file is opened; all active commits are read, because later ones show which files
    existed.
    """
    storage = writes(4)
    table = open_table("x:", storage=storage)
    time = table.timeline.completed[step].requested
    storage.taken()
    assert table.as_of(time).num_rows == step + 1
    assert storage.taken() == {"names": 1, "list": 1, "get": 4, "open": groups}


def test_a_snapshot_opens_the_latest_base_file_of_each_group() -> None:
    """One listing, one view, one file for each group; older slices are left alone."""
    table = new_table(partition=("p",))
    table.insert(trips(trip("1", "a", 1, "x"), trip("2", "b", 1, "y")))
    table.upsert(trips(trip("1", "c", 2, "x")))
    storage = Counting(table.storage)
    counted = open_table("x:", storage=storage)
    storage.taken()
    assert counted.snapshot().num_rows == 2
    assert storage.taken() == {"names": 1, "list": 1, "get": 2, "open": 2}


def test_active_instants_do_not_need_the_history(old: Counting) -> None:
    """LSM-001: answers about instants on the active timeline, or later ones, need no further requests."""
    active = (at(500), at(501))
    old.inner.put(f".hoodie/timeline/{active[0]}_{active[1]}.commit", b"")
    timeline = load_timeline(old, PROPERTIES)
    old.taken()
    assert timeline.completion_of(active[0]) == active[1]
    assert [i.requested for i in timeline.requested_between(at(500))] == [at(500)]
    assert old.taken() == {}


def test_the_whole_history_opens_every_file_once(old: Counting) -> None:
    """LSM-010: version file, manifest, and each of the files; a second read needs no requests."""
    history = History(old, FOLDER)
    assert len(history.instants()) == 40
    assert old.taken() == {"get": 2, "open": 4}
    assert len(history.instants(at(100), at(250))) == 16
    assert history.completion_of(at(110)) == at(115)
    assert old.taken() == {}


@pytest.mark.parametrize(
    ("begin", "end", "files", "found"),
    [
        (at(300), at(999), 1, 10),
        (at(190), at(200), 2, 2),
        (at(191), at(199), 0, 0),
        (at(0), at(0), 1, 1),
        (at(90), at(310), 4, 23),
    ],
)
def test_a_range_of_requested_times_opens_the_files_that_it_touches(
    old: Counting, begin: str, end: str, files: int, found: int
) -> None:
    """LSM-025: both ends included, by the names of the files."""
    history = History(old, FOLDER)
    assert len(history.instants(begin, end)) == found
    assert old.taken() == {"get": 2, **({"open": files} if files else {})}


@pytest.mark.parametrize("ask", [lambda h: h.completion_of(at(210)), lambda h: h.completion_of(at(210), everywhere=True)])
def test_one_archived_write_opens_the_file_that_covers_it(old: Counting, ask: Callable[[History], str | None]) -> None:
    """LSM-025: and the other files only if it is not there."""
    history = History(old, FOLDER)
    assert ask(history) == at(215)
    assert old.paths("open") == [f"{at(200)}_{at(290)}_0.parquet"]


def test_an_unknown_write_is_looked_up_in_all_files(old: Counting) -> None:
    """RDR-009: names show which files to read first; an answer "unknown" is given only after the whole history was read."""
    history = History(old, FOLDER)
    assert history.completion_of(at(211)) is None
    assert len(old.paths("open")) == 1
    assert history.completion_of(at(211), everywhere=True) is None
    assert len(old.paths("open")) == 4


def test_a_file_with_reversed_times_is_always_read() -> None:
    """ER-083: the upgrade from version 6 writes such names; the rows are in no order either."""
    storage = MemoryStorage()
    batches = (*rows(100, 190), *rows(0, 90))
    name = f"{at(100)}_{at(90)}_0.parquet"
    put_history(storage, {name: level_file(*batches), name_of(rows(200, 290)): level_file(*rows(200, 290))})
    counted = Counting(storage)
    history = History(counted, FOLDER)
    assert [i.requested for i in history.instants(at(80), at(110))] == [at(80), at(90), at(100), at(110)]
    assert counted.paths("open") == [name]
    assert len(history.completed(at(0), at(1000))) == 30


def test_late_completions_are_found_by_the_footers() -> None:
    """LSM-025, ER-039: a name has no completion times; of older files the footer is read, and the rows of one file."""
    storage = MemoryStorage()
    levels = [rows(0, 90, late=1000), rows(100, 190), rows(200, 290)]
    put_history(storage, {name_of(level): level_file(*level) for level in levels})
    counted = Counting(storage)
    history = History(counted, FOLDER)
    assert [i.requested for i in history.completed(at(290))] == [at(290), at(90)]
    # The footers of the two older files, the rows of the first and of the last.
    assert counted.taken() == {"get": 2, "open": 4}
    assert [i.requested for i in history.completed(at(0), at(15))] == [at(0), at(10)]
    assert counted.taken() == {}


def test_a_second_read_of_the_history_reads_only_new_files(old: Counting) -> None:
    """LSM-006: level files never change; files that were read earlier are kept as long as the manifest lists them."""
    timeline = load_timeline(old, PROPERTIES)
    assert len(timeline.history) == 40
    new = rows(400, 490)
    kept = {name: old.inner.get(f"{FOLDER}/{name}") for name in old.paths("open")}
    put_history(old.inner, {**kept, name_of(new): level_file(*new)}, 2)
    old.taken()
    again = load_timeline(old, PROPERTIES, timeline)
    assert len(again.history) == 50
    assert old.taken() == {"names": 1, "get": 2, "open": 1}


def test_a_history_that_was_never_written_costs_three_requests() -> None:
    """No version file, no manifest, and no file in place of the folder."""
    storage = Counting(MemoryStorage())
    assert History(storage, FOLDER).instants() == ()
    assert storage.taken() == {"get": 1, "names": 1, "head": 1}


def test_a_reader_finishes_with_its_manifest(old: Counting) -> None:
    """LSM-006: a newer manifest is published while it reads, and the files of its own are still there."""
    history = History(old, FOLDER)
    assert len(history.instants(at(300))) == 10
    merged = (*rows(0, 90), *rows(100, 190), *rows(200, 290), *rows(300, 390))
    put_history(old.inner, {name_of(merged, 1): level_file(*merged)}, 2)
    old.taken()
    assert len(history.instants()) == 40
    assert old.taken() == {"open": 3}


def test_a_reader_continues_with_the_newer_manifest_if_its_files_are_deleted(old: Counting) -> None:
    """LSM-006: the files of its manifest were merged and removed meanwhile; the newer one holds the same actions."""
    history = History(old, FOLDER)
    manifest = history.manifest
    merged = (*rows(0, 90), *rows(100, 190), *rows(200, 290), *rows(300, 390))
    put_history(old.inner, {name_of(merged, 1): level_file(*merged)}, 2)
    for file in manifest.files:
        old.inner.delete(f"{FOLDER}/{file.name}")
    assert len(history.instants()) == 40
    assert history.manifest.number == 2


def test_a_timeline_may_have_no_history() -> None:
    """Timeline: an empty history where none is given."""
    assert Timeline(()).completion_of(at(1)) is None
    assert Timeline(()).completed_between() == ()


@pytest.mark.parametrize("kind", TABLE_TYPES)
@pytest.mark.parametrize("files", [1, 3])
def test_each_file_of_a_write_costs_a_marker(kind: str, files: int) -> None:
    """A create and a delete for each file, whatever it is, and one listing for all; the others go to other folders."""
    storage = Counting(MemoryStorage())
    table = new_table(storage, table_type=kind, partition=("p",))
    rows = [trip(str(number), "x", p=str(number)) for number in range(files)]
    for _ in range(2):
        storage.requests.clear()
        instant = table.upsert(trips(*rows))
        found = {(what, path): n for (what, path), n in storage.requests.items() if path.startswith(".hoodie/.temp")}
        assert set(found.values()) == {1}
        assert sorted(what for what, _ in found) == [*["create"] * files, *["delete"] * files, "list"]
        assert ("list", f".hoodie/.temp/{instant}") in found


def test_archiving_lists_the_data_files_once() -> None:
    """One listing of the data files and one get of each completed file that goes, and of that alone, before it is flushed."""
    storage = Counting(MemoryStorage())
    table = new_table(storage, properties={"hoodie.archive.automatic": "false"})
    for number in range(8):
        table.insert(trips(trip(str(number), "x")))
    storage.requests.clear()
    limits = {"hoodie.keep.max.commits": "4", "hoodie.keep.min.commits": "2", "hoodie.clean.commits.retained": "1"}
    plan = archive(table, limits, dry_run=True)
    assert len(plan.instants) == 6
    assert storage.requests["list", ""] == 1
    read = [path.rpartition("/")[2] for what, path in storage.requests if what == "get" and "/timeline/2" in path]
    assert sorted(read) == [instant.file_name for instant in plan.instants]
    assert sum(n for (what, path), n in storage.requests.items() if what == "list" and ".temp/" in path) == 6
