"""Mutants of the choice of the merge mode: properties, defaults, and inference."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference import tables
from hudi_reference.layout import merge_config, merge_settings
from hudi_reference.layout.properties import TableProperties
from hudi_reference.records import ordering
from hudi_reference.records.merging.fast import merge_columns
from hudi_reference.write import create


@mutant(breaks="MRG-016")
def unknown_merge_mode_as_event_time(patch: Patch) -> None:
    """Takes an unknown merge mode for the default one."""
    patch.edit(
        merge_config._mode,
        'raise InvalidProperty("unknown merge mode", rule="MRG-016", found=text)',
        'return "EVENT_TIME_ORDERING"',
    )
    patch.edit(TableProperties.merging, "self.get, keys", "self.entries.get, keys")


@mutant(breaks=("MRG-017", "MRG-033"))
def event_time_without_ordering_by_default(patch: Patch) -> None:
    """Gives a table without ordering fields event-time mode."""
    patch.edit(merge_config.infer, '"EVENT_TIME_ORDERING" if is_ordered else "COMMIT_TIME_ORDERING"', '"EVENT_TIME_ORDERING"')
    patch.edit(merge_settings.configured, "and not ordering", "and False")


@mutant(breaks=("MRG-018", "MRG-033"))
def commit_time_with_ordering_by_default(patch: Patch) -> None:
    """Gives a table with ordering fields commit-time mode."""
    patch.edit(merge_settings.configured, "is_ordered=bool(ordering)", "is_ordered=False")


@mutant(breaks=("MRG-019", "PROP-009"))
def ordering_fields_property_ignored(patch: Patch) -> None:
    """Reads hoodie.table.precombine.field and not hoodie.table.ordering.fields, as Apache Hudi 1.0 does."""
    patch.edit(TableProperties.__post_init__, 'hoodie.table.ordering.fields")', 'hoodie.table.precombine.field")')


@mutant(breaks="MRG-019")
def second_ordering_field_ignored(patch: Patch) -> None:
    """Compares only the first of several ordering fields."""
    patch.edit(TableProperties.__post_init__, "fields(\"hoodie.table.ordering.fields\")",
             "fields(\"hoodie.table.ordering.fields\")[:1]")  # fmt: skip


@mutant(breaks="MRG-019")
def null_ordering_below_negative_numbers(patch: Patch) -> None:
    """Orders a null ordering value before negative numbers."""
    patch.edit(ordering._sort_key, 'return ("number", False, 0, 1.0)', 'return ("number", False, float("-inf"), 1.0)')


@mutant(breaks="MRG-019")
def many_rows_null_below_negative_fractions(patch: Patch) -> None:
    """Ranks fractions as texts, among many changes: a null comes before all of them."""
    patch.edit(merge_columns._ranks, "pt.is_integer(kind) or pt.is_string(kind))", "not pt.is_decimal(kind))")


@mutant(breaks="MRG-020")
def merge_mode_not_stored(patch: Patch) -> None:
    """Stores the merge mode under the name of the write setting."""
    patch.edit(create.merging_entries, '"hoodie.record.merge.mode": merging', '"hoodie.write.record.merge.mode": merging')


@mutant(breaks="MRG-022")
def conflicting_write_mode_ignored(patch: Patch) -> None:
    """Silently ignores the merge mode of a write."""
    patch.edit(tables.open_table, "if settings:", "if False:")


@mutant(breaks="MRG-023")
def event_time_requires_payload_class(patch: Patch) -> None:
    """Refuses event-time mode if no payload class is named."""
    patch.edit(
        merge_config.infer,
        "usual = MERGE_CONFIGURATION[found]",
        'usual = MERGE_CONFIGURATION[found] if payload or found == "COMMIT_TIME_ORDERING" else {}[found]',
    )


@mutant(breaks="MRG-024")
def write_changes_merge_mode(patch: Patch) -> None:
    """Stores the merge mode that a write asks for."""
    patch.edit(
        tables.open_table,
        "check_unchanged(properties.merging, settings)",
        "path = '.hoodie/hoodie.properties'\n"
        "        store.put(path, store.get(path).replace(properties.merge_mode.encode(), "
        'settings.get("hoodie.write.record.merge.mode", properties.merge_mode).encode()))',
    )


@mutant(breaks="MRG-034")
def event_time_without_ordering_accepted(patch: Patch) -> None:
    """Creates tables in event-time mode without an ordering field."""
    patch.edit(merge_settings.configured, "and not ordering", "and False")
