"""Damages of properties whose consequence depends on other parts of the table, of partition styles, and of the listing of files."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import deep_damage_samples as d
import validated_tables_samples as t
from damages_samples import Damage

from hudi_reference import create_table
from hudi_reference.clock import ManualClock
from hudi_reference.ids import RandomIds
from hudi_reference.layout.properties import BACKUP_PATH, PROPERTIES_PATH
from hudi_reference.metadata.records import FileInfo, MetadataRecord
from hudi_reference.storage import MemoryStorage, Storage

_HIVE = "hoodie.datasource.write.hive_style_partitioning"
_MODE = "hoodie.record.merge.mode"
_STATISTICS = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "true"}
_PAYLOADS = "org.apache.hudi.common.model.debezium"


def _set(**changes: str | None) -> Callable[[Storage], None]:
    return lambda storage: t.change_properties(storage, {key.replace("__", "."): one for key, one in changes.items()})


def of_hive() -> Storage:
    """The folders of partitions have the names of the fields."""
    return t.changed("COPY_ON_WRITE", **{_HIVE: "true"})


def of_several_formats() -> Storage:
    """Base files may have other formats than that of the table."""
    storage = t.copy_on_write()
    several = "hoodie.table.multiple.base.file.formats.enable"
    t.change_properties(storage, {several: "true", "hoodie.table.base.file.format": "ORC"})
    return storage


def without_partitions() -> Storage:
    """A metadata table lists the files in the base path of a table without partitions."""
    table = create_table(
        "memory:///sample", name="sample", schema=t.SCHEMA, record_key=["id"], table_type="MERGE_ON_READ",
        storage=MemoryStorage(), clock=ManualClock(t.START), ids=RandomIds(), options=_STATISTICS,
    )  # fmt: skip
    for fare in range(2):
        table.upsert(t.rows(1, 2, fare=fare))
    return table.storage


def with_several_first_writes() -> Storage:
    """Two partitions of a metadata table were made at the same time."""
    storage = t.merge_on_read(**_STATISTICS)
    first, second, *_ = t.paths(storage, ".hoodie/metadata/.hoodie/timeline/000", "_", ".deltacommit")
    t.move(storage, second, second.partition("_")[0] + "_" + first.partition("_")[2])
    return storage


def _keep_the_backup_alone(storage: Storage) -> None:
    t.move(storage, PROPERTIES_PATH, BACKUP_PATH)


def _cut_beside_the_backup(storage: Storage) -> None:
    """The file has lost its checksum and another entry, and the backup is whole."""
    storage.put(BACKUP_PATH, storage.get(PROPERTIES_PATH))
    lost = {"hoodie.table.checksum": None, "hoodie.table.partition.fields": None}
    t.change_properties(storage, lost, checksum=False)


def _control_character_in_the_backup(storage: Storage) -> None:
    storage.put(BACKUP_PATH, storage.get(PROPERTIES_PATH) + b"hoodie.x=a\x01b\n")


def _store_as_orc(storage: Storage) -> None:
    """The name of a base file says that it has another format than that of the table."""
    path = t.base_files(storage)[-1]
    other = path.replace(".parquet", ".orc")
    t.move(storage, path, other)

    def change(record: Any) -> None:
        next(one for one in t.stats_of(record) if one["path"] == path)["path"] = other

    t.change_record(storage, t.completed(storage, "commit"), change)


def _list_a_file(name: str) -> Callable[[Storage], None]:
    """The listing of files has one more."""

    def edit(storage: Storage) -> None:
        payload: Any = d.entries_of(storage, "files")["north"].payload
        more = replace(payload, files={**payload.files, name: FileInfo(7)})
        d.change_index(storage, "files", [MetadataRecord("north", more)])

    return edit


def _list_a_partition(storage: Storage) -> None:
    key = "__all_partitions__"
    payload: Any = d.entries_of(storage, "files")[key].payload
    more = replace(payload, partitions={**payload.partitions, "west": FileInfo(0)})
    d.change_index(storage, "files", [MetadataRecord(key, more)])


PROPERTY_DAMAGES = (
    Damage("only the backup", "properties.file", "LAY-013", t.copy_on_write, _keep_the_backup_alone, severity="cosmetic",
           says="Readers use the backup until the next update restores the file."),
    Damage("a cut file beside its backup", "properties.file", "PROP-011", t.copy_on_write, _cut_beside_the_backup,
           severity="cosmetic", says="Readers use the backup"),
    Damage("a control character in the backup", "properties.characters", "PROP-011", t.copy_on_write,
           _control_character_in_the_backup, severity="cosmetic"),
    Damage("half a schema of the creation of an empty table", "properties.create-schema", "LF-038", t.empty,
           _set(hoodie__table__create__schema="{"), severity="wrong-answers"),
    Damage("an index in use and not the listing", "properties.metadata-lists", "PROP-012", lambda: t.copy_on_write(**_STATISTICS),
           _set(hoodie__table__metadata__partitions="column_stats"), ("PROP-013", "MDT-014"), "cosmetic"),
    Damage("a class without its ordering fields", "properties.made-merging", "PROP-025", t.of_version_9,
           _set(hoodie__table__legacy__payload__class=f"{_PAYLOADS}.MySqlDebeziumAvroPayload"),
           says="set hoodie.table.ordering.fields to"),
    Damage("an ordering field that is no column, in event-time order", "settings.columns", "PROP-009", t.merge_on_read,
           lambda s: t.change_properties(s, {_MODE: "EVENT_TIME_ORDERING", "hoodie.table.precombine.field": "nothing"}),
           ("MRG-021",)),
    Damage("folders with names of fields", "settings.folders", "LAY-018", of_hive, _set(**{_HIVE: "false"}),
           says="folders without names of fields"),
    Damage("a base file of another format", "settings.formats", "BF-010", t.copy_on_write, _store_as_orc, ("BF-002",), "cosmetic"),
    Damage("a listed file without a name of Hudi's", "metadata.files", "MDT-008", t.with_metadata_table, _list_a_file("part-1"),
           ("TL-005",)),
    Damage("a listed file of no completed write", "metadata.files", "MDT-008", t.with_metadata_table,
           _list_a_file(f"f-0_0-0-0_{'9' * 17}.parquet"), ("TL-005",), "cosmetic", "its write is not completed"),
    Damage("a listed partition that never was", "metadata.files", "MDT-007", t.with_metadata_table, _list_a_partition,
           ("TL-005",), "cosmetic"),
)  # fmt: skip

SOUND_PROPERTIES = {
    "folders with names of fields": of_hive,
    "base files of several formats": of_several_formats,
    "no partitions": without_partitions,
    "several first writes of a metadata table": with_several_first_writes,
}
