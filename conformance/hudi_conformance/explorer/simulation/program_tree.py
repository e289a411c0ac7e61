"""What a program does, as far as it was run: a tree of its states.

What a program does next depends only on the answers that it got. A state of a program is therefore named by these answers, and
a state that is known need not be reached by running the program: the scheduler looks up its next request here. Only an answer
that is new at a state resumes the greenlet of the program. A program has one greenlet; if that is at another state, the program
is started again and gets the same answers up to this state. If it then sends another request than before, it depends on
something else than its answers, and `NotDeterministic` is raised.
"""

from typing import Any

from greenlet import greenlet

from hudi_conformance.explorer.simulation.actor import Actor, Process
from hudi_conformance.explorer.simulation.runs import ProcessResult
from hudi_conformance.explorer.simulation.simulated_store import Request, SimulatedStore

#: A process that sends more requests than this is taken for endless.
MOST_REQUESTS = 20_000


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

    def next_state(self, program_state: ProgramState, answer: Any) -> ProgramState:
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
