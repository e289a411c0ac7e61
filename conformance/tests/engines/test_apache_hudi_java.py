"""The adapter of Apache Hudi's Java client, on tables that it writes in these tests. Each release is one process."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from apache_hudi_samples import ARROW, RICH, plain, rows, spec

from hudi_conformance.contract import EngineError, Query, Refused
from hudi_conformance.contract.client import Client
from hudi_conformance.engines import registry

pytestmark = [pytest.mark.apache_hudi, pytest.mark.slow]

BOTH_TYPES = pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])


@pytest.fixture(scope="module", params=["1.0.2", "1.2.0"])
def java(request) -> Iterator[Client]:
    """A virtual machine for each release, shared by the tests of this module."""
    info = registry.find(f"apache-hudi-java@{request.param}")
    limits = {"start_timeout": info.start_timeout, "message_timeout": info.message_timeout}
    with Client(info.name, info.starter(lambda _: None), **limits) as client:
        yield client


@pytest.fixture
def table(tmp_path) -> str:
    return (tmp_path / "table").as_uri()


def actions(java: Client, table: str) -> list[str]:
    """The completed actions of the active timeline, ordered by requested time."""
    active = [i for i in java.inspect(table)["timeline"]["completed"] if i["where"] == "active"]
    return [i["action"] for i in sorted(active, key=lambda i: i["requested"])]


@BOTH_TYPES
@pytest.mark.parametrize("mode", ["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"])
@pytest.mark.parametrize("partition", [(), ("p",)], ids=["one-folder", "partitioned"])
def test_reads_return_what_was_written(java, table, kind, mode, partition):
    """Insert, upsert with a late record and a new key, and delete give the rows of the merge mode."""
    java.create(table, spec(type=kind, partition=partition, merge_mode=mode))
    java.write(table, "insert", rows(("a", "x", 10, 1), ("b", "y", 10, 1), ("c", "x", 10, 1)))
    changed = java.write(table, "upsert", rows(("a", "x", 5, 2), ("b", "y", 20, 2), ("e", "y", 1, None), **RICH))
    java.write(table, "delete", rows(("c", "x", 0, None)).select(["id", "p"]))

    late = (5, 2) if mode == "COMMIT_TIME_ORDERING" else (10, 1)
    now = [("a", "x", *late), ("b", "y", 20, 2), ("e", "y", 1, None)]
    assert plain(java.read(table, Query())) == now
    then = [("a", "x", *late), ("b", "y", 20, 2), ("c", "x", 10, 1), ("e", "y", 1, None)]
    assert plain(java.read(table, Query("as-of", as_of=changed))) == then
    base = [("a", "x", 10, 1), ("b", "y", 10, 1), ("c", "x", 10, 1), ("e", "y", 1, None)]
    assert plain(java.read(table, Query("read-optimized"))) == (base if kind == "MERGE_ON_READ" else now)


def test_values_of_each_type_are_unchanged(java, table):
    """Decimals, UTC timestamps, structs and lists are unchanged, and nullable integers stay integers."""
    java.create(table, spec())
    written = pa.concat_tables([rows(("a", "x", 1, 1), **RICH), rows(("b", "x", 1, None))])
    java.write(table, "insert", written)
    java.write(table, "upsert", rows(("a", "x", 2, 1), **RICH))
    found = java.read(table, Query()).sort_by("id")
    assert [found.schema.field(name).type for name in ARROW.names] == ARROW.types
    assert found.to_pylist() == [written.to_pylist()[0] | {"ts": 2}, written.to_pylist()[1]]


def test_keys_folders_and_meta_columns_follow_the_table_spec(java, table):
    """Keys of two fields, two levels of folders named field=value, escaped."""
    keys = {"record_key": ("id", "n"), "partition": ("p", "ts"), "hive_style": True, "url_encode": True}
    java.create(table, spec(**keys, merge_mode="COMMIT_TIME_ORDERING"))
    java.write(table, "insert", rows(("a", "x/y", 1, 1)))
    keys_and_path = java.read(table, Query(columns=("_hoodie_record_key", "_hoodie_partition_path"))).to_pylist()
    assert keys_and_path == [{"_hoodie_record_key": "id:a,n:1", "_hoodie_partition_path": "p=x%2Fy/ts=1"}]


def test_an_empty_table_has_a_schema(java, table):
    """Reading a table without commits gives no rows and all columns."""
    java.create(table, spec())
    found = java.read(table, Query())
    assert (found.num_rows, found.column_names) == (0, ARROW.names)


def test_keys_are_looked_up_in_the_table(java, table):
    """Records of other engines are found, although the client's default index only contains its own writes."""
    reference = registry.find("reference")
    with Client(reference.name, reference.starter(lambda _: None), start_timeout=30, message_timeout=120) as other:
        other.create(table, spec())
        other.write(table, "insert", rows(("a", "x", 1, 1)))
        java.write(table, "upsert", rows(("a", "x", 2, 2)))
        assert plain(java.read(table, Query())) == plain(other.read(table, Query())) == [("a", "x", 2, 2)]


