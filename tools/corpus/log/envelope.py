"""Valid log files: the envelope of blocks, their headers and footers, several blocks, names of files."""

from collections.abc import Iterator

from tools.corpus.avro_bytes import schema_text, stored_schema
from tools.corpus.case import FileCase
from tools.corpus.log.blocks import ROW, avro_block, delete_block, delete_entry, make_row, rollback_block
from tools.corpus.log.builder import COMPACTED, IDENTIFIER, INSTANT, MAGIC, PARTIAL, SCHEMA, Block, log_file_name
from tools.corpus.log.file_cases import framed_only, whole_file_case
from tools.corpus.names import instant_time

A, B = avro_block(1, make_row("a")), avro_block(2, make_row("b", 2), second_row := make_row("c", 3, 2))
EMPTY_LIST = delete_block(1)


def cases() -> Iterator[FileCase]:
    """All cases of this module."""
    yield from envelopes()
    yield from headers()
    yield from header_keys()
    yield from footers()
    yield from several()
    yield from names()


def envelopes() -> Iterator[FileCase]:
    """Magic, lengths, version and type of a block."""
    yield framed_only(
        "empty",
        rules=("LF-001", "LF-025"),
        says="A log file of zero bytes has no blocks and is not an error.",
        if_it_fails="A writer that crashed before its first flush leaves such a file; it has no blocks.",
        flags=("crash",),
    )
    yield framed_only(
        "one-command-block",
        rollback_block(2, 1),
        rules=("LF-009", "LF-010", "LF-011", "LF-013", "LF-015", "LF-016", "LF-019", "LF-021", "LF-023", "BLK-001", "BLK-002"),
        errata=("ER-010", "ER-011", "ER-012", "ER-013"),
        says=(
            "A command block of 105 bytes consists of big-endian integers in order, with type 0 and without content and footer."
        ),
        if_it_fails="Read the fields in their order: header and footer have no length of their own, and types count from 0.",
    )
    yield framed_only(
        "one-delete-block",
        EMPTY_LIST.with_changes(header=[(INSTANT, instant_time(1))]),
        rules=("LF-013", "LF-015", "LF-019", "LF-023", "BLK-006"),
        errata=("ER-012", "ER-013"),
        says="A delete block of 80 bytes has block length 66 and trailing length 72.",
        if_it_fails="The block length does not include the magic and itself; the trailing length does not include itself.",
    )
    yield framed_only(
        "two-blocks",
        A,
        B,
        rules=("LF-001", "LF-010", "LF-011", "LF-013", "LF-023"),
        errata=("ER-012",),
        says="Blocks follow each other without padding, each with its own magic.",
        if_it_fails="A block begins 14 bytes plus the block length after the start of the block before.",
    )
    yield whole_file_case(
        "command-between-data",
        A,
        rollback_block(3, 2),
        B,
        rules=("BLK-002", "LF-019", "LF-013"),
        says="An empty content still has its length field, and the block after a command block is found.",
        if_it_fails="The content length is present also if the content is empty.",
    )
    yield whole_file_case(
        "magic-inside-a-content",
        avro_block(1, make_row("#HUDI#"), make_row("x#HUDI#\x00\x00")),
        B,
        rules=("LF-010", "LF-013", "LF-019"),
        says="A text that contains the magic is part of its record, not the start of a block.",
        if_it_fails="The block length locates the next block; search for the magic only after damage.",
        flags=("lost-write", "silent-stale"),
    )
    inner = delete_block(9, delete_entry("a")).data.decode("latin-1")
    yield whole_file_case(
        "whole-block-inside-a-content",
        avro_block(1, make_row(inner)),
        B,
        rules=("LF-010", "LF-013", "LF-019"),
        says="A text that contains a complete delete block is part of its record and deletes nothing.",
        if_it_fails="The block length locates the next block; bytes inside a content are never a block.",
        flags=("lost-write", "double-apply"),
    )
    yield whole_file_case(
        "magic-inside-a-header",
        A.with_changes(header=[(INSTANT, instant_time(1)), (SCHEMA, schema_text({**ROW, "doc": "#HUDI#"}))]),
        B,
        rules=("LF-010", "LF-018"),
        says="A header text that contains the magic is part of its block.",
        if_it_fails="The block length locates the next block; search for the magic only after damage.",
    )
    yield whole_file_case(
        "magic-as-last-bytes-of-a-content",
        delete_block(1, delete_entry("a", (b"\x0e\x0c" + MAGIC, {"type": "string", "value": "#HUDI#"}))),
        B,
        rules=("LF-010", "LF-013"),
        says="A content that ends with the bytes of the magic does not end its block.",
        if_it_fails="Footer and trailer follow the content; the next block begins where the block length says.",
    )
    yield from version_0()


