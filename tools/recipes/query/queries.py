"""Queries: projection, filters, types, and read-optimized queries."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from tools.recipes.recipe import (
    BOTH,
    COW,
    HUDI,
    HUDI_1_2,
    MOR,
    REFERENCE,
    Check,
    Recipe,
    Row,
    Table,
    compact,
    delete,
    recipe,
    upsert,
)
from tools.recipes.rows import COLUMNS as FEW
from tools.recipes.rows import SHORT, row

COLUMNS = (("id", "string"), ("ts", "long"), ("city", "string"), ("fare", "double"))
STEPS = (
    upsert(
        {"id": "a", "ts": 10, "city": "paris", "fare": 1.5},
        {"id": "b", "ts": 10, "city": "rome", "fare": 20.0},
        {"id": "c", "ts": 10, "city": "paris", "fare": 3.25},
        {"id": "d", "ts": 10, "city": None, "fare": None},
    ),
    upsert({"id": "a", "ts": 12, "city": "berlin", "fare": 9.0}, {"id": "b", "ts": 9, "city": "late", "fare": 0.0}),
    delete({"id": "c"}),
)


def chosen() -> tuple[Check, ...]:
    """Projections and filters over one table."""
    merged_first = "Merge first, then filter and project: both apply to the merged row."
    pruned = "Read the columns that merging needs even if the query does not select them."
    return (
        Check(
            requirements=("TYP-007", "META-001"),
            says="A snapshot has all data columns and each row once.",
            if_it_fails="Compare the rows one by one; all other cases of this table depend on this one.",
            flags=("silent-stale",),
        ),
        Check(
            name="projection.without-key-and-ordering",
            columns=("city",),
            requirements=("MRG-015",),
            says="A projection without key and ordering columns is still merged by them.",
            if_it_fails=pruned,
            flags=("silent-stale",),
        ),
        Check(
            name="projection.in-another-order",
            columns=("fare", "id"),
            requirements=("MRG-015",),
            says="Columns are returned in the requested order.",
            if_it_fails="Values were matched to columns by position.",
            flags=("wrong-column",),
        ),
        Check(
            name="projection.meta-columns",
            columns=("_hoodie_record_key", "_hoodie_partition_path", "_hoodie_commit_time", "id"),
            rows=(
                {"_hoodie_record_key": "a", "_hoodie_partition_path": "", "_hoodie_commit_time": "{1}", "id": "a"},
                {"_hoodie_record_key": "b", "_hoodie_partition_path": "", "_hoodie_commit_time": "{0}", "id": "b"},
                {"_hoodie_record_key": "d", "_hoodie_partition_path": "", "_hoodie_commit_time": "{0}", "id": "d"},
            ),
            requirements=("META-001", "META-002", "META-003", "META-004", "META-007", "META-009"),
            says="Meta columns can be selected; the commit time is that of the write of the winning version.",
            if_it_fails="The commit time is a requested time, and a row that was only rewritten keeps its commit time.",
            flags=("wrong-column",),
        ),
        Check(
            name="filter.on-an-old-value",
            where=(("city", "=", "paris"),),
            requirements=("MRG-015",),
            says="A filter that matches only an older version of a record, or a deleted record, returns nothing.",
            if_it_fails="The filter was pushed down to the base file before merging. " + merged_first,
            flags=("silent-stale",),
        ),
        Check(
            name="filter.on-a-new-value",
            where=(("city", "=", "berlin"),),
            requirements=("MRG-015",),
            says="A filter that matches the merged row returns it, although the base row does not match.",
            if_it_fails="The filter was pushed down to the base file before merging. " + merged_first,
            flags=("lost-write",),
        ),
        Check(
            name="filter.by-range-and-projected",
            columns=("id",),
            where=(("fare", ">=", 5.0), ("fare", "<", 20.5)),
            requirements=("MRG-015",),
            says="A filter of two comparisons joined with AND is applied to a column that is not in the result.",
            if_it_fails="The projection removed the filtered column before the filter was applied.",
            flags=("lost-write",),
        ),
        Check(
            name="filter.not-equal-and-null",
            columns=("id",),
            where=(("city", "!=", "berlin"),),
            requirements=("TYP-007",),
            says="A comparison with null is not true, so that the row is not in the result.",
            if_it_fails="Comparisons follow SQL: a comparison with null is not true.",
            flags=("phantom-row",),
        ),
        *(
            Check(
                name=f"filter.{name}",
                columns=("id",),
                where=(("city", operator, None),),
                rows=tuple({"id": key} for key in keys),
                requirements=("MRG-015",),
                says="A test for null selects the rows without a value, its negation selects all others.",
                if_it_fails="A test for null was evaluated as a comparison with null, which is never true.",
                flags=("lost-write",),
                only=(REFERENCE,),
            )
            for name, operator, keys in (("is-null", "is", "d"), ("is-not-null", "is not", "ab"))
        ),
    )


CHOSEN = [Recipe(f"chosen.{SHORT[kind]}", "queries", Table(columns=COLUMNS, type=kind), STEPS, chosen()) for kind in (COW, MOR)]

READ_OPTIMIZED = [
    recipe(
        "queries",
        "read-optimized.mor",
        Table(columns=FEW),
        upsert(row(1, "base"), row(1, "deleted in the log", key="b")),
        upsert(row(2, "log")),
        delete({"id": "b"}),
        kind="read-optimized",
        requirements=("TYP-017",),
        says="A read-optimized query reads base files only: neither updates nor deletes in log files.",
        if_it_fails="Log files were merged although only base files were requested.",
        flags=("dirty-read",),
    ),
    recipe(
        "queries",
        "read-optimized.cow",
        Table(columns=FEW, type=COW),
        upsert(row(1, "base"), row(1, "deleted", key="b")),
        upsert(row(2, "rewritten")),
        delete({"id": "b"}),
        kind="read-optimized",
        requirements=("TYP-014", "TYP-002"),
        says="A read-optimized query of a copy-on-write table returns the snapshot.",
        if_it_fails="An older base file of a file group was read.",
        flags=("silent-stale",),
    ),
    recipe(
        "queries",
        "read-optimized.after-compaction",
        Table(columns=FEW),
        upsert(row(1, "base"), row(1, "deleted", key="b")),
        upsert(row(2, "log")),
        delete({"id": "b"}),
        compact(),
        kind="read-optimized",
        requirements=("TYP-016", "CMP-006"),
        says="After a compaction a read-optimized query returns the snapshot.",
        if_it_fails="The compacted base file was not recognized as the newest.",
        flags=("silent-stale",),
        producers=(HUDI,),
    ),
]

ALL_TYPES = (
    ("id", "string"),
    ("ts", "long"),
    ("an_int", "int"),
    ("a_long", "long"),
    ("a_float", "float"),
    ("a_double", "double"),
    ("a_boolean", "boolean"),
    ("some_bytes", "bytes"),
    ("a_date", "date"),
    ("a_timestamp", "timestamp-micros"),
    ("a_decimal", "decimal(18,4)"),
    ("a_wide_decimal", "decimal(38,10)"),
)
FILLED: Row = {
    "an_int": -(2**31),
    "a_long": 2**63 - 1,
    "a_float": 0.1,
    "a_double": 0.1,
    "a_boolean": True,
    "some_bytes": b"\x00\xff#HUDI#",
    "a_date": date(1969, 12, 31),
    "a_timestamp": datetime(2026, 3, 29, 1, 30, 0, 123456, tzinfo=UTC),
    "a_decimal": Decimal("-12345678901234.5678"),
    "a_wide_decimal": Decimal("1234567890123456789012345678.0123456789"),
}
SPECIAL: Row = {
    "an_int": 2**31 - 1,
    "a_long": -(2**63),
    "a_float": float("nan"),
    "a_double": float("-inf"),
    "a_boolean": False,
    "some_bytes": b"",
    "a_date": date(2400, 2, 29),
    "a_timestamp": datetime(1900, 1, 1, tzinfo=UTC),
    "a_decimal": Decimal("0.0001"),
    "a_wide_decimal": Decimal("-0.0000000001"),
}
ZERO: Row = {"an_int": 0, "a_long": 0, "a_float": -0.0, "a_double": -0.0, "a_decimal": Decimal("0.0000")}

NESTED = (
    ("id", "string"),
    ("ts", "long"),
    (
        "place",
        {
            "type": "record",
            "fields": (("street", "string"), ("geo", {"type": "record", "fields": (("lat", "double"), ("lon", "double"))})),
        },
    ),
    ("tags", {"type": "array", "items": "string"}),
    ("points", {"type": "array", "items": {"type": "record", "fields": (("x", "int"), ("y", "long"))}}),
    ("counts", {"type": "map", "values": "long"}),
)
HERE: Row = {
    "place": {"street": "Rue de l’Église", "geo": {"lat": 48.5, "lon": -0.0}},
    "tags": ["one", "", "☃"],
    "points": [{"x": 1, "y": 2}, {"x": None, "y": 3}],
    "counts": {"a": 1, "ä": 2},
}
NOWHERE: Row = {"place": {"street": None, "geo": None}, "tags": [], "points": [], "counts": {}}


def versions(key: str, ts: int, *rows: Row) -> tuple[Row, ...]:
    """Rows with keys `key`0, `key`1, ... and one ordering value."""
    return tuple({"id": f"{key}{n}", "ts": ts, **row} for n, row in enumerate(rows))


def typed(
    name: str, columns: Any, first: tuple[Row, ...], second: tuple[Row, ...], says: str, requirements: Any
) -> list[Recipe]:
    """Values of many types, in base files and (on merge-on-read) in log records."""
    return [
        Recipe(
            f"types.{name}.{SHORT[kind]}",
            "queries",
            Table(columns=columns, type=kind),
            (upsert(*first), upsert(*second)),
            (
                Check(
                    requirements=requirements if kind == COW else (*requirements, "BLK-022", "LF-038"),
                    says=says,
                    if_it_fails=(
                        "Check the column that differs: Parquet types decide in base files, the block schema in log files."
                    ),
                    flags=("wrong-value",),
                ),
            ),
            producers=(*BOTH, HUDI_1_2),
        )
        for kind in (COW, MOR)
    ]


TYPES = [
    *typed(
        "scalar",
        ALL_TYPES,
        versions("v", 1, FILLED, SPECIAL, {}, {}, {}),
        (
            {"id": "v2", "ts": 2, **FILLED},
            {"id": "v3", "ts": 2, **SPECIAL},
            {"id": "v4", "ts": 2, **ZERO},
        ),
        "Scalar values of every type are returned as they were written: extremes, nulls, NaN, infinities and minus zero.",
        ("TYP-007", "BF-002"),
    ),
    *typed(
        "nested",
        NESTED,
        versions("v", 1, HERE, NOWHERE, {}, {}),
        ({"id": "v2", "ts": 2, **HERE}, {"id": "v3", "ts": 2, **NOWHERE}),
        "Structs, arrays and maps are returned as they were written, also empty and null ones.",
        ("TYP-007", "BF-002"),
    ),
]
AS_BYTES = (("id", "string"), ("ts", "long"), ("price", "decimal-as-bytes(10,2)"))
TYPES.append(
    Recipe(
        "types.decimal-as-bytes",
        "queries",
        Table(columns=AS_BYTES),
        (
            upsert({"id": "a", "ts": 1, "price": Decimal("1.50")}, {"id": "b", "ts": 1, "price": Decimal("-0.01")}),
            upsert({"id": "a", "ts": 2, "price": Decimal("99999999.99")}),
        ),
        (
            Check(
                requirements=("BLK-022", "LF-038"),
                says="A decimal in a log record may be Avro bytes or Avro fixed.",
                if_it_fails=(
                    "The reader used the Avro form of the type in its engine, not the one in the schema of the block."
                ),
                flags=("wrong-value",),
            ),
        ),
        producers=(REFERENCE,),
    )
)

WIDER = (("id", "string"), ("ts", "long"), ("name", "string"), ("added", "string"))
EVOLVED = [
    *(
        Recipe(
            f"schema.added-column.{SHORT[kind]}",
            "queries",
            Table(columns=FEW, type=kind),
            (
                upsert(row(1, "old schema"), row(1, "never changed", key="b"), row(1, "old schema", key="c")),
                upsert({**row(2, "new schema"), "added": "value"}, columns=WIDER),
                upsert({**row(2, "new schema again", key="c"), "added": None}, columns=WIDER),
            ),
            (
                Check(
                    requirements=("LF-038", "TYP-007") if kind == MOR else ("TYP-007",),
                    says="A column that was added later is null in rows that were written before it.",
                    if_it_fails="Project each file and block from its own schema to the latest schema of the table, by name.",
                    flags=("wrong-value",),
                ),
                Check(
                    name="projection",
                    columns=("added", "id"),
                    requirements=("MRG-015",),
                    says="A projection to a column that some files lack returns null for their rows.",
                    if_it_fails="Project each file and block from its own schema to the latest schema of the table, by name.",
                    flags=("wrong-value",),
                ),
            ),
            producers=(HUDI,),
            needs=("schema.evolution",),
        )
        for kind in (COW, MOR)
    ),
    *(
        Recipe(
            f"schema.widened-type.{SHORT[kind]}",
            "queries",
            Table(columns=(*FEW, ("n", "int"), ("x", "float")), type=kind),
            (
                upsert({**row(1, "int"), "n": 1, "x": 0.5}, {**row(1, "int", key="b"), "n": -5, "x": 1.5}),
                upsert({**row(2, "long"), "n": 2**40, "x": 0.1}, columns=(*FEW, ("n", "long"), ("x", "double"))),
            ),
            (
                Check(
                    requirements=("LF-038", "TYP-007") if kind == MOR else ("TYP-007",),
                    says="Values written before a column was widened are read in the wider type.",
                    if_it_fails="Promote int to long and float to double when a file's schema is the narrower one.",
                    flags=("wrong-value",),
                ),
            ),
            producers=(HUDI,),
            needs=("schema.evolution",),
        )
        for kind in (COW, MOR)
    ),
]

RECIPES = [*CHOSEN, *READ_OPTIMIZED, *TYPES, *EVOLVED]
