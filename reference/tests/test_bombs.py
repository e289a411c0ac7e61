"""Small inputs that declare or expand to very much: each is refused by its limit, in a process with little memory."""

import base64
import io
import os
import struct
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bombs import chained, commit_schema, container, doubling, error_of, long, nested, stats, wide
from hfile_samples import WORKED
from history_samples import FOLDER, manifest, put_history
from log_block_samples import ROLLBACK, avro_block, block_with
from pyarrow import orc

from hudi_reference.errors import HudiError
from hudi_reference.files.base.orc import read_orc
from hudi_reference.files.base.parquet import read_parquet
from hudi_reference.files.base.written_file import WrittenFile
from hudi_reference.files.hfile.cell import Entry
from hudi_reference.files.hfile.reader import hfile_of
from hudi_reference.files.hfile.writer import encode_hfile
from hudi_reference.files.log.block import BlockType
from hudi_reference.files.log.content import decode_rows
from hudi_reference.files.log.reader import read_blocks, read_log_file
from hudi_reference.layout.java_properties import load
from hudi_reference.layout.properties import PROPERTIES_PATH, read_properties
from hudi_reference.limits import LIMITS, Limit, LimitExceeded
from hudi_reference.schema.avro import parse_schema
from hudi_reference.storage import MemoryStorage
from hudi_reference.storage.local import LocalStorage
from hudi_reference.timeline.contents.avro_container import read_record
from hudi_reference.timeline.contents.metadata import read_commit_metadata
from hudi_reference.timeline.history.history import History
from hudi_reference.timeline.history.manifest import read_manifest

MIB = 1 << 20
NULLS = {"type": "record", "name": "nulls", "fields": [{"name": f"n{n}", "type": "null"} for n in range(1000)]}


def decompressed_action() -> object:
    """An action's file of some 500 kB, whose deflate block has 500 MB."""
    return read_record(container(commit_schema(), bytes(500 * MIB), "deflate"), "a.commit")


def compressed_action() -> object:
    """An action's file whose deflate block has twenty megabytes of zeros in twenty kilobytes."""
    return read_record(container(commit_schema(), bytes(20 * MIB), "deflate"), "a.commit")


def values_of_an_action() -> object:
    """An action's file in which a byte is a record of a thousand nulls."""
    item = {"type": "record", "name": "item", "fields": [{"name": "b", "type": "boolean"}, {"name": "n", "type": NULLS}]}
    fields = [{"name": "a", "type": {"type": "array", "items": item}}]
    return read_record(container({"type": "record", "name": "r", "fields": fields}, long(100_000) + bytes(100_001)), "a.commit")


def rows_of_a_history() -> MemoryStorage:
    """A history whose level file of some kilobytes has six million equal rows."""
    one = pa.table({"instantTime": ["1"], "completionTime": ["2"], "action": ["commit"]})
    rows, out = one.take(pa.array([0] * 10**6)), io.BytesIO()
    with pq.ParquetWriter(out, rows.schema) as writer:
        for _ in range(6):
            writer.write_table(rows)
    storage = MemoryStorage()
    put_history(storage, {"1_1_0.parquet": out.getvalue()})
    return storage


def files_of_a_history() -> object:
    """A manifest with many files."""
    storage = MemoryStorage()
    storage.put(f"{FOLDER}/manifest_1", manifest({f"{n}_{n}_0.parquet": 1 for n in range(100_001)}))
    return read_manifest(storage, FOLDER, 1)


def block_of_an_hfile() -> object:
    """An HFile whose data block has twenty megabytes of zeros."""
    return list(hfile_of(encode_hfile([Entry(b"a", bytes(20 * MIB))]), "a.hfile"))


def parquet_of_nulls() -> bytes:
    """A Parquet file of two megabytes with a billion values."""
    nulls, out = pa.nulls(10**6, pa.bool_()), io.BytesIO()
    rows = pa.table({f"c{n}": nulls for n in range(10)})
    with pq.ParquetWriter(out, rows.schema) as writer:
        for _ in range(100):
            writer.write_table(rows)
    return out.getvalue()


def blocks_of_a_log() -> object:
    """A log file of many commands."""
    return sum(1 for _ in read_blocks(memoryview(ROLLBACK * 100_001), "a.log"))


