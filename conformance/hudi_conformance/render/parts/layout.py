"""The frame of a page: console, heading, lists of facts."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hudi_conformance.console import SafeConsole
from hudi_reference.files.inspection.file_type import WORDS, KnownFile
from hudi_reference.layout.names import BaseFileName

#: Width of the page if it is unknown, in a pipe or a file.
WIDTH = 120
OK, WARNING, WRONG, DIM = "green", "yellow", "bold red", "dim"

Fact = tuple[str, str | Text]


@contextmanager
def open_page() -> Iterator[Console]:
    """A console on standard output with the width of the terminal or of COLUMNS; colours on a terminal, or with FORCE_COLOR.

    Elsewhere the page is printed at the end, without trailing blanks.
    """
    is_known = sys.stdout.isatty() or "COLUMNS" in os.environ
    console = SafeConsole(highlight=False, emoji=False, width=None if is_known else WIDTH)
    if console.is_terminal:
        yield console
        return
    with console.capture() as captured:
        yield console
    typer.echo("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()), nl=False)


def print_heading(console: Console, file: KnownFile, summary: str) -> None:
    """The type of the file, its size, and the parts of its name."""
    console.print(Text(file.path.rpartition("/")[2], style="bold"), overflow="fold")
    kind = "CDC log file" if getattr(file.name, "cdc", False) else WORDS[file.format].partition(" ")[2]
    console.print(Text.assemble((kind, "cyan"), f" · {file.size:,} bytes", f" · {summary}" if summary else ""))
    if file.contradiction is not None:
        console.print(Text(f"! {file.contradiction} (BF-010)", style=WARNING))
    console.print()
    print_facts(console, name_parts(file))


def name_parts(file: KnownFile) -> Iterable[Fact]:
    """The parts of the name in the terms of the specification."""
    name = file.name
    if name is None:
        yield "name", Text("not the name of a data file", style=DIM)
        return
    yield "file id", name.file_id
    yield "instant", Text.assemble(name.instant, (readable_instant(name.instant), DIM))
    if not isinstance(name, BaseFileName):
        yield "version", str(name.version)
    yield "write token", name.write_token or Text("none", style=DIM)


def readable_instant(text: str) -> str:
    """An instant of 17 or 14 digits with its date and time, if it has one."""
    if len(text) not in (14, 17) or not text.isdigit() or text.startswith("0000"):
        return ""
    moment = f"{text[:4]}-{text[4:6]}-{text[6:8]} {text[8:10]}:{text[10:12]}:{text[12:14]}"
    return f"  {moment}.{text[14:]}" if text[14:] else f"  {moment}"


def print_facts(console: Console, lines: Iterable[Fact], indent: int = 2) -> None:
    """Labels on the left, in one column."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style=DIM, no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in lines:
        table.add_row(" " * indent + label, text)
    if table.row_count:
        console.print(table)


def print_title(console: Console, text: str, note: str = "") -> None:
    """The heading of a section."""
    console.print()
    console.print(Text.assemble((text, "bold"), (f"  {note}" if note else "", DIM)), overflow="fold")


def format_offset(offset: int) -> str:
    """An offset, decimal and hexadecimal."""
    return f"{offset} (0x{offset:x})"


def shorten_line(text: str, length: int = 60) -> str:
    """`text` on one line, shortened to `length`."""
    flat = " ".join(text.split())
    return flat if len(flat) <= length else f"{flat[: length - 3]}..."


def format_count(number: int, word: str) -> str:
    """`1 row`, `2 rows`."""
    plural = word if number == 1 else f"{word[:-1]}ies" if word.endswith("ry") else f"{word}s"
    return f"{number:,} {plural}"
