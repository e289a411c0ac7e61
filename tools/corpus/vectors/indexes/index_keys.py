"""Keys of secondary indexes and locations of the record index."""

import struct
from collections.abc import Iterator
from uuid import UUID

from tools.corpus.case import VectorCase
from tools.corpus.vectors.vector_tests import HAND, HUDI, Json, Test, invalid_test, number_tests, optional_test, valid_test

#: (secondary value, record key, key), computed by Apache Hudi 1.0.2 or by hand.
PAIRS: dict[str, tuple[str, str, str]] = {
    "plain": ("rider-F", "e3cf430c", "rider-F$e3cf430c"),
    "the example of the specification": ("chennai", "id1", "chennai$id1"),
    "a capital letter": ("Chennai", "id1", "Chennai$id1"),
    "a dollar, a backslash": ("a$b", "k\\1", "a\\$b$k\\\\1"),
    "an empty value": ("", "k", "$k"),
    "an empty record key": ("k", "", "k$"),
    "both empty": ("", "", "$"),
    "dollars": ("$", "$", "\\$$\\$"),
    "backslashes": ("\\", "\\", "\\\\$\\\\"),
    "backslash and dollar": ("\\$", "$\\", "\\\\\\$$\\$\\\\"),
    "two dollars": ("$$", "x", "\\$\\$$x"),
    "two backslashes, two dollars": ("a\\\\b", "c$$d", "a\\\\\\\\b$c\\$\\$d"),
    "not ASCII": ("é😀", "ß", "é😀$ß"),
    "a value that ends in a backslash": ("a\\", "b", "a\\\\$b"),
    "a value that begins with a dollar": ("$a", "b", "\\$a$b"),
    "a record key that begins with a dollar": ("a", "$b", "a$\\$b"),
    "the dollar on the other side": ("a$", "b", "a\\$$b"),
    "a record key of several fields": ("x", "id:1,ts:2", "x$id:1,ts:2"),
    "a number": ("-12.50", "k", "-12.50$k"),
    "what URLs escape": ("%24 /?#", "%5C", "%24 /?#$%5C"),
    "a quote and a blank": ('"a" ', " b", '"a" $ b'),
    "a line break": ("a\nb", "c\r\n", "a\nb$c\r\n"),
    "a colon and a comma": ("a:b,c", "d", "a:b,c$d"),
    "the text null": ("null", "k", "null$k"),
    "dollars of other scripts": ("＄﹩", "k", "＄﹩$k"),
    "a long value": ("x$" * 300, "\\" * 300, "x\\$" * 300 + "$" + "\\\\" * 300),
}

_NOTES = {
    "escape": "A backslash goes before each dollar and each backslash, in both parts.",
    "one-key-two-pairs": (
        "If only the dollar sign is escaped, two pairs have one key, and an update removes the entry of the other pair."
    ),
    "empty": "Either part may be empty.",
    "case": "The specification's example prints a value in small letters; values are not changed.",
    "null": "Table version 8 has no entry for a null; index versions of later releases have a NUL for it.",
    "not-ascii": "A part may contain any character; only two are escaped.",
    "long": "The time grows with the length, not with its square.",
    "no-separator": "The key has no unescaped dollar sign.",
    "loose": "No writer makes such a key; a reader may split or refuse it.",
}


