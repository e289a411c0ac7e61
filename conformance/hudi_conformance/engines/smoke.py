"""The smoke test of an adapter, step by step.

Each step checks one promise of the contract. A failed step blames either the adapter, which violates the protocol, or its
engine, whose answer is wrong, and states a remedy in one line.
"""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.types as pt

from hudi_conformance.contract.client import Client, Transport
from hudi_conformance.contract.engine import Engine
from hudi_conformance.contract.errors import (
    FLUSH,
    BufferedAnswer,
    ContractError,
    EngineCrash,
    EngineError,
    EngineTimeout,
    ProtocolFault,
    Refused,
    WrongId,
)
from hudi_conformance.contract.messages import Query, QueryKind, TableSpec
from hudi_conformance.contract.process import GRACE

Blame = Literal["adapter", "engine"]

_SCHEMA = {
    "type": "record",
    "name": "smoke",
    "fields": [{"name": "id", "type": "string"}, {"name": "n", "type": "long"}],
}
_SPEC = TableSpec("smoke", "COPY_ON_WRITE", _SCHEMA, ("id",))
_ROWS = [{"id": "a", "n": 3}, {"id": "b", "n": 2}]


@dataclass(frozen=True)
class Finding:
    """The result of one step. `blame` is None without a fault; `skipped` is set if the engine does not offer the feature."""

    step: str
    said: str = ""
    blame: Blame | None = None
    remedy: str = ""
    skipped: bool = False


class Fault(Exception):
    """A step failed."""

    def __init__(self, blame: Blame, said: str, remedy: str) -> None:
        super().__init__(said)
        self.blame, self.remedy = blame, remedy


class NotOffered(Exception):
    """The engine does not declare the features of the step."""


