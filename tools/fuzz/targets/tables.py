"""Whole tables, and answers of adapters."""

import json
from collections.abc import Mapping
from functools import cache
from random import Random
from typing import Any

from tools.damage.kinds import draw
from tools.damage.tables import QUESTIONS, Sample, ask, golden_tables
from tools.fuzz.targets.oracle import Limits, require
from tools.fuzz.targets.target import Target

from hudi_conformance.contract.validation import ANSWERS, SchemaViolation, check_answer, check_message
from hudi_reference.errors import HudiError

#: Tables may be compressed, and a query holds several of their files.
_TABLE = Limits(20_000)


@cache
def _samples() -> list[Sample]:
    """Golden tables of each chapter."""
    return [sample for pattern in ("log/*", "timeline/history*", "merging/*") for sample in golden_tables(pattern)][:80]


def table(data: bytes) -> None:
    """One to three damages of a golden table, drawn from the input; then a query. Raises HudiError."""
    random = Random(data)
    sample = random.choice(_samples())
    objects: Mapping[str, bytes] = sample.objects
    for _ in range(random.randint(1, 3)):
        objects = draw(objects, random)[1] if objects else objects
    try:
        ask(objects, random.choice(list(QUESTIONS)), sample.latest)
    except HudiError as error:
        error.rule, error.path = error.rule or "LAY-001", error.path or "."  # a question for a time that does not exist
        raise


def protocol(data: bytes) -> None:
    """A line of an adapter as an answer to each operation, and as a message. Property: valid, or one error in one line."""
    try:
        found: Any = json.loads(data)
    except (ValueError, RecursionError):
        return
    for op in ANSWERS:
        _checked(lambda op=op: check_answer(op, found))
    _checked(lambda: check_message(found))


def _checked(check: Any) -> None:
    try:
        check()
    except SchemaViolation as error:
        require(len(str(error)) < 5000 and "\n" not in str(error), f"an error of {len(str(error))} characters")
    except KeyError as error:
        require(False, f"KeyError {error}")


def protocol_seeds() -> list[bytes]:
    """Answers and messages of each kind."""
    inspection = {"properties": {}, "timeline": {"completed": [], "pending": []}, "file_groups": {}}
    bodies: list[dict[str, Any]] = [
        {"protocol": 1, "engine": "x", "version": "1", "language": "python", "features": []},
        {"id": 1, "rows": "/tmp/x"}, {"id": 1, "inspect": inspection}, {"id": 1, "value": [1, None, "x"]},
        {"id": 1, "done": {"instant": "1"}}, {"id": 1, "refused": {"feature": "x", "message": "y"}},
        {"id": 1, "error": {"message": "x", "trace": "y"}}, {"id": 1, "conflict": {"message": "x"}},
        {"id": 1, "op": "read", "table": "file:///x", "query": {"kind": "snapshot"}, "into": "/tmp/x"}, {"op": "bye"},
    ]  # fmt: skip
    return [json.dumps(body).encode() for body in bodies]


TARGETS = (
    Target("table", "damages of a golden table, drawn from the input, and a query", table,
        lambda: [number.to_bytes(4, "big") for number in range(40)], limits=_TABLE, longest=64),
    Target("protocol", "a line of an adapter", protocol, protocol_seeds),
)  # fmt: skip
