"""Damages of what a table stores twice: settings, names of history files, entries of slices, results and versions of plans."""

import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import validated_tables_samples as t
from damages_samples import Damage
from timeline_damages_samples import _archived_clean, _rename_level_file, edit_history

from hudi_reference.storage import Storage

_ENTRIES = "statistics.entries"


def _set(**changes: str) -> Callable[[Storage], None]:
    return lambda storage: t.change_properties(storage, {key.replace("__", "."): value for key, value in changes.items()})


def _other_created_type(storage: Storage) -> None:
    """The table was created with an array in place of a number."""
    schema = json.loads(json.dumps(t.SCHEMA))
    next(one for one in schema["fields"] if one["name"] == "fare")["type"] = ["null", {"type": "array", "items": "string"}]
    t.change_properties(storage, {"hoodie.table.create.schema": json.dumps(schema)})


def _null(column: str, action: str) -> Callable[[pa.Table], pa.Table]:
    """A column of the archived rows without the value of the actions of a kind."""

    def change(rows: pa.Table) -> pa.Table:
        number, actions = rows.column_names.index(column), rows.column("action").to_pylist()
        values = [None if one == action else value for one, value in zip(actions, rows.column(column).to_pylist(), strict=True)]
        return rows.set_column(number, rows.schema.field(number), pa.array(values, rows.schema.field(number).type))

    return change


def _with_plan(rows: pa.Table) -> pa.Table:
    """The archived commits have a plan."""
    number = rows.column_names.index("plan")
    values = [b"plan" if one == "commit" else None for one in rows.column("action").to_pylist()]
    return rows.set_column(number, rows.schema.field(number), pa.array(values, rows.schema.field(number).type))


def _in_entry(change: Callable[[Any], object], number: int = -1) -> Callable[[Storage], None]:
    """Change the first entry of a delta commit."""

    def edit(storage: Storage) -> None:
        path = t.completed(storage, "deltacommit", number)
        t.change_record(storage, path, lambda record: change(t.stats_of(record)[0]))

    return edit


def _with_an_earlier_base_file(storage: Storage) -> None:
    """The entry of a log file after a compaction names the base file before it."""
    first = min(t.base_files(storage), key=lambda path: path.rpartition("_")[2])
    file_id = first.rpartition("/")[2].partition("_")[0]

    def change(record: Any) -> None:
        entry = next(one for one in t.stats_of(record) if one["fileId"] == file_id)
        entry["baseFile"] = first.rpartition("/")[2]

    t.change_record(storage, t.completed(storage, "deltacommit"), change)


def _version(action: str, state: str) -> Callable[[Storage], None]:
    """A plan or a result of a version that does not exist."""

    def edit(storage: Storage) -> None:
        path = t.completed(storage, action) if state == "completed" else t.paths(storage, f".{action}.requested")[-1]
        t.change_record(storage, path, lambda record: (record.get("clusteringPlan") or record).update(version=99))

    return edit


def _cluster_nothing(storage: Storage) -> None:
    """The clustering replaced its groups, and stored no file."""
    stored: list[str] = []

    def change(record: Any) -> None:
        stored.extend(one["path"] for one in t.stats_of(record))
        record["partitionToWriteStats"] = {}

    t.change_record(storage, t.completed(storage, "replacecommit"), change)
    for path in stored:
        storage.delete(path)


def _second_metafile(storage: Storage) -> None:
    """A partition metadata file in the format of base files, with another depth."""
    sink, empty = pa.BufferOutputStream(), pa.table({"_hoodie_record_key": pa.array([], pa.string())})
    pq.write_table(empty.replace_schema_metadata({"partitionDepth": "3", "commitTime": "20260921141321000"}), sink)
    storage.put("north/.hoodie_partition_metadata.parquet", sink.getvalue().to_pybytes())


REPEATED_DAMAGES = (
    Damage("two ordering fields", "settings.orderings", "PROP-009", t.copy_on_write,
           _set(hoodie__table__ordering__fields="fare", hoodie__table__precombine__field="city")),
    Damage("another type at the creation", "settings.created-schema", "LF-038", t.copy_on_write, _other_created_type, (), "cosmetic"),
    Damage("a version of the creation that is not there", "properties.initial-version", "PROP-006", t.copy_on_write,
           _set(hoodie__table__initial__version="17")),
    Damage("minimum too low", "history.file-names", "LSM-014", t.archived, _rename_level_file("20200101000000000", None), (), "cosmetic"),
    Damage("maximum too high", "history.file-names", "LSM-015", t.archived, _rename_level_file(None, "20991231000000000"), (),
           "cosmetic", says="of which it has no action"),
    Damage("a clean without its record", "history.rows", "LSM-020", _archived_clean, edit_history(_null("metadata", "clean")),
           ("RDR-008", "TL-036", "MDT-008"), "cosmetic"),
    Damage("a plan of a write", "history.rows", "LSM-021", t.archived, edit_history(_with_plan), (), "cosmetic"),
    Damage("log files of another group", _ENTRIES, "TL-005", t.merge_on_read,
           _in_entry(lambda stat: stat.update(logFiles=[*stat["logFiles"], stat["logFiles"][0].replace("-", "0")]))),
    Damage("an offset in a new file", _ENTRIES, "TL-005", t.merge_on_read, _in_entry(lambda stat: stat.update(logOffset=7))),
    Damage("an earlier base file", _ENTRIES, "TL-005", t.compacted, _with_an_earlier_base_file),
    Damage("a plan of another version", "plans.versions", "TL-015", lambda: t.with_plan("compaction"),
           _version("compaction", "requested")),
    Damage("a clustering plan of another version", "plans.versions", "TL-012", lambda: t.with_plan("clustering"),
           _version("clustering", "requested")),
    Damage("a clean of another version", "plans.versions", "TL-014", t.cleaned, _version("clean", "completed")),
    Damage("a savepoint of another version", "plans.versions", "TL-022", t.cleaned, _version("savepoint", "completed")),
    Damage("a clustering without files", "results.lost-clusterings", "CLU-007", t.clustered, _cluster_nothing, (), "data-lost"),
    Damage("a second partition metadata file", "layout.partition-metadata", "LAY-003", t.copy_on_write, _second_metafile),
    Damage("a second partition metadata file of junk", "layout.partition-metadata", "LAY-003", t.copy_on_write,
           lambda s: s.put("north/.hoodie_partition_metadata.parquet", b"junk")),
    Damage("a second partition metadata file with a damaged footer", "layout.partition-metadata", "LAY-003", t.copy_on_write,
           lambda s: s.put("north/.hoodie_partition_metadata.parquet", b"PAR1\xff\xff\xff\xff\x04\0\0\0PAR1")),
)  # fmt: skip
