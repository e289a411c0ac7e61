"""Tables with a bucket index: where records go, on both types of table, and writers whose settings do not fit."""

import json
import random
import uuid
from typing import Any
from uuid import uuid4

import pytest
from reference_samples import TABLE_TYPES, contents, data_files, new_table, trip, trips

from hudi_reference import WritableTable, open_table
from hudi_reference.errors import Misuse, UnsupportedTableFeature
from hudi_reference.ids import BUCKET_FILE_ID, SeededIds
from hudi_reference.layout.names import parse_data_file_name
from hudi_reference.services.clustering.clustering import cluster
from hudi_reference.write.placement.consistent_buckets import FIRST, FOLDER, first_nodes, hash_of

BUCKETED = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "4"}
CONSISTENT = {**BUCKETED, "hoodie.index.bucket.engine": "CONSISTENT_HASHING"}
BOTH = pytest.mark.parametrize("kind", TABLE_TYPES)
#: The prefixes of the file groups that Apache Hudi 1.0.2 made for four buckets of the partitions p=x and x, and of none.
PREFIXES = {
    "p=x": ("2cd0f593-1727-3416-bc9b-e146d0d5dab9", "a4484d74-5ad1-311a-a764-4d8a42b51051",
            "222cceff-3562-3b8d-9945-ae4114a04ec8", "ec69cbd9-2cc4-3803-b22e-390a480e23a2"),
    "x": ("6b1b8823-089f-30f7-9d40-ca5aa7e1a38a", "51af483f-fad2-322e-936f-62fa509b3513",
          "d82fa86c-0779-31a8-9951-354669461166", "f2f913ca-3b63-3359-8eb4-db4ace29a409"),
    "": ("b5caa668-8489-3828-b3e6-8368d70a09fd", "f6e5fc82-27d4-305e-9e85-e067939f298c",
         "67dbc0d8-95a4-3506-aa11-bb782144cf08", "7c2dbe75-c634-38fe-9ef9-a0c6e848e712"),
}  # fmt: skip
#: Hashes of texts by the class HashID of 1.0.2, as signed numbers.
HASHES = {"a": 1426945110, "b": -1576227393, "c": -290451685, "": 46947589, "é": 866461991, "key-000123": -2081061812}


def made(kind: str = "COPY_ON_WRITE", options: dict[str, str] | None = None) -> WritableTable:
    return new_table(partition=("p",), table_type=kind, options=options or BUCKETED)


def opened(table: WritableTable, options: dict[str, str] | None = None) -> WritableTable:
    return open_table("x:", storage=table.storage, clock=table.clock, ids=table.ids, options=options)


def names(table: WritableTable) -> list[tuple[str, str]]:
    return sorted((r["id"], r["name"]) for r in table.snapshot(["id", "name"]).to_pylist())


def groups(table: WritableTable) -> set[str]:
    return {found.file_id for path in data_files(table) if (found := parse_data_file_name(path.rpartition("/")[2]))}


NON_BLOCKING = {
    **BUCKETED,
    "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
    "hoodie.clean.failed.writes.policy": "LAZY",
}


@pytest.mark.parametrize(("options", "in_logs"), [(BUCKETED, False), (CONSISTENT, True), (NON_BLOCKING, True)])
def test_the_first_file_of_a_bucket(options: dict[str, str], in_logs: bool) -> None:
    """ER-234: a bucket of a merge-on-read table begins with a base file, unless several writers may begin it."""
    table = made("MERGE_ON_READ", options)
    table.upsert(trips(trip("a", p="x")))
    assert [(".log." in path) for path in data_files(table)] == [in_logs]
    table.upsert(trips(trip("a", "2", p="x")))
    assert [(".log." in path) for path in data_files(table)].count(True) == 1 + in_logs


