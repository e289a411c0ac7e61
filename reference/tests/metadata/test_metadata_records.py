"""Keys and records of the metadata table, on files that Apache Hudi 1.0.2 wrote."""

import io
import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import fastavro
import pytest

from hudi_reference.errors import InvalidQuery, InvalidRows, MalformedIndexEntry, UnsupportedTableFeature
from hudi_reference.files.bloom.bloom import decode_filter
from hudi_reference.files.hfile.cell import Entry
from hudi_reference.files.hfile.reader import HFile, hfile_of
from hudi_reference.metadata import keys
from hudi_reference.metadata.codec import decode_entries, encode_record
from hudi_reference.metadata.locations import Location, file_id_of, location_of
from hudi_reference.metadata.records import (
    BloomFilter,
    Bound,
    ColumnStats,
    FileInfo,
    FileList,
    MetadataRecord,
    PartitionList,
    PartitionStats,
    RecordLocation,
    SecondaryEntry,
)
from hudi_reference.metadata.schema import SCHEMA
from hudi_reference.metadata.secondary_keys import parse_secondary_key
from hudi_reference.timeline.instants.times import milliseconds_of

DATA = Path(__file__).parents[1] / "data" / "metadata"
FILES = sorted(DATA.glob("*.hfile"))
INSTANT = "20261121204011042"


def opened(path: Path) -> HFile:
    return hfile_of(path.read_bytes(), path.name)


def schema_of(file: HFile) -> dict:
    return json.loads(file.info["schema"])


def records(prefix: str) -> dict[str, MetadataRecord]:
    file = opened(next(DATA.glob(f"{prefix}*")))
    return {record.key: record for record in decode_entries(file, schema_of(file), prefix)}


def without_docs(schema: object) -> object:
    if isinstance(schema, dict):
        return {key: without_docs(value) for key, value in schema.items() if key != "doc"}
    return [without_docs(one) for one in schema] if isinstance(schema, list) else schema


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.split("_")[0])
def test_schema_equals_the_stored_one(path: Path) -> None:
    """SCHEMA equals the schema in the files except for documentation: fields, unions and defaults, in their order."""
    assert without_docs(schema_of(opened(path))) == SCHEMA


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.split("_")[0])
def test_records_are_unchanged_after_encoding(path: Path) -> None:
    """Every record is encoded to its stored bytes, except for the meta columns, which are empty."""
    file = opened(path)
    parsed = fastavro.parse_schema(schema_of(file))
    for entry, record in zip(file, decode_entries(file, schema_of(file), path.name), strict=True):
        name = fastavro.schemaless_reader(io.BytesIO(entry.value), parsed)["_hoodie_file_name"]
        filled = b"\x02" + _avro_text(name) if name is not None else b"\x00"
        assert entry.value.startswith(bytes(4) + filled)
        assert encode_record(record) == Entry(entry.row, bytes(5) + entry.value[4 + len(filled) :])


def _avro_text(text: str) -> bytes:
    length = 2 * len(text.encode())
    return (bytes([length]) if length < 128 else bytes([length & 0x7F | 0x80, length >> 7])) + text.encode()


def test_files_and_partitions() -> None:
    """MDT-005, MDT-006, MDT-007: a record for each partition with names and sizes, and one that lists the partitions."""
    found = records("files")
    listed = found.pop(keys.ALL_PARTITIONS).payload
    assert listed == PartitionList({"p=a": FileInfo(0), "p=b": FileInfo(0), "p=b/c d=%": FileInfo(0)})
    assert found.keys() == listed.partitions.keys()
    for record in found.values():
        assert isinstance(record.payload, FileList)
        assert all(name.endswith(".parquet") and info.size > 0 for name, info in record.payload.files.items())


