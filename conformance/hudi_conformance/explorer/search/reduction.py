"""Partial-order reduction: explore one order of each class of orders that differ only in steps that commute.

Dynamic partial-order reduction by source sets (Abdulla and others 2014) with sleep sets (Godefroid 1996). Every run shows
races: pairs of conflicting steps of two processes whose order no other step determines. For each race the order with the later
step first is also explored; where there is no race, no other order is explored.
"""

from hudi_conformance.explorer.search.checker import Checker
from hudi_conformance.explorer.search.conflicts import Relation
from hudi_conformance.explorer.simulation.faults import Faults
from hudi_conformance.explorer.simulation.runs import Step
from hudi_conformance.explorer.simulation.scheduler import Point, Simulation
from hudi_conformance.explorer.simulation.simulated_store import Request

#: A vector clock: for each process the position of its last step that happens before something, -1 if none does.
Clock = tuple[int, ...]


class Frame:
    """A point of the current run, and the processes still to try there."""

    __slots__ = ("asleep", "clocks", "faults", "left", "moved", "point", "ready", "to_try", "tried")

    def __init__(self, point: Point, ready: list[int], asleep: frozenset[int], clocks: tuple[Clock, ...], faults: int) -> None:
        self.point, self.ready, self.faults = point, ready, faults
        #: The sleep set: processes whose next steps lead only to orders that are equivalent to explored ones.
        self.asleep = asleep
        #: Of each process, the steps that happen before its next one, except by conflicts of that step.
        self.clocks = clocks
        self.to_try: set[int] = set()
        self.tried: set[int] = set()
        #: Faults still to try for the current process, None for its step without a fault.
        self.left: list[str | None] = []
        self.moved = -1


class Reduction:
    """Depth-first search: follows a run to its end, then returns to the last point with a process to try."""

    def __init__(self, simulation: Simulation, checker: Checker, faults: Faults) -> None:
        self.simulation, self.checker, self.faults = simulation, checker, faults
        self.relation = Relation(is_leased=simulation.simulated.lease is not None)
        self.places = range(len(simulation.names))
        self.frames: list[Frame] = []
        self.steps: list[Step] = []
        #: Of each process its steps: (position in the run, number of the request, vector clock).
        self.taken: list[list[tuple[int, int, Clock]]] = [[] for _ in self.places]
        #: By position in the run: (process, vector clock of the step, itself included).
        self.trace: list[tuple[int, Clock]] = []

    def explore(self) -> None:
        """Explore from the first point."""
        nothing = (-1,) * len(self.places)
        point, clocks = self.simulation.first_point(), (nothing,) * len(self.places)
        to_end = self._enter(Frame(point, self.simulation.runnable_processes(point), frozenset(), clocks, self.faults.most), -1)
        while to_end and self.frames:
            frame = self.frames[-1]
            if frame.left or self._next_process(frame):
                to_end = self._step(frame, frame.moved, frame.left.pop())
            else:
                self._go_back()
        self.checker.found.is_complete = to_end

    def _go_back(self) -> None:
        self.frames.pop()
        if self.steps:
            self.steps.pop()
            self.trace.pop()
            self.taken[self.frames[-1].moved].pop()

    def _next_process(self, frame: Frame) -> bool:
        """Start with another process that must be tried here; whether there is one."""
        for place in frame.to_try - frame.tried:
            frame.tried.add(place)
            if place not in frame.asleep:
                frame.moved = place
                frame.left = [
                    *(self.faults.possible_faults(frame.point.program_states[place].request) if frame.faults else ()),
                    None,
                ]
                return True
        return False

    def _step(self, frame: Frame, place: int, fault: str | None) -> bool:
        """Take one step and enter the point after it; whether the exploration continues."""
        point, step = self.simulation.take_step(frame.point, place, fault)
        number = self.relation.number_of_request(step.asked if fault is None else _visible_effect(frame.point, step, fault))
        clock = self._clock(frame, place, number)
        self.trace.append((place, clock))
        self._find_races(place, number, frame.clocks[place])
        self.taken[place].append((len(self.steps), number, clock))
        self.steps.append(step)
        if violation := self.checker.check_step(step):
            return self.checker.record_failure(violation, self.simulation.make_run(point, self.steps))
        clocks = list(frame.clocks)
        clocks[place] = clock
        ready = self.simulation.runnable_processes(point)
        for other in self.simulation.released_by_end(point, frame.ready, ready):
            clocks[other] = _merged(clocks)
        asleep = self._sleep_set(frame, place, number)
        return self._enter(Frame(point, ready, asleep, tuple(clocks), frame.faults - (fault is not None)), place)

    def _sleep_set(self, frame: Frame, place: int, number: int) -> frozenset[int]:
        sleeping = (frame.asleep | frame.tried) - {place}
        if not sleeping:
            return frame.asleep
        conflicts, program_states = self.relation.conflicts[number], frame.point.program_states
        return frozenset(
            p
            for p in sleeping
            if (r := program_states[p].request) is not None and not conflicts >> self.relation.number_of_request(r) & 1
        )

    def _clock(self, frame: Frame, place: int, number: int) -> Clock:
        """The vector clock of a step: that of its process, joined with the last conflicting step of each other process."""
        clock, conflicts = frame.clocks[place], self.relation.conflicts[number]
        for other in self.places:
            if other != place:
                for at, asked, before in reversed(self.taken[other]):
                    if at <= clock[other]:
                        break
                    if conflicts >> asked & 1:
                        clock = tuple(map(max, clock, before))
                        break
        return (*clock[:place], len(self.steps), *clock[place + 1 :])

    def _enter(self, frame: Frame, moved: int) -> bool:
        """Enter a new point and choose the first process to try: that of the last step, if possible, for long turns."""
        self.frames.append(frame)
        if not frame.ready:
            return self.checker.check_end(self.simulation.make_run(frame.point, self.steps))
        awake = [place for place in frame.ready if place not in frame.asleep]
        if awake:
            frame.to_try.add(moved if moved in awake else awake[0])
        else:
            self.checker.found.pruned += 1
        return True

    def _find_races(self, place: int, number: int, known: Clock) -> None:
        """Find races: of each other process the last step that could also have come after the current one."""
        races = self.relation.races[number]
        for other in self.places:
            if other != place:
                for at, asked, _ in reversed(self.taken[other]):
                    if at <= known[other]:
                        break
                    if races >> asked & 1:
                        self._reverse(other, at)
                        break

    def _reverse(self, raced: int, at: int) -> None:
        """Reverse a race: at the point before the step `at`, try a process that leads to the current step first."""
        frame, first = self.frames[at], dict[int, int]()
        initials = []
        for position in range(at + 1, len(self.trace)):
            place, clock = self.trace[position]
            is_last = position == len(self.trace) - 1
            if clock[raced] >= at and not is_last:
                continue
            if place not in first and all(clock[other] < begins for other, begins in first.items()):
                initials.append(place)
            first.setdefault(place, position)
        if frame.to_try.isdisjoint(initials):
            chosen = self.trace[-1][0] if self.trace[-1][0] in initials else initials[0]
            frame.to_try.update([chosen] if chosen in frame.ready else frame.ready)


def _visible_effect(point: Point, step: Step, fault: str) -> Request:
    """The request that represents a faulty step in conflicts with other processes."""
    if fault == "crash-before":
        return Request("crash" if point.state.holder == step.process else "note")
    return Request("stall") if fault == "stall" else Request("note") if fault == "lose-request" else step.asked


def _merged(clocks: list[Clock]) -> Clock:
    return tuple(max(known) for known in zip(*clocks, strict=True))
