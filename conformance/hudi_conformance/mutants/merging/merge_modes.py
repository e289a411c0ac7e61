"""Mutants of the choice of the merge mode: properties, defaults, and inference."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.layout import merge_config, merge_settings
from hudi_reference.layout.properties import TableProperties


@mutant(breaks="MRG-016")
def unknown_merge_mode_as_event_time(patch: Patch) -> None:
    """Treats an unknown merge mode as the default one."""
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
    patch.edit(merge_settings.configure_merging, "and not ordering", "and False")
