"""Whether the metadata table can be brought up to date, decided before an action changes anything."""

from hudi_reference.layout.metadata_settings import INFLIGHT
from hudi_reference.metadata.availability import usable_partitions
from hudi_reference.metadata.indexes.all import index_of, indexes_wanted
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.services.metadata_table.metadata_services import LIMIT, LIMIT_KEY
from hudi_reference.settings import number_setting


@implements("OCC-020", "PROP-001")
def check_metadata_table(table: Table) -> None:
    """Raises an error if the update of the metadata table would fail.

    Raises UnsupportedTableFeature for an index that users named, of a function that is not supported; Misuse for invalid
    settings, UnsupportedTableVersion and MalformedProperties for a metadata table that is not
    understood.
    """
    number_setting(table.options, LIMIT_KEY, int(LIMIT), least=1)
    for index in indexes_wanted(table, table.options):
        index.groups(table.options, 0)
    MetadataTable.for_table(table)
    properties = table.properties
    for name in (*usable_partitions(properties), *properties.fields(INFLIGHT)):
        if not table.hooks.unmaintained([name]):
            index_of(table, name)
