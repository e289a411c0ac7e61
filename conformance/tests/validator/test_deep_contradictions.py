"""The deep checks on rows that contradict other files: inputs of services, captured changes, footers, and entries of indexes."""

import io
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import clause_places_samples as c
import deep_damage_samples as d
import fastavro
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import validated_tables_samples as t

from hudi_conformance.validator.all_checks import DEEP
from hudi_conformance.validator.checks.finding import Finding
from hudi_conformance.validator.validation import validate
from hudi_reference import cluster, create_table, log_compact
from hudi_reference.clock import ManualClock
from hudi_reference.files.base_file import read_base_file
from hudi_reference.files.log.block import Block, HeaderKey, encode_block
from hudi_reference.files.log.content import decode_rows, encode_rows, plain_records
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.ids import RandomIds
from hudi_reference.layout.names import split_path
from hudi_reference.metadata.keys import bloom_filters_key
from hudi_reference.metadata.records import Bound, ColumnStats, MetadataRecord, PartitionList, PartitionStats
from hudi_reference.schema.avro import parse_schema
from hudi_reference.storage import MemoryStorage, Storage

Edit = Callable[[Storage], object]
WRONG, COSMETIC = "wrong-answers", "cosmetic"
MODE = "hoodie.table.cdc.supplemental.logging.mode"


def log_compacted() -> Storage:
    """One base file and several log files in each of two partitions, of which a log compaction merged the first ones."""
    table = t._new("MERGE_ON_READ")
    for fare in range(4):
        table.upsert(t.rows(1, 2, 3, 4, fare=fare))
    assert log_compact(t.reopened(table.storage), {"hoodie.log.compaction.blocks.threshold": "1"})
    return table.storage  # type: ignore[no-any-return]


def clustered() -> Storage:
    """One file group in each of two partitions, stored by a clustering."""
    storage = d.copy_on_write()
    small = {"hoodie.clustering.plan.strategy.small.file.limit": "1000000000"}
    assert cluster(d._reopened(_Made(storage), {}), small)
    return storage


class _Made:
    """What `_reopened` needs of a table."""

    def __init__(self, storage: Storage) -> None:
        self.storage, self.clock, self.ids = storage, ManualClock(d.START + 10**8), RandomIds()


def capturing(mode: str = "DATA_BEFORE_AFTER") -> Storage:
    """Three writes of a copy-on-write table that captures changes."""
    table = create_table(
        "memory:///deep", name="deep", schema=t.SCHEMA, record_key=["id"], partition=["city"], table_type="COPY_ON_WRITE",
        storage=MemoryStorage(), clock=ManualClock(d.START), ids=RandomIds(),
        properties={"hoodie.table.cdc.enabled": "true", MODE: mode},
    )  # fmt: skip
    for fare in range(3):
        table.upsert(t.rows(1, 2, 3, 4, fare=fare))
    return table.storage  # type: ignore[return-value]


def by_keys() -> Storage:
    """The same with keys and operations alone."""
    return capturing("OP_KEY_ONLY")


def found_in(storage: Storage) -> set[tuple[str, str]]:
    """Rules and severities of the findings of the deep checks, none of which may break."""
    found = validate(c.stored(storage), DEEP)
    assert not found.broken, found.broken
    for one in found.findings:
        _check_whole(one)
    return {(one.rule, one.severity) for one in found.findings}


def _check_whole(finding: Finding) -> None:
    """A finding says where it is, what is expected and found, what it means and what helps."""
    assert all((finding.path, finding.meaning, finding.expected, finding.found, finding.remedy)), finding


def _rows(change: Callable[[pa.Table], pa.Table], block: Block) -> bytes:
    schema = parse_schema(block.header[HeaderKey.SCHEMA], block.path)
    return encode_block(block.kind, block.header, encode_rows(change(decode_rows(block)), schema))  # type: ignore[arg-type]


def _with(name: str, value: Any) -> Callable[[pa.Table], pa.Table]:
    return c.with_value(name, value)


def _in_compacted(change: Callable[[Block], bytes]) -> Edit:
    """Change the first compacted block."""

    def edit(storage: Storage) -> None:
        for path in t.log_files(storage):
            (block,) = read_log_file(storage, path)
            if HeaderKey.COMPACTED_BLOCK_TIMES in block.header:
                storage.put(path, change(block))
                return

    return edit


