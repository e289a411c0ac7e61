"""Vectors of custom merging: settings, choice of the merger, and the results of payload classes and sample mergers.

The results are written by hand next to the versions, from the description of each class.
"""

from collections.abc import Iterator
from typing import Any

from tools.corpus.case import VectorCase
from tools.corpus.vectors.vector_tests import HAND, Test, invalid_test, number_tests, valid_test

PACKAGE = "org.apache.hudi.common.model."
FILL_NULLS = "6f1f2b8e-52c5-4d6a-9a55-0a3f3f1c2d01"
GREATEST_OF_EACH = "6f1f2b8e-52c5-4d6a-9a55-0a3f3f1c2d02"
PAYLOADS = "00000000-0000-0000-0000-000000000000"
Version = dict[str, Any]


def _field(name: str, kind: str, default: Any = None) -> dict[str, Any]:
    return (
        {"name": name, "type": ["null", kind], "default": None}
        if default is None
        else {
            "name": name,
            "type": kind,
            "default": default,
        }
    )


SCHEMA = {
    "type": "record",
    "name": "row",
    "fields": [
        {"name": "id", "type": "string"},
        _field("ts", "long"),
        _field("name", "string"),
        _field("price", "string"),
    ],
}
WITH_DEFAULTS = {
    "type": "record",
    "name": "row",
    "fields": [
        {"name": "id", "type": "string"},
        _field("ts", "long"),
        _field("name", "string", "unknown"),
        _field("count", "int", 5),
    ],
}


def full_version(ts: int | None, name: str | None, price: Any = None, **more: Any) -> Version:
    """A whole row of the record."""
    return {"kind": "row", "row": {"id": "1", "ts": _text(ts), "name": name, "price": price, **more}, "ordering": None}


def _text(ts: int | None) -> str | None:
    return None if ts is None else str(ts)


def delete_version(ts: int) -> Version:
    """A delete entry with an ordering value."""
    return {"kind": "delete", "row": None, "ordering": str(ts)}


def partial_version(**columns: Any) -> Version:
    """A row of a partial block."""
    return {"kind": "partial", "row": {"id": "1", **columns}, "ordering": None}


KEY_DELETE: Version = {"kind": "key-delete", "row": None, "ordering": None}


def fold_test(comment: str, rule: dict[str, Any], versions: list[Version], right: Version | None, *flags: str) -> Test:
    """The result of merging the versions, the first of which is in the base file. `right` is a whole row or None."""
    base, *log = versions
    arguments = {"mode": "CUSTOM", "payload": None, "strategy": None, "ordering": ["ts"], "schema": SCHEMA, **rule}
    row = None if right is None else right["row"]
    ordering = None if row is None else row[arguments["ordering"][0]]
    ordering = str(ordering) if isinstance(ordering, int) else ordering
    stored, entries = (base, log) if base["kind"] == "row" else (None, versions)
    return valid_test(comment, {**arguments, "base": stored, "log": entries}, {"row": row, "ordering": ordering}, *flags)


def payload_table(name: str) -> dict[str, Any]:
    """The table of a payload class."""
    return {"payload": PACKAGE + name, "strategy": PAYLOADS}


def merger_table(strategy: str) -> dict[str, Any]:
    """The table of a sample merger."""
    return {"strategy": strategy}


