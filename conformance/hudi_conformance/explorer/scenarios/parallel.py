"""Exploration of scenarios in several processes. The result does not depend on their number.

An exhaustive exploration of a scenario is one task; random runs are divided into tasks of `PART` runs, each with its own seed.
"""

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from hudi_conformance.explorer.scenarios.scenario import Scenario
from hudi_conformance.explorer.scenarios.scenarios import SCENARIOS
from hudi_conformance.explorer.search.checker import Explored
from hudi_conformance.explorer.simulation.runs import Choice
from hudi_conformance.processes.session import end_with_parent

#: Random runs of one task: so many that the first run of each program takes little of the time.
PART = 5_000
#: Distance of the seeds of two tasks: a prime, so that usual seeds do not collide.
_SEED_DISTANCE = 1_000_003


@dataclass(frozen=True)
class Task:
    """A scenario within bounds, or `runs` random orders of it."""

    scenario: str
    store: str
    bounds: dict[str, Any] = field(default_factory=dict)
    runs: int | None = None
    seed: int = 0

    def make_scenario(self) -> Scenario:
        """The scenario."""
        return SCENARIOS[self.scenario].make_scenario(self.scenario, **self.bounds).with_store(self.store)

    def split(self) -> list["Task"]:
        """The parts that can run in parallel; the first part uses the seed itself."""
        starts = range(0, self.runs or 1, PART)
        return [
            replace(self, runs=self.runs and min(PART, self.runs - start), seed=self.seed + number * _SEED_DISTANCE)
            for number, start in enumerate(starts)
        ]


@dataclass(frozen=True)
class TaskResult:
    """What a task explored, and the schedule of its failing run, if any."""

    found: Explored
    schedule: tuple[Choice, ...] | None = None


def run_task(task: Task) -> TaskResult:
    """Run a task."""
    scenario = task.make_scenario()
    found = scenario.explore_exhaustively() if task.runs is None else scenario.explore_randomly(task.runs, task.seed)
    if found.failure is None:
        return TaskResult(found)
    return TaskResult(replace(found, failure=None), found.failure.run.schedule)


def combine_results(parts: Iterator[TaskResult]) -> TaskResult:
    """The sum of all parts of a task up to the first failure."""
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
def parallel_runner(jobs: int, prepare: Callable[[], object]) -> Iterator[RunTasks]:
    """A function that runs tasks and returns their results in order, in `jobs` processes; each calls `prepare` first.

    The processes are forked from one fresh process, so that hashes of states are equal in all of them.
    """
    if jobs == 1:
        yield lambda tasks: map(run_task, tasks)
        return
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["hudi_conformance.processes.with_parent", __name__])
    with ProcessPoolExecutor(jobs, context, _begin_worker, (prepare,)) as pool:

        def run_all(tasks: Iterable[Task]) -> Iterator[TaskResult]:
            with _interrupt_deferred():
                return _results(deque(pool.submit(run_task, task) for task in tasks))

        try:
            yield run_all
        except BaseException:
            for worker in list(pool._processes.values()):  # a task may take minutes, and the executor would wait for it
                worker.kill()
            raise


def _results(futures: "deque[Future[TaskResult]]") -> Iterator[TaskResult]:
    """The results in order. Unlike `Executor.map` it cancels nothing: a killed pool fails at futures that are cancelled."""
    while futures:
        yield futures.popleft().result()


@contextmanager
def _interrupt_deferred() -> Iterator[None]:
    """Defer Ctrl-C to the end of the block. Processes that start in it never get it: this one kills them."""
    received: list[int] = []
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # new processes inherit it; other threads do not have it
    handler = signal.signal(signal.SIGINT, lambda number, _: received.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    if received:
        raise KeyboardInterrupt


def _begin_worker(prepare: Callable[[], object]) -> None:
    end_with_parent()
    parent = multiprocessing.parent_process()
    if parent is not None and not parent.is_alive():  # it ended before this process asked to end with it
        os._exit(1)
    prepare()
