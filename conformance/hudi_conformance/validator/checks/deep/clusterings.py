"""Results of clusterings against the file slices that they replaced, as long as these are on storage."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow as pa

from hudi_conformance.validator.checks.deep.files.base_files import REWRITE
from hudi_conformance.validator.checks.deep.files.compared_rows import first_difference, rows_by_key
from hudi_conformance.validator.checks.deep.groups import has_all_rows
from hudi_conformance.validator.checks.deep.keys import live_keys
from hudi_conformance.validator.checks.finding import Check, Finding, Severity, Tally
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.errors import HudiError, MissingDataFile
from hudi_reference.ids import BUCKET_FILE_ID
from hudi_reference.query.file_groups import FileGroup, FileSlice, GroupId
from hudi_reference.records.keys.bucket_hash import bucket_prefix
from hudi_reference.services.clustering.plan_record import parse_clustering_plan
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

#: A slice, and the keys of its rows.
Keys = tuple[FileSlice, list[str]]


def clusterings_of(table: StoredTable) -> Sequence[Instant]:
    """The completed clusterings of the active timeline, by requested time."""
    if not has_all_rows(table):
        return ()
    return [instant for instant, commit in table.commits.items() if commit.operation == "CLUSTER" and commit.replaced]


def examine_clustering(table: StoredTable, instant: Instant, tally: Tally) -> Iterator[Finding]:
    """TL-011: the new file groups of each partition have the keys of the replaced ones, each as often as before.

    LAY-021: with a bucket index of the engine SIMPLE, each key is in the bucket in which it was.
    """
    commit, groups = table.commits[instant], _groups(table)
    planned = _planned_files(table, instant)
    for partition, ids in sorted(commit.replaced.items()):
        before = [_slice_before(groups.get(group), instant, planned.get(group)) for group in ((partition, one) for one in ids)]
        made = [(stat.partition, stat.file_id) for stat in commit.stats if stat.partition == partition]
        after = [_slice_of(groups.get(group), instant) for group in made]
        try:
            read, written = _keys_of(table, before), _keys_of(table, after)
        except MissingDataFile:
            raise
        except HudiError:
            continue  # the check of file groups reports it
        if read is None or written is None:
            continue
        old, new = (Counter(key for _, keys in part for key in keys) for part in (read, written))
        if old and new:
            yield from _moved(table, instant, partition, read, written, tally)
        tally.looked("TL-011", at=old.total())
        yield from _compared(table, instant, partition, old, new)
        if old and old == new and table.opened.can_merge and not table.opened.had_version_6:
            yield from _other_values(table, instant, partition, before, after)


def _compared(table: StoredTable, instant: Instant, partition: str, old: Counter[str], new: Counter[str]) -> Iterator[Finding]:
    sides: tuple[tuple[Severity, str, list[str]], ...] = (
        ("data-lost", "Queries lack the rows since the clustering.", sorted((old - new).elements())),
        ("wrong-answers", "Queries return rows that no write stored.", sorted((new - old).elements())),
    )
    for severity, meaning, keys in sides:
        if keys:
            more = f" and {len(keys) - 1} more rows" if len(keys) > 1 else ""
            yield Finding(
                "TL-011", severity, table.path_of(instant), meaning,
                f"the {old.total()} rows of the replaced file groups in partition {partition!r}",
                f"{new.total()} rows; {'none' if severity == 'data-lost' else 'also one'} of {keys[0]!r}{more}",
                REWRITE, keys[0],
            )  # fmt: skip


def _moved(
    table: StoredTable, instant: Instant, partition: str, read: Sequence[Keys], written: Sequence[Keys], tally: Tally
) -> Iterator[Finding]:
    """LAY-021: a key that the clustering moved to another bucket."""
    if not all(BUCKET_FILE_ID.fullmatch(one.file_id) for one, _ in (*read, *written)):
        return
    bucket_before = {key: bucket_prefix(one.file_id) for one, keys in read for key in keys}
    tally.looked("LAY-021", at=len(bucket_before))
    for one, keys in written:
        bucket = bucket_prefix(one.file_id)
        key = next((key for key in keys if bucket_before.get(key, bucket) != bucket), None)
        if key is not None:
            yield Finding(
                "LAY-021", "wrong-answers", table.path_of(instant),
                "An upsert looks for the keys in the buckets in which they were, and inserts them again.",
                f"the key {key!r} of partition {partition!r} in bucket {bucket_before[key]}",
                f"in {one.file_id}", f"hudi-conformance service TABLE rollback --instant {instant.requested}", key,
            )  # fmt: skip
            return


def _other_values(
    table: StoredTable, instant: Instant, partition: str, before: Sequence[FileSlice | None], after: Sequence[FileSlice | None]
) -> Iterator[Finding]:
    """TL-011: the rows have the values that they had."""
    reader = table.opened.reader_of(instant)
    old, new = (rows_by_key(reader, [one for one in slices if one is not None]) for slices in (before, after))
    fault = first_difference(old, new)
    if fault is not None:
        key, expected, found = fault
        yield Finding(
            "TL-011", "wrong-answers", table.path_of(instant), "Queries return other values since the clustering.",
            f"{expected} of the replaced file groups in partition {partition!r}", found, REWRITE, key,
        )  # fmt: skip


def _groups(table: StoredTable) -> dict[GroupId, FileGroup]:
    found: dict[GroupId, FileGroup] = table.once(
        "groups by id", lambda: {(one.partition, one.file_id): one for one in table.groups}
    )
    return found


def _planned_files(table: StoredTable, instant: Instant) -> dict[GroupId, frozenset[str]]:
    """The names of the files of each group in the plan of a clustering; none without a readable plan."""
    content = table.contents.get(Instant(instant.requested, "clustering", State.REQUESTED))
    try:
        groups = () if content is None or content.record is None else parse_clustering_plan(content.record).groups
    except HudiError:
        return {}
    return {(one.partition, one.file_id): frozenset(one.files) for group in groups for one in group.slices}


def _slice_before(group: FileGroup | None, instant: Instant, planned: frozenset[str] | None) -> FileSlice | None:
    """The slice that the clustering read: the newest one, with the planned files.

    None if a later write changed the group, or if the slice was cleaned: a savepoint may keep an older one.
    """
    found = replace(group, replaced_by=None).latest if group is not None else None
    if found is None or found.base_instant >= instant.requested:
        return None
    return found if planned is None or planned == frozenset(found.files) else None


def _slice_of(group: FileGroup | None, instant: Instant) -> FileSlice | None:
    """The slice that the clustering stored, without later changes; None if it was cleaned."""
    found = (one for one in group.slices if one.base_instant == instant.requested) if group is not None else iter(())
    return next((replace(one, log_files=()) for one in found), None)


def _keys_of(table: StoredTable, slices: Sequence[FileSlice | None]) -> list[Keys] | None:
    """The keys in each of these slices; None if one of them cannot be read."""
    found: list[Keys] = []
    for one in slices:
        keys: pa.Array | None = None if one is None or one.missing else live_keys(table.opened, one)
        if one is None or keys is None:
            return None
        found.append((one, keys.to_pylist()))
    return found


CLUSTERINGS = Check("rows.clusterings", ("LAY-021", "TL-011"), "deep", examine_clustering, clusterings_of, tables="data")