class Smoke:
    """One run of all steps on one engine. `start` starts it; `oracle` creates and reads tables."""

    def __init__(self, name: str, start: Callable[[], Transport], limits: tuple[float, float], oracle: Engine) -> None:
        self._start, self._oracle = start, oracle
        self._name, (self._start_timeout, self._message_timeout) = name, limits
        self._transport: Transport | None = None
        self._client: Client | None = None

    def run(self) -> Iterator[Finding]:
        """Run the steps and yield each result. If the engine does not start, there is one step only."""
        with tempfile.TemporaryDirectory(prefix="hudi-smoke-") as folder:
            self._folder = Path(folder)
            self._table = (self._folder / "table").as_uri()
            self._make_table()
            try:
                for step, check in self._steps():
                    finding = _try(step, check)
                    yield finding
                    if finding.blame is not None and step == _FIRST:
                        return
            finally:
                self._end(grace=0)

    def _steps(self) -> Iterator[tuple[str, Callable[[], str]]]:
        yield _FIRST, self._starts
        yield "answers an unknown operation with an error", self._unknown_operation
        yield "answers each message under its own id", self._ids
        yield "answers with an error if the table does not exist", self._no_table
        yield "reads a small copy-on-write table", self._reads
        yield "refuses a query that it does not declare", self._refuses
        yield "inspects the table", self._inspects
        yield "creates a table and writes to it", self._writes
        yield "exits by itself after bye", self._ends
        yield "starts again", self._starts

    def _make_table(self) -> None:
        self._oracle.create(self._table, _SPEC)
        self._oracle.write(self._table, "insert", _rows({"id": "a", "n": 1}, {"id": "b", "n": 2}))
        self._oracle.write(self._table, "upsert", _rows({"id": "a", "n": 3}))

    def _starts(self) -> str:
        try:
            hello = self._connected().hello
        except EngineTimeout as e:
            raise Fault(
                "adapter", str(e), "answer hello before long initialization, or raise the limit with --start-timeout"
            ) from e
        except EngineCrash as e:
            raise Fault("adapter", str(e), "run the command by hand; its standard error shows the reason") from e
        except EngineError as e:
            raise Fault("engine", str(e), "the adapter runs but its engine does not start; see the message") from e
        links = "".join(f", {name} {address}" for name, address in hello.links.items())
        return f"{hello.engine} {hello.version} in {hello.language}, {len(hello.features)} features{links}"

    def _unknown_operation(self) -> str:
        remedy = 'answer {"id": ..., "error": {"message": ...}} to every op that the adapter does not know'
        try:
            answer = self._raw({"op": "dance", "id": 4711})
        except (EngineCrash, EngineTimeout) as e:
            raise Fault("adapter", str(e), FLUSH if isinstance(e, BufferedAnswer) else remedy) from e
        if not (isinstance(answer, dict) and answer.get("id") == 4711 and "error" in answer):
            raise Fault("adapter", f"answered {answer}", remedy)
        return ""

    def _ids(self) -> str:
        """Message ids that are not consecutive numbers."""
        for number in (90_000, 17, 2**40):
            answer = self._raw({"op": "inspect", "id": number, "uri": self._table})
            found = answer.get("id") if isinstance(answer, dict) else None
            if found != number:
                raise Fault("adapter", f"message id {number}, answer id {found}", _COPY_THE_ID)
        return ""

    def _no_table(self) -> str:
        self._need("read.snapshot")
        try:
            rows = self._connected().read((self._folder / "nothing").as_uri(), Query())
        except EngineError as e:
            return str(e).splitlines()[0]
        except Refused as e:
            remedy = "refuse only what the engine does not offer; answer every failure with an error"
            raise Fault("adapter", str(e), remedy) from e
        raise Fault("engine", f"returned {rows.num_rows} rows", "fail where .hoodie/hoodie.properties is missing")

    def _reads(self) -> str:
        self._need("read.snapshot")
        remedy = "two commits wrote the table; a snapshot holds the rows of the newest base file of each file group"
        _compare(self._connected().read(self._table, Query(columns=("id", "n"))), remedy)
        return f"{len(_ROWS)} rows"

    def _refuses(self) -> str:
        features = self._connected().hello.features
        kinds: tuple[QueryKind, ...] = ("cdc", "incremental", "as-of", "read-optimized", "snapshot")
        missing = next((kind for kind in kinds if f"read.{kind}" not in features), None)
        if missing is None:
            raise NotOffered("every query is declared")
        query = Query(missing, as_of="20260101000000000" if missing == "as-of" else None)
        try:
            rows = self._connected().read(self._table, query)
        except Refused as e:
            return str(e)
        except EngineError as e:
            remedy = 'answer {"refused": {"feature": ..., "message": ...}} if the engine does not offer the operation'
            raise Fault("adapter", f"an error, not a refusal: {e}", remedy) from e
        remedy = f"declare read.{missing} in hello if the rows are right, refuse the query otherwise"
        raise Fault("adapter", f"returned {rows.num_rows} rows for read.{missing}", remedy)

    def _inspects(self) -> str:
        self._need("inspect.table")
        expected, found = (one.inspect(self._table)["timeline"] for one in (self._oracle, self._connected()))
        if _instants(found) != _instants(expected):
            remedy = "list every instant of .hoodie/timeline with requested and completion time"
            raise Fault("engine", f"expected {_instants(expected)}, found {_instants(found)}", remedy)
        return f"{len(found['completed'])} completed instants"

    def _writes(self) -> str:
        self._need("create", "write.insert")
        table = (self._folder / "written").as_uri()
        self._connected().create(table, _SPEC)
        instant = self._connected().write(table, "insert", _rows(*_ROWS))
        try:
            _compare(self._oracle.read(table, Query(columns=("id", "n"))), "the reference finds these rows in what was written")
        except (EngineError, Refused) as e:
            remedy = "the reference cannot read the table: write table version 8 or 9, and see the rule in the message"
            raise Fault("engine", str(e), remedy) from e
        return f"instant {instant}"

    def _ends(self) -> str:
        self._connected()
        if not self._end(GRACE):
            remedy = "leave the loop on bye and at the end of standard input; stop threads and child processes"
            raise Fault("adapter", f"still running {GRACE:g} s after bye", remedy)
        return ""

    def _need(self, *features: str) -> None:
        missing = [name for name in features if name not in self._connected().hello.features]
        if missing:
            raise NotOffered(f"{', '.join(missing)} not declared")

    def _connected(self) -> Client:
        """The client of the engine, which is started again if the last step stopped it."""
        if self._client is not None and not self._client.is_running:
            self._end(grace=0)
        if self._client is None:
            self._client = Client(
                self._name, self._begin, start_timeout=self._start_timeout, message_timeout=self._message_timeout
            )
        return self._client

    def _begin(self) -> Transport:
        self._transport = self._start()
        return self._transport

    def _raw(self, message: dict[str, Any]) -> Any:
        """The answer to a message that the client itself would not send."""
        self._connected()
        assert self._transport is not None
        try:
            return self._transport.ask(message, self._message_timeout)
        except ContractError:
            self._end(grace=0)
            raise

    def _end(self, grace: float) -> bool:
        client, self._client = self._client, None
        return client is None or client.close(grace)


