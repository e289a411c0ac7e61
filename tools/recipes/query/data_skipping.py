"""Filters on tables whose metadata table has statistics of columns and an index of record keys: no matching row is lost."""

from typing import Any

from tools.recipes.recipe import COW, HUDI, HUDI_1_2, MOR, Check, Recipe, Row, Step, Table, delete, upsert

SHORT = {COW: "cow", MOR: "mor"}
COLUMNS = (("id", "string"), ("ts", "long"), ("p", "string"), ("fare", "double"), ("city", "string"))
#: One file group in each partition of the metadata table, so that tables stay small.
STATS = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.index.partition.stats.enable": "true",
    "hoodie.metadata.index.column.stats.file.group.count": "1",
    "hoodie.metadata.index.partition.stats.file.group.count": "1",
}
KEYS = {
    **STATS,
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.global.record.level.index.enable": "true",
    "hoodie.metadata.record.index.min.filegroup.count": "1",
    "hoodie.metadata.record.index.max.filegroup.count": "1",
    "hoodie.metadata.global.record.level.index.min.filegroup.count": "1",
    "hoodie.metadata.global.record.level.index.max.filegroup.count": "1",
    "hoodie.metadata.index.bloom.filter.enable": "true",
    "hoodie.metadata.index.bloom.filter.file.group.count": "1",
    "hoodie.index.type": "RECORD_INDEX",
    "hoodie.record.index.update.partition.path": "true",
}
LOST = "A file was skipped that has a matching row: "


BY_KEY: dict[str, Any] = {
    "requirements": ("IDX-012",),
    "says": "A filter on the record key selects the row where it is now.",
    "if_it_fails": "The entry of the key in the record index or a bloom filter was misread, or is not current.",
}


def check_filter(name: str, where: tuple[tuple[str, str, Any], ...], **more: Any) -> Check:
    """A check of a filter; the right rows are those of the model."""
    told = {
        "requirements": ("MDT-010",), "flags": ("lost-write",), "columns": ("id",), "needs": ("read.snapshot",),
        "says": "A filter selects the same rows, whatever the statistics of files exclude.",
        "if_it_fails": LOST + "read the statistics of every file of the slice.",
    }  # fmt: skip
    return Check(name=name, where=where, **{**told, **more})


def null_test(column: str, operator: str, keys: str, *where: tuple[str, str, Any], **more: Any) -> Check:
    """A check of a test for null beside further comparisons; the keys of the right rows have one character each."""
    told: dict[str, Any] = {
        "rows": tuple({"id": key} for key in keys),
        "says": "A test for null selects the same rows, whatever the statistics of files exclude.",
        "if_it_fails": LOST + "without statistics of the column, and with log files, a file may have nulls and values.",
        "only": (HUDI,),
    }
    return check_filter(f"{column}-{operator.replace(' ', '-')}-null", ((column, operator, None), *where), **told, **more)


def by_key(name: str, *ids: str, where: tuple[tuple[str, str, Any], ...]) -> Check:
    """A check of a filter on the key; the rows are given, because the model has no moves between partitions."""
    values = {column: value for column, operator, value in where if operator == "="}
    return check_filter(name, where, rows=tuple({**values, "id": one} for one in ids), **BY_KEY)


def skipping(name: str, steps: tuple[Step, ...], checks: tuple[Check, ...], **more: Any) -> list[Recipe]:
    """Recipes for each type of table, made by both releases; 1.2.0 makes those of `only_at_9` as twins at version 9 alone."""
    kinds, only_at_9 = more.pop("kinds", (COW, MOR)), more.pop("only_at_9", ())
    table = {"columns": COLUMNS, "partition": ("p",), "options": STATS, **more}
    return [
        Recipe(
            f"skipping.{name}.{SHORT[kind]}",
            "queries",
            Table(type=kind, **table),
            steps,
            checks,
            producers=(HUDI,) if kind in only_at_9 else (HUDI, HUDI_1_2),
        )
        for kind in kinds
    ]


def row(key: str, p: str, ts: int, fare: float | None, city: str | None = None) -> Row:
    """A row."""
    return {"id": key, "ts": ts, "p": p, "fare": fare, "city": city}


MOVED = skipping(
    "values-that-moved",
    (
        upsert(
            row("a", "x", 1, 1.0, "rome"),
            row("b", "x", 1, 2.0, "oslo"),
            row("c", "y", 1, 30.0),
            row("d", "z", 1, None),
        ),
        upsert(row("a", "x", 2, 50.0, "zagreb"), row("e", "y", 2, 31.0, "bonn")),
        delete({"id": "c", "p": "y"}),
    ),
    (
        check_filter("new-value", (("fare", ">", 40.0),)),
        check_filter("old-value", (("fare", "<", 1.5),)),
        check_filter("value-that-stayed", (("fare", "=", 2.0),)),
        check_filter("two-columns-of-two-files", (("fare", ">=", 2.0), ("city", ">", "p"))),
        check_filter("deleted-value", (("fare", "=", 30.0),)),
        check_filter("nulls", (("fare", "<=", 100.0),)),
        check_filter("list-of-values", (("fare", "in", (50.0, 2.0, 1.0, 30.0, None)),)),
        check_filter("list-of-partitions", (("p", "in", ("y", "z", "w")),)),
        check_filter("empty-list", (("fare", "in", ()),)),
    ),
    only_at_9=(COW,),
)

