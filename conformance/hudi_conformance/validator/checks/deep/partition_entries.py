"""Statistics of partitions against the statistics of their files, of columns and of the functions of expression indexes.

A writer makes the entry of a partition from the entries of the latest files at the time of its write. A write that replaces
file groups includes those that it replaces, so that there is a range of right numbers. An entry that is not tight was merged
with those before it: it counts rows twice, and may have bounds of files that no query reads any more.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from hudi_conformance.validator.checks.deep.file_entries import Place
from hudi_conformance.validator.checks.deep.named_entries import indexes_of_names, payloads
from hudi_conformance.validator.checks.finding import Check, Finding, Tally
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.layout.names import parse_data_file_name
from hudi_reference.metadata.keys import column_stats_key, expression_partition_stats_key, partition_stats_key
from hudi_reference.metadata.partitions import BuiltIn, Kind
from hudi_reference.metadata.records import Bound, ColumnStats, PartitionStats
from hudi_reference.query.file_groups import FileSlice

_WIDE = "Queries read the files of the partition more often than necessary."
#: The numbers of an entry, and what they count.
_NUMBERS = {
    "value_count": "values", "null_count": "nulls", "total_size": "stored bytes", "total_uncompressed_size": "decoded bytes",
}  # fmt: skip


def _indexes(table: StoredTable) -> Sequence[str]:
    found = indexes_of_names(table)
    return tuple(
        one for one in found
        if one.startswith(Kind.EXPRESSION) or (one == BuiltIn.PARTITION_STATS and BuiltIn.COLUMN_STATS in found)
    )  # fmt: skip


def examine_partitions(table: StoredTable, index: str, tally: Tally) -> Iterator[Finding]:
    """MDT-014: the statistics of a partition are those of its files. Others report entries with wrong names."""
    is_named = index == BuiltIn.PARTITION_STATS
    entries = payloads(table, index)
    files = payloads(table, BuiltIn.COLUMN_STATS) if is_named else entries
    latest, replaced = _paths(table)
    older = _before_compactions(table, files.values())
    key_of = partition_stats_key if is_named else expression_partition_stats_key
    for key, entry in entries.items():
        if not isinstance(entry, PartitionStats) or key != key_of(entry.column, entry.partition):
            continue
        now, before = (
            [files.get(column_stats_key(entry.column, entry.partition, name)) for name in names.get(entry.partition, ())]
            for names in (latest, replaced)
        )
        stored = [one for one in (*now, *before) if isinstance(one, ColumnStats)]
        if now and len(stored) == len(now) + len(before):
            tally.looked("MDT-014")
            others = older.get((entry.partition, entry.column), ())
            known = {one.file_name: one for one in (*stored, *others)}
            for expected, found in _deviations(entry, () if others else stored[: len(now)], tuple(known.values())):
                yield Place(index, entry.partition or ".").finding("MDT-014", "cosmetic", _WIDE, expected, found, entry.column)


def _paths(table: StoredTable) -> tuple[Mapping[str, list[str]], Mapping[str, list[str]]]:
    """By partition the names of the files that a snapshot reads, and of those that it read before their group was replaced."""
    latest: dict[str, list[str]] = {}
    replaced: dict[str, list[str]] = {}
    for group in table.opened.view.groups:
        found, chosen = (latest, group.latest) if group.replaced_by is None else (replaced, group.slices[0])
        if chosen is not None:
            found.setdefault(group.partition, []).extend(chosen.files)
    return latest, replaced


def _before_compactions(table: StoredTable, entries: Iterable[object]) -> Mapping[tuple[str, str], list[ColumnStats]]:
    """By partition and column the entries of files of groups where a write completed before the compaction of its slice did.

    Apache Hudi 1.2.0 leaves the entry of the partition that this write made from the files before the compaction.
    """
    partitions = {one.file_id: one.partition for one in table.opened.view.groups.latest_slices if _is_beside_writes(table, one)}
    found: dict[tuple[str, str], list[ColumnStats]] = {}
    for entry in entries if partitions else ():
        name = parse_data_file_name(entry.file_name) if isinstance(entry, ColumnStats) else None
        if isinstance(entry, ColumnStats) and name is not None and name.file_id in partitions:
            found.setdefault((partitions[name.file_id], entry.column), []).append(entry)
    return found


def _is_beside_writes(table: StoredTable, one: FileSlice) -> bool:
    """Whether a log file of a slice is of a write that completed before the base file did."""
    completion_of = table.opened.timeline.completion_of
    compacted = completion_of(one.base_instant) if one.base_file and one.log_files else None
    times = (completion_of(name.instant) for name in map(parse_data_file_name, one.log_files) if name is not None)
    return compacted is not None and any(time is not None and time < compacted for time in times)


def _deviations(
    entry: PartitionStats, latest: Sequence[ColumnStats], known: Sequence[ColumnStats]
) -> Iterator[tuple[str, str]]:
    """What is expected and found: between the latest files, and all that are known, those of replaced groups as well."""
    for name, unit in _NUMBERS.items():
        least, most = (sum(getattr(one, name) or 0 for one in some) for some in (latest, known))
        number = getattr(entry, name)
        if number is not None and (number < least or (entry.is_tight and number > most)):
            yield f"{least} {unit}, those of its files", f"{number} {unit}"
    for side in ("least", "greatest") if entry.is_tight else ():
        bound = getattr(entry, side)
        bounds = [getattr(one, side) for one in known]
        if bound is not None and _is_comparable(bound, bounds) and bound not in bounds:
            yield f"a {side} value that a file has", repr(bound.value)[:100]
    if entry.value_type is not None and entry.value_type not in (types := [one.value_type for one in known]):
        yield f"the type of values of its files, {types[0]}", str(entry.value_type)


def _is_comparable(bound: Bound, known: Sequence[Bound | None]) -> bool:
    """Whether the bounds are of one type, without a NaN, which files do not have as a bound (ER-164)."""
    values = [bound, *(one for one in known if one is not None)]
    has_nan = any(isinstance(one.value, float) and math.isnan(one.value) for one in values)
    return len(values) > 1 and len({one.wrapper for one in values}) == 1 and not has_nan


PARTITION_ENTRIES = Check("metadata.partition-entries", ("MDT-014",), "deep", examine_partitions, _indexes, tables="data")