_FIRST = "starts and answers hello"


def _try(step: str, check: Callable[[], str]) -> Finding:
    """The finding of one step, also if it failed with an unexpected error of the contract."""
    try:
        return Finding(step, check())
    except NotOffered as e:
        return Finding(step, str(e), skipped=True)
    except Fault as e:
        return Finding(step, str(e), e.blame, e.remedy)
    except ProtocolFault as e:
        return Finding(step, str(e), "adapter", e.remedy or (_COPY_THE_ID if isinstance(e, WrongId) else _ONE_LINE))
    except ContractError as e:
        blame, remedy = next((blame, remedy) for kind, blame, remedy in _ENDINGS if isinstance(e, kind))
        return Finding(step, str(e), blame, remedy)
    except (pa.ArrowException, ValueError, TypeError, LookupError, OSError, RecursionError) as e:
        return Finding(step, f"{type(e).__name__}: {e}", "adapter", "the answer cannot be used; see the message")


_COPY_THE_ID = "copy the message's id into its answer"
_ONE_LINE = "print one JSON object for each line, as in docs/plug-in-an-engine.md; print everything else to standard error"

#: Unexpected errors in a step: who is to blame, and the remedy. The first matching entry counts.
_ENDINGS: tuple[tuple[type[ContractError], Blame, str], ...] = (
    (Refused, "adapter", "remove the feature from hello, or implement it"),
    (EngineCrash, "engine", "catch the exceptions of the engine and answer with an error"),
    (BufferedAnswer, "adapter", FLUSH),
    (EngineTimeout, "engine", "find out why it does not answer, or raise the limit with --message-timeout"),
    (ContractError, "engine", "the adapter reports a failure of its engine; see the message"),
)


def _rows(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=pa.schema([("id", pa.string()), ("n", pa.int64())]))


#: The Arrow types that the smoke table's columns may have, and what to do if they have another one.
_TYPES: dict[str, Callable[[pa.DataType], bool]] = {
    "string": lambda t: pt.is_string(t) or pt.is_large_string(t) or pt.is_string_view(t) or pt.is_dictionary(t),
    "int64": lambda t: pt.is_integer(t) or pt.is_dictionary(t),
}
_SEND_TYPE = {
    "string": "send Avro string as Arrow utf8",
    "int64": "send Avro int and long as Arrow integers; in JavaScript as BigInt in an Int64 column, not as a number",
}


def _compare(rows: pa.Table, remedy: str) -> None:
    if rows.column_names != ["id", "n"]:
        remedy = "the columns of the query, in its order; no meta columns unless they are named"
        raise Fault("engine", f"columns {rows.column_names}, expected ['id', 'n']", remedy)
    for name, kind in (("id", "string"), ("n", "int64")):
        if not _TYPES[kind](rows.schema.field(name).type):
            raise Fault(
                "adapter", f"column {name} is sent as {rows.schema.field(name).type}, expected {kind}", _SEND_TYPE[kind]
            )
    found = sorted(rows.to_pylist(), key=lambda row: str(row["id"]))
    if found != _ROWS:
        raise Fault("engine", f"expected {_ROWS}, found {found}", remedy)


def _instants(timeline: dict[str, Any]) -> list[tuple[str, str]]:
    return sorted((instant["requested"], instant["completion"]) for instant in timeline["completed"])
