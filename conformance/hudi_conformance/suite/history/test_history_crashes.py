"""Archiving that crashes between any two of its requests to storage. Only an engine in this process can be stopped there."""

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.explorer.crash_points import CrashingStorage, crash_states
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.programs.write_programs import Program, as_arrow
from hudi_conformance.suite.support.tables.archived_tables import archive_limits, changed_rows
from hudi_reference import WritableTable, archive, create_table, open_table
from hudi_reference.clock import ManualClock
from hudi_reference.ids import SeededIds
from hudi_reference.storage import MemoryStorage, Storage
from hudi_reference.timeline.history.history import History
from hudi_reference.timeline.history.manifest import load_manifest

FOLDER = ".hoodie/timeline/history"
#: History files are merged in every second run, up to level 2.
LIMITS = archive_limits(3, 2, **{"hoodie.timeline.compaction.batch.size": "2", "hoodie.archive.automatic": "false"})
Action = tuple[str, str, str | None]


def reopen_table(storage: Storage) -> WritableTable:
    """Open the table with a clock of its own."""
    return open_table(
        "memory:///crash", storage=storage, clock=ManualClock(1_800_000_000_000), ids=SeededIds(1), options=LIMITS
    )


def table_before_a_run(runs: int, version: int) -> MemoryStorage:
    """Return a table of that version that was archived this many times and is due again."""
    storage, clock, ids, spec = MemoryStorage(), ManualClock(1_790_000_000_000), SeededIds(0), Program("COPY_ON_WRITE",
        "COMMIT_TIME_ORDERING", True).spec()  # fmt: skip
    create_table("memory:///crash", name=spec.name, schema=dict(spec.schema), record_key=spec.record_key,
                 partition=spec.partition, version=version, storage=storage, clock=clock, ids=ids)  # fmt: skip
    table = open_table("memory:///crash", storage=storage, clock=clock, ids=ids, options=LIMITS)
    for number in range(4 + 2 * runs):
        table.upsert(as_arrow(changed_rows(number)))
        if number % 2 and number < 3 + 2 * runs:
            archive(table)
    return storage


def completed_actions_of_table(storage: Storage) -> list[Action]:
    """Return every completed action as the table shows it: active timeline and history together."""
    found = reopen_table(storage).inspect()["timeline"]["completed"]
    return sorted((i["requested"], i["action"], i["completion"]) for i in found)


def read_rows(storage: Storage) -> list[dict[str, object]]:
    """Return the rows of the table."""
    return sorted(reopen_table(storage).snapshot(["id", "value"]).to_pylist(), key=lambda one: str(one["id"]))


@pytest.mark.needs("service.archive")
@pytest.mark.requirements("ARC-002", "ARC-001", "LSM-024")
@pytest.mark.parametrize("runs", [0, 1, 3])
@pytest.mark.versions(8, 9)
def test_a_crash_of_archiving_loses_and_duplicates_nothing(engine: Client, runs: int, drawn_version: int) -> None:
    """ARC-002: wherever it crashes, the table has the same rows and each action once; the next run finishes the rest."""
    only_in_process(engine)
    storage = table_before_a_run(runs, drawn_version)
    expected, content, points = completed_actions_of_table(storage), read_rows(storage), 0
    for crash in crash_states(storage, lambda store: archive(reopen_table(store))):
        assert completed_actions_of_table(crash.storage) == expected, crash
        assert read_rows(crash.storage) == content, crash
        assert not reopen_table(crash.storage).timeline.pending, f"{crash}: a completed action looks pending"
        archive(reopen_table(crash.storage))
        timeline = reopen_table(crash.storage).timeline
        archived = [(i.requested, i.action, i.completion) for i in timeline.archived.instants()]
        active = [(i.requested, i.action, i.completion) for i in timeline.completed]
        assert sorted([*archived, *active]) == expected, f"{crash}, then another run"
        assert len(active) < 4
        stored = [
            row for file in load_manifest(crash.storage, FOLDER).files for row in stored_actions(crash.storage, file.name)
        ]
        assert len(stored) == len(set(stored)), f"{crash}: an action is in the history twice"
        points += 1
    assert points > 8


