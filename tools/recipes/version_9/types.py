"""Column types that came with the releases of version 9, which other implementations read as their physical types."""

import struct
from typing import Any

from tools.recipes.recipe import COW, HUDI_1_2, MOR, Check, Recipe, Row, Table, sql
from tools.recipes.rows import SHORT

REFERENCE = {
    "type": "record",
    "fields": (("external_path", "string"), ("offset", "long"), ("length", "long"), ("managed", "boolean")),
}
BLOB = {"type": "record", "fields": (("type", "string"), ("data", "bytes"), ("reference", REFERENCE))}
COLUMNS = (("id", "string"), ("ts", "long"), ("v", "bytes"), ("b", BLOB), ("name", "string"))
_STRUCT = "struct<external_path:string,offset:bigint,length:bigint,managed:boolean>"


def row(key: str, ts: int, numbers: tuple[float, ...] | None, data: bytes | None, name: str) -> Row:
    """A row whose vector is stored as little-endian floats."""
    vector = None if numbers is None else struct.pack(f"<{len(numbers)}f", *numbers)
    blob = None if data is None else {"type": "INLINE", "data": data, "reference": None}
    return {"id": key, "ts": ts, "v": vector, "b": blob, "name": name}


def _vector(*numbers: float) -> str:
    return f"array({', '.join(f'cast({number} as float)' for number in numbers)})"


def _blob(data: str) -> str:
    return f"named_struct('type', 'INLINE', 'data', X'{data}', 'reference', cast(null as {_STRUCT}))"


def _create(kind: str) -> str:
    properties = f"primaryKey = 'id', type = '{kind}', preCombineField = 'ts'"
    columns = "id STRING, ts BIGINT, v VECTOR(3), b BLOB, name STRING"
    return f"CREATE TABLE {{table}} ({columns}) USING hudi TBLPROPERTIES ({properties}) LOCATION '{{path}}'"


FIRST = (
    f"INSERT INTO {{table}} VALUES ('a', 1L, {_vector(1.5, -2.0, 0.25)}, {_blob('0001FF')}, 'one'), "
    "('b', 1L, null, null, 'two')"
)
MERGED = (
    f"MERGE INTO {{table}} t USING (SELECT 'b' AS id, 2L AS ts, {_vector(9.0, 8.0, 7.0)} AS v, {_blob('')} AS b, "
    "'three' AS name) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *"
)
_ABOUT: dict[str, Any] = {
    "requirements": ("TYP-020",), "flags": ("wrong-value",),
    "if_it_fails": "An unknown logical type is read as the Avro type that it is attached to.",
}  # fmt: skip
CHECKS = (
    Check(
        name="blob",
        columns=("id", "b", "name"),
        needs=("types.avro",),  # its type is an enumeration
        says="A blob is a record of its type, its bytes and a reference.",
        **_ABOUT,
    ),
    Check(
        name="vector",
        columns=("id", "v", "name"),
        needs=("types.avro",),
        says="A vector is the bytes of its numbers.",
        **_ABOUT,
    ),
)

RECIPES = [
    Recipe(
        f"version-9.vector-and-blob.{SHORT[kind]}", "queries", Table(COLUMNS, type=kind, version=9),
        (
            sql(f"{_create(SHORT[kind])};{FIRST}", row("a", 1, (1.5, -2.0, 0.25), b"\x00\x01\xff", "one"),
                row("b", 1, None, None, "two"), model="insert"),
            sql(MERGED, row("b", 2, (9.0, 8.0, 7.0), b"", "three"), model="upsert"),
        ),
        CHECKS, producers=(HUDI_1_2,),
    )
    for kind in (COW, MOR)
]  # fmt: skip
