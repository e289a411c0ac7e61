"""Truth tables of merging: every cell of the decision tables is a record of one small table, and its key names the cell.

`log.delete-row-lower` is a delete that meets a later row with a lower ordering value, both in logs; `base.` are a row of a base
file and a log entry, `batch.` two rows of one input. `...-then-row` asks further which of two deletes stayed: a last row, with
an ordering value between theirs, is there or not. The same steps make merge-on-read tables, tables with a compaction or a
log compaction at the end, and copy-on-write tables, where writers merge. What is right comes from the model.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from tools.recipes.recipe import (
    BOTH,
    COMMIT,
    COW,
    EVENT,
    HUDI,
    MOR,
    MergeMode,
    Producer,
    Recipe,
    Row,
    Step,
    Table,
    compact,
    delete,
    service,
    upsert,
)
from tools.recipes.recipe import Check as Asked

from hudi_reference.records.decisions import COMPARED, Kind, Order

TABLE = Table(columns=(("id", "string"), ("ts", "int"), ("name", "string"), ("_hoodie_is_deleted", "boolean")))
WORDS = {Kind.ABSENT: "nothing", Kind.ROW: "row", Kind.DELETE: "delete", Kind.KEY_DELETE: "keydelete"}
#: Ordering values: of the base row below the logs, of the older version, of the newer one, and of a last row between the two.
LEAST, OLDER = 1, 20
NEWER = {Order.LOWER: 10, Order.EQUAL: 20, Order.GREATER: 30}
BETWEEN = {Order.LOWER: 15, Order.EQUAL: 19, Order.GREATER: 25, None: 5}


@dataclass
class Steps:
    """What each write holds; deletes by key hold keys only."""

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
            yield from ((older, newer, order) for order in (COMPARED if ordered else (None,)))


def name_of(where: str, older: Kind, newer: Kind, order: Order | None) -> str:
    """The key of a cell's record."""
    return f"{where}.{WORDS[older]}-{WORDS[newer]}" + (f"-{order.value}" if order else "")


def steps(mode: MergeMode) -> tuple[Step, ...]:
    """The writes that bring every cell about."""
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
        if mode == EVENT and order in (Order.LOWER, Order.GREATER):  # which of equals counts is not said of a batch
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
    EVENT: "Event time: the greater ordering value stays, the later of equals, and a delete by key wins over all before it",
    COMMIT: "Commit time: the later version stays, whatever the ordering values",
}
RULES = {EVENT: ("MRG-001", "MRG-028", "MRG-029"), COMMIT: ("MRG-001", "MRG-025")}
#: How the versions are stored -> what follows the writes, who makes the table, further rules, and what is said of it.
ARRANGEMENTS: dict[str, tuple[tuple[Step, ...], tuple[Producer, ...], tuple[str, ...], str]] = {
    "mor": ((), BOTH, ("MRG-014", "BLK-009", "BLK-012", "RDR-014", "RDR-016"), "where base rows and log entries meet"),
    "cow": ((), BOTH, ("TYP-002", "RDR-012"), "where a writer merged them into base files"),
    "compacted": ((compact(),), (HUDI,), ("MRG-008", "MRG-013"), "after a compaction"),
    "log-compacted": ((service("log_compact"),), (HUDI,), ("MRG-008", "LCP-003"), "after a log compaction"),
}


def truth_table(mode: MergeMode, arrangement: str) -> Recipe:
    """The table that holds every cell of a merge mode."""
    more, producers, rules, where = ARRANGEMENTS[arrangement]
    kind = COW if arrangement == "cow" else MOR
    return Recipe(
        name=f"truth-table.{'event' if mode == EVENT else 'commit'}-time.{arrangement}",
        area="merge",
        table=TABLE.having(type=kind, merge_mode=mode),
        steps=(*steps(mode), *more),
        checks=(
            Asked(
                requirements=rules if kind == COW else (*RULES[mode], *rules),
                says=f"{SAYS[mode]}: every pair of versions, {where}.",
                if_it_fails="The key says which cell is wrong: where two versions met, what the older and what the newer one "
                "was, and how the newer one's ordering value compares; docs/merging.md has the table.",
                flags=("silent-stale", "lost-write", "resurrected-row"),
            ),
        ),
        producers=producers,
        module="truth_tables",
    )


RECIPES = [truth_table(mode, arrangement) for mode in (EVENT, COMMIT) for arrangement in ARRANGEMENTS]
