"""Record keys of columns that are no texts: each operation of a writer makes the same key of the same value."""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import EngineError, Query, Refused, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.keyed_rows import WRITES, keys_and_partitions
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES

#: The setting of writers with which keys have local times in the place of numbers.
LOCAL_TIMES = {"hoodie.datasource.write.keygenerator.consistent.logical.timestamp.enabled": "true"}
MOMENT, EVENING = datetime(2024, 2, 29, 12, 34, 56, 789_000, UTC), datetime(1969, 12, 31, 23, tzinfo=UTC)
#: A millisecond and a half before 1970: Java truncates the number of milliseconds towards zero.
BEFORE_1970 = datetime(1969, 12, 31, 23, 59, 59, 998_500, UTC)
#: A type of Avro and of Arrow, and two values.
TYPES: dict[str, tuple[Any, pa.DataType, Any, Any]] = {
    "timestamp": ({"type": "long", "logicalType": "timestamp-micros"}, pa.timestamp("us", "UTC"), MOMENT, EVENING),
    "bytes": ("bytes", pa.binary(), b"\xff\x01", b"ab"),
    "date": ({"type": "int", "logicalType": "date"}, pa.date32(), date(1969, 12, 31), date(2024, 2, 29)),
    "decimal": (
        {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2},
        pa.decimal128(10, 2), Decimal("1.10"), Decimal("-0.05"),
    ),
    "double": ("double", pa.float64(), 1e7, -0.001),
    "boolean": ("boolean", pa.bool_(), True, False),
}  # fmt: skip


def create(engine: Client, uri: str, type: str, kind: str) -> Callable[..., pa.Table]:
    """Create a table whose key has this type; return what makes rows of it, of pairs of key and name."""
    avro, arrow, _, _ = TYPES[kind]
    fields = [{"name": "k", "type": avro}, {"name": "name", "type": "string"}]
    schema = {"type": "record", "name": "keyed", "namespace": "hoodie.keyed", "fields": fields}
    engine.create(uri, TableSpec("keyed", type, schema, ("k",), merge_mode="COMMIT_TIME_ORDERING"))  # type: ignore[arg-type]
    columns = pa.schema([pa.field("k", arrow, nullable=False), pa.field("name", pa.string(), nullable=False)])
    return lambda *rows: pa.Table.from_pylist([{"k": key, "name": name} for key, name in rows], schema=columns)


@BOTH_TYPES
@pytest.mark.requirements("PROP-007", "META-007", "MRG-005")
@pytest.mark.needs(*WRITES, "write.bulk-insert", "write.delete", "partition.none")
@pytest.mark.parametrize("kind", TYPES)
def test_a_write_finds_the_key_of_a_bulk_insert(engine: Client, new_uri: Callable[[], str], type: str, kind: str) -> None:
    """META-007: a bulk insert makes the same keys as other writes. An upsert of the value changes the row, and a delete removes
    it, whatever the type of the key.
    """
    uri, (_, _, one, other) = new_uri(), TYPES[kind]
    rows = create(engine, uri, type, kind)
    engine.write(uri, "bulk_insert", rows((one, "old"), (other, "old")))
    engine.write(uri, "upsert", rows((one, "new")))
    found = engine.read(uri, Query(columns=("k", "name"))).to_pylist()
    assert sorted((row["name"], row["k"]) for row in found) == [("new", one), ("old", other)]
    engine.write(uri, "delete", rows((other, "gone")).select(["k"]))
    assert engine.read(uri, Query(columns=("k", "name"))).to_pylist() == [{"k": one, "name": "new"}]


