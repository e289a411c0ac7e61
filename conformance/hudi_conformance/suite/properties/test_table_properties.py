"""What a table's properties say to whoever comes next: how it is created, and which parts of its metadata table are of use."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.contract.messages import Query, TableSpec
from hudi_conformance.suite.support.programs.write_programs import Program, as_arrow, row
from hudi_conformance.suite.support.tables.written_tables import folder_of

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


def spec(**properties: str) -> TableSpec:
    """A table with further properties; `__` stands for a dot."""
    table = Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec()
    return replace(table, properties={key.replace("__", "."): value for key, value in properties.items()})


def stored(uri: str) -> dict[str, str]:
    """The properties of a table that needs no escapes but those of colons."""
    text = (folder_of(uri) / ".hoodie" / "hoodie.properties").read_text(encoding="latin-1")
    lines = (line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))
    return {key: value.replace("\\:", ":") for key, value in lines}


@CREATES
@pytest.mark.requirements("PROP-002")
@pytest.mark.parametrize("key", ["name", "type", "version", "layout"])
def test_a_setting_without_default_has_to_be_given(engine: Client, new_uri: Callable[[], str], key: str) -> None:
    """Without a mandatory setting no table is made, the refusal names what is missing, and nothing half-made stays."""
    missing = {
        "name": replace(spec(), properties={"hoodie.table.name": ""}),
        "type": replace(spec(), properties={"hoodie.table.type": ""}),
        "version": replace(spec(), properties={"hoodie.table.version": ""}),
        "layout": replace(spec(), properties={"hoodie.timeline.layout.version": ""}),
    }[key]
    uri = new_uri()
    with pytest.raises(ContractError, match=rf"(?i){key}"):
        engine.create(uri, missing)
    folder = folder_of(uri)
    assert not folder.exists() or not any(path.is_file() for path in folder.rglob("*")), "a half-made table"
    engine.create(uri, spec())


@CREATES
@pytest.mark.requirements("PROP-005", "PROP-002")
@pytest.mark.parametrize(
    ("key", "value"),
    [("hoodie.table.type", "MOR"), ("hoodie.record.merge.mode", "LATEST"), ("hoodie.populate.meta.fields", "no")],
)
def test_unknown_values_make_no_table(engine: Client, new_uri: Callable[[], str], key: str, value: str) -> None:
    """A setting with a value that nobody knows is refused at creation, before any reader has to guess what it means."""
    uri = new_uri()
    with pytest.raises(ContractError):
        engine.create(uri, replace(spec(), properties={key: value}))
    assert not (folder_of(uri) / ".hoodie" / "hoodie.properties").exists()


@CREATES
@pytest.mark.requirements("PROP-003", "PROP-004", "PROP-011")
def test_the_database_stands_beside_the_name(engine: Client, new_uri: Callable[[], str]) -> None:
    """Database and table name are two properties: neither is put before the other."""
    uri = new_uri()
    engine.create(uri, replace(spec(hoodie__database__name="sales"), name="trips"))
    found = stored(uri)
    assert (found["hoodie.database.name"], found["hoodie.table.name"]) == ("sales", "trips")


@pytest.mark.needs("create", "copy-on-write", "write.insert", "read.snapshot", "read.projection")
@pytest.mark.requirements("LAY-013")
def test_a_table_is_found_by_the_file_in_its_hidden_folder(engine: Client, new_uri: Callable[[], str]) -> None:
    """The settings lie in .hoodie/hoodie.properties and nowhere else; where they lie in the base path there is no table."""
    uri = new_uri()
    engine.create(uri, Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec())
    engine.write(uri, "insert", as_arrow([row("a", 1, "x")]))
    folder = folder_of(uri)
    assert [path.relative_to(folder).as_posix() for path in folder.rglob("hoodie.properties")] == [".hoodie/hoodie.properties"]
    (folder / ".hoodie" / "hoodie.properties").rename(folder / "hoodie.properties")
    with pytest.raises(ContractError):
        engine.read(uri, Query("snapshot"))


@pytest.mark.needs("create", "copy-on-write", "write.insert", "read.snapshot", "read.projection", "partition.hive")
@pytest.mark.requirements("PROP-001")
def test_writers_follow_the_settings_of_the_table(engine: Client, new_uri: Callable[[], str]) -> None:
    """A writer that is told nothing puts files where the table's settings want them, and readers find the rows."""
    uri = new_uri()
    engine.create(uri, replace(Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec(), hive_style=True, url_encode=True))
    engine.write(uri, "insert", as_arrow([row("a", 1, "x", "oslo/west")]))
    folders = {path.parent.relative_to(folder_of(uri)).as_posix() for path in folder_of(uri).rglob("*.parquet")}
    assert folders == {"city=oslo%2Fwest"}
    assert engine.read(uri, Query("snapshot", columns=("id", "city"))).to_pylist() == [{"id": "a", "city": "oslo/west"}]


