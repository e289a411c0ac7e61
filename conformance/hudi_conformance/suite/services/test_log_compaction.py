"""Log compaction: its result, and that it changes no answer."""

from contextlib import suppress
from itertools import permutations, product

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.concurrent.in_process import only_engines_of_this_project
from hudi_conformance.suite.support.concurrent.pending_writes import (
    SEVERAL_WRITERS,
    begin_write,
    complete_unchecked,
    send_heartbeat,
)
from hudi_conformance.suite.support.programs.write_programs import Step, as_arrow, row
from hudi_conformance.suite.support.tables.stored_blocks import flag_every_second_record
from hudi_conformance.suite.support.tables.tables_under_services import (
    instant_files,
    keep_commits,
    pending_actions,
    read_as_of,
    read_instant_file,
    read_snapshot,
)
from hudi_conformance.suite.support.tables.tables_with_logs import (
    COMPACTS,
    DELETES,
    FIRST,
    JOIN,
    JOINS,
    MODES,
    ROWS,
    LoggedTable,
    Mode,
    NewUri,
    base_files_of_instant,
    log_file_names,
)
from hudi_conformance.suite.support.tables.written_tables import data_files, table_folder
from hudi_reference.files.log.block import HeaderKey
from hudi_reference.files.log.content import decode_deletes
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.storage import LocalStorage

THRESHOLD = "hoodie.log.compaction.blocks.threshold"
#: A block for each row, and a log file for each block.
EACH_ROW = {"hoodie.logfile.data.block.max.size": "1", "hoodie.logfile.max.size": "1"}


@JOINS
@MODES
@pytest.mark.parametrize("place", [3, 4])
@pytest.mark.parametrize("history", ["rows", "deletes"])
@pytest.mark.requirements("LCP-001", "LCP-005", "OCC-003", "MRG-008")
def test_a_log_compaction_changes_no_snapshot(engine: Client, new_uri: NewUri, mode: Mode, place: int, history: str) -> None:
    """LCP-005: a compacted block replaces the blocks that it was made from, deletes of both kinds among them, also when later
    versions are merged.
    """
    steps = ROWS if history == "rows" else DELETES
    table = LoggedTable(engine, new_uri(), mode).write(*steps[:place])
    before = read_snapshot(engine, table.uri)
    table.run("log-compaction")
    assert read_snapshot(engine, table.uri) == before
    table.check_rows(f"joined after write {place}")
    late = Step("upsert", (row("a", 12, "late"), row("b", 18, "late"), row("c", 60, "newest", "rio")))
    table.write(*steps[place:], late)
    table.check_rows(f"joined after write {place}, at the end")


#: Three versions of a record, in every order of their ordering values, and the ordering value of a row that is written last.
HISTORIES = {
    "-".join(map(str, (*kinds, *times, last))): (tuple(zip(kinds, times, strict=True)), last)
    for kinds in product(("row", "delete", "key delete"), repeat=3)
    for times in permutations((10, 20, 30))
    for last in (5, 15, 25)
}


@JOINS
@pytest.mark.parametrize("first", [1, 40])
@pytest.mark.requirements("LCP-001", "LCP-005", "MRG-003", "MRG-008")
def test_a_log_compaction_keeps_the_effect_of_each_history(engine: Client, new_uri: NewUri, first: int) -> None:
    """LCP-005: three versions of a record, rows or deletes of both kinds, in any order, have the same effect on the older row,
    be it lower or greater, and on a later one when they are merged.
    """
    table = LoggedTable(engine, new_uri()).write(Step("upsert", tuple(row(key, first, "first") for key in HISTORIES)))
    for place in range(3):
        versions = {key: history[place] for key, (history, _) in HISTORIES.items()}
        rows = (row(key, ts, f"version {place}", deleted=kind == "delete") for key, (kind, ts) in versions.items()
                if kind != "key delete")  # fmt: skip
        keys = (row(key, 0, "gone") for key, (kind, _) in versions.items() if kind == "key delete")
        table.write(Step("upsert", tuple(rows)), Step("delete", tuple(keys)))
    table.run("log-compaction")
    table.check_rows("joined")
    table.write(Step("upsert", tuple(row(key, last, "last") for key, (_, last) in HISTORIES.items())))
    table.check_rows("joined, then written")


