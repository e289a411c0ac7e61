"""Mutants: each one applies, changes the reference, and is reverted afterwards."""

import json
from dataclasses import replace
from functools import cached_property
from types import SimpleNamespace

import pyarrow as pa
import pytest
import typer
from typer.testing import CliRunner

from hudi_conformance.commands.suite.mutants import classify_kill, mutants
from hudi_conformance.mutants import Mutant, Patch, StaleMutant, UnknownMutant, all_mutants, apply_mutant, mutant
from hudi_conformance.mutants.harness import score
from hudi_conformance.mutants.harness.mutant import collect, mutants_of_file
from hudi_conformance.mutants.harness.score import Kill
from hudi_conformance.report.evidence.evidence import CitedCase, golden_cases
from hudi_conformance.report.evidence.source_facts import read_mutants_of_file
from hudi_conformance.requirements import requirement as index
from hudi_conformance.runner.mutation import named as mutation_run
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
def patch():
    """A patch that is reverted after the test."""
    patch = Patch()
    yield patch
    patch.undo()


def late_row_of_a_new_table() -> int:
    """The ordering value that is stored after an update with a lower one."""
    options = {"record_key": ("id",), "ordering": ("ts",), "table_type": "MERGE_ON_READ"}
    table = create_table("memory:", name="t", schema=SCHEMA, storage=MemoryStorage(), **options)
    for ts in (10, 9):
        table.upsert(pa.table({"id": ["a"], "ts": pa.array([ts], pa.int64())}))
    return table.snapshot(columns=["ts"]).column("ts").to_pylist()[0]


def greet(name: str) -> str:
    return f"hello {name}"


class Greeter:
    """A class with each kind of callable that a mutant may change."""

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
    """A method with super(), and therefore with a free variable."""

    def loud(self) -> str:
        return super().loud() + "!"


def test_a_mutant_changes_the_answers_of_the_reference_until_it_is_reverted():
    """The answer of the reference is wrong while the mutant is applied, and right before and after."""
    assert late_row_of_a_new_table() == 10
    with apply_mutant("late-records-win") as applied:
        assert "MRG-029" in applied.breaks
        assert late_row_of_a_new_table() == 9
    assert late_row_of_a_new_table() == 10


def test_a_mutant_is_reverted_when_the_case_fails():
    """A failing case does not leave the mutant applied for the next one."""
    with pytest.raises(ZeroDivisionError), apply_mutant("late-records-win"):
        raise ZeroDivisionError
    assert merge.DECISIONS["EVENT_TIME_ORDERING"][Kind.ROW, Kind.ROW][Order.LOWER].result is Result.OLDER


@pytest.mark.parametrize("known", all_mutants(), ids=lambda m: m.name)
def test_every_mutant_still_applies_and_has_a_description(known):
    """The text that a mutant replaces still exists; each mutant has a sentence as description, and its rules exist."""
    with apply_mutant(known.name) as applied:
        assert applied is known
    assert known.description.endswith(".")
    assert known.breaks and not index.unknown(known.breaks)


def test_an_edit_changes_the_function_for_every_importer(patch):
    """A function that another module imported by name is changed there too."""
    held = greet
    patch.edit(greet, "hello", "bye")
    assert held("you") == "bye you"
    assert Greeter().loud() == "BYE WORLD"
    patch.undo()
    assert held("you") == "hello you"


def test_methods_properties_and_super_can_be_edited(patch):
    """All kinds of callables of the reference can be edited."""
    patch.edit(Greeter.loud, "upper", "title")
    patch.edit(Greeter.polite, "dear", "oi")
    patch.edit(Greeter.short, "hi", "yo")
    patch.edit(LoudGreeter.loud, '"!"', '"?"')
    greeter = LoudGreeter()
    assert (greeter.loud(), greeter.polite, greeter.short) == ("Hello World?", "oi world", "yo world")
    patch.undo()
    greeter = LoudGreeter()
    assert (greeter.loud(), greeter.polite, greeter.short) == ("HELLO WORLD!", "dear world", "hi world")


def test_an_edit_of_missing_or_ambiguous_text_is_stale(patch):
    """A mutant that would change nothing, or another place, does not apply."""
    with pytest.raises(StaleMutant, match="0 times"):
        patch.edit(greet, "good morning", "bye")
    with pytest.raises(StaleMutant, match="2 times"):
        patch.edit(greet, "name", "other")


