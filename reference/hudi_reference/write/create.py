"""The properties of a new table, and storing them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from hudi_reference.clock import Clock
from hudi_reference.errors import Misuse, TableExists
from hudi_reference.layout.merge_config import MergeMode
from hudi_reference.layout.merge_settings import MergeSettings, configure_merging
from hudi_reference.layout.properties import (
    META_FOLDER,
    PROPERTIES_PATH,
    TABLE_VERSION,
    TIMELINE_LAYOUT,
    TableProperties,
    write_properties,
)
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema, arrow_schema, field_names
from hudi_reference.storage import ObjectExists, Storage
from hudi_reference.timeline.instants.times import format_time

#: Properties that every new table has.
_FIXED = {
    "hoodie.table.version": str(TABLE_VERSION),
    "hoodie.table.initial.version": str(TABLE_VERSION),
    "hoodie.timeline.layout.version": str(TIMELINE_LAYOUT),
    "hoodie.timeline.path": "timeline",
    "hoodie.timeline.history.path": "history",
    "hoodie.archivelog.folder": "archived",
    "hoodie.table.timeline.timezone": "UTC",
    "hoodie.datasource.write.drop.partition.columns": "false",
}


@implements("PROP-002", "PROP-005", "PROP-006", "PROP-015")
def identity_entries(name: str, database: str, table_type: str, schema: AvroSchema) -> dict[str, str]:
    """The properties that identify a new table and its format: version, names, type, and the schema at its creation."""
    return {
        **_FIXED,
        "hoodie.table.name": name,
        "hoodie.database.name": database,
        "hoodie.table.type": table_type,
        "hoodie.table.create.schema": json.dumps(schema, separators=(",", ":")),
    }


@implements("PROP-006", "LAY-011")
def key_entries(
    record_key: Sequence[str], partition: Sequence[str], ordering: Sequence[str], *, hive_style: bool, url_encode: bool
) -> dict[str, str]:
    """The properties of key, partition and ordering fields."""
    return {
        **({"hoodie.table.recordkey.fields": ",".join(record_key)} if record_key else {}),
        **({"hoodie.table.partition.fields": ",".join(partition)} if partition else {}),
        **_ordering_entry(ordering),
        "hoodie.table.keygenerator.type": _key_generator(record_key, partition),
        "hoodie.datasource.write.hive_style_partitioning": str(hive_style).lower(),
        "hoodie.datasource.write.partitionpath.urlencode": str(url_encode).lower(),
    }


@implements("MRG-020", "MRG-033", "MRG-034")
def merging_entries(mode: MergeMode | None, settings: Mapping[str, str], ordering: Sequence[str]) -> dict[str, str]:
    """The properties that say how the table merges: as the mode and the settings on merging decide. Raises Misuse."""
    _check_mode(mode)
    merging = configure_merging(mode, MergeSettings.of(settings), ordering)
    return {
        "hoodie.record.merge.mode": merging.mode,
        "hoodie.record.merge.strategy.id": merging.strategy,
        "hoodie.compaction.payload.class": merging.payload,
    }


def store_new_table(store: Storage, entries: Mapping[str, str], clock: Clock) -> TableProperties:
    """Store the properties file of a new table. Raises TableExists."""
    exists = TableExists(
        "there is a table already", rule="LAY-013", path=PROPERTIES_PATH, remedy="open it, or choose another path"
    )
    if store.list(META_FOLDER):
        raise exists
    try:
        return write_properties(store, entries, f"Properties saved on {format_time(clock.now())} UTC")
    except ObjectExists as error:
        raise exists from error


def _ordering_entry(ordering: Sequence[str]) -> dict[str, str]:
    """The property with the ordering fields: several fields fit only under the newer of the two names."""
    if not ordering:
        return {}
    # ER-030: a single field is stored under the name that every release of version 8 reads.
    return {"hoodie.table.precombine.field" if len(ordering) == 1 else "hoodie.table.ordering.fields": ",".join(ordering)}


def _key_generator(record_key: Sequence[str], partition: Sequence[str]) -> str:
    if not partition:
        return "NON_PARTITION"
    return "SIMPLE" if len(partition) == 1 and len(record_key) <= 1 else "COMPLEX"


def check_fields(schema: AvroSchema, fields: Sequence[str]) -> None:
    """Check that the schema can be stored and has these fields. Raises Misuse, UnsupportedSchema."""
    arrow_schema(schema)
    for field in fields:
        if field not in field_names(schema):
            raise Misuse(
                "a key, partition or ordering field is not in the schema", rule="PROP-007",
                expected=f"one of {', '.join(field_names(schema))}", found=field,
            )  # fmt: skip


def _check_mode(mode: Any) -> None:
    known = get_args(MergeMode)
    if mode is not None and mode not in known:
        raise Misuse("there is no such merge mode", rule="MRG-016", expected=" or ".join(known), found=str(mode))
