"""The inventory of the specification: complete, well formed, and with a link for each rule."""

import pytest

from hudi_conformance.requirements import requirement as index


def test_number_of_rules():
    """The inventory has 615 rules, so that a missing file or entry is found."""
    assert len(index.requirements()) == 615
    assert len(index.areas()) == 28


def test_ids_are_unique_numbered_in_order_and_in_the_file_of_their_area():
    """An id identifies one entry: AREA-001, AREA-002, ... in the file of that area."""
    for area in index.areas():
        expected = [f"{area.id}-{n:03}" for n in range(1, len(area.requirements) + 1)]
        assert [r.id for r in area.requirements] == expected


def test_every_file_of_the_folder_belongs_to_an_area():
    """No file of requirements is left out of the index."""
    files = {p.stem for p in index.FOLDER.glob("*.toml")} - {"index", "excluded"}
    assert files == {a.id.lower() for a in index.areas()}


@pytest.mark.parametrize("area", index.areas(), ids=lambda a: a.id)
def test_every_entry_is_complete(area):
    """Each rule has its text, its quotation, a source, a check, and a fault that breaks it."""
    roles = {
        "reader", "writer", "service", "archiver", "indexer", "merger", "time-generator", "lock-provider",
    }  # fmt: skip
    for r in area.requirements:
        assert r.level in ("must", "should", "may"), r.id
        assert set(r.role) <= roles and r.role, r.id
        assert all((r.section, r.text, r.quote, r.check, r.mutant)), r.id
        assert len(r.quote) <= 300, r.id
        assert r.ambiguity is None or r.ambiguity, r.id
        for source in (r.source, *r.also):
            document, _, anchor = source.partition("#")
            assert document in index.documents(), (r.id, source)
            assert not anchor or index.documents()[document].heading(anchor), (r.id, source)


def test_every_document_has_an_address_and_distinct_anchors():
    """A link leads to one heading of a published page."""
    for document in index.documents().values():
        assert document.url.startswith("https://") and "#" not in document.url
        anchors = [index.anchor_of(heading) for heading in document.headings]
        assert len(set(anchors)) == len(anchors), document.id


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("Command Block (Id: 1)", "command-block-id-1"),
        ("Table Service/Writer Concurrency", "table-servicewriter-concurrency"),
        ("COMMIT_TIME_ORDERING", "commit_time_ordering"),
        ("version 6 & earlier", "version-6--earlier"),
    ],
)
def test_anchors_follow_the_rule_of_the_published_pages(heading, anchor):
    """Lower case, no punctuation except hyphen and underscore, a hyphen for each blank."""
    assert index.anchor_of(heading) == anchor


def test_a_requirement_knows_its_area_its_document_and_its_link():
    """A rule leads to its section of the published specification."""
    found = index.requirement("COMPAT-002")
    assert found.area == "COMPAT"
    assert found.cited == "Apache Hudi Technical Specification, table version 8 (December 2024): Compatibility"
    assert found.document.heading("compatibility") == "Compatibility"
    assert found.url == f"{found.document.url}#compatibility"
    assert index.requirement("CLU-011").url == index.documents()["rfc-19"].url


def test_unknown_id_is_an_error():
    """The error repeats the id."""
    with pytest.raises(index.UnknownRequirement, match="MRG-999"):
        index.requirement("MRG-999")
    assert index.unknown(["MRG-001", "MRG-999", "X"]) == ["MRG-999", "X"]


def test_exclusions_name_existing_rules_with_a_reason():
    """A rule is excluded by an entry that exists and says why."""
    assert not index.unknown(index.excluded())
    assert all(len(reason) > 20 for reason in index.excluded().values())
