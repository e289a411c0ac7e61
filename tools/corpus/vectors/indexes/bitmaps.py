"""Record positions: bitmaps that are encoded, decoded, and refused."""

import base64
import struct
from collections.abc import Iterable, Iterator, Sequence

from tools.corpus.case import VectorCase
from tools.corpus.vectors.indexes.independent_hashes import encode_positions
from tools.corpus.vectors.vector_tests import HAND, HUDI, SECOND, Test, invalid_test, number_tests, optional_test, valid_test

_NOTES = {
    "array": "Up to 4096 positions of 65536 are stored as a list.",
    "bitset": "More than 4096 positions are stored as 65536 bits.",
    "run": (
        "Consecutive positions are stored as first and length minus one; deployed writers do so where it takes fewer bytes."
    ),
    "offsets": "With runs, offsets are stored only for four or more containers.",
    "high-words": "Beyond 32 bits there is one bitmap for each upper half; a reader of one misses the others.",
    "unsigned": "Words are unsigned: 4294967295 is a position.",
    "empty": "No positions, which is a bitmap of no upper halves.",
    "order": "Positions are a set: order and repeats of the input do not matter, the output ascends.",
    "other-form": "A legal bitmap in another form than deployed writers choose.",
    "legacy-form": "The form of Java that is not portable begins with a byte and a big-endian count.",
    "cut": "Bytes are missing: positions left out would apply changes to other rows.",
    "trailing": "Bytes after the bitmap that are not part of it.",
    "base64": "The text is Base64 with the standard alphabet, padding, and no line breaks.",
    "inconsistent": "Counts, order or offsets contradict each other.",
    "bounded": "A few bytes encode very many positions; the memory is bounded by the stored bytes, or the text is refused.",
}
#: The text about encoded bitmaps.
_SHAPES = ("array", "bitset", "run", "offsets", "high-words", "unsigned", "empty", "order")
_HALF = 2**32


def cases() -> Iterator[VectorCase]:
    """Encoding and decoding of positions."""
    yield VectorCase(
        area="positions",
        name="encode",
        requirements=["LF-041"],
        says=(
            "Row positions are encoded as Base64 of a portable 64-bit Roaring bitmap, with runs where they take fewer bytes."
        ),
        needs=["compute.positions.encode"],
        flags=["double-apply"],
        errata=["ER-014"],
        function="positions.encode",
        derived_by=[HUDI, SECOND],
        notes={k: _NOTES[k] for k in _SHAPES},
        tests=number_tests(_encoded()),
        if_it_fails="Decode both texts: other positions are wrong, and so is a form that deployed writers do not use.",
    )
    yield VectorCase(
        area="positions",
        name="decode",
        requirements=["LF-041"],
        says=(
            "Every portable 64-bit Roaring bitmap is decoded to its positions; any other text is an error without positions."
        ),
        needs=["compute.positions.decode"],
        flags=["lost-write", "double-apply"],
        errata=["ER-014"],
        function="positions.decode",
        derived_by=[HUDI, SECOND, HAND],
        notes={k: v for k, v in _NOTES.items() if k != "order"},
        tests=number_tests(_decoded(), _other_forms(), _not_text(), _cut(), _inconsistent()),
        if_it_fails="Decode the text as the portable 64-bit form, little-endian; check that it ends where its counts state.",
    )


def _texts(positions: Iterable[int]) -> list[str]:
    return [str(position) for position in positions]


def _eights(containers: int) -> list[int]:
    """The first eight positions of each of this number of containers."""
    return [container * 65536 + n for container in range(containers) for n in range(8)]


