"""Damaged HFiles: a reader must report an error or give the answer of the undamaged file.

A reader may ignore parts that it does not need. These answers are wrong: other or fewer entries than were written, keys that
are no longer found, memory in proportion to a damaged length, and endless loops.
"""

import struct
from collections.abc import Iterator, Mapping
from typing import Any

from tools.corpus.case import FileCase, Json, Variant, distinct_variants, find_patch
from tools.corpus.hfile.builder import (
    CRC32C,
    DATA,
    FIELDS,
    HEADER,
    NONE,
    ROOT,
    HFile,
    Shape,
    build_hfile,
    encode_block,
    encode_cell,
    encode_key,
    encode_trailer,
)
from tools.corpus.hfile.valid import NAME, listed_entries

SIX = [(row.encode(), value.encode()) for row, value in zip("bcdefg", "123456", strict=True)]
KEYS = ["a", "c", "f"]
META = {"note": b"meta"}
PLAIN = Shape(checksum=NONE, per_block=2, meta=META)
SUMMED = Shape(checksum=CRC32C, per_block=2, meta=META)
DEEP = Shape(checksum=NONE, per_block=1, per_leaf=2)
PRESSED = Shape(checksum=NONE, per_block=2, gz=True, meta=META)
#: Damaged numbers; those that do not fit into a field are left out.
NUMBERS_TO_TRY = (0, 1, 2**7, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63, 2**64 - 1)


def cases() -> Iterator[FileCase]:
    """All cases of this module."""
    yield from whole_files()
    yield from trailers()
    yield from headers()
    yield from indexes()
    yield from payloads()


def sound_inspection() -> Json:
    """The inspection of the undamaged file."""
    found = [entry for entry in SIX if entry[0].decode() in KEYS]
    return {"entries": listed_entries(SIX), "found": listed_entries(found)}


def damaged_copies(name: str, shape: Shape, variants: Mapping[str, bytes], **more: Any) -> FileCase:
    """Damaged copies of the file of six entries in this shape."""
    data = build_hfile(SIX, shape).data
    made = [
        Variant(name=variant, patches=[find_patch(data, new)], inspect=sound_inspection(), or_error=True)
        for variant, new in variants.items()
        if new != data
    ]
    return FileCase(
        area="hfile",
        name=f"damaged.{name}",
        requirements=more.pop("rules", ("BF-002", "BLK-024", "BLK-026")),
        file=NAME,
        content=data,
        verdict="must-refuse",
        variants=distinct_variants(made, data),
        keys=KEYS,
        needs=("inspect.hfile",),
        flags=("silent-wrong-values", "lost-write", "crash", "memory"),
        **more,
    )


def replace_bytes(data: bytes, offset: int, new: bytes) -> bytes:
    """The bytes with a replacement at one offset."""
    return data[:offset] + new + data[offset + len(new) :]


def whole_files() -> Iterator[FileCase]:
    """Truncated files, and flipped bytes."""
    data, places = _made(SUMMED)
    lengths = sorted(
        {*range(0, len(data), 61), *places.values(), *(place + HEADER for place in places.values()), len(data) - 1}
    )
    yield damaged_copies(
        "cut",
        SUMMED,
        {f"length-{length}": data[:length] for length in lengths},
        says="A truncated HFile gives an error or the answer of the undamaged file.",
        if_it_fails="The trailer is the last 4096 bytes; a file without it is not an HFile.",
    )
    first, root = places["data-0"], places["root"]
    flips = [*range(first + HEADER, first + HEADER + 60), *range(root + HEADER, root + HEADER + 40)]
    flips += range(places["info"] + HEADER, places["info"] + HEADER + 60)
    yield damaged_copies(
        "flipped-under-a-checksum",
        SUMMED,
        {f"byte-{place}": replace_bytes(data, place, bytes([data[place] ^ 0x20])) for place in flips},
        says=(
            "A wrong byte in a payload, which the checksum of the block detects, gives an error or the answer of the "
            "undamaged file."
        ),
        if_it_fails="Compare the CRC-32C of header and payload, chunk by chunk, before anything of a block is used.",
    )
    sums = {
        f"sum-of-{name}": replace_bytes(data, _end(data, place) - 4, b"\x00\x01\x02\x03")
        for name, place in places.items()
        if name != "trailer"
    }
    yield damaged_copies(
        "checksums",
        SUMMED,
        sums,
        says="A wrong checksum of a block gives an error or the answer of the undamaged file.",
        if_it_fails="An error is right; ignoring checksums is right too if the payload is unchanged.",
    )


