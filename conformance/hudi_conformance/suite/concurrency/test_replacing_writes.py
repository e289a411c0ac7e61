"""Insert overwrite and delete partition: their metadata, the results of every kind of query after them, and the cleaning of the
replaced files. Concurrent writers are in `test_paused_replacements`.
"""

from dataclasses import replace
from typing import Any

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.messages import Operation
from hudi_conformance.suite.support.concurrent.concurrent_table import NewUri
from hudi_conformance.suite.support.concurrent.pending_writes import SEVERAL_WRITERS
from hudi_conformance.suite.support.concurrent.slow_writers import BUCKETS, NON_BLOCKING
from hudi_conformance.suite.support.programs.write_programs import (
    BOTH_TYPES,
    TYPES,
    Program,
    SharedTables,
    Step,
    as_arrow,
    expect_rows,
    row,
)
from hudi_conformance.suite.support.tables.archived_tables import archive_limits
from hudi_conformance.suite.support.tables.tables_under_services import (
    WRITES,
    create_updated_table,
    data_file_names,
    instant_files,
    keep_commits,
    pending_actions,
    read_as_of,
    read_instant_file,
    read_snapshot,
    sort_rows,
)
from hudi_conformance.suite.support.tables.written_tables import CAPTURED, READS, Type, completion_time, table_folder

OVERWRITES = pytest.mark.needs(*WRITES, "write.insert-overwrite")
DELETES = pytest.mark.needs(*WRITES, "write.delete-partition")
#: Automatic cleaning and archiving are off.
QUIET = {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}
#: Oslo, which holds a and b, gets a new row and a row of a known key; rio, which holds c, stays unchanged.
INSTEAD = Step("insert_overwrite", (row("n", 1, "instead"), row("b", 0, "instead")))
DELETION = Step("delete_partition", (row("a", 0, ""),))
LEFT = [("b", "instead"), ("c", "x"), ("n", "instead")]


def write_step(engine: Client, uri: str, step: Step) -> str:
    """Write; return the requested time."""
    return engine.write(uri, step.operation, as_arrow(step.rows), options=QUIET)


def read_values(engine: Client, uri: str) -> list[tuple[str, str]]:
    """Return the keys and values of a snapshot."""
    return [(found["id"], found["value"]) for found in read_snapshot(engine, uri)]


def base_files_in_oslo(uri: str) -> set[str]:
    """Return the names of the base files in that partition."""
    return {path.name for path in (table_folder(uri) / "oslo").glob("*.parquet")}


@OVERWRITES
@BOTH_TYPES
@pytest.mark.needs("read.as-of")
@pytest.mark.requirements("TL-039", "TL-010", "RDR-010", "RDR-011")
def test_an_overwrite_replaces_the_partitions_of_its_rows(engine: Client, new_uri: NewUri, type: Type) -> None:
    """TL-039: all earlier content of these partitions is replaced, updates in log files included; other partitions stay. Reads
    as of earlier times give the earlier rows.
    """
    table = create_updated_table(engine, new_uri(), 1, type)
    instant = write_step(engine, table.uri, INSTEAD)
    assert read_values(engine, table.uri) == LEFT
    assert read_as_of(engine, table.uri, instant) == read_snapshot(engine, table.uri)
    assert [read_as_of(engine, table.uri, time) for time in table.instants] == table.rows


@DELETES
@BOTH_TYPES
@pytest.mark.needs("read.as-of")
@pytest.mark.requirements("TL-039", "RDR-010", "RDR-011")
def test_a_deleted_partition_is_empty_until_it_is_written_again(engine: Client, new_uri: NewUri, type: Type) -> None:
    """TL-039: after the deletion, an upsert of a key that the partition held is an insert."""
    table = create_updated_table(engine, new_uri(), 1, type)
    write_step(engine, table.uri, DELETION)
    assert read_values(engine, table.uri) == [("c", "x")]
    assert [read_as_of(engine, table.uri, time) for time in table.instants] == table.rows
    write_step(engine, table.uri, Step("upsert", (row("a", 0, "again"),)))
    assert read_values(engine, table.uri) == [("a", "again"), ("c", "x")]


