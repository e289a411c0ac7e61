"""Processes that take turns: one request of one of them at a time, in any order that is asked for.

    world = World.of(storage)
    writers = [Process("a", lambda actor: actor.open().upsert(rows)), Process("b", lambda actor: actor.open().delete(keys))]
    run(world, writers, schedule=["a", "a", "b"])        # two requests of a, one of b, then a to its end, then b

Programs are plain code on the protocols of the reference. Each runs in a greenlet of its own, which stops wherever the
program asks something of the world. What a program does next depends on nothing but the answers it got; so a program that got
the same answers is not run again, it is looked up (`Life`).
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

#: What may befall a process at a step: it dies before its request, or right after; the request has its effect, or none, and
#: its answer does not arrive; the process stands still for a long time, until the others can do no more.
FAULTS = ("crash-before", "crash-after", "lose-answer", "lose-request", "stall")
#: A process that asks more than this does not end.
MOST_REQUESTS = 20_000


class Choice(NamedTuple):
    """Who takes the next step, and what befalls it."""

    process: str
    fault: str | None = None

    def __str__(self) -> str:
        return f"{self.process}!{self.fault}" if self.fault else self.process


Schedule = Sequence[Choice | str]


@dataclass(frozen=True)
class Process:
    """A program by name. It begins when those that it comes `after` have ended, and its clock differs by `skew` ms."""

    name: str
    program: "Callable[[Actor], object]"
    after: tuple[str, ...] = ()
    skew: int = 0


@dataclass(frozen=True)
class ProcessResult:
    """How a process ended: "returned" a value, "raised" an error, "crashed"; "stalled" if the run was over first."""

    how: str
    value: Any = None
    error: Exception | None = None

    def __str__(self) -> str:
        if self.error is not None:
            name, said = type(self.error).__name__, str(self.error).partition("\n")[0]
            return f"{self.how} {said if said.startswith(name) else f'{name}: {said}'}"
        return self.how if self.value is None else f"{self.how} {self.value}"


class Step(NamedTuple):
    """One step of a run: who, what was asked and answered, and the state of the world after it."""

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
        """What came of it, in a word or two."""
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
    """What happened: every step, and how each process ended."""

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
        """What makes this run again."""
        return tuple(Choice(step.process, step.fault) for step in self.steps)


# A process and its view of the world.


class Actor:
    """A process inside its program: storage, clock, lock and ids as it has them."""

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
        """Stop until the scheduler has the request carried out; its answer."""
        if self._is_crashed:
            raise GreenletExit
        try:
            answer = self._hub.switch(request)
        except GreenletExit:  # nobody waits for this process any more: what its handlers ask is not heard
            self._is_crashed = True
            raise
        if answer.__class__ is Failed:
            raise answer.error.with_traceback(None)
        return answer

    def note(self, what: str, detail: Any = None) -> None:
        """Put something on record: a step without effect."""
        self.ask(Request("note", what, detail))

    def open(self, **options: Any) -> WritableTable:
        """The table of this world. The keywords are those of `open_table`, where they differ from the actor's."""
        given = {"storage": self.storage, "clock": self.clock, "ids": self.ids, "lock": self.lock, **options}
        return replace(open_table("memory:///explored", **given), parallelism=1)


@dataclass(frozen=True)
class ActorStorage:
    """Storage of which each request is a step."""

    actor: Actor
    store: Store

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """One step."""
        part = None if start == 0 and length is None else (start, length)
        return self.actor.ask(Request("get", path, part))  # type: ignore[no-any-return]

    def open(self, path: str) -> pa.NativeFile:
        """One step: the object is had whole."""
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
    """The world's clock, as much before or behind as the process's skew."""

    actor: Actor

    def now(self) -> int:
        """One step."""
        return int(self.actor.ask(Request("now"))) + self.actor.skew

    def sleep(self, milliseconds: int) -> None:
        """One step, in which time passes for everybody."""
        self.actor.ask(Request("sleep", "", milliseconds))


class ActorLock:
    """The lock of the table. Taking it and giving it up are steps; who has it takes it again without one."""

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


# What a program does, as far as it is known.


class ProgramState:
    """A moment in the life of a process: it waits for the answer to `request`, or has ended."""

    __slots__ = ("before", "ended", "next", "number", "request", "waits_for_lock")

    def __init__(self, before: "tuple[ProgramState, Any] | None", found: Request | ProcessResult) -> None:
        self.before = before
        self.number: int = before[0].number + 1 if before else 0
        self.request: Request | None = found if isinstance(found, Request) else None
        self.ended: ProcessResult | None = found if isinstance(found, ProcessResult) else None
        self.waits_for_lock = self.request is not None and self.request.kind == "acquire"
        self.next: dict[Any, ProgramState] = {}

    def answers(self) -> list[Any]:
        """All the answers that led here."""
        found, program_state = [], self
        while program_state.before:
            program_state, answer = program_state.before
            found.append(answer)
        return found[::-1]


