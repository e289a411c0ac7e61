"""What writes counted in their files, against the rows and deletes that are in them.

The rows of a base file are compared with those of the one before, as long as it is on storage. Deletes of keys that a group
does not have are counted too, by some releases also as inserts: so a write may count more inserts than new keys only where it
counts more deletes than lost keys.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from hudi_conformance.validator.checks.deep.files.base_files import COMMIT_TIME, REWRITE, BaseFile
from hudi_conformance.validator.checks.finding import Finding, Tally
from hudi_conformance.validator.checks.writes.compacted_logs import log_names, operation_of
from hudi_conformance.validator.checks.writes.entries import ONLY_STATISTICS, RESTORE, Entry, entries_of
from hudi_conformance.validator.stored.opened import Opened
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.files.log.content import Delete
from hudi_reference.timeline.contents.metadata import SERVICES, CommitMetadata, WriteStat


@dataclass
class Counted:
    """The rows and deletes in the blocks of a log file. `is_certain` is false if it has other blocks, or damaged ones.

    `keys` are those of the records of each block. `single` are those of the rows of its only block with rows, None if it has
    none or several.
    """

    rows: int = 0
    deletes: int = 0
    blocks: int = 0
    single: pa.Array | None = None
    keys: list[pa.Array] = field(default_factory=list)
    is_certain: bool = True

    def add(self, rows: pa.Table | None, deletes: Sequence[Delete], keys: pa.Array) -> None:
        """Count the records of a block."""
        self.rows += 0 if rows is None else rows.num_rows
        if rows is not None:
            self.blocks += 1
            self.single = keys if self.blocks == 1 else None
        self.deletes += len(deletes)
        self.keys.append(keys)


#: The log files of the slices of a group that were read, by name.
Logs = dict[str, Counted]


def counts_of_a_log_file(opened: Opened, path: str, counted: Counted, tally: Tally) -> Iterator[Finding]:
    """TL-007: the blocks have the rows and deletes that the write counted.

    Before version 8 a file has blocks of several writes.
    """
    if path not in opened.writers or not counted.is_certain or opened.had_version_6:
        return
    instant, commit, stat = opened.writers[path]
    tally.looked("TL-007")
    found = f"{counted.rows} rows and {counted.deletes} deletes"
    has_key_twice = counted.single is not None and len(pc.unique(counted.single).drop_null()) < len(counted.single)
    if counted.rows > stat.writes > 0 and has_key_twice:
        yield Finding(
            "TL-007", "cosmetic", path, "The block has a key twice, of which its write counted one; the later row counts.",
            f"{stat.writes} rows, by {instant.file_name}", found, REWRITE,
        )  # fmt: skip
    # hudi-rs counts deletes among the writes.
    counts_deletes = stat.inserts + stat.updates + stat.deletes == stat.writes
    written = stat.writes - stat.deletes if counts_deletes else stat.writes
    if counted.rows < written and counted.deletes <= stat.deletes:
        yield Finding(
            "TL-007", "data-lost", path, "Queries lack changes that the write stored.",
            f"{written} rows, by {instant.file_name}", found, REWRITE,
        )  # fmt: skip
    elif counted.rows + counted.deletes < written + stat.deletes:
        yield Finding(
            "TL-007", "wrong-answers", path, "Queries return rows that the write deleted.",
            f"{stat.deletes} deletes, by {instant.file_name}", found, REWRITE,
        )  # fmt: skip
    elif counted.rows + counted.deletes > written + stat.deletes and not has_key_twice and _counts_all(commit, stat):
        yield Finding(
            "TL-007", "wrong-answers", path, "Queries see changes that the write did not store.",
            f"{written} rows and {stat.deletes} deletes, by {instant.file_name}", found, REWRITE,
        )  # fmt: skip
    elif stat.deletes not in (0, counted.deletes):
        yield _statistics(opened, path, f"{counted.deletes} deletes", f"numDeletes={stat.deletes}")


def _counts_all(commit: CommitMetadata, stat: WriteStat) -> bool:
    """Whether the writer counted every row and delete: Apache Hudi does, and measures the time of the write beside it."""
    entries = (commit.record.get("partitionToWriteStats") or {}).get(stat.partition) or ()
    is_measured = any(one.get("path") == stat.path and one.get("runtimeStats") for one in entries)
    return is_measured and commit.operation not in SERVICES


def _statistics(opened: Opened, path: str, expected: str, found: str) -> Finding:
    instant, _, _ = opened.writers[path]
    where = f"{opened.properties.timeline_folder}/{instant.file_name}"
    return Finding("TL-005", "cosmetic", where, ONLY_STATISTICS, expected, found, RESTORE, key=path)


def counts_of_a_rewrite(opened: Opened, older: BaseFile, newer: BaseFile, tally: Tally) -> Iterator[Finding]:
    """TL-005: inserts, updates and deletes are the new, the written and the lost keys of the file."""
    written = opened.writers.get(newer.path)
    if written is None or written[1].operation in SERVICES or not opened.properties.populates_meta_fields:
        return
    instant, _, stat = written
    is_next = (stat.previous_base_file or "").rpartition("/")[2] == older.name
    if not is_next or COMMIT_TIME not in newer.rows.column_names or not (older.has_unique_keys and newer.has_unique_keys):
        return
    tally.looked("TL-005")
    kept = pc.sum(pc.is_in(newer.keys, older.keys)).as_py() or 0
    new, lost = len(newer.keys) - kept, len(older.keys) - kept
    own = pc.sum(pc.equal(newer.rows.column(COMMIT_TIME).cast(pa.string()), instant.requested)).as_py() or 0
    is_exact = stat.inserts == new and stat.deletes == lost
    wanted = {
        f"{new} inserts, one for each new key": new <= stat.inserts <= new + max(stat.deletes - lost, 0),
        f"{lost} deletes at least, of the keys that were lost": stat.deletes >= lost,
        f"{own - new} updates, for the rows of this write": stat.inserts + stat.updates == own if is_exact else True,
    }
    for expected, is_right in wanted.items():
        if not is_right:
            found = f"numInserts={stat.inserts}, numUpdateWrites={stat.updates}, numDeletes={stat.deletes}"
            yield _statistics(opened, newer.path, expected, found)


def counts_of_a_compaction(table: StoredTable, newer: BaseFile, logs: Logs, tally: Tally) -> Iterator[Finding]:
    """TL-005: a compaction counts the records in its log files, with or without deletes, and their keys."""
    entries: Mapping[str, Entry] = table.once("entries of compactions", _compactions(table))
    entry = entries.get(newer.path)
    operation = None if entry is None else operation_of(entry)
    if entry is None or operation is None or not entry.stat.get("runtimeStats"):  # the reference does not count them
        return
    merged = [logs.get(name) for name in log_names(operation)]
    known = [one for one in merged if one is not None and one.is_certain]
    if len(known) < len(merged) or table.opened.had_version_6:
        return
    tally.looked("TL-005")
    rows, deletes = sum(one.rows for one in known), sum(one.deletes for one in known)
    keys = len(pc.unique(pa.chunked_array([keys for one in known for keys in one.keys], pa.string())).drop_null())
    for key, allowed in {"totalLogRecords": (rows, rows + deletes), "totalUpdatedRecordsCompacted": (keys,)}.items():
        if entry.stat.get(key) not in allowed:
            yield entry.finding(f"{key}={' or '.join(map(str, dict.fromkeys(allowed)))}", entry.stat.get(key))


def _compactions(table: StoredTable) -> Callable[[], Mapping[str, Entry]]:
    return lambda: {one.path: one for one in entries_of(table) if one.commit.operation == "COMPACT"}
