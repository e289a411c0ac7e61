"""The names and headers that assign data files to file groups and actions: file names, write tokens, record positions; and the
files that failed task attempts leave.
"""

import base64
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyroaring import BitMap64

from hudi_conformance.contract.client import Client
from hudi_conformance.engines.registry import connect
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, Row, Step, as_arrow, expect_rows, row
from hudi_conformance.suite.support.tables.stored_blocks import DELETE, SCHEMA, Block, log_files, parse_blocks
from hudi_conformance.suite.support.tables.written_tables import (
    INSERT,
    META,
    UPDATE,
    WRITES,
    base_files,
    data_files,
    read_metadata,
    table_folder,
    write_table,
)
from hudi_reference import open_table
from hudi_reference.schema.avro import with_meta_columns
from hudi_reference.write.commit import begin
from hudi_reference.write.placement.locate import locate
from hudi_reference.write.placement.rows import prepare
from hudi_reference.write.writer import Writer

LOGS = pytest.mark.needs("create", "write.upsert", "merge-on-read", "log.avro", "partition.plain")
POSITIONS, BASE_INSTANT = 5, 8

BASE_NAME = re.compile(r"(?P<file_id>[^_]+)_(?P<token>\d+-\d+-\d+)_(?P<instant>\d{17})\.parquet")
LOG_NAME = re.compile(r"\.(?P<file_id>[^_]+)_(?P<instant>\d{17})\.log\.(?P<version>\d+)_(?P<token>\d+-\d+-\d+)")

ROWS = tuple(row(key, 1, "x") for key in "abcdef")


def read_last_blocks(uri: str, instant: str) -> list[Block]:
    """Return the blocks that an action wrote."""
    return [block for path in log_files(uri) if instant in path.name for block in parse_blocks(path.read_bytes())]


@LOGS
@pytest.mark.needs("delete.flag")
@pytest.mark.requirements("LF-041", "LF-042", "LF-043", "BLK-011")
def test_record_positions_identify_the_changed_rows(engine: Client, new_uri: Callable[[], str]) -> None:
    """LF-042: where blocks have record positions, there is one for each record, counted from 0, of the row with the record's
    key in the base file that the block names; and a read by positions gives the right rows.
    """
    uri = new_uri()
    engine.create(uri, Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True).spec())
    first = engine.write(uri, "upsert", as_arrow(ROWS))
    keys = pq.ParquetFile(base_files(uri)[0]).read().column("_hoodie_record_key").to_pylist()
    changes = (row("e", 2, "y"), row("b", 2, "y", deleted=True), row("a", 2, "y"), row("d", 2, "y", deleted=True))
    blocks = read_last_blocks(uri, engine.write(uri, "upsert", as_arrow(changes)))
    for block in blocks:
        if POSITIONS in block.header:
            places = list(BitMap64.deserialize(base64.b64decode(block.header[POSITIONS], validate=True)))
            wanted = {"b", "d"} if block.kind == DELETE else {"a", "e"}
            assert [keys[place] for place in places] == [key for key in keys if key in wanted]
            assert block.header[BASE_INSTANT] == first
    expect_rows(engine, uri, (row("a", 2, "y"), row("c", 1, "x"), row("e", 2, "y"), row("f", 1, "x")), "after the log")


@WRITES
@BOTH_TYPES
@pytest.mark.requirements("BF-001", "BF-003", "LF-002", "LAY-020", "META-001")
def test_file_names_identify_groups_and_instants(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """BF-001: without timeline and metadata, the name of each file still identifies its file group and the action that wrote
    it.
    """
    uri = new_uri()
    _, instants = write_table(engine, uri, INSERT, UPDATE, Step("upsert", (row("b", 3, "z"),)), type=type)
    location_of_file: dict[str, tuple[str, str, str]] = {}
    for instant in instants:
        for folder, stats in read_metadata(uri, instant)[2]["partitionToWriteStats"].items():
            location_of_file |= {stat["path"]: (folder, stat["fileId"], instant) for stat in stats}
    shutil.rmtree(table_folder(uri) / ".hoodie")
    found = {}
    for path in data_files(uri):
        folder, _, name = path.rpartition("/")
        parts = BASE_NAME.fullmatch(name) or LOG_NAME.fullmatch(name)
        assert parts is not None, name
        found[path] = (folder, parts["file_id"], parts["instant"])
    assert found == location_of_file


@LOGS
@pytest.mark.requirements("META-001", "META-002", "LF-035")
def test_logged_rows_have_all_meta_columns(engine: Client, new_uri: Callable[[], str]) -> None:
    """META-001: the schema of a data block begins with the five meta columns, and each block names the action that wrote it."""
    uri = new_uri()
    _, (_, instant) = write_table(engine, uri, INSERT, UPDATE, type="MERGE_ON_READ")
    blocks = read_last_blocks(uri, instant)
    assert blocks
    for block in blocks:
        names = re.findall(r'"name"\s*:\s*"(_hoodie_\w+)"', block.header[SCHEMA])
        assert names[:5] == list(META)
        assert block.header[0] == instant


@WRITES
@pytest.mark.needs("copy-on-write")
@pytest.mark.requirements("META-006")
def test_a_sequence_number_stays_with_its_row(engine: Client, new_uri: Callable[[], str]) -> None:
    """META-006: commit time and sequence number of a row do not change when the row is carried into another file."""
    uri = new_uri()
    _, (first, _) = write_table(engine, uri, INSERT, UPDATE)
    numbers: dict[str, set[Any]] = {}
    for path in base_files(uri):
        for found in pq.ParquetFile(path).read().to_pylist():
            numbers.setdefault(found["id"], set()).add((found["_hoodie_commit_time"], found["_hoodie_commit_seqno"]))
    assert {key: len(found) for key, found in numbers.items()} == {"a": 2, "b": 1, "c": 1}
    assert {time for key in "bc" for time, _ in numbers[key]} == {first}


@LOGS
@pytest.mark.needs("write.delete", "read.snapshot", "log.delete")
@pytest.mark.requirements("BLK-013", "LAY-021")
def test_a_delete_applies_to_its_partition_only(engine: Client, new_uri: Callable[[], str]) -> None:
    """LAY-021: if two records have the same key in two partitions, a delete in the log removes only the one of its
    partition.
    """
    uri = new_uri()
    engine.create(uri, Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True).spec())
    engine.write(
        uri, "upsert", as_arrow([row("a", 1, "x"), row("b", 1, "x"), row("a", 1, "x", "rio"), row("c", 1, "x", "rio")])
    )
    engine.write(uri, "delete", as_arrow([row("a", 0, "", "rio"), row("b", 0, "", "rio")]))
    expect_rows(engine, uri, [row("a", 1, "x"), row("b", 1, "x"), row("c", 1, "x", "rio")], "after the delete")


