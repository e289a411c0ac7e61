"""Completed writes whose completed file was lost, although another action shows that they had completed."""

import json

import deep_damage_samples as d
import pytest
import validated_tables_samples as t
from trace_damages_samples import cut_history, planned_on_archived

from hudi_conformance.validator.all_checks import CHEAP
from hudi_conformance.validator.checks.cheap.history import CHECKS as HISTORY
from hudi_reference.layout.names import split_path
from hudi_reference.timeline.contents.actions import read_action
from hudi_reference.timeline.instants.instant import parse_instant_name


def test_a_write_that_a_built_index_saw_completed_is_lost() -> None:
    """TL-052: the indexer names the last completed write before it; without its completed file the rows are lost."""
    storage = d.indexed()
    table = d.stored(storage)
    built = min(one.requested for one in table.timeline.completed if one.action == "indexing")
    seen = max((one for one in table.commits if one.requested < built), key=lambda one: one.requested)
    storage.delete(table.path_of(seen))
    found = [one for one in t.validated(storage, CHEAP).findings if one.rule == "TL-052"]
    assert {(one.severity, one.key) for one in found} == {("data-lost", seen.requested)}


def test_a_write_of_a_history_that_cannot_be_read_may_be_in_it() -> None:
    """ARC-002: a pending plan names a base file of an archived write. With a damaged history nothing says that it was lost."""
    storage = planned_on_archived()
    known = {one.requested for one in t.stored(storage).timeline.completed}
    (plan,) = t.paths(storage, ".clustering.requested")
    instant = parse_instant_name(plan.rpartition("/")[2])
    assert instant is not None
    record = read_action(storage.get(plan), plan, instant)
    assert record is not None
    names = [one["dataFilePath"] for group in record["clusteringPlan"]["inputGroups"] for one in group["slices"]]
    assert [name for name in names if not known.intersection(name.removesuffix(".parquet").split("_"))]
    assert not {"ARC-002", "TL-052"} & t.rules_of(t.validated(storage, CHEAP).findings)
    cut_history(storage)
    assert not {"ARC-002", "TL-052"} & t.rules_of(t.validated(storage, CHEAP).findings)


def test_a_write_that_may_have_completed_is_not_rolled_back_at_once() -> None:
    """TL-030: the writer removed its markers, as after completion. A rollback would delete rows of a completed write."""
    storage = t.copy_on_write()
    storage.delete(t.completed(storage, "commit"))
    remedies = {one.remedy for one in t.validated(storage, CHEAP).findings if one.rule == "TL-030"}
    assert remedies
    assert all(one.startswith("restore the completed file") and "rollback --instant" in one for one in remedies)


def test_a_finding_of_an_archived_write_has_the_folder_of_the_history() -> None:
    """The file of an action is on the active timeline alone; an archived one is in the files of the history."""
    table = t.stored(t.archived())
    (*_, active), (archived, *_) = table.timeline.completed, table.history.instants
    assert table.place_of(active) == f"{t.TIMELINE}/{active.file_name}"
    assert table.place_of(archived) == f"{t.TIMELINE}/history"


@pytest.mark.parametrize(("is_listed_before", "rule"), [(False, "LSM-010"), (True, None)])
def test_a_level_file_whose_actions_have_no_data_files(is_listed_before: bool, rule: str | None) -> None:
    """LSM-010: the actions of a level file without an entry are lost if they are neither active nor in another file, also if all
    their data files were cleaned; those of a file that an older manifest lists may have been cleaned, too.
    """
    storage = t.archived()
    path, manifest = t.manifest_of(storage)
    folder, name = split_path(path)
    for info in tuple(storage.list(folder)):
        if "manifest_" in info.path and info.path != path:
            storage.delete(info.path)
    (*_, last) = manifest["files"]
    if is_listed_before:
        storage.put(f"{folder}/manifest_{int(name.rpartition('_')[2]) - 1}", json.dumps(manifest).encode())
    storage.put(path, json.dumps({**manifest, "files": [one for one in manifest["files"] if one is not last]}).encode())
    for file in t.base_files(storage):
        storage.delete(file)
    found = {one.rule for one in t.validated(storage, HISTORY).findings if one.path.endswith(last["fileName"])}
    assert found == ({rule} if rule else set())


def test_the_level_files_of_the_manifest_are_counted() -> None:
    """LSM-011: a history without a manifest has nothing to examine."""
    storage = t.archived()
    _, manifest = t.manifest_of(storage)
    assert t.validated(storage, HISTORY).checked["LSM-011"] == len(manifest["files"])
    assert t.validated(t.copy_on_write(), HISTORY).checked["LSM-011"] == 0
