"""A random program becomes a golden case: its table, and that it is run like any other case."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hudi_conformance.cases import case as cases
from hudi_conformance.cases.verdict import Outcome, judge_answer
from hudi_conformance.commands.suite import fixtures
from hudi_conformance.engines.registry import connect
from hudi_conformance.runner.golden_cases import ask_engine
from hudi_conformance.suite.support.programs import table_programs as everything
from hudi_conformance.suite.support.programs.table_programs import DrawnQuery, Shape
from hudi_conformance.suite.support.programs.write_programs import Program, Step, row
from hudi_conformance.suite.support.saved_programs import add_case, program_from_json, program_to_json, save_program

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


def drawn(key, rank, name, deleted=None):
    """One row of a random program."""
    return {"id": key, "city": "oslo", "rank": rank, "name": name, "note": "m", "size": 1, "deleted": deleted}


EVERYTHING = everything.Program(
    Shape("MERGE_ON_READ", "event-time", orders="date", captures="DATA_BEFORE_AFTER"),
    (
        everything.Step("upsert", (drawn("a", 1, "x"), drawn("b", 1, "x"))),
        everything.Step("upsert", (drawn("a", 3, "y"), drawn("b", 0, "late", deleted=True)), ask=DrawnQuery("cdc", 0, 1)),
        everything.Step("upsert", (drawn("a", 3, "rolled back"),)),
        everything.Step("rollback"),
        everything.Step("compaction"),
        everything.Step("partial_update", (drawn("b", 2, "z"),), ("name",), DrawnQuery("as-of", 1)),
    ),
)


def test_program_is_unchanged_after_saving():
    """Loading returns the saved program."""
    for program in (PROGRAM, EVERYTHING):
        path = Path(save_program(program).split()[-1])
        assert program_from_json(json.loads(path.read_text())) == program
        assert program_from_json(program_to_json(program)) == program


def test_a_saved_program_is_a_case_that_the_reference_passes(tmp_path):
    """MRG-028: by the model the late row loses and the deleted key is removed; the reference agrees."""
    case = cases.load_case(add_case(PROGRAM, "merge.drawn.late-row", tmp_path) / "case.json")
    (answer,) = case.reads[0].rows
    assert [(r["id"], r["city"], r["name"]) for r in answer.rows] == [("a", "oslo", "x")]
    passes(case)


def passes(case):
    """Whether the reference answers every query of the case correctly."""
    with connect("reference") as engine:
        assert judge_answer(case, "reference", engine.hello, ask_engine(engine, case), 0.0).outcome is Outcome.PASS


def test_saved_program_with_services_has_queries_of_each_kind(tmp_path):
    """A table with compaction, clean and rollback, with windows and change queries; a wrong row in any answer fails."""
    folder = add_case(EVERYTHING, "merge.drawn.everything", tmp_path)
    case = cases.load_case(folder / "case.json")
    assert {read.query.kind for read in case.reads} == {"snapshot", "read-optimized", "as-of", "incremental", "cdc"}
    assert {"merge.partial-updates", "log.command", "types.temporal"} <= set(case.needs)
    passes(case)
    path = folder / "expected" / "reads.json"
    path.write_text(path.read_text("utf-8").replace('"note": "m"', '"note": "n"'), "utf-8")
    with connect("reference") as engine:
        wrong = cases.load_case(folder / "case.json")
        assert judge_answer(wrong, "reference", engine.hello, ask_engine(engine, wrong), 0.0).outcome is Outcome.FAIL


def test_same_program_writes_the_same_bytes(tmp_path):
    """The table is written with a fixed clock and fixed ids."""
    folders = [add_case(EVERYTHING, "merge.drawn.twice", tmp_path / name) for name in ("one", "two")]
    contents = [{p.relative_to(f): p.read_bytes() for p in f.rglob("*") if p.is_file()} for f in folders]
    assert contents[0] == contents[1]


def test_fixtures_add_saves_several_programs(tmp_path, monkeypatch):
    """Several programs become cases in one call, named after their files; an existing case is unchanged."""
    monkeypatch.setattr(fixtures, "fixtures_root", lambda: tmp_path)
    paths = [tmp_path / "one.json", tmp_path / "two.json"]
    for path, program in zip(paths, (PROGRAM, EVERYTHING), strict=True):
        path.write_text(json.dumps(program_to_json(program)))
    done = CliRunner().invoke(fixtures.app, ["add", *map(str, paths)])
    assert done.exit_code == 0, done.output
    found = [cases.load_case(tmp_path / "merge" / f"drawn.{name}" / "case.json") for name in ("one", "two")]
    assert [case.id for case in found] == ["merge.drawn.one", "merge.drawn.two"]
    again = CliRunner().invoke(fixtures.app, ["add", str(paths[0])])
    assert (again.exit_code, "exists already" in again.output) == (2, True)
    both = CliRunner().invoke(fixtures.app, ["add", *map(str, paths), "--id", "merge.drawn.three"])
    assert (both.exit_code, "--id names one case" in both.output) == (2, True)


@pytest.mark.parametrize("name", ["drawn", "nowhere.drawn"])
def test_an_id_without_a_known_first_word_is_refused(tmp_path, name):
    """The folder of a case follows from its id; nothing is written for an unknown first word."""
    program = tmp_path / "program.json"
    program.write_text(json.dumps(program_to_json(PROGRAM)))
    done = CliRunner().invoke(fixtures.app, ["add", str(program), "--id", name])
    assert done.exit_code == 2
    assert "the first word of an id is one of layout, names" in done.output
