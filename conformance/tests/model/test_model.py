"""The model, compared with answers that were worked out by hand from the merge tables of the format."""

import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_conformance.model import Model, at_least
from hudi_conformance.model.merge import PAYLOADS
from hudi_conformance.model.windows import Window, change_rows
from hudi_reference.records.payloads.tables import PAYLOAD_TABLES

EVENT, COMMIT = "EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"
COW, MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
BOTH_TYPES = pytest.mark.parametrize("table_type", [COW, MOR])

#: One change of key "k", as the tables write it: ("d", 5) data row with ordering 5, ("f", 5) flagged delete with
#: ordering 5, ("x0",) delete by key, ("compact",).
Step = tuple[Any, ...]


def play(table_type: str, mode: str, *steps: Step) -> Any:
    """The ordering value of the only row after `steps`, each of which is a commit; None if there is no row."""
    table = Model(record_key=("id",), ordering=("ts",), merge_mode=mode, table_type=table_type)
    for number, (kind, *ordering) in enumerate(steps):
        row = {"id": "k", "ts": ordering[0] if ordering else None, "_hoodie_is_deleted": kind == "f"}
        operation = {"d": "upsert", "f": "upsert", "x0": "delete", "compact": "compact"}[kind]
        table.apply(operation, [] if kind == "compact" else [row], f"{number:017d}")
    rows = table.snapshot()
    assert len(rows) <= 1
    return rows[0]["ts"] if rows else None


@BOTH_TYPES
@pytest.mark.parametrize(
    ("steps", "left"),
    [
        ([("d", 5)], 5),
        ([("d", 5), ("d", 6)], 6),
        ([("d", 5), ("d", 5)], 5),
        ([("d", 5), ("d", 4)], 4),
        ([("d", 5), ("f", 6)], None),
        ([("d", 5), ("f", 4)], None),
        ([("d", 5), ("f", 4), ("d", 3)], 3),
        ([("d", 5), ("x0",)], None),
        ([("d", 5), ("x0",), ("d", 1)], 1),
        ([("x0",), ("d", 1)], 1),
    ],
)
def test_commit_time_keeps_the_last_write(table_type, steps, left):
    """MRG-025: ordering values are ignored; each kind of delete removes the row, and a later row is inserted again."""
    assert play(table_type, COMMIT, *steps) == left


@BOTH_TYPES
@pytest.mark.parametrize(
    ("steps", "left"),
    [
        ([("d", 5), ("d", 6)], 6),
        ([("d", 5), ("d", 4)], 5),
        ([("d", 5), ("d", 9), ("d", 7)], 9),
        ([("d", 5), ("f", 6)], None),
        ([("d", 5), ("f", 5)], None),
        ([("d", 5), ("f", 4)], 5),
        ([("d", 5), ("x0",)], None),
        ([("d", 2), ("x0",), ("d", 1)], 1),
        ([("d", 5), ("x0",), ("d", -1)], -1),
        ([("d", 5), ("x0",), ("f", 9), ("d", 3)], 3),
        ([("d", None), ("d", 3)], 3),
        ([("d", 3), ("d", None)], 3),
        ([("d", -1), ("d", None)], None),
        ([("d", None), ("d", -1)], None),
    ],
)
def test_event_time_keeps_the_greatest_ordering_value(table_type, steps, left):
    """MRG-028, MRG-029: late rows and late flagged deletes lose; a delete by key removes all earlier versions."""
    assert play(table_type, EVENT, *steps) == left


@pytest.mark.parametrize(
    ("steps", "merge_on_read", "copy_on_write"),
    [
        ([("d", 1), ("f", 5), ("d", 3)], None, 3),
        ([("d", 1), ("f", 5), ("d", 5)], 5, 5),
        ([("d", 1), ("f", 5), ("f", 3), ("d", 4)], None, 4),
        ([("d", 1), ("f", 5), ("f", 8), ("d", 6)], None, 6),
        ([("d", 1), ("f", 5), ("x0",), ("d", 3)], 3, 3),
        ([("d", 1), ("f", 2), ("compact",), ("d", 1)], 1, 1),
    ],
)
def test_delete_wins_over_smaller_ordering_values_until_compaction(steps, merge_on_read, copy_on_write):
    """Log files keep the ordering value of a flagged delete; compactions and copy-on-write files drop it."""
    assert play(MOR, EVENT, *steps) == merge_on_read
    assert play(COW, EVENT, *[s for s in steps if s != ("compact",)]) == copy_on_write


