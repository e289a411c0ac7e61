"""Table properties: their defaults and checks at creation, and the partitions of the metadata table that they list."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.contract.messages import Query, TableSpec
from hudi_conformance.suite.support.concurrent.in_process import only_engines_of_this_project
from hudi_conformance.suite.support.programs.write_programs import Program, as_arrow, row
from hudi_conformance.suite.support.tables.written_tables import (
    META,
    base_files,
    read_metadata,
    replace_in_metadata,
    table_folder,
)

CREATES = pytest.mark.needs("create", "copy-on-write")
INSPECTS = pytest.mark.needs("create", "copy-on-write", "inspect.table", "inspect.metadata-table")
PARTITIONS, INFLIGHT = "hoodie.table.metadata.partitions", "hoodie.table.metadata.partitions.inflight"
DEFINITIONS = {
    "column_stats": {
        "indexName": "column_stats",
        "indexType": "column_stats",
        "indexFunction": "column_stats",
        "sourceFields": ["_hoodie_commit_time", "id"],
        "indexOptions": {},
    },
    "secondary_index_city": {
        "indexName": "secondary_index_city",
        "indexType": "secondary_index",
        "indexFunction": "identity",
        "sourceFields": ["city"],
        "indexOptions": {"hoodie.expression.function": "identity"},
    },
}


def table_spec(**properties: str) -> TableSpec:
    """Return a table with further properties; `__` represents a dot."""
    table = Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec()
    return replace(table, properties={key.replace("__", "."): value for key, value in properties.items()})


def stored_properties(uri: str) -> dict[str, str]:
    """Return the properties of a table whose only escapes are those of colons."""
    text = (table_folder(uri) / ".hoodie" / "hoodie.properties").read_text(encoding="latin-1")
    lines = (line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))
    return {key: value.replace("\\:", ":") for key, value in lines}


def create_without_schema(engine: Client, uri: str, table: TableSpec) -> None:
    """Create a table, and remove the schema that its engine stored for it."""
    engine.create(uri, table)
    stored = table_folder(uri) / ".hoodie" / "hoodie.properties"
    lines = stored.read_text(encoding="latin-1").splitlines(keepends=True)
    stored.write_text("".join(line for line in lines if "create.schema" not in line), encoding="latin-1")
    (stored.parent / ".hoodie.properties.crc").unlink(missing_ok=True)


@CREATES
@pytest.mark.requirements("PROP-002")
@pytest.mark.parametrize("key", ["name", "type", "version", "layout"])
def test_a_setting_without_default_is_mandatory(engine: Client, new_uri: Callable[[], str], key: str) -> None:
    """PROP-002: without a mandatory setting no table is created, the error names the setting, and no file is left."""
    missing = {
        "name": replace(table_spec(), properties={"hoodie.table.name": ""}),
        "type": replace(table_spec(), properties={"hoodie.table.type": ""}),
        "version": replace(table_spec(), properties={"hoodie.table.version": ""}),
        "layout": replace(table_spec(), properties={"hoodie.timeline.layout.version": ""}),
    }[key]
    uri = new_uri()
    with pytest.raises(ContractError, match=rf"(?i){key}"):
        engine.create(uri, missing)
    folder = table_folder(uri)
    assert not folder.exists() or not any(path.is_file() for path in folder.rglob("*")), "files of the refused table were left"
    engine.create(uri, table_spec())


@CREATES
@pytest.mark.requirements("PROP-005", "PROP-002")
@pytest.mark.parametrize(
    ("key", "value"),
    [("hoodie.table.type", "MOR"), ("hoodie.record.merge.mode", "LATEST"), ("hoodie.populate.meta.fields", "no")],
)
def test_unknown_values_are_refused_at_creation(engine: Client, new_uri: Callable[[], str], key: str, value: str) -> None:
    """PROP-002: a setting with an unknown value is refused at creation, so that no reader has to guess its meaning."""
    uri = new_uri()
    with pytest.raises(ContractError):
        engine.create(uri, replace(table_spec(), properties={key: value}))
    assert not (table_folder(uri) / ".hoodie" / "hoodie.properties").exists()
    engine.create(uri, table_spec())


@CREATES
@pytest.mark.requirements("PROP-003", "PROP-004", "PROP-011")
def test_the_database_is_a_separate_property(engine: Client, new_uri: Callable[[], str]) -> None:
    """PROP-003: database and table name are two properties: the name has no prefix."""
    uri = new_uri()
    engine.create(uri, replace(table_spec(hoodie__database__name="sales"), name="trips"))
    found = stored_properties(uri)
    assert (found["hoodie.database.name"], found["hoodie.table.name"]) == ("sales", "trips")


#: What an escape of java.util.Properties stands for, where it is not the character itself.
ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


@CREATES
@pytest.mark.requirements("PROP-001", "PROP-004")
def test_every_character_of_a_property_is_stored(engine: Client, new_uri: Callable[[], str]) -> None:
    """PROP-001: a properties file has one byte for each character: others, and those that separate keys from values, are
    escaped. A character beyond the first 65,536 has two escapes, one for each half.
    """
    uri, name = new_uri(), "fahrr\u00e4der \u2603 \U0001d11e \t=:#! \\u0041"
    engine.create(uri, replace(table_spec(), name=name))
    text = (table_folder(uri) / ".hoodie" / "hoodie.properties").read_text(encoding="latin-1")
    (stored,) = (line.partition("=")[2] for line in text.splitlines() if line.startswith("hoodie.table.name="))

    def unescape(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code[1:], 16)) if len(code) == 5 else ESCAPES.get(code, code)

    found = re.sub(r"\\(u[0-9a-fA-F]{4}|.)", unescape, stored)
    assert found.encode("utf-16", "surrogatepass").decode("utf-16") == name


@pytest.mark.needs("create", "copy-on-write", "write.insert", "read.snapshot", "read.projection")
@pytest.mark.requirements("LAY-013")
@pytest.mark.leaves_damage("it deletes the properties")
def test_a_table_is_identified_by_its_properties_file(engine: Client, new_uri: Callable[[], str]) -> None:
    """LAY-013: the settings are stored only in .hoodie/hoodie.properties; a properties file in the base path makes no table."""
    uri = new_uri()
    engine.create(uri, Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec())
    engine.write(uri, "insert", as_arrow([row("a", 1, "x")]))
    assert engine.read(uri, Query("snapshot")).num_rows == 1
    folder = table_folder(uri)
    assert [path.relative_to(folder).as_posix() for path in folder.rglob("hoodie.properties")] == [".hoodie/hoodie.properties"]
    (folder / ".hoodie" / "hoodie.properties").rename(folder / "hoodie.properties")
    with pytest.raises(ContractError):
        engine.read(uri, Query("snapshot"))


@pytest.mark.needs("create", "copy-on-write", "write.insert", "read.snapshot", "read.projection", "partition.hive")
@pytest.mark.requirements("PROP-001")
def test_writers_follow_the_settings_of_the_table(engine: Client, new_uri: Callable[[], str]) -> None:
    """PROP-001: a writer without options stores files as the table's settings require, and readers find the rows."""
    uri = new_uri()
    engine.create(uri, replace(Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec(), hive_style=True, url_encode=True))
    engine.write(uri, "insert", as_arrow([row("a", 1, "x", "oslo/west")]))
    folders = {path.parent.relative_to(table_folder(uri)).as_posix() for path in table_folder(uri).rglob("*.parquet")}
    assert folders == {"city=oslo%2Fwest"}
    assert engine.read(uri, Query("snapshot", columns=("id", "city"))).to_pylist() == [{"id": "a", "city": "oslo/west"}]


