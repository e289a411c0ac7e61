"""Bloom filters: creation from keys, and lookups."""

import base64
import struct
from collections.abc import Iterator, Sequence

from tools.corpus.case import VectorCase
from tools.corpus.vectors.indexes.independent_hashes import Bloom, jenkins
from tools.corpus.vectors.vector_tests import HUDI, SECOND, Json, Test, invalid_test, number_tests, valid_test

SIMPLE, DYNAMIC = "SIMPLE", "DYNAMIC_V0"

_NOTES = {
    "growth": "A growing filter gets a row for a fixed number of keys, and stores how many keys the last row has.",
    "full": "At its maximum size, the next key goes to the first row, and later keys to all rows in turn.",
    "sign-extended": "The last 1 to 3 bytes are signed; MurmurHash2 as published gives other bits.",
    "tail": "The last 1 to 3 bytes are read from the end; MurmurHash2 as published reads them in the other direction.",
    "no-tail": "Keys of 4, 8 or 12 bytes have no remaining bytes.",
    "not-ascii": "Keys are hashed as UTF-8.",
    "empty-key": "No record has an empty key, and deployed releases refuse it.",
    "no-keys": "A filter without keys reports every key as absent.",
    "false-positive": "A filter may report an absent key as present; every implementation must do so for the same keys.",
    "any-row": "A key is present if one row has all its bits; its bits spread over several rows do not count.",
    "row-count": "The filter states the numbers of rows and keys; a reader of one row misses the keys of the others.",
    "old-hash": "A filter of type 0 was made with the hash of Jenkins, which no release writes any more.",
    "damaged": "A truncated filter is an error; a reader that treats it as empty misses rows.",
    "bounded": "A reader must not allocate memory by the sizes in a damaged filter.",
    "size": "Bits and hashes follow from keys and rate; the size of a byte is rounded up.",
}
#: Keys with every number of bytes after the last group of four, with and without ASCII.
KEYS = (
    "a",
    "ab",
    "abc",
    "abcd",
    "abcde",
    "é",
    "aé",
    "abé",
    "日",
    "日本",
    "😀",
    "a😀",
    "ab😀",
    "\x7f",
    "\x80",
    "ÿÿÿ",
    "key-000000",
)


def cases() -> Iterator[VectorCase]:
    """Creation of filters, and lookups in filters."""
    yield VectorCase(
        area="bloom",
        name="filters-made",
        requirements=["IDX-004", "IDX-005", "IDX-006"],
        says=(
            "A bloom filter has the same bits in every implementation, whether its size is fixed or grows by rows as "
            "keys are added."
        ),
        needs=["compute.bloom.make"],
        flags=["silent-stale"],
        function="bloom.make",
        derived_by=[HUDI, SECOND],
        notes={
            k: v
            for k, v in _NOTES.items()
            if k not in ("false-positive", "any-row", "row-count", "old-hash", "damaged", "bounded")
        },
        tests=number_tests(_made()),
        if_it_fails=(
            "Compare the header first, then the rows: sizes, then the bits of keys of 4 bytes, of 1 byte, and not in ASCII."
        ),
    )
    yield VectorCase(
        area="bloom",
        name="membership",
        requirements=["IDX-004", "IDX-005", "IDX-006"],
        says="A bloom filter never reports an added key as absent, whichever row has it; a damaged filter is an error.",
        needs=["compute.bloom.may-hold"],
        flags=["silent-stale", "lost-write"],
        function="bloom.may-hold",
        derived_by=[HUDI, SECOND],
        notes={k: v for k, v in _NOTES.items() if k not in ("growth", "full", "size")},
        tests=number_tests(_asked(), _damaged(), _asked_of_old_filters()),
        if_it_fails=(
            "Bit i is bit i % 8, from the lowest, of byte i // 8; each hash is the seed of the next; any row may have the key."
        ),
    )


def _filter(kind: str, keys: Sequence[str], entries: int, rate: float, max_entries: int) -> Bloom:
    made = Bloom(entries, rate, max_entries if kind == DYNAMIC else 0)
    for key in keys:
        made.add(key)
    return made


def _make(
    comment: str, kind: str, keys: Sequence[str], *flags: str, entries: int = 10, rate: float = 0.01, max_entries: int = 100,
    seen: str | None = None,
) -> Test:  # fmt: skip
    text = _filter(kind, keys, entries, rate, max_entries).text()
    assert seen is None or seen == text, (comment, seen, text)
    arguments = {"type": kind, "entries": entries, "rate": rate, "max_entries": max_entries, "keys": list(keys)}
    return valid_test(comment, arguments, text, *flags)


