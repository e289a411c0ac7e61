"""The deep checks on damaged tables: each damage is found with its rule, and nothing else is found."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import deep_damage_samples as d
import pyarrow as pa
import pytest

from hudi_conformance.validator.checks.deep import groups
from hudi_conformance.validator.checks.deep.files import log_files
from hudi_reference import open_table
from hudi_reference.clock import ManualClock
from hudi_reference.files.log.block import Block, BlockType, HeaderKey, encode_block
from hudi_reference.files.log.content import decode_rows, encode_rows
from hudi_reference.files.log.positions import encode_positions
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.metadata.keys import column_stats_key, partition_stats_key
from hudi_reference.metadata.locations import location_of
from hudi_reference.metadata.records import (
    Bound,
    ColumnStats,
    MetadataRecord,
    PartitionStats,
    RecordLocation,
    SecondaryEntry,
)
from hudi_reference.schema.avro import parse_schema
from hudi_reference.storage import Storage


@dataclass(frozen=True)
class Damage:
    """A damage of a sound table. `rules` are the rules of all findings, with their severities."""

    name: str
    make: Callable[[], Storage]
    edit: d.Edit
    rules: frozenset[tuple[str, str]]

    def __str__(self) -> str:
        return self.name


def _of_write(time: str) -> Callable[[pa.Table], pa.Table]:
    """Changes the second row to one of the write of that time."""

    def change(rows: pa.Table) -> pa.Table:
        return d.with_value("_hoodie_commit_seqno", 1, f"{time}_0_1")(d.with_value("_hoodie_commit_time", 1, time)(rows))

    return change


def _earlier_time(rows: pa.Table) -> pa.Table:
    """Gives the last row that the newest write stored the time of the oldest one."""
    times = rows.column("_hoodie_commit_time").to_pylist()
    return d.with_value("_hoodie_commit_time", times.index(max(times)), min(times))(rows)


WRONG, LOST, COSMETIC = "wrong-answers", "data-lost", "cosmetic"


def damage(
    name: str, make: Callable[[], Storage], edit: d.Edit, *rules: str, severity: str = WRONG, cosmetic: tuple[str, ...] = ()
) -> Damage:
    """A damage whose findings have that severity, but for those of the `cosmetic` rules."""
    found = {*((rule, severity) for rule in rules), *((rule, COSMETIC) for rule in cosmetic)}
    return Damage(name, make, edit, frozenset(found))


def _says_that_it_compacted(storage: Storage) -> None:
    """A block of an upsert names the write before it as compacted."""
    first = min(one.requested for one in d.stored(storage).commits)
    d.rewrite_log(storage, d.with_header(HeaderKey.COMPACTED_BLOCK_TIMES, first))


def _without_header(key: HeaderKey) -> Callable[[Block], bytes]:
    return lambda block: encode_block(block.kind, {k: v for k, v in block.header.items() if k != key}, bytes(block.content))  # type: ignore[arg-type]


def _roll_nothing_back(storage: Storage) -> None:
    """A command block of which no block before it has the target."""
    path = d.log_files(storage)[0]
    instant = next(iter(read_log_file(storage, path))).instant
    header = {
        HeaderKey.INSTANT_TIME: instant,
        HeaderKey.TARGET_INSTANT_TIME: "20200101000000000",
        HeaderKey.COMMAND_BLOCK_TYPE: "0",
    }
    storage.put(path, storage.get(path) + encode_block(BlockType.COMMAND, header, b""))


def _begins_otherwise(storage: Storage) -> None:
    path = d.base_files(storage)[-1]
    storage.put(path, b"XXXX" + storage.get(path)[4:])


def _moved(storage: Storage) -> None:
    """The rows of a bucket are stored in another one, with a footer of their own."""
    source, target = d.base_files(storage)[:2]
    rows = d.read_base_file(storage, source)
    keys = d.keys_of(rows)
    ends = {b"hoodie_min_record_key": min(keys).encode(), b"hoodie_max_record_key": max(keys).encode()}
    names = pa.array([target.rpartition("/")[2]] * rows.num_rows)
    d.rewrite(storage, target, lambda _: rows.set_column(4, "_hoodie_file_name", names), {**d.other_filter(keys), **ends})
    storage.put(source, storage.get(source))
    d.rewrite(storage, source, lambda table: table.slice(0, 0))


def _row_of_partial_index(storage: Storage, index: str, change: Callable[[Any], Any], pick: Callable[[Any], bool]) -> None:
    found = [one for one in d.entries_of(storage, index).values() if pick(one.payload)]
    # Of the last write; keys begin with hashes of column and partition, so that the partition is always the same.
    record = max(found, key=lambda one: (re.findall("[0-9]{17}", getattr(one.payload, "file_name", "")), one.key))
    d.change_index(storage, index, [MetadataRecord(record.key, change(record.payload))])


def _narrow(payload: ColumnStats | PartitionStats) -> Any:
    """Tight statistics that exclude the greatest value."""
    assert payload.least is not None
    return replace(payload, greatest=payload.least, is_tight=True)


def _of_fare(payload: Any) -> bool:
    """Whether these are statistics of the column fare with a range, of a file of the present state."""
    return isinstance(payload, ColumnStats | PartitionStats) and payload.column == "fare" and payload.least != payload.greatest


def _first_key(storage: Storage, index: str) -> str:
    return min(d.entries_of(storage, index))


def _elsewhere(storage: Storage) -> None:
    key, records = _first_key(storage, "record_index"), d.entries_of(storage, "record_index")
    here = records[key].payload
    assert isinstance(here, RecordLocation)
    other = next(one.payload for one in records.values() if one.payload.partition != here.partition)  # type: ignore[union-attr]
    d.change_index(storage, "record_index", [MetadataRecord(key, other)])


def _group_that_is_not_there(storage: Storage) -> None:
    location = RecordLocation("x", location_of("11111111-1111-4111-8111-111111111111-0"), 0)
    d.change_index(storage, "record_index", [MetadataRecord("no such key", location)])


def _stale_key(storage: Storage) -> None:
    record = d.entries_of(storage, "record_index")[_first_key(storage, "record_index")]
    d.change_index(storage, "record_index", [MetadataRecord("no such key", record.payload)])


def _in_two_partitions(storage: Storage) -> None:
    """A write whose index looks keys up in one partition inserts a key of the partition y into x."""
    table = open_table("memory:///deep", storage=storage, clock=ManualClock(d.START + 10**8), options=d.INDEXED)
    row = d.rows(1, ts=9)
    table.upsert(row.set_column(row.column_names.index("p"), "p", pa.array(["x"])))


def _statistics_of_nothing(storage: Storage) -> None:
    record = min(d.entries_of(storage, "column_stats").values(), key=lambda one: one.key)
    payload = replace(record.payload, file_name="gone.parquet")  # type: ignore[type-var]
    d.change_index(storage, "column_stats", [MetadataRecord(column_stats_key(payload.column, "x", "gone.parquet"), payload)])


def _filter_of_others(storage: Storage) -> None:
    newest = d.base_files(storage)[-1].rpartition("_")[2].partition(".")[0]
    text = d.make_file_filter(pa.array(["other"])).encode()
    _row_of_partial_index(
        storage, "bloom_filters", lambda found: replace(found, text=text), lambda found: found.instant == newest
    )


def _without_statistics(storage: Storage) -> None:
    newest = d.base_files(storage)[-1].rpartition("/")[2]
    keys = [key for key, one in d.entries_of(storage, "column_stats").items() if one.payload.file_name == newest]  # type: ignore[union-attr]
    d.change_index(storage, "column_stats", removed=keys)


def _statistics_of_no_partition(storage: Storage) -> None:
    record = min(d.entries_of(storage, "partition_stats").values(), key=lambda one: one.key)
    payload = replace(record.payload, partition="gone")  # type: ignore[type-var]
    d.change_index(storage, "partition_stats", [MetadataRecord(partition_stats_key(payload.column, "gone"), payload)])


def _without_statistics_of_a_log(storage: Storage) -> None:
    newest = d.log_files(storage)[-1].rpartition("/")[2]
    keys = [key for key, one in d.entries_of(storage, "column_stats").items() if one.payload.file_name == newest]  # type: ignore[union-attr]
    assert keys
    d.change_index(storage, "column_stats", removed=keys)


def _last_of(storage: Storage) -> str:
    """The requested time of the last write, which stored deletes."""
    return max(path.rpartition("_")[2].partition(".")[0] for path in (f.rpartition(".log.")[0] for f in d.log_files(storage)))


def _positions(*numbers: int) -> d.Edit:
    return lambda storage: d.rewrite_log(storage, d.with_header(HeaderKey.RECORD_POSITIONS, encode_positions(numbers)))


def _in_log(change: Callable[[pa.Table], pa.Table]) -> d.Edit:
    return lambda storage: d.rewrite_log(storage, d.with_rows(change))


#: Columns without which rows cannot be told, and the rules of what their absence breaks.
_NEEDED_COLUMNS = {
    "_hoodie_record_key": ("META-001",), "_hoodie_partition_path": ("META-001",), "_hoodie_file_name": ("META-001",),
    "_hoodie_commit_time": ("META-001",),
}  # fmt: skip


def _of_times_of_two_lengths(rows: pa.Table) -> pa.Table:
    """The second row is of a write with a time of 14 digits, and the third has no time."""
    return d.with_value("_hoodie_commit_time", 2, None)(_of_write("20200101000000")(rows))


DAMAGES = (
    # Rows of base files.
    damage("the key of a row", d.copy_on_write, d.in_newest(d.with_value("_hoodie_record_key", 3, "k99")), "META-007", "IDX-004"),
    damage("no key of a row", d.copy_on_write, d.in_newest(d.with_value("_hoodie_record_key", 3, None)), "META-007"),
    damage("no key of a row, bootstrapped", d.bootstrapped, d.in_newest(d.with_value("_hoodie_record_key", 3, None)), "META-007"),
    damage("an empty key", d.copy_on_write, d.in_newest(d.with_value("_hoodie_record_key", 3, "")), "META-007", "IDX-004"),
    damage("no key field of a row", d.copy_on_write, d.in_newest(d.with_value("id", 3, "")), "META-007", "META-004"),
    damage("no key field of a row in a log", d.merge_on_read, _in_log(d.with_value("id", 1, "")), "META-007", "BLK-016"),
    damage("the key field of a row", d.copy_on_write, d.in_newest(d.with_value("id", 3, "k98")), "META-007", "META-004"),
    damage("the partition of a row", d.copy_on_write, d.in_newest(d.with_value("_hoodie_partition_path", 3, "y")), "META-009"),
    damage("the partition field", d.without_meta_columns, d.in_newest(d.with_value("p", 3, "y")), "LAY-018"),
    damage("the partition field of an inserted row", d.inserted, d.in_newest(d.with_value("p", 3, "y")), "LAY-018"),
    damage("the partition field of an updated row", d.copy_on_write, d.in_newest(d.with_value("p", 0, "y")), "LAY-018", "META-004"),
    damage("the partition field of a row in a log", d.merge_on_read, _in_log(d.with_value("p", 1, "y")), "LAY-018"),
    damage("the partition field of an updated row, with a record index", d.indexed, d.in_newest(d.with_value("p", 0, "y")),
           "MDT-010", "META-004", cosmetic=("LAY-018", "MDT-014")),
    damage("no meta columns", d.copy_on_write, d.in_newest(lambda table: table.drop_columns(["_hoodie_commit_seqno"])), "META-001"),
    damage(
        "the name of the file", d.copy_on_write, d.in_newest(d.with_value("_hoodie_file_name", 3, "other")), "META-010",
        severity=COSMETIC,
    ),
    damage(
        "a commit that never was", d.copy_on_write, d.in_newest(d.with_value("_hoodie_commit_time", 3, "20260921141321500")),
        "META-003",
    ),
    damage("a row of a commit that never was", d.copy_on_write, d.in_newest(_of_write("20260921141321500")), "META-003"),
    damage("a commit time of another write", d.copy_on_write, d.in_newest(_earlier_time), "META-003"),
    damage("a sequence number of no write", d.copy_on_write,
           d.in_newest(d.with_value("_hoodie_commit_seqno", 3, "20200101000000000_0_7")), "META-005"),
    damage("no sequence number", d.copy_on_write, d.in_newest(d.with_value("_hoodie_commit_seqno", 3, None)), "META-005"),
    damage("no name of the file", d.copy_on_write, d.in_newest(d.with_value("_hoodie_file_name", 3, None)), "META-010",
           severity=COSMETIC),
    damage(
        "a commit after the file", d.copy_on_write, d.in_newest(d.with_value("_hoodie_commit_time", 3, "99990101000000000")),
        "META-003",
    ),
    damage(
        "a sequence number twice", d.copy_on_write,
        d.in_newest(lambda table: d.with_value("_hoodie_commit_seqno", 4, table.column("_hoodie_commit_seqno")[5].as_py())(table)),
        "META-005",
    ),
    damage("an array turned null", d.copy_on_write, d.in_newest(d.with_value("tags", 3, None)), "META-004", severity=LOST),
    damage("a copied value changed", d.copy_on_write, d.in_newest(d.with_value("fare", 3, 999)), "META-004"),
    damage("a filter of other keys", d.copy_on_write, d.in_newest(lambda table: table, d.other_filter(["other"])), "IDX-004"),
    damage(
        "a range that starts late", d.copy_on_write, d.in_newest(lambda table: table, {b"hoodie_min_record_key": b"k04"}), "IDX-004"
    ),
    damage(
        "a range that ends early", d.copy_on_write, d.in_newest(lambda table: table, {b"hoodie_max_record_key": b"k04"}), "IDX-004"
    ),
    damage("rows of another file group", d.copy_on_write,
           d.in_newest(d.with_value("_hoodie_file_name", 0, f"{'1' * 8}-0000-0000-0000-000000000000-0_0-0-0_20260101000000000.parquet")),
           "META-010"),
    *(damage(f"no column {name}", d.copy_on_write, d.in_newest(lambda table, name=name: table.drop_columns([name])), *rules)
      for name, rules in _NEEDED_COLUMNS.items()),
    damage("a sequence number without a task", d.copy_on_write,
           d.in_newest(d.with_value("_hoodie_commit_seqno", 3, "20260921141321000_7")), "META-005"),
    damage("a commit of 14 digits that never was", d.copy_on_write, d.in_newest(_of_write("20200101000000")), "META-003"),
    damage("a commit of 14 digits and none", d.copy_on_write, d.in_newest(_of_times_of_two_lengths), "META-003"),
    damage("a number of no write beside a commit of 14 digits", d.copy_on_write,
           d.in_newest(lambda table: _of_write("20200101000000")(d.with_value("_hoodie_commit_seqno", 3, "20200101000000000_0_7")(table))),
           "META-003", "META-005"),
    # Compactions.
    damage("a value that the compaction changed", d.compacted, d.in_newest(d.with_value("fare", 0, 77)), "CMP-002", "META-004"),
    damage("a row that the compaction lost", d.compacted, d.in_newest(lambda table: table.slice(1)), "CMP-002"),
    damage("a row that the compaction added", d.compacted,
           d.in_newest(lambda table: pa.concat_tables([table, d.with_value("_hoodie_record_key", 0, "k99")(table.slice(0, 1))])),
           "CMP-006", "META-007", "IDX-004", "META-005"),
    # Keys.
    damage("a row twice in a file", d.copy_on_write, d.duplicate_in_file, "PROP-017", "META-005"),
    damage("a row in another file group", d.copy_on_write, d.copied_group, "LAY-021"),
    damage("rows in another bucket", d.bucketed, _moved, "LAY-021"),
    # Log blocks.
    damage(
        "the instant of a block", d.merge_on_read,
        lambda storage: d.rewrite_log(storage, d.with_header(HeaderKey.INSTANT_TIME, "20260921141321500")), "LF-035", "META-003",
    ),
    damage("positions of no base file", d.merge_on_read,
           lambda storage: d.rewrite_log(
               storage, d.with_header(HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS, "20200101000000000")
           ), "LF-043", severity=COSMETIC),
    damage("positions of a write that stored no base file", d.merge_on_read,
           lambda s: d.rewrite_log(s, d.with_header(HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS, _last_of(s))),
           "LF-043", severity=COSMETIC),
    damage("too few positions", d.merge_on_read, _positions(0), "LF-042", "BLK-016"),
    damage("positions after the last row", d.merge_on_read, _positions(0, 900), "LF-042"),
    damage("a row twice in a file of an insert", d.inserted, d.duplicate_in_file, "PROP-017", "META-005"),
    damage("positions of other rows", d.merge_on_read, _positions(4, 5), "LF-042", "PROP-017"),
    damage("the partition of a row in a log", d.merge_on_read, _in_log(d.with_value("_hoodie_partition_path", 1, "y")), "META-009"),
    damage("no key of a row in a log", d.merge_on_read, _in_log(d.with_value("_hoodie_record_key", 1, "")), "META-007", "LF-042", "BLK-016"),
    damage(
        "the commit of a row in a log", d.merge_on_read, _in_log(d.with_value("_hoodie_commit_time", 1, "20260101000000000")),
        "META-003",
    ),
    damage("a row of another write in a log", d.merge_on_read, _in_log(_of_write("20260101000000000")), "META-003"),
    damage("a sequence number of no write in a log", d.merge_on_read,
           _in_log(d.with_value("_hoodie_commit_seqno", 1, "20200101000000000_0_7")), "META-005"),
    damage(
        "a compacted block of unknown writes", d.merge_on_read,
        lambda storage: d.rewrite_log(storage, d.with_header(HeaderKey.COMPACTED_BLOCK_TIMES, "20260921141321500")), "LF-040",
    ),
    damage("a compacted block of a write that compacts nothing", d.merge_on_read, _says_that_it_compacted, "LF-040"),
    damage("no commit time of a row in a log", d.merge_on_read, _in_log(d.with_value("_hoodie_commit_time", 1, None)),
           "META-003", "BLK-016"),
    damage("a sequence number without a task in a log", d.merge_on_read,
           _in_log(d.with_value("_hoodie_commit_seqno", 1, "202609211413230000_17")), "META-005"),
    damage("positions without a base file", d.merge_on_read,
           lambda storage: d.rewrite_log(storage, _without_header(HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS)),
           "BLK-016", cosmetic=("LF-043",)),
    damage("a rollback of nothing", d.merge_on_read, _roll_nothing_back, "BLK-004", severity=COSMETIC),
    damage("the begin of another format", d.copy_on_write, _begins_otherwise, "BF-002", severity=COSMETIC),
    # Indexes.
    damage("statistics too narrow", d.indexed, lambda s: _row_of_partial_index(s, "column_stats", _narrow, _of_fare), "MDT-010",
           cosmetic=("MDT-014",)),
    damage("statistics of a log too narrow", d.indexed_merge_on_read,
           lambda s: _row_of_partial_index(s, "column_stats", _narrow, lambda p: _of_fare(p) and ".log." in p.file_name),
           "MDT-010", cosmetic=("MDT-014",)),
    damage(
        "statistics too wide", d.indexed,
        lambda s: _row_of_partial_index(
            s, "column_stats", lambda p: replace(p, greatest=Bound("LongWrapper", 10**6), is_tight=True), _of_fare
        ),
        "MDT-014", severity=COSMETIC,
    ),
    damage(
        "nulls not counted as values", d.indexed,
        lambda s: _row_of_partial_index(s, "column_stats", lambda p: replace(p, null_count=p.value_count, is_tight=True), _of_fare),
        "MDT-010", cosmetic=("MDT-014",),
    ),
    Damage("statistics of a column that the file lacks", d.with_statistics,
           d.in_newest(lambda rows: rows.drop_columns(["fare"])),
           frozenset({("MDT-010", WRONG), ("META-004", LOST), ("MDT-014", COSMETIC)})),
    damage("statistics without a value type", d.indexed_of_version_9,
           lambda s: _row_of_partial_index(s, "column_stats", lambda p: replace(p, value_type=None), _of_fare), "MDT-017", "MDT-014",
           severity=COSMETIC),
    damage("partition statistics too narrow", d.indexed,
           lambda s: _row_of_partial_index(s, "partition_stats", _narrow, _of_fare), "MDT-010", cosmetic=("MDT-014",)),
    damage("statistics missing", d.indexed, _without_statistics, "MDT-001", severity=COSMETIC),
    damage("expression statistics too narrow", d.indexed,
           lambda s: _row_of_partial_index(s, "expr_index_by_lower", _narrow, lambda p: isinstance(p, ColumnStats)), "IDX-035",
           cosmetic=("MDT-014",)),
    damage("a filter of other keys in the index", d.indexed, _filter_of_others, "IDX-004", cosmetic=("IDX-006",)),
    damage("a key without a location", d.indexed,
           lambda s: d.change_index(s, "record_index", removed=[_first_key(s, "record_index")]), "IDX-010"),
    damage("a key with another location", d.indexed, _elsewhere, "IDX-010"),
    damage("a location in no file group", d.indexed, _group_that_is_not_there, "IDX-010"),
    damage("a location of no row", d.indexed, _stale_key, "IDX-010", severity=COSMETIC),
    damage("a key in two partitions", d.indexed, _in_two_partitions, "IDX-010"),
    damage("statistics of a file that is not there", d.indexed, _statistics_of_nothing, "MDT-001", severity=COSMETIC),
    damage("statistics of a partition that is not there", d.indexed, _statistics_of_no_partition, "MDT-001", severity=COSMETIC),
    damage("statistics of a log missing", d.indexed_merge_on_read, _without_statistics_of_a_log, "MDT-001", severity=COSMETIC),
    damage("a pair missing", d.indexed_merge_on_read,
           lambda s: d.change_index(s, "secondary_index_by_city", removed=[_first_key(s, "secondary_index_by_city")]), "IDX-024"),
    damage("a pair missing in version 9", d.indexed_of_version_9, lambda s: d.lose_entry(s, "secondary_index_by_city"), "IDX-024"),
    damage("a pair of no row", d.indexed,
           lambda s: d.change_index(s, "secondary_index_by_city", [MetadataRecord("None$k00", SecondaryEntry())]), "IDX-024",
           severity=COSMETIC),
)  # fmt: skip

SOUND = (
    d.copy_on_write, d.merge_on_read, d.compacted, d.without_meta_columns, d.hfiles, d.bucketed, d.indexed,
    d.indexed_merge_on_read, d.indexed_of_version_9, d.with_filters_of_an_expression,
    d.with_statistics, d.with_filters, d.with_statistics_of_orc, d.with_foreign_merger,
    d.compacted_by_foreign_code, d.indexed_by_foreign_code,
)  # fmt: skip


@pytest.mark.parametrize("make", SOUND, ids=lambda make: make.__name__)
def test_sound_tables_have_no_findings(make: Callable[[], Storage]) -> None:
    """No finding of any severity in the tables that are damaged below; each check examined something."""
    found = d.examined(make())
    assert found.findings == ()
    assert found.checked["META-009"] > 0


@pytest.mark.parametrize("case", DAMAGES, ids=str)
def test_a_damage_is_found_with_its_rule(case: Damage) -> None:
    """Each damage is found with its rules and severity; nothing else is found."""
    storage = case.make()
    case.edit(storage)
    findings = d.found_in(storage)
    found = {(one.rule, one.severity) for one in findings}
    assert d.without_statistics(found, case.rules) == case.rules, [(one.rule, one.path, one.found) for one in findings]


#: For each check of single files a damage that only this check finds with that rule.


#: Damages of keys and of their entries.
OF_KEYS = (
    "a key without a location", "a key with another location", "a location in no file group", "a location of no row",
    "a key in two partitions", "a pair missing", "a pair missing in version 9", "a pair of no row", "a row twice in a file",
    "a row in another file group", "rows in another bucket",
)  # fmt: skip


@pytest.mark.parametrize("name", OF_KEYS)
def test_a_damage_is_found_in_parts(name: str) -> None:
    """Each damage has the findings of the whole."""
    (case,) = (one for one in DAMAGES if one.name == name)
    storage = case.make()
    case.edit(storage)
    with d.small_parts(15 if "bucket" in name else 8):
        found = {(one.rule, one.severity) for one in d.found_in(storage)}
    assert d.without_statistics(found, case.rules) == case.rules


NEEDED = {
    "meta_columns_exist": ("no meta columns", "META-001"),
    "rows_have_keys": ("no key of a row", "META-007"),
    "keys_are_those_of_the_fields": ("the key field of a row", "META-007"),
    "rows_are_in_their_partition": ("the partition of a row", "META-009"),
    "paths_are_those_of_the_fields": ("the partition field", "LAY-018"),
    "rows_name_their_file": ("the name of the file", "META-010"),
    "rows_are_of_completed_writes": ("a row of a commit that never was", "META-003"),
    "sequence_numbers_are_unique": ("a sequence number twice", "META-005"),
    "sequence_numbers_have_the_commit_time": ("a commit time of another write", "META-003"),
    "sequence_numbers_are_well_formed": ("a sequence number of no write in a log", "META-005"),
    "footer_has_the_range": ("a range that starts late", "IDX-004"),
    "footer_filter_has_the_keys": ("a filter of other keys", "IDX-004"),
    "writer_is_that_of_the_metadata": ("the instant of a block", "LF-035"),
    "positions_are_those_of_the_rows": ("too few positions", "LF-042"),
    "records_are_in_their_partition": ("the partition of a row in a log", "META-009"),
    "rows_are_of_their_write": ("a row of another write in a log", "META-003"),
    "compacted_blocks_are_known": ("a compacted block of unknown writes", "LF-040"),
}


#: The beginnings of findings of a file that a reader refuses by the rule of the check.
REFUSED_BY_READERS = (
    "the block was written by an action that did not write to this file",
    "the rows of the block are those of another file",
)


@pytest.mark.parametrize("name", NEEDED)
def test_no_check_can_be_dropped(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a check, a damage that it finds is not found with its rule, unless a reader refuses the file with that rule."""
    for module, checks in ((groups, "BASE_FILE_CHECKS"), (log_files, "BLOCK_CHECKS")):
        kept = tuple(one for one in getattr(module, checks) if one.__name__ != name)
        monkeypatch.setattr(module, checks, kept)
    damage_name, rule = NEEDED[name]
    case = next(one for one in DAMAGES if one.name == damage_name)
    storage = case.make()
    case.edit(storage)
    left = [one.found for one in d.found_in(storage) if one.rule == rule]
    assert all(one.startswith(REFUSED_BY_READERS) for one in left)


