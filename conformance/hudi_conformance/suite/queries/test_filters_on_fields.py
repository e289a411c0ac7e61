"""Comparisons of fields of structs: the rows are those of a full scan, whether the field has statistics or not."""

from collections.abc import Callable, Mapping
from operator import eq, ge, gt, lt, ne
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES
from hudi_conformance.suite.support.tables.clustered_tables import NewUri, Type
from hudi_conformance.suite.support.tables.metadata_tables import PREFIX, values_where

#: A struct with a struct inside; the same names are used for other columns of the table.
INNER = {"type": "record", "name": "inner", "fields": [{"name": "ts", "type": ["null", "long"], "default": None}]}
PLACE = {
    "type": "record",
    "name": "place",
    "fields": [{"name": "id", "type": "string"}, {"name": "x", "type": "int"}, {"name": "inner", "type": INNER}],
}
ARROW = pa.schema(
    {
        "id": pa.string(),
        "p": pa.string(),
        "ts": pa.int64(),
        "place": pa.struct({"id": pa.string(), "x": pa.int32(), "inner": pa.struct({"ts": pa.int64()})}),
    }
)
STATISTICS = {
    f"{PREFIX}enable": "true",
    f"{PREFIX}index.column.stats.enable": "true",
    f"{PREFIX}index.column.stats.column.list": "id,place.x,place.inner.ts",
}
HOLDS: Mapping[str, Callable[[Any, Any], bool]] = {"=": eq, "!=": ne, "<": lt, ">": gt, ">=": ge}


def record(key: str, ts: int, place: tuple[str, int, int | None] | None) -> dict[str, Any]:
    """A row; the struct has its fields `id`, `x` and `inner.ts` in this order."""
    found = None if place is None else {"id": place[0], "x": place[1], "inner": {"ts": place[2]}}
    return {"id": key, "p": "p" if key < "c" else "q", "ts": ts, "place": found}


#: The values of a, b and c move between the ranges of files; the field of d is null. Outside of the struct the names have
#: other values.
FIRST = (
    record("a", 1, ("b", 1, 10)),
    record("b", 1, ("a", 2, 20)),
    record("c", 1, ("d", 30, 300)),
    record("d", 1, ("c", 40, 400)),
)
SECOND = (record("a", 2, ("c", 31, 310)), record("c", 2, ("a", 3, 30)), record("d", 2, ("c", 41, None)))


@BOTH_TYPES
@pytest.mark.parametrize("statistics", [True, False], ids=["statistics", "nulls"])
@pytest.mark.requirements("MRG-015", "MDT-010", "TYP-007")
@pytest.mark.needs("create", "write.upsert", "write.metadata-table", "types.nested", "partition.plain", "merge.event-time")
@pytest.mark.needs("read.snapshot", "read.projection", "read.filter", "read.filter.in", "read.filter.fields")
def test_a_comparison_of_a_field_finds_its_rows(engine: Client, new_uri: NewUri, type: Type, statistics: bool) -> None:
    """MRG-015: a field is compared after the merge, not a column of its name, and a null struct has no field that compares.

    MDT-010: statistics of the field leave out no row. Structs may be null in the table without statistics only.
    """
    uri, kind = new_uri(), PLACE if statistics else ["null", PLACE]
    fields = [{"name": "id", "type": "string"}, {"name": "p", "type": "string"}, {"name": "ts", "type": "long"}]
    schema = {"type": "record", "name": "row", "fields": [*fields, {"name": "place", "type": kind}]}
    engine.create(uri, TableSpec("places", type, schema, ("id",), partition=("p",), ordering=("ts",)))
    options = STATISTICS if statistics else {f"{PREFIX}enable": "false"}
    steps = (FIRST, SECOND) if statistics else (FIRST, SECOND, (record("b", 3, None), record("a", 0, ("late", 0, 0))))
    for rows in steps:
        engine.write(uri, "upsert", pa.Table.from_pylist(list(rows), ARROW), options=dict(options))
    last = {"a": ("c", 31, 310), "c": ("a", 3, 30), "d": ("c", 41, None), **({"b": ("a", 2, 20)} if statistics else {})}
    for place, (name, constants) in enumerate(
        {"place.id": ("a", "c", "late"), "place.x": (2, 3, 31, 41), "place.inner.ts": (10, 20, 310)}.items()
    ):
        for constant in constants:
            for operator, holds in HOLDS.items():
                wanted = [key for key, one in last.items() if (value := one[place]) is not None and holds(value, constant)]
                assert values_where(engine, uri, (name, operator, constant)) == sorted(wanted), (name, operator, constant)
        wanted = [key for key, one in last.items() if one[place] in constants]
        assert values_where(engine, uri, (name, "in", constants)) == sorted(wanted), name
