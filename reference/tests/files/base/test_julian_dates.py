"""Parquet files of Spark with dates of the Julian calendar."""

import io
from datetime import UTC, date, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_reference.errors import UnsupportedTableFeature
from hudi_reference.files.base_file import read_base_file
from hudi_reference.storage import MemoryStorage

PATH = "f0_0-0-0_20260101000000000.parquet"
DATE, INT96, ZONE = (f"org.apache.spark.{name}" for name in ("legacyDateTime", "legacyINT96", "timeZone"))


def stored(column: pa.Array, *marks: str, **entries: str) -> MemoryStorage:
    """A base file with one column, and with these marks and other entries in its footer."""
    out, storage = io.BytesIO(), MemoryStorage()
    rows = pa.table({"c": column})
    pq.write_table(rows.replace_schema_metadata({**dict.fromkeys(marks, ""), **entries}), out)
    storage.put(PATH, out.getvalue())
    return storage


def julian_days(day: date) -> int:
    """The days from 1970 to the day of the Julian calendar with this year, month and day."""
    year, month = (day.year - 1, day.month + 9) if day.month < 3 else (day.year, day.month - 3)
    # Days since March 1st of year 0, of which a year has 365.25 on average, and a month 30.6 from March on.
    return year * 1461 // 4 + (153 * month + 2) // 5 + day.day - 1 - 719470


def test_dates_have_the_year_month_and_day_that_were_written() -> None:
    """BF-002: each day from year 1 to the change of the calendar, and days after it, which both calendars share."""
    first, change = date(1, 1, 1), date(1582, 10, 15)
    old = [first + timedelta(number) for number in range((change - first).days - 11)]
    new = [change, date(1970, 1, 1), date(2026, 2, 28)]
    numbers = [*map(julian_days, old), *((day - date(1970, 1, 1)).days for day in new), None]
    storage = stored(pa.array(numbers, pa.int32()).cast(pa.date32()), DATE)
    assert read_base_file(storage, PATH).column("c").to_pylist() == [*old, *new, None]


def test_dates_of_other_files_are_not_changed() -> None:
    """BF-002: without the mark dates are those of the Gregorian calendar, also before it was introduced."""
    day = date(1500, 3, 1)
    assert read_base_file(stored(pa.array([day])), PATH).column("c").to_pylist() == [day]


def test_times_of_a_writer_in_utc_have_the_day_that_was_written() -> None:
    """BF-002: the day is converted as a date, and the time of day stays."""
    days, clock = [date(1, 1, 1), date(1500, 3, 1), date(1582, 10, 4), date(1969, 12, 31)], timedelta(hours=23, microseconds=7)
    since = [*map(julian_days, days[:3]), -1]
    for unit, micros in {"us": 1, "ms": 1000}.items():
        numbers = [(number * 86_400_000_000 + clock // timedelta(microseconds=1)) // micros for number in since]
        column = pa.array([*numbers, None], pa.int64()).cast(pa.timestamp(unit, "UTC"))
        found = read_base_file(stored(column, DATE, **{ZONE: "UTC"}), PATH).column("c").to_pylist()
        assert [one and one.date() for one in found] == [*days, None]
        assert {one.hour for one in found if one} == {23}


@pytest.mark.parametrize("mark", [DATE, INT96])
def test_old_timestamps_are_refused(mark: str) -> None:
    """BF-002: the difference depends on the time zone of the writer; times from 1900 on are the same."""
    good, old = (pa.array([datetime(year, 1, 1, tzinfo=UTC), None], pa.timestamp("us", "UTC")) for year in (1900, 1899))
    assert read_base_file(stored(good, mark), PATH).column("c").to_pylist()[0].year == 1900
    for entries in ({}, {ZONE: "Europe/Oslo"}):
        with pytest.raises(UnsupportedTableFeature, match="Julian"):
            read_base_file(stored(old, mark, **entries), PATH)
    assert read_base_file(stored(old), PATH).column("c").to_pylist()[0].year == 1899
