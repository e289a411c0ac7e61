"""Definitions of scenarios: a setting, the programs that run on it at the same time, and bounds of the search.

A definition makes a `Scenario`: it prepares the table of the setting, makes a process of each program, and adds the check of
runs, which covers invariants of the table, isolation of the history, and the results of the processes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hudi_conformance.explorer.history.isolation import find_anomalies
from hudi_conformance.explorer.invariants.checker import InitialTable, InvariantChecker, ObservedState
from hudi_conformance.explorer.scenarios.history_builder import build_history
from hudi_conformance.explorer.scenarios.programs import Program
from hudi_conformance.explorer.scenarios.scenario import Scenario
from hudi_conformance.explorer.scenarios.setting import Setting, prepare_table
from hudi_conformance.explorer.simulation.actor import Process
from hudi_conformance.explorer.simulation.runs import Run
from hudi_conformance.explorer.simulation.simulated_store import SimulatedStore
from hudi_reference.errors import HudiError, StorageFault

#: Clock skew of the process `late`, in milliseconds.
SKEW = -10_000
#: The process that starts when all others have ended.
RECOVERY = "z"


def make_check(setting: Setting, start: InitialTable) -> Callable[[Run], str | None]:
    """The check of runs on a table: invariants, isolation of the history, and how the processes ended."""
    checker = InvariantChecker(start)

    def check(run: Run) -> str | None:
        if (broken := checker(run)) is not None:
            return broken
        seen = checker.observe_run(run)[-1]
        history = build_history(start, run, seen, ordering=setting.ordering)
        anomaly = next(find_anomalies(history), None)
        return _ended_badly(run, seen) if anomaly is None else f"{anomaly} (step {len(run.steps)})"

    return check


def _ended_badly(run: Run, seen: ObservedState) -> str | None:
    completed = {done.process for done in seen.done if done.step and done.is_write and run.steps[done.step - 1].fault is None}
    for process, ended in run.results.items():
        if process in seen.writers & completed and isinstance(ended.error, StorageFault):  # its caller would write again
            return f"{process} fails with {ended.error}, although its write completed [OCC-024] (step {len(run.steps)})"
        if ended.error is not None and not isinstance(ended.error, HudiError):
            return f"{process} fails with {type(ended.error).__name__}: {ended.error} (step {len(run.steps)})"
        if process == RECOVERY and ended.value:
            return f"after the recovery {', '.join(ended.value)} is still pending [SVC-006] (step {len(run.steps)})"
    begun = [found.file_name for found in seen.pending if found.action == "savepoint"]
    if begun and all(ended.how == "returned" for ended in run.results.values()):
        return f"{begun[0]} remains of a savepoint that was refused [TL-021] (step {len(run.steps)})"
    return None


def _without_errors(check: Callable[[Run], str | None]) -> Callable[[Run], str | None]:
    """The same check, and no process may end with an error."""

    def asked(run: Run) -> str | None:
        errors = (f"{name} {ended} (step {len(run.steps)})" for name, ended in run.results.items() if ended.how == "raised")
        return check(run) or next(errors, None)

    return asked


def make_scenario(name: str, description: str, setting: Setting, programs: Mapping[str, Program], **bounds: Any) -> Scenario:
    """A scenario of these programs, by the names of their processes. `bounds` are attributes of `Scenario`."""
    storage, start = prepare_table(setting)
    others = tuple(process for process in programs if process != RECOVERY)

    def process(name: str, program: Program) -> Process:
        after = others if name == RECOVERY else ()
        return Process(name, lambda actor: program(actor, setting), after, SKEW if name == "late" else 0)

    return Scenario(
        name, description, lambda: SimulatedStore.from_storage(storage, **setting.simulated),
        lambda: [process(name, program) for name, program in programs.items()], make_check(setting, start), **bounds,
    )  # fmt: skip


@dataclass(frozen=True)
class Definition:
    """The definition of a scenario. `preemptions` and `crashes` are the bounds that continuous integration explores."""

    description: str
    setting: Setting
    programs: Mapping[str, Program]
    preemptions: int | None = 1
    crashes: int = 0
    #: Whether no process may end with an error.
    without_errors: bool = False

    def make_scenario(self, name: str, version: int | None = None, **bounds: Any) -> Scenario:
        """Make the scenario on a table of that version; `bounds` replace those of the definition."""
        setting = self.setting if version is None else replace(self.setting, version=version)
        limits = {"preemptions": self.preemptions, "crashes": self.crashes, **bounds}
        found = make_scenario(name, self.description, setting, self.programs, **limits)
        return replace(found, check=_without_errors(found.check)) if self.without_errors else found
