"""Entries of record keys against the rows that a snapshot reads: the record index, and the secondary indexes.

A part is some file groups of an index, small enough for the memory of a process. The keys of all rows are compared with it.
"""

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from hudi_conformance.validator.checks.deep.file_entries import Place
from hudi_conformance.validator.checks.deep.groups import has_all_rows
from hudi_conformance.validator.checks.deep.keys import were_inserted
from hudi_conformance.validator.checks.deep.named_entries import is_time, times_of_groups
from hudi_conformance.validator.checks.finding import Check, Finding, Severity, Tally
from hudi_conformance.validator.checks.remedies import rebuild
from hudi_conformance.validator.stored.opened import Opened
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.errors import HudiError
from hudi_reference.metadata.availability import METADATA_FOLDER
from hudi_reference.metadata.definitions import V1, V2
from hudi_reference.metadata.indexes.secondary_index import secondary_texts
from hudi_reference.metadata.lookup.index_snapshot import IndexSnapshot
from hudi_reference.metadata.partitions import BuiltIn, IndexGroups, Kind, key_in_part, part_of, split_key
from hudi_reference.metadata.records import RecordLocation, SecondaryEntry
from hudi_reference.metadata.secondary_keys import prefix_of, secondary_key
from hudi_reference.query.file_groups import FileSlice, GroupId
from hudi_reference.records.changes import KEY
from hudi_reference.schema.fields import column_at, path_of, type_at

#: The bytes of index files that a part may have.
AT_ONCE = 64 << 20
#: The part of a key of a secondary index before the record key, with the separator: a `$` without a backslash before it.
_VALUE = re.compile(r"(?:[^$\\]|\\.)*+\$", re.DOTALL)


@dataclass(frozen=True)
class IndexPart:
    """Some file groups of an index, by their ids; `groups` are all."""

    index: str
    ids: tuple[str, ...]
    groups: IndexGroups
    #: Whether the hash of the part before the record key selects the file group, as in version V2 of a secondary index.
    by_value: bool = False

    def __str__(self) -> str:
        return f"{METADATA_FOLDER}/{self.index}"

    def holds(self, key: str) -> bool:
        """Whether the entry of a key belongs to these file groups. A partition of the table may have none yet."""
        found = self.group_of(key)
        return found in self.ids if found else self.ids[0] == min(one for ids in self.groups.by_part.values() for one in ids)

    def group_of(self, key: str) -> str | None:
        """The file group of a key, in which look-ups search it; None if its partition has no file groups."""
        part, stored = split_key(key) if self.groups.is_partitioned else (None, key)
        ids = self.groups.by_part.get(part, ())
        return ids[_number_of(stored, len(ids), by_value=self.by_value)] if ids else None

    def key_in(self, partition: str, key: str) -> str:
        """The key in the index of a record in a partition of the table."""
        return key_in_part(partition if self.groups.is_partitioned else None, key)


def _number_of(key: str, groups: int, *, by_value: bool) -> int:
    """The number of the file group of a stored key: that of Java's hash of the key, or of the part before the record key.

    It is computed without the function of the reference, so that a fault of that function is found.
    """
    match = _VALUE.match(key)
    text = (match[0] if match else prefix_of(key)) if by_value else key  # without a match it raises an error
    found = 0
    for (unit,) in struct.iter_unpack("<H", text.encode("utf-16-le", "surrogatepass")):
        found = (31 * found + unit) & 0xFFFFFFFF
    return abs(found - (found >> 31 << 32)) % groups


def parts_of(table: StoredTable) -> Sequence[IndexPart | None]:
    """The parts of all such indexes; one part None if the metadata table cannot be read: examining it raises the error.

    Nothing with limited partitions, because an entry does not show to which partition its record belongs.
    """
    if table.scope.lacks_partitions or table.scope.sample is not None or not has_all_rows(table):
        return ()
    try:
        snapshot = table.opened.indexes
        return () if snapshot is None else tuple(_parts(table.opened, snapshot))
    except HudiError:
        return (None,)


