"""Scenarios explored side by side, in processes of their own. What is found does not depend on how many these are.

A scenario that is followed exhaustively is one task; drawn runs are cut into tasks of `PART` runs, each with a seed of its own.
"""

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from hudi_conformance.explorer.scenarios.scenario import Scenario
from hudi_conformance.explorer.scenarios.scenarios import SCENARIOS
from hudi_conformance.explorer.search.checker import Explored
from hudi_conformance.explorer.simulation.scheduler import Choice

#: Drawn runs of one task: many more than it takes to run the programs for the first time.
PART = 5_000
#: Primes keep the seeds of tasks apart, for seeds that people choose.
_APART = 1_000_003


@dataclass(frozen=True)
class Task:
    """A scenario within bounds, or `runs` drawn orders of it."""

    scenario: str
    store: str
    bounds: dict[str, Any] = field(default_factory=dict)
    runs: int | None = None
    seed: int = 0

    def made(self) -> Scenario:
        """The scenario itself."""
        return SCENARIOS[self.scenario].scenario(self.scenario, **self.bounds).on(self.store)

    def parts(self) -> list["Task"]:
        """What can be done side by side; the first part begins with the seed itself."""
        starts = range(0, self.runs or 1, PART)
        return [
            replace(self, runs=self.runs and min(PART, self.runs - start), seed=self.seed + number * _APART)
            for number, start in enumerate(starts)
        ]


@dataclass(frozen=True)
class TaskResult:
    """What a task looked at, and the schedule of the run that is wrong, if one is."""

    found: Explored
    schedule: tuple[Choice, ...] | None = None


def run_task(task: Task) -> TaskResult:
    """Carry out a task."""
    scenario = task.made()
    found = scenario.explore() if task.runs is None else scenario.draw(task.runs, task.seed)
    if found.failure is None:
        return TaskResult(found)
    return TaskResult(replace(found, failure=None), found.failure.run.schedule)


def combined(parts: Iterator[TaskResult]) -> TaskResult:
    """All parts of a task up to the first that is wrong, as one."""
    total = next(parts)
    for part in parts if total.schedule is None else ():
        total = TaskResult(_sum(total.found, part.found), part.schedule)
        if part.schedule is not None:
            break
    return total


def _sum(one: Explored, other: Explored) -> Explored:
    return Explored(
        runs=one.runs + other.runs, pruned=one.pruned + other.pruned, steps=one.steps + other.steps,
        crashes=one.crashes + other.crashes, starts=one.starts + other.starts,
        is_complete=one.is_complete and other.is_complete, seen=one.seen | other.seen,
    )  # fmt: skip


RunTasks = Callable[[Iterable[Task]], Iterator[TaskResult]]


@contextmanager
def in_parallel(jobs: int, prepare: Callable[[], object]) -> Iterator[RunTasks]:
    """What carries out tasks, in order; in more than one process `prepare` is called in each of them first.

    The processes are forked from one that has begun to do nothing: hashes of states are the same in all of them.
    """
    if jobs == 1:
        yield lambda tasks: map(run_task, tasks)
        return
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with ProcessPoolExecutor(jobs, context, prepare) as pool:
        yield lambda tasks: pool.map(run_task, tasks)
