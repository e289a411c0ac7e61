"""Functions of expression indexes: the values of Apache Hudi 1.0.2 on Spark 3.5, and values worked out by hand."""

from collections.abc import Iterator
from typing import Any

from tools.corpus.case import VectorCase
from tools.corpus.vectors.vector_tests import HAND, HUDI, Test, invalid_test, number_tests, valid_test

#: 2019-12-31 23:30:00.123456, 1969-12-31 23:59:59.5, 2020-06-30 12:00:00, 2020-01-01 00:00:00 and 2020-02-29 13:00:00
TIMES = (1577835000123456, -500000, 1593518400000000, 1577836800000000, 1582981200000000, None)
#: 2020-02-29, 1969-12-31, 2021-01-01
DATES = (18321, -1, 18628, None)
TEXTS = (" Abc ", "xaY", "\u00c4\u00df", "", None)
SECONDS = (1577840523, -1, 0, None)


def function_case(name: str, function: str, rule: str, says: str, tests: list[Test], advice: str, *more: str) -> VectorCase:
    """A case of one function."""
    return VectorCase(
        area="hashing",
        name=name,
        requirements=[rule, *more],
        says=says,
        needs=["compute.expression-index.values"],
        flags=["silent-stale"],
        function="expression-index.values",
        derived_by=[HUDI, HAND],
        notes={"null": "A null has no value."},
        tests=number_tests(tests),
        if_it_fails=advice,
    )


def function_test(comment: str, function: str, kind: str, values: Any, expected: Any, **options: str) -> Test:
    """A function of values, as stored in the index."""
    given = {"function": function, "options": options, "type": kind, "values": list(values)}
    return valid_test(comment, given, list(expected))


def refused_test(comment: str, function: str, kind: str, values: Any, **options: str) -> Test:
    """A function that cannot be indexed."""
    return invalid_test(comment, {"function": function, "options": options, "type": kind, "values": list(values)})


