"""Damages that the comparison of actions shows: completion times of other actions, and the files of the write itself."""

import json
from collections.abc import Callable
from typing import Any

import validated_tables_samples as t
from clause_places_samples import (
    COSMETIC,
    SPACE,
    WRONG,
    Clause,
    NotPossible,
    change_record,
    entry,
    first,
    last,
    path_of,
    stored,
    writes,
)

from hudi_reference.layout.metadata_settings import USABLE
from hudi_reference.layout.names import LogFileName, parse_data_file_name
from hudi_reference.schema.avro import META_COLUMNS
from hudi_reference.storage import Storage
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

Schema = dict[str, Any]


def _retime(storage: Storage, instant: Instant, completion: int) -> None:
    """Give a completed action another completion time."""
    if stored(storage).opened.had_version_6:
        raise NotPossible
    path = path_of(storage, instant)
    t.move(storage, path, path.replace(f"_{instant.completion}.", f"_{completion:017}."))


def _complete_after(storage: Storage, write: Instant, other: Instant) -> None:
    _retime(storage, write, int(other.completion or 0) + 1)


def _after_its_child(storage: Storage) -> None:
    table = stored(storage)
    known = {one.requested: one for one in writes(storage) if not table.commits[one].is_service}
    parent, child = first(
        (known[stat.previous_instant], instant)
        for instant in reversed(known.values())
        for stat in table.commits[instant].stats
        if stat.previous_instant in known
    )
    _complete_after(storage, parent, child)


def _after_a_later_log(storage: Storage) -> None:
    """A write completed after one that wrote a later log file to the same slice; the metadata names the earlier one."""
    table = stored(storage)
    known = {one.requested: one for one in writes(storage)}
    for instant, commit in table.commits.items():
        for stats in (commit.record.get("partitionToWriteStats") or {}).values():
            for stat in stats or ():
                names = map(parse_data_file_name, stat.get("logFiles") or ())
                earlier = [one.instant for one in names if isinstance(one, LogFileName) and one.instant != instant.requested]
                if earlier and earlier[0] in known and stat["prevCommit"] != earlier[0]:
                    _complete_after(storage, known[earlier[0]], instant)
                    return
    raise NotPossible


def _after_its_savepoint(storage: Storage) -> None:
    done = {one.requested: one for one in writes(storage)}
    savepoint = first(one for one in stored(storage).timeline.completed if one.action == "savepoint" and one.requested in done)
    _complete_after(storage, done[savepoint.requested], savepoint)


def _after_a_clean_that_saw_it(storage: Storage) -> None:
    table = stored(storage)
    done = {one.requested: one for one in writes(storage)}
    for clean in reversed([one for one in table.timeline.completed if one.action == "clean"]):
        seen = str((table.contents[clean].record or {}).get("lastCompletedCommitTimestamp"))
        if seen in done:
            _complete_after(storage, done[seen], clean)
            return
    raise NotPossible


def _after_its_replacement(storage: Storage) -> None:
    table = stored(storage)
    done = writes(storage)
    for replacing, commit in table.commits.items():
        for partition, ids in commit.replaced.items():
            creators = [w for w in done if any((s.partition, s.file_id) == (partition, ids[0]) for s in table.commits[w].stats)]
            if ids and len(creators) == 1 and creators[0].requested < replacing.requested:
                _complete_after(storage, creators[0], replacing)
                return
    raise NotPossible


def _after_a_plan(storage: Storage) -> None:
    """A write completed after the plan of a compaction that has its log file."""
    table = stored(storage)
    done = {one.requested: one for one in writes(storage)}
    for instant, content in table.contents.items():
        if instant.action == "compaction" and content.record is not None:
            paths = [path for one in content.record["operations"] for path in one["deltaFilePaths"] or ()]
            names = (parse_data_file_name(path.rpartition("/")[2]) for path in paths)
            planned = [done[name.instant] for name in names if name is not None and name.instant in done]
            if planned:
                _retime(storage, planned[-1], int(instant.requested) + 1)
                return
    raise NotPossible


