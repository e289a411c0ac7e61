"""Mutants in HFile log blocks: their type, their records, their order, look-ups in them."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files.hfile import cell, index, records
from hudi_reference.files.hfile.reader import HFile
from hudi_reference.files.log.block import BlockType


@mutant(breaks="BLK-023")
def hfile_blocks_of_another_number(patch: Patch) -> None:
    """Takes blocks of type 5 for blocks of the reserved type, which say nothing."""
    patch.item(BlockType._value2member_map_, BlockType.HFILE_DATA.value, BlockType.COMMAND)


@mutant(breaks="BLK-024")
def keys_of_hfiles_are_avro_texts(patch: Patch) -> None:
    """Takes the first byte of a key for its length, as if the key were stored as an Avro string."""
    patch.edit(cell._read_entry, "position + _LENGTHS.size : row_end", "position + _LENGTHS.size + 1 : row_end")


@mutant(breaks="BLK-024")
def values_of_hfiles_keep_an_empty_key(patch: Patch) -> None:
    """Leaves the field `key` of a record as empty as it is stored."""
    patch.edit(records.decode_records, 'record.get(KEY_FIELD) == ""', "False")


@mutant(breaks="BLK-025")
def keys_in_the_order_of_utf_16(patch: Patch) -> None:
    """Expects the keys of an HFile in the order of their UTF-16 units."""
    patch.edit(
        cell.read_entries, "entry.row < last", "entry.row.decode().encode('utf-16-be') < last.decode().encode('utf-16-be')"
    )


@mutant(breaks="BLK-026")
def look_ups_miss_the_first_key_of_a_block(patch: Patch) -> None:
    """Looks a key up in the block before, where it is the first of its own."""
    patch.edit(HFile.get, "bisect_left(rows, first)", "bisect_left(rows, first + b'\\0')")


@mutant(breaks="BLK-026")
def short_keys_of_the_index_exist(patch: Patch) -> None:
    """Takes the shortened keys of an index for damage."""
    patch.edit(index._row, '(b"", SUFFIX, MADE_UP_SUFFIX)', '(b"", SUFFIX)')