#: (comment, positions, flags, text from a file of Apache Hudi)
_SETS: tuple[tuple[str, Sequence[int], tuple[str, ...], str | None], ...] = (
    ("observed: none", [], ("empty",), "AAAAAAAAAAA="),
    ("observed: the first row", [0], ("array",), "AQAAAAAAAAAAAAAAOjAAAAEAAAAAAAAAEAAAAAAA"),
    ("observed: three rows", [0, 2, 5], ("array",), "AQAAAAAAAAAAAAAAOjAAAAEAAAAAAAIAEAAAAAAAAgAFAA=="),
    ("observed: 99 consecutive rows", range(99), ("run",), "AQAAAAAAAAAAAAAAOzAAAAEAAGIAAQAAAGIA"),
    ("observed: three consecutive rows are a list", [1, 2, 3], ("array",), "AQAAAAAAAAAAAAAAOjAAAAEAAAAAAAIAEAAAAAEAAgADAA=="),
    ("observed: four consecutive rows are a run", range(4), ("run",), "AQAAAAAAAAAAAAAAOzAAAAEAAAMAAQAAAAMA"),
    ("observed: two containers", [1, 70000], ("array",), "AQAAAAAAAAAAAAAAOjAAAAIAAAAAAAAAAQAAABgAAAAaAAAAAQBwEQ=="),
    ("observed: 5000 consecutive rows", range(5000), ("run",), "AQAAAAAAAAAAAAAAOzAAAAEAAIcTAQAAAIcT"),
    ("observed: on both sides of the border of two containers", [65535, 65536], ("array",),
     "AQAAAAAAAAAAAAAAOjAAAAIAAAAAAAAAAQAAABgAAAAaAAAA//8AAA=="),
    ("observed: the last of 32 bits", [_HALF - 1], ("array", "unsigned"), "AQAAAAAAAAAAAAAAOjAAAAEAAAD//wAAEAAAAP//"),
    ("observed: two upper halves", [1, _HALF], ("high-words",),
     "AgAAAAAAAAAAAAAAOjAAAAEAAAAAAAAAEAAAAAEAAQAAADowAAABAAAAAAAAABAAAAAAAA=="),
    ("observed: three upper halves", [7, _HALF + 1, 2 * _HALF + 5], ("high-words",),
     "AwAAAAAAAAAAAAAAOjAAAAEAAAAAAAAAEAAAAAcAAQAAADowAAABAAAAAAAAABAAAAABAAIAAAA6MAAAAQAAAAAAAAAQAAAABQA="),
    ("one row far back", [1_000_000], ("array",), None),
    ("above 31 bits", [2**31 - 1, 2**31, 2**31 + 1], ("array", "unsigned"), None),
    ("beside the edge of 32 bits", [_HALF - 1, _HALF], ("high-words", "unsigned"), None),
    ("upper halves that are not neighbours", [3, 1000 * _HALF + 3], ("high-words",), None),
    ("above 40 bits", [2**40, 2**40 + 65536], ("high-words",), None),
    ("two runs", [*range(10), *range(20, 30)], ("run",), None),
    ("a run and a single row", [*range(100), 1000], ("run",), None),
    ("every second row", range(0, 40, 2), ("array",), None),
    ("a run over two containers", range(65530, 65550), ("run",), None),
    ("runs in three containers, without offsets", _eights(3), ("run", "offsets"), None),
    ("runs in four containers, with offsets", _eights(4), ("run", "offsets"), None),
    ("a run among lists, in five containers", [*range(50), *range(65543, 5 * 65536, 65536)], ("run", "offsets"), None),
    ("nine containers, more run flags than a byte has", _eights(9), ("run", "offsets"), None),
    ("runs in one upper half, lists in the other", [*range(64), _HALF + 5], ("run", "high-words"), None),
    ("a whole container", range(65536), ("run",), None),
)  # fmt: skip
#: Bitmaps with a long text or very many positions, used only where the size is tested.
_BITS = [n * 2 for n in range(5000)]


def _encoded() -> Iterator[Test]:
    for comment, positions, flags, seen in _SETS:
        if len(positions) <= 5000:
            yield valid_test(comment, {"positions": _texts(positions)}, _text(positions, seen), *flags)
    yield valid_test("a list of 4096", {"positions": _texts(range(0, 8192, 2))}, encode_positions(range(0, 8192, 2)), "array")
    yield valid_test("bits for 4097", {"positions": _texts(range(0, 8194, 2))}, encode_positions(range(0, 8194, 2)), "bitset")
    yield valid_test("in another order", {"positions": ["5", "0", "2"]}, encode_positions([0, 2, 5]), "order")
    yield valid_test("repeated", {"positions": ["5", "5", "0"]}, encode_positions([0, 5]), "order")
    yield invalid_test("a negative position", {"positions": ["-1"]}, "unsigned")
    yield invalid_test("no number", {"positions": ["a"]})


