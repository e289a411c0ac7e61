"""What archiving must keep on the active timeline, what it deletes first, and which plans it stores.

Actions that engines make only in table services are written to the timeline by hand, between the writes of a table.
"""

import re
import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.actions_by_hand import (
    add_milliseconds,
    clean_plan,
    clean_result,
    put_action,
    timeline_folder,
)
from hudi_conformance.suite.support.programs.write_programs import expect_rows
from hudi_conformance.suite.support.tables.archived_tables import (
    ARCHIVE,
    COMPLETED,
    NOT_BY_ITSELF,
    Histories,
    archive_limits,
    completed_actions,
    expected_rows,
    new_table,
    read_step,
    write_times,
)
from hudi_conformance.suite.support.tables.written_tables import Type, base_files, data_files, table_folder
from hudi_reference.timeline.instants.states import State

NewUri = Callable[[], str]
Json = dict[str, Any]
WRITES = 8
#: Cleaning that retains file versions and no commits does not move the limits.
BY_VERSIONS = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS"}
#: Metadata of a write without files. As in deployed tables, it has the schema at least.
SCHEMA = {"schema": '{"type": "record", "name": "r", "fields": [{"name": "id", "type": "string"}]}'}
NO_STATS: Json = {"partitionToWriteStats": {}, "compacted": False, "extraMetadata": SCHEMA, "version": None}


#: A compaction of no file.
COMPACTION_PLAN: Json = {
    "operations": [],
    "extraMetadata": {},
    "version": 2,
    "strategy": None,
    "preserveHoodieMetadata": None,
    "missingSchedulePartitions": None,
}


def completed_times(uri: str) -> list[tuple[str, str]]:
    """Return requested and completion time of each completed write, by requested time."""
    return sorted(key_time for key_time in ((k[0], c) for k, c in read_step(uri).completed.items()))


def metadata_timeline(uri: str) -> Path:
    """Return the folder of the timeline of the metadata table."""
    return table_folder(uri) / ".hoodie" / "metadata" / ".hoodie" / "timeline"


def after_write(uri: str, number: int) -> tuple[str, str]:
    """Return a requested and a completion time right after the write of that number, before the next one."""
    completion = completed_times(uri)[number][1]
    return add_milliseconds(completion, 1), add_milliseconds(completion, 2)


@ARCHIVE
@pytest.mark.requirements("ARC-003")
@pytest.mark.parametrize(
    ("action", "state"), [("commit", State.INFLIGHT), ("commit", State.REQUESTED), ("compaction", State.REQUESTED)]
)
def test_a_pending_action_and_its_base_stay_active(
    engine: Client, new_uri: NewUri, histories: Histories, action: str, state: State
) -> None:
    """ARC-003: a pending action stays active for any length of time, and so do the write before it and everything later."""
    uri = histories.copy(engine, WRITES, new_uri())
    before = completed_actions(engine, uri)["active"]
    requested, _ = after_write(uri, 3)
    plan = COMPACTION_PLAN if action == "compaction" else None
    profile = {**NO_STATS, "operationType": "UPSERT"} if action == "commit" else None
    states = {State.REQUESTED: plan, State.INFLIGHT: profile}
    put_action(uri, requested, action, {s: record for s, record in states.items() if s <= state})
    put_action(uri, after_write(uri, 6)[0], "commit", {State.REQUESTED: None})  # a later one sets no bound
    engine.service(uri, "archive", options={**archive_limits(4, 2), **BY_VERSIONS})
    found = completed_actions(engine, uri)
    assert [i["requested"] for i in found["active"]] == [i["requested"] for i in before[3:]]
    pending = [i for i in engine.inspect(uri)["timeline"]["pending"] if i["requested"] == requested]
    assert [(i["action"], i["state"]) for i in pending] == [(action, state.name)]
    assert requested not in {key[0] for key in read_step(uri).archived}


@ARCHIVE
@pytest.mark.requirements("ARC-003")
@pytest.mark.leaves_damage("it makes a write complete after one that was based on it")
def test_writes_concurrent_with_a_pending_one_stay_active(engine: Client, new_uri: NewUri, histories: Histories) -> None:
    """ARC-003: a write that completed after a pending one began stays active, also if it began before: the pending write may
    conflict with it. Without the pending write it is archived.
    """
    for is_pending in (True, False):
        uri = histories.copy(engine, WRITES, new_uri())
        (first, completion), *_ = completed_times(uri)
        requested, late = after_write(uri, 5)
        if is_pending:
            profile = {**NO_STATS, "operationType": "UPSERT"}
            put_action(uri, requested, "commit", {State.REQUESTED: None, State.INFLIGHT: profile})
        (timeline_folder(uri) / f"{first}_{completion}.commit").rename(timeline_folder(uri) / f"{first}_{late}.commit")
        engine.service(uri, "archive", options={**archive_limits(4, 2), **BY_VERSIONS})
        left = {key[0] for key in read_step(uri).completed}
        assert (first in left) is is_pending, "only a write that may conflict with a pending one stays active"