def _with_times(times: str | None) -> Callable[[Block], bytes]:
    """A block that lists other times of compacted blocks."""

    def change(block: Block) -> bytes:
        header = {key: value for key, value in block.header.items() if key != HeaderKey.COMPACTED_BLOCK_TIMES}
        if times is not None:
            header[HeaderKey.COMPACTED_BLOCK_TIMES] = f"{block.header[HeaderKey.COMPACTED_BLOCK_TIMES]},{times}"
        return encode_block(block.kind, header, bytes(block.content))  # type: ignore[arg-type]

    return change


def _in_changes(change: Callable[[list[Any]], object]) -> Edit:
    """Change the records of the last change-capture file."""

    def edit(storage: Storage) -> None:
        path = t.paths(storage, ".cdc")[-1]
        (block,) = read_log_file(storage, path)
        records = [dict(one) for one in plain_records(block)]
        change(records)
        parsed, content = fastavro.parse_schema(json.loads(block.header[HeaderKey.SCHEMA])), bytes(block.content)[:4]
        content += len(records).to_bytes(4, "big")
        for record in records:
            out = io.BytesIO()
            fastavro.schemaless_writer(out, parsed, record)
            content += len(out.getvalue()).to_bytes(4, "big") + out.getvalue()
        storage.put(path, encode_block(block.kind, block.header, content))  # type: ignore[arg-type]

    return edit


def _another_image(records: list[Any]) -> None:
    records[0]["after"] = {**records[0]["after"], "fare": 999}


def _clustered_value(storage: Storage) -> None:
    d.in_newest(d.with_value("fare", 3, 999))(storage)


def _narrow_footer(storage: Storage) -> None:
    """The greatest fare in the footer is replaced by the least one; no other byte changes."""
    path = d.base_files(storage)[-1]
    data = storage.get(path)
    begin = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    fares = pc.min_max(pq.read_table(pa.BufferReader(data)).column("fare"))
    least, greatest = (fares[side].as_py().to_bytes(8, "little") for side in ("min", "max"))
    assert greatest in data[begin:]
    storage.put(path, data[:begin] + data[begin:].replace(greatest, least))


def _entry(index: str, change: Callable[[Any], Any], pick: Callable[[Storage, Any], bool] = lambda storage, one: True) -> Edit:
    """Replace the first entry of an index that fits."""

    def edit(storage: Storage) -> None:
        entries = sorted(d.entries_of(storage, index).items())
        key, payload = next((key, one.payload) for key, one in entries if pick(storage, one.payload))
        d.change_index(storage, index, removed=[key])  # a record would be merged with the one before it
        d.change_index(storage, index, [MetadataRecord(key, change(payload))])

    return edit


def _statistics(change: Callable[[ColumnStats], ColumnStats]) -> Edit:
    """Replace the statistics of the column fare in the newest base file."""

    def pick(storage: Storage, one: Any) -> bool:
        newest = d.base_files(storage)[-1].rpartition("/")[2]
        return isinstance(one, ColumnStats) and one.file_name == newest and one.column == "fare"

    return _entry("column_stats", change, pick)


def _of_partition(change: Callable[[Any], Any], index: str = "partition_stats", column: str = "fare") -> Edit:
    """Replace the statistics of a column in a partition."""
    return _entry(index, change, lambda storage, one: isinstance(one, PartitionStats) and one.column == column)


def _of_a_newest_file(storage: Storage, one: Any) -> bool:
    newest = [d.base_files(storage, partition)[-1].rpartition("/")[2] for partition in "xy"]
    return isinstance(one, ColumnStats) and one.file_name in newest


def _of_an_older_file(storage: Storage, one: Any) -> bool:
    return isinstance(one, ColumnStats) and one.column == "fare" and not _of_a_newest_file(storage, one)


def _wider(one: Any) -> Any:
    return replace(one, greatest=Bound("LongWrapper", 10**6))


def _longer_filter(storage: Storage) -> None:
    """The filter of the newest base file is one for more keys, in the index alone."""
    path = d.base_files(storage)[-1]
    key, keys = bloom_filters_key(*split_path(path)), d.keys_of(read_base_file(storage, path))
    record = d.entries_of(storage, "bloom_filters")[key]
    text = d.make_file_filter(pa.array([*keys, "another key"])).encode()
    d.change_index(storage, "bloom_filters", removed=[key])
    d.change_index(storage, "bloom_filters", [MetadataRecord(key, replace(record.payload, text=text))])  # type: ignore[type-var]