def test_builtins_cannot_be_edited(patch):
    """Only functions written in Python can be edited."""
    with pytest.raises(TypeError, match="not a function written in Python"):
        patch.edit(len, "a", "b")


def test_values_are_set_and_restored(patch):
    """Constants and entries of tables have their former values after the patch is reverted."""
    holder, table = SimpleNamespace(limit=1), {"a": 1}
    patch.set(holder, "limit", 2)
    patch.set(holder, "limit", 3)
    patch.item(table, "a", 2)
    assert (holder.limit, table) == (3, {"a": 2})
    patch.undo()
    assert (holder.limit, table) == (1, {"a": 1})


def test_only_what_exists_is_changed(patch):
    """A misspelled name is an error and not a mutant that changes nothing."""
    with pytest.raises(AttributeError):
        patch.set(SimpleNamespace(), "limit", 2)
    with pytest.raises(KeyError):
        patch.item({}, "a", 2)


def test_an_unknown_mutant_is_reported_with_similar_names():
    """The message for a misspelled name suggests the right one."""
    with pytest.raises(UnknownMutant, match="late-records-win"), apply_mutant("late-record-wins"):
        pass


def test_two_mutants_cannot_share_a_name():
    """A name identifies one mutant; a mutant that a second module imports is not a second one."""
    first, second = (Mutant("same", ("MRG-001",), "A mutant.", lambda patch: None) for _ in range(2))
    assert collect([first, first]) == (first,)
    with pytest.raises(ValueError, match="'same'"):
        collect([first, second])


def test_a_mutant_is_named_after_its_function():
    """The name has hyphens; the description is the docstring; one rule or several are a tuple."""

    @mutant(breaks="MRG-001")
    def two_words(patch):
        """Does something wrong."""

    assert (two_words.name, two_words.breaks, two_words.description) == ("two-words", ("MRG-001",), "Does something wrong.")


def test_a_mutant_of_a_file_replaces_one_text(patch):
    """A table of a TOML file names the function and the replacement."""
    text = f"""
[says-goodbye]
breaks = ["MRG-001", "MRG-002"]
description = "Says goodbye."
function = "{__name__}:greet"
old = "hello"
new = "goodbye"
"""
    (found,) = mutants_of_file(text, "hudi_conformance.mutants.merging.x")
    assert (found.name, found.breaks, found.description) == ("says-goodbye", ("MRG-001", "MRG-002"), "Says goodbye.")
    (listed,) = read_mutants_of_file(text)
    assert listed.pop("fingerprint")
    assert listed == {"name": "says-goodbye", "breaks": ["MRG-001", "MRG-002"], "description": "Says goodbye.", "line": 2}
    found.apply(patch)
    assert greet("you") == "goodbye you"


def test_outcomes_are_stored_until_their_mutant_is_removed(monkeypatch, tmp_path):
    """Running some mutants leaves the outcomes of the others; a mutant that was never run has none."""
    monkeypatch.setattr(score, "FILE", tmp_path / "results.json")
    known = all_mutants()[:3]
    score.save_kills({known[0].name: ["b", "a"], "gone": []}, known)
    score.save_kills({known[1].name: []}, known)
    assert [k.killed_by for k in score.load_kills(known)] == [("a", "b"), (), None]
    assert set(json.loads(score.FILE.read_text())) == {known[0].name, known[1].name}


def golden(*ids: str) -> list[CitedCase]:
    """Some of the golden cases."""
    return [c for c in golden_cases() if c.id in ids]


def test_suite_runs_with_the_mutant_applied():
    """A case of the mutant's rule fails; a case of another rule passes."""
    (late,) = (m for m in all_mutants() if m.name == "late-records-win")
    cases = golden("merge.event-time.late-record.mor", "merge.event-time.newer-record.mor")
    reported: list[Kill] = []
    (kill,) = mutation_run.run_mutants([late], cases, done=reported.append)
    assert reported == [kill]
    assert kill.killed_by == ("merge.event-time.late-record.mor",)
    assert classify_kill(kill, cases) == "own"