def cases() -> Iterator[VectorCase]:
    """One case for each function that the specification names, one for the others, and one for those that are refused."""
    yield function_case(
        "index-function-identity", "identity", "IDX-036", "The index function identity gives the value itself.",
        [
            function_test("texts", "identity", "string", TEXTS, TEXTS),
            function_test("numbers", "identity", "long", (5, -1, None), (5, -1, None)),
            function_test("fractions", "identity", "double", (1.5, -0.25), (1.5, -0.25)),
            function_test("timestamps", "identity", "timestamp", TIMES, TIMES),
            function_test("dates", "identity", "date", DATES, DATES),
        ],
        "Store the value as it is, with its type.",
    )  # fmt: skip
    yield function_case(
        "index-function-year", "year", "IDX-037", "The index function year gives the year of a timestamp or date in UTC.",
        [
            function_test("around New Year and before 1970", "year", "timestamp", TIMES, (2019, 1969, 2020, 2020, 2020, None)),
            function_test("dates", "year", "date", DATES, (2020, 1969, 2021, None)),
        ],
        "Take the calendar year in the session's time zone, here UTC.",
    )  # fmt: skip
    yield function_case(
        "index-function-month", "month", "IDX-038", "The index function month gives the month of the year, from 1.",
        [
            function_test("timestamps", "month", "timestamp", TIMES, (12, 12, 6, 1, 2, None)),
            function_test("dates", "month", "date", DATES, (2, 12, 1, None)),
        ],
        "Count months from 1 to 12 within the year.",
    )  # fmt: skip
    yield function_case(
        "index-function-day", "day", "IDX-039", "The index function day gives the day of the month.",
        [
            function_test("timestamps", "day", "timestamp", TIMES, (31, 31, 30, 1, 29, None)),
            function_test("dates", "day", "date", DATES, (29, 31, 1, None)),
        ],
        "Count days within the month, from 1.",
    )  # fmt: skip
    yield function_case(
        "index-function-hour", "hour", "IDX-040", "The index function hour gives the hour of the day, from 0 to 23.",
        [function_test("timestamps", "hour", "timestamp", TIMES, (23, 23, 12, 0, 13, None))],
        "Use a clock of 24 hours.",
    )  # fmt: skip
    yield function_case(
        "index-function-lower", "lower", "IDX-041", "The index function lower gives the text in lower case.",
        [
            function_test("mixed case", "lower", "string", TEXTS, (" abc ", "xay", "\u00e4\u00df", "", None)),
            function_test("an I does not depend on the locale", "lower", "string", ("TITLE", "I"), ("title", "i")),
        ],
        "Convert without a locale.",
    )  # fmt: skip
    yield function_case(
        "index-function-from-unixtime", "from_unixtime", "IDX-042",
        "The index function from_unixtime gives a text for seconds since 1970 in the format of the definition.",
        [
            function_test("without a format", "from_unixtime", "long", SECONDS,
                 ("2020-01-01 01:02:03", "1969-12-31 23:59:59", "1970-01-01 00:00:00", None)),
            function_test("a day", "from_unixtime", "long", SECONDS, ("2020-01-01", "1969-12-31", "1970-01-01", None),
                 format="yyyy-MM-dd"),
            function_test("an hour", "from_unixtime", "long", SECONDS[:2], ("2020-01-01 01", "1969-12-31 23"),
                format="yyyy-MM-dd HH"),
            function_test("a quoted text", "from_unixtime", "long", SECONDS[:1], ("20T01",), format="yy'T'MM"),
        ],
        "Apply the format of the definition; without one it is yyyy-MM-dd HH:mm:ss.",
    )  # fmt: skip
    yield function_case(
        "index-functions-deployed", "upper", "IDX-034", "Deployed writers index further functions of one column.",
        [
            function_test("upper", "upper", "string", TEXTS, (" ABC ", "XAY", "\u00c4SS", "", None)),
            function_test("trim removes spaces", "trim", "string", TEXTS, ("Abc", "xaY", "\u00c4\u00df", "", None)),
            function_test("ltrim", "ltrim", "string", TEXTS[:1], ("Abc ",)),
            function_test("rtrim", "rtrim", "string", TEXTS[:1], (" Abc",)),
            function_test("length in characters", "length", "string", TEXTS, (5, 3, 2, 0, None)),
            function_test("substring", "substring", "string", TEXTS, ("Ab", "aY", "\u00df", "", None), pos="2", len="2"),
            function_test("substring from the end", "substring", "string", TEXTS[:3], ("c ", "aY", "\u00c4\u00df"), pos="-2",
                len="2"),
            function_test("substring from before the text", "substring", "string", TEXTS, (" Ab", "x", "", "", None), pos="-5",
                len="3"),
            function_test("substring from the place 0", "substring", "string", TEXTS, (" A", "xa", "\u00c4\u00df", "", None),
                pos="0", len="2"),
            function_test("date_format", "date_format", "timestamp", TIMES[:2], ("2019-12", "1969-12"), format="yyyy-MM"),
            function_test("to_date of a text", "to_date", "string", ("2020-02-29", "1969-12-31", "bad"), (18321, -1, None),
                 format="yyyy-MM-dd"),
            function_test("to_date of a timestamp", "to_date", "timestamp", TIMES[:3], (18261, -1, 18443)),
            function_test("to_timestamp of a text", "to_timestamp", "string", ("2020-02-29", "bad"), (1582934400000000, None),
                 format="yyyy-MM-dd"),
            function_test("unix_timestamp rounds towards 1970", "unix_timestamp", "timestamp", TIMES[:2], (1577835000, 0)),
            function_test("date_add", "date_add", "date", DATES, (18331, 9, 18638, None), days="10"),
            function_test("date_sub", "date_sub", "date", DATES, (18311, -11, 18618, None), days="10"),
        ],
        "Evaluate them as Spark's functions of these names.",
    )  # fmt: skip
    yield function_case(
        "index-functions-refused", "concat", "IDX-034",
        "Other functions, and options that a function does not take, are refused.",
        [
            refused_test("an unlisted function", "concat", "string", ("a",)),
            refused_test("a function of several values", "coalesce", "string", ("a",)),
            refused_test("an option of another function", "lower", "string", ("a",), format="yyyy"),
            refused_test("no function", "", "string", ("a",)),
        ],
        "Check the name and the options of the function before anything is stored.",
    )  # fmt: skip
