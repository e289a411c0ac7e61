"""Values that can be written into a column; checks of clocks and of blocks."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from hudi_reference import create_table
from hudi_reference.clock import ManualClock
from hudi_reference.errors import ClockBehindTimeline, InvalidRows, MalformedLogBlock
from hudi_reference.files.log.block import BlockType, HeaderKey, encode_block
from hudi_reference.files.log.content import encode_deletes
from hudi_reference.schema.evolution import fits
from hudi_reference.storage import MemoryStorage

SCHEMA = {
    "type": "record",
    "name": "t",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "n", "type": ["null", "long"], "default": None},
        {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}], "default": None},
    ],
}


@pytest.mark.parametrize(
    ("found", "wanted", "expected"),
    [
        (pa.int32(), pa.int64(), True),
        (pa.int64(), pa.int32(), False),
        (pa.uint32(), pa.int32(), False),
        (pa.uint32(), pa.int64(), True),
        (pa.string(), pa.int64(), False),
        (pa.int64(), pa.string(), False),
        (pa.int64(), pa.float64(), False),
        (pa.float32(), pa.float64(), True),
        (pa.large_string(), pa.string(), True),
        (pa.dictionary(pa.int8(), pa.string()), pa.string(), True),
        (pa.decimal128(5, 2), pa.decimal128(10, 4), True),
        (pa.decimal128(10, 4), pa.decimal128(10, 2), False),
        (pa.decimal128(10, 2), pa.decimal128(10, 4), False),
        (pa.bool_(), pa.int32(), False),
        (pa.date32(), pa.timestamp("us"), False),
        (pa.null(), pa.int64(), True),
        (pa.list_(pa.int32()), pa.list_(pa.int64()), True),
        (pa.list_(pa.string()), pa.list_(pa.int64()), False),
        (pa.struct([("a", pa.int32())]), pa.struct([("a", pa.int64()), ("b", pa.string())]), True),
        (pa.struct([("c", pa.int32())]), pa.struct([("a", pa.int64())]), False),
        (pa.map_(pa.string(), pa.int32()), pa.map_(pa.string(), pa.int64()), True),
    ],
)
def test_lossless_types_are_accepted(found, wanted, expected):
    """LF-038: no value is parsed, rounded or truncated."""
    assert fits(found, wanted) is expected


def test_text_of_digits_is_refused_for_a_number():
    """LF-038: the text "12" is refused for a long column, and the table is unchanged."""
    table = create_table("", name="t", schema=SCHEMA, record_key=["id"], storage=MemoryStorage())
    before = table.storage.list()
    with pytest.raises(InvalidRows, match="the column n does not fit"):
        table.insert(pa.table({"id": ["a"], "n": ["12"], "at": pa.nulls(1)}))
    assert table.storage.list() == before


def test_a_timestamp_loses_no_digits():
    """LF-038: microseconds are accepted for a column of milliseconds only if no digits are lost."""
    table = create_table("", name="t", schema=SCHEMA, record_key=["id"], storage=MemoryStorage())

    def rows(microsecond):
        at = pa.array([datetime(2026, 1, 1, microsecond=microsecond, tzinfo=UTC)], pa.timestamp("us", "UTC"))
        return pa.table({"id": ["a"], "n": pa.nulls(1), "at": at})

    with pytest.raises(InvalidRows, match="the column at does not fit"):
        table.insert(rows(1))
    table.insert(rows(1000))
    assert table.snapshot(columns=["at"]).column("at")[0].as_py() == datetime(2026, 1, 1, microsecond=1000, tzinfo=UTC)


def test_a_writer_does_not_wait_for_hours():
    """TT-009: a clock far behind the newest instant is an error that says so, not a hang."""
    clock = ManualClock(1_700_000_000_000, step=0)
    table = create_table("", name="t", schema=SCHEMA, record_key=["id"], storage=MemoryStorage(), clock=clock)
    table.insert(pa.table({"id": ["a"], "n": [1], "at": pa.nulls(1)}))
    clock.time -= 7_200_000
    with pytest.raises(ClockBehindTimeline, match="behind the timeline"):
        table.insert(pa.table({"id": ["b"], "n": [1], "at": pa.nulls(1)}))


def test_a_block_names_the_instant_that_wrote_it():
    """LF-035: whether a block counts is decided by its instant; one without it is malformed, not taken or dropped."""
    storage, clock = MemoryStorage(), ManualClock(1_700_000_000_000)
    table = create_table(
        "", name="t", schema=SCHEMA, record_key=["id"], storage=storage, clock=clock, table_type="MERGE_ON_READ"
    )
    rows = pa.table({"id": ["a"], "n": [1], "at": pa.nulls(1)})
    table.insert(rows)
    table.upsert(rows)
    (log,) = [info.path for info in storage.list(skip=".hoodie") if ".log." in info.path]
    storage.put(log, storage.get(log) + encode_block(BlockType.DELETE, {HeaderKey.SCHEMA: "{}"}, encode_deletes([], [])))
    with pytest.raises(MalformedLogBlock, match="without the instant"):
        table.snapshot()


PLACE = {"type": "record", "name": "place", "fields": [{"name": "x", "type": "int"}]}
WITH_PLACE = {
    "type": "record",
    "name": "t",
    "fields": [{"name": "id", "type": "string"}, {"name": "place", "type": ["null", PLACE], "default": None}],
}


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_null_record_may_have_nulls_in_required_fields(kind: str) -> None:
    """BF-002: Spark gives the fields of a null record a null of their own. They have no value, so none is missing."""
    places = pa.StructArray.from_arrays([pa.array([7, None], pa.int32())], names=["x"], mask=pa.array([False, True]))
    table = create_table(
        "memory:///t", name="t", schema=WITH_PLACE, table_type=kind, storage=MemoryStorage(), record_key=("id",)
    )
    for _ in range(2):  # the second write appends to a log file in a table of merge-on-read
        table.upsert(pa.table({"id": ["a", "b"], "place": places}))
    rows = table.snapshot(["id", "place"]).to_pylist()
    assert sorted(rows, key=lambda row: row["id"]) == [{"id": "a", "place": {"x": 7}}, {"id": "b", "place": None}]
    with pytest.raises(InvalidRows):
        table.upsert(pa.table({"id": ["c"], "place": [{"x": None}]}))
