"""Base files of completed writes that the metadata of their write does not name."""

from typing import Any

import deep_damage_samples as d
import pytest
import validated_tables_samples as t

from hudi_conformance.validator.all_checks import ALL
from hudi_reference import cluster
from hudi_reference.layout.names import split_path
from hudi_reference.storage import Storage


def test_a_result_that_the_metadata_of_a_clustering_lacks_is_lost() -> None:
    """TL-007: a clustering copies rows of earlier writes. Without a file that it stored, they are lost."""
    storage = t.clustered()
    lost: list[str] = []

    def change(record: dict[str, dict[str, list[dict[str, str]]]]) -> None:
        lost.append(record["partitionToWriteStats"]["north"].pop()["path"])

    t.change_record(storage, t.completed(storage, "replacecommit"), change)
    found = {(one.rule, one.severity) for one in t.validated(storage, ALL).findings if one.path == lost[0]}
    assert ("TL-007", "data-lost") in found


def test_the_file_of_a_failed_attempt_of_a_clustering_takes_space_only() -> None:
    """TL-007: another attempt stored the same rows in the file that the metadata names."""
    storage = t.copy_on_write()
    assert cluster(t.reopened(storage), {"hoodie.clustering.inline.max.commits": "1"})
    time = split_path(t.completed(storage, "replacecommit"))[1][:17]
    (path,) = (one for one in t.base_files(storage) if time in one and one.startswith("north/"))
    storage.put(path.replace("-0_", "-0_9", 1), storage.get(path))
    assert {(one.rule, one.severity) for one in t.validated(storage, ALL).findings} == {("BF-007", "lost-space")}


def _move(storage: Storage, path: str) -> str:
    target = path.replace("north/", "south/", 1)
    t.move(storage, path, target)
    return target


def test_a_file_in_the_folder_of_another_partition_is_to_be_moved_back() -> None:
    """TL-036 and BF-007: the file that its write names is missing, and one of its name is in another folder."""
    storage = t.copy_on_write()
    path = [one for one in t.base_files(storage) if one.startswith("north/")][-1]
    target = _move(storage, path)
    found = {(one.rule, one.path): one.remedy for one in t.validated(storage, ALL).findings}
    assert found.keys() == {("TL-036", path), ("BF-007", target)}
    assert found["TL-036", path].startswith(f"move {target}, if it is the file, to {path}")
    assert found["BF-007", target].startswith("move the file")


def test_a_copy_of_a_partition_takes_space_only() -> None:
    """BF-007: rows of another partition in a file that no metadata names are in the files of that partition."""
    storage = t.copy_on_write()
    for path in t.paths(storage, "north/"):
        if not path.startswith("."):
            storage.put(path.replace("north/", "copy/", 1), storage.get(path))
    assert {(one.rule, one.severity) for one in t.validated(storage, ALL).findings} == {("BF-007", "lost-space")}


def test_captured_changes_that_the_metadata_lacks_are_missing_in_change_queries() -> None:
    """TYP-012: the metadata of the last write names the files of changes for one of its two file groups alone."""
    storage = t.changed("COPY_ON_WRITE", **{"hoodie.table.cdc.enabled": "true"})
    lost: list[str] = []

    def change(record: Any) -> None:
        stat = t.stats_of(record)[0]
        lost.extend(stat["cdcStats"])
        stat["cdcStats"] = None

    t.change_record(storage, t.completed(storage, "commit"), change)
    assert {(one.rule, one.severity, one.path) for one in t.validated(storage, ALL).findings} == {
        ("TYP-012", "wrong-answers", path) for path in lost
    }


def test_captured_changes_of_a_failed_attempt_take_space_only() -> None:
    """LF-007: the metadata of the write names the changes that another attempt captured."""
    storage = t.changed("COPY_ON_WRITE", **{"hoodie.table.cdc.enabled": "true"})
    path = t.paths(storage, ".cdc")[-1]
    storage.put(path.replace("_1-0-0.cdc", "_1-0-9.cdc"), storage.get(path))
    assert {(one.rule, one.severity) for one in t.validated(storage, ALL).findings} == {("LF-007", "lost-space")}


def _copied(path: str) -> str:
    return path.replace("-0_", "-0_9", 1)


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ((6,), ["no row of 'k90' in them"]),
        ((6, 7), ["no row of 'k90' and 1 more keys in them"]),
        ((3,), []),
    ],
)
def test_a_row_that_no_named_file_of_the_write_has_is_lost(rows: tuple[int, ...], found: list[str]) -> None:
    """TL-007: a write stored rows in two files, one of which its metadata does not name; rows of earlier writes are copies.

    The updated rows are the last two of the file.
    """
    storage = d.copy_on_write()
    named = d.base_files(storage)[-1]
    storage.put(_copied(named), storage.get(named))
    for number, row in enumerate(rows):
        for column in ("id", "_hoodie_record_key"):
            d.rewrite(storage, _copied(named), d.with_value(column, row, f"k9{number}"))
    findings = [one for one in d.found_in(storage) if one.rule == "TL-007"]
    assert [one.found for one in findings] == found
    assert {(one.severity, one.path) for one in findings} <= {("data-lost", _copied(named))}


def test_without_a_named_file_it_is_not_known_which_rows_are_lost() -> None:
    """TL-007: the named file is lost, which other checks report; it may have had the rows of the unnamed one."""
    storage = d.copy_on_write()
    named = d.base_files(storage)[-1]
    storage.put(_copied(named), storage.get(named))
    storage.delete(named)
    rules = {one.rule for one in t.validated(storage, ALL).findings}
    assert "TL-036" in rules
    assert "TL-007" not in rules


@pytest.mark.parametrize(("key", "found"), [("k00", []), ("k90", ["no row of 'k90' in them"])])
def test_rows_that_the_write_stored_in_a_log_file_are_not_lost(key: str, found: list[str]) -> None:
    """TL-007: the write stored the row in a log file that its metadata names, too."""
    storage = d.merge_on_read()
    (base,), log = d.base_files(storage), d.log_files(storage)[0]
    times = [split_path(path)[1].rpartition("_")[2][:17] for path in (base, log.rpartition("_")[0])]
    path = base.replace(*times)
    storage.put(path, storage.get(base))
    for column, value in (("_hoodie_commit_time", times[1]), ("_hoodie_record_key", key), ("id", key)):
        d.rewrite(storage, path, d.with_value(column, 0, value))
    assert [one.found for one in d.found_in(storage) if one.rule == "TL-007"] == found


def test_without_meta_columns_rows_of_other_writes_are_not_told_apart() -> None:
    """TL-007: the unnamed file may have copies of rows that the write did not store."""
    storage = d.without_meta_columns()
    named = d.base_files(storage)[-1]
    storage.put(_copied(named), storage.get(named))
    d.rewrite(storage, _copied(named), d.with_value("id", 3, "k90"))
    assert d.found_in(storage) == []