def write_with_attempts(uri: str, rows: Sequence[Row], *, lost: Sequence[str]) -> str:
    """Write with the reference, with several attempts of the same task; `lost` are the values that each failed attempt
    wrote.
    """
    table = open_table(uri)
    view = table.view()
    reader = view.reader(table)
    commit = begin(table, "UPSERT", view.timeline)
    for number, value in enumerate((*lost, None)):
        given = [r if value is None else {**r, "value": value} for r in rows]
        located = locate(prepare(as_arrow(tuple(given)), table.properties, reader.schema), view, reader)
        writing = commit if value is None else replace(commit, stats=[])
        writer = Writer(writing, reader, with_meta_columns(view.schema), attempt=f"0-{number}")
        for found, changes in located.known:
            writer.change(found, changes)
    return commit.complete(view.schema)


@WRITES
@BOTH_TYPES
@pytest.mark.needs("read.snapshot")
@pytest.mark.requirements("BF-005", "BF-006", "BF-008", "LF-006", "TL-005")
def test_task_attempts_write_separate_files(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """BF-005: each attempt has a greater write token than the one before and overwrites nothing; only the successful attempt is
    read.

    The reference reads: how other engines read such files depends on the order in which a folder is listed.
    """
    uri = new_uri()
    write_table(engine, uri, INSERT, type=type)
    before = data_files(uri)
    instant = write_with_attempts(uri, UPDATE.rows, lost=("first lost", "second lost"))
    names = [path.rpartition("/")[2] for path in data_files(uri) - before]
    parsed = [BASE_NAME.fullmatch(name) or LOG_NAME.fullmatch(name) for name in names]
    tokens = [tuple(map(int, parts["token"].split("-"))) for parts in parsed if parts]
    assert sorted(tokens) == [(0, 0, 0), (0, 0, 1), (0, 0, 2)]
    assert {parts["instant"] for parts in parsed if parts} == {instant}
    with connect("reference") as reference:
        expect_rows(reference, uri, (row("a", 2, "y"), row("b", 1, "x"), row("c", 1, "x", "rio")), "after the third attempt")


@WRITES
@BOTH_TYPES
@pytest.mark.needs("read.snapshot")
@pytest.mark.requirements("BF-007", "LF-007")
def test_only_orphan_files_are_removed(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """BF-007: files of failed attempts are removed, whatever their write tokens. Files of other actions, also with smaller
    tokens, and files of pending actions stay, and so do the rows.
    """
    uri = new_uri()
    write_table(engine, uri, INSERT, UPDATE, Step("upsert", (row("b", 3, "z"),)), type=type)
    home, named = table_folder(uri), data_files(uri)
    lost = set()
    for path in sorted(named):
        for token in ("0-0-0", "99999-0-0"):
            other = re.sub(r"\d+-\d+-\d+(?=_\d{17}|$)", token, path)
            if other != path:
                shutil.copyfile(home / path, home / other)
                lost.add(other)
    pending = {re.sub(r"\d{17}", "20990101000000000", path) for path in named}
    for path in pending:
        shutil.copyfile(home / max(named), home / path)
    table = open_table(uri)
    assert set(table.remove_leftover_files()) == lost
    assert data_files(uri) == named | lost | pending, "the dry run removed a file"
    assert set(table.remove_leftover_files(dry_run=False)) == lost
    assert data_files(uri) == named | pending
    expect_rows(engine, uri, (row("a", 2, "y"), row("b", 3, "z"), row("c", 1, "x", "rio")), "after the removal")