def test_an_insert_beside_log_files_would_lose_updates(java, table):
    """Why new keys get file groups of their own: as the client comes, it puts them into a small base file, and writes that
    file anew from the base file alone. The update in the log file is gone."""
    for limit, lost in {"0": False, "104857600": True}.items():
        java.create(table + limit, spec())
        java.write(table + limit, "insert", rows(("a", "x", 1, 1)))
        java.write(table + limit, "upsert", rows(("a", "x", 2, 2)))
        options = {"hoodie.parquet.small.file.limit": limit}
        java.write(table + limit, "upsert", rows(("b", "x", 1, 1)), options=options)
        a = ("a", "x", 1, 1) if lost else ("a", "x", 2, 2)
        assert plain(java.read(table + limit, Query())) == [a, ("b", "x", 1, 1)]


def test_compaction_is_planned_and_executed(java, table):
    """The plan begins a new slice; the new base file has the merged rows."""
    java.create(table, spec())
    java.write(table, "insert", rows(("a", "x", 1, 1)))
    java.write(table, "upsert", rows(("a", "x", 5, 2)))
    plan = java.service(table, "compaction", phase="schedule")
    java.write(table, "upsert", rows(("a", "x", 3, 3)))
    assert plain(java.read(table, Query())) == [("a", "x", 5, 2)]
    assert java.service(table, "compaction", phase="execute", instant=plan) == plan
    assert actions(java, table) == ["deltacommit", "deltacommit", "commit", "deltacommit"]
    assert plain(java.read(table, Query())) == plain(java.read(table, Query("read-optimized"))) == [("a", "x", 5, 2)]


def test_rollback_and_restore(java, table):
    """A rollback removes a commit; a restore goes back to a savepoint, which can be deleted afterwards."""
    java.create(table, spec())
    saved = java.write(table, "insert", rows(("a", "x", 1, 1)))
    java.service(table, "savepoint", instant=saved)
    java.service(table, "rollback", instant=java.write(table, "upsert", rows(("a", "x", 2, 2))))
    assert plain(java.read(table, Query())) == [("a", "x", 1, 1)]
    assert "rollback" in actions(java, table)
    java.write(table, "upsert", rows(("a", "x", 3, 3)))
    java.service(table, "restore", instant=saved)
    assert plain(java.read(table, Query())) == [("a", "x", 1, 1)]
    java.service(table, "savepoint", instant=saved, options={"delete": "true"})
    assert "restore" in actions(java, table)
    assert "savepoint" not in actions(java, table)


def test_clean_and_archive(java, table):
    """Cleaning deletes slices that no reader needs; archiving removes instants from the active timeline."""
    java.create(table, spec(type="COPY_ON_WRITE"))
    written = [java.write(table, "upsert", rows(("a", "x", ts, ts))) for ts in range(1, 7)]
    assert java.service(table, "clean", options={"hoodie.clean.commits.retained": "1"})
    assert len(list(Path(table.removeprefix("file://"), "x").glob("*.parquet"))) < len(written)
    limits = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}
    assert java.service(table, "archive", options=limits) in written
    assert len(actions(java, table)) < len(written)
    assert plain(java.read(table, Query())) == [("a", "x", 6, 6)]


