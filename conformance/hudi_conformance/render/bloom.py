"""The page of a bloom filter: its parameters, its fill, and look-ups of keys."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from hudi_conformance.render.parts.layout import DIM, WRONG, Fact, format_count, print_facts
from hudi_reference.errors import HudiError
from hudi_reference.files.bloom.bloom import BloomFilter, FilterType, decode_filter


def show_bloom(console: Console, text: str, kind: str, path: str, keys: Sequence[str] | None) -> None:
    """Parameters and fill; for each of `keys` whether the filter may hold it."""
    try:
        found = decode_filter(kind, text, path)
        print_facts(console, [*_parameters(found), *_answers(found, keys or ())])
    except HudiError as error:
        print_facts(console, [("error", Text(f"{error.message}: {error.found}", style=WRONG)), ("rule", error.rule or "")])


def _parameters(found: BloomFilter) -> list[Fact]:
    ones = sum(int.from_bytes(row, "big").bit_count() for row in found.rows)
    fill = ones / (found.bits * len(found.rows))
    rate = 1 - (1 - fill**found.hashes) ** len(found.rows)
    rows = f" in each of {len(found.rows):,} rows" if len(found.rows) > 1 else ""
    made_for = (
        "" if found.kind is FilterType.SIMPLE else f", made for {format_count(found.entries, 'key')}{' each' if rows else ''}"
    )
    return [
        ("type", found.kind.value),
        ("bits", f"{found.bits:,}{rows}{made_for}"),
        ("hashes", Text.assemble(str(found.hashes), (f"  {found.hash_type.name.lower()}", DIM))),
        (
            "fill",
            Text.assemble(
                f"{ones:,} bits set, {fill:.2%}", (f"  one false positive in {1 / rate:.2g} other keys" if rate else "", DIM)
            ),
        ),
    ]


def _answers(found: BloomFilter, keys: Sequence[str]) -> list[Fact]:
    asked = [key for key in keys if key]
    return [
        (key, Text("may be held", style="green") if held else Text("certainly not held", style="yellow"))
        for key, held in zip(asked, found.may_hold(asked), strict=True)
    ]