def _made(shape: Shape) -> tuple[bytes, Mapping[str, int]]:
    file = build_hfile(SIX, shape)
    return file.data, file.blocks


def _end(data: bytes, place: int) -> int:
    """The offset after the block at `place`."""
    return place + HEADER + int(struct.unpack_from(">i", data, place + 8)[0])


def trailers() -> Iterator[FileCase]:
    """The trailer's fields and its version."""
    file = build_hfile(SIX, PLAIN)
    place = file.blocks["trailer"]
    variants = {}
    for name, value in file.fields.items():
        tried = {*NUMBERS_TO_TRY, value - 1, value + 1, place, len(file.data), *file.blocks.values()}
        for other in sorted(number for number in tried if 0 <= number < 2**64):
            variants[f"{name}.{other}"] = file.data[:place] + encode_trailer({**file.fields, name: other}, PLAIN)
        kept = {other: held for other, held in file.fields.items() if other != name}
        variants[f"{name}.missing"] = file.data[:place] + encode_trailer(kept, PLAIN)
    yield damaged_copies(
        "trailer-fields",
        PLAIN,
        variants,
        says="A wrong or missing field of the trailer gives an error or the answer of the undamaged file.",
        if_it_fails="Offsets must refer to blocks of the right type inside the file; counts must match the index.",
    )
    message = file.data[place + 8 : place + 120]
    heads = {
        "magic": replace_bytes(file.data, place, b"XXXXXXXX"),
        "message-length-zero": replace_bytes(file.data, place + 8, b"\x00"),
        "message-length-too-long": replace_bytes(file.data, place + 8, b"\xff\xff\x7f"),
        "message-length-endless": replace_bytes(file.data, place + 8, b"\xff" * 40),
        "message-of-junk": replace_bytes(file.data, place + 9, b"\xff" * 60),
        "message-cut": replace_bytes(file.data, place + 8, bytes([10]) + message[1:]),
        "field-of-unknown-wire-type": replace_bytes(file.data, place + 9, b"\x0f"),
        **{f"major-version-{major}": file.data[:-3] + major.to_bytes(3, "big") for major in (0, 1, 2, 4, 2**24 - 1)},
        **{
            f"minor-version-{minor}": replace_bytes(file.data, len(file.data) - 4, bytes([minor]))
            for minor in (0, 1, 2, 9, 255)
        },
    }
    yield damaged_copies(
        "trailer-head",
        PLAIN,
        heads,
        says=(
            "A damaged magic, message or major version of the trailer gives an error or the undamaged answer; any "
            "minor version is read."
        ),
        if_it_fails="Major version 3 is supported with any minor version; other major versions are refused.",
    )


#: Blocks whose headers are damaged: one of each kind that the file has.
HEADS = ("data-0", "data-2", "leaf-1", "meta-note", "root", "meta-root", "info")


def headers() -> Iterator[FileCase]:
    """The header of every kind of block."""
    for form, shape in (("plain", PLAIN), ("gzip", PRESSED), ("two-levels", DEEP)):
        data, places = _made(shape)
        variants = {}
        damaged = {name: places[name] for name in HEADS if name in places}
        for name, place in damaged.items():
            for field, (offset, width) in FIELDS.items():
                start = place + offset
                for other in _others(data[start : start + width]):
                    variants[f"{name}.{field}.{other.hex()}"] = replace_bytes(data, start, other)
        yield damaged_copies(
            f"block-headers.{form}",
            shape,
            variants,
            says="A wrong value in a field of a block header gives an error or the answer of the undamaged file.",
            if_it_fails="Sizes in a header must match each other, the index and the remaining bytes of the file.",
        )


