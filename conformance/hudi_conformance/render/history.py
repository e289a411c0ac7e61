"""The page of a manifest (live files) or of a level file (actions with summaries)."""

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.text import Text

from hudi_conformance.engines.reference.history import history_file
from hudi_conformance.render.hfile import show_error
from hudi_conformance.render.parts.layout import (
    DIM,
    Fact,
    format_count,
    print_facts,
    print_title,
    readable_instant,
    shorten_line,
)
from hudi_conformance.render.parts.rows import Row, show_rows
from hudi_reference.errors import HudiError
from hudi_reference.storage import Storage

#: Default number of actions.
MOST = 20


def show_history(console: Console, storage: Storage, folder: str, name: str, most: int | None) -> HudiError | None:
    """Print a file of the history folder. Returns the error for which a reader must refuse it, or None."""
    info = storage.head(f"{folder}/{name}")
    console.print(Text(name, style="bold"), overflow="fold")
    size = f" · {format_count(0 if info is None else info.size, 'byte')}"
    try:
        found = history_file(storage, folder, name)
    except HudiError as error:
        console.print(Text.assemble(("timeline history", "cyan"), size, " · damaged"))
        show_error(console, error)
        return error
    if found["format"] == "manifest":
        console.print(Text.assemble(("manifest", "cyan"), size, f" · {format_count(len(found['files']), 'live file')}"))
        _show_manifest(console, storage, folder, found["files"])
    else:
        actions = format_count(len(found["instants"]), "action")
        console.print(Text.assemble(("history file", "cyan"), size, f" · level {found['level']} · {actions}"))
        console.print()
        print_facts(console, _range(found))
        print_title(console, "actions")
        show_rows(console, [_row(one) for one in found["instants"][: MOST if most is None else most]], len(found["instants"]))
    return None


def _show_manifest(console: Console, storage: Storage, folder: str, files: list[dict[str, str]]) -> None:
    """Each live file, and whether it exists with the length of the manifest."""
    console.print()
    print_facts(console, ((file["name"], _as_listed(storage, folder, file)) for file in files))


def _as_listed(storage: Storage, folder: str, file: dict[str, str]) -> Text:
    info, length = storage.head(f"{folder}/{file['name']}"), int(file["length"])
    if info is None:
        return Text(f"{length:,} bytes, missing (LSM-012)", style="bold red")
    if info.size != length:
        return Text(f"{length:,} bytes, actual length {info.size:,} (LSM-011)", style="bold red")
    return Text(f"{length:,} bytes")


def _range(found: dict[str, Any]) -> Iterator[Fact]:
    """The times in the name in readable form."""
    for word in ("minimum", "maximum"):
        yield word, Text.assemble(found[word], (readable_instant(found[word]), DIM))


def _row(one: dict[str, Any]) -> Row:
    """An action in one line: its times, and the kinds of metadata and plan."""
    metadata, plan = one["metadata"], one["plan"]
    return {
        "requested": one["requested"],
        "completion": one["completion"],
        "action": one["action"],
        "metadata": "none" if metadata is None else shorten_line(_brief(metadata), 60),
        "plan": "none" if plan is None else shorten_line(_brief(plan), 60),
    }


def _brief(record: dict[str, Any]) -> str:
    """The kind of a record, by its most important field."""
    for field in ("operationType", "policy"):
        if record.get(field) is not None:
            return str(record[field])
    return ", ".join(name for name, value in record.items() if value is not None)
