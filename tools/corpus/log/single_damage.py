"""Log files with one damage each, with the content of the valid blocks. Families cover the other damages."""

import struct
from collections.abc import Iterator, Sequence
from typing import Any

from tools.corpus.case import FileCase
from tools.corpus.hfile.builder import build_hfile
from tools.corpus.log.blocks import avro_block, delete_block, delete_entry, delete_list, make_row
from tools.corpus.log.builder import (
    COMMAND,
    INSTANT,
    MAGIC,
    SCHEMA,
    TARGET,
    TYPES,
    Block,
    Part,
    encode_int4,
    encode_int8,
    expected_inspection,
    join_bytes,
    without_corrupt,
)
from tools.corpus.log.content_damage import HELD
from tools.corpus.log.envelope_damage import AGREE, GO_ON, replace_field
from tools.corpus.log.file_cases import CONTENT, log_file_case
from tools.corpus.log.other_blocks import parquet_block
from tools.corpus.names import instant_time

A, B, C = (
    avro_block(1, make_row("a")),
    avro_block(2, make_row("b", 2, 2), make_row("c", 3, 2)),
    delete_block(3, delete_entry("a")),
)
LENGTH = len(B.data) - 14
FRAME = ("lost-write", "silent-stale")


def cases() -> Iterator[FileCase]:
    """All cases of this module."""
    yield from cut_files()
    yield from broken_frames()
    yield from stray_bytes()
    yield from broken_parts()
    yield from not_to_be_read()
    yield from broken_contents()


def damaged_case(case_name: str, *parts: Part, because: str = GO_ON, **more: Any) -> FileCase:
    """A file of whole blocks and of other bytes."""
    about: dict[str, Any] = {"verdict": "must-recover", "flags": FRAME, "errata": ("ER-047",)}
    if "error" not in more:
        about["inspect"] = expected_inspection(*parts)
    return log_file_case(
        f"damaged-file.{case_name}", join_bytes(*parts), if_it_fails=because, needs=CONTENT, **{**about, **more}
    )


def cut_files() -> Iterator[FileCase]:
    """Files that end inside a block."""
    rules = ("BLK-015", "BLK-016", "LF-024")
    ends = (
        ("magic", 6, "with the magic of its last block"),
        ("length", 10, "inside the length of its last block"),
        ("head", 22, "before the header of its last block"),
        ("header", 60, "inside the header of its last block"),
        ("content", B.position_of_part("content")[0] + 9, "inside the content of its last block"),
        ("footer", B.position_of_part("footer-count")[0] + 2, "inside the footer of its last block"),
        ("trailer", len(B.data) - 8, "before the trailer of its last block"),
        ("last-byte", len(B.data) - 1, "one byte before the end of its last block"),
    )
    for where, kept, meaning in ends:
        yield damaged_case(
            f"cut.{where}",
            A,
            B.data[:kept],
            rules=rules,
            says=f"If a file ends {meaning}, the block before is shown and the rest is one corrupt block without rows.",
            because=(
                "This is a crashed append: the end of the file inside a block ends only that block, and none of its "
                "rows are read."
            ),
            flags=("lost-write", "dirty-read", "crash"),
        )
    yield damaged_case(
        "cut.only-a-magic",
        MAGIC,
        rules=("BLK-015", "BLK-016", "LF-012"),
        says="A file with only a magic has one corrupt block.",
        because="The writer crashed after its first six bytes.",
        flags=("crash",),
    )
    short = expected_inspection(A, MAGIC[:3])
    yield damaged_case(
        "cut.half-a-magic-at-the-end",
        A,
        MAGIC[:3],
        rules=("BLK-016", "LF-025"),
        errata=("ER-048",),
        accept=[without_corrupt(short)],
        says="Fewer than six bytes after the last block are corrupt or skipped; the block is shown.",
        because="Fewer bytes than a magic are not a block; the block before them is valid.",
    )
    yield damaged_case(
        "cut.block-before-a-whole-one",
        A,
        B.data[:100],
        C,
        rules=("BLK-015", "BLK-017", "LF-024"),
        says="The block of a crashed append is corrupt; the complete blocks before and after it are shown.",
    )
    torn = avro_block(2, make_row("x#HUDI#y")).data[:-30]
    yield damaged_case(
        "cut.block-that-holds-a-magic",
        A,
        torn,
        C,
        rules=("BLK-015", "BLK-017", "LF-012", "LF-024"),
        says=(
            "The search for the next magic finds one inside the damaged content: two corrupt blocks and the complete "
            "block are shown."
        ),
        because="Bytes that match the magic by chance are checked like any block and are corrupt; the search continues.",
    )
    yield damaged_case(
        "cut.nothing-is-whole",
        A.data[:-1],
        B.data[:-1],
        C.data[:-1],
        rules=("BLK-015", "BLK-017"),
        says="Each of three truncated blocks is a corrupt block of its own.",
    )


