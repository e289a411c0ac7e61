"""Partial updates and writes that add columns, against the model and against expected rows."""

import io
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Literal

import fastavro
import pyarrow as pa
import pytest
from hypothesis import strategies as st

from hudi_conformance.cases.rows import canonical_rows, compare_rows
from hudi_conformance.contract import EngineError, Query, Refused, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.engines.registry import find
from hudi_conformance.model import Model
from hudi_conformance.suite.support.programs.drawn_checks import check_for_all
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES
from hudi_conformance.suite.support.tables.written_tables import table_folder

Row = dict[str, Any]
Write = Literal["upsert", "delete", "partial_update"]
TableType = Literal["COPY_ON_WRITE", "MERGE_ON_READ"]

TYPES = {"id": "string", "city": "string", "ts": "long", "name": "string", "note": "string", "size": "int"}
ARROW = {"string": pa.string(), "long": pa.int64(), "int": pa.int32(), "double": pa.float64(), "boolean": pa.bool_()}
SCHEMA = {
    "type": "record",
    "name": "row",
    "namespace": "hoodie.updated",
    "fields": [{"name": name, "type": ["null", kind], "default": None} for name, kind in TYPES.items()],
}
#: How many programs are drawn for an engine in this process, and for one whose commits take seconds; for the latter no failure
#: is shrunk.
MANY, FEW = 60, 4
RECONCILE = {"hoodie.datasource.write.reconcile.schema": "true"}
NULLS = {"hoodie.write.set.null.for.missing.columns": "true"}


@dataclass(frozen=True)
class Program:
    """A table and its writes: each an operation, its columns beside key, partition and ordering, and its rows."""

    type: TableType
    merge_mode: Literal["COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING"]
    steps: tuple[tuple[Write, tuple[str, ...], tuple[Row, ...]], ...]


def table_spec(type: TableType, merge_mode: Any = "COMMIT_TIME_ORDERING", *, ordered: bool = True) -> TableSpec:
    """Return the table to create; a table in commit-time mode has no ordering field."""
    by_time = merge_mode == "EVENT_TIME_ORDERING"
    ordering = ("ts",) if by_time and ordered else ()
    return TableSpec("updated", type, SCHEMA, ("id",), ("city",), ordering, merge_mode)


def as_arrow(rows: Any, types: dict[str, str]) -> pa.Table:
    """Return rows with these columns."""
    return pa.Table.from_pylist(list(rows), schema=pa.schema([(name, ARROW[kind]) for name, kind in types.items()]))


def check_rows(engine: Client, uri: str, wanted: Any, types: dict[str, str], when: str) -> None:
    """Check that the snapshot holds the expected rows."""
    found = canonical_rows(engine.read(uri, Query(columns=tuple(types))), types)
    different = compare_rows(canonical_rows(as_arrow(wanted, types), types), found, ("id", "city"))
    assert not different, f"{different.summary()}\n{when}\n{list(different.pairs())}"


def check_program(program: Program, uri: str, engine: Client) -> None:
    """Compare the snapshot with the model after each write."""
    made = table_spec(program.type, program.merge_mode)
    model = Model(
        record_key=made.record_key, partition=made.partition, ordering=made.ordering, merge_mode=program.merge_mode,
        table_type=program.type,
    )  # fmt: skip
    engine.create(uri, made)
    for number, (operation, columns, rows) in enumerate(program.steps, 1):
        kept = ("id", "city", "ts", *columns)
        given_rows = [{name: row[name] for name in kept} for row in rows]
        engine.write(uri, operation, as_arrow(given_rows, {name: TYPES[name] for name in kept}))
        model.apply(operation, given_rows)
        check_rows(engine, uri, model.snapshot(), TYPES, f"after write {number} of {program}")


