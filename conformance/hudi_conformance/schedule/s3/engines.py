"""Engines as black boxes: processes on one table in the object store, driven through the gate against a partner.

The partner is the reference in a process of its own. What an engine does is seen from its requests, its answers, and what the
partner reads afterwards.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa

from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client, connect
from hudi_conformance.contract.errors import Conflict, ContractError, Refused
from hudi_conformance.schedule.s3.gate import Gate
from hudi_conformance.schedule.s3.run import Run, run
from hudi_conformance.schedule.s3.store import Store, variables
from hudi_conformance.schedule.s3.turns import AtRandom, HeldBack, InOrder, Ordered, Overtaken

BUCKET = "engines"
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
#: What keeps the partner's processes apart: a lease in the table itself.
PARTNER = {
    "hoodie.write.lock.provider": f"{_PROVIDERS}StorageBasedLockProvider",
    "hoodie.write.lock.wait_time_ms_between_retry": "50",
    "hoodie.write.lock.max_wait_time_ms_between_retry": "200",
}
#: What an engine is told beside. Apache Hudi 1.0.2 has no lock for object stores in its bundle: it checks for conflicts all the
#: same, under a lock of its own process.
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "apache-hudi": {
        "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
        "hoodie.write.lock.provider": f"{_PROVIDERS}InProcessLockProvider",
        "hoodie.clean.failed.writes.policy": "LAZY",
    },
}
#: So many requests are more than a small write takes, and less than one that waits for a lock has patience for.
MOST = 250
DUE = {"hoodie.compact.inline.max.delta.commits": "1"}


@dataclass(frozen=True)
class Finding:
    """What came of one scenario: "pass", "fail", "refused" or "error", and the run that shows it, if there was one."""

    scenario: str
    outcome: str
    says: str
    run: Run | None = None

    def __str__(self) -> str:
        if self.run is None:
            return f"{self.outcome:<8}{self.scenario}: {self.says}"
        figures = f"{len(self.run.exchanges)} requests, {self.run.seconds:.1f} s, share of the gate {self.run.share:.0%}"
        effort = "; best effort" if self.run.best_effort else ""
        return f"{self.outcome:<8}{self.scenario}: {self.says} ({figures}{effort})"


@dataclass
class Trial:
    """An engine and its partner in front of the gate."""

    gate: Gate
    engine: Client
    partner: Client
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def findings(self, seeds: int = 2) -> Iterator[Finding]:
        """Every scenario that the engine can take part in, some of them once for each seed."""
        yield self._tried("reads what the partner wrote", self._reads)
        for seed in range(seeds):
            turns = AtRandom(("engine", "partner"), seed)
            yield self._tried(f"reads while the partner writes, seed {seed}", partial(self._reads_meanwhile, turns))
        if "write.upsert" not in self.engine.hello.features:
            return
        yield self._tried("is overtaken by another writer of the group", self._is_overtaken)
        yield self._tried("overtakes another writer of the group", self._overtakes)
        yield self._tried("is held back before it completes", lambda: self._is_held_back("engine", "partner"))
        yield self._tried("completes while the partner is held back", lambda: self._is_held_back("partner", "engine"))
        for seed in range(seeds):
            turns = AtRandom(("engine", "partner"), seed)
            yield self._tried(f"writes while the partner writes, seed {seed}", partial(self._write_both, turns))
        if "service.compaction" in self.engine.hello.features:
            yield self._tried("compacts while the partner writes", lambda: self._compacts(AtRandom(("engine", "partner"), 1)))

    def _tried(self, scenario: str, act: Callable[[], tuple[str | None, Run | None]]) -> Finding:
        try:
            wrong, found = act()
        except Refused as error:
            return Finding(scenario, "refused", str(error).partition("\n")[0])
        except ContractError as error:
            return Finding(scenario, "error", str(error).partition("\n")[0][:300])
        return Finding(scenario, "fail" if wrong else "pass", wrong or _told(found), found)

    def _reads(self) -> tuple[str | None, Run | None]:
        table = self._table("COPY_ON_WRITE")
        answers: list[dict[str, str]] = []
        found = run(self.gate, {"engine": lambda: answers.append(_values(self.engine, table))}, InOrder(["engine"]))
        _raise(found, "engine")
        expected = {"a": "first", "b": "first"}
        return (None if answers == [expected] else f"expected {expected}, found {answers}"), found

    def _reads_meanwhile(self, turns: Ordered) -> tuple[str | None, Run | None]:
        table, answers = self._table("MERGE_ON_READ"), list[dict[str, str]]()

        def read() -> None:
            for _ in range(3):
                answers.append(_values(self.engine, table))

        both = _rows(("a", 2, "second"), ("b", 2, "second"))
        found = run(self.gate, {"engine": read, "partner": lambda: self._write(self.partner, table, both)}, turns)
        _raise(found, "engine")
        states = [{"a": value, "b": value} for value in ("first", "second")]
        if any(answer not in states for answer in answers):
            return f"a read that is neither before nor after the commit: {answers}", found
        order = [states.index(answer) for answer in answers]
        return (None if order == sorted(order) else f"a commit was seen, and then not: {answers}"), found

    def _is_overtaken(self) -> tuple[str | None, Run | None]:
        return self._write_both(Overtaken("engine", "partner", self._has_begun("engine")))

    def _overtakes(self) -> tuple[str | None, Run | None]:
        return self._write_both(Overtaken("partner", "engine", self._has_begun("partner")))

    def _is_held_back(self, slow: str, quick: str) -> tuple[str | None, Run | None]:
        """Between its check for conflicts and its completion nobody else may complete: that is what a lock is for."""
        return self._write_both(HeldBack(slow, quick, lambda request: request.completes, MOST))

    def _has_begun(self, process: str) -> Callable[[], bool]:
        """Whether the process has stored a data file: what it is based on is settled then."""

        def has() -> bool:
            return any(
                exchange.client == process and exchange.changed and exchange.request.place.endswith(".parquet")
                for exchange in self.gate.exchanges
            )

        return has

    def _write_both(self, turns: Ordered) -> tuple[str | None, Run | None]:
        """Each changes one row of the only file group; who is told of success has his row in the table."""
        table = self._table("COPY_ON_WRITE")
        changes = {"engine": (self.engine, ("a", 2, "engine")), "partner": (self.partner, ("b", 2, "partner"))}
        acts = {
            name: lambda client=client, change=change: self._write(client, table, _rows(change))
            for name, (client, change) in changes.items()
        }
        found = run(self.gate, acts, turns)
        done = {name for name, ended in found.results.items() if ended.how == "returned"}
        for name in changes:
            if not isinstance(found.results[name].error, Conflict | None):
                _raise(found, name)
        values = _values(self.partner, table)
        lost = [name for name, (_, (key, _, value)) in changes.items() if name in done and values.get(key) != value]
        if lost:
            return f"lost update: {' and '.join(lost)} was told of success, and the rows are {values}", found
        revived = [name for name, (_, (key, _, value)) in changes.items() if name not in done and values.get(key) == value]
        return (f"{revived} was told of a conflict, and its row is there" if revived else None), found

    def _compacts(self, turns: Ordered) -> tuple[str | None, Run | None]:
        table = self._table("MERGE_ON_READ")
        self._write(self.partner, table, _rows(("a", 2, "second")))
        acts: dict[str, Callable[[], object]] = {
            "engine": lambda: self.engine.service(table, "compaction", options={**self._settings(self.engine), **DUE}),
            "partner": lambda: self._write(self.partner, table, _rows(("b", 3, "third"))),
        }
        found = run(self.gate, acts, turns)
        for name in acts:
            if not isinstance(found.results[name].error, Conflict | None):
                _raise(found, name)
        expected = {"a": "second", "b": "third" if found.results["partner"].how == "returned" else "first"}
        values = _values(self.partner, table)
        return (None if values == expected else f"expected {expected}, found {values}"), found

    def _table(self, kind: Any) -> str:
        """A new table with two rows in one file group, by the partner."""
        table = f"s3://{BUCKET}/{self.engine.name.replace('@', '-')}-{next(self._numbers)}"
        spec = TableSpec("t", kind, SCHEMA, ("id",), (), ("ts",), "EVENT_TIME_ORDERING")
        self.partner.create(table, spec)
        self._write(self.partner, table, _rows(("a", 1, "first"), ("b", 1, "first")))
        return table

    def _write(self, client: Client, table: str, rows: pa.Table) -> str:
        return client.write(table, "upsert", rows, options=self._settings(client))

    def _settings(self, client: Client) -> Mapping[str, str]:
        return SETTINGS.get(client.name.partition("@")[0], {}) if client is self.engine and self._is_foreign else PARTNER

    @property
    def _is_foreign(self) -> bool:
        """Whether the engine is none of ours, which know the partner's lock."""
        return self.engine.name.partition("@")[0] not in ("reference", "spark")