def broken_frames() -> Iterator[FileCase]:
    """Magic, block length and trailer of the middle block."""
    fields: Sequence[tuple[str, str, bytes, str, tuple[str, ...]]] = (
        ("magic", "magic", b"#HUDJ#", "has a wrong byte in its magic", ("LF-012", "LF-011", "LF-028")),
        ("length-zero", "length", encode_int8(0), "states a length of 0", ("LF-013", "LF-024")),
        ("length-negative", "length", encode_int8(-1), "states a length of -1", ("LF-013", "LF-024")),
        ("length-huge", "length", encode_int8(2**62), "states a length of 2^62", ("LF-013", "LF-024")),
        (
            "length-of-the-whole-block",
            "length",
            encode_int8(LENGTH + 14),
            "includes magic and length in its length",
            ("LF-013", "LF-024"),
        ),
        (
            "length-over-the-next-block",
            "length",
            encode_int8(LENGTH + len(C.data)),
            "states a length up to the end of the next block",
            ("LF-024",),
        ),
        (
            "length-with-a-high-word",
            "length",
            encode_int8(LENGTH + 2**32),
            "states a length whose low 32 bits are right",
            ("LF-013",),
        ),
        ("trailer-zero", "trailer", encode_int8(0), "has a trailing length of 0", ("LF-023", "LF-024")),
        (
            "trailer-repeats-the-length",
            "trailer",
            encode_int8(LENGTH),
            "has its block length as trailing length",
            ("LF-023", "LF-024"),
        ),
        (
            "trailer-one-more",
            "trailer",
            encode_int8(LENGTH + 7),
            "has a trailing length that is one too high",
            ("LF-023", "LF-024"),
        ),
    )
    for case_name, field, value, meaning, rules in fields:
        yield damaged_case(
            f"frame.{case_name}",
            A,
            replace_field(B, field, value),
            C,
            rules=(*rules, "BLK-015", "BLK-017"),
            errata=("ER-012", "ER-047"),
            says=f"If the middle block {meaning}, it is corrupt without rows and the other blocks are shown.",
        )
    yield damaged_case(
        "frame.glued",
        A,
        B.data[6:],
        C,
        rules=("LF-011", "LF-012", "BLK-015", "BLK-017"),
        says="A block without its magic is corrupt; the complete blocks before and after it are shown.",
        because="A writer that writes the magic once per file leaves such bytes; they are not blocks.",
    )
    yield damaged_case(
        "frame.laid-out-as-the-text-says",
        block_by_the_text(B),
        C,
        rules=("LF-013", "LF-015", "LF-016", "LF-021", "LF-023", "BLK-015"),
        errata=("ER-010", "ER-011", "ER-012", "ER-013"),
        says="A block in the layout of the specification's text, which no engine writes, is corrupt.",
        because="Use the deployed layout; in it the lengths of this block do not match.",
        or_error=True,
    )


def block_by_the_text(block: Block) -> bytes:
    """The block as the text of the specification describes it."""
    header = b"".join(part for part_name, part in block.fields() if part_name.startswith("header"))
    shifted = encode_int4(1) + encode_int4(TYPES[block.kind] + 1) + encode_int8(len(header)) + header
    body = shifted + encode_int8(len(block.content)) + block.content + encode_int8(4) + encode_int4(0)
    length = 8 + len(body) + 8
    return MAGIC + encode_int8(length) + body + encode_int8(length + 6)