ROWS = st.lists(
    st.fixed_dictionaries({
        "id": st.sampled_from("abc"), "city": st.sampled_from(("oslo", "rio")), "ts": st.integers(1, 4),
        "name": st.sampled_from(("x", "y", None)), "note": st.sampled_from(("m", None)), "size": st.sampled_from((1, 2, None)),
    }),
    min_size=1, max_size=3, unique_by=lambda row: (row["id"], row["city"]),
).map(tuple)  # fmt: skip
WHOLE = ("name", "note", "size")
PARTS = st.sampled_from((("name",), ("note",), ("name", "size"), ("size", "note"), ("note", "name", "size")))
STEPS = st.one_of(
    st.tuples(st.just("partial_update"), PARTS, ROWS),
    st.tuples(st.just("partial_update"), PARTS, ROWS),
    st.tuples(st.just("upsert"), st.just(WHOLE), ROWS),
    st.tuples(st.just("delete"), st.just(()), ROWS),
)


def draw_programs(merge_mode: Any) -> st.SearchStrategy[Program]:
    """Draw an upsert, then a few writes over few keys."""
    first = st.tuples(st.just("upsert"), st.just(WHOLE), ROWS)
    steps = st.tuples(first, st.lists(STEPS, min_size=1, max_size=5)).map(lambda drawn: (drawn[0], *drawn[1]))
    return st.builds(Program, st.sampled_from(("COPY_ON_WRITE", "MERGE_ON_READ")), st.just(merge_mode), steps)


@pytest.mark.requirements("LF-046", "LF-045", "MRG-028", "MRG-025", "TYP-007", "META-007")
@pytest.mark.needs(
    "create", "write.upsert", "write.delete", "write.partial-update", "read.snapshot", "read.projection", "copy-on-write",
    "merge-on-read", "merge.partial-updates", "partition.plain",
)  # fmt: skip
@pytest.mark.parametrize(
    "merge_mode",
    [
        pytest.param("EVENT_TIME_ORDERING", marks=pytest.mark.needs("merge.event-time")),
        pytest.param("COMMIT_TIME_ORDERING", marks=pytest.mark.needs("merge.commit-time")),
    ],
)
@pytest.mark.long
def test_partial_updates_follow_the_model(engine: Client, new_uri: Callable[[], str], merge_mode: str) -> None:
    """LF-045: after any program of upserts, deletes and partial updates the snapshot has the value of each column that was
    written last.
    """

    is_quick = find(engine.name).factory is not None

    def check(program: Program) -> None:
        check_program(program, new_uri(), engine)

    check_for_all(MANY if is_quick else FEW, check, draw_programs(merge_mode), shrinks=is_quick)


OLD = {"id": "a", "city": "oslo", "ts": 1, "name": "old", "note": "kept", "size": 7}
OTHER = {**OLD, "id": "b"}


def create_two_records(engine: Client, uri: str, type: TableType) -> None:
    """Create a table of two records."""
    engine.create(uri, table_spec(type))
    engine.write(uri, "upsert", as_arrow([OLD, OTHER], TYPES))


@pytest.mark.requirements("LF-045")
@pytest.mark.needs(
    "create", "write.upsert", "write.partial-update", "merge-on-read", "inspect.table", "inspect.log-file", "merge.event-time"
)
def test_only_blocks_of_partial_updates_are_flagged(engine: Client, new_uri: Callable[[], str]) -> None:
    """LF-045: on merge-on-read the block of a partial update has the flag, and in its schema only meta columns and the given
    columns.
    """
    uri = new_uri()
    engine.create(uri, table_spec("MERGE_ON_READ", "EVENT_TIME_ORDERING"))
    engine.write(uri, "upsert", as_arrow([OLD, OTHER], TYPES))
    engine.write(uri, "upsert", as_arrow([{**OLD, "ts": 2}], TYPES))
    engine.write(uri, "partial_update", as_arrow([{**OLD, "ts": 3}], {n: TYPES[n] for n in ("id", "city", "ts", "name")}))
    ((whole, partial),) = [s["latest"]["log_files"] for groups in engine.inspect(uri)["file_groups"].values() for s in
                           groups.values()]  # fmt: skip
    flags = [engine.inspect(f"{uri}/oslo/{name}")["blocks"][0]["header"] for name in (whole, partial)]
    assert flags[0].get("IS_PARTIAL", "false").lower() == "false"
    assert flags[1].get("IS_PARTIAL", "").lower() == "true"
    assert '"note"' not in flags[1]["SCHEMA"]
    assert '"_hoodie_record_key"' in flags[1]["SCHEMA"]


