"""Indexes that are dropped: by another engine, by the settings of a writer, and with the whole metadata table."""

import pytest
from reference_samples import TABLE_TYPES, contents, new_table, trip, trips

from hudi_reference import WritableTable, clean, create_index, drop_index, index, open_table, rollback
from hudi_reference.errors import HudiError, Misuse, UnsupportedTableFeature
from hudi_reference.layout.metadata_settings import INFLIGHT, USABLE
from hudi_reference.layout.properties import read_properties
from hudi_reference.layout.properties_writer import update_properties
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.services.archive.archive import archive
from hudi_reference.services.archive.bounds import Bound
from hudi_reference.services.indexing.named_indexes import plan_drop
from hudi_reference.write.commit import transitions_of

LISTED = {"hoodie.metadata.enable": "true", "hoodie.metadata.compact.max.delta.commits": "3"}
INDEXED = {**LISTED, "hoodie.metadata.record.index.enable": "true", "hoodie.metadata.index.bloom.filter.enable": "true"}
BOTH = pytest.mark.parametrize("kind", TABLE_TYPES)
#: Greater than the requested times of the creations of indexes, less than times of a clock.
CREATIONS = "00000000000001"
UNKNOWN = "index_of_the_future"


def indexed(kind: str = "COPY_ON_WRITE") -> WritableTable:
    """A table with two rows and every index that the settings name."""
    table = new_table(partition=("p",), table_type=kind, options=INDEXED)
    table.insert(trips(trip("a", p="x"), trip("b", p="y")))
    return table


def opened(table: WritableTable, **options: str) -> WritableTable:
    """The table as a process with these settings opens it."""
    return open_table("x:", storage=table.storage, clock=table.clock, ids=table.ids, options=options)


def list_partitions(table: WritableTable, *names: str, key: str = USABLE) -> None:
    """List these partitions of the metadata table, as another engine does."""
    update_properties(table.storage, transitions_of(table).times.lock, {key: ",".join(names)}, comment="by another engine")


def listed(table: WritableTable) -> set[str]:
    return set(read_properties(table.storage).fields(USABLE))


def below_metadata(table: WritableTable, partition: str) -> list[str]:
    return [info.path for info in table.storage.list(f".hoodie/metadata/{partition}/")]


@BOTH
@pytest.mark.parametrize("is_deleted", [True, False])
def test_writes_go_on_after_another_engine_dropped_an_index(kind: str, is_deleted: bool) -> None:
    """PROP-013: the partition is not listed any more; whether its files are left or not, writes and the services of the
    metadata table, which run in between, continue, and nothing is written to the partition."""
    table = indexed(kind)
    list_partitions(table, "files", "bloom_filters")
    if is_deleted:
        for path in below_metadata(table, "record_index"):
            table.storage.delete(path)
    before = below_metadata(table, "record_index")
    for number in range(12):
        opened(table, **LISTED).upsert(trips(trip("a", f"a{number}", p="x")))
    clean(opened(table, **LISTED), {"hoodie.clean.commits.retained": "1"})
    assert below_metadata(table, "record_index") == before
    metadata = MetadataTable.for_table(table)
    assert metadata is not None
    assert [found.action for found in metadata.timeline.commits].count("commit") > 1, "the metadata table was never compacted"
    assert listed(table) == {"files", "bloom_filters"}


def test_a_pending_compaction_skips_dropped_indexes() -> None:
    """PROP-013: a compaction of the metadata table that was planned before an index was dropped is executed without it."""
    table = indexed()
    for number in range(2):
        opened(table, **LISTED).upsert(trips(trip("c", f"c{number}", p="x")))
    before = {path: table.storage.get(path) for path in contents(table.storage)}
    opened(table, **LISTED).upsert(trips(trip("c", "last", p="x")))
    timeline = ".hoodie/metadata/.hoodie/timeline/"
    plans = [path for path in contents(table.storage) if path.startswith(timeline) and "compaction.requested" in path]
    assert plans
    plan = table.storage.get(plans[0])
    for path in contents(table.storage):
        table.storage.delete(path)
    for path, data in {**before, plans[0]: plan}.items():
        table.storage.put(path, data)
    list_partitions(table, "files", "bloom_filters")
    for path in below_metadata(table, "record_index"):
        table.storage.delete(path)
    opened(table, **LISTED).upsert(trips(trip("c", "again", p="x")))
    assert below_metadata(table, "record_index") == []
    assert any(path.endswith(".commit") for path in contents(table.storage) if path.startswith(timeline))


