"""Streams: nothing is lost or doubled across restarts, late completions and repeated batches."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from reference_samples import TABLE_TYPES, names, trip, trips

from hudi_reference import WritableTable, open_table, restore
from hudi_reference.errors import InvalidQuery, Misuse

pytest.importorskip("pyspark.sql.datasource", reason="needs the extra spark, whose PySpark is newer than that of other engines")

from pyspark.sql.types import StructType

import hudi_spark
from hudi_spark.source.staged import Stage
from hudi_spark.source.streams import StreamReader, StreamWriter, last_batch

Make = Callable[..., WritableTable]


@pytest.fixture(scope="module")
def source(spark: Any) -> Any:
    """The session with the format registered."""
    hudi_spark.register(spark)
    return spark


def run_to_end(source: Any, table: WritableTable, target: str, checkpoint: Path, **options: str) -> None:
    """Run the stream from the table to a table of its own until all is read."""
    rows = source.readStream.format("hudi-reference").options(**options).load(table.uri).drop(
        "_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name"
    )  # fmt: skip
    new = {"hoodie.table.name": "copy", "hoodie.datasource.write.recordkey.field": "id"}
    stream = rows.writeStream.format("hudi-reference").options(**new, checkpointLocation=str(checkpoint))
    query = stream.trigger(availableNow=True).option("path", target).start()
    assert query.awaitTermination(120)


@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_a_copy_follows_its_table_across_restarts(source: Any, make_table: Make, tmp_path: Path, table_type: str) -> None:
    """Each start of the query adds what was written since; without news it writes nothing."""
    table, target = make_table(table_type=table_type, partition=("p",)), str(tmp_path / "copy")
    table.upsert(trips(trip("1", "a", 1, "p0"), trip("2", "b", 1, "p1")))
    run_to_end(source, table, target, tmp_path / "checkpoint")
    table.upsert(trips(trip("1", "c", 2, "p0")))
    table.upsert(trips(trip("3", "d", 2, "p1")))
    run_to_end(source, table, target, tmp_path / "checkpoint")
    run_to_end(source, table, target, tmp_path / "checkpoint")
    copy = open_table(target)
    assert names(copy) == names(table) == {"1": "c", "2": "b", "3": "d"}
    assert len(copy.timeline.instants) == 2


def offsets(table: WritableTable, **query: Any) -> StreamReader:
    """The reader of a stream, as Spark's driver has it."""
    schema = table.snapshot().schema
    return StreamReader(table.uri, {"query": "incremental", **query}, schema.names, schema)


def batch(reader: StreamReader, start: dict[str, Any], end: dict[str, Any]) -> list[str]:
    """The keys of the rows of one batch."""
    parts = (rows for part in reader.partitions(start, end) for rows in reader.read(part))
    return sorted(key for rows in parts for key in rows.column("id").to_pylist())


def test_a_late_completion_is_in_a_later_batch(make_table: Make) -> None:
    """A write that began first and completed last is read once, after the batch that ended before its completion."""
    from hudi_reference.schema.avro import with_meta_columns
    from hudi_reference.write.commit import begin
    from hudi_reference.write.write_context import WriteContext
    from hudi_reference.write.writer import Writer

    table = make_table(merge_mode="COMMIT_TIME_ORDERING")
    rows = trips(trip("late"))
    context = WriteContext.for_operation(table, "INSERT", rows.schema)
    early = begin(table, "INSERT")
    table.insert(trips(trip("first")))
    reader = offsets(table)
    start = reader.initialOffset()
    middle = reader.latestOffset(start, None)
    assert batch(reader, start, middle) == ["first"]
    assert reader.latestOffset(middle, None) == middle and batch(reader, middle, middle) == []
    writer = Writer(early, context.reader, with_meta_columns(context.view.schema))
    writer.add("", context.intake().prepare(rows).rows)
    early.complete(context.view.schema)
    end = reader.latestOffset(middle, None)
    assert batch(reader, middle, end) == ["late"]
    assert batch(reader, start, middle) == ["first"]  # a batch that Spark repeats is the same


def test_a_stream_may_begin_at_an_instant(make_table: Make) -> None:
    """The bound is exclusive, and inclusive where the option says so; a bound above and other queries are refused."""
    table = make_table()
    for key in ("a", "b"):
        table.insert(trips(trip(key)))
    begin = table.timeline.completed[0].completion
    for include, expected in ((False, ["b"]), (True, ["a", "b"])):
        reader = offsets(table, begin=begin, include_begin=include)
        start = reader.initialOffset()
        assert batch(reader, start, reader.latestOffset(start, None)) == expected
    for wrong in ({"end": begin}, {"query": "as-of", "as_of": begin}):
        with pytest.raises(InvalidQuery):
            offsets(table, **wrong)


@pytest.mark.parametrize("all_at_once", [False, True])
def test_a_stream_does_not_go_back(make_table: Make, all_at_once: bool) -> None:
    """With a begin in the future, and after a restore that removed the last writes, a batch is empty and the offset stays."""
    table = make_table()
    first = table.insert(trips(trip("1")))
    table.insert(trips(trip("2")))

    def offset_after(start: dict[str, Any]) -> dict[str, Any]:
        reader = offsets(table)
        if all_at_once:
            reader.prepareForTriggerAvailableNow()
        end = reader.latestOffset(start, None)
        assert batch(reader, start, end) == []
        return end

    later = offsets(table, begin="20991231000000000", include_begin=True).initialOffset()
    assert offset_after(later) == later
    end = offsets(table).latestOffset(offsets(table).initialOffset(), None)
    restore(table, first)
    assert offset_after(end) == end
    table.insert(trips(trip("3")))
    reader = offsets(table)
    assert batch(reader, end, reader.latestOffset(end, None)) == ["3"]


def test_a_batch_is_written_once(make_table: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch that Spark repeats after its action completed is skipped, also when the action was archived; one that failed
    before is written.
    """
    table = replace(make_table(), options={"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"})
    rows = trips(trip("1"))
    stage = Stage.of(table, rows.schema)

    def write(number: int, stream: str = "s", key: str = "1") -> None:
        chosen = trips(trip(key))
        monkeypatch.setattr(Stage, "rows", lambda *_: chosen)
        StreamWriter(table, "insert", stream, StructType(), stage).commit([], number)

    write(0)
    write(0)
    write(1, key="2")
    write(0, key="x")
    assert sorted(table.snapshot()["id"].to_pylist()) == ["1", "2"]
    write(0, "another", key="3")
    assert (last_batch(table, "s"), last_batch(table, "another"), last_batch(table, "none")) == (1, 0, -1)
    with monkeypatch.context() as broken:
        broken.setattr("hudi_spark.source.streams.write_rows", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            write(2, key="4")
    write(2, key="4")
    assert sorted(table.snapshot()["id"].to_pylist()) == ["1", "2", "3", "4"]
    for number in range(8):
        table.insert(trips(trip(f"more {number}")))
    from hudi_reference.services.archive.archive import archive

    archive(table, {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"})
    assert last_batch(table, "s") == 2
    write(2, key="again")
    assert "again" not in table.snapshot()["id"].to_pylist()


def test_a_stream_needs_a_name() -> None:
    """Two unnamed streams would take each other's batches for their own."""
    from hudi_spark.source.streams import name_of_stream

    with pytest.raises(Misuse, match="no name"):
        name_of_stream({"path": "x"})
    assert name_of_stream({"hoodie.datasource.write.streaming.checkpoint.identifier": "mine"}) == "mine"
