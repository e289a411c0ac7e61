"""Scenarios of two clients on one table in the object store: programs, the order of requests, and the expected outcome.

An engine and its partner are separate processes. They are observed by their requests, their answers, and what the partner
reads afterwards.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa

from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import Conflict
from hudi_conformance.explorer.s3.proxy import Proxy
from hudi_conformance.explorer.s3.run import Run, run_processes
from hudi_conformance.explorer.s3.scheduling import AtRandom, HeldBack, InOrder, Overtaken, ProcessScheduler

BUCKET = "engines"
ENGINE, PARTNER = "engine", "partner"
SCHEMA: Mapping[str, Any] = {
    "type": "record",
    "name": "row",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "ts", "type": ["null", "long"], "default": None},
        {"name": "value", "type": ["null", "string"], "default": None},
    ],
}
_ARROW = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("value", pa.string())])
_PROVIDERS = "org.apache.hudi.client.transaction.lock."
#: The lock of processes of the reference: a lease in the table itself.
_LEASE = {
    "hoodie.write.lock.provider": f"{_PROVIDERS}StorageBasedLockProvider",
    "hoodie.write.lock.wait_time_ms_between_retry": "50",
    "hoodie.write.lock.max_wait_time_ms_between_retry": "200",
}
#: Settings of engines, by name without release. Apache Hudi has no lock for object stores in its Spark bundle: it still checks
#: for conflicts, under a lock of its own process.
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "reference": _LEASE,
    "spark": _LEASE,
    "apache-hudi": {
        "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
        "hoodie.write.lock.provider": f"{_PROVIDERS}InProcessLockProvider",
        "hoodie.clean.failed.writes.policy": "LAZY",
    },
}
#: More requests than a small write sends, and fewer than a writer sends until its wait for the lock times out.
MOST = 250
DUE = {"hoodie.compact.inline.max.delta.commits": "1"}
#: The violation of a run, None if there is none, and the run.
ScenarioResult = tuple[str | None, Run]
Values = dict[str, str]


def engine_family(engine: str) -> str:
    """The name of an engine without its release."""
    return engine.partition("@")[0]


@dataclass
class Trial:
    """An engine and its partner behind the proxy, and tables of their own."""

    proxy: Proxy
    engine: Client
    partner: Client
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def client(self, process: str) -> Client:
        """The client of a process."""
        return self.engine if process == ENGINE else self.partner

    def create_table(self, kind: Any) -> str:
        """A new table with two rows in one file group, by the partner."""
        names = "-".join(dict.fromkeys(client.name.replace("@", "-") for client in (self.engine, self.partner)))
        table = f"s3://{BUCKET}/{names}-{next(self._numbers)}"
        self.partner.create(table, TableSpec("t", kind, SCHEMA, ("id",), (), ("ts",), "EVENT_TIME_ORDERING"))
        self.write(PARTNER, table, ("a", 1, "first"), ("b", 1, "first"))
        return table

    def write(self, process: str, table: str, *rows: tuple[str, int, str]) -> str:
        """One upsert; the instant."""
        arrow = pa.Table.from_pylist([{"id": key, "ts": ts, "value": value} for key, ts, value in rows], _ARROW)
        return self.client(process).write(table, "upsert", arrow, options=self.write_settings(process))

    def compact(self, process: str, table: str) -> str | None:
        """Schedule and execute a compaction."""
        return self.client(process).service(table, "compaction", options={**self.write_settings(process), **DUE})

    def read_values(self, process: str, table: str) -> Values:
        """The value of each key, as the process reads it."""
        rows = self.client(process).read(table, Query(columns=("id", "value")))
        return {row["id"]: row["value"] for row in rows.to_pylist()}

    def write_settings(self, process: str) -> Mapping[str, str]:
        """The write settings of a process."""
        return SETTINGS.get(engine_family(self.client(process).name), {})

    def has_begun(self, process: str) -> Callable[[], bool]:
        """Whether a process has stored a data file: it has chosen the snapshot that it is based on."""

        def has() -> bool:
            return any(
                exchange.client == process and exchange.changed and exchange.request.place.endswith(".parquet")
                for exchange in self.proxy.exchanges
            )

        return has


def _reads(trial: Trial, scheduler: ProcessScheduler) -> ScenarioResult:
    table, answers = trial.create_table("COPY_ON_WRITE"), list[Values]()
    found = run_processes(trial.proxy, {ENGINE: lambda: answers.append(trial.read_values(ENGINE, table))}, scheduler)
    _raise(found, ENGINE)
    expected = {"a": "first", "b": "first"}
    return (None if answers == [expected] else f"expected {expected}, found {answers}"), found


def _reader_and_writer(reader: str, writer: str, trial: Trial, scheduler: ProcessScheduler) -> ScenarioResult:
    """One process reads three times while the other one commits."""
    table, answers = trial.create_table("MERGE_ON_READ"), list[Values]()

    def read() -> None:
        for _ in range(3):
            answers.append(trial.read_values(reader, table))

    changes = (("a", 2, "second"), ("b", 2, "second"))
    found = run_processes(trial.proxy, {reader: read, writer: lambda: trial.write(writer, table, *changes)}, scheduler)
    _raise(found, reader, writer)
    states = [{"a": value, "b": value} for value in ("first", "second")]
    if any(answer not in states for answer in answers):
        return f"a read equals neither the state before nor after the commit: {answers}", found
    order = [states.index(answer) for answer in answers]
    return (None if order == sorted(order) else f"a commit was visible and later not: {answers}"), found


def _both_write(trial: Trial, scheduler: ProcessScheduler) -> ScenarioResult:
    """Each process changes one row of the only file group; the row of each successful write is in the table."""
    table, keys = trial.create_table("COPY_ON_WRITE"), {ENGINE: "a", PARTNER: "b"}
    acts = {name: partial(trial.write, name, table, (key, 2, name)) for name, key in keys.items()}
    found = run_processes(trial.proxy, acts, scheduler)
    done = _acknowledged(found)
    values = trial.read_values(PARTNER, table)
    lost = [name for name, key in keys.items() if name in done and values.get(key) != name]
    if lost:
        return f"lost update: {' and '.join(lost)} succeeded, and the rows are {values}", found
    revived = [name for name, key in keys.items() if name not in done and values.get(key) == name]
    return (f"{revived} got a conflict, and its row is in the table" if revived else None), found


def _service_and_writer(service_process: str, writer: str, trial: Trial, scheduler: ProcessScheduler) -> ScenarioResult:
    """One process compacts while the other one commits."""
    table = trial.create_table("MERGE_ON_READ")
    trial.write(PARTNER, table, ("a", 2, "second"))
    acts: dict[str, Callable[[], object]] = {
        service_process: lambda: trial.compact(service_process, table),
        writer: lambda: trial.write(writer, table, ("b", 3, "third")),
    }
    done = _acknowledged(found := run_processes(trial.proxy, acts, scheduler))
    expected, values = {"a": "second", "b": "third" if writer in done else "first"}, trial.read_values(PARTNER, table)
    return (None if values == expected else f"expected {expected}, found {values}"), found


def _acknowledged(found: Run) -> set[str]:
    """The processes that succeeded; the others got a conflict. Raises any other error."""
    for name, ended in found.results.items():
        if not isinstance(ended.error, Conflict | None):
            _raise(found, name)
    return {name for name, ended in found.results.items() if ended.how == "returned"}


def _raise(found: Run, *processes: str) -> None:
    for process in processes:
        error = found.results[process].error
        if error is not None:
            raise error


@dataclass(frozen=True)
class Scenario:
    """Two clients on one table. `scheduler` is None if it is random."""

    name: str
    play: Callable[[Trial, ProcessScheduler], ScenarioResult]
    scheduler: Callable[[Trial], ProcessScheduler] | None = None
    #: Features of the engine, and those of its partner.
    needs: tuple[str, ...] = ()
    partner_needs: tuple[str, ...] = ("create", "write.upsert")

    def variants(self, seeds: int) -> Iterator[tuple[str, Callable[[Trial], ProcessScheduler]]]:
        """Name and scheduler of each run; random ones once for each seed."""
        if self.scheduler is not None:
            yield self.name, self.scheduler
            return
        for seed in range(seeds):
            yield f"{self.name}, seed {seed}", partial(_drawn, seed)


def _drawn(seed: int, trial: Trial) -> ProcessScheduler:
    return AtRandom((ENGINE, PARTNER), seed)


def _held_back(slow: str, quick: str, trial: Trial) -> ProcessScheduler:
    """Pause a writer between its conflict check and its completion, where the lock must exclude other completions."""
    return HeldBack(slow, quick, lambda request: request.completes, MOST)


_WRITES, _COMPACTS = ("write.upsert",), ("create", "write.upsert", "service.compaction")
SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("reads what the partner wrote", _reads, lambda trial: InOrder([ENGINE])),
        Scenario("reads while the partner writes", partial(_reader_and_writer, ENGINE, PARTNER)),
        Scenario("writes while the partner reads", partial(_reader_and_writer, PARTNER, ENGINE), needs=_WRITES),
        Scenario("is overtaken by another writer of the group", _both_write,
                 lambda trial: Overtaken(ENGINE, PARTNER, trial.has_begun(ENGINE)), _WRITES),
        Scenario("overtakes another writer of the group", _both_write,
                 lambda trial: Overtaken(PARTNER, ENGINE, trial.has_begun(PARTNER)), _WRITES),
        Scenario("is held back before it completes", _both_write, partial(_held_back, ENGINE, PARTNER), _WRITES),
        Scenario("completes while the partner is held back", _both_write, partial(_held_back, PARTNER, ENGINE), _WRITES),
        Scenario("writes while the partner writes", _both_write, needs=_WRITES),
        Scenario("compacts while the partner writes", partial(_service_and_writer, ENGINE, PARTNER),
                 needs=("service.compaction",)),
        Scenario("writes while the partner compacts", partial(_service_and_writer, PARTNER, ENGINE), needs=_WRITES,
                 partner_needs=_COMPACTS),
    )
}  # fmt: skip
