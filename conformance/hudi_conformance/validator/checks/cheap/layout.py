"""Folders and names below the base path, apart from the timeline."""

import re
from collections.abc import Iterator, Mapping

from hudi_conformance.validator.checks.finding import NO_ACTIONS, NOT_READ, Check, Finding, Severity, Tally, finding_of
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.errors import HudiError, StorageFault
from hudi_reference.files.base.parquet import parquet_footer
from hudi_reference.layout.java_properties import load
from hudi_reference.layout.metadata_settings import USABLE
from hudi_reference.layout.names import BASE_EXTENSIONS, PARTITION_METAFILE, join_path, split_path
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.metadata.availability import METADATA_FOLDER, PATH_KEY, definitions_path, read_definitions
from hudi_reference.metadata.definitions import IndexDefinition
from hudi_reference.metadata.partitions import BuiltIn, Kind
from hudi_reference.query.plan import schema_of
from hudi_reference.schema.avro import META_COLUMNS, field_names
from hudi_reference.timeline.instants.instant import Instant, parse_instant_name
from hudi_reference.timeline.instants.states import State
from hudi_reference.timeline.instants.version_6 import parse_legacy_name

ADD_METAFILES = "in Spark SQL: call repair_add_partition_meta(table => '...', dry_run => false)"
#: The functions of expression indexes that Apache Hudi knows (IDX-034).
_FUNCTIONS = frozenset({
    "identity", "year", "month", "day", "hour", "date_format", "from_unixtime", "unix_timestamp", "to_date", "to_timestamp",
    "date_add", "date_sub", "lower", "upper", "trim", "ltrim", "rtrim", "length", "substring", "split", "regexp_extract",
    "regexp_replace",
})  # fmt: skip
#: Names that a person or a copying tool gave to a data file: they look like one, and no reader takes them for one.
_ALMOST_LOG = re.compile(r"\.?[^/]+\.log\.\d+[^/]*")
#: Names that begin as that of a partition metadata file, which a writer renames when it is complete, and are not its name. The
#: clients of some object stores mark a folder by an empty object with its name and `_$folder$`.
_OF_A_WRITER = re.compile(rf"\.hoodie_(?!\$folder\$$|partition_metadata(\.({'|'.join(BASE_EXTENSIONS)}))?$).*")


