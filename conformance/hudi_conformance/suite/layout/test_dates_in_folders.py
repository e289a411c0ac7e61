"""Dates that take three folders, in tables whose properties do not have the setting.

The DataFrame writer of Apache Hudi 1.2.0 does not store the setting. It stores a class that extracts partition values, from
which the setting follows, and with folders named after the column not even this (ER-275).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, as_arrow, row
from hudi_conformance.suite.support.tables.written_tables import Type, table_folder
from hudi_reference import create_table, open_table

pytestmark = pytest.mark.versions(9)

SETTING = "hoodie.datasource.write.slash.separated.date.partitioning"
EXTRACTOR = "hoodie.table.partition_extractor_class=org.apache.hudi.hive.SlashEncodedDayPartitionValueExtractor"
DAYS = ("2025-12-31", "2026-07-03")
#: The operator and the value of a comparison, and the days for which it holds.
COMPARED: Mapping[str, tuple[str, Any, Sequence[str]]] = {
    "equal": ("=", "2026-07-03", ["2026-07-03"]),
    "different": ("!=", "2026-07-03", ["2025-12-31"]),
    "not later": ("<=", "2026-07-03", ["2025-12-31", "2026-07-03"]),
    "listed": ("in", ["2025-12-31"], ["2025-12-31"]),
}


def table_without_setting(uri: str, table_type: Type, days: Sequence[str], setting: str, *, told: bool = True) -> None:
    """A table with one row for each day, which the reference makes with the setting; its properties have only the class, if
    `told`.
    """
    spec = Program(table_type, "EVENT_TIME_ORDERING", True).spec()
    create_table(uri, name=spec.name, schema=dict(spec.schema), record_key=spec.record_key, partition=spec.partition,
                 ordering=spec.ordering, table_type=table_type, version=9, properties={SETTING: setting})  # fmt: skip
    open_table(uri).insert(as_arrow([row(str(place), 1, "first", day) for place, day in enumerate(days)]))
    path = table_folder(uri) / ".hoodie" / "hoodie.properties"
    kept = [line for line in path.read_text(encoding="latin-1").splitlines() if not line.startswith(SETTING)]
    path.write_text("\n".join([*kept, *([EXTRACTOR] if told else []), ""]), encoding="latin-1")


@BOTH_TYPES
@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("compared", COMPARED)
@pytest.mark.requirements("LAY-008", "LAY-025")
@pytest.mark.needs("read.snapshot", "read.projection", "read.filter", "read.filter.in", "partition.plain", "table-version.9")
def test_a_comparison_finds_dates_without_the_setting(
    engine: Client, new_uri: Callable[[], str], type: Type, compared: str, told: bool
) -> None:
    """LAY-025: a date is found below its three folders, and queries return the stored date."""
    uri = new_uri()
    table_without_setting(uri, type, DAYS, "true", told=told)
    operator, value, expected = COMPARED[compared]
    found = engine.read(uri, Query(columns=("city",), where=(("city", operator, value),))).to_pylist()
    assert sorted(one["city"] for one in found) == expected


@BOTH_TYPES
@pytest.mark.requirements("LAY-008", "LAY-025")
@pytest.mark.needs("read.snapshot", "read.projection", "read.filter", "partition.plain", "table-version.9")
def test_a_comparison_finds_values_with_slashes(engine: Client, new_uri: Callable[[], str], type: Type) -> None:
    """LAY-008: the rows have the path as their value, which is what counts."""
    uri = new_uri()
    table_without_setting(uri, type, [day.replace("-", "/") for day in DAYS], "false")
    found = engine.read(uri, Query(columns=("city",), where=(("city", "=", "2026/07/03"),))).to_pylist()
    assert [one["city"] for one in found] == ["2026/07/03"]


@BOTH_TYPES
@pytest.mark.requirements("LAY-025", "PROP-017")
@pytest.mark.needs("write.upsert", "read.snapshot", "read.projection", "merge.event-time", "partition.plain", "table-version.9")
def test_an_upsert_finds_the_row_of_a_date(engine: Client, new_uri: Callable[[], str], type: Type) -> None:
    """LAY-025: a writer that is not told the setting stores a row of the date in the folders of the date, so that the record
    is not in the table twice.
    """
    uri = new_uri()
    table_without_setting(uri, type, DAYS, "true")
    engine.write(uri, "upsert", as_arrow([row("1", 2, "second", "2026-07-03"), row("2", 1, "new", "2026-07-03")]))
    found = engine.read(uri, Query(columns=("id", "value"))).to_pylist()
    assert sorted((one["id"], one["value"]) for one in found) == [("0", "first"), ("1", "second"), ("2", "new")]
    folders = {
        one.parent.relative_to(table_folder(uri)).as_posix()
        for one in table_folder(uri).glob("2*/**/.hoodie_partition_metadata")
    }
    assert folders == {"2025/12/31", "2026/07/03"}
