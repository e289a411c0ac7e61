"""Change-capture files: the changes between two base files of a group, for tables with change data capture.

Only a base file that replaces an earlier one has such a file. New file groups consist of inserts, and log files of
merge-on-read tables are changes themselves; readers derive both (ER-078).
"""

from collections.abc import Mapping

import pyarrow as pa

from hudi_reference.files.log.cdc import Change, Operation
from hudi_reference.files.log.writer import BlockWriter
from hudi_reference.layout.names import BaseFileName, LogFileName, join_path
from hudi_reference.records.changes import KEY
from hudi_reference.records.row_diff import AFTER, BEFORE, OPERATION, RowDiff, State
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import META_COLUMNS, AvroSchema
from hudi_reference.timeline.contents.metadata import WriteStat
from hudi_reference.write.commit import Commit
from hudi_reference.write.write_context import logging_mode


@implements("TYP-004", "BLK-033", "BLK-034", "BLK-035", "BLK-036")
def write_change_log(
    commit: Commit, schema: AvroSchema, name: BaseFileName, partition: str, before: pa.Table, after: pa.Table
) -> Mapping[str, int]:
    """Log how the rows of a group change with its next base file `name`; path and size of the file, if the table has CDC.

    `before` and `after` are rows with meta columns, `schema` is their Avro schema. A file is written even if nothing changed:
    deployed readers refuse a base file that replaces another one and has no change-capture file.
    """
    mode = logging_mode(commit.table.properties)
    if mode is None:
        return {}
    images = RowDiff(_state(before), _state(after)).images()
    changes = [Change(Operation(c[OPERATION]), c["key"], c[BEFORE], c[AFTER]) for c in images.to_pylist()]
    data = BlockWriter(commit.requested, schema).cdc(changes, mode)
    log = LogFileName(name.file_id, commit.requested, 1, name.write_token, cdc=True)
    path = join_path(partition, str(log))
    commit.add_file(str(log), data, WriteStat(name.file_id, partition, path, size=len(data), is_log=True), beside=True)
    return {path: len(data)}


def _state(rows: pa.Table) -> State:
    return State(rows.column(KEY), rows.drop_columns(list(META_COLUMNS)))
