"""Names of log and base files, and the order of log files."""

from collections.abc import Iterator
from itertools import permutations
from typing import Any

from tools.corpus.case import VectorCase
from tools.corpus.vectors.vector_tests import HAND, HUDI, Test, invalid_test, number_tests, optional_test, valid_test

ID = "f0000000-0000-4000-8000-000000000001-0"
AT = "20250101000000000"
LONG = "a" * 200


def cases() -> Iterator[VectorCase]:
    """Names of log files, their order, names of base files."""
    yield VectorCase(
        area="names",
        name="log-file-names",
        requirements=["LF-002", "LF-003", "LF-004", "LF-006"],
        says="The name of a log file consists of file id, requested time, version and write token; other names are rejected.",
        needs=["compute.log-file-name.parse"],
        flags=["silent-stale", "wrong-rows"],
        errata=["ER-045", "ER-046"],
        function="log-file-name.parse",
        derived_by=[HUDI, HAND],
        notes={
            "look-alike": "Another file in the folder: read as a log file it would give changes twice, or invalid rows.",
            "change-capture": "A change-capture file repeats changes of other files; a merge would apply them twice.",
            "metadata-table": "File ids of the metadata table are not UUIDs and contain hyphens.",
            "version": "The version is a 32-bit number and not text.",
            "no-token": "Very old files have no write token.",
            "unusual-id": "The specification does not say which characters a file id may have; releases differ.",
            "not-ascii-digits": "Digits of other scripts match many regular expressions and are not accepted here.",
        },
        tests=number_tests(_log_valid(), _log_lenient(), _log_invalid()),
        if_it_fails="Match the name from end to end: a dot, the file id without _, digits, .log., digits, _ and the token.",
    )
    yield VectorCase(
        area="names",
        name="log-file-order",
        requirements=["LF-005", "LF-004"],
        says=(
            "Log files of a slice are ordered by instant as text, version as number, and token as text, where a "
            "missing token is first."
        ),
        needs=["compute.log-file-names.sort"],
        flags=["silent-stale"],
        errata=["ER-021", "ER-045"],
        function="log-file-names.sort",
        derived_by=["the order that Apache Hudi 1.0.2 merges in", HAND],
        notes={
            "version-as-text": "As text, version 10 comes before version 2, and an older change wins.",
            "token-as-number": "The write token is compared as text, so 10-0-0 comes before 9-0-0; it says nothing about time.",
            "instant-as-number": "Instants are compared as text: one of 14 digits is directly before those of its second.",
            "name-as-text": "A comparison of whole names gives another order.",
            "unreadable": "A name that is not of a log file cannot be ordered; ignoring it would lose changes.",
        },
        tests=number_tests(_orders()),
        if_it_fails="Sort by the tuple (instant text, version number, token text); completion times only select the slice.",
    )
    yield VectorCase(
        area="names",
        name="base-file-names",
        requirements=["BF-001", "BF-003", "BF-004", "BF-009", "BF-010"],
        says="The name of a base file consists of file id, write token, requested time and format.",
        needs=["compute.base-file-name.parse"],
        flags=["wrong-rows"],
        function="base-file-name.parse",
        derived_by=[HUDI, HAND],
        notes={
            "look-alike": "Another file in the folder, which must not be read as a base file.",
            "metadata-table": "File ids of the metadata table are not UUIDs.",
            "unusual-id": "The specification does not say which characters a file id may have; releases differ.",
            "not-ascii-digits": "Digits of other scripts are not accepted.",
            "reserved-instant": "Times of bootstraps and of the first commits of the metadata table are not calendar times.",
        },
        tests=number_tests(_base_valid(), _base_lenient(), _base_invalid()),
        if_it_fails=(
            "Split the name at the underscores: the file id has none, the token is three numbers, and the instant is digits."
        ),
    )
    yield VectorCase(
        area="names",
        name="write-tokens",
        requirements=["LF-006", "BF-003", "LF-002"],
        says="The write token is three decimal numbers of any length, kept as text, at a fixed position in log file names.",
        needs=["compute.log-file-name.parse"],
        flags=["double-apply", "lost-write"],
        function="log-file-name.parse",
        derived_by=[HUDI, HAND],
        notes={
            "large": "Task attempts of long-running jobs pass 32 bits.",
            "leading-zeros": "The token is text: converted to numbers it does not give the file name again.",
            "malformed": "A text that is not three numbers is not a write token, so that the name is not of a log file.",
        },
        tests=number_tests(_tokens()),
        if_it_fails="The token is the text of three groups of ASCII digits; compare and store it as text.",
    )


