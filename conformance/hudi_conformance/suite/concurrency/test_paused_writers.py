"""Writers that are paused while another action runs, step by step: schedules on which deployed engines were seen to lose
updates.

The engine under test executes all of them. Each case gives the order of the steps; the expected result follows from the
property in `concurrent_table`.
"""

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.messages import Service
from hudi_conformance.suite.support.concurrent.concurrent_table import ABORTS, PAUSES, ConcurrentTable, NewUri
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES
from hudi_conformance.suite.support.tables.tables_under_services import WRITES, instant_files, read_as_of
from hudi_conformance.suite.support.tables.written_tables import table_folder

COW = pytest.mark.needs("copy-on-write")


@PAUSES
@BOTH_TYPES
@pytest.mark.requirements("OCC-001", "OCC-013", "OCC-019")
def test_two_writers_of_one_file_group(engine: Client, new_uri: NewUri, type: str) -> None:
    """OCC-013: two writers have stored their files before either completes: one of them aborts (invariants 8 and 9)."""
    table = ConcurrentTable(engine, new_uri()).create(type)
    assert table.begin("first", {"a": "first"})
    table.begin("second", {"b": "second"})
    table.finish_both("second", "first")


@PAUSES
@BOTH_TYPES
@pytest.mark.parametrize("key", ["a", "b"])
@pytest.mark.requirements("OCC-013", "OCC-006", "OCC-001")
def test_a_write_that_is_requested_before_another_completes(engine: Client, new_uri: NewUri, type: str, key: str) -> None:
    """OCC-013: a writer has published its request. Before it does anything else, a write of the same file group, of the same or
    of another record, begins and completes. The first reports success only if its change is readable (invariant 8).
    """
    table = ConcurrentTable(engine, new_uri()).create(type)
    assert table.begin("early", {"a": "early"}, "requested")
    table.write({key: "late"})
    table.finish("early")
    table.check("the early writer has ended")


@PAUSES
@COW
@pytest.mark.needs("pause.drawn")
@pytest.mark.requirements("OCC-011", "OCC-005", "TT-003")
def test_a_request_that_is_published_late(engine: Client, new_uri: NewUri) -> None:
    """OCC-011: a writer draws its begin time and publishes it only after a later one has begun. In between another write
    completes in another file group, so that both writers find no concurrent change (invariants 3 and 8).
    """
    table = ConcurrentTable(engine, new_uri()).create("COPY_ON_WRITE")
    assert table.begin("early", {"a": "early"}, "drawn")
    table.write({"c": "elsewhere"})
    table.begin("late", {"b": "late"})
    table.resume("early", "stored")
    table.finish_both("early", "late")


@PAUSES
@BOTH_TYPES
@pytest.mark.requirements("TT-003", "OCC-005")
def test_times_follow_the_order_of_steps(engine: Client, new_uri: NewUri, type: str) -> None:
    """TT-003: writers of different file groups take their steps in turn. Each begin time and each completion time is later
    than all times that were published before it, whichever writer took them.
    """
    table = ConcurrentTable(engine, new_uri()).create(type)
    first = table.begin("first", {"a": "first"}, "requested")
    between = table.write({"c": "between"})
    second = table.begin("second", {"c": "second"}, "requested")
    assert first and second
    table.finish_both("first", "second")
    assert table.done == ["first", "second"]
    completed = dict(name.partition(".")[0].split("_") for name in instant_files(table.uri) if "_" in name)
    times = [first, between, completed[between], second, completed[first], completed[second]]
    assert times == sorted(set(times))


