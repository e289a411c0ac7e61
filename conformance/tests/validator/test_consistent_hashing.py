"""Tables with consistent hashing, whose log files have the instants of their slices in their names (ER-163)."""

import json
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import pytest
import validated_tables_samples as t
from consistent_hashing_samples import RANGES, lose_metadata, named_by_slice, of_ranges, resized, written

from hudi_conformance.validator.all_checks import ALL, CHEAP
from hudi_conformance.validator.checks.finding import Check
from hudi_reference import cluster
from hudi_reference.clock import ManualClock
from hudi_reference.errors import MalformedTable, UnsupportedTableFeature
from hudi_reference.ids import RandomIds
from hudi_reference.storage import Storage
from hudi_reference.write.placement.consistent_buckets import FIRST, FOLDER


def severities(storage: Storage) -> set[tuple[str, str]]:
    """The rules and severities of the findings of the cheap checks."""
    found = t.validated(storage, CHEAP)
    assert not found.broken, found.broken
    return {(one.rule, one.severity) for one in found.findings}


@pytest.mark.parametrize(
    ("ordering", "token", "severity"),
    [
        ((), "9-2-3", {("LF-004", "cosmetic")}),
        ((), "7-2-3", {("LF-004", "cosmetic"), ("LF-004", "wrong-answers")}),
        (("fare",), "7-2-3", {("LF-004", "cosmetic")}),
    ],
)
def test_log_files_named_by_their_slice(ordering: Sequence[str], token: str, severity: set[tuple[str, str]]) -> None:
    """LF-004: deployed writers name files so. Answers are wrong only in commit-time order, if the later write is merged first."""
    storage = written(ordering)
    assert severities(storage) == set()
    named_by_slice(storage, token)
    assert severities(storage) == severity


def test_version_6_named_log_files_so() -> None:
    """LF-004: in a table that was upgraded from version 6 such names are no fault; the order of the files still is one."""
    storage = written(())
    t.change_properties(storage, {"hoodie.table.initial.version": "6"})
    named_by_slice(storage, "9-2-3")
    assert severities(storage) == set()


def test_other_tables_have_no_such_names() -> None:
    """BF-009: without consistent hashing, a log file of another instant is that of another action."""
    table = t._new("MERGE_ON_READ")
    for fare in range(3):
        table.upsert(t.rows(1, fare=fare))
    named_by_slice(table.storage, "9-2-3")
    assert ("BF-009", "wrong-answers") in severities(table.storage)


@pytest.mark.parametrize("partition", ["south", ""])
def test_resized_ranges_are_found(partition: str) -> None:
    """LAY-021: the hashing metadata is in the folder of the partition; without partitions it is in no folder below."""
    assert severities(resized(partition)) == set()


def _opened(storage: Storage, buckets: str) -> Any:
    options = {**RANGES, "hoodie.bucket.index.num.buckets": buckets}
    return t.open_table("memory:///sample", storage=storage, clock=ManualClock(t.LATER), ids=RandomIds(), options=options)


def test_lost_ranges_of_a_partition_that_was_never_resized() -> None:
    """LAY-021: a writer with the same number of buckets makes the same ranges; with another number it is refused."""
    storage = written(())
    assert severities(storage) == set()
    lose_metadata(storage)
    (found,) = t.validated(storage, CHEAP).findings
    assert (found.rule, found.severity, found.path) == ("LAY-021", "cosmetic", f"{FOLDER}/south")
    with pytest.raises(MalformedTable, match="no hashing metadata"):
        _opened(storage, "3").upsert(t.rows(1, fare=9))
    _opened(storage, "1").upsert(t.rows(1, fare=9))
    assert _opened(storage, "1").snapshot().column("fare").to_pylist() == [9]
    assert severities(storage) == set()


@pytest.mark.parametrize("folder", ["", "south"])
def test_lost_ranges_of_a_partition_that_was_resized(folder: str) -> None:
    """LAY-021: the first ranges are not those of file groups with random ids. An upsert would store keys again."""
    storage = resized()
    assert severities(storage) == set()
    lose_metadata(storage, folder)
    expected = {("wrong-answers", f"{FOLDER}/south")} | ({("cosmetic", f"{FOLDER}/north")} if not folder else set())
    found = t.validated(storage, CHEAP).findings
    assert {(one.severity, one.path) for one in found if one.rule == "LAY-021"} == expected
    with pytest.raises(MalformedTable, match="no hashing metadata"):
        _opened(storage, "1").upsert(t.rows(1, fare=9))


def test_lost_ranges_after_a_clustering_replaced_the_first_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """LAY-021: no file group of a first range is read any more; that which the clustering replaced shows the index, also if its
    range is still the only one, as in a folder from before the clustering.
    """
    storage = written(())
    for module in ("plan", "clustering"):
        monkeypatch.setattr(f"hudi_reference.services.clustering.{module}.check_not_bucketed", lambda *_: None)
    assert cluster(_opened(storage, "1"), {"hoodie.clustering.inline.max.commits": "1"})
    assert severities(storage) == {("LAY-021", "wrong-answers")}
    lose_metadata(storage)
    assert severities(storage) == {("LAY-021", "wrong-answers")}
    for options in ({}, RANGES):
        with pytest.raises((MalformedTable, UnsupportedTableFeature), match=r"no hashing metadata|bucket index"):
            t.open_table("memory:///sample", storage=storage, options=options).upsert(t.rows(1, fare=9))


