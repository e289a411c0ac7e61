"""The interface of mergers: what a merger is shown, and what must hold of its answers.

Mergers are code, so only the reference is asked, inside this process; `test_custom_merging` asks any engine.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import pairwise, permutations, product
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from hudi_reference import WritableTable, create_table, open_table
from hudi_reference.clock import ManualClock
from hudi_reference.errors import MergerFault, Misuse, UnknownMerger
from hudi_reference.files.log.content import Delete
from hudi_reference.ids import SeededIds
from hudi_reference.records.changes import KEY, Changes
from hudi_reference.records.mergers.merger import BufferedRecord, Merging, Operation, RecordContext, RecordMerger, merged
from hudi_reference.records.mergers.sample_mergers import FillNulls, GreatestOfEach
from hudi_reference.records.mergers.standard_mergers import CommitTimeMerger, EventTimeMerger
from hudi_reference.records.merging.merge_slice import merge_changes
from hudi_reference.records.row import Row
from hudi_reference.storage import MemoryStorage

STRATEGY = "0a0a0a0a-0000-4000-8000-00000000000a"
OTHER = "0b0b0b0b-0000-4000-8000-00000000000b"
TYPES = pytest.mark.parametrize("type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
SCHEMA = pa.schema([(KEY, pa.string()), ("ts", pa.int64()), ("a", pa.string()), ("b", pa.string()), ("day", pa.date32())])
DAY = date(2026, 1, 2)
Versions = Sequence[tuple[set[str] | None, Mapping[str, Any]] | Delete]
AVRO = {
    "type": "record",
    "name": "probe",
    "fields": [{"name": "id", "type": "string"}, {"name": "ts", "type": "long"}, {"name": "a", "type": ["null", "string"]}],
}


@dataclass
class Probe(RecordMerger):
    """Keeps the newer version, and notes what it was shown."""

    seen: list[tuple[str, BufferedRecord, BufferedRecord, Any]] = field(default_factory=list)
    strategy_id: ClassVar[str] = STRATEGY

    def merge(self, older: BufferedRecord, newer: BufferedRecord, context: RecordContext) -> BufferedRecord:
        """The newer one."""
        self.seen.append(("whole", older, newer, context.schema))
        return newer

    def partial_merge(
        self, older: BufferedRecord, newer: BufferedRecord, schema: pa.Schema, context: RecordContext
    ) -> BufferedRecord:
        """The columns of both, those of the newer one on top."""
        self.seen.append(("partial", older, newer, schema))
        both = {**Row.cells_of(older.row or {}), **Row.cells_of(newer.row or {})}
        return context.updated(replace(newer, is_partial=older.is_partial and newer.is_partial), Row(both))


class Answers(RecordMerger):
    """Gives what it was told to give."""

    strategy_id = STRATEGY

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def merge(self, older: BufferedRecord, newer: BufferedRecord, context: RecordContext) -> BufferedRecord:
        """The answer for these two."""
        found: BufferedRecord = self.answer(older, newer, context)
        return found

    def partial_merge(
        self, older: BufferedRecord, newer: BufferedRecord, schema: pa.Schema, context: RecordContext
    ) -> BufferedRecord:
        """The same."""
        return self.merge(older, newer, context)


class KeepsLowest(RecordMerger):
    """The version with the lower ordering value."""

    strategy_id = STRATEGY

    def merge(self, older: BufferedRecord, newer: BufferedRecord, context: RecordContext) -> BufferedRecord:
        """The newer one if it is late."""
        return newer if context.is_late(older, newer) else older


def row(ts: int | None, a: str | None = None, b: str | None = None) -> dict[str, Any]:
    """A row of the one record."""
    return {KEY: "k", "ts": ts, "a": a, "b": b, "day": DAY}


def table_of(rows: Sequence[Mapping[str, Any]], schema: pa.Schema = SCHEMA) -> pa.Table:
    """Rows, with null where they say nothing."""
    return pa.Table.from_pylist([{name: found.get(name) for name in schema.names} for found in rows], schema=schema)


def left(merger: RecordMerger, base: Sequence[Mapping[str, Any]], *log: Any, ordered: bool = True) -> list[dict[str, Any]]:
    """What is left of base rows and log entries: rows, partial rows as (columns, row), deletes."""
    batches = [[v] if isinstance(v, Delete) else table_of([v[1] if isinstance(v, tuple) else v]) for v in log]
    held = {number: frozenset({KEY, *v[0]}) for number, v in enumerate(log) if isinstance(v, tuple)}
    merging = Merging("CUSTOM", ("ts",) if ordered else (), merger=merger)
    found: list[dict[str, Any]] = merge_changes(table_of(base), Changes(batches, SCHEMA, held), merging).to_pylist()
    return found


def new_table(type: str, *mergers: RecordMerger, strategy: str = STRATEGY, storage: Any = None) -> WritableTable:
    """An empty table in memory that merges by the strategy."""
    return create_table(
        "memory:///probe", name="probe", schema=AVRO, record_key=("id",), ordering=("ts",), table_type=type,  # type: ignore[arg-type]
        merge_mode="CUSTOM", properties={"hoodie.record.merge.strategy.id": strategy}, mergers=mergers,
        storage=storage or MemoryStorage(), clock=ManualClock(1_767_225_600_000), ids=SeededIds(1),
    )  # fmt: skip


def write(table: WritableTable, *rows: tuple[str, int, str | None]) -> None:
    """One upsert of rows (id, ts, a)."""
    columns = zip(*rows, strict=True)
    table.upsert(pa.table([pa.array(c, t) for c, t in zip(columns, (pa.string(), pa.int64(), pa.string()), strict=True)],
                          names=["id", "ts", "a"]))  # fmt: skip


@pytest.mark.requirements("API-001", "API-013")
def test_partial_records_go_to_the_partial_merge_whichever_side_they_are_on() -> None:
    """Whole rows meet in `merge`; as soon as one of the two holds only some columns, they meet in `partial_merge`."""
    cases: list[tuple[list[dict[str, Any]], tuple[Any, ...], list[str]]] = [
        ([row(1, "x")], (row(2, "y"),), ["whole"]),
        ([row(1, "x")], (({"ts", "a"}, row(2, "y")),), ["partial"]),
        ([], (({"ts", "a"}, row(2, "y")), row(3, "z")), ["partial"]),
        ([], (({"ts", "a"}, row(2, "y")), ({"ts", "b"}, row(3, None, "z"))), ["partial"]),
        ([row(1, "x")], (({"ts", "a"}, row(2, "y")), row(3, "z")), ["partial", "whole"]),
    ]
    for base, log, ways in cases:
        probe = Probe()
        assert len(left(probe, base, *log)) == 1
        assert [way for way, *_ in probe.seen] == ways


@pytest.mark.requirements("API-002", "API-003", "API-004")
def test_a_merger_is_shown_key_ordering_value_operation_schema_and_values_as_arrow_has_them() -> None:
    """A base row and a log row come with their ordering values, a delete with its own; a date is a date and no number."""
    probe = Probe()
    left(probe, [row(5, "x")], row(3, "y"), Delete("k", "", 9))
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
def test_a_context_reads_nested_fields_and_builds_rows_of_whatever_form_a_row_has() -> None:
    """Values that Arrow holds and plain mappings are read alike; a new row keeps what it does not change."""
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


@TYPES
@pytest.mark.requirements("API-005")
def test_the_older_version_comes_first_in_queries_and_in_writes(type: str) -> None:
    """The first of the two was written before the second, and is what the merges before gave."""
    probe = Probe()
    table = new_table(type, probe)
    for ts in (5, 3, 4):
        write(table, ("1", ts, f"v{ts}"))
    table.snapshot()
    assert probe.seen
    for _, older, newer, _ in probe.seen:
        assert older.row is not None
        assert newer.row is not None
        assert older.row["_hoodie_commit_time"] < newer.row["_hoodie_commit_time"]
    orderings = [(older.ordering, newer.ordering) for _, older, newer, _ in probe.seen]
    assert orderings == list(pairwise((5, 3, 4)))


@TYPES
@pytest.mark.requirements("API-006")
def test_the_strategy_id_is_a_uuid_and_is_stored(type: str) -> None:
    """The properties hold the id that the table was made with; what is no UUID is refused."""
    stored = new_table(type, Probe()).properties
    assert (stored.get("hoodie.record.merge.strategy.id"), stored.merge_mode) == (STRATEGY, "CUSTOM")
    with pytest.raises(Misuse):
        new_table(type, Probe(), strategy="org.example.Probe")


@pytest.mark.requirements("API-007", "API-008", "MRG-035")
def test_without_the_merger_of_its_id_a_table_is_refused() -> None:
    """No merger at all, or only mergers with other ids: a refusal that names the id and what is there; never another merger."""
    storage = MemoryStorage()
    write(new_table("MERGE_ON_READ", Probe(), storage=storage), ("1", 5, "x"))
    for given in ((), (FillNulls(),)):
        with pytest.raises(UnknownMerger) as raised:
            open_table("memory:///probe", storage=storage, mergers=given).snapshot()
        assert STRATEGY in str(raised.value)
        assert all(type(merger).__name__ in str(raised.value) for merger in given)
        with pytest.raises(UnknownMerger):
            new_table("MERGE_ON_READ", *given)
    assert open_table("memory:///probe", storage=storage, mergers=[FillNulls(), Probe()]).snapshot().num_rows == 1


@pytest.mark.requirements("API-017", "MRG-037")
def test_a_merger_fits_by_its_record_type_and_not_by_its_name() -> None:
    """A merger for other records is passed over whatever it is called; of two that fit the first counts."""

    class ArrowOfAnotherEngine(Probe):
        record_type = "SPARK"

    class SparkAndYetFitting(Probe):
        pass

    wrong, right, second = ArrowOfAnotherEngine(), SparkAndYetFitting(), Probe()
    table = new_table("COPY_ON_WRITE", wrong, right, second)
    for ts in (1, 2):
        write(table, ("1", ts, "x"))
    assert [len(probe.seen) for probe in (wrong, right, second)] == [0, 1, 0]


NO_ANSWERS: dict[str, Any] = {
    "API-009": lambda older, newer, context: None,
    "API-010": lambda older, newer, context: BufferedRecord(newer.key, newer.ordering, None),
    "API-011": lambda older, newer, context: BufferedRecord(newer.key, None, newer.row),
    "API-011 delete": lambda older, newer, context: context.delete(newer.key, None),
}


@pytest.mark.requirements("API-009", "API-010", "API-011")
@pytest.mark.parametrize("rule", NO_ANSWERS)
def test_what_is_no_answer_is_an_error_and_loses_no_row(rule: str) -> None:
    """Nothing at all, a row without data, a result without its ordering value: each is the merger's fault."""
    with pytest.raises(MergerFault) as raised:
        left(Answers(NO_ANSWERS[rule]), [row(1, "x")], row(2, "y"))
    assert raised.value.rule == rule.partition(" ")[0]