@BOTH_TYPES
@pytest.mark.requirements("PROP-007", "META-007")
@pytest.mark.needs(*WRITES, "write.delete", "partition.none")
def test_keys_of_local_times(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """META-007: with the setting for logical timestamps, the key of a timestamp is the time in the zone of the writer, with as
    many digits of the milliseconds as it has. Writes with the setting find the record again.
    """
    uri = new_uri()
    rows = create(engine, uri, type, "timestamp")
    times = {MOMENT: "789", MOMENT.replace(microsecond=120_000): "12", EVENING: "0", BEFORE_1970: "999"}
    keys = {time: f"{time.astimezone():%Y-%m-%d %H:%M:%S}.{digits}" for time, digits in times.items()}
    engine.write(uri, "upsert", rows(*((time, "old") for time in times)), options=LOCAL_TIMES)
    assert keys_and_partitions(engine, uri) == {(key, "", "old") for key in keys.values()}
    engine.write(uri, "upsert", rows((MOMENT, "new")), options=LOCAL_TIMES)
    engine.write(uri, "delete", rows((max(times), "gone"), (min(times), "gone")).select(["k"]), options=LOCAL_TIMES)
    left = [time for time in times if time not in (max(times), min(times))]
    assert keys_and_partitions(engine, uri) == {(keys[time], "", "new" if time == MOMENT else "old") for time in left}


@BOTH_TYPES
@pytest.mark.requirements("META-009", "PROP-016")
@pytest.mark.needs(*WRITES, "write.delete", "partition.plain", "partition.url-encoded")
@pytest.mark.parametrize("first", ["local times", "numbers"])
def test_partitions_of_times_by_writers_with_different_settings(
    engine: Client, new_uri: Callable[[], str], type: Any, first: str
) -> None:
    """META-009: the partition path of a timestamp is a number or a local time, as the settings of the writer say. A writer with
    other settings than the earlier ones refuses to write, or finds the record in its partition; it never stores it twice.
    """
    uri, (avro, arrow, moment, _) = new_uri(), TYPES["timestamp"]
    one, other = (LOCAL_TIMES, {}) if first == "local times" else ({}, LOCAL_TIMES)
    fields = [{"name": "id", "type": "string"}, {"name": "p", "type": avro}, {"name": "name", "type": "string"}]
    schema = {"type": "record", "name": "timed", "namespace": "hoodie.timed", "fields": fields}
    encoded = {"hoodie.datasource.write.partitionpath.urlencode": "true"}
    spec = TableSpec("timed", type, schema, ("id",), ("p",), merge_mode="COMMIT_TIME_ORDERING", properties=encoded)
    engine.create(uri, spec)
    columns = [pa.field("id", pa.string(), nullable=False), pa.field("p", arrow, nullable=False)]
    rows = pa.schema([*columns, pa.field("name", pa.string(), nullable=False)])

    def row(key: str, name: str) -> pa.Table:
        return pa.Table.from_pylist([{"id": key, "p": moment, "name": name}], schema=rows)

    for key in ("a", "b"):
        engine.write(uri, "upsert", row(key, "old"), options=one)
    name = "old"
    with suppress(Refused, EngineError):
        engine.write(uri, "upsert", row("a", "new"), options=other)
        name = "new"
    found = engine.read(uri, Query(columns=("id", "name"))).to_pylist()
    assert sorted((found_row["id"], found_row["name"]) for found_row in found) == [("a", name), ("b", "old")]
    engine.write(uri, "delete", row("b", "gone").select(["id", "p"]), options=one)
    assert engine.read(uri, Query(columns=("id", "name"))).to_pylist() == [{"id": "a", "name": name}]


@BOTH_TYPES
@pytest.mark.requirements("META-009", "PROP-016")
@pytest.mark.needs(*WRITES, "partition.plain", "partition.several-levels")
@pytest.mark.parametrize("text", ["eu", "eu/north"])
def test_a_partition_of_a_time_below_one_of_a_text(engine: Client, new_uri: Callable[[], str], type: Any, text: str) -> None:
    """PROP-016: a `/` in the text of one partition field makes another folder, so that the folder of a timestamp is not at the
    place of its field. Each write finds the record in its partition.
    """
    uri, (avro, arrow, moment, _) = new_uri(), TYPES["timestamp"]
    kinds: dict[str, tuple[Any, pa.DataType]] = {"id": ("string", pa.string()), "q": ("string", pa.string()),
                                                 "p": (avro, arrow), "name": ("string", pa.string())}  # fmt: skip
    schema = {"type": "record", "name": "timed", "namespace": "hoodie.timed",
              "fields": [{"name": name, "type": kind} for name, (kind, _) in kinds.items()]}  # fmt: skip
    engine.create(uri, TableSpec("timed", type, schema, ("id",), ("q", "p"), merge_mode="COMMIT_TIME_ORDERING"))
    columns = pa.schema([pa.field(name, kind, nullable=False) for name, (_, kind) in kinds.items()])
    for name in ("old", "new"):
        rows = [{"id": "a", "q": text, "p": moment, "name": name}]
        engine.write(uri, "upsert", pa.Table.from_pylist(rows, schema=columns))
    found = engine.read(uri, Query(columns=("id", "q", "name"))).to_pylist()
    assert found == [{"id": "a", "q": text, "name": "new"}]
