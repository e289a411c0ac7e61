"""Processes that run request by request, in the order that a schedule gives.

    simulated = SimulatedStore.of(storage)
    writers = [Process("a", lambda actor: actor.open().upsert(rows)), Process("b", lambda actor: actor.open().delete(keys))]
    run(simulated, writers, schedule=["a", "a", "b"])      # two requests of a, one of b, then a to its end, then b

Programs are plain code on the protocols of the reference. Each runs in its own greenlet, which pauses at each request to the
simulated store. What a program does next depends only on the answers that it got. A program that got the same answers before is
therefore not run again: its next request is looked up (`ProgramTree`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple
from zlib import crc32

import pyarrow as pa
from greenlet import GreenletExit, greenlet

from hudi_conformance.explorer.simulation.simulated_store import (
    CHANGES,
    STALL,
    Failed,
    FrozenStorage,
    Request,
    SimulatedStore,
    State,
    content,
    failed,
)
from hudi_conformance.explorer.simulation.stores import STORES, Store
from hudi_reference import WritableTable, open_table
from hudi_reference.clock import Clock
from hudi_reference.errors import OutcomeUnknown, StorageUnavailable
from hudi_reference.ids import Ids, SeededIds
from hudi_reference.locks import Lock
from hudi_reference.storage import ObjectInfo, Storage

#: Faults at a step: the process crashes before its request, or after it; the request has its effect, or none, and the answer
#: is lost; the process pauses for an hour, until the others can do no more.
FAULTS = ("crash-before", "crash-after", "lose-answer", "lose-request", "stall")
#: A process that sends more requests than this is taken for endless.
MOST_REQUESTS = 20_000


class Choice(NamedTuple):
    """The process that takes the next step, and its fault, if any."""

    process: str
    fault: str | None = None

    def __str__(self) -> str:
        return f"{self.process}!{self.fault}" if self.fault else self.process


Schedule = Sequence[Choice | str]


@dataclass(frozen=True)
class Process:
    """A program with a name. It starts when the processes in `after` have ended; its clock differs by `skew` ms."""

    name: str
    program: "Callable[[Actor], object]"
    after: tuple[str, ...] = ()
    skew: int = 0


@dataclass(frozen=True)
class ProcessResult:
    """How a process ended: "returned" a value, "raised" an error, "crashed", or "stalled" if the run ended first."""

    how: str
    value: Any = None
    error: Exception | None = None

    def __str__(self) -> str:
        if self.error is not None:
            name, said = type(self.error).__name__, str(self.error).partition("\n")[0]
            return f"{self.how} {said if said.startswith(name) else f'{name}: {said}'}"
        return self.how if self.value is None else f"{self.how} {self.value}"


class Step(NamedTuple):
    """One step of a run: the process, its request, the answer, and the state of the store after it."""

    process: str
    asked: Request
    answer: Any
    state: State
    fault: str | None = None

    @property
    def request(self) -> str:
        """The kind of the request."""
        return self.asked.kind

    @property
    def path(self) -> str:
        """The object or folder of the request, "" for clock and lock."""
        return self.asked.path

    @property
    def time(self) -> int:
        """Milliseconds since the epoch, after the step."""
        return self.state.time

    @property
    def effect(self) -> str:
        """The effect of the step, in one or two words."""
        if self.fault in ("crash-before", "lose-request", "stall"):
            return "no effect"
        if isinstance(self.answer, Failed):
            return self.answer.kind.__name__
        return "changed" if self.asked.kind in CHANGES else "ok"

    def __str__(self) -> str:
        fault = f" [{self.fault}]" if self.fault else ""
        effect = f" -> {self.effect}" if isinstance(self.answer, Failed) else ""
        return f"{self.process}: {self.asked}{effect}{fault}"


@dataclass(frozen=True)
class Run:
    """A run: every step, and how each process ended."""

    simulated: SimulatedStore
    steps: tuple[Step, ...]
    results: Mapping[str, ProcessResult]

    @property
    def state(self) -> State:
        """The state at the end."""
        return self.steps[-1].state if self.steps else self.simulated.state

    @cached_property
    def storage(self) -> FrozenStorage:
        """The objects at the end."""
        return self.state.storage

    @property
    def schedule(self) -> tuple[Choice, ...]:
        """The schedule that repeats this run."""
        return tuple(Choice(step.process, step.fault) for step in self.steps)


# A process and its access to the simulated store.


class Actor:
    """What a program gets: its storage, clock, lock and ids."""

    def __init__(self, process: Process, simulated: SimulatedStore, hub: greenlet) -> None:
        self.name = process.name
        self.skew = process.skew
        self._hub = hub
        self._is_crashed = False
        store = STORES["atomic"] if simulated.store is None else simulated.store
        self.storage: Storage = ActorStorage(self, store)
        self.clock: Clock = ActorClock(self)
        self.lock: Lock = ActorLock(self, simulated)
        self.ids: Ids = SeededIds(crc32(process.name.encode()))

    def ask(self, request: Request) -> Any:
        """Pause until the scheduler has executed the request; return its answer."""
        if self._is_crashed:
            raise GreenletExit
        try:
            answer = self._hub.switch(request)
        except GreenletExit:  # the process was discarded: requests of its error handlers have no effect
            self._is_crashed = True
            raise
        if answer.__class__ is Failed:
            raise answer.error.with_traceback(None)
        return answer

    def note(self, what: str, detail: Any = None) -> None:
        """Record a note: a step without effect."""
        self.ask(Request("note", what, detail))

    def open(self, **options: Any) -> WritableTable:
        """Open the table. `options` are keywords of `open_table` that replace those of the actor."""
        given = {"storage": self.storage, "clock": self.clock, "ids": self.ids, "lock": self.lock, **options}
        return replace(open_table("memory:///explored", **given), parallelism=1)


@dataclass(frozen=True)
class ActorStorage:
    """Storage whose requests are steps."""

    actor: Actor
    store: Store

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """One step."""
        part = None if start == 0 and length is None else (start, length)
        return self.actor.ask(Request("get", path, part))  # type: ignore[no-any-return]

    def open(self, path: str) -> pa.NativeFile:
        """One step: the whole object is read."""
        return content(self.actor.ask(Request("open", path)))

    def head(self, path: str) -> ObjectInfo | None:
        """One step."""
        return self.actor.ask(Request("head", path))  # type: ignore[no-any-return]

    def list(self, prefix: str = "", *, skip: str | None = None) -> list[ObjectInfo]:
        """One step."""
        return list(self.actor.ask(Request("list", prefix, skip)))

    def names(self, folder: str) -> tuple[str, ...]:
        """One step."""
        return self.actor.ask(Request("names", folder))  # type: ignore[no-any-return]

    def put(self, path: str, data: bytes) -> None:
        """One step."""
        self.actor.ask(Request("put", path, data))

    def create(self, path: str, data: bytes) -> None:
        """As many steps as the store needs."""
        self.store.create(self.actor, path, data)

    def replace(self, path: str, data: bytes, version: str) -> None:
        """As many steps as the store needs."""
        self.store.replace(self.actor, path, data, version)

    def delete(self, path: str) -> None:
        """One step."""
        self.actor.ask(Request("delete", path))


@dataclass(frozen=True)
class ActorClock:
    """The simulated clock plus the skew of the process."""

    actor: Actor

    def now(self) -> int:
        """One step."""
        return int(self.actor.ask(Request("now"))) + self.actor.skew

    def sleep(self, milliseconds: int) -> None:
        """One step, in which time advances for all processes."""
        self.actor.ask(Request("sleep", "", milliseconds))


class ActorLock:
    """The table lock. Acquiring and releasing it are steps; its holder acquires it again without a step."""

    def __init__(self, actor: Actor, simulated: SimulatedStore) -> None:
        self.in_process = simulated.shares_clock
        self._kind = None if simulated.lease is None else "lease"
        self._actor = actor
        self._owner: str | None = None
        self._depth = 0

    def acquire(self, owner: str) -> None:
        """Wait until the lock is free."""
        if self._owner != owner:
            self._actor.ask(Request("acquire", "", self._kind))
            self._owner, self._depth = owner, 0
        self._depth += 1

    def release(self, owner: str) -> None:
        """Raises LockNotHeld if it is not held, or not any more."""
        if self._owner == owner and self._depth > 1:
            self._depth -= 1
            return
        if self._owner == owner:
            self._owner = None
        self._actor.ask(Request("release"))

    def check(self, owner: str) -> None:
        """One step. Raises LockNotHeld if the lease ran out."""
        self._actor.ask(Request("check", "", self._kind))


# What a program does, as far as it was run.


class ProgramState:
    """A state of a program: it waits for the answer to `request`, or has ended."""

    __slots__ = ("before", "ended", "next", "number", "request", "waits_for_lock")

    def __init__(self, before: "tuple[ProgramState, Any] | None", found: Request | ProcessResult) -> None:
        self.before = before
        self.number: int = before[0].number + 1 if before else 0
        self.request: Request | None = found if isinstance(found, Request) else None
        self.ended: ProcessResult | None = found if isinstance(found, ProcessResult) else None
        self.waits_for_lock = self.request is not None and self.request.kind == "acquire"
        self.next: dict[Any, ProgramState] = {}

    def answers(self) -> list[Any]:
        """The answers that led to this state."""
        found, program_state = [], self
        while program_state.before:
            program_state, answer = program_state.before
            found.append(answer)
        return found[::-1]


class NotPossible(Exception):
    """The schedule names a process that cannot take a step, or a process does not end."""


class NotDeterministic(Exception):
    """A program that got the same answers as before sent another request, so that schedules do not determine runs."""


class ProgramTree:
    """A program as a tree: each state leads, by each answer, to the next state. It grows by running the program."""

    def __init__(self, process: Process, simulated: SimulatedStore) -> None:
        self.process = process
        self._world = simulated
        #: How often the program was started.
        self.starts = 0
        self._running: tuple[ProgramState, greenlet] | None = None
        self.first = self._begin()

    def after(self, program_state: ProgramState, answer: Any) -> ProgramState:
        """The state after this answer."""
        found = program_state.next.get(answer)
        if found is None:
            if self._running is None or self._running[0] is not program_state:
                self._replay_to(program_state)
            found = program_state.next[answer] = self._continue(program_state, answer)
        return found

    def _begin(self) -> ProgramState:
        self.starts += 1
        running = greenlet(_run_program)
        program_state = ProgramState(None, running.switch(self.process, self._world, greenlet.getcurrent()))
        self._running = (program_state, running)
        return program_state

    def _continue(self, program_state: ProgramState, answer: Any) -> ProgramState:
        assert self._running is not None
        running = self._running[1]
        if program_state.number > MOST_REQUESTS:
            raise NotPossible(
                f"{self.process.name} does not end within {MOST_REQUESTS} requests, the last one: {program_state.request}"
            )
        found = ProgramState((program_state, answer), running.switch(answer))
        self._running = (found, running)
        return found

    def _replay_to(self, program_state: ProgramState) -> None:
        """Run the program again up to this state, with the same answers."""
        known = self._begin()
        answers = program_state.answers()
        path = [program_state]
        while path[-1].before:
            path.append(path[-1].before[0])
        for wanted, answer in zip(path[-2::-1], answers, strict=True):
            known = self._continue(known, answer)
            if (known.request, known.ended and known.ended.how) != (wanted.request, wanted.ended and wanted.ended.how):
                raise NotDeterministic(f"{self.process.name} asked {known.request}, and before {wanted.request}")
        assert self._running is not None
        self._running = (program_state, self._running[1])


def _run_program(process: Process, simulated: SimulatedStore, hub: greenlet) -> ProcessResult:
    """The greenlet of a process. It must not refer to objects that refer to the greenlet, so that both can be collected."""
    try:
        return ProcessResult("returned", process.program(Actor(process, simulated, hub)))
    except Exception as error:
        return ProcessResult("raised", error=error.with_traceback(None))


# Runs.

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
        self.simulated = simulated if store is None else simulated.with_(list_delay=store.list_delay)
        self.names = tuple(process.name for process in processes)
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"two processes have one name: {self.names}")
        self.place = {name: place for place, name in enumerate(self.names)}
        self._after = tuple(tuple(self.place[name] for name in process.after) for process in processes)
        self._have_order = any(self._after)
        self._trees = tuple(ProgramTree(process, self.simulated) for process in processes)

    @property
    def starts(self) -> int:
        """How often programs were run."""
        return sum(tree.starts for tree in self._trees)

    def start(self) -> Point:
        """The point before the first step."""
        return Point(self.simulated.state, tuple(tree.first for tree in self._trees))

    def runnable(self, point: Point) -> list[int]:
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

    def released(self, point: Point, before: Sequence[int], after: Sequence[int]) -> list[int]:
        """The processes that became runnable at this point because all others had ended, not because the lock became free."""
        new = [place for place in after if place not in before]
        return [
            p for p in new
            if p in point.stalled or self._is_blocked(point, p) or (self._after[p] and not point.program_states[p].number)
        ]  # fmt: skip

    def _is_blocked(self, point: Point, place: int) -> bool:
        return point.program_states[place].waits_for_lock and point.state.holder is not None and point.state.expires is None

    def step(self, point: Point, place: int, fault: str | None = None) -> tuple[Point, Step]:
        """Take a step of the process at that place, which must be runnable; the point after it."""
        state, program_states, stalled = point
        program_state, name = program_states[place], self.names[place]
        request = program_state.request
        assert request is not None
        if fault is not None:
            return self._faulty(point, place, fault, request)
        state, answer = self.simulated.execute(state, name, program_state.number, request)
        follows = program_state.next.get(answer) or self._trees[place].after(program_state, answer)
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
            answer = failed(unknown(f"no answer to {request}"))
            follows = self._trees[place].after(program_state, answer)
        else:
            follows, stalled, state = program_state, stalled | {place}, state._replace(time=state.time + STALL)
        now = Point(state, (*program_states[:place], follows, *program_states[place + 1 :]), stalled)
        return now, Step(name, request, answer, state, fault)

    def ended(self, point: Point, steps: Sequence[Step]) -> Run:
        """The run that led to this point."""
        results = {
            name: program_state.ended or _STALLED for name, program_state in zip(self.names, point.program_states, strict=True)
        }
        return Run(self.simulated, tuple(steps), results)


def run(
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
    point, steps = simulation.start(), list[Step]()
    for choice in choices_of(schedule):
        place = simulation.place.get(choice.process)
        if place is None or place not in simulation.runnable(point):
            if strict:
                raise NotPossible(f"step {len(steps) + 1}: {choice.process} cannot take a step")
            continue
        point, step = simulation.step(point, place, choice.fault)
        steps.append(step)
    while to_end and (ready := simulation.runnable(point)):
        point, step = simulation.step(point, ready[0])
        steps.append(step)
    return simulation.ended(point, steps)


def choices_of(schedule: Schedule) -> Iterator[Choice]:
    """The choices of a schedule; a text is the name of a process, optionally with a fault after `!`."""
    for choice in schedule:
        yield choice if isinstance(choice, Choice) else choice_of(choice)


def choice_of(text: str) -> Choice:
    """Parse a choice. Raises ValueError for an unknown fault."""
    name, _, fault = text.partition("!")
    if fault and fault not in FAULTS:
        raise ValueError(f"unknown fault {fault!r}; the faults are {', '.join(FAULTS)}")
    return Choice(name, fault or None)
