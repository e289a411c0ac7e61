"""`hudi-conformance inspect`: show a table, or one of its files."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hudi_conformance.commands.error_handling import exit_on_errors
from hudi_conformance.commands.exit_codes import DIFFERENT
from hudi_conformance.commands.tables.bounded_memory import bounded_memory

if TYPE_CHECKING:
    from rich.console import Console

    from hudi_reference.errors import HudiError
    from hudi_reference.files.inspection.file_type import KnownFile
    from hudi_reference.timeline.instants.instant import Instant

#: Default number of rows of a base file, of entries of an HFile, and with --content of rows of each log block.
FIRST, ROWS = 5, 20
#: Default number of bytes of a dump.
DUMP = 256


@bounded_memory()
def inspect(
    table: Annotated[str, typer.Argument(metavar="TABLE-OR-FILE", help="Folder or URI of a table, or one of its files.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    content: Annotated[bool, typer.Option("--content", help=f"Show rows and deletes of each log block, up to {ROWS}.")] = False,
    rows: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Show up to N rows of each block, or entries of an HFile.")
    ] = None,
    keys: Annotated[str | None, typer.Option(metavar="A,B,...", help="Look up keys in an HFile or in a bloom filter.")] = None,
    prefix: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Show entries of an HFile whose keys have this prefix.")
    ] = None,
    hex_: Annotated[
        str | None,
        typer.Option(
            "--hex",
            metavar="OFFSET[:LENGTH]",
            help="Dump bytes; the offset may be hexadecimal (0x10) or negative (from the end).",
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="For a table: show also the archived timeline and all file groups.")
    ] = False,
    partition: Annotated[
        list[str] | None, typer.Option(metavar="PATH", help="For a table: show only the file groups of this partition.")
    ] = None,
) -> None:
    """Show the timeline and the file slices of a table, or the contents of one file. Both may be damaged."""
    wanted = None if keys is None else [key for key in keys.split(",") if key]
    if not _is_file(table):
        if hex_ or keys or prefix is not None:
            raise typer.BadParameter(f"{table} is not a file; --hex, --keys and --prefix need a file")
        name = table.rpartition("/")[2]
        if ".log." in name or name.endswith((".parquet", ".orc", ".hfile")):
            raise typer.BadParameter(f"there is no file {table}")
        _inspect_table(table, as_json=as_json, everything=everything, partitions=partition or [])
    elif partition:
        raise typer.BadParameter(f"{table} is a file; --partition needs a table")
    elif hex_ is not None:
        _dump(table, hex_)
    elif as_json:
        _print_json(table, wanted, prefix)
    else:
        _show_file(table, rows if rows is not None or not content else ROWS, wanted, prefix)


def _is_file(uri: str) -> bool:
    from hudi_reference.files.inspection.file_type import is_file

    with exit_on_errors():
        return is_file(uri)


def _inspect_table(table: str, *, as_json: bool, everything: bool, partitions: list[str]) -> None:
    wanted = [one.strip("/") for one in partitions]
    if as_json:
        with exit_on_errors():
            found, refused = _table_as_json(table, wanted)
        if wanted:
            found["file_groups"] = {name: groups for name, groups in found["file_groups"].items() if name in wanted}
        _echo(found)
    else:
        with exit_on_errors():
            refused = _show_table(table, everything=everything, partitions=wanted)
    if refused:
        raise typer.Exit(DIFFERENT)


def _table_as_json(table: str, wanted: list[str]) -> tuple[dict[str, Any], bool]:
    """The inspection, and whether a reader refuses the table; then it has the error and the parts that can be read."""
    from hudi_reference import open_table
    from hudi_reference.errors import MalformedTable, StorageFault, UnsupportedFeature
    from hudi_reference.query.inspect import inspect_table

    try:
        return open_table(table).inspect(), False
    except (MalformedTable, StorageFault, UnsupportedFeature) as error:
        from hudi_conformance.validator.stored.damaged_table import error_entry, open_damaged

        damaged = open_damaged(table, tuple(wanted))
        found = inspect_table(damaged.properties, damaged.timeline, damaged.file_groups())
        return {**found, "properties": dict(damaged.found.entries), "refused": error_entry(error)}, True


def _show_table(table: str, *, everything: bool, partitions: list[str]) -> bool:
    """Print the page; whether a reader refuses the table. Then the error is below the parts that can be read."""
    from hudi_conformance.render.parts.layout import open_page
    from hudi_conformance.render.table import show_error, show_table
    from hudi_reference import open_table
    from hudi_reference.errors import MalformedTable, StorageFault, UnsupportedFeature

    try:
        with open_page() as console:
            show_table(console, open_table(table), everything=everything, partitions=partitions)
    except (MalformedTable, StorageFault, UnsupportedFeature) as error:
        from hudi_conformance.validator.stored.damaged_table import open_damaged

        damaged = open_damaged(table, tuple(partitions))
        with open_page() as console:
            groups, stored = list(damaged.file_groups()), damaged.found.version
            version = None if stored == damaged.properties.version else f"{stored or 'unknown'}"
            show_table(console, damaged, everything=everything, partitions=partitions, groups=groups, stored_version=version)
            show_error(console, error)
        return True
    return False


def _print_json(file: str, keys: list[str] | None, prefix: str | None) -> None:
    """Print the answer of the contract's `inspect`."""
    from hudi_conformance.engines.reference.files import inspect_file

    with exit_on_errors():
        found = inspect_file(file, keys=keys, prefix=prefix)
    _echo(found)


