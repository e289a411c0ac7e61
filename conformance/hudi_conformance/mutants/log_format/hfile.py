"""Planted bugs in HFile log blocks: their type, their records, their order, look-ups in them."""

from hudi_conformance.mutants.harness.mutant import Bug, planted
from hudi_reference.files.hfile import cell, index, records
from hudi_reference.files.hfile.reader import HFile
from hudi_reference.files.log.block import BlockType


@planted(breaks="BLK-023")
def hfile_blocks_of_another_number(bug: Bug) -> None:
    """Takes blocks of type 5 for blocks of the reserved type, which say nothing."""
    bug.item(BlockType._value2member_map_, BlockType.HFILE_DATA.value, BlockType.COMMAND)


@planted(breaks="BLK-024")
def keys_of_hfiles_are_avro_texts(bug: Bug) -> None:
    """Takes the first byte of a key for its length, as if the key were stored as an Avro string."""
    bug.edit(cell._read_entry, "position + _LENGTHS.size : row_end", "position + _LENGTHS.size + 1 : row_end")


@planted(breaks="BLK-024")
def values_of_hfiles_keep_an_empty_key(bug: Bug) -> None:
    """Leaves the field `key` of a record as empty as it is stored."""
    bug.edit(records.decode_records, 'record.get(KEY_FIELD) == ""', "False")


@planted(breaks="BLK-025")
def keys_in_the_order_of_utf_16(bug: Bug) -> None:
    """Expects the keys of an HFile in the order of their UTF-16 units."""
    bug.edit(
        cell.read_entries, "entry.row < last", "entry.row.decode().encode('utf-16-be') < last.decode().encode('utf-16-be')"
    )


@planted(breaks="BLK-026")
def look_ups_miss_the_first_key_of_a_block(bug: Bug) -> None:
    """Looks a key up in the block before, where it is the first of its own."""
    bug.edit(HFile.get, "bisect_left(rows, first)", "bisect_left(rows, first + b'\\0')")


@planted(breaks="BLK-026")
def short_keys_of_the_index_exist(bug: Bug) -> None:
    """Takes the shortened keys of an index for damage."""
    bug.edit(index._row, '(b"", SUFFIX, MADE_UP_SUFFIX)', '(b"", SUFFIX)')
