"""Record keys and partition paths of every key generator, for values of every type.

Each value is from a table that Apache Hudi 1.0.2 wrote with these settings, except the halves of the day, which follow the
documentation of Joda-Time's patterns.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tools.corpus.case import VectorCase
from tools.corpus.vectors.vector_tests import HUDI, Test, invalid_test, number_tests, valid_test

Field = tuple[str, Any, Any]
TYPE = "hoodie.table.keygenerator.type"
KEY, PARTITION = "hoodie.table.recordkey.fields", "hoodie.table.partition.fields"
TIME = "hoodie.keygen.timebased."
HIVE, ENCODED = "hoodie.datasource.write.hive_style_partitioning", "hoodie.datasource.write.partitionpath.urlencode"
DATE = {"type": "int", "logicalType": "date"}
MICROS = {"type": "long", "logicalType": "timestamp-micros"}
NULL = "__HIVE_DEFAULT_PARTITION__"


def cases() -> Iterator[VectorCase]:
    """Keys and paths."""
    yield VectorCase(
        area="names",
        name="key-generators",
        requirements=["PROP-007", "PROP-008", "PROP-016", "META-007", "META-009"],
        says="Each key generator computes record key and partition path of a row with values of every type.",
        needs=["compute.key.generate"],
        flags=["lost-write", "double-apply"],
        function="key.generate",
        derived_by=[HUDI],
        notes={
            "type": "A value of each type has one text; a writer with another text would store each record twice.",
            "null": "The placeholder of null in a path.",
            "unit": "The unit of a number in a time-based generator.",
            "pattern": "The patterns by which a time is read and written.",
            "zone": "The zone in which a time is read and written.",
            "no-time": "A value that is not a time has no path; an invented path would hide the row.",
            "form": "The form of the key that a generator makes.",
        },
        tests=number_tests(_types(), _paths(), _times(), _texts(), _custom(), _forms(), _wrong(), _halves_of_days()),
        if_it_fails="Value texts are those of Java; the settings of a time-based generator state unit, patterns and zones.",
    )


def _name(short: str) -> str:
    known = {"type": TYPE, "key": KEY, "partition": PARTITION, "hive": HIVE, "encoded": ENCODED}
    return known.get(short) or TIME + short.replace("__", ".")


def _test(comment: str, fields: list[Field], made: str, path: str, /, *flags: str, **settings: str) -> Test:
    properties = {KEY: "id", PARTITION: "p", **{_name(name): value for name, value in settings.items()}}
    arguments = {"fields": [list(field) for field in fields], "properties": properties}
    return valid_test(comment, arguments, {"key": made, "partition": path}, *flags)


#: Type, stored value, text.
VALUES: tuple[tuple[str, Any, Any, str], ...] = (
    ("an int", "int", "-5", "-5"), ("a long beyond a double", "long", "9007199254740993", "9007199254740993"),
    ("a float", "float", "1.5", "1.5"), ("a float of ten digits", "float", "1e10", "1.0E10"),
    ("a float that no double is", "float", "0.1", "0.1"), ("a double", "double", "0.1", "0.1"),
    ("a large double", "double", "1e7", "1.0E7"), ("a small double", "double", "1e-5", "1.0E-5"),
    ("not a number", "double", "nan", "NaN"), ("a truth value", "boolean", True, "true"),
    ("bytes", "bytes", "01ff", "01ff"), ("a date", DATE, "18263", "2020-01-02"),
    ("a timestamp", MICROS, "1577934245678900", "1577934245678900"),
    ("a timestamp before the epoch", MICROS, "-315532800000000", "-315532800000000"),
)  # fmt: skip


def _types() -> Iterator[Test]:
    for comment, kind, value, text in VALUES:
        yield _test(comment, [("id", kind, value), ("p", kind, value)], text, text, "type", type="SIMPLE")
        several = [("id", kind, value), ("ts", "long", "1"), ("p", kind, value)]
        yield _test(f"{comment} among several", several, f"id:{text},ts:1", f"{text}/1", "type", type="COMPLEX", key="id,ts",
                    partition="p,ts")  # fmt: skip


ID: Field = ("id", "string", "a")


def _paths() -> Iterator[Test]:
    for kind in ("SIMPLE", "COMPLEX"):
        yield _test(f"a null, {kind}", [ID, ("p", "string", None)], "a", NULL, "null", type=kind)
        yield _test(f"an empty text, {kind}", [ID, ("p", "string", "")], "a", NULL, "null", type=kind)
        yield _test(f"hive style, {kind}", [ID, ("p", "string", "x")], "a", "p=x", type=kind, hive="true")
    yield _test("a slash", [ID, ("p", "string", "x/y")], "a", "x/y", type="SIMPLE")
    yield _test("a slash, escaped", [ID, ("p", "string", "x/y")], "a", "x%2Fy", type="SIMPLE", encoded="true")


def _time(comment: str, kind: Any, value: Any, path: str, *flags: str, **settings: str) -> Test:
    return _test(comment, [ID, ("p", kind, value)], "a", path, *flags, type="TIMESTAMP", **settings)


HOURS = {"output__dateformat": "yyyy/MM/dd HH"}
MONTHS = {"output__dateformat": "yyyy/MM"}


def _times() -> Iterator[Test]:
    seconds = {"timestamp__type": "UNIX_TIMESTAMP", **HOURS}
    yield _time("seconds", "long", "1600000000", "2020/09/13 12", "unit", **seconds)
    yield _time("no seconds", "long", None, "1970/01/01 00", "null", **seconds)
    yield _time("the epoch", "long", "0", "1970/01/01 00", **seconds)
    yield _time("a second before the epoch", "long", "-1", "1969/12/31 23", **seconds)
    yield _time("hive style", "long", "1600000000", "p=2020/09/13 12", hive="true", **seconds)
    yield _time("escaped", "long", "1600000000", "2020%2F09%2F13 12", encoded="true", **seconds)
    yield _time("milliseconds", "long", "1600000000123", "2020/09/13 12", "unit", timestamp__type="EPOCHMILLISECONDS", **HOURS)
    yield _time("microseconds", "long", "1600000000123456", "2020/09/13 12", "unit", timestamp__type="EPOCHMICROSECONDS",
                **HOURS)  # fmt: skip
    days = {"timestamp__type": "SCALAR", "timestamp__scalar__time__unit": "DAYS"}
    yield _time("days", "long", "18000", "2019/04/14 00", "unit", **days, **HOURS)
    yield _time("no days", "long", None, "1970/01/02 00", "unit", "null", **days, **HOURS)
    yield _time("a number without unit", "long", "1600000000", "2020/09/13 12", "unit", timestamp__type="SCALAR", **HOURS)
    yield _time("a date", DATE, "18353", "2020/04", "type", **days, **MONTHS)
    yield _time("a double", "double", "1600000000.75", "2020/09", "type", timestamp__type="UNIX_TIMESTAMP", **MONTHS)


def _texts() -> Iterator[Test]:
    offsets = {"timestamp__type": "DATE_STRING", "output__dateformat": "yyyyMMddHH",
               "input__dateformat": "yyyy-MM-dd'T'HH:mm:ssZ,yyyy-MM-dd'T'HH:mm:ss.SSSZ"}  # fmt: skip
    yield _time("a text by the second pattern", "string", "2020-04-01T13:01:33.428Z", "2020040113", "pattern", **offsets)
    yield _time("a text with an offset", "string", "2020-04-01T13:01:33-05:00", "2020040113", "zone", **offsets)
    yield _time("no text", "string", None, "1970010100", "null", **offsets)
    days = {"timestamp__type": "MIXED", "input__dateformat": "yyyy-MM-dd", **MONTHS}
    yield _time("a text among mixed values", "string", "2020-04-01", "2020/04", **days)
    yield _time("nothing among mixed values", "string", None, "1970/01", "null", **days)


def _custom() -> Iterator[Test]:
    settings = {"type": "CUSTOM", "partition": "q:simple,p:timestamp", "timestamp__type": "UNIX_TIMESTAMP",
                "output__dateformat": "yyyyMMdd"}  # fmt: skip
    both: list[Field] = [ID, ("p", "long", "1600000000"), ("q", "string", "x")]
    yield _test("a text and a time", both, "a", "x/20200913", "form", **settings)
    yield _test("a text and a time, hive style", both, "a", "q=x/p=20200913", "form", hive="true", **settings)
    nulls: list[Field] = [ID, ("p", "long", None), ("q", "string", None)]
    yield _test("two nulls", nulls, "a", f"{NULL}/19700101", "null", **settings)


def _forms() -> Iterator[Test]:
    row: list[Field] = [ID, ("ts", "long", "1"), ("p", "string", "x")]
    none = {"type": "NON_PARTITION", "partition": ""}
    yield _test("several fields without partition", row, "id:a,ts:1", "", "form", key="id,ts", **none)
    yield _test("one field without partition", row, "a", "", "form", **none)
    yield _test("one field of a global delete", row, "id:a", "", "form", type="GLOBAL_DELETE", partition="")
    yield _test("one field of a custom generator", row, "a", "x", "form", type="CUSTOM", partition="p:SIMPLE")


def _wrong() -> Iterator[Test]:
    def refused(comment: str, kind: Any, value: Any, **settings: str) -> Test:
        named: Mapping[str, str] = {"type": "TIMESTAMP", **settings}
        properties = {KEY: "id", PARTITION: "p", **{_name(name): text for name, text in named.items()}}
        fields = [list(ID), ["p", kind, value]]
        return invalid_test(comment, {"fields": fields, "properties": properties}, "no-time")

    texts = {"timestamp__type": "DATE_STRING", "input__dateformat": "yyyy-MM-dd", "output__dateformat": "yyyy"}
    yield refused("a text that is no date", "string", "nonsense", **texts)
    yield refused("an empty text", "string", "", **texts)
    mixed = {**texts, "timestamp__type": "MIXED"}
    yield refused("a number among texts", "long", "1600000000", **mixed)
    scalar = {"timestamp__type": "SCALAR", "timestamp__scalar__time__unit": "FORTNIGHTS", "output__dateformat": "yyyy"}
    yield refused("an unknown unit of time", "long", "1", **scalar)


def _halves_of_days() -> Iterator[Test]:
    """Hours from 1 to 12 with AM or PM: 12 AM is midnight, 12 PM is noon."""
    form = {"timestamp__type": "DATE_STRING", "input__dateformat": "yyyy-MM-dd hh:mm a", "output__dateformat": "yyyyMMddHH"}
    properties = {KEY: "id", PARTITION: "p", TYPE: "TIMESTAMP", **{_name(name): text for name, text in form.items()}}
    for text, hour in (("12:30 AM", "00"), ("01:30 AM", "01"), ("12:30 PM", "12"), ("11:30 PM", "23")):
        fields = [list(ID), ["p", "string", f"2020-09-13 {text}"]]
        value = {"key": "a", "partition": f"20200913{hour}"}
        yield valid_test(f"the hour {text}", {"fields": fields, "properties": properties}, value, "form")