def _others(old: bytes) -> Iterator[bytes]:
    width, value = len(old), int.from_bytes(old, "big")
    tried = {0, 1, value - 1, value + 1, 2 ** (8 * width - 1), 2 ** (8 * width - 1) - 1, 2 ** (8 * width) - 1, value * 2, 7}
    yield from (other.to_bytes(width, "big") for other in sorted(tried) if 0 <= other < 2 ** (8 * width) and other != value)
    if width == 8:
        yield from (b"DATABLK*", b"IDXROOT2", b"METABLKc", b"FILEINF2", b"XXXXXXXX")


def indexes() -> Iterator[FileCase]:
    """Root and leaf indexes."""
    data, places = _made(PLAIN)
    root = places["root"] + HEADER
    entry = 8 + 4 + 1 + len(encode_key(b"b"))
    variants = {}
    for number in range(3):
        start = root + number * entry
        for name, offset in {**places, "behind-the-file": len(data), "far-away": 2**62, "negative": -1, "zero": 0}.items():
            variants[f"entry-{number}.offset-{name}"] = replace_bytes(data, start, struct.pack(">q", offset))
        for size in (0, 1, -1, 33, 2**31 - 1, -(2**31)):
            variants[f"entry-{number}.size-{size}"] = replace_bytes(data, start + 8, struct.pack(">i", size))
        for length in (0, 1, entry - 14, entry - 12, 127, 0x8F, 0x88, 0xFF):
            variants[f"entry-{number}.key-length-{length}"] = replace_bytes(data, start + 12, bytes([length]))
        variants[f"entry-{number}.key-below"] = replace_bytes(data, start + 15, b"a")
        variants[f"entry-{number}.key-above"] = replace_bytes(data, start + 15, b"z")
        variants[f"entry-{number}.row-length"] = replace_bytes(data, start + 13, b"\x7f\xff")
    yield damaged_copies(
        "root-index",
        PLAIN,
        variants,
        says="A wrong offset, size or key in an entry of the root index gives an error or the answer of the undamaged file.",
        if_it_fails=(
            "Entries must refer to data blocks of their size in ascending order, and their keys must match the "
            "rows of the blocks."
        ),
    )
    data, places = _made(DEEP)
    variants = {}
    for leaf in ("leaf-0", "leaf-1"):
        start = places[leaf] + HEADER
        for field, width in (("count", 4), ("first-offset", 4), ("second-offset", 4)):
            at = start + ("count", "first-offset", "second-offset").index(field) * 4
            for other in _others(data[at : at + width]):
                variants[f"{leaf}.{field}.{other.hex()}"] = replace_bytes(data, at, other)
        behind = start + 4 * 5
        for name, offset in {**places, "behind-the-file": len(data), "negative": -1}.items():
            variants[f"{leaf}.entry-0.leads-to-{name}"] = replace_bytes(data, behind, struct.pack(">q", offset))
    for name, offset in places.items():
        variants[f"root.entry-0.leads-to-{name}"] = replace_bytes(data, places["root"] + HEADER, struct.pack(">q", offset))
    yield damaged_copies(
        "leaf-index",
        DEEP,
        variants,
        says=(
            "A leaf index with a wrong count, unsorted offsets, or a reference to a wrong block or itself is an error "
            "or has no effect."
        ),
        if_it_fails=(
            "Index entries must refer to lower levels and later offsets; an index that refers to itself is an "
            "error, not a loop."
        ),
    )


