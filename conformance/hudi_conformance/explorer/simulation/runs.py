"""Schedules and runs: the data of the simulation.

A schedule is a sequence of choices: which process takes the next step, and with which fault. A run is the sequence of steps
that a schedule leads to, with the state of the store after each step and the result of each process. All of it is values
without behaviour; `scheduler` makes a run of a schedule.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hudi_conformance.explorer.simulation.simulated_store import CHANGES, Failed, FrozenStorage, Request, SimulatedStore, State
from hudi_reference.caching import cached_property

#: Faults at a step: the process crashes before its request, or after it; the request has its effect, or none, and the answer
#: is lost; the process pauses for an hour, until the others can do no more.
FAULTS = ("crash-before", "crash-after", "lose-answer", "lose-request", "stall")


class Choice(NamedTuple):
    """The process that takes the next step, and its fault, if any."""

    process: str
    fault: str | None = None

    def __str__(self) -> str:
        return f"{self.process}!{self.fault}" if self.fault else self.process


Schedule = Sequence[Choice | str]


def parse_choices(schedule: Schedule) -> Iterator[Choice]:
    """The choices of a schedule; a text is the name of a process, optionally with a fault after `!`."""
    for choice in schedule:
        yield choice if isinstance(choice, Choice) else parse_choice(choice)


def parse_choice(text: str) -> Choice:
    """Parse a choice. Raises ValueError for an unknown fault."""
    name, _, fault = text.partition("!")
    if fault and fault not in FAULTS:
        raise ValueError(f"unknown fault {fault!r}; the faults are {', '.join(FAULTS)}")
    return Choice(name, fault or None)


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