@BOTH
def test_a_bucket_has_one_file_group(kind: str) -> None:
    """LAY-021: inserts, updates and deletes of a key go to the file group of its bucket, on both types of table."""
    table = made(kind)
    table.insert(trips(*(trip(key, "1", p="x") for key in "abcdefgh")))
    first = groups(table)
    assert 1 < len(first) <= 4 and {one[:4] for one in first} == {"0000"}
    table.upsert(trips(*(trip(key, "2", p="x") for key in "abcdefghijkl")))
    table.delete(trips(trip("a", p="x")).select(["id", "p"]))
    table.bulk_insert(trips(trip("b", "3", p="x")))
    assert len({one[:8] for one in groups(table)}) == len(groups(table))
    assert names(table) == sorted([("b", "3"), *((key, "2") for key in "cdefghijkl")])


def test_counts_of_a_bucket_that_gets_new_keys() -> None:
    """TL-005: new keys in the file group of their bucket are inserts, and no deletes below zero."""
    table = made(options={**BUCKETED, "hoodie.bucket.index.num.buckets": "1"})
    table.insert(trips(trip("a", "1", p="x"), trip("b", "1", p="x")))
    table.upsert(trips(*(trip(key, "2", p="x") for key in "acd")))
    table.delete(trips(trip("b", p="x")).select(["id", "p"]))
    counts = [
        (stat.writes, stat.inserts, stat.updates, stat.deletes)
        for commit in table.file_groups().commits.values()
        for stat in commit.stats
    ]
    assert counts == [(2, 2, 0, 0), (4, 2, 1, 0), (3, 0, 0, 1)]


def test_an_overwrite_gets_new_file_groups() -> None:
    """LAY-021, TL-039: the groups of an overwritten partition are replaced by others of the same buckets."""
    table = made()
    table.insert(trips(*(trip(key, "1", p="x") for key in "abcdefgh")))
    before = groups(table)
    table.insert_overwrite(trips(trip("a", "2", p="x")))
    (added,) = groups(table) - before
    assert any(one.startswith(added[:8]) for one in before)
    assert names(table) == [("a", "2")]
    table.upsert(trips(trip("a", "3", p="x"), trip("b", "3", p="x")))
    assert names(table) == [("a", "3"), ("b", "3")]


@pytest.mark.parametrize("partition", PREFIXES)
def test_ranges_are_those_of_deployed_writers(partition: str) -> None:
    """LAY-021: bounds and file groups of a new partition, as Apache Hudi 1.0.2 makes them."""
    nodes = first_nodes(partition, 4)
    assert [node.value for node in nodes] == [536870912, 1073741824, 1610612736, 2147483647]
    assert tuple(node.prefix for node in nodes) == PREFIXES[partition]
    assert [node.value for node in first_nodes("x", 7)] == [
        306783379, 613566758, 920350137, 1227133516, 1533916895, 1840700274, 2147483647
    ]  # fmt: skip


@pytest.mark.parametrize("text", HASHES)
def test_hashes_are_those_of_deployed_writers(text: str) -> None:
    """LAY-021: the hash of a key loses its sign bit; several fields are hashed as one text."""
    assert hash_of([text]) == HASHES[text] & 0x7FFFFFFF
    assert hash_of([text[:2], text[2:]]) == hash_of([text])


def test_consistent_hashing_places_records_by_their_ranges() -> None:
    """LAY-021, MRG-007: keys go to the file groups of their ranges, and the first write of a partition stores the ranges."""
    table = made("MERGE_ON_READ", CONSISTENT)
    table.insert(trips(*(trip(key, "1", p="x") for key in "adgcef")))
    assert groups(table) == {f"{PREFIXES['x'][place]}-0" for place in (2, 3)}
    table.upsert(trips(*(trip(key, "2", p="x") for key in "abc")))
    table.delete(trips(trip("d", p="x")).select(["id", "p"]))
    assert groups(table) == {f"{PREFIXES['x'][place]}-0" for place in (1, 2, 3)}
    assert names(table) == [("a", "2"), ("b", "2"), ("c", "2"), ("e", "1"), ("f", "1"), ("g", "1")]
    stored = json.loads(table.storage.get(f"{FOLDER}/x/{FIRST}.hashing_meta"))
    assert (stored["numBuckets"], stored["partitionPath"], stored["instant"]) == (4, "x", FIRST)