def cases() -> Iterator[VectorCase]:
    """Secondary keys both ways, and locations."""
    keys = ["IDX-024", "IDX-025", "IDX-026", "IDX-028", "IDX-029"]
    yield VectorCase(
        area="hashing",
        name="secondary-keys",
        requirements=[*keys, "IDX-027", "IDX-031"],
        says=(
            "The key of a secondary index is escaped value, dollar sign, escaped record key; different pairs have "
            "different keys."
        ),
        needs=["compute.secondary-key.encode"],
        flags=["silent-stale", "lost-write"],
        errata=["ER-066"],
        function="secondary-key.encode",
        derived_by=[HUDI, HAND],
        notes={k: _NOTES[k] for k in ("escape", "one-key-two-pairs", "empty", "case", "null", "not-ascii", "long")},
        tests=number_tests(_encode()),
        if_it_fails=(
            "Put a backslash before each dollar sign and backslash of both parts, join them by a dollar sign; "
            "escape nothing else."
        ),
    )
    yield VectorCase(
        area="hashing",
        name="secondary-keys-decoded",
        requirements=["IDX-024", "IDX-026", "IDX-027", "IDX-028", "IDX-029"],
        says=(
            "A key of a secondary index is split at the first dollar sign without a backslash before it; both parts "
            "are returned."
        ),
        needs=["compute.secondary-key.decode"],
        flags=["silent-stale"],
        function="secondary-key.decode",
        derived_by=[HUDI, HAND],
        notes={k: _NOTES[k] for k in ("escape", "empty", "not-ascii", "long", "no-separator", "loose")},
        tests=number_tests(_decode()),
        if_it_fails=(
            "Read the key once from the left; a backslash escapes the next character; the first unescaped dollar "
            "sign separates."
        ),
    )
    yield VectorCase(
        area="hashing",
        name="record-index-locations",
        requirements=["IDX-014", "IDX-015", "IDX-016", "IDX-017", "IDX-018", "IDX-019"],
        says=(
            "The record index stores a file id of UUID and index in parts and any other file id as text; both are "
            "decoded unchanged."
        ),
        needs=["compute.record-index.location"],
        flags=["lost-write", "silent-stale"],
        function="record-index.location",
        derived_by=[HUDI, "the parts of a UUID by Python's standard library", HAND],
        notes={
            "sign": "Both halves of the UUID are signed: half of all ids have a negative one.",
            "no-index": "A UUID without index has index -1.",
            "index": "The index is a number and may have several digits.",
            "text": "A file id that is not a UUID with index is stored as text, with -1 for the parts.",
            "minus-one": "Parts of -1 can belong to a UUID: only the encoding decides.",
            "not-given-back": "Java reads it as a UUID and returns another text, so that file id and file name differ.",
        },
        tests=number_tests(_locations()),
        if_it_fails=(
            "Convert 8-4-4-4-12 lower-case hexadecimal digits to two signed longs; a file id that does not convert "
            "back is text."
        ),
    )


def _about(*parts: str) -> list[str]:
    text = "".join(parts)
    flags = ["escape"] if "$" in text or "\\" in text else []
    flags += ["empty"] if "" in parts else []
    flags += ["not-ascii"] if not text.isascii() else []
    return [*flags, *(["long"] if len(text) > 200 else [])]


def _encode() -> Iterator[Test]:
    for comment, (secondary, record, key) in PAIRS.items():
        flags = _about(secondary, record) + (["case"] if "id1" in record else [])
        yield valid_test(comment, {"secondary": secondary, "record": record}, key, *flags)
    for comment, (secondary, record, key) in {
        "dollar and backslash beside the separator, 1": ("a\\", "$b", "a\\\\$\\$b"),
        "dollar and backslash beside the separator, 2": ("a\\$", "b", "a\\\\\\$$b"),
        "dollar and backslash beside the separator, 3": ("a", "\\$b", "a$\\\\\\$b"),
        "an escape in the value": ("a\\$b", "c", "a\\\\\\$b$c"),
        "an escape in the record key": ("a", "b\\$c", "a$b\\\\\\$c"),
    }.items():
        yield valid_test(comment, {"secondary": secondary, "record": record}, key, "escape", "one-key-two-pairs")
    printable = "".join(map(chr, range(0x20, 0x7F)))
    escaped = printable.replace("\\", "\\\\").replace("$", "\\$")
    yield valid_test(
        "every printable character", {"secondary": printable, "record": printable}, f"{escaped}${escaped}", "escape"
    )
    yield valid_test("20000 dollars", {"secondary": "$" * 20_000, "record": ""}, "\\$" * 20_000 + "$", "long", "empty")
    yield optional_test("a null", {"secondary": None, "record": "k"}, "\0$k", "null")


def _parts(secondary: str, record: str) -> Json:
    return {"secondary": secondary, "record": record}


def _decode() -> Iterator[Test]:
    for comment, (secondary, record, key) in PAIRS.items():
        yield valid_test(comment, {"key": key}, _parts(secondary, record), *_about(secondary, record))
    yield valid_test("20000 dollars", {"key": "\\$" * 20_000 + "$k"}, _parts("$" * 20_000, "k"), "long")
    yield valid_test("20000 backslashes", {"key": "k$" + "\\\\" * 20_000}, _parts("k", "\\" * 20_000), "long")
    yield valid_test(
        "an even number of backslashes before the separator", {"key": "a\\\\\\\\$b"}, _parts("a\\\\", "b"), "escape"
    )
    yield valid_test("an odd number of them", {"key": "a\\\\\\$b$c"}, _parts("a\\$b", "c"), "escape")
    for comment, key in {
        "no dollar": "abc",
        "nothing": "",
        "only an escaped dollar": "a\\$b",
        "escaped dollars": "\\$\\$",
        "three backslashes before the only dollar": "a\\\\\\$b",
    }.items():
        yield invalid_test(comment, {"key": key}, "no-separator")
    yield optional_test("a second bare dollar", {"key": "a$b$c"}, _parts("a", "b$c"), "loose")
    yield optional_test("a backslash before a letter", {"key": "a\\b$c"}, _parts("ab", "c"), "loose")
    yield optional_test("a backslash before a letter of the record key", {"key": "a$b\\c"}, _parts("a", "bc"), "loose")