def _with_texts(block: Block) -> bytes:
    """A block whose writer had another type of the column `fare`."""
    stored = json.loads(block.header[HeaderKey.SCHEMA])
    (fare,) = [field for field in stored["fields"] if field["name"] == "fare"]
    fare["type"] = ["null", "string"]
    text = json.dumps(stored)
    rows = decode_rows(block)
    at = rows.column_names.index("fare")
    changed = rows.set_column(at, "fare", rows.column(at).cast("string"))
    content = encode_rows(changed, parse_schema(text, block.path))
    return encode_block(block.kind, {**block.header, HeaderKey.SCHEMA: text}, content)


@pytest.mark.parametrize(("instant", "is_found"), [(None, True), ("20991231000000000", False)], ids=["completed", "failed"])
def test_columns_of_a_failed_write_are_not_compared(instant: str | None, is_found: bool) -> None:
    """LF-038: a block has another type of a column than the table; if its write did not complete, no query reads it."""
    storage = d.merge_on_read()

    def with_another(block: Block) -> bytes | None:
        header = block.header if instant is None else {**block.header, HeaderKey.INSTANT_TIME: instant}
        stored = encode_block(block.kind, block.header, bytes(block.content))
        return stored + _with_texts(replace(block, header=header))

    d.rewrite_log(storage, with_another)
    assert ("LF-038" in {one.rule for one in d.found_in(storage)}) == is_found