@JOINS
@pytest.mark.requirements("LCP-001", "LCP-002", "LF-040", "TL-016", "TL-017", "META-004")
def test_a_log_compaction_merges_the_logs_of_a_group(engine: Client, new_uri: NewUri) -> None:
    """LF-040: one log file of the group is created, which names the instants of all blocks that it merges; every other file is
    unchanged.
    """
    table = LoggedTable(engine, new_uri()).write(FIRST, *ROWS[1:3], DELETES[2])
    before = {
        path: path.read_bytes() for path in table_folder(table.uri).rglob("*") if path.is_file() and ".hoodie" not in path.parts
    }
    names = [name for name in log_file_names(table.uri) if name in {path.name for path in before if path.parent.name == "oslo"}]
    instant = table.schedule("log-compaction")
    record, plan = read_instant_file(table.uri, instant, "logcompaction.requested")
    (operation,) = [found for found in plan["operations"] if found["partitionPath"] == "oslo"]
    assert (record, operation["deltaFilePaths"]) == ("HoodieCompactionPlan", names)
    assert table.run("log-compaction", phase="execute", instant=instant) == instant
    record, done = read_instant_file(table.uri, instant, "deltacommit")
    assert (record, done["operationType"]) == ("HoodieCommitMetadata", "LOG_COMPACT")
    (name,) = [
        found for found in log_file_names(table.uri) if found.split("_")[1].startswith(instant) and operation["fileId"] in found
    ]
    blocks = list(read_log_file(LocalStorage(table_folder(table.uri)), f"oslo/{name}"))
    merged = {tuple(sorted(block.header[HeaderKey.COMPACTED_BLOCK_TIMES].split(","))) for block in blocks}
    assert merged == {tuple(table.times[1:4])}  # the rule names no order, and deployed writers have either
    assert all(path.read_bytes() == data for path, data in before.items())
    assert not base_files_of_instant(table.uri, instant)
    table.check_rows("joined")


@JOINS
@pytest.mark.parametrize("by", ["a write", "the log compaction"])
@pytest.mark.requirements("LCP-001", "LCP-005", "LF-003", "RDR-014")
def test_several_log_files_of_one_action_are_one_log(engine: Client, new_uri: NewUri, by: str) -> None:
    """LCP-005: a write may have several log files in a file group, and so may a log compaction; no row of them is lost."""
    writes, compaction = (EACH_ROW, {}) if by == "a write" else ({}, EACH_ROW)
    table = LoggedTable(engine, new_uri()).write(Step("upsert", tuple(row(key, 10, "first") for key in "abcd")))
    table.write(Step("upsert", tuple(row(key, 20, "second") for key in "abcd")), options=writes)
    table.write(Step("upsert", (row("b", 30, "third"), row("c", 5, "late"))), options=writes)
    instant = engine.service(table.uri, "log-compaction", options={**JOIN, **compaction})
    assert instant is not None
    table.check_rows("joined")


@JOINS
@pytest.mark.requirements("LCP-001", "BLK-009", "MRG-029")
def test_compacted_deletes_keep_their_ordering_values(engine: Client, new_uri: NewUri) -> None:
    """BLK-009: a flagged delete keeps its value and wins over a late row; a delete by key stays without one."""
    gone = Step("upsert", (row("a", 20, "gone", deleted=True),))
    table = LoggedTable(engine, new_uri()).write(FIRST, gone, Step("delete", (row("b", 0, "gone"),)))
    instant = table.run("log-compaction")
    (name,) = [found for found in log_file_names(table.uri) if found.split("_")[1].startswith(str(instant))]
    blocks = read_log_file(LocalStorage(table_folder(table.uri)), f"oslo/{name}")
    found = {delete.key: delete.ordering for block in blocks for delete in decode_deletes(block)}
    assert found == {"a": 20, "b": None}
    table.write(Step("upsert", (row("a", 15, "late"), row("d", 1, "new"))))
    assert {one["id"] for one in read_snapshot(engine, table.uri)} == {"c", "d"}


#: Ordering values of records, greater than 0 and less.
STORED = {"a": 10, "b": 10, "c": -10, "d": -10, "e": 1}