def _in_parts(file_id: str, index: int) -> Json:
    high, low = struct.unpack(">qq", UUID(file_id[:36]).bytes)
    return {"high": str(high), "low": str(low), "index": index, "encoding": 0, "file_id": ""}


def _as_text(file_id: str) -> Json:
    return {"high": "-1", "low": "-1", "index": -1, "encoding": 1, "file_id": file_id}


def _locations() -> Iterator[Test]:
    seen = "036ded81-9ed4-479f-bcea-7145dfa0079b"
    both: Json = {"high": "247114695546521503", "low": "-4833926705110317157", "index": 0, "encoding": 0, "file_id": ""}
    yield valid_test("observed in a table of Apache Hudi", {"file_id": f"{seen}-0"}, both, "sign")
    negative = "b2faa8cf-9cf0-4d51-b531-475ea7bd0500"
    parts: Json = {"high": "-5549937981136024239", "low": "-5390448807119092480", "index": 0, "encoding": 0, "file_id": ""}
    yield valid_test("observed: both halves negative", {"file_id": f"{negative}-0"}, parts, "sign")
    yield valid_test("observed: without index", {"file_id": negative}, parts | {"index": -1}, "no-index", "sign")
    yield valid_test("observed: index 17", {"file_id": f"{negative}-17"}, parts | {"index": 17}, "index", "sign")
    yield valid_test("observed: no UUID", {"file_id": "not-a-uuid"}, _as_text("not-a-uuid"), "text")
    ones = "ffffffff-ffff-ffff-ffff-ffffffffffff"
    yield valid_test("observed: only ones", {"file_id": f"{ones}-3"}, _in_parts(ones, 3), "minus-one", "sign")
    yield valid_test("only ones and no index", {"file_id": ones}, _in_parts(ones, -1), "minus-one", "no-index")
    zeros = "00000000-0000-0000-0000-000000000000"
    for comment, uuid, index in (
        ("only zeros", zeros, 0),
        ("a bucket", "00000003-26be-4c0e-9c0a-5f5d3c1f7a11", 0),
        ("a bucket of several writers", "00000003-0000-0000-0000-000000000000", 0),
        ("the least upper half", "80000000-0000-0000-0000-000000000000", 0),
        ("the greatest upper half", "7fffffff-ffff-ffff-0000-000000000000", 0),
        ("the least lower half", "00000000-0000-0000-8000-000000000000", 0),
        ("the greatest lower half", "00000000-0000-0000-7fff-ffffffffffff", 0),
        ("more than 53 bits", "0020000000000001-0000-0000-000000000000"[:8] + "-0000-0001-0020-000000000001", 0),
        ("index 1", seen, 1),
        ("index 9", seen, 9),
        ("index 10", seen, 10),
        ("index 1000000", seen, 1_000_000),
        ("the greatest index", seen, 2147483647),
    ):
        flags = ["sign"] if uuid[0] >= "8" or uuid[19] >= "8" else []
        yield valid_test(comment, {"file_id": f"{uuid}-{index}"}, _in_parts(uuid, index), *flags, *(["index"] if index else []))
    for comment, text in {
        "a group of the metadata table": "files-0000-0",
        "another group of it": "record-index-0003-0",
        "a number": "17",
        "one letter": "f",
        "a name with blanks": "file group 1",
        "not ASCII": "é😀",
        "a UUID without hyphens": seen.replace("-", ""),
        "a UUID in braces": f"{{{seen}}}",
        "a letter more": f"{seen}a",
        "an index that is no number": f"{seen}-a",
        "a hyphen at the end": f"{seen}-",
        "two indexes": f"{seen}-0-0",
        "no hexadecimal digit": f"g{seen[1:]}-0",
        "a long name": "x" * 500,
    }.items():
        yield valid_test(comment, {"file_id": text}, _as_text(text), "text")
    for comment, text in {
        "a UUID in capitals": f"{seen.upper()}-0",
        "capitals and no index": seen.upper(),
        "an index with a zero before it": f"{seen}-00",
        "an index with a sign": f"{seen}-+1",
        "an index of -1": f"{seen}--1",
        "an index of more than 32 bits": f"{seen}-2147483648",
        "a short UUID": "1-2-3-4-5-0",
        "a digit of another script as index": f"{seen}-٣",
    }.items():
        yield valid_test(comment, {"file_id": text}, _as_text(text), "text", "not-given-back")
