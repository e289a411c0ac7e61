"""Comparisons of partition columns: an engine may skip partitions, and the rows are still those that a full scan would give."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, as_arrow, row
from hudi_conformance.suite.support.tables.metadata_tables import LISTED, RECORDS
from hudi_conformance.suite.support.tables.written_tables import replace_size, table_folder
from hudi_reference import create_table, open_table

#: Values that contain characters with a meaning in folder names.
CITIES = ("oslo", "oslo/west", "oslo=west", "50%", "50%2F", "rio")


@BOTH_TYPES
@pytest.mark.requirements("LAY-006", "LAY-008", "MRG-015", "TYP-007")
@pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.projection", "read.filter", "merge.event-time")
@pytest.mark.parametrize(
    ("hive_style", "url_encode"),
    [
        pytest.param(False, False, marks=pytest.mark.needs("partition.plain")),
        pytest.param(True, False, marks=pytest.mark.needs("partition.hive")),
        pytest.param(False, True, marks=pytest.mark.needs("partition.url-encoded")),
        pytest.param(True, True, marks=pytest.mark.needs("partition.hive", "partition.url-encoded")),
    ],
    ids=["plain", "hive", "escaped", "hive and escaped"],
)
def test_a_comparison_finds_the_rows_of_a_partition(
    engine: Client, new_uri: Callable[[], str], type: str, hive_style: bool, url_encode: bool
) -> None:
    """LAY-008: partition values with slashes, signs and escapes are found by equality, by inequality and by an order
    comparison.
    """
    uri, program = new_uri(), Program(type, "EVENT_TIME_ORDERING", True)  # type: ignore[arg-type]
    engine.create(uri, replace(program.spec(), hive_style=hive_style, url_encode=url_encode))
    cities = CITIES if url_encode else tuple(city for city in CITIES if "/" not in city)
    for ts, value in ((2, "first"), (3, "second"), (1, "late")):
        engine.write(uri, "upsert", as_arrow([row(str(place), ts, value, city) for place, city in enumerate(cities)]))
    for city in cities:
        right = {"=": [city], "!=": [c for c in cities if c != city], "<": [c for c in cities if c < city]}
        for operator, expected in right.items():
            found = engine.read(uri, Query(columns=("city", "value"), where=(("city", operator, city),))).to_pylist()
            assert sorted((r["city"], r["value"]) for r in found) == sorted((c, "second") for c in expected), (operator, city)


#: What each operator says of two texts.
HOLDS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": lambda city, value: city == value,
    "!=": lambda city, value: city != value,
    ">": lambda city, value: city > value,
    "<=": lambda city, value: city <= value,
    "in": lambda city, value: city in value,
    "<": lambda city, value: city < value,
    ">=": lambda city, value: city >= value,
}


def write_partitions(uri: str, cities: Sequence[str], **settings: Any) -> None:
    """Write a table with the reference, one row for each city."""
    spec = Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec()
    create_table(uri, name=spec.name, schema=dict(spec.schema), record_key=spec.record_key, partition=spec.partition,
                 ordering=spec.ordering, **settings)  # fmt: skip
    open_table(uri).insert(as_arrow([row(city, 1, "x", city) for city in cities]))


def check_filter(engine: Client, uri: str, cities: Sequence[str], where: tuple[str, Any]) -> None:
    """A query with this comparison of the city returns the cities for which it holds."""
    operator, value = where
    found = engine.read(uri, Query(columns=("city",), where=(("city", operator, value),))).to_pylist()
    assert sorted(one["city"] for one in found) == [city for city in cities if HOLDS[operator](city, value)], where


@pytest.mark.requirements("LAY-008", "MRG-015")
@pytest.mark.needs("read.snapshot", "read.projection", "read.filter", "partition.plain")
@pytest.mark.parametrize(
    "where", [("=", "oslo/west"), ("in", ["oslo/west", "paris"]), (">", "oslo+"), ("<=", "oslo/west"), ("!=", "oslo")]
)
def test_a_comparison_finds_values_that_are_several_folders(
    engine: Client, new_uri: Callable[[], str], where: tuple[str, Any]
) -> None:
    """LAY-008: without escapes, a value with a slash is a folder in a folder. The name of the outer folder alone decides no
    comparison.
    """
    uri, cities = new_uri(), ("oslo/west", "rio")
    write_partitions(uri, cities)
    check_filter(engine, uri, cities, where)


@pytest.mark.requirements("LAY-008", "LAY-009", "MRG-015")
@pytest.mark.needs("read.snapshot", "read.projection", "read.filter", "partition.hive")
@pytest.mark.parametrize(
    "where",
    [
        ("=", "oslo/west"),
        pytest.param(("in", ["oslo/west", "paris"]), marks=pytest.mark.needs("read.filter.in")),
        ("!=", "oslo"),
    ],
)
def test_a_comparison_finds_values_of_several_folders_with_the_name(
    engine: Client, new_uri: Callable[[], str], where: tuple[str, Any]
) -> None:
    """LAY-009: the outer folder has the name of the column in front of the beginning of the value. The folder below it has the
    rest of the value, and no name.
    """
    uri, cities = new_uri(), ("oslo/west", "rio")
    write_partitions(uri, cities, hive_style=True)
    check_filter(engine, uri, cities, where)


@pytest.mark.requirements("LAY-008", "MRG-015")
@pytest.mark.needs("read.snapshot", "read.projection", "read.filter", "read.filter.null", "partition.plain")
def test_a_test_for_null_finds_rows_in_a_folder_with_the_name_of_a_value(engine: Client, new_uri: Callable[[], str]) -> None:
    """LAY-008: old releases stored rows without a partition value in the folder `default`. The rows have null in their
    partition column, so that a test for null finds them, whatever the name of their folder.
    """
    uri = new_uri()
    write_partitions(uri, ("default", "oslo"))
    (path,) = (table_folder(uri) / "default").glob("*.parquet")
    rows, length = pq.read_table(path), path.stat().st_size
    place = rows.column_names.index("city")
    pq.write_table(rows.set_column(place, rows.schema.field("city"), pa.nulls(rows.num_rows, pa.string())), path)
    replace_size(uri, path, length)
    for operator, folder in (("is", "default"), ("is not", "oslo")):
        where = (("city", operator, None),)
        found = engine.read(uri, Query(columns=("_hoodie_partition_path",), where=where)).column(0).to_pylist()
        assert found == [folder], where


@pytest.mark.versions(9)
@pytest.mark.requirements("LAY-008", "LAY-025")
@pytest.mark.needs("read.snapshot", "read.projection", "read.filter", "partition.plain", "table-version.9")
@pytest.mark.parametrize("where", [("=", "2026-07-03"), ("in", ["2026-07-03"]), (">", "2026-07-02"), ("<=", "2026-07-03")])
def test_a_comparison_finds_dates_that_are_three_folders(
    engine: Client, new_uri: Callable[[], str], where: tuple[str, Any]
) -> None:
    """LAY-025: a date is found, although its folders are separated by slashes and the value has hyphens."""
    uri, cities = new_uri(), ("2025-12-31", "2026-07-03")
    separated = {"hoodie.datasource.write.slash.separated.date.partitioning": "true"}
    write_partitions(uri, cities, version=9, properties=separated)
    check_filter(engine, uri, cities, where)


@pytest.mark.requirements("LAY-008")
@pytest.mark.needs("read.snapshot", "read.projection", "read.filter", "partition.url-encoded")
def test_a_comparison_finds_a_value_that_the_properties_do_not_call_escaped(engine: Client, new_uri: Callable[[], str]) -> None:
    """LAY-008: a writer was told to escape partition values, and the properties of the table do not say so. The files have the
    value as it is, and a comparison with it finds the row.
    """
    uri, cities = new_uri(), ("oslo=west", "rio")
    write_partitions(uri, cities, url_encode=True)
    properties = table_folder(uri) / ".hoodie" / "hoodie.properties"
    stored = properties.read_text()
    assert "partitionpath.urlencode=true" in stored
    properties.write_text(stored.replace("partitionpath.urlencode=true", "partitionpath.urlencode=false"))
    check_filter(engine, uri, cities, ("=", "oslo=west"))


#: Partitions of two levels, and comparisons of one level or of both.
PLACES = (("no", "oslo"), ("no", "bergen"), ("br", "rio"), ("br", "oslo"))
COMPARED: tuple[tuple[tuple[str, str, Any], ...], ...] = (
    (("value", "=", "no"),),
    (("city", "=", "oslo"),),
    (("value", "<", "no"),),
    (("value", "in", ["no", "se"]), ("city", "!=", "oslo")),
    (("city", ">=", "oslo"), ("value", "=", "br")),
    (("value", "=", "se"),),
)


@pytest.mark.requirements("LAY-008", "LAY-009", "MRG-015")
@pytest.mark.needs("read.snapshot", "read.projection", "read.filter", "partition.plain", "partition.several-levels")
@pytest.mark.parametrize("hive_style", [False, True], ids=["plain", "hive"])
@pytest.mark.parametrize("where", COMPARED, ids=lambda where: " and ".join(f"{c} {o} {v}" for c, o, v in where))
def test_a_comparison_of_one_of_two_levels(
    engine: Client, new_uri: Callable[[], str], where: tuple[tuple[str, str, Any], ...], hive_style: bool
) -> None:
    """LAY-009: a partition has two folders. A comparison of the outer or of the inner one, or of both, finds its rows."""
    uri, spec = new_uri(), Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec()
    table = create_table(uri, name=spec.name, schema=dict(spec.schema), record_key=spec.record_key, ordering=spec.ordering,
                         partition=("value", "city"), hive_style=hive_style)  # fmt: skip
    table.insert(as_arrow([row(f"{country} {city}", 1, country, city) for country, city in PLACES]))
    held = [all(HOLDS[o](city if c == "city" else country, v) for c, o, v in where) for country, city in PLACES]
    found = engine.read(uri, Query(columns=("id",), where=where)).column("id").to_pylist()
    assert sorted(found) == sorted(" ".join(place) for place, is_held in zip(PLACES, held, strict=True) if is_held)


@BOTH_TYPES
@pytest.mark.requirements("LAY-008", "MRG-015", "TYP-007")
@pytest.mark.needs("read.snapshot", "read.projection", "read.filter", "partition.plain")
def test_a_comparison_finds_a_record_that_stayed_in_its_partition(
    engine: Client, new_uri: Callable[[], str], type: str
) -> None:
    """LAY-008: a writer with a record index updated a record with a row that names another partition, and the record stayed
    where it was. The file has the value of the row, so that a comparison with that value finds the record.
    """
    uri, spec = new_uri(), Program(type, "EVENT_TIME_ORDERING", True).spec()  # type: ignore[arg-type]
    create_table(uri, name=spec.name, schema=dict(spec.schema), record_key=spec.record_key, partition=("value",),
                 ordering=spec.ordering, table_type=spec.type)  # fmt: skip
    indexed = open_table(uri, options={**LISTED, **RECORDS})
    indexed.upsert(as_arrow([row("a", 1, "oslo", "oslo"), row("b", 1, "oslo", "oslo"), row("c", 1, "lima", "lima")]))
    indexed.upsert(as_arrow([row("a", 2, "oslo", "rio"), row("d", 2, "rio", "rio")]))
    properties = table_folder(uri) / ".hoodie" / "hoodie.properties"
    stored = properties.read_text()
    assert "hoodie.table.partition.fields=value" in stored
    properties.write_text(stored.replace("hoodie.table.partition.fields=value", "hoodie.table.partition.fields=city"))
    cities = {"a": "rio", "b": "oslo", "c": "lima", "d": "rio"}
    for operator, value in (("=", "rio"), ("=", "oslo"), ("in", ["rio", "paris"]), (">=", "oslo"), ("!=", "oslo")):
        found = engine.read(uri, Query(columns=("id", "city"), where=(("city", operator, value),))).to_pylist()
        right = [(id_, city) for id_, city in cities.items() if HOLDS[operator](city, value)]
        assert sorted((one["id"], one["city"]) for one in found) == right, (operator, value)
