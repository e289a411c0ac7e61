"""Mutants in the interface of mergers, in the choice of a merger, and in the sample mergers."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference import tables
from hudi_reference.layout import merge_settings
from hudi_reference.records.mergers import merger, sample_mergers
from hudi_reference.records.merging import custom_merge
from hudi_reference.records.payloads import merger_resolution
from hudi_reference.records.row import Row
from hudi_reference.write import rows


@mutant(breaks="API-001")
def partial_records_go_to_the_whole_merge(patch: Patch) -> None:
    """Calls the merge of whole records for partial ones."""
    patch.edit(merger.merged, "if older.is_partial or newer.is_partial:", "if False:")


@mutant(breaks="API-002")
def values_take_a_detour(patch: Patch) -> None:
    """Shows mergers dates as the numbers that stand for them in Avro."""
    patch.edit(
        Row.__getitem__, "cell.as_py()", "getattr(cell, 'value', cell.as_py()) if pa.types.is_date(cell.type) else cell.as_py()"
    )


@mutant(breaks="API-003")
def base_rows_have_no_ordering_value(patch: Patch) -> None:
    """Passes the rows of base files without their ordering value."""
    patch.edit(custom_merge._Rows.version, "self._orderings[place]", "self._orderings[place] if self._number else None")


@mutant(breaks="API-004")
def fields_are_those_of_the_top(patch: Patch) -> None:
    """Reads only fields at the top of a record."""
    patch.edit(merger.RecordContext.value, 'name.split(".")', "[name]")


@mutant(breaks="API-020")
def rows_are_built_from_nothing(patch: Patch) -> None:
    """Forgets the row over which a new one is built."""
    patch.edit(merger.RecordContext.row, "**Row.cells_of(over or {}), ", "")


@mutant(breaks="API-005")
def the_newer_version_first(patch: Patch) -> None:
    """Calls a merger with the newer version first."""
    patch.edit(custom_merge.survivors, "merged(merging, older, newer, context)", "merged(merging, newer, older, context)")


@mutant(breaks="API-006")
def the_class_is_stored(patch: Patch) -> None:
    """Stores the name of the merger's class in place of its id."""
    patch.edit(
        tables.create_table,
        "**(properties or {}),\n    }",
        '**(properties or {}),\n        "hoodie.record.merge.strategy.id": str(mergers and type(mergers[0]).__name__),\n    }',
    )


@mutant(breaks="API-007")
def ids_are_not_compared(patch: Patch) -> None:
    """Takes the first merger that fits the engine, whatever id it gives."""
    patch.edit(merger_resolution.choose, "(not strategy or found == strategy)", "True")


@mutant(breaks="API-008")
def unknown_ids_mean_event_time(patch: Patch) -> None:
    """Merges by event time where it does not know the id."""
    patch.edit(merger_resolution.merging_of, 'if found.mode != "CUSTOM":',
             'if found.mode != "CUSTOM" or not any(m.strategy_id == found.strategy for m in mergers):\n        '
             'return Merging("EVENT_TIME_ORDERING", ordering, given)\n    if False:')  # fmt: skip


@mutant(breaks="API-009")
def nothing_means_a_delete(patch: Patch) -> None:
    """Takes no answer for a delete."""
    patch.edit(merger.checked, "if not isinstance(result, BufferedRecord):",
             "if result is None:\n        return context.delete(inputs[1].key, inputs[1].ordering)\n    "
             "if not isinstance(result, BufferedRecord):")  # fmt: skip


@mutant(breaks="API-010")
def results_are_stored_whatever_their_operation(patch: Patch) -> None:
    """Stores the row of a result that is a delete."""
    patch.edit(custom_merge.merge_by_merger, "not found.is_delete and found.row", "found.row")


@mutant(breaks="API-011")
def results_have_the_default_ordering_value(patch: Patch) -> None:
    """Gives merged records the ordering value 0."""
    patch.edit(
        sample_mergers._result, "ordering = other.ordering if first.ordering is None else first.ordering", "ordering = 0"
    )


@mutant(breaks="API-012")
def partial_merges_get_another_schema(patch: Patch) -> None:
    """Passes a schema with a column that the reader did not ask for."""
    patch.edit(merger.merged, "context.schema, context)", 'context.schema.append(pa.field("unread", pa.string())), context)')


@mutant(breaks="API-013")
def only_the_newer_record_may_be_partial(patch: Patch) -> None:
    """Knows partial records as the newer side only."""
    patch.edit(merger.merged, "if older.is_partial or newer.is_partial:", "if newer.is_partial:")


@mutant(breaks="API-014")
def results_are_padded(patch: Patch) -> None:
    """Lets a partial result have columns that neither record holds."""
    patch.edit(merger.checked, "any(found.is_partial for found in inputs)", "False")


@mutant(breaks="API-015")
def partial_results_are_rows(patch: Patch) -> None:
    """Honours the operation of whole results only."""
    patch.edit(merger.merged, "(older, newer), context)\n    merge =",
             "(older, newer), context) if False else replace(merger.partial_merge(older, newer, context.schema, context), "
             "operation=Operation.INSERT)\n    merge =")  # fmt: skip


