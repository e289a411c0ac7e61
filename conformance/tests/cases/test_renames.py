"""Old ids of Python cases and old names of mutants stay valid."""

import json
from pathlib import Path

import pytest

from hudi_conformance.cases.renames import RenameError, Renames, current_case, current_mutant, renames
from hudi_conformance.mutants import all_mutants
from hudi_conformance.report.evidence.evidence import suite_cases

RENAMES = Renames(
    files={"test_a": "test_b", "test_b": "test_c"},
    cases={"test_a::one": "test_b::two", "test_c::two": "test_d::three", "test_c::n[size=1]": "test_c::n[size=2]"},
    mutants={"x": "y", "y": "z"},
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("test_a::other", "test_c::other"),
        ("test_a::one", "test_d::three"),
        ("test_b::two[size=1, kind=test_a]", "test_d::three[size=1, kind=test_a]"),
        ("test_c::n[size=1]", "test_c::n[size=2]"),
        ("test_c::n[size=3]", "test_c::n[size=3]"),
        ("test_a::*", "test_c::*"),
        ("test_z::same", "test_z::same"),
        ("merge.one", "merge.one"),
    ],
)
def test_old_id_maps_to_current_id(old: str, new: str):
    """Renames of files and of tests chain, in either order; parameters are kept."""
    assert RENAMES.current_case(old) == new


def test_old_mutant_name_maps_to_current_name():
    """Renames of mutants chain too."""
    assert [RENAMES.current_mutant(name) for name in ("x", "y", "z", "w")] == ["z", "z", "z", "w"]


def test_circular_renames_are_an_error():
    """The lookup does not loop."""
    with pytest.raises(RenameError, match="x -> y -> x"):
        Renames(mutants={"x": "y", "y": "x"}).current_mutant("x")


@pytest.mark.parametrize(
    ("second", "message"),
    [('[cases]\n"t::a" = "t::c"', "t::a is renamed to t::c, and elsewhere to t::b"), ("[tests]\na = 'b'", "no table 'tests'")],
)
def test_contradicting_files_are_an_error(tmp_path: Path, second: str, message: str):
    """All files of the folder are merged; the message names the second file."""
    (tmp_path / "1.toml").write_text('[cases]\n"t::a" = "t::b"\n')
    (tmp_path / "2.toml").write_text(second)
    with pytest.raises(RenameError, match=f"2.toml: {message}"):
        renames(tmp_path)


def test_old_ids_map_to_existing_cases_and_are_unused():
    """Otherwise an entry of a list would have no effect, or refer to another case."""
    current = {case.id for case in suite_cases()}
    files = {case.partition("::")[0] for case in current}
    known = renames()
    resolved = {old: known.current_case(old).partition("[")[0] for old in known.cases}
    assert {old: new for old, new in resolved.items() if new not in current} == {}
    assert [old for old in known.cases if old in current] == []
    assert {old: new for old, new in _files(known).items() if new not in files} == {}
    assert [old for old in known.files if old in files] == []


def _files(known: Renames) -> dict[str, str]:
    return {old: known.current_case(f"{old}::").partition("::")[0] for old in known.files}


def test_old_mutant_names_map_to_existing_mutants_and_are_unused():
    """Old names of mutants map to existing mutants and are not used for others."""
    current = {mutant.name for mutant in all_mutants()}
    known = renames().mutants
    assert {old: current_mutant(old) for old in known if current_mutant(old) not in current} == {}
    assert [old for old in known if old in current] == []


def test_stored_verdicts_have_known_ids():
    """Ids of Python cases in the committed verdicts are current ids or were renamed."""
    current = {case.id for case in suite_cases()}
    for path in sorted((Path(__file__).parents[2] / "results").glob("*.json")):
        stored = {case for case in json.loads(path.read_text(encoding="utf-8"))["cases"] if "::" in case}
        assert {case for case in stored if current_case(case) not in current} == set(), path.name
