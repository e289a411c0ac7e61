"""Payload classes: one table for each class and table type, in which each record tests one cell of the class's tables.

The expected rows are written by hand next to the stored and the incoming rows, from the description of each class.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tools.recipes.recipe import COMMIT, COW, EVENT, HUDI, MOR, REFERENCE, MergeMode, Recipe, Row, Table, TableType, upsert
from tools.recipes.recipe import Check as Asked

#: The strategy id of the sample merger that fills nulls.
FILL_NULLS = "6f1f2b8e-52c5-4d6a-9a55-0a3f3f1c2d01"
PACKAGE = "org.apache.hudi.common.model."
COLUMNS = (("id", "string"), ("ts", "long"), ("name", "string"), ("price", "string"))
FLAG = ("_hoodie_is_deleted", "boolean")
NUMBER = {COW: "cow", MOR: "mor"}


@dataclass(frozen=True)
class Cell:
    """Stored row, input (several rows are one input), and right result; values in the order of the columns."""

    key: str
    stored: tuple[Any, ...] | None
    incoming: tuple[Any, ...] | Sequence[tuple[Any, ...]]
    right: tuple[Any, ...] | None


@dataclass(frozen=True)
class Class:
    """A payload class, the columns of its table, and its cells. `mode` is the merge mode that the class implies."""

    name: str
    says: str
    rules: tuple[str, ...]
    cells: tuple[Cell, ...]
    columns: tuple[tuple[str, Any], ...] = COLUMNS
    ordering: str = "ts"
    mode: MergeMode = "CUSTOM"
    options: Mapping[str, str] = field(default_factory=dict)
    short: str = ""
    types: tuple[TableType, ...] = (MOR, COW)
    errata: tuple[str, ...] = ()

    def rows(self, key: str, values: Any) -> list[Row]:
        """The rows of one side of a cell."""
        found = values if isinstance(values, list) else [] if values is None else [values]
        names = [name for name, _ in self.columns[1:]]
        return [{"id": key, **dict(zip(names, one, strict=False))} for one in found]


LATE = Cell("late", (2, "name_2", "price_2"), (1, "name_1", "price_1"), (2, "name_2", "price_2"))
NEWER = Cell("newer", (2, "name_2", "price_2"), (3, "name_3", "price_3"), (3, "name_3", "price_3"))
TIE = Cell("tie", (2, "name_2", "price_2"), (2, "later", "later"), (2, "later", "later"))
TIE_STAYS = Cell("tie", (2, "name_2", "price_2"), (2, "later", "later"), (2, "name_2", "price_2"))
NEW = Cell("new", None, (7, "new", "new"), (7, "new", "new"))
OVERWRITES = Cell("late", (2, "name_2", "price_2"), (1, "name_1", "price_1"), (1, "name_1", "price_1"))
BATCH = Cell("batch", (2, "stored", "s"), [(5, "first", "f"), (4, "second", "s")], (5, "first", "f"))
GONE = Cell("gone", (2, "name_2", "price_2", False), (3, "name_3", "price_3", True), None)
BACK = Cell("late-delete", (5, "name_5", "price_5", False), (3, "name_3", "price_3", True), (5, "name_5", "price_5", False))


def flagged(*cells: Cell) -> tuple[Cell, ...]:
    """Cells of rows without the delete flag, with the flag column added."""

    def more(values: Any) -> Any:
        if isinstance(values, list):
            return [more(one) for one in values]
        return values if values is None or len(values) > 3 else (*values, False)

    return tuple(Cell(cell.key, more(cell.stored), more(cell.incoming), more(cell.right)) for cell in cells)


CLASSES = (
    Class(
        "OverwriteWithLatestAvroPayload", "The incoming record replaces the stored one, whatever the ordering values.",
        ("PAY-004", "PAY-007", "PAY-009"), flagged(OVERWRITES, NEWER, TIE, NEW, GONE), (*COLUMNS, FLAG), mode=COMMIT,
    ),
    Class(
        "DefaultHoodieRecordPayload", "The record with the greater ordering value stays, deletes included.",
        ("PAY-004", "PAY-008", "PAY-010"), flagged(LATE, NEWER, TIE, NEW, BATCH, GONE, BACK), (*COLUMNS, FLAG), mode=EVENT,
    ),
    Class(
        "DefaultHoodieRecordPayload", "Records with the delete marker are deletes, which are compared like other records.",
        ("PAY-004", "PAY-008"),
        (
            LATE,
            Cell("gone", (2, "name_2", "p"), (3, "name_3", "GONE"), None),
            Cell("late-delete", (5, "name_5", "p"), (3, "name_3", "GONE"), (5, "name_5", "p")),
            Cell("not-quite", (2, "name_2", "p"), (3, "name_3", "gone"), (3, "name_3", "gone")),
        ),
        mode=EVENT, short="delete-marker",
        options={"hoodie.payload.delete.field": "price", "hoodie.payload.delete.marker": "GONE"},
    ),
    Class(
        "EventTimeAvroPayload", "The record with the greater ordering value stays.", ("PAY-004", "PAY-012"),
        flagged(LATE, NEWER, TIE, NEW, BATCH, GONE), (*COLUMNS, FLAG),
    ),
    Class(
        "OverwriteNonDefaultsWithLatestAvroPayload",
        "Columns of the incoming record that differ from their default replace those of the stored one.",
        ("PAY-004", "PAY-014", "PAY-015"),
        flagged(
            OVERWRITES, NEW, TIE, GONE,
            Cell("fills", (2, "name_2", "price_2"), (1, None, "price_1"), (1, "name_2", "price_1")),
            Cell("fills-newer", (2, "name_2", "price_2"), (3, "name_3", None), (3, "name_3", "price_2")),
            Cell("batch", (2, "stored", "s"), [(5, "first", None), (4, None, "second")], (5, "first", "s")),
        ),
        (*COLUMNS, FLAG),
    ),
    Class(
        "PartialUpdateAvroPayload",
        "The record with the greater ordering value stays, and its nulls are filled from the other one.",
        ("PAY-004", "PAY-016", "PAY-017", "PAY-018"),
        (
            Cell("fills-late", (2, "name_1", None), (1, None, "price_1"), (2, "name_1", "price_1")),
            Cell("fills-newer", (1, None, "price_1"), (2, "name_1", None), (2, "name_1", "price_1")),
            Cell("replaces", (2, "name_1", "p_1"), (2, "name_2", None), (2, "name_2", "p_1")),
            Cell("late", (2, "name_1", "p_1"), (1, "name_2", "p_2"), (2, "name_1", "p_1")),
            Cell("newer", (2, "name_1", None), (3, None, "p_3"), (3, "name_1", "p_3")),
            Cell("batch", (1, "a1", "10"), [(2, "a1", "11"), (3, "a1_0", None)], (3, "a1_0", "11")),
            NEW,
        ),
    ),
    Class(
        "FirstValueAvroPayload", "The record with the greater ordering value stays, or the stored one of equals.",
        ("PAY-004",), (LATE, NEWER, TIE_STAYS, NEW), types=(MOR,),
    ),
    Class("HoodieAvroPayload", "The incoming record replaces the stored one, whatever the ordering values.", ("PAY-004",),
          (OVERWRITES, NEWER, TIE, NEW), types=(MOR,)),
    Class(
        "AWSDmsAvroPayload", "The incoming record replaces the stored one, and the operation D deletes it.",
        ("PAY-004", "PAY-023"),
        (
            Cell("inserted", None, (1, "name_1", "p", "I"), (1, "name_1", "p", "I")),
            Cell("updated", (1, "name_1", "p", "I"), (2, "name_2", "p", "U"), (2, "name_2", "p", "U")),
            Cell("late", (2, "name_2", "p", "I"), (1, "name_1", "p", "U"), (1, "name_1", "p", "U")),
            Cell("deleted", (1, "name_1", "p", "I"), (2, "name_1", "p", "D"), None),
        ),
        (*COLUMNS, ("Op", "string")),
    ),
    Class(
        "debezium.MySqlDebeziumAvroPayload",
        "The record that is later in the source's binary log stays, file before position and both as numbers; d deletes.",
        ("PAY-004", "PAY-022"),
        (
            Cell("inserted", None, ("1.10", "name_1", "c"), ("1.10", "name_1", "c")),
            Cell("updated", ("1.10", "name_1", "c"), ("1.20", "name_2", "u"), ("1.20", "name_2", "u")),
            Cell("next-file", ("9.900", "name_1", "c"), ("10.4", "name_2", "u"), ("10.4", "name_2", "u")),
            Cell("late", ("1.20", "name_2", "u"), ("1.10", "name_1", "c"), ("1.20", "name_2", "u")),
            Cell("late-as-text", ("1.100", "name_2", "u"), ("1.20", "name_1", "c"), ("1.100", "name_2", "u")),
            Cell("deleted", ("1.10", "name_1", "c"), ("1.20", "name_1", "d"), None),
        ),
        (("id", "string"), ("_event_seq", "string"), ("name", "string"), ("_change_operation_type", "string")),
        ordering="_event_seq",
    ),
    Class(
        "debezium.PostgresDebeziumAvroPayload",
        "The record that is later in the source's log stays; values that the source did not send are those stored; d deletes.",
        ("PAY-004", "PAY-022"),
        (
            Cell("inserted", None, (10, "name_1", "c"), (10, "name_1", "c")),
            Cell("updated", (10, "name_1", "c"), (20, "name_2", "u"), (20, "name_2", "u")),
            Cell("tie", (10, "name_1", "c"), (10, "name_2", "u"), (10, "name_2", "u")),
            Cell("late", (20, "name_2", "u"), (10, "name_1", "c"), (20, "name_2", "u")),
            Cell("unavailable", (10, "name_1", "c"), (20, "__debezium_unavailable_value", "u"), (20, "name_1", "u")),
            Cell("deleted", (10, "name_1", "c"), (20, "name_1", "d"), None),
        ),
        (("id", "string"), ("_event_lsn", "long"), ("name", "string"), ("_change_operation_type", "string")),
        ordering="_event_lsn",
    ),
)  # fmt: skip


#: Inserts beside updates do not make the update of a small file a new base file.
NO_SMALL_FILES = {"hoodie.parquet.small.file.limit": "0"}


def recipe(payload: Class, kind: TableType, *, in_log: bool = False) -> Recipe:
    """The table of a payload class, of one type; with `in_log` the input is in a log file, otherwise Hudi chooses."""
    stored = [row for cell in payload.cells for row in payload.rows(cell.key, cell.stored)]
    incoming = [row for cell in payload.cells for row in payload.rows(cell.key, cell.incoming)]
    right = [row for cell in payload.cells for row in payload.rows(cell.key, cell.right)]
    short = re.sub(r"(?<!^)(?=[A-Z][a-z])", "-", payload.name.rpartition(".")[2].removesuffix("Payload")).lower()
    rules = (*payload.rules, "PAY-002") if kind == MOR else ("TYP-002", "TYP-003")
    return Recipe(
        name=f"payload.{short}{'.' if payload.short else ''}{payload.short}{'.in-a-log' * in_log}.{NUMBER[kind]}",
        area="merge",
        table=Table(
            columns=payload.columns, type=kind, ordering=(payload.ordering,), merge_mode=payload.mode,
            options={
                "hoodie.datasource.write.payload.class": PACKAGE + payload.name,
                **payload.options,
                **(NO_SMALL_FILES if in_log else {}),
            },
        ),
        steps=(upsert(*stored), upsert(*incoming)),
        checks=(
            Asked(
                requirements=rules,
                says=f"{payload.name}: {payload.says}",
                rows=tuple(right),
                if_it_fails=("The key names the merged versions: look up the payload class by its full name and merge by "
                             "its rule; never load a class, and never use another mode in its place."),
                flags=("silent-stale",),
                errata=payload.errata,
            ),
        ),
        producers=(HUDI,),
    )  # fmt: skip


def recipes() -> Iterator[Recipe]:
    """All of them."""
    for payload in CLASSES:
        yield from (recipe(payload, kind) for kind in payload.types)
        if any(cell.stored is None for cell in payload.cells):  # Hudi adds an insert to the base file, with all updates
            yield recipe(payload, MOR, in_log=True)


def own_merger() -> Recipe:
    """A table with a custom merger, which builds rows from both versions."""
    columns = (("id", "string"), ("ts", "long"), ("status", "string"), ("order_info", "string"), ("payment_info", "string"))
    names = [name for name, _ in columns]

    def order(*values: Any) -> Row:
        return dict(zip(names, values, strict=True))

    return Recipe(
        name="own-merger.mor",
        area="merge",
        table=Table(columns=columns, merge_mode="CUSTOM", options={"hoodie.record.merge.strategy.id": FILL_NULLS}),
        steps=(
            upsert(order("a", 2, "cancelled", None, "card"), order("b", 1, "created", "two books", None)),
            upsert(order("a", 1, "created", "two books", None), order("b", 2, "cancelled", None, "card")),
        ),
        checks=(
            Asked(
                requirements=("MRG-031", "MRG-032", "API-008", "NBC-005"),
                says=(
                    "A table with a custom merger is merged by it, or refused by an engine that does not support its "
                    "strategy id."
                ),
                rows=(order("a", 2, "cancelled", "two books", "card"), order("b", 2, "cancelled", "two books", "card")),
                refused="merge-strategy",
                or_rows=True,
                if_it_fails=(
                    "The table was merged by rules of another merger; check its strategy id, and name it in the refusal."
                ),
                flags=("silent-guess",),
            ),
        ),
        producers=(REFERENCE,),
    )


RECIPES = [*recipes(), own_merger()]
