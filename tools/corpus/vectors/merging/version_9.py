"""Vectors of what a new table of version 9 stores about merging; compared with the classes of Apache Hudi 1.2.0."""

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any

from tools.corpus.case import VectorCase
from tools.corpus.vectors.vector_tests import SECOND, Test, invalid_test, number_tests, valid_test

EVENT, COMMIT, CUSTOM = "EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING", "CUSTOM"
BY_EVENT, BY_COMMIT = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5", "ce9acb64-bde0-424c-9b91-f6ebba25356d"
BY_PAYLOAD, BY_MERGER = "00000000-0000-0000-0000-000000000000", "1897ef5f-18bc-4557-939c-9d6a8afd1519"
PRIVATE = "6f1f2b8e-52c5-4d6a-9a55-0a3f3f1c2d01"
OF_STRATEGY = {BY_EVENT: EVENT, BY_COMMIT: COMMIT}
PACKAGE = "org.apache.hudi.common.model."
#: The deprecated classes: merge mode, partial update mode, and the strategy id that may be given with it.
DEPRECATED: Mapping[str, tuple[str, str | None, str | None]] = {
    "OverwriteWithLatestAvroPayload": (COMMIT, None, BY_COMMIT),
    "DefaultHoodieRecordPayload": (EVENT, None, BY_EVENT),
    "EventTimeAvroPayload": (EVENT, None, BY_EVENT),
    "OverwriteNonDefaultsWithLatestAvroPayload": (COMMIT, "IGNORE_DEFAULTS", None),
    "PartialUpdateAvroPayload": (EVENT, "IGNORE_DEFAULTS", None),
    "debezium.PostgresDebeziumAvroPayload": (EVENT, "FILL_UNAVAILABLE", None),
    "debezium.MySqlDebeziumAvroPayload": (EVENT, None, None),
    "AWSDmsAvroPayload": (COMMIT, None, None),
}
OTHERS = (f"{PACKAGE}HoodieAvroPayload", "com.example.Payload")


def cases() -> Iterator[VectorCase]:
    """The inference at creation."""
    yield VectorCase(
        area="properties", name="merging-at-version-9",
        requirements=["MRG-043", "MRG-044", "MRG-017", "MRG-018", "PAY-024", "PAY-028", "PROP-026"],
        needs=["compute.properties.infer", "create.table-version.9"],
        says="What a new table of version 9 stores about merging follows from mode, strategy id, payload class and ordering.",
        function="properties.infer", derived_by=["Apache Hudi's own classes, 1.2.0", SECOND], flags=["silent-stale"],
        errata=["ER-171"], versions=[9],
        notes={"contradiction": "Guessing either way gives silently wrong rows.", "custom": "A custom merger or class.",
               "deprecated": "A class that is replaced by modes; a given mode has no effect.",
               "nothing": "Without settings the ordering field decides."},
        tests=number_tests(_tests()),
        if_it_fails="A private strategy id comes first, then a deprecated class, then another class, then the mode.",
    )  # fmt: skip


def _tests() -> Iterator[Test]:
    modes = (None, COMMIT, EVENT, CUSTOM)
    strategies = (None, BY_EVENT, BY_COMMIT, BY_PAYLOAD, BY_MERGER, PRIVATE)
    payloads = (None, *(PACKAGE + name for name in DEPRECATED), *OTHERS)
    for mode, strategy, payload, ordering in itertools.product(modes, strategies, payloads, (None, "ts")):
        if ordering is None and (strategy or payload):
            continue
        asked = {"mode": mode, "strategy": strategy, "payload": payload, "ordering": ordering, "version": 9}
        value = _stored(mode, strategy, payload, ordering)
        comment = json.dumps([word and str(word).rpartition(".")[2][:12] for word in asked.values()])
        yield (
            invalid_test(comment, asked, "contradiction")
            if value is None
            else valid_test(comment, asked, value, *_flags(value, asked))
        )


def _flags(value: Mapping[str, str | None], asked: Mapping[str, Any]) -> list[str]:
    if not any(asked[word] for word in ("mode", "strategy", "payload")):
        return ["nothing"]
    return ["custom"] if value["mode"] == CUSTOM else ["deprecated"] if value["legacy_payload"] else []


def _stored(mode: str | None, strategy: str | None, payload: str | None, ordering: str | None) -> dict[str, str | None] | None:
    """What is stored, by the rule of the format; None if the combination is refused."""
    name = (payload or "").removeprefix(PACKAGE)
    if strategy not in (None, BY_PAYLOAD, BY_MERGER, *OF_STRATEGY):
        return _custom(None if name in DEPRECATED else mode, strategy, None)
    if name in DEPRECATED:
        replaced, partial, usual = DEPRECATED[name]
        return None if strategy in OF_STRATEGY and strategy != usual else _all(replaced, legacy=payload, partial=partial)
    if payload:
        return None if strategy in OF_STRATEGY else _custom(mode, BY_PAYLOAD, payload)
    if strategy == BY_MERGER:
        return _custom(mode, strategy, None)
    implied = OF_STRATEGY.get(strategy or "")
    if strategy == BY_PAYLOAD or (implied and mode not in (None, implied)) or (mode == CUSTOM and not implied):
        return None
    return _all(implied or mode or (EVENT if ordering else COMMIT))


def _custom(mode: str | None, strategy: str | None, payload: str | None) -> dict[str, str | None] | None:
    return None if mode not in (None, CUSTOM) else _all(CUSTOM, strategy, payload)


def _all(
    mode: str, strategy: str | None = None, payload: str | None = None, *, legacy: str | None = None, partial: str | None = None
) -> dict[str, str | None]:
    return {"mode": mode, "strategy": strategy, "payload": payload, "legacy_payload": legacy, "partial_update": partial}
