"""No false finding: golden tables of every writer, tables in use, and tables after crashes."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import clause_places_samples as c
import deep_damage_samples as d
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import timeline_damages_samples
import validated_tables_samples as t
from block_damages_samples import SOUND_BLOCKS
from history_damages_samples import SOUND_HISTORIES
from log_damages_samples import deletes_at
from property_damages_samples import SOUND_PROPERTIES
from sound_tables_samples import SOUND_TABLES

from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.suite.support.concurrent.slow_writers import NON_BLOCKING
from hudi_conformance.validator.all_checks import ALL, CHEAP
from hudi_conformance.validator.checks.finding import UNSOUND as UNSOUND_SEVERITIES
from hudi_conformance.validator.stored.table import load_table
from hudi_conformance.validator.validation import Validation, validate
from hudi_reference import clean, cluster, compact, open_table, restore, rollback
from hudi_reference.clock import ManualClock, SystemClock
from hudi_reference.layout.names import split_path
from hudi_reference.storage.protocol import Storage
from hudi_reference.timeline.contents.actions import write_action
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

GOLDEN = sorted(path.parent for path in fixtures_root().glob("*/*/table"))
#: Readable tables that are not sound all the same: what their recipes damaged, and the rule.
DAMAGED = {
    # Apache Hudi does not find the partition (open: whether it is one).
    "layout/folder-without-partition-metadata": {"LAY-003"},
    "layout/folder-without-partition-metadata.by-reference": {"LAY-003"},
    # Mode and strategy contradict each other, and the backup has an entry that the file lacks.
    "layout/properties.a-stale-backup-with-more-entries": {"MRG-021", "PROP-011"},
    "timeline/replaced.several-groups": {"OCC-016"},  # a write to a group that was replaced before
    "timeline/damaged.completed-file-empty": {"TL-002"},
    "timeline/damaged.completed-file-is-a-folder": {"TL-046"},
    "timeline/damaged.contents-of-two-commits-swapped": {"BF-009"},
    "timeline/damaged.times-backwards": {"TL-004", "TL-005", "BF-009"},
    "timeline/history.damaged.length-of-the-manifest-wrong": {"LSM-011"},
    "timeline/history.damaged.version-file-junk": {"LSM-007"},
    "timeline/history.damaged.version-file-names-no-manifest": {"LSM-009"},
}
#: The error of these cases is about the time of the query, not about the table.
ERRORS_OF_QUERIES = ("cleaned", "pending-write")
#: Findings of the other severities that hold on a table of Apache Hudi's writers or after a crash.
EXPLAINED = {
    "BF-003", "BF-007", "BF-010", "COMPAT-006", "LAY-003", "LAY-013", "LAY-017", "LAY-019", "LF-007", "LF-025", "LSM-007", "LSM-012",
    "LSM-020", "LSM-022", "OCC-027", "PROP-011", "PROP-013", "RDR-008", "TL-002", "TL-005", "TL-007", "TL-030", "TL-037", "TL-048", "TL-052",
}  # fmt: skip
#: Golden tables of which a recipe changed what readers must not follow, and the rule: a property, the plan of a log compaction.
CHANGED = {
    "log/joined.others-still-count": "LCP-002",
    "merge/version-9.contradicting-payload-class.mor": "MRG-021",
    "merge/version-9.contradicting-strategy.mor": "MRG-021",
    "merge/version-9.legacy-class-alone.mor": "PROP-025",
}


def _validated(case: Path) -> Validation:
    later = ManualClock(SystemClock().now() + 10**8)  # the times of the files are those of the checkout
    found = validate(load_table(str(case / "table"), clock=later), CHEAP)
    assert not found.broken, found.broken
    return found


def _id(case: Path) -> str:
    return f"{case.parent.name}/{case.name}"


def _expected(case: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((case / "case.json").read_text())["expected"]
    return found


SOUND = [case for case in GOLDEN if not {"error", "refused", "open"} & _expected(case).keys() and _id(case) not in DAMAGED]
UNSOUND = [
    case
    for case in GOLDEN
    if "error" in _expected(case) and _expected(case)["error"] not in ERRORS_OF_QUERIES and (case / "table/.hoodie").is_dir()
]


@pytest.mark.parametrize("chapter", sorted({case.parent.name for case in SOUND}))
def test_golden_tables_with_rows_are_sound(chapter: str):
    """A table that every reader must read has no finding of wrong answers or lost data, and others only where explained."""
    for case in (case for case in SOUND if case.parent.name == chapter):
        found = _validated(case)
        assert found.is_sound, (_id(case), found.findings)
        assert t.rules_of(found.findings) <= EXPLAINED | {CHANGED.get(_id(case), "")}, (_id(case), found.findings)


@pytest.mark.parametrize("case", UNSOUND, ids=_id)
def test_golden_tables_that_readers_refuse_are_unsound(case: Path):
    """A table that every reader must refuse has a finding of wrong answers or lost data."""
    assert not _validated(case).is_sound


@pytest.mark.parametrize("case", DAMAGED)
def test_readable_damage_is_found(case: str):
    """Tables that were damaged so that a reader may still read them have a finding with the rule of the damage."""
    found = _validated(fixtures_root() / case)
    unsound = {finding.rule for finding in found.findings if finding.severity in UNSOUND_SEVERITIES}
    assert unsound == DAMAGED[case]


PROGRAMS = {
    "copy-on-write": t.copy_on_write,
    "merge-on-read": t.merge_on_read,
    "metadata table": t.with_metadata_table,
    "compacted": t.compacted,
    "clustered": t.clustered,
    "cleaned with a savepoint": t.cleaned,
    "archived": t.archived,
    "pending compaction": lambda: t.with_plan("compaction"),
    "pending clustering": lambda: t.with_plan("clustering"),
    "pending clean": lambda: t.with_plan("clean"),
    **SOUND_TABLES,
    **SOUND_BLOCKS,
    **SOUND_HISTORIES,
    **SOUND_PROPERTIES,
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_tables_of_each_service_have_no_finding(program: str):
    """Completed and pending services leave nothing to report."""
    assert t.validated(PROGRAMS[program](), CHEAP).findings == ()


class _Crash(BaseException):
    """The process ends."""


class _CrashingStorage:
    """A storage whose n-th change is not executed and ends the process."""

    def __init__(self, inner: Storage, changes: int) -> None:
        self._inner, self._left = inner, changes

    def __getattr__(self, name: str):
        found = getattr(self._inner, name)
        if name not in ("put", "create", "replace", "delete"):
            return found

        def change(*arguments: object) -> object:
            self._left -= 1
            if self._left < 0:
                raise _Crash
            return found(*arguments)

        return change


WORK = {
    "upsert": (t.with_metadata_table, lambda table: table.upsert(t.rows(1, 2, 5, fare=9))),
    "overwrite": (t.with_metadata_table, lambda table: table.insert_overwrite(t.rows(1, 2, 5, fare=9))),
    "compaction": (t.with_metadata_table, lambda table: compact(table, {"hoodie.compact.inline.max.delta.commits": "1"})),
    "clean": (t.copy_on_write, lambda table: clean(table, {"hoodie.clean.commits.retained": "1"})),
    "restore": (t.cleaned, lambda table: restore(table, table.timeline.completed[0].requested)),
    "rollback": (t.copy_on_write, lambda table: rollback(table, table.timeline.completed[-1].requested)),
}


@pytest.mark.parametrize("work", WORK)
def test_tables_are_sound_after_a_crash_at_any_change(work: str):
    """A crashed writer or service leaves files without an owner and pending actions, and a table that is sound.

    A restore removes one write after the other, so that queries may fail until it is executed to its end.
    """
    make, act = WORK[work]
    for changes in range(200):
        storage = make()
        try:
            act(t.reopened(_CrashingStorage(storage, changes)))
        except _Crash:
            found = t.validated(storage, CHEAP)
            unsound = {finding.rule for finding in found.findings if finding.severity in UNSOUND_SEVERITIES}
            assert unsound <= ({"TL-023"} if work == "restore" else set()), (changes, found.findings)
            continue
        break
    else:
        raise AssertionError("the work never ended")


def test_the_update_of_a_restore_may_have_a_time_of_its_own():
    """MDT-001: Apache Hudi 1.0.2 updates the metadata table for a restore under a time between its begin and its end."""
    storage = t.with_metadata_table()
    last = int(t.stored(storage).timeline.completed[-1].requested)
    for path in t.paths(storage, f"{t.TIMELINE}/{last}"):
        if path.startswith(t.TIMELINE):
            storage.delete(path)
    assert "MDT-001" in t.rules_of(t.validated(storage, CHEAP).findings)
    storage.put(f"{t.TIMELINE}/{last - 1:017}_{last + 1:017}.restore", b"")
    assert "MDT-001" not in t.rules_of(t.validated(storage, CHEAP).findings)


def test_a_metadata_table_of_version_6_is_no_finding():
    """MDT-002: no reader here uses the metadata table of a table of version 6, whose instants have other names."""
    storage = c.copied(fixtures_root() / "compatibility/v6.mor/table")
    t.change_properties(storage, {"hoodie.table.metadata.partitions": "files"})
    before = t.rules_of(t.validated(storage, CHEAP).findings)
    instant = next(path for path in t.paths(storage, ".hoodie/") if path.endswith(".deltacommit"))
    for path in (".hoodie/hoodie.properties", instant):
        storage.put(path.replace(".hoodie/", ".hoodie/metadata/.hoodie/"), storage.get(path))
    storage.put(".hoodie/metadata/files/.hoodie_partition_metadata", b"")
    assert "TL-031" not in t.rules_of(t.validated(storage, CHEAP).findings) - before


def test_a_deletion_of_nothing_is_no_finding():
    """TL-039: with a files index, from which a deletion removes partitions, one that names none deleted none."""
    storage = t.with_metadata_table()
    empty = {"partitionToWriteStats": {}, "partitionToReplaceFileIds": {}, "compacted": False, "extraMetadata": {"schema": "{}"},
             "version": 1, "operationType": "DELETE_PARTITION"}  # fmt: skip
    instant = Instant("20991231000000000", "replacecommit", State.COMPLETED, "20991231000000001")
    storage.put(f"{t.TIMELINE}/{instant.file_name}", write_action(instant, empty, bytes(16)))
    assert "TL-039" not in t.rules_of(t.validated(storage, CHEAP).findings)
    t.change_properties(storage, {"hoodie.table.metadata.partitions": None})
    assert "TL-039" in t.rules_of(t.validated(storage, CHEAP).findings)


def test_a_write_to_the_slice_of_a_planned_compaction_completes_before_it():
    """TT-004: the plan of a compaction begins a slice, and a write is based on it before the compaction completes."""
    storage = t.with_plan("compaction")
    table = t.reopened(storage)
    (plan,) = table.timeline.pending
    requested = table.upsert(t.rows(1, 2, fare=5))
    compact(t.reopened(storage))
    completed = {one.requested: one for one in t.reopened(storage).timeline.completed}
    write, planned = completed[requested], completed[plan.requested]
    assert planned.requested < write.requested
    assert (write.completion or "") < (planned.completion or "")

    def based(record):
        for stat in t.stats_of(record):
            stat["prevCommit"] = planned.requested

    t.change_record(storage, f"{t.TIMELINE}/{write.file_name}", based)
    assert "TT-004" not in t.rules_of(t.validated(storage, CHEAP).findings)


def test_a_service_may_store_files_again_that_a_rollback_deleted():
    """MDT-008: a plan whose execution was rolled back is executed again, and stores files of the same names."""
    storage = t.with_metadata_table()
    assert cluster(t.reopened(storage), {"hoodie.clustering.inline.max.commits": "1"})
    files, clustering = t.base_files(storage), t.reopened(storage).timeline.completed[-1].requested
    path = f"{t.TIMELINE}/{clustering}.clustering.requested"
    plan = storage.get(path)
    rollback(t.reopened(storage), clustering)
    assert t.base_files(storage) != files
    storage.put(path, plan)  # Apache Hudi keeps the plan of a completed service
    cluster(t.reopened(storage))
    assert {*files} < {*t.base_files(storage)}  # another clustering follows
    assert t.validated(storage, CHEAP).findings == ()


def test_an_indexer_updates_the_metadata_table_for_completed_writes():
    """TL-032: an indexer catches up with a write that completed meanwhile, under the time of the write."""
    storage = t.with_metadata_table()
    write = t.stored(storage).timeline.completed[-1]
    early = f"{t.TIMELINE}/{write.requested}_{int(write.requested) + 1:017}.deltacommit"
    t.move(storage, f"{t.TIMELINE}/{write.file_name}", early)
    assert "TL-032" in t.rules_of(t.validated(storage, CHEAP).findings)
    storage.put(f"{t.TIMELINE}/{int(write.requested) - 1:017}_{int(write.completion or 0) + 1:017}.indexing", b"")
    assert not {"TL-032", "OCC-022"} & t.rules_of(t.validated(storage, CHEAP).findings)


@pytest.mark.parametrize("completion", [None, "requested"])
def test_an_upgrade_keeps_archived_actions_without_completion_times(completion):
    """LSM-018, TL-004: releases before 0.14 did not archive the time of the completion."""
    storage = c.copied(fixtures_root() / "compatibility" / "upgraded.cow.archived" / "table")

    def change(rows):
        at = rows.schema.get_field_index("completionTime")
        times = [None] * rows.num_rows if completion is None else rows.column("instantTime").to_pylist()
        return rows.set_column(at, rows.schema.field(at), pa.array(times, rows.schema.field(at).type))

    timeline_damages_samples.edit_history(change)(storage)
    assert not {"LSM-018", "TL-004"} & t.rules_of(t.validated(storage, CHEAP).findings)


@pytest.mark.parametrize("non_blocking", [True, False])
def test_file_groups_of_a_bucket_have_one_id_in_all_partitions(non_blocking):
    """TL-039, NBC-004: a group whose files were cleaned was not in the partition in which another one has the same id."""
    options = NON_BLOCKING if non_blocking else {}
    storage = t.merge_on_read(**options)
    replace(t.reopened(storage), options=options).insert_overwrite(t.rows(1))
    file_id = next(one for one in t.stored(storage).owned if one.partition == "north").file_id
    t.change_record(storage, t.completed(storage, "replacecommit"),
                    lambda record: record.update(partitionToReplaceFileIds={"elsewhere": [file_id]}))  # fmt: skip
    found = [one for one in t.validated(storage, CHEAP).findings if one.rule == "TL-039" and one.key == file_id]
    assert bool(found) is not non_blocking


def test_a_second_deletion_of_a_partition_is_sound():
    """A deletion of a partition without file groups names it, so that it is not taken for one that lost its partitions."""
    storage = t.deleted_partition()
    t.reopened(storage).delete_partitions(["north"])
    assert t.validated(storage, CHEAP).findings == ()


def test_an_empty_table_without_partition_columns_is_sound():
    """The schema of the creation has the partition columns; only that of a write must lack those that are dropped."""
    storage = t.empty(**{"hoodie.datasource.write.drop.partition.columns": "true"})
    assert t.validated(storage, CHEAP).findings == ()


@pytest.mark.parametrize("writes", [[0], [0, 1, 2]])
def test_upserts_may_store_partition_columns_that_inserts_dropped(writes: list[int]):
    """Apache Hudi drops the columns in inserts alone; readers take the values from the folders."""
    storage = t.copy_on_write()
    t.change_properties(storage, {"hoodie.datasource.write.drop.partition.columns": "true"})
    (partition,) = t.stored(storage).properties.fields("hoodie.table.partition.fields")

    def drop(record):
        schema = json.loads(record["extraMetadata"]["schema"])
        schema["fields"] = [one for one in schema["fields"] if one["name"] != partition]
        record["extraMetadata"]["schema"] = json.dumps(schema)

    for number in writes:
        t.change_record(storage, t.completed(storage, "commit", number), drop)
    assert not {"LAY-018", "PROP-008"} & t.rules_of(t.validated(storage, CHEAP).findings)


def test_the_time_of_a_bootstrap_is_sound():
    """TL-027: Apache Hudi 1.2.0 completes a bootstrap of whole records under the requested time 00000000000002."""
    storage, bootstrap = t.copy_on_write(), "00000000000002"
    for path in (t.completed(storage, "commit", 0), *t.paths(storage, ".requested")[:1], *t.paths(storage, ".inflight")[:1]):
        folder, name = split_path(path)
        storage.put(f"{folder}/{bootstrap}{name[17:]}", storage.get(path))
    assert "TL-027" not in t.rules_of(t.validated(storage, CHEAP).findings)


def test_rows_that_an_insert_stored_twice_are_cosmetic_without_meta_columns():
    """Inserts do not look keys up; without meta columns nothing shows which write stored a row."""
    storage = t.inserted_twice(**{"hoodie.populate.meta.fields": "false"})
    found = t.validated(storage, ALL).findings
    assert found and {(one.rule, one.severity) for one in found} <= {("LAY-021", "cosmetic"), ("PROP-017", "cosmetic")}


def test_tables_without_meta_columns_are_sound():
    """Keys of a complex generator are computed from the fields, and changes are captured, without a stored key or commit time."""
    settings = {
        "hoodie.populate.meta.fields": "false", "hoodie.table.cdc.enabled": "true",
        "hoodie.table.cdc.supplemental.logging.mode": "DATA_BEFORE_AFTER", "hoodie.table.keygenerator.type": "COMPLEX",
    }  # fmt: skip
    for table_type in ("COPY_ON_WRITE", "MERGE_ON_READ"):
        storage = t.changed(table_type, 9, **settings)
        assert t.validated(storage, ALL).findings == ()


@pytest.mark.parametrize("mode", ["OP_KEY_ONLY", "DATA_BEFORE_AFTER"])
def test_a_change_without_a_row_is_found_without_meta_columns(mode: str):
    """Each captured change is of a row of the file, also where nothing shows which write stored the row."""
    settings = {
        "hoodie.populate.meta.fields": "false", "hoodie.table.cdc.enabled": "true",
        "hoodie.table.cdc.supplemental.logging.mode": mode,
    }  # fmt: skip
    storage = t.changed("COPY_ON_WRITE", **settings)
    first, second = [path for path in t.paths(storage, ".cdc") if "north/" in path][-2:]
    assert storage.get(first) != storage.get(second)
    storage.put(second, storage.get(next(path for path in t.paths(storage, ".cdc") if "south/" in path)))
    assert "TYP-012" in t.rules_of(t.validated(storage, ALL).findings)


@pytest.mark.parametrize("loses_a_row", [False, True])
def test_deletes_that_are_counted_among_the_writes_are_no_lost_rows(loses_a_row: bool):
    """TL-007: hudi-rs counts them; a block that lacks a row beside the deletes is still found."""
    table = t._new("MERGE_ON_READ")
    table.upsert(t.rows(1, 3, 5))
    table.delete(t.rows(1, 3).select(["id", "city"]))

    def count(record: Any) -> None:
        for stat in next(iter(record["partitionToWriteStats"].values())):
            stat["numWrites"] = stat["numDeletes"] + loses_a_row
            stat["numUpdateWrites"] = int(loses_a_row)

    t.change_record(table.storage, t.completed(table.storage, "deltacommit"), count)
    found = [one for one in t.validated(table.storage, ALL).findings if one.rule == "TL-007"]
    assert [one.severity for one in found] == ["data-lost"] * loses_a_row


@pytest.mark.parametrize("steps", ["update", "update, cluster", "cluster, update", "cluster, update, cluster"])
def test_an_update_of_rows_that_an_insert_stored_twice_is_cosmetic(steps: str):
    """PROP-017, LAY-021: the slices before the update, and those that a clustering replaced, show that inserts stored the key
    twice."""
    storage = t.inserted_twice()
    for step in steps.split(", "):
        table = t.reopened(storage)
        if step == "update":
            table.upsert(t.rows(1, 2, fare=7))
        else:
            assert cluster(table, {"hoodie.clustering.inline.max.commits": "1"})
    found = t.validated(storage, ALL).findings
    assert found and {(one.rule, one.severity) for one in found} <= {("LAY-021", "cosmetic"), ("PROP-017", "cosmetic")}


@pytest.mark.parametrize("positions", [(2,), (2, 8)])
@pytest.mark.parametrize("is_twice", [True, False])
def test_a_compaction_that_deletes_one_of_two_rows_of_a_key_is_sound(is_twice: bool, positions: tuple[int, ...]):
    """CMP-006: Apache Hudi deletes the first row of a key that inserts stored twice, in queries and in compactions that ignore
    positions; a reader of positions deletes each row that they name (ER-216)."""
    storage = d.merge_on_read()
    table = open_table("memory:///deep", storage=storage, clock=ManualClock(d.START + 10**8))
    assert compact(table, {"hoodie.compact.inline.max.delta.commits": "1"})
    before, after = d.base_files(storage)
    row = d.read_base_file(storage, before).filter(pc.field("id") == "k04")
    d.rewrite(storage, after, lambda rows: pa.concat_tables([rows, row]))
    if is_twice:
        d.rewrite(storage, before, lambda rows: pa.concat_tables([rows, row]))
    d.rewrite_log(storage, deletes_at(*positions), number=1)
    assert ("CMP-006" in {one.rule for one in d.found_in(storage)}) is not is_twice
