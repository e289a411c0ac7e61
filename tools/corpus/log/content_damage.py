"""Log files with blocks whose envelope is valid and whose content is damaged.

The position and the header of the block and the blocks around it are valid. None of its content may be returned: a reader
may return the block without rows, return a corrupt block in its place, or report an error for the whole file.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tools.corpus.avro_bytes import (
    encode_bytes,
    encode_datum,
    encode_double,
    encode_long,
    encode_optional_string,
    encode_string,
)
from tools.corpus.case import FileCase, Variant
from tools.corpus.hfile.builder import Shape, build_hfile
from tools.corpus.log.blocks import NATURAL, avro_block, base64_text, delete_entry, delete_list, make_row
from tools.corpus.log.builder import BASE_INSTANT, POSITIONS, Block, Json, encode_int4, join_bytes
from tools.corpus.log.delete_blocks import KRYO
from tools.corpus.log.envelope_damage import (
    TINY,
    A,
    C,
    damaged_copies,
    expected_envelopes,
    make_variant,
    small_avro_block,
    small_delete_block,
)
from tools.corpus.log.file_cases import CONTENT
from tools.corpus.log.other_blocks import parquet_block
from tools.corpus.names import instant_time
from tools.corpus.roaring_bytes import array_container, encode_bitmap64, run_container

DANGER = ("silent-wrong-values", "lost-write", "crash", "memory")
#: Members of the inspection of a block that describe its content.
HELD = {"avro": "rows", "cdc": "rows", "parquet": "rows", "hfile": "rows", "delete": "deletes"}

B = small_avro_block(2, "cc", "dd")
RECORDS = [encode_datum(TINY, {"k": key}) for key in ("cc", "dd")]


def cases() -> Iterator[FileCase]:
    """All cases of this module."""
    yield from avro_contents()
    yield from delete_contents()
    yield from other_contents()
    yield from positions()


def inspection_of_damage(before: Block, block: Block, after: Block) -> Json:
    """The envelopes; the damaged block has no content."""
    found = expected_envelopes(before, block, after)
    blocks = [one | ({HELD[block.kind]: None} if number == 1 else {}) for number, one in enumerate(found["blocks"])]
    return {**found, "blocks": blocks}


def contents(name: str, sound: Block, damaged: Mapping[str, bytes], **more: Any) -> FileCase:
    """A family: the middle block with each of these contents."""
    whole = join_bytes(A, sound, C)
    variants = [_with(sound.with_changes(content=content), variant, whole) for variant, content in damaged.items()]
    more = {"needs": CONTENT, "flags": DANGER, "errata": ()} | more
    return damaged_copies(f"content.{name}", variants, of=whole, **more)


def _with(block: Block, name: str, whole: bytes) -> Variant:
    accept = [expected_envelopes(A, block.data, C)]
    return make_variant(
        name, join_bytes(A, block, C), inspection_of_damage(A, block, C), of=whole, accept=accept, or_error=True
    )


def cut_at_every_byte(content: bytes, least: int = 0) -> dict[str, bytes]:
    """A content that is cut at every byte."""
    return {f"cut-to-{length}": content[:length] for length in range(least, len(content))}


def records(count: int, *framed: tuple[int, bytes], version: int = 3, tail: bytes = b"") -> bytes:
    """The content of an Avro block with the given count and lengths."""
    return encode_int4(version) + encode_int4(count) + b"".join(encode_int4(length) + data for length, data in framed) + tail


def avro_contents() -> Iterator[FileCase]:
    """Avro blocks."""
    one, two = RECORDS
    sound = [(len(one), one), (len(two), two)]
    wrong_counts = {"minus-one": -1, "one-less": 1, "one-more": 3, "zero": 0, "greatest": 2**31 - 1, "least": -(2**31)}
    yield contents(
        "avro.count",
        B,
        {name: records(count, *sound) for name, count in wrong_counts.items()},
        rules=("BLK-015", "BLK-020"),
        says="An Avro block whose count is not the number of its records returns no rows.",
        if_it_fails=(
            "Read as many records as counted, and require that the content ends there; allocate nothing for an unchecked count."
        ),
    )
    lengths = {
        "minus-one": -1,
        "zero": 0,
        "one-less": 2,
        "one-more": 4,
        "greatest": 2**31 - 1,
        "least": -(2**31),
        "over-both": 10,
    }
    damaged = {f"first.{name}": records(2, (length, one), sound[1]) for name, length in lengths.items()}
    damaged |= {f"last.{name}": records(2, sound[0], (length, two)) for name, length in lengths.items()}
    damaged["eight-bytes-wide"] = records(2) + b"".join(encode_int4(0) + encode_int4(len(data)) + data for data in RECORDS)
    yield contents(
        "avro.record-length",
        B,
        damaged,
        rules=("BLK-015", "BLK-021"),
        errata=("ER-040",),
        says="An Avro block in which the length of a record is wrong returns no rows.",
        if_it_fails="A record must fill its length, and the last record must end with the content.",
    )
    bad = {
        "text-longer-than-record": b"\x0acc",
        "text-of-negative-length": b"\x01cc",
        "text-of-endless-length": b"\xff" * 10,
        "text-of-2-to-62-bytes": encode_long(2**62),
        "text-that-is-not-utf-8": b"\x04\xff\xfe",
        "bytes-left": b"\x02cc",
        "empty": b"",
    }
    damaged = {name: records(2, (len(data), data), sound[1]) for name, data in bad.items()}
    yield contents(
        "avro.datum",
        B,
        damaged | {"trailing-bytes": records(2, *sound, tail=b"\x00"), "trailing-record": records(2, *sound, sound[1])},
        rules=("BLK-015", "BLK-022"),
        says=(
            "An Avro block with a record that is not a datum of its schema, or with bytes after the last record, "
            "returns no rows."
        ),
        if_it_fails="A datum ends where its length ends, no text is longer than the remaining bytes, and texts are UTF-8.",
    )
    yield contents(
        "avro.cut",
        B,
        cut_at_every_byte(B.content),
        rules=("BLK-015", "BLK-020", "BLK-021", "BLK-022"),
        says="An Avro block with truncated content and adjusted lengths returns no rows.",
        if_it_fails="A valid envelope does not imply a valid content.",
    )
    yield contents(
        "change-capture.cut",
        B.with_changes(kind="cdc"),
        cut_at_every_byte(B.content) | {"count-one-less": records(1, *sound), "trailing-byte": B.content + b"\x00"},
        rules=("BLK-015", "BLK-031", "BLK-032"),
        says="A change-capture block with truncated content, a count that is too low, or additional bytes returns no rows.",
        if_it_fails="Change-capture blocks have the layout of Avro data blocks, and can have the same damage.",
    )
    versions = {"zero": 0, "four": 4, "minus-one": -1, "greatest": 2**31 - 1, "little-endian": 3 << 24}
    yield contents(
        "avro.version",
        B,
        {name: records(2, *sound, version=version) for name, version in versions.items()},
        rules=("BLK-019",),
        errata=("ER-016",),
        says="An Avro block with an undefined content version returns no rows.",
        if_it_fails="Content versions are 1, 2 and 3; a higher one belongs to a later release.",
    )
    yield from rich_data()


def rich_data() -> Iterator[FileCase]:
    """Values whose encodings contain counts and union branches."""
    inner = {"type": "array", "items": "string"}
    schema = {
        "type": "record", "name": "r",
        "fields": [{"name": "u", "type": ["null", "string"]}, {"name": "l", "type": inner}, {"name": "b", "type": "boolean"},
                   {"name": "e", "type": {"type": "enum", "name": "e", "symbols": ["x", "y"]}},
                   {"name": "m", "type": {"type": "map", "values": "long"}}],
    }  # fmt: skip
    rest = b"\x00" + b"\x01" + b"\x00" + b"\x00"
    good = encode_optional_string("a") + rest
    bad = {
        "union-branch-two": encode_long(2) + encode_string("a") + rest,
        "union-branch-minus-one": encode_long(-1) + encode_string("a") + rest,
        "union-branch-2-to-40": encode_long(2**40) + encode_string("a") + rest,
        "list-of-2-to-40-items": encode_optional_string("a") + encode_long(2**40) + encode_string("x") + b"\x00" + rest[1:],
        "list-of-negative-count-without-size": encode_optional_string("a")
        + encode_long(-3)
        + encode_string("x")
        + b"\x00"
        + rest[1:],
        "list-without-its-end": encode_optional_string("a") + encode_long(1) + encode_string("x") + rest[1:],
        "enum-2": encode_optional_string("a") + b"\x00\x01" + encode_long(2) + b"\x00",
        "enum-minus-one": encode_optional_string("a") + b"\x00\x01" + encode_long(-1) + b"\x00",
        "map-of-2-to-40-entries": encode_optional_string("a")
        + b"\x00\x01\x00"
        + encode_long(2**40)
        + encode_string("k")
        + encode_long(1)
        + b"\x00",
        "number-of-eleven-bytes": encode_optional_string("a")
        + b"\x00\x01\x00"
        + encode_long(1)
        + encode_string("k")
        + b"\x80" * 10
        + b"\x01"
        + b"\x00",
    }
    shows = [{"u": "a", "l": [], "b": True, "e": "x", "m": {}}]
    sound = avro_block(2, schema=schema, shows=shows).with_changes(content=records(1, (len(good), good)))
    yield contents(
        "avro.branches-and-counts",
        sound,
        {name: records(1, (len(data), data)) for name, data in bad.items()},
        rules=("BLK-015", "BLK-022"),
        says="An Avro block with an undefined branch or symbol, or with a count of missing elements, returns no rows.",
        if_it_fails="Check branches, symbols and counts against the schema and the remaining bytes before using them.",
    )


def delete_contents() -> Iterator[FileCase]:
    """Delete blocks."""
    sound = small_delete_block(2, "c", "d")
    body = sound.content[8:]
    head = encode_int4(3)
    size = len(body)
    lengths = {
        "minus-one": -1,
        "zero": 0,
        "one-less": size - 1,
        "one-more": size + 1,
        "greatest": 2**31 - 1,
        "with-its-head": size + 8,
    }
    damaged = {name: head + encode_int4(length) + body for name, length in lengths.items()}
    damaged["eight-bytes-wide"] = head + encode_int4(0) + encode_int4(size) + body
    rules = ("BLK-015", "BLK-008", "BLK-009")
    yield contents(
        "delete.length",
        sound,
        damaged,
        rules=rules,
        errata=("ER-017",),
        says="A delete block with a wrong length before its list returns no deletes.",
        if_it_fails="The length is that of the content without its first eight bytes.",
    )
    versions = {"zero": 0, "four": 4, "minus-one": -1, "avro-called-two": 2, "avro-called-one": 1}
    yield contents(
        "delete.version",
        sound,
        {name: encode_int4(version) + encode_int4(size) + body for name, version in versions.items()},
        rules=("BLK-007", "BLK-010"),
        errata=("ER-016", "ER-017"),
        says="A delete block whose content version is undefined, or does not match the following bytes, returns no deletes.",
        if_it_fails="Version 3 is an Avro list; versions 1 and 2 are Kryo arrays; no other version is defined.",
    )
    yield contents(
        "delete.cut",
        sound,
        {name: head + encode_int4(len(part)) + part for name, part in cut_at_every_byte(body).items()}
        | {"no-length": head, "nothing": b"", "half": head[:2]},
        rules=rules,
        errata=("ER-017",),
        says="A delete block with a truncated list and adjusted lengths returns no deletes.",
        if_it_fails="A list ends with a count of 0; nothing may be missing before it.",
    )
    bad = dict(_bad_lists())
    yield contents(
        "delete.list",
        sound,
        {name: head + encode_int4(len(data)) + data for name, data in bad.items()},
        rules=rules,
        errata=("ER-017",),
        says=(
            "A delete block whose list has undefined branches, counts missing elements, or ends too early returns no deletes."
        ),
        if_it_fails="Check branches and counts before using them, and require that the list ends with the content.",
    )


def _bad_lists() -> Iterator[tuple[str, bytes]]:
    start = encode_optional_string("c") + encode_optional_string("")
    orderings = {
        "ordering-branch-13": encode_long(13) + b"\x00", "ordering-branch-minus-one": encode_long(-1),
        "ordering-branch-100": encode_long(100),
        "ordering-text-too-long": encode_long(7) + encode_long(100) + b"ab",
        "ordering-double-cut": encode_long(5) + encode_double(1.5)[:7],
        "ordering-decimal-of-a-gigabyte": encode_long(9) + encode_long(2**30),
        "ordering-array-of-2-to-50": encode_long(12) + encode_long(1) + encode_long(2**50),
        "ordering-int-beyond-32-bits": encode_long(2) + encode_long(2**40),
        "ordering-bytes-of-negative-length": encode_long(6) + encode_long(-5),
    }  # fmt: skip
    yield from ((name, delete_list(start + value)) for name, value in orderings.items())
    one, _ = delete_entry("c", NATURAL)
    yield "key-branch-2", delete_list(encode_long(2) + encode_string("c") + encode_optional_string("") + NATURAL[0])
    yield "key-not-utf-8", delete_list(encode_long(1) + encode_bytes(b"\xff\xfe") + encode_optional_string("") + NATURAL[0])
    yield "count-one-more", encode_long(2) + one + b"\x00"
    yield "count-one-less", encode_long(1) + one + one + b"\x00"
    yield "count-2-to-40", encode_long(2**40) + one + b"\x00"
    yield "count-negative-without-size", encode_long(-1) + one + b"\x00"
    yield "count-least", encode_long(-(2**63)) + encode_long(len(one)) + one + b"\x00"
    yield "no-end", encode_long(1) + one
    yield "trailing-byte", delete_list(one) + b"\x00"
    yield "another-list", delete_list(one) + delete_list(one)


def other_contents() -> Iterator[FileCase]:
    """Parquet and HFile blocks, and deletes in Kryo."""
    file = parquet_block(2, make_row("a", 1, 2))
    ends = (0, 1, 4, 8, 12, len(file.content) // 2, len(file.content) - 8, len(file.content) - 4, len(file.content) - 1)
    tail = len(file.content) - 8
    damaged = {f"cut-to-{end}": file.content[:end] for end in ends} | {
        "footer-length-negative": file.content[:tail] + b"\xff" * 4 + b"PAR1",
        "footer-length-too-long": file.content[:tail] + (tail + 1).to_bytes(4, "little") + b"PAR1",
        "footer-length-zero": file.content[:tail] + bytes(4) + b"PAR1",
        "last-magic": file.content[:-4] + b"PAR2",
        "footer-of-zeros": file.content[: tail - 60] + bytes(60) + file.content[tail:],
        "counted-like-avro": encode_int4(3) + encode_int4(1) + file.content,
    }
    yield contents(
        "parquet",
        file,
        damaged,
        rules=("BLK-015", "BLK-028"),
        errata=("ER-041",),
        says="A Parquet block whose content is not a complete Parquet file returns no rows.",
        if_it_fails="Open the content as a Parquet file; a content that cannot be opened is damaged.",
    )
    entries = [(f"k{n}".encode(), encode_datum(TINY, {"k": f"k{n}"})) for n in range(3)]
    made = build_hfile(entries, Shape())
    hblock = small_avro_block(2).with_changes(
        kind="hfile", content=made.data, shows={"rows": [{"k": f"k{n}"} for n in range(3)]}
    )
    yield contents("hfile", hblock, dict(_bad_hfiles(made.data, made.blocks)), rules=("BLK-015", "BLK-024"), errata=("ER-042",),
                   says=("An HFile block whose content is not a complete HFile, or whose values do not match the schema, "
                         "returns no rows."),
                   if_it_fails="Trailer, index and blocks must match, and every value must be a datum of the schema.",
                   )  # fmt: skip
    for version, name in ((1, "keys.several"), (2, "records.several")):
        body = (KRYO / f"{name}.bin").read_bytes()
        sound = small_delete_block(2).with_changes(content=encode_int4(version) + encode_int4(len(body)) + body)
        damaged = {
            variant: encode_int4(version) + encode_int4(len(part)) + part for variant, part in cut_at_every_byte(body).items()
        }
        damaged["trailing-byte"] = encode_int4(version) + encode_int4(len(body) + 1) + body + b"\x00"
        damaged["null-array"] = encode_int4(version) + encode_int4(len(null_array := _null_array(body))) + null_array
        damaged["another-class"] = encode_int4(version) + encode_int4(len(body)) + _of_another_class(body)
        yield contents(
            f"delete.kryo-{name.partition('.')[0]}",
            sound,
            damaged,
            rules=("BLK-015", "BLK-010"),
            errata=("ER-017",),
            says=f"A delete block of content version {version} returns no deletes if its Kryo array is truncated or longer, or "
            "has objects of another class.",
            if_it_fails="Kryo has no lengths: check the remaining bytes at every read.",
        )


def _null_array(body: bytes) -> bytes:
    """The beginning of an array in Kryo: its class, that it is new, and in place of its length plus one the 0 of a null."""
    name = body.index(b"\xbb")
    return body[: name + 2] + b"\x00"


def _of_another_class(body: bytes) -> bytes:
    """An array in Kryo whose last class has another name of the same length."""
    name = body.rindex(b"model.") + len(b"model.")
    return body[:name] + b"X" + body[name + 1 :]


def _bad_hfiles(data: bytes, places: Mapping[str, int]) -> Iterator[tuple[str, bytes]]:
    for end in (0, 1, 33, places["root"], places["trailer"], len(data) - 1, len(data) - 4096):
        yield f"cut-to-{end}", data[:end]
    for name, place in places.items():
        yield f"magic-of-{name}", data[:place] + b"XXXXXXXX" + data[place + 8 :]
    yield "major-version-2", data[:-1] + b"\x02"
    yield "values-that-are-no-data", build_hfile([(b"a", b"\xff")]).data


def positions() -> Iterator[FileCase]:
    """Record positions that are not a valid bitmap."""
    good = encode_bitmap64({0: {0: array_container(0, 1)}})
    run = encode_bitmap64({0: {0: run_container((0, 9))}})
    bad = {f"array-cut-to-{end}": good[:end] for end in range(len(good))} | {
        f"run-cut-to-{end}": run[:end] for end in range(12, len(run))
    }
    bad |= {
        "buckets-2-to-63": (2**63).to_bytes(8, "little") + good[8:],
        "buckets-one-more": (2).to_bytes(8, "little") + good[8:],
        "cookie": good[:12] + b"\x00\x00\x00\x00" + good[16:],
        "containers-of-2-to-31": good[:16] + (2**31).to_bytes(4, "little") + good[20:],
        "cardinality-65536": good[:22] + b"\xff\xff" + good[24:],
        "runs-65535": run[: len(run) - 6] + b"\xff\xff" + run[-4:],
        "trailing-bytes": good + b"\x00",
    }
    texts = {name: base64_text(data) for name, data in bad.items()}
    right = base64_text(good)
    texts |= {"not-base64": "!" * 20, "without-padding": right.rstrip("=") + "A", "empty-text": "", "a-list": "0,1"}
    sound = _at(right)
    whole = join_bytes(A, sound, C)
    variants = []
    for name, value in texts.items():
        block = _at(value)
        found = expected_envelopes(A, block, C)
        found["blocks"][1]["positions"] = None
        accept = [expected_envelopes(A, block.data, C)]
        variants.append(make_variant(name, join_bytes(A, block, C), found, of=whole, accept=accept, or_error=True))
    yield damaged_copies(
        "positions",
        variants,
        of=whole,
        rules=("LF-041",),
        errata=("ER-014",),
        needs=CONTENT,
        flags=("silent-stale", "crash", "memory"),
        says="If the positions of the middle block are not a bitmap, no positions are shown.",
        if_it_fails="A bitmap that does not decode to its last byte is invalid; merge by keys or report an error.",
    )


def _at(value: str) -> Block:
    block = small_avro_block(2, "c", "d")
    return block.with_changes(header=[*block.header, (POSITIONS, value), (BASE_INSTANT, instant_time(0))])
