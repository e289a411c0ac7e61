"""No false finding in tables that Apache Hudi upgraded: what writers of version 6 left in timeline and metadata table."""

import pytest
import validated_tables_samples as t
from sound_tables_samples import compacted_twice, rename_files

from hudi_conformance.validator.all_checks import CHEAP
from hudi_reference import archive
from hudi_reference.layout.names import split_path
from hudi_reference.storage.protocol import Storage

INITIAL_VERSION = "hoodie.table.initial.version"


@pytest.mark.parametrize("initial", [6, 8])
def test_a_log_file_of_version_6_belongs_to_the_base_file_of_its_name(initial: int):
    """CMP-003: a plan of version 6 lacks the log files of earlier base files, whatever the completion times of these."""
    storage = compacted_twice()
    t.change_properties(storage, {INITIAL_VERSION: str(initial)})
    found = [one for one in t.validated(storage, CHEAP).findings if one.rule == "CMP-003" and "a plan without" in one.found]
    assert bool(found) is (initial == 8)


@pytest.mark.parametrize(("initial", "writes"), [(6, 1), (6, 2), (8, 1)])
def test_an_upgrade_updates_the_list_of_partitions(initial: int, writes: int):
    """MDT-001: an upgrade or downgrade of Apache Hudi 1.2.0 writes one record, the list of partitions, for no action."""
    storage = t.with_metadata_table()
    last = t.stored(storage).timeline.completed[-1].requested
    for path in t.paths(storage, f"{t.TIMELINE}/{last}"):
        if path.startswith(t.TIMELINE):
            storage.delete(path)
    t.change_properties(storage, {INITIAL_VERSION: str(initial)})
    (update,) = t.paths(storage, f".hoodie/metadata/.hoodie/timeline/{last}_")

    def count(record) -> None:
        first = t.stats_of(record)[0]
        record["partitionToWriteStats"] = {first["partitionPath"]: [first]}
        first["numWrites"] = writes

    t.change_record(storage, update, count)
    found = [one for one in t.validated(storage, CHEAP).findings if one.rule == "MDT-001" and last in one.found + one.expected]
    assert bool(found) is ((initial, writes) != (6, 1))


@pytest.mark.parametrize("initial", [6, 8])
def test_a_write_of_version_6_names_no_earlier_file(initial: int):
    """TL-005: releases before 1.0 name only the instant of the earlier base file in an entry, except for change capture."""
    storage = t.copy_on_write()
    t.change_properties(storage, {INITIAL_VERSION: str(initial)})
    update = t.completed(storage, "commit")
    t.change_record(storage, update, lambda record: [stat.update(prevBaseFile=None) for stat in t.stats_of(record)])
    found = {one.path for one in t.validated(storage, CHEAP).findings if one.rule == "TL-005"}
    assert found == (set() if initial == 6 else {update})


def _with_older_names(storage: Storage, number: int, name: str) -> None:
    """Name the log files of a write, and the instants of their slices in its metadata, after another write."""
    written = t.completed(storage, "deltacommit", number)
    own = split_path(written)[1].partition("_")[0]
    for log in [path for path in t.log_files(storage) if own in path]:
        t.move(storage, log, log.replace(own, name))

    def rename(record) -> None:
        rename_files(record, own, name)
        for stat in t.stats_of(record):
            stat["prevCommit"] = name

    t.change_record(storage, written, rename)


@pytest.mark.parametrize(("initial", "named_after", "wrong"), [("6", 0, False), ("8", 0, False), ("8", 1, True)])
def test_log_files_of_version_6_show_an_upgrade(initial: str, named_after: int, wrong: bool):
    """BF-009: CREATE TABLE ... LOCATION of Apache Hudi 1.0.2 replaces the version with which an upgraded table began by 8.

    Log files are named after a base file in version 6 alone. Files that are named after another log file are not its own.
    """
    storage = t.merge_on_read()
    name = split_path(t.completed(storage, "deltacommit", named_after))[1].partition("_")[0]
    _with_older_names(storage, 2, name)
    t.change_properties(storage, {INITIAL_VERSION: initial})
    found = {one.rule for one in t.validated(storage, CHEAP).findings if one.severity == "wrong-answers"}
    assert ("BF-009" in found) is wrong


def test_archived_writes_show_an_upgrade_too():
    """BF-009: a table that began at version 8 or 9 was downgraded, written at version 6 and upgraded; the write of the base
    file is archived."""
    storage = t.merge_on_read()
    name = split_path(t.completed(storage, "deltacommit", 0))[1].partition("_")[0]
    _with_older_names(storage, 2, name)
    for fare in range(3):
        t.reopened(storage).upsert(t.rows(1, fare=fare))
    archive(t.reopened(storage), {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"})
    assert name not in {one.requested for one in t.stored(storage).timeline.completed}
    assert "BF-009" not in {one.rule for one in t.validated(storage, CHEAP).findings}
