"""The hashing metadata of partitions with consistent hashing: ranges of the hashes of keys, one file group each."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from hudi_conformance.validator.checks.finding import Check, Finding, Tally, finding_of
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.errors import HudiError
from hudi_reference.layout.names import split_path
from hudi_reference.write.placement.consistent_buckets import (
    ENDING,
    FIRST,
    folder_of_ranges,
    has_first_ranges,
    is_first_range,
    load_nodes,
    names_a_range,
)

_RESTORE = "restore the file from another copy of the table"
NO_RANGES = "Writers refuse the partition: they cannot tell to which file group a record belongs."


def _hash_ranges(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """LAY-021: with consistent hashing, each partition with file groups has the ranges of their hashes."""
    living: dict[str, list[str]] = {}
    for one in table.owned.latest_slices if table.entries.get("hoodie.table.type") == "MERGE_ON_READ" else ():
        living.setdefault(one.partition, []).append(one.file_id)
    if not living or not (has_first_ranges(table.owned) or (table.has_consistent_hashing and _names_a_range(table))):
        return
    described = {split_path(path)[0] for path in table.listing.files if path.endswith(ENDING)}
    for partition, ids in sorted(living.items()):
        folder = folder_of_ranges(partition)
        tally.looked("LAY-021")
        if folder in described:
            yield from _wrong_ranges(table, partition, ids)
            continue
        lost = [one for one in ids if not is_first_range(one)]
        yield Finding(
            "LAY-021", "wrong-answers" if lost else "cosmetic", folder,
            "Writers make the first ranges again: an upsert inserts keys again that a later clustering moved." if lost
            else "Writers make the ranges again; with another number of buckets in the settings they insert keys again.",
            f"the ranges of {len(ids)} file groups", f"no hashing metadata, and file group {(lost or ids)[0]}",
            "restore the folder from another copy of the table, or write all rows of the partition again" if lost
            else "write with the number of buckets with which the partition was first written",
        )  # fmt: skip


def _wrong_ranges(table: StoredTable, partition: str, ids: Sequence[str]) -> Iterator[Finding]:
    """The hashing metadata of a partition can be read, agrees with itself, and has a range for each of these file groups."""
    folder = folder_of_ranges(partition)
    try:
        nodes = load_nodes(table.storage, partition, table.timeline, beside_pending=True) or ()
    except HudiError as error:
        yield finding_of(error, "wrong-answers", NO_RANGES, rule="LAY-021", path=folder)
        return
    names = sorted(name for name in table.storage.names(folder) if name.endswith(ENDING))
    for name in names:
        yield from _contradictions(table, f"{folder}/{name}")
    prefixes = tuple(node.prefix for node in nodes)
    lacking = [one for one in sorted(ids) if not one.startswith(prefixes)]
    is_resized = names[-1].removesuffix(ENDING) in table.timeline.pending_times
    if prefixes and lacking and not is_resized:
        yield Finding(
            "LAY-021", "wrong-answers", folder, "Writers look for its keys in another file group, and insert them again.",
            "a range for each file group", f"none for {', '.join(lacking)}",
            "restore the folder from another copy of the table, or write all rows of the partition again",
        )  # fmt: skip


def _contradictions(table: StoredTable, path: str) -> Iterator[Finding]:
    """The members that no writer follows are those of the file. Apache Hudi copies the number of the first ranges."""
    try:
        content = dict(json.loads(table.storage.get(path)))
        instant, ranges = split_path(path)[1].removesuffix(ENDING), len(content["nodes"])
    except (ValueError, TypeError, KeyError) as error:
        expected, found = "hashing metadata", f"{type(error).__name__}: {error}"[:200]
        yield Finding("LAY-021", "cosmetic", path, "Writers follow later ranges.", expected, found, _RESTORE)
        return
    members: dict[str, Any] = {"instant": instant} | ({"numBuckets": ranges} if instant == FIRST else {})
    for key, wanted in members.items():
        if content.get(key, wanted) != wanted:
            yield Finding(
                "LAY-021", "cosmetic", path, "Writers follow the name of the file and its ranges.", f"{key}={wanted}",
                str(content[key]), _RESTORE, key=key,
            )  # fmt: skip


def _names_a_range(table: StoredTable) -> bool:
    """Whether hashing metadata names a file group, or is damaged."""
    try:
        return names_a_range(table.opened.table, table.groups)
    except HudiError:
        return True


CHECKS = (Check("layout.hash-ranges", ("LAY-021",), "cheap", _hash_ranges, tables="data"),)
