"""Overwrites and deletions of partitions beside writers and cleans, step by step. See `test_paused_writers`."""

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.messages import Operation
from hudi_conformance.suite.support.concurrent.concurrent_table import PAUSES, ConcurrentTable, NewUri
from hudi_conformance.suite.support.concurrent.slow_writers import BUCKETS, NON_BLOCKING
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES
from hudi_conformance.suite.support.tables.tables_under_services import keep_commits

OVERWRITES = pytest.mark.needs("write.insert-overwrite")
DELETES = pytest.mark.needs("write.delete-partition")
#: Writes begin although a clustering is planned.
ALLOW = "org.apache.hudi.client.clustering.update.strategy.SparkAllowUpdateStrategy"
#: New keys go to new file groups.
APART = {"hoodie.parquet.small.file.limit": "0"}


def overwrite_oslo(table: ConcurrentTable, value: str) -> None:
    """Replace the rows of the partition oslo by one new row."""
    table.write({"n": value}, operation="insert_overwrite")
    table.rows = {key: found for key, found in table.rows.items() if key in ("c", "n")}


@PAUSES
@OVERWRITES
@BOTH_TYPES
@pytest.mark.requirements("OCC-013", "OCC-001")
def test_an_update_of_an_overwritten_partition(engine: Client, new_uri: NewUri, type: str) -> None:
    """OCC-013: a writer has stored its files when the partition is overwritten; it reports success only if its change is
    readable (invariants 9 and 21).
    """
    table = ConcurrentTable(engine, new_uri()).create(type)
    assert table.begin("writer", {"a": "written"})
    overwrite_oslo(table, "instead")
    table.finish("writer")
    table.check("the writer has ended")


@PAUSES
@OVERWRITES
@pytest.mark.needs("merge-on-read", "write.bucket-index")
@pytest.mark.requirements("OCC-013", "NBC-004")
def test_a_non_blocking_update_of_an_overwritten_partition(engine: Client, new_uri: NewUri) -> None:
    """NBC-004: a writer that never aborts because of other log files changes an overwritten partition; it reports success only
    if its change is readable (invariant 21).
    """
    options = {**BUCKETS, "hoodie.table.type": "MERGE_ON_READ"}
    table = ConcurrentTable(engine, new_uri(), options=options).create("MERGE_ON_READ")
    assert table.begin("writer", {"a": "written"}, options=NON_BLOCKING)
    overwrite_oslo(table, "instead")
    table.finish("writer")
    table.check("the writer has ended")


@PAUSES
@DELETES
@BOTH_TYPES
@pytest.mark.requirements("OCC-013", "OCC-001")
def test_a_partition_is_deleted_during_a_write(engine: Client, new_uri: NewUri, type: str) -> None:
    """OCC-013: the writer updates a row and inserts one, and completes before the deletion does. The rows are those of a serial
    order of the successful actions, never half of the write (invariants 9 and 21).
    """
    table = ConcurrentTable(engine, new_uri()).create(type)
    assert table.begin("deletion", {"a": ""}, operation="delete_partition")
    table.write({"a": "written", "d": "written"}, options=APART)
    deleted = table.finish("deletion")
    table.rows["a"] = "written"
    orders = [sorted(table.rows.items())] if not deleted else [[("c", "x")], [("a", "written"), ("c", "x"), ("d", "written")]]
    assert table.values() in orders


@PAUSES
@OVERWRITES
@BOTH_TYPES
@pytest.mark.requirements("OCC-013", "OCC-001")
def test_two_overwrites_of_one_partition(engine: Client, new_uri: NewUri, type: str) -> None:
    """OCC-013: a writer has stored its files when another one overwrites the partition. The rows are those of one of them: an
    overwrite that completes without having seen the other one leaves its rows.
    """
    table = ConcurrentTable(engine, new_uri()).create(type)
    assert table.begin("slow", {"m": "slow"}, operation="insert_overwrite")
    overwrite_oslo(table, "quick")
    finished = table.finish("slow")
    assert table.values() == [("c", "x"), ("m", "slow") if finished else ("n", "quick")]


@PAUSES
@OVERWRITES
@BOTH_TYPES
@pytest.mark.needs("service.clustering")
@pytest.mark.requirements("OCC-013", "OCC-016")
@pytest.mark.parametrize("last", ["overwrite", "clustering"])
def test_an_overwrite_during_a_clustering(engine: Client, new_uri: NewUri, type: str, last: str) -> None:
    """OCC-016: a partition is overwritten while a clustering writes its rows to new groups. The overwritten rows are not in the
    table again, whichever completes last; one of both may abort.
    """
    table = ConcurrentTable(engine, new_uri()).create(type)
    plan, allowed = table.schedule("clustering"), {"hoodie.clustering.updates.strategy": ALLOW}
    begun = table.begin("overwrite", {"n": "instead"}, operation="insert_overwrite", options=allowed) is not None
    running = table.start_service("clustering", table.call("clustering", "execute", plan))
    if last == "overwrite":
        assert running and table.finish_service("clustering")
    if begun and table.finish("overwrite"):
        table.rows = {key: found for key, found in table.rows.items() if key in ("c", "n")}
    if last == "clustering" and running:
        table.finish_service("clustering")
    table.check("both have ended")


@PAUSES
@BOTH_TYPES
@pytest.mark.needs("service.clustering")
@pytest.mark.requirements("SVC-009", "OCC-016")
@pytest.mark.parametrize(
    "operation", [pytest.param("insert_overwrite", marks=OVERWRITES), pytest.param("delete_partition", marks=DELETES)]
)
@pytest.mark.parametrize("executed", ["before", "after"])
def test_a_clustering_planned_during_a_replacement(
    engine: Client, new_uri: NewUri, type: str, operation: Operation, executed: str
) -> None:
    """OCC-016: a clustering is planned while a replacement of its file groups is pending, and executed before or after the
    replacement completes. The replaced rows are not in the table if the replacement reported success.
    """
    table = ConcurrentTable(engine, new_uri()).create(type)
    new = {"n": "instead"} if operation == "insert_overwrite" else {}
    assert table.begin("replacement", new or {"a": ""}, operation=operation)
    plan = table.run("clustering", "schedule")
    if plan is not None and executed == "before":
        table.run("clustering", "execute", plan)
    if table.finish("replacement"):
        table.rows = {"c": "x", **new}
    table.check("the replacement has ended")
    if plan is not None and executed == "after":
        table.run("clustering", "execute", plan)
        table.check("the clustering has ended")


@PAUSES
@DELETES
@pytest.mark.needs("service.clean", "copy-on-write")
@pytest.mark.requirements("CLN-001", "CLN-002")
def test_a_partition_recreated_during_a_clean(engine: Client, new_uri: NewUri) -> None:
    """CLN-001: a partition was deleted and a clean is planned that removes its folder; a new row is written to it before the
    clean executes (invariant 25).
    """
    table = ConcurrentTable(engine, new_uri()).create("COPY_ON_WRITE")
    table.write({"a": ""}, operation="delete_partition")
    table.rows = {"c": "x"}
    for number in range(2):
        table.write({"c": f"later {number}"})
    plan = table.schedule("clean", options=keep_commits(1))
    table.write({"d": "new"})
    table.run("clean", "execute", plan)
    table.check("the clean has ended")
