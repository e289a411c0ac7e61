"""The indexes that are maintained, by their partitions of the metadata table.

files            the names and sizes of all committed files by partition, and the list of partitions
record_index     the file group that holds a record key
bloom_filters    the bloom filter of each base file, as it is in its footer
"""

from collections.abc import Mapping

from hudi_reference.errors import UnsupportedTableFeature
from hudi_reference.metadata.indexes.bloom_filters import BLOOM_FILTERS
from hudi_reference.metadata.indexes.files import FILES
from hudi_reference.metadata.indexes.index import Index
from hudi_reference.metadata.indexes.record_index import RECORD_INDEX
from hudi_reference.query.table import Table

#: The indexes with a fixed name; the listing of files comes first, because every metadata table needs it.
BUILT_IN: Mapping[str, Index] = {index.partition: index for index in (FILES, RECORD_INDEX, BLOOM_FILTERS)}


def index_of(table: Table, partition: str) -> Index:
    """The index of a table with that partition of its metadata table.

    The table is an argument because an index that a user named is described by the table's index definitions.
    Raises UnsupportedTableFeature for an index that is not maintained here.
    """
    del table
    if partition not in BUILT_IN:
        raise UnsupportedTableFeature(
            "an index that is not supported", rule="INX-007", expected=", ".join(BUILT_IN), found=str(partition)
        )
    return BUILT_IN[partition]


def indexes_wanted(table: Table, options: Mapping[str, str]) -> tuple[Index, ...]:
    """The indexes that the settings enable, in the order in which they are created."""
    del table
    return tuple(index for index in BUILT_IN.values() if index.is_wanted(options))
