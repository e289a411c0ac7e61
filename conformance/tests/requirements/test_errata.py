"""The errata: complete, with evidence, and marked in the code of the reference."""

from hudi_conformance.cases import case
from hudi_conformance.report.evidence.evidence import find_deviations, gather_evidence
from hudi_conformance.requirements import errata
from hudi_conformance.requirements import requirement as index
from hudi_conformance.runner import expected_failures


def test_ids_are_unique_and_in_order():
    """An erratum is cited by its id: ER-001, ER-002, ... without gaps."""
    assert [e.id for e in errata.errata()] == [f"ER-{n:03}" for n in range(1, len(errata.errata()) + 1)]


def test_every_erratum_cites_rules_that_exist():
    """Each erratum cites rules of the inventory."""
    for erratum in errata.errata():
        assert erratum.requirements, erratum.id
        assert not index.unknown(erratum.requirements), erratum.id


def test_every_erratum_has_both_sides_evidence_and_the_behaviour_of_the_reference():
    """Each erratum has both descriptions, evidence, and the behaviour of the reference."""
    for erratum in errata.errata():
        assert all((erratum.text, erratum.deployed, erratum.reference, *erratum.evidence)), erratum.id
        assert erratum.evidence, erratum.id


def test_fixtures_named_as_evidence_exist():
    """Evidence that names a golden case names an existing one."""
    root = case.fixtures_root()
    missing = {f"{e.id}: {name}" for e in errata.errata() for name in e.fixtures if not (root / name / "case.json").is_file()}
    assert not missing


def test_every_erratum_is_shown_by_a_run_of_the_suite_or_has_a_reason():
    """A recorded case shows the difference: named as evidence, citing the erratum, or a known failure; else `by_hand` says why."""
    cases = gather_evidence().cases
    known = {case.id for case in cases} | {case.id.split("::")[0] for case in cases if "::" in case.id}
    cited = {id_ for case in cases for id_ in case.errata}
    lists = [expected_failures.load_list(path.stem, path) for path in expected_failures.lists_folder().glob("*.toml")]
    listed = {entry.erratum for known_failures in lists for entry in known_failures.entries.values()}
    command = "hudi-conformance object-store"
    for erratum in errata.errata():
        is_shown = bool(
            erratum.fixtures
            or known.intersection(erratum.python_cases)
            or any(word.strip(",;:()") in known for line in erratum.evidence for word in line.split())
            or any(command in line for line in erratum.evidence)
            or erratum.id in cited | listed
        )
        assert is_shown is (erratum.by_hand is None), f"{erratum.id}: name the case, or say in `by_hand` why there is none"
        assert erratum.by_hand is None or len(erratum.by_hand) > 20, erratum.id


def test_every_erratum_is_named_in_the_reference_or_has_a_reason():
    """A line that follows the deployed format against the text names its erratum: `# ER-021: …`."""
    known = {erratum.id: erratum for erratum in errata.errata()}
    places = find_deviations()
    assert not places.keys() - known.keys()
    missing = [id_ for id_, erratum in known.items() if erratum.deviates and id_ not in places]
    assert not missing, 'mark the line, or add `code = "none: <reason>"` to errata.toml'
    assert all(e.code.startswith("none: ") and len(e.code) > 20 for e in known.values() if e.code is not None)


def test_errata_of_a_rule_are_found():
    """The erratum about the ordering property is found from each of its rules."""
    assert "hoodie.table.ordering.fields" in " ".join(e.text for e in errata.about("PROP-009"))
    assert errata.about("MRG-019") == errata.about("PROP-009")
    assert errata.about("LAY-001") == ()


def test_fixture_names_are_found_in_evidence():
    """The remark after the folder is not part of the name."""
    entry = errata.Erratum("ER-1", (), "", "", ("fixtures/merge/late-record (apache-hudi 1.0.2)", "read in the code"), "")
    assert entry.fixtures == ("merge/late-record",)