def _log(
    name: str, file_id: str = ID, instant: str = AT, version: int = 1, token: str | None = "0-1-2", cdc: bool = False
) -> tuple[dict[str, Any], dict[str, Any]]:
    return {"name": name}, {"file_id": file_id, "instant": instant, "version": version, "token": token, "cdc": cdc}


def _log_valid() -> Iterator[Test]:
    yield valid_test("as deployed releases write it", *_log(f".{ID}_{AT}.log.1_0-1-2"))
    real = "036ded81-9ed4-479f-bcea-7145dfa0079b-0"
    yield valid_test(
        "observed in a table of Apache Hudi",
        *_log(f".{real}_20261121115537479.log.1_0-48-78", real, "20261121115537479", 1, "0-48-78"),
    )
    yield valid_test("a second version", *_log(f".{ID}_{AT}.log.2_0-1-2", version=2), "version")
    yield valid_test("a version of two digits", *_log(f".{ID}_{AT}.log.10_0-1-2", version=10), "version")
    yield valid_test("the greatest version", *_log(f".{ID}_{AT}.log.2147483647_0-1-2", version=2147483647), "version")
    yield valid_test("no write token", *_log(f".{ID}_{AT}.log.1", token=None), "no-token")
    yield valid_test("no write token and a large version", *_log(f".{ID}_{AT}.log.123", version=123, token=None), "no-token")
    yield valid_test("change capture", *_log(f".{ID}_{AT}.log.1_0-1-2.cdc", cdc=True), "change-capture")
    yield valid_test(
        "change capture, rolled over", *_log(f".{ID}_{AT}.log.3_0-1-2.cdc", version=3, cdc=True), "change-capture", "version"
    )
    for group in ("files-0000-0", "record-index-0003-0", "col-stats-0001-0", "secondary-index-rider-idx-0002-0"):
        yield valid_test(
            f"metadata table, {group}", *_log(f".{group}_{AT}.log.1_0-0-0", group, token="0-0-0"), "metadata-table"
        )
    yield valid_test(
        "first commit of a partition of the metadata table",
        *_log(".files-0000-0_00000000000000000.log.1_0-0-0", "files-0000-0", "00000000000000000", 1, "0-0-0"),
        "metadata-table",
    )
    yield valid_test("an instant in seconds", *_log(f".{ID}_20250101000000.log.1_0-1-2", instant="20250101000000"))
    yield valid_test("an instant that counts", *_log(f".{ID}_007.log.1_0-1-2", instant="007"))
    yield valid_test("a file id without index", *_log(f".{ID[:-2]}_{AT}.log.1_0-1-2", ID[:-2]))
    yield valid_test("a file id of a bucket", *_log(f".00000003-{ID[9:]}_{AT}.log.1_0-1-2", f"00000003-{ID[9:]}"))
    yield valid_test("a file id of one letter", *_log(f".f_{AT}.log.1_0-1-2", "f"))
    yield valid_test("a long file id", *_log(f".{LONG}_{AT}.log.1_0-1-2", LONG))
    yield valid_test("a file id that contains the word log", *_log(f".log-1_{AT}.log.1_0-1-2", "log-1"))


def _log_lenient() -> Iterator[Test]:
    yield optional_test("version 0: the first is 1", *_log(f".{ID}_{AT}.log.0_0-1-2", version=0), "version")
    yield optional_test("a version with leading zeros", *_log(f".{ID}_{AT}.log.01_0-1-2", version=1), "version")
    yield optional_test("a dot in the file id", *_log(f".a.b_{AT}.log.1_0-1-2", "a.b"), "unusual-id")
    yield optional_test("an underscore in the file id", *_log(f".a_b_{AT}.log.1_0-1-2", "a_b"), "unusual-id")
    yield optional_test("a blank in the file id", *_log(f".a b_{AT}.log.1_0-1-2", "a b"), "unusual-id")
    yield optional_test("a file id that is not ASCII", *_log(f".é😀_{AT}.log.1_0-1-2", "é😀"), "unusual-id")


