"""Damages that only a comparison of several files shows: what actions say that they did, against what is there."""

import io
import json
import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import validated_tables_samples as t
from clause_places_samples import (
    LOST,
    WRONG,
    Clause,
    NotPossible,
    change_record,
    entry,
    first,
    last,
    latest_log_files,
    properties,
    rewrite,
    stored,
    writes,
)

from hudi_reference.files.base_file import read_base_file
from hudi_reference.layout.metadata_settings import USABLE
from hudi_reference.layout.names import split_path
from hudi_reference.metadata.availability import PATH_KEY, definitions_path
from hudi_reference.query.plan import schema_of
from hudi_reference.schema.avro import field_names
from hudi_reference.storage import Storage
from hudi_reference.timeline.contents.actions import read_action, write_action
from hudi_reference.timeline.contents.metadata import CommitMetadata, WriteStat
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

Stat = dict[str, Any]


def _from_version_8(edit: Callable[[Storage], None]) -> Callable[[Storage], None]:
    """The damage in tables of version 8 and later: actions of version 6 do not tell it from what other writers may store."""

    def checked(storage: Storage) -> None:
        if stored(storage).properties.is_legacy:
            raise NotPossible
        edit(storage)

    return checked


def _change_stat(storage: Storage, path: str, change: Callable[[Stat], object]) -> None:
    """Change what the metadata of its write says of a file."""
    for instant in writes(storage):
        if path in stored(storage).commits[instant].paths:
            change_record(storage, instant, lambda record: [change(s) for s in t.stats_of(record) if s["path"] == path])


def _stats(storage: Storage, *operations: str) -> list[tuple[Instant, WriteStat]]:
    """The statistics of files on storage that writes of these operations stored; of all without operations."""
    table = stored(storage)
    return [
        (instant, stat)
        for instant, commit in table.commits.items()
        for stat in commit.stats
        if (not operations or commit.operation in operations) and stat.path in table.listing.files
    ]


def _lose_row(storage: Storage, path: str, row: int) -> None:
    """Store a base file without a row, and metadata that counts its rows."""
    number = read_base_file(storage, path).num_rows
    rewrite(storage, path, lambda rows: pa.concat_tables([rows.slice(0, row), rows.slice(row + 1)]))
    _change_stat(storage, path, lambda stat: stat.update(numWrites=number - 1))


def _lose_copied_row(storage: Storage) -> None:
    for instant, stat in reversed(_stats(storage, "UPSERT", "INSERT", "DELETE")):
        if stat.previous_base_file and stat.path.endswith(".parquet"):
            times = read_base_file(storage, stat.path).column("_hoodie_commit_time").to_pylist()
            copied = [row for row, time in enumerate(times) if time != instant.requested]
            if copied and len(times) > 1:
                _lose_row(storage, stat.path, copied[-1])
                return
    raise NotPossible


def _lose_clustered_row(storage: Storage) -> None:
    stats = (stat for _, stat in _stats(storage, "CLUSTER") if stat.path.endswith(".parquet") and stat.writes)
    _lose_row(storage, first(stats).path, 0)


def _unname_file(storage: Storage) -> None:
    """The metadata of a write lacks a base file with rows of the write, in a file group of which there is no other file."""
    stats = _stats(storage, "UPSERT", "INSERT", "BULK_INSERT")
    numbers = [stat.file_id for _, stat in stats]
    instant, path = first((i, s.path) for i, s in stats if numbers.count(s.file_id) == 1 and s.inserts and not s.is_log)

    def change(record: Any) -> None:
        for found in record["partitionToWriteStats"].values():
            found[:] = [one for one in found if one["path"] != path]

    if len(t.stats_of(_record(storage, instant))) < 2:
        raise NotPossible
    change_record(storage, instant, change)


def _record(storage: Storage, instant: Instant) -> Any:
    path = stored(storage).path_of(instant)
    return read_action(storage.get(path), path, instant)


def _count_another_row(storage: Storage) -> None:
    """Another update: without it a write of deletes alone would be as hudi-rs counts them."""
    path = last(latest_log_files(storage))
    for name in ("numWrites", "numUpdateWrites"):
        _change_stat(storage, path, lambda stat, name=name: stat.update({name: (stat[name] or 0) + 1}))


def _roll_over(storage: Storage) -> None:
    """A copy of a log file has the name of a second file of the same attempt."""
    path = last(one for one in latest_log_files(storage) if ".log.1_" in one)
    storage.put(path.replace(".log.1_", ".log.2_"), storage.get(path))


