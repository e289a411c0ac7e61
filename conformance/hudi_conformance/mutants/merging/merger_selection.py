"""Mutants of the selection of a record merger."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.layout import merge_config, merge_settings
from hudi_reference.records.mergers import merger
from hudi_reference.records.payloads import merger_resolution


@mutant(breaks="MRG-031")
def unknown_merge_strategy_as_event_time(patch: Patch) -> None:
    """Merges a table of an unknown merge strategy by event time instead of refusing it."""
    patch.edit(merge_config.infer, 'get(strategy, "CUSTOM"', 'get(strategy, "EVENT_TIME_ORDERING"')


@mutant(breaks="MRG-032")
def merger_limited_to_its_inputs(patch: Patch) -> None:
    """Accepts only one of the two versions as the result of a merger."""
    patch.edit(merger.checked, "if any(result is found for found in inputs):\n        return result",
             "if isinstance(result, BufferedRecord) and not result.is_delete:\n        "
             "return min(inputs, key=lambda found: found.ordering != result.ordering)")  # fmt: skip


@mutant(breaks="MRG-035")
def unspecified_custom_mode_as_event_time(patch: Patch) -> None:
    """Creates an event-time table where the custom mode names no strategy."""
    patch.edit(merge_settings.configured, "infer(mode or settings.mode,",
             'infer("EVENT_TIME_ORDERING" if mode == "CUSTOM" and not settings.payload else mode,')  # fmt: skip


@mutant(breaks="MRG-036")
def old_strategy_property_ignored(patch: Patch) -> None:
    """Reads the strategy id under its newer property name only."""
    patch.item(merge_settings.SETTINGS, "strategy", merge_settings.SETTINGS["strategy"][:1])


@mutant(breaks="MRG-037")
def last_fitting_merger_used(patch: Patch) -> None:
    """Takes the last of the mergers that fit."""
    patch.edit(merger_resolution.index_of_merger, "in enumerate(mergers):", "in reversed(list(enumerate(mergers))):")


@mutant(breaks="MRG-038")
def merger_requires_strategy_id(patch: Patch) -> None:
    """Finds no merger if no strategy id is set."""
    patch.edit(merger_resolution.index_of_merger, "not strategy or ", "")


@mutant(breaks="MRG-039")
def merger_engine_not_checked(patch: Patch) -> None:
    """Takes the first merger with the id, whatever engine it is for."""
    patch.edit(merger_resolution.index_of_merger, "works_on == record_type and", "")


@mutant(breaks="MRG-040")
def old_merger_classes_property_ignored(patch: Patch) -> None:
    """Reads the list of classes under its newer property name only."""
    patch.item(merge_settings.SETTINGS, "classes", merge_settings.SETTINGS["classes"][:1])