def _parts(opened: Opened, snapshot: IndexSnapshot) -> Iterator[IndexPart]:
    """The parts of each index. Without its definition nothing is known of the keys of a secondary index."""
    for index in snapshot.usable:
        definition = opened.definitions.get(index)
        if index == BuiltIn.RECORD_INDEX or (definition is not None and index.startswith(Kind.SECONDARY)):
            by_value = index != BuiltIn.RECORD_INDEX and definition is not None and definition.version == V2
            sizes = {one.file_id: _size(snapshot, one) for one in snapshot.slices(index)}
            groups = IndexGroups.from_ids(sizes)
            yield from (IndexPart(index, ids, groups, by_value) for ids in _packed(sizes))


def _size(snapshot: IndexSnapshot, one: FileSlice) -> int:
    found = (snapshot.metadata.storage.head(one.path(name)) for name in (one.base_file, *one.log_files) if name)
    return sum(info.size for info in found if info is not None)


def _packed(sizes: Mapping[str, int]) -> Iterator[tuple[str, ...]]:
    """The file groups in parts of about the greatest size."""
    chosen: list[str] = []
    for one, size in sizes.items():
        if chosen and sum(sizes[known] for known in chosen) + size > AT_ONCE:
            yield tuple(chosen)
            chosen = []
        chosen.append(one)
    if chosen:
        yield tuple(chosen)


def examine_part(table: StoredTable, part: IndexPart | None, tally: Tally) -> Iterator[Finding]:
    """The entries that are missing, that should not be there, and that lead elsewhere."""
    snapshot = table.opened.indexes
    if snapshot is None:
        return
    if part is None:
        _ = tuple(_parts(table.opened, snapshot))  # raises the error that kept the parts from being found
        return
    yield from _misplaced(snapshot, part)
    stored = {
        key_in_part(part_of(found.file_id), key): one.payload
        for found in snapshot.slices(part.index)
        if found.file_id in part.ids
        for key, one in snapshot.metadata.records_of_slice(found).items()
    }
    rule = "IDX-010" if part.index == BuiltIn.RECORD_INDEX else "IDX-024"
    tally.looked(rule, at=len(stored))
    if part.index == BuiltIn.RECORD_INDEX:
        locations = {key: one for key, one in stored.items() if isinstance(one, RecordLocation)}
        yield from RecordIndex(table, part, locations).findings()
        yield from _of_other_times(table, part, locations, tally)
    else:
        valid = {key for key, one in stored.items() if not (isinstance(one, SecondaryEntry) and one.is_deleted)}
        yield from _secondary_findings(table, part, valid)


def _misplaced(snapshot: IndexSnapshot, part: IndexPart) -> Iterator[Finding]:
    """IDX-010 and IDX-024: each entry is in the file group that a look-up of its key reads."""
    for found in snapshot.slices(part.index):
        if found.file_id not in part.ids:
            continue
        of_part = part_of(found.file_id)
        wrong = [
            key
            for key in snapshot.metadata.records_of_slice(found)
            if part.group_of(key_in_part(of_part, key)) != found.file_id
        ]
        if wrong:
            yield Place(part.index, found.file_id).finding(
                "IDX-010" if part.index == BuiltIn.RECORD_INDEX else "IDX-024", "wrong-answers",
                "Look-ups of these keys read another file group and find nothing.",
                f"entries in the file group of the hash of their key, of {len(part.groups.by_part[of_part])} file groups",
                f"{_listed(wrong)} in {found.file_id}", min(wrong),
            )  # fmt: skip


def _rows(opened: Opened, columns: Sequence[str]) -> Iterator[tuple[FileSlice, pa.Table | None]]:
    """The rows of each slice with these columns and filled keys; None if a slice cannot be read, which others report."""
    for one in opened.view.groups.latest_slices:
        if one.log_files and not opened.can_merge:
            yield one, None
            continue
        try:
            names = list(dict.fromkeys([*opened.reader.key_columns, *columns]))
            yield one, opened.reader.keyed(opened.reader.read(one, names))
        except HudiError:
            yield one, None