@pytest.mark.requirements("LF-046", "MRG-028")
@pytest.mark.needs(
    "create", "write.upsert", "write.partial-update", "read.snapshot", "read.projection", "merge-on-read", "merge.event-time",
    "merge.partial-updates", "partition.plain",
)  # fmt: skip
def test_a_partial_update_is_ordered_by_a_field_of_a_struct(engine: Client, new_uri: Callable[[], str]) -> None:
    """MRG-028: the ordering field is a field of a struct, which each partial update has: a late update changes nothing, a newer
    one changes the columns that it has.
    """
    uri, at = new_uri(), pa.struct([("ts", pa.int64())])
    struct = {"type": "record", "name": "at", "fields": [{"name": "ts", "type": ["null", "long"], "default": None}]}
    fields = [*SCHEMA["fields"], {"name": "at", "type": ["null", struct], "default": None}]
    made = table_spec("MERGE_ON_READ", "EVENT_TIME_ORDERING")
    engine.create(uri, replace(made, schema={**SCHEMA, "fields": fields}, ordering=("at.ts",)))
    types = pa.schema([*((name, ARROW[kind]) for name, kind in TYPES.items()), ("at", at)])
    engine.write(uri, "upsert", pa.Table.from_pylist([{**OLD, "at": {"ts": 20}}], schema=types))
    for ts, name in ((10, "late"), (30, "new"), (25, "between")):
        changed = {**OLD, "name": name, "at": {"ts": ts}}
        rows = pa.Table.from_pylist([changed], schema=types).select(["id", "city", "name", "at"])
        engine.write(uri, "partial_update", rows)
        found = engine.read(uri, Query(columns=("name", "note", "at"))).to_pylist()
        expected = ("old", 20) if ts == 10 else ("new", 30)
        assert [(one["name"], one["at"]["ts"], one["note"]) for one in found] == [(*expected, "kept")], f"after {name}"


@BOTH_TYPES
@pytest.mark.requirements("LF-038", "TYP-001")
@pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.projection", "schema.evolution", "merge.commit-time")
def test_a_write_adds_columns_if_configured(engine: Client, new_uri: Callable[[], str], type: TableType) -> None:
    """TYP-001: new columns are added to the table's schema, and are null in the existing rows."""
    uri, types = new_uri(), {**TYPES, "fare": "double"}
    create_two_records(engine, uri, type)
    engine.write(uri, "upsert", as_arrow([{**OLD, "fare": 1.5}], types), options=RECONCILE)
    check_rows(engine, uri, [{**OLD, "fare": 1.5}, {**OTHER, "fare": None}], types, "after a write with a new column")


#: New columns of types other than numbers and texts: the type of Arrow, the type in the schema of the table, and a value.
MOMENT = datetime(2026, 7, 3, 12, 30, 15, 123456, tzinfo=UTC)
PLACE = pa.struct([("x", pa.int64()), ("name", pa.string())])
ADDED: Mapping[str, tuple[pa.DataType, Any, Any]] = {
    "date": (pa.date32(), {"type": "int", "logicalType": "date"}, date(1969, 12, 31)),
    "moment": (pa.timestamp("us", "UTC"), {"type": "long", "logicalType": "timestamp-micros"}, MOMENT),
    "clock": (pa.timestamp("us"), {"type": "long", "logicalType": "local-timestamp-micros"}, MOMENT.replace(tzinfo=None)),
    "amount": (pa.decimal128(10, 2), {"logicalType": "decimal", "precision": 10, "scale": 2}, Decimal("-12.30")),
    "place": (PLACE, {"type": "record"}, {"x": 1, "name": "here"}),
    "tags": (pa.list_(pa.string()), {"type": "array"}, ["a", None, "b"]),
    "counts": (pa.map_(pa.string(), pa.int64()), {"type": "map"}, [("a", 1), ("b", None)]),
}