@ARCHIVE
@pytest.mark.requirements("ARC-003")
def test_archiving_stops_at_a_savepoint(engine: Client, new_uri: NewUri, histories: Histories) -> None:
    """ARC-003: the first savepointed write and everything later stays active, also what lies between two savepoints; with
    hoodie.archive.beyond.savepoint only the savepointed write stays.
    """
    savepointed = {"savepointedBy": "", "savepointedAt": 0, "comments": "", "partitionMetadata": {}, "version": 1}
    for beyond in ("false", "true"):
        uri = histories.copy(engine, WRITES, new_uri())
        times = completed_times(uri)
        requested = times[2][0]
        for number in (2, 4) if beyond == "false" else (2,):
            states = {State.INFLIGHT: None, State.COMPLETED: savepointed}
            put_action(uri, times[number][0], "savepoint", states, add_milliseconds(times[number][1], 2))
        engine.service(uri, "archive", options=archive_limits(4, 2, **{"hoodie.archive.beyond.savepoint": beyond}))
        found = read_step(uri).completed.keys()
        left = [time for time, _ in times[2:]] if beyond == "false" else [requested, times[-1][0]]
        assert sorted(time for time, action in found if action == "commit") == left
        assert (requested, "savepoint") in found


def put_replacecommit(uri: str, number: int) -> tuple[str, list[bytes]]:
    """Write a completed insert overwrite after the write of that number, which replaced nothing; return its time and files."""
    requested, completion = after_write(uri, number)
    nothing = {"operationType": None, "clusteringPlan": None, "extraMetadata": None, "version": None}
    done = {**NO_STATS, "operationType": "INSERT_OVERWRITE"}
    files = {State.REQUESTED: nothing, State.INFLIGHT: done, State.COMPLETED: {**done, "partitionToReplaceFileIds": {}}}
    return requested, put_action(uri, requested, "replacecommit", files, completion)


def put_clean(uri: str, number: int, retained: str) -> tuple[str, list[bytes]]:
    """Write a completed clean after the write of that number; return its time and files."""
    requested, completion = after_write(uri, number)
    plan = clean_plan(retained)
    files = {State.REQUESTED: plan, State.INFLIGHT: plan, State.COMPLETED: clean_result(requested, retained)}
    return requested, put_action(uri, requested, "clean", files, completion)


@ARCHIVE
@pytest.mark.requirements("ARC-003", "RDR-010")
def test_a_replacing_write_stays_until_its_files_are_cleaned(engine: Client, new_uri: NewUri, histories: Histories) -> None:
    """RDR-010: without a later clean a replacecommit stays active: in the history it would no longer hide the
    replaced files.
    """
    uri = histories.copy(engine, WRITES, new_uri())
    replacing, _ = put_replacecommit(uri, 2)
    engine.service(uri, "archive", options=archive_limits(4, 2))
    assert min(key[0] for key in read_step(uri).completed) == replacing
    put_clean(uri, 3, min(time for time, _ in completed_times(uri) if time > replacing))
    engine.service(uri, "archive", options=archive_limits(4, 2))
    assert (replacing, "replacecommit") in read_step(uri).archived


@ARCHIVE
@pytest.mark.requirements("LSM-002", "LSM-021", "LSM-019", "LSM-024")
def test_archived_plans_equal_their_requested_files(engine: Client, new_uri: NewUri, histories: Histories) -> None:
    """LSM-002: the archived plan of a clean or compaction equals its requested file, before and after a merge of history files;
    the plan of an overwrite is its workload profile.
    """
    uri = histories.copy(engine, WRITES, new_uri())
    replacing, (_, profile, replaced) = put_replacecommit(uri, 0)
    compacted, completion = after_write(uri, 1)
    result = {**NO_STATS, "operationType": "COMPACT"}
    files = {State.REQUESTED: COMPACTION_PLAN, State.INFLIGHT: None}
    (planned, _) = put_action(uri, compacted, "compaction", files)
    (done,) = put_action(uri, compacted, "commit", {State.COMPLETED: result}, completion)
    cleaned, (clean, _, result_of_clean) = put_clean(uri, 2, completed_times(uri)[-1][0])
    expected = {
        (replacing, "replacecommit"): (replaced, profile),
        (compacted, "commit"): (done, planned),
        (cleaned, "clean"): (result_of_clean, clean),
    }
    options = archive_limits(4, 2, **{"hoodie.timeline.compaction.batch.size": "2"})
    for _ in range(2):
        engine.service(uri, "archive", options=options)
        found = read_step(uri).archived
        assert {key: (found[key]["metadata"], found[key]["plan"]) for key in expected} == expected
        write_times(engine, uri, 4, NOT_BY_ITSELF, WRITES)
    engine.service(uri, "archive", options=options)
    assert sorted(read_step(uri).levels) == [0, 1] or sorted(read_step(uri).levels) == [1]