def _text(positions: Iterable[int], seen: str | None) -> str:
    text = encode_positions(positions)
    assert seen is None or seen == text, (seen, text)
    return text


def _read(comment: str, data: bytes, positions: Iterable[int], *flags: str) -> Test:
    return valid_test(comment, {"bitmap": base64.b64encode(data).decode()}, _texts(positions), *flags)


def _refused(comment: str, data: bytes, *flags: str) -> Test:
    return invalid_test(comment, {"bitmap": base64.b64encode(data).decode()}, *flags)


def _decoded() -> Iterator[Test]:
    for comment, positions, flags, seen in _SETS:
        if len(positions) <= 200:
            yield valid_test(comment, {"bitmap": _text(positions, seen)}, _texts(positions), *flags)
    yield _read("bits", _one(_BITS, bits=True), _BITS, "bitset")


def _one(low: Sequence[int], *, bits: bool = False, high: int = 0, key: int = 0, count: int | None = None) -> bytes:
    """A bitmap of one container, as a list or as bits."""
    body = sum(1 << n for n in low).to_bytes(8192, "little") if bits else struct.pack(f"<{len(low)}H", *low)
    head = struct.pack("<IIHHI", 12346, 1, key, (len(low) if count is None else count) - 1 & 0xFFFF, 16)
    return struct.pack("<QI", 1, high) + head + body


def _runs(*runs: tuple[int, int], count: int, number: int | None = None) -> bytes:
    """A bitmap of one container of runs (first, length less one)."""
    body = struct.pack("<H", len(runs) if number is None else number) + b"".join(struct.pack("<HH", *run) for run in runs)
    return struct.pack("<QI", 1, 0) + struct.pack("<HHBHH", 12347, 0, 1, 0, count - 1) + body


def _other_forms() -> Iterator[Test]:
    yield _read("a list where a run would take fewer bytes", _one(range(20)), range(20), "other-form", "array")
    yield _read("a run where a list would", _runs((3, 0), (7, 0), count=2), [3, 7], "other-form", "run")
    lists = struct.pack("<QI", 1, 0) + struct.pack("<HHBHH", 12347, 0, 0, 0, 1) + struct.pack("<HH", 3, 7)
    yield _read("the header of runs without a run", lists, [3, 7], "other-form", "run")


def _legacy(positions: Sequence[int]) -> bytes:
    """The Java form, which is not portable: a flag, count and upper halves in big-endian order, then bitmaps of 32 bits."""
    inner = base64.b64decode(encode_positions(positions))[12:]
    return struct.pack(">?iI", False, 1, 0) + inner


def _not_text() -> Iterator[Test]:
    good = base64.b64encode(_one([0, 2, 5])).decode()
    sharp = base64.b64encode(_one([0xFBFF, 0xFFFE])).decode()
    assert "+" in sharp or "/" in sharp
    yield valid_test("plus and slash", {"bitmap": sharp}, ["64511", "65534"], "base64")
    for comment, text in {
        "the alphabet of URLs": sharp.replace("+", "-").replace("/", "_"),
        "a line break inside": good[:20] + "\n" + good[20:],
        "a line break of MIME inside": good[:20] + "\r\n" + good[20:],
        "a blank before it": f" {good}",
        "a line break behind it": f"{good}\n",
        "a character less": good[:-5],
        "three characters more": f"{good}AAA",
        "text behind the padding": f"{good}AAAA",
        "no Base64": "positions: 0, 2, 5",
        "numbers": "0,2,5",
    }.items():
        result = optional_test(comment, {"bitmap": text}, ["0", "2", "5"], "base64") if comment in _LENIENT else None
        yield result or invalid_test(comment, {"bitmap": text}, "base64")
    yield invalid_test("no text, which is no bitmap of no positions", {"bitmap": ""}, "base64", "empty")
    yield _refused("the form that is not portable", _legacy([1, 2, 3]), "legacy-form")
    yield _refused("that form, without positions", struct.pack(">?i", False, 0), "legacy-form", "empty")
    yield _refused("a bitmap of 32 bits", base64.b64decode(encode_positions([0, 2, 5]))[12:], "legacy-form")


