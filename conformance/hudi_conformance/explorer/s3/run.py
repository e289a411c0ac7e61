"""Run processes that use one table in an object store through the proxy."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hudi_conformance.counters import count
from hudi_conformance.explorer.s3.proxy import Exchange, FaultOf, Proxy
from hudi_conformance.explorer.s3.scheduling import FirstComeFirstServed, InOrder, ProcessScheduler
from hudi_conformance.explorer.simulation.runs import Choice, ProcessResult

#: Seconds after which a process that does not end counts as stalled.
LIMIT = 300.0


@dataclass(frozen=True)
class Run:
    """A run. `seconds` of wall time, `busy` of processor time of the proxy, `in_store` of waiting for the store."""

    results: Mapping[str, ProcessResult]
    exchanges: tuple[Exchange, ...]
    schedule: tuple[Choice, ...]
    #: Why the same schedule may give another run: a process had several requests open, or did not send the expected one.
    best_effort: tuple[str, ...]
    seconds: float
    busy: float
    in_store: float

    @property
    def proxy_share(self) -> float:
        """The share of the wall time that the proxy itself takes."""
        return self.busy / self.seconds

    def requests_of(self, process: str) -> tuple[Exchange, ...]:
        """The requests of one process."""
        return tuple(exchange for exchange in self.exchanges if exchange.client == process)

    @property
    def trace(self) -> tuple[str, ...]:
        """Each request as a line, without what differs between runs."""
        return tuple(str(exchange) for exchange in self.exchanges)


def run_processes(
    proxy: Proxy,
    processes: Mapping[str, Callable[[], object]],
    scheduler: ProcessScheduler | None = None,
    fault_of: FaultOf = lambda request: None,
) -> Run:
    """Run the processes until all have ended; without a scheduler one after the other.

    The access key of each request is the name of its process. `fault_of` gives the fault of a request for which the scheduler
    names none. Afterwards the proxy forwards requests as they arrive.
    """
    scheduler = scheduler or InOrder(tuple(processes))
    proxy.set_scheduler(scheduler, fault_of)
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
    proxy.set_scheduler(FirstComeFirstServed())
    ended = {name: results.get(name, ProcessResult("stalled")) for name in processes}
    found = Run(
        ended, exchanges, tuple(scheduler.taken), (*concurrent_clients(exchanges, tuple(processes)), *scheduler.departures),
        seconds, proxy.busy - busy, sum(exchange.in_store for exchange in exchanges),
    )  # fmt: skip
    faults = sum(exchange.fault is not None for exchange in exchanges)
    times = {"s3_milliseconds": round(1000 * found.seconds), "s3_proxy_milliseconds": round(1000 * found.busy)}
    count(s3_runs=1, s3_requests=len(exchanges), s3_faults=faults, **times)
    return found


def concurrent_clients(exchanges: Sequence[Exchange], processes: Sequence[str]) -> list[str]:
    """The processes that had several requests open at once, whose order the scheduler does not control."""
    most = {name: max((e.in_flight for e in exchanges if e.client == name), default=0) for name in processes}
    return [f"{name} had up to {count} open requests at once" for name, count in most.items() if count > 1]


def _run_process(proxy: Proxy, name: str, program: Callable[[], Any], results: dict[str, ProcessResult]) -> None:
    try:
        results[name] = ProcessResult("returned", program())
    except Exception as error:  # any error ends this process only
        results[name] = ProcessResult("raised", error=error)
    finally:
        proxy.end_client(name)
