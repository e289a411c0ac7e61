"""Writing with Hudi's options: modes, operations, new tables, and changes by conditions."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from reference_samples import TABLE_TYPES, names, trip, trips

from hudi_reference import WritableTable, open_table
from hudi_reference.errors import ConcurrentChange, InvalidRows, LockNotObtained, Misuse, TableExists, TableNotFound
from hudi_reference.locks import hold_lock, lock_for

pytest.importorskip("pyspark", reason="needs the extra spark")

import hudi_spark
from hudi_spark import dml
from hudi_spark.source.write_options import WriteOptions

Make = Callable[..., WritableTable]
NEW = {
    "hoodie.table.name": "trips",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "p",
    "hoodie.datasource.write.precombine.field": "ts",
    "hoodie.datasource.write.table.type": "MERGE_ON_READ",
    "hoodie.datasource.write.hive_style_partitioning": "true",
}


def frame(spark: Any, rows: pa.Table) -> Any:
    """A DataFrame with two partitions."""
    return spark.createDataFrame(rows).repartition(2)


def test_saving_creates_appends_overwrites_and_ignores(spark: Any, tmp_path: Path) -> None:
    """The first write makes the table that the options describe; the modes do with it what Spark says."""
    uri = str(tmp_path / "new")
    some = frame(spark, trips(*(trip(str(n), "a", n, f"p{n % 2}") for n in range(4))))
    with pytest.raises(TableNotFound):
        hudi_spark.save(some, uri, mode="append", options={**NEW, "hoodie.datasource.write.operation": "delete"})
    with pytest.raises(Misuse, match="needs a name"):
        hudi_spark.save(some, uri, options={"hoodie.datasource.write.recordkey.field": "id"})
    assert not (tmp_path / "new").exists()
    hudi_spark.save(some, uri, options=NEW)
    table = open_table(uri)
    stored = table.properties
    assert (stored.record_key, stored.partition_fields, stored.ordering_fields) == (("id",), ("p",), ("ts",))
    assert stored.is_merge_on_read and {found.partition for found in table.file_groups()} == {"p=p0", "p=p1"}
    with pytest.raises(TableExists):
        hudi_spark.save(some, uri, options=NEW)
    assert hudi_spark.save(some, uri, mode="ignore", options=NEW) is None
    later = frame(spark, trips(trip("1", "late", 0, "p1"), trip("7", "new", 1, "p1")))
    hudi_spark.save(later, uri, mode="append", options=NEW)
    assert names(table) == {"0": "a", "1": "a", "2": "a", "3": "a", "7": "new"}  # the ordering value decides
    hudi_spark.save(later, uri, mode="overwrite", options={**NEW, "hoodie.datasource.write.operation": "insert_overwrite"})
    assert sorted(names(table)) == ["0", "1", "2", "7"]
    hudi_spark.save(some.where("p = 'p0'"), uri, mode="append", options={"operation": "delete_partition"})
    assert sorted(names(table)) == ["1", "7"]
    hudi_spark.save(some, uri, mode="overwrite", options=NEW)
    assert sorted(names(table)) == ["0", "1", "2", "3"] and len(table.timeline.instants) == 5


def test_a_table_without_key_fields_generates_keys(spark: Any, tmp_path: Path) -> None:
    """Without an operation rows are inserted; two equal rows stay two."""
    uri = str(tmp_path / "keyless")
    for mode in ("errorifexists", "append"):
        hudi_spark.save(frame(spark, trips(trip("1"), trip("1"))), uri, mode=mode, options={"hoodie.table.name": "t"})
    rows = open_table(uri).snapshot()
    assert rows.num_rows == len(set(rows["_hoodie_record_key"].to_pylist())) == 4


def test_options_that_contradict_the_table_are_errors(make_table: Make) -> None:
    """No setting is ignored, and none changes a table silently."""
    table = make_table(partition=("p",))
    for wrong in [
        {"hoodie.datasource.write.table.type": "MERGE_ON_READ"},
        {"hoodie.datasource.write.partitionpath.field": "name"},
        {"hoodie.table.cdc.enabled": "true", "hoodie.table.base.file.format": "ORC"},
        {"hoodie.datasource.write.hive_style_partitioning": "true"},
        {"hoodie.datasource.write.partitionpath.urlencode": "true"},
        {"hoodie.datasource.write.partitionpath.urlencode": "yes"},
        {"hoodie.database.name": "other"},
        {"hoodie.datasource.write.precombine.field": "ts"},
        {"hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.TimestampBasedKeyGenerator"},
        {"hoodie.write.table.version": "six"},
        {"hoodie.datasource.write.operation": "upsert", "operation": "insert"},
        {"hoodie.write.lock.providr": "org.apache.hudi.client.transaction.lock.InProcessLockProvider"},
        {"hoodie.clustering.plan.strategy.sort.colums": "ts"},
        {"hoodie.keygen.timebased.output.dateformt": "yyyy"},
    ]:
        with pytest.raises(Misuse):
            assert WriteOptions.parse(wrong).table_at(table.uri) is None
    with pytest.raises(Misuse) as error:
        WriteOptions.parse({"hoodie.parquet.max.filesize": "1"})
    assert error.value.remedy == "did you mean hoodie.parquet.max.file.size?"
    for right in [
        {"hoodie.datasource.write.recordkey.field": " id "},
        {"hoodie.datasource.write.table.type": "copy_on_write"},
        {"hoodie.datasource.write.hive_style_partitioning": "FALSE"},
        {"hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.SimpleKeyGenerator"},
        {"hoodie.write.lock.storage.heartbeat.poll.secs": "30"},
        {"hoodie.deltastreamer.keygen.timebased.timestamp.type": "SCALAR"},
        {"hoodie.record.merge.property.any": "1"},
    ]:
        assert WriteOptions.parse(right).table_at(table.uri) is not None


@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_merge_into(spark: Any, make_table: Make, table_type: str) -> None:
    """Matched rows are updated with expressions of both sides, others inserted, in one action."""
    table = make_table(table_type=table_type, partition=("p",))
    table.upsert(trips(*(trip(str(n), f"n{n}", n, "p0") for n in range(4))))
    source = frame(spark, trips(trip("1", "x", 10, "p0"), trip("9", "y", 20, "p1")))
    hudi_spark.merge_into(source, table.uri, when_matched={"name": "concat(t.name, s.name)", "ts": "s.ts + t.ts"})
    rows = {row["id"]: (row["name"], row["ts"], row["p"]) for row in table.snapshot().to_pylist()}
    assert rows == {**{str(n): (f"n{n}", n, "p0") for n in (0, 2, 3)}, "1": ("n1x", 11, "p0"), "9": ("y", 20, "p1")}
    assert len(table.timeline.instants) == 2
    by_name = frame(spark, trips(trip("other", "n2", 50, "p0"), trip("none", "zzz", 1, "p0")))
    hudi_spark.merge_into(by_name, table.uri, on=["name"], when_not_matched=None)
    assert {row["id"]: row["ts"] for row in table.snapshot().to_pylist()}["2"] == 50
    hudi_spark.merge_into(by_name, table.uri, on=["name"], when_matched="delete", when_not_matched=None)
    assert sorted(names(table)) == ["0", "1", "3", "9"]
    with pytest.raises(InvalidRows, match="several rows"):
        hudi_spark.merge_into(frame(spark, trips(trip("1", "a", 1, "p0"), trip("1", "b", 1, "p0"))), table.uri)
    with pytest.raises(Misuse):
        hudi_spark.merge_into(source, table.uri, when_matched="delete")
    with pytest.raises(Misuse):
        hudi_spark.merge_into(source, table.uri, when_matched={"p": "s.p"})


@pytest.mark.parametrize("identity", [{"partition": ("p",)}, {"record_key": ("id", "p")}], ids=["partition", "key"])
def test_merge_into_finds_rows_without_a_value(spark: Any, make_table: Make, identity: dict[str, Any]) -> None:
    """Rows with null in a partition column or in one of several key columns match. In other columns null matches nothing."""
    table = make_table(**identity)
    table.upsert(trips(trip("1", "a", 1), trip("2", "b", 1, "x")))
    source = frame(spark, trips(trip("1", "z", 5), trip("2", "z", 5, "x"), trip("3", None, 5)))
    hudi_spark.merge_into(source, table.uri, when_matched={"ts": "s.ts + t.ts"})
    assert names(table) == {"1": "a", "2": "b", "3": None}
    assert {row["id"]: row["ts"] for row in table.snapshot().to_pylist()} == {"1": 6, "2": 6, "3": 5}
    hudi_spark.merge_into(source.where("id = '3'"), table.uri, on=["name"], when_matched="delete", when_not_matched=None)
    hudi_spark.merge_into(source.where("id = '1'"), table.uri, when_matched="delete", when_not_matched=None)
    assert names(table) == {"2": "b", "3": None}


@pytest.mark.parametrize("wrong", [{"when_matched": "insert"}, {"when_not_matched": "update"}, {"on": []}])
def test_merge_into_refuses_unknown_clauses(spark: Any, make_table: Make, wrong: dict[str, Any]) -> None:
    """A text that is no clause, and a merge without columns to match."""
    with pytest.raises(Misuse, match=r"unknown clause|no column"):
        hudi_spark.merge_into(frame(spark, trips(trip("1"))), make_table().uri, **wrong)


def test_update_and_delete_where(spark: Any, make_table: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that satisfy a condition are changed; a write in between is a conflict, and nothing changes."""
    table = make_table(partition=("p",))
    table.upsert(trips(*(trip(str(n), "a", n, f"p{n % 2}") for n in range(6))))
    hudi_spark.update(spark, table.uri, {"name": "concat(name, id)"}, "ts >= 3")
    hudi_spark.delete_where(spark, table.uri, "p = 'p0' AND ts < 3")
    assert names(table) == {"1": "a", "3": "a3", "4": "a4", "5": "a5"}
    assert hudi_spark.update(spark, table.uri, {"name": "'x'"}, "ts > 100") is None
    with pytest.raises(Misuse):
        hudi_spark.update(spark, table.uri, {"id": "'x'"}, "true")
    before = names(table)

    def another_write_first(*arguments: Any, **more: Any) -> str:
        open_table(table.uri).upsert(trips(trip("1", "other", 9, "p1")))
        return change(*arguments, **more)

    change = dml.change_unchanged
    monkeypatch.setattr(dml, "change_unchanged", another_write_first)
    with pytest.raises(ConcurrentChange):
        hudi_spark.update(spark, table.uri, {"name": "'lost'"}, "id = '1'")
    assert names(table) == {**before, "1": "other"}