def _updates(storage: Storage) -> list[tuple[int, Instant]]:
    """Completed writes with the completion time of their update of the metadata table."""
    inside = stored(storage).metadata_table
    done = {one.requested: one for one in writes(storage)}
    found = () if inside is None else inside.commits
    return [(int(one.completion or 0), done[one.requested]) for one in found if one.requested in done]


def _before_its_update(storage: Storage) -> None:
    updated, write = last(_updates(storage))
    if int(write.requested) + 1 >= updated:
        raise NotPossible
    _retime(storage, write, int(write.requested) + 1)


def _after_another_update(storage: Storage) -> None:
    found = _updates(storage)
    if len(found) < 2:
        raise NotPossible
    _complete_after(storage, found[-2][1], found[-1][1])


TIMES = (
    Clause("a write completed after one that was based on it", ("TT-004",), WRONG, _after_its_child),
    Clause("a write completed after a later log file", ("TT-004",), WRONG, _after_a_later_log),
    Clause("a write completed after its savepoint", ("TT-004",), WRONG, _after_its_savepoint),
    Clause("a write completed after a clean that saw it", ("TT-004",), WRONG, _after_a_clean_that_saw_it),
    Clause("a write completed after its file group was replaced", ("TT-004",), WRONG, _after_its_replacement),
    Clause("a write completed after a plan that has its log file", ("CMP-003",), WRONG, _after_a_plan),
    Clause("a write completed before its update of the metadata table", ("TL-032",), WRONG, _before_its_update),
    Clause("a write completed after a later update of the metadata table", ("OCC-022",), WRONG, _after_another_update),
)


def _change_schema(storage: Storage, write: Instant, change: Callable[[Schema], object]) -> None:
    schema = json.loads(stored(storage).commits[write].schema or "null")
    if schema is None:
        raise NotPossible
    change(schema)
    change_record(storage, write, lambda record: record["extraMetadata"].update(schema=json.dumps(schema)))


def _free_column(storage: Storage, schema: Schema) -> Schema:
    """A column that no property names."""
    used = set(",".join(stored(storage).entries.values()).split(","))
    names = {*META_COLUMNS, "_hoodie_operation"}
    found: Schema = last(one for one in schema["fields"] if one["name"] not in names and one["name"] not in used)
    return found


def _in_schema_of(number: int, change: Callable[[Storage, Schema], object]) -> Callable[[Storage], None]:
    """Change the schema in the metadata of a write whose files are on storage: 0 is the first, -1 the last one."""

    def edit(storage: Storage) -> None:
        table = stored(storage)
        found = [
            one for one in writes(storage)
            if table.commits[one].operation in ("UPSERT", "INSERT", "BULK_INSERT")
            and any(path in table.listing.files for path in table.commits[one].paths)
        ]  # fmt: skip
        if len(found) < 2:
            raise NotPossible
        _change_schema(storage, found[number], lambda schema: change(storage, schema))

    return edit


def _lose_column(storage: Storage, schema: Schema) -> None:
    schema["fields"].remove(_free_column(storage, schema))


def _rename_column(storage: Storage, schema: Schema) -> None:
    _free_column(storage, schema)["name"] = "another_name"


def _type_column(kind: Any) -> Callable[[Storage, Schema], None]:
    def change(storage: Storage, schema: Schema) -> None:
        field = _free_column(storage, schema)
        field["type"], field["default"] = ["null", kind], None

    return change


def _add_column(storage: Storage, schema: Schema) -> None:
    schema["fields"].append({"name": "another_name", "type": ["null", "long"], "default": None})


SCHEMAS = (
    Clause("the last schema lost a column", ("LF-038",), WRONG, _in_schema_of(-1, _lose_column)),
    Clause("an earlier schema lost a column", ("LF-038",), WRONG, _in_schema_of(0, _lose_column)),
    Clause("the last schema renamed a column", ("LF-038",), WRONG, _in_schema_of(-1, _rename_column)),
    Clause("an earlier schema has another type", ("LF-038",), WRONG, _in_schema_of(0, _type_column("boolean"))),
    Clause("the first schema has another column", ("LF-038",), COSMETIC, _in_schema_of(0, _add_column)),
)