def test_no_checksum_files_are_left(java, table):
    """Hadoop's .crc files would be unknown files in a table."""
    java.create(table, spec())
    java.write(table, "insert", rows(("a", "x", 1, 1)))
    assert not list(Path(table.removeprefix("file://")).rglob("*.crc"))


def test_unsupported_operations_are_refused(java, table):
    """Queries that need a query engine, single files, other storage; bulk insert if the client is of another release."""
    java.create(table, spec())
    java.write(table, "insert", rows(("a", "x", 1, 1)))
    for query in (Query("incremental"), Query(where=(("ts", ">", 0),))):
        with pytest.raises(Refused, match=r"read\.(incremental|filter)"):
            java.read(table, query)
    with pytest.raises(Refused, match=r"storage\.s3"):
        java.read("s3://bucket/table", Query())
    (base,) = Path(table.removeprefix("file://"), "x").glob("*.parquet")
    with pytest.raises(Refused, match="tables only"):
        java.inspect(base.as_uri())
    if java.hello.version == "1.0.2":
        with pytest.raises(Refused, match=r"write\.bulk-insert"):
            java.write(table, "bulk_insert", rows(("b", "x", 1, 1)))
    else:
        java.write(table, "bulk_insert", rows(("b", "x", 1, 1)))
        assert plain(java.read(table, Query())) == [("a", "x", 1, 1), ("b", "x", 1, 1)]


def test_errors_are_reported_on_one_line(java, table):
    """The innermost cause with its class, with the trace; for rows that do not fit too; the engine continues to run."""
    with pytest.raises(EngineError, match=r"^\w*(NotFound|FileNotFound)Exception: [^\n]*$") as missing:
        java.read(table, Query())
    assert "\tat " in (missing.value.trace or "")
    java.create(table, spec())
    with pytest.raises(EngineError, match="no column no_such_column"):
        java.write(table, "upsert", rows(("a", "x", 1, 1)).append_column("no_such_column", pa.array([1])))
    with pytest.raises(EngineError, match="a row that the schema does not allow"):
        java.write(table, "upsert", rows(("a", "x", None, 1)))
    with pytest.raises(EngineError, match="no_such_column"):
        java.read(table, Query(columns=("no_such_column",)))


#: Indexes of the metadata table, whose settings only the first write gives.
INDEXES = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.index.bloom.filter.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
}


def test_later_writes_and_services_maintain_the_listed_indexes(java, table):
    """Hudi drops an index that a writer does not enable; the adapter enables what the table lists."""
    java.create(table, spec(type="MERGE_ON_READ"))
    java.write(table, "insert", rows(("a", "x", 1, 1)), options=INDEXES)
    listed = java.inspect(table)["metadata_table"]["partitions"]
    assert {"files", "record_index", "bloom_filters", "column_stats"} <= set(listed)

    java.write(table, "upsert", rows(("a", "x", 2, 2), ("b", "y", 1, 1)))
    java.service(table, "compaction")
    java.service(table, "rollback", instant=java.write(table, "insert", rows(("c", "x", 1, 1))))
    found = java.inspect(table)["metadata_table"]
    assert (found["partitions"], found["inflight"]) == (listed, [])
    assert all(found["files"][partition] for partition in listed)


def test_an_index_is_planned_and_built(java, table):
    """The index is listed after its build; a second request finds nothing to do."""
    index = {"hoodie.metadata.record.index.enable": "true"}
    java.create(table, spec())
    java.write(table, "insert", rows(("a", "x", 1, 1)), options={**INDEXES, **dict.fromkeys(index, "false")})
    instant = java.service(table, "index", phase="schedule", options=index)
    assert "record_index" not in java.inspect(table)["metadata_table"]["partitions"]
    assert java.service(table, "index", phase="execute", instant=instant, options=index) == instant
    assert "record_index" in java.inspect(table)["metadata_table"]["partitions"]
    assert java.service(table, "index", options=index) is None
    with pytest.raises(Refused):
        java.service(table, "index", options={"hoodie.index.name": "by_n", "hoodie.metadata.index.secondary.column": "n"})
