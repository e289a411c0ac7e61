"""How long the rest of a run takes.

`seconds.json` has the mean seconds of a case on the reference, by test function for Python cases, by folder for golden cases;
`python -m tools.case_seconds REPORT` writes it from the report of a run. A forecast scales them by what each engine has needed
so far, and by how many cases run at the same time.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType

FILE = Path(__file__).with_name("seconds.json")
#: The entry of `seconds.json` for cases that have none of their own.
OTHERS = "others"
#: Seconds of cases that count as ended at the speed of the reference. An engine starts with its first case, which therefore
#: says little.
ASSUMED = 2.0
#: Seconds below which a case has no entry of its own.
LEAST = 0.05


@cache
def stored_seconds() -> Mapping[str, float]:
    """The seconds of a case, by `group_of`."""
    found: dict[str, float] = json.loads(FILE.read_text(encoding="utf-8"))
    return MappingProxyType(found)


def is_golden(node: str) -> bool:
    """Whether a node of pytest is a golden case."""
    return "case.json::" in node


def timing_group(node: str) -> str:
    """The cases that take about the same time: those of one folder of golden cases, or those of one test function."""
    path, _, test = node.partition("::")
    folders = path.split("/")
    return folders[-3] if is_golden(node) and len(folders) > 2 else f"{folders[-1]}::{test.partition('[')[0]}"


def engine_of_node(node: str, engines: Sequence[str]) -> str:
    """The engine whose result a node gives; in a relay that is the reader."""
    _, _, test = node.partition("::")
    parameters = test if is_golden(node) else test.partition("[")[2]
    read = [name for name in engines if f"-to-{name}" in parameters]
    return max(read or [name for name in engines if parameters.startswith(name)], key=len, default=engines[0])


@dataclass
class Forecast:
    """The expected seconds of the cases of a run, by engine."""

    engines: Sequence[str]
    known: Mapping[str, float] = field(default_factory=stored_seconds)
    #: Expected seconds that count as already ended at the speed of the reference.
    assumed: float = ASSUMED
    #: By engine: expected seconds of all cases, expected seconds of those that ended, and what these took.
    total: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    ended: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    taken: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def expected_seconds(self, node: str) -> float:
        """The expected seconds of a case on the reference."""
        return self.known.get(timing_group(node), self.known.get(OTHERS, LEAST))

    def set_cases(self, nodes: Sequence[str]) -> None:
        """Set the cases of the run."""
        self.total.clear()
        for node in nodes:
            self.total[engine_of_node(node, self.engines)] += self.expected_seconds(node)

    def count_case(self, node: str, seconds: float) -> None:
        """Count a case that has ended."""
        engine = engine_of_node(node, self.engines)
        self.ended[engine] += self.expected_seconds(node)
        self.taken[engine] += seconds

    @property
    def finished_share(self) -> float:
        """How much of the work is done, from 0 to 1."""
        total = sum(self.total.values())
        return min(1.0, sum(self.ended.values()) / total) if total else 0.0

    def remaining_seconds(self, elapsed: float) -> float | None:
        """The seconds that the rest takes, after `elapsed` seconds of running cases; None before the first has ended."""
        ended = sum(self.ended.values())
        if not ended:
            return None
        rest = sum((total - self.ended[name]) * self._slowness(name) for name, total in self.total.items())
        return max(0.0, rest) * (elapsed + self.assumed) / (ended + self.assumed)

    def _slowness(self, engine: str) -> float:
        """How much longer the engine takes than the mean of all engines; 1 before anything is known."""
        taken, ended = sum(self.taken.values()), sum(self.ended.values())
        return (self.taken[engine] / self.ended[engine]) / (taken / ended) if taken and self.ended[engine] else 1.0


def format_duration(seconds: float | None) -> str:
    """A duration as in `40 s` or `3 min`."""
    if seconds is None:
        return "an unknown time"
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