def _echo(found: dict[str, Any]) -> None:
    typer.echo(json.dumps(found, indent=1, ensure_ascii=False))


def _show_file(uri: str, rows: int | None, keys: list[str] | None, prefix: str | None) -> None:
    """Print a file; exit code 1 if a reader must refuse it."""
    from hudi_conformance.engines.reference.history import is_history_file, place_of
    from hudi_conformance.engines.reference.properties import is_properties_file
    from hudi_conformance.render.parts.layout import open_page
    from hudi_reference.files.inspection.file_type import identify, locate

    if (instant := _instant(uri)) is not None:
        from hudi_conformance.render.instant import show_instant

        with open_page() as console:
            refused = show_instant(console, *locate(uri), instant)
        if refused is not None:
            raise typer.Exit(DIFFERENT)
        return
    if is_properties_file(uri):
        from hudi_conformance.render.properties import show_properties

        with open_page() as console:
            refused = show_properties(console, *locate(uri))
        if refused is not None:
            raise typer.Exit(DIFFERENT)
        return
    if is_history_file(uri.rpartition("/")[2]):
        from hudi_conformance.render.history import show_history

        with open_page() as console:
            refused = show_history(console, *place_of(uri), rows)
        if refused is not None:
            raise typer.Exit(DIFFERENT)
        return
    with exit_on_errors():
        file = identify(*locate(uri))
    if (file.format == "log" and keys is not None) or (file.format != "hfile" and prefix is not None):
        raise typer.BadParameter("--keys needs an HFile or a base file with a bloom filter, --prefix an HFile")
    with exit_on_errors(), open_page() as console:
        refused = show_file(console, file, rows, keys, prefix)
    if refused is not None:
        raise typer.Exit(DIFFERENT)


def _instant(uri: str) -> "Instant | None":
    """The action and state in the name of a file."""
    from hudi_reference.timeline.instants.instant import parse_instant_name

    with exit_on_errors():
        return parse_instant_name(uri.rpartition("/")[2])


def show_file(
    console: "Console", file: "KnownFile", rows: int | None, keys: list[str] | None, prefix: str | None
) -> "HudiError | None":
    """Print a file by its type. Returns the error for which a reader must refuse it, or None."""
    most = FIRST if rows is None else rows
    if file.format == "log":
        from hudi_conformance.render.log import show_log

        return show_log(console, file, rows)
    if file.format == "hfile":
        from hudi_conformance.render.hfile import show_hfile

        return show_hfile(console, file, most, keys, prefix)
    from hudi_conformance.render.base_file import show_base

    return show_base(console, file, most, keys)


def _dump(uri: str, wanted: str) -> None:
    from hudi_conformance.render.parts.hexdump import dump_bytes
    from hudi_conformance.render.parts.layout import open_page
    from hudi_reference.files.inspection.file_type import locate

    storage, path = locate(uri)
    info = storage.head(path)
    start, length = _range(wanted, 0 if info is None else info.size)
    with open_page() as console:
        for line in dump_bytes(storage.get(path, start, length), 0, length, first=start):
            console.print(line, no_wrap=True, crop=False)


def _range(text: str, size: int) -> tuple[int, int]:
    """Offset and length in a file of `size` bytes."""
    offset, _, length = text.partition(":")
    try:
        start, count = int(offset, 0), int(length, 0) if length else DUMP
    except ValueError:
        raise typer.BadParameter(f"--hex takes OFFSET or OFFSET:LENGTH, not {text!r}") from None
    start = max(0, size + start) if start < 0 else start
    if start > size or count < 0:
        raise typer.BadParameter(f"--hex {text}: the file has {size} bytes")
    return start, min(count, size - start)
