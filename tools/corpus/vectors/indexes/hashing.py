"""Hashes that determine the file group of a key, and the keys of column statistics and bloom filters."""

from collections.abc import Iterator, Sequence
from typing import Any

from tools.corpus.case import VectorCase
from tools.corpus.vectors.indexes import independent_hashes as independent
from tools.corpus.vectors.vector_tests import HUDI, PUBLISHED, SECOND, Test, invalid_test, number_tests, valid_test

FILE = "036ded81-9ed4-479f-bcea-7145dfa0079b-0_0-21-20_20261121115521796.parquet"
LOG = ".036ded81-9ed4-479f-bcea-7145dfa0079b-0_20261121115537479.log.1_0-48-78"
#: Texts with different numbers of characters, bytes and UTF-16 units, with descriptions; Java hashes and xxHash differ on them.
TEXTS = {
    "one letter": "a",
    "a letter with accent": "é",
    "beyond U+FFFF": "😀",
    "a dot": ".",
    "a blank": " ",
    "a NUL": "\0",
    "7 bytes": "abcdefg",
    "8 bytes": "abcdefgh",
    "31 bytes": "x" * 31,
    "32 bytes": "x" * 32,
    "33 bytes": "x" * 33,
    "a long text": "0123456789" * 100,
}

_KEY_NOTES = {
    "seed": "The seed is a negative int made a long, 0xFFFFFFFFDABADABA; 0x00000000DABADABA gives other keys.",
    "non-partitioned": "The base path of a table without partitions is hashed as a dot.",
    "not-ascii": "The UTF-8 bytes are hashed.",
    "length": "xxHash reads 32, 8, 4 and 1 bytes at a time; each length uses other steps.",
    "base64": "The standard alphabet with + and /, padded; as these keys are texts, they sort by it.",
    "order": "The column comes first, then the partition, then the file: prefixes are looked up.",
    "log-file": "Log files have statistics too.",
    "empty": "An empty text has a hash.",
    "path": "Partition paths are hashed as they are stored, escaped and with their slashes; file names without their folder.",
}


def cases() -> Iterator[VectorCase]:
    """File groups, buckets, and three kinds of keys."""
    yield VectorCase(
        area="hashing",
        name="file-group",
        requirements=["IDX-011"],
        says="The file group of a key of the metadata table is computed from Java's hash of the whole key.",
        needs=["compute.hash.file-group"],
        flags=["lost-write", "silent-stale"],
        function="hash.file-group",
        derived_by=[HUDI, SECOND],
        notes={
            "negative-hash": "Half of all hashes are negative; the remainder of another language gives another group.",
            "least-int": "The absolute value of -2147483648 is itself in Java: the sign is removed after the remainder.",
            "utf16": "Java hashes UTF-16 units: two for a character beyond U+FFFF, whatever UTF-8 has.",
            "empty": "The empty key has hash 0.",
            "secondary-key": "Table version 8 hashes the whole key of a secondary index, later ones only what is before the $.",
            "wraps-around": "The hash is of 32 bits and wraps around.",
            "no-groups": "Without file groups no group can be computed.",
        },
        tests=number_tests(_groups()),
        if_it_fails="Compute String.hashCode over UTF-16 code units in 32 bits, then abs(abs(h) % n) with the abs of Java.",
    )
    yield VectorCase(
        area="hashing",
        name="bucket",
        requirements=["LAY-021"],
        says="The bucket of a record is computed from Java's hash of the list of its key values.",
        needs=["compute.hash.bucket"],
        flags=["lost-write", "double-apply"],
        function="hash.bucket",
        derived_by=[HUDI, SECOND],
        notes={
            "list-hash": "A list of texts is hashed, also if it has one item: 31 + hash, not the hash.",
            "negative-hash": "The sign bit is cleared; the absolute value would be another number.",
            "utf16": "Java hashes UTF-16 units.",
            "order": "The order of the fields matters.",
            "text": "Numbers are hashed as their texts.",
            "no-buckets": "Without buckets no bucket can be computed.",
        },
        tests=number_tests(_buckets()),
        if_it_fails="Hash the list of values (1, then 31 * h + hash of each), clear the sign bit, take the remainder.",
    )
    yield VectorCase(
        area="hashing",
        name="column-stats-keys",
        requirements=["MDT-015", "MDT-016"],
        says=(
            "The key of a column's statistics in a file consists of the hashes of column, partition and file name, in "
            "that order."
        ),
        needs=["compute.hash.column-stats-key"],
        flags=["silent-stale"],
        errata=["ER-061", "ER-062"],
        function="hash.column-stats-key",
        derived_by=[HUDI, SECOND, PUBLISHED],
        notes=_KEY_NOTES,
        tests=number_tests(_column_stats()),
        if_it_fails="Base64(xxHash64(column)), Base64(xxHash64(partition)), Base64(MD5(file name)); see the note on the seed.",
    )
    yield VectorCase(
        area="hashing",
        name="partition-stats-keys",
        requirements=["MDT-015", "MDT-016"],
        says="The key of a column's statistics in a partition consists of the hashes of column and partition, in that order.",
        needs=["compute.hash.partition-stats-key"],
        flags=["silent-stale"],
        errata=["ER-061", "ER-062"],
        function="hash.partition-stats-key",
        derived_by=[HUDI, SECOND],
        notes={name: _KEY_NOTES[name] for name in ("seed", "non-partitioned", "not-ascii", "length", "order", "empty", "path")},
        tests=number_tests(_partition_stats()),
        if_it_fails="Base64(xxHash64(column)) + Base64(xxHash64(partition)), 24 characters.",
    )
    yield VectorCase(
        area="hashing",
        name="bloom-filters-keys",
        requirements=["IDX-003"],
        says="The key of a bloom filter consists of the hashes of partition and file name, in that order.",
        needs=["compute.hash.bloom-filters-key"],
        flags=["silent-stale"],
        errata=["ER-061", "ER-062"],
        function="hash.bloom-filters-key",
        derived_by=[HUDI, SECOND],
        notes={name: _KEY_NOTES[name] for name in ("seed", "non-partitioned", "not-ascii", "length", "order", "path")},
        tests=number_tests(_bloom_filters()),
        if_it_fails="Base64(xxHash64(partition)) + Base64(MD5(file name)), 36 characters.",
    )


