"""What an entry of the metadata table repeats: the names behind its key, its owner, and the instant that stored it.

The key of an entry is a hash of names that the entry, the listing and the schema have too.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import pyarrow.types as pt

from hudi_conformance.validator.checks.deep.file_entries import Place
from hudi_conformance.validator.checks.deep.groups import has_all_rows
from hudi_conformance.validator.checks.finding import Check, Finding, Severity, Tally
from hudi_conformance.validator.checks.remedies import rebuild
from hudi_conformance.validator.checks.written_schemas import has_schema_history
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.caching import cached_property
from hudi_reference.errors import HudiError
from hudi_reference.layout.names import parse_data_file_name, split_path
from hudi_reference.metadata.availability import definitions_path_of
from hudi_reference.metadata.definitions import V1, V2
from hudi_reference.metadata.keys import file_digest, partition_identifier, text_hash
from hudi_reference.metadata.partitions import BuiltIn, Kind
from hudi_reference.metadata.records import BloomFilter, ColumnStats, PartitionList, PartitionStats, Payload
from hudi_reference.query.file_groups import GroupId
from hudi_reference.timeline.instants.times import milliseconds_of

#: The lengths of a hash and of a digest in a key.
_HASH, _DIGEST = 12, 24
_UNNEEDED = "Look-ups read entries that no query needs."


@dataclass(frozen=True)
class _Entries:
    """The entries of an index, with the files and instants that they may be of."""

    table: StoredTable
    index: str

    @cached_property
    def by_digest(self) -> Mapping[str, str]:
        """The paths of all files by the digests of their names."""
        return {file_digest(split_path(path)[1]): path for path in self.table.listing.files}

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of all files."""
        return frozenset(split_path(path)[1] for path in self.table.listing.files)

    @cached_property
    def partitions(self) -> frozenset[str]:
        """All folders with files."""
        return frozenset(split_path(path)[0] for path in self.table.listing.files)

    @cached_property
    def times(self) -> frozenset[str]:
        """The requested times of all completed actions that are known."""
        known = (*self.table.timeline.completed, *self.table.history.instants)
        return frozenset(one.requested for one in known)

    @cached_property
    def version(self) -> str | None:
        """The version of the index by its definition, that of column statistics for partitions; None without a definition."""
        known = self.table.opened.definitions.get(BuiltIn.COLUMN_STATS if self.index == BuiltIn.PARTITION_STATS else self.index)
        return None if known is None else known.version or V1

    @cached_property
    def retyped(self) -> frozenset[str]:
        """The columns whose bounds are stored as numbers or bytes that mean something else: times and decimals."""
        schema = self.table.opened.reader.schema
        return frozenset(one.name for one in schema if pt.is_temporal(one.type) or pt.is_decimal(one.type))

    def finding(
        self, rule: str, severity: Severity, meaning: str, expected: str, found: str, *, path: str, key: str | None = None
    ) -> Finding:
        """A finding about the entry of a file or a partition."""
        return Place(self.index, path).finding(rule, severity, meaning, expected[:200], found[:200], key)


def payloads(table: StoredTable, index: str) -> Mapping[str, Payload]:
    """The entries of an index by key, without those that are marked as deleted."""
    snapshot = table.opened.indexes
    if snapshot is None:
        return {}
    found = (snapshot.metadata.records_of_slice(one) for one in snapshot.slices(index))
    records = ((key, one.payload) for part in found for key, one in part.items())
    return {key: one for key, one in records if not getattr(one, "is_deleted", False)}


def indexes_of_names(table: StoredTable) -> Sequence[str]:
    """The partitions whose keys are made of names, if all files are in scope; others report what cannot be read."""
    if table.scope.lacks_partitions or not has_all_rows(table):
        return ()
    try:
        snapshot = table.opened.indexes
    except HudiError:
        return ()
    wanted = (BuiltIn.FILES, BuiltIn.COLUMN_STATS, BuiltIn.PARTITION_STATS, BuiltIn.BLOOM_FILTERS)
    usable = () if snapshot is None else snapshot.usable
    return tuple(one for one in usable if one in wanted or one.startswith(Kind.EXPRESSION))


def examine_index(table: StoredTable, index: str, tally: Tally) -> Iterator[Finding]:
    """All deviations of the entries of an index, those without an owner folded by owner."""
    entries = _Entries(table, index)
    ownerless: dict[str, list[str]] = {}
    for key, entry in payloads(table, index).items():
        tally.looked("MDT-001")
        if isinstance(entry, ColumnStats | PartitionStats):
            yield from _other_names(entries, key, entry, tally)
            yield from _without_type(entries, entry, tally)
            # Apache Hudi leaves the entries of an expression index when a clean deletes the file.
            if not _has_owner(entries, entry) and not index.startswith(Kind.EXPRESSION):
                ownerless.setdefault(_owner(entry), []).append(entry.column)
        elif isinstance(entry, BloomFilter):
            yield from _of_a_filter(entries, key, entry, tally)
        elif isinstance(entry, PartitionList):
            yield from _of_partitions(entries, entry, tally)
    if index == BuiltIn.COLUMN_STATS:
        yield from _of_definition(entries, tally)
    kind = "partitions" if index == BuiltIn.PARTITION_STATS else "files"
    for name, columns in sorted(ownerless.items()):
        found = f"entries of {', '.join(sorted(columns))}"
        yield entries.finding("MDT-001", "cosmetic", _UNNEEDED, f"entries of {kind} that exist", found, path=name)


