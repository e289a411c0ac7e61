"""The track record: what its entries name exists, and shows the fault."""

import re

from hudi_conformance.mutants import all_mutants
from hudi_conformance.mutants.harness.score import recorded_kills
from hudi_conformance.report.evidence.evidence import gather_evidence
from hudi_conformance.report.evidence.track_record import Fault, State, known_faults
from hudi_conformance.requirements import errata
from hudi_conformance.runner import expected_failures

_LINK = re.compile(r"https://(github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+|issues\.apache\.org/jira/browse/HUDI-\d+)")


def test_ids_are_unique_and_in_order():
    """A fault is cited by its id: TR-001, TR-002, ... without gaps."""
    assert [fault.id for fault in known_faults()] == [f"TR-{n:03}" for n in range(1, len(known_faults()) + 1)]


def test_each_fault_has_cases_or_a_reason():
    """A fault with cases has an effect, and says how it is known; a fault without cases has a reason."""
    for fault in known_faults():
        assert fault.title, fault.id
        assert fault.versions, fault.id
        assert bool(fault.cases) is (fault.effect is not None), fault.id
        assert bool(fault.cases) is not bool(fault.reason), fault.id
        assert bool(fault.cases) is bool(fault.mutants or fault.seen or fault.reading), fault.id


def test_at_least_90_faults_have_a_case():
    """Of 117 faults that users or maintainers reported, 90 or more have a case that fails with them."""
    assert sum(bool(fault.cases) for fault in known_faults()) >= 90


def test_links_are_well_formed():
    """Each link is an issue or change on GitHub or in the issue tracker of Apache."""
    links = [(fault.id, link) for fault in known_faults() for link in fault.links]
    assert not [found for found in links if not _LINK.fullmatch(found[1])]
    assert all(fault.links for fault in known_faults())


def test_cases_mutants_and_errata_exist():
    """Cases, mutants and errata are named by their exact ids."""
    cases = {case.id for case in gather_evidence().cases}
    mutants = {mutant.name for mutant in all_mutants()}
    known = {erratum.id for erratum in errata.errata()}
    for fault in known_faults():
        assert set(fault.cases) <= cases, fault.id
        assert set(fault.mutants) <= mutants, fault.id
        assert set(fault.errata) <= known, fault.id


def test_each_mutant_is_killed_by_a_case_of_its_fault():
    """The reference with the fault fails one of the listed cases, in the recorded runs of the mutants."""
    killers = {name: {case.split("[")[0] for case in cases} for name, cases in recorded_kills().items()}
    missed = [(fault.id, name) for fault in known_faults() for name in fault.mutants if not killers[name] & set(fault.cases)]
    assert not missed


def test_faults_that_were_seen_are_in_the_list_of_the_engine():
    """An engine that is said to show a fault has one of the cases in its list of expected failures."""
    missed = [(fault.id, engine) for fault in known_faults() for engine in fault.seen if not _listed(engine) & set(fault.cases)]
    assert not missed


def test_a_fault_that_is_present_was_seen_or_has_a_note():
    """What is said of the newest release rests on a list of expected failures, or on a note that says how it was measured."""
    assert not [fault.id for fault in known_faults() if fault.state in (State.PRESENT, State.FIXED) and not _measured(fault)]


def _measured(fault: Fault) -> bool:
    return bool(fault.note) or bool({"apache-hudi@1.2.0", "apache-hudi-java@1.2.0", "hudi-rs@0.6"} & set(fault.seen))


def _listed(engine: str) -> set[str]:
    """The cases in the list of an engine, without parameters."""
    path = expected_failures.lists_folder() / f"{engine}.toml"
    return {case.split("[")[0] for case in expected_failures.load_list(engine, path).entries}
