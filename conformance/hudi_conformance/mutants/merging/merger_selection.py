"""Mutants of the selection of a record merger."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.layout import merge_settings


@mutant(breaks="MRG-036")
def old_strategy_property_ignored(patch: Patch) -> None:
    """Reads the strategy id under its newer property name only."""
    patch.item(merge_settings.SETTINGS, "strategy", merge_settings.SETTINGS["strategy"][:1])


@mutant(breaks="MRG-040")
def old_merger_classes_property_ignored(patch: Patch) -> None:
    """Reads the list of classes under its newer property name only."""
    patch.item(merge_settings.SETTINGS, "classes", merge_settings.SETTINGS["classes"][:1])
