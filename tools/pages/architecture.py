"""`docs/architecture.md`: how a read, a write, a service and a case run, from import contracts, hooks and functions."""

import ast
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from hudi_conformance.cases.verdict import judge_answer
from hudi_conformance.contract.client import Client
from hudi_conformance.runner.golden_cases import ask_engine
from hudi_conformance.runner.results import compare_with_list
from hudi_conformance.runner.run_report import finish_run
from hudi_reference.layout.properties import read_properties
from hudi_reference.query.damage_checks import ReadChecks
from hudi_reference.query.file_groups import FileGroups
from hudi_reference.query.file_system_view import load_file_groups
from hudi_reference.query.log_scanner import LogScanner
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.query.write_hooks import WriteHooks
from hudi_reference.records.merging.merge_slice import merge_changes
from hudi_reference.services.default_hooks import STANDARD_HOOKS
from hudi_reference.services.planning import plan_execution
from hudi_reference.tables import open_table
from hudi_reference.timeline.active import load_timeline
from hudi_reference.timeline.transitions import Transitions
from hudi_reference.write.commit import Commit, begin
from hudi_reference.write.placement.locate import locate
from hudi_reference.write.placement.rows import prepare
from hudi_reference.write.writer import Writer

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Step:
    """One step of a flow: its title, what it does, and the function or class that does it."""

    title: str
    text: str
    code: Any

    @property
    def package(self) -> str:
        """The package of the code below `hudi_reference` or `hudi_conformance`."""
        return str(self.code.__module__).split(".")[1]

    @property
    def name(self) -> str:
        """Module and name of the code, with the file that has it."""
        module = str(self.code.__module__)
        folder = "reference" if module.startswith("hudi_reference") else "conformance"
        return f"[`{module.partition('.')[2]}.{self.code.__qualname__}`](../{folder}/{module.replace('.', '/')}.py)"


READ = (
    Step("open", "Choose the storage and the lock for the URI.", open_table),
    Step("properties", "Read `hoodie.properties`. Refuse table versions and features that are not supported.", read_properties),
    Step("timeline", "List the timeline folder. Completed instants up to the read time are visible.", load_timeline),
    Step("file groups", "Group the data files by file id, without files of incomplete actions.", load_file_groups),
    Step("damage checks", "Check that what was read fits together, so that damage is an error.", ReadChecks),
    Step("file slices", "For each file group, select the latest slice at the read time.", FileGroups),
    Step(
        "log blocks", "Find the valid blocks of the log files: complete, not rolled back, of successful attempts.", LogScanner
    ),
    Step("rows of a slice", "Decode base file and blocks, one slice at a time.", SliceReader),
    Step("merged rows", "Merge the versions of each record by the merge mode of the table.", merge_changes),
)
WRITE = (
    Step("rows", "Check the rows against the schema, compute record keys and partition paths.", prepare),
    Step("index lookup", "Find the file group of each key.", locate),
    Step("begin", "Under the lock, generate the requested time; publish requested and inflight.", begin),
    Step("data files", "Write base files and log files, each after its marker.", Writer),
    Step(
        "conflict check",
        "Under the lock, compare with each action that completed since the table was read. On a conflict the write aborts.",
        Commit,
    ),
    Step(
        "hooks before completion",
        "Still under the lock, update the metadata table and its indexes.",
        STANDARD_HOOKS.before_completion[0],
    ),
    Step(
        "completed instant",
        "Generate the completion time and create the completed file. Now readers see the write.",
        Transitions,
    ),
)
SERVICE = (
    Step(
        "plan",
        "Under the lock, decide which files are affected and publish the plan as the requested file.",
        plan_execution.hold_for_planning,
    ),
    Step("start", "Any process may execute the plan. It publishes the inflight file.", Transitions),
    Step("work", "Do what the plan says, again from the start after a crash.", plan_execution.read_plan),
    Step("completion", "Check, update the metadata table, and complete, as for a write.", Transitions),
)
CASE = (
    Step("question", "Copy the table or file of the case; send the query to the engine.", ask_engine),
    Step("engine", "Send the message over the contract; check answer and time limit.", Client),
    Step(
        "verdict", "Compare values with the expected answer: pass, wrong, refused, open, error, crash or timeout.", judge_answer
    ),
    Step("expected failures", "Compare the verdict with the engine's list of expected failures.", compare_with_list),
    Step("report", "Print the matrix and the failures; write HTML, JSON lines and JUnit.", finish_run),
)