#: (key, hash, groups for 1, 2, 4, 10, 257, 10000), computed by Apache Hudi 1.0.2.
_SEEN_GROUPS = (
    ("a", (0, 1, 1, 7, 97, 97)),
    ("id:1", (0, 0, 2, 2, 138, 6002)),
    ("id:1,ts:2", (0, 1, 3, 9, 228, 5839)),
    ("__all_partitions__", (0, 1, 3, 1, 14, 6231)),
    ("city=sao_paulo", (0, 1, 1, 5, 161, 1305)),
    ("334e26e9-8355-45cc-97c6-c31daf0df330", (0, 0, 0, 4, 129, 1124)),
    ("rider-A$334e26e9-8355-45cc-97c6-c31daf0df330", (0, 0, 2, 4, 135, 3834)),
    ("日本", (0, 1, 3, 7, 54, 5047)),
    ("😀", (0, 1, 3, 9, 113, 2899)),
    ("polygenelubricants", (0, 0, 0, 8, 129, 3648)),
    ("key with space", (0, 1, 3, 1, 101, 1411)),
    ("Z" * 40, (0, 0, 0, 8, 71, 3568)),
)


def _groups() -> Iterator[Test]:
    yield valid_test("the empty key", {"key": "", "groups": 10}, 0, "empty")
    for key, seen in _SEEN_GROUPS:
        for groups, group in zip((1, 2, 4, 10, 257, 10000), seen, strict=True):
            if groups in (10, 257) or key in ("polygenelubricants", "a"):
                yield valid_test(f"{key[:40]} among {groups}", {"key": key, "groups": groups}, group, *_about(key))
    # Published texts with hash -2147483648, for which Math.abs is negative.
    for key in ("polygenelubricants", "GydZG_", "DESIGNING WORKHOUSES"):
        assert independent.string_hash(key) == -(2**31)
        for groups in (3, 7, 9999):
            yield valid_test(
                f"{key} among {groups}",
                {"key": key, "groups": groups},
                independent.file_group(key, groups),
                *_about(key),
            )
    more = ("id:2", "a\\$b$k", "𝒳𝒴", "e\u0301", "key-032362", "\uffff", "\uffff" * 10, "0" * 1000)
    for key in more:
        yield valid_test(f"{key[:20]!r} among 10", {"key": key, "groups": 10}, independent.file_group(key, 10), *_about(key))
    yield valid_test(
        "the most groups",
        {"key": "a" * 7, "groups": 2147483647},
        independent.file_group("a" * 7, 2147483647),
        "wraps-around",
    )
    yield invalid_test("no groups", {"key": "a", "groups": 0}, "no-groups")


def _about(key: str) -> list[str]:
    number = independent.string_hash(key)
    flags = ["least-int"] if number == -(2**31) else ["negative-hash"] if number < 0 else []
    return [*flags, *(["utf16"] if not key.isascii() else []), *(["secondary-key"] if "$" in key else [])]


def _bucket(comment: str, values: Sequence[str], buckets: int, *flags: str, value: int | None = None) -> Test:
    fields = [[name, text] for name, text in zip("abcdefgh", values, strict=False)]
    about = ["negative-hash"] if independent.list_hash(values) < 0 else []
    about += ["utf16"] if not all(map(str.isascii, values)) else []
    right = independent.bucket_number(values, buckets)
    assert value is None or value == right, (values, value, right)
    return valid_test(comment, {"fields": fields, "buckets": buckets}, right, *about, *flags)


