"""The interface of mergers: the arguments of a merger, and the properties that its results must have.

Mergers are code, so only the reference is tested, inside this process; `test_custom_merging` tests any engine.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import pairwise, permutations, product
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.requirements.requirement import VERSIONS
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_reference import WritableTable, create_table, open_table
from hudi_reference.clock import ManualClock
from hudi_reference.errors import MergerFault, Misuse, UnknownMerger
from hudi_reference.files.log.content import Delete
from hudi_reference.ids import SeededIds
from hudi_reference.records.changes import KEY, Changes
from hudi_reference.records.mergers.merger import (
    BufferedRecord,
    Merging,
    Operation,
    RecordContext,
    RecordMerger,
    merge_and_check,
)
from hudi_reference.records.mergers.sample_mergers import FillNulls, GreatestOfEach
from hudi_reference.records.mergers.standard_mergers import CommitTimeMerger, EventTimeMerger
from hudi_reference.records.merging.merge_slice import merge_changes
from hudi_reference.records.row import Row
from hudi_reference.storage import MemoryStorage

STRATEGY = "0a0a0a0a-0000-4000-8000-00000000000a"
OTHER = "0b0b0b0b-0000-4000-8000-00000000000b"
TYPES = pytest.mark.parametrize("type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
#: The interface of mergers is the same at each table version; tests that make tables make one of each.
pytestmark = pytest.mark.versions(8, 9)
EACH_VERSION = pytest.mark.parametrize("version", VERSIONS)
SCHEMA = pa.schema([(KEY, pa.string()), ("ts", pa.int64()), ("a", pa.string()), ("b", pa.string()), ("day", pa.date32())])
DAY = date(2026, 1, 2)
Versions = Sequence[tuple[set[str] | None, Mapping[str, Any]] | Delete]
AVRO = {
    "type": "record",
    "name": "probe",
    "fields": [{"name": "id", "type": "string"}, {"name": "ts", "type": "long"}, {"name": "a", "type": ["null", "string"]}],
}


@pytest.fixture(autouse=True)
def in_this_process(engine: Client) -> None:
    """Mergers are objects of this process."""
    only_in_process(engine)


@dataclass
class Probe(RecordMerger):
    """Keeps the newer version, and records its arguments."""

    seen: list[tuple[str, BufferedRecord, BufferedRecord, Any]] = field(default_factory=list)
    strategy_id: ClassVar[str] = STRATEGY

    def merge(self, older: BufferedRecord, newer: BufferedRecord, context: RecordContext) -> BufferedRecord:
        """Return the newer version."""
        self.seen.append(("whole", older, newer, context.schema))
        return newer

    def partial_merge(
        self, older: BufferedRecord, newer: BufferedRecord, schema: pa.Schema, context: RecordContext
    ) -> BufferedRecord:
        """Return the columns of both, with the newer values."""
        self.seen.append(("partial", older, newer, schema))
        both = {**Row.cells_of(older.row or {}), **Row.cells_of(newer.row or {})}
        return context.updated(replace(newer, is_partial=older.is_partial and newer.is_partial), Row(both))


class Answers(RecordMerger):
    """Returns a fixed answer."""

    strategy_id = STRATEGY

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def merge(self, older: BufferedRecord, newer: BufferedRecord, context: RecordContext) -> BufferedRecord:
        """Return the answer for these two."""
        found: BufferedRecord = self.answer(older, newer, context)
        return found

    def partial_merge(
        self, older: BufferedRecord, newer: BufferedRecord, schema: pa.Schema, context: RecordContext
    ) -> BufferedRecord:
        """Return the same answer."""
        return self.merge(older, newer, context)


class KeepsLowest(RecordMerger):
    """Keeps the version with the lower ordering value."""

    strategy_id = STRATEGY

    def merge(self, older: BufferedRecord, newer: BufferedRecord, context: RecordContext) -> BufferedRecord:
        """Return the newer version if its ordering value is lower."""
        return newer if context.is_late(older, newer) else older


def make_row(ts: int | None, a: str | None = None, b: str | None = None) -> dict[str, Any]:
    """Return a row of the only record."""
    return {KEY: "k", "ts": ts, "a": a, "b": b, "day": DAY}


def to_table(rows: Sequence[Mapping[str, Any]], schema: pa.Schema = SCHEMA) -> pa.Table:
    """Return rows, with null for missing values."""
    return pa.Table.from_pylist([{name: found.get(name) for name in schema.names} for found in rows], schema=schema)


def merge_records(
    merger: RecordMerger, base: Sequence[Mapping[str, Any]], *log: Any, ordered: bool = True
) -> list[dict[str, Any]]:
    """Merge base rows and log entries: rows, partial rows as (columns, row), deletes. Return the remaining rows."""
    batches = [[v] if isinstance(v, Delete) else to_table([v[1] if isinstance(v, tuple) else v]) for v in log]
    held = {number: frozenset({KEY, *v[0]}) for number, v in enumerate(log) if isinstance(v, tuple)}
    merging = Merging("CUSTOM", ("ts",) if ordered else (), merger=merger)
    found: list[dict[str, Any]] = merge_changes(to_table(base), Changes(batches, SCHEMA, held), merging).to_pylist()
    return found


def new_table(
    type: str, version: int, *mergers: RecordMerger, strategy: str = STRATEGY, storage: Any = None, schema: Any = AVRO
) -> WritableTable:
    """Create an empty table in memory that merges by the strategy."""
    return create_table(
        "memory:///probe", name="probe", schema=schema, record_key=("id",), ordering=("ts",), table_type=type,  # type: ignore[arg-type]
        merge_mode="CUSTOM", properties={"hoodie.record.merge.strategy.id": strategy}, mergers=mergers, version=version,
        storage=storage or MemoryStorage(), clock=ManualClock(1_767_225_600_000), ids=SeededIds(1),
    )  # fmt: skip


def upsert_rows(table: WritableTable, *rows: tuple[str, int, str | None]) -> None:
    """Upsert rows (id, ts, a)."""
    columns = zip(*rows, strict=True)
    table.upsert(pa.table([pa.array(c, t) for c, t in zip(columns, (pa.string(), pa.int64(), pa.string()), strict=True)],
                          names=["id", "ts", "a"]))  # fmt: skip


@pytest.mark.requirements("API-001", "API-013")
def test_partial_records_are_merged_by_partial_merge() -> None:
    """API-013: complete rows are merged by `merge`; if either of the two holds only some columns, they are merged by
    `partial_merge`.
    """
    cases: list[tuple[list[dict[str, Any]], tuple[Any, ...], list[str]]] = [
        ([make_row(1, "x")], (make_row(2, "y"),), ["whole"]),
        ([make_row(1, "x")], (({"ts", "a"}, make_row(2, "y")),), ["partial"]),
        ([], (({"ts", "a"}, make_row(2, "y")), make_row(3, "z")), ["partial"]),
        ([], (({"ts", "a"}, make_row(2, "y")), ({"ts", "b"}, make_row(3, None, "z"))), ["partial"]),
        ([make_row(1, "x")], (({"ts", "a"}, make_row(2, "y")), make_row(3, "z")), ["partial", "whole"]),
    ]
    for base, log, ways in cases:
        probe = Probe()
        assert len(merge_records(probe, base, *log)) == 1
        assert [way for way, *_ in probe.seen] == ways


@pytest.mark.requirements("API-002", "API-003", "API-004")
def test_the_arguments_of_a_merger() -> None:
    """API-003: base rows and log rows have key, ordering value, operation and schema, deletes their own ordering value; values
    are those of Arrow: a date is a date, not a number.
    """
    probe = Probe()
    merge_records(probe, [make_row(5, "x")], make_row(3, "y"), Delete("k", "", 9))
    (_, base, log, _), (_, _, delete, _) = probe.seen
    assert [(r.key, r.ordering, r.operation) for r in (base, log, delete)] == [
        ("k", 5, Operation.INSERT), ("k", 3, Operation.INSERT), ("k", 9, Operation.DELETE),
    ]  # fmt: skip
    context = RecordContext(SCHEMA, ("ts",))
    assert base.row is not None
    assert (context.value(base, "day"), base.row["day"], context.key(base)) == (DAY, DAY, "k")
    assert context.schema_of(log) == SCHEMA
    assert (base.schema_id, log.schema_id, delete.schema_id, delete.row) == (0, 1, None, None)


@pytest.mark.requirements("API-004", "API-020")
def test_a_context_reads_nested_fields_and_builds_rows() -> None:
    """API-020: Arrow values and plain mappings are read alike; a new row keeps the unchanged fields."""
    schema = pa.schema([("s", pa.struct([("t", pa.struct([("u", pa.int64())]))])), ("v", pa.string())])
    values = {"s": {"t": {"u": 7}}, "v": "x"}
    table, context = pa.Table.from_pylist([values], schema=schema), RecordContext(schema, ("s.t.u",))
    for form in (values, Row.at(dict(zip(table.column_names, table.columns, strict=True)), 0)):
        record = BufferedRecord("k", 7, form)
        assert context.value(record, "s.t.u") == 7
        assert context.value(record, "s.none.u") is None
        built = context.row({"v": "y"}, over=form)
        assert dict(built) == {"s": {"t": {"u": 7}}, "v": "y"}
        assert context.updated(record, built).ordering == 7
    with pytest.raises(MergerFault):
        context.row({"w": 1})


@EACH_VERSION
@TYPES
@pytest.mark.requirements("API-005")
def test_the_older_version_comes_first_in_queries_and_in_writes(type: str, version: int) -> None:
    """API-005: the first argument was written before the second, and is the result of the earlier merges."""
    probe = Probe()
    table = new_table(type, version, probe)
    for ts in (5, 3, 4):
        upsert_rows(table, ("1", ts, f"v{ts}"))
    table.snapshot()
    assert probe.seen
    for _, older, newer, _ in probe.seen:
        assert older.row is not None
        assert newer.row is not None
        assert older.row["_hoodie_commit_time"] < newer.row["_hoodie_commit_time"]
    orderings = [(older.ordering, newer.ordering) for _, older, newer, _ in probe.seen]
    assert orderings == list(pairwise((5, 3, 4)))


@EACH_VERSION
@TYPES
@pytest.mark.requirements("API-006")
def test_the_strategy_id_is_a_uuid_and_is_stored(type: str, version: int) -> None:
    """API-006: the properties hold the id with which the table was created; a text that is no UUID is refused."""
    stored = new_table(type, version, Probe()).properties
    assert (stored.get("hoodie.record.merge.strategy.id"), stored.merge_mode) == (STRATEGY, "CUSTOM")
    with pytest.raises(Misuse):
        new_table(type, version, Probe(), strategy="org.example.Probe")


@EACH_VERSION
@pytest.mark.requirements("API-007", "API-008", "MRG-035")
def test_a_table_without_its_merger_is_refused(version: int) -> None:
    """API-008: with no merger, or only mergers with other ids, the error names the id and the available mergers; no other
    merger is used.
    """
    storage = MemoryStorage()
    upsert_rows(new_table("MERGE_ON_READ", version, Probe(), storage=storage), ("1", 5, "x"))
    for given in ((), (FillNulls(),)):
        with pytest.raises(UnknownMerger) as raised:
            open_table("memory:///probe", storage=storage, mergers=given).snapshot()
        assert STRATEGY in str(raised.value)
        assert all(type(merger).__name__ in str(raised.value) for merger in given)
        with pytest.raises(UnknownMerger):
            new_table("MERGE_ON_READ", version, *given)
    assert open_table("memory:///probe", storage=storage, mergers=[FillNulls(), Probe()]).snapshot().num_rows == 1


@EACH_VERSION
@pytest.mark.requirements("API-017", "MRG-037")
def test_a_merger_is_chosen_by_its_record_type(version: int) -> None:
    """MRG-037: a merger for another record type is skipped whatever its name; of two that match the first is used."""

    class ArrowOfAnotherEngine(Probe):
        record_type = "SPARK"

    class SparkAndYetFitting(Probe):
        pass

    wrong, right, second = ArrowOfAnotherEngine(), SparkAndYetFitting(), Probe()
    table = new_table("COPY_ON_WRITE", version, wrong, right, second)
    for ts in (1, 2):
        upsert_rows(table, ("1", ts, "x"))
    assert [len(probe.seen) for probe in (wrong, right, second)] == [0, 1, 0]


NO_ANSWERS: dict[str, Any] = {
    "API-009": lambda older, newer, context: None,
    "API-010": lambda older, newer, context: BufferedRecord(newer.key, newer.ordering, None),
    "API-011": lambda older, newer, context: BufferedRecord(newer.key, None, newer.row),
    "API-011 delete": lambda older, newer, context: context.delete(newer.key, None),
}


@pytest.mark.requirements("API-009", "API-010", "API-011")
@pytest.mark.parametrize("rule", NO_ANSWERS)
def test_an_invalid_result_is_an_error_and_loses_no_row(rule: str) -> None:
    """API-011: no result, a row without data, or a result without its ordering value is an error of the merger."""
    with pytest.raises(MergerFault) as raised:
        merge_records(Answers(NO_ANSWERS[rule]), [make_row(1, "x")], make_row(2, "y"))
    assert raised.value.rule == rule.partition(" ")[0]


@pytest.mark.requirements("API-012", "API-014")
def test_a_partial_merge_gets_the_schema_of_the_reader_and_adds_no_column() -> None:
    """API-012: the schema consists of the columns that are read; two partial records give the columns of both, no others."""
    probe = Probe()
    assert merge_records(probe, [], ({"ts", "a"}, make_row(1, "x")), ({"ts", "b"}, make_row(2, None, "y"))) == [
        {**make_row(2, "x", "y"), "day": None}
    ]
    assert [schema for *_, schema in probe.seen] == [SCHEMA]
    padded = Answers(lambda older, newer, context: replace(newer, row=Row({**newer.row, "day": None})))
    with pytest.raises(MergerFault) as raised:
        merge_records(padded, [], ({"ts", "a"}, make_row(1, "x")), ({"ts", "b"}, make_row(2, None, "y")))
    assert raised.value.rule == "API-014"


@pytest.mark.requirements("API-010", "API-015")
@pytest.mark.parametrize("columns", [None, {"ts", "a"}])
def test_a_result_with_the_operation_delete_removes_the_row(columns: set[str] | None) -> None:
    """API-010: for complete and partial records the key does not exist afterwards, and a later version is merged with the
    delete.
    """
    merger = Answers(
        lambda older, newer, context: replace(newer, operation=Operation.DELETE) if newer.row["a"] == "x" else newer
    )
    entry: Any = make_row(2, "x") if columns is None else (columns, make_row(2, "x"))
    assert merge_records(merger, [make_row(1, "y")], entry) == []
    assert merge_records(merger, [make_row(1, "y")], entry, make_row(3, "z")) == [make_row(3, "z")]


@EACH_VERSION
@TYPES
@pytest.mark.requirements("API-019", "API-010")
def test_a_delete_needs_no_data(type: str, version: int) -> None:
    """API-019: a merger may return a delete with only key and ordering value; queries, writes and later merges succeed."""
    merger = Answers(lambda older, newer, context: newer if older.is_delete else context.delete(newer.key, newer.ordering))
    assert merge_records(merger, [make_row(1, "x")], make_row(2, "y")) == []
    assert merge_records(merger, [make_row(1, "x")], make_row(2, "y"), make_row(3, "z")) == [make_row(3, "z")]
    table = new_table(type, version, merger)
    upsert_rows(table, ("1", 1, "x"), ("2", 1, "stays"))
    upsert_rows(table, ("1", 2, "y"))
    assert table.snapshot(["id"]).to_pylist() == [{"id": "2"}]


@EACH_VERSION
@TYPES
@pytest.mark.requirements("API-010", "MRG-011")
def test_a_merger_deletes_a_record_inside_one_write(type: str, version: int) -> None:
    """API-010: a merger deletes a record when it merges two rows of one write: the stored row of the key is removed, and a new
    key is not inserted. Other rows of the write are stored.
    """
    merger = Answers(lambda older, newer, context: newer if newer.is_delete else context.delete(newer.key, newer.ordering))
    mark = {"name": "_hoodie_is_deleted", "type": ["null", "boolean"], "default": None}
    table = new_table(type, version, merger, schema={**AVRO, "fields": [*AVRO["fields"], mark]})
    types = (pa.string(), pa.int64(), pa.string(), pa.bool_())
    for rows in (
        [("1", 1, "x"), ("2", 1, "stays")],
        [("1", 2, "y"), ("1", 3, "z"), ("n", 1, "p"), ("n", 2, "q"), ("3", 1, "new")],
    ):
        columns = zip(*((*one, None) for one in rows), strict=True)
        arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
        table.upsert(pa.table(arrays, names=["id", "ts", "a", "_hoodie_is_deleted"]))
    assert sorted(table.snapshot(["id", "a"]).column("a").to_pylist()) == ["new", "stays"]


@EACH_VERSION
@TYPES
@pytest.mark.requirements("PAY-020", "MRG-011")
def test_the_ordering_field_does_not_override_the_merger(type: str, version: int) -> None:
    """MRG-011: a merger that keeps the lowest value does so inside one input too, and against the stored row."""
    table = new_table(type, version, KeepsLowest())
    upsert_rows(table, ("1", 3, "three"), ("1", 1, "one"), ("1", 2, "two"), ("2", 5, "five"))
    upsert_rows(table, ("2", 9, "nine"), ("2", 7, "seven"))
    assert sorted(table.snapshot(["id", "a"]).column("a").to_pylist()) == ["five", "one"]


@EACH_VERSION
@pytest.mark.requirements("API-002", "API-012")
def test_a_projection_does_not_change_the_result_of_a_merger(version: int) -> None:
    """API-002: all columns are read unless the merger declares the columns that it needs."""
    table = new_table("MERGE_ON_READ", version, FillNulls(), strategy=FillNulls.strategy_id)
    upsert_rows(table, ("1", 2, "x"))
    upsert_rows(table, ("1", 3, None))
    assert table.snapshot(["a"]).to_pylist() == [{"a": "x"}]
    assert table.snapshot(["id"], where=[("a", "=", "x")]).to_pylist() == [{"id": "1"}]
    needs_ts = Answers(lambda older, newer, context: newer if newer.row["ts"] == 3 else older)
    other = new_table("MERGE_ON_READ", version, needs_ts)
    upsert_rows(other, ("1", 3, "x"))
    upsert_rows(other, ("1", 4, "y"))
    assert other.snapshot(["a"]).to_pylist() == [{"a": "x"}]


CONTEXT = RecordContext(SCHEMA, ("ts",))
DATA = [BufferedRecord("k", ts, Row(make_row(ts, a))) for ts, a in product((1, 2, 3), (None, "p", "q"))]
DELETES = [CONTEXT.delete("k", ts) for ts in (1, 2, 3)]


def comparable_record(record: BufferedRecord) -> Any:
    """Return what is compared of a result: data, operation and ordering value."""
    return record.is_delete, record.ordering, None if record.row is None else dict(record.row)


@pytest.mark.requirements("API-021", "API-011")
@pytest.mark.parametrize(
    ("merger", "versions"),
    [(GreatestOfEach(), [*DATA, *DELETES]), (EventTimeMerger(), [*DATA, *DELETES]), (CommitTimeMerger(), [*DATA, *DELETES])],
    ids=lambda value: type(value).__name__ if isinstance(value, RecordMerger) else "",
)
def test_merging_is_associative(merger: RecordMerger, versions: list[BufferedRecord]) -> None:
    """API-021: any three versions give the same result in either grouping: so a compaction may run at any time."""
    merging = Merging("CUSTOM", ("ts",), merger=merger)
    for a, b, c in product(versions, repeat=3):
        early = merge_and_check(merging, merge_and_check(merging, a, b, CONTEXT), c, CONTEXT)
        late = merge_and_check(merging, a, merge_and_check(merging, b, c, CONTEXT), CONTEXT)
        assert comparable_record(early) == comparable_record(late), (a, b, c)


@pytest.mark.requirements("MRG-002")
@pytest.mark.parametrize("merger", [GreatestOfEach(), EventTimeMerger()], ids=lambda merger: type(merger).__name__)
def test_merging_is_commutative_for_distinct_ordering_values(merger: RecordMerger) -> None:
    """MRG-002: two versions with different ordering values give the same result in either order."""
    merging = Merging("CUSTOM", ("ts",), merger=merger)
    for a, b in permutations([*DATA, *DELETES], 2):
        if a.ordering != b.ordering:
            assert comparable_record(merge_and_check(merging, a, b, CONTEXT)) == comparable_record(
                merge_and_check(merging, b, a, CONTEXT)
            ), (a, b)


@pytest.mark.requirements("MRG-004")
@pytest.mark.parametrize(
    "merger", [GreatestOfEach(), FillNulls(), EventTimeMerger(), CommitTimeMerger()], ids=lambda merger: type(merger).__name__
)
def test_merging_is_idempotent(merger: RecordMerger) -> None:
    """MRG-004: a repeated version, and a repeated block of a log, change nothing."""
    merging = Merging("CUSTOM", ("ts",), merger=merger)
    for version in [*DATA, *DELETES]:
        assert comparable_record(merge_and_check(merging, version, version, CONTEXT)) == comparable_record(version)
    once, twice = (
        merge_records(merger, [make_row(1, "p")], make_row(2, "q")),
        merge_records(merger, [make_row(1, "p")], make_row(2, "q"), make_row(2, "q")),
    )
    assert once == twice
