"""Whose request the gate admits next."""

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from hudi_conformance.explorer.s3.http_messages import Request
from hudi_conformance.explorer.simulation.scheduler import Choice

#: Requests that wait, by client, in the order in which they came.
Waiting = Mapping[str, Sequence[Request]]


class Scheduler(Protocol):
    """An order of requests, made up as they come."""

    def next(self, waiting: Waiting, ended: Collection[str], *, overdue: bool = False) -> Choice | None:
        """Who goes next; None to wait for a client that has not asked for anything yet.

        `overdue`: that client has let us wait for so long that it may be waiting for another one itself.
        """


class FirstComeFirstServed:
    """The first come is the first served."""

    def next(self, waiting: Waiting, ended: Collection[str], *, overdue: bool = False) -> Choice | None:
        """Whoever has waited longest."""
        return Choice(next(iter(waiting))) if waiting else None


class ProcessScheduler:
    """Turns of some processes; others are not kept waiting. A process that stalls goes on when the others have ended."""

    def __init__(self, processes: Sequence[str]) -> None:
        #: The order that came about; what makes it come about again.
        self.taken: list[Choice] = []
        #: Where it is another one than was wished.
        self.departures: list[str] = []
        self._processes = processes
        self._stalled: set[str] = set()

    def next(self, waiting: Waiting, ended: Collection[str], *, overdue: bool = False) -> Choice | None:
        """Whose turn it is."""
        if (stranger := next((name for name in waiting if name not in self._processes), None)) is not None:
            return Choice(stranger)
        while True:
            here = {name: asked for name, asked in waiting.items() if name not in self._stalled}
            choice = self.chosen(here, ended, overdue)
            if choice is not None:
                self.taken.append(choice)
            if choice is not None and choice.fault == "stall":
                self._stalled.add(choice.process)
            elif choice is None and self._stalled and all(name in ended or name in self._stalled for name in self._processes):
                self._stalled.clear()
            else:
                return choice

    def chosen(self, waiting: Waiting, ended: Collection[str], overdue: bool) -> Choice | None:
        """Who of the processes goes next, None where one has to be waited for. Those that stall are not among the waiting."""
        raise NotImplementedError

    def instead_of(self, wanted: Choice | str, waiting: Waiting, overdue: bool) -> Choice | None:
        """Somebody else, where the one whose turn it is asks for nothing for too long: the run departs from its schedule."""
        if not (overdue and waiting):
            return None
        other = Choice(next(iter(waiting)))
        self.departures.append(f"{wanted}: it asked for nothing, so {other} went on")
        return other


class InOrder(ProcessScheduler):
    """A schedule, request by request; after its end each process runs to its own end, in their order."""

    def __init__(self, processes: Sequence[str], schedule: Sequence[Choice | str] = ()) -> None:
        super().__init__(processes)
        self._left = [choice if isinstance(choice, Choice) else Choice(choice) for choice in schedule]

    def chosen(self, waiting: Waiting, ended: Collection[str], overdue: bool) -> Choice | None:
        """The process whose turn it is, as soon as it asks."""
        while self._left and self._left[0].process in ended and not waiting.get(self._left[0].process):
            self.departures.append(f"{self._left.pop(0)}: it had ended")
        here = [name for name in self._processes if name not in self._stalled]
        running = [name for name in here if name not in ended or waiting.get(name)]
        wanted = self._left[0] if self._left else Choice(running[0]) if running else None
        if wanted is None or waiting.get(wanted.process):
            return self._left.pop(0) if self._left and wanted else wanted
        return self.instead_of(wanted, waiting, overdue)


class AtRandom(ProcessScheduler):
    """Each time one of the processes that have not ended, drawn when all of them have asked for something.

    The draws depend on the seed alone. A fault befalls one request in `rarely`, if there are any.
    """

    def __init__(self, processes: Sequence[str], seed: int, faults: Sequence[str] = (), rarely: int = 20) -> None:
        super().__init__(processes)
        self._faults, self._rarely, self._random = faults, rarely, random.Random(seed)

    def chosen(self, waiting: Waiting, ended: Collection[str], overdue: bool) -> Choice | None:
        """One of all who wait, once nobody else can come."""
        gone = {*ended, *self._stalled}
        missing = [name for name in self._processes if name not in gone and not waiting.get(name)]
        if not waiting or (missing and not overdue):
            return None
        self.departures += [f"{name}: it asked for nothing, and was not waited for" for name in missing]
        process = self._random.choice([name for name in self._processes if waiting.get(name)])
        has_fault = self._faults and self._random.randrange(self._rarely) == 0
        return Choice(process, self._random.choice(self._faults) if has_fault else None)


class Overtaken(ProcessScheduler):
    """The slow one goes on until `is_time`; then the quick one from its first request to its last; then the slow one again."""

    def __init__(self, slow: str, quick: str, is_time: Callable[[], bool]) -> None:
        super().__init__([slow, quick])
        self._slow, self._quick, self._is_time = slow, quick, is_time

    def chosen(self, waiting: Waiting, ended: Collection[str], overdue: bool) -> Choice | None:
        """Each in its part of the run."""
        first = self._slow in ended or self._is_time()
        now = self._quick if first and self._quick not in ended else self._slow
        if waiting.get(now):
            return Choice(now)
        return self.instead_of(now, waiting, overdue)


class HeldBack(ProcessScheduler):
    """The slow one is held back before the first request that `is_about` something; then the quick one goes on to its end, or
    for `most` requests if it waits for the slow one; then the slow one again, and what is left of the quick one."""

    def __init__(self, slow: str, quick: str, is_about: Callable[[Request], bool], most: int) -> None:
        super().__init__([slow, quick])
        self._slow, self._quick, self._is_about, self._left = slow, quick, is_about, most
        self._is_held = False

    def chosen(self, waiting: Waiting, ended: Collection[str], overdue: bool) -> Choice | None:
        """Each in its part of the run."""
        asked = waiting.get(self._slow)
        self._is_held = self._is_held or bool(asked and self._is_about(asked[0])) or self._slow in ended
        in_between = self._is_held and self._left > 0 and self._quick not in ended
        now = self._quick if in_between or self._slow in ended else self._slow
        if waiting.get(now):
            self._left -= in_between
            return Choice(now)
        return self.instead_of(now, waiting, overdue)