def _log_invalid() -> Iterator[Test]:
    look_alikes = {
        "a checksum file of Hadoop": f"..{ID}_{AT}.log.1_0-1-2.crc",
        "a checksum file of an old log file": f"..{ID}_{AT}.log.1.crc",
        "a checksum file with one dot": f".{ID}_{AT}.log.1_0-1-2.crc",
        "an archived timeline of layout 1": ".commits_.archive.1_1-0-1",
        "an archive with a file id and instant": f".{ID}_{AT}.archive.1_0-1-2",
        "a temporary file": f".{ID}_{AT}.log.1_0-1-2.tmp",
        "a copy of an editor": f".{ID}_{AT}.log.1_0-1-2~",
        "a numbered copy": f".{ID}_{AT}.log.1_0-1-2 (1)",
        "a base file": f"{ID}_0-1-2_{AT}.parquet",
        "the partition's own file": ".hoodie_partition_metadata",
        "an unfinished upload": f".{ID}_{AT}.log.1_0-1-2.f0e1d2c3",
    }
    for comment, name in look_alikes.items():
        yield invalid_test(comment, {"name": name}, "look-alike")
    yield invalid_test("no dot before it", {"name": f"{ID}_{AT}.log.1_0-1-2"})
    yield invalid_test("no file id", {"name": f"._{AT}.log.1_0-1-2"})
    yield invalid_test("no instant", {"name": f".{ID}_.log.1_0-1-2"})
    yield invalid_test("no underscore", {"name": f".{ID}{AT}.log.1_0-1-2"})
    yield invalid_test("no version", {"name": f".{ID}_{AT}.log._0-1-2"}, "version")
    yield invalid_test("nothing after the version's dot", {"name": f".{ID}_{AT}.log."}, "version")
    yield invalid_test("a negative version", {"name": f".{ID}_{AT}.log.-1_0-1-2"}, "version")
    yield invalid_test("a version of more than 32 bits", {"name": f".{ID}_{AT}.log.2147483648_0-1-2"}, "version")
    yield invalid_test("a version of more than 64 bits", {"name": f".{ID}_{AT}.log.{'9' * 30}_0-1-2"}, "version")
    yield invalid_test("Arabic digits", {"name": f".{ID}_{AT}.log.١_0-1-2"}, "not-ascii-digits")
    yield invalid_test("a line break behind it", {"name": f".{ID}_{AT}.log.1_0-1-2\n"}, "look-alike")
    yield invalid_test("change capture without token", {"name": f".{ID}_{AT}.log.1.cdc"}, "change-capture", "no-token")
    yield invalid_test("change capture in capitals", {"name": f".{ID}_{AT}.log.1_0-1-2.CDC"}, "change-capture")
    yield invalid_test("any character before cdc", {"name": f".{ID}_{AT}.log.1_0-1-2xcdc"}, "change-capture")
    yield invalid_test("LOG in capitals", {"name": f".{ID}_{AT}.LOG.1_0-1-2"})
    yield invalid_test("nothing", {"name": ""})


def _sorted(comment: str, *names: str, flags: tuple[str, ...] = ()) -> Test:
    """A test whose names are given in reverse order; `names` is the right order."""
    given = list(names[::-1])
    return valid_test(comment, {"names": given}, list(names), *flags)


def _name(instant: str = AT, version: int = 1, token: str = "_0-1-2") -> str:
    return f".{ID}_{instant}.log.{version}{token}"


