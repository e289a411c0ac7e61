"""The client of an engine: sends messages to an engine of any kind, behind the methods of `Engine`."""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import pyarrow as pa

from hudi_conformance.contract.arrow_files import NotAnArrowFile, read_answer, write_rows
from hudi_conformance.contract.digests import Digest, digests_of
from hudi_conformance.contract.errors import (
    Conflict,
    ContractError,
    EngineCrash,
    EngineError,
    EngineTimeout,
    ProtocolFault,
    Refused,
    SlowStart,
    WrongId,
)
from hudi_conformance.contract.messages import (
    PROTOCOL,
    Call,
    Hello,
    Operation,
    Phase,
    Point,
    Query,
    Service,
    TableSpec,
    Work,
    Write,
)
from hudi_conformance.contract.process import GRACE
from hudi_conformance.contract.text import escape_controls
from hudi_conformance.contract.validation import SchemaViolation, check_answer, check_message


class Transport(Protocol):
    """Transports messages to one engine, and its answers back."""

    def ask(self, message: Mapping[str, Any], timeout: float) -> Any:
        """The JSON value that answers `message`; raises ProtocolFault, EngineCrash or EngineTimeout."""

    def close(self, grace: float = GRACE) -> bool:
        """Stop the engine; whether it exited by itself within `grace` seconds."""


#: Receives each message ("sent"), each answer ("received"), and the text of an error in place of an answer ("failed").
Trace = Callable[[str, Any], None]