def _keep_group(*operations: str) -> Callable[[Storage], None]:
    """The metadata of an overwrite or deletion lacks one of the file groups that it replaced."""

    def edit(storage: Storage) -> None:
        table = stored(storage)

        def has_files(commit: CommitMetadata) -> bool:
            groups = {(file.partition, file.name.file_id) for file in table.data_files.values()}
            return any((partition, one) in groups for partition, ids in commit.replaced.items() for one in ids[:1])

        instant = first(i for i, c in table.commits.items() if c.operation in operations and has_files(c))

        def change(record: Any) -> None:
            for ids in record["partitionToReplaceFileIds"].values():
                del ids[:1]

        change_record(storage, instant, change)

    return edit


def _plan(change: Callable[[Any], object]) -> Callable[[Storage], None]:
    """Change the first entry of a pending compaction plan."""

    def edit(storage: Storage) -> None:
        table = stored(storage)
        plans = [i for i in table.timeline.pending if i.action == "compaction" and (table.plan_of(i) or {}).get("operations")]
        requested = Instant(first(plans).requested, "compaction", State.REQUESTED)
        record = _record(storage, requested)
        change(record["operations"][0])
        storage.put(table.path_of(requested), write_action(requested, record, bytes(16)))

    return edit


def _of_other_base_file(operation: Any) -> None:
    if not operation["dataFilePath"]:
        raise NotPossible
    operation["baseInstantTime"] = "20200101000000000"


def _lose_seen_write(storage: Storage, *, whole: bool = False) -> None:
    """The completed file, or all files, of the write that a clean names as the latest one are lost."""
    table = stored(storage)
    cleans = [one for one in table.timeline.completed if one.action == "clean"]
    requested = str((table.contents[last(cleans)].record or {}).get("lastCompletedCommitTimestamp"))
    write = first(one for one in writes(storage) if one.requested == requested)
    for file in table.state_files:
        if file.instant.requested == requested and (whole or file.instant == write):
            storage.delete(file.path)


def _forget_archived_parent(storage: Storage) -> None:
    """The history lacks a write on which another archived or active one is based."""
    table = stored(storage)
    parents = {stat.previous_instant for commit in table.owned.commits.values() for stat in commit.stats}
    file, actions = first(table.history.actions.items())
    kept = [not (one.instant.requested in parents and one.instant.requested > actions[0].instant.requested) for one in actions]
    if all(kept):
        raise NotPossible
    rows, out = pq.read_table(io.BytesIO(storage.get(f"{table.history.folder}/{file.name}"))), io.BytesIO()
    pq.write_table(rows.filter(pa.array(kept)), out)
    storage.put(f"{table.history.folder}/{file.name}", out.getvalue())
    path = f"{table.history.folder}/manifest_{table.history.manifest.number}"  # type: ignore[union-attr]
    manifest = json.loads(storage.get(path))
    for one in manifest["files"]:
        if one["fileName"] == file.name:
            one["fileLen"] = len(out.getvalue())
    storage.put(path, json.dumps(manifest).encode())


def _lose_ordering_fields(storage: Storage) -> None:
    table = stored(storage)
    if entry(storage, "hoodie.record.merge.mode") != "EVENT_TIME_ORDERING" or not latest_log_files(storage):
        raise NotPossible
    assert table.properties.ordering_fields
    properties(hoodie__table__ordering__fields=None, hoodie__table__precombine__field=None)(storage)


def _partition_by(name: str) -> Callable[[Storage], None]:
    """The table is partitioned by another column, `key` for the first column, or by any in a table without partitions."""

    def edit(storage: Storage) -> None:
        table = stored(storage)
        fields = table.properties.fields("hoodie.table.partition.fields")
        partitions = {file.partition for file in table.data_files.values()}
        if bool(fields) == (name == "nothing") or len(partitions) + (name == "nothing") < 2:
            raise NotPossible
        columns = field_names(schema_of(table.commits, table.properties) or {})
        t.change_properties(storage, {"hoodie.table.partition.fields": first(c for c in columns if c not in (*fields, ""))})

    return edit


def _change_definition(change: Callable[[dict[str, Any], str], object], kind: str = "secondary") -> Callable[[Storage], None]:
    """Change the definition of an index in use, which is a secondary one by default: `change` gets all definitions, and its name."""

    def edit(storage: Storage) -> None:
        written = entry(storage, PATH_KEY)
        path = definitions_path(written) if written else ""
        if path not in stored(storage).listing.files:
            raise NotPossible
        document = json.loads(storage.get(path))
        used = (entry(storage, USABLE) or "").split(",")
        name = first(one for one in document["indexDefinitions"] if one.startswith(kind) and one in used)
        change(document["indexDefinitions"], name)
        storage.put(path, json.dumps(document).encode())

    return edit