@pytest.mark.needs("create", "copy-on-write", "write.insert", "read.snapshot", "read.projection", "partition.none")
@pytest.mark.requirements("PROP-015", "PROP-007")
def test_a_table_may_do_without_ordering_and_partitions(engine: Client, new_uri: Callable[[], str]) -> None:
    """Without ordering and partition fields two appends are two rows, and the properties name no such fields."""
    uri = new_uri()
    engine.create(uri, replace(Program("COPY_ON_WRITE", "COMMIT_TIME_ORDERING", False).spec(), ordering=()))
    for key in ("a", "b"):
        engine.write(uri, "insert", as_arrow([row(key, 1, "x")]))
    assert sorted(engine.read(uri, Query("snapshot", columns=("id",))).column("id").to_pylist()) == ["a", "b"]
    found = stored(uri)
    assert not found.get("hoodie.table.precombine.field") and not found.get("hoodie.table.partition.fields")


def with_metadata_table(engine: Client, uri: str, usable: str, inflight: str = "", path: str | None = None) -> Path:
    """A table whose properties list partitions, with a file in each of four folders of its metadata table; these folders."""
    listed = {PARTITIONS: usable, INFLIGHT: inflight} | ({} if path is None else {"hoodie.table.index.defs.path": path})
    engine.create(uri, replace(spec(), properties=listed))
    home = folder_of(uri) / ".hoodie"
    for name, file_id in (("files", "files"), ("column_stats", "col-stats"), ("record_index", "record-index"), ("old", "old")):
        (home / "metadata" / name).mkdir(parents=True)
        (home / "metadata" / name / f"{file_id}-0000-0_0-1-2_00000000000000000.hfile").write_bytes(b"")
        (home / "metadata" / name / ".hoodie_partition_metadata").write_bytes(b"")
    (home / ".index_defs").mkdir()
    (home / ".index_defs" / "index.json").write_text(json.dumps({"indexDefinitions": DEFINITIONS}))
    return home / "metadata"


def seen(engine: Client, uri: str) -> dict[str, Any]:
    """The metadata table as the engine shows it."""
    return dict(engine.inspect(uri)["metadata_table"])


@INSPECTS
@pytest.mark.requirements("PROP-012", "PROP-013")
def test_only_listed_partitions_are_used(engine: Client, new_uri: Callable[[], str]) -> None:
    """Of the folders of the metadata table those are used that the properties list; one that is being built is not."""
    uri = new_uri()
    with_metadata_table(engine, uri, "column_stats,files", "record_index")
    found = seen(engine, uri)
    assert (found["partitions"], found["inflight"]) == (["column_stats", "files"], ["record_index"])


@INSPECTS
@pytest.mark.requirements("PROP-013", "PROP-012")
def test_without_the_listing_of_files_nothing_is_used(engine: Client, new_uri: Callable[[], str]) -> None:
    """A table that lists no partitions has folders of a metadata table that is of no use any more."""
    uri = new_uri()
    with_metadata_table(engine, uri, "")
    assert seen(engine, uri)["partitions"] == []


@INSPECTS
@pytest.mark.requirements("LAY-014", "LAY-015")
def test_every_partition_lies_in_a_folder_of_its_name(engine: Client, new_uri: Callable[[], str]) -> None:
    """The data of a partition lie in .hoodie/metadata, in the folder that is called as the properties call the partition."""
    uri = new_uri()
    home = with_metadata_table(engine, uri, "column_stats,files")
    (home / "stray-0000-0_0-1-2_00000000000000000.hfile").write_bytes(b"")
    assert seen(engine, uri)["files"] == {
        "column_stats": ["col-stats-0000-0_0-1-2_00000000000000000.hfile"],
        "files": ["files-0000-0_0-1-2_00000000000000000.hfile"],
    }


@INSPECTS
@pytest.mark.requirements("PROP-014", "LAY-016")
@pytest.mark.parametrize("path", ["relative", "absolute", "uri", "absolute in another place"])
def test_definitions_of_indexes_are_where_the_property_leads(engine: Client, new_uri: Callable[[], str], path: str) -> None:
    """Definitions are read from index.json in .index_defs below .hoodie, also where the path is absolute or the table moved."""
    uri, end = new_uri(), ".hoodie/.index_defs/index.json"
    stored_path = {"relative": end, "absolute": f"{folder_of(uri)}/{end}", "uri": f"{uri}/{end}"}.get(
        path, f"s3://old/table/{end}"
    )
    with_metadata_table(engine, uri, "column_stats,files,secondary_index_city", path=stored_path)
    assert seen(engine, uri)["index_definitions"] == {
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
def test_a_table_without_indexes_names_no_definitions(engine: Client, new_uri: Callable[[], str]) -> None:
    """A new table has no path of definitions, and none are found."""
    uri = new_uri()
    engine.create(uri, spec())
    assert "hoodie.table.index.defs.path" not in stored(uri)
    assert seen(engine, uri).get("index_definitions", {}) == {}


@INSPECTS
@pytest.mark.requirements("PROP-014", "LAY-016")
def test_definitions_that_are_lost_are_an_error(engine: Client, new_uri: Callable[[], str]) -> None:
    """A property that leads nowhere is damage, and not a table without indexes."""
    uri = new_uri()
    home = with_metadata_table(engine, uri, "files", path=".hoodie/.index_defs/index.json")
    (home.parent / ".index_defs" / "index.json").unlink()
    with pytest.raises(ContractError):
        engine.inspect(uri)


@pytest.mark.needs("compute.metadata-partitions.after")
@pytest.mark.requirements("PROP-012")
def test_a_partition_is_listed_when_its_build_is_complete(engine: Client) -> None:
    """Begun, an index is among the unfinished ones; complete, among those of use; without files there is no metadata table."""

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
