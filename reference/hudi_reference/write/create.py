"""The properties of a new table, and storing them."""

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, get_args

from hudi_reference.clock import Clock
from hudi_reference.errors import Misuse, TableExists
from hudi_reference.layout.merge_config import MODE_ONLY, MergeMode
from hudi_reference.layout.merge_settings import SETTINGS, MergeSettings, configure_merging
from hudi_reference.layout.properties import (
    LAYOUTS,
    META_FOLDER,
    NEWEST_VERSION,
    PROPERTIES_PATH,
    TABLE_VERSION,
    TableProperties,
)
from hudi_reference.layout.properties_writer import check_entries, write_properties
from hudi_reference.layout.stored_merging import DELETE_FIELD, DELETE_MARKER, with_delete_marker
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema, arrow_schema, field_names
from hudi_reference.schema.fields import type_at
from hudi_reference.storage import MARKERS, LocalStorage, ObjectExists, Storage
from hudi_reference.timeline.instants.times import format_time

#: The versions of new tables.
CREATED_VERSIONS = (TABLE_VERSION, NEWEST_VERSION)
#: Properties that every new table has.
_FIXED = {
    "hoodie.timeline.path": "timeline",
    "hoodie.timeline.history.path": "history",
    "hoodie.archivelog.folder": "archived",
    "hoodie.table.timeline.timezone": "UTC",
    "hoodie.datasource.write.drop.partition.columns": "false",
}


@implements("PROP-002", "PROP-005", "PROP-006", "PROP-010", "PROP-015", "PROP-018", "PROP-019", "PROP-022")
def identity_entries(name: str, database: str, table_type: str, schema: AvroSchema, version: int) -> dict[str, str]:
    """The properties that identify a new table and its format: version, names, type, and the schema at its creation.

    Raises Misuse for a version of which no tables are created.
    """
    if version not in CREATED_VERSIONS:
        raise Misuse("tables of this version are not created", rule="PROP-006", found=str(version),
                     expected=" or ".join(map(str, CREATED_VERSIONS)))  # fmt: skip
    return {
        **_FIXED,
        "hoodie.table.version": str(version),
        "hoodie.table.initial.version": str(version),
        "hoodie.timeline.layout.version": str(LAYOUTS[version]),
        "hoodie.table.name": name,
        "hoodie.database.name": database,
        "hoodie.table.type": table_type,
        "hoodie.table.create.schema": json.dumps(schema, separators=(",", ":")),
    }


@implements("PROP-006", "LAY-011")
def key_entries(record_key: Sequence[str], partition: Sequence[str], *, hive_style: bool, url_encode: bool) -> dict[str, str]:
    """The properties of key and partition fields."""
    return {
        **({"hoodie.table.recordkey.fields": ",".join(record_key)} if record_key else {}),
        **({"hoodie.table.partition.fields": ",".join(partition)} if partition else {}),
        "hoodie.table.keygenerator.type": _key_generator(record_key, partition),
        "hoodie.datasource.write.hive_style_partitioning": str(hive_style).lower(),
        "hoodie.datasource.write.partitionpath.urlencode": str(url_encode).lower(),
    }


@implements("MRG-020", "MRG-033", "MRG-034")
def merging_entries(
    mode: MergeMode | None, settings: Mapping[str, str], ordering: Sequence[str], version: int
) -> dict[str, str]:
    """The properties that say how the table merges: as the mode and the settings on merging decide. Raises Misuse."""
    _check_mode(mode)
    said = MergeSettings.from_options(settings)
    ordering = ordering or said.ordering
    merging = configure_merging(mode, said, ordering, version)
    if version >= MODE_ONLY:
        merging = with_delete_marker(merging, settings)
    return {**merging.entries(), **_ordering_entry(merging.ordering or ordering, version)}


def further_entries(properties: Mapping[str, str], version: int) -> dict[str, str]:
    """The other properties of a new table: those given, without settings on merging that version 9 stores in another way."""
    replaced = {*chain(*SETTINGS.values()), DELETE_FIELD, DELETE_MARKER} if version >= MODE_ONLY else ()
    return {key: value for key, value in properties.items() if key not in replaced}


def store_new_table(store: Storage, entries: Mapping[str, str], clock: Clock) -> TableProperties:
    """Store the properties file of a new table. Raises TableExists."""
    exists = TableExists(
        "there is a table already", rule="LAY-013", path=PROPERTIES_PATH, remedy="open it, or choose another path"
    )
    if store.list(META_FOLDER):
        raise exists
    check_entries(entries)
    if isinstance(store, LocalStorage):  # a deployed writer lists these folders, and fails without them
        store.make_folder(TableProperties(entries).timeline_folder)
        store.make_folder("/".join(MARKERS))
    try:
        return write_properties(store, entries, f"Properties saved on {format_time(clock.now())} UTC")
    except ObjectExists as error:
        raise exists from error


@implements("PROP-009", "PROP-020")
def _ordering_entry(ordering: Sequence[str], version: int) -> dict[str, str]:
    """The property with the ordering fields: several fields fit only under the newer of the two names."""
    if not ordering:
        return {}
    # ER-030: at version 8 a single field is stored under the name that every release of that version reads.
    is_older = len(ordering) == 1 and version == TABLE_VERSION
    return {"hoodie.table.precombine.field" if is_older else "hoodie.table.ordering.fields": ",".join(ordering)}


def _key_generator(record_key: Sequence[str], partition: Sequence[str]) -> str:
    if not partition:
        return "NON_PARTITION"
    return "SIMPLE" if len(partition) == 1 and len(record_key) <= 1 else "COMPLEX"


def check_fields(schema: AvroSchema, fields: Sequence[str]) -> None:
    """Check that the schema can be stored and has these fields, where `a.b` is field b of struct a.

    Raises Misuse, UnsupportedSchema.
    """
    kinds = arrow_schema(schema)
    for field in fields:
        if type_at(kinds, field) is None:
            raise Misuse(
                "a key, partition or ordering field is not in the schema", rule="PROP-007",
                expected=f"one of {', '.join(field_names(schema))}", found=field,
            )  # fmt: skip


def _check_mode(mode: Any) -> None:
    known = get_args(MergeMode)
    if mode is not None and mode not in known:
        raise Misuse("there is no such merge mode", rule="MRG-016", expected=" or ".join(known), found=str(mode))