@pytest.mark.requirements("API-012", "API-014")
def test_a_partial_merge_gets_the_schema_of_the_reader_and_adds_no_column() -> None:
    """The schema is that of the columns that are read; two partial records give the columns of both, no others."""
    probe = Probe()
    assert left(probe, [], ({"ts", "a"}, row(1, "x")), ({"ts", "b"}, row(2, None, "y"))) == [{**row(2, "x", "y"), "day": None}]
    assert [schema for *_, schema in probe.seen] == [SCHEMA]
    padded = Answers(lambda older, newer, context: replace(newer, row=Row({**newer.row, "day": None})))
    with pytest.raises(MergerFault) as raised:
        left(padded, [], ({"ts", "a"}, row(1, "x")), ({"ts", "b"}, row(2, None, "y")))
    assert raised.value.rule == "API-014"


@pytest.mark.requirements("API-010", "API-015")
@pytest.mark.parametrize("columns", [None, {"ts", "a"}])
def test_a_result_with_the_operation_delete_takes_the_row_away(columns: set[str] | None) -> None:
    """Whole or partial: the key is not there afterwards, and a later version is merged with the delete."""
    merger = Answers(
        lambda older, newer, context: replace(newer, operation=Operation.DELETE) if newer.row["a"] == "x" else newer
    )
    entry: Any = row(2, "x") if columns is None else (columns, row(2, "x"))
    assert left(merger, [row(1, "y")], entry) == []
    assert left(merger, [row(1, "y")], entry, row(3, "z")) == [row(3, "z")]