@PAUSES
@pytest.mark.needs("merge-on-read")
@pytest.mark.requirements("NBC-002", "OCC-004")
def test_files_of_a_pending_insert_hide_no_rows(engine: Client, new_uri: NewUri) -> None:
    """NBC-002: an insert writes into a file group that has room for it, and pauses. An update of the same group completes: it
    is read before and after the insert completes (invariant 17).
    """
    table = ConcurrentTable(engine, new_uri()).create("MERGE_ON_READ")
    assert table.begin("insert", {"d": "new"}, options={"hoodie.parquet.small.file.limit": "104857600"})
    table.write({"a": "updated"})
    table.check("the insert is pending")
    table.finish("insert")
    table.check("the insert has ended")


@PAUSES
@COW
@pytest.mark.needs("service.archive")
@pytest.mark.requirements("OCC-012", "OCC-011", "ARC-002")
def test_a_conflict_with_an_archived_write_is_found(engine: Client, new_uri: NewUri) -> None:
    """OCC-011: a writer was pending when a slow one began; it completes and is archived before the slow one completes
    (invariant 27).
    """
    table = ConcurrentTable(engine, new_uri()).create("COPY_ON_WRITE")
    assert table.begin("archived", {"b": "archived"})
    for number in range(4):
        table.write({"c": f"before {number}"})
    table.begin("slow", {"a": "slow"})
    assert table.finish("archived")
    for number in range(5):
        table.write({"c": f"after {number}"})
    few = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}
    table.run("archive", options=few)
    table.finish("slow")
    table.check("the slow writer has ended")


@PAUSES
@BOTH_TYPES
@pytest.mark.requirements("OCC-002", "OCC-001")
def test_two_writers_in_single_writer_mode(engine: Client, new_uri: NewUri, type: str) -> None:
    """OCC-001: two writers run in the mode for a single writer: each reports success only if its change is readable (invariant
    8).
    """
    table, alone = ConcurrentTable(engine, new_uri()).create(type), {"hoodie.write.concurrency.mode": "SINGLE_WRITER"}
    assert table.begin("first", {"a": "first"}, options=alone)
    table.begin("second", {"b": "second"}, options=alone)
    table.finish_both("first", "second")


@PAUSES
@BOTH_TYPES
@pytest.mark.needs("write.compares-keys")
@pytest.mark.requirements("OCC-017")
def test_a_new_key_of_two_writers(engine: Client, new_uri: NewUri, type: str) -> None:
    """OCC-017: two writers insert the same key, each into a new file group: it is there once (invariant 11)."""
    table = ConcurrentTable(engine, new_uri()).create(type)
    apart = {"hoodie.parquet.small.file.limit": "0", "hoodie.write.concurrency.record.key.check.enable": "true"}
    assert table.begin("first", {"n": "first"}, options=apart)
    table.begin("second", {"n": "second"}, options=apart)
    table.finish_both("first", "second")


@PAUSES
@BOTH_TYPES
@pytest.mark.requirements("OCC-019", "OCC-004", "OCC-008")
def test_rows_of_a_crashed_writer_are_invisible(engine: Client, new_uri: NewUri, type: str) -> None:
    """OCC-004: a crashed writer has stored its files and never completes: its rows are not read, and the next writer succeeds
    (invariant 12).
    """
    table = ConcurrentTable(engine, new_uri()).create(type)
    assert table.begin("crashed", {"a": "crashed", "b": "crashed", "d": "crashed"})
    table.check("its files are there")
    table.write({"a": "next", "d": "next"})
    table.check("another writer has completed")


@PAUSES
@BOTH_TYPES
@pytest.mark.needs("service.clean")
@pytest.mark.requirements("TL-030", "TL-051", "OCC-027")
def test_a_writer_without_heartbeat_after_a_clean(engine: Client, new_uri: NewUri, type: str) -> None:
    """TL-030: a clean finds no heartbeat and may roll the write back; the writer continues afterwards (invariants 13
    and 29).
    """
    table = ConcurrentTable(engine, new_uri()).create(type)
    instant = table.begin("silent", {"a": "silent"})
    assert instant is not None
    heartbeats = list((table_folder(table.uri) / ".hoodie" / ".heartbeat").glob(f"{instant}*"))
    for heartbeat in heartbeats:
        heartbeat.unlink()
    table.run("clean")
    table.finish("silent")
    table.check("the silent writer has ended")
    if not heartbeats:
        pytest.skip("the writer had no heartbeat file to delete")


