"""The adapter of Apache Hudi, on tables that it writes in these tests. Each release is one process behind the contract."""

import json
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest
from apache_hudi_samples import ARROW, PLAIN, RICH, SCHEMA, plain, rows, spec
from pyarrow import parquet

from hudi_conformance.contract import EngineError, Query, Refused
from hudi_conformance.engines.support import environments

pytestmark = [pytest.mark.apache_hudi, pytest.mark.slow]


@pytest.fixture
def table(tmp_path) -> str:
    return (tmp_path / "table").as_uri()


def properties(table: str) -> dict[str, str]:
    """The lines of hoodie.properties."""
    lines = Path(table.removeprefix("file://"), ".hoodie", "hoodie.properties").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if not line.startswith("#"))


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("mode", ["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"])
@pytest.mark.parametrize("partition", [(), ("p",)], ids=["one-folder", "partitioned"])
def test_reads_return_what_was_written(hudi, table, kind, mode, partition):
    """Insert, upsert with a late record, delete and bulk insert give the rows of the merge mode."""
    hudi.create(table, spec(type=kind, partition=partition, merge_mode=mode))
    hudi.write(table, "insert", rows(("a", "x", 10, 1), ("b", "y", 10, 1), ("c", "x", 10, 1)))
    changed = hudi.write(table, "upsert", rows(("a", "x", 5, 2), ("b", "y", 20, 2), **RICH))
    hudi.write(table, "delete", rows(("c", "x", 0, None)).select(["id", "p"]))
    hudi.write(table, "bulk_insert", rows(("e", "y", 1, None)))

    late = (5, 2) if mode == "COMMIT_TIME_ORDERING" else (10, 1)
    now = [("a", "x", *late), ("b", "y", 20, 2), ("e", "y", 1, None)]
    assert plain(hudi.read(table, Query())) == now
    then = [("a", "x", *late), ("b", "y", 20, 2), ("c", "x", 10, 1)]
    assert plain(hudi.read(table, Query("as-of", as_of=changed))) == then
    base = [("a", "x", 10, 1), ("b", "y", 10, 1), ("c", "x", 10, 1), ("e", "y", 1, None)]
    assert plain(hudi.read(table, Query("read-optimized"))) == (base if kind == "MERGE_ON_READ" else now)
    assert properties(table)["hoodie.table.version"] == "8"


def test_values_of_each_type_are_unchanged(hudi, table):
    """Decimals, UTC timestamps, structs and lists are unchanged, and nullable integers stay integers."""
    hudi.create(table, spec())
    written = pa.concat_tables([rows(("a", "x", 1, 1), **RICH), rows(("b", "x", 1, None))])
    hudi.write(table, "insert", written)
    found = hudi.read(table, Query()).sort_by("id")
    assert [found.schema.field(name).type for name in PLAIN] == [ARROW.field(name).type for name in PLAIN]
    assert [found.schema.field(name).type for name in ("d", "w")] == [pa.decimal128(10, 2), pa.timestamp("us", "UTC")]
    assert found.select(ARROW.names).to_pylist() == written.to_pylist()


def test_columns_stay_non_nullable(hudi, table):
    """The schema of the commit is that of the table; Spark alone makes every column nullable."""
    hudi.create(table, spec())
    hudi.write(table, "insert", rows(("a", "x", 1, 1)))
    (base,) = Path(table.removeprefix("file://")).glob("x/*.parquet")
    schema = parquet.read_schema(base)
    assert [schema.field(name).nullable for name in PLAIN] == [False, False, False, True]


def test_projection_and_filter(hudi, table):
    """The selected columns in the given order, including meta columns; comparisons use the type of the column."""
    hudi.create(table, spec())
    hudi.write(table, "insert", rows(("a", "x", 9, 1), ("b", "x", 10, 2), **RICH))
    where = (("ts", ">", 9), ("d", "=", "1.25"), ("w", ">=", "2025-12-31T00:00:00Z"))
    found = hudi.read(table, Query(columns=("n", "_hoodie_record_key"), where=where))
    assert found.to_pylist() == [{"n": 2, "_hoodie_record_key": "b"}]
    assert found.column_names == ["n", "_hoodie_record_key"]