BOMBS: dict[str, Callable[[], object]] = {
    "SCHEMA_NODES": lambda: parse_schema(doubling(40), "a.log"),
    "COLUMNS": lambda: parse_schema(wide(10**6), "a.log"),
    "NESTING": lambda: parse_schema(nested(150), "a.log"),
    "NESTING by names": lambda: parse_schema(chained(150), "a.log"),
    "PART_BYTES": decompressed_action,
    "RATIO": compressed_action,
    "RATIO of a block": block_of_an_hfile,
    "ACTION_VALUES": values_of_an_action,
    "STATS": lambda: read_commit_metadata(container(commit_schema(), stats(1_000_001)), "a.commit"),
    "LEVEL_FILES": files_of_a_history,
    "BLOCKS": blocks_of_a_log,
    "PROPERTY_LINE": lambda: load(b"a=" + b"x" * 17 * MIB),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bomb_is_refused_by_its_limit(name: str) -> None:
    """BF-002, LF-009, LF-038, TL-002: the error names the file, what was found, the limit and its variable."""
    limit = next(one for one in LIMITS if one.name == name.partition(" ")[0])
    text = error_of(BOMBS[name])
    assert text.startswith("LimitExceeded: "), text or "no error"
    assert limit.variable in text
    assert f"at most {limit.default}" in text


def test_block_of_bloom_filters_with_few_keys_is_no_bomb() -> None:
    """BF-002: the metadata table of Apache Hudi 1.0.2 has filters for 60,000 keys. With few keys in each, a block of 1 MiB has a
    five hundredth of its size.
    """
    empty = base64.b64encode(bytes(60_000 * 5))
    entries = [Entry(b"%d" % number, empty) for number in range(3)]
    stored = encode_hfile(entries)
    assert len(stored) < sum(len(entry.value) for entry in entries) / 200
    assert list(hfile_of(stored, "a.hfile")) == entries


def test_rows_of_a_history_are_counted_before_they_are_decoded() -> None:
    """LSM-003, TL-055: six million archived actions in some kilobytes."""
    storage = rows_of_a_history()
    assert "HUDI_REFERENCE_LIMIT_INSTANTS" in error_of(lambda: History(storage, FOLDER).instants())


def test_values_of_a_parquet_file_are_counted_before_they_are_decoded() -> None:
    """BF-002: a billion nulls in two megabytes."""
    storage = MemoryStorage()
    storage.put("a.parquet", parquet_of_nulls())
    assert len(storage.get("a.parquet")) < 2 * MIB
    text = error_of(lambda: read_parquet(storage, "a.parquet", None, threads=False, known=WrittenFile()))
    assert "HUDI_REFERENCE_LIMIT_FILE_VALUES" in text


def repeated_text() -> bytes:
    """A Parquet file of some kilobytes in which one text of a megabyte is in each of 3,000 rows."""
    out, places = io.BytesIO(), pa.array([0] * 3000, pa.int32())
    rows = pa.table({"k": pa.DictionaryArray.from_arrays(places, pa.array(["x" * MIB]))})
    pq.write_table(rows, out, store_schema=False, dictionary_pagesize_limit=4 * MIB)
    return out.getvalue()


def test_memory_that_is_used_up_is_no_damage() -> None:
    """BF-002, BLK-028: an undamaged file may need more memory than there is. The error gives no advice to restore the file, or to
    roll back its write.
    """
    storage, known = MemoryStorage(), WrittenFile()
    storage.put("a.parquet", repeated_text())
    block = block_with(BlockType.PARQUET_DATA, repeated_text())
    for read in (
        lambda: read_parquet(storage, "a.parquet", None, threads=False, known=known),
        lambda: decode_rows(block),
    ):
        text = error_of(read)
        assert text.startswith("StorageUnavailable: "), text or "no error"
        assert "ENOMEM" in text
        assert "ulimit -v" in text


def test_object_of_many_bytes_without_content_is_refused(tmp_path: Path) -> None:
    """S3-004: a sparse file of terabytes, as properties and as one block of a log file."""
    storage = LocalStorage(tmp_path)
    storage.put(PROPERTIES_PATH, b"")
    os.truncate(tmp_path / PROPERTIES_PATH, 1 << 41)
    assert "OBJECT_BYTES" in error_of(lambda: read_properties(storage))
    length = 1 << 41
    block = avro_block(b"")
    head, tail = block[:6] + struct.pack(">q", length - 14) + block[14:-20], struct.pack(">iq", 0, length - 8)
    content = length - len(head) - 8 - len(tail)
    with (tmp_path / "a.log").open("wb") as file:
        file.write(head + struct.pack(">q", content))
        file.truncate(length)
        file.seek(length - len(tail))
        file.write(tail)
    (found,) = read_log_file(storage, "a.log")
    assert found.kind is BlockType.AVRO_DATA
    assert "OBJECT_BYTES" in error_of(lambda: decode_rows(found))


DECLARED: dict[str, Callable[[], object]] = {
    "block of a container": lambda: read_record(container(commit_schema(), b"")[:-17] + long(1 << 40) + bytes(16), "a"),
    "files of a commit": lambda: read_record(container(commit_schema(), stats(1 << 40, b"")), "a"),
    "text": lambda: read_record(
        container({"type": "record", "name": "r", "fields": [{"name": "a", "type": "string"}]}, long(1 << 60)), "a"
    ),
    "records of a block": lambda: decode_rows(block_with(BlockType.AVRO_DATA, struct.pack(">ii", 3, 1 << 30))),
    "block of an HFile": lambda: list(hfile_of(WORKED[:12] + b"\x7f\xff\xff\xff" + WORKED[16:], "a")),
    "levels of JSON": lambda: parse_schema(nested(100_000), "a"),
}


@pytest.mark.parametrize("name", DECLARED)
def test_declared_length_takes_no_memory(name: str) -> None:
    """TL-002, BLK-020, BF-002: a few bytes that declare very many are malformed."""
    assert "Malformed" in error_of(DECLARED[name])


def test_limits_of_columns_hold_for_every_format(monkeypatch: pytest.MonkeyPatch) -> None:
    """BF-002, BLK-028: columns and values of Parquet, of ORC, and of Parquet in a log block."""
    rows, storage = pa.table({f"c{n}": [1, 2, 3] for n in range(5)}), MemoryStorage()
    parquet, other = io.BytesIO(), io.BytesIO()
    pq.write_table(rows, parquet)
    orc.write_table(rows, other)
    storage.put("a.parquet", parquet.getvalue())
    storage.put("a.orc", other.getvalue())
    reads: list[Callable[[list[str] | None], pa.Table]] = [
        lambda columns: read_parquet(storage, "a.parquet", columns, threads=False, known=WrittenFile()),
        lambda columns: read_orc(storage, "a.orc", columns, threads=False, known=WrittenFile()),
        lambda columns: decode_rows(block_with(BlockType.PARQUET_DATA, parquet.getvalue()), columns),
    ]
    for name, most, fits in (("COLUMNS", 4, None), ("FILE_VALUES", 14, ["c0", "c1"])):
        monkeypatch.setenv(f"HUDI_REFERENCE_LIMIT_{name}", str(most))
        for read in reads:
            with pytest.raises(LimitExceeded, match=name):
                read(None)
            assert fits is None or read(fits).num_rows == 3
        monkeypatch.setenv(f"HUDI_REFERENCE_LIMIT_{name}", str(most + 1))
        assert [read(None).num_rows for read in reads] == [3, 3, 3]


def test_limit_is_exact_and_settable(monkeypatch: pytest.MonkeyPatch) -> None:
    """LF-038: as many as the limit are accepted; the variable replaces it, and a value that is no number is ignored."""
    limit = Limit("TEST", "things", 3)
    limit.check(3)
    with pytest.raises(LimitExceeded) as caught:
        limit.check(4, "a.log", 7)
    assert (caught.value.path, caught.value.offset, caught.value.found) == ("a.log", 7, "4")
    monkeypatch.setenv(limit.variable, "4")
    limit.check(4)
    monkeypatch.setenv(limit.variable, "many")
    with pytest.raises(HudiError):
        limit.check(4)


def test_elements_of_lists_in_orc_are_counted_before_they_are_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """BF-002: one row with a list of many equal numbers, in a kilobyte. If its memory is used up, the ORC library ends the
    process.
    """
    monkeypatch.setenv("HUDI_REFERENCE_LIMIT_FILE_VALUES", "1000000")
    some, out, storage = 10**6, io.BytesIO(), MemoryStorage()
    one = pa.ListArray.from_arrays(pa.array([0, some], pa.int32()), pa.nulls(some, pa.int64()).fill_null(1))
    orc.write_table(pa.table({"a": one}), out, compression="zstd")
    storage.put("a.orc", out.getvalue())
    assert len(out.getvalue()) < 2000
    text = error_of(lambda: read_orc(storage, "a.orc", None, threads=False, known=WrittenFile()))
    assert "HUDI_REFERENCE_LIMIT_FILE_VALUES" in text


@pytest.mark.parametrize("compression", ["uncompressed", "zlib", "snappy", "zstd", "lz4"])
def test_lists_in_orc_are_read_with_every_compression(compression: str) -> None:
    """BF-002: the values of a file are counted by its statistics only if they can be decompressed here."""
    rows, out, storage = (
        pa.table({"a": pa.array([[1, 2], [3]]), "b": pa.array([[("k", "v")], []], pa.map_(*2 * [pa.string()]))}),
        io.BytesIO(),
        MemoryStorage(),
    )
    orc.write_table(rows, out, compression=compression)
    storage.put("a.orc", out.getvalue())
    assert read_orc(storage, "a.orc", None, threads=False, known=WrittenFile()).to_pylist() == rows.to_pylist()