def _orders() -> Iterator[Test]:
    later = "20250101000001000"
    yield valid_test("no files", {"names": []}, [])
    yield valid_test("one file", {"names": [_name()]}, [_name()])
    yield _sorted("by instant", _name(), _name(later))
    yield _sorted("by version", *(_name(version=v) for v in (1, 2, 3)))
    yield _sorted("versions 9 to 11", *(_name(version=v) for v in (9, 10, 11)), flags=("version-as-text", "name-as-text"))
    yield _sorted("versions 2, 10, 100", *(_name(version=v) for v in (2, 10, 100)), flags=("version-as-text", "name-as-text"))
    yield _sorted("the greatest version last", _name(version=9), _name(version=2147483647), flags=("version-as-text",))
    yield _sorted("by token as text", _name(token="_10-0-0"), _name(token="_9-0-0"), flags=("token-as-number",))
    yield _sorted("by the token's second number", _name(token="_1-10-1"), _name(token="_1-2-1"), flags=("token-as-number",))
    yield _sorted("by the token's last number", _name(token="_1-1-10"), _name(token="_1-1-9"), flags=("token-as-number",))
    yield _sorted("a hyphen comes before a digit", _name(token="_1-1-1"), _name(token="_10-1-1"), flags=("token-as-number",))
    yield _sorted("a missing token first", _name(token=""), _name(token="_0-0-0"))
    yield _sorted("version before token", _name(version=1, token="_9-0-0"), _name(version=2, token="_0-0-0"))
    yield _sorted("instant before version", _name(version=12), _name(later, version=1), flags=("name-as-text",))
    yield _sorted("instant before token", _name(token="_9-9-9"), _name(later, token="_0-0-0"))
    yield _sorted(
        "an instant in seconds before those in milliseconds", _name("20250101000000"), _name(AT), _name("20250101000000999"),
        _name("20250101000001"), flags=("instant-as-number",),
    )  # fmt: skip
    yield _sorted("instants that count, as text", _name("10"), _name("9"), flags=("instant-as-number",))
    yield _sorted("change capture behind its data", _name(), _name(token="_0-1-2.cdc"))
    yield _sorted("change capture before the next version", _name(token="_0-1-2.cdc"), _name(version=2))
    yield valid_test("already in order", {"names": [_name(), _name(later)]}, [_name(), _name(later)])
    right = [_name(), _name(version=2), _name(later, version=2), _name(later, version=10)]
    for number, given in enumerate(list(permutations(right))[5::6], 1):
        yield valid_test(f"four files in another order, {number}", {"names": list(given)}, right, "name-as-text")
    yield _sorted("twenty versions", *(_name(version=v) for v in range(1, 21)), flags=("version-as-text",))
    yield invalid_test("a checksum file among them", {"names": [_name(), f".{_name()}.crc"]}, "unreadable")
    yield invalid_test("a base file among them", {"names": [_name(), f"{ID}_0-1-2_{AT}.parquet"]}, "unreadable")
    yield invalid_test("a version of more than 32 bits", {"names": [_name(), _name(version=2**31)]}, "unreadable")


def _base(
    name: str, file_id: str = ID, token: str = "0-1-2", instant: str = AT, extension: str = "parquet"
) -> tuple[dict[str, Any], dict[str, Any]]:
    return {"name": name}, {"file_id": file_id, "token": token, "instant": instant, "extension": extension}


def _base_valid() -> Iterator[Test]:
    yield valid_test("Parquet", *_base(f"{ID}_0-1-2_{AT}.parquet"))
    yield valid_test("ORC", *_base(f"{ID}_0-1-2_{AT}.orc", extension="orc"))
    yield valid_test("HFile", *_base(f"{ID}_0-1-2_{AT}.hfile", extension="hfile"))
    real = "036ded81-9ed4-479f-bcea-7145dfa0079b-0"
    at = "20261121115521796"
    yield valid_test("observed in a table of Apache Hudi", *_base(f"{real}_0-21-20_{at}.parquet", real, "0-21-20", at))
    yield valid_test(
        "observed in a metadata table of Apache Hudi",
        *_base("files-0000-0_10-257-594_20261121204036748.hfile", "files-0000-0", "10-257-594", "20261121204036748", "hfile"),
        "metadata-table",
    )
    group = "secondary-index-idx-s-0004-0"
    yield valid_test(
        "first file of a secondary index", *_base(f"{group}_4-64-155_00000000000000005.hfile", group, "4-64-155",
                                                  "00000000000000005", "hfile"), "metadata-table", "reserved-instant",
    )  # fmt: skip
    yield valid_test(
        "a bootstrap", *_base(f"{ID}_1-0-1_00000000000001.parquet", ID, "1-0-1", "00000000000001"), "reserved-instant"
    )
    yield valid_test("an instant in seconds", *_base(f"{ID}_0-1-2_20250101000000.parquet", instant="20250101000000"))
    yield valid_test("an instant that counts", *_base(f"{ID}_0-1-2_007.parquet", instant="007"))
    yield valid_test("a file id without index", *_base(f"{ID[:-2]}_0-1-2_{AT}.parquet", ID[:-2]))
    yield valid_test("a file id with index 17", *_base(f"{ID[:-1]}17_0-1-2_{AT}.parquet", f"{ID[:-1]}17"))
    yield valid_test("a file id of a bucket", *_base(f"00000003-{ID[9:]}_0-1-2_{AT}.parquet", f"00000003-{ID[9:]}"))
    yield valid_test("a large token", *_base(f"{ID}_123456-7890-99999999999_{AT}.parquet", token="123456-7890-99999999999"))
    yield valid_test("a long file id", *_base(f"{LONG}_0-1-2_{AT}.parquet", LONG))
    yield valid_test("a file id that looks like a token", *_base(f"0-1-2_3-4-5_{AT}.parquet", "0-1-2", "3-4-5"))