def cases() -> Iterator[VectorCase]:
    """Settings, choice, payload classes, sample mergers."""
    yield VectorCase(
        area="merge",
        name="settings",
        requirements=["MRG-036", "MRG-040", "PAY-019", "PAY-021", "MRG-035", "API-006"],
        needs=["compute.merge.settings"],
        function="merge.settings",
        derived_by=[HAND],
        flags=["silent-stale"],
        says=(
            "Mode, strategy, classes, payload and ordering field are found under each of their names in the settings "
            "of writers."
        ),
        notes={"older-name": "If a setting is not found, the table is merged by another rule."},
        tests=number_tests(_settings()),
        if_it_fails="Check each name of the setting, the newest first.",
    )
    yield VectorCase(
        area="merge",
        name="choice-of-the-merger",
        requirements=["MRG-037", "MRG-038", "MRG-039", "API-007", "API-008", "API-017"],
        needs=["compute.merger.choose"],
        function="merger.choose",
        derived_by=[HAND],
        flags=["silent-guess"],
        says="Of several mergers, the first one with the strategy id and the record type of the engine is used.",
        notes={
            "other-engine": "The merger is for another record type.",
            "no-id": "Only the engine and the order of the list decide.",
            "none-fits": "Another merger would silently give wrong rows.",
        },
        tests=number_tests(_choices()),
        if_it_fails="Compare only the id and the record type of the merger.",
    )
    yield VectorCase(
        area="merge",
        name="payload-classes",
        requirements=[
            "PAY-003",
            "PAY-004",
            "PAY-007",
            "PAY-008",
            "PAY-009",
            "PAY-010",
            "PAY-012",
            "PAY-015",
            "PAY-016",
            "PAY-017",
            "PAY-018",
            "PAY-022",
            "PAY-023",
            "PAY-002",
        ],
        needs=["compute.merge.fold", "merge.custom"],
        function="merge.fold",
        derived_by=[HAND],
        flags=["silent-stale", "lost-write"],
        says="Each built-in payload class, given by its full name, merges several versions by its rule.",
        notes={
            "late": "A version that comes after one with a greater ordering value.",
            "delete": "A version that is a delete.",
            "defaults": "Values that count as not set.",
            "unknown-class": "The class is never loaded and never guessed.",
        },
        tests=number_tests(_payloads(), _capture(), _unknown()),
        errata=["ER-094"],
        if_it_fails="docs/merging.md has the rules of each class; look up the class by its name and do not load it.",
    )
    yield VectorCase(
        area="merge",
        name="sample-mergers",
        requirements=["MRG-032", "API-011", "API-013", "API-014", "API-016", "API-018", "API-021"],
        needs=["compute.merge.fold", "merge.samples"],
        function="merge.fold",
        derived_by=[HAND],
        flags=["silent-stale"],
        says="A merger builds a row from both versions, complete or partial; a delete keeps the data that it deleted.",
        notes={"delete": "A version that is a delete.", "partial": "A version that holds only some columns."},
        tests=number_tests(_samples()),
        if_it_fails="The result of a merge is the older version in the next merge, including the data of deletes.",
    )


def _said(**found: Any) -> dict[str, Any]:
    return {"mode": None, "strategy": None, "payload": None, "classes": [], "ordering": [], **found}


def _settings() -> Iterator[Test]:
    new, old = "hoodie.write.record.merge.strategy.id", "hoodie.datasource.write.record.merger.strategy"
    classes, impls = "hoodie.write.record.merge.custom.implementation.classes", "hoodie.datasource.write.record.merger.impls"
    spark, flink = "hoodie.datasource.write.payload.class", "payload.class"
    for comment, options, value, *flags in (
        ("nothing", {}, _said()),
        ("a strategy", {new: FILL_NULLS}, _said(strategy=FILL_NULLS)),
        ("only its older name", {old: FILL_NULLS}, _said(strategy=FILL_NULLS), "older-name"),
        ("both names", {old: FILL_NULLS, new: GREATEST_OF_EACH}, _said(strategy=GREATEST_OF_EACH), "older-name"),
        ("an empty value has no effect", {new: "", old: FILL_NULLS}, _said(strategy=FILL_NULLS), "older-name"),
        ("classes", {classes: "a.B,c.D"}, _said(classes=["a.B", "c.D"])),
        ("classes with blanks", {classes: " a.B , c.D "}, _said(classes=["a.B", "c.D"])),
        ("only their older name", {impls: "a.B"}, _said(classes=["a.B"]), "older-name"),
        ("both names of the classes", {impls: "a.B", classes: "c.D"}, _said(classes=["c.D"]), "older-name"),
        ("a payload class", {spark: "a.B"}, _said(payload="a.B")),
        ("the name that Flink has for it", {flink: "a.B"}, _said(payload="a.B"), "older-name"),
        ("a mode", {"hoodie.write.record.merge.mode": "custom"}, _said(mode="CUSTOM")),
        ("an ordering field", {"hoodie.datasource.write.precombine.field": "ts"}, _said(ordering=["ts"])),
        (
            "the payload's name for it first",
            {"hoodie.datasource.write.precombine.field": "ts", "hoodie.payload.ordering.field": "e"},
            _said(ordering=["e"]),
        ),
    ):
        yield valid_test(comment, {"options": options}, value, *flags)


