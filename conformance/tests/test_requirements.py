"""What everybody may rely on in the inventory of the specification."""

import re

import pytest

from hudi_conformance.requirements import requirement as index


def test_the_inventory_holds_the_whole_specification():
    """The specification was cut into 572 rules; a lost file or a lost entry is noticed."""
    assert len(index.requirements()) == 572
    assert len(index.areas()) == 28


def test_ids_are_unique_numbered_in_order_and_in_the_file_of_their_area():
    """A citation leads to one entry: AREA-001, AREA-002, ... in the file of that area."""
    for area in index.areas():
        expected = [f"{area.id}-{n:03}" for n in range(1, len(area.requirements) + 1)]
        assert [r.id for r in area.requirements] == expected


def test_every_file_of_the_folder_belongs_to_an_area():
    """No file of requirements is left out of the index."""
    files = {p.stem for p in index.FOLDER.glob("*.toml")} - {"index", "excluded"}
    assert files == {a.id.lower() for a in index.areas()}


@pytest.mark.parametrize("area", index.areas(), ids=lambda a: a.id)
def test_every_entry_is_complete(area):
    """Each rule says what it is, where it comes from, how it is checked and which fault breaks it."""
    roles = {
        "reader", "writer", "service", "archiver", "indexer", "merger", "time-generator", "lock-provider",
    }  # fmt: skip
    for r in area.requirements:
        assert r.level in ("must", "should", "may"), r.id
        assert set(r.role) <= roles and r.role, r.id
        assert all((r.section, r.text, r.check, r.mutant)), r.id
        assert r.ambiguity is None or r.ambiguity, r.id
        for source in (r.source, *r.also):
            file, _, lines = source.rpartition(":")
            assert file in index.documents() and re.fullmatch(r"\d+(-\d+)?", lines), (r.id, source)


def test_a_requirement_knows_its_area_and_its_place_in_the_text():
    """The source is shown to people by the document's title."""
    found = index.requirement("COMPAT-002")
    assert found.area == "COMPAT"
    assert found.cited.startswith("Apache Hudi Technical Specification")
    assert found.cited.endswith(found.source.rpartition(":")[2])


def test_an_unknown_id_is_named():
    """A wrong citation raises an error that repeats it."""
    with pytest.raises(index.UnknownRequirement, match="MRG-999"):
        index.requirement("MRG-999")
    assert index.unknown(["MRG-001", "MRG-999", "X"]) == ["MRG-999", "X"]


def test_exclusions_name_existing_rules_with_a_reason():
    """A rule is excluded by an entry that exists and says why."""
    assert not index.unknown(index.excluded())
    assert all(len(reason) > 20 for reason in index.excluded().values())