def test_later_row_wins_for_equal_ordering_values():
    """In both merge modes and both table types."""
    for table_type in (COW, MOR):
        table = Model(record_key=("id",), ordering=("ts",), table_type=table_type)
        table.apply("upsert", [{"id": "k", "ts": 5, "name": "first"}])
        table.apply("upsert", [{"id": "k", "ts": 5, "name": "second"}])
        assert table.snapshot() == [{"id": "k", "ts": 5, "name": "second"}]


@pytest.mark.parametrize(
    ("mode", "winner"),
    [(EVENT, {"id": "k", "ts": 9, "name": "b"}), (COMMIT, {"id": "k", "ts": 1, "name": "c"})],
)
def test_upsert_keeps_one_row_per_key(mode, winner):
    """MRG-011, MRG-026: the input is deduplicated by the merge mode; of equal rows the last one is kept."""
    table = Model(record_key=("id",), ordering=("ts",), merge_mode=mode)
    table.apply("upsert", [{"id": "k", "ts": t, "name": n} for t, n in ((5, "a"), (9, "b"), (1, "c"))])
    assert table.snapshot() == [winner]


def test_insert_and_bulk_insert_do_not_look_up_keys():
    """Inserts may write several rows with one key; a later upsert changes the first of them (ER-216)."""
    table = Model(record_key=("id",), ordering=("ts",))
    table.apply("insert", [{"id": "k", "ts": 5}, {"id": "k", "ts": 7}])
    table.apply("bulk_insert", [{"id": "k", "ts": 1}])
    assert sorted(r["ts"] for r in table.snapshot()) == [1, 5, 7]
    table.apply("upsert", [{"id": "k", "ts": 6}])
    assert sorted(r["ts"] for r in table.snapshot()) == [1, 6, 7]


def test_the_same_key_in_two_partitions_is_two_records():
    """PROP-017: a record key identifies a record within its partition."""
    table = Model(record_key=("id",), partition=("p",))
    table.apply("upsert", [{"id": "k", "p": "a", "v": 1}, {"id": "k", "p": "b", "v": 2}])
    table.apply("delete", [{"id": "k", "p": "a"}])
    assert table.snapshot() == [{"id": "k", "p": "b", "v": 2}]


def test_as_of_includes_the_instant():
    """TYP-008: time travel compares requested times as text, so that 14 digits exclude instants with milliseconds in that
    second."""
    table = Model(record_key=("id",), table_type=MOR)
    table.apply("upsert", [{"id": "k", "v": 1}], "20260101000000000")
    table.apply("upsert", [{"id": "k", "v": 2}], "20260101000001000")
    assert table.as_of("20251231235959999") == []
    assert table.as_of("20260101000000000") == [{"id": "k", "v": 1}]
    assert table.as_of("20260101000001") == [{"id": "k", "v": 1}]
    assert table.as_of("20260101000001000") == [{"id": "k", "v": 2}]


def test_as_of_without_instants_is_refused():
    """A model whose changes have no instants raises an error."""
    table = Model(record_key=("id",))
    table.apply("upsert", [{"id": "k"}])
    with pytest.raises(ValueError, match="with their instant"):
        table.as_of("20260101000000000")


def test_read_optimized_shows_base_files():
    """TYP-017: on merge-on-read later versions are visible after compaction only; on copy-on-write at once."""
    for table_type, before in ((MOR, [1]), (COW, [2])):
        table = Model(record_key=("id",), table_type=table_type)
        table.apply("upsert", [{"id": "k", "v": 1}, {"id": "gone", "v": 1}][:1])
        table.apply("upsert", [{"id": "k", "v": 2}])
        assert [r["v"] for r in table.read_optimized()] == before
        table.apply("compact")
        assert [r["v"] for r in table.read_optimized()] == [2]
        table.apply("delete", [{"id": "k"}])
        assert [r["v"] for r in table.read_optimized()] == ([2] if table_type == MOR else [])
        table.apply("compact")
        assert table.read_optimized() == []


