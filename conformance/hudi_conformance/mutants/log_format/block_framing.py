"""Mutants of the framing of log blocks: magic, lengths, versions, headers, footers, trailers."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files.log import block, content, reader
from hudi_reference.files.log.block import FormatVersion


@mutant(breaks="LF-011")
def length_before_magic(patch: Patch) -> None:
    """Expects the length of the magic before it."""
    patch.set(reader, "MAGIC", b"\x06" + block.MAGIC)


@mutant(breaks=("LF-014", "LF-027"))
def every_block_version_accepted(patch: Patch) -> None:
    """Reads a block of an unknown version as version 1."""
    known = "(version := version if version in FORMAT_VERSIONS else 1) > 1"
    patch.edit(reader._BlockParser.block, "version not in FORMAT_VERSIONS", known)


@mutant(breaks="LF-020")
def data_block_type_ignored(patch: Patch) -> None:
    """Decodes every data block as Avro, whatever its type is."""
    patch.edit(content.decode_rows, "block.kind is BlockType.PARQUET_DATA", "False")
    patch.edit(
        content._version_and_length,
        "struct.unpack_from",
        "(1, 0) if block.kind is BlockType.PARQUET_DATA else struct.unpack_from",
    )


@mutant(breaks="LF-027")
def version_0_read_as_version_1(patch: Patch) -> None:
    """Reads a block of version 0 as version 1."""
    patch.item(block.FORMAT_VERSIONS, 0, FormatVersion(0, shortest=32, has_header=True, has_footer=True, has_trailer=True))


@mutant(breaks="LF-030")
def version_0_content_extends_to_end(patch: Patch) -> None:
    """Reads the rest of a file as the content of a block of version 0."""
    patch.edit(
        reader._read_block,
        "end = offset + PREFIX + length",
        "end = file.size if _number_at(file, offset + PREFIX, 4) == 0 else offset + PREFIX + length",
    )
    patch.edit(
        reader._BlockParser.block,
        'self._skip(self._number(8), "the content")',
        'self._skip(self._number(8) if version else (self._number(8), self.end - self.position)[1], "the content")',
    )
