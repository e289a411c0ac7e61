"""Log files with stray bytes before, between and after their blocks."""

from collections.abc import Iterator
from typing import Any

from tools.corpus.case import FileCase, Variant
from tools.corpus.log.builder import MAGIC, Part, encode_int8, join_bytes, without_corrupt
from tools.corpus.log.envelope_damage import WHOLE, A, B, C, damaged_copies, expected_envelopes, make_variant

SIZES = (1, 5, 6, 7, 8, 13, 100)
PLACES = {"before-the-first": 0, "between-the-first-and-the-middle": 1, "before-the-last": 2, "behind-the-last": 3}


def cases() -> Iterator[FileCase]:
    """All cases of this module."""
    for place, index in PLACES.items():
        where = place.replace("-", " ").replace("behind", "after")
        yield damaged_copies(
            f"junk.{place}",
            list(_stray(index)),
            rules=("LF-025", "LF-012", "LF-001", "BLK-016", "BLK-017"),
            errata=("ER-048",),
            says=f"If bytes of no block are {where} block, all blocks are shown and the bytes are corrupt or skipped.",
            if_it_fails="A block is valid whatever follows it: do not judge a block by the bytes after it.",
        )


def _stray(index: int) -> Iterator[Variant]:
    for name, junk in _junk():
        parts: list[Part] = [A, B, C]
        parts.insert(index, junk)
        found = expected_envelopes(*parts)
        more: dict[str, Any] = {"or_error": True} if index == 0 else {}
        yield make_variant(name, join_bytes(*parts), found, accept=[without_corrupt(found)], of=WHOLE, **more)


def _junk() -> Iterator[tuple[str, bytes]]:
    for size in SIZES:
        yield f"zeros-{size}", b"\x00" * size
        yield f"ones-{size}", b"\xff" * size
        yield f"text-{size}", (b"the quick brown fox jumps over the lazy dog. " * 3)[:size]
        yield f"hashes-{size}", b"#" * size
        yield f"half-a-magic-{size}", (MAGIC[:4] * 25)[:size]
    yield "a-page-of-zeros", b"\x00" * 4096
    yield from (("head-of-parquet", b"PAR1"), ("head-of-orc", b"ORC"), ("head-of-an-hfile", b"DATABLK*"))
    yield "magic-but-its-end", MAGIC[:-1]
    yield "another-trailer", B.data[-8:]
    yield "an-empty-footer", b"\x00" * 4
    yield "end-of-a-block", B.data[-40:]
    yield "block-without-its-magic", B.data[6:]
    for name, length in (
        ("zero", 0),
        ("minus-one", -1),
        ("greatest", 2**63 - 1),
        ("of-two-bytes", 2),
        ("of-a-gigabyte", 2**30),
    ):
        yield f"magic-with-length-{name}", MAGIC + encode_int8(length)
    yield "magic-with-length-to-the-next-block", MAGIC + encode_int8(60) + b"\x01" * 60
    yield "magic-amid-junk", b"junk" + MAGIC + b"\x00\x00\x00"
    yield "two-magics", MAGIC + b"--" + MAGIC + b"--"
