"""One fault is one finding, however many checks meet it."""

import clause_places_samples as c
import deep_damage_samples as d
import validated_tables_samples as t

from hudi_conformance.validator.all_checks import ALL
from hudi_conformance.validator.validation import validate
from hudi_reference.layout.properties import PROPERTIES_PATH


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
