"""Writes to tables of version 9 with a partial update mode: copy-on-write, merge-on-read and compacted tables agree."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_samples import SCHEMA, TABLE_TYPES, bounded, new_table, rows_of

from hudi_reference import WritableTable, compact, log_compact

MARK = "__debezium_unavailable_value"
PAYLOAD = "hoodie.datasource.write.payload.class"
PACKAGE = "org.apache.hudi.common.model."
LATE_LOSES = ("PartialUpdateAvroPayload", "debezium.PostgresDebeziumAvroPayload")
#: Class -> the value that is filled.
FILLED = {
    "PartialUpdateAvroPayload": None, "OverwriteNonDefaultsWithLatestAvroPayload": None,
    "debezium.PostgresDebeziumAvroPayload": MARK,
}  # fmt: skip
AVRO: dict[str, Any] = {
    **SCHEMA,
    "fields": [
        *SCHEMA["fields"],
        {"name": "_event_lsn", "type": ["null", "long"], "default": None},
        {"name": "_change_operation_type", "type": ["null", "string"], "default": None},
    ],
}
Row = dict[str, Any]

pytestmark = pytest.mark.filterwarnings("ignore:payload classes:DeprecationWarning")


def table_of(name: str, kind: str) -> WritableTable:
    """A table of version 9 that was created with a deprecated payload class."""
    return new_table(schema=AVRO, version=9, table_type=kind, ordering=("ts",), options={PAYLOAD: PACKAGE + name})


def merged(name: str, stored: Row, incoming: Row) -> Row:
    """The merged row, by the definition of the class's replacement."""
    late = name in LATE_LOSES and incoming["ts"] < stored["ts"]
    winner, loser = (stored, incoming) if late else (incoming, stored)
    filled = FILLED[name]
    columns = ("name", "p") if filled == MARK else tuple(winner)
    return {**winner, **{column: loser[column] for column in columns if winner[column] == filled}}


rows_of_keys = st.dictionaries(
    st.sampled_from(["a", "b"]),
    st.none() | st.tuples(st.sampled_from([None, MARK, "x", "y"]), st.integers(1, 4), st.sampled_from([None, MARK, "z"])),
    min_size=1,
)


@pytest.mark.parametrize("name", FILLED)
@bounded(12)
@given(program=st.lists(rows_of_keys, min_size=1, max_size=5), compacts=st.lists(st.booleans(), min_size=5, max_size=5))
def test_all_tables_follow_the_definition(name: str, program: list[dict[str, Any]], compacts: list[bool]) -> None:
    """MRG-048, MRG-049: programs of upserts and deletes by key; log compactions and compactions change no answer."""
    expected: dict[str, Row] = {}
    tables = [table_of(name, kind) for kind in (*TABLE_TYPES, "MERGE_ON_READ")]
    for batch, is_compacted in zip(program, compacts, strict=False):
        rows = {key: dict(zip(("id", "name", "ts", "p"), (key, *found), strict=True)) for key, found in batch.items() if found}
        gone = [key for key, found in batch.items() if found is None]
        for key, row in rows.items():
            expected[key] = merged(name, expected[key], row) if key in expected else row
        for key in gone:
            expected.pop(key, None)
        for table in tables:
            if rows:
                table.upsert(rows_of(AVRO, *({**row, "_event_lsn": row["ts"]} for row in rows.values())))
            if gone:
                table.delete(pa.table({"id": gone}))
        if is_compacted:
            log_compact(tables[2])
            compact(tables[2])
        for table in tables:
            found = table.snapshot(["id", "name", "ts", "p"]).to_pylist()
            assert {row["id"]: row for row in found} == expected


@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_rows_of_one_write_are_merged_by_the_mode(kind: str) -> None:
    """MRG-011: two rows of a key in one write are merged like two writes."""
    table = table_of("PartialUpdateAvroPayload", kind)
    batch = ({"id": "a", "name": None, "ts": 2, "p": "p"}, {"id": "a", "name": "late", "ts": 1, "p": "q"})
    table.upsert(rows_of(AVRO, *batch))
    assert table.snapshot(["id", "name", "ts", "p"]).to_pylist() == [{"id": "a", "name": "late", "ts": 2, "p": "p"}]


@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_a_partial_update_stores_nulls(kind: str) -> None:
    """MRG-050: what a partial update sets to null is null, though the mode ignores nulls in whole rows."""
    table = table_of("OverwriteNonDefaultsWithLatestAvroPayload", kind)
    table.upsert(rows_of(AVRO, {"id": "a", "name": "n", "ts": 2, "p": "p"}))
    table.partial_update(pa.table({"id": ["a"], "name": pa.array([None], pa.string())}))
    assert table.snapshot(["id", "name", "ts", "p"]).to_pylist() == [{"id": "a", "name": None, "ts": 2, "p": "p"}]
    if kind == "MERGE_ON_READ":
        compact(table)
        assert table.snapshot(["name", "p"]).to_pylist() == [{"name": None, "p": "p"}]


@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_later_writers_delete_by_the_stored_marker(kind: str) -> None:
    """MRG-051: a writer without settings of its own removes rows with the marker, in its exact case."""
    marker = {"hoodie.payload.delete.field": "p", "hoodie.payload.delete.marker": "D"}
    table = new_table(version=9, table_type=kind, ordering=("ts",), options=marker)
    assert table.properties.get("hoodie.payload.delete.field") is None
    table.upsert(rows_of(SCHEMA, *({"id": key, "ts": 2, "p": "i"} for key in "abc")))
    table.upsert(
        rows_of(SCHEMA, {"id": "a", "ts": 3, "p": "D"}, {"id": "b", "ts": 3, "p": "d"}, {"id": "c", "ts": 1, "p": "D"})
    )
    rows = table.snapshot(["id", "p"]).to_pylist()
    assert {row["id"]: row["p"] for row in rows} == {"b": "d", "c": "i"}
