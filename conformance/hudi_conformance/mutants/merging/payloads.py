"""Mutants in the payload classes: what each leaves of two versions, and how a class is found."""

from dataclasses import replace

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.layout import merge_settings
from hudi_reference.records import payloads
from hudi_reference.records.merge_tables import Cell, DecisionTable, Fill, Kind, Order, Result
from hudi_reference.records.payloads import PAYLOADS, merger_resolution
from hudi_reference.records.payloads import payload as payload_module
from hudi_reference.records.payloads.payload import PayloadMerger
from hudi_reference.records.payloads.tables import PACKAGE


def changed(patch: Patch, name: str, cell: Cell) -> None:
    """Put another decision into the table of a class, for the orders of `cell` (None: every order)."""
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


def rows(result: Result, fill: Fill = Fill.NOTHING, order: Order | None = None) -> Cell:
    """What two rows come to."""
    return Cell(Kind.ROW, Kind.ROW, order, result, fill)


@mutant(breaks="PAY-001")
def payloads_are_the_default(patch: Patch) -> None:
    """Gives a new table a payload class where nothing is said."""
    patch.edit(merge_settings.configured, "settings.payload, is_ordered",
             'settings.payload or (None if mode or settings.mode or settings.strategy else '
             f'"{PACKAGE}PartialUpdateAvroPayload"), is_ordered')  # fmt: skip


@mutant(breaks="PAY-002")
def classes_are_passed_over(patch: Patch) -> None:
    """Goes by event time whatever class the table names."""
    patch.edit(
        merger_resolution.merging_of,
        "if found.strategy != PAYLOAD_STRATEGY:",
        'if found.strategy == PAYLOAD_STRATEGY:\n        return Merging("EVENT_TIME_ORDERING", ordering, given)\n    if True:',
    )


@mutant(breaks="PAY-003")
def stored_rows_are_combined_like_inputs(patch: Patch) -> None:
    """Calls for stored and incoming rows what is for two rows of one input."""
    patch.edit(PayloadMerger.merge, "self.payload.combine(", "self.payload.pre_combine(")


@mutant(breaks="PAY-004")
def classes_are_found_by_their_short_names(patch: Patch) -> None:
    """Knows payload classes without their package."""
    patch.edit(payloads.merger_of_payload, "if full not in PAYLOADS:",
             'full = PACKAGE + full\n    if full not in PAYLOADS:')  # fmt: skip


@mutant(breaks=("PAY-005", "PAY-011"))
def the_other_class_is_the_default(patch: Patch) -> None:
    """Takes event time where nothing orders versions, and commit time where something does."""
    patch.edit(merge_settings.configured, "is_ordered=bool(ordering))", "is_ordered=not ordering)")


@mutant(breaks=("PAY-007", "PAY-009"))
def overwriting_looks_at_ordering_values(patch: Patch) -> None:
    """Compares the incoming row with the stored one before it overwrites."""
    for name in ("OverwriteWithLatestAvroPayload", "HoodieAvroPayload"):
        patch.item(PAYLOADS, PACKAGE + name, PAYLOADS[f"{PACKAGE}DefaultHoodieRecordPayload"])  # type: ignore[arg-type]


@mutant(breaks=("PAY-008", "PAY-010"))
def the_default_class_overwrites(patch: Patch) -> None:
    """Honours the ordering field within an input only."""
    changed(patch, "DefaultHoodieRecordPayload", rows(Result.NEWER))


@mutant(breaks="PAY-012")
def event_times_are_not_looked_at(patch: Patch) -> None:
    """Lets late rows win over newer event times."""
    changed(patch, "EventTimeAvroPayload", rows(Result.NEWER))


@mutant(breaks="PAY-013")
def missing_event_times_are_zero(patch: Patch) -> None:
    """Makes an event-time table without a field of event times."""
    patch.edit(merge_settings.configured, 'found.mode == "EVENT_TIME_ORDERING" and not ordering', "False")


@mutant(breaks="PAY-014")
def inputs_are_merged_by_columns(patch: Patch) -> None:
    """Merges the columns of several rows within one input."""
    name = f"{PACKAGE}OverwriteNonDefaultsWithLatestAvroPayload"
    old = PAYLOADS[name]
    patch.item(PAYLOADS, name, replace(old, table=DecisionTable(old.table.says, old.table.stored)))  # type: ignore[arg-type]


@mutant(breaks="PAY-015")
def null_is_taken_for_the_default(patch: Patch) -> None:
    """Takes null for the mark of a column that was not given, whatever its default is."""
    patch.item(payload_module._LACKS, Fill.DEFAULT, payload_module._LACKS[Fill.NULL])  # type: ignore[arg-type]


@mutant(breaks=("PAY-015", "PAY-016"))
def rows_are_replaced_whole(patch: Patch) -> None:
    """Fills nothing from the other row."""
    patch.edit(payload_module.filled, "**{name: cells[name] for name in taken}, ", "")


@mutant(breaks="PAY-017")
def late_rows_fill_nothing(patch: Patch) -> None:
    """Drops what a late row knows."""
    changed(patch, "PartialUpdateAvroPayload", rows(Result.OLDER, order=Order.LOWER))


@mutant(breaks="PAY-018")
def the_ordering_field_is_that_of_the_incoming_row(patch: Patch) -> None:
    """Takes the ordering field of the incoming row, late or not."""
    changed(patch, "PartialUpdateAvroPayload", rows(Result.NEWER, Fill.NULL))


@mutant(breaks="PAY-019")
def the_class_of_a_write_is_unknown(patch: Patch) -> None:
    """Knows the payload class only as a property of the table."""
    patch.item(merge_settings.SETTINGS, "payload", merge_settings.SETTINGS["payload"][1:])


@mutant(breaks="PAY-021")
def the_name_of_flink_is_unknown(patch: Patch) -> None:
    """Knows only the name that Spark writers have for the payload class."""
    names = merge_settings.SETTINGS["payload"]
    patch.item(merge_settings.SETTINGS, "payload", (names[0], names[2]))


@mutant(breaks="PAY-022")
def captured_changes_go_by_arrival(patch: Patch) -> None:
    """Orders captured changes by their arrival and not by their position in the source's log."""
    for name in ("debezium.MySqlDebeziumAvroPayload", "debezium.PostgresDebeziumAvroPayload"):
        changed(patch, name, rows(Result.NEWER))


@mutant(breaks="PAY-022")
def positions_are_compared_as_texts(patch: Patch) -> None:
    """Compares positions in a binary log as texts."""
    name = f"{PACKAGE}debezium.MySqlDebeziumAvroPayload"
    patch.item(PAYLOADS, name, replace(PAYLOADS[name], position=payload_module.itself))  # type: ignore[arg-type]


@mutant(breaks="PAY-023")
def deletes_of_dms_are_rows(patch: Patch) -> None:
    """Stores rows with the operation D."""
    name = f"{PACKAGE}AWSDmsAvroPayload"
    patch.item(PAYLOADS, name, replace(PAYLOADS[name], marker=None))  # type: ignore[arg-type]