@mutant(breaks="API-016")
def partial_results_keep_the_older_ordering_value(patch: Patch) -> None:
    """Keeps the ordering value of the older record in a partial merge."""
    patch.edit(sample_mergers.FillNulls.partial_merge, "context.updated(merged, context.row({}, over=merged.row))",
             "BufferedRecord(merged.key, older.ordering, merged.row)")  # fmt: skip


@mutant(breaks="API-017")
def fit_is_guessed_from_the_name(patch: Patch) -> None:
    """Takes the name of a merger's class for the engine that it is made for."""
    patch.edit(merger_resolution.chosen, "(merger.strategy_id, merger.record_type)",
             '(merger.strategy_id, RECORD_TYPE if "Spark" not in type(merger).__name__ else "SPARK")')  # fmt: skip


@mutant(breaks="API-018")
def deletes_forget_their_data(patch: Patch) -> None:
    """Drops the data of delete results."""
    patch.edit(merger.RecordContext.delete, "ordering, row, Operation", "ordering, None, Operation")


@mutant(breaks="API-019")
def deletes_need_data(patch: Patch) -> None:
    """Fails on a delete without data."""
    patch.edit(merger.checked, "result.row is None and not result.is_delete", "result.row is None")


@mutant(breaks="API-021")
def deletes_forget_their_ordering_value(patch: Patch) -> None:
    """Gives delete results no ordering value."""
    patch.edit(merger.RecordContext.delete, "(key, ordering, row,", "(key, 0 if row is not None else ordering, row,")


@mutant(breaks="MRG-002")
def the_second_input_wins(patch: Patch) -> None:
    """Prefers the second input for lower ordering values too."""
    patch.edit(merger.RecordContext.is_late, "is_lower(newer.ordering, older.ordering)", "False")


@mutant(breaks="MRG-004")
def versions_are_counted(patch: Patch) -> None:
    """Adds numbers up with each merge."""
    patch.edit(sample_mergers._greatest, "and mine < theirs:\n            cells[name] = cell",
             "and isinstance(mine, int):\n            cells[name] = mine + theirs")  # fmt: skip


@mutant(breaks="MRG-032")
def a_merger_chooses_one_of_two(patch: Patch) -> None:
    """Lets a merger choose one of the two versions only."""
    patch.edit(merger.checked, "if any(result is found for found in inputs):\n        return result",
             "if isinstance(result, BufferedRecord) and not result.is_delete:\n        "
             "return min(inputs, key=lambda found: found.ordering != result.ordering)")  # fmt: skip


@mutant(breaks="MRG-022")
def another_mode_is_passed_over(patch: Patch) -> None:
    """Ignores the merge mode of a write without a word."""
    patch.edit(tables.open_table, "if settings:", "if False:")


@mutant(breaks="MRG-024")
def writes_change_the_mode(patch: Patch) -> None:
    """Stores the merge mode that a write asks for."""
    patch.edit(
        tables.open_table,
        "check_unchanged(properties.merging, settings)",
        "store.put(PROPERTIES_PATH, store.get(PROPERTIES_PATH).replace(properties.merge_mode.encode(), "
        'settings.get("hoodie.write.record.merge.mode", properties.merge_mode).encode()))',
    )


@mutant(breaks="MRG-035")
def custom_without_a_word_is_event_time(patch: Patch) -> None:
    """Makes an event-time table of a custom one that says nothing more."""
    patch.edit(merge_settings.configured, "infer(mode or settings.mode,",
             'infer("EVENT_TIME_ORDERING" if mode == "CUSTOM" and not settings.payload else mode,')  # fmt: skip


@mutant(breaks="MRG-036")
def the_older_name_of_the_strategy_is_unknown(patch: Patch) -> None:
    """Reads the strategy id under its newer name only."""
    patch.item(merge_settings.SETTINGS, "strategy", merge_settings.SETTINGS["strategy"][:1])


@mutant(breaks="MRG-040")
def the_older_name_of_the_classes_is_unknown(patch: Patch) -> None:
    """Reads the list of classes under its newer name only."""
    patch.item(merge_settings.SETTINGS, "classes", merge_settings.SETTINGS["classes"][:1])


@mutant(breaks="MRG-037")
def the_last_merger_counts(patch: Patch) -> None:
    """Takes the last of the mergers that fit."""
    patch.edit(merger_resolution.choose, "in enumerate(mergers):", "in reversed(list(enumerate(mergers))):")


@mutant(breaks="MRG-038")
def no_merger_without_an_id(patch: Patch) -> None:
    """Finds no merger where no strategy id is set."""
    patch.edit(merger_resolution.choose, "not strategy or ", "")


@mutant(breaks="MRG-039")
def mergers_of_every_engine_fit(patch: Patch) -> None:
    """Takes the first merger with the id, whatever records it works on."""
    patch.edit(merger_resolution.choose, "works_on == record_type and", "")


@mutant(breaks="PAY-020")
def inputs_are_combined_by_the_ordering_field(patch: Patch) -> None:
    """Combines the rows of one input by the ordering field before the merger is asked."""
    patch.edit(
        rows.combine,
        "if merging.merger is not None:",
        'if merging.merger is not None:\n        merging = Merging("EVENT_TIME_ORDERING", merging.ordering)\n    if False:',
    )