def version_0() -> Iterator[FileCase]:
    """Blocks of log format version 0, which exists only in the text of the specification."""
    rules = ("LF-014", "LF-027", "LF-028", "LF-029", "LF-030", "LF-031", "LF-032", "LF-033", "LF-034")
    tombstones = delete_block(1, delete_entry("a"), delete_entry("b"))
    old = OldBlock("delete", [], tombstones.content, tombstones.shows, version=0)
    empty = OldBlock("command", [], b"", version=0)
    yield whole_file_case(
        "version-0.delete-block",
        old,
        rules=rules,
        says="A block of version 0 consists of magic, length, version, type, content length and content.",
        if_it_fails="The log format version determines the parts: in version 0 the content length directly follows the type.",
    )
    yield whole_file_case(
        "version-0.between-blocks-of-version-1",
        A,
        old,
        B,
        rules=rules,
        says="In a file with blocks of versions 0 and 1, the block after one of version 0 is found.",
        if_it_fails="The next magic directly follows the content of a block of version 0.",
    )
    yield whole_file_case(
        "version-0.of-two-types",
        old,
        empty,
        B,
        rules=("LF-014", "LF-027", "LF-030", "LF-031", "LF-034"),
        says="Blocks of version 0 have their type at the same position as blocks of version 1.",
        if_it_fails="The type follows the version in both versions.",
    )


class OldBlock(Block):
    """A block of version 0."""

    def fields(self) -> list[tuple[str, bytes]]:
        """Magic, length, version, type, content length, content."""
        kept = ("version", "type", "content-length", "content")
        parts = [(log_file_name, part) for log_file_name, part in super().fields() if log_file_name in kept]
        length = sum(len(part) for _, part in parts)
        return [("magic", MAGIC), ("length", length.to_bytes(8, "big")), *parts]


