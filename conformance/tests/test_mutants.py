"""What everybody may rely on in planted bugs: each is really planted, and really gone afterwards."""

import json
from functools import cached_property
from types import SimpleNamespace

import pyarrow as pa
import pytest
import typer
from typer.testing import CliRunner

from hudi_conformance.commands.suite.mutants import end_of, mutants
from hudi_conformance.mutants import Bug, StaleMutant, UnknownMutant, all_mutants, plant
from hudi_conformance.mutants.harness import mutant as planting
from hudi_conformance.mutants.harness import score
from hudi_conformance.mutants.harness.score import Kill
from hudi_conformance.report.evidence import CitedCase, golden_cases
from hudi_conformance.requirements import requirement as index
from hudi_conformance.runner import mutation_run
from hudi_reference import create_table
from hudi_reference.records import merge
from hudi_reference.records.merge_tables import Kind, Order, Result
from hudi_reference.storage import MemoryStorage

SCHEMA = {
    "type": "record",
    "name": "row",
    "fields": [{"name": "id", "type": "string"}, {"name": "ts", "type": "long"}],
}


@pytest.fixture
def bug():
    """A bug whose changes are taken back after the test."""
    bug = Bug()
    yield bug
    bug.undo()


def late_row_of_a_new_table() -> int:
    """The ordering value that stays after an update with a lower one."""
    options = {"record_key": ("id",), "ordering": ("ts",), "table_type": "MERGE_ON_READ"}
    table = create_table("memory:", name="t", schema=SCHEMA, storage=MemoryStorage(), **options)
    for ts in (10, 9):
        table.upsert(pa.table({"id": ["a"], "ts": pa.array([ts], pa.int64())}))
    return table.snapshot(columns=["ts"]).column("ts").to_pylist()[0]


def greet(name: str) -> str:
    return f"hello {name}"


class Greeter:
    """Something with each kind of callable that a bug may be planted into."""

    def __init__(self) -> None:
        self.name = "world"

    def loud(self) -> str:
        return greet(self.name).upper()

    @property
    def polite(self) -> str:
        return f"dear {self.name}"

    @cached_property
    def short(self) -> str:
        return f"hi {self.name}"


class LoudGreeter(Greeter):
    """A method that says super(), and so has a free variable."""

    def loud(self) -> str:
        return super().loud() + "!"


def test_a_planted_bug_changes_what_the_reference_answers_and_is_undone():
    """The reference answers wrongly exactly as long as the bug is planted."""
    assert late_row_of_a_new_table() == 10
    with plant("late-records-win") as mutant:
        assert "MRG-029" in mutant.breaks
        assert late_row_of_a_new_table() == 9
    assert late_row_of_a_new_table() == 10


def test_a_bug_is_undone_when_the_case_fails():
    """A failing case does not leave the bug behind for the next one."""
    with pytest.raises(ZeroDivisionError), plant("late-records-win"):
        raise ZeroDivisionError
    assert merge.DECISIONS["EVENT_TIME_ORDERING"][Kind.ROW, Kind.ROW][Order.LOWER].result is Result.OLDER


@pytest.mark.parametrize("mutant", all_mutants(), ids=lambda m: m.name)
def test_every_bug_can_still_be_planted_and_says_what_it_does(mutant):
    """A bug whose place in the reference has moved is noticed; each has a sentence, and rules that exist."""
    with plant(mutant.name) as planted:
        assert planted is mutant
    assert mutant.description.endswith(".")
    assert mutant.breaks and not index.unknown(mutant.breaks)


def test_an_edit_reaches_everyone_who_holds_the_function(bug):
    """A function that others have imported by name is changed for them too."""
    held = greet
    bug.edit(greet, "hello", "bye")
    assert held("you") == "bye you"
    assert Greeter().loud() == "BYE WORLD"
    bug.undo()
    assert held("you") == "hello you"


def test_methods_properties_and_super_can_be_edited(bug):
    """The kinds of callables that the reference is made of can carry a bug."""
    bug.edit(Greeter.loud, "upper", "title")
    bug.edit(Greeter.polite, "dear", "oi")
    bug.edit(Greeter.short, "hi", "yo")
    bug.edit(LoudGreeter.loud, '"!"', '"?"')
    greeter = LoudGreeter()
    assert (greeter.loud(), greeter.polite, greeter.short) == ("Hello World?", "oi world", "yo world")
    bug.undo()
    greeter = LoudGreeter()
    assert (greeter.loud(), greeter.polite, greeter.short) == ("HELLO WORLD!", "dear world", "hi world")