#: Characters that some Base64 decoders skip; the positions are then right.
_LENIENT = ("a line break inside", "a line break of MIME inside", "a blank before it", "a line break behind it")


def _cut() -> Iterator[Test]:
    two = base64.b64decode(encode_positions([1, _HALF]))
    run = base64.b64decode(encode_positions(range(99)))
    for size in (1, 7, 8, 11, 12, 16, 20, 24, 28, 29, 30, 33, len(two) - 2, len(two) - 1):
        yield _refused(
            f"two upper halves, {size} of {len(two)} bytes", two[:size], "cut", *(["high-words"] if size > 29 else [])
        )
    for size in (14, 17, 18, 20, len(run) - 1):
        yield _refused(f"a run, {size} of {len(run)} bytes", run[:size], "cut", "run")
    yield _refused("bits, one byte too few", _one(_BITS, bits=True)[:-1], "cut", "bitset")
    for comment, data, positions in (
        ("one byte more", two + b"\0", [1, _HALF]),
        ("a second bitmap behind it", two + two, [1, _HALF]),
        ("a byte behind no positions", bytes(9), []),
    ):
        yield optional_test(comment, {"bitmap": base64.b64encode(data).decode()}, _texts(positions), "trailing")


def _inconsistent() -> Iterator[Test]:
    yield _refused("a list that does not ascend", _one([5, 2]), "inconsistent", "array")
    yield _refused("a list with a repeat", _one([5, 5]), "inconsistent", "array")
    yield _refused("the declared number of bits is wrong", _one(_BITS, bits=True, count=4999), "inconsistent", "bitset")
    yield _refused("runs that overlap", _runs((0, 10), (5, 10), count=16), "inconsistent", "run")
    yield _refused("runs that do not ascend", _runs((20, 1), (0, 1), count=4), "inconsistent", "run")
    yield _refused("a run beyond its container", _runs((65535, 1), count=2), "inconsistent", "run")
    yield _refused("no runs where there must be some", _runs(count=1), "inconsistent", "run")
    yield _refused("more runs than bytes", _runs((0, 1), count=2, number=65535), "inconsistent", "run", "bounded")
    yield _refused("an unknown cookie", struct.pack("<QI", 1, 0) + struct.pack("<I", 12345) + bytes(16), "inconsistent")
    containers = struct.pack("<IIHHHHII", 12346, 2, 1, 0, 0, 0, 24, 26) + struct.pack("<HH", 7, 7)
    yield _refused("containers that do not ascend", struct.pack("<QI", 1, 0) + containers, "inconsistent")
    inner = base64.b64decode(encode_positions([1]))[12:]
    yield _refused("upper halves that do not ascend", struct.pack("<QI", 2, 1) + inner + struct.pack("<I", 0) + inner,
                   "inconsistent", "high-words")  # fmt: skip
    yield _refused("one upper half twice", struct.pack("<QI", 2, 1) + inner + struct.pack("<I", 1) + inner,
                   "inconsistent", "high-words")  # fmt: skip
    yield _refused("more upper halves than bytes", struct.pack("<Q", 2**40), "inconsistent", "bounded")
    yield _refused("the most upper halves there can be", struct.pack("<Q", 2**64 - 1), "inconsistent", "bounded")
    yield _refused("65536 containers in no bytes", struct.pack("<QIII", 1, 0, 12346, 65536), "inconsistent", "bounded")
    yield _refused("more containers than there are", struct.pack("<QIII", 1, 0, 12346, 2**31), "inconsistent", "bounded")
    nothing = base64.b64encode(struct.pack("<QIII", 1, 0, 12346, 0)).decode()
    yield optional_test("an upper half without containers", {"bitmap": nothing}, [], "other-form", "empty")
    shifted = _one([0, 2, 5]).replace(struct.pack("<I", 16), struct.pack("<I", 17))
    yield optional_test(
        "a wrong offset", {"bitmap": base64.b64encode(shifted).decode()}, ["0", "2", "5"], "inconsistent", "offsets"
    )
