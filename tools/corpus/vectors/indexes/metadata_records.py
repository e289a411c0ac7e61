"""Values of the metadata table, written by hand or by Apache Hudi 1.0.2, and names of its partitions."""

import io
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import fastavro
from tools.corpus.case import VectorCase
from tools.corpus.vectors.vector_tests import HAND, HUDI, SECOND, Json, Test, invalid_test, number_tests, valid_test

from hudi_reference.files.hfile.reader import hfile_of

#: HFiles of a metadata table of Apache Hudi 1.0.2, whose values are decoded here by another decoder.
FILES = Path(__file__).parents[4] / "reference" / "tests" / "data" / "metadata"
_META = "00" * 5
_NO_MORE = "00" * 4

_NOTES = {
    "key": "The key is that of the entry; in the value it is empty.",
    "size": "Log files have sizes like base files; a reader that uses 0 reads nothing of them.",
    "removed": "An entry with the delete flag is removed.",
    "bounds": "Least and greatest value are wrapped in a record of their type, and may be null.",
    "per-file": "Statistics of a file and of a partition differ only in their type.",
    "moment": "The instant of a bloom filter is its text; that of a location is milliseconds.",
    "place": "A partition path is stored whole; that of a table without partitions is empty.",
    "damage": "The value is not such a record.",
}


def cases() -> Iterator[VectorCase]:
    """Values, and folders of indexes."""
    yield VectorCase(
        area="hashing",
        name="metadata-records",
        requirements=[
            *(f"MDT-{n:03}" for n in (3, 5, 6, 7, 11, 13, 14)),
            *(f"IDX-{n:03}" for n in (5, 6, 7, 8, 10, 13, 14, 16, 17, 18, 19, 20, 30)),
        ],
        says="A value of the metadata table is an Avro record with a type and the one member of that type.",
        needs=["compute.metadata-record.decode"],
        flags=["lost-write", "silent-stale"],
        function="metadata-record.decode",
        derived_by=[HUDI, SECOND, HAND],
        notes=_NOTES,
        tests=number_tests(_by_hand(), _stored(), _damaged()),
        if_it_fails="Decode the value with the schema of the file; the type selects the member, and the entry has the key.",
    )
    yield VectorCase(
        area="names",
        name="metadata-partitions",
        requirements=["IDX-001", "IDX-002", "IDX-009", "IDX-023"],
        says="An index is a partition of the metadata table, named after its type and the name that it was created under.",
        needs=["compute.metadata-partition.name"],
        flags=["silent-stale"],
        function="metadata-partition.name",
        derived_by=[HUDI, HAND],
        notes={
            "own-name": "A built-in index has a name of its own.",
            "created": "The user who creates an index names it.",
        },
        tests=number_tests(_partitions()),
        if_it_fails="Join the type and the name of the index by an underscore; the column name is not used.",
    )


def _partitions() -> Iterator[Test]:
    for name in ("bloom_filters", "record_index", "column_stats", "partition_stats", "files"):
        yield valid_test(name, {"type": name, "name": None}, name, "own-name")
    for kind, name in (
        ("secondary_index", "rider_idx"),
        ("secondary_index", "a"),
        ("expr_index", "idx_day"),
        ("expr_index", "x_y_z"),
    ):
        yield valid_test(f"{kind} called {name}", {"type": kind, "name": name}, f"{kind}_{name}", "created")
    yield invalid_test("a type that is unknown", {"type": "btree", "name": "a"}, "created")
    yield invalid_test("an index without its name", {"type": "secondary_index", "name": None}, "created")


def _by_hand() -> Iterator[Test]:
    """The examples of the format, byte by byte."""
    listed = f"{_META}000202021c{b'city=sao_paulo'.hex()}000000{_NO_MORE}"
    yield valid_test("the list of partitions", _asked("__all_partitions__", listed),
                {"type": 1, "partitions": {"city=sao_paulo": {"size": "0", "deleted": False}}}, "key")  # fmt: skip
    gone = f"{_META}000202021c{b'city=sao_paulo'.hex()}000100{_NO_MORE}"
    yield valid_test("a partition that is gone", _asked("__all_partitions__", gone),
                {"type": 1, "partitions": {"city=sao_paulo": {"size": "0", "deleted": True}}}, "removed")  # fmt: skip
    name = ".f_20250101000000000.log.1_0-1-2"
    log = f"{_META}0004020240{name.encode().hex()}a40f0000{_NO_MORE}"
    yield valid_test("a log file with its size", _asked("p=1", log),
                {"type": 2, "files": {name: {"size": "978", "deleted": False}}}, "size")  # fmt: skip
    for deleted in (False, True):
        filter_ = f"0c{b'SIMPLE'.hex()}22{b'20250101000000000'.hex()}10{b'/////w=='.hex()}{'01' if deleted else '00'}"
        comment = "the bloom filter of a file that is gone" if deleted else "the bloom filter of a file"
        said = {"type": 4, "filter": "SIMPLE", "instant": "20250101000000000", "text": "/////w==", "deleted": deleted}
        yield valid_test(comment, _asked("k", f"{_META}00080002{filter_}000000"), said, "removed", "moment")
    file_id = "02be9ea2edb3e0f6ed0602c9e1ff85c4aec795860102000200"
    place = f"{_META}000a000000020224{b'city=san_francisco'.hex()}{file_id}02dcc987d9e766000000"
    yield valid_test("the place of a record", _asked("k", place), {
        "type": 5, "partition": "city=san_francisco", "file_id": "036ded81-9ed4-479f-bcea-7145dfa0079b-0",
        "milliseconds": "1766264468078", "position": None,
    }, "place", "moment")  # fmt: skip
    for deleted in (False, True):
        value = f"{_META}000e0000000002{'01' if deleted else '00'}"
        comment = "a secondary pair that is gone" if deleted else "a secondary pair"
        yield valid_test(comment, _asked("v$k", value), {"type": 7, "deleted": deleted}, "removed")


