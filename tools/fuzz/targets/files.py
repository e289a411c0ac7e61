"""Files of the table: HFiles, base files and their footers."""

import io
from contextlib import suppress

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc
from tools.fuzz.structure_aware.hfile import split_hfile as hfile_leaves
from tools.fuzz.structure_aware.parts import base64_text, line_and_rest
from tools.fuzz.targets.oracle import Limits, require
from tools.fuzz.targets.seed_files import ROOT, golden_contents
from tools.fuzz.targets.target import Target

from hudi_reference.errors import HudiError, InvalidRows
from hudi_reference.files.base_file import encode_base_file, read_base_file, read_footer
from hudi_reference.files.bloom.bloom import FilterType, decode_filter, make_filter
from hudi_reference.files.hfile.block import Compression
from hudi_reference.files.hfile.cell import Entry
from hudi_reference.files.hfile.checksum import ChecksumType
from hudi_reference.files.hfile.reader import HFile, hfile_of
from hudi_reference.files.hfile.writer import Layout, encode_hfile
from hudi_reference.files.inspection.base_file import inspect_base
from hudi_reference.files.inspection.file_type import identify
from hudi_reference.metadata.codec import decode_entries, encode_record
from hudi_reference.metadata.schema import SCHEMA as METADATA_SCHEMA
from hudi_reference.schema.avro import META_COLUMNS
from hudi_reference.storage import MemoryStorage


