"""The statistics of log files of which one attempt of a write stored several for a file group."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import deep_damage_samples as d

from hudi_conformance.validator.checks.finding import Finding
from hudi_reference import open_table
from hudi_reference.clock import ManualClock
from hudi_reference.layout.names import require_log_file_name
from hudi_reference.metadata.record_merge import widen_statistics
from hudi_reference.metadata.records import ColumnStats, MetadataRecord
from hudi_reference.storage import Storage

#: Each row is stored in a log file of its own.
ROLLS = {**d.INDEXED, "hoodie.logfile.max.size": "1", "hoodie.logfile.data.block.max.size": "1"}


def rolled() -> Storage:
    """A merge-on-read table in which an upsert stored three log files, each with one row, for one file group."""
    storage = d.indexed_merge_on_read()
    table = open_table("memory:///deep", storage=storage, clock=ManualClock(d.START + 10**8), options=ROLLS)
    table.upsert(d.rows(4, 6, 8, ts=9, fare=900))
    return storage


def files_of_fares(storage: Storage) -> list[tuple[str, ColumnStats]]:
    """The keys and statistics of the column fare in the last three log files, in the order of their versions."""
    entries = [(key, one.payload) for key, one in d.entries_of(storage, "column_stats").items()]
    logs = [
        (key, one) for key, one in entries if isinstance(one, ColumnStats) and one.column == "fare" and ".log." in one.file_name
    ]
    found = sorted(logs, key=lambda one: require_log_file_name(one[1].file_name).merge_order)
    return [one for one in found if require_log_file_name(one[1].file_name).instant == _last_instant(found)]


def _last_instant(found: Sequence[tuple[str, ColumnStats]]) -> str:
    return max(require_log_file_name(one.file_name).instant for _, one in found)


def store(storage: Storage, found: Sequence[tuple[str, ColumnStats]], statistics: Sequence[Any]) -> list[Finding]:
    """Give each of the files the statistics at its place; the findings of the deep checks then."""
    changed = [
        MetadataRecord(key, replace(one, file_name=own.file_name, is_tight=True))
        for (key, own), one in zip(found, statistics, strict=True)
    ]
    d.change_index(storage, "column_stats", changed)
    return [one for one in d.found_in(storage) if one.rule == "MDT-010" and one.severity == "wrong-answers"]


def test_statistics_of_the_files_of_an_attempt_hold_together() -> None:
    """MDT-010: Apache Hudi adds the row that opens a log file to the statistics of the file before it. A query reads these files
    together, so that it loses no row.
    """
    storage = rolled()
    found = files_of_fares(storage)
    assert len(found) == 3
    (_, first), (_, last) = found[0], found[-1]
    later = [one for _, one in found[2:]]
    assert store(storage, found, [widen_statistics(first, found[1][1]), *later, last]) == []


def test_a_row_in_no_statistics_of_an_attempt_is_found() -> None:
    """MDT-010: a query leaves out all files of the attempt if the value is in the statistics of none of them."""
    storage = rolled()
    found = files_of_fares(storage)
    assert all(one != other for (_, one), (_, other) in pairwise(found))
    (_, first), *_ = found
    (finding, *_) = store(storage, found, [first, first, first])
    assert finding.key is not None
    assert found[1][1].file_name in finding.key