def stray_bytes() -> Iterator[FileCase]:
    """Bytes that are not part of a block."""
    junk = (("one-byte", b"\x00"), ("six-bytes", b"junk!!"), ("eight-bytes", b"\x00" * 8), ("many-bytes", b"\xff" * 300))
    for amount, data in junk:
        for place, parts in (("between", (A, data, C)), ("at-the-end", (A, C, data))):
            yield damaged_case(
                f"stray.{amount}-{place}",
                *parts,
                rules=("LF-025", "BLK-017"),
                errata=("ER-048",),
                accept=[without_corrupt(expected_inspection(*parts))],
                says="Bytes of no block after a whole one: they are corrupt or skipped, every block is shown.",
                because="Do not judge a block by the bytes after it.",
            )
    yield damaged_case(
        "stray.at-the-beginning",
        b"junk!!",
        A,
        C,
        rules=("LF-012", "LF-025"),
        errata=("ER-048",),
        accept=[without_corrupt(expected_inspection(b"junk!!", A, C))],
        or_error=True,
        says="If a file does not begin with a magic, the blocks after the damage are shown, or the file is not a log file.",
        because="Never treat the bytes as a block; an error is right, an empty result is not.",
    )


def broken_parts() -> Iterator[FileCase]:
    """Inconsistent parts inside a valid envelope."""
    width = len(B.content)
    fields: Sequence[tuple[str, str, bytes, str, str]] = (
        ("header-count-huge", "header-count", encode_int4(2**31 - 1), "counts 2147483647 header entries", "LF-017"),
        ("header-count-one-less", "header-count", encode_int4(1), "counts one header entry of two", "LF-017"),
        (
            "header-text-longer-than-the-block",
            "header-0-length",
            encode_int4(2**30),
            "has a header text with a length of a gigabyte",
            "LF-018",
        ),
        (
            "header-text-of-negative-length",
            "header-0-length",
            encode_int4(-1),
            "has a header text with a length of -1",
            "LF-018",
        ),
        ("content-length-negative", "content-length", encode_int8(-1), "has a content length of -1", "LF-019"),
        (
            "content-length-one-more",
            "content-length",
            encode_int8(width + 1),
            "has a content length that is one too high",
            "LF-019",
        ),
        ("content-length-zero", "content-length", encode_int8(0), "has a content length of 0 before its content", "LF-019"),
        ("footer-count", "footer-count", encode_int4(1), "counts a footer entry that does not exist", "LF-022"),
        (
            "footer-length-as-in-the-text",
            "footer-count",
            encode_int8(4) + encode_int4(0),
            "has a footer length of eight bytes",
            "LF-021",
        ),
    )
    for case_name, field, value, meaning, rule in fields:
        broken = replace_field(B, field, value)
        grown = len(broken) - len(B.data)
        if grown:
            broken = MAGIC + encode_int8(LENGTH + grown) + broken[14:-8] + encode_int8(LENGTH + grown + 6)
        yield damaged_case(
            f"parts.{case_name}",
            A,
            broken,
            C,
            rules=(rule, "LF-010", "BLK-015", "BLK-017"),
            says=f"If the middle block {meaning} and its lengths match, it is corrupt or the file is an error.",
            because=AGREE,
            or_error=True,
            flags=("lost-write", "silent-wrong-values", "crash", "memory"),
        )
    bad_text = B.with_changes(header=[(INSTANT, instant_time(2)), (SCHEMA, "x")]).data.replace(
        b"\x00\x00\x00\x01x", b"\x00\x00\x00\x01\xff"
    )
    yield damaged_case(
        "parts.header-text-not-utf-8",
        A,
        bad_text,
        C,
        rules=("LF-018", "BLK-015"),
        says="If a header text of the middle block is not UTF-8, the block is corrupt or the file is an error.",
        because="Decode strictly: a replacement character makes another instant or schema.",
        or_error=True,
        flags=("silent-stale", "crash"),
    )

    talking = Block("command", [(INSTANT, instant_time(2)), (TARGET, instant_time(1)), (COMMAND, "0")], b"\x00")
    yield damaged_case(
        "parts.command-with-a-content",
        A,
        talking,
        C,
        rules=("BLK-002", "BLK-015"),
        errata=(),
        accept=[expected_inspection(A, talking.data, C)],
        or_error=True,
        says="A command block with a content is shown, corrupt, or an error; the next block is found.",
        because="A command has no content; whatever a reader does with the content, the next block follows it.",
    )


