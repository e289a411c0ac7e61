"""Writes to tables with a bucket index after clusterings by other engines, whose file groups do not fit the buckets."""

import json
from collections.abc import Callable, Iterator, Sequence

import pytest
from reference_samples import contents, new_table, trip, trips

from hudi_reference import WritableTable
from hudi_reference.errors import HudiError, MalformedMetadata, MalformedTable, Misuse, UnsupportedTableFeature
from hudi_reference.services.clustering.clustering import cluster
from hudi_reference.services.clustering.plan import schedule_clustering
from hudi_reference.write.placement.consistent_buckets import FIRST, FOLDER

BUCKETED = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "4"}
CONSISTENT = {**BUCKETED, "hoodie.index.bucket.engine": "CONSISTENT_HASHING"}
KEYS = "abcdefghijklmnop"
ALL = {"hoodie.clustering.inline.max.commits": "1"}
#: Each file group by itself, in the order of the keys; sizes differ from run to run.
EACH = {**ALL, "hoodie.clustering.plan.strategy.class": "KeyRangeClusteringPlanStrategy",
        "hoodie.clustering.plan.strategy.max.bytes.per.group": "1", "hoodie.clustering.max.parallelism": "1"}  # fmt: skip
LEFT, RIGHT = (f"{one * 8}-0000-4000-8000-000000000000" for one in "ab")
GREATEST = 2**31 - 1
Cluster = Callable[[WritableTable, Sequence[str], dict[str, str]], str]


@pytest.fixture
def without_check(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Plans and executes clusterings of tables with a bucket index, as other engines do."""
    with monkeypatch.context() as patched:
        for module in ("plan", "clustering"):
            patched.setattr(f"hudi_reference.services.clustering.{module}.check_not_bucketed", lambda *_: None, raising=False)
        yield patched


def made(options: dict[str, str]) -> WritableTable:
    table = new_table(partition=("p",), table_type="MERGE_ON_READ", options=options)
    table.bulk_insert(trips(*(trip(key, "1", p="x") for key in KEYS)))
    return table


def clustered(table: WritableTable, patched: pytest.MonkeyPatch, ids: Sequence[str], options: dict[str, str]) -> str:
    """Cluster a table into file groups of these ids; the requested time."""
    given = iter(ids)
    patched.setattr("hudi_reference.services.clustering.clustering.uuid5", lambda *_: next(given))
    found = cluster(table, options)
    assert found is not None
    return found


def store_ranges(table: WritableTable, time: str, nodes: Sequence[tuple[int, str]], **other: str) -> None:
    first = json.loads(table.storage.get(f"{FOLDER}/x/{FIRST}.hashing_meta"))
    listed = [{"value": value, "fileIdPrefix": prefix, "tag": "NORMAL"} for value, prefix in nodes]
    content = {**first, "instant": time, "numBuckets": len(nodes), "nodes": listed, **other}
    table.storage.put(f"{FOLDER}/x/{time}.hashing_meta", json.dumps(content).encode())


def check_refused(table: WritableTable, error: type[HudiError]) -> None:
    before = contents(table.storage)
    for act in (
        lambda: table.upsert(trips(*(trip(key, "2", p="x") for key in KEYS))),
        lambda: [table.delete(trips(trip(key, p="x")).select(["id", "p"])) for key in KEYS],
    ):
        with pytest.raises(error):
            act()
    assert table.snapshot().num_rows == len(KEYS)
    assert contents(table.storage) == before


@pytest.mark.parametrize(("ids", "options"), [
    pytest.param(["00000000-0001-4000-8000-000000000000"], ALL, id="all in one bucket"),
    pytest.param([f"00000000-000{number}-4000-8000-000000000000" for number in range(4)], EACH, id="one bucket, several groups"),
    pytest.param([f"0000000{(number + 1) % 4}-0001-4000-8000-000000000000" for number in range(4)], EACH, id="exchanged"),
])  # fmt: skip
def test_rows_in_file_groups_of_other_buckets(
    without_check: pytest.MonkeyPatch, ids: Sequence[str], options: dict[str, str]
) -> None:
    """LAY-021: a write would not find the keys: it would insert them again, and a delete would leave them."""
    table = made(BUCKETED)
    clustered(table, without_check, ids, options)
    check_refused(table, MalformedTable)


@pytest.mark.parametrize("ids", [[LEFT], ["00000007-0001-4000-8000-000000000000"]], ids=["random", "a bucket too many"])
def test_deletes_look_for_buckets_too(without_check: pytest.MonkeyPatch, ids: Sequence[str]) -> None:
    """LAY-021: where the file ids do not fit the index of the writer, a delete is refused as an upsert is: it finds no key."""
    table = made(BUCKETED)
    clustered(table, without_check, ids, ALL)
    check_refused(table, Misuse)


@pytest.mark.parametrize(("nodes", "other", "error"), [
    pytest.param([(GREATEST // 2, LEFT), (GREATEST, RIGHT)], {}, MalformedTable, id="rows of two ranges in one group"),
    pytest.param([(GREATEST // 2, LEFT), (GREATEST, LEFT)], {}, MalformedMetadata, id="one group of two ranges"),
    pytest.param([(GREATEST, LEFT), (GREATEST, RIGHT)], {}, MalformedMetadata, id="one bound twice"),
    pytest.param([(GREATEST, LEFT)], {"partitionPath": "y"}, MalformedMetadata, id="of another partition"),
])  # fmt: skip
def test_ranges_that_do_not_fit_the_rows(
    without_check: pytest.MonkeyPatch, nodes: Sequence[tuple[int, str]], other: dict[str, str], error: type[HudiError]
) -> None:
    """LAY-021: changes of the keys of one range would be lost, or stored in another file group than the rows."""
    table = made(CONSISTENT)
    store_ranges(table, clustered(table, without_check, [LEFT], ALL), nodes, **other)
    check_refused(table, error)


def test_ranges_after_a_merge_of_buckets(without_check: pytest.MonkeyPatch) -> None:
    """LAY-021: after a clustering that merged all buckets, and stored the new range, writes go on."""
    table = made(CONSISTENT)
    store_ranges(table, clustered(table, without_check, [LEFT], ALL), [(GREATEST, LEFT)])
    table.upsert(trips(*(trip(key, "2", p="x") for key in KEYS)))
    assert sorted(table.snapshot(["id", "name"]).to_pylist(), key=str) == [{"id": key, "name": "2"} for key in KEYS]


@pytest.mark.parametrize("options", [BUCKETED, CONSISTENT], ids=["simple", "consistent"])
def test_plans_of_other_engines_are_not_executed(monkeypatch: pytest.MonkeyPatch, options: dict[str, str]) -> None:
    """LAY-021: the execution would give the rows random file ids, so that no writer with the index could write any more."""
    table = made(options)
    with monkeypatch.context() as patched:
        patched.setattr("hudi_reference.services.clustering.plan.check_not_bucketed", lambda *_: None)
        assert schedule_clustering(table, ALL)
    before = contents(table.storage)
    with pytest.raises(UnsupportedTableFeature, match="bucket"):
        cluster(table)
    assert contents(table.storage) == before