def test_column_statistics_and_their_keys() -> None:
    """MDT-011, MDT-014, MDT-015: least, greatest and nulls of a column in a file, found by the hashes of the three names."""
    for key, record in records("col-stats").items():
        stats = record.payload
        assert isinstance(stats, ColumnStats)
        assert key in {keys.column_stats_key(stats.column, p, stats.file_name) for p in ("p=a", "p=b", "p=b/c d=%")}
    bounds = {(s.column, s.least, s.greatest) for s in (r.payload for r in records("col-stats").values())}
    assert (
        "dec",
        Bound("DecimalWrapper", Decimal("-1.000000000000000")),
        Bound("DecimalWrapper", Decimal("12.300000000000000")),
    ) in bounds
    assert ("ts", Bound("LongWrapper", -1_000_000), Bound("LongWrapper", 1704067200123456)) in bounds
    assert ("dt", Bound("DateWrapper", -1), Bound("DateWrapper", 19782)) in bounds
    assert ("b", Bound("BytesWrapper", b"\x00\xff"), Bound("BytesWrapper", b"\x01")) in bounds


def test_statistics_of_partitions_and_their_keys() -> None:
    """Statistics of a partition name it where those of a file name the file."""
    for key, record in records("partition-stats").items():
        stats = record.payload
        assert isinstance(stats, PartitionStats)
        assert stats.is_tight
        assert key == keys.partition_stats_key(stats.column, stats.partition)


def test_expression_index_has_statistics_of_files_and_partitions() -> None:
    """Statistics of files under their ordinary keys, those of partitions under a key with __partition_stat__ in its middle."""
    kinds = set()
    for key, record in records("expr-index-idx-day").items():
        stats = record.payload
        kinds.add(type(stats))
        if isinstance(stats, PartitionStats):
            assert key == keys.expression_partition_stats_key(stats.column, stats.partition)
        else:
            assert key.startswith(keys.column_stats_key("secs")) and key.endswith(keys.file_digest(stats.file_name))
    assert kinds == {ColumnStats, PartitionStats}


@pytest.mark.parametrize(("index", "kind"), [("bloom-filters", "SIMPLE"), ("expr-index-idx-low", "DYNAMIC_V0")])
def test_bloom_filters(index: str, kind: str) -> None:
    """IDX-005, IDX-006, IDX-007: kind, instant, and the text that the base file's footer has."""
    found = [record.payload for record in records(index).values()]
    assert found
    for payload in found:
        assert isinstance(payload, BloomFilter)
        assert payload.type == kind and decode_filter(kind, payload.text, index).bits == 96
        assert payload.instant.isdigit() and not payload.is_deleted


def test_record_locations() -> None:
    """IDX-010 to IDX-020: the key is the record key; partition, file id and the moment of the instant are in the value."""
    (record,) = records("record-index-0009").values()
    payload = record.payload
    assert record.key == "😀" and isinstance(payload, RecordLocation)
    assert (payload.partition, payload.milliseconds) == ("p=b", milliseconds_of(INSTANT))
    assert payload.location.file_id == "234aa26d-0118-49e2-87c7-d5bd5f78f93f-0"


def test_secondary_entries() -> None:
    """IDX-024, IDX-030: the key contains the secondary value and the record key; the value of the entry is empty."""
    for key, record in records("secondary-index").items():
        assert record.payload == SecondaryEntry()
        assert parse_secondary_key(key)[1] in ("k1", "é", "k:3,x", "😀")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.split("_")[0])
def test_keys_are_in_the_file_group_of_their_hash(path: Path) -> None:
    """Each key is in the file group that its hash names, in every partition of the metadata table."""
    groups = {
        "files": 1,
        "bloom-filters": 4,
        "col-stats": 2,
        "partition-stats": 1,
        "expr-index": 2,
        "record-index": 10,
        "secondary": 10,
    }
    count = next(n for name, n in groups.items() if path.name.startswith(name))
    number = int(path.name.split("_")[0].rsplit("-", 2)[1])
    assert {keys.file_group_of(entry.row.decode(), count) for entry in opened(path)} == {number}


def entry(key: str = "k", **members: object) -> Entry:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(json.dumps(SCHEMA))), {"key": "", "type": 7} | members)
    return Entry(key.encode(), out.getvalue())


WHOLE = {"SecondaryIndexMetadata": {"isDeleted": False}}


