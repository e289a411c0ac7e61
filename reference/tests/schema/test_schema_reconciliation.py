"""Writes that extend the schema, and writes of some columns: accepted and refused types, and the resulting schema."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_reference import create_table
from hudi_reference.errors import InvalidRows, MalformedLogBlock, Misuse, UnsupportedSchema, UnsupportedTableFeature
from hudi_reference.records.mergers.merger import BufferedRecord, RecordContext, RecordMerger
from hudi_reference.schema.avro import arrow_schema, parse_schema
from hudi_reference.schema.evolution import conform
from hudi_reference.schema.promotion import BY_ID, BY_NAME, can_promote, conversion, kind_of
from hudi_reference.schema.reconcile import reconcile_schema
from hudi_reference.storage import MemoryStorage

POINT = {"type": "record", "name": "point", "fields": [{"name": "x", "type": "int"}]}
SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "row",
    "namespace": "hoodie.t",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "ts", "type": ["null", "long"], "default": None},
        {"name": "n", "type": ["null", "int"], "default": None},
        {"name": "f", "type": ["null", "float"], "default": None},
        {"name": "point", "type": ["null", POINT], "default": None},
        {"name": "points", "type": {"type": "array", "items": POINT["name"]}},
        {"name": "counts", "type": {"type": "map", "values": "int"}},
    ],
}
RECONCILE = {"hoodie.datasource.write.reconcile.schema": "true"}
FLAT = {**SCHEMA, "fields": SCHEMA["fields"][:4]}


def grown(**columns: pa.DataType) -> pa.Schema:
    """The Arrow schema of the table after a write with these columns."""
    return arrow_schema(reconcile_schema(SCHEMA, pa.schema(columns.items())))


def test_compatible_columns_do_not_change_the_schema():
    """LF-038: narrower and missing columns change nothing."""
    assert reconcile_schema(SCHEMA, pa.schema([("id", pa.string()), ("ts", pa.int32()), ("n", pa.int8())])) is SCHEMA


def test_new_columns_are_appended():
    """LF-038: with every type that a table can have, each nullable with null as its default."""
    kinds = [pa.bool_(), pa.binary(), pa.date32(), pa.timestamp("us", "UTC"), pa.timestamp("ms"), pa.time64("us"),
             pa.decimal128(20, 3), pa.list_(pa.float64()), pa.map_(pa.string(), pa.int64()),
             pa.struct([("a", pa.decimal128(5, 2)), ("b", pa.struct([("a", pa.decimal128(9, 2))]))])]  # fmt: skip
    found = grown(**{f"c{number}": kind for number, kind in enumerate(kinds)})
    assert found.names[:7] == [field["name"] for field in SCHEMA["fields"]]
    assert [kind_of(one) for one in found.types[7:]] == [kind_of(one) for one in kinds] or found.types[7:] == kinds
    avro = reconcile_schema(SCHEMA, pa.schema([("c", pa.bool_())]))
    assert avro["fields"][-1] == {"name": "c", "type": ["null", "boolean"], "default": None}


def test_nested_types_are_extended():
    """LF-038: structs get new and wider fields; lists and maps get wider elements."""
    found = grown(point=pa.struct([("x", pa.int64()), ("y", pa.string())]), counts=pa.map_(pa.string(), pa.float64()))
    assert found.field("point").type == pa.struct([("x", pa.int64()), ("y", pa.string())])
    assert found.field("counts").type.item_type == pa.float64()


@pytest.mark.parametrize(
    ("column", "kind"),
    [("id", pa.int64()), ("n", pa.bool_()), ("point", pa.struct([("x", pa.bool_())])), ("counts", pa.list_(pa.int32())),
     ("ts", pa.decimal128(20, 0)), ("N", pa.int32()), ("new", pa.map_(pa.int32(), pa.int32())), ("new", pa.duration("s"))],
)  # fmt: skip
def test_other_types_are_refused(column, kind):
    """LF-038: narrower ones, other ones, and names that differ in capital letters only."""
    with pytest.raises(InvalidRows):
        grown(**{column: kind})


def test_writers_take_fewer_steps_than_readers():
    """Every step that a write may take is one that every reader takes."""
    assert all(set(wider) <= set(BY_ID[kind]) for kind, wider in BY_NAME.items())
    assert can_promote(pa.int32(), pa.string())
    assert not can_promote(pa.int64(), pa.int32())


@pytest.mark.parametrize(
    ("stored", "wanted", "value", "read"),
    [
        (pa.int64(), pa.float32(), 2**53 + 1, 9007199254740992.0),
        (pa.float32(), pa.float64(), 1.1, 1.1),
        (pa.float32(), pa.string(), 3.4e38, "3.4E38"),
        (pa.date32(), pa.string(), 18263, "2020-01-02"),
        (pa.float64(), pa.decimal128(10, 2), 1.005, "1.01"),
        (pa.decimal128(5, 2), pa.decimal128(10, 4), "1.25", "1.2500"),
        (pa.string(), pa.binary(), "é", b"\xc3\xa9"),
        (pa.string(), pa.decimal128(5, 1), "1.25", "1.3"),
        (pa.int64(), pa.timestamp("ms"), 1, datetime(1970, 1, 1, 0, 0, 0, 1000)),
        (pa.int64(), pa.timestamp("us"), -1, datetime(1969, 12, 31, 23, 59, 59, 999999)),
    ],
)
def test_values_after_a_step(stored, wanted, value, read):
    """LF-038: numbers as their texts say, rounded half up where digits are lost; texts as Java prints them. A local time may be
    stored as the long that counts it."""
    import decimal

    given_value = decimal.Decimal(value) if pa.types.is_decimal(stored) else value
    array = (
        pa.array([given_value, None], stored)
        if not pa.types.is_date32(stored)
        else pa.array([value, None], pa.int32()).view(stored)
    )
    left = conform(pa.table({"c": array}), pa.schema([("c", wanted)]), "a file").column("c").to_pylist()
    assert left == [decimal.Decimal(read) if pa.types.is_decimal(wanted) else read, None]


@pytest.mark.parametrize(
    ("stored", "wanted"),
    [
        (pa.string(), pa.int32()),
        (pa.int64(), pa.int32()),
        (pa.int64(), pa.timestamp("us", "UTC")),
        (pa.float64(), pa.float32()),
        (pa.bool_(), pa.int32()),
    ],
)
def test_readers_take_no_other_step(stored, wanted):
    """LF-038: a stored text is not read as a number because it could be."""
    assert conversion(stored, wanted) is None
    with pytest.raises(UnsupportedSchema):
        conform(pa.table({"c": pa.nulls(1, stored)}), pa.schema([("c", wanted)]), "a file")


@given(st.lists(st.floats(width=32, allow_nan=False), max_size=20))
def test_a_float_as_a_double_has_the_same_text(numbers):
    """LF-038: the double is the one whose shortest text is that of the float."""
    rows = pa.table({"c": pa.array(numbers, pa.float32())})
    left = conform(rows, pa.schema([("c", pa.float64())]), "a file").column("c")
    texts = [rows.column("c").cast(pa.string()).to_pylist(), left.cast(pa.string()).to_pylist()]
    assert [float(text) for text in texts[0]] == [float(text) for text in texts[1]]


def made(kind="MERGE_ON_READ", **more):
    """A table with one record."""
    table = create_table(
        "", name="t", schema=FLAT, record_key=["id"], ordering=["ts"], table_type=kind, storage=MemoryStorage(), **more
    )
    table.upsert(pa.table({"id": ["a"], "ts": [1], "n": pa.array([1], pa.int32()), "f": pa.array([0.1], pa.float32())}))
    return table


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_refused_write_leaves_nothing(kind):
    """LF-038: rows that the table does not take are refused before anything is written."""
    table = made(kind)
    before = table.storage.list()
    for options, rows in (
        ({}, {"ts": [2], "n": [1], "f": [1.0], "new": [1]}),
        (RECONCILE, {"ts": [2], "n": [True]}),
        (RECONCILE, {"n": pa.array([1], pa.int32())}),
    ):
        with pytest.raises(InvalidRows):
            replace(table, options=options).upsert(pa.table({"id": ["a"], **rows}))
    assert table.storage.list() == before


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_invalid_partial_updates_are_refused(kind):
    """LF-046: without a column to change, without the ordering column, with an unknown column."""
    table = made(kind)
    for rows, error in (({"ts": None}, Misuse), ({"n": [1]}, InvalidRows), ({"ts": [2], "m": [1]}, InvalidRows)):
        with pytest.raises(error):
            table.partial_update(pa.table({"id": ["a"], **{name: value for name, value in rows.items() if value}}))


class Silent(RecordMerger):
    """A merger that knows whole versions only."""

    strategy_id = "11111111-2222-4333-8444-555555555555"

    def merge(self, older: BufferedRecord, newer: BufferedRecord, context: RecordContext) -> BufferedRecord:
        """The newer one."""
        return newer


def test_a_merger_without_partial_merge_gets_no_partial_records():
    """API-013: the write is refused, for no reader could merge it."""
    table = made(merge_mode="CUSTOM", properties={"hoodie.record.merge.strategy.id": Silent.strategy_id}, mergers=[Silent()])
    with pytest.raises(UnsupportedTableFeature, match="merger"):
        table.partial_update(pa.table({"id": ["a"], "ts": [2], "n": pa.array([5], pa.int32())}))


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_payloads_get_no_partial_records(kind):
    """API-013, PAY-016: nor does a payload class, also the one that fills columns; nothing is written, and the table is read."""
    payload = "org.apache.hudi.common.model.PartialUpdateAvroPayload"
    table = made(kind, merge_mode="CUSTOM", properties={"hoodie.compaction.payload.class": payload})
    before = table.storage.list()
    with pytest.raises(UnsupportedTableFeature, match=payload):
        table.partial_update(pa.table({"id": ["a"], "ts": [2], "n": pa.array([5], pa.int32())}))
    assert table.storage.list() == before
    assert table.snapshot(["n"]).column("n").to_pylist() == [1]


def test_a_partial_block_in_a_table_without_meta_columns_is_an_error():
    """LF-045: its records have no keys, neither stored nor to be made up."""
    table = made()
    table.upsert(pa.table({"id": ["a"], "ts": [2], "n": pa.array([1], pa.int32()), "f": pa.array([0.1], pa.float32())}))
    table.partial_update(pa.table({"id": ["a"], "ts": [3], "n": pa.array([5], pa.int32())}))
    entries = {**table.properties.entries, "hoodie.populate.meta.fields": "false"}
    with pytest.raises(MalformedLogBlock, match="no keys"):
        replace(table, properties=replace(table.properties, entries=entries)).snapshot()


def test_the_schema_of_a_write_is_sound():
    """LF-038: what is stored can be parsed again."""
    grown_schema = reconcile_schema(
        SCHEMA, pa.schema([("d", pa.decimal128(10, 2)), ("s", pa.struct([("d", pa.decimal128(4, 2))]))])
    )
    assert parse_schema(grown_schema, "again") == grown_schema