@pytest.mark.needs("create", "copy-on-write", "write.insert", "read.snapshot", "read.projection", "partition.none")
@pytest.mark.requirements("PROP-015", "PROP-007")
def test_a_table_without_ordering_and_partition_fields(engine: Client, new_uri: Callable[[], str]) -> None:
    """PROP-015: without ordering and partition fields two appends are two rows, and the properties name no such fields."""
    uri = new_uri()
    engine.create(uri, replace(Program("COPY_ON_WRITE", "COMMIT_TIME_ORDERING", False).spec(), ordering=()))
    for key in ("a", "b"):
        engine.write(uri, "insert", as_arrow([row(key, 1, "x")]))
    assert sorted(engine.read(uri, Query("snapshot", columns=("id",))).column("id").to_pylist()) == ["a", "b"]
    found = stored_properties(uri)
    assert not found.get("hoodie.table.precombine.field") and not found.get("hoodie.table.partition.fields")


def with_metadata_table(engine: Client, uri: str, usable: str, inflight: str = "", path: str | None = None) -> Path:
    """Create a table whose properties list partitions, with a file in each of four folders of its metadata table; return the
    folders.
    """
    listed = {PARTITIONS: usable, INFLIGHT: inflight} | ({} if path is None else {"hoodie.table.index.defs.path": path})
    engine.create(uri, replace(table_spec(), properties=listed))
    home = table_folder(uri) / ".hoodie"
    for name, file_id in (("files", "files"), ("column_stats", "col-stats"), ("record_index", "record-index"), ("old", "old")):
        (home / "metadata" / name).mkdir(parents=True)
        (home / "metadata" / name / f"{file_id}-0000-0_0-1-2_00000000000000000.hfile").write_bytes(b"")
        (home / "metadata" / name / ".hoodie_partition_metadata").write_bytes(b"")
    (home / ".index_defs").mkdir()
    (home / ".index_defs" / "index.json").write_text(json.dumps({"indexDefinitions": DEFINITIONS}))
    return home / "metadata"


