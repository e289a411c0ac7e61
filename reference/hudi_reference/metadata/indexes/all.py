"""The indexes that are maintained, by their partitions of the metadata table.

files            the names and sizes of all committed files by partition, and the list of partitions
column_stats     least and greatest value, number of values and of nulls of the columns in each data file
partition_stats  the same in all files of a partition's latest slices
record_index     the file group that holds a record key
bloom_filters    the bloom filter of each base file, as it is in its footer

secondary_index_<name>   the keys of the rows with each value of a column
expr_index_<name>        statistics or bloom filters of a function of a column
"""

from collections.abc import Callable, Mapping

from hudi_reference.errors import UnsupportedTableFeature
from hudi_reference.layout.metadata_settings import USABLE
from hudi_reference.metadata.availability import definition_of, definitions_path_of, read_definitions
from hudi_reference.metadata.definitions import VERSIONS, IndexDefinition, is_partitioned
from hudi_reference.metadata.indexes.bloom_filters import BLOOM_FILTERS
from hudi_reference.metadata.indexes.column_stats import COLUMN_STATS
from hudi_reference.metadata.indexes.expression_index import expression_index
from hudi_reference.metadata.indexes.files import FILES
from hudi_reference.metadata.indexes.index import Index
from hudi_reference.metadata.indexes.partition_stats import PARTITION_STATS
from hudi_reference.metadata.indexes.record_index import PARTITIONED, RECORD_INDEX
from hudi_reference.metadata.indexes.secondary_index import secondary_index
from hudi_reference.metadata.partitions import Kind
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements

#: The indexes with a fixed name; the listing of files comes first, because every metadata table needs it.
BUILT_IN: Mapping[str, Index] = {
    index.partition: index for index in (FILES, COLUMN_STATS, PARTITION_STATS, RECORD_INDEX, BLOOM_FILTERS)
}


#: The indexes that users name, by the prefix of their partitions.
_NAMED: Mapping[str, Callable[[IndexDefinition], Index]] = {
    f"{Kind.SECONDARY}_": secondary_index,
    f"{Kind.EXPRESSION}_": expression_index,
}
#: The partitions that are maintained: names, and prefixes of names.
MAINTAINED = frozenset((*BUILT_IN, *_NAMED))


@implements("IDX-022", "IDX-023", "IDX-032", "IDX-033", "IDX-043", "IDX-049")
def index_of(table: Table, partition: str) -> Index:
    """The index of a table, whose properties are the present ones, with that partition of its metadata table.

    The table's index definitions describe it. Raises UnsupportedTableFeature for an index that is not maintained here.
    """
    definition = definition_of(table.storage, table.properties, partition)
    if definition is not None and not definition.is_known:
        raise UnsupportedTableFeature(
            "an index of an unknown version", rule="IDX-022", path=definitions_path_of(table.properties),
            expected=" or ".join(VERSIONS), found=f"{partition} of version {definition.version}",
            remedy="drop the index, or write with an engine that maintains it; reading is possible",
        )  # fmt: skip
    if partition == RECORD_INDEX.partition:
        return PARTITIONED if is_partitioned(definition) else RECORD_INDEX
    if partition in BUILT_IN:
        return BUILT_IN[partition]
    if not partition.startswith(tuple(_NAMED)):
        raise UnsupportedTableFeature(
            "an index that is not supported", rule="INX-007", expected=", ".join(sorted(MAINTAINED)), found=str(partition)
        )
    if definition is None:
        found = read_definitions(table.storage, table.properties)
        raise UnsupportedTableFeature(
            "an index without a definition", rule="IDX-022", path=definitions_path_of(table.properties),
            expected=partition, found=", ".join(one.partition for one in found),
        )  # fmt: skip
    return named_index(definition)


def named_index(definition: IndexDefinition) -> Index:
    """The index of a definition. Raises UnsupportedTableFeature for one that is not maintained here."""
    return next(make for prefix, make in _NAMED.items() if definition.partition.startswith(prefix))(definition)


def indexes_wanted(table: Table, options: Mapping[str, str]) -> tuple[Index, ...]:
    """The indexes that the settings enable, in the order in which they are created."""
    wanted = [index for index in BUILT_IN.values() if index.is_wanted(options)]
    if PARTITIONED.is_wanted(options):  # as deployed writers: also if both are wanted
        wanted = [*(index for index in wanted if index is not RECORD_INDEX), PARTITIONED]
    if COLUMN_STATS in wanted and PARTITION_STATS.settings[0] not in options:  # as deployed writers do
        wanted.insert(wanted.index(COLUMN_STATS) + 1, PARTITION_STATS)
    has_columns = COLUMN_STATS in wanted or COLUMN_STATS.partition in table.properties.fields(USABLE)
    possible = has_columns and bool(table.properties.partition_fields)
    return tuple(index for index in wanted if possible or index is not PARTITION_STATS)