@ARCHIVE
@pytest.mark.requirements("ARC-003")
def test_which_actions_are_archived(engine: Client, new_uri: NewUri, histories: Histories) -> None:
    """ARC-003: a clean or rollback before an archived write is archived; a restore and an index build stay active."""
    uri = histories.copy(engine, WRITES, new_uri())
    cleaned, _ = put_clean(uri, 0, completed_times(uri)[-1][0])
    rolled_back, completion = after_write(uri, 1)
    rollback = {
        "startRollbackTime": rolled_back, "timeTakenInMillis": 1,
        "totalFilesDeleted": 0, "commitsRollback": ["20200101000000000"],
        "partitionMetadata": {}, "version": 1,
        "instantsRollback": [{"commitTime": "20200101000000000", "action": "commit"}],
    }  # fmt: skip
    plan = {"instantToRollback": {"commitTime": "20200101000000000", "action": "commit"}, "RollbackRequests": [], "version": 1}
    put_action(
        uri, rolled_back, "rollback", {State.REQUESTED: plan, State.INFLIGHT: None, State.COMPLETED: rollback}, completion
    )
    indexed, completion = after_write(uri, 2)
    index = {"version": 1, "indexPartitionInfos": []}
    files = {State.REQUESTED: index, State.INFLIGHT: None, State.COMPLETED: {**index, "operationType": None}}
    put_action(uri, indexed, "indexing", files, completion)
    engine.service(uri, "archive", options=archive_limits(4, 2))
    step = read_step(uri)
    assert {(cleaned, "clean"), (rolled_back, "rollback")} <= step.archived.keys()
    assert (indexed, "indexing") in step.completed
    assert step.archived[rolled_back, "rollback"]["plan"] is None


@ARCHIVE
@pytest.mark.requirements("ARC-004")
def test_markers_are_deleted_before_the_action_is_archived(engine: Client, new_uri: NewUri, histories: Histories) -> None:
    """ARC-004: when an action is archived its folder of markers is empty."""
    uri = histories.copy(engine, WRITES, new_uri())
    (oldest, _), *_ = completed_times(uri)
    marker = table_folder(uri) / ".hoodie" / ".temp" / oldest / "oslo" / "x_0-0-0.parquet.marker.CREATE"
    marker.parent.mkdir(parents=True)
    marker.touch()
    engine.service(uri, "archive", options=archive_limits(4, 2))
    assert (oldest, "commit") in read_step(uri).archived
    assert not marker.exists()


@ARCHIVE
@pytest.mark.needs("read.snapshot")
@pytest.mark.requirements("ARC-004")
def test_orphan_files_are_deleted_before_the_action_is_archived(engine: Client, new_uri: NewUri, histories: Histories) -> None:
    """ARC-004: a base file of a failed attempt, and one of a write that was never on the timeline, are deleted before they
    could be read.
    """
    uri = histories.copy(engine, WRITES, new_uri())
    oldest, *_ = [path for path in base_files(uri) if path.parent.name == "oslo"]
    file_id, _, instant = oldest.stem.split("_")
    lost = oldest.with_name(f"{file_id}_9-9-9_{instant}.parquet")
    stray = oldest.with_name(f"11111111-2222-4333-8444-555555555555-0_0-0-0_{after_write(uri, 1)[0]}.parquet")
    for path in (lost, stray):
        shutil.copyfile(oldest, path)
    expect_rows(engine, uri, expected_rows(WRITES), "before")
    engine.service(uri, "archive", options=archive_limits(4, 2))
    expect_rows(engine, uri, expected_rows(WRITES), "after")
    assert not lost.exists()
    assert not stray.exists()