def _buckets() -> Iterator[Test]:
    yield _bucket("observed: a among 4", ["a"], 4, "list-hash", value=0)
    yield _bucket("observed: id:1 among 4, a key without a comma is one value", ["id:1"], 4, "list-hash", value=1)
    yield _bucket("observed: field x of id:1,x:2 among 8", ["2"], 8, value=1)
    yield _bucket("observed: fields id and x of id:1,x:2 among 8", ["1", "2"], 8, value=2)
    yield _bucket("observed: k07 among 256", ["k07"], 256, value=209)
    yield _bucket("observed: é among 16", ["é"], 16, value=8)
    yield _bucket("the other order", ["2", "1"], 8, "order")
    yield _bucket("one bucket", ["anything"], 1)
    yield _bucket("two buckets", ["a"], 2, "list-hash")
    yield _bucket("the same value as text and with zeros", ["01"], 8, "text")
    yield _bucket("a number", ["10"], 8, "text")
    yield _bucket("a decimal", ["10.0"], 8, "text")
    yield _bucket("a negative number", ["-1"], 8, "text")
    yield _bucket("the empty text", [""], 256)
    yield _bucket("two empty texts", ["", ""], 256)
    yield _bucket("a text like a joined key", ["a:1,b:2"], 256)
    yield _bucket("a hash of -2147483648 before it is in a list", ["polygenelubricants"], 10)
    for key in ("334e26e9-8355-45cc-97c6-c31daf0df330", "key-000001", "Z" * 40, "zzzzzz", "polygenelubricantt"):
        for buckets in (4, 256, 1000):
            yield _bucket(f"{key} among {buckets}", [key], buckets)
    for values in (
        ["日本", "😀"],
        ["😀"],
        ["e\u0301"],
        ["\uffff" * 8],
        ["a", "b", "c"],
        ["a", "b", "c", "d", "e", "f", "g", "h"],
    ):
        yield _bucket(f"{len(values)} values beginning with {values[0][:4]!a}", values, 256)
    least = _least_list_hash()
    yield _bucket("a list whose hash is -2147483648", [least], 10, "list-hash")
    yield _bucket("a list whose hash is -1", [_list_hash_of(-1)], 10, "list-hash")
    yield invalid_test("no buckets", {"fields": [["a", "1"]], "buckets": 0}, "no-buckets")


def _least_list_hash() -> str:
    return _list_hash_of(-(2**31))


def _list_hash_of(number: int) -> str:
    """A text t for which the hash of the list [t], 31 + hash of t, equals `number`; its letters are digits in base 31."""
    rest, letters = (number - 31) % 2**32 + 2**32 * 32, []
    for _ in range(7):
        letters.append(chr(ord("a") + (rest - ord("a")) % 31))
        rest = (rest - ord(letters[-1])) // 31
    text = chr(rest) + "".join(reversed(letters)) if rest else "".join(reversed(letters))
    assert independent.list_hash([text]) == number, (text, independent.list_hash([text]))
    return text


def _stats(comment: str, column: str, partition: str, file: str, *flags: str) -> Test:
    key = independent.text_hash(column) + independent.text_hash(partition or ".") + independent.file_hash(file)
    return valid_test(comment, {"column": column, "partition": partition, "file": file}, key, *flags)


def _seen(comment: str, test: Test, key: str) -> Test:
    """A test whose value also occurs in files of Apache Hudi."""
    assert test["value"] == key, (comment, test, key)
    return test


