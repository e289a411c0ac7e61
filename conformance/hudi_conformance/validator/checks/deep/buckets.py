"""The bucket of a record key in a table with a bucket index.

The table does not store the number of buckets of a simple index. It is the one for which most keys are where they belong.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.layout.java_hash import list_hash
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.records.keys.bucket_hash import bucket_prefix, values_of_key
from hudi_reference.write.placement.bucket_layout import Layout, layout_of
from hudi_reference.write.placement.consistent_buckets import Node, hash_of, load_nodes

#: Whether a key belongs into the file group of that id.
Placement = Callable[[str, str], bool]
_FIELDS = "hoodie.bucket.index.hash.field"
#: The keys from which the number of buckets is found, and the numbers that are tried above the least possible one.
_SAMPLE, _TRIED = 2000, 4096
#: With fewer keys several numbers fit by chance.
_FEWEST = 8


def placement_of(table: StoredTable, partition: str, slices: Sequence[FileSlice], keys: pa.Table) -> Placement | None:
    """The placement of keys in a partition; `keys` are those in it with the number of their slice.

    None without a bucket index, and if the number of buckets cannot be found. Raises HudiError if the hashing metadata of a
    consistent index is damaged.
    """
    fields = table.properties.fields(_FIELDS) or table.properties.record_key
    found = _layout_of(table)
    if found is Layout.SIMPLE:
        buckets = _number_of_buckets(slices, keys, fields)
        return None if buckets is None else partial(_is_in_bucket, fields, buckets)
    if found is Layout.CONSISTENT:
        nodes = load_nodes(table.storage, partition, table.timeline, beside_pending=True)
        return None if nodes is None else partial(_is_in_range, fields, nodes)
    return None


def has_simple_buckets(table: StoredTable) -> bool:
    """Whether the file ids are those of a bucket index of the engine SIMPLE."""
    return _layout_of(table) is Layout.SIMPLE


def _layout_of(table: StoredTable) -> Layout | None:
    found: Layout | None = table.once("layout of file groups", lambda: layout_of(table.opened.table, table.groups))
    return found


def _is_in_bucket(fields: Sequence[str], buckets: int, key: str, file_id: str) -> bool:
    return _hash(key, fields) % buckets == int(bucket_prefix(file_id))


def _is_in_range(fields: Sequence[str], nodes: Sequence[Node], key: str, file_id: str) -> bool:
    value = hash_of(values_of_key(key, fields))
    node = next((one for one in nodes if value <= one.value), nodes[0])
    return file_id.startswith(node.prefix)


def _hash(key: str, fields: Sequence[str]) -> int:
    return list_hash(values_of_key(key, fields)) & 0x7FFFFFFF


def _number_of_buckets(slices: Sequence[FileSlice], keys: pa.Table, fields: Sequence[str]) -> int | None:
    """The number of buckets for which at least half of the keys are in their file groups; None with too few keys."""
    if len(keys) < _FEWEST:
        return None
    step = max(1, len(keys) // _SAMPLE)
    chosen = keys.take(list(range(0, len(keys), step)))
    hashes = np.array([_hash(key, fields) for key in chosen.column("key").to_pylist()], np.int64)
    found = np.array([int(bucket_prefix(slices[number].file_id)) for number in chosen.column("slice").to_pylist()], np.int64)
    least = max(int(bucket_prefix(one.file_id)) for one in slices) + 1
    fitting = [(_fit(hashes, found, number), -number) for number in range(least, least + _TRIED)]
    share, number = max(fitting, default=(0.0, 0))
    return -number if share > 0.5 and -number > 1 else None


def _fit(hashes: npt.NDArray[np.int64], found: npt.NDArray[np.int64], buckets: int) -> float:
    return float(np.mean(hashes % buckets == found))
