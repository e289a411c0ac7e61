"""Schemas that change between commits: wider types, more columns, other orders, columns that only one version has."""

from typing import Any

from tools.recipes.recipe import COMMIT, COW, EVENT, HUDI, MOR, Check, Recipe, Row, Step, Table, as_of, upsert

SHORT = {COW: "cow", MOR: "mor"}
BY_NAME = "Project each file and block from its own schema to the latest schema of the table, by name."
NULLS = {"hoodie.write.set.null.for.missing.columns": "true"}
DROPS = {"hoodie.datasource.write.schema.allow.auto.evolution.column.drop": "true"}


def evolution(name: str, before: Any, *steps: Step, mode: Any = COMMIT, kinds: Any = (COW, MOR), **more: Any) -> list[Recipe]:
    """Recipes of this module, one for each type of table."""
    checks = more.pop("checks", None) or (Check(**{"if_it_fails": BY_NAME, "flags": ("wrong-value",), **more}),)
    return [
        Recipe(
            f"schema.{name}.{SHORT[kind]}",
            "queries",
            Table(columns=before, type=kind, merge_mode=mode),
            steps,
            checks,
            producers=(HUDI,),
            needs=("schema.evolution", "merge.commit-time" if mode == COMMIT else "merge.event-time"),
        )
        for kind in kinds
    ]


#: Column -> old type, new type, a value, and the value after widening.
STEPS: dict[str, tuple[str, str, Any, Any]] = {
    "int_long": ("int", "long", -(2**31), -(2**31)),
    "int_float": ("int", "float", 16777217, 16777216.0),
    "int_double": ("int", "double", 2**31 - 1, 2147483647.0),
    "int_string": ("int", "string", -7, "-7"),
    "long_float": ("long", "float", 2**53 + 1, 9007199254740992.0),
    "long_double": ("long", "double", 2**53 + 1, 9007199254740992.0),
    "long_string": ("long", "string", 2**53 + 1, "9007199254740993"),
    "float_string": ("float", "string", 1.5e10, "1.5E10"),
    "double_string": ("double", "string", 0.0001, "1.0E-4"),
}
NEW: dict[str, Any] = {"long": 2**40, "float": 2.5, "double": 1e300, "string": "text"}
NARROW = (("id", "string"), ("ts", "long"), *((name, old) for name, (old, *_) in STEPS.items()))
WIDE = (("id", "string"), ("ts", "long"), *((name, new) for name, (_, new, *_) in STEPS.items()))


def narrow_row(key: str, ts: int) -> Row:
    """A row before types were widened."""
    return {"id": key, "ts": ts, **{name: value for name, (_, _, value, _) in STEPS.items()}}


def widened(key: str, ts: int) -> Row:
    """The same row afterwards."""
    return {"id": key, "ts": ts, **{name: value for name, (*_, value) in STEPS.items()}}


NOW: Row = {"id": "c", "ts": 3, **{name: NEW[new] for name, (_, new, *_) in STEPS.items()}}
OLD_DIGITS = {"float_string": "1.50000005E10"}
PROMOTED = evolution(
    "every-step",
    NARROW,
    upsert(narrow_row("a", 1), narrow_row("b", 1), narrow_row("c", 1), {"id": "n", "ts": 1}),
    upsert(narrow_row("b", 2)),
    upsert(NOW, columns=WIDE),
    requirements=("LF-038", "TYP-007"),
    says="After each type promotion that a write may make, stored values are the same number, or its Java text.",
    rows=(widened("a", 1), widened("b", 2), NOW, {"id": "n", "ts": 1}),
    # Java before 19 prints more digits than necessary for some floats.
    accept=(({**widened("a", 1), **OLD_DIGITS}, {**widened("b", 2), **OLD_DIGITS}, NOW, {"id": "n", "ts": 1}),),
)

FLOATS = (("id", "string"), ("ts", "long"), ("x", "float"))
DOUBLES = (("id", "string"), ("ts", "long"), ("x", "double"))
TENTH = 0.10000000149011612
FLOAT_TO_DOUBLE = evolution(
    "float-to-double",
    FLOATS,
    upsert({"id": "a", "ts": 1, "x": 0.1}, {"id": "b", "ts": 1, "x": 1.5}, {"id": "c", "ts": 1, "x": 1.5}),
    upsert({"id": "b", "ts": 2, "x": 0.1}),
    upsert({"id": "c", "ts": 3, "x": 0.1}, columns=DOUBLES),
    requirements=("LF-038", "TYP-007"),
    says="A float that was promoted to double is the double of its decimal text, wherever it is stored.",
    errata=("ER-108",),
    rows=({"id": "a", "ts": 1, "x": 0.1}, {"id": "b", "ts": 2, "x": 0.1}, {"id": "c", "ts": 3, "x": 0.1}),
    accept=(({"id": "a", "ts": 1, "x": TENTH}, {"id": "b", "ts": 2, "x": TENTH}, {"id": "c", "ts": 3, "x": 0.1}),),
)

