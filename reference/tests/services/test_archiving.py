"""Archiving through the reference's own interface: dry runs, settings, refusals, and concurrent archiving."""

import io
import random

import pyarrow.parquet as pq
import pytest
from reference_samples import new_table, trip, trips

from hudi_reference import archive
from hudi_reference.errors import Misuse, UnsupportedTableFeature
from hudi_reference.layout.properties import TableProperties
from hudi_reference.services.archive.limits import ArchiveLimits
from hudi_reference.storage import MemoryStorage
from hudi_reference.timeline.history.history import ArchivedAction, History
from hudi_reference.timeline.history.history_writer import KEPT_MANIFESTS, flush, merge_levels, retire
from hudi_reference.timeline.history.manifest import load_manifest
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

FOLDER = ".hoodie/timeline/history"
LIMITS = {"hoodie.keep.max.commits": "4", "hoodie.keep.min.commits": "2", "hoodie.clean.commits.retained": "1"}


def table_of(writes, **more):
    """A table of so many writes, of which nothing is archived."""
    table = new_table(properties={"hoodie.archive.automatic": "false"}, **more)
    for number in range(writes):
        table.upsert(trips(trip("a", ts=number)))
    return table


def archived(second: int, action: str = "commit", plan: bytes | None = None) -> ArchivedAction:
    """An action to be archived."""
    instant = Instant(f"202601010000{second:02}000", action, State.COMPLETED, f"202601010000{second:02}500")
    return ArchivedAction(instant, b"metadata", plan)


def test_dry_run_returns_the_plan_and_changes_nothing() -> None:
    """The plan of a dry run is that of the run which follows it."""
    table = table_of(8)
    before = {info.path: info.version for info in table.storage.list()}
    plan = archive(table, LIMITS, dry_run=True)
    assert len(plan.instants) == 6
    assert plan.bound is None
    assert {info.path: info.version for info in table.storage.list()} == before
    assert archive(table, LIMITS) == plan
    assert archive(table, LIMITS).instants == ()


def test_a_dry_run_reports_the_bound_of_archiving() -> None:
    """The bound of a plan is the earliest instant that has to stay, and why."""
    table = table_of(8)
    third = table.timeline.commits[2].requested
    path = f"{table.properties.timeline_folder}/{third}.savepoint.inflight"
    table.storage.create(path, b"")
    plan = archive(table, LIMITS, dry_run=True)
    assert [i.requested for i in plan.instants] == [i.requested for i in table.timeline.commits[:2]]
    assert plan.bound is not None
    assert (plan.bound.requested, plan.bound.why) == (third, "it has a savepoint")


def test_table_properties_are_the_defaults_of_settings() -> None:
    """Limits among the table's properties are used, and settings of the call override them."""
    table = new_table(properties={**LIMITS, "hoodie.archive.automatic": "true"})
    for number in range(5):
        table.upsert(trips(trip("a", ts=number)))
    assert len(table.timeline.commits) == 2
    assert archive(table, {"hoodie.keep.min.commits": "1", "hoodie.keep.max.commits": "30"}).instants == ()


@pytest.mark.parametrize(
    "options",
    [
        {"hoodie.keep.max.commits": "many"},
        {"hoodie.keep.min.commits": "0"},
        {"hoodie.keep.max.commits": "-1"},
        {"hoodie.timeline.compaction.batch.size": "1"},
        {"archive.max_commits": "10"},
        {"hoodie.keep.max.commits": "20"},
    ],
    ids=lambda options: "=".join(*options.items()),
)
def test_invalid_settings_are_refused(options: dict[str, str]) -> None:
    """A limit is a number of 1 or more, a batch has two files, and the lower limit is below the upper one."""
    with pytest.raises(Misuse):
        ArchiveLimits.from_options(options)


def test_a_metadata_table_is_archived_with_its_data_table() -> None:
    """Archiving a metadata table alone is refused, because its bounds depend on its data table."""
    table = table_of(0)
    entries = {**table.properties.entries, "hoodie.table.keygenerator.type": "HOODIE_TABLE_METADATA"}
    other = type(table)(table.storage, table.clock, table.ids, TableProperties(entries))
    with pytest.raises(UnsupportedTableFeature):
        archive(other, LIMITS)


