"""Mutants of table properties."""

from dataclasses import replace

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.layout.property_table import BY_KEY
from hudi_reference.records.keys import joda_format, record_keys, timestamp_keygen
from hudi_reference.services.metadata_table.metadata_sync import MetadataSync
from hudi_reference.write import create


@mutant(breaks="PROP-001")
def table_properties_overridden_by_defaults(patch: Patch) -> None:
    """Names folders by the defaults of the writer, whatever the properties of the table say."""
    making = vars(record_keys.KeyGenerator)["from_properties"].__func__
    patch.edit(making, 'properties.is_set("hoodie.datasource.write.hive_style_partitioning")', "False")


@mutant(breaks="PROP-006")
def table_version_is_release(patch: Patch) -> None:
    """Stores the release as table version."""
    patch.edit(create.identity_entries, '"hoodie.table.version": str(version)', '"hoodie.table.version": "1"')


@mutant(breaks="PROP-012")
def stale_metadata_table_stays_usable(patch: Patch) -> None:
    """A writer that does not update the metadata table leaves it listed as usable."""
    patch.set(MetadataSync, "drop", lambda sync: None)


@mutant(breaks="PROP-016")
def months_and_minutes_confused(patch: Patch) -> None:
    """Formats minutes where a pattern asks for months."""
    patch.item(joda_format.LETTERS, "M", joda_format.LETTERS["m"])


@mutant(breaks="PROP-016")
def days_of_years_from_zero(patch: Patch) -> None:
    """Counts the days of a year from 0."""
    letter = joda_format.LETTERS["D"]
    patch.item(joda_format.LETTERS, "D", replace(letter, text=lambda moment, n: str(moment.timetuple().tm_yday - 1).zfill(n)))


@mutant(breaks="PROP-016")
def days_of_weeks_from_zero(patch: Patch) -> None:
    """Counts the days of a week from 0."""
    letter = joda_format.LETTERS["e"]
    patch.item(joda_format.LETTERS, "e", replace(letter, text=lambda moment, n: str(moment.weekday()).zfill(n)))


@mutant(breaks="PROP-016")
def noon_in_the_morning(patch: Patch) -> None:
    """Formats the hour after noon as one of the morning."""
    letter = joda_format.LETTERS["a"]
    patch.item(joda_format.LETTERS, "a", replace(letter, text=lambda moment, _: "AM" if moment.hour <= 12 else "PM"))


@mutant(breaks="PROP-016")
def last_digits_of_milliseconds(patch: Patch) -> None:
    """Formats the last digits of the milliseconds where a pattern has room for the first ones."""
    letter = joda_format.LETTERS["S"]
    last = replace(letter, text=lambda moment, n: f"{moment.microsecond // 1000:03}".rjust(n, "0")[-n:])
    patch.item(joda_format.LETTERS, "S", last)


@mutant(breaks="PROP-016")
def microseconds_as_milliseconds(patch: Patch) -> None:
    """Takes numbers of microseconds for milliseconds."""
    patch.item(timestamp_keygen.TYPES, "EPOCHMICROSECONDS", "MILLISECONDS")


@mutant(breaks="PROP-016")
def unknown_unit_of_time_is_seconds(patch: Patch) -> None:
    """Takes numbers in an unknown unit of time for seconds."""
    reading = vars(timestamp_keygen.TimestampPaths)["from_settings"].__func__
    patch.edit(reading, 'raise _invalid_setting("timestamp.scalar.time.unit", " or ".join(UNITS), unit)', 'unit = "SECONDS"')


@mutant(breaks="PROP-021")
def former_name_of_ordering_field_ignored(patch: Patch) -> None:
    """Ignores the ordering field under its former name."""
    key = "hoodie.table.ordering.fields"
    patch.item(BY_KEY, key, replace(BY_KEY[key], alternatives=()))
