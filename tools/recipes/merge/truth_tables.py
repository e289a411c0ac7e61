"""Truth tables of merging: every cell of the decision tables is a record of one small table, and its key names the cell.

`log.delete-row-lower` is a delete and a later row with a lower ordering value, both in log files. `base.` is a row of a base
file and a log entry, `batch.` two rows of one input. `...-then-row` also tests which of two deletes wins, by a last row with
an ordering value between theirs. The same steps make merge-on-read tables, tables with a compaction or a log compaction at the
end, and copy-on-write tables, where writers merge. The expected rows come from the model.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import product
from typing import Any

from tools.recipes.handmade_actions import data_block_of, deltacommit
from tools.recipes.recipe import (
    COMMIT,
    COW,
    EVENT,
    HUDI,
    MOR,
    REFERENCE,
    AsOf,
    MergeMode,
    Recipe,
    Row,
    Step,
    Table,
    TableEdit,
    TableType,
    compact,
    delete,
    service,
    upsert,
)
from tools.recipes.recipe import Check as Asked
from tools.recipes.table_edits import set_property

from hudi_conformance.model import Model


class Kind(Enum):
    """The kinds of versions that a log may have of a record."""

    #: There is no version: the key is new.
    ABSENT = "nothing"
    ROW = "row"
    #: A row with `_hoodie_is_deleted`: a delete that has an ordering value.
    DELETE = "delete"
    #: A delete by key, which has no ordering value.
    KEY_DELETE = "keydelete"


class Order(Enum):
    """The ordering value of the newer of two versions, compared with that of the older one."""

    LOWER = "lower"
    EQUAL = "equal"
    GREATER = "greater"


TABLE = Table(columns=(("id", "string"), ("ts", "int"), ("name", "string"), ("_hoodie_is_deleted", "boolean")))
#: Ordering values: of the base row below the logs, of the older version, of the newer one, and of a last row between the two.
LEAST, OLDER = 1, 20
NEWER = {Order.LOWER: 10, Order.EQUAL: 20, Order.GREATER: 30}
BETWEEN = {Order.LOWER: 15, Order.EQUAL: 19, Order.GREATER: 25, None: 5}


@dataclass
class Steps:
    """The rows of each write; deletes by key have keys only."""

    base: list[Row] = field(default_factory=list)
    older: list[Row] = field(default_factory=list)
    older_keys: list[Row] = field(default_factory=list)
    newer: list[Row] = field(default_factory=list)
    newer_keys: list[Row] = field(default_factory=list)
    last: list[Row] = field(default_factory=list)

    def in_order(self) -> tuple[Step, ...]:
        """The writes."""
        return (
            upsert(*self.base), upsert(*self.older), delete(*self.older_keys), upsert(*self.newer), delete(*self.newer_keys),
            upsert(*self.last),
        )  # fmt: skip


def version(key: str, kind: Kind, ts: int, name: str) -> Row:
    """A row, or a row that is marked as deleted."""
    return {"id": key, "ts": ts, "name": name, "_hoodie_is_deleted": kind is Kind.DELETE}


def cells() -> Iterator[tuple[Kind, Kind, Order | None]]:
    """Every pair of kinds, with every order where both have an ordering value."""
    for older in Kind:
        for newer in (Kind.ROW, Kind.DELETE, Kind.KEY_DELETE):
            ordered = {older, newer} <= {Kind.ROW, Kind.DELETE}
            yield from ((older, newer, order) for order in (Order if ordered else (None,)))


def name_of(where: str, older: Kind, newer: Kind, order: Order | None) -> str:
    """The key of a cell's record."""
    return f"{where}.{older.value}-{newer.value}" + (f"-{order.value}" if order else "")


def steps(mode: MergeMode) -> tuple[Step, ...]:
    """The writes that produce every cell."""
    found = Steps()
    for older, newer, order in cells():
        if older in (Kind.ABSENT, Kind.ROW):
            key = name_of("base", older, newer, order)
            found.base += [version(key, older, OLDER, "older")] if older is Kind.ROW else []
            _newer(found, key, newer, order)
        if older is not Kind.ABSENT:
            asked = (False, True) if older is not Kind.ROW is not newer else (False,)
            for goes_on in asked:
                key = name_of("log", older, newer, order) + ("-then-row" if goes_on else "")
                found.base.append(version(key, Kind.ROW, LEAST, "base"))
                _older(found, key, older)
                _newer(found, key, newer, order)
                found.last += [version(key, Kind.ROW, BETWEEN[order], "last")] if goes_on else []
        if mode == EVENT and order in (Order.LOWER, Order.GREATER):  # the result for equal values in one batch is not specified
            key = name_of("batch", older, newer, order)
            found.base.append(version(key, Kind.ROW, LEAST, "base"))
            found.older += [version(key, older, OLDER, "older"), version(key, newer, NEWER[order], "newer")]
    return found.in_order()