@BOTH
def test_a_writer_drops_the_index_that_its_settings_disable(kind: str) -> None:
    """PROP-012: the partition is removed from the list, then its files; the other indexes stay current. It can be created
    again."""
    table = indexed(kind)
    opened(table, **{"hoodie.metadata.record.index.enable": "false"}).upsert(trips(trip("c", p="x")))
    assert listed(table) == {"files", "bloom_filters"}
    assert below_metadata(table, "record_index") == []
    assert index(opened(table), {"hoodie.metadata.record.index.enable": "true"}) is not None
    metadata = MetadataTable.for_table(table)
    assert metadata is not None
    assert set(metadata.records("record_index", table.timeline)) == {"a", "b", "c"}


def test_a_disabled_metadata_table_is_no_reason_to_refuse() -> None:
    """PROP-001, PROP-012: a writer that deletes the metadata table need not maintain its indexes, also unknown ones."""
    table = indexed()
    list_partitions(table, "files", UNKNOWN)
    with pytest.raises(UnsupportedTableFeature):
        opened(table).insert(trips(trip("c", p="x")))
    opened(table, **{"hoodie.metadata.enable": "false"}).insert(trips(trip("c", p="x")))
    assert listed(table) == set()
    assert not table.storage.list(".hoodie/metadata")
    opened(table, **INDEXED).insert(trips(trip("d", p="x")))
    assert listed(table) == {"files", "record_index", "bloom_filters"}


def test_a_listed_index_without_file_groups_is_created_again() -> None:
    """PROP-012: an interrupted writer listed a partition that has no file groups; the next write fills it."""
    table = indexed()
    for path in below_metadata(table, "record_index"):
        table.storage.delete(path)
    opened(table).insert(trips(trip("c", p="x")))
    metadata = MetadataTable.for_table(table)
    assert metadata is not None
    assert set(metadata.records("record_index", table.timeline)) == {"a", "b", "c"}


def test_an_index_added_since_the_table_was_opened_is_maintained() -> None:
    """OCC-020: the properties are read again: a writer that was opened before the metadata table was created maintains it."""
    table = new_table(partition=("p",))
    early = opened(table)
    opened(table, **INDEXED).insert(trips(trip("a", p="x")))
    early.insert(trips(trip("b", p="x")))
    metadata = MetadataTable.for_table(table)
    assert metadata is not None
    assert set(metadata.records("record_index", table.timeline)) == {"a", "b"}


INVALID = [
    {"hoodie.metadata.compact.max.delta.commits": "ten"},
    {"hoodie.metadata.record.index.min.filegroup.count": "0"},
    {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "-1"},
    {"hoodie.keep.min.commits": "40", "hoodie.keep.max.commits": "30"},
    {"hoodie.parquet.max.file.size": "large"},
    {"hoodie.parquet.compression.codec": "unknown"},
    {"hoodie.write.update.as.delete.and.insert": "true"},
]


@pytest.mark.parametrize("settings", INVALID, ids=lambda found: next(iter(found)))
def test_invalid_settings_are_refused_before_any_change(settings: dict[str, str]) -> None:
    """PROP-001, OCC-020: settings of the write, of the metadata table and of the services that follow are checked before failed
    writes are rolled back, so that a refused write changes nothing."""
    table = indexed("MERGE_ON_READ")
    transitions_of(table).request("deltacommit", b"")  # a failed write, which the policy EAGER rolls back
    before = {path: table.storage.get(path) for path in contents(table.storage)}
    eager = {**INDEXED, "hoodie.clean.failed.writes.policy": "EAGER", **settings}
    with pytest.raises((Misuse, UnsupportedTableFeature)):
        opened(table, **eager).upsert(trips(trip("c", p="x")))
    assert {path: table.storage.get(path) for path in contents(table.storage)} == before


def test_invalid_rows_are_refused_before_failed_writes_are_rolled_back() -> None:
    """OCC-007: rows that do not fit the table change nothing, not even under a policy that rolls failed writes back."""
    table = indexed()
    pending = transitions_of(table).request("commit", b"")
    before = contents(table.storage)
    eager = opened(table, **{"hoodie.clean.failed.writes.policy": "EAGER"})
    with pytest.raises(HudiError):
        eager.upsert(trips(trip("c", p="x")).drop_columns(["id"]))
    assert contents(table.storage) == before
    assert pending in eager.timeline.pending