def _of_definition(entries: _Entries, tally: Tally) -> Iterator[Finding]:
    """PROP-014: the definition of the column statistics names the columns that have entries, as long as none was renamed."""
    known = entries.table.opened.definitions.get(BuiltIn.COLUMN_STATS)
    if known is None or not known.columns or has_schema_history(entries.table):
        return
    tally.looked("PROP-014")
    stored = (one.column for one in payloads(entries.table, entries.index).values() if isinstance(one, ColumnStats))
    for column in sorted(set(stored).difference(known.columns)):
        yield Finding(
            "PROP-014", "cosmetic", definitions_path_of(entries.table.properties),
            "Queries do not skip files by the column, and writers leave it out of the index.",
            f"{column} in sourceFields of {known.partition}, whose entries have it", f"{', '.join(known.columns)}"[:200],
            rebuild(BuiltIn.COLUMN_STATS), key=column,
        )  # fmt: skip


def _owner(entry: ColumnStats | PartitionStats) -> str:
    return entry.file_name if isinstance(entry, ColumnStats) else entry.partition


def _has_owner(entries: _Entries, entry: ColumnStats | PartitionStats) -> bool:
    return _owner(entry) in (entries.names if isinstance(entry, ColumnStats) else entries.partitions)


def _other_names(entries: _Entries, key: str, entry: ColumnStats | PartitionStats, tally: Tally) -> Iterator[Finding]:
    """MDT-015: an entry names the column, and the file or partition, of its key; readers follow the names in the entry."""
    tally.looked("MDT-015")
    owner, path = _owner(entry), ""
    if isinstance(entry, ColumnStats):
        path = entries.by_digest.get(key[-_DIGEST:], "")
        has_owner = not path or split_path(path)[1] == owner
    else:
        has_owner = text_hash(partition_identifier(owner)) == key[-_HASH:]
    if has_owner and text_hash(entry.column) == key[:_HASH]:
        return
    is_read = isinstance(entry, PartitionStats) or path in entries.table.opened.latest_files
    yield entries.finding(
        "MDT-015", "wrong-answers" if is_read else "cosmetic",
        "Readers take these statistics for those of another column, file or partition, and leave rows out.",
        "the column and the file or partition whose hashes are in the key", f"an entry of {entry.column} in {owner}",
        path=path or owner, key=entry.column,
    )  # fmt: skip


def _without_type(entries: _Entries, entry: ColumnStats | PartitionStats, tally: Tally) -> Iterator[Finding]:
    """MDT-017: in an index of version V2 each entry has the type of its bounds, in one of version V1 none has."""
    if entries.version is None:
        return
    tally.looked("MDT-017")
    if (entry.value_type is None) == (entries.version == V2):
        yield entries.finding(
            "MDT-017", "wrong-answers" if entry.column in entries.retyped else "cosmetic",
            "Readers take the bounds for values of another type, and leave rows out." if entry.column in entries.retyped
            else "Readers take the bounds as they are.",
            f"{'a' if entries.version == V2 else 'no'} valueType, as the version {entries.version} of the index has it",
            str(entry.value_type or "none"), path=_owner(entry), key=entry.column,
        )  # fmt: skip


def _of_a_filter(entries: _Entries, key: str, entry: BloomFilter, tally: Tally) -> Iterator[Finding]:
    """MDT-001 and IDX-007: a filter is that of a file, and its time is that of the file or of a later action.

    A restore stores the filters of the files that stay under its own time.
    """
    path = entries.by_digest.get(key[-_DIGEST:])
    if path is None or text_hash(partition_identifier(split_path(path)[0])) != key[:_HASH]:
        yield entries.finding("MDT-001", "cosmetic", _UNNEEDED, "a filter of a file that exists", "a filter", path=key)
        return
    name, history = parse_data_file_name(split_path(path)[1]), entries.table.history
    tally.looked("IDX-007")
    if name is not None and entry.instant != name.instant and entry.instant not in entries.times and not history.errors:
        meaning = "No query reads the time; programs that do take the filter for that of another write."
        expected = f"{name.instant}, the time of the file, or that of a later action"
        yield entries.finding("IDX-007", "cosmetic", meaning, expected, entry.instant, path=path)


def _of_partitions(entries: _Entries, entry: PartitionList, tally: Tally) -> Iterator[Finding]:
    """MDT-007: the list of partitions has no sizes."""
    for name, info in sorted(entry.partitions.items()):
        tally.looked("MDT-007")
        if info.size:
            yield entries.finding(
                "MDT-007", "cosmetic", "No query reads the size of a partition.", "the size 0", str(info.size), path=name
            )


def times_of_groups(table: StoredTable) -> Mapping[GroupId, set[int]]:
    """By file group the times of its writes, as if they were of UTC.

    An entry may also have the time of a write that was removed: a restore leaves it if the group has the row still.
    """

    def compute() -> dict[GroupId, set[int]]:
        found: dict[GroupId, set[int]] = {}
        for instant, commit in table.owned.commits.items():
            with suppress(HudiError):  # a counter is no time
                time = milliseconds_of(instant.requested)
                for folder, name in map(split_path, commit.paths):
                    if (parsed := parse_data_file_name(name)) is not None:
                        found.setdefault((folder, parsed.file_id), set()).add(time)
        for requested in table.removals.targets:
            with suppress(HudiError):
                for times in found.values():
                    times.add(milliseconds_of(requested))
        return found

    times: Mapping[GroupId, set[int]] = table.once("times of groups", compute)
    return times


def is_time(milliseconds: int, time: int) -> bool:
    """Whether it is that time in some time zone: the offsets of zones are multiples of 15 minutes."""
    difference = milliseconds - time
    return difference % (15 * 60_000) == 0 and abs(difference) <= 14 * 3_600_000


NAMED_ENTRIES = Check(
    "metadata.named-entries", ("IDX-007", "MDT-001", "MDT-007", "MDT-015", "MDT-017", "PROP-014"), "deep", examine_index,
    indexes_of_names, tables="data",
)  # fmt: skip