KINDS = (
    ("id", "string"), ("ts", "long"), ("p", "string"), ("d", "double"), ("f", "float"), ("s", "string"), ("n", "int"),
)  # fmt: skip
NAN = float("nan")


def of(key: str, p: str, ts: int, d: Any = None, s: Any = None, n: Any = None) -> Row:
    """A row with values that statistics do not describe well."""
    return {"id": key, "ts": ts, "p": p, "d": d, "f": d, "s": s, "n": n}


UNORDERED = skipping(
    "values-without-bounds",
    (
        upsert(
            of("a", "nan", 1, NAN, "a"), of("b", "nan", 1, 1.5, "b" * 5000), of("c", "nan", 1, -1.5, "c"),
            of("d", "null", 1), of("e", "null", 1),
            of("f", "mixed", 1, 7.0, "\U0001f600", 7), of("g", "mixed", 1, None, "\ue000", None),
            of("h", "zero", 1, 0.0, "", 0), of("i", "zero", 1, -0.0, "", 0),
        ),
        upsert(of("d", "null", 2, NAN, "late", 5), of("h", "zero", 2, 9.0, "\uffff", -9), of("e", "null", 2, 3.0, "e", 6)),
    ),
    (
        check_filter("beside-a-nan", (("d", "<", -1.0),)),
        check_filter("beside-a-nan.float", (("f", "<", -1.0),)),
        check_filter("beside-a-nan-in-a-log", (("d", "=", 3.0),)),
        check_filter("zeros", (("d", "=", 0.0),)),
        check_filter("beside-nulls", (("n", ">=", 5),)),
        check_filter("long-text", (("s", ">=", "bb"), ("s", "<", "c"))),
        check_filter("empty-text", (("s", "=", ""),)),
        check_filter("text-of-two-orders", (("s", "=", "\ue000"),)),
        null_test("n", "is not", "defhi"),
    ),
    columns=KINDS,
)  # fmt: skip

LATE = skipping(
    "column-that-came-later",
    (
        upsert({"id": "a", "ts": 1, "p": "x", "n": 1}, {"id": "b", "ts": 1, "p": "y", "n": 2}),
        upsert(
            {"id": "c", "ts": 1, "p": "x", "n": 2**40, "late": "m"}, {"id": "d", "ts": 1, "p": "z", "n": 3, "late": "k"},
            columns=(("id", "string"), ("ts", "long"), ("p", "string"), ("n", "long"), ("late", "string")),
        ),
    ),
    (
        check_filter("wider-type", (("n", ">", 2**33),), needs=("schema.evolution",)),
        check_filter("narrow-type", (("n", "<=", 1),), needs=("schema.evolution",)),
        check_filter("late-column", (("late", ">", "l"),), rows=({"id": "c", "late": "m"},), needs=("schema.evolution",)),
        null_test("late", "is", "ab", ("ts", "<", 2), needs=("read.snapshot", "schema.evolution"), errata=("ER-238",)),
    ),
    columns=(("id", "string"), ("ts", "long"), ("p", "string"), ("n", "int")),
)  # fmt: skip

LOOKED_UP = skipping(
    "record-keys",
    (
        upsert(row("a", "x", 1, 1.0), row("b", "x", 1, 2.0), row("c", "y", 1, 3.0), row("d$\\e", "z", 1, 4.0)),
        upsert(row("a", "y", 2, 5.0), row("n", "x", 2, 6.0)),
        delete({"id": "c", "p": "y"}),
        upsert(row("b", "x", 3, 7.0)),
    ),
    (
        by_key("moved", "a", where=(("id", "=", "a"),)),
        by_key("updated", "b", where=(("id", "=", "b"), ("fare", "=", 7.0))),
        by_key("deleted", where=(("id", "=", "c"),)),
        by_key("inserted", "n", where=(("id", "=", "n"),)),
        by_key("special-characters", "d$\\e", where=(("id", "=", "d$\\e"),)),
        by_key("absent", where=(("id", "=", "zzz"),)),
        by_key("list-of-keys", "a", "d$\\e", where=(("id", "in", ("a", "c", "zzz", None, "d$\\e")),)),
    ),
    options=KEYS,
)

RECIPES = [*MOVED, *UNORDERED, *LATE, *LOOKED_UP]