@BOTH_TYPES
@pytest.mark.parametrize("name", ADDED)
@pytest.mark.requirements("LF-038", "TYP-001")
@pytest.mark.needs("create", "write.upsert", "read.snapshot", "schema.evolution", "merge.commit-time")
@pytest.mark.needs("types.nested", "types.decimal", "types.temporal")
def test_a_write_adds_a_column_of_any_type(engine: Client, new_uri: Callable[[], str], type: TableType, name: str) -> None:
    """LF-038: a new column of a logical or nested type has that type in the table's schema and in answers, and its values."""
    uri, (kind, avro, value) = new_uri(), ADDED[name]
    create_two_records(engine, uri, type)
    rows = as_arrow([OLD], TYPES).append_column(pa.field(name, kind), pa.array([value], kind))
    engine.write(uri, "upsert", rows, options=RECONCILE)
    found = engine.read(uri, Query(columns=("id", name)))
    assert {row["id"]: row[name] for row in found.to_pylist()} == {OLD["id"]: value, OTHER["id"]: None}
    assert found.field(name).type == kind
    (commit,) = (table_folder(uri) / ".hoodie" / "timeline").glob(f"{last_instant(uri)}_*")
    (record,) = fastavro.reader(io.BytesIO(commit.read_bytes()))
    (field,) = (one for one in json.loads(record["extraMetadata"]["schema"])["fields"] if one["name"] == name)
    stored = next(one for one in field["type"] if one != "null")
    assert avro.items() <= stored.items()


def last_instant(uri: str) -> str:
    """Return the requested time of the last completed action."""
    names = (path.name for path in (table_folder(uri) / ".hoodie" / "timeline").glob("*_*commit"))
    return max(name.partition("_")[0] for name in names)


@BOTH_TYPES
@pytest.mark.requirements("LF-038")
@pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.projection", "schema.evolution", "merge.commit-time")
def test_a_write_widens_types_if_configured(engine: Client, new_uri: Callable[[], str], type: TableType) -> None:
    """LF-038: a wider type becomes the table's type; stored values of the narrower type are read as the same numbers."""
    uri, types = new_uri(), {**TYPES, "size": "long"}
    create_two_records(engine, uri, type)
    engine.write(uri, "upsert", as_arrow([{**OLD, "size": 2**40}], types), options=RECONCILE)
    check_rows(engine, uri, [{**OLD, "size": 2**40}, OTHER], types, "after a write with a wider column")


@BOTH_TYPES
@pytest.mark.requirements("LF-038")
@pytest.mark.needs("create", "write.upsert", "read.snapshot", "schema.evolution", "types.nested", "merge.commit-time")
@pytest.mark.needs("partition.none")
def test_a_write_adds_fields_to_structs_if_configured(engine: Client, new_uri: Callable[[], str], type: TableType) -> None:
    """LF-038: a new field of a struct is added to the table's schema, and is null in the existing structs."""
    place = {"type": "record", "name": "place", "fields": [{"name": "x", "type": ["null", "long"], "default": None}]}
    fields = [{"name": "id", "type": "string"}, {"name": "at", "type": ["null", place], "default": None}]
    uri, narrow, wide = new_uri(), pa.struct([("x", pa.int64())]), pa.struct([("x", pa.int64()), ("y", pa.string())])
    schema = {"type": "record", "name": "row", "namespace": "hoodie.updated", "fields": fields}
    engine.create(uri, TableSpec("updated", type, schema, ("id",), merge_mode="COMMIT_TIME_ORDERING"))
    engine.write(uri, "upsert", pa.table({"id": ["a", "b"], "at": pa.array([{"x": 1}, {"x": 2}], narrow)}))
    engine.write(uri, "upsert", pa.table({"id": ["b"], "at": pa.array([{"x": 3, "y": "new"}], wide)}), options=RECONCILE)
    found = {row["id"]: row["at"] for row in engine.read(uri, Query(columns=("id", "at"))).to_pylist()}
    assert found == {"a": {"x": 1, "y": None}, "b": {"x": 3, "y": "new"}}


