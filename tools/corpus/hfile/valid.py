"""Valid HFiles: every layout that writers produce, and lookups."""

from collections.abc import Iterator, Sequence
from typing import Any

from tools.corpus.case import FileCase, Json
from tools.corpus.hfile.builder import CRC32, FAKE, NONE, Entry, HFile, Shape, build_hfile, encode_key
from tools.corpus.names import FILE_ID, instant_time
from tools.corpus.vectors.indexes.independent_hashes import Bloom

NAME = f"{FILE_ID}_0-1-2_{instant_time(1)}.hfile"
RULES = ("BF-002", "BF-010", "BLK-024")
LOOK_UPS = ("BLK-026", "BF-002")
TWENTY = [(f"k{n:02}".encode(), f"v{n}".encode()) for n in range(20)]


def cases() -> Iterator[FileCase]:
    """All cases of this module."""
    yield from layouts()
    yield from entries()
    yield from infos()
    yield from look_ups()
    yield from metas()


def hfile_case(name: str, made: Sequence[Entry], shape: Shape | None = None, **more: Any) -> FileCase:
    """A file of these entries, and its expected inspection."""
    shape = shape or Shape()
    file = build_hfile(made, shape)
    inspect = expected_inspection(file, made, shape)
    asked = {"keys": more.get("keys"), "prefix": more.get("prefix")}
    if any(part is not None for part in asked.values()):
        inspect["found"] = listed_entries([entry for entry in made if _is_asked(entry[0].decode(), **asked)])
    return FileCase(
        area="hfile",
        name=name,
        requirements=more.pop("rules", RULES),
        file=NAME,
        content=file.data,
        verdict="valid",
        inspect=inspect | more.pop("shows", {}),
        needs=more.pop("needs", ("inspect.hfile",)),
        flags=more.pop("flags", ("lost-write",)),
        **more,
    )


def _is_asked(row: str, keys: Sequence[str] | None, prefix: str | None) -> bool:
    return row in (keys or ()) or (prefix is not None and row.startswith(prefix))


def expected_inspection(file: HFile, made: Sequence[Entry], shape: Shape) -> dict[str, Json]:
    """The expected inspection of the file."""
    return {
        "format": "hfile",
        "compression": "gz" if shape.gz else "none",
        "levels": 1 + (shape.per_leaf is not None) + (shape.per_intermediate is not None),
        "entries": listed_entries(made),
        "meta": {name: content.hex() for name, content in shape.meta.items()},
        "info": {name: value.hex() for name, value in file.info.items()},
    }


def listed_entries(made: Sequence[Entry]) -> list[Json]:
    """Entries in the form of an inspection."""
    return [{"key": row.decode(), "value": value.hex()} for row, value in made]


def layouts() -> Iterator[FileCase]:
    """Compression, checksums, blocks and levels of the index."""
    forms: Sequence[tuple[str, Shape, str, str]] = (
        ("uncompressed", Shape(), "without compression", "Payloads follow headers of 33 bytes, and checksums follow payloads."),
        (
            "gzip",
            Shape(gz=True),
            "whose blocks are gzip members",
            "Index and file info are compressed too; the trailer is not.",
        ),
        (
            "gzip-stored",
            Shape(gz=True, level=0),
            "with gzip members that are stored uncompressed",
            "Decompress stored members like any other.",
        ),
        ("crc-32", Shape(checksum=CRC32), "with checksums of CRC-32", "The checksum type is in the header of each block."),
        (
            "without-checksums",
            Shape(checksum=NONE),
            "with zeros in place of checksums",
            "The bytes of the checksums exist also for type 0.",
        ),
        ("several-blocks", Shape(per_block=3), "of seven data blocks", "Follow the index, or read block after block."),
        (
            "one-entry-a-block",
            Shape(per_block=1, gz=True),
            "of twenty data blocks",
            "Follow the index, or read block after block.",
        ),
        (
            "two-levels",
            Shape(per_block=2, per_leaf=3),
            "with an index of two levels",
            "Root entries refer to leaf index blocks, which are between the data blocks.",
        ),
        (
            "two-levels-gzip",
            Shape(True, per_block=2, per_leaf=3),
            "with a compressed index of two levels",
            "Leaf index blocks are compressed like any other block.",
        ),
        (
            "three-levels",
            Shape(per_block=1, per_leaf=2, per_intermediate=3),
            "with an index of three levels",
            "Follow the index from the root, level by level.",
        ),
        ("later-release", LATER, "in the layout of later releases", "No suffix in index keys, no checksums, minor version 0."),
        (
            "bare-index-keys",
            Shape(per_block=4, index_suffix=False),
            "with index keys without suffix",
            "Index keys may have no suffix.",
        ),
        (
            "unknown-trailer-field",
            Shape(unknown_trailer_field=True),
            "with an unknown trailer field",
            "Ignore unknown fields.",
        ),
    )
    for name, shape, meaning, why in forms:
        yield hfile_case(
            f"layout.{name}", TWENTY, shape, says=f"An HFile {meaning} is read with its twenty entries.", if_it_fails=why
        )
    fake = {n: encode_key(TWENTY[4 * n - 1][0] + b"~", FAKE) for n in range(1, 5)}
    yield hfile_case(
        "layout.shortened-index-keys",
        TWENTY,
        Shape(per_block=4, index_keys=fake),
        says="An index key may be in no block: above the last key of one block and not above the first key of the next.",
        if_it_fails="An index key is a lower bound and not an entry; shortened keys have the type ff at their end.",
    )
    yield hfile_case(
        "worked-example",
        [(b"a", b"1"), (b"b", b"2")],
        Shape(meta={"m": b"hi"}),
        says="A minimal HFile of 4557 bytes, with two entries and a meta block, is read.",
        if_it_fails="Read the trailer first: it has the offsets of file info and index. Then read the blocks.",
    )


