"""Mutants in the bytes of log blocks: framing, versions of the format, headers, and the content of each type."""

import pyarrow as pa

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files.log import block, content, kryo_deletes, reader, writer
from hudi_reference.files.log.block import BlockType, FormatVersion, HeaderKey


@mutant(breaks="LF-001")
def a_log_file_is_one_block(patch: Patch) -> None:
    """Takes the first block of a log file for all of it."""
    patch.edit(reader._walk, "offset = block.end", "offset = file.size")


@mutant(breaks="LF-009")
def numbers_with_the_low_byte_first(patch: Patch) -> None:
    """Reads the numbers inside a block as little-endian."""
    patch.edit(reader._Body._int, '"big"', '"little"')


@mutant(breaks="LF-010")
def the_footer_before_the_content(patch: Patch) -> None:
    """Looks for the footer before the content."""
    patch.edit(
        reader._Body.block,
        'content = self._skip(self._long(), "the content")\n    footer = self._map() if parts.has_footer else {}',
        'footer = self._map() if parts.has_footer else {}\n    content = self._skip(self._long(), "the content")',
    )


@mutant(breaks="LF-011")
def a_length_before_the_magic(patch: Patch) -> None:
    """Expects the length of the magic before it."""
    patch.set(reader, "MAGIC", b"\x06" + block.MAGIC)


@mutant(breaks="LF-013")
def the_block_length_counts_the_magic(patch: Patch) -> None:
    """Takes the block length for one in which the magic is counted."""
    patch.edit(reader._read_block, "_long_at(file, offset + len(MAGIC))", "_long_at(file, offset + len(MAGIC)) - len(MAGIC)")


@mutant(breaks="LF-014")
def no_version_but_its_own(patch: Patch) -> None:
    """Refuses every block of another version than the one that is written."""
    patch.edit(reader._Body.block, "version not in FORMAT_VERSIONS", "version != FORMAT_VERSION")


@mutant(breaks="LF-016")
def a_length_before_the_header(patch: Patch) -> None:
    """Expects eight bytes with the length of the header, as the text has them."""
    patch.edit(reader._Body.block, "header = self._map()", "header = (self._long(), self._map())[1]")


@mutant(breaks="LF-021")
def a_length_before_the_footer(patch: Patch) -> None:
    """Expects eight bytes with the length of the footer, as the text has them."""
    patch.edit(reader._Body.block, "footer = self._map()", "footer = (self._long(), self._map())[1]")


@mutant(breaks="LF-019")
def content_lengths_of_four_bytes(patch: Patch) -> None:
    """Takes four bytes for the length of the content."""
    patch.edit(reader._Body._long, "self._take(8,", "self._take(4,")


@mutant(breaks="LF-020")
def one_format_for_all_data_blocks(patch: Patch) -> None:
    """Decodes every data block as Avro, whatever its type says."""
    patch.edit(content.decode_rows, "block.kind is BlockType.PARQUET_DATA", "False")
    patch.edit(
        content._two_ints, "struct.unpack_from", "(1, 0) if block.kind is BlockType.PARQUET_DATA else struct.unpack_from"
    )


@mutant(breaks="LF-026")
def blocks_of_the_table_version(patch: Patch) -> None:
    """Writes the version of the table where the version of the log format belongs."""
    patch.edit(block.encode_block, "version, kind)", "8, kind)")


@mutant(breaks="LF-027")
def the_layout_of_version_1_for_all(patch: Patch) -> None:
    """Reads a block of version 0 as if it were one of version 1."""
    patch.item(block.FORMAT_VERSIONS, 0, FormatVersion(0, has_header=True, has_footer=True, has_trailer=True))


@mutant(breaks="LF-028")
def no_magic_in_version_0(patch: Patch) -> None:
    """Expects a block of version 0 to begin with its length."""
    patch.edit(
        reader._read_block,
        "    length = _long_at(file, offset + len(MAGIC))\n",
        "    if _int_at(file, offset + PREFIX) == 0:\n"
        "        return _corrupt(file, offset, path, 'a magic before version 0')\n"
        "    length = _long_at(file, offset + len(MAGIC))\n",
    )


@mutant(breaks="LF-029")
def version_0_without_content(patch: Patch) -> None:
    """Skips the content of blocks of version 0."""
    patch.edit(
        reader._Body.block,
        'content = self._skip(self._long(), "the content")',
        'content = self._skip(self._long(), "the content") if version else '
        '(self._skip(self._long(), "the content"), Extent(self.file, self.end, 0))[1]',
    )


