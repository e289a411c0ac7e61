"""The values of a column in one data file, as it is stored: those of a base file, or of the data blocks of a log file."""

from functools import partial

import pyarrow as pa

from hudi_reference.files.log.block import BlockType
from hudi_reference.files.log.content import decode_rows
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.names import LogFileName, parse_data_file_name
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.query.slice_reader import SliceReader, partial_columns

_DATA = (BlockType.AVRO_DATA, BlockType.PARQUET_DATA, BlockType.HFILE_DATA)


def values_in_file(reader: SliceReader, partition: str, name: str, column: str) -> pa.ChunkedArray:
    """The values of a column in the file of this name; of a log file those of all rows in it, merged or not.

    Blocks of partial updates without the column have none, and neither have deletes.
    """
    field = reader.schema.field(column)
    parsed = parse_data_file_name(name)
    if not isinstance(parsed, LogFileName):
        file_slice = FileSlice(partition, "" if parsed is None else parsed.file_id, "", name)
        return reader.read(file_slice, [column], logs=False).column(column)
    chunks: list[pa.Array] = []
    for block in read_log_file(reader.storage, FileSlice(partition, parsed.file_id, "").path(name)):
        names = partial_columns(block) if block.kind in _DATA else frozenset[str]()
        if names is None or column in names:
            rows = reader.conformed(partial(decode_rows, block), pa.schema([field]), block.instant, block.path)
            chunks += rows.column(column).chunks
    return pa.chunked_array(chunks, field.type)