def _leave_out_numbers(storage: Storage) -> None:
    """The last file group of an index has a number that leaves others out: these are lost, and nothing names them."""
    logs = [path for path in t.paths(storage, ".hoodie/metadata/record_index/.record-index-", ".log.1_") if "%" not in path]
    folder, name = split_path(last(logs))
    start = len(".record-index-")
    number, rest = int(name[start : start + 4]), name[start + 4 :]
    storage.put(f"{folder}/.record-index-{number + 3:04}{rest}", storage.get(f"{folder}/{name}"))


def _other_metadata_version(storage: Storage) -> None:
    path = ".hoodie/metadata/.hoodie/hoodie.properties"
    if path not in stored(storage).listing.files:
        raise NotPossible
    version = b"8" if stored(storage).version == 9 else b"9"
    storage.put(path, re.sub(rb"(?m)^hoodie.table.version=.", b"hoodie.table.version=" + version, storage.get(path)))


def _lose_clustering_plan(storage: Storage) -> None:
    table = stored(storage)
    storage.put(table.path_of(first(i for i in table.contents if i.action == "clustering" and i.state is State.REQUESTED)), b"")


def _take_for_service(storage: Storage) -> None:
    table = stored(storage)
    write = last(i for i in writes(storage) if i.action == "deltacommit" and table.commits[i].operation == "UPSERT")
    change_record(storage, write, lambda record: record.update(operationType="COMPACT"))


RESULTS = (
    Clause("a rewritten base file without a copied row", ("TL-005",), LOST, _lose_copied_row),
    Clause("a clustering that lost a row", ("TL-011",), LOST, _lose_clustered_row),
    Clause("a file that its write does not name", ("TL-007", "TL-011"), LOST, _unname_file),
    Clause("a log file with fewer rows than counted", ("TL-007",), LOST, _from_version_8(_count_another_row)),
    Clause("a second log file of an attempt that no metadata names", ("LF-007",), WRONG, _from_version_8(_roll_over)),
    Clause("an overwrite that kept a file group", ("TL-039",), WRONG, _from_version_8(_keep_group("INSERT_OVERWRITE", "INSERT_OVERWRITE_TABLE"))),
    Clause("a deleted partition that kept a file group", ("TL-039",), WRONG, _from_version_8(_keep_group("DELETE_PARTITION"))),
    Clause("a plan of another file group", ("TL-015",), WRONG,
           _plan(lambda operation: operation.update(fileId="11111111-2222-3333-4444-555555555555-0"))),
    Clause("a plan of another base file", ("TL-015",), WRONG, _plan(_of_other_base_file)),
    Clause("a completed file lost that a clean saw", ("TL-052",), LOST, _from_version_8(_lose_seen_write)),
    Clause("a write lost that a clean saw", ("ARC-002",), LOST, _from_version_8(lambda s: _lose_seen_write(s, whole=True))),
    Clause("a parent of an archived write lost", ("OCC-008", "ARC-004", "LSM-010"), WRONG, _forget_archived_parent),
    Clause("event time without ordering fields", ("MRG-034",), WRONG, _lose_ordering_fields),
    Clause("partitions of another column", ("PROP-008",), WRONG, _from_version_8(_partition_by("other"))),
    Clause("partition fields of a table without partitions", ("PROP-008",), WRONG, _partition_by("nothing")),
    Clause("an index that lost file groups that nothing names", ("IDX-010",), WRONG, _leave_out_numbers),
    Clause("a metadata table of another version", ("COMPAT-009",), WRONG, _other_metadata_version),
    Clause("an empty plan of a clustering", ("TL-012",), WRONG, _lose_clustering_plan),
    Clause("a write that calls itself a compaction", ("TL-044",), WRONG, _take_for_service),
    Clause("an index of no column", ("PROP-014",), WRONG,
           _change_definition(lambda known, name: known[name].update(sourceFields=["nothing"]))),
    Clause("an index without columns", ("PROP-014",), WRONG,
           _change_definition(lambda known, name: known[name].update(sourceFields=[]))),
    Clause("a secondary index of a function", ("PROP-014",), WRONG,
           _change_definition(lambda known, name: known[name].update(indexFunction="lower"))),
    Clause("an expression index of an unknown type", ("PROP-014",), WRONG,
           _change_definition(lambda known, name: known[name].update(indexType="nothing"), "expr_index")),
    Clause("an expression index of an unknown function", ("PROP-014",), WRONG,
           _change_definition(lambda known, name: known[name].update(indexFunction="nothing"), "expr_index")),
    Clause("an index without a definition", ("LAY-016",), WRONG, _change_definition(lambda known, name: known.pop(name))),
)  # fmt: skip
