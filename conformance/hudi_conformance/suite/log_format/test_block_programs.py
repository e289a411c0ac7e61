"""Programs of log blocks: rows, rows of some columns, deletes and rollback commands, in any order and split into any files.

The log files follow one base file, and each belongs to a separate completed action; the expected rows follow from reading the
blocks one after the other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa
import pytest
from hypothesis import strategies as st

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.drawn_checks import check_for_all
from hudi_conformance.suite.support.programs.table_programs import Budget
from hudi_conformance.suite.support.tables.written_tables import table_folder
from hudi_reference import create_table
from hudi_reference.files.log.content import Delete
from hudi_reference.files.log.writer import BlockWriter
from hudi_reference.schema.avro import META_COLUMNS, select_fields, with_meta_columns
from hudi_reference.timeline.contents.metadata import WriteStat, write_commit_metadata

Mode = Literal["COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING"]
TYPES = {"id": "string", "ts": "long", "name": "string", "note": "string"}
SCHEMA = {"type": "record", "name": "row", "namespace": "hoodie.blocks", "fields": [
    {"name": name, "type": ["null", kind], "default": None} for name, kind in TYPES.items()
]}  # fmt: skip
ARROW = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("name", pa.string()), ("note", pa.string())])
#: The rows of the base file; `d` and `e` are only in logs.
BASE = tuple({"id": key, "ts": 5, "name": f"base {key}", "note": "base"} for key in "abc")
MANY, FEW = 60, 6


@dataclass(frozen=True)
class Block:
    """One block: its keys, their ordering value (None: deletes by key), and its format.

    `of` is the position of the action whose instant it names among the earlier files; a rollback command rolls that one
    back.
    """

    does: Literal["rows", "name", "note", "deletes", "rollback"]
    keys: tuple[str, ...] = ()
    ts: int | None = None
    of: int = 0
    stored: Literal["avro", "parquet"] = "avro"


@dataclass(frozen=True)
class Program:
    """The log files of a slice, each of a separate action, with their blocks."""

    mode: Mode
    files: tuple[tuple[Block, ...], ...]


def draw_blocks() -> st.SearchStrategy[Block]:
    """Draw any block, deletes by key among them."""
    keys = st.lists(st.sampled_from("abcde"), min_size=1, max_size=3, unique=True).map(tuple)
    ranks, stored = st.integers(3, 7), st.sampled_from(("avro", "parquet"))
    rows = st.builds(Block, st.sampled_from(("rows", "rows", "name", "note")), keys, ranks, st.just(0), stored)
    deletes = st.builds(Block, st.just("deletes"), keys, st.one_of(st.none(), ranks))
    return st.one_of(rows, rows, deletes, st.builds(Block, st.just("rollback"), of=st.integers(0, 3)))


def draw_programs(mode: Mode) -> st.SearchStrategy[Program]:
    """Draw a few files of a few blocks each."""
    files = st.lists(st.lists(draw_blocks(), min_size=1, max_size=3).map(tuple), min_size=1, max_size=4).map(tuple)
    return st.builds(Program, st.just(mode), files)


State = dict[str, Any]


def expected_rows(program: Program) -> list[State]:
    """Return the rows after all blocks."""
    queue: list[tuple[int, int, Block]] = []
    for file, found in enumerate(program.files):
        for place, block in enumerate(found):
            if block.does == "rollback":
                queue = [one for one in queue if one[0] != block.of % (file + 1)]
            else:
                queue.append((file, place, block))
    by_time = program.mode == "EVENT_TIME_ORDERING"
    states: dict[str, State | None] = {str(row["id"]): {**row, "gone": False} for row in BASE}
    for file, place, block in queue:
        for key in block.keys:
            states[key] = merge_versions(states.get(key), make_version(key, block, file, place), by_time=by_time)
    return sorted(
        ({name: state[name] for name in TYPES} for state in states.values() if state and not state["gone"]),
        key=lambda row: str(row["id"]),
    )


def make_version(key: str, block: Block, file: int, place: int) -> State:
    """Return one version of a record: its columns, its ordering value, and whether it is a delete."""
    if block.does == "deletes":
        return {"id": key, "ts": block.ts, "gone": True}
    columns = ("name", "note") if block.does == "rows" else (block.does,)
    return {"id": key, "ts": block.ts, "gone": False, **{name: f"{name} {file}.{place}" for name in columns}}


def merge_versions(older: State | None, newer: State, *, by_time: bool) -> State:
    """Merge two versions, as the specification describes it."""
    if older is not None and by_time and newer["ts"] is not None:
        if older["ts"] is None:  # a delete by key: it has no ordering value, and there is nothing to delete
            return older if newer["gone"] else fill_columns(None, newer)
        if newer["ts"] < older["ts"]:
            return older
    return newer if newer["gone"] else fill_columns(older, newer)


def fill_columns(older: State | None, newer: State) -> State:
    """Return a row, with the columns that it lacks from the earlier row."""
    known = dict.fromkeys(TYPES) if older is None or older["gone"] else older
    return {**known, **newer}


def write_table(uri: str, program: Program, version: int) -> None:
    """Write the table with its base file and logs, and an action for each file."""
    table = create_table(
        uri, name="blocks", schema=SCHEMA, record_key=("id",), table_type="MERGE_ON_READ", merge_mode=program.mode,
        ordering=("ts",) if program.mode == "EVENT_TIME_ORDERING" else (), version=version,
    )  # fmt: skip
    first = table.upsert(pa.Table.from_pylist(list(BASE), schema=ARROW))
    root = table_folder(uri)
    (base,) = root.glob("*.parquet")
    file_id, timeline = base.name.partition("_")[0], root / ".hoodie" / "timeline"
    instants = [str(int(first) + 1_000_000 * (number + 1)) for number in range(len(program.files))]
    for file, (instant, found) in enumerate(zip(instants, program.files, strict=True)):
        data = b"".join(encode_block(block, instant, instants, file, place) for place, block in enumerate(found))
        name = f".{file_id}_{instant}.log.1_0-0-0"
        (root / name).write_bytes(data)
        stat = WriteStat(file_id, "", name, previous_instant=first, size=len(data), is_log=True)
        (timeline / f"{instant}.deltacommit.requested").touch()
        (timeline / f"{instant}.deltacommit.inflight").touch()
        done = write_commit_metadata("UPSERT", [stat], SCHEMA, bytes(16))
        (timeline / f"{instant}_{int(instant) + 1000}.deltacommit").write_bytes(done)


def encode_block(block: Block, instant: str, instants: Sequence[str], file: int, place: int) -> bytes:
    """Return the bytes of a block."""
    if block.does == "rollback":
        return BlockWriter(instant).rollback(instants[block.of % (file + 1)])
    if block.does == "deletes":
        deletes = [Delete(key, "", block.ts) for key in block.keys]
        return BlockWriter(instant, with_meta_columns(SCHEMA)).delete(deletes, [pa.int64()])
    found = [make_version(key, block, file, place) for key in block.keys]
    held = {*META_COLUMNS, *TYPES} if block.does == "rows" else {*META_COLUMNS, "id", "ts", block.does}
    schema = select_fields(with_meta_columns(SCHEMA), held)
    meta = {"_hoodie_commit_time": instant, "_hoodie_commit_seqno": "0", "_hoodie_partition_path": "", "_hoodie_file_name": "f"}
    rows = [{**meta, **row, "_hoodie_record_key": row["id"]} for row in found]
    kinds = {**dict.fromkeys(META_COLUMNS, pa.string()), **{field.name: field.type for field in ARROW}}
    table = pa.Table.from_pylist(rows, schema=pa.schema([(f["name"], kinds[f["name"]]) for f in schema["fields"]]))
    return BlockWriter(instant, schema, partial=block.does != "rows").rows(block.stored, table)


@pytest.mark.parametrize(
    "mode",
    [
        pytest.param("EVENT_TIME_ORDERING", marks=pytest.mark.needs("merge.event-time")),
        pytest.param("COMMIT_TIME_ORDERING", marks=pytest.mark.needs("merge.commit-time")),
    ],
)
@pytest.mark.requirements("BLK-001", "BLK-004", "BLK-005", "BLK-011", "BLK-012", "BLK-030", "LF-036", "LF-037", "LF-045")
@pytest.mark.requirements("LF-046", "RDR-014", "RDR-016", "RDR-017", "MRG-003", "MRG-028", "MRG-025")
@pytest.mark.needs("read.snapshot", "read.projection", "merge-on-read", "log.avro", "log.parquet", "log.delete", "log.command")
@pytest.mark.needs("merge.partial-updates", "partition.none")
@pytest.mark.each_version
@pytest.mark.long
def test_blocks_are_read_one_after_the_other(engine: Client, new_uri: Callable[[], str], budget: Budget, mode: Mode) -> None:
    """BLK-005: in any sequence of blocks, a rollback command removes what its target wrote before it, in this file and in
    others, rows and deletes alike, and nothing else; the other blocks are merged in their order.
    """

    def check(program: Program) -> None:
        uri = new_uri()
        write_table(uri, program, engine.table_version)
        found = engine.read(uri, Query(columns=tuple(TYPES))).to_pylist()
        assert sorted(found, key=lambda row: str(row["id"])) == expected_rows(program), program

    check_for_all(budget(MANY, FEW, engine), check, draw_programs(mode))
