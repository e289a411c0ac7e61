"""Record keys of the rows that a snapshot reads: unique in a partition, and in their buckets.

A part is a partition, or a share of the keys of a large one, so that the keys of a part fit into memory.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from hudi_conformance.validator.checks.deep.buckets import Placement, has_simple_buckets, placement_of
from hudi_conformance.validator.checks.deep.files.base_files import COMMIT_TIME, INSERTS, described
from hudi_conformance.validator.checks.deep.groups import groups_of
from hudi_conformance.validator.checks.finding import REFUSED_SLICE, Check, Finding, Severity, Tally, finding_of
from hudi_conformance.validator.checks.hash_ranges import NO_RANGES
from hudi_conformance.validator.stored.opened import Opened
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.errors import HudiError, MissingDataFile
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.records.changes import KEY
from hudi_reference.records.keys.bucket_hash import bucket_prefix

#: The number of keys that a part has in memory.
AT_ONCE = 5_000_000
_SEQUENCE = "_hoodie_commit_seqno"


@dataclass(frozen=True)
class Share:
    """One of `shares` shares of the keys of the slices of a partition."""

    partition: str
    slices: tuple[FileSlice, ...]
    number: int = 0
    shares: int = 1

    def __str__(self) -> str:
        return self.partition


def shares_of(table: StoredTable) -> Sequence[Share]:
    """The partitions in scope, the large ones in shares."""
    partitions: dict[str, list[FileSlice]] = {}
    for group in groups_of(table):
        if (latest := group.latest) is not None:
            partitions.setdefault(latest.partition, []).append(latest)
    return tuple(share for partition, slices in sorted(partitions.items()) for share in _shares(table, partition, slices))


def _shares(table: StoredTable, partition: str, slices: list[FileSlice]) -> Iterator[Share]:
    writers = table.opened.writers
    paths = (one.path(name) for one in slices for name in (one.base_file, *one.log_files) if name)
    rows = sum(writers[path][2].writes for path in paths if path in writers)
    shares = rows // AT_ONCE + 1
    return (Share(partition, tuple(slices), number, shares) for number in range(shares))


def examine_keys(table: StoredTable, share: Share, tally: Tally) -> Iterator[Finding]:
    """The findings in the keys of a share, without slices that cannot be merged or that lack files, which others report."""
    opened, parts = table.opened, []
    for number, one in enumerate(share.slices):
        try:
            keys = None if one.missing else _keys(opened, share, one)
        except MissingDataFile:
            raise
        except HudiError as error:
            yield finding_of(error, "wrong-answers", REFUSED_SLICE, rule="RDR-012", path=one.path(_newest_file(one)))
            continue
        if keys is not None:
            tally.looked("PROP-017", at=len(keys))
            parts.append(pa.table({"key": keys, "slice": pa.repeat(pa.scalar(number, pa.int32()), len(keys))}))
    if parts:
        whole = pa.concat_tables(parts)
        yield from _duplicates(opened, share, whole)
        if share.number == 0:
            yield from _shared_buckets(table, share)
        try:
            placement = placement_of(table, share.partition, share.slices, whole)
        except HudiError as error:
            yield finding_of(error, "wrong-answers", NO_RANGES, rule="LAY-021", path=share.partition)
            return
        if placement is not None:
            yield from _misplaced(share, placement, whole, tally)


def _keys(opened: Opened, share: Share, one: FileSlice) -> pa.Array | None:
    keys = live_keys(opened, one)
    if keys is None or share.shares == 1:
        return keys
    numbers = (xxhash.xxh32_intdigest(key.encode()) % share.shares for key in keys.to_pylist())
    return keys.filter(pa.array([number == share.number for number in numbers], pa.bool_()))


def live_keys(opened: Opened, one: FileSlice) -> pa.Array | None:
    """The keys of the rows that a snapshot reads of a slice; None if the reference cannot merge it. Raises HudiError."""
    if one.log_files and not opened.can_merge:
        return None
    return opened.reader.current_keys(one).drop_null()


def _duplicates(opened: Opened, share: Share, keys: pa.Table) -> Iterator[Finding]:
    """PROP-017: the keys that several rows have, one finding for each pair of files."""
    if len(pc.unique(keys.column("key"))) == len(keys):
        return
    counted = keys.group_by("key").aggregate([("slice", "count"), ("slice", "min"), ("slice", "max")])
    twice = counted.filter(pc.greater(counted.column("slice_count"), 1))
    pairs: dict[tuple[int, int], list[str]] = {}
    for row in twice.to_pylist():
        pairs.setdefault((row["slice_min"], row["slice_max"]), []).append(row["key"])
    for (first, last), found in sorted(pairs.items()):
        slices = [share.slices[number] for number in dict.fromkeys((first, last))]
        yield _duplicate(opened, slices, sorted(found))


def _duplicate(opened: Opened, slices: list[FileSlice], keys: list[str]) -> Finding:
    inserted = all(were_inserted(opened, slices, key) for key in keys[:10])
    severity: Severity = "cosmetic" if inserted else "wrong-answers"
    meaning = (
        "Queries return several rows for a key, because inserts do not look keys up; an update changes only some of them."
        if inserted
        else "Queries return several rows for a key, of which at most one is the present one."
    )
    path = slices[-1].path(_newest_file(slices[-1]))
    rule = "PROP-017" if len(slices) == 1 else "LAY-021"
    other = f" and {slices[0].path(_newest_file(slices[0]))}" if len(slices) > 1 else ""
    more = f", and {len(keys) - 1} more keys" if len(keys) > 1 else ""
    return Finding(
        rule, severity, path, meaning, "one row for each record key of a partition",
        f"several rows of {keys[0]!r}{more} in {path}{other}",
        "Spark SQL: CALL repair_deduplicate for the partition, or delete the keys and upsert the right rows", keys[0],
    )  # fmt: skip


def _newest_file(one: FileSlice) -> str:
    return one.base_file or one.log_files[-1]


def were_inserted(opened: Opened, slices: list[FileSlice], key: str) -> bool:
    """Whether the rows of a key are different rows, the last of which an insert wrote (ER-058).

    A later update stores each of the rows again: then the slices before it tell, if they are still there.
    Without meta columns nothing shows which write stored a row: then it may be any insert, also an archived one.
    """
    names = [name for name in (KEY, COMMIT_TIME, _SEQUENCE) if opened.properties.populates_meta_fields]
    if not names:
        inserts = any(operation in INSERTS for operation in opened.operations.values())
        return inserts or bool(opened.archived)
    found = [_stored_rows(opened, one, names, key) for one in slices]
    if not all(map(len, found)):
        return False
    rows = pa.concat_tables(found)
    versions = set(zip(rows.column(COMMIT_TIME).to_pylist(), rows.column(_SEQUENCE).to_pylist(), strict=True))
    last = max(rows.column(COMMIT_TIME).drop_null().to_pylist(), default="")
    if last not in opened.operations or opened.operations[last] in INSERTS:
        return bool(len(versions) == rows.num_rows)
    before = [
        [older for older in _slices_before(opened, one, last) if len(_stored_rows(opened, older, names, key))]
        if last in its.column(COMMIT_TIME).to_pylist() else [one]
        for one, its in zip(slices, found, strict=True)
    ]  # fmt: skip
    return all(before) and were_inserted(opened, list(dict.fromkeys(chain.from_iterable(before))), key)


def _slices_before(opened: Opened, one: FileSlice, instant: str) -> list[FileSlice]:
    """Where the rows of a slice were before a write, as far as it is still there.

    It is the base file of the file group before the write, without log files, which may be later; without log files an earlier
    one than that of the slice, even if this has rows of a later write. If a clustering began the group, it is the slices that
    the clustering replaced.
    """
    groups, begin = opened.groups.groups, one.base_file_instant
    end = instant if one.log_files else min(instant, begin)
    found = next((older for older in groups[one.group].slices if older.base_file_instant < end), None)
    if found is not None:
        return [replace(found, log_files=())] if found.base_file and not found.missing else []
    is_clustered = opened.operations.get(begin) == "CLUSTER"
    replaced = [
        group for group in groups.values() if is_clustered and (group.partition, group.replaced_by) == (one.partition, begin)
    ]
    latest = [replace(group, replaced_by=None).latest for group in replaced]
    return [older for older in latest if older is not None and not older.missing]


def _stored_rows(opened: Opened, one: FileSlice, names: list[str], key: str) -> pa.Table:
    """The rows of a key in the base file, or else in the log files: an update in a log file changes each of them alike."""
    for has_logs in (False, True):
        rows = opened.reader.read(one, names, logs=has_logs)
        rows = rows.filter(pc.equal(rows.column(KEY), key))
        if len(rows):
            break
    return rows


def _shared_buckets(table: StoredTable, share: Share) -> Iterator[Finding]:
    """LAY-021: a bucket of the engine SIMPLE has one file group; writers, also deployed ones, refuse several."""
    if not has_simple_buckets(table):
        return
    known: dict[str, FileSlice] = {}
    for one in share.slices:
        first = known.setdefault(bucket_prefix(one.file_id), one)
        if first is not one:
            yield Finding(
                "LAY-021", "wrong-answers", one.path(_newest_file(one)),
                "Writers with the bucket index refuse the partition, or store a key in both file groups.",
                f"one file group of bucket {bucket_prefix(one.file_id)}", f"also {first.file_id}",
                "hudi-conformance service TABLE restore --instant SAVEPOINT, or write all rows of the partition again",
            )  # fmt: skip


def _misplaced(share: Share, placement: Placement, keys: pa.Table, tally: Tally) -> Iterator[Finding]:
    """LAY-021: each key is in the file group of its bucket."""
    tally.looked("LAY-021", at=len(keys))
    for number, one in enumerate(share.slices):
        mine = keys.filter(pc.equal(keys.column("slice"), number)).column("key")
        wrong = [row for row, key in enumerate(mine.to_pylist()) if not placement(key, one.file_id)]
        if wrong:
            yield Finding(
                "LAY-021", "wrong-answers", one.path(_newest_file(one)),
                "An upsert looks for these keys in another file group and inserts them again.",
                f"keys of the bucket of file group {one.file_id}", described(mine, wrong),
                "delete the keys and upsert the rows again", mine[wrong[0]].as_py(),
            )  # fmt: skip


KEYS = Check("rows.keys", ("PROP-017", "LAY-021", "RDR-012"), "deep", examine_keys, shares_of, tables="data")