def _column_stats() -> Iterator[Test]:
    yield _seen("fare", _stats("observed: fare", "fare", "city=sao_paulo", FILE, "seed"),
                "k6A0EIIbKbU=6Hj+sBy+gvM=TFAoCMrQrm+e/Cw/g4DBJA==")  # fmt: skip
    yield _seen("log", _stats("observed: the key in a log file", "_hoodie_record_key", ".", LOG, "log-file", "non-partitioned"),
                "uSJGdDiVr/k=FXThHwelITM=gXVVj3XCbIfqMmLaupD8cg==")  # fmt: skip
    yield _seen("escaped", _stats("observed: a nested column, an escaped partition", "n.a", "p=a%2Fb", "x.parquet", "path"),
                "eopSqq7riZk=YFv6yQ/jqmc=fOymB5T8R2LT10LOup9pKQ==")  # fmt: skip
    yield _seen("é", _stats("observed: é", "é", "a", "a", "not-ascii"), "LUZDkiDptdI=BFHqp2KLzrM=DMF1ucDxtqgxw5niaXcmYQ==")
    name = "b_1-2-3_00000000000001.parquet"
    yield _seen("empty", _stats("observed: a column without a name", "", "__HIVE_DEFAULT_PARTITION__", name, "empty"),
                "DW/eaNVbRdo=JJWp0BZ7Zxo=5CgO9xanTLS/sWS3SLfAgg==")  # fmt: skip
    name = "a0d7207b-029e-4216-89d3-4159ada74094-0_2-174-369_20261121204011042.parquet"
    yield _seen(
        "flag", _stats("observed in a metadata table", "flag", "p=a", name), "IpuHDRvFYpA=s2AMmwSBZPw=NoElN6a60lCg+7eO7TfZ6Q=="
    )
    yield _stats("the base path as an empty text", "fare", "", FILE, "non-partitioned")
    yield _stats("the base path as a dot", "fare", ".", FILE, "non-partitioned")
    yield _stats("a partition of three levels", "ts", "2024/01/02", FILE, "path")
    yield _stats("column and partition of one text", "a", "a", FILE, "order")
    yield _stats("column and partition swapped", "p=a", "flag", FILE, "order")
    for comment, text in TEXTS.items():
        flags = ["length", *(["not-ascii"] if not text.isascii() else [])]
        yield _stats(f"column: {comment}", text, "p=1", FILE, *flags)
        yield _stats(f"partition: {comment}", "fare", text, FILE, *flags, *(["non-partitioned"] if text == "." else []))
    yield _stats("a hash with + and /", "pnV", "p", FILE, "base64")
    yield _stats("a file name that is not ASCII", "fare", "p=1", "é_0-0-0_1.parquet", "not-ascii")
    yield _stats("a file without a name", "fare", "p=1", "", "empty")


def _partition_stats() -> Iterator[Test]:
    def of(comment: str, column: str, partition: str, *flags: str) -> Test:
        key = independent.text_hash(column) + independent.text_hash(partition or ".")
        return valid_test(comment, {"column": column, "partition": partition}, key, *flags)

    seen: tuple[tuple[Any, ...], ...] = (
        ("fare", "city=sao_paulo", "k6A0EIIbKbU=6Hj+sBy+gvM=", "seed"),
        ("_hoodie_record_key", ".", "uSJGdDiVr/k=FXThHwelITM=", "non-partitioned"),
        ("n.a", "p=a%2Fb", "eopSqq7riZk=YFv6yQ/jqmc=", "path"),
        ("é", "a", "LUZDkiDptdI=BFHqp2KLzrM=", "not-ascii"),
        ("", "__HIVE_DEFAULT_PARTITION__", "DW/eaNVbRdo=JJWp0BZ7Zxo=", "empty"),
        ("ts", "2024/01/02", "oyTjviKHuhI=UOkNQXKj44U=", "path"),
        ("ts", "p=b/c d=%", "oyTjviKHuhI=n2Y5otKOU78=", "path"),
    )
    for column, partition, key, flag in seen:
        yield _seen(column, of(f"observed: {column or 'no name'} in {partition}", column, partition, flag), key)
    yield of("the base path as an empty text", "fare", "", "non-partitioned")
    yield of("column and partition swapped", "a", "é", "order")
    for comment, text in TEXTS.items():
        yield of(f"column: {comment}", text, "p=1", "length", *(["not-ascii"] if not text.isascii() else []))
        yield of(f"partition: {comment}", "fare", f"p={text}", "length", *(["not-ascii"] if not text.isascii() else []))


def _bloom_filters() -> Iterator[Test]:
    def of(comment: str, partition: str, file: str, *flags: str) -> Test:
        key = independent.text_hash(partition or ".") + independent.file_hash(file)
        return valid_test(comment, {"partition": partition, "file": file}, key, *flags)

    seen = (
        ("city=sao_paulo", FILE, "6Hj+sBy+gvM=TFAoCMrQrm+e/Cw/g4DBJA==", "seed"),
        (".", LOG, "FXThHwelITM=gXVVj3XCbIfqMmLaupD8cg==", "non-partitioned"),
        ("p=a%2Fb", "x.parquet", "YFv6yQ/jqmc=fOymB5T8R2LT10LOup9pKQ==", "path"),
        ("__HIVE_DEFAULT_PARTITION__", "b_1-2-3_00000000000001.parquet", "JJWp0BZ7Zxo=5CgO9xanTLS/sWS3SLfAgg==", "path"),
    )
    for partition, file, key, flag in seen:
        yield _seen(partition, of(f"observed: {partition}", partition, file, flag), key)
    yield of("the base path as an empty text", "", FILE, "non-partitioned")
    yield of("partition and file of one text", "a", "a", "order")
    for comment, text in TEXTS.items():
        yield of(f"partition: {comment}", text, FILE, "length", *(["not-ascii"] if not text.isascii() else []))
        yield of(f"file: {comment}", "p=1", text, *(["not-ascii"] if not text.isascii() else []))