@BOTH_TYPES
@pytest.mark.requirements("LF-038")
@pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.projection", "schema.evolution", "merge.commit-time")
def test_a_narrower_column_keeps_the_type(engine: Client, new_uri: Callable[[], str], type: TableType) -> None:
    """LF-038: values of a narrower type are stored in the wider column, whose type does not change."""
    uri, narrow = new_uri(), {**TYPES, "ts": "int"}
    create_two_records(engine, uri, type)
    engine.write(uri, "upsert", as_arrow([{**OLD, "ts": 2}], narrow), options=RECONCILE)
    engine.write(uri, "upsert", as_arrow([{**OTHER, "ts": 2**40}], TYPES))
    check_rows(engine, uri, [{**OLD, "ts": 2}, {**OTHER, "ts": 2**40}], TYPES, "after a write with a narrower column")


#: A column and its type in Avro; a narrower type that it takes and a value; and a type that it does not take, and a value.
WIDTHS: Mapping[str, tuple[Any, tuple[pa.DataType, Any], tuple[pa.DataType, Any]]] = {
    "double": ("double", (pa.float32(), 0.5), (pa.decimal128(4, 2), Decimal("0.25"))),
    "float": ("float", (pa.float32(), 0.5), (pa.float64(), 0.1)),
    "decimal": (
        {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2},
        (pa.decimal128(5, 1), Decimal("1234.5")), (pa.decimal128(7, 2), Decimal("12345.67")),
    ),
    "scale": (
        {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2},
        (pa.decimal128(4, 0), Decimal(1234)), (pa.decimal128(6, 3), Decimal("1.234")),
    ),
    "map": (
        {"type": "map", "values": "long"}, (pa.map_(pa.string(), pa.int32()), [("k", 1)]),
        (pa.map_(pa.string(), pa.string()), [("k", "x")]),
    ),
}  # fmt: skip


@BOTH_TYPES
@pytest.mark.parametrize("name", WIDTHS)
@pytest.mark.requirements("LF-038")
@pytest.mark.needs("create", "write.upsert", "read.snapshot", "schema.evolution", "merge.commit-time", "partition.none")
@pytest.mark.needs("types.nested", "types.decimal")
def test_a_column_takes_narrower_values_only(engine: Client, new_uri: Callable[[], str], type: TableType, name: str) -> None:
    """LF-038: numbers of fewer bits or digits, also in a map, are stored with the type of the column. A value of another type
    is refused, or widens the column: it is not changed.
    """
    avro, (narrow, value), (wide, other) = WIDTHS[name]
    schema = {"type": "record", "name": "row", "namespace": "hoodie.widths", "fields": [
        {"name": "id", "type": "string"}, {"name": "v", "type": ["null", avro], "default": None}]}  # fmt: skip
    uri = new_uri()
    engine.create(uri, TableSpec("widths", type, schema, ("id",), merge_mode="COMMIT_TIME_ORDERING"))
    engine.write(uri, "upsert", pa.table({"id": ["a"], "v": pa.array([value], narrow)}))
    assert engine.read(uri, Query(columns=("id", "v"))).to_pylist() == [{"id": "a", "v": value}]
    stored = value
    with suppress(EngineError, Refused):
        engine.write(uri, "upsert", pa.table({"id": ["a"], "v": pa.array([other], wide)}))
        stored = other
    assert engine.read(uri, Query(columns=("id", "v"))).to_pylist() == [{"id": "a", "v": stored}]