def test_an_edit_whose_place_is_gone_is_stale(bug):
    """A bug is planted where it was meant to be, or not at all."""
    with pytest.raises(StaleMutant, match="0 times"):
        bug.edit(greet, "good morning", "bye")
    with pytest.raises(StaleMutant, match="2 times"):
        bug.edit(greet, "name", "nobody")


def test_builtins_cannot_be_edited(bug):
    """Only code of the reference carries bugs."""
    with pytest.raises(TypeError, match="not a function written in Python"):
        bug.edit(len, "a", "b")


def test_values_are_set_and_restored(bug):
    """Constants and entries of tables come back as they were."""
    holder, table = SimpleNamespace(limit=1), {"a": 1}
    bug.set(holder, "limit", 2)
    bug.set(holder, "limit", 3)
    bug.item(table, "a", 2)
    assert (holder.limit, table) == (3, {"a": 2})
    bug.undo()
    assert (holder.limit, table) == (1, {"a": 1})


def test_only_what_exists_is_changed(bug):
    """A misspelled name is an error and not a bug that changes nothing."""
    with pytest.raises(AttributeError):
        bug.set(SimpleNamespace(), "limit", 2)
    with pytest.raises(KeyError):
        bug.item({}, "a", 2)


def test_an_unknown_bug_is_named_with_its_neighbours():
    """A typing error is answered with what was probably meant."""
    with pytest.raises(UnknownMutant, match="late-records-win"), plant("late-record-wins"):
        pass


def test_two_bugs_cannot_share_a_name(monkeypatch):
    """A name leads to one bug."""
    monkeypatch.setattr(planting, "_MUTANTS", {})

    def another(bug):
        """Another bug."""

    another.__name__ = late_row_of_a_new_table.__name__
    planting.planted(breaks="MRG-001")(late_row_of_a_new_table)
    planting.planted(breaks="MRG-001")(late_row_of_a_new_table)
    with pytest.raises(ValueError, match="late-row-of-a-new-table"):
        planting.planted(breaks="MRG-001")(another)


def test_outcomes_are_kept_until_their_bug_is_gone(monkeypatch, tmp_path):
    """Running some bugs leaves the outcomes of the others; a bug that was never run has none."""
    monkeypatch.setattr(score, "FILE", tmp_path / "results.json")
    known = all_mutants()[:3]
    score.save_kills({known[0].name: ["b", "a"], "gone": []}, known)
    score.save_kills({known[1].name: []}, known)
    assert [k.killed_by for k in score.load_kills(known)] == [("a", "b"), (), None]
    assert set(json.loads(score.FILE.read_text())) == {known[0].name, known[1].name}


def golden(*ids: str) -> list[CitedCase]:
    """Some of the golden cases."""
    return [c for c in golden_cases() if c.id in ids]


def test_hunting_runs_the_suite_with_the_bug_in_it():
    """A case of the bug's rule notices it; a case that does not care passes with it."""
    (mutant,) = (m for m in all_mutants() if m.name == "late-records-win")
    cases = golden("merge.event-time.late-record.mor", "merge.event-time.newer-record.mor")
    told: list[Kill] = []
    (kill,) = mutation_run.hunt([mutant], cases, done=told.append)
    assert told == [kill]
    assert kill.killed_by == ("merge.event-time.late-record.mor",)
    assert end_of(kill, cases) == "own"


def test_other_cases_are_asked_when_the_own_ones_notice_nothing():
    """A bug that only a case of other rules notices shows that the rule's own cases are too weak."""
    (late,) = (m for m in all_mutants() if m.name == "late-records-win")
    stranger = planting.Mutant(late.name, ("LAY-003",), late.description, late.apply)
    cases = golden("layout.partition.plain.mor", "merge.event-time.late-record.mor")
    (kill,) = mutation_run.hunt([stranger], cases, done=lambda _: None)
    assert end_of(kill, cases) == "other"
    (survivor,) = mutation_run.hunt([stranger], cases[:1], done=lambda _: None)
    assert end_of(survivor, cases) == "survived"


def test_a_suite_that_does_not_report_is_broken_and_not_strong():
    """A run that never came to its cases kills nothing."""
    with pytest.raises(mutation_run.SuiteBroke, match="no-such-bug"):
        mutation_run.failing("no-such-bug", golden("merge.event-time.late-record.mor"))


def test_a_pattern_that_matches_no_bug_is_wrong_usage():
    """Exit 2, and nothing is run."""
    app = typer.Typer()
    app.command()(mutants)
    done = CliRunner().invoke(app, ["--only", "no-such-bug"])
    assert done.exit_code == 2
    assert "no planted bug matches 'no-such-bug'" in done.stderr
