"""Insert overwrite and delete partition: their timeline files, conflicts with other actions, and later writes."""

from dataclasses import replace

import pytest
from reference_samples import TABLE_TYPES, data_files, new_table, timeline_files, trip, trips

from hudi_conformance.cases.schema import fixtures_root
from hudi_reference import clean, cluster, rollback
from hudi_reference.errors import ConcurrentChange, PathOutsideTable, WriteConflict
from hudi_reference.services.clustering.clustering import schedule_clustering
from hudi_reference.timeline.contents.actions import load_action
from hudi_reference.timeline.contents.avro_container import read_record
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State
from hudi_reference.write.commit import Commit
from hudi_reference.write.concurrency.conflict_resolution import DUPLICATE, STRATEGY_KEY

BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}
NON_BLOCKING = {**BUCKETS, "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL"}


def parted(kind="COPY_ON_WRITE", **options):
    """Two rows in oslo, of which one is updated, and one in rio."""
    table = new_table(table_type=kind, partition=("p",), options=options, merge_mode="COMMIT_TIME_ORDERING")
    table.upsert(trips(trip("a", "x", p="oslo"), trip("b", "x", p="oslo"), trip("c", "x", p="rio")))
    table.upsert(trips(trip("a", "y", p="oslo")))
    return table


def values(rows):
    return sorted((row["id"], row["name"]) for row in rows.to_pylist())


def meanwhile(table, monkeypatch, act):
    """Run another action after the next write stored its files and before it completes."""
    complete = Commit.complete

    def later(commit, schema, version=None):
        monkeypatch.setattr(Commit, "complete", complete)
        act()
        return complete(commit, schema, version)

    monkeypatch.setattr(Commit, "complete", later)
    return table


@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_an_overwrite_hides_the_rows_of_its_partitions(kind):
    """Rows now, as of before, and of the window; other partitions keep theirs."""
    table = parted(kind)
    before = table.timeline.commits[-1]
    table.insert_overwrite(trips(trip("n", "new", p="oslo")))
    assert values(table.snapshot()) == [("c", "x"), ("n", "new")]
    assert values(table.as_of(before.requested)) == [("a", "y"), ("b", "x"), ("c", "x")]
    assert values(table.incremental(before.completion)) == [("n", "new")]
    changes = table.changes(before.completion).to_pylist()
    assert sorted((change["op"], (change["after"] or change["before"])["id"]) for change in changes) == [
        ("d", "a"), ("d", "b"), ("i", "n"),
    ]  # fmt: skip


def deployed(case, state):
    """The record that Apache Hudi 1.0.2 stored for a replacecommit in this state, with its schema."""
    (file,) = (fixtures_root() / "timeline" / case / "table" / ".hoodie" / "timeline").glob(f"*.{state}")
    return read_record(file.read_bytes(), file.name)


@pytest.mark.parametrize(
    ("case", "operation"), [("insert-overwrite", "INSERT_OVERWRITE"), ("delete-partition", "DELETE_PARTITION")]
)
def test_the_files_of_a_replacement_are_those_of_deployed_writers(case, operation):
    """TL-012, TL-039: records and schemas of all three states; the groups of the partition are named, and nothing is written
    where it is deleted.
    """
    table = parted()
    old = {name.split("/")[1].split("_")[0] for name in data_files(table, "oslo/")}
    act = table.insert_overwrite if case == "insert-overwrite" else table.delete_partitions
    time = act(trips(trip("n", "new", p="oslo")) if case == "insert-overwrite" else ["oslo"])
    (completed,) = [found for found in table.timeline.commits if found.requested == time]
    states = {"replacecommit.requested": State.REQUESTED, "replacecommit.inflight": State.INFLIGHT, "replacecommit": None}
    for ending, state in states.items():
        instant = completed if state is None else Instant(time, "replacecommit", state)
        mine, theirs = load_action(table.storage, table.properties, instant), deployed(case, ending)
        assert (mine.name, mine.keys(), mine["operationType"]) == (theirs.name, theirs.keys(), theirs["operationType"])
        if state is State.REQUESTED:
            assert dict(mine) == dict(theirs) == dict.fromkeys(mine)
    assert mine["operationType"] == operation and mine["extraMetadata"].keys() == theirs["extraMetadata"].keys()
    assert {path: set(ids) for path, ids in mine["partitionToReplaceFileIds"].items()} == {"oslo": old}
    assert mine["partitionToWriteStats"].keys() == ({"oslo"} if case == "insert-overwrite" else set())


@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_a_deleted_partition_can_be_written_again(kind):
    """Its old rows do not come back; one that is not there has nothing to delete; a path out of the table is refused."""
    table = parted(kind)
    table.delete_partitions(["oslo"])
    table.delete_partitions(["oslo", "nowhere"])
    assert values(table.snapshot()) == [("c", "x")]
    table.upsert(trips(trip("b", "again", p="oslo")))
    assert values(table.snapshot()) == [("b", "again"), ("c", "x")]
    with pytest.raises(PathOutsideTable):
        table.delete_partitions(["../oslo"])


