"""Checks messages and answers against the JSON Schemas of this package.

Validators are compiled once. Both sides use them: the suite for what it sends and receives, `serve` for what arrives.
"""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from hudi_conformance.json_schema import CompiledSchema

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

#: The operations of protocol version 1 and the answers that each may get.
ANSWERS: dict[str, tuple[str, ...]] = {
    "hello": ("hello", "error"),
    "read": ("rows", "refused", "error"),
    "digest": ("digest", "refused", "error"),
    "inspect": ("inspect", "refused", "error"),
    "compute": ("value", "refused", "error"),
    "create": ("done", "refused", "conflict", "error"),
    "write": ("done", "refused", "conflict", "error"),
    "write_sql": ("done", "refused", "conflict", "error"),
    "service": ("done", "refused", "conflict", "error"),
    "begin": ("done", "refused", "conflict", "error"),
    "resume": ("done", "refused", "conflict", "error"),
    "bye": (),
}


class SchemaViolation(ValueError):
    """A message or an answer that its schema rejects, in one line."""


def check_message(message: Any) -> None:
    """Raise SchemaViolation unless `message` is a message of protocol version 1."""
    if not isinstance(message, dict):
        raise SchemaViolation(f"a message is a JSON object, found {_short(message)}")
    op = message.get("op")
    if not isinstance(op, str) or op not in ANSWERS:
        raise SchemaViolation(f"op is one of {', '.join(ANSWERS)}, found {_short(op)}")
    _check(f"{op}.message", message)


def check_answer(op: str, answer: Any) -> str:
    """The kind of `answer` to a message `op`; raises SchemaViolation unless it is a valid answer to that message."""
    if not isinstance(answer, dict):
        raise SchemaViolation(f"an answer is a JSON object, found {_short(answer)}")
    kind = _kind(ANSWERS[op], answer)
    _check(f"{kind}.answer", answer)
    return kind


def check_inspection(found: Any) -> None:
    """Raise SchemaViolation unless `found` has the form of `inspect TABLE --json`."""
    _check("table-inspection", found)


def find_violation(name: str, value: Any) -> str | None:
    """The violation of the schema `name` (file name without .json) by `value`, in one line; None if there is none."""
    try:
        error = _compiled(name).error(value)
    except UnicodeEncodeError as half:
        return f"{name}: a text with half a character, {half.object[half.start : half.end]!r}"
    return None if error is None else _in_one_line(name, error)


def _check(name: str, value: Any) -> None:
    wrong = find_violation(name, value)
    if wrong is not None:
        raise SchemaViolation(wrong)


def _kind(allowed: Iterable[str], answer: Mapping[str, Any]) -> str:
    """The kind of an answer, by its key; the answer to `hello` has the key `engine`."""
    for kind in allowed:
        if ("engine" if kind == "hello" else kind) in answer:
            return kind
    raise SchemaViolation(f"an answer here is one of {', '.join(allowed)}, found {_short(answer)}")


def _in_one_line(name: str, error: "ValidationError") -> str:
    where = error.json_path.removeprefix("$").removeprefix(".")
    return f"{name}: {where + ': ' if where else ''}{_cut(_unknown_name(error) or error.message)}"


#: Longer lists of permitted names are not shown; the nearest ones are.
_LONG_LIST = 20


def _unknown_name(error: "ValidationError") -> str | None:
    """The message about a name that is not in a long list; None for other violations."""
    known: Any = error.validator_value
    if error.validator != "enum" or len(known) < _LONG_LIST or not isinstance(error.instance, str):
        return None
    from difflib import get_close_matches

    near = get_close_matches(error.instance, known, n=3)
    return f"{error.instance!r} is not known" + (f"; did you mean {', '.join(near)}?" if near else "")


def _short(value: Any) -> str:
    return _cut(json.dumps(value, default=repr))


def _cut(text: str, limit: int = 300) -> str:
    return text if len(text) <= limit else f"{text[:limit]}..."


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """Every JSON Schema of the contract by its name."""
    folder = files("hudi_conformance.contract") / "schemas"
    return {
        entry.name.removesuffix(".json"): json.loads(entry.read_text(encoding="utf-8"))
        for entry in folder.iterdir()
        if entry.name.endswith(".json")
    }


@cache
def _compiled(name: str) -> CompiledSchema:
    return CompiledSchema(schemas()[name], schemas().values())