@pytest.mark.needs(*WRITES, "copy-on-write")
@pytest.mark.parametrize(
    "step",
    [
        pytest.param(INSTEAD, marks=OVERWRITES, id="insert-overwrite"),
        pytest.param(DELETION, marks=DELETES, id="delete-partition"),
    ],
)
@pytest.mark.requirements("TL-012", "TL-039", "CLU-040", "TL-009")
def test_a_replacement_is_a_replacecommit_in_all_its_states(engine: Client, new_uri: NewUri, step: Step) -> None:
    """TL-012: the requested file contains no plan; the completed file has the operation, the replaced file groups, and only the
    new files.
    """
    table = create_updated_table(engine, new_uri(), 1)
    before = data_file_names(table.uri)
    groups = {
        stat["fileId"] for stat in read_instant_file(table.uri, table.instants[0], "commit")[1]["partitionToWriteStats"]["oslo"]
    }
    instant = write_step(engine, table.uri, step)
    assert {name.split(".", 1)[1] for name in instant_files(table.uri) if name.startswith(instant)} == {
        "replacecommit.requested", "replacecommit.inflight", "replacecommit",
    }  # fmt: skip
    requested, plan = read_instant_file(table.uri, instant, "replacecommit.requested")
    assert requested == "HoodieRequestedReplaceMetadata"
    assert plan["clusteringPlan"] is None
    completed, record = read_instant_file(table.uri, instant, "replacecommit")
    assert completed == "HoodieReplaceCommitMetadata"
    assert record["operationType"] == step.operation.upper()
    assert {path: set(ids) for path, ids in record["partitionToReplaceFileIds"].items()} == {"oslo": groups}
    written = [stat for stats in record["partitionToWriteStats"].values() for stat in stats]
    assert {stat["path"].rpartition("/")[2] for stat in written} == data_file_names(table.uri) - before
    assert not groups & {stat["fileId"] for stat in written}
    assert bool(written) == (step is INSTEAD)
    assert before <= data_file_names(table.uri), "the replacement deleted files"


@OVERWRITES
@BOTH_TYPES
@pytest.mark.needs("read.incremental")
@pytest.mark.requirements("TYP-009", "TL-039")
def test_an_incremental_query_returns_overwritten_rows(engine: Client, new_uri: NewUri, type: Type) -> None:
    """TYP-009: the window of the overwrite has the rows that it inserted; earlier windows have none of them."""
    table = create_updated_table(engine, new_uri(), 0, type)
    instant = write_step(engine, table.uri, INSTEAD)
    write_step(engine, table.uri, Step("upsert", (row("c", 9, "later", "rio"),)))
    begin, end = (completion_time(table.uri, time) for time in (table.instants[-1], instant))
    window = Query("incremental", begin=begin, end=end, columns=tuple(TYPES))
    assert [(found["id"], found["value"]) for found in sort_rows(engine.read(table.uri, window))] == [LEFT[0], LEFT[2]]


#: Replacements of all rows in oslo and in rio.
OF_TWO = {
    "insert_overwrite": (row("n", 1, "instead"), row("m", 1, "instead", "rio")),
    "delete_partition": (row("a", 0, ""), row("c", 0, "", "rio")),
}


@pytest.mark.parametrize(
    "operation", [pytest.param("insert_overwrite", marks=OVERWRITES), pytest.param("delete_partition", marks=DELETES)]
)
@BOTH_TYPES
@pytest.mark.needs("read.cdc")
@pytest.mark.requirements("TYP-012", "TYP-013", "TL-039")
def test_change_capture_reports_replaced_rows_as_deletes(
    engine: Client, new_uri: NewUri, type: Type, operation: Operation
) -> None:
    """TYP-013: every row of every replaced file group is a delete with its old image; the rows that are written instead are
    inserts.
    """
    uri, captured = new_uri(), replace(Program(type, "EVENT_TIME_ORDERING", True).spec(), properties=CAPTURED)
    engine.create(uri, captured)
    write_step(engine, uri, Step("upsert", (row("a", 1, "x"), row("c", 1, "x", "rio"), row("e", 1, "x", "bergen"))))
    write_step(engine, uri, Step("insert", (row("b", 1, "x"), row("d", 1, "x", "rio"))))
    last = write_step(engine, uri, Step("upsert", (row("a", 2, "newer"), row("c", 2, "newer", "rio"))))
    window = Query(
        "cdc",
        begin=completion_time(uri, last),
        end=completion_time(uri, write_step(engine, uri, Step(operation, OF_TWO[operation]))),
    )
    images = [(found["op"], *map(_image, (found["before"], found["after"]))) for found in engine.read(uri, window).to_pylist()]
    gone = [("d", (key, value), None) for key, value in (("a", "newer"), ("b", "x"), ("c", "newer"), ("d", "x"))]
    written = [("i", None, ("n", "instead")), ("i", None, ("m", "instead"))] if operation == "insert_overwrite" else []
    assert sorted(images, key=repr) == sorted([*gone, *written], key=repr)


def _image(found: dict[str, Any] | None) -> tuple[str, str] | None:
    """Return key and value of a row in a change."""
    return None if found is None else (found["id"], found["value"])