def metadata_inspected(engine: Client, uri: str) -> dict[str, Any]:
    """Return the metadata table as the engine inspects it."""
    return dict(engine.inspect(uri)["metadata_table"])


@INSPECTS
@pytest.mark.requirements("PROP-012", "PROP-013")
@pytest.mark.leaves_damage("it edits the properties")
def test_only_listed_metadata_partitions_are_used(engine: Client, new_uri: Callable[[], str]) -> None:
    """PROP-013: only the folders of the metadata table that the properties list are used; one that is being built is not."""
    uri = new_uri()
    with_metadata_table(engine, uri, "column_stats,files", "record_index")
    found = metadata_inspected(engine, uri)
    assert (found["partitions"], found["inflight"]) == (["column_stats", "files"], ["record_index"])


@INSPECTS
@pytest.mark.requirements("PROP-013", "PROP-012")
def test_a_metadata_table_without_listed_partitions_is_not_used(engine: Client, new_uri: Callable[[], str]) -> None:
    """PROP-013: if a table lists no partitions, its metadata table is not used, even where folders exist."""
    uri = new_uri()
    with_metadata_table(engine, uri, "")
    assert metadata_inspected(engine, uri)["partitions"] == []


@INSPECTS
@pytest.mark.requirements("LAY-014", "LAY-015")
@pytest.mark.leaves_damage("it deletes a folder")
def test_every_metadata_partition_has_a_folder_of_its_name(engine: Client, new_uri: Callable[[], str]) -> None:
    """LAY-015: the data of a partition is in .hoodie/metadata, in the folder that has the name of the partition in the
    properties.
    """
    uri = new_uri()
    home = with_metadata_table(engine, uri, "column_stats,files")
    (home / "stray-0000-0_0-1-2_00000000000000000.hfile").write_bytes(b"")
    assert metadata_inspected(engine, uri)["files"] == {
        "column_stats": ["col-stats-0000-0_0-1-2_00000000000000000.hfile"],
        "files": ["files-0000-0_0-1-2_00000000000000000.hfile"],
    }


@INSPECTS
@pytest.mark.requirements("PROP-014", "LAY-016")
@pytest.mark.parametrize("path", ["relative", "absolute", "uri", "absolute in another place"])
@pytest.mark.leaves_damage("it edits the properties")
def test_index_definitions_are_found_by_the_property(engine: Client, new_uri: Callable[[], str], path: str) -> None:
    """PROP-014: definitions are read from index.json in .index_defs below .hoodie, also if the path is absolute or the table
    was moved.
    """
    uri, end = new_uri(), ".hoodie/.index_defs/index.json"
    stored_path = {"relative": end, "absolute": f"{table_folder(uri)}/{end}", "uri": f"{uri}/{end}"}.get(
        path, f"s3://old/table/{end}"
    )
    with_metadata_table(engine, uri, "column_stats,files,secondary_index_city", path=stored_path)
    assert metadata_inspected(engine, uri)["index_definitions"] == {
        name: {
            "type": one["indexType"],
            "function": one["indexFunction"],
            "columns": one["sourceFields"],
            "options": one["indexOptions"],
        }
        for name, one in DEFINITIONS.items()
    }


@INSPECTS
@pytest.mark.requirements("PROP-014")
def test_a_table_without_indexes_has_no_definitions(engine: Client, new_uri: Callable[[], str]) -> None:
    """PROP-014: a new table has no path of index definitions, and none are found."""
    uri = new_uri()
    engine.create(uri, table_spec())
    assert "hoodie.table.index.defs.path" not in stored_properties(uri)
    assert metadata_inspected(engine, uri).get("index_definitions", {}) == {}