def _numbered(count: int) -> list[str]:
    return [f"k{n}" for n in range(count)]


def _made() -> Iterator[Test]:
    yield _make("observed: two keys", SIMPLE, ["a", "b"], "tail", seen="/////wAAAAcBAAAAYKIQgARAUAhABACACA==")
    yield _make("observed: two keys, growing", DYNAMIC, ["a", "b"], "tail",
                seen="/////wAAAAcBAAAAYAAAAAoAAAACAAAAAf////8AAAAHAQAAAGCiEIAEQFAIQAQAgAg=")  # fmt: skip
    yield _make("observed: no keys", SIMPLE, [], "no-keys", seen="/////wAAAAcBAAAAYAAAAAAAAAAAAAAAAA==")
    yield _make("observed: no keys, growing", DYNAMIC, [], "no-keys",
                seen="/////wAAAAcBAAAAYAAAAAoAAAAAAAAAAf////8AAAAHAQAAAGAAAAAAAAAAAAAAAAA=")  # fmt: skip
    mixed = ["é", "日本", "😀", "abé", "abcdefgh"]
    yield _make("observed: keys that are not ASCII", SIMPLE, mixed, "sign-extended", "not-ascii", entries=20, rate=0.001,
                seen="/////wAAAAoBAAABIKIAAFgEIAAMQAAClAAgkCMAAEAIQQIAEAAEBiJwgAQQtADQAA==")  # fmt: skip
    yield _make("observed in a metadata table", SIMPLE, ["😀"], "not-ascii", seen="/////wAAAAcBAAAAYAAAACgAAAAMAAACBA==")
    yield _make(
        "observed in a metadata table: one key of several bytes", SIMPLE, ["k:3,x"], seen="/////wAAAAcBAAAAYAAACAAAAAAAo0AAAA=="
    )
    small = {"entries": 5, "rate": 0.1, "max_entries": 10}
    seen = {
        5: "/////wAAAAQBAAAAGAAAAAUAAAAFAAAAAf////8AAAAEAQAAABj23og=",
        6: "/////wAAAAQBAAAAGAAAAAUAAAABAAAAAv////8AAAAEAQAAABj23oj/////AAAABAEAAAAYQAQk",
        13: "/////wAAAAQBAAAAGAAAAAUAAAAIAAAAAv////8AAAAEAQAAABj+3rz/////AAAABAEAAAAYZ9Wt",
    }
    for count in (1, 4, 5, 6, 9, 10, 11, 12, 13, 20):
        flags = ["growth"] if count <= 10 else ["growth", "full"]
        yield _make(f"{count} keys, rows of 5, up to 10", DYNAMIC, _numbered(count), *flags, **small, seen=seen.get(count))
    yield _make("observed: 13 keys for 5, of fixed size", SIMPLE, _numbered(13), **small, seen="/////wAAAAQBAAAAGP/fvQ==")
    yield _make("a maximum below the entries", DYNAMIC, _numbered(9), "full", entries=5, rate=0.1, max_entries=3)
    yield _make("a maximum of the entries", DYNAMIC, _numbered(9), "full", entries=5, rate=0.1, max_entries=5)
    yield _make("a maximum that is no multiple", DYNAMIC, _numbered(17), "growth", "full", entries=5, rate=0.1, max_entries=12)
    yield _make("a maximum of three rows", DYNAMIC, _numbered(25), "growth", "full", entries=4, rate=0.05, max_entries=12)
    yield _make("one key for each row", DYNAMIC, _numbered(4), "growth", "full", entries=1, rate=0.5, max_entries=3)
    yield _make("the same key twice", SIMPLE, ["a", "a"])
    yield _make("the same key twice counts twice", DYNAMIC, ["a"] * 11, "growth")
    yield _make("the other order, of fixed size", SIMPLE, ["b", "a"])
    yield _make("the other order, growing", DYNAMIC, _numbered(7)[::-1], "growth", **small)
    for key in KEYS:
        rest = len(key.encode()) % 4
        flags = ["no-tail"] if rest == 0 else ["tail"] if key.isascii() else ["sign-extended"]
        yield _make(f"one key: {key!a}", SIMPLE, [key], *flags, *([] if key.isascii() else ["not-ascii"]), entries=4)
    yield _make("a key of 1000 characters", SIMPLE, ["x" * 1000], "no-tail")
    yield _make("a key with a NUL", SIMPLE, ["a\0b"], "tail")
    yield _make("a key of one blank", SIMPLE, [" "], "tail")
    yield _make("the least filter", SIMPLE, ["a"], "size", entries=1, rate=0.9)
    yield _make("17 keys at a rate of 0.3", SIMPLE, ["a"], "size", entries=17, rate=0.3)
    yield _make("a rate of 1e-9, as deployed", SIMPLE, ["a", "b"], "size", entries=20, rate=1e-9)
    yield _make("a rate of 1e-9, growing, as deployed", DYNAMIC, ["a", "b"], "size", entries=20, rate=1e-9, max_entries=100000)
    for kind in (SIMPLE, DYNAMIC):
        arguments = {"type": kind, "entries": 10, "rate": 0.01, "max_entries": 100}
        yield invalid_test(f"an empty key, {kind}", {**arguments, "keys": ["a", ""]}, "empty-key")