HOOKS = {
    "check_settings": "before anything changes: check the settings of the services that may follow a write",
    "check_indexes": "before any action changes anything: check that all indexes can be maintained",
    "before_write": "before a write begins",
    "withdraw_clustering": "before a write begins, for a pending clustering that conflicts with it",
    "before_completion": "before any action completes, under the lock",
    "after_completion": "after a write has completed",
}

HEAD = """\
# Architecture

<!-- Written by `python -m tools.pages` from the import contracts in pyproject.toml, services/default_hooks.py and the functions
that it names. -->

After reading this page you know the layers of the code, how a read, a write, a service and a case run through them, and where
to find each step. The terms are explained in the [glossary](glossary.md).

All access to the outside goes through three protocols: `Storage`, `Clock` and a source of ids. Tests replace them to stop a
process at any request, to run the requests of several processes in any order, and to write the same bytes each time. Importing
a module has no side effect.
"""

TAIL = """\
Python cases call the engine directly through fixtures (`engine`, `writer`, `reader`) and compare with the model. The explorer
runs writers and services of the reference on a simulated store in every order of their requests, and stops them at every crash
point ([explore.md](explore.md)).

Read next: [timeline.md](timeline.md), [merging.md](merging.md), [concurrency.md](concurrency.md), [services.md](services.md).
"""


def architecture_page() -> str:
    """The page, with a line end at its end."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield HEAD
    yield "## Layers\n"
    yield "A package imports only from packages below it. `lint-imports` checks this.\n"
    yield from _layers()
    yield ""
    yield from _packages()
    yield "\n## A read\n"
    yield from _flow(READ)
    yield "\n`hudi_spark` runs the same steps on Spark: the plan on the driver, the slices on executors.\n"
    yield "## A write\n"
    yield from _flow(WRITE)
    yield "\nBefore the last step nothing of the write is visible. A write that aborts or crashes is rolled back later.\n"
    yield "## What a write triggers\n"
    yield "`create_table` and `open_table` pass `STANDARD_HOOKS` to the table. Pass another `WriteHooks` to change them.\n"
    yield from _hooks(STANDARD_HOOKS)
    yield "\n## A table service\n"
    yield from _flow(SERVICE)
    yield "\n## A golden case\n"
    yield from _flow(CASE)
    yield f"\n{TAIL}".rstrip()


def _layers() -> Iterator[str]:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    yield "```mermaid"
    yield "flowchart TB"
    for contract in contracts:
        if contract["type"] != "layers":
            continue
        (root,) = contract["containers"]
        yield f"    subgraph {root}"
        rows = [f"{root}_{number}[{' · '.join(layer.split(' | '))}]" for number, layer in enumerate(contract["layers"])]
        yield f"        {' --> '.join(rows)}"
        yield "    end"
    yield "    hudi_conformance --> hudi_reference"
    yield "```"


def _packages() -> Iterator[str]:
    yield "| package | contents |"
    yield "|---|---|"
    for folder in ("reference/hudi_reference", "reference/hudi_spark", "conformance/hudi_conformance"):
        for path in sorted((ROOT / folder).glob("*/__init__.py")):
            docstring = ast.get_docstring(ast.parse(path.read_text("utf-8")))
            yield f"| `{folder.partition('/')[2]}.{path.parent.name}` | {_first_sentence(docstring)} |"


def _first_sentence(docstring: str | None) -> str:
    text = " ".join((docstring or "").strip().partition("\n\n")[0].split())
    return text.partition(". ")[0].rstrip(".:") + "."


def _flow(steps: Sequence[Step]) -> Iterator[str]:
    yield "```mermaid"
    yield "flowchart LR"
    nodes = [f'{chr(97 + number)}["{step.title}<br><i>{step.package}</i>"]' for number, step in enumerate(steps)]
    yield f"    {' --> '.join(nodes)}"
    yield "```\n"
    yield "| step | what happens | code |"
    yield "|---|---|---|"
    for step in steps:
        yield f"| {step.title} | {step.text} | {step.name} |"


def _hooks(hooks: WriteHooks[Any]) -> Iterator[str]:
    yield "| when | what runs | what it does |"
    yield "|---|---|---|"
    for field in fields(hooks):
        found = getattr(hooks, field.name)
        for hook in found if isinstance(found, tuple) else (found,):
            if callable(hook):
                yield f"| {HOOKS[field.name]} | {_code(hook)} | {_first_sentence(hook.__doc__)} |"
    indexes = ", ".join(f"`{name}`" for name in sorted(hooks.maintained_indexes))
    yield f"\nPartitions of the metadata table that a write updates, by name or prefix: {indexes}."


def _code(function: Callable[..., Any]) -> str:
    return Step("", "", function).name
