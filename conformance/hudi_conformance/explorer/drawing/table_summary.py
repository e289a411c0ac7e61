"""The state of a table in one line, and requests in a few words, for diagrams of runs."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from hudi_conformance.explorer.simulation.runs import Run, Step
from hudi_conformance.explorer.simulation.simulated_store import CHANGES, State
from hudi_reference.timeline.instants.instant import Instant, parse_instant_name

TIMELINE = ".hoodie/timeline/"
_FILE_ID = re.compile(r"([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}-\d+")
_TIME = re.compile(r"\d{17}")


@dataclass(frozen=True)
class Names:
    """Short names of the times of a run: #1 is the first instant, in the order of requested times."""

    numbers: Mapping[str, str]
    actions: Mapping[str, str]

    @classmethod
    def from_run(cls, run: Run) -> "Names":
        """The names of all instants of a run; a completion time has the name of its instant with a *."""
        states = [run.simulated.state, *(step.state for step in run.steps)]
        found = sorted({i for state in states for i in active_instants(state)}, key=lambda i: (i.requested, i.state.value))
        numbers, actions = dict[str, str](), dict[str, str]()
        for number, (requested, group) in enumerate(groupby(found, key=lambda i: i.requested), 1):
            numbers[requested] = f"#{number}"
            for instant in group:
                actions[requested] = instant.action
                if instant.completion is not None:
                    numbers.setdefault(instant.completion, f"#{number}*")
        return cls(numbers, actions)

    def legend(self) -> list[tuple[str, str]]:
        """The meaning of each name."""
        completed = {name.rstrip("*"): time for time, name in self.numbers.items() if name.endswith("*")}
        return [
            (name, f"{self.actions[time]} {time}" + (f", completed {completed[name]}" if name in completed else ""))
            for time, name in self.numbers.items()
            if time in self.actions
        ]

    def shorten_path(self, path: str) -> str:
        """A path in a few words."""
        named = _TIME.sub(lambda m: self.numbers.get(m[0], m[0]), path.removeprefix(TIMELINE).removeprefix(".hoodie/"))
        return _FILE_ID.sub(r"\1…", named) or "."

    def describe_request(self, step: Step) -> str:
        """The request of a step."""
        kind = step.request
        if kind in ("acquire", "release", "check"):
            return f"{kind} lock"
        if kind == "sleep":
            return f"sleep {step.asked.detail} ms"
        if kind == "now":
            return "read the clock"
        return f"{kind} {self.shorten_path(step.path)}"

    def describe_table(self, state: State) -> str:
        """The table: its instants, the number of data files, the lock holder."""
        last: dict[str, Instant] = {}
        for instant in sorted(active_instants(state), key=lambda i: (i.requested, i.state.value)):
            last[instant.requested] = instant
        shown = [f"{self.numbers.get(time, time)} {_WORDS[instant.state.name]}" for time, instant in last.items()]
        files = sum(1 for path in state.objects if not path.startswith(".hoodie") and "partition_metadata" not in path)
        lock = [f"lock: {state.holder}"] if state.holder else []
        return " · ".join([", ".join(shown) or "no instants", f"{files} file{'' if files == 1 else 's'}", *lock])


_WORDS = {"REQUESTED": "requested", "INFLIGHT": "inflight", "COMPLETED": "done"}


def active_instants(state: State) -> Iterable[Instant]:
    """The instants of the active timeline."""
    for path in state.objects:
        if path.startswith(TIMELINE) and "/" not in (name := path.removeprefix(TIMELINE)):
            found = parse_instant_name(name)
            if found is not None:
                yield found


def is_read(step: Step) -> bool:
    """Whether a step is a read."""
    return step.fault is None and step.request not in CHANGES | {"acquire", "release", "sleep"} and step.effect == "ok"