@INSPECTS
@pytest.mark.requirements("PROP-014", "LAY-016")
@pytest.mark.leaves_damage("it deletes the definitions")
def test_missing_index_definitions_are_an_error(engine: Client, new_uri: Callable[[], str]) -> None:
    """PROP-014: a property with the path of a missing file is an error, and not a table without indexes."""
    uri = new_uri()
    home = with_metadata_table(engine, uri, "files,secondary_index_city", path=".hoodie/.index_defs/index.json")
    assert metadata_inspected(engine, uri)["index_definitions"], "the index definitions were not read before they were deleted"
    (home.parent / ".index_defs" / "index.json").unlink()
    with pytest.raises(ContractError):
        engine.inspect(uri)


@pytest.mark.needs("create", "copy-on-write", "write.upsert", "read.snapshot", "merge.event-time")
@pytest.mark.requirements("PROP-014")
@pytest.mark.parametrize("indexes", ["none", "statistics"])
def test_a_truncated_table_is_written(engine: Client, new_uri: Callable[[], str], indexes: str) -> None:
    """PROP-014: Apache Hudi 1.2.0 truncates a table by deleting its data, its metadata table and the definitions of its
    indexes. The property with their path stays. As no index is listed there is none to define, and writes go on.
    """
    uri = new_uri()
    engine.create(uri, table_spec(hoodie__table__index__defs__path=".hoodie/.index_defs/index.json"))
    statistics = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "true"}
    for value in ("first", "second"):
        rows = as_arrow([row("a", 1, value), row(value, 1, value)])
        engine.write(uri, "upsert", rows, options=statistics if indexes == "statistics" else {})
    found = engine.read(uri, Query(columns=("id", "value"))).to_pylist()
    assert sorted((one["id"], one["value"]) for one in found) == [("a", "second"), ("first", "first"), ("second", "second")]


@pytest.mark.needs("create", "copy-on-write", "write.upsert", "read.snapshot", "merge.event-time")
@pytest.mark.requirements("LAY-002")
@pytest.mark.leaves_damage("it edits the properties")
def test_a_table_without_a_schema_gets_that_of_its_first_rows(engine: Client, new_uri: Callable[[], str]) -> None:
    """LAY-002: a table may have no schema, because its engine stores none at creation and its only write was rolled back. Any
    engine can write it; the table gets the columns of the first rows.
    """
    uri = new_uri()
    create_without_schema(engine, uri, table_spec())
    for value in ("first", "second"):
        engine.write(uri, "upsert", as_arrow([row("a", 1, value), row(value, 1, value)]))
    found = engine.read(uri, Query(columns=("id", "value"))).to_pylist()
    assert sorted((one["id"], one["value"]) for one in found) == [("a", "second"), ("first", "first"), ("second", "second")]


@pytest.mark.needs("create", "copy-on-write", "write.upsert", "read.snapshot", "read.projection", "merge.event-time")
@pytest.mark.requirements("LAY-002")
@pytest.mark.leaves_damage("it edits the properties")
def test_the_first_rows_of_a_table_of_any_name(engine: Client, new_uri: Callable[[], str]) -> None:
    """LAY-002: the name of a table without a schema begins with a digit and has a hyphen, as no name in Avro does. The
    schema that its first rows give it has names that every Avro library accepts.
    """
    uri = new_uri()
    create_without_schema(engine, uri, replace(table_spec(), name="2026-trips"))
    instant = engine.write(uri, "upsert", as_arrow([row("a", 1, "first")]))
    assert engine.read(uri, Query(columns=("value",))).to_pylist() == [{"value": "first"}]
    schema = json.loads(read_metadata(uri, instant)[2]["extraMetadata"]["schema"])
    names = [*f"{schema.get('namespace') or 'none'}.{schema['name']}".split("."), *(one["name"] for one in schema["fields"])]
    assert [name for name in names if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name)] == []


