"""Damages that another part of the table contradicts, in tables of any writer."""

from collections.abc import Callable
from typing import Any

import validated_tables_samples as t
from clause_places_samples import COSMETIC, WRONG, Clause, NotPossible, change_record, entry, first, last, stored, writes

from hudi_reference.layout.metadata_settings import USABLE
from hudi_reference.layout.properties import PROPERTIES_PATH
from hudi_reference.storage import Storage
from hudi_reference.timeline.instants.instant import Instant


def _another_type(storage: Storage) -> None:
    other = {"COPY_ON_WRITE": "MERGE_ON_READ", "MERGE_ON_READ": "COPY_ON_WRITE"}[entry(storage, "hoodie.table.type") or ""]
    storage.put(PROPERTIES_PATH, f"hoodie.table.type={other}\n".encode() + storage.get(PROPERTIES_PATH))


def _in_write(change: Callable[[Any], object]) -> Callable[[Storage], None]:
    """Change the metadata of the last write that is no service."""

    def edit(storage: Storage) -> None:
        table = stored(storage)
        change_record(storage, last(i for i in writes(storage) if not table.commits[i].is_service), change)

    return edit


def _replacing(storage: Storage) -> Instant:
    """The last action that replaced file groups and stored files."""
    found: Instant = last(i for i, commit in stored(storage).commits.items() if commit.replaced and commit.paths)
    return found


def _replace_own_group(storage: Storage) -> None:
    def change(record: Any) -> None:
        partition, stat = first((key, one) for key, stats in record["partitionToWriteStats"].items() for one in stats or ())
        record["partitionToReplaceFileIds"].setdefault(partition, []).append(stat["fileId"])

    change_record(storage, _replacing(storage), change)


def _replace_elsewhere(storage: Storage) -> None:
    def change(record: Any) -> None:
        groups = record["partitionToReplaceFileIds"]
        groups["elsewhere"] = groups.pop(first(sorted(groups)))

    change_record(storage, last(i for i, commit in stored(storage).commits.items() if commit.replaced), change)


def _complete_late(storage: Storage) -> None:
    if stored(storage).properties.is_legacy:
        raise NotPossible
    path = stored(storage).path_of(last(writes(storage)))
    t.move(storage, path, f"{path.partition('_')[0]}_20991231000000000{path[path.rindex('.') :]}")


def _empty_savepoint(storage: Storage) -> None:
    savepoint = last(one for one in stored(storage).timeline.completed if one.action == "savepoint")
    change_record(storage, savepoint, lambda record: record.update(partitionMetadata={}))


def _other_target(storage: Storage) -> None:
    rollback = last(one for one in stored(storage).timeline.completed if one.action == "rollback")
    change_record(storage, rollback, lambda record: record.update(commitsRollback=["20200101000000000"]))


def _empty_index(storage: Storage) -> None:
    usable = entry(storage, USABLE)
    if not usable:
        raise NotPossible
    storage.put(".hoodie/metadata/another/.hoodie_partition_metadata", b"commitTime=1\npartitionDepth=1\n")
    t.change_properties(storage, {USABLE: f"{usable},another"})


CONTRADICTIONS = (
    Clause("a property with two values", ("PROP-001",), WRONG, _another_type),
    Clause("an unknown operation", ("TL-045",), WRONG, _in_write(lambda record: record.update(operationType="MOON"))),
    Clause("a write that says that it compacted", ("TYP-011",), WRONG, _in_write(lambda record: record.update(compacted=True))),
    Clause("a write that replaced its own group", ("TL-010",), WRONG, _replace_own_group),
    Clause("groups replaced in another partition", ("TL-039",), WRONG, _replace_elsewhere),
    Clause("completed in the future", ("TT-005",), WRONG, _complete_late),
    Clause("a savepoint without files", ("TL-021",), COSMETIC, _empty_savepoint),
    Clause("a rollback of another write", ("TL-020",), COSMETIC, _other_target),
    Clause("an index in use without file groups", ("PROP-012",), WRONG, _empty_index),
)
