"""`hudi-conformance inspect`: what lies in a table, or in one of its log files."""

import itertools
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from hudi_conformance.commands.telling import telling_errors
from hudi_reference import open_table
from hudi_reference.files.log.block import Block, BlockType, HeaderKey
from hudi_reference.files.log.reader import read_blocks
from hudi_reference.files.positions import positions_of

#: What is said of a table before anything else, where its properties say it.
SUMMARY = {
    "hoodie.table.name": "table",
    "hoodie.table.type": "type",
    "hoodie.table.version": "version",
    "hoodie.table.recordkey.fields": "record key",
    "hoodie.table.partition.fields": "partition",
    "hoodie.table.ordering.fields": "ordering",
    "hoodie.table.precombine.field": "ordering",
    "hoodie.record.merge.mode": "merge mode",
}

#: Block types in the words of the contract.
BLOCKS = {
    BlockType.COMMAND: "command",
    BlockType.DELETE: "delete",
    BlockType.CORRUPT: "corrupt",
    BlockType.AVRO_DATA: "avro",
    BlockType.HFILE_DATA: "hfile",
    BlockType.PARQUET_DATA: "parquet",
    BlockType.CDC_DATA: "cdc",
}


def inspect(
    table: Annotated[str, typer.Argument(metavar="TABLE-OR-FILE", help="Folder or URI of a table, or one log file.")],
    as_json: Annotated[bool, typer.Option("--json", help="The same as JSON.")] = False,
) -> None:
    """Show the timeline and the file slices of a table, or the blocks of a log file."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 10_000)
    is_file = "://" not in table and Path(table).is_file()
    with telling_errors():
        found = blocks(Path(table)) if is_file else open_table(table).inspect()
    if as_json:
        typer.echo(json.dumps(found, indent=1, ensure_ascii=False))
    elif is_file:
        console.print(_block_table(found))
    else:
        _show_table(console, found)


def blocks(path: Path) -> dict[str, Any]:
    """The blocks of a log file, in the shape of the contract's inspection of a file."""
    return {
        "blocks": [
            {
                "offset": block.offset,
                "length": block.size,
                "type": BLOCKS[block.kind],
                "header": {_key(key): text for key, text in block.header.items()},
            }
            for block in read_blocks(memoryview(path.read_bytes()), path.name)
        ]
    }


def _key(number: int) -> str:
    """The name of a header key; a number for one that nobody knows."""
    return HeaderKey(number).name if number in set(HeaderKey) else str(number)


def _block_table(found: dict[str, Any]) -> Table:
    table = Table("offset", "bytes", "block", "header", box=None, header_style="bold")
    for column in table.columns[:2]:
        column.justify = "right"
    for block in found["blocks"]:
        header = "\n".join(f"{k} = {_readable(k, v)}" for k, v in block["header"].items())
        table.add_row(str(block["offset"]), str(block["length"]), block["type"], escape(header))
    return table


def _readable(key: str, text: str) -> str:
    """A header value for people: the bitmap of positions unfolded as far as it fits into a line."""
    if key != HeaderKey.RECORD_POSITIONS.name:
        return _short(text)
    found = positions_of(Block(BlockType.AVRO_DATA, {HeaderKey.RECORD_POSITIONS: text}, b""))
    first = ", ".join(str(position) for position in itertools.islice(found, 10))
    return f"{len(found)} rows: {first}{', ...' if len(found) > 10 else ''}"


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def _show_table(console: Console, found: dict[str, Any]) -> None:
    said = {word: text for key, word in SUMMARY.items() if (text := found["properties"].get(key))}
    for word, text in said.items():
        console.print(f"[dim]{word:<12}[/]{escape(text)}")
    console.print("\n[bold]timeline[/]")
    console.print(_timeline(found["timeline"]))
    console.print("\n[bold]file groups[/]")
    for partition, groups in sorted(found["file_groups"].items()):
        console.print(_groups(partition, groups))


def _timeline(timeline: dict[str, Any]) -> Table:
    """All instants by requested time; pending ones stand out."""
    table = Table("requested", "completed", "action", "", box=None, header_style="dim")
    rows = [(e["requested"], e["completion"], e["action"], e["where"]) for e in timeline["completed"]]
    rows += [(e["requested"], "", e["action"], e["state"].lower()) for e in timeline["pending"]]
    for requested, completion, action, note in sorted(rows):
        style = "yellow" if not completion else "dim" if note == "archived" else ""
        table.add_row(requested, completion, action, "" if note == "active" else note, style=style)
    return table


def _groups(partition: str, groups: dict[str, Any]) -> Tree:
    """The slices of each group, newest first; the one that a snapshot reads is marked."""
    tree = Tree(f"[bold]{escape(partition) or '(not partitioned)'}[/]")
    for file_id, group in sorted(groups.items()):
        replaced = f"  [dim]replaced by {group['replaced_by']}[/]" if group["replaced_by"] else ""
        branch = tree.add(f"{escape(file_id)}{replaced}")
        for part in sorted(group["slices"], key=lambda s: str(s["base_instant"]), reverse=True):
            is_latest = group["latest"] is not None and part["base_instant"] == group["latest"]["base_instant"]
            pending = "  [yellow]compaction pending[/]" if part.get("pending_compaction") else ""
            leaf = branch.add(f"slice {part['base_instant']}{'  [green]latest[/]' if is_latest else ''}{pending}")
            for name in [part["base_file"], *part["log_files"]]:
                if name is not None:
                    leaf.add(escape(name))
    return tree