@TYPES
@pytest.mark.requirements("API-019", "API-010")
def test_a_delete_needs_no_data(type: str) -> None:
    """A merger may answer with a delete of key and ordering value alone; queries, writes and later merges go on."""
    merger = Answers(lambda older, newer, context: newer if older.is_delete else context.delete(newer.key, newer.ordering))
    assert left(merger, [row(1, "x")], row(2, "y")) == []
    assert left(merger, [row(1, "x")], row(2, "y"), row(3, "z")) == [row(3, "z")]
    table = new_table(type, merger)
    write(table, ("1", 1, "x"), ("2", 1, "stays"))
    write(table, ("1", 2, "y"))
    assert table.snapshot(["id"]).to_pylist() == [{"id": "2"}]


@TYPES
@pytest.mark.requirements("PAY-020", "MRG-011")
def test_the_ordering_field_has_no_say_beside_the_merger(type: str) -> None:
    """A merger that keeps the lowest value keeps it inside one input too, and against the stored row."""
    table = new_table(type, KeepsLowest())
    write(table, ("1", 3, "three"), ("1", 1, "one"), ("1", 2, "two"), ("2", 5, "five"))
    write(table, ("2", 9, "nine"), ("2", 7, "seven"))
    assert sorted(table.snapshot(["id", "a"]).column("a").to_pylist()) == ["five", "one"]