def _ask(comment: str, kind: str, made: Bloom, keys: Sequence[str], *flags: str) -> Test:
    answers = [made.may_hold(key) for key in keys]
    return valid_test(comment, {"type": kind, "filter": made.text(), "keys": list(keys)}, answers, *flags)


def _asked() -> Iterator[Test]:
    two = _filter(SIMPLE, ["a", "b"], 10, 0.01, 0)
    yield _ask("two that are there, two that are not", SIMPLE, two, ["a", "b", "c", "d"], "tail")
    yield _ask("no question", SIMPLE, two, [])
    yield _ask("one key twice", SIMPLE, two, ["a", "a"])
    none = _filter(SIMPLE, [], 10, 0.01, 0)
    yield _ask("a filter without keys", SIMPLE, none, list(KEYS), "no-keys")
    yield _ask("a growing filter without keys", DYNAMIC, _filter(DYNAMIC, [], 10, 0.01, 100), list(KEYS), "no-keys")
    every = _filter(SIMPLE, KEYS, 20, 0.001, 0)
    yield _ask("keys of every length of rest", SIMPLE, every, KEYS, "sign-extended", "tail", "no-tail", "not-ascii")
    yield _ask(
        "the same in a growing filter", DYNAMIC, _filter(DYNAMIC, KEYS, 20, 0.001, 100), KEYS, "sign-extended", "not-ascii"
    )
    others = ["e", "b", "ba", "cba", "dcba", "\u0301", "日 本", "\ud7ff", "A", "key-000001", "Key-000000", " a", "a "]
    yield _ask("keys like them that are not there", SIMPLE, every, others, "sign-extended", "tail")
    full = _filter(SIMPLE, _numbered(13), 5, 0.1, 0)
    yield _ask("too many keys: some answers are wrong, the same ones everywhere", SIMPLE, full, ["x", "y", "z", "k99", "q"],
               "false-positive")  # fmt: skip
    yield _ask("too many keys: every key may be contained", SIMPLE, full, _numbered(13))
    for count in (5, 6, 10, 13, 23):
        grown = _filter(DYNAMIC, _numbered(count), 5, 0.1, 10)
        yield _ask(f"{count} keys in rows of 5, up to 10", DYNAMIC, grown, _numbered(count), "row-count", "any-row")
        yield _ask(
            f"others in rows of 5 with {count} keys", DYNAMIC, grown, [f"z{n}" for n in range(20)], "false-positive", "any-row"
        )
    rows = _filter(DYNAMIC, _numbered(40), 10, 0.01, 100)
    yield _ask(
        "the first and the last key of each of four rows",
        DYNAMIC,
        rows,
        ["k0", "k9", "k10", "k19", "k20", "k30", "k39"],
        "row-count",
    )
    split = _both_rows()
    yield _ask("a key whose bits are spread over two rows", DYNAMIC, split[0], [split[1]], "any-row")
    yield _ask("a rate of 1e-9, as deployed", SIMPLE, _filter(SIMPLE, KEYS, 60, 1e-9, 0), [*KEYS, *others], "sign-extended")
    yield _ask("a long key", SIMPLE, _filter(SIMPLE, ["x" * 1000], 10, 0.01, 0), ["x" * 1000, "x" * 999], "no-tail")
    old = {"type": SIMPLE, "filter": "/////wAAAAcAAAAAYAAgQCAQBSEogIIAAA==", "keys": ["a", "b", "c", "d"]}
    yield valid_test("observed: a and b with the hash of Jenkins", old, [True, True, False, False], "old-hash")
    kept = {"type": SIMPLE, "filter": two.text()}
    yield invalid_test("an empty key", {**kept, "keys": [""]}, "empty-key")