@pytest.mark.needs("create", "copy-on-write", "write.upsert", "read.snapshot", "read.projection", "merge.event-time")
@pytest.mark.needs("partition.plain")
@pytest.mark.requirements("TYP-007")
def test_a_table_that_was_bootstrapped_with_whole_rows(engine: Client, new_uri: Callable[[], str]) -> None:
    """TYP-007: a property names the files from which a table was bootstrapped. Its own files have whole rows, as a bootstrap of
    full records stores them, and a query returns them.
    """
    uri = new_uri()
    engine.create(uri, table_spec())
    engine.write(uri, "upsert", as_arrow([row("a", 1, "first"), row("b", 1, "first")]))
    (table_folder(uri).parent / "source").mkdir()
    with (table_folder(uri) / ".hoodie" / "hoodie.properties").open("a", encoding="latin-1") as file:
        file.write(f"\nhoodie.bootstrap.base.path={table_folder(uri).parent / 'source'}\nhoodie.bootstrap.index.type=HFILE\n")
    (table_folder(uri) / ".hoodie" / ".hoodie.properties.crc").unlink(missing_ok=True)
    found = engine.read(uri, Query(columns=("id", "value"))).to_pylist()
    assert sorted((one["id"], one["value"]) for one in found) == [("a", "first"), ("b", "first")]


@pytest.mark.needs("create", "copy-on-write", "write.upsert", "read.snapshot", "partition.plain", "merge.event-time")
@pytest.mark.requirements("TYP-007")
@pytest.mark.leaves_damage("it removes columns of a file")
def test_a_table_that_was_bootstrapped_with_keys_alone(engine: Client, new_uri: Callable[[], str]) -> None:
    """TYP-007: a bootstrap may store the meta columns alone, in files of the instant 00000000000001; the other columns stay in
    the files of the source, which an index names. An engine that does not find them refuses the query: nulls are no values of
    the rows.
    """
    only_engines_of_this_project(engine, "what a query does about a bootstrapped table without its index")
    uri, made = new_uri(), "00000000000001"
    engine.create(uri, table_spec())
    instant = engine.write(uri, "upsert", as_arrow([row("a", 1, "first"), row("b", 1, "first")]))
    assert engine.read(uri, Query(columns=("id", "value"))).num_rows == 2
    (stored,) = base_files(uri)
    skeleton = stored.with_name(stored.name.replace(instant, made))
    rows = pq.ParquetFile(stored).read()
    names = rows.column("_hoodie_file_name").to_pylist()
    keys = rows.select(META).set_column(4, "_hoodie_file_name", pa.array([name.replace(instant, made) for name in names]))
    size = stored.stat().st_size
    stored.unlink()
    pq.write_table(keys.set_column(0, "_hoodie_commit_time", pa.array([made] * len(keys))), skeleton)
    replace_in_metadata(uri, instant, f'"fileSizeInBytes": {size}', f'"fileSizeInBytes": {skeleton.stat().st_size}')
    replace_in_metadata(uri, instant, instant, made)
    for file in (table_folder(uri) / ".hoodie" / "timeline").glob(f"{instant}*"):
        file.rename(file.with_name(file.name.replace(instant, made)))
    with (table_folder(uri) / ".hoodie" / "hoodie.properties").open("a", encoding="latin-1") as properties:
        properties.write(f"\nhoodie.bootstrap.base.path={table_folder(uri).parent / 'source'}\n")
    (table_folder(uri) / ".hoodie" / ".hoodie.properties.crc").unlink(missing_ok=True)
    with pytest.raises(ContractError):
        engine.read(uri, Query(columns=("id", "value")))


@pytest.mark.needs("compute.metadata-partitions.after")
@pytest.mark.requirements("PROP-012")
def test_a_partition_is_listed_when_its_build_is_complete(engine: Client) -> None:
    """PROP-012: an index that is being built is listed as unfinished; when it is complete, as usable; without files there is no
    metadata table.
    """

    def after(step: str, partition: str, usable: list[str], inflight: list[str]) -> tuple[list[str], list[str]]:
        asked = {"step": step, "partition": partition, "partitions": usable, "inflight": inflight}
        found = engine.compute("metadata-partitions.after", asked)
        return found["partitions"], found["inflight"]

    assert after("begin", "files", [], []) == ([], ["files"])
    assert after("complete", "files", [], ["files"]) == (["files"], [])
    assert after("begin", "record_index", ["files"], ["column_stats"]) == (["files"], ["column_stats", "record_index"])
    assert after("complete", "column_stats", ["files"], ["column_stats", "record_index"]) == (
        ["column_stats", "files"],
        ["record_index"],
    )
    assert after("drop", "column_stats", ["column_stats", "files"], ["record_index"]) == (["files"], ["record_index"])
    assert after("drop", "files", ["column_stats", "files"], ["record_index"]) == ([], [])
    for step, partition in (("complete", "record_index"), ("begin", "files")):
        with pytest.raises(ContractError):
            after(step, partition, ["files"], [])
