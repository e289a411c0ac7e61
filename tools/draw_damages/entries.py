"""Damages of the metadata table: an entry is removed, or has the payload of another one."""

import random

from tools.draw_damages.answers import URI
from tools.draw_damages.drawn import Drawn, NotPossible

from hudi_conformance.validator.stored.table import load_table
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.metadata.availability import METADATA_FOLDER
from hudi_reference.metadata.partitions import IndexGroups
from hudi_reference.metadata.records import MetadataRecord
from hudi_reference.metadata.schema import SCHEMA as METADATA_SCHEMA
from hudi_reference.metadata.writer import Entries, encode_log_file
from hudi_reference.storage import MemoryStorage


def change_entry(draw: random.Random, storage: MemoryStorage) -> Drawn:
    """Remove an entry of the metadata table, give it the payload of another one, or change one field of it."""
    snapshot = load_table(URI, storage=storage).opened.indexes
    if snapshot is None:
        raise NotPossible
    index = draw.choice(sorted(snapshot.usable))
    slices = {one.file_id: one for one in snapshot.slices(index)}
    records = {key: one for found in slices.values() for key, one in snapshot.metadata.records_of_slice(found).items()}
    if not records or not all(one.log_files for one in slices.values()):
        raise NotPossible
    key = draw.choice(sorted(records))
    how = draw.choice(("remove", "other", "other"))
    others = [one for one in records.values() if one.payload != records[key].payload]
    added: list[MetadataRecord] = []
    if how == "other":
        if not others:
            raise NotPossible
        added = [MetadataRecord(key, draw.choice(others).payload)]
    groups = IndexGroups.from_ids(slices)
    for group, part in Entries(added, [key] if how == "remove" else []).in_groups(groups).items():
        path = f"{METADATA_FOLDER}/{slices[group].path(slices[group].log_files[-1])}"
        instant = next(iter(read_log_file(storage, path))).instant
        storage.put(path, storage.get(path) + encode_log_file(index, instant, part, METADATA_SCHEMA))
    return Drawn(f"entry {how}", f"{index}: {key!r}")
