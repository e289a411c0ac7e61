"""Damages of what writes and compactions counted in their files, which only the rows and deletes contradict."""

from collections.abc import Callable
from typing import Any

import deep_damage_samples as d
import validated_tables_samples as t
from clauses_samples import copied

from hudi_conformance.cases.schema import fixtures_root
from hudi_reference.files.log.block import BlockType
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.storage import Storage

COSMETIC = {("TL-005", "cosmetic")}
WRONG = {("TL-007", "wrong-answers")}


def _stat(action: str, change: Callable[[Any], object], wanted: Callable[[Any], object] = lambda stat: True) -> d.Edit:
    """Change the last entry of a completed write that is wanted."""

    def edit(storage: Storage) -> None:
        def change_one(record: Any) -> None:
            change(next(stat for stat in t.stats_of(record) if wanted(stat)))

        for path in reversed([one for one in t.paths(storage, f".{action}") if "_" in one.rpartition("/")[2]]):
            try:
                return t.change_record(storage, path, change_one)
            except StopIteration:
                continue
        raise AssertionError("no such entry")

    return edit


def _more(*keys: str) -> Callable[[Any], None]:
    """More in some counters."""
    return lambda stat: stat.update({key: (stat[key] or 0) + 3 for key in keys})


def _compacted_by_hudi() -> Storage:
    """A table with a compaction by Apache Hudi, which counts the records in log files."""
    return copied(fixtures_root() / "merge" / "truth-table.commit-time.compacted" / "table")


def _logs_of_hudi() -> Storage:
    """A table with a log file of Apache Hudi that has rows and deletes."""
    return copied(fixtures_root() / "merge" / "payload.event-time-avro.in-a-log.mor" / "table")


def _change_log(storage: Storage, joined: Callable[[bytes, bytes], bytes]) -> None:
    """Store the log file again, from its block of rows and its block of deletes."""
    path = d.log_files(storage, "")[0]
    data, whole = {}, storage.get(path)
    for block in read_log_file(storage, path):
        data[block.kind] = whole[block.offset : block.end]  # type: ignore[union-attr]
    storage.put(path, joined(data[BlockType.AVRO_DATA], data[BlockType.DELETE]))


COUNT_DAMAGES: dict[str, tuple[Callable[[], Storage], d.Edit, set[tuple[str, str]]]] = {
    "more deletes than blocks have": (d.merge_on_read, _stat("deltacommit", _more("numDeletes")), WRONG),
    "a lost block of deletes": (_logs_of_hudi, lambda s: _change_log(s, lambda data, deletes: data), WRONG),
    "deletes that the write did not store": (_logs_of_hudi, lambda s: _change_log(s, lambda data, deletes: data + deletes * 2), WRONG),
    "updates that no row has": (
        d.copy_on_write, _stat("commit", lambda stat: stat.update(numUpdateWrites=stat["numUpdateWrites"] + 1),
                               lambda stat: stat["prevBaseFile"]),
        COSMETIC,
    ),
    "no update of the rows": (
        d.copy_on_write, _stat("commit", lambda stat: stat.update(numUpdateWrites=0), lambda stat: stat["prevBaseFile"]), COSMETIC,
    ),
    "records that no log file has": (_compacted_by_hudi, _stat("commit", _more("totalLogRecords")), COSMETIC),
    "updated records that no log file has": (_compacted_by_hudi, _stat("commit", _more("totalUpdatedRecordsCompacted")), COSMETIC),
}  # fmt: skip
