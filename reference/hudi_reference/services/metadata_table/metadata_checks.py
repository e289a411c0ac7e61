"""Whether the metadata table can be brought up to date, decided before an action changes anything."""

from collections.abc import Collection

from hudi_reference.errors import UnsupportedTableFeature
from hudi_reference.layout.metadata_settings import INFLIGHT
from hudi_reference.layout.properties import PROPERTIES_PATH
from hudi_reference.metadata.availability import METADATA_FOLDER, usable_partitions
from hudi_reference.metadata.indexes.all import index_of, indexes_wanted
from hudi_reference.metadata.indexes.bloom_filters import BLOOM_FILTERS
from hudi_reference.metadata.indexes.index import Index
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.services.metadata_table.metadata_services import LIMIT, LIMIT_KEY
from hudi_reference.settings import number_setting
from hudi_reference.timeline.instants.version_6 import unfinished


def check_possible(table: Table, new: Collection[Index]) -> None:
    """Raises UnsupportedTableFeature for a new index of bloom filters of files that have none."""
    if BLOOM_FILTERS in new and not table.properties.populates_meta_fields:
        raise UnsupportedTableFeature(
            "base files without meta columns have no bloom filters", rule="IDX-002", path=PROPERTIES_PATH,
            expected="hoodie.populate.meta.fields=true", found="false", remedy="leave the index of bloom filters switched off",
        )  # fmt: skip


@implements("OCC-020", "PROP-001")
def check_metadata_table(table: Table) -> None:
    """Raises an error if the update of the metadata table would fail.

    Raises UnsupportedTableFeature for an index of a function that is not supported, and for one that the table cannot have;
    Misuse for invalid settings; UnsupportedTableVersion and MalformedProperties for a metadata table that is not understood;
    UnfinishedMigration for one of version 6.
    """
    number_setting(table.options, LIMIT_KEY, int(LIMIT), least=1)
    wanted = indexes_wanted(table, table.options)
    for index in wanted:
        index.groups(table.options, 0)
    metadata = MetadataTable.for_table(table)
    if metadata is not None and metadata.properties.is_legacy:
        raise unfinished(f"{METADATA_FOLDER}/{PROPERTIES_PATH}", table.properties)
    properties = table.properties
    present = (*usable_partitions(properties), *properties.fields(INFLIGHT))
    check_possible(table, [one for one in wanted if one.partition not in present])
    for name in present:
        if not table.hooks.unmaintained([name]):
            index_of(table, name)
