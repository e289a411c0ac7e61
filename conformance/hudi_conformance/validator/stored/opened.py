"""A stored table as the reference reads it: its rows, and its metadata table."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hudi_reference.caching import cached_property
from hudi_reference.clock import SystemClock
from hudi_reference.errors import HudiError
from hudi_reference.files.base_file import read_footer
from hudi_reference.ids import RandomIds
from hudi_reference.layout.names import LogFileName, parse_data_file_name, require_log_file_name, split_path
from hudi_reference.layout.properties import TableProperties
from hudi_reference.metadata.availability import METADATA_FOLDER, read_definitions, usable_partitions
from hudi_reference.metadata.definitions import IndexDefinition
from hudi_reference.metadata.lookup.index_snapshot import IndexSnapshot
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.query.damage_checks import NO_CHECKS
from hudi_reference.query.file_groups import FileGroups
from hudi_reference.query.plan import schema_of
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.query.table import EMPTY_SCHEMA, Table, View
from hudi_reference.schema.avro import AvroSchema, parse_schema, without_meta_columns
from hudi_reference.schema.field_ids import FieldIdMapping, Version
from hudi_reference.services.planning.rollback_validation import files_of_pending_cleans
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents.metadata import CommitMetadata, WriteStat
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State
from hudi_reference.timeline.schema_history import field_id_mapping, read_schema_versions

#: The parts of the merge configuration, which are left out of it if the reference cannot merge.
_MERGING = ("record.merge", "payload", "precombine", "ordering.fields", "partial.update")


def repeated_ids(version: Version) -> list[int]:
    """The ids that several fields of a version of the schema have; there are none in a sound table."""
    ids = Counter(field.id for top in version for field in top.tree())
    return [number for number, count in ids.items() if count > 1]


@dataclass(frozen=True)
class Opened:
    """A table, opened with all that could be read of its timeline and file groups; the rest is made at its first use."""

    storage: Storage
    uri: str
    properties: TableProperties
    timeline: Timeline
    groups: FileGroups
    #: The requested times of the archived actions; None if the history is damaged.
    archived: frozenset[str] | None = None
    #: The metadata of the archived writes, as far as it is known.
    archived_commits: Mapping[Instant, CommitMetadata] = field(default_factory=dict)

    @cached_property
    def table(self) -> Table:
        """The table."""
        return Table(self.storage, SystemClock(), RandomIds(), self.properties, self.uri, parallelism=1)

    @cached_property
    def view(self) -> View:
        """Its present state."""
        return View(self.timeline, self.groups, self._schema, self.by_id)

    @cached_property
    def by_id(self) -> FieldIdMapping | None:
        """Matches columns by the field ids of the schema history; None if no statement changed the schema, or it is damaged."""
        return self._mapping(self.groups.commits)

    def _mapping(self, commits: Mapping[Instant, CommitMetadata]) -> FieldIdMapping | None:
        try:
            found = field_id_mapping(read_schema_versions(self.storage, self.timeline), commits)
        except HudiError:
            return None
        return None if found is None or any(map(repeated_ids, found.history.versions.values())) else found

    @cached_property
    def _schema(self) -> AvroSchema:
        found = schema_of(self.groups.commits, self.properties)
        return self._schema_of_a_base_file() or EMPTY_SCHEMA if found is None else found

    def _schema_of_a_base_file(self) -> AvroSchema | None:
        for found in self.groups.latest_slices:
            if found.base_file and found.base_file not in found.missing:
                text = read_footer(self.storage, found.path(found.base_file)).schema
                if text:
                    return without_meta_columns(parse_schema(text, found.base_file))
        return None

    @cached_property
    def reader(self) -> SliceReader:
        """The reader of its slices, also of base files that are not those that were written.

        If the reference cannot merge, only base files and blocks may be read; see `can_merge`.
        """
        table = replace(self.table, checks=NO_CHECKS)
        if self.can_merge:
            return self.view.reader(table)
        kept = {key: value for key, value in self.properties.entries.items() if not any(part in key for part in _MERGING)}
        properties = TableProperties({**kept, "hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"})
        return self.view.reader(replace(table, properties=properties))

    def reader_of(self, service: Instant) -> SliceReader:
        """The reader that gives rows the columns and types with which a service stored them.

        A value that was widened twice has another text if a service stored it in between: an integer as a float.
        """
        text = self.groups.commits[service].schema
        schema = self._schema if text is None else without_meta_columns(parse_schema(text, service.file_name))
        if schema == self._schema:
            return self.reader
        before = {one: commit for one, commit in self.groups.commits.items() if one.requested <= service.requested}
        view = replace(self.view, schema=schema, by_id=self._mapping(before))
        return view.reader(replace(self.table, checks=NO_CHECKS))

    @property
    def merge_mode(self) -> str | None:
        """The merge mode; None if the properties do not tell it, which the check of the properties reports."""
        try:
            return self.properties.merge_mode
        except HudiError:
            return None

    @cached_property
    def can_merge(self) -> bool:
        """Whether the reference knows how records of the table are merged: not by foreign code, or by unknown settings."""
        try:
            self.view.reader(self.table)
        except HudiError:
            return False
        return True

    @cached_property
    def writers(self) -> dict[str, tuple[Instant, CommitMetadata, WriteStat]]:
        """The write of the active timeline that stored a data file last, with its statistics, by the path of the file."""
        return {
            stat.path: (instant, commit, stat)
            for instant, commit in self.groups.commits.items()
            for stat in commit.stats
            if stat.path
        }

    @cached_property
    def spans(self) -> Mapping[str, Sequence[tuple[str, WriteStat]]]:
        """The statistics of all writes of the active timeline that stored bytes of a file, with their requested times."""
        found: dict[str, list[tuple[str, WriteStat]]] = {}
        for instant, commit in self.groups.commits.items():
            for stat in commit.stats:
                found.setdefault(stat.path, []).append((instant.requested, stat))
        return found

    @cached_property
    def stored_base_files(self) -> frozenset[tuple[str, str, str]]:
        """Partition, file group and instant of each base file that a write of the active timeline stored."""
        return frozenset(
            (stat.partition, stat.file_id, instant.requested)
            for instant, commit in self.groups.commits.items()
            for stat in commit.stats
            if stat.path and not stat.is_log
        )

    @cached_property
    def operations(self) -> Mapping[str, str]:
        """The operations of the writes of the active timeline, by their requested times."""
        return {instant.requested: commit.operation for instant, commit in self.groups.commits.items()}

    @cached_property
    def _completed(self) -> frozenset[str]:
        """The requested times of completed writes, as far as they are known."""
        return frozenset(one.requested for one in self.timeline.commits) | (self.archived or frozenset())

    def has_completed(self, requested: str) -> bool:
        """Whether a write with that time completed. With a damaged history, writes before the timeline count as completed."""
        if requested in self._completed:
            return True
        return self.archived is None and self.timeline.completion_of(requested) is not None

    @cached_property
    def had_version_6(self) -> bool:
        """Whether writers of version 6 or before may have written some of its files.

        The version with which an upgraded table began says so, until `CREATE TABLE ... LOCATION` of Apache Hudi 1.0.2 replaces
        it by the present one; a table that was downgraded keeps a later one. The log files from before the upgrade keep their
        names, which have the instant of a base file.
        """
        initial = self.properties.get("hoodie.table.initial.version") or "0"
        if self.properties.is_legacy or not initial.isdecimal() or int(initial) < 8:
            return True
        commits = {**self.archived_commits, **self.groups.commits}
        written = [(instant.requested, stat) for instant, commit in commits.items() for stat in commit.stats]
        bases = {(stat.partition, stat.file_id, instant) for instant, stat in written if ".log." not in stat.path}
        return any(
            stat.previous_instant != instant and f"_{stat.previous_instant}.log." in stat.path
            and (stat.partition, stat.file_id, stat.previous_instant) in bases
            for instant, stat in written
        )  # fmt: skip

    @cached_property
    def being_cleaned(self) -> frozenset[str]:
        """The paths of the files in the plans of pending cleans, which may have deleted some of them."""
        try:
            return files_of_pending_cleans(self.table, self.timeline)
        except HudiError:
            return frozenset()

    @cached_property
    def latest_files(self) -> frozenset[str]:
        """The paths of the files that a snapshot reads."""
        slices = self.groups.latest_slices
        return frozenset(one.path(name) for one in slices for name in (one.base_file, *one.log_files) if name)

    def others_of_attempt(self, path: str) -> Iterator[str]:
        """The paths of the other log files that the attempt which stored a log file stored for its file group."""
        partition, name = split_path(path)
        own = parse_data_file_name(name)
        if isinstance(own, LogFileName) and (partition, own.file_id) in self.groups.groups:
            for found in self.groups.groups[partition, own.file_id].slices:
                known = {one: require_log_file_name(one) for one in found.log_files if one != name}
                yield from (found.path(one) for one, parts in known.items() if replace(parts, version=own.version) == own)

    @cached_property
    def indexes(self) -> IndexSnapshot | None:
        """The usable partitions of the metadata table, without entries of pending actions; None if there are none.

        None also while a rollback or restore is pending: it has removed a write, perhaps before its entries, and no reader uses
        the metadata table until it has completed.

        Raises what the reference raises for a damaged metadata table, with paths below that of the table.
        """
        try:
            return self._indexes()
        except HudiError as error:
            if error.path and not error.path.startswith(METADATA_FOLDER):
                error.path = f"{METADATA_FOLDER}/{error.path}"
            raise

    @cached_property
    def has_indexes(self) -> bool:
        """Whether the metadata table has usable partitions, and can be opened. Other checks report why it cannot."""
        try:
            return self.indexes is not None
        except HudiError:
            return False

    def _indexes(self) -> IndexSnapshot | None:
        usable = usable_partitions(self.properties)
        is_used = not self.properties.is_legacy and not any(i.action in ("rollback", "restore") for i in self.timeline.pending)
        metadata = MetadataTable.for_table(self.table) if usable and is_used else None
        if metadata is None or metadata.properties.is_legacy:
            return None
        pending, timeline = self.timeline.pending_times, metadata.timeline
        instants = (replace(one, state=State.INFLIGHT) if one.requested in pending else one for one in timeline.instants)
        return IndexSnapshot(metadata, replace(timeline, instants=tuple(instants)), usable)

    @cached_property
    def definitions(self) -> dict[str, IndexDefinition]:
        """The definitions of the indexes, by their partitions; none if they cannot be read."""
        try:
            return {one.partition: one for one in read_definitions(self.storage, self.properties)}
        except HudiError:
            return {}
