"""Vectors of merging: every pair of versions under the standard modes, and ordering values of every type.

The results are written by hand, from the rules of the merge modes, without the decision tables of the reference.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement
from typing import Any

from tools.corpus.case import VectorCase
from tools.corpus.vectors.vector_tests import HAND, Test, invalid_test, number_tests, valid_test

Json = Any
NEEDS = ["compute.merge.fold"]
EVENT, COMMIT = "EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"


def record_schema(**fields: Json) -> Json:
    """An Avro schema; all fields except the first are nullable."""
    listed: list[Json] = [{"name": "id", "type": "string"}]
    listed += [{"name": name, "type": ["null", kind], "default": None} for name, kind in fields.items()]
    return {"type": "record", "name": "merged", "fields": listed}


PLAIN = record_schema(ts="long", name="string")


def cases() -> Iterator[VectorCase]:
    """Cells of the decision tables, ordering values, partial rows."""
    common: Json = {"area": "merge", "needs": NEEDS, "function": "merge.fold", "derived_by": [HAND]}
    yield VectorCase(
        **common, name="cells.event-time", requirements=["MRG-001", "MRG-028", "MRG-029", "MRG-003", "BLK-012"],
        says="In event-time mode every pair of versions, in log files or with a base row, is merged by the decision table.",
        flags=["silent-stale", "resurrected-row"], errata=["ER-050", "ER-051", "ER-054"], notes=CELL_NOTES,
        tests=number_tests(_event_time(), _three()),
        if_it_fails="The comment names the cell: older version, newer version, and how the newer ordering value compares.",
    )  # fmt: skip
    yield VectorCase(
        **common, name="cells.commit-time", requirements=["MRG-001", "MRG-025"],
        says="In commit-time mode the later of two versions is the result, whatever the ordering values.",
        flags=["silent-stale", "resurrected-row"], notes=CELL_NOTES, tests=number_tests(_commit_time()),
        if_it_fails="Ordering values were compared, or deletes were applied before or after all rows.",
    )  # fmt: skip
    yield VectorCase(
        **common, name="cells.partial", requirements=["LF-046", "MRG-028", "MRG-025"],
        says="A winning partial row takes the columns that it lacks from the version before; a losing one changes nothing.",
        flags=["silent-stale", "lost-write"], errata=["ER-067", "ER-068", "ER-069"],
        notes={"null": ("A column that a partial row has as null is null."), "nothing-before": "No earlier version exists."},
        tests=number_tests(_partial()), if_it_fails="Columns that a version does not hold are not null: they keep their value.",
    )  # fmt: skip
    yield VectorCase(
        **common, name="ordering-values", requirements=["MRG-028", "MRG-019"],
        says="Ordering values of every type compare by value: the greater one wins, and of equal ones the later.",
        flags=["silent-stale"], errata=["ER-055"],
        notes={"nan": "NaN is greater than every other number.", "zero": "-0.0 is below 0.0.",
               "null": "A null is the default value: the number 0, and below every text.",
               "utf-8": "Texts compare by their UTF-8 bytes, not by UTF-16 units.",
               "wide": "Values that are equal as doubles."},
        tests=number_tests(_ordering_values()),
        if_it_fails="Compare values of the column's own type, not texts and not doubles.",
    )  # fmt: skip
    yield VectorCase(
        **common, name="ordering-values.several", requirements=["MRG-019", "MRG-028"],
        says="Several ordering fields are compared in turn; a null counts as the default value of its type.",
        flags=["silent-stale"], notes={"null": "A null in one of the fields.", "missing": "A field that is not a column."},
        tests=number_tests(_several()),
        if_it_fails="Only the first field was compared, or the values were compared as one text.",
    )  # fmt: skip


def arguments_of(
    mode: str, base: Json, log: Sequence[Json], *, schema: Json = PLAIN, ordering: Sequence[str] = ("ts",)
) -> Json:
    """The arguments of one test."""
    return {"mode": mode, "payload": None, "strategy": None, "ordering": list(ordering), "schema": schema, "base": base,
            "log": list(log)}  # fmt: skip


def answer_of(row: Json, ordering: Json = None) -> Json:
    """The answer: the resulting row and its ordering value."""
    return {"row": row, "ordering": ordering}


NOTHING = answer_of(None)
CELL_NOTES = {
    "tie": "Equal ordering values.",
    "delete": "A delete with an ordering value, in a delete block or as a flagged row.",
    "key-delete": "A delete without ordering value wins over all earlier versions.",
}

#: Ordering values: the older version has 20.
NEWER = {"lower": "10", "equal": "20", "greater": "30"}
#: Older and newer version -> the result if the ordering value of the newer one is lower, equal, greater.
EVENT_CELLS = {
    ("row", "row"): "older newer newer",
    ("row", "flagged"): "older none none",
    ("row", "delete"): "older none none",
    ("row", "key-delete"): "none none none",
    ("flagged", "row"): "none newer newer",
    ("flagged", "flagged"): "none none none",
    ("flagged", "delete"): "none none none",
    ("flagged", "key-delete"): "none none none",
    ("delete", "row"): "none newer newer",
    ("delete", "flagged"): "none none none",
    ("delete", "delete"): "none none none",
    ("delete", "key-delete"): "none none none",
    ("key-delete", "row"): "newer newer newer",
    ("key-delete", "flagged"): "none none none",
    ("key-delete", "delete"): "none none none",
    ("key-delete", "key-delete"): "none none none",
}


def make_version(kind: str, ts: str, name: str) -> Json:
    """A version of the record."""
    if kind in ("delete", "key-delete"):
        return {"kind": kind, "ordering": ts if kind == "delete" else None}
    return {"kind": kind, "row": {"id": "a", "ts": ts, "name": name}}


def _row(ts: str, name: str) -> Json:
    return answer_of({"id": "a", "ts": ts, "name": name}, ts)


def _event_time() -> Iterator[Test]:
    for (older, newer), words in EVENT_CELLS.items():
        for (order, ts), word in zip(NEWER.items(), words.split(), strict=True):
            yield from _cell(EVENT, older, newer, order, ts, word)


def _commit_time() -> Iterator[Test]:
    for older, newer in EVENT_CELLS:
        for order, ts in NEWER.items():
            yield from _cell(COMMIT, older, newer, order, ts, "newer" if newer == "row" else "none")


def _cell(mode: str, older: str, newer: str, order: str, ts: str, word: str) -> Iterator[Test]:
    """One cell: with both versions in the log, with both versions over an older base row, and with the older version stored."""
    value = {"older": _row("20", "older"), "newer": _row(ts, "newer"), "none": NOTHING}[word]
    flags = {"tie"} if order == "equal" else set()
    flags |= {kind if kind == "key-delete" else "delete" for kind in (older, newer) if kind != "row"}
    versions = [make_version(older, "20", "older"), make_version(newer, ts, "newer")]
    name = f"{older}-{newer}-{order}"
    yield valid_test(f"log.{name}", arguments_of(mode, None, versions), value, *sorted(flags))
    if mode == EVENT:
        yield valid_test(
            f"base-and-log.{name}", arguments_of(mode, make_version("row", "1", "base"), versions), value, *sorted(flags)
        )
    if older == "row":
        yield valid_test(f"base.{name}", arguments_of(mode, versions[0], versions[1:]), value, *sorted(flags))


def _three() -> Iterator[Test]:
    """Which of two deletes takes part in the merge: a row between their ordering values, or below both."""
    stays, gone = True, False
    for comment, kinds, ts, is_there in (
        ("of two deletes the greater one counts, the later being lower", ("delete 20", "delete 10"), "15", gone),
        ("of two deletes the greater one counts, the later being greater", ("delete 20", "delete 30"), "25", gone),
        ("a row above both deletes", ("delete 20", "delete 10"), "20", stays),
        ("a flagged row and a delete entry are alike", ("flagged 20", "delete 10"), "15", gone),
        ("a delete by key forgets the delete before it", ("delete 20", "key-delete 0"), "5", stays),
        ("a delete after a delete by key finds nothing and leaves no trace", ("key-delete 0", "delete 20"), "5", stays),
        ("two deletes by key", ("key-delete 0", "key-delete 0"), "-5", stays),
        ("a late row after a row and its delete", ("row 10", "delete 20"), "15", gone),
        ("a row, deleted by key, and a row with a lower value", ("row 20", "key-delete 0"), "5", stays),
    ):
        versions = [make_version(*word.split(), "before") for word in kinds]  # type: ignore[call-arg]
        value = _row(ts, "last") if is_there else NOTHING
        yield valid_test(
            f"log.{comment}", arguments_of(EVENT, None, [*versions, make_version("row", ts, "last")]), value, "delete"
        )
        base = make_version("row", "9", "base")
        if "row" not in kinds[0]:
            yield valid_test(
                f"base-and-log.{comment}",
                arguments_of(EVENT, base, [*versions, make_version("row", ts, "last")]),
                value,
                "delete",
            )
    after = [make_version("key-delete", "0", ""), make_version("row", "5", "last")]
    comment = "base.a deleted base row stays deleted when a row with a lower value follows"
    yield valid_test(comment, arguments_of(EVENT, make_version("row", "20", "base"), after), _row("5", "last"), "key-delete")


def _partial() -> Iterator[Test]:
    """Partial rows with the columns id, ts and a over whole rows with id, ts, a and b."""
    schema = record_schema(ts="long", a="string", b="string")
    base = {"kind": "row", "row": {"id": "a", "ts": "5", "a": "A", "b": "B"}}

    def part(ts: str, **columns: Json) -> Json:
        return {"kind": "partial", "row": {"id": "a", "ts": ts, **columns}}

    def whole(ts: str, a: Json, b: Json) -> Json:
        return answer_of({"id": "a", "ts": ts, "a": a, "b": b}, ts)

    late = whole("5", "A", "B")
    full = {"kind": "row", "row": {"id": "a", "ts": "7", "a": "A7", "b": None}}
    tests = (
        ("a greater one", base, [part("6", a="A2")], whole("6", "A2", "B"), whole("6", "A2", "B"), ()),
        ("an equal one", base, [part("5", a="A2")], whole("5", "A2", "B"), whole("5", "A2", "B"), ()),
        ("a late one", base, [part("4", a="A2")], late, whole("4", "A2", "B"), ()),
        ("a column that holds null", base, [part("6", a=None)], whole("6", None, "B"), whole("6", None, "B"), ("null",)),
        ("two columns one after the other", base, [part("6", a="A2"), part("7", b=None)], whole("7", "A2", None),
         whole("7", "A2", None), ("null",)),
        ("a late one after another", base, [part("7", a="A2"), part("6", a="A3", b="B3")], whole("7", "A2", "B"),
         whole("6", "A3", "B3"), ()),
        ("a whole row after one", base, [part("6", a="A2"), full], whole("7", "A7", None), whole("7", "A7", None), ("null",)),
        ("after a delete by key", base, [{"kind": "key-delete", "ordering": None}, part("6", a="A2")], whole("6", "A2", None),
         whole("6", "A2", None), ("nothing-before",)),
        ("after a lower delete", base, [{"kind": "delete", "ordering": "5"}, part("6", a="A2")], whole("6", "A2", None),
         whole("6", "A2", None), ("nothing-before",)),
        ("after a greater delete", base, [{"kind": "delete", "ordering": "7"}, part("6", a="A2")], NOTHING,
         whole("6", "A2", None), ("nothing-before",)),
        ("of a record that is nowhere", None, [part("6", a="A2")], whole("6", "A2", None), whole("6", "A2", None),
         ("nothing-before",)),
        ("then a delete", base, [part("6", a="A2"), {"kind": "delete", "ordering": "6"}], NOTHING, NOTHING, ()),
        ("then a late delete", base, [part("6", a="A2"), {"kind": "delete", "ordering": "5"}], whole("6", "A2", "B"), NOTHING,
         ()),
    )  # fmt: skip
    for comment, stored, log, event, commit, flags in tests:
        yield valid_test(f"event time: {comment}", arguments_of(EVENT, stored, log, schema=schema), event, *flags)
        yield valid_test(f"commit time: {comment}", arguments_of(COMMIT, stored, log, schema=schema), commit, *flags)


def logical_type(name: str, of: str, **more: Json) -> Json:
    """A logical type."""
    return {"type": of, "logicalType": name, **more}


#: Type of the ordering field -> its values, the lowest first: as in rows, as stored if that differs, flags. Values in one tuple
#: of the list are equal.
LADDERS: dict[str, tuple[Json, list[tuple[tuple[Json, Json, str], ...]]]] = {
    "int": ("int", [((-(2**31), str(-(2**31)), ""),), ((-1, "-1", ""),), ((0, "0", ""), (None, None, "null")), ((9, "9", ""),),
                    ((10, "10", ""),), ((2**31 - 1, str(2**31 - 1), ""),)]),
    "long": ("long", [((str(-(2**63)), str(-(2**63)), ""),), (("-1", "-1", ""),), (("0", "0", ""), (None, None, "null")),
                      (("9", "9", ""),), (("10", "10", ""),), ((str(2**53), str(2**53), "wide"),),
                      ((str(2**53 + 1), str(2**53 + 1), "wide"),), ((str(2**63 - 1), str(2**63 - 1), ""),)]),
    "float": ("float", [(("-Infinity", "-Infinity", ""),), (("-1.5", "-1.5", ""),), (("-0.0", "-0.0", "zero"),),
                        (("0.0", "0.0", "zero"), (None, None, "null")), (("9.0", "9.0", ""),), (("10.0", "10.0", ""),),
                        (("Infinity", "Infinity", ""),), (("NaN", "NaN", "nan"),)]),
    "double": ("double", [(("-Infinity", "-Infinity", ""),), (("-1.5", "-1.5", ""),), (("-0.0", "-0.0", "zero"),),
                          (("0.0", "0.0", "zero"), (None, None, "null")), (("9.0", "9.0", ""),), (("10.0", "10.0", ""),),
                          (("Infinity", "Infinity", ""),), (("NaN", "NaN", "nan"),)]),
    "boolean": ("boolean", [((False, False, ""), (None, None, "null")), ((True, True, ""),)]),
    "string": ("string", [((None, None, "null"),), (("", "", ""),), (("10", "10", ""),), (("9", "9", ""),), (("A", "A", ""),),
                          (("a", "a", ""),), (("aa", "aa", ""),), (("é", "é", "utf-8"),), (("\uffff", "\uffff", "utf-8"),),
                          (("\U0001f6b2", "\U0001f6b2", "utf-8"),)]),
    "bytes": ("bytes", [((None, None, "null"),), (("", "", ""),), (("00", "00", ""),), (("0000", "0000", ""),),
                        (("7f", "7f", ""),), (("80", "80", ""),), (("ff", "ff", ""),)]),
    "date": (logical_type("date", "int"), [(("1969-12-31", "-1", ""),), (("1970-01-01", "0", ""), (None, None, "null")),
                                      (("2024-02-29", "19782", ""),), (("2024-10-09", "20005", ""),)]),
    "timestamp-micros": (logical_type("timestamp-micros", "long"), [
        (("1969-12-31T23:59:59.999999Z", "-1", ""),), (("1970-01-01T00:00:00Z", "0", ""), (None, None, "null")),
        (("1970-01-01T00:00:00.000001Z", "1", ""),), (("1970-01-01T00:00:01Z", "1000000", ""),)]),
    "timestamp-millis": (logical_type("timestamp-millis", "long"), [
        (("1969-12-31T23:59:59.999Z", "-1", ""),), (("1970-01-01T00:00:00Z", "0", ""), (None, None, "null")),
        (("1970-01-01T00:00:00.001Z", "1", ""),), (("1970-01-01T00:00:01Z", "1000", ""),)]),
    "decimal": (logical_type("decimal", "bytes", precision=20, scale=2), [
        (("-999999999999999999.99", "-999999999999999999.99", ""),), (("-0.01", "-0.01", ""),),
        (("0.00", "0.00", ""), (None, None, "null")), (("9.00", "9.00", ""),), (("10.00", "10.00", ""),),
        (("90071992547409.92", "90071992547409.92", "wide"),), (("90071992547409.93", "90071992547409.93", "wide"),)]),
}  # fmt: skip


def _ordering_values() -> Iterator[Test]:
    for name, (kind, ladder) in LADDERS.items():
        schema = record_schema(ts=kind, name="string")
        steps = [(place, value) for place, equals in enumerate(ladder) for value in equals]
        for (one, lower), (other, upper) in combinations_with_replacement(steps, 2):
            if other - one > 1:
                continue
            yield _pair(name, schema, lower, upper, newer_stays=True)
            if lower is not upper:
                yield _pair(name, schema, upper, lower, newer_stays=one == other)
    yield invalid_test(
        "a delete entry whose value is a string and a row of long",
        arguments_of(EVENT, make_version("row", "1", "base"), [{"kind": "delete", "ordering": "x"}]),
    )


def _pair(name: str, schema: Json, older: Json, newer: Json, *, newer_stays: bool) -> Test:
    """A stored row and a log row with two ordering values."""
    stored, change = ({"id": "a", "ts": value[0], "name": word} for value, word in ((older, "older"), (newer, "newer")))
    value = answer_of(change, newer[1]) if newer_stays else answer_of(stored, older[1])
    arguments = arguments_of(EVENT, {"kind": "row", "row": stored}, [{"kind": "row", "row": change}], schema=schema)
    return valid_test(f"{name}: {older[0]!r}, then {newer[0]!r}", arguments, value, *sorted({older[2], newer[2]} - {""}))


def _several() -> Iterator[Test]:
    schema = record_schema(day="int", ts="long", name="string")
    for comment, older, newer, newer_stays, *flags in (
        ("the first decides upwards", (1, "9"), (2, "1"), True),
        ("the first decides downwards", (2, "1"), (1, "9"), False),
        ("the second decides upwards", (1, "9"), (1, "10"), True),
        ("the second decides downwards", (1, "10"), (1, "9"), False),
        ("all are equal", (1, "9"), (1, "9"), True),
        ("a null first is 0 and below", (1, "9"), (None, "99"), False, "null"),
        ("a null first is 0 and above", (-1, "9"), (None, "0"), True, "null"),
        ("a null second is 0 and below", (1, "9"), (1, None), False, "null"),
        ("a null second is 0 and equal", (1, "0"), (1, None), True, "null"),
        ("nulls throughout", (None, None), (None, None), True, "null"),
    ):
        yield _fields(comment, schema, ("day", "ts"), older, newer, newer_stays, flags)
    for says, before, after, stays in (
        ("a field that no column has, and one that goes up", (None, "1"), (None, "2"), True),
        ("a field that no column has, and one that goes down", (None, "2"), (None, "1"), False),
    ):
        yield _fields(says, PLAIN, ("nowhere", "ts"), before, after, stays, ["missing"])


def _fields(
    comment: str, schema: Json, names: tuple[str, str], older: Any, newer: Any, newer_stays: bool, flags: Sequence[str]
) -> Test:
    known = {field["name"] for field in schema["fields"]}

    def row(values: Any, word: str) -> Json:
        return {"id": "a", **{n: v for n, v in zip(names, values, strict=True) if n in known}, "name": word}

    stored, change = row(older, "older"), row(newer, "newer")
    found = [value if value is None else str(value) for value in (newer if newer_stays else older)]
    arguments = arguments_of(
        EVENT, {"kind": "row", "row": stored}, [{"kind": "row", "row": change}], schema=schema, ordering=names
    )
    return valid_test(comment, arguments, answer_of(change if newer_stays else stored, found), *flags)
