"""What is not concluded if the actions of a table, or a part of its history, were lost: whether a file has an owner."""

import json

import validated_tables_samples as t

from hudi_conformance.validator.all_checks import CHEAP
from hudi_reference import archive, clean
from hudi_reference.layout.names import split_path
from hudi_reference.storage import Storage

METADATA_TABLE = {"hoodie.metadata.enable": "true"}


def found_in(storage: Storage) -> set[tuple[str, str]]:
    """Rules and severities of the findings of the cheap checks."""
    return {(one.rule, one.severity) for one in t.validated(storage, CHEAP).findings}


def archived() -> Storage:
    """A table with a metadata table, whose first writes are archived; they stored the present file of a partition."""
    storage = t.copy_on_write(**METADATA_TABLE)
    for fare in range(3, 9):
        t.reopened(storage).upsert(t.rows(2, 4, fare=fare))
    clean(t.reopened(storage), t.CLEANING)
    assert archive(t.reopened(storage), {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"}).instants
    return storage


def test_a_lost_timeline_is_the_only_finding() -> None:
    """LAY-017: without any action, neither the files nor their entries in the metadata table are said to be left over."""
    storage = t.with_metadata_table()
    for path in t.paths(storage, f"{t.TIMELINE}/"):
        if path.startswith(t.TIMELINE):
            storage.delete(path)
    assert found_in(storage) == {("LAY-017", "data-lost")}


def test_a_lost_active_timeline_beside_a_history_is_the_only_finding() -> None:
    """LAY-017: the files of the archived writes are known, and those of the lost ones are not said to be left over."""
    storage = archived()
    for path in t.paths(storage, f"{t.TIMELINE}/"):
        if path.startswith(t.TIMELINE) and not path.startswith(f"{t.TIMELINE}/history"):
            storage.delete(path)
    assert found_in(storage) == {("LAY-017", "data-lost")}


def test_a_lost_manifest_says_nothing_about_files() -> None:
    """LSM-009: the writes of a history that cannot be read are not known, so that their files may have owners."""
    storage = archived()
    assert found_in(storage) == set()
    path, _ = t.manifest_of(storage)
    storage.delete(path)
    assert found_in(storage) == {("LSM-009", "wrong-answers")}


def test_a_manifest_without_a_file_is_the_only_finding() -> None:
    """LSM-010: the actions of the file that it lacks are known, although readers do not find them."""
    storage = archived()
    path, content = t.manifest_of(storage)
    storage.put(path, json.dumps({**content, "files": []}).encode())
    assert found_in(storage) == {("LSM-010", "wrong-answers")}


def test_an_entry_of_a_file_that_a_clean_wrongly_names_is_right() -> None:
    """CLN-001: the file is in the latest state and on storage, so that it belongs into the metadata table, too."""
    storage = t.copy_on_write(**METADATA_TABLE)
    assert clean(t.reopened(storage), t.CLEANING)
    latest = t.base_files(storage)[-1]
    partition, name = split_path(latest)

    def change(record: dict[str, dict[str, dict[str, list[str]]]]) -> None:
        for key in ("deletePathPatterns", "successDeleteFiles"):
            record["partitionMetadata"][partition][key].append(name)

    t.change_record(storage, t.completed(storage, "clean"), change)
    assert ("CLN-001", "wrong-answers") in found_in(storage)
    assert not [one for one in t.validated(storage, CHEAP).findings if one.rule == "MDT-008"]