def test_replacing_partitions():
    """TL-039: insert_overwrite replaces the partitions of its rows; delete_partition removes all rows of a partition."""
    table = Model(record_key=("id",), partition=("p",))
    table.apply("insert", [{"id": "1", "p": "a"}, {"id": "2", "p": "b"}, {"id": "3", "p": "c"}])
    table.apply("insert_overwrite", [{"id": "4", "p": "a"}])
    table.apply("delete_partition", [{"p": "b"}])
    assert table.snapshot() == [{"id": "3", "p": "c"}, {"id": "4", "p": "a"}]


def test_rows_without_record_key_are_not_merged():
    """PROP-015: a table without record key keeps equal rows."""
    table = Model()
    table.apply("insert", [{"v": 1}, {"v": 1}])
    assert table.snapshot() == [{"v": 1}, {"v": 1}]


def test_a_row_flagged_as_deleted_is_not_inserted():
    """A flagged delete of an unknown key stores neither row nor delete."""
    table = Model(record_key=("id",), ordering=("ts",), table_type=MOR)
    table.apply("upsert", [{"id": "k", "ts": 9, "_hoodie_is_deleted": True}])
    table.apply("upsert", [{"id": "k", "ts": 1, "_hoodie_is_deleted": False}])
    assert [r["ts"] for r in table.snapshot()] == [1]


@pytest.mark.parametrize(
    ("newer", "older", "wins"),
    [
        ((1, "b"), (1, "a"), True),
        ((1, "a"), (1, "b"), False),
        ((2, "a"), (1, "b"), True),
        ((math.nan,), (math.inf,), True),
        ((math.inf,), (math.nan,), False),
        ((-0.0,), (0.0,), False),
        ((0.0,), (-0.0,), True),
        (("é",), ("z",), True),
        (("\U00010000",), ("\uffff",), True),
        ((Decimal("1.10"),), (Decimal("1.1"),), True),
        ((None,), ("",), False),
        (("",), (None,), True),
        ((None,), (None,), True),
        ((None,), (Decimal("-0.5"),), True),
    ],
)
def test_ordering_values_are_compared_by_value(newer, older, wins):
    """MRG-019: several fields in order; floats in total order; text by its UTF-8 bytes; null as the default 0."""
    assert at_least(newer, older) is wins


def test_returned_rows_are_copies():
    """A caller that changes an answer does not change the model."""
    table = Model(record_key=("id",))
    table.apply("upsert", [{"id": "k", "v": 1}])
    table.snapshot()[0]["v"] = 2
    assert table.snapshot() == [{"id": "k", "v": 1}]


def test_an_unknown_operation_is_named():
    """A wrong operation is an error that lists the right ones."""
    with pytest.raises(ValueError, match="does not have the operation 'merge'"):
        Model(record_key=("id",)).apply("merge")  # type: ignore[arg-type]


ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=6)


@given(st.lists(ROWS, min_size=1, max_size=5), st.sampled_from([COW, MOR]), st.integers(0, 5))
def test_event_time_without_deletes_is_the_maximum(batches, table_type, compact_after):
    """Property: without deletes the result is the greatest (ordering value, position of arrival), with any compactions."""
    table = Model(record_key=("id",), ordering=("ts",), table_type=table_type)
    expected: dict[int, tuple[int, int]] = {}
    position = 0
    for number, batch in enumerate(batches):
        rows = []
        for key, ts in batch:
            rows.append({"id": key, "ts": ts, "n": position})
            expected[key] = max(expected.get(key, (-1, -1)), (ts, position))
            position += 1
        table.apply("upsert", rows)
        if number == compact_after:
            table.apply("compact")
    assert {r["id"]: (r["ts"], r["n"]) for r in table.snapshot()} == expected