@pytest.mark.requirements("API-002", "API-012")
def test_a_projection_never_changes_what_a_merger_answers() -> None:
    """All columns are read unless the merger says that it needs only those it names."""
    table = new_table("MERGE_ON_READ", FillNulls(), strategy=FillNulls.strategy_id)
    write(table, ("1", 2, "x"))
    write(table, ("1", 3, None))
    assert table.snapshot(["a"]).to_pylist() == [{"a": "x"}]
    assert table.snapshot(["id"], where=[("a", "=", "x")]).to_pylist() == [{"id": "1"}]
    needs_ts = Answers(lambda older, newer, context: newer if newer.row["ts"] == 3 else older)
    other = new_table("MERGE_ON_READ", needs_ts)
    write(other, ("1", 3, "x"))
    write(other, ("1", 4, "y"))
    assert other.snapshot(["a"]).to_pylist() == [{"a": "x"}]


CONTEXT = RecordContext(SCHEMA, ("ts",))
DATA = [BufferedRecord("k", ts, Row(row(ts, a))) for ts, a in product((1, 2, 3), (None, "p", "q"))]
DELETES = [CONTEXT.delete("k", ts) for ts in (1, 2, 3)]


def seen(record: BufferedRecord) -> Any:
    """What of a result counts: what is stored, what it says, and what it is compared by."""
    return record.is_delete, record.ordering, None if record.row is None else dict(record.row)


@pytest.mark.requirements("API-021", "API-011")
@pytest.mark.parametrize(
    ("merger", "versions"),
    [(GreatestOfEach(), [*DATA, *DELETES]), (EventTimeMerger(), [*DATA, *DELETES]), (CommitTimeMerger(), [*DATA, *DELETES])],
    ids=lambda value: type(value).__name__ if isinstance(value, RecordMerger) else "",
)
def test_it_makes_no_difference_which_versions_meet_first(merger: RecordMerger, versions: list[BufferedRecord]) -> None:
    """Associativity, over all three of any versions: so a compaction may come anywhere."""
    merging = Merging("CUSTOM", ("ts",), merger=merger)
    for a, b, c in product(versions, repeat=3):
        early = merged(merging, merged(merging, a, b, CONTEXT), c, CONTEXT)
        late = merged(merging, a, merged(merging, b, c, CONTEXT), CONTEXT)
        assert seen(early) == seen(late), (a, b, c)


@pytest.mark.requirements("MRG-002")
@pytest.mark.parametrize("merger", [GreatestOfEach(), EventTimeMerger()], ids=lambda merger: type(merger).__name__)
def test_versions_with_distinct_ordering_values_may_come_in_any_order(merger: RecordMerger) -> None:
    """Commutativity, where ordering values tell the versions apart."""
    merging = Merging("CUSTOM", ("ts",), merger=merger)
    for a, b in permutations([*DATA, *DELETES], 2):
        if a.ordering != b.ordering:
            assert seen(merged(merging, a, b, CONTEXT)) == seen(merged(merging, b, a, CONTEXT)), (a, b)


@pytest.mark.requirements("MRG-004")
@pytest.mark.parametrize(
    "merger", [GreatestOfEach(), FillNulls(), EventTimeMerger(), CommitTimeMerger()], ids=lambda merger: type(merger).__name__
)
def test_a_version_that_comes_twice_counts_once(merger: RecordMerger) -> None:
    """Idempotence: of one version, and of a log in which a block stands twice."""
    merging = Merging("CUSTOM", ("ts",), merger=merger)
    for version in [*DATA, *DELETES]:
        assert seen(merged(merging, version, version, CONTEXT)) == seen(version)
    once, twice = left(merger, [row(1, "p")], row(2, "q")), left(merger, [row(1, "p")], row(2, "q"), row(2, "q"))
    assert once == twice