@pytest.mark.parametrize(
    "broken",
    [
        entry(),
        entry(type=0, **WHOLE),
        entry(type=8, **WHOLE),
        entry(type=5, **WHOLE),
        entry(key=keys.ALL_PARTITIONS, **WHOLE),
        entry(type=1, filesystemMetadata={}),
        Entry(b"k", b""),
        Entry(b"k", entry(**WHOLE).value[:-1]),
        Entry(b"k", entry(**WHOLE).value + b"\0"),
        Entry(b"\xff", entry(**WHOLE).value),
    ],
    ids=["no-member", "type-0", "type-8", "other-member", "list-key", "list-type", "empty", "cut", "more", "not-utf8"],
)
def test_invalid_record_is_an_error(broken: Entry) -> None:
    """A value that is not a complete record of its type raises one typed error that names the file."""
    with pytest.raises(MalformedIndexEntry, match=r"some\.hfile"):
        list(decode_entries([broken], SCHEMA, "some.hfile"))


def test_key_in_the_value_must_match() -> None:
    """MDT-003: a different key in the value belongs to another record."""
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(json.dumps(SCHEMA))), {"key": "x", "type": 7, **WHOLE})
    with pytest.raises(MalformedIndexEntry):
        list(decode_entries([Entry(b"k", out.getvalue())], SCHEMA, "f"))
    (same,) = decode_entries([Entry(b"x", out.getvalue())], SCHEMA, "f")
    assert same == MetadataRecord("x", SecondaryEntry())


def test_records_of_earlier_releases_lack_members() -> None:
    """MDT-003: members that 1.0 added have their defaults. After an upgrade, files of a metadata table keep the older schema."""
    older = json.loads(json.dumps(SCHEMA))
    for record, member in (("ColumnStatsMetadata", "isTightBound"), ("recordIndexMetadata", "position")):
        fields = next(field["type"][1] for field in older["fields"] if field["name"] == record)["fields"]
        fields[:] = [field for field in fields if field["name"] != member]
    stored = [*records("col-stats").values(), *records("record-index").values()]
    found = list(decode_entries([encode_record(one, older) for one in stored], older, "older"))
    assert found == [
        replace(one, payload=replace(one.payload, is_tight=False)) if isinstance(one.payload, ColumnStats) else one
        for one in stored
    ]


def test_bounds_of_later_releases_are_refused() -> None:
    """Statistics with values of an unknown kind are refused."""
    text = json.dumps(SCHEMA).replace("StringWrapper", "UuidWrapper")
    value = next(iter(records("col-stats").values()))
    stats = replace(value.payload, least=Bound("StringWrapper", "a"))
    with pytest.raises(UnsupportedTableFeature):
        list(decode_entries([encode_record(MetadataRecord(value.key, stats))], json.loads(text), "f"))


def test_invalid_records_are_refused() -> None:
    """MDT-013: a live file has a size; a bound fits its wrapper."""
    with pytest.raises(InvalidRows, match="size"):
        encode_record(MetadataRecord("p", FileList({"f.parquet": FileInfo(0)})))
    stats = next(iter(records("col-stats").values())).payload
    with pytest.raises(InvalidRows):
        encode_record(MetadataRecord("k", replace(stats, least=Bound("IntWrapper", 2**40))))


def test_file_ids_are_unchanged_after_encoding() -> None:
    """IDX-015: ids of both encodings are restored; an unknown encoding and a half of more than 64 bits are errors."""
    for file_id in (
        "036ded81-9ed4-479f-bcea-7145dfa0079b-0",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "a b",
        "files-0000-0",
        "",
    ):
        assert file_id_of(location_of(file_id)) == file_id
    for broken in (Location(encoding=2), Location(high=2**63, low=0)):
        with pytest.raises(MalformedIndexEntry):
            file_id_of(broken)


def test_prefixes_and_groups() -> None:
    """MDT-016: a column's keys have one prefix; without file groups there is no answer."""
    assert keys.column_stats_key("c", "p", "f").startswith(keys.column_stats_key("c", "p"))
    assert keys.column_stats_key("c", "p").startswith(keys.column_stats_key("c"))
    assert keys.column_stats_key("c", "") == keys.column_stats_key("c", ".")
    with pytest.raises(InvalidQuery):
        keys.file_group_of("k", 0)
