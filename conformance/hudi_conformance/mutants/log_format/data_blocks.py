"""Mutants of the content of data blocks: Avro, HFile, Parquet, and change capture."""

import pyarrow as pa

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files.log import content
from hudi_reference.files.log.block import BlockType


@mutant(breaks="BLK-023")
def hfile_block_type_changed(patch: Patch) -> None:
    """Reads blocks of type 5 as blocks of the reserved type, which have no content."""
    patch.item(BlockType._value2member_map_, BlockType.HFILE_DATA.value, BlockType.COMMAND)


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
    """Reads change-capture blocks as Avro data blocks."""
    patch.item(BlockType._value2member_map_, BlockType.CDC_DATA.value, BlockType.AVRO_DATA)


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
