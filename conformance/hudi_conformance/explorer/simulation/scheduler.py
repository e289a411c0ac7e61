"""Processes that run request by request, in the order that a schedule gives.

    simulated = SimulatedStore.of(storage)
    writers = [Process("a", lambda actor: actor.open().upsert(rows)), Process("b", lambda actor: actor.open().delete(keys))]
    run(simulated, writers, schedule=["a", "a", "b"])      # two requests of a, one of b, then a to its end, then b

A point of a run consists of the state of the store and the state of each program. `Simulation.step` takes the request at
which a program waits, executes it on the state of the store, and looks up the state of the program that follows the answer.
The result is another point; the first one is unchanged, so that a search can continue from any point in several ways.

Programs are plain code on the protocols of the reference (`actor`). A program that got the same answers before is not run
again: its next request is looked up (`program_tree`). Schedules, steps and runs are the values of `runs`.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from hudi_conformance.explorer.simulation.actor import Process
from hudi_conformance.explorer.simulation.program_tree import NotPossible, ProgramState, ProgramTree
from hudi_conformance.explorer.simulation.runs import ProcessResult, Run, Schedule, Step, parse_choices
from hudi_conformance.explorer.simulation.simulated_store import CHANGES, STALL, Request, SimulatedStore, State, failed_answer
from hudi_reference.errors import OutcomeUnknown, StorageUnavailable

_CRASHED = ProcessResult("crashed")
_STALLED = ProcessResult("stalled")


class Point(NamedTuple):
    """A point of a run: the state of the store, the state of each program, and the stalled processes."""

    state: State
    program_states: tuple[ProgramState, ...]
    stalled: frozenset[int] = frozenset()


#: Millions of steps and points are made; this takes half as long as calling their classes.
_a_step: Callable[[tuple[str, Request, Any, State, str | None]], Step] = partial(tuple.__new__, Step)
_a_point: Callable[[tuple[State, tuple[ProgramState, ...], frozenset[int]]], Point] = partial(tuple.__new__, Point)


class Simulation:
    """Processes on a simulated store. From any point it computes the points that can follow; points are values."""

    def __init__(self, simulated: SimulatedStore, processes: Sequence[Process]) -> None:
        store = simulated.store
        self.simulated = simulated if store is None else simulated.with_settings(list_delay=store.list_delay)
        self.names = tuple(process.name for process in processes)
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"two processes have one name: {self.names}")
        self.place = {name: place for place, name in enumerate(self.names)}
        self._after = tuple(tuple(self.place[name] for name in process.after) for process in processes)
        self._have_order = any(self._after)
        self._trees = tuple(ProgramTree(process, self.simulated) for process in processes)

    @property
    def start_count(self) -> int:
        """How often programs were run."""
        return sum(tree.starts for tree in self._trees)

    def first_point(self) -> Point:
        """The point before the first step."""
        return Point(self.simulated.state, tuple(tree.first for tree in self._trees))

    def runnable_processes(self, point: Point) -> list[int]:
        """The processes that can take a step.

        A stalled process, or one that waits for the lock, can take a step only if no other process can. A process that waits
        for a lease can always take a step: it waits until the lease has expired.
        """
        state, program_states, stalled = point
        waiting = [place for place, program_state in enumerate(program_states) if program_state.request is not None]
        if self._have_order:
            waiting = [place for place in waiting if self.has_begun(point, place)]
        if state.holder is None and not stalled:
            return waiting
        is_held = state.holder is not None and state.expires is None
        ready = [p for p in waiting if p not in stalled and not (is_held and program_states[p].waits_for_lock)]
        return ready or [p for p in waiting if not self._is_blocked(point, p)] or waiting

    def has_begun(self, point: Point, place: int) -> bool:
        """Whether the processes that must end before this one have ended."""
        return all(point.program_states[before].ended is not None for before in self._after[place])

    def released_by_end(self, point: Point, before: Sequence[int], after: Sequence[int]) -> list[int]:
        """The processes that became runnable at this point because all others had ended, not because the lock became free."""
        new = [place for place in after if place not in before]
        return [
            p for p in new
            if p in point.stalled or self._is_blocked(point, p) or (self._after[p] and not point.program_states[p].number)
        ]  # fmt: skip

    def _is_blocked(self, point: Point, place: int) -> bool:
        return point.program_states[place].waits_for_lock and point.state.holder is not None and point.state.expires is None

    def take_step(self, point: Point, place: int, fault: str | None = None) -> tuple[Point, Step]:
        """Take a step of the process at that place, which must be runnable; the point after it."""
        state, program_states, stalled = point
        program_state, name = program_states[place], self.names[place]
        request = program_state.request
        assert request is not None
        if fault is not None:
            return self._faulty(point, place, fault, request)
        state, answer = self.simulated.execute(state, name, program_state.number, request)
        follows = program_state.next.get(answer) or self._trees[place].next_state(program_state, answer)
        now = list(program_states)
        now[place] = follows
        point = _a_point((state, tuple(now), stalled - {place} if stalled else stalled))
        return point, _a_step((name, request, answer, state, None))

    def _faulty(self, point: Point, place: int, fault: str, request: Request) -> tuple[Point, Step]:
        state, program_states, stalled = point
        program_state, name, answer = program_states[place], self.names[place], None
        if fault in ("crash-after", "lose-answer"):
            state, answer = self.simulated.execute(state, name, program_state.number, request)
        if fault in ("crash-before", "crash-after"):
            state = self.simulated.after_crash(state, name)
            follows = ProgramState((program_state, answer), _CRASHED)
        elif fault in ("lose-answer", "lose-request"):
            unknown = OutcomeUnknown if request.kind in CHANGES else StorageUnavailable
            answer = failed_answer(unknown(f"no answer to {request}"))
            follows = self._trees[place].next_state(program_state, answer)
        else:
            follows, stalled, state = program_state, stalled | {place}, state._replace(time=state.time + STALL)
        now = Point(state, (*program_states[:place], follows, *program_states[place + 1 :]), stalled)
        return now, Step(name, request, answer, state, fault)

    def make_run(self, point: Point, steps: Sequence[Step]) -> Run:
        """The run that led to this point."""
        results = {
            name: program_state.ended or _STALLED for name, program_state in zip(self.names, point.program_states, strict=True)
        }
        return Run(self.simulated, tuple(steps), results)


def run_schedule(
    simulated: SimulatedStore,
    processes: Sequence[Process],
    schedule: Schedule = (),
    *,
    strict: bool = True,
    to_end: bool = True,
) -> Run:
    """Execute a schedule; then run each process to its end, one after the other, unless `to_end` is False.

    Raises:
        NotPossible: a choice cannot be taken. If not `strict`, such choices are skipped.
    """
    return run_simulation(Simulation(simulated, processes), schedule, strict=strict, to_end=to_end)


def run_simulation(simulation: Simulation, schedule: Schedule, *, strict: bool = True, to_end: bool = True) -> Run:
    """Execute a schedule in an existing simulation, which need not run its programs again."""
    point, steps = simulation.first_point(), list[Step]()
    for choice in parse_choices(schedule):
        place = simulation.place.get(choice.process)
        if place is None or place not in simulation.runnable_processes(point):
            if strict:
                raise NotPossible(f"step {len(steps) + 1}: {choice.process} cannot take a step")
            continue
        point, step = simulation.take_step(point, place, choice.fault)
        steps.append(step)
    while to_end and (ready := simulation.runnable_processes(point)):
        point, step = simulation.take_step(point, ready[0])
        steps.append(step)
    return simulation.make_run(point, steps)
