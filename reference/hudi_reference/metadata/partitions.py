"""The partitions of the metadata table and the file groups in them, spec "Indexes > Naming".

The partition of a built-in index has a fixed name; that of an index that a user creates is named by its kind, `_` and its name.
File groups are numbered from 0; their number is fixed when the partition is created.
"""

from enum import StrEnum

from hudi_reference.errors import InvalidQuery
from hudi_reference.requirement import implements


@implements("IDX-002", "IDX-009")
class BuiltIn(StrEnum):
    """Partitions that every metadata table may have, by the names of their folders."""

    FILES = "files"
    COLUMN_STATS = "column_stats"
    PARTITION_STATS = "partition_stats"
    BLOOM_FILTERS = "bloom_filters"
    RECORD_INDEX = "record_index"


class Kind(StrEnum):
    """Kinds of indexes that users create, by the prefixes of the names of their folders."""

    SECONDARY = "secondary_index"
    EXPRESSION = "expr_index"


#: The prefix of file ids is the name of their folder, with one exception.
_OTHER_NAMES = {BuiltIn.COLUMN_STATS.value: "col-stats"}


@implements("IDX-001", "IDX-023", "IDX-033")
def index_partition(kind: Kind, name: str) -> str:
    """The folder of an index that was created under this name."""
    return f"{kind}_{name}"


def file_id(partition: str, group: int) -> str:
    """The id of a partition's file group of this number. Raises InvalidQuery unless it has up to four digits."""
    if not 0 <= group <= 9999:
        raise InvalidQuery("no file group has this number", rule="IDX-001", expected="0 to 9999", found=str(group))
    return f"{_OTHER_NAMES.get(partition) or partition.replace('_', '-')}-{group:04}-0"
