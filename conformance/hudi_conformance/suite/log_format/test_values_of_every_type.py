"""Values of every type: stored and read again, distinguished in change queries, and compared as ordering values.

The rows are plain data. Every property is checked with a few rows and with many, since engines may use other code for many
rows.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from itertools import product
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.cases.rows import canonical_rows, compare_rows
from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES

NewUri = Callable[[], str]
Row = dict[str, Any]
DELETED = "_hoodie_is_deleted"
NAN, INFINITE = float("nan"), float("inf")


@dataclass(frozen=True)
class Kind:
    """A type of column: in Avro, in Arrow, and some different values of it. Null is a further value."""

    avro: Any
    arrow: pa.DataType
    values: tuple[Any, ...]


def logical_type(base: str, name: str) -> dict[str, Any]:
    """Return a logical type, which is stored as another type."""
    return {"type": base, "logicalType": name}


def make_moments(zone: Any, *, micros: int) -> tuple[datetime, ...]:
    """Return times before, at and after the epoch."""
    texts = (f"1901-02-03T04:05:06.{micros:06}", "1970-01-01T00:00:00", "2026-03-29T01:30:00")
    return tuple(datetime.fromisoformat(text).replace(tzinfo=zone) for text in texts)


INNER = {"type": "record", "name": "inner", "fields": [
    {"name": "n", "type": ["null", "double"], "default": None}, {"name": "t", "type": ["null", "string"], "default": None},
]}  # fmt: skip
#: Types that every engine with nested types, decimals and times has.
COMMON: Mapping[str, Kind] = {
    "boolean": Kind("boolean", pa.bool_(), (True, False)),
    "int": Kind("int", pa.int32(), (-(1 << 31), -1, 0, 63, 64, (1 << 31) - 1)),
    "long": Kind("long", pa.int64(), (-(1 << 63), -(1 << 62), -65, 0, 1 << 31, 1 << 55, 1 << 56, (1 << 63) - 1)),
    "float": Kind("float", pa.float32(), (NAN, -INFINITE, -1.5, 0.0, 0.25, INFINITE)),
    "double": Kind("double", pa.float64(), (NAN, -INFINITE, -0.1, 0.0, 5e-324, 1e300)),
    "string": Kind("string", pa.string(), ("", "a", "é\U0001f600", "x" * 200)),
    "bytes": Kind("bytes", pa.binary(), (b"", b"\x00\xff", b"#HUDI#" * 30)),
    "date": Kind(logical_type("int", "date"), pa.date32(),
                 tuple(map(date.fromisoformat, ("1582-10-15", "1969-12-31", "9999-12-31")))),
    "timestamp": Kind(logical_type("long", "timestamp-micros"), pa.timestamp("us", "UTC"), make_moments(UTC, micros=123456)),
    "short_decimal": Kind(
        {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, pa.decimal128(9, 2),
        tuple(map(Decimal, ("-9999999.99", "-0.01", "0.00", "1.28", "9999999.99"))),
    ),
    "long_decimal": Kind(
        {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 10}, pa.decimal128(38, 10),
        tuple(map(Decimal, (f"-{'9' * 28}.9999999999", "-922337203.6854775808", "-922337203.6854775809", "0.0000000001",
                            "922337203.6854775808", f"{'9' * 28}.9999999999"))),
    ),
    "array": Kind({"type": "array", "items": ["null", "long"]}, pa.list_(pa.int64()), ([], [1], [None], [1, None, 3], [3, 1])),
    "map": Kind({"type": "map", "values": ["null", "string"]}, pa.map_(pa.string(), pa.string()),
                ([], [("a", "1")], [("a", None)], [("a", "1"), ("é", "2")])),
    "struct": Kind(["null", INNER], pa.struct([("n", pa.float64()), ("t", pa.string())]),
                   ({"n": None, "t": None}, {"n": NAN, "t": "x"}, {"n": 1.0, "t": ""})),
    "structs": Kind({"type": "array", "items": ["null", {**INNER, "name": "element"}]},
                    pa.list_(pa.struct([("n", pa.float64()), ("t", pa.string())])),
                    ([], [None], [{"n": NAN, "t": None}], [{"n": 1.0, "t": "x"}, {"n": 2.0, "t": "y"}])),
    "arrays": Kind({"type": "map", "values": ["null", {"type": "array", "items": ["null", "int"]}]},
                   pa.map_(pa.string(), pa.list_(pa.int32())), ([], [("k", None)], [("k", [])], [("k", [1]), ("l", [None])])),
}  # fmt: skip
#: Types of Avro that SQL does not have.
RARE: Mapping[str, Kind] = {
    "millis": Kind(logical_type("long", "timestamp-millis"), pa.timestamp("ms", "UTC"), make_moments(UTC, micros=123000)),
    "local_millis": Kind(logical_type("long", "local-timestamp-millis"), pa.timestamp("ms"), make_moments(None, micros=123000)),
    "local_micros": Kind(logical_type("long", "local-timestamp-micros"), pa.timestamp("us"), make_moments(None, micros=123456)),
    "time_millis": Kind(logical_type("int", "time-millis"), pa.time32("ms"),
        (time(0), time(0, 0, 1), time(23, 59, 59, 999000))),
    "time_micros": Kind(logical_type("long", "time-micros"), pa.time64("us"),
        (time(0), time(0, 0, 1), time(23, 59, 59, 999999))),
    "enumeration": Kind({"type": "enum", "name": "colour", "symbols": ["RED", "GREEN", "BLUE"]}, pa.string(), ("RED", "BLUE")),
    "fixed": Kind({"type": "fixed", "name": "three", "size": 3}, pa.binary(3), (b"\x00\x01\x02", b"abc")),
    "fixed_decimal": Kind(
        {"type": "fixed", "name": "money", "size": 9, "logicalType": "decimal", "precision": 20, "scale": 3},
        pa.decimal128(20, 3), tuple(map(Decimal, (f"-{'9' * 17}.999", "-9223372036854775.808", "9223372036854775.808"))),
    ),
}  # fmt: skip
#: Types whose values are a number or a text: engines may store rows of only these in faster ways.
FLAT = {name: kind for name, kind in COMMON.items() if "decimal" not in name and not pa.types.is_nested(kind.arrow)}
TYPES = {"flat": FLAT, "common": COMMON, "rare": RARE}
KINDS = pytest.mark.parametrize("types", ["flat", "common", pytest.param("rare", marks=pytest.mark.needs("types.avro"))])
NEEDS = ("create", "write.upsert", "read.snapshot", "read.projection", "partition.none", "types.nested", "types.decimal",
         "types.temporal")  # fmt: skip
AMOUNT = pytest.mark.parametrize("count", [24, 1100], ids=["few rows", "many rows"])
#: The formats of data blocks.
FORMATS = pytest.mark.parametrize(
    "stored",
    [
        pytest.param("avro", marks=pytest.mark.needs("log.avro")),
        pytest.param("parquet", marks=pytest.mark.needs("log.parquet")),
        pytest.param("hfile", marks=pytest.mark.needs("log.hfile")),
    ],
)


def table_spec(type: Any, kinds: Mapping[str, Kind], **more: Any) -> TableSpec:
    """Return a table with a column of each kind; in every other one null is the second type of the union."""
    fields: list[dict[str, Any]] = [{"name": "id", "type": "string"}]
    for number, (name, kind) in enumerate(kinds.items()):
        plain = kind.avro[1] if isinstance(kind.avro, list) else kind.avro
        fields.append({"name": name, "type": [plain, "null"]} if number % 2 else
                      {"name": name, "type": ["null", plain], "default": None})  # fmt: skip
    schema = {"type": "record", "name": "row", "namespace": "hoodie.values", "fields": fields}
    return TableSpec("every_type", type, schema, ("id",), **{"merge_mode": "COMMIT_TIME_ORDERING", **more})


def make_rows(kinds: Mapping[str, Kind], count: int, turn: int = 0) -> list[Row]:
    """Return rows whose columns take all values of their kinds and null in turn; another `turn` begins with other values."""
    choices = {name: (None, *kind.values) for name, kind in kinds.items()}
    return [
        {"id": f"k{n:05}", **{name: found[(n + turn * (1 + n // 7)) % len(found)] for name, found in choices.items()}}
        for n in range(count)
    ]


def as_arrow(found: Sequence[Row], kinds: Mapping[str, Kind]) -> pa.Table:
    """Return the rows for the contract."""
    return pa.Table.from_pylist(list(found), schema=arrow_schema(kinds))


def arrow_schema(kinds: Mapping[str, Kind]) -> pa.Schema:
    """Return the columns of a table."""
    return pa.schema([("id", pa.string()), *((name, kind.arrow) for name, kind in kinds.items())])


def check_rows(engine: Client, uri: str, expected: Sequence[Row], kinds: Mapping[str, Kind], *columns: str) -> None:
    """Check that a snapshot of these columns, or of all, has the expected rows."""
    types = {"id": "string", **{name: kind.avro for name, kind in kinds.items()}}
    types = {name: types[name] for name in columns or types}
    found = canonical_rows(engine.read(uri, Query(columns=tuple(types))), types)
    different = compare_rows(canonical_rows(as_arrow(expected, kinds), types), found, ("id",))
    assert not different, f"{different.summary()}\n{next(different.pairs())}"


@AMOUNT
@KINDS
@FORMATS
@pytest.mark.requirements("TYP-007", "TYP-019", "BF-002", "BLK-022", "BLK-024", "BLK-028", "LF-038", "RDR-016")
@pytest.mark.needs(*NEEDS, "merge-on-read")
def test_values_are_read_as_they_were_written(engine: Client, new_uri: NewUri, types: str, count: int, stored: str) -> None:
    """LF-038: from base files and from logs of each format, all columns together and every other column by itself."""
    kinds = TYPES[types]
    uri, first, second = new_uri(), make_rows(kinds, count), make_rows(kinds, count - 5, 1)
    engine.create(uri, table_spec("MERGE_ON_READ", kinds))
    engine.write(uri, "upsert", as_arrow(first, kinds))
    check_rows(engine, uri, first, kinds)
    engine.write(uri, "upsert", as_arrow(second, kinds), options={"hoodie.logfile.data.block.format": stored})
    expected = [*second, *first[-5:]]
    for columns in ((), ("id", *tuple(kinds)[::2]), ("id", *tuple(kinds)[1::2])):
        check_rows(engine, uri, expected, kinds, *columns)


def number_in(nesting: str, number: str) -> Kind:
    """Return a nested type with a number of this type, and a value of it that no narrower type has."""
    arrow, value = {"int": (pa.int32(), 1 << 30), "long": (pa.int64(), 1 << 40)}[number]
    kinds = {
        "array": Kind({"type": "array", "items": ["null", number]}, pa.list_(arrow), ([value, None],)),
        "map": Kind({"type": "map", "values": ["null", number]}, pa.map_(pa.string(), arrow), ([("k", value), ("l", None)],)),
        "struct": Kind(
            ["null", {"type": "record", "name": "inner", "fields": [{"name": "n", "type": ["null", number], "default": None}]}],
            pa.struct([("n", arrow)]), ({"n": value},),
        ),
    }  # fmt: skip
    return kinds[nesting]


@BOTH_TYPES
@pytest.mark.parametrize("nesting", ["array", "map", "struct"])
@pytest.mark.requirements("LF-038", "TYP-007")
@pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.projection", "partition.none", "types.nested")
@pytest.mark.needs("schema.evolution", "merge.commit-time")
def test_a_wider_number_in_a_nested_column_widens_the_column(engine: Client, new_uri: NewUri, nesting: str, type: Any) -> None:
    """LF-038: the elements of an array, the values of a map and the fields of a struct are widened as columns are: the rows of
    the write are stored without loss, and those that were there before keep their values.
    """
    uri, narrow, wide = new_uri(), {"n": number_in(nesting, "int")}, {"n": number_in(nesting, "long")}
    first, second = ({"id": key, "n": kinds["n"].values[0]} for key, kinds in (("a", narrow), ("b", wide)))
    engine.create(uri, table_spec(type, narrow))
    engine.write(uri, "upsert", as_arrow([first], narrow))
    engine.write(uri, "upsert", as_arrow([second], wide), options={"hoodie.datasource.write.reconcile.schema": "true"})
    check_rows(engine, uri, [first, second], wide)


@AMOUNT
@KINDS
@BOTH_TYPES
@pytest.mark.requirements("TYP-012", "TYP-013", "BLK-036")
@pytest.mark.needs(*NEEDS, "read.cdc")
def test_change_capture_reports_only_differences(engine: Client, new_uri: NewUri, types: str, count: int, type: Any) -> None:
    """BLK-036: rows that are written again unchanged are no changes; if one column changes to another value, or to null, the
    row is a change.
    """
    captures = {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": "DATA_BEFORE_AFTER"}
    kinds = TYPES[types]
    uri, first = new_uri(), make_rows(kinds, count)
    engine.create(uri, table_spec(type, kinds, properties=captures))
    engine.write(uri, "upsert", as_arrow(first, kinds))
    again = engine.write(uri, "upsert", as_arrow(first, kinds))
    second = list(one_column_changed(first, kinds))
    last = engine.write(uri, "upsert", as_arrow(second, kinds))
    found = engine.read(uri, Query("cdc")).to_pylist()
    assert [change for change in found if change["ts_ms"] == again] == []
    updates = {change["before"]["id"]: change for change in found if change["ts_ms"] == last}
    assert len(updates) == len(first) - len(first) // (len(kinds) + 1) - (len(first) % (len(kinds) + 1) > 0)
    names = ["id", *kinds]
    images = {
        side: pa.Table.from_pylist([change[side] for change in updates.values()], schema=arrow_schema(kinds))
        for side in ("before", "after")
    }
    stored = {"id": "string", **{name: kind.avro for name, kind in kinds.items()}}
    for side, expected in (("before", first), ("after", second)):
        wanted = [row for row in expected if row["id"] in updates]
        different = compare_rows(
            canonical_rows(as_arrow(wanted, kinds), stored), canonical_rows(images[side].select(names), stored), ("id",)
        )
        assert not different, f"images {side}: {different.summary()}\n{next(different.pairs())}"


def one_column_changed(found: Sequence[Row], kinds: Mapping[str, Kind]) -> Iterator[Row]:
    """Yield the rows with another value in one column each, in turn; the first of each turn stays unchanged."""
    names = [None, *kinds]
    for number, row in enumerate(found):
        name = names[number % len(names)]
        if name is None:
            yield row
            continue
        choices = (None, *kinds[name].values)
        yield {**row, name: choices[(number + 1) % len(choices)]}


#: Ordering values of each type, from the least to the greatest, and the position of the one that null equals (ER-055): no text
#: is.
ASCENDING: Mapping[str, tuple[Kind, int | None]] = {
    "int": (Kind("int", pa.int32(), (-5, 0, 9, 10)), 1),
    "long": (Kind("long", pa.int64(), (-(1 << 62), -1, 0, 9, 10, 1 << 53, (1 << 53) + 1)), 2),
    "float": (Kind("float", pa.float32(), (-INFINITE, -0.5, 0.0, 0.25, 0.75, NAN)), 2),
    "double": (Kind("double", pa.float64(), (-INFINITE, -0.5, 0.0, 0.25, 0.75, 9.0, 10.0, NAN)), 2),
    "string": (Kind("string", pa.string(), ("", "10", "9", "Z", "a", "\uffee", "\U0001f600")), None),
    "date": (Kind(logical_type("int", "date"), pa.date32(), (date(1969, 12, 31), date(1970, 1, 1), date(2026, 1, 9))), 1),
    "timestamp": (Kind(logical_type("long", "timestamp-micros"), pa.timestamp("us", "UTC"), make_moments(UTC, micros=1)), 1),
    "decimal": (Kind({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, pa.decimal128(9, 2),
                     tuple(map(Decimal, ("-1.50", "-1.25", "0.00", "0.50", "9.00", "10.00")))), 2),
    "boolean": (Kind("boolean", pa.bool_(), (False, True)), 0),
    "local_millis": (Kind(logical_type("long", "local-timestamp-millis"), pa.timestamp("ms"),
        make_moments(None, micros=1000)), 1),
    "time_millis": (Kind(logical_type("int", "time-millis"), pa.time32("ms"), (time(0), time(0, 0, 1), time(12))), 0),
    "time_micros": (Kind(logical_type("long", "time-micros"), pa.time64("us"), (time(0), time(0, 0, 1), time(12))), 0),
}  # fmt: skip
ORDERED = pytest.mark.parametrize(
    "orders", [pytest.param(name, marks=pytest.mark.needs("types.avro") if name in RARE else ()) for name in ASCENDING]
)


@ORDERED
@pytest.mark.parametrize("others", [0, 10_000], ids=["by themselves", "among many"])
@pytest.mark.requirements("MRG-028", "MRG-029", "MRG-019", "MRG-014", "BLK-009", "BLK-012", "RDR-016")
@pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.projection", "partition.none", "merge.event-time")
@pytest.mark.needs("merge-on-read", "log.avro", "delete.flag", "types.temporal", "types.decimal")
def test_every_order_of_three_versions(engine: Client, new_uri: NewUri, orders: str, others: int) -> None:
    """RDR-016: a row is in a base file, a row or a flagged delete in a log, a row in another log: with all ordering values of a
    type, and with nulls, which count as the type's default.
    """
    kind, least = ASCENDING[orders]
    places = range(0 if least is None else -1, len(kind.values))
    histories = {f"h{n}": found for n, found in enumerate(product(places, places, (False, True), places))}
    uri = new_uri()
    fields = {"ts": kind, "name": Kind("string", pa.string(), ()), DELETED: Kind("boolean", pa.bool_(), ())}
    engine.create(uri, table_spec("MERGE_ON_READ", fields, ordering=("ts",), merge_mode="EVENT_TIME_ORDERING"))

    def write(name: str, versions: Sequence[tuple[str, int, bool]]) -> None:
        found = [{"id": key, "ts": kind.values[place] if place >= 0 else None, "name": name, DELETED: gone}
                 for key, place, gone in versions]  # fmt: skip
        engine.write(uri, "upsert", as_arrow(found, fields))

    write("first", [*((key, first, False) for key, (first, _, _, _) in histories.items()),
                    *((f"other{n}", n % len(kind.values), False) for n in range(others))])  # fmt: skip
    write("second", [(key, second, gone) for key, (_, second, gone, _) in histories.items()])
    write("third", [(key, third, False) for key, (_, _, _, third) in histories.items()])
    found = {r["id"]: r["name"] for r in engine.read(uri, Query(columns=("id", "name"))).to_pylist()}
    expected = {key: left for key, history in histories.items() if (left := remaining_name(history, least)) is not None}
    wrong = {
        key: (history, expected.get(key), found.get(key))
        for key, history in histories.items()
        if expected.get(key) != found.get(key)
    }
    assert not wrong, f"{len(wrong)} of {len(histories)}: {next(iter(wrong.values()))}"
    assert len(found) == len(expected) + others


def remaining_name(history: tuple[int, int, bool, int], least: int | None) -> str | None:
    """Return the name of the remaining row; None after a delete."""
    first, second, third = (
        least if place < 0 and least is not None else place for place in (history[0], history[1], history[3])
    )
    left: str | None = "first"
    if second >= first:
        left = None if history[2] else "second"
    return "third" if third >= max(first, second) else left


@BOTH_TYPES
@pytest.mark.versions(9)
@pytest.mark.needs(
    "create", "create.table-version.9", "write.upsert", "read.snapshot", "read.projection", "partition.none", "types.nested",
    "merge.event-time",
)  # fmt: skip
@pytest.mark.requirements("MRG-005", "TYP-007")
def test_an_array_of_records_with_one_column_is_updated(engine: Client, new_uri: NewUri, type: Any) -> None:
    """MRG-005: an upsert keeps arrays of records that have a single column, in rows that it changes and in other rows."""
    item = {"type": "record", "name": "item", "fields": [{"name": "only", "type": ["null", "string"], "default": None}]}
    items = {"type": ["null", {"type": "array", "items": ["null", item]}], "default": None}
    plain = [{"name": "id", "type": "string"}, {"name": "ts", "type": "long"}]
    schema = {"type": "record", "name": "lists", "namespace": "hoodie.lists", "fields": [*plain, {"name": "items", **items}]}
    uri = new_uri()
    engine.create(uri, TableSpec("lists", type, schema, ("id",), ordering=("ts",), version=9))
    columns = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("items", pa.list_(pa.struct([("only", pa.string())])))])
    rows = [{"id": key, "ts": 1, "items": [{"only": "x"}, {"only": None}]} for key in "ab"]
    changed = {"id": "a", "ts": 2, "items": [{"only": "y"}]}
    engine.write(uri, "upsert", pa.Table.from_pylist(rows, schema=columns))
    engine.write(uri, "upsert", pa.Table.from_pylist([changed], schema=columns))
    found = engine.read(uri, Query(columns=("id", "ts", "items"))).to_pylist()
    assert sorted(found, key=lambda one: one["id"]) == [changed, rows[1]]
