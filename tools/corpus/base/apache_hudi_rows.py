"""The rows that Apache Hudi wrote: as Python values for its writers, and as canonical values for the expected answers."""

import io
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import fastavro

Json = Any
FILE_ID = "f0000000-0000-4000-8000-000000000001-0"
TOKEN = "0-1-2"
BASE_INSTANT, INSTANT, TARGET = "20250101000000000", "20250101000001000", "20250101000000500"
META = ("_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name")


def record_schema(name: str, *fields: tuple[str, Json]) -> dict[str, Json]:
    """A record of the five meta columns and these fields."""
    columns = [*((meta_columns, ["null", "string"]) for meta_columns in META), *fields]
    return {"type": "record", "name": name, "fields": [field(column, kind) for column, kind in columns]}


def field(name: str, kind: Json) -> dict[str, Json]:
    """One column; the default is null if the column is nullable."""
    return {"name": name, "type": kind} | ({"default": None} if isinstance(kind, list) and kind[0] == "null" else {})


def nullable(kind: Json) -> list[Json]:
    """The union of null and the type."""
    return ["null", kind]


MONEY = {"type": "fixed", "name": "money", "size": 5, "logicalType": "decimal", "precision": 10, "scale": 2}
POINT = {"type": "record", "name": "point", "fields": [field("x", nullable("int")), field("y", nullable("string"))]}
#: One column of each type that all block formats of Apache Hudi support.
TYPED = record_schema(
    "row",
    ("id", "string"),
    ("n", nullable("long")),
    ("i", nullable("int")),
    ("x", nullable("double")),
    ("f", nullable("float")),
    ("ok", nullable("boolean")),
    ("b", nullable("bytes")),
    ("m", nullable(MONEY)),
    ("d", nullable({"type": "int", "logicalType": "date"})),
    ("t", nullable({"type": "long", "logicalType": "timestamp-micros"})),
    ("tags", nullable({"type": "array", "items": "string"})),
    (
        "s",
        nullable(POINT),
    ),
)
#: A key and a number.
SMALL = record_schema("row", ("id", "string"), ("n", nullable("long")))

_FILLED = {
    "n": 2**53 + 1, "i": -7, "x": -0.0, "f": 0.5, "ok": True, "b": b"\x00#HUDI#", "m": Decimal("-1.50"),
    "d": date(1969, 12, 31), "t": datetime(2025, 1, 1, 0, 0, 0, 1, UTC), "tags": ["", "é"], "s": {"x": 1, "y": None},
}  # fmt: skip
_SHOWN = {
    "n": "9007199254740993", "i": -7, "x": "-0.0", "f": "0.5", "ok": True, "b": "00234855444923", "m": "-1.50",
    "d": "1969-12-31", "t": "2025-01-01T00:00:00.000001Z", "tags": ["", "é"], "s": {"x": 1, "y": None},
}  # fmt: skip
_KEYS = ("a", "b", "é")


def meta_columns(key: str, number: int = 0, file: str = FILE_ID, instant: str = INSTANT) -> dict[str, str]:
    """The meta columns of a row."""
    return dict(zip(META, (instant, f"{instant}_0_{number}", key, "", file), strict=True))


def typed_rows() -> list[dict[str, Any]]:
    """Three rows of TYPED: with values, with nulls, and with a key that is not ASCII."""
    empty = dict.fromkeys(_FILLED)
    return [
        meta_columns(key, n) | {"id": key} | part
        for n, (key, part) in enumerate(zip(_KEYS, (_FILLED, empty, empty | {"n": -1}), strict=True))
    ]


def typed_shown() -> list[dict[str, Json]]:
    """The same as canonical values."""
    empty = dict.fromkeys(_SHOWN)
    return [
        meta_columns(key, n) | {"id": key} | part
        for n, (key, part) in enumerate(zip(_KEYS, (_SHOWN, empty, empty | {"n": "-1"}), strict=True))
    ]


def small_rows(*keys: str, instant: str = INSTANT) -> list[dict[str, Any]]:
    """Rows of SMALL, numbered."""
    return [meta_columns(key, n, instant=instant) | {"id": key, "n": n} for n, key in enumerate(keys)]


def small_shown(*keys: str, instant: str = INSTANT) -> list[dict[str, Json]]:
    """The same as canonical values."""
    return [row | {"n": str(row["n"])} for row in small_rows(*keys, instant=instant)]


def change_schema() -> dict[str, Json]:
    """The schema of a change capture block with the values before and after."""
    image = {"type": "record", "name": "row", "fields": [field("id", "string"), field("n", nullable("long"))]}
    columns = (
        ("op", nullable("string")),
        ("ts_ms", nullable("string")),
        ("before", nullable(image)),
        ("after", nullable("row")),
    )
    return {"type": "record", "name": "CDC", "fields": [field(column, kind) for column, kind in columns]}


def changes() -> list[dict[str, Any]]:
    """An insert, an update, a delete."""
    before, after = {"id": "b", "n": 1}, {"id": "b", "n": 2}
    return [
        {"op": "i", "ts_ms": INSTANT, "before": None, "after": {"id": "a", "n": None}},
        {"op": "u", "ts_ms": INSTANT, "before": before, "after": after},
        {"op": "d", "ts_ms": INSTANT, "before": {"id": "c", "n": 3}, "after": None},
    ]


def changes_shown() -> list[dict[str, Json]]:
    """The same as canonical values."""

    def image(row: Mapping[str, Any] | None) -> Json:
        return row and row | {"n": None if row["n"] is None else str(row["n"])}

    return [change | {"before": image(change["before"]), "after": image(change["after"])} for change in changes()]


def schema_text(avro: Mapping[str, Json]) -> str:
    """A schema as the text of a header."""
    return json.dumps(avro, separators=(",", ":"))


def encode_rows(avro: Mapping[str, Json], rows: Sequence[Mapping[str, Any]]) -> list[bytes]:
    """The rows in Avro's binary form."""
    return [_encoded(fastavro.parse_schema(json.loads(schema_text(avro))), row) for row in rows]


def _encoded(avro: Any, row: Mapping[str, Any]) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, avro, row)
    return out.getvalue()
