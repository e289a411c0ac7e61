"""Instant times as points in time."""

from collections.abc import Iterator
from datetime import UTC, datetime

from tools.corpus.case import VectorCase
from tools.corpus.vectors.vector_tests import HAND, HUDI, Test, invalid_test, number_tests, optional_test, valid_test


def cases() -> Iterator[VectorCase]:
    """Instant times."""
    yield VectorCase(
        area="names",
        name="instant-times",
        requirements=["IDX-020"],
        says="An instant time of 17 or 14 digits is converted to milliseconds for the record index.",
        needs=["compute.instant.milliseconds"],
        flags=["wrong-time"],
        errata=["ER-065"],
        function="instant.milliseconds",
        derived_by=[HUDI, "the calendar", HAND],
        notes={
            "seconds": "14 digits denote the last millisecond of their second, not the first.",
            "leap-day": "29 February exists in years that 4 divides, of centuries only in those that 400 divides.",
            "before-the-epoch": "Times before 1970 are negative.",
            "no-such-day": "A day or time that does not exist; a lenient parser silently converts it to another one.",
            "leap-second": "Second 60 is not accepted in this format.",
            "end-of-day": "Hour 24 is not accepted in this format; some parsers convert it to the next day.",
            "reserved": (
                "Reserved times (before any commit, bootstraps, first commits of the metadata table) are not calendar times."
            ),
            "more-digits": "The metadata table once added three digits; they are not part of the time.",
            "not-digits": "Only ASCII digits.",
        },
        tests=number_tests(_valid(), _lenient(), _invalid()),
        if_it_fails="Read fixed fields yyyyMMddHHmmssSSS in UTC; extend 14 digits by 999; refuse text that is not a date.",
    )


def _at(instant: str, expected: str) -> tuple[dict[str, str], str]:
    return {"instant": instant}, expected


def _calendar(instant: str) -> tuple[dict[str, str], str]:
    """The value, computed by the calendar of Python's standard library."""
    moment = datetime.strptime(instant[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    return {"instant": instant}, str(int(moment.timestamp()) * 1000 + int(instant[14:17] or "999"))


def _valid() -> Iterator[Test]:
    yield valid_test("observed in a table of Apache Hudi", *_at("20251220210108078", "1766264468078"))
    yield valid_test("the last millisecond of a leap day", *_at("20240229235959999", "1709251199999"), "leap-day")
    yield valid_test("midnight", *_at("20240101000000000", "1704067200000"))
    yield valid_test("14 digits", *_at("20240101000000", "1704067200999"), "seconds")
    yield valid_test("14 digits, the end of a day", *_at("20240229235959", "1709251199999"), "seconds", "leap-day")
    yield valid_test("the epoch", *_at("19700101000000000", "0"))
    yield valid_test("the epoch in seconds", *_at("19700101000000", "999"), "seconds")
    yield valid_test("one millisecond after the epoch", *_at("19700101000000001", "1"))
    yield valid_test("one millisecond before the epoch", *_at("19691231235959999", "-1"), "before-the-epoch")
    yield valid_test("the last second before the epoch", *_at("19691231235959", "-1"), "before-the-epoch", "seconds")
    yield valid_test("a day before the epoch", *_at("19691231000000000", "-86400000"), "before-the-epoch")
    yield valid_test("past 31 bits of seconds", *_at("20380119031408000", "2147483648000"))
    yield valid_test("past 32 bits of seconds", *_at("21060207062816000", "4294967296000"))
    for comment, instant in {
        "29 February 2000": "20000229000000000",
        "28 February 2100": "21000228235959999",
        "1 March 2100": "21000301000000000",
        "1900, no leap year": "19000301000000000",
        "the last day of a year": "20261231235959999",
        "the first day of the year 1": "00010101000000000",
        "the last millisecond of the year 9999": "99991231235959999",
        "milliseconds with leading zeros": "20250101000000007",
        "one hour before summer time in Europe": "20250330005959999",
        "an hour that summer time skips in Europe": "20250330023000000",
        "an hour that is there twice in Europe": "20251026023000000",
        "an hour that summer time skips in North America": "20250309023000000",
    }.items():
        flags = [flag for flag, day in (("leap-day", "0229"), ("before-the-epoch", "19000301")) if day in instant]
        yield valid_test(comment, *_calendar(instant), *flags)


def _lenient() -> Iterator[Test]:
    yield optional_test("three more digits", *_at("20240101000000000001", "1704067200000"), "more-digits")
    yield optional_test("one more digit", *_at("202401010000000009", "1704067200000"), "more-digits")
    yield optional_test("hour 24", *_at("20250101240000000", "1735776000000"), "end-of-day")
    yield optional_test("30 February", *_at("20250230000000000", "1740700800000"), "no-such-day")
    yield optional_test("29 February of no leap year", *_at("20250229000000000", "1740700800000"), "no-such-day", "leap-day")
    yield optional_test("29 February 1900", *_at("19000229000000000", "-2203977600000"), "no-such-day", "leap-day")
    yield optional_test("31 April", *_at("20250431000000000", "1745971200000"), "no-such-day")
    yield optional_test("before any commit", *_at("00000000000000", "0"), "reserved")
    yield optional_test("a bootstrap of metadata", *_at("00000000000001", "1"), "reserved")
    yield optional_test("a full bootstrap", *_at("00000000000002", "2"), "reserved")


def _invalid() -> Iterator[Test]:
    yield invalid_test("first commit of the metadata table", {"instant": "00000000000000000"}, "reserved")
    yield invalid_test("a further commit of that kind", {"instant": "00000000000000003"}, "reserved")
    for comment, instant, flag in (
        ("month 13", "20251301000000000", "no-such-day"),
        ("month 0", "20250001000000000", "no-such-day"),
        ("day 32", "20250132000000000", "no-such-day"),
        ("day 0", "20250100000000000", "no-such-day"),
        ("hour 25", "20250101250000000", "no-such-day"),
        ("minute 60", "20250101006000000", "no-such-day"),
        ("second 60 of a leap second", "20161231235960000", "leap-second"),
        ("second 60 in 14 digits", "20161231235960", "leap-second"),
        ("second 61", "20250101000061000", "no-such-day"),
    ):
        yield invalid_test(comment, {"instant": instant}, flag)
    for comment, instant in {
        "nothing": "",
        "one digit": "0",
        "8 digits, a day": "20250101",
        "13 digits": "2025010100000",
        "15 digits": "202501010000000",
        "16 digits": "2025010100000000",
        "a day in ISO form": "2025-01-01T00:00:00.000Z",
        "an instant with its completion time": "20250101000000000_20250101000001000",
        "a letter": "2025010100000000a",
        "a sign": "-0250101000000000",
        "blanks around it": " 20250101000000000 ",
    }.items():
        yield invalid_test(comment, {"instant": instant}, "not-digits" if len(instant) > 16 else "no-such-day")
    yield invalid_test("digits that are not ASCII", {"instant": "٢٠٢٥٠١٠١٠٠٠٠٠٠٠٠٠"}, "not-digits")
    yield invalid_test("a line break behind it", {"instant": "20250101000000000\n"}, "not-digits")