def _asked_of_old_filters() -> Iterator[Test]:
    """Keys of 1 to 40 bytes: the hash of Jenkins reads groups of twelve bytes, and handles the last one differently."""
    hashes, bits, stored = 7, 4096, bytearray(512)

    def positions(key: str) -> Iterator[int]:
        h = 0
        for _ in range(hashes):
            h = jenkins(key.encode(), h % 2**32)
            yield abs(h) % bits

    keys = ["key-of-many-characters-0123456789-abcdefghij"[:size] for size in range(1, 41)]
    for key in keys:
        for bit in positions(key):
            stored[bit // 8] |= 1 << bit % 8
    others = [key[:-1] + "!" for key in keys]
    answers = [all(stored[bit // 8] >> bit % 8 & 1 for bit in positions(key)) for key in (*keys, *others)]
    text = base64.b64encode(struct.pack(">iibi", -1, hashes, 0, bits) + stored).decode()
    arguments = {"type": SIMPLE, "filter": text, "keys": [*keys, *others]}
    yield valid_test("keys of 1 to 40 bytes with the hash of Jenkins", arguments, answers, "old-hash")


def _both_rows() -> tuple[Bloom, str]:
    """A filter of two rows, and a key whose bits are set in the two rows together but not in a single row."""
    grown = _filter(DYNAMIC, _numbered(10), 5, 0.1, 10)
    first, second = grown.rows
    return grown, next(
        key for key in (f"z{n}" for n in range(1000))
        if not grown.may_hold(key) and (first | second).issuperset(grown.bit_positions(key))
    )  # fmt: skip


def _damaged() -> Iterator[Test]:
    simple = base64.b64decode(_filter(SIMPLE, ["a", "b"], 10, 0.01, 0).text())
    grown = base64.b64decode(_filter(DYNAMIC, _numbered(6), 5, 0.1, 10).text())
    for comment, kind, data in (
        ("nothing", SIMPLE, b""),
        ("nothing, growing", DYNAMIC, b""),
        ("only the marker", SIMPLE, simple[:4]),
        ("the header without bits", SIMPLE, simple[:13]),
        ("one byte too few", SIMPLE, simple[:-1]),
        ("the second row one byte too short", DYNAMIC, grown[:-1]),
        ("no second row", DYNAMIC, grown[:41]),
        ("only the header of a growing filter", DYNAMIC, grown[:25]),
        ("0 bits", SIMPLE, simple[:9] + bytes(4) + simple[13:]),
        ("less than 0 bits", SIMPLE, simple[:9] + b"\xff" * 4 + simple[13:]),
        ("0 hashes", SIMPLE, simple[:4] + bytes(4) + simple[8:]),
        ("an unknown hash function", SIMPLE, simple[:8] + b"\x07" + simple[9:]),
        ("a simple filter, read as a growing one", DYNAMIC, simple),
        ("no rows", DYNAMIC, grown[:21] + bytes(4) + grown[25:]),
        ("less than no rows", DYNAMIC, grown[:21] + b"\xff" * 4 + grown[25:]),
    ):
        yield _broken(comment, kind, data, "damaged")
    yield _broken(
        "2147483647 bits in 12 bytes", SIMPLE, simple[:9] + struct.pack(">i", 2**31 - 1) + simple[13:], "damaged", "bounded"
    )
    yield _broken(
        "2147483647 rows in two", DYNAMIC, grown[:21] + struct.pack(">i", 2**31 - 1) + grown[25:], "damaged", "bounded"
    )
    text = base64.b64encode(simple).decode()
    asked: Json = {"type": SIMPLE, "keys": ["a"]}
    yield invalid_test("no Base64", {**asked, "filter": "no filter!"}, "damaged")
    yield invalid_test("Base64 of which one character is missing", {**asked, "filter": text[1:]}, "damaged")
    yield invalid_test("an unknown kind", {"type": "CUCKOO", "filter": text, "keys": ["a"]}, "damaged")


def _broken(comment: str, kind: str, data: bytes, *flags: str) -> Test:
    return invalid_test(comment, {"type": kind, "filter": base64.b64encode(data).decode(), "keys": ["a"]}, *flags)