@dataclass
class RecordIndex:
    """The comparison of entries of the record index with the rows."""

    table: StoredTable
    part: IndexPart
    locations: Mapping[str, RecordLocation]
    #: By file group, keys that have no entry; keys whose entry names another group; and the keys that are where they should be.
    missing: dict[GroupId, list[str]] = field(default_factory=dict)
    elsewhere: dict[str, GroupId] = field(default_factory=dict)
    right: set[str] = field(default_factory=set)
    #: Where a key was found first, and the keys of which another partition has a row too.
    first: dict[str, FileSlice] = field(default_factory=dict)
    twice: dict[str, FileSlice] = field(default_factory=dict)
    unread: set[GroupId] = field(default_factory=set)

    def findings(self) -> Iterator[Finding]:
        """All deviations, folded by file group."""
        for one, rows in _rows(self.table.opened, ()):
            if rows is None:
                self.unread.add(one.group)
            else:
                self._compare(one, [self.part.key_in(one.partition, key) for key in rows.column(KEY).to_pylist() if key])
        yield from self._of_missing()
        yield from self._of_elsewhere()
        yield from self._of_extra()
        yield from self._of_duplicates()

    def _compare(self, one: FileSlice, keys: Sequence[str]) -> None:
        for key in keys:
            if self.part.holds(key) and self.first.setdefault(key, one).partition != one.partition:
                self.twice[key] = one
            location = self.locations.get(key)
            if location is None:
                if self.part.holds(key):
                    self.missing.setdefault(one.group, []).append(key)
            elif _group_of(location) == one.group:
                self.right.add(key)
            else:
                self.elsewhere[key] = one.group

    def _of_missing(self) -> Iterator[Finding]:
        for group, keys in sorted(self.missing.items()):
            yield self._finding(
                "wrong-answers", "Queries by these keys return nothing, and an upsert inserts them again.",
                f"entries that name file group {_text(group)}", f"no entry for {_listed(keys)}", keys[0],
            )  # fmt: skip

    def _of_elsewhere(self) -> Iterator[Finding]:
        """A key of two rows has one entry, which is right for one of them: the check of unique keys reports it."""
        folded: dict[tuple[GroupId, GroupId], list[str]] = {}
        for key, group in self.elsewhere.items():
            if key not in self.right and (named := _group_of(self.locations[key])) not in self.unread:
                folded.setdefault((group, named), []).append(key)
        for (group, named), keys in sorted(folded.items()):
            yield self._finding(
                "wrong-answers", "Queries by these keys return nothing, and an upsert writes them to the wrong file group.",
                f"entries that name file group {_text(group)}", f"{_text(named)} for {_listed(keys)}", keys[0],
            )  # fmt: skip

    def _of_extra(self) -> Iterator[Finding]:
        """Entries of keys without rows. They harm if their file group is not read: an upsert writes to it."""
        living = {one.group for one in self.table.opened.view.groups.latest_slices}
        folded: dict[GroupId, list[str]] = {}
        for key, location in self.locations.items():
            group = _group_of(location)
            if key not in self.right and key not in self.elsewhere and group not in self.unread:
                folded.setdefault(group, []).append(key)
        for group, keys in sorted(folded.items()):
            severity: Severity = "cosmetic" if group in living else "wrong-answers"
            meaning = (
                "Queries by these keys read a file group without such rows."
                if group in living
                else "An upsert of these keys writes to a file group that no query reads."
            )
            yield self._finding(severity, meaning, "no entry", f"{_text(group)} for {_listed(keys)}", keys[0])

    def _of_duplicates(self) -> Iterator[Finding]:
        """Keys of several partitions. The keys of a partitioned index have their partition in them, so that none is twice."""
        folded: dict[tuple[GroupId, GroupId, bool], list[str]] = {}
        for key, one in self.twice.items():
            inserted = were_inserted(self.table.opened, [self.first[key], one], key)
            folded.setdefault((self.first[key].group, one.group, inserted), []).append(key)
        for (group, other, inserted), keys in sorted(folded.items()):
            yield self._finding(
                "cosmetic" if inserted else "wrong-answers",
                "Queries return several rows for a key, because inserts do not look keys up; the index locates one of them."
                if inserted else "Queries return several rows for a key, of which the index locates one.",
                "one row for each record key of the table", f"rows of {_listed(keys)} in {_text(group)} and {_text(other)}",
                keys[0],
            )  # fmt: skip

    def _finding(self, severity: Severity, meaning: str, expected: str, found: str, key: str) -> Finding:
        path = f"{METADATA_FOLDER}/{self.part.index}"
        return Finding("IDX-010", severity, path, meaning, expected, found, rebuild(self.part.index), key)


