"""Merging as decision tables: which of an older and a newer version of a record wins, spec "Record Merging".

These tables are normative: the code, the page `docs/merging.md` and the truth-table cases are made from them. A cell is found
by the kinds of the two versions and by the order of their ordering values. It says which version wins, and which of its columns
are filled from the other version. This module imports only the standard library.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """The kind of a version of a record. A row has all columns; in a block of partial updates it has only some."""

    #: There is no older version: the key is new.
    ABSENT = "nothing"
    ROW = "row"
    #: A delete with an ordering value (`_hoodie_is_deleted`, a delete marker, the operation column, decided by a payload).
    DELETE = "delete"
    #: A delete without one (the delete operation): it wins over every earlier version, and every later row wins over it.
    KEY_DELETE = "delete by key"


class Order(Enum):
    """The order of the ordering value of the newer version relative to that of the older one."""

    LOWER = "lower"
    EQUAL = "equal"
    GREATER = "greater"
    #: The older version has null, or no such field; the newer one has a value.
    OLDER_NULL = "null before"
    NEWER_NULL = "null now"
    BOTH_NULL = "both null"
    #: Values of two types that cannot be compared, such as a text and a number.
    INCOMPARABLE = "other types"


class Result(Enum):
    """The version that wins."""

    OLDER = "the older"
    NEWER = "the newer"
    #: None: the row is removed, and the delete is not stored.
    NOTHING = "nothing"
    #: As if the missing ordering value were the default: the number 0, or the empty text.
    BY_DEFAULT = "like the default value"
    #: The result of the merger of the table.
    MERGER = "the result of the merger"
    #: An error: the specification defines no result.
    REFUSED = "refused"


class Fill(Enum):
    """Which columns of the winner are taken from the other version, if both are rows."""

    NOTHING = "none"
    #: Columns that its block of partial updates does not have; a column that it has and that is null stays null.
    LACKING = "the columns that it does not have"
    NULL = "the columns that are null"
    #: Columns with the default value of the schema, which is null unless the schema has another one.
    DEFAULT = "the columns with their default value"
    #: Columns with the text or bytes `__debezium_unavailable_value`.
    UNAVAILABLE = "the columns with the unavailable value"


@dataclass(frozen=True)
class Cell:
    """One decision. `order` None is any order; `erratum` names a difference between the specification and releases."""

    older: Kind
    newer: Kind
    order: Order | None
    result: Result
    fill: Fill = Fill.NOTHING
    note: str = ""
    erratum: str | None = None


@dataclass(frozen=True)
class DecisionTable:
    """The decisions of one merge mode or payload class.

    `stored` is for a stored version (base row or log entry) and an incoming one, `batch` for two rows of one write; None if it
    is the same.
    """

    says: str
    stored: tuple[Cell, ...]
    batch: tuple[Cell, ...] | None = None


#: The orders of two values that are not null and can be compared.
COMPARED = (Order.LOWER, Order.EQUAL, Order.GREATER)


def cells_by_ordering(
    older: Kind, newer: Kind, fill: Fill = Fill.NOTHING, late: Fill = Fill.NOTHING, *, ties_to_older: bool = False
) -> Iterator[Cell]:
    """The cells in which the greater ordering value wins, the newer one if they are equal; nulls count as the default value.

    `fill` is the fill if the newer version wins, `late` if the older one wins.
    """
    tie = Cell(older, newer, Order.EQUAL, Result.NEWER, fill, erratum="ER-054")
    if ties_to_older:
        tie = Cell(older, newer, Order.EQUAL, Result.OLDER, late)
    yield Cell(older, newer, Order.LOWER, Result.OLDER, late)
    yield tie
    yield Cell(older, newer, Order.GREATER, Result.NEWER, fill)
    yield Cell(older, newer, Order.BOTH_NULL, tie.result, tie.fill, erratum=tie.erratum)
    for order in (Order.OLDER_NULL, Order.NEWER_NULL):
        yield Cell(older, newer, order, Result.BY_DEFAULT, erratum="ER-055")
    yield Cell(older, newer, Order.INCOMPARABLE, Result.REFUSED)


#: The newer version always wins.
COMMIT_TIME = DecisionTable(
    "The later version wins. Ordering values are ignored.",
    tuple(
        Cell(older, newer, None, Result.NEWER, Fill.LACKING if older is newer is Kind.ROW else Fill.NOTHING)
        for older in Kind
        for newer in (Kind.ROW, Kind.DELETE, Kind.KEY_DELETE)
    ),
)

EVENT_TIME = DecisionTable(
    "The version with the greater ordering value wins, the later one of equals. A delete by key wins over all before it.",
    (
        Cell(Kind.ABSENT, Kind.ROW, None, Result.NEWER),
        Cell(Kind.ABSENT, Kind.DELETE, None, Result.NEWER, note="the delete is stored, so that it wins over late rows"),
        Cell(Kind.ABSENT, Kind.KEY_DELETE, None, Result.NEWER),
        *cells_by_ordering(Kind.ROW, Kind.ROW, Fill.LACKING),
        *cells_by_ordering(Kind.ROW, Kind.DELETE),
        Cell(Kind.ROW, Kind.KEY_DELETE, None, Result.NEWER, erratum="ER-050"),
        *cells_by_ordering(Kind.DELETE, Kind.ROW),
        *cells_by_ordering(Kind.DELETE, Kind.DELETE),
        Cell(Kind.DELETE, Kind.KEY_DELETE, None, Result.NEWER, erratum="ER-050"),
        Cell(Kind.KEY_DELETE, Kind.ROW, None, Result.NEWER, note="deleted versions are ignored", erratum="ER-051"),
        Cell(
            Kind.KEY_DELETE,
            Kind.DELETE,
            None,
            Result.OLDER,
            note="there is no row to delete, so the later delete is not stored",
        ),
        Cell(Kind.KEY_DELETE, Kind.KEY_DELETE, None, Result.NEWER),
    ),
)

CUSTOM = DecisionTable(
    "The merger of the table decides, also for deletes. If there is no older version, the newer one is stored unchanged.",
    tuple(
        Cell(older, newer, None, Result.NEWER if older is Kind.ABSENT else Result.MERGER)
        for older in Kind
        for newer in (Kind.ROW, Kind.DELETE, Kind.KEY_DELETE)
    ),
)

#: Every decision table, by merge mode or by the name of the payload class.
TABLES: Mapping[str, DecisionTable] = {
    "COMMIT_TIME_ORDERING": COMMIT_TIME,
    "EVENT_TIME_ORDERING": EVENT_TIME,
    "CUSTOM": CUSTOM,
}

#: The cells of a table by the kinds of the two versions, then by their order; None is the cell for any order.
Decisions = dict[tuple[Kind, Kind], dict[Order | None, Cell]]


def decisions_of(cells: Iterable[Cell]) -> Decisions:
    """The cells, for lookup."""
    found: Decisions = {}
    for cell in cells:
        found.setdefault((cell.older, cell.newer), {})[cell.order] = cell
    return found
