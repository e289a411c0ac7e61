"""Partial updates: log blocks with only some of the columns, as `MERGE INTO` writes them."""

from typing import Any

from tools.recipes.recipe import (
    COMMIT,
    HUDI,
    HUDI_1_2,
    MOR,
    Check,
    Producer,
    Recipe,
    Row,
    Step,
    Table,
    as_of,
    compact,
    merge_into,
    read_optimized,
    recipe,
    sql_delete,
    upsert,
)

PLACE = {"type": "record", "fields": [("city", "string"), ("zip", "string")]}
COLUMNS = (("id", "string"), ("ts", "long"), ("name", "string"), ("note", "string"), ("size", "long"), ("place", PLACE))
EVENT_TABLE = Table(columns=COLUMNS, type=MOR)
COMMIT_TABLE = EVENT_TABLE.having(merge_mode=COMMIT)
SAYS_HOW = "The schema of a partial block has the columns that change; take the others from the version before."
BOTH_RELEASES: tuple[Producer, ...] = (HUDI, HUDI_1_2)


def row(key: str = "a", ts: int = 5, **more: Any) -> Row:
    """A version of record `key` with all columns."""
    place = {"city": "Delft", "zip": "2611"}
    return {"id": key, "ts": ts, "name": "name", "note": None, "size": 5, "place": place, **more}


BASE = upsert(row(), row("b"), row("c", name=None))
OTHERS = (row("b"), row("c", name=None))


def partial(name: str, *steps: Step, table: Table = EVENT_TABLE, **more: Any) -> Recipe:
    """A recipe of this module."""
    check = {} if "checks" in more else {"requirements": ("LF-046",), "if_it_fails": SAYS_HOW, "flags": ("lost-write",)}
    more = {"producers": (HUDI,), **check, **more}
    needs = ("merge.partial-updates", "log.avro", table.merge_feature, "types.nested", *more.pop("needs", ()))
    return recipe("log", f"partial.{name}", table, BASE, *steps, needs=needs, **more)


#: Record a after a partial update with ordering value 6.
NAMED = row(ts=6, name="new")

