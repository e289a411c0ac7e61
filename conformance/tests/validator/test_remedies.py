"""A remedy that is a command of this project exists, and the finding is gone after it."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import clauses_samples as c
import deep_damage_samples as d
import pytest
import validated_tables_samples as t
from typer.testing import CliRunner

from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.cli import app
from hudi_conformance.validator.all_checks import ALL
from hudi_conformance.validator.checks.finding import Finding
from hudi_conformance.validator.stored.table import load_table
from hudi_conformance.validator.validation import validate
from hudi_reference.clock import ManualClock
from hudi_reference.storage import Storage

_COMMAND = re.compile(r"hudi-conformance (service) TABLE ([a-z-]+(?: --[a-z]+ [^\s,;:]+)*)")


def _lose_the_planned_file(storage: Storage) -> None:
    storage.delete(t.log_files(storage)[0])


def _with_two_plans() -> Storage:
    """Two compactions plan the same file groups."""
    storage = t.with_plan("compaction")
    (plan,) = t.paths(storage, ".compaction.requested")
    later = f"{t.TIMELINE}/{int(plan.rpartition('/')[2][:17]) + 1:017}.compaction.requested"
    storage.put(later, storage.get(plan))
    return storage


def _lose_completed_file(storage: Storage) -> None:
    storage.delete(t.completed(storage, "commit"))


def _lose_requested_file(storage: Storage) -> None:
    _lose_completed_file(storage)
    storage.delete(t.paths(storage, f"{t.TIMELINE}/", ".commit.requested")[-1])


#: The table, the damage, the rule of the finding, and what else is written on the command line.
REMEDIES: dict[str, tuple[Callable[[], Storage], Callable[[Storage], object], str, tuple[str, ...]]] = {
    "files of a crashed write": (t.copy_on_write, _lose_completed_file, "TL-030", ()),
    "an inflight write without a requested file": (t.copy_on_write, _lose_requested_file, "TL-048", ()),
    "a savepoint without its write": (t.cleaned, lambda s: s.delete(t.completed(s, "commit", 0)), "TL-041", ()),
    "a plan that cannot be executed": (lambda: t.with_plan("compaction"), _lose_the_planned_file, "CLN-002", ()),
    "two plans of one group": (_with_two_plans, lambda s: None, "SVC-004", ()),
    "narrow statistics": (d.indexed, lambda s: _edit("statistics too narrow", s),
                          "MDT-010", ("--set", "hoodie.metadata.index.column.stats.enable=true")),
    "a lost log file of an index": (d.indexed_merge_on_read, lambda s: s.delete(_index_log(s)), "TL-036",
                                    ("--set", "hoodie.metadata.record.index.enable=true")),
    "a lost folder of an index": (d.indexed_merge_on_read, lambda s: _lose_folder(s, "column_stats"), "PROP-012",
                                  ("--set", "hoodie.metadata.index.column.stats.enable=true")),
    "a key without a location": (d.indexed, lambda s: _edit("a key without a location", s), "IDX-010",
                                 ("--set", "hoodie.metadata.record.index.enable=true")),
}  # fmt: skip


def _index_log(storage: Storage) -> str:
    return t.paths(storage, ".hoodie/metadata/record_index/", ".log.")[-1]


def _lose_folder(storage: Storage, index: str) -> None:
    for path in t.paths(storage, f".hoodie/metadata/{index}/"):
        storage.delete(path)


def _edit(name: str, storage: Storage) -> None:
    next(one for one in c.all_clauses() if one.name == name).edit(storage)


def findings(folder: Path, rule: str) -> list[Finding]:
    """The findings of a rule, long after the last write."""
    found = validate(load_table(str(folder), clock=ManualClock(c.LATER)), ALL)
    assert not found.broken
    return [one for one in found.findings if one.rule == rule]


@pytest.mark.parametrize("name", REMEDIES)
def test_the_command_of_a_remedy_removes_the_finding(name: str, tmp_path: Path) -> None:
    """The command of the finding, with the table in the place of TABLE, ends without an error, and the finding is gone."""
    make, edit, rule, more = REMEDIES[name]
    storage = make()
    edit(storage)
    folder = t.copy_to_folder(storage, tmp_path / "table")
    (first, *_) = findings(folder, rule)
    command = _COMMAND.search(first.remedy)
    assert command is not None, first.remedy
    if "drop the secondary indexes" in first.remedy:
        for index in load_table(str(folder)).properties.fields("hoodie.table.metadata.partitions"):
            if index.startswith("secondary_index_"):
                _run(folder, "drop-index", "--index", index)
    _run(folder, *shlex.split(command[2]))
    if ", then index" in first.remedy:
        _run(folder, "index", *more)
    assert first not in findings(folder, rule)
    assert not [one for one in findings(folder, rule) if one.severity != "cosmetic"]


def _run(folder: Path, *arguments: str) -> None:
    given = ["service", str(folder), *arguments, "--yes"]
    result = CliRunner().invoke(app, given, env={"COLUMNS": "150"})
    assert result.exit_code == 0, (given, result.output[-600:])


def test_every_command_of_a_remedy_exists() -> None:
    """Each command in the text of a remedy is one of the program, with its options."""
    sources = (fixtures_root().parent / "conformance/hudi_conformance/validator").rglob("*.py")
    text = " ".join(path.read_text() for path in sources)
    named = set(re.findall(r"hudi-conformance service TABLE ([a-z-]+)", text))
    shown = CliRunner().invoke(app, ["service", "--help"], env={"COLUMNS": "300"}).output
    assert named and all(one in shown for one in named), named
    assert set(re.findall(r"hudi-conformance ([a-z]+) TABLE", text)) <= {"service", "migrate", "read"}


def test_a_file_without_an_owner_is_deleted_only_if_its_action_was_not_lost() -> None:
    """The history is gone: no remedy says that the files of its writes can be deleted without a look at their actions."""
    storage = t.archived()
    for path in t.paths(storage, "/history/"):
        storage.delete(path)
    found = [one for one in t.validated(storage, ALL).findings if one.rule in ("ARC-004", "RDR-008")]
    assert found and not [one for one in found if one.remedy == "delete the file"]
    assert all(one.remedy.startswith("restore the action") for one in found if one.rule == "ARC-004")
