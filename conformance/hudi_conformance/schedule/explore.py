"""Every order in which processes may take their steps, or many of them.

`exhaustive` without a bound reduces by partial order: of all orders that differ only in steps that commute it takes one
(dynamic partial-order reduction with sleep sets: Flanagan and Godefroid 2005, Godefroid 1996). With a bound on preemptions,
or unreduced, it follows every order, and no point twice. `priorities` draws orders (Burckhardt and others 2010).
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from hudi_conformance.schedule.conflicts import are_never_both_possible, conflict
from hudi_conformance.schedule.scheduler import Choice, NotPossible, Point, Process, Run, Simulation, Step
from hudi_conformance.schedule.world import CHANGES, Request, State, World

#: Says what is wrong with a run, None if nothing is.
Check = Callable[[Run], str | None]
#: The same of a state, whichever run leads to it.
CheckState = Callable[[State], str | None]
MakeWorld = Callable[[], World]
MakeProcesses = Callable[[], Sequence[Process]] | Sequence[Process]
#: Steps that one run may have.
LONGEST = 10_000
#: Requests before which it matters whether a process dies.
_MATTERING = CHANGES | {"acquire", "release", "sleep"}


@dataclass(frozen=True)
class Failure:
    """A run that is wrong, and what is wrong with it."""

    violation: str
    run: Run
    #: Runs up to this one.
    number: int


@dataclass
class Explored:
    """What was looked at."""

    #: Runs that came to their end, and were checked.
    runs: int = 0
    #: Orders that were given up because an equivalent one had been taken, or a point was known already.
    pruned: int = 0
    #: Steps that were taken.
    steps: int = 0
    #: How often a program was really run; all other steps were known from an earlier run.
    starts: int = 0
    #: Orders of steps altogether, those that a known point leads to as well. Only without reduction; None with it.
    interleavings: int | None = None
    failure: Failure | None = None
    #: Whether nothing is left to look at.
    is_complete: bool = False
    _states: set[int] = field(default_factory=set, repr=False)

    @property
    def states(self) -> int:
        """Distinct states of the store."""
        return len(self._states)


@dataclass
class _Judge:
    """Counts, and asks the checks; a state is asked about once."""

    check: Check | None
    each: CheckState | None
    found: Explored
    most_runs: int | None = None
    progress: Callable[[Explored], None] | None = None

    def step(self, step: Step) -> str | None:
        """What is wrong with the state after a step."""
        self.found.steps += 1
        digest = step.state.digest
        if digest in self.found._states:
            return None
        self.found._states.add(digest)
        return None if self.each is None else self.each(step.state)

    def end(self, run: Run) -> bool:
        """A run has ended; whether exploring goes on."""
        self.found.runs += 1
        if self.check is not None and (violation := self.check(run)):
            return self.fail(violation, run)
        if self.progress is not None:
            self.progress(self.found)
        return self.most_runs is None or self.found.runs < self.most_runs

    def fail(self, violation: str, run: Run) -> bool:
        """Something is wrong: exploring ends."""
        self.found.failure = Failure(violation, run, self.found.runs)
        return False


def exhaustive(
    make_world: MakeWorld,
    processes: MakeProcesses,
    *,
    preemptions: int | None = None,
    crashes: int = 0,
    check: Check | None = None,
    each: CheckState | None = None,
    reduce: bool = True,
    most_runs: int | None = None,
    progress: Callable[[Explored], None] | None = None,
) -> Explored:
    """Look at all orders, up to the first run that is wrong.

    `preemptions` is how often a process that could go on is made to wait; None is no bound. Up to `crashes` processes die, at
    every step where that matters. `check` gets each run, `each` gets each state. After `most_runs` it stops.
    """
    simulation = Simulation(make_world(), processes() if callable(processes) else processes)
    judge = _Judge(check, each, Explored(), most_runs, progress)
    if preemptions is None and reduce:
        _Reduced(simulation, judge, crashes).explore()
    else:
        _Plain(simulation, judge, crashes, preemptions).explore()
    judge.found.starts = simulation.starts
    return judge.found


def priorities(
    make_world: MakeWorld,
    processes: MakeProcesses,
    *,
    seed: int,
    runs: int,
    depth: int = 3,
    crashes: int = 0,
    check: Check | None = None,
    each: CheckState | None = None,
    progress: Callable[[Explored], None] | None = None,
) -> Explored:
    """Draw orders: processes have priorities, and at `depth` - 1 drawn steps the first one becomes the last.

    A fault that needs `depth` steps in one order is found with a probability of at least 1 / (n k^(depth - 1)) a run, for n
    processes and k steps.
    """
    simulation = Simulation(make_world(), processes() if callable(processes) else processes)
    judge, drawn, length = _Judge(check, each, Explored(), runs, progress), random.Random(seed), 1
    for _ in range(runs):
        found = _drawn_run(simulation, judge, drawn, (length, depth, crashes))
        length = max(length, len(found.steps))
        if judge.found.failure is not None or not judge.end(found):
            break
    judge.found.starts = simulation.starts
    return judge.found


def _drawn_run(simulation: Simulation, judge: _Judge, drawn: random.Random, shape: tuple[int, int, int]) -> Run:
    length, depth, crashes = shape
    rank = {place: drawn.random() + 1 for place in range(len(simulation.names))}
    changes = {drawn.randrange(length): -number for number in range(1, depth)}
    deaths = {drawn.randrange(length) for _ in range(drawn.randint(0, crashes))}
    point, steps = simulation.start(), list[Step]()
    while ready := simulation.runnable(point):
        place = max(ready, key=rank.__getitem__)
        fault = drawn.choice(("crash-before", "crash-after")) if len(steps) in deaths else None
        point, step = simulation.step(point, place, fault)
        steps.append(step)
        _check_length(steps)
        if violation := judge.step(step):
            judge.fail(violation, simulation.ended(point, steps))
            break
        rank[place] = changes.get(len(steps), rank[place])
    return simulation.ended(point, steps)


def _check_length(steps: Sequence[Step]) -> None:
    if len(steps) > LONGEST:
        raise NotPossible(f"no end after {LONGEST} steps; the last one: {steps[-1]}")


def _crash_matters(request: Request | None) -> bool:
    return request is not None and request.kind in _MATTERING


class _Plain:
    """All orders, with a bound on preemptions or none. What follows on a point is looked at once."""

    def __init__(self, simulation: Simulation, judge: _Judge, crashes: int, preemptions: int | None) -> None:
        self.simulation, self.judge = simulation, judge
        self.crashes, self.preemptions = crashes, preemptions
        self.steps: list[Step] = []
        #: Orders that lead from a point to the end.
        self.orders: dict[object, int] = {}

    def explore(self) -> None:
        """From the beginning."""
        found = self._follow(self.simulation.start(), None, self.preemptions, self.crashes)
        self.judge.found.is_complete = found is not None
        self.judge.found.interleavings = found

    def _follow(self, point: Point, last: int | None, preemptions: int | None, crashes: int) -> int | None:
        """How many orders lead from here to the end; None if exploring has stopped."""
        key = (point.moments, point.stalled, point.state[1:], last if preemptions is not None else None, preemptions, crashes)
        if (known := self.orders.get(key)) is not None:
            self.judge.found.pruned += 1
            return known
        ready = self.simulation.runnable(point)
        if not ready:
            return 1 if self.judge.end(self.simulation.ended(point, self.steps)) else None
        total = 0
        for place, fault, left in self._choices(point, ready, last, preemptions, crashes):
            follows, step = self.simulation.step(point, place, fault)
            self.steps.append(step)
            _check_length(self.steps)
            if violation := self.judge.step(step):
                self.judge.fail(violation, self.simulation.ended(follows, self.steps))
                return None
            found = self._follow(follows, place, left, crashes - (fault is not None))
            self.steps.pop()
            if found is None:
                return None
            total += found
        self.orders[key] = total
        return total

    def _choices(
        self, point: Point, ready: Sequence[int], last: int | None, preemptions: int | None, crashes: int
    ) -> Iterator[tuple[int, str | None, int | None]]:
        """Process, fault, and preemptions that are left after it."""
        for place in sorted(ready, key=lambda p: p != last):
            left = preemptions
            if left is not None and last in ready and place != last:
                if left == 0:
                    continue
                left -= 1
            yield place, None, left
            if crashes and _crash_matters(point.moments[place].request):
                yield place, "crash-before", left


@dataclass
class _Frame:
    """A point of the run that is being followed, and what is still to be tried there."""

    point: Point
    ready: tuple[int, ...]
    #: Processes whose steps from here would lead to orders that are equivalent to some that were taken.
    asleep: frozenset[int]
    #: Steps of each process that happen before its next one, by the place of its last one; -1 for none.
    clocks: tuple[tuple[int, ...], ...]
    crashes: int
    to_try: set[int] = field(default_factory=set)
    tried: set[int] = field(default_factory=set)
    #: The alternatives of the process that is being tried: choices left.
    left: list[Choice] = field(default_factory=list)


class _Reduced:
    """One order of each class of equivalent ones."""

    def __init__(self, simulation: Simulation, judge: _Judge, crashes: int) -> None:
        self.simulation, self.judge = simulation, judge
        self.size = len(simulation.names)
        self.frames: list[_Frame] = []
        self.steps: list[Step] = []
        #: Of each step: who took it, with which request, and the steps that happen before it.
        self.trace: list[tuple[int, Request, tuple[int, ...]]] = []
        self.crashes = crashes

    def explore(self) -> None:
        """From the beginning."""
        none = (-1,) * self.size
        goes_on = self._enter(self.simulation.start(), frozenset(), (none,) * self.size, self.crashes, None)
        while goes_on and self.frames:
            goes_on = self._advance()
        self.judge.found.is_complete = goes_on

    def _advance(self) -> bool:
        """Take the next step that is to be tried, or go back by one."""
        frame = self.frames[-1]
        if not frame.left and not self._next_process(frame):
            self.frames.pop()
            if self.steps:
                self.steps.pop()
                self.trace.pop()
            return True
        choice = frame.left.pop()
        return self._take(frame, self.simulation.place[choice.process], choice.fault)

    def _next_process(self, frame: _Frame) -> bool:
        """Begin with another process that has to be tried here."""
        for place in sorted(frame.to_try - frame.tried):
            frame.tried.add(place)
            if place in frame.asleep:
                continue
            name = self.simulation.names[place]
            frame.left = [Choice(name)]
            if frame.crashes and _crash_matters(frame.point.moments[place].request):
                frame.left.insert(0, Choice(name, "crash-before"))
            return True
        return False

    def _take(self, frame: _Frame, place: int, fault: str | None) -> bool:
        point, step = self.simulation.step(frame.point, place, fault)
        request = step.asked if fault is None else Request("crash" if frame.point.state.holder == step.process else "note")
        clock = self._clock(place, request, frame.clocks[place])
        self.steps.append(step)
        self.trace.append((place, request, clock))
        _check_length(self.steps)
        if violation := self.judge.step(step):
            return self.judge.fail(violation, self.simulation.ended(point, self.steps))
        moments = frame.point.moments
        others = (frame.asleep | frame.tried) - {place}
        asleep = frozenset(p for p in others if (r := moments[p].request) is not None and not conflict(r, request))
        clocks = (*frame.clocks[:place], clock, *frame.clocks[place + 1 :])
        return self._enter(point, asleep, clocks, frame.crashes - (fault is not None), place)

    def _clock(self, place: int, request: Request, known: tuple[int, ...]) -> tuple[int, ...]:
        """What happens before a step that is taken now: what its process knows, and all that it conflicts with."""
        clock = list(known)
        for at in range(len(self.trace) - 1, -1, -1):
            other, asked, before = self.trace[at]
            if clock[other] < at and conflict(asked, request):
                clock = [max(pair) for pair in zip(clock, before, strict=True)]
        clock[place] = len(self.trace)
        return tuple(clock)

    def _enter(
        self, point: Point, asleep: frozenset[int], clocks: tuple[tuple[int, ...], ...], crashes: int, moved: int | None
    ) -> bool:
        """Look at a new point: where else would its next requests have to be tried, and who goes on here."""
        ready = tuple(self.simulation.runnable(point))
        frame = _Frame(point, ready, asleep, clocks, crashes)
        for place, moment in enumerate(point.moments):
            if moment.request is not None:
                self._find_race(place, moment.request, clocks[place], only_last=moved is not None and place != moved)
        self.frames.append(frame)
        if not ready:
            return self.judge.end(self.simulation.ended(point, self.steps))
        awake = [place for place in ready if place not in asleep]
        if not awake:
            self.judge.found.pruned += 1
            return True
        frame.to_try.add(moved if moved in awake else awake[0])
        return True

    def _find_race(self, place: int, request: Request, known: tuple[int, ...], *, only_last: bool) -> None:
        """The last step that might as well have come after this request: it is tried before that step, too."""
        end = len(self.trace)
        for at in range(end - 1, end - 2 if only_last else -1, -1):
            if at < 0:
                return
            other, asked, _ = self.trace[at]
            if other != place and known[other] < at and conflict(asked, request):
                if are_never_both_possible(asked, request):
                    continue
                self._try_before(at, place, known)
                return

    def _try_before(self, at: int, place: int, known: tuple[int, ...]) -> None:
        """At the point before step `at` try this process, or one whose steps it waits for, or whoever can go on there."""
        frame = self.frames[at]
        if place in frame.ready:
            frame.to_try.add(place)
            return
        leading = [p for p in frame.ready if known[p] > at]
        frame.to_try.update(leading[:1] or frame.ready)