LATER = Shape(checksum=NONE, minor=0, per_block=8, index_suffix=False, last_key="bare", backwards_info=True)


def entries() -> Iterator[FileCase]:
    """Keys and values of all kinds."""
    for name, gz in (("uncompressed", False), ("gzip", True)):
        yield hfile_case(
            f"entries.none-{name}",
            [],
            Shape(gz=gz, last_key="absent"),
            says="An HFile without entries has no data block, an empty index, and offsets of 2^64 - 1 in its trailer.",
            if_it_fails="A typical metadata table has two such base files; a file without a data block is not an error.",
            flags=("crash",),
        )
    yield hfile_case(
        "entries.one",
        [(b"only", b"value")],
        says="An HFile with one entry is read.",
        if_it_fails="The root index has one entry.",
    )
    texts = sorted(key_text.encode() for key_text in ("", "A", "a", "aa", "Z", "é", "\uffff", "🜁", "名前", "a\x00b"))
    yield hfile_case(
        "entries.keys-in-byte-order",
        [(row, row[::-1]) for row in texts],
        rules=(*RULES, "BLK-025"),
        says="Keys are UTF-8 in the order of their bytes, including the empty key and characters beyond the basic plane.",
        if_it_fails="Compare unsigned bytes, not UTF-16 units and not by language.",
    )
    long = [(f"{n:03}".encode() + b"x" * n, b"v") for n in (10, 100, 113, 114, 115, 116, 124, 125, 126, 127, 128, 240, 300)]
    yield hfile_case(
        "entries.long-keys",
        long,
        Shape(per_block=1),
        says="Index keys of 13 to 303 bytes are read; above 127 bytes their length takes more than one byte.",
        if_it_fails="Lengths in an index are variable-length integers of Hadoop, not of protobuf: 128 is 8f 80.",
        flags=("lost-write", "crash"),
    )
    yield hfile_case(
        "entries.values-of-all-sizes",
        [(b"a", b""), (b"b", b"\x00"), (b"c", b"\xff" * 20_000), (b"d", b"DATABLK*")],
        Shape(per_block=4),
        says="Values of zero to more than 16384 bytes are read, in a block with two checksums.",
        if_it_fails="A checksum covers 16384 bytes of header and payload together; the payload ends before the checksums.",
    )
    yield hfile_case(
        "entries.key-that-comes-twice",
        [(b"a", b"1"), (b"b", b"2"), (b"b", b"3"), (b"c", b"4")],
        keys=["b"],
        rules=(*RULES, "BLK-026"),
        says="A key may occur twice in one block; both entries are returned in stored order.",
        if_it_fails="A look-up continues to the last of the equal keys.",
    )


def infos() -> Iterator[FileCase]:
    """File info."""
    last = (("absent", "is missing"), ("empty", "is empty"), ("bare", "has no suffix"), ("suffix", "has a suffix"))
    for form, meaning in last:
        yield hfile_case(
            f"info.last-key-{form}",
            TWENTY,
            Shape(last_key=form),
            says=f"An HFile is read if the last key in its file info {meaning}.",
            if_it_fails="The last key is only a hint; do not depend on its form.",
            flags=("crash",),
        )
    yield hfile_case(
        "info.entries-backwards",
        TWENTY,
        Shape(backwards_info=True, info={"schema": b'{"type":"string"}'}),
        says="The entries of file info may be in any order.",
        if_it_fails="Find the entries of file info by name.",
    )