def _choices() -> Iterator[Test]:
    def merger(strategy: str, record_type: str) -> dict[str, str]:
        return {"strategy": strategy, "record_type": record_type}

    wanted, other = FILL_NULLS, GREATEST_OF_EACH
    for record_type in ("SPARK", "FLINK", "AVRO"):
        another = {"SPARK": "FLINK", "FLINK": "AVRO", "AVRO": "SPARK"}[record_type]
        three = [merger(other, record_type), merger(wanted, another), merger(wanted, record_type)]
        for comment, strategy, mergers, value, *flags in (
            ("wrong id, other engine, both right", wanted, three, 2, "other-engine"),
            ("two that fit", wanted, [merger(wanted, record_type), merger(wanted, record_type)], 0),
            ("no id: the first for the engine", None, [merger(other, another), *three[:1], *three[1:]], 1, "no-id"),
        ):
            given = {"strategy": strategy, "record_type": record_type, "mergers": mergers}
            yield valid_test(f"{record_type}: {comment}", given, value, *flags)
        for comment, mergers, *flags in (
            ("only other ids", [merger(other, record_type)], "none-fits"),
            ("only for other engines", [merger(wanted, another)], "none-fits", "other-engine"),
            ("none at all", [], "none-fits"),
        ):
            given = {"strategy": wanted, "record_type": record_type, "mergers": mergers}
            yield invalid_test(f"{record_type}: {comment}", given, *flags)


def _payloads() -> Iterator[Test]:
    two, one, three = (
        full_version(2, "name_2", "price_2"),
        full_version(1, "name_1", "price_1"),
        full_version(3, "name_3", "price_3"),
    )
    for name in ("OverwriteWithLatestAvroPayload", "HoodieAvroPayload"):
        rule = payload_table(name)
        yield fold_test(f"{name}: the incoming row, late or not", rule, [two, one], one, "late")
        yield fold_test(f"{name}: a late delete", rule, [two, delete_version(1)], None, "delete")
        yield fold_test(f"{name}: a row after a delete", rule, [two, delete_version(3), one], one, "delete")
    for name in ("DefaultHoodieRecordPayload", "EventTimeAvroPayload"):
        rule = payload_table(name)
        yield fold_test(f"{name}: the greater ordering value", rule, [two, one], two, "late")
        yield fold_test(f"{name}: in every order", rule, [one, three, two], three, "late")
        yield fold_test(f"{name}: the later of equals", rule, [two, full_version(2, "later")], full_version(2, "later"))
        yield fold_test(f"{name}: a late delete", rule, [two, delete_version(1)], two, "delete")
        yield fold_test(f"{name}: a delete", rule, [two, delete_version(3)], None, "delete")
        yield fold_test(f"{name}: a late row after a delete", rule, [one, delete_version(3), two], None, "delete", "late")
        yield fold_test(f"{name}: a delete by key", rule, [two, KEY_DELETE], None, "delete")
    yield fold_test(
        "com.uber.hoodie is the older name of the package",
        {"payload": "com.uber.hoodie.common.model.DefaultHoodieRecordPayload", "strategy": PAYLOADS},
        [two, one],
        two,
    )
    first = payload_table("FirstValueAvroPayload")
    yield fold_test("FirstValueAvroPayload: the first of equals", first, [two, full_version(2, "later")], two)
    yield fold_test("FirstValueAvroPayload: the greater ordering value", first, [two, one, three], three, "late")
    partial = payload_table("PartialUpdateAvroPayload")
    for comment, stored, incoming, right in (
        ("a late row fills", full_version(2, "name_1"), full_version(1, None, "price_1"), full_version(2, "name_1", "price_1")),
        (
            "a newer row is filled",
            full_version(1, None, "price_1"),
            full_version(2, "name_1"),
            full_version(2, "name_1", "price_1"),
        ),
        (
            "a row of equals replaces and is filled",
            full_version(2, "name_1", "p_1"),
            full_version(2, "name_2"),
            full_version(2, "name_2", "p_1"),
        ),
        (
            "a late row replaces nothing",
            full_version(2, "name_1", "p_1"),
            full_version(1, "name_2", "p_2"),
            full_version(2, "name_1", "p_1"),
        ),
        (
            "the ordering field is the higher one",
            full_version(2, "name_1"),
            full_version(3, None, "p"),
            full_version(3, "name_1", "p"),
        ),
        (
            "a null ordering value is filled",
            full_version(2, "name_1"),
            full_version(None, None, "p"),
            full_version(2, "name_1", "p"),
        ),
    ):
        yield fold_test(f"PartialUpdateAvroPayload: {comment}", partial, [stored, incoming], right, "late")
    yield fold_test("PartialUpdateAvroPayload: a late delete", partial, [two, delete_version(1)], None, "delete", "late")
    some = payload_table("OverwriteNonDefaultsWithLatestAvroPayload")
    yield fold_test(
        "OverwriteNonDefaultsWithLatestAvroPayload: nulls keep, late or not",
        some,
        [two, full_version(1, None, "price_1")],
        full_version(1, "name_2", "price_1"),
        "late",
        "defaults",
    )
    yield fold_test("OverwriteNonDefaultsWithLatestAvroPayload: a delete", some, [two, delete_version(1)], None, "delete")
    for comment, stored, incoming, right in (
        ("a text default keeps", ("a", 1), ("unknown", 2), ("a", 2)),
        ("a number default keeps", ("a", 1), ("b", 5), ("b", 1)),
        ("a default is replaced", ("unknown", 5), ("b", 2), ("b", 2)),
    ):
        versions = [
            {"kind": "row", "row": {"id": "1", "ts": "1", "name": name, "count": count}, "ordering": None}
            for name, count in (stored, incoming, right)
        ]
        yield fold_test(
            f"OverwriteNonDefaultsWithLatestAvroPayload: {comment}",
            {**some, "schema": WITH_DEFAULTS},
            versions[:2],
            versions[2],
            "defaults",
        )


