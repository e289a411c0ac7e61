"""Record keys and partition paths that key generators compute from values of every type."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from tools.recipes.recipe import COMMIT, COW, HUDI, MOR, Check, Recipe, Row, Table, upsert

GENERATOR = "org.apache.hudi.keygen."
TIME = "hoodie.keygen.timebased."
META = ("_hoodie_record_key", "_hoodie_partition_path")
IN_THE_FILE = "The file has the column; the folder name is made of its value and is not the value."


def keys(name: str, table: Table, *rows: Row, checks: tuple[Check, ...], updates: tuple[Row, ...] = (), **more: Any) -> Recipe:
    """A recipe of this module."""
    steps = (upsert(*rows), *((upsert(*updates),) if updates else ()))
    return Recipe(name, "layout", table, steps, checks, producers=(HUDI,), needs=("partition.plain",), **more)


TYPED = (
    ("an_int", "int"), ("a_long", "long"), ("a_float", "float"), ("a_double", "double"), ("a_boolean", "boolean"),
    ("some_bytes", "bytes"), ("a_date", "date"), ("a_timestamp", "timestamp-micros"), ("a_decimal", "decimal(20,10)"),
    ("a_string", "string"),
)  # fmt: skip
VALUES: Row = {
    "an_int": -5, "a_long": 2**53 + 1, "a_float": 0.10000000149011612, "a_double": 1e-5, "a_boolean": True,
    "some_bytes": b"\x01\xff", "a_date": date(2020, 1, 2), "a_timestamp": datetime(2020, 1, 2, 3, 4, 5, 678900, UTC),
    "a_decimal": Decimal("0.0000000001"), "a_string": "é,:x",
}  # fmt: skip
OTHERS: Row = {
    "an_int": 0, "a_long": -(2**63), "a_float": 1e10, "a_double": 1e7, "a_boolean": False, "some_bytes": b"\x00",
    "a_date": date(1969, 12, 31), "a_timestamp": datetime(1969, 12, 31, 23, 59, 59, 999999, UTC),
    "a_decimal": Decimal("1.5000000000"), "a_string": "z",
}  # fmt: skip
NOTHING: Row = {name: None for name, _ in TYPED} | {"an_int": 1, "a_string": ""}
TEXTS = {
    "an_int": ("-5", "0", "1"), "a_long": ("9007199254740993", "-9223372036854775808", None),
    "a_float": ("0.1", "1.0E10", None), "a_double": ("1.0E-5", "1.0E7", None), "a_boolean": ("true", "false", None),
    "some_bytes": ("01ff", "00", None), "a_date": ("2020-01-02", "1969-12-31", None),
    "a_timestamp": ("1577934245678900", "-1", None), "a_decimal": ("1E-10", "1.5000000000", None),
    "a_string": ("é,:x", "z", ""),
}  # fmt: skip
MARKS = {None: "__null__", "": "__empty__"}
NULL = "__HIVE_DEFAULT_PARTITION__"


def key_text(row: int) -> str:
    """The composite key of row 0, 1 or 2."""
    return ",".join(f"{name}:{MARKS.get(texts[row], texts[row])}" for name, texts in TEXTS.items())


#: Levels of the paths; another table tests text with a comma and a colon.
LEVELS = ("p_int", "p_float", "p_boolean", "p_bytes", "p_date", "p_timestamp", "p_decimal")
OF_LEVEL = dict(
    zip(LEVELS, ("an_int", "a_float", "a_boolean", "some_bytes", "a_date", "a_timestamp", "a_decimal"), strict=True)
)
KINDS = dict(TYPED)


def in_levels(values: Row, ts: int) -> Row:
    """A row whose values are used as parts of the key and as parts of the path."""
    return {"ts": ts, **values, **{level: values[name] for level, name in OF_LEVEL.items()}}


def path(row: int) -> str:
    """The partition path of row 0, 1 or 2."""
    return "/".join(TEXTS[name][row] or NULL for name in OF_LEVEL.values())


EVERY_TYPE = keys(
    "keys.every-type",
    Table(
        columns=(("ts", "long"), *TYPED, *((level, KINDS[name]) for level, name in OF_LEVEL.items())),
        type=COW, record_key=tuple(name for name, _ in TYPED), partition=LEVELS, merge_mode=COMMIT,
    ),
    in_levels(VALUES, 1), in_levels(OTHERS, 1), in_levels(NOTHING, 1),
    checks=(
        Check(
            columns=(*META, "ts"),
            requirements=("META-007", "META-009", "PROP-007", "PROP-016", "LAY-006"),
            says="In record key and partition path a value of every type has its Java text, and null has a placeholder.",
            if_it_fails="Numbers as Java prints them, dates as ISO text, timestamps as microseconds, bytes in hexadecimal.",
            flags=("double-apply",),
            rows=tuple({META[0]: key_text(n), META[1]: path(n), "ts": 1} for n in range(3)),
        ),
        Check(
            name="values",
            columns=("an_int", *LEVELS),
            requirements=("META-009", "LAY-006"),
            says="Partition columns of every type have the values in the files.",
            if_it_fails=IN_THE_FILE,
            flags=("wrong-value",),
            errata=("ER-111",),
            rows=tuple({"an_int": row["an_int"], **{level: row[name] for level, name in OF_LEVEL.items()}}
                       for row in (VALUES, OTHERS, NOTHING)),
        ),
    ),
)  # fmt: skip

COLUMNS = (("id", "string"), ("ts", "long"), ("p", "long"), ("q", "string"), ("name", "string"))


def row(key: str, p: int | None, q: str | None = "x", name: str = "old", ts: int = 1) -> Row:
    """A row in the partition that follows from p and q."""
    return {"id": key, "ts": ts, "p": p, "q": q, "name": name}


def timed(name: str, table: Table, paths: dict[str, str], *rows: Row, updated: Row) -> Recipe:
    """A table whose partition paths are dates computed from numbers."""
    left = [*[one for one in rows if one["id"] != updated["id"]], updated]
    return keys(
        name, table, *rows, updates=(updated,),
        checks=(
            Check(
                columns=(*META, "name"),
                requirements=("PROP-008", "PROP-016", "META-009"),
                says=("A custom key generator writes numbers as dates in the partition path, and null as the date of the "
                      "value 1."),
                if_it_fails="The settings of the time-based key generator state the unit, the pattern and the zone.",
                flags=("double-apply",),
                rows=tuple({META[0]: one["id"], META[1]: paths[one["id"]], "name": one["name"]} for one in left),
            ),
            Check(
                name="values",
                columns=("id", "p"),
                requirements=("META-009", "LAY-006"),
                says="The partition column has the number in the file, and null where the file has null.",
                if_it_fails=IN_THE_FILE,
                flags=("wrong-value",),
                errata=("ER-111",),
                rows=tuple({"id": one["id"], "p": one["p"]} for one in left),
            ),
            Check(
                name="filter",
                columns=("id",),
                where=(("p", ">=", 1_600_000_000),),
                requirements=("META-009", "MRG-015"),
                says="A filter on the partition column compares the number in the file, not the date in the path.",
                if_it_fails="Do not skip partitions by comparing the value with the path.",
                flags=("lost-write",),
                rows=tuple(left),
            ),
        ),
    )  # fmt: skip


SECONDS = {f"{TIME}timestamp.type": "UNIX_TIMESTAMP", f"{TIME}output.dateformat": "yyyy/MM/dd"}
BY_TIME = Table(
    columns=COLUMNS, type=COW, partition=("p",), merge_mode=COMMIT,
    options={"hoodie.datasource.write.keygenerator.class": f"{GENERATOR}TimestampBasedKeyGenerator", **SECONDS},
)  # fmt: skip
BY_BOTH = Table(
    columns=COLUMNS, type=MOR, partition=("q:simple", "p:timestamp"), merge_mode=COMMIT,
    options={"hoodie.datasource.write.keygenerator.class": f"{GENERATOR}CustomKeyGenerator",
             f"{TIME}timestamp.type": "UNIX_TIMESTAMP", f"{TIME}output.dateformat": "yyyyMMdd"},
)  # fmt: skip
TIMES = [
    timed(
        "keys.timestamp-generator", BY_TIME, {"a": "2020/09/13", "b": "1970/01/01", "c": "1969/12/31"},
        row("a", 1_600_000_000), row("b", None), row("c", -1), updated=row("a", 1_600_000_001, name="new", ts=2),
    ),
    timed(
        "keys.custom-generator", BY_BOTH, {"a": "x/20200913", "b": f"{NULL}/19700101", "c": "x/19691231"},
        row("a", 1_600_000_000), row("b", None, None), row("c", -1), updated=row("a", 1_600_000_001, name="new", ts=2),
    ),
]  # fmt: skip

RECIPES = [EVERY_TYPE, *TIMES]