def look_ups() -> Iterator[FileCase]:
    """Lookups of keys and prefixes through the index."""
    shapes = {
        "one-block": Shape(),
        "several-blocks": Shape(per_block=3),
        "two-levels": Shape(gz=True, per_block=2, per_leaf=2),
        "three-levels": Shape(per_block=1, per_leaf=2, per_intermediate=2),
        "later-release": LATER,
        "shortened-index-keys": Shape(
            per_block=4, index_keys={n: encode_key(TWENTY[4 * n - 1][0] + b"~", FAKE) for n in range(1, 5)}
        ),
    }
    questions: Sequence[tuple[str, dict[str, Any], str]] = (
        ("keys", {"keys": ["k00", "k02", "k03", "k11", "k19"]}, "stored keys"),
        (
            "absent-keys",
            {"keys": ["", "a", "k", "k03~", "k03~~", "k031", "k1", "k20", "z", "é"]},
            "absent keys, before, between and after the stored ones,",
        ),
        ("prefix", {"prefix": "k1"}, "a prefix of ten keys"),
        ("prefixes-of-none", {"prefix": "k03~"}, "a prefix that falls between two keys"),
    )
    for form, shape in shapes.items():
        for question, asked, meaning in questions:
            yield hfile_case(
                f"look-up.{question}.{form}",
                TWENTY,
                shape,
                **asked,
                rules=LOOK_UPS,
                says=f"A look-up of {meaning} finds the same entries as a scan, in the order of the file.",
                if_it_fails=(
                    "Read the block with the greatest index key that is not above the key; index keys may be in no block."
                ),
                flags=("lost-write", "silent-stale"),
            )
    yield hfile_case(
        "look-up.empty-prefix",
        TWENTY,
        Shape(per_block=3),
        prefix="",
        rules=LOOK_UPS,
        says="The empty prefix matches every key.",
        if_it_fails="An empty prefix has no upper bound.",
    )
    wide = [(row.encode(), b"") for row in sorted(("a", "é", "éa", "ê", "z", "🜁"), key=str.encode)]
    yield hfile_case(
        "look-up.prefix-that-is-not-ascii",
        wide,
        Shape(per_block=2),
        prefix="é",
        rules=LOOK_UPS,
        says="A prefix is compared by its UTF-8 bytes.",
        if_it_fails="Encode the prefix as UTF-8 first.",
    )
    for form in ("uncompressed", "gzip"):
        yield hfile_case(
            f"look-up.in-an-empty-file.{form}",
            [],
            Shape(gz=form == "gzip", last_key="absent"),
            keys=["a"],
            rules=LOOK_UPS,
            says="A look-up in a file without entries finds nothing.",
            if_it_fails="The file has no block to search.",
            flags=("crash",),
        )


def metas() -> Iterator[FileCase]:
    """Meta blocks."""
    for kind, entries_, most in (("SIMPLE", 20, 0), ("DYNAMIC_V0", 10, 100)):
        bloom = Bloom(entries_, 0.01, most)
        for row, _ in TWENTY:
            bloom.add(row.decode())
        info = {"bloomFilterTypeCode": kind.encode(), "minRecordKey": b"k00", "maxRecordKey": b"k19"}
        asked = ["k00", "k19", "nobody", "k20", "é"]
        yield hfile_case(
            f"meta.bloom-filter-{'simple' if kind == 'SIMPLE' else 'dynamic'}",
            TWENTY,
            Shape(per_block=5, meta={"bloomFilter": bloom.text().encode()}, info=info),
            keys=asked,
            rules=("BF-002", "IDX-004", "IDX-005", "IDX-006"),
            needs=("inspect.hfile", "inspect.bloom-filter"),
            shows={
                "bloom": {
                    "type": kind,
                    "hashes": bloom.hashes,
                    "bits": str(bloom.bits),
                    "may_hold": [bloom.may_hold(one) for one in asked],
                }
            },
            says=(
                "The bloom filter of an HFile base file is a meta block of Base64 text; it reports every key as possibly "
                "present."
            ),
            if_it_fails="File info states the type of the filter; see the vectors of bloom.may-hold.",
            flags=("lost-write", "silent-stale"),
        )
    yield hfile_case(
        "meta.several",
        TWENTY,
        Shape(gz=True, meta={"a": b"", "bloomy": b"\x00\xff", "z": b"z" * 20_000}),
        says="Meta blocks are found by their names, whatever they contain.",
        if_it_fails="Names in the meta index have neither length nor suffix of their own.",
    )
