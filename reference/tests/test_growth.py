"""Work in proportion to the size of the input: twice the input takes about twice the steps, which are counted, not timed."""

import sys
from collections.abc import Callable
from types import FrameType, SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pytest
from bombs import chained, doubling, wide
from history_samples import FOLDER
from log_block_samples import KN_JSON, TWO_ROWS, read_blocks
from reference_samples import SCHEMA, new_table, trip, trips

from hudi_reference import restore
from hudi_reference.files.hfile.cell import Entry
from hudi_reference.files.hfile.reader import hfile_of
from hudi_reference.files.hfile.writer import encode_hfile
from hudi_reference.files.log.block import Block, BlockType, HeaderKey, encode_block
from hudi_reference.files.log.content import Delete, decode_deletes, encode_deletes
from hudi_reference.layout.java_properties import load
from hudi_reference.layout.properties import TableProperties
from hudi_reference.metadata.record_merge import MergedRecords
from hudi_reference.metadata.records import FileInfo, FileList, MetadataRecord
from hudi_reference.query.file_groups import CommittedFiles
from hudi_reference.query.file_system_view import load_file_groups
from hudi_reference.query.log_scanner import LogScanner, apply_log_compactions
from hudi_reference.schema.avro import parse_schema
from hudi_reference.storage import MemoryStorage
from hudi_reference.timeline.active import Timeline, build_timeline, load_timeline
from hudi_reference.timeline.contents.metadata import WriteStat, read_commit_metadata, write_commit_metadata
from hudi_reference.timeline.history.history import History, Level
from hudi_reference.timeline.history.manifest import LevelFile, Manifest

#: How much the steps may grow when the input doubles: lists are sorted, and the start takes some steps.
MOST = 2.4


def steps(action: Callable[[], object]) -> int:
    """The number of instructions of Python that `action` executes. What a library does in one call is not seen."""
    count = 0

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(None)
    return count


def time_of(number: int) -> str:
    """The requested time with this number."""
    return f"20260101{number:09}"


def block(kind: BlockType, number: int, **header: str) -> bytes:
    """A block of the action with this number."""
    more = {HeaderKey[name]: value for name, value in header.items()}
    return encode_block(kind, {HeaderKey.INSTANT_TIME: time_of(number), HeaderKey.SCHEMA: KN_JSON, **more}, TWO_ROWS)


def scanner_of(data: bytes, actions: int) -> Callable[[], object]:
    """Finds the blocks of a log file that so many completed actions wrote."""
    storage, path = MemoryStorage(), ".f_20260101000000000.log.1_0-0-0"
    storage.put(path, data)
    names = [f"{time_of(n)}_{time_of(n + 1)}.deltacommit" for n in range(actions)]
    scanner = LogScanner(storage, Timeline(build_timeline(names)), CommittedFiles({}, {}))
    found = SimpleNamespace(log_files=[path], path=lambda name: name)
    return lambda: scanner.blocks(cast("Any", found))


def rolled_back(size: int) -> Callable[[], object]:
    """Each action is followed by a command that rolls back none of them."""
    undo = {"COMMAND_BLOCK_TYPE": "0"}
    parts = (
        block(BlockType.AVRO_DATA, n) + block(BlockType.COMMAND, n, TARGET_INSTANT_TIME=time_of(n + size), **undo)
        for n in range(size)
    )
    return scanner_of(b"".join(parts), size)


def compacted(size: int) -> Callable[[], object]:
    """Each block compacts the one before it."""
    header = [{HeaderKey.INSTANT_TIME: time_of(n), HeaderKey.COMPACTED_BLOCK_TIMES: time_of(n - 1)} for n in range(size)]
    queue = [Block(BlockType.AVRO_DATA, {int(key): text for key, text in one.items()}, b"") for one in header]
    return lambda: apply_log_compactions(queue)


def commit_of(*stats: WriteStat) -> bytes:
    """Commit metadata of these files."""
    return write_commit_metadata("UPSERT", stats, SCHEMA, bytes(16))


def groups(size: int, name: Callable[[int], str]) -> Callable[[], object]:
    """The file groups of a table with one write for each file."""
    storage, properties = MemoryStorage(), TableProperties({"hoodie.table.version": "8", "hoodie.table.name": "t"})
    for number in range(size):
        stat = WriteStat(f"f{number}" if "f1_" in name(1) else "f", "", name(number), is_log=".log." in name(number))
        storage.put(f"{properties.timeline_folder}/{time_of(number)}_{time_of(number + 1)}.deltacommit", commit_of(stat))
        storage.put(name(number), b"")
    timeline = load_timeline(storage, properties)
    return lambda: load_file_groups(storage, properties, timeline)


def metadata_records(size: int) -> Callable[[], object]:
    """A listing that each version extends by one file."""
    versions = [MetadataRecord("p", FileList({f"f{number}": FileInfo(1)})) for number in range(size)]

    def merge() -> object:
        found = MergedRecords()
        for one in versions:
            found.add(one)
        return found.merged()

    return merge


