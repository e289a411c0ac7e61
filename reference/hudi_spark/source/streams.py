"""Streams: micro-batches of an incremental or change query, and a sink that writes each batch once.

An offset is the completion time of the last action that a batch contains. A table's completion times are drawn under its lock
and only grow, so an action that began early and completed late is in a later batch: nothing is lost or doubled.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition, WriterCommitMessage
from pyspark.sql.types import StructType

from hudi_reference import WritableTable
from hudi_reference.errors import InvalidQuery, Misuse
from hudi_reference.query.incremental import Window
from hudi_reference.storage import storage_of
from hudi_reference.timeline.history.archived import metadata_of
from hudi_reference.timeline.history.history import read_level_file
from hudi_reference.timeline.history.manifest import load_manifest
from hudi_spark.arrow import batches
from hudi_spark.read import make_plan, open_shared
from hudi_spark.source.releases import StreamWriterBase, SupportsTriggerAvailableNow, arrow_batches
from hudi_spark.source.staged import Stage, write_rows
from hudi_spark.source.write_options import STREAM_ID, Operation

#: The entry of commit metadata with the last batch of each stream, as deployed sinks store it.
CHECKPOINT = "_hudi_streaming_sink_checkpoint"


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):  # type: ignore[misc]  # pyspark is not checked
    """Batches of what was written since the last one: rows in their state at the end of a batch, or changes."""

    def __init__(self, uri: str, query: Mapping[str, Any], columns: list[str], arrow: pa.Schema) -> None:
        if query["query"] not in ("snapshot", "incremental", "cdc"):
            raise InvalidQuery("a stream reads an incremental or change query", rule="TYP-009", found=query["query"])
        if query.get("end") is not None:
            raise InvalidQuery("a stream has no end", rule="TYP-009", found=query["end"], remedy="leave the option out")
        self.uri, self.columns, self.arrow = uri, columns, arrow
        self.query = {**query, "query": "cdc" if query["query"] == "cdc" else "incremental"}
        self.last: str | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - PySpark's name
        """The option `begin`; without it a stream begins with all rows."""
        begin = self.query.get("begin")
        properties = open_shared(self.uri).properties
        window = Window.between(begin, None, zone=properties.zone)
        return {"completion": window.begin or "", "include": bool(self.query.get("include_begin"))}

    def latestOffset(self, start: dict[str, Any] | None = None, *_: object) -> dict[str, Any]:  # noqa: N802
        """The completion of the write that completed last; the start if there is none after it.

        The begin of a stream may be in the future, and a restore removes the last writes. PySpark before 4.2 does not pass the
        start, so that the offset goes back after a restore. No write completed between the two.
        """
        found, begin = self._last_completion() if self.last is None else self.last, start or self.initialOffset()
        is_new = found > begin["completion"] or (found == begin["completion"] and begin["include"])
        return {"completion": found, "include": False} if is_new else begin

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - PySpark's name
        """Read up to what has completed now."""
        self.last = self._last_completion()

    def _last_completion(self) -> str:
        """The completion of the write that completed last; less than every time if there is none."""
        latest = open_shared(self.uri).timeline.latest
        return "" if latest is None else latest.completion or latest.requested

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """One for each slice that changed between the offsets."""
        if start == end or end["completion"] < start["completion"]:
            return []
        window = {"begin": start["completion"] or None, "end": end["completion"], "include_begin": start["include"]}
        plan = make_plan(self.uri, **{**self.query, **window, "columns": self.columns}, native=False)
        return [InputPartition((plan.query, one)) for one in plan.merged]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one slice."""
        query, found = partition.value
        yield from batches(query(found), self.arrow)


@dataclass
class StreamWriter(StreamWriterBase):  # type: ignore[misc]  # pyspark is not checked
    """A sink that writes each batch of a stream as one action.

    The number of the batch is in the metadata of the action, under the name of the stream. A batch that Spark repeats after a
    failure is skipped if its action completed.
    """

    table: WritableTable
    operation: Operation
    stream: str
    schema: StructType
    stage: Stage

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        """Store the rows of one task."""
        return self.stage.store(arrow_batches(iterator, self.schema))

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 - PySpark's name
        """Write the batch, unless it was written before."""
        try:
            if batchId > last_batch(self.table, self.stream):
                extra = {CHECKPOINT: json.dumps({self.stream: str(batchId)})}
                write_rows(self.table, self.operation, self.stage.rows(messages), extra)
        finally:
            self.stage.clear(messages)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        """Delete the stored rows."""
        self.stage.clear(messages)


def last_batch(table: WritableTable, stream: str) -> int:
    """The number of the last batch of a stream in completed actions, archived ones included; -1 if there is none."""
    commits = table.view().groups.commits
    active = max((_batch(commit.record, stream) for commit in commits.values()), default=-1)
    if active >= 0:
        return active
    storage, folder = table.storage, table.properties.history_folder
    files = load_manifest(storage, folder).files
    archived = (action for file in files for action in read_level_file(storage, folder, file, ("metadata",)))
    return max((_batch(metadata_of(action, folder) or {}, stream) for action in archived), default=-1)


def _batch(record: Mapping[str, Any], stream: str) -> int:
    text = (record.get("extraMetadata") or {}).get(CHECKPOINT)
    return int(json.loads(text).get(stream, -1)) if text else -1


def name_of_stream(options: Mapping[str, str]) -> str:
    """The name under which a stream's batches are counted: the option, else the id of the query in its checkpoint folder.

    Raises Misuse if there is neither.
    """
    if STREAM_ID in options:
        return options[STREAM_ID]
    folder = options.get("checkpointLocation") or options.get("checkpointlocation")
    try:
        if folder:
            return str(json.loads(storage_of(folder).get("metadata"))["id"])
    except (FileNotFoundError, ValueError, KeyError):
        pass
    raise Misuse("the stream has no name", expected=f"the option {STREAM_ID}, or checkpointLocation", found=str(folder))
