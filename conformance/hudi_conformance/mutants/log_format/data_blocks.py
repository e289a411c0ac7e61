"""Mutants of the content of data blocks: Avro, HFile, Parquet, and change capture."""

import pyarrow as pa

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files.hfile import cell, index, records
from hudi_reference.files.hfile.reader import HFile
from hudi_reference.files.log import content, reader
from hudi_reference.files.log.block import BlockType
from hudi_reference.files.log.fast import decode_columns as blocks


@mutant(breaks="BLK-019")
def record_count_before_content_version(patch: Patch) -> None:
    """Reads the number of records of an Avro block before the version of its content."""
    patch.edit(content._avro_count, "version, count = _two_ints(block)", "count, version = _two_ints(block)")


@mutant(breaks="BLK-020")
def many_rows_last_record_dropped(patch: Patch) -> None:
    """Omits the last record of a long block."""
    patch.edit(blocks.decode_avro_columns, "return rows", "return rows.slice(0, count - 1)")


@mutant(breaks="BLK-020")
def last_record_of_block_dropped(patch: Patch) -> None:
    """Stops before the last record of an Avro block."""
    patch.edit(
        content._framed,
        "yield data[position : position + length]",
        "yield from [data[position : position + length]] * (_ + 1 < max(count, 2))",
    )


@mutant(breaks="BLK-021")
def record_lengths_of_eight_bytes(patch: Patch) -> None:
    """Writes eight bytes before each record, as the text says."""
    patch.edit(content._encode_avro, '">i"', '">q"')


@mutant(breaks="BLK-022")
def records_with_schema_fingerprint(patch: Patch) -> None:
    """Expects the ten bytes of Avro's single-object encoding before each record."""
    patch.edit(content._decode_avro, "decode_datum(datum, parsed)", "decode_datum(datum[10:], parsed)")


@mutant(breaks="BLK-023")
def hfile_block_type_changed(patch: Patch) -> None:
    """Takes blocks of type 5 for blocks of the reserved type, which have no content."""
    patch.item(BlockType._value2member_map_, BlockType.HFILE_DATA.value, BlockType.COMMAND)


@mutant(breaks="BLK-024")
def hfile_keys_as_avro_strings(patch: Patch) -> None:
    """Takes the first byte of a key for its length, as if the key were stored as an Avro string."""
    patch.edit(cell._read_entry, "position + _LENGTHS.size : row_end", "position + _LENGTHS.size + 1 : row_end")


@mutant(breaks="BLK-024")
def hfile_key_field_not_restored(patch: Patch) -> None:
    """Leaves the field `key` of a record empty as it is stored."""
    patch.edit(records.decode_records, 'record.get(KEY_FIELD) == ""', "False")


@mutant(breaks="BLK-025")
def hfile_keys_in_utf_16_order(patch: Patch) -> None:
    """Expects the keys of an HFile in the order of their UTF-16 units."""
    patch.edit(
        cell.read_entries, "entry.row < last", "entry.row.decode().encode('utf-16-be') < last.decode().encode('utf-16-be')"
    )


@mutant(breaks="BLK-026")
def hfile_lookup_misses_first_key(patch: Patch) -> None:
    """Looks a key up in the preceding block if it is the first key of its own."""
    patch.edit(HFile.get, "bisect_left(rows, first)", "bisect_left(rows, first + b'\\0')")


@mutant(breaks="BLK-026")
def hfile_index_keys_must_exist(patch: Patch) -> None:
    """Rejects the shortened keys of an index as corrupt."""
    patch.edit(index._row, '(b"", SUFFIX, MADE_UP_SUFFIX)', '(b"", SUFFIX)')


@mutant(breaks="BLK-027")
def parquet_and_cdc_block_types_swapped(patch: Patch) -> None:
    """Takes type 5 for change capture and type 6 for Parquet."""
    patch.edit(
        reader._BlockParser.block, "return Block(BlockType(kind)", "return Block(BlockType({5: 6, 6: 5}.get(kind, kind))"
    )


@mutant(breaks="BLK-028")
def parquet_block_with_avro_prefix(patch: Patch) -> None:
    """Expects eight bytes before the Parquet file, as in an Avro block."""
    patch.edit(content._decode_parquet, "block.open_content()", "pa.BufferReader(pa.py_buffer(block.content[8:]))")


@mutant(breaks="BLK-029")
def parquet_block_projection_ignored(patch: Patch) -> None:
    """Decompresses all columns of a Parquet block for every projection."""
    patch.edit(content._decode_parquet, "None if columns is None else", "None if columns is None or True else")


def without_nested_nulls(rows: pa.Table) -> pa.Table:
    """The rows with structs of nulls in place of null structs."""
    for place, column in enumerate(rows.columns):
        if pa.types.is_struct(column.type):
            whole = column.combine_chunks()
            children = [whole.field(child) for child in range(whole.type.num_fields)]
            rows = rows.set_column(place, rows.field(place), pa.StructArray.from_arrays(children, fields=list(whole.type)))
    return rows


@mutant(breaks="BLK-030")
def parquet_null_structs_lost(patch: Patch) -> None:
    """Reads a null struct of a Parquet block as a struct of nulls."""
    plain = content._decode_parquet
    patch.set(content, "_decode_parquet", lambda found, *rest: without_nested_nulls(plain(found, *rest)))


@mutant(breaks="BLK-031")
def cdc_block_type_of_avro(patch: Patch) -> None:
    """Takes the type of change-capture blocks for that of Avro data blocks."""
    patch.item(BlockType._value2member_map_, BlockType.CDC_DATA.value, BlockType.AVRO_DATA)


@mutant(breaks="BLK-032")
def cdc_block_without_content_version(patch: Patch) -> None:
    """Expects the records of a change-capture block without the content version before their number."""
    patch.edit(content._two_ints, "struct.unpack_from(", "(3, 0) if block.kind is BlockType.CDC_DATA else struct.unpack_from(")


def _changed(patch: Patch, change: str) -> None:
    """Apply an expression to every decoded record."""
    patch.edit(content._decode_avro, "decode_datum(datum, parsed)", f"(lambda row: {change})(decode_datum(datum, parsed))")


@mutant(breaks="BLK-033")
def cdc_updates_read_as_inserts(patch: Patch) -> None:
    """Reads an update as an insert."""
    _changed(patch, "{**row, 'op': row['op'].replace('u', 'i')} if 'op' in row else row")


@mutant(breaks="BLK-034")
def cdc_without_keys(patch: Patch) -> None:
    """Omits the key of a change."""
    _changed(patch, "{**row, 'record_key': None} if 'record_key' in row else row")


@mutant(breaks="BLK-035")
def cdc_without_before_image(patch: Patch) -> None:
    """Omits the row before its change."""
    _changed(patch, "{**row, 'before': None} if 'before' in row else row")


@mutant(breaks="BLK-036")
def cdc_without_after_image(patch: Patch) -> None:
    """Omits the row after its change."""
    _changed(patch, "{**row, 'after': None} if 'after' in row else row")
