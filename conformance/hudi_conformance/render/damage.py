"""A damaged block of a log file: its fields, the wrong bytes, the rule, and what a reader must do."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from hudi_conformance.render.parts.hexdump import Stretch, dump_bytes, ranges_to_show
from hudi_conformance.render.parts.layout import DIM, WRONG, Fact, format_offset, print_facts, shorten_line
from hudi_reference.errors import HudiError
from hudi_reference.files.inspection.envelope import Field, envelope
from hudi_reference.files.log.block import MAGIC, Block, CorruptBlock

#: The rules by which a reader recognizes a block.
_NOTICED = ("LF-012", "LF-024")
#: Number of bytes that are shown of a content that cannot be decoded.
_BEGINNING = 64
#: What the reader of a log file does with a corrupt block.
_RECOVER = "recover: treat these bytes as one corrupt block"
_COMMITTED = "and refuse the table if a completed action wrote them, because committed changes would be lost silently"


def show_corrupt(console: Console, data: memoryview, block: CorruptBlock) -> None:
    """Bytes that are not a block."""
    fields = envelope(data, block.offset, block.end)
    goes_on = f"continue at the next magic, byte {format_offset(block.end)}" if block.end < len(data) else "nothing follows"
    rules = ["BLK-015", "BLK-017" if block.end < len(data) else "BLK-016"]
    must = [("reason", Text(block.reason, style=WRONG)), ("rule", _rules(fields, rules)),
            ("reader", Text(f"{_RECOVER}, {goes_on}; {_COMMITTED}"))]  # fmt: skip
    _show(console, data, fields, must)


def show_refused(console: Console, data: memoryview, error: HudiError, offset: int, end: int) -> None:
    """A block that a reader must not skip: its extent is certain, its content is unknown."""
    fields = envelope(data, offset, end)
    found = "".join(f", {word} {text}" for word, text in (("found", error.found), ("expected", error.expected)) if text)
    must = [("error", Text(f"{type(error).__name__}: {error.message}{found}", style=WRONG)),
            ("rule", _rules(fields, [error.rule] if error.rule else [])),
            ("reader", Text("refuse the file: a writer stored this block, and its meaning is unknown"))]  # fmt: skip
    _show(console, data, fields, must)


def show_undecoded(console: Console, data: memoryview, error: HudiError, block: Block) -> None:
    """A complete block whose header or content cannot be decoded; without a wrong field, the start of the content is shown."""
    fields = envelope(data, block.offset, block.end)
    must = [("error", Text(f"{type(error).__name__}: {error.message}", style=WRONG))]
    must += [(word, Text(text)) for word, text in (("found", error.found), ("expected", error.expected)) if text]
    must += [("rule", _rules(fields, [error.rule] if error.rule else [])),
             ("reader", Text("refuse the file: the block is complete, so that a writer stored it in this form"))]  # fmt: skip
    _show(console, data, fields, must)
    if not any(field.is_wrong for field in fields):
        console.print()
        for line in dump_bytes(data, block.content_offset, min(block.end, block.content_offset + _BEGINNING)):
            console.print(Text("  ").append_text(line), no_wrap=True, crop=False)


def _rules(fields: Iterable[Field], further: Sequence[str]) -> Text:
    """The rule by which a reader detects the damage comes first, then the other rules."""
    found = sorted(
        dict.fromkeys([*(field.rule for field in fields if field.rule), *further]), key=lambda rule: rule not in _NOTICED
    )
    return Text.assemble(", ".join(found), (f"  hudi-conformance explain {found[0]}" if found else "", DIM))


def _show(console: Console, data: memoryview, fields: Sequence[Field], must: Iterable[Fact]) -> None:
    print_facts(console, must, indent=4)
    show_fields(console, data, fields)


def show_fields(console: Console, data: memoryview, fields: Sequence[Field]) -> None:
    """Fields as a table, and a dump of the bytes of those that are wrong."""
    console.print()
    console.print(_field_table(fields))
    show_bytes(console, data, [stretch for field in fields if field.is_wrong for stretch in _wrong_bytes(field)])


def _wrong_bytes(field: Field) -> list[Stretch]:
    """The bytes to mark: those that differ in the magic, and all bytes of other fields."""
    if field.expected == MAGIC.decode():
        pairs = zip(range(field.offset, field.end), field.data, MAGIC, strict=False)
        return [(offset, offset + 1) for offset, found, right in pairs if found != right]
    return [(field.offset, max(field.end, field.offset + 1))]


def show_bytes(console: Console, data: memoryview, wrong: Sequence[Stretch]) -> None:
    """A dump of the wrong bytes and their neighbours."""
    if not len(data) or not wrong:
        return
    console.print()
    for number, (start, end) in enumerate(ranges_to_show(wrong, len(data))):
        if number:
            console.print(Text("  ...", style=DIM))
        for line in dump_bytes(data, start, end, wrong):
            console.print(Text("  ").append_text(line), no_wrap=True, crop=False)


def _field_table(fields: Sequence[Field]) -> Table:
    """One line for each field, with the expected value of a wrong one."""
    table = Table(box=None, pad_edge=False, header_style=DIM, padding=(0, 2, 0, 0))
    table.add_column("", width=5)
    table.add_column("byte", justify="right", no_wrap=True)
    table.add_column("field", no_wrap=True)
    table.add_column("found", overflow="fold")
    for field in fields:
        found = Text(shorten_line(field.says))
        if field.is_wrong:
            found.stylize(WRONG)
            found.append(f"  expected {field.expected}", style="")
            found.append(f"  {field.rule}", style=DIM)
        name = field.name.replace("BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS", "BASE_FILE_INSTANT_...")
        table.add_row(Text("    x" if field.is_wrong else "", style=WRONG), str(field.offset), name, found)
    return table
