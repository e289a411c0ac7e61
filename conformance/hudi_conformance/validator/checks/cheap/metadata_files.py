"""The listing of files in the metadata table, compared with the files on storage that completed writes own."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from hudi_conformance.validator.checks.finding import Check, Finding, Tally, finding_of
from hudi_conformance.validator.checks.remedies import REBUILD, rebuild
from hudi_conformance.validator.stored.file_views import DataFile
from hudi_conformance.validator.stored.pending import EXPIRED
from hudi_conformance.validator.stored.stored_properties import OF_METADATA_TABLES
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.clock import SystemClock
from hudi_reference.errors import HudiError
from hudi_reference.ids import RandomIds
from hudi_reference.layout.metadata_settings import INFLIGHT, USABLE
from hudi_reference.layout.names import join_path, parse_data_file_name, split_path
from hudi_reference.layout.properties import PROPERTIES_PATH
from hudi_reference.metadata.availability import METADATA_FOLDER, PATH_KEY, read_definitions, usable_partitions
from hudi_reference.metadata.definitions import IS_PARTITIONED, SINCE, V1, V2, is_partitioned
from hudi_reference.metadata.keys import ALL_PARTITIONS, partition_identifier
from hudi_reference.metadata.partitions import BuiltIn, IndexGroups, part_of
from hudi_reference.metadata.records import FileList, MetadataRecord, PartitionList
from hudi_reference.metadata.table import MetadataTable

FILES = BuiltIn.FILES.value
FOLDER = f"{METADATA_FOLDER}/{FILES}"


def _records(table: StoredTable) -> dict[str, MetadataRecord] | None:
    """The records of the partition `files` by key; None without it, and for version 6, of which no reader here uses it."""
    inside = table.metadata_table
    if (
        inside is None
        or FILES not in table.properties.fields(USABLE)
        or table.properties.is_legacy
        or inside.properties.is_legacy
    ):
        return None
    reader = MetadataTable(inside.storage, inside.properties, SystemClock(), RandomIds())
    return reader.records(FILES, table.timeline)


def _in_metadata_table(found: Finding) -> Finding:
    """The finding of an error of the metadata table, whose paths are relative to it."""
    if found.path.startswith(METADATA_FOLDER):
        return found
    return replace(found, path=f"{METADATA_FOLDER}/{found.path}", remedy=REBUILD)


def _listing(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """The listing has exactly the committed files, with their sizes."""
    try:
        records = _records(table)
    except HudiError as error:
        found = finding_of(error, "wrong-answers", "Readers cannot list files through the metadata table.", rule="MDT-002",
                           path=FOLDER, remedy=REBUILD)  # fmt: skip
        yield _in_metadata_table(found)
        return
    if records is None:
        return
    listed, expected = _listed(records), _committed(table)
    yield from _partitions(table, records, expected, tally)
    for path in sorted(expected.keys() | listed.keys()):
        if table.scope.wants(path.rpartition("/")[0]):
            tally.looked("MDT-008")
            yield from _compared(table, path, expected.get(path), listed.get(path))


def _listed(records: Mapping[str, MetadataRecord]) -> dict[str, int]:
    """The sizes of the listed files by path."""
    found = {}
    for key, record in records.items():
        if isinstance(record.payload, FileList):
            partition = "" if key == "." else key
            for name, info in record.payload.files.items():
                if not info.is_deleted:
                    found[join_path(partition, name)] = info.size
    return found


def _committed(table: StoredTable) -> dict[str, int]:
    """The sizes of the files on storage that completed writes own and that no action removed, by path."""
    owned = {
        one.path(name) for group in table.owned for one in group.slices for name in (one.base_file, *one.log_files) if name
    }
    owned |= table.named_files
    return {path: file.size for path, file in table.data_files.items() if path in owned and not _is_removed(table, path, file)}


def _is_removed(table: StoredTable, path: str, file: DataFile) -> bool:
    """Whether a clean or a rollback deleted a file, and no service that executed its plan again stored it after that."""
    rollback = table.removals.rolled_back.get(path)
    stored = table.timeline.completion_of(file.name.instant) or ""
    return path in table.removals.cleaned or (rollback is not None and stored <= (rollback.completion or ""))


def _compared(table: StoredTable, path: str, size: int | None, listed: int | None) -> Iterator[Finding]:
    if listed is None:
        yield Finding("MDT-008", "wrong-answers", FOLDER, "Readers that use the metadata table lack the rows of the file.",
                      f"{path} with {size} bytes", "no entry", REBUILD, key=path)  # fmt: skip
    elif size is None:
        yield from _entry_without_owner(table, path, listed)
    elif size != listed:
        yield Finding("MDT-013", "wrong-answers", FOLDER, "Readers that trust the listed size fail, or lack rows.",
                      f"{path} with {size} bytes", f"{listed} bytes", REBUILD, key=path)  # fmt: skip


def _entry_without_owner(table: StoredTable, path: str, listed: int) -> Iterator[Finding]:
    """An entry of a file that is not there, or that no completed write owns. Readers ignore those of pending writes."""
    parsed = table.name_of(path)
    written = "" if parsed is None else parsed.instant
    if path in table.removals.planned or written in table.removals.pending_targets:
        return  # the entry is removed when the action completes
    if path in table.data_files and _has_other_finding(table, table.data_files[path]):
        return
    meaning = "Readers ignore the entry, because its write is not completed."
    is_read = table.timeline.completion_of(written) is not None
    if is_read:
        meaning = "Readers that use the metadata table fail, or read rows that those who list folders do not read."
    expected = "no entry for a file that " + ("no completed write owns" if path in table.listing.files else "does not exist")
    yield Finding("MDT-008", "wrong-answers" if is_read else "cosmetic", FOLDER, meaning, expected,
                  f"{path} with {listed} bytes", REBUILD, key=path)  # fmt: skip


def _has_other_finding(table: StoredTable, file: DataFile) -> bool:
    """Whether the entry may be right: of a write that was lost, a clean of the latest state, or changes without metadata."""
    if file.is_change_log or table.history.may_have(file.name.instant, table.timeline.instants):
        return True
    latest = (one for one in table.owned.latest_slices if one.group == file.group)
    return file.path in table.removals.cleaned and any(file.path in one.paths for one in latest)


def _partitions(
    table: StoredTable, records: Mapping[str, MetadataRecord], committed: Mapping[str, int], tally: Tally
) -> Iterator[Finding]:
    """The record of all partitions names each partition with files."""
    everything = records.get(ALL_PARTITIONS)
    known = everything.payload.partitions if everything is not None and isinstance(everything.payload, PartitionList) else {}
    present = {partition_identifier(split_path(path)[0]) for path in table.data_files}
    for key, info in sorted(known.items()):
        if not info.is_deleted and key not in records and key not in present:
            yield Finding("MDT-007", "cosmetic", FOLDER, "Readers look for files in a partition that never had any.",
                          "partitions with files", f"{key} in the record {ALL_PARTITIONS}, and no list of its files",
                          REBUILD, key=key)  # fmt: skip
    for partition in sorted({split_path(path)[0] for path in committed}):
        tally.looked("MDT-007")
        key = partition_identifier(partition)
        if key not in known or known[key].is_deleted:
            yield Finding("MDT-007", "wrong-answers", FOLDER, "Readers that use the metadata table do not find the partition.",
                          f"{key} in the record {ALL_PARTITIONS}", "no entry", REBUILD, key=key)  # fmt: skip


def _timelines(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """Writes of the metadata table belong to actions of the table: one without such an action is the trace of a lost action."""
    inside = table.metadata_table
    if inside is None or not table.timeline.instants:
        return
    known = {instant.requested for instant in (*table.timeline.instants, *table.history.instants)}
    targets = table.removals.targets.keys() | table.removals.pending_targets
    first, restores = min(known), _restores(table)
    for instant in inside.timeline.completed:
        if not _is_of_data(instant.requested) or table.history.may_have(instant.requested, table.timeline.instants):
            continue
        if any(begin <= instant.requested <= end for begin, end in restores):
            continue  # the update for a restore has a time of its own (Apache Hudi 1.0.2)
        tally.looked("MDT-001")
        stats = inside.commits[instant].stats if instant in inside.commits else ()
        if instant.requested not in known and instant.requested > first and instant.requested not in targets and stats:
            if inside.commits[instant].is_service or (table.opened.had_version_6 and sum(one.writes for one in stats) == 1):
                continue  # an upgrade or downgrade of Apache Hudi updates the list of partitions under a time of its own
            yield Finding(
                "MDT-001", "wrong-answers", inside.path_of(instant).replace(".hoodie/", f"{METADATA_FOLDER}/.hoodie/", 1),
                "The metadata table has entries of an action that timeline and history do not have: it was lost or removed.",
                f"an action {instant.requested} of the table", "no such action",
                "restore the files of the action from another copy of the table, or rebuild the metadata table",
            )  # fmt: skip


def _restores(table: StoredTable) -> list[tuple[str, str]]:
    """The requested and the completion times of restores; a pending one has not ended."""
    instants = (*table.timeline.instants, *table.history.instants)
    return [(one.requested, one.completion or "9" * 17) for one in instants if one.action == "restore"]


def _is_of_data(requested: str) -> bool:
    """Whether the time is one of an action of the data table: the build of a partition has a counter of zeros."""
    return len(requested) == 17 and not requested.startswith("000000")


def _group_numbers(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """IDX-010: each index has all its file groups, numbered from 0; the hash of a key and their number select one of them.

    An index that is being built gets its file groups one after the other.
    """
    inside, usable = table.metadata_table, usable_partitions(table.properties)
    if inside is None:
        return
    found: dict[str, list[str]] = {}
    for group in inside.groups:
        if group.replaced_by is None and group.partition in usable:
            found.setdefault(group.partition, []).append(group.file_id)
    for partition in sorted(usable):
        tally.looked("IDX-010")
        path, ids = f"{METADATA_FOLDER}/{partition}", found.get(partition, [])
        if not ids and inside.timeline.instants and _has_data_files(inside, partition):
            yield Finding(
                "IDX-010", "wrong-answers", path, "Writers refuse the table, and readers that use the index find nothing.",
                f"file groups of completed writes, as {USABLE} lists the index", "files of writes that are not completed",
                rebuild(partition),
            )  # fmt: skip
            continue
        try:
            counted = {one for group in IndexGroups.from_ids(ids).by_part.values() for one in group}
        except HudiError as error:
            meaning = "Look-ups in the index read another file group than that of the key, and find nothing."
            yield replace(
                finding_of(error, "wrong-answers", meaning, rule="IDX-010", path=path), path=path, remedy=rebuild(partition)
            )
            continue
        if others := sorted(set(ids) - counted):
            yield Finding(
                "IDX-010", "cosmetic", path, "Readers that count the file group look for keys in another one.",
                "file ids with the name of the index and a number", ", ".join(others)[:200],
                rebuild(partition),
            )  # fmt: skip


def _has_data_files(inside: StoredTable, partition: str) -> bool:
    """Whether a partition has data files; without any, the check of the property that lists it reports it."""
    return any(path.startswith(f"{partition}/") for path in inside.data_files)


def _versions(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """COMPAT-009: the metadata table has the version of its table."""
    inside = table.metadata_table
    if inside is None or inside.version is None or table.version is None:
        return
    tally.looked("COMPAT-009")
    if inside.version != table.version:
        yield Finding(
            "COMPAT-009", "wrong-answers", f"{METADATA_FOLDER}/{PROPERTIES_PATH}",
            "Releases that know one of the two versions refuse the table, or leave the metadata table out.",
            f"version {table.version}, as the table has", f"version {inside.version}",
            "finish the change of version: hudi-conformance migrate TABLE, or call upgrade_table or downgrade_table",
            key="hoodie.table.version",
        )  # fmt: skip


def _settings(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """MDT-002: the metadata table has the type, the format, the key and the payload class with which writers make it."""
    inside = table.metadata_table
    if inside is None or inside.properties.is_legacy or not inside.entries:
        return
    for key, value in OF_METADATA_TABLES.items():
        tally.looked("MDT-002")
        if inside.entries.get(key, value) != value:
            yield Finding(
                "MDT-002", "wrong-answers", f"{METADATA_FOLDER}/{PROPERTIES_PATH}",
                "Engines that follow the property find other entries in the metadata table, or refuse it.",
                value, str(inside.entries.get(key)), f"set {key} to {value}", key=key,
            )  # fmt: skip


def _left_over(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """PROP-013: each folder of the metadata table with files of an index is one that readers or an indexer use."""
    listed = {*table.properties.fields(USABLE), *table.properties.fields(INFLIGHT)}
    found: dict[str, int] = {}
    newest = 0
    for path, info in table.listing.below(METADATA_FOLDER).files.items():
        partition, name = split_path(path)
        if partition and info.size and parse_data_file_name(name) is not None:
            found[partition] = found.get(partition, 0) + info.size
            newest = max(newest, info.modified)
    if not listed:
        yield from _unused(table, sum(found.values()), newest)
        return
    being_built = _being_built(table)
    for partition, size in sorted(found.items()):
        tally.looked("PROP-013")
        if partition not in listed | being_built:
            yield Finding(
                "PROP-013", "lost-space", f"{METADATA_FOLDER}/{partition}", "No reader uses the index.",
                f"{partition} in {USABLE} or {INFLIGHT}", f"{size} bytes of an index that no property lists",
                f"let a writer build the index again, or hudi-conformance service TABLE drop-index --index {partition}",
                key=partition,
            )  # fmt: skip


def _being_built(table: StoredTable) -> set[str]:
    """The indexes that pending builds name. Apache Hudi lists an index after it has stored the first files of it."""
    plans = (table.plan_of(instant) for instant in table.timeline.pending if instant.action == "indexing")
    entries = (entry for plan in plans if plan is not None for entry in plan.get("indexPartitionInfos") or ())
    return {str(entry.get("metadataPartitionPath")) for entry in entries}


def _unused(table: StoredTable, size: int, newest: int) -> Iterator[Finding]:
    """PROP-013: a metadata table of which no partition is listed. A writer lists them after it has built them."""
    if table.entries and size and table.now - newest > EXPIRED:
        yield Finding(
            "PROP-013", "lost-space", METADATA_FOLDER, "No reader uses the metadata table, and queries list folders.",
            f"its partitions in {USABLE}", f"{size} bytes of a metadata table that no property lists",
            f"restore {USABLE}, if a write has not changed the table since; otherwise delete the folder", key=USABLE,
        )  # fmt: skip


def _never_built(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """PROP-012: an index that is said to be built has an action that builds it, of the table or of the metadata table."""
    inside = table.metadata_table
    building = sorted({*table.properties.fields(INFLIGHT)} - {*table.properties.fields(USABLE)})
    tally.looked("PROP-012", at=len(building))
    if table.timeline.pending or (inside is not None and inside.timeline.pending):
        return
    for name in building:
        yield Finding(
            "PROP-012", "cosmetic", PROPERTIES_PATH, "No reader uses the index, and writers wait for it to be built.",
            f"a pending action that builds {name}", "no pending action", f"remove {name} from {INFLIGHT}", key=name,
        )  # fmt: skip


def _definitions(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """COMPAT-010 and IDX-047: an index has a version that the table has, and the record index is partitioned as it says."""
    try:
        defined = {one.partition: one for one in read_definitions(table.storage, table.properties)}
    except HudiError:
        return  # `layout.index-definitions` reports it
    path, version = table.entries.get(PATH_KEY, ""), table.version or SINCE
    tally.looked("COMPAT-010", at=len(defined))
    for name in [name for name, one in defined.items() if one.version == V2 and version < SINCE]:
        yield Finding(
            "COMPAT-010", "wrong-answers", path, "Releases that know only this table version take its entries for others.",
            f"{V1}, which tables of version {version} have", V2, rebuild(name), key=name,
        )  # fmt: skip
    record_index = defined.get(BuiltIn.RECORD_INDEX)
    stored = {part_of(one) is not None for one in _groups_of(table, BuiltIn.RECORD_INDEX)} if record_index else set()
    tally.looked("IDX-047", at=len(stored))
    if stored and is_partitioned(record_index) not in stored:
        yield Finding(
            "IDX-047", "wrong-answers", path, "Look-ups of keys read file groups that the index does not have.",
            f"{IS_PARTITIONED} as the names of its file groups show it", str(is_partitioned(record_index)).lower(),
            rebuild(BuiltIn.RECORD_INDEX), key=BuiltIn.RECORD_INDEX,
        )  # fmt: skip


def _groups_of(table: StoredTable, index: str) -> set[str]:
    """The ids of the file groups of an index, by the names of its files."""
    names = (
        parse_data_file_name(split_path(one)[1])
        for one in table.listing.files
        if split_path(one)[0] == f"{METADATA_FOLDER}/{index}"
    )
    return {one.file_id for one in names if one is not None}


CHECKS = (
    Check("metadata.files", ("MDT-002", "MDT-007", "MDT-008", "MDT-013"), "cheap", _listing, tables="data"),
    Check("metadata.file-groups", ("IDX-010",), "cheap", _group_numbers, tables="data"),
    Check("metadata.definitions", ("COMPAT-010", "IDX-047"), "cheap", _definitions, tables="data"),
    Check("metadata.never-built", ("PROP-012",), "cheap", _never_built, tables="data"),
    Check("metadata.settings", ("MDT-002",), "cheap", _settings, tables="data"),
    Check("metadata.left-over-indexes", ("PROP-013",), "cheap", _left_over, tables="data"),
    Check("metadata.version", ("COMPAT-009",), "cheap", _versions, tables="data"),
    Check("metadata.timeline", ("MDT-001",), "cheap", _timelines, tables="data"),
)
