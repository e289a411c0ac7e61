"""Planted bugs in the interface of mergers, in the choice of a merger, and in the sample mergers."""

from hudi_conformance.mutants.harness.mutant import Bug, planted
from hudi_reference.layout import merge_settings
from hudi_reference.records.mergers import merger, sample_mergers
from hudi_reference.records.merging import custom_merge
from hudi_reference.records.payloads import merger_resolution
from hudi_reference.records.row import Row
from hudi_reference.write import create, rows


@planted(breaks="API-001")
def partial_records_go_to_the_whole_merge(bug: Bug) -> None:
    """Calls the merge of whole records for partial ones."""
    bug.edit(merger.merged, "if older.is_partial or newer.is_partial:", "if False:")


@planted(breaks="API-002")
def values_take_a_detour(bug: Bug) -> None:
    """Shows mergers dates as the numbers that stand for them in Avro."""
    bug.edit(
        Row.__getitem__, "cell.as_py()", "getattr(cell, 'value', cell.as_py()) if pa.types.is_date(cell.type) else cell.as_py()"
    )


@planted(breaks="API-003")
def base_rows_have_no_ordering_value(bug: Bug) -> None:
    """Passes the rows of base files without their ordering value."""
    bug.edit(custom_merge._Rows.version, "self._orderings[place]", "self._orderings[place] if self._number else None")


@planted(breaks="API-004")
def fields_are_those_of_the_top(bug: Bug) -> None:
    """Reads only fields at the top of a record."""
    bug.edit(merger.RecordContext.value, 'name.split(".")', "[name]")


@planted(breaks="API-020")
def rows_are_built_from_nothing(bug: Bug) -> None:
    """Forgets the row over which a new one is built."""
    bug.edit(merger.RecordContext.row, "**Row.cells_of(over or {}), ", "")


@planted(breaks="API-005")
def the_newer_version_first(bug: Bug) -> None:
    """Calls a merger with the newer version first."""
    bug.edit(custom_merge.survivors, "merged(merging, older, newer, context)", "merged(merging, newer, older, context)")


@planted(breaks="API-006")
def the_class_is_stored(bug: Bug) -> None:
    """Stores the name of the merger's class in place of its id."""
    bug.edit(
        create.create_table,
        "**(properties or {}),\n    }",
        '**(properties or {}),\n        "hoodie.record.merge.strategy.id": str(mergers and type(mergers[0]).__name__),\n    }',
    )


@planted(breaks="API-007")
def ids_are_not_compared(bug: Bug) -> None:
    """Takes the first merger that fits the engine, whatever id it gives."""
    bug.edit(merger_resolution.choose, "(not strategy or found == strategy)", "True")


@planted(breaks="API-008")
def unknown_ids_mean_event_time(bug: Bug) -> None:
    """Merges by event time where it does not know the id."""
    bug.edit(merger_resolution.merging_of, 'if found.mode != "CUSTOM":',
             'if found.mode != "CUSTOM" or not any(m.strategy_id == found.strategy for m in mergers):\n        '
             'return Merging("EVENT_TIME_ORDERING", ordering, given)\n    if False:')  # fmt: skip


@planted(breaks="API-009")
def nothing_means_a_delete(bug: Bug) -> None:
    """Takes no answer for a delete."""
    bug.edit(merger.checked, "if not isinstance(result, BufferedRecord):",
             "if result is None:\n        return context.delete(inputs[1].key, inputs[1].ordering)\n    "
             "if not isinstance(result, BufferedRecord):")  # fmt: skip


@planted(breaks="API-010")
def results_are_stored_whatever_their_operation(bug: Bug) -> None:
    """Stores the row of a result that is a delete."""
    bug.edit(custom_merge.apply_by_merger, "not found.is_delete and found.row", "found.row")


@planted(breaks="API-011")
def results_have_the_default_ordering_value(bug: Bug) -> None:
    """Gives merged records the ordering value 0."""
    bug.edit(sample_mergers._result, "ordering = other.ordering if first.ordering is None else first.ordering", "ordering = 0")


@planted(breaks="API-012")
def partial_merges_get_another_schema(bug: Bug) -> None:
    """Passes a schema with a column that the reader did not ask for."""
    bug.edit(merger.merged, "context.schema, context)", 'context.schema.append(pa.field("unread", pa.string())), context)')


@planted(breaks="API-013")
def only_the_newer_record_may_be_partial(bug: Bug) -> None:
    """Knows partial records as the newer side only."""
    bug.edit(merger.merged, "if older.is_partial or newer.is_partial:", "if newer.is_partial:")


@planted(breaks="API-014")
def results_are_padded(bug: Bug) -> None:
    """Lets a partial result have columns that neither record holds."""
    bug.edit(merger.checked, "any(found.is_partial for found in inputs)", "False")


@planted(breaks="API-015")
def partial_results_are_rows(bug: Bug) -> None:
    """Honours the operation of whole results only."""
    bug.edit(merger.merged, "(older, newer), context)\n    merge =",
             "(older, newer), context) if False else replace(merger.partial_merge(older, newer, context.schema, context), "
             "operation=Operation.INSERT)\n    merge =")  # fmt: skip


