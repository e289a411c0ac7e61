"""What counts as the same key, or the same file group, of two writers: where they compare keys, and where they detect conflicts
early.

Only the reference can be stopped at these places, from inside its process.
"""

from collections.abc import Callable

import pyarrow as pa
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.concurrent.slow_writers import NON_BLOCKING, OPTIMISTIC, SlowWriter
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, as_arrow, row
from hudi_conformance.suite.support.tables.tables_under_services import create_updated_table, read_snapshot
from hudi_conformance.suite.support.tables.written_tables import base_files, table_folder
from hudi_reference import open_table
from hudi_reference.errors import ConcurrentChange

NEEDED = pytest.mark.needs("create", "write.upsert", "write.insert", "read.snapshot", "partition.plain")
KEYS = {"hoodie.write.concurrency.record.key.check.enable": "true"}
EARLY = {"hoodie.write.concurrency.early.conflict.detection.enable": "true"}
NewUri = Callable[[], str]


def rows_of(engine: Client, uri: str) -> list[tuple[str, str, str]]:
    """Return partition, key and value of each row."""
    return sorted((one["city"], one["id"], one["value"]) for one in read_snapshot(engine, uri))


def inserting(uri: str, key: str, city: str = "oslo") -> Callable[[], str]:
    """An insert of a row, which goes to a new file group."""
    rows = as_arrow([row(key, 100, "inserted", city)])
    return lambda: open_table(uri, options=KEYS).insert(rows)


@NEEDED
@BOTH_TYPES
@pytest.mark.requirements("OCC-017")
def test_keys_of_other_partitions_are_other_keys(engine: Client, new_uri: NewUri, type: str) -> None:
    """OCC-017: a key identifies a record in its partition: writers that insert it into two partitions both complete."""
    only_in_process(engine)
    uri = create_updated_table(engine, new_uri(), 0, type).uri
    SlowWriter(uri, inserting(uri, "n", "rio"), options=KEYS).upsert([row("n", 100, "slow")])
    assert {("oslo", "n", "slow"), ("rio", "n", "inserted")} <= set(rows_of(engine, uri))


@NEEDED
@pytest.mark.requirements("OCC-017")
def test_rows_that_are_copied_are_not_written(engine: Client, new_uri: NewUri) -> None:
    """OCC-017: an update of one row stores a base file with all rows of its file group. Only the key of that row counts:
    another writer that inserts the key of a copied row does not conflict.
    """
    only_in_process(engine)
    uri = create_updated_table(engine, new_uri(), 0).uri
    SlowWriter(uri, inserting(uri, "b"), options=KEYS).upsert([row("a", 100, "slow")])
    assert [key for _, key, value in rows_of(engine, uri) if value in ("slow", "inserted")] == ["a", "b"]


@NEEDED
@pytest.mark.needs("write.delete", "merge-on-read")
@pytest.mark.requirements("OCC-017")
def test_deleted_keys_are_compared(engine: Client, new_uri: NewUri) -> None:
    """OCC-017: a writer deletes a key in a log file, and another one inserts it meanwhile into a new file group: the first to
    complete wins, and the row that it stored is there.
    """
    only_in_process(engine)
    uri = create_updated_table(engine, new_uri(), 0, "MERGE_ON_READ").uri
    slow, before = SlowWriter(uri, inserting(uri, "a"), options=KEYS), rows_of(engine, uri)
    with pytest.raises(ConcurrentChange) as refused:
        slow.table.delete(pa.table({"id": ["a"], "city": ["oslo"]}))
    assert refused.value.rule == "OCC-017"
    assert rows_of(engine, uri) == sorted([*before, ("oslo", "a", "inserted")])


@NEEDED
@pytest.mark.needs("merge-on-read")
@pytest.mark.requirements("OCC-017")
def test_updated_keys_are_compared(engine: Client, new_uri: NewUri) -> None:
    """OCC-017: a writer updates a key in a log file, and another one inserts it meanwhile into a new file group: the first to
    complete wins.
    """
    only_in_process(engine)
    uri = create_updated_table(engine, new_uri(), 0, "MERGE_ON_READ").uri
    with pytest.raises(ConcurrentChange) as refused:
        SlowWriter(uri, inserting(uri, "a"), options=KEYS).upsert([row("a", 100, "slow")])
    assert refused.value.rule == "OCC-017"
    assert "slow" not in {value for _, _, value in rows_of(engine, uri)}


@pytest.mark.needs("create", "read.snapshot", "merge-on-read", "log.only-slices", "partition.plain", "merge.event-time")
@pytest.mark.requirements("OCC-026", "NBC-004")
def test_equal_ids_in_two_partitions_are_two_file_groups(engine: Client, new_uri: NewUri) -> None:
    """OCC-026: non-blocking writers give the file groups of a bucket the same id in each partition. Those of two partitions are
    two groups: with early conflict detection both writers complete.
    """
    only_in_process(engine)
    uri = new_uri()
    engine.create(uri, Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True).spec())
    options = {**NON_BLOCKING, "hoodie.bucket.index.num.buckets": "1", **EARLY}
    quick = SlowWriter(uri, int, options=options)
    SlowWriter(uri, lambda: quick.upsert([row("a", 1, "quick", "rio")]), options=options).upsert([row("a", 1, "slow")])
    assert rows_of(engine, uri) == [("oslo", "a", "slow"), ("rio", "a", "quick")]


@NEEDED
@pytest.mark.requirements("OCC-026")
def test_markers_of_later_writers_do_not_conflict(engine: Client, new_uri: NewUri) -> None:
    """OCC-026: of two writers of one file group only the later one aborts. An earlier one completes beside the marker of a
    later one that is active.
    """
    only_in_process(engine)
    uri, later = create_updated_table(engine, new_uri(), 0).uri, "29990101000000000"
    (data,) = (path for path in base_files(uri) if path.parent.name == "oslo")
    meta = table_folder(uri) / ".hoodie"
    marker, heartbeat = meta / ".temp" / later / "oslo" / f"{data.name}.marker.MERGE", meta / ".heartbeat" / later
    for file in (marker, heartbeat):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    SlowWriter(uri, int, options=OPTIMISTIC | EARLY).upsert([row("a", 100, "earlier")])
    assert ("oslo", "a", "earlier") in rows_of(engine, uri)
    marker.unlink()
    heartbeat.unlink()
