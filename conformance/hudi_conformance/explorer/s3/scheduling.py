"""Schedulers: the order in which the proxy forwards the requests of several processes."""

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from hudi_conformance.explorer.s3.http_messages import Request
from hudi_conformance.explorer.simulation.runs import Choice

#: Waiting requests by client, in the order of arrival.
Waiting = Mapping[str, Sequence[Request]]


class Scheduler(Protocol):
    """Chooses the next request."""

    def next_choice(self, waiting: Waiting, ended: Collection[str], *, overdue: bool = False) -> Choice | None:
        """The client whose request is next; None to wait for a client that has not sent a request yet.

        With `overdue` that client has sent no request for so long that it may be waiting for another one itself.
        """


class FirstComeFirstServed:
    """Requests in the order of arrival."""

    def next_choice(self, waiting: Waiting, ended: Collection[str], *, overdue: bool = False) -> Choice | None:
        """The client that has waited longest."""
        return Choice(next(iter(waiting))) if waiting else None


class ProcessScheduler:
    """An order of some processes; others never wait. A stalled process continues when the others have ended."""

    def __init__(self, processes: Sequence[str]) -> None:
        #: The order of this run, which is a schedule that repeats it.
        self.taken: list[Choice] = []
        #: Where the order differs from the intended one.
        self.departures: list[str] = []
        self._processes = processes
        self._stalled: set[str] = set()

    def next_choice(self, waiting: Waiting, ended: Collection[str], *, overdue: bool = False) -> Choice | None:
        """The client of the next request."""
        if (stranger := next((name for name in waiting if name not in self._processes), None)) is not None:
            return Choice(stranger)
        while True:
            here = {name: asked for name, asked in waiting.items() if name not in self._stalled}
            choice = self.choose(here, ended, overdue)
            if choice is not None:
                self.taken.append(choice)
            if choice is not None and choice.fault == "stall":
                self._stalled.add(choice.process)
            elif choice is None and self._stalled and all(name in ended or name in self._stalled for name in self._processes):
                self._stalled.clear()
            else:
                return choice

    def choose(self, waiting: Waiting, ended: Collection[str], overdue: bool) -> Choice | None:
        """The process that is next, None to wait for one. Stalled processes are not in `waiting`."""
        raise NotImplementedError

    def choose_other(self, wanted: Choice | str, waiting: Waiting, overdue: bool) -> Choice | None:
        """Another client, if the next one sends no request for too long; the run then departs from its schedule."""
        if not (overdue and waiting):
            return None
        other = Choice(next(iter(waiting)))
        self.departures.append(f"{wanted}: it sent no request, so {other} continued")
        return other


class InOrder(ProcessScheduler):
    """A schedule, request by request; after it each process runs to its end, in order."""

    def __init__(self, processes: Sequence[str], schedule: Sequence[Choice | str] = ()) -> None:
        super().__init__(processes)
        self._left = [choice if isinstance(choice, Choice) else Choice(choice) for choice in schedule]

    def choose(self, waiting: Waiting, ended: Collection[str], overdue: bool) -> Choice | None:
        """The next process of the schedule, as soon as it sends a request."""
        while self._left and self._left[0].process in ended and not waiting.get(self._left[0].process):
            self.departures.append(f"{self._left.pop(0)}: it had ended")
        here = [name for name in self._processes if name not in self._stalled]
        running = [name for name in here if name not in ended or waiting.get(name)]
        wanted = self._left[0] if self._left else Choice(running[0]) if running else None
        if wanted is None or waiting.get(wanted.process):
            return self._left.pop(0) if self._left and wanted else wanted
        return self.choose_other(wanted, waiting, overdue)


class AtRandom(ProcessScheduler):
    """A random process at each turn, chosen when all active processes have sent a request.

    The choices depend on the seed only. One request in `rarely` gets a random fault of `faults`, if there are any.
    """

    def __init__(self, processes: Sequence[str], seed: int, faults: Sequence[str] = (), rarely: int = 20) -> None:
        super().__init__(processes)
        self._faults, self._rarely, self._random = faults, rarely, random.Random(seed)

    def choose(self, waiting: Waiting, ended: Collection[str], overdue: bool) -> Choice | None:
        """One of the waiting processes, when no other one can send a request."""
        gone = {*ended, *self._stalled}
        missing = [name for name in self._processes if name not in gone and not waiting.get(name)]
        if not waiting or (missing and not overdue):
            return None
        self.departures += [f"{name}: it sent no request in time" for name in missing]
        process = self._random.choice([name for name in self._processes if waiting.get(name)])
        has_fault = self._faults and self._random.randrange(self._rarely) == 0
        return Choice(process, self._random.choice(self._faults) if has_fault else None)


class Overtaken(ProcessScheduler):
    """The slow process runs until `is_time`; then the quick one from start to end; then the slow one again."""

    def __init__(self, slow: str, quick: str, is_time: Callable[[], bool]) -> None:
        super().__init__([slow, quick])
        self._slow, self._quick, self._is_time = slow, quick, is_time

    def choose(self, waiting: Waiting, ended: Collection[str], overdue: bool) -> Choice | None:
        """The process of the current part of the run."""
        first = self._slow in ended or self._is_time()
        now = self._quick if first and self._quick not in ended else self._slow
        if waiting.get(now):
            return Choice(now)
        return self.choose_other(now, waiting, overdue)


class HeldBack(ProcessScheduler):
    """The slow process is paused before its first request for which `is_about` holds.

    Then the quick one runs to its end, or for `most` requests if it waits for the slow one; then the slow one continues, and
    the rest of the quick one follows.
    """

    def __init__(self, slow: str, quick: str, is_about: Callable[[Request], bool], most: int) -> None:
        super().__init__([slow, quick])
        self._slow, self._quick, self._is_about, self._left = slow, quick, is_about, most
        self._is_held = False

    def choose(self, waiting: Waiting, ended: Collection[str], overdue: bool) -> Choice | None:
        """The process of the current part of the run."""
        asked = waiting.get(self._slow)
        self._is_held = self._is_held or bool(asked and self._is_about(asked[0])) or self._slow in ended
        in_between = self._is_held and self._left > 0 and self._quick not in ended
        now = self._quick if in_between or self._slow in ended else self._slow
        if waiting.get(now):
            self._left -= in_between
            return Choice(now)
        return self.choose_other(now, waiting, overdue)