def test_stored_ranges_count() -> None:
    """LAY-021: a partition keeps its ranges, whatever number of buckets the writer has; those of a completed clustering
    replace them; while one is under way the write is refused."""
    table = made("MERGE_ON_READ", CONSISTENT)
    time = table.insert(trips(*(trip(key, "1", p="x") for key in "adgcef")))
    more = opened(table, {**CONSISTENT, "hoodie.bucket.index.num.buckets": "64"})
    more.upsert(trips(*(trip(key, "2", p="x") for key in "adgcef")))
    assert groups(table) == {f"{PREFIXES['x'][place]}-0" for place in (2, 3)}
    first = json.loads(table.storage.get(f"{FOLDER}/x/{FIRST}.hashing_meta"))
    table.storage.put(f"{FOLDER}/x/{time}.hashing_meta", json.dumps({**first, "nodes": first["nodes"][3:]}).encode())
    more.upsert(trips(*(trip(key, "3", p="x") for key in "b")))
    assert ("b", "3") in names(table) and len(groups(table)) == 2
    table.storage.put(f"{FOLDER}/x/99990101000000000.hashing_meta", json.dumps(first).encode())
    before = contents(table.storage)
    with pytest.raises(UnsupportedTableFeature, match="split or merged"):
        more.upsert(trips(trip("b", "4", p="x")))
    assert contents(table.storage) == before


def test_ranges_with_random_ids_are_those_of_a_bucket_index() -> None:
    """LAY-021: splits and merges give ranges random ids. Writers with the index find their records, and others, and services
    that would give rows other ids, are refused."""
    table = made("MERGE_ON_READ", CONSISTENT)
    prefixes = [str(uuid4()) for _ in range(2)]
    nodes = [
        {"value": value, "fileIdPrefix": one, "tag": "NORMAL"} for value, one in zip((2**30, 2**31 - 1), prefixes, strict=True)
    ]
    stored = {"version": 0, "partitionPath": "x", "instant": FIRST, "numBuckets": 2, "seqNo": 0, "nodes": nodes}
    table.storage.put(f"{FOLDER}/x/{FIRST}.hashing_meta", json.dumps(stored).encode())
    for value in "12":
        table.upsert(trips(*(trip(key, value, p="x") for key in "adgcef")))
    assert groups(table) <= {f"{one}-0" for one in prefixes}
    assert names(table) == [(key, "2") for key in "acdefg"]
    before = contents(table.storage)
    with pytest.raises(UnsupportedTableFeature, match="bucket index"):
        opened(table, {}).upsert(trips(trip("a", "3", p="x")))
    with pytest.raises(UnsupportedTableFeature, match="bucket index"):
        cluster(opened(table, {}), {"hoodie.clustering.inline.max.commits": "1"})
    assert contents(table.storage) == before


#: Settings of a table, and those of a writer that do not fit it.
UNFIT: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "no index": (BUCKETED, {}),
    "no index, ranges": (CONSISTENT, {}),
    "fewer buckets": (BUCKETED, {**BUCKETED, "hoodie.bucket.index.num.buckets": "1"}),
    "another engine": (BUCKETED, CONSISTENT),
    "buckets for ranges": (CONSISTENT, BUCKETED),
    "an index for random ids": ({"hoodie.index.type": "SIMPLE"}, BUCKETED),
    "an unknown engine": (BUCKETED, {**BUCKETED, "hoodie.index.bucket.engine": "MAGIC"}),
    "a field that is no key": (BUCKETED, {**BUCKETED, "hoodie.bucket.index.hash.field": "name"}),
    "moved updates": (BUCKETED, {**BUCKETED, "hoodie.write.update.as.delete.and.insert": "true"}),
    "inline clustering": (BUCKETED, {**BUCKETED, "hoodie.clustering.inline": "true"}),
}