def _older(found: Steps, key: str, kind: Kind) -> None:
    if kind is Kind.KEY_DELETE:
        found.older_keys.append({"id": key})
    else:
        found.older.append(version(key, kind, OLDER, "older"))


def _newer(found: Steps, key: str, kind: Kind, order: Order | None) -> None:
    if kind is Kind.KEY_DELETE:
        found.newer_keys.append({"id": key})
    else:
        found.newer.append(version(key, kind, NEWER[order] if order else NEWER[Order.LOWER], "newer"))


SAYS = {
    EVENT: "In event-time mode the greater ordering value wins, or the later of equals, and a delete by key always wins",
    COMMIT: "In commit-time mode the later version wins, whatever the ordering values",
}
RULES = {EVENT: ("MRG-001", "MRG-028", "MRG-029"), COMMIT: ("MRG-001", "MRG-025")}


@dataclass(frozen=True)
class Arrangement:
    """The storage of the versions, and the steps after the writes."""

    where: str
    rules: tuple[str, ...]
    type: TableType = MOR
    more: tuple[Step, ...] = ()


ARRANGEMENTS = {
    "cow": Arrangement("merged by a writer into base files", ("TYP-002", "RDR-012"), COW),
    "compacted": Arrangement("after a compaction", ("MRG-008", "MRG-013"), more=(compact(),)),
    "log-compacted": Arrangement("after a log compaction", ("MRG-008", "LCP-003"), more=(service("log_compact"),)),
}
#: The rules of the same table before its compaction, where the reader merges.
READER = ("MRG-014", "BLK-009", "BLK-012", "RDR-014", "RDR-016")


def truth_table(mode: MergeMode, arrangement: str) -> Recipe:
    """The table that holds every cell of a merge mode."""
    found = ARRANGEMENTS[arrangement]
    asked = Asked(
        requirements=found.rules if found.type == COW else (*RULES[mode], *found.rules),
        says=f"{SAYS[mode]}. Every pair of versions is tested, {found.where}.",
        if_it_fails=(
            "The key names the wrong cell: where two versions were merged, their kinds, and how the newer ordering "
            "value compares; docs/merging.md has the table."
        ),
        flags=("silent-stale", "lost-write", "resurrected-row"),
    )
    checks: tuple[Asked, ...] = (asked,)
    if arrangement == "compacted":
        before = f"{SAYS[mode]}. Every pair of versions is tested, merged by a reader."
        as_of = AsOf(step=len(steps(mode)) - 1)
        rules = (*RULES[mode], *READER)
        checks += (replace(asked, name="before", kind="as-of", as_of=as_of, says=before, requirements=rules),)
    return Recipe(
        name=f"truth-table.{'event' if mode == EVENT else 'commit'}-time.{arrangement}",
        area="merge",
        table=TABLE.having(type=found.type, merge_mode=mode),
        steps=(*steps(mode), *found.more),
        checks=tuple(_as_deployed(asked)) if arrangement == "log-compacted" else checks,
    )


def _as_deployed(asked: Asked) -> Iterator[Asked]:
    """The rows with the log compaction of 1.0.2, in which any later row wins over a tombstone (ER-106)."""
    yield replace(asked, only=(REFERENCE,))
    late = {name_of("log", Kind.DELETE, Kind.ROW, Order.LOWER): NEWER[Order.LOWER]}
    pairs = {order: name_of("log", Kind.DELETE, Kind.DELETE, order) for order in Order}
    late |= {f"{name}-then-row": BETWEEN[order] for order, name in pairs.items()}
    model = Model(record_key=TABLE.record_key, ordering=TABLE.ordering, merge_mode="EVENT_TIME_ORDERING", table_type=MOR)
    for step in steps(EVENT):
        model.apply(step.kind, step.rows)  # type: ignore[arg-type]
    back = [version(key, Kind.ROW, ts, "last" if "then" in key else "newer") for key, ts in late.items()]
    yield replace(asked, only=(HUDI,), accept=((*model.snapshot(), *back),), errata=("ER-106",))


#: A table with three kinds of delete rows: by the flag, by the delete marker of the table, by the operation column.
MARKED = (("id", "string"), ("ts", "int"), ("name", "string"), ("op", "string"), ("_hoodie_operation", "string"),
          ("_hoodie_is_deleted", "boolean"))  # fmt: skip
