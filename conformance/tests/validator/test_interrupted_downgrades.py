"""Tables between two versions: what is found, and that no remedy loses an action."""

import json

import validated_tables_samples as t

from hudi_conformance.validator.all_checks import ALL
from hudi_reference.layout import java_properties
from hudi_reference.layout.properties import PROPERTIES_PATH
from hudi_reference.storage import Storage
from hudi_reference.timeline.contents.avro_container import read_record

INSIDE = ".hoodie/metadata/"


def move_actions(storage: Storage, inside: str = "", only: str = "") -> None:
    """Move the completed actions of a table to the folder of version 6, under its names and in its form.

    `only` is the end of the names of the files that are moved.
    """
    folder = f"{inside}.hoodie/timeline/"
    for info in list(storage.list(folder)):
        name = info.path.removeprefix(folder)
        if "/" not in name and "_" in name and name.endswith(only):
            times, _, action = name.partition(".")
            moved = json.dumps(read_record(storage.get(info.path), info.path), default=str).encode()
            storage.put(f"{inside}.hoodie/{times.partition('_')[0]}.{action}", moved)
            storage.delete(info.path)


def test_a_metadata_table_of_version_6_is_found_and_no_action_is_to_be_removed() -> None:
    """COMPAT-009: the finding is the other version. TL-031: names of version 6 are right in a metadata table of that version."""
    storage = t.with_metadata_table()
    move_actions(storage, INSIDE)
    path = f"{INSIDE}{PROPERTIES_PATH}"
    entries = {**java_properties.load(storage.get(path)), "hoodie.table.version": "6", "hoodie.timeline.layout.version": "1"}
    storage.put(path, java_properties.dump(entries, "of version 6"))
    found = [one for one in t.validated(storage, ALL).findings if one.severity != "cosmetic"]
    assert {one.rule for one in found} == {"COMPAT-009"}
    assert t.reopened(storage).snapshot().num_rows == t.reopened(t.with_metadata_table()).snapshot().num_rows


def test_actions_that_a_downgrade_moved_are_kept_by_the_remedy() -> None:
    """COMPAT-006: the rows of the moved actions are missing; the change of the version is to be finished, no file removed."""
    storage = t.copy_on_write()
    move_actions(storage)
    found = [one for one in t.validated(storage, ALL).findings if one.rule == "COMPAT-006"]
    assert {one.severity for one in found} == {"data-lost"}
    assert all("downgrade_table" in one.remedy and "keep the file" in one.remedy for one in found)


def test_a_moved_deletion_without_files_brings_rows_back() -> None:
    """COMPAT-006: a moved deletion of a partition has no data files, and the deleted rows are read without it."""
    storage = t.copy_on_write()
    table = t.reopened(storage)
    table.delete_partitions({group.partition for group in table.view().groups})
    before = {info.path for info in storage.list(".hoodie/timeline/")}
    move_actions(storage, only=".replacecommit")
    assert len(before - {info.path for info in storage.list(".hoodie/timeline/")}) == 1
    found = [one for one in t.validated(storage, ALL).findings if one.rule == "COMPAT-006"]
    assert [one.severity for one in found] == ["data-lost"]