def test_nothing_is_archived_before_the_metadata_table_was_compacted() -> None:
    """The log files of the metadata table count by the active timeline, so all that its compaction does not cover stays."""
    table = table_of(8)
    entries = {**table.properties.entries, "hoodie.table.metadata.partitions": "files"}
    indexed = type(table)(table.storage, table.clock, table.ids, TableProperties(entries))
    plan = archive(indexed, LIMITS, dry_run=True)
    assert plan.instants == ()
    assert plan.bound is not None
    fourth = table.timeline.commits[3]
    compaction = Instant(fourth.requested, "commit", State.COMPLETED, fourth.completion)
    table.storage.create(f".hoodie/metadata/.hoodie/timeline/{compaction.file_name}", b"")
    going = archive(indexed, LIMITS, dry_run=True).instants
    assert [i.requested for i in going] == [i.requested for i in table.timeline.commits[:3]]


def test_incomplete_file_of_crashed_run_is_replaced() -> None:
    """An incomplete file of a crashed archiver is replaced by the new file of the same name."""
    storage = MemoryStorage()
    name = f"{FOLDER}/20260101000001000_20260101000002000_0.parquet"
    storage.put(name, b"half")
    flush(storage, FOLDER, [archived(2), archived(1)])
    assert pq.read_table(io.BytesIO(storage.get(name))).column("instantTime").to_pylist() == [
        "20260101000001000",
        "20260101000002000",
    ]


def test_archived_actions_are_not_archived_again() -> None:
    """If a run crashed after it published the manifest, the next run writes only the new actions."""
    storage = MemoryStorage()
    flush(storage, FOLDER, [archived(1), archived(2)])
    assert flush(storage, FOLDER, [archived(1), archived(2)]) is None
    file = flush(storage, FOLDER, [archived(1), archived(2), archived(3)])
    assert file is not None
    assert (file.minimum, file.maximum) == ("20260101000003000", "20260101000003000")


def test_files_that_are_too_large_together_are_not_merged() -> None:
    """A merge takes as many files as fit under its size; one that is too large by itself is skipped."""
    storage = MemoryStorage()
    flush(storage, FOLDER, [ArchivedAction(archived(1).instant, random.Random(1).randbytes(10_000))])
    for second in (40, 41, 42):
        flush(storage, FOLDER, [archived(second)])
    lengths = sorted(file.length for file in load_manifest(storage, FOLDER).files)
    assert merge_levels(storage, FOLDER, 4, merged_size=lengths[0]) == 0
    assert merge_levels(storage, FOLDER, 4, merged_size=2 * lengths[0] + 10) == 1
    files = load_manifest(storage, FOLDER).files
    assert sorted(file.level for file in files) == [0, 0, 1]
    assert len(History(storage, FOLDER).instants()) == 4


def test_a_merge_keeps_two_actions_with_the_same_time() -> None:
    """Two actions with the same requested time both stay; an action in two files is stored once."""
    storage = MemoryStorage()
    flush(storage, FOLDER, [archived(1), archived(1, "clean", b"plan")])
    flush(storage, FOLDER, [archived(2)])
    merge_levels(storage, FOLDER, 2)
    found = History(storage, FOLDER).actions()
    assert [(a.instant.requested[-5:], a.instant.action, a.plan) for a in found] == [
        ("01000", "clean", b"plan"),
        ("01000", "commit", None),
        ("02000", "commit", None),
    ]


def test_the_valid_manifest_is_never_retired() -> None:
    """The valid manifest is kept, also if crashed processes left unreadable manifests of higher numbers."""
    storage = MemoryStorage()
    flush(storage, FOLDER, [archived(1)])
    for number in range(2, 3 + KEPT_MANIFESTS):
        storage.put(f"{FOLDER}/manifest_{number}", b"half a manif")
    retire(storage, FOLDER)
    assert [i.requested for i in History(storage, FOLDER).instants()] == ["20260101000001000"]
    flush(storage, FOLDER, [archived(2)])
    assert load_manifest(storage, FOLDER).number == 3 + KEPT_MANIFESTS
    assert len(History(storage, FOLDER).instants()) == 2