def stored_actions(storage: Storage, name: str) -> list[tuple[str, str]]:
    """Return requested time and action of each row of a file of the history."""
    import pyarrow.parquet as pq

    with storage.open(f"{FOLDER}/{name}") as file:
        rows = pq.read_table(file, columns=["instantTime", "action"]).to_pylist()
    return [(row["instantTime"], row["action"]) for row in rows]


@pytest.mark.needs("service.archive")
@pytest.mark.requirements("LSM-004", "LSM-008", "LSM-009", "LSM-006", "LSM-011")
@pytest.mark.parametrize("runs", [1, 3])
@pytest.mark.versions(8, 9)
def test_the_version_file_names_a_complete_manifest_after_each_request(engine: Client, runs: int, drawn_version: int) -> None:
    """LSM-009: after each request the version file exists, holds one number that never decreases, and every file that its
    manifest lists exists.
    """
    only_in_process(engine)
    storage = table_before_a_run(runs, drawn_version)
    manifests = {info.path: storage.get(info.path) for info in storage.list(FOLDER) if "/manifest_" in info.path}
    version = int(storage.get(f"{FOLDER}/_version_"))
    for crash in crash_states(storage, lambda store: archive(reopen_table(store))):
        text = crash.storage.get(f"{FOLDER}/_version_").decode()
        assert text.isdigit(), crash
        assert int(text) >= version, crash
        version = int(text)
        for file in load_manifest(crash.storage, FOLDER).files:
            info = crash.storage.head(f"{FOLDER}/{file.name}")
            assert info is not None, crash
            assert info.size == file.length, crash
        for path, content in manifests.items():
            assert crash.storage.head(path) is None or crash.storage.get(path) == content, f"{crash}: {path} was changed"


@pytest.mark.needs("service.archive", "inspect.table", "timeline.history")
@pytest.mark.requirements("LSM-006")
@pytest.mark.versions(8, 9)
def test_a_reader_finishes_with_the_manifest_it_began_with(engine: Client, drawn_version: int) -> None:
    """LSM-006: a reader that has read the manifest finds its files after a run that merged them into another one."""
    only_in_process(engine)
    storage = table_before_a_run(1, drawn_version)
    reader, instants = History(storage, FOLDER), History(storage, FOLDER).instants()
    began = reader.manifest
    archive(reopen_table(storage))
    assert load_manifest(storage, FOLDER).number > began.number
    assert {file.name for file in began.files}.isdisjoint(file.name for file in load_manifest(storage, FOLDER).files)
    assert len(History(storage, FOLDER).instants()) > len(instants)
    assert reader.instants() == instants
    assert reader.manifest is began


@pytest.mark.needs("service.archive")
@pytest.mark.requirements("ARC-002", "LSM-008")
@pytest.mark.versions(8, 9)
def test_one_of_two_concurrent_archivers_aborts(engine: Client, drawn_version: int) -> None:
    """ARC-002: of two archivers that publish at the same time one gets a conflict error; no action is lost, and the next run
    succeeds.
    """
    only_in_process(engine)
    storage = table_before_a_run(1, drawn_version)
    expected = completed_actions_of_table(storage)
    overtaken = Overtaken(storage)
    with pytest.raises(Exception, match="another process changed the history"):
        archive(reopen_table(overtaken))
    assert completed_actions_of_table(storage) == expected
    archive(reopen_table(storage))
    assert completed_actions_of_table(storage) == expected


class Overtaken(CrashingStorage):
    """A storage in which another archiver, without a common lock, publishes its manifest first."""

    def __init__(self, storage: MemoryStorage) -> None:
        super().__init__(storage, 1000)
        self.is_due = True

    def create(self, path: str, data: bytes) -> None:
        """Let the other archiver publish its own version just before a manifest is created here."""
        if "/manifest_" in path and self.is_due:
            self.is_due = False
            archive(reopen_table(self.storage))
        super().create(path, data)
