"""Merging by ordering values of every type, and by ordering fields under each name of the property."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
from tools.recipes.handmade_actions import STORED, at, data_block, delete_block, deltacommit
from tools.recipes.merge.merge_modes import BYSTANDER, EVENT_TABLE, FIRST, FLAG_TABLE, story
from tools.recipes.recipe import COW, HUDI, HUDI_1_2, MOR, REFERENCE, UNDECIDED, Recipe, Step, Table, insert, upsert
from tools.recipes.rows import FLAGGED, flagged, row

from hudi_reference.files.log.block import BlockType, HeaderKey, encode_block
from hudi_reference.files.log.content import Delete, encode_deletes


def recipes_of_late_and_newer(name: str, kind: str, old: Any, new: Any, **check: Any) -> list[Recipe]:
    """Three versions of each of two records: `new` wins over `old` in either order of arrival."""
    return story(
        f"ordering-type.{name}",
        Table(columns=(("id", "string"), ("ts", kind), ("name", "string"))),
        upsert(row(old, "old", key="up"), row(new, "new", key="down")),
        upsert(row(new, "new", key="up"), row(old, "late", key="down")),
        upsert(row(old, "late", key="up"), row(old, "late again", key="down")),
        requirements=("MRG-028", "MRG-029"),
        says=f"Ordering values of type {kind} compare by value: {old} is below {new}.",
        if_it_fails=f"Look at how ordering values of type {kind} are read from Avro log records and compared.",
        flags=("silent-stale",),
        **check,
    )


def flag_table(kind: str) -> Table:
    """A table with the delete flag and an ordering field of this type."""
    return FLAG_TABLE.having(columns=(("id", "string"), ("ts", kind), *FLAGGED[2:]))


OTHER_CLASSES = "The delete block and the row have ordering values of different classes; convert them before comparing."

ORDERING_TYPES = [
    *recipes_of_late_and_newer("int", "int", -2, 10),
    *recipes_of_late_and_newer("double", "double", -0.5, 9.75),
    *recipes_of_late_and_newer("string", "string", "10", "9"),
    *recipes_of_late_and_newer("string-unicode", "string", "z", "é"),
    *recipes_of_late_and_newer("decimal", "decimal(10,2)", Decimal("9.50"), Decimal("10.00"), needs=("types.decimal",)),
    *recipes_of_late_and_newer(
        "timestamp",
        "timestamp-micros",
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        datetime(2026, 1, 1, tzinfo=UTC),
        needs=("types.temporal",),
    ),
    *recipes_of_late_and_newer("date", "date", date(2025, 12, 31), date(2026, 1, 1), needs=("types.temporal",)),
    *recipes_of_late_and_newer("double-nan", "double", float("inf"), float("nan")),
    *story(
        "ordering-type.string.flagged-delete",
        flag_table("string"),
        upsert(row("2", "first"), {**BYSTANDER, "ts": "1"}),
        upsert(row("é", "stays")),
        upsert(flagged("b")),
        requirements=("MRG-029", "BLK-009"),
        says="A flagged delete with a text as ordering value is compared with the row's text: b is below é.",
        if_it_fails=OTHER_CLASSES,
        flags=("lost-write",),
    ),
    *story(
        "ordering-type.decimal.flagged-delete",
        flag_table("decimal(10,2)"),
        upsert(row(Decimal("10.00"), "stays"), row(Decimal("9.50"), "goes", key="b")),
        upsert(flagged(Decimal("9.99")), flagged(Decimal("10.00"), key="b")),
        requirements=("MRG-028", "MRG-029", "BLK-009"),
        says="Flagged deletes with decimals as ordering values are compared by value with the base rows.",
        if_it_fails=OTHER_CLASSES,
        flags=("lost-write",),
        needs=("types.decimal",),
    ),
    *story(
        "ordering-type.int-zero.flagged-delete",
        flag_table("int"),
        upsert(row(5, "stays if the delete's 0 is an ordering value"), BYSTANDER),
        upsert(flagged(0)),
        requirements=("MRG-029", "BLK-009"),
        says=(
            "It is open whether a flagged delete with int ordering 0 is late: its bytes are those of a delete without "
            "ordering value."
        ),
        if_it_fails="The bytes of the two deletes are equal, so the answer is recorded and no engine fails.",
        open=True,
    ),
    *story(
        "ordering-type.long-zero.flagged-delete",
        FLAG_TABLE,
        upsert(row(5, "stays"), BYSTANDER),
        upsert(flagged(0)),
        requirements=("MRG-029", "BLK-009"),
        says="A flagged delete with long ordering 0 is late, because a long 0 is an ordering value.",
        if_it_fails="Only an int 0 in a delete block means that there is no ordering value; a long 0 is an ordering value.",
        flags=("lost-write",),
    ),
    *story(
        "ordering-type.null",
        EVENT_TABLE,
        insert(row(None, "without ordering value"), BYSTANDER),
        upsert(row(3, "with ordering value")),
        requirements=("MRG-028",),
        says="A null ordering value counts as the default 0, so that a row with 3 replaces it.",
        if_it_fails="Null must be comparable with a value: it counts as the default ordering value.",
        flags=("silent-stale",),
    ),
    *story(
        "ordering-type.null.against-negative",
        EVENT_TABLE,
        insert(row(None, "without ordering value"), BYSTANDER),
        upsert(row(-3, "with a negative ordering value")),
        types=(COW, MOR),
        requirements=("MRG-028",),
        says="It is open whether a null ordering value counts as 0 against a negative one.",
        **UNDECIDED,
    ),
    *story(
        "ordering-type.nested-field",
        Table(
            columns=(("id", "string"), ("meta", {"type": "record", "fields": (("ts", "long"),)}), ("name", "string")),
            ordering=("meta.ts",),
        ),
        upsert({"id": "a", "meta": {"ts": 10}, "name": "stored"}),
        upsert({"id": "a", "meta": {"ts": 9}, "name": "late"}),
        producers=(HUDI,),
        requirements=("MRG-028", "MRG-029"),
        says="The ordering field may be a field of a struct.",
        rows=({"id": "a", "meta": {"ts": 10}, "name": "stored"},),
        if_it_fails=(
            "The reader looked up the path of the ordering field as the name of a top-level column and did not find it."
        ),
        flags=("silent-stale",),
        needs=("types.nested",),
    ),
    *story(
        "ordering-type.widened.flagged-delete",
        flag_table("int"),
        upsert(row(10, "stays"), row(1, "goes", key="b")),
        upsert(row(2, "widened", key="b"), columns=FLAGGED),
        upsert(flagged(9), flagged(9, key="b")),
        producers=(HUDI,),
        requirements=("MRG-028", "MRG-029"),
        says=(
            "After the ordering field was widened from int to long, deletes with a long are compared with rows that "
            "have an int."
        ),
        if_it_fails="Numbers of different widths must compare by value.",
        flags=("lost-write",),
        needs=("schema.evolution",),
    ),
]


def by_1_2(name: str, table: Table, *steps: Step, **more: Any) -> list[Recipe]:
    """A table of version 8 of release 1.2, in which the property of the ordering fields has another name."""
    cure = "Accept hoodie.table.ordering.fields in addition to hoodie.table.precombine.field."
    about = {"producers": (HUDI_1_2,), "if_it_fails": cure, "flags": ("silent-stale",)}
    return story(f"ordering-property-of-1-2.{name}", table, FIRST, *steps, **{**about, **more})


BY_1_2 = [
    *by_1_2(
        "late-record",
        EVENT_TABLE,
        upsert(row(9, "late")),
        requirements=("MRG-019", "MRG-028", "PROP-001"),
        says=(
            "A version 8 table of release 1.2 names its ordering field in hoodie.table.ordering.fields, and late rows "
            "have no effect."
        ),
        if_it_fails=(
            "Accept hoodie.table.ordering.fields in addition to hoodie.table.precombine.field; without either, refuse."
        ),
    ),
    *by_1_2(
        "flagged-delete",
        FLAG_TABLE,
        upsert(flagged(9), flagged(5, key="bystander")),
        requirements=("MRG-019", "MRG-028", "MRG-029", "PROP-001"),
        says="In a version 8 table of release 1.2, a late flagged delete has no effect and a newer one removes its row.",
        flags=("lost-write",),
    ),
    *by_1_2(
        "two-logs",
        EVENT_TABLE,
        upsert(row(12, "newest"), row(3, "newer", key="bystander")),
        upsert(row(11, "late")),
        requirements=("MRG-019", "MRG-028", "PROP-001"),
        says=(
            "In a version 8 table of release 1.2, the version with the greatest ordering value in base and log files "
            "is the result."
        ),
    ),
    *by_1_2(
        "copy-on-write",
        EVENT_TABLE,
        upsert(row(9, "late")),
        types=(COW,),
        requirements=("MRG-029",),
        says="The base files of a copy-on-write table of release 1.2 have merged rows.",
        if_it_fails="The base files of a copy-on-write table have merged rows; a reader does not merge them.",
    ),
    *story(
        "two-ordering-fields",
        Table(columns=(("id", "string"), ("day", "int"), ("ts", "long"), ("name", "string")), ordering=("day", "ts")),
        upsert({"id": "a", "day": 2, "ts": 1, "name": "stored"}, {"id": "b", "day": 1, "ts": 5, "name": "stored"}),
        upsert(
            {"id": "a", "day": 1, "ts": 9, "name": "earlier day"}, {"id": "b", "day": 1, "ts": 6, "name": "same day, newer"}
        ),
        upsert({"id": "b", "day": 1, "ts": 4, "name": "same day, late"}),
        producers=(HUDI_1_2, REFERENCE),
        requirements=("MRG-019", "MRG-028"),
        says="Several ordering fields are compared in turn; the first that differs decides.",
        if_it_fails="Only the first field was compared, or the list was used as the name of one column.",
        flags=("silent-stale",),
        needs=("merge.multiple-ordering-fields",),
    ),
]


def undecided(name: str, **more: Any) -> list[Recipe]:
    """Log files by hand on a base file. The specification does not define the result; `rows` is that of the reference."""
    return story(f"open.{name}", EVENT_TABLE, upsert(row(1, "base"), BYSTANDER), producers=(REFERENCE,), **UNDECIDED, **more)


def text_delete(second: int, key: str, ordering: str) -> bytes:
    """A delete block whose ordering value is a text."""
    header = {HeaderKey.INSTANT_TIME: at(second), HeaderKey.SCHEMA: json.dumps(STORED)}
    return encode_block(BlockType.DELETE, header, encode_deletes([Delete(key, "", ordering)], [pa.string()]))


OPEN = [
    *undecided(
        "tie-of-overlapping-writers",
        edits=(
            deltacommit(10, 31, data_block(10, row(5, "began first, completed last"))),
            deltacommit(20, 21, data_block(20, row(5, "began last, completed first"))),
        ),
        requirements=("MRG-028", "RDR-014"),
        says=(
            "It is open which of two overlapping deltacommits with equal ordering values is later: by request or by completion."
        ),
        rows=(row(5, "began last, completed first"), BYSTANDER),
        errata=("ER-021", "ER-054"),
    ),
    *undecided(
        "tie-of-a-row-and-a-delete-in-one-write",
        edits=(deltacommit(10, 11, delete_block(10, "a", ordering=5), data_block(10, row(5, "row"))),),
        requirements=("MRG-028", "BLK-011"),
        says="It is open whether the later block or the delete wins if one write has both with equal ordering values.",
        rows=(row(5, "row"), BYSTANDER),
        errata=("ER-054",),
    ),
    *undecided(
        "null-against-negative-in-logs",
        edits=(
            deltacommit(10, 11, data_block(10, {"id": "a", "ts": None, "name": "null"}, row(-1, "new", "c"))),
            deltacommit(20, 21, data_block(20, row(-1, "negative"), {"id": "c", "ts": None, "name": "null"})),
        ),
        requirements=("MRG-028",),
        says="It is open whether a null ordering value in a log file counts as 0 against negative values.",
        rows=(row(1, "base"), {"id": "c", "ts": None, "name": "null"}, BYSTANDER),
        errata=("ER-055",),
    ),
    *undecided(
        "delete-by-key-in-the-middle-of-history",
        edits=(
            deltacommit(10, 11, data_block(10, row(20, "before the delete"))),
            deltacommit(20, 21, delete_block(20, "a")),
            deltacommit(30, 31, data_block(30, row(10, "after the delete, with a lower value"))),
        ),
        requirements=("MRG-028", "MRG-003"),
        says=(
            "It is open whether a delete without ordering value lets a later log row win over an earlier one with a "
            "greater value."
        ),
        rows=(row(10, "after the delete, with a lower value"), BYSTANDER),
        errata=("ER-050", "ER-051"),
    ),
    *undecided(
        "ordering-values-of-two-types",
        edits=(deltacommit(10, 11, data_block(10, row(5, "row"))), deltacommit(20, 21, text_delete(20, "a", "9"))),
        requirements=("MRG-028",),
        says=(
            "It is open how a delete with a text as ordering value is merged with a row with a number; an error is accepted."
        ),
        rows=(row(5, "row"), BYSTANDER),
        errata=("ER-053",),
    ),
]

RECIPES = [*ORDERING_TYPES, *BY_1_2, *OPEN]
