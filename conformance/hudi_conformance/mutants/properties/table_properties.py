"""Mutants of table properties."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.records.keys import joda_format, record_keys
from hudi_reference.services.metadata_table.metadata_sync import MetadataSync
from hudi_reference.write import create


@mutant(breaks="PROP-001")
def table_properties_overridden_by_defaults(patch: Patch) -> None:
    """Names folders by the defaults of the writer, whatever the properties of the table say."""
    making = vars(record_keys.KeyGenerator)["of"].__func__
    patch.edit(making, 'properties.is_set("hoodie.datasource.write.hive_style_partitioning")', "False")


@mutant(breaks="PROP-006")
def table_version_is_release(patch: Patch) -> None:
    """Stores the release as table version."""
    patch.item(create._FIXED, "hoodie.table.version", "1")


@mutant(breaks="PROP-012")
def stale_metadata_table_stays_usable(patch: Patch) -> None:
    """A writer that does not update the metadata table leaves it listed as usable."""
    patch.set(MetadataSync, "drop", lambda sync: None)


@mutant(breaks="PROP-016")
def months_and_minutes_confused(patch: Patch) -> None:
    """Formats minutes where a pattern asks for months."""
    patch.item(joda_format.LETTERS, "M", joda_format.LETTERS["m"])
