"""Processes that use one table in an object store, each through the gate, and what came of them."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hudi_conformance.counters import count
from hudi_conformance.explorer.s3.proxy import Exchange, FaultOf, Proxy
from hudi_conformance.explorer.s3.scheduling import FirstComeFirstServed, InOrder, ProcessScheduler
from hudi_conformance.explorer.simulation.scheduler import Choice, ProcessResult

#: Seconds after which a process that does not end is left alone.
LIMIT = 300.0


@dataclass(frozen=True)
class Run:
    """What happened. `seconds` of wall time, `busy` of processor time of the gate, `in_store` of waiting for the store."""

    results: Mapping[str, ProcessResult]
    exchanges: tuple[Exchange, ...]
    schedule: tuple[Choice, ...]
    #: Why the same schedule may give another run: requests came several at a time, or in another order than was wished.
    best_effort: tuple[str, ...]
    seconds: float
    busy: float
    in_store: float

    @property
    def share(self) -> float:
        """The gate's own part of the wall time."""
        return self.busy / self.seconds

    def of(self, process: str) -> tuple[Exchange, ...]:
        """The requests of one process."""
        return tuple(exchange for exchange in self.exchanges if exchange.client == process)

    @property
    def trace(self) -> tuple[str, ...]:
        """Each request in a line, without what another run may do otherwise."""
        return tuple(str(exchange) for exchange in self.exchanges)


def run(
    proxy: Proxy,
    processes: Mapping[str, Callable[[], object]],
    scheduler: ProcessScheduler | None = None,
    fault_of: FaultOf = lambda request: None,
) -> Run:
    """Run the processes, whose requests bear their names, until all of them have ended; without `turns` one after the other.

    `befalls` says what befalls a request, where the turns do not. Whoever comes later finds the gate open.
    """
    scheduler = scheduler or InOrder(tuple(processes))
    proxy.schedule_by(scheduler, fault_of)
    began, busy = time.monotonic(), proxy.busy
    results: dict[str, ProcessResult] = {}
    threads = [
        threading.Thread(target=_run_process, args=(proxy, name, program, results), name=name, daemon=True)
        for name, program in processes.items()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
    seconds, exchanges = time.monotonic() - began, tuple(proxy.exchanges)
    proxy.schedule_by(FirstComeFirstServed())
    ended = {name: results.get(name, ProcessResult("stalled")) for name in processes}
    found = Run(
        ended, exchanges, tuple(scheduler.taken), (*several_at_once(exchanges, tuple(processes)), *scheduler.departures),
        seconds, proxy.busy - busy, sum(exchange.in_store for exchange in exchanges),
    )  # fmt: skip
    faults = sum(exchange.fault is not None for exchange in exchanges)
    times = {"s3_milliseconds": round(1000 * found.seconds), "s3_proxy_milliseconds": round(1000 * found.busy)}
    count(s3_runs=1, s3_requests=len(exchanges), s3_faults=faults, **times)
    return found


def several_at_once(exchanges: Sequence[Exchange], processes: Sequence[str]) -> list[str]:
    """Who had more than one request under way, so that their order among each other was nobody's choice."""
    most = {name: max((e.in_flight for e in exchanges if e.client == name), default=0) for name in processes}
    return [f"{name} had up to {count} requests under way at once" for name, count in most.items() if count > 1]


def _run_process(proxy: Proxy, name: str, program: Callable[[], Any], results: dict[str, ProcessResult]) -> None:
    try:
        results[name] = ProcessResult("returned", program())
    except Exception as error:  # whatever it is, it is this process's end
        results[name] = ProcessResult("raised", error=error)
    finally:
        proxy.end(name)
