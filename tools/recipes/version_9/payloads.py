"""The deprecated payload classes at version 9: merge mode, partial update mode and delete marker in their place.

Each table has one record for each cell; its key names the cell. The rows on the right are written by hand. The first write
names the class, and later writers follow the table.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tools.recipes.merge.payloads import (
    BACK,
    BATCH,
    COLUMNS,
    FLAG,
    GONE,
    LATE,
    NEW,
    NEWER,
    OVERWRITES,
    PACKAGE,
    TIE,
    Cell,
    Class,
    flagged,
)
from tools.recipes.merge.payloads import recipe as at_version_8
from tools.recipes.recipe import (
    COW,
    HUDI_1_2,
    MOR,
    REFERENCE,
    UNDECIDED,
    Producer,
    Recipe,
    Table,
    TableType,
    compact_by_client,
    delete,
    merge_into,
    recipe,
    upsert,
)
from tools.recipes.rows import SHORT

LATE_DELETE = replace(BACK, right=None)
CHANGED = ("_change_operation_type", "string")
UNAVAILABLE = "__debezium_unavailable_value"
BINARY_LOG = (("id", "string"), ("_event_bin_file", "string"), ("_event_pos", "long"), ("name", "string"), CHANGED)
FILE, NEXT = "mysql-bin.000007", "mysql-bin.000008"

CLASSES = (
    Class(
        "OverwriteWithLatestAvroPayload", "The later write wins, rows and deletes.",
        ("PAY-024", "MRG-025", "PAY-007", "PAY-009"),
        flagged(OVERWRITES, NEWER, TIE, NEW, GONE, LATE_DELETE), (*COLUMNS, FLAG),
    ),
    Class(
        "DefaultHoodieRecordPayload", "The greater ordering value wins, rows and deletes.",
        ("PAY-024", "MRG-028", "PAY-008", "PAY-010"),
        flagged(LATE, NEWER, TIE, NEW, BATCH, GONE, BACK), (*COLUMNS, FLAG),
    ),
    Class(
        "DefaultHoodieRecordPayload", "Rows with exactly the marker are deletes, which are compared like rows.",
        ("PAY-024", "MRG-051", "PROP-024"),
        (
            LATE,
            Cell("gone", (2, "name_2", "p"), (3, "name_3", "GONE"), None),
            Cell("late-delete", (5, "name_5", "p"), (3, "name_3", "GONE"), (5, "name_5", "p")),
            Cell("not-quite", (2, "name_2", "p"), (3, "name_3", "gone"), (3, "name_3", "gone")),
        ),
        short="delete-marker", options={"hoodie.payload.delete.field": "price", "hoodie.payload.delete.marker": "GONE"},
    ),
    Class(
        "EventTimeAvroPayload", "The greater ordering value wins, rows and deletes.", ("PAY-024", "MRG-028", "PAY-012"),
        flagged(LATE, NEWER, TIE, NEW, BATCH, GONE, BACK), (*COLUMNS, FLAG),
    ),
    Class(
        "OverwriteNonDefaultsWithLatestAvroPayload", "The later write wins; its nulls are filled from the stored row.",
        ("PAY-024", "MRG-048", "PROP-023", "PAY-015"),
        flagged(
            OVERWRITES, NEW, TIE, GONE, LATE_DELETE,
            Cell("fills", (2, "name_2", "price_2"), (1, None, "price_1"), (1, "name_2", "price_1")),
            Cell("fills-newer", (2, "name_2", "price_2"), (3, "name_3", None), (3, "name_3", "price_2")),
            Cell("fills-two", (2, "name_2", "price_2"), (3, None, None), (3, "name_2", "price_2")),
        ),
        (*COLUMNS, FLAG),
    ),
    Class(
        "PartialUpdateAvroPayload", "The greater ordering value wins; its nulls are filled from the other row.",
        ("PAY-024", "MRG-048", "PROP-023", "PAY-016", "PAY-017", "PAY-018"),
        flagged(
            Cell("fills-late", (2, "name_1", None), (1, None, "price_1"), (2, "name_1", "price_1")),
            Cell("fills-newer", (1, None, "price_1"), (2, "name_1", None), (2, "name_1", "price_1")),
            Cell("replaces", (2, "name_1", "p_1"), (2, "name_2", None), (2, "name_2", "p_1")),
            Cell("late", (2, "name_1", "p_1"), (1, "name_2", "p_2"), (2, "name_1", "p_1")),
            Cell("newer", (2, "name_1", None), (3, None, "p_3"), (3, "name_1", "p_3")),
            NEW, GONE, BACK,
        ),
        (*COLUMNS, FLAG),
    ),
    Class(
        "ReverseOrderHoodieRecordPayload", "A class that is not deprecated stays: the lower ordering value wins.",
        ("PAY-028",),
        flagged(
            Cell("late", (2, "name_2", "price_2"), (1, "name_1", "price_1"), (1, "name_1", "price_1")),
            Cell("newer", (2, "name_2", "price_2"), (3, "name_3", "price_3"), (2, "name_2", "price_2")),
            TIE, NEW,
            Cell("batch", (5, "stored", "s"), [(3, "first", "f"), (4, "second", "s")], (3, "first", "f")),
            Cell("gone", (5, "name_5", "p_5", False), (3, "name_3", "p_3", True), None),
            Cell("newer-delete", (2, "name_2", "p_2", False), (3, "name_3", "p_3", True), (2, "name_2", "p_2", False)),
        ),
        (*COLUMNS, FLAG),
    ),
    Class("HoodieAvroPayload", "A class that is not deprecated stays: the incoming row wins.", ("PAY-028", "NBC-005"),
          (OVERWRITES, NEWER, TIE, NEW)),
    Class(
        "AWSDmsAvroPayload", "The later write wins, and exactly D in the column Op deletes.", ("PAY-025", "MRG-051"),
        (
            Cell("inserted", None, (1, "name_1", "p", "I"), (1, "name_1", "p", "I")),
            Cell("updated", (1, "name_1", "p", "I"), (2, "name_2", "p", "U"), (2, "name_2", "p", "U")),
            Cell("late", (2, "name_2", "p", "I"), (1, "name_1", "p", "U"), (1, "name_1", "p", "U")),
            Cell("deleted", (1, "name_1", "p", "I"), (2, "name_1", "p", "D"), None),
            Cell("late-delete", (2, "name_1", "p", "I"), (1, "name_1", "p", "D"), None),
            Cell("lower-case", (1, "name_1", "p", "I"), (2, "name_2", "p", "d"), (2, "name_2", "p", "d")),
            Cell("unknown", None, (2, "name_2", "p", "D"), None),
        ),
        (*COLUMNS, ("Op", "string")),
    ),
    Class(
        "debezium.MySqlDebeziumAvroPayload", "File, then position in the binary log decide; exactly d deletes.",
        ("PAY-027", "MRG-046"),
        (
            Cell("inserted", None, (FILE, 10, "name_1", "c"), (FILE, 10, "name_1", "c")),
            Cell("updated", (FILE, 10, "name_1", "c"), (FILE, 20, "name_2", "u"), (FILE, 20, "name_2", "u")),
            Cell("next-file", (FILE, 900, "name_1", "c"), (NEXT, 4, "name_2", "u"), (NEXT, 4, "name_2", "u")),
            Cell("late", (FILE, 20, "name_2", "u"), (FILE, 10, "name_1", "c"), (FILE, 20, "name_2", "u")),
            Cell("tie", (FILE, 20, "name_2", "u"), (FILE, 20, "name_1", "c"), (FILE, 20, "name_1", "c")),
            Cell("earlier-file", (NEXT, 4, "name_2", "u"), (FILE, 900, "name_1", "c"), (NEXT, 4, "name_2", "u")),
            Cell("deleted", (FILE, 10, "name_1", "c"), (FILE, 20, "name_1", "d"), None),
            Cell("late-delete", (FILE, 20, "name_1", "u"), (FILE, 10, "name_1", "d"), (FILE, 20, "name_1", "u")),
        ),
        BINARY_LOG, ordering="_event_bin_file,_event_pos",
    ),
    Class(
        "debezium.PostgresDebeziumAvroPayload",
        "The greater position wins, values that the source did not send are those stored, and exactly d deletes.",
        ("PAY-026", "MRG-049", "PROP-023"),
        (
            Cell("inserted", None, (10, "name_1", "c"), (10, "name_1", "c")),
            Cell("updated", (10, "name_1", "c"), (20, "name_2", "u"), (20, "name_2", "u")),
            Cell("tie", (10, "name_1", "c"), (10, "name_2", "u"), (10, "name_2", "u")),
            Cell("late", (20, "name_2", "u"), (10, "name_1", "c"), (20, "name_2", "u")),
            Cell("unavailable", (10, "name_1", "c"), (20, UNAVAILABLE, "u"), (20, "name_1", "u")),
            Cell("null", (10, "name_1", "c"), (20, None, "u"), (20, None, "u")),
            Cell("deleted", (10, "name_1", "c"), (20, "name_1", "d"), None),
            Cell("late-delete", (20, "name_1", "u"), (10, "name_1", "d"), (20, "name_1", "u")),
        ),
        (("id", "string"), ("_event_lsn", "long"), ("name", "string"), CHANGED), ordering="_event_lsn",
    ),
)  # fmt: skip

#: New keys go to file groups of their own; otherwise the input is merged into a new base file, and there are no logs.
NO_SMALL_FILES = {"hoodie.parquet.small.file.limit": "0"}
BY_TABLE = "The table stores how it merges: hoodie.record.merge.mode, the partial update mode and the merge properties."
STALE: dict[str, Any] = {"flags": ("silent-stale",), "if_it_fails": BY_TABLE}


def at_version_9(payload: Class, kind: Any, *, compacted: bool = False) -> Recipe:
    """The table of a class at version 9; `compacted` with a compaction at the end."""
    old = at_version_8(payload, kind)
    by_class = {"hoodie.datasource.write.payload.class": PACKAGE + payload.name, **payload.options}
    first, *later = old.steps
    table = replace(old.table, version=9, options=NO_SMALL_FILES, merge_mode=None, ordering=tuple(payload.ordering.split(",")))
    rules = payload.rules if kind == MOR else ("TYP-002", "TYP-003")
    check = replace(old.checks[0], requirements=rules, **STALE)
    if compacted:
        check = replace(check, requirements=(*rules, "MRG-013"), says=f"{check.says} A compaction does the same.")
    return replace(
        old,
        name=f"version-9.{old.name}{'.compacted' if compacted else ''}",
        table=table,
        steps=(replace(first, options=by_class), *later, *([compact_by_client()] if compacted else [])),
        checks=(check,),
        producers=(HUDI_1_2,) if compacted or kind == COW else (HUDI_1_2, REFERENCE),
        needs=("merge.multiple-ordering-fields",) if "," in payload.ordering else (),
    )


#: A compaction of 1.2.0 stores the placeholder of unavailable values; no reader can tell what was there.
COMPACTED_WRONG = ("debezium.PostgresDebeziumAvroPayload",)


def classes() -> Iterator[Recipe]:
    """All classes in both types, and with a compaction."""
    for payload in CLASSES:
        yield from (at_version_9(payload, kind) for kind in (MOR, COW))
        if not payload.short and payload.name not in COMPACTED_WRONG:
            yield at_version_9(payload, MOR, compacted=True)


def first_with(name: str, *rows: Any) -> Any:
    """The first write of a table that is created by a payload class."""
    return upsert(*rows, options={"hoodie.datasource.write.payload.class": PACKAGE + name})


WIDE = (("id", "string"), ("ts", "long"), ("a", "string"), ("b", "string"), ("c", "long"))


def wide_row(key: str, ts: int, a: str | None, b: str | None, c: int | None) -> dict[str, Any]:
    """A row of several columns that may be null."""
    return {"id": key, "ts": ts, "a": a, "b": b, "c": c}


PARTIAL = "PartialUpdateAvroPayload"
BYTES = (("id", "string"), ("_event_lsn", "long"), ("name", "string"), ("data", "bytes"), CHANGED)


def event(key: str, lsn: int, name: str, data: bytes) -> dict[str, Any]:
    """A change with a column of bytes."""
    return {"id": key, "_event_lsn": lsn, "name": name, "data": data, "_change_operation_type": "u"}


def at_position(key: str, file: str, position: int, name: str) -> dict[str, Any]:
    """A change at a position of the binary log."""
    return {"id": key, "_event_bin_file": file, "_event_pos": position, "name": name, "_change_operation_type": "u"}


def recipes_of_both_types(
    name: str, table: Table, *steps: Any, types: tuple[TableType, ...] = (COW, MOR),
    producers: tuple[Producer, ...] = (HUDI_1_2, REFERENCE), **check: Any,
) -> list[Recipe]:  # fmt: skip
    """The recipe in each type of table."""
    return [
        recipe("merge", f"version-9.{name}.{SHORT[kind]}", table.having(type=kind, version=9), *steps,
               producers=producers, **{**STALE, **check})
        for kind in types
    ]  # fmt: skip


FILLED = [
    *recipes_of_both_types(
        "partial.late-row-fills", Table(columns=WIDE),
        first_with(PARTIAL, wide_row("k", 2, "A", "B", 7)), upsert(wide_row("k", 3, None, "B2", None)),
        upsert(wide_row("k", 1, "A0", None, 5)), rows=(wide_row("k", 3, "A", "B2", 7),),
        requirements=("MRG-048", "MRG-008"), errata=("ER-177",),
        says="Three versions are merged in the order of their commits, so that both types of table have one answer.",
    ),
    *recipes_of_both_types(
        "partial.after-a-delete", Table(columns=WIDE),
        first_with(PARTIAL, wide_row("k", 2, "A", "B", 7), wide_row("other", 1, "x", "y", 1)), delete({"id": "k"}),
        upsert(wide_row("k", 3, None, "B2", None)),
        rows=(wide_row("k", 3, None, "B2", None), wide_row("other", 1, "x", "y", 1)),
        requirements=("MRG-050",), says="A row that is written after a delete keeps its nulls: the deleted row fills nothing.",
    ),
    *recipes_of_both_types(
        "partial.null-by-partial-update", Table(columns=WIDE),
        first_with("OverwriteNonDefaultsWithLatestAvroPayload", wide_row("k", 2, "A", "B", 7),
                   wide_row("other", 1, "x", "y", 1)),
        merge_into({"id": "k", "ts": 3, "a": None}), types=(COW,),
        rows=(wide_row("k", 3, None, "B", 7), wide_row("other", 1, "x", "y", 1)), requirements=("MRG-050",),
        needs=("merge.partial-updates",),
        says="An update of named columns that sets one to null stores the null, whatever the partial update mode.",
    ),
    *recipes_of_both_types(
        "partial.bytes", Table(columns=BYTES, ordering=("_event_lsn",)),
        first_with("debezium.PostgresDebeziumAvroPayload", event("k", 10, "name_1", b"data_1")),
        upsert(event("k", 20, UNAVAILABLE, UNAVAILABLE.encode())), rows=(event("k", 20, "name_1", b"data_1"),),
        requirements=("MRG-049",), errata=("ER-176",),
        says="The placeholder is replaced in columns of text and of bytes.",
    ),
    *recipes_of_both_types(
        "binary-log.tenth-file", Table(columns=BINARY_LOG, ordering=("_event_bin_file", "_event_pos")),
        first_with("debezium.MySqlDebeziumAvroPayload", at_position("k", "bin.9", 5, "ninth")),
        upsert(at_position("k", "bin.10", 1, "tenth")), producers=(HUDI_1_2,), rows=(at_position("k", "bin.9", 5, "ninth"),),
        needs=("merge.multiple-ordering-fields",), requirements=("PAY-027",), errata=("ER-178",), **UNDECIDED,
        says="The tenth file of a binary log comes after the ninth by number, and before it as text.",
    ),
]  # fmt: skip

RECIPES = [*classes(), *FILLED]