def _columns(*names: tuple[str, str]) -> dict[str, Any]:
    return {"type": "record", "name": "row", "fields": [{"name": "id", "type": "string"}, *(_field(*name) for name in names)]}


def _capture() -> Iterator[Test]:
    """Payload classes for changes that were captured in a source database."""

    def change(schema: dict[str, Any], *values: Any) -> Version:
        names = [field["name"] for field in schema["fields"][1:]]
        return {"kind": "row", "row": {"id": "1", **dict(zip(names, values, strict=True))}, "ordering": None}

    dms = _columns(("ts", "long"), ("name", "string"), ("Op", "string"))
    rule = {**payload_table("AWSDmsAvroPayload"), "schema": dms}
    insert, update = change(dms, "1", "a", "I"), change(dms, "2", "b", "U")
    yield fold_test("AWSDmsAvroPayload: an update", rule, [insert, update], update)
    yield fold_test("AWSDmsAvroPayload: a late one too", rule, [update, insert], insert, "late")
    for operation in ("D", "d"):
        yield fold_test(
            f"AWSDmsAvroPayload: {operation} deletes", rule, [update, change(dms, "3", "b", operation)], None, "delete"
        )
    yield fold_test("AWSDmsAvroPayload: a late delete too", rule, [update, change(dms, "1", "b", "D")], None, "delete", "late")
    mysql = _columns(("_event_seq", "string"), ("name", "string"), ("_change_operation_type", "string"))
    rule = {**payload_table("debezium.MySqlDebeziumAvroPayload"), "schema": mysql, "ordering": ["_event_seq"]}
    for comment, stored, incoming, stays in (
        ("later in the file", "1.10", "1.20", False),
        ("the next file", "9.900", "10.4", False),
        ("earlier, though greater as a text", "1.100", "1.20", True),
        ("the stored one of equals", "1.10", "1.10", True),
    ):
        before, after = change(mysql, stored, "a", "c"), change(mysql, incoming, "b", "u")
        yield fold_test(f"MySqlDebeziumAvroPayload: {comment}", rule, [before, after], before if stays else after, "late")
    first = change(mysql, "1.10", "a", "c")
    yield fold_test("MySqlDebeziumAvroPayload: d deletes", rule, [first, change(mysql, "1.11", "a", "d")], None, "delete")
    yield fold_test(
        "MySqlDebeziumAvroPayload: a late d", rule, [first, change(mysql, "1.9", "a", "d")], first, "delete", "late"
    )
    yield invalid_test("MySqlDebeziumAvroPayload: no position", _arguments(rule, first, change(mysql, None, "b", "u")))
    postgres = _columns(("_event_lsn", "long"), ("name", "string"), ("_change_operation_type", "string"))
    rule = {**payload_table("debezium.PostgresDebeziumAvroPayload"), "schema": postgres, "ordering": ["_event_lsn"]}
    first = change(postgres, "10", "a", "c")
    for comment, incoming, right in (
        ("a later one", change(postgres, "20", "b", "u"), change(postgres, "20", "b", "u")),
        ("the incoming one of equals", change(postgres, "10", "b", "u"), change(postgres, "10", "b", "u")),
        ("an earlier one", change(postgres, "9", "b", "u"), first),
        (
            "a value that was not sent",
            change(postgres, "20", "__debezium_unavailable_value", "u"),
            change(postgres, "20", "a", "u"),
        ),
        ("a late one fills nothing", change(postgres, "9", "__debezium_unavailable_value", "u"), first),
        ("d deletes", change(postgres, "20", "a", "d"), None),
    ):
        yield fold_test(f"PostgresDebeziumAvroPayload: {comment}", rule, [first, incoming], right, "late")
    yield invalid_test("PostgresDebeziumAvroPayload: no position", _arguments(rule, first, change(postgres, None, "b", "u")))