def not_to_be_read() -> Iterator[FileCase]:
    """Blocks of a future release."""
    fields = (
        ("version-2", "version", 2, ("LF-014", "LF-027")),
        ("version-of-the-table", "version", 8, ("LF-026", "LF-027")),
        ("type-2", "type", 2, ("BLK-014", "LF-015")),
        ("type-7", "type", 7, ("LF-015", "LF-031")),
    )
    for case_name, field, value, rules in fields:
        yield damaged_case(
            f"unknown.{case_name}",
            A,
            replace_field(B, field, encode_int4(value)),
            C,
            rules=rules,
            errata=("ER-013", "ER-016"),
            verdict="must-refuse",
            error=f"a block of {field} {value}, which is not defined",
            says=f"A block of {field} {value} in a valid envelope is refused and not skipped.",
            because="Rows of a later release must not be dropped silently.",
        )


def broken_contents() -> Iterator[FileCase]:
    """Contents that cannot be decoded, in valid envelopes."""
    framed = B.content
    first = struct.unpack_from(">i", framed, 8)[0]
    removal = delete_block(2, delete_entry("a"))
    listed = removal.content[8:]
    branch = delete_list(delete_entry("a", (b"\x1a\x00", None))[0])
    parquet, stored = parquet_block(2, make_row("b", 2, 2)), build_hfile([(b"b", b"\x00")]).data
    broken: Sequence[tuple[str, Block, bytes, str, tuple[str, ...]]] = (
        ("avro-count-one-more", B, framed[:4] + encode_int4(3) + framed[8:], "the Avro count is one too high", ("BLK-020",)),
        ("avro-count-one-less", B, framed[:4] + encode_int4(1) + framed[8:], "the Avro count is one too low", ("BLK-020",)),
        ("avro-count-huge", B, framed[:4] + encode_int4(2**31 - 1) + framed[8:], "the Avro count is 2^31 - 1", ("BLK-020",)),
        ("avro-record-length", B, framed[:8] + encode_int4(first + 1) + framed[12:], "a record's length is 1 too high",
         ("BLK-021",)),
        ("avro-record-length-negative", B, framed[:8] + encode_int4(-1) + framed[12:], "a record's length is -1", ("BLK-021",)),
        ("avro-trailing-byte", B, framed + b"\x00", "a byte follows the last record", ("BLK-021", "BLK-022")),
        ("avro-cut", B, framed[:-1], "the last record lacks a byte", ("BLK-021", "BLK-022")),
        ("avro-version", B, encode_int4(4) + framed[4:], "the content version of an Avro block is 4", ("BLK-019",)),
        ("delete-length", removal, encode_int4(3) + encode_int4(len(listed) + 1) + listed,
         "the list's length is one too high", ("BLK-008",)),
        ("delete-branch", removal, encode_int4(3) + encode_int4(len(branch)) + branch, "an ordering value has branch 13",
         ("BLK-009",)),
        ("delete-version", removal, encode_int4(4) + removal.content[4:], "the content version of a delete block is 4",
         ("BLK-007",)),
        ("parquet-cut", parquet, parquet.content[:-1], "the Parquet file lacks its last byte", ("BLK-028",)),
        ("hfile-cut", avro_block(2).with_changes(kind="hfile"), stored[:-1], "the HFile lacks its last byte", ("BLK-024",)),
    )  # fmt: skip
    for case_name, block, content, meaning, rules in broken:
        bad = block.with_changes(content=content, shows={HELD[block.kind]: None})
        yield damaged_case(
            f"contents.{case_name}",
            A,
            bad,
            C,
            rules=(*rules, "BLK-015"),
            errata=(),
            accept=[expected_inspection(A, bad.data, C)],
            or_error=True,
            says=f"If {meaning}, none of the rows and deletes of the block are shown, although its envelope is valid.",
            because="A content is valid to its last byte or it is damaged; do not return the rows that can still be decoded.",
            flags=("silent-wrong-values", "lost-write", "crash", "memory"),
        )
