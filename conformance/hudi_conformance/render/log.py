"""The page of a log file: a picture, a table of its blocks, then each block with headers, content and damage."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hudi_conformance.engines.reference.files import BLOCKS, delete, header_name, json_rows
from hudi_conformance.render.damage import show_corrupt, show_refused, show_undecoded
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
    shorten_line,
)
from hudi_conformance.render.parts.rows import Row, show_rows
from hudi_reference.errors import HudiError
from hudi_reference.files.hfile.reader import hfile_of
from hudi_reference.files.inspection.file_type import KnownFile
from hudi_reference.files.inspection.log import InspectedBlock, Positions, inspect_log
from hudi_reference.files.inspection.records import Records, is_metadata_schema
from hudi_reference.files.log.block import Block, BlockType, CorruptBlock, HeaderKey
from hudi_reference.schema.avro import META_COLUMNS, parse_schema

#: Colours of the block types: on their names, and behind them in the picture.
STYLES = {
    BlockType.AVRO_DATA: "green",
    BlockType.PARQUET_DATA: "green",
    BlockType.HFILE_DATA: "green",
    BlockType.CDC_DATA: "cyan",
    BlockType.DELETE: "magenta",
    BlockType.COMMAND: "yellow",
    BlockType.CORRUPT: "red",
}
_POSITION_RANGES = 8


@dataclass(frozen=True)
class _Seen:
    """A block with the shown part of its content, so that the blocks of a large file fit into memory."""

    found: InspectedBlock
    kind: str
    count: int | None
    first: tuple[Mapping[str, Any], ...]

    @property
    def block(self) -> Block:
        """The block itself."""
        return self.found.block

    @property
    def error(self) -> HudiError | None:
        """The error for which a reader must refuse the file, or None."""
        return self.found.refusal or self.found.error


def show_log(console: Console, file: KnownFile, most: int | None) -> HudiError | None:
    """The page of a log file with up to `most` rows and deletes of each block, None for none.

    Returns the error for which a reader must refuse the file, or None.
    """
    seen = [_seen(found, most or 0) for found in inspect_log(file.storage, file.path)]
    print_heading(console, file, _summary(seen))
    print_bar(console, list(_spans(seen)))
    if seen:
        console.print()
        console.print(_overview(seen))
    with file.storage.open(file.path) as source:
        is_damaged = any(one.found.is_corrupt or one.error is not None for one in seen)
        data = memoryview(source.read_buffer()).cast("B") if is_damaged else memoryview(b"")
        for number, one in enumerate(seen):
            _show_block(console, data, number, one, most)
    return next((one.error for one in seen if one.error is not None), None)


def _seen(found: InspectedBlock, most: int) -> _Seen:
    kind = "refused" if found.refusal is not None else BLOCKS[found.block.kind]
    light = replace(found, rows=None, deletes=None)
    try:
        count, first = _content_of(found, most)
    except HudiError as error:
        return _Seen(replace(light, error=error), kind, None, ())
    return _Seen(light, kind, count, tuple(first))


def _content_of(found: InspectedBlock, most: int) -> tuple[int | None, Sequence[Row]]:
    """How many rows or deletes there are, and the first of them."""
    if found.rows is not None:
        count = found.rows.num_rows if isinstance(found.rows, pa.Table) else len(found.rows)
        return count, _first_rows(found, most)
    if found.deletes is not None:
        return len(found.deletes), [_delete_row(delete(entry)) for entry in found.deletes[:most]]
    return None, ()


def _first_rows(found: InspectedBlock, most: int) -> Sequence[Row]:
    """Records of a metadata table in words, all others by column."""
    if isinstance(found.rows, Records) and is_metadata_schema(found.rows.schema):
        block = found.block
        hfile = hfile_of(block.content, block.path, block.content_offset)
        return describe_entries(hfile, found.rows.schema, block.path, most)
    return json_rows(found.rows, most)


def _delete_row(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The ordering value in one cell with its type."""
    ordering = entry["ordering"]
    value = None if ordering is None else f"{ordering['type']} {ordering['value']}"
    return {"key": entry["key"], "partition": entry["partition"], "ordering": value}


def _summary(seen: Sequence[_Seen]) -> str:
    corrupt = sum(one.found.is_corrupt and one.found.refusal is None for one in seen)
    refused = sum(one.found.refusal is not None for one in seen)
    undecoded = sum(one.found.error is not None for one in seen)
    whole = len(seen) - corrupt - refused
    parts = [format_count(whole, "block") if seen else "no blocks"]
    parts += [f"{corrupt} corrupt"] if corrupt else []
    parts += [f"{refused} to be refused"] if refused else []
    parts += [f"{undecoded} of them cannot be decoded"] if undecoded else []
    return ", ".join(parts)


def _spans(seen: Sequence[_Seen]) -> Iterator[Span]:
    for one in seen:
        wrong = one.found.is_corrupt or one.error is not None
        style = f"black on {STYLES[one.block.kind]}" if not wrong else "white on red"
        yield Span(one.block.offset, one.block.end, one.kind, style, wrong=wrong)