def _arguments(rule: dict[str, Any], base: Version, *log: Version) -> dict[str, Any]:
    return {"mode": "CUSTOM", "strategy": None, **rule, "base": base, "log": list(log)}


def _unknown() -> Iterator[Test]:
    two = full_version(2, "name_2")
    for name in (
        "org.example.Payload",
        "PartialUpdateAvroPayload",
        "org.apache.spark.sql.hudi.command.payload.ExpressionPayload",
    ):
        rule = {"payload": name, "strategy": PAYLOADS, "ordering": ["ts"], "schema": SCHEMA}
        yield invalid_test(f"{name} is not one of the classes", _arguments(rule, two, two), "unknown-class")


def _samples() -> Iterator[Test]:
    orders = _columns(("ts", "long"), ("status", "string"), ("order_info", "string"), ("payment_info", "string"))

    def order(ts: int, status: str, order_info: str | None, payment_info: str | None) -> Version:
        values = {"ts": str(ts), "status": status, "order_info": order_info, "payment_info": payment_info}
        return {"kind": "row", "row": {"id": "1", **values}, "ordering": None}

    fill = merger_table(FILL_NULLS)
    cancelled, created = order(2, "cancelled", None, "card"), order(1, "created", "two books", None)
    both = order(2, "cancelled", "two books", "card")
    yield fold_test("cancelled, then the late news of its creation", {**fill, "schema": orders}, [cancelled, created], both)
    yield fold_test("created, then cancelled", {**fill, "schema": orders}, [created, cancelled], both)
    five, three, four = full_version(5, "five"), full_version(3, "three", "3"), full_version(4, "four", "4")
    yield fold_test(
        "the result of a merge is compared with the next version", fill, [five, three, four], full_version(5, "five", "3")
    )
    yield fold_test(
        "a delete remembers what it deleted",
        fill,
        [full_version(1, "one", "1"), delete_version(2), full_version(3, None)],
        full_version(3, "one", "1"),
        "delete",
    )
    yield fold_test(
        "a late row after a delete", fill, [full_version(1, "one"), delete_version(3), full_version(2, "two")], None, "delete"
    )
    yield fold_test(
        "partial over whole",
        fill,
        [full_version(1, "one", "1"), partial_version(ts="2", name="two")],
        full_version(2, "two", "1"),
        "partial",
    )
    yield fold_test(
        "partial over partial",
        fill,
        [partial_version(ts="1", name="one"), partial_version(ts="2", price="2")],
        full_version(2, "one", "2"),
        "partial",
    )
    yield fold_test(
        "whole over partial",
        fill,
        [partial_version(ts="1", name="one"), full_version(2, None, "2")],
        full_version(2, "one", "2"),
        "partial",
    )
    yield fold_test(
        "three partial ones out of order",
        fill,
        [full_version(1, "one"), partial_version(ts="5", name="five"), partial_version(ts="3", name="three")],
        full_version(5, "five"),
        "partial",
    )
    yield fold_test(
        "a partial one, then a delete",
        fill,
        [full_version(1, "one"), partial_version(ts="2", name="two"), delete_version(3)],
        None,
        "partial",
        "delete",
    )
    greatest = merger_table(GREATEST_OF_EACH)
    yield fold_test(
        "the greatest of each column",
        greatest,
        [full_version(2, "b", "1"), full_version(1, "c", "2")],
        full_version(2, "c", "2"),
    )
    yield fold_test(
        "again, and back",
        greatest,
        [full_version(1, "c", "2"), full_version(2, "b", "1"), full_version(2, "b", "1")],
        full_version(2, "c", "2"),
    )
    yield fold_test(
        "a delete in between, and a row that is later",
        greatest,
        [full_version(1, "c"), delete_version(2), full_version(3, "a")],
        full_version(3, "c"),
        "delete",
    )
    yield fold_test("a delete wins over its equal", greatest, [full_version(2, "c"), delete_version(2)], None, "delete")
