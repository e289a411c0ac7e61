"""Mutants of the framing of log blocks: magic, lengths, versions, headers, footers, trailers."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files.log import block, content, reader
from hudi_reference.files.log.block import FormatVersion
from hudi_reference.query.log_scanner import LogScanner


@mutant(breaks="LF-009")
def block_numbers_little_endian(patch: Patch) -> None:
    """Reads the numbers inside a block as little-endian."""
    patch.edit(reader._BlockParser._int, '"big"', '"little"')


@mutant(breaks="LF-010")
def footer_before_content(patch: Patch) -> None:
    """Expects the footer before the content."""
    patch.edit(
        reader._BlockParser.block,
        'content = self._skip(self._long(), "the content")\n    footer = self._map() if parts.has_footer else {}',
        'footer = self._map() if parts.has_footer else {}\n    content = self._skip(self._long(), "the content")',
    )


@mutant(breaks="LF-011")
def length_before_magic(patch: Patch) -> None:
    """Expects the length of the magic before it."""
    patch.set(reader, "MAGIC", b"\x06" + block.MAGIC)


@mutant(breaks="LF-012")
def magic_not_compared(patch: Patch) -> None:
    """Skips the six bytes of the magic without comparing them."""
    patch.edit(reader._read_block, "(found := bytes(file.read(offset, len(MAGIC)))) != MAGIC", "found := None")


@mutant(breaks="LF-013")
def block_length_includes_magic(patch: Patch) -> None:
    """Takes the magic for included in the block length."""
    patch.edit(reader._read_block, "_long_at(file, offset + len(MAGIC))", "_long_at(file, offset + len(MAGIC)) - len(MAGIC)")


@mutant(breaks=("LF-014", "LF-027"))
def every_block_version_accepted(patch: Patch) -> None:
    """Reads a block of an unknown version as version 1."""
    known = "(version := version if version in FORMAT_VERSIONS else 1) > 1"
    patch.edit(reader._BlockParser.block, "version not in FORMAT_VERSIONS", known)


@mutant(breaks="LF-014")
def current_block_version_only(patch: Patch) -> None:
    """Refuses every block of another version than the one that is written."""
    patch.edit(reader._BlockParser.block, "version not in FORMAT_VERSIONS", "version != FORMAT_VERSION")


@mutant(breaks=("LF-015", "BLK-018"))
def block_types_numbered_from_1(patch: Patch) -> None:
    """Numbers block types from 1, as the text says."""
    patch.edit(block.encode_block, "version, kind)", "version, kind + 1)")


@mutant(breaks="LF-016")
def length_before_header(patch: Patch) -> None:
    """Expects eight bytes with the length of the header, as the text says."""
    patch.edit(reader._BlockParser.block, "header = self._map()", "header = (self._long(), self._map())[1]")


@mutant(breaks=("LF-017", "LF-018"))
def header_length_in_characters(patch: Patch) -> None:
    """Reads the length of a header text as a number of characters."""
    patch.edit(
        reader._BlockParser._map,
        'text = self._take(self._int(), f"the value of header {key}")',
        "size = self._int(); "
        "text = str(self.file.read(self.position, self.end - self.position), errors='replace')[:size].encode(); "
        "self.position += len(text)",
    )


@mutant(breaks="LF-019")
def content_length_of_four_bytes(patch: Patch) -> None:
    """Takes four bytes for the length of the content."""
    patch.edit(reader._BlockParser._long, "self._take(8,", "self._take(4,")


@mutant(breaks="LF-020")
def data_block_type_ignored(patch: Patch) -> None:
    """Decodes every data block as Avro, whatever its type is."""
    patch.edit(content.decode_rows, "block.kind is BlockType.PARQUET_DATA", "False")
    patch.edit(
        content._two_ints, "struct.unpack_from", "(1, 0) if block.kind is BlockType.PARQUET_DATA else struct.unpack_from"
    )


@mutant(breaks="LF-021")
def length_before_footer(patch: Patch) -> None:
    """Expects eight bytes with the length of the footer, as the text says."""
    patch.edit(reader._BlockParser.block, "footer = self._map()", "footer = (self._long(), self._map())[1]")


@mutant(breaks="LF-022")
def footer_not_read(patch: Patch) -> None:
    """Reads four bytes of the footer and expects the trailer after them."""
    patch.edit(reader._BlockParser.block, "self._map() if parts.has_footer else {}", "self._int() and {} or {}")


@mutant(breaks=("LF-023", "LF-024"))
def trailer_repeats_leading_length(patch: Patch) -> None:
    """Writes the leading length into the trailer."""
    patch.edit(block.encode_block, "length + len(MAGIC))", "length)")


@mutant(breaks=("LF-024", "BLK-015"))
def trailer_not_compared(patch: Patch) -> None:
    """Does not compare the trailer with the leading length."""
    patch.edit(reader._wrong_length, "trailer != length + len(MAGIC)", "False")


@mutant(breaks=("LF-025", "BLK-016"))
def uncommitted_corrupt_block_fails(patch: Patch) -> None:
    """Fails on the bytes that a crashed append left after the committed blocks."""
    patch.edit(LogScanner._file_blocks, "elif not spans or any(", "elif True or any(")


@mutant(breaks="LF-026")
def block_version_is_table_version(patch: Patch) -> None:
    """Writes the version of the table in place of the version of the log format."""
    patch.edit(block.encode_block, "version, kind)", "8, kind)")


@mutant(breaks="LF-027")
def version_0_read_as_version_1(patch: Patch) -> None:
    """Reads a block of version 0 as version 1."""
    patch.item(block.FORMAT_VERSIONS, 0, FormatVersion(0, has_header=True, has_footer=True, has_trailer=True))


@mutant(breaks="LF-028")
def version_0_without_magic(patch: Patch) -> None:
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
        reader._BlockParser.block,
        'content = self._skip(self._long(), "the content")',
        'content = self._skip(self._long(), "the content") if version else '
        '(self._skip(self._long(), "the content"), Extent(self.file, self.end, 0))[1]',
    )


@mutant(breaks="LF-030")
def version_0_content_extends_to_end(patch: Patch) -> None:
    """Takes the rest of a file for the content of a block of version 0."""
    patch.edit(
        reader._read_block,
        "end = offset + PREFIX + length",
        "end = file.size if _int_at(file, offset + PREFIX) == 0 else offset + PREFIX + length",
    )
    patch.edit(
        reader._BlockParser.block,
        'self._skip(self._long(), "the content")',
        'self._skip(self._long() if version else (self._long(), self.end - self.position)[1], "the content")',
    )


@mutant(breaks="LF-031")
def version_0_is_always_avro(patch: Patch) -> None:
    """Takes every block of version 0 for an Avro data block."""
    patch.edit(reader._BlockParser.block, "return Block(BlockType(kind)", "return Block(BlockType(kind if version else 3)")


@mutant(breaks="LF-032")
def version_0_with_header(patch: Patch) -> None:
    """Parses a header in blocks of version 0."""
    patch.edit(reader._BlockParser.block, "self._map() if parts.has_header", "self._map() if True")


@mutant(breaks="LF-033")
def version_0_with_footer(patch: Patch) -> None:
    """Parses a footer in blocks of version 0."""
    patch.edit(reader._BlockParser.block, "self._map() if parts.has_footer", "self._map() if True")


@mutant(breaks="LF-034")
def version_0_with_trailer(patch: Patch) -> None:
    """Skips eight bytes after the content of a block of version 0."""
    patch.edit(reader._wrong_length, "if not parts.has_trailer and", "if False and")