class Client:
    """A client of one engine, with the methods of `Engine`.

    They raise `Refused`, `Conflict` and `EngineError`, which are answers, and `ProtocolFault`, `EngineCrash` and
    `EngineTimeout`, after which the engine is stopped. The next message starts it again, so that a failed case does not
    affect later ones.
    """

    def __init__(
        self,
        name: str,
        start: Callable[[], Transport],
        *,
        start_timeout: float,
        message_timeout: float,
        trace: Trace | None = None,
    ) -> None:
        self.name = name
        self._trace: Trace = trace or (lambda direction, value: None)
        self._start = start
        self._start_timeout = start_timeout
        self._message_timeout = message_timeout
        self._last_id = 0
        #: The tables that the engine was asked to change, and those of the messages since the set was last cleared.
        self.written: set[str] = set()
        self.used: set[str] = set()
        #: The version of the tables that are created without naming another version than the default.
        self.table_version = TableSpec.version
        # The engine may replace the folder by a link, which is not removed.
        self._folder = tempfile.TemporaryDirectory(prefix="hudi-conformance-", ignore_cleanup_errors=True)
        self._opened_folder: int | None = os.open(self._folder.name, os.O_RDONLY | os.O_DIRECTORY)
        self._transport: Transport | None = None
        try:
            self.hello = self._greet()
        except BaseException:
            self.close()
            raise

    @property
    def is_running(self) -> bool:
        """Whether the engine is running; if not, the next message starts it again."""
        return self._transport is not None

    def read(self, table: str, query: Query) -> pa.Table:
        """The rows of `query`."""
        into = Path(self._folder.name) / f"{self._last_id + 1}.arrow"
        self.used.add(table)
        try:
            answer = self._ask("read", table=table, query=query.to_json(), into=str(into))
            return self._rows(Path(answer["rows"]))
        finally:
            with suppress(OSError):  # the engine may have made a directory of that name; the whole folder is removed at the end
                into.unlink(missing_ok=True)

    def digest(self, table: str, query: Query, group_by: str) -> list[Digest]:
        """The digests of the rows of `query`; those of an engine that computes none from its rows."""
        if "read.digest" not in self.hello.features:
            return digests_of(self.read(table, query), group_by)
        self.used.add(table)
        answer = self._ask("digest", table=table, query=query.to_json(), group_by=group_by)["digest"]
        return sorted(map(Digest.from_json, answer), key=lambda one: (one.group or "", one.rows))

    def inspect(self, uri: str, *, keys: Sequence[str] | None = None, prefix: str | None = None) -> dict[str, Any]:
        """Timeline and file slices of the table at `uri`, or the contents of the file at `uri` with look-ups of `keys`
        and `prefix`.
        """
        asked = {"keys": None if keys is None else list(keys), "prefix": prefix}
        found: dict[str, Any] = self._ask("inspect", uri=uri, **{k: v for k, v in asked.items() if v is not None})["inspect"]
        return found

    def compute(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """The value of a pure function of the format."""
        return self._ask("compute", function=function, arguments=dict(arguments))["value"]

    def create(self, table: str, spec: TableSpec) -> None:
        """An empty table at `table`; a spec of the default version has the version of this client."""
        self._note_write(table)
        if spec.version == TableSpec.version:
            spec = replace(spec, version=self.table_version)
        self._ask("create", table=table, spec=spec.to_json())

    def write(self, table: str, operation: Operation, rows: pa.Table, *, options: Mapping[str, str] | None = None) -> str:
        """One commit; the requested time of its instant."""
        with self._said(Write(table, operation, rows, options or {})) as said:
            return self._instant(self._ask("write", **said))

    def write_sql(self, table: str, operation: Operation, sql: str, *, options: Mapping[str, str] | None = None) -> str:
        """One commit with the rows of a query in Spark's SQL; the requested time of its instant."""
        self._note_write(table)
        further = {"options": dict(options)} if options else {}
        return self._instant(self._ask("write_sql", table=table, operation=operation, sql=sql, **further))

    def _instant(self, answer: Mapping[str, Any]) -> str:
        """The instant in an answer to a write."""
        if "instant" not in answer["done"]:
            raise self._fault("done.answer: an answer to write names the instant of the commit")
        instant: str = answer["done"]["instant"]
        return instant

    def service(
        self,
        table: str,
        service: Service,
        *,
        phase: Phase = "run",
        instant: str | None = None,
        options: Mapping[str, str] | None = None,
    ) -> str | None:
        """One table service; the requested time of its action, None if there was nothing to do."""
        with self._said(Call(table, service, phase, instant, options or {})) as said:
            found: str | None = self._ask("service", **said)["done"].get("instant")
        return found

    def begin(self, writer: str, work: Work, until: Point) -> str | None:
        """Start a write or service that pauses at `until`; the requested time of its action."""
        with self._said(work) as said:
            kind = "write" if isinstance(work, Write) else "service"
            found: str | None = self._ask("begin", writer=writer, until=until, **{kind: said})["done"].get("instant")
        return found

    def resume(self, writer: str, until: Point | None = None) -> str | None:
        """Resume the paused work of this name, up to `until` or to its end."""
        further = {} if until is None else {"until": until}
        found: str | None = self._ask("resume", writer=writer, **further)["done"].get("instant")
        return found

    @contextmanager
    def _said(self, work: Work) -> Iterator[dict[str, Any]]:
        """The work in the form of a message; its rows are in a file during the block."""
        self._note_write(work.table)
        said: dict[str, Any] = {"table": work.table, **({"options": dict(work.options)} if work.options else {})}
        if not isinstance(work, Write):
            yield said | {"service": work.service, "phase": work.phase, **({"instant": work.instant} if work.instant else {})}
            return
        path = Path(self._folder.name) / f"{self._last_id + 1}.arrow"
        write_rows(work.rows, path)
        try:
            yield said | {"operation": work.operation, "rows": str(path)}
        finally:
            path.unlink()

    def _note_write(self, table: str) -> None:
        self.written.add(table)
        self.used.add(table)

    def close(self, grace: float = GRACE) -> bool:
        """Stop the engine; whether it exited by itself within `grace` seconds. The client cannot be used afterwards."""
        by_itself = self._drop(grace)
        self._folder.cleanup()
        if self._opened_folder is not None:
            os.close(self._opened_folder)
            self._opened_folder = None
        return by_itself

    def __enter__(self) -> Self:
        """The client itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End the engine."""
        self.close()

    def _ask(self, op: str, **fields: Any) -> dict[str, Any]:
        """The answer to one message; starts the engine again if the last message stopped it."""
        if self._transport is None:
            self._greet()
        self._last_id += 1
        return self._exchange({"op": op, "id": self._last_id, **fields}, self._message_timeout)

    def _greet(self) -> Hello:
        self._transport = self._start()
        try:
            return Hello.from_json(self._exchange({"op": "hello", "protocol": PROTOCOL}, self._start_timeout))
        except EngineTimeout as e:
            raise SlowStart(f"slow start: {e}") from None
        except ContractError:
            self._drop(grace=0)
            raise

    def _exchange(self, message: dict[str, Any], timeout: float) -> dict[str, Any]:
        assert self._transport is not None
        check_message(message)
        self._trace("sent", message)
        try:
            answer = self._transport.ask(message, timeout)
        except (ProtocolFault, EngineCrash, EngineTimeout) as error:
            self._transport = None
            self._trace("failed", f"{type(error).__name__}: {error}")
            raise
        try:
            self._trace("received", answer)
            return self._judge(message, answer)
        except RecursionError:
            raise self._fault(f"the answer to {message['op']} is nested too deeply") from None

    def _judge(self, message: dict[str, Any], answer: Any) -> dict[str, Any]:
        """`answer`, if it is a valid positive answer; otherwise raises the exception of its kind."""
        try:
            kind = check_answer(message["op"], answer)
        except SchemaViolation as e:
            remedy = "docs/contract.md has the members of each answer, with examples"
            raise self._fault(f"the answer to {message['op']} violates its schema: {e}", remedy=remedy) from None
        if answer.get("id") != message.get("id") and not (kind == "error" and answer["id"] is None):
            raise self._fault(f"message id {message.get('id')}, answer id {answer.get('id')}", WrongId)
        match kind:
            case "refused":
                raise Refused(escape_controls(answer[kind]["feature"]), escape_controls(answer[kind]["message"]))
            case "conflict":
                raise Conflict(escape_controls(answer[kind]["message"]))
            case "error":
                trace = answer[kind].get("trace")
                raise EngineError(escape_controls(answer[kind]["message"]), None if trace is None else escape_controls(trace))
        found: dict[str, Any] = answer
        return found

    def _rows(self, path: Path) -> pa.Table:
        try:
            assert self._opened_folder is not None, "the client is closed"
            return read_answer(path, Path(self._folder.name), self._opened_folder)
        except NotAnArrowFile as e:
            raise self._fault(str(e), remedy=e.remedy) from e
        except (OSError, ValueError, pa.ArrowException) as e:  # ValueError: the path has a character that no path may have
            raise self._fault(f"{path} is not an Arrow IPC file: {e}") from e

    def _fault(self, text: str, kind: type[ProtocolFault] = ProtocolFault, remedy: str | None = None) -> ProtocolFault:
        """Stop an adapter that answered with a wrong id, because its next answer would be wrong too."""
        self._drop(grace=0)
        return kind(escape_controls(text), remedy)

    def _drop(self, grace: float) -> bool:
        transport, self._transport = self._transport, None
        return transport is None or transport.close(grace)
