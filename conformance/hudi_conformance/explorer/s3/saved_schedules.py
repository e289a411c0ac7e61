"""Schedules of requests through the proxy as files, in the format of `simulation.schedule_file`."""

from collections.abc import Iterator, Sequence
from typing import Any

from hudi_conformance.explorer.s3.diagram import Names
from hudi_conformance.explorer.s3.run import Run
from hudi_conformance.explorer.simulation.schedule_file import OBJECT_STORE, SavedSchedule


def schedule_of_run(scenario: str, run: Run, engines: Sequence[str], **more: Any) -> SavedSchedule:
    """The schedule of a run with its requests. Times and ids, which differ in each run, have short names."""
    requests = tuple(_asked(run))
    return SavedSchedule(
        scenario, tuple(run.results), run.schedule, requests, store=OBJECT_STORE, engines=tuple(engines), **more
    )


def find_departure(saved: SavedSchedule, run: Run) -> str | None:
    """The first turn at which a run of this schedule sent another request, None if there is none."""
    for number, (wanted, found) in enumerate(zip(saved.requests, _asked(run), strict=False), 1):
        if wanted != found:
            return f"turn {number}: {run.schedule[number - 1]} asked {found}; the schedule has {wanted}"
    if len(saved.schedule) != len(run.schedule):
        return f"{len(run.schedule)} turns; the schedule has {len(saved.schedule)}"
    return None


def _asked(run: Run) -> Iterator[str | None]:
    """The request at each turn; None where a process starts to stall."""
    names, exchanges = Names(), iter([exchange for exchange in run.exchanges if exchange.client in run.results])
    for choice in run.schedule:
        yield None if choice.fault == "stall" else names.describe_request(next(exchanges))
