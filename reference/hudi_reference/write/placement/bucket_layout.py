"""How the file groups of a table are laid out, and whether the settings of a writer fit.

The properties of a table do not say that it has a bucket index; its file ids do. A writer without the index would add file
groups that writers with it cannot parse, and would store keys beside the buckets in which these look for them.
"""

from collections.abc import Iterable
from enum import StrEnum

from hudi_reference.errors import Misuse, UnsupportedTableFeature
from hudi_reference.ids import BUCKET_FILE_ID
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.query.file_groups import FileGroups
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.write.concurrency.config import BUCKETS_KEY, ENGINE_KEY, INDEX_KEY, BucketEngine, Concurrency
from hudi_reference.write.placement.consistent_buckets import (
    has_first_ranges,
    has_hashing_metadata,
    is_first_range,
    names_a_range,
)

#: The setting that gives partitions numbers of buckets of their own, and the folder where a table stores it (RFC-89).
EXPRESSIONS_KEY = "hoodie.bucket.index.partition.expressions"
_NUMBERS = f"{META_FOLDER}/.bucket_index/partition_bucket_index_meta/configs"


class Layout(StrEnum):
    """How new file groups get their ids."""

    RANDOM = "random file ids"
    SIMPLE = "a bucket index of the engine SIMPLE"
    CONSISTENT = "a bucket index of the engine CONSISTENT_HASHING"


def layout_of(table: Table, groups: FileGroups) -> Layout | None:
    """The layout of the file groups that a snapshot reads; None without file groups."""
    ids = {found.file_id for found in groups.latest_slices}
    if not ids:
        return None
    if all(BUCKET_FILE_ID.fullmatch(one) for one in ids):
        return Layout.SIMPLE
    if not table.properties.is_merge_on_read:
        return Layout.RANDOM
    if not has_hashing_metadata(table.storage):
        return Layout.CONSISTENT if has_first_ranges(groups) else Layout.RANDOM  # the metadata of the ranges was lost
    is_consistent = any(map(is_first_range, ids)) or names_a_range(table, groups)
    return Layout.CONSISTENT if is_consistent else Layout.RANDOM


@implements("LAY-021", "PROP-001", "NBC-004")
def check_placement(table: Table, groups: FileGroups) -> None:
    """Raises an error if the settings of the writer would place records elsewhere than the writers of the table did.

    Raises UnsupportedTableFeature for a table with a bucket index and a writer without one, Misuse for settings that do not fit
    the file groups of the table. Raises as `check_one_number` does.
    """
    found, index = layout_of(table, groups), Concurrency.from_options(table.options).index
    if found is None:
        return
    wanted = Layout.RANDOM if index is None else Layout.CONSISTENT if index.engine is BucketEngine.CONSISTENT else Layout.SIMPLE
    if index is None and found is not Layout.RANDOM:
        raise UnsupportedTableFeature(
            "the file ids show a bucket index, and the writer has none", rule="LAY-021", expected=found,
            found=f"no {INDEX_KEY}", remedy=f"set {INDEX_KEY}=BUCKET, {ENGINE_KEY} and {BUCKETS_KEY} as the other writers do",
        )  # fmt: skip
    if wanted is not found:
        raise Misuse("the index of the writer does not fit the file ids", rule="LAY-021", expected=found, found=wanted)
    if index is not None and found is Layout.SIMPLE:
        check_one_number(table)
        _check_numbers((one.file_id for one in groups.latest_slices), index.buckets)


@implements("LAY-021", "MRG-007")
def check_one_number(table: Table) -> None:
    """Raises UnsupportedTableFeature if partitions have numbers of buckets of their own, by the settings or by the table.

    A writer with one number for all partitions would store keys beside the buckets in which other writers look for them.
    """
    stored = [name for name in table.storage.names(_NUMBERS) if name.endswith(".hashing_config")]
    if found := table.options.get(EXPRESSIONS_KEY) or ", ".join(stored):
        raise UnsupportedTableFeature(
            "partitions with numbers of buckets of their own", rule="LAY-021", path=_NUMBERS if stored else EXPRESSIONS_KEY,
            expected=f"one number for all partitions, {BUCKETS_KEY}", found=found,
            remedy="write with an engine that supports them",
        )  # fmt: skip


def _check_numbers(ids: Iterable[str], buckets: int) -> None:
    greatest = max(int(one[:8]) for one in ids)
    if greatest >= buckets:
        raise Misuse(
            "the table has more buckets than the settings say", rule="LAY-021", expected=f"{BUCKETS_KEY} > {greatest}",
            found=str(buckets), remedy="set the number of buckets with which the table was written",
        )  # fmt: skip


@implements("LAY-021", "CLU-001")
def check_not_bucketed(table: Table, groups: FileGroups) -> None:
    """Raises UnsupportedTableFeature for a table with a bucket index: the service would give its rows random file ids."""
    found = layout_of(table, groups)
    if found in (Layout.SIMPLE, Layout.CONSISTENT):
        raise UnsupportedTableFeature(
            "file groups of a bucket index are not clustered here", rule="LAY-021", expected=Layout.RANDOM, found=found,
            remedy="cluster the table with an engine that keeps or resizes its buckets",
        )  # fmt: skip
