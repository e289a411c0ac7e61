"""Reads of past states whose writes were archived: refused if a clean deleted a file of that state, whichever clean it was.

Savepoints keep files and commits of some states, so that files of an older state are there when those of a later one are not.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import combinations

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.actions_by_hand import add_milliseconds, clean_plan, clean_result, put_action
from hudi_conformance.suite.support.concurrent.pending_writes import SEVERAL_WRITERS, begin_write
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, as_arrow, row
from hudi_conformance.suite.support.tables.archived_tables import archive_limits
from hudi_conformance.suite.support.tables.tables_under_services import (
    WRITES,
    Known,
    create_updated_table,
    instant_files,
    keep_commits,
    keep_versions,
    read_as_of,
    read_snapshot,
)
from hudi_conformance.suite.support.tables.written_tables import CAPTURED, Type, completion_time, table_folder
from hudi_reference.timeline.instants.states import State

NewUri = Callable[[], str]
#: No service runs by itself.
BY_HAND = {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}
PAST = pytest.mark.needs(*WRITES, "service.clean", "service.archive", "service.savepoint", "read.as-of", "copy-on-write")


def archive_all_but(engine: Client, uri: str, fewest: int, gone: str) -> None:
    """Archive up to the newest writes, also beyond savepoints; `gone` is a write that must then be archived."""
    options = archive_limits(fewest + 1, fewest, **{"hoodie.archive.beyond.savepoint": "true"})
    engine.service(uri, "archive", options=options)
    assert not [name for name in instant_files(uri) if name.startswith(gone)], "the write was not archived"


def update(engine: Client, uri: str, number: int, city: str = "oslo", **options: str) -> str:
    """Write one record with this number as ordering value; return the instant."""
    rows = as_arrow([row("a", number, f"update {number}", city)])
    return engine.write(uri, "upsert", rows, options={**BY_HAND, **options})


def uncomplete(uri: str, instant: str) -> None:
    """Remove the completed file of a clean, as if its process had crashed before."""
    (file,) = (table_folder(uri) / ".hoodie" / "timeline").glob(f"{instant}_*.clean")
    file.unlink()
    (file.parent / f".{file.name}.crc").unlink(missing_ok=True)


@PAST
@pytest.mark.requirements("CLN-003")
def test_a_savepoint_does_not_answer_for_a_later_archived_write(engine: Client, new_uri: NewUri) -> None:
    """CLN-003: a savepoint keeps the files of a write, later writes were cleaned and archived. A read as of a later one is an
    error, not the rows of the savepoint.
    """
    table = create_updated_table(engine, new_uri(), 8)
    saved, *later = table.instants[2:6]
    engine.service(table.uri, "savepoint", instant=saved)
    engine.service(table.uri, "clean", options=keep_commits(1))
    archive_all_but(engine, table.uri, 2, later[-1])
    for instant in later:
        with pytest.raises(ContractError):
            read_as_of(engine, table.uri, instant)
    assert read_snapshot(engine, table.uri) == table.rows[-1]


@PAST
@pytest.mark.requirements("CLN-003", "TL-041")
def test_a_clean_that_did_not_complete_may_have_deleted_files(engine: Client, new_uri: NewUri) -> None:
    """CLN-003: a clean has deleted files, and its process crashed before it completed. A read as of an archived write is an
    error, not an answer without the rows of the deleted files; a read as of a write that no clean concerns is not.
    """
    table = create_updated_table(engine, new_uri(), 6)
    archive_all_but(engine, table.uri, 3, table.instants[2])
    instant = engine.service(table.uri, "clean", options=keep_commits(2))
    assert instant is not None
    uncomplete(table.uri, instant)
    for earlier in table.instants[1:3]:
        with pytest.raises(ContractError):
            read_as_of(engine, table.uri, earlier)
    assert read_as_of(engine, table.uri, table.instants[-1]) == table.rows[-1]


#: How the first of two cleans chose its files, and how many writes follow it.
FIRST_CLEANS = {
    "by commits, active": (keep_commits(1), 2),
    "by commits, archived": (keep_commits(1), 4),
    "by versions, active": (keep_versions(1), 2),
    "by versions, archived": (keep_versions(1), 4),
}


def cleaned_twice(engine: Client, uri: str, first: Mapping[str, str], later: int) -> Known:
    """Create a table with two cleans: the first deleted files of the state that the second retained. Archive most of it.

    The first clean deletes the slices of the writes 2 to 4, because savepoints keep those before. Without the savepoints the
    second one has a slice to delete, although it retains all states from write 3 on.
    """
    table = create_updated_table(engine, uri, 5)
    for instant in table.instants[:2]:
        engine.service(uri, "savepoint", instant=instant)
    assert engine.service(uri, "clean", options=first) is not None
    for instant in table.instants[:2]:
        engine.service(uri, "savepoint", instant=instant, options={"delete": "true"})
    for number in range(7, 7 + later):
        table.instants.append(update(engine, uri, number))
        table.rows.append(read_snapshot(engine, uri))
    assert engine.service(uri, "clean", options=keep_commits(len(table.instants) - 3)) is not None
    return table


@PAST
@pytest.mark.requirements("CLN-003")
@pytest.mark.parametrize("first", ["by versions, active", "by commits, archived"])
def test_every_clean_counts_not_only_the_last(engine: Client, new_uri: NewUri, first: str) -> None:
    """CLN-003: a state that the last clean retained was cleaned by an earlier one. A read as of it is an error, not the rows of
    an older slice; also when its write is archived, and the clean.
    """
    table = cleaned_twice(engine, new_uri(), *FIRST_CLEANS[first])
    archive_all_but(engine, table.uri, 2, table.instants[3])
    with pytest.raises(ContractError):
        read_as_of(engine, table.uri, table.instants[3])
    assert read_as_of(engine, table.uri, table.instants[-1]) == table.rows[-1]


@PAST
@pytest.mark.needs("read.incremental")
@pytest.mark.requirements("CLN-003", "TYP-009")
@pytest.mark.parametrize("first", ["by commits, active", "by versions, archived"])
def test_a_window_is_refused_by_every_clean(engine: Client, new_uri: NewUri, first: str) -> None:
    """CLN-003: the window ends in a state that the last clean retained and an earlier one cleaned. The query is an error: a row
    that changed again since is in no file any more.
    """
    table = cleaned_twice(engine, new_uri(), *FIRST_CLEANS[first])
    begin, end = (completion_time(table.uri, table.instants[number]) for number in (2, 3))
    archive_all_but(engine, table.uri, 2, table.instants[3])
    with pytest.raises(ContractError):
        engine.read(table.uri, Query("incremental", begin=begin, end=end, columns=("id", "value")))


@pytest.mark.needs(*WRITES, "service.clean", "service.archive", "read.incremental", "copy-on-write")
@pytest.mark.requirements("CLN-003", "TYP-009")
def test_a_window_of_archived_and_active_writes(engine: Client, new_uri: NewUri) -> None:
    """CLN-003: the writes of a window are archived in part. A row of an archived one has changed since the end of the window,
    and its file was cleaned, so that the query is an error. Windows that begin after that write, or have no end, are answered.
    """
    uri = new_uri()
    engine.create(uri, Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec())
    cities = ("oslo", "oslo", "rio", "oslo", "oslo", "rio", "oslo")
    instants = [update(engine, uri, number, city) for number, city in enumerate(cities)]
    times = [completion_time(uri, instant) for instant in instants]
    assert engine.service(uri, "clean", options=keep_commits(2)) is not None
    archive_all_but(engine, uri, 4, instants[2])

    def numbers(begin: str | None, end: str | None) -> list[int]:
        rows = engine.read(uri, Query("incremental", begin=begin, end=end, columns=("ts",))).to_pylist()
        return sorted(one["ts"] for one in rows)

    for begin in (None, *times[:2]):
        with pytest.raises(ContractError):
            numbers(begin, times[4])
        assert numbers(begin, None) == [5, 6]
    assert numbers(times[4], times[5]) == [5]


@PAST
@pytest.mark.requirements("CLN-003")
def test_all_active_writes_may_be_savepointed(engine: Client, new_uri: NewUri) -> None:
    """CLN-003: the writes of a table are archived but for the savepointed ones, none of which names a cleaned file. A read as
    of an archived write whose file was cleaned is an error, not the rows of the other groups.
    """
    uri = new_uri()
    table = create_updated_table(engine, uri, 2)
    changed = engine.write(uri, "upsert", as_arrow([row("c", 2, "again", "rio")]), options=BY_HAND)
    newest = [update(engine, uri, 9, city) for city in ("bergen", "bodo", "alta")]
    rows = read_snapshot(engine, uri)
    assert engine.service(uri, "clean", options=keep_versions(1)) is not None
    for instant in newest[-2:]:
        engine.service(uri, "savepoint", instant=instant)
    archive_all_but(engine, uri, 2, changed)
    with pytest.raises(ContractError):
        read_as_of(engine, uri, table.instants[-1])
    assert read_as_of(engine, uri, newest[-1]) == rows


@PAST
@pytest.mark.needs("write.insert-overwrite")
@pytest.mark.requirements("CLN-003", "CLN-008", "TYP-008")
def test_cleaned_files_of_a_replaced_group_are_not_missing_later(engine: Client, new_uri: NewUri) -> None:
    """CLN-003: a group was replaced, its files were cleaned, and its writes were archived. States before the replacement are an
    error; those from it on need no such file.
    """
    table = create_updated_table(engine, new_uri(), 1)
    replacing = engine.write(table.uri, "insert_overwrite", as_arrow([row("a", 3, "new")]), options=BY_HAND)
    later = {replacing: read_snapshot(engine, table.uri)}
    for city in ("bergen", "bodo"):
        instant = update(engine, table.uri, 9, city)
        later[instant] = read_snapshot(engine, table.uri)
    assert engine.service(table.uri, "clean", options=keep_versions(1)) is not None
    archive_all_but(engine, table.uri, len(later), table.instants[-1])
    for instant in table.instants:
        with pytest.raises(ContractError):
            read_as_of(engine, table.uri, instant)
    assert {instant: read_as_of(engine, table.uri, instant) for instant in later} == later


#: After a clean by file versions, whether the savepoint is deleted before archiving.
SPARED = {"by versions": False, "by versions, savepoint deleted": True}


@PAST
@pytest.mark.needs("write.insert-overwrite")
@pytest.mark.requirements("RDR-010", "ARC-003")
@pytest.mark.parametrize("case", SPARED)
def test_files_spared_by_a_savepoint_stay_replaced(engine: Client, new_uri: NewUri, case: str) -> None:
    """RDR-010: a clean spares the files of a replaced group, because a savepoint protects them. While these files exist,
    archiving keeps the write that replaced them: without it a snapshot would have their rows again.
    """
    uri = new_uri()
    table = create_updated_table(engine, uri, 2)
    engine.service(uri, "savepoint", instant=table.instants[-1])
    engine.write(uri, "insert_overwrite", as_arrow([row("a", 3, "new")]), options=BY_HAND)
    for number in range(4, 9):
        update(engine, uri, number)
    rows = read_snapshot(engine, uri)
    assert [(one["id"], one["value"]) for one in rows] == [("a", "update 8"), ("c", "x")]
    assert engine.service(uri, "clean", options=keep_versions(1)) is not None
    if SPARED[case]:
        engine.service(uri, "savepoint", instant=table.instants[-1], options={"delete": "true"})
    update(engine, uri, 9)
    options = archive_limits(3, 2, **{"hoodie.archive.beyond.savepoint": "true"})
    engine.service(uri, "archive", options=options)
    found = [(one["id"], one["value"]) for one in read_snapshot(engine, uri)]
    assert found == [("a", "update 9"), ("c", "x")]


def replaced_and_spared(engine: Client, uri: str) -> tuple[Known, str, str]:
    """Create a table with a write before and one that replaces a file group; return it with these two.

    Of the group only the slice of write 2 is left, which a savepoint keeps. Its last slice is that of write 3, which was
    cleaned and archived: only the clean shows that it existed.
    """
    table = create_updated_table(engine, uri, 2)
    engine.service(uri, "savepoint", instant=table.instants[1])
    before = update(engine, uri, 9, "bergen")
    replacing = engine.write(uri, "insert_overwrite", as_arrow([row("a", 4, "new")]), options=BY_HAND)
    for city in ("bodo", "alta"):
        update(engine, uri, 9, city)
    assert engine.service(uri, "clean", options=keep_versions(1)) is not None
    archive_all_but(engine, uri, 5, table.instants[2])
    return table, before, replacing


@PAST
@pytest.mark.needs("write.insert-overwrite")
@pytest.mark.requirements("CLN-003")
def test_an_older_slice_does_not_answer_for_the_cleaned_one(engine: Client, new_uri: NewUri) -> None:
    """CLN-003: the group was replaced later, its last slice was cleaned, and the write of this slice was archived. A read as of
    the write before the replacement is an error, not the rows of the older slice that a savepoint kept.
    """
    table, before, _ = replaced_and_spared(engine, new_uri())
    with pytest.raises(ContractError):
        read_as_of(engine, table.uri, before)


@PAST
@pytest.mark.needs("write.insert-overwrite", "read.cdc")
@pytest.mark.requirements("CLN-003", "TYP-012")
def test_an_older_slice_is_not_what_a_write_replaced(engine: Client, new_uri: NewUri) -> None:
    """TYP-012: the changes of the write that replaced the group are deletes of its last rows. Their file was cleaned, so the
    query is an error, and has no deletes of the older rows that a savepoint kept.
    """
    table, before, replacing = replaced_and_spared(engine, new_uri())
    begin, end = (completion_time(table.uri, instant) for instant in (before, replacing))
    with pytest.raises(ContractError):
        engine.read(table.uri, Query("cdc", begin=begin, end=end))


@pytest.mark.needs(*WRITES, "service.clean", "service.archive", "read.cdc", "copy-on-write")
@pytest.mark.requirements("CLN-003", "BLK-034", "BLK-036")
@pytest.mark.parametrize("mode", ["OP_KEY_ONLY", "DATA_BEFORE_AFTER"])
def test_a_logged_change_of_a_cleaned_row(engine: Client, new_uri: NewUri, mode: str) -> None:
    """BLK-034: of the oldest change that a clean left, the row before it was cleaned. If the mode logs the row, the change has
    it; if the mode omits it, the query is an error, and the image is not null.
    """
    uri, program = new_uri(), Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True)
    captured = {**CAPTURED, "hoodie.table.cdc.supplemental.logging.mode": mode}
    engine.create(uri, replace(program.spec(), properties=captured))
    instants = [update(engine, uri, number) for number in range(1, 9)]
    assert engine.service(uri, "clean", options=keep_commits(1)) is not None
    begin, end = (completion_time(uri, instants[number]) for number in (-3, -2))
    archive_all_but(engine, uri, 2, instants[-3])
    query = Query("cdc", begin=begin, end=end)
    assert engine.read(uri, Query(columns=("value",))).num_rows == 1
    if mode == "OP_KEY_ONLY":
        with pytest.raises(ContractError):
            engine.read(uri, query)
        return
    (change,) = engine.read(uri, query).to_pylist()
    assert (change["before"]["value"], change["after"]["value"]) == ("update 6", "update 7")


@pytest.mark.needs(*WRITES, "service.clean", "service.archive", "read.cdc", "copy-on-write")
@pytest.mark.requirements("CLN-003", "TYP-012")
def test_changes_of_an_archived_write_whose_file_was_cleaned(engine: Client, new_uri: NewUri) -> None:
    """CLN-003: the first write of a table inserted rows, was archived, and its file was cleaned. A query of its changes is an
    error: an answer without changes would lose the inserts.
    """
    uri, program = new_uri(), Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True)
    engine.create(uri, replace(program.spec(), properties=CAPTURED))
    instants = [update(engine, uri, number) for number in range(1, 7)]
    end = completion_time(uri, instants[0])
    assert engine.service(uri, "clean", options=keep_commits(1)) is not None
    archive_all_but(engine, uri, 2, instants[0])
    with pytest.raises(ContractError):
        engine.read(uri, Query("cdc", end=end))


@pytest.mark.needs(*WRITES, "service.archive", "read.cdc", "read.incremental")
@pytest.mark.requirements("TYP-012", "TYP-009", "LSM-020")
@BOTH_TYPES
@pytest.mark.parametrize("mode", ["OP_KEY_ONLY", "DATA_BEFORE_AFTER"])
def test_changes_of_archived_writes_are_read(engine: Client, new_uri: NewUri, mode: str, type: Type) -> None:
    """TYP-012: the history has the metadata of archived writes. While their files are there, each change that they made is in
    the windows that contain it, and in no other; so is each row that they wrote last.
    """
    uri, program = new_uri(), Program(type, "EVENT_TIME_ORDERING", True)
    captured = {**CAPTURED, "hoodie.table.cdc.supplemental.logging.mode": mode}
    engine.create(uri, replace(program.spec(), properties=captured))
    instants = [update(engine, uri, number, city) for number, city in enumerate(["oslo", "rio", "oslo", "rio", "oslo", "rio"])]
    times = [None, *(completion_time(uri, instant) for instant in instants)]
    archive_all_but(engine, uri, 2, instants[3])
    changes = [(number, f"update {number - 2}" if number > 1 else None, f"update {number}") for number in range(len(instants))]
    for first, last in combinations(range(len(times)), 2):
        found = engine.read(uri, Query("cdc", begin=times[first], end=times[last])).to_pylist()
        images = [(one["after"]["ts"], one["before"] and one["before"]["value"], one["after"]["value"]) for one in found]
        assert sorted(images) == changes[first:last], (first, last)
        rows = engine.read(uri, Query("incremental", begin=times[first], end=times[last], columns=("ts",))).to_pylist()
        assert sorted(one["ts"] for one in rows) == [*range(first, last)][-2:], (first, last)


@pytest.mark.needs(*WRITES, "service.archive", "read.incremental", "copy-on-write")
@pytest.mark.requirements("LSM-025", "TYP-009")
def test_an_archived_write_that_completed_late(engine: Client, new_uri: NewUri) -> None:
    """LSM-025: a write completes after others that were requested later, and is archived with one of these. The name of their
    file has requested times before the window; the write completed in it, so that the window has its row.
    """
    table = create_updated_table(engine, new_uri(), 0)
    slow = begin_write(table.uri, (row("c", 90, "slow", "rio"),))
    quick = [update(engine, table.uri, number, **SEVERAL_WRITERS) for number in range(3, 8)]
    slow.complete()
    archive_all_but(engine, table.uri, 4, quick[0])
    window = Query("incremental", begin=completion_time(table.uri, quick[-1]), columns=("id", "value"))
    assert engine.read(table.uri, window).to_pylist() == [{"id": "c", "value": "slow"}]


@PAST
@pytest.mark.needs("write.insert-overwrite")
@pytest.mark.requirements("RDR-010", "ARC-003")
def test_a_clean_beside_a_replacing_write_leaves_its_files(engine: Client, new_uri: NewUri) -> None:
    """RDR-010: a clean by file versions began and ended while a replacing write was pending, so it left the replaced files.
    Archiving keeps this write, although it was requested before the clean: a snapshot would have their rows again.
    """
    uri = new_uri()
    create_updated_table(engine, uri, 1)
    replacing = engine.write(uri, "insert_overwrite", as_arrow([row("a", 3, "new")]), options=BY_HAND)
    for number in range(4, 10):
        update(engine, uri, number)
    begun, done = (add_milliseconds(replacing, number) for number in (1, 2))
    plan = {**clean_plan(""), "earliestInstantToRetain": None, "policy": "KEEP_LATEST_FILE_VERSIONS"}
    result = clean_result(begun, "")
    assert done < completion_time(uri, replacing), "the clean did not end while the write was pending"
    put_action(uri, begun, "clean", {State.REQUESTED: plan, State.INFLIGHT: plan, State.COMPLETED: result}, done)
    archive_all_but(engine, uri, 2, "none")
    found = [(one["id"], one["value"]) for one in read_snapshot(engine, uri)]
    assert found == [("a", "update 9"), ("c", "x")]