class NotPossible(Exception):
    """The schedule names a process that cannot take a step there, or a process does not come to an end."""


class NotDeterministic(Exception):
    """A program that got the same answers asked something else than before: the schedule says nothing about it."""


class ProgramTree:
    """A program as a tree: from each moment, the moment that each answer leads to. It grows by running the program."""

    def __init__(self, process: Process, simulated: SimulatedStore) -> None:
        self.process = process
        self._world = simulated
        #: Times that the program was started.
        self.starts = 0
        self._running: tuple[ProgramState, greenlet] | None = None
        self.first = self._begin()

    def after(self, program_state: ProgramState, answer: Any) -> ProgramState:
        """The moment that comes after this answer."""
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
                f"{self.process.name} has no end after {MOST_REQUESTS} requests, the last: {program_state.request}"
            )
        found = ProgramState((program_state, answer), running.switch(answer))
        self._running = (found, running)
        return found

    def _replay_to(self, program_state: ProgramState) -> None:
        """Run the program once more up to this moment, with the answers of then."""
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
    """The greenlet of a process. It must not refer to what refers to the greenlet: nobody would ever collect both."""
    try:
        return ProcessResult("returned", process.program(Actor(process, simulated, hub)))
    except Exception as error:
        return ProcessResult("raised", error=error.with_traceback(None))


# Runs.

_CRASHED = ProcessResult("crashed")
_STALLED = ProcessResult("stalled")


class Point(NamedTuple):
    """A point of a run: the state of the world, the moment of each process, and who stands still."""

    state: State
    program_states: tuple[ProgramState, ...]
    stalled: frozenset[int] = frozenset()


#: Steps and points are made by the million: this way each takes half as long as by calling its class.
_a_step: Callable[[tuple[str, Request, Any, State, str | None]], Step] = partial(tuple.__new__, Step)
_a_point: Callable[[tuple[State, tuple[ProgramState, ...], frozenset[int]]], Point] = partial(tuple.__new__, Point)


class Simulation:
    """Processes in a world: from any point the points that can follow. Points are values; nothing is ever undone."""

    def __init__(self, simulated: SimulatedStore, processes: Sequence[Process]) -> None:
        store = simulated.store
        self.simulated = simulated if store is None else simulated.with_(list_delay=store.list_delay)
        self.names = tuple(process.name for process in processes)
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"two processes of one name: {self.names}")
        self.place = {name: place for place, name in enumerate(self.names)}
        self._after = tuple(tuple(self.place[name] for name in process.after) for process in processes)
        self._have_order = any(self._after)
        self._trees = tuple(ProgramTree(process, self.simulated) for process in processes)

    @property
    def starts(self) -> int:
        """How often programs were really run."""
        return sum(tree.starts for tree in self._trees)

    def start(self) -> Point:
        """Nobody has done anything."""
        return Point(self.simulated.state, tuple(tree.first for tree in self._trees))

    def runnable(self, point: Point) -> list[int]:
        """Who can take a step. Who stands still, or waits for the lock, can when nobody else can do anything.

        Who waits for a lease can take a step at any time: it waits until the lease has run out.
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
        """Whether those that the process comes after have ended."""
        return all(point.program_states[before].ended is not None for before in self._after[place])

    def released(self, point: Point, before: Sequence[int], after: Sequence[int]) -> list[int]:
        """Of those that can take a step at this point and could not before it: those for whom all others had to come to an
        end, and not only the lock to become free."""
        new = [place for place in after if place not in before]
        return [
            p for p in new
            if p in point.stalled or self._is_blocked(point, p) or (self._after[p] and not point.program_states[p].number)
        ]  # fmt: skip

    def _is_blocked(self, point: Point, place: int) -> bool:
        return point.program_states[place].waits_for_lock and point.state.holder is not None and point.state.expires is None

    def step(self, point: Point, place: int, fault: str | None = None) -> tuple[Point, Step]:
        """The point after a step of the process at that place. It must be runnable."""
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
    """Carry out a schedule; after its end one process after the other goes on to its own, unless `goes_on` is False.

    Raises NotPossible for a choice that cannot be taken; such choices are passed over when not `strict`.
    """
    return run_simulation(Simulation(simulated, processes), schedule, strict=strict, to_end=to_end)


def run_simulation(simulation: Simulation, schedule: Schedule, *, strict: bool = True, to_end: bool = True) -> Run:
    """The same in a simulation that is there already, and knows what its programs do."""
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
    """The choices of a schedule; a text is the name of a process, with a fault after `!`."""
    for choice in schedule:
        yield choice if isinstance(choice, Choice) else choice_of(choice)


def choice_of(text: str) -> Choice:
    """The choice that a text means. Raises ValueError for an unknown fault."""
    name, _, fault = text.partition("!")
    if fault and fault not in FAULTS:
        raise ValueError(f"{fault!r} is no fault; there are {', '.join(FAULTS)}")
    return Choice(name, fault or None)