@pytest.mark.parametrize("case", UNFIT)
def test_writers_that_do_not_fit_are_refused_before_any_change(case: str) -> None:
    """LAY-021, PROP-001: the file ids show how the table is laid out. A writer that would add other file groups, or look for
    keys elsewhere, changes nothing; reading and deleting go on."""
    table = made("MERGE_ON_READ", UNFIT[case][0])
    table.insert(trips(*(trip(key, "1", p="x") for key in "abcdefgh")))
    before = {path: table.storage.get(path) for path in contents(table.storage)}
    for act in (
        lambda found: found.insert(trips(trip("n", p="x"))),
        lambda found: found.upsert(trips(trip("a", "2", p="x"))),
        lambda found: found.insert_overwrite(trips(trip("a", "2", p="x"))),
    ):
        with pytest.raises((Misuse, UnsupportedTableFeature)):
            act(opened(table, UNFIT[case][1]))
    assert {path: table.storage.get(path) for path in contents(table.storage)} == before
    opened(table).delete(trips(trip("a", p="x")).select(["id", "p"]))
    assert [key for key, _ in names(table)] == list("bcdefgh")


def test_partitions_with_numbers_of_their_own_are_refused_as_such() -> None:
    """A partition has more buckets than the number for the others. More buckets in the settings would not help the writer."""
    table = made()
    table.upsert(trips(*(trip(f"k{n}") for n in range(20))))
    few = {**BUCKETED, "hoodie.bucket.index.num.buckets": "1", "hoodie.bucket.index.partition.expressions": "x,4"}
    before = contents(table.storage)
    with pytest.raises(UnsupportedTableFeature, match="numbers of buckets of their own"):
        opened(table, few).upsert(trips(trip("k1")))
    assert contents(table.storage) == before


@pytest.mark.parametrize("options", [BUCKETED, CONSISTENT], ids=["simple", "consistent"])
def test_buckets_are_not_clustered(options: dict[str, str]) -> None:
    """LAY-021: a clustering would give the rows random file ids: it is refused before it plans."""
    table = made("MERGE_ON_READ", options)
    table.insert(trips(*(trip(key, "1", p="x") for key in "abcdefgh")))
    before = contents(table.storage)
    for found in (table, opened(table)):
        with pytest.raises(UnsupportedTableFeature, match="bucket"):
            cluster(found)
    assert contents(table.storage) == before


def test_consistent_hashing_never_writes_to_replaced_groups() -> None:
    """LAY-021, RDR-010: the file group of a range has one id; after its replacement the partition is not written."""
    table = made("MERGE_ON_READ", CONSISTENT)
    table.insert(trips(*(trip(key, "1", p="x") for key in "abcdefgh")))
    before: Any = contents(table.storage)
    with pytest.raises(UnsupportedTableFeature, match="replaced"):
        table.insert_overwrite(trips(trip("a", "2", p="x")))
    assert contents(table.storage) == before
    table.delete_partitions(["x"])
    with pytest.raises(UnsupportedTableFeature, match="replaced"):
        table.upsert(trips(trip("a", "2", p="x")))


def test_consistent_hashing_needs_logs() -> None:
    """MRG-007: on a copy-on-write table it is refused, as by deployed writers."""
    with pytest.raises(UnsupportedTableFeature):
        made("COPY_ON_WRITE", CONSISTENT).insert(trips(trip("a", p="x")))


def test_random_file_ids_do_not_look_like_buckets() -> None:
    """The first UUID of the seed begins with eight digits, three of them zeros. A table of that id alone would show a bucket index."""
    drawn = f"{uuid.UUID(int=random.Random(1467).getrandbits(128), version=4)}-0"
    assert BUCKET_FILE_ID.fullmatch(drawn)
    assert not BUCKET_FILE_ID.fullmatch(SeededIds(1467).file_id())