def try_engine(name: str, store: Store, gate: Gate, seeds: int = 2) -> list[Finding]:
    """What an engine does behind the gate; one finding alone where it cannot be started or has no object stores."""
    with suppress(ConnectionError):
        store.create_bucket(BUCKET)
    try:
        with (
            connect("reference", variables=variables(gate.endpoint, "partner")) as partner,
            connect(name, variables=variables(gate.endpoint, "engine")) as engine,
        ):
            if "storage.s3" not in engine.hello.features:
                return [Finding("all", "refused", "the engine has no object stores")]
            return list(Trial(gate, engine, partner).findings(seeds))
    except Exception as error:  # an engine that does not start
        return [Finding("all", "error", f"{type(error).__name__}: {str(error).partition(chr(10))[0]}")]


def _rows(*rows: tuple[str, int, str]) -> pa.Table:
    return pa.Table.from_pylist([{"id": key, "ts": ts, "value": value} for key, ts, value in rows], _ARROW)


def _values(client: Client, table: str) -> dict[str, str]:
    return {row["id"]: row["value"] for row in client.read(table, Query(columns=("id", "value"))).to_pylist()}


def _raise(found: Run, process: str) -> None:
    error = found.results[process].error
    if error is not None:
        raise error


def _told(found: Run | None) -> str:
    """Who was told what."""
    if found is None:
        return "as it should be"
    told = [f"{name} {'conflict' if isinstance(e.error, Conflict) else e.how}" for name, e in found.results.items()]
    return ", ".join(told)