def _links(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """No symbolic link is below the base path."""
    tally.looked("LAY-005", at=len(table.listing.files))
    for path in table.listing.links:
        yield Finding(
            "LAY-005", "wrong-answers", path, "Readers differ: some follow the link out of the table, others refuse the table.",
            "folders and ordinary files", "a symbolic link", "replace the link by a copy of its target, or remove it",
        )  # fmt: skip


def _staged(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """Hidden files of writers are not left behind. A file that is younger than an hour may belong to a writer at work."""
    left = [info for path, info in table.listing.files.items() if _OF_A_WRITER.fullmatch(split_path(path)[1])]
    tally.looked("LAY-019", at=len(table.listing.staged) + len(left))
    for info in (*table.listing.staged, *left):
        if table.now - info.modified > 3_600_000:
            yield Finding("LAY-019", "lost-space", info.path, "No query reads the file.", "no temporary file",
                          f"{info.size} bytes of a writer that crashed", "delete the file")  # fmt: skip


def _unlisted(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """Storage lists every folder of the table."""
    tally.looked("LAY-001", at=len(table.listing.folders))
    for path, fault in table.listing.unlisted.items():
        yield finding_of(fault, "wrong-answers", NOT_READ, rule="LAY-001", path=path or table.uri)


def _timeline_folder(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """The timeline is a folder with files, not a file with that name or folders with the names of instants."""
    folder = table.properties.timeline_folder
    tally.looked("LAY-017")
    if folder in table.listing.files:
        yield Finding("LAY-017", "data-lost", folder, "No action is visible: readers see an empty table or refuse it.",
                      "a folder", "a file", "restore the folder from another copy of the table")  # fmt: skip
    elif lost := _files_of_lost_actions(table):
        yield Finding("LAY-017", "data-lost", folder, NO_ACTIONS,
                      "the actions that stored the data files", f"no action, and {lost} data files",
                      "restore the folder from another copy, or hoodie.timeline.path in hoodie.properties")  # fmt: skip
    for path in sorted(table.listing.folders):
        parent, name = split_path(path)
        if parent == folder and _is_instant(name):
            yield Finding("TL-046", "wrong-answers", path, "The action in this place is invisible or refused.", "a file",
                          "a folder", "restore the file or remove the folder; the action may have completed")  # fmt: skip


def _files_of_lost_actions(table: StoredTable) -> int:
    """The number of data files of actions that were on a timeline which has none any more."""
    if table.state_files or table.history.errors:
        return 0
    archived = {instant.requested for instant in table.history.instants}
    return sum(file.name.instant not in archived for file in table.data_files.values())


def _is_instant(name: str) -> bool:
    try:
        return parse_instant_name(name) is not None
    except HudiError:
        return True


def _other_layout(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """All instants are in the folder of the table's version."""
    tally.looked("COMPAT-006")
    written = {file.name.instant for file in table.data_files.values()}
    known = {instant.identity for instant in (*table.timeline.completed, *table.history.instants)}
    for path in table.listing.files:
        folder, name = split_path(path)
        if table.properties.is_legacy:
            moved = _completed(name) if folder == f"{META_FOLDER}/timeline" else None
        else:
            moved = parse_legacy_name(name) if folder == META_FOLDER else None
        if moved is not None:
            is_lost = moved.identity not in known and (moved.requested in written or _replaces(moved))
            if is_lost or not table.properties.is_legacy:
                yield _half_migrated(path, table.properties.timeline_folder, is_lost=is_lost)


def _replaces(instant: Instant) -> bool:
    """Whether rows may come back without the action, also if it has no files: it may delete partitions."""
    return instant.action == "replacecommit" and instant.state is State.COMPLETED


def _moved_actions(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """No completed file of an action is outside of the timeline while its data files are in the table."""
    completed = {instant.identity for instant in (*table.timeline.completed, *table.history.instants)}
    written = {file.name.instant for file in table.data_files.values()}
    known = (table.properties.timeline_folder, META_FOLDER, f"{META_FOLDER}/timeline")
    tally.looked("LAY-017", at=len(table.listing.files))
    for path in table.listing.files:
        folder, name = split_path(path)
        if folder in known or path.startswith(f"{METADATA_FOLDER}/"):
            continue
        moved = parse_legacy_name(name) if table.properties.is_legacy else _completed(name)
        if (
            moved is not None
            and moved.state is State.COMPLETED
            and moved.identity not in completed
            and moved.requested in written
        ):
            yield Finding(
                "LAY-017", "data-lost", path, "Queries lack the rows of the action: readers look for it on the timeline alone.",
                f"the file in {table.properties.timeline_folder}", f"the file in {folder or 'the base path'}",
                f"move the file to {table.properties.timeline_folder}",
            )  # fmt: skip


def _completed(name: str) -> Instant | None:
    try:
        found = parse_instant_name(name)
    except HudiError:
        return None
    return found if found is not None and found.state is State.COMPLETED else None


def _half_migrated(path: str, folder: str, *, is_lost: bool) -> Finding:
    meaning = "Readers ignore the file; writers refuse the table until it is removed."
    if is_lost:
        meaning = "Readers look for instants in one folder alone: rows of the action are missing, or replaced rows are read."
    return Finding(
        "COMPAT-006", "data-lost" if is_lost else "cosmetic", path, meaning,
        f"every instant in {folder}", "an instant of another layout",
        "finish the change of version: hudi-conformance migrate TABLE --yes after an upgrade of the reference, or call "
        "upgrade_table or downgrade_table of Apache Hudi again; keep the file until then",
    )  # fmt: skip


def _partition_metafiles(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """Each folder with data files has a partition metadata file, and its depth is that of the folder."""
    if table.is_metadata_table:
        return
    filled = {file.partition for file in table.data_files.values()}
    marked = {split_path(path)[0] for path in table.listing.files if split_path(path)[1].startswith(PARTITION_METAFILE)}
    last = max((one.requested for one in (*table.timeline.instants, *table.history.instants)), default="")
    for partition in sorted(filled | set(filter(table.scope.wants, marked))):
        if partition.split("/")[0] == META_FOLDER:
            continue
        tally.looked("LAY-003")
        path = join_path(partition, PARTITION_METAFILE)
        names = (path, *(f"{path}.{extension}" for extension in BASE_EXTENSIONS))
        there = [one for one in names if one in table.listing.files]
        for one in there:
            yield from _metafile(table, partition, one, last)
        if not there:
            yield _without_metafile(table, partition, path)


def _without_metafile(table: StoredTable, partition: str, path: str) -> Finding:
    """Without a metadata table Apache Hudi takes a folder below the base path for that of a partition by this file alone."""
    severity: Severity = "cosmetic"
    meaning = (
        "Engines that list folders instead of using the metadata table do not find the partition, and Apache Hudi "
        "leaves its files out of a metadata table that it creates."
    )
    has_rows = any(split_path(named)[0] == partition for named in table.named_files)
    if partition and has_rows and BuiltIn.FILES not in table.properties.fields(USABLE):
        severity, meaning = "wrong-answers", "Queries of Apache Hudi lack the rows of the partition."
    return Finding("LAY-003", severity, path, meaning, "the file, in each folder with data files", "no file", ADD_METAFILES)


def _metafile(table: StoredTable, partition: str, path: str, last: str) -> Iterator[Finding]:
    """The depth and the time in a partition metadata file; `last` is the last requested time of the table."""
    try:
        entries = _entries_of_metafile(table, path)
    except StorageFault as error:
        yield finding_of(error, "wrong-answers", NOT_READ, rule="LAY-003", path=path)
        return
    if entries is None:
        return
    depth, time = entries.get("partitionDepth"), entries.get("commitTime")
    expected = str(len(partition.split("/")) if partition else 0)
    if depth != expected:
        yield Finding("LAY-003", "cosmetic", path, "Engines that find the base path by this file fail in this partition.",
                      f"partitionDepth={expected}", repr(depth), ADD_METAFILES)  # fmt: skip
    if time and last and not table.history.errors and (not time.isdigit() or time > last):
        yield Finding("LAY-003", "cosmetic", path, "No query reads the time.", f"commitTime of an action up to {last}",
                      repr(time), ADD_METAFILES)  # fmt: skip


def _entries_of_metafile(table: StoredTable, path: str) -> Mapping[str, str] | None:
    """The entries of a partition metadata file: properties, or those of a footer; none of a damaged file, None of ORC.

    Raises StorageFault.
    """
    try:
        if path.endswith(PARTITION_METAFILE):
            return load(table.storage.get(path), path)
        if not path.endswith(".parquet"):
            return None
        with parquet_footer(table.storage, path) as footer:
            found = footer.metadata or {}
        return {key.decode(errors="replace"): value.decode(errors="replace") for key, value in found.items()}
    except StorageFault:
        raise
    except (HudiError, FileNotFoundError):
        return {}


def _names(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """Files that look like data files have names that readers recognize."""
    for path, info in table.listing.files.items():
        partition, name = split_path(path)
        if not table.scope.wants(partition) or name.endswith(".crc") or _is_hidden(path, name):
            continue
        is_base = name.rpartition(".")[2] in BASE_EXTENSIONS and not name.startswith(PARTITION_METAFILE)
        if not is_base and not _ALMOST_LOG.fullmatch(name):
            continue
        rule = "BF-003" if is_base else "LF-002"
        tally.looked(rule)
        if table.name_of(path) is None:
            yield Finding(
                rule, "lost-space", path, "No query reads the file.",
                "<file id>_<write token>_<instant>.<extension>" if is_base
                else ".<file id>_<instant>.log.<version>_<write token>",
                f"{info.size} bytes under another name", "delete the file, unless another program needs it",
            )  # fmt: skip


def _other_files(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """RDR-008: a partition has data files. Another program stored files without a name of Hudi's there."""
    marked = {split_path(path)[0] for path in table.listing.files if split_path(path)[1].startswith(PARTITION_METAFILE)}
    for path, info in table.listing.files.items():
        partition, name = split_path(path)
        if partition not in marked or not table.scope.wants(partition) or path.startswith(f"{META_FOLDER}/"):
            continue
        extension = name.rpartition(".")[2].lower()
        if name.startswith((".", "_")) or extension in ("crc", *BASE_EXTENSIONS) or _ALMOST_LOG.fullmatch(name):
            continue
        if _is_instant(name):
            continue
        tally.looked("RDR-008")
        age = (table.now - info.modified) // 1000
        yield Finding("RDR-008", "cosmetic", path, "No query reads the file.", "data files and partition metadata alone",
                      f"{info.size} bytes, {age} s old", "delete the file, unless another program needs it")  # fmt: skip


def _is_hidden(path: str, name: str) -> bool:
    """Whether other programs treat the file as a temporary one: a folder begins with `.` or `_`, or a base file with `.`."""
    folders = path.split("/")[:-1]
    in_hidden = any(step.startswith((".", "_")) and not step.startswith("__") for step in folders)
    return in_hidden or (name.startswith((".", "_")) and ".log." not in name)


def _definitions(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """The definitions of indexes are readable, and each index of a user has one."""
    text = table.entries.get(PATH_KEY)
    named = [one for one in table.properties.fields(USABLE) if one.startswith(("secondary_index_", "expr_index_"))]
    if not text and not named:
        return
    tally.looked("LAY-016", "PROP-014")
    remedy = "restore the file, or drop the indexes and create them again"
    meaning = "Readers cannot use the indexes, and writers cannot maintain them."
    try:
        defined = {one.partition: one for one in read_definitions(table.storage, table.properties)}
        path = definitions_path(text) if text else PATH_KEY
    except HudiError as error:
        yield finding_of(error, "wrong-answers", meaning, rule="LAY-016", path=str(text), remedy=remedy)
        return
    columns = _columns(table)
    for name in named:
        if name not in defined:
            yield Finding("LAY-016", "wrong-answers", path, meaning, f"a definition of {name}", ", ".join(sorted(defined)),
                          remedy, key=name)  # fmt: skip
        elif fault := _fault_of_definition(defined[name]):
            yield Finding("PROP-014", "wrong-answers", path, meaning, *fault, remedy, key=name)
        elif columns and (lacking := [one for one in defined[name].columns if one.partition(".")[0] not in columns]):
            yield Finding("PROP-014", "wrong-answers", path, meaning, f"{name} of columns of the table",
                          f"{', '.join(lacking)}, which is no column", remedy, key=name)  # fmt: skip


def _fault_of_definition(one: IndexDefinition) -> tuple[str, str] | None:
    """What is expected and found in the definition of a secondary or expression index; None if it is complete."""
    if not one.columns:
        return "a column in sourceFields", "none"
    if one.partition.startswith(f"{Kind.EXPRESSION}_"):
        if one.kind not in (BuiltIn.COLUMN_STATS, BuiltIn.BLOOM_FILTERS):
            return f"the type {BuiltIn.COLUMN_STATS} or {BuiltIn.BLOOM_FILTERS}", repr(one.kind)
        if one.function not in _FUNCTIONS:
            return f"one of the functions {', '.join(sorted(_FUNCTIONS))}", repr(one.function)
        return None
    if one.kind == Kind.SECONDARY and one.function not in ("identity", ""):
        return "the function identity", repr(one.function)
    return None if one.kind == Kind.SECONDARY else (f"the type {Kind.SECONDARY}", repr(one.kind))


def _columns(table: StoredTable) -> frozenset[str]:
    """The columns of the table; none if they are not known, which others report."""
    try:
        schema = schema_of(table.commits, table.properties)
    except HudiError:
        return frozenset()
    return frozenset({*field_names(schema), *META_COLUMNS}) if schema else frozenset()


CHECKS = (
    Check("layout.unlisted-folders", ("LAY-001",), "cheap", _unlisted, tables="data"),
    Check("layout.links", ("LAY-005",), "cheap", _links),
    Check("layout.temporary-files", ("LAY-019",), "cheap", _staged),
    Check("layout.timeline-folder", ("LAY-017", "TL-046"), "cheap", _timeline_folder),
    Check("layout.one-layout", ("COMPAT-006",), "cheap", _other_layout),
    Check("layout.moved-actions", ("LAY-017",), "cheap", _moved_actions),
    Check("layout.partition-metadata", ("LAY-003",), "cheap", _partition_metafiles),
    Check("layout.other-files", ("RDR-008",), "cheap", _other_files, tables="data"),
    Check("layout.names", ("BF-003", "LF-002"), "cheap", _names),
    Check("layout.index-definitions", ("LAY-016", "PROP-014"), "cheap", _definitions),
)
