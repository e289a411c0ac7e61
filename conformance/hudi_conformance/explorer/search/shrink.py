"""Shrink a failing run: fewer processes, shorter programs, fewer faults, fewer context switches, fewer steps.

A smaller run counts if it fails with any violation, not necessarily the same one: a smaller failure is easier to understand.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from hudi_conformance.explorer.search.checker import Check, CheckState
from hudi_conformance.explorer.search.explore import MakeProcesses, MakeStore, explore_exhaustively
from hudi_conformance.explorer.simulation.actor import Actor, Process
from hudi_conformance.explorer.simulation.program_tree import NotPossible
from hudi_conformance.explorer.simulation.runs import Choice, Run, Schedule, parse_choices
from hudi_conformance.explorer.simulation.scheduler import Simulation, run_simulation

#: Most runs of one search for fewer context switches.
MOST_RUNS = 5_000


@dataclass(frozen=True)
class InOrder:
    """A program of several parts, which the shrinker may remove. Its result is that of the last part."""

    parts: tuple[Callable[[Actor], object], ...]

    def __call__(self, actor: Actor) -> object:
        """Run the parts."""
        found: object = None
        for part in self.parts:
            found = part(actor)
        return found


@dataclass(frozen=True)
class Shrunk:
    """The smallest failure found: the choices of its schedule, after which the processes continue in order."""

    processes: tuple[Process, ...]
    schedule: tuple[Choice, ...]
    run: Run
    violation: str

    @property
    def turns(self) -> int:
        """The number of turns in the schedule: sequences of steps of one process."""
        return sum(1 for _ in groupby(self.schedule, key=lambda choice: choice.process))

    @property
    def size(self) -> tuple[int, int, int, int]:
        """What is minimized, in this order: processes and parts, faults, turns, steps of the schedule."""
        parts = sum(len(p.program.parts) if isinstance(p.program, InOrder) else 1 for p in self.processes)
        faults = sum(1 for choice in self.schedule if choice.fault)
        return parts, faults, self.turns, len(self.schedule)


def shrink(
    make_store: MakeStore,
    processes: MakeProcesses,
    schedule: Schedule,
    check: Check | None = None,
    each: CheckState | None = None,
) -> Shrunk:
    """Shrink the failing run of a schedule.

    Raises:
        ValueError: the run does not fail.
    """
    trial = _Trial(make_store, check, each)
    first = trial.fails(tuple(processes() if callable(processes) else processes), tuple(parse_choices(schedule)))
    if first is None:
        raise ValueError("the run of this schedule does not fail")
    found = first
    while True:
        smaller = next((s for s in trial.smaller(found) if s.size < found.size), None)
        if smaller is None:
            return found
        found = smaller


@dataclass
class _Trial:
    make_store: MakeStore
    check: Check | None
    each: CheckState | None
    _simulation: tuple[tuple[Process, ...], Simulation] | None = None

    def fails(self, processes: tuple[Process, ...], schedule: tuple[Choice, ...]) -> Shrunk | None:
        """The failure of that run, None if it does not fail. Choices that cannot be taken are skipped."""
        try:
            run = run_simulation(self._of(processes), schedule, strict=False)
        except NotPossible:
            return None
        violation = self._violation(run)
        if violation is None:
            return None
        taken = run.schedule[: _needed(run, len(schedule))]
        return Shrunk(processes, taken, run, violation)

    def _of(self, processes: tuple[Process, ...]) -> Simulation:
        """The simulation of these processes, kept from the earlier trial so that programs are not run again."""
        if self._simulation is None or self._simulation[0] is not processes:
            self._simulation = (processes, Simulation(self.make_store(), processes))
        return self._simulation[1]

    def _violation(self, run: Run) -> str | None:
        if self.each is not None:
            for step in run.steps:
                if violation := self.each(step.state):
                    return violation
        return self.check(run) if self.check is not None else None

    def smaller(self, found: Shrunk) -> Iterator[Shrunk]:
        """Failures that may be smaller, the greatest reductions first."""
        for processes in _fewer(found.processes):
            failure = self.fails(processes, found.schedule) or self._searched(processes, found, found.turns)
            if failure is not None:
                yield failure
        for schedule in _simpler(found.schedule):
            if failure := self.fails(found.processes, schedule):
                yield failure
        for turns in range(1, found.turns):
            if failure := self._searched(found.processes, found, turns):
                yield failure

    def _searched(self, processes: tuple[Process, ...], found: Shrunk, turns: int) -> Shrunk | None:
        """A failure with at most so many turns and the same faults, searched in all orders."""
        faults = [choice.fault for choice in found.schedule if choice.fault]
        explored = explore_exhaustively(
            self.make_store, processes, preemptions=turns - 1, crashes=len(faults), faults=tuple(dict.fromkeys(faults)),
            check=self.check, each=self.each, most_runs=MOST_RUNS,
        )  # fmt: skip
        return None if explored.failure is None else self.fails(processes, explored.failure.run.schedule)


def _needed(run: Run, length: int) -> int:
    """How many of the first choices are needed: after them the processes continue in order, without faults."""
    order = list(run.results)
    schedule = run.schedule
    end = min(length, len(schedule))
    while end and schedule[end - 1].fault is None and _is_in_order(schedule[end - 1 :], order):
        end -= 1
    return end


def _is_in_order(schedule: Sequence[Choice], order: Sequence[str]) -> bool:
    """Whether the rest is one process after the other, in order and without faults."""
    turns = [name for name, _ in groupby(choice.process for choice in schedule)]
    return turns == sorted(set(turns), key=order.index) and not any(choice.fault for choice in schedule)


def _fewer(processes: tuple[Process, ...]) -> Iterator[tuple[Process, ...]]:
    """Without one process, or without one part of a program."""
    for place, process in enumerate(processes):
        if len(processes) > 1:
            rest = (*processes[:place], *processes[place + 1 :])
            yield tuple(replace(p, after=tuple(name for name in p.after if name != process.name)) for p in rest)
    for place, process in enumerate(processes):
        if isinstance(process.program, InOrder) and len(parts := process.program.parts) > 1:
            for part in range(len(parts)):
                shorter = replace(process, program=InOrder((*parts[:part], *parts[part + 1 :])))
                yield (*processes[:place], shorter, *processes[place + 1 :])


def _simpler(schedule: tuple[Choice, ...]) -> Iterator[tuple[Choice, ...]]:
    """Without a fault, without a turn, with two turns exchanged, and with shorter turns."""
    for place, choice in enumerate(schedule):
        if choice.fault:
            yield (*schedule[:place], Choice(choice.process), *schedule[place + 1 :])
            yield (*schedule[:place], *schedule[place + 1 :])
    turns = [tuple(turn) for _, turn in groupby(schedule, key=lambda choice: choice.process)]
    for place in range(len(turns)):
        yield _flat([*turns[:place], *turns[place + 1 :]])
    for place in range(len(turns) - 1):
        yield _flat([*turns[:place], turns[place + 1], turns[place], *turns[place + 2 :]])
    for place, turn in enumerate(turns):
        for length in sorted({0, len(turn) // 2, len(turn) - 1}):
            if length < len(turn):
                yield _flat([*turns[:place], turn[:length], *turns[place + 1 :]])


def _flat(turns: Sequence[tuple[Choice, ...]]) -> tuple[Choice, ...]:
    return tuple(choice for turn in turns for choice in turn)
