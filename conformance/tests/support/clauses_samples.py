"""Damages that can be made to any table with files of that kind, of every writer.

A damage edits a table in memory. It raises `NotPossible` if the table has no place for it.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import validated_tables_samples as t
from clause_places_samples import (
    COSMETIC,
    LATER,
    LOST,
    SPACE,
    WRONG,
    Clause,
    NotPossible,
    copied,
    first,
    in_base,
    last,
    latest_base_files,
    latest_log_files,
    older_base_files,
    path_of,
    properties,
    stored,
    with_value,
    writes,
)
from compared_clauses_samples import COMPARED
from contradiction_clauses_samples import CONTRADICTIONS
from metadata_clauses_samples import METADATA
from results_clauses_samples import RESULTS
from settings_clauses_samples import LAYOUT, PROPERTIES
from traces_clauses_samples import TRACES

from hudi_reference.layout.names import split_path
from hudi_reference.storage import Storage
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

# Timeline.


def _swap(storage: Storage) -> None:
    found = [one for one in writes(storage) if stored(storage).commits[one].paths]
    if len(found) < 2:
        raise NotPossible
    one, other = (path_of(storage, instant) for instant in found[-2:])
    first_content, second = storage.get(one), storage.get(other)
    storage.put(one, second)
    storage.put(other, first_content)


def _retime(storage: Storage, instant: Instant, completion: str) -> None:
    if stored(storage).properties.is_legacy:
        raise NotPossible
    path = path_of(storage, instant)
    t.move(storage, path, path.replace(f"_{instant.completion}.", f"_{completion}." if completion else "."))


def _remove_action(storage: Storage, number: int) -> None:
    """All files of a write with a later write in its file groups."""
    found = writes(storage)
    if len(found) < 2 - number:
        raise NotPossible
    for file in stored(storage).state_files:
        if file.instant.requested == found[number].requested and file.instant.action != "savepoint":
            storage.delete(file.path)


def _state_file(storage: Storage, state: State) -> str:
    """The pending file of a completed write that still has the other one."""
    table = stored(storage)
    done = {instant.requested: instant for instant in writes(storage)}
    found = [f for f in table.state_files if f.instant.requested in done and f.instant.state is state]
    return last(f.path for f in found if f.instant.action in ("commit", "deltacommit"))


def _cut_inflight(storage: Storage) -> None:
    """The workload profile of a completed write is cut; no query reads it."""
    path = last(file.path for file in stored(storage).state_files if file.instant.state is State.INFLIGHT and file.size > 30)
    t.cut(storage, path, 20)


TIMELINE = (
    Clause("empty commit", ("TL-002", "COMPAT-003"), WRONG, lambda s: s.put(path_of(s, last(writes(s))), b"")),
    Clause("cut commit", ("TL-002", "COMPAT-003"), WRONG, lambda s: t.cut(s, path_of(s, last(writes(s))), 50)),
    Clause("binary commit", ("TL-002", "COMPAT-003"), WRONG, lambda s: s.put(path_of(s, last(writes(s))), bytes(range(256)))),
    Clause("swapped commits", ("BF-009", "LF-035"), WRONG, _swap),
    Clause("completed before it was requested", ("TL-004",), WRONG, lambda s: _retime(s, last(writes(s)), "20200101000000000")),
    Clause("no completion time", ("TL-031",), WRONG, lambda s: _retime(s, last(writes(s)), "")),
    Clause("short completion time", ("TL-027", "TL-031"), WRONG, lambda s: _retime(s, last(writes(s)), "20991231")),
    Clause("cut inflight file", ("TL-002", "COMPAT-003"), COSMETIC, _cut_inflight),
    Clause("unknown action", ("TL-037",), LOST, lambda s: t.move(s, path_of(s, last(writes(s))), path_of(s, last(writes(s))) + "x")),
    Clause("an earlier write lost", ("OCC-008", "ARC-004", "TL-036", "RDR-008", "MDT-001"), WRONG, lambda s: _remove_action(s, 0)),
    Clause("a completed write without its requested file", ("TL-048",), COSMETIC,
           lambda s: s.delete(_state_file(s, State.REQUESTED))),
    Clause("a completed write without its inflight file", ("TL-048",), COSMETIC,
           lambda s: s.delete(_state_file(s, State.INFLIGHT))),
)  # fmt: skip


# Files.


def _retyped(table: pa.Table) -> pa.Table:
    name = first(f.name for f in table.schema if not f.name.startswith("_") and pa.types.is_string(f.type))
    number = table.column_names.index(name)
    return table.set_column(number, name, pa.array([[1]] * table.num_rows, pa.list_(pa.int32())))


FILES = (
    Clause("lost base file", ("TL-036",), LOST, lambda s: s.delete(last(latest_base_files(s)))),
    Clause("lost older base file", ("TL-036",), LOST, lambda s: s.delete(last(older_base_files(s)))),
    Clause("lost log file", ("TL-036",), LOST, lambda s: s.delete(last(latest_log_files(s)))),
    Clause("cut base file", ("TL-005",), LOST, lambda s: t.cut(s, last(latest_base_files(s)), 30)),
    Clause("empty base file", ("TL-005",), LOST, lambda s: s.put(last(latest_base_files(s)), b"")),
    Clause("longer base file", ("TL-005",), WRONG, lambda s: _append(s, last(latest_base_files(s)), b"PAR1")),
    Clause("base file of junk", ("BF-002",), LOST, lambda s: _junk(s, last(latest_base_files(s)))),
    Clause("wrong magic of a base file", ("BF-002",), LOST, lambda s: t.flip(s, last(latest_base_files(s)), -1)),
    Clause("cut log file", ("TL-005", "BLK-015"), LOST, lambda s: t.cut(s, last(latest_log_files(s)), 20)),
    Clause("empty log file", ("TL-005",), LOST, lambda s: s.put(last(latest_log_files(s)), b"")),
    Clause("log file of junk", ("BLK-015", "LF-012"), LOST, lambda s: _junk(s, last(latest_log_files(s)))),
    Clause("wrong magic of a block", ("BLK-015", "LF-012"), LOST, lambda s: t.flip(s, last(latest_log_files(s)), 0)),
    Clause("wrong length of a block", ("BLK-015", "LF-024", "LF-010"), LOST, lambda s: t.flip(s, last(latest_log_files(s)), 13)),
    Clause("wrong version of a block", ("LF-027",), WRONG, lambda s: t.flip(s, last(latest_log_files(s)), 17)),
    Clause("base file of another attempt", ("BF-007",), SPACE, lambda s: _copy(s, last(latest_base_files(s)), token="9-9-9")),
    Clause("base file of no write", ("RDR-008", "ARC-004"), SPACE,
           lambda s: _copy(s, last(latest_base_files(s)), instant="20991231000000000")),
    Clause("base file in another partition", ("TL-036",), LOST,
           lambda s: t.move(s, last(latest_base_files(s)), f"elsewhere/{split_path(last(latest_base_files(s)))[1]}")),
    Clause("a column of another type", ("LF-038",), WRONG, in_base(_retyped)),
    Clause("fewer rows", ("TL-007",), LOST, in_base(lambda table: table.slice(1))),
)  # fmt: skip


def _none() -> Any:
    raise NotPossible


def _append(storage: Storage, path: str, data: bytes) -> None:
    storage.put(path, storage.get(path) + data)


def _junk(storage: Storage, path: str) -> None:
    storage.put(path, (bytes(range(256)) * (len(storage.get(path)) // 256 + 1))[: len(storage.get(path))])


def _copy(storage: Storage, path: str, *, token: str | None = None, instant: str | None = None) -> None:
    folder, name = split_path(path)
    file_id, old_token, rest = name.split("_")
    old_instant, _, extension = rest.partition(".")
    copy = f"{file_id}_{token or old_token}_{instant or old_instant}.{extension}"
    storage.put(f"{folder}/{copy}".lstrip("/"), storage.get(path))


# Deep.


def _numbered_twice(table: pa.Table) -> pa.Table:
    if table.num_rows < 2:
        raise NotPossible
    for name in ("_hoodie_commit_seqno", "_hoodie_commit_time"):
        table = with_value(name, table.column(name)[0].as_py(), 1)(table)
    return table


def _other_commit_time(storage: Storage) -> None:
    """The first row of a latest base file has the time of an earlier write that completed."""
    times = sorted(one.requested for one in (*stored(storage).timeline.commits, *stored(storage).history.instants))

    def change(table: pa.Table) -> pa.Table:
        earlier = [time for time in times if time < table.column("_hoodie_commit_time")[0].as_py()]
        return with_value("_hoodie_commit_time", last(earlier))(table)

    in_base(change)(storage)


def _duplicate(storage: Storage) -> None:
    in_base(lambda table: pa.concat_tables([table, table.slice(0, 1)]))(storage)


DEEP = (
    Clause(
        "no meta columns",
        ("META-001",),
        WRONG,
        in_base(lambda table: table.drop_columns([c for c in table.column_names if c.startswith("_hoodie")][:1] or _none())),
    ),
    Clause("another key", ("META-007",), WRONG, in_base(with_value("_hoodie_record_key", "no such key"))),
    Clause("no key", ("META-007",), WRONG, in_base(with_value("_hoodie_record_key", None))),
    Clause("another partition path", ("META-009",), WRONG, in_base(with_value("_hoodie_partition_path", "no/such/path"))),
    Clause("another file name", ("META-010",), COSMETIC, in_base(with_value("_hoodie_file_name", "other.parquet"))),
    Clause("a commit that never was", ("META-003",), WRONG, in_base(with_value("_hoodie_commit_time", "20200101000000000"))),
    Clause("a commit in the future", ("META-003",), WRONG, in_base(with_value("_hoodie_commit_time", "20990101000000000"))),
    Clause("one sequence number twice", ("META-005",), WRONG, in_base(_numbered_twice)),
    Clause("a commit time of another write", ("META-003",), WRONG, _other_commit_time),
    Clause("a sequence number of no write", ("META-005",), WRONG,
           in_base(with_value("_hoodie_commit_seqno", "20200101000000000_0_0"))),
    Clause("no sequence number", ("META-005",), WRONG, in_base(with_value("_hoodie_commit_seqno", None))),
    Clause("no file name", ("META-010",), COSMETIC, in_base(with_value("_hoodie_file_name", None))),
    Clause("no key fields", ("PROP-007",), WRONG, properties(hoodie__table__recordkey__fields=None)),
    Clause("a row twice", ("PROP-017",), WRONG, _duplicate),
)  # fmt: skip


# History.


def _history(storage: Storage) -> tuple[str, str]:
    """A level file of the history and its manifest."""
    history = stored(storage).history
    file = first(history.manifest.files if history.manifest is not None else ())
    return f"{history.folder}/{file.name}", f"{history.folder}/manifest_{history.manifest.number}"  # type: ignore[union-attr]


def _change_rows(storage: Storage, change: Callable[[pa.Table], pa.Table]) -> None:
    """Change the rows of a level file, and its length in the manifest."""
    path, manifest = _history(storage)
    sink = pa.BufferOutputStream()
    pq.write_table(change(pq.read_table(pa.BufferReader(storage.get(path)))), sink)
    content = json.loads(storage.get(manifest))
    for file in content["files"]:
        if path.endswith(file["fileName"]):
            file["fileLen"] = sink.tell()
    storage.put(path, sink.getvalue().to_pybytes())
    storage.put(manifest, json.dumps(content).encode())


def _drop_archived_row(storage: Storage) -> None:
    """The last archived write whose files are still on storage is removed from the history."""
    instants = {file.name.instant for file in stored(storage).data_files.values()}

    def change(rows: pa.Table) -> pa.Table:
        number = last(n for n, time in enumerate(rows.column("instantTime").to_pylist()) if time in instants)
        return pa.concat_tables([rows.slice(0, number), rows.slice(number + 1)])

    _change_rows(storage, change)


def _complete_again(rows: pa.Table) -> pa.Table:
    """The last row is there a second time, with a later completion time."""
    row = rows.slice(rows.num_rows - 1)
    number = row.column_names.index("completionTime")
    later = pa.array([f"{int(row.column(number)[0].as_py()) + 1:017}"])
    return pa.concat_tables([rows, row.set_column(number, row.schema.field(number), later)])


HISTORY = (
    Clause("lost level file", ("LSM-012",), WRONG, lambda s: s.delete(_history(s)[0])),
    Clause("cut level file", ("LSM-011",), WRONG, lambda s: t.cut(s, _history(s)[0], 30)),
    Clause(
        "level file of junk", ("LSM-003", "LSM-011", "LSM-013", "LSM-017", "LSM-018"), WRONG, lambda s: _junk(s, _history(s)[0])
    ),
    Clause("cut manifest", ("LSM-010",), WRONG, lambda s: t.cut(s, _history(s)[1], 5)),
    Clause("lost manifest", ("LSM-009", "LSM-010"), WRONG, lambda s: s.delete(_history(s)[1])),
    Clause("archived again at another time", ("ARC-002",), WRONG, lambda s: _change_rows(s, _complete_again)),
    Clause("lost archived write", ("ARC-004", "LSM-010", "OCC-008"), WRONG, _drop_archived_row),
    Clause(
        "lost history",
        ("ARC-004", "LSM-007", "OCC-008"),
        WRONG,
        lambda s: [_history(s), [s.delete(i.path) for i in list(s.list(stored(s).history.folder))]],
    ),
)


TOPICS = {
    "properties": PROPERTIES, "layout": LAYOUT, "timeline": TIMELINE, "history": HISTORY, "files": FILES, "rows": DEEP,
    "metadata table": METADATA, "traces": TRACES, "results": RESULTS, "comparisons": COMPARED,
    "contradictions": CONTRADICTIONS,
}  # fmt: skip


def all_clauses() -> Iterator[Clause]:
    """All damages."""
    for topic in TOPICS.values():
        yield from topic


__all__ = ["LATER", "TOPICS", "Clause", "NotPossible", "all_clauses", "copied", "stored"]
