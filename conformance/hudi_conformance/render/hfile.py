"""The page of an HFile: a picture, its blocks, index, meta blocks and file info, the first entries, look-ups."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from rich.console import Console
from rich.table import Table
from rich.text import Text

from hudi_conformance.engines.reference.files import compression, look_up
from hudi_conformance.engines.support.avro_values import canonical_record
from hudi_conformance.render.bloom import show_bloom
from hudi_conformance.render.damage import show_bytes, show_fields
from hudi_conformance.render.metadata_records import describe_entries
from hudi_conformance.render.parts.bar import Span, print_bar
from hudi_conformance.render.parts.layout import (
    DIM,
    WRONG,
    Fact,
    format_count,
    format_offset,
    print_facts,
    print_heading,
    print_title,
    shorten_line,
)
from hudi_conformance.render.parts.rows import Row, show_rows
from hudi_reference.errors import HudiError
from hudi_reference.files.hfile.block import Block, BlockType
from hudi_reference.files.hfile.cell import Entry
from hudi_reference.files.hfile.reader import HFile, open_hfile
from hudi_reference.files.hfile.records import decode_records
from hudi_reference.files.hfile.trailer import MAJOR_VERSION, NO_OFFSET
from hudi_reference.files.hfile.trailer import SIZE as TRAILER_SIZE
from hudi_reference.files.hfile.varint import Place
from hudi_reference.files.inspection.block_scan import Piece, scan_blocks
from hudi_reference.files.inspection.file_type import KnownFile
from hudi_reference.files.inspection.records import is_metadata_schema
from hudi_reference.schema.avro import AvroSchema, parse_schema

STYLES = {
    BlockType.DATA: "green",
    BlockType.META: "cyan",
    BlockType.FILE_INFO: "blue",
    BlockType.ROOT_INDEX: "yellow",
    BlockType.LEAF_INDEX: "yellow",
    BlockType.INTERMEDIATE_INDEX: "yellow",
}
WORDS = {
    BlockType.DATA: "data",
    BlockType.META: "meta",
    BlockType.FILE_INFO: "file info",
    BlockType.ROOT_INDEX: "root index",
    BlockType.LEAF_INDEX: "leaf index",
    BlockType.INTERMEDIATE_INDEX: "inner index",
}
#: Entries of the index that are shown.
_INDEX_ENTRIES = 10
#: Number of damaged pieces that are shown in detail.
_PIECES = 5


def show_hfile(
    console: Console, file: KnownFile, most: int, keys: Sequence[str] | None, prefix: str | None
) -> HudiError | None:
    """Print an HFile with its first `most` entries and look-ups.

    Returns the error for which a reader must refuse it, or None.
    """
    blocks: list[Block] = []
    try:
        found = open_hfile(file.storage, file.path)
        blocks += found.blocks()
        count = sum(1 for _ in found)
    except HudiError as error:
        print_heading(console, file, "damaged or not supported")
        _show_damaged(console, file, error)
        return error
    print_heading(
        console,
        file,
        f"{format_count(count, 'entry')}, {compression(found)}, {format_count(found.trailer.data_index_levels, 'index level')}",
    )
    print_bar(console, list(_spans(blocks, file.size)))
    print_title(console, "blocks")
    console.print(_blocks(blocks))
    print_title(console, "trailer", format_offset(file.size - TRAILER_SIZE))
    print_facts(console, _trailer(found))
    print_title(console, "index", format_count(len(found.root), "entry"))
    _show_index(console, found)
    print_title(console, "file info")
    print_facts(console, ((name, _info(name, value)) for name, value in sorted(found.info.items())))
    for name in found.metas:
        _show_meta(console, found, name, keys)
    schema = _schema(found)
    print_title(console, "entries")
    show_rows(console, entry_rows(found, schema, found.place, most), count, "entry", whole=schema is not None)
    if keys is not None or prefix is not None:
        _show_found(console, found, schema, keys, prefix)
    return None


def _show_damaged(console: Console, file: KnownFile, error: HudiError) -> None:
    """A picture by the headers of the blocks, the error, and the block of the error."""
    with file.storage.open(file.path) as source:
        data = memoryview(source.read_buffer()).cast("B") if file.size else memoryview(b"")
        pieces = list(scan_blocks(data))
        at = error.offset if error.offset is not None else -1
        wrong = [piece for piece in pieces if piece.is_wrong] or [piece for piece in pieces if piece.offset <= at < piece.end]
        print_bar(console, [_piece_span(piece, piece in wrong) for piece in pieces])
        show_error(console, error)
        for piece in wrong[:_PIECES]:
            print_title(console, _piece_name(piece), f"bytes {format_offset(piece.offset)} to {format_offset(piece.end)}")
            show_fields(console, data, piece.fields)
            if not piece.is_wrong:
                show_bytes(console, data, [(at, min(len(data), max(at + 1, piece.fields[0].end)))])
        if len(wrong) > _PIECES:
            console.print(Text(f"  ... {format_count(len(wrong) - _PIECES, 'more piece')}", style=DIM))


def show_error(console: Console, error: HudiError) -> None:
    """The error of a file, its rule, and what a reader must do."""
    lines: list[Fact] = [("error", Text(f"{type(error).__name__}: {error.message}", style=WRONG))]
    lines += [(word, Text(text)) for word, text in (("found", error.found), ("expected", error.expected)) if text]
    rule = "" if error.rule is None else f"{error.rule}  hudi-conformance explain {error.rule}"
    lines += [("rule", rule), ("reader", "refuse the file"), ("remedy", error.remedy or "")]
    print_title(console, "damage", "" if error.offset is None else f"found at byte {format_offset(error.offset)}")
    print_facts(console, ((label, text) for label, text in lines if text))


def _piece_name(piece: Piece) -> str:
    return WORDS[piece.kind] if piece.kind else "no block" if piece.is_wrong else "trailer"


def _piece_span(piece: Piece, wrong: bool) -> Span:
    style = f"black on {STYLES[piece.kind] if piece.kind else 'white'}"
    return Span(piece.offset, piece.end, _piece_name(piece), "white on red" if wrong else style, wrong)


def _spans(blocks: Sequence[Block], size: int) -> Iterator[Span]:
    for block in blocks:
        yield Span(block.offset, block.offset + block.size, WORDS[block.kind], f"black on {STYLES[block.kind]}")
    yield Span(size - TRAILER_SIZE, size, "trailer", "black on white")


def _blocks(blocks: Sequence[Block]) -> Table:
    table = Table(box=None, pad_edge=False, header_style=DIM, padding=(0, 2, 0, 0))
    for name in ("    offset", "0x", "bytes", "block", "payload", "previous", "checksum"):
        table.add_column(name, justify="left" if name in ("block", "checksum") else "right", no_wrap=True)
    for block in blocks:
        previous = "" if block.previous < 0 else str(block.previous)
        kind = Text(WORDS[block.kind], style=STYLES[block.kind]).append(f" {block.kind.value.decode()}", style=DIM)
        table.add_row(
            str(block.offset), f"{block.offset:x}", str(block.size), kind, str(len(block.payload)), previous,
            block.checksum.name if block.checksum else "not checked",
        )  # fmt: skip
    return table


def _trailer(found: HFile) -> Iterable[Fact]:
    """The fields of the trailer, offsets also hexadecimal."""
    trailer = found.trailer
    writer = {0: "newer writer of Apache Hudi", 3: "HBase"}.get(trailer.minor_version, "unknown writer")
    yield "version", Text.assemble(f"{MAJOR_VERSION}.{trailer.minor_version}", (f"  {writer}", DIM))
    yield "compression", f"{trailer.compression} {compression(found)}"
    yield "entries", f"{trailer.entry_count:,}"
    yield "index levels", str(trailer.data_index_levels)
    yield "index entries", f"data {trailer.data_index_count}, meta {trailer.meta_index_count}"
    yield "load on open", format_offset(trailer.load_on_open_offset)
    yield "file info", format_offset(trailer.file_info_offset)
    first, last = trailer.first_data_block, trailer.last_data_block
    yield "data blocks", "none" if first == NO_OFFSET else f"first {format_offset(first)}, last {format_offset(last)}"
    yield "uncompressed", f"index {trailer.data_index_size:,}, all {trailer.total_size:,} bytes"
    yield "comparator", trailer.comparator.decode("utf-8", "backslashreplace")


def _show_index(console: Console, found: HFile) -> None:
    table = Table.grid(padding=(0, 2))
    for entry in found.root[:_INDEX_ENTRIES]:
        table.add_row(
            Text(f"  {shorten_line(_text(entry.row))}"),
            Text(f"block {format_offset(entry.offset)}, {entry.size} bytes", style=DIM),
        )
    console.print(table)
    if len(found.root) > _INDEX_ENTRIES:
        console.print(Text(f"  ... {format_count(len(found.root) - _INDEX_ENTRIES, 'more entry')}", style=DIM))


def _info(name: str, value: bytes) -> Text:
    """Numbers as numbers, the schema by the name of its record, the rest as text."""
    if name in ("KEY_VALUE_VERSION", "hfile.AVG_KEY_LEN", "hfile.AVG_VALUE_LEN", "MAX_MEMSTORE_TS_KEY", "hfile.CREATE_TIME_TS"):
        return Text(str(int.from_bytes(value, "big", signed=True)))
    if name == "schema":
        return Text.assemble(shorten_line(_text(value)), (f"  {len(value):,} bytes", DIM))
    if name == "hfile.LASTKEY":
        row = value[2 : 2 + int.from_bytes(value[:2], "big")]
        return Text.assemble(shorten_line(_text(row)), (f"  {value.hex()[:80]}", DIM))
    return Text(shorten_line(_text(value)))


def _show_meta(console: Console, found: HFile, name: str, keys: Sequence[str] | None) -> None:
    content = found.meta(name) or b""
    print_title(console, f"meta block {name}", format_count(len(content), "byte"))
    if name == "bloomFilter":
        kind = found.info.get("bloomFilterTypeCode", b"SIMPLE").decode("utf-8", "backslashreplace")
        show_bloom(console, content.decode("ascii", "backslashreplace"), kind, found.place.path, keys)


def _schema(found: HFile) -> AvroSchema | None:
    """The schema of the values, or None."""
    try:
        return parse_schema(found.info.get("schema", b""), found.place.path)
    except HudiError:
        return None


def entry_rows(entries: Iterable[Entry], schema: AvroSchema | None, place: Place, most: int) -> list[Row]:
    """The first entries: in words those of a metadata table, by column other records; as hex what is no record."""
    first = list(islice(entries, most))
    if schema is not None and is_metadata_schema(schema):
        return describe_entries(first, schema, place.path, most)
    try:
        records = None if schema is None else list(decode_records(first, schema, place, named=True))
    except HudiError:
        records = None
    if schema is None or records is None:
        return [{"key": _text(e.row), "bytes": str(len(e.value)), "value": e.value.hex()} for e in first]
    return [{"(key)": _text(e.row), **canonical_record(r, schema)} for e, r in zip(first, records, strict=True)]


def _show_found(
    console: Console, found: HFile, schema: AvroSchema | None, keys: Sequence[str] | None, prefix: str | None
) -> None:
    entries = look_up(found, keys or (), prefix)
    print_title(console, "found", format_count(len(entries), "entry"))
    show_rows(console, entry_rows(entries, schema, found.place, len(entries)), len(entries), "entry", whole=schema is not None)
    there = {entry.row for entry in entries}
    for key in keys or ():
        if key.encode("utf-8", "surrogatepass") not in there:
            console.print(Text(f"  {key}: not in the file", style="yellow"))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