def _unname_partitions(storage: Storage) -> None:
    table = stored(storage)
    deleting = last(
        one for one, commit in table.commits.items()
        if commit.operation == "DELETE_PARTITION" and any(
            file.partition in commit.replaced and file.name.instant < one.requested for file in table.data_files.values()
        )
    )  # fmt: skip
    if table.properties.is_legacy:
        raise NotPossible
    change_record(storage, deleting, lambda record: record.update(partitionToReplaceFileIds={}))


def _lose_schema(storage: Storage) -> None:
    change_record(storage, last(writes(storage)), lambda record: record.update(extraMetadata={}))


def _call(wanted: str, other: str) -> Callable[[Storage], None]:
    """The last action of an operation says that it was another one."""

    def edit(storage: Storage) -> None:
        table = stored(storage)
        asked = {file.instant.requested for file in table.state_files if file.instant.state is State.REQUESTED}
        if table.opened.had_version_6:
            raise NotPossible
        found = last(i for i, commit in table.commits.items() if commit.operation == wanted and i.requested in asked)
        change_record(storage, found, lambda record: record.update(operationType=other))

    return edit


def _drop_partition_columns(storage: Storage) -> None:
    if not entry(storage, "hoodie.table.partition.fields"):
        raise NotPossible
    t.change_properties(storage, {"hoodie.datasource.write.drop.partition.columns": "true"})


def _to_simple_keys(storage: Storage) -> None:
    if not entry(storage, "hoodie.table.partition.fields"):
        raise NotPossible
    t.change_properties(storage, {"hoodie.table.keygenerator.type": "NON_PARTITION", "hoodie.table.keygenerator.class": None})


def _unlist_index(storage: Storage) -> None:
    listed = (entry(storage, USABLE) or "").split(",")
    if "column_stats" not in listed:
        raise NotPossible
    listed.remove("column_stats")
    t.change_properties(storage, {USABLE: ",".join(listed)})


def _change_metadata_table(storage: Storage) -> None:
    path = ".hoodie/metadata/.hoodie/hoodie.properties"
    if path not in stored(storage).listing.files:
        raise NotPossible
    text = storage.get(path)
    storage.put(path, text.replace(b"HoodieMetadataPayload", b"AnotherPayload"))


def _flip_index_file(storage: Storage) -> None:
    """A byte of the first block of an HFile with checksums; Apache Hudi 1.2.0 writes none."""
    files = [path for path in t.paths(storage, ".hoodie/metadata/", ".hfile") if not path.startswith(".hoodie/metadata/files/")]
    t.flip(storage, last(path for path in files if storage.get(path)[24]), 60)


ROLES = (
    Clause("a compaction that calls itself a write", ("TL-044",), WRONG, _call("COMPACT", "UPSERT")),
    Clause("a clustering that calls itself an overwrite", ("TL-043",), WRONG, _call("CLUSTER", "INSERT_OVERWRITE")),
    Clause("an overwrite that calls itself a clustering", ("TL-043",), WRONG, _call("INSERT_OVERWRITE", "CLUSTER")),
    Clause("a write without a schema", ("LF-038",), COSMETIC, _lose_schema),
    Clause("partition columns that are said to be dropped", ("LAY-018",), COSMETIC, _drop_partition_columns),
    Clause("a key generator without partitions", ("PROP-001",), WRONG, _to_simple_keys),
    Clause(
        "meta columns that are said to be empty",
        ("PROP-001",),
        WRONG,
        lambda s: t.change_properties(s, {"hoodie.populate.meta.fields": "false"}),
    ),
    Clause("an index that no property lists", ("PROP-013",), SPACE, _unlist_index),
    Clause("a metadata table with another payload", ("MDT-002",), WRONG, _change_metadata_table),
)


COMPARED = (
    *ROLES,
    *TIMES,
    *SCHEMAS,
    Clause("damaged base file of an index with checksums", ("BF-002",), WRONG, _flip_index_file),
    Clause("a deletion of partitions that names none", ("TL-039", "MDT-007"), WRONG, _unname_partitions),
)
