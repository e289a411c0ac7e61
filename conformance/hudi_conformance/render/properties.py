"""The page of a properties file: the table, unusual values, and whether the file is valid."""

from collections.abc import Iterator, Mapping

from rich.console import Console
from rich.text import Text

from hudi_conformance.engines.reference.properties import entries_of, state_of_checksum
from hudi_conformance.render.hfile import show_error
from hudi_conformance.render.parts.layout import DIM, OK, WARNING, WRONG, Fact, format_count, print_facts, print_title
from hudi_reference.errors import HudiError
from hudi_reference.layout.properties import TableProperties, checksum
from hudi_reference.layout.property_table import BY_KEY, MANDATORY, PROPERTIES, always_stored
from hudi_reference.storage import Storage

#: Old name of a key -> the key.
_OLDER = {name: one for one in PROPERTIES for name in one.alternatives}


def show_properties(console: Console, storage: Storage, path: str) -> HudiError | None:
    """Print a properties file. Returns the error for which a reader must refuse it, or None."""
    try:
        entries = entries_of(storage, path)
    except HudiError as error:
        console.print(Text(path, style="bold"), overflow="fold")
        show_error(console, error)
        return error
    text = storage.get(path)
    console.print(Text(path, style="bold"), overflow="fold")
    console.print(
        Text.assemble(("properties", "cyan"), f" · {format_count(len(entries), 'entry')} · {format_count(len(text), 'byte')}")
    )
    console.print()
    print_facts(console, _state(entries, ended=text.endswith((b"\n", b"\r"))))
    print_title(console, "entries")
    print_facts(console, ((key, _value(key, entries[key])) for key in sorted(entries)))
    return None


def _state(entries: Mapping[str, str], *, ended: bool) -> Iterator[Fact]:
    state = state_of_checksum(entries)
    right = checksum(entries.get("hoodie.database.name", ""), entries.get("hoodie.table.name", ""))
    colour = {"valid": OK, "wrong": WRONG, "absent": WARNING}[state]
    yield "checksum", Text.assemble((state, colour), (f"  expected {right}" if state == "wrong" else "", DIM))
    if lacking := [key for key in MANDATORY if not entries.get(key)]:
        yield "missing", Text(f"{', '.join(lacking)}: mandatory", style=WRONG)
    version = TableProperties(entries).version
    others = [key for key in always_stored(version) if key not in entries and key not in MANDATORY]
    if others:
        yield "not there", Text(f"{', '.join(others)}: present in every table of version {version}", style=WARNING)
    if not ended:
        yield "end", Text("the last line has no end: the file may be truncated", style=WARNING)


def _value(key: str, value: str) -> Text:
    """The value with a remark."""
    known = BY_KEY.get(key) or _OLDER.get(key)
    shown = Text(value if len(value) <= 200 else f"{value[:200]}... ({len(value):,} characters)")
    if known is None:
        return shown.append("  not a key of the format", style=DIM)
    if value and known.allowed(value) is None:
        return shown.append(f"  not one of {', '.join(known.values or ())}", style=WRONG)
    if value == known.default and value:
        return shown.append("  the default", style=DIM)
    return shown