def hfile(data: bytes) -> None:
    """Scan, lookups, meta blocks. Properties: each key is found alone and by prefix; encoding returns the same entries."""
    file = hfile_of(data, "x.hfile")
    entries = list(file)
    for name in file.metas:
        file.meta(name)
    end = 0
    for block in file.blocks():
        require(block.offset == end, f"a block at {block.offset} behind one that ends at {end}")
        end = block.offset + block.size
    for entry in entries[:: max(1, len(entries) // 4)]:
        look_up(file, entry)
    for key in ("", "a", "\uffff"):
        list(file.get(key))
    if len({entry.row for entry in entries}) == len(entries) <= 1000:
        require(list(hfile_of(encode_hfile(entries), "y.hfile")) == entries, "entries change when they are encoded again")


def look_up(file: HFile, entry: Entry) -> None:
    """Property: each entry of the scan is found by its key."""
    try:
        key = entry.row.decode()
    except UnicodeDecodeError:
        return
    found = list(file.get(key))
    require(entry in found, f"key {key!r} is in the file and is not found")
    require(entry in list(file.prefix(key)), f"key {key!r} is not found by itself as prefix")


def hfile_seeds() -> list[bytes]:
    """Files that Apache Hudi wrote, and small files of each layout."""
    written = [path.read_bytes() for path in sorted((ROOT / "reference/tests/data/hfile").glob("*.hfile"))]
    entries = [Entry(f"k{i:03}".encode(), bytes([i]) * 3) for i in range(12)]
    layouts = [Layout(compression, 80, checksum) for compression in Compression for checksum in ChecksumType]
    made = [encode_hfile(entries, {"k": b"v"}, {"m": b"meta"}, layout) for layout in layouts]
    small = [data for data in [*written, *golden_contents("*.hfile", longest=1 << 16)] if len(data) <= 1 << 16]
    return [*made, *small]


def hfile_base_seeds() -> list[bytes]:
    """Base files of a table, and of a metadata table."""
    return [encode_base_file(_rows(), _SCHEMA, "hfile"), *hfile_seeds()]


def parquet(data: bytes) -> None:
    """A Parquet base file."""
    base_file("x/f-0_0-0-0_20260101000000000.parquet", data)


def orc_file(data: bytes) -> None:
    """An ORC base file."""
    base_file("x/f-0_0-0-0_20260101000000000.orc", data)


def hfile_base(data: bytes) -> None:
    """An HFile as base file."""
    base_file("x/f-0_0-0-0_20260101000000000.hfile", data)


def base_file(path: str, data: bytes) -> None:
    """Footer with its bloom filter, rows, rows of one column, inspection; all of them run even if one fails."""
    storage = MemoryStorage()
    storage.put(path, data)
    asked = (
        lambda: read_footer(storage, path).bloom_filter(),
        lambda: read_base_file(storage, path),
        lambda: read_base_file(storage, path, ["_hoodie_record_key"]),
        lambda: _inspected(storage, path),
    )
    first: HudiError | None = None
    for ask in asked:
        try:
            ask()
        except HudiError as error:
            first = first or error
    if first is not None:
        raise first


def _inspected(storage: MemoryStorage, path: str) -> None:
    file = identify(storage, path)
    if file.format in ("parquet", "orc"):
        inspect_base(file)


def _rows() -> pa.Table:
    """Two rows of a small table."""
    meta = {name: ["a", "b"] for name in META_COLUMNS}
    return pa.table({**meta, "n": pa.array([1, None], pa.int64())})


_SCHEMA: dict[str, object] = {
    "type": "record", "name": "r",
    "fields": [{"name": name, "type": ["null", "string"]} for name in META_COLUMNS] + [{"name": "n", "type": ["null", "long"]}],
}  # fmt: skip


def parquet_seeds() -> list[bytes]:
    """Base files of golden tables, and one without compression, so that mutations change the content of pages."""
    out = io.BytesIO()
    pq.write_table(_rows(), out, compression="none", store_schema=False)
    return [
        out.getvalue(),
        encode_base_file(_rows(), _SCHEMA),
        *golden_contents("*.parquet", longest=1 << 14, most=20),
    ]


def orc_seeds() -> list[bytes]:
    """Base files that the reference wrote, with and without compression."""
    out = io.BytesIO()
    orc.write_table(_rows(), out, compression="uncompressed")
    return [out.getvalue(), encode_base_file(_rows(), _SCHEMA, "orc"), *golden_contents("*.orc", longest=1 << 14, most=20)]


def bloom(data: bytes) -> None:
    """A filter from its kind and its text. Properties: encoding returns the same filter, and each key has an answer."""
    kind, _, text = data.partition(b"\n")
    found = decode_filter(kind.decode("latin-1"), text, "x.parquet")
    require(decode_filter(found.kind, found.encode(), "x.parquet") == found, "the filter changes when it is encoded again")
    require(len(found.may_hold(["a", "key", "\u65e5"])) == 3, "not one answer for each key")


def bloom_seeds() -> list[bytes]:
    """Filters of each kind, empty, small, and of several rows."""
    made = [
        make_filter(keys, kind, entries=4, rate=0.1, max_entries=12)
        for kind in FilterType for keys in ([], ["a"], ["a", "b", "c"], [f"k{i}" for i in range(14)])
    ]  # fmt: skip
    return [*(f"{found.kind}\n{found.encode()}".encode() for found in made)]


def metadata_records(data: bytes) -> None:
    """A record of the metadata table: its key in the first line, then the value. Property: encoding returns the same record."""
    key, _, value = data.partition(b"\n")
    (found,) = decode_entries([Entry(key, value)], METADATA_SCHEMA, "x.hfile")
    try:
        again = encode_record(found)
    except InvalidRows:
        return  # values that writers do not produce
    require(
        repr(list(decode_entries([again], METADATA_SCHEMA, "x.hfile"))) == repr([found]), "it changes when it is encoded again"
    )


def metadata_record_seeds() -> list[bytes]:
    """Records of metadata tables that Apache Hudi wrote, and entries of other HFiles; damaged files are skipped."""
    found: dict[bytes, None] = {}
    for data in hfile_seeds():
        with suppress(HudiError):
            for entry in hfile_of(data, "seed"):
                found[entry.row + b"\n" + entry.value] = None
    return [*found]


TARGETS = (
    Target("hfile", "an HFile: scan, look-ups, meta blocks, walk", hfile, hfile_seeds, hfile_leaves, Limits(20_000)),
    Target("hfile-base", "an HFile as base file: rows and footer", hfile_base, hfile_base_seeds, hfile_leaves, Limits(20_000)),
    Target("parquet", "a Parquet base file: rows, footer, bloom filter", parquet, parquet_seeds, limits=Limits(20_000)),
    Target("orc", "an ORC base file", orc_file, orc_seeds, limits=Limits(20_000)),
    Target("bloom", "a bloom filter", bloom, bloom_seeds, line_and_rest(base64_text)),
    Target("metadata-record", "a record of the metadata table", metadata_records, metadata_record_seeds, line_and_rest()),
)
