"""Damages of what writes and compactions counted in their files, which only the rows and deletes contradict."""

from collections.abc import Callable
from typing import Any

import deep_damage_samples as d
import validated_tables_samples as t
from clauses_samples import copied

from hudi_conformance.cases.schema import fixtures_root
from hudi_reference.storage import Storage

COSMETIC = {("TL-005", "cosmetic")}


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


COUNT_DAMAGES: dict[str, tuple[Callable[[], Storage], d.Edit, set[tuple[str, str]]]] = {
    "more deletes than blocks have": (d.merge_on_read, _stat("deltacommit", _more("numDeletes")), COSMETIC),
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
