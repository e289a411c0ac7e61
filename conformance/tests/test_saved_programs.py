"""A drawn program becomes a golden case: what it writes, and that the case is asked like any other."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hudi_conformance import cases
from hudi_conformance.commands import fixtures
from hudi_conformance.contract.client import connect
from hudi_conformance.suite.programs_of_writes import Program, Step, row
from hudi_conformance.suite.saved_programs import add_case, from_json, save, to_json
from hudi_conformance.verdict import Outcome, judge

PROGRAM = Program(
    "MERGE_ON_READ",
    "EVENT_TIME_ORDERING",
    True,
    (
        Step("upsert", (row("a", 3, "x"), row("b", 1, "x", "rio"))),
        Step("upsert", (row("a", 2, "late"), row("b", 1, "y", "rio"))),
        Step("delete", (row("b", 0, "", "rio"),)),
    ),
)


def test_a_program_survives_its_file():
    """What is saved is what was drawn."""
    path = Path(save(PROGRAM).split()[-3])
    assert from_json(json.loads(path.read_text())) == PROGRAM
    assert from_json(to_json(PROGRAM)) == PROGRAM


def test_a_saved_program_is_a_case_that_the_reference_passes(tmp_path):
    """MRG-028: the late row loses and the deleted key is gone, by the model; the reference agrees."""
    case = cases.load(add_case(PROGRAM, "merge.drawn.late-row", tmp_path) / "case.json")
    assert [dict(r) for r in case.rows[0].rows] == [{"id": "a", "city": "oslo", "ts": "3", "value": "x"}]
    with connect("reference") as engine:
        rows = engine.read(cases.place(case, tmp_path / "copy"), case.query)
        assert judge(case, "reference", engine.hello, rows, 0.0).outcome is Outcome.PASS


def test_the_same_program_makes_the_same_bytes(tmp_path):
    """The table is made by a fixed clock and fixed ids, so that it can be made again."""
    folders = [add_case(PROGRAM, "merge.drawn.twice", tmp_path / name) for name in ("one", "two")]
    contents = [{p.relative_to(f): p.read_bytes() for p in f.rglob("*") if p.is_file()} for f in folders]
    assert contents[0] == contents[1]


@pytest.mark.parametrize("name", ["drawn", "nowhere.drawn"])
def test_an_id_without_an_area_is_refused(tmp_path, name):
    """The folder of a case follows from its id; nothing is written for one that has no area."""
    program = tmp_path / "program.json"
    program.write_text(json.dumps(to_json(PROGRAM)))
    done = CliRunner().invoke(fixtures.app, ["add", str(program), "--id", name])
    assert done.exit_code == 2
    assert "an id is AREA.NAME" in done.output
