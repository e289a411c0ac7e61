"""Mutants of payload classes."""

from dataclasses import replace

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.layout import merge_settings
from hudi_reference.records.merge_tables import Cell, DecisionTable, Fill, Kind, Order, Result
from hudi_reference.records.mergers import fill
from hudi_reference.records.payloads import PAYLOADS
from hudi_reference.records.payloads import payload as payload_module
from hudi_reference.records.payloads.tables import PACKAGE


@mutant(breaks="PAY-001")
def payload_class_by_default(patch: Patch) -> None:
    """Gives a new table a payload class if none is configured."""
    patch.edit(merge_settings.configure_merging, "settings.payload, is_ordered",
             'settings.payload or (None if mode or settings.mode or settings.strategy else '
             f'"{PACKAGE}PartialUpdateAvroPayload"), is_ordered')  # fmt: skip


@mutant(breaks=("PAY-007", "PAY-009"))
def overwrite_payload_compares_ordering(patch: Patch) -> None:
    """Compares the incoming row with the stored one before it overwrites."""
    for name in ("OverwriteWithLatestAvroPayload", "HoodieAvroPayload"):
        patch.item(PAYLOADS, PACKAGE + name, PAYLOADS[f"{PACKAGE}DefaultHoodieRecordPayload"])  # type: ignore[arg-type]


def changed(patch: Patch, name: str, cell: Cell) -> None:
    """Replace a decision in the table of a payload class, for the order of `cell` (None: every order)."""
    old = PAYLOADS[PACKAGE + name]

    def put(cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
        here = (cell.older, cell.newer)
        return tuple(
            replace(cell, order=one.order) if (one.older, one.newer) == here and cell.order in (None, one.order) else one
            for one in cells
        )

    batch = old.table.batch
    table = DecisionTable(old.table.says, put(old.table.stored), None if batch is None else put(batch))
    patch.item(PAYLOADS, PACKAGE + name, replace(old, table=table))  # type: ignore[arg-type]


def row_cell(result: Result, fill: Fill = Fill.NOTHING, order: Order | None = None) -> Cell:
    """The result of merging two rows."""
    return Cell(Kind.ROW, Kind.ROW, order, result, fill)


@mutant(breaks=("PAY-008", "PAY-010"))
def default_payload_overwrites(patch: Patch) -> None:
    """Honours the ordering field within an input only."""
    changed(patch, "DefaultHoodieRecordPayload", row_cell(Result.NEWER))


@mutant(breaks="PAY-028")
def reverse_order_payload_keeps_the_greater_value(patch: Patch) -> None:
    """Compares the versions of a class that is not deprecated as in event-time mode, which keeps the greater ordering value."""
    name = f"{PACKAGE}ReverseOrderHoodieRecordPayload"
    patch.item(PAYLOADS, name, replace(PAYLOADS[name], table=PAYLOADS[f"{PACKAGE}DefaultHoodieRecordPayload"].table))  # type: ignore[arg-type]


@mutant(breaks="PAY-012")
def event_time_payload_overwrites(patch: Patch) -> None:
    """Lets late rows win over newer event times."""
    changed(patch, "EventTimeAvroPayload", row_cell(Result.NEWER))


@mutant(breaks="PAY-014")
def inputs_merged_by_column(patch: Patch) -> None:
    """Merges the columns of several rows within one input."""
    name = f"{PACKAGE}OverwriteNonDefaultsWithLatestAvroPayload"
    old = PAYLOADS[name]
    patch.item(PAYLOADS, name, replace(old, table=DecisionTable(old.table.says, old.table.stored)))  # type: ignore[arg-type]


@mutant(breaks="PAY-015")
def null_taken_as_column_default(patch: Patch) -> None:
    """Treats null as a missing value, whatever the default of the column is."""
    patch.item(fill._LACKS, Fill.DEFAULT, fill._LACKS[Fill.NULL])  # type: ignore[arg-type]


@mutant(breaks="PAY-017")
def late_partial_rows_dropped(patch: Patch) -> None:
    """Drops the columns of a late row."""
    changed(patch, "PartialUpdateAvroPayload", row_cell(Result.OLDER, order=Order.LOWER))


@mutant(breaks="PAY-018")
def ordering_field_of_incoming_row_kept(patch: Patch) -> None:
    """Takes the ordering field of the incoming row, late or not."""
    changed(patch, "PartialUpdateAvroPayload", row_cell(Result.NEWER, Fill.NULL))


@mutant(breaks="PAY-019")
def payload_class_of_write_ignored(patch: Patch) -> None:
    """Reads the payload class from the properties of the table only."""
    patch.item(merge_settings.SETTINGS, "payload", merge_settings.SETTINGS["payload"][1:])


@mutant(breaks="PAY-021")
def flink_payload_class_setting_ignored(patch: Patch) -> None:
    """Reads only the setting of Spark writers for the payload class."""
    names = merge_settings.SETTINGS["payload"]
    patch.item(merge_settings.SETTINGS, "payload", (names[0], names[2]))


@mutant(breaks="PAY-022")
def debezium_changes_ordered_by_arrival(patch: Patch) -> None:
    """Orders captured changes by their arrival and not by their position in the log of the source."""
    for name in ("debezium.MySqlDebeziumAvroPayload", "debezium.PostgresDebeziumAvroPayload"):
        changed(patch, name, row_cell(Result.NEWER))


@mutant(breaks="PAY-022")
def binlog_positions_compared_as_text(patch: Patch) -> None:
    """Compares positions in a binary log as texts."""
    name = f"{PACKAGE}debezium.MySqlDebeziumAvroPayload"
    patch.item(PAYLOADS, name, replace(PAYLOADS[name], position=payload_module.no_conversion))  # type: ignore[arg-type]


@mutant(breaks="PAY-023")
def dms_deletes_stored_as_rows(patch: Patch) -> None:
    """Stores rows with the operation D."""
    name = f"{PACKAGE}AWSDmsAvroPayload"
    patch.item(PAYLOADS, name, replace(PAYLOADS[name], marker=None))  # type: ignore[arg-type]