@PAUSES
@BOTH_TYPES
@pytest.mark.requirements("OCC-026", "OCC-013")
def test_early_conflict_detection(engine: Client, new_uri: NewUri, type: str) -> None:
    """OCC-026: with early conflict detection at most one of two conflicting writers completes (invariants 10 and 38)."""
    table = ConcurrentTable(engine, new_uri()).create(type)
    early = {"hoodie.write.concurrency.early.conflict.detection.enable": "true"}
    assert table.begin("first", {"a": "first"}, "requested", options=early)
    table.begin("second", {"b": "second"}, options=early)
    table.resume("first", "stored")
    table.finish_both("first", "second")


@PAUSES
@BOTH_TYPES
@pytest.mark.needs("read.as-of")
@pytest.mark.requirements("TYP-008")
def test_a_time_travel_query_is_repeatable(engine: Client, new_uri: NewUri, type: str) -> None:
    """TYP-008: a read as of a write beside which an earlier one is pending: the answers before and after that one completes
    have the same rows, unless the query is refused (invariant 7).
    """
    table = ConcurrentTable(engine, new_uri()).create(type)
    assert table.begin("pending", {"a": "late"})
    instant = table.write({"c": "quick"})
    answers = [_answer(table, instant)]
    table.finish("pending")
    answers.append(_answer(table, instant))
    given = [answer for answer in answers if answer is not None]
    assert given, "both queries failed"
    assert all(answer == given[0] for answer in given)


@PAUSES
@pytest.mark.needs("read.as-of", "timeline.replaced-groups", "write.insert-overwrite", "copy-on-write")
@pytest.mark.requirements("TYP-008", "TL-039")
def test_a_time_travel_query_beside_an_overwrite_is_repeatable(engine: Client, new_uri: NewUri) -> None:
    """TYP-008: the earlier write that is pending is an overwrite of a partition: a read as of the later write has the same
    rows before and after the overwrite completes, unless it is refused.
    """
    table = ConcurrentTable(engine, new_uri()).create("COPY_ON_WRITE")
    assert table.begin("pending", {"a": "late"}, operation="insert_overwrite")
    instant = table.write({"c": "quick"})
    answers = [_answer(table, instant)]
    assert table.finish("pending")
    answers.append(_answer(table, instant))
    given = [answer for answer in answers if answer is not None]
    assert given, "both queries failed"
    assert all(answer == given[0] for answer in given)


@pytest.mark.needs(*WRITES, "read.as-of", "merge-on-read", "service.compaction", "service.clustering")
@pytest.mark.parametrize("service", ["compaction", "clustering"])
@pytest.mark.requirements("TYP-008", "CMP-003")
def test_a_pending_plan_does_not_stop_time_travel(engine: Client, new_uri: NewUri, service: Service) -> None:
    """TYP-008: a compaction or clustering that is pending changes no row. A read as of a later write is answered, before and
    after it completes, with the same rows.
    """
    table = ConcurrentTable(engine, new_uri()).create("MERGE_ON_READ")
    table.write({"a": "log"})
    plan = table.schedule(service)
    instant = table.write({"d": "later"})
    expected = [(found["id"], found["value"]) for found in read_as_of(engine, table.uri, instant)]
    assert expected == sorted(table.rows.items())
    assert table.run(service, "execute", plan)
    assert [(found["id"], found["value"]) for found in read_as_of(engine, table.uri, instant)] == expected


def _answer(table: ConcurrentTable, instant: str) -> list[dict[str, object]] | None:
    try:
        return read_as_of(table.engine, table.uri, instant)
    except ABORTS:
        return None