def _of_other_times(
    table: StoredTable, part: IndexPart, locations: Mapping[str, RecordLocation], tally: Tally
) -> Iterator[Finding]:
    """IDX-020: the time of an entry is that of a completed write of its file group, in any time zone.

    Nothing can be told if the history lacks the metadata of a write.
    """
    known = times_of_groups(table)
    if table.opened.had_version_6 or not table.known_actions.have_all_writes:
        return
    folded: dict[tuple[GroupId, int], list[str]] = {}
    for key, location in locations.items():
        tally.looked("IDX-020")
        group = _group_of(location)
        times = known.get(group)
        if times and not any(is_time(location.milliseconds, time) for time in times):
            folded.setdefault((group, location.milliseconds), []).append(key)
    for (group, found), keys in sorted(folded.items()):
        yield Finding(
            "IDX-020", "cosmetic", f"{METADATA_FOLDER}/{part.index}",
            "Engines that check the time take the location for that of a failed write.",
            f"the time of a write to file group {_text(group)}", f"{found} for {_listed(keys)}", rebuild(part.index), keys[0],
        )  # fmt: skip


def _group_of(location: RecordLocation) -> GroupId:
    try:
        return location.partition, location.location.file_id
    except HudiError:
        return location.partition, ""


def _text(group: GroupId) -> str:
    return "/".join(filter(None, group))


def _listed(keys: Sequence[str]) -> str:
    return repr(min(keys)) + (f" and {len(keys) - 1} more keys" if len(keys) > 1 else "")


def _secondary_findings(table: StoredTable, part: IndexPart, stored: set[str]) -> Iterator[Finding]:
    """The pairs of value and record key that an index lacks, or has without a row.

    In version V1 a pair of a null is neither: releases differ (ER-168).
    """
    definition = table.opened.definitions.get(part.index)
    if definition is None or len(definition.columns) != 1 or definition.function not in ("identity", ""):
        return
    name, version, schema = definition.columns[0], definition.version or V1, table.opened.reader.schema
    if type_at(schema, name) is None:
        return
    missing, extra = list[str](), {key for key in stored if version != V1 or not key.startswith("\0")}
    for _, rows in _rows(table.opened, [path_of(schema, name)[0]]):
        values = None if rows is None else column_at(rows, name)
        if rows is None or values is None:
            return
        texts = secondary_texts(values.combine_chunks(), version).to_pylist()
        pairs = zip(texts, rows.column(KEY).to_pylist(), strict=True)
        for key in (
            secondary_key(text, record, version) for text, record in pairs if record and (text is not None or version != V1)
        ):
            extra.discard(key)
            if key not in stored and part.holds(key):
                missing.append(key)
    if missing:
        yield Place(part.index, "").finding(
            "IDX-024", "wrong-answers", "Queries by the value do not return the rows.", "an entry for each row with a value",
            f"none for {_listed(missing)}", min(missing),
        )  # fmt: skip
    if extra:
        yield Place(part.index, "").finding(
            "IDX-024", "cosmetic", "Queries by the value look for rows that do not have it.", "no entry without a row",
            _listed(sorted(extra)), min(extra),
        )  # fmt: skip


KEY_ENTRIES = Check("metadata.key-entries", ("IDX-010", "IDX-020", "IDX-024"), "deep", examine_part, parts_of, tables="data")