@mutant(breaks="LF-030")
def version_0_reaches_to_the_end(patch: Patch) -> None:
    """Takes all the rest of a file for the content of a block of version 0."""
    patch.edit(
        reader._read_block,
        "end = offset + PREFIX + length",
        "end = file.size if _int_at(file, offset + PREFIX) == 0 else offset + PREFIX + length",
    )
    patch.edit(
        reader._Body.block,
        'self._skip(self._long(), "the content")',
        'self._skip(self._long() if version else (self._long(), self.end - self.position)[1], "the content")',
    )


@mutant(breaks="LF-031")
def version_0_is_always_avro(patch: Patch) -> None:
    """Takes every block of version 0 for an Avro data block."""
    patch.edit(reader._Body.block, "return Block(BlockType(kind)", "return Block(BlockType(kind if version else 3)")


@mutant(breaks="LF-032")
def a_header_in_version_0(patch: Patch) -> None:
    """Parses a header in blocks of version 0."""
    patch.edit(reader._Body.block, "self._map() if parts.has_header", "self._map() if True")


@mutant(breaks="LF-033")
def a_footer_in_version_0(patch: Patch) -> None:
    """Parses a footer in blocks of version 0."""
    patch.edit(reader._Body.block, "self._map() if parts.has_footer", "self._map() if True")


@mutant(breaks="LF-034")
def a_trailer_after_version_0(patch: Patch) -> None:
    """Skips eight bytes after the content of a block of version 0."""
    patch.edit(reader._wrong_length, "if not parts.has_trailer and", "if False and")


def _lost(key: HeaderKey) -> str:
    """The source of a header map that forgets one key."""
    return f"return {{k: v for k, v in entries.items() if k != {key.value}}}"


@mutant(breaks="LF-035")
def the_instant_of_a_block_is_lost(patch: Patch) -> None:
    """Forgets which instant a block names."""
    patch.edit(reader._Body._map, "return entries", _lost(HeaderKey.INSTANT_TIME))


@mutant(breaks="LF-039")
def any_command_is_a_rollback(patch: Patch) -> None:
    """Takes every command block for a rollback, whatever command it names, or none."""
    patch.edit(
        content.rollback_target,
        "_header(block, HeaderKey.COMMAND_BLOCK_TYPE)",
        "'0'",
    )


@mutant(breaks="LF-044")
def the_number_of_a_block_is_lost(patch: Patch) -> None:
    """Forgets by which attempt and as which of its blocks a block was written."""
    patch.edit(reader._Body._map, "return entries", _lost(HeaderKey.BLOCK_IDENTIFIER))


@mutant(breaks="LF-045")
def the_flag_of_partial_rows_is_lost(patch: Patch) -> None:
    """Forgets that the rows of a block have only some columns."""
    patch.edit(reader._Body._map, "return entries", _lost(HeaderKey.IS_PARTIAL))


@mutant(breaks="BLK-001")
def commands_are_deletes(patch: Patch) -> None:
    """Takes type 0 for the first type with content, a delete block."""
    patch.edit(reader._Body.block, "return Block(BlockType(kind)", "return Block(BlockType(kind or 1)")


@mutant(breaks="BLK-002")
def commands_have_content(patch: Patch) -> None:
    """Expects a command to have content."""
    patch.edit(
        reader._Body.block,
        'self._skip(self._long(), "the content")',
        'self._skip(self._long() or -(kind == 0), "the content")',
    )


@mutant(breaks="BLK-003")
def commands_without_headers(patch: Patch) -> None:
    """Passes over what the header of a command block says."""
    patch.edit(reader._Body.block, "Block(BlockType(kind), header,", "Block(BlockType(kind), header if kind else {},")


@mutant(breaks="BLK-007")
def deletes_begin_with_their_length(patch: Patch) -> None:
    """Reads the length of a delete block's content before its version."""
    patch.edit(content.stored_deletes, "version, length = _two_ints(block)", "length, version = _two_ints(block)")


@mutant(breaks="BLK-008")
def the_length_of_deletes_is_not_compared(patch: Patch) -> None:
    """Takes all bytes behind the length of the deletes for deletes, whatever it says."""
    patch.edit(content.stored_deletes, "length != len(body)", "False")


@mutant(breaks="BLK-010")
def deletes_are_avro_in_every_version(patch: Patch) -> None:
    """Decodes the deletes of the old content versions as Avro."""
    patch.item(content._DELETE_FORMS, 1, content._avro_deletes)
    patch.item(content._DELETE_FORMS, 2, content._avro_deletes)


@mutant(breaks="BLK-010")
def texts_met_before_are_not_found_again(patch: Patch) -> None:
    """Takes every reference to an earlier object for one to the object before it."""
    patch.edit(kryo_deletes._Input.object, "return self.objects[marker - 2]", "return self.objects[marker - 3]")


