"""Properties against what is stored: columns that they name, folders of partitions, and the format of base files."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress

from hudi_conformance.validator.checks.cheap.properties import RESTORE
from hudi_conformance.validator.checks.finding import Check, Finding, Severity, Tally
from hudi_conformance.validator.checks.written_schemas import fits, has_schema_history
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.errors import HudiError
from hudi_reference.layout.names import BaseFileName
from hudi_reference.layout.properties import PROPERTIES_PATH
from hudi_reference.layout.property_table import BY_KEY
from hudi_reference.query.plan import schema_of
from hudi_reference.query.pruning.partition_columns import DROP_KEY
from hudi_reference.schema.avro import META_COLUMNS, AvroSchema, arrow_schema, field_names, parse_schema

RECORD_KEY, PARTITION = "hoodie.table.recordkey.fields", "hoodie.table.partition.fields"
ORDERING = ("hoodie.table.ordering.fields", "hoodie.table.precombine.field")
CREATED = "hoodie.table.create.schema"
HIVE, FORMAT, SEVERAL = (
    "hoodie.datasource.write.hive_style_partitioning", "hoodie.table.base.file.format",
    "hoodie.table.multiple.base.file.formats.enable",
)  # fmt: skip
_MEANING: Mapping[str, str] = {
    RECORD_KEY: "Writers cannot compute record keys, and queries of a table without meta columns fail.",
    PARTITION: "Writers cannot compute partition paths, and queries that filter by the partition fail or read everything.",
}
_ORDERING = "Readers of log files and writers cannot compare the versions of a record."


def _columns(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """PROP-007 to PROP-009: the fields that the properties name are columns of the table."""
    if table.is_metadata_table or (schema := _schema(table)) is None:
        return
    columns = field_names(schema)
    expected, known = f"columns of the table: {', '.join(columns)}"[:200], {one.lower() for one in columns}
    for key in (RECORD_KEY, PARTITION, *ORDERING):
        if key == PARTITION and table.properties.is_set(DROP_KEY):
            continue
        rule, found = BY_KEY[key if key in BY_KEY else ORDERING[0]].rule, f"{key}={table.entries.get(key)}"[:200]
        for name in table.properties.fields(key):
            tally.looked(rule)
            if name not in META_COLUMNS and not _has_column(known, name):
                yield Finding(
                    rule, _severity(table, key), PROPERTIES_PATH, _MEANING.get(key, _ORDERING),
                    expected, found, f"set {key} to the fields with which the table was created", key=key,
                )  # fmt: skip


def _virtual_keys(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """PROP-007: a table without meta columns has key fields: nothing else tells the keys of its rows."""
    if not table.entries or table.properties.populates_meta_fields:
        return
    tally.looked("PROP-007")
    if not table.properties.fields(RECORD_KEY):
        yield Finding(
            "PROP-007", "wrong-answers", PROPERTIES_PATH, _MEANING[RECORD_KEY], f"a line {RECORD_KEY}=...", "no value", RESTORE,
            key=RECORD_KEY,
        )  # fmt: skip


def _dropped_columns(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """LAY-018: a table whose files lack the partition columns lacks them in the schemas of its writes, too.

    The schema with which it was created has them. Upserts of Apache Hudi 1.0.2 and 1.2.0 store the columns all the same, with
    the values of the folders; other values than those are possible only where a time is formatted.
    """
    texts = {commit.schema for commit in table.commits.values() if commit.schema}
    if not table.properties.is_set(DROP_KEY) or not texts:
        return
    tally.looked("LAY-018")
    schemas = [schema for text in texts if (schema := _parsed(text)) is not None]
    partition = table.properties.fields(PARTITION)
    stored = [one for one in partition if all(one in field_names(schema) for schema in schemas)]
    if stored and schemas:
        yield Finding(
            "LAY-018", "cosmetic" if _has_plain_folders(table) else "wrong-answers", PROPERTIES_PATH,
            "Queries take the values of the columns from the names of folders, which may be other ones, or are refused.",
            f"no column {stored[0]} in the schema of one write at least", f"{DROP_KEY}={table.entries.get(DROP_KEY)}",
            f"set {DROP_KEY} to false", key=DROP_KEY,
        )  # fmt: skip


def _has_plain_folders(table: StoredTable) -> bool:
    """Whether the names of folders are the values of the partition columns."""
    return table.entries.get("hoodie.table.keygenerator.type") in ("SIMPLE", "COMPLEX")


def _parsed(text: str) -> AvroSchema | None:
    try:
        return parse_schema(text, "")
    except HudiError:
        return None  # `actions.schemas` reports it


def _schema(table: StoredTable) -> AvroSchema | None:
    try:
        return schema_of(table.commits, table.properties)
    except HudiError:
        return None  # `actions.schemas` reports it


def _has_column(known: Collection[str], name: str) -> bool:
    """Whether a column, known in lower case, has the name; of a path to an inner field only the beginning is compared."""
    return name.lower() in known or name.partition(".")[0].lower() in known


def _event_time(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """MRG-034: a table in event-time mode has an ordering field. Where nothing merges, readers need none."""
    if table.entries.get("hoodie.record.merge.mode") != "EVENT_TIME_ORDERING":
        return
    tally.looked("MRG-034")
    if not any(table.properties.fields(key) for key in ORDERING):
        merges = any(one.log_files for group in table.groups for one in group.slices)  # also for queries of earlier states
        yield Finding(
            "MRG-034", "wrong-answers" if merges else "cosmetic", PROPERTIES_PATH,
            "Versions of a record are merged in the order of their writes, so that late ones win.",
            f"a field in {ORDERING[0]}", "none, in event-time mode", "set it to the fields with which the table was created",
            key=ORDERING[0],
        )  # fmt: skip


def _severity(table: StoredTable, key: str) -> Severity:
    """An ordering field that is no column harms where versions are compared; older releases stored one by default."""
    if key not in ORDERING:
        return "wrong-answers"
    compares = table.opened.merge_mode != "COMMIT_TIME_ORDERING"
    return "wrong-answers" if compares and table.entries.get("hoodie.table.type") == "MERGE_ON_READ" else "cosmetic"


def _orderings(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """PROP-009: the property of ordering fields and its older name have one value. Each release reads one of them first."""
    newer, older = (table.properties.fields(key) for key in ORDERING)
    tally.looked("PROP-009", at=bool(newer and older))
    if newer and older and newer != older:
        yield Finding(
            "PROP-009", _severity(table, ORDERING[0]), PROPERTIES_PATH,
            "Releases compare the versions of a record by different columns.",
            f"{ORDERING[1]}={','.join(newer)}, as {ORDERING[0]}", ",".join(older),
            f"remove {ORDERING[1]}, or correct one of the two", key=ORDERING[1],
        )  # fmt: skip


def _created(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """LF-038: columns of the schema of the creation have types that can become those of the last write.

    A statement that changes the schema may drop a column and add one of the same name.
    """
    text, schema = table.entries.get(CREATED), _schema(table)
    if not text or schema is None or has_schema_history(table) or not any(one.schema for one in table.commits.values()):
        return
    with suppress(HudiError):  # `properties.create-schema` reports it
        created, now = (
            {field.name: field.type for field in arrow_schema(one)} for one in (parse_schema(text, PROPERTIES_PATH), schema)
        )
        tally.looked("LF-038")
        for name in created.keys() & now.keys():
            if not fits(created[name], now[name]):
                yield Finding(
                    "LF-038", "cosmetic", PROPERTIES_PATH, "Engines that follow the schema of the creation read other types.",
                    f"{name} of the type {now[name]}, as in the schema of the last write"[:200], str(created[name])[:200],
                    RESTORE, key=CREATED,
                )  # fmt: skip


def _folders(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """LAY-018 and PROP-008: the folders of partitions are those that the settings of the key generator give."""
    fields = table.properties.fields(PARTITION)
    partitions = sorted({file.partition for file in table.data_files.values()})
    tally.looked("LAY-018", "PROP-008", at=len(partitions))
    if table.is_metadata_table or not table.entries or not table.state_files:
        return
    nested = [one for one in partitions if one]
    if nested and not fields:
        yield Finding(
            "PROP-008", "wrong-answers", PROPERTIES_PATH,
            "Readers take the table for one without partitions; some read its base path alone.",
            f"the fields of partitions such as {nested[0]!r} in {PARTITION}", "none", RESTORE, key=PARTITION,
        )  # fmt: skip
    if fields:
        yield from _too_shallow(table, partitions, len(fields))
    if not fields or not nested:
        return
    of_hive = [one for one in nested if _is_of_hive(one, fields)]
    is_set = table.properties.is_set(HIVE)
    wrong = [one for one in nested if one not in of_hive] if is_set else of_hive
    if len(wrong) == len(nested):
        yield Finding(
            "LAY-018", "wrong-answers", PROPERTIES_PATH,
            "Writers store rows of the same partition in another folder, so that an upsert inserts them again.",
            f"folders such as {fields[0]}=value" if is_set else "folders without names of fields",
            f"{HIVE}={table.entries.get(HIVE)} and {wrong[0]!r}", f"set {HIVE} to {str(not is_set).lower()}", key=HIVE,
        )  # fmt: skip


def _too_shallow(table: StoredTable, partitions: list[str], fields: int) -> Iterator[Finding]:
    """PROP-016: a folder has a name for each field at least; the value of one field may have several."""
    wrong = [one for one in partitions if len([step for step in one.split("/") if step]) < fields]
    if wrong:
        yield Finding(
            "PROP-008", "wrong-answers", PROPERTIES_PATH,
            "Queries that filter by the partition compare values of other columns, and leave rows out.",
            f"folders of the {fields} fields {table.entries.get(PARTITION)}", f"data files in {wrong[0] or 'the base path'!r}",
            f"set {PARTITION} to the fields with which the table was created", key=PARTITION,
        )  # fmt: skip


def _is_of_hive(partition: str, fields: tuple[str, ...]) -> bool:
    """Whether a folder has the names of the fields; a value may contain slashes."""
    return partition.startswith(f"{fields[0]}=")


def _formats(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """BF-010: base files have the format of the table."""
    if table.is_metadata_table or table.properties.is_set(SEVERAL):
        return
    wanted = (table.properties.get(FORMAT) or "PARQUET").lower()
    found: dict[str, str] = {}
    for path in sorted(table.named_files):
        file = table.data_files.get(path)
        if file is not None and isinstance(file.name, BaseFileName):
            tally.looked("BF-010")
            found.setdefault(path.rpartition(".")[2], path)
    severity: Severity = "cosmetic" if wanted in found else "wrong-answers"  # readers follow the extension if they are several
    for extension, path in found.items():
        if extension != wanted:
            yield Finding(
                "BF-010", severity, path, "Readers that look for files of one format do not find the rows of the others.",
                f"base files in the format {wanted.upper()}, by {FORMAT}", f"a base file .{extension}",
                f"set {FORMAT} to the format of the base files", key=FORMAT,
            )  # fmt: skip


CHECKS = (
    Check("settings.columns", ("PROP-007", "PROP-008", "PROP-009"), "cheap", _columns, tables="data"),
    Check("settings.virtual-keys", ("PROP-007",), "cheap", _virtual_keys, tables="data"),
    Check("settings.dropped-columns", ("LAY-018",), "cheap", _dropped_columns, tables="data"),
    Check("settings.event-time", ("MRG-034",), "cheap", _event_time, tables="data"),
    Check("settings.orderings", ("PROP-009",), "cheap", _orderings, tables="data"),
    Check("settings.created-schema", ("LF-038",), "cheap", _created, tables="data"),
    Check("settings.folders", ("LAY-018", "PROP-008"), "cheap", _folders, tables="data"),
    Check("settings.formats", ("BF-010",), "cheap", _formats, tables="data"),
)
