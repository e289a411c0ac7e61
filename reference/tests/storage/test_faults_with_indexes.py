"""Faults of the local file system in tables with every index: rows, filters through indexes, and stored entries stay right."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from failing_calls import CHANGES, Failing, copies_with_faults

from hudi_conformance.validator.all_checks import ALL, CHEAP
from hudi_conformance.validator.stored.table import load_table
from hudi_conformance.validator.validation import validate
from hudi_reference import (
    clean,
    cluster,
    compact,
    create_index,
    create_table,
    drop_index,
    index,
    log_compact,
    open_table,
    restore,
    rollback,
    savepoint,
)
from hudi_reference.clock import ManualClock
from hudi_reference.errors import HudiError
from hudi_reference.ids import SeededIds
from hudi_reference.query.table import Table
from hudi_reference.services.archive.archive import archive
from hudi_reference.services.rollback.failed_writes import roll_back_failed
from hudi_reference.storage import LocalStorage

pytestmark = pytest.mark.long

START = 1_767_225_600_000
DAY = 86_400_000
TYPES = {"id": "string", "ts": "long", "name": "string", "p": "string", "n": "int"}
SCHEMA = {
    "type": "record",
    "name": "t",
    "fields": [{"name": name, "type": ["null", kind], "default": None} for name, kind in TYPES.items()],
}
INDEXES = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.index.bloom.filter.enable": "true",
    "hoodie.metadata.compact.max.delta.commits": "4",
}
#: Key -> the other columns but `ts`.
Rows = dict[str, tuple[str, str, int]]


def opened(storage: LocalStorage, day: int) -> Table:
    clock = ManualClock(START + day * DAY)
    return open_table("memory:///t", storage=storage, clock=clock, ids=SeededIds(day), options=INDEXES)


def records(*rows: tuple[str, int, str, str, int]) -> pa.Table:
    columns = zip(*rows, strict=True)
    types = (pa.string(), pa.int64(), pa.string(), pa.string(), pa.int32())
    return pa.table(
        {name: pa.array(one, kind) for (name, one), kind in zip(zip(TYPES, columns, strict=True), types, strict=True)}
    )


def keys(*found: tuple[str, str]) -> pa.Table:
    return pa.table({"id": [one for one, _ in found], "p": [one for _, one in found]})


def make_table(folder: Path, kind: str, version: int) -> None:
    """A table with the indexes of the settings and a secondary one, and four writes after the first."""
    storage = LocalStorage(folder)
    create_table(
        "memory:///t", name="t", schema=SCHEMA, table_type=kind, version=version, storage=storage, record_key=("id",),
        partition=("p",), ordering=("ts",), clock=ManualClock(START), ids=SeededIds(0), options=INDEXES,
    )  # fmt: skip
    opened(storage, 1).insert(records(("1", 1, "a", "x", 1), ("2", 1, "b", "y", 2), ("5", 1, "e", "y", 5)))
    create_index(opened(storage, 2), "by_name", "name", options=INDEXES)
    opened(storage, 3).upsert(records(("1", 2, "a2", "x", 10), ("3", 2, "c", "x", 3)))
    opened(storage, 4).upsert(records(("2", 3, "b3", "y", 20), ("4", 3, "d", "z", 4)))
    opened(storage, 5).delete(keys(("5", "y")))


LATER = records(("1", 9, "later", "x", 99), ("6", 9, "new", "z", 6))
WRITES: dict[str, Callable[[Table], Any]] = {
    "upsert": lambda table: table.upsert(LATER),
    "insert": lambda table: table.insert(records(("7", 9, "s", "w", 7), ("8", 9, "u", "x", 8))),
    "delete": lambda table: table.delete(keys(("1", "x"), ("4", "z"))),
    "insert_overwrite_table": lambda table: table.insert_overwrite_table(LATER),
    "delete_partitions": lambda table: table.delete_partitions(["x"]),
    "savepoint": lambda table: savepoint(table, table.timeline.commits[-1].requested),
    "clean": lambda table: clean(table, {"hoodie.clean.commits.retained": "1"}),
    "clustering": lambda table: cluster(table, {}),
    "archive": lambda table: archive(table, {"hoodie.keep.min.commits": "1", "hoodie.keep.max.commits": "2"}),
    "drop secondary index": lambda table: drop_index(table, "secondary_index_by_name"),
    "drop column statistics": lambda table: drop_index(table, "column_stats"),
    "second secondary index": lambda table: create_index(table, "by_n", "n", options=INDEXES),
    "bloom filters again": lambda table: (drop_index(table, "bloom_filters"), index(table, INDEXES)),
    "rollback": lambda table: rollback(table, table.timeline.commits[-1].requested),
    "restore": lambda table: restore(table, table.timeline.commits[1].requested),
    "compaction": lambda table: compact(table, {"hoodie.compact.inline.max.delta.commits": "1"}),
    "log compaction": lambda table: log_compact(table, {"hoodie.log.compaction.blocks.threshold": "1"}),
}
#: Actions that find nothing to do in tables of the other type.
OF_LOGS, OF_BASE_FILES = ("compaction", "log compaction"), ("clean", "archive")
#: A repetition acts on another write.
NOT_REPEATED = ("rollback", "savepoint")


def rows_of(folder: Path) -> Rows:
    """The rows, after filters on an indexed column, on one with statistics and on the key have found the same."""
    table = opened(LocalStorage(folder), 20)
    found = {row["id"]: (row["name"], row["p"], row["n"]) for row in table.snapshot(["id", "name", "p", "n"]).to_pylist()}
    for key, (name, _, number) in found.items():
        for column, value, place in (("name", name, 0), ("n", number, 2)):
            by_index = table.snapshot(["id"], [(column, "=", value)]).column("id").to_pylist()
            assert sorted(by_index) == sorted(one for one, row in found.items() if row[place] == value), (column, value)
        assert table.snapshot(["id"], [("id", "=", key)]).num_rows == 1, key
    return found


def check_sound(folder: Path, *, deep: bool = False) -> None:
    result = validate(load_table(folder.as_uri()), ALL if deep else CHEAP)
    assert result.is_sound and not result.broken, (result.findings[:3], result.broken)


def check_fault(folder: Path, name: str, calls: Failing, states: list[Rows], *, deep: bool) -> None:
    """Before, after, and nothing between them; a rollback and a second try work, and so does the next write."""
    failed = False
    try:
        WRITES[name](opened(LocalStorage(folder, sync=True, calls=calls), 10))
    except HudiError:
        failed = True
    state = rows_of(folder)
    assert state in states or name == "restore"
    roll_back_failed(opened(LocalStorage(folder), 12))
    check_sound(folder)
    if failed and name not in NOT_REPEATED:
        with suppress(HudiError):  # it may be complete already
            WRITES[name](opened(LocalStorage(folder), 13))
        assert rows_of(folder) == states[-1]
    opened(LocalStorage(folder), 15).upsert(records(("9", 9, "end", "x", 9), ("1", 20, "last", "x", 1)))
    last = rows_of(folder)
    assert (last["1"], last["9"]) == (("last", "x", 1), ("end", "x", 9))
    check_sound(folder, deep=deep)


def spread(made: list[str], changes: int, reads: int) -> set[int]:
    """The numbers of so many calls, at equal distances among the calls that change something and among the others."""
    groups: dict[bool, list[int]] = {True: [], False: []}
    for number, kind in enumerate(made, 1):
        groups[kind in CHANGES].append(number)
    return {
        numbers[len(numbers) * (2 * place + 1) // (2 * count)]
        for numbers, count in ((groups[True], changes), (groups[False], reads))
        for place in range(count)
    }


def check_action(work: Path, name: str, kind: str, version: int, *, changes: int, reads: int) -> None:
    """Let an action fail at so many of its calls, each time on another copy of a table."""
    make_table(work / "start", kind, version)
    shutil.copytree(work / "start", work / "whole")
    calls = Failing()
    WRITES[name](opened(LocalStorage(work / "whole", sync=True, calls=calls), 10))
    states = [rows_of(work / "start"), rows_of(work / "whole")]
    numbers = spread(calls.made, changes, reads)
    copies = copies_with_faults(work / "start", work, calls.made, lambda number, _: number in numbers)
    for turn, (folder, failing) in enumerate(copies):
        check_fault(folder, name, failing, states, deep=turn == 0)


@pytest.mark.parametrize("name", ["upsert", "delete_partitions", "compaction"])
def test_faults_of_a_table_with_every_index(tmp_path: Path, name: str) -> None:
    """StorageFault: a system call of an action fails in a table with every index. Queries with filters return the rows of before
    or after the action, the metadata table fits to them, and a second try works. `-m long` has more actions and calls."""
    check_action(tmp_path, name, "MERGE_ON_READ", 9, changes=2, reads=1)


@pytest.mark.parametrize("kind, version", [("MERGE_ON_READ", 9), ("COPY_ON_WRITE", 8)])
@pytest.mark.parametrize("name", WRITES)
def test_more_faults_of_a_table_with_every_index(tmp_path: Path, name: str, kind: str, version: int) -> None:
    """The same for every action, both types and both versions."""
    if name in (OF_BASE_FILES if kind == "MERGE_ON_READ" else OF_LOGS):
        pytest.skip("nothing to do")
    check_action(tmp_path, name, kind, version, changes=5, reads=2)
