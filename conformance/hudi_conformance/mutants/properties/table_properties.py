"""Mutants in what the properties of a table decide, for writers and for the use of its metadata table."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.layout import properties, properties_update
from hudi_reference.metadata import availability
from hudi_reference.query.table import Table
from hudi_reference.records.keys import record_keys
from hudi_reference.write import create


@mutant(breaks="LAY-013")
def settings_in_the_base_path(patch: Patch) -> None:
    """Stores the settings file directly in the base path."""
    patch.edit(properties.write_properties, "storage.create(PROPERTIES_PATH,", 'storage.create("hoodie.properties",')


@mutant(breaks="PROP-001")
def writers_have_defaults_of_their_own(patch: Patch) -> None:
    """Names folders as the writer is used to, whatever the table's settings say."""
    making = vars(record_keys.KeyGenerator)["of"].__func__
    patch.edit(making, 'properties.is_set("hoodie.datasource.write.hive_style_partitioning")', "False")


@mutant(breaks="PROP-002")
def missing_settings_stay_empty(patch: Patch) -> None:
    """Makes a table without a name, a type or a version."""
    patch.edit(properties.check_entries, "if not entries.get(key):", "if False:")


@mutant(breaks="PROP-003")
def the_database_before_the_name(patch: Patch) -> None:
    """Puts the database before the name of the table."""
    patch.edit(create.identity_entries, '"hoodie.table.name": name', '"hoodie.table.name": f"{database}.{name}"')


@mutant(breaks="PROP-005")
def unknown_values_are_stored(patch: Patch) -> None:
    """Stores whatever type or mode it is told."""
    patch.edit(properties.check_entries, "value not in known.values", "False")


@mutant(breaks="PROP-015")
def no_table_without_record_key(patch: Patch) -> None:
    """Reads no table that has no record key fields."""
    patch.edit(
        Table._read,
        "check_readable(self.properties)\n",
        "check_readable(self.properties)\n    assert self.properties.record_key, 'no record key'\n",
    )


@mutant(breaks="PROP-012")
def indexes_are_listed_when_they_are_begun(patch: Patch) -> None:
    """Lists a partition as usable as soon as its build begins."""
    patch.edit(availability.after, "building.add(partition)", "ready.add(partition)")


@mutant(breaks="PROP-013")
def folders_are_probed_for(patch: Patch) -> None:
    """Uses every folder of the metadata table, listed or not."""
    patch.edit(
        availability.inspect_metadata_table,
        "usable = usable_partitions(table.properties)",
        "usable = sorted({i.path.split('/')[2] for i in table.storage.list(METADATA_FOLDER) if i.path.count('/') > 2})",
    )


@mutant(breaks="PROP-014")
def paths_of_definitions_are_taken_as_they_are(patch: Patch) -> None:
    """Takes an absolute path of the definitions for one below the base path."""
    patch.edit(availability.definitions_path, 'return f"{META_FOLDER}/{rest}"', "return text")


@mutant(breaks="LAY-014")
def no_folder_for_the_listing(patch: Patch) -> None:
    """Keeps the data of every partition straight in .hoodie/metadata."""
    patch.edit(availability.partition_files, 'f"{METADATA_FOLDER}/{partition}/"', 'f"{METADATA_FOLDER}/"')


@mutant(breaks="LAY-015")
def another_folder_for_column_statistics(patch: Patch) -> None:
    """Calls the folder of the column statistics otherwise than the properties do."""
    patch.edit(
        availability.partition_files,
        'f"{METADATA_FOLDER}/{partition}/"',
        'f"{METADATA_FOLDER}/{partition}/".replace("column_stats", "col_stats")',
    )


@mutant(breaks="LAY-016")
def definitions_in_memory_only(patch: Patch) -> None:
    """Knows of no definitions but those of its own process."""
    patch.edit(availability.read_definitions, "return parse_definitions(storage.get(path), path)", "return ()")


@mutant(breaks="S3-005")
def properties_are_read_before_the_lock(patch: Patch) -> None:
    """Reads the properties, then takes the lock to change them: what somebody else has changed meanwhile is undone."""
    patch.edit(
        properties_update.update_properties,
        "    with held(lock, holder):\n        recover(storage)\n        now = dict(read_properties(storage).entries)\n",
        "    recover(storage)\n    now = dict(read_properties(storage).entries)\n    with held(lock, holder):\n",
    )