def _base_lenient() -> Iterator[Test]:
    yield optional_test("a dot in the file id", *_base(f"a.b_0-1-2_{AT}.parquet", "a.b"), "unusual-id")
    yield optional_test("a file id that is not ASCII", *_base(f"é😀_0-1-2_{AT}.parquet", "é😀"), "unusual-id")
    yield optional_test("a format of later releases", *_base(f"{ID}_0-1-2_{AT}.lance", extension="lance"))


def _base_invalid() -> Iterator[Test]:
    look_alikes = {
        "a checksum file of Hadoop": f".{ID}_0-1-2_{AT}.parquet.crc",
        "a temporary file": f"{ID}_0-1-2_{AT}.parquet.tmp",
        "a marker": f"{ID}_0-1-2_{AT}.parquet.marker.CREATE",
        "a log file": f".{ID}_{AT}.log.1_0-1-2",
        "a base file without Apache Hudi's name": "part-00000-f0e1d2c3.snappy.parquet",
        "the success marker of Spark": "_SUCCESS",
        "the partition's own file": ".hoodie_partition_metadata",
        "a line break behind it": f"{ID}_0-1-2_{AT}.parquet\n",
    }
    for comment, name in look_alikes.items():
        yield invalid_test(comment, {"name": name}, "look-alike")
    yield invalid_test("no file id", {"name": f"_0-1-2_{AT}.parquet"})
    yield invalid_test("no token", {"name": f"{ID}_{AT}.parquet"})
    yield invalid_test("no instant", {"name": f"{ID}_0-1-2_.parquet"})
    yield invalid_test("no instant and no underscore", {"name": f"{ID}_0-1-2.parquet"})
    yield invalid_test("token and instant swapped", {"name": f"{ID}_{AT}_0-1-2.parquet"})
    yield invalid_test("an instant that is no number", {"name": f"{ID}_0-1-2_2025-01-01.parquet"})
    yield invalid_test("Arabic digits", {"name": f"{ID}_0-1-2_٢٠٢٥٠١٠١٠٠٠٠٠٠٠٠٠.parquet"}, "not-ascii-digits")
    yield invalid_test("no extension", {"name": f"{ID}_0-1-2_{AT}"})
    yield invalid_test("an unknown extension", {"name": f"{ID}_0-1-2_{AT}.csv"})
    yield invalid_test("nothing", {"name": ""})


def _tokens() -> Iterator[Test]:
    def of(token: str | None) -> tuple[dict[str, Any], dict[str, Any]]:
        return _log(f".{ID}_{AT}.log.1_{token}", token=token)

    yield valid_test("without a task: files of the metadata table", *of("0-0-0"))
    yield valid_test("the builder's own", *of("1-0-1"))
    yield valid_test("task, stage, attempt", *of("0-48-78"))
    yield valid_test("large numbers", *of("2147483648-4294967296-9223372036854775808"), "large")
    yield valid_test("an attempt of 30 digits", *of("0-0-" + "9" * 30), "large")
    yield valid_test("leading zeros are kept", *of("00-01-002"), "leading-zeros")
    yield valid_test("zeros", *of("000-000-000"), "leading-zeros")
    yield valid_test("later attempts have other tokens", *of("0-48-79"))
    yield valid_test("no token", *_log(f".{ID}_{AT}.log.1", token=None))
    for comment, token in {
        "two numbers": "0-1",
        "four numbers": "0-1-2-3",
        "one number": "0",
        "an empty number": "0--2",
        "letters": "a-b-c",
        "a sign": "0-1-+2",
        "a blank": "0-1- 2",
        "hexadecimal": "0-1-ff",
        "other separators": "0_1_2",
        "nothing behind the underscore": "",
        "digits that are not ASCII": "0-1-２",
        "a hyphen at the end": "0-1-2-",
    }.items():
        yield invalid_test(comment, {"name": f".{ID}_{AT}.log.1_{token}"}, "malformed")
