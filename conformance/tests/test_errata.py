"""What everybody may rely on in the errata."""

from hudi_conformance.cases import case
from hudi_conformance.requirements import errata
from hudi_conformance.requirements import requirement as index


def test_ids_are_unique_and_in_order():
    """An erratum is cited by its id: ER-001, ER-002, ... without gaps."""
    assert [e.id for e in errata.errata()] == [f"ER-{n:03}" for n in range(1, len(errata.errata()) + 1)]


def test_every_erratum_cites_rules_that_exist():
    """The way from a rule to its erratum and back has no dead end."""
    for erratum in errata.errata():
        assert erratum.requirements, erratum.id
        assert not index.unknown(erratum.requirements), erratum.id


def test_every_erratum_says_both_sides_the_evidence_and_what_the_reference_does():
    """No erratum is a claim without ground."""
    for erratum in errata.errata():
        assert all((erratum.text, erratum.deployed, erratum.reference, *erratum.evidence)), erratum.id
        assert erratum.evidence, erratum.id


def test_fixtures_named_as_evidence_exist():
    """Evidence that is a golden case can be looked at."""
    root = case.fixtures_root()
    missing = {f"{e.id}: {name}" for e in errata.errata() for name in e.fixtures if not (root / name / "case.json").is_file()}
    assert not missing


def test_a_rule_leads_to_its_errata():
    """The erratum about the ordering property is found from each of its rules."""
    assert "hoodie.table.ordering.fields" in " ".join(e.text for e in errata.about("PROP-009"))
    assert errata.about("MRG-019") == errata.about("PROP-009")
    assert errata.about("LAY-001") == ()


def test_fixture_names_are_found_in_evidence():
    """Folder and remark are told apart."""
    entry = errata.Erratum("ER-1", (), "", "", ("fixtures/merge/late-record (apache-hudi 1.0.2)", "read in the code"), "")
    assert entry.fixtures == ("merge/late-record",)
