"""Change-capture files: the fields of their records, change queries beside planned compactions, and when files are damaged.

A change-capture file is not part of a file slice, so that no snapshot notices its damage. A change query is then an error, or
has the changes from before the damage.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.messages import Service
from hudi_conformance.suite.support.answers import Answers
from hudi_conformance.suite.support.concurrent.concurrent_table import DUE
from hudi_conformance.suite.support.concurrent.pending_writes import SEVERAL_WRITERS, begin_write
from hudi_conformance.suite.support.damaged_tables import Changes, store_contents
from hudi_conformance.suite.support.programs.write_programs import SCHEMA, Program, as_arrow, row
from hudi_conformance.suite.support.tables.metadata_tables import LISTED, IndexedTable
from hudi_conformance.suite.support.tables.tables_under_services import keep_commits
from hudi_conformance.suite.support.tables.written_tables import CAPTURED, Type, base_files, completion_time, table_folder
from hudi_reference.files.log.block import HeaderKey
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.storage import LocalStorage

NEEDED = pytest.mark.needs(
    "create", "write.upsert", "read.cdc", "copy-on-write", "merge.event-time", "partition.plain", "read.snapshot"
)
#: The fields of the records in each logging mode, in their order.
FIELDS = {
    "OP_KEY_ONLY": ["op", "record_key"],
    "DATA_BEFORE": ["op", "record_key", "before"],
    "DATA_BEFORE_AFTER": ["op", "ts_ms", "before", "after"],
}
MODES = pytest.mark.parametrize("mode", FIELDS)
NewUri = Callable[[], str]


def captured_updates(engine: Client, uri: str, mode: str) -> list[Path]:
    """Write a table with change capture and two updates of one file group; return the change-capture files of the updates."""
    properties = {**CAPTURED, "hoodie.table.cdc.supplemental.logging.mode": mode}
    engine.create(uri, replace(Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec(), properties=properties))
    for number in (1, 2, 3):
        engine.write(uri, "upsert", as_arrow([row("a", number, f"a{number}"), row("b", number, f"b{number}")]))
    found = sorted(table_folder(uri).rglob(".*.cdc"))
    assert len(found) == 2
    return found


@NEEDED
@MODES
@pytest.mark.requirements("BLK-032", "BLK-034", "BLK-035", "BLK-036")
def test_changes_have_the_fields_of_the_mode(engine: Client, new_uri: NewUri, mode: str) -> None:
    """BLK-034: the records of a change-capture block have the fields of the logging mode, in this order; images have the
    columns of the table without its meta columns.
    """
    for path in captured_updates(engine, new_uri(), mode):
        (block,) = read_log_file(LocalStorage(path.parent), path.name)
        fields = {field["name"]: field["type"] for field in json.loads(block.header[HeaderKey.SCHEMA])["fields"]}
        assert list(fields) == FIELDS[mode]
        if "before" in fields:
            (image,) = (kind for kind in fields["before"] if kind != "null")
            assert [field["name"] for field in image["fields"]] == [field["name"] for field in SCHEMA["fields"]]


@NEEDED
@pytest.mark.needs("write.insert")
@pytest.mark.parametrize("type", ["COPY_ON_WRITE", pytest.param("MERGE_ON_READ", marks=pytest.mark.needs("merge-on-read"))])
@pytest.mark.requirements("TYP-012", "TYP-004")
def test_changes_of_two_inserts_into_one_partition(engine: Client, new_uri: NewUri, type: Type) -> None:
    """TYP-012: a second insert fills up the file group of the first one, by default. Its rows are inserts, and the rows that it
    copied are no changes.
    """
    uri, program = new_uri(), Program(type, "EVENT_TIME_ORDERING", True)
    engine.create(uri, replace(program.spec(), properties=CAPTURED))
    for keys in ("abc", "d"):
        engine.write(uri, "insert", as_arrow([row(key, 1, f"{key}1") for key in keys]))
    changes = [(one["op"], one["after"]["id"], one["before"]) for one in engine.read(uri, Query("cdc")).to_pylist()]
    assert sorted(changes) == [("i", key, None) for key in "abcd"]


@NEEDED
@MODES
@pytest.mark.requirements("TYP-004", "TYP-012")
def test_a_write_without_changes_has_a_change_file(engine: Client, new_uri: NewUri, mode: str) -> None:
    """TYP-004: a write whose records are all late stores a base file with the rows from before. It has a change-capture file
    beside it, because a reader takes a base file without one for a new file group; and it has no changes.
    """
    uri = new_uri()
    captured_updates(engine, uri, mode)
    late = engine.write(uri, "upsert", as_arrow([row("a", 0, "late")]))
    stored = [path for path in base_files(uri) if late in path.name]
    assert len(stored) == len([path for path in table_folder(uri).rglob(".*.cdc") if late in path.name]) == 1
    found = engine.read(uri, Query("cdc")).to_pylist()
    assert len(found) == 6
    assert late not in {change["ts_ms"] for change in found}


@NEEDED
@pytest.mark.needs("write.insert")
@pytest.mark.requirements("TYP-012", "TYP-013")
def test_rows_with_one_key_are_no_changes(engine: Client, new_uri: NewUri) -> None:
    """TYP-012: plain inserts stored two rows with one key in a file group. A later write of the group that changes another row
    has this change, and none of the two rows.
    """
    uri = new_uri()
    engine.create(uri, replace(Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec(), properties=CAPTURED))
    engine.write(uri, "insert", as_arrow([row("a", 1, "one"), row("a", 2, "two"), row("b", 1, "x")]))
    assert engine.read(uri, Query(columns=("id",))).num_rows == 3
    update = engine.write(uri, "upsert", as_arrow([row("b", 2, "y")]))
    found = [change for change in engine.read(uri, Query("cdc")).to_pylist() if change["ts_ms"] == update]
    assert [(one["op"], one["before"]["value"], one["after"]["value"]) for one in found] == [("u", "x", "y")]


def changed_values(engine: Client, uri: str, begin: str) -> list[tuple[str, str | None, str | None]]:
    """Return the operation and both values of each change of `a` since a completion, in the order of the writes."""
    found = sorted(engine.read(uri, Query("cdc", begin=begin)).to_pylist(), key=lambda change: str(change["ts_ms"]))
    images = [(one["op"], one["before"], one["after"]) for one in found]
    pairs = [(op, before, after) for op, before, after in images if (after or before)["id"] == "a"]
    return [(op, before and before["value"], after and after["value"]) for op, before, after in pairs]


@pytest.mark.needs("create", "write.upsert", "read.cdc", "merge-on-read", "merge.event-time", "partition.plain")
@pytest.mark.parametrize(
    "service",
    [
        pytest.param("compaction", marks=pytest.mark.needs("service.compaction")),
        pytest.param("log-compaction", marks=pytest.mark.needs("service.log-compaction")),
    ],
)
@pytest.mark.requirements("TYP-012", "TYP-013", "BLK-033")
def test_changes_beside_a_planned_compaction(engine: Client, new_uri: NewUri, service: Service) -> None:
    """TYP-012: a compaction is planned, and writes follow while it is pending and after it was executed. The image before each
    change is the row before the write, which may be in the logs that the plan names.
    """
    uri, options = new_uri(), {**SEVERAL_WRITERS, **DUE[service]}
    engine.create(uri, replace(Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True).spec(), properties=CAPTURED))

    def write(number: int) -> str:
        rows = as_arrow([row("a", number, f"a{number}"), row("b", number, f"b{number}")])
        return completion_time(uri, engine.write(uri, "upsert", rows, options=dict(SEVERAL_WRITERS)))

    begin = [write(number) for number in (1, 2, 3)][-1]
    plan = engine.service(uri, service, phase="schedule", options=options)
    expected = []
    for number in (4, 5, 6):
        if number == 6:
            engine.service(uri, service, phase="execute", instant=plan, options=options)
        write(number)
        expected.append(("u", f"a{number - 1}", f"a{number}"))
        assert changed_values(engine, uri, begin) == expected, f"after write {number}"


def read_changes(answers: Answers, uri: str) -> list[str] | None:
    """Return the changes of a table in some order; None for an error."""
    found = answers.ask(uri, Query("cdc"))
    return None if found is None else sorted(map(str, found.to_pylist()))


def check_damages(engine: Client, uri: str, damages: Iterable[Changes]) -> None:
    """Apply each damage and undo it: the changes are the same as before, or the query is an error."""
    answers = Answers(engine)
    expected = read_changes(answers, uri)
    answers.expect_some("change queries")
    for changes in damages:
        before: Changes = {path: path.read_bytes() for path in changes}
        store_contents(changes)
        found = read_changes(answers, uri)
        store_contents(before)
        assert found is None or found == expected, "a damaged change-capture file was read"


def cut(data: bytes) -> Iterator[bytes | None]:
    """Yield the content without its end."""
    yield from (data[:length] for length in (6, len(data) // 2, len(data) - 9, len(data) - 1))


def garbled(data: bytes) -> Iterator[bytes | None]:
    """Yield the content with another byte in its magic, its headers, and its trailing length."""
    for place in (0, 8, 20, len(data) - 12):
        yield data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :]


def with_unknown_operations(data: bytes) -> Iterator[bytes | None]:
    """Yield the content with an unknown letter in place of that of an update."""
    assert b"\x02u" in data
    yield data.replace(b"\x02u", b"\x02x")  # a text of one character


#: What happens to the content of a file; None removes it.
DAMAGES: Mapping[str, Callable[[bytes], Iterable[bytes | None]]] = {
    "removed": lambda data: [None],
    "emptied": lambda data: [b""],
    "cut": cut,
    "garbled": garbled,
    "unknown-operation": with_unknown_operations,
    "twice": lambda data: [data + data],
}


@NEEDED
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.requirements("TL-036", "LF-024", "BLK-033", "TYP-012")
def test_damaged_change_files_hide_no_changes(engine: Client, new_uri: NewUri, damage: str) -> None:
    """TL-036: a change-capture file that a completed write names and that is missing, cut, or damaged is an error. No change is
    left out or returned twice.
    """
    uri = new_uri()
    for path in captured_updates(engine, uri, "DATA_BEFORE_AFTER"):
        check_damages(engine, uri, ({path: content} for content in DAMAGES[damage](path.read_bytes())))


@NEEDED
@MODES
@pytest.mark.requirements("LF-035", "TYP-012")
def test_change_files_with_the_changes_of_another_write(engine: Client, new_uri: NewUri, mode: str) -> None:
    """LF-035: the blocks of a change-capture file have the instant of their write. A file with the content of another write's
    file is an error, and the changes of no write are returned as those of another.
    """
    uri = new_uri()
    pairs = permutations(captured_updates(engine, uri, mode), 2)
    check_damages(engine, uri, ({one: other.read_bytes()} for one, other in pairs))


class CapturedTable(IndexedTable):
    """A table with change capture, and the files that its metadata table lists."""

    def __init__(self, engine: Client, uri: str, type: Type) -> None:
        self.engine, self.uri = engine, uri
        engine.create(uri, replace(Program(type, "EVENT_TIME_ORDERING", True).spec(), properties=CAPTURED))

    def check_listing(self) -> None:
        """Check that the listing has all committed files, change files among them, and no other."""
        listed = self.files_listed()
        assert listed == self.files_stored()
        assert [name for names in listed.values() for name in names if name.endswith(".cdc")]


@pytest.mark.needs("create", "write.upsert", "read.cdc", "write.metadata-table", "service.clean", "partition.plain")
@pytest.mark.needs("copy-on-write")
@pytest.mark.parametrize("first", [0, 3])
@pytest.mark.requirements("MDT-008", "MDT-001")
def test_change_files_are_in_the_listing(engine: Client, new_uri: Callable[[], str], first: int) -> None:
    """MDT-008: the listing of files has the change files of completed writes, whether the metadata table is as old as the table
    or newer. Those of a pending write are not in it, and those that a clean deletes are in it no more.
    """
    table = CapturedTable(engine, new_uri(), "COPY_ON_WRITE")
    without = {"hoodie.metadata.enable": "false"}
    for number in range(4):
        options = LISTED if number >= first else without
        engine.write(table.uri, "upsert", as_arrow([row("a", number, f"update {number}")]), options=options)
    table.check_listing()
    if first:
        engine.write(table.uri, "upsert", as_arrow([row("a", 5, "without")]), options=without)
        pending = begin_write(table.uri, (row("a", 6, "pending"),))
        assert [name for name in pending.files if name.endswith(".cdc")]
        engine.write(table.uri, "upsert", as_arrow([row("c", 6, "new", "rio")]), options={**LISTED, **SEVERAL_WRITERS})
        table.check_listing()
    else:
        engine.service(table.uri, "clean", options={**LISTED, **keep_commits(2)})
        table.check_listing()