def headers() -> Iterator[FileCase]:
    """The header map."""
    yield framed_only(
        "header.empty",
        EMPTY_LIST.with_changes(header=[]),
        A,
        rules=("LF-017",),
        says="A header map without entries is four zero bytes.",
        if_it_fails="The map begins with the number of its entries, not of its bytes.",
    )
    yield framed_only(
        "header.one-entry",
        EMPTY_LIST.with_changes(header=[(INSTANT, instant_time(1))]),
        A,
        rules=("LF-017", "LF-018", "LF-035"),
        errata=("ER-014", "ER-015"),
        says="A header with only the instant, as in the first block of a metadata table's file groups, is read.",
        if_it_fails="An entry has four bytes of key, four bytes of length, and the text.",
    )
    yield whole_file_case(
        "header.schema-before-instant",
        A.with_changes(header=[(SCHEMA, schema_text(ROW)), (INSTANT, instant_time(1))]),
        rules=("LF-018", "LF-035", "LF-038"),
        errata=("ER-014", "ER-015"),
        says="The entries of a header may be in any order, because writers keep them in hash maps.",
        if_it_fails="Find header entries by their key, not by their position.",
    )
    everything = [*KEYS_OF_A, (COMPACTED, instant_time(0)), (IDENTIFIER, "0,0"), (PARTIAL, "true")]
    yield framed_only(
        "header.entries-backwards",
        A.with_changes(header=everything[::-1]),
        rules=("LF-018", "LF-035", "LF-038", "LF-040", "LF-044", "LF-045"),
        errata=("ER-014",),
        says="Five header entries in descending order of their keys are read.",
        if_it_fails="Find header entries by their key, not by their position.",
    )
    twice = framed_only(
        "header.repeated-key",
        EMPTY_LIST.with_changes(header=[(INSTANT, instant_time(7)), (INSTANT, instant_time(1))]),
        A,
        rules=("LF-017", "LF-018"),
        says="Of two header entries with the same key the later one is used, or the block is refused.",
        if_it_fails="Put the entries into a map in stored order.",
        or_error=True,
    )
    yield twice
    yield framed_only(
        "header.empty-text",
        EMPTY_LIST.with_changes(header=[(INSTANT, instant_time(1)), (SCHEMA, "")]),
        A,
        rules=("LF-018",),
        says="A header text may be empty.",
        if_it_fails="A length of 0 is followed directly by the next entry.",
    )
    for key in (9, 1000, 2**31 - 1):
        yield framed_only(
            f"header.unknown-key-{key}",
            EMPTY_LIST.with_changes(header=[(INSTANT, instant_time(1)), (key, "of a later release")]),
            A,
            rules=("LF-017", "LF-018"),
            errata=("ER-014",),
            says=(
                "An undefined header key is shown by its number, or the block is refused; the fields after it are unaffected."
            ),
            if_it_fails="Entries with unknown keys have lengths too: skip the text and continue.",
            or_error=True,
        )
    wide = schema_text(stored_schema(("id", "string"), ("größe", ["null", "long"]), ("名前", ["null", "string"]), name="Größe"))
    yield framed_only(
        "header.schema-that-is-not-ascii",
        EMPTY_LIST.with_changes(header=[(INSTANT, instant_time(1)), (SCHEMA, wide + " 🜁")]),
        A,
        rules=("LF-018",),
        errata=("ER-015",),
        says="The length of a header text counts bytes of UTF-8, not characters.",
        if_it_fails="Read the length as a number of bytes, then decode them.",
    )
    yield framed_only(
        "header.text-of-many-bytes",
        EMPTY_LIST.with_changes(header=[(INSTANT, instant_time(1)), (SCHEMA, schema_text({**ROW, "doc": "x" * 70_000}))]),
        A,
        rules=("LF-018",),
        errata=("ER-015",),
        says="The length of a header text has four bytes.",
        if_it_fails="A length of two bytes, as in Java's writeUTF, is too short.",
    )


KEYS_OF_A = [(INSTANT, instant_time(1)), (SCHEMA, schema_text(ROW))]


def header_keys() -> Iterator[FileCase]:
    """The meaning of each header key. Record positions are in another module."""
    key_cases = (
        (
            "compacted-times",
            COMPACTED,
            f"{instant_time(9)},{instant_time(5)},{instant_time(2)}",
            "LF-040",
            "the instants that a log compaction merged",
        ),
        ("block-identifier", IDENTIFIER, "2,17", "LF-044", "attempt and number of the block"),
        ("partial-true", PARTIAL, "true", "LF-045", "that the rows have only some of the columns"),
        ("partial-false", PARTIAL, "false", "LF-045", "that the rows have all columns"),
    )
    for key_name, key, value, rule, meaning in key_cases:
        yield whole_file_case(
            f"header.{key_name}",
            A.with_changes(header=[*KEYS_OF_A, (key, value)]),
            rules=(rule, "LF-018"),
            errata=("ER-014",),
            says=f"Header key {key} states {meaning}.",
            if_it_fails="Keys are stored from 0, one less than the encoding ids in the text of the specification.",
        )
    yield framed_only(
        "header.target-instant",
        rollback_block(5, 3),
        rules=("LF-037", "LF-039", "LF-035", "BLK-003"),
        errata=("ER-014", "ER-043"),
        says=(
            "A rollback has its own instant under key 0, the instant to roll back under key 1, and the command 0 under key 3."
        ),
        if_it_fails="Keys are stored from 0; the target instant is not the rollback's own instant.",
        flags=("silent-stale", "lost-write"),
    )