BY_HUDI = [
    partial(
        "two-of-five-columns",
        merge_into({"id": "a", "ts": 6, "name": "new"}, {"id": "c", "ts": 7, "name": "filled"}),
        producers=BOTH_RELEASES,
        checks=(
            Check(
                requirements=("LF-045", "LF-046", "BLK-030"),
                says="A partial update of two columns leaves the three others unchanged, including nulls.",
                if_it_fails=SAYS_HOW,
                flags=("lost-write",),
                rows=(NAMED, row("b"), row("c", ts=7, name="filled")),
            ),
            Check(
                name="meta-columns",
                columns=("_hoodie_record_key", "_hoodie_commit_time", "name", "note"),
                requirements=("META-002", "LF-046"),
                says="The commit time of a record is that of the last partial update that changed it.",
                if_it_fails="The partial block has the meta columns.",
                flags=("silent-stale",),
                rows=(
                    {"_hoodie_record_key": "a", "_hoodie_commit_time": "{1}", "name": "new", "note": None},
                    {"_hoodie_record_key": "b", "_hoodie_commit_time": "{0}", "name": "name", "note": None},
                    {"_hoodie_record_key": "c", "_hoodie_commit_time": "{1}", "name": "filled", "note": None},
                ),
            ),
            Check(
                name="column-that-did-not-change",
                columns=("size",),
                requirements=("LF-046", "MRG-015"),
                says="A projection to a column that the partial block lacks returns the stored values.",
                if_it_fails=SAYS_HOW,
                flags=("lost-write",),
                rows=({"size": 5}, {"size": 5}, {"size": 5}),
            ),
        ),
    ),
    partial(
        "late",
        merge_into({"id": "a", "ts": 4, "name": "late"}, {"id": "b", "ts": 5, "name": "equal"}),
        requirements=("LF-046", "MRG-028", "MRG-029"),
        says="A partial update with a lower ordering value changes nothing; one with an equal value changes its columns.",
        flags=("silent-stale",),
        rows=(row(), row("b", name="equal"), row("c", name=None)),
    ),
    partial(
        "null-is-a-value",
        merge_into({"id": "a", "ts": 6, "name": None, "size": None}),
        says="A column that a partial update sets to null is null; a column that it lacks keeps its value.",
        rows=(row(ts=6, name=None, size=None), *OTHERS),
    ),
    partial(
        "on-partial",
        merge_into({"id": "a", "ts": 6, "name": "new"}),
        merge_into({"id": "a", "ts": 7, "note": "noted"}, {"id": "b", "ts": 7, "note": "noted"}),
        merge_into({"id": "a", "ts": 8, "size": 8, "note": "again"}),
        says="Partial updates of different columns are all applied.",
        rows=(row(ts=8, name="new", note="again", size=8), row("b", ts=7, note="noted"), row("c", name=None)),
        producers=BOTH_RELEASES,
    ),
    partial(
        "then-whole-row",
        merge_into({"id": "a", "ts": 6, "name": "new", "note": "noted"}),
        upsert(row(ts=7, name="whole", size=None)),
        says="A complete row after a partial update replaces all columns, also with null.",
        rows=(row(ts=7, name="whole", size=None), *OTHERS),
    ),
    partial(
        "after-whole-row",
        upsert(row(ts=6, name="whole", size=6)),
        merge_into({"id": "a", "ts": 7, "note": "noted"}),
        says="A partial update is applied to the row of an earlier log file, not to the row of the base file.",
        rows=(row(ts=7, name="whole", note="noted", size=6), *OTHERS),
    ),
    partial(
        "then-deleted",
        merge_into({"id": "a", "ts": 6, "name": "new"}, {"id": "b", "ts": 6, "name": "new"}),
        sql_delete({"id": "a"}),
        requirements=("LF-046", "BLK-006"),
        needs=("log.delete",),
        says="A record that was deleted after a partial update is not returned.",
        flags=("resurrected-row",),
        rows=(row("b", ts=6, name="new"), row("c", name=None)),
    ),
    partial(
        "deleted-and-written-again",
        sql_delete({"id": "a"}),
        upsert(row(ts=6, name="back", size=6)),
        merge_into({"id": "a", "ts": 7, "note": "noted"}),
        requirements=("LF-046", "BLK-006"),
        needs=("log.delete",),
        says="After a delete, a partial update is applied to the row that was written again, not to the deleted row.",
        rows=(row(ts=7, name="back", note="noted", size=6), *OTHERS),
        producers=(HUDI_1_2,),
    ),
    partial(
        "struct-as-a-whole",
        merge_into({"id": "a", "ts": 6, "place": {"city": "Gent", "zip": None}}),
        says="A partial update of a struct replaces the whole struct.",
        rows=(row(ts=6, place={"city": "Gent", "zip": None}), *OTHERS),
    ),
    partial(
        "commit-time",
        merge_into({"id": "a", "ts": 4, "name": "later commit"}),
        merge_into({"id": "a", "ts": 3, "note": "later still"}, {"id": "b", "ts": 3, "note": "later still"}),
        table=COMMIT_TABLE,
        producers=BOTH_RELEASES,
        requirements=("LF-046", "MRG-025"),
        says="In commit-time mode a later partial update changes its columns, whatever its ordering value.",
        rows=(row(ts=3, name="later commit", note="later still"), row("b", ts=3, note="later still"), row("c", name=None)),
    ),
    partial(
        "late-after-partial",
        merge_into({"id": "a", "ts": 7, "name": "new"}),
        merge_into({"id": "a", "ts": 6, "note": "late"}),
        requirements=("LF-046", "MRG-028"),
        says="It is open whether a late partial update fills columns that an earlier partial update lacks.",
        flags=("silent-stale",),
        errata=("ER-067",),
        open=True,
        rows=(row(ts=7, name="new"), *OTHERS),
    ),
    partial(
        "compacted",
        merge_into({"id": "a", "ts": 6, "name": "new"}),
        compact(),
        merge_into({"id": "a", "ts": 7, "note": "noted"}),
        checks=(
            Check(
                requirements=("LF-046", "CMP-006"),
                says="A partial update is applied to the row that a compaction made of an earlier partial update.",
                if_it_fails=SAYS_HOW,
                flags=("lost-write",),
                rows=(row(ts=7, name="new", note="noted"), *OTHERS),
            ),
            read_optimized(
                requirements=("CMP-002", "TYP-017"),
                says="The base file that a compaction writes has complete rows.",
                if_it_fails=SAYS_HOW,
                flags=("lost-write",),
                rows=(NAMED, *OTHERS),
            ),
            as_of(
                1,
                "as-of-the-first",
                requirements=("TYP-008", "LF-046"),
                says="Time travel to a partial update before a compaction applies it to the earlier base file.",
                if_it_fails=SAYS_HOW,
                flags=("lost-write",),
                rows=(NAMED, *OTHERS),
            ),
        ),
    ),
]

RECIPES = BY_HUDI
