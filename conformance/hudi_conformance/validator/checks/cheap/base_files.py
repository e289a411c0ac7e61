"""The footers of base files: format, number of rows, and the schema against that of the table. HFiles are read whole."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from hudi_conformance.validator.checks.finding import Check, Finding, Severity, Tally, finding_of
from hudi_conformance.validator.checks.written_schemas import (
    WrittenSchema,
    absent_from_all,
    columns_without_values,
    disagreements,
    fits,
    has_schema_history,
    nulls_of_required,
    schema_of_write,
)
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.errors import HudiError
from hudi_reference.files.base.orc import opened_orc
from hudi_reference.files.base.parquet import parquet_footer
from hudi_reference.files.base_file import read_footer
from hudi_reference.files.hfile.reader import HFile, open_hfile
from hudi_reference.files.inspection.block_scan import scan_blocks
from hudi_reference.layout.names import split_path
from hudi_reference.layout.properties import META_FOLDER, PROPERTIES_PATH
from hudi_reference.parquet_statistics import chunk_statistics
from hudi_reference.query.plan import schema_of
from hudi_reference.schema.avro import arrow_schema
from hudi_reference.timeline.contents.avro_container import read_record
from hudi_reference.timeline.instants.instant import Instant

_POPULATE = "hoodie.populate.meta.fields"
#: The settings of a bootstrapped table, and the folder of the index of its files.
_SOURCE, _INDEXED = "hoodie.bootstrap.base.path", "hoodie.bootstrap.index.enable"
_INDEX = f"{META_FOLDER}/.aux/.bootstrap/.fileids"
#: The entry of the file info with what the index says of itself.
_INFO = "INDEX_INFO"
_NO_SOURCE = "Queries fail, or return nulls in the columns that are outside of the table."
RESTORE = "restore the file from another copy of the table"
_UNREADABLE = "Queries that need the file fail, and its rows are lost unless there is another copy."


def _base_files(table: StoredTable) -> Sequence[str]:
    """The base files of file slices that are on storage."""
    names = (one.path(one.base_file) for group in table.groups for one in group.slices if one.base_file)
    return table.scope.chosen(tuple(path for path in names if path in table.data_files and table.data_files[path].size))


def _footers(table: StoredTable, path: str, tally: Tally) -> Iterator[Finding]:
    """The file has the format of its extension, a footer, and columns that fit the schema of the table."""
    tally.looked("BF-002", "BF-010")
    try:
        yield from _examined(table, path, tally)
    except HudiError:
        try:
            read_footer(table.storage, path)
        except HudiError as error:
            yield finding_of(error, "data-lost", _UNREADABLE, rule="BF-002", path=path, remedy=RESTORE)
            return
        raise


def _examined(table: StoredTable, path: str, tally: Tally) -> Iterator[Finding]:
    if path.endswith(".hfile"):
        yield from _hfile(table, path, tally)
    elif path.endswith(".orc"):
        with opened_orc(table.storage, path) as (orc, _):
            schema, rows = orc.schema, orc.nrows
        yield from _row_count(table, path, rows, tally)
        yield from _schema(table, path, schema, tally)
    else:
        yield from _parquet(table, path, tally)


def _parquet(table: StoredTable, path: str, tally: Tally) -> Iterator[Finding]:
    """A footer. Its schema is converted only if it differs from those that fit already, because most files have the same."""
    with parquet_footer(table.storage, path) as footer:
        yield from _row_count(table, path, footer.num_rows, tally)
        yield from _stored_keys(table, footer, tally)
        write = schema_of_write(table, table.data_files[path].name.instant)
        known: dict[str, pq.ParquetSchema] = table.once("fitting schemas", dict)
        text = "" if write is None else write.text
        if text in known and footer.schema.equals(known[text]):
            tally.looked("LF-038", at=footer.num_columns)
            return
        columns = footer.schema.to_arrow_schema()
        findings = list(_schema(table, path, columns, tally))
        optional = [] if write is None else [one.name for one in columns if one.nullable and one.name in write.required]
        if not findings and not optional:
            known[text] = footer.schema
        yield from findings
        if write is not None:
            yield from nulls_of_required(write, [name for name in optional if _has_nulls(footer, name)])


def _stored_keys(table: StoredTable, footer: pq.FileMetaData, tally: Tally) -> Iterator[Finding]:
    """PROP-001: a table whose meta columns are not filled has files without record keys in them."""
    if table.properties.populates_meta_fields or table.is_metadata_table:
        return
    tally.looked("PROP-001")
    if any(one.has_min_max and one.max for one in _statistics(footer, "_hoodie_record_key")):
        yield Finding(
            "PROP-001", "wrong-answers", PROPERTIES_PATH,
            "Incremental queries are refused, and keys are computed from the key fields alone.",
            "no keys in the column _hoodie_record_key", f"keys in it, and {_POPULATE}=false", f"set {_POPULATE} to true",
            key=_POPULATE,
        )  # fmt: skip


def _has_nulls(footer: pq.FileMetaData, name: str) -> bool:
    """Whether the statistics of a column count nulls."""
    return any(one.has_null_count and one.null_count > 0 for one in _statistics(footer, name))


def _statistics(footer: pq.FileMetaData, name: str) -> Iterator[pq.Statistics]:
    """The statistics of a column without inner columns, in each row group that has them."""
    places = [number for number in range(footer.num_columns) if footer.schema.column(number).path == name]
    for group in map(footer.row_group, range(footer.num_row_groups)):
        found = (chunk_statistics(group.column(place), footer.schema.column(place)) for place in places)
        yield from (one for one in found if one is not None)


def _hfile(table: StoredTable, path: str, tally: Tally) -> Iterator[Finding]:
    """Trailer and indexes can be read, and the checksum of every block is right."""
    open_hfile(table.storage, path)
    tally.looked("BLK-024")
    for piece in scan_blocks(memoryview(table.storage.get(path))):
        for field in piece.fields:
            if field.is_wrong:
                yield Finding("BF-002", "data-lost", path, _UNREADABLE, f"{field.name}: {field.expected}", field.says, RESTORE,
                              offset=field.offset)  # fmt: skip


def _row_count(table: StoredTable, path: str, rows: int, tally: Tally) -> Iterator[Finding]:
    said = _row_counts(table).get(path)
    if said is not None:
        tally.looked("TL-007")
        if said != rows:
            severity: Severity = "cosmetic"
            meaning = "Queries count the rows of the file."
            if rows < said:
                severity, meaning = "data-lost", "Queries lack rows that the write stored."
            yield Finding("TL-007", severity, path, meaning, f"{said} rows, as the commit metadata says",
                          f"{rows} rows in the footer", RESTORE)  # fmt: skip


def _schema(table: StoredTable, path: str, schema: pa.Schema, tally: Tally) -> Iterator[Finding]:
    yield from disagreements(table, table.data_files[path].name.instant, schema)
    yield from _lost_columns(table, path, schema)
    wanted = _table_schema(table)
    if wanted is None:
        return
    tally.looked("LF-038", at=len(schema))
    for field in schema:
        if field.name in wanted.names and not fits(field.type, wanted.field(field.name).type):
            yield Finding(
                "LF-038", "wrong-answers", path, "Queries that read the column fail.",
                f"{field.name} of a type that can become {wanted.field(field.name).type}", str(field.type),
                "change the type of the column in the table's schema back, and write the table again", key=field.name,
            )  # fmt: skip


def _lost_columns(table: StoredTable, path: str, schema: pa.Schema) -> Iterator[Finding]:
    """LF-038: columns of the schema of the write that the file lacks, while other files show that it had them.

    A write that began before the write with a new column completed has the column in its schema, but not in its files.
    """
    requested = table.data_files[path].name.instant
    wanted = schema_of_write(table, requested)
    lacking = () if wanted is None else tuple(columns_without_values(table, wanted, schema))
    if wanted is None or not lacking:
        return
    others = _writes_by_column(table, wanted)
    for name in lacking:
        earlier = (one.requested == requested or (one.completion or one.requested) <= requested for one in others.get(name, ()))
        if wanted.is_own and any(earlier):
            yield Finding(
                "LF-038", "wrong-answers", path, "Queries return nulls in the column for the rows of this file.",
                f"{name}, as other files of writes with this schema have it", "no such column", RESTORE, key=name,
            )  # fmt: skip
        elif wanted.has_whole_files and name not in others:
            yield absent_from_all(wanted, name)


def _writes_by_column(table: StoredTable, wanted: WrittenSchema) -> Mapping[str, Collection[Instant]]:
    """The writes with this schema that have a base file with the column, by the names of all columns."""

    def compute() -> dict[str, set[Instant]]:
        found = defaultdict(set)
        for instant, commit in table.commits.items():
            for path in commit.paths if commit.schema == wanted.text else ():
                for column in _columns_of(table, path):
                    found[column].add(instant)
        return dict(found)

    found: Mapping[str, Collection[Instant]] = table.once(f"columns of {wanted.text}", compute)
    return found


def _columns_of(table: StoredTable, path: str) -> Sequence[str]:
    """The columns of a base file; none of another file, and of one that cannot be read, which others report."""
    with suppress(HudiError, FileNotFoundError):
        if path.endswith(".orc"):
            with opened_orc(table.storage, path) as (orc, _):
                return tuple(orc.schema.names)
        if path.endswith(".parquet"):
            with parquet_footer(table.storage, path) as footer:
                return tuple(footer.schema.to_arrow_schema().names)
    return ()


def _row_counts(table: StoredTable) -> Mapping[str, int]:
    def compute() -> dict[str, int]:
        return {s.path: s.writes for commit in table.groups.commits.values() for s in commit.stats if s.writes and not s.is_log}

    found: dict[str, int] = table.once("row counts", compute)
    return found


def _table_schema(table: StoredTable) -> pa.Schema | None:
    """The latest schema; None if there is none, or if a statement changed it so that columns are matched by id."""

    def compute() -> pa.Schema | None:
        if table.is_metadata_table or has_schema_history(table):
            return None
        try:
            found = schema_of(table.commits, table.properties)
            return None if found is None else arrow_schema(found)
        except HudiError:
            return None  # `actions.schemas` reports it

    return table.once("schema", compute)


def _bootstrapped(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """LAY-001: the table tells where the columns of bootstrapped rows are: the folder, and an index of its files."""
    lacking = [one for one in table.groups.latest_slices if one.lacks_columns]
    tally.looked("LAY-001", at=len(lacking))
    if not lacking:
        return
    for key, value in ((_SOURCE, table.entries.get(_SOURCE)), (_INDEXED, table.entries.get(_INDEXED, "true"))):
        if value in (None, "", "false"):
            expected = f"{key}, as the bootstrap set it"
            yield Finding("LAY-001", "wrong-answers", PROPERTIES_PATH, _NO_SOURCE, expected, str(value), RESTORE, key=key)
    yield from _other_source(table, tally)
    known = _bootstrap_keys(table)
    for one in lacking:
        if known.isdisjoint(f"part={name};fileid={one.file_id}" for name in (one.partition, one.partition or ".")):
            yield Finding(
                "LAY-001", "wrong-answers", one.path(one.base_file or ""), _NO_SOURCE, f"an entry of the group in {_INDEX}",
                "none that can be read", "restore the folder from another copy of the table, or bootstrap the table again",
                key=one.file_id,
            )  # fmt: skip


def _bootstrap_indexes(table: StoredTable) -> Iterator[tuple[str, HFile]]:
    """The files of the index of bootstrapped files that can be read."""
    for path in sorted(table.listing.files):
        if split_path(path)[0] == _INDEX and path.endswith(".hfile"):
            with suppress(HudiError):
                yield path, open_hfile(table.storage, path)


def _bootstrap_keys(table: StoredTable) -> frozenset[str]:
    """The keys in the index of bootstrapped files, as far as it can be read."""
    found = set[str]()
    for _, index in _bootstrap_indexes(table):
        with suppress(HudiError):
            found |= {entry.row.decode(errors="replace") for entry in index.range("")}
    return frozenset(found)


def _other_source(table: StoredTable, tally: Tally) -> Iterator[Finding]:
    """LAY-001: the folder that was bootstrapped is that of the index. Readers follow the paths of files in the index."""
    said = table.entries.get(_SOURCE)
    for path, index in _bootstrap_indexes(table):
        stored = read_record(index.info[_INFO], path).get("bootstrapBasePath") if _INFO in index.info else None
        tally.looked("LAY-001", at=stored is not None)
        if said and stored and _folder(said) != _folder(stored):
            yield Finding(
                "LAY-001", "cosmetic", PROPERTIES_PATH, "Queries find the files by their paths in the index.",
                f"{_SOURCE}={stored}, as {path} has it", said, RESTORE, key=_SOURCE,
            )  # fmt: skip


def _folder(uri: str) -> str:
    """The path of a folder, without the scheme that some writers store."""
    return urlsplit(uri).path.rstrip("/")


CHECKS = (
    Check(
        "base-files.footers",
        ("BF-002", "BF-010", "BLK-024", "LF-038", "PROP-001", "TL-007"),
        "cheap", _footers, _base_files,
    ),
    Check("base-files.bootstrapped", ("LAY-001",), "cheap", _bootstrapped, tables="data"),
)  # fmt: skip