def footers() -> Iterator[FileCase]:
    """The footer map, which is empty in files of deployed writers."""
    for count in (1, 2):
        footer = [(0, "note"), (3, "nötig")][:count]
        yield whole_file_case(
            f"footer.{('one-entry', 'two-entries')[count - 1]}",
            A.with_changes(footer=footer),
            B,
            rules=("LF-022",),
            errata=("ER-011",),
            says="A footer with entries is a map like the header; the fields after it are unaffected.",
            if_it_fails="Read the footer as a map; the trailer follows its last entry.",
        )


def several() -> Iterator[FileCase]:
    """Several blocks, instants and schemas in one file."""
    yield whole_file_case(
        "several.of-one-instant",
        avro_block(1, make_row("a")),
        avro_block(1, make_row("b")),
        delete_block(1, delete_entry("c")),
        rules=("LF-001", "BLK-011"),
        says="Two data blocks and a delete block of one instant are shown in the order in which they were written.",
        if_it_fails="Show blocks in file order; the delete block is last, as it was written.",
    )
    yield whole_file_case(
        "several.instants",
        *(avro_block(second, make_row(f"k{second}", second, second)) for second in (1, 5, 3, 9)),
        rules=("LF-001", "LF-035"),
        errata=("ER-049",),
        says="Blocks of four instants in one file are shown in file order, not in the order of their instants.",
        if_it_fails="Each block has its own instant; an inspection does not sort blocks.",
        flags=("silent-stale",),
    )
    wider = stored_schema(("n", ["null", "int"]), ("id", "string"), ("extra", ["null", "string"]))
    yield whole_file_case(
        "several.schemas",
        avro_block(1, make_row("a", 7)),
        avro_block(2, {**make_row("b", 8, 2), "extra": "new"}, schema=wider, shows=[{**make_row("b", 8, 2), "extra": "new"}]),
        avro_block(3, make_row("c", 9, 3)),
        rules=("LF-038", "BLK-022"),
        says="Each block is decoded with the schema of its own header, also if the order and the types of fields differ.",
        if_it_fails="The schema of one block does not hold for the next one.",
        flags=("silent-stale", "crash"),
    )
    yield framed_only(
        "several.a-hundred-blocks",
        *(EMPTY_LIST.with_changes(header=[(INSTANT, instant_time(number % 60))]) for number in range(100)),
        rules=("LF-001", "LF-013"),
        errata=("ER-049",),
        says="A log file may have any number of blocks.",
        if_it_fails="Read blocks until the end of the file.",
    )


def names() -> Iterator[FileCase]:
    """Names of log files; all of them are read in the same way."""
    variants = (
        ("second-version", log_file_name(1, version=2)),
        ("version-ten", log_file_name(1, version=10)),
        ("other-token", log_file_name(1, token="17-203-4")),
        ("without-token", log_file_name(1).removesuffix("_0-1-2")),
        ("id-without-counter", f".f0000000-0000-4000-8000-000000000001_{instant_time(1)}.log.1_0-1-2"),
        ("of-the-metadata-table", f".record-index-0003-0_{instant_time(1)}.log.1_0-0-0"),
    )
    for variant, file in variants:
        yield framed_only(
            f"name.{variant}",
            A,
            file=file,
            rules=("LF-002",),
            says=f"A file named {file} is a log file.",
            if_it_fails=(
                "The name is a dot, file id, underscore, instant, .log., version and usually an underscore and the write token."
            ),
        )
