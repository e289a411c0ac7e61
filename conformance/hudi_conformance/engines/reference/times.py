"""A simulation of processes on several machines that take instant times with different clocks.

True time advances only when a process waits, so that the same program gives the same times.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hudi_conformance.contract.errors import EngineError
from hudi_reference.locks import InProcessLock
from hudi_reference.storage import MemoryStorage
from hudi_reference.timeline.instant_generator import SKEW_KEY, TimeGenerator, skew_bound
from hudi_reference.timeline.instants.times import format_time
from hudi_reference.timeline.shared_counter import SharedCounter

#: True time when a program begins: 2026-01-01T00:00:00Z, in milliseconds.
START = 1767225600000
#: Milliseconds between taking a time and creating the file with it.
PUBLISHING = 3


def time_text(milliseconds: str, zone: str) -> str:
    """The function `time.format`: a time as an instant time in an IANA time zone."""
    return format_time(int(milliseconds), zone_of(zone))


def zone_of(name: str) -> tzinfo:
    """A time zone by its name; raises EngineError for an unknown name."""
    if name == "UTC":
        return UTC
    with suppress(ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo(name)
    raise EngineError(f"unknown time zone {name!r}")


@dataclass
class Host:
    """A machine whose clock differs from true time by `offset` milliseconds. `at` is the true time up to which it has run."""

    offset: int
    at: int = START

    def now(self) -> int:
        """The current time of the clock."""
        return self.at + self.offset

    def sleep(self, milliseconds: int) -> None:
        """Advance the time of this machine."""
        self.at += milliseconds


@dataclass
class DistributedLock:
    """A lock that all hosts share; a host waits while another one holds it. Owners are numbers of hosts."""

    hosts: Sequence[Host]
    in_process: bool = False
    spans: list[list[int]] = field(default_factory=list)

    def acquire(self, owner: str) -> None:
        """Wait until the previous owner has released it."""
        host = self.hosts[int(owner)]
        host.at = max([host.at, *(span[-1] for span in self.spans)])
        self.spans.append([host.at])

    def release(self, owner: str) -> None:
        """Release the lock at the current time of its owner."""
        self.spans[-1].append(self.hosts[int(owner)].at)

    def check(self, owner: str) -> None:
        """Do nothing, because the lock of the simulation cannot be lost."""


def draw(
    source: str, skew: int | None, clocks: Sequence[int], program: Sequence[Sequence[int | str]]
) -> list[Mapping[str, Any]]:
    """The function `true-time.draw`.

    In each round of `program` the named processes start at the same time and take a time each, in the given order. `source` is
    `clocks` or `counter`; "crash" in a round lets the process of the counter crash and start again.
    """
    hosts = [Host(offset) for offset in clocks]
    work = {"clocks": _on_clocks, "counter": _on_a_counter}.get(source)
    if work is None:
        raise EngineError(f"unknown source of times {source!r}")
    return work(hosts, skew, program)


def _on_clocks(hosts: Sequence[Host], skew: int | None, program: Sequence[Sequence[int | str]]) -> list[Mapping[str, Any]]:
    lock = DistributedLock(hosts)
    bound = skew_bound({} if skew is None else {SKEW_KEY: str(skew)}, lock)
    generators = [TimeGenerator(host, lock, skew=bound) for host in hosts]
    found: list[Mapping[str, Any]] = []
    for part in program:
        begin = max(host.at for host in hosts)
        for process in map(int, part):
            host = hosts[process]
            host.at = max(host.at, begin)
            before = len(lock.spans)
            with generators[process].drawn(owner=str(process)) as time:
                host.sleep(PUBLISHING)
                published = host.at
            span = lock.spans[before] if len(lock.spans) > before else [None, None]
            found.append(_event(process, time, acquired=span[0], published=published, released=span[1]))
    return found


def _on_a_counter(hosts: Sequence[Host], skew: int | None, program: Sequence[Sequence[int | str]]) -> list[Mapping[str, Any]]:
    storage, lock = MemoryStorage(), InProcessLock()
    service, found = SharedCounter(storage, lock), []
    for part in program:
        for who in part:
            if who == "crash":
                service = SharedCounter(storage, lock)
            else:
                found.append(_event(int(who), service.requested()))
    return found


def _event(process: int, time: str, **moments: int | None) -> Mapping[str, Any]:
    """One event of the answer, with true times as strings."""
    return {"process": process, "time": time, **{name: None if at is None else str(at) for name, at in moments.items()}}
