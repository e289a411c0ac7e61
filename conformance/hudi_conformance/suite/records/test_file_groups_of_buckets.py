"""File groups of buckets with a record index, and under a bulk insert, a write after a deleted partition and an overwrite.

The engine under test writes and reads. File groups of log files alone are read from a table of the reference, too.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.engines.registry import connect
from hudi_conformance.suite.support.concurrent.pending_writes import SEVERAL_WRITERS
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, Step, as_arrow, expect_rows, row
from hudi_conformance.suite.support.tables.clustered_tables import Type
from hudi_conformance.suite.support.tables.metadata_tables import LISTED
from hudi_conformance.suite.support.tables.written_tables import base_files, data_files

BUCKETED: Mapping[str, str] = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}
#: Settings of writers that do not wait for each other; their file groups have ids that follow from the bucket.
NON_BLOCKING: Mapping[str, str] = {
    **SEVERAL_WRITERS, **BUCKETED, "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
}  # fmt: skip
RECORD_INDEX: Mapping[str, str] = {
    "hoodie.metadata.enable": "true", "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.global.record.level.index.enable": "true",
}  # fmt: skip
WRITES = pytest.mark.needs("create", "write.upsert", "write.bucket-index", "read.snapshot", "read.projection",
                           "partition.plain", "merge.event-time")  # fmt: skip
FIRST = Step("upsert", tuple(row(key, 1, "first", "x") for key in "abcd"))
LATER = Step("upsert", tuple(row(key, 2, "later", "x") for key in "abe"))


@WRITES
@BOTH_TYPES
@pytest.mark.needs("write.bulk-insert")
@pytest.mark.requirements("LAY-021")
def test_a_bulk_insert_adds_to_the_file_groups_of_buckets(engine: Client, new_uri: Callable[[], str], type: Type) -> None:
    """LAY-021: a bulk insert of new keys adds to the file groups of their buckets, or is refused. It begins no second file
    group of a bucket: a later write could not tell which of them has a key (ER-220).
    """
    uri, program = new_uri(), Program(type, "EVENT_TIME_ORDERING", True)
    engine.create(uri, program.spec())
    model = program.model()
    bulk = Step("bulk_insert", tuple(row(key, 1, "bulk", "x") for key in "fgh"))
    for step in (FIRST, bulk, LATER):
        refusable = [ContractError] if step is bulk else []
        with suppress(*refusable):
            model.apply(step.operation, step.rows, engine.write(uri, step.operation, as_arrow(step.rows), options=BUCKETED))
        expect_rows(engine, uri, model.snapshot(), f"after {step}")
    groups = sorted({path.rpartition("/")[2].lstrip(".").partition("_")[0] for path in data_files(uri)})
    assert [one[:9] for one in groups] == ["00000000-", "00000001-"], f"file groups {', '.join(groups)}"


@WRITES
@pytest.mark.needs("merge-on-read", "read.filter")
@pytest.mark.requirements("IDX-010", "LAY-021")
def test_a_new_key_of_a_bucket_is_in_the_record_index(engine: Client, new_uri: Callable[[], str]) -> None:
    """IDX-010: an upsert adds a key to a bucket that has a file group. The record index has an entry for the key, so that a
    filter on it finds the row (ER-281).
    """
    uri, program = new_uri(), Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True)
    engine.create(uri, program.spec())
    for step in (FIRST, LATER):
        engine.write(uri, step.operation, as_arrow(step.rows), options={**BUCKETED, **RECORD_INDEX})
    for key in "abcde":
        rows = engine.read(uri, Query(columns=("id", "value"), where=(("id", "=", key),))).to_pylist()
        assert rows == [{"id": key, "value": "later" if key in "abe" else "first"}]


@WRITES
@pytest.mark.needs("merge-on-read", "log.only-slices", "write.delete-partition")
@pytest.mark.parametrize("control", ["single writer", "non-blocking"])
@pytest.mark.requirements("LAY-021", "TL-039")
def test_rows_after_a_deleted_partition_are_found(engine: Client, new_uri: Callable[[], str], control: str) -> None:
    """TL-039: a deleted partition replaces the file groups of its buckets. Rows of a later write to the partition belong to no
    replaced file group, in which queries would not find them (ER-221).
    """
    uri, program = new_uri(), Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True)
    engine.create(uri, program.spec())
    model, options = program.model(), NON_BLOCKING if control == "non-blocking" else BUCKETED
    for step in (FIRST, Step("delete_partition", (row("any", 0, "", "x"),)), LATER):
        model.apply(step.operation, step.rows, engine.write(uri, step.operation, as_arrow(step.rows), options=options))
        expect_rows(engine, uri, model.snapshot(), f"after {step}")


@WRITES
@pytest.mark.needs("merge-on-read", "log.only-slices", "write.insert-overwrite", "read.as-of")
@pytest.mark.requirements("TYP-008", "TL-039")
def test_time_travel_before_a_group_of_a_non_blocking_writer(engine: Client, new_uri: Callable[[], str]) -> None:
    """TYP-008: writers that do not wait for each other begin file groups with log files. A group that began and was replaced
    after the time of the query is not missing in the state of that time.
    """
    uri, program = new_uri(), Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True)
    engine.create(uri, program.spec())
    model, states = program.model(), []
    began, replacing = (Step(operation, (row("a", 2, operation, "y"),)) for operation in ("upsert", "insert_overwrite"))
    for step in (FIRST, began, replacing):
        instant = engine.write(uri, step.operation, as_arrow(step.rows), options=NON_BLOCKING)
        model.apply(step.operation, step.rows, instant)
        states.append((instant, sorted((one["id"], one["value"]) for one in model.snapshot())))
    for instant, expected in states:
        found = engine.read(uri, Query("as-of", as_of=instant, columns=("id", "value"))).to_pylist()
        assert sorted((one["id"], one["value"]) for one in found) == expected, f"as of {instant}"


@pytest.mark.needs("read.snapshot", "read.projection", "merge-on-read", "log.avro", "log.only-slices", "partition.plain",
                   "merge.event-time")  # fmt: skip
@pytest.mark.requirements("LAY-022", "MDT-008")
def test_listed_file_groups_of_log_files_alone(engine: Client, new_uri: Callable[[], str]) -> None:
    """LAY-022: a file group of log files alone has rows. MDT-008: queries of a table with a metadata table, which lists its
    files, find them, too (ER-284).
    """
    uri, program = new_uri(), Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True)
    with connect("reference") as writer:
        writer.create(uri, program.spec())
        for step in (FIRST, LATER):
            writer.write(uri, step.operation, as_arrow(step.rows), options={**NON_BLOCKING, **LISTED})
    assert not base_files(uri), "the case is about file groups of log files alone"
    found = engine.read(uri, Query(columns=("id", "value"))).to_pylist()
    expected = [("a", "later"), ("b", "later"), ("c", "first"), ("d", "first"), ("e", "later")]
    assert sorted((one["id"], one["value"]) for one in found) == expected