@pytest.mark.parametrize("key", [USABLE, INFLIGHT])
def test_an_unknown_index_stops_every_operation_before_its_first_byte(key: str) -> None:
    """PROP-001: reading goes on; writes, services and their previews change nothing."""
    table = indexed()
    last = table.upsert(trips(trip("a", "later", p="x")))
    list_partitions(table, *sorted({"files", UNKNOWN} if key == USABLE else {UNKNOWN}), key=key)
    before = {path: table.storage.get(path) for path in contents(table.storage)}
    for act in (
        lambda found: found.insert(trips(trip("c", p="x"))),
        lambda found: found.delete(trips(trip("a", p="x")).select(["id", "p"])),
        lambda found: found.insert_overwrite(trips(trip("c", p="x"))),
        lambda found: found.delete_partitions(["p=x"]),
        lambda found: rollback(found, last),
        lambda found: clean(found, {"hoodie.clean.commits.retained": "1"}),
    ):
        with pytest.raises(UnsupportedTableFeature, match=UNKNOWN):
            act(opened(table))
    assert {path: table.storage.get(path) for path in contents(table.storage)} == before
    assert opened(table).snapshot(["id"]).num_rows == 2


@pytest.mark.parametrize(
    ("name", "left"), [("record_index", {"files", "bloom_filters"}), ("bloom_filters", {"files", "record_index"})]
)
def test_an_index_is_dropped_on_request(name: str, left: set[str]) -> None:
    """PROP-012, IDX-021: its partition is not listed any more and has no files; the preview names both and changes nothing."""
    table = indexed()
    before = contents(table.storage)
    plan = plan_drop(opened(table), name)
    assert plan.partitions == (name,) and set(below_metadata(table, name)) == set(plan.files)
    assert contents(table.storage) == before
    assert drop_index(opened(table), name)
    assert (listed(table), below_metadata(table, name)) == (left, [])
    assert not drop_index(opened(table), name)
    opened(table).upsert(trips(trip("c", p="x")))
    assert listed(table) == left


def test_an_unknown_index_is_dropped_on_request() -> None:
    """PROP-001: dropping the index that prevents writes makes the table writable."""
    table = indexed()
    list_partitions(table, "files", "record_index", UNKNOWN)
    table.storage.put(f".hoodie/metadata/{UNKNOWN}/.x-0000-0_00000000000000009.log.1_0-0-0", b"")
    assert drop_index(opened(table), UNKNOWN)
    assert below_metadata(table, UNKNOWN) == []
    opened(table).upsert(trips(trip("c", p="x")))
    metadata = MetadataTable.for_table(table)
    assert metadata is not None
    assert set(metadata.records("record_index", table.timeline)) == {"a", "b", "c"}


def test_the_whole_metadata_table_is_dropped_on_request() -> None:
    """PROP-012: the listing of files is the metadata table: without it there is no index."""
    table = indexed()
    assert drop_index(opened(table), "files")
    assert listed(table) == set() and not table.storage.list(".hoodie/metadata")
    assert opened(table).snapshot(["id"]).num_rows == 2


def test_indexes_that_others_need_are_not_dropped() -> None:
    """IDX-021: secondary indexes need the record index; an index that is being built is not dropped."""
    table = indexed()
    create_index(opened(table), "by_name", "name")
    with pytest.raises(Misuse, match="secondary"):
        drop_index(opened(table), "record_index")
    assert drop_index(opened(table), "by_name")
    assert drop_index(opened(table), "record_index")
    list_partitions(table, "record_index", key=INFLIGHT)
    with pytest.raises(Misuse, match="being built"):
        drop_index(opened(table), "record_index")


def test_an_index_that_was_created_again_is_read_when_its_creation_is_archived() -> None:
    """MDT-002: the requested time of the creation is small, so that it is archived before commits that name the files of the
    dropped index."""
    table = indexed()
    for number in range(6):
        opened(table, **INDEXED).upsert(trips(trip("a", f"a{number}", p="x")))
    assert drop_index(opened(table), "record_index")
    opened(table, **INDEXED).upsert(trips(trip("c", "c", p="x")))
    metadata = MetadataTable.for_table(table)
    assert metadata is not None
    commits = metadata.timeline.commits
    kept = sum(one.requested > CREATIONS for one in commits)
    limits = {"hoodie.keep.min.commits": str(kept), "hoodie.keep.max.commits": str(kept + 1)}
    archive(metadata.as_table, limits, needed=Bound("99999999999999999", "none"))
    assert [one.requested for one in metadata.timeline.commits] == [one.requested for one in commits[-kept:]]
    metadata = MetadataTable.for_table(opened(table))
    assert metadata is not None
    assert set(metadata.records("record_index", table.timeline)) == {"a", "b", "c"}