def _asked(key: str, value: str) -> Json:
    return {"key": key, "value": value}


def _stored() -> Iterator[Test]:
    """The values that Apache Hudi 1.0.2 stored, decoded by fastavro and converted to the form of the contract."""
    for path in sorted(FILES.glob("*.hfile")):
        file = hfile_of(path.read_bytes(), path.name)
        schema = json.loads(file.info["schema"])
        for number, entry in enumerate(file):
            if number == 3:
                break
            key = entry.row.decode()
            record = _avro(schema, entry.value)
            flags = ["per-file", "bounds"] if record["ColumnStatsMetadata"] else ["key"]
            yield valid_test(
                f"{path.name.partition('_')[0]}, entry {number}", _asked(key, entry.value.hex()), _told(record), *flags
            )


def _avro(schema: Json, value: bytes) -> Json:
    return fastavro.schemaless_reader(
        io.BytesIO(value), fastavro.parse_schema(schema), return_record_name=True, return_record_name_override=True
    )


def _told(record: Json) -> Json:
    kind = record["type"]
    member = next(
        record[name]
        for name in (
            "filesystemMetadata",
            "ColumnStatsMetadata",
            "BloomFilterMetadata",
            "recordIndexMetadata",
            "SecondaryIndexMetadata",
        )
        if record[name] is not None
    )
    if kind in (1, 2):
        listed = {name: {"size": str(info["size"]), "deleted": info["isDeleted"]} for name, info in member.items()}
        return {"type": kind, {1: "partitions", 2: "files"}[kind]: listed}
    if kind in (3, 6):
        return {"type": kind, {3: "file", 6: "partition"}[kind]: member["fileName"], **_statistics(member)}
    if kind == 4:
        return {"type": 4, "filter": member["type"], "instant": member["timestamp"], "text": member["bloomFilter"].decode(),
                "deleted": member["isDeleted"]}  # fmt: skip
    if kind == 5:
        return {"type": 5, "partition": member["partitionName"], "file_id": _file_id(member),
                "milliseconds": str(member["instantTime"]), "position": member["position"]}  # fmt: skip
    return {"type": 7, "deleted": member["isDeleted"]}


def _statistics(member: Json) -> Json:
    numbers = {"values": "valueCount", "nulls": "nullCount", "size": "totalSize", "uncompressed_size": "totalUncompressedSize"}
    return {
        "column": member["columnName"],
        "least": _bound(member["minValue"]),
        "greatest": _bound(member["maxValue"]),
        **{word: str(member[name]) for word, name in numbers.items()},
        "deleted": member["isDeleted"],
        "tight": member["isTightBound"],
    }


def _bound(wrapped: tuple[str, Json] | None) -> Json:
    if wrapped is None:
        return None
    name = wrapped[0].rpartition(".")[2]
    value = wrapped[1]["value"]
    if isinstance(value, bytes):
        value = value.hex()
    elif isinstance(value, Decimal) or name in ("LongWrapper", "TimestampMicrosWrapper", "FloatWrapper", "DoubleWrapper"):
        value = str(value)
    return {"wrapper": name, "value": value}


def _file_id(member: Json) -> str:
    if member["fileIdEncoding"] == 1:
        return str(member["fileId"])
    digits = f"{member['fileIdHighBits'] % 2**64:016x}{member['fileIdLowBits'] % 2**64:016x}"
    parts = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    return f"{parts}-{member['fileIndex']}"


def _damaged() -> Iterator[Test]:
    whole = f"{_META}000202021c{b'city=sao_paulo'.hex()}000000{_NO_MORE}"
    for comment, key, value in (
        ("no bytes", "k", ""),
        ("cut", "__all_partitions__", whole[:-2]),
        ("a byte too many", "__all_partitions__", whole + "00"),
        ("a type that is unknown", "k", f"{_META}00100000000000"),
        ("a type without its member", "k", f"{_META}000a0000000000"),
        ("the list of partitions under another key", "p=1", whole),
        ("a list of files under the key of the partitions", "__all_partitions__", whole.replace("0002020", "0004020", 1)),
        ("the key of another entry in the value", "k", f"{_META}026a0e0000000002" + "00"),
        ("an unknown encoding of file ids", "k", f"{_META}000a000000020070020202020202000202040000"),
    ):
        yield invalid_test(comment, _asked(key, value), "damage")
