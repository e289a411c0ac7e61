"""Mutants of table properties."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.layout import partitions, properties
from hudi_reference.layout.properties import TableProperties
from hudi_reference.metadata import availability
from hudi_reference.query.table import Table
from hudi_reference.records.keys import joda_format, record_keys, timestamp_keygen
from hudi_reference.services.metadata_table.metadata_sync import MetadataSync
from hudi_reference.write import create


@mutant(breaks="PROP-001")
def table_properties_overridden_by_defaults(patch: Patch) -> None:
    """Names folders by the defaults of the writer, whatever the properties of the table say."""
    making = vars(record_keys.KeyGenerator)["of"].__func__
    patch.edit(making, 'properties.is_set("hoodie.datasource.write.hive_style_partitioning")', "False")


@mutant(breaks="PROP-002")
def required_properties_optional(patch: Patch) -> None:
    """Creates a table without a name, a type or a version."""
    patch.edit(properties.check_entries, "if not entries.get(key):", "if False:")


@mutant(breaks="PROP-003")
def table_name_with_database(patch: Patch) -> None:
    """Puts the database before the name of the table."""
    patch.edit(create.identity_entries, '"hoodie.table.name": name', '"hoodie.table.name": f"{database}.{name}"')


@mutant(breaks="PROP-004")
def table_name_not_stored(patch: Patch) -> None:
    """Stores a fixed name for the table."""
    patch.edit(create.identity_entries, '"hoodie.table.name": name', '"hoodie.table.name": "table"')


@mutant(breaks="PROP-005")
def unknown_property_values_stored(patch: Patch) -> None:
    """Stores any type or mode without checking it."""
    patch.edit(properties.check_entries, "value not in known.values", "False")


@mutant(breaks="PROP-005")
def table_type_always_copy_on_write(patch: Patch) -> None:
    """Stores every table as copy-on-write."""
    patch.edit(create.identity_entries, '"hoodie.table.type": table_type', '"hoodie.table.type": "COPY_ON_WRITE"')


@mutant(breaks="PROP-006")
def table_version_is_release(patch: Patch) -> None:
    """Stores the release as table version."""
    patch.item(create._FIXED, "hoodie.table.version", "1")


@mutant(breaks="PROP-007")
def record_key_fields_as_json(patch: Patch) -> None:
    """Stores the record key fields as a JSON list."""
    patch.edit(create.key_entries, '",".join(record_key)', "__import__('json').dumps(list(record_key))")


@mutant(breaks="PROP-008")
def partition_fields_not_stored(patch: Patch) -> None:
    """Omits the partition fields in the properties."""
    patch.edit(create.key_entries, '{"hoodie.table.partition.fields": ",".join(partition)} if partition else {}', "{}")


@mutant(breaks="PROP-009")
def precombine_property_ignored(patch: Patch) -> None:
    """Reads hoodie.table.ordering.fields and not hoodie.table.precombine.field."""
    patch.edit(TableProperties.get, "(key, *known.alternatives)", "(key,)")


@mutant(breaks="PROP-010")
def unknown_timeline_layout_accepted(patch: Patch) -> None:
    """Reads an unknown timeline layout as layout 2."""
    patch.edit(properties._check_versions, "layout != LAYOUTS[version]", "False")


@mutant(breaks="PROP-011")
def properties_checksum_not_compared(patch: Patch) -> None:
    """Reads a properties file whatever its checksum."""
    patch.edit(properties._check, "stored is not None and stored != expected", "False")


@mutant(breaks="PROP-011")
def properties_checksum_without_database(patch: Patch) -> None:
    """Computes the checksum from the table's name without its database."""
    patch.edit(properties.checksum, 'f"{database}.{table}"', "table")


@mutant(breaks="PROP-012")
def stale_metadata_table_stays_usable(patch: Patch) -> None:
    """A writer that does not update the metadata table leaves it listed as usable."""
    patch.set(MetadataSync, "drop", lambda sync: None)


@mutant(breaks="PROP-012")
def building_partition_listed_as_usable(patch: Patch) -> None:
    """Lists a partition as usable as soon as its build begins."""
    patch.edit(availability.after, "building.add(partition)", "ready.add(partition)")


@mutant(breaks="PROP-013")
def metadata_partitions_probed(patch: Patch) -> None:
    """Uses every folder of the metadata table, listed or not."""
    patch.edit(
        availability.inspect_metadata_table,
        "usable = usable_partitions(table.properties)",
        "usable = sorted({i.path.split('/')[2] for i in table.storage.list(METADATA_FOLDER) if i.path.count('/') > 2})",
    )


@mutant(breaks="PROP-014")
def absolute_index_path_taken_as_relative(patch: Patch) -> None:
    """Takes an absolute path of the definitions for one below the base path."""
    patch.edit(availability.definitions_path, 'return f"{META_FOLDER}/{rest}"', "return text")


@mutant(breaks="PROP-015")
def record_key_required(patch: Patch) -> None:
    """Refuses to read a table without record key fields."""
    patch.edit(
        Table._read,
        "check_readable(self.properties)\n",
        "check_readable(self.properties)\n    assert self.properties.record_key, 'no record key'\n",
    )


@mutant(breaks="PROP-016")
def partition_values_url_encoded(patch: Patch) -> None:
    """URL-encodes partition values."""
    patch.edit(
        partitions.escape,
        'return _ESCAPED.sub(lambda match: f"%{ord(match[0]):02X}", text)',
        "import urllib.parse; return urllib.parse.quote(text, safe='')",
    )


@mutant(breaks="PROP-016")
def partition_escapes_read_as_utf_8(patch: Patch) -> None:
    """Takes the escapes in the name of a folder for bytes of UTF-8."""
    patch.edit(
        partitions.unescape,
        "return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)",
        "import urllib.parse; return urllib.parse.unquote(text)",
    )


@mutant(breaks="PROP-016")
def partition_values_not_escaped(patch: Patch) -> None:
    """Writes partition values unescaped where the table asks for escaped ones."""
    patch.edit(partitions.partition_path, "elif url_encode:", "elif False:")


@mutant(breaks=("PROP-016", "META-009"))
def timestamp_keygen_unit_ignored(patch: Patch) -> None:
    """Takes every number of a time-based key generator for milliseconds."""
    patch.edit(timestamp_keygen.TimestampPaths._of_number, "UNITS[self.unit]", '(self.unit and UNITS["MILLISECONDS"])')


@mutant(breaks=("PROP-016", "META-009"))
def timestamp_keygen_null_partition(patch: Patch) -> None:
    """Writes rows without a time into the partition for null values."""
    patch.edit(
        timestamp_keygen.TimestampPaths.text,
        "moment = _EPOCH if self.unit is None else self._of_number(1)",
        'return "__HIVE_DEFAULT_PARTITION__"',
    )


@mutant(breaks=("PROP-016", "PROP-008"))
def custom_keygen_timestamp_as_simple(patch: Patch) -> None:
    """Puts the value itself into the path where a custom key generator formats a date."""
    patch.edit(record_keys._part, 'said == "TIMESTAMP" if kind == "CUSTOM" else', 'False if kind == "CUSTOM" else')


@mutant(breaks="PROP-016")
def months_and_minutes_confused(patch: Patch) -> None:
    """Formats minutes where a pattern asks for months."""
    patch.item(joda_format.LETTERS, "M", joda_format.LETTERS["m"])
