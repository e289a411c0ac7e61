"""Comparisons of partition columns: an engine may skip partitions, and the rows are still those that a full scan would give."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, as_arrow, row

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
