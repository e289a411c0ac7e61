"""Keys that are mapped to file groups by their hash: keys are not looked up, and all versions of a key are merged when they are
read.

The reference writes, because a bucket index is configured by settings of the writer. The engine under test reads.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import Program, as_arrow, row
from hudi_conformance.suite.support.tables.written_tables import CAPTURED, table_folder
from hudi_reference import compact, open_table

BUCKETED = {
    "hoodie.index.type": "BUCKET",
    "hoodie.bucket.index.num.buckets": "4",
    "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
    "hoodie.clean.failed.writes.policy": "LAZY",
}


@pytest.mark.needs("create", "read.snapshot", "read.projection", "merge-on-read", "log.only-slices", "merge.event-time")
@pytest.mark.needs("partition.plain")
@pytest.mark.requirements("MRG-007", "MRG-006", "LAY-021")
def test_versions_of_a_key_are_in_one_file_group(engine: Client, new_uri: Callable[[], str]) -> None:
    """LAY-021: two writers in turn, with inputs of any size, never read existing rows: each key is one row, that of its latest
    event.
    """
    uri = new_uri()
    engine.create(uri, Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True).spec())
    one, other = (open_table(uri, options=BUCKETED) for _ in range(2))
    latest: dict[str, int] = {}
    for number, keys in enumerate(("abcdefghij", "a", "bcd", "jihg", "ea", "k", "abcdefghijk")):
        found = {key: (number * 5 + place) % 7 for place, key in enumerate(keys)}
        (one, other)[number % 2].upsert(as_arrow([row(key, ts, f"{key} at {ts}") for key, ts in found.items()]))
        latest |= {key: max(ts, latest.get(key, -1)) for key, ts in found.items()}
    rows = engine.read(uri, Query(columns=("id", "ts", "value"))).to_pylist()
    assert sorted((r["id"], r["ts"], r["value"]) for r in rows) == sorted((k, ts, f"{k} at {ts}") for k, ts in latest.items())
    groups = {path.name.removeprefix(".").partition("_")[0] for path in table_folder(uri).rglob("*.log.*")}
    assert groups <= {f"{bucket:08}-0000-0000-0000-000000000000" for bucket in range(4)}


@pytest.mark.needs("create", "read.snapshot", "read.projection", "read.filter", "merge-on-read", "merge.event-time")
@pytest.mark.needs("partition.plain", "log.only-slices")
@pytest.mark.requirements("LAY-021", "IDX-012")
def test_a_new_key_in_a_log_of_a_bucket_is_found(engine: Client, new_uri: Callable[[], str]) -> None:
    """LAY-021: a key that is new in its bucket is in a log file beside a base file. The bloom filter of the base file does not
    have it, and a filter on the key finds its row.
    """
    uri, keys = new_uri(), "abcdefghijkl"
    indexes = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.bloom.filter.enable": "true"}
    engine.create(uri, Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True).spec())
    table = open_table(uri, options={**BUCKETED, **indexes})
    table.upsert(as_arrow([row(key, 1, "first") for key in keys[:6]]))
    assert compact(table) is not None
    table.upsert(as_arrow([row(key, 2, "second") for key in keys[6:]]))
    assert sorted(engine.read(uri, Query(columns=("id",))).column("id").to_pylist()) == list(keys)
    for key in keys:
        rows = engine.read(uri, Query(columns=("id",), where=(("id", "=", key),)))
        assert rows.column("id").to_pylist() == [key]


@pytest.mark.needs("create", "read.cdc", "merge-on-read", "merge.event-time", "partition.plain")
@pytest.mark.requirements("TYP-012", "TYP-013", "LAY-021")
def test_changes_of_a_new_bucket(engine: Client, new_uri: Callable[[], str]) -> None:
    """TYP-012: a writer with a bucket index begins file groups in a partition that has none. A change query has their rows as
    inserts, and later updates of them with the row from before.
    """
    uri, buckets = new_uri(), {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}
    engine.create(uri, replace(Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True).spec(), properties=CAPTURED))
    table = open_table(uri, options=buckets)
    for city, value in (("oslo", "first"), ("rio", "first"), ("rio", "second")):
        table.upsert(as_arrow([row(key, len(value), value, city) for key in "abc"]))
    found = [(one["op"], one["before"], one["after"]) for one in engine.read(uri, Query("cdc")).to_pylist()]
    images = [(op, before and before["value"], after["id"], after["city"], after["value"]) for op, before, after in found]
    inserted = [("i", None, key, city, "first") for city in ("oslo", "rio") for key in "abc"]
    assert sorted(images, key=str) == sorted([*inserted, *(("u", "first", key, "rio", "second") for key in "abc")], key=str)