def _overview(seen: Sequence[_Seen]) -> Table:
    table = Table(box=None, pad_edge=False, header_style=DIM, padding=(0, 2, 0, 0))
    for name in ("  #", "offset", "0x", "bytes", "block", "instant", "holds"):
        table.add_column(name, justify="right" if name in ("  #", "offset", "0x", "bytes") else "left", no_wrap=True)
    for number, one in enumerate(seen):
        block = one.block
        kind = Text(one.kind, style=STYLES[block.kind])
        table.add_row(str(number), str(block.offset), f"{block.offset:x}", str(block.size), kind, block.instant, _holds(one))
    return table


def _holds(one: _Seen) -> Text:
    if one.found.is_corrupt:
        return Text("no whole block" if one.found.refusal is None else "not known", style=WRONG)
    if one.found.error is not None:
        return Text("cannot be decoded", style=WRONG)
    if one.block.kind is BlockType.COMMAND:
        return Text(f"undoes {one.block.header.get(HeaderKey.TARGET_INSTANT_TIME, '?')}")
    return Text(format_count(one.count or 0, "delete" if one.block.kind is BlockType.DELETE else "row"))


def _show_block(console: Console, data: memoryview, number: int, one: _Seen, most: int | None) -> None:
    block = one.block
    end = format_offset(block.end)
    console.print()
    name = Text(one.kind, style=f"bold {STYLES[block.kind]}")
    console.print(Text.assemble((f"block {number}  ", "bold"), name, (f"  bytes {format_offset(block.offset)} to {end}", DIM)))
    if one.found.refusal is not None:
        show_refused(console, data, one.found.refusal, block.offset, block.end)
        return
    if isinstance(block, CorruptBlock):
        show_corrupt(console, data, block)
        return
    print_facts(console, _headers(one), indent=4)
    if one.found.error is not None:
        show_undecoded(console, data, one.found.error, block)
    elif most is not None and one.count is not None:
        word = "delete" if block.kind is BlockType.DELETE else "row"
        show_rows(console, one.first, one.count, word, indent=4, whole=block.kind is BlockType.HFILE_DATA)


def _headers(one: _Seen) -> Iterator[Fact]:
    """The headers by key; positions together with the base file that they belong to."""
    header = one.block.header
    for key in sorted(header):
        if key == HeaderKey.SCHEMA:
            yield "SCHEMA", _schema(header[key])
        elif key == HeaderKey.RECORD_POSITIONS:
            yield "RECORD_POSITIONS", _positions(one.found.positions, header)
        elif key == HeaderKey.COMPACTED_BLOCK_TIMES:
            yield "COMPACTED_BLOCK_TIMES", header[key].replace(",", ", ")
        elif key != HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS:
            yield header_name(key), _meaning(key, header[key])
        elif HeaderKey.RECORD_POSITIONS not in header:
            yield "BASE_FILE_INSTANT", header[key]
    for key, text in sorted(one.block.footer.items()):
        yield f"footer {key}", shorten_line(text)
    yield "content", _content(one)


def _meaning(key: int, text: str) -> Text:
    meaning = (
        {(HeaderKey.COMMAND_BLOCK_TYPE, "0"): "  rollback"}.get((HeaderKey(key), text), "") if key in set(HeaderKey) else ""
    )
    return Text.assemble(shorten_line(text), (meaning, DIM))


def _content(one: _Seen) -> Text:
    version = one.found.content_version
    return Text(f"{format_count(one.block.content_length, 'byte')}{'' if version is None else f', version {version}'}")


def _schema(text: str) -> Text:
    """The record's name and its fields; the five meta columns by their number."""
    try:
        schema = parse_schema(text, "")
    except HudiError as error:
        return Text(f"{error.message}: {shorten_line(text)}", style=WRONG)
    names = [field["name"] for field in schema["fields"]]
    meta = sum(name in META_COLUMNS for name in names)
    data = ", ".join(name for name in names if name not in META_COLUMNS)
    return Text.assemble(f"{schema['name']}: ", (f"{format_count(meta, 'meta column')}, " if meta else "", DIM), data)


def _positions(found: Positions | None, header: Mapping[int, str]) -> Text:
    if found is None:
        return Text("cannot be decoded", style=WRONG)
    base = header.get(HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS)
    of = f"rows of the base file of {base}" if base else "of an unknown base file"
    return Text.assemble(f"{found.count:,}: {format_ranges(found)}", (f"  {of}", DIM))


def format_ranges(found: Positions) -> str:
    """`0-4, 7, 9-12, ...`: as many as fit into a line."""
    spans: list[list[int]] = []
    for position in found.first:
        if spans and position == spans[-1][1] + 1:
            spans[-1][1] = position
        else:
            spans.append([position, position])
    shown = [str(a) if a == b else f"{a}-{b}" for a, b in spans[:_POSITION_RANGES]]
    is_whole = len(spans) <= _POSITION_RANGES and found.count == len(found.first)
    return ", ".join(shown if is_whole else [*shown, f"... up to {found.last}"])
