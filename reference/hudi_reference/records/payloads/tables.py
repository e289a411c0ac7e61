"""The built-in payload classes as decision tables, in the form of `records.merge_tables`.

`stored` is for an incoming record and the stored one, `batch` for two records of one write. A payload merges all versions of a
key, deletes included, so that both table types and all services give the same result.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from hudi_reference.records.merge_tables import (
    COMMIT_TIME,
    EVENT_TIME,
    Cell,
    DecisionTable,
    Fill,
    Kind,
    Order,
    Result,
    cells_by_ordering,
)
from hudi_reference.requirement import implements

PACKAGE = "org.apache.hudi.common.model."
_ROW, _DELETE, _KEY_DELETE = Kind.ROW, Kind.DELETE, Kind.KEY_DELETE


def _cells_of_first_version() -> Iterator[Cell]:
    """A version without an older one is kept."""
    return (Cell(Kind.ABSENT, newer, None, Result.NEWER) for newer in (_ROW, _DELETE, _KEY_DELETE))


def _cells_of_deletes_by_key() -> Iterator[Cell]:
    """Deletes by key: they win over everything before them, and every later row wins over them."""
    yield Cell(_ROW, _KEY_DELETE, None, Result.NEWER)
    yield Cell(_DELETE, _KEY_DELETE, None, Result.NEWER)
    yield Cell(_KEY_DELETE, _ROW, None, Result.NEWER)
    yield Cell(_KEY_DELETE, _DELETE, None, Result.OLDER)
    yield Cell(_KEY_DELETE, _KEY_DELETE, None, Result.NEWER)


def _cells_of_arrival_order(rows: Fill = Fill.NOTHING) -> tuple[Cell, ...]:
    """The incoming record wins, whatever the ordering values are."""
    return (
        *_cells_of_first_version(),
        Cell(_ROW, _ROW, None, Result.NEWER, rows),
        *(Cell(older, newer, None, Result.NEWER) for older, newer in ((_ROW, _DELETE), (_DELETE, _ROW), (_DELETE, _DELETE))),
        *_cells_of_deletes_by_key(),
    )


def _cells_of_ordering(*, ties_to_older: bool = False, fill: Fill = Fill.NOTHING) -> tuple[Cell, ...]:
    """The record with the greater ordering value wins, deletes included."""
    return (
        *_cells_of_first_version(),
        *cells_by_ordering(_ROW, _ROW, fill, ties_to_older=ties_to_older),
        *(
            cell
            for older, newer in ((_ROW, _DELETE), (_DELETE, _ROW), (_DELETE, _DELETE))
            for cell in cells_by_ordering(older, newer, ties_to_older=ties_to_older)
        ),
        *_cells_of_deletes_by_key(),
    )


def _cells_of_reverse_ordering() -> tuple[Cell, ...]:
    """The record with the lower ordering value wins, the incoming one of equals, deletes included."""
    orders: Mapping[Order | None, Order] = {Order.LOWER: Order.GREATER, Order.GREATER: Order.LOWER}
    return tuple(replace(cell, order=orders.get(cell.order, cell.order)) for cell in _cells_of_ordering())


def _require_position(cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """The same if the ordering value is a position in the source's log, which an incoming record must have."""
    orders = {
        Order.OLDER_NULL: Result.NEWER, Order.NEWER_NULL: Result.REFUSED, Order.BOTH_NULL: Result.REFUSED,
    }  # fmt: skip
    return tuple(
        Cell(cell.older, cell.newer, cell.order, orders[cell.order]) if cell.order in orders else cell for cell in cells
    )


@implements("PAY-017")
def _cells_of_partial_update() -> tuple[Cell, ...]:
    """PartialUpdateAvroPayload: nulls of the winner are filled; a delete removes the row, also a late one."""
    orders = (Order.EQUAL, Order.GREATER, Order.OLDER_NULL, Order.NEWER_NULL, Order.BOTH_NULL)
    return (
        *_cells_of_first_version(),
        Cell(_ROW, _ROW, Order.LOWER, Result.OLDER, Fill.NULL),
        *(Cell(_ROW, _ROW, order, Result.NEWER, Fill.NULL) for order in orders),
        Cell(_ROW, _ROW, Order.INCOMPARABLE, Result.REFUSED),
        Cell(_ROW, _DELETE, None, Result.NEWER, note="a late delete too"),
        *cells_by_ordering(_DELETE, _ROW),
        *cells_by_ordering(_DELETE, _DELETE),
        *_cells_of_deletes_by_key(),
    )


_BATCH_BY_ORDERING = _cells_of_ordering()

#: By class name without package.
PAYLOAD_TABLES: Mapping[str, DecisionTable] = {
    # ER-114: the last record of an input stays, whatever the ordering values.
    "OverwriteWithLatestAvroPayload": DecisionTable(
        "The incoming record replaces the stored one.", COMMIT_TIME.stored,
    ),
    "HoodieAvroPayload": DecisionTable("The incoming record replaces the stored one.", _cells_of_arrival_order()),
    "DefaultHoodieRecordPayload": DecisionTable("The record with the greater ordering value wins.", EVENT_TIME.stored),
    "EventTimeAvroPayload": DecisionTable("The record with the greater ordering value wins.", EVENT_TIME.stored),
    "OverwriteNonDefaultsWithLatestAvroPayload": DecisionTable(
        "Columns that differ from their default replace those of the stored record; ordering values are ignored.",
        _cells_of_arrival_order(Fill.DEFAULT), _BATCH_BY_ORDERING,
    ),
    "PartialUpdateAvroPayload": DecisionTable(
        "The record with the greater ordering value wins; its nulls are filled from the other one.",
        _cells_of_partial_update(),
    ),
    "FirstValueAvroPayload": DecisionTable(
        "The record with the greater ordering value wins, the first one if they are equal.",
        _cells_of_ordering(ties_to_older=True),
    ),
    "ReverseOrderHoodieRecordPayload": DecisionTable(
        "The record with the lower ordering value wins, the incoming one if they are equal.", _cells_of_reverse_ordering(),
    ),
    "AWSDmsAvroPayload": DecisionTable(
        "The incoming record replaces the stored one; the operation D deletes it.",
        _cells_of_arrival_order(), _BATCH_BY_ORDERING,
    ),
    "debezium.MySqlDebeziumAvroPayload": DecisionTable(
        "The record that is later in the source's binary log wins, the stored one if the positions are equal.",
        _require_position(_cells_of_ordering(ties_to_older=True)), _require_position(_cells_of_ordering()),
    ),
    "debezium.PostgresDebeziumAvroPayload": DecisionTable(
        "The record that is later in the source's log wins; values that the source did not send are filled from the other one.",
        _require_position(_cells_of_ordering(fill=Fill.UNAVAILABLE)), _require_position(_cells_of_ordering()),
    ),
}  # fmt: skip