def test_services_run_on_the_executors(spark: Any, make_table: Make) -> None:
    """Compaction, clustering and clean: the rows stay, and the plan is executed by its requested time."""
    table = make_table(table_type="MERGE_ON_READ", ordering=("ts",), partition=("p",))
    for time in range(1, 4):
        table.upsert(trips(*(trip(str(n), f"n{time}", time, f"p{n % 3}") for n in range(9))))
    before = table.snapshot(["id", "name"]).sort_by("id")
    requested = hudi_spark.services.schedule(table.uri, "compaction")
    assert requested is not None
    assert hudi_spark.services.execute(spark, table.uri, "compaction", requested) == requested
    assert not any(found.log_files for found in table.file_groups().latest_slices)
    assert hudi_spark.services.run(spark, table.uri, "clustering") is not None
    cleaned = hudi_spark.services.run(
        spark,
        table.uri,
        "clean",
        options={"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"},
    )
    assert cleaned is not None
    assert table.snapshot(["id", "name"]).sort_by("id") == before
    assert [i.action for i in table.timeline.completed][3:] == ["commit", "replacecommit", "clean"]
    assert not table.timeline.pending
    with pytest.raises(Misuse, match="no such service"):
        hudi_spark.services.run(spark, table.uri, "vacuum")


def test_services_take_the_lock_of_the_settings(spark: Any, make_table: Make) -> None:
    """A plan is neither published nor completed while another writer holds the lock; misspelt settings are refused."""
    table = make_table(table_type="MERGE_ON_READ", ordering=("ts",))
    for time in (1, 2):
        table.upsert(trips(trip("1", "a", time)))
    options = {
        "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider",
        "hoodie.write.lock.wait_time_ms": "1",
        "hoodie.write.lock.client.num_retries": "0",
    }
    requested = hudi_spark.services.schedule(table.uri, "compaction", options=options)
    assert requested is not None
    with hold_lock(lock_for(table.storage, "trips", options, table.clock), "another writer"):
        with pytest.raises(LockNotObtained):
            hudi_spark.services.schedule(table.uri, "clean", options=options)
        with pytest.raises(LockNotObtained):
            hudi_spark.services.execute(spark, table.uri, "compaction", requested, options=options)
    assert len(table.timeline.pending) == 1
    with pytest.raises(Misuse, match="unknown option"):
        hudi_spark.services.run(spark, table.uri, "clean", options={"hoodie.clean.commits.retaind": "1"})
    assert hudi_spark.services.execute(spark, table.uri, "compaction", requested, options=options) == requested
