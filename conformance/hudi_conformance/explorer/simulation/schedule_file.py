"""Schedules as files: JSON lines, one step a line, which can be replayed, read and edited.

    {"schedule": 1, "scenario": "two-writers-of-one-group", "processes": ["a", "b"], "violation": "…"}
    {"process": "a", "request": "names .hoodie/timeline"}
    {"process": "b", "fault": "crash-before", "request": "create .hoodie/timeline/….commit"}

The shape of a line is `schemas/schedule.json`. Processes that have not ended after the last line
continue in the order of `processes`.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, ValidationError

from hudi_conformance.explorer.simulation.runs import Choice, Run
from hudi_conformance.explorer.simulation.stores import STORES

VERSION = 1
#: The kind of store of schedules of HTTP requests through the proxy (`explorer.s3`), whose clients are engines.
OBJECT_STORE = "s3"


class ScheduleError(ValueError):
    """A schedule file is not valid; the message names file and line."""


class Diverged(ScheduleError):
    """A process sent another request than when the schedule was saved."""


@dataclass(frozen=True)
class SavedSchedule:
    """A schedule with its scenario. `requests` are the requests of the processes when it was saved, where known."""

    scenario: str
    processes: tuple[str, ...]
    schedule: tuple[Choice, ...]
    requests: tuple[str | None, ...] = ()
    store: str = "atomic"
    violation: str | None = None
    mutant: str | None = None
    requirements: tuple[str, ...] = ()
    #: The engine of each process, for schedules of requests through the proxy.
    engines: tuple[str, ...] = ()

    def check_run(self, run: Run) -> None:
        """Raise Diverged at the first step at which a run of this schedule sent another request."""
        for number, (step, request) in enumerate(zip(run.steps, self.requests, strict=False), 1):
            if request is not None and request != str(step.asked):
                raise Diverged(f"step {number}: {step.process} asked {step.asked}; the schedule has {request}")

    def to_lines(self) -> Iterator[dict[str, Any]]:
        """The lines of the file."""
        head = {"schedule": VERSION, "scenario": self.scenario, "processes": list(self.processes), "store": self.store}
        more: dict[str, Any] = {"violation": self.violation, "mutant": self.mutant, "requirements": list(self.requirements)}
        more["engines"] = list(self.engines)
        yield head | {key: value for key, value in more.items() if value}
        for number, (process, fault) in enumerate(self.schedule):
            request = self.requests[number] if number < len(self.requests) else None
            yield {"process": process} | ({"fault": fault} if fault else {}) | ({"request": request} if request else {})


def schedule_of_run(scenario: str, run: Run, **more: Any) -> SavedSchedule:
    """The schedule of a whole run. `more` are further attributes."""
    return SavedSchedule(scenario, tuple(run.results), run.schedule, tuple(str(step.asked) for step in run.steps), **more)


def write_schedule(saved: SavedSchedule, path: Path) -> None:
    """Write the file."""
    path.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in saved.to_lines()), encoding="utf-8")


def write_into_folder(saved: SavedSchedule, folder: Path) -> Path:
    """Write it into a folder, under a name derived from its content."""
    digest = hashlib.sha256(repr((saved.schedule, saved.mutant)).encode()).hexdigest()[:8]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{saved.scenario.replace(' ', '-')}-{digest}.jsonl"
    write_schedule(saved, path)
    return path


def read_schedule(path: Path) -> SavedSchedule:
    """Read a file. Raises ScheduleError with the number of the line."""
    lines = [_line(path, number, text) for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)]
    if not lines:
        raise ScheduleError(f"{path}: line 1: the first line with schedule, scenario and processes is missing")
    head, steps = lines[0], lines[1:]
    if head.get("store", "atomic") not in (*STORES, OBJECT_STORE):
        raise ScheduleError(
            f"{path}: line 1: no store {head['store']!r}; the stores are {', '.join(STORES)} and {OBJECT_STORE}"
        )
    for number, step in enumerate(steps, 2):
        if step.get("process") not in head["processes"]:
            raise ScheduleError(f"{path}: line {number}: not a step of {', '.join(head['processes'])}")
    return SavedSchedule(
        head["scenario"], tuple(head["processes"]), tuple(Choice(step["process"], step.get("fault")) for step in steps),
        tuple(step.get("request") for step in steps), head.get("store", "atomic"), head.get("violation"),
        head.get("mutant") or head.get("planted"),
        tuple(head.get("requirements", ())), tuple(head.get("engines", ())),
    )  # fmt: skip


def _line(path: Path, number: int, text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
        _validator("first line" if number == 1 else "a step").validate(found)
    except ValidationError as error:
        raise ScheduleError(f"{path}: line {number}: {error.message}") from error
    except ValueError as error:
        raise ScheduleError(f"{path}: line {number}: not JSON: {error}") from error
    return dict(found)


@cache
def _validator(title: str) -> Draft202012Validator:
    """The validator of one of the two kinds of lines."""
    schema = json.loads((files("hudi_conformance") / "schemas" / "schedule.json").read_text(encoding="utf-8"))
    return Draft202012Validator(next(kind for kind in schema["oneOf"] if kind["title"] == title))