@BOTH_TYPES
@pytest.mark.requirements("LF-038")
@pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.projection", "schema.evolution", "merge.commit-time")
@pytest.mark.parametrize("options", [RECONCILE, NULLS], ids=["reconcile", "null-for-missing"])
def test_missing_columns_are_null_if_configured(
    engine: Client, new_uri: Callable[[], str], type: TableType, options: dict[str, str]
) -> None:
    """LF-038: a column that the rows lack stays in the schema and is null in them; it does not keep the earlier value."""
    uri = new_uri()
    create_two_records(engine, uri, type)
    fewer = {name: kind for name, kind in TYPES.items() if name != "note"}
    engine.write(uri, "upsert", as_arrow([{**OLD, "name": "new"}], fewer), options=options)
    check_rows(engine, uri, [{**OLD, "name": "new", "note": None}, OTHER], TYPES, "after a write without a column")


@BOTH_TYPES
@pytest.mark.requirements("LF-038")
@pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.projection", "schema.evolution", "merge.commit-time")
def test_missing_columns_are_refused_by_default(engine: Client, new_uri: Callable[[], str], type: TableType) -> None:
    """LF-038: a write without one of the table's columns changes nothing."""
    uri = new_uri()
    create_two_records(engine, uri, type)
    fewer = {name: kind for name, kind in TYPES.items() if name != "note"}
    with pytest.raises((EngineError, Refused)):
        engine.write(uri, "upsert", as_arrow([{**OLD, "name": "new"}], fewer))
    check_rows(engine, uri, [OLD, OTHER], TYPES, "after a write that was refused")


@BOTH_TYPES
@pytest.mark.requirements("LF-038")
@pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.projection", "schema.evolution", "merge.commit-time")
def test_an_incompatible_type_change_is_refused(engine: Client, new_uri: Callable[[], str], type: TableType) -> None:
    """LF-038: a boolean cannot be written to a numeric column, also where schemas may evolve; the table is unchanged."""
    uri, other = new_uri(), {**TYPES, "size": "boolean"}
    create_two_records(engine, uri, type)
    with pytest.raises((EngineError, Refused)):
        engine.write(uri, "upsert", as_arrow([{**OLD, "size": True}], other), options=RECONCILE)
    check_rows(engine, uri, [OLD, OTHER], TYPES, "after a write that was refused")


@BOTH_TYPES
@pytest.mark.requirements("TYP-001", "TYP-002", "TYP-015")
@pytest.mark.needs("create", "write.upsert", "inspect.table", "merge.commit-time")
def test_the_table_type_decides_between_base_and_log_files(engine: Client, new_uri: Callable[[], str], type: TableType) -> None:
    """TYP-001: after an update a merge-on-read table has log files, and a copy-on-write table never has one."""
    uri = new_uri()
    create_two_records(engine, uri, type)
    engine.write(uri, "upsert", as_arrow([{**OLD, "name": "new"}], TYPES))
    slices = [s for groups in engine.inspect(uri)["file_groups"].values() for group in groups.values() for s in group["slices"]]
    has_logs = any(found["log_files"] for found in slices)
    assert has_logs == (type == "MERGE_ON_READ")


@BOTH_TYPES
@pytest.mark.requirements("RDR-018", "TYP-007")
@pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.projection", "merge.commit-time")
def test_a_query_never_uses_a_stale_listing(engine: Client, new_uri: Callable[[], str], type: TableType) -> None:
    """RDR-018: an engine may cache a listing between two queries; each query sees all files that were committed before it."""
    uri = new_uri()
    create_two_records(engine, uri, type)
    check_rows(engine, uri, [OLD, OTHER], TYPES, "after the first write")
    for number in (1, 2):
        changed = {**OLD, "name": f"change {number}"}
        engine.write(uri, "upsert", as_arrow([changed], TYPES))
        check_rows(engine, uri, [changed, OTHER], TYPES, f"after change {number} in the partition that was there")