def test_incremental_queries_use_completion_times(hudi, table):
    """From the first commit's completion on: 1.0.2 counts that commit in, 1.2.0 does not; without bounds everything."""
    hudi.create(table, spec())
    first = hudi.write(table, "insert", rows(("a", "x", 1, 1), ("b", "x", 1, 1)))
    hudi.write(table, "upsert", rows(("b", "x", 2, 2)))
    completed = hudi.inspect(table)["timeline"]["completed"]
    (begin,) = [instant["completion"] for instant in completed if instant["requested"] == first]
    everything = [("a", "x", 1, 1), ("b", "x", 2, 2)]
    assert plain(hudi.read(table, Query("incremental"))) == everything
    since = everything if hudi.hello.version == "1.0.2" else [("b", "x", 2, 2)]
    assert plain(hudi.read(table, Query("incremental", begin=begin))) == since


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_change_queries_have_values_before_and_after(hudi, table, kind):
    """Every change of every file group, with the data columns as structs and no struct where there is no row."""
    cdc = {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": "DATA_BEFORE_AFTER"}
    hudi.create(table, spec(type=kind, properties=cdc))
    hudi.write(table, "insert", rows(("a", "x", 1, 1), ("b", "y", 1, 1)))
    hudi.write(table, "upsert", rows(("a", "x", 2, 2), ("c", "x", 1, 1)))
    hudi.write(table, "delete", rows(("b", "y", 0, None)).select(["id", "p"]))

    def image(row: dict[str, object] | None) -> tuple[object, ...] | None:
        return row and tuple(row[name] for name in PLAIN)

    found = {(r["op"], image(r["before"]), image(r["after"])) for r in hudi.read(table, Query("cdc")).to_pylist()}
    a1, a2, b1, c1 = ("a", "x", 1, 1), ("a", "x", 2, 2), ("b", "y", 1, 1), ("c", "x", 1, 1)
    assert found == {("i", None, a1), ("i", None, b1), ("u", a1, a2), ("i", None, c1), ("d", b1, None)}


def test_a_flagged_row_is_a_delete(hudi, table):
    """An upsert with _hoodie_is_deleted true removes the row."""
    hudi.create(table, spec())
    hudi.write(table, "insert", rows(("a", "x", 1, 1), ("b", "x", 1, 1)))
    hudi.write(table, "upsert", rows(("a", "x", 2, 2)).append_column("_hoodie_is_deleted", pa.array([True])))
    assert plain(hudi.read(table, Query())) == [("b", "x", 1, 1)]


def test_an_empty_table_has_a_schema(hudi, table):
    """Reading a table without commits gives no rows and all columns."""
    hudi.create(table, spec())
    found = hudi.read(table, Query())
    assert found.num_rows == 0
    assert set(found.column_names) == set(ARROW.names)


def test_create_follows_the_table_spec(hudi, table):
    """Keys, partitions, folder style and other properties; a commit-time table may have no ordering field."""
    more = {"hoodie.table.cdc.enabled": "true", "hoodie.example": "kept"}
    keys = {"record_key": ("id", "n"), "partition": ("p", "ts"), "hive_style": True, "url_encode": True}
    hudi.create(table, spec(**keys, merge_mode="COMMIT_TIME_ORDERING", properties=more))
    hudi.write(table, "insert", rows(("a", "x/y", 1, 1)))
    found = properties(table)
    assert found["hoodie.table.recordkey.fields"] == "id,n"
    assert found["hoodie.record.merge.mode"] == "COMMIT_TIME_ORDERING"
    assert not {"hoodie.table.precombine.field", "hoodie.table.ordering.fields"} & set(found)
    assert {key: found[key] for key in more} == more
    keys_and_path = hudi.read(table, Query(columns=("_hoodie_record_key", "_hoodie_partition_path"))).to_pylist()
    assert keys_and_path == [{"_hoodie_record_key": "id:a,n:1", "_hoodie_partition_path": "p=x%2Fy/ts=1"}]


def test_inspect_returns_timeline_and_slices(hudi, table):
    """Completed instants with both times; the base file with its log files in merge order."""
    hudi.create(table, spec())
    times = [hudi.write(table, "insert", rows(("a", "x", 1, 1)))]
    times += [hudi.write(table, "upsert", rows(("a", "x", ts, ts))) for ts in (2, 3)]
    found = hudi.inspect(table)
    assert [(i["requested"], i["action"], i["where"]) for i in found["timeline"]["completed"]] == [
        (time, "deltacommit", "active") for time in times
    ]
    assert all(i["completion"] > i["requested"] for i in found["timeline"]["completed"])
    ((file_id, group),) = found["file_groups"]["x"].items()
    assert group["replaced_by"] is None
    assert group["slices"] == [group["latest"]]
    assert group["latest"]["base_instant"] == times[0]
    assert group["latest"]["base_file"].startswith(file_id)
    assert [name.split("_")[1].split(".")[0] for name in group["latest"]["log_files"]] == times[1:]


def test_no_checksum_files_are_left(hudi, table):
    """Hadoop's .crc files would be unknown files in a golden table."""
    hudi.create(table, spec())
    hudi.write(table, "insert", rows(("a", "x", 1, 1)))
    assert not list(Path(table.removeprefix("file://")).rglob("*.crc"))


def test_other_table_versions_are_refused(hudi, table):
    """1.0.2 refuses to read version 9, and both releases refuse to write any version except 8."""
    hudi.create(table, spec())
    hudi.write(table, "insert", rows(("a", "x", 1, 1)))
    file = Path(table.removeprefix("file://"), ".hoodie", "hoodie.properties")
    file.write_text(file.read_text().replace("hoodie.table.version=8", "hoodie.table.version=9"))
    with pytest.raises(Refused) as refusal:
        hudi.write(table, "upsert", rows(("a", "x", 2, 2)))
    assert refusal.value.feature == "table-version"
    if hudi.hello.version == "1.0.2":
        with pytest.raises(Refused, match="offered are 0 to 8"):
            hudi.read(table, Query())


def test_errors_are_reported_on_one_line(hudi, table):
    """The innermost cause with its class, with the trace; the engine continues to run."""
    with pytest.raises(EngineError, match=r"^\w*(NotFound|FileNotFound)Exception: [^\n]*$") as missing:
        hudi.read(table, Query())
    assert "\tat " in (missing.value.trace or "")
    hudi.create(table, spec())
    with pytest.raises(EngineError, match=r"AnalysisException: [^\n]*no_such_column[^\n]*$"):
        hudi.read(table, Query(columns=("no_such_column",)))


def test_other_storage_is_refused(hudi):
    """Hudi's bundle has no connector for S3."""
    with pytest.raises(Refused, match=r"storage\.s3"):
        hudi.read("s3://bucket/table", Query())


RECIPE = """
import json, sys
import pyarrow as pa
from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.engines.apache_hudi import ApacheHudiEngine

version, table, description = sys.argv[1:]
hudi = ApacheHudiEngine(version)
hudi.create(table, TableSpec.from_json(json.loads(description)))
def write(key, ts, operation="upsert", **options):
    row = {"id": [key], "p": ["x"], "ts": pa.array([ts], pa.int64()), "n": pa.array([ts], pa.int32())}
    return hudi.write(table, operation, pa.table(row), options=options)
def actions():
    return [(i["action"], i["requested"]) for i in hudi.inspect(table)["timeline"]["completed"]]

write("a", 1, "insert")
write("a", 5)
hudi.call(table, "run_compaction", op="schedule")
write("a", 3)
pending = hudi.inspect(table)
hudi.call(table, "run_compaction", op="run")
saved = write("a", 6)
hudi.call(table, "create_savepoint", commit_time=saved)
hudi.call(table, "rollback_to_instant", instant_time=write("a", 7))
write("a", 8)
hudi.call(table, "rollback_to_savepoint", instant_time=saved)
hudi.call(table, "delete_savepoint", instant_time=saved)
write("a", 9)
logs = hudi.log_compaction(table)
hudi.call(table, "run_compaction", op="scheduleAndExecute")
hudi.call(table, "run_clean", clean_policy="KEEP_LATEST_COMMITS", retain_commits=1)
hudi.call(table, "run_clustering", op="scheduleAndExecute")
clustered = hudi.inspect(table)
hudi.sql(table, "INSERT INTO {table} (id, ts, n, p) VALUES ('q', 1, 1, 'x')")
hudi.sql(table, "DELETE FROM {table} WHERE id = 'a'")
print("ANSWER", json.dumps({
    "pending": pending, "clustered": clustered, "log compaction": logs,
    "rows": hudi.read(table, Query()).to_pylist(), "end": hudi.inspect(table),
}))
hudi.close()
"""


@pytest.mark.parametrize("version", ["1.0.2", "1.2.0"])
def test_services_do_not_change_properties(table, version):
    """Compaction, savepoint, rollback, restore, log compaction, clustering, clean and SQL, as recipes use them."""
    fields = [field for field in SCHEMA["fields"] if field["name"] in PLAIN]
    description = json.dumps(spec(schema=SCHEMA | {"fields": fields}).to_json())
    python = environments.python_for("apache-hudi")
    ran = subprocess.run(
        [python, "-c", RECIPE, version, table, description], capture_output=True, text=True, check=False, timeout=300
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    answer = json.loads(next(line for line in ran.stdout.splitlines() if line.startswith("ANSWER"))[7:])

    ((_, group),) = answer["pending"]["file_groups"]["x"].items()
    assert [s.get("pending_compaction", False) for s in group["slices"]] == [False, True]
    assert group["latest"]["log_files"] == group["slices"][0]["log_files"] + group["slices"][1]["log_files"]
    assert answer["pending"]["timeline"]["pending"][0]["action"] == "compaction"

    done = [(i["action"], i["requested"]) for i in answer["end"]["timeline"]["completed"]]
    replaced = [group for group in answer["clustered"]["file_groups"]["x"].values() if group["replaced_by"]]
    assert [group["latest"] for group in replaced] == [None]
    assert ("replacecommit", replaced[0]["replaced_by"]) in done
    assert {"commit", "restore", "replacecommit", "clean"} <= {action for action, _ in done}
    assert ("deltacommit", answer["log compaction"]) in done
    assert not answer["end"]["timeline"]["pending"]
    assert answer["rows"] == [{"id": "q", "p": "x", "ts": 1, "n": 1}]
    assert answer["end"]["properties"] == answer["pending"]["properties"]