@JOINS
@pytest.mark.needs("log.avro")
@pytest.mark.requirements("LCP-001", "LCP-005", "MRG-019", "MRG-029")
def test_compacted_deletes_without_an_ordering_value_stay_late(engine: Client, new_uri: NewUri) -> None:
    """LCP-005: rows of a log file that are marked as deletes have null in the ordering field. They do not become deletes by
    key, which would win over the stored rows with greater ordering values.
    """
    table = LoggedTable(engine, new_uri()).write(Step("upsert", tuple(row(key, ts, "first") for key, ts in STORED.items())))
    rows = tuple({**row(key, 0, "null", deleted=False), "ts": None} for key in STORED)
    engine.write(table.uri, "upsert", as_arrow(rows))
    gone = flag_every_second_record(table.uri)
    assert gone
    table.model.apply("upsert", tuple({**one, "_hoodie_is_deleted": one["id"] in gone} for one in rows))
    table.write(Step("upsert", (row("e", 20, "second"),)))
    table.check_rows("written")
    table.run("log-compaction")
    table.check_rows("joined")
    table.write(Step("upsert", tuple(row(key, ts - 5, "late") for key, ts in STORED.items())))
    table.check_rows("joined, then written")


@JOINS
@pytest.mark.needs("read.as-of")
@pytest.mark.requirements("LCP-004", "TYP-008")
def test_before_a_log_compaction_the_original_blocks_are_read(engine: Client, new_uri: NewUri) -> None:
    """LCP-004: while it is planned, and as of each instant before it, the original blocks are read."""
    table = LoggedTable(engine, new_uri()).write(*DELETES[:3])
    rows = [read_as_of(engine, table.uri, instant) for instant in table.times]
    instant = table.schedule("log-compaction")
    table.check_rows("planned")
    table.run("log-compaction", phase="execute", instant=instant)
    assert [read_as_of(engine, table.uri, time) for time in table.times] == rows
    table.check_rows("joined")


@JOINS
@COMPACTS
@pytest.mark.requirements("LCP-001", "CMP-002", "OCC-003")
def test_compacted_logs_are_compacted_like_the_original_ones(engine: Client, new_uri: NewUri) -> None:
    """LCP-001: a compaction after a log compaction gives the rows that it gives without one."""
    table = LoggedTable(engine, new_uri()).write(*ROWS[:3])
    table.run("log-compaction")
    table.write(ROWS[3])
    table.compact()
    table.check_rows("joined, then compacted")


@JOINS
@COMPACTS
@pytest.mark.requirements("LCP-001", "SVC-004", "OCC-003")
def test_a_log_compaction_after_a_compaction_changes_nothing(engine: Client, new_uri: NewUri) -> None:
    """LCP-001: a compaction of the same group, planned after it and completed before it, includes its blocks: they must not be
    read again.
    """
    table = LoggedTable(engine, new_uri(), "COMMIT_TIME_ORDERING").write(*ROWS[:3])
    instant = table.schedule("log-compaction")
    table.write(Step("upsert", (row("a", 1, "newest"),)))
    table.compact()
    with suppress(ContractError):
        table.run("log-compaction", phase="execute", instant=instant)
    table.check_rows("after both")


@JOINS
@COMPACTS
@pytest.mark.requirements("LCP-001", "SVC-004")
@pytest.mark.parametrize("state", ["planned", "completed"])
def test_a_log_compaction_does_not_complete_after_a_later_compaction(engine: Client, new_uri: NewUri, state: str) -> None:
    """SVC-004: a compaction of the same group was planned after the log compaction, and merges the same blocks. The execution
    of the log compaction is refused and leaves no plan: some readers would apply its blocks on top of the new base file.
    """
    only_engines_of_this_project(engine, "which of the two services is dropped")
    table = LoggedTable(engine, new_uri()).write(*ROWS[:3])
    instant, compaction = table.schedule("log-compaction"), table.schedule()
    if state == "completed":
        table.run("compaction", phase="execute", instant=compaction)
    with pytest.raises(ContractError):
        table.run("log-compaction", phase="execute", instant=instant)
    assert not [name for name in instant_files(table.uri) if name.startswith(instant)]
    table.check_rows("after the refused log compaction")
    if state == "planned":
        table.run("compaction", phase="execute", instant=compaction)
        table.check_rows("after the compaction")
    assert pending_actions(engine, table.uri) == []