@OVERWRITES
@BOTH_TYPES
@pytest.mark.needs("service.rollback", "inspect.table")
@pytest.mark.requirements("TL-019", "TL-010")
def test_an_overwrite_is_rolled_back(engine: Client, new_uri: NewUri, type: Type) -> None:
    """TL-019: the replaced groups are read again, and none of the overwrite's files and instants is left."""
    table = create_updated_table(engine, new_uri(), 1, type)
    before = data_file_names(table.uri)
    instant = write_step(engine, table.uri, INSTEAD)
    engine.service(table.uri, "rollback", instant=instant)
    assert read_snapshot(engine, table.uri) == table.rows[-1]
    assert data_file_names(table.uri) == before
    assert not [name for name in instant_files(table.uri) if name.startswith(instant)]
    assert pending_actions(engine, table.uri) == []


@OVERWRITES
@pytest.mark.needs("service.clean", "service.archive", "copy-on-write")
@pytest.mark.requirements("CLN-006", "ARC-005", "RDR-010", "TL-039")
def test_replaced_groups_stay_hidden_after_cleaning_and_archiving(engine: Client, new_uri: NewUri) -> None:
    """RDR-010: a clean that keeps the time before the overwrite readable keeps the replaced files; a later one deletes them.
    The replacecommit is not archived before that, and when it is archived it hides no existing file.
    """
    table = create_updated_table(engine, new_uri(), 1)
    old = base_files_in_oslo(table.uri)
    instant = write_step(engine, table.uri, INSTEAD)
    new = base_files_in_oslo(table.uri) - old
    engine.service(table.uri, "clean", options=keep_commits(2))
    assert read_values(engine, table.uri) == LEFT
    assert read_as_of(engine, table.uri, table.instants[-1]) == table.rows[-1]
    for number in range(5):
        write_step(engine, table.uri, Step("upsert", (row("c", 10 + number, f"{number}", "rio"),)))
    engine.service(table.uri, "archive", options=archive_limits(3, 2))
    assert [name for name in instant_files(table.uri, "replacecommit") if name.startswith(f"{instant}_")]
    engine.service(table.uri, "clean", options=keep_commits(1))
    assert base_files_in_oslo(table.uri) == new
    for number in range(5):
        write_step(engine, table.uri, Step("upsert", (row("c", 20 + number, f"{number}", "rio"),)))
    engine.service(table.uri, "archive", options=archive_limits(3, 2))
    assert read_values(engine, table.uri) == [LEFT[0], ("c", "4"), LEFT[2]]


@OVERWRITES
@pytest.mark.needs("merge-on-read", "merge.commit-time", "write.bucket-index")
@pytest.mark.requirements("NBC-004", "TL-039", "RDR-010")
def test_an_emptied_bucket_is_written_again(engine: Client, new_uri: NewUri) -> None:
    """NBC-004: non-blocking writers give the file group of a bucket an id that follows from the bucket. If that group was
    replaced and the bucket is empty, new data under the same id would stay hidden.
    """
    uri, beside_others = new_uri(), {**SEVERAL_WRITERS, **NON_BLOCKING}
    engine.create(uri, Program("MERGE_ON_READ", "COMMIT_TIME_ORDERING", True).spec())
    engine.write(uri, "upsert", as_arrow([row("a", 1, "x"), row("b", 1, "x")]), options=beside_others)
    engine.write(uri, "insert_overwrite", as_arrow([row("a", 2, "instead")]), options=BUCKETS)
    assert read_values(engine, uri) == [("a", "instead")]
    for value in ("again", "and again"):
        engine.write(uri, "upsert", as_arrow([row("b", 3, value)]), options=beside_others)
        assert read_values(engine, uri) == [("a", "instead"), ("b", value)]


STEPS = (
    Step("upsert", (row("a", 10, "first"), row("b", 10, "first"), row("c", 10, "first", "rio"))),
    Step("upsert", (row("a", 20, "second"), row("c", 20, "second", "rio"))),
    Step("insert_overwrite", (row("b", 5, "instead"), row("d", 1, "instead"))),
    Step("upsert", (row("b", 6, "after"), row("a", 1, "back"))),
    Step("delete_partition", (row("c", 0, "", "rio"),)),
    Step("upsert", (row("c", 1, "again", "rio"),)),
)


@pytest.mark.parametrize("steps", [3, 4, 6])
@pytest.mark.parametrize("type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.requirements("TL-039", "TL-010", "RDR-010", "TYP-007")
@pytest.mark.needs(
    *READS, "timeline.replaced-groups", "copy-on-write", "merge-on-read", "merge.event-time",
    writer=("create", "write.upsert", "write.insert-overwrite", "write.delete-partition"),
)  # fmt: skip
def test_replaced_groups_are_hidden_from_other_engines(
    writer: Client, reader: Client, shared_tables: SharedTables, type: Type, steps: int
) -> None:
    """RDR-010: given only the path, the reader returns the model's rows, and none of an old group of a replaced partition,
    whatever its ordering value.
    """
    table = shared_tables.table(writer, Program(type, "EVENT_TIME_ORDERING", True, STEPS[:steps]))
    expect_rows(reader, table.uri, table.model.snapshot(), f"written by {writer.name}")