def test_lost_key_fields_of_a_table_of_log_files() -> None:
    """PROP-007: the keys in log files show the loss, where no base file does."""
    storage = written(())
    t.change_properties(storage, {"hoodie.table.recordkey.fields": None})
    found = t.validated(storage, ALL).findings
    assert ("PROP-007", "wrong-answers") in {(one.rule, one.severity) for one in found}


def _store_ranges(storage: Storage, instant: str, change: Callable[[Any], object] = lambda content: None) -> str:
    """Hashing metadata of an instant, with this change of the first one."""
    content = json.loads(storage.get(f"{FOLDER}/south/{FIRST}.hashing_meta")) | {"instant": instant}
    change(content)
    path = f"{FOLDER}/south/{instant}.hashing_meta"
    storage.put(path, json.dumps(content).encode())
    return path


@pytest.mark.parametrize("checks", [CHEAP, ALL])
def test_ranges_of_a_pending_clustering_are_not_used(checks: tuple[Check, ...]) -> None:
    """LAY-021: rows are in the ranges before a clustering that has not completed. Ranges of no known action are a fault: writers
    refuse the partition.
    """
    storage, instant = written(()), "20990101000000000"
    path = _store_ranges(storage, instant, lambda content: content["nodes"][0].update(fileIdPrefix=str(UUID(int=7, version=4))))
    (found,) = [one for one in t.validated(storage, checks).findings if one.rule == "LAY-021"]
    assert (found.severity, found.path) == ("wrong-answers", path)
    assert found.remedy.startswith("delete the file if")
    storage.put(f".hoodie/timeline/{instant}.clustering.inflight", b"")
    assert "LAY-021" not in {one.rule for one in t.validated(storage, checks).findings}


@pytest.mark.parametrize("change", [{"numBuckets": 4}, {"instant": "20260101000000000"}])
def test_members_of_ranges_that_contradict_the_file(change: dict[str, Any]) -> None:
    """LAY-021: a file of hashing metadata has the number of its ranges and the instant of its name. Writers follow neither."""
    storage = written(())
    path = _store_ranges(storage, FIRST, lambda content: content.update(change))
    (found,) = t.validated(storage, ALL).findings
    assert (found.rule, found.severity, found.path, found.key) == ("LAY-021", "cosmetic", path, *change)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"null", b"{}", b'{"nodes": 3}'])
def test_ranges_before_those_that_count_cannot_be_read(text: bytes) -> None:
    """LAY-021: writers read the metadata of the last completed action alone."""
    storage = written(())
    instant = t.completed(storage, "deltacommit").rpartition("/")[2].partition("_")[0]
    _store_ranges(storage, instant)
    path = f"{FOLDER}/south/{FIRST}.hashing_meta"
    assert t.validated(storage, ALL).findings == ()
    storage.put(path, text)
    assert [(one.rule, one.severity, one.path) for one in t.validated(storage, ALL).findings] == [("LAY-021", "cosmetic", path)]


@pytest.mark.parametrize("checks", [CHEAP, ALL])
def test_a_range_that_is_being_replaced(checks: tuple[Check, ...]) -> None:
    """LAY-021: writers refuse a partition with a range that is marked as one that a split replaces."""
    storage = written(())
    path = _store_ranges(storage, FIRST, lambda content: content["nodes"][0].update(tag="REPLACE"))
    assert [(one.severity, one.path) for one in t.validated(storage, checks).findings] == [("wrong-answers", path)]


def _exchange_ranges(storage: Storage) -> None:
    """Two file groups have each other's range."""
    path = f"{FOLDER}/north/{FIRST}.hashing_meta"
    content = json.loads(storage.get(path))
    first, second, *_ = content["nodes"]
    first["fileIdPrefix"], second["fileIdPrefix"] = second["fileIdPrefix"], first["fileIdPrefix"]
    storage.put(path, json.dumps(content).encode())


def test_keys_outside_of_their_ranges() -> None:
    """LAY-021: each of the two file groups has keys of the other; without ranges it is not known where keys belong."""
    storage = of_ranges()
    assert severities(storage) == set()
    groups = {path.rpartition("/")[2].strip(".").partition("_")[0] for path in t.log_files(storage)}
    assert len(groups) == 4
    _exchange_ranges(storage)
    found = [one for one in t.validated(storage, ALL).findings if one.rule == "LAY-021"]
    assert len(found) == 2
    assert {one.severity for one in found} == {"wrong-answers"}
    lose_metadata(storage)
    assert "An upsert looks for these keys" not in " ".join(one.meaning for one in t.validated(storage, ALL).findings)