@JOINS
@pytest.mark.requirements("LCP-005", "NBC-001")
def test_writes_during_a_log_compaction_keep_their_order(engine: Client, new_uri: NewUri) -> None:
    """LCP-005: a write that began before the plan and completes between plan and execution, or after it, still wins over older
    ones.
    """
    for late in (False, True):
        table = LoggedTable(engine, new_uri(), "COMMIT_TIME_ORDERING").write(*ROWS[:3])
        rows = (row("a", 1, "newest"),)
        write = begin_write(table.uri, rows)
        instant = table.run("log-compaction", phase="schedule")
        if not late:
            write.complete()
        if instant is not None:
            table.run("log-compaction", phase="execute", instant=instant)
        if late:
            write.complete()
        table.model.apply("upsert", rows, write.instant)
        table.check_rows(f"completed {'after' if late else 'before'} the log compaction")


@JOINS
@pytest.mark.requirements("LCP-005", "NBC-001")
def test_a_log_compaction_leaves_the_place_of_a_pending_write(engine: Client, new_uri: NewUri) -> None:
    """LCP-005: a write that began between those of several logs is pending while they are compacted, and completes later, as
    writes under non-blocking control do. It wins over the logs before it and not over those after it.
    """
    table = LoggedTable(engine, new_uri(), "COMMIT_TIME_ORDERING").write(*ROWS[:3])
    rows = (row("a", 1, "pending"), row("b", 1, "pending"))
    write = begin_write(table.uri, rows)
    send_heartbeat(table.uri, write.instant)
    table.model.apply("upsert", rows, write.instant)
    for value in ("later", "last"):
        table.write(Step("upsert", (row("b", 1, value),)), options=SEVERAL_WRITERS)
    instant = table.run("log-compaction", phase="schedule")
    if instant is not None:
        table.run("log-compaction", phase="execute", instant=instant)
    complete_unchecked(table.uri, write)
    table.check_rows("after the log compaction, completed")
    table.run("log-compaction")
    table.check_rows("after another log compaction")


@JOINS
@COMPACTS
@pytest.mark.needs("write.partial-update", "merge.partial-updates", "merge.commit-time")
@pytest.mark.requirements("LCP-001", "LF-045", "CMP-002")
def test_a_log_compaction_keeps_columns_that_no_update_names(engine: Client, new_uri: NewUri) -> None:
    """LCP-001: the logs of a slice have partial updates of different columns. Whether they are merged or left as they are, each
    column has the value that was written last, before and after a compaction.
    """
    table = LoggedTable(engine, new_uri(), "COMMIT_TIME_ORDERING").write(FIRST)
    for name, value in (("value", "renamed"), ("ts", 30)):
        rows = as_arrow((row("a", 30, "renamed"),)).select(["id", "city", name])
        engine.write(table.uri, "partial_update", rows)
        table.model.apply("partial_update", ({"id": "a", "city": "oslo", name: value},))
        table.run("log-compaction")
        table.check_rows(f"after a log compaction, and updates up to {name}")
    table.compact()
    table.check_rows("compacted")


@JOINS
@COMPACTS
@pytest.mark.requirements("LCP-001", "SVC-006", "SVC-004")
def test_a_dropped_log_compaction_leaves_no_file(engine: Client, new_uri: NewUri) -> None:
    """SVC-006: an execution of a log compaction stored its file and crashed. A compaction of the same group that is planned
    later merges the same logs. The log compaction is dropped then, with its file, or has completed before.
    """
    only_engines_of_this_project(engine, "which of the two services is dropped")
    table = LoggedTable(engine, new_uri(), "COMMIT_TIME_ORDERING").write(*ROWS[:3])
    instant = table.schedule("log-compaction")
    timeline = table_folder(table.uri) / ".hoodie" / "timeline"
    (timeline / f"{instant}.logcompaction.inflight").touch()
    last = next(table_folder(table.uri).rglob(f".*_{table.times[-1]}.log.*"))
    stored = last.with_name(last.name.replace(table.times[-1], instant))
    stored.write_bytes(last.read_bytes())
    table.write(Step("upsert", (row("a", 1, "newest"),)))
    table.compact()
    table.run("log-compaction")
    assert pending_actions(engine, table.uri) == []
    assert stored.exists() == bool(list(timeline.glob(f"{instant}_*"))), "a file of an action that does not exist"
    table.check_rows("after both")


