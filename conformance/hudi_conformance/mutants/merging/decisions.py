"""Mutants in what decides between versions: modes not followed, deletes not seen, ordering values lost."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.layout import merge_config
from hudi_reference.layout.properties import TableProperties
from hudi_reference.records import deletes, merge, ordering
from hudi_reference.write import write


@mutant(breaks="MRG-001")
def every_table_keeps_the_last_version(patch: Patch) -> None:
    """Ignores how the table is configured, and keeps the last version of each record."""
    patch.edit(merge.merger_of, "DECISIONS[mode]", 'DECISIONS["COMMIT_TIME_ORDERING"]')


@mutant(breaks=("MRG-003", "MRG-030"))
def results_lose_their_ordering_value(patch: Patch) -> None:
    """Drops the ordering value of the version that stays, so that the next merge compares with nothing."""
    patch.edit(
        merge.merger_of,
        "return newer if cell.result is Result.NEWER else older",
        "return Version(newer.kind, None, newer.position) if cell.result is Result.NEWER else older",
    )


@mutant(breaks="MRG-005")
def small_inputs_are_appended(patch: Patch) -> None:
    """Appends inputs of a few rows without looking for stored records of their keys."""
    patch.edit(
        write._locate,
        "operation in _WITHOUT_LOOKUP",
        'operation != "DELETE" and incoming.rows.num_rows < 3',
    )


@mutant(breaks="MRG-016")
def unknown_modes_are_event_time(patch: Patch) -> None:
    """Takes a merge mode that it does not know for the default one."""
    patch.edit(
        merge_config._mode,
        'raise InvalidProperty("unknown merge mode", rule="MRG-016", found=text)',
        'return "EVENT_TIME_ORDERING"',
    )
    patch.edit(TableProperties.merging, 'self.get("hoodie.record.merge.mode")', "pass")


@mutant(breaks="MRG-023")
def event_time_needs_a_payload_class(patch: Patch) -> None:
    """Refuses event-time mode where no class is named that could merge."""
    patch.edit(
        merge_config.infer,
        "usual = MERGE_CONFIGURATION[found]",
        'usual = MERGE_CONFIGURATION[found] if payload or found == "COMMIT_TIME_ORDERING" else {}[found]',
    )


@mutant(breaks="MRG-001")
def delete_markers_are_data(patch: Patch) -> None:
    """Returns rows that the table's own marker marks as deleted."""
    patch.edit(deletes._flags, "marker is not None and", "marker is None and")


@mutant(breaks="MRG-001")
def operations_are_data(patch: Patch) -> None:
    """Returns rows whose operation is a delete."""
    patch.edit(deletes._flags, "if OPERATION in names:", "if not names:")


@mutant(breaks="MRG-028")
def texts_compare_by_utf_16(patch: Patch) -> None:
    """Compares texts by the units of UTF-16, in which some characters come before others that are greater."""
    patch.edit(ordering._sort_key, "value.encode()", 'value.encode("utf-16-be")')


@mutant(breaks="MRG-028")
def nan_is_equal_to_everything(patch: Patch) -> None:
    """Takes NaN for the number 0."""
    patch.edit(ordering._sort_key, "nan = math.isnan(value)", "nan, value = False, 0.0 if math.isnan(value) else value")


@mutant(breaks="MRG-019")
def nulls_are_below_every_number(patch: Patch) -> None:
    """Lets a null ordering value lose against negative numbers."""
    patch.edit(ordering._sort_key, 'return ("number", False, 0, 1.0)', 'return ("number", False, float("-inf"), 1.0)')