PLACE = {"type": "record", "fields": (("x", "int"), ("y", "string"))}
NESTED = (
    ("id", "string"), ("ts", "long"), ("place", PLACE), ("points", {"type": "array", "items": PLACE}),
    ("counts", {"type": "map", "values": "int"}), ("last", "string"),
)  # fmt: skip
WIDER_PLACE = {"type": "record", "fields": (("x", "long"), ("y", "string"), ("z", "double"))}
NESTED_LATER = (
    ("id", "string"), ("ts", "long"), ("place", WIDER_PLACE), ("points", {"type": "array", "items": WIDER_PLACE}),
    ("counts", {"type": "map", "values": "long"}), ("last", "string"), ("added", "string"),
)  # fmt: skip


def nested_row(key: str, ts: int, x: int, **more: Any) -> Row:
    """A row with the number x in all its nested columns."""
    inside = {"x": x, "y": "y", **more}
    return {"id": key, "ts": ts, "place": inside, "points": [inside, inside], "counts": {"k": x}, "last": "last"}


NESTED_STEPS = evolution(
    "nested",
    NESTED,
    upsert(nested_row("a", 1, 1), nested_row("b", 1, 2), nested_row("c", 1, 3)),
    upsert(nested_row("b", 2, 4)),
    upsert({**nested_row("c", 3, 2**40, z=0.5), "added": "added"}, columns=NESTED_LATER),
    requirements=("LF-038", "TYP-007"),
    says="Fields inside structs, arrays and maps are added and widened like columns.",
    rows=(
        {**nested_row("a", 1, 1, z=None), "added": None},
        {**nested_row("b", 2, 4, z=None), "added": None},
        {**nested_row("c", 3, 2**40, z=0.5), "added": "added"},
    ),
)

PLAIN = (("id", "string"), ("ts", "long"), ("name", "string"), ("size", "int"))
MORE = (("size", "int"), ("added", "string"), ("name", "string"), ("ts", "long"), ("id", "string"))
NOW_MORE = (*PLAIN, ("added", "string"))


def plain_row(key: str, ts: int, name: str, size: int = 5, **more: Any) -> Row:
    """A row of a few columns."""
    return {"id": key, "ts": ts, "name": name, "size": size, **more}


REORDERED = evolution(
    "reordered",
    PLAIN,
    upsert(plain_row("a", 1, "old"), plain_row("b", 1, "old"), plain_row("c", 1, "old")),
    upsert(plain_row("b", 2, "new order", 7, added="x"), columns=MORE),
    upsert(plain_row("c", 3, "old order", 8), columns=PLAIN, options=NULLS),
    requirements=("LF-038", "LAY-002"),
    says="Columns are matched by name, not by position, if rows have another column order and a new column in the middle.",
    flags=("wrong-column",),
    read_as=(("added", "string"),),
    columns=("id", "ts", "name", "size", "added"),
    rows=(
        plain_row("a", 1, "old", added=None),
        plain_row("b", 2, "new order", 7, added="x"),
        plain_row("c", 3, "old order", 8, added=None),
    ),
)

WINNERS = evolution(
    "winner-lacks-a-column",
    PLAIN,
    upsert(plain_row("a", 1, "base"), plain_row("b", 5, "base"), plain_row("c", 1, "base")),
    upsert(plain_row("a", 2, "wider", added="gone"), plain_row("b", 4, "late", added="late"),
           plain_row("c", 2, "wider", added="kept"),
           columns=NOW_MORE),
    upsert(plain_row("a", 3, "narrow"), plain_row("c", 1, "late and narrow"), columns=PLAIN, options=NULLS),
    mode=EVENT,
    requirements=("LF-038", "MRG-028"),
    says="The winning row replaces the other as a whole: a column that its writer lacked is null.",
    flags=("silent-stale",),
    read_as=(("added", "string"),),
    columns=("id", "ts", "name", "size", "added"),
    rows=(plain_row("a", 3, "narrow", added=None), plain_row("b", 5, "base", added=None),
          plain_row("c", 2, "wider", added="kept")),
)  # fmt: skip

FEWER = (("id", "string"), ("ts", "long"), ("name", "string"))
DROPPED = evolution(
    "dropped-column",
    PLAIN,
    upsert(plain_row("a", 1, "old"), plain_row("b", 1, "old")),
    upsert({"id": "a", "ts": 2, "name": "new"}, columns=FEWER, options=DROPS),
    checks=(
        Check(
            requirements=("LF-038", "TYP-007"),
            says="A column that the latest schema lacks is not in the result, although files have it.",
            if_it_fails="The columns of a query are those of the latest commit's schema.",
            flags=("wrong-column",),
            rows=({"id": "a", "ts": 2, "name": "new"}, {"id": "b", "ts": 1, "name": "old"}),
        ),
        as_of(
            0,
            "as-of-before",
            columns=("id", "ts", "name", "size"),
            read_as=(("size", "int"),),
            requirements=("TYP-008", "LF-038"),
            says="Time travel to before a column was dropped returns the columns of that time.",
            if_it_fails="Use the schema of the last commit that the query reads.",
            flags=("silent-stale",),
            rows=(plain_row("a", 1, "old"), plain_row("b", 1, "old")),
        ),
    ),
)

RECIPES = [*PROMOTED, *FLOAT_TO_DOUBLE, *NESTED_STEPS, *REORDERED, *WINNERS, *DROPPED]
