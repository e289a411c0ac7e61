"""Indexes of version V2, several secondary indexes, and the partitioned record index: filters lose no row."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from tools.recipes.query.data_skipping import COLUMNS, KEYS, STATS, check_filter, row
from tools.recipes.recipe import (
    COW,
    HUDI,
    HUDI_1_2,
    MOR,
    REFERENCE,
    Check,
    Recipe,
    Row,
    Step,
    Table,
    delete,
    service,
    upsert,
)
from tools.recipes.rows import SHORT

KINDS = (
    ("id", "string"), ("ts", "long"), ("p", "string"), ("yes", "boolean"), ("n", "int"), ("f", "float"), ("s", "string"),
    ("small", "decimal(10,2)"), ("large", "decimal(20,4)"), ("day", "date"), ("at", "timestamp-micros"),
)  # fmt: skip


def kind(key: str, p: str, size: int) -> Row:
    """A row whose values all grow with `size`."""
    return {
        "id": key, "ts": 1, "p": p, "yes": size > 0, "n": size, "f": float(size), "s": f"s{size + 5}",
        "small": Decimal(size) / 4, "large": Decimal(size) * 10**12, "day": date(2026, 1, 10 + size),
        "at": datetime(2026, 1, 10 + size, 12, tzinfo=UTC),
    }  # fmt: skip


SIZES = {"a": -3, "b": -1, "c": 1, "d": 3}
ABOVE: Any = {
    "yes": True, "n": 0, "f": 0.5, "s": "s5", "small": "0.10", "large": "1.0000", "day": "2026-01-10",
    "at": "2026-01-10T12:00:00.000000Z",
}  # fmt: skip


def by_type(column: str, *found: str) -> Check:
    """A filter that some of the four files match."""
    operator = "=" if column == "yes" else ">"
    return check_filter(
        f"by-{column}", ((column, operator, ABOVE[column]),), requirements=("MDT-017", "MDT-010"), errata=("ER-180",),
        rows=tuple({"id": key} for key in found), if_it_fails="Bounds of version V2 have a type of their own: read valueType.",
    )  # fmt: skip


def indexed(
    name: str, table: Table, steps: tuple[Step, ...], checks: tuple[Check, ...], types: Any = (COW, MOR),
    by_reference: Any = (),
) -> list[Recipe]:  # fmt: skip
    """The recipe in each type of table; the reference makes the types `by_reference` too."""
    return [
        Recipe(f"version-9.{name}.{SHORT[of]}", "queries", table.having(type=of), steps, checks,
               producers=(HUDI_1_2, REFERENCE) if of in by_reference else (HUDI_1_2,))
        for of in types
    ]  # fmt: skip


STATISTICS = indexed(
    "statistics-of-every-type", Table(KINDS, partition=("p",), options=STATS, version=9),
    (upsert(*(kind(key, key, size) for key, size in SIZES.items())),), tuple(by_type(column, "c", "d") for column in ABOVE),
    types=(COW,), by_reference=(COW,),
) + indexed(
    # The bounds of the base file alone exclude the row that moved: its value is in a log file.
    "statistics-of-every-type", Table(KINDS, partition=("p",), options=STATS, version=9),
    (upsert(*(kind(key, key, size) for key, size in SIZES.items())), upsert(kind("a", "a", 2))),
    tuple(by_type(column, "a", "c", "d") for column in ABOVE), types=(MOR,),
)  # fmt: skip

#: CREATE INDEX of 1.2.0 wants a lock.
LOCK = {
    "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
    "hoodie.metadata.index.secondary.enable": "true",
}
SECONDARY = {
    **KEYS,
    **LOCK,
    "hoodie.metadata.index.bloom.filter.enable": "false",
    "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.metadata.index.partition.stats.enable": "false",
}
TEXTS = {"plain": "oslo", "dollar": "a$b", "backslash": "a\\b", "empty": "", "null": None, "nul": "a\0b"}


def check_city_filter(name: str, city: str, *ids: str, **more: Any) -> Check:
    """A filter on an indexed column."""
    told: dict[str, Any] = {
        "requirements": ("IDX-045", "IDX-024"), "rows": tuple({"id": one} for one in ids),
        "says": "A filter on a column with a secondary index finds each row with the value, and no other.",
        "if_it_fails": "Entries are looked up in the file group of the escaped value; V1 uses the whole key.", **more,
    }  # fmt: skip
    return check_filter(name, (("city", "=", city),), **told)


def named_index(column: str) -> Step:
    """A secondary index."""
    return service("create_index", statement=f"CREATE INDEX by_{column} ON {{table}} ({column})")


ONE_INDEX = indexed(
    "secondary-index", Table(COLUMNS, partition=("p",), options=SECONDARY, version=9),
    (
        upsert(*(row(key, "x", 1, 1.0, city) for key, city in TEXTS.items())),
        named_index("city"),
        upsert(row("plain", "x", 2, 1.0, "bonn"), row("later", "x", 2, 1.0, "oslo")),
    ),
    (
        check_city_filter("moved-away", "oslo", "later"),
        check_city_filter("moved-here", "bonn", "plain"),
        check_city_filter("dollar", "a$b", "dollar", requirements=("IDX-045", "IDX-046")),
        check_city_filter("backslash", "a\\b", "backslash", requirements=("IDX-045", "IDX-046")),
        check_city_filter("nul", "a\0b", "nul", requirements=("IDX-046",)),
        check_city_filter("empty", "", "empty", requirements=("IDX-046",)),
        check_filter(
            "list", (("city", "in", ("oslo", "a$b", "", "none", None)),), requirements=("IDX-045", "IDX-024"),
            rows=tuple({"id": one} for one in ("later", "dollar", "empty")),
            says="A list on a column with a secondary index finds the rows with each of its members.",
            if_it_fails="Look each member of the list up in the index; a null equals nothing.",
        ),
    ), by_reference=(MOR,),
)  # fmt: skip

TWO_INDEXES = indexed(
    "two-secondary-indexes",
    Table((*COLUMNS, ("street", "string")), partition=("p",), options=SECONDARY, version=9),
    (
        upsert(*({**row(key, "x", 1, 1.0, "oslo"), "street": "first"} for key in "abc")),
        named_index("city"),
        named_index("street"),
        upsert({**row("d", "x", 1, 1.0, "hull"), "street": "third"}),
        upsert({**row("a", "x", 2, 1.0, "bonn"), "street": "second"}),
        delete({"id": "c", "p": "x"}),
    ),
    tuple(
        check_filter(
            f"{column}-{name}", ((column, "=", value),), requirements=("IDX-024", "MDT-001", "MDT-010"), errata=("ER-182",),
            rows=tuple({"id": one} for one in ids), says="Each of two secondary indexes is current with each commit.",
            if_it_fails="The entries of one index were not updated; a filter on its column then loses the new value.",
        )
        for column, name, value, ids in (
            ("city", "new", "bonn", "a"), ("city", "old", "oslo", "b"),
            ("street", "new", "second", "a"), ("street", "old", "first", "b"),
        )
    ),
)  # fmt: skip

PARTITIONED = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.metadata.index.partition.stats.enable": "false",
    "hoodie.metadata.record.level.index.enable": "true",
    "hoodie.metadata.record.level.index.min.filegroup.count": "2",
    "hoodie.metadata.record.level.index.max.filegroup.count": "2",
    "hoodie.index.type": "RECORD_LEVEL_INDEX",
}


def by_key(name: str, key: str, *partitions: tuple[str, int], **more: Any) -> Check:
    """A filter on the record key of a table with a partitioned record index."""
    return check_filter(
        name, (("id", "=", key),), columns=("id", "p", "ts"), **{
            "requirements": ("IDX-047", "IDX-048"), "rows": tuple({"id": key, "p": p, "ts": ts} for p, ts in partitions),
            "says": "A partitioned record index finds the record of a key in each partition.",
            "if_it_fails": "The file groups of a partitioned record index belong to one partition each; its name is in the "
            "file id.", **more,
        },
    )  # fmt: skip


RECORD_INDEX = [
    *indexed(
        "partitioned-record-index", Table(COLUMNS, partition=("p",), options=PARTITIONED, version=9),
        (
            upsert(row("a", "x", 1, 1.0), row("a", "y-1", 1, 1.0), row("b", "x", 1, 1.0)),
            upsert(row("a", "x", 2, 2.0)),
            upsert(row("c", "z_2", 1, 3.0)),
            delete({"id": "b", "p": "x"}),
        ),
        (
            by_key("in-two-partitions", "a", ("x", 2), ("y-1", 1)),
            by_key("new-partition", "c", ("z_2", 1)),
            by_key("deleted", "b"),
        ), by_reference=(MOR,),
    ),
    *indexed(
        "partitioned-record-index.unpartitioned", Table(COLUMNS, options=PARTITIONED, version=9),
        (upsert(row("a", "x", 1, 1.0), row("b", "x", 1, 1.0)), upsert(row("a", "x", 2, 2.0))),
        (by_key("updated", "a", ("x", 2)),), types=(MOR,),
    ),
]  # fmt: skip

WITHOUT_STATISTICS = {key: value for key, value in SECONDARY.items() if key not in LOCK}


def check_key(name: str, key: str, erratum: str) -> Check:
    """A filter on a key whose row is in the table."""
    return check_filter(
        name, (("id", "=", key),), requirements=("IDX-012", "IDX-010"), errata=(erratum,), rows=({"id": key},),
        says="A filter on the record key finds the row, although the record index lost its entry.",
        if_it_fails="Deployed writers lose entries of keys that log files delete: search the slices with log files too.",
    )  # fmt: skip


LOST_ENTRIES = [
    *indexed(
        "key-written-again", Table(COLUMNS, options={**WITHOUT_STATISTICS, "hoodie.index.type": "SIMPLE"}, version=9),
        (
            upsert(row("a", "x", 1, 1.0), row("b", "x", 1, 1.0)),
            delete({"id": "b"}),
            upsert(row("b", "x", 3, 3.0)),
        ),
        (check_key("without-entry", "b", "ER-202"), check_key("with-entry", "a", "ER-202")), types=(MOR,),
    ),
    Recipe(
        "skipping.late-delete-of-a-key.mor", "queries",
        Table((*COLUMNS, ("_hoodie_is_deleted", "boolean")), type=MOR, options=WITHOUT_STATISTICS),
        (
            upsert({**row("a", "x", 5, 1.0), "_hoodie_is_deleted": False}),
            upsert({**row("a", "x", 5, 2.0), "_hoodie_is_deleted": False}),
            upsert({**row("a", "x", 2, 3.0), "_hoodie_is_deleted": True}),
        ),
        (check_key("without-entry", "a", "ER-207"),), producers=(HUDI,),
    ),
]  # fmt: skip

BY_SETTINGS = {**SECONDARY, "hoodie.metadata.index.secondary.column": "zone"}


def zoned(key: str, p: str, zone: int) -> Row:
    """A row with a number that has a secondary index."""
    return {**row(key, p, 1, 1.0), "zone": zone}


CREATED_BY_WRITES = [
    recipe
    for name, first in (("first", BY_SETTINGS), ("second", {"hoodie.metadata.index.secondary.enable": "false"}))
    for recipe in indexed(
        f"secondary-index-by-the-{name}-write",
        Table((*COLUMNS, ("zone", "int")), partition=("p",), options=WITHOUT_STATISTICS, version=9),
        (
            upsert(zoned("a", "x", 5), zoned("b", "y", 6), options=first),
            upsert(zoned("c", "y", 5), zoned("d", "z", 6), options=BY_SETTINGS),
            upsert(zoned("e", "y", 5), options=BY_SETTINGS),
        ),
        tuple(
            check_filter(
                check, (("zone", "=", value),), requirements=("IDX-024", "MDT-001"), errata=("ER-208",),
                rows=tuple({"id": one} for one in ids),
                says="A filter on a column with a secondary index finds the rows of the write that created the index.",
                if_it_fails="Deployed writers that create an index by their settings add no entries for their own rows.",
            )
            for check, value, ids in (("in-three-writes", 5, "ace"), ("in-two-writes", 6, "bd"))
        ), types=(COW,),
    )
]  # fmt: skip

OTHER_COLUMNS = indexed(
    "statistics-of-other-columns", Table(COLUMNS, partition=("p",), options=STATS, version=9),
    (
        upsert(row("a", "x", 1, 1.0), row("b", "y", 1, 1.0)),
        upsert(row("c", "x", 7, 2.0), options={"hoodie.metadata.index.column.stats.column.list": "fare"}),
        upsert(row("d", "y", 2, 3.0)),
    ),
    (
        check_filter(
            "left-out-column", (("ts", "=", 7),), requirements=("MDT-010", "MDT-011"), errata=("ER-209",), rows=({"id": "c"},),
            says="A filter finds the rows of a write that stored statistics of other columns only.",
            if_it_fails="The statistics of the partition lack the values of this write: compare those of each file.",
        ),
        check_filter(
            "indexed-column", (("fare", "=", 2.0),), requirements=("MDT-010", "MDT-011"), rows=({"id": "c"},),
            errata=("ER-209",),
        ),
    ), types=(COW,),
)  # fmt: skip

RECIPES = [*OTHER_COLUMNS, *LOST_ENTRIES, *CREATED_BY_WRITES, *STATISTICS, *ONE_INDEX, *TWO_INDEXES, *RECORD_INDEX]