@pytest.mark.parametrize("kind", TABLE_TYPES)
@pytest.mark.parametrize("overwrites", [False, True])
def test_a_write_conflicts_with_a_replacement_of_its_group(kind, overwrites, monkeypatch):
    """OCC-013: the first to complete wins, in both orders."""
    change = trips(trip("b", "changed", p="oslo"))

    def replacement(table):
        return table.insert_overwrite(trips(trip("n", "new", p="oslo"))) if overwrites else table.delete_partitions(["oslo"])

    table = parted(kind)
    with pytest.raises(ConcurrentChange):
        replacement(meanwhile(table, monkeypatch, lambda: table.upsert(change)))
    assert values(table.snapshot()) == [("a", "y"), ("b", "changed"), ("c", "x")]
    with pytest.raises(ConcurrentChange):
        meanwhile(table, monkeypatch, lambda: replacement(table)).upsert(change)
    assert ("b", "changed") not in values(table.snapshot())


def test_replacement_is_repeated_after_conflict(monkeypatch):
    """As often as the settings say; then it replaces what the other writer left."""
    table = parted(**{"hoodie.write.num.retries.on.conflict.failures": "1"})
    meanwhile(table, monkeypatch, lambda: table.upsert(trips(trip("b", "changed", p="oslo")))).delete_partitions(["oslo"])
    assert values(table.snapshot()) == [("c", "x")]


def test_strategy_for_the_resizing_of_buckets_matters_during_a_plan_only():
    """SVC-009: writers of tables with consistent hashing have this setting in all their writes."""
    table = parted(**{STRATEGY_KEY: f"org.apache.hudi.client.clustering.update.strategy.{DUPLICATE}"})
    table.upsert(trips(trip("b", "changed", p="oslo")))
    schedule_clustering(table)
    with pytest.raises(WriteConflict, match="a clustering is planned"):
        table.upsert(trips(trip("b", "again", p="oslo")))
    assert ("b", "changed") in values(table.snapshot())


def test_replacement_of_groups_in_clustering_plan_is_refused():
    """SVC-009: the update strategy holds for replacements, too."""
    table = parted()
    schedule_clustering(table)
    with pytest.raises(WriteConflict):
        table.delete_partitions(["oslo"])
    cluster(table)
    table.delete_partitions(["oslo"])
    assert values(table.snapshot()) == [("c", "x")]


@pytest.mark.parametrize("options", [BUCKETS, NON_BLOCKING])
def test_the_buckets_of_a_replaced_partition_are_written_again(options):
    """NBC-004: the next file group of a bucket has another id than the replaced one, which stays hidden; also once that one's
    files are gone. All writers find the new one.
    """
    table = parted("MERGE_ON_READ", **options)
    table.insert_overwrite(trips(trip("n", "new", p="oslo")))
    assert values(table.snapshot()) == [("c", "x"), ("n", "new")]
    table.delete_partitions(["oslo"])
    for number in range(3):
        table.upsert(trips(trip("c", f"{number}", p="rio")))
    clean(table, {"hoodie.clean.commits.retained": "1"})
    assert not data_files(table, "oslo/")
    keys = "abn"
    table.upsert(trips(*(trip(key, "again", p="oslo") for key in keys)))
    other = replace(table, options=BUCKETS)
    other.upsert(trips(*(trip(key, "and again", p="oslo") for key in keys)))
    assert values(table.snapshot()) == [*((key, "and again") for key in "ab"), ("c", "2"), ("n", "and again")]


@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_a_replacement_is_rolled_back(kind):
    """The old groups are read again, and nothing of it is left."""
    table = parted(kind)
    before = data_files(table), timeline_files(table)
    time = table.insert_overwrite(trips(trip("n", "new", p="oslo")))
    rollback(table, time)
    assert values(table.snapshot()) == [("a", "y"), ("b", "x"), ("c", "x")]
    rest = [name for name in timeline_files(table) if ".rollback" not in name]
    assert (data_files(table), rest) == before


@pytest.mark.parametrize("kind", TABLE_TYPES)
@pytest.mark.parametrize("options", [{}, BUCKETS])
def test_an_overwrite_of_the_table_hides_all_rows(kind, options):
    """One replacecommit replaces the groups of every partition, also those that get no rows; earlier reads have them."""
    table = parted(kind, **options)
    before = table.timeline.completed[-1].requested
    groups = {found.group for found in table.file_groups().latest_slices}
    table.insert_overwrite_table(trips(trip("n", "new", p="oslo")))
    assert values(table.snapshot()) == [("n", "new")]
    assert values(table.as_of(before)) == [("a", "y"), ("b", "x"), ("c", "x")]
    last = table.timeline.completed[-1]
    commit = table.file_groups().commits[last]
    assert (last.action, commit.operation) == ("replacecommit", "INSERT_OVERWRITE_TABLE")
    assert {(partition, one) for partition, ids in commit.replaced.items() for one in ids} == groups


def test_settings_with_the_prefix_are_stored_in_the_commit():
    """As deployed writers do; the prefix is a setting."""
    named = {"_checkpoint": "7", "x.mine": "a", "hoodie.datasource.write.commitmeta.key.prefix": "x."}
    for options, expected in [({"_checkpoint": "7"}, {"_checkpoint": "7"}), (named, {"x.mine": "a"}), ({}, {})]:
        table = new_table(options=options)
        table.insert(trips(trip("a")))
        [commit] = table.file_groups().commits.values()
        assert {key: value for key, value in commit.record["extraMetadata"].items() if key != "schema"} == expected
