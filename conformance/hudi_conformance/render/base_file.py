"""The page of a Parquet or ORC base file: footer, bloom filter, row groups, columns, the first rows."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
from rich.console import Console
from rich.text import Text

from hudi_conformance.engines.reference.files import json_rows
from hudi_conformance.render.bloom import show_bloom
from hudi_conformance.render.damage import show_bytes
from hudi_conformance.render.hfile import show_error
from hudi_conformance.render.parts.hexdump import Stretch
from hudi_conformance.render.parts.layout import (
    DIM,
    Fact,
    format_count,
    print_facts,
    print_heading,
    print_title,
    shorten_line,
)
from hudi_conformance.render.parts.rows import show_rows
from hudi_reference.errors import HudiError
from hudi_reference.files.base.footer import FILTER, FILTER_TYPE
from hudi_reference.files.inspection.base_file import FOOTER_KEYS, InspectedBase, inspect_base
from hudi_reference.files.inspection.file_type import KnownFile
from hudi_reference.schema.avro import META_COLUMNS

#: The magic at both ends of a file.
_MAGICS = {"parquet": (b"PAR1", b"PAR1"), "orc": (b"ORC", b"ORC")}


def show_base(console: Console, file: KnownFile, most: int, keys: Sequence[str] | None) -> HudiError | None:
    """Print a base file with its first `most` rows. Returns the error for which a reader must refuse it, or None."""
    try:
        found = inspect_base(file)
        first = json_rows(found.rows(), most)
    except HudiError as error:
        print_heading(console, file, "damaged")
        show_error(console, error)
        _show_ends(console, file)
        return error
    parts = "stripe" if file.format == "orc" else "row group"
    counts = ((found.row_count, "row"), (len(found.schema), "column"), (len(found.parts), parts))
    print_heading(console, file, ", ".join(format_count(number, noun) for number, noun in counts))
    print_title(console, "footer")
    print_facts(console, _footer(found))
    if FILTER in found.footer:
        text = found.footer[FILTER]
        print_title(console, "bloom filter", format_count(len(text), "character"))
        show_bloom(console, text, found.footer.get(FILTER_TYPE, "SIMPLE"), file.path, keys)
    print_title(console, "row groups" if parts == "row group" else "stripes")
    print_facts(console, _parts(found))
    print_title(console, "columns")
    print_facts(console, _columns(found.schema))
    print_title(console, "rows")
    show_rows(console, first, found.row_count)
    return None


def _footer(found: InspectedBase) -> Iterator[Fact]:
    """Apache Hudi's entries first, then all others, shortened."""
    for key in FOOTER_KEYS:
        yield key, found.footer.get(key) or Text("none", style=DIM)
    for key, text in sorted(found.footer.items()):
        if key not in (*FOOTER_KEYS, FILTER):
            yield (
                key,
                Text.assemble(
                    shorten_line(text, 50), (f"  {format_count(len(text), 'character')}" if len(text) > 50 else "", DIM)
                ),
            )
    yield "written by", found.writer
    yield "compression", found.compression


def _parts(found: InspectedBase) -> Iterator[Fact]:
    for number, part in enumerate(found.parts):
        yield (
            str(number),
            f"{format_count(part.rows, 'row')}{'' if part.size is None else f', {part.size:,} bytes uncompressed'}",
        )


def _columns(schema: pa.Schema) -> Iterator[Fact]:
    """Name and type; the five meta columns together."""
    meta = [field.name for field in schema if field.name in META_COLUMNS]
    if meta:
        yield format_count(len(meta), "meta column"), ", ".join(name.removeprefix("_hoodie_") for name in meta)
    for field in schema:
        if field.name not in META_COLUMNS:
            yield field.name, shorten_line(str(field.type), 100)


def _show_ends(console: Console, file: KnownFile) -> None:
    """The first and last bytes, which must be the magic."""
    data = memoryview(file.storage.get(file.path))
    if file.format not in _MAGICS or not data:
        return
    head, tail = _MAGICS[file.format]
    back = 1 if file.format == "orc" else 0
    end = len(data) - back
    wrong: list[Stretch] = []
    if data[: len(head)] != head:
        wrong.append((0, len(head)))
    if data[max(0, end - len(tail)) : end] != tail:
        wrong.append((max(0, end - len(tail)), end))
    show_bytes(console, data, wrong)
