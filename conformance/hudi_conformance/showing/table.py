"""A table for people: what it says of itself, its timeline, the slices of its file groups."""

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

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


def show_table(console: Console, found: dict[str, Any]) -> None:
    """The page of a table."""
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
