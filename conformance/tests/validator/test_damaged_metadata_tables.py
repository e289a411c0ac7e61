"""Damages of a metadata table: what is said of the data is true, and the remedy builds the metadata table again."""

from collections.abc import Callable
from dataclasses import replace

import deep_damage_samples as d
import pytest
import validated_tables_samples as t

from hudi_conformance.validator.all_checks import ALL
from hudi_conformance.validator.checks.finding import Finding, Tally
from hudi_conformance.validator.stored.table import load_table
from hudi_conformance.validator.validation import missing_file, result_of
from hudi_reference.layout.names import parse_data_file_name, split_path
from hudi_reference.storage import Storage

METADATA = ".hoodie/metadata/"


def _lose_properties(storage: Storage) -> None:
    storage.delete(f"{METADATA}.hoodie/hoodie.properties")


def _lose_index_log(storage: Storage) -> None:
    storage.delete(t.paths(storage, f"{METADATA}record_index/", ".log.")[-1])


def _lose_listing(storage: Storage) -> None:
    storage.delete(t.paths(storage, f"{METADATA}files/", ".log.")[-1])


def _cut_action(storage: Storage) -> None:
    found = t.paths(storage, f"{METADATA}.hoodie/timeline/", ".deltacommit")
    t.cut(storage, [path for path in found if path.endswith(".deltacommit")][-1], 40)


def _damage_trailer(storage: Storage) -> None:
    t.flip(storage, t.paths(storage, f"{METADATA}column_stats/", ".log.")[-1], -1)


DAMAGES: tuple[Callable[[Storage], None], ...] = (
    _lose_properties, _lose_index_log, _lose_listing, _cut_action, _damage_trailer,
)  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_nothing_is_lost_with_a_metadata_table(damage: Callable[[Storage], None]) -> None:
    """Findings below the metadata table are of wrong answers at most, and none names a command that changes the data."""
    storage = d.indexed_merge_on_read()
    damage(storage)
    found = t.validated(storage, ALL).findings
    inside = [one for one in found if one.path.startswith(METADATA)]
    assert any(one.severity == "wrong-answers" for one in inside)
    assert not [one for one in found if one.severity == "data-lost"]
    commands = [one.remedy for one in inside if "hudi-conformance" in one.remedy]
    assert all("drop-index --index" in one for one in commands), commands


def test_a_metadata_table_without_properties_has_one_finding() -> None:
    """The properties are gone: what every metadata table has stands for them, so that nothing else looks wrong."""
    storage = d.indexed_merge_on_read()
    assert t.validated(storage, ALL).findings == ()
    _lose_properties(storage)
    assert [(one.rule, one.path) for one in t.validated(storage, ALL).findings] == [
        ("LAY-013", f"{METADATA}.hoodie/hoodie.properties")
    ]


def test_a_file_that_was_missing_was_not_deleted_meanwhile() -> None:
    """A file that the listing lacks is a finding of the table, not one of a service that runs during the validation."""
    storage = d.indexed_merge_on_read()
    _lose_index_log(storage)
    found = t.validated(storage, ALL).findings
    assert "RDR-002" not in t.rules_of(found)
    assert [one for one in found if one.rule == "TL-036"]


@pytest.mark.parametrize("lose", [_lose_index_log, _lose_listing])
def test_a_lost_file_is_one_finding(lose: Callable[[Storage], None]) -> None:
    """TL-036: several checks read the file; the finding names the action that stored it."""
    storage = d.indexed_merge_on_read()
    lose(storage)
    (found,) = (one for one in t.validated(storage, ALL).findings if one.rule == "TL-036")
    assert found.expected.startswith("the file, as .hoodie/") and found.key


def test_the_finding_of_a_lost_file_group_names_its_index() -> None:
    """IDX-010: the reader that numbers the file groups knows the folder of the metadata table alone."""
    table = load_table("memory:///sample", storage=t.with_metadata_table())
    of_reader = Finding("IDX-010", "wrong-answers", ".hoodie/metadata", "", "a group", "an index", "")
    of_index = replace(of_reader, path=".hoodie/metadata/record_index")
    other = replace(of_reader, found="another index")
    assert result_of(table, [of_reader, of_index, other], Tally()).findings == (other, of_index)


def test_a_lost_file_that_no_action_names_is_a_finding() -> None:
    """TL-036: the actions of the metadata table are lost too, so that only the reader knows of the file."""
    table = load_table("memory:///sample", storage=t.with_metadata_table())
    lost = missing_file(table, "files/lost.hfile")
    kept = result_of(table, [lost, replace(lost, path="files/other.hfile", key="other.hfile")], Tally()).findings
    assert lost in kept


def test_an_older_file_of_a_partition_that_was_made_again_is_no_damage(monkeypatch: pytest.MonkeyPatch):
    """ER-210: a deployed writer drops a partition and makes it again under the same time; actions from before name its files."""
    table = load_table("memory:///sample", storage=t.with_metadata_table())
    lost = ("files/lost.hfile", "north/lost.parquet")
    assert [missing_file(table, path).severity for path in lost] == ["wrong-answers"] * 2
    metadata = table.metadata_table
    assert metadata is not None
    names = [split_path(path) for path in metadata.listing.files if path.startswith("files/")]
    times = {name.instant for _, file in names if (name := parse_data_file_name(file)) is not None}
    monkeypatch.setitem(metadata.__dict__, "repeated_initializations", frozenset(times))
    assert [missing_file(table, path).severity for path in lost] == ["cosmetic", "wrong-answers"]


@pytest.mark.parametrize("index", ["files", "column_stats", "record_index"])
@pytest.mark.parametrize("edit", ["lost", "emptied", "junk"])
def test_findings_name_files_by_their_paths_below_the_base_path(index: str, edit: str) -> None:
    """Whichever check reads the damaged file of the metadata table, no finding has a path relative to the metadata table."""
    storage = d.indexed_merge_on_read()
    for info in storage.list(f".hoodie/metadata/{index}/"):
        if edit == "lost":
            storage.delete(info.path)
        elif "partition_metadata" not in info.path:
            storage.put(info.path, b"" if edit == "emptied" else b"#HUDI#" + b"\7" * 90)
    findings = d.examined(storage, ALL).findings
    assert findings
    assert not [one for one in findings if one.path.startswith(f"{index}/")]