def payloads() -> Iterator[FileCase]:
    """Entries of data blocks, file info, compressed payloads."""
    file = build_hfile(SIX, PLAIN)
    data, start = file.data, file.blocks["data-1"] + HEADER
    variants = {}
    fields = {"key-length": (0, 4), "value-length": (4, 4), "row-length": (8, 2), "family-length": (11, 1)}
    for field, (offset, width) in fields.items():
        for other in _others(data[start + offset : start + offset + width]):
            variants[f"{field}.{other.hex()}"] = replace_bytes(data, start + offset, other)
    one, two = encode_cell(*SIX[2]), encode_cell(*SIX[3])
    variants["mvcc-version"] = replace_bytes(data, start + len(one) - 1, b"\x01")
    variants["out-of-order"] = replace_bytes(data, start, two + one)
    variants["row-below-its-index-key"] = replace_bytes(data, start + 10, b"a")
    variants["row-not-utf-8"] = replace_bytes(data, start + 10, b"\xff")
    yield damaged_copies(
        "entries",
        PLAIN,
        variants,
        says=(
            "A wrong length in an entry, or a row outside of the key range in the index, gives an error or the "
            "undamaged answer."
        ),
        if_it_fails=(
            "The lengths must end with the payload; rows must be in ascending order and between the keys of the index."
        ),
    )
    yield damaged_copies(
        "file-info",
        PLAIN,
        _infos(file),
        says=(
            "Damaged file info, or file info of another kind of entries, gives an error or the answer of the undamaged file."
        ),
        if_it_fails="File info is PBUF, a length, and pairs of names and values; entry versions other than 1 are refused.",
    )
    data, places = _made(PRESSED)
    inside = range(places["data-0"] + HEADER, _end(data, places["data-0"]) - 4, 3)
    yield damaged_copies(
        "gzip",
        PRESSED,
        {f"byte-{place}": replace_bytes(data, place, bytes([data[place] ^ 0x55])) for place in inside},
        says=(
            "A wrong byte in a compressed payload, which only the checksum of gzip detects, gives an error or the "
            "undamaged answer."
        ),
        if_it_fails="A gzip member ends with a checksum and its length: compare both, and the size in the block's header.",
    )

    yield from decompression_bombs()


#: Decompressed size of a decompression bomb: a thousand times its size, small enough that a failing reader can report it.
INFLATED = 1 << 20


def decompression_bombs() -> Iterator[FileCase]:
    """A kilobyte that is decompressed to a million bytes."""
    bomb = encode_block(DATA, bytes(INFLATED), gz=True, checksum=NONE)
    sizes = {"that-says-so": INFLATED, "that-says-46": 46, "that-says-nothing": 0}
    for which, size in sizes.items():
        shape = Shape(checksum=NONE, gz=True)
        yield FileCase(
            area="hfile",
            name=f"damaged.bomb-{which}",
            requirements=("BF-002", "BLK-024"),
            says=(
                "A block of zeros without entries that inflates to a thousand times its size is an error, found with "
                "little time and memory."
            ),
            if_it_fails="Decompress no more than the size in the block header, and stop at the first invalid entry.",
            file=NAME,
            content=_with_first_block(
                build_hfile(SIX, shape), replace_bytes(bomb, FIELDS["uncompressed-size"][0], struct.pack(">i", size)), shape
            ),
            verdict="must-refuse",
            error="the data block holds no entries",
            needs=("inspect.hfile",),
            flags=("memory", "crash"),
        )


def _with_first_block(file: HFile, first: bytes, shape: Shape) -> bytes:
    """The file with its only data block replaced and all offsets adjusted."""
    old = file.data[file.blocks["data-0"] : file.blocks["root"]]
    shift = len(first) - len(old)
    index = struct.pack(">qi", 0, len(first)) + bytes([len(encode_key(b"b"))]) + encode_key(b"b")
    root = encode_block(ROOT, index, gz=True, checksum=NONE)
    rest = file.data[file.blocks["meta-root"] : file.blocks["trailer"]]
    shift += len(root) - (file.blocks["meta-root"] - file.blocks["root"])
    fields = {**file.fields, "load-on-open-offset": len(first), "file-info-offset": file.fields["file-info-offset"] + shift}
    return first + root + rest + encode_trailer(fields, shape)


def _infos(file: HFile) -> dict[str, bytes]:
    start = file.blocks["info"] + HEADER
    data = file.data
    version = data.index(b"KEY_VALUE_VERSION", start) + len(b"KEY_VALUE_VERSION") + 2
    newest = data.index(b"MAX_MEMSTORE_TS_KEY", start) + len(b"MAX_MEMSTORE_TS_KEY") + 2
    return {
        "magic": replace_bytes(data, start, b"XBUF"),
        "length-too-long": replace_bytes(data, start + 4, b"\xff\x7f"),
        "length-zero": replace_bytes(data, start + 4, b"\x00"),
        "length-endless": replace_bytes(data, start + 4, b"\xff" * 12),
        "pair-too-long": replace_bytes(data, start + 7, b"\x7f"),
        "key-value-version-0": replace_bytes(data, version, struct.pack(">i", 0)),
        "key-value-version-2": replace_bytes(data, version, struct.pack(">i", 2)),
        "newest-change-1": replace_bytes(data, newest, struct.pack(">q", 1)),
    }