def test_other_cases_run_when_no_citing_case_fails():
    """A mutant that only cases of other rules kill shows that the cases of its own rules are too weak."""
    (late,) = (m for m in all_mutants() if m.name == "late-records-win")
    stranger = Mutant(late.name, ("LAY-003",), late.description, late.apply)
    cases = golden("layout.partition.plain.mor", "merge.event-time.late-record.mor")
    (kill,) = mutation_run.run_mutants([stranger], cases, done=lambda _: None)
    assert classify_kill(kill, cases) == "other"
    (survivor,) = mutation_run.run_mutants([stranger], cases[:1], done=lambda _: None)
    assert classify_kill(survivor, cases) == "survived"


def test_a_run_without_a_report_is_an_error_and_not_a_kill():
    """A run that never started its cases kills nothing."""
    with pytest.raises(mutation_run.SuiteError, match="no-such-mutant"):
        mutation_run.find_failing_cases("no-such-mutant", golden("merge.event-time.late-record.mor"))


class Runs:
    """Replaces the runs of pytest: the cases that fail with and without a mutant are given, and what was run is recorded."""

    def __init__(self, monkeypatch, *, mutated: set[str], unmutated: set[str]) -> None:
        self.fail = {True: mutated | unmutated, False: unmutated}
        self.done: list[tuple[str | None, list[str]]] = []
        monkeypatch.setattr(mutation_run, "find_failing_cases", self.failing)

    def failing(self, name, cases, *, stop_early=False):
        if name == "no-such-mutant":
            raise mutation_run.SuiteError("no report")
        ids = [c.id for c in cases]
        if ids:
            self.done.append((name, ids))
        found = [one for one in ids if one in self.fail[name is not None]]
        return frozenset(found[:1] if stop_early else found)


def cited(name: str, *rules: str) -> CitedCase:
    return CitedCase(name, rules, (), f"{name}/case.json", "", golden={})


BREAKS_MERGING = Mutant("some-mutant", ("MRG-001",), "A mutant.", lambda patch: None)


def test_a_case_that_fails_without_the_mutant_kills_nothing(monkeypatch):
    """Only cases that failed with the mutant run without it, each once for all mutants."""
    runs = Runs(monkeypatch, mutated={"b"}, unmutated={"a"})
    cases = [cited(name, "MRG-001") for name in "abc"]
    kills = mutation_run.run_mutants([BREAKS_MERGING] * 2, cases, done=lambda _: None)
    assert [kill.killed_by for kill in kills] == [("b",)] * 2
    assert runs.done == [("some-mutant", ["a", "b", "c"]), (None, ["a", "b"]), ("some-mutant", ["a", "b", "c"])]


def test_a_run_that_stopped_at_a_failing_case_goes_on_with_the_others(monkeypatch):
    """Cases of other rules run up to the first that the mutant breaks, not up to one that always fails."""
    runs = Runs(monkeypatch, mutated={"b"}, unmutated={"a"})
    cases = [cited(name, "LAY-001") for name in "abc"]
    (kill,) = mutation_run.run_mutants([BREAKS_MERGING], cases, done=lambda _: None)
    assert kill.killed_by == ("b",)
    assert [ids for name, ids in runs.done if name is not None] == [["a", "b", "c"], ["b", "c"]]


def test_each_outcome_is_stored_when_it_is_known(monkeypatch, tmp_path):
    """A mutant whose run fails, before or after another one, does not cost the outcome of that one."""
    monkeypatch.setattr(score, "FILE", tmp_path / "results.json")
    Runs(monkeypatch, mutated={"b"}, unmutated=set())
    known = [replace(BREAKS_MERGING, name=name) for name in ("no-such-mutant", "some-mutant")]

    def store(kill):
        score.save_kills({kill.name: list(kill.killed_by)}, known)

    for order in (known, known[::-1]):
        score.FILE.unlink(missing_ok=True)
        with pytest.raises(mutation_run.SuiteError):
            mutation_run.run_mutants(order, [cited("b", "MRG-001")], done=store)
        assert json.loads(score.FILE.read_text()) == {"some-mutant": ["b"]}


def test_a_pattern_that_matches_no_mutant_is_a_usage_error():
    """Exit 2, and nothing is run."""
    app = typer.Typer()
    app.command()(mutants)
    done = CliRunner().invoke(app, ["--only", "no-such-mutant"])
    assert done.exit_code == 2
    assert "no mutant matches no-such-mutant" in done.stderr
