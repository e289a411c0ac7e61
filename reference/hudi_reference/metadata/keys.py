"""Keys of the metadata table's records, and the file group that holds a key, spec "Metadata", "Indexes".

    partition           key
    files               partition path, `.` for the base path; `__all_partitions__`
    column_stats        hash of column, hash of partition path, digest of file name
    partition_stats     hash of column, hash of partition path
    bloom_filters       hash of partition path, digest of file name
    record_index        record key
    secondary_index_…   see `secondary.py`
    expr_index_…        as column_stats or bloom_filters; of a partition: hash of column, of `__partition_stat__`, of its path

A hash is xxHash64, a digest MD5, both of the UTF-8 text, written as Base64 with padding: 12 and 24 characters. The spec says
only that keys are hashes, and in which order (ER-061). The column comes first, so that one prefix finds all entries of a
column, and a longer prefix those of the column in a partition.
"""

import base64
import hashlib

import xxhash

from hudi_reference.errors import InvalidQuery
from hudi_reference.layout.java_hash import remainder, string_hash
from hudi_reference.requirement import implements

#: Java's int 0xdabadaba, widened with its sign.
_SEED = 0xFFFFFFFF_DABADABA
ALL_PARTITIONS = "__all_partitions__"
#: The name of the base path in every key except those of the record index; a key must not be empty.
BASE_PATH = "."
_PARTITION_STAT = "__partition_stat__"


@implements("MDT-005")
def partition_identifier(partition: str) -> str:
    """A partition path in keys: `.` for the base path of a table without partitions."""
    # ER-062: deployed keys have "." for the base path.
    return partition or BASE_PATH


def text_hash(text: str) -> str:
    """The hash of a column's name or a partition path: 12 characters of Base64."""
    return _base64(xxhash.xxh64_digest(text.encode(), seed=_SEED))


def file_digest(name: str) -> str:
    """The digest of a file's name without its folder: 24 characters of Base64."""
    return _base64(hashlib.md5(name.encode(), usedforsecurity=False).digest())


@implements("MDT-015", "MDT-016")
def column_stats_key(column: str, partition: str | None = None, file_name: str | None = None) -> str:
    """The key of a file's statistics of a column; without file name or partition it is a prefix of keys."""
    key = text_hash(column)
    if partition is not None:
        key += text_hash(partition_identifier(partition))
    return key if file_name is None else key + file_digest(file_name)


def partition_stats_key(column: str, partition: str) -> str:
    """The key of a partition's statistics of a column."""
    return text_hash(column) + text_hash(partition_identifier(partition))


def expression_partition_stats_key(column: str, partition: str) -> str:
    """The key, inside an expression index, of a partition's statistics of the function's values."""
    return text_hash(column) + text_hash(_PARTITION_STAT) + text_hash(partition_identifier(partition))


@implements("IDX-003")
def bloom_filters_key(partition: str, file_name: str) -> str:
    """The key of a base file's bloom filter."""
    return text_hash(partition_identifier(partition)) + file_digest(file_name)


@implements("IDX-011")
def file_group_of(key: str, groups: int) -> int:
    """The number, from 0, of the file group that holds a key, among the groups of its partition.

    In table version 8 it follows from the whole key everywhere, also in a secondary index. Raises InvalidQuery unless there
    are groups.
    """
    if groups < 1:
        raise InvalidQuery("a partition without file groups", rule="IDX-011", expected="1 or more", found=str(groups))
    return abs(remainder(string_hash(key), groups))


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