MARKS: dict[str, Row] = {
    "flag": {"_hoodie_is_deleted": True},
    "marker": {"op": "D"},
    "operation": {"_hoodie_operation": "D"},
    "image-before": {"_hoodie_operation": "-U"},
}
NO_MARKS: dict[str, Row] = {
    "flag-false": {"_hoodie_is_deleted": False},
    "marker-in-another-case": {"op": "d"},
    "marker-with-a-blank": {"op": "D "},
    "operation-update": {"_hoodie_operation": "U"},
    "operation-insert": {"_hoodie_operation": "I"},
}
MARKER = (set_property("hoodie.payload.delete.field", "op"), set_property("hoodie.payload.delete.marker", "D"))
FORMS_FAIL = (
    "The key names the cell and the delete mark that was missed or wrongly applied: a delete that is stored "
    "as a row has the ordering value of the row."
)


def plain_row(key: str, ts: int, name: str, **mark: Any) -> Row:
    """A row with or without a mark."""
    return {**dict.fromkeys(column for column, _ in MARKED), "id": key, "ts": ts, "name": name, **mark}


def marked_rows(mode: MergeMode, marks: Mapping[str, Row], no_marks: Mapping[str, Row]) -> tuple[list[list[Row]], list[Row]]:
    """The rows of a base file and two log files, and the result by hand: late deletes and rows after greater deletes lose."""
    base, first, second, right = ([], [], [], [])  # type: tuple[list[Row], list[Row], list[Row], list[Row]]
    for (form, mark), (order, ts) in product(marks.items(), NEWER.items()):
        late = mode == EVENT and order is Order.LOWER
        key = f"{form}.row-delete-{order.value}"
        base.append(plain_row(key, OLDER, "older"))
        first.append(plain_row(key, ts, "newer", **mark))
        right += [plain_row(key, OLDER, "older")] if late else []
        key = f"{form}.delete-row-{order.value}"
        base.append(plain_row(key, LEAST, "base"))
        first.append(plain_row(key, OLDER, "older", **mark))
        second.append(plain_row(key, ts, "newer"))
        right += [] if late else [plain_row(key, ts, "newer")]
    for form, mark in no_marks.items():
        base.append(plain_row(form, OLDER, "older"))
        second.append(plain_row(form, NEWER[Order.GREATER], "newer", **mark))
        right.append(second[-1])
    return [base, first, second], right


def recipe_of_deletes_in_data_blocks(mode: MergeMode) -> Recipe:
    """Deletes in data blocks, written by hand, because writers write delete blocks instead."""
    (base, first, second), right = marked_rows(mode, MARKS, NO_MARKS)
    return Recipe(
        name=f"truth-table.{'event' if mode == EVENT else 'commit'}-time.deletes-as-rows",
        area="merge",
        table=TABLE.having(columns=MARKED, merge_mode=mode),
        steps=(upsert(*base),),
        checks=(
            Asked(
                requirements=RULES[mode],
                says=(
                    "Rows of data blocks are deletes by the delete flag, by the delete marker of the table, or by the "
                    "operation column."
                ),
                if_it_fails=FORMS_FAIL,
                flags=("resurrected-row", "lost-write"),
                rows=tuple(right),
            ),
        ),
        producers=(REFERENCE,),
        edits=(
            deltacommit(10, 11, data_block_of(MARKED, 10, *first), columns=MARKED),
            deltacommit(20, 21, data_block_of(MARKED, 20, *second), columns=MARKED),
            *MARKER,
        ),
    )


def marker_of_hudi(name: str, says: str, *, edits: tuple[TableEdit, ...] = (), options: Mapping[str, str]) -> Recipe:
    """Rows with the value of the delete marker, written by a job with or without the setting."""
    steps, right = marked_rows(EVENT, {"marker": MARKS["marker"]}, {"marker-in-another-case": {"op": "d"}})
    columns = tuple(column for column in MARKED if not column[0].startswith("_hoodie"))
    return Recipe(
        name=f"truth-table.event-time.{name}",
        area="merge",
        table=TABLE.having(columns=columns, options=options),
        steps=tuple(upsert(*rows) for rows in steps),
        checks=(
            Asked(
                requirements=RULES[EVENT],
                says=says,
                if_it_fails=FORMS_FAIL,
                flags=("resurrected-row", "lost-write"),
                rows=tuple({n: row[n] for n, _ in columns} for row in right),
            ),
        ),
        producers=(HUDI,),
        edits=edits,
    )


RECIPES = [
    *(truth_table(EVENT, arrangement) for arrangement in ARRANGEMENTS),
    truth_table(COMMIT, "compacted"),
    *map(recipe_of_deletes_in_data_blocks, (EVENT, COMMIT)),
    marker_of_hudi(
        "marker-of-the-table",
        "Rows with the delete marker value of the table are deletes, also if their writer did not apply the marker.",
        edits=MARKER,
        options={},
    ),
    marker_of_hudi(
        "marker-of-the-writer",
        "A writer that applies the delete marker writes marked rows as delete entries with the ordering values of the rows.",
        options={"hoodie.payload.delete.field": "op", "hoodie.payload.delete.marker": "D"},
    ),
]