def history(size: int) -> Callable[[], object]:
    """The completion time of an action in a history whose files may all have it."""
    files = tuple(LevelFile(f"{n}", 1, "0", "9", 0) for n in range(size))
    found = History(MemoryStorage(), FOLDER, {file: Level(()) for file in files})
    vars(found).update(_manifest=Manifest(1, files))
    return lambda: found.completion_of("5", everywhere=True)


def commit_metadata(size: int) -> Callable[[], object]:
    """Commit metadata that names one file again and again; more than what is cached."""
    data = commit_of(*[WriteStat("f", "p", "p/f_0-0-0_1.parquet")] * size)
    return lambda: read_commit_metadata(data, "a.commit")


def lookups(size: int) -> Callable[[], object]:
    """Each key of an HFile is looked up by itself, and by its prefix; all are in one block."""
    names = [f"{number:09}" for number in range(size)]
    file = hfile_of(encode_hfile([Entry(name.encode(), b"v") for name in names]), "a")
    return lambda: [(list(file.get(name)), list(file.prefix(name))) for name in names]


def statistics_of_partitions(size: int) -> Callable[[], object]:
    """A second write to each of many partitions, in a table with statistics of columns and partitions."""
    settings = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "true"}
    table = new_table(partition=("p",), options=settings)
    rows = [trips(*(trip(f"{write}-{n}", "n", write, f"p{n:04}") for n in range(size))) for write in range(2)]
    table.insert(rows[0])
    return lambda: table.insert(rows[1])


def restored(size: int) -> Callable[[], object]:
    """Many writes to one group are removed at once."""
    table = new_table(partition=("p",), options={"hoodie.archive.automatic": "false", "hoodie.clean.automatic": "false"})
    first = table.insert(trips(trip("a", "n", 0, "p")))
    for number in range(size):
        table.upsert(trips(trip("a", "n", number + 1, "p")))
    return lambda: restore(table, first)


GROWING: dict[str, Callable[[int], Callable[[], object]]] = {
    "schema that doubles": lambda size: lambda: parse_schema(doubling(size // 40), f"{size}"),
    "schema that is chained": lambda size: lambda: parse_schema(chained(size // 10), f"{size}"),
    "wide schema": lambda size: lambda: parse_schema(wide(size), f"{size}"),
    "log blocks": lambda size: scanner_of(b"".join(block(BlockType.AVRO_DATA, n) for n in range(size)), size),
    "corrupt log blocks": lambda size: (
        lambda: list(read_blocks(memoryview(block(BlockType.AVRO_DATA, 1) + b"#HUDI#" * size), "a.log"))
    ),
    "rollback commands": rolled_back,
    "log compactions": compacted,
    "delete blocks": lambda size: (
        lambda: decode_deletes(
            Block(BlockType.DELETE, {}, encode_deletes([Delete(f"k{n}", "p", n) for n in range(size)], [pa.int64()]))
        )
    ),
    "timeline": lambda size: lambda: build_timeline(f"{time_of(n)}_{time_of(n + 1)}.commit" for n in range(size)),
    "pending timeline": lambda size: lambda: build_timeline(f"{time_of(n)}.commit.requested" for n in range(size)),
    "history": history,
    "properties": lambda size: lambda: load(b"".join(b"key%d=value\n" % n for n in range(size))),
    "continued line of properties": lambda size: lambda: load(b"key=" + b"value\\\n" * size),
    "commit metadata": lambda size: commit_metadata(size * 2),
    "file groups": lambda size: groups(size, lambda n: f"f{n}_0-0-0_{time_of(n)}.parquet"),
    "log files of a group": lambda size: groups(size, lambda n: f".f_{time_of(n)}.log.1_0-0-0"),
    "slices of a group": lambda size: groups(
        size, lambda n: f".f_{time_of(n)}.log.1_0-0-0" if n % 2 else f"f_0-0-0_{time_of(n)}.parquet"
    ),
    "metadata records": metadata_records,
    "look-ups in an HFile": lookups,
    "statistics of partitions": lambda size: statistics_of_partitions(size // 5),
    "restore": lambda size: restored(size // 20),
    "entries of an HFile": lambda size: (
        lambda: list(hfile_of(encode_hfile([Entry(f"{n:09}".encode(), b"v") for n in range(size)]), "a"))
    ),
}


@pytest.mark.parametrize("name", GROWING)
def test_work_grows_with_the_input(name: str) -> None:
    """LF-038, LF-009, TL-055, PROP-011, MDT-001, MDT-006: nothing takes four times the steps for twice the input."""
    make = GROWING[name]
    steps(make(100))  # caches of libraries and of names are filled
    small, large = steps(make(200)), steps(make(400))
    assert small > 200, "the input has no effect"
    assert large < MOST * small, f"{small} and {large} steps"


def test_quadratic_work_is_noticed() -> None:
    """The count itself: a search in a list for each of its entries is refused by the same bound."""

    def quadratic(size: int) -> list[int]:
        return [one for one in range(size) if all(other >= 0 for other in range(size))]

    assert steps(lambda: quadratic(200)) * MOST < steps(lambda: quadratic(400))