@ARCHIVE
@pytest.mark.needs("read.snapshot", "service.savepoint")
@pytest.mark.requirements("ARC-004", "TL-041")
def test_files_of_failed_writes_beside_a_savepoint_are_not_read(engine: Client, new_uri: NewUri, histories: Histories) -> None:
    """ARC-004: archiving goes beyond a savepointed write, which stays active, and the writes around it are archived. A file of
    a write that was never on the timeline, requested after the savepointed one, is not read.
    """
    uri = histories.copy(engine, WRITES, new_uri())
    saved = completed_times(uri)[1][0]
    engine.service(uri, "savepoint", instant=saved)
    oldest, *_ = [path for path in base_files(uri) if path.parent.name == "oslo"]
    for number in (1, 3):
        requested, _ = after_write(uri, number)
        shutil.copyfile(oldest, oldest.with_name(f"{number}1111111-2222-4333-8444-555555555555-0_0-0-0_{requested}.parquet"))
    expect_rows(engine, uri, expected_rows(WRITES), "before")
    engine.service(uri, "archive", options=archive_limits(4, 2, **{"hoodie.archive.beyond.savepoint": "true"}))
    assert read_step(uri).archived and (saved, "commit") in read_step(uri).completed
    expect_rows(engine, uri, expected_rows(WRITES), "after")


@pytest.mark.parametrize("type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.needs("create", "write.upsert", "service.archive", "read.snapshot", "copy-on-write", "merge-on-read", "log.avro")
@pytest.mark.needs("partition.plain")
@pytest.mark.requirements("BF-007", "LF-007")
@pytest.mark.leaves_damage("it adds files of failed attempts, which archiving need not remove")
def test_committed_files_stay_whatever_the_write_tokens_of_other_attempts(engine: Client, new_uri: NewUri, type: Type) -> None:
    """BF-007: beside each data file of archived actions are files of failed attempts, with smaller and greater write tokens.
    Archiving may remove these; the committed files stay, and so do the rows.
    """
    uri = new_uri()
    new_table(engine, uri, type)
    write_times(engine, uri, WRITES, NOT_BY_ITSELF)
    committed = data_files(uri)
    for path, token in product(committed, ("0-0-0", "99999-0-0")):
        other = table_folder(uri) / re.sub(r"(?<=_)\d+-\d+-\d+(?=_\d{17}|$)", token, path)
        if not other.exists():
            shutil.copyfile(table_folder(uri) / path, other)
    assert len(data_files(uri)) > len(committed)
    engine.service(uri, "archive", options=archive_limits(4, 2))
    assert read_step(uri).archived
    assert committed <= data_files(uri)
    expect_rows(engine, uri, expected_rows(WRITES), "after archiving")


@pytest.mark.needs("create", "write.upsert", "service.archive", "merge-on-read", "partition.plain")
@pytest.mark.requirements("ARC-003")
def test_delta_commits_stay_until_a_compaction_is_due(engine: Client, new_uri: NewUri) -> None:
    """ARC-003: a compaction that is due after 6 delta commits needs 6 of them on the active timeline; only older ones are
    archived, however low the limits are.
    """
    uri = new_uri()
    new_table(engine, uri, "MERGE_ON_READ")
    options = archive_limits(4, 2, **{"hoodie.compact.inline.max.delta.commits": "6"})
    for number, left in ((5, 5), (6, 6), (8, 6)):
        done = len(read_step(uri).completed) + len(read_step(uri).archived)
        write_times(engine, uri, number - done, {**options, **NOT_BY_ITSELF}, done)
        engine.service(uri, "archive", options=options)
        assert len([name for name in read_step(uri).active if COMPLETED.fullmatch(name)]) == left


@ARCHIVE
@pytest.mark.needs("write.metadata-table")
@pytest.mark.requirements("ARC-003", "MDT-001")
def test_writes_that_the_metadata_table_has_not_compacted_stay_active(engine: Client, new_uri: NewUri) -> None:
    """ARC-003: the timeline says which log blocks of the metadata table count. Nothing is archived before the first compaction
    of the metadata table, and afterwards only writes that had completed before it.
    """
    uri = new_uri()
    new_table(engine, uri)
    metadata = {"hoodie.metadata.enable": "true", "hoodie.metadata.compact.max.delta.commits": "6"}
    options = archive_limits(3, 2, **metadata)
    for number in (4, 8):
        write_times(engine, uri, number, {**options, **NOT_BY_ITSELF}, number - 4)
        engine.service(uri, "archive", options=options)
        compacted = (COMPLETED.fullmatch(path.name) for path in metadata_timeline(uri).iterdir())
        last = max((match[1] for match in compacted if match and match[3] == "commit"), default="")
        late = {requested for requested, completion in completed_times(uri) if completion > last}
        archived = {requested for requested, _ in read_step(uri).archived}
        assert archived.isdisjoint(late) and len(archived) + len(completed_times(uri)) == (4 if number == 4 else 12)
        assert archived or number == 4
        assert all((row["completionTime"] or row["instantTime"]) < last for row in read_step(uri).archived.values())
