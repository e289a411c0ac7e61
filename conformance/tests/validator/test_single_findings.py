"""One fault is one finding, however many checks meet it."""

import gzip
from collections.abc import Callable

import clause_places_samples as c
import deep_damage_samples as d
import pytest
import validated_tables_samples as t

from hudi_conformance.validator.all_checks import ALL, CHEAP
from hudi_conformance.validator.validation import validate
from hudi_reference.layout.names import split_path
from hudi_reference.layout.properties import PROPERTIES_PATH
from hudi_reference.storage import Storage


def test_an_unknown_merge_mode_is_one_finding() -> None:
    """MRG-016: no check says that the mode is missing, or that a reader stopped there."""
    storage = t.merge_on_read()
    t.change_properties(storage, {"hoodie.record.merge.mode": "LATEST"})
    (found,) = t.validated(storage, ALL).findings
    assert (found.rule, found.path, found.found) == ("MRG-016", PROPERTIES_PATH, "'LATEST'")


def test_where_a_reader_stops_is_left_out_if_the_fault_is_known() -> None:
    """MRG-021: mode and payload class contradict each other, so that no check can merge log files."""
    storage = t.merge_on_read()
    t.change_properties(storage, {"hoodie.compaction.payload.class": "org.apache.hudi.common.model.EventTimeAvroPayload"})
    (found,) = t.validated(storage, ALL).findings
    assert (found.rule, found.path) == ("MRG-021", PROPERTIES_PATH)


@pytest.mark.parametrize("damage", [gzip.compress, lambda content: content[:-20]])
def test_a_base_file_without_a_footer_is_one_finding_of_its_format(damage: Callable[[bytes], bytes]) -> None:
    """BF-002: the deep checks do not repeat that the slice cannot be read. Its size is another finding."""
    storage = t.copy_on_write()
    path = t.base_files(storage)[-1]
    storage.put(path, damage(storage.get(path)))
    found = t.validated(storage, ALL).findings
    assert sorted((one.rule, one.severity, one.path) for one in found) == [
        ("BF-002", "data-lost", path), ("TL-005", "data-lost", path),
    ]  # fmt: skip


@pytest.mark.parametrize("make", [t.copy_on_write, t.merge_on_read, t.with_metadata_table])
def test_a_renamed_folder_is_found_by_its_files(make: Callable[[], Storage]) -> None:
    """TL-036: each file is missing in the folder that its write names. That its rows belong to another folder than the new one,
    and that the metadata table has no entries for it, follows.
    """
    storage = make()
    for path in t.paths(storage, "south/"):
        t.move(storage, path, path.replace("south/", "west/"))
    found = t.validated(storage, ALL).findings
    lost = [one for one in found if one.rule == "TL-036"]
    assert lost and all(f"move {one.path.replace('south', 'west')}" in one.remedy for one in lost)
    assert {one.rule for one in found} <= {"TL-036", "BF-007", "LAY-020"}


def test_lost_definitions_say_nothing_about_the_entries_of_an_index() -> None:
    """LAY-016: the version of a secondary index, which chooses the file groups of its keys, is in its definition."""
    storage = d.indexed_of_version_9()
    (path,) = t.paths(storage, ".index_defs/")
    storage.delete(path)
    found = validate(c.stored(storage), ALL).findings
    assert "LAY-016" in {one.rule for one in found}
    assert "IDX-024" not in {one.rule for one in found}


def test_a_clustering_whose_plan_is_lost_is_compared_by_its_groups() -> None:
    """TL-048: the requested file alone is missing; the rows before and after are those of the replaced and the new groups."""
    storage = d.clustered()
    (path,) = t.paths(storage, ".clustering.requested")
    storage.delete(path)
    found = d.examined(storage, ALL)
    assert {one.rule for one in found.findings} == {"TL-048"}
    assert found.checked["TL-011"]


def test_a_deltacommit_among_commits_is_the_wrong_one() -> None:
    """TL-038: the type of the table is right if its other writes are commits, and it has no log files."""
    storage = t.changed("COPY_ON_WRITE")
    for path in t.paths(storage, f"{t.TIMELINE}/{split_path(t.completed(storage, 'commit'))[1].partition('_')[0]}"):
        t.move(storage, path, path.replace(".commit", ".deltacommit").replace(".inflight", ".deltacommit.inflight"))
    found = [one for one in t.validated(storage, CHEAP).findings if one.rule == "TL-038"]
    assert {one.severity for one in found} == {"wrong-answers"}
    assert all(one.remedy.startswith("restore the file") for one in found)


def _of_one_write() -> Storage:
    """A merge-on-read table without log files."""
    table = t._new("MERGE_ON_READ")
    table.upsert(t.rows(1, 2))
    return table.storage  # type: ignore[no-any-return]


@pytest.mark.parametrize("make", [t.merge_on_read, t.compacted, _of_one_write])
def test_a_merge_on_read_table_with_another_type(make: Callable[[], Storage]) -> None:
    """TL-038: the type of the table is the wrong one if there are log files, or only deltacommits; compactions are commits, too."""
    storage = make()
    t.change_properties(storage, {"hoodie.table.type": "COPY_ON_WRITE"})
    found = [one for one in t.validated(storage, CHEAP).findings if one.rule == "TL-038"]
    assert found
    assert all("set hoodie.table.type=MERGE_ON_READ" in one.remedy for one in found)


def test_a_wrong_checksum_of_the_metadata_table_is_one_finding() -> None:
    """PROP-011: the properties of the metadata table are named with their path, and no data file is said to be unreadable."""
    storage, path = d.indexed(), ".hoodie/metadata/.hoodie/hoodie.properties"
    text = storage.get(path)
    assert b"hoodie.table.checksum=" in text
    storage.put(path, text.replace(b"hoodie.table.checksum=", b"hoodie.table.checksum=1"))
    (found,) = t.validated(storage, ALL).findings
    assert (found.rule, found.severity, found.path) == ("PROP-011", "wrong-answers", path)
