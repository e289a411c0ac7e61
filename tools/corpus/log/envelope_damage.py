"""Log files with a damaged field in an envelope: whole blocks are returned, the damaged one is one corrupt block.

If magic, block length and trailer do not agree, a reader must continue at the next magic. If they agree and the parts
between them are inconsistent, an error is right too, because a later release may have written the bytes.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from tools.corpus.avro_bytes import record_schema
from tools.corpus.case import FileCase, Variant, distinct_variants, find_patch
from tools.corpus.log.blocks import avro_block, delete_entry, delete_list, raw_delete_block
from tools.corpus.log.builder import (
    INSTANT,
    MAGIC,
    Block,
    Json,
    Part,
    encode_int4,
    encode_int8,
    expected_inspection,
    join_bytes,
    without_content,
    without_corrupt,
)
from tools.corpus.log.file_cases import FRAMING, log_file_case
from tools.corpus.names import instant_time

#: A short schema, so that a block has few bytes and each of them can be damaged.
TINY = record_schema("r", ("k", "string"))


def small_avro_block(second: int, *keys: str) -> Block:
    """An Avro block of few bytes."""
    rows = [{"k": key} for key in keys]
    return avro_block(second, *rows, schema=TINY)


def small_delete_block(second: int, *keys: str) -> Block:
    """A delete block of few bytes."""
    entries = [delete_entry(key) for key in keys]
    body = delete_list(*(data for data, _ in entries))
    return raw_delete_block(body, [shows for _, shows in entries], [(INSTANT, instant_time(second))])


A, B, C = small_avro_block(1, "a", "b"), small_avro_block(2, "c", "d"), small_delete_block(3, "a")
WHOLE = join_bytes(A, B, C)
START, END = len(A.data), len(A.data + B.data)

RECOVER = ("LF-012", "LF-013", "LF-024", "BLK-015", "BLK-017")
GO_ON = "If magic, block length and trailer do not match, search for the next magic after this one."
AGREE = "Every length must lie within its block and all parts must end at the trailer; otherwise the block is corrupt."
DANGER = ("lost-write", "silent-stale", "crash", "memory")


def cases() -> Iterator[FileCase]:
    """All cases of this module."""
    yield from cuts()
    yield from outer_fields()
    yield from inner_fields()
    yield from unknown()
    yield from bytes_more_or_less()


def expected_envelopes(*parts: Part) -> Json:
    """The inspection of the envelopes."""
    return without_content(expected_inspection(*parts))


def make_variant(name: str, new: bytes, inspect: Json, of: bytes = WHOLE, **more: Any) -> Variant:
    """A variant whose bytes are `new`."""
    return Variant(name=name, patches=[find_patch(of, new)], inspect=inspect, **more)


def replace_field(block: Block, field: str, value: bytes) -> bytes:
    """The block with a replaced field."""
    place, width = block.position_of_part(field)
    return block.data[:place] + value + block.data[place + width :]


def change_middle_block(field: str, name: str, value: bytes, **more: Any) -> Variant:
    """Three blocks with another value in a field of the middle block."""
    broken = replace_field(B, field, value)
    return make_variant(f"{field}.{name}", A.data + broken + C.data, expected_envelopes(A, broken, C), **more)


def damaged_copies(name: str, variants: Sequence[Variant], of: bytes = WHOLE, **more: Any) -> FileCase:
    """A family of damaged copies of one file."""
    about = {
        "rules": RECOVER,
        "if_it_fails": GO_ON,
        "verdict": "must-recover",
        "needs": FRAMING,
        "flags": DANGER,
        "errata": ("ER-047", "ER-048"),
    }
    return log_file_case(f"damaged-file.{name}", of, variants=distinct_variants(variants, of), **{**about, **more})


def cuts() -> Iterator[FileCase]:
    """Truncated files and blocks."""
    for name, first, second in (
        ("two-data-blocks", A, B),
        ("two-delete-blocks", small_delete_block(1, "a"), small_delete_block(2, "b")),
    ):
        data = join_bytes(first, second)
        variants = [_cut(first, second, length) for length in range(len(data) + 1)]
        yield damaged_copies(
            f"cut-everywhere.{name}",
            variants,
            of=data,
            rules=("BLK-015", "BLK-016", "LF-001", "LF-025"),
            says=(
                "If a file of two blocks is truncated at any byte, complete blocks are shown and the truncated one is corrupt."
            ),
            if_it_fails="The end of the file inside a block ends only that block; up to five bytes may be skipped.",
        )
    for name, torn in (("", B), ("-holding-a-magic", small_avro_block(2, "c#HUDI#d", "#HUDI#"))):
        data = join_bytes(A, torn, C)
        variants = []
        for kept in range(1, len(torn.data)):
            part = torn.data[:kept]
            variants.append(make_variant(f"kept-{kept}", join_bytes(A, part, C), expected_envelopes(A, part, C), of=data))
        yield damaged_copies(
            f"cut-block{name}-before-a-whole-one",
            variants,
            of=data,
            says="A truncated block, as a crashed append leaves it, is corrupt; the complete block after it is read.",
        )


def _cut(first: Block, second: Block, length: int) -> Variant:
    parts: list[Part] = []
    for block in (first, second):
        begin = len(join_bytes(*parts))
        part = block.data[: max(length - begin, 0)]
        parts += [block] if part == block.data else [part] if part else []
    stray = parts and isinstance(parts[-1], bytes) and len(parts[-1]) < len(MAGIC)
    found = expected_envelopes(*parts)
    return Variant(name=f"length-{length}", cut=length, inspect=found, accept=[without_corrupt(found)] if stray else [])


def outer_fields() -> Iterator[FileCase]:
    """Magic, block length and trailer."""
    yield damaged_copies("magic", list(_magics()), rules=("LF-011", "LF-012", "LF-028", "BLK-015", "BLK-017"), says=MAGIC_SAYS)
    yield damaged_copies(
        "length",
        [change_middle_block("length", name, encode_int8(value)) for name, value in _lengths()],
        says="If the block length of the middle block is wrong, that block is corrupt and the others are shown.",
    )
    yield damaged_copies(
        "trailer",
        [change_middle_block("trailer", name, encode_int8(value)) for name, value in _trailers()],
        rules=("LF-023", "LF-024", "BLK-015", "BLK-017"),
        errata=("ER-012", "ER-047"),
        says=(
            "If the trailing length of the middle block is not its block length plus 6, that block is corrupt and the "
            "others are shown."
        ),
        if_it_fails="Compare all eight bytes of both lengths before using anything of the block.",
    )
    flips = [
        (part, offset, bit)
        for part in ("magic", "length", "trailer")
        for offset in range(B.position_of_part(part)[1])
        for bit in range(8)
    ]
    yield damaged_copies(
        "one-bit",
        [_flipped(part, offset, bit) for part, offset, bit in flips],
        rules=("LF-012", "LF-013", "LF-024", "BLK-015", "BLK-017"),
        says="One wrong bit in magic, block length or trailer makes the middle block corrupt; the others are shown.",
    )


MAGIC_SAYS = "A wrong byte in the magic makes the first, middle or last block corrupt; the others are shown."


def _magics() -> Iterator[Variant]:
    blocks = {"first": A, "middle": B, "last": C}
    for which, block in blocks.items():
        for offset in range(len(MAGIC)):
            broken = block.data[:offset] + b"\x00" + block.data[offset + 1 :]
            parts = [broken if one is block else one for one in (A, B, C)]
            yield make_variant(
                f"{which}.byte-{offset}", join_bytes(*parts), expected_envelopes(*parts), or_error=which == "first"
            )


def _lengths() -> Iterator[tuple[str, int]]:
    own, following = len(B.data) - 14, len(C.data)
    yield from (("zero", 0), ("one", 1), ("minus-one", -1), ("least", -(2**63)), ("greatest", 2**63 - 1))
    yield from (("two-to-31", 2**31), ("two-to-32", 2**32), ("greatest-int", 2**31 - 1), ("least-int", -(2**31)))
    yield from (
        ("high-word-set", own + 2**32),
        ("minus-itself", -own),
        ("size-of-the-block", own + 14),
        ("without-magic", own + 8),
    )
    yield from (("one-less", own - 1), ("one-more", own + 1), ("eight-less", own - 8), ("half", own // 2), ("shortest", 31))
    yield from (
        ("over-the-next-block", own + following),
        ("into-the-next-block", own + 14),
        ("to-the-end-and-one", own + following + 1),
    )
    yield from (("into-the-next-length", own + 10), ("bytes-swapped", int.from_bytes(encode_int8(own), "little", signed=True)))


def _trailers() -> Iterator[tuple[str, int]]:
    length = len(B.data) - 14
    yield from (("zero", 0), ("one-less", length + 5), ("one-more", length + 7), ("minus-one", -1), ("negative", -(length + 6)))
    yield from (("the-leading-length", length), ("the-whole-size", length + 14), ("high-word-set", length + 6 + 2**32))
    yield from (("greatest", 2**63 - 1), ("least", -(2**63)), ("of-the-block-before", len(A.data) + 1))
    yield ("bytes-swapped", int.from_bytes(encode_int8(length + 6), "little", signed=True))


def _flipped(part: str, offset: int, bit: int) -> Variant:
    place, _ = B.position_of_part(part)
    broken = bytearray(B.data)
    broken[place + offset] ^= 1 << bit
    return make_variant(
        f"{part}.byte-{offset}.bit-{bit}", join_bytes(A, bytes(broken), C), expected_envelopes(A, bytes(broken), C)
    )


def inner_fields() -> Iterator[FileCase]:
    """Header, content length and footer of a block whose outer lengths agree."""
    counts = (("minus-one", -1), ("one-less", 1), ("one-more", 3), ("zero", 0), ("greatest", 2**31 - 1), ("least", -(2**31)))
    yield damaged_copies(
        "header-count",
        [change_middle_block("header-count", name, encode_int4(value), or_error=True) for name, value in counts],
        rules=("LF-010", "LF-017", "BLK-015"),
        says=(
            "If the header of the middle block counts more or fewer entries than it has, the block is corrupt or the "
            "file is an error."
        ),
        if_it_fails=AGREE,
    )
    lengths = (("minus-one", -1), ("greatest", 2**31 - 1), ("least", -(2**31)), ("one-more", 1), ("one-less", -1), ("zero", 0))
    texts = [
        change_middle_block(
            f"header-{number}-length", name, encode_int4(_relative(f"header-{number}-text", name, value)), or_error=True
        )
        for number in (0, 1)
        for name, value in lengths
    ]
    bad = [("not-utf-8", b"\xff"), ("half-a-character", b"\xc3"), ("surrogate", b"\xed\xa0\x80"), ("overlong", b"\xc0\xaf")]
    for name, wrong in bad:
        _, width = B.position_of_part("header-1-text")
        texts.append(change_middle_block("header-1-text", name, b"{" * (width - len(wrong)) + wrong, or_error=True))
    yield damaged_copies(
        "header-text",
        texts,
        rules=("LF-010", "LF-018", "BLK-015"),
        says=(
            "If a header text of the middle block has a wrong length or is not UTF-8, the block is corrupt or the "
            "file is an error."
        ),
        if_it_fails=AGREE,
    )
    width = len(B.content)
    contents = (("minus-one", -1), ("one-less", width - 1), ("one-more", width + 1), ("zero", 0), ("greatest", 2**63 - 1))
    more = (
        ("least", -(2**63)),
        ("high-word-set", width + 2**32),
        ("to-the-trailer", width + 4),
        ("over-the-trailer", width + 12),
    )
    yield damaged_copies(
        "content-length",
        [change_middle_block("content-length", name, encode_int8(value), or_error=True) for name, value in (*contents, *more)],
        rules=("LF-010", "LF-019", "BLK-015"),
        says=(
            "If the content length of the middle block is too short or too long, the block is corrupt or the file is an error."
        ),
        if_it_fails=AGREE,
    )
    footers = (("one", 1), ("minus-one", -1), ("greatest", 2**31 - 1), ("least", -(2**31)))
    yield damaged_copies(
        "footer-count",
        [change_middle_block("footer-count", name, encode_int4(value), or_error=True) for name, value in footers],
        rules=("LF-010", "LF-021", "LF-022", "BLK-015"),
        errata=("ER-011",),
        says=(
            "If the footer of the middle block counts more entries than it has, the block is corrupt or the file is an error."
        ),
        if_it_fails=AGREE,
    )


def _relative(text: str, name: str, value: int) -> int:
    return B.position_of_part(text)[1] + value if name.startswith("one-") else value


def unknown() -> Iterator[FileCase]:
    """Undefined versions and types in valid envelopes: their rows must not be lost silently."""
    refused: dict[str, Any] = {
        "verdict": "must-refuse",
        "errata": ("ER-013", "ER-016"),
        "flags": ("lost-write", "silent-stale"),
    }
    versions = [
        _unknown("version", name, value)
        for name, value in (("two", 2), ("eight", 8), ("minus-one", -1), ("greatest", 2**31 - 1))
    ]
    yield damaged_copies(
        "unknown-version",
        versions,
        rules=("LF-014", "LF-026", "LF-027"),
        says="A block of an unknown log format version in a valid envelope is refused.",
        if_it_fails="Check the version before reading anything after it; an unknown version belongs to a later release.",
        **refused,
    )
    kinds = (
        ("corrupt", 2),
        ("seven", 7),
        ("255", 255),
        ("minus-one", -1),
        ("greatest", 2**31 - 1),
        ("little-endian-avro", 3 << 24),
    )
    yield damaged_copies(
        "unknown-type",
        [_unknown("type", name, value) for name, value in kinds],
        rules=("LF-015", "LF-031", "BLK-014"),
        says="A block of an unknown type in a valid envelope is refused.",
        if_it_fails="Types 0, 1 and 3 to 6 are defined; type 2 is never written.",
        **refused,
    )


def _unknown(field: str, name: str, value: int) -> Variant:
    broken = replace_field(B, field, encode_int4(value))
    said = f"a block of {field} {value}, which is not defined"
    return Variant(name=name, patches=[find_patch(WHOLE, join_bytes(A, broken, C))], error=said)


def bytes_more_or_less() -> Iterator[FileCase]:
    """A missing or an additional byte at each position of a block, or a missing magic of the next block."""
    missing = [_without(place, 1) for place in range(len(B.data))]
    yield damaged_copies(
        "one-byte-missing", missing, says="One missing byte makes the middle block corrupt; the others are shown."
    )
    added = []
    for place in range(1, len(B.data)):
        broken = B.data[:place] + b"\x7f" + B.data[place:]
        added.append(make_variant(f"at-{place}", join_bytes(A, broken, C), expected_envelopes(A, broken, C)))
    yield damaged_copies(
        "one-byte-too-many", added, says="One additional byte makes the middle block corrupt; the others are shown."
    )
    glued = [_without(0, width) for width in (*range(1, 7), 14, 22)]
    yield damaged_copies(
        "glued",
        glued,
        rules=("LF-011", "LF-012", "BLK-015", "BLK-017"),
        says="If the magic of the middle block is missing, in part or whole, that block is corrupt and the others are shown.",
        if_it_fails="A block without its magic is not a block; the next magic belongs to the next block.",
    )


def _without(place: int, width: int) -> Variant:
    broken = B.data[:place] + B.data[place + width :]
    return make_variant(f"at-{place}-of-{width}", join_bytes(A, broken, C), expected_envelopes(A, broken, C))
