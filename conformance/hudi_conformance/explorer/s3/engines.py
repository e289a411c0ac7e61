"""Run the scenarios with an engine and its partner, which use the object store through the proxy."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import Conflict, ContractError, Refused
from hudi_conformance.engines.registry import connect
from hudi_conformance.explorer.s3.proxy import Proxy
from hudi_conformance.explorer.s3.run import Run
from hudi_conformance.explorer.s3.scenarios import (
    BUCKET,
    ENGINE,
    PARTNER,
    SCENARIOS,
    Scenario,
    ScenarioResult,
    Trial,
    engine_family,
)
from hudi_conformance.explorer.s3.scheduling import InOrder
from hudi_conformance.explorer.simulation.schedule_file import SavedSchedule
from hudi_conformance.processes.object_store import Store, client_environment

#: Expected wrong outcomes: engine -> scenario -> erratum.
LISTED: Mapping[str, Mapping[str, str]] = {
    "apache-hudi": {
        "is held back before it completes": "ER-134",
        "completes while the partner is held back": "ER-134",
    },
}


@dataclass(frozen=True)
class Finding:
    """The outcome of one scenario: "pass", "fail", "refused" or "error", and its run, if there was one.

    `listed` is the erratum that explains an expected wrong outcome, else None.
    """

    scenario: str
    outcome: str
    says: str
    run: Run | None = None
    listed: str | None = None

    @property
    def is_expected(self) -> bool:
        """Whether it is right, or wrong as expected."""
        return (self.outcome == "fail") if self.listed else self.outcome in ("pass", "refused")

    def to_json(self) -> dict[str, Any]:
        """Its figures; times in seconds."""
        reported = {"scenario": self.scenario, "outcome": self.outcome, "says": self.says, "listed": self.listed}
        if self.run is None:
            return reported
        requests = {name: len(self.run.requests_of(name)) for name in self.run.results}
        times = {"seconds": round(self.run.seconds, 2), "share": round(self.run.proxy_share, 4)}
        return {**reported, "requests": requests, **times, "best_effort": list(self.run.best_effort)}

    def __str__(self) -> str:
        listed = f" [{self.listed}]" if self.listed else ""
        if self.run is None:
            return f"{self.outcome:<8}{self.scenario}: {self.says}{listed}"
        figures = f"{len(self.run.exchanges)} requests, {self.run.seconds:.1f} s, share of the proxy {self.run.proxy_share:.0%}"
        effort = "; best effort" if self.run.best_effort else ""
        return f"{self.outcome:<8}{self.scenario}: {self.says}{listed} ({figures}{effort})"


@contextmanager
def start_trial(engine: str, partner: str, store: Store, proxy: Proxy) -> Iterator[Trial]:
    """Start the two engines; the access key of each is the name of its process."""
    with suppress(ConnectionError):
        store.create_bucket(BUCKET)
    with (
        connect(partner, variables=client_environment(proxy.endpoint, PARTNER)) as beside,
        connect(engine, variables=client_environment(proxy.endpoint, ENGINE)) as started,
    ):
        yield Trial(proxy, started, beside)


def run_scenarios(given: Trial, seeds: int = 2) -> Iterator[Finding]:
    """Every scenario that both engines support; random ones once for each seed."""
    for client in (given.engine, given.partner):
        if "storage.s3" not in client.hello.features:
            yield Finding("all", "refused", f"{client.name} has no object stores")
            return
    for scenario in SCENARIOS.values():
        if _lacks(given.engine, scenario.needs) or _lacks(given.partner, scenario.partner_needs):
            continue
        for name, scheduler in scenario.variants(seeds):
            try:
                yield _found(name, given, scenario, scenario.play(given, scheduler(given)))
            except ContractError as error:
                outcome = "refused" if isinstance(error, Refused) else "error"
                yield Finding(name, outcome, str(error).partition("\n")[0][:300])


def replay_schedule(given: Trial, saved: SavedSchedule) -> Finding:
    """Replay a schedule file, request by request, as far as the clients send the same requests."""
    scenario = SCENARIOS[saved.scenario]
    return _found(saved.scenario, given, scenario, scenario.play(given, InOrder(saved.processes, saved.schedule)))


def _lacks(client: Client, features: tuple[str, ...]) -> bool:
    return not client.hello.features >= set(features)


def _found(name: str, given: Trial, scenario: Scenario, reported: ScenarioResult) -> Finding:
    wrong, run = reported
    listed = next(
        (
            LISTED[engine_family(client.name)][scenario.name]
            for client in (given.engine, given.partner)
            if scenario.name in LISTED.get(engine_family(client.name), {})
        ),
        None,
    )
    return Finding(name, "fail" if wrong else "pass", wrong or _ends(run), run, listed)


def _ends(found: Run) -> str:
    """The outcome of each process."""
    reported = [f"{name} {'conflict' if isinstance(e.error, Conflict) else e.how}" for name, e in found.results.items()]
    return ", ".join(reported)