@JOINS
@pytest.mark.requirements("LCP-001", "CMP-001")
def test_the_threshold_of_a_log_compaction_counts_blocks(engine: Client, new_uri: NewUri) -> None:
    """CMP-001: the setting for the least number of blocks counts blocks, also several of one write: three blocks of two writes
    are compacted from a threshold of three on, and not from four on.
    """
    for least in (4, 3):
        table = LoggedTable(engine, new_uri()).write(FIRST)
        table.write(Step("upsert", (row("a", 20, "second"), row("b", 20, "second"))), options=EACH_ROW)
        table.write(Step("upsert", (row("a", 30, "third"),)), options=EACH_ROW)
        instant = engine.service(table.uri, "log-compaction", options={**JOIN, THRESHOLD: str(least)})
        assert (instant is not None) == (least == 3)
        table.check_rows(f"threshold {least}")


@JOINS
@COMPACTS
@pytest.mark.requirements("LCP-001", "SVC-004")
def test_a_planned_compaction_stops_no_log_compaction_elsewhere(engine: Client, new_uri: NewUri) -> None:
    """SVC-004: a compaction of one file group is planned. The logs that are written later to another group are compacted: only
    a pending write has its place among them.
    """
    table = LoggedTable(engine, new_uri()).write(FIRST, Step("upsert", (row("c", 20, "second", "rio"),)))
    table.schedule()
    for ts in (30, 40):
        table.write(Step("upsert", (row("a", ts, "later"),)))
    instant = table.run("log-compaction")
    assert instant is not None
    _, done = read_instant_file(table.uri, instant, "deltacommit")
    assert [path for path, stats in done["partitionToWriteStats"].items() if stats] == ["oslo"]
    table.check_rows("joined beside a planned compaction")
    table.run("compaction")
    table.check_rows("compacted")


@JOINS
@COMPACTS
@pytest.mark.needs("service.clean")
@pytest.mark.requirements("LCP-001", "CLN-001", "CLN-005")
def test_a_planned_log_compaction_stops_no_clean_elsewhere(engine: Client, new_uri: NewUri) -> None:
    """CLN-005: a log compaction of one file group is planned, and adds no rows. A clean keeps the files of this group, and
    deletes those of other groups that the writes to be kept do not need.
    """
    table = LoggedTable(engine, new_uri()).write(FIRST)
    for ts in (20, 30):
        table.write(Step("upsert", (row("a", ts, "later"),)))
    table.schedule("log-compaction")
    for ts in (20, 30, 40):
        table.write(Step("upsert", (row("c", ts, "later", "rio"),)))
        table.compact()
    before = data_files(table.uri)
    assert engine.service(table.uri, "clean", options=keep_commits(1)) is not None
    deleted = before - data_files(table.uri)
    assert deleted
    assert {path.partition("/")[0] for path in deleted} == {"rio"}
    table.check_rows("cleaned")


@JOINS
@pytest.mark.needs("service.rollback")
@pytest.mark.requirements("LCP-001", "TL-030")
def test_a_planned_log_compaction_is_executed_and_not_rolled_back(engine: Client, new_uri: NewUri) -> None:
    """TL-030: a log compaction that is planned has not failed. A rollback of it is refused and leaves its plan; that of an
    execution that has begun leaves the plan, too.
    """
    only_engines_of_this_project(engine, "whether the plan of a service can be rolled back")
    table = LoggedTable(engine, new_uri()).write(*ROWS[:3])
    instant = table.schedule("log-compaction")
    planned = pending_actions(engine, table.uri)
    with pytest.raises(ContractError):
        engine.service(table.uri, "rollback", instant=instant)
    assert pending_actions(engine, table.uri) == planned
    (table_folder(table.uri) / ".hoodie" / "timeline" / f"{instant}.logcompaction.inflight").touch()
    engine.service(table.uri, "rollback", instant=instant)
    assert pending_actions(engine, table.uri) == planned
    table.run("log-compaction", phase="execute", instant=instant)
    assert pending_actions(engine, table.uri) == []
    table.check_rows("executed")
