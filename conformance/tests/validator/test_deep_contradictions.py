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
from count_damages_samples import COUNT_DAMAGES
from entry_damages_samples import ENTRY_DAMAGES, _entry
from log_compaction_damages_samples import log_compacted
from log_damages_samples import LOG_DAMAGES, appended

from hudi_conformance.validator.all_checks import DEEP
from hudi_conformance.validator.checks.finding import Finding
from hudi_conformance.validator.validation import validate
from hudi_reference import create_table, restore, savepoint
from hudi_reference.clock import ManualClock
from hudi_reference.files.log.block import Block, HeaderKey, encode_block
from hudi_reference.files.log.content import decode_rows, encode_rows, plain_records
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.ids import RandomIds
from hudi_reference.schema.avro import parse_schema
from hudi_reference.storage import MemoryStorage, Storage
from hudi_reference.timeline.instants.times import milliseconds_of

Edit = Callable[[Storage], object]
WRONG, COSMETIC = "wrong-answers", "cosmetic"
MODE = "hoodie.table.cdc.supplemental.logging.mode"


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


def _as(key: str) -> Callable[[pa.Table], pa.Table]:
    return lambda rows: _with("_hoodie_record_key", key)(_with("id", key)(rows))


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


def _another_before(records: list[Any]) -> None:
    records[0]["before"] = {**records[0]["before"], "fare": 999}


def _clustered_value(storage: Storage) -> None:
    d.in_newest(d.with_value("fare", 3, 999))(storage)


def _newest_rows(storage: Storage) -> pa.Table:
    return pq.read_table(pa.BufferReader(storage.get(d.base_files(storage)[-1])))


def _replace_in_footer(storage: Storage, old: bytes, new: bytes) -> None:
    """Replace bytes in the footer of the newest base file by as many others."""
    path = d.base_files(storage)[-1]
    data = storage.get(path)
    begin = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    assert old in data[begin:] and len(old) == len(new)
    storage.put(path, data[:begin] + data[begin:].replace(old, new))


def _narrow_footer(storage: Storage) -> None:
    """The greatest fare in the footer is replaced by the least one; no other byte changes."""
    fares = pc.min_max(_newest_rows(storage).column("fare"))
    least, greatest = (fares[side].as_py().to_bytes(8, "little") for side in ("min", "max"))
    _replace_in_footer(storage, greatest, least)


def _garbled_bound(storage: Storage) -> None:
    """The greatest city in the statistics of the footer becomes bytes that are no text."""
    greatest = str(pc.max(_newest_rows(storage).column("city"))).encode()
    _replace_in_footer(storage, greatest, b"\xff" * len(greatest))


def _garbled_path(storage: Storage) -> None:
    """The path of a column in the row group becomes bytes that are no text; the schemas in the footer still have its name."""
    path = d.base_files(storage)[-1]
    schema, columns, entries = storage.get(path).split(b"fare", 2)
    storage.put(path, b"".join((schema, b"fare", columns, b"f\xffre", entries)))


def _other_type_of_chunk(storage: Storage) -> None:
    """A column chunk of texts declares that it has numbers of 64 bits; the schema still has texts."""
    path = d.base_files(storage)[-1]
    # The type, a number of 32 bits, comes before the list of encodings.
    storage.put(path, storage.get(path).replace(b"\x15\x0c\x19", b"\x15\x04\x19", 1))


def damage(storage: Storage, edit: Edit) -> None:
    """Damage a table; its writes have the sizes of their damaged log files."""
    sizes = {info.path: info.size for info in storage.list("")}
    edit(storage)
    for path in t.paths(storage, ".log."):
        if not path.startswith(".hoodie/") and len(storage.get(path)) != sizes.get(path):
            c.resize(storage, path)


