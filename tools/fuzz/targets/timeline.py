"""The timeline and the layout: metadata of actions, the history, properties, names, schemas."""

import io

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
from tools.fuzz.structure_aware.avro_container import split_container
from tools.fuzz.targets.oracle import Limits, require
from tools.fuzz.targets.seed_files import golden_contents, golden_file_names
from tools.fuzz.targets.target import Target

from hudi_reference.errors import HudiError
from hudi_reference.layout.java_properties import dump, load
from hudi_reference.layout.names import parse_data_file_name, require_base_file_name, require_log_file_name
from hudi_reference.layout.partitions import escape, unescape
from hudi_reference.layout.properties import PROPERTIES_PATH, read_properties
from hudi_reference.schema.avro import arrow_schema, parse_schema, with_meta_columns
from hudi_reference.storage import MemoryStorage
from hudi_reference.timeline.contents.avro_container import read_record
from hudi_reference.timeline.contents.metadata import (
    COMMIT_METADATA_SCHEMA,
    WriteStat,
    groups_of_compaction,
    read_commit_metadata,
    write_commit_metadata,
)
from hudi_reference.timeline.history.history import History
from hudi_reference.timeline.instants.instant import parse_instant_name

PATH = ".hoodie/timeline/20260101000000000_20260101000000001.commit"
#: The block of a container may be compressed by a factor of up to 1,032.
COMPRESSED = Limits(20_000)


def metadata(data: bytes) -> None:
    """The record of an action, decoded as each kind of record that readers use."""
    first: HudiError | None = None
    for read in (_commit, lambda bytes_: groups_of_compaction(read_record(bytes_, PATH), PATH)):
        try:
            read(data)
        except HudiError as error:
            first = first or error
    if first is not None:
        raise first


def _commit(data: bytes) -> None:
    """Property: commit metadata is unchanged after encoding and decoding."""
    found = read_commit_metadata(data, PATH)
    again = read_commit_metadata(write_commit_metadata(found.operation, found.stats, None, bytes(16)), PATH)
    require(again.operation == found.operation, "the operation changes when it is written again")
    require(list(map(_facts, again.stats)) == list(map(_facts, found.stats)), "stats change when they are written again")


def _facts(stat: WriteStat) -> tuple[object, ...]:
    return (stat.partition, stat.path, stat.file_id, stat.writes, stat.inserts, stat.updates, stat.deletes, stat.is_log)


def metadata_seeds() -> list[bytes]:
    """Files of each kind of action in the golden tables, and one with a deflated block."""
    patterns = ("*.commit", "*.deltacommit", "*.replacecommit", "*.clean", "*.rollback", "*.savepoint", "*.requested")
    found = [data for pattern in patterns for data in golden_contents(f"timeline/{pattern}", longest=1 << 14, most=6)]
    return [deflated(), *found]


def deflated() -> bytes:
    """Commit metadata in a deflated block, which no deployed writer produces and every reader accepts."""
    record = {
        "partitionToWriteStats": {},
        "compacted": False,
        "extraMetadata": {"k": "v" * 50},
        "version": 1,
        "operationType": None,
    }
    out = io.BytesIO()
    fastavro.writer(out, COMMIT_METADATA_SCHEMA, [record], codec="deflate", sync_marker=bytes(16))
    return out.getvalue()


def properties(data: bytes) -> None:
    """The properties of a table and all derived settings. Property: encoding returns the same properties."""
    entries = load(data)
    require(load(dump(entries, "x")) == entries, f"entries change when they are written again: {entries!r:.300}")
    storage = MemoryStorage()
    storage.put(PROPERTIES_PATH, data)
    found = read_properties(storage)
    for name in dir(type(found)):
        if isinstance(getattr(type(found), name), property) or name in ("merge_mode", "timeline_folder"):
            getattr(found, name)


def history(data: bytes) -> None:
    """Version file, manifest and level file, each preceded by its length."""
    storage = MemoryStorage()
    version, _, rest = data.partition(b"\n")
    manifest, _, level = rest.partition(b"\n")
    storage.put("h/_version_", version)
    storage.put("h/manifest_1", manifest)
    storage.put("h/manifest_2", manifest)
    storage.put("h/1_2_0.parquet", level)
    History(storage, "h").instants()


def history_seeds() -> list[bytes]:
    """A manifest with a level file of one action, and manifests of golden tables."""
    out = io.BytesIO()
    columns = {"instantTime": ["20260101000000000"], "completionTime": ["20260101000000001"], "action": ["commit"]}
    pq.write_table(pa.table(columns), out, compression="none", store_schema=False)
    manifest = b'{"files":[{"fileName":"1_2_0.parquet","fileLen":1}]}'
    head = b"1\n" + manifest + b"\n"
    others = [b"1\n" + data.replace(b"\n", b" ") + b"\n" for data in golden_contents("manifest_*", most=10)]
    return [head + out.getvalue(), head + b"PAR1", *others]


def file_names(data: bytes) -> None:
    """Names of data files and instants. Property: a parsed name has the text that was parsed."""
    name = data.decode("utf-8", "surrogateescape")
    found = parse_data_file_name(name)
    if found is not None:
        require(parse_data_file_name(str(found)) == found, f"{name!r} is read as {found!r}, whose name is {str(found)!r}")
    instant = parse_instant_name(name)
    if instant is not None:
        require(parse_instant_name(instant.file_name) == instant, f"{name!r} is read as {instant!r}")
    require(unescape(escape(name)) == name or not name or "%" in name, f"{name!r} is escaped and not found again")
    (require_log_file_name if name.startswith(".") else require_base_file_name)(name)


def schema(data: bytes) -> None:
    """The schema of a table and its Arrow columns, with and without meta columns."""
    found = parse_schema(data, PATH)
    try:
        arrow_schema(found)
        arrow_schema(with_meta_columns(found))
    except HudiError as error:
        error.path = error.path or PATH
        raise


def schema_seeds() -> list[bytes]:
    """Schemas of log blocks and of every logical type."""
    from tools.fuzz.targets.log import avro_seeds

    return [*dict.fromkeys(seed.partition(b"\n")[0] for seed in avro_seeds())]


def properties_seeds() -> list[bytes]:
    """Properties of golden tables and of their partitions."""
    return golden_contents("hoodie.properties", ".hoodie_partition_metadata", most=40)


TARGETS = (
    Target("metadata", "an action's file: container, record, commit and compaction plan", metadata, metadata_seeds,
        split_container,
           COMPRESSED),
    Target("properties", "hoodie.properties and partition metadata", properties, properties_seeds),
    Target("history", "version file, manifest, level file", history, history_seeds, limits=COMPRESSED),
    Target("names", "names of data files and instants", file_names, lambda: golden_file_names("*-0_*", "*.*commit*"),
        longest=256),
    Target("schema", "an Avro schema and its Arrow columns", schema, schema_seeds),
)  # fmt: skip
