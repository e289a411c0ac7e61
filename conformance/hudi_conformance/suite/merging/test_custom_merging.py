"""Tables that merge by a payload class or by a custom merger, written and read by one engine.

The same rows are written to both table types, and with a compaction: queries, writers and services must agree. The expected row
is listed beside the stored and the incoming one.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.contract.messages import Query
from hudi_conformance.suite.support.tables.clustered_tables import APART
from hudi_conformance.suite.support.tables.custom_mergers import (
    NEW,
    OLD,
    PACKAGE,
    PAYLOADS,
    PLAIN,
    UNKNOWN,
    Rule,
    Values,
    stored_properties,
)
from hudi_conformance.suite.support.tables.written_tables import table_folder

FILL_NULLS = "6f1f2b8e-52c5-4d6a-9a55-0a3f3f1c2d01"
WRITES = ("create", "write.upsert", "read.snapshot", "copy-on-write", "merge-on-read", "partition.none")
ARRANGEMENTS = pytest.mark.parametrize(
    "arrangement",
    ["copy-on-write", "merge-on-read", pytest.param("compacted", marks=pytest.mark.needs("service.compaction"))],
)
FLAGGED = (*PLAIN, ("_hoodie_is_deleted", "boolean"))


def payload_rule(name: str, *columns: tuple[str, str]) -> Rule:
    """Return the rule of a payload class."""
    given = {"hoodie.compaction.payload.class": PACKAGE + name, "hoodie.record.merge.strategy.id": PAYLOADS}
    return Rule(given, columns or PLAIN)


#: Key -> (stored row, incoming row, expected row). Several rows are one input.
Cells = Mapping[str, tuple[Values | None, Values | list[Values], Values | None]]
RULES: Mapping[str, tuple[Rule, Cells]] = {
    "nothing set, ordered": (
        Rule({}, mode=None),
        {"late": (OLD, NEW, OLD), "newer": (NEW, OLD, OLD), "batch": (NEW, [(5, "a", "a"), (4, "b", "b")], (5, "a", "a"))},
    ),
    "overwrites": (payload_rule("HoodieAvroPayload"), {"late": (OLD, NEW, NEW), "newer": (NEW, OLD, OLD)}),
    "overwrites, flagged": (
        payload_rule("HoodieAvroPayload", *FLAGGED),
        {
            "gone": ((2, "a", "b", False), (1, "a", "b", True), None),
            "kept": ((2, "a", "b", None), (1, "c", "d", False), (1, "c", "d", False)),
        },
    ),
    "first of equals": (
        payload_rule("FirstValueAvroPayload", *FLAGGED),
        {
            "equal": ((1, "first", "p", None), (1, "second", "p", None), (1, "first", "p", None)),
            "newer": ((1, "first", "p", None), (2, "second", "p", None), (2, "second", "p", None)),
            "late": ((2, "first", "p", None), (1, "second", "p", None), (2, "first", "p", None)),
            "delete, equal": ((1, "first", "p", None), (1, "gone", "p", True), (1, "first", "p", None)),
            "delete, newer": ((1, "first", "p", None), (2, "gone", "p", True), None),
            "batch": ((1, "first", "p", None), [(2, "a", "p", None), (2, "b", "p", None)], (2, "a", "p", None)),
        },
    ),
    "partial update": (
        payload_rule("PartialUpdateAvroPayload"),
        {
            "fills": ((2, "name_1", None), (1, None, "price_1"), (2, "name_1", "price_1")),
            "filled": ((1, None, "price_1"), (2, "name_1", None), (2, "name_1", "price_1")),
            "late": ((2, "name_1", "p_1"), (1, "name_2", "p_2"), (2, "name_1", "p_1")),
            "higher": ((2, "name_1", None), (3, None, "p_3"), (3, "name_1", "p_3")),
            "batch": ((1, "a1", "10"), [(2, "a1", "11"), (3, "a1_0", None)], (3, "a1_0", "11")),
            "new": (None, (7, "new", None), (7, "new", None)),
        },
    ),
    "partial update, ordered by text": (
        payload_rule("PartialUpdateAvroPayload", ("ts", "string"), ("name", "string"), ("price", "string")),
        {
            "late": (("b", "name_1", "p_1"), ("a", "name_2", "p_2"), ("b", "name_1", "p_1")),
            "fills": (("b", "name_1", None), ("a", None, "price_1"), ("b", "name_1", "price_1")),
            "higher": (("b", "name_1", None), ("c", None, "p_3"), ("c", "name_1", "p_3")),
        },
    ),
    "non-defaults": (
        payload_rule("OverwriteNonDefaultsWithLatestAvroPayload", *FLAGGED),
        {
            "keeps": ((2, "name_2", "p_2", False), (1, None, "p_1", False), (1, "name_2", "p_1", False)),
            "batch": ((2, "a", "b", False), [(5, "c", None, False), (4, None, "d", False)], (5, "c", "b", False)),
            "gone": ((2, "a", "b", False), (3, "a", "b", True), None),
        },
    ),
    "captured by DMS": (
        payload_rule("AWSDmsAvroPayload", ("ts", "long"), ("name", "string"), ("Op", "string")),
        {
            "updated": ((1, "a", "I"), (2, "b", "U"), (2, "b", "U")),
            "deleted": ((1, "a", "I"), (2, "a", "D"), None),
            "late": ((2, "a", "I"), (1, "b", "U"), (1, "b", "U")),
        },
    ),
    "captured from MySQL": (
        payload_rule("debezium.MySqlDebeziumAvroPayload", ("_event_seq", "string"), ("name", "string"),
                ("_change_operation_type", "string")),
        {
            "updated": (("1.9", "a", "c"), ("1.10", "b", "u"), ("1.10", "b", "u")),
            "late": (("10.1", "a", "c"), ("9.900", "b", "u"), ("10.1", "a", "c")),
            "deleted": (("1.9", "a", "c"), ("1.10", "a", "d"), None),
        },
    ),
    "captured from Postgres": (
        payload_rule("debezium.PostgresDebeziumAvroPayload", ("_event_lsn", "long"), ("name", "string"),
                ("_change_operation_type", "string")),
        {
            "updated": ((9, "a", "c"), (10, "b", "u"), (10, "b", "u")),
            "late": ((10, "a", "c"), (9, "b", "u"), (10, "a", "c")),
            "unavailable": ((9, "a", "c"), (10, "__debezium_unavailable_value", "u"), (10, "a", "u")),
            "deleted": ((9, "a", "c"), (10, "a", "d"), None),
        },
    ),
}  # fmt: skip


def read_values(engine: Client, uri: str) -> dict[str, Values]:
    """Return the values of each key."""
    rows = engine.read(uri, Query()).to_pylist()
    return {found["id"]: tuple(value for name, value in found.items() if name != "id") for found in rows}


def check_cells(engine: Client, uri: str, rule: Rule, cells: Cells, arrangement: str) -> None:
    """Write twice, compact where the arrangement has a compaction, then check the row of each key."""
    engine.create(uri, rule.spec("COPY_ON_WRITE" if arrangement == "copy-on-write" else "MERGE_ON_READ"))
    engine.write(uri, "upsert", rule.rows([(key, stored) for key, (stored, _, _) in cells.items() if stored is not None]))
    incoming = [(k, v) for k, (_, found, _) in cells.items() for v in (found if isinstance(found, list) else [found])]
    engine.write(uri, "upsert", rule.rows(incoming), options=APART)
    if arrangement == "compacted":
        assert engine.service(uri, "compaction", options={"hoodie.compact.inline.max.delta.commits": "1"}) is not None
    assert read_values(engine, uri) == {key: right for key, (_, _, right) in cells.items() if right is not None}


@pytest.mark.parametrize("arrangement", ["copy-on-write", "merge-on-read"])
@pytest.mark.parametrize("name", RULES)
@pytest.mark.needs(*WRITES, "merge.custom", "merge.event-time", "delete.flag")
@pytest.mark.requirements(
    "PAY-001", "PAY-002", "PAY-003", "PAY-004", "PAY-008", "PAY-011", "PAY-014", "PAY-015", "PAY-016", "PAY-017", "PAY-018",
    "PAY-020", "PAY-022", "PAY-023", "MRG-011", "MRG-012", "NBC-005",
)  # fmt: skip
@pytest.mark.versions(8)
def test_a_payload_class_decides_at_every_stage(
    engine: Client, new_uri: Callable[[], str], name: str, arrangement: str
) -> None:
    """PAY-002: inside one input, in base files and in logs the merged rows are those that the class defines; the ordering field
    of the table decides only where the class uses it.
    """
    rule, cells = RULES[name]
    check_cells(engine, new_uri(), rule, cells, arrangement)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.needs(*WRITES, "merge.custom", "merge.event-time", "delete.flag", "service.compaction")
@pytest.mark.requirements("PAY-002", "PAY-004", "PAY-022", "NBC-005")
@pytest.mark.versions(8)
def test_a_compaction_merges_by_the_payload_class(engine: Client, new_uri: Callable[[], str], name: str) -> None:
    """PAY-002: the rows of a base file that a compaction wrote are those that the class defines."""
    rule, cells = RULES[name]
    check_cells(engine, new_uri(), rule, cells, "compacted")


@ARRANGEMENTS
@pytest.mark.needs(*WRITES, "merge.samples")
@pytest.mark.requirements("MRG-032", "API-004", "API-005", "API-008", "API-020", "NBC-005")
def test_a_merger_builds_a_row_from_both_versions(engine: Client, new_uri: Callable[[], str], arrangement: str) -> None:
    """MRG-032: an order that was cancelled before its creation was delivered has the columns of both versions."""
    columns = (("ts", "long"), ("status", "string"), ("order_info", "string"), ("payment_info", "string"))
    rule = Rule({"hoodie.record.merge.strategy.id": FILL_NULLS}, columns)
    both = (2, "cancelled", "two books", "card")
    cells: Cells = {
        "cancelled first": ((2, "cancelled", None, "card"), (1, "created", "two books", None), both),
        "created first": ((1, "created", "two books", None), (2, "cancelled", None, "card"), both),
    }
    check_cells(engine, new_uri(), rule, cells, arrangement)


@pytest.mark.needs(*WRITES, "merge.samples", "service.compaction")
@pytest.mark.requirements("SVC-013", "API-008", "MRG-013")
def test_inline_compaction_uses_the_merger_of_the_writer(engine: Client, new_uri: Callable[[], str]) -> None:
    """MRG-013: a writer with inline compaction merges as it writes: the base file after the second write is merged from both
    versions.
    """
    columns = (("ts", "long"), ("status", "string"), ("order_info", "string"), ("payment_info", "string"))
    uri, rule = new_uri(), Rule({"hoodie.record.merge.strategy.id": FILL_NULLS}, columns)
    inline = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"}
    engine.create(uri, rule.spec("MERGE_ON_READ"))
    engine.write(uri, "upsert", rule.rows([("1", (2, "cancelled", None, "card"))]))
    engine.write(uri, "upsert", rule.rows([("1", (1, "created", "two books", None))]), options=inline)
    assert list((table_folder(uri) / ".hoodie" / "timeline").glob("*.commit")), "no compaction followed the write"
    assert read_values(engine, uri) == {"1": (2, "cancelled", "two books", "card")}


@pytest.mark.needs(*WRITES)
@pytest.mark.requirements("PAY-001", "PAY-005", "PAY-011", "PAY-013")
def test_the_default_merge_mode_uses_no_payload_class(engine: Client, new_uri: Callable[[], str]) -> None:
    """PAY-013: a new table without settings of merging has a merge mode: commit time, or event time with an ordering field, and
    the class of that mode.
    """
    expected = {
        (): ("COMMIT_TIME_ORDERING", "OverwriteWithLatestAvroPayload"),
        ("ts",): ("EVENT_TIME_ORDERING", "DefaultHoodieRecordPayload"),
    }
    for ordering, (mode, name) in expected.items():
        uri, rule = new_uri(), Rule({}, mode=None)
        spec = rule.spec("COPY_ON_WRITE")
        engine.create(uri, replace(spec, ordering=ordering))
        stored = stored_properties(uri)
        assert stored["hoodie.record.merge.mode"] == mode
        assert stored.get("hoodie.compaction.payload.class", PACKAGE + name) == PACKAGE + name
        engine.write(uri, "upsert", rule.rows([("1", OLD)]))
        engine.write(uri, "upsert", rule.rows([("1", NEW)]))
        assert read_values(engine, uri) == {"1": OLD if ordering else NEW}


@pytest.mark.needs("create")
@pytest.mark.requirements("MRG-035", "PAY-013")
@pytest.mark.parametrize(
    "given",
    [
        {"mode": "CUSTOM", "properties": {}},
        {"mode": "CUSTOM", "properties": {"hoodie.record.merge.strategy.id": PAYLOADS}},
        {"mode": None, "properties": {"hoodie.compaction.payload.class": f"{PACKAGE}EventTimeAvroPayload"}, "ordering": ()},
    ],
    ids=["nothing", "a payload strategy without a class", "an event-time class without a field of event times"],
)
def test_an_incomplete_custom_mode_is_refused(engine: Client, new_uri: Callable[[], str], given: Mapping[str, Any]) -> None:
    """MRG-035: the custom mode without strategy id and class, with an id that needs a class, or without ordering fields: no
    table is created.
    """
    uri = new_uri()
    with pytest.raises(ContractError):
        spec = Rule(given["properties"], mode=given["mode"]).spec("COPY_ON_WRITE")
        engine.create(uri, replace(spec, ordering=given.get("ordering", spec.ordering)))
    assert not (table_folder(uri) / ".hoodie" / "hoodie.properties").exists()


@pytest.mark.needs("create", "write.upsert", "read.snapshot", "merge.event-time", "merge-on-read")
@pytest.mark.requirements("MRG-022", "MRG-024")
def test_a_write_does_not_change_the_merge_mode(engine: Client, new_uri: Callable[[], str]) -> None:
    """MRG-022: a write with another mode is refused; the stored mode, and the rows that it produces, stay."""
    uri, rule = new_uri(), Rule({}, mode="EVENT_TIME_ORDERING")
    engine.create(uri, rule.spec("MERGE_ON_READ"))
    engine.write(uri, "upsert", rule.rows([("1", OLD)]))
    before = stored_properties(uri)
    with pytest.raises(ContractError):
        engine.write(uri, "upsert", rule.rows([("1", NEW)]), options={"hoodie.write.record.merge.mode": "COMMIT_TIME_ORDERING"})
    assert stored_properties(uri) == before
    assert read_values(engine, uri) == {"1": OLD}


UNKNOWN_MERGERS = pytest.mark.parametrize(
    "changed",
    [
        {"hoodie.record.merge.strategy.id": UNKNOWN},
        {"hoodie.record.merge.strategy.id": PAYLOADS, "hoodie.compaction.payload.class": "org.example.NoSuchPayload"},
    ],
    ids=["unknown strategy", "unknown class"],
)


def write_and_change_merger(engine: Client, uri: str, changed: Mapping[str, str]) -> None:
    """Write a slice with logs, then change the merger in the properties of the table."""
    rule = Rule({}, mode="EVENT_TIME_ORDERING")
    engine.create(uri, rule.spec("MERGE_ON_READ"))
    for values in (OLD, NEW):
        engine.write(uri, "upsert", rule.rows([("1", values)]))
    assert engine.read(uri, Query()).num_rows == 1, "the table has no row before the change"
    path = table_folder(uri) / ".hoodie" / "hoodie.properties"
    stored = {**stored_properties(uri), "hoodie.record.merge.mode": "CUSTOM", **changed}
    path.write_text("".join(f"{key}={json.dumps(value)[1:-1]}\n" for key, value in stored.items()))
    (path.parent / ".hoodie.properties.crc").unlink(missing_ok=True)


@pytest.mark.needs("create", "write.upsert", "read.snapshot", "merge.custom")
@pytest.mark.requirements("API-008", "PAY-002")
@UNKNOWN_MERGERS
def test_a_table_with_an_unknown_merger_is_refused(
    engine: Client, new_uri: Callable[[], str], changed: Mapping[str, str]
) -> None:
    """API-008: rows are not merged by another rule than the table's: a query of a slice with logs is refused."""
    uri = new_uri()
    write_and_change_merger(engine, uri, changed)
    with pytest.raises(ContractError):
        engine.read(uri, Query())


@pytest.mark.needs("create", "write.upsert", "read.snapshot", "merge.custom", "service.compaction")
@pytest.mark.requirements("API-008", "PAY-002")
@UNKNOWN_MERGERS
def test_a_compaction_with_an_unknown_merger_is_refused(
    engine: Client, new_uri: Callable[[], str], changed: Mapping[str, str]
) -> None:
    """API-008: rows are not compacted by another rule than the table's: the compaction is an error and does not complete."""
    uri = new_uri()
    write_and_change_merger(engine, uri, changed)
    with pytest.raises(ContractError):
        engine.service(uri, "compaction", options={"hoodie.compact.inline.max.delta.commits": "1"})
    assert not list((table_folder(uri) / ".hoodie" / "timeline").glob("*.commit"))