DAMAGES: dict[str, tuple[Callable[[], Storage], Edit, set[tuple[str, str]]]] = {
    "a log compaction that lost a row": (
        log_compacted, _in_compacted(lambda block: _rows(lambda rows: rows.slice(1), block)), {("LCP-005", WRONG), ("TL-007", "data-lost")},
    ),
    "a log compaction with another value": (
        log_compacted, _in_compacted(lambda block: _rows(_with("fare", 99), block)), {("LCP-005", WRONG)},
    ),
    "a log compaction that added a row": (
        log_compacted,
        _in_compacted(lambda block: _rows(lambda rows: pa.concat_tables([rows, _as("k90")(rows.slice(0, 1))]), block)),
        {("LCP-005", WRONG)},  # services do not count all rows
    ),
    "a log compaction without its inputs": (log_compacted, _in_compacted(_with_times(None)), {("META-003", WRONG)}),
    "a log compaction of a write that never was": (log_compacted, _in_compacted(_with_times("20200101000000000")), {("LF-040", WRONG)}),
    "a clustering with another value": (d.clustered, _clustered_value, {("TL-011", WRONG)}),
    "an unknown operation of a change": (
        capturing, _in_changes(lambda records: records[0].update(op="z")), {("BLK-033", WRONG)},
    ),
    "an update without the image before it": (
        capturing, _in_changes(lambda records: records[0].update(before=None)), {("TYP-013", WRONG)},
    ),
    "an update without the image after it": (
        capturing, _in_changes(lambda records: records[0].update(after=None)), {("TYP-013", WRONG)},
    ),
    "an added change": (
        capturing,
        _in_changes(lambda records: records.append({**records[0], "after": {**records[0]["after"], "id": "k9"}})),
        {("TYP-012", WRONG)},
    ),
    "an added change of a key": (
        by_keys, _in_changes(lambda records: records.append({**records[0], "record_key": "k9"})), {("TYP-012", WRONG)},
    ),
    "a lost change": (capturing, _in_changes(lambda records: records.pop()), {("TYP-012", WRONG)}),
    "a change to another row": (capturing, _in_changes(_another_image), {("TYP-012", WRONG)}),
    "another image before a change": (capturing, _in_changes(_another_before), {("TYP-012", WRONG)}),
    "another time of a change": (
        capturing, _in_changes(lambda records: records[0].update(ts_ms="20260101000000000")), {("TYP-012", COSMETIC)},
    ),
    "a lost change of a key": (by_keys, _in_changes(lambda records: records.pop()), {("TYP-012", WRONG)}),
    "a change of another key": (
        by_keys, _in_changes(lambda records: records[0].update(record_key="k9")), {("TYP-012", WRONG)},
    ),
    "a footer that excludes a value": (d.copy_on_write, _narrow_footer, {("TYP-014", WRONG)}),
    "a bound in a footer that is no text": (d.copy_on_write, _garbled_bound, {("TYP-014", WRONG)}),
    "a path in a footer that is no text": (d.copy_on_write, _garbled_path, {("BF-002", WRONG)}),
    "a chunk of another type than its column": (d.copy_on_write, _other_type_of_chunk, {("BF-002", WRONG)}),
    "a sequence number of another form": (
        d.copy_on_write, d.in_newest(d.with_value("_hoodie_commit_seqno", 3, "abc")), {("META-005", WRONG)},
    ),
    "a sequence number of another form in a log": (
        d.merge_on_read, lambda s: d.rewrite_log(s, d.with_rows(d.with_value("_hoodie_commit_seqno", 0, "abc"))),
        {("META-005", WRONG)},
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
    **ENTRY_DAMAGES,
    **COUNT_DAMAGES,
    **LOG_DAMAGES,
}  # fmt: skip


def _log_compacted_by_foreign_code() -> Storage:
    """A log compaction made another value of several versions than the modes of Apache Hudi."""
    storage = d.with_foreign_merger(log_compacted)
    damage(storage, _in_compacted(lambda block: _rows(_with("fare", 99), block)))
    return storage


SOUND = (
    log_compacted, d.clustered, capturing, by_keys, appended, _log_compacted_by_foreign_code,
    lambda: d.with_foreign_merger(d.clustered),
)  # fmt: skip


@pytest.mark.parametrize("make", SOUND, ids=lambda make: make.__name__)
def test_sound_tables_have_no_findings(make: Callable[[], Storage]) -> None:
    """Tables with a log compaction, a clustering and captured changes have no finding."""
    assert found_in(make()) == set()


def test_empty_texts_in_unfilled_meta_columns_are_nulls() -> None:
    """META-012: a footer counts no nulls in meta columns of empty texts, which a table that does not fill them may have."""
    storage = d.without_meta_columns()

    def empty(table: pa.Table) -> pa.Table:
        for number, name in enumerate(table.column_names):
            if name.startswith("_hoodie_"):
                table = table.set_column(number, name, pa.array([""] * table.num_rows))
        return table

    d.in_newest(empty)(storage)
    assert found_in(storage) == set()


def test_a_restore_may_leave_times_of_removed_writes() -> None:
    """IDX-020: entries of rows that a restore kept may have the time of a write that it removed."""
    storage = d.indexed()
    table = d._reopened(d._Made(storage), d.INDEXED)
    savepoint(table, table.timeline.completed[-1].requested)
    table.upsert(d.rows(0, ts=9, fare=1))
    removed = table.timeline.completed[-1].requested
    restore(d._reopened(d._Made(storage), d.INDEXED), table.timeline.completed[-2].requested)
    _entry("record_index", lambda one: replace(one, milliseconds=milliseconds_of(removed)))(storage)
    assert found_in(storage) == set()


@pytest.mark.parametrize("name", DAMAGES)
def test_a_contradiction_is_found_with_its_rule(name: str) -> None:
    """Each damage is found with its rules and severities alone."""
    make, edit, expected = DAMAGES[name]
    storage = make()
    damage(storage, edit)
    assert d.without_statistics(found_in(storage), expected) == expected
