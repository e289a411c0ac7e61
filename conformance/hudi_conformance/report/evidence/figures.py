"""Figures of the reports: counts of the suite, speed of the explorer, and results of engines on an object store.

Counts come from the results of the suite. Times, and results that need several engines, are recorded by the commands that
measure them (`--record`), one file each in `results/figures`, with command and date.
"""

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from hudi_conformance.counters import MEANINGS
from hudi_conformance.mutants.harness.schedules import Schedule
from hudi_conformance.mutants.harness.schedules import recorded as schedules_of_mutants
from hudi_conformance.report.evidence.evidence import RESULTS

if TYPE_CHECKING:
    from hudi_conformance.explorer.s3.diagram import Drawing

FOLDER = RESULTS / "figures"
#: Goals: most µs of processor time for a step, fewest interleavings a second, greatest share of the time of a run.
STEP_GOAL, ORDERS_GOAL, SHARE_GOAL = 5.0, 3_000, 0.2


def read_figures(name: str) -> dict[str, Any]:
    """The figures of a file; an empty dictionary if none were recorded."""
    path = FOLDER / f"{name}.json"
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def record_figures(name: str, figures: Mapping[str, Any]) -> None:
    """Record figures in a file of their own."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.json").write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def measurement_details(command: str) -> dict[str, str]:
    """The command that measured, and the time."""
    return {"command": command, "taken": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())}


@dataclass(frozen=True)
class Figure:
    """One line: what is counted or measured, the value, the goal, and the source of the value."""

    about: str
    value: str
    goal: str = ""
    source: str = "the suite"


def list_figures(counts: Mapping[str, Mapping[str, int]]) -> list[Figure]:
    """All figures. `counts` are the counters of each case."""
    return [*_speed(read_figures("schedules")), *_tried(_sum(counts.values())), *_mutants(schedules_of_mutants())]


def _sum(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for found in counts:
        total.update(found)
    return total


def _speed(found: Mapping[str, Any]) -> list[Figure]:
    if not found:
        return []
    source = f"`{found['command']}`, {found['taken']}"
    orders = " and ".join(f"{rate:,.0f} {how}" for how, rate in found["per_second"].items())
    step = f"{found['microseconds']:.1f} µs"
    return [
        Figure(
            "interleavings of two real writers a second of processor time on each of two cores",
            orders,
            f"at least {ORDERS_GOAL:,}",
            source,
        ),
        Figure("the scheduler alone, processor time for a step", step, f"at most {STEP_GOAL:g} µs", source),
    ]


def _tried(total: Counter[str]) -> list[Figure]:
    found = [Figure(meaning, f"{total[name]:,}") for name, meaning in MEANINGS.items() if total[name] and "milli" not in name]
    survived = total["crashes"] + total["crash_points"] + total["s3_faults"]
    if survived:
        found.append(Figure("faults survived without lost or duplicated changes", f"{survived:,}"))
    if taken := total["s3_milliseconds"]:
        share = f"{total['s3_proxy_milliseconds'] / taken:.0%}"
        found.append(Figure("the proxy's share of the time of runs on an object store", share, f"at most {SHARE_GOAL:.0%}"))
    return found


def _mutants(found: Mapping[str, Schedule]) -> list[Figure]:
    steps, source = [one.steps for one in found.values()], "`mutants/schedules.json`"
    length = f"{min(steps)} to {max(steps)}, in the median {median(steps):g}"
    return [
        Figure("mutants of concurrency that the explorer finds", f"{len(steps)}", "at least 40", source),
        Figure("steps of the shortest schedule that shows one", length, "", source),
    ]


def mutant_schedules() -> list[tuple[str, Schedule]]:
    """Mutants with the shortest schedule that shows each."""
    return sorted(schedules_of_mutants().items())


def count_store_requests(counts: Mapping[str, Mapping[str, int]]) -> list[tuple[str, int, int]]:
    """Cases that run on an object store, with their runs and requests."""
    return [(case, tried["s3_runs"], tried["s3_requests"]) for case, tried in sorted(counts.items()) if tried.get("s3_runs")]


# The object store.


@dataclass(frozen=True)
class Promise:
    """A promise of the store: what came of it alone, and behind the proxy."""

    name: str
    says: str
    alone: str
    behind: str
    is_kept: tuple[bool, bool]


@dataclass(frozen=True)
class Verdict:
    """The outcome of a scenario of two engines; `requests` of both, the fewest and the most."""

    outcome: str
    says: str
    requests: str
    listed: str | None
    best_effort: bool


@dataclass(frozen=True)
class StoreResults:
    """The recorded results on an object store."""

    source: str
    promises: tuple[Promise, ...]
    #: Engine, or two concurrent engines: the command and the time.
    engines: Mapping[str, str]
    #: Scenario: the verdict of each of them, None where it does not run the scenario.
    scenarios: Mapping[str, tuple[Verdict | None, ...]]
    diagrams: "tuple[Drawing, ...]"


def read_store_results() -> StoreResults | None:
    """The results that `hudi-conformance object-store --record` stored; None if there are none."""
    found = read_figures("s3")
    if not found:
        return None
    from hudi_conformance.explorer.s3.diagram import Drawing

    promises = tuple(Promise(**{**one, "is_kept": tuple(one["is_kept"])}) for one in found["store"]["promises"])
    engines, names = found["engines"], list[str]()
    for entry in engines.values():
        names += [_scenario(one) for one in entry["findings"] if _scenario(one) not in names]
    scenarios = {name: tuple(_verdict(name, entry["findings"]) for entry in engines.values()) for name in names}
    sources = {name: f"{entry['command']}, {entry['taken']}" for name, entry in engines.items()}
    drawn = tuple(Drawing.from_json(one) for entry in engines.values() for one in entry["diagrams"])
    return StoreResults(f"{found['store']['command']}, {found['store']['taken']}", promises, sources, scenarios, drawn)


def _scenario(finding: Mapping[str, Any]) -> str:
    """The name of a scenario without the seed."""
    return str(finding["scenario"]).partition(", seed")[0]


def _verdict(scenario: str, findings: Sequence[Mapping[str, Any]]) -> Verdict | None:
    """The worst outcome of a scenario that was run once, or with several seeds."""
    mine = [one for one in findings if _scenario(one) == scenario]
    if not mine:
        return None
    worst = min(mine, key=lambda one: ("fail", "error", "refused", "pass").index(one["outcome"]))
    counted = sorted(sum(one["requests"].values()) for one in mine if "requests" in one)
    requests = "" if not counted else f"{counted[0]}" if counted[0] == counted[-1] else f"{counted[0]} to {counted[-1]}"
    return Verdict(worst["outcome"], worst["says"], requests, worst["listed"], any(one.get("best_effort") for one in mine))
