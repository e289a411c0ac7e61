"""Mutants of the interface of record mergers."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference import tables
from hudi_reference.records.mergers import merger, sample_mergers
from hudi_reference.records.merging import custom_merge
from hudi_reference.records.payloads import merger_resolution
from hudi_reference.records.row import Row


@mutant(breaks="API-001")
def partial_records_merged_as_whole(patch: Patch) -> None:
    """Calls the merge of whole records for partial ones."""
    patch.edit(merger.merged, "if older.is_partial or newer.is_partial:", "if False:")


@mutant(breaks="API-002")
def merger_values_in_avro_encoding(patch: Patch) -> None:
    """Passes dates to mergers as the numbers that Avro stores."""
    patch.edit(
        Row.__getitem__, "cell.as_py()", "getattr(cell, 'value', cell.as_py()) if pa.types.is_date(cell.type) else cell.as_py()"
    )


@mutant(breaks="API-003")
def base_rows_without_ordering_value(patch: Patch) -> None:
    """Passes the rows of base files without their ordering value."""
    patch.edit(custom_merge._Rows.version, "self._orderings[place]", "self._orderings[place] if self._number else None")


@mutant(breaks="API-004")
def nested_fields_not_readable(patch: Patch) -> None:
    """Reads only top-level fields of a record."""
    patch.edit(merger.RecordContext.value, 'name.split(".")', "[name]")


@mutant(breaks="API-005")
def merger_arguments_swapped(patch: Patch) -> None:
    """Calls a merger with the newer version first."""
    patch.edit(custom_merge.merged_records, "merged(merging, older, newer, context)", "merged(merging, newer, older, context)")


@mutant(breaks="API-006")
def merger_class_stored_as_strategy_id(patch: Patch) -> None:
    """Stores the name of the class of the merger in place of its id."""
    patch.edit(
        tables.create_table,
        "**(properties or {}),\n    }",
        '**(properties or {}),\n        "hoodie.record.merge.strategy.id": str(mergers and type(mergers[0]).__name__),\n    }',
    )


@mutant(breaks="API-007")
def merger_strategy_id_not_compared(patch: Patch) -> None:
    """Takes the first merger that fits the engine, whatever its id is."""
    patch.edit(merger_resolution.index_of_merger, "(not strategy or found == strategy)", "True")


@mutant(breaks="API-008")
def unknown_strategy_id_as_event_time(patch: Patch) -> None:
    """Merges by event time if the id is unknown."""
    patch.edit(merger_resolution.merging_of, 'if found.mode != "CUSTOM":',
             'if found.mode != "CUSTOM" or not any(m.strategy_id == found.strategy for m in mergers):\n        '
             'return Merging("EVENT_TIME_ORDERING", ordering, given)\n    if False:')  # fmt: skip


@mutant(breaks="API-009")
def missing_merge_result_as_delete(patch: Patch) -> None:
    """Takes a missing result for a delete."""
    patch.edit(merger.checked, "if not isinstance(result, BufferedRecord):",
             "if result is None:\n        return context.delete(inputs[1].key, inputs[1].ordering)\n    "
             "if not isinstance(result, BufferedRecord):")  # fmt: skip


@mutant(breaks="API-010")
def merge_result_operation_ignored(patch: Patch) -> None:
    """Stores the row of a result that is a delete."""
    patch.edit(custom_merge.merge_by_merger, "not found.is_delete and found.row", "found.row")


@mutant(breaks="API-011")
def merge_result_ordering_value_zero(patch: Patch) -> None:
    """Gives merged records the ordering value 0."""
    patch.edit(
        sample_mergers._result, "ordering = other.ordering if first.ordering is None else first.ordering", "ordering = 0"
    )


@mutant(breaks="API-012")
def partial_merge_schema_with_extra_column(patch: Patch) -> None:
    """Passes a schema with a column that the reader did not request."""
    patch.edit(merger.merged, "context.schema, context)", 'context.schema.append(pa.field("unread", pa.string())), context)')


@mutant(breaks="API-013")
def older_partial_record_rejected(patch: Patch) -> None:
    """Accepts partial records as the newer side only."""
    patch.edit(merger.merged, "if older.is_partial or newer.is_partial:", "if newer.is_partial:")


@mutant(breaks="API-014")
def partial_result_padded(patch: Patch) -> None:
    """Gives a partial result columns that neither record contains."""
    patch.edit(merger.checked, "any(found.is_partial for found in inputs)", "False")


@mutant(breaks="API-015")
def partial_result_operation_ignored(patch: Patch) -> None:
    """Honours the operation of whole results only."""
    patch.edit(merger.merged, "(older, newer), context)\n    merge =",
             "(older, newer), context) if False else replace(merger.partial_merge(older, newer, context.schema, context), "
             "operation=Operation.INSERT)\n    merge =")  # fmt: skip


@mutant(breaks="API-016")
def partial_result_keeps_older_ordering_value(patch: Patch) -> None:
    """Keeps the ordering value of the older record in a partial merge."""
    patch.edit(sample_mergers.FillNulls.partial_merge, "context.updated(merged, context.row({}, over=merged.row))",
             "BufferedRecord(merged.key, older.ordering, merged.row)")  # fmt: skip


@mutant(breaks="API-017")
def merger_engine_inferred_from_class_name(patch: Patch) -> None:
    """Infers the engine of a merger from the name of its class."""
    patch.edit(merger_resolution.custom_merger, "(merger.strategy_id, merger.record_type)",
             '(merger.strategy_id, RECORD_TYPE if "Spark" not in type(merger).__name__ else "SPARK")')  # fmt: skip


@mutant(breaks="API-018")
def delete_result_data_dropped(patch: Patch) -> None:
    """Drops the data of delete results."""
    patch.edit(merger.RecordContext.delete, "ordering, row, Operation", "ordering, None, Operation")


@mutant(breaks="API-019")
def delete_result_requires_data(patch: Patch) -> None:
    """Fails on a delete without data."""
    patch.edit(merger.checked, "result.row is None and not result.is_delete", "result.row is None")


@mutant(breaks="API-020")
def new_row_ignores_its_base(patch: Patch) -> None:
    """Builds a new row without the row that it is based on."""
    patch.edit(merger.RecordContext.row, "**Row.cells_of(over or {}), ", "")


@mutant(breaks="API-021")
def delete_result_without_ordering_value(patch: Patch) -> None:
    """Gives delete results no ordering value."""
    patch.edit(merger.RecordContext.delete, "(key, ordering, row,", "(key, 0 if row is not None else ordering, row,")
