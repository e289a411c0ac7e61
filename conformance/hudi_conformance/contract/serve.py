"""The server side: answers messages with an `Engine`."""

import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO, Any

import pyarrow as pa

from hudi_conformance.contract.arrow_files import read_rows, write_rows
from hudi_conformance.contract.engine import Engine
from hudi_conformance.contract.errors import Conflict, EngineError, Refused
from hudi_conformance.contract.messages import Call, Query, TableSpec, Write, known_members
from hudi_conformance.contract.validation import SchemaViolation, check_message

Message = Mapping[str, Any]
Answer = dict[str, Any]


def dispatch(engine: Engine, message: Any) -> Answer:
    """The answer of `engine` to any message except `bye`, which has none. Never raises an Exception."""
    try:
        check_message(message)
    except SchemaViolation as e:
        return _error(message, f"not a message of protocol 1: {e}")
    try:
        return engine.hello().to_json() if message["op"] == "hello" else _work(engine, message)
    except Exception as e:  # any exception of an engine becomes an error answer
        return _error(message, f"{type(e).__name__}: {e}", traceback.format_exc())


def _work(engine: Engine, message: Message) -> Answer:
    """The answer to a message with an id; the exceptions of the contract become answers."""
    try:
        return {"id": message["id"], **_WORK[message["op"]](engine, message)}
    except Refused as e:
        return {"id": message["id"], "refused": {"feature": e.feature, "message": e.message}}
    except Conflict as e:
        return {"id": message["id"], "conflict": {"message": str(e)}}
    except EngineError as e:
        return _error(message, str(e), e.trace)


def serve(engine: Engine | Callable[[], Engine]) -> None:
    """Answer messages from standard input until `bye` or the end of the input.

    Pass a function that creates the engine if the constructor may print, because standard output is redirected first.
    """
    streams = take_streams()
    engine = engine if isinstance(engine, Engine) else engine()
    try:
        for line in streams.messages:
            message = parse_message(line)
            if isinstance(message, dict) and message.get("op") == "bye":
                break
            streams.write_answer(dispatch(engine, message))
    finally:
        engine.close()


@dataclass(frozen=True)
class Streams:
    """The streams of messages and answers in the process of the engine."""

    messages: IO[str]
    answers: IO[str]

    def write_answer(self, answer: Answer) -> None:
        """Send one line."""
        self.answers.write(json.dumps(answer) + "\n")
        self.answers.flush()


def take_streams() -> Streams:
    """Keep the real standard streams for the protocol.

    File descriptor 1 is redirected to standard error and 0 to the null device, so that output and input of libraries, of a
    JVM or of other child processes do not mix with the protocol.
    """
    sys.stdout.flush()
    messages = os.fdopen(os.dup(0), "r", encoding="utf-8", errors="replace")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return Streams(messages, answers)


def parse_message(line: str) -> Any:
    """The message in `line`; the line itself if it is not JSON, so that `dispatch` answers with an error."""
    try:
        return json.loads(line)
    except json.JSONDecodeError:
        return line


def _error(message: Any, text: str, trace: str | None = None) -> Answer:
    number = message.get("id") if isinstance(message, dict) else None
    found: Answer = {"id": number if isinstance(number, int) else None, "error": {"message": text}}
    if trace is not None:
        found["error"]["trace"] = trace
    return found


def _read(engine: Engine, message: Message) -> Answer:
    rows = engine.read(message["table"], Query.from_json(message["query"]))
    try:
        rows.validate(full=True)  # an engine may take bytes of a damaged file for a text
    except pa.ArrowInvalid as error:
        raise EngineError(f"the rows are not valid: {error}") from None
    write_rows(rows, message["into"])
    return {"rows": message["into"]}


def _digest(engine: Engine, message: Message) -> Answer:
    found = engine.digest(message["table"], Query.from_json(message["query"]), message["group_by"])
    return {"digest": [one.to_json() for one in found]}


def _inspect(engine: Engine, message: Message) -> Answer:
    found = engine.inspect(message["uri"], keys=message.get("keys"), prefix=message.get("prefix"))
    return {"inspect": _as_json(found)}


def _compute(engine: Engine, message: Message) -> Answer:
    return {"value": _as_json(engine.compute(message["function"], message["arguments"]))}


def _as_json(found: Any) -> Any:
    """`found`. A value that is not JSON raises here, and becomes an error answer."""
    json.dumps(found)
    return found


def _create(engine: Engine, message: Message) -> Answer:
    engine.create(message["table"], TableSpec.from_json(message["spec"]))
    return {"done": {}}


def _write(engine: Engine, message: Message) -> Answer:
    further = {"options": message["options"]} if "options" in message else {}
    instant = engine.write(message["table"], message["operation"], read_rows(message["rows"]), **further)
    return {"done": {"instant": instant}}


def _write_sql(engine: Engine, message: Message) -> Answer:
    further = {"options": message["options"]} if "options" in message else {}
    return _done(engine.write_sql(message["table"], message["operation"], message["sql"], **further))


def _service(engine: Engine, message: Message) -> Answer:
    given = {name: message[name] for name in ("phase", "instant", "options") if name in message}
    return _done(engine.service(message["table"], message["service"], **given))


def _begin(engine: Engine, message: Message) -> Answer:
    if "write" in message:
        given = known_members(Write, message["write"])
        return _done(engine.begin(message["writer"], Write(**{**given, "rows": read_rows(given["rows"])}), message["until"]))
    return _done(engine.begin(message["writer"], Call(**known_members(Call, message["service"])), message["until"]))


def _resume(engine: Engine, message: Message) -> Answer:
    return _done(engine.resume(message["writer"], message.get("until")))


def _done(instant: str | None) -> Answer:
    return {"done": {} if instant is None else {"instant": instant}}


_WORK: dict[str, Callable[[Engine, Message], Answer]] = {
    "read": _read,
    "digest": _digest,
    "inspect": _inspect,
    "compute": _compute,
    "create": _create,
    "write": _write,
    "write_sql": _write_sql,
    "service": _service,
    "begin": _begin,
    "resume": _resume,
}