@mutant(breaks="BLK-014")
def the_reserved_type_is_a_type(patch: Patch) -> None:
    """Reads a stored block of the reserved type as any other."""
    patch.edit(reader._Body.block, " or kind == BlockType.CORRUPT", "")


@mutant(breaks="BLK-019")
def rows_begin_with_their_number(patch: Patch) -> None:
    """Reads the number of records of an Avro block before the version of its content."""
    patch.edit(content._avro_count, "version, count = _two_ints(block)", "count, version = _two_ints(block)")


@mutant(breaks="BLK-022")
def records_with_a_fingerprint(patch: Patch) -> None:
    """Expects the ten bytes of Avro's single-object encoding before each record."""
    patch.edit(content._decode_avro, "decode_datum(datum, parsed)", "decode_datum(datum[10:], parsed)")


@mutant(breaks="BLK-027")
def parquet_and_change_blocks_exchanged(patch: Patch) -> None:
    """Takes type 5 for change capture and type 6 for Parquet."""
    patch.edit(reader._Body.block, "return Block(BlockType(kind)", "return Block(BlockType({5: 6, 6: 5}.get(kind, kind))")


@mutant(breaks="BLK-028")
def parquet_behind_a_version_and_a_count(patch: Patch) -> None:
    """Expects eight bytes before the Parquet file, as an Avro block has them."""
    patch.edit(content._decode_parquet, "block.open_content()", "pa.BufferReader(pa.py_buffer(block.content[8:]))")


def without_nested_nulls(rows: pa.Table) -> pa.Table:
    """Rows whose structs are never null."""
    for place, column in enumerate(rows.columns):
        if pa.types.is_struct(column.type):
            whole = column.combine_chunks()
            children = [whole.field(child) for child in range(whole.type.num_fields)]
            rows = rows.set_column(place, rows.field(place), pa.StructArray.from_arrays(children, fields=list(whole.type)))
    return rows


@mutant(breaks="BLK-030")
def parquet_loses_nulls_of_structs(patch: Patch) -> None:
    """Makes a null struct of a Parquet block a struct of nulls."""
    plain = content._decode_parquet
    patch.set(content, "_decode_parquet", lambda found, *rest: without_nested_nulls(plain(found, *rest)))


@mutant(breaks="BLK-031")
def change_blocks_are_avro_blocks(patch: Patch) -> None:
    """Takes the type of change-capture blocks for that of Avro data blocks."""
    patch.item(BlockType._value2member_map_, BlockType.CDC_DATA.value, BlockType.AVRO_DATA)


@mutant(breaks="BLK-032")
def changes_in_a_framing_of_their_own(patch: Patch) -> None:
    """Expects the records of a change-capture block without the content version before their number."""
    patch.edit(content._two_ints, "struct.unpack_from(", "(3, 0) if block.kind is BlockType.CDC_DATA else struct.unpack_from(")


def _changed(patch: Patch, change: str) -> None:
    """Have every decoded record pass through an expression."""
    patch.edit(content._decode_avro, "decode_datum(datum, parsed)", f"(lambda row: {change})(decode_datum(datum, parsed))")


@mutant(breaks="BLK-033")
def updates_are_inserts(patch: Patch) -> None:
    """Takes an update for an insert."""
    _changed(patch, "{**row, 'op': row['op'].replace('u', 'i')} if 'op' in row else row")


@mutant(breaks="BLK-034")
def changes_without_keys(patch: Patch) -> None:
    """Leaves the key out of a change."""
    _changed(patch, "{**row, 'record_key': None} if 'record_key' in row else row")


@mutant(breaks="BLK-035")
def changes_without_the_row_before(patch: Patch) -> None:
    """Leaves out what a row was before its change."""
    _changed(patch, "{**row, 'before': None} if 'before' in row else row")


@mutant(breaks="BLK-036")
def changes_without_the_row_after(patch: Patch) -> None:
    """Leaves out what a row is after its change."""
    _changed(patch, "{**row, 'after': None} if 'after' in row else row")


@mutant(breaks="LF-008")
def the_chosen_format_of_blocks_is_ignored(patch: Patch) -> None:
    """Stores rows as Avro whatever format was chosen."""
    patch.edit(writer.BlockWriter.rows, "match block_format:", 'match "avro":')


@mutant(breaks="BLK-029")
def every_column_of_a_parquet_block_is_read(patch: Patch) -> None:
    """Inflates a whole Parquet block for every projection."""
    patch.edit(content._decode_parquet, "None if columns is None else", "None if columns is None or True else")


@mutant(breaks="BLK-015")
def damaged_blocks_vanish(patch: Patch) -> None:
    """Goes on behind damage as if nothing had been there."""
    patch.edit(
        reader._walk,
        "        yield block\n",
        "        if not isinstance(block, CorruptBlock):\n            yield block\n",
    )