def _filter_of_nothing(storage: Storage) -> None:
    record = min(d.entries_of(storage, "bloom_filters").values(), key=lambda one: one.key)
    d.change_index(storage, "bloom_filters", [MetadataRecord(bloom_filters_key("x", "gone.parquet"), record.payload)])


def _with_sizes(payload: Any) -> Any:
    return replace(payload, partitions={name: replace(one, size=7) for name, one in payload.partitions.items()})


def _more(value: int | None) -> int:
    return (value or 0) + 1


TEXT = Bound("StringWrapper", "a")
DAMAGES: dict[str, tuple[Callable[[], Storage], Edit, set[tuple[str, str]]]] = {
    "a log compaction that lost a row": (
        log_compacted, _in_compacted(lambda block: _rows(lambda rows: rows.slice(1), block)), {("LCP-005", WRONG), ("TL-007", "data-lost")},
    ),
    "a log compaction with another value": (
        log_compacted, _in_compacted(lambda block: _rows(_with("fare", 99), block)), {("LCP-005", WRONG)},
    ),
    "a log compaction without its inputs": (
        log_compacted, _in_compacted(_with_times(None)), {("LCP-002", WRONG), ("META-003", WRONG)},
    ),
    "a log compaction of a write that never was": (log_compacted, _in_compacted(_with_times("20200101000000000")), {("LF-040", WRONG)}),
    "a clustering with another value": (clustered, _clustered_value, {("TL-011", WRONG)}),
    "an unknown operation of a change": (
        capturing, _in_changes(lambda records: records[0].update(op="z")), {("BLK-033", WRONG)},
    ),
    "an update without the image before it": (
        capturing, _in_changes(lambda records: records[0].update(before=None)), {("TYP-013", WRONG)},
    ),
    "a lost change": (capturing, _in_changes(lambda records: records.pop()), {("TYP-012", WRONG)}),
    "a change to another row": (capturing, _in_changes(_another_image), {("TYP-012", WRONG)}),
    "a lost change of a key": (by_keys, _in_changes(lambda records: records.pop()), {("TYP-012", WRONG)}),
    "a change of another key": (
        by_keys, _in_changes(lambda records: records[0].update(record_key="k9")), {("TYP-012", WRONG)},
    ),
    "a footer that excludes a value": (d.copy_on_write, _narrow_footer, {("TYP-014", WRONG)}),
    "a sequence number of another form": (
        d.copy_on_write, d.in_newest(d.with_value("_hoodie_commit_seqno", 3, "abc")), {("META-005", COSMETIC)},
    ),
    "a sequence number of another form in a log": (
        d.merge_on_read, lambda s: d.rewrite_log(s, d.with_rows(d.with_value("_hoodie_commit_seqno", 0, "abc"))),
        {("META-005", COSMETIC)},
    ),
    "the key of a change": (
        d.merge_on_read, lambda s: d.rewrite_log(s, d.with_rows(d.with_value("id", 0, "k98"))), {("META-007", WRONG)},
    ),
    "positions that are no text of positions": (
        d.merge_on_read, lambda s: d.rewrite_log(s, d.with_header(HeaderKey.RECORD_POSITIONS, "!")), {("LF-042", WRONG), ("LF-041", WRONG)},
    ),
    "a key twice in a block": (
        d.merge_on_read, lambda s: d.rewrite_log(s, d.with_rows(lambda rows: pa.concat_tables([rows, rows.slice(0, 1)]))),
        {("TL-007", COSMETIC), ("LF-042", WRONG)},
    ),
    "another number of nulls": (
        d.indexed, _statistics(lambda one: replace(one, null_count=_more(one.null_count))), {("MDT-014", COSMETIC)},
    ),
    "another number of values": (
        d.indexed, _statistics(lambda one: replace(one, value_count=_more(one.value_count))), {("MDT-014", COSMETIC)},
    ),
    "an entry of another column": (d.indexed, _statistics(lambda one: replace(one, column="ts")), {("MDT-015", WRONG)}),
    "an entry of another file": (d.indexed, _statistics(lambda one: replace(one, file_name="gone")), {("MDT-015", WRONG), ("MDT-001", COSMETIC)}),
    "other sizes of a column": (
        d.indexed, _statistics(lambda one: replace(one, total_size=_more(one.total_size))), {("MDT-014", COSMETIC)},
    ),
    "another decoded size of a column": (
        d.indexed, _statistics(lambda one: replace(one, total_uncompressed_size=_more(one.total_uncompressed_size))),
        {("MDT-014", COSMETIC)},
    ),
    "an entry of another column of an older file": (
        d.indexed, _entry("column_stats", lambda one: replace(one, column="ts"), _of_an_older_file), {("MDT-015", COSMETIC)},
    ),
    "an entry of a partition with another column": (
        d.indexed, _of_partition(lambda one: replace(one, column="ts")), {("MDT-015", WRONG)},
    ),
    "an entry of another partition": (
        d.indexed, _of_partition(lambda one: replace(one, partition="y" if one.partition == "x" else "x")),
        {("MDT-015", WRONG)},
    ),
    "an entry of an expression with another column": (
        d.indexed, _entry("expr_index_by_lower", lambda one: replace(one, column="ts"), _of_a_newest_file),
        {("MDT-015", WRONG)},
    ),
    "a partition with more values": (
        d.indexed, _of_partition(lambda one: replace(one, value_count=_more(one.value_count))), {("MDT-014", COSMETIC)},
    ),
    "a partition with more nulls": (
        d.indexed, _of_partition(lambda one: replace(one, null_count=_more(one.null_count))), {("MDT-014", COSMETIC)},
    ),
    "a partition with fewer bytes": (d.indexed, _of_partition(lambda one: replace(one, total_size=1)), {("MDT-014", COSMETIC)}),
    "statistics of a partition too wide": (d.indexed, _of_partition(_wider), {("MDT-014", COSMETIC)}),
    "statistics of an expression in a partition too wide": (
        d.indexed,
        _of_partition(lambda one: replace(one, greatest=Bound("StringWrapper", "zz")), "expr_index_by_lower", "city"),
        {("MDT-014", COSMETIC)},
    ),
    "a filter of another time": (
        d.indexed, _entry("bloom_filters", lambda one: replace(one, instant="20200101000000000")), {("IDX-007", COSMETIC)},
    ),
    "a filter with more keys": (d.indexed, _longer_filter, {("IDX-006", COSMETIC)}),
    "a filter of a file that is not there": (d.indexed, _filter_of_nothing, {("MDT-001", COSMETIC)}),
    "a filter of another type": (
        d.indexed, _entry("bloom_filters", lambda one: replace(one, type="SIMPLE")),
        {("IDX-005", WRONG), ("IDX-006", WRONG)},
    ),
    "sizes of partitions": (
        d.indexed, _entry("files", _with_sizes, lambda storage, one: isinstance(one, PartitionList)), {("MDT-007", COSMETIC)},
    ),
    "the time of a location": (
        d.indexed, _entry("record_index", lambda one: replace(one, milliseconds=one.milliseconds + 1)), {("IDX-020", COSMETIC)},
    ),
    "a pair that is marked as removed": (
        d.indexed, _entry("secondary_index_by_city", lambda one: replace(one, is_deleted=True)), {("IDX-024", WRONG)},
    ),
    "bounds of texts for numbers": (d.indexed, _statistics(lambda one: replace(one, least=TEXT, greatest=TEXT)), {("MDT-010", WRONG)}),
}  # fmt: skip


@pytest.mark.parametrize("make", [log_compacted, clustered, capturing, by_keys], ids=lambda make: make.__name__)
def test_sound_tables_have_no_findings(make: Callable[[], Storage]) -> None:
    """Tables with a log compaction, a clustering and captured changes have no finding."""
    assert found_in(make()) == set()


@pytest.mark.parametrize("name", DAMAGES)
def test_a_contradiction_is_found_with_its_rule(name: str) -> None:
    """Each damage is found with its rules and severities alone."""
    make, edit, expected = DAMAGES[name]
    storage = make()
    edit(storage)
    for path in t.paths(storage, ".log."):
        if not path.startswith(".hoodie/"):
            c.resize(storage, path)
    assert found_in(storage) == expected
