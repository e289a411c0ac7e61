"""Dates before 1582 in Parquet files of Spark, which may be those of the Julian calendar.

Spark stores such dates if `spark.sql.parquet.datetimeRebaseModeInWrite` is LEGACY, and says so in the footer. A stored number
of days then has the year, month and day of the Julian calendar; readers return the same year, month and day.
"""

from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow.types as pt

from hudi_reference.errors import UnsupportedTableFeature
from hudi_reference.requirement import implements

#: The entries of a footer that say so, for dates and timestamps, and for timestamps of 96 bits.
_MARKS = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")
#: The first stored days, since 1970, of parts of the Julian calendar, from its year 1 on, and what is added to their days. The
#: difference changes at the end of February of years that are leap years in the Julian calendar alone.
_FIRST = np.array([
    -719164, -682945, -646420, -609895, -536845, -500320, -463795,
    -390745, -354220, -317695, -244645, -208120, -171595, -141427,
])  # fmt: skip
_ADDED = np.array([2, 1, 0, -1, -2, -3, -4, -5, -6, -7, -8, -9, -10, 0])
#: The entry with the time zone of the writer, and names of the zone in which a day of both calendars begins at the same time.
_ZONE, _UTC = b"org.apache.spark.timeZone", (b"UTC", b"Etc/UTC", b"GMT", b"Z")
#: Before this time the offsets of other zones differ in the two calendars.
_SAME_TIMES = datetime(1900, 1, 1)
_SECONDS_A_DAY = 86_400
_UNITS_A_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@implements("BF-002")
def with_gregorian_dates(rows: pa.Table, footer: pq.FileMetaData, path: str) -> pa.Table:
    """The rows of a file with the dates and times that were written.

    Raises UnsupportedTableFeature for timestamps before 1900 of a writer in another time zone than UTC.
    """
    old = [field for field in rows.schema if pt.is_date32(field.type) or pt.is_timestamp(field.type)]
    entries = (footer.metadata or {}) if old else {}
    if not any(mark in entries for mark in _MARKS):
        return rows
    for place, field in enumerate(rows.schema):
        if pt.is_date32(field.type):
            rows = rows.set_column(place, field, _gregorian(rows.column(place), pa.int32(), 1))
        elif pt.is_timestamp(field.type) and entries.get(_ZONE) in _UTC:
            units = _SECONDS_A_DAY * _UNITS_A_SECOND[field.type.unit]
            rows = rows.set_column(place, field, _gregorian(rows.column(place), pa.int64(), units))
        elif pt.is_timestamp(field.type):
            _check_timestamps(rows.column(place), field.name, path)
    return rows


def _check_timestamps(column: pa.ChunkedArray, name: str, path: str) -> None:
    if pc.any(pc.less(column, pa.scalar(_SAME_TIMES).cast(column.type))).as_py():
        raise UnsupportedTableFeature(
            "a timestamp of the Julian calendar", rule="BF-002", path=path, found=str(pc.min(column)),
            expected=f"no times before {_SAME_TIMES.year} in {name}, or the time zone UTC in the footer",
            remedy="read the table with Spark, or write the rows again without "
            "spark.sql.parquet.datetimeRebaseModeInWrite=LEGACY",
        )  # fmt: skip


def _gregorian(stored: pa.ChunkedArray, number: pa.DataType, units_a_day: int) -> pa.ChunkedArray:
    """Stored dates or times with the days of the Gregorian calendar; `number` is the type of integers of their width."""
    numbers = stored.cast(number)
    places = np.searchsorted(_FIRST, numbers.fill_null(0).to_numpy() // units_a_day, "right") - 1
    added = pa.array(np.where(places < 0, 0, _ADDED[places]) * units_a_day, number)
    return pc.add(numbers, added).cast(stored.type)