MYSQL, POSTGRES, DMS = "debezium.MySqlDebeziumAvroPayload", "debezium.PostgresDebeziumAvroPayload", "AWSDmsAvroPayload"
UNSENT = "__debezium_unavailable_value"


def mysql(seq: str, name: str, operation: str = "u") -> dict[str, Any]:
    """A change that Debezium read from a binary log of MySQL."""
    return {"id": "k", "_event_seq": seq, "name": name, "_change_operation_type": operation}


def postgres(lsn: int, name: str, operation: str = "u") -> dict[str, Any]:
    """A change that Debezium read from the log of Postgres."""
    return {"id": "k", "_event_lsn": lsn, "name": name, "_change_operation_type": operation}


def dms(ts: int, name: str, operation: str = "U") -> dict[str, Any]:
    """A change that AWS DMS sent."""
    return {"id": "k", "ts": ts, "name": name, "Op": operation}


@BOTH_TYPES
@pytest.mark.parametrize(
    ("payload", "changes", "name"),
    [
        (MYSQL, (mysql("2.10", "first"), mysql("10.9", "later file")), "later file"),
        (MYSQL, (mysql("1.9", "first"), mysql("1.10", "later offset")), "later offset"),
        (MYSQL, (mysql("1.9", "first"), mysql("1.9", "second")), "first"),
        (MYSQL, (mysql("1.9", "first"), mysql("1.9", "", "d")), "first"),
        (MYSQL, (mysql("1.9", "first"), mysql("2.1", "", "D")), None),
        (POSTGRES, (postgres(1, "first"), postgres(1, UNSENT)), "first"),
        (POSTGRES, (postgres(2, UNSENT), postgres(1, "late")), UNSENT),
        (POSTGRES, (postgres(2, "first"), postgres(1, "", "d")), "first"),
        (DMS, (dms(2, "first"), dms(1, "second")), "second"),
        (DMS, (dms(2, "first"), dms(1, "", "d")), None),
        (DMS, (dms(2, "first"), dms(1, "", "D"), dms(0, "again")), "again"),
    ],
)
def test_changes_of_database_sources(table_type, payload, changes, name):
    """PAY-022, PAY-023: the class names the ordering field and the flag of deletes, and its ties and fills differ."""
    table = Model(record_key=("id",), ordering=("ts",), merge_mode="CUSTOM", table_type=table_type, payload=payload)
    for change in changes:
        table.apply("upsert", [change])
    assert [row["name"] for row in table.snapshot()] == ([] if name is None else [name])


def test_every_built_in_payload_class_is_modelled():
    """A class that the reference has, and the model has not, would be checked by cases written by hand only."""
    assert PAYLOADS.keys() == PAYLOAD_TABLES.keys()


def test_a_row_with_the_delete_marker_is_a_delete():
    """MRG-051: the marker is compared exactly, and a late one leaves the row."""
    table = Model(record_key=("id",), ordering=("ts",), delete_marker=("op", "D"))
    table.apply("upsert", [{"id": key, "ts": 5, "op": "I"} for key in ("gone", "late", "lower")])
    table.apply("upsert", [{"id": "gone", "ts": 6, "op": "D"}, {"id": "late", "ts": 4, "op": "D"}])
    table.apply("upsert", [{"id": "lower", "ts": 6, "op": "d"}])
    assert {row["id"]: row["op"] for row in table.snapshot()} == {"late": "I", "lower": "d"}


def test_overwriting_a_partition_changes_no_row_of_another_one():
    """A row that was filled from another version has not changed if another partition is replaced."""
    table = Model(record_key=("id",), partition=("p",), ordering=("ts",), partial_update_mode="IGNORE_DEFAULTS")
    writes = [[{"id": "a", "p": "x", "ts": 1, "v": "A"}], [{"id": "a", "p": "x", "ts": 2, "v": None}]]
    for number, rows in enumerate([*writes, [{"id": "b", "p": "y", "ts": 1, "v": "B"}]], 1):
        table.apply("insert_overwrite" if number == 3 else "upsert", rows, f"{number}0", f"{number}5")
    found = change_rows(table, Window("25"))
    assert [(one["op"], one["after"]["id"]) for one in found] == [("i", "b")]