@planted(breaks="API-016")
def partial_results_keep_the_older_ordering_value(bug: Bug) -> None:
    """Keeps the ordering value of the older record in a partial merge."""
    bug.edit(sample_mergers.FillNulls.partial_merge, "context.updated(merged, context.row({}, over=merged.row))",
             "BufferedRecord(merged.key, older.ordering, merged.row)")  # fmt: skip


@planted(breaks="API-017")
def fit_is_guessed_from_the_name(bug: Bug) -> None:
    """Takes the name of a merger's class for the engine that it is made for."""
    bug.edit(merger_resolution.chosen, "(merger.strategy_id, merger.record_type)",
             '(merger.strategy_id, RECORD_TYPE if "Spark" not in type(merger).__name__ else "SPARK")')  # fmt: skip


@planted(breaks="API-018")
def deletes_forget_their_data(bug: Bug) -> None:
    """Drops the data of delete results."""
    bug.edit(merger.RecordContext.delete, "ordering, row, Operation", "ordering, None, Operation")


@planted(breaks="API-019")
def deletes_need_data(bug: Bug) -> None:
    """Fails on a delete without data."""
    bug.edit(merger.checked, "result.row is None and not result.is_delete", "result.row is None")


@planted(breaks="API-021")
def deletes_forget_their_ordering_value(bug: Bug) -> None:
    """Gives delete results no ordering value."""
    bug.edit(merger.RecordContext.delete, "(key, ordering, row,", "(key, 0 if row is not None else ordering, row,")


@planted(breaks="MRG-002")
def the_second_input_wins(bug: Bug) -> None:
    """Prefers the second input for lower ordering values too."""
    bug.edit(merger.RecordContext.is_late, "is_lower(newer.ordering, older.ordering)", "False")


@planted(breaks="MRG-004")
def versions_are_counted(bug: Bug) -> None:
    """Adds numbers up with each merge."""
    bug.edit(sample_mergers._greatest, "and mine < theirs:\n            cells[name] = cell",
             "and isinstance(mine, int):\n            cells[name] = mine + theirs")  # fmt: skip


@planted(breaks="MRG-032")
def a_merger_chooses_one_of_two(bug: Bug) -> None:
    """Lets a merger choose one of the two versions only."""
    bug.edit(merger.checked, "if any(result is found for found in inputs):\n        return result",
             "if isinstance(result, BufferedRecord) and not result.is_delete:\n        "
             "return min(inputs, key=lambda found: found.ordering != result.ordering)")  # fmt: skip


@planted(breaks="MRG-022")
def another_mode_is_passed_over(bug: Bug) -> None:
    """Ignores the merge mode of a write without a word."""
    bug.edit(create.open_table, "if given:", "if False:")


@planted(breaks="MRG-024")
def writes_change_the_mode(bug: Bug) -> None:
    """Stores the merge mode that a write asks for."""
    bug.edit(
        create.open_table,
        "check_unchanged(properties.merging, given)",
        "store.put(PROPERTIES_PATH, store.get(PROPERTIES_PATH).replace(properties.merge_mode.encode(), "
        'given.get("hoodie.write.record.merge.mode", properties.merge_mode).encode()))',
    )


@planted(breaks="MRG-035")
def custom_without_a_word_is_event_time(bug: Bug) -> None:
    """Makes an event-time table of a custom one that says nothing more."""
    bug.edit(merge_settings.configured, "infer(mode or settings.mode,",
             'infer("EVENT_TIME_ORDERING" if mode == "CUSTOM" and not settings.payload else mode,')  # fmt: skip


@planted(breaks="MRG-036")
def the_older_name_of_the_strategy_is_unknown(bug: Bug) -> None:
    """Reads the strategy id under its newer name only."""
    bug.item(merge_settings.SETTINGS, "strategy", merge_settings.SETTINGS["strategy"][:1])


@planted(breaks="MRG-040")
def the_older_name_of_the_classes_is_unknown(bug: Bug) -> None:
    """Reads the list of classes under its newer name only."""
    bug.item(merge_settings.SETTINGS, "classes", merge_settings.SETTINGS["classes"][:1])


@planted(breaks="MRG-037")
def the_last_merger_counts(bug: Bug) -> None:
    """Takes the last of the mergers that fit."""
    bug.edit(merger_resolution.choose, "in enumerate(mergers):", "in reversed(list(enumerate(mergers))):")


@planted(breaks="MRG-038")
def no_merger_without_an_id(bug: Bug) -> None:
    """Finds no merger where no strategy id is set."""
    bug.edit(merger_resolution.choose, "not strategy or ", "")


@planted(breaks="MRG-039")
def mergers_of_every_engine_fit(bug: Bug) -> None:
    """Takes the first merger with the id, whatever records it works on."""
    bug.edit(merger_resolution.choose, "works_on == record_type and", "")


@planted(breaks="PAY-020")
def inputs_are_combined_by_the_ordering_field(bug: Bug) -> None:
    """Combines the rows of one input by the ordering field before the merger is asked."""
    bug.edit(
        rows.combine,
        "if merging.merger is not None:",
        'if merging.merger is not None:\n        merging = Merging("EVENT_TIME_ORDERING", merging.ordering)\n    if False:',
    )
